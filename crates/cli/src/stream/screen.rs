//! The stream as people read it.
//!
//! Text, reasoning and calls go to standard output as they come; what was changed, what went wrong
//! and how it ended go to standard error.

use std::collections::BTreeMap;

use jsonmend_core::{Options, Outcome, Repair};
use jsonmend_wire::{
    ApiFormat, Block, Call, CallKind, Finish, Framing, StreamOutcome, Usage, WireError, WireEvent,
};

use super::{Object, View};
use crate::{
    Session,
    fault::Fault,
    fit::{CallFit, ObjectFit},
    fragment::Fragments,
    out::Out,
    paint::{BAD, BOLD, DIM, GOOD, NAME, WARN, notice},
    position::Locator,
    report,
    visible::{push_visible, visible},
};

/// How many repairs of a call are listed; `--json` lists all.
const LISTED: usize = 50;

/// How much of a text that went wrong is shown, in characters.
const SHOWN: usize = 200;

pub(crate) struct Screen {
    out: Out,
    terminal: bool,
    name: String,
    options: Options,
    session: Session,
    section: Option<Section>,
    /// The last byte written was no line end.
    line_open: bool,
    calls: BTreeMap<usize, OpenCall>,
    /// The call that is shown as it grows; those beside it wait for its end.
    live: Option<usize>,
    summary: Summary,
}

/// What the lines being written belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Text(Block),
    Reasoning(Block),
    Refusal(Block),
    Call(usize),
    /// A document in a text, by its first byte.
    Object(Block, usize),
    /// The same, brought into its schema.
    Fitted(Block, usize),
}

/// A call that has begun and not ended.
struct OpenCall {
    kind: CallKind,
    id: Option<String>,
    name: String,
    begun: bool,
    fragments: Fragments,
    /// The arguments as they grew.
    grown: Vec<u8>,
    /// What of them is not shown yet.
    waiting: String,
}

/// What the last line tells.
#[derive(Default)]
struct Summary {
    framing: Option<Framing>,
    wire: Option<ApiFormat>,
    finish: Vec<Finish>,
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
            WireEvent::CallFragment { call, bytes, .. } => self.fragment(*call, bytes),
            WireEvent::CallEnded(call) => self.ended(call),
            WireEvent::EnvelopeMended(repairs) => self.envelope(repairs),
            WireEvent::Error(error) => self.wrong(error),
            WireEvent::Oversize { limit } => {
                self.trouble(&format!("a line or an event of more than {limit} bytes was dropped"));
            }
            WireEvent::Unfinished(text) => self.trouble(&format!(
                "the stream broke off inside a payload: {}",
                visible(text.as_bytes(), SHOWN)
            )),
            WireEvent::FramingDetected(framing) => self.summary.framing = Some(*framing),
            WireEvent::FormatDetected(wire) => self.summary.wire = Some(*wire),
            WireEvent::Finish(finish) => self.summary.finish.push((*finish).clone()),
            WireEvent::Usage(usage) => self.summary.usage = Some(*usage),
            WireEvent::Ended(outcome) => self.end(*outcome),
            // Signs of life, and what a later version of the decoder may tell.
            _ => {}
        }
    }

    fn object(&mut self, object: &Object, outcome: Outcome) {
        self.enter(Section::Object(object.block, object.start));
        self.content(&String::from_utf8_lossy(&object.json));
        self.pause();
        if self.session.quiet && outcome.is_complete() {
            return;
        }
        let paint = self.session.stderr;
        let name = format!("object at byte {}", object.start);
        let (state, count) = (report::outcome(paint, outcome), report::count(&object.repairs));
        notice(format_args!("{}: {state} ({count})", paint.paint(BOLD, &name)));
        for repair in object.repairs.iter().take(LISTED) {
            notice(format_args!("  {}", report::line(paint, &name, repair, None)));
        }
    }

    /// The arguments were shown; what the schema makes of them is told.
    fn fitted(&mut self, call: &Call, fit: &CallFit) {
        if self.session.quiet && fit.outcome().is_complete() {
            return;
        }
        let title = format!("arguments of {} by the schema", call.name());
        let state = report::outcome(self.session.stderr, fit.outcome());
        self.by_schema(&title, &state, &fit.lines());
        if let Some(json) = fit.arguments().filter(|json| *json != call.arguments()) {
            notice(format_args!("  {}", visible(json.as_bytes(), SHOWN)));
        }
    }

    fn object_fitted(&mut self, fit: &ObjectFit<'_>) {
        let (block, start) = fit.place();
        if let Some(json) = fit.json() {
            self.enter(Section::Fitted(block, start));
            self.content(json);
        }
        self.pause();
        if !self.session.quiet || !fit.outcome().is_complete() {
            let title = format!("object at byte {start} by the schema");
            self.by_schema(&title, &fit.summary(self.session.stderr), &fit.lines());
        }
    }

    fn out(&mut self) -> &mut Out {
        &mut self.out
    }
}

