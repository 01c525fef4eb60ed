//! The server: it takes connections, gives them to its threads, and stops when it is asked to.

use std::{
    collections::VecDeque,
    convert::Infallible,
    fs,
    future::Future,
    io, net,
    num::NonZeroUsize,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    runtime::Builder,
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch},
    task::{AbortHandle, JoinError, JoinSet},
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

use crate::{
    admin,
    config::{Config, ConfigError},
    exchange,
    log::Log,
    shared::{Providers, Shared},
    timed::{Taken, Waits},
};

/// Connections to the admin port at the same time.
const ADMINS: usize = 16;

/// How long a page may take nothing of what is sent to it.
const PAGE_PATIENCE: Duration = Duration::from_secs(10);

/// How long no connection is taken after one could not be: files may have run out.
const PAUSE: Duration = Duration::from_millis(50);

/// A gateway.
///
/// ```no_run
/// use wiremend_proxy::{Config, Server, Upstream};
/// use tokio::net::TcpListener;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let config = Config::new().with_upstream(Upstream::parse("https://api.openai.com")?);
/// let listener = TcpListener::bind(config.listen()).await?;
/// let stop = async { tokio::time::sleep(std::time::Duration::from_secs(3600)).await };
/// Server::new(config)?.serve(listener, None, stop).await?;
/// # Ok(())
/// # }
/// ```
pub struct Server {
    shared: Shared,
    tls: Option<TlsAcceptor>,
    threads: Option<NonZeroUsize>,
}

impl Server {
    /// A gateway with these settings.
    ///
    /// # Errors
    /// If there is no upstream, two have the same prefix, a setting has a value that a file may not have, the system has no certificates to check those of
    /// an `https` upstream with, or a file of those for clients cannot be used.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        let upstreams = config.upstreams();
        if upstreams.is_empty() {
            return Err(ConfigError::new("there is no upstream"));
        }
        for (number, upstream) in upstreams.iter().enumerate() {
            if upstreams[..number].iter().any(|earlier| earlier.prefix() == upstream.prefix()) {
                return Err(ConfigError::new(format!(
                    "two upstreams have the prefix {}",
                    upstream.prefix()
                )));
            }
        }
        config.check()?;
        let tls = config.tls().load()?.map(TlsAcceptor::from);
        let shared = Shared::new(config);
        let shared =
            shared.map_err(|error| ConfigError::new(format!("no certificates: {error}")))?;
        Ok(Self { shared, tls, threads: None })
    }

    /// Answers clients on so many threads of its own, instead of in the runtime that [`serve`](Self::serve) is called
    /// in. A client stays on the thread that it was given to. An answer begins sooner than in a runtime with several
    /// threads, in which each request wakes a second one.
    ///
    /// ```
    /// # fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// use wiremend_proxy::{Config, Server, Upstream};
    ///
    /// let config = Config::new().with_upstream(Upstream::parse("http://127.0.0.1:11434")?);
    /// let server = Server::new(config)?.with_threads(std::thread::available_parallelism()?);
    /// # Ok(())
    /// # }
    /// # run().unwrap();
    /// ```
    #[must_use]
    pub const fn with_threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Says what happens in lines for those who run the gateway: when it starts and stops, each exchange that failed, with
    /// the reason, and with [`Config::with_access_log`] every exchange. A line has names and values, such as
    /// `time=2026-01-31T12:00:00.250Z event=failed id=7 upstream=/ reason=upstream-slow`. No line has anything of a path, a
    /// query, a header or a body, but the name of the model. Clients wait while one is written.
    ///
    /// ### Default
    /// Nothing is said.
    ///
    /// ```
    /// # fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// use wiremend_proxy::{Config, Server, Upstream};
    ///
    /// let config = Config::new().with_upstream(Upstream::parse("http://127.0.0.1:11434")?);
    /// let server = Server::new(config)?.with_log(|line| eprintln!("{line}"));
    /// # Ok(())
    /// # }
    /// # run().unwrap();
    /// ```
    #[must_use]
    pub fn with_log(mut self, sink: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.shared.log = Log::new(sink);
        self
    }

    /// Answers clients on `listener`, and those who run the gateway on `admin`, until `stop` is ready. Then
    /// no connection is taken any more, and the answers that have begun may end, within
    /// [`Limits::drain_seconds`](crate::Limits::drain_seconds).
    ///
    /// Dropping the future ends everything at once.
    ///
    /// # Errors
    /// If one of [its own threads](Self::with_threads) cannot go on. A connection that fails concerns nobody else.
    pub async fn serve(
        self,
        listener: TcpListener,
        admin: Option<TcpListener>,
        stop: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let Self { shared, tls, threads } = self;
        let shared = Arc::new(shared);
        let address = listener.local_addr()?;
        shared.on_loopback.store(address.ip().is_loopback(), Ordering::Relaxed);
        let pages = admin.as_ref().map(TcpListener::local_addr).transpose()?;
        let limit = shared.config.limits().connections();
        let room = connections_of_files(threads.map_or(1, NonZeroUsize::get));
        let room = room.unwrap_or(limit).min(limit).min(Semaphore::MAX_PERMITS);
        let pages = pages.map_or_else(|| "off".to_owned(), |address| address.to_string());
        shared
            .log
            .line("started", &[("listen", &address), ("admin", &pages), ("connections", &room)]);
        if room < limit {
            // `ulimit -n` is what bounds them.
            shared.log.line("few-open-files", &[("wanted", &limit), ("connections", &room)]);
        }
        let (stopping, stopped) = watch::channel(false);
        let mut admins = JoinSet::new();
        if let Some(admin) = admin {
            admins.spawn(serve_pages(Arc::clone(&shared), admin));
        }
        let place = Place { shared: Arc::clone(&shared), tls, stopped };
        let mut threads = threads.map(|number| Threads::start(number, &place));
        let mut clients = Clients::new(place);
        let room = Arc::new(Semaphore::new(room));
        let mut stop = std::pin::pin!(stop);
        let mut failing = false;
        loop {
            let next = async {
                // More clients wait in the queue of the system.
                let permit = Arc::clone(&room).acquire_owned().await.map_err(io::Error::other)?;
                let (stream, _) = listener.accept().await?;
                Ok::<_, io::Error>((stream, permit))
            };
            let failed = async {
                match &mut threads {
                    Some(threads) => threads.failed().await,
                    None => std::future::pending().await,
                }
            };
            let (stream, permit) = tokio::select! {
                () = &mut stop => break,
                Some(_) = clients.left() => continue,
                error = failed => return Err(error),
                next = next => match next {
                    Ok(next) => next,
                    Err(error) => {
                        if !core::mem::replace(&mut failing, true) {
                            shared.log.line("no-connection-taken", &[("reason", &error.kind())]);
                        }
                        sleep(PAUSE).await;
                        continue;
                    }
                },
            };
            failing = false;
            match &threads {
                Some(threads) => threads.give(stream, permit),
                None => clients.take(stream, permit),
            }
        }
        drop(listener);
        shared.log.line("stopping", &[]);
        shared.draining.store(true, Ordering::Relaxed);
        // There may be no connection left to shut down.
        let _ = stopping.send(true);
        let drained = async {
            clients.drain().await;
            if let Some(threads) = &mut threads {
                threads.drain().await;
            }
        };
        let _ = timeout(shared.config.limits().drain(), drained).await;
        drop(stopping);
        clients.shutdown().await;
        if let Some(threads) = &mut threads {
            threads.drain().await;
        }
        admins.shutdown().await;
        shared.log.line("stopped", &[]);
        Ok(())
    }
}

