//! What the gateway adds to an answer: the same requests directly, through a gateway that mends nothing,
//! and through one that mends, in rounds that take turns. A damaged answer comes last, which cannot be
//! compared with the direct path byte for byte.
//!
//! `cargo run --release -p jsonmend-proxy --example overhead [REQUESTS] [ROUNDS]`
//!
//! A `stream` has events without a pause, and a `paced` one an event about every two milliseconds. Each event
//! says when it was sent. *event* is the time from then until the client has it, and *gap* the time between
//! an event and the one before it, at the client.
//!
//! Client, provider and gateway share one process and its cores, so the figures are an upper bound. The timer has steps of a
//! millisecond, so gaps of a paced stream differ by that on every path.

use std::{
    env,
    error::Error,
    net::SocketAddr,
    sync::OnceLock,
    time::{Duration, Instant},
};

use jsonmend_proxy::{Config, Mending, Repair, Server, Upstream};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

type Failed = Box<dyn Error + Send + Sync>;

/// How many streams run at once.
const AT_ONCE: [usize; 3] = [1, 8, 64];

/// Events of a stream.
const EVENTS: usize = 200;

const PATHS: [&str; 4] = ["direct", "mending off", "mending on", "mending on, damaged"];

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let mut arguments = env::args().skip(1).map(|text| text.parse::<usize>());
    let requests = arguments.next().transpose()?.unwrap_or(64);
    let rounds = arguments.next().transpose()?.unwrap_or(10);
    let provider = provide().await?;
    let off = gateway(provider, Repair::Off).await?;
    let on = gateway(provider, Repair::Likely).await?;
    let columns = ["total p50", "first bytes p50", "event p50", "gap p50"].join(" | p90 | p99 | ");
    println!("| body | at once | path | {columns} | p90 | p99 |");
    println!("|---|---|---|{}", "---|".repeat(12));
    for kind in ["whole", "stream", "paced"] {
        // A paced stream takes nearly half a second.
        let (requests, rounds) =
            if kind == "paced" { (requests.min(2), rounds.min(4)) } else { (requests, rounds) };
        for at_once in AT_ONCE {
            let mut taken = vec![Vec::new(); PATHS.len()];
            for _ in 0..rounds {
                for (path, samples) in taken.iter_mut().enumerate() {
                    let address = [provider, off, on, on][path];
                    let target =
                        if path == 3 { format!("/{kind}/damaged") } else { format!("/{kind}") };
                    samples.extend(round(address, &target, at_once, requests.max(at_once)).await?);
                }
            }
            for (path, samples) in PATHS.iter().zip(&taken) {
                let of = |pick: fn(&Taken) -> &[Duration]| {
                    let mut times: Vec<Duration> = samples.iter().flat_map(pick).copied().collect();
                    times.sort();
                    [50, 90, 99].map(|part| match times.len() {
                        0 => "–".to_owned(),
                        length => format!("{} µs", times[(length - 1) * part / 100].as_micros()),
                    })
                };
                let cells = [
                    of(|taken| std::slice::from_ref(&taken.total)),
                    of(|taken| std::slice::from_ref(&taken.first)),
                    of(|taken| &taken.events),
                    of(|taken| &taken.gaps),
                ];
                let cells = cells.concat().join(" | ");
                println!("| {kind} | {at_once} | {path} | {cells} |");
            }
        }
    }
    Ok(())
}

#[derive(Clone)]
struct Taken {
    first: Duration,
    total: Duration,
    /// From when each event was sent until it is there.
    events: Vec<Duration>,
    /// From one event to the next.
    gaps: Vec<Duration>,
}

/// The time since this process first asked for it.
fn now() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// What is before the time in an event, and how many digits it has.
const SENT: &[u8] = b"\"sent\":\"";
const DIGITS: usize = 16;

/// Sends so many requests, on so many connections.
async fn round(
    address: SocketAddr,
    target: &str,
    at_once: usize,
    requests: usize,
) -> Result<Vec<Taken>, Failed> {
    let mut clients = JoinSet::new();
    for _ in 0..at_once {
        let request = format!(
            "POST {target} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}"
        );
        let share = requests.div_ceil(at_once);
        clients.spawn(async move {
            let mut stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            let mut samples = Vec::new();
            // The first one opens connections.
            for number in 0..=share {
                let taken = exchange(&mut stream, request.as_bytes()).await?;
                if number > 0 {
                    samples.push(taken);
                }
            }
            Ok::<_, Failed>(samples)
        });
    }
    let mut samples = Vec::new();
    while let Some(done) = clients.join_next().await {
        samples.extend(done??);
    }
    Ok(samples)
}

