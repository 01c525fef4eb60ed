//! Rewritten bodies: exact bytes, for every split.

use wiremend_core::{MendOptions, Outcome, Policy};
use wiremend_wire::{
    Doubt, ErrorKind, Framing, RewriteMode, RewriteOptions, RewriteOutcome, Rewriter, Rewritten,
    Transcript, WireLimits, WireOptions,
    eventstream::{Header, HeaderValue, encode},
    sse::SseLimits,
    transcribe,
};

use crate::support::{START, decode, doubts, finish, tools};

/// The output.
pub(crate) struct Out {
    pub(crate) bytes: Vec<u8>,
    pub(crate) said: Transcript,
    pub(crate) outcome: RewriteOutcome,
}

impl Out {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).unwrap()
    }
}

fn run(options: RewriteOptions, chunks: &[&[u8]]) -> Out {
    let mut rewriter = Rewriter::new(options);
    let (mut bytes, mut said) = (Vec::new(), Transcript::new());
    let mut take = |piece: Rewritten<'_>| match piece {
        Rewritten::Bytes(more) => bytes.extend_from_slice(more),
        Rewritten::Event(event) => said.record(&event),
        _ => {}
    };
    for chunk in chunks {
        rewriter.push(chunk, &mut take);
    }
    let outcome = rewriter.finish(&mut take);
    assert_eq!(rewriter.withheld(), 0);
    Out { bytes, said, outcome }
}

/// Rewrites a body whole, byte by byte, and split at every position: the output is the same.
pub(crate) fn rewrite(options: &RewriteOptions, body: &[u8]) -> Out {
    let whole = run(options.clone(), &[body]);
    let bytes: Vec<&[u8]> = body.chunks(1).collect();
    let single = run(options.clone(), &bytes);
    assert_eq!(String::from_utf8_lossy(&single.bytes), String::from_utf8_lossy(&whole.bytes));
    assert_eq!((&single.said, single.outcome), (&whole.said, whole.outcome));
    for cut in 1..body.len() {
        let (head, tail) = body.split_at(cut);
        let pair = run(options.clone(), &[head, b"", tail]);
        assert!(pair.bytes == whole.bytes, "cut at {cut}");
        assert_eq!((&pair.said, pair.outcome), (&whole.said, whole.outcome), "cut at {cut}");
    }
    whole
}

fn mending(policy: Policy) -> RewriteOptions {
    let mending = MendOptions::new().with_policy(policy);
    RewriteOptions::new().with_wire(WireOptions::new().with_mending(mending))
}

/// A Chat Completions chunk with one call with those arguments.
pub(crate) fn piece(arguments: &str) -> String {
    let arguments = serde_json::to_string(arguments).unwrap();
    format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":0,\
         \"function\":{{\"arguments\":{arguments}}}}}]}}}}]}}\n\n"
    )
}

const BEGIN: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\
    \"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\
    \"arguments\":\"\"}}]}}]}\n\n";
const END: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n\
     data: [DONE]\n\n";

pub(crate) fn body(pieces: &[&str]) -> String {
    let pieces: String = pieces.iter().map(|text| piece(text)).collect();
    format!("{BEGIN}{pieces}{END}")
}

#[test]
fn only_the_literals_that_change_are_replaced() {
    let broken = body(&["{'ci", "ty': 'Par", "is', \"n\": ", "1,", "}"]);
    let out = rewrite(&RewriteOptions::new(), broken.as_bytes());
    assert_eq!(out.text(), body(&["{\"ci", "ty\": \"Par", "is\", \"n\": ", "1", "}"]));
    assert_eq!(out.outcome, RewriteOutcome::Mended);
    assert_eq!(out.said.calls()[0].outcome(), Outcome::Repaired);
    assert_eq!(out.said.calls()[0].arguments(), "{\"city\": \"Paris\", \"n\": 1}");
}

#[test]
fn valid_bodies_are_forwarded_byte_for_byte() {
    let chat = body(&["{\"a\"", ": \"x\\u00e9\\n", "\"", ", \"b\": [1", "0, true]", "}"]);
    let odd = "\u{feff}: hi\r\n\r\nid: 7\r\nretry: 10\r\nevent: x\r\n data:{\"choices\":\r\n: between\r\ndata:  [{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\r\ndata: \"arguments\":\"{\\u0022a\\\": 1}\"}}]}}]}\r\n\r\n\r\n\r\ndata:[DONE]";
    let ndjson = "{\"message\":{\"role\":\"assistant\",\"content\":\"a\"},\"done\":false}\r\n \
                  {\"done\":true,\"done_reason\":\"stop\"}";
    let array = "[{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\
                 \"f\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"stop\"}]}\n,\r\n{\"choices\":[]}\n]\n";
    for text in
        [&chat, odd, &odd.replace("\r\n", "\r"), ndjson, array, "<html>no</html>", "oops", ""]
    {
        for mode in [RewriteMode::Eager, RewriteMode::Validated] {
            let out = rewrite(&RewriteOptions::new().with_mode(mode), text.as_bytes());
            assert_eq!((out.text(), out.outcome), (text, RewriteOutcome::Unchanged));
        }
    }
}

