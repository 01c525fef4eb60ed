//! Reads input, records edits, and moves the position up to which everything is certain.
//!
//! The engine writes nothing. It keeps two offsets: `pos`, up to which it has read, and
//! `committed`, up to which its reading is certain. The output is the input up to `committed` with
//! the edits applied, so the edit script is correct by construction. The caller keeps the input
//! after `committed` and passes it again. All decisions depend on bytes, never on where a chunk
//! ends.

mod after;
mod bare;
mod close;
mod edits;
mod escapes;
mod fast;
mod finish;
mod follows;
mod frames;
mod guided;
mod lex;
mod members;
mod number;
mod prose;
mod quote;
mod quotes;
mod source;
mod strings;
mod structure;
mod token;
mod word;

use alloc::vec::Vec;
use core::{cell::Cell, fmt};

pub(crate) use edits::Edit;
use fast::FastPath;
use frames::Frames;
use lex::{Comment, Lex, PLAIN, Text};
use source::{Look, Source};
pub(crate) use source::{Part, wide_space};

use crate::{
    Options, Outcome, Path, Repair, RepairKind,
    grammar::{Action, Expect, Token, decide},
};

/// Look-ahead of the whole-text path, in bytes.
const WHOLE_WINDOW: usize = 1024;

/// Why the engine gave up. The input after the committed position passes through raw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The input ended within a document, and the policy forbids closing it.
    Cut,
    /// There is no JSON.
    Nothing,
    /// More edits would have to be kept than the whole text may take. It must be read piece by
    /// piece.
    Crowded,
    /// A limit was passed.
    Overflow,
    /// A repair is needed that the policy forbids.
    Refused,
}

/// Whether a step made progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Go,
    Wait,
}

/// Like `?` for a result of look-ahead in a step: returns to wait if the bytes have not arrived,
/// and yields `$otherwise` if they never will or are out of sight.
macro_rules! try_peek {
    ($result:expr, $otherwise:expr) => {
        match $result {
            Ok(value) => value,
            Err($crate::engine::source::Edge::More) => return Ok(Flow::Wait),
            Err(_) => $otherwise,
        }
    };
}
use try_peek;

type Step = Result<Flow, Stop>;

