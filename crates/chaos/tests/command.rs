//! The command, as a user runs it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use wiremend_wire::{StreamOutcome, WireOptions, transcribe};

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wiremend-chaos"));
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(args: &[&str]) -> Output {
    command(args).output().unwrap()
}

/// The bytes of the response to a request.
fn get(address: &str, target: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "POST {target} HTTP/1.1\r\ncontent-length: 2\r\n\r\n{{}}").unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    response
}

#[test]
fn it_serves_so_many_responses_and_stops() {
    let args = ["--json", "--requests", "2", "--seed", "7", "--for", "60"];
    let mut child = command(&args).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let listening = next();
    let url = listening["url"].as_str().unwrap().to_owned();
    let address = url.strip_prefix("http://").unwrap();
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let first = get(address, "/v1/messages");
    let served = next();
    assert_eq!((&served["seed"], &served["format"]), (&7.into(), &"anthropic".into()));
    let again = get(address, "/v1/messages?seed=7");
    assert_eq!(first, again);
    assert_eq!(next()["sent"], true);
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_arrives_is_printed() {
    let print = |args: &[&str]| {
        let done = run(&[&["--print", "--seed", "3"], args].concat());
        assert!(done.status.success() && done.stderr.is_empty());
        String::from_utf8(done.stdout).unwrap()
    };
    let whole = print(&["--format", "openai-chat", "--scenario", ""]);
    assert!(whole.starts_with("data: {\"object\":\"chat.completion.chunk\""), "{whole}");
    let outcome = |body: &str| transcribe(body.as_bytes(), WireOptions::new()).outcome();
    assert_eq!(outcome(&whole), StreamOutcome::Complete);
    let cut = print(&["--format", "openai-chat", "--scenario", "end=200"]);
    assert_eq!(cut, whole[..200]);
    assert_eq!(outcome(&cut), StreamOutcome::Cut);
}

#[test]
fn wrong_arguments_are_refused() {
    for args in [
        &["--format", "carrier-pigeon"][..],
        &["--scenario", "burn=3"],
        &["--print", "--port", "1"],
    ] {
        assert_eq!(run(args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let done = run(&["--port", &port]);
    assert_eq!(done.status.code(), Some(6));
    let error = String::from_utf8(done.stderr).unwrap();
    assert!(error.contains("cannot listen on 127.0.0.1:"), "{error}");
}
