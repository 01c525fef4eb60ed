//! `wiremend serve`, with clients and providers that are killed while an answer passes.

use std::{
    io::{BufRead as _, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::program::{command, file, run};

const BROKEN: &str = r#"{"choices":[{"index":0,"message":{"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{'a': 1}"}}]},"finish_reason":"tool_calls"}]}"#;

/// A provider that answers so many requests with a broken call.
fn provider(requests: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for _ in 0..requests {
            let (mut stream, _) = listener.accept().unwrap();
            answer(&mut stream);
        }
    });
    url
}

/// Reads a request with the body `{}`, and answers it. Nothing if the other side goes away.
fn answer(stream: &mut (impl Read + Write)) {
    let mut request = Vec::new();
    while !request.ends_with(b"{}") {
        let mut piece = [0; 1024];
        match stream.read(&mut piece) {
            Ok(read) if read > 0 => request.extend_from_slice(&piece[..read]),
            _ => return,
        }
    }
    let length = BROKEN.len();
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{BROKEN}").unwrap();
    stream.flush().unwrap();
}

/// The same with encryption. Returns its URL, and the certificate of the authority that vouches for it.
fn encrypted_provider(requests: usize) -> (String, String) {
    let (authority, key) =
        (rcgen::KeyPair::generate().unwrap(), rcgen::KeyPair::generate().unwrap());
    let mut of_authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    of_authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let pem = of_authority.self_signed(&authority).unwrap().pem();
    let issuer = rcgen::Issuer::new(of_authority, authority);
    let certificate = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = certificate.signed_by(&key, &issuer).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key.into())
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    thread::spawn(move || {
        for _ in 0..requests {
            let (stream, _) = listener.accept().unwrap();
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            answer(&mut rustls::StreamOwned::new(connection, stream));
        }
    });
    (url, pem)
}

