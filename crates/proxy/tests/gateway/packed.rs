//! Answers that come compressed although they were asked for as they are.

use std::{io::Write as _, sync::Arc};

use flate2::{
    Compression,
    write::{DeflateEncoder, GzEncoder, ZlibEncoder},
};
use tokio::sync::Notify;
use wiremend_proxy::{Limits, Upstream};

use crate::scene::{Scene, Step, chunk, chunked, last};

/// A stream with a call whose arguments have single quotes.
const EVENTS: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":{\"name\":\"f\",\"arguments\":\"{'a': 1}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";

/// The same, by Brotli. There is no library here that packs.
const BROTLI: &str = "1ba900809c05763b4b2afb3029276c1fee06e39281b82dd5b3f2eaaba93e892218f2304514be8a45a7fbba1458eae480b9f00ba3f05bd43c0f2c958002e75828d69783437cbf8e9ca1ab2b5b0cca41bd490910db8f1bc73bb20be8a830757201c543cc95a3f8728a69a7b83411f962433f521c15";

/// 64 MiB of spaces in 53 bytes.
const BOMB: &str = "cfffff7ff82540e2b14020f7fe9ffffffff04b00c4610180eefd3fffffffe1970088c32200ddfbfffcffffc72f0110870500baf7ff";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().map(|digit| digit.to_digit(16).unwrap()).collect();
    digits.chunks(2).map(|two| u8::try_from(two[0] * 16 + two[1]).unwrap()).collect()
}

fn packed(coding: &str, text: &[u8]) -> Vec<u8> {
    let level = Compression::default();
    match coding {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), level);
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        }
        "deflate" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        }
        "deflate without a header" => {
            let mut encoder = DeflateEncoder::new(Vec::new(), level);
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        }
        _ => bytes(BROTLI),
    }
}

fn head(kind: &str, coding: &str, length: usize) -> Step {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-encoding: {coding}\r\ncontent-length: {length}\r\n\
         etag: \"x\"\r\n\r\n"
    );
    Step::Send(head.into_bytes())
}

#[tokio::test]
async fn what_comes_compressed_is_unpacked_mended_and_sent_plain() {
    for coding in ["gzip", "deflate", "deflate without a header", "br"] {
        let body = packed(coding, EVENTS.as_bytes());
        let name = coding.split(' ').next().unwrap();
        // As a whole, and a byte at a time.
        for size in [body.len(), 1] {
            let mut steps = vec![head("text/event-stream", name, body.len())];
            steps.extend(body.chunks(size).map(|piece| Step::Send(piece.to_vec())));
            let scene = Scene::new(steps).await;
            let reply =
                scene.post_with("/x", &["x-wiremend-comment: on"], "{\"stream\":true}").await;
            assert!(reply.whole, "{coding}");
            let text = reply.text();
            let (events, comment) = text.split_once(": wiremend ").unwrap();
            assert_eq!(events, EVENTS.replace("{'a': 1}", "{\\\"a\\\": 1}"), "{coding}");
            assert!(
                comment.starts_with(&format!("repaired; unpacked={name}; calls=1;")),
                "{comment}"
            );
            assert_eq!((reply.header("content-encoding"), reply.header("etag")), (None, None));
            let account = format!("streaming; unpacked={name}");
            assert_eq!(reply.header("x-wiremend"), Some(account.as_str()));
        }
    }
    // A whole body, in two members of gzip.
    let text = r#"{"choices":[{"message":{"tool_calls":[]},"finish_reason":"stop"}]}"#;
    let (one, two) = text.as_bytes().split_at(20);
    let body = [packed("gzip", one), packed("gzip", two)].concat();
    let steps = vec![head("application/json", "x-gzip", body.len()), Step::Send(body)];
    let reply = Scene::new(steps).await.post("/x", "{}").await;
    assert_eq!(reply.text(), text);
    assert_eq!(reply.header("x-wiremend"), Some("unchanged; unpacked=gzip; calls=0; repairs=0"));
    assert_eq!(reply.header("content-length"), Some(text.len().to_string().as_str()));
}

/// Padding, or what some other server has left there, wherever it is divided.
#[tokio::test]
async fn what_follows_packed_text_is_no_part_of_it() {
    for rest in [&b"\0\0\0\0"[..], b"\x1f", b"x\x1f\x8b", b"\x1fx\x1f\x8b\x08 no"] {
        let body = [packed("gzip", EVENTS.as_bytes()), rest.to_vec()].concat();
        for size in [body.len(), 1] {
            let mut steps = vec![head("text/event-stream", "gzip", body.len())];
            steps.extend(body.chunks(size).map(|piece| Step::Send(piece.to_vec())));
            let reply = Scene::new(steps).await.post("/x", "{\"stream\":true}").await;
            assert!(reply.whole, "{rest:?}");
            assert_eq!(reply.text(), EVENTS.replace("{'a': 1}", "{\\\"a\\\": 1}"), "{rest:?}");
        }
    }
}

