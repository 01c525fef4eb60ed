//! The reader of a text with calls in it.

mod after;
mod bare;
mod begins;
mod decide;
mod ground;
mod mentions;
mod place;
mod prompted;
mod steps;
mod text;
mod thoughts;
mod trial;
mod unopened;
mod wraps;

use std::sync::{Arc, OnceLock};

use wiremend_core::MendOptions;

use ground::{Ground, Seat};
use place::LAST;
use trial::{Trial, Verdict};

use super::{
    Dialect, Tools,
    brace::BraceCall,
    input::TextInput,
    json::JsonCall,
    out::Out,
    prefill::{Prefill, Prefilled},
    python::PythonCall,
    setup::Setup,
    sink::CallSink,
    xml::XmlCall,
};

/// How many bytes of a text are read before it is known whether a header goes on in it.
const HEAD: usize = 1024;

/// What the prompt has opened before the text begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CallStartState {
    /// A reasoning block: the template ends with `<think>`.
    Reasoning,
    /// Nothing.
    #[default]
    Text,
}

/// Tells text, reasoning and tool calls apart in the text of a model, while it arrives.
///
/// Without [`with_dialect`](Self::with_dialect), all dialects are looked for at once. Then only
/// known [tools](Self::with_tools) turn text into calls, because an answer may show how a call is
/// written. Without any tools, what has the markers of a dialect is a call.
///
/// Call [`push`](Self::push) any number of times, then one of [`finish`](Self::finish) and
/// [`finish_at_eos`](Self::finish_at_eos). It makes no difference how the input is divided into
/// chunks. Only what may begin a marker is held back, and what may still turn out to be no call: see
/// [`withheld`](Self::withheld). Nothing in a string of a JSON document is a call or a tag, unless the
/// string has run over the end of its line.
///
/// ```
/// use wiremend_core::MendOptions;
/// use wiremend_extract::{CallExtractor, CallOutcome, Dialect, FoundCalls};
///
/// let dialect = Dialect::by_name("hermes").unwrap().clone();
/// let mut reader = CallExtractor::new(MendOptions::new()).with_dialect(dialect);
/// let mut found = FoundCalls::default();
/// reader.push(b"Wait. <tool_call>{'name': 'book', 'argum", &mut found);
/// reader.push(b"ents': {'seats': 2,}}</tool_call>", &mut found);
/// reader.finish_at_eos(&mut found);
/// let call = &found.calls()[0];
/// assert_eq!((call.name(), call.outcome()), ("book", CallOutcome::Repaired));
/// assert_eq!(call.arguments(), br#"{"seats": 2}"#);
/// assert_eq!(found.text(), b"Wait. ");
/// ```
#[derive(Clone, Debug)]
pub struct CallExtractor {
    options: MendOptions,
    tools: Arc<Tools>,
    rows: Vec<Arc<Dialect>>,
    auto: bool,
    start: CallStartState,
    setup: Option<Arc<Setup>>,
    /// The same for all copies of this reader, so that it is made once.
    shared: Arc<OnceLock<Arc<Setup>>>,
    state: State,
    out: Out,
    /// Follows the documents in the text, once there is any.
    /// What the prompt has written, if it has written anything.
    prefill: Option<Box<Prefill>>,
    /// Bytes that are not decided yet.
    buf: Vec<u8>,
    /// The row of the call that has just ended, until text follows.
    after: Option<usize>,
    /// Whether that call is JSON without a marker, on a line of its own.
    alone: bool,
    /// The row of the marker that was just read outside of a call, until text follows.
    around: Option<usize>,
    /// The shape of the block of JSON that was read last, as long as its closing marker has not come.
    block: Option<usize>,
    /// The rows that have made a call.
    made: Vec<usize>,
    /// The last bytes of text.
    last: [u8; LAST],
    /// Where the text is.
    ground: Ground,
    /// What may be a call without a marker, as long as it is judged, and what was judged.
    trial: Option<Box<Trial>>,
    verdict: Option<Verdict>,
    /// Whether this is the reader of a judge, to which every place is one for calls.
    judges: bool,
    /// Where what follows a marker around calls is.
    seat: Seat,
    /// Whether there was a header of a message, or a reasoning block.
    seen: bool,
    /// Whether the tag of a reasoning block was mentioned in the line.
    mentioned: bool,
    /// Whether there was text after the last call.
    spoke: bool,
    /// Whether the header of the message that is open is text, because no call began with it.
    unread: bool,
    /// Whether a call began in a reasoning block, which may still be closed.
    interrupted: bool,
    /// Whether the message that is open is for the user, so that no call begins in it.
    for_user: bool,
    /// Whether a tag has opened what is for the user.
    answers: bool,
    /// Whether it was a control token, so that only a marker begins a call.
    only_marked: bool,
    /// Whether the text is what a tool has returned, so that no call begins in it.
    in_result: bool,
    /// Whether the text may begin with the rest of a header that the prompt has opened.
    in_header: bool,
    finished: bool,
    steps: u64,
}

