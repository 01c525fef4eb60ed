//! Fitting: what is accepted, what is refused, what is reported, and how whole numbers are spelled afterwards.

use serde_json::{Value, json};
use wiremend_core::{Limits, MendOptions, Mender, Outcome, Policy, Risk, TrailingDocuments};
use wiremend_schema::{
    Applied, Cause, Cursor, FitOptions, Fitted, IssueCode, NodeState, ParseAsError, Rule, Rules,
    Schema, apply_changes,
};

fn fit(schema: &Value, input: &str) -> Fitted {
    Schema::compile(schema).unwrap().fit(input.as_bytes(), &FitOptions::new())
}

#[test]
fn valid_values_are_never_changed() {
    let schema = json!({"properties": {
        "text": {"type": "string"}, "any": {}, "list": {"type": "array", "items": {"type": "string"}},
    }});
    for input in [
        r#"{"text": "[1, 2]", "any": {"value": 1}}"#,
        r#"{"text": "true", "list": ["[\"a\"]", "1,2"]}"#,
        "{\"any\" : null,\r\n\"note\": 1e400, \"a\": 1, \"a\": 2}",
    ] {
        let fitted = fit(&schema, input);
        assert_eq!((fitted.outcome(), fitted.text()), (Outcome::Unchanged, Some(input)));
        assert!(fitted.changes().is_empty() && fitted.applied().is_empty());
    }
}

