//! The output of `stream` for people.
//!
//! Text, reasoning and calls go to standard output as they arrive. Repairs, errors and the summary go
//! to standard error.

use std::collections::BTreeMap;

use wiremend_core::{Located, MendOptions, Outcome, Repairs};
use wiremend_response::Object;
use wiremend_wire::{
    ApiFormat, Block, Call, CallKind, Finish, Framing, StreamOutcome, Usage, WireError, WireEvent,
};

use super::View;
use crate::{
    Session,
    fault::Fault,
    fit::{CallReport, ObjectReport, more_issues},
    out::{Fragments, Out},
    report::{self, Listing, Script},
    visible::{BAD, BOLD, DIM, GOOD, NAME, Shown, WARN, notice, shown},
};

/// The number of schema issues of a call that are listed; `--json` and `--verbose` list all.
const LISTED: usize = 50;

/// The number of finish reasons that the summary lists. A stream may hold any number.
const FINISHES: usize = 16;

/// The length at which texts in messages are clipped, in characters.
const SHOWN: usize = 200;

pub(crate) struct Screen {
    out: Out,
    name: String,
    options: MendOptions,
    session: Session,
    section: Option<Section>,
    /// Whether the last byte written was not a line end.
    line_open: bool,
    calls: BTreeMap<usize, OpenCall>,
    /// The call that is shown as it grows. Other calls wait until it has ended.
    live: Option<usize>,
    summary: Summary,
}

/// What the current lines belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Text(Block),
    Reasoning(Block),
    Refusal(Block),
    Call(usize),
    /// A document in a text, and its first byte.
    Object(Block, usize),
    /// The same document, made to match its schema.
    Fitted(Block, usize),
}

/// A call that has not ended yet.
struct OpenCall {
    kind: CallKind,
    id: Option<String>,
    name: String,
    begun: bool,
    fragments: Fragments,
    /// The arguments so far.
    grown: Vec<u8>,
    /// The part of the arguments that is not shown yet.
    waiting: String,
}

/// The facts in the last line.
#[derive(Default)]
struct Summary {
    framing: Option<Framing>,
    wire: Option<ApiFormat>,
    /// The first of them.
    finish: Vec<Finish>,
    /// How many there were beyond those.
    more_finishes: usize,
    usage: Option<Usage>,
    calls: usize,
    mended: usize,
}

impl View for Screen {
    fn show(&mut self, event: &WireEvent<'_>) {
        match event {
            WireEvent::Text { block, text } => self.text(Section::Text(*block), text),
            WireEvent::Reasoning { block, text } => self.text(Section::Reasoning(*block), text),
            WireEvent::Refusal { block, text } => self.text(Section::Refusal(*block), text),
            WireEvent::CallBegan { call, kind, id, name, .. } => {
                self.calls.insert(*call, OpenCall::new(*kind, *id, name.unwrap_or_default()));
                if name.is_some() && self.live.is_none() {
                    self.live = Some(*call);
                    self.enter(Section::Call(*call));
                }
            }
            WireEvent::CallNamed { call, name } => {
                if let Some(open) = self.calls.get_mut(call) {
                    (*name).clone_into(&mut open.name);
                }
            }
            WireEvent::CallFragment { call, bytes } | WireEvent::CallRaw { call, bytes } => {
                self.fragment(*call, bytes);
            }
            WireEvent::CallEnded(call) => self.ended(call),
            WireEvent::EnvelopeMended(mended) => self.envelope(mended.repairs()),
            WireEvent::Error(error) => self.wrong(error),
            WireEvent::Oversize { limit } => {
                self.trouble(&shown!(
                    "a line or an event of more than {} bytes was dropped",
                    limit
                ));
            }
            WireEvent::Unfinished(text) => self.trouble(&shown!(
                "the stream broke off inside an event: {}",
                Shown::clipped(text.as_bytes(), SHOWN)
            )),
            WireEvent::FramingDetected(framing) => self.summary.framing = Some(*framing),
            WireEvent::FormatDetected(wire) => self.summary.wire = Some(*wire),
            WireEvent::Finish(finish) => self.summary.finished(finish),
            WireEvent::Usage(usage) => self.summary.usage = Some(*usage),
            WireEvent::Ended(outcome) => self.end(*outcome),
            // Keep-alives, and events of later versions of the decoder.
            _ => {}
        }
    }

