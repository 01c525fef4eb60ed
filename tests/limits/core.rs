//! The limits of the core, of extraction, and of reading calls in text.

use std::sync::Arc;

use wiremend_core::{
    BufferedMender, Collected, Guide, JsonType, Limits, Listed, Member, MendOptions, Mender,
    Outcome, Policy, TrailingDocuments, apply, mend,
};
use wiremend_extract::{
    CallExtractor, CallOutcome, Dialect, Finder, FoundCalls, FoundDocuments, Scope, Tools, find,
};

/// The limits of the core, changed.
fn limited(change: impl FnOnce(Limits) -> Limits) -> MendOptions {
    MendOptions::new().with_limits(change(Limits::new()))
}

/// Pushes the input whole and in pieces; the outcome is the same, and nothing is lost: its repairs,
/// applied to the input, give the output.
fn push(input: &[u8], options: &MendOptions) -> (Outcome, Vec<u8>) {
    let mut results = [input.len().max(1), 7, 1].map(|size| {
        let mut mender = Mender::new(options.clone());
        let mut out = Collected::default();
        input.chunks(size).for_each(|chunk| mender.push(chunk, &mut out));
        let outcome = mender.finish(&mut out);
        let (text, repairs) = out.into_parts();
        assert_eq!(apply(input, &repairs).as_ref(), Some(&text), "{outcome} by {size}");
        (outcome, text)
    });
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
    std::mem::replace(&mut results[0], (Outcome::None, Vec::new()))
}

pub(crate) fn depth() {
    let deep = |levels: usize| [vec![b'['; levels], b"1".to_vec(), vec![b']'; levels]].concat();
    for (levels, outcome) in [(127, Outcome::Unchanged), (128, Outcome::Overflow)] {
        let input = deep(levels);
        assert_eq!(push(&input, &MendOptions::new()), (outcome, input.clone()));
        assert_eq!(mend(&input, &MendOptions::new()).outcome(), outcome);
        assert_eq!(find(&input, Scope::Best, &MendOptions::new()).outcome(), outcome);
        let mut found = FoundDocuments::default();
        let mut extractor = Finder::new(Scope::Whole, MendOptions::new());
        extractor.push(&input, &mut found);
        assert_eq!(extractor.finish(&mut found), outcome);
    }
    assert_eq!(push(&deep(300), &limited(|l| l.with_depth(300))).0, Outcome::Unchanged);
}

/// A quote that is one of the text, which shows that many bytes after it.
fn doubtful(bytes: usize) -> Vec<u8> {
    format!("[\"5\", {}\", 1]", "b ".repeat(bytes / 2)).into_bytes()
}

pub(crate) fn lookahead() {
    for window in [32, 64, 256] {
        let options = limited(|l| l.with_lookahead(window));
        let (near, far) = (doubtful(window - 16), doubtful(window + 16));
        assert!(push(&near, &options).1.starts_with(b"[\"5\\\", b "), "within {window}");
        let (outcome, text) = push(&far, &options);
        assert_eq!((outcome, text.starts_with(b"[\"5\", \"b ")), (Outcome::Repaired, true));
        let mut mender = Mender::new(options);
        for byte in &far {
            mender.push(&[*byte], &mut ());
            assert!(mender.withheld() <= 2 * window, "{} of {window}", mender.withheld());
        }
    }
    assert_eq!(Limits::new().with_lookahead(1).lookahead(), 16);
}

pub(crate) fn buffer() {
    let key = format!("{{\"{}\": 1, b: 2}}", "k".repeat(1000)).into_bytes();
    let small = limited(|l| l.with_buffer(500));
    assert_eq!(push(&key, &small), (Outcome::Overflow, key.clone()));
    assert_eq!(push(&key, &MendOptions::new()).0, Outcome::Repaired);
    // The whole text is there: nothing is held back.
    assert_eq!(mend(&key, &small).outcome(), Outcome::Repaired);
    // What needs the whole text is mended within the limit only.
    for (length, outcome) in [(400, Outcome::Repaired), (600, Outcome::None)] {
        let text = format!("\"a b\": \"{}\", \"c\": 2}}", "x".repeat(length));
        let mut mender = BufferedMender::new(small.clone());
        mender.push(text.as_bytes(), &mut ());
        assert_eq!(mender.finish(&mut ()).outcome(), outcome, "{length}");
    }
}