async fn serve_client(
    shared: &Arc<Shared>,
    providers: &Arc<Providers>,
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    stopped: watch::Receiver<bool>,
) {
    // Events are small, and each is waited for.
    let _ = stream.set_nodelay(true);
    let limits = shared.config.limits();
    let waits = Waits::default();
    // Below the encryption, which has a buffer of its own.
    let stream = Box::pin(Taken::new(stream, limits.idle(), waits.clone()));
    let Some(tls) = tls else {
        return serve_requests(shared, providers, stream, waits, stopped).await;
    };
    // Apart, so that a connection without encryption has no room for one.
    Box::pin(serve_encrypted(shared, providers, stream, tls, waits, stopped)).await;
}

async fn serve_encrypted(
    shared: &Arc<Shared>,
    providers: &Arc<Providers>,
    stream: Pin<Box<Taken<TcpStream>>>,
    tls: TlsAcceptor,
    waits: Waits,
    stopped: watch::Receiver<bool>,
) {
    let mut stopping = stopped.clone();
    let handshake = timeout(shared.config.limits().head(), tls.accept(stream));
    let stream = tokio::select! {
        stream = handshake => stream,
        _ = stopping.wait_for(|stopped| *stopped) => return,
    };
    if let Ok(Ok(stream)) = stream {
        serve_requests(shared, providers, stream, waits, stopped).await;
    }
}

