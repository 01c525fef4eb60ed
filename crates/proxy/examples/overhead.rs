//! What the gateway adds to an answer: the same requests directly, through a gateway that mends nothing,
//! and through one that mends, in rounds that take turns. A damaged answer comes last, which cannot be
//! compared with the direct path byte for byte.
//!
//! `cargo run --release -p jsonmend-proxy --example overhead [REQUESTS] [ROUNDS]`
//!
//! Client, provider and gateway share one process and its cores, so the figures are an upper bound.

use std::{
    env,
    error::Error,
    net::SocketAddr,
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
    println!("| body | at once | path | total p50 | p90 | p99 | first bytes p50 | p90 | p99 |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for kind in ["whole", "stream"] {
        for at_once in AT_ONCE {
            let mut taken = vec![Vec::new(); PATHS.len()];
            for _ in 0..rounds {
                for (path, samples) in taken.iter_mut().enumerate() {
                    let address = [provider, off, on, on][path];
                    let target =
                        if path == 3 { format!("/{kind}/damaged") } else { format!("/{kind}") };
                    samples.extend(round(address, &target, at_once, requests).await?);
                }
            }
            for (path, samples) in PATHS.iter().zip(&taken) {
                let of = |pick: fn(&Taken) -> Duration| {
                    let mut times: Vec<Duration> = samples.iter().map(pick).collect();
                    times.sort();
                    [50, 90, 99].map(|part| {
                        format!("{} µs", times[(times.len() - 1) * part / 100].as_micros())
                    })
                };
                let cells = [of(|taken| taken.total), of(|taken| taken.first)].concat().join(" | ");
                println!("| {kind} | {at_once} | {path} | {cells} |");
            }
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Taken {
    first: Duration,
    total: Duration,
}

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
    loop {
        if stream.read_buf(&mut got).await? == 0 {
            return Err("the connection was closed".into());
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
            return Ok(Taken { first: first.unwrap_or(total), total });
        }
    }
}

/// A provider that answers `/whole`, `/stream`, and both `/damaged`.
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
                    got.clear();
                    for piece in answer(whole, damaged) {
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
            (0, false) => "{\\\"text\\\": [\\\"first\\\"".to_owned(),
            (0, true) => "{'text': ['first'".to_owned(),
            (last, _) if last == EVENTS - 1 => "]}".to_owned(),
            (_, false) => format!(", \\\"piece {number:06}\\\""),
            (_, true) => format!(", 'piece {number:06}'"),
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
            r#"data: {{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,{name}"function":{{{function}"arguments":"{piece}"}}}}]}}}}]}}"#
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