#[derive(Clone, Debug)]
enum State {
    Text,
    Reasoning(Thought),
    Call(usize, Box<Engine>),
}

/// A reasoning block.
#[derive(Clone, Debug, Default)]
struct Thought {
    /// What closes it: the header of a message if it is empty.
    close: Vec<u8>,
    /// The first call that begins in it, as its row and tool. If nothing closes the block, it is reported.
    draft: Option<(usize, String)>,
}

impl Thought {
    fn until(close: impl Into<Vec<u8>>) -> Self {
        Self { close: close.into(), draft: None }
    }
}

#[derive(Clone, Debug)]
enum Engine {
    Json(Box<JsonCall>),
    Xml(XmlCall),
    Python(PythonCall),
    Brace(BraceCall),
    Input(TextInput),
}

impl Engine {
    /// What it read and did not emit yet.
    fn pending(&self) -> &[u8] {
        match self {
            Self::Json(call) => call.pending(),
            Self::Xml(call) => call.pending(),
            Self::Python(_) | Self::Brace(_) | Self::Input(_) => b"",
        }
    }
}

impl CallExtractor {
    /// Creates a reader that looks for all dialects.
    #[must_use]
    pub fn new(options: MendOptions) -> Self {
        Self {
            options: options.without_search(),
            tools: Arc::default(),
            rows: Vec::new(),
            auto: true,
            start: CallStartState::Text,
            setup: None,
            shared: Arc::default(),
            state: State::Text,
            out: Out::default(),
            prefill: None,
            buf: Vec::new(),
            after: None,
            alone: false,
            around: None,
            block: None,
            made: Vec::new(),
            last: [b'\n'; LAST],
            ground: Ground::default(),
            trial: None,
            verdict: None,
            judges: false,
            seat: Seat::Free,
            seen: false,
            mentioned: false,
            spoke: false,
            unread: false,
            interrupted: false,
            for_user: false,
            answers: false,
            only_marked: false,
            in_result: false,
            in_header: true,
            finished: false,
            steps: 0,
        }
    }

    /// The tools that calls may name.
    pub(super) fn tools(&self) -> &Tools {
        &self.tools
    }

    /// A reader that judges a part of the text.
    fn judge(&self) -> Self {
        Self {
            tools: Arc::clone(&self.tools),
            rows: self.rows.clone(),
            shared: Arc::clone(&self.shared),
            seen: self.seen,
            judges: true,
            in_header: false,
            ..Self::new(self.options.clone())
        }
    }

    /// Uses other options: the policy and the limits. The dialects stay as they were made ready.
    #[must_use]
    pub fn with_mending(mut self, options: MendOptions) -> Self {
        self.options = options.without_search();
        self
    }

    /// The options: the policy and the limits.
    #[must_use]
    pub const fn options(&self) -> &MendOptions {
        &self.options
    }

