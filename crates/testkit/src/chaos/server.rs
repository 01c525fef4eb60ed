//! The server.

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use super::{
    Pace, Plan, What,
    http::{self, Request},
};
use crate::{
    Case, Seed,
    bodies::{Reply, Shape},
    transport::Scenario,
};

/// How many clients are served at the same time.
const CLIENTS: usize = 16;

/// How long a client may take to send a request, and how long it may keep the server from sending.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest time for one response, whatever the pace says.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// How often the server looks for a client, and for a reason to stop.
const TICK: Duration = Duration::from_millis(5);

/// The longest value of a header that describes a scenario.
const HEADER: usize = 4096;

/// What a server sends, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    port: u16,
    seed: u64,
    shape: Option<Shape>,
    scenario: Option<Scenario>,
    pace: Pace,
    requests: usize,
    lifetime: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            port: 0,
            seed: 0,
            shape: None,
            scenario: None,
            pace: Pace::new(),
            requests: 1000,
            lifetime: Duration::from_secs(600),
        }
    }
}

impl Settings {
    /// The default settings.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The port. Default: 0, for one that is free.
    #[must_use]
    pub const fn with_port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// The seed of the first request. That of each further request is one more. Default: 0.
    #[must_use]
    pub const fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The shape of every reply. Default: the one that belongs to the path of the request, or one that
    /// the seed chooses.
    #[must_use]
    pub const fn with_shape(mut self, shape: Shape) -> Self {
        self.shape = Some(shape);
        self
    }

    /// What happens to every reply. Default: the seed chooses.
    #[must_use]
    pub fn with_scenario(mut self, scenario: Scenario) -> Self {
        self.scenario = Some(scenario);
        self
    }

    /// The delays. Default: none.
    #[must_use]
    pub const fn with_pace(mut self, pace: Pace) -> Self {
        self.pace = pace;
        self
    }

    /// After how many requests the server stops. Default: 1,000.
    #[must_use]
    pub const fn with_requests(mut self, requests: usize) -> Self {
        self.requests = requests;
        self
    }

    /// After how long it stops. Default: 600 seconds.
    #[must_use]
    pub const fn with_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// The case with that seed. `shape` is used where the settings name none.
    #[must_use]
    pub fn case(&self, seed: u64, shape: Option<Shape>) -> Case {
        let mut choices = Seed::new(seed);
        let reply = match self.shape.or(shape) {
            Some(shape) => Reply::random_in(shape, &mut choices),
            None => Reply::random(&mut choices),
        };
        let scenario = match &self.scenario {
            Some(scenario) => scenario.clone(),
            None => Scenario::random(&reply.body(), &mut choices),
        };
        Case::new(reply, scenario)
    }
}

/// A request that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    seed: u64,
    path: String,
    case: Case,
    sent: bool,
}

impl Served {
    /// The seed. The same seed, shape and scenario give the same response.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The path that the client asked for.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The reply and what happened to it.
    #[must_use]
    pub const fn case(&self) -> &Case {
        &self.case
    }

    /// Whether all of it could be sent. A client may have gone before.
    #[must_use]
    pub const fn is_sent(&self) -> bool {
        self.sent
    }
}

/// A server on the loopback interface, in a thread of its own.
///
/// A request may name its case: `?seed=7`, `?shape=gemini`, `?scenario=lose=3+reset=120`. A response
/// names it in the headers `x-chaos-seed`, `x-chaos-shape` and, unless it is long, `x-chaos-scenario`.
/// A reset leaves out the end of the chunked body, which every client reports as an error.
///
/// When it is dropped, it takes no more requests and waits for those that it is answering.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<Served>>>,
}

impl Server {
    /// Starts a server.
    ///
    /// # Errors
    /// If the port is taken.
    pub fn start(settings: Settings) -> io::Result<Self> {
        Self::start_with(settings, |_| {})
    }

