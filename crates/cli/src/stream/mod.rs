//! `wiremend stream`: a provider's response body, shown mended while it arrives, or rewritten for the clients of the
//! provider.

mod screen;

use std::collections::BTreeMap;

use screen::Screen;
use serde_json::{Value, json, value::RawValue};
use wiremend_core::{Located, Outcome, Output as _, Partial, Revision};
use wiremend_extract::Scope;
use wiremend_response::{Event, Object, ResponseOptions, ResponseReader, TextCalls};
use wiremend_schema::SharedRegistry;
use wiremend_wire::{
    Block, Call, Doubt, ErrorKind, RewriteOptions, RewriteOutcome, Rewriter, Rewritten,
    StreamOutcome, WireError, WireEvent, WireOptions,
};

use crate::{
    Session,
    args::{Emit, PolicyArg, ScopeArg, StreamArgs},
    exit::{Exit, Failure},
    extract::dialect,
    fit::{CallReport, ObjectReport, Target, tools_of_args},
    input::{CHUNK, Input, PACKED},
    out::{Fragments, Out},
    report::{drops_document, of_object, records},
    visible::{BAD, Shown, notice, shown},
};

pub(crate) fn run(args: &StreamArgs, session: Session) -> Result<Exit, Failure> {
    let mending = args.engine.options(PolicyArg::Conservative);
    let mut wire = WireOptions::new().with_mending(mending.clone());
    if let Some(format) = args.wire.0 {
        wire = wire.with_format(format);
    }
    if args.emit == Emit::Provider {
        refuse_for_provider(args)?;
    }
    let in_text = args.engine.options(PolicyArg::Permissive);
    let mut options = ResponseOptions::new().with_wire(wire.clone()).with_mending(in_text);
    if let Some(scope) = objects(args)? {
        options = options.with_objects(scope);
    }
    let tools = tools_of_args(args)?;
    if let Some(tools) = &tools {
        options = options.with_tools(tools);
    }
    let calls = calls_in_text(args, tools.as_ref())?;
    if let Some(calls) = &calls {
        options = options.with_calls_in_text(calls.clone());
    }
    let target = match &args.schema {
        Some(path) => Some(Target::of_file(path, args.name.as_deref(), &args.rules)?),
        None => None,
    };
    if let Some(target) = &target {
        options = options.with_schema(target.schema(), target.options());
    }
    let input = Input::open(&args.file, session.quiet)?;
    let reader = ResponseReader::new(options);
    let inside = Inside {
        target,
        checks_calls: tools.is_some(),
        as_found: args.objects || args.scope.is_some(),
    };
    match args.emit {
        _ if args.json => drive(input, reader, inside, Events::new(args.deltas)),
        Emit::Events => drive(input, reader, inside, Events::new(args.deltas)),
        Emit::Calls => {
            let calls = Calls::new(input.name(), session);
            drive(input, reader, inside, calls)
        }
        Emit::Provider => {
            let mut options = RewriteOptions::new().with_wire(wire);
            if let Some(calls) = &calls {
                options = options.with_calls_in_text(calls.finders(&mending));
            }
            rewrite(input, options, session)
        }
        Emit::Text => {
            let screen = Screen::new(input.name(), mending, session);
            drive(input, reader, inside, screen)
        }
    }
}

/// The body itself has no place for what these options tell.
fn refuse_for_provider(args: &StreamArgs) -> Result<(), Failure> {
    let message = if args.objects || args.scope.is_some() {
        "--objects shows documents; --emit provider leaves the text as it is"
    } else if args.schema.is_some() {
        "--schema says what fits a schema; --emit provider leaves the text as it is"
    } else if args.tools.is_some() && args.calls_in_text.is_none() {
        "--tools says what fits a schema; --emit provider mends the syntax alone"
    } else {
        return Ok(());
    };
    Err(Failure::Usage(message.to_owned()))
}

