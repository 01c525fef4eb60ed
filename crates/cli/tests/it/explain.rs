use crate::program::{json_lines, run};

#[test]
fn a_code_is_explained() {
    let done = run(&["explain", "single-quote"], "");
    assert_eq!(done.code, 0);
    for expected in ["single-quote", "['a']", r#"["a"]"#, "exact", "--off single-quote"] {
        assert!(done.stdout.contains(expected), "{expected}: {}", done.stdout);
    }
}

#[test]
fn a_rule_is_explained() {
    let done = run(&["explain", "enum-normalise"], "");
    assert_eq!(done.code, 0);
    for expected in ["enum-normalise", "RED", "likely", "--rule-off enum-normalise"] {
        assert!(done.stdout.contains(expected), "{expected}: {}", done.stdout);
    }
    assert!(run(&["explain", "enum-nearest"], "").stdout.contains("--rule-on enum-nearest"));
}

#[test]
fn the_list_is_complete_and_sorted() {
    let done = run(&["explain", "--list"], "");
    let codes: Vec<&str> =
        done.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let repairs = wiremend_core::RepairKind::ALL.iter().map(|kind| kind.code());
    let rules = wiremend_schema::Rule::ALL.iter().map(|rule| rule.code());
    let all: Vec<&str> = repairs.chain(rules).collect();
    assert_eq!(codes, all);

    let objects = json_lines(&run(&["explain", "--list", "--json"], "").stdout);
    assert_eq!(objects.len(), all.len());
    assert_eq!(objects[0]["code"], all[0]);
}

#[test]
fn an_unknown_code_is_a_usage_error_with_a_suggestion() {
    let done = run(&["explain", "singel-quote"], "");
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    assert!(done.stderr.contains("did you mean `single-quote`"), "{}", done.stderr);
    assert_eq!(run(&["explain"], "").code, 2);
}

#[test]
fn examples_are_true() {
    for object in json_lines(&run(&["explain", "--list", "--json"], "").stdout) {
        let (code, before) = (object["code"].as_str().unwrap(), object["before"].as_str().unwrap());
        // The examples of schema rules are tested in wiremend-schema.
        if object["of"] == "schema" {
            continue;
        }
        let scope = match code {
            // The example has the number of a byte that a string cannot contain.
            "invalid-utf8" => continue,
            // The default joins the documents.
            "second-document" => &["--trailing", "first", "--scope", "first"][..],
            _ => &[],
        };
        let done = run(&[&["repair", "--quiet"], scope].concat(), before);
        // White space can remain after a deletion, so the values are compared.
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        let expected = value(object["after"].as_str().unwrap());
        assert!(expected.is_some(), "{code}");
        assert_eq!(value(&done.stdout), expected, "{code}: {before} gives {}", done.stdout);
    }
}
