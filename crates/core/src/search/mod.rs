//! A text read in the cheapest way.
//!
//! A [`Reading`] is one way to understand the text up to a byte: the containers that are open, what is
//! expected, the edits that led there, and what they cost. At each byte it has moves: to accept the byte
//! as JSON, which is free, or to make one of the repairs in [`rows`]. Readings in the same state at the
//! same byte are one, the cheaper. The cheapest of all goes on first, and the first that is at the end is the
//! answer. So nothing looks ahead: the rest of the text decides.

mod arena;
mod between;
mod end;
mod frontier;
mod layout;
mod misfit;
mod outside;
mod rivals;
mod rows;
mod strings;
mod token;
mod valid;

use alloc::{borrow::Cow, vec::Vec};

use arena::{Change, Edit, EditLists, Edits, Kind, Stack, Stacks};
pub(crate) use end::Answer;
use end::Settled;
use frontier::{Frontier, Stage};
use layout::Layout;
pub(crate) use misfit::misfits;
use rivals::Other;
pub(crate) use rivals::is_among;
use rows::Row;
pub(crate) use rows::{has_rival, price};
use strings::{Bare, Text};
use valid::{APART, Valid, settles};

use crate::{Repair, RepairKind, Repairs};

/// After what a value or a key is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    Open,
    Comma,
    /// A comma that was added.
    Added,
    /// A key and its colon, or what opens a call.
    Colon,
}

/// What is before a place outside of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    Nothing,
    Document,
}

/// What a reading expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Outside(Around),
    Value(After),
    Key(After),
    Colon,
    /// After a value in a container: a comma or a closer.
    Rest,
    /// The end of the container: it may hold nothing more.
    Close,
    Text(Text),
    Bare(Bare),
}

/// What a repair costs that may not be made.
const FORBIDDEN: u32 = 1 << 30;

/// No place.
const NONE: u32 = u32::MAX;

/// One way to understand the text up to a byte.
#[derive(Clone, Copy, Debug)]
struct Reading {
    cost: u32,
    stack: Stack,
    edits: Edits,
    mode: Mode,
    /// Where the last token ends. A comma or closer that is missing goes there.
    last: u32,
    /// Where the comma before the item is that is expected or open, or [`NONE`].
    comma: u32,
    /// Where the document begins.
    document: u32,
    /// The edits before it.
    document_edits: Edits,
    /// Where the last key begins, and the edits before it.
    key: u32,
    key_edits: Edits,
    documents: u32,
    /// How many repairs it has made, if only some may be made.
    made: u32,
    /// What it had cost after the last comma at which that had changed, and where that is.
    paid: u32,
    since: u32,
    /// What it cost to pass the text around documents.
    around: u32,
    /// Whether a backslash before letters was text, in any string so far.
    has_commands: bool,
    /// Whether one that may have been text was an escape.
    has_escapes: bool,
    /// Whether spaces are written as byte-level tokens write them.
    has_tokens: bool,
    /// What it does again at less cost.
    habits: u16,
    /// Its state but for the stack: what it expects of the rest of the text.
    state: u64,
}

impl Reading {
    /// All that decides what it expects of the rest of the text, but for the stack and what is made.
    fn code(&self) -> u64 {
        let flags = u64::from(self.has_commands)
            | u64::from(self.has_escapes) << 1
            | u64::from(self.has_tokens) << 2;
        self.mode.code() << 19 | flags << 16 | u64::from(self.habits)
    }
}

impl Reading {
    /// Its lists of edits.
    fn lists(&mut self) -> [&mut Edits; 3] {
        [&mut self.edits, &mut self.document_edits, &mut self.key_edits]
    }
}

impl Mode {
    /// A number for each mode.
    const fn code(self) -> u64 {
        match self {
            Self::Outside(around) => 1 << 3 | around as u64,
            Self::Value(after) => 2 << 3 | after as u64,
            Self::Key(after) => 3 << 3 | after as u64,
            Self::Colon => 4 << 3,
            Self::Rest => 5 << 3,
            Self::Close => 6 << 3,
            Self::Bare(bare) => 7 << 3 | bare.code() << 6,
            Self::Text(text) => text.code() << 6,
        }
    }
}

/// What a third of a member or a value costs that the guide does not allow.
pub(crate) const MISFIT: u32 = 100;

/// Whether a text is not searched that needs so many repairs: places are numbers of 32 bits, and all repairs are
/// compared.
pub(crate) fn is_too_much(text: &[u8], repairs: usize) -> bool {
    text.len() >= u32::MAX as usize || repairs > UNSETTLED + text.trim_ascii_start().len() / 8
}