#[derive(Clone, Debug)]
pub(crate) struct Engine {
    options: Options,
    /// Whether this is the whole-text path. Nothing is emitted before the end, so edits may be made
    /// anywhere.
    whole: bool,
    /// Whether the documents after the first can still be joined or chosen.
    several: bool,
    window: usize,
    /// How many bytes may be withheld.
    max_withheld: usize,
    expect: Expect,
    lex: Lex,
    frames: Frames,
    /// The offset up to which the input was read.
    pos: usize,
    /// The offset up to which the reading is certain. At most `pos`.
    committed: usize,
    /// The offset up to which output was emitted. At most `committed`.
    emitted: usize,
    /// The edits that were not emitted yet, sorted.
    edits: Vec<Edit>,
    /// How many of these are committed. They come first.
    committed_edits: usize,
    /// How many edits may be kept until they are emitted.
    most_edits: usize,
    serial: usize,
    /// Whether the output up to the committed position ends inside a string.
    committed_in_string: bool,
    /// The end of the last bracket or value, after which the next token is expected.
    gap_start: usize,
    /// The `gap_start` of a gap that is so long that it was committed, and that held a line end.
    broken_gap: Option<usize>,
    /// The offset of the comma before the current member or item, or where it would be.
    /// `usize::MAX` before the first one.
    comma: usize,
    /// The length of that comma. 0 if it was inserted.
    comma_length: usize,
    /// Where the key of the current member starts.
    key_start: usize,
    /// How many edits were made before the current member.
    member_edits: usize,
    /// Where the current string's content, comment or stray text starts.
    lex_start: usize,
    /// Where the last value before which a colon was inserted starts.
    missing_colon_at: usize,
    /// How many quotes in the current string were read as part of it.
    inner_quotes: usize,
    inner: quotes::Inner,
    /// Whether the last string that the rules opened is in two quotes.
    doubled: bool,
    /// How many quotes in strings were not escaped so far, except apostrophes.
    unescaped: usize,
    /// Whether a quote that does not end its string stops the engine.
    strict_quotes: bool,
    /// Whether a fence was closed after the document. What follows does not belong to it.
    fenced: bool,
    /// Where the current string ends, if trying the rest of the text has shown it.
    definite_end: Option<usize>,
    /// How many steps trying the rest of the text may still take.
    rest_budget: usize,
    tried: quotes::Tried,
    /// From where on the rest of the text is its last line, and where that ends, once a comment on
    /// it has asked.
    last_line: Option<(usize, usize)>,
    /// The closing quote of the last string, as long as the string can still be continued.
    closed_string: Option<usize>,
    /// The end of the last text that was dropped, not counting repairs of risk *exact*.
    stray: usize,
    /// Whether the document appears to be escaped one time too many.
    escaped: bool,
    /// A comma in a string after which only white space has followed, with the edits before it.
    tail: Option<usize>,
    /// Where the dropped text starts, once no further document is read.
    dropping: Option<usize>,
    dropping_kind: RepairKind,
    /// How to drop text after a document if another one may follow.
    prose_kind: RepairKind,
    outside: prose::Outside,
    documents: usize,
    /// How many documents there may be.
    most_documents: usize,
    /// Whether only the first and the last of them are recorded.
    forgets_documents: bool,
    /// Whether the last document was the argument of a call.
    wrapped: bool,
    document_end: Option<usize>,
    document_start: usize,
    /// How many items the container that was closed last had.
    closed_items: usize,
    /// The end of the last container if that was an object, otherwise `usize::MAX`.
    closed_object: usize,
    /// Where the document was cut off.
    cut: Option<Path>,
    /// The repair that the policy forbade.
    refused: Option<Repair>,
    /// Whether more was withheld than the limit allows.
    over: bool,
    stop_at_end: bool,
    fast: FastPath,
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
        // An uncertain place takes the look-ahead and one more byte. With less, it would matter
        // whether that byte arrives in the same chunk.
        let buffer = options.limits().buffer().max(window.saturating_add(1));
        let max_withheld = if whole { usize::MAX } else { buffer };
        let fast = FastPath::new(&options);
        Self {
            outside: prose::Outside::new(&options, !whole),
            options,
            whole,
            several: whole,
            window,
            max_withheld,
            expect: Expect::Document,
            lex: Lex::None,
            frames: Frames::default(),
            pos: 0,
            committed: 0,
            emitted: 0,
            edits: Vec::new(),
            committed_edits: 0,
            most_edits: usize::MAX,
            serial: 0,
            committed_in_string: false,
            gap_start: 0,
            broken_gap: None,
            comma: 0,
            comma_length: 0,
            key_start: 0,
            member_edits: 0,
            lex_start: 0,
            missing_colon_at: usize::MAX,
            inner_quotes: 0,
            inner: quotes::Inner::default(),
            unescaped: 0,
            doubled: false,
            strict_quotes: false,
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
            most_documents: usize::MAX,
            forgets_documents: false,
            wrapped: false,
            document_end: None,
            document_start: 0,
            closed_items: 0,
            closed_object: usize::MAX,
            cut: None,
            refused: None,
            over: false,
            stop_at_end: false,
            fast,
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

    pub(crate) const fn committed(&self) -> usize {
        self.committed
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

    /// The highest number of containers that were open at the same time.
    pub(crate) fn deepest(&self) -> usize {
        self.frames.deepest()
    }

    /// How many quotes in strings were not escaped.
    pub(crate) const fn unescaped(&self) -> usize {
        self.unescaped
    }

    /// Stops at a quote that could end its string and does not, even if it needs no repair.
    pub(crate) const fn require_strict_quotes(&mut self) {
        self.strict_quotes = true;
    }

    pub(crate) const fn documents(&self) -> usize {
        self.documents
    }

    /// Whether the first document has ended, and nothing after it is to be read.
    pub(crate) const fn is_stopped(&self) -> bool {
        self.stop_at_end && self.documents > 0
    }

    /// Sets whether to read nothing after the first document.
    pub(crate) const fn stop_at_end(&mut self, stop: bool) {
        self.stop_at_end = stop;
    }

    /// For a whole text of that many bytes, of which nothing is handed out before its end: bounds
    /// what its documents take. Where they are to be joined, one too many is an overflow.
    pub(crate) fn bound_documents(&mut self, bytes: usize) {
        if self.options.trailing_documents() == crate::TrailingDocuments::All {
            self.forgets_documents = true;
        } else {
            self.most_documents = self.options.limits().documents_in(bytes);
        }
    }

    /// Whether only the first and the last document are needed.
    pub(crate) const fn forgets_documents(&self) -> bool {
        self.forgets_documents
    }

    /// For a whole text of that many bytes: bounds what its edits take until the end.
    pub(crate) fn bound_edits(&mut self, bytes: usize) {
        self.most_edits = self.options.limits().report_for(bytes) / size_of::<Edit>();
    }

    /// For a whole text of that many bytes that is read piece by piece. Nothing is handed out before
    /// its end, so all documents can be kept, and as the text is in memory, more may be withheld.
    pub(crate) fn keep_documents(&mut self, bytes: usize) {
        self.several = true;
        self.max_withheld = self.max_withheld.max(bytes / 16);
    }

    pub(crate) const fn document_end(&self) -> Option<usize> {
        self.document_end
    }

    pub(crate) fn path(&self) -> Path {
        self.cut.clone().unwrap_or_else(|| self.frames.path())
    }

    /// The repair that the policy forbade, if that stopped the engine.
    pub(crate) const fn refused(&self) -> Option<&Repair> {
        self.refused.as_ref()
    }

    /// The number of steps taken and bytes looked at, for tests of linear time.
    pub(crate) const fn steps(&self) -> u64 {
        self.steps
    }

    /// Whether the output up to the committed position ends inside a document.
    pub(crate) fn in_document(&self) -> bool {
        self.committed_in_string || self.frames.depth() > 0
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
        if self.committed_in_string {
            f.write_char('"')?;
        }
        self.frames.closers().try_for_each(|closer| f.write_char(closer))
    }

    /// Whether the input up to the committed position is emitted unchanged.
    #[inline]
    pub(crate) const fn is_plain(&self) -> bool {
        self.committed_edits == 0 && self.dropping.is_none()
    }

    /// Records that the input up to the committed position was emitted.
    #[inline]
    pub(crate) const fn emit_plain(&mut self) {
        self.emitted = self.committed;
    }

    /// Removes the committed edits, and passes them to `take`.
    pub(crate) fn drain(&mut self, take: impl FnMut(Edit)) {
        self.edits.drain(..self.committed_edits).for_each(take);
        self.committed_edits = 0;
        self.emitted = self.committed;
    }

    /// Removes all edits, and passes them to `take`.
    pub(crate) fn drain_all(&mut self, take: impl FnMut(Edit)) {
        self.committed_edits = self.edits.len();
        self.drain(take);
    }

    /// Reads as far as the input allows.
    pub(crate) fn run(&mut self, part: Part<'_>) -> Result<(), Stop> {
        let work = Cell::new(0);
        let result = self.read(Source::new(part, &work));
        self.steps += work.get();
        result
    }

    fn read(&mut self, source: Source<'_>) -> Result<(), Stop> {
        let mut idle = 0;
        // The fast path is entered only after a step, so that it does not matter where a chunk
        // ends.
        let mut stepped = false;
        self.leave_fast_path();
        let mut most = self.frames.len() + 8;
        if self.whole && self.pos == 0 {
            self.rest_budget = 8 * source.text().len() + 4096;
        }
        loop {
            if self.is_stopped() {
                return Ok(());
            }
            let before = self.pos;
            if stepped && self.enter_fast_path(&source) == Flow::Wait {
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
            // Count what was read even if the step stopped.
            self.steps += 1 + self.pos.saturating_sub(before) as u64;
            let flow = flow?;
            if self.over {
                return Err(Stop::Overflow);
            }
            self.check_withheld()?;
            if flow == Flow::Wait {
                return Ok(());
            }
            stepped = true;
            // Each step must consume bytes, or change frames or edits, of which there are few.
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

    /// Stops if more is withheld than the limit allows. What counts is how far the engine has read,
    /// and not how much has arrived, so that the division into chunks does not matter.
    #[inline]
    fn check_withheld(&self) -> Result<(), Stop> {
        self.check_withheld_at(self.pos)
    }

    /// Like [`check_withheld`](Self::check_withheld), as if the engine had read up to `pos`.
    #[inline]
    fn check_withheld_at(&self, pos: usize) -> Result<(), Stop> {
        let withheld = pos.saturating_sub(self.committed);
        if withheld > self.max_withheld { Err(Stop::Overflow) } else { Ok(()) }
    }

    /// Commits everything that was read so far, unless too much was withheld.
    #[inline]
    fn commit(&mut self) {
        if self.check_withheld().is_err() {
            self.over = true;
            return;
        }
        self.commit_content();
    }

    /// Commits everything that was read so far, however much it is.
    #[inline]
    fn commit_content(&mut self) {
        self.committed = self.pos;
        self.committed_edits = self.edits.len();
        self.committed_in_string = matches!(self.lex, Lex::Text(text) if !text.is_key);
        self.closed_string = None;
    }

    /// A look-ahead cursor with the usual window.
    fn look<'a>(&mut self, source: &Source<'a>, at: usize) -> Look<'a> {
        source.look(at, self.window).in_escaped(self.escaped)
    }
}