#[test]
fn valid_arguments_wait_for_no_more_than_a_token() {
    let mut rewriter = Rewriter::new(RewriteOptions::new());
    let mut left = 0;
    let mut push = |text: &str| {
        rewriter.push(text.as_bytes(), &mut |piece: Rewritten<'_>| {
            if let Rewritten::Bytes(bytes) = piece {
                left += bytes.len();
            }
        });
        rewriter.withheld()
    };
    assert_eq!(push(BEGIN), 0);
    assert_eq!(push(&piece("{\"a\": \"words")), 0);
    assert_eq!(push(&piece(" and more")), 0);
    let key = piece("\", \"key");
    assert_eq!(push(&key), key.len());
    assert_eq!(push(": ping\n\n"), key.len() + 8);
    assert_eq!(push(&piece("\": [\"x")[..20]), key.len() + 28);
    assert_eq!(push(&piece("\": [\"x")[20..]), 0);
    assert_eq!(push(": ping\n"), 0);
}

/// No policy closes a call in a body that is sent on: a client would run half of it.
#[test]
fn a_call_that_was_cut_leaves_as_it_came_under_every_policy() {
    for pieces in [&["{\"a\": [\"x"][..], &["{'a': ", "[\"x"], &["{\"a\": ", "tru"]] {
        for end in [END, "", "\n", ": hi\n\n", "data: {\"choi"] {
            let cut: String = pieces.iter().map(|text| piece(text)).collect();
            let cut = format!("{BEGIN}{cut}{end}");
            for mode in [RewriteMode::Eager, RewriteMode::Validated] {
                let out = rewrite(&mending(Policy::PERMISSIVE).with_mode(mode), cut.as_bytes());
                assert_eq!((out.text(), out.outcome), (cut.as_str(), RewriteOutcome::Unchanged));
                assert_eq!(out.said.calls()[0].outcome(), Outcome::Cut);
            }
        }
    }
}

#[test]
fn the_default_policy_forwards_a_cut_call_verbatim() {
    for broken in [body(&["{\"a\": [\"x"]), body(&["{'a': True, 'b': ", "}"])] {
        let out =
            rewrite(&RewriteOptions::new().with_mode(RewriteMode::Validated), broken.as_bytes());
        assert_eq!((out.text(), out.outcome), (broken.as_str(), RewriteOutcome::Unchanged));
        assert!(!out.said.calls()[0].outcome().is_complete());
    }
    let out = rewrite(&mending(Policy::STRICT), body(&["{'a': 1}"]).as_bytes());
    assert_eq!(out.text(), body(&["{'a': 1}"]));
    assert_eq!(out.said.calls()[0].outcome(), Outcome::Invalid);
}

#[test]
fn a_validated_call_is_mended_as_a_whole() {
    let options = RewriteOptions::new().with_mode(RewriteMode::Validated);
    let out = rewrite(&options, body(&["{'a'", ": 1, ", "'b': 2", "}"]).as_bytes());
    assert_eq!(out.text(), body(&["{\"a\"", ": 1, ", "\"b\": 2", "}"]));
    let mut rewriter = Rewriter::new(options);
    rewriter.push(BEGIN.as_bytes(), &mut |_| {});
    rewriter.push(piece("{\"a\": 1").as_bytes(), &mut |_| {});
    assert_eq!(rewriter.withheld(), piece("{\"a\": 1").len());
}

#[test]
fn verbatim_arguments_are_not_reported_as_mended() {
    // A call that is held to its end is not closed; past the limit, it is not repaired either.
    for (pieces, held, outcome) in [
        (&["{\"a\": [1, ", "2"][..], 1 << 20, Outcome::Cut),
        (&["{'a': [1, ", "2]}"], 40, Outcome::Abandoned),
        (&["{\"a\": [1, ", "2]}"], 40, Outcome::Unchanged),
    ] {
        let options = mending(Policy::PERMISSIVE).with_mode(RewriteMode::Validated);
        let out = run(options.with_held(held), &[body(pieces).as_bytes()]);
        assert_eq!(out.text(), body(pieces));
        assert_eq!(out.said.calls()[0].outcome(), outcome, "{pieces:?}");
        assert_eq!(out.said.calls()[0].arguments(), pieces.concat());
    }
}

