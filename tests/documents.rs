//! The documents agree with the code: every kind, every limit, every example.

use std::{collections::BTreeSet, env, fs, path::Path};

use wiremend_core::{MendOptions, Outcome, RepairKind, TrailingDocuments, coverage, mend};
use wiremend_extract::{CallExtractor, Dialect, Finder, FoundDocuments, Scope, find};
use wiremend_testkit::{
    adversary, bodies::Shape, cases, chaos::Settings, laws::read_calls, transport::Scenario,
};

fn document(path: &str) -> String {
    let path = wiremend_tests::root().join(path);
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
    let core = ["with_depth", "with_lookahead", "with_buffer", "with_report"];
    let wire = ["with_line", "with_event", "with_calls", "with_arguments", "with_open_arguments"];
    let above = ["with_held", "with_object_limit", "with_open_objects_limit"];
    for limit in core.into_iter().chain(wire).chain(above) {
        assert!(page.contains(limit), "docs/limits.md does not name {limit}");
    }
    for default in ["127", "64", "65,536", "16 MiB"] {
        assert!(page.contains(default), "docs/limits.md does not name the default {default}");
    }
}

/// The entries are numbered without gaps, and each names a test that exists.
#[test]
fn every_defect_on_the_page_has_its_test() {
    let tests = document("crates/wire/tests/wire/defects.rs");
    let page = document("docs/providers.md");
    let (_, defects) = page.split_once("\n## Defects seen in practice\n").unwrap();
    let rows: Vec<&str> = defects.lines().filter(|line| line.ends_with("` |")).collect();
    for (number, row) in (1..).zip(&rows) {
        assert!(row.starts_with(&format!("| {number} |")), "{row}");
        let test = row.trim_end_matches("` |").rsplit('`').next().unwrap();
        assert!(test.starts_with(&format!("d{number:02}_")), "{row}");
        assert!(tests.contains(&format!("#[test]\nfn {test}()")), "{test} is missing");
    }
    assert_eq!(tests.matches("#[test]\nfn d").count(), rows.len());
}

#[test]
fn every_kind_has_two_cases_in_the_corpus() {
    let cases = cases::read_folder(&wiremend_tests::corpus()).unwrap();
    let few: Vec<_> = RepairKind::ALL
        .iter()
        .filter(|kind| cases.iter().filter(|case| case.kinds.contains(kind)).count() < 2)
        .collect();
    assert!(few.is_empty(), "fewer than two cases: {few:?}");
}

#[test]
fn forty_cases_must_not_be_changed() {
    let cases = cases::read_folder(&wiremend_tests::corpus()).unwrap();
    let whole = cases
        .iter()
        .filter(|case| case.output.as_ref().is_some_and(|o| o.as_bytes() == case.input));
    let text = cases.iter().filter(|case| case.scope.is_some() && case.output.is_none());
    assert!(whole.count() >= 40);
    assert!(text.count() >= 20);
}

