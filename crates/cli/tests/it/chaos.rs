//! `wiremend chaos`.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
};

use serde_json::Value;

use crate::program::{command, run};

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
    let args = ["chaos", "--json", "--requests", "2", "--seed", "7", "--for", "60"];
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
        let done = run(&[&["chaos", "--print", "--seed", "3"], args].concat(), "");
        assert_eq!((done.code, done.stderr.as_str()), (0, ""));
        done.stdout
    };
    let whole = print(&["--format", "openai-chat", "--scenario", ""]);
    assert!(whole.starts_with("data: {\"object\":\"chat.completion.chunk\""), "{whole}");
    assert_eq!(run(&["stream", "-q"], &whole).code, 0);
    let cut = print(&["--format", "openai-chat", "--scenario", "end=200"]);
    assert_eq!(cut, whole[..200]);
    assert_eq!(run(&["stream", "-q"], &cut).code, 3);
}

#[test]
fn wrong_arguments_are_refused() {
    for args in [
        &["chaos", "--format", "carrier-pigeon"][..],
        &["chaos", "--scenario", "burn=3"],
        &["chaos", "--print", "--port", "1"],
    ] {
        assert_eq!(run(args, "").code, 2, "{args:?}");
    }
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let done = run(&["chaos", "--port", &port], "");
    assert_eq!(done.code, 6);
    assert!(done.stderr.contains("cannot listen on 127.0.0.1:"), "{}", done.stderr);
}
