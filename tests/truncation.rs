//! Calls as models write them, cut at every byte: what was complete is there, what was open is there
//! as far as it arrived, and nothing that was emitted is ever taken back.

use wiremend_core::{
    DeltaOp, JsonType, MendOptions, Mender, Outcome, OwnedValue, Partial, Policy, Revision,
};

/// A source file as a model writes one into a call: quotes of all kinds, braces, backslashes, trailing
/// spaces, tabs, blank lines, other scripts, and text that looks like the end of the call.
const SOURCE: &str = "fn main() {\n\
    \tlet greeting = \"Grüße, \\\"Welt\\\"\\n\";  \n\
    \tlet json = r#\"{\"a\": [1, 2], \"b\": {\"c\": null}}\"#;\n\
    \n\
    \tif greeting.is_empty() || json == \"\" { return; } // it's \"done\"\n\
    \tprintln!(\"{greeting}: {}, {json:?} 👍🏽\", ']'); \n\
    }\n\n";

/// The call that writes it, and then more.
fn call(content: &str) -> String {
    format!(
        "{{\"path\": \"src/main.rs\", \"mode\": 420, \"content\": \"{content}\", \
         \"create\": true, \"owner\": null, \"lines\": [1, 7.50, -2e3], \
         \"after\": {{\"run\": [\"cargo\", \"test\"], \"timeout\": 60}}}}"
    )
}

/// The inside of the JSON string of a text.
fn escaped(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}

/// A file that a careless model writes literally: neither quotes nor line breaks are escaped.
const CARELESS: &str = "import json\n\
    \n\
    def main(args):\n\
    \tprint(\"Grüße\", args)  \n\
    \tif not args:  # it's fine\n\
    \t\tx = {\"a\": [1, 2], 'b': None}\n\
    \treturn f\"{x} 👍🏽\"\n\n";

/// What the mender and the partial value hold after a prefix of the input.
struct Cut {
    partial: Partial,
    text: String,
}

fn cut(input: &[u8]) -> Cut {
    let mut mender = Mender::new(MendOptions::new());
    let (mut partial, mut text) = (Partial::new(), Vec::new());
    mender.push(input, &mut (&mut partial, &mut text));
    if let Some(completion) = mender.completion() {
        text.extend_from_slice(completion.to_string().as_bytes());
    }
    Cut { partial, text: String::from_utf8(text).unwrap() }
}

/// The value of a prefix that nothing follows.
fn closed(input: &[u8]) -> serde_json::Value {
    let mut mender = Mender::new(MendOptions::new());
    let mut partial = Partial::new();
    mender.push(input, &mut partial);
    assert_eq!(mender.finish(&mut partial), Outcome::Closed);
    partial.root().unwrap().to_value().unwrap()
}

#[test]
fn every_cut_of_a_call_that_writes_a_file() {
    let call = call(&escaped(SOURCE));
    let whole: serde_json::Value = serde_json::from_str(&call).unwrap();
    // The offset after the last byte of each member.
    let ends: Vec<(String, usize)> = whole
        .as_object()
        .unwrap()
        .keys()
        .map(|key| {
            let start = call.find(&format!("\"{key}\":")).unwrap();
            let mut values = serde_json::Deserializer::from_str(&call[start + key.len() + 3..])
                .into_iter::<serde_json::Value>();
            values.next().unwrap().unwrap();
            (key.clone(), start + key.len() + 3 + values.byte_offset())
        })
        .collect();
    let content_start = call.find("\"content\": \"").unwrap() + "\"content\": \"".len();
    let content_end = content_start + escaped(SOURCE).len();
    for at in 0..=call.len() {
        let Cut { partial, text } = cut(&call.as_bytes()[..at]);
        let Some(root) = partial.root() else {
            assert_eq!(at, 0);
            continue;
        };
        let shown: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(root.to_value().unwrap(), shown, "after byte {at}");
        // Every member that ended is there, whole: a string or a container with its last byte, a
        // number or a literal once it is known that it does not continue.
        for (key, end) in &ends {
            let waits = whole[key].is_number() || whole[key].is_boolean() || whole[key].is_null();
            if *end + if waits { 2 } else { 0 } <= at {
                assert_eq!(shown.get(key), Some(&whole[key]), "{key} after byte {at}: {text}");
            }
        }
        // Whatever is there is the whole value or, if it is open, its beginning.
        assert!(is_prefix(&shown, &whole), "after byte {at}: {text}");
        // The open string extends to its last whole character, including white space.
        if (content_start..content_end).contains(&at) {
            let content = root.member("content");
            assert!(content.is_none_or(|content| content.is_open()));
            let content = content.and_then(|content| content.as_str()).unwrap_or_default();
            let arrived = decoded_length(&call[content_start..], at - content_start);
            let arrived = &SOURCE[..arrived];
            // While the text may continue, a comma waits for what follows it: it may be the one between
            // two members, if the string turns out to have lost its quote.
            let waits = arrived.strip_prefix(content).unwrap().trim_ascii();
            assert!(waits.is_empty() || waits == ",", "{waits:?} waits after byte {at}");
            assert_eq!(closed(&call.as_bytes()[..at])["content"], arrived, "cut at {at}");
        }
    }
}

