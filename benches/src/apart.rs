//! A peer in a process of its own, for one that may take memory or time without end.

use std::{
    env,
    io::{self, BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

/// The argument with which a bench is started to answer for the peer.
const ANSWER: &str = "--answer";

/// The memory that the process may reserve, in KiB.
const MEMORY: u32 = 1 << 20;

/// How long it may think about a text.
const PATIENCE: Duration = Duration::from_secs(10);

/// Answers the texts of standard input, one a line as JSON, if this process was started for that.
/// Returns whether it was.
pub fn answer(mend: fn(&str) -> Option<String>) -> bool {
    if env::args().nth(1).as_deref() != Some(ANSWER) {
        return false;
    }
    for line in io::stdin().lines().map_while(Result::ok) {
        let text: String = serde_json::from_str(&line).expect("a line of the other process");
        println!("{}", serde_json::json!(mend(&text)));
    }
    true
}

/// This program once more, answering for a peer.
#[derive(Default)]
pub struct Apart(Option<(Child, Receiver<String>)>);

impl Apart {
    /// What the peer makes of the text. `None` also if it fails, is killed because of its memory, or
    /// needs longer than ten seconds; the next text has a new process.
    pub fn mend(&mut self, text: &str) -> Option<String> {
        let (child, answers) = self.0.get_or_insert_with(start);
        let mut line = serde_json::to_string(text).expect("a string");
        line.push('\n');
        let sent = child.stdin.as_mut().expect("it is piped").write_all(line.as_bytes());
        let answer = sent.ok().and_then(|()| answers.recv_timeout(PATIENCE).ok());
        if answer.is_none() {
            self.end();
        }
        answer.and_then(|line| serde_json::from_str(&line).ok()?)
    }

    fn end(&mut self) {
        if let Some((mut child, _)) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        self.end();
    }
}

fn start() -> (Child, Receiver<String>) {
    let program = env::current_exe().expect("this program has a path");
    let limited = format!("ulimit -v {MEMORY}; exec \"$0\" {ANSWER}");
    let mut child = Command::new("sh")
        .args(["-c", &limited])
        .arg(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell");
    let (send, answers) = channel();
    let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| send.send(line)));
    (child, answers)
}
