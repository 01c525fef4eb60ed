//! Whether a call without a marker is all that its place holds.
//!
//! From the first byte of what may be such a call on, a reader of its own reads the text, as if every place
//! were one for calls. The text that it leaves is what else the lines hold. The text is judged once, and then
//! read: no byte is judged twice.

use super::{CallExtractor, ground::Ground};
use crate::dialect::{
    Dialect,
    sink::{CallEnd, CallOutcome, CallSink, CallStart, FoundCall, FoundCalls, UnknownTool},
    tools::Tools,
};

/// What the judge says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Calls without a marker are made in so many bytes.
    Calls(usize),
    /// None is made up to the end of this line.
    Text(usize),
}

/// The lines that are judged.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    reader: Box<CallExtractor>,
    seen: Seen,
    /// How many bytes were read.
    read: usize,
    /// The number of the line in which the text begins.
    line: usize,
    place: Place,
}

/// Where the first line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// It is the first of its message, so that other text may follow the calls.
    First,
    /// It is a statement of a program.
    Program,
    Other,
}

/// What the reader has found so far.
#[derive(Clone, Debug)]
struct Seen {
    /// Where the text is that calls leave.
    ground: Ground,
    calls: FoundCalls,
    /// How much of the source was passed on.
    at: usize,
    /// Where the last line begins, if every line before it has calls and nothing else.
    line: usize,
    /// How many calls there are, and how many of them before that line.
    made: usize,
    above: usize,
    state: Lines,
}

/// What the lines are so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lines {
    Calls,
    /// The rest of the line is that of a call of a tool that does not exist.
    Unknown,
    /// The line at this place has something else.
    Said(usize),
    /// The message, the fence or the statement ends here.
    Over(usize),
}

impl Trial {
    /// Judges a text that begins with what may be a call.
    pub(super) fn new(reader: CallExtractor, mut ground: Ground) -> Self {
        let place = match (ground.in_program(), ground.in_fence()) {
            (true, _) => Place::Program,
            (false, false) if ground.is_first() => Place::First,
            _ => Place::Other,
        };
        let (line, ground) = (ground.line(), ground.unsaid());
        let (calls, state) = (FoundCalls::default(), Lines::Calls);
        let seen = Seen { ground, calls, at: 0, line: 0, made: 0, above: 0, state };
        Self { reader: Box::new(reader), seen, read: 0, line, place }
    }

    /// Reads what has come of the text, up to `most` bytes. `None` waits for more.
    pub(super) fn judge(&mut self, text: &[u8], most: usize, eof: bool) -> Option<Verdict> {
        while self.read < text.len() {
            // No more than a line at once, so that little is read beyond what decides.
            let rest = text.get(self.read..).unwrap_or_default();
            let line = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
            let line = line.min((most + 1).saturating_sub(self.read));
            self.reader.push(rest.get(..line).unwrap_or_default(), &mut self.seen);
            self.read += line;
            if let Some(verdict) = self.verdict(text, false) {
                return Some(verdict);
            }
            if self.read > most {
                return Some(self.text(text, self.read));
            }
        }
        if !eof {
            return None;
        }
        self.reader.finish_at_eos(&mut self.seen);
        self.verdict(text, true)
    }

    /// None of the calls is made, up to the end of the line at a place.
    fn text(&self, text: &[u8], at: usize) -> Verdict {
        let lines = text.iter().take(at).filter(|byte| **byte == b'\n').count();
        Verdict::Text(self.line + lines)
    }

    fn verdict(&mut self, text: &[u8], eof: bool) -> Option<Verdict> {
        let seen = &mut self.seen;
        if eof && matches!(seen.state, Lines::Calls) && seen.ground.ends_said() {
            seen.state = Lines::Said(seen.at);
        }
        let end = match seen.state {
            Lines::Calls | Lines::Unknown if !eof => return None,
            Lines::Calls | Lines::Unknown => self.read,
            Lines::Over(at) => at,
            // The first lines of a message may be calls, whatever comes after them.
            Lines::Said(_) if self.place == Place::First && seen.above > 0 => {
                seen.made = seen.above;
                seen.line
            }
            Lines::Said(at) => return Some(self.text(text, at)),
        };
        let tools = self.reader.tools();
        let calls = seen.calls.calls().get(..seen.made).unwrap_or_default();
        // In a program, a word without quotes is a variable.
        let variable = |call: &FoundCall| {
            self.place == Place::Program
                && call.outcome() == CallOutcome::Repaired
                && row(call).is_some_and(|row| row.family() == "Python")
        };
        if calls.is_empty() || calls.iter().any(|call| variable(call) || !fits(call, tools)) {
            return Some(self.text(text, end));
        }
        Some(Verdict::Calls(end))
    }

