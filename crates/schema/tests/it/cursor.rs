//! Cursors, which follow a schema while a value arrives.

use wiremend_core::{
    Collected, JsonType, MendOptions, Mender, Outcome, Output, Policy, Repair, Risk,
};
use wiremend_schema::{
    Cursor, FitOptions, Fitter, IssueCode, NodeState, Rules, Schema, Snapshot, Standing, Tree,
};

const TASK: &str = r#"{"type": "object", "properties": {
    "count": {"type": "integer", "minimum": 0},
    "unit": {"enum": ["kg", "lb", "LONG_TON"]},
    "note": {"type": "string", "maxLength": 12},
    "done": {"type": ["boolean", "null"]},
    "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
    "shape": {"anyOf": [
        {"type": "object", "properties": {"kind": {"const": "disc"}, "r": {"type": "number"}}, "required": ["kind", "r"], "additionalProperties": false},
        {"type": "object", "properties": {"kind": {"const": "box"}, "w": {"type": "number"}}, "required": ["kind", "w"], "additionalProperties": false}
    ]},
    "size": {"anyOf": [{"type": "integer"}, {"type": "null"}]}
}, "required": ["count"], "additionalProperties": false}"#;

fn schema(text: &str) -> Schema {
    Schema::from_text(text).unwrap()
}

fn strict() -> FitOptions {
    FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::STRICT))
}

fn likely() -> FitOptions {
    FitOptions::new()
        .with_mending(MendOptions::new().with_policy(Policy::PERMISSIVE.at_most(Risk::Likely)))
}

/// The mended text, and a cursor that followed it.
struct Both(Collected, Cursor);

impl Output for Both {
    fn copy(&mut self, bytes: &[u8]) {
        self.0.copy(bytes);
        self.1.copy(bytes);
    }
    fn settle(&mut self) {
        self.1.settle();
    }
    fn raw(&mut self) {
        self.1.raw();
    }
    fn repair(&mut self, repair: Repair) {
        self.0.repair(repair.clone());
        self.1.repair(repair);
    }
}

fn read(schema: &Schema, options: &FitOptions, chunks: &[&[u8]]) -> (Cursor, String, Outcome) {
    let mut both = Both(Collected::default(), Cursor::new(schema, options));
    let mut mender = Mender::new(MendOptions::new());
    for chunk in chunks {
        mender.push(chunk, &mut both);
    }
    let outcome = mender.finish(&mut both);
    let text = both.0.to_text();
    (both.1, text, outcome)
}

/// A cursor after a text that may continue.
fn begun(schema: &Schema, options: &FitOptions, text: &str) -> Cursor {
    let mut cursor = Cursor::new(schema, options);
    Mender::new(MendOptions::new()).push(text.as_bytes(), &mut cursor);
    cursor
}

/// A cursor after a text that needs no mending.
fn fed(schema: &Schema, options: &FitOptions, text: &str) -> Cursor {
    let mut cursor = Cursor::new(schema, options);
    cursor.copy(text.as_bytes());
    cursor.settle();
    cursor
}

fn issues(cursor: &Cursor) -> Vec<String> {
    cursor.early_issues().iter().map(|f| format!("{} {:?} {f}", f.offset(), f.standing())).collect()
}

/// All the state that a cursor exposes.
fn account(cursor: &Cursor) -> String {
    let states: Vec<_> = cursor.root().map(|root| nodes(root)).unwrap_or_default();
    format!(
        "{:?}\n{:?}\n{:?}\n{:?}\n{states:?}",
        issues(cursor),
        cursor.changes(),
        cursor.applied(),
        cursor.pending()
    )
}

fn nodes(root: Snapshot<'_>) -> Vec<(String, NodeState, String)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), root)];
    while let Some((pointer, node)) = open.pop() {
        for (index, child) in node.children().enumerate() {
            let step = child
                .key()
                .map_or(index.to_string(), |key| key.replace('~', "~0").replace('/', "~1"));
            open.push((format!("{pointer}/{step}"), child));
        }
        found.push((pointer, node.state(), node.to_string()));
    }
    found
}

