//! A client, a gateway and a provider that plays a script, on loopback.

use std::{
    net::SocketAddr,
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpSocket, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{Notify, mpsc, oneshot},
    task::JoinHandle,
    time::timeout,
};
use wiremend_proxy::{Config, Server, Upstream};

/// How long anything may take before a test is stuck.
const STUCK: Duration = Duration::from_secs(60);

/// What the provider does, one step after the other.
#[derive(Clone)]
pub(crate) enum Step {
    Send(Vec<u8>),
    /// Sends again and again, until nothing is taken any more or so many bytes are sent.
    Flood(usize),
    /// Says that it has come so far.
    Say(Arc<Notify>),
    /// Waits until the test says so.
    Wait(Arc<Notify>),
    /// Waits until the connection is closed from the other side, and says so.
    Gone(Arc<Notify>),
    /// Closes the connection, whatever was announced.
    Close,
}

/// A request as the provider got it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// In lower case, but for values.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    /// Every value of a header.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        all(&self.head, name)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.all(name).first().copied()
    }
}

fn all<'h>(head: &'h str, name: &str) -> Vec<&'h str> {
    let rows = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    rows.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).collect()
}

pub(crate) struct Scene {
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) provider: SocketAddr,
    seen: mpsc::UnboundedReceiver<Seen>,
    /// How many bytes the provider could send.
    pub(crate) sent: Arc<AtomicUsize>,
    stop: Option<oneshot::Sender<()>>,
    gateway: JoinHandle<()>,
    _provider: JoinHandle<()>,
}

impl Scene {
    /// A gateway with default settings, and a provider that answers each request with these steps.
    pub(crate) async fn new(steps: Vec<Step>) -> Self {
        Self::with(steps, |config, url| config.with_upstream(Upstream::parse(url).unwrap())).await
    }

    pub(crate) async fn with(
        steps: Vec<Step>,
        configure: impl FnOnce(Config, &str) -> Config,
    ) -> Self {
        Self::of_answers(vec![steps], configure).await
    }

    /// The provider gives each request the next one of the answers, and the last one from then on.
    pub(crate) async fn of_answers(
        answers: Vec<Vec<Step>>,
        configure: impl FnOnce(Config, &str) -> Config,
    ) -> Self {
        // As the command does.
        Self::on_threads(NonZeroUsize::new(2), answers, configure).await
    }

    /// The gateway answers on so many threads, or in the runtime of the test.
    pub(crate) async fn on_threads(
        threads: Option<NonZeroUsize>,
        answers: Vec<Vec<Step>>,
        configure: impl FnOnce(Config, &str) -> Config,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let provider = listener.local_addr().unwrap();
        let (note, seen) = mpsc::unbounded_channel();
        let sent = Arc::new(AtomicUsize::new(0));
        let sending = Arc::clone(&sent);
        let script = Arc::new(Script { answers, played: AtomicUsize::new(0) });
        let playing = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(play(stream, Arc::clone(&script), note.clone(), Arc::clone(&sending)));
            }
        });
        let config = configure(Config::new(), &format!("http://{provider}"));
        let clients = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let admins = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, admin) = (clients.local_addr().unwrap(), admins.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel::<()>();
        let mut server = Server::new(config).unwrap();
        if let Some(threads) = threads {
            server = server.with_threads(threads);
        }
        let gateway = tokio::spawn(async move {
            let stopped = async { drop(stopped.await) };
            server.serve(clients, Some(admins), stopped).await.unwrap();
        });
        let stop = Some(stop);
        Self { address, admin, provider, seen, sent, stop, gateway, _provider: playing }
    }

    /// The next request that the provider got.
    pub(crate) async fn seen(&mut self) -> Seen {
        within(self.seen.recv()).await.unwrap()
    }

    /// Whether the provider got no further request.
    pub(crate) fn saw_no_more(&mut self) -> bool {
        self.seen.try_recv().is_err()
    }

    pub(crate) async fn connect(&self) -> Client {
        Client::connect(self.address).await
    }

    /// Sends a request with a body of JSON, and reads the answer.
    pub(crate) async fn post(&self, path: &str, body: &str) -> Reply {
        self.post_with(path, &[], body).await
    }

    pub(crate) async fn post_with(&self, path: &str, headers: &[&str], body: &str) -> Reply {
        let mut client = self.connect().await;
        let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        let length = body.len();
        client
            .send(&format!(
                "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
            ))
            .await;
        client.reply().await
    }

    /// Reads a page of the admin port.
    pub(crate) async fn page(&self, path: &str) -> Reply {
        let mut client = Client::connect(self.admin).await;
        client
            .send(&format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"))
            .await;
        client.reply().await
    }

    pub(crate) fn ask_to_stop(&mut self) {
        drop(self.stop.take());
    }

    /// Drops the future that serves.
    pub(crate) fn end(&self) {
        self.gateway.abort();
    }

    pub(crate) async fn stopped(self) {
        within(self.gateway).await.unwrap();
    }
}

