//! Runs the program.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The program with piped input and output, and without the environment variables for colours and for the
/// tests themselves.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wiremend"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    let own = std::env::vars_os().map(|(name, _)| name);
    for name in own.filter(|name| name.to_string_lossy().starts_with("WIREMEND_")) {
        command.env_remove(name);
    }
    command
}

/// Runs it to its end on `input`.
pub(crate) fn run(args: &[&str], input: impl AsRef<[u8]>) -> Run {
    finish(command(args).spawn().unwrap(), input.as_ref())
}

/// Runs it with the input written in pieces of `size` bytes.
pub(crate) fn run_split(args: &[&str], input: impl AsRef<[u8]>, size: usize) -> Run {
    finish_split(command(args).spawn().unwrap(), input.as_ref(), size)
}

fn finish(child: Child, input: &[u8]) -> Run {
    finish_split(child, input, input.len().max(1))
}

fn finish_split(mut child: Child, input: &[u8], size: usize) -> Run {
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // In its own thread, because the program may fill its output before it has read everything.
    let writer = thread::spawn(move || {
        for piece in input.chunks(size) {
            if stdin.write_all(piece).and_then(|()| stdin.flush()).is_err() {
                break;
            }
        }
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run {
        code: output.status.code().expect("ends by itself"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Writes a file for a test.
pub(crate) fn file(name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).unwrap();
    path
}

/// An empty directory for a test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// The content of a file, as text.
pub(crate) fn content(path: &Path) -> String {
    String::from_utf8(fs::read(path).unwrap()).unwrap()
}

/// One of the example streams.
pub(crate) fn example(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/streams");
    fs::read(folder.join(name)).unwrap()
}

/// The lines of a JSON Lines output.
pub(crate) fn json_lines(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
