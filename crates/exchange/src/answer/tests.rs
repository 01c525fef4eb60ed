//! A body of each format through an answer, however it is divided, and what leaves of it beside what came.

use serde_json::{Value, json};
use wiremend_testkit::{Seed, bodies::Shape, cuts::Cut, laws::wire::never_more_runnable};

use super::*;
use crate::{Arguments, Content, Exchanges, Mending, Repair, ToolRule};

/// Every way in which an answer may be mended.
fn settings() -> Vec<Mending> {
    let rules = ["tool_0", "*"].map(|name| ToolRule::new(name).unwrap());
    let [first, rest] = rules;
    vec![
        Mending::new(),
        Mending::new().with_mode(Mode::Validated),
        Mending::new().with_cut(CutCalls::Withhold),
        Mending::new().with_cut(CutCalls::Withhold).with_mode(Mode::Validated),
        Mending::new().with_content(Content::Json).with_policy(Repair::Lossy),
        Mending::new().with_calls_in_text(CallsInText::Auto),
        Mending::new().with_comment(true).with_tools(vec![
            first.with_arguments(Arguments::Pass),
            rest.with_policy(Repair::Exact),
        ]),
    ]
}

/// A request that declares the tools of these bodies.
fn exchange(mending: Mending) -> Exchange {
    let tool = |name: &str| {
        let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
        json!({"type": "function", "function": {"name": name, "parameters": schema}})
    };
    let body = json!({"stream": true, "tools": [tool("tool_0"), tool("tool_1")]}).to_string();
    let request = Exchanges::new(mending).request("POST", "/v1/chat/completions", []).unwrap();
    request.read(body.as_bytes())
}

fn kind(shape: Shape) -> &'static str {
    match shape.framing() {
        Framing::Sse => "text/event-stream",
        Framing::Ndjson => "application/x-ndjson",
        Framing::EventStream => "application/vnd.amazon.eventstream",
        _ => "application/json",
    }
}

/// What left, and what is said of it.
#[derive(Debug, PartialEq)]
struct Done {
    sent: Vec<u8>,
    said: Value,
    comment: Option<String>,
}

fn through<'b>(mut answer: Answer, chunks: impl Iterator<Item = &'b [u8]>, end: End) -> Done {
    let mut sent = Vec::new();
    let mut take = |piece: Rewritten<'_>| {
        if let Rewritten::Bytes(bytes) = piece {
            sent.extend_from_slice(bytes);
        }
    };
    chunks.for_each(|chunk| answer.push(chunk, &mut take));
    match end {
        End::Finish => answer.finish(&mut take),
        _ => answer.stop(&mut take),
    }
    Done { sent, said: answer.account().to_json(), comment: answer.comment(None) }
}

/// Texts and the pieces of calls: mended, cut off, not fitting, and in the text.
const SAID: [(&[&str], &[&[&str]]); 4] = [
    (&["so ", "far"], &[&["{'a': ", "1,", "}"], &["{\"a\": \"2\"}"]]),
    (&[], &[&["{'a': [1, ", "'x"]]),
    (&["{'a': ", "1}"], &[]),
    (&["<tool_call>\n{\"name\": \"tool_0\", ", "\"arguments\": {'a': 1}}\n</tool_call>"], &[]),
];

#[test]
fn a_body_of_each_format_leaves_the_same_however_it_is_divided() {
    let (mut mended, mut cut) = (0, 0);
    for shape in Shape::ALL {
        for mending in settings() {
            let exchange = exchange(mending);
            let new = || exchange.answer(200, [("content-type", kind(shape).as_bytes())]);
            for (text, calls) in SAID {
                let body = shape.body(text, calls);
                let half = &body[..body.len() * 2 / 3];
                for (body, end) in
                    [(&body[..], End::Finish), (half, End::Finish), (half, End::Stop)]
                {
                    let whole = through(new(), std::iter::once(body), end);
                    let cuts = [Cut::bytes(body.len()), Cut::every(7, body.len())];
                    let cuts = cuts.into_iter().chain([Cut::special(body)]);
                    for cut in cuts {
                        let divided = through(new(), cut.chunks(body), end);
                        assert_eq!(divided, whole, "{shape} {text:?} {calls:?} {cut:?}");
                    }
                    // The rewriter does it, and nothing else does.
                    let notes = FitNotes::default();
                    let mut rewriter = Rewriter::new(options(&exchange, Some(kind(shape)), &notes));
                    let mut sent = Vec::new();
                    let mut take = |piece: Rewritten<'_>| {
                        if let Rewritten::Bytes(bytes) = piece {
                            sent.extend_from_slice(bytes);
                        }
                    };
                    rewriter.push(body, &mut take);
                    match end {
                        End::Finish => rewriter.finish(&mut take),
                        _ => rewriter.stop(&mut take),
                    };
                    assert_eq!(sent, whole.sent, "{shape} {text:?} {calls:?}");
                    mended += usize::from(whole.said["outcome"] == "repaired");
                    cut += usize::from(whole.said["outcome"] == "cut");
                }
            }
        }
    }
    assert!(mended > 100 && cut > 300, "{mended} were mended, and {cut} were cut");
}

