//! Whole texts: what is mended, what is left unchanged, and the edit script for all of it.

use wiremend_core::{
    MendOptions, Mended, Outcome, Policy, RepairKind, Risk, TrailingDocuments, apply,
};
use wiremend_extract::{Scope, find};

const SCOPES: [Scope; 6] =
    [Scope::All, Scope::Best, Scope::Fenced, Scope::First, Scope::Last, Scope::Whole];

/// Mends `text`, and checks that applying the repairs gives the output.
fn mended(text: &str, scope: Scope, options: &MendOptions) -> Mended {
    let mended = find(text.as_bytes(), scope, options);
    assert_eq!(mended.text().is_some(), mended.outcome().is_valid(), "{scope:?}: {text}");
    if let Some(output) = mended.text() {
        let applied = apply(text.as_bytes(), mended.repairs()).expect("a sorted script");
        assert_eq!(String::from_utf8_lossy(&applied), output, "{scope:?}: {text}");
        assert!(mended.repairs().iter().all(|repair| options.policy().permits(&repair)));
    }
    mended
}

/// The mended text, without the white space around it.
fn text(input: &str, scope: Scope) -> Option<String> {
    mended(input, scope, &MendOptions::new()).text().map(|text| text.trim().to_owned())
}

#[test]
fn text_that_only_looks_like_json_is_unchanged() {
    for input in [
        "As shown elsewhere [7], and again [8, 9].",
        "Every y in [2, 5) counts.",
        "It ends with a citation [4, 5]",
        "fn run() {}",
        "\"Good morning,\" he said.",
        "[ ] buy milk",
        "Take [it] or {leave} it.",
    ] {
        for scope in [Scope::All, Scope::Best, Scope::Fenced, Scope::First, Scope::Last] {
            let mended = mended(input, scope, &MendOptions::new());
            assert_eq!(mended.outcome(), Outcome::None, "{scope:?}: {input}");
            assert!(mended.repairs().is_empty());
        }
    }
}

#[test]
fn code_in_braces_is_json_only_where_json_is_expected() {
    let input = "{ let y = [z]; }";
    for scope in [Scope::All, Scope::First, Scope::Last] {
        assert_eq!(text(input, scope), None, "{scope:?}");
    }
    assert!(text(input, Scope::Whole).is_some());
    // A document inside such code is still found.
    let input = "{ let y = [z]; call({\"a\": 1}) }";
    assert_eq!(text(input, Scope::First).as_deref(), Some("{\"a\": 1}"));
}

#[test]
fn a_list_among_words_counts_where_json_is_expected() {
    let input = "Sure: [8, 9] it is.";
    assert_eq!(text(input, Scope::Whole).as_deref(), Some("[8, 9]"));
    assert_eq!(text(input, Scope::Best), None);
}

#[test]
fn valid_json_is_unchanged() {
    for input in ["{}", " [1, {\"a\": 1.10}]\n", "\"x\"", "42", "null", "[\"```json\\n{}\\n```\"]"]
    {
        for scope in SCOPES.into_iter().filter(|scope| *scope != Scope::Fenced) {
            let mended = mended(input, scope, &MendOptions::new());
            assert_eq!(mended.outcome(), Outcome::Unchanged, "{scope:?}: {input}");
            assert_eq!(mended.text(), Some(input));
        }
    }
}

#[test]
fn one_document_among_others() {
    let input = "First {\"a\": 1}, then {\"b\": [1, 2]}, then ['c'].";
    for (scope, expected) in [
        (Scope::First, "{\"a\": 1}"),
        (Scope::All, "[{\"a\": 1},\n{\"b\": [1, 2]},\n[\"c\"]]"),
        (Scope::Best, "{\"b\": [1, 2]}"),
        (Scope::Last, "[\"c\"]"),
    ] {
        assert_eq!(text(input, scope).as_deref(), Some(expected), "{scope:?}");
    }
    assert_eq!(text(input, Scope::Fenced), None);
    let array = MendOptions::new().with_trailing_documents(TrailingDocuments::Array);
    for (scope, expected) in
        [(Scope::First, "[1]"), (Scope::All, "[[1],\n[2]]"), (Scope::Last, "[2]")]
    {
        let mended = mended("[1]\n[2]\n", scope, &array);
        assert_eq!(mended.text().map(str::trim), Some(expected), "{scope:?}");
    }
}

