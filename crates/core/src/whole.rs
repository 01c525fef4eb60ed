//! The whole-text path: the engine without emitting anything early, and the readings that need the
//! whole text.

use alloc::{string::String, vec::Vec};
use core::ops::Range;

use crate::{
    MendOptions, Mended, Outcome, Path, Policy, Repair, RepairKind, Repairs, TrailingDocuments,
    apply,
    engine::{Edit, Engine, Part, Quote, Stop},
    lines::joins,
    mended::into_string,
    mender::cut_lines,
    prose::Marks,
    search,
    signs::solid,
    unwrap::{Gate, Seen, Wrapper, unwrapped, wrapped},
};

mod doubt;
mod searched;

use doubt::json_of;

/// Mends a whole text, with the same rules as [`Mender`](crate::Mender). Because nothing is emitted
/// early, a repair may also change text far before the place where the need for it was found.
///
/// Memory: the text, the result, and at most twice the text while it is read; see
/// [`Limits::with_report`](crate::Limits::with_report).
#[must_use]
pub fn mend(input: &[u8], options: &MendOptions) -> Mended {
    mend_counting(input, options, false).0
}

/// Like [`mend`], for a text whose first byte is known to begin a document: it is not asked whether
/// that is prose.
///
/// ```
/// use wiremend_core::{MendOptions, mend, mend_document};
/// let options = MendOptions::new();
/// assert_eq!(mend(b"[x] done", &options).text(), None);
/// assert_eq!(mend_document(b"[x] done", &options).text(), Some(r#"["x"]"#));
/// ```
#[must_use]
pub fn mend_document(input: &[u8], options: &MendOptions) -> Mended {
    mend_counting(input, options, true).0
}

/// Like [`mend_document`], for a document whose lines are marked, after the first mark.
///
/// ```
/// use wiremend_core::{MendOptions, mend_marked, prose::Marks};
/// let input = b"I meant:\n> {\n>   \"a\": 1\n> }";
/// let marks = Marks::before(input, 11, 64).unwrap();
/// let mended = mend_marked(&input[11..], marks, &MendOptions::new());
/// assert_eq!(mended.text(), Some("{\n  \"a\": 1\n}"));
/// ```
#[must_use]
pub fn mend_marked(input: &[u8], marks: Marks, options: &MendOptions) -> Mended {
    let wrapper = Wrapper::Lines { marks, within: true };
    mend_wrapped(input, 0, wrapper, options, true).0
}

/// One way to read a whole text, and what it costs.
///
/// [`readings`] returns the two cheapest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// What its repairs cost together, in hundredths of a comment that is dropped.
    pub cost: u32,
    /// What it makes of the text: JSON.
    pub text: String,
    /// Its repairs.
    pub repairs: Repairs,
}

/// The two cheapest readings of a broken text that give different values, the cheapest first. The further the second
/// one is, the surer is the first.
///
/// [`mend`] takes the cheapest one if it is enough cheaper than what a stream would read, within the policy; here, any
/// repair may be made. There is none if a text is valid, is in a wrapper (a data URL, lines with marks), is cut off at
/// the first byte of its document, or needs more repairs than a search may make; and only one if nothing else comes near,
/// within 1,000.
///
/// At most 64 readings are compared with the first one, the nearest ones, and of those that a reading was preferred to on
/// the way, the first 16,384. In a long text with more of them, one that differs only near its end may be missed.
///
/// ```
/// use wiremend_core::{MendOptions, readings};
/// let readings = readings(br#"["red", "green" blue"]"#, &MendOptions::new());
/// assert_eq!(readings[0].text, r#"["red", "green", "blue"]"#);
/// assert_eq!(readings[1].text, r#"["red", "green\" blue"]"#);
/// assert!(readings[0].cost < readings[1].cost);
/// ```
#[must_use]
pub fn readings(input: &[u8], options: &MendOptions) -> Vec<Reading> {
    let options = options.clone().with_policy(Policy::PERMISSIVE);
    let mut gate = Gate::START;
    let wrapped = matches!(gate.watch(input, &options, true), Seen::Wrapped(..));
    let first = TextReading::whole(Engine::whole(options.clone()), input, &[]);
    let Some(first) = first.ok().filter(|first| !wrapped && first.is_repaired()) else {
        return Vec::new();
    };
    let text = solid(input);
    if !options.searches() || search::is_too_much(text, first.repairs.len()) {
        return Vec::new();
    }
    let start = first.documents.first().map_or(0, |document| document.0);
    let several = first.documents.len() > 1;
    let depth = options.limits().depth();
    let Some(found) = search::search(text, start, several, depth, NEXT) else { return Vec::new() };
    let reading = |cost: u32, repairs: Repairs| {
        let text = into_string(json_of(text, &repairs, &options)?);
        Some(Reading { cost, text, repairs })
    };
    let Some(first) = reading(found.cost, found.repairs.clone()) else { return Vec::new() };
    let value = without_space(first.text.as_bytes());
    let second = found.others.iter().find_map(|other| {
        let other = reading(found.cost + other.dearer, other.repairs(&found.repairs))?;
        (without_space(other.text.as_bytes()) != value).then_some(other)
    });
    core::iter::once(first).chain(second).collect()
}

