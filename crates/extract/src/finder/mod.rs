//! The extractor for text that arrives in chunks.

mod text;

use crate::{
    Scope, TextSink,
    comment::Comment,
    document::{Document, Taken},
    margin::{Margin, forbidden},
    scalar::Scalar,
};
use wiremend_core::{
    Completion, MendOptions, Mender, Outcome, Path, Repair, RepairKind, TrailingDocuments,
    lines::{self, Opening, goes_on_like, is_cut, is_first_cut},
    prose::{Block, Expected, Marks, Prose},
};

/// Finds JSON in text while it arrives, and mends it.
///
/// Call [`push`](Self::push) any number of times, then [`finish`](Self::finish) or
/// [`abandon`](Self::abandon) once. The accessors may be called at any time. [`reset`](Self::reset)
/// prepares for the next text. After the end, further pushes pass through as text, and the outcome
/// stays the same.
///
/// It makes no difference how the input is divided into chunks. A bracket in prose is decided by at
/// most [`Limits::with_lookahead`](wiremend_core::Limits::with_lookahead) bytes after it, which are
/// withheld until then. With a single document (see [`Scope`]), the white space around it is
/// withheld until it is known whether prose follows; if there is more of it than
/// [`Limits::with_buffer`](wiremend_core::Limits::with_buffer), it counts as prose. With
/// [`Scope::Whole`], a scalar is withheld until the end of the input, up to the same limit: a longer one
/// is a document, whatever follows it.
///
/// ```
/// use wiremend_core::{MendOptions, Outcome, apply};
/// use wiremend_extract::{Finder, FoundDocuments, Scope};
///
/// let input = b"Here you are:\n```json\n{\"a\": 1}\n```\n";
/// let mut extractor = Finder::new(Scope::First, MendOptions::new());
/// let mut found = FoundDocuments::default();
/// extractor.push(input, &mut found);
/// assert_eq!(extractor.finish(&mut found), Outcome::Repaired);
/// let document = &found.documents()[0];
/// assert_eq!(document.json(), br#"{"a": 1}"#);
/// assert_eq!(apply(input, document.repairs()).unwrap(), document.json());
/// ```
#[derive(Clone, Debug)]
pub struct Finder {
    scope: Scope,
    options: MendOptions,
    state: State,
    document: Document,
    prose: Prose,
    margin: Margin,
    /// White space that is withheld until it is known what follows.
    held: Vec<u8>,
    /// In the state `Scalar`, what may be a scalar, after `held`. In other states, bytes to be read
    /// again.
    waiting: Vec<u8>,
    /// Bytes that are withheld for look-ahead: at most a window.
    carry: Vec<u8>,
    /// How much of the input was read, which is the offset of the first byte of `carry`.
    at: usize,
    received: usize,
    /// What begins the lines of a text, once there is a document.
    lines: Option<Box<Lines>>,
    /// Whether anything before the document was deleted.
    trimmed: bool,
    /// Whether a bracket before the document was never closed, so that the document is part of
    /// something whose end is missing.
    torn: bool,
    /// The first repair that the policy forbade, and its path.
    refused: Option<(Repair, Path)>,
    /// The steps of work done outside of the mender.
    steps: u64,
    /// The outcome of the last document that ended.
    last: Outcome,
    outcome: Option<Outcome>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Only white space was read.
    Start,
    /// In a comment at the start of a channel of JSON.
    Comment(Comment),
    /// In what may be a scalar, at the start of a channel of JSON.
    Scalar(Scalar),
    Text,
    Reasoning(Block),
    Document,
    /// After the single document, in white space and stray closers.
    After,
    /// Everything is text.
    Rest,
}

/// The state at the start of a text.
const fn prose_of(scope: Scope, options: &MendOptions) -> Prose {
    let expected = match scope {
        Scope::Whole => Expected::Json,
        Scope::Fenced => Expected::Fenced,
        Scope::All | Scope::Best | Scope::First | Scope::Last => Expected::Anywhere,
    };
    Prose::new(expected, options.limits().lookahead())
}

