//! A cursor follows a schema while a value arrives, and [`Fitter`] fits the value at the end.
//!
//! The cursor applies the events of the text to the slots of the schema (`walk.rs`, `slots.rs`), checks scalars while
//! they arrive (`scalars.rs`), and judges whether what is wrong can still become right (`prospects.rs`).

mod prospects;
mod scalars;
mod slots;
mod walk;

use std::fmt;

use walk::Walk;
use wiremend_core::{
    EventReader, JsonType, Outcome, Output, Repair, RepairKind, Value, buffer::BoundedBuffer,
    tree::Tree,
};
use wiremend_extract::{Finder, Scope, TextSink};

use crate::{Applied, Change, FitOptions, Fitted, Schema, code::coded};

pub use prospects::{EarlyIssue, Standing};
pub use walk::Expected;

/// Follows a schema while a value is still arriving.
///
/// A cursor is an [`Output`]: pass it to a [`Mender`](wiremend_core::Mender). It knows what is
/// [expected](Self::expected) next, converts scalars to their types when they end, reports as soon
/// as [nothing valid can follow](Self::early_issues), and keeps the [value so far](Self::root), with a
/// state for each node. Of several documents, it follows the first.
///
/// A union is followed in every branch that is still possible. Conditions that need the whole value
/// are not checked: whether items are unique, `if`, `not`, and the rules that restructure an
/// object. [`Schema::fit`] checks them at the end, and [`Fitter`] does both.
///
/// ```
/// use wiremend_core::{Mender, MendOptions};
/// use wiremend_schema::{Cursor, FitOptions, NodeState, Schema, Standing};
///
/// let schema = Schema::from_text(
///     r#"{"properties": {"count": {"type": "integer"}, "unit": {"enum": ["kg", "lb"]}},
///         "required": ["count"], "additionalProperties": false}"#,
/// )?;
/// let mut cursor = Cursor::new(&schema, &FitOptions::new());
/// let mut mender = Mender::new(MendOptions::new());
/// mender.push(b"{count: '4", &mut cursor);
/// assert_eq!(cursor.root().unwrap().to_string(), "{}", "it will be a number");
/// mender.push(b"2', unit: 'k", &mut cursor);
/// assert_eq!(cursor.root().unwrap().to_string(), r#"{"count":42}"#);
/// assert_eq!(cursor.root().unwrap().member("count").unwrap().state(), NodeState::Final);
/// assert_eq!(cursor.expected().values(), ["kg"]);
/// mender.push(b"m'}", &mut cursor);
/// mender.finish(&mut cursor);
/// assert_eq!(cursor.early_issues()[0].standing(), Standing::Definite);
/// assert_eq!(cursor.early_issues()[0].to_string(), r#"/unit: expected one of "kg", "lb", got string "km""#);
/// # Ok::<(), wiremend_schema::SchemaError>(())
/// ```
///
/// The cost of a chunk depends on its own size, not on what came before. The cursor keeps the value
/// so far, a few words per level, and the slots of the schema that were visited.
#[derive(Clone, Debug)]
pub struct Cursor {
    reader: EventReader,
    walk: Walk,
}

impl Cursor {
    /// Creates a cursor at the start of a value. The highest risk, the enabled rules and the name
    /// are taken from `options`. Scalars are coerced by rules up to
    /// [`Risk::Likely`](wiremend_core::Risk::Likely) at most.
    #[must_use]
    pub fn new(schema: &Schema, options: &FitOptions) -> Self {
        Self { reader: EventReader::new(), walk: Walk::new(schema, options) }
    }

    /// The text ends with the value: nothing that follows belongs to it. For the other crates.
    #[doc(hidden)]
    pub const fn end_with_root(&mut self) {
        self.walk.ends_with_root = true;
    }

    /// The text may be read otherwise in the end, so nothing that is found from here on is
    /// [`Standing::Lost`]. For the other crates: a repair that the cursor is told of counts by itself.
    #[doc(hidden)]
    pub const fn doubt_reading(&mut self) {
        self.walk.unsure = true;
    }