/// How much dearer than the cheapest the next reading may be that [`readings`] returns.
const NEXT: u32 = 1_000;

/// How many steps [`mend`] takes, for tests of linearity.
#[cfg(feature = "coverage")]
#[must_use]
pub fn steps(input: &[u8], options: &MendOptions) -> u64 {
    mend_counting(input, options, false).1
}

/// The result, and how many steps that took.
fn mend_counting(input: &[u8], options: &MendOptions, begun: bool) -> (Mended, u64) {
    let mut gate = if begun { Gate::DOCUMENT } else { Gate::START };
    match gate.watch(input, options, true) {
        Seen::Wrapped(at, wrapper) => mend_wrapped(input, at, wrapper, options, begun),
        Seen::Clear | Seen::Open(_) => mend_plain(input, options, begun),
    }
}

/// Mends a text from which a wrapper is taken off first, which begins at `at`.
fn mend_wrapped(
    input: &[u8],
    at: usize,
    wrapper: Wrapper,
    options: &MendOptions,
    begun: bool,
) -> (Mended, u64) {
    if !options.policy().allows(wrapper.kind()) {
        let refused = core::iter::once(Repair::new(wrapper.kind(), at..at, ""));
        return (Mended::new(Outcome::Invalid, None, refused.collect(), None), 0);
    }
    let inner = unwrapped(input, at, wrapper);
    let (mended, steps) = mend_plain(&inner, options, begun);
    (wrapped(input, at, wrapper, mended), steps + 2 * input.len() as u64)
}

/// The result for a text that is in no wrapper, and how many steps the engine took for all readings.
fn mend_plain(input: &[u8], options: &MendOptions, begun: bool) -> (Mended, u64) {
    let begin = |mut engine: Engine| {
        if begun {
            engine.begin_document();
        }
        engine
    };
    // Valid JSON gets no other reading, however unusual it is. Neither does the beginning of valid
    // JSON, because a reading that closes it would make a text that was cut off look complete.
    let strict = options.clone().with_policy(Policy::STRICT);
    let mut engine = begin(Engine::streaming(strict));
    engine.bound_documents(input.len());
    // A line end after the text does not make it anything else.
    let end = engine.run(Part::new(solid(input), 0, true));
    let mut steps = engine.steps();
    match end {
        Ok(()) if engine.outcome(0) == Outcome::Unchanged && engine.documents() == 1 => {
            if let Ok(text) = core::str::from_utf8(input) {
                let repairs = Repairs::new();
                let mended = Mended::new(Outcome::Unchanged, Some(text.into()), repairs, None);
                return (mended, steps);
            }
        }
        Err(Stop::Cut) => {
            if let Some(reading) = TextReading::of_lost_quote(&engine, options, input) {
                return (reading.finish(input, options), steps + input.len() as u64);
            }
            let engine = begin(Engine::streaming(options.clone()));
            let all = options.trailing_documents() == TrailingDocuments::All;
            let (cuts, work) = if all { cut_lines(input, options) } else { (Vec::new(), 0) };
            let reading = TextReading::new().by_pieces(engine, input, &cuts);
            steps += reading.steps + work;
            return (reading.finish(input, options), steps);
        }
        Ok(()) | Err(Stop::Crowded | Stop::Nothing | Stop::Overflow | Stop::Refused) => {}
    }
    drop(engine);
    // A text that is nothing but a dialect of JSON gets no other reading either.
    match TextReading::in_dialect(options, input) {
        Ok(reading) => {
            steps += reading.steps;
            return (reading.finish(input, options), steps);
        }
        Err(wasted) => steps += wasted,
    }
    let mut read = |cuts: &[usize]| {
        let reading = match TextReading::whole(begin(Engine::whole(options.clone())), input, cuts) {
            Ok(reading) => reading,
            Err(wasted) => {
                steps += wasted;
                let mut engine = begin(Engine::streaming(options.clone()));
                engine.keep_documents(input.len());
                TextReading::new().by_pieces(engine, input, cuts)
            }
        };
        steps += reading.steps;
        reading
    };
    let mut cuts = Vec::new();
    let mut reading = read(&cuts);
    // Where each line is a document, one that is broken may have taken others with it.
    if reading.is_repaired() && input.windows(2).any(|line| matches!(line, b"\n{" | b"\n[")) {
        let lines = cut_lines(input, options);
        cuts = lines.0;
        if !cuts.is_empty() {
            reading = read(&cuts);
        }
        steps += lines.1;
    }
    if let Some(better) = reading.outer_braces_lost(input, options) {
        steps += better.steps;
        reading = better;
    }
    if cuts.is_empty() {
        let (better, work) = reading.or_searched(input, options, begin);
        (reading, steps) = (better, steps + work);
    }
    (reading.finish(input, options), steps)
}