#[test]
fn arguments_that_a_format_assembles_are_forwarded_verbatim() {
    let part = |part: &str, rest: &str| {
        format!("data: {{\"candidates\":[{{\"content\":{{\"parts\":[{part}]}}{rest}}}]}}\n\n")
    };
    let leaf = |text: &str, goes_on: bool| {
        let leaf =
            format!(r#"{{"jsonPath":"$.a","stringValue":"{text}","willContinue":{goes_on}}}"#);
        part(&format!(r#"{{"functionCall":{{"partialArgs":[{leaf}],"willContinue":true}}}}"#), "")
    };
    let begin = part(r#"{"functionCall":{"name":"f","willContinue":true}}"#, "");
    let end = part(r#"{"functionCall":{}}"#, r#","finishReason":"STOP""#);
    let whole = [begin.as_str(), &leaf("{'x", true), &leaf("\\ud83d", false), &end].concat();
    let cut = [begin.as_str(), &leaf("{'x", true), &leaf("y", true)].concat();
    for policy in [Policy::CONSERVATIVE, Policy::PERMISSIVE] {
        for mode in [RewriteMode::Eager, RewriteMode::Validated] {
            for (text, arguments, outcome) in [
                (&whole, "{\"a\":\"{'x\u{fffd}\"}", Outcome::Unchanged),
                (&cut, "{\"a\":\"{'xy", Outcome::Cut),
            ] {
                let out = rewrite(&mending(policy).with_mode(mode), text.as_bytes());
                assert_eq!((out.text(), out.outcome), (text.as_str(), RewriteOutcome::Unchanged));
                let calls = out.said.calls();
                assert_eq!((calls[0].arguments(), calls[0].outcome()), (arguments, outcome));
            }
        }
    }
}

#[test]
fn a_stop_flushes_the_queue_and_the_rest_passes_through() {
    let broken = body(&["{'a': 1, 'b", "': 2}"]);
    for at in 0..broken.len() {
        let (head, tail) = broken.split_at(at);
        let mut rewriter = Rewriter::new(RewriteOptions::new());
        let mut bytes = Vec::new();
        let mut take = |piece: Rewritten<'_>| {
            if let Rewritten::Bytes(more) = piece {
                bytes.extend_from_slice(more);
            }
        };
        rewriter.push(head.as_bytes(), &mut take);
        assert_eq!(rewriter.stop(&mut take), RewriteOutcome::Stopped);
        assert_eq!(rewriter.withheld(), 0);
        rewriter.push(tail.as_bytes(), &mut take);
        assert_eq!(rewriter.finish(&mut take), RewriteOutcome::Stopped);
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text.replace("\\\"", "'"), broken, "{at}");
    }
}

#[test]
fn the_queue_is_bounded() {
    let long = body(&["{\"a\": 1, \"key", "goes on", "goes on", "': 1, 'b': 1}"]);
    let out =
        rewrite(&RewriteOptions::new().with_held(2 * piece("goes on").len()), long.as_bytes());
    assert_eq!((out.text(), out.outcome), (long.as_str(), RewriteOutcome::Overflow));
    // An event past its limit passes through, and its texts are left alone from there on.
    let limits = WireLimits::new().with_sse(SseLimits::new().with_line(200).with_event(200));
    let options = RewriteOptions::new().with_wire(WireOptions::new().with_limits(limits));
    let long = body(&["{'a': ", &"x".repeat(900), "'b': 1}"]);
    let out = rewrite(&options, long.as_bytes());
    assert_eq!(out.text(), long);
    // So does a part of an event that never ends.
    let endless = format!("{BEGIN}{}{END}", ": no event\ndata\n".repeat(100));
    let out = rewrite(&options, endless.as_bytes());
    assert_eq!((out.text(), out.outcome), (endless.as_str(), RewriteOutcome::Unchanged));
}

#[test]
fn texts_that_have_ended_are_kept_within_a_limit() {
    let turn = |text: &str| {
        let chunks = [piece(text), END.replace("data: [DONE]\n\n", "")].concat();
        BEGIN.replace("c1", text.get(2..4).unwrap_or_default()) + &chunks
    };
    let all = |quote: char| -> String {
        (10..20).map(|n| turn(&format!("{{'{n}': 1}}").replace('\'', &quote.to_string()))).collect()
    };
    let limits = WireLimits::new().with_open_arguments(200);
    let options = RewriteOptions::new().with_wire(WireOptions::new().with_limits(limits));
    let out = run(options, &[all('\'').as_bytes()]);
    assert_eq!((out.text(), out.outcome), (all('"').as_str(), RewriteOutcome::Mended));
}

#[test]
fn calls_past_a_limit_are_forwarded_verbatim_from_there_on() {
    let long = body(&["{'a': 1, ", "'b': 2, ", "'c': 3}"]);
    let limited = |limits: WireLimits, mode: RewriteMode| {
        let wire = WireOptions::new().with_limits(limits);
        RewriteOptions::new().with_wire(wire).with_mode(mode)
    };
    let limits = WireLimits::new().with_arguments(12);
    let out = rewrite(&limited(limits, RewriteMode::Eager), long.as_bytes());
    assert_eq!(out.text(), long);
    assert_eq!(out.said.calls()[0].outcome(), Outcome::Overflow);
    let out = rewrite(&limited(limits, RewriteMode::Validated), long.as_bytes());
    assert_eq!((out.text(), out.outcome), (long.as_str(), RewriteOutcome::Unchanged));
    assert_eq!(out.said.calls()[0].outcome(), Outcome::Overflow);
    // A call past the limit is left alone, and the others are repaired.
    let other =
        |text: &str| piece(text).replace("\"index\":0,\"function\"", "\"index\":1,\"function\"");
    let two = |first: &str| format!("{BEGIN}{}{}{END}", piece(first), other("{'b': 1}"));
    let limits = WireLimits::new().with_calls(1);
    for mode in [RewriteMode::Eager, RewriteMode::Validated] {
        let out = rewrite(&limited(limits, mode), two("{'a': 1}").as_bytes());
        assert_eq!((out.text(), out.said.calls().len()), (two("{\"a\": 1}").as_str(), 1));
        assert_eq!(out.said.errors()[0].kind(), ErrorKind::TooManyCalls);
    }
}

#[test]
fn a_compressed_body_is_refused_and_passes() {
    let body = body(&["{'a': 1}"]);
    let encoded = RewriteOptions::new().with_content_encoding("gzip");
    assert_eq!(rewrite(&encoded.clone(), body.as_bytes()).text(), body);
    assert_eq!(rewrite(&encoded, body.as_bytes()).outcome, RewriteOutcome::Encoded);
    for head in [&b"\x1f\x8b\x08\0\0data: x\n\n"[..], b"\x28\xb5\x2f\xfdxyz"] {
        let out = rewrite(&RewriteOptions::new(), head);
        assert_eq!((&out.bytes[..], out.outcome), (head, RewriteOutcome::Encoded));
    }
    let plain = RewriteOptions::new().with_content_encoding(" Identity");
    assert_eq!(rewrite(&plain, body.as_bytes()).outcome, RewriteOutcome::Mended);
}

#[test]
fn content_is_mended_only_where_it_is_json_by_contract() {
    let chunk = |text: &str| {
        let text = serde_json::to_string(text).unwrap();
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{text}}}}}]}}\n\n")
    };
    let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let whole = |text: &str, more: &str| format!("{}{}{end}", chunk(text), chunk(more));
    let broken = whole("{'a': ", "None,}");
    let out = rewrite(&mending(Policy::PERMISSIVE), broken.as_bytes());
    assert_eq!((out.text(), out.outcome), (broken.as_str(), RewriteOutcome::Unchanged));
    let options = mending(Policy::PERMISSIVE).with_json_content(true);
    let out = rewrite(&options, broken.as_bytes());
    assert_eq!(out.text(), whole("{\"a\": ", "null}"));
    assert_eq!(out.said.text(), "{'a': None,}");
    // What is not complete leaves as it came.
    let cut = whole("{'a': ", "None,");
    let out = rewrite(&options, cut.as_bytes());
    assert_eq!((out.text(), out.outcome), (cut.as_str(), RewriteOutcome::Unchanged));
}

