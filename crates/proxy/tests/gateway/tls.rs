//! Connections of clients that are encrypted.

use std::{fs, path::PathBuf, sync::Arc};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName},
};
use wiremend_proxy::{Config, Limits, Server, Upstream};

use crate::scene::{Client, Scene, Step, answer, call_events, within};

/// A certificate for localhost and its key, in files of a directory of their own.
struct Files {
    directory: PathBuf,
    roots: RootCertStore,
}

impl Files {
    fn new(name: &str) -> Self {
        let key = rcgen::KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned()];
        let made = rcgen::CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
        let unique = format!("wiremend-tls-{name}-{}", std::process::id());
        let directory = std::env::temp_dir().join(unique);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("certificate.pem"), made.pem()).unwrap();
        fs::write(directory.join("key.pem"), key.serialize_pem()).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(made.der().clone()).unwrap();
        Self { directory, roots }
    }

    fn config(&self, config: Config) -> Config {
        let file = |name| self.directory.join(name);
        config.with_tls(file("certificate.pem"), file("key.pem"))
    }

    async fn scene(&self, steps: Vec<Step>, limits: Limits) -> Scene {
        Scene::with(steps, |config, url| {
            self.config(config).with_limits(limits).with_upstream(Upstream::parse(url).unwrap())
        })
        .await
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

#[tokio::test]
async fn an_encrypted_answer_is_mended_like_any_other() {
    let files = Files::new("mended");
    let events = call_events(&["{'a': ", "True}"], "tool_calls").concat();
    let scene = files.scene(answer("text/event-stream", &events), Limits::new()).await;
    let provider = Arc::new(ring::default_provider());
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(files.roots.clone())
        .with_no_client_auth();
    let stream = TcpStream::connect(scene.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = TlsConnector::from(Arc::new(client)).connect(name, stream).await.unwrap();
    let request =
        "POST /v1/x HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut got = String::new();
    within(stream.read_to_string(&mut got)).await.unwrap();
    assert!(got.starts_with("HTTP/1.1 200"), "{got}");
    assert!(got.contains("{\\\"a\\\": "), "{got}");
    assert!(got.ends_with("0\r\n\r\n"), "{got}");
}

#[tokio::test]
async fn a_client_that_is_slow_or_does_not_encrypt_is_let_go() {
    let files = Files::new("slow");
    let limits = Limits::new().with_head_seconds(1);
    let scene = files.scene(answer("text/plain", ""), limits).await;
    // It says nothing.
    let silent = Client::connect(scene.address).await.reply().await;
    assert_eq!(silent.head, "");
    let mut plain = scene.connect().await;
    plain.send("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    assert!(!plain.reply().await.head.starts_with("HTTP/"));
    // Neither ends the gateway.
    assert_eq!(scene.page("/health").await.status(), 200);
}

#[test]
fn files_that_are_not_a_certificate_and_its_key_are_refused() {
    let (files, other) = (Files::new("one"), Files::new("other"));
    let config = Config::new().with_upstream(Upstream::parse("http://127.0.0.1:1").unwrap());
    let file = |files: &Files, name| files.directory.join(name);
    for (certificate, key) in [
        (file(&files, "missing.pem"), file(&files, "key.pem")),
        (file(&files, "key.pem"), file(&files, "key.pem")),
        (file(&files, "certificate.pem"), file(&files, "certificate.pem")),
        (file(&files, "certificate.pem"), file(&other, "key.pem")),
    ] {
        let error = Server::new(config.clone().with_tls(certificate, key)).unwrap_err();
        assert!(!error.to_string().contains("BEGIN"), "{error}");
    }
    assert!(Server::new(files.config(config)).is_ok());
}
