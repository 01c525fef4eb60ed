//! `wiremend chaos`: a provider that breaks.

use std::{sync::mpsc, time::Duration};

use serde_json::json;
use wiremend_testkit::chaos::{Pace, Served, Server, Settings};

use crate::{
    Session,
    args::ChaosArgs,
    exit::{Exit, Failure},
    out::Out,
    paint::{DIM, NAME},
    visible::shown,
};

pub(crate) fn run(args: &ChaosArgs, session: Session) -> Result<Exit, Failure> {
    let settings = settings(args);
    let mut out = Out::new();
    if args.print {
        out.text(settings.case(args.seed, None).delivery().bytes());
        out.flush()?;
        return Ok(Exit::Unchanged);
    }
    // The server has a thread of its own, and the output belongs to this one.
    let (sender, receiver) = mpsc::channel();
    let server = Server::start_with(settings, move |served| {
        // Nobody is there any more if the output failed. Then the server is about to be stopped.
        let _ = sender.send(served.clone());
    });
    let server = server.map_err(|error| Failure::Io {
        what: format!("cannot listen on 127.0.0.1:{}", args.port),
        error,
    })?;
    let url = format!("http://{}", server.address());
    if args.json {
        out.record(&json!({"type": "listening", "url": url}));
    } else {
        out.line(&session.stdout.paint(NAME, &url));
    }
    out.flush()?;
    for served in receiver {
        write(&mut out, &served, args.json, session);
        out.flush()?;
    }
    Ok(Exit::Unchanged)
}

fn settings(args: &ChaosArgs) -> Settings {
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

fn write(out: &mut Out, served: &Served, json: bool, session: Session) {
    let case = served.case();
    let (shape, scenario) = (case.reply().shape(), case.scenario().to_string());
    if json {
        return out.record(&json!({
            "type": "response",
            "seed": served.seed(),
            "path": served.path(),
            "format": shape.code(),
            "scenario": scenario,
            "sent": served.is_sent(),
        }));
    }
    if session.quiet {
        return;
    }
    let paint = session.stdout;
    let scenario = if scenario.is_empty() { "nothing goes wrong" } else { &scenario };
    let gone = if served.is_sent() { "" } else { " (the client had gone)" };
    out.line(&shown!(
        "{} {} {}: {}{}",
        paint.paint(DIM, format!("seed={}", served.seed())),
        served.path(),
        shape,
        scenario,
        gone,
    ));
}
