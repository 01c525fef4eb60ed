//! A provider that breaks: replies in every format, with faults, cuts and delays, over HTTP.
//!
//! A [`Plan`] says what is sent when, and does nothing itself. A [`Server`] carries plans out for
//! clients on this machine. It takes a bounded number of requests, for a bounded time, and then stops.
//!
//! ```
//! use std::{io::{Read, Write}, net::TcpStream};
//! use wiremend_testkit::chaos::{Server, Settings};
//!
//! let server = Server::start(Settings::new().with_seed(7).with_requests(1))?;
//! let mut client = TcpStream::connect(server.address())?;
//! client.write_all(b"POST /v1/messages HTTP/1.1\r\ncontent-length: 0\r\n\r\n")?;
//! let mut response = Vec::new();
//! client.read_to_end(&mut response)?;
//! assert!(response.starts_with(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"));
//! // The first request has the seed 7, and the same case every time.
//! assert_eq!(server.wait()[0].seed(), 7);
//! # Ok::<(), std::io::Error>(())
//! ```

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

use wiremend_wire::Framing;

use crate::{
    Case, Seed,
    bodies::{Reply, Shape},
    transport::{Delivery, Scenario},
};

/// How long a plan waits. Nothing but this depends on time: the chunks are those of the delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    delay: Duration,
    total: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { delay: Duration::ZERO, total: Duration::from_secs(10) }
    }
}

impl Pace {
    /// No delays.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The longest delay before a chunk. A seed chooses each. Default: none.
    #[must_use]
    pub const fn with_delay(mut self, longest: Duration) -> Self {
        self.delay = longest;
        self
    }

    /// The longest time for all delays of a plan together. Default: 10 seconds.
    #[must_use]
    pub const fn with_total(mut self, longest: Duration) -> Self {
        self.total = longest;
        self
    }

    const fn total(self) -> Duration {
        self.total
    }
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    after: Duration,
    what: What,
}

impl Step {
    /// How long to wait first.
    #[must_use]
    pub const fn after(&self) -> Duration {
        self.after
    }

    /// What to do then.
    #[must_use]
    pub const fn what(&self) -> &What {
        &self.what
    }
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// The body ends as bodies end.
    End,
    /// The connection breaks.
    Reset,
    /// A chunk is sent. It is never empty.
    Send(Vec<u8>),
}

/// What is sent when. It does no IO, so it can drive a server of any kind.
///
/// ```
/// use wiremend_testkit::{Case, Seed, chaos::{Pace, Plan, What}};
///
/// let case = Case::random(&mut Seed::new(7));
/// let plan = Plan::new(&case.delivery(), Pace::new(), &mut Seed::new(7));
/// assert!(matches!(plan.steps().last().unwrap().what(), What::End | What::Reset));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    steps: Vec<Step>,
}

impl Plan {
    /// A plan for what is to arrive.
    #[must_use]
    pub fn new(delivery: &Delivery, pace: Pace, seed: &mut Seed) -> Self {
        let mut left = pace.total;
        let mut wait = || {
            let most = usize::try_from(pace.delay.as_micros()).unwrap_or(usize::MAX - 1);
            let micros = u64::try_from(seed.below(most + 1)).unwrap_or_default();
            let after = Duration::from_micros(micros).min(left);
            left -= after;
            after
        };
        let chunks = delivery.chunks().into_iter().filter(|chunk| !chunk.is_empty());
        let mut steps: Vec<Step> =
            chunks.map(|chunk| Step { after: wait(), what: What::Send(chunk.to_vec()) }).collect();
        let last = if delivery.is_reset() { What::Reset } else { What::End };
        steps.push(Step { after: wait(), what: last });
        Self { steps }
    }

