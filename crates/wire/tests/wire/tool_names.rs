//! What holds for a tool holds for its whole name, however and whenever it arrives.

use std::sync::Arc;

use wiremend_core::{Guide, JsonType, Member, MendOptions, Policy, Risk};
use wiremend_wire::{Guides, RewriteMode, RewriteOptions, ToolPolicies, WireOptions};

use crate::{
    rewrite::rewrite,
    support::{call, calls, decode_with, finish, tools},
};

/// Broken arguments, which take an exact repair, and what they are then.
const EXACT: (&str, &str) = (r#"{'a': 1}"#, r#"{"a": 1}"#);
/// The same with a likely one.
const LIKELY: (&str, &str) = (r#"{"a": 1 "b": 2}"#, r#"{"a": 1, "b": 2}"#);

/// A chunk with a piece of a name, if there is one, and of the arguments.
fn chunk(name: &str, arguments: Option<&str>) -> String {
    let mut function = serde_json::Map::new();
    if !name.is_empty() {
        function.insert("name".to_owned(), name.into());
    }
    if let Some(arguments) = arguments {
        function.insert("arguments".to_owned(), arguments.into());
    }
    tools(&serde_json::json!({"index": 0, "function": function}).to_string())
}

/// The name `delete_all` and those arguments, in every order in which they may come.
fn bodies(arguments: &str) -> Vec<String> {
    let (one, two) = arguments.split_at(3);
    let start = tools(r#"{"index":0,"id":"c","type":"function"}"#);
    let pieces = [
        vec![chunk("delete_all", None), chunk("", Some(arguments))],
        vec![
            chunk("dele", None),
            chunk("te_all", None),
            chunk("", Some(one)),
            chunk("", Some(two)),
        ],
        vec![chunk("dele", None), chunk("te_all", Some(one)), chunk("", Some(two))],
        vec![chunk("dele", Some("")), chunk("te_all", Some("")), chunk("", Some(arguments))],
        vec![chunk("dele", Some(one)), chunk("te_all", Some(two))],
        vec![chunk("", Some(one)), chunk("", Some(two)), chunk("delete_all", None)],
        vec![chunk("", Some(one)), chunk("delete_all", Some(two))],
    ];
    pieces.iter().map(|pieces| start.clone() + &pieces.concat() + &finish("tool_calls")).collect()
}

fn options(policies: ToolPolicies) -> WireOptions {
    let engine = MendOptions::new().with_policy(Policy::CONSERVATIVE);
    WireOptions::new().with_mending(engine).with_policies(policies)
}

/// A policy for `delete_all`, and another one for what its name begins with.
fn policies(policy: Policy, other: Option<Policy>) -> ToolPolicies {
    ToolPolicies::new(move |tool| match tool {
        "delete_all" => Some(policy),
        _ => other,
    })
}

#[test]
fn the_policy_of_the_whole_name_decides() {
    let exact = Policy::CONSERVATIVE.at_most(Risk::Exact);
    for other in [None, Some(Policy::STRICT), Some(Policy::CONSERVATIVE)] {
        for (policy, (came, mended), allowed) in [
            (Policy::STRICT, EXACT, false),
            (exact, EXACT, true),
            (exact, LIKELY, false),
            (Policy::CONSERVATIVE, LIKELY, true),
        ] {
            let options = options(policies(policy, other));
            for body in bodies(came) {
                let said = decode_with(&options, &body);
                let (name, arguments, outcome) = calls(&said).remove(0);
                assert_eq!(
                    (name.as_str(), outcome == "repaired"),
                    ("delete_all", allowed),
                    "{body}"
                );
                assert_eq!(arguments == mended, allowed, "{arguments} of {body}");
                for mode in [RewriteMode::Validated, RewriteMode::default()] {
                    let options = RewriteOptions::new().with_wire(options.clone()).with_mode(mode);
                    let out = rewrite(&options, body.as_bytes());
                    let said = wiremend_wire::transcribe(&out.bytes, WireOptions::new());
                    let left = said.calls()[0].raw().to_owned();
                    assert_eq!(left, if allowed { mended } else { came }, "{mode:?} {body}");
                    assert_eq!(out.text() == body, !allowed);
                }
            }
        }
    }
}

/// Arguments that are valid leave under every policy.
#[test]
fn valid_arguments_are_left_alone_whatever_the_policy() {
    let options = options(policies(Policy::STRICT, None));
    for body in bodies(EXACT.1) {
        assert_eq!(
            calls(&decode_with(&options, &body)),
            [call("delete_all", EXACT.1, "unchanged")]
        );
        let options = RewriteOptions::new().with_wire(options.clone());
        assert_eq!(rewrite(&options, body.as_bytes()).text(), body);
    }
}

/// The arguments `city` and `days`.
#[derive(Debug)]
struct Trip;

impl Guide for Trip {
    fn allows(&self, _: JsonType) -> bool {
        true
    }

    fn member(&self, key: &str) -> Member {
        match key {
            "city" | "days" => Member::Declared(Arc::new(Self)),
            _ => Member::Open,
        }
    }
}

/// What a marker of the model is behind is the name with which the tool was declared.
#[test]
fn a_name_with_a_character_that_no_name_has_is_that_of_the_tool_that_it_means() {
    let declared = ["read", "my tool"];
    let of = move |name: &str| {
        let name = name.trim().trim_start_matches("functions.").to_lowercase();
        declared.into_iter().find(|own| *own == name)
    };
    let guides = Guides::new(move |name| of(name).map(|_| Arc::new(Trip) as Arc<dyn Guide>));
    let guides = guides.with_declared(move |name| of(name).map(str::to_owned));
    let options = WireOptions::new().with_guides(guides);
    for (name, want, outcome) in [
        ("read\n", "read", "unchanged"),
        ("Read\t", "read", "unchanged"),
        ("read<|message|>", "read", "unchanged"),
        ("functions.read<|channel|>commentary", "read", "unchanged"),
        ("my tool", "my tool", "unchanged"),
        ("My tool\n", "my tool", "unchanged"),
        // It has no such character.
        ("functions.read", "functions.read", "unchanged"),
        ("write\n", "write\n", "cut"),
        ("<|message|>read", "<|message|>read", "cut"),
    ] {
        let body = chunk(name, Some("{}")) + &finish("tool_calls");
        assert_eq!(calls(&decode_with(&options, &body)), [call(want, "{}", outcome)]);
    }
}

#[test]
fn the_guide_of_the_whole_name_decides() {
    let guides =
        Guides::new(|tool| (tool == "delete_all").then(|| Arc::new(Trip) as Arc<dyn Guide>));
    let options = WireOptions::new().with_guides(guides);
    for body in bodies("{city 'New York', days 3}") {
        let said = decode_with(&options, &body);
        let want = r#"{"city": "New York", "days": 3}"#;
        assert_eq!(calls(&said), [call("delete_all", want, "repaired")], "{body}");
        assert!(said.calls()[0].is_guided());
    }
}