/// How many bytes of content are in the first `length` bytes between the quotes of a string, counting
/// only whole characters and escapes.
fn decoded_length(inside: &str, length: usize) -> usize {
    let mut upto = length;
    while !inside.is_char_boundary(upto) {
        upto -= 1;
    }
    // Nothing is known about an escape that was cut.
    (0..=upto)
        .rev()
        .filter(|at| inside.is_char_boundary(*at))
        .find_map(|at| serde_json::from_str::<String>(&format!("\"{}\"", &inside[..at])).ok())
        .map_or(0, |text| text.len())
}

/// Whether `early` contains nothing that `late` does not contain.
fn is_prefix(early: &serde_json::Value, late: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Object, String};
    match (early, late) {
        (String(early), String(late)) => late.starts_with(early),
        (Array(early), Array(late)) => {
            early.len() <= late.len() && early.iter().zip(late).all(|(a, b)| is_prefix(a, b))
        }
        (Object(early), Object(late)) => {
            early.len() <= late.len()
                && early.iter().zip(late).all(|((k, a), (l, b))| k == l && is_prefix(a, b))
        }
        (early, late) => early == late,
    }
}

#[test]
fn snapshots_of_a_careless_call_never_shrink() {
    let call = call(CARELESS);
    let final_value = cut(call.as_bytes()).partial;
    let last = final_value.root().unwrap().to_value().unwrap();
    // The file arrived as it was meant, including quotes, and nothing after it was lost.
    assert_eq!(last["content"], CARELESS);
    assert_eq!(last["after"]["timeout"], 60);
    let mut before: Option<serde_json::Value> = None;
    for at in 0..=call.len() {
        let Cut { partial, .. } = cut(&call.as_bytes()[..at]);
        let Some(now) = partial.root().map(|root| root.to_value().unwrap()) else { continue };
        if let Some(before) = &before {
            assert!(is_prefix(before, &now), "{before} became {now} after byte {at}");
        }
        assert!(is_prefix(&now, &last), "{now} after byte {at}");
        before = Some(now);
    }
}

#[test]
fn a_closed_call_has_the_content_of_its_last_snapshot() {
    for content in [&escaped(SOURCE), CARELESS] {
        let call = call(content);
        for at in 1..call.len() {
            let mut mender = Mender::new(MendOptions::new());
            let mut partial = Partial::new();
            mender.push(&call.as_bytes()[..at], &mut partial);
            let before = partial.root().map(|root| root.to_value().unwrap());
            let outcome = mender.finish(&mut partial);
            assert!(matches!(outcome, Outcome::Closed | Outcome::Repaired), "{outcome} at {at}");
            assert!(content == CARELESS || outcome == Outcome::Closed, "cut at {at}");
            assert!(partial.is_complete());
            let after = partial.root().unwrap().to_value().unwrap();
            if let Some(before) = before {
                assert!(is_prefix(&before, &after), "{before} became {after}, cut at {at}");
            }
        }
    }
}