async fn exchange(stream: &mut TcpStream, request: &[u8]) -> Result<Taken, Failed> {
    let began = Instant::now();
    stream.write_all(request).await?;
    let (mut got, mut first) = (Vec::with_capacity(64 << 10), None);
    let (mut events, mut gaps, mut read, mut last) = (Vec::new(), Vec::new(), 0, None);
    loop {
        if stream.read_buf(&mut got).await? == 0 {
            return Err("the connection was closed".into());
        }
        let here = now();
        while let Some(at) = got[read..].windows(SENT.len()).position(|window| window == SENT) {
            let start = read + at + SENT.len();
            let Some(digits) = got.get(start..start + DIGITS) else { break };
            read = start;
            // Where a chunk ends within it, it cannot be read.
            let Some(sent) = std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok())
            else {
                continue;
            };
            events.push(here.saturating_sub(Duration::from_nanos(sent)));
            gaps.extend(last.replace(here).map(|last| here.saturating_sub(last)));
        }
        let Some(head) = got.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let body = &got[head + 4..];
        if !body.is_empty() {
            first.get_or_insert_with(|| began.elapsed());
        }
        let text = String::from_utf8_lossy(&got[..head]).to_ascii_lowercase();
        let length = text.split("content-length: ").nth(1).and_then(|rest| rest.split('\r').next());
        let ended = match length {
            Some(length) => body.len() >= length.parse()?,
            None => body.ends_with(b"0\r\n\r\n"),
        };
        if ended {
            let total = began.elapsed();
            return Ok(Taken { first: first.unwrap_or(total), total, events, gaps });
        }
    }
}

/// A provider that answers `/whole`, `/stream`, `/paced`, and each `/damaged`.
async fn provide() -> Result<SocketAddr, Failed> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = stream.set_nodelay(true);
                let mut got = Vec::new();
                loop {
                    let begin = got.len();
                    match stream.read_buf(&mut got).await {
                        Ok(read) if read > 0 => {}
                        _ => return,
                    }
                    if !got[begin.saturating_sub(8)..].ends_with(b"{}") {
                        continue;
                    }
                    let line = String::from_utf8_lossy(&got[..got.len().min(40)]).into_owned();
                    let (whole, damaged) = (line.contains("/whole"), line.contains("damaged"));
                    let paced = line.contains("/paced");
                    got.clear();
                    for mut piece in answer(whole, damaged) {
                        if paced {
                            tokio::time::sleep(Duration::from_millis(1)).await;
                        }
                        if let Some(at) = piece.windows(SENT.len()).position(|text| text == SENT) {
                            let sent = format!("{:0DIGITS$}", now().as_nanos());
                            let start = at + SENT.len();
                            piece[start..start + DIGITS].copy_from_slice(sent.as_bytes());
                        }
                        if stream.write_all(&piece).await.is_err() {
                            return;
                        }
                    }
                }
            });
        }
    });
    Ok(address)
}

/// The pieces of an answer: arguments of four kilobytes, at once or in events of twenty bytes.
fn answer(whole: bool, damaged: bool) -> Vec<Vec<u8>> {
    let arguments: Vec<String> = (0..EVENTS)
        .map(|number| match (number, damaged) {
            // A long text. Where a piece ends with a quote, it waits for the next one.
            (0, false) => "{\\\"text\\\": \\\"the beginning ".to_owned(),
            (0, true) => "{'text': 'the beginning ".to_owned(),
            (last, false) if last == EVENTS - 1 => "end\\\"}".to_owned(),
            (last, true) if last == EVENTS - 1 => "end'}".to_owned(),
            _ => format!("piece {number:06} of it "),
        })
        .collect();
    if whole {
        let arguments = arguments.concat();
        let body = format!(
            r#"{{"choices":[{{"index":0,"message":{{"tool_calls":[{{"id":"1","type":"function","function":{{"name":"f","arguments":"{arguments}"}}}}]}},"finish_reason":"tool_calls"}}]}}"#
        );
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        return vec![[head, body].concat().into_bytes()];
    }
    let event = |number: usize, piece: &str| {
        let name = if number == 0 { r#""id":"c1","# } else { "" };
        let function = if number == 0 { r#""name":"f","# } else { "" };
        format!(
            r#"data: {{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,{name}"function":{{{function}"arguments":"{piece}"}}}}]}}}}],"sent":"0000000000000000"}}"#
        )
    };
    let mut events: Vec<String> =
        arguments.iter().enumerate().map(|(number, piece)| event(number, piece)).collect();
    events.push(
        r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#.to_owned(),
    );
    events.push("data: [DONE]".to_owned());
    let mut pieces = vec![
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            .to_vec(),
    ];
    pieces.extend(
        events.iter().map(|event| format!("{:x}\r\n{event}\n\n\r\n", event.len() + 2).into_bytes()),
    );
    pieces.push(b"0\r\n\r\n".to_vec());
    pieces
}

async fn gateway(provider: SocketAddr, policy: Repair) -> Result<SocketAddr, Failed> {
    let upstream = Upstream::parse(&format!("http://{provider}"))?;
    let config =
        Config::new().with_upstream(upstream).with_mending(Mending::new().with_policy(policy));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = Server::new(config)?;
    tokio::spawn(server.serve(listener, None, std::future::pending()));
    Ok(address)
}