/// How many bytes of a chunk are appended to the carried ones before the rest is read in place.
const JOIN: usize = 128;

impl Finder {
    /// Creates an extractor at the start of a text. Of the options, policy, limits and guide are
    /// used. `scope` decides what to do about text after a document, except that
    /// [`TrailingDocuments::Error`] refuses anything after a single document, and that with
    /// [`TrailingDocuments::All`], [`Scope::Whole`] has as many as there are.
    #[must_use]
    pub fn new(scope: Scope, options: MendOptions) -> Self {
        Self {
            scope,
            options: options.clone(),
            state: State::Start,
            prose: prose_of(scope, &options),
            document: Document::new(options.with_trailing_documents(TrailingDocuments::First)),
            margin: Margin::default(),
            held: Vec::new(),
            waiting: Vec::new(),
            carry: Vec::new(),
            at: 0,
            received: 0,
            lines: None,
            trimmed: false,
            torn: false,
            refused: None,
            steps: 0,
            last: Outcome::None,
            outcome: None,
        }
    }

    /// For a text that is pushed at once: what its lines begin with, if most are a document each.
    pub(crate) fn with_lines(mut self, opening: Option<Opening>) -> Self {
        self.lines = Some(Box::new(Lines::of(opening)));
        self
    }

    /// Whether one document is wanted, with everything around it recorded as deleted.
    const fn is_single(&self) -> bool {
        match self.scope {
            Scope::All | Scope::Fenced => false,
            Scope::Whole => !matches!(self.options.trailing_documents(), TrailingDocuments::All),
            Scope::Best | Scope::First | Scope::Last => true,
        }
    }

    /// Reads a chunk, and emits what is certain now.
    pub fn push(&mut self, mut chunk: &[u8], sink: &mut impl TextSink) {
        self.received += chunk.len();
        if self.outcome.is_none() {
            if matches!(self.state, State::Text) && self.carry.is_empty() && !self.is_again() {
                chunk = self.pass_plain(chunk, sink);
            }
            if !chunk.is_empty() {
                self.pump(chunk, false, sink);
            }
        } else {
            self.at += chunk.len();
            self.text(chunk, sink);
        }
    }

    /// Ends the text. Returns the outcome of the last document, [`Outcome::None`] if there was no
    /// JSON, or [`Outcome::Invalid`] if the policy does not allow dropping the text around it.
    pub fn finish(&mut self, sink: &mut impl TextSink) -> Outcome {
        if let Some(outcome) = self.outcome {
            return outcome;
        }
        self.pump(&[], true, sink);
        let outcome = self.settle(sink);
        self.outcome = Some(outcome);
        outcome
    }

    /// Gives up: emits raw what was withheld, and ends the open document.
    pub fn abandon(&mut self, sink: &mut impl TextSink) -> Outcome {
        if let Some(outcome) = self.outcome {
            return outcome;
        }
        if matches!(self.state, State::Document) {
            self.document.abandon(sink);
            let rest = std::mem::take(&mut self.carry);
            if !rest.is_empty() {
                sink.raw();
                sink.json(&rest);
            }
            sink.end_at(self.received);
            sink.end(Outcome::Abandoned);
        } else {
            let rest = [std::mem::take(&mut self.waiting), std::mem::take(&mut self.carry)];
            self.text(&rest.concat(), sink);
            self.flush_held(sink);
            if self.margin.is_after() {
                sink.end(Outcome::Abandoned);
            }
        }
        self.at = self.received;
        self.outcome = Some(Outcome::Abandoned);
        Outcome::Abandoned
    }

    /// Starts over with the same scope and options, keeping the buffers.
    pub fn reset(&mut self) {
        self.state = State::Start;
        self.prose = prose_of(self.scope, &self.options);
        self.margin = Margin::default();
        self.held.clear();
        self.waiting.clear();
        self.carry.clear();
        self.at = 0;
        self.received = 0;
        self.lines = None;
        self.trimmed = false;
        self.torn = false;
        self.refused = None;
        self.steps = 0;
        self.document.reset();
        self.last = Outcome::None;
        self.outcome = None;
    }