    fn object(&mut self, object: &Object) {
        let outcome = object.outcome();
        self.enter(Section::Object(object.block(), object.offset()));
        self.content(object.json().unwrap_or_default());
        self.pause();
        if self.session.quiet && outcome.is_complete() {
            return;
        }
        let paint = self.session.stderr;
        let name = paint.paint(BOLD, shown!("object at byte {}", object.offset()));
        let (state, count) = (report::outcome(paint, outcome), report::count(object.repairs()));
        let why = object.doubt().map(|doubt| format!(": {}", doubt.description()));
        notice(&shown!("{}: {} ({}){}", name, state, count, why.unwrap_or_default()));
        self.list(None, report::of_object(object));
    }

    /// The arguments have been shown; this reports how they match the schema.
    fn fitted(&mut self, fit: CallReport<'_>) {
        if self.session.quiet && fit.outcome().is_complete() {
            return;
        }
        let name = Shown::clipped(fit.call().name().as_bytes(), SHOWN);
        let title = shown!("arguments of {} by the schema", name);
        let state = report::outcome(self.session.stderr, fit.outcome());
        self.by_schema(&title, &state, &fit.lines());
        if let Some(json) = fit.arguments().filter(|json| *json != fit.call().arguments()) {
            notice(&shown!("  {}", Shown::clipped(json.as_bytes(), SHOWN)));
        }
    }

    fn object_fitted(&mut self, fit: ObjectReport<'_>) {
        let (block, start) = fit.place();
        if let Some(json) = fit.json() {
            self.enter(Section::Fitted(block, start));
            self.content(json);
        }
        self.pause();
        if !self.session.quiet || !fit.outcome().is_complete() {
            let title = shown!("object at byte {} by the schema", start);
            self.by_schema(&title, &fit.summary(self.session.stderr), &fit.lines());
        }
    }

    fn out(&mut self) -> &mut Out {
        &mut self.out
    }
}

impl Screen {
    /// `options` are those under which the arguments of calls are repaired.
    pub(crate) fn new(name: &str, options: MendOptions, session: Session) -> Self {
        Self {
            out: Out::new(),
            name: name.to_owned(),
            options,
            session,
            section: None,
            line_open: false,
            calls: BTreeMap::new(),
            live: None,
            summary: Summary::default(),
        }
    }

    /// Lists repairs of `text`, if it is available.
    fn list(&self, text: Option<&[u8]>, repairs: impl Script) {
        let Session { stderr: paint, verbose, .. } = self.session;
        for line in (Listing { paint, name: None, verbose }).lines(text, repairs) {
            notice(&shown!("  {}", line));
        }
    }

    /// Reports how a value matches its schema.
    fn by_schema(&self, title: &Shown, state: &Shown, lines: &[String]) {
        notice(&shown!("{}: {}", self.session.stderr.paint(BOLD, title), state));
        let listed = if self.session.verbose { usize::MAX } else { LISTED };
        for line in lines.iter().take(listed) {
            notice(&shown!("  {}", Shown::message(line)));
        }
        if let Some(more) = more_issues(lines.len(), listed) {
            notice(&shown!("  {}", more));
        }
    }

    fn text(&mut self, section: Section, text: &str) {
        if !text.is_empty() {
            self.enter(section);
            self.content(text);
        }
    }

    fn fragment(&mut self, call: usize, bytes: &[u8]) {
        let Some(open) = self.calls.get_mut(&call) else { return };
        open.grown.extend_from_slice(bytes);
        let text = open.fragments.push(bytes);
        open.waiting.push_str(&text);
        if *self.live.get_or_insert(call) == call {
            self.catch_up(call);
        }
    }

    /// Shows the part of a call that is not shown yet.
    fn catch_up(&mut self, call: usize) {
        let Some(open) = self.calls.get_mut(&call) else { return };
        let text = std::mem::take(&mut open.waiting);
        self.text(Section::Call(call), &text);
    }

