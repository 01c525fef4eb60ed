//! What is JSON in prose, and what must stay unchanged.

use crate::cuts::{extract, show};
use wiremend_core::{MendOptions, Outcome};
use wiremend_extract::{Finder, FoundDocuments, Scope};

fn documents(input: &str, scope: Scope) -> Vec<String> {
    let (found, _) = extract(input.as_bytes(), scope, &MendOptions::new());
    found.documents().iter().map(|document| show(document.json())).collect()
}

/// Texts in which no document is found, whatever the scope. They are emitted unchanged.
const NOT_JSON: &[&str] = &[
    "",
    "  \n ",
    "No braces here.",
    "See [docs](http://x) and [the spec][1].",
    "[docs](http://x) tells more.",
    "[docs]: http://x",
    "[\"quoted title\"](http://x)",
    "- [ ] open\n- [x] done\n- [X] also",
    "[ ] open",
    "[x] done",
    "As shown before [3], and again [1, 2].",
    "It works [1][2].",
    "![diagram](a.png)",
    "[[Wiki page]] and [[1]](http://x)",
    "[WARN] disk full",
    "(1) First (see {below}).",
    "(\"quoted\") text",
    "[12:30] Ada: hello",
    "[2024-05-06] released",
    "Dear {name}, your {{item}} is ${state} at %{place} and #{time}.",
    "{name} is required",
    "{{ name }}",
    "{% if x %}{{ x | upper }}{% endif %}",
    "if (x) { return 1; }",
    "fn main() {}",
    "for (;;) {\n  a[0] = b[1];\n}",
    "The set {x, y} has two members, {} has none.",
    "{x, y}",
    "The set {\"x\", \"y\"} too.",
    "$\\frac{a}{b}$ and \\[ x^2 \\] and x_{1}",
    "a { color: red }",
    "body {\n  margin: 0;\n}",
    "body\n{\n  margin: 0;\n}",
    "{ color: red }",
    "int v[] = a;",
    "Use `{x}`, `[1]` or `a[i]`.",
    "a ``` b ~~~ c",
    "```python\nx = {\"a\": 1}\ny = [1, 2]\n```\n",
    "~~~rust\nlet x = [\"a\", \"b\"];\n~~~",
    "```{r}\nx <- list(\"a\" = {\"b\": 1})\n```",
    "Look:\n```c\nint a[] = {1, 2};\n```",
    "{",
    "text {",
    "text [",
    "the end {\"",
    "an interval [0, 1] of numbers",
    "{http://x}",
    "std::{io, fs}",
    "{'tis the season}",
    "<b>[bold]</b> {x}",
    "\u{25c1}not a tag\u{25b7} \u{201c}[quoted]\u{201d}",
];

#[test]
fn text_that_is_not_json_is_unchanged() {
    for text in NOT_JSON {
        for scope in [Scope::All, Scope::First, Scope::Fenced] {
            // If the text ends directly after a bracket, JSON could follow.
            if text.ends_with('"') && scope != Scope::Fenced {
                continue;
            }
            let (found, outcome) = extract(text.as_bytes(), scope, &MendOptions::new());
            assert_eq!(outcome, Outcome::None, "{scope:?}: {text}");
            assert_eq!(show(found.text()), *text);
        }
    }
}

#[test]
fn text_that_is_not_json_is_unchanged_in_a_channel_of_json() {
    for text in NOT_JSON {
        // After a brace, an apostrophe counts as a quote in such a channel.
        if matches!(
            *text,
            "{'tis the season}" | "{" | "the end {\"" | "fn main() {}" | "{ color: red }"
        ) {
            continue;
        }
        let (found, outcome) = extract(text.as_bytes(), Scope::Whole, &MendOptions::new());
        assert_eq!(outcome, Outcome::None, "{text}");
        assert_eq!(show(found.text()), *text);
    }
}

