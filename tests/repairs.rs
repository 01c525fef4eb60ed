//! What repairs cost, how they are kept, and the paths that are found for them.

use std::fmt::Write as _;

use proptest::{collection::vec, prelude::*, sample::select};
use wiremend_core::{
    Located, MendOptions, Mender, Outcome, Output, Path, Paths, Repair, RepairKind, Repairs,
    TrailingDocuments, mend,
};
use wiremend_testkit::{
    allocations::heap_of,
    cases,
    oracle::{self, Placed, Token},
};

/// Records as Python prints them.
fn records(count: usize) -> Vec<u8> {
    let mut text = String::new();
    for number in 0..count {
        writeln!(
            text,
            "{{'id': {number}, 'name': 'item {number}', 'sold': True, 'note': None, 'tags': ['a']}}"
        )
        .unwrap();
    }
    text.into_bytes()
}

/// An open container of the text in which a place is looked for.
enum Container {
    Object(Option<String>),
    /// How many items have begun.
    Array(usize),
}

/// The path of the place `at` in a document, by its tokens. `begins` says that a value begins there.
fn path_at(text: &[u8], tokens: &[Placed], at: usize, begins: bool) -> String {
    let mut open: Vec<Container> = Vec::new();
    let mut inside = false;
    let mut from = 0;
    for token in tokens.iter().take_while(|token| token.start < at) {
        let value = !matches!(token.token, Token::Close | Token::Key(_));
        match open.last_mut() {
            Some(Container::Array(items)) if value => *items += 1,
            _ => {}
        }
        let scalar = matches!(token.token, Token::Scalar(_));
        inside = at < token.end || scalar && at == token.end;
        match &token.token {
            Token::OpenObject => open.push(Container::Object(None)),
            Token::OpenArray => open.push(Container::Array(0)),
            Token::Close => drop(open.pop()),
            Token::Key(_) => {
                let key = serde_json::from_slice(&text[token.start..token.end]).unwrap();
                if let Some(Container::Object(last)) = open.last_mut() {
                    *last = (!inside).then_some(key);
                }
            }
            Token::Text(_) | Token::Scalar(_) => {}
        }
        from = token.end;
    }
    // Between the last token and the place, there may be a comma.
    let comma = !inside && text[from.min(at)..at].contains(&b',');
    let mut steps = Vec::new();
    let depth = open.len();
    for (level, container) in open.into_iter().enumerate() {
        let innermost = level + 1 == depth;
        match container {
            Container::Object(Some(key)) if !(innermost && comma) => {
                steps.push(wiremend_core::Step::Key(key.into()));
            }
            Container::Object(_) => {}
            Container::Array(items) => {
                let next = innermost && !inside && (comma || begins);
                let index = (items + usize::from(next)).checked_sub(1);
                steps.extend(index.map(wiremend_core::Step::Index));
            }
        }
    }
    Path::from(steps).to_string()
}

fn begins_value(after: &str) -> bool {
    after.trim_start().starts_with(|c: char| c.is_ascii_alphanumeric() || "\"-[{".contains(c))
}

/// The paths by the tokens of the mended text.
fn expected(text: &[u8], repairs: &Repairs) -> Vec<String> {
    let tokens = oracle::tokens(text).unwrap();
    let mut grown = 0_isize;
    let mut paths = Vec::new();
    for repair in repairs {
        let at = usize::try_from(repair.start() as isize + grown).unwrap();
        paths.push(path_at(text, &tokens, at, begins_value(repair.after())));
        grown += repair.after().len() as isize - repair.span().len() as isize;
    }
    paths
}

fn paths<I: Iterator<Item = Repair>>(mut located: Located<'_, I>) -> Vec<String> {
    let mut paths = Vec::new();
    while located.next().is_some() {
        paths.push(located.path().to_string());
    }
    paths
}

/// Notes the path of each repair when it arrives.
#[derive(Default)]
struct Noted {
    paths: Paths,
    repairs: Repairs,
    seen: Vec<String>,
}

impl Output for Noted {
    fn copy(&mut self, bytes: &[u8]) {
        self.paths.read(bytes);
    }
    fn repair(&mut self, repair: Repair) {
        self.seen.push(self.paths.path_of(&repair).to_string());
        self.repairs.push(&repair);
    }
}

#[test]
fn every_path_names_its_place_in_the_document() {
    let (mut checked, mut wrong) = (0, Vec::new());
    for case in cases::read_folder(&wiremend_tests::corpus()).unwrap() {
        let mended = mend(&case.input, &case.options);
        let Some(text) = mended.text().filter(|text| oracle::tokens(text.as_bytes()).is_some())
        else {
            continue;
        };
        let want = expected(text.as_bytes(), mended.repairs());
        let found = [
            paths(mended.located(&case.input)),
            paths(Located::in_mended(text.as_bytes(), 0, mended.repairs())),
        ];
        if found.iter().any(|found| *found != want) {
            wrong.push(format!("{}: {found:?}, not {want:?}", case.name));
        }
        // They also exist, as far as `serde_json` reads the document.
        if let Ok(value) = serde_json::from_str::<serde_json::Value>(text) {
            let mut located = mended.located(&case.input);
            while located.next().is_some() {
                let path = located.path();
                if value.pointer(&path.to_pointer()).is_none() {
                    wrong.push(format!("{}: there is no {path} in {text}", case.name));
                }
            }
        }
        for size in [1, 5, usize::MAX] {
            let mut mender = Mender::new(case.options.clone());
            let mut noted = (Noted::default(), Vec::new());
            case.input.chunks(size).for_each(|chunk| mender.push(chunk, &mut noted));
            let outcome = mender.finish(&mut noted);
            let (noted, text) = noted;
            if outcome.is_valid() && oracle::tokens(&text).is_some() {
                let want = expected(&text, &noted.repairs);
                if noted.seen != want {
                    let seen = noted.seen;
                    wrong.push(format!("{} by {size}: {seen:?}, not {want:?}", case.name));
                }
            }
        }
        checked += mended.repairs().len();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 1_000, "{checked}");
}

