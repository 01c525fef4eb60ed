//! Values and their schemas: the laws on generated ones, what early issues promise, what a peer says of the same value,
//! and what a schema may cost.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use wiremend_core::{Limits, MendOptions, Mender, Outcome, Policy, Risk, TrailingDocuments};
use wiremend_extract::{Scope, find};
use wiremend_response::{Event, ResponseOptions, ResponseReader, TextCalls};
use wiremend_schema::{
    Applied, Cursor, FitOptions, Fitted, Fitter, IssueCode, Registry, Rule, Schema, SharedRegistry,
    Standing, Tree, steps,
};
use wiremend_testkit::{
    Seed,
    allocations::heap_of,
    damage::{self, Damage},
    damaged::samples,
    laws, schemas,
};
use wiremend_wire::{ToolPolicies, WireOptions};

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

// What is lost is lost: a call or an object with an early issue that says so does not fit in the end, however its text
// was damaged.

/// A schema for the value. With a seed, it wants something else in a few places.
fn schema_of(value: &Value, wrong: &mut Option<Seed>) -> Value {
    if let Some(seed) = wrong
        && seed.below(8) == 0
    {
        let other = seed.pick(&["integer", "boolean", "string", "array", "object"]).unwrap();
        return json!({"type": other});
    }
    match value {
        Value::Null => json!({"type": "null"}),
        Value::Bool(_) => json!({"type": "boolean"}),
        Value::Number(number) if number.is_f64() => json!({"type": "number"}),
        Value::Number(_) => json!({"type": "integer"}),
        Value::String(_) => json!({"type": "string"}),
        Value::Array(items) => {
            let schemas: Vec<Value> = items.iter().map(|item| schema_of(item, wrong)).collect();
            let count = items.len();
            match schemas.first() {
                Some(first) if schemas.iter().all(|schema| schema == first) => json!({
                    "type": "array", "items": first, "minItems": count, "maxItems": count
                }),
                _ => json!({"type": "array"}),
            }
        }
        Value::Object(members) => {
            let properties: Map<String, Value> =
                members.iter().map(|(key, value)| (key.clone(), schema_of(value, wrong))).collect();
            let required: Vec<&String> = members.keys().collect();
            json!({
                "type": "object", "properties": properties, "required": required,
                "additionalProperties": false
            })
        }
    }
}

fn event(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    format!("data: {}\n\n", json!({"choices": [choice]}))
}

/// The text in pieces of about `size` bytes.
fn pieces(text: &str, size: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    for character in text.chars() {
        if all.last().unwrap().len() >= size {
            all.push(String::new());
        }
        all.last_mut().unwrap().push(character);
    }
    all
}

/// How a text is part of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartOfResponse {
    Call,
    CallInText,
    Object(Scope),
}

impl PartOfResponse {
    const ALL: [Self; 5] = [
        Self::Call,
        Self::CallInText,
        Self::Object(Scope::All),
        Self::Object(Scope::First),
        Self::Object(Scope::Whole),
    ];

    fn body(self, text: &str, size: usize) -> String {
        let called = |piece: &String| {
            let function = json!({"name": "tool", "arguments": piece});
            json!({"tool_calls": [{"index": 0, "id": "c", "function": function}]})
        };
        let deltas: Vec<Value> = match self {
            Self::Call => pieces(text, size).iter().map(called).collect(),
            Self::CallInText => {
                let text =
                    format!("<tool_call>{{\"name\": \"tool\", \"arguments\": {text}}}</tool_call>");
                pieces(&text, size).iter().map(|piece| json!({"content": piece})).collect()
            }
            Self::Object(_) => {
                pieces(text, size).iter().map(|piece| json!({"content": piece})).collect()
            }
        };
        let reason = if self == Self::Call { "tool_calls" } else { "stop" };
        let events: String = deltas.iter().map(|delta| event(delta, None)).collect();
        events + &event(&json!({}), Some(reason)) + "data: [DONE]\n\n"
    }

    fn options(self, schema: &Schema, tools: &SharedRegistry, policy: Policy) -> ResponseOptions {
        let mending = MendOptions::new().with_policy(policy);
        let wire = WireOptions::new().with_mending(mending.clone());
        let options =
            ResponseOptions::new().with_tools(tools).with_wire(wire).with_mending(mending);
        match self {
            Self::Call => options,
            Self::CallInText => options.with_calls_in_text(TextCalls::detected()),
            Self::Object(scope) => {
                options.with_schema(schema, FitOptions::new()).with_objects(scope)
            }
        }
    }
}