    /// Begins a section, with a title unless it is plain text.
    fn enter(&mut self, section: Section) {
        if self.section == Some(section) {
            return;
        }
        self.end_line();
        self.section = Some(section);
        let title = match section {
            Section::Text(block) if block.choice() == 0 => return,
            Section::Text(block) => format!("choice {}", block.choice()),
            Section::Reasoning(_) => "reasoning".to_owned(),
            Section::Refusal(_) => "refusal".to_owned(),
            Section::Object(_, start) => format!("object at byte {start}"),
            Section::Fitted(_, start) => format!("object at byte {start} by the schema"),
            Section::Call(call) => {
                let Some(open) = self.calls.get_mut(&call) else { return };
                let again =
                    if std::mem::replace(&mut open.begun, true) { ", continued" } else { "" };
                format!("{}{again}", open.title())
            }
        };
        let title = Shown::clipped(title.as_bytes(), SHOWN);
        let style = match section {
            Section::Text(_) | Section::Reasoning(_) | Section::Refusal(_) => DIM,
            Section::Call(_) | Section::Object(..) | Section::Fitted(..) => NAME,
        };
        self.out.line(&self.session.stdout.paint(style, shown!("[{}]", title)));
        self.line_open = false;
    }

    /// Writes text of the model.
    fn content(&mut self, text: &str) {
        self.out.text(text.as_bytes());
        self.line_open = !text.ends_with('\n');
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.line_open) {
            self.out.text(b"\n");
        }
    }

    /// Ends the current line, so that a notice can follow.
    fn pause(&mut self) {
        self.end_line();
        self.section = None;
        self.out.hand_on();
    }

    fn ended(&mut self, call: &Call) {
        self.summary.calls += 1;
        let number = call.number();
        let open = self
            .calls
            .entry(number)
            .or_insert_with(|| OpenCall::new(call.kind(), call.id(), call.name()));
        let rest = open.fragments.finish();
        open.waiting.push_str(&rest);
        let grown = std::mem::take(&mut open.grown);
        self.catch_up(number);
        if grown.is_empty() {
            self.enter(Section::Call(number));
            self.content(call.arguments());
        }
        self.calls.remove(&number);
        let differs = !grown.is_empty() && grown != call.arguments().as_bytes();
        self.pause();
        self.verdict(call, differs);
        if self.live == Some(number) {
            self.live = self.calls.keys().next().copied();
            self.live.into_iter().for_each(|next| self.catch_up(next));
        }
    }

    /// Reports how the arguments of a call ended.
    fn verdict(&mut self, call: &Call, differs: bool) {
        let outcome = call.outcome();
        if matches!(outcome, Outcome::Unchanged | Outcome::None) && !differs {
            return;
        }
        self.summary.mended += usize::from(outcome == Outcome::Repaired);
        if self.session.quiet && outcome.is_complete() {
            return;
        }
        let paint = self.session.stderr;
        let name = shown!("arguments of {}", Shown::clipped(call.name().as_bytes(), SHOWN));
        let title = paint.paint(BOLD, &name);
        let raw = call.raw().as_bytes();
        if outcome.is_valid() {
            let (state, count) = (report::outcome(paint, outcome), report::count(call.repairs()));
            notice(&shown!("{}: {} ({})", title, state, count));
            self.list(Some(raw), Located::in_input(raw, call.repairs()));
        }
        if let Some(fault) = Fault::ending(raw, outcome, call.cut_at(), &self.options) {
            notice(&fault.paragraph(paint, "error", name.as_str(), raw));
        }
        if !outcome.is_complete() && outcome != Outcome::None {
            let state = report::outcome(paint, outcome);
            let why = call.doubt().map(|doubt| format!(": {}", doubt.description()));
            let why = why.unwrap_or_default();
            notice(&shown!("{}: {}: this is not a complete call{}", title, state, why));
        }
        if differs {
            let arguments = Shown::clipped(call.arguments().as_bytes(), SHOWN);
            let verb = if outcome.is_valid() { "changed at the end to" } else { "as received:" };
            notice(&shown!("{}: {} {}", title, verb, arguments));
        }
    }

    fn envelope(&mut self, repairs: &Repairs) {
        if !self.session.quiet {
            self.pause();
            let what = report::count(repairs);
            notice(&shown!(
                "{}: an event was broken JSON and has been repaired: {}",
                self.name,
                what
            ));
        }
    }

    fn wrong(&mut self, error: &WireError) {
        let clipped = |text: &str| Shown::clipped(text.as_bytes(), SHOWN);
        let mut message = shown!("{}: {}", error.kind().code(), clipped(error.message()));
        let details = [error.error_type(), error.code(), error.param()];
        let details: Vec<Shown> = details.into_iter().flatten().map(clipped).collect();
        if !details.is_empty() {
            message = shown!("{} ({})", message, Shown::join(&details, ", "));
        }
        self.trouble(&message);
        if let Some(text) = &error.failed_generation() {
            notice(&shown!("the model had written: {}", clipped(text)));
        }
    }

    fn trouble(&mut self, message: &Shown) {
        self.pause();
        let label = self.session.stderr.paint(BAD, "error");
        notice(&shown!("{}: {}: {}", label, self.name, message));
    }

    fn end(&mut self, outcome: StreamOutcome) {
        self.pause();
        if self.session.quiet && outcome == StreamOutcome::Complete {
            return;
        }
        let paint = self.session.stderr;
        let (style, meaning) = match outcome {
            StreamOutcome::Complete => (GOOD, None),
            StreamOutcome::Cut => (WARN, Some("broke off before its end")),
            StreamOutcome::Error => (BAD, Some("contains an error")),
            StreamOutcome::Lossy => (BAD, Some("lost something on its way")),
            StreamOutcome::Overflow => (BAD, Some("exceeded a limit, and data was dropped")),
            _ => (BAD, Some("not a stream in a known format")),
        };
        let state = paint.paint(style, outcome.code());
        let mut facts: Vec<Shown> = meaning.into_iter().map(Shown::of).collect();
        facts.extend(self.summary.facts());
        let (name, facts) = (paint.paint(BOLD, &self.name), Shown::join(&facts, "; "));
        notice(&shown!("{}: {} ({})", name, state, facts));
    }
}