    /// The calls that are only mentioned, where the text is not judged to make them: their names and dialects, and
    /// where they begin.
    pub(super) fn mentioned(&self, mut each: impl FnMut(&str, &Dialect, usize)) {
        for call in self.seen.calls.calls() {
            if let Some(dialect) = row(call).filter(|_| call.known()) {
                each(call.name(), dialect, call.end().map_or(0, |end| end.span.start));
            }
        }
    }

    /// How many steps of work the judge has done.
    pub(super) fn steps(&self) -> u64 {
        self.reader.steps()
    }
}

impl Seen {
    /// Source that is no text.
    fn other(&mut self, length: usize) {
        self.at += length;
    }

    /// Whether what comes still counts.
    const fn is_open(&self) -> bool {
        matches!(self.state, Lines::Calls | Lines::Unknown)
    }

    fn over(&mut self) {
        if self.is_open() {
            self.state = Lines::Over(self.at);
        }
    }
}

impl CallSink for Seen {
    fn text(&mut self, bytes: &[u8]) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let start = self.at;
            self.at += line.len();
            let ended = line.ends_with(b"\n");
            let line = match self.state {
                Lines::Calls => line,
                Lines::Unknown if ended => b"\n",
                Lines::Unknown | Lines::Said(_) | Lines::Over(_) => continue,
            };
            self.state = Lines::Calls;
            let fenced = self.ground.in_fence();
            // What a line says counts before its end, which may begin another turn.
            self.ground.read(line.strip_suffix(b"\n").unwrap_or(line));
            if self.ground.is_said() {
                self.state = Lines::Said(start);
                continue;
            }
            if ended {
                self.ground.read(b"\n");
            }
            if fenced && !self.ground.in_fence() {
                // The fence around the calls ends with this line.
                self.state = Lines::Over(self.at);
            } else if ended && !self.ground.is_first() || self.ground.in_fence() != fenced {
                self.state = Lines::Said(start);
            } else if ended && self.ground.in_program() && self.made > 0 {
                self.state = Lines::Over(self.at);
            } else if ended {
                (self.line, self.above) = (self.at, self.made);
            }
        }
    }
    fn markup(&mut self, bytes: &[u8]) {
        self.other(bytes.len());
    }
    fn raw(&mut self, bytes: &[u8]) {
        self.other(bytes.len());
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        self.over();
        self.other(bytes.len());
    }
    fn text_was_reasoning(&mut self) {
        self.over();
    }
    fn begin(&mut self, call: &CallStart<'_>) {
        if self.is_open() && self.ground.is_word() {
            self.state = Lines::Said(self.at);
        }
        if self.is_open() {
            self.ground.called();
            self.made += 1;
            self.calls.begin(call);
        }
    }
    fn arguments(&mut self, json: &[u8]) {
        if self.is_open() {
            self.calls.arguments(json);
        }
    }
    fn end(&mut self, end: &CallEnd) {
        if self.is_open() {
            self.calls.end(end);
        }
    }
    fn unknown(&mut self, _: &UnknownTool<'_>) {
        if self.state == Lines::Calls {
            self.state = Lines::Unknown;
        }
    }
}

fn row(call: &FoundCall) -> Option<&'static Dialect> {
    Dialect::all().iter().find(|row| row.name() == call.dialect())
}

/// Whether the arguments of a call are those of its parameters. Those of a call that may not run do not count, unless
/// they declare the tool.
fn fits(call: &FoundCall, tools: &Tools) -> bool {
    tools.known(call.name()).is_none_or(|tool| {
        let json = call.arguments();
        !(tool.is_declared_by(json) || call.outcome().can_run() && !tool.takes_all(json))
    })
}
