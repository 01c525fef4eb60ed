//! A gateway over a long time, between a provider that breaks and clients that do, too.
//!
//! `cargo run --release -p wiremend-proxy --example hour BINARY [SECONDS] [REQUESTS A SECOND]`; `wiremend-chaos` stands beside BINARY.
//!
//! `BINARY` is the command `wiremend`. It runs as the gateway, and as the provider, `wiremend-chaos`, which is killed
//! and started again every 20 seconds. Some clients leave in the middle of an answer, and every seven seconds a process
//! with several of them is killed. Each minute has a line with the memory of the gateway. It fails if an answer hangs,
//! if one that ended as whole has a call that the provider did not complete, if anything stays open or held, or if the
//! memory at the end is more than an eighth above that after a tenth of the time.

mod process;

use std::{
    collections::HashSet,
    env, fs,
    net::SocketAddr,
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::Semaphore,
    task::JoinSet,
    time::{sleep, timeout},
};
use wiremend_testkit::{chaos::Settings, laws::wire::states};
use wiremend_wire::{WireOptions, transcribe};

use process::{Failed, Process, free, resident};

/// How long an answer may take. The provider takes ten seconds at most.
const HANGS: Duration = Duration::from_secs(60);

/// Answers at the same time. The provider has room for 16.
const AT_ONCE: usize = 12;

/// How often the provider is killed, and how often clients are.
const PROVIDER: Duration = Duration::from_secs(20);
const CLIENTS: Duration = Duration::from_secs(7);

/// How long there is no provider then.
const ABSENT: Duration = Duration::from_millis(500);

/// What has become of the requests.
#[derive(Default)]
struct Counts {
    sent: AtomicUsize,
    whole: AtomicUsize,
    /// Answers that broke off.
    broken: AtomicUsize,
    /// Answers of the gateway itself, as the provider was not there.
    refused: AtomicUsize,
    /// Clients that left.
    left: AtomicUsize,
    /// Calls of whole answers that may be run.
    calls: AtomicUsize,
    killed: AtomicUsize,
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let mut arguments = env::args().skip(1);
    let binary = arguments.next().ok_or("which binary?")?;
    if binary == "clients" {
        return stay(arguments.next().ok_or("which gateway?")?.parse()?).await;
    }
    let mut numbers = arguments.map(|text| text.parse::<u64>());
    let seconds = Duration::from_secs(numbers.next().transpose()?.unwrap_or(3600));
    let rate = numbers.next().transpose()?.unwrap_or(10).max(1);
    run(&binary, seconds, rate).await
}

async fn run(binary: &str, length: Duration, rate: u64) -> Result<(), Failed> {
    let [provider, clients, admin] = [free().await?, free().await?, free().await?];
    let mut gateway =
        Process::start(
            Command::new(binary)
                .args(["serve", "--upstream", &format!("http://{provider}")])
                .args(["--listen", &clients.to_string(), "--admin", &admin.to_string()]),
        )?;
    let mut breaking = Some(provide(binary, provider)?);
    gateway.until_there(clients).await?;
    let (began, counts) = (Instant::now(), Arc::new(Counts::default()));
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = JoinSet::new();
    let mut killer: Option<Process> = None;
    let [mut minute, mut kill_provider, mut kill_clients] = [began; 3];
    let (mut early, mut seed) = (None, 0);
    println!(
        "seconds | requests | whole | broke off | refused | left | killed | calls | resident | files"
    );
    println!("{}---", "---|".repeat(9));
    while began.elapsed() < length {
        let permit = Arc::clone(&room).acquire_owned().await?;
        let counts_of = Arc::clone(&counts);
        running.spawn(async move {
            let _permit = permit;
            ask(clients, seed, &counts_of).await
        });
        seed += 1;
        sleep(Duration::from_micros(1_000_000 / rate)).await;
        while let Some(done) = running.try_join_next() {
            done??;
        }
        if kill_provider.elapsed() > PROVIDER {
            kill_provider = Instant::now();
            breaking = None;
            counts.killed.fetch_add(1, Ordering::Relaxed);
        }
        if breaking.is_none() && kill_provider.elapsed() > ABSENT {
            breaking = Some(provide(binary, provider)?);
        }
        if kill_clients.elapsed() > CLIENTS {
            kill_clients = Instant::now();
            let mut stay = Command::new(env::current_exe()?);
            stay.args(["clients", &clients.to_string()]);
            // The one before is killed here.
            if killer.replace(Process::start(&mut stay)?).is_some() {
                counts.killed.fetch_add(1, Ordering::Relaxed);
            }
        }
        if minute.elapsed() > Duration::from_secs(60) {
            minute = Instant::now();
            say(began, &counts, gateway.id())?;
        }
        if early.is_none() && began.elapsed() > length / 10 {
            early = Some(resident(gateway.id())?);
        }
    }
    drop(killer);
    while let Some(done) = running.join_next().await {
        done??;
    }
    sleep(Duration::from_secs(2)).await;
    say(began, &counts, gateway.id())?;
    let metrics = page(admin).await?;
    for line in ["wiremend_open_streams 0\n", "wiremend_held_bytes 0\n", "wiremend_connections 0\n"]
    {
        if !metrics.contains(line) {
            return Err(format!("something is left: {metrics}").into());
        }
    }
    let (early, late) = (early.unwrap_or_default(), resident(gateway.id())?);
    if late > early + early / 8 {
        return Err(format!("{early} kB became {late} kB").into());
    }
    println!("nothing hung, nothing is left, and {early} kB became {late} kB");
    Ok(())
}

