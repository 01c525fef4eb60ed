//! A provider that says when it sent each event.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use crate::{DIGITS, SENT, now, process::Failed};

/// Events of a stream.
const EVENTS: usize = 200;

/// The time between two events of a paced stream.
const PACE: Duration = Duration::from_millis(2);

/// Starts it. The model that is asked for says what it answers: `whole`, `stream` or `paced`, each with `-damaged`.
///
/// Each connection has a thread, because the timer of a runtime has steps of a millisecond.
pub(crate) fn start() -> Result<SocketAddr, Failed> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            // Who leaves ends its own connection only.
            thread::spawn(move || drop(serve(stream)));
        }
    });
    Ok(address)
}

fn serve(mut stream: TcpStream) -> Result<(), Failed> {
    stream.set_nodelay(true)?;
    let (mut got, mut piece) = (Vec::new(), [0; 16 << 10]);
    loop {
        let read = stream.read(&mut piece)?;
        if read == 0 {
            return Ok(());
        }
        got.extend_from_slice(&piece[..read]);
        let Some(model) = asked(&got) else { continue };
        got.clear();
        let (damaged, paced) = (model.ends_with("-damaged"), model.starts_with("paced"));
        if model.starts_with("whole") {
            stream.write_all(whole(damaged).as_bytes())?;
            continue;
        }
        let mut next = Instant::now();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")?;
        for event in events(damaged) {
            if paced {
                thread::sleep(next.saturating_duration_since(Instant::now()));
                next += PACE;
            }
            let mut piece = format!("{:x}\r\n{event}\r\n", event.len()).into_bytes();
            if let Some(at) = piece.windows(SENT.len()).position(|text| text == SENT) {
                let sent = format!("{:0DIGITS$}", now().as_nanos());
                let start = at + SENT.len();
                piece[start..start + DIGITS].copy_from_slice(sent.as_bytes());
            }
            stream.write_all(&piece)?;
        }
        stream.write_all(b"0\r\n\r\n")?;
    }
}

/// The model that a whole request asks for.
fn asked(request: &[u8]) -> Option<String> {
    let head = request.windows(4).position(|end| end == b"\r\n\r\n")?;
    let text = String::from_utf8_lossy(&request[..head]).to_ascii_lowercase();
    let length: usize = text.split("content-length: ").nth(1)?.split('\r').next()?.parse().ok()?;
    let body = String::from_utf8_lossy(request.get(head + 4..head + 4 + length)?).into_owned();
    let (_, rest) = body.split_once("\"model\"")?;
    rest.split('"').nth(1).map(str::to_owned)
}

/// The arguments of a call, in pieces of twenty bytes.
fn arguments(damaged: bool) -> impl Iterator<Item = String> {
    (0..EVENTS).map(move |number| match (number, damaged) {
        // A long text. Where a piece ends with a quote, it waits for the next one.
        (0, false) => "{\\\"text\\\": \\\"the beginning ".to_owned(),
        (0, true) => "{'text': 'the beginning ".to_owned(),
        (last, false) if last == EVENTS - 1 => "end\\\"}".to_owned(),
        (last, true) if last == EVENTS - 1 => "end'}".to_owned(),
        _ => format!("piece {number:06} of it "),
    })
}

fn whole(damaged: bool) -> String {
    let arguments: String = arguments(damaged).collect();
    let body = format!(
        r#"{{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{{"index":0,"message":{{"role":"assistant","tool_calls":[{{"id":"1","type":"function","function":{{"name":"f","arguments":"{arguments}"}}}}]}},"finish_reason":"tool_calls"}}]}}"#
    );
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// The events of a stream, with room for a time.
pub(crate) fn events(damaged: bool) -> Vec<String> {
    let event = |delta: &str, finish: &str| {
        format!(
            r#"data: {{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}],"sent":"0000000000000000"}}"#
        ) + "\n\n"
    };
    let call = |number: usize, piece: &str| {
        let [name, function] = match number {
            0 => [r#""id":"c1","type":"function","#, r#""name":"f","#],
            _ => ["", ""],
        };
        format!(
            r#"{{"tool_calls":[{{"index":0,{name}"function":{{{function}"arguments":"{piece}"}}}}]}}"#
        )
    };
    let mut events: Vec<String> = arguments(damaged)
        .enumerate()
        .map(|(number, piece)| event(&call(number, &piece), "null"))
        .collect();
    events.extend([event("{}", "\"tool_calls\""), "data: [DONE]\n\n".to_owned()]);
    events
}