// One reading of a whole text, and its result.

/// A text that is read piece by piece is read in pieces of so many bytes.
const PIECE: usize = 16 << 10;

/// The result of one reading of the text.
struct TextReading {
    outcome: Outcome,
    repairs: Repairs,
    /// The start and the end of each document.
    documents: Vec<(usize, usize)>,
    /// The highest number of containers that were open at the same time.
    deepest: usize,
    cut_at: Path,
    steps: u64,
    /// What the repairs so far make of the text, if that is written while it is read.
    written: Option<Written>,
}

/// The mended text so far.
///
/// As long as no repair changes the length of what it replaces, as in what Python prints, it is the
/// whole input with the replacements in place. After that, it ends where the repairs do.
#[derive(Default)]
struct Written {
    text: Vec<u8>,
    /// How much of the input it was made from, once it ends there.
    from: Option<usize>,
}

impl Written {
    /// The most that a text grows by at a time, as a part of its input.
    const GROWTH: usize = 16;

    #[inline(always)]
    fn apply(&mut self, input: &[u8], repair: &Repair) {
        if self.from.is_some() || !self.replace(input, repair) {
            self.append(input, repair);
        }
    }

    /// Replaces the span of the repair in place. `false` if that would change its length.
    #[inline(always)]
    fn replace(&mut self, input: &[u8], repair: &Repair) -> bool {
        if self.text.is_empty() {
            self.text.reserve_exact(input.len() + input.len() / Self::GROWTH);
            self.text.extend_from_slice(input);
        }
        match (repair.after().as_bytes(), self.text.get_mut(repair.start..repair.end)) {
            ([byte], Some([place])) => *place = *byte,
            (added, Some(place)) if place.len() == added.len() => place.copy_from_slice(added),
            _ => return false,
        }
        true
    }

    /// Appends the input up to the repair, and what replaces its span.
    #[inline]
    fn append(&mut self, input: &[u8], repair: &Repair) {
        let from = self.from.unwrap_or(repair.start);
        if self.from.is_none() {
            self.text.truncate(from);
        }
        let kept = input.get(from..repair.start).unwrap_or_default();
        let added = repair.after().as_bytes();
        if self.text.capacity() - self.text.len() < kept.len() + added.len() {
            // Doubling a large text would take more memory than it has use for.
            self.text.reserve_exact(kept.len() + added.len() + input.len() / Self::GROWTH);
        }
        self.text.extend_from_slice(kept);
        match added {
            [byte] => self.text.push(*byte),
            _ => self.text.extend_from_slice(added),
        }
        self.from = Some(repair.end);
    }

    fn finish(mut self, input: &[u8]) -> Vec<u8> {
        let from = self.from.unwrap_or(self.text.len());
        self.text.extend_from_slice(input.get(from..).unwrap_or_default());
        self.text
    }
}

impl TextReading {
    fn new() -> Self {
        Self {
            outcome: Outcome::None,
            repairs: Repairs::new(),
            documents: Vec::new(),
            deepest: 0,
            cut_at: Path::default(),
            steps: 0,
            written: None,
        }
    }

