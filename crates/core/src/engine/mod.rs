//! Scan and recover: reads input, records edits, and moves the mark behind which all is certain.
//!
//! The engine writes nothing. It keeps two offsets: `pos`, up to which it has read, and `mark`, up
//! to which its reading is certain. Output is the input up to the mark with the edits applied, so
//! that the edit script is true by construction. Input from the mark on is kept by the caller and
//! given again. Everything the engine decides depends on bytes, never on where a chunk ends.

mod after;
mod bare;
mod close;
mod edits;
mod escapes;
mod finish;
mod frames;
mod guided;
mod lane;
mod members;
mod number;
mod quote;
mod quotes;
mod source;
mod strings;
mod structure;
mod token;
mod word;

use alloc::vec::Vec;
use core::fmt;

pub(crate) use edits::Edit;
use frames::Frames;
use lane::Lane;
use source::Look;
pub(crate) use source::Source;

use crate::{
    Options, Outcome, Path, Repair, RepairKind,
    grammar::{Action, Expect, Token, decide},
};

/// Look-ahead of the whole-text path, in bytes.
const WHOLE_WINDOW: usize = 1024;

/// Why the engine gave up; the text passes through raw from the mark on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The input ended within a document, and the policy forbids closing it.
    Cut,
    /// There is no JSON.
    Nothing,
    /// A limit was passed.
    Overflow,
    /// A repair is needed that the policy forbids.
    Refused,
}

/// Inside what the engine stands, below the grammar of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lex {
    /// Between tokens.
    None,
    /// In a string, with or without quotes.
    Text(Text),
    /// In a number that is longer than the look-ahead.
    Digits(number::Part),
    /// In a comment.
    Comment(Comment),
    /// In text before a document.
    Prose,
    /// In words between members that belong to none.
    Stray,
    /// Behind the last document: everything is dropped.
    Tail,
}

/// A string that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Text {
    quote: quote::Quote,
    is_key: bool,
    /// How many quotes delimit it: 1, 2 or 3. Without quotes 0.
    quotes: u8,
    /// Brackets opened inside a string without quotes.
    nested: u8,
}

/// A value in double quotes, as JSON has it.
const PLAIN: Text = Text { quote: quote::Quote::Double, is_key: false, quotes: 1, nested: 0 };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comment {
    Block,
    Line,
    Markup,
}

/// Whether a step took place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Go,
    Wait,
}

/// `?` on a look-ahead inside a step: waits where the bytes have not arrived.
macro_rules! look {
    ($result:expr, $otherwise:expr) => {
        match $result {
            Ok(value) => value,
            Err($crate::engine::source::Edge::More) => return Ok(Flow::Wait),
            Err(_) => $otherwise,
        }
    };
}
use look;

type Step = Result<Flow, Stop>;

#[derive(Clone, Debug)]
pub(crate) struct Engine {
    options: Options,
    /// The whole-text path: nothing leaves before the end, so that a repair may reach behind.
    whole: bool,
    window: usize,
    /// How many bytes may be held back.
    most_held: usize,
    expect: Expect,
    lex: Lex,
    frames: Frames,
    /// Read up to here.
    pos: usize,
    /// Certain up to here; never beyond `pos`.
    mark: usize,
    /// Handed out up to here; never beyond `mark`.
    emitted: usize,
    /// Edits not handed out yet, in order; the first `firm` of them lie before the mark.
    edits: Vec<Edit>,
    firm: usize,
    recorded: usize,
    serial: usize,
    /// Whether the output up to the mark ends inside a string.
    mark_in_string: bool,
    /// Where the present wait for a token began: behind a bracket or a value.
    anchor: usize,
    /// Where the pending comma stands, or would; `usize::MAX` before the first member.
    comma: usize,
    /// Its length: 0 where it was inserted.
    comma_length: usize,
    /// Where the pending member's key starts.
    key_start: usize,
    /// How many edits were made before the pending member.
    member_edits: usize,
    /// Where the open string's content, comment or stray text starts.
    lex_start: usize,
    /// Where the value starts that a colon was inserted before.
    uncoloned: usize,
    /// Quotes in the open string that were taken for part of it.
    inner_quotes: usize,
    inner: quotes::Inner,
    /// Quotes within strings so far that were not escaped, apostrophes aside.
    unescaped: usize,
    /// A fence was closed behind the document: what follows is none of it.
    fenced: bool,
    /// Where the open string ends, once the rest of the text has told.
    definite_end: Option<usize>,
    /// How many steps may still go into trying the rest of the text.
    rest_budget: usize,
    tried: quotes::Tried,
    /// From where on the rest of the text is its last line, and where that ends, once a comment on
    /// it has asked.
    last_line: Option<(usize, usize)>,
    /// Where the string that was read last was closed, while that can still be undone.
    closed_string: Option<usize>,
    /// Behind the last text that was dropped, and was more than what tokens do without.
    stray: usize,
    /// Whether the document is escaped once too often, as far as it was read.
    escaped: bool,
    /// A comma inside a string, and the edits before it, while only white space follows.
    tail: Option<usize>,
    /// Where the text begins that is dropped, once a document has ended for good.
    dropping: Option<usize>,
    dropping_kind: RepairKind,
    /// What the text is that stands behind a document, where another may follow.
    prose_kind: RepairKind,
    documents: usize,
    /// Whether the last document stood in a call.
    wrapped: bool,
    document_end: Option<usize>,
    document_start: usize,
    /// How many items the container had that was closed last.
    closed_items: usize,
    /// Where an object has ended, if that ended last.
    closed_object: usize,
    /// Where the document was cut off.
    cut: Option<Path>,
    /// The repair that the policy forbade.
    refused: Option<Repair>,
    /// More was held back than the limit allows.
    over: bool,
    stop_at_end: bool,
    lane: Lane,
    steps: u64,
}