/// Where documents are looked for in the text, if they are.
fn objects(args: &StreamArgs) -> Result<Option<Scope>, Failure> {
    match args.scope {
        None => Ok(args.objects.then_some(Scope::All)),
        Some(ScopeArg::Best | ScopeArg::Last) => {
            let message = "a stream cannot choose between documents: --scope best and last need the \
                whole text";
            Err(Failure::Usage(message.to_owned()))
        }
        Some(scope) => Ok(Some(scope.scope())),
    }
}

/// Which calls are looked for in the text.
fn calls_in_text(
    args: &StreamArgs,
    tools: Option<&SharedRegistry>,
) -> Result<Option<TextCalls>, Failure> {
    let Some(name) = &args.calls_in_text else { return Ok(None) };
    let calls = match dialect(name)? {
        Some(dialect) => TextCalls::of_dialect(dialect.clone()),
        None if tools.is_none() => {
            let message = "--calls-in-text auto needs --tools: it counts only calls of known tools";
            return Err(Failure::Usage(message.to_owned()));
        }
        None => TextCalls::detected(),
    };
    let calls = calls.with_prefill(args.prefill.as_deref().unwrap_or_default());
    Ok(Some(match tools {
        Some(tools) => calls.with_tools(tools.load().tools()),
        None => calls,
    }))
}

/// What is read besides the stream itself.
struct Inside {
    /// The schema for objects in the text.
    target: Option<Target>,
    /// How a call matches the schema of its tool counts for the call.
    checks_calls: bool,
    /// Objects are shown as they were found, not only as they match the schema.
    as_found: bool,
}

/// Reads the input as it arrives. What every read makes certain is shown before the next one.
fn drive(
    mut input: Input,
    mut reader: ResponseReader,
    inside: Inside,
    mut view: impl View,
) -> Result<Exit, Failure> {
    let mut shown = Watched::new(inside);
    let mut opening = Opening::default();
    let mut buffer = vec![0; CHUNK];
    let failed = loop {
        match input.chunk(&mut buffer) {
            Ok([]) => break None,
            Ok(chunk) => {
                opening.note(chunk);
                reader.push(chunk, &mut |event| shown.take(&event, &opening, &mut view));
            }
            Err(failure) => break Some(failure),
        }
        view.out().flush()?;
    };
    // What has arrived is shown to its end, also where reading failed.
    reader.finish(&mut |event| shown.take(&event, &opening, &mut view));
    view.out().flush()?;
    failed.map_or(Ok(shown.verdict.0), Err)
}

/// Passes events to a view, and keeps the worst that happened.
struct Watched {
    inside: Inside,
    verdict: Verdict,
    /// Something in the stream could be a value of the schema.
    answered: bool,
    /// The body is in a known format.
    known: bool,
}

impl Watched {
    fn new(inside: Inside) -> Self {
        Self { inside, verdict: Verdict(Exit::Unchanged), answered: false, known: false }
    }

    fn take(&mut self, event: &Event, opening: &Opening, view: &mut dyn View) {
        match event {
            Event::ObjectEnded(object) => {
                self.answered = true;
                if self.inside.as_found {
                    let dropped = drops_document(object.repairs());
                    self.verdict.worst(Exit::of(object.outcome()).without(dropped));
                    view.object(object);
                }
            }
            Event::ObjectFitted(fit) => {
                self.answered = true;
                self.verdict.worst(Exit::of(fit.outcome()));
                let id = self.inside.target.as_ref().and_then(Target::id);
                view.object_fitted(ObjectReport::new(fit, id));
            }
            Event::CallFitted(call) => match CallReport::new(call) {
                Some(report) => {
                    self.verdict.worst(Exit::of(report.outcome()));
                    view.fitted(report);
                }
                None => self.verdict.worst(of_call(call.call())),
            },
            Event::Ended(_) if self.inside.target.is_some() && !self.answered => {
                self.verdict.worst(Exit::NoneFound);
            }
            Event::CallBegan { .. } => self.answered = true,
            _ => {}
        }
        if let Some(explained) = opening.explain(event).filter(|_| !self.known) {
            view.show(&WireEvent::Error(&explained));
            return;
        }
        let Some(wire) = event.to_wire() else { return };
        self.known |= matches!(wire, WireEvent::FormatDetected(_));
        match &wire {
            WireEvent::CallEnded(_) if self.inside.checks_calls => {}
            wire => self.verdict.note(wire),
        }
        view.show(&wire);
    }
}

