//! `jsonmend serve`: the gateway.

use std::{env, ffi::OsString, fs, future::Future, io, net::SocketAddr, num::NonZeroUsize, thread};

use jsonmend_proxy::{Config, ConfigError, Server, Upstream};
use serde_json::json;
use tokio::{net::TcpListener, runtime::Builder, signal};

use crate::{
    Session,
    args::{Admin, ServeArgs},
    exit::{Exit, Failure},
    out::Out,
    paint::NAME,
};

pub(crate) fn run(args: &ServeArgs, session: Session) -> Result<Exit, Failure> {
    let config = config(args)?;
    let admin = config.admin().map_err(usage)?;
    let server = Server::new(config.clone()).map_err(usage)?;
    let failed = |what: &str| {
        let what = what.to_owned();
        move |error| Failure::Io { what, error }
    };
    // It takes connections, and has the admin port. What it takes is answered on threads of their own.
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(failed("cannot start"))?;
    let threads = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let server = server.with_threads(threads);
    runtime.block_on(async {
        let stop = asked_to_stop().map_err(failed("cannot wait for signals"))?;
        let clients = listen(config.listen()).await?;
        let pages = match admin {
            Some(address) => Some(listen(address).await?),
            None => None,
        };
        let scheme = if config.is_encrypted() { "https" } else { "http" };
        announce((scheme, &clients), pages.as_ref(), args.json, session)?;
        server.serve(clients, pages, stop).await.map_err(failed("cannot serve"))
    })?;
    Ok(Exit::Unchanged)
}

/// The settings: the file, before it the environment, and before that the command line.
fn config(args: &ServeArgs) -> Result<Config, Failure> {
    let file = match &args.config {
        Some(path) => fs::read_to_string(path)
            .map_err(|error| Failure::reading(&path.display().to_string(), error))?,
        None => String::new(),
    };
    let text = |text: OsString| text.to_string_lossy().into_owned();
    let environment = env::vars_os().map(|(name, value)| (text(name), text(value)));
    let mut config = Config::read(&file, environment).map_err(|error| match &args.config {
        Some(path) => usage(error.in_file(&path.display().to_string())),
        None => usage(error),
    })?;
    if !args.upstream.is_empty() {
        let upstreams = args.upstream.iter().map(|text| Upstream::parse(text));
        config = config.with_upstreams(upstreams.collect::<Result<_, _>>().map_err(usage)?);
    }
    if let Some(address) = args.listen {
        config = config.with_listen(address);
    }
    Ok(match args.admin {
        Some(Admin::At(address)) => config.with_admin(Some(address)),
        Some(Admin::Off) => config.with_admin(None),
        None => config,
    })
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn usage(error: ConfigError) -> Failure {
    Failure::Usage(error.to_string())
}

async fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    let listener = TcpListener::bind(address).await;
    listener.map_err(|error| Failure::Io { what: format!("cannot listen on {address}"), error })
}

/// Prints where the gateway is.
fn announce(
    (scheme, clients): (&str, &TcpListener),
    pages: Option<&TcpListener>,
    json: bool,
    session: Session,
) -> Result<(), Failure> {
    let url = |scheme: &str, listener: &TcpListener| {
        listener.local_addr().map(|address| format!("{scheme}://{address}"))
    };
    let admin = pages.map(|pages| url("http", pages)).transpose()?;
    let url = url(scheme, clients)?;
    let mut out = Out::new();
    if json {
        out.record(&json!({"type": "listening", "url": url, "admin": admin}));
    } else {
        out.line(&session.stdout.paint(NAME, &url));
    }
    out.flush()
}

/// Waits for a request to stop.
#[cfg(unix)]
fn asked_to_stop() -> io::Result<impl Future<Output = ()>> {
    use signal::unix::{SignalKind, signal};

    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Waits for a request to stop.
#[cfg(not(unix))]
fn asked_to_stop() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        // Without signals, it runs until it is ended.
        if signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    })
}
