//! The laws of values and their schemas, on generated schemas and values.

use serde_json::{Map, Value, json};
use wiremend_core::{Limits, MendOptions, Mender, Outcome, Policy, Risk, TrailingDocuments};
use wiremend_extract::find;
use wiremend_schema::{Applied, Cursor, FitOptions, Fitter, Rule, Schema, Standing, Tree};
use wiremend_testkit::{Seed, allocations::heap_of, damage, laws};

const NAMES: [&str; 8] =
    ["id", "user_name", "count", "tags", "kind", "maxResults", "nested", "flag"];
const WORDS: [&str; 9] = ["", "a", "12", "true", "Red", "N/A", "x, y", "[1]", "a \"b\" \\ c"];

/// A schema, and how to make a valid value for it.
fn made_up(seed: &mut Seed, depth: usize) -> Value {
    let kinds = if depth == 0 { 6 } else { 9 };
    match seed.below(kinds) {
        0 => json!({"type": "string"}),
        1 => json!({"type": "integer", "minimum": -5}),
        2 => json!({"type": "number"}),
        3 => json!({"type": "boolean"}),
        4 => json!({"enum": ["RED", "dark_blue", "kg"]}),
        5 => json!({"type": ["integer", "null"]}),
        6 => {
            json!({"type": "array", "items": made_up(seed, depth - 1), "minItems": seed.below(2), "maxItems": 4})
        }
        7 => {
            json!({"anyOf": [made_up(seed, depth - 1), {"type": "null"}]})
        }
        _ => {
            let mut properties = Map::new();
            for _ in 0..=seed.below(4) {
                let name = *seed.pick(&NAMES).unwrap();
                properties.insert(name.to_owned(), made_up(seed, depth - 1));
            }
            let required: Vec<String> =
                properties.keys().filter(|_| seed.below(2) == 0).cloned().collect();
            let open = seed.below(2) == 0;
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": open})
        }
    }
}

fn instance(schema: &Value, seed: &mut Seed) -> Value {
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        return seed.pick(options).unwrap().clone();
    }
    if let Some(branches) = schema.get("anyOf").and_then(Value::as_array) {
        return instance(seed.pick(branches).unwrap(), seed);
    }
    let number = seed.below(10);
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => json!(seed.pick(&WORDS).unwrap()),
        Some("integer") => json!(number),
        Some("number") => json!(number as f64 / 4.0),
        Some("boolean") => json!(number < 5),
        Some("null") => Value::Null,
        Some("array") => (0..=seed.below(3)).map(|_| instance(&schema["items"], seed)).collect(),
        Some("object") => {
            let required = schema["required"].as_array().unwrap().clone();
            let mut members = Map::new();
            for (name, property) in schema["properties"].as_object().unwrap() {
                if required.contains(&json!(name)) || seed.below(3) > 0 {
                    members.insert(name.clone(), instance(property, seed));
                }
            }
            Value::Object(members)
        }
        _ => {
            if number < 3 {
                Value::Null
            } else {
                json!(number)
            }
        }
    }
}

/// The value as a model might have meant it.
fn mistaken(value: &Value, seed: &mut Seed) -> Value {
    match (value, seed.below(5)) {
        (Value::Array(items), 0) if items.len() == 1 => items[0].clone(),
        (Value::Array(_) | Value::Object(_), 1) => json!(value.to_string()),
        (Value::Array(items), _) => items.iter().map(|item| mistaken(item, seed)).collect(),
        (Value::Object(members), _) => {
            let key = |name: &String, seed: &mut Seed| match seed.below(6) {
                0 => name.to_uppercase(),
                1 => name.replace('_', "-"),
                _ => name.clone(),
            };
            let mut changed = Map::new();
            for (name, member) in members {
                changed.insert(key(name, seed), mistaken(member, seed));
            }
            if seed.below(8) == 0 {
                changed.insert("note".to_owned(), Value::Null);
            }
            Value::Object(changed)
        }
        (Value::String(text), 0) => json!(text.to_lowercase()),
        (Value::String(text), 1) => json!([text]),
        (Value::Number(number), 0 | 1) => json!(number.to_string()),
        (Value::Number(number), 2) => json!([number]),
        (Value::Number(number), 4) => json!(number.as_f64()),
        (Value::Bool(value), 0 | 1) => json!(if *value { "True" } else { "no" }),
        (_, 3) => Value::Null,
        _ => value.clone(),
    }
}

