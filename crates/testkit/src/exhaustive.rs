//! Every text of a few tokens: small scope, exhaustively.
//!
//! A mistake that some text shows is usually shown by a short one, too. So instead of choosing texts
//! by chance, this takes all of them: every sequence of up to a few tokens of an [`Alphabet`], in
//! order and numbered, so that a run can be divided and resumed. A [`Checker`] reads one text whole,
//! byte by byte and divided at every byte, with several [`MendOptions`] and in every [`Scope`], and
//! checks the laws.
//!
//! `cargo test` does it with up to four tokens, and the example `exhaustive` with more:
//!
//! ```text
//! cargo run --release -p wiremend-testkit --example exhaustive -- 5
//! ```
//!
//! `fuzz/README.md` says how long that takes.

use std::{
    fmt::{self, Write as _},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    panic::{AssertUnwindSafe, catch_unwind},
};

use wiremend_core::{
    Completion, EventReader, Limits, MendOptions, Mender, Outcome, Output, ParseEvent, Policy,
    Repair, TrailingDocuments, mend,
};
use wiremend_extract::{Finder, Scope, TextSink};

use crate::{
    cuts::Cut,
    differential,
    laws::{self, Law, LawFn, Violation},
};

/// Sixteen tokens. None is the beginning of another one, so different sequences are different texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alphabet([&'static str; 16]);

impl Alphabet {
    /// All signs of JSON, and what most often surrounds or replaces them.
    pub const SIGNS: Self = Self([
        "{", "}", "[", "]", ",", ":", "\"", "'", "\\", "a", "1", " ", "\n", "//", "true", "```",
    ]);
    /// What numbers and strings consist of.
    pub const SCALARS: Self = Self([
        "[", "]", ",", "\"", "\\", "u", "d83d", "0", "1", "-", ".", "e", "+", "\u{e9}", "\u{1}",
        " ",
    ]);
    /// Whole members, and what may surround documents or separate their parts.
    pub const PARTS: Self = Self([
        "{\"a\":",
        "\"b\":\"c\"",
        "[",
        "]",
        "}",
        ",",
        "'",
        "f(",
        ")",
        "...",
        "/*",
        "*/",
        "#",
        "\n",
        "<think>",
        "</think>",
    ]);

    /// Whole documents, code fences, and what separates them.
    pub const DOCUMENTS: Self = Self([
        "```json\n",
        "```\n",
        "~~~\n",
        "[2]",
        "[{",
        "]",
        "{}",
        "{\"a\":1}",
        "}",
        "\"b\"",
        "null\n",
        "true",
        "# c\n",
        "(",
        "...",
        "\n",
    ]);

    /// Every alphabet and its name.
    pub const ALL: [(&'static str, Self); 4] = [
        ("documents", Self::DOCUMENTS),
        ("parts", Self::PARTS),
        ("scalars", Self::SCALARS),
        ("signs", Self::SIGNS),
    ];

    /// Writes the text with that number to `text`. The texts are numbered by the number of their
    /// tokens, then by the tokens, the last one changing fastest.
    ///
    /// ```
    /// use wiremend_testkit::exhaustive::{Alphabet, count};
    /// let text = |number| {
    ///     let mut text = Vec::new();
    ///     Alphabet::SIGNS.write_text(number, &mut text);
    ///     text
    /// };
    /// assert_eq!((text(0), text(1), text(count(1))), (vec![], b"{".to_vec(), b"{{".to_vec()));
    /// assert_eq!(text(count(2) - 1), b"``````");
    /// ```
    pub fn write_text(&self, number: u64, text: &mut Vec<u8>) {
        let size = self.0.len() as u64;
        let length = (0..).find(|&length| number < count(length)).unwrap_or(0);
        let first = length.checked_sub(1).map_or(0, count);
        text.clear();
        for place in (0..length).rev() {
            let token = (number - first) / size.pow(place) % size;
            text.extend_from_slice(self.0[token as usize].as_bytes());
        }
    }
}

/// How many texts there are with at most that many tokens, the empty one included.
///
/// ```
/// use wiremend_testkit::exhaustive::count;
/// assert_eq!([count(0), count(1), count(2), count(4)], [1, 17, 273, 69_905]);
/// ```
#[must_use]
pub fn count(tokens: u32) -> u64 {
    (0..=tokens).map(|length| 16_u64.pow(length)).sum()
}

/// Reads texts in every way and checks the laws. It keeps its readers and buffers from one text to
/// the next.
///
/// ```
/// use wiremend_testkit::exhaustive::{Alphabet, Checker, count};
/// let (mut checker, mut text) = (Checker::new(), Vec::new());
/// for number in 0..count(1) {
///     Alphabet::SIGNS.write_text(number, &mut text);
///     checker.check(&text).unwrap();
/// }
/// ```
pub struct Checker {
    menders: Vec<Core>,
    extractors: Vec<Around>,
    watch: Watch,
}

impl Default for Checker {
    fn default() -> Self {
        Self::new()
    }
}

impl Checker {
    /// Creates a checker.
    #[must_use]
    pub fn new() -> Self {
        let extractors = SCOPES.into_iter().map(|(scope, setting)| Around::new(scope, setting));
        Self {
            menders: SETTINGS.map(Core::new).into(),
            extractors: extractors.collect(),
            watch: Watch::default(),
        }
    }