    /// The steps, in order. The last one ends the body or breaks the connection, and no other does.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

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
        refuse(&mut stream, "not a request that this server can read\n")?;
        return Ok(None);
    };
    let (seed, case) = match asked(&request, settings, seed) {
        Ok(case) => case,
        Err(why) => {
            refuse(&mut stream, &why)?;
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
    write_head(stream, shape, &headers)?;
    for step in Plan::new(&case.delivery(), settings.pace, &mut Seed::new(seed)).steps() {
        thread::sleep(step.after());
        match step.what() {
            What::Send(chunk) => write_chunk(stream, chunk)?,
            What::End => write_end(stream)?,
            What::Reset => {}
        }
    }
    Ok(())
}

/// The longest head of a request, and the longest body, in bytes. What is longer is refused.
const HEAD: usize = 64 << 10;
const BODY: usize = 16 << 20;

/// What a client asks for.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    /// The path, without what follows a question mark.
    path: String,
    /// What follows it: pairs of names and values.
    query: Vec<(String, String)>,
}

impl Request {
    /// Reads a request and its body. `Ok(None)` if it is no request, or too long.
    fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let mut text = Vec::new();
        let mut buffer = [0; 4096];
        let head = loop {
            if let Some(at) = text.windows(4).position(|end| end == b"\r\n\r\n") {
                break at;
            }
            let count = from.read(&mut buffer)?;
            if count == 0 || text.len() > HEAD {
                return Ok(None);
            }
            text.extend_from_slice(buffer.get(..count).unwrap_or_default());
        };
        let lines = String::from_utf8_lossy(text.get(..head).unwrap_or_default()).into_owned();
        let mut lines = lines.split("\r\n");
        let Some(target) = lines.next().and_then(|line| line.split(' ').nth(1)) else {
            return Ok(None);
        };
        let mut left = 0;
        let mut expects = false;
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            if name.eq_ignore_ascii_case("content-length") {
                let Some(length) = value.trim().parse().ok().filter(|len| *len <= BODY) else {
                    return Ok(None);
                };
                left = length;
            }
            expects |= name.eq_ignore_ascii_case("transfer-encoding");
        }
        if expects {
            return Ok(None);
        }
        left = left.saturating_sub(text.len() - head - 4);
        // What the client wants said is read and forgotten.
        while left > 0 {
            let most = left.min(buffer.len());
            let count = from.read(buffer.get_mut(..most).unwrap_or_default())?;
            if count == 0 {
                return Ok(None);
            }
            left -= count;
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let query = pairs.map(|(name, value)| (decoded(name), decoded(value))).collect();
        Ok(Some(Self { path: path.to_owned(), query }))
    }

    fn asked(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The shape that a provider answers in at that path.
    fn shape(&self) -> Option<Shape> {
        const PATHS: [(&str, Shape); 14] = [
            ("/chat/completions", Shape::Chat),
            ("/completions", Shape::Completions),
            ("/responses", Shape::Responses),
            ("/runs", Shape::Assistants),
            ("/messages", Shape::Anthropic),
            ("/complete", Shape::AnthropicComplete),
            ("/interactions", Shape::Interactions),
            ("/v2/chat", Shape::CohereV2),
            ("/v1/chat", Shape::CohereV1),
            ("/api/chat", Shape::Ollama),
            ("/api/generate", Shape::OllamaGenerate),
            ("/generate_stream", Shape::Tgi),
            ("/converse-stream", Shape::Converse),
            ("/invoke-with-response-stream", Shape::AnthropicChunks),
        ];
        if self.path.ends_with(":streamGenerateContent") {
            let events = self.asked("alt") == Some("sse");
            return Some(if events { Shape::Gemini } else { Shape::GeminiArray });
        }
        PATHS.iter().find(|(end, _)| self.path.ends_with(end)).map(|(_, shape)| *shape)
    }
}

