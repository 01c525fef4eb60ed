//! The cost of a schema: compiling it, fitting a valid value and damaged ones, and fitting a value that
//! streams, with a snapshot after each chunk. `-- clean` runs only that one of `compiling`, `clean`,
//! `damaged` and `streaming`.

use std::hint::black_box;

use serde_json::Value;
use wiremend_benches::{
    measure::{Budget, Contender, Timed, interleaved},
    values::{Damage, meeting, order, tool},
};
use wiremend_core::{MendOptions, Partial, mend};
use wiremend_schema::{Cursor, FitOptions, Fitter, NodeState, Schema, Tree};

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
    if wanted("damaged") {
        damaged(budget);
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
    let text = meeting(2_000);
    let input = text.as_bytes();
    let (options, fit) = (MendOptions::new(), FitOptions::new());
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

/// Values that rules must repair, one kind of damage in each. The unit is mending their syntax.
fn damaged(budget: Budget) {
    let Ok(schema) = Schema::compile(&order()) else { return };
    let (options, fit) = (MendOptions::new(), FitOptions::new());
    for (bytes, times) in [(2_000, 20), (100_000, 1)] {
        let texts = Damage::ALL.map(|damage| (damage.name(), damage.order(bytes)));
        for (name, text) in &texts {
            let fitted = schema.fit(text.as_bytes(), &fit);
            assert!(fitted.text().is_some() && !fitted.applied().is_empty(), "{name} is repaired");
        }
        println!("\ndamaged values, {bytes} bytes each; the first is the unit");
        let many = |work: &dyn Fn()| (0..times).for_each(|_| work());
        let mut contenders = vec![Contender::new("syntax: mend, keys", bytes, || {
            many(&|| drop(black_box(mend(texts[2].1.as_bytes(), &options))));
        })];
        for (name, text) in &texts {
            contenders.push(Contender::new(format!("fit, {name}"), text.len(), || {
                many(&|| drop(black_box(schema.fit(text.as_bytes(), &fit))));
            }));
        }
        report(&interleaved(&mut contenders, budget), f64::from(times));
    }
}

/// Chunks of 16 bytes, with a snapshot after each.
fn streaming(schema: &Schema, budget: Budget) {
    println!("\na value in chunks of 16 bytes, with a snapshot at each");
    for bytes in [5_000, 10_000, 20_000, 40_000] {
        let text = meeting(bytes);
        let mut contenders = [
            Contender::new("mender and partial value", text.len(), || {
                let mut mender = wiremend_core::Mender::new(MendOptions::new());
                let mut partial = Partial::new();
                for chunk in text.as_bytes().chunks(16) {
                    mender.push(chunk, &mut partial);
                    black_box(partial.root());
                }
                mender.finish(&mut partial);
            }),
            Contender::new("mender and cursor", text.len(), || {
                let mut mender = wiremend_core::Mender::new(MendOptions::new());
                let mut cursor = Cursor::new(schema, &FitOptions::new());
                for chunk in text.as_bytes().chunks(16) {
                    mender.push(chunk, &mut cursor);
                    black_box(cursor.root());
                }
                mender.finish(&mut cursor);
                assert_eq!(cursor.root().map(|root| root.state()), Some(NodeState::Final));
            }),
            Contender::new("Fitter, to the end", text.len(), || {
                let mut stream = Fitter::new(schema, FitOptions::new());
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
