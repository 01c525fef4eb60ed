//! The work grows in proportion to the text, whatever it contains and however it is divided.

use wiremend_core::{MendOptions, Outcome};
use wiremend_extract::{CallExtractor, Finder, FoundCalls, FoundDocuments, Scope, Tools};

/// Each is repeated to make a text of many documents, or of many uncertain places.
const UNITS: &[&str] = &[
    "{}\n",
    "[1]\n",
    "{} ",
    "```json\n{}\n```\n",
    "{'a': 1, }\n",
    "{\"a: 1}\n",
    "{\"a\": 1}, \"",
    "x {\"",
    "x [",
    "[[",
    "{{",
    "(",
    "f(",
    "<",
    "`",
    "```x\n",
    "<think></think>\n",
    "\"",
    "\u{201c}",
    "/* */ ",
    "// c\n",
    "[1]] ",
    "{a",
    " ",
];

/// The steps for `count` repetitions, in chunks of `chunk` bytes.
fn steps(unit: &str, count: usize, chunk: usize, scope: Scope) -> u64 {
    let text = unit.repeat(count);
    let mut extractor = Finder::new(scope, MendOptions::new());
    let mut found = FoundDocuments::default();
    for chunk in text.as_bytes().chunks(chunk) {
        extractor.push(chunk, &mut found);
    }
    extractor.finish(&mut found);
    extractor.steps()
}

#[test]
fn four_times_the_text_takes_four_times_the_steps() {
    for unit in UNITS {
        for scope in [Scope::All, Scope::First, Scope::Fenced, Scope::Whole] {
            for chunk in [1, 100, usize::MAX] {
                let (short, long) =
                    (steps(unit, 500, chunk, scope), steps(unit, 2000, chunk, scope));
                let bound = 5 * short + 10_000;
                assert!(long <= bound, "{unit:?}, {scope:?}, by {chunk}: {short}, then {long}");
                let bytes = 2000 * unit.len() as u64;
                assert!(long <= 600 * bytes, "{unit:?}, {scope:?}, by {chunk}: {long}");
            }
        }
    }
}

#[test]
fn a_long_run_of_brackets_is_not_asked_about_one_by_one() {
    for bracket in ["[", "{", "("] {
        for scope in [Scope::All, Scope::First, Scope::Fenced] {
            let (count, steps) = (100_000, steps(bracket, 100_000, usize::MAX, scope));
            assert!(steps <= 3 * count + 10_000, "{bracket}, {scope:?}: {steps}");
        }
    }
}

#[test]
fn a_document_after_a_run_of_brackets_begins_where_it_did() {
    for bracket in ["[", "{", "("] {
        for count in [1, 2, 62, 63, 64, 65, 66, 127, 128, 129, 200] {
            let text = format!("x {} {{\"a\": 1}}", bracket.repeat(count));
            let found = |chunk: usize| {
                let mut extractor = Finder::new(Scope::All, MendOptions::new());
                let mut found = FoundDocuments::default();
                for chunk in text.as_bytes().chunks(chunk) {
                    extractor.push(chunk, &mut found);
                }
                extractor.finish(&mut found);
                found
            };
            assert_eq!(found(usize::MAX), found(1), "{text}");
            assert_eq!(found(usize::MAX), found(70), "{text}");
        }
    }
}

#[test]
fn reset_also_resets_steps() {
    let mut extractor = Finder::new(Scope::All, MendOptions::new());
    let mut found = FoundDocuments::default();
    extractor.push(b"a {\"b\": 1} c [2", &mut found);
    let first = extractor.steps();
    assert!(first > 0);
    extractor.reset();
    assert_eq!(extractor.steps(), 0);
    extractor.push(b"a {\"b\": 1} c [2", &mut found);
    assert_eq!(extractor.steps(), first);
    assert_eq!(extractor.finish(&mut found), Outcome::Unchanged);
}

/// At each marker, what a document would be that may have begun before it is looked for.
#[test]
fn markers_in_what_may_be_documents_take_steps_in_proportion() {
    let tools = Tools::new().with_tool("book", [""; 0], None);
    let reader = CallExtractor::new(MendOptions::new()).with_tools(tools);
    let steps = |unit: &str, count: usize, chunk: usize| {
        let (mut reader, mut found) = (reader.clone(), FoundCalls::default());
        let text = unit.repeat(count);
        text.as_bytes().chunks(chunk).for_each(|chunk| reader.push(chunk, &mut found));
        reader.finish_at_eos(&mut found);
        reader.steps()
    };
    for unit in ["{<tool_call>", "[[TOOL_CALLS] ", "{'<book> ", "{ \"a <book> ", "{\n<tool_call>\n"]
    {
        for chunk in [1, 100, usize::MAX] {
            let (short, long) = (steps(unit, 2000, chunk), steps(unit, 8000, chunk));
            assert!(long <= 5 * short + 10_000, "{unit:?} by {chunk}: {short}, then {long}");
            let bytes = 8000 * unit.len() as u64;
            assert!(long <= 600 * bytes, "{unit:?} by {chunk}: {long}");
        }
    }
}