    /// Checks one text. After a violation that is a panic, the checker must not be used again.
    ///
    /// # Errors
    /// The first law that it breaks.
    pub fn check(&mut self, text: &[u8]) -> Result<(), Violation> {
        // An assertion that failed names no text.
        catch_unwind(AssertUnwindSafe(|| self.check_laws(text))).unwrap_or_else(|_| {
            Err(Violation::new(Law::NoPanic, text, "it panicked; see above".to_owned()))
        })
    }

    fn check_laws(&mut self, text: &[u8]) -> Result<(), Violation> {
        differential::against_serde_json(text, &MendOptions::new())?;
        for core in &mut self.menders {
            core.check(text, &mut self.watch)?;
        }
        for around in &mut self.extractors {
            around.check(text, &mut self.watch)?;
        }
        Ok(())
    }
}

/// Policy, handling of further documents, and limits.
type Setting = (Policy, TrailingDocuments, Limits);

/// Limits that a few bytes reach.
const NARROW: Limits =
    Limits::new().with_depth(2).with_lookahead(2).with_buffer(5).with_report(4).with_documents(2);
/// The same with a little more to look at, and to withhold.
const WIDER: Limits = NARROW.with_lookahead(4).with_buffer(8);

const PLAIN: Setting = (Policy::PERMISSIVE, TrailingDocuments::First, Limits::new());

/// What menders are given. Each policy, limit and handling is in one of them.
const SETTINGS: [Setting; 6] = [
    PLAIN,
    (Policy::PERMISSIVE, TrailingDocuments::All, NARROW),
    (Policy::PERMISSIVE, TrailingDocuments::Array, WIDER),
    (Policy::CONSERVATIVE, TrailingDocuments::All, Limits::new()),
    (Policy::CONSERVATIVE, TrailingDocuments::Last, NARROW),
    (Policy::STRICT, TrailingDocuments::Error, Limits::new()),
];

/// What extractors are given.
const SCOPES: [(Scope, Setting); 11] = {
    const SMALL: Setting = (Policy::PERMISSIVE, TrailingDocuments::First, NARROW);
    const CAREFUL: Setting = (Policy::CONSERVATIVE, TrailingDocuments::Error, WIDER);
    [
        (Scope::All, PLAIN),
        (Scope::All, SMALL),
        (Scope::Best, PLAIN),
        (Scope::Best, CAREFUL),
        (Scope::Fenced, PLAIN),
        (Scope::First, PLAIN),
        (Scope::First, SMALL),
        (Scope::Last, PLAIN),
        (Scope::Whole, PLAIN),
        (Scope::Whole, SMALL),
        (Scope::Whole, CAREFUL),
    ]
};

fn options((policy, trailing, limits): Setting) -> MendOptions {
    MendOptions::new().with_policy(policy).with_trailing_documents(trailing).with_limits(limits)
}

/// A mender with its options.
struct Core {
    options: MendOptions,
    mender: Mender,
    /// The same without the fast path, if the options have one.
    rules: Option<(MendOptions, Mender)>,
    is_plain: bool,
}

/// With a shorter buffer than this, the engine reads valid JSON by its rules, too. It is far longer
/// than any text here, so nothing else depends on it.
const WITHOUT_FAST_PATH: usize = 1000;

impl Core {
    fn new(setting: Setting) -> Self {
        let (policy, trailing, limits) = setting;
        let rules = (limits.buffer() > WITHOUT_FAST_PATH).then(|| {
            let options = options((policy, trailing, limits.with_buffer(WITHOUT_FAST_PATH)));
            (options.clone(), Mender::new(options))
        });
        let options = options(setting);
        Self { mender: Mender::new(options.clone()), options, rules, is_plain: setting == PLAIN }
    }