/// The first bytes of the body.
#[derive(Default)]
struct Opening(Vec<u8>);

impl Opening {
    fn note(&mut self, chunk: &[u8]) {
        let missing = 16_usize.saturating_sub(self.0.len());
        self.0.extend(chunk.iter().take(missing));
    }

    /// What to do about a body that is no stream: one that is compressed, or a text.
    fn explain(&self, event: &Event) -> Option<WireError> {
        let Event::Error(error) = event else { return None };
        let kinds = [ErrorKind::NotAStream, ErrorKind::Unrecognised, ErrorKind::Malformed];
        if !kinds.contains(&error.kind()) {
            return None;
        }
        let packed = PACKED.into_iter().find(|(magic, ..)| self.0.starts_with(magic));
        // A page is an error, and events in an unknown format are no text.
        let head = self.0.trim_ascii_start();
        let is_other = [&b"<"[..], b"data", b"event", b"id:", b"retry", b":", b"\0"]
            .iter()
            .any(|start| head.starts_with(start));
        let message = match packed {
            Some((_, name, tool)) => format!(
                "the body is compressed ({name}): unpack it first, with `{tool}` or `curl --compressed`"
            ),
            None if is_other => return None,
            None => format!(
                "this is no body of a response (`wiremend repair` reads the JSON in a text): {}",
                error.message()
            ),
        };
        Some(error.clone().with_message(message))
    }
}

/// The result for a call. One without arguments, whose turn did not end with a clean stop, is cut off.
fn of_call(call: &Call) -> Exit {
    match call.outcome() {
        Outcome::None => Exit::Cut,
        outcome => Exit::of(outcome),
    }
}

/// The worst that happened.
struct Verdict(Exit);

impl Verdict {
    fn note(&mut self, event: &WireEvent<'_>) {
        let exit = match event {
            WireEvent::CallEnded(call) => of_call(call),
            WireEvent::Ended(outcome) => match outcome {
                StreamOutcome::Complete => Exit::Unchanged,
                StreamOutcome::Cut | StreamOutcome::Lossy => Exit::Cut,
                StreamOutcome::Unrecognised => Exit::NoneFound,
                _ => Exit::Refused,
            },
            _ => return,
        };
        self.worst(exit);
    }

    fn worst(&mut self, exit: Exit) {
        self.0 = self.0.max(exit);
    }
}

/// Rewrites the input as it arrives. After every read, everything that is certain is written.
fn rewrite(mut input: Input, options: RewriteOptions, session: Session) -> Result<Exit, Failure> {
    let mut rewriter = Rewriter::new(options);
    let mut verdict = Verdict(Exit::Unchanged);
    let mut out = Out::new();
    let mut buffer = vec![0; CHUNK];
    let (failed, outcome) = loop {
        let mut take = |piece: Rewritten<'_>| match piece {
            Rewritten::Bytes(bytes) => out.text(bytes),
            Rewritten::Event(event) => verdict.note(&event),
            _ => {}
        };
        // If reading fails, everything that has arrived is still written.
        let ended = match input.chunk(&mut buffer) {
            Ok([]) => Some((None, rewriter.finish(&mut take))),
            Ok(chunk) => {
                rewriter.push(chunk, &mut take);
                None
            }
            Err(failure) => Some((Some(failure), rewriter.finish(&mut take))),
        };
        out.flush()?;
        if let Some(ended) = ended {
            break ended;
        }
    };
    if outcome == RewriteOutcome::Encoded {
        let label = session.stderr.paint(BAD, "error");
        notice(&shown!(
            "{}: {}: the body is compressed, so it is passed through unchanged",
            label,
            input.name()
        ));
        verdict.worst(Exit::Refused);
    }
    failed.map_or(Ok(verdict.0), Err)
}

// What shows the events of a stream, and the views for programs, one JSON object per line: all of them, or calls and
// documents alone.