/// An answer, up to the end of its connection.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// The body has the length, or the last chunk, that was announced.
    pub(crate) whole: bool,
    pub(crate) trailers: String,
}

impl Reply {
    pub(crate) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        all(&self.head, name).first().copied()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

pub(crate) struct Client {
    read: OwnedReadHalf,
    write: OwnedWriteHalf,
    got: Vec<u8>,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let (read, write) = TcpStream::connect(address).await.unwrap().into_split();
        Self { read, write, got: Vec::new() }
    }

    /// The same, with little room for what is not read. The system would else make more and more of it.
    pub(crate) async fn narrow(address: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(16 << 10).unwrap();
        let (read, write) = socket.connect(address).await.unwrap().into_split();
        Self { read, write, got: Vec::new() }
    }

    /// Sends as much as is taken.
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = within(self.write.write_all(bytes.as_ref())).await;
    }

    /// Closes its side, and reads what still comes.
    pub(crate) async fn leave(mut self) {
        // It may have been closed already.
        let _ = self.write.shutdown().await;
        self.reply().await;
    }

    /// Reads until the text has come.
    pub(crate) async fn until(&mut self, text: &str) {
        let mut read = 0;
        while !String::from_utf8_lossy(&self.got[read..]).contains(text) {
            // What was searched is not searched again: a long answer would keep this thread, and all other clients, busy.
            read = self.got.len().saturating_sub(text.len());
            let more = within(self.read.read_buf(&mut self.got)).await.unwrap();
            assert!(more > 0, "{text:?} is not in {}", String::from_utf8_lossy(&self.got));
        }
    }

    /// What has come so far.
    pub(crate) fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.got).into_owned()
    }

    /// Reads everything, until the connection is closed.
    pub(crate) async fn reply(&mut self) -> Reply {
        // A reset ends it, too.
        while within(self.read.read_buf(&mut self.got)).await.is_ok_and(|more| more > 0) {}
        parse(&self.got)
    }
}

pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(STUCK, future).await.expect("nothing came for a minute")
}

fn parse(got: &[u8]) -> Reply {
    let Some(end) = got.windows(4).position(|window| window == b"\r\n\r\n") else {
        let head = String::from_utf8_lossy(got).into_owned();
        return Reply { head, body: Vec::new(), whole: false, trailers: String::new() };
    };
    let head = String::from_utf8_lossy(&got[..end]).into_owned();
    let rest = &got[end + 4..];
    let chunked = all(&head, "transfer-encoding").contains(&"chunked");
    let (body, whole, trailers) = if chunked {
        dechunk(rest).unwrap_or_else(|body| (body, false, String::new()))
    } else {
        let length = all(&head, "content-length").first().and_then(|length| length.parse().ok());
        (rest.to_vec(), length.is_none_or(|length: usize| length == rest.len()), String::new())
    };
    Reply { head, body, whole, trailers }
}

/// The content of chunks, and the trailers; an error is what came of a body that was cut off.
fn dechunk(mut rest: &[u8]) -> Result<(Vec<u8>, bool, String), Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let Some(end) = rest.windows(2).position(|window| window == b"\r\n") else {
            return Err(body);
        };
        let size = std::str::from_utf8(&rest[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        rest = &rest[end + 2..];
        if size == 0 {
            return Ok((body, rest.ends_with(b"\r\n"), String::from_utf8_lossy(rest).into_owned()));
        }
        if rest.len() < size + 2 {
            body.extend_from_slice(&rest[..size.min(rest.len())]);
            return Err(body);
        }
        body.extend_from_slice(&rest[..size]);
        rest = &rest[size + 2..];
    }
}

