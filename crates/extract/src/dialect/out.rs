//! What engines emit, and what is held back until it is known to be a call.

use jsonmend_core::Options;

use super::{
    Dialect, Tools,
    shape::Unknown,
    sink::{CallEnd, CallOutcome, CallSink, CallStart, UnknownTool},
};

/// The source of a call that has not begun yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Markup,
    Raw,
}

/// Passes what engines emit to the sink.
#[derive(Clone, Debug, Default)]
pub(super) struct Out {
    /// The offset in the input of the next byte to be emitted.
    pub(super) at: usize,
    /// How many calls have begun.
    calls: usize,
    /// Where the block began that is being read.
    start: usize,
    /// Whether a call is open.
    open: bool,
    /// Whether a call began in this block.
    pub(super) made: bool,
    /// The source of a call that has not begun yet.
    held: Vec<(Part, Vec<u8>)>,
    held_bytes: usize,
    /// Whether that is held, although a call began in this block.
    holds: bool,
    /// The end of the last call, until it is known whether its marker follows.
    ended: Option<CallEnd>,
    /// Whether the open call has arguments that are no JSON.
    refused: bool,
    /// Whether the arguments of the open call end where a value should be, or inside of one.
    short: bool,
    /// Whether any text that is not white space was emitted.
    pub(super) spoke: bool,
    /// How many bytes engines have passed to menders.
    pub(super) work: u64,
}

/// What an engine works with.
pub(super) struct Ctx<'a, S> {
    pub(super) sink: &'a mut S,
    pub(super) out: &'a mut Out,
    pub(super) row: &'a Dialect,
    pub(super) tools: &'a Tools,
    pub(super) options: &'a Options,
    /// Whether the dialect was detected, so that only known tools count.
    pub(super) auto: bool,
    /// Whether the model itself ended the text.
    pub(super) eos: bool,
}

impl Out {
    pub(super) fn text<S: CallSink>(&mut self, bytes: &[u8], sink: &mut S) {
        if bytes.is_empty() {
            return;
        }
        self.spoke = self.spoke || !bytes.iter().all(u8::is_ascii_whitespace);
        self.at += bytes.len();
        sink.text(bytes);
    }

    pub(super) fn reasoning<S: CallSink>(&mut self, bytes: &[u8], sink: &mut S) {
        if !bytes.is_empty() {
            self.at += bytes.len();
            sink.reasoning(bytes);
        }
    }

    pub(super) fn markup<S: CallSink>(&mut self, bytes: &[u8], sink: &mut S) {
        if !bytes.is_empty() {
            self.at += bytes.len();
            sink.markup(bytes);
        }
    }

    /// What is held back.
    pub(super) fn held(&self) -> impl Iterator<Item = &[u8]> {
        self.held.iter().map(|(_, bytes)| bytes.as_slice())
    }

    /// How many calls have begun.
    pub(super) const fn count(&self) -> usize {
        self.calls
    }

    /// A block begins here, after the bytes that are held.
    pub(super) fn open_block(&mut self) {
        self.start = self.at;
        self.made = false;
        self.holds = false;
    }

    /// The source from this offset on was emitted before.
    pub(super) fn rewind(&mut self, offset: usize) {
        self.at = offset;
        if let Some(end) = &mut self.ended {
            end.span.end = end.span.end.min(offset);
        }
    }

    fn hold(&mut self, part: Part, bytes: &[u8]) {
        self.held_bytes += bytes.len();
        match self.held.last_mut() {
            Some((last, held)) if *last == part => held.extend_from_slice(bytes),
            _ => self.held.push((part, bytes.to_vec())),
        }
    }
}