/// A path costs nothing until it is asked for, and then what its text costs.
#[test]
fn paths_of_many_repairs_take_one_pass() {
    let input = records(2_000);
    let options = MendOptions::new().with_trailing_documents(TrailingDocuments::Array);
    let mended = mend(&input, &options);
    let heap = heap_of(|| {
        let mut located = mended.located(&input);
        assert_eq!(located.by_ref().count(), mended.repairs().len());
        assert_eq!(located.path().to_string(), "$[1999]");
    });
    assert!(heap.count < 100, "{heap:?}");
}

#[test]
fn the_repairs_of_printed_records_take_four_bytes_each() {
    let input = records(2_000);
    let options = MendOptions::new().with_trailing_documents(TrailingDocuments::Array);
    let mended = mend(&input, &options);
    assert_eq!(mended.outcome(), Outcome::Repaired);
    let repairs = mended.repairs();
    assert!(repairs.len() > 30_000 && repairs.memory() <= 4 * repairs.len(), "{}", repairs.len());
}

/// A repair that inserts a constant allocates nothing on its way through a mender.
#[test]
fn a_repair_is_emitted_without_an_allocation() {
    let options = MendOptions::new().with_trailing_documents(TrailingDocuments::All);
    for size in [8, 4096] {
        let [once, twice] = [1_000, 2_000].map(|count| {
            // A number that is cut by the end of a chunk is looked at as text.
            let input =
                b"{'name': 'x', 'sold': True, 'note': None, 'tags': ['a', 'b',]}\n".repeat(count);
            let mut mender = Mender::new(options.clone());
            heap_of(|| {
                input.chunks(size).for_each(|chunk| mender.push(chunk, &mut ()));
                mender.finish(&mut ());
            })
        });
        assert!(once.count < 100 && twice.count <= once.count + 2, "{size}: {once:?}, {twice:?}");
        assert!(twice.peak <= once.peak + 64, "{size}: {once:?}, {twice:?}");
    }
}

/// However long a chunk is, the repairs of all of it are never in memory together.
#[test]
fn a_long_chunk_takes_no_more_memory_than_a_short_one() {
    let options = MendOptions::new().with_trailing_documents(TrailingDocuments::All);
    let [short, long] = [2_000, 20_000].map(|count| {
        let input = records(count);
        let mut mender = Mender::new(options.clone());
        heap_of(|| mender.push(&input, &mut ()))
    });
    assert!(long.peak <= short.peak + 1024, "{short:?}, {long:?}");
}

/// The whole-text path within its bound: what it returns, and twice the text.
#[test]
fn a_text_with_many_repairs_takes_a_small_multiple_of_it() {
    let options = MendOptions::new()
        .with_limits(wiremend_core::Limits::new().with_report(0))
        .with_trailing_documents(TrailingDocuments::Array);
    // A document takes its place in a list, and one piece of the text its edits.
    for (input, times) in [
        (records(20_000), 4),
        ([&b"["[..], &b"a b,,".repeat(400_000)].concat(), 6),
        (b"{a:b}".repeat(100_000), 16),
    ] {
        let heap = heap_of(|| drop(mend(&input, &options)));
        let most = times * input.len() as u64 + (3 << 20);
        assert!(heap.peak < most, "{heap:?} for {}", input.len());
    }
}

fn repair() -> impl Strategy<Value = Repair> {
    let after = prop_oneof![
        select(vec!["", "\"", ",", "true", "null", "\\\"", "]", "]}", "\\u0007", "é"])
            .prop_map(str::to_owned),
        ".{0,40}",
    ];
    let span = (0..2_000_usize, prop_oneof![0..20_usize, 0..70_000_usize]);
    (select(RepairKind::ALL), span, after)
        .prop_map(|(kind, (start, length), after)| Repair::new(kind, start..start + length, after))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_list_gives_back_what_was_put_in(mut repairs in vec(repair(), 0..40), sorted: bool) {
        if sorted {
            repairs.sort_by_key(Repair::start);
        }
        let list: Repairs = repairs.iter().cloned().collect();
        prop_assert_eq!(list.iter().collect::<Vec<_>>(), repairs.clone());
        prop_assert_eq!(list.len(), repairs.len());
        prop_assert_eq!((list.first(), list.last()), (repairs.first().cloned(), repairs.last().cloned()));
        prop_assert_eq!(list.risk(), repairs.iter().map(Repair::risk).max());
        for &kind in RepairKind::ALL {
            let count = repairs.iter().filter(|repair| repair.kind() == kind).count();
            prop_assert_eq!(list.contains(kind), count > 0);
            prop_assert_eq!(list.kinds().find(|of| of.0 == kind).map_or(0, |of| of.1), count);
        }
        let mut more = Repairs::new();
        more.extend(list.iter());
        prop_assert_eq!(more, list);
    }
}
