//! A rewriter says of a call what the decoder says, and what is no complete call leaves as it came, or cut off.

use crate::{
    rewrite::{Out, body, piece, rewrite},
    support::{START, decode, doubts, finish, tools},
};
use jsonmend_core::Outcome;
use jsonmend_core::{Options, Policy};
use jsonmend_wire::{
    Doubt, RewriteMode, RewriteOptions, RewriteOutcome, Rewriter, Rewritten, WireLimits,
    WireOptions, transcribe,
};

/// Rewrites a body. The outcomes must be those of the decoder.
fn agree(mode: RewriteMode, body: &str) -> Out {
    let out = rewrite(&RewriteOptions::new().with_mode(mode), body.as_bytes());
    assert_eq!(doubts(&out.said), doubts(&decode(body)), "{mode:?} {body}");
    out
}

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
        for mode in [RewriteMode::Append, RewriteMode::Validated] {
            let out = unchanged(mode, broken);
            assert_eq!(doubts(&out.said), [("cut", Some(Doubt::DamagedEvent))]);
        }
    }
    // A call that begins later may be one whose start was lost there.
    let lost = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},}]}\n\n";
    for mode in [RewriteMode::Append, RewriteMode::Validated] {
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
#[test]
fn a_call_that_could_go_on_is_as_open_in_a_rewriter_as_in_a_decoder() {
    let call = |index: u8, arguments: &str| {
        let arguments = serde_json::to_string(arguments).unwrap();
        tools(&format!(
            r#"{{"index":{index},"id":"c{index}","function":{{"name":"f","arguments":{arguments}}}}}"#
        ))
    };
    let body = [call(0, "{\"t\": \"\"platform\"}"), call(1, "{\"s\": "), finish("length")].concat();
    for mode in [RewriteMode::Append, RewriteMode::Validated] {
        let out = agree(mode, &body);
        let cut = ("cut", Some(Doubt::UncleanStop));
        assert_eq!(doubts(&out.said), [cut, cut]);
    }
    unchanged(RewriteMode::Validated, &body);
    let body = [call(0, "{'t': 1}"), call(1, "{\"s\": "), finish("length")].concat();
    let out = agree(RewriteMode::Validated, &body);
    assert_eq!(out.said.calls()[0].outcome(), Outcome::Repaired);
}

/// The last bracket of a document that needed repairs waits for the end of its call.
#[test]
fn append_takes_back_what_was_not_emitted_of_a_call_that_is_cut() {
    let pieces = |list: &[&str], rest: &str| {
        let list: String = list.iter().map(|text| piece(text)).collect();
        tools(START) + &list + rest
    };
    let lost = "data: {\"choices\"\n\n".to_owned() + &finish("tool_calls");
    for rest in [finish("length"), lost, String::new()] {
        // The arguments come in one event, which is unchanged.
        unchanged(RewriteMode::Append, &pieces(&["{'city': 'Oslo'}"], &rest));
        unchanged(RewriteMode::Append, &pieces(&["{\"city\": \"Oslo", "\",}"], &rest));
        // The first one was emitted mended, so the rest would complete it.
        let out = agree(RewriteMode::Append, &pieces(&["{'city': 'Os", "lo', 'x'", ": 1}"], &rest));
        assert_eq!(out.text(), pieces(&["{\"city\": \"Os", "lo\", \"x\"", ": 1"], &rest));
    }
    // A call that is complete leaves mended, and what is valid does not wait.
    let complete = |list: &[&str]| pieces(list, &finish("tool_calls"));
    let out = agree(RewriteMode::Append, &complete(&["{'city': ", "'Oslo'}", "\n"]));
    assert_eq!(out.text(), complete(&["{\"city\": ", "\"Oslo\"}", "\n"]));
    for (text, waits) in [("{\"city\": 1}", false), ("{'city': 1}", true)] {
        let mut rewriter = Rewriter::new(RewriteOptions::new());
        rewriter.push(pieces(&[text], "").as_bytes(), &mut |_| {});
        assert_eq!(rewriter.withheld() > 0, waits, "{text}");
        rewriter.push(finish("tool_calls").as_bytes(), &mut |_| {});
        assert_eq!(rewriter.withheld(), 0, "{text}");
    }
}

/// A call in pieces, and its end.
fn call(pieces: &[&str], rest: &str) -> String {
    let pieces: String = pieces.iter().map(|text| piece(text)).collect();
    tools(START) + &pieces + rest
}

/// The outcomes of the calls of a body.
fn outcomes(body: &str) -> Vec<Outcome> {
    transcribe(body.as_bytes(), WireOptions::new())
        .calls()
        .iter()
        .map(|call| call.outcome())
        .collect()
}

/// What a repair at the beginning and the rest as it came would be together, the model has not said.
#[test]
fn a_call_that_is_refused_after_a_repair_has_left_is_cut_off_there() {
    let end = finish("tool_calls");
    for (pieces, left) in [
        // The document has ended, and what follows it is refused.
        (["{\"to\": 'a'", ", \"n\": e2", "}-4"], ["{\"to\": \"a\"", ", \"n\": \"e2", ""]),
        // Python reads it.
        (["{'a': 1", ", 'b': NaN", "}"], ["{\"a\": 1", "", ""]),
        // One bracket was written twice, or too few of them.
        (["{\"size\": {", "{\"w\": 1}", "}"], ["{\"size\": {", "\"w\": 1}", ""]),
    ] {
        let out = agree(RewriteMode::Append, &call(&pieces, &end));
        assert_eq!(out.text(), call(&left, &end));
        assert!(!out.said.calls()[0].outcome().is_complete());
        assert_eq!(out.said.calls()[0].raw(), pieces.concat());
        assert_eq!(outcomes(out.text()), [Outcome::Cut]);
        // Nothing has left repaired, so everything leaves as it came.
        unchanged(RewriteMode::Append, &call(&[&pieces.concat()], &end));
        unchanged(RewriteMode::Validated, &call(&pieces, &end));
    }
}

/// A bracket that was dropped as doubled may be closed again, so the document has not ended for sure.
#[test]
fn the_end_of_a_document_waits_whatever_may_follow_it() {
    for text in ["{{a: 1}", "{{\"a\": 1}", "{{{'a': [1]} "] {
        for rest in [finish("length"), "data: {\"choices\"\n\n".to_owned(), String::new()] {
            unchanged(RewriteMode::Append, &call(&[text], &rest));
        }
        let out = agree(RewriteMode::Append, &call(&[text], &finish("tool_calls")));
        assert!(out.said.calls()[0].outcome().is_complete(), "{text}");
    }
}

/// A part of a number would be another number.
#[test]
fn a_number_is_not_cut_off_inside() {
    let end = finish("tool_calls");
    let body = call(&[": ", "12", "0, ", "\"all\": true}"], &end);
    let out = rewrite(&RewriteOptions::new(), body.as_bytes());
    assert_eq!(out.text(), call(&[" ", "", "", ""], &end));
    assert!(!out.said.calls()[0].outcome().is_complete());
}

/// A stream decides with less in sight than the whole text, and may repair what that shows to be in doubt.
#[test]
fn append_completes_a_call_only_as_the_whole_text_shows_it() {
    let end = finish("tool_calls");
    for (pieces, left) in [
        (["{'a': [\"x\"]", "]", "}"], ["{\"a\": [\"x\"]", "", ""]),
        (["{\"s\": [\" \"", "y\",\" z", "]}"], ["{\"s\": [\" \\\"", "y\\\",\", \"z", "\"]"]),
    ] {
        let out = agree(RewriteMode::Append, &call(&pieces, &end));
        assert_eq!(out.text(), call(&left, &end));
        assert_eq!(out.said.calls()[0].outcome(), Outcome::Invalid);
        assert_eq!(outcomes(out.text()), [Outcome::Cut]);
        unchanged(RewriteMode::Validated, &call(&pieces, &end));
    }
}

/// What was sent twice has left once, so the rest would complete it.
#[test]
fn a_call_whose_resent_pieces_were_joined_is_cut_off_too() {
    let pieces = ["{\"city\": ", "{\"city\": \"Os", "{\"city\": \"Oslo\"}"];
    let lost = "data: {\"choices\"\n\n".to_owned() + &finish("tool_calls");
    let out = agree(RewriteMode::Append, &call(&pieces, &lost));
    assert_eq!(out.text(), call(&["{\"city\": ", "\"Os", "lo\""], &lost));
    let whole = call(&pieces, &finish("tool_calls"));
    let out = agree(RewriteMode::Append, &whole);
    assert_eq!(out.text(), call(&["{\"city\": ", "\"Os", "lo\"}"], &finish("tool_calls")));
    assert!(out.said.calls()[0].outcome().is_complete());
}

/// The provider states the whole arguments again.
#[test]
fn a_repetition_of_a_call_that_was_cut_off_is_cut_off_if_it_is_the_same_text() {
    let event = |kind: &str, rest: &str| {
        format!(
            "event: {kind}\ndata: {{\"type\":\"{kind}\",\"item_id\":\"i\",\"output_index\":0,{rest}}}\n\n"
        )
    };
    let item =
        r#""item":{"type":"function_call","id":"i","call_id":"c","name":"f","arguments":""}"#;
    let text = |text: &str| serde_json::to_string(text).unwrap();
    let body = |pieces: &[&str], whole: &str| {
        let kind = "response.function_call_arguments";
        let deltas: String = pieces
            .iter()
            .map(|piece| event(&format!("{kind}.delta"), &format!("\"delta\":{}", text(piece))))
            .collect();
        let done = event(&format!("{kind}.done"), &format!("\"arguments\":{}", text(whole)));
        event("response.output_item.added", item) + &deltas + &done
    };
    let raw = body(&["{'a': ", "1, 'b'", ": NaN}"], "{'a': 1, 'b': NaN}");
    let out = agree(RewriteMode::Append, &raw);
    assert_eq!(out.text(), body(&["{\"a\": ", "1", ""], "{\"a\": 1"));
    assert_eq!(outcomes(out.text()), [Outcome::Cut]);
    // Another text is what the provider says, and it does not agree with what it sent in pieces.
    let raw = body(&["{'a': ", "1, 'b'", ": NaN}"], "{\"a\": 2}");
    let out = agree(RewriteMode::Append, &raw);
    assert_eq!(out.text(), body(&["{\"a\": ", "1", ""], "{\"a\": 2}"));
    assert_eq!(outcomes(out.text()), [Outcome::Cut]);
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
    let fail = |rewriter: &mut Rewriter, bytes: &mut Vec<u8>| {
        let outcome = rewriter.fail(&mut |piece| take(bytes, &piece));
        assert_eq!(outcome, RewriteOutcome::Stopped);
        // What an earlier error left over passes.
        rewriter.push(b": more", &mut |piece| take(bytes, &piece));
    };
    let text = ended(&call(&["{'a': 1, ", "'b': 2}"], ""), fail);
    assert_eq!(text, call(&["{\"a\": 1, ", "\"b\": 2"], ": more"));
    // Nothing of it has left.
    let text = ended(&call(&["{'a': 1, 'b': 2}"], ""), fail);
    assert_eq!(text, call(&["{'a': 1, 'b': 2}"], ": more"));
    let text = ended(&call(&["{\"a\": 1, ", "\"b\": 2}"], ""), fail);
    assert_eq!(text, call(&["{\"a\": 1, ", "\"b\": 2}"], ": more"));
}

#[test]
fn what_is_released_at_a_limit_is_not_completed_afterwards() {
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
    let rest = piece("") + &other + &next(1, "{\"c\": 3}") + &finish("tool_calls");
    assert_eq!(text, call(&["{\"a\": 1", ""], &rest));
    assert_eq!(outcomes(&text), [Outcome::Cut, Outcome::Unchanged]);
}

/// A limit on the arguments of one call, after a repair has left.
#[test]
fn a_call_past_a_limit_is_cut_off_where_its_repair_has_left() {
    let limits = WireLimits::new().with_arguments(20);
    let options = RewriteOptions::new().with_wire(WireOptions::new().with_limits(limits));
    let end = finish("tool_calls");
    let out = rewrite(&options, call(&["{'a': 1, ", "\"b\": 2, ", "\"c\": 3}"], &end).as_bytes());
    assert_eq!(out.text(), call(&["{\"a\": 1, ", "\"b\": 2", ""], &end));
    assert_eq!(out.said.calls()[0].outcome(), Outcome::Overflow);
    assert_eq!(outcomes(out.text()), [Outcome::Cut]);
}

/// A policy that closes what was cut off still does.
#[test]
fn the_permissive_policy_still_closes_a_call_that_was_cut_off() {
    let mending = Options::new().with_policy(Policy::PERMISSIVE);
    let options = RewriteOptions::new().with_wire(WireOptions::new().with_mending(mending));
    let body = call(&["{'a': ", "[1, 2"], &finish("length"));
    let out = rewrite(&options, body.as_bytes());
    assert_eq!(out.outcome, RewriteOutcome::Mended);
    assert_eq!(out.said.calls()[0].arguments(), "{\"a\": [1, 2]}");
}