fn options(seed: &mut Seed) -> FitOptions {
    let policy = match seed.below(4) {
        0 => Policy::STRICT,
        1 => Policy::CONSERVATIVE,
        2 => Policy::PERMISSIVE.at_most(Risk::Lossy),
        _ => Policy::PERMISSIVE,
    };
    FitOptions::new().with_mending(MendOptions::new().with_policy(policy))
}

fn rounds(of: &str, rounds: usize, mut check: impl FnMut(&Value, &Schema, &mut Seed)) {
    let mut seed = Seed::of(of.as_bytes());
    for _ in 0..rounds {
        let made = made_up(&mut seed, 3);
        let schema = Schema::compile(&made).unwrap();
        check(&made, &schema, &mut seed);
    }
}

#[test]
fn a_valid_value_is_never_changed() {
    rounds("valid", 150, |made, schema, seed| {
        let value = instance(made, seed);
        let text = if seed.below(2) == 0 {
            value.to_string()
        } else {
            serde_json::to_string_pretty(&value).unwrap()
        };
        assert!(schema.accepts(&Tree::read(&text).unwrap()), "{made} {text}");
        for options in [FitOptions::new(), options(seed)] {
            let fitted = schema.fit(text.as_bytes(), &options);
            assert_eq!(fitted.text(), Some(text.as_str()), "{made}");
            assert_eq!(fitted.outcome(), Outcome::Unchanged);
            assert!(fitted.changes().is_empty() && fitted.applied().is_empty());
            laws::schema_laws(schema, text.as_bytes(), &options)
                .unwrap_or_else(|violation| panic!("{made}: {violation}"));
        }
    });
}

#[test]
fn whole_numbers_of_valid_values_become_digits() {
    let mut spelled = 0;
    rounds("spelled", 200, |made, schema, seed| {
        let value = instance(made, seed).to_string();
        // Every number has a fraction of zeros, or an exponent.
        let mut text = String::new();
        let mut digits = false;
        for c in value.chars().chain([' ']) {
            if digits && !c.is_ascii_digit() && c != '.' {
                let ending = if text.ends_with(|c: char| "05".contains(c)) { "e0" } else { ".0" };
                let fraction = text.rsplit(|c: char| !c.is_ascii_digit() && c != '.').next();
                if !fraction.is_some_and(|number| number.contains('.')) {
                    text.push_str(ending);
                }
            }
            digits = c.is_ascii_digit() || digits && c == '.';
            text.push(c);
        }
        if !Tree::read(&text).is_ok_and(|tree| schema.accepts(&tree)) {
            return; // Digits of a string were changed.
        }
        let options = options(seed);
        laws::schema_laws(schema, text.as_bytes(), &options)
            .unwrap_or_else(|violation| panic!("{made}: {violation}"));
        spelled += usize::from(!schema.fit(text.as_bytes(), &options).applied().is_empty());
    });
    assert!(spelled >= 10, "{spelled}");
}

/// A fit reads valid JSON without mending it, and must read it as mending does.
#[test]
fn a_schema_that_accepts_anything_gives_the_result_of_mending() {
    let schema = Schema::compile(&json!(true)).unwrap();
    let small = Limits::new().with_depth(3);
    let mut seed = Seed::of(b"anything");
    let mut texts: Vec<String> = [
        "[[[[1]]]]",
        r#"{"a": {"b": {}}}"#,
        r#""\ud83d\ude00""#,
        r#"["\ud83d", 1]"#,
        r#"{"\uDE00": 1}"#,
        r#"["\ud7ff\ue000\\ud83d"]"#,
        " 7\n",
        "1e999",
        r#"{"a": 1, "a": 2}"#,
        "[1] [2]",
        "\u{feff}[1]",
    ]
    .map(str::to_owned)
    .into();
    for _ in 0..200 {
        let made = made_up(&mut seed, 4);
        let text = instance(&made, &mut seed).to_string();
        let damaged = damage::damaged(text.as_bytes(), seed.below(2), &mut seed);
        texts.extend(String::from_utf8(damaged.text));
    }
    for text in texts {
        for limits in [Limits::new(), small] {
            let options = options(&mut seed);
            let engine = options
                .mending()
                .clone()
                .with_limits(limits)
                .with_trailing_documents(TrailingDocuments::Array);
            let options = options.with_mending(engine.clone());
            let mended = find(text.as_bytes(), options.scope(), &engine);
            let fitted = schema.fit(text.as_bytes(), &options);
            if mended.outcome() == Outcome::Unchanged || fitted.outcome() == Outcome::Unchanged {
                assert_eq!(fitted.outcome(), mended.outcome(), "{text}");
            }
            if mended.outcome().is_valid() {
                assert_eq!(fitted.text(), mended.text(), "{text}");
            }
        }
    }
}

