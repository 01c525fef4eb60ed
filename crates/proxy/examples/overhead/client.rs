//! Clients that measure.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
    time::timeout,
};

use crate::{DIGITS, SENT, now, process::Failed};

/// How long an answer may take.
const HANGS: Duration = Duration::from_secs(60);

/// When an answer arrived.
#[derive(Clone)]
pub(crate) struct Taken {
    pub(crate) first: Duration,
    pub(crate) total: Duration,
    /// From when each event was sent until it is there.
    pub(crate) events: Vec<Duration>,
    /// From one event to the next.
    pub(crate) gaps: Vec<Duration>,
}

/// Sends so many requests, on so many connections.
pub(crate) async fn round(
    address: SocketAddr,
    model: &str,
    at_once: usize,
    requests: usize,
) -> Result<Vec<Taken>, Failed> {
    let mut clients = JoinSet::new();
    let streams = !model.starts_with("whole");
    let body = format!(
        r#"{{"model":"{model}","stream":{streams},"messages":[{{"role":"user","content":"x"}}]}}"#
    );
    let length = body.len();
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer k\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    for _ in 0..at_once {
        let request = request.clone();
        let share = requests.div_ceil(at_once);
        clients.spawn(async move {
            let mut stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            let mut samples = Vec::new();
            // The first one opens connections.
            for number in 0..=share {
                let taken = timeout(HANGS, exchange(&mut stream, request.as_bytes())).await??;
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
    let (mut got, mut first) = (Vec::with_capacity(128 << 10), None);
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
        if !text.starts_with("http/1.1 200") {
            return Err(format!("{text}\n{}", String::from_utf8_lossy(body)).into());
        }
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