    /// The value so far; `None` until it begins.
    #[must_use]
    pub fn root(&self) -> Option<Snapshot<'_>> {
        self.walk.partial().root()
    }

    /// Whether the value has ended.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.walk.is_done()
    }

    /// How many bytes of mended text it has read.
    #[must_use]
    pub const fn bytes_read(&self) -> usize {
        self.reader.offset()
    }

    /// What may come next.
    #[must_use]
    pub fn expected(&self) -> Expected<'_> {
        self.walk.expected()
    }

    /// The problems that no further input can fix, in the order in which they were found; at most
    /// 1,000. An early issue is never withdrawn. It can be wrong only if its key is repeated later,
    /// because the last value of a key counts.
    #[must_use]
    pub fn early_issues(&self) -> &[EarlyIssue] {
        self.walk.early_issues()
    }

    /// The first early issue that no rule can fix either, which is a reason to stop the generation.
    ///
    /// There is none under a policy that allows guesses, because such a policy gives up on nothing
    /// early. See [`Policy::CONSERVATIVE`](wiremend_core::Policy::CONSERVATIVE). Nor is there one after a
    /// repair of a higher risk than [`Exact`](wiremend_core::Risk::Exact), such as a missing comma: the
    /// whole text may show another reading. That a property is missing at the end of the value is not
    /// one, because the bracket may be one too many.
    #[must_use]
    pub fn lost(&self) -> Option<&EarlyIssue> {
        self.walk.early_issues().iter().find(|issue| issue.standing() == Standing::Lost)
    }

    /// What is missing so far, outermost first: required properties and items of open objects and
    /// arrays, and the rest of a listed value. The cost grows with the number of requirements of
    /// the open objects.
    #[must_use]
    pub fn pending(&self) -> Vec<EarlyIssue> {
        self.walk.pending()
    }

    /// The scalars that were coerced, in order, with their positions in the original input. Each
    /// change includes the repairs within its bytes.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        self.walk.changes()
    }

    /// The same changes, with the rules that made them.
    #[must_use]
    pub fn applied(&self) -> &[Applied] {
        self.walk.applied()
    }

    /// Whether what was read so far stays as it was written: no scalar was coerced, no issue was
    /// found, and the last value is not [pending](NodeState::Pending). Only a rule that restructures
    /// an enclosing value at the end may still change it.
    ///
    /// ```
    /// use wiremend_core::{Mender, MendOptions};
    /// use wiremend_schema::{Cursor, FitOptions, Schema};
    ///
    /// let schema = Schema::from_text(r#"{"properties": {"name": {"type": "string"}, "n": {"type": "integer"}}}"#)?;
    /// let mut cursor = Cursor::new(&schema, &FitOptions::new());
    /// let mut mender = Mender::new(MendOptions::new());
    /// mender.push(br#"{"name": "Ada Lov"#, &mut cursor);
    /// assert!(cursor.is_as_written());
    /// mender.push(br#"elace", "n": "4"#, &mut cursor);
    /// assert!(!cursor.is_as_written(), "it will be a number");
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn is_as_written(&self) -> bool {
        let is_pending = self.walk.partial().states.last() == Some(&NodeState::Pending);
        !is_pending && self.changes().is_empty() && self.early_issues().is_empty()
    }

    /// Starts over with the next value. The buffers, and what is known about the schema, are kept.
    pub fn reset(&mut self) {
        self.reader.reset();
        self.walk.reset();
    }
}

impl Output for Cursor {
    fn copy(&mut self, bytes: &[u8]) {
        let walk = &mut self.walk;
        self.reader.read(bytes, &mut |at, event| walk.step(at, event));
    }

    /// Ends an open number or literal.
    fn settle(&mut self) {
        let walk = &mut self.walk;
        self.reader.end_token(&mut |at, event| walk.step(at, event));
    }