    fn check(&mut self, text: &[u8], watch: &mut Watch) -> Result<(), Violation> {
        let options = &self.options;
        if let Some(what) = watch.difference(text, &mut self.mender, self.is_plain) {
            // What the law says of it is easier to read.
            laws::split_invariance_at(text, options, &in_two(text))
                .map_err(|violation| under(&violation, options))?;
            return Err(Violation::new(Law::SplitInvariance, text, what));
        }
        if let Some((without, rules)) = &mut self.rules {
            let (mended, by_rules) = (mend(text, options), mend(text, without));
            let differs = mended != by_rules;
            let what = differs.then(|| format!("`mend` gives {by_rules:?}"));
            if let Some(what) = what.or_else(|| watch.disagreement(text, rules)) {
                let what = format!("without the fast path, {what}, under {options:?}");
                return Err(Violation::new(Law::Agreement, text, what));
            }
        }
        let snapshots = if self.is_plain { SNAPSHOTS } else { &[] };
        let mut broken = LAWS.iter().chain(snapshots).filter_map(|law| law(text, options).err());
        broken.next().map_or(Ok(()), |violation| Err(under(&violation, options)))
    }
}

/// The laws of the core, but for split invariance. What would be abandoned in the middle of a text is
/// a text of its own here.
const LAWS: &[LawFn] = &[
    laws::abandoned,
    laws::always_valid,
    laws::append_only,
    laws::edit_script,
    laws::honest_ends,
    laws::idempotence,
    laws::identity,
    laws::nothing_lost_at_end,
    laws::space_around,
];

/// The laws of partial values, which depend least on the options.
const SNAPSHOTS: &[LawFn] = &[laws::partial_agrees, laws::stable_snapshots];

/// An extractor with its options.
struct Around {
    scope: Scope,
    options: MendOptions,
    extractor: Finder,
}

impl Around {
    fn new(scope: Scope, setting: Setting) -> Self {
        let options = options(setting);
        Self { scope, extractor: Finder::new(scope, options.clone()), options }
    }

    fn check(&mut self, text: &[u8], watch: &mut Watch) -> Result<(), Violation> {
        let Self { scope, options, extractor } = self;
        let differs = watch.difference(text, extractor, false);
        let cuts = if differs.is_some() { in_two(text) } else { Vec::new() };
        laws::text_laws_at(text, *scope, options, &cuts)
            .and_then(|()| laws::text_abandoned(text, *scope, options))
            .and_then(|()| laws::text_space_around(text, *scope, options))
            .map_err(|violation| under(&violation, &(*scope, &options)))?;
        differs.map_or(Ok(()), |what| Err(Violation::new(Law::SplitInvariance, text, what)))
    }
}

fn in_two(text: &[u8]) -> Vec<Cut> {
    (0..=text.len()).map(|at| Cut::at(vec![at])).collect()
}

/// The violation, with the options under which it was found.
fn under(violation: &Violation, options: &dyn fmt::Debug) -> Violation {
    let what = format!("{}, under {options:?}", violation.what());
    Violation::new(violation.law(), violation.input(), what)
}

/// A reader that takes a text in pieces.
trait Reader {
    fn reset(&mut self);
    fn push(&mut self, chunk: &[u8], log: &mut Log);
    fn finish(&mut self, log: &mut Log) -> Outcome;
    /// What the reader says of itself.
    fn state(&self) -> State;
}

/// What can be asked of a reader between two chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    offset: usize,
    withheld: usize,
    depth: usize,
    /// The hash of what would complete the document.
    completion: Option<u64>,
    document_end: Option<usize>,
    unescaped_quotes: bool,
    outcome: Option<Outcome>,
}

/// What a reader emitted, in the same form however it was divided into slices.
#[derive(Default)]
struct Log {
    /// All bytes.
    bytes: Vec<u8>,
    /// Between the bytes: where bytes of another kind begin, and everything else.
    marks: Vec<Mark>,
    /// The kind of the last byte.
    kind: Option<Sign>,
    /// What a reader of the mended text makes of it.
    events: Vec<u8>,
    reader: Option<EventReader>,
}

/// Something at an offset of the bytes, and its number or hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    sign: Sign,
    at: usize,
    number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Mended,
    Text,
    Reasoning,
    Begin,
    Repair,
    End(Option<Outcome>),
}

/// How far a log reached, and the reader's state, after a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moment {
    bytes: usize,
    marks: usize,
    events: usize,
    state: State,
}