pub(crate) fn report() {
    // However many repairs a text needs, it is not refused.
    let input = |count: usize| format!("[{}1]", "'a',".repeat(count / 2)).into_bytes();
    let array = MendOptions::new().with_trailing_documents(TrailingDocuments::Array);
    for count in [1_000, 400_000] {
        let output = input(count).escape_ascii().to_string().replace("\\'", "\"");
        for options in [&MendOptions::new(), &limited(|l| l.with_report(0)), &array] {
            let mended = mend(&input(count), options);
            assert_eq!((mended.outcome(), mended.text()), (Outcome::Repaired, Some(&*output)));
            assert_eq!(mended.repairs().len(), count);
        }
    }
    assert_eq!(push(&input(20_000), &MendOptions::new()).0, Outcome::Repaired);
    // With more than a report holds, what needs the whole text is not mended. Up to half of its size,
    // a text may have as many as it has.
    let lost =
        |words: usize| format!("\"a b\": 1, \"c\": [{}]}}", "'x', ".repeat(words)).into_bytes();
    let small = limited(|l| l.with_report(48 * 20));
    assert_eq!(mend(&lost(5), &small).outcome(), Outcome::Repaired);
    assert_eq!(mend(&lost(500), &small).outcome(), Outcome::None);
    assert_eq!(mend(&lost(500), &MendOptions::new()).outcome(), Outcome::Repaired);
    // Documents are joined all the same.
    let several = "{'a': 1}\n".repeat(12_000).into_bytes();
    for options in [array.clone(), array.with_limits(Limits::new().with_report(0))] {
        let mended = mend(&several, &options);
        assert_eq!((mended.outcome(), mended.repairs().len()), (Outcome::Repaired, 36_001));
    }
}

pub(crate) fn whole_text_lookahead() {
    for (bytes, start) in [(1_000, "[\"5\\\", b "), (1_100, "[\"5\", \"b ")] {
        let mended = mend(&doubtful(bytes), &MendOptions::new().without_search());
        assert!(mended.text().unwrap().starts_with(start), "{bytes}");
    }
}

pub(crate) fn look_back() {
    // A bracket that is open belongs to text, if it is in sight.
    let text = |length: usize| format!("[\"f({}, \"b\", \"c\"]", "v".repeat(length));
    let items = |length: usize| mend(text(length).as_bytes(), &MendOptions::new().without_search());
    assert!(!items(200).text().unwrap().contains("v\", \"b\""));
    assert!(items(300).text().unwrap().contains("v\", \"b\""));
}

pub(crate) fn key_ahead() {
    let text = |length: usize| format!("{{\"a\": \"b, \"{}\": 1}}", "k".repeat(length));
    let found = |length: usize| {
        let mended = mend(text(length).as_bytes(), &MendOptions::new().without_search());
        mended.text().unwrap().starts_with("{\"a\": \"b\", \"k")
    };
    assert!(found(60) && !found(70));
}

pub(crate) fn long_number() {
    let input = format!("[{}]", "1".repeat(400)).into_bytes();
    assert_eq!(push(&input, &MendOptions::new()), (Outcome::Unchanged, input.clone()));
    assert_eq!(push(&input, &limited(|l| l.with_buffer(200))), (Outcome::Overflow, input.clone()));
    assert_eq!(mend(&input, &limited(|l| l.with_buffer(200))).outcome(), Outcome::Unchanged);
}

pub(crate) fn frames() {
    // A call and doubled braces around each object: three frames for one level.
    let input = |levels: usize| {
        let (open, close) = ("f({{\"a\":".repeat(levels), "}})".repeat(levels));
        format!("[{open}1{close}]").into_bytes()
    };
    for (levels, outcome) in [(80, Outcome::Repaired), (100, Outcome::Overflow)] {
        assert_eq!(push(&input(levels), &MendOptions::new()).0, outcome, "{levels}");
        assert_eq!(mend(&input(levels), &MendOptions::new()).outcome(), outcome, "{levels}");
    }
}

pub(crate) fn hexadecimal() {
    let text = |digits: usize| format!("[0x{}]", "f".repeat(digits)).into_bytes();
    assert_eq!(
        push(&text(32), &MendOptions::new()).1,
        b"[340282366920938463463374607431768211455]"
    );
    let string = [&b"[\"0x"[..], &[b'f'; 33], b"\"]"].concat();
    assert_eq!(push(&text(33), &MendOptions::new()).1, string);
}

