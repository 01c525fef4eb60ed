//! Clients and providers of a gateway that are killed while an answer passes.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::Child,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::program::command;

/// How long anything may take.
const STUCK: Duration = Duration::from_secs(30);

const FIRST: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\": [\"}}]}}]}\n\n";

/// A gateway in a process of its own.
struct Gateway {
    child: Child,
    address: String,
    admin: String,
}

impl Gateway {
    fn new(upstream: &str) -> Self {
        let upstream = format!("http://{upstream}");
        let free = "127.0.0.1:0";
        let args = ["serve", "--json", "--listen", free, "--admin", free, "--upstream", &upstream];
        let mut child = command(&args).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let address = |name: &str| said[name].as_str().unwrap().replace("http://", "");
        Self { address: address("url"), admin: address("admin"), child }
    }

    /// SIGKILL on Unix.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn page(&self, path: &str) -> String {
        let mut stream = connect(&self.admin);
        write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            .unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        page
    }

    /// Waits until nothing passes any more, and nothing is held.
    fn is_idle(&self) -> bool {
        let began = Instant::now();
        while began.elapsed() < STUCK {
            let metrics = self.page("/metrics");
            let idle = ["wiremend_open_streams 0\n", "wiremend_held_bytes 0\n"];
            if idle.iter().all(|line| metrics.contains(line)) {
                return true;
            }
            thread::sleep(Duration::from_millis(20));
        }
        false
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(STUCK)).unwrap();
    stream
}

/// A provider that sends half a call, and says when its client has gone.
fn provider() -> (String, mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (gone, waits) = mpsc::channel();
    thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let gone = gone.clone();
            thread::spawn(move || {
                let mut request = Vec::new();
                let mut piece = [0; 1024];
                while !request.ends_with(b"{}") {
                    match stream.read(&mut piece) {
                        Ok(read) if read > 0 => request.extend_from_slice(&piece[..read]),
                        _ => return,
                    }
                }
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{FIRST}\r\n",
                    FIRST.len()
                );
                while stream.read(&mut piece).is_ok_and(|read| read > 0) {}
                let _ = gone.send(());
            });
        }
    });
    (address, waits)
}

/// Asks for a stream, and reads its first event.
fn begin(address: &str) -> (TcpStream, String) {
    let mut stream = connect(address);
    write!(stream, "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}").unwrap();
    let (mut got, mut piece) = (Vec::new(), [0; 1024]);
    while !String::from_utf8_lossy(&got).contains("\\\"a\\\"") {
        let read = stream.read(&mut piece).unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&got));
        got.extend_from_slice(&piece[..read]);
    }
    (stream, String::from_utf8(got).unwrap())
}

#[test]
fn a_provider_that_is_killed_breaks_off_the_answer_and_nothing_else() {
    let (address, _waits) = provider();
    // A gateway is a provider that can be killed.
    let mut behind = Gateway::new(&address);
    let gateway = Gateway::new(&behind.address);
    let streams: Vec<(TcpStream, String)> = (0..4).map(|_| begin(&gateway.address)).collect();
    behind.kill();
    for (mut stream, mut got) in streams {
        // A reset is an end, too.
        let _ = stream.read_to_string(&mut got);
        assert!(!got.ends_with("0\r\n\r\n"), "{got}");
        assert!(!got.contains("finish_reason"), "{got}");
    }
    assert!(gateway.is_idle());
    assert!(gateway.page("/health").starts_with("HTTP/1.1 200"));
    assert!(gateway.page("/repairs").contains("\"outcome\":\"cut\""));
}

#[test]
fn clients_that_are_killed_end_their_requests_to_the_provider() {
    let (address, waits) = provider();
    let gateway = Gateway::new(&address);
    // A gateway is a client that can be killed.
    let mut before = Gateway::new(&gateway.address);
    let streams: Vec<(TcpStream, String)> = (0..4).map(|_| begin(&before.address)).collect();
    assert!(waits.try_recv().is_err());
    before.kill();
    for _ in &streams {
        waits.recv_timeout(STUCK).unwrap();
    }
    assert!(gateway.is_idle());
    // The next client is served.
    begin(&gateway.address);
}
