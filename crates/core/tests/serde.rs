//! Serde: values into types, reports as data.

#![cfg(feature = "serde")]
#![allow(clippy::unwrap_used, missing_docs, reason = "a test may panic")]

use std::{borrow::Cow, collections::BTreeMap};

use serde::{
    Deserialize, Deserializer as _,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::json;
use wiremend_core::{
    DeserializeError, Events, Limits, MendOptions, Mender, Outcome, ParseEvent, Partial, Revision,
    Risk, mend,
};

fn partial(text: &str) -> Partial {
    let limits = Limits::new().with_depth(200_000);
    let mut mender = Mender::new(MendOptions::new().with_limits(limits));
    let mut partial = Partial::new();
    mender.push(text.as_bytes(), &mut partial);
    mender.finish(&mut partial);
    partial
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, DeserializeError> {
    T::deserialize(partial(text).root().unwrap())
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Shape {
    Point,
    Circle(f64),
    Line(i8, i8),
    Box { wide: u8, high: u8 },
}

#[derive(Debug, PartialEq, Deserialize)]
struct Wrapped(u8);

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type")]
enum Tagged {
    Move { by: i64 },
    Stop,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Either {
    Number(u64),
    Words(Vec<String>),
}

#[test]
fn values_become_types() {
    assert_eq!(
        read::<Vec<Option<bool>>>("[true, null, False]").unwrap(),
        [Some(true), None, Some(false)]
    );
    assert_eq!(read::<(u8, String, char)>("[1, 'a', 'b']").unwrap(), (1, "a".into(), 'b'));
    assert_eq!(read::<BTreeMap<i32, Wrapped>>("{'-1': 2}").unwrap(), [(-1, Wrapped(2))].into());
    assert_eq!(
        read::<Vec<Either>>("[1, ['a']]").unwrap(),
        [Either::Number(1), Either::Words(vec!["a".into()])]
    );
    assert_eq!(
        read::<Vec<Tagged>>("[{type: 'Move', by: -3}, {'type': 'Stop'}]").unwrap(),
        [Tagged::Move { by: -3 }, Tagged::Stop]
    );
    read::<()>("[null]").unwrap_err();
    assert_eq!(read::<[(); 1]>("[null]").unwrap(), [()]);
}

#[test]
fn enums_are_a_string_or_an_object_with_one_member() {
    let text = "['point', {'circle': 1.5}, {'line': [1, -2]}, {'box': {'wide': 1, 'high': 2}}]";
    let shapes =
        [Shape::Point, Shape::Circle(1.5), Shape::Line(1, -2), Shape::Box { wide: 1, high: 2 }];
    assert_eq!(read::<Vec<Shape>>(text).unwrap(), shapes);
    assert_eq!(read::<[Shape; 1]>("[{'point': null}]").unwrap(), [Shape::Point]);
    for wrong in [
        "['square']",
        "[{}]",
        "[1]",
        "[{'point': 1}]",
        "[{'circle': 1, 'point': null}]",
        "[{'line': [1]}]",
        "[{'line': [1, 2, 3]}]",
        "[{'line': 1}]",
    ] {
        assert!(read::<[Shape; 1]>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn numbers_are_exact_or_refused() {
    let big = "340282366920938463463374607431768211455";
    assert_eq!(read::<[u128; 1]>(&format!("[{big}]")).unwrap(), [u128::MAX]);
    assert_eq!(
        read::<[i128; 1]>("[-170141183460469231731687303715884105728]").unwrap(),
        [i128::MIN]
    );
    assert_eq!(read::<[u64; 1]>("[18446744073709551615]").unwrap(), [u64::MAX]);
    assert_eq!(
        read::<[f64; 2]>(&format!("[{big}, 1e300]")).unwrap(),
        [3.402_823_669_209_385e38, 1e300]
    );
    assert!(read::<[u64; 1]>("[18446744073709551616]").is_err());
    assert!(read::<[u8; 1]>("[256]").is_err());
    assert!(read::<[u128; 1]>(&format!("[{big}0]")).unwrap_err().is_number());
    assert!(read::<[f64; 1]>("[1e400]").unwrap_err().is_number());
    assert!(read::<[u128; 1]>("['1']").is_err());
}

#[test]
fn strings_are_borrowed() {
    #[derive(Deserialize)]
    struct Text<'a> {
        plain: &'a str,
        #[serde(borrow)]
        cow: Cow<'a, str>,
        bytes: &'a [u8],
    }
    let partial = partial("{plain: 'a\\n', cow: 'b', bytes: 'c', more: [[[]]]}");
    let text = Text::deserialize(partial.root().unwrap()).unwrap();
    assert_eq!((text.plain, &*text.cow, text.bytes), ("a\n", "b", &b"c"[..]));
    let keys: BTreeMap<&str, IgnoredAny> = BTreeMap::deserialize(partial.root().unwrap()).unwrap();
    assert_eq!(keys.len(), 4);
}

#[test]
fn depth_is_bounded() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(read::<serde_json::Value>(&nested(127)).is_ok());
    assert!(read::<serde_json::Value>(&nested(128)).unwrap_err().is_depth());
    assert!(read::<serde_json::Value>(&nested(100_000)).unwrap_err().is_depth());
    // Skipped values may be of any depth.
    assert!(read::<IgnoredAny>(&nested(100_000)).is_ok());
    #[derive(Deserialize)]
    struct Chain {
        #[serde(default)]
        next: Option<Box<Chain>>,
    }
    let chain = |levels: usize| {
        let text = format!("{}{{}}{}", "{'next':".repeat(levels), "}".repeat(levels));
        read::<Chain>(&text).map(|first| {
            let mut length = 0;
            let mut at = &first;
            while let Some(next) = &at.next {
                (length, at) = (length + 1, next);
            }
            length
        })
    };
    assert_eq!(chain(126), Ok(126));
    assert!(chain(50_000).unwrap_err().is_depth());
}

#[test]
fn a_value_deserializes_like_its_text() {
    for text in [
        "{\"a\": [1, -2, 3.5, \"x\", true, null, {}, []], \"b\": {\"c\": \"\u{e9}\\\"\"}}",
        "\"alone\"",
        "[[1e5, 18446744073709551615, -9223372036854775808]]",
    ] {
        let value: serde_json::Value = read(text).unwrap();
        assert_eq!(value, serde_json::from_str::<serde_json::Value>(text).unwrap());
    }
    let partial = partial("[1]");
    assert_eq!(partial.root().unwrap().deserialize_any(IgnoredAny), Ok(IgnoredAny));
}

#[test]
fn reports_are_data() {
    let mended = mend(b"{'a b': [None]}", &MendOptions::new());
    let repairs = serde_json::to_value(mended.repairs()).unwrap();
    assert_eq!(
        repairs[2],
        json!({
            "code": "python-literal", "risk": "exact", "start": 9, "end": 13, "after": "null",
        })
    );
    assert_eq!(
        serde_json::to_value((Outcome::Closed, Risk::Guess)).unwrap(),
        json!(["closed", "guess"])
    );
    let mut located = mended.located(b"{'a b': [None]}");
    assert!(located.nth(2).is_some());
    assert_eq!(serde_json::to_value(located.path()).unwrap(), json!("$[\"a b\"][0]"));
    let partial = partial("{'a/b': ['x', 1.50, 12345678901234567890123], c: true}");
    for delta in partial.since(&Revision::default()) {
        let printed: serde_json::Value = serde_json::from_str(&delta.to_string()).unwrap();
        assert_eq!(serde_json::to_value(delta).unwrap(), printed);
    }
    let mut seen = Vec::new();
    let mut events =
        Events::new(|event: ParseEvent<'_>| seen.push(serde_json::to_value(event).unwrap()));
    Mender::new(MendOptions::new()).push(b"{'a': [1, true", &mut events);
    assert_eq!(
        seen[..4],
        [
            json!({"event": "begin-object"}),
            json!({"event": "key", "text": "a"}),
            json!({"event": "begin-array"}),
            json!({"event": "number", "text": "1"}),
        ]
    );
}

/// The error must be usable across threads, like all other types.
#[test]
fn the_error_is_send_and_sync() {
    const fn crosses<T: Send + Sync + std::error::Error>() {}
    crosses::<DeserializeError>();
}
