//! Calls in the texts of a response.

mod finder;
mod options;

use std::collections::BTreeMap;

use wiremend_core::{
    Collected, MendOptions, Mended, Mender, Outcome, Repairs, buffer::BoundedBuffer, mend,
};
use wiremend_extract::{
    CallEnd, CallExtractor, CallOutcome, CallSink, CallStart, MentionedCall, RestatedCall,
    UnknownTool,
};
use wiremend_wire::{Block, Call, CallKind, Doubt, WireEvent, WireLimits};

use crate::Event;

pub use options::TextCalls;

/// How many texts of one response are searched; any others pass through. No real response has this
/// many, and each costs memory.
const MOST_TEXTS: usize = 1024;

/// What the search passes on.
pub(crate) enum Passed<'a> {
    /// An event of the decoder.
    Wire(&'a WireEvent<'a>),
    /// An event like those of the decoder, about something that was found in a text.
    Found(&'a WireEvent<'a>),
    /// An event of this crate alone.
    Own(Event),
}

/// Receives what the search passes on.
type Next<'n> = &'n mut dyn FnMut(Passed<'_>);

/// Turns calls in the texts of a response into events like those of the format.
#[derive(Debug)]
pub(crate) struct CallsInText {
    source: TextCalls,
    mending: MendOptions,
    limits: WireLimits,
    texts: BTreeMap<(Block, Field), Text>,
    shared: Shared,
    /// The numbers of the calls of the format, which are counted with the others.
    numbers: BTreeMap<usize, usize>,
}

/// Where a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Field {
    Text,
    /// The reasoning that the provider sends apart from the text, in which calls are made.
    Reasoning,
    /// The same, if they are only mentioned there. It was passed on.
    Mentions,
}

/// What all texts share.
#[derive(Debug, Default)]
struct Shared {
    begun: usize,
    /// How many bytes are kept of all open calls.
    kept: usize,
    /// Something was lost: no call that ends from here on is complete.
    doubt: Option<Doubt>,
    /// Why a call that the end of its text ended, and that needed repairs, is not complete.
    unclean: Option<Doubt>,
}

/// One text that is searched.
#[derive(Debug)]
struct Text {
    reader: CallExtractor,
    state: TextState,
}

#[derive(Debug, Default)]
struct TextState {
    open: Option<OpenCall>,
    /// The numbers of its calls, without those that are too many.
    numbers: Vec<usize>,
    text: Characters,
    reasoning: Characters,
}

/// Bytes of a text, as whole characters.
#[derive(Debug, Default)]
struct Characters(Vec<u8>);

impl Characters {
    /// Appends bytes, and takes what is whole.
    fn push(&mut self, bytes: &[u8]) -> String {
        self.0.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.0) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let rest = self.0.split_off(whole);
        let whole = std::mem::replace(&mut self.0, rest);
        String::from_utf8(whole).unwrap_or_default()
    }

    /// Takes what is left.
    fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.0)).into_owned()
    }
}

#[derive(Debug)]
struct OpenCall {
    /// `None` if there are too many calls: it stays text.
    number: Option<usize>,
    name: String,
    id: Option<String>,
    dialect: String,
    raw: BoundedBuffer,
    json: BoundedBuffer,
}

impl OpenCall {
    fn held(&self) -> usize {
        self.raw.held() + self.json.held()
    }
}

impl CallsInText {
    pub(crate) fn new(source: TextCalls, mending: &MendOptions, limits: WireLimits) -> Self {
        Self {
            source: source.ready(),
            mending: mending.clone(),
            limits,
            texts: BTreeMap::new(),
            shared: Shared::default(),
            numbers: BTreeMap::new(),
        }
    }