/// How many edits are kept that may still be dropped. A search that has more has no answer.
const UNSETTLED: usize = 1 << 13;

/// How much of a document is looked for again, in bytes.
const AGAIN: usize = 1_024;

/// How many steps a search may take, and how many more for each byte. One that needs more has no answer.
const STEPS: (u64, u64) = (1 << 14, 8);

/// Whether a text has spaces as byte-level tokens write them, so that where its words end must be searched.
pub(crate) fn has_token_spaces(text: &[u8]) -> bool {
    text.windows(2).any(|pair| pair == "Ċ".as_bytes())
}

/// Reads `input`, and returns the cheapest reading of it, and the nearest others that are less than `near` dearer.
/// `begin` is where the first document seems to begin.
pub(crate) fn search(
    input: &[u8],
    begin: usize,
    several: bool,
    depth: usize,
    near: u32,
) -> Option<Answer> {
    let mut search = Search::new(input, begin, several, depth, None, near);
    search.run();
    search.answer()
}

/// The closers that one repair adds are added one by one here.
fn single(repair: Repair) -> Vec<Repair> {
    if repair.kind() != RepairKind::MissingClose || repair.after().len() < 2 {
        return Vec::from([repair]);
    }
    let closers = repair.after().chars().map(|closer| {
        let closer = if closer == '}' { "}" } else { "]" };
        Repair::new(repair.kind(), repair.span(), closer)
    });
    closers.collect()
}

/// What the reading costs that makes these repairs, if it is one of those that can be found.
pub(crate) fn cost_of(
    repairs: &Repairs,
    input: &[u8],
    begin: usize,
    several: bool,
    depth: usize,
) -> (Option<u32>, u64) {
    let only: Vec<Repair> = repairs.iter().flat_map(single).collect();
    let mut search = Search::new(input, begin, several, depth, Some(&only), 0);
    search.run();
    let steps = search.steps;
    (search.answer().map(|answer| answer.cost), steps)
}

impl<'t> Search<'t> {
    fn new(
        input: &'t [u8],
        begin: usize,
        several: bool,
        depth: usize,
        only: Option<&'t [Repair]>,
        near: u32,
    ) -> Self {
        Self {
            input,
            only,
            depth: depth as u32,
            at: 0,
            steps: 0,
            // White space before the text does not make it anything else.
            most_steps: STEPS.0 + STEPS.1 * input.trim_ascii_start().len() as u64,
            stacks: Stacks::new(),
            lists: EditLists::new(),
            settled: Settled::default(),
            frontier: Frontier::new(near),
            layout: Layout::new(input),
            valid: Valid::NOTHING,
            lines: token::Next::new(b"\n"),
            blocks: token::Next::new(b"*/"),
            markup: token::Next::new(b"-->"),
            reasoning: token::Next::new(outside::REASONING_END),
            begin,
            several,
            ends: Vec::new(),
            others: Vec::new(),
        }
    }
}

struct Search<'t> {
    input: &'t [u8],
    /// The only repairs that a reading may make.
    only: Option<&'t [Repair]>,
    depth: u32,
    at: usize,
    steps: u64,
    most_steps: u64,
    stacks: Stacks,
    lists: EditLists,
    settled: Settled,
    frontier: Frontier,
    layout: Layout<'t>,
    /// The text that was read last as long as it was valid.
    valid: Valid,
    lines: token::Next,
    blocks: token::Next,
    markup: token::Next,
    reasoning: token::Next,
    /// Where the first document seems to begin.
    begin: usize,
    /// Whether there may be several documents.
    several: bool,
    /// The readings that have reached the end, and whether something had to be closed for it.
    ends: Vec<(Reading, bool)>,
    /// The nearest readings that are not the cheapest.
    others: Vec<Other>,
}