impl Engine {
    pub(crate) fn streaming(options: Options) -> Self {
        let window = options.limits().lookahead();
        Self::new(options, false, window)
    }

    pub(crate) fn whole(options: Options) -> Self {
        Self::new(options, true, WHOLE_WINDOW)
    }

    fn new(options: Options, whole: bool, window: usize) -> Self {
        // A doubtful place takes the look-ahead and a byte: with less it would matter whether that
        // comes at once.
        let buffer = options.limits().buffer().max(window.saturating_add(1));
        let most_held = if whole { usize::MAX } else { buffer };
        Self {
            options,
            whole,
            window,
            most_held,
            expect: Expect::Document,
            lex: Lex::None,
            frames: Frames::default(),
            pos: 0,
            mark: 0,
            emitted: 0,
            edits: Vec::new(),
            firm: 0,
            recorded: 0,
            serial: 0,
            mark_in_string: false,
            anchor: 0,
            comma: 0,
            comma_length: 0,
            key_start: 0,
            member_edits: 0,
            lex_start: 0,
            uncoloned: usize::MAX,
            inner_quotes: 0,
            inner: quotes::Inner::default(),
            unescaped: 0,
            fenced: false,
            definite_end: None,
            rest_budget: 0,
            tried: quotes::Tried::default(),
            last_line: None,
            closed_string: None,
            stray: 0,
            escaped: false,
            tail: None,
            dropping: None,
            dropping_kind: RepairKind::TrailingProse,
            prose_kind: RepairKind::TrailingProse,
            documents: 0,
            wrapped: false,
            document_end: None,
            document_start: 0,
            closed_items: 0,
            closed_object: usize::MAX,
            cut: None,
            refused: None,
            over: false,
            stop_at_end: false,
            lane: Lane::LEFT,
            steps: 0,
        }
    }

    pub(crate) fn reset(&mut self) {
        let mut frames = core::mem::take(&mut self.frames);
        let mut edits = core::mem::take(&mut self.edits);
        let options = core::mem::take(&mut self.options);
        frames.reset();
        edits.clear();
        *self = Self { frames, edits, ..Self::new(options, self.whole, self.window) };
    }

    pub(crate) const fn mark(&self) -> usize {
        self.mark
    }

    pub(crate) const fn emitted(&self) -> usize {
        self.emitted
    }

    pub(crate) const fn dropping(&self) -> Option<usize> {
        self.dropping
    }

    pub(crate) fn depth(&self) -> usize {
        self.frames.depth()
    }

    /// The most containers that were open at a time.
    pub(crate) fn deepest(&self) -> usize {
        self.frames.deepest()
    }

    /// How many quotes within strings were not escaped.
    pub(crate) const fn unescaped(&self) -> usize {
        self.unescaped
    }

    pub(crate) const fn documents(&self) -> usize {
        self.documents
    }

    /// Whether the first document has ended, and nothing behind it is to be read.
    pub(crate) const fn is_stopped(&self) -> bool {
        self.stop_at_end && self.documents > 0
    }

    /// Whether to read nothing behind the first document.
    pub(crate) const fn stop_at_end(&mut self, stop: bool) {
        self.stop_at_end = stop;
    }

    pub(crate) const fn document_end(&self) -> Option<usize> {
        self.document_end
    }

    pub(crate) fn path(&self) -> Path {
        self.cut.clone().unwrap_or_else(|| self.frames.path())
    }

    /// The repair that the policy forbade, once it stopped the engine.
    pub(crate) const fn refused(&self) -> Option<&Repair> {
        self.refused.as_ref()
    }