impl<S: CallSink> Ctx<'_, S> {
    pub(super) fn markup(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
        } else if self.out.open || self.out.made && !self.out.holds {
            self.out.markup(bytes, self.sink);
        } else {
            self.out.hold(Part::Markup, bytes);
        }
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
        } else if self.out.open {
            self.out.at += bytes.len();
            self.sink.raw(bytes);
        } else if self.out.made && !self.out.holds {
            self.out.markup(bytes, self.sink);
        } else {
            self.out.hold(Part::Raw, bytes);
        }
    }

    /// Emits arguments of the open call.
    pub(super) fn arguments(&mut self, json: &[u8]) {
        if self.out.open && !json.is_empty() {
            self.sink.arguments(json);
        }
    }

    /// Whether the end of the input ends a call.
    pub(super) fn end_closes(&self) -> bool {
        self.eos && self.row.end_closes
    }

    pub(super) fn text(&mut self, bytes: &[u8]) {
        // A call does not reach over the text after it.
        self.flush_end(true);
        self.out.text(bytes, self.sink);
    }

    /// Whether more is held than the limit allows.
    pub(super) fn is_full(&self) -> bool {
        self.out.held_bytes > self.options.limits().buffer()
    }

    /// Whether a name is that of a known tool.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.tools.known(name).is_some()
    }

    /// Begins a call, with everything that was held, if a tool of that name may be called here.
    pub(super) fn begin(&mut self, name: &str, id: Option<&str>) -> bool {
        let name = self.tools.resolve(name);
        let known = self.tools.is_empty() || self.tools.contains(name);
        let nearest = if known { None } else { self.tools.nearest(name) };
        let refused = self.auto || self.row.unknown != Unknown::Call;
        if name.is_empty() || name.bytes().any(|byte| byte.is_ascii_control()) {
            return false;
        }
        if !known && refused {
            self.flush_end(true);
            let offset = self.out.start;
            self.sink.unknown(&UnknownTool { name, nearest, dialect: self.row, offset });
            if self.drops() {
                self.drop_held();
            }
            return false;
        }
        self.flush_end(true);
        let index = self.out.calls;
        self.out.calls += 1;
        if self.out.made {
            self.out.start = self.out.at;
        }
        let offset = self.out.start;
        let dialect = self.row;
        self.sink.begin(&CallStart { index, name, id, dialect, known, nearest, offset });
        self.out.open = true;
        self.out.refused = false;
        self.out.short = false;
        self.out.made = true;
        self.out.holds = false;
        self.out.held_bytes = 0;
        for (part, bytes) in std::mem::take(&mut self.out.held) {
            match part {
                Part::Markup => self.out.markup(&bytes, self.sink),
                Part::Raw => {
                    self.out.at += bytes.len();
                    self.sink.raw(&bytes);
                }
            }
        }
        true
    }

    /// The arguments of the open call are no JSON, and cannot be made so.
    pub(super) fn refuse(&mut self) {
        self.out.refused = true;
    }

    /// The arguments of the open call end where a value should be, or inside of one, whatever closes
    /// them.
    pub(super) fn stop_short(&mut self) {
        self.out.short = true;
    }

    /// Ends the open call. The event waits until it is known whether the closing marker follows.
    pub(super) fn end(&mut self, outcome: CallOutcome, repairs: usize, at_end: bool) {
        if !self.out.open {
            return;
        }
        self.out.open = false;
        let span = self.out.start..self.out.at;
        let outcome = match outcome {
            CallOutcome::Whole if self.out.short => CallOutcome::Cut,
            CallOutcome::Whole if self.out.refused => CallOutcome::Refused,
            CallOutcome::Whole if repairs > 0 => CallOutcome::Repaired,
            other => other,
        };
        self.out.ended = Some(CallEnd { outcome, span, repairs, unclosed: false, at_end });
    }

    /// The call that has just ended may not be run.
    pub(super) fn refuse_ended(&mut self) {
        if let Some(end) = &mut self.out.ended
            && end.outcome.can_run()
        {
            end.outcome = CallOutcome::Refused;
        }
    }

    /// Emits the end of the last call.
    pub(super) fn flush_end(&mut self, closed: bool) {
        if let Some(mut end) = self.out.ended.take() {
            end.unclosed = !closed;
            end.span.end = end.span.end.max(self.out.at);
            self.sink.end(&end);
        }
    }

    /// Says whether what follows is held back, although a call began in this block.
    pub(super) fn hold(&mut self, holds: bool) {
        self.out.holds = holds;
    }

    /// What is held is no call: it is text.
    pub(super) fn fail(&mut self) {
        self.out.holds = false;
        self.out.held_bytes = 0;
        if !self.out.held.is_empty() {
            self.flush_end(true);
        }
        for (_, bytes) in std::mem::take(&mut self.out.held) {
            self.out.text(&bytes, self.sink);
        }
    }

    /// Whether what is no call is not text either.
    pub(super) fn drops(&self) -> bool {
        self.row.unknown == Unknown::Drop && !self.auto
    }

    /// Emits what is neither a call nor text.
    pub(super) fn dropped(&mut self, bytes: &[u8]) {
        self.out.markup(bytes, self.sink);
    }

    /// What is held is neither a call nor text.
    fn drop_held(&mut self) {
        self.out.held_bytes = 0;
        for (_, bytes) in std::mem::take(&mut self.out.held) {
            self.out.markup(&bytes, self.sink);
        }
    }
}