    /// Reads the text with all of it in sight. If too many edits would have to be kept, returns how
    /// many steps that took.
    /// At each of `cuts`, a document ends that was cut off.
    fn whole(mut engine: Engine, input: &[u8], cuts: &[usize]) -> Result<Self, u64> {
        engine.bound_documents(input.len());
        engine.bound_edits(input.len());
        let ends = cuts.iter().copied().chain([input.len()]);
        let mut parts = ends.map(|end| &input[..end]);
        let stop = parts.find_map(|text| engine.run(Part::new(text, 0, true)).err());
        if stop == Some(Stop::Crowded) {
            Err(engine.steps())
        } else {
            Ok(Self::end(engine, stop, input))
        }
    }

    /// Reads the text as one document in a consistent dialect: all that it needs is what a dialect
    /// has instead of JSON's tokens, and no quote in it is in doubt. Otherwise, returns how many steps
    /// it took to see that.
    fn in_dialect(options: &MendOptions, input: &[u8]) -> Result<Self, u64> {
        if !options.policy().allows_dialects() {
            return Err(0);
        }
        // Whatever else the text needs, be it another document, stops the engine.
        let strict = options.clone().with_policy(Policy::DIALECT);
        let strict = strict.with_trailing_documents(TrailingDocuments::Error);
        let mut engine = Engine::streaming(strict);
        engine.require_strict_quotes();
        engine.keep_documents(input.len());
        let start = Self { written: Some(Written::default()), ..Self::new() };
        let reading = start.by_pieces(engine, input, &[]);
        if reading.outcome == Outcome::Repaired { Ok(reading) } else { Err(reading.steps) }
    }

    /// The reading of the beginning of valid JSON, which `engine` has read, if all that is missing is
    /// the closing quote of its last string.
    fn of_lost_quote(engine: &Engine, options: &MendOptions, input: &[u8]) -> Option<Self> {
        let kind = RepairKind::UnterminatedString;
        if !options.policy().closes_cut() || !options.policy().allows(kind) {
            return None;
        }
        let (end, closed) = engine.only_quote_lost(input)?;
        core::str::from_utf8(input).ok()?;
        let mut repairs = Repairs::new();
        repairs.push(&Repair::new(kind, end..end, "\""));
        let text = input.trim_ascii_end();
        let around = input.get(closed..text.len()).unwrap_or_default().trim_ascii_start();
        if !around.is_empty() {
            let kind = match around {
                b"```" => RepairKind::CodeFence,
                // Words may as well be the end of the string.
                _ if around.iter().any(u8::is_ascii_alphanumeric) && !around.ends_with(b">") => {
                    RepairKind::StrayText
                }
                _ => RepairKind::TrailingProse,
            };
            if !options.policy().allows(kind) {
                return None;
            }
            repairs.push(&Repair::new(kind, text.len() - around.len()..text.len(), ""));
        }
        Some(Self {
            outcome: Outcome::Closed,
            repairs,
            documents: Vec::from([(0, input.len())]),
            cut_at: engine.path(),
            ..Self::new()
        })
    }

    /// Reads the text with a streaming engine, and keeps of its edits only the compact list. At each of
    /// `cuts`, a document ends that was cut off.
    fn by_pieces(self, mut engine: Engine, input: &[u8], cuts: &[usize]) -> Self {
        engine.judge_start();
        engine.bound_documents(input.len());
        let mut reading = self;
        let (mut from, mut end, mut passed, mut stop) = (0, 0, 0, None);
        while stop.is_none() && end < input.len() {
            let part = cuts.get(passed).copied().unwrap_or(input.len());
            end = part.min(end + PIECE);
            passed += usize::from(end == part);
            let source = Part::new(&input[from..end], from, end == part);
            stop = engine.run(source).err();
            engine.drain(|edit| reading.take(edit, input));
            if engine.forgets_documents() && reading.documents.len() > 2 {
                reading.documents.drain(1..reading.documents.len() - 1);
            }
            from = engine.committed();
        }
        reading.finish_with(engine, stop, input);
        reading
    }

    /// The end of a reading whose edits the engine still has.
    fn end(engine: Engine, stop: Option<Stop>, input: &[u8]) -> Self {
        let mut reading = Self::new();
        reading.finish_with(engine, stop, input);
        reading
    }

    #[inline(always)]
    fn take(&mut self, edit: Edit, input: &[u8]) {
        match edit {
            Edit::Replace(repair, _) => {
                if let Some(written) = &mut self.written {
                    written.apply(input, &repair);
                }
                self.repairs.push(&repair);
            }
            Edit::EndDocument { start, end } => self.documents.push((start, end)),
        }
    }