/// Reads texts in all divisions.
#[derive(Default)]
struct Watch {
    /// The text byte by byte.
    want: Log,
    /// The moments of that: before any byte, and after each.
    moments: Vec<Moment>,
    outcome: Option<Outcome>,
    /// Another division.
    got: Log,
}

impl Watch {
    /// Reads `text` byte by byte, and divided in two everywhere with an empty piece at both ends, or
    /// `in_three`. Says what differs, if anything does.
    fn difference(
        &mut self,
        text: &[u8],
        reader: &mut impl Reader,
        in_three: bool,
    ) -> Option<String> {
        self.read_bytes(text, reader);
        for first in 0..=text.len() {
            let seconds = if in_three { first } else { text.len() }..=text.len();
            for second in seconds {
                if let Some(what) = self.read_divided(text, [first, second], reader) {
                    return Some(format!("divided at {first} and {second}, {what}"));
                }
            }
        }
        None
    }

    fn read_divided(
        &mut self,
        text: &[u8],
        [first, second]: [usize; 2],
        reader: &mut impl Reader,
    ) -> Option<String> {
        reader.reset();
        self.got.reset();
        for (from, to) in [(0, first), (first, second), (second, text.len())] {
            reader.push(&text[from..to], &mut self.got);
            if let Some(what) = self.compare(to, reader) {
                return Some(what);
            }
        }
        let outcome = reader.finish(&mut self.got);
        self.compare_end(outcome)
    }

    /// Reads the text that was read last with another reader. Says what differs at the end, if
    /// anything does. When something is emitted may differ: the fast path waits for the next token
    /// after a scalar and the end of its line.
    fn disagreement(&mut self, text: &[u8], reader: &mut impl Reader) -> Option<String> {
        reader.reset();
        self.got.reset();
        reader.push(text, &mut self.got);
        let outcome = reader.finish(&mut self.got);
        self.compare_end(outcome)
    }

    fn read_bytes(&mut self, text: &[u8], reader: &mut impl Reader) {
        reader.reset();
        self.want.reset();
        self.moments.clear();
        self.moments.push(self.want.moment(reader));
        for byte in text {
            reader.push(std::slice::from_ref(byte), &mut self.want);
            self.moments.push(self.want.moment(reader));
        }
        self.outcome = Some(reader.finish(&mut self.want));
    }

    /// Compares what was emitted, and the reader, with those after `offset` bytes one by one.
    fn compare(&self, offset: usize, reader: &impl Reader) -> Option<String> {
        let (got, want) = (self.got.moment(reader), *self.moments.get(offset)?);
        let same = got == want && self.got.is_start_of(&self.want);
        (!same).then(|| {
            let (log, all) = (&self.got, &self.want);
            format!("after byte {offset} {got:?} {log:?} instead of {want:?} of {all:?}")
        })
    }

    fn compare_end(&self, outcome: Outcome) -> Option<String> {
        let (got, want) = (&self.got, &self.want);
        let lengths = |log: &Log| (log.bytes.len(), log.marks.len(), log.events.len());
        let same =
            Some(outcome) == self.outcome && lengths(got) == lengths(want) && got.is_start_of(want);
        (!same).then(|| {
            format!("at the end {outcome:?} {got:?} instead of {:?} {want:?}", self.outcome)
        })
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, events) = (self.bytes.escape_ascii(), self.events.escape_ascii());
        write!(f, "`{bytes}` with {:?} and events `{events}`", self.marks)
    }
}

impl Log {
    fn reset(&mut self) {
        self.bytes.clear();
        self.marks.clear();
        self.kind = None;
        self.events.clear();
        self.reader.get_or_insert_with(EventReader::new).reset();
    }

    fn moment(&self, reader: &impl Reader) -> Moment {
        Moment {
            bytes: self.bytes.len(),
            marks: self.marks.len(),
            events: self.events.len(),
            state: reader.state(),
        }
    }

    fn is_start_of(&self, other: &Self) -> bool {
        other.bytes.starts_with(&self.bytes)
            && other.marks.starts_with(&self.marks)
            && other.events.starts_with(&self.events)
    }

    fn note(&mut self, kind: Sign, bytes: &[u8]) {
        if self.kind != Some(kind) && !bytes.is_empty() {
            self.mark(kind, 0);
            self.kind = Some(kind);
        }
        self.bytes.extend_from_slice(bytes);
    }

    fn mark(&mut self, sign: Sign, number: u64) {
        self.marks.push(Mark { sign, at: self.bytes.len(), number });
    }

