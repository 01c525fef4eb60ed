//! Bodies whose arguments, or whose JSON content, were broken in every known way. Both are emitted
//! mended or unchanged, and everything else in the body stays the same. The bodies are generated ones,
//! those of the examples, and those of the fuzzer; `WIREMEND_RECORDINGS` may name a folder of recorded
//! ones.

use std::{collections::BTreeMap, fmt, fs, path::Path, path::PathBuf};

use wiremend_core::{MendOptions, Outcome, Policy};
use wiremend_testkit::{
    Seed,
    bodies::{Places, Shape},
    cuts::Cut,
    damage::Damage,
    laws::wire::{rewritten, states},
    oracle,
};
use wiremend_wire::{
    RewriteMode, RewriteOptions, RewriteOutcome, Transcript, WireOptions, transcribe,
};

/// The number of places at which each kind of damage is tried, in each text.
const TRIES: u64 = 1;

const ARGUMENTS: [&str; 2] = [
    r#"{"title": "The \"north\" region, é", "tags": ["x", "y z"], "remote": true, "room": null}"#,
    r#"{"size": {"w": 1.50, "h": [2, 3e4]}, "note": "a: b, {c}", "id": "7"}"#,
];

const CONTENT: &str =
    r#"{"answer": "so \"far\"", "parts": [{"n": 1}, {"n": 2.50}], "done": false}"#;

/// A body, and where it comes from.
struct Body {
    name: String,
    bytes: Vec<u8>,
}