    fn open(&self) -> Option<&Document> {
        (matches!(self.state, State::Document) && self.outcome.is_none()).then_some(&self.document)
    }

    /// Reads the carried bytes and `chunk`, which may contain text and documents.
    fn pump(&mut self, chunk: &[u8], eof: bool, sink: &mut impl TextSink) {
        let mut rest = chunk;
        loop {
            // Append only the start of the chunk to the carried bytes, and read the rest in place.
            let carried = !self.carry.is_empty();
            let joint = if carried { JOIN.min(rest.len()) } else { rest.len() };
            let (head, tail) = rest.split_at(joint);
            let last = eof && tail.is_empty();
            let (unread, again) = if carried {
                let mut joint = std::mem::take(&mut self.carry);
                joint.extend_from_slice(head);
                self.steps += joint.len() as u64;
                let (from, again) = self.pump_piece(&joint, last, sink);
                if again {
                    self.carry.extend_from_slice(joint.get(from..).unwrap_or_default());
                }
                (tail, again)
            } else {
                let (from, again) = self.pump_piece(head, last, sink);
                (head.get(from..).unwrap_or_default(), again)
            };
            if !again && tail.is_empty() {
                return;
            }
            rest = unread;
        }
    }

    /// Reads one piece, until something has to be read again. Returns how much of it was read, and
    /// whether `carry` must be read again before the rest.
    fn pump_piece(&mut self, input: &[u8], eof: bool, sink: &mut impl TextSink) -> (usize, bool) {
        let mut from = 0;
        loop {
            from += self.read(input.get(from..).unwrap_or_default(), eof, sink);
            let rest = input.get(from..).unwrap_or_default();
            let back = match self.state {
                State::Scalar(scalar) if eof => {
                    let start = self.at - self.waiting.len();
                    self.steps += self.waiting.len() as u64;
                    if scalar.is_value(&self.waiting, &self.options) {
                        self.begin(start, None, sink);
                    } else {
                        self.state = State::Text;
                    }
                    self.again()
                }
                _ if self.is_again() => self.again(),
                State::Document => {
                    let end = match &mut self.lines {
                        Some(lines) => lines.next(rest, self.at, eof),
                        None => rest.len(),
                    };
                    let (own, line) = rest.split_at(end);
                    match self.document.push(own, sink) {
                        Taken::All => {
                            self.pass_own(own);
                            self.at += own.len();
                            from += own.len();
                            match self.ends_before(line, eof) {
                                Some(true) => {}
                                Some(false) if line.is_empty() => return (from, false),
                                Some(false) => {
                                    if let Some(lines) = &mut self.lines {
                                        lines.keep(self.at);
                                    }
                                    continue;
                                }
                                None => {
                                    self.carry.extend_from_slice(line);
                                    return (input.len(), false);
                                }
                            }
                            let (outcome, back) = self.document.finish(sink);
                            self.at -= back.len();
                            self.end(outcome, sink);
                            back
                        }
                        Taken::Ended { taken, back } => {
                            self.pass_own(own.get(..taken).unwrap_or_default());
                            self.at = self.at + taken - back.len();
                            from += taken;
                            self.end(self.document.outcome(), sink);
                            back
                        }
                    }
                }
                _ => {
                    self.carry.extend_from_slice(rest);
                    return (input.len(), false);
                }
            };
            if !back.is_empty() {
                self.steps += back.len() as u64;
                self.carry = back;
                return (from, true);
            }
            if eof && from >= input.len() && !self.is_again() {
                return (from, false);
            }
        }
    }

    /// Whether the open document ends before `line`, because the input does, or because `line` is another
    /// document. `None` waits for more.
    fn ends_before(&mut self, line: &[u8], eof: bool) -> Option<bool> {
        let Some(lines) = self.lines.as_ref().filter(|_| !line.is_empty()) else {
            return Some(eof);
        };
        let in_string = self.document.ends_in_string();
        lines.is_cut(line, in_string, self.options.limits().lookahead(), eof)
    }

