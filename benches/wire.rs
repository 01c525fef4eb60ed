//! The cost of an event: finding it in the stream, and everything from the body to a mended body,
//! compared with what is done without this crate.

use std::hint::black_box;

use bytes::Bytes;
use futures::{StreamExt as _, executor::block_on, stream};
use serde::{Deserialize, Serialize};
use wiremend_benches::measure::{Budget, Contender, Timed, interleaved};
use wiremend_testkit::allocations::heap_of;
use wiremend_wire::{
    RewriteOptions, Rewriter, Rewritten,
    sse::{SseDecoder, SseEvent, SseReading},
};

/// The pieces in which a body arrives, in bytes.
const PIECES: [usize; 2] = [16 << 10, 64];

/// The length of the arguments of the call, in bytes.
const ARGUMENTS: usize = 4096;

/// Named work.
type Named<'a> = (&'static str, Box<dyn Fn() + 'a>);

type Chunk = Result<Bytes, std::convert::Infallible>;

fn main() {
    let once = !std::env::args().any(|argument| argument == "--bench");
    let budget = if once { Budget::ONCE } else { Budget::FULL };
    let arguments = arguments();
    for (name, body) in
        [("clean", body(&arguments)), ("broken", body(&arguments.replace('"', "'")))]
    {
        let events = body.matches("\n\n").count();
        for size in PIECES {
            let chunks = chunks(&body, size);
            println!(
                "\n{name} arguments of {ARGUMENTS} bytes, {events} events of {} bytes, in pieces of {size}",
                body.len() / events
            );
            // With structs, broken arguments are not parsed beyond their first defect.
            let contenders = if name == "clean" { 5 } else { 4 };
            report(events, &chunks, contenders, budget);
        }
    }
    long_line(budget);
}

/// Times the first contenders, and counts their allocations.
fn report(events: usize, chunks: &[Bytes], count: usize, budget: Budget) {
    let bytes = chunks.iter().map(Bytes::len).sum();
    let works: [Named<'_>; 5] = [
        ("framing: ours", Box::new(|| framing(chunks))),
        ("framing: sse-stream", Box::new(|| sse_stream(chunks))),
        ("framing: sseer", Box::new(|| sseer(chunks))),
        ("rewriting: ours", Box::new(|| rewritten(chunks))),
        ("rewriting: structs", Box::new(|| structs(chunks))),
    ];
    let works = works.get(..count).unwrap_or(&works);
    let mut contenders: Vec<Contender<'_>> =
        works.iter().map(|(name, work)| Contender::new(*name, bytes, work)).collect();
    for (Timed { name, best, .. }, (_, work)) in
        interleaved(&mut contenders, budget).into_iter().zip(works)
    {
        let count = heap_of(work).count as f64 / events as f64;
        let nanoseconds = best.as_secs_f64() * 1e9 / events as f64;
        println!("  {name:22} {nanoseconds:8.0} ns an event   {count:6.2} allocations an event");
    }
}

/// One line of a mebibyte and one of four, in pieces of 64 bytes.
fn long_line(budget: Budget) {
    for size in [1 << 18, 1 << 20] {
        let body = format!("data: {}\n\n", "x".repeat(size - 10));
        let chunks = chunks(&body, 64);
        let mut contenders = [
            Contender::new("memchr", size, || {
                black_box(memchr::memchr_iter(b'\n', body.as_bytes()).count());
            }),
            Contender::new("line", size, || framing(&chunks)),
        ];
        let timed = interleaved(&mut contenders, budget);
        let [_, Timed { best, .. }] = timed.as_slice() else { return };
        let milliseconds = best.as_secs_f64() * 1e3;
        println!("\na line of {size} bytes in pieces of 64: {milliseconds:.2} ms");
    }
}

/// Arguments of a tool that writes a file.
fn arguments() -> String {
    let mut lines = String::from("{\"path\": \"src/main.rs\", \"lines\": [");
    while lines.len() < ARGUMENTS - 60 {
        lines.push_str("{\"number\": 17, \"text\": \"    let total = a + b;\"}, ");
    }
    lines + "null]}"
}