#[test]
fn no_answer_is_more_runnable_than_what_came() {
    // A call that was found in a text is one that did not come as such.
    let settings = settings().into_iter().filter(|own| *own.calls_in_text() == CallsInText::Off);
    for mending in settings {
        let exchange = exchange(mending);
        for shape in Shape::IN_PIECES {
            let options = options(&exchange, Some(kind(shape)), &FitNotes::default());
            for (text, calls) in SAID {
                let body = shape.body(text, calls);
                never_more_runnable(&body, &options, 12, &mut Seed::of(&body))
                    .unwrap_or_else(|violation| panic!("{shape}: {violation}"));
            }
        }
    }
}

fn edits(answer: &Answer) -> Vec<String> {
    let edit = |edit: &HeaderEdit| {
        let lines: Vec<_> = edit.lines().map(String::from_utf8_lossy).collect();
        format!("{}: {}", edit.name(), lines.join(" | "))
    };
    answer.header_edits().iter().map(edit).collect()
}

#[test]
fn what_is_not_read_passes_and_says_so() {
    let exchange = exchange(Mending::new());
    let (json, gzip) =
        (("content-type", &b"application/json"[..]), ("content-encoding", &b"gzip"[..]));
    for (headers, said) in [
        (vec![("Content-Type", &b"image/png"[..])], "x-wiremend: untouched"),
        (vec![json, gzip], "x-wiremend: untouched; reason=encoded"),
    ] {
        let mut answer = exchange.answer(200, headers);
        assert_eq!((answer.treatment(), edits(&answer)), (Treatment::Pass, vec![said.to_owned()]));
        let mut sent = Vec::new();
        let mut take = |piece: Rewritten<'_>| match piece {
            Rewritten::Bytes(bytes) => sent.extend_from_slice(bytes),
            other => panic!("{other:?}"),
        };
        answer.push(b" {'a", &mut take);
        answer.release(&mut take);
        answer.finish(&mut take);
        assert_eq!((sent.as_slice(), answer.comment(None)), (&b" {'a"[..], None));
    }
}

#[test]
fn a_head_says_what_was_done_and_nobody_else_speaks_for_it() {
    let exchanges = Exchanges::new(Mending::new());
    let history =
        r#"{"messages":[{"tool_calls":[{"function":{"name":"f","arguments":"{'a': 1}"}}]}]}"#;
    let exchange = exchanges.request("POST", "/v1/chat/completions", []).unwrap();
    let exchange = exchange.read(history.as_bytes());
    let headers = [("content-type", &b"application/json"[..]), ("X-Wiremend-Mine", b"repaired")];
    let body = Shape::ChatBody.body(&[], &[&["{'a': 1}"]]);
    let mut answer = exchange.answer(200, headers);
    let mut length = 0;
    let mut take = |piece: Rewritten<'_>| {
        if let Rewritten::Bytes(bytes) = piece {
            length += bytes.len();
        }
    };
    answer.push(&body, &mut take);
    answer.finish(&mut take);
    let edits = edits(&answer);
    assert_eq!(edits[0], "x-wiremend-mine: ");
    assert!(edits.contains(&"etag: ".to_owned()), "{edits:?}");
    assert_eq!(
        edits[edits.len() - 3..],
        [
            format!("content-length: {length}"),
            "x-wiremend: repaired; calls=1; repairs=2; risk=exact".to_owned(),
            "x-wiremend-request: history; mended=1; replaced=0".to_owned(),
        ]
    );
}

/// A body that waits for its end, and is not read to it after all.
#[test]
fn what_waits_leaves_as_it_came_when_its_room_is_needed() {
    let exchange = exchange(Mending::new());
    let mut answer = exchange.answer(200, [("content-type", &b"text/event-stream"[..])]);
    let body = Shape::Chat.body(&["so"], &[&["{'a': ", "1}"]]);
    let mut sent = Vec::new();
    let mut take = |piece: Rewritten<'_>| {
        if let Rewritten::Bytes(bytes) = piece {
            sent.extend_from_slice(bytes);
        }
    };
    let half = body.windows(2).position(|pair| pair == b"1}").unwrap();
    answer.push(&body[..half], &mut take);
    answer.release(&mut take);
    answer.push(&body[half..], &mut take);
    answer.finish(&mut take);
    assert_eq!(String::from_utf8_lossy(&sent), String::from_utf8_lossy(&body));
    assert_eq!(answer.account().verdict().code(), "overflow");
}
