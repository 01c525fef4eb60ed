//! What engines emit, and what is held back until it is known to be a call.

mod ends;
mod keys;
mod restated;

use wiremend_core::MendOptions;

use keys::Keys;
use restated::{Calls, Waiting};

use super::{
    Dialect, Tools,
    shape::Unknown,
    sink::{CallEnd, CallSink, CallStart, MentionedCall, UnknownTool},
    tools::Tool,
};

/// How many bytes of markers before a call are held back at most.
const MARKERS: usize = 1024;

/// Passes what engines emit to the sink.
#[derive(Clone, Debug, Default)]
pub(super) struct Out {
    /// The offset in the input of the next byte to be emitted.
    pub(super) at: usize,
    /// How many calls have begun.
    calls: usize,
    /// What later calls may repeat.
    stated: Calls,
    /// The keys of the arguments of the open call.
    keys: Option<Box<Keys>>,
    /// The name of the last call.
    name: String,
    /// The block, as long as its calls may be restated ones.
    waiting: Option<Waiting>,
    /// Whether calls are compared with others, and whether the block begins with no marker.
    compared: bool,
    bare: bool,
    /// Whether a call of the block was emitted.
    real: bool,
    /// Where the block began that is being read.
    start: usize,
    /// Where what follows the last call begins, after separators and closing brackets.
    next: usize,
    /// Whether a call is open.
    open: bool,
    /// Whether a call began in this block.
    pub(super) made: bool,
    /// The source of a call that has not begun yet.
    held: Vec<u8>,
    /// Whether what is held begins with a marker around calls.
    pub(super) wrapped: bool,
    /// Whether the last marker around calls is text, because the call after it is none.
    pub(super) shown: bool,
    /// The content of the envelope that is being read.
    content: Vec<u8>,
    /// How many of the first bytes the prompt has written.
    pub(super) prefilled: usize,
    /// The end of the last call, until it is known whether its marker follows.
    ended: Option<CallEnd>,
    /// Whether what is read is a call of a tool that does not exist: it is text up to its end.
    pub(super) unknown: bool,
    /// Whether the calls that are read are only mentioned: they are text, too.
    pub(super) mentions: bool,
    /// Whether the open call has arguments that are no JSON.
    refused: bool,
    /// Whether the arguments of the open call end where a value should be, or inside of one.
    short: bool,
    /// Whether the last call can be run.
    pub(super) ran: bool,
    /// Whether any text that is not white space was emitted.
    pub(super) spoke: bool,
    /// How many bytes engines have passed to menders, or looked ahead.
    pub(super) work: u64,
}

/// What an engine works with.
pub(super) struct Ctx<'a, S> {
    pub(super) sink: &'a mut S,
    pub(super) out: &'a mut Out,
    pub(super) row: &'a Dialect,
    pub(super) tools: &'a Tools,
    pub(super) options: &'a MendOptions,
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
        self.stated.text(bytes);
        self.at += bytes.len();
        self.to(sink).text(bytes);
    }

    pub(super) fn reasoning<S: CallSink>(&mut self, bytes: &[u8], sink: &mut S) {
        if !bytes.is_empty() {
            self.at += bytes.len();
            sink.reasoning(bytes);
        }
    }

    pub(super) fn markup<S: CallSink>(&mut self, bytes: &[u8], sink: &mut S) {
        if !bytes.is_empty() {
            if self.next == self.at {
                let gap = |byte: &&u8| {
                    byte.is_ascii_whitespace() || matches!(byte, b',' | b';' | b'}' | b']')
                };
                self.next += bytes.iter().take_while(gap).count();
            }
            self.at += bytes.len();
            self.to(sink).markup(bytes);
        }
    }

    /// What receives what is emitted: the sink, or the block that waits.
    fn to<'s, S: CallSink>(&'s mut self, sink: &'s mut S) -> &'s mut dyn CallSink {
        match &mut self.waiting {
            Some(waiting) => waiting,
            None => sink,
        }
    }

    /// A marker around calls. It is text if what follows turns out to be no call.
    pub(super) fn around<S: CallSink>(&mut self, bytes: &[u8], sink: &mut S) {
        (self.wrapped, self.shown) = (true, false);
        self.beside(bytes, sink);
    }

    /// Markup that comes before a call, or after one. It is held if a marker around calls is.
    pub(super) fn beside<S: CallSink>(&mut self, bytes: &[u8], sink: &mut S) {
        if self.wrapped && self.held.len() + bytes.len() <= MARKERS {
            self.held.extend_from_slice(bytes);
        } else {
            self.unwrap(sink);
            self.markup(bytes, sink);
        }
    }

    /// No call follows a marker around calls, but nothing that was taken for one either.
    pub(super) fn unwrap<S: CallSink>(&mut self, sink: &mut S) {
        if std::mem::take(&mut self.wrapped) {
            let held = std::mem::take(&mut self.held);
            self.markup(&held, sink);
        }
    }

    /// What is held back.
    pub(super) fn held(&self) -> impl Iterator<Item = &[u8]> {
        let waiting = self.waiting.iter().flat_map(Waiting::source);
        waiting.chain([self.held.as_slice()])
    }

    /// How many calls have begun.
    pub(super) const fn count(&self) -> usize {
        self.calls
    }

    /// A block begins here, after the bytes that are held. `bare` says that no marker begins it.
    pub(super) fn open_block(&mut self, compared: bool, bare: bool) {
        (self.compared, self.bare, self.real) = (compared, bare, false);
        self.start = self.at + self.held.len();
        self.made = false;
    }

    /// Where the next call of a block begins: where the block does, or after the last one, or after what was
    /// none.
    fn begins(&self) -> usize {
        if self.made { self.next } else { self.start.max(self.at) }
    }

    /// What was said so far was reasoning, so that calls in it were none.
    pub(super) fn forget(&mut self) {
        self.spoke = false;
        self.stated = Calls::default();
    }
}

