//! What the peers do with a document, through the API that each of them recommends.
//!
//! Some take quadratic time on some documents when the text comes in pieces. Those get a shorter
//! text, and their rows show it. The comparison is always in bytes per second.

use std::hint::black_box;

use actson::{JsonEvent, JsonParser, feeder::PushJsonFeeder};
use jiter::{Jiter, JsonValue, PartialMode};

/// A peer's way to read a text.
#[derive(Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) read: fn(&str),
    /// Whether it mends broken text. The others reject it.
    pub(crate) mends: bool,
    /// Whether a megabyte would take too long, so that a shorter text is used.
    pub(crate) short: bool,
}

const fn mends(name: &'static str, read: fn(&str)) -> Peer {
    Peer { name, read, mends: true, short: false }
}

const fn reads(name: &'static str, read: fn(&str)) -> Peer {
    Peer { name, read, mends: false, short: false }
}

const fn short(peer: Peer) -> Peer {
    Peer { short: true, ..peer }
}

/// Peers on the whole text.
pub(crate) const WHOLE: [Peer; 8] = [
    mends("jsonfix repair", |text| assert!(jsonfix::repair(black_box(text)).is_ok())),
    mends("jsonrepair repair_to_string", |text| {
        let options = jsonrepair::Options::default();
        assert!(jsonrepair::repair_to_string(black_box(text), &options).is_ok());
    }),
    mends("jsonrepair-rs jsonrepair", |text| {
        assert!(jsonrepair_rs::jsonrepair(black_box(text)).is_ok());
    }),
    reads("partial-json-fixer fix_json", |text| {
        drop(black_box(partial_json_fixer::fix_json(black_box(text))));
    }),
    reads("jiter next_skip", |text| {
        assert!(Jiter::new(black_box(text).as_bytes()).next_skip().is_ok());
    }),
    reads("jiter JsonValue", |text| {
        assert!(JsonValue::parse(black_box(text).as_bytes(), false).is_ok());
    }),
    reads("actson events", |text| actson_events(text, usize::MAX)),
    reads("jsonmodem events", |text| jsonmodem_events(text, usize::MAX)),
];

/// Peers on text in pieces of eight bytes, with the answer after each piece that the peer gives, if any.
pub(crate) const PIECES: [Peer; 7] = [
    mends("jsonfix push_delta", |text| jsonfix_pieces(text, 8)),
    mends("jsonrepair push", |text| jsonrepair_pieces(text, 8)),
    reads("actson events", |text| actson_events(text, 8)),
    reads("jsonmodem events", |text| jsonmodem_events(text, 8)),
    short(reads("jiter, all again", |text| jiter_again(text, 8))),
    short(reads("partial-json-fixer, all again", |text| {
        again(text, 8, |head| drop(black_box(partial_json_fixer::fix_json(head))));
    })),
    short(mends("jsonrepair-rs, all again", |text| {
        again(text, 8, |head| drop(black_box(jsonrepair_rs::jsonrepair(head))));
    })),
];

/// The peers of [`PIECES`] that are quadratic only on one long string.
pub(crate) const SLOW_ON_STRINGS: [&str; 2] = ["jsonfix push_delta", "jsonmodem events"];

/// Pieces of about `size` bytes that end between characters.
fn pieces(text: &str, size: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = (size.min(rest.len())..=rest.len()).find(|&at| rest.is_char_boundary(at))?;
        let (head, tail) = rest.split_at(end);
        rest = tail;
        (!head.is_empty()).then_some(head)
    })
}

/// Reads the whole text so far again after every piece.
fn again(text: &str, size: usize, mut read: impl FnMut(&str)) {
    let mut end = 0;
    for piece in pieces(text, size) {
        end += piece.len();
        read(text.get(..end).unwrap_or_default());
    }
}

fn jiter_again(text: &str, size: usize) {
    again(text, size, |head| {
        let mode = PartialMode::TrailingStrings;
        let _ = black_box(JsonValue::parse_with_config(head.as_bytes(), false, mode).is_ok());
    });
}

fn jsonfix_pieces(text: &str, size: usize) {
    let mut stream = jsonfix::StreamRepairer::new();
    for piece in pieces(text, size) {
        let _ = black_box(stream.push_delta(piece).is_ok());
    }
}

fn jsonrepair_pieces(text: &str, size: usize) {
    let mut stream = jsonrepair::StreamRepairer::new(jsonrepair::Options::default());
    for piece in pieces(text, size) {
        let _ = black_box(stream.push(piece).is_ok());
    }
    let _ = black_box(stream.flush().is_ok());
}

fn actson_events(text: &str, size: usize) {
    let mut parser = JsonParser::new(PushJsonFeeder::new());
    let mut rest = text.as_bytes();
    while let Ok(Some(event)) = parser.next_event() {
        if event == JsonEvent::NeedMoreInput {
            let piece = rest.get(..size.min(rest.len())).unwrap_or_default();
            let taken = parser.feeder.push_bytes(piece);
            rest = rest.get(taken..).unwrap_or_default();
            if rest.is_empty() {
                parser.feeder.done();
            }
        }
        black_box(event);
    }
}

fn jsonmodem_events(text: &str, size: usize) {
    let mut parser = jsonmodem::StreamingParser::new(jsonmodem::ParserOptions::default());
    for piece in pieces(text, size) {
        parser.feed(piece);
        for event in parser.by_ref() {
            let _ = black_box(event.is_ok());
        }
    }
    for event in parser.finish() {
        let _ = black_box(event.is_ok());
    }
}