/// How many calls and objects were lost, and what was lost but fits.
#[derive(Debug, Default)]
struct Lost {
    count: usize,
    fitting: Vec<String>,
}

impl Lost {
    fn read(&mut self, body: &[u8], size: usize, options: &ResponseOptions) {
        let mut reader = ResponseReader::new(options.clone());
        let mut found = BTreeMap::new();
        for chunk in body.chunks(size).map(Some).chain([None]) {
            let mut events = Vec::new();
            let mut take = |event| events.push(event);
            match chunk {
                Some(chunk) => reader.push(chunk, &mut take),
                None => reader.finish(&mut take),
            }
            for event in events {
                let (at, json) = match &event {
                    Event::CallIssue { call, issue, .. } => {
                        if issue.standing() == Standing::Lost {
                            found.entry((true, *call)).or_insert_with(|| issue.to_string());
                        }
                        continue;
                    }
                    Event::ObjectIssue { object, issue, .. } => {
                        if issue.standing() == Standing::Lost {
                            found.entry((false, *object)).or_insert_with(|| issue.to_string());
                        }
                        continue;
                    }
                    Event::CallFitted(fit) => ((true, fit.call().number()), fit.arguments()),
                    Event::ObjectFitted(fit) => {
                        let Some(object) = fit.object() else { continue };
                        ((false, object), fit.json())
                    }
                    _ => continue,
                };
                let Some(issue) = found.get(&at) else { continue };
                self.count += 1;
                self.fitting.extend(json.map(|json| format!("{issue}: {json}")));
            }
        }
    }
}

/// The value of a sample, and texts that say it.
fn texts(per_kind: u64) -> Vec<(Value, String)> {
    let mut texts = Vec::new();
    for (number, (_, sample)) in samples(1, per_kind).into_iter().enumerate() {
        let text = sample.value.to_string();
        let mut seed = Seed::of(sample.text.as_bytes());
        let way = Damage::ALL[number % Damage::ALL.len()];
        let damaged = way.apply(text.as_bytes(), &mut seed);
        let damaged = damaged.and_then(|text| String::from_utf8(text).ok());
        texts.extend(damaged.map(|text| (sample.value.clone(), text)));
        texts.push((sample.value, sample.text));
    }
    texts
}

/// More fit than the stream could know: a doubled bracket shows only with what follows it, and words without quotes
/// are read with more of the text.
#[test]
fn what_is_lost_does_not_fit_in_the_end() {
    let policies = [
        Policy::CONSERVATIVE,
        Policy::CONSERVATIVE.at_most(Risk::Exact),
        Policy::PERMISSIVE.at_most(Risk::Lossy),
    ];
    let mut counts = [0; PartOfResponse::ALL.len() + 1];
    let mut fitting = Vec::new();
    for (number, (value, text)) in texts(2).into_iter().enumerate() {
        let mut wrong = (number % 3 == 0).then(|| Seed::of(text.as_bytes()));
        let made = schema_of(&value, &mut wrong);
        let schema = Schema::compile(&made).unwrap();
        let tools = json!([{"name": "tool", "input_schema": made}]);
        let tools = SharedRegistry::new(Registry::from_tools(&tools).unwrap());
        let policy = policies[number % policies.len()];
        let size = [7, 60, usize::MAX][number / 3 % 3];
        for (place, count) in PartOfResponse::ALL.into_iter().zip(&mut counts) {
            let mut lost = Lost::default();
            let body = place.body(&text, size);
            let chunk = [1, 100, body.len()][number / 9 % 3];
            lost.read(body.as_bytes(), chunk, &place.options(&schema, &tools, policy));
            *count += lost.count;
            fitting.extend(lost.fitting.into_iter().map(|what| format!("{place:?}: {what}")));
        }
        let options = FitOptions::new().with_mending(MendOptions::new().with_policy(policy));
        let mut stream = Fitter::new(&schema, options);
        pieces(&text, size).iter().for_each(|piece| stream.push(piece.as_bytes()));
        if let Some(issue) = stream.cursor().lost().cloned() {
            counts[PartOfResponse::ALL.len()] += 1;
            let fitted = stream.finish();
            fitting.extend(fitted.text().map(|json| format!("a stream: {issue}: {json}")));
        }
    }
    assert_eq!(fitting, [""; 0]);
    assert!(counts.iter().all(|count| *count >= 15), "{counts:?}");
}