impl<'t> Search<'t> {
    fn run(&mut self) {
        let start = Reading {
            cost: 0,
            stack: Stack::EMPTY,
            edits: Edits::NONE,
            mode: Mode::Outside(Around::Nothing),
            last: 0,
            comma: NONE,
            document: 0,
            document_edits: Edits::NONE,
            key: 0,
            key_edits: Edits::NONE,
            documents: 0,
            made: 0,
            paid: 0,
            since: 0,
            around: 0,
            has_commands: false,
            has_escapes: false,
            has_tokens: false,
            habits: 0,
            state: 0,
        };
        self.frontier.arrive(0, start);
        if self.begin > 0 {
            self.frontier.arrive(self.begin, start);
        }
        let mut end = u32::MAX;
        let near = self.frontier.near();
        while let Some(mut next) = self.frontier.next(end.saturating_add(near)) {
            self.at = next.at;
            if settles(&mut next) && self.is_free(&next.reading) {
                if next.stage == Stage::Open {
                    self.frontier.wait(&next, APART);
                    continue;
                }
                let near = next.reading.cost.saturating_add(APART);
                if next.stage == Stage::Waiting && !self.frontier.release(near) {
                    self.frontier.clear();
                    self.settle_edits(&mut next.reading);
                    next.reading = self.skip_valid(next.reading);
                    if self.at > next.at {
                        self.frontier.arrive(self.at, next.reading);
                        continue;
                    }
                }
            }
            self.steps += 1;
            if self.steps > self.most_steps {
                // What is no cheaper than the answer is only compared with it.
                if next.reading.cost < end {
                    self.ends.clear();
                }
                break;
            }
            if self.at >= self.input.len() {
                self.end(next.reading);
                end = self.ends.iter().map(|(reading, _)| reading.cost).min().unwrap_or(end);
            } else {
                self.step(next.reading);
            }
            self.frontier.sweep();
            if self.lists.len() > 2 * UNSETTLED {
                let ends = self.ends.iter_mut().flat_map(|(reading, _)| reading.lists());
                let (edits, rivals) = self.frontier.edits();
                self.lists.keep(edits.chain(ends), rivals);
                if self.lists.len() > UNSETTLED {
                    // So many are not compared.
                    self.frontier.take_rivals();
                    let ends = self.ends.iter_mut().flat_map(|(reading, _)| reading.lists());
                    let (edits, rivals) = self.frontier.edits();
                    self.lists.keep(edits.chain(ends), rivals);
                }
                if self.lists.len() > UNSETTLED {
                    self.ends.clear();
                    break;
                }
            }
        }
    }

    /// The edits of the only reading are settled.
    fn settle_edits(&mut self, reading: &mut Reading) {
        // Those of a document that is begun again are not, nor what is compared with readings that are dearer still.
        let apart = self.frontier.near() <= APART && self.ends.is_empty();
        if apart && self.at - reading.document as usize > AGAIN {
            self.find_others(reading.edits);
            self.settle(reading.edits);
            self.lists.clear();
            for list in reading.lists() {
                *list = Edits::NONE;
            }
        }
    }

    fn step(&mut self, reading: Reading) {
        match reading.mode {
            Mode::Outside(around) => self.outside(reading, around),
            Mode::Value(after) => self.value(reading, after),
            Mode::Key(after) => self.key(reading, after),
            Mode::Colon => self.colon(reading),
            Mode::Rest => self.rest(reading),
            Mode::Close => self.close(reading),
            Mode::Text(text) => self.text(reading, text),
            Mode::Bare(bare) => self.bare(reading, bare),
        }
    }