/// The example of each kind is true, and the kind is among the repairs recorded.
#[test]
fn examples_of_kinds_are_true() {
    let mut wrong = String::new();
    for &kind in RepairKind::ALL {
        let (before, after) = kind.example();
        let before = cases::decode_bytes(before);
        let trailing = match kind {
            RepairKind::LineDelimited => TrailingDocuments::Array,
            _ => TrailingDocuments::First,
        };
        let mended = mend(&before, &MendOptions::new().with_trailing_documents(trailing));
        let recorded = mended.repairs().contains(kind);
        if mended.text() != Some(after) || !recorded {
            wrong.push_str(&format!("\n{kind}: {mended:?}, not {after:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// An example on the page of repairs: the input, and the output of both paths.
struct Example {
    section: String,
    input: Vec<u8>,
    whole: Expected,
    stream: Expected,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Expected {
    outcome: Outcome,
    /// White space around the document is omitted.
    text: Option<String>,
}

impl Expected {
    /// Reads what follows an arrow: `[1]`, `[1]  (closed)`, `(none)`.
    fn read(line: &str, input: &[u8]) -> Self {
        let named =
            |code: &str| Outcome::ALL.iter().find(|outcome| outcome.code() == code).copied();
        let note = line
            .rsplit_once('(')
            .and_then(|(text, note)| Some((text.trim_end(), named(note.strip_suffix(')')?)?)));
        let (text, outcome) = note.unwrap_or((line, Outcome::Repaired));
        let text = match outcome {
            Outcome::Unchanged => String::from_utf8_lossy(input).into_owned(),
            _ => raw(text),
        };
        Self::new(outcome, Some(text))
    }

    fn new(outcome: Outcome, text: Option<String>) -> Self {
        let text = text.filter(|_| outcome.is_valid()).map(|text| text.trim().to_owned());
        Self { outcome, text }
    }
}

/// Control characters are written as their symbols.
fn raw(shown: &str) -> String {
    shown.replace('␊', "\n").replace('␉', "\t")
}

/// The indented lines of the page, in groups of up to three: input, `=>`, `stream =>`.
fn examples(page: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut section = String::new();
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            heading.clone_into(&mut section);
        }
        let Some(line) = line.strip_prefix("    ") else { continue };
        match (line.strip_prefix("=> "), line.strip_prefix("stream => "), examples.last_mut()) {
            (Some(line), _, Some(example)) => {
                example.whole = Expected::read(line, &example.input);
                example.stream = example.whole.clone();
            }
            (_, Some(line), Some(example)) => {
                example.stream = Expected::read(line, &example.input);
                assert_ne!(example.stream, example.whole, "{line}: the paths do not differ");
            }
            _ => {
                let none = Expected::new(Outcome::Abandoned, None);
                examples.push(Example {
                    section: section.clone(),
                    input: cases::decode_bytes(&raw(line)),
                    whole: none.clone(),
                    stream: none,
                });
            }
        }
    }
    examples
}

/// The results of `wiremend repair`, by default and with `--stream`, and the kinds that were recorded.
fn mended(input: &[u8]) -> (Expected, Expected, BTreeSet<&'static str>) {
    let options = MendOptions::new().with_trailing_documents(TrailingDocuments::Array);
    let whole = find(input, Scope::Best, &options);
    let mut extractor = Finder::new(Scope::Whole, MendOptions::new());
    let mut found = FoundDocuments::default();
    extractor.push(input, &mut found);
    let outcome = extractor.finish(&mut found);
    let pushed = found.documents().first();
    let pushed_repairs = pushed.into_iter().flat_map(wiremend_extract::FoundDocument::repairs);
    let kinds =
        whole.repairs().iter().chain(pushed_repairs).map(|repair| repair.kind().code()).collect();
    let pushed = pushed.map(|document| String::from_utf8_lossy(document.json()).into_owned());
    (
        Expected::new(whole.outcome(), whole.text().map(str::to_owned)),
        Expected::new(outcome, pushed),
        kinds,
    )
}

#[test]
fn every_example_in_the_page_of_repairs_is_true() {
    let examples = examples(&document("docs/repairs.md"));
    let mut shown = BTreeSet::new();
    let mut wrong = String::new();
    for example in &examples {
        let (whole, stream, kinds) = mended(&example.input);
        if kinds.contains(&example.section[..]) {
            shown.insert(example.section.clone());
        }
        if (&whole, &stream) != (&example.whole, &example.stream) {
            let input = example.input.escape_ascii();
            wrong.push_str(&format!("\n{}: {input}: {whole:?} {stream:?}", example.section));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let missing: Vec<_> = codes().difference(&shown).cloned().collect();
    assert!(missing.is_empty(), "no example that records {missing:?}");
    assert!(examples.iter().any(|e| e.section == "Whole text only" && e.stream != e.whole));
}

#[test]
fn the_page_of_the_grammar_contains_the_table() {
    contains_table("crates/core/grammar.md", "decisions", &coverage::table());
}

#[test]
fn the_page_of_quotes_contains_the_tables() {
    contains_table("crates/core/grammar.md", "quotes", &coverage::quotes::tables());
}

#[test]
fn the_page_of_hostile_inputs_contains_the_catalogue() {
    contains_table("docs/limits.md", "hostile", &adversary::catalogue());
}

#[test]
fn the_page_of_the_dialects_contains_every_row() {
    let rows = Dialect::all().iter().map(|row| {
        let example = row.example().replace('\n', "\\n").replace('|', "\\|");
        let ticks = if example.contains('`') { "``" } else { "`" };
        let about = row.about();
        format!("| `{}` | {} | {about} | {ticks} {example} {ticks} |\n", row.name(), row.family())
    });
    let head = "| name | family | models | example |\n|---|---|---|---|\n";
    contains_table("docs/dialects.md", "dialects", &[head.to_owned(), rows.collect()].concat());
}

/// Checks that the page contains that table as printed, or writes it there with `UPDATE_DOCS=1`.
/// The readings of docs/calls.md: dialect, input and reading of each row.
fn readings(page: &str) -> Vec<[String; 3]> {
    let mut rows = Vec::new();
    for table in page.split("<!-- readings -->").skip(1) {
        let table = table.split("<!-- /readings -->").next().unwrap();
        for line in table.trim().lines().skip(2) {
            // A bar in a cell is escaped.
            let line = line.replace("\\|", "\u{0}");
            let cells = line.trim_matches('|').split('|').map(|cell| {
                cell.trim().trim_start_matches('`').trim_end_matches('`').replace('\u{0}', "|")
            });
            rows.push(cells.collect::<Vec<_>>().try_into().unwrap());
        }
    }
    rows
}

#[test]
fn every_reading_on_the_page_is_true() {
    let declared = serde_json::json!([
        {"name": "book", "parameters": {"type": "object", "properties": {
            "seats": {"type": "integer"}, "name": {"type": "string"}}}},
        {"name": "now", "parameters": {"type": "object", "properties": {}}},
    ]);
    let tools = wiremend_schema::Registry::from_tools(&declared).unwrap().tools();
    let rows = readings(&document("docs/calls.md"));
    assert!(rows.len() > 35, "{}", rows.len());
    for [dialect, input, reading] in rows {
        let row = Dialect::by_name(&dialect).unwrap_or_else(|| panic!("{dialect}"));
        let options = MendOptions::new().with_policy(wiremend_core::Policy::PERMISSIVE);
        let reader = CallExtractor::new(options).with_tools(tools.clone());
        let trace = read_calls(&reader.with_dialect(row.clone()), [input.as_bytes()]);
        let calls = trace.found.calls().iter().map(|call| {
            let before = if call.outcome().can_run() { "" } else { call.outcome().code() };
            let json = String::from_utf8_lossy(call.arguments()).into_owned();
            format!("{before} {} {json}", call.name()).trim().to_owned()
        });
        let calls: Vec<String> = calls.collect();
        let got = if calls.is_empty() { "text".to_owned() } else { calls.join("; ") };
        assert_eq!(got, reading, "{dialect}: {input}");
    }
}

fn contains_table(path: &str, name: &str, table: &str) {
    let page = document(path);
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (head, rest) = page.split_once(&begin).expect("a mark before the table");
    let (_, tail) = rest.split_once(&end).expect("a mark after the table");
    let wanted = format!("{head}{begin}\n{table}\n{end}{tail}");
    if env::var_os("UPDATE_DOCS").is_some_and(|value| value == "1") {
        fs::write(wiremend_tests::root().join(path), &wanted).unwrap();
        return;
    }
    assert!(page == wanted, "{path} is out of date: run this test with UPDATE_DOCS=1\n{table}");
}

/// The documents of the repository, by their paths from the root.
fn documents() -> Vec<String> {
    let names = |folder: &str| -> Vec<String> {
        fs::read_dir(wiremend_tests::root().join(folder))
            .unwrap()
            .map(|entry| format!("{folder}{}", entry.unwrap().file_name().display()))
            .filter(|name| name.ends_with(".md"))
            .collect()
    };
    let folders = [
        "",
        "benches/",
        "crates/core/",
        "crates/schema/",
        "docs/",
        "examples/",
        "examples/streams/",
        "tests/",
    ];
    folders.map(names).concat()
}

/// The targets of the links in a page.
fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

/// The anchor of a heading.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading.chars().filter(kept).collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn link_targets_exist() {
    let mut seen = 0;
    for name in documents() {
        let page = document(&name);
        let examples = |line: &&str| !line.starts_with("    ");
        let prose: Vec<&str> = page.lines().filter(examples).collect();
        for link in links(&prose.join("\n")).filter(|link| !link.starts_with("http")) {
            let (path, mark) = link.split_once('#').unwrap_or((link, ""));
            let folder = Path::new(&name).parent().unwrap_or(Path::new(""));
            let path = if path.is_empty() { name.clone().into() } else { folder.join(path) };
            let target = wiremend_tests::root().join(&path);
            assert!(target.exists(), "{name}: {link}");
            if !mark.is_empty() {
                let there = fs::read_to_string(target).unwrap();
                let mut headings = there.lines().filter_map(|line| line.strip_prefix('#'));
                let found = headings.any(|h| anchor(h.trim_start_matches('#').trim()) == mark);
                assert!(found, "{name}: {link}");
            }
            seen += 1;
        }
    }
    assert!(seen > 30, "{seen} links");
}

/// A source that a page names exists: relative to the root, or to the folder that the page states.
#[test]
fn files_that_are_named_exist() {
    const ROOTS: [&str; 2] = ["", "crates/core/src"];
    const KINDS: [&str; 5] = [".rs", ".dict", ".jsonl", ".sse", ".toml"];
    let mut seen = 0;
    for name in documents() {
        let page = document(&name);
        for span in page.split('`').skip(1).step_by(2).filter(|span| span.contains('/')) {
            if span.contains(char::is_whitespace) || !KINDS.iter().any(|kind| span.ends_with(kind))
            {
                continue;
            }
            let there = |root: &str| wiremend_tests::root().join(root).join(span).exists();
            assert!(ROOTS.iter().any(|root| there(root)), "{name}: {span}");
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen} files");
}

/// The function in the README is the one in the example.
#[test]
fn the_readme_shows_the_agent_of_the_example() {
    let page = document("README.md");
    let example = document("crates/wiremend/examples/agent.rs");
    let blocks = page.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next());
    let agents: Vec<&str> = blocks.filter(|block| block.contains("async fn")).collect();
    assert_eq!(agents.len(), 1);
    assert!(example.contains(agents[0]), "not in the example:\n{}", agents[0]);
}

/// Every page with examples in Rust is among those that are compiled and run.
#[test]
fn examples_of_the_pages_are_run() {
    let run = document("tests/src/lib.rs");
    let mut seen = 0;
    for name in documents() {
        let page = document(&name);
        if page.lines().any(|line| line == "```rust") {
            assert!(run.contains(&format!("include_str!(\"../../{name}\")")), "{name}");
            seen += 1;
        }
    }
    assert!(seen >= 3, "{seen} pages");
}

#[test]
fn every_shape_and_fault_is_in_the_page_of_fuzzing() {
    let page = document("docs/fuzzing.md");
    for shape in Shape::ALL {
        assert!(page.contains(&format!("`{shape}`")), "docs/fuzzing.md does not name {shape}");
    }
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    let words = rows.map(|(word, _)| word).filter(|word| word.contains('='));
    let read: Vec<Scenario> = words.map(|word| word.parse().unwrap()).collect();
    // Six faults, and the cuts.
    assert_eq!(read.iter().filter(|scenario| !scenario.faults().is_empty()).count(), 6);
    assert_eq!(read.len(), 7);
}

/// The lookup of headings works.
#[test]
fn the_seeds_in_the_page_of_fuzzing_give_what_it_shows() {
    let page = document("docs/fuzzing.md");
    let shown: Vec<&str> = page.lines().filter(|line| line.starts_with("seed=")).collect();
    assert!(shown.len() >= 2, "{shown:?}");
    for (seed, line) in (0..).zip(shown) {
        let case = Settings::new().case(seed, Some(Shape::Anthropic));
        let path = "/v1/messages";
        assert_eq!(line, format!("seed={seed} {path} {}: {}", Shape::Anthropic, case.scenario()));
    }
}

#[test]
fn headings_are_read() {
    assert_eq!(heading_code("### `single-quote`").as_deref(), Some("single-quote"));
    assert_eq!(heading_code("## comment (exact)").as_deref(), Some("comment"));
    assert_eq!(heading_code("## Strings"), None);
    assert_eq!(heading_code("text"), None);
}