#[test]
fn arguments_that_are_sent_again_count_once() {
    for (pieces, want) in [
        (&["{}", "{\"a\"", ":1}"][..], &["", "{\"a\"", ":1}"][..]),
        (&["{}"], &["{}"]),
        (&["{} {'a'", ":1}"], &["{\"a\"", ":1}"]),
        (&["{\"a\":1}", "{\"a\":1}"], &["{\"a\":1}", ""]),
        (&["{'a'", "{'a': 1", "{'a': 1}"], &["{\"a\"", ": 1", "}"]),
        (&["[", "[1]", "]"], &["[", "[1]", "]"]),
    ] {
        let out = rewrite(&RewriteOptions::new(), body(pieces).as_bytes());
        assert_eq!(out.text(), body(want), "{pieces:?}");
        let after = transcribe(&out.bytes, WireOptions::new());
        assert_eq!(after.calls()[0].arguments(), want.concat());
    }
}

#[test]
fn a_pair_of_surrogates_that_was_split_is_joined() {
    let raw = |text: &str| piece("@").replace('@', text);
    let split = format!("{BEGIN}{}{}{END}", raw(r#"{\"a\": \"x\ud83d"#), raw(r#"\ude00\"}"#));
    let out = rewrite(&RewriteOptions::new(), split.as_bytes());
    assert_eq!(out.text(), body(&["{\"a\": \"x", "😀\"}"]));
}

#[test]
fn repetitions_of_the_whole_are_mended_too() {
    let item = |arguments: &str, status: &str| {
        let arguments = serde_json::to_string(arguments).unwrap();
        format!(
            "{{\"id\":\"i\",\"type\":\"function_call\",\"status\":\"{status}\",\"call_id\":\"c\",\
             \"name\":\"f\",\"arguments\":{arguments}}}"
        )
    };
    let stream = |pieces: [&str; 2]| {
        let deltas: String = pieces
            .iter()
            .map(|text| {
                let text = serde_json::to_string(text).unwrap();
                format!(
                    "data: {{\"type\":\"response.function_call_arguments.delta\",\
                     \"output_index\":0,\"delta\":{text}}}\n\n"
                )
            })
            .collect();
        let whole = pieces.concat();
        let quoted = serde_json::to_string(&whole).unwrap();
        format!(
            "data: {{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{}}}\n\n\
             {deltas}data: {{\"type\":\"response.function_call_arguments.done\",\
             \"output_index\":0,\"arguments\":{quoted}}}\n\n\
             data: {{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{}}}\n\n\
             data: {{\"type\":\"response.completed\",\"response\":{{\"status\":\"completed\",\
             \"output\":[{}]}}}}\n\n",
            item("", "in_progress"),
            item(&whole, "completed"),
            item(&whole, "completed"),
        )
    };
    for mode in [RewriteMode::Eager, RewriteMode::Validated] {
        let options = RewriteOptions::new().with_mode(mode);
        let out = rewrite(&options, stream(["{'a': ", "True}"]).as_bytes());
        assert_eq!(out.text(), stream(["{\"a\": ", "true}"]));
        assert_eq!(out.outcome, RewriteOutcome::Mended);
    }
}

#[test]
fn a_broken_envelope_leaves_mended_where_the_policy_allows_it() {
    let whole = |arguments: &str| body(&[arguments]).replace("]}}]}", "],\"content\":null}}]}");
    let broken = whole("{'a': 1}").replace("\"content\":null", "\"content\":None");
    for mode in [RewriteMode::Eager, RewriteMode::Validated] {
        let out = rewrite(&RewriteOptions::new().with_mode(mode), broken.as_bytes());
        assert_eq!(out.text(), whole("{\"a\": 1}"));
        let out = rewrite(&mending(Policy::STRICT).with_mode(mode), broken.as_bytes());
        assert_eq!((out.text(), out.outcome), (broken.as_str(), RewriteOutcome::Unchanged));
    }
}

#[test]
fn every_framing_is_written_again() {
    let payload = |arguments: &str| {
        let arguments = serde_json::to_string(arguments).unwrap();
        format!(
            "{{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":0,\"id\":\"c\",\
             \"function\":{{\"name\":\"f\",\"arguments\":{arguments}}}}}]}}}}]}}"
        )
    };
    let end = "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}";
    let frame = |payload: &str| {
        let headers = [
            Header::new(":event-type", HeaderValue::Str("any")),
            Header::new(":message-type", HeaderValue::Str("event")),
            Header::new("odd", HeaderValue::Uuid([7; 16])),
        ];
        let mut out = Vec::new();
        encode(&headers, payload.as_bytes(), &mut out).unwrap();
        out
    };
    let bodies = |arguments: &str| {
        let first = payload(arguments);
        let list = [first.as_str(), end];
        let frames: Vec<Vec<u8>> = list.iter().map(|payload| frame(payload)).collect();
        [
            (Framing::Ndjson, list.join("\n").into_bytes()),
            (Framing::JsonArray, format!("[{}]", list.join(",")).into_bytes()),
            (Framing::EventStream, frames.concat()),
        ]
    };
    for ((framing, body), (_, want)) in bodies("{'a': 1}").into_iter().zip(bodies("{\"a\": 1}")) {
        let out = rewrite(&mending(Policy::PERMISSIVE), &body);
        assert_eq!(out.said.framing(), Some(framing));
        assert_eq!(String::from_utf8_lossy(&out.bytes), String::from_utf8_lossy(&want));
        assert_eq!(out.bytes, want);
    }
}

#[test]
fn a_body_that_ends_in_an_event_with_bare_lines_loses_none_of_them() {
    let start = "data: {\"message\":{\"content\":\"a\"},\"done\":false}\n\n";
    let bare = r#"{"message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},"done":false}"#;
    let options = mending(Policy::CONSERVATIVE);
    for end in ["", "\n", "\nindex\ndata: {\"y", "\ndata: {\"y\"}\n", "\nid: 1\n\ndata: {"] {
        let body = format!("{start}data: {{\"x\n{bare}{end}");
        let out = rewrite(&options, body.as_bytes());
        assert_eq!(
            (out.text(), out.outcome),
            (body.as_str(), RewriteOutcome::Unchanged),
            "{end:?}"
        );
    }
}

#[test]
fn a_broken_envelope_after_another_value_is_rewritten_in_place() {
    let body = "data: 0 {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\
        \"function\":{\"name\":\"f\",\"arguments\":\"{'a': 1}\"}}]},\"finish_reason\":\"stop\",\"x\":None}]}\n\n\
        data: [DONE]\n\n";
    let out = rewrite(&mending(Policy::PERMISSIVE), body.as_bytes());
    assert_eq!(
        out.text(),
        "data: 0 {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\
        \"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\": 1}\"}}]},\"finish_reason\":\"stop\",\"x\":null}]}\n\n\
        data: [DONE]\n\n"
    );
}

// A rewriter says of a call what the decoder says, and what is no complete call leaves as it came.

/// Rewrites a body. The outcomes must be those of the decoder.
fn agree(mode: RewriteMode, body: &str) -> Out {
    let out = rewrite(&RewriteOptions::new().with_mode(mode), body.as_bytes());
    assert_eq!(doubts(&out.said), doubts(&decode(body)), "{mode:?} {body}");
    out
}

/// Every mode.
const MODES: [RewriteMode; 2] = [RewriteMode::Eager, RewriteMode::Validated];

/// The same, for a body without a complete call.
fn unchanged(mode: RewriteMode, body: &str) -> Out {
    let out = agree(mode, body);
    assert_eq!((out.text(), out.outcome), (body, RewriteOutcome::Unchanged), "{mode:?}");
    assert!(out.said.calls().iter().all(|call| !call.outcome().is_complete()));
    out
}

#[test]
fn a_damaged_envelope_leaves_as_it_came() {
    let (damaged, whole) = ("\"function\":{\"arguments\" \"", "\"function\":{\"arguments\":\"");
    let pieces = ["{\"a\":1", ",\"b\":2}"];
    let broken = body(&pieces).replace(&format!("{whole},"), &format!("{damaged},"));
    assert_ne!(broken, body(&pieces));
    let first = body(&["{'a': 1}"]).replace("\"type\":\"function\",", "\"type\":\"function\",,");
    for broken in [&broken, &first] {
        for mode in [RewriteMode::Eager, RewriteMode::Validated] {
            let out = unchanged(mode, broken);
            assert_eq!(doubts(&out.said), [("cut", Some(Doubt::DamagedEvent))]);
        }
    }
    // A call that begins later may be one whose start was lost there.
    let lost = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},}]}\n\n";
    for mode in [RewriteMode::Eager, RewriteMode::Validated] {
        unchanged(mode, &(lost.to_owned() + &body(&["{'a': 1}"])));
        let out = agree(mode, &(lost.to_owned() + &body(&["{\"a\": 1}"])));
        assert_eq!(out.outcome, RewriteOutcome::Unchanged);
        assert!(out.said.calls()[0].outcome().is_complete());
    }
}