/// A member that a pattern declares is mended like one that has a name.
#[test]
fn members_by_pattern_are_mended_like_properties() {
    let schema = json!({
        "properties": {"name": {"type": "string"}},
        "patternProperties": {"^n_": {"type": "integer"}, "_at$": {"type": "boolean"}},
        "additionalProperties": false,
    });
    let input = r#"{"n_a": "5", "name": "6", "is_at": "true"}"#;
    assert_eq!(fit(&schema, input).text(), Some(r#"{"n_a": 5, "name": "6", "is_at": true}"#));
    // One that no pattern matches is refused, and so is a value that is nothing of its pattern.
    assert_eq!(fit(&schema, r#"{"x": "5"}"#).outcome(), Outcome::Invalid);
    assert_eq!(fit(&schema, r#"{"n_a": "five"}"#).outcome(), Outcome::Invalid);
    let open = json!({"patternProperties": {"^n_": {"type": "integer"}}});
    assert_eq!(fit(&open, r#"{"n_a": "5", "x": "5"}"#).text(), Some(r#"{"n_a": 5, "x": "5"}"#));
    // No more than so many patterns are compared.
    for (count, outcome) in [(15, Outcome::Repaired), (16, Outcome::Invalid)] {
        let others = (0..count).map(|number| (format!("^a{number}$"), json!({})));
        let last = (String::from("^n_"), json!({"type": "integer"}));
        let patterns: serde_json::Map<String, Value> = others.chain([last]).collect();
        let fitted = fit(&json!({"patternProperties": patterns}), r#"{"n_a": "5"}"#);
        assert_eq!(fitted.outcome(), outcome, "{count}");
    }
    // Members of one object with different patterns.
    let streamed =
        json!({"patternProperties": {"^a": {"type": "integer"}, "^b": {"type": "string"}}});
    let fitted = fit(&streamed, r#"{"a": "1", "b": "2", "a2": "3"}"#);
    assert_eq!(fitted.text(), Some(r#"{"a": 1, "b": "2", "a2": 3}"#));
}

#[test]
fn bytes_outside_of_changes_are_preserved() {
    let schema = json!({"properties": {"a": {"type": "integer"}, "b": {"type": "array", "items": {"type": "number"}}}});
    let input = "{\"a\" :  \"5\" ,\n\t\"b\":[1.10, \"2.50\",3] , \"c\":\"\\u00e9\" }";
    let fitted = fit(&schema, input);
    let output = "{\"a\" :  5 ,\n\t\"b\":[1.10, 2.50,3] , \"c\":\"\\u00e9\" }";
    assert_eq!(fitted.text(), Some(output));
    let spans: Vec<(usize, usize, &str)> =
        fitted.changes().iter().map(|c| (c.start(), c.end(), c.after())).collect();
    assert_eq!(spans, [(8, 11, "5"), (26, 32, "2.50")]);
    assert_eq!(fitted.changes()[1].path().to_string(), "$.b[1]");
}

#[test]
fn repairs_and_rules_form_one_script() {
    let schema = json!({"properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}}, "required": ["a"]});
    let input = "Here you are:\n```json\n{'A': '5', b: 'True',}\n```\n";
    let fitted = fit(&schema, input);
    assert_eq!(fitted.text().map(str::trim), Some(r#"{"a": 5, "b": true}"#));
    let applied = apply_changes(input.as_bytes(), fitted.changes());
    assert_eq!(applied.as_deref(), fitted.text());
    assert!(fitted.changes().windows(2).all(|pair| pair[0].end() <= pair[1].start()));
    // The quotes are a repair of the syntax and the type is fixed by a rule, but both form one
    // change.
    let five = fitted.changes().iter().find(|change| change.after() == "5").unwrap();
    assert_eq!(five.cause(), Cause::Rule(Rule::StringToNumber));
    assert_eq!(&input[five.start()..five.end()], "'5'");
    let log = &fitted.applied()[0];
    assert_eq!(&input[log.start()..log.end()], "'A'");
}

#[test]
fn a_list_in_a_string_is_parsed_rather_than_wrapped() {
    let schema = json!({"properties": {"tags": {"type": "array", "items": {"type": "string"}}}});
    let fitted = fit(&schema, r#"{"tags": "[\"a\", \"b\"]"}"#);
    assert_eq!(fitted.text(), Some(r#"{"tags": ["a", "b"]}"#));
}

#[test]
fn a_flattened_list_is_an_issue_and_never_wrapped() {
    let schema = json!({"items": {"type": "array", "items": {"type": "integer"}}, "type": "array"});
    let fitted = fit(&schema, "[10, 20, 30, 40]");
    assert_eq!(fitted.outcome(), Outcome::Invalid);
    assert_eq!(fitted.issues().len(), 4);
    assert!(fitted.issues()[0].hint().unwrap().contains("list of lists of integers"));
}

#[test]
fn a_value_is_never_repaired_in_part() {
    let schema = json!({"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}});
    let input = r#"{"a": "1", "b": "one"}"#;
    let fitted = fit(&schema, input);
    assert_eq!((fitted.outcome(), fitted.text()), (Outcome::Invalid, None));
    assert_eq!(fitted.mended(), Some(input));
    assert!(fitted.changes().is_empty());
    let pointers: Vec<&str> = fitted.issues().iter().map(wiremend_schema::Issue::pointer).collect();
    assert_eq!(pointers, ["/a", "/b"], "the original issues come back");
    assert_eq!(fitted.applied()[0].rule(), Rule::StringToNumber, "what could have been done");
}

#[test]
fn two_results_of_the_same_risk_are_refused() {
    // Either branch could be meant, and each takes one step of the same risk.
    let schema = json!({"oneOf": [
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false},
        {"type": "object", "properties": {"A_": {"type": "integer"}}, "required": ["A_"], "additionalProperties": false},
    ]});
    let fitted = fit(&schema, r#"{"A": 1}"#);
    assert_eq!(fitted.outcome(), Outcome::Invalid);
    assert!(!fitted.issues().is_empty());
}

#[test]
fn unions_are_decided_by_their_discriminator() {
    let schema = json!({"anyOf": [
        {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
        {"type": "object", "properties": {"kind": {"const": "square"}, "r": {"type": "string"}}, "required": ["kind", "r"]},
    ]});
    assert_eq!(
        fit(&schema, r#"{"kind": "circle", "r": "2"}"#).text(),
        Some(r#"{"kind": "circle", "r": 2}"#)
    );
    assert_eq!(
        fit(&schema, r#"{"kind": "square", "r": 2}"#).text(),
        Some(r#"{"kind": "square", "r": "2"}"#)
    );
    assert_eq!(
        fit(&schema, r#"{"kind": "Circle", "r": 2}"#).text(),
        Some(r#"{"kind": "circle", "r": 2}"#)
    );
}

#[test]
fn a_nullable_type_is_repaired_like_the_type() {
    let schema = json!({"properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}});
    assert_eq!(fit(&schema, r#"{"n": "5"}"#).text(), Some(r#"{"n": 5}"#));
    assert_eq!(fit(&schema, r#"{"n": null}"#).outcome(), Outcome::Unchanged);
    let either = json!({"properties": {"n": {"type": ["integer", "string"]}}});
    assert_eq!(fit(&either, r#"{"n": "5"}"#).outcome(), Outcome::Unchanged);
}

#[test]
fn references_conditions_and_combinations_are_followed() {
    let schema = json!({
        "$defs": {"n": {"type": "integer"}},
        "type": "object",
        "allOf": [{"properties": {"a": {"$ref": "#/$defs/n"}}}],
        "properties": {"unit": {"type": "string"}},
        "if": {"properties": {"unit": {"const": "m"}}, "required": ["unit"]},
        "then": {"properties": {"size": {"type": "number"}}},
        "else": {"properties": {"size": {"type": "string"}}},
    });
    assert_eq!(fit(&schema, r#"{"a": "1"}"#).text(), Some(r#"{"a": 1}"#));
    assert_eq!(
        fit(&schema, r#"{"unit": "m", "size": "1"}"#).text(),
        Some(r#"{"unit": "m", "size": 1}"#)
    );
    assert_eq!(
        fit(&schema, r#"{"unit": "x", "size": 1}"#).text(),
        Some(r#"{"unit": "x", "size": "1"}"#)
    );
    let tree = json!({"$defs": {"node": {"type": "object", "properties": {
        "n": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}}, "$ref": "#/$defs/node"});
    assert_eq!(
        fit(&tree, r#"{"next": {"next": {"n": "7"}}}"#).text(),
        Some(r#"{"next": {"next": {"n": 7}}}"#)
    );
}

#[test]
fn null_is_kept_if_it_has_a_meaning() {
    let marked = |extra: serde_json::Value| {
        let mut name = json!({"type": "string"});
        name.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        fit(&json!({"properties": {"name": name}}), r#"{"name": null}"#)
    };
    assert_eq!(marked(json!({})).text(), Some("{}"));
    assert_eq!(marked(json!({"x-nullable": true})).outcome(), Outcome::Invalid);
    let described = json!({"description": "The new name; null clears it."});
    assert_eq!(marked(described).outcome(), Outcome::Invalid);
}

#[test]
fn a_schema_can_switch_rules_off_for_subschemas() {
    let schema = json!({"properties": {
        "a": {"type": "integer", "x-wiremend": false},
        "b": {"type": "integer", "x-wiremend": {"off": ["string-to-number"]}},
        "c": {"type": "integer"},
    }});
    assert_eq!(fit(&schema, r#"{"a": "1"}"#).outcome(), Outcome::Invalid);
    assert_eq!(fit(&schema, r#"{"b": "1"}"#).outcome(), Outcome::Invalid);
    assert_eq!(fit(&schema, r#"{"b": [1]}"#).text(), Some(r#"{"b": 1}"#));
    assert_eq!(fit(&schema, r#"{"c": "1"}"#).text(), Some(r#"{"c": 1}"#));
    let inherited = json!({"x-wiremend": false, "properties": {"a": {"type": "integer"}}});
    assert_eq!(fit(&inherited, r#"{"a": "1"}"#).outcome(), Outcome::Invalid);
}

#[test]
fn rules_can_be_switched_off_by_path() {
    let schema = Schema::compile(&json!({"properties": {
        "a": {"type": "integer"}, "b": {"type": "integer"},
    }}))
    .unwrap();
    let rules = Rules::new().without_at("/a", Rule::StringToNumber);
    let options = FitOptions::new().with_rules(rules);
    assert_eq!(schema.fit(br#"{"a": "1"}"#, &options).outcome(), Outcome::Invalid);
    assert_eq!(schema.fit(br#"{"b": "1"}"#, &options).text(), Some(r#"{"b": 1}"#));
}

#[test]
fn a_value_that_was_cut_off_is_never_complete() {
    let schema = Schema::compile(&json!({"properties": {"body": {"type": "string"}}})).unwrap();
    let input = br#"{"body": "half of a sen"#;
    let conservative =
        FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE));
    let fitted = schema.fit(input, &conservative);
    assert_eq!((fitted.outcome(), fitted.text()), (Outcome::Cut, None));
    assert_eq!(fitted.issues()[0].code(), IssueCode::Truncated);
    assert_eq!(fitted.issues()[0].pointer(), "/body");
    let closed = schema.fit(input, &FitOptions::new());
    assert_eq!(closed.outcome(), Outcome::Closed);
}

#[test]
fn an_issue_says_which_rule_mends_it_once_the_rest_fits() {
    let source = r#"{"type": "object", "properties": {
        "n": {"type": "integer"}, "kind": {"enum": ["red", "blue"]}, "tags": {"type": "array", "items": {"type": "integer"}},
        "inner": {"type": "object", "properties": {"n": {"type": "integer"}, "unit": {"const": "m"}}, "required": ["n", "unit"], "maxProperties": 2},
        "pick": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, "bad": {"type": "null"}
    }, "required": ["bad", "n"], "additionalProperties": false}"#;
    let mended_by = |text: &str, policy: Policy| -> Vec<String> {
        let options = FitOptions::new().with_mending(MendOptions::new().with_policy(policy));
        let fitted = Schema::from_text(source).unwrap().fit(text.as_bytes(), &options);
        assert_eq!(fitted.text(), None, "{text}");
        let said = fitted.issues().iter().map(|issue| {
            let place = format!("{}+{}", issue.pointer(), issue.missing().unwrap_or_default());
            let by = issue
                .mended_by()
                .map_or_else(|| "-".into(), |(rule, risk)| format!("{rule} {risk}"));
            format!("{place} {by}")
        });
        said.collect()
    };
    for (text, expected) in [
        (r#"{"bad": 1, "n": "3"}"#, vec!["/bad+ -", "/n+ string-to-number exact"]),
        // What is missing, and what a key was meant to be.
        (
            r#"{"bad": 1, "n": 1, "inner": {"n": 1}}"#,
            vec!["/bad+ -", "/inner+unit const-fill exact"],
        ),
        (r#"{"bad": 1, "N": 1}"#, vec!["/+n key-normalise likely", "/bad+ -"]),
        // All that is done inside of a value counts for its risk.
        (
            r#"{"bad": 1, "n": 1, "tags": "[1, \"$2\"]"}"#,
            vec!["/bad+ -", "/tags+ unwrap-stringified guess"],
        ),
        // One item is mended, and another one is not.
        (
            r#"{"bad": 1, "n": 1, "tags": ["1", "x"]}"#,
            vec!["/bad+ -", "/tags/0+ string-to-number exact", "/tags/1+ -"],
        ),
        // A rule is applied in the object, which has too many properties all the same.
        (
            r#"{"bad": 1, "n": 1, "inner": {"n": "1", "unit": "m", "x": 1}}"#,
            vec!["/bad+ -", "/inner+ -", "/inner/n+ string-to-number exact"],
        ),
        // A property that is dropped has no value to make valid.
        (r#"{"bad": 1, "n": 1, "more": 1}"#, vec!["/bad+ -", "/more+ drop-unknown lossy"]),
    ] {
        let mut said = mended_by(text, Policy::PERMISSIVE);
        said.sort();
        let mut expected: Vec<String> =
            expected.into_iter().map(|line| line.replacen("/+", "+", 1)).collect();
        expected.sort();
        assert_eq!(said, expected, "{text}");
    }
    // What the policy forbids mends nothing.
    let text = r#"{"bad": 1, "n": "3"}"#;
    assert_eq!(mended_by(text, Policy::STRICT), ["/bad+ -", "/n+ -"]);
}

#[test]
fn an_issue_says_why_there_is_no_value() {
    let object = Schema::compile(&json!({"type": "object"})).unwrap();
    let report = |input: &str, engine: MendOptions| {
        let fitted = object.fit(input.as_bytes(), &FitOptions::new().with_mending(engine));
        assert_eq!(fitted.text(), None, "{input}");
        assert_eq!(fitted.issues()[0].code(), IssueCode::Syntax);
        (fitted.outcome(), fitted.issues()[0].to_string(), fitted.issues()[0].span())
    };
    assert_eq!(
        report("no idea", MendOptions::new()),
        (Outcome::None, "/: no JSON value in the text".to_owned(), 0..7)
    );
    let refused = "/a: not JSON at byte 6: single-quote, which the policy does not repair";
    assert_eq!(
        report(r#"{"a": 'x'}"#, MendOptions::new().with_policy(Policy::STRICT)),
        (Outcome::Invalid, refused.to_owned(), 6..7)
    );
    let limits = Limits::new().with_depth(3);
    assert_eq!(
        report(r#"{"a": [[[1]]]}"#, MendOptions::new().with_limits(limits)),
        (Outcome::Overflow, "/: deeper or longer than the limits allow".to_owned(), 0..14)
    );
    let several = MendOptions::new().with_trailing_documents(TrailingDocuments::All);
    assert_eq!(
        report("[1]\n[2]", several),
        (Outcome::Invalid, "/: expected one value, but the text contains several".to_owned(), 0..7)
    );
}

#[test]
fn a_strict_policy_changes_nothing() {
    let schema = Schema::compile(&json!({"type": "array", "items": {"type": "integer"}})).unwrap();
    let strict = FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::STRICT));
    assert_eq!(schema.fit(b"[1]", &strict).outcome(), Outcome::Unchanged);
    let fitted = schema.fit(br#"["1"]"#, &strict);
    assert_eq!(fitted.outcome(), Outcome::Invalid);
    assert_eq!(fitted.issues().len(), 1);
}

#[test]
fn the_schema_decides_among_several_documents() {
    let list = json!({"type": "array", "items": {"type": "object", "required": ["k"]}});
    let fitted = fit(&list, r#"First {"k": 1}, then {"k": 2}."#);
    // Where the words between them stood, there is a line end.
    assert_eq!(fitted.text(), Some("[{\"k\": 1},\n{\"k\": 2}]"));
    let one = json!({"type": "object", "required": ["answer"]});
    let fitted =
        fit(&one, r#"From {"question": "how many, and of what kind?"} follows {"answer": 1}"#);
    assert_eq!(fitted.text().map(str::trim), Some(r#"{"answer": 1}"#));
}

#[test]
fn plain_text_is_a_value_only_if_the_schema_allows_it() {
    let schema = json!({"enum": ["YES", "NO"]});
    assert_eq!(fit(&schema, "Yes.").text(), Some(r#""YES""#));
    let answer = json!({"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]});
    let fitted = fit(&answer, "It is \"seven\".");
    assert_eq!(fitted.text(), Some(r#"{"answer": "It is \"seven\"."}"#));
    assert_eq!(fitted.risk(), Some(Risk::Guess));
    let number =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    assert_eq!(fit(&number, "no idea").text(), None);
}

#[test]
fn work_is_bounded_by_the_value() {
    // Several rules look at every item, and each level of the union doubles the branches.
    let mut item = json!({"type": "integer"});
    for _ in 0..12 {
        item = json!({"anyOf": [{"type": "array", "items": item.clone()}, item]});
    }
    let limits = wiremend_schema::SchemaLimits::new().with_nodes(1 << 20).with_depth(127);
    let schema = Schema::compile_within(&json!({"type": "array", "items": item}), limits).unwrap();
    let input = format!("[{}]", vec!["\"x\""; 500].join(","));
    assert_eq!(schema.fit(input.as_bytes(), &FitOptions::new()).text(), None);
    let many = format!("[{}]", vec!["\"1\""; 5_000].join(","));
    let flat = json!({"type": "array", "items": {"type": "integer"}});
    let fitted = fit(&flat, &many);
    assert_eq!(fitted.changes().len(), 5_000);
}

#[test]
fn deep_values_are_refused() {
    let schema = json!({"$defs": {"l": {"type": "array", "items": {"$ref": "#/$defs/l"}}}, "$ref": "#/$defs/l"});
    let deep = format!("{}1{}", "[".repeat(120), "]".repeat(120));
    assert_eq!(fit(&schema, &deep).text(), None);
    let escaped = (0..9).fold("[1]".to_owned(), |text, _| serde_json::to_string(&text).unwrap());
    let fitted = fit(&json!({"type": "array", "items": {"type": "integer"}}), &escaped);
    assert_eq!(fitted.text(), None, "a string in a string in a string has a limit");
}

#[test]
fn results_are_never_deeper_than_the_limit() {
    let schema = Schema::from_text(r#"{"type": "array"}"#).unwrap();
    let fit = |depth| {
        let engine = MendOptions::new()
            .with_trailing_documents(TrailingDocuments::All)
            .with_limits(Limits::new().with_depth(depth));
        let fitted =
            schema.fit(b"{\"a\": 1}\n[{\"b\": 2}]", &FitOptions::new().with_mending(engine));
        fitted.text().map(str::to_owned)
    };
    assert_eq!(fit(3).as_deref(), Some("[{\"a\": 1}, [{\"b\": 2}]]"));
    // A list of both would be one level deeper than the second document alone.
    assert_eq!(fit(2).as_deref(), Some("[{\"b\": 2}]"));
}

#[test]
fn text_around_a_document_is_dropped_if_the_policy_allows() {
    let schema = Schema::compile(&json!({
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
    }))
    .unwrap();
    let fit = |input: &str, policy: Policy, following: TrailingDocuments| {
        let engine = MendOptions::new().with_policy(policy).with_trailing_documents(following);
        let fitted = schema.fit(input.as_bytes(), &FitOptions::new().with_mending(engine));
        (fitted.text().map(str::to_owned), fitted.risk())
    };
    let (oslo, rome) = (r#"{"city": "Oslo"}"#.to_owned(), r#"{"city": "Rome"}"#.to_owned());
    let prose = format!("Here: {oslo}\ndone");
    let array = TrailingDocuments::Array;
    assert_eq!(fit(&prose, Policy::CONSERVATIVE, array), (Some(oslo.clone()), Some(Risk::Likely)));
    assert_eq!(fit(&format!("Not {oslo} yet"), Policy::CONSERVATIVE, array).0, None);
    for policy in [
        Policy::STRICT,
        Policy::PERMISSIVE.at_most(Risk::Exact),
        Policy::PERMISSIVE.without(wiremend_core::RepairKind::TrailingProse),
    ] {
        assert_eq!(fit(&prose, policy, array).0, None, "{policy:?}");
    }
    // Another document is more than prose: dropping it is lossy, and an option decides which one is
    // used.
    // A document that a sentence only mentions is not the one that is meant.
    for (several, first) in
        [(format!("{oslo}\n{rome}"), &oslo), (format!("First {oslo}. Wait, no: {rome}"), &rome)]
    {
        assert_eq!(fit(&several, Policy::CONSERVATIVE, array).0, None);
        let lossy = Some(Risk::Lossy);
        assert_eq!(fit(&several, Policy::PERMISSIVE, array), (Some(first.clone()), lossy));
        let last = fit(&several, Policy::PERMISSIVE, TrailingDocuments::Last);
        assert_eq!(last.0.as_ref(), Some(&rome), "{several}");
        assert_eq!(fit(&several, Policy::PERMISSIVE, TrailingDocuments::Error).0, None);
    }
    // A text that was refused as a whole is not read again under weaker conditions.
    let broken = "{\"city\": \"Oslo\n \"note\": \"kg\"}";
    assert_eq!(fit(broken, Policy::CONSERVATIVE, array).0, None);
}

#[test]
fn a_combined_change_has_the_highest_risk_of_its_parts() {
    let list = json!({"type": "array", "items": {"type": "integer"}});
    let closed = json!({"type": "object", "properties": {"b": {"type": "integer"}},
        "additionalProperties": false});
    let map = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let kinds = json!({"type": "object", "properties": {"k": {"const": "a"}}, "required": ["k"],
        "additionalProperties": false});
    for (schema, input, text, risk) in [
        (&list, r#""[1, \"$2\"]""#, "[1, 2]", Risk::Guess),
        (&list, r#""[1, 2""#, "[1, 2]", Risk::Guess),
        (&closed, r#""{\"b\": 1, \"c\": 2}""#, r#"{"b": 1}"#, Risk::Lossy),
        (&list, r#"{"0": 1, "1": "$2"}"#, "[1, 2]", Risk::Guess),
        (&map, r#"[["a", "$1"]]"#, r#"{"a": 1}"#, Risk::Guess),
        // The added member replaces the dropped one.
        (&kinds, r#"{"note": 1}"#, r#"{"k": "a"}"#, Risk::Lossy),
    ] {
        let fitted = fit(schema, input);
        assert_eq!(fitted.text(), Some(text), "{input}");
        let risks: Vec<Risk> = fitted.changes().iter().map(wiremend_schema::Change::risk).collect();
        assert_eq!((risks.iter().max(), fitted.risk()), (Some(&risk), Some(risk)), "{input}");
    }
    // If there is no text, nothing was changed.
    let refused = fit(&closed, r#"{"b": [["x"]], "c": 2}"#);
    assert_eq!((refused.text(), refused.risk()), (None, None));
}

#[test]
fn parts_after_a_cut_are_truncated_and_not_missing() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "string"}, "b": {"type": "integer"},
        "o": {"type": "object", "required": ["x", "y"]},
        "l": {"type": "array", "minItems": 3},
    }, "required": ["a", "b"]});
    let found = |input: &str, outcome: Outcome| -> Vec<(IssueCode, String)> {
        let fitted = fit(&schema, input);
        assert_eq!((fitted.text(), fitted.outcome()), (None, outcome), "{input}");
        let issues = fitted.issues().iter().map(|issue| (issue.code(), issue.to_string()));
        issues.collect()
    };
    let cut = |line: &str| (IssueCode::Truncated, line.to_owned());
    assert_eq!(
        found(r#"{"a": "x", "#, Outcome::Cut),
        [cut(
            r#"/: the value ends at byte 11, before required property "b" (integer); continue from there"#
        )]
    );
    let inside = found(r#"{"a": "x", "b": 1, "l": [1"#, Outcome::Cut);
    assert_eq!(
        inside,
        [cut("/l: the value ends at byte 26, before at least 3 items; continue from there")]
    );
    // What is otherwise wrong with it would not be right if it went on.
    let codes = |input: &str| -> Vec<IssueCode> {
        found(input, Outcome::Invalid).into_iter().map(|(code, _)| code).collect()
    };
    assert_eq!(codes(r#"{"a": [], "#), [IssueCode::Truncated, IssueCode::Type]);
    // An object that was closed before the cut is really missing its property.
    assert_eq!(codes(r#"{"o": {"x": 1}, "a": "ha"#), [IssueCode::Truncated, IssueCode::Missing]);
    assert_eq!(fit(&schema, r#"{"a": "x"}"#).issues()[0].code(), IssueCode::Missing);
}

#[test]
fn a_value_that_may_lack_a_closer_is_not_said_to_be_cut_off() {
    let schema = json!({"type": "object", "properties": {
        "o": {"type": "object"}, "b": {"type": "string"},
    }, "required": ["o", "b"]});
    for (input, end) in [
        (r#"{"o": {"x": 1, "b": "text"}"#, 27),
        ("{\"o\": {\"x\": 1, \"b\": \"text\"}\n", 28),
        ("So:\n```json\n{\"o\": {\"x\": 1\n```\nThat is all.", 26),
    ] {
        let fitted = fit(&schema, input);
        assert_eq!(fitted.outcome(), Outcome::Cut, "{input}");
        assert_eq!(
            fitted.issues()[0].to_string(),
            format!(
                r#"/: the value ends at byte {end}, before required property "b" (string); it was cut off there, or a closer is missing before"#
            ),
            "{input}"
        );
    }
}

#[test]
fn a_partial_value_is_not_parsed_as_a_type() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Note {
        body: String,
    }
    let schema =
        Schema::compile(&json!({"type": "object", "properties": {"body": {"type": "string"}}, "required": ["body"]}))
            .unwrap();
    let parse = |input: &[u8], options: &FitOptions| schema.parse_as::<Note>(input, options);
    let options = FitOptions::new();
    let conservative =
        FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE));
    for options in [&options, &conservative] {
        assert_eq!(parse(b"{body: 'x'}", options).unwrap().0.body, "x");
        for half in [&br#"{"body": "half of a sen"#[..], br#"{"body": "x""#, b"{"] {
            let error = parse(half, options).unwrap_err();
            assert!(matches!(error, ParseAsError::Cut(_)), "{error:?}");
            assert!(error.to_string().starts_with("the text was cut off"), "{error}");
            assert!(error.fitted().unwrap().cut_at().is_some());
        }
    }
    let (note, fitted) =
        schema.parse_incomplete_as::<Note>(br#"{"body": "half"#, &options).unwrap();
    assert_eq!((note.body.as_str(), fitted.outcome()), ("half", Outcome::Closed));
    let error = schema.parse_incomplete_as::<Note>(b"{", &options).unwrap_err();
    assert!(matches!(error, ParseAsError::Cut(_)), "{error:?}");
    let unfit = parse(br#"{"text": "x"#.as_slice(), &conservative).unwrap_err();
    assert!(matches!(unfit, ParseAsError::Cut(_)), "{unfit:?}");
    assert!(matches!(parse(b"[1, 2]", &options), Err(ParseAsError::Unfit(_))));
}

fn fitted_text(schema: &Value, input: &str) -> String {
    let fitted = fit(schema, input);
    let text = fitted.text().unwrap_or_else(|| panic!("{input}: {fitted:?}")).to_owned();
    assert_eq!(apply_changes(input.as_bytes(), fitted.changes()).as_deref(), Some(text.as_str()));
    assert_eq!(fit(schema, &text).outcome(), Outcome::Unchanged, "{text}");
    text
}

fn integer() -> Value {
    json!({"type": "integer"})
}

#[test]
fn a_whole_number_can_be_read_as_an_integer() {
    for input in ["3.0", "3e0", "300e-2", "0.3E+1", "\"3.0\"", "\" 3.00 \"", "[3.0]"] {
        assert_eq!(fitted_text(&integer(), input), "3", "{input}");
        assert_eq!(serde_json::from_str::<i64>(&fitted_text(&integer(), input)).unwrap(), 3);
    }
    for input in ["-0.0", "-0", "0.0", "0e7", "\"-0\""] {
        assert_eq!(fitted_text(&integer(), input), "0", "{input}");
    }
    let huge = "123456789012345678901234567890";
    assert_eq!(fitted_text(&integer(), &format!("{huge}.0")), huge);
    assert_eq!(
        fitted_text(&integer(), "9007199254740993.0"),
        "9007199254740993",
        "no float is in between"
    );
}

#[test]
fn the_change_is_recorded_and_exact() {
    let schema = json!({"properties": {"n": {"type": "integer"}}});
    let fitted = fit(&schema, r#"{"n": 3.0, "m": 3.0}"#);
    assert_eq!(fitted.text(), Some(r#"{"n": 3, "m": 3.0}"#));
    assert_eq!((fitted.outcome(), fitted.risk()), (Outcome::Repaired, Some(Risk::Exact)));
    assert_eq!(fitted.mended(), Some(r#"{"n": 3.0, "m": 3.0}"#));
    let [change] = fitted.changes() else { panic!("{fitted:?}") };
    assert_eq!(change.cause(), Cause::Rule(Rule::IntegralFloat));
    assert_eq!((change.start()..change.end(), change.path().to_string().as_str()), (6..9, "$.n"));
    let [applied] = fitted.applied() else { panic!("{fitted:?}") };
    assert_eq!((applied.before(), applied.after()), ("3.0", "3"));
    assert_eq!(applied.schema_path(), "/properties/n");
    // A repair of the syntax and another rule form one change with this one.
    let fitted = fit(&schema, "{n: '3.0'}");
    assert_eq!(fitted.text(), Some(r#"{"n": 3}"#));
    let rules: Vec<Rule> = fitted.applied().iter().map(Applied::rule).collect();
    assert_eq!(rules, [Rule::StringToNumber, Rule::IntegralFloat]);
    assert!(fitted.applied().iter().all(|applied| (applied.start(), applied.end()) == (4, 9)));
}

#[test]
fn other_numbers_keep_their_spelling() {
    for schema in [
        json!({"type": "number"}),
        json!({}),
        json!({"type": ["integer", "number"]}),
        json!({"type": "number", "multipleOf": 1}),
        json!({"enum": [3]}),
    ] {
        assert_eq!(fit(&schema, "3.0").outcome(), Outcome::Unchanged, "{schema}");
    }
    assert_eq!(fit(&integer(), "3.5").text(), None);
    // Numbers that no integer type can represent are not expanded.
    for input in ["1e65", "1e999999999", "1e99999999999999999999"] {
        assert_eq!(fit(&integer(), input).text(), Some(input));
    }
}

#[test]
fn every_alternative_must_accept_only_whole_numbers() {
    let union = |branches: Value| json!({"properties": {"n": {"anyOf": branches}}});
    let n = r#"{"n": 3.0}"#;
    for branches in [
        json!([{"type": "integer"}, {"type": "null"}]),
        json!([{"type": "integer"}, {"type": "string"}]),
        json!([{"type": "integer"}, {"type": "number", "maximum": 2}]),
        json!([{"type": "integer"}, {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}]),
    ] {
        assert_eq!(fitted_text(&union(branches.clone()), n), r#"{"n": 3}"#, "{branches}");
    }
    for branches in [
        json!([{"type": "integer"}, {"type": "number"}]),
        json!([{"type": "integer"}, {}]),
        json!([{"type": "integer", "maximum": 2}, {"type": "number"}]),
    ] {
        assert_eq!(fit(&union(branches.clone()), n).text(), Some(n), "{branches}");
    }
    // The branches of an enclosing union.
    let kinds = json!({"oneOf": [
        {"properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind"]},
        {"properties": {"kind": {"const": "b"}, "n": {"type": "number"}}, "required": ["kind"]},
    ]});
    assert_eq!(fitted_text(&kinds, r#"{"kind": "a", "n": 1.0}"#), r#"{"kind": "a", "n": 1}"#);
    assert_eq!(fitted_text(&kinds, r#"{"kind": "b", "n": 1.0}"#), r#"{"kind": "b", "n": 1.0}"#);
}

#[test]
fn lists_maps_references_and_conditions_are_followed() {
    for (schema, input, output) in [
        (json!({"items": {"type": "integer"}}), "[1.0, 2, 3e0]", "[1, 2, 3]"),
        (
            json!({"prefixItems": [{"type": "number"}, {"type": "integer"}]}),
            "[1.0, 1.0, 1.0]",
            "[1.0, 1, 1.0]",
        ),
        (json!({"additionalProperties": {"type": "integer"}}), r#"{"a": 1.0}"#, r#"{"a": 1}"#),
        (
            json!({"patternProperties": {"^n": {"type": "integer"}, "^s": {"type": "string"}}, "additionalProperties": false}),
            r#"{"n": 1.0}"#,
            r#"{"n": 1}"#,
        ),
        (
            json!({"patternProperties": {"^n": {"type": "integer"}}}),
            r#"{"n": 1.0, "m": 1.0}"#,
            // Only the validator knows which keys a pattern matches, and other members may be
            // anything.
            r#"{"n": 1.0, "m": 1.0}"#,
        ),
        (
            json!({"$defs": {"t": {"properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/t"}}}}, "$ref": "#/$defs/t"}),
            r#"{"n": 1.0, "next": {"next": {"n": 2.0}}}"#,
            r#"{"n": 1, "next": {"next": {"n": 2}}}"#,
        ),
        (
            json!({"properties": {"n": {"type": "number"}}, "allOf": [{"properties": {"n": {"type": "integer"}}}]}),
            r#"{"n": 1.0}"#,
            r#"{"n": 1}"#,
        ),
        (
            json!({"if": {"required": ["a"]}, "then": {"properties": {"n": {"type": "integer"}}}, "else": {"properties": {"n": {"type": "number"}}}}),
            r#"{"n": 1.0, "a": 1}"#,
            r#"{"n": 1, "a": 1}"#,
        ),
        (
            json!({"properties": {"n": {"type": "integer", "default": 7.0}, "m": {}}, "required": ["n"]}),
            r#"{"m": 1}"#,
            r#"{"m": 1, "n": 7}"#,
        ),
    ] {
        assert_eq!(fitted_text(&schema, input), output, "{schema}");
    }
}

#[test]
fn the_rule_can_be_switched_off() {
    let schema = json!({"properties": {"n": {"type": "integer"}}});
    let input = r#"{"n": 3.0}"#;
    let compiled = Schema::compile(&schema).unwrap();
    for options in [
        FitOptions::new().with_rules(Rules::new().without(Rule::IntegralFloat)),
        FitOptions::new().with_rules(Rules::new().without_at("/n", Rule::IntegralFloat)),
        FitOptions::new().with_rules(Rules::none()),
        FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::STRICT)),
    ] {
        let fitted = compiled.fit(input.as_bytes(), &options);
        assert_eq!((fitted.text(), fitted.outcome()), (Some(input), Outcome::Unchanged));
        let mut cursor = Cursor::new(&compiled, &options);
        let mut mender = Mender::new(options.mending().clone());
        mender.push(input.as_bytes(), &mut cursor);
        assert_eq!(cursor.root().unwrap().to_string(), r#"{"n":3.0}"#);
    }
    for off in [json!(false), json!({"off": ["integral-float"]})] {
        let inside = json!({"properties": {"n": {"type": "integer", "x-wiremend": off}}});
        assert_eq!(fit(&inside, input).outcome(), Outcome::Unchanged);
        let above = json!({"x-wiremend": off, "properties": {"n": {"type": "integer"}}});
        assert_eq!(fit(&above, input).outcome(), Outcome::Unchanged);
    }
}

#[test]
fn a_cursor_shows_the_digits_and_does_not_withdraw_them() {
    let schema = json!({"properties": {
        "n": {"type": "integer"}, "s": {"type": "integer"}, "f": {"type": "number"},
        "u": {"anyOf": [{"type": "integer"}, {"type": "number"}]},
    }});
    let compiled = Schema::compile(&schema).unwrap();
    let input = r#"{"n": 3.0, "s": "4.0", "f": 5.0, "u": 6.0, "x": 7.0}"#;
    let mut cursor = Cursor::new(&compiled, &FitOptions::new());
    let mut mender = Mender::new(MendOptions::new());
    mender.push(input.as_bytes(), &mut cursor);
    mender.finish(&mut cursor);
    let root = cursor.root().unwrap();
    assert_eq!(root.to_string(), r#"{"n":3,"s":4,"f":5.0,"u":6.0,"x":7.0}"#);
    let state = |key: &str| root.member(key).unwrap().state();
    assert_eq!(
        (state("n"), state("s"), state("f")),
        (NodeState::Final, NodeState::Final, NodeState::Final)
    );
    assert_eq!((state("u"), state("x")), (NodeState::Tentative, NodeState::Tentative));
    let fitted = compiled.fit(input.as_bytes(), &FitOptions::new());
    assert_eq!(fitted.changes(), cursor.changes());
}

#[test]
fn the_work_is_bounded_whatever_the_unions() {
    let mut item = json!({"type": "integer"});
    for _ in 0..10 {
        item = json!({"anyOf": [{"type": "array", "items": item.clone()}, item]});
    }
    let limits = wiremend_schema::SchemaLimits::new().with_nodes(1 << 20).with_depth(127);
    let schema = Schema::compile_within(&json!({"type": "array", "items": item}), limits).unwrap();
    let many = format!("[{}]", vec!["1.0"; 2_000].join(","));
    let fitted = schema.fit(many.as_bytes(), &FitOptions::new());
    assert!(fitted.text().is_some());
    let deep = format!("{}1.0{}", "[".repeat(100), "]".repeat(100));
    let nested = json!({"$defs": {"l": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/l"}}]}}, "$ref": "#/$defs/l"});
    assert_eq!(
        fit(&nested, &deep).text(),
        Some(deep.as_str()),
        "beyond 64 levels nothing is changed"
    );
}