impl Screen {
    /// `options`: those the calls are mended under.
    pub(crate) fn new(name: &str, options: Options, session: Session) -> Self {
        let out = Out::new();
        Self {
            terminal: out.is_terminal(),
            out,
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

    /// What became of a value in its schema.
    fn by_schema(&self, title: &str, state: &str, lines: &[String]) {
        notice(format_args!("{}: {state}", self.session.stderr.paint(BOLD, title)));
        for line in lines.iter().take(LISTED) {
            notice(format_args!("  {line}"));
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

    /// Shows what of a call is not shown yet.
    fn catch_up(&mut self, call: usize) {
        let Some(open) = self.calls.get_mut(&call) else { return };
        let text = std::mem::take(&mut open.waiting);
        self.text(Section::Call(call), &text);
    }

    /// Begins the lines of `section`, under a title where one is needed to tell it from others.
    fn enter(&mut self, section: Section) {
        if self.section == Some(section) {
            return;
        }
        self.end_line();
        self.section = Some(section);
        let title = match section {
            Section::Text(Block { choice: 0, .. }) => return,
            Section::Text(block) => format!("choice {}", block.choice),
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
        let title = visible(title.as_bytes(), SHOWN);
        let style = match section {
            Section::Text(_) | Section::Reasoning(_) | Section::Refusal(_) => DIM,
            Section::Call(_) | Section::Object(..) | Section::Fitted(..) => NAME,
        };
        let line = self.session.stdout.paint(style, format_args!("[{title}]"));
        self.raw(&format!("{line}\n"));
        self.line_open = false;
    }

    /// Writes what the model said. On a terminal its control characters are shown and do nothing.
    fn content(&mut self, text: &str) {
        if self.terminal {
            let mut safe = String::with_capacity(text.len());
            for c in text.chars() {
                if matches!(c, '\n' | '\t') { safe.push(c) } else { push_visible(&mut safe, c) }
            }
            self.raw(&safe);
        } else {
            self.raw(text);
        }
        self.line_open = !text.ends_with('\n');
    }

    fn raw(&mut self, text: &str) {
        self.out.bytes(text.as_bytes());
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.line_open) {
            self.raw("\n");
        }
    }

    /// Ends the lines being written, so that a notice comes after them.
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

    /// What became of the arguments of a call.
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
        let name = format!("arguments of {}", visible(call.name().as_bytes(), SHOWN));
        let title = paint.paint(BOLD, &name);
        let raw = call.raw().as_bytes();
        if outcome.is_valid() {
            let (state, count) = (report::outcome(paint, outcome), report::count(call.repairs()));
            notice(format_args!("{title}: {state} ({count})"));
            let mut locator = Locator::new(raw);
            for repair in call.repairs().iter().take(LISTED) {
                let seen = (locator.at(repair.start()), report::span(raw, repair));
                notice(format_args!("  {}", report::line(paint, &name, repair, Some(seen))));
            }
            if call.repairs().len() > LISTED {
                notice(format_args!("  … and {} more", call.repairs().len() - LISTED));
            }
        }
        if let Some(fault) = Fault::ending(raw, outcome, call.cut_at(), &self.options) {
            notice(fault.paragraph(paint, "error", &name, raw));
        }
        if !outcome.is_complete() && outcome != Outcome::None {
            let state = report::outcome(paint, outcome);
            notice(format_args!("{title}: {state}: this is not a complete call"));
        }
        if differs {
            let arguments = visible(call.arguments().as_bytes(), SHOWN);
            let verb = if outcome.is_valid() { "settled as" } else { "left as they came:" };
            notice(format_args!("{title}: {verb} {arguments}"));
        }
    }

    fn envelope(&mut self, repairs: &[Repair]) {
        if !self.session.quiet {
            self.pause();
            let what = report::count(repairs);
            notice(format_args!("{}: a payload was broken JSON: {what}", self.name));
        }
    }

    fn wrong(&mut self, error: &WireError) {
        let mut message =
            format!("{}: {}", error.kind.code(), visible(error.message.as_bytes(), SHOWN));
        let details = [&error.error_type, &error.code, &error.param];
        let details: Vec<String> =
            details.into_iter().flatten().map(|detail| visible(detail.as_bytes(), SHOWN)).collect();
        if !details.is_empty() {
            message.push_str(&format!(" ({})", details.join(", ")));
        }
        self.trouble(&message);
        if let Some(text) = &error.failed_generation {
            notice(format_args!("the model had written: {}", visible(text.as_bytes(), SHOWN)));
        }
    }

    fn trouble(&mut self, message: &str) {
        self.pause();
        let label = self.session.stderr.paint(BAD, "error");
        notice(format_args!("{label}: {}: {message}", self.name));
    }

    fn end(&mut self, outcome: StreamOutcome) {
        self.pause();
        if self.session.quiet && outcome == StreamOutcome::Complete {
            return;
        }
        let paint = self.session.stderr;
        let (style, meaning) = match outcome {
            StreamOutcome::Complete => (GOOD, "ended as its format says"),
            StreamOutcome::Cut => (WARN, "broke off before its end"),
            StreamOutcome::Error => (BAD, "holds an error"),
            StreamOutcome::Overflow => (BAD, "passed a limit, something was dropped"),
            _ => (BAD, "is no stream of a known provider"),
        };
        let state = paint.paint(style, outcome.code());
        let mut facts = vec![meaning.to_owned()];
        facts.extend(self.summary.facts());
        notice(format_args!("{}: {state} ({})", paint.paint(BOLD, &self.name), facts.join("; ")));
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
    fn facts(&self) -> Vec<String> {
        let mut facts = Vec::new();
        let form = [self.framing.map(Framing::code), self.wire.map(ApiFormat::code)];
        let form: Vec<&str> = form.into_iter().flatten().collect();
        if !form.is_empty() {
            facts.push(form.join(", "));
        }
        for finish in &self.finish {
            let original = visible(finish.original.as_bytes(), SHOWN);
            facts.push(match finish.choice {
                0 => format!("finish {original}"),
                choice => format!("choice {choice} finish {original}"),
            });
        }
        if self.calls > 0 {
            let noun = if self.calls == 1 { "call" } else { "calls" };
            facts.push(format!("{} {noun}, {} mended", self.calls, self.mended));
        }
        if let Some(usage) = &self.usage {
            let count = |tokens: Option<u64>| tokens.map_or("?".to_owned(), |n| n.to_string());
            facts.push(format!("tokens {} in, {} out", count(usage.input), count(usage.output)));
        }
        facts
    }
}