#[test]
fn validated_leaves_every_call_unchanged_that_is_not_complete() {
    let call = |arguments: &str| {
        let arguments = serde_json::to_string(arguments).unwrap();
        tools(&format!(
            r#"{{"index":0,"id":"x","function":{{"name":"run","arguments":{arguments}}}}}"#
        ))
    };
    let lost = "data: {\"choices\"\n\n";
    let error = "data: {\"error\":{\"message\":\"overloaded\"}}\n\n";
    let nameless = piece("{'a': 1}");
    for (body, doubt) in [
        // Lost before the call began: what looks like a defect may be its place.
        ([lost, &call("{'a':1}"), &finish("tool_calls")].concat(), Doubt::LostEvent),
        ([&call("{'a':"), lost, &piece("1}"), &finish("tool_calls")].concat(), Doubt::LostEvent),
        ([&call("{'a':1}"), error, &finish("tool_calls")].concat(), Doubt::StreamError),
        ([nameless.as_str(), &finish("tool_calls")].concat(), Doubt::MissingStart),
        ([&call("{'a':1}"), finish("length").as_str()].concat(), Doubt::UncleanStop),
        ([call("{'a':1}")].concat(), Doubt::BodyEnded),
        ([&call("12}"), finish("tool_calls").as_str()].concat(), Doubt::NoObject),
    ] {
        let out = unchanged(RewriteMode::Validated, &body);
        assert_eq!(doubts(&out.said), [("cut", Some(doubt))], "{body}");
    }
}