    /// Reads an event of the decoder.
    pub(crate) fn take(&mut self, event: &WireEvent<'_>, next: Next<'_>) {
        match *event {
            WireEvent::Text { block, text } if self.is_searched(block, Field::Text) => {
                self.with((block, Field::Text), next, |reader, route| {
                    reader.push(text.as_bytes(), route);
                });
            }
            WireEvent::Reasoning { block, text } => {
                let field = self.reasoning();
                let searched = self.is_searched(block, field);
                if !searched || field == Field::Mentions {
                    next(Passed::Wire(event));
                }
                self.with((block, field), next, |reader, route| {
                    reader.push(text.as_bytes(), route);
                });
            }
            WireEvent::Doubted(doubt) => {
                self.shared.doubt.get_or_insert(doubt);
                next(Passed::Wire(event));
            }
            WireEvent::Finish(finish) => {
                let clean = finish.reason().is_clean();
                self.finish(Some(finish.choice()), clean, Doubt::UncleanStop, next);
                next(Passed::Wire(event));
            }
            WireEvent::Ended(_) => {
                self.finish(None, false, Doubt::BodyEnded, next);
                next(Passed::Wire(event));
            }
            _ => self.renumber(event, next),
        }
    }

    /// Passes an event of a call of the format on, with its number among all calls.
    fn renumber(&mut self, event: &WireEvent<'_>, next: Next<'_>) {
        let number = |numbers: &BTreeMap<usize, usize>, call: usize| {
            numbers.get(&call).copied().unwrap_or(call)
        };
        let numbers = &mut self.numbers;
        let renumbered = match *event {
            WireEvent::CallBegan { call, choice, kind, id, name } => {
                numbers.insert(call, self.shared.begun);
                let call = self.shared.begun;
                self.shared.begun += 1;
                WireEvent::CallBegan { call, choice, kind, id, name }
            }
            WireEvent::CallNamed { call, name } => {
                WireEvent::CallNamed { call: number(numbers, call), name }
            }
            WireEvent::CallFragment { call, bytes } => {
                WireEvent::CallFragment { call: number(numbers, call), bytes }
            }
            WireEvent::CallRaw { call, bytes } => {
                WireEvent::CallRaw { call: number(numbers, call), bytes }
            }
            WireEvent::CallUnsure { call } => WireEvent::CallUnsure { call: number(numbers, call) },
            WireEvent::CallEnded(call) => {
                let own = number(numbers, call.number());
                let call = call.clone().with_number(own);
                return next(Passed::Wire(&WireEvent::CallEnded(&call)));
            }
            _ => return next(Passed::Wire(event)),
        };
        next(Passed::Wire(&renumbered));
    }

    const fn reasoning(&self) -> Field {
        if self.source.makes_calls_in_reasoning() { Field::Reasoning } else { Field::Mentions }
    }

    /// Whether a text is searched. Adds an entry for a new text.
    fn is_searched(&mut self, block: Block, field: Field) -> bool {
        if !self.texts.contains_key(&(block, field)) {
            if self.texts.len() >= MOST_TEXTS {
                return false;
            }
            let same = |(other, of): &(Block, Field)| {
                other.choice() == block.choice() && *of == Field::Text
            };
            let first = field == Field::Text && !self.texts.keys().any(same);
            let reader = self.source.reader(first, &self.mending);
            self.texts.insert((block, field), Text { reader, state: TextState::default() });
        }
        true
    }

    /// Ends the texts of one choice, or of all.
    fn finish(&mut self, choice: Option<u32>, clean: bool, unclean: Doubt, next: Next<'_>) {
        let of_choice =
            |(block, _): &&(Block, Field)| choice.is_none_or(|choice| block.choice() == choice);
        let texts: Vec<_> = self.texts.keys().filter(of_choice).copied().collect();
        self.shared.unclean = (!clean).then_some(unclean);
        for text in texts {
            self.with(text, next, |reader, route| {
                if clean {
                    reader.finish_at_eos(route);
                } else {
                    reader.finish(route);
                }
                route.flush();
            });
        }
        self.shared.unclean = None;
    }

