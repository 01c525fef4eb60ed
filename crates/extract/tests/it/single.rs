//! A single document: repairs around it, policies, limits, and how it ends.

use crate::cuts::{extract, show};
use wiremend_core::{Limits, MendOptions, Outcome, Policy, RepairKind, Risk, TrailingDocuments};
use wiremend_extract::{Finder, FoundDocument, FoundDocuments, Scope};

/// A kind of repair and its span.
type Span = (&'static str, usize, usize);

fn account(text: &str, scope: Scope) -> (Vec<Span>, String, Outcome) {
    let (found, outcome) = extract(text.as_bytes(), scope, &MendOptions::new());
    let [document] = found.documents() else { panic!("{text}: {found:?}") };
    let repairs = document.repairs().iter();
    let repairs =
        repairs.map(|repair| (repair.kind().code(), repair.start(), repair.end())).collect();
    (repairs, show(document.json()), outcome)
}

#[test]
fn white_space_around_is_json() {
    for text in [" {\"a\":1}\n", "\n\n[1]", "[1]  ", "{}\r\n\t"] {
        for scope in [Scope::First, Scope::Whole] {
            assert_eq!(account(text, scope), (vec![], text.to_owned(), Outcome::Unchanged));
        }
    }
}

#[test]
fn text_around_a_document_is_recorded() {
    let cases: &[(&str, &[Span], &str)] = &[
        ("\u{feff}[1]", &[("byte-order-mark", 0, 3)], "[1]"),
        ("\u{feff} [1]", &[("byte-order-mark", 0, 3)], " [1]"),
        ("Here:\n [1]", &[("leading-prose", 0, 7)], "[1]"),
        (" Here:\n [1]\n", &[("leading-prose", 0, 8)], "[1]\n"),
        ("[1] Done.", &[("inline-prose", 3, 9)], "[1]"),
        (
            "I can't do [\"a\"] yet.",
            &[("inline-prose", 0, 11), ("inline-prose", 16, 21)],
            "[\"a\"]",
        ),
        ("See {x and:\n[\"a\"]", &[("stray-text", 0, 12)], "[\"a\"]"),
        ("x = [\"a\"];\nDone.", &[("leading-prose", 0, 4), ("trailing-prose", 9, 16)], "[\"a\"]"),
        (
            "Do ```json\n[1]\n``` now",
            &[
                ("inline-prose", 0, 3),
                ("code-fence", 3, 11),
                ("code-fence", 14, 18),
                ("inline-prose", 18, 22),
            ],
            "[1]",
        ),
        ("[1]\nDone.\n", &[("trailing-prose", 3, 10)], "[1]"),
        ("```json\n[1]\n```", &[("code-fence", 0, 8), ("code-fence", 11, 15)], "[1]"),
        (" \n```json\n[1]\n```\n", &[("code-fence", 0, 10), ("code-fence", 13, 18)], "[1]"),
        ("```json\n[1]\n", &[("code-fence", 0, 8)], "[1]\n"),
        (
            "A:\n```\n[\"b\"]\n```\nC",
            &[
                ("leading-prose", 0, 3),
                ("code-fence", 3, 7),
                ("code-fence", 12, 16),
                ("trailing-prose", 16, 18),
            ],
            "[\"b\"]",
        ),
        (
            "```json\n//\n{}\nx\n```",
            &[("code-fence", 0, 8), ("leading-prose", 8, 11), ("trailing-prose", 13, 19)],
            "{}",
        ),
        ("<think>x</think>\n[1]", &[("leading-prose", 0, 17)], "[1]"),
        // The stray closer is text, and so is what follows it.
        ("[1]]\n", &[("extra-close", 3, 5)], "[1]"),
        ("[1] \n } ]\n", &[("extra-close", 3, 10)], "[1]"),
        ("[1] } ]x", &[("extra-close", 3, 7), ("inline-prose", 7, 8)], "[1]"),
        ("{}\n{\"b\":1}", &[("trailing-prose", 2, 3), ("second-document", 3, 10)], "{}"),
        ("{}{\"b\":1} [", &[("second-document", 2, 11)], "{}"),
        ("{} and {\"b\":1}", &[("inline-prose", 2, 7), ("second-document", 7, 14)], "{}"),
        (
            "```json\n[1]\n```\n```json\n[2]\n```",
            &[
                ("code-fence", 0, 8),
                ("code-fence", 11, 15),
                ("trailing-prose", 15, 24),
                ("second-document", 24, 31),
            ],
            "[1]",
        ),
    ];
    for (text, repairs, json) in cases {
        // A bracket that was never closed means that the end is missing.
        let torn = repairs.iter().any(|(kind, start, _)| *kind == "stray-text" && *start == 0);
        let outcome = if torn { Outcome::Closed } else { Outcome::Repaired };
        let expected = (repairs.to_vec(), (*json).to_owned(), outcome);
        assert_eq!(account(text, Scope::Whole), expected, "{text}");
    }
}

#[test]
fn text_around_a_document_is_also_text() {
    let (found, _) =
        extract(b" A:\n```\n[1]\n```\nB {\"c\": 1} ", Scope::First, &MendOptions::new());
    assert_eq!(show(found.text()), " A:\n```\n\n```\nB {\"c\": 1} ");
}

#[test]
fn scalars_count_in_a_channel_of_json() {
    for text in ["42", " -1.5e3\n", "true", "null ", "\"x\"", "\"say \\\"hi\\\" [1] {x\"", "\"\""] {
        assert_eq!(account(text, Scope::Whole), (vec![], text.to_owned(), Outcome::Unchanged));
        let (_, outcome) = extract(text.as_bytes(), Scope::First, &MendOptions::new());
        assert_eq!(outcome, Outcome::None, "{text}");
    }
    for text in [
        "42 is the answer",
        "Yes",
        "t",
        "\"x\" is a letter",
        "\"x\" \"y\"",
        "'twas the night",
        "true enough",
        "1.2.3",
        "-",
        "3rd",
        "12,5",
    ] {
        let (found, outcome) = extract(text.as_bytes(), Scope::Whole, &MendOptions::new());
        assert_eq!(outcome, Outcome::None, "{text}");
        assert_eq!(show(found.text()), text);
    }
    let (repairs, json, _) = account("\"x\" is like {\"a\": 1}", Scope::Whole);
    assert_eq!((json.as_str(), repairs), ("{\"a\": 1}", vec![("inline-prose", 0, 12)]));
}

#[test]
fn broken_scalars_are_mended() {
    for (text, json) in [("'x'", "\"x\""), ("True", "true"), (".5", "0.5"), ("fals", "false")] {
        assert_eq!(account(text, Scope::Whole).1, json, "{text}");
    }
}

#[test]
fn any_valid_json_is_accepted_where_json_is_expected() {
    for text in [
        "[[[[[[[[[[1]]]]]]]]]]",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"x\"]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
        "[[true],[null]]",
        "[ ]",
        "[[]]",
        "[ [ ] ]",
        "[{}]",
        "[true ,1]",
        "[-0.5E+7]",
        "{\"\":{}}",
        "{ }",
        "[\"\",\"](\"]",
        "[\n\n  {\n \"a\" :1}]",
        "[\"]\"\n]",
    ] {
        assert_eq!(account(text, Scope::Whole), (vec![], text.to_owned(), Outcome::Unchanged));
    }
}

#[test]
fn broken_json_is_accepted_where_json_is_expected() {
    for (text, json) in [
        ("[1 2 3]", "[1, 2, 3]"),
        ("[[a, b]]", "[[\"a\", \"b\"]]"),
        ("[hello]", "[\"hello\"]"),
        ("(1, 2)", "[1, 2]"),
        ("('a', {b: 1})", "[\"a\", {\"b\": 1}]"),
        ("{{\"a\": 1}}", "{\"a\": 1}"),
        ("{a b: 1}", "{\"a b\": 1}"),
    ] {
        assert_eq!(account(text, Scope::Whole).1, json, "{text}");
    }
}

#[test]
fn comments_may_precede_a_document() {
    for (text, json, comments) in [
        ("/* a */ {\"b\": 1}", " {\"b\": 1}", vec![("comment", 0, 7)]),
        (" // a\n/**/\n[1]\n", " \n\n[1]\n", vec![("comment", 1, 5), ("comment", 6, 10)]),
        ("/* {\"no\": [ */42", "42", vec![("comment", 0, 14)]),
    ] {
        assert_eq!(account(text, Scope::Whole), (comments, json.to_owned(), Outcome::Repaired));
    }
    // Without a document, they are text. So are those before a document in prose.
    for text in ["/* a */", "// a\nb", "/", "/x", "/* a", "/ [1]", "/* a */ b"] {
        let (found, _) = extract(text.as_bytes(), Scope::Whole, &MendOptions::new());
        assert!(show(found.text()).starts_with(text.trim_end_matches(" [1]")), "{text}");
    }
    let (repairs, json, _) = account("/* a */ So: [\"b\"]", Scope::Whole);
    assert_eq!((repairs, json.as_str()), (vec![("leading-prose", 0, 12)], "[\"b\"]"));
    let (repairs, ..) = account("/* a */\n```json\n[1]\n```", Scope::Whole);
    assert_eq!(repairs[..2], [("leading-prose", 0, 8), ("code-fence", 8, 16)]);
    let strict = MendOptions::new().with_policy(Policy::STRICT);
    assert_eq!(extract(b"/**/[1]", Scope::Whole, &strict).1, Outcome::Invalid);
}

#[test]
fn a_comment_longer_than_the_buffer_is_prose() {
    let options = MendOptions::new().with_limits(Limits::new().with_buffer(8));
    let (found, _) = extract(b"/*12345*/{\"a\": 1}", Scope::Whole, &options);
    assert_eq!(found.documents()[0].repairs().first().unwrap().kind(), RepairKind::InlineProse);
    let (found, _) = extract(b"/*1234*/{\"a\": 1}", Scope::Whole, &options);
    assert_eq!(found.documents()[0].repairs().first().unwrap().kind(), RepairKind::Comment);
}

#[test]
fn a_call_around_a_document_belongs_to_it() {
    for (text, json) in [
        ("done([]);", "[]"),
        ("done_2 ( {} )", "{}"),
        ("/* a */done({\"a\": [1]})", "{\"a\": [1]}"),
    ] {
        let (_, found, outcome) = account(text, Scope::Whole);
        assert_eq!((found.trim(), outcome), (json, Outcome::Repaired), "{text}");
        let (found, _) = extract(text.as_bytes(), Scope::Whole, &MendOptions::new());
        assert_eq!(show(found.text()).trim_end_matches(';'), "", "{text}");
    }
    for text in ["if (x) { return 1; }", "f(x)", "g([docs](x))", "see (below)"] {
        let (_, outcome) = extract(text.as_bytes(), Scope::Whole, &MendOptions::new());
        assert_eq!(outcome, Outcome::None, "{text}");
    }
}

#[test]
fn almost_scalars_are_text() {
    for text in [" fals ", "nul\n", "1_000_", "000_00"] {
        let (found, outcome) = extract(text.as_bytes(), Scope::Whole, &MendOptions::new());
        assert_eq!((found.documents().len(), outcome), (0, Outcome::None), "{text:?}");
    }
}

#[test]
fn text_around_a_document_is_refused_if_the_policy_forbids_dropping_it() {
    let strict = MendOptions::new().with_policy(Policy::STRICT);
    let exact = MendOptions::new().with_policy(Policy::PERMISSIVE.at_most(Risk::Exact));
    let likely = MendOptions::new().with_policy(Policy::CONSERVATIVE);
    let no_fence =
        MendOptions::new().with_policy(Policy::PERMISSIVE.without(RepairKind::CodeFence));
    for (text, options, expected) in [
        (" [1]\n", strict.clone(), Outcome::Unchanged),
        ("\u{feff}[1]", strict.clone(), Outcome::Invalid),
        ("\u{feff}[1]", exact.clone(), Outcome::Repaired),
        ("```json\n[1]\n```", strict.clone(), Outcome::Invalid),
        ("```json\n[1]\n```", exact.clone(), Outcome::Repaired),
        ("```json\n[1]\n```", no_fence, Outcome::Invalid),
        ("Here: [\"a\"]", exact.clone(), Outcome::Invalid),
        ("Here: [\"a\"]", likely.clone(), Outcome::Repaired),
        ("[1]\nDone.", exact, Outcome::Invalid),
        ("[1]\nDone.", likely.clone(), Outcome::Repaired),
        ("[1] Done.", likely.clone(), Outcome::Invalid),
        ("Not [\"a\"]", likely.clone(), Outcome::Invalid),
        ("{}{\"b\":1}", likely, Outcome::Invalid),
        ("No JSON", strict.clone(), Outcome::None),
    ] {
        let (found, outcome) = extract(text.as_bytes(), Scope::Whole, &options);
        assert_eq!(outcome, expected, "{text}");
        if let Some(document) = found.documents().first() {
            assert_eq!(document.outcome(), Some(expected), "{text}");
        }
        let repairs = found.documents().iter().flat_map(FoundDocument::repairs);
        for repair in repairs {
            assert!(options.policy().permits(&repair));
        }
    }
    let (_, outcome) = extract(b"x [\"a\"] y", Scope::All, &strict);
    assert_eq!(outcome, Outcome::Unchanged, "with several documents, text around is not recorded");
}

#[test]
fn text_after_a_document_may_be_an_error() {
    let options = MendOptions::new().with_trailing_documents(TrailingDocuments::Error);
    assert_eq!(extract(b"[1]\n", Scope::Whole, &options).1, Outcome::Unchanged);
    assert_eq!(extract(b"[1] x", Scope::Whole, &options).1, Outcome::Invalid);
    assert_eq!(extract(b"[1][2]", Scope::Whole, &options).1, Outcome::Invalid);
}

#[test]
fn more_white_space_than_the_buffer_is_prose() {
    let options = MendOptions::new().with_limits(Limits::new().with_buffer(8));
    for (text, json) in [
        ("        [1]", "        [1]"),
        ("         [1]", "[1]"),
        ("[1]        ", "[1]        "),
        ("[1]         ", "[1]"),
    ] {
        let (found, outcome) = extract(text.as_bytes(), Scope::First, &options);
        assert_eq!(show(found.documents()[0].json()), json);
        let unchanged = json.len() == text.len();
        assert_eq!(outcome == Outcome::Unchanged, unchanged, "{text:?}");
    }
}

#[test]
fn a_long_string_becomes_a_document_before_its_end() {
    let options = MendOptions::new().with_limits(Limits::new().with_buffer(16));
    let text = "\"0123456789 0123456789\"";
    let (found, outcome) = extract(text.as_bytes(), Scope::Whole, &options);
    assert_eq!((outcome, show(found.documents()[0].json()).as_str()), (Outcome::Unchanged, text));
    let text = "0123456789             0123456789";
    assert_eq!(extract(text.as_bytes(), Scope::Whole, &options).1, Outcome::None);
}

#[test]
fn at_most_a_window_of_text_is_withheld() {
    let text = format!("a [\"{}", "b ".repeat(500));
    let mut extractor = Finder::new(Scope::All, MendOptions::new());
    let mut found = FoundDocuments::default();
    for byte in text.as_bytes().chunks(1) {
        extractor.push(byte, &mut found);
        if found.documents().is_empty() {
            assert!(extractor.withheld() <= 64);
        }
    }
    assert_eq!(found.text(), b"a ");
}

#[test]
fn accessors_while_reading() {
    let mut extractor = Finder::new(Scope::First, MendOptions::new());
    let mut found = FoundDocuments::default();
    assert!(extractor.completion().is_none());
    extractor.push(b"Here:\n{\"a\": [1, {", &mut found);
    assert_eq!(extractor.depth(), 3);
    assert_eq!(extractor.offset(), 17);
    let completion = extractor.completion().map(|completion| completion.to_string());
    assert_eq!(completion.as_deref(), Some("}]}"));
    extractor.push(b"}]} ", &mut found);
    assert_eq!((extractor.depth(), extractor.withheld()), (0, 1));
    assert!(extractor.completion().is_none());
    assert_eq!(extractor.outcome(), None);
    assert_eq!(extractor.finish(&mut found), Outcome::Repaired);
    assert_eq!(extractor.outcome(), Some(Outcome::Repaired));
    extractor.push(b"late", &mut found);
    assert_eq!(extractor.finish(&mut found), Outcome::Repaired);
    assert_eq!(show(found.text()), "Here:\nlate");
}

#[test]
fn a_cut_document_has_the_path_of_the_cut() {
    for (policy, expected) in
        [(Policy::PERMISSIVE, Outcome::Closed), (Policy::CONSERVATIVE, Outcome::Cut)]
    {
        let mut extractor = Finder::new(Scope::First, MendOptions::new().with_policy(policy));
        let mut found = FoundDocuments::default();
        extractor.push(b"Here: {\"a\": [1, {\"b\": \"x", &mut found);
        assert_eq!(extractor.finish(&mut found), expected);
        assert_eq!(extractor.path().to_string(), "$.a[1].b");
    }
}

#[test]
fn abandoning_loses_nothing() {
    let text = b"\xEF\xBB\xBF Here: {\"a\": 'b\"c', x: tru}} <think>[1] ```json\n {\"b\" ";
    for scope in [Scope::All, Scope::First, Scope::Whole, Scope::Fenced] {
        for end in 0..=text.len() {
            let mut extractor = Finder::new(scope, MendOptions::new().with_policy(Policy::STRICT));
            let mut found = FoundDocuments::default();
            extractor.push(&text[..end], &mut found);
            assert_eq!(extractor.abandon(&mut found), Outcome::Abandoned);
            assert_eq!(extractor.finish(&mut found), Outcome::Abandoned);
            assert_eq!(extractor.withheld(), 0);
            let json: usize = found.documents().iter().map(|found| found.json().len()).sum();
            assert_eq!(found.text().len() + found.reasoning().len() + json, end, "{scope:?}");
            assert!(found.documents().iter().all(|found| found.outcome().is_some()));
        }
    }
}

#[test]
fn reset_starts_over() {
    for first in ["{\"a\": [", "<think>x", "```json\n", "[1] x", "\"abc", "  ", "a {"] {
        let mut extractor = Finder::new(Scope::Whole, MendOptions::new());
        extractor.push(first.as_bytes(), &mut FoundDocuments::default());
        extractor.reset();
        let mut found = FoundDocuments::default();
        extractor.push(b" {\"b\": 1}\n", &mut found);
        assert_eq!(extractor.finish(&mut found), Outcome::Unchanged, "{first}");
        assert_eq!(show(found.documents()[0].json()), " {\"b\": 1}\n");
    }
}

#[test]
fn any_bytes_in_any_chunks() {
    let alphabet: &[&[u8]] = &[
        b"{",
        b"}",
        b"[",
        b"]",
        b"\"",
        b"'",
        b"\\",
        b"```",
        b"json",
        b"\n",
        b" ",
        b":",
        b",",
        b"1",
        b"a",
        b"~~~",
        b"<think>",
        b"</think>",
        b"\xE2",
        b"\x80\x9C",
        b"\xFF",
        b"\xEF\xBB\xBF",
        b"/*",
        b"*/",
        b"//",
        b"f(",
        b")",
        b";",
        b"true",
        b"-",
    ];
    let mut seed: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed >> 33).unwrap()
    };
    for _ in 0..3000 {
        let pieces = next() % 24;
        let text: Vec<u8> =
            (0..pieces).flat_map(|_| alphabet[next() % alphabet.len()].to_vec()).collect();
        for scope in [Scope::All, Scope::First, Scope::Whole, Scope::Fenced] {
            let policy = if next() % 2 == 0 { Policy::PERMISSIVE } else { Policy::CONSERVATIVE };
            extract(&text, scope, &MendOptions::new().with_policy(policy));
        }
    }
}