fn say(began: Instant, counts: &Counts, gateway: u32) -> Result<(), Failed> {
    let Counts { sent, whole, broken, refused, left, calls, killed } = counts;
    let seconds = began.elapsed().as_secs();
    let counts = [sent, whole, broken, refused, left, killed, calls]
        .map(|count| count.load(Ordering::Relaxed));
    let counts = counts.map(|count| count.to_string()).join(" | ");
    let files = fs::read_dir(format!("/proc/{gateway}/fd"))?.count();
    println!("{seconds} | {counts} | {} kB | {files}", resident(gateway)?);
    Ok(())
}

/// One request, and what must hold of its answer.
async fn ask(gateway: SocketAddr, seed: u64, counts: &Counts) -> Result<(), Failed> {
    counts.sent.fetch_add(1, Ordering::Relaxed);
    let mode = ["eager", "validated"][usize::from(seed % 2 == 1)];
    let mut stream = TcpStream::connect(gateway).await?;
    stream
        .write_all(
            format!(
                "POST /x?seed={seed} HTTP/1.1\r\nhost: localhost\r\nx-wiremend-mode: {mode}\r\n\
                 content-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}"
            )
            .as_bytes(),
        )
        .await?;
    let mut got = Vec::new();
    if seed % 7 == 3 {
        // It leaves after some bytes, or before there are any.
        let some = Duration::from_millis(seed % 50);
        let _ = timeout(some, stream.read_buf(&mut got)).await;
        counts.left.fetch_add(1, Ordering::Relaxed);
        return Ok(());
    }
    let read = timeout(HANGS, stream.read_to_end(&mut got)).await;
    let ended = read.map_err(|_| format!("seed {seed} hangs"))?.is_ok();
    let end = got.windows(4).position(|end| end == b"\r\n\r\n").unwrap_or(got.len());
    let head = String::from_utf8_lossy(&got[..end]).to_ascii_lowercase();
    if head.contains("\r\nx-wiremend-error: ") {
        counts.refused.fetch_add(1, Ordering::Relaxed);
        return Ok(());
    }
    let body = got.get(end + 4..).unwrap_or_default();
    let chunked = head.contains("\r\ntransfer-encoding: chunked");
    let body = match (chunked, ended) {
        (true, true) => unchunked(body),
        (false, true) => Some(body.to_vec()),
        _ => None,
    };
    let Some(body) = body else {
        counts.broken.fetch_add(1, Ordering::Relaxed);
        return Ok(());
    };
    counts.whole.fetch_add(1, Ordering::Relaxed);
    let delivery = Settings::new().case(seed, None).delivery();
    let (direct, through) = (runnable(delivery.bytes()), runnable(&body));
    counts.calls.fetch_add(through.len(), Ordering::Relaxed);
    for call in through {
        // A provider that loses an event and then states the whole arguments has stated them.
        if !direct.contains(&call) && !states(delivery.bytes(), &call.1) {
            return Err(
                format!("seed {seed}, {mode}: {call:?} is whole only through the gateway").into()
            );
        }
    }
    Ok(())
}

/// A body without its chunks, or `None` if it does not end.
fn unchunked(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let at = rest.windows(2).position(|end| end == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..at]).ok()?, 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(at + 2..at + 2 + size)?);
        rest = rest.get(at + 4 + size..)?;
    }
}

/// The calls of a body that may be run.
fn runnable(body: &[u8]) -> HashSet<(String, String)> {
    let said = transcribe(body, WireOptions::new());
    let calls = said.calls().into_iter().filter(|call| call.outcome().is_complete());
    calls.map(|call| (call.name().to_owned(), call.arguments().trim().to_owned())).collect()
}

/// Clients that ask, read one byte, and then wait to be killed.
async fn stay(gateway: SocketAddr) -> Result<(), Failed> {
    let mut open = Vec::new();
    for seed in 0..4 {
        let mut stream = TcpStream::connect(gateway).await?;
        let request = format!(
            "POST /x?seed={seed} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{{}}"
        );
        stream.write_all(request.as_bytes()).await?;
        let _ = timeout(Duration::from_millis(200), stream.read_u8()).await;
        // One is killed in the middle of its request.
        if seed == 3 {
            stream
                .write_all(b"POST /x HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{")
                .await?;
        }
        open.push(stream);
    }
    sleep(HANGS).await;
    Ok(())
}

/// A provider that breaks, with a little time between its chunks: the program beside the gateway.
fn provide(binary: &str, address: SocketAddr) -> Result<Process, Failed> {
    Process::start(
        Command::new(Path::new(binary).with_file_name("wiremend-chaos"))
            .args(["--port", &address.port().to_string(), "--delay", "10"])
            .args(["--requests", "100000", "--for", "86400"]),
    )
}

async fn page(admin: SocketAddr) -> Result<String, Failed> {
    let mut stream = TcpStream::connect(admin).await?;
    let request = "GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await?;
    let mut got = String::new();
    timeout(HANGS, stream.read_to_string(&mut got)).await??;
    Ok(got)
}