    /// Steps taken and bytes looked at, for tests of linearity.
    pub(crate) const fn steps(&self) -> u64 {
        self.steps
    }

    /// Whether the output up to the mark lies within a document.
    pub(crate) fn in_document(&self) -> bool {
        self.mark_in_string || self.frames.depth() > 0
    }

    pub(crate) fn outcome(&self, repairs: usize) -> Outcome {
        if self.documents == 0 {
            Outcome::None
        } else if self.cut.is_some() {
            Outcome::Closed
        } else if repairs > 0 {
            Outcome::Repaired
        } else {
            Outcome::Unchanged
        }
    }

    pub(crate) fn write_completion(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        if self.mark_in_string {
            f.write_char('"')?;
        }
        self.frames.closers().try_for_each(|closer| f.write_char(closer))
    }

    /// Whether the input up to the mark leaves as it came.
    #[inline]
    pub(crate) const fn is_plain(&self) -> bool {
        self.firm == 0 && self.dropping.is_none()
    }

    /// The input up to the mark is handed out.
    #[inline]
    pub(crate) const fn emit_plain(&mut self) {
        self.emitted = self.mark;
    }

    /// Hands over the edits before the mark.
    pub(crate) fn drain(&mut self, take: impl FnMut(Edit)) {
        self.edits.drain(..self.firm).for_each(take);
        self.firm = 0;
        self.emitted = self.mark;
    }

    /// Hands over all edits.
    pub(crate) fn drain_all(&mut self, take: impl FnMut(Edit)) {
        self.firm = self.edits.len();
        self.drain(take);
    }

    /// Reads as far as the bytes allow.
    pub(crate) fn run(&mut self, source: Source<'_>) -> Result<(), Stop> {
        let mut idle = 0;
        // The lane is entered behind a step only, so that it does not matter where a chunk ends.
        let mut stepped = false;
        self.leave_lane();
        let mut most = self.frames.len() + 8;
        if self.whole && self.pos == 0 {
            self.rest_budget = 8 * source.text().len() + 4096;
        }
        loop {
            if self.is_stopped() {
                return Ok(());
            }
            let before = self.pos;
            if stepped && self.enter_lane(&source) == Flow::Wait {
                return Ok(());
            }
            let flow = match self.lex {
                Lex::None => self.structure(&source),
                Lex::Text(text) if text.quotes == 0 => self.bare(&source, text),
                Lex::Text(text) => self.string(&source, text),
                Lex::Digits(part) => self.digits(&source, part),
                Lex::Comment(comment) => self.comment(&source, comment),
                Lex::Prose => self.prose(&source),
                Lex::Stray => self.stray(&source),
                Lex::Tail => self.tail_text(&source),
            };
            // What was read before a stop was read, too.
            self.steps += 1 + self.pos.saturating_sub(before) as u64;
            let flow = flow?;
            if self.over {
                return Err(Stop::Overflow);
            }
            self.check_held()?;
            if flow == Flow::Wait {
                return Ok(());
            }
            stepped = true;
            // Bytes left, then frames and edits: some of them must change at every step.
            if self.pos == before {
                idle += 1;
            } else {
                (idle, most) = (0, self.frames.len() + 8);
            }
            debug_assert!(idle <= most, "no progress at {before}: {self:?}");
            if idle > most + 56 {
                return Err(Stop::Refused);
            }
        }
    }

    /// Stops when more is held back than the limit allows. What counts is how far the engine has
    /// read, not how much has arrived, so that cuts do not matter.
    #[inline]
    fn check_held(&self) -> Result<(), Stop> {
        self.held_at(self.pos)
    }

    /// The same, once it has read up to `pos`.
    #[inline]
    fn held_at(&self, pos: usize) -> Result<(), Stop> {
        let held = pos.saturating_sub(self.mark);
        if held > self.most_held { Err(Stop::Overflow) } else { Ok(()) }
    }

    /// Everything read so far is certain, unless too much was held back for it.
    #[inline]
    fn settle(&mut self) {
        if self.check_held().is_err() {
            self.over = true;
            return;
        }
        self.settle_content();
    }

    /// Content of a string that was read is certain, however long it is.
    #[inline]
    fn settle_content(&mut self) {
        self.mark = self.pos;
        self.firm = self.edits.len();
        self.mark_in_string = matches!(self.lex, Lex::Text(text) if !text.is_key);
        self.closed_string = None;
    }

    /// A cursor of the usual width.
    fn look<'a>(&mut self, source: &Source<'a>, at: usize) -> Look<'a> {
        source.look(at, self.window).in_escaped(self.escaped)
    }
}