    /// The same, with a function that is called after each response, from the thread of the server.
    ///
    /// # Errors
    /// If the port is taken.
    pub fn start_with(
        settings: Settings,
        served: impl FnMut(&Served) + Send + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || serve(&listener, &settings, &stopped, served));
        Ok(Self { address, stop, thread: Some(thread) })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until it stops by itself. Returns what it answered, in the order in which it was done.
    #[must_use]
    pub fn wait(mut self) -> Vec<Served> {
        self.join()
    }

    /// Takes no more requests, and waits for those that are being answered.
    #[must_use]
    pub fn stop(mut self) -> Vec<Served> {
        self.stop.store(true, Ordering::Relaxed);
        self.join()
    }

    fn join(&mut self) -> Vec<Served> {
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.join();
    }
}

fn serve(
    listener: &TcpListener,
    settings: &Settings,
    stop: &AtomicBool,
    mut served: impl FnMut(&Served),
) -> Vec<Served> {
    let start = Instant::now();
    let mut clients: Vec<JoinHandle<Option<Served>>> = Vec::new();
    let mut done = Vec::new();
    let mut count = 0;
    loop {
        let over = stop.load(Ordering::Relaxed)
            || count >= settings.requests
            || start.elapsed() >= settings.lifetime;
        for client in clients.extract_if(.., |client| client.is_finished()) {
            let answer = client.join().ok().flatten();
            answer.iter().for_each(&mut served);
            done.extend(answer);
        }
        if over && clients.is_empty() {
            return done;
        }
        if over || clients.len() >= CLIENTS {
            thread::sleep(TICK);
            continue;
        }
        match listener.accept() {
            Ok((stream, _)) => {
                let seed = settings.seed.wrapping_add(count as u64);
                let settings = settings.clone();
                clients.push(thread::spawn(move || answer(stream, &settings, seed).ok().flatten()));
                count += 1;
            }
            Err(_) => thread::sleep(TICK),
        }
    }
}

/// A connection that is over at some time, however slow its client is.
struct Timed {
    stream: TcpStream,
    until: Instant,
}

impl Timed {
    fn new(stream: TcpStream, longest: Duration) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, until: Instant::now() + longest })
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Reads a request and sends its response; `None` if there was none to send.
fn answer(stream: TcpStream, settings: &Settings, seed: u64) -> io::Result<Option<Served>> {
    let mut stream = Timed::new(stream, PATIENCE)?;
    let Some(request) = Request::read(&mut stream)? else {
        http::refuse(&mut stream, "not a request that this server can read\n")?;
        return Ok(None);
    };
    let (seed, case) = match asked(&request, settings, seed) {
        Ok(case) => case,
        Err(why) => {
            http::refuse(&mut stream, &why)?;
            return Ok(None);
        }
    };
    stream.until = Instant::now() + settings.pace.total().min(LONGEST) + PATIENCE;
    let sent = send(&mut stream, settings, seed, &case).is_ok();
    Ok(Some(Served { seed, path: request.path, case, sent }))
}

/// The case that the request names, or else that of its turn.
fn asked(request: &Request, settings: &Settings, seed: u64) -> Result<(u64, Case), String> {
    let mut settings = settings.clone();
    let seed = match request.asked("seed") {
        Some(text) => text.parse().map_err(|_| format!("no seed: {}\n", text.escape_debug()))?,
        None => seed,
    };
    if let Some(code) = request.asked("shape") {
        settings.shape = Some(code.parse().map_err(|error| format!("shape: {error}\n"))?);
    }
    if let Some(text) = request.asked("scenario") {
        settings.scenario = Some(text.parse().map_err(|error| format!("scenario: {error}\n"))?);
    }
    Ok((seed, settings.case(seed, request.shape())))
}

