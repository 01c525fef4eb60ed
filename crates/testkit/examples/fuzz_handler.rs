//! A harness that finds the bugs of a handler of streams: docs/fuzzing.md explains it.
//!
//! ```text
//! cargo run --release -p wiremend-testkit --example fuzz_handler            # each bug in turn
//! cargo run --release -p wiremend-testkit --example fuzz_handler -- 500     # with so many seeds
//! ```
//!
//! The handler reads Chat Completions as many clients do. Its bugs are planted one at a time.

use std::env;

use serde_json::Value;
use wiremend_testkit::{
    Seed,
    bodies::{Reply, Shape},
    check::{self, Ran},
    transport::Delivery,
};
use wiremend_wire::{Decoder, Transcript, WireOptions};

/// What is wrong with the handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    /// A character that two chunks share is lost.
    Characters,
    /// A call runs if its arguments are valid JSON, or become so with a bracket more.
    HalfCalls,
    /// A line that two chunks share is read as two.
    Lines,
}

/// What a handler makes of a body: the text, and the calls that it ran.
type Heard = (String, Vec<Ran>);

/// The handler, with one bug.
fn naive(chunks: &[&[u8]], bug: Bug) -> Heard {
    let mut state = State::default();
    let mut open = Vec::new();
    for chunk in chunks {
        match bug {
            Bug::Characters => open.extend(String::from_utf8_lossy(chunk).bytes()),
            _ => open.extend_from_slice(chunk),
        }
        while let Some(end) = open.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = open.drain(..=end).collect();
            state.read(&line);
        }
        if bug == Bug::Lines {
            state.read(&std::mem::take(&mut open));
        }
    }
    state.run(bug)
}

#[derive(Default)]
struct State {
    text: String,
    calls: Vec<(String, String)>,
    finished: bool,
}

impl State {
    fn read(&mut self, line: &[u8]) {
        let Some(payload) = line.strip_prefix(b"data: ") else { return };
        let Ok(payload) = serde_json::from_slice::<Value>(payload) else { return };
        let Some(choice) = payload.pointer("/choices/0") else { return };
        let said = choice.pointer("/delta/content").and_then(Value::as_str);
        self.text.push_str(said.unwrap_or_default());
        let pieces = choice.pointer("/delta/tool_calls").and_then(Value::as_array);
        for piece in pieces.into_iter().flatten() {
            let string = |path| piece.pointer(path).and_then(Value::as_str).unwrap_or_default();
            let index = piece.pointer("/index").and_then(Value::as_u64).unwrap_or_default();
            let Ok(index) = usize::try_from(index) else { continue };
            // Providers number calls one after the other.
            if index >= self.calls.len() && index < 100 {
                self.calls.resize(index + 1, Default::default());
            }
            if let Some((name, arguments)) = self.calls.get_mut(index) {
                name.push_str(string("/function/name"));
                arguments.push_str(string("/function/arguments"));
            }
        }
        self.finished |= choice.pointer("/finish_reason").is_some_and(Value::is_string);
    }

    fn run(self, bug: Bug) -> Heard {
        let is_json = |text: &str| serde_json::from_str::<Value>(text).is_ok();
        let run = |(name, arguments): (String, String)| {
            let closed = format!("{arguments}}}");
            match bug {
                _ if is_json(&arguments) => Some(Ran::new(name, arguments)),
                Bug::HalfCalls if is_json(&closed) => Some(Ran::new(name, closed)),
                _ => None,
            }
        };
        let may_run = self.finished || bug == Bug::HalfCalls;
        let calls = self.calls.into_iter().filter(|_| may_run);
        (self.text, calls.filter_map(run).collect())
    }
}

/// A handler on top of wiremend.
fn careful(chunks: &[&[u8]]) -> Heard {
    let mut decoder = Decoder::new(WireOptions::new());
    let mut said = Transcript::new();
    chunks.iter().for_each(|chunk| decoder.push(chunk, &mut |event| said.record(&event)));
    decoder.finish(&mut |event| said.record(&event));
    let calls = said.calls().into_iter().filter(|call| call.outcome().is_complete());
    (said.text(), calls.map(|call| Ran::new(call.name(), call.arguments())).collect())
}

/// The first seed whose reply shows a bug, and what it shows.
fn fuzz(seeds: u64, handler: impl Fn(&[&[u8]]) -> Heard) -> Result<(), (u64, String)> {
    for seed in 0..seeds {
        let body = Reply::random_in(Shape::Chat, &mut Seed::new(seed)).body();
        let compare = |chunks: &[&[u8]]| {
            let (text, ran) = handler(chunks);
            (text, ran.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        check::invariant_under_cuts(&body, compare)
            .map_err(|failure| (seed, failure.to_string()))?;
        let run = |delivery: &Delivery| handler(&delivery.chunks()).1;
        check::no_half_call(&body, run).map_err(|failure| (seed, failure.to_string()))?;
    }
    Ok(())
}

fn main() {
    let seeds = env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100);
    for bug in [Bug::Characters, Bug::Lines, Bug::HalfCalls] {
        match fuzz(seeds, |chunks| naive(chunks, bug)) {
            Ok(()) => println!("{bug:?}: not found with {seeds} seeds\n"),
            Err((seed, failure)) => println!("{bug:?}: found with seed {seed}\n{failure}\n"),
        }
    }
    match fuzz(seeds, careful) {
        Ok(()) => println!("on top of wiremend: nothing found with {seeds} seeds"),
        Err((seed, failure)) => println!("on top of wiremend: found with seed {seed}\n{failure}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown for a bug, with the fewest seeds that a user would try.
    fn found(bug: Bug) -> String {
        fuzz(10, |chunks| naive(chunks, bug)).expect_err("the bug is found").1
    }

    #[test]
    fn a_lost_character_is_found() {
        let shown = found(Bug::Characters);
        assert!(shown.contains('\u{fffd}'), "{shown}");
        // One event, divided once.
        assert_eq!(shown.matches("\n  b\"").count(), 2, "{shown}");
    }

    #[test]
    fn a_divided_line_is_found() {
        let shown = found(Bug::Lines);
        assert!(shown.contains("the chunks make a difference"), "{shown}");
        assert_eq!(shown.matches("\n  b\"").count(), 2, "{shown}");
    }

    #[test]
    fn a_half_call_is_found() {
        let shown = found(Bug::HalfCalls);
        assert!(shown.contains("a call was run"), "{shown}");
    }

    #[test]
    fn a_careful_handler_passes() {
        fuzz(10, careful).unwrap();
    }
}