    /// The text from here on.
    fn rest_of_text(&self) -> &'t [u8] {
        self.input.get(self.at..).unwrap_or_default()
    }

    fn byte(&self) -> u8 {
        self.input.get(self.at).copied().unwrap_or_default()
    }

    /// A reading goes on `length` bytes later.
    fn go(&mut self, reading: Reading, length: usize) {
        if reading.cost < FORBIDDEN {
            self.frontier.arrive(self.at + length, reading);
        }
    }

    /// The reading at a key that begins here.
    fn at_key(&self, mut reading: Reading) -> Reading {
        reading.key = self.at as u32;
        // If there is no value for it, a comma that was added before it is too many.
        if reading.mode != Mode::Key(After::Added) {
            reading.key_edits = reading.edits;
        }
        reading
    }

    /// Records a repair of the kind of its row.
    fn edit(
        &mut self,
        reading: &mut Reading,
        row: Row,
        start: usize,
        end: usize,
        text: impl Into<Cow<'static, str>>,
    ) {
        self.edit_as(reading, row, row.kind(), start, end, text);
    }

    /// Records a repair of another kind than that of its row.
    fn edit_as(
        &mut self,
        reading: &mut Reading,
        row: Row,
        kind: RepairKind,
        start: usize,
        end: usize,
        text: impl Into<Cow<'static, str>>,
    ) {
        let text = text.into();
        if let Some(only) = self.only {
            let place = |repair: &&Repair| (repair.start, repair.end) == (start, end);
            let from = only.partition_point(|repair| repair.start < start);
            let near = only[from..].iter().take_while(|repair| repair.start == start);
            let made = near.clone().filter(place).any(|repair| repair.after() == text);
            reading.made += 1;
            reading.cost = if made { reading.cost } else { FORBIDDEN };
        }
        let change = Change::Repair(kind, text);
        let edit = Edit { start: start as u32, end: end as u32, change };
        reading.edits = self.lists.push(reading.edits, edit);
        let known = row.habit().is_some_and(|habit| reading.habits & habit != 0);
        reading.habits |= row.habit().unwrap_or(0);
        let cost = if known { row.cost() / 5 } else { row.cost() };
        reading.cost = reading.cost.saturating_add(cost);
    }

    /// The reading after a value that ends at `end`.
    fn ended(&mut self, mut reading: Reading, end: usize) -> Reading {
        reading.last = end as u32;
        reading.comma = NONE;
        reading.mode = Mode::Rest;
        if reading.stack == Stack::EMPTY {
            let edit = Edit { start: reading.document, end: end as u32, change: Change::Document };
            reading.edits = self.lists.push(reading.edits, edit);
            reading.documents += 1;
            reading.mode = Mode::Outside(Around::Document);
        }
        reading
    }

    /// The reading inside of a new container, or none if that is too deep.
    fn opened(&mut self, mut reading: Reading, kind: Kind, end: usize) -> Option<Reading> {
        if self.stacks.depth(reading.stack) >= self.depth {
            return None;
        }
        let indent = self.layout.indent(self.at);
        reading.stack = self.stacks.push(reading.stack, kind, indent);
        reading.last = end as u32;
        reading.comma = NONE;
        reading.mode = match kind {
            Kind::Call => Mode::Value(After::Colon),
            kind if kind.has_members() => Mode::Key(After::Open),
            _ => Mode::Value(After::Open),
        };
        Some(reading)
    }

    /// The reading after the innermost container, which ends at `end`.
    fn closed(&mut self, mut reading: Reading, end: usize) -> Reading {
        reading.stack = self.stacks.below(reading.stack);
        self.ended(reading, end)
    }

    fn top(&self, reading: &Reading) -> Option<Kind> {
        self.stacks.top(reading.stack)
    }
}

/// Whether two readings of the same bytes expect the same of the rest.
fn same(one: &Reading, other: &Reading) -> bool {
    one.state == other.state && one.stack == other.stack && one.made == other.made
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use super::*;
    use crate::{MendOptions, Outcome, TrailingDocuments, apply, mend};

    /// What the cheapest reading makes of a text.
    fn read(text: &str) -> Option<String> {
        let found = search(text.as_bytes(), 0, false, 127, 0)?;
        apply(text.as_bytes(), &found.repairs)
            .map(|text| String::from_utf8_lossy(&text).to_string())
    }

    fn is_json(text: &str) -> bool {
        let options = MendOptions::new().with_trailing_documents(TrailingDocuments::All);
        mend(text.as_bytes(), &options).outcome() == Outcome::Unchanged
    }

    #[test]
    fn the_repairs_of_the_cheapest_reading_give_json() {
        const TOKENS: [&str; 12] = ["{", "}", "[", "]", "\"", "a", ":", ",", " ", "1", "'", "\\"];
        let mut wrong = Vec::new();
        for number in 0..TOKENS.len().pow(4) {
            let mut text = String::from(if number % 2 == 0 { "{" } else { "[" });
            let mut rest = number;
            for _ in 0..4 {
                text.push_str(TOKENS[rest % TOKENS.len()]);
                rest /= TOKENS.len();
            }
            match read(&text) {
                Some(mended) if !is_json(&mended) => wrong.push((text, mended)),
                _ => {}
            }
        }
        assert!(wrong.is_empty(), "{} of them: {:?}", wrong.len(), &wrong[..wrong.len().min(20)]);
    }

    #[test]
    fn a_text_is_read_alike_however_much_valid_text_is_before_it() {
        let broken = r#"{"a": "x"b": "y"}"#;
        for items in [0, 1, 5, 50] {
            let valid = r#"{"name": "Ada", "tags": ["a", "b"], "born": 1815}, "#.repeat(items);
            let text = alloc::format!("[{valid}{broken}]");
            let want = alloc::format!("[{valid}{}]", r#"{"a": "x","b": "y"}"#);
            assert_eq!(read(&text), Some(want), "{items}");
        }
    }

    #[test]
    fn repairs_are_priced_as_the_reading_that_makes_them() {
        let text = br#"{"a": "x"b": "y"}"#;
        let found = search(text, 0, false, 127, 0).unwrap();
        let own = found.repairs.clone();
        assert_eq!(cost_of(&own, text, 0, false, 127).0, Some(found.cost));
        let other = mend(br#"{"a": 1,}"#, &MendOptions::new());
        assert_eq!(cost_of(other.repairs(), text, 0, false, 127).0, None);
    }
}