    /// Notes bytes of the open document.
    fn pass_own(&mut self, bytes: &[u8]) {
        if let Some(lines) = &mut self.lines {
            lines.pass(bytes, self.at);
        }
    }

    /// Whether `waiting` must be read again.
    fn is_again(&self) -> bool {
        !self.waiting.is_empty() && !matches!(self.state, State::Scalar(_))
    }

    /// Takes `waiting`, to be read again.
    fn again(&mut self) -> Vec<u8> {
        self.at -= self.waiting.len();
        std::mem::take(&mut self.waiting)
    }

    /// Begins a document at `start`, whose lines may be marked.
    fn begin(&mut self, start: usize, marks: Option<Marks>, sink: &mut impl TextSink) {
        if !self.is_single() {
            self.flush_held(sink);
            sink.begin(start);
        } else if self.margin.is_after() {
            self.margin.second(start);
            self.state = State::Rest;
            return;
        } else {
            let leading =
                self.margin.leading(start, marks.map(|marks| marks.head()), self.prose.fence());
            let policy = self.options.policy();
            let stray = |repair: &Repair| repair.kind() == RepairKind::StrayText;
            self.torn = self.margin.is_torn() && leading.iter().any(stray);
            let torn = leading.last().filter(|_| self.torn && !policy.closes_cut());
            if let Some(refused) = forbidden(&policy, &leading).or(torn) {
                self.refused = Some((refused.clone(), Path::default()));
                self.state = State::Rest;
                return;
            }
            self.trimmed = !leading.is_empty();
            sink.begin(start - self.held.len());
            for repair in leading {
                sink.repair(repair);
            }
            self.release(start, sink);
        }
        let starts_line = marks.is_none() && self.prose.is_line_start();
        self.lines.get_or_insert_default().begin(starts_line);
        self.document.begin(start, marks);
        self.state = State::Document;
    }

    /// Emits the white space that was withheld before a document at `start`, without the comments
    /// in it.
    fn release(&mut self, start: usize, sink: &mut impl TextSink) {
        let from = start - self.held.len();
        let mut at = from;
        let ends = self.margin.comments().iter().map(|comment| (comment.start, comment.end));
        for (end, next) in ends.chain([(start, start)]).filter(|(end, _)| *end >= from) {
            if let Some(space @ [_, ..]) = self.held.get(at - from..end - from) {
                sink.json(space);
            }
            at = next;
        }
        self.held.clear();
    }

    /// Ends the open document.
    fn end(&mut self, outcome: Outcome, sink: &mut impl TextSink) {
        self.last = outcome;
        if outcome == Outcome::Invalid && self.refused.is_none() {
            self.refused = self.document.refused();
        }
        self.prose.end_document();
        if let Some(lines) = &mut self.lines {
            lines.end(self.at);
        }
        if self.is_single() {
            let lookahead = self.options.limits().lookahead();
            let (doubtful, guessed) = (self.document.is_doubtful(), self.document.is_guessed());
            self.margin.document(self.at, doubtful, guessed, lookahead);
            self.state = State::After;
        } else {
            sink.end_at(self.at);
            sink.end(outcome);
            self.state = State::Text;
        }
    }

    /// Reports the deletions after a single document, at the end of the input.
    fn settle(&mut self, sink: &mut impl TextSink) -> Outcome {
        if !self.margin.is_after() {
            self.flush_held(sink);
            return if self.refused.is_some() { Outcome::Invalid } else { self.last };
        }
        if !self.held.is_empty() {
            sink.json(&self.held);
            self.held.clear();
        }
        let trailing = self.margin.trailing(self.received);
        let strict = self.options.trailing_documents() == TrailingDocuments::Error;
        let refused = forbidden(&self.options.policy(), &trailing);
        let refused = refused.or_else(|| trailing.first().filter(|_| strict));
        self.torn |= self.margin.lacks_end();
        let torn = trailing.first().filter(|_| self.torn && !self.options.policy().closes_cut());
        let refused = refused.or(torn);
        let outcome = if let Some(refused) = refused {
            self.refused.get_or_insert_with(|| (refused.clone(), Path::default()));
            Outcome::Invalid
        } else {
            self.trimmed |= !trailing.is_empty();
            for repair in trailing {
                sink.repair(repair);
            }
            match self.last {
                outcome if outcome.is_complete() && self.torn => Outcome::Closed,
                Outcome::Unchanged if self.trimmed => Outcome::Repaired,
                outcome => outcome,
            }
        };
        sink.end(outcome);
        outcome
    }