/// `text` in pieces of about `size` bytes.
fn pieces(text: &str, size: usize) -> Vec<&str> {
    let mut rest = text;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let end = (size..rest.len()).find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// A body of every shape, with its texts in pieces of each of those sizes.
fn made_up(sizes: &[usize]) -> Vec<Body> {
    let mut bodies = Vec::new();
    for shape in Shape::IN_PIECES {
        for &size in sizes {
            let calls = ARGUMENTS.map(|arguments| pieces(arguments, size));
            let calls: Vec<&[&str]> = calls.iter().map(Vec::as_slice).collect();
            let bytes = shape.body(&pieces(CONTENT, size), &calls);
            bodies.push(Body { name: format!("{shape:?} by {size}"), bytes });
        }
    }
    bodies
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

fn shipped() -> Vec<Body> {
    let root = wiremend_tests::root();
    let of = |folder: &str, skip: usize| {
        files(&root.join(folder)).into_iter().map(move |path| Body {
            name: path.display().to_string(),
            bytes: fs::read(&path).unwrap()[skip..].to_vec(),
        })
    };
    // The first byte of a seed chooses options.
    of("examples/streams", 0).chain(of("fuzz/streams", 1)).collect()
}

/// The recorded bodies that the caller names, if any.
fn recorded() -> Vec<Body> {
    let folder = std::env::var_os("WIREMEND_RECORDINGS");
    let paths = folder.iter().flat_map(|folder| files(Path::new(folder)));
    paths
        .map(|path| Body { name: path.display().to_string(), bytes: fs::read(&path).unwrap() })
        .collect()
}

/// The output, and the events that came with it; the same in chunks of every size.
fn rewrite(name: &str, options: &RewriteOptions, body: &[u8]) -> (Vec<u8>, Transcript) {
    let whole = rewritten(body, options, &Cut::whole());
    assert_eq!(whole.outcome == RewriteOutcome::Unchanged, whole.bytes == body, "{name}");
    let random = Cut::random(body.len(), 20, &mut Seed::of(body));
    for cut in [Cut::bytes(body.len()), Cut::every(7, body.len()), random] {
        assert!(rewritten(body, options, &cut) == whole, "{name}: {cut:?}");
    }
    (whole.bytes, whole.said)
}

/// What surrounds the arguments, and what surrounds the content.
fn around(said: &Transcript) -> impl PartialEq + fmt::Debug + use<> {
    let names: Vec<_> = said
        .calls()
        .iter()
        .map(|call| (call.id().map(str::to_owned), call.name().to_owned(), call.choice()))
        .collect();
    let errors: Vec<_> = said.errors().iter().map(ToString::to_string).collect();
    let texts = (said.reasoning().to_owned(), said.refusal(), said.citations().to_vec(), errors);
    (texts, names, said.finish().cloned(), said.usage(), said.outcome())
}

/// How many texts were emitted mended, and how many unchanged.
#[derive(Debug, Default)]
struct Tally {
    ways: BTreeMap<String, [usize; 2]>,
    bodies: usize,
}

impl Tally {
    fn count(&mut self, way: Damage, mended: bool) {
        let counts = self.ways.entry(way.to_string()).or_default();
        counts[usize::from(!mended)] += 1;
    }

    fn mended(&self) -> usize {
        self.ways.values().map(|counts| counts[0]).sum()
    }

    fn print(&self, what: &str) {
        let refused: usize = self.ways.values().map(|counts| counts[1]).sum();
        let Self { bodies, .. } = self;
        let mended = self.mended();
        println!("{what}: {mended} mended, {refused} refused, {bodies} bodies");
        for (way, [mended, refused]) in &self.ways {
            println!("  {way}: {mended} mended, {refused} refused");
        }
    }
}

/// Every mode and policy under which a text may be mended.
fn settings() -> Vec<(RewriteOptions, MendOptions)> {
    let mut all = Vec::new();
    for policy in [Policy::CONSERVATIVE, Policy::PERMISSIVE] {
        for mode in [RewriteMode::Eager, RewriteMode::Validated] {
            let mending = MendOptions::new().with_policy(policy);
            let wire = WireOptions::new().with_mending(mending.clone());
            all.push((RewriteOptions::new().with_wire(wire).with_mode(mode), mending));
        }
    }
    all
}

/// The broken versions of a text.
fn broken(text: &str) -> impl Iterator<Item = (Damage, Vec<u8>)> {
    Damage::ALL.into_iter().flat_map(move |way| {
        (0..TRIES).filter_map(move |seed| {
            let broken = way.apply(text.as_bytes(), &mut Seed::new(seed))?;
            (broken != text.as_bytes()).then_some((way, broken))
        })
    })
}

fn break_arguments(body: &Body, tally: &mut Tally) {
    let clean = transcribe(&body.bytes, WireOptions::new());
    let places = Places::of_arguments(&body.bytes);
    for (number, text) in places.texts().enumerate() {
        tally.bodies += usize::from(number == 0);
        for (way, by) in broken(text) {
            let damaged = places.replaced(number, &by);
            let before = transcribe(&damaged, WireOptions::new());
            for (options, _) in settings() {
                let name = format!("{}, {way}, {:?}", body.name, options.mode());
                let (out, said) = rewrite(&name, &options, &damaged);
                let after = transcribe(&out, WireOptions::new());
                assert_eq!(after.texts(), clean.texts(), "{name}");
                assert_eq!(around(&after), around(&before), "{name}");
                let reports = said.calls();
                for ((call, report), raw) in after.calls().iter().zip(&reports).zip(before.calls())
                {
                    let what = || {
                        format!("{name}: {:?} left as {:?}, {:?}", raw.raw(), call.raw(), report)
                    };
                    if report.outcome().is_valid() {
                        // What was closed may still count as cut off: nothing states its end.
                        let whole = report.outcome().is_complete();
                        assert!(!whole || call.outcome() == Outcome::Unchanged, "{}", what());
                        assert!(oracle::is_json(call.arguments().as_bytes()), "{}", what());
                        assert_eq!(
                            call.arguments().trim(),
                            report.arguments().trim(),
                            "{}",
                            what()
                        );
                    } else {
                        // It counts as whole only if it did before, or if the provider states it whole.
                        let known =
                            raw.outcome().is_complete() || states(&damaged, call.arguments());
                        assert!(!call.outcome().is_complete() || known, "{}", what());
                        assert_eq!(call.raw(), raw.raw(), "{}", what());
                    }
                    if raw.outcome() != Outcome::Unchanged {
                        tally.count(way, report.outcome().is_valid());
                    }
                }
            }
        }
    }
}

fn break_content(body: &Body, tally: &mut Tally) {
    let clean = transcribe(&body.bytes, WireOptions::new());
    let places = Places::of_content(&body.bytes);
    for (number, text) in places.texts().enumerate() {
        if !text.starts_with(['{', '[']) || !oracle::is_json(text.as_bytes()) {
            continue;
        }
        tally.bodies += usize::from(number == 0);
        for (way, by) in broken(text) {
            let damaged = places.replaced(number, &by);
            let before = transcribe(&damaged, WireOptions::new());
            for (options, mending) in settings() {
                let name = format!("{}, {way}, {:?}", body.name, options.mode());
                let (out, _) = rewrite(&name, &options.clone().with_json_content(true), &damaged);
                let after = transcribe(&out, WireOptions::new());
                assert_eq!(around(&after), around(&before), "{name}");
                assert_eq!(
                    after.calls().iter().map(|call| call.raw()).collect::<Vec<_>>(),
                    clean.calls().iter().map(|call| call.raw()).collect::<Vec<_>>(),
                );
                let raw = before.text();
                // What a wire holds is not searched.
                let mended = wiremend_core::mend(raw.as_bytes(), &mending.without_search());
                let valid = oracle::is_json(after.text().as_bytes());
                // What has left as it came can keep the rest from being mended.
                let left = options.mode() == RewriteMode::Eager && after.text() == raw;
                if mended.outcome().is_complete() {
                    assert!(valid || left, "{name}: {}", after.text());
                } else {
                    assert_eq!(after.text(), raw, "{name}");
                }
                // If it is repeated, the repetition is the same.
                let [was, is] =
                    [&damaged, &out].map(|body| Places::of_content(body).repeats_of(number));
                assert_eq!(is, was, "{name}: {raw} left as {}", after.text());
                tally.count(way, valid);
            }
        }
    }
}

#[test]
fn broken_arguments_are_mended_or_unchanged() {
    let mut tally = Tally::default();
    for body in made_up(&[1000, 5]).iter().chain(&shipped()) {
        break_arguments(body, &mut tally);
    }
    tally.print("arguments");
    assert!(tally.bodies >= 30, "{}", tally.bodies);
    assert!(tally.ways.len() >= 24, "{tally:?}");
    for (way, [mended, _]) in &tally.ways {
        // A call that a damaged event may belong to is never complete, and none is closed.
        assert_eq!(*mended == 0, ["DropCloser", "InvalidUtf8"].contains(&way.as_str()), "{way}");
    }
}

#[test]
fn broken_content_is_mended_or_unchanged() {
    let mut tally = Tally::default();
    for body in made_up(&[1000, 5]) {
        break_content(&body, &mut tally);
    }
    tally.print("content");
    assert!(tally.bodies >= 20, "{}", tally.bodies);
    for (way, [mended, _]) in &tally.ways {
        assert_eq!(*mended == 0, ["DropCloser", "Truncate"].contains(&way.as_str()), "{way}");
    }
}

#[test]
fn broken_recordings_are_mended_or_unchanged() {
    let bodies = recorded();
    let (mut arguments, mut content) = (Tally::default(), Tally::default());
    for body in &bodies {
        break_arguments(body, &mut arguments);
        break_content(body, &mut content);
    }
    arguments.print("recorded arguments");
    content.print("recorded content");
    assert!(bodies.is_empty() || arguments.mended() > 0);
}
