//! An answer that arrives in pieces: its text with the documents in it mended, where they are.

use wiremend_core::{Limits, MendOptions, Mender, Outcome, Repair};
use wiremend_extract::{Finder, Scope, TextSink};
use wiremend_wire::sse::{SseDecoder, SseEvent, SseReading};

/// The text with its documents, as it would be shown, and their outcomes.
#[derive(Default)]
struct Shown {
    text: Vec<u8>,
    outcomes: Vec<Outcome>,
}

impl TextSink for Shown {
    fn text(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }
    fn json(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }
    fn repair(&mut self, _: Repair) {}
    fn end(&mut self, outcome: Outcome) {
        self.outcomes.push(outcome);
    }
}

fn shown(pieces: &[&str], options: &MendOptions) -> (String, Vec<Outcome>) {
    let read = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut extractor = Finder::new(Scope::All, options.clone());
        let mut shown = Shown::default();
        pieces.for_each(|piece| extractor.push(piece, &mut shown));
        extractor.finish(&mut shown);
        (String::from_utf8(shown.text).unwrap(), shown.outcomes)
    };
    let whole = read(&mut pieces.iter().map(|piece| piece.as_bytes()));
    assert_eq!(read(&mut pieces.concat().as_bytes().chunks(1)), whole, "{pieces:?}");
    whole
}

#[track_caller]
fn shows(pieces: &[&str], text: &str) {
    assert_eq!(shown(pieces, &MendOptions::new()).0, text, "{pieces:?}");
}

#[track_caller]
fn unchanged(pieces: &[&str]) {
    shows(pieces, &pieces.concat());
}

#[test]
fn what_needs_no_repair_stays_as_it_is() {
    unchanged(&["{\"n\": 7}"]);
    unchanged(&["Words first ", "{\"n\": 7}"]);
    unchanged(&["{\"n\": 7}", " and words after it"]);
    unchanged(&["{\"n\":", " 7,", "\"t\": \"two\"}"]);
    unchanged(&["Good ", "morning!"]);
    unchanged(&["{\"n\": 7} words {\"m\": 8}"]);
    unchanged(&["BEGIN: ", "{\"n\": 7}", " END"]);
    unchanged(&["{\"list\": \"one ", "[x] two\"}"]);
    unchanged(&["{\"xml\": \"one ", "<![CDATA[ two\"}"]);
    unchanged(&["See [the docs](http://x) and [1], or {name}."]);
    unchanged(&[
        "<edit>\n<diff><![CDATA[\n<<<<<<< SEARCH\nx = \"a\"\n=======\nx = \"b\"\n>>>>>>> REPLACE\n]]></diff>\n</edit>",
    ]);
    unchanged(&["<list>\n[-] one\n[ ] two\n[x] three\n</list>"]);
}

#[test]
fn each_document_is_mended_where_it_is() {
    shows(&["{'n': 7,}"], "{\"n\": 7}");
    shows(&["One {'n': 7,} two {'m': 8,} three"], "One {\"n\": 7} two {\"m\": 8} three");
    shows(&["{\"text\": \"Good \"morning\"!\"}"], "{\"text\": \"Good \\\"morning\\\"!\"}");
    shows(&["before ", "{'n': 7, 't': 'x',}"], "before {\"n\": 7, \"t\": \"x\"}");
    let (text, _) =
        shown(&["first ", "{'n': 7,}", " and CALL: run {\"x\":1}"], &MendOptions::new());
    assert_eq!(text, "first {\"n\": 7} and CALL: run {\"x\":1}");
}

#[test]
fn a_small_buffer_does_not_lose_text() {
    let options = MendOptions::new().with_limits(Limits::new().with_buffer(20));
    let pieces = ["{\"words\": \"one two three, \"more\": \"", "four five six\"}"];
    let (text, _) = shown(&pieces, &options);
    assert_eq!(text, "{\"words\": \"one two three\", \"more\": \"four five six\"}");
}

#[test]
fn a_key_without_its_value_is_dropped_when_the_text_ends() {
    // One of the systems makes up a null, and `{"foo": null` without its end where its repair fails.
    let (text, outcomes) = shown(&["{\"key\": \"value\", \"rest\":"], &MendOptions::new());
    assert_eq!((text.as_str(), &outcomes[..]), ("{\"key\": \"value\"}", &[Outcome::Closed][..]));
    let (text, outcomes) = shown(&["{\"key\":"], &MendOptions::new());
    assert_eq!((text.as_str(), &outcomes[..]), ("{}", &[Outcome::Closed][..]));
}

#[test]
fn a_closer_that_does_not_match_does_not_swallow_the_rest() {
    let (text, _) = shown(&["{\"a\": [1, 2} words {\"b\":1}"], &MendOptions::new());
    assert!(text.starts_with("{\"a\": [1, 2]}") && text.ends_with("{\"b\":1}"), "{text}");
}

/// A document that a server sends in pieces, one an event, without a format of a provider around them: the
/// events are decoded, and what they hold is read as it comes.
#[test]
fn a_document_in_the_data_of_several_events_is_one() {
    let body = "data: {\"list\": [\n\ndata: {\"n\": 1,},\n\ndata: {\"n\": 2}\n\ndata: ]}\n\n";
    for size in [1, 7, body.len()] {
        let (mut decoder, mut mender) =
            (SseDecoder::new(SseReading::Lenient), Mender::new(MendOptions::new()));
        let mut json = Vec::new();
        let mut take = |event: SseEvent<'_>| {
            if let SseEvent::Message(message) = event {
                mender.push(message.data_bytes(), &mut json);
            }
        };
        body.as_bytes().chunks(size).for_each(|chunk| decoder.push(chunk, &mut take));
        decoder.finish(&mut take);
        assert_eq!(mender.finish(&mut json), Outcome::Repaired, "{size}");
        assert_eq!(String::from_utf8(json).unwrap(), "{\"list\": [{\"n\": 1},{\"n\": 2}]}");
    }
}