    /// Emits text, and the white space that was withheld before it.
    fn text(&mut self, bytes: &[u8], sink: &mut impl TextSink) {
        if !bytes.is_empty() {
            self.flush_held(sink);
            sink.text(bytes);
        }
    }

    fn flush_held(&mut self, sink: &mut impl TextSink) {
        if !self.held.is_empty() {
            sink.text(&self.held);
            self.held.clear();
        }
    }
}

// Documents on lines of their own, and where one of them ends that was cut off.

/// What begins the lines of a text in which each document has a line of its own.
#[derive(Clone, Copy, Debug, Default)]
struct Lines {
    /// The first bytes of the last document, if it was a line.
    before: Option<Opening>,
    /// Those of the open one, and how many of them are known. `None` if it does not begin its line.
    own: Opening,
    known: Option<usize>,
    /// The offset of the first line end since the open one began.
    broken: Option<usize>,
    /// Its last byte so far that is no white space.
    last: u8,
    /// The offset of a line end that is known to be a part of it.
    inside: Option<usize>,
    /// Whether whole lines are looked at, because all of the text is there.
    whole: bool,
}

impl Lines {
    /// At the start of a text whose lines are known to begin with this.
    fn of(opening: Option<Opening>) -> Self {
        Self { before: opening, whole: true, ..Self::default() }
    }

    /// A document begins, at the start of its line or not.
    const fn begin(&mut self, starts_line: bool) {
        self.known = if starts_line { Some(0) } else { None };
        self.broken = None;
    }

    /// The open document has ended at offset `at`.
    fn end(&mut self, at: usize) {
        let is_line =
            self.known == Some(self.own.len()) && self.broken.is_none_or(|broken| at <= broken);
        self.before = is_line.then_some(self.own);
    }

    /// Where the next line end is in `rest`, which is at offset `at` of the input, after which another
    /// document may begin: one like the one before, if the open one has the same bracket, or after the line
    /// of the open one, one like that. `last` says that the input ends with it.
    fn next(&mut self, rest: &[u8], at: usize, last: bool) -> usize {
        let mut first = rest.iter();
        while let Some(known) = self.known
            && let Some(place) = self.own.get_mut(known)
            && let Some(byte) = first.next()
        {
            *place = *byte;
            self.known = Some(known + 1);
        }
        let like = |before: &Opening| self.known == Some(before.len()) && before[0] == self.own[0];
        let first = self.broken.is_none().then_some(self.own);
        let Some(opening) = self.before.or(first).filter(like) else {
            return rest.len();
        };
        let begins = |end: &usize| {
            goes_on_like(rest.get(*end..).unwrap_or_default(), opening, last) != Some(false)
        };
        let mut from = 0;
        while let Some(end) = lines::end(rest.get(from..).unwrap_or_default()) {
            let end = from + end;
            if self.inside != Some(at + end) && begins(&end) {
                return end;
            }
            if self.before.is_none() {
                break;
            }
            from = end + 1;
        }
        rest.len()
    }

    /// Notes bytes of the open document, from offset `at` on.
    fn pass(&mut self, bytes: &[u8], at: usize) {
        if self.broken.is_none() {
            self.broken = bytes.iter().position(|byte| *byte == b'\n').map(|end| at + end);
        }
        let solid = bytes.iter().rfind(|byte| !byte.is_ascii_whitespace());
        self.last = solid.copied().unwrap_or(self.last);
    }

    /// Whether the open document is cut off before `rest`: see [`is_cut`].
    fn is_cut(&self, rest: &[u8], in_string: bool, window: usize, last: bool) -> Option<bool> {
        let judge = if self.before.is_some() { is_cut } else { is_first_cut };
        let window = if self.whole { usize::MAX } else { window };
        let cut = judge(rest, self.last, in_string, window, last);
        if cut != Some(false) && goes_on_like(rest, self.own, false).is_none() {
            return last.then_some(false);
        }
        cut
    }

