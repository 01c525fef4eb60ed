//! `wiremend stream`: a provider's response body, shown mended while it arrives, or rewritten for the clients of the
//! provider.

mod screen;
mod views;

use screen::Screen;
use views::{Calls, Events, View};
use wiremend_core::Outcome;
use wiremend_extract::Scope;
use wiremend_response::{Event, ResponseOptions, ResponseReader, TextCalls};
use wiremend_schema::SharedRegistry;
use wiremend_wire::{
    Call, ErrorKind, RewriteOptions, RewriteOutcome, Rewriter, Rewritten, StreamOutcome, WireError,
    WireEvent, WireOptions,
};

use crate::{
    Session,
    args::{Emit, PolicyArg, ScopeArg, StreamArgs},
    exit::{Exit, Failure},
    extract::dialect,
    fit::{CallReport, ObjectReport, Target, tools_of_args},
    input::{CHUNK, Input},
    out::Out,
    packed::PACKED,
    paint::{BAD, notice},
    report::drops_document,
    visible::shown,
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
    let mut shown = Shown::new(inside);
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
struct Shown {
    inside: Inside,
    verdict: Verdict,
    /// Something in the stream could be a value of the schema.
    answered: bool,
    /// The body is in a known format.
    known: bool,
}

impl Shown {
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
                "{} (`wiremend stream` reads the bodies of responses; `wiremend repair` the JSON in a text)",
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
