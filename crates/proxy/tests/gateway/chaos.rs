//! Providers that break, clients that send anything, and recordings of real ones.

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use wiremend_core::Outcome;
use wiremend_proxy::Upstream;
use wiremend_testkit::{
    Seed,
    chaos::{Server, Settings},
    laws::wire::states,
};
use wiremend_wire::{WireOptions, transcribe};

use crate::scene::{Scene, Step, answer};

/// The calls of a body that may be run.
fn runnable(body: &[u8]) -> Vec<(String, String)> {
    let said = transcribe(body, WireOptions::new());
    let calls = said.calls().into_iter().filter(|call| call.outcome().is_complete());
    // White space after the arguments may come when they have ended.
    calls.map(|call| (call.name().to_owned(), call.arguments().trim().to_owned())).collect()
}

/// How many of them had to be repaired.
fn repaired(body: &[u8]) -> usize {
    let said = transcribe(body, WireOptions::new());
    said.calls().iter().filter(|call| call.outcome() == Outcome::Repaired).count()
}

/// Requests where no other number is set.
const FEW: u64 = 400;

/// A number that is set for a long run.
fn set(name: &str) -> Option<u64> {
    env::var(name).ok().map(|number| number.parse().unwrap())
}

/// `WIREMEND_CHAOS_REQUESTS` and `WIREMEND_CHAOS_FROM` set how many requests there are, and the first seed.
#[tokio::test]
async fn whatever_a_provider_does_no_half_call_is_whole_and_nothing_hangs() {
    let requests = set("WIREMEND_CHAOS_REQUESTS").unwrap_or(FEW);
    let from = set("WIREMEND_CHAOS_FROM").unwrap_or_default();
    let settings = Settings::new().with_requests(usize::try_from(requests).unwrap());
    let provider = Server::start(settings.with_lifetime(Duration::from_secs(3600))).unwrap();
    let url = format!("http://{}", provider.address());
    let scene =
        Scene::with(Vec::new(), |config, _| config.with_upstream(Upstream::parse(&url).unwrap()))
            .await;
    let (mut calls, mut broken, mut late) = (0, 0, 0);
    let (mut gained, mut lost) = (Vec::new(), Vec::new());
    for seed in from..from + requests {
        let delivery = Settings::new().case(seed, None).delivery();
        let mode = ["eager", "validated"][usize::try_from(seed % 2).unwrap()];
        let reply = scene
            .post_with(&format!("/x?seed={seed}"), &[&format!("x-wiremend-mode: {mode}")], "{}")
            .await;
        let (direct, proxied) = (runnable(delivery.bytes()), runnable(&reply.body));
        // A provider that loses an event and then states the whole arguments has stated them.
        let known =
            |call: &(String, String)| direct.contains(call) || states(delivery.bytes(), &call.1);
        if !proxied.iter().all(known) {
            gained.push((seed, mode, direct.len(), proxied.len()));
        }
        // Only the whole text shows how some calls are to be repaired, and a part of it has left.
        let missing = direct.len().saturating_sub(proxied.len());
        if reply.whole && mode == "eager" && missing <= repaired(delivery.bytes()) {
            late += missing;
        } else if reply.whole && missing > 0 {
            lost.push((seed, mode, direct.len(), proxied.len()));
        }
        broken += usize::from(!reply.whole);
        calls += proxied.len();
    }
    assert!(calls > 100 && broken > 10, "{calls} calls, {broken} answers that broke off");
    println!("{calls} calls, {broken} answers that broke off, {late} calls not repaired in time");
    let columns = "(seed, mode, calls directly, calls through the gateway)";
    assert!(gained.is_empty() && lost.is_empty(), "{columns}: gained {gained:?}, lost {lost:?}");
    assert!(
        late * 500 <= usize::try_from(requests).unwrap(),
        "{late} calls were not repaired in time"
    );
    let metrics = scene.page("/metrics").await.text();
    for line in ["wiremend_open_streams 0\n", "wiremend_held_bytes 0\n"] {
        assert!(metrics.contains(line), "{metrics}");
    }
    assert_eq!(provider.stop().len(), usize::try_from(requests).unwrap());
}

#[tokio::test]
async fn whatever_a_client_sends_the_next_one_is_answered() {
    let request = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                   x-wiremend-mode: validated\r\ncontent-length: 73\r\nconnection: close\r\n\r\n\
                   {\"tools\":[{\"name\":\"f\"}],\"messages\":[{\"tool_calls\":[{\"function\":{\"arguments\":1}}]}]}";
    let scene = Scene::new(answer("application/json", "{\"choices\": []}")).await;
    let mut seed = Seed::new(24);
    for _ in 0..500 {
        let mut bytes = request.as_bytes().to_vec();
        for _ in 0..=seed.below(4) {
            let at = seed.below(bytes.len());
            match seed.below(4) {
                0 => bytes[at] = u8::try_from(seed.below(256)).unwrap(),
                1 => drop(bytes.remove(at)),
                2 => bytes.truncate(at.max(1)),
                _ => {
                    let piece = bytes[at..bytes.len().min(at + 30)].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
        let mut client = scene.connect().await;
        client.send(&bytes).await;
        client.leave().await;
    }
    assert_eq!(scene.post("/v1/chat/completions", "{}").await.status(), 200);
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// `WIREMEND_RECORDINGS=DIR` names a folder of recorded bodies.
#[tokio::test]
async fn recordings_pass_byte_for_byte_unless_a_call_is_mended() {
    let Some(folder) = env::var_os("WIREMEND_RECORDINGS") else { return };
    let mut paths = Vec::new();
    files(Path::new(&folder), &mut paths);
    let mut same = 0;
    for path in &paths {
        let body = fs::read(path).unwrap();
        let kind = match path.extension().and_then(|extension| extension.to_str()) {
            Some("sse") => "text/event-stream",
            Some("ndjson") => "application/x-ndjson",
            Some("bin") => "application/vnd.amazon.eventstream",
            _ => "application/json",
        };
        for mode in ["eager", "validated"] {
            // In pieces, and as one.
            let scene = if mode == "eager" {
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
                    body.len()
                );
                let mut steps = vec![Step::Send(head.into_bytes())];
                steps.extend(body.chunks(997).map(|piece| Step::Send(piece.to_vec())));
                Scene::new(steps).await
            } else {
                Scene::new(answer(kind, &body)).await
            };
            let headers = [format!("x-wiremend-mode: {mode}")];
            let reply = scene.post_with("/v1/x", &[&headers[0]], "{\"stream\":true}").await;
            assert!(reply.whole, "{}", path.display());
            assert_eq!(runnable(&reply.body), runnable(&body), "{}", path.display());
            // Where a call has no arguments, an empty object is written.
            let mended = transcribe(&body, WireOptions::new()).calls().iter().any(|call| {
                call.outcome().is_complete()
                    && (!call.repairs().is_empty() || call.arguments() == "{}")
            });
            if reply.body == body {
                same += 1;
            } else {
                assert!(mended, "{} was changed", path.display());
            }
        }
    }
    println!("{same} of {} bodies passed byte for byte", 2 * paths.len());
    assert!(same > 0, "no recordings");
}
