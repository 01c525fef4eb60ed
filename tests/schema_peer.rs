//! The judge of `wiremend-schema` beside the library `jsonschema`, on schemas that a grammar makes.

use serde_json::{Value, json};
use wiremend_schema::{Schema, Tree};
use wiremend_testkit::{Seed, schemas};

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