    fn mended(&mut self, bytes: &[u8]) {
        self.note(Sign::Mended, bytes);
        if let Some(reader) = &mut self.reader {
            reader.read(bytes, &mut |_, event| note_event(&mut self.events, event));
        }
    }

    fn repaired(&mut self, repair: &Repair) {
        let mut hasher = DefaultHasher::new();
        repair.kind().hash(&mut hasher);
        repair.span().hash(&mut hasher);
        repair.after().hash(&mut hasher);
        self.mark(Sign::Repair, hasher.finish());
    }

    fn stopped(&mut self) {
        if let Some(reader) = &mut self.reader {
            reader.stop();
        }
    }

    fn settled(&mut self) {
        if let Some(reader) = &mut self.reader {
            reader.end_token(&mut |_, event| note_event(&mut self.events, event));
        }
    }
}

/// A piece of a string is noted byte by byte, because it may come in any pieces.
fn note_event(events: &mut Vec<u8>, event: ParseEvent<'_>) {
    match event {
        ParseEvent::BeginArray => events.push(b'['),
        ParseEvent::BeginObject => events.push(b'{'),
        ParseEvent::BeginString => events.push(b'<'),
        ParseEvent::Bool(value) => events.push(if value { b't' } else { b'f' }),
        ParseEvent::EndArray => events.push(b']'),
        ParseEvent::EndDocument => events.push(b'.'),
        ParseEvent::EndObject => events.push(b'}'),
        ParseEvent::EndString => events.push(b'>'),
        ParseEvent::Key(key) => {
            events.push(b'k');
            events.extend_from_slice(key.as_bytes());
            events.push(b':');
        }
        ParseEvent::Null => events.push(b'n'),
        ParseEvent::Number(number) => {
            events.push(b'#');
            events.extend_from_slice(number.as_bytes());
            events.push(b';');
        }
        ParseEvent::Text(text) => text.bytes().for_each(|byte| events.extend([b'"', byte])),
        _ => events.push(b'?'),
    }
}

impl Output for Log {
    fn copy(&mut self, bytes: &[u8]) {
        self.mended(bytes);
    }
    fn repair(&mut self, repair: Repair) {
        self.repaired(&repair);
    }
    fn end_document(&mut self) {
        self.mark(Sign::End(None), 0);
    }
    fn raw(&mut self) {
        self.stopped();
    }
    fn settle(&mut self) {
        self.settled();
    }
}

impl TextSink for Log {
    fn text(&mut self, bytes: &[u8]) {
        self.note(Sign::Text, bytes);
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        self.note(Sign::Reasoning, bytes);
    }
    fn begin(&mut self, offset: usize) {
        self.mark(Sign::Begin, offset as u64);
        if let Some(reader) = &mut self.reader {
            reader.reset();
        }
    }
    fn json(&mut self, bytes: &[u8]) {
        self.mended(bytes);
    }
    fn raw(&mut self) {
        self.stopped();
    }
    fn settle(&mut self) {
        self.settled();
    }
    fn repair(&mut self, repair: Repair) {
        self.repaired(&repair);
    }
    fn end(&mut self, outcome: Outcome) {
        self.mark(Sign::End(Some(outcome)), 0);
    }
}

/// Hashes what is written.
struct Hashed(u64);

impl fmt::Write for Hashed {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = text.bytes().fold(self.0, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Ok(())
    }
}

fn hash_of(completion: Completion<'_>) -> u64 {
    let mut hashed = Hashed(0xcbf2_9ce4_8422_2325);
    let _ = write!(hashed, "{completion}");
    hashed.0
}

impl Reader for Mender {
    fn reset(&mut self) {
        Self::reset(self);
    }
    fn push(&mut self, chunk: &[u8], log: &mut Log) {
        Self::push(self, chunk, log);
    }
    fn finish(&mut self, log: &mut Log) -> Outcome {
        Self::finish(self, log)
    }
    fn state(&self) -> State {
        State {
            offset: self.offset(),
            withheld: self.withheld(),
            depth: self.depth(),
            completion: self.completion().map(hash_of),
            document_end: self.document_end(),
            unescaped_quotes: self.has_unescaped_quotes(),
            outcome: self.outcome(),
        }
    }
}