    /// Raw text is ignored.
    fn raw(&mut self) {
        self.reader.stop();
    }

    fn repair(&mut self, repair: Repair) {
        // A number that came in one slice with what is repaired after it ends as early as by itself.
        if !is_of_number(repair.kind()) {
            Output::settle(self);
        }
        self.walk.repaired(self.reader.offset(), &repair);
    }
}

/// Whether a repair may be inside of a number.
const fn is_of_number(kind: RepairKind) -> bool {
    use RepairKind::{
        CutNumber, DigitSeparator, Fraction, HexNumber, LeadingDot, LeadingPlus, LeadingZero,
        NonFinite, TrailingDot,
    };
    matches!(
        kind,
        CutNumber
            | DigitSeparator
            | Fraction
            | HexNumber
            | LeadingDot
            | LeadingPlus
            | LeadingZero
            | NonFinite
            | TrailingDot
    )
}

/// Finds, mends and follows a value while its text arrives, and [fits](Schema::fit) it at the end.
///
/// Call [`push`](Self::push) any number of times, [`cursor`](Self::cursor) at any time, and
/// [`finish`](Self::finish) at the end. `finish` returns what [`Schema::fit`] returns for the whole
/// text. For that, the input is kept, up to the buffer limit of the engine's options.
///
/// ```
/// use wiremend_core::Outcome;
/// use wiremend_schema::{FitOptions, Fitter, Schema};
///
/// let schema = Schema::from_text(r#"{"properties": {"n": {"type": "integer"}}, "required": ["n"]}"#)?;
/// let mut stream = Fitter::new(&schema, FitOptions::new());
/// stream.push(b"{\"n\": \"12\", \"note\": \"words that come slowly, one by one, until there is no");
/// let root = stream.cursor().root().unwrap();
/// assert_eq!(root.member("n").unwrap().as_number(), Some("12"));
/// stream.push(b"ne\"}");
/// let fitted = stream.finish();
/// assert_eq!(fitted.outcome(), Outcome::Repaired);
/// assert!(fitted.text().unwrap().starts_with(r#"{"n": 12, "note""#));
/// # Ok::<(), wiremend_schema::SchemaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fitter {
    schema: Schema,
    options: FitOptions,
    extractor: Finder,
    cursor: Cursor,
    raw: BoundedBuffer,
    /// The number of bytes received.
    length: usize,
    /// Whether anything but white space has been received.
    begun: bool,
    ended: bool,
}

impl Fitter {
    /// Creates a stream at the start of a text.
    #[must_use]
    pub fn new(schema: &Schema, options: FitOptions) -> Self {
        // Which document is the last or the best is only known at the end, so the first one is
        // shown until then.
        let scope = match options.scope() {
            Scope::Best | Scope::Last | Scope::All => Scope::First,
            scope => scope,
        };
        Self {
            extractor: Finder::new(scope, options.mending_for(schema)),
            cursor: Cursor::new(schema, &options),
            schema: schema.clone(),
            raw: BoundedBuffer::new(options.mending().limits().buffer()),
            options,
            length: 0,
            begun: false,
            ended: false,
        }
    }

    /// Reads a chunk, which may end anywhere, even inside a character. Nothing is read after the
    /// end of the text.
    pub fn push(&mut self, chunk: &[u8]) {
        if self.ended {
            return;
        }
        self.length += chunk.len();
        self.raw.push(chunk);
        if !self.begun
            && let Some(first) = chunk.iter().find(|byte| !byte.is_ascii_whitespace())
        {
            self.begun = true;
            if *first == b'"' && self.read_as_string() {
                return;
            }
        }
        self.extractor.push(chunk, &mut self.cursor);
    }

    /// A text that begins with a quote is a single string, and a document inside it is part of its
    /// content. Only white space has been read so far, so reading can start again.
    fn read_as_string(&mut self) -> bool {
        let Some(raw) = self.raw.get().filter(|_| self.options.scope() == Scope::Best) else {
            return false;
        };
        self.extractor = Finder::new(Scope::Whole, self.options.mending_for(&self.schema));
        self.extractor.push(raw, &mut self.cursor);
        true
    }

