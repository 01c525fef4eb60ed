//! The cost of a schema: compiling it, fitting a valid value, and fitting a value that streams, with a
//! snapshot after each chunk. `-- clean` runs only that one of `compiling`, `clean` and `streaming`.

use std::{fmt::Write as _, hint::black_box};

use jsonmend_benches::measure::{Budget, Contender, Timed, interleaved};
use jsonmend_core::{Options, Partial, mend};
use jsonmend_schema::{Cursor, FitOptions, FitStream, NodeState, Schema, Tree};
use serde_json::{Value, json};

/// A tool with ten properties.
fn tool() -> Value {
    json!({
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "What the meeting is called", "minLength": 1},
            "start": {"type": "string", "description": "When it begins, as RFC 3339 has it"},
            "minutes": {"type": "integer", "minimum": 5, "maximum": 480},
            "remote": {"type": "boolean"},
            "room": {"type": ["string", "null"]},
            "priority": {"enum": ["low", "normal", "high"]},
            "attendees": {"type": "array", "items": {"type": "string"}, "maxItems": 400},
            "budget": {"type": "number", "minimum": 0},
            "agenda": {"type": "array", "items": {"type": "object", "properties": {
                "topic": {"type": "string"}, "minutes": {"type": "integer"},
                "lead": {"anyOf": [{"type": "string"}, {"type": "null"}]}
            }, "required": ["topic", "minutes"], "additionalProperties": false}},
            "notes": {"type": "string"}
        },
        "required": ["title", "start", "minutes"],
        "additionalProperties": false
    })
}

/// A valid value of about `size` bytes.
fn value(bytes: usize) -> String {
    let mut text = r#"{"title": "Review of the north region", "start": "2026-03-04T10:00:00Z", "minutes": 45, "remote": true, "room": null, "priority": "normal", "budget": 1250.50, "attendees": ["mara@example.com", "tomas@example.com"], "notes": "Bring the final figures, in thousands.", "agenda": ["#.to_owned();
    let mut item = 0;
    while text.len() < bytes {
        let separator = if item == 0 { "" } else { ", " };
        let _ = write!(
            text,
            r#"{separator}{{"topic": "Point {item}: what was sold, and to whom", "minutes": {}, "lead": null}}"#,
            5 + item % 20
        );
        item += 1;
    }
    text.push_str("]}");
    text
}

fn main() {
    // `cargo test` runs benchmarks, too. One round is enough to check that they run.
    let once = !std::env::args().any(|argument| argument == "--bench");
    let budget = if once { Budget::ONCE } else { Budget::FULL };
    let source = tool();
    let Ok(schema) = Schema::compile(&source) else { return };
    let named: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let wanted = |name: &str| named.is_empty() || named.iter().any(|own| own == name);
    if wanted("compiling") {
        compiling(&source, budget);
    }
    if wanted("clean") {
        clean(&schema, budget);
    }
    if wanted("streaming") {
        streaming(&schema, budget);
    }
}

fn compiling(source: &Value, budget: Budget) {
    let text = source.to_string();
    let mut contenders = [
        Contender::new("serde_json: the value", text.len(), || {
            let read: serde_json::Result<Value> = serde_json::from_str(&text);
            black_box(read.is_ok());
        }),
        Contender::new("Schema::compile", text.len(), || {
            black_box(Schema::compile(source).is_ok());
        }),
    ];
    println!("a tool of ten properties, {} bytes; the first is the unit", text.len());
    report(&interleaved(&mut contenders, budget), 1.0);
}

/// Compares syntax alone with syntax and schema.
fn clean(schema: &Schema, budget: Budget) {
    const TIMES: u32 = 100;
    let text = value(2_000);
    let input = text.as_bytes();
    let (options, fit) = (Options::new(), FitOptions::new());
    assert_eq!(schema.fit(input, &fit).text(), Some(text.as_str()), "the value is valid");
    let bytes = text.len() * TIMES as usize;
    let many = |work: &dyn Fn()| (0..TIMES).for_each(|_| work());
    let mut contenders = [
        Contender::new("syntax: mend", bytes, || many(&|| drop(black_box(mend(input, &options))))),
        Contender::new("tree and validation", bytes, || {
            many(&|| {
                black_box(Tree::read(&text).is_ok_and(|tree| schema.accepts(&tree)));
            });
        }),
        Contender::new("syntax and schema: fit", bytes, || {
            many(&|| drop(black_box(schema.fit(input, &fit))));
        }),
    ];
    println!("\na clean value, {} bytes; the first is the unit", text.len());
    report(&interleaved(&mut contenders, budget), f64::from(TIMES));
}

/// Chunks of 16 bytes, with a snapshot after each.
fn streaming(schema: &Schema, budget: Budget) {
    println!("\na value in chunks of 16 bytes, with a snapshot at each");
    for bytes in [5_000, 10_000, 20_000, 40_000] {
        let text = value(bytes);
        let mut contenders = [
            Contender::new("mender and partial value", text.len(), || {
                let mut mender = jsonmend_core::Mender::new(Options::new());
                let mut partial = Partial::new();
                for chunk in text.as_bytes().chunks(16) {
                    mender.push(chunk, &mut partial);
                    black_box(partial.root());
                }
                mender.finish(&mut partial);
            }),
            Contender::new("mender and cursor", text.len(), || {
                let mut mender = jsonmend_core::Mender::new(Options::new());
                let mut cursor = Cursor::new(schema, &FitOptions::new());
                for chunk in text.as_bytes().chunks(16) {
                    mender.push(chunk, &mut cursor);
                    black_box(cursor.root());
                }
                mender.finish(&mut cursor);
                assert_eq!(cursor.root().map(|root| root.state()), Some(NodeState::Final));
            }),
            Contender::new("FitStream, to the end", text.len(), || {
                let mut stream = FitStream::new(schema, FitOptions::new());
                for chunk in text.as_bytes().chunks(16) {
                    stream.push(chunk);
                    black_box(stream.cursor().root());
                }
                assert!(stream.finish().text().is_some());
            }),
        ];
        println!("{} bytes, {} chunks", text.len(), text.len().div_ceil(16));
        report(&interleaved(&mut contenders, budget), 1.0);
    }
}

fn report(timed: &[Timed], times: f64) {
    for Timed { name, best, cost, .. } in timed {
        let micros = best.as_secs_f64() * 1e6 / times;
        println!("  {name:<28} {cost:>6.2}x  {micros:>10.1} µs");
    }
}
