//! A rewriter says of a call what the decoder says, and what is no complete call leaves as it came.

use crate::{
    rewrite::{Out, body, piece, rewrite},
    support::{START, decode, doubts, finish, tools},
};
use wiremend_core::{MendOptions, Outcome, Policy};
use wiremend_wire::{
    Doubt, RewriteMode, RewriteOptions, RewriteOutcome, Rewriter, Rewritten, WireLimits,
    WireOptions,
};

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

/// The whole text shows that something must change which has left already.
#[test]
fn a_repair_behind_what_has_left_is_not_made() {
    let mending = MendOptions::new().with_policy(Policy::PERMISSIVE);
    let options = RewriteOptions::new().with_wire(WireOptions::new().with_mending(mending));
    let body = call(&["{\"a\": 1}", ", \"b\": 2", "}"], &finish("tool_calls"));
    let out = rewrite(&options.clone().with_mode(RewriteMode::Validated), body.as_bytes());
    assert_eq!(out.text(), call(&["{\"a\": 1", ", \"b\": 2", "}"], &finish("tool_calls")));
    let out = rewrite(&options, body.as_bytes());
    assert_eq!(out.text(), body);
    assert_eq!(out.said.calls()[0].outcome(), Outcome::Abandoned);
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