    fn finish_with(&mut self, mut engine: Engine, stop: Option<Stop>, input: &[u8]) {
        engine.drain_all(|edit| self.take(edit, input));
        // If a repair was made and later became one that is not allowed, it is in the list already.
        let refused = engine.refused().filter(|_| stop == Some(Stop::Refused));
        if let Some(refused) =
            refused.filter(|refused| !self.repairs.iter().any(|r| r == **refused))
        {
            self.insert(refused.clone(), |r| r.start <= refused.start);
        }
        self.outcome = match stop {
            None => engine.outcome(self.repairs.len()),
            Some(Stop::Cut) => Outcome::Cut,
            Some(Stop::Nothing) => Outcome::None,
            Some(Stop::Crowded | Stop::Overflow) => Outcome::Overflow,
            Some(Stop::Refused) => Outcome::Invalid,
        };
        self.deepest = engine.deepest();
        self.cut_at = engine.path();
        self.steps = engine.steps();
    }

    /// Inserts a repair after those at the start of the list that come `before` it.
    fn insert(&mut self, repair: Repair, before: impl Fn(&Repair) -> bool) {
        let mut longer = Repairs::new();
        let mut inserted = Some(repair);
        for other in &self.repairs {
            if !before(&other) {
                longer.extend(inserted.take());
            }
            longer.push(&other);
        }
        longer.extend(inserted);
        self.repairs = longer;
    }

    /// Whether anything had to be repaired, or could not be.
    fn is_repaired(&self) -> bool {
        self.outcome != Outcome::Unchanged
    }

    /// Whether text was dropped.
    fn drops_text(&self) -> bool {
        self.repairs.iter().any(|repair| {
            use RepairKind::{InlineProse, LeadingProse, StrayText, TrailingProse};
            matches!(repair.kind(), InlineProse | LeadingProse | StrayText | TrailingProse)
        })
    }

    /// `"a": 1, "b": 2}` is not a string followed by text: its opening brace, or both, are missing.
    fn outer_braces_lost(&self, input: &[u8], options: &MendOptions) -> Option<Self> {
        let &(first, end) = self.documents.first()?;
        let scalar = input.get(first) == Some(&b'"') || input.get(first) == Some(&b'\'');
        let colon = input.get(end..)?.trim_ascii_start().first() == Some(&b':');
        let start = if scalar && colon { first } else { odd_key(input)? };
        if !options.policy().allows(RepairKind::MissingOpen) {
            return None;
        }
        let mut braced = Vec::with_capacity(input.len() + 1);
        braced.extend_from_slice(&input[..start]);
        braced.push(b'{');
        braced.extend_from_slice(&input[start..]);
        let mut reading = Self::whole(Engine::whole(options.clone()), &braced, &[]).ok()?;
        // With the brace, what follows may read as prose before another document.
        let begins = reading.documents.first().is_some_and(|(first, _)| *first == start);
        // A key in other quotes may as well be words before a document. Nothing may be left after it.
        let whole = start == first || reading.documents.len() == 1 && !reading.drops_text();
        // It may not be taken for a bracket that was meant to be another one.
        let taken =
            reading.repairs.iter().any(|repair| repair.start <= start && start < repair.end);
        if !reading.outcome.is_valid() || !begins || !whole || taken {
            return None;
        }
        // Subtract the added brace from the offsets after it. No repair spans it.
        let moved = |at: usize| at - usize::from(at > start);
        let repairs = reading.repairs.iter().map(|repair| {
            let span = moved(repair.start)..moved(repair.end);
            repair.with_span(span)
        });
        reading.repairs = repairs.collect();
        for document in &mut reading.documents {
            *document = (moved(document.0), moved(document.1));
        }
        let open = Repair::new(RepairKind::MissingOpen, start..start, "{");
        reading.insert(open, |r| r.end <= start && r.start < start);
        if reading.outcome == Outcome::Unchanged {
            reading.outcome = Outcome::Repaired;
        }
        Some(reading)
    }

