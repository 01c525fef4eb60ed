//! A rewriter says of a call what the decoder says, and what is no complete call leaves as it came.

use crate::{
    rewrite::{Out, body, piece, rewrite},
    support::{START, decode, doubts, finish, tools},
};
use jsonmend_core::Outcome;
use jsonmend_wire::{Doubt, RewriteMode, RewriteOptions, RewriteOutcome, Rewriter};

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
        // The first one was emitted mended, the rest is what was received, and not the end of a string.
        let out = agree(RewriteMode::Append, &pieces(&["{'city': 'Os", "lo', 'x'", ": 1}"], &rest));
        assert_eq!(out.text(), pieces(&["{\"city\": \"Os", "lo\", \"x\"", ": 1}"], &rest));
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