/// A stream of Chat Completions: one call, with about four bytes of arguments per event.
fn body(arguments: &str) -> String {
    let mut body = String::new();
    let mut event = |delta: &str| {
        body.push_str(&format!(
            "data: {{\"id\":\"chatcmpl-Bk3vJt0Qf6xWn1pLs9aYz2Cd\",\"object\":\"chat.completion.chunk\",\
             \"created\":1762000000,\"model\":\"gpt-large-2025-10-01\",\"service_tier\":\"default\",\
             \"system_fingerprint\":\"fp_0a1b2c3d4e\",\"choices\":[{{\"index\":0,\"delta\":{delta},\
             \"logprobs\":null,\"finish_reason\":null}}],\"usage\":null}}\n\n"
        ));
    };
    event(
        "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\
         \"type\":\"function\",\"function\":{\"name\":\"write\",\"arguments\":\"\"}}]}",
    );
    for piece in arguments.as_bytes().chunks(4) {
        let text = serde_json::to_string(&String::from_utf8_lossy(piece)).unwrap_or_default();
        event(&format!(
            "{{\"tool_calls\":[{{\"index\":0,\"function\":{{\"arguments\":{text}}}}}]}}"
        ));
    }
    body + "data: [DONE]\n\n"
}

fn chunks(body: &str, size: usize) -> Vec<Bytes> {
    body.as_bytes().chunks(size).map(Bytes::copy_from_slice).collect()
}

fn framing(chunks: &[Bytes]) {
    let mut decoder = SseDecoder::new(SseReading::Lenient);
    let mut seen = 0;
    for chunk in chunks {
        decoder.push(chunk, |event| {
            if let SseEvent::Message(message) = event {
                seen += black_box(&*message.data()).len();
            }
        });
    }
    black_box(seen);
}

fn source(chunks: &[Bytes]) -> impl futures::Stream<Item = Chunk> + Unpin + '_ {
    stream::iter(chunks.iter().cloned().map(Ok))
}

fn sse_stream(chunks: &[Bytes]) {
    let mut events = sse_stream::SseByteStream::new(source(chunks));
    let mut seen = 0;
    block_on(async {
        while let Some(Ok(event)) = events.next().await {
            seen += black_box(event.data.as_deref().unwrap_or_default()).len();
        }
    });
    black_box(seen);
}

fn sseer(chunks: &[Bytes]) {
    let mut events = sseer::event_stream::EventStream::new(source(chunks));
    let mut seen = 0;
    block_on(async {
        while let Some(Ok(event)) = events.next().await {
            seen += black_box(&*event.data).len();
        }
    });
    black_box(seen);
}

/// From a body to a mended body.
fn rewritten(chunks: &[Bytes]) {
    let mut rewriter = Rewriter::new(RewriteOptions::new());
    let mut seen = 0;
    let mut take = |piece: Rewritten<'_>| {
        if let Rewritten::Bytes(bytes) = piece {
            seen += black_box(bytes).len();
        }
    };
    for chunk in chunks {
        rewriter.push(chunk, &mut take);
    }
    rewriter.finish(&mut take);
    black_box(seen);
}

#[derive(Debug, Deserialize, Serialize)]
struct Completion {
    id: String,
    object: String,
    created: u64,
    model: String,
    choices: Vec<Choice>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Choice {
    index: u32,
    delta: Delta,
    finish_reason: Option<String>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Delta {
    role: Option<String>,
    content: Option<String>,
    #[serde(default)]
    tool_calls: Vec<Call>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Call {
    index: usize,
    id: Option<String>,
    function: Function,
}

#[derive(Debug, Deserialize, Serialize)]
struct Function {
    name: Option<String>,
    arguments: Option<String>,
}

/// Like [`rewritten`], with structs: each event is parsed, the arguments so far are parsed again, and
/// the event is serialized. Nothing is mended.
fn structs(chunks: &[Bytes]) {
    let mut events = sse_stream::SseByteStream::new(source(chunks));
    let mut arguments: Vec<String> = Vec::new();
    let mut seen = 0;
    block_on(async {
        while let Some(Ok(event)) = events.next().await {
            let data = event.data.unwrap_or_default();
            let Ok(completion) = serde_json::from_str::<Completion>(&data) else { continue };
            for call in completion.choices.iter().flat_map(|choice| &choice.delta.tool_calls) {
                if call.index >= arguments.len() {
                    arguments.resize(call.index + 1, String::new());
                }
                let piece = call.function.arguments.as_deref().unwrap_or_default();
                if let Some(text) = arguments.get_mut(call.index) {
                    text.push_str(piece);
                    let value: serde_json::Result<serde_json::Value> = serde_json::from_str(text);
                    black_box(value.is_ok());
                }
            }
            seen += serde_json::to_string(&completion).map_or(0, |text| black_box(text).len());
        }
    });
    black_box(seen);
}
