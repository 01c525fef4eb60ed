//! A Chromium without a window, driven through its debugging pipe.

use std::{
    env,
    fs::{self, File},
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// How long anything may take before a test is stuck.
const STUCK: Duration = Duration::from_secs(60);

/// Where a browser may be.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

pub(crate) struct Browser {
    process: Child,
    commands: File,
    messages: Receiver<Value>,
    folder: PathBuf,
    sent: u64,
    session: Option<String>,
    /// What the page complained about, such as a violation of its policy.
    pub(crate) complaints: Vec<String>,
}

/// A browser, or `None` where there is none, which is said. `WIREMEND_BROWSER` names one; with
/// `WIREMEND_REQUIRE_BROWSER`, it is a failure that there is none.
pub(crate) fn start(test: &str) -> Option<Browser> {
    let named = env::var_os("WIREMEND_BROWSER").map(PathBuf::from);
    let paths = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&paths)
        .flat_map(|folder| NAMES.map(|name| folder.join(name)))
        .find(|path| path.is_file());
    let Some(binary) = named.or(found) else {
        assert!(env::var_os("WIREMEND_REQUIRE_BROWSER").is_none(), "there is no Chromium");
        // Past the capture of the test's output, because a test that passes shows none.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED {test}: there is no Chromium on this machine, so the live page was not tested in one"
        );
        return None;
    };
    Some(Browser::of(&binary))
}

impl Browser {
    fn of(binary: &Path) -> Self {
        let number = Instant::now().elapsed().as_nanos() + u128::from(std::process::id());
        let folder =
            env::temp_dir().join(format!("wiremend-browser-{number}-{:?}", thread::current().id()));
        fs::create_dir_all(&folder).unwrap();
        let pipes = ["commands", "messages"].map(|name| folder.join(name));
        assert!(Command::new("mkfifo").args(&pipes).status().unwrap().success());
        let process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<\"$COMMANDS\" 4>\"$MESSAGES\""])
            .arg(binary)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"])
            .args(["--no-first-run", "--disable-background-networking"])
            .args(["--disable-component-update", "--disable-sync", "--hide-scrollbars"])
            .args(["--remote-debugging-pipe", "--disable-dev-shm-usage"])
            .arg(format!("--user-data-dir={}", folder.join("profile").display()))
            .env("COMMANDS", &pipes[0])
            .env("MESSAGES", &pipes[1])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Both block until the browser has opened its ends.
        let commands = File::options().write(true).open(&pipes[0]).unwrap();
        let mut replies = File::open(&pipes[1]).unwrap();
        let (sender, messages) = channel();
        thread::spawn(move || {
            let (mut got, mut piece) = (Vec::new(), vec![0; 1 << 16]);
            while let Ok(read @ 1..) = replies.read(&mut piece) {
                got.extend_from_slice(&piece[..read]);
                while let Some(end) = got.iter().position(|byte| *byte == 0) {
                    let message: Vec<u8> = got.drain(..=end).collect();
                    let Ok(message) = serde_json::from_slice(&message[..end]) else { continue };
                    if sender.send(message).is_err() {
                        return;
                    }
                }
            }
        });
        let (sent, session, complaints) = (0, None, Vec::new());
        let mut browser = Self { process, commands, messages, folder, sent, session, complaints };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.call("Target.attachToTarget", &target);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.call(domain, &json!({}));
        }
        browser
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.sent += 1;
        let mut message = json!({"id": self.sent, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.commands.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut message = self.messages.recv_timeout(STUCK).expect(method);
            if message["id"] == self.sent {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].take();
            }
            let level = message.pointer("/params/entry/level").and_then(Value::as_str);
            if message["method"] == "Runtime.exceptionThrown" || level == Some("error") {
                self.complaints.push(message["params"].to_string());
            }
        }
    }

    pub(crate) fn open(&mut self, url: &str, width: u32, height: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            &json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}),
        );
        let opened = self.call("Page.navigate", &json!({"url": url}));
        assert!(opened.get("errorText").is_none(), "{opened}");
    }

    pub(crate) fn prefers(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// The value of an expression in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let how = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut result = self.call("Runtime.evaluate", &how);
        assert!(result.get("exceptionDetails").is_none(), "{expression}: {result}");
        result["result"]["value"].take()
    }

    /// Waits until an expression is true. It may fail until then, because the page is not there yet.
    pub(crate) fn until(&mut self, expression: &str) {
        let end = Instant::now() + STUCK;
        let tried = format!(
            "(() => {{ try {{ return Boolean({expression}) }} catch {{ return false }} }})()"
        );
        while self.value(&tried) != true {
            if Instant::now() > end {
                let page = self.value("document.body.innerText");
                panic!("{expression} is not true of {page} ({:?})", self.complaints);
            }
            thread::sleep(Duration::from_millis(30));
        }
    }

    /// Presses a key, and lets it go.
    pub(crate) fn press(&mut self, key: &str) {
        let text = if key.len() == 1 { key } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            self.call(
                "Input.dispatchKeyEvent",
                &json!({"type": kind, "key": key, "code": key, "text": text}),
            );
        }
    }

    /// What the page looks like, as a PNG.
    pub(crate) fn picture(&mut self) -> Vec<u8> {
        let picture = self.call("Page.captureScreenshot", &json!({"format": "png"}));
        decode(picture["data"].as_str().unwrap())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It closes what it has started, too.
        let _ = self.commands.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let end = Instant::now() + Duration::from_secs(5);
        while Instant::now() < end && matches!(self.process.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Base64 without line ends.
fn decode(text: &str) -> Vec<u8> {
    let value = |sign: u8| match sign {
        b'A'..=b'Z' => sign - b'A',
        b'a'..=b'z' => sign - b'a' + 26,
        b'0'..=b'9' => sign - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut out = Vec::new();
    for four in text.trim_end_matches('=').as_bytes().chunks(4) {
        let number = four.iter().fold(0, |number, sign| number << 6 | u32::from(value(*sign)));
        let number = number << (6 * (4 - four.len()));
        out.extend_from_slice(&number.to_be_bytes()[1..four.len()]);
    }
    out
}