    fn finish(mut self, input: &[u8], options: &MendOptions) -> Mended {
        if self.outcome == Outcome::None {
            return Mended::new(self.outcome, None, Repairs::new(), None);
        }
        if self.outcome.is_valid() && self.documents.len() > 1 {
            let last = self.documents.len() - 1;
            // One that was cut off before anything of it was read is none.
            let cut = self.outcome == Outcome::Closed && self.is_empty(last, input);
            let last = last - usize::from(cut);
            let allowed = match options.trailing_documents() {
                TrailingDocuments::Array => match self.only_filled(input) {
                    Some(only) => self.keep(only..only + 1, options),
                    None if last + 1 < self.documents.len() => {
                        self.keep(0..last + 1, options) && self.wrap(input, options)
                    }
                    None => self.wrap(input, options),
                },
                TrailingDocuments::Last => self.keep(last..last + 1, options),
                TrailingDocuments::All | TrailingDocuments::Error | TrailingDocuments::First => {
                    true
                }
            };
            if !allowed {
                self.outcome = Outcome::Invalid;
            }
        }
        let cut_at = matches!(self.outcome, Outcome::Closed | Outcome::Cut).then_some(self.cut_at);
        let text = if self.outcome.is_valid() {
            let text = match self.written.take() {
                Some(written) => Some(written.finish(input)),
                None => apply(input, &self.repairs),
            };
            text.map(into_string)
        } else {
            None
        };
        debug_assert_eq!(text.is_some(), self.outcome.is_valid(), "the repairs do not apply");
        if text.is_none() && self.outcome.is_valid() {
            self.outcome = Outcome::Invalid;
        }
        Mended::new(self.outcome, text, self.repairs, cut_at)
    }

    /// Makes the documents the items of one array.
    fn wrap(&mut self, input: &[u8], options: &MendOptions) -> bool {
        let kind = RepairKind::LineDelimited;
        if !options.policy().allows(kind) {
            return false;
        }
        if self.deepest >= options.limits().depth() {
            // The array would be one level too many.
            self.outcome = Outcome::Overflow;
            return true;
        }
        let added = |at: usize, after: &'static str| Repair::new(kind, at..at, after);
        let old = core::mem::take(&mut self.repairs);
        let mut old = old.iter().peekable();
        let mut repairs = Repairs::new();
        let mut gap = Vec::new();
        for (index, &(start, end)) in self.documents.iter().enumerate() {
            // Repairs before the document. A comma that was dropped there is the one that is
            // needed.
            let mut comma = index == 0;
            while let Some(repair) = old.next_if(|r| r.end <= start && r.start < start) {
                let dropped = repair.kind == RepairKind::ExtraComma && input[repair.start] == b',';
                if !comma && dropped {
                    comma = true;
                } else {
                    gap.push(repair);
                }
            }
            if !comma {
                // Insert the comma directly after the previous document.
                repairs.push(&added(self.documents[index - 1].1, ","));
            }
            repairs.extend(gap.drain(..));
            if index == 0 {
                repairs.push(&added(start, "["));
            }
            while let Some(repair) = old.next_if(|r| r.end <= end) {
                repairs.push(&repair);
            }
        }
        let last = self.documents.last().map_or(0, |document| document.1);
        repairs.push(&added(last, "]"));
        repairs.extend(old);
        self.repairs = repairs;
        self.outcome =
            if self.outcome == Outcome::Closed { self.outcome } else { Outcome::Repaired };
        true
    }

    /// Drops all documents but these.
    fn keep(&mut self, kept: Range<usize>, options: &MendOptions) -> bool {
        let kind = RepairKind::SecondDocument;
        if !options.policy().allows(kind) {
            return false;
        }
        let (first, last) = (self.documents[0].0, self.documents[self.documents.len() - 1].1);
        let (start, end) = (self.documents[kept.start].0, self.documents[kept.end - 1].1);
        let stays = |repair: &Repair| {
            repair.end <= first && repair.start < first
                || repair.start >= start && repair.end <= end
                || repair.start > last
                || repair.start == last && repair.end > last
        };
        self.repairs = self.repairs.iter().filter(stays).collect();
        for dropped in [first..start, end..last] {
            if !dropped.is_empty() {
                self.insert(Repair::new(kind, dropped.clone(), ""), |r| {
                    r.start < dropped.start || r.end <= dropped.start
                });
            }
        }
        self.documents.truncate(kept.end);
        self.documents.drain(..kept.start);
        self.outcome =
            if self.outcome == Outcome::Closed { self.outcome } else { Outcome::Repaired };
        true
    }