const TEXTS: [&str; 16] = [
    r#"{"count": 3, "unit": "kg", "tags": ["a", "b"], "done": null}"#,
    r#"{count: '3', unit: 'long ton', tags: ["a"], done: "True", size: "7"}"#,
    r#"{"count": -1, "unit": "stone", "note": "a text that is too long"}"#,
    r#"{"tags": ["a", 5, "c", "d"], "more": {"count": "x"}, "count": "many"}"#,
    r#"{"count": 1, "shape": {"kind": "box", "w": 2}}"#,
    r#"{"count": 1, "shape": {"kind": "box", "r": 2}, "note": 5}"#,
    r#"{"count": 1, "shape": {"r": 2}}"#,
    r#"{"count": 1.0, "size": null, "done": "n\u0061h"}"#,
    r#"{"count": 1.5, "tags": []}"#,
    r#"{"count": {"value": 3}, "tags": "a"}"#,
    r#"[{"count": 1}]"#,
    r#""a string""#,
    r#"{"arguments": {"count": 2}}"#,
    r#"{"note": "é\n\ud83d\ude00", "count": null}"#,
    r#"{"note": "a "word" b", 'count': 0x10, /* c */ "unit": "k"}"#,
    "[[[[]]]]",
];

#[test]
fn chunk_boundaries_do_not_matter() {
    let schema = schema(TASK);
    for options in [FitOptions::new(), likely(), strict()] {
        for text in TEXTS {
            let bytes = text.as_bytes();
            let whole = account(&read(&schema, &options, &[bytes]).0);
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(account(&read(&schema, &options, &single).0), whole, "{text}");
            for cut in 0..bytes.len() {
                let (head, tail) = bytes.split_at(cut);
                let cut = read(&schema, &options, &[b"", head, b"", tail, b""]).0;
                assert_eq!(account(&cut), whole, "{text}");
            }
        }
    }
}

#[test]
fn an_early_issue_is_never_wrong() {
    let schema = schema(TASK);
    for options in [FitOptions::new(), likely(), strict()] {
        for text in TEXTS {
            let (cursor, mended, _) = read(&schema, &options, &[text.as_bytes()]);
            let tree = Tree::read(&mended).unwrap();
            if !cursor.early_issues().is_empty() {
                assert!(!schema.accepts(&tree), "{text}: {:?}", issues(&cursor));
            }
            let fitted = schema.fit(text.as_bytes(), &options);
            if cursor.lost().is_some() {
                assert_eq!(fitted.text(), None, "{text}: {:?}", issues(&cursor));
            }
            if let Some(fitted) = fitted.text().filter(|fitted| *fitted == mended) {
                assert!(cursor.early_issues().is_empty(), "{text}: {:?}", issues(&cursor));
                let values: [serde_json::Value; 2] = [fitted, &cursor.root().unwrap().to_string()]
                    .map(|text| serde_json::from_str(text).unwrap());
                assert_eq!(values[0], values[1], "{text}");
            }
        }
    }
}

#[test]
fn early_issues_and_final_values_are_never_withdrawn() {
    let schema = schema(TASK);
    for text in TEXTS {
        let mut cursor = Cursor::new(&schema, &likely());
        let mut mender = Mender::new(MendOptions::new());
        let mut seen: Vec<String> = Vec::new();
        let mut finals: Vec<(String, NodeState, String)> = Vec::new();
        for byte in text.as_bytes().chunks(1) {
            mender.push(byte, &mut cursor);
            let now = issues(&cursor);
            assert_eq!(now.get(..seen.len()), Some(&seen[..]), "{text}");
            seen = now;
            let nodes = cursor.root().map(nodes).unwrap_or_default();
            assert!(finals.iter().all(|node| nodes.contains(node)), "{text}");
            finals = nodes.into_iter().filter(|(_, state, _)| *state == NodeState::Final).collect();
        }
    }
}