fn send(stream: &mut Timed, settings: &Settings, seed: u64, case: &Case) -> io::Result<()> {
    let shape = case.reply().shape();
    let mut headers = format!("x-chaos-seed: {seed}\r\nx-chaos-shape: {shape}\r\n");
    let scenario = case.scenario().to_string();
    if scenario.len() <= HEADER {
        headers.push_str(&format!("x-chaos-scenario: {scenario}\r\n"));
    }
    http::write_head(stream, shape, &headers)?;
    for step in Plan::new(&case.delivery(), settings.pace, &mut Seed::new(seed)).steps() {
        thread::sleep(step.after());
        match step.what() {
            What::Send(chunk) => http::write_chunk(stream, chunk)?,
            What::End => http::write_end(stream)?,
            What::Reset => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The head of the response, its body, and whether it ended as it should.
    fn get(address: SocketAddr, target: &str) -> (String, Vec<u8>, bool) {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {target} HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        let mut response = Vec::new();
        stream.read_to_end(&mut response).unwrap();
        let at = response.windows(4).position(|end| end == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(response[..at].to_vec()).unwrap();
        let (mut rest, mut body) = (&response[at + 4..], Vec::new());
        while let Some(at) = rest.windows(2).position(|end| end == b"\r\n") {
            let size =
                usize::from_str_radix(std::str::from_utf8(&rest[..at]).unwrap(), 16).unwrap();
            if size == 0 {
                return (head, body, true);
            }
            body.extend_from_slice(&rest[at + 2..at + 2 + size]);
            rest = &rest[at + 4 + size..];
        }
        (head, body, false)
    }

    #[test]
    fn what_is_sent_is_what_the_seed_says() {
        let settings = Settings::new().with_seed(40).with_requests(30);
        let server = Server::start(settings.clone()).unwrap();
        let mut ends = [0, 0];
        for seed in 40..70 {
            let (head, body, ended) = get(server.address(), "/v1/messages");
            let case = settings.case(seed, Some(Shape::Anthropic));
            assert_eq!(body, case.delivery().bytes());
            assert_eq!(ended, !case.delivery().is_reset());
            assert!(head.contains(&format!("x-chaos-seed: {seed}\r\n")), "{head}");
            ends[usize::from(ended)] += 1;
        }
        assert!(ends[0] > 0 && ends[1] > 0, "{ends:?}");
        let served = server.wait();
        assert_eq!(served.len(), 30);
        assert!(served.iter().all(|one| one.is_sent() && one.path() == "/v1/messages"));
    }

    #[test]
    fn a_request_may_name_its_case() {
        let server = Server::start(Settings::new()).unwrap();
        let target = "/?seed=3&shape=ollama&scenario=lose%3D0+reset%3D70";
        let (head, body, ended) = get(server.address(), target);
        assert!(head.contains("content-type: application/x-ndjson"), "{head}");
        assert!(head.contains("x-chaos-scenario: lose=0 reset=70"), "{head}");
        assert_eq!((body.len(), ended), (70, false));
        for wrong in ["/?seed=x", "/?shape=x", "/?scenario=x"] {
            let mut stream = TcpStream::connect(server.address()).unwrap();
            write!(stream, "GET {wrong} HTTP/1.1\r\n\r\n").unwrap();
            let mut response = String::new();
            stream.read_to_string(&mut response).unwrap();
            assert!(response.starts_with("HTTP/1.1 400 "), "{response}");
        }
        assert_eq!(server.stop().len(), 1);
    }

    #[test]
    fn at_most_so_many_clients_are_served_at_once() {
        let server = Server::start(Settings::new()).unwrap();
        // They ask for nothing, so each of them is waited for.
        let connect = || TcpStream::connect(server.address()).unwrap();
        let mut silent: Vec<TcpStream> = (0..CLIENTS).map(|_| connect()).collect();
        let mut next = connect();
        write!(next, "GET /?scenario=cut=1 HTTP/1.1\r\n\r\n").unwrap();
        next.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        assert!(next.read(&mut [0; 16]).is_err(), "it was answered");
        silent.pop();
        next.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        assert!(next.read(&mut [0; 16]).unwrap() > 0);
        drop(silent);
        drop(next);
        assert_eq!(server.stop().len(), 1);
    }

    #[test]
    fn it_stops_by_itself() {
        let settings = Settings::new().with_lifetime(Duration::from_millis(30));
        assert!(Server::start(settings).unwrap().wait().is_empty());
        drop(Server::start(Settings::new()).unwrap());
        assert!(Server::start(Settings::new().with_requests(0)).unwrap().wait().is_empty());
    }
}