    /// Looks for this dialect. The first one replaces all others, and further ones are looked for as
    /// well. A call of an unknown tool is then a call, too.
    #[must_use]
    pub fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.auto = false;
        self.rows.push(Arc::new(dialect));
        self.change()
    }

    /// Looks for this dialect next to all others.
    #[must_use]
    pub fn with_registered(mut self, dialect: Dialect) -> Self {
        self.rows.push(Arc::new(dialect));
        self.change()
    }

    /// The tools that calls may name.
    #[must_use]
    pub fn with_tools(mut self, tools: impl Into<Arc<Tools>>) -> Self {
        self.tools = tools.into();
        self.change()
    }

    /// What the prompt has opened.
    #[must_use]
    pub fn with_start(mut self, start: CallStartState) -> Self {
        self.start = start;
        self.begin();
        self
    }

    /// What the prompt has already written of the answer: the end of the template, such as `<tool_call>`,
    /// or the beginning of an answer that the model goes on with. It is read before the input, and is
    /// no part of it: it is not passed on, offsets do not count it, and a call that began in it begins at 0.
    ///
    /// ### Default
    /// Nothing.
    ///
    /// ```
    /// use wiremend_core::MendOptions;
    /// use wiremend_extract::{CallExtractor, CallOutcome, Dialect, FoundCalls};
    ///
    /// let dialect = Dialect::by_name("hermes").unwrap().clone();
    /// let reader = CallExtractor::new(MendOptions::new()).with_dialect(dialect);
    /// let mut reader = reader.with_prefill("<tool_call>\n{\"name\": \"book\", \"arguments\":");
    /// let mut found = FoundCalls::default();
    /// reader.push(b" {\"seats\": 2}}\n</tool_call>", &mut found);
    /// reader.finish_at_eos(&mut found);
    /// let call = &found.calls()[0];
    /// assert_eq!((call.name(), call.outcome()), ("book", CallOutcome::Whole));
    /// assert_eq!(call.raw(), br#"{"seats": 2}"#);
    /// ```
    #[must_use]
    pub fn with_prefill(mut self, text: impl Into<Vec<u8>>) -> Self {
        let text = text.into();
        self.prefill = if text.is_empty() { None } else { Some(Box::new(Prefill::new(text))) };
        self
    }

    fn begin(&mut self) {
        self.state = match self.start {
            CallStartState::Text => State::Text,
            CallStartState::Reasoning => State::Reasoning(Thought::until("</think>")),
        };
        self.seen = self.start == CallStartState::Reasoning;
        (self.spoke, self.unread, self.interrupted) = (false, false, false);
        (self.for_user, self.in_result) = (false, false);
        (self.answers, self.only_marked) = (false, false);
        self.ground.message();
        (self.trial, self.verdict) = (None, None);
        self.await_header();
    }

    /// Expects the rest of a header that the prompt has opened, where the dialect has such a prompt.
    fn await_header(&mut self) {
        let at_start = self.start == CallStartState::Text;
        let prompted = self.auto || self.rows.iter().any(|row| row.is_prompted());
        self.in_header = at_start && prompted;
    }

    /// Reads a chunk, and emits what is certain now.
    pub fn push(&mut self, chunk: &[u8], sink: &mut impl CallSink) {
        if self.finished {
            self.out.text(chunk, sink);
            return;
        }
        self.prefilled(sink, |reader, sink| {
            if !chunk.is_empty() {
                reader.read_prefill(sink);
            }
            reader.read(chunk, sink);
        });
    }

    /// Reads without passing on what the prompt has written.
    fn prefilled<S: CallSink>(
        &mut self,
        sink: &mut S,
        then: impl FnOnce(&mut Self, &mut Prefilled<'_, S>),
    ) {
        let mut prefill = self.prefill.take();
        then(self, &mut Prefilled { sink, prefill: &mut prefill });
        self.prefill = prefill;
    }

    fn read_prefill<S: CallSink>(&mut self, sink: &mut Prefilled<'_, S>) {
        let Some(prefill) = sink.prefill.as_mut().filter(|prefill| !prefill.read) else { return };
        prefill.read = true;
        let text = prefill.text.clone();
        self.out.prefilled = text.len();
        self.read(&text, sink);
    }

    fn read<S: CallSink>(&mut self, chunk: &[u8], sink: &mut Prefilled<'_, S>) {
        let mut rest = chunk;
        if self.in_header && chunk.len() > HEAD {
            // Only what may be a header is copied before it is read.
            let (head, tail) = chunk.split_at(HEAD);
            self.buf.extend_from_slice(head);
            self.pump(false, false, sink);
            rest = tail;
        }
        let chunk = rest;
        if self.buf.is_empty() && self.is_in_text() {
            // Text with which nothing may begin is passed on from where it is.
            let setup = self.take_setup();
            let plain = self.plain(chunk, 0, &setup);
            self.setup = Some(setup);
            self.steps += 1 + plain as u64;
            let (text, after) = chunk.split_at(plain);
            self.skip(text);
            self.pass(text, sink);
            rest = after;
        }
        if !rest.is_empty() {
            self.buf.extend_from_slice(rest);
            self.pump(false, false, sink);
        }
    }

    /// Whether nothing but text was read since the last call.
    fn is_in_text(&self) -> bool {
        let text = matches!(self.state, State::Text) && !self.in_header && self.trial.is_none();
        text && self.after.is_none() && self.around.is_none()
    }

    /// Ends the text where the transport ended. A call that is open was cut off.
    pub fn finish(&mut self, sink: &mut impl CallSink) {
        self.end(false, sink);
    }

    /// Ends the text where the model ended it itself. In dialects in which that may end a call, the
    /// open call is complete.
    pub fn finish_at_eos(&mut self, sink: &mut impl CallSink) {
        self.end(true, sink);
    }

    fn end(&mut self, eos: bool, sink: &mut impl CallSink) {
        if !self.finished {
            self.prefilled(sink, |reader, sink| {
                reader.read_prefill(sink);
                reader.pump(true, eos, sink);
            });
            self.finished = true;
        }
    }

    /// Starts over with the same dialects and tools. Returns the bytes that were not decided: those that
    /// were received, and not passed to a sink.
    ///
    /// ```
    /// use wiremend_core::MendOptions;
    /// use wiremend_extract::{CallExtractor, Dialect, FoundCalls};
    ///
    /// let dialect = Dialect::by_name("hermes").unwrap().clone();
    /// let mut reader = CallExtractor::new(MendOptions::new()).with_dialect(dialect);
    /// let mut found = FoundCalls::default();
    /// reader.push(b"Wait. <tool_call>{\"name\": \"bo", &mut found);
    /// assert_eq!(found.text(), b"Wait. ");
    /// assert_eq!(reader.reset(), b"<tool_call>{\"name\": \"bo");
    /// ```
    pub fn reset(&mut self) -> Vec<u8> {
        let rest: Vec<&[u8]> = self.undecided().collect();
        let rest = rest.concat();
        self.buf.clear();
        self.out = Out::default();
        if let Some(prefill) = &mut self.prefill {
            prefill.reset();
        }
        self.after = None;
        self.around = None;
        self.block = None;
        self.made.clear();
        self.last = [b'\n'; LAST];
        self.finished = false;
        self.steps = 0;
        self.begin();
        rest
    }

    /// How many bytes were received but not emitted yet: at most the longest marker, the white space
    /// and tags that decide whether a value has ended, and within the limit
    /// [`Limits::with_buffer`](wiremend_core::Limits::with_buffer) what may still turn out to be no
    /// call.
    #[must_use]
    pub fn withheld(&self) -> usize {
        self.undecided().map(<[u8]>::len).sum()
    }

    /// What was received but not emitted yet.
    fn undecided(&self) -> impl Iterator<Item = &[u8]> {
        let read = match &self.state {
            State::Call(_, engine) => engine.pending(),
            State::Text | State::Reasoning(_) => b"",
        };
        let mut left = self.prefill.as_ref().map_or(0, |prefill| prefill.held());
        self.out.held().chain([read, self.buf.as_slice()]).map(move |bytes| {
            let (prefill, rest) = bytes.split_at(left.min(bytes.len()));
            left -= prefill.len();
            rest
        })
    }

    /// How many calls have begun.
    #[must_use]
    pub const fn calls(&self) -> usize {
        self.out.count()
    }

    /// How many steps of work were done. Grows in proportion to the input.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps + self.out.work
    }

    /// What was made ready is for other dialects or tools.
    fn change(mut self) -> Self {
        (self.setup, self.shared) = (None, Arc::default());
        self.await_header();
        self
    }

    /// Takes what was made ready, or makes it. To share it each time would cost more than to read a short
    /// chunk.
    fn take_setup(&mut self) -> Arc<Setup> {
        if let Some(setup) = self.setup.take() {
            return setup;
        }
        let make = || {
            let mut rows = self.rows.clone();
            if self.auto {
                rows.extend(Dialect::all().iter().cloned().map(Arc::new));
            }
            Arc::new(Setup::new(rows, self.auto, Arc::clone(&self.tools)))
        };
        Arc::clone(self.shared.get_or_init(make))
    }
}
