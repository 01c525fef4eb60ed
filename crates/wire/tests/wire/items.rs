//! OpenAI Responses: which item an event means.

use crate::support::{agree, call, calls, decode, doubts, sse};
use wiremend_wire::{Doubt, StreamOutcome};

const LOST: (&str, Option<Doubt>) = ("cut", Some(Doubt::LostEvent));
const WHOLE: (&str, Option<Doubt>) = ("unchanged", None);
const COMPLETED: &str =
    r#"{"type":"response.completed","response":{"status":"completed","output":[]}}"#;

/// An item of a call. `keys`: the ids in the item, and the index beside it.
fn item(step: &str, keys: (&str, &str), name: &str, text: &str) -> String {
    let (ids, index) = keys;
    format!(
        r#"{{"type":"response.output_item.{step}"{index},"item":{{"type":"function_call"{ids},"name":"{name}","arguments":{text:?}}}}}"#
    )
}

/// A part of the arguments, or all of them.
fn part(step: &str, keys: &str, text: &str) -> String {
    let member = if step == "delta" { "delta" } else { "arguments" };
    format!(r#"{{"type":"response.function_call_arguments.{step}"{keys},"{member}":{text:?}}}"#)
}

fn body(events: &[String]) -> String {
    let mut events: Vec<&str> = events.iter().map(String::as_str).collect();
    events.push(COMPLETED);
    sse(&events)
}

/// How servers name two items that are open at once: `[in the item, beside it, in a piece]`, for each of them.
const KEYS: [[[&str; 3]; 2]; 6] = [
    // All keys.
    [
        [
            r#","id":"a","call_id":"x""#,
            r#","output_index":0"#,
            r#","item_id":"a","output_index":0"#,
        ],
        [
            r#","id":"b","call_id":"y""#,
            r#","output_index":1"#,
            r#","item_id":"b","output_index":1"#,
        ],
    ],
    // Only ids.
    [
        [r#","id":"a","call_id":"x""#, "", r#","item_id":"a""#],
        [r#","id":"b","call_id":"y""#, "", r#","item_id":"b""#],
    ],
    // Only ids of calls, and one index for everything.
    [
        [r#","call_id":"x""#, r#","output_index":0"#, r#","item_id":"x","output_index":0"#],
        [r#","call_id":"y""#, r#","output_index":0"#, r#","item_id":"y","output_index":0"#],
    ],
    // One id for every item.
    [
        [
            r#","id":"i","call_id":"x""#,
            r#","output_index":3"#,
            r#","item_id":"i","output_index":3"#,
        ],
        [
            r#","id":"i","call_id":"y""#,
            r#","output_index":5"#,
            r#","item_id":"i","output_index":5"#,
        ],
    ],
    // Another id in every event.
    [
        [
            r#","id":"q1","call_id":"x""#,
            r#","output_index":0"#,
            r#","item_id":"q2","output_index":0"#,
        ],
        [
            r#","id":"q3","call_id":"y""#,
            r#","output_index":1"#,
            r#","item_id":"q4","output_index":1"#,
        ],
    ],
    // The ids of the calls, and the index where they begin but not in their pieces.
    [
        [r#","call_id":"x""#, r#","output_index":0"#, r#","item_id":"x""#],
        [r#","call_id":"y""#, r#","output_index":1"#, r#","item_id":"y""#],
    ],
];

#[test]
fn the_key_with_which_an_item_was_announced_says_which_one_an_event_means() {
    let both = [call("read", "{\"p\":1}", "unchanged"), call("delete", "{\"p\":2}", "unchanged")];
    for keys in KEYS {
        let [[ids_a, index_a, a], [ids_b, index_b, b]] = keys;
        let added = [
            item("added", (ids_a, index_a), "read", ""),
            item("added", (ids_b, index_b), "delete", ""),
        ];
        let deltas =
            [part("delta", b, "{\"p\":"), part("delta", a, "{\"p\":1}"), part("delta", b, "2}")];
        let whole = [part("done", a, "{\"p\":1}"), part("done", b, "{\"p\":2}")];
        let done = [
            item("done", (ids_a, index_a), "read", "{\"p\":1}"),
            item("done", (ids_b, index_b), "delete", "{\"p\":2}"),
        ];
        for rest in [
            [&deltas[..], &whole, &done].concat(),
            [&deltas[..], &done].concat(),
            whole.to_vec(),
            [&whole[..], &done].concat(),
            done.to_vec(),
            done.iter().rev().cloned().collect(),
            [&deltas[..], &whole, &whole, &done, &done].concat(),
        ] {
            let transcript = decode(&body(&[&added[..], &rest].concat()));
            assert_eq!(calls(&transcript), both, "{keys:?} {rest:?}");
            assert_eq!(transcript.outcome(), StreamOutcome::Complete, "{keys:?} {rest:?}");
            // The same with arguments that need a repair.
            let broken = body(&[&added[..], &rest].concat()).replace(r#"1}""#, r#"1,}""#);
            let first = call("read", "{\"p\":1}", "repaired");
            assert_eq!(calls(&decode(&broken)), [first, both[1].clone()], "{broken}");
            agree(&broken);
        }
        // The arguments of one of them say nothing about the other.
        let transcript = decode(&body(&[&added[..], &whole[..1]].concat()));
        assert_eq!(doubts(&transcript), [WHOLE, LOST], "{keys:?}");
    }
}

#[test]
fn every_call_that_an_event_may_mean_is_cut() {
    let [[ids_a, _, _], [ids_b, _, _]] = KEYS[0];
    for (index_a, index_b, piece, want) in [
        // Nothing says which of both.
        ("", "", "", [LOST, LOST]),
        ("", "", r#","item_id":"z""#, [LOST, LOST]),
        (r#","output_index":0"#, r#","output_index":0"#, r#","output_index":0"#, [LOST, LOST]),
        (r#","output_index":0"#, r#","output_index":1"#, "", [LOST, LOST]),
        // The id says one thing, and the index another.
        (
            r#","output_index":0"#,
            r#","output_index":1"#,
            r#","item_id":"a","output_index":1"#,
            [LOST, LOST],
        ),
        // The event that announced the item was lost.
        (r#","output_index":0"#, r#","output_index":1"#, r#","output_index":2"#, [LOST, LOST]),
    ] {
        for step in ["delta", "done"] {
            let transcript = decode(&body(&[
                item("added", (ids_a, index_a), "read", ""),
                item("added", (ids_b, index_b), "delete", ""),
                part(step, piece, "{\"p\":1}"),
            ]));
            assert_eq!(doubts(&transcript)[..2], want, "{index_a} {index_b} {piece} {step}");
            assert!(transcript.calls().iter().all(|call| !call.outcome().is_complete()));
        }
    }
    // A third call is not meant.
    let transcript = decode(&body(&[
        item("added", (r#","id":"a""#, r#","output_index":0"#), "read", ""),
        item("added", (r#","id":"b""#, r#","output_index":1"#), "delete", ""),
        item("added", (r#","id":"c""#, r#","output_index":2"#), "now", ""),
        part("done", r#","item_id":"a","output_index":1"#, "{\"p\":1}"),
        part("done", r#","item_id":"c","output_index":2"#, "{\"p\":2}"),
    ]));
    assert_eq!(doubts(&transcript), [LOST, LOST, WHOLE]);
    // The id of an item whose beginning was lost, after the other one was called by its id.
    for index in ["", r#","output_index":0"#] {
        let transcript = decode(&body(&[
            item("added", (r#","id":"a""#, index), "read", ""),
            part("delta", &format!(r#","item_id":"a"{index}"#), "{\"p\":"),
            part("delta", &format!(r#","item_id":"b"{index}"#), "1}"),
            part("done", &format!(r#","item_id":"b"{index}"#), "{\"p\":1}"),
        ]));
        assert!(transcript.calls().iter().all(|call| !call.outcome().is_complete()), "{index}");
    }
}

#[test]
fn a_single_open_item_is_meant_if_nothing_says_otherwise() {
    for keys in ["", r#","item_id":"z""#, r#","output_index":0"#] {
        let of = |id: &str, name: &str, text: &str| {
            let ids = format!(r#","call_id":"{id}""#);
            [
                item("added", (&ids, ""), name, ""),
                part("delta", keys, text),
                item("done", (&ids, ""), name, text),
            ]
        };
        let two = [of("x", "read", "{\"p\":1}"), of("y", "read", "{\"p\":2}")].concat();
        assert_eq!(
            calls(&decode(&body(&two))),
            [call("read", "{\"p\":1}", "unchanged"), call("read", "{\"p\":2}", "unchanged")],
            "{keys}"
        );
    }
}

#[test]
fn the_name_of_a_call_that_is_done_says_which_one_it_is() {
    let done = |name: &str, text: &str| item("done", ("", ""), name, text);
    let added = |name: &str| item("added", ("", ""), name, "");
    let transcript = decode(&body(&[
        added("read"),
        added("delete"),
        done("delete", "{\"p\":2}"),
        done("read", "{\"p\":1}"),
    ]));
    assert_eq!(
        calls(&transcript),
        [call("read", "{\"p\":1}", "unchanged"), call("delete", "{\"p\":2}", "unchanged")]
    );
    let transcript = decode(&body(&[added("read"), added("read"), done("read", "{\"p\":2}")]));
    assert_eq!(doubts(&transcript), [LOST, LOST]);
}

/// A server that sends the end of each item after all of them have begun.
#[test]
fn the_text_of_an_item_that_ends_after_the_next_one_began_comes_once() {
    for keys in [
        [r#","id":"r""#, r#","id":"m""#, r#","item_id":"r""#, r#","item_id":"m""#],
        [
            r#","id":"r""#,
            r#","id":"m""#,
            r#","item_id":"r","output_index":0"#,
            r#","item_id":"m","output_index":0"#,
        ],
        ["", "", "", ""],
        ["", "", r#","item_id":"made up 1""#, r#","item_id":"made up 2""#],
    ] {
        let [r, m, of_r, of_m] = keys;
        let event = |kind: &str, keys: &str, rest: &str| {
            format!(r#"{{"type":"response.{kind}"{keys},{rest}}}"#)
        };
        let reasoning = |content: &str| {
            format!(r#""item":{{"type":"reasoning"{r},"summary":[],"content":[{content}]}}"#)
        };
        let message = |content: &str| {
            format!(r#""item":{{"type":"message","role":"assistant"{m},"content":[{content}]}}"#)
        };
        let (thought, said) =
            (r#"{"type":"reasoning_text","text":"Hm"}"#, r#"{"type":"output_text","text":"Hi"}"#);
        let named = (r#","call_id":"c""#, "");
        let transcript = decode(&body(&[
            event("output_item.added", "", &reasoning("")),
            event("reasoning_text.delta", of_r, r#""delta":"Hm""#),
            event("output_item.added", "", &message("")),
            event("output_text.delta", of_m, r#""delta":"Hi""#),
            item("added", named, "now", ""),
            part("delta", r#","item_id":"c""#, "{}"),
            event("output_item.done", "", &reasoning(thought)),
            event("output_text.done", of_m, r#""text":"Hi""#),
            event("content_part.done", of_m, &format!(r#""part":{said}"#)),
            event("output_item.done", "", &message(said)),
            item("done", named, "now", "{}"),
        ]));
        assert_eq!((transcript.text().as_str(), transcript.reasoning()), ("Hi", "Hm"), "{keys:?}");
        assert_eq!(calls(&transcript), [call("now", "{}", "unchanged")], "{keys:?}");
        assert_eq!(transcript.outcome(), StreamOutcome::Complete, "{keys:?}");
    }
}

#[test]
fn one_id_twice_is_two_calls_if_something_else_tells_them_apart() {
    let ids = r#","call_id":"c""#;
    for (first, second) in [("read", "delete"), ("read", "read")] {
        let indexes = [r#","output_index":0"#, r#","output_index":1"#];
        let texts = ["{\"p\":1}", "{\"p\":2}"];
        let of = |at: usize, name: &str| {
            [
                item("added", (ids, indexes[at]), name, ""),
                part("delta", indexes[at], texts[at]),
                item("done", (ids, indexes[at]), name, texts[at]),
            ]
        };
        let want = [call(first, texts[0], "unchanged"), call(second, texts[1], "unchanged")];
        let transcript = decode(&body(&[of(0, first), of(1, second)].concat()));
        assert_eq!(calls(&transcript), want);
        let whole = |at: usize, name: &str| {
            format!(
                r#"{{"type":"function_call"{ids},"name":"{name}","arguments":{:?}}}"#,
                texts[at]
            )
        };
        let response = format!(
            r#"{{"object":"response","status":"completed","output":[{},{}]}}"#,
            whole(0, first),
            whole(1, second)
        );
        assert_eq!(calls(&decode(&response)), want);
    }
}

#[test]
fn an_item_that_is_announced_twice_is_one() {
    for index in ["", r#","output_index":0"#] {
        let keys = (r#","id":"a","call_id":"x""#, index);
        let added = item("added", keys, "read", "");
        let piece = part("delta", &format!(r#","item_id":"a"{index}"#), "{\"p\":1}");
        let done = item("done", keys, "read", "{\"p\":1}");
        let created = r#"{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress"}}"#.to_owned();
        for events in [
            vec![&created, &created, &added, &added, &piece, &done],
            vec![&created, &added, &created, &piece, &added, &done],
            vec![&added, &piece, &done, &added, &done],
        ] {
            let events: Vec<String> = events.into_iter().cloned().collect();
            let transcript = decode(&body(&events));
            assert_eq!(calls(&transcript), [call("read", "{\"p\":1}", "unchanged")], "{events:?}");
        }
    }
}