#[test]
fn an_early_issue_is_reported_at_the_byte_that_makes_it_certain() {
    let schema = schema(TASK);
    for (text, last, code, pointer) in [
        (r#"{"colour""#, "\"", IssueCode::Unexpected, "/colour"),
        (r#"{"unit": "kn"#, "n", IssueCode::Enum, "/unit"),
        (r#"{"unit": {"#, "{", IssueCode::Type, "/unit"),
        (r#"{"note": {"#, "{", IssueCode::Type, "/note"),
        (r#"{"note": "0123456789abc"#, "c", IssueCode::Length, "/note"),
        (r#"{"tags": ["a", "b", ""#, "\"", IssueCode::Count, "/tags"),
        (r#"{"count": ""#, "\"", IssueCode::Type, "/count"),
        (r#"{"shape": {"kind": "t"#, "t", IssueCode::Enum, "/shape/kind"),
        (r#"["#, "[", IssueCode::Type, ""),
    ] {
        let before = text.strip_suffix(last).unwrap_or(text);
        let cursor = fed(&schema, &strict(), before);
        assert_eq!(issues(&cursor), Vec::<String>::new(), "{before}");
        let cursor = fed(&schema, &strict(), text);
        let first = cursor.early_issues().first().unwrap_or_else(|| panic!("{text}"));
        assert_eq!((first.issue().code(), first.issue().pointer()), (code, pointer), "{text}");
        assert_eq!(first.offset(), text.len() - 1, "{text}");
        assert_eq!(first.standing(), Standing::Lost, "nothing may be repaired: {text}");
    }
    // What has arrived of a string is not shown as a string that lacks its quote.
    let cursor = fed(&schema, &strict(), r#"{"unit": "kn"#);
    assert!(!cursor.early_issues()[0].issue().received().is_whole());
    let unit = r#"/unit: expected one of "kg", "lb", "LONG_TON", got string "kn…"#;
    assert_eq!(cursor.early_issues()[0].to_string(), unit);
}

#[test]
fn missing_parts_that_may_still_arrive_are_pending() {
    let schema = schema(TASK);
    let pending = |text| -> Vec<String> {
        fed(&schema, &likely(), text).pending().iter().map(ToString::to_string).collect()
    };
    assert_eq!(pending("{"), [r#"/: missing required property "count""#]);
    assert_eq!(pending(r#"{"count": 1"#), Vec::<String>::new());
    assert_eq!(
        pending(r#"{"count": 1, "tags": [ "#),
        ["/tags: expected at least 1 items, got array"]
    );
    assert_eq!(
        pending(r#"{"count": 1, "unit": "k"#),
        [r#"/unit: expected one of "kg", "lb", "LONG_TON", got string "k…"#]
    );
    let cursor = fed(&schema, &likely(), "{");
    assert_eq!(cursor.pending()[0].standing(), Standing::Pending);
    assert!(cursor.early_issues().is_empty());
}

#[test]
fn the_cursor_knows_what_is_expected_next() {
    let schema = schema(TASK);
    let cursor = fed(&schema, &likely(), "{");
    assert_eq!(
        cursor.expected().keys(),
        ["count", "unit", "note", "done", "tags", "shape", "size"]
    );
    let cursor = fed(&schema, &likely(), r#"{"count": 1, "#);
    assert_eq!(cursor.expected().keys().len(), 6);
    let cursor = fed(&schema, &likely(), r#"{"count": 1, "done": "#);
    assert_eq!(cursor.expected().types(), "boolean or null");
    let cursor = fed(&schema, &likely(), r#"{"tags": ["#);
    assert_eq!(cursor.expected().types(), "string");
    let cursor = fed(&schema, &likely(), r#"{"unit": "l"#);
    assert_eq!(cursor.expected().values(), ["lb"]);
    let cursor = fed(&schema, &likely(), r#"{"shape": {"kind": "box", "#);
    assert_eq!(cursor.expected().keys(), ["w"], "the branch is chosen");
    let cursor = fed(&schema, &likely(), r#"{"shape": {"#);
    assert_eq!(cursor.expected().keys(), ["kind", "r", "w"]);
}

#[test]
fn scalars_are_coerced_when_they_end() {
    let schema = schema(TASK);
    let cursor =
        begun(&schema, &likely(), r#"{count: "12", unit: 'KG', done: 'True', size: "7", note: 'x"#);
    let root = cursor.root().unwrap();
    assert_eq!(root.to_string(), r#"{"count":12,"unit":"kg","done":true,"size":7,"note":"x"}"#);
    let state = |key| root.member(key).unwrap().state();
    assert_eq!((state("count"), state("note")), (NodeState::Final, NodeState::Tentative));
    assert_eq!(root.member("count").unwrap().kind(), JsonType::Number);
    let changes: Vec<_> =
        cursor.changes().iter().map(|c| (c.cause().code(), c.span(), c.after())).collect();
    assert_eq!(changes[0], ("string-to-number", 8..12, "12"));
    assert_eq!(changes[1], ("enum-normalise", 20..24, "\"kg\""));
    assert_eq!(cursor.applied()[3].path().to_string(), "$.size");
}

#[test]
fn ambiguous_scalars_are_not_coerced() {
    let schema = schema(
        r#"{"properties": {
            "either": {"type": ["integer", "string"]}, "list": {"type": ["integer", "array"]},
            "guess": {"type": "number"}, "off": {"type": "integer", "x-wiremend": false}}}"#,
    );
    let text = r#"{"either": "1", "list": "2", "guess": "$3", "off": "4", "end": 0"#;
    let cursor = begun(&schema, &FitOptions::new(), text);
    assert!(cursor.changes().is_empty(), "{:?}", cursor.changes());
    let state = |key| cursor.root().unwrap().member(key).unwrap().state();
    assert_eq!(state("either"), NodeState::Final);
    assert_eq!(state("list"), NodeState::Tentative);
    assert_eq!(state("guess"), NodeState::Tentative);
    let none = FitOptions::new().with_rules(Rules::none());
    let cursor = begun(&super_schema(), &none, r#"{"n": "1", "m": 0"#);
    assert_eq!(cursor.early_issues()[0].issue().code(), IssueCode::Type);
    assert_eq!(cursor.lost().unwrap().offset(), 6, "at the opening quote");
}

fn super_schema() -> Schema {
    schema(r#"{"properties": {"n": {"type": "integer"}}}"#)
}

#[test]
fn pending_values_are_not_shown() {
    let schema = schema(TASK);
    for text in [r#"{"count": "1"#, r#"{"unit": "l"#] {
        let cursor = fed(&schema, &likely(), text);
        assert_eq!(cursor.root().unwrap().to_string(), "{}", "{text}");
        let child = cursor.root().unwrap().children().next().unwrap();
        assert_eq!(child.state(), NodeState::Pending);
        assert!(child.is_open());
    }
}

#[test]
fn a_stream_ends_as_the_whole_text_does() {
    let schema = schema(TASK);
    for options in [FitOptions::new(), likely(), strict()] {
        for text in TEXTS {
            for around in [("", ""), ("Here:\n```json\n", "\n```\n")] {
                let text = format!("{}{text}{}", around.0, around.1);
                for size in [1, 3, 1_000] {
                    let mut stream = Fitter::new(&schema, options.clone());
                    text.as_bytes().chunks(size).for_each(|chunk| stream.push(chunk));
                    assert_eq!(stream.finish(), schema.fit(text.as_bytes(), &options), "{text}");
                }
            }
        }
    }
}

/// A document inside a string cannot be judged before the string has ended.
#[test]
fn a_value_in_a_string_is_not_lost_before_it_is_read() {
    let schema = schema(
        r#"{"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}, "c": {"type": "integer"}}, "required": ["a", "c"]}"#,
    );
    let text = serde_json::to_string(r#"{"a": {"b": 1}, "c": 2}"#).unwrap();
    for text in [text.clone(), format!(" \n{text}\n")] {
        for size in [1, 2, 5, text.len()] {
            let mut stream = Fitter::new(&schema, likely());
            for chunk in text.as_bytes().chunks(size) {
                stream.push(chunk);
                assert_eq!(stream.cursor().lost(), None, "{text}");
            }
            assert_eq!(stream.finish().text().map(str::trim), Some(r#"{"a": {"b": 1}, "c": 2}"#));
        }
    }
}

#[test]
fn a_text_beyond_the_buffer_overflows() {
    use wiremend_core::Limits;
    let engine = MendOptions::new().with_limits(Limits::new().with_buffer(64));
    let mut stream = Fitter::new(&schema(TASK), FitOptions::new().with_mending(engine));
    stream.push(br#"{"count": 1, "note": ""#);
    stream.push(&[b' '; 64]);
    stream.push(b"\"}");
    assert_eq!(stream.cursor().root().unwrap().member("count").unwrap().as_number(), Some("1"));
    let fitted = stream.finish();
    assert_eq!((fitted.outcome(), fitted.text()), (Outcome::Overflow, None));
}

#[test]
fn spans_refer_to_the_input() {
    let schema = super_schema();
    let text = "Look:\n{\"n\": /* how many? */ '12'}\nThat is all there is to say about how many there are.\n";
    let mut stream = Fitter::new(&schema, FitOptions::new());
    stream.push(text.as_bytes());
    let change = &stream.cursor().changes()[0];
    assert_eq!(&text[change.start()..change.end()], "'12'");
    let mut stream = Fitter::new(&schema, likely());
    let text = "{ 'x': [1], 'n': [\"a\"], 'last': 'a string that goes on and on, so that all before it is certain";
    stream.push(text.as_bytes());
    let issue = stream.cursor().early_issues()[0].issue();
    assert_eq!(text.get(issue.span()), Some("["));
}

#[test]
fn deep_and_wide_values_take_bounded_memory() {
    let tree = schema(
        r##"{"$defs": {"n": {"type": "object", "properties": {"v": {"type": "integer"}, "k": {"type": "array", "items": {"$ref": "#/$defs/n"}}}, "required": ["v"]}}, "$ref": "#/$defs/n"}"##,
    );
    let text = r#"{"v": 1, "k": ["#.repeat(20) + &"]}".repeat(20);
    let (cursor, _, _) = read(&tree, &likely(), &[text.as_bytes()]);
    assert!(cursor.early_issues().is_empty(), "{:?}", issues(&cursor));
    let broken = text.replacen("\"v\": 1, \"k\": []", "\"v\": true, \"k\": []", 1);
    let (cursor, _, _) = read(&tree, &likely(), &[broken.as_bytes()]);
    assert_eq!(cursor.early_issues().len(), 1);
    let deep = "[".repeat(10_000);
    let mut cursor = Cursor::new(&schema("{}"), &likely());
    cursor.copy(deep.as_bytes());
    assert!(format!("{cursor:?}").len() > 10_000);
    assert_eq!(cursor.root().unwrap().to_string().len(), 20_000);
    drop(cursor);
}

#[test]
fn a_cursor_can_be_reused() {
    let schema = schema(TASK);
    let mut cursor = begun(&schema, &likely(), r#"{"count": "1", "colour": 3, "tags": ["a"#);
    cursor.reset();
    assert_eq!(account(&cursor), account(&Cursor::new(&schema, &likely())));
    cursor.copy(br#"{"count": 1}"#);
    assert!(cursor.is_complete() && cursor.early_issues().is_empty());
    cursor.copy(br#"{"count": true}"#);
    assert!(cursor.early_issues().is_empty(), "of several documents the first is followed");
}
