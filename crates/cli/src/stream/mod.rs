//! `jsonmend stream`: a provider's response body, shown mended while it arrives.

mod calls;
mod events;
mod objects;
mod provider;
mod screen;

use jsonmend_core::Outcome;
use jsonmend_wire::{Call, Decoder, ErrorKind, StreamOutcome, WireError, WireEvent, WireOptions};

pub(crate) use self::objects::{Finds, Object, Objects};
use self::{calls::Calls, events::Events, screen::Screen};
use crate::{
    Session,
    args::{Emit, PolicyArg, StreamArgs},
    exit::{Exit, Failure},
    fit::{CallFit, CallSchemas, ObjectFit, ObjectSchema},
    input::{CHUNK, Input},
    out::Out,
};

pub(crate) fn run(args: &StreamArgs, session: Session) -> Result<Exit, Failure> {
    let mending = args.engine.options(PolicyArg::Conservative);
    let mut options = WireOptions::new().with_mending(mending.clone());
    if let Some(wire) = args.wire.0 {
        options = options.with_format(wire);
    }
    if args.emit == Emit::Provider {
        refuse_for_provider(args)?;
    }
    let in_text = args.engine.options(PolicyArg::Permissive);
    let schema = ObjectSchema::of_args(args, in_text.clone())?;
    let tools = CallSchemas::of_args(args, mending.clone())?;
    if let Some(tools) = &tools {
        options = options.with_guides(tools.guides());
    }
    let decoder = Decoder::new(options.clone());
    let input = Input::open(&args.file, session.quiet)?;
    let searched = args.objects || schema.is_some();
    let objects = searched.then(|| Objects::new(in_text, schema));
    let inside = Inside { objects, as_found: args.objects, tools };
    match args.emit {
        _ if args.json => drive(input, decoder, inside, Events::new(args.deltas)),
        Emit::Events => drive(input, decoder, inside, Events::new(args.deltas)),
        Emit::Calls => {
            let calls = Calls::new(input.name(), session);
            drive(input, decoder, inside, calls)
        }
        Emit::Provider => provider::rewrite(input, options, session),
        Emit::Text => {
            let screen = Screen::new(input.name(), mending, session);
            drive(input, decoder, inside, screen)
        }
    }
}

/// The body itself has no place for what these options tell.
fn refuse_for_provider(args: &StreamArgs) -> Result<(), Failure> {
    let message = if args.objects {
        "--objects shows documents; --emit provider leaves the text as it is"
    } else if args.schema.is_some() {
        "--schema says what fits a schema; --emit provider leaves the text as it is"
    } else if args.tools.is_some() {
        "--tools says what fits a schema; --emit provider mends the syntax alone"
    } else {
        return Ok(());
    };
    Err(Failure::Usage(message.to_owned()))
}