/// The text that was written with `%20` and `+`.
fn decoded(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        rest = after;
        match (byte, value) {
            (b'%', Some(value)) => {
                out.push(value);
                rest = after.get(2..).unwrap_or_default();
            }
            (b'+', _) => out.push(b' '),
            _ => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Starts a response with that body, in chunks.
fn write_head(to: &mut impl Write, shape: Shape, headers: &str) -> io::Result<()> {
    let kind = match shape.framing() {
        Framing::Sse => "text/event-stream",
        Framing::Ndjson => "application/x-ndjson",
        Framing::EventStream => "application/vnd.amazon.eventstream",
        _ => "application/json",
    };
    write!(
        to,
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\
         connection: close\r\ncache-control: no-store\r\n{headers}\r\n"
    )?;
    to.flush()
}

/// A chunk of the body.
fn write_chunk(to: &mut impl Write, chunk: &[u8]) -> io::Result<()> {
    let head = format!("{:x}\r\n", chunk.len());
    to.write_all(&[head.as_bytes(), chunk, b"\r\n"].concat())?;
    to.flush()
}

/// The end of the body. Without it, a client knows that the connection broke.
fn write_end(to: &mut impl Write) -> io::Result<()> {
    to.write_all(b"0\r\n\r\n")?;
    to.flush()
}

/// A response to what is no request that this server answers.
fn refuse(to: &mut impl Write, why: &str) -> io::Result<()> {
    let length = why.len();
    write!(
        to,
        "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{why}"
    )?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Case;

    #[test]
    fn a_plan_sends_what_is_delivered_in_bounded_time() {
        for number in 0..100 {
            let case = Case::random(&mut Seed::new(number));
            let total = Duration::from_millis(20);
            let pace = Pace::new().with_delay(Duration::from_millis(8)).with_total(total);
            let plan = Plan::new(&case.delivery(), pace, &mut Seed::new(number));
            let mut sent = Vec::new();
            let mut ends = Vec::new();
            for step in plan.steps() {
                match step.what() {
                    What::Send(chunk) => sent.extend_from_slice(chunk),
                    what => ends.push(what.clone()),
                }
            }
            assert_eq!(sent, case.delivery().bytes());
            assert_eq!(ends, [if case.delivery().is_reset() { What::Reset } else { What::End }]);
            assert!(plan.steps().iter().map(Step::after).sum::<Duration>() <= total);
        }
    }

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

    fn read(text: &[u8]) -> Option<Request> {
        Request::read(&mut &*text).unwrap()
    }

    #[test]
    fn requests_are_read() {
        let request = read(b"POST /v1/x?seed=7&scenario=lose%3d1+cut=3%2C4 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
        let request = request.unwrap();
        assert_eq!(request.path, "/v1/x");
        assert_eq!(request.asked("seed"), Some("7"));
        assert_eq!(request.asked("scenario"), Some("lose=1 cut=3,4"));
        assert_eq!(request.asked("shape"), None);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for text in [
            &b""[..],
            b"GET",
            b"GET / HTTP/1.1\r\n",
            b"\r\n\r\n",
            b"POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
            b"POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n",
            b"POST / HTTP/1.1\r\ncontent-length: 4\r\n\r\nabc",
            b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        ] {
            assert_eq!(read(text), None, "{}", text.escape_ascii());
        }
        assert_eq!(read(&b"x".repeat(HEAD * 3)), None);
    }

    #[test]
    fn paths_have_their_shapes() {
        let shape = |target: &str| {
            read(format!("POST {target} HTTP/1.1\r\n\r\n").as_bytes()).unwrap().shape()
        };
        assert_eq!(shape("/v1/chat/completions"), Some(Shape::Chat));
        assert_eq!(shape("/v1/completions"), Some(Shape::Completions));
        assert_eq!(shape("/v1beta/models/m:streamGenerateContent?alt=sse"), Some(Shape::Gemini));
        assert_eq!(shape("/v1beta/models/m:streamGenerateContent"), Some(Shape::GeminiArray));
        assert_eq!(shape("/model/m/converse-stream"), Some(Shape::Converse));
        assert_eq!(shape("/"), None);
    }
}