    fn with(
        &mut self,
        (block, field): (Block, Field),
        next: Next<'_>,
        then: impl FnOnce(&mut CallExtractor, &mut Route<'_>),
    ) {
        let Some(text) = self.texts.get_mut(&(block, field)) else { return };
        let mut route = Route {
            block,
            field,
            state: &mut text.state,
            shared: &mut self.shared,
            mending: &self.mending,
            limits: self.limits,
            next,
        };
        then(&mut text.reader, &mut route);
    }
}

/// Turns what is found in one text into events.
struct Route<'a> {
    block: Block,
    field: Field,
    state: &'a mut TextState,
    shared: &'a mut Shared,
    mending: &'a MendOptions,
    limits: WireLimits,
    next: Next<'a>,
}

impl Route<'_> {
    fn say(&mut self, event: &WireEvent<'_>) {
        (self.next)(Passed::Found(event));
    }

    fn say_text(&mut self, text: &str) {
        match self.field {
            _ if text.is_empty() => {}
            Field::Text => self.say(&WireEvent::Text { block: self.block, text }),
            Field::Reasoning | Field::Mentions => self.say_reasoning(text),
        }
    }

    fn say_reasoning(&mut self, text: &str) {
        if !text.is_empty() && self.field != Field::Mentions {
            self.say(&WireEvent::Reasoning { block: self.block, text });
        }
    }

    /// A call is only mentioned.
    fn mention(&mut self, name: &str) {
        let (block, name) = (self.block, name.to_owned());
        (self.next)(Passed::Own(Event::CallMentioned { block, name }));
    }

    /// Emits what is left of the text.
    fn flush(&mut self) {
        let text = self.state.text.finish();
        self.say_text(&text);
        let reasoning = self.state.reasoning.finish();
        self.say_reasoning(&reasoning);
    }

    /// Whether the open call stays text, because there are too many.
    fn is_refused(&self) -> bool {
        self.state.open.as_ref().is_some_and(|open| open.number.is_none())
    }

    /// Changes the open call, within what may be kept of all open calls.
    fn grow(&mut self, change: impl FnOnce(&mut OpenCall)) {
        let Some(open) = &mut self.state.open else { return };
        let before = open.held();
        change(open);
        let others = self.shared.kept.saturating_sub(before);
        // The arguments are kept twice: as they were written, and as they were mended.
        if others + open.held() > self.limits.open_arguments().saturating_mul(2) {
            open.raw.give_up();
            open.json.give_up();
        }
        self.shared.kept = others + open.held();
    }
}