/// Where the events of a stream are shown.
trait View {
    /// Shows an event of the stream itself.
    fn show(&mut self, event: &WireEvent<'_>);

    /// Where it writes.
    fn out(&mut self) -> &mut Out;

    /// Shows an object that was found in the text: by default as a record, like what follows.
    fn object(&mut self, object: &Object) {
        self.out().record(&found(object));
    }

    /// Shows how a call, which was just shown, matches the schema of its tool.
    fn fitted(&mut self, report: CallReport<'_>) {
        self.out().record(&report.record());
    }

    /// Shows how an object matches the schema for the text.
    fn object_fitted(&mut self, report: ObjectReport<'_>) {
        self.out().record(&report.record());
    }
}

/// Writes events to standard output.
pub(crate) struct Events {
    out: Out,
    /// For each call, by its number: an incomplete character.
    fragments: Vec<Fragments>,
    /// With `--deltas`, for each open call: its arguments so far, and the revision last written.
    values: Option<BTreeMap<usize, (Partial, Revision)>>,
}

impl Events {
    pub(crate) fn new(deltas: bool) -> Self {
        Self { out: Out::new(), fragments: Vec::new(), values: deltas.then(BTreeMap::new) }
    }

    /// Writes what `bytes` change in the arguments of a call. Raw bytes change nothing.
    fn changes(&mut self, call: usize, bytes: &[u8], raw: bool) {
        let Some(values) = &mut self.values else { return };
        let (partial, seen) = values.entry(call).or_default();
        if raw {
            // A number at the end of the repaired text is complete.
            partial.settle();
            partial.raw();
        }
        partial.copy(bytes);
        let deltas: Vec<String> = partial.since(seen).map(|delta| delta.to_string()).collect();
        *seen = partial.revision();
        self.write_deltas(call, &deltas);
    }

    /// Writes the number or literal at the end of the arguments, which the end of the call completes.
    fn last_changes(&mut self, call: &Call) {
        let Some((mut partial, seen)) =
            self.values.as_mut().and_then(|values| values.remove(&call.number()))
        else {
            return;
        };
        if call.outcome().is_valid() {
            partial.settle();
        }
        let deltas: Vec<String> = partial.since(&seen).map(|delta| delta.to_string()).collect();
        self.write_deltas(call.number(), &deltas);
    }

    /// Writes changes, each a JSON object, as events.
    fn write_deltas(&mut self, call: usize, deltas: &[String]) {
        for members in deltas.iter().filter_map(|delta| delta.strip_prefix('{')) {
            self.out.json_line(&format!("{{\"type\":\"delta\",\"call\":{call},{members}"));
        }
    }