/// The cursor of a call in a text has the policy of its fit, which is not that of its tool.
#[test]
fn the_policy_of_a_tool_does_not_count_in_a_text() {
    let made = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let tools = json!([{"name": "tool", "input_schema": made.clone()}]);
    let tools = SharedRegistry::new(Registry::from_tools(&tools).unwrap());
    let schema = Schema::compile(&made).unwrap();
    let text = r#"{"n": "7", "m": 1}"#;
    for (place, count) in [(PartOfResponse::Call, 1), (PartOfResponse::CallInText, 0)] {
        let policies = ToolPolicies::new(|name| (name == "tool").then_some(Policy::STRICT));
        let options = place.options(&schema, &tools, Policy::CONSERVATIVE);
        let wire = options.wire().clone().with_policies(policies);
        let mut lost = Lost::default();
        lost.read(place.body(text, 5).as_bytes(), 100, &options.with_wire(wire));
        assert_eq!((lost.count, &*lost.fitting), (count, &[][..]), "{place:?}");
    }
}

// The judge of `wiremend-schema` beside the library `jsonschema`, on schemas that a grammar makes.

/// How many schemas are made.
const SCHEMAS: u64 = 4_000;

fn value(seed: &mut Seed, depth: usize) -> Value {
    match seed.below(if depth == 0 { 6 } else { 9 }) {
        0 => Value::Null,
        1 => true.into(),
        2 => seed.below(30).into(),
        3 => json!(1.5),
        4 => json!(*seed.pick(&["a", "b", "", "RED", "1", "aaaa", "2026-01-01", "12"]).unwrap()),
        5 => json!(2.0),
        6 => (0..seed.below(4)).map(|_| value(seed, depth - 1)).collect(),
        _ => {
            let mut members = serde_json::Map::new();
            for _ in 0..seed.below(4) {
                let name = *seed.pick(&["a", "b", "c", "kind", "a.b", "12"]).unwrap();
                members.insert(name.to_owned(), value(seed, depth - 1));
            }
            members.into()
        }
    }
}

/// Whether the drafts leave open what a schema means, or the library reads more of it lazily: references
/// by dynamic scope that lead nowhere, or back to where they are.
fn is_left_open(schema: &Value) -> bool {
    let text = schema.to_string();
    ["\"$ref\":\"\"", "$recursive", "$dynamic"].iter().any(|part| text.contains(part))
}

#[test]
fn the_judge_agrees_with_the_library() {
    let (mut compared, mut accepted) = (0, 0);
    for number in 0..SCHEMAS {
        let mut seed = Seed::of(&number.to_le_bytes());
        let recipe: Vec<u8> = (0..40).map(|_| u8::try_from(seed.below(256)).unwrap()).collect();
        let source = schemas::of(&recipe);
        let own = Schema::compile(&source);
        if is_left_open(&source) {
            continue;
        }
        let Ok(library) = jsonschema::validator_for(&source) else { continue };
        let Ok(own) = own else {
            panic!("only the library takes {source}: {:?}", own.err());
        };
        for _ in 0..6 {
            let value = value(&mut seed, 3);
            let text = value.to_string();
            let expected = library.is_valid(&value);
            let found = own.accepts(&Tree::read(&text).unwrap());
            assert_eq!(found, expected, "{text} by {source}");
            let issues = own.validate(&Tree::read(&text).unwrap());
            assert_eq!(issues.is_empty(), expected, "{text} by {source}: {issues:?}");
            compared += 1;
            accepted += usize::from(expected);
        }
    }
    assert!(compared > 3_000 && accepted > 500, "{accepted} of {compared}");
}

// What a schema may cost: one more level, branch, item or name takes its share of work and no more.
// Steps are counted, nothing is timed.

/// The bound that `docs/limits.md` states for a text of so many bytes.
fn bound(length: usize) -> u64 {
    (32 << 20) + 256 * length as u64
}

fn counted<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = steps();
    let made = work();
    (made, steps() - before)
}