impl CallSink for Route<'_> {
    fn text(&mut self, bytes: &[u8]) {
        let text = self.state.text.push(bytes);
        self.say_text(&text);
    }

    fn content(&mut self, text: &[u8]) {
        self.text(text);
    }

    fn reasoning(&mut self, bytes: &[u8]) {
        let text = self.state.reasoning.push(bytes);
        self.say_reasoning(&text);
    }

    fn text_was_reasoning(&mut self) {
        if self.field != Field::Text {
            return;
        }
        (self.next)(Passed::Own(Event::TextWasReasoning { block: self.block }));
    }

    fn markup(&mut self, bytes: &[u8]) {
        if self.is_refused() {
            self.text(bytes);
        }
    }

    fn begin(&mut self, call: &CallStart<'_>) {
        if self.field == Field::Mentions {
            if call.known {
                self.mention(call.name);
            }
            return;
        }
        let number = (self.shared.begun < self.limits.calls()).then_some(self.shared.begun);
        let limit = self.limits.arguments();
        self.state.open = Some(OpenCall {
            number,
            name: call.name.to_owned(),
            id: call.id.map(str::to_owned),
            dialect: call.dialect.name().to_owned(),
            raw: BoundedBuffer::new(limit),
            json: BoundedBuffer::new(limit),
        });
        let Some(number) = number else { return };
        self.shared.begun += 1;
        self.state.numbers.push(number);
        self.say(&WireEvent::CallBegan {
            call: number,
            choice: self.block.choice(),
            kind: CallKind::Function,
            id: call.id,
            name: Some(call.name),
        });
    }

    fn raw(&mut self, bytes: &[u8]) {
        if self.is_refused() {
            self.text(bytes);
        } else {
            self.grow(|open| open.raw.push(bytes));
        }
    }

    fn arguments(&mut self, json: &[u8]) {
        let Some(call) = self.state.open.as_ref().and_then(|open| open.number) else { return };
        self.grow(|open| open.json.push(json));
        self.say(&WireEvent::CallFragment { call, bytes: json });
    }

    fn id(&mut self, id: &str) {
        if let Some(open) = &mut self.state.open {
            open.id = Some(id.to_owned());
        }
    }

    fn end(&mut self, end: &CallEnd) {
        let Some(open) = self.state.open.take() else { return };
        self.shared.kept = self.shared.kept.saturating_sub(open.held());
        let Some(number) = open.number else { return };
        let repaired_at_end = end.at_end && end.outcome == CallOutcome::Repaired;
        let unclean = self.shared.unclean.filter(|_| repaired_at_end);
        let doubt = self.shared.doubt.or(unclean);
        let call = Call::in_text(
            (number, self.block.choice()),
            (open.name, open.id),
            &open.dialect,
            match (open.raw.into_bytes(), open.json.into_bytes()) {
                (Some(raw), Some(json)) => account(&raw, json, end, self.mending),
                _ => (String::new(), failed(Outcome::Overflow)),
            },
            doubt,
        );
        self.say(&WireEvent::CallEnded(&call));
    }

    fn mentioned(&mut self, call: &MentionedCall<'_>) {
        self.mention(call.name);
    }

    fn restated(&mut self, call: &RestatedCall<'_>) {
        if let Some(&number) = self.state.numbers.get(call.index) {
            let (block, name) = (self.block, call.name.to_owned());
            (self.next)(Passed::Own(Event::CallRestated { block, call: number, name }));
        }
    }

    fn unknown(&mut self, tool: &UnknownTool<'_>) {
        if self.field == Field::Mentions {
            return;
        }
        (self.next)(Passed::Own(Event::UnknownTool {
            block: self.block,
            name: tool.name.to_owned(),
            nearest: tool.nearest.map(str::to_owned),
        }));
    }
}

// What was done to the arguments of a call in a text.

/// The arguments of a call as JSON text, and what mending made of it. Where they were written as JSON, it
/// is what the model wrote, and the repairs lead from there to the arguments that were emitted. Otherwise
/// it is what was decoded.
fn account(raw: &[u8], json: Vec<u8>, end: &CallEnd, mending: &MendOptions) -> (String, Mended) {
    let raw = String::from_utf8_lossy(raw).into_owned();
    match end.outcome {
        CallOutcome::Repaired | CallOutcome::Whole => {}
        CallOutcome::Cut => return (raw, failed(Outcome::Cut)),
        _ => return (raw, failed(Outcome::Invalid)),
    }
    let Ok(json) = String::from_utf8(json) else { return (raw, failed(Outcome::Invalid)) };
    let json = if json.is_empty() { "{}".to_owned() } else { json };
    let unchanged = |json: String| {
        let mended = Mended::new(Outcome::Unchanged, Some(json.clone()), Repairs::new(), None);
        (json, mended)
    };
    if raw == json {
        return unchanged(json);
    }
    let mended = mend(raw.as_bytes(), mending);
    if mended.outcome().is_complete() && mended.text() == Some(&json) {
        return (raw, mended);
    }
    if end.outcome == CallOutcome::Whole {
        return unchanged(json);
    }
    // Read piece by piece, a text may be mended in another way.
    let (mut mender, mut out) = (Mender::new(mending.clone()), Collected::default());
    mender.push(raw.as_bytes(), &mut out);
    if mender.finish(&mut out).is_complete() && out.text() == json.as_bytes() {
        let (_, repairs) = out.into_parts();
        return (raw, Mended::new(Outcome::Repaired, Some(json), repairs, None));
    }
    let mended = Mended::new(Outcome::Repaired, Some(json.clone()), Repairs::new(), None);
    (json, mended)
}

/// The result for arguments that are not there as a whole.
fn failed(outcome: Outcome) -> Mended {
    Mended::new(outcome, None, Repairs::new(), None)
}