impl<S: CallSink> Ctx<'_, S> {
    pub(super) fn markup(&mut self, bytes: &[u8]) {
        if self.out.unknown {
            self.out.text(bytes, self.sink);
        } else if bytes.is_empty() {
        } else if self.out.made {
            self.out.markup(bytes, self.sink);
            self.bound();
        } else {
            self.out.held.extend_from_slice(bytes);
        }
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        if self.out.open && !self.out.unknown && !bytes.is_empty() {
            self.out.at += bytes.len();
            self.out.to(self.sink).raw(bytes);
            self.bound();
        } else {
            self.markup(bytes);
        }
    }

    /// The content of the envelope that is being read. It waits for the next call, or for the end of the
    /// last one, because without any the envelope is text.
    pub(super) fn content(&mut self, text: &[u8]) {
        self.out.content.extend_from_slice(text);
        if self.out.made && self.out.content.len() > self.options.limits().buffer() {
            self.flush_end(true);
            self.flush_content();
        }
    }

    /// How many of the last `length` bytes of the source the prompt has written.
    pub(super) fn prefilled(&self, length: usize) -> usize {
        let own = (self.out.at + self.out.held.len()).saturating_sub(self.out.prefilled);
        length.saturating_sub(own)
    }

    fn flush_content(&mut self) {
        let content = std::mem::take(&mut self.out.content);
        if !content.is_empty() {
            self.out.to(self.sink).content(&content);
            self.bound();
        }
    }

    /// Emits arguments of the open call.
    pub(super) fn arguments(&mut self, json: &[u8]) {
        if self.out.open && !json.is_empty() {
            let keys = self.out.keys.as_mut();
            self.out.refused |= keys.is_some_and(|keys| keys.read(json));
            self.out.stated.arguments(json);
            self.out.to(self.sink).arguments(json);
            self.bound();
        }
    }

    /// The identifier of the open call, after its arguments.
    pub(super) fn id(&mut self, id: &str) {
        if self.out.open {
            self.out.to(self.sink).id(id);
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
        self.exceeds(0)
    }

    /// Whether so much more would be.
    pub(super) fn exceeds(&self, length: usize) -> bool {
        self.out.held.len() + length > self.options.limits().buffer()
    }

    /// Whether a name is that of a known tool.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.tools.known(name).is_some()
    }

    /// Whether the tool of the open call is known to have no parameters.
    pub(super) fn takes_nothing(&self) -> bool {
        self.tools.known(&self.out.name).is_some_and(Tool::takes_nothing)
    }

    /// Begins a call, with everything that was held, if a tool of that name may be called here.
    pub(super) fn begin(&mut self, name: &str, id: Option<&str>) -> bool {
        let name = self.tools.resolve(name);
        let known = self.is_declared(name);
        let nearest = if known { None } else { self.tools.nearest(name) };
        // What is held may exceed the limit within one piece, before anybody has looked.
        if name.is_empty() || name.bytes().any(|byte| byte.is_ascii_control()) || self.is_full() {
            return false;
        }
        if self.out.mentions {
            self.flush_end(true);
            self.close();
            if known && !self.out.unknown {
                let offset = self.out.begins();
                self.sink.mentioned(&MentionedCall { name, dialect: self.row, offset });
            }
            return false;
        }
        if !known && self.refuses_unknown() {
            self.flush_end(true);
            self.close();
            let offset = self.out.begins();
            self.sink.unknown(&UnknownTool { name, nearest, dialect: self.row, offset });
            if self.drops() {
                self.drop_held();
            }
            return false;
        }
        // In a block, the next call begins where the last one ended.
        let at = if self.out.made { self.out.next } else { self.out.at };
        self.flush_end_at(true, at);
        if self.out.compared {
            let most = self.options.limits().buffer();
            let repeats = self.out.stated.begin(name, self.out.bare, most);
            if repeats && self.out.waiting.is_none() {
                self.out.waiting = Some(Waiting::default());
            }
            self.out.real |= self.out.waiting.is_none();
        }
        name.clone_into(&mut self.out.name);
        self.out.unknown = false;
        self.out.start = self.out.begins();
        self.flush_content();
        let offset = self.out.start;
        let dialect = self.row;
        let index = self.out.calls;
        let call = CallStart { index, name, id, dialect, known, nearest, offset };
        self.out.calls += usize::from(self.out.waiting.is_none());
        self.out.to(self.sink).begin(&call);
        self.out.open = true;
        self.out.keys.get_or_insert_default().reset();
        self.out.refused = false;
        self.out.short = false;
        self.out.made = true;
        (self.out.wrapped, self.out.shown) = (false, false);
        let held = std::mem::take(&mut self.out.held);
        self.out.markup(&held, self.sink);
        true
    }

    /// Reads on after the name of a tool that does not exist: what a call of it would have is text, in which
    /// nothing is called. Returns whether there is such a call.
    pub(super) fn read_unknown(&mut self, name: &str) -> bool {
        let declared = self.is_declared(self.tools.resolve(name));
        let refused = self.refuses_unknown() && !self.drops();
        self.out.unknown = (!declared && refused || self.out.mentions) && !name.is_empty();
        self.out.unknown
    }

    /// Whether there is a tool of that name, as far as anybody has said which there are.
    fn is_declared(&self, name: &str) -> bool {
        self.tools.is_empty() || self.tools.contains(name) || self.row.declares(name)
    }

    /// Whether a call of another tool is none.
    fn refuses_unknown(&self) -> bool {
        self.auto || self.row.unknown != Unknown::Call
    }

    /// A bracket is missing in the arguments. Where that is not clear, the call is refused.
    pub(super) fn lacks_bracket(&mut self) {
        let tool = self.tools.known(&self.out.name);
        let keys = self.out.keys.as_ref().zip(tool);
        self.out.refused |= keys.is_some_and(|(keys, tool)| keys.is_misplaced(tool));
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

    /// The calls that wait are no restated ones, or may not wait any longer.
    fn release(&mut self) {
        self.out.real = true;
        if let Some(waiting) = self.out.waiting.take() {
            waiting.release(self.row, false, &mut self.out.calls, self.sink);
        }
    }

    /// Bounds what waits.
    fn bound(&mut self) {
        let most = self.options.limits().buffer();
        if self.out.waiting.as_ref().is_some_and(|waiting| waiting.bytes() > most) {
            self.release();
        }
    }

    /// The block has ended, so calls that wait are restated ones. Without markers they are text, unless
    /// they are next to other calls. Returns whether there was a call of this block.
    pub(super) fn close(&mut self) -> bool {
        if self.out.made {
            self.flush_content();
        }
        if let Some(waiting) = self.out.waiting.take() {
            let shown = self.out.bare && !self.out.real;
            self.out.shown |= shown;
            waiting.release(self.row, shown, &mut self.out.calls, self.sink);
            return !shown;
        }
        self.out.made
    }

    /// What is held is no call: it is text.
    pub(super) fn fail(&mut self) {
        self.out.shown |= std::mem::take(&mut self.out.wrapped);
        if !self.out.made {
            // It is in the text that follows.
            self.out.content.clear();
        }
        if !self.out.held.is_empty() {
            self.flush_end(true);
        }
        let held = std::mem::take(&mut self.out.held);
        self.out.text(&held, self.sink);
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
        self.out.wrapped = false;
        let held = std::mem::take(&mut self.out.held);
        self.out.markup(&held, self.sink);
    }
}