/// The steps of judging a value, of saying what is wrong with it, and of fitting it.
fn work(schema: &Value, input: &str) -> ([u64; 3], Fitted) {
    let schema = Schema::compile(schema).unwrap();
    let tree = Tree::read(input).unwrap();
    let (_, accepts) = counted(|| schema.accepts(&tree));
    let (_, validate) = counted(|| schema.validate(&tree));
    let (fitted, fit) = counted(|| schema.fit(input.as_bytes(), &FitOptions::new()));
    for steps in [accepts, validate, fit] {
        assert!(steps <= bound(input.len()), "{steps} steps for {} bytes", input.len());
    }
    ([accepts, validate, fit], fitted)
}

/// Asserts that each step from one size to the next adds at most so much work.
fn grows_by(
    sizes: &[usize],
    each: u64,
    schema: impl Fn(usize) -> Value,
    input: impl Fn(usize) -> String,
) {
    let mut last: Option<(usize, [u64; 3])> = None;
    for size in sizes {
        let (own, fitted) = work(&schema(*size), &input(*size));
        assert_ne!(fitted.outcome(), Outcome::Overflow, "{size}: {own:?}");
        if let Some((before, other)) = last {
            for (own, other) in own.iter().zip(other) {
                let more = own.saturating_sub(other);
                let most = each * (size - before) as u64;
                assert!(more <= most, "{more} more steps from {before} to {size}, not {most}");
            }
        }
        last = Some((*size, own));
    }
}

/// `d0` refers to `d1` in two ways, `d1` to `d2`, and so on.
fn chain(keyword: &str, levels: usize) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(format!("d{level}"), json!({keyword: [next, {"allOf": [next]}]}));
    }
    definitions.insert(format!("d{levels}"), json!({"type": "integer"}));
    json!({"$ref": "#/$defs/d0", "$defs": definitions})
}

#[test]
fn a_level_of_a_chain_of_unions_costs_as_much_as_the_one_before() {
    for keyword in ["anyOf", "oneOf", "allOf"] {
        for input in ["\"x\"", "{}", "[[1]]"] {
            grows_by(&[8, 9, 20, 40], 60_000, |n| chain(keyword, n), |_| input.to_owned());
        }
    }
    let (own, fitted) = work(&chain("anyOf", 200), "7");
    assert_eq!(fitted.outcome(), Outcome::Unchanged);
    assert!(own[0] < 2_000, "{own:?}");
}

/// A list of objects that hold such a list, or a number, described four times over.
fn recursive() -> Value {
    let branch = |least: u64| {
        let item = json!({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]});
        json!({"type": "array", "minItems": least, "items": item})
    };
    json!({"anyOf": [branch(0), branch(1), branch(0), branch(1), {"type": "integer"}]})
}

#[test]
fn a_level_of_a_value_under_a_recursive_union_costs_as_much_as_the_one_before() {
    let nested = |n: usize| format!("{}\"zz\"{}", "[{\"a\":".repeat(n), "}]".repeat(n));
    grows_by(&[4, 5, 10, 20], 60_000, |_| recursive(), nested);
}

#[test]
fn a_branch_costs_as_much_as_the_one_before() {
    let branch = |n: usize| {
        let name = format!("p{n}");
        json!({"required": ["kind", name], "properties": {"kind": {"const": n}, (name): {"type": "integer"}}})
    };
    let schema = |n: usize| json!({"items": {"oneOf": (0..n).map(branch).collect::<Vec<_>>()}});
    let valid = |n: usize| {
        let items = (0..100).map(|at| format!("{{\"kind\": {0}, \"p{0}\": 1}}", at % n));
        format!("[{}]", items.collect::<Vec<_>>().join(", "))
    };
    grows_by(&[100, 101, 200, 400], 200 * 100, schema, valid);
    let invalid = |_| format!("[{}]", vec!["{\"kind\": \"none\"}"; 20].join(", "));
    grows_by(&[50, 51, 100, 200], 4_000 * 20, schema, invalid);
}

#[test]
fn a_listed_value_costs_no_more_than_its_look_up() {
    let schema = |n: usize| {
        let values: Vec<String> = (0..n).map(|n| format!("value {n}")).collect();
        json!({"items": {"enum": values}})
    };
    let valid = |n: usize| {
        let items: Vec<String> = (0..500).map(|at| format!("\"value {}\"", at % n)).collect();
        format!("[{}]", items.join(", "))
    };
    grows_by(&[1_000, 2_000, 4_000], 1, schema, valid);
    let (_, fitted) = work(&schema(4_000), &format!("[{}]", vec!["\"valu 7\""; 100].join(", ")));
    assert_eq!(fitted.outcome(), Outcome::Invalid);
}