/// What is sent twice, or in halves, is not joined in a call that is not complete.
#[test]
fn validated_does_not_join_the_pieces_of_a_call_that_is_not_complete() {
    let pieces = |list: &[&str], reason: &str| {
        let list: String = list.iter().map(|text| piece(text)).collect();
        tools(START) + &list + &finish(reason)
    };
    let resent = ["{'city': ", "{'city': 'Os", "{'city': 'Oslo'}"];
    let out = agree(RewriteMode::Validated, &pieces(&resent, "tool_calls"));
    assert_eq!(out.said.calls()[0].outcome(), Outcome::Repaired);
    assert_eq!(out.outcome, RewriteOutcome::Mended);
    unchanged(RewriteMode::Validated, &pieces(&resent, "length"));
    unchanged(RewriteMode::Validated, &pieces(&["{}", "{'city': 'Oslo'}"], "length"));
    let half = |text: &str| tools(&format!(r#"{{"index":0,"function":{{"arguments":"{text}"}}}}"#));
    let halves = [half("{'e': '\\ud83d"), half("\\ude00'}")].concat();
    unchanged(RewriteMode::Validated, &(tools(START) + &halves + &finish("length")));
}

/// What the last quote means depends on what follows, so the start of another call does not end this one.
/// The numbers of the events show it; without them, nothing would.
#[test]
fn content_that_lost_a_piece_leaves_as_it_came() {
    let at = r#""output_index":0,"content_index":0,"item_id":"i""#;
    let body = |lost: usize| {
        let pieces = ["{'a': 'x", "y", "z'}"];
        let deltas = pieces.iter().enumerate().map(|(number, text)| {
            format!(
                r#"{{"type":"response.output_text.delta",{at},"sequence_number":{number},"delta":"{text}"}}"#
            )
        });
        let end = r#"{"type":"response.completed","sequence_number":3,"response":{"status":"completed","output":[]}}"#;
        let events = deltas.chain([end.to_owned()]).enumerate();
        let left = events.filter(|(number, _)| *number != lost);
        left.map(|(_, event)| format!("data: {event}\n\n")).collect::<String>()
    };
    for mode in MODES {
        let options = RewriteOptions::new().with_mode(mode).with_json_content(true);
        assert_eq!(rewrite(&options, body(9).as_bytes()).outcome, RewriteOutcome::Mended);
        let out = rewrite(&options, body(1).as_bytes());
        assert_eq!((out.text(), out.outcome), (&*body(1), RewriteOutcome::Unchanged));
    }
}

#[test]
fn a_call_that_could_go_on_is_as_open_in_a_rewriter_as_in_a_decoder() {
    let call = |index: u8, arguments: &str| {
        let arguments = serde_json::to_string(arguments).unwrap();
        tools(&format!(
            r#"{{"index":{index},"id":"c{index}","function":{{"name":"f","arguments":{arguments}}}}}"#
        ))
    };
    let body = [call(0, "{\"t\": \"\"platform\"}"), call(1, "{\"s\": "), finish("length")].concat();
    for mode in [RewriteMode::Eager, RewriteMode::Validated] {
        let out = agree(mode, &body);
        let cut = ("cut", Some(Doubt::UncleanStop));
        assert_eq!(doubts(&out.said), [cut, cut]);
    }
    unchanged(RewriteMode::Validated, &body);
    let body = [call(0, "{'t': 1}"), call(1, "{\"s\": "), finish("length")].concat();
    let out = agree(RewriteMode::Validated, &body);
    assert_eq!(out.said.calls()[0].outcome(), Outcome::Repaired);
}

/// A call in pieces, and its end.
fn call(pieces: &[&str], rest: &str) -> String {
    let pieces: String = pieces.iter().map(|text| piece(text)).collect();
    tools(START) + &pieces + rest
}

/// A client that closes partial JSON by itself would run what it could not read before.
#[test]
fn nothing_leaves_repaired_of_a_call_that_is_not_complete() {
    let lost = "data: {\"choices\"\n\n".to_owned() + &finish("tool_calls");
    for rest in [finish("length"), lost, String::new()] {
        for pieces in [
            &["{'city': 'Oslo'}"][..],
            &["{\"city\": \"Oslo", "\",}"],
            &["{'city': 'Os", "lo', 'x'", ": 1}"],
            &["{'city': ", "{'city': 'Os", "{'city': 'Oslo'}"],
        ] {
            MODES.iter().for_each(|mode| drop(unchanged(*mode, &call(pieces, &rest))));
        }
    }
    // Refused at the end of the call.
    for pieces in [
        &["{\"to\": 'a'", ", \"n\": e2", "}-4"][..],
        &["{'a': 1", ", 'b': NaN", "}"],
        &["{\"size\": {", "{\"w\": 1}", "}"],
        &[": ", "12", "0, ", "\"all\": true}"],
    ] {
        MODES.iter().for_each(|mode| drop(unchanged(*mode, &call(pieces, &finish("tool_calls")))));
    }
}

/// Valid arguments do not wait. From the first byte that needs a repair, the call is held.
#[test]
fn what_is_valid_leaves_at_once_and_the_rest_at_the_end() {
    let pieces = ["{\"city\": \"Os", "lo\", \"n\": [\"y", " z", "\", 'x'", "], \"end\": ", "true}"];
    let mut rewriter = Rewriter::new(RewriteOptions::new());
    let mut bytes = Vec::new();
    rewriter.push(tools(START).as_bytes(), &mut |piece| take(&mut bytes, &piece));
    for (number, text) in pieces.iter().enumerate() {
        rewriter.push(piece(text).as_bytes(), &mut |piece| take(&mut bytes, &piece));
        assert_eq!(rewriter.withheld() > 0, number >= 3, "{text}");
        let so_far = call(&pieces[..=number.min(2)], "");
        assert_eq!(String::from_utf8_lossy(&bytes), so_far);
    }
    rewriter.push(finish("tool_calls").as_bytes(), &mut |piece| take(&mut bytes, &piece));
    assert_eq!(rewriter.withheld(), 0);
    let whole = call(&pieces, &finish("tool_calls"));
    assert_eq!(String::from_utf8(bytes).unwrap(), whole.replace("'x'", "\\\"x\\\""));
}

/// A bracket that was dropped as doubled may be closed again, so the document has not ended for sure.
#[test]
fn the_end_of_a_document_waits_whatever_may_follow_it() {
    for text in ["{{a: 1}", "{{\"a\": 1}", "{{{'a': [1]} "] {
        for rest in [finish("length"), "data: {\"choices\"\n\n".to_owned(), String::new()] {
            unchanged(RewriteMode::Eager, &call(&[text], &rest));
        }
        let out = agree(RewriteMode::Eager, &call(&[text], &finish("tool_calls")));
        assert!(out.said.calls()[0].outcome().is_complete(), "{text}");
    }
}

/// Arguments that ended too early stay as they ended: a wire is not searched, so what follows is no member.
#[test]
fn what_follows_arguments_is_dropped_however_much_has_left() {
    let body = call(&["{\"a\": 1}", ", \"b\": 2", "}"], &finish("tool_calls"));
    let dropped = call(&["{\"a\": 1}", "", ""], &finish("tool_calls"));
    for mode in MODES {
        let options = |policy: Policy| {
            let mending = MendOptions::new().with_policy(policy);
            let wire = WireOptions::new().with_mending(mending);
            RewriteOptions::new().with_wire(wire).with_mode(mode)
        };
        let out = rewrite(&options(Policy::PERMISSIVE), body.as_bytes());
        assert_eq!(out.text(), dropped);
        let out = rewrite(&options(Policy::CONSERVATIVE), body.as_bytes());
        assert_eq!((out.text(), out.said.calls()[0].outcome()), (&body[..], Outcome::Invalid));
    }
}

/// What was sent twice has left once, and counts once, if the call is complete.
#[test]
fn pieces_that_were_sent_again_wait_for_the_end() {
    let pieces = ["{\"city\": ", "{\"city\": \"Os", "{\"city\": \"Oslo\"}"];
    let end = finish("tool_calls");
    let out = agree(RewriteMode::Eager, &call(&pieces, &end));
    assert_eq!(out.text(), call(&["{\"city\": ", "\"Os", "lo\"}"], &end));
    assert!(out.said.calls()[0].outcome().is_complete());
    // An empty object in pieces before the arguments, of which nothing has left.
    let out = agree(RewriteMode::Validated, &call(&["{", "}", "{'a': 1}"], &end));
    assert_eq!(out.text(), call(&["", "", "{\"a\": 1}"], &end));
}

/// Where a server writes events as Python does, no client reads them as they came.
#[test]
fn an_event_that_is_mended_waits_for_the_end_of_its_calls() {
    let python = |text: &str| {
        let single = text.replace("\\\"", "\u{1}").replace('"', "'").replace('\u{1}', "\"");
        single.replace("null", "None")
    };
    for (pieces, reason, mended) in [
        (["{\"a\": ", "1}"], "tool_calls", true),
        (["{\"a\": ", "1"], "tool_calls", false),
        (["{\"a\": ", "1"], "length", false),
    ] {
        let pieces: String = pieces.iter().map(|text| piece(text)).collect();
        let events = tools(START) + &pieces;
        let end = finish(reason);
        let out = rewrite(&RewriteOptions::new(), (python(&events) + &end).as_bytes());
        let want = if mended { events } else { python(&events) };
        assert_eq!(out.text(), want + &end, "{reason}");
    }
}

/// Bytes of the body as a client gets them, if `end` ends it after this much.
fn ended(body: &str, end: impl FnOnce(&mut Rewriter, &mut Vec<u8>)) -> String {
    let mut rewriter = Rewriter::new(RewriteOptions::new());
    let mut bytes = Vec::new();
    rewriter.push(body.as_bytes(), &mut |piece| take(&mut bytes, &piece));
    end(&mut rewriter, &mut bytes);
    assert_eq!(rewriter.withheld(), 0);
    String::from_utf8(bytes).unwrap()
}

fn take(into: &mut Vec<u8>, piece: &Rewritten<'_>) {
    if let Rewritten::Bytes(bytes) = piece {
        into.extend_from_slice(bytes);
    }
}

#[test]
fn upstream_that_fails_completes_no_call() {
    let stop = |rewriter: &mut Rewriter, bytes: &mut Vec<u8>| {
        let outcome = rewriter.stop(&mut |piece| take(bytes, &piece));
        assert_eq!(outcome, RewriteOutcome::Stopped);
        // What an earlier error left over passes.
        rewriter.push(b": more", &mut |piece| take(bytes, &piece));
    };
    let text = ended(&call(&["{'a': 1, ", "'b': 2}"], ""), stop);
    assert_eq!(text, call(&["{'a': 1, ", "'b': 2}"], ": more"));
    let text = ended(&call(&["{'a': 1, 'b': 2}"], ""), stop);
    assert_eq!(text, call(&["{'a': 1, 'b': 2}"], ": more"));
    let text = ended(&call(&["{\"a\": 1, ", "\"b\": 2}"], ""), stop);
    assert_eq!(text, call(&["{\"a\": 1, ", "\"b\": 2}"], ": more"));
}

#[test]
fn what_is_released_at_a_limit_leaves_as_it_came() {
    let next = |index: u8, text: &str| {
        piece(text).replace("\"index\":0,\"f", &format!("\"index\":{index},\"f"))
    };
    let other = tools(&START.replace("\"index\":0", "\"index\":1").replace("\"x\"", "\"y\""));
    let rest = piece(" 2}") + &other + &next(1, "{'c': 3}") + &finish("tool_calls");
    let text = ended(&call(&["{'a': 1", ", 'b':"], ""), |rewriter, bytes| {
        rewriter.release(&mut |piece| take(bytes, &piece));
        assert_eq!(rewriter.withheld(), 0);
        rewriter.push(rest.as_bytes(), &mut |piece| take(bytes, &piece));
        let outcome = rewriter.finish(&mut |piece| take(bytes, &piece));
        assert_eq!(outcome, RewriteOutcome::Overflow);
    });
    // The second call begins after the limit.
    let rest = piece(" 2}") + &other + &next(1, "{\"c\": 3}") + &finish("tool_calls");
    assert_eq!(text, call(&["{'a': 1", ", 'b':"], &rest));
}

/// A limit on the arguments of one call.
#[test]
fn a_call_past_a_limit_leaves_as_it_came() {
    let limits = WireLimits::new().with_arguments(20);
    let options = RewriteOptions::new().with_wire(WireOptions::new().with_limits(limits));
    let body = call(&["{'a': 1, ", "\"b\": 2, ", "\"c\": 3}"], &finish("tool_calls"));
    let out = rewrite(&options, body.as_bytes());
    assert_eq!(out.text(), body);
    assert_eq!(out.said.calls()[0].outcome(), Outcome::Overflow);
}