#[test]
fn mistaken_values_keep_the_laws() {
    let mut mended = 0;
    rounds("mistaken", 300, |made, schema, seed| {
        let text = mistaken(&instance(made, seed), seed).to_string();
        let options = options(seed);
        laws::schema_laws(schema, text.as_bytes(), &options)
            .unwrap_or_else(|violation| panic!("{made}: {violation}"));
        mended += usize::from(schema.fit(text.as_bytes(), &options).applied().len() > 1);
    });
    assert!(mended >= 10, "{mended}");
}

#[test]
fn damaged_texts_of_mistaken_values_keep_the_laws() {
    rounds("damaged", 150, |made, schema, seed| {
        let text = mistaken(&instance(made, seed), seed).to_string();
        let count = 1 + seed.below(2);
        let damaged = damage::damaged(text.as_bytes(), count, seed);
        laws::schema_laws(schema, &damaged.text, &options(seed))
            .unwrap_or_else(|violation| panic!("{made}: {violation}"));
    });
}

/// The value as XML elements, with each item in its own element.
fn elements(value: &Value, text: &mut String) {
    let mut element = |name: &str, value: &Value| {
        text.push_str(&format!("<{name}>"));
        elements(value, text);
        text.push_str(&format!("</{name}>\n"));
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| element(name, value)),
        Value::Array(items) => items.iter().for_each(|value| element("item", value)),
        Value::String(content) => text.push_str(content),
        other => text.push_str(&other.to_string()),
    }
}

#[test]
fn elements_keep_the_laws() {
    let mut read = 0;
    rounds("elements", 300, |made, schema, seed| {
        let mut text = String::new();
        elements(&mistaken(&instance(made, seed), seed), &mut text);
        let options = options(seed);
        laws::schema_laws(schema, text.as_bytes(), &options)
            .unwrap_or_else(|violation| panic!("{made}: {violation}"));
        let fitted = schema.fit(text.as_bytes(), &options);
        let by_elements = |applied: &Applied| applied.rule() == Rule::XmlFields;
        read += usize::from(fitted.text().is_some() && fitted.applied().iter().any(by_elements));
    });
    assert!(read >= 10, "{read}");
}

#[test]
fn a_lost_value_is_not_mended_later() {
    let mut lost = 0;
    rounds("lost", 300, |made, schema, seed| {
        let text = mistaken(&instance(made, seed), seed).to_string();
        let options = options(seed);
        let mut stream = Fitter::new(schema, options.clone());
        stream.push(text.as_bytes());
        stream.push(b"\n");
        let issue = stream.cursor().lost().cloned();
        let Some(issue) = issue else { return };
        assert_eq!(issue.standing(), Standing::Lost);
        lost += 1;
        assert_eq!(stream.finish().text(), None, "{made} {text}: {issue}");
    });
    assert!(lost >= 10, "{lost}");
}

/// The cost of a cursor grows with what it reads, and not with the chunks or with what came before.
#[test]
fn the_memory_of_a_cursor_depends_on_bytes_and_not_on_chunks() {
    let schema = Schema::compile(&json!({"type": "array", "items": {
        "type": "object", "properties": {"n": {"type": "integer"}, "kind": {"enum": ["a", "b"]}},
        "required": ["n"],
    }}))
    .unwrap();
    let follow = |items: usize, size: usize| {
        let text = format!("[{}]", vec![r#"{"n": "12", "kind": "A"}"#; items].join(", "));
        heap_of(|| {
            let mut cursor = Cursor::new(&schema, &FitOptions::new());
            let mut mender = Mender::new(MendOptions::new());
            text.as_bytes().chunks(size).for_each(|chunk| mender.push(chunk, &mut cursor));
            assert_eq!(cursor.changes().len(), 2 * items);
        })
    };
    for size in [1, 16, 1 << 20] {
        let (one, four) = (follow(500, size), follow(2_000, size));
        assert!(four.count < 5 * one.count, "{size}: {one:?} {four:?}");
        assert!(four.total < 5 * one.total, "{size}: {one:?} {four:?}");
    }
    let (bytes, whole) = (follow(1_000, 1), follow(1_000, 1 << 20));
    assert!(bytes.count < 4 * whole.count, "{bytes:?} {whole:?}");
}