#[test]
fn documents_in_prose() {
    for (text, expected) in [
        ("{\"a\": 1}", "{\"a\": 1}"),
        ("Sure! Here is the JSON: {\"a\": 1}", "{\"a\": 1}"),
        ("The set {x, y} maps to {\"a\": 1}", "{\"a\": 1}"),
        ("I found [3] results: {\"count\": 3, \"ok\": true}", "{\"count\": 3, \"ok\": true}"),
        ("Answer: {\"a\": 1}\n\nNote: use {curly} braces.", "{\"a\": 1}"),
        ("The answer is `{\"a\": 1}`.", "{\"a\": 1}"),
        ("It returns {\"a\": {\"b\": []}} then.", "{\"a\": {\"b\": []}}"),
        ("We got [\"a\", \"b\"] back.", "[\"a\", \"b\"]"),
        ("We got [{\"a\": 1}] back.", "[{\"a\": 1}]"),
        ("We got [[\"a\"]] back.", "[[\"a\"]]"),
        ("Scores: [1, 2, 3]", "[1, 2, 3]"),
        ("Flags:\n[true, false]\n", "[true, false]"),
        ("Result:\n[42]\n", "[42]"),
        ("Result:\n{}\n", "{}"),
        ("Result:\n[]\n", "[]"),
        ("Table:\n[[1, 2], [3, 4]]\n", "[[1, 2], [3, 4]]"),
        ("Table: [[1], [2]]", "[[1], [2]]"),
        ("[[[1]]]", "[[[1]]]"),
        ("[1, [2, 3]] and so on", "[1, [2, 3]]"),
        ("[null, \"a](b\"]", "[null, \"a](b\"]"),
        ("- {\"a\": 1}", "{\"a\": 1}"),
        ("x={\"a\": 1}", "{\"a\": 1}"),
        ("call({\"a\": 1});", "{\"a\": 1}"),
        ("**Result:**\n{\n  \"a\": 1\n}", "{\n  \"a\": 1\n}"),
        ("In {\"a\": \"} ``` [x] {\\\"\"} it is.", "{\"a\": \"} ``` [x] {\\\"\"}"),
        (
            "{\"note\": \"see [docs](http://x) and {name}\"}",
            "{\"note\": \"see [docs](http://x) and {name}\"}",
        ),
    ] {
        for scope in [Scope::All, Scope::First, Scope::Whole] {
            let json = documents(text, scope);
            let json: Vec<_> = json.iter().map(|json| json.trim_end()).collect();
            assert_eq!(json, [expected], "{scope:?}: {text}");
        }
    }
}

#[test]
fn broken_documents_in_prose() {
    for (text, expected) in [
        ("Result: {a: 1, b: 'x'}", "{\"a\": 1, \"b\": \"x\"}"),
        ("Result:\n{'a': True,}\nDone.", "{\"a\": true}"),
        ("The value is {'a': None} now.", "{\"a\": null}"),
        ("Result: [{a: 1}]", "[{\"a\": 1}]"),
        ("Got {\u{201c}a\u{201d}: 1} here", "{\"a\": 1}"),
        ("Here is your JSON: {\"key\": \"val", "{\"key\": \"val\"}"),
    ] {
        for scope in [Scope::All, Scope::First, Scope::Whole] {
            assert_eq!(documents(text, scope), [expected], "{scope:?}: {text}");
        }
    }
}

#[test]
fn all_finds_every_document() {
    let text = "{\"a\":1}{\"b\":2}\n[3]\nand {\"c\":4}, {\"d\":5}.";
    let expected = ["{\"a\":1}", "{\"b\":2}", "[3]", "{\"c\":4}", "{\"d\":5}"];
    assert_eq!(documents(text, Scope::All), expected);
    let (found, _) = extract(text.as_bytes(), Scope::All, &MendOptions::new());
    assert_eq!(show(found.text()), "\n\nand , .");
    assert_eq!(documents(text, Scope::First), ["{\"a\":1}"]);
    assert_eq!(documents(text, Scope::Best), ["{\"a\":1}"]);
    assert_eq!(documents(text, Scope::Last), ["{\"a\":1}"]);
    assert!(documents(text, Scope::Fenced).is_empty());
}

#[test]
fn many_documents_in_one_piece() {
    let text = "{\"a\": 1}\n".repeat(20_000);
    let mut extractor = Finder::new(Scope::All, MendOptions::new());
    let mut found = FoundDocuments::default();
    extractor.push(text.as_bytes(), &mut found);
    assert_eq!(extractor.finish(&mut found), Outcome::Unchanged);
    assert_eq!(found.documents().len(), 20_000);
    assert!(found.documents().iter().all(|document| document.json() == b"{\"a\": 1}"));
}

#[test]
fn offsets_of_several_documents_are_in_the_input() {
    let text = "one {\"a\": 1} two {\"b\": 'x'} three";
    let (found, outcome) = extract(text.as_bytes(), Scope::All, &MendOptions::new());
    assert_eq!(outcome, Outcome::Repaired);
    let [first, second] = found.documents() else { panic!("{found:?}") };
    assert_eq!((first.offset(), first.outcome()), (4, Some(Outcome::Unchanged)));
    assert_eq!((second.offset(), second.outcome()), (17, Some(Outcome::Repaired)));
    assert_eq!(second.repairs().first().unwrap().start(), 23);
}

#[test]
fn reasoning_after_a_colour_is_reasoning() {
    for lead in ["\x1b[0m", "x\n\x1b[1;32m", "\x1b[0"] {
        let text = format!("{lead}<think>a</think>b");
        let (found, _) = extract(text.as_bytes(), Scope::All, &MendOptions::new());
        assert_eq!(show(found.reasoning()), "a", "{text:?}");
    }
}