#[test]
fn a_union_that_a_branch_refers_back_to_is_explained_once() {
    for keyword in ["anyOf", "oneOf"] {
        // Each look at the branch leads to the union again, and no further.
        let own = json!({keyword: [{"$ref": "#", "required": ["colour"]}]});
        let both = json!({keyword: [{"allOf": [{"$ref": "#"}, {"$ref": "#/$defs/named"}]}],
            "$defs": {"named": {"required": ["colour"]}}});
        for schema in [own, both] {
            let (steps, fitted) = work(&schema, "{\"size\": 3}");
            assert!(steps.iter().all(|steps| *steps < 8_000), "{schema}: {steps:?}");
            let issues: Vec<String> = fitted.issues().iter().map(ToString::to_string).collect();
            assert_eq!(issues, ["/: missing required property \"colour\""], "{schema}");
        }
    }
}

#[test]
fn documents_in_prose_and_long_names_cost_their_length() {
    let list = json!({"type": "array", "items": {"properties": {"a": {"type": "integer"}}}});
    let schema = Schema::compile(&list).unwrap();
    let fit = |n: usize| {
        let text = "{\"a\":\"1\"} text ".repeat(n);
        let (fitted, steps) = counted(|| schema.fit(text.as_bytes(), &FitOptions::new()));
        assert!(fitted.text().is_some());
        steps
    };
    let (one, two) = (fit(500), fit(1_000));
    assert!(two <= 2 * one + one / 2, "{one} {two}");

    let names: Vec<String> = (0..300).map(|n| format!("{}{n}", "long_name_".repeat(10))).collect();
    let properties: Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({"type": "integer"}))).collect();
    let closed =
        json!({"properties": properties, "required": names, "additionalProperties": false});
    let (own, _) = work(&closed, &format!("{{\"{}\": 1}}", "x_".repeat(500_000)));
    assert!(own.iter().all(|steps| *steps < 40 << 20), "{own:?}");
}

#[test]
fn what_takes_too_much_work_is_an_overflow_and_the_value_stays() {
    // A pattern that goes back as often as it may, over a long string.
    let schema = json!({"items": {"pattern": r"(.*)*\1z"}});
    let text = format!("[\"{}!\"]", "a".repeat(40_000));
    let schema = Schema::compile(&schema).unwrap();
    let (fitted, steps) = counted(|| schema.fit(text.as_bytes(), &FitOptions::new()));
    assert!(steps <= bound(text.len()));
    assert_eq!(fitted.outcome(), Outcome::Overflow);
    assert_eq!((fitted.text(), fitted.mended()), (None, Some(text.as_str())));
    assert_eq!(fitted.issues().last().unwrap().code(), IssueCode::Overflow);
    let tree = Tree::read(&text).unwrap();
    assert!(!schema.accepts(&tree));
    assert_eq!(schema.validate(&tree).last().unwrap().code(), IssueCode::Overflow);
    // The cursor stops judging, and reports nothing that it does not know.
    let mut stream = Fitter::new(&schema, FitOptions::new());
    let (_, steps) = counted(|| stream.push(text.as_bytes()));
    assert!(steps <= bound(text.len()), "{steps}");
    assert!(stream.finish() == fitted);
}

#[test]
fn values_of_realistic_schemas_are_far_from_the_bound() {
    let item = json!({"type": "object", "properties": {
        "a": {"type": "integer"}, "b": {"type": "string", "pattern": "^[a-z]+ [0-9]+$"},
        "c": {"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "null"}]}},
    }, "required": ["a", "b"], "additionalProperties": false});
    let schema = json!({"type": "array", "items": item});
    let items =
        |n: usize| (0..n).map(|n| format!("{{\"a\": {n}, \"b\": \"text {n}\", \"c\": [1, null]}}"));
    let text = format!("[{}]", items(500).collect::<Vec<_>>().join(", "));
    let (own, fitted) = work(&schema, &text);
    assert_eq!(fitted.text(), Some(text.as_str()));
    assert!(own[0] < 4 * text.len() as u64, "{own:?} for {} bytes", text.len());
}