async fn serve_requests(
    shared: &Arc<Shared>,
    providers: &Arc<Providers>,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin,
    waits: Waits,
    mut stopped: watch::Receiver<bool>,
) {
    let limits = shared.config.limits();
    let service = service_fn(|request: http::Request<Incoming>| {
        let (shared, providers) = (Arc::clone(shared), Arc::clone(providers));
        let answer = exchange::answer(shared, providers, waits.clone(), request);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let io = TokioIo::new(stream);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head())
        .max_buf_size(shared.longest_head())
        .serve_connection(io, service);
    let mut connection = std::pin::pin!(connection);
    // A client that breaks the rules, or leaves, ends its own connection only.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stopped.wait_for(|stopped| *stopped) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

async fn serve_pages(shared: Arc<Shared>, listener: TcpListener) {
    let mut admins = JoinSet::new();
    // Those that have not asked for anything, as far as is known. The first has waited longest.
    let mut silent: VecDeque<(Arc<AtomicBool>, AbortHandle)> = VecDeque::new();
    loop {
        silent.retain(|(asked, task)| !asked.load(Ordering::Relaxed) && !task.is_finished());
        let stream = tokio::select! {
            Some(_) = admins.join_next() => continue,
            accepted = listener.accept(), if admins.len() < ADMINS || !silent.is_empty() => match accepted {
                Ok((stream, _)) => stream,
                Err(_) => {
                    sleep(PAUSE).await;
                    continue;
                }
            },
        };
        if admins.len() >= ADMINS {
            // Who says nothing makes room, so that nobody is kept from `/health` by connections that are only held open.
            let Some((_, task)) = silent.pop_front() else { continue };
            task.abort();
        }
        let (shared, asked) = (Arc::clone(&shared), Arc::new(AtomicBool::new(false)));
        let asks = Arc::clone(&asked);
        let task = admins.spawn(async move {
            let limits = *shared.config.limits();
            let service = service_fn(|request: http::Request<Incoming>| {
                asks.store(true, Ordering::Relaxed);
                let answer = admin::answer(&shared, &request);
                async move { Ok::<_, Infallible>(answer) }
            });
            let patience = limits.idle().min(PAGE_PATIENCE);
            let io = TokioIo::new(Box::pin(Taken::new(stream, patience, Waits::default())));
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(limits.head())
                // One request each: nobody keeps a place, whatever the answer was.
                .keep_alive(false)
                .serve_connection(io, service)
                .await;
        });
        silent.push_back((asked, task));
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("upstreams", &self.shared.upstreams).finish_non_exhaustive()
    }
}

/// What serves clients.
#[derive(Clone)]
struct Place {
    shared: Arc<Shared>,
    tls: Option<TlsAcceptor>,
    /// Whether answers that have begun are the last ones. When nobody can say so any more, everything ends.
    stopped: watch::Receiver<bool>,
}

/// The clients of the runtime that this is used in.
struct Clients {
    place: Place,
    providers: Arc<Providers>,
    tasks: JoinSet<()>,
}

impl Clients {
    fn new(place: Place) -> Self {
        let providers = Arc::new(Providers::new(&place.shared));
        Self { place, providers, tasks: JoinSet::new() }
    }

    /// Serves a client. The rest is kept until it has left.
    fn take(&mut self, stream: TcpStream, kept: impl Send + 'static) {
        let (Place { shared, tls, stopped }, providers) =
            (self.place.clone(), Arc::clone(&self.providers));
        self.tasks.spawn(async move {
            let _kept = kept;
            shared.metrics.connections.add(1);
            serve_client(&shared, &providers, stream, tls, stopped).await;
            shared.metrics.connections.add(-1);
        });
    }

    /// Waits until one has left. `None` if there is none.
    async fn left(&mut self) -> Option<Result<(), JoinError>> {
        self.tasks.join_next().await
    }

    /// Waits until all have left.
    async fn drain(&mut self) {
        while self.left().await.is_some() {}
    }

    /// Ends them all.
    async fn shutdown(mut self) {
        self.tasks.shutdown().await;
    }
}

/// A client on its way to a thread.
struct Given {
    stream: net::TcpStream,
    permit: OwnedSemaphorePermit,
    /// How many of these there are is how many clients the thread has.
    counted: Arc<()>,
}

struct Thread {
    give: mpsc::UnboundedSender<Given>,
    counted: Arc<()>,
}

/// Threads with a runtime each. What a client, its requests and their upstream connections wake stays on one thread:
/// a runtime with several threads wakes a second one for the tasks of a request, which costs a system call and the time
/// of another core.
struct Threads {
    threads: Vec<Thread>,
    tasks: JoinSet<io::Result<()>>,
}

impl Threads {
    fn start(number: NonZeroUsize, place: &Place) -> Self {
        let (mut threads, mut tasks) = (Vec::new(), JoinSet::new());
        for _ in 0..number.get() {
            // Its length is bounded by the number of connections.
            let (give, given) = mpsc::unbounded_channel();
            let place = place.clone();
            tasks.spawn_blocking(move || {
                let runtime = Builder::new_current_thread().enable_all().build()?;
                runtime.block_on(serve_given(place, given));
                Ok(())
            });
            threads.push(Thread { give, counted: Arc::new(()) });
        }
        Self { threads, tasks }
    }

    /// Gives a client to the thread that has the fewest.
    fn give(&self, stream: TcpStream, permit: OwnedSemaphorePermit) {
        let fewest = self.threads.iter().min_by_key(|thread| Arc::strong_count(&thread.counted));
        let (Some(thread), Ok(stream)) = (fewest, stream.into_std()) else { return };
        let counted = Arc::clone(&thread.counted);
        // It can only have ended by a failure, which ends the server.
        let _ = thread.give.send(Given { stream, permit, counted });
    }

    /// Waits until one cannot go on.
    async fn failed(&mut self) -> io::Error {
        match self.tasks.join_next().await {
            Some(Ok(Err(error))) => error,
            Some(Err(error)) => io::Error::other(error),
            Some(Ok(Ok(()))) | None => io::Error::other("a thread has ended"),
        }
    }

    /// Takes no more clients, and waits until all have left.
    async fn drain(&mut self) {
        self.threads.clear();
        while self.tasks.join_next().await.is_some() {}
    }
}

/// Serves clients until no more are given and all have left, or until everything ends.
async fn serve_given(place: Place, mut given: mpsc::UnboundedReceiver<Given>) {
    let mut stopped = place.stopped.clone();
    let mut clients = Clients::new(place);
    loop {
        let next = tokio::select! {
            Some(_) = clients.left() => continue,
            next = given.recv() => next,
        };
        let Some(Given { stream, permit, counted }) = next else { break };
        if let Ok(stream) = TcpStream::from_std(stream) {
            clients.take(stream, (permit, counted));
        }
    }
    tokio::select! {
        () = clients.drain() => {}
        () = async { while stopped.changed().await.is_ok() {} } => {}
    }
    clients.shutdown().await;
}

/// What is not for clients: the admin port, and what each thread waits with.
const OTHER_FILES: usize = 64;

/// The number of connections of clients for which the process may open files, where that is known. One takes two: its own,
/// and that to the provider. If clients took them all, no request could be sent on, and the admin port could take nobody.
fn connections_of_files(threads: usize) -> Option<usize> {
    files_of(&fs::read_to_string("/proc/self/limits").ok()?, threads)
}

/// The same, with the text in which Linux says it.
fn files_of(limits: &str, threads: usize) -> Option<usize> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let files: usize = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some((files.saturating_sub(OTHER_FILES + 4 * threads) / 2).max(1))
}

#[cfg(test)]
mod tests {
    use tokio::{net::TcpListener, sync::Semaphore};

    use super::*;
    use crate::{Config, Upstream};

    #[tokio::test]
    async fn a_thread_gets_as_many_clients_as_the_others() {
        let config = Config::new().with_upstream(Upstream::parse("http://127.0.0.1:1").unwrap());
        let (_stopping, stopped) = watch::channel(false);
        let shared = Arc::new(Shared::new(config).unwrap());
        let place = Place { shared, tls: None, stopped };
        let mut threads = Threads::start(NonZeroUsize::new(3).unwrap(), &place);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let room = Arc::new(Semaphore::new(9));
        let mut open = Vec::new();
        for _ in 0..9 {
            open.push(TcpStream::connect(listener.local_addr().unwrap()).await.unwrap());
            let permit = Arc::clone(&room).try_acquire_owned().unwrap();
            threads.give(listener.accept().await.unwrap().0, permit);
        }
        let counts = threads.threads.iter().map(|thread| Arc::strong_count(&thread.counted) - 1);
        assert_eq!(counts.collect::<Vec<_>>(), [3, 3, 3]);
        // Who leaves makes room.
        open.clear();
        let _all = room.acquire_many(9).await.unwrap();
        threads.drain().await;
    }

    #[test]
    fn each_client_takes_two() {
        let limits = |files: &str| {
            format!(
                "Limit Soft Limit Hard Limit Units\nMax processes 1 1 p\nMax open files            {files}                 4096                 files     \n"
            )
        };
        assert_eq!(files_of(&limits("1024"), 2), Some(476));
        assert_eq!(files_of(&limits("64"), 2), Some(1));
        assert_eq!(files_of(&limits("unlimited"), 2), None);
        assert_eq!(files_of("", 2), None);
    }
}
