//! What work costs, counted in steps, allocations and bytes of heap, and never in time: a mender and a partial value
//! while they wait, repairs, responses, the adapters, and bodies that are twice as long.

use std::{
    fmt::{self, Write as _},
    pin::pin,
};

use futures::{FutureExt, StreamExt, executor::block_on, stream};
use proptest::{collection::vec, prelude::*, sample::select};
use wiremend_core::{
    DeltaOp, Limits, Located, MendOptions, Mender, Outcome, Output, OwnedValue, Partial, Path,
    Paths, Policy, Repair, RepairKind, Repairs, Revision, TrailingDocuments, mend,
};
use wiremend_extract::{Finder, Scope, TextSink};
use wiremend_response::{Event, ResponseOptions, ResponseReader};
use wiremend_stream::{ByteStreamExt, JsonOptions};
use wiremend_testkit::{
    allocations::{Heap, heap_of},
    bodies::Shape,
    cases,
    laws::wire::{CHUNKS, Road, doubling, in_proportion},
    oracle::{self, Placed, Token},
};
use wiremend_wire::{RewriteMode, RewriteOptions, WireOptions};

/// Throws away what is found.
struct Nothing;

impl TextSink for Nothing {
    fn json(&mut self, _: &[u8]) {}
    fn end(&mut self, _: Outcome) {}
}

/// Records as tools write them.
fn records(count: usize) -> Vec<u8> {
    let mut text = String::from("[");
    for number in 0..count {
        write!(
            text,
            "{{\"id\": {number}, \"name\": \"item {number}\", \"tags\": [\"new\", \"bl\\u00fce\"], \
             \"price\": 12.50, \"sold\": true, \"note\": null}},\n  "
        )
        .unwrap();
    }
    text.push_str("{}]");
    text.into_bytes()
}

fn one_string(length: usize) -> Vec<u8> {
    format!("{{\"content\": \"{}\"}}", "a line of text\\nand é more ".repeat(length / 27))
        .into_bytes()
}

/// Counts writes.
#[derive(Default)]
struct Writes(usize);

impl fmt::Write for Writes {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        self.0 += 1;
        Ok(())
    }
}

/// Counts how much is emitted.
#[derive(Default)]
struct Counted {
    bytes: usize,
}

impl Output for Counted {
    fn copy(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
    }
}

/// `completion()` writes one closer per level and at most a quote, whatever came before. It takes no
/// steps of the engine and allocates nothing.
#[test]
fn completion_costs_one_write_per_level() {
    for depth in [1, 10, 100] {
        for before in [0, 5_000] {
            let limits = Limits::new().with_depth(200);
            let mut mender = Mender::new(MendOptions::new().with_limits(limits));
            let mut input = String::from("[");
            input.push_str(&"{\"k\": [1, \"x\"]}, ".repeat(before));
            input.push_str(&"[".repeat(depth - 1));
            input.push_str("\"open");
            mender.push(input.as_bytes(), &mut ());
            let steps = mender.steps();
            let mut writes = Writes::default();
            let heap = heap_of(|| write!(writes, "{}", mender.completion().unwrap()).unwrap());
            assert_eq!(writes.0, depth + 1, "{before} members before");
            assert_eq!(heap.count, 0);
            assert_eq!(mender.steps(), steps);
        }
    }
}