/// In whatever layout, with and without white space around the text: all of them are an array or a
/// sequence, and the first one is all that is left only where it was asked for, with a repair that says so.
#[test]
fn several_documents_are_an_array_or_a_sequence() {
    let (one, two) = (r#"{"a": 1}"#, r#"{"b": 2}"#);
    for input in [
        format!("{one}\nThat is it. {two}"),
        format!("{one} {two}"),
        format!("{one}\n\nand\n\n{two}"),
        format!("First: {one}\nSecond: {two}"),
        format!("I know {one} and {two} so far."),
        format!("```json\n{one}\n```\n```json\n{two}\n```"),
        format!("A:\n```json\n{one}\n```\nB:\n```json\n{two}\n```\nThat is all."),
        format!("Here:\n```json\n{one}\n```\nor else\n{two}"),
    ] {
        for around in [["", ""], ["", "\n"], ["\n", ""], [" ", " \r\n\t"]] {
            let input = around.join(&input);
            let read = |scope, trailing| {
                let options = MendOptions::new().with_trailing_documents(trailing);
                let mended = mended(&input, scope, &options);
                assert_eq!(mended.outcome(), Outcome::Repaired, "{scope:?} {trailing:?}: {input}");
                let second = mended.repairs().contains(RepairKind::SecondDocument);
                let text = mended.text().unwrap_or_default();
                (text.split_whitespace().collect::<String>(), second)
            };
            let array = r#"[{"a":1},{"b":2}]"#.to_owned();
            for scope in [Scope::Best, Scope::All, Scope::Whole] {
                let read = read(scope, TrailingDocuments::Array);
                assert_eq!(read, (array.clone(), false), "{scope:?}: {input}");
            }
            assert_eq!(read(Scope::All, TrailingDocuments::First), (array, false), "{input}");
            for scope in [Scope::Best, Scope::First, Scope::Whole] {
                let first = (r#"{"a":1}"#.to_owned(), true);
                assert_eq!(read(scope, TrailingDocuments::First), first, "{scope:?}: {input}");
            }
            let options = MendOptions::new().with_trailing_documents(TrailingDocuments::All);
            for scope in [Scope::Best, Scope::All, Scope::Whole] {
                let mended = mended(&input, scope, &options);
                let text = mended.text().unwrap_or_default();
                let documents: Vec<&str> = text.lines().map(str::trim).collect();
                let documents =
                    documents.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
                assert_eq!(documents, format!("{one} {two}"), "{scope:?}: {input}");
            }
        }
    }
}

/// Of lines that are a document each, one that is broken takes no other with it, and keeps its place.
#[test]
fn a_broken_line_is_the_only_one_that_is_lost() {
    let array = MendOptions::new().with_trailing_documents(TrailingDocuments::Array);
    for (line, left) in [
        ("{\"b\": \"x", r#"{"b":"x"},"#),
        ("{\"b\": [1, 2", r#"{"b":[1,2]},"#),
        ("{\"b\": [1,", r#"{"b":[1]},"#),
        ("{\"b\": 2", r#"{"b":2},"#),
        ("{\"b\":", "{},"),
        ("{\"b", "{},"),
    ] {
        for at in 0..3 {
            let mut lines = vec![r#"{"a": 1}"#, r#"{"c": 3}"#, r#"{"d": [4, {"e": 5}]}"#];
            lines.insert(at, line);
            let mut want = vec![r#"{"a":1},"#, r#"{"c":3},"#, r#"{"d":[4,{"e":5}]},"#];
            want.insert(at, left);
            let want = format!("[{}]", want.concat().trim_end_matches(','));
            for end in ["", "\n"] {
                let input = lines.join("\n") + end;
                for scope in [Scope::Best, Scope::All, Scope::Whole] {
                    let mended = mended(&input, scope, &array);
                    let text = mended.text().unwrap_or_default();
                    let text: String = text.split_whitespace().collect();
                    assert_eq!(
                        (text.as_str(), mended.outcome()),
                        (&*want, Outcome::Closed),
                        "{input}"
                    );
                }
            }
        }
    }
    // A value may begin a line, and so may the braces of a text in a string.
    for input in [
        "{\"a\": 1}\n{\"b\":\n{\"c\": 3}\n}\n{\"d\": 4}",
        "{\"a\": 1}\n{\"b\": [\n{\"c\": 3},\n{\"d\": 4}\n]}",
    ] {
        let all = MendOptions::new().with_trailing_documents(TrailingDocuments::All);
        for scope in [Scope::Best, Scope::All, Scope::Whole] {
            assert_eq!(mended(input, scope, &all).outcome(), Outcome::Unchanged, "{input}");
        }
    }
}

#[test]
fn documents_in_fences_become_an_array() {
    let options = MendOptions::new().with_trailing_documents(TrailingDocuments::Array);
    let fences = "A:\n```json\n{\"a\": 1}\n```\nB:\n```json\n{'b': 2}\n```\n";
    let mended = mended(fences, Scope::Best, &options);
    assert_eq!(mended.text(), Some("[{\"a\": 1},\n{\"b\": 2}]\n"));
    let broken = fences.replace("{'b': 2}", "{'b': ");
    let strict = options.with_policy(Policy::CONSERVATIVE);
    // One of them is cut off and may not be closed, so there is no array.
    assert_eq!(self::mended(&broken, Scope::Best, &strict).text(), None);
}

#[test]
fn text_around_a_document_that_may_not_be_dropped_is_invalid() {
    let exact = MendOptions::new().with_policy(Policy::PERMISSIVE.at_most(Risk::Exact));
    for options in [exact, MendOptions::new().with_policy(Policy::STRICT)] {
        for input in ["const d = {\"a\": 1};", "{\"a\": 1} and so on", "So: {\"a\": 1}"] {
            for scope in [Scope::All, Scope::First, Scope::Last, Scope::Best, Scope::Whole] {
                let mended = mended(input, scope, &options);
                assert_eq!(mended.outcome(), Outcome::Invalid, "{scope:?}: {input}");
            }
        }
    }
}

#[test]
fn text_after_a_document_may_be_an_error() {
    let options = MendOptions::new().with_trailing_documents(TrailingDocuments::Error);
    for scope in [Scope::First, Scope::Best, Scope::Whole] {
        for input in ["[\"a\"] b", "[\"a\"]\n[\"b\"]", "So: [\"a\"] b"] {
            let mended = mended(input, scope, &options);
            assert_eq!(mended.outcome(), Outcome::Invalid, "{scope:?}: {input}");
        }
        let mended = mended("So:\n```json\n[1]\n```", scope, &options);
        assert_eq!(mended.outcome(), Outcome::Repaired, "{scope:?}");
    }
}

#[test]
fn white_space_and_a_byte_order_mark_are_not_prose() {
    let mended = mended("\u{feff}\n{\"a\": 1} Bye", Scope::First, &MendOptions::new());
    let kinds: Vec<RepairKind> = mended.repairs().iter().map(|repair| repair.kind()).collect();
    assert_eq!(kinds, [RepairKind::ByteOrderMark, RepairKind::InlineProse]);
}

#[test]
fn a_closing_fence_ends_a_string_that_was_left_open() {
    for (input, expected) in [
        ("{\"k\": \"v}```", "{\"k\": \"v\"}"),
        ("{\"k\": \"v}\n```\n", "{\"k\": \"v\"}"),
        ("Look:\n```json\n{\"k\": [\"v]}\n```", "{\"k\": [\"v\"]}"),
    ] {
        for scope in [Scope::Best, Scope::First, Scope::Whole] {
            assert_eq!(text(input, scope).as_deref(), Some(expected), "{scope:?}: {input}");
        }
    }
    let cut = "{\"k\": \"v```";
    let mended = mended(cut, Scope::Best, &MendOptions::new());
    assert_eq!((mended.text(), mended.outcome()), (Some("{\"k\": \"v\"}"), Outcome::Closed));
    // A string that is closed may contain a fence.
    let whole = "{\"k\": \"v}```\"";
    assert_eq!(text(whole, Scope::Best).as_deref(), Some("{\"k\": \"v}```\"}"));
}

#[test]
fn mending_twice_changes_nothing() {
    for input in ["Here: {a: 'b', c: [1,]} Bye", "```json\n{\"a\": \"b}\n```", "x [1] {\"a\": tru"]
    {
        for scope in [Scope::All, Scope::Best, Scope::First, Scope::Last, Scope::Whole] {
            let Some(once) = text(input, scope) else { continue };
            let again = mended(&once, scope, &MendOptions::new());
            assert_eq!(again.outcome(), Outcome::Unchanged, "{scope:?}: {once}");
        }
    }
}

/// A document that is refused is not searched for a smaller one inside its strings.
#[test]
fn a_refused_object_contains_no_other_document() {
    let options = MendOptions::new().with_policy(Policy::CONSERVATIVE);
    let cut = br#"{"path": "f", "content": "a = "b, c"\nd = {"path": "z"}\n"#;
    let mended = find(cut, Scope::Best, &options);
    assert!(matches!(mended.outcome(), Outcome::Cut | Outcome::Invalid), "{:?}", mended.outcome());
    assert_eq!(mended.text(), None);
}

#[test]
fn brackets_alone_are_documents() {
    let options = MendOptions::new();
    let text =
        |input: &str| find(input.as_bytes(), Scope::Best, &options).text().map(ToOwned::to_owned);
    assert_eq!(text("[]{}").as_deref(), Some("[]"));
    assert_eq!(text("{} [ ]\n").as_deref(), Some("{}"));
    assert_eq!(text("see [] and {}"), None);
}

#[test]
fn a_dropped_document_is_not_prose() {
    let kinds = |text: &str, scope, following| {
        let mended = mended(text, scope, &MendOptions::new().with_trailing_documents(following));
        let kinds: Vec<RepairKind> = mended.repairs().iter().map(|repair| repair.kind()).collect();
        (mended.text().map(|text| text.trim().to_owned()), kinds)
    };
    let (first, last) = (Some(r#"{"a": 1}"#.to_owned()), Some(r#"{"a": 2}"#.to_owned()));
    let (prose, second) = (RepairKind::LeadingProse, RepairKind::SecondDocument);
    let apart = r#"One: {"a": 1}, then {"a": 2}"#;
    for (text, before) in [("{\"a\": 1}\n{\"a\": 2}", vec![]), (apart, vec![prose])] {
        let taken = (first.clone(), [before, vec![second]].concat());
        assert_eq!(kinds(text, Scope::Best, TrailingDocuments::First), taken, "{text}");
        assert_eq!(kinds(text, Scope::First, TrailingDocuments::Array), taken, "{text}");
        let taken = (last.clone(), vec![second]);
        assert_eq!(kinds(text, Scope::Best, TrailingDocuments::Last), taken, "{text}");
        assert_eq!(kinds(text, Scope::Last, TrailingDocuments::Array), taken, "{text}");
    }
    let careful = MendOptions::new().with_policy(Policy::CONSERVATIVE);
    assert_eq!(mended(apart, Scope::Best, &careful).outcome(), Outcome::Invalid);
}