    /// What is known so far. If the text contains several values, this is the first one: even if
    /// [`lost`](Cursor::lost) reports it, a later value may fit, or XML around it.
    #[must_use]
    pub const fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    /// Why the cursor follows the text no further, if it does not: a limit, or a repair that the
    /// policy forbids. Once the text has exceeded the buffer limit, this is [`Outcome::Overflow`], as
    /// [`finish`](Self::finish) will return, even if the cursor still follows it.
    ///
    /// ```
    /// use wiremend_core::{Limits, MendOptions, Outcome};
    /// use wiremend_schema::{FitOptions, Fitter, Schema};
    /// let schema = Schema::from_text("{}")?;
    /// let limits = Limits::new().with_depth(1);
    /// let options = FitOptions::new().with_mending(MendOptions::new().with_limits(limits));
    /// let mut stream = Fitter::new(&schema, options);
    /// stream.push(b"[1, ");
    /// assert_eq!(stream.stopped(), None);
    /// stream.push(b"[2");
    /// assert_eq!(stream.stopped(), Some(Outcome::Overflow));
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn stopped(&self) -> Option<Outcome> {
        if self.raw.is_whole() { self.extractor.stopped() } else { Some(Outcome::Overflow) }
    }

    /// Ends the text for the cursor. [`finish`](Self::finish) does this as well.
    pub fn end(&mut self) {
        if !self.ended {
            self.extractor.finish(&mut self.cursor);
            self.ended = true;
        }
    }

    /// Ends the text and returns the fitted value. If the text exceeded the buffer limit, the
    /// outcome is [`Outcome::Overflow`]: it was shown, but cannot be read again.
    #[must_use]
    pub fn finish(mut self) -> Fitted {
        self.end();
        match self.raw.get() {
            Some(raw) => self.schema.fit(raw, &self.options),
            None => Fitted::overflow(self.length),
        }
    }
}

impl TextSink for Cursor {
    fn begin(&mut self, offset: usize) {
        if self.reader.offset() == 0 {
            self.walk.begins_at(offset);
        }
    }
    fn json(&mut self, bytes: &[u8]) {
        Output::copy(self, bytes);
    }
    fn settle(&mut self) {
        Output::settle(self);
    }
    fn raw(&mut self) {
        Output::raw(self);
    }
    fn repair(&mut self, repair: Repair) {
        Output::repair(self, repair);
    }
    fn end(&mut self, _: Outcome) {}
}

// The value so far, as coerced by the schema.

/// How far a value in a [`Snapshot`] can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NodeState {
    /// The value has begun, but it is not known yet what it will be: a string that may become a
    /// number when it ends, or the beginning of a listed value. It is not shown.
    Pending,
    /// The value can be shown. It may still grow, and if it does not fit its schema, a rule may
    /// change it at the end.
    Tentative,
    /// The value has ended and fits its schema. It will not change, unless an enclosing value is
    /// restructured at the end.
    Final,
}

impl NodeState {
    /// All states, in the order in which a value passes through them.
    pub const ALL: &'static [Self] = &[Self::Pending, Self::Tentative, Self::Final];

    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Tentative => "tentative",
            Self::Final => "final",
        }
    }
}

coded!(NodeState, "node state");

/// The tree of the core, with a state for each value.
#[derive(Clone, Debug, Default)]
struct PartialTree {
    tree: Tree,
    /// By the number of the value.
    states: Vec<NodeState>,
}

impl PartialTree {
    fn clear(&mut self) {
        self.tree.clear();
        self.states.clear();
    }