    /// Whether a document is `{}` or `[]`, or the last one, and cut off before anything of it was read.
    fn is_empty(&self, index: usize, input: &[u8]) -> bool {
        let (start, end) = self.documents[index];
        let bracket = |byte: &u8| b"{}[] \t\r\n".contains(byte);
        let blank = |from, to| input.get(from..to).unwrap_or_default().iter().all(bracket);
        if end - start < 8 && blank(start, end) {
            return true;
        }
        let mut at = start;
        let own = self.repairs.iter().filter(|repair| repair.start >= start);
        let cut = self.outcome == Outcome::Closed && index + 1 == self.documents.len();
        cut && own.fold(true, |empty, repair| {
            let from = core::mem::replace(&mut at, repair.end);
            empty && blank(from, repair.start) && repair.after().as_bytes().iter().all(bracket)
        }) && blank(at, end)
    }

    /// The only document with content, if the others are `{}` or `[]` on its line: what a joint of pieces
    /// leaves, and no document that was written for itself.
    fn only_filled(&self, input: &[u8]) -> Option<usize> {
        let gap = |pair: &[(usize, usize)]| input.get(pair[0].1..pair[1].0).unwrap_or_default();
        if !self.documents.windows(2).all(|pair| joins(gap(pair))) {
            return None;
        }
        let mut filled = (0..self.documents.len()).filter(|&at| !self.is_empty(at, input));
        match (filled.next(), filled.next()) {
            (Some(only), None) => Some(only),
            (None, _) => Some(0),
            _ => None,
        }
    }
}

/// The longest key to look for at the start of a text, in bytes.
const MAX_KEY: usize = 64;

/// Where a text begins with a key in quotes that JSON does not have, and its colon.
fn odd_key(input: &[u8]) -> Option<usize> {
    let start = input.len() - input.trim_ascii_start().len();
    let (quote, length) = Quote::of(&input[start..])?;
    if !matches!(quote, Quote::Smart | Quote::Backtick) {
        return None;
    }
    let key = &input[start + length..];
    let key = &key[..key.len().min(MAX_KEY)];
    let (at, length) = (0..key.len()).find_map(|at| Some((at, quote.closer(&key[at..])?)))?;
    let named = at > 0 && !key[..at].contains(&b'\n');
    (named && key[at + length..].trim_ascii_start().first() == Some(&b':')).then_some(start)
}

/// Valid JSON without the white space between its tokens.
fn without_space(text: &[u8]) -> Vec<u8> {
    let (mut kept, mut inside, mut escaped) = (Vec::with_capacity(text.len()), false, false);
    for &byte in text {
        if inside || !byte.is_ascii_whitespace() {
            kept.push(byte);
        }
        (inside, escaped) = match byte {
            b'"' if !escaped => (!inside, false),
            b'\\' => (inside, inside && !escaped),
            _ => (inside, false),
        };
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    #[test]
    fn the_array_around_several_documents_is_a_level() {
        let options = |depth| {
            let limits = Limits::default().with_depth(depth);
            MendOptions::new().with_limits(limits).with_trailing_documents(TrailingDocuments::Array)
        };
        let input = b"[[1]]\n[2]";
        assert_eq!(mend(input, &options(3)).text(), Some("[[[1]],\n[2]]"));
        assert_eq!(mend(input, &options(2)).outcome(), Outcome::Overflow);
    }

    #[test]
    fn a_member_may_lead_the_document_after_a_string_that_turned_out_to_be_text() {
        // The string ends after the place where the document begins.
        for (input, text) in [
            ("'```json\n\"a\": ['b", r#"{"a": ["b"]}"#),
            ("\"Yes, [\"\n```json\n\"a\": \"b", r#"{"a": "b"}"#),
        ] {
            let mended = mend(input.as_bytes(), &MendOptions::new());
            assert_eq!(mended.text(), Some(text), "{input}");
            assert!(!mended.outcome().is_complete(), "{input}");
        }
    }

    #[test]
    fn the_refused_repair_is_reported_once() {
        let options = MendOptions::new().with_policy(Policy::CONSERVATIVE);
        for input in [&b"{\"t\": \"if\"\na\", \"n\": 1}"[..], b"[1, NaN]", b"{'a': [\"x\", ...]}"] {
            let mended = mend(input, &options);
            assert_eq!(mended.outcome(), Outcome::Invalid);
            let kinds = |repair: &Repair| !Policy::CONSERVATIVE.allows(repair.kind);
            assert_eq!(mended.repairs().iter().filter(kinds).count(), 1, "{:?}", mended.repairs());
        }
    }
}