/// What a provider answers, one request after the other.
struct Script {
    answers: Vec<Vec<Step>>,
    played: AtomicUsize,
}

/// Reads requests of a connection, and plays the steps after each.
async fn play(
    mut stream: TcpStream,
    script: Arc<Script>,
    note: mpsc::UnboundedSender<Seen>,
    sent: Arc<AtomicUsize>,
) {
    let _ = stream.set_nodelay(true);
    let mut got = Vec::new();
    while let Some(seen) = read(&mut stream, &mut got).await {
        let _ = note.send(seen);
        let played = script.played.fetch_add(1, Ordering::SeqCst);
        for step in &script.answers[played.min(script.answers.len() - 1)] {
            match step {
                Step::Send(bytes) => {
                    if stream.write_all(bytes).await.is_err() {
                        return;
                    }
                }
                Step::Flood(most) => {
                    let line = [b"data: ".as_slice(), &[b'x'; 1014], b"\n\n"].concat();
                    while sent.load(Ordering::SeqCst) < *most {
                        if stream.write_all(&line).await.is_err() {
                            return;
                        }
                        sent.fetch_add(line.len(), Ordering::SeqCst);
                    }
                }
                Step::Say(came) => came.notify_one(),
                Step::Wait(go) => go.notified().await,
                Step::Gone(gone) => {
                    let mut rest = [0; 64];
                    while stream.read(&mut rest).await.is_ok_and(|read| read > 0) {}
                    gone.notify_one();
                    return;
                }
                Step::Close => return,
            }
        }
    }
}

async fn read(stream: &mut TcpStream, got: &mut Vec<u8>) -> Option<Seen> {
    let end = loop {
        if let Some(end) = got.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(got).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&got.drain(..end + 4).collect::<Vec<u8>>()).into_owned();
    let chunked = all(&head, "transfer-encoding").contains(&"chunked");
    let length =
        all(&head, "content-length").first().and_then(|length| length.parse().ok()).unwrap_or(0);
    loop {
        if chunked {
            if let Ok((body, true, _)) = dechunk(got) {
                got.clear();
                return Some(Seen { head, body });
            }
        } else if got.len() >= length {
            let body = got.drain(..length).collect();
            return Some(Seen { head, body });
        }
        if stream.read_buf(got).await.ok()? == 0 {
            return None;
        }
    }
}

/// A whole answer with a length.
pub(crate) fn answer(kind: &str, body: impl AsRef<[u8]>) -> Vec<Step> {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    vec![Step::Send([head.as_bytes(), body].concat())]
}

/// The head of an answer in chunks.
pub(crate) fn chunked(kind: &str) -> Step {
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n");
    Step::Send(head.into_bytes())
}

pub(crate) fn chunk(bytes: impl AsRef<[u8]>) -> Step {
    let bytes = bytes.as_ref();
    Step::Send([format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat())
}

pub(crate) fn last() -> Step {
    Step::Send(b"0\r\n\r\n".to_vec())
}

/// A stream of events of OpenAI Chat with one call.
pub(crate) fn call_events(pieces: &[&str], finish: &str) -> Vec<String> {
    let delta = |delta: serde_json::Value, finish: serde_json::Value| {
        let event =
            serde_json::json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        format!("data: {event}\n\n")
    };
    let call = |fields: serde_json::Value| serde_json::json!({"tool_calls": [fields]});
    let name =
        serde_json::json!({"index": 0, "id": "c1", "function": {"name": "f", "arguments": ""}});
    let mut events = vec![delta(call(name), serde_json::Value::Null)];
    for piece in pieces {
        let piece = serde_json::json!({"index": 0, "function": {"arguments": piece}});
        events.push(delta(call(piece), serde_json::Value::Null));
    }
    events.push(delta(serde_json::json!({}), finish.into()));
    events.push("data: [DONE]\n\n".to_owned());
    events
}
