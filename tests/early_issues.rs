//! What is lost is lost: a call or an object with an early issue that says so does not fit in the end, however its text
//! was damaged.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use wiremend_core::{MendOptions, Policy, Risk};
use wiremend_extract::Scope;
use wiremend_response::{Event, ResponseOptions, ResponseReader, TextCalls};
use wiremend_schema::{FitOptions, Fitter, Registry, Schema, SharedRegistry, Standing};
use wiremend_testkit::{Seed, damage::Damage, damaged::samples};
use wiremend_wire::{ToolPolicies, WireOptions};

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
enum Place {
    Call,
    CallInText,
    Object(Scope),
}

impl Place {
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
    let mut counts = [0; Place::ALL.len() + 1];
    let mut fitting = Vec::new();
    for (number, (value, text)) in texts(2).into_iter().enumerate() {
        let mut wrong = (number % 3 == 0).then(|| Seed::of(text.as_bytes()));
        let made = schema_of(&value, &mut wrong);
        let schema = Schema::compile(&made).unwrap();
        let tools = json!([{"name": "tool", "input_schema": made}]);
        let tools = SharedRegistry::new(Registry::from_tools(&tools).unwrap());
        let policy = policies[number % policies.len()];
        let size = [7, 60, usize::MAX][number / 3 % 3];
        for (place, count) in Place::ALL.into_iter().zip(&mut counts) {
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
            counts[Place::ALL.len()] += 1;
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
    for (place, count) in [(Place::Call, 1), (Place::CallInText, 0)] {
        let policies = ToolPolicies::new(|name| (name == "tool").then_some(Policy::STRICT));
        let options = place.options(&schema, &tools, Policy::CONSERVATIVE);
        let wire = options.wire().clone().with_policies(policies);
        let mut lost = Lost::default();
        lost.read(place.body(text, 5).as_bytes(), 100, &options.with_wire(wire));
        assert_eq!((lost.count, &*lost.fitting), (count, &[][..]), "{place:?}");
    }
}