/// Containers of this many levels, each with one or two values.
fn containers(levels: usize) -> Vec<String> {
    let mut all: Vec<String> = ["{}", "[]"].map(String::from).to_vec();
    if levels > 1 {
        let mut inner = containers(levels - 1);
        inner.extend(["1", "-2.5", "true", "null", "\"\"", "\"a b\""].map(String::from));
        all.extend(inner.iter().flat_map(|value| {
            [
                format!("[{value}]"),
                format!("[ {value}, {value}]"),
                format!("{{\"a\": {value}}}"),
                format!("[{value},\n{{\"a\": 1}}]"),
            ]
        }));
    }
    all
}

#[test]
fn a_channel_of_json_is_that_document() {
    for text in containers(4) {
        for scope in [Scope::All, Scope::First, Scope::Last, Scope::Whole] {
            let mut extractor = Finder::new(scope, MendOptions::new());
            let mut found = FoundDocuments::default();
            extractor.push(text.as_bytes(), &mut found);
            let outcome = extractor.finish(&mut found);
            let documents: Vec<_> =
                found.documents().iter().map(|document| show(document.json())).collect();
            assert_eq!((documents, outcome), (vec![text.clone()], Outcome::Unchanged), "{scope:?}");
        }
    }
}

/// Brackets in strings, colours and closers before the rest of a document do not end it.
#[test]
fn the_rest_of_a_document_lacks_its_end() {
    for (text, outcome) in [
        ("{\"a\": [1]}], \"b\": 2", Outcome::Closed),
        ("{\"a\": [1]}], \"b\": 2}", Outcome::Repaired),
        ("{\"a\": 1}, \"b\": \"see :]\", \"c\": 2", Outcome::Closed),
        ("{\"a\": 1}, \"b\": \"see :]\", \"c\": 2}", Outcome::Repaired),
    ] {
        for scope in [Scope::First, Scope::Whole] {
            let (_, _, found) = account(text, scope);
            assert_eq!(found, outcome, "{scope:?} {text}");
        }
    }
}