impl Reader for Finder {
    fn reset(&mut self) {
        Self::reset(self);
    }
    fn push(&mut self, chunk: &[u8], log: &mut Log) {
        Self::push(self, chunk, log);
    }
    fn finish(&mut self, log: &mut Log) -> Outcome {
        Self::finish(self, log)
    }
    fn state(&self) -> State {
        State {
            offset: self.offset(),
            withheld: self.withheld(),
            depth: self.depth(),
            completion: self.completion().map(hash_of),
            document_end: None,
            unescaped_quotes: false,
            outcome: self.outcome(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::seed::Seed;

    fn every_text(alphabet: Alphabet, tokens: u32) {
        let (mut checker, mut text) = (Checker::new(), Vec::new());
        for number in 0..count(tokens) {
            alphabet.write_text(number, &mut text);
            let verdict = checker.check(&text);
            assert!(verdict.is_ok(), "number {number}: {}", verdict.unwrap_err());
        }
    }

    #[test]
    fn every_text_of_three_documents_keeps_the_laws() {
        every_text(Alphabet::DOCUMENTS, 3);
    }

    /// What takes more tokens than can be tried in every order.
    #[test]
    fn some_texts_of_ten_tokens_keep_the_laws() {
        let (mut checker, mut text) = (Checker::new(), Vec::new());
        for (name, alphabet) in Alphabet::ALL {
            let mut seed = Seed::of(name.as_bytes());
            for _ in 0..500 {
                let number = seed.below((count(10) - count(9)) as usize) as u64 + count(9);
                alphabet.write_text(number, &mut text);
                let verdict = checker.check(&text);
                assert!(verdict.is_ok(), "{name}, number {number}: {}", verdict.unwrap_err());
            }
        }
    }

    /// What longer texts have shown.
    #[test]
    fn texts_that_broke_a_law_keep_it() {
        let mut checker = Checker::new();
        for text in [
            // A bracket after a scalar began a document at some cuts only.
            "}```\n1[{",
            "```\n1\n[2]\n```",
            "))//:[2]-3\"b\"a\n\ntrue[1]\n",
            "]# c\n1\n\n\n```[2]1\n{}",
            // The line end before a fence was known at some cuts only.
            "1\n```<think>```'{\"a\":1}",
            // A repair that changed nothing, and dropped text without one.
            "```json\n[2]({}",
            "{{}\u{201c}[\nabcdef[:...1{",
            // A key after a document was read as one.
            "```json\n-3\"b\":",
            "{\"a\":1}\u{201c}null```json\n\"b\":",
            // A wrapper was refused before a number was emitted that the rules had read.
            "[1\n\\\\true",
            // The same key, if the brace may not be added, was a document, or never ended.
            "\"\"(```json\n\"b\":",
            "```json\n\"b\"=",
            // Only a comment held the line end between two documents.
            "{}/*\n*/\"",
            "true/*\n*/null\n=",
            // Space outside ASCII: before a backslash at the end, and after a comment that is too long.
            "{:*\u{a0}\\",
            "//{}1\u{a0}s",
        ] {
            let verdict = checker.check(text.as_bytes());
            assert!(verdict.is_ok(), "{}", verdict.unwrap_err());
        }
    }

    #[test]
    fn every_text_of_three_parts_keeps_the_laws() {
        every_text(Alphabet::PARTS, 3);
    }

    #[test]
    fn every_text_of_three_scalars_keeps_the_laws() {
        every_text(Alphabet::SCALARS, 3);
    }

    #[test]
    fn every_text_of_four_signs_keeps_the_laws() {
        every_text(Alphabet::SIGNS, 4);
    }

    /// Otherwise the fast path would be compared with itself.
    #[test]
    fn the_rules_read_without_the_fast_path() {
        let mut core = Core::new(PLAIN);
        let (_, rules) = core.rules.as_mut().unwrap();
        for mender in [&mut core.mender, rules] {
            mender.push(b"[11, 11, 11]", &mut ());
        }
        let (with, without) = (core.mender.steps(), core.rules.unwrap().1.steps());
        assert!(with < without, "{with} steps, and {without} without the fast path");
    }

    #[test]
    fn no_text_comes_twice() {
        for (name, alphabet) in Alphabet::ALL {
            let mut text = Vec::new();
            let texts = (0..count(3)).map(|number| {
                alphabet.write_text(number, &mut text);
                text.clone()
            });
            assert_eq!(texts.collect::<HashSet<_>>().len() as u64, count(3), "{name}");
            let starts =
                |one: &str| alphabet.0.iter().filter(|token| token.starts_with(one)).count();
            assert!(alphabet.0.iter().all(|token| starts(token) == 1), "{name}");
        }
    }
}
