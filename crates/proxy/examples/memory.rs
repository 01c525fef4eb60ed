//! The memory of a gateway: with many streams open in the middle of a call, and over many requests to a provider that
//! breaks.
//!
//! `cargo run --release -p wiremend-proxy --example memory BINARY streams [STREAMS] [SECONDS]`
//! `cargo run --release -p wiremend-proxy --example memory BINARY encrypted [STREAMS] [SECONDS]`
//! `cargo run --release -p wiremend-proxy --example memory BINARY faults [REQUESTS]`
//!
//! With `encrypted`, the connections to the provider are. `BINARY` is the command `wiremend`, which runs as a process of
//! its own. Each stream takes two sockets of it, and
//! two of this program, so `ulimit -n` has to allow twice their number.

mod process;

use std::{
    env, fs,
    net::SocketAddr,
    path::PathBuf,
    process::{Command, Stdio, id},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, crypto::ring, pki_types::PrivateKeyDer},
};
use wiremend_testkit::chaos::{Server, Settings};

use process::{Failed, Process, free, resident};

const BEGIN: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const CALL: &str = r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{'text': '"}}]}}]}"#;
const PIECE: &str = r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"a piece of a text, "}}]}}]}"#;

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let mut arguments = env::args().skip(1);
    let binary = arguments.next().ok_or("which binary?")?;
    let what = arguments.next();
    let mut numbers = arguments.map(|text| text.parse::<usize>());
    match what.as_deref() {
        Some(what @ ("streams" | "encrypted")) => {
            let key = (what == "encrypted").then(Key::new).transpose()?;
            let streams = numbers.next().transpose()?.unwrap_or(5000);
            let seconds = numbers.next().transpose()?.unwrap_or(10);
            open_streams(&binary, key, streams, seconds).await
        }
        Some("faults") => faults(&binary, numbers.next().transpose()?.unwrap_or(10_000)).await,
        _ => Err("streams, encrypted, or faults?".into()),
    }
}

/// What a provider encrypts with.
struct Key {
    accepts: TlsAcceptor,
    /// A file with its certificate, for who checks it.
    certificate: PathBuf,
}

impl Key {
    fn new() -> Result<Self, Failed> {
        let key = rcgen::KeyPair::generate()?;
        let names = vec!["localhost".to_owned()];
        let made = rcgen::CertificateParams::new(names)?.self_signed(&key)?;
        let certificate = env::temp_dir().join(format!("wiremend-memory-{}.pem", id()));
        fs::write(&certificate, made.pem())?;
        let key = PrivateKeyDer::try_from(key.serialize_der())?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![made.der().clone()], key)?;
        Ok(Self { accepts: TlsAcceptor::from(Arc::new(config)), certificate })
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.certificate);
    }
}

/// A gateway before that provider.
async fn start(
    binary: &str,
    provider: SocketAddr,
    key: Option<&Key>,
) -> Result<(Process, SocketAddr), Failed> {
    let address = free().await?;
    let upstream = match key {
        Some(_) => format!("https://localhost:{}", provider.port()),
        None => format!("http://{provider}"),
    };
    let mut command = Command::new(binary);
    command
        .args(["serve", "--upstream", &upstream])
        .args(["--listen", &address.to_string(), "--admin", "off"])
        .stderr(Stdio::null());
    if let Some(key) = key {
        command.env("SSL_CERT_FILE", &key.certificate);
    }
    let mut gateway = Process::start(&mut command)?;
    gateway.until_there(address).await?;
    Ok((gateway, address))
}