/// A number or a literal that was cut may continue: if its beginning is emitted raw, it is not shown.
#[test]
fn raw_text_is_not_read_as_a_value() {
    for end in ["tr", "12", "-", "\"x\\"] {
        let input = [b"{\"a\": 1, \"b\": [true, ", end.as_bytes()].concat();
        let mut mender = Mender::new(MendOptions::new());
        let (mut partial, mut text) = (Partial::new(), Vec::new());
        mender.push(&input, &mut (&mut partial, &mut text));
        let before = partial.to_owned_value();
        assert_eq!(mender.abandon(&mut (&mut partial, &mut text)), Outcome::Abandoned);
        mender.push(b"3]}", &mut (&mut partial, &mut text));
        assert_eq!(text, [&input[..], b"3]}"].concat());
        assert_eq!(partial.to_owned_value(), before, "{end}");
        assert!(before.to_string().starts_with(r#"{"a":1,"b":[true"#));
        assert!(!partial.is_complete());
    }
    let mut mender = Mender::new(MendOptions::new().with_policy(Policy::STRICT));
    let mut partial = Partial::new();
    mender.push(b"[1, True, 2]", &mut partial);
    assert_eq!(mender.finish(&mut partial), Outcome::Invalid);
    assert_eq!(partial.to_string(), "[1]");
}

/// A duplicate key is another member; a change at its path refers to the last one.
#[test]
fn changes_of_a_repeated_key() {
    let mut mender = Mender::new(MendOptions::new());
    let (mut partial, mut seen, mut copy) =
        (Partial::new(), Revision::default(), OwnedValue::new());
    for piece in ["{\"a\": \"x", "\", \"a\": \"y", "z\", \"a\": [1", ", 2]}"] {
        mender.push(piece.as_bytes(), &mut partial);
        for delta in partial.since(&seen) {
            copy.apply(&delta.path(), &delta.op()).unwrap();
        }
        seen = partial.revision();
    }
    assert_eq!(copy, partial.to_owned_value());
    assert_eq!(copy.to_string(), r#"{"a":"x","a":"yz","a":[1,2]}"#);
    let root = copy.root().unwrap();
    assert_eq!(root.member("a").unwrap().kind(), JsonType::Array);
    assert_eq!(root.len(), 3);
}

#[test]
fn a_change_that_does_not_fit_is_refused_and_changes_nothing() {
    let mut mender = Mender::new(MendOptions::new());
    let mut partial = Partial::new();
    mender.push(b"{\"a\": [1, 2, \"x", &mut partial);
    let deltas: Vec<_> = partial.since(&Revision::default()).collect();
    assert_eq!(deltas.len(), 6);
    // Each change applies after the one before it, and nowhere else.
    let mut copy = OwnedValue::new();
    for (at, delta) in deltas.iter().enumerate() {
        for (other, wrong) in deltas.iter().enumerate().filter(|(other, _)| *other != at) {
            let before = copy.clone();
            let applied = copy.apply(&wrong.path(), &wrong.op());
            assert!(applied.is_err(), "change {other} in the place of {at}");
            assert_eq!(copy, before);
        }
        copy.apply(&delta.path(), &delta.op()).unwrap();
    }
    let array = partial.root().unwrap().member("a").unwrap().path();
    assert!(copy.apply(&array, &DeltaOp::Close).is_err(), "the string in it is still open");
    assert!(copy.apply(&array, &DeltaOp::Append("y".into())).is_err());
}

/// A part of a value can be owned: it is independent, and knows what is open.
#[test]
fn a_part_of_a_value_can_be_owned() {
    let mut mender = Mender::new(MendOptions::new());
    let mut partial = Partial::new();
    mender.push(b"{\"a\": {\"b\": [1, {\"c\": \"d\"}], \"e\": \"f\"}, \"g\": [\"h", &mut partial);
    let root = partial.root().unwrap();
    let a = root.member("a").unwrap().to_owned_value();
    assert_eq!(a.to_string(), r#"{"b":[1,{"c":"d"}],"e":"f"}"#);
    assert!(a.is_complete());
    assert_eq!(a.root().unwrap(), root.member("a").unwrap());
    assert_eq!(a.root().unwrap().key(), None);
    let g = root.member("g").unwrap().to_owned_value();
    assert!(!g.is_complete());
    assert_eq!(g.root().unwrap().item(0).unwrap().as_str(), Some("h"));
    assert_ne!(a, g);
    // The same text, closed, is not the same snapshot.
    mender.push(b"\"]", &mut partial);
    mender.finish(&mut partial);
    assert_ne!(partial.root().unwrap().member("g").unwrap(), g.root().unwrap());
}

#[test]
fn a_value_that_serde_json_cannot_represent_is_an_error() {
    let deep = |levels: usize| {
        let mut partial = Partial::new();
        let options = MendOptions::new();
        let options = options.clone().with_limits(options.limits().with_depth(1000));
        let mut mender = Mender::new(options);
        mender.push("[".repeat(levels).as_bytes(), &mut partial);
        mender.finish(&mut partial);
        partial
    };
    assert!(deep(127).root().unwrap().to_value().is_ok());
    assert_eq!(deep(128).root().unwrap().to_value(), Err(wiremend_core::Unrepresentable::Depth),);
    let mut partial = Partial::new();
    let mut mender = Mender::new(MendOptions::new());
    mender.push(b"[1e999]", &mut partial);
    mender.finish(&mut partial);
    let number = wiremend_core::Unrepresentable::Number("1e999".into());
    assert_eq!(partial.root().unwrap().to_value(), Err(number));
}