    /// Notes that the line end at offset `at` is a part of the open document.
    const fn keep(&mut self, at: usize) {
        self.inside = Some(at);
    }
}

// What an extractor says about itself.

impl Finder {
    /// The first repair that the policy forbids, if a document or the text around a single one was
    /// refused. Its span is in the text. Under [`TrailingDocuments::Error`](wiremend_core::TrailingDocuments::Error), the repair that would
    /// have dropped the text after the document.
    ///
    /// ```
    /// use wiremend_core::{MendOptions, Policy, RepairKind};
    /// use wiremend_extract::{Finder, FoundDocuments, Scope};
    /// let options = MendOptions::new().with_policy(Policy::CONSERVATIVE);
    /// let mut extractor = Finder::new(Scope::Whole, options);
    /// let mut found = FoundDocuments::default();
    /// extractor.push(br#"Here: {"a": NaN}"#, &mut found);
    /// extractor.finish(&mut found);
    /// let refused = extractor.refused().unwrap();
    /// assert_eq!((refused.kind(), refused.start()), (RepairKind::NonFinite, 12));
    /// ```
    #[must_use]
    pub fn refused(&self) -> Option<&Repair> {
        self.refused.as_ref().map(|refused| &refused.0)
    }

    /// Where in its document the [refused](Self::refused) repair would have been made. `$` if it is
    /// outside of documents.
    #[must_use]
    pub fn refused_at(&self) -> Option<&Path> {
        self.refused.as_ref().map(|refused| &refused.1)
    }

    /// What would make the open document valid, as far as it was emitted. Its `Display` output is
    /// the text to append. `None` outside of a document. Costs O(depth).
    #[must_use]
    pub fn completion(&self) -> Option<Completion<'_>> {
        self.open().and_then(Document::mender).and_then(Mender::completion)
    }

    /// Why the open document is passed through raw, if it is: a limit, or a repair that the policy
    /// forbids.
    ///
    /// ```
    /// use wiremend_core::{Limits, MendOptions, Outcome};
    /// use wiremend_extract::{Finder, FoundDocuments, Scope};
    /// let options = MendOptions::new().with_limits(Limits::new().with_depth(2));
    /// let mut extractor = Finder::new(Scope::Whole, options);
    /// extractor.push(b"[[1, ", &mut FoundDocuments::default());
    /// assert_eq!(extractor.stopped(), None);
    /// extractor.push(b"[2", &mut FoundDocuments::default());
    /// assert_eq!(extractor.stopped(), Some(Outcome::Overflow));
    /// ```
    #[must_use]
    pub fn stopped(&self) -> Option<Outcome> {
        self.open().and_then(Document::mender).and_then(Mender::outcome)
    }

    /// How many containers are open.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.open().and_then(Document::mender).map_or(0, Mender::depth)
    }

    /// How many bytes were received but not emitted yet.
    #[must_use]
    pub fn withheld(&self) -> usize {
        let inside = self.open().and_then(Document::mender).map_or(0, Mender::withheld);
        self.held.len() + self.waiting.len() + self.carry.len() + inside
    }

    /// Where the single document ended, once it has, although [`TextSink::end`] is called only at the end of
    /// the input. For the other crates.
    #[doc(hidden)]
    #[must_use]
    pub const fn document_end(&self) -> Option<usize> {
        self.margin.document_end()
    }

    /// How many steps of work were done. Grows in proportion to the input.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps + self.document.steps()
    }

    /// How many bytes were received.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.received
    }

    /// The current path in the last document. After [`Outcome::Closed`] or [`Outcome::Cut`], the
    /// path at which it was cut off.
    #[must_use]
    pub fn path(&self) -> Path {
        self.document.path()
    }

    /// The outcome, once [`finish`](Self::finish) or [`abandon`](Self::abandon) was called.
    #[must_use]
    pub const fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }
}