    fn root(&self) -> Option<Snapshot<'_>> {
        self.at(0)
    }

    /// The value with that number.
    fn at(&self, at: usize) -> Option<Snapshot<'_>> {
        self.tree.value(at).map(|value| Snapshot { value, states: &self.states })
    }

    /// Stores the key of the next value.
    fn key(&mut self, key: &str) {
        self.tree.key(key);
    }

    /// Adds a string or a container, and returns its number.
    fn begin(&mut self, kind: JsonType, state: NodeState) -> usize {
        self.states.push(state);
        self.tree.begin(kind)
    }

    /// Adds another scalar, and returns its number.
    fn scalar(&mut self, kind: JsonType, spelled: &str) -> usize {
        self.states.push(NodeState::Tentative);
        self.tree.scalar(kind, spelled)
    }

    /// Appends content to the open string.
    fn grow(&mut self, text: &str) {
        self.tree.extend(text);
    }

    /// The content of a string.
    fn content(&self, at: usize) -> &str {
        self.tree.value(at).and_then(|value| value.as_str()).unwrap_or_default()
    }

    /// How many items or members it has so far.
    fn len(&self, at: usize) -> usize {
        self.tree.value(at).map_or(0, |value| value.len())
    }

    /// Ends a value.
    fn close(&mut self, at: usize, state: NodeState) {
        if self.tree.value(at).is_some_and(|value| value.is_open()) {
            self.tree.close();
        }
        self.set_state(at, state);
    }

    fn set_state(&mut self, at: usize, state: NodeState) {
        if let Some(own) = self.states.get_mut(at) {
            *own = state;
        }
    }

    /// Makes another scalar of the last value, which is one.
    fn replace_last(&mut self, kind: JsonType, spelled: &str) {
        self.tree.replace_last(kind, spelled);
    }
}

/// A borrowed view of one value in a [`Cursor`](Cursor): the part that has arrived, coerced,
/// and its state. Creating one is free.
///
/// It is displayed as JSON. Open values are closed, and [pending](NodeState::Pending) values are
/// left out.
#[derive(Clone, Copy)]
pub struct Snapshot<'c> {
    value: Value<'c>,
    states: &'c [NodeState],
}

impl<'c> Snapshot<'c> {
    /// The type of the value. While the value is pending, the type of what was written so far.
    #[must_use]
    pub fn kind(&self) -> JsonType {
        self.value.kind()
    }

    /// How far the value can be relied on.
    #[must_use]
    pub fn state(&self) -> NodeState {
        self.state_of(self.value)
    }

    fn state_of(&self, value: Value<'c>) -> NodeState {
        self.states.get(value.index()).copied().unwrap_or(NodeState::Tentative)
    }

    /// Whether the value may still grow.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.value.is_open()
    }

    /// Its key, decoded, if it is a member.
    #[must_use]
    pub fn key(&self) -> Option<&'c str> {
        self.value.key()
    }

    /// The content of a string, as far as it has arrived.
    #[must_use]
    pub fn as_str(&self) -> Option<&'c str> {
        self.value.as_str()
    }

    /// The text of a number, as it is written.
    #[must_use]
    pub fn as_number(&self) -> Option<&'c str> {
        self.value.as_number()
    }

    /// The boolean, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        self.value.as_bool()
    }

    /// The members or items so far, in order.
    pub fn children(&self) -> impl Iterator<Item = Snapshot<'c>> + use<'c> {
        let states = self.states;
        self.value.children().map(move |value| Snapshot { value, states })
    }

    /// The last member with this key.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<Snapshot<'c>> {
        self.value.member(key).map(|value| Snapshot { value, ..*self })
    }

    /// The item at this position.
    #[must_use]
    pub fn item(&self, index: usize) -> Option<Snapshot<'c>> {
        self.value.item(index).map(|value| Snapshot { value, ..*self })
    }
}

impl fmt::Debug for Snapshot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Snapshot({}, {:?})", self.kind(), self.state())
    }
}

impl fmt::Display for Snapshot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value| self.state_of(value) != NodeState::Pending;
        if shown(self.value) { self.value.write_with(f, shown) } else { Ok(()) }
    }
}