#[tokio::test]
async fn an_event_leaves_although_the_next_one_is_not_packed_yet() {
    let (first, rest) = EVENTS.split_at(EVENTS.find("data: [DONE]").unwrap());
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(first.as_bytes()).unwrap();
    encoder.flush().unwrap();
    let one = encoder.get_ref().clone();
    encoder.write_all(rest.as_bytes()).unwrap();
    let all = encoder.finish().unwrap();
    let go = Arc::new(Notify::new());
    let length = all.len();
    let steps = vec![
        head("text/event-stream", "gzip", length),
        Step::Send(one.clone()),
        Step::Wait(Arc::clone(&go)),
        Step::Send(all[one.len()..].to_vec()),
    ];
    let scene = Scene::new(steps).await;
    let mut client = scene.connect().await;
    client
        .send("POST /x HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
        .await;
    client.until("{\\\"a\\\": 1}").await;
    go.notify_one();
    assert!(client.reply().await.whole);
}

#[tokio::test]
async fn a_body_that_is_damaged_or_cut_off_breaks_off() {
    let body = packed("gzip", EVENTS.as_bytes());
    let mut damaged = body.clone();
    damaged[30] ^= 0x55;
    let mut wrong = body.clone();
    let end = wrong.len() - 6;
    wrong[end] ^= 1;
    let brotli = bytes(BROTLI);
    for (coding, body) in [
        ("gzip", damaged),
        ("gzip", wrong),
        ("gzip", body[..body.len() - 9].to_vec()),
        ("gzip", b"plain".to_vec()),
        ("br", brotli[..brotli.len() - 9].to_vec()),
        ("br", b"plain text that is none".to_vec()),
    ] {
        let steps = vec![head("text/event-stream", coding, body.len()), Step::Send(body)];
        let reply = Scene::new(steps).await.post("/x", "{\"stream\":true}").await;
        assert_eq!(reply.status(), 200);
        assert!(!reply.whole, "{coding}: {reply:?}");
    }
}

#[tokio::test]
async fn other_codings_pass_as_they_came_and_so_does_what_has_no_room() {
    let zstd = b"\x28\xb5\x2f\xfd\x04\x00\x01\x00\x00";
    for (coding, body, held) in [
        ("zstd", zstd.to_vec(), 1 << 30),
        ("gzip, br", b"x".to_vec(), 1 << 30),
        ("br", bytes(BROTLI), 1 << 20),
    ] {
        let steps = vec![head("text/event-stream", coding, body.len()), Step::Send(body.clone())];
        let scene = Scene::with(steps, |config, url| {
            let limits = Limits::new().with_all_held_bytes(held);
            config.with_upstream(Upstream::parse(url).unwrap()).with_limits(limits)
        })
        .await;
        let reply = scene.post("/x", "{}").await;
        assert_eq!(reply.body, body);
        assert_eq!(reply.header("content-encoding"), Some(coding));
        assert_eq!(reply.header("x-wiremend"), Some("untouched; reason=encoded"));
    }
    // Nor is it unpacked where nothing is mended.
    let body = packed("gzip", EVENTS.as_bytes());
    let steps = vec![head("text/event-stream", "gzip", body.len()), Step::Send(body.clone())];
    let reply = Scene::new(steps).await.post_with("/x", &["x-wiremend-policy: off"], "{}").await;
    assert_eq!((&reply.body, reply.header("content-encoding")), (&body, Some("gzip")));
}

#[tokio::test]
async fn a_bomb_takes_no_more_room_than_another_answer() {
    // As a body that is held, as far as that goes, and as a stream.
    for (kind, ask) in [("application/json", "{}"), ("text/event-stream", "{\"stream\":true}")] {
        let steps = [chunked(kind), chunk(bytes(BOMB)), last()];
        let Step::Send(begin) = &steps[0] else { unreachable!() };
        let begin = String::from_utf8(begin.clone()).unwrap();
        let begin = begin.replace("\r\n\r\n", "\r\ncontent-encoding: br\r\n\r\n");
        let steps = vec![Step::Send(begin.into_bytes()), steps[1].clone(), steps[2].clone()];
        let scene = Scene::with(steps, |config, url| {
            let limits = Limits::new().with_held_bytes(1 << 20);
            config.with_upstream(Upstream::parse(url).unwrap()).with_limits(limits)
        })
        .await;
        let mut client = scene.connect().await;
        let length = ask.len();
        client
            .send(format!(
                "POST /x HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                 content-length: {length}\r\nconnection: close\r\n\r\n{ask}"
            ))
            .await;
        client.until("unpacked=br").await;
        // The client reads nothing more for now.
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let metrics = scene.page("/metrics").await.text();
        let held = metrics.lines().find_map(|line| line.strip_prefix("wiremend_held_bytes "));
        let held: usize = held.unwrap().parse().unwrap();
        assert!(held < (16 << 20) + (3 << 20), "{held} bytes are held");
        let reply = client.reply().await;
        assert_eq!((reply.body.len(), reply.whole), (64 << 20, true), "{kind}");
        assert!(scene.page("/metrics").await.text().contains("wiremend_held_bytes 0\n"));
    }
}
