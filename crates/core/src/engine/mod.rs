//! Reads input, records edits, and moves the position up to which everything is certain.
//!
//! The engine writes nothing. It keeps two offsets: `pos`, up to which it has read, and
//! `committed`, up to which its reading is certain. The output is the input up to `committed` with
//! the edits applied, so the edit script is correct by construction. The caller keeps the input
//! after `committed` and passes it again. All decisions depend on bytes, never on where a chunk
//! ends.

mod after;
mod bare;
mod brackets;
mod close;
mod comment;
mod commit;
mod containers;
mod edits;
mod escapes;
mod fast;
mod finish;
mod follows;
mod frames;
mod gap;
mod guided;
mod lex;
mod members;
mod number;
mod outside;
mod prose;
mod quote;
mod quotes;
mod skip;
mod source;
mod state;
mod strings;
mod structure;
mod tail;
mod token;
mod word;

use alloc::boxed::Box;
use core::{cell::Cell, fmt};

pub(crate) use edits::Edit;
use edits::Script;
pub(crate) use escapes::is_command;
use fast::FastPath;
pub(crate) use fast::{LONGEST, Within};
use frames::Frames;
use lex::{Comment, Lex, PLAIN, Text};
pub(crate) use number::{Shape, shape_of};
pub(crate) use quote::Quote;
pub(crate) use source::Part;
use source::{Look, Source};
use state::{Closed, Comma, Document, Documents, Dropping, Ending, Gap, Member, OpenString, Rest};
pub(crate) use word::{is_module, literal};

use crate::{
    MendOptions, Outcome, Path, Policy, Repair,
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
    options: MendOptions,
    /// Whether this is the whole-text path. Nothing is emitted before the end, so edits may be made
    /// anywhere.
    whole: bool,
    /// How far look-ahead sees, in bytes.
    window: usize,
    /// How many bytes may be withheld.
    max_withheld: usize,
    /// Whether a quote that does not end its string stops the engine.
    strict_quotes: bool,
    /// Whether to read nothing after the first document.
    stop_at_end: bool,

    /// The offset up to which the input was read.
    pos: usize,
    /// The offset up to which the reading is certain. At most `pos`.
    committed: usize,
    /// Whether the output up to there ends inside a string.
    committed_in_string: bool,
    /// The offset up to which output was emitted. At most `committed`.
    emitted: usize,
    script: Script,

    expect: Expect,
    lex: Lex,
    /// Where the content of the current string, the comment or the stray text starts.
    lex_start: usize,
    frames: Frames,
    gap: Gap,
    member: Member,
    string: OpenString,
    closed: Closed,
    document: Document,
    documents: Documents,
    outside: outside::Outside,
    dropping: Option<Dropping>,
    /// How many quotes in strings were not escaped so far, except apostrophes.
    unescaped: usize,
    /// What was found out about the rest of a whole text, once something has asked.
    rest: Option<Box<Rest>>,
    ending: Ending,
    fast: FastPath,
    steps: u64,
}

/// Makes sure that reading ends. Each step must consume bytes, or change frames or edits, of which
/// there are few. It may also go back, to read the bytes from there on once more.
struct Progress {
    /// The highest position so far, and the lowest one since.
    furthest: usize,
    lowest: usize,
    /// How many steps were taken since, and how many change only frames.
    steps: usize,
    open: usize,
}

impl Progress {
    const fn at(pos: usize) -> Self {
        Self { furthest: pos, lowest: pos, steps: 0, open: 0 }
    }

    #[inline]
    fn step(&mut self, pos: usize, open: usize) {
        if pos > self.furthest {
            *self = Self { furthest: pos, lowest: pos, steps: 0, open };
        } else {
            self.lowest = self.lowest.min(pos);
            self.steps += 1;
            self.open = self.open.max(open);
        }
    }

    /// Whether more steps were taken than reading the same bytes a few times takes.
    #[inline]
    const fn is_stuck(&self, spare: usize) -> bool {
        self.steps > 4 * (self.furthest - self.lowest) + self.open + 8 + spare
    }
}

impl Engine {
    pub(crate) fn streaming(options: MendOptions) -> Self {
        let window = options.limits().lookahead();
        Self::new(options, false, window)
    }

    pub(crate) fn whole(options: MendOptions) -> Self {
        Self::new(options, true, WHOLE_WINDOW)
    }

    /// A copy that may make every repair, and does not know the keys of the open containers. It shows
    /// where the text would end.
    pub(crate) fn probe(&mut self) -> Self {
        let frames = core::mem::take(&mut self.frames);
        let mut probe = self.clone();
        probe.frames = frames.without_keys();
        probe.options = probe.options.with_policy(Policy::PERMISSIVE);
        self.frames = frames;
        probe
    }