/// Requests one after another, by eight clients, to a provider that breaks in every way that it can.
async fn faults(binary: &str, requests: usize) -> Result<(), Failed> {
    let settings = Settings::new().with_requests(requests).with_lifetime(Duration::from_secs(3600));
    let provider = Server::start(settings)?;
    let (gateway, address) = start(binary, provider.address(), None).await?;
    println!("requests | broke off | resident");
    println!("---|---|---");
    println!("0 | 0 | {} kB", resident(gateway.id())?);
    let (next, broken) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    for tenth in 1..=10 {
        let mut clients = JoinSet::new();
        for _ in 0..8 {
            let (next, broken) = (Arc::clone(&next), Arc::clone(&broken));
            clients.spawn(async move {
                while next.load(Ordering::Relaxed) < requests * tenth / 10 {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    let mode = ["eager", "validated"][seed % 2];
                    let request = format!(
                        "POST /x?seed={seed} HTTP/1.1\r\nhost: localhost\r\nx-wiremend-mode: {mode}\r\n\
                         content-length: 2\r\nconnection: close\r\n\r\n{{}}"
                    );
                    let mut stream = TcpStream::connect(address).await?;
                    stream.write_all(request.as_bytes()).await?;
                    let mut got = Vec::new();
                    let read = timeout(Duration::from_secs(60), stream.read_to_end(&mut got));
                    let ended = read.await.map_err(|_| format!("seed {seed} hangs"))?.is_ok();
                    let whole = ended && (got.ends_with(b"\r\n0\r\n\r\n") || !is_chunked(&got));
                    broken.fetch_add(usize::from(!whole), Ordering::Relaxed);
                }
                Ok::<_, Failed>(())
            });
        }
        while let Some(done) = clients.join_next().await {
            done??;
        }
        let (sent, broken) = (next.load(Ordering::Relaxed), broken.load(Ordering::Relaxed));
        println!("{sent} | {broken} | {} kB", resident(gateway.id())?);
    }
    Ok(())
}

fn is_chunked(reply: &[u8]) -> bool {
    let head = reply.split(|byte| *byte == b'\r').take(30);
    head.into_iter().any(|line| line.ends_with(b"transfer-encoding: chunked"))
}

async fn open_streams(
    binary: &str,
    key: Option<Key>,
    streams: usize,
    seconds: usize,
) -> Result<(), Failed> {
    let provider = provide(key.as_ref().map(|key| key.accepts.clone())).await?;
    let (gateway, address) = start(binary, provider, key.as_ref()).await?;
    let before = resident(gateway.id())?;
    let (open, bytes) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    for _ in 0..streams {
        let mut stream = TcpStream::connect(address).await?;
        let (open, bytes) = (Arc::clone(&open), Arc::clone(&bytes));
        tokio::spawn(async move {
            let request = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                 content-length: 15\r\n\r\n{\"stream\":true}";
            stream.write_all(request.as_bytes()).await?;
            let mut got = [0; 4096];
            let mut first = true;
            loop {
                let read = stream.read(&mut got).await?;
                if read == 0 {
                    break;
                }
                bytes.fetch_add(read, Ordering::Relaxed);
                if core::mem::take(&mut first) {
                    open.fetch_add(1, Ordering::Relaxed);
                }
            }
            open.fetch_sub(1, Ordering::Relaxed);
            Ok::<_, Failed>(())
        });
    }
    println!("streams | open | sent on | resident | each");
    println!("---|---|---|---|---");
    for _ in 0..seconds {
        sleep(Duration::from_secs(1)).await;
        let now = resident(gateway.id())?;
        let each = now.saturating_sub(before) as f64 / streams as f64;
        println!(
            "{streams} | {} | {} kB | {now} kB ({before} kB with none) | {each:.1} kB",
            open.load(Ordering::Relaxed),
            bytes.load(Ordering::Relaxed) / 1000
        );
    }
    Ok(())
}

/// A provider whose streams have a piece of a call every two seconds, and no end.
async fn provide(accepts: Option<TlsAcceptor>) -> Result<SocketAddr, Failed> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let accepts = accepts.clone();
            tokio::spawn(async move {
                match accepts {
                    Some(accepts) => send(accepts.accept(stream).await?).await,
                    None => send(stream).await,
                }
            });
        }
    });
    Ok(address)
}

async fn send(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> Result<(), Failed> {
    // The request is small, so it comes as one.
    let mut got = [0; 4096];
    if stream.read(&mut got).await? == 0 {
        return Ok(());
    }
    let chunk = |event: &str| format!("{:x}\r\n{event}\n\n\r\n", event.len() + 2);
    stream.write_all(format!("{BEGIN}{}", chunk(CALL)).as_bytes()).await?;
    let piece = chunk(PIECE);
    loop {
        stream.write_all(piece.as_bytes()).await?;
        stream.flush().await?;
        sleep(Duration::from_secs(2)).await;
    }
}