impl OpenCall {
    fn new(kind: CallKind, id: Option<&str>, name: &str) -> Self {
        Self {
            kind,
            id: id.filter(|id| !id.is_empty()).map(str::to_owned),
            name: name.to_owned(),
            begun: false,
            fragments: Fragments::default(),
            grown: Vec::new(),
            waiting: String::new(),
        }
    }

    /// `call get_weather (call_1)`.
    fn title(&self) -> String {
        let kind = match self.kind {
            CallKind::Custom => "custom call",
            CallKind::Server => "server call",
            _ => "call",
        };
        match &self.id {
            Some(id) => format!("{kind} {} ({id})", self.name),
            None => format!("{kind} {}", self.name),
        }
    }
}

impl Summary {
    fn finished(&mut self, finish: &Finish) {
        if self.finish.len() < FINISHES {
            self.finish.push(finish.clone());
        } else {
            self.more_finishes += 1;
        }
    }

    fn facts(&self) -> Vec<Shown> {
        let mut facts = Vec::new();
        let form = [self.framing.map(Framing::code), self.wire.map(ApiFormat::code)];
        let form: Vec<&str> = form.into_iter().flatten().collect();
        if !form.is_empty() {
            facts.push(Shown::of(form.join(", ")));
        }
        for finish in &self.finish {
            let original = Shown::clipped(finish.original().as_bytes(), SHOWN);
            facts.push(match finish.choice() {
                0 => shown!("finish {}", original),
                choice => shown!("choice {} finish {}", choice, original),
            });
        }
        if self.more_finishes > 0 {
            facts.push(shown!("{} more", self.more_finishes));
        }
        if self.calls > 0 {
            let noun = if self.calls == 1 { "call" } else { "calls" };
            facts.push(shown!("{} {}, {} repaired", self.calls, noun, self.mended));
        }
        if let Some(usage) = &self.usage {
            let count = |tokens: Option<u64>| tokens.map_or("?".to_owned(), |n| n.to_string());
            facts.push(shown!("tokens {} in, {} out", count(usage.input()), count(usage.output())));
        }
        facts
    }
}
