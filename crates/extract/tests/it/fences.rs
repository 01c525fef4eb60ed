//! Fences and reasoning blocks.

use crate::cuts::{extract, show};
use wiremend_core::{MendOptions, Outcome};
use wiremend_extract::Scope;

const SCOPES: [Scope; 4] = [Scope::All, Scope::First, Scope::Fenced, Scope::Whole];

#[test]
fn documents_in_fences() {
    for (text, expected) in [
        ("```json\n{\"a\": 1}\n```", "{\"a\": 1}"),
        ("```\n[1, 2]\n```", "[1, 2]"),
        ("~~~json\n{\"a\": 1}\n~~~", "{\"a\": 1}"),
        ("  ```JSON5\r\n  {\"a\": 1}\r\n  ```\r\n", "{\"a\": 1}"),
        ("````json\n{\"a\": 1}\n````", "{\"a\": 1}"),
        ("```json title=\"x\"\n{\"a\": 1}\n```", "{\"a\": 1}"),
        ("```json{\"a\": 1}```", "{\"a\": 1}"),
        ("```json {\"a\": 1} ``` ok", "{\"a\": 1}"),
        ("Sure: ```json {\"a\": 1}``` ok", "{\"a\": 1}"),
        ("Sure: ```json\n{\"a\": 1}\n``` ok", "{\"a\": 1}"),
        ("Here you go:\n```json\n[1]\n```\nHope this helps!", "[1]"),
        (
            "```json\n\n{\"a\": \"use ``` to\\n```\\nfence\"}\n\n```",
            "{\"a\": \"use ``` to\\n```\\nfence\"}",
        ),
        ("```python\nx = {\"b\": 2}\n```\nand\n```json\n{\"a\": 1}\n```", "{\"a\": 1}"),
        ("```json\n// note\n{\"a\": 1}\n```", "{\"a\": 1}"),
        ("```json\n{\"a\": 1}", "{\"a\": 1}"),
        ("```\n{ }\n```", "{ }"),
        ("```js\n[\"a\"]\n```", "[\"a\"]"),
    ] {
        for scope in SCOPES {
            let (found, _) = extract(text.as_bytes(), scope, &MendOptions::new());
            let json: Vec<_> = found.documents().iter().map(|found| show(found.json())).collect();
            assert_eq!(json, [expected], "{scope:?}: {text}");
            let [document] = found.documents() else { unreachable!() };
            let rest = text.replacen(expected, "", 1);
            assert_eq!(show(found.text()), rest, "{scope:?}: {text}");
            assert!(document.outcome().is_some_and(Outcome::is_complete));
        }
    }
}

#[test]
fn all_documents_in_a_fence() {
    let text = "```jsonl\n{\"a\": 1}\n{\"a\": 2}\n[3]\n```\n{\"b\": 1}";
    for (scope, expected) in [(Scope::All, 4), (Scope::Fenced, 3), (Scope::First, 1)] {
        let (found, _) = extract(text.as_bytes(), scope, &MendOptions::new());
        assert_eq!(found.documents().len(), expected, "{scope:?}");
    }
}

#[test]
fn a_fence_of_code_may_look_like_json() {
    for text in [
        "```\n[section]\nkey = {x}\n```",
        "```\nif (x) { return 1; }\n```",
        "```js\nconst {a, b} = c;\n```",
        "```sh\necho '{\"a\": 1}'\n```",
        "```markdown\nWrite {\"a\": 1}.\n```",
    ] {
        for scope in SCOPES {
            let (found, outcome) = extract(text.as_bytes(), scope, &MendOptions::new());
            assert_eq!(outcome, Outcome::None, "{scope:?}: {text}");
            assert_eq!(show(found.text()), text);
        }
    }
}

