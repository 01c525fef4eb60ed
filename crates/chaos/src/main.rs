//! `wiremend-chaos`: a provider that breaks. The server is `wiremend_testkit::chaos`.

use std::{
    io::{self, Write as _},
    process::ExitCode,
    sync::mpsc,
    time::Duration,
};

use clap::Parser;
use serde_json::json;
use wiremend_testkit::{
    bodies::Shape,
    chaos::{Pace, Served, Server, Settings},
    transport::Scenario,
};

/// Play a provider that breaks, to test a client: replies with lost, repeated and late events, with
/// connections that break off, and with chunks that end anywhere.
///
/// A server on 127.0.0.1 answers every request with a generated reply, in the format that belongs to
/// its path: /v1/chat/completions, /v1/messages, /v1/responses, /api/chat, … It prints its address and
/// then a line for each response, and stops by itself. The same seed gives the same response, so what
/// breaks a client can be repeated with ?seed=N or --seed.
///
/// docs/fuzzing.md explains faults and formats.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// The format of every reply [default: by the path of the request, or else by the seed].
    #[arg(long, value_name = "NAME")]
    format: Option<Shape>,

    /// The seed of the first reply. Each further one has the next.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// What happens to every reply, such as `lose=3 reset=120 cut=7,19`, or nothing (an empty text)
    /// [default: by the seed].
    #[arg(long, value_name = "FAULTS")]
    scenario: Option<Scenario>,

    /// The longest delay before each chunk, in milliseconds. The seed chooses each delay.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    delay: u64,

    /// The port; 0 is one that is free.
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "print")]
    port: u16,

    /// The number of requests after which the server stops.
    #[arg(long, value_name = "N", default_value_t = 1000, conflicts_with = "print")]
    requests: usize,

    /// The time after which it stops, in seconds.
    #[arg(long = "for", value_name = "SECONDS", default_value_t = 600, conflicts_with = "print")]
    lifetime: u64,

    /// Start no server: print what would arrive of the first reply.
    #[arg(long)]
    print: bool,

    /// Print one JSON object per response.
    #[arg(long, conflicts_with = "print")]
    json: bool,
}

/// The exit codes are 0, 2 for a wrong command line, and 6 where the port or the output fails.
fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(6)
        }
    }
}

fn run(args: &Args) -> io::Result<()> {
    let settings = settings(args);
    let mut out = io::stdout().lock();
    if args.print {
        out.write_all(settings.case(args.seed, None).delivery().bytes())?;
        return out.flush();
    }
    // The server has a thread of its own, and the output belongs to this one.
    let (sender, receiver) = mpsc::channel();
    let server = Server::start_with(settings, move |served| {
        // Nobody is there any more if the output failed. Then the server is about to be stopped.
        let _ = sender.send(served.clone());
    });
    let server = server.map_err(|error| {
        let what = format!("cannot listen on 127.0.0.1:{}: {error}", args.port);
        io::Error::new(error.kind(), what)
    })?;
    let url = format!("http://{}", server.address());
    if args.json {
        writeln!(out, "{}", json!({"type": "listening", "url": url}))?;
    } else {
        writeln!(out, "{url}")?;
    }
    out.flush()?;
    for served in receiver {
        writeln!(out, "{}", line(&served, args.json))?;
        out.flush()?;
    }
    Ok(())
}

fn settings(args: &Args) -> Settings {
    let pace = Pace::new().with_delay(Duration::from_millis(args.delay));
    let mut settings = Settings::new()
        .with_port(args.port)
        .with_seed(args.seed)
        .with_pace(pace)
        .with_requests(args.requests)
        .with_lifetime(Duration::from_secs(args.lifetime));
    if let Some(shape) = args.format {
        settings = settings.with_shape(shape);
    }
    if let Some(scenario) = &args.scenario {
        settings = settings.with_scenario(scenario.clone());
    }
    settings
}

/// What was sent, as a line. A path is a client's: what a terminal would act on is escaped.
fn line(served: &Served, json: bool) -> String {
    let case = served.case();
    let (shape, scenario) = (case.reply().shape(), case.scenario().to_string());
    if json {
        let response = json!({
            "type": "response",
            "seed": served.seed(),
            "path": served.path(),
            "format": shape.code(),
            "scenario": scenario,
            "sent": served.is_sent(),
        });
        return response.to_string();
    }
    let scenario = if scenario.is_empty() { "nothing goes wrong" } else { &scenario };
    let gone = if served.is_sent() { "" } else { " (the client had gone)" };
    let path = served.path().escape_debug();
    format!("seed={} {path} {shape}: {scenario}{gone}", served.seed())
}