/// Where the events of a stream are shown.
trait View {
    /// Shows an event.
    fn show(&mut self, event: &WireEvent<'_>);

    /// Where it writes.
    fn out(&mut self) -> &mut Out;

    /// Shows a document that was found in the text: by default as a record, like what follows.
    fn object(&mut self, object: &Object, outcome: Outcome) {
        self.out().record(&events::found(object, outcome));
    }

    /// Shows what became of a call, which was just shown, in the schema of its tool.
    fn fitted(&mut self, _: &Call, fit: &CallFit) {
        self.out().record(&fit.record());
    }

    /// Shows what became of a document in the schema for the text.
    fn object_fitted(&mut self, fit: &ObjectFit<'_>) {
        self.out().record(&fit.record());
    }
}

/// What is looked at besides the stream itself.
struct Inside {
    objects: Option<Objects>,
    /// Documents are shown as they were found, not only as they fit the schema.
    as_found: bool,
    tools: Option<CallSchemas>,
}

/// Decodes the input as it arrives. What every read makes certain is shown before the next one.
fn drive(
    mut input: Input,
    mut decoder: Decoder,
    mut inside: Inside,
    mut view: impl View,
) -> Result<Exit, Failure> {
    let mut verdict = Verdict(Exit::Unchanged);
    let mut opening = Opening::default();
    let mut take = |event: WireEvent<'_>, opening: &Opening, view: &mut dyn View| {
        // What the schema makes of a call counts for the call.
        let fit = match (&event, &inside.tools) {
            (WireEvent::CallEnded(call), Some(tools)) => tools.fit(call),
            _ => None,
        };
        match &fit {
            Some(fit) => verdict.worst(Exit::of(fit.outcome())),
            None => verdict.note(&event),
        }
        let told = opening.explain(&event);
        let event = told.as_ref().map_or(event, WireEvent::Error);
        let ended = matches!(event, WireEvent::Ended(_));
        // The documents that the end of the stream ends belong before it.
        if !ended {
            view.show(&event);
        }
        if let (WireEvent::CallEnded(call), Some(fit)) = (&event, &fit) {
            view.fitted(call, fit);
        }
        if let Some(objects) = &mut inside.objects {
            let verdict = &mut verdict;
            objects.note(&event, &mut Shown { view, verdict, as_found: inside.as_found });
            if ended && objects.found_nothing() {
                verdict.worst(Exit::NoneFound);
            }
        }
        if ended {
            view.show(&event);
        }
    };
    let mut buffer = vec![0; CHUNK];
    let failed = loop {
        match input.chunk(&mut buffer) {
            Ok([]) => break None,
            Ok(chunk) => {
                opening.note(chunk);
                decoder.push(chunk, &mut |event| take(event, &opening, &mut view));
            }
            Err(failure) => break Some(failure),
        }
        view.out().flush()?;
    };
    // What has arrived is shown to its end, also where reading failed.
    decoder.finish(&mut |event| take(event, &opening, &mut view));
    view.out().flush()?;
    failed.map_or(Ok(verdict.0), Err)
}

/// How compressed bodies begin.
const PACKED: [(&[u8], &str, &str); 2] =
    [(b"\x1f\x8b", "gzip", "gzip -dc"), (b"\x28\xb5\x2f\xfd", "Zstandard", "zstd -dc")];

/// The first bytes of the body.
#[derive(Default)]
struct Opening(Vec<u8>);

impl Opening {
    fn note(&mut self, chunk: &[u8]) {
        let missing = 4_usize.saturating_sub(self.0.len());
        self.0.extend(chunk.iter().take(missing));
    }

    /// A body that is no stream because it is compressed: what to do about it.
    fn explain(&self, event: &WireEvent<'_>) -> Option<WireError> {
        let WireEvent::Error(error) = event else { return None };
        let packed = PACKED.into_iter().find(|(magic, ..)| self.0.starts_with(magic));
        let (_, name, tool) = packed.filter(|_| error.kind == ErrorKind::NotAStream)?;
        let mut told = (*error).clone();
        told.message = format!(
            "the body is compressed ({name}): unpack it first, with `{tool}` or `curl --compressed`"
        );
        Some(told)
    }
}

/// Shows documents, and minds what became of them.
struct Shown<'v> {
    view: &'v mut dyn View,
    verdict: &'v mut Verdict,
    as_found: bool,
}

impl Finds for Shown<'_> {
    fn object(&mut self, object: &Object, outcome: Outcome) {
        if self.as_found {
            self.verdict.worst(Exit::of(outcome));
            self.view.object(object, outcome);
        }
    }

    fn fitted(&mut self, fit: &ObjectFit<'_>) {
        self.verdict.worst(Exit::of(fit.outcome()));
        self.view.object_fitted(fit);
    }
}

/// The worst that happened.
struct Verdict(Exit);

impl Verdict {
    fn note(&mut self, event: &WireEvent<'_>) {
        let exit = match event {
            // A call without arguments is no call without JSON.
            WireEvent::CallEnded(call) if call.outcome() == Outcome::None => Exit::Unchanged,
            WireEvent::CallEnded(call) => Exit::of(call.outcome()),
            WireEvent::Ended(outcome) => match outcome {
                StreamOutcome::Complete => Exit::Unchanged,
                StreamOutcome::Cut => Exit::Cut,
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