/// Notes the longest name that it is asked about.
#[derive(Debug, Default)]
struct Asked(Arc<std::sync::atomic::AtomicUsize>);

impl Guide for Asked {
    fn allows(&self, _: JsonType) -> bool {
        true
    }
    fn member(&self, key: &str) -> Member {
        self.0.fetch_max(key.len(), std::sync::atomic::Ordering::Relaxed);
        Member::Open
    }
    fn listed(&self, text: &str) -> Listed {
        self.0.fetch_max(text.len(), std::sync::atomic::Ordering::Relaxed);
        Listed::Begins
    }
}

pub(crate) fn names_of_words() {
    let asked = Arc::new(std::sync::atomic::AtomicUsize::default());
    let options = MendOptions::new().with_guide(Arc::new(Asked(Arc::clone(&asked))));
    // A name without quotes, which may end at each blank.
    let input = format!("{{{}: 1}}", "word ".repeat(100));
    assert!(mend(input.as_bytes(), &options).outcome().is_valid());
    let longest = asked.load(std::sync::atomic::Ordering::Relaxed);
    assert!((200..=256).contains(&longest), "{longest}");
}

pub(crate) fn lone_scalar() {
    for (length, outcome) in [(4_096, Outcome::Unchanged), (4_097, Outcome::None)] {
        for size in [usize::MAX, 1] {
            let input = "1".repeat(length);
            let (found, ended) =
                extracted(input.as_bytes(), Scope::Whole, &MendOptions::new(), size);
            assert_eq!(ended, outcome, "{length} by {size}");
            assert_eq!(found, input, "{length} by {size}: nothing is lost");
        }
    }
}

/// All that an extractor hands out, in order, and the outcome.
fn extracted(input: &[u8], scope: Scope, options: &MendOptions, size: usize) -> (String, Outcome) {
    let mut out = Vec::new();
    let mut extractor = Finder::new(scope, options.clone());
    let mut found = Everything(&mut out);
    input.chunks(size).for_each(|chunk| extractor.push(chunk, &mut found));
    let outcome = extractor.finish(&mut found);
    (String::from_utf8(out).unwrap(), outcome)
}

struct Everything<'a>(&'a mut Vec<u8>);

