//! What the gateway adds to an answer: the same requests directly, through a gateway that mends nothing,
//! and through one that mends, in rounds that take turns. A damaged answer comes last, which cannot be
//! compared with the direct path byte for byte.
//!
//! `cargo run --release -p wiremend-proxy --example overhead BINARY [REQUESTS] [ROUNDS] [AT MOST]`
//!
//! `BINARY` is the command `wiremend`; each gateway is a process of its own. 1, 8 and 64 requests are made at once, or
//! fewer with `AT MOST`. `WIREMEND_BESIDE` has others that take
//! their turn, a line each: `NAME=COMMAND`, in which `{port}` and `{provider}` are put in. They are killed at the end.
//!
//! A `stream` has events without a pause, and a `paced` one an event every two milliseconds. Each event says when it
//! was sent. *event* is the time from then until the client has it, and *gap* the time between an event and the one
//! before it, at the client. Whoever builds events anew loses those times, and has neither.
//!
//! Client and provider are one process and share its cores with the gateways, so the figures are an upper bound.

mod client;
#[path = "../process/mod.rs"]
mod process;
mod provider;

use std::{
    env, fs,
    net::SocketAddr,
    process::{Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

use wiremend_wire::{RewriteOptions, Rewriter};

use client::{Taken, round};
use process::{Failed, Process, free, resident};

/// How many streams run at once.
const AT_ONCE: [usize; 3] = [1, 8, 64];

/// What comes before the time in an event, and how many digits it has.
pub(crate) const SENT: &[u8] = b"\"sent\":\"";
pub(crate) const DIGITS: usize = 16;

/// The time since this process first asked for it.
pub(crate) fn now() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// A way from the client to the provider.
struct Way {
    name: String,
    address: SocketAddr,
    damaged: bool,
    process: Option<u32>,
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let mut arguments = env::args().skip(1);
    let binary = arguments.next().ok_or("which binary?")?;
    let mut numbers = arguments.map(|text| text.parse::<usize>());
    let requests = numbers.next().transpose()?.unwrap_or(64);
    let rounds = numbers.next().transpose()?.unwrap_or(10);
    let most = numbers.next().transpose()?.unwrap_or(usize::MAX);
    println!("{binary} has {} kB", fs::metadata(&binary)?.len() / 1000);
    engine();
    let provider = provider::start()?;
    let direct =
        |damaged| Way { name: "direct".to_owned(), address: provider, damaged, process: None };
    let mut ways = vec![direct(false)];
    let mut processes = Vec::new();
    let serve = format!(
        "{binary} serve --upstream http://{{provider}} --listen 127.0.0.1:{{port}} --admin off"
    );
    let own =
        [format!("mending off=WIREMEND_MENDING_POLICY=off {serve}"), format!("mending on={serve}")];
    let beside = env::var("WIREMEND_BESIDE").unwrap_or_default();
    for line in own.iter().map(String::as_str).chain(beside.lines()) {
        let Some((name, command)) = line.split_once('=') else { continue };
        let (process, address) = start(name, command, provider).await?;
        let way = |damaged| Way {
            name: format!("{name}{}", if damaged { ", damaged" } else { "" }),
            address,
            damaged,
            process: Some(process.id()),
        };
        ways.push(way(false));
        if name == "mending on" {
            ways.push(way(true));
        }
        processes.push(process);
    }
    let columns = ["total p50", "first bytes p50", "event p50", "gap p50"].join(" | p90 | p99 | ");
    println!("\n| body | at once | path | {columns} | p90 | p99 |");
    println!("|---|---|---|{}", "---|".repeat(12));
    for kind in ["whole", "stream", "paced"] {
        // A paced stream takes nearly half a second.
        let (requests, rounds) =
            if kind == "paced" { (requests.min(2), rounds.min(24)) } else { (requests, rounds) };
        for at_once in AT_ONCE.into_iter().filter(|at_once| *at_once <= most) {
            let mut taken = vec![Vec::new(); ways.len()];
            for _ in 0..rounds {
                for (way, samples) in ways.iter().zip(&mut taken) {
                    let model = format!("{kind}{}", if way.damaged { "-damaged" } else { "" });
                    samples
                        .extend(round(way.address, &model, at_once, requests.max(at_once)).await?);
                }
            }
            for (way, samples) in ways.iter().zip(&taken) {
                println!("| {kind} | {at_once} | {} | {} |", way.name, cells(samples));
            }
        }
    }
    println!();
    for way in ways.iter().filter(|way| !way.damaged) {
        if let Some(process) = way.process {
            println!("{}: {} kB are resident at the end", way.name, resident(process)?);
        }
    }
    Ok(())
}

/// The times of all requests, as columns of a table.
fn cells(samples: &[Taken]) -> String {
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
    cells.concat().join(" | ")
}

/// Says what the engine alone takes for each event.
fn engine() {
    for damaged in [false, true] {
        let mut times = Vec::new();
        for _ in 0..500 {
            let pieces = provider::events(damaged);
            let mut rewriter = Rewriter::new(RewriteOptions::new());
            let mut length = 0;
            let began = Instant::now();
            for piece in &pieces {
                rewriter.push(piece.as_bytes(), &mut |rewritten| {
                    if let wiremend_wire::Rewritten::Bytes(bytes) = rewritten {
                        length += bytes.len();
                    }
                });
            }
            rewriter.finish(&mut |_| {});
            times.push(began.elapsed() / u32::try_from(pieces.len()).unwrap_or(u32::MAX));
            assert!(length > 0, "nothing came out");
        }
        times.sort();
        let what = if damaged { "a damaged stream" } else { "a stream" };
        println!(
            "the engine alone takes {} ns for an event of {what}",
            times[times.len() / 2].as_nanos()
        );
    }
}

/// Starts a gateway, and says how long that took.
async fn start(
    name: &str,
    command: &str,
    provider: SocketAddr,
) -> Result<(Process, SocketAddr), Failed> {
    let address = free().await?;
    let command = command
        .replace("{provider}", &provider.to_string())
        .replace("{port}", &address.port().to_string());
    // Not `exec COMMAND`, because what is before it may be a variable.
    let shell = format!("exec env {command}");
    let mut process =
        Process::start(Command::new("sh").args(["-c", &shell]).stderr(Stdio::null()))?;
    let waited = process.until_there(address).await;
    let waited = waited.map_err(|error| format!("{name} does not start: {command}: {error}"))?;
    println!(
        "{name}: takes connections after {} ms, with {} kB",
        waited.as_millis(),
        resident(process.id())?
    );
    Ok((process, address))
}