    /// The text that `bytes` add to the arguments of a call.
    fn fragment(&mut self, call: usize, bytes: &[u8]) -> String {
        if call >= self.fragments.len() {
            self.fragments.resize(call + 1, Fragments::default());
        }
        self.fragments.get_mut(call).map(|open| open.push(bytes)).unwrap_or_default()
    }
}

impl View for Events {
    fn show(&mut self, event: &WireEvent<'_>) {
        if let WireEvent::CallEnded(call) = event {
            self.last_changes(call);
        }
        let event = match event {
            WireEvent::CallFragment { call, bytes } | WireEvent::CallRaw { call, bytes } => {
                let raw = matches!(event, WireEvent::CallRaw { .. });
                if self.values.is_some() {
                    return self.changes(*call, bytes, raw);
                }
                let text = self.fragment(*call, bytes);
                if text.is_empty() {
                    return;
                }
                json!({ "type": "arguments", "call": call, "text": text, "raw": raw })
            }
            WireEvent::CallBegan { call, choice, kind, id, name } => json!({
                "type": "call", "call": call, "choice": choice, "kind": kind.code(),
                "id": id, "name": name,
            }),
            WireEvent::CallNamed { call, name } => {
                json!({ "type": "call-name", "call": call, "name": name })
            }
            WireEvent::CallEnded(call) => ended(call),
            WireEvent::Text { block, text } => piece("text", *block, text),
            WireEvent::Reasoning { block, text } => piece("reasoning", *block, text),
            WireEvent::Refusal { block, text } => piece("refusal", *block, text),
            WireEvent::FramingDetected(framing) => {
                json!({ "type": "framing", "framing": framing.code() })
            }
            WireEvent::FormatDetected(wire) => json!({ "type": "wire", "wire": wire.code() }),
            WireEvent::EnvelopeMended(mended) => {
                let text = mended.text().unwrap_or_default().as_bytes();
                let repairs = Located::in_mended(text, 0, mended.repairs());
                json!({ "type": "envelope", "repairs": records(repairs) })
            }
            WireEvent::Citation { block, json } => json!({
                "type": "citation", "choice": block.choice(), "block": block.block(),
                "part": block.part(), "citation": RawValue::from_string((*json).to_owned()).ok(),
            }),
            WireEvent::Error(error) => json!({
                "type": "error", "kind": error.kind().code(), "message": error.message(),
                "code": error.code(), "error_type": error.error_type(), "param": error.param(),
                "failed_generation": error.failed_generation(),
            }),
            WireEvent::Finish(finish) => json!({
                "type": "finish", "choice": finish.choice(), "reason": finish.reason().code(),
                "original": finish.original(),
            }),
            WireEvent::Usage(usage) => json!({
                "type": "usage", "input": usage.input(), "output": usage.output(),
                "cached": usage.cached(), "reasoning": usage.reasoning(),
            }),
            WireEvent::Oversize { limit } => json!({ "type": "oversize", "limit": limit }),
            WireEvent::Unfinished(text) => json!({ "type": "unfinished", "text": text }),
            WireEvent::Ended(outcome) => json!({ "type": "end", "outcome": outcome.code() }),
            // Keep-alives, and events of later versions of the decoder.
            _ => return,
        };
        self.out.record(&event);
    }

    fn out(&mut self) -> &mut Out {
        &mut self.out
    }
}

/// A document that was found in the text.
fn found(object: &Object) -> Value {
    let place = object.block();
    json!({
        "type": "object", "choice": place.choice(), "block": place.block(),
        "part": place.part(),
        "start": object.offset(),
        "json": object.json().filter(|_| object.outcome().is_valid()),
        "outcome": object.outcome().code(), "repairs": records(of_object(object)),
        "doubt": object.doubt().map(Doubt::code),
    })
}

/// A call that has ended.
fn ended(call: &Call) -> Value {
    json!({
        "type": "call-end", "call": call.number(), "id": call.id(), "name": call.name(),
        "arguments": call.arguments(), "outcome": call.outcome().code(),
        "repairs": records(Located::in_input(call.raw().as_bytes(), call.repairs())),
        "cut_at": call.cut_at().map(ToString::to_string),
        "doubt": call.doubt().map(Doubt::code),
    })
}

fn piece(kind: &str, block: Block, text: &str) -> Value {
    json!({
        "type": kind, "choice": block.choice(), "block": block.block(), "part": block.part(),
        "text": text,
    })
}

/// The length at which error messages are clipped, in characters.
const SHOWN: usize = 200;

/// Writes each call and document to standard output when it has ended. Errors go to standard error.
pub(crate) struct Calls {
    out: Out,
    name: String,
    session: Session,
}

impl Calls {
    pub(crate) fn new(name: &str, session: Session) -> Self {
        Self { out: Out::new(), name: name.to_owned(), session }
    }

    fn trouble(&self, message: &Shown) {
        let label = self.session.stderr.paint(BAD, "error");
        notice(&shown!("{}: {}: {}", label, self.name, message));
    }
}

impl View for Calls {
    fn show(&mut self, event: &WireEvent<'_>) {
        match event {
            WireEvent::CallEnded(call) => self.out.record(&ended(call)),
            WireEvent::Error(error) => {
                self.trouble(&Shown::clipped(error.message().as_bytes(), SHOWN));
            }
            WireEvent::Oversize { limit } => {
                self.trouble(&shown!(
                    "a line or an event of more than {} bytes was dropped",
                    limit
                ));
            }
            WireEvent::Ended(StreamOutcome::Cut) => {
                self.trouble(&shown!("broke off before its end"));
            }
            _ => {}
        }
    }

    fn out(&mut self) -> &mut Out {
        &mut self.out
    }
}
