//! What a schema may cost: one more level, branch, item or name takes its share of work and no more.
//! Steps are counted, nothing is timed.

use serde_json::{Map, Value, json};
use wiremend_core::Outcome;
use wiremend_schema::{FitOptions, Fitted, Fitter, IssueCode, Schema, Tree, steps};

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