fn exchange(url: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

fn listening(child: &mut Child) -> Value {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

#[test]
fn it_mends_until_it_is_asked_to_stop() {
    let upstream = format!("/p={}", provider(1));
    let args = [
        "serve",
        "--json",
        "--listen",
        "127.0.0.1:0",
        "--admin",
        "127.0.0.1:0",
        "--upstream",
        &upstream,
    ];
    let mut child = command(&args).spawn().unwrap();
    let said = listening(&mut child);
    let (url, admin) = (said["url"].as_str().unwrap(), said["admin"].as_str().unwrap());
    let reply = exchange(
        url,
        "POST /p/v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer hush\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}",
    );
    assert!(
        reply.contains("\r\nx-wiremend: repaired; calls=1; repairs=2; risk=exact\r\n"),
        "{reply}"
    );
    assert!(reply.ends_with(&BROKEN.replace("{'a': 1}", r#"{\"a\": 1}"#)), "{reply}");
    let health =
        exchange(admin, "GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    assert!(health.starts_with("HTTP/1.1 200 OK"), "{health}");
    #[cfg(unix)]
    {
        let asked = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert!(asked.success());
    }
    #[cfg(not(unix))]
    child.kill().unwrap();
    let done = child.wait_with_output().unwrap();
    if cfg!(unix) {
        assert_eq!(done.status.code(), Some(0));
    }
    assert_eq!(done.stdout, b"");
    // It says when it started and stopped. Nothing has failed.
    let said = String::from_utf8(done.stderr).unwrap();
    let events = said.lines().map(|line| line.split(' ').find(|word| word.starts_with("event=")));
    let events: Vec<&str> = events.map(|event| event.unwrap_or("none")).collect();
    let want: &[&str] = &["event=started", "event=stopping", "event=stopped"];
    let want = if cfg!(unix) { want } else { &want[..1] };
    assert_eq!(events, want, "{said}");
}

/// Each exchange that failed is said, with its reason; with `log.access`, every one. Nothing of it is.
#[test]
fn exchanges_are_said_in_lines_without_their_content() {
    let args = ["serve", "--json", "--listen", "127.0.0.1:0", "--admin", "off"];
    let upstreams = [format!("/p={}", provider(1)), "/none=http://127.0.0.1:9".to_owned()];
    let args = [&args[..], &["--upstream", &upstreams[0], "--upstream", &upstreams[1]]].concat();
    let mut child = command(&args).env("WIREMEND_LOG_ACCESS", "true").spawn().unwrap();
    let said = listening(&mut child);
    for path in ["/p/hush", "/none/hush", "/hush"] {
        let head =
            format!("POST {path}?hush HTTP/1.1\r\nhost: localhost\r\nauthorization: hush\r\n");
        let request = format!("{head}connection: close\r\ncontent-length: 2\r\n\r\n{{}}");
        exchange(said["url"].as_str().unwrap(), &request);
    }
    #[cfg(unix)]
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    #[cfg(not(unix))]
    child.kill().unwrap();
    let said = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    assert!(!said.contains("hush"), "{said}");
    for want in [
        " event=answered id=1 upstream=/p status=200 format=openai-chat account=\"repaired; calls=1; repairs=2; risk=exact\" ms=",
        " event=failed upstream=/none status=502 reason=upstream-unreachable\n",
        " event=failed status=404 reason=no-upstream\n",
    ] {
        assert!(said.contains(want), "{want} is not in\n{said}");
    }
}

/// A second request to stop does not wait for what has begun.
#[cfg(unix)]
#[test]
fn asked_twice_it_stops_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = format!("http://{}", listener.local_addr().unwrap());
    let args = ["serve", "--json", "--listen", "127.0.0.1:0", "--admin", "off"];
    let args = [&args[..], &["--upstream", &upstream]].concat();
    let mut child = command(&args).env("WIREMEND_LIMITS_DRAIN_SECONDS", "600").spawn().unwrap();
    let said = listening(&mut child);
    let url = said["url"].as_str().unwrap().strip_prefix("http://").unwrap();
    let mut client = TcpStream::connect(url).unwrap();
    client.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    // The provider has the request, and does not answer.
    let (mut provider, _) = listener.accept().unwrap();
    provider.read_exact(&mut [0; 1]).unwrap();
    let id = child.id().to_string();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(said.next().unwrap().unwrap().contains("event=started"));
    Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(said.next().unwrap().unwrap().contains("event=stopping"));
    assert_eq!(child.try_wait().unwrap(), None);
    Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn settings_are_checked_and_shown_without_serving() {
    let text = "[mending]\nmode = \"validated\"\n[[mending.tool]]\nname = \"rm\"\npolicy = \"off\"\n[[upstream]]\nurl = \"http://a\"\n[[upstream.tool]]\nname = \"x\"\npolicy = \"exact\"\n";
    let config = file("serve-check.toml", text);
    let args = ["serve", "--check", "--config", config.to_str().unwrap()];
    let done = run(&args, "");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    for line in ["mending.mode = \"validated\"", "limits.connections = 8192", "[[upstream.tool]]"] {
        assert!(done.stdout.lines().any(|shown| shown == line), "{}", done.stdout);
    }
    // What is shown is a file of settings, with the same meaning.
    let shown = file("serve-shown.toml", &done.stdout);
    let again = run(&["serve", "--check", "--config", shown.to_str().unwrap()], "");
    assert_eq!((again.code, again.stdout), (0, done.stdout));
    let json = run(&[&args[..], &["--json"]].concat(), "");
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["mending"]["mode"], "validated");
    let wrong = run(&["serve", "--check", "--upstream", "ftp://a"], "");
    assert_eq!((wrong.code, wrong.stdout.as_str()), (2, ""));
    assert!(!wrong.stderr.is_empty());
}

#[test]
fn a_gateway_is_asked_whether_it_is_healthy() {
    let args = ["serve", "--json", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"];
    let args = [&args[..], &["--upstream", "http://a"]].concat();
    let mut child = command(&args).spawn().unwrap();
    let said = listening(&mut child);
    let admin = said["admin"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
    let probe = ["serve", "--probe", "--admin", &admin];
    let healthy = run(&probe, "");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((healthy.code, healthy.stderr.as_str()), (0, ""));
    let gone = run(&probe, "");
    assert_eq!(gone.code, 6);
    assert!(gone.stderr.contains(&format!("no healthy gateway at {admin}")), "{}", gone.stderr);
    assert_eq!(run(&["serve", "--probe", "--admin", "off"], "").code, 2);
}

#[test]
fn settings_come_from_a_file_the_environment_and_the_command_line() {
    let url = provider(1);
    let config = file(
        "serve.toml",
        format!(
            "listen = \"127.0.0.1:1\"\nadmin = \"off\"\n[mending]\npolicy = \"off\"\n[[upstream]]\nurl = \"{url}\"\n"
        ),
    );
    let args = ["serve", "--json", "--config", config.to_str().unwrap(), "--listen", "127.0.0.1:0"];
    let mut child = command(&args).env("WIREMEND_MENDING_POLICY", "likely").spawn().unwrap();
    let said = listening(&mut child);
    assert_eq!(said["admin"], Value::Null);
    let reply = exchange(
        said["url"].as_str().unwrap(),
        "POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}",
    );
    assert!(reply.contains("\r\nx-wiremend: repaired;"), "{reply}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_provider_is_trusted_if_the_system_trusts_its_authority() {
    let (url, trusted) = encrypted_provider(2);
    let (_, other) = encrypted_provider(0);
    let (trusted, other) = (file("serve-trusted.pem", trusted), file("serve-other.pem", other));
    // Another provider beside it that does not encrypt.
    let plain = format!("/plain={}", provider(2));
    for (authority, header) in [
        (trusted, "x-wiremend: repaired; calls=1; repairs=2; risk=exact"),
        (other, "x-wiremend-error: upstream-not-encrypted"),
    ] {
        let args = ["serve", "--json", "--listen", "127.0.0.1:0", "--admin", "off"];
        let args = [&args[..], &["--upstream", &url, "--upstream", &plain]].concat();
        let mut child = command(&args).env("SSL_CERT_FILE", authority).spawn().unwrap();
        let said = listening(&mut child);
        let ask = |path: &str| {
            let head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
            let request = format!("{head}content-length: 2\r\n\r\n{{}}");
            exchange(said["url"].as_str().unwrap(), &request)
        };
        let (reply, beside) = (ask("/"), ask("/plain"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(reply.contains(&format!("\r\n{header}\r\n")), "{reply}");
        assert!(beside.contains("\r\nx-wiremend: repaired;"), "{beside}");
    }
}

#[test]
fn it_listens_on_a_name_and_on_loopback() {
    for address in ["localhost:0", ":0"] {
        let args = ["serve", "--json", "--listen", address, "--admin", address];
        let args = [&args[..], &["--upstream", "http://a"]].concat();
        let mut child = command(&args).env("WIREMEND_PORT", "tcp://10.0.0.1:8484").spawn().unwrap();
        let said = listening(&mut child);
        child.kill().unwrap();
        child.wait().unwrap();
        for name in ["url", "admin"] {
            let url = said[name].as_str().unwrap();
            assert!(
                url.starts_with("http://127.0.0.1:") || url.starts_with("http://[::1]:"),
                "{url}"
            );
        }
    }
}

#[test]
fn a_mistake_in_the_settings_is_found_by_its_place() {
    let config = file("serve-place.toml", "[limits]\nconnections = 0\n");
    let config = config.to_str().unwrap();
    let upstream = ["--upstream", "http://a"];
    let of_file = [&["serve", "--config", config], &upstream[..]].concat();
    let done = run(&of_file, "");
    assert_eq!(done.code, 2);
    let place = format!("{config}, line 2, `limits.connections`: it is at least 1");
    assert!(done.stderr.contains(&place), "{}", done.stderr);
    let plain = [&["serve"], &upstream[..]].concat();
    let child = command(&plain).env("WIREMEND_LISTN", "hush").spawn().unwrap();
    let done = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2));
    assert!(said.contains("WIREMEND_LISTN: there is no such setting"), "{said}");
    assert!(!said.contains("hush"), "{said}");
}

#[test]
fn what_cannot_be_served_is_refused() {
    let config = file("serve-wrong.toml", "lisen = 1");
    for args in [
        &["serve"][..],
        &["serve", "--upstream", "ftp://x"],
        &["serve", "--upstream", "openai=http://a"],
        &["serve", "--upstream", "http://a", "--listen", "8484"],
        &["serve", "--upstream", "http://user:hush@x"],
        &["serve", "--upstream", "http://a", "--upstream", "http://b"],
        &["serve", "--upstream", "http://a", "--admin", "on"],
        &["serve", "--config", config.to_str().unwrap()],
    ] {
        let done = run(args, "");
        assert_eq!(done.code, 2, "{args:?}: {}", done.stderr);
        assert!(!done.stderr.is_empty() && !done.stderr.contains("hush"), "{}", done.stderr);
    }
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let done = run(&["serve", "--upstream", "http://a", "--admin", "off", "--listen", &taken], "");
    assert_eq!(done.code, 6, "{}", done.stderr);
}

/// How long anything may take.
const STUCK: Duration = Duration::from_secs(30);

const FIRST: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\": [\"}}]}}]}\n\n";

/// A gateway in a process of its own.
struct Gateway {
    child: Child,
    address: String,
    admin: String,
}

impl Gateway {
    fn new(upstream: &str) -> Self {
        let upstream = format!("http://{upstream}");
        let free = "127.0.0.1:0";
        let args = ["serve", "--json", "--listen", free, "--admin", free, "--upstream", &upstream];
        let mut child = command(&args).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let address = |name: &str| said[name].as_str().unwrap().replace("http://", "");
        Self { address: address("url"), admin: address("admin"), child }
    }

    /// SIGKILL on Unix.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn page(&self, path: &str) -> String {
        let mut stream = connect(&self.admin);
        write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            .unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        page
    }

    /// Waits until nothing passes any more, and nothing is held.
    fn is_idle(&self) -> bool {
        let began = Instant::now();
        while began.elapsed() < STUCK {
            let metrics = self.page("/metrics");
            let idle = ["wiremend_open_streams 0\n", "wiremend_held_bytes 0\n"];
            if idle.iter().all(|line| metrics.contains(line)) {
                return true;
            }
            thread::sleep(Duration::from_millis(20));
        }
        false
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(STUCK)).unwrap();
    stream
}

/// A provider that sends half a call, and says when its client has gone.
fn endless_provider() -> (String, mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (gone, waits) = mpsc::channel();
    thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let gone = gone.clone();
            thread::spawn(move || {
                let mut request = Vec::new();
                let mut piece = [0; 1024];
                while !request.ends_with(b"{}") {
                    match stream.read(&mut piece) {
                        Ok(read) if read > 0 => request.extend_from_slice(&piece[..read]),
                        _ => return,
                    }
                }
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{FIRST}\r\n",
                    FIRST.len()
                );
                while stream.read(&mut piece).is_ok_and(|read| read > 0) {}
                let _ = gone.send(());
            });
        }
    });
    (address, waits)
}

/// Asks for a stream, and reads its first event.
fn begin(address: &str) -> (TcpStream, String) {
    let mut stream = connect(address);
    write!(stream, "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}").unwrap();
    let (mut got, mut piece) = (Vec::new(), [0; 1024]);
    while !String::from_utf8_lossy(&got).contains("\\\"a\\\"") {
        let read = stream.read(&mut piece).unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&got));
        got.extend_from_slice(&piece[..read]);
    }
    (stream, String::from_utf8(got).unwrap())
}

#[test]
fn a_provider_that_is_killed_breaks_off_the_answer_and_nothing_else() {
    let (address, _waits) = endless_provider();
    // A gateway is a provider that can be killed.
    let mut behind = Gateway::new(&address);
    let gateway = Gateway::new(&behind.address);
    let streams: Vec<(TcpStream, String)> = (0..4).map(|_| begin(&gateway.address)).collect();
    behind.kill();
    for (mut stream, mut got) in streams {
        // A reset is an end, too.
        let _ = stream.read_to_string(&mut got);
        assert!(!got.ends_with("0\r\n\r\n"), "{got}");
        assert!(!got.contains("finish_reason"), "{got}");
    }
    assert!(gateway.is_idle());
    assert!(gateway.page("/health").starts_with("HTTP/1.1 200"));
    assert!(gateway.page("/repairs").contains("\"outcome\":\"cut\""));
}

#[test]
fn clients_that_are_killed_end_their_requests_to_the_provider() {
    let (address, waits) = endless_provider();
    let gateway = Gateway::new(&address);
    // A gateway is a client that can be killed.
    let mut before = Gateway::new(&gateway.address);
    let streams: Vec<(TcpStream, String)> = (0..4).map(|_| begin(&before.address)).collect();
    assert!(waits.try_recv().is_err());
    before.kill();
    for _ in &streams {
        waits.recv_timeout(STUCK).unwrap();
    }
    assert!(gateway.is_idle());
    // The next client is served.
    begin(&gateway.address);
}
