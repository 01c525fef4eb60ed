//! The documents say what the code does: every kind, every limit, every example.

use std::{collections::BTreeSet, fs};

use jsonmend_core::{Following, Options, RepairKind, mend};
use jsonmend_testkit::cases;

fn document(path: &str) -> String {
    let path = jsonmend_tests::root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn codes() -> BTreeSet<String> {
    RepairKind::ALL.iter().map(|kind| kind.code().to_owned()).collect()
}

/// The code that a heading such as "### `single-quote` (exact)" names.
fn heading_code(line: &str) -> Option<String> {
    let heading = line.strip_prefix("##")?.trim_start_matches('#').trim().replace('`', "");
    let code = heading.split([' ', ',', ':', '(']).next()?;
    let kebab = code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-' || byte == b'8');
    (kebab && !code.is_empty()).then(|| code.to_owned())
}

#[test]
fn every_kind_has_a_section_in_the_page_of_repairs() {
    let page = document("docs/repairs.md");
    let sections: BTreeSet<String> = page.lines().filter_map(heading_code).collect();
    let missing: Vec<_> = codes().difference(&sections).cloned().collect();
    assert!(missing.is_empty(), "no section in docs/repairs.md: {missing:?}");
    let unknown: Vec<_> = sections.difference(&codes()).cloned().collect();
    assert!(unknown.is_empty(), "a section in docs/repairs.md of no kind: {unknown:?}");
}

#[test]
fn every_section_names_the_risk_of_its_kind() {
    let page = document("docs/repairs.md");
    let lines: Vec<&str> = page.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let Some(kind) = heading_code(line).and_then(|code| RepairKind::from_code(&code)) else {
            continue;
        };
        let end = lines[at + 1..].iter().position(|line| heading_code(line).is_some());
        let section = &lines[at..end.map_or(lines.len(), |end| at + 1 + end)];
        let risk = kind.risk().code();
        let named = section.iter().any(|line| line.to_lowercase().contains(risk));
        assert!(named, "docs/repairs.md does not say that {kind} is {risk}");
    }
}

#[test]
fn every_limit_is_in_the_page_of_limits() {
    let page = document("docs/limits.md");
    for limit in ["with_depth", "with_lookahead", "with_buffer", "with_repairs"] {
        assert!(page.contains(limit), "docs/limits.md does not name {limit}");
    }
    for default in ["127", "64", "65,536", "10,000"] {
        assert!(page.contains(default), "docs/limits.md does not name the default {default}");
    }
}

#[test]
fn every_kind_has_two_cases_in_the_corpus() {
    let cases = cases::read_folder(&jsonmend_tests::corpus()).unwrap();
    let few: Vec<_> = RepairKind::ALL
        .iter()
        .filter(|kind| cases.iter().filter(|case| case.kinds.contains(kind)).count() < 2)
        .collect();
    assert!(few.is_empty(), "fewer than two cases: {few:?}");
}

#[test]
fn forty_cases_must_not_be_touched() {
    let cases = cases::read_folder(&jsonmend_tests::corpus()).unwrap();
    let whole = cases
        .iter()
        .filter(|case| case.output.as_ref().is_some_and(|o| o.as_bytes() == case.input));
    let text = cases.iter().filter(|case| case.scope.is_some() && case.output.is_none());
    assert!(whole.count() >= 40);
    assert!(text.count() >= 20);
}

/// The example of each kind is true, and the kind is among the repairs recorded.
#[test]
fn examples_of_kinds_hold() {
    let mut wrong = String::new();
    for &kind in RepairKind::ALL {
        let (before, after) = kind.example();
        let before = cases::decode_bytes(before);
        let following = match kind {
            RepairKind::LineDelimited => Following::Array,
            _ => Following::First,
        };
        let mended = mend(&before, &Options::new().with_following(following));
        let recorded = mended.repairs().iter().any(|repair| repair.kind == kind);
        if mended.text() != Some(after) || !recorded {
            wrong.push_str(&format!("\n{kind}: {mended:?}, not {after:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What stands in the look-up of headings can be relied on.
#[test]
fn headings_are_read() {
    assert_eq!(heading_code("### `single-quote`").as_deref(), Some("single-quote"));
    assert_eq!(heading_code("## comment (exact)").as_deref(), Some("comment"));
    assert_eq!(heading_code("## Strings"), None);
    assert_eq!(heading_code("text"), None);
}