#[test]
fn the_language_of_a_fence_matters_less_where_json_should_be() {
    let text = "```python\n{\"a\": [\"b\"]}\n```";
    let (found, outcome) = extract(text.as_bytes(), Scope::Whole, &MendOptions::new());
    assert_eq!((found.documents().len(), outcome), (1, Outcome::Repaired));
    assert_eq!(show(found.documents()[0].json()), "{\"a\": [\"b\"]}");
    for scope in [Scope::All, Scope::First, Scope::Fenced] {
        let (found, outcome) = extract(text.as_bytes(), scope, &MendOptions::new());
        assert_eq!((found.documents().len(), outcome), (0, Outcome::None), "{scope:?}");
    }
    // Code begins or continues differently.
    for text in [
        "```python\nx = {\"a\": 1}\n```",
        "```python\n[x for x in y]\n```",
        "```rust\n{ let x = [1]; }\n```",
    ] {
        let (found, outcome) = extract(text.as_bytes(), Scope::Whole, &MendOptions::new());
        assert_eq!((show(found.text()), outcome), (text.to_owned(), Outcome::None));
    }
}

#[test]
fn reasoning_is_separate_and_not_searched() {
    for (text, reasoning, json) in [
        ("<think>maybe {\"a\": 1}?</think>{\"a\": 2}", "maybe {\"a\": 1}?", "{\"a\": 2}"),
        ("\n<Thinking>\n[1]\n< /</Thinking>\n\nIt is\n[2]", "\n[1]\n< /", "[2]"),
        ("[THINK]```json\n[1]\n```[/THINK]\n[2]", "```json\n[1]\n```", "[2]"),
        ("\u{25c1}think\u{25b7}[1]\u{25c1}/think\u{25b7}[2]", "[1]", "[2]"),
        ("<think></think>[2]", "", "[2]"),
        ("Use <think> tags: {\"a\": 1}", "", "{\"a\": 1}"),
        ("<thin>\n[2]\n</thin>", "", "[2]"),
        ("<think>a</think>\n<reflection>b</reflection>\n[2]", "ab", "[2]"),
    ] {
        for scope in [Scope::All, Scope::First, Scope::Whole] {
            let (found, _) = extract(text.as_bytes(), scope, &MendOptions::new());
            assert_eq!(show(found.reasoning()), reasoning, "{scope:?}: {text}");
            let json_found: Vec<_> = found.documents().iter().map(|d| show(d.json())).collect();
            assert_eq!(json_found, [json], "{scope:?}: {text}");
            let length = found.text().len() + reasoning.len() + json.len();
            assert_eq!(length, text.len(), "{scope:?}: {text}");
        }
    }
}

#[test]
fn reasoning_that_never_ends_stays_reasoning() {
    for text in ["<think>{\"a\": 1}", "<think>x</thi", "<think>x<"] {
        let (found, outcome) = extract(text.as_bytes(), Scope::First, &MendOptions::new());
        assert_eq!(outcome, Outcome::None);
        assert_eq!(show(found.text()), "<think>");
        assert_eq!(show(found.reasoning()), &text[7..]);
    }
}

#[test]
fn a_tag_inside_a_document_is_data() {
    let text = "{\"html\": \"<think>x</think>\"}";
    let (found, outcome) = extract(text.as_bytes(), Scope::Whole, &MendOptions::new());
    assert_eq!(outcome, Outcome::Unchanged);
    assert_eq!(show(found.documents()[0].json()), text);
}

/// However much white space comes first, what only the start of a fence makes a document is one.
#[test]
fn a_document_after_much_white_space_in_a_fence_is_found() {
    for blank in [0, 1, 63, 64, 65, 200, 5000] {
        for (broken, json) in
            [("\"a\": 1, \"b\": 2}", "{\"a\": 1, \"b\": 2}"), ("{'a': 1}", "{\"a\": 1}")]
        {
            let text = format!("Said (so): \"it\".\n```json\n{}{broken}\n```\n", " ".repeat(blank));
            let (found, _) = extract(text.as_bytes(), Scope::All, &MendOptions::new());
            let found: Vec<_> = found.documents().iter().map(|found| show(found.json())).collect();
            let found: Vec<_> = found.iter().map(|json| json.trim()).collect();
            assert_eq!(found, [json], "{blank}");
        }
    }
}
