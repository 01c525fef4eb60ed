use std::io::{BufRead as _, BufReader, Read as _, Write as _};

use crate::program::command;

#[test]
fn repair_streams_through_a_live_pipe() {
    let mut child = command(&["repair", "--stream", "-"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdin.write_all(b"{'text': 'Hello, wor").unwrap();
    stdin.flush().unwrap();
    // The rest is written only after this has been read, so a program that waits for the end hangs.
    let expected = b"{\"text\": \"Hello, wor";
    let mut seen = vec![0; expected.len()];
    stdout.read_exact(&mut seen).unwrap();
    assert_eq!(seen, expected);
    stdin.write_all(b"ld'}").unwrap();
    drop(stdin);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "ld\"}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn batch_answers_one_request_before_the_next_is_written() {
    let mut child = command(&["batch"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for n in 0..20 {
        writeln!(stdin, "{{\"id\": {n}, \"input\": \"[{n}]\"}}").unwrap();
        stdin.flush().unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert!(line.starts_with(&format!("{{\"id\":{n},")), "{line}");
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Starts a command whose output nobody reads, and expects it to end quietly, and not with success.
fn ends_quietly(args: &[&str], input: &str) {
    let (reader, output) = std::io::pipe().unwrap();
    // Before the start: a short output could be written before the pipe is closed.
    drop(reader);
    let mut child = command(args).stdout(output).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // The program may end before it has read everything.
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), stderr.as_ref()), (Some(6), ""), "{args:?}");
}

#[test]
fn a_closed_pipe_ends_every_command_quietly() {
    let long = format!("[{}1]", "1,".repeat(300_000));
    ends_quietly(&["repair", "-q"], &long);
    ends_quietly(&["repair", "-q", "--stream"], &long);
    ends_quietly(&["check", "--json"], &long);
    ends_quietly(&["explain", "--list"], "");
    ends_quietly(&["trace"], &long[..20_000]);
    ends_quietly(&["--help"], "");
    ends_quietly(&["batch"], &"{\"input\": \"[1]\"}\n".repeat(50_000));
    ends_quietly(
        &["stream", "-q"],
        &"data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n".repeat(20_000),
    );
}

/// The smallest run of each command that writes something.
const WRITERS: [(&[&str], &str); 15] = [
    (&["--help"], ""),
    (&["--version"], ""),
    (&["repair", "--help"], ""),
    (&["batch"], "{\"input\": \"[1]\"}\n"),
    (&["check"], "[1"),
    (&["check", "--json"], "[1]"),
    (&["explain", "--list"], ""),
    (&["explain", "fraction", "--json"], ""),
    (&["repair"], "[1]"),
    (&["repair", "--json"], "[1]"),
    (&["repair", "--stream"], "[1]"),
    (&["stream"], "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n"),
    (&["stream", "--json"], "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n"),
    (&["stream", "--emit", "provider"], "data: {\"choices\":[]}\n\n"),
    (&["trace", "--split", "whole"], "[1]"),
];

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_an_error_of_every_command() {
    for (args, input) in WRITERS {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut child = command(args).stdout(full).spawn().unwrap();
        // The program may have ended.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(6), "{args:?}: {stderr}");
        assert!(stderr.contains("error: cannot write the output: "), "{args:?}: {stderr}");
    }
}

#[test]
fn batch_ends_when_the_output_closes_though_the_input_stays_open() {
    let mut child = command(&["batch"]).spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "{{\"input\": \"[1]\"}}").unwrap();
    stdin.flush().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(6));
    drop(stdin);
}
