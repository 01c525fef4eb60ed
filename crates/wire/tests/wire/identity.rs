//! Which call a piece belongs to, where servers do not say it clearly.

use crate::support::{agree, call, calls, decode, doubts, finish, named, sse, tools};
use wiremend_wire::{Doubt, StreamOutcome, Transcript};

const LOST: (&str, Option<Doubt>) = ("cut", Some(Doubt::LostEvent));
const WHOLE: (&str, Option<Doubt>) = ("unchanged", None);

/// A turn with those entries of calls, one in a chunk.
fn turn(entries: &[&str]) -> String {
    entries.iter().map(|entry| tools(entry)).collect::<String>() + &finish("tool_calls")
}

/// The first piece of a call, without arguments.
fn head(keys: &str, name: &str) -> String {
    format!(r#"{{{keys}"type":"function","function":{{"name":"{name}","arguments":""}}}}"#)
}

/// A piece of the arguments.
fn text(keys: &str, text: &str) -> String {
    format!(r#"{{{keys}"function":{{"arguments":{text:?}}}}}"#)
}

/// A whole call in one piece.
fn whole(keys: &str, name: &str, text: &str) -> String {
    format!(r#"{{{keys}"function":{{"name":"{name}","arguments":{text:?}}}}}"#)
}

fn decode_entries(entries: &[String]) -> Transcript {
    decode(&turn(&entries.iter().map(String::as_str).collect::<Vec<_>>()))
}

#[test]
fn a_piece_that_may_be_of_several_calls_cuts_all_of_them() {
    let (a, b) = (r#""id":"a","#, r#""id":"b","#);
    for (first, second, pieces) in [
        // Every index is 0, and the names come first.
        (0, 0, vec![(0, "{\"p\":1}"), (0, "{\"p\":2}")]),
        (0, 0, vec![(0, "{\"p\":1}")]),
        (0, 0, vec![(0, "{\"p\":1}"), (1, "{\"p\":2}")]),
        (0, 0, vec![(1, "{\"p\":1}"), (2, "{\"p\":2}")]),
        // The pieces count from another number than the names.
        (0, 1, vec![(1, "{\"p\":1}"), (2, "{\"p\":2}")]),
        (1, 2, vec![(0, "{\"p\":1}"), (1, "{\"p\":2}")]),
        (0, 1, vec![(2, "{\"p\":1}"), (3, "{\"p\":2}")]),
    ] {
        let index = |index: i32, id: &str| format!("\"index\":{index},{id}");
        for (a, b) in [(a, b), ("", "")] {
            let mut entries =
                vec![head(&index(first, a), "read"), head(&index(second, b), "delete")];
            if a.is_empty() && first == second {
                // Without an id, only one delta with both tells that there are two.
                entries = vec![entries.join(",")];
            }
            entries.extend(pieces.iter().map(|(at, piece)| text(&index(*at, ""), piece)));
            let transcript = decode_entries(&entries);
            assert_eq!(doubts(&transcript)[..2], [LOST, LOST], "{entries:?}");
            assert!(transcript.calls().iter().all(|call| !call.outcome().is_complete()));
            agree(&turn(&entries.iter().map(String::as_str).collect::<Vec<_>>()));
        }
    }
    // No index at all.
    let entries =
        [head(a, "read"), head(b, "delete"), text("", "{\"p\":1}"), text("", "{\"p\":2}")];
    assert_eq!(doubts(&decode_entries(&entries)), [LOST, LOST]);
    // The id says one thing, and the index another.
    let entries = [
        head(r#""index":0,"id":"a","#, "read"),
        head(r#""index":1,"id":"b","#, "delete"),
        text(r#""index":1,"id":"a","#, "{\"p\":1}"),
    ];
    assert_eq!(doubts(&decode_entries(&entries)), [LOST, LOST]);
}

#[test]
fn a_piece_whose_call_is_certain_cuts_none() {
    let both = [call("read", "{\"p\":1}", "unchanged"), call("delete", "{\"p\":2}", "unchanged")];
    let (one, two) = ("{\"p\":1}", "{\"p\":2}");
    for [a, b, of_a, of_b] in [
        [r#""index":0,"id":"a","#, r#""index":1,"id":"b","#, r#""index":0,"#, r#""index":1,"#],
        [
            r#""index":0,"id":"a","#,
            r#""index":0,"id":"b","#,
            r#""index":0,"id":"a","#,
            r#""index":0,"id":"b","#,
        ],
        [r#""id":"a","#, r#""id":"b","#, r#""id":"a","#, r#""id":"b","#],
        [
            r#""index":0,"id":"a","#,
            r#""index":1,"id":"b","#,
            r#""id":"a","#,
            r#""index":1,"id":"b","#,
        ],
        // One id for both.
        [
            r#""index":0,"id":"i","#,
            r#""index":1,"id":"i","#,
            r#""index":0,"id":"i","#,
            r#""index":1,"id":"i","#,
        ],
        // Another id in every piece.
        [
            r#""index":0,"id":"q1","#,
            r#""index":1,"id":"q2","#,
            r#""index":0,"id":"q3","#,
            r#""index":1,"id":"q4","#,
        ],
    ] {
        let heads = [head(a, "read"), head(b, "delete")];
        for pieces in [
            vec![text(of_a, one), text(of_b, two)],
            vec![text(of_b, two), text(of_a, one)],
            vec![text(of_b, "{\"p\""), text(of_a, one), text(of_b, ":2}")],
        ] {
            let entries = [&heads[..], &pieces].concat();
            assert_eq!(calls(&decode_entries(&entries)), both, "{entries:?}");
        }
    }
    // A call ends the one before it, unless that lacks arguments.
    let entries = [
        whole(r#""index":0,"id":"a","#, "read", one),
        head(r#""index":0,"id":"b","#, "delete"),
        text(r#""index":0,"#, two),
    ];
    assert_eq!(calls(&decode_entries(&entries)), both);
    let entries = [
        head(r#""index":0,"id":"a","#, "now"),
        head(r#""index":1,"id":"b","#, "read"),
        text(r#""index":1,"#, one),
        head(r#""index":2,"id":"c","#, "delete"),
        text(r#""index":2,"#, two),
    ];
    let with_now = [call("now", "{}", "unchanged"), both[0].clone(), both[1].clone()];
    assert_eq!(calls(&decode_entries(&entries)), with_now);
}

#[test]
fn a_name_goes_on_until_the_arguments_have_ended() {
    let part = |keys: &str, name: &str, text: &str| whole(keys, name, text);
    for (first, second) in [
        (
            part(r#""index":0,"id":"c","type":"function","#, "re", ""),
            part(r#""index":0,"#, "ad", "{\"p\":1}"),
        ),
        (
            part(r#""index":0,"id":"c","#, "re", ""),
            part(r#""index":0,"id":"c","#, "ad", "{\"p\":1}"),
        ),
        (part(r#""index":0,"#, "re", ""), part(r#""index":0,"#, "ad", "{\"p\":1}")),
        (part(r#""id":"c","#, "re", ""), part(r#""id":"c","#, "ad", "{\"p\":1}")),
        (
            part(r#""index":0,"id":"c","#, "re", ""),
            part(r#""index":0,"type":"function","#, "ad", "{\"p\":1}"),
        ),
        (part(r#""index":0,"id":"c","#, "re", ""), part(r#""index":0,"#, "read", "{\"p\":1}")),
        // The arguments are divided where the name is.
        (part(r#""index":0,"id":"c","#, "re", "{\"p"), part(r#""index":0,"#, "ad", "\":1}")),
        (
            part(r#""index":0,"id":"c","#, "re", "{\"p"),
            part(r#""index":0,"id":"c","#, "ad", "\":1}"),
        ),
        (part(r#""index":0,"id":"c","#, "read", "{\"p"), part(r#""index":0,"#, "read", "\":1}")),
    ] {
        let transcript = decode_entries(&[first.clone(), second.clone()]);
        let want = [call("read", "{\"p\":1}", "unchanged")];
        assert_eq!(calls(&transcript), want, "{first} {second}");
    }
    let begins = [
        (part(r#""index":0,"id":"c","#, "re", ""), part(r#""index":0,"id":"d","#, "ad", "{}")),
        (part(r#""index":0,"id":"c","#, "re", ""), part(r#""index":1,"#, "ad", "{}")),
        (
            part(r#""index":0,"type":"function","#, "re", ""),
            part(r#""index":0,"type":"function","#, "ad", "{}"),
        ),
        (part("", "re", ""), part("", "ad", "{}")),
        (part(r#""index":0,"id":"c","#, "re", "{}"), part(r#""index":0,"#, "ad", "{}")),
    ];
    for (first, second) in begins {
        let transcript = decode_entries(&[first.clone(), second.clone()]);
        let want = [call("re", "{}", "unchanged"), call("ad", "{}", "unchanged")];
        assert_eq!(calls(&transcript), want, "{first} {second}");
    }
}

#[test]
fn one_id_twice_is_two_calls_if_something_else_tells_them_apart() {
    let (one, two) = ("{\"p\":1}", "{\"p\":2}");
    for (second, other) in [("delete", two), ("read", two), ("delete", one), ("read", one)] {
        let want = [call("read", one, "unchanged"), call(second, other, "unchanged")];
        let entries = [
            whole(r#""index":0,"id":"c","#, "read", one),
            whole(r#""index":1,"id":"c","#, second, other),
        ];
        assert_eq!(calls(&decode_entries(&entries)), want, "{entries:?}");
        let list = entries.join(",");
        let unnumbered = list.replace("\"index\":0,", "").replace("\"index\":1,", "");
        let zero = list.replace("\"index\":1", "\"index\":0");
        for list in [list, unnumbered.clone(), zero] {
            assert_eq!(calls(&decode(&turn(&[&list]))), want, "{list}");
            agree(&turn(&[&list]));
        }
        let body = format!(
            r#"{{"object":"chat.completion","choices":[{{"index":0,"message":{{"role":"assistant","tool_calls":[{unnumbered}]}},"finish_reason":"tool_calls"}}]}}"#
        );
        assert_eq!(calls(&decode(&body)), want, "{body}");
        assert_eq!(agree(&body), body);
    }
    // Broken ones are not joined.
    for broken in [",{}", "{,}", "{\"p\":1", "\"p\":1}", "{'p': 1}", ""] {
        for texts in [[broken, one], [one, broken], [broken, broken]] {
            let list = texts.map(|text| whole("\"id\":\"c\",", "read", text)).join(",");
            assert_eq!(decode(&turn(&[&list])).calls().len(), 2, "{list}");
            agree(&turn(&[&list]));
        }
    }
    // The first one brings the name of a call whose arguments came before.
    let list = [one, two].map(|text| whole("\"id\":\"c\",", "read", text)).join(",");
    let early = text(r#""index":2,"#, "{");
    assert_eq!(decode_entries(&[early.clone(), list.clone()]).calls().len(), 2);
    let before = head(r#""index":0,"id":"a","#, "delete");
    assert_eq!(decode_entries(&[before, early, list]).calls().len(), 3);
    // Nothing tells them apart.
    let entries = [
        whole(r#""index":0,"id":"c","#, "read", one),
        whole(r#""index":0,"id":"c","#, "delete", two),
    ];
    assert!(decode_entries(&entries).calls().iter().all(|call| !call.outcome().is_complete()));
    let entries = [
        head(r#""id":"c","#, "read"),
        head(r#""index":1,"id":"c","#, "delete"),
        text(r#""id":"c","#, one),
    ];
    assert!(decode_entries(&entries).calls().iter().all(|call| !call.outcome().is_complete()));
    // A server that lists all calls so far with each chunk sends none twice.
    let (a, b) = (whole(r#""id":"a","#, "read", one), whole(r#""id":"b","#, "read", one));
    let want = [call("read", one, "unchanged"), call("read", one, "unchanged")];
    let both = [a.clone(), b].join(",");
    assert_eq!(calls(&decode_entries(&[a, both.clone(), both])), want);
}

#[test]
fn the_same_arguments_in_other_spacing_count_once() {
    let one = "{\"path\": \"a b\", \"n\": [1, 2]}";
    for keys in [r#""index":0,"id":"c","#, r#""index":0,"#, r#""id":"c","#] {
        for (pieces, want) in [
            (vec![one, "{\"path\":\"a b\",\"n\":[1,2]}"], one),
            (vec![one, "{\n  \"path\": \"a b\",\n  \"n\": [\n    1,\n    2\n  ]\n}"], one),
            (vec![one, "{\"n\": [1, 2], \"path\": \"a\\u0020b\"}"], one),
            (
                vec![one, "{\"path\":\"a b\",\"n\":[1,2]}", one, "{\"n\":[1,2],\"path\":\"a b\"}"],
                one,
            ),
            // In pieces, and then as a whole.
            (vec!["{\"path\": \"a ", "b\", \"n\": [1, 2]}", "{\"path\":\"a b\",\"n\":[1,2]}"], one),
            // More with each piece.
            (
                vec![
                    "{\"path\"",
                    "{ \"path\": \"a b\"",
                    "{\"path\":\"a b\",\"n\": [1",
                    "{\"path\":\"a b\", \"n\":[1, 2]}",
                ],
                "{\"path\": \"a b\",\"n\": [1, 2]}",
            ),
        ] {
            let entries: Vec<String> =
                pieces.iter().map(|piece| whole(keys, "read", piece)).collect();
            let transcript = decode_entries(&entries);
            assert_eq!(calls(&transcript), [call("read", want, "unchanged")], "{keys} {pieces:?}");
            agree(&turn(&entries.iter().map(String::as_str).collect::<Vec<_>>()));
        }
        // Other arguments contradict them.
        for other in [
            "{\"path\":\"ab\",\"n\":[1,2]}",
            "{\"path\":\"a b\",\"n\":[1,3]}",
            "{\"path\":\"a  b\",\"n\":[1,2]}",
        ] {
            if keys.contains("id") {
                let entries = [whole(keys, "read", one), whole(keys, "read", other)];
                let transcript = decode_entries(&entries);
                assert!(!transcript.calls()[0].outcome().is_complete(), "{keys} {other}");
                assert_eq!(transcript.calls().len(), 1);
            }
        }
    }
    // As values.
    let value = |keys: &str, text: &str| {
        format!(r#"{{{keys}"function":{{"name":"read","arguments":{text}}}}}"#)
    };
    for again in [one, "{\"path\":\"a b\",\"n\":[1,2]}"] {
        let entries =
            [value(r#""index":0,"id":"c","#, one), value(r#""index":0,"id":"c","#, again)];
        assert_eq!(calls(&decode_entries(&entries)), [call("read", one, "unchanged")]);
        let body = turn(&entries.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(agree(&body), body);
    }
}

const USE: &str = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"read","input":{}}}"#;
const INPUT: &str = r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"p\":1}"}}"#;
const STOP: &str = r#"{"type":"content_block_stop","index":0}"#;
const END: [&str; 2] = [
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
    r#"{"type":"message_stop"}"#,
];

#[test]
fn a_message_that_is_announced_twice_is_one() {
    let start = r#"{"type":"message_start","message":{"id":"m","content":[]}}"#;
    let other = r#"{"type":"message_start","message":{"id":"n","content":[]}}"#;
    let of = |events: &[&str]| decode(&sse(&[events, &END].concat()));
    let read = call("read", "{\"p\":1}", "unchanged");
    for events in [
        &[start, start, USE, INPUT, STOP][..],
        &[start, USE, start, INPUT, STOP],
        &[start, USE, USE, INPUT, STOP],
        &[start, USE, INPUT, start, STOP],
        &[start, USE, INPUT, STOP, start],
        &[start, USE, INPUT, INPUT, STOP],
        &[start, USE, INPUT, STOP, USE, INPUT, STOP],
    ] {
        let transcript = of(events);
        assert_eq!(calls(&transcript), core::slice::from_ref(&read), "{events:?}");
        assert_eq!(transcript.outcome(), StreamOutcome::Complete, "{events:?}");
        agree(&sse(&[events, &END].concat()));
    }
    let transcript = of(&[start, USE, other, INPUT, STOP]);
    assert!(transcript.calls().iter().all(|call| !call.outcome().is_complete()));
}

#[test]
fn a_block_that_begins_at_a_place_that_was_used_is_another_one() {
    let start = r#"{"type":"message_start","message":{"id":"m","content":[]}}"#;
    let second = USE.replace("\"t\"", "\"u\"");
    let more = INPUT.replace(":1", ":2");
    let of = |events: &[&str]| {
        let events: Vec<&str> = [&[start][..], events, &END].concat();
        let named: Vec<(&str, &str)> = events
            .iter()
            .map(|event| (event.split('"').nth(3).unwrap_or_default(), *event))
            .collect();
        decode(&named_events(&named))
    };
    let both = [call("read", "{\"p\":1}", "unchanged"), call("read", "{\"p\":2}", "unchanged")];
    assert_eq!(calls(&of(&[USE, INPUT, STOP, &second, &more, STOP])), both);
    let broken = |input: &str| input.replace("}\"}}", ",}\"}}");
    let mended = both.clone().map(|(name, text, _)| (name, text, "repaired"));
    assert_ne!(broken(INPUT), INPUT);
    assert_eq!(calls(&of(&[USE, &broken(INPUT), STOP, &second, &broken(&more), STOP])), mended);
    // The end of the first one was lost.
    let transcript = of(&[USE, &second, &more, STOP]);
    assert_eq!(doubts(&transcript), [("cut", Some(Doubt::Contradiction))]);
    assert_eq!(doubts(&of(&[USE, INPUT, STOP])), [WHOLE]);
}

fn named_events(events: &[(&str, &str)]) -> String {
    named(events)
}

/// A whole body in each format that has them, with those two calls: id, name and number.
fn bodies(calls: [(&str, &str, u8); 2]) -> [String; 5] {
    let list = |of: &dyn Fn(&str, &str, u8) -> String| {
        calls.map(|(id, name, n)| of(id, name, n)).join(",")
    };
    let responses = list(&|id, name, n| {
        format!(
            r#"{{"type":"function_call","call_id":"{id}","name":"{name}","arguments":"{{\"p\":{n}}}"}}"#
        )
    });
    let anthropic = list(&|id, name, n| {
        format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{{"p":{n}}}}}"#)
    });
    let converse = list(&|id, name, n| {
        format!(r#"{{"toolUse":{{"toolUseId":"{id}","name":"{name}","input":{{"p":{n}}}}}}}"#)
    });
    let cohere = list(&|id, name, n| {
        format!(
            r#"{{"id":"{id}","type":"function","function":{{"name":"{name}","arguments":"{{\"p\":{n}}}"}}}}"#
        )
    });
    let ollama = list(&|id, name, n| {
        format!(r#"{{"id":"{id}","function":{{"name":"{name}","arguments":{{"p":{n}}}}}}}"#)
    });
    [
        format!(r#"{{"object":"response","status":"completed","output":[{responses}]}}"#),
        format!(
            r#"{{"type":"message","role":"assistant","content":[{anthropic}],"stop_reason":"tool_use"}}"#
        ),
        format!(
            r#"{{"output":{{"message":{{"role":"assistant","content":[{converse}]}}}},"stopReason":"tool_use"}}"#
        ),
        format!(
            r#"{{"id":"x","finish_reason":"TOOL_CALL","message":{{"role":"assistant","tool_calls":[{cohere}]}}}}"#
        ),
        format!(
            r#"{{"message":{{"role":"assistant","content":"","tool_calls":[{ollama}]}},"done":true,"done_reason":"stop"}}"#
        ),
    ]
}

#[test]
fn two_calls_in_one_list_are_two_in_every_format() {
    for (second, n) in [("delete", 2), ("read", 2), ("delete", 1), ("read", 1)] {
        for body in bodies([("c", "read", 1), ("c", second, n)]) {
            let other = format!("{{\"p\":{n}}}");
            let want = [call("read", "{\"p\":1}", "unchanged"), call(second, &other, "unchanged")];
            assert_eq!(calls(&decode(&body)), want, "{body}");
            assert_eq!(agree(&body), body);
        }
    }
}