/// After warm-up, a push on the clean path allocates nothing.
#[test]
fn a_push_allocates_nothing() {
    let mut wrong = Vec::new();
    for (name, input) in [("records", records(3_000)), ("one string", one_string(300_000))] {
        for size in [1, 8, 256, 4096] {
            let mut mender = Mender::new(MendOptions::new());
            let mut out = Counted::default();
            // The end of the document is not a push like the others.
            let (head, end) = input.split_at(input.len() - 100);
            let (warm, rest) = head.split_at(64 * 1024);
            warm.chunks(size).for_each(|chunk| mender.push(chunk, &mut out));
            let heap = heap_of(|| rest.chunks(size).for_each(|chunk| mender.push(chunk, &mut out)));
            mender.push(end, &mut out);
            assert_eq!(mender.finish(&mut out), Outcome::Unchanged);
            assert_eq!(out.bytes, input.len());
            if heap.count > 0 {
                wrong.push(format!("{name} in {size}: {heap:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A mender takes little more than a kilobyte; what it keeps of a document is a fixed amount per level.
#[test]
fn state_is_small() {
    assert!(size_of::<Mender>() <= 1216, "{}", size_of::<Mender>());
    assert!(size_of::<Partial>() <= 256, "{}", size_of::<Partial>());
    assert!(size_of::<Revision>() <= 48, "{}", size_of::<Revision>());
    let live = |opener: &str, levels: usize, size: usize| {
        let limits = Limits::new().with_depth(levels + 1);
        let input = opener.repeat(levels);
        let mut kept = None;
        let heap = heap_of(|| {
            let mut mender = Mender::new(MendOptions::new().with_limits(limits));
            input.as_bytes().chunks(size).for_each(|chunk| mender.push(chunk, &mut ()));
            kept = Some(mender);
        });
        drop(kept);
        heap.peak
    };
    for size in [1, 8, 256] {
        // A level costs a frame of three words, and its key. A growing vector has up to one and a half
        // times the capacity that it needs.
        for (opener, most) in [("[", 36), ("{\"key\":", 44)] {
            let a_level = (live(opener, 16_384, size) - live(opener, 64, size)) / 16_384;
            assert!(a_level <= most, "{a_level} bytes per level of {opener} in pieces of {size}");
        }
    }
}

/// The position in the input is reported the same in pieces of any size, even in the middle of a token.
#[test]
fn a_path_does_not_depend_on_chunks() {
    let texts = [
        r#"{"a": 12, "bcd": [1, {"e": true, "a longer key": "text", "f": 12.5}, 3], "g": null}"#,
        r#"{"alpha"  :  3, "b" : {"c": {"another long key": 1, "": [-1]}}, "d": "\u00e9 "}"#,
    ];
    for text in texts {
        for end in 0..=text.len() {
            let path = |size: usize| {
                let mut mender = Mender::new(MendOptions::new());
                text.as_bytes()[..end].chunks(size).for_each(|piece| mender.push(piece, &mut ()));
                mender.path()
            };
            for size in [1, 3, 8, 16] {
                assert_eq!(path(size), path(text.len()), "{:?} in pieces of {size}", &text[..end]);
            }
        }
    }
}

/// A view and the changes allocate nothing, and the changes of a small step are few, however long the
/// document is.
#[test]
fn a_snapshot_costs_what_changed() {
    let step = |before: usize| {
        let mut mender = Mender::new(MendOptions::new());
        let mut partial = Partial::new();
        let input = records(before);
        mender.push(&input[..input.len() - 3], &mut partial);
        mender.push(b"{\"last\": \"te", &mut partial);
        let seen = partial.revision();
        mender.push(b"xt\", \"more\": [1, 2", &mut partial);
        let mut deltas = 0;
        let heap = heap_of(|| {
            deltas = partial.since(&seen).filter(|delta| delta.op() != DeltaOp::AddNull).count();
            let root = partial.root().unwrap();
            assert_eq!(root.len(), before + 1);
            assert!(partial.open().is_some());
            assert_eq!(root.last().unwrap().member("last").unwrap().as_str(), Some("text"));
        });
        assert_eq!(heap.count, 0);
        deltas
    };
    // The text grows and closes, the array appears, and its first item.
    assert_eq!(step(1), 4);
    assert_eq!(step(5_000), 4);
}

/// Values of any depth are cloned, compared, printed and dropped on a small stack.
#[test]
fn nothing_is_recursive() {
    let work = || {
        const LEVELS: usize = 100_000;
        let limits = Limits::new().with_depth(LEVELS);
        let mut mender = Mender::new(MendOptions::new().with_limits(limits));
        let mut partial = Partial::new();
        let input = "[{\"a\":".repeat(LEVELS / 2);
        mender.push(input.as_bytes(), &mut partial);
        let mut copy = OwnedValue::new();
        let mut seen = Revision::default();
        mender.push(b"1", &mut partial);
        for (at, delta) in partial.since(&seen).enumerate() {
            // A path is as long as its level is deep, so all of them would be quadratic.
            if at % 10_000 == 0 {
                assert_eq!(delta.path().steps().len(), at);
                assert!(!delta.to_string().is_empty());
            }
        }
        seen = partial.revision();
        mender.finish(&mut partial);
        let owned = partial.to_owned_value();
        assert_eq!(owned, owned.clone());
        assert_ne!(owned, copy);
        assert!(format!("{owned:?}{partial:?}{:?}", owned.root()).len() > 3 * input.len());
        assert_eq!(partial.since(&seen).count(), LEVELS + 1);
        assert!(owned.root().unwrap().to_value().is_err());
        copy.clone_from(&owned);
        assert_eq!(copy.root(), owned.root());
    };
    let thread = std::thread::Builder::new().stack_size(192 * 1024).spawn(work).unwrap();
    assert!(thread.join().is_ok());
}

/// What an extractor keeps of text without JSON does not grow with it, and what it takes meanwhile is
/// no copy of its chunks.
#[test]
fn text_without_a_document_takes_almost_no_memory() {
    let prose = "There is nothing here but words, [links](http://x) and {names}. ".repeat(160);
    for scope in [Scope::All, Scope::First, Scope::Whole, Scope::Fenced] {
        for size in [1, 7, 100, 4096, prose.len()] {
            let mut kept = None;
            let heap = heap_of(|| {
                let mut extractor = Finder::new(scope, MendOptions::new());
                prose.as_bytes().chunks(size).for_each(|chunk| extractor.push(chunk, &mut Nothing));
                kept = Some(extractor);
            });
            assert!(heap.live <= 128, "{scope:?} in pieces of {size}: {heap:?}");
            assert!(heap.peak <= 512, "{scope:?} in pieces of {size}: {heap:?}");
            drop(kept);
        }
    }
    assert!(size_of::<Finder>() <= 768, "{}", size_of::<Finder>());
}

// What repairs cost, how they are kept, and the paths that are found for them.

/// Records as Python prints them.
fn broken_records(count: usize) -> Vec<u8> {
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
    let input = broken_records(2_000);
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
    let input = broken_records(2_000);
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
        let input = broken_records(count);
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
        (broken_records(20_000), 4),
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

// The cost of reading a response: memory with and without a search for objects, and copies of
// arguments.

/// Reads a body in chunks of `size` bytes, and drops its events.
fn read_response(body: &[u8], size: usize, options: ResponseOptions) -> usize {
    let mut reader = ResponseReader::new(options);
    let mut calls = 0;
    let mut take = |event| calls += usize::from(matches!(event, Event::CallEnded(_)));
    for chunk in body.chunks(size) {
        reader.push(chunk, &mut take);
    }
    reader.finish(&mut take);
    calls
}

/// Prose in pieces of a token.
fn prose() -> Vec<u8> {
    let words: Vec<String> = (0..2_000).map(|n| format!("word{n}, ")).collect();
    let pieces: Vec<&str> = words.iter().map(String::as_str).collect();
    Shape::Chat.body(&pieces, &[])
}

#[test]
fn a_stream_allocates_only_what_it_needs() {
    let body = prose();
    let plain = heap_of(|| assert_eq!(read_response(&body, 64, ResponseOptions::new()), 0));
    let searched = ResponseOptions::new().with_objects(Scope::All);
    let searched = heap_of(|| assert_eq!(read_response(&body, 64, searched), 0));
    println!("without a search {} bytes, with one {} bytes", plain.peak, searched.peak);
    assert!(plain.peak < 10 << 10, "{}", plain.peak);
    assert!(searched.peak < 12 << 10, "{}", searched.peak);
}

#[test]
fn the_arguments_of_a_call_are_kept_once() {
    let item = "{\"key\": [1, 2.50, true], \"text\": \"some text of the call\"}, ";
    let text = format!("[{}]", item.repeat(4_000).trim_end_matches([',', ' ']));
    let pieces: Vec<&str> =
        text.as_bytes().chunks(64).map(|piece| std::str::from_utf8(piece).unwrap()).collect();
    let body = Shape::Anthropic.body(&[], &[&pieces]);
    let size = text.len() as u64;
    let heap = heap_of(|| assert_eq!(read_response(&body, 4096, ResponseOptions::new()), 1));
    println!("{size} bytes of arguments: {} bytes at most, {} in all", heap.peak, heap.total);
    // The text, which doubles as it grows, and the copy in the event.
    assert!(heap.peak < size * 7 / 2, "{} bytes for {size} of arguments", heap.peak);
}

// What the adapters cost: work and memory, counted.

/// A list of records with a few defects each.
fn array_of_records(count: usize) -> String {
    let record = |at: usize| {
        format!("{{'id': {at}, 'name': \"item {at}\", tags: ['new', 'old',], 'sold': True}}")
    };
    let records: Vec<String> = (0..count).map(record).collect();
    format!("{{'items': [{}], 'total': {count}}}", records.join(",\n"))
}

/// Reads all items in pieces of that size.
fn read_items(text: &str, size: usize, count: usize) -> Heap {
    heap_of(|| {
        let chunks = stream::iter(text.as_bytes().chunks(size)).map(Ok::<_, &str>);
        let mut items = pin!(chunks.items::<serde_json::Value>("/items", JsonOptions::new()));
        let mut seen = 0;
        while let Some(item) = block_on(items.next()) {
            let item = item.unwrap();
            assert_eq!((item.index(), &item.value()["id"]), (seen, &serde_json::json!(seen)));
            seen += 1;
        }
        assert_eq!(seen, count);
    })
}

/// Items cost the same however many there are: what is allocated is linear, and what is kept is not more
/// than one item and what a chunk brings.
#[test]
fn items_are_linear_and_keep_nothing() {
    for size in [7, 64, 4096] {
        let few = read_items(&array_of_records(2_000), size, 2_000);
        let many = read_items(&array_of_records(32_000), size, 32_000);
        assert!(many.count <= 16 * few.count + few.count / 8, "{size}: {few:?} {many:?}");
        assert!(many.total <= 17 * few.total, "{size}: {few:?} {many:?}");
        assert!(many.peak <= few.peak + 512, "{size}: {few:?} {many:?}");
        assert!(many.peak <= 16 * 1024 + 24 * size as u64, "{size}: {many:?}");
        assert_eq!(many.live, 0, "{size}");
    }
}

/// What a stream keeps while it waits for more of a body, its own size included.
fn idle(pieces: &[&str], options: &ResponseOptions) -> u64 {
    let mut kept = None;
    let heap = heap_of(|| {
        let body = stream::iter(pieces.iter().copied()).map(Ok::<_, &str>).chain(stream::pending());
        let mut events = Box::pin(body.read(options.clone()));
        while events.next().now_or_never().is_some() {}
        kept = Some(events);
    });
    drop(kept);
    u64::try_from(heap.live).unwrap()
}

/// Thousands of streams at once: each keeps a few kilobytes while it waits.
#[test]
fn an_idle_stream_is_small() {
    const PROSE: &str = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Let me look \
                         into that. \"}}]}\n\n";
    let prose = [PROSE; 40];
    let plain = ResponseOptions::new();
    let searched = ResponseOptions::new().with_objects(Scope::All);
    let measured =
        [idle(&[], &plain), idle(&prose, &plain), idle(&[], &searched), idle(&prose, &searched)];
    println!("idle: {measured:?}");
    let [fresh, with_prose, _, searched_prose] = measured;
    assert!(fresh <= 4 * 1024, "{fresh}");
    assert!(with_prose <= 8 * 1024, "{with_prose}");
    assert!(searched_prose <= 9 * 1024, "{searched_prose}");
}

/// A response that never ends takes no more memory than a short one, through any adapter.
#[test]
fn what_never_ends_keeps_nothing() {
    let event = |text: &str| {
        let choice = serde_json::json!({"index": 0, "delta": {"content": text}});
        format!("data: {}\n\n", serde_json::json!({"choices": [choice]}))
    };
    let (opening, piece) = (event("["), event("{'a': 1, 'b': 'see [1]'}, "));
    let peak = |events: usize, adapter: usize| {
        let heap = heap_of(|| {
            let pieces = std::iter::repeat_n(piece.as_str(), events);
            let body = std::iter::once(opening.as_str()).chain(pieces).map(Ok::<_, &str>);
            let body = stream::iter(body);
            let searched = ResponseOptions::new().with_objects(Scope::First);
            let read = match adapter {
                0 => block_on(body.read(ResponseOptions::new()).count()),
                1 => block_on(body.rewrite(RewriteOptions::new()).count()),
                _ => block_on(body.items::<serde_json::Value>("", searched).count()),
            };
            assert!(read >= events, "{adapter}: {read}");
        });
        heap.peak
    };
    for adapter in 0..3 {
        let (short, long) = (peak(200, adapter), peak(20_000, adapter));
        assert!(long <= short + 1024, "{adapter}: {short} and {long} bytes");
    }
}

// Twice the body takes twice the work. Steps and bytes of heap are counted, and not time.

/// Every way in which a body may be processed.
fn roads() -> Vec<Road> {
    let permissive =
        WireOptions::new().with_mending(MendOptions::new().with_policy(Policy::PERMISSIVE));
    let mut roads = vec![Road::Decode(WireOptions::new()), Road::Decode(permissive.clone())];
    for mode in [RewriteMode::Eager, RewriteMode::Validated] {
        let options = RewriteOptions::new().with_mode(mode);
        roads.push(Road::Rewrite(options.clone()));
        roads.push(Road::Rewrite(options.with_wire(permissive.clone()).with_json_content(true)));
    }
    roads
}

/// The steps, and the bytes of all allocations, grow no faster than the body, in every way.
fn grows_no_faster(name: &str, half: &[u8], full: &[u8]) {
    const ONCE: u64 = 64 << 10;
    for road in roads() {
        for size in CHUNKS {
            let [once, twice] = [half, full].map(|body| {
                let mut steps = 0;
                let heap = heap_of(|| steps = road.steps(body, size));
                (body, steps, heap.total)
            });
            let verdict = in_proportion([once, twice].map(|(body, steps, _)| (body, steps)));
            assert!(verdict.is_ok(), "{name}: {}, by {size}, {road:?}", verdict.unwrap_err());
            let [short, long] = [half, full].map(|body| body.len() as u64);
            let (once, twice) = (once.2, twice.2);
            let most = once * long / short * 5 / 4 + ONCE;
            assert!(twice <= most, "{name}: {once} bytes, then {twice}, by {size}, {road:?}");
        }
    }
}

/// Arguments of about that many bytes, and the same with a defect in every line.
fn arguments(size: usize, broken: bool) -> String {
    let item = if broken { "'k': [True, \"x y\",], " } else { "\"k\": [true, \"x\\ny\"], " };
    let items = item.repeat(size / item.len() + 1);
    format!("{{{}}}", items.trim_end_matches([',', ' ']))
}

/// `text` in `count` pieces.
fn pieces(text: &str, count: usize) -> Vec<&str> {
    let size = text.len().div_ceil(count);
    text.as_bytes().chunks(size).map(|piece| std::str::from_utf8(piece).unwrap()).collect()
}

#[test]
fn the_law_detects_faster_growth() {
    let road = Road::Decode(WireOptions::new());
    let body = Shape::Chat.body(&["x"; 100], &[]);
    doubling(&body, &body.repeat(2), &road).unwrap();
    let (short, long) = (&body[..], &body.repeat(2)[..]);
    assert!(in_proportion([(short, 100_000), (long, 200_000)]).is_ok());
    assert!(in_proportion([(short, 100_000), (long, 400_000)]).is_err());
}

#[test]
fn more_events_take_more_work_in_proportion() {
    for shape in Shape::IN_PIECES {
        for broken in [false, true] {
            let body = |events: usize| {
                let text = arguments(events * 9, broken);
                let pieces = pieces(&text, events);
                shape.body(&pieces, &[&pieces])
            };
            grows_no_faster(&format!("{shape:?} events"), &body(120), &body(240));
        }
    }
}

#[test]
fn longer_arguments_in_one_piece_take_more_work_in_proportion() {
    for shape in Shape::IN_PIECES {
        for broken in [false, true] {
            let body = |size: usize| shape.body(&["x"], &[&[&arguments(size, broken)]]);
            grows_no_faster(&format!("{shape:?} size"), &body(3 << 10), &body(6 << 10));
        }
    }
}

#[test]
fn more_parallel_calls_take_more_work_in_proportion() {
    for shape in Shape::IN_PIECES {
        // The last one lacks its end: appending to one must not search what waits for the others.
        for [first, last] in [["{\"a\"", ": [1]}"], ["{'a'", ": [1,]}"], ["{\"a\"", ": [1, \"k"]] {
            let body = |count: usize| shape.body(&["x"], &vec![&[first, last][..]; count]);
            grows_no_faster(&format!("{shape:?} calls, {last}"), &body(60), &body(120));
        }
    }
}

/// Streams that are made to cost more than their length: a head, a piece to repeat, and a tail.
#[test]
fn hostile_streams_take_work_in_proportion() {
    let chunk = |delta: &str| format!("data: {{\"choices\":[{{\"delta\":{{{delta}}}}}]}}\n\n");
    let call = |rest: &str| chunk(&format!("\"tool_calls\":[{{{rest}}}]"));
    let opening = call(r#""index":0,"id":"c","function":{"name":"f","arguments":"{\"k"}"#);
    let finish = "data: {\"choices\":[{\"index\":1,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let choices: String = (0..300)
        .map(|n| {
            format!("data: {{\"choices\":[{{\"index\":{n},\"delta\":{{\"content\":\"[\"}}}}]}}\n\n")
        })
        .collect();
    let repeated: [(&str, String, String); 14] = [
        ("blank lines, then comments", String::new(), "\n".into()),
        ("comments in an event", format!("{}data: x\n", "\n".repeat(1500)), ": c\n".into()),
        ("lines of data", String::new(), "data: 1\n".into()),
        ("fields", String::new(), "odd: 1\n".into()),
        ("lines that are not events", String::new(), "<p>no</p>\n".into()),
        ("an id for every piece", String::new(), call(r#""id":"@","function":{"arguments":"1,"}"#)),
        ("calls without an end", String::new(), call(r#""index":@,"function":{"name":"f"}"#)),
        ("pieces after a key that waits", opening.clone(), chunk("\"content\":\"so\"")),
        (
            "calls after a key that waits",
            opening,
            call(r#""index":@,"function":{"name":"f","arguments":"[1"}"#),
        ),
        ("an end for another choice", choices, finish.into()),
        ("spaces for arguments", String::new(), call(r#""index":0,"function":{"arguments":"  "}"#)),
        ("halves of characters", String::new(), chunk(r#""content":"\ud83d""#)),
        ("brackets", "data: ".into(), "[".into()),
        ("broken envelopes", String::new(), "data: {\"choices\":[{\"delta\":{},}]\n\n".into()),
    ];
    for (name, head, piece) in repeated {
        let body = |count: usize| {
            let mut body = head.clone();
            body.extend((1..=count).map(|n| piece.replace('@', &(n + 1000).to_string())));
            if name.starts_with("blank") {
                body.push_str("data: x\n");
                body.push_str(&": c\n".repeat(count));
            }
            body + "\n\n" + finish
        };
        let count = 9_000 / piece.len();
        grows_no_faster(name, body(count).as_bytes(), body(2 * count).as_bytes());
    }
}

/// Every format is asked whether a payload is its own, and the payload may be a whole body.
#[test]
fn a_body_is_not_searched_for_every_format() {
    // Reading what stands at each place takes a few passes over what is there.
    const STEPS_PER_BYTE: u64 = 22;
    let arguments = "a piece of it ".repeat(5000);
    let bodies = [
        format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{{"function":{{"arguments":"{arguments}"}}}}]}}}}]}}"#
        ),
        format!(r#"{{"message":{{"content":"{arguments}"}},"done":true}}"#),
    ];
    for body in &bodies {
        let steps = Road::Decode(WireOptions::new()).steps(body.as_bytes(), usize::MAX);
        assert!(steps <= STEPS_PER_BYTE * body.len() as u64, "{steps} for {}", body.len());
    }
}