    fn new(options: MendOptions, whole: bool, window: usize) -> Self {
        // An uncertain place takes the look-ahead and one more byte. With less, it would matter
        // whether that byte arrives in the same chunk.
        let buffer = options.limits().buffer().max(window.saturating_add(1));
        let max_withheld = if whole { usize::MAX } else { buffer };
        let fast = FastPath::new(&options);
        Self {
            outside: outside::Outside::new(&options, !whole),
            options,
            whole,
            window,
            max_withheld,
            strict_quotes: false,
            stop_at_end: false,
            pos: 0,
            committed: 0,
            committed_in_string: false,
            emitted: 0,
            script: Script::default(),
            expect: Expect::Document,
            lex: Lex::None,
            lex_start: 0,
            frames: Frames::default(),
            gap: Gap::default(),
            member: Member::default(),
            string: OpenString::default(),
            closed: Closed::default(),
            document: Document::default(),
            documents: Documents {
                count: 0,
                last: None,
                most: usize::MAX,
                forgets: false,
                several: whole,
            },
            dropping: None,
            unescaped: 0,
            rest: None,
            ending: Ending::default(),
            fast,
            steps: 0,
        }
    }

    pub(crate) fn reset(&mut self) {
        let mut frames = core::mem::take(&mut self.frames);
        let script = core::mem::take(&mut self.script).emptied();
        let options = core::mem::take(&mut self.options);
        frames.reset();
        *self = Self { frames, script, ..Self::new(options, self.whole, self.window) };
    }

    pub(crate) const fn options(&self) -> &MendOptions {
        &self.options
    }

    pub(crate) const fn committed(&self) -> usize {
        self.committed
    }

    pub(crate) const fn emitted(&self) -> usize {
        self.emitted
    }

    pub(crate) fn dropping(&self) -> Option<usize> {
        self.dropping.map(|dropping| dropping.from)
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
        self.documents.count
    }

    /// Whether the first document has ended, and nothing after it is to be read.
    pub(crate) const fn is_stopped(&self) -> bool {
        self.stop_at_end && self.documents.count > 0
    }

    /// Sets whether to read nothing after the first document.
    pub(crate) const fn stop_at_end(&mut self, stop: bool) {
        self.stop_at_end = stop;
    }

    /// For a whole text of that many bytes, of which nothing is handed out before its end: bounds
    /// what its documents take. Where they are to be joined, one too many is an overflow.
    pub(crate) fn bound_documents(&mut self, bytes: usize) {
        if self.options.trailing_documents() == crate::TrailingDocuments::All {
            self.documents.forgets = true;
        } else {
            self.documents.most = self.options.limits().documents_in(bytes);
        }
    }

    /// Whether only the first and the last document are needed.
    pub(crate) const fn forgets_documents(&self) -> bool {
        self.documents.forgets
    }

    /// For a whole text of that many bytes: bounds what its edits take until the end.
    pub(crate) fn bound_edits(&mut self, bytes: usize) {
        self.script.most = self.options.limits().report_for(bytes) / size_of::<Edit>();
    }

    /// For a whole text of that many bytes that is read piece by piece. Nothing is handed out before
    /// its end, so all documents can be kept, and as the text is in memory, more may be withheld.
    pub(crate) fn keep_documents(&mut self, bytes: usize) {
        self.documents.several = true;
        self.max_withheld = self.max_withheld.max(bytes / 16);
    }

    /// Where the document began that is open.
    pub(crate) fn open_document(&self) -> Option<usize> {
        (self.frames.depth() > 0).then_some(self.document.start)
    }

    /// The start and the end of the last document that has ended.
    pub(crate) const fn last_document(&self) -> Option<(usize, usize)> {
        self.documents.last
    }

    pub(crate) const fn document_end(&self) -> Option<usize> {
        self.document.end
    }

    pub(crate) fn path(&self) -> Path {
        self.ending.cut.clone().unwrap_or_else(|| self.frames.path())
    }

    /// The repair that the policy forbade, if that stopped the engine.
    pub(crate) const fn refused(&self) -> Option<&Repair> {
        self.ending.refused.as_ref()
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
        if self.documents.count == 0 {
            Outcome::None
        } else if self.ending.cut.is_some() || self.outside.torn {
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
        self.script.committed == 0 && self.dropping.is_none()
    }

    /// Records that the input up to the committed position was emitted.
    #[inline]
    pub(crate) const fn emit_plain(&mut self) {
        self.emitted = self.committed;
    }

    /// Removes the committed edits, and passes them to `take`.
    pub(crate) fn drain(&mut self, take: impl FnMut(Edit)) {
        self.script.edits.drain(..self.script.committed).for_each(take);
        self.script.committed = 0;
        self.emitted = self.committed;
    }

    /// Removes all edits, and passes them to `take`.
    pub(crate) fn drain_all(&mut self, take: impl FnMut(Edit)) {
        self.script.commit();
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
        // The fast path is entered only after a step, so that it does not matter where a chunk
        // ends.
        let mut stepped = false;
        self.leave_fast_path();
        let mut progress = Progress::at(self.pos);
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
            if self.ending.over {
                return Err(Stop::Overflow);
            }
            self.check_withheld()?;
            if flow == Flow::Wait {
                self.note_gap(&source);
                return Ok(());
            }
            stepped = true;
            progress.step(self.pos, self.frames.len());
            debug_assert!(!progress.is_stuck(0), "no progress at {before}: {self:?}");
            if progress.is_stuck(56) {
                return Err(Stop::Refused);
            }
        }
    }
}
