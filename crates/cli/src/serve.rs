//! `wiremend serve`: the gateway.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, Read as _, Write as _},
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream},
    num::NonZeroUsize,
    sync::mpsc::{self, SyncSender},
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{net::TcpListener, runtime::Builder, signal, sync::oneshot};
use wiremend_proxy::{Config, ConfigError, Server, Upstream, settings};

use crate::{
    Session,
    args::{Admin, ServeArgs},
    exit::{Exit, Failure},
    out::Out,
    visible::{NAME, Shown, notice, shown},
};

pub(crate) fn run(args: &ServeArgs, session: Session) -> Result<Exit, Failure> {
    let config = config(args)?;
    let admin = config.admin().map_err(usage)?;
    if args.probe {
        return probe(admin);
    }
    let server = Server::new(config.clone()).map_err(usage)?;
    if args.check {
        return show(&config, args.json);
    }
    let failed = |what: &str| {
        let what = what.to_owned();
        move |error| Failure::Io { what, error }
    };
    // It takes connections, and has the admin port. What it takes is answered on threads of their own.
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(failed("cannot start"))?;
    let threads = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let mut server = server.with_threads(threads);
    let log = if session.quiet { None } else { Some(Log::start()?) };
    if let Some(log) = &log {
        let lines = log.lines.clone();
        // Who does not read them misses some. Nobody waits.
        server = server.with_log(move |line| drop(lines.try_send(Some(line.to_owned()))));
    }
    let done = runtime.block_on(async {
        let mut signals = Signals::new().map_err(failed("cannot wait for signals"))?;
        let clients = listen(config.listen()).await?;
        let pages = match admin {
            Some(address) => Some(listen(address).await?),
            None => None,
        };
        let scheme = if config.is_encrypted() { "https" } else { "http" };
        announce((scheme, &clients), pages.as_ref(), args.json, session)?;
        let (asked, stop) = oneshot::channel::<()>();
        let serving = server.serve(clients, pages, async { drop(stop.await) });
        tokio::select! {
            served = serving => served.map_err(failed("cannot serve")),
            // What has begun may end, unless that is asked for twice.
            () = async {
                signals.next().await;
                drop(asked);
                signals.next().await;
            } => Ok(()),
        }
    });
    // What is still being mended on another thread is for nobody.
    runtime.shutdown_background();
    if let Some(log) = log {
        log.end();
    }
    done.map(|()| Exit::Unchanged)
}

/// Lines on standard error, written by a thread of their own.
struct Log {
    lines: SyncSender<Option<String>>,
    writer: JoinHandle<()>,
}

impl Log {
    fn start() -> Result<Self, Failure> {
        let (lines, taken) = mpsc::sync_channel::<Option<String>>(1024);
        let writer = thread::Builder::new().spawn(move || {
            while let Ok(Some(line)) = taken.recv() {
                notice(&Shown::of(line));
            }
        });
        let cannot = |error| Failure::Io { what: "cannot start".to_owned(), error };
        Ok(Self { lines, writer: writer.map_err(cannot)? })
    }

    /// Writes what is left.
    fn end(self) {
        if self.lines.send(None).is_ok() {
            let _ = self.writer.join();
        }
    }
}

/// Prints the settings as they hold, in the form of a file of settings.
fn show(config: &Config, json: bool) -> Result<Exit, Failure> {
    let mut out = Out::new();
    if json {
        out.record(config);
    } else {
        let value = serde_json::to_value(config)?;
        for setting in settings() {
            let pointer = format!("/{}", setting.key().replace('.', "/"));
            let value = value.pointer(&pointer).unwrap_or(&Value::Null);
            out.line(&shown!("{} = {}", setting.key(), value));
        }
        let tables = [("mending.tool", "/mending/tool"), ("upstream", "/upstream")];
        for (name, pointer) in tables {
            for table in value.pointer(pointer).and_then(Value::as_array).into_iter().flatten() {
                out.line(&shown!("\n[[{}]]", name));
                write_table(&mut out, name, table);
            }
        }
    }
    out.flush()?;
    Ok(Exit::Unchanged)
}

fn write_table(out: &mut Out, name: &str, table: &Value) {
    let (tables, values): (Vec<_>, Vec<_>) =
        table.as_object().into_iter().flatten().partition(|(_, value)| value.is_array());
    for (key, value) in values.into_iter().filter(|(_, value)| !value.is_null()) {
        out.line(&shown!("{} = {}", key, value));
    }
    for (key, value) in tables {
        for inner in value.as_array().into_iter().flatten() {
            let name = format!("{name}.{key}");
            out.line(&shown!("\n[[{}]]", name));
            write_table(out, &name, inner);
        }
    }
}

/// How long a gateway may take to say that it is healthy.
const HEALTHY: Duration = Duration::from_secs(5);

/// Asks the admin port of a gateway on this machine for `/health`.
fn probe(admin: Option<SocketAddr>) -> Result<Exit, Failure> {
    let mut address = admin
        .ok_or_else(|| Failure::Usage("--probe asks the admin port, which is off".to_owned()))?;
    if address.ip().is_unspecified() {
        address.set_ip(if address.is_ipv4() {
            Ipv4Addr::LOCALHOST.into()
        } else {
            Ipv6Addr::LOCALHOST.into()
        });
    }
    let ask = || {
        let mut stream = TcpStream::connect_timeout(&address, HEALTHY)?;
        stream.set_read_timeout(Some(HEALTHY))?;
        stream
            .write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
        let mut head = [0; 12];
        stream.read_exact(&mut head)?;
        if head == *b"HTTP/1.1 200" {
            Ok(Exit::Unchanged)
        } else {
            Err(io::ErrorKind::InvalidData.into())
        }
    };
    ask().map_err(|error| Failure::Io { what: format!("no healthy gateway at {address}"), error })
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

/// Requests to stop.
struct Signals {
    #[cfg(unix)]
    interrupt: signal::unix::Signal,
    #[cfg(unix)]
    terminate: signal::unix::Signal,
}

impl Signals {
    #[cfg(unix)]
    fn new() -> io::Result<Self> {
        use signal::unix::{SignalKind, signal};
        let (interrupt, terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(Self { interrupt, terminate })
    }

    #[cfg(unix)]
    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    #[cfg(not(unix))]
    fn new() -> io::Result<Self> {
        Ok(Self {})
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
        // Without signals, it runs until it is ended.
        if signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