impl wiremend_extract::TextSink for Everything<'_> {
    fn text(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
    fn begin(&mut self, _: usize) {}
    fn json(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
    fn end(&mut self, _: Outcome) {}
}

pub(crate) fn bracket_in_prose() {
    // The key that makes it an object is within the window, or not.
    for (space, outcome) in [(40, Outcome::Unchanged), (80, Outcome::None)] {
        let input = format!("as in {{ {}\"a\": 1}}", " ".repeat(space));
        for size in [usize::MAX, 1] {
            let (found, ended) = extracted(input.as_bytes(), Scope::All, &MendOptions::new(), size);
            assert_eq!((found.as_str(), ended), (input.as_str(), outcome), "{space} by {size}");
        }
    }
}

pub(crate) fn held_in_extraction() {
    let options = limited(|l| l.with_buffer(100));
    for input in [
        format!("{}[1]", " ".repeat(200)),
        format!("/* {} */ [1]", "x".repeat(200)),
        format!("[1] {} x", " ".repeat(200)),
    ] {
        for size in [usize::MAX, 1] {
            let mut extractor = Finder::new(Scope::Whole, options.clone());
            let mut out = Vec::new();
            for chunk in input.as_bytes().chunks(size) {
                extractor.push(chunk, &mut Everything(&mut out));
                assert!(extractor.withheld() <= 100 + 64 + 1, "{}", extractor.withheld());
            }
            extractor.finish(&mut Everything(&mut out));
            assert_eq!(out, input.as_bytes(), "by {size}");
        }
    }
}

pub(crate) fn line_mark() {
    let marked = |blanks: usize, openers: usize| {
        let (mark, open) = (" ".repeat(blanks), "[".repeat(openers));
        let close = "]".repeat(openers);
        let text = format!("{mark}1: {open}\n{mark}2:   7\n{mark}3: {close}");
        mend(text.as_bytes(), &MendOptions::new()).outcome() == Outcome::Repaired
    };
    assert!(marked(4, 2));
    assert!(!marked(40, 2), "a mark of 43 bytes");
    assert!(marked(4, 32));
    assert!(!marked(4, 33), "33 brackets");
}

pub(crate) fn far_entity() {
    let text = |blanks: usize| format!("{{{}&quot;a&quot;: 1}}", " ".repeat(blanks));
    let value = |blanks: usize| mend(text(blanks).as_bytes(), &MendOptions::new());
    assert!(value(60).text().unwrap().ends_with("\"a\": 1}"));
    assert!(!value(70).text().unwrap().ends_with("\"a\": 1}"));
}

// The limits of reading tool calls in text.

fn reader(dialect: &str, limits: Limits) -> CallExtractor {
    let options = MendOptions::new().with_policy(Policy::PERMISSIVE).with_limits(limits);
    let tools = Tools::new().with_tool("book", ["seats", "name"], None);
    let dialect = Dialect::by_name(dialect).unwrap().clone();
    CallExtractor::new(options).with_tools(tools).with_dialect(dialect)
}

/// Reads a text in small pieces. Returns what was found, and the most that was held back.
fn read(dialect: &str, limits: Limits, text: &str) -> (FoundCalls, usize) {
    let mut reader = reader(dialect, limits);
    let (mut found, mut most) = (FoundCalls::default(), 0);
    for piece in text.as_bytes().chunks(16) {
        reader.push(piece, &mut found);
        most = most.max(reader.withheld());
    }
    reader.finish_at_eos(&mut found);
    (found, most)
}

/// Arguments before the name wait for it, up to the buffer limit.
pub(crate) fn held() {
    let text = |size: usize| {
        let long = "x".repeat(size);
        format!(
            "<tool_call>{{\"arguments\": {{\"name\": \"{long}\"}}, \"name\": \"book\"}}</tool_call>"
        )
    };
    let limits = || Limits::new().with_buffer(4096);
    let (found, _) = read("hermes", limits(), &text(3000));
    assert_eq!(found.calls()[0].outcome(), CallOutcome::Whole);
    let (found, most) = read("hermes", limits(), &text(100_000));
    assert!(found.calls().is_empty());
    assert_eq!(found.text(), text(100_000).as_bytes());
    assert!(most < 4096 + 300, "{most}");
}

pub(crate) fn names() {
    for (length, calls) in [(250, 1), (300, 0)] {
        let name = "n".repeat(length);
        let text = format!("<tool_call>{{\"name\": \"{name}\", \"arguments\": {{}}}}</tool_call>");
        assert_eq!(read("hermes", Limits::new(), &text).0.calls().len(), calls);
        let text = format!("[TOOL_CALLS]{name}[ARGS]{{}}");
        assert_eq!(read("mistral", Limits::new(), &text).0.calls().len(), calls);
        let text = format!("<tool_call>\n<function={name}>\n</function>\n</tool_call>");
        assert_eq!(read("qwen3_coder_xml", Limits::new(), &text).0.calls().len(), calls);
        let text = format!("<start_function_call>call:{name}{{}}<end_function_call>");
        assert_eq!(read("functiongemma", Limits::new(), &text).0.calls().len(), calls);
    }
    for (length, calls) in [(120, 1), (200, 0)] {
        let text = format!("[{}(a=1)]", "n".repeat(length));
        assert_eq!(read("pythonic", Limits::new(), &text).0.calls().len(), calls);
    }
}

pub(crate) fn tags() {
    for (length, calls) in [(900, 1), (1100, 0)] {
        let text = format!("<invoke name=\"book\" id=\"{}\"></invoke>", "n".repeat(length));
        let (found, most) = read("minimax_m2_xml", Limits::new(), &text);
        let run = found.calls().iter().filter(|call| call.outcome().can_run());
        assert_eq!(run.count(), calls, "{length}");
        assert!(most < 1200, "{most}");
    }
}

pub(crate) fn pairs() {
    for (length, runs) in [(900, 1), (1100, 0)] {
        let pair = format!("<arg_key>{}</arg_key><arg_value>2</arg_value>", "n".repeat(length));
        let (found, most) =
            read("glm_arg_kv", Limits::new(), &format!("<tool_call>book\n{pair}</tool_call>"));
        assert_eq!(found.calls().len(), 1, "{length}");
        let run = found.calls().iter().filter(|call| call.outcome().can_run());
        assert_eq!(run.count(), runs, "{length}");
        assert!(most < 1200, "{most}");
    }
}

pub(crate) fn headers() {
    for (length, calls) in [(400, 1), (600, 0)] {
        let note = "n".repeat(length);
        let text = format!("<|channel|>commentary to=functions.book {note}<|message|>{{}}<|call|>");
        assert_eq!(read("harmony", Limits::new(), &text).0.calls().len(), calls, "{length}");
    }
}

/// White space between a closing tag and what shows that it closes.
pub(crate) fn space() {
    for (length, value) in [(200, "a"), (300, "a")] {
        let text = format!(
            "<function=book><parameter=name>a</parameter>{}</function>",
            " ".repeat(length)
        );
        let (found, most) = read("qwen3_coder_xml", Limits::new(), &text);
        let json = String::from_utf8_lossy(found.calls()[0].arguments()).into_owned();
        assert_eq!(json, format!("{{\"name\": \"{value}\"}}"), "{length}");
        assert!(most < 300, "{most}");
    }
}

/// Text that may be a number waits; a longer one is a string.
pub(crate) fn scalars() {
    for (length, json) in [(300, false), (500, true)] {
        let digits = "1".repeat(length);
        let text = format!("<function=book><parameter=name>{digits}</parameter></function>");
        let (found, most) = read("qwen3_coder_xml", Limits::new(), &text);
        let arguments = String::from_utf8_lossy(found.calls()[0].arguments()).into_owned();
        assert_eq!(arguments.contains("\"1"), json, "{length}");
        assert!(most < 500, "{most}");
    }
}

/// White space that may be at the end of an input in text is held back, up to a limit.
pub(crate) fn trailing_space() {
    for (length, kept) in [(4000, false), (5000, true)] {
        let text = format!("Action: book\nAction Input: a{}\nObservation:", " ".repeat(length));
        let mut found = FoundCalls::default();
        let mut reader = reader("react", Limits::new());
        reader.push(text.as_bytes(), &mut found);
        reader.finish(&mut found);
        let json = String::from_utf8_lossy(found.calls()[0].arguments()).into_owned();
        assert_eq!(json.contains("a "), kept, "{length}");
    }
}

pub(crate) fn elements() {
    let mark = "]<]minimax[>[";
    let text = |levels: usize| {
        let open = format!("{mark}<a>").repeat(levels);
        let close = format!("{mark}</a>").repeat(levels);
        format!(
            "{mark}<invoke name=\"book\">{mark}<name>{open}x{close}{mark}</name>{mark}</invoke>"
        )
    };
    for (levels, depth) in [(20, 20), (60, 31)] {
        let (found, _) = read("minimax_m3", Limits::new(), &text(levels));
        let json = String::from_utf8_lossy(found.calls()[0].arguments()).into_owned();
        assert_eq!(json.matches("\"a\"").count(), depth, "{levels}: {json}");
        assert_eq!(found.calls()[0].outcome().can_run(), levels == depth, "{levels}: {json}");
    }
}

/// Only so many calls, and so much of their arguments, are compared with later ones.
pub(crate) fn compared() {
    let restated = |limits: Limits, first: &str, later: &str| {
        let text = format!("[{first}] To say it once more: [{later}]");
        read("pythonic", limits, &text).0.restated().len()
    };
    let many: Vec<String> = (0..300).map(|seats| format!("book(seats={seats})")).collect();
    for (seats, repeats) in [(0, 1), (255, 1), (256, 0), (299, 0)] {
        let later = format!("book(seats={seats})");
        assert_eq!(restated(Limits::new(), &many.join(", "), &later), repeats, "{seats}");
    }
    let long = |letter: &str| format!("book(name='{}')", letter.repeat(1500));
    let three = ["a", "b", "c"].map(long).join(", ");
    for (letter, repeats) in [("a", 1), ("b", 1), ("c", 0)] {
        let limits = || Limits::new().with_buffer(4096);
        assert_eq!(restated(limits(), &three, &long(letter)), repeats, "{letter}");
        assert_eq!(restated(Limits::new(), &three, &long(letter)), 1, "{letter}");
    }
}
