//! `jsonmend stream`: a provider's response body, shown mended while it arrives.

mod events;
mod objects;
mod screen;

use jsonmend_core::Outcome;
use jsonmend_wire::{Decoder, StreamOutcome, WireEvent, WireOptions};

use self::{
    events::Events,
    objects::{Object, Objects},
    screen::Screen,
};
use crate::{
    Session,
    args::{PolicyArg, StreamArgs},
    exit::{Exit, Failure},
    input::{CHUNK, Input},
};

pub(crate) fn run(args: &StreamArgs, session: Session) -> Result<Exit, Failure> {
    let mending = args.engine.options(PolicyArg::Conservative);
    let decoder = Decoder::new(WireOptions::new().with_mending(mending));
    let input = Input::open(&args.file, session.quiet)?;
    let objects = args.objects.then(|| Objects::new(args.engine.options(PolicyArg::Permissive)));
    if args.json {
        drive(input, decoder, objects, Events::new(args.deltas))
    } else {
        let screen = Screen::new(input.name(), mending, session);
        drive(input, decoder, objects, screen)
    }
}

/// Where the events of a stream are shown.
trait View {
    /// Shows an event.
    fn show(&mut self, event: &WireEvent<'_>);

    /// Shows a document that was found in the text.
    fn object(&mut self, object: &Object, outcome: Outcome);

    /// Hands on what was shown; the first failed write is told here.
    fn flush(&mut self) -> Result<(), Failure>;
}

/// Decodes the input as it arrives. What every read makes certain is shown before the next one.
fn drive(
    mut input: Input,
    mut decoder: Decoder,
    mut objects: Option<Objects>,
    mut view: impl View,
) -> Result<Exit, Failure> {
    let mut verdict = Verdict(Exit::Unchanged);
    let mut take = |event: WireEvent<'_>, view: &mut dyn View| {
        verdict.note(&event);
        let ended = matches!(event, WireEvent::Ended(_));
        // The documents that the end of the stream ends belong before it.
        if !ended {
            view.show(&event);
        }
        if let Some(objects) = &mut objects {
            objects.note(&event, &mut |object, outcome| {
                verdict.worst(Exit::of(outcome));
                view.object(&object, outcome);
            });
        }
        if ended {
            view.show(&event);
        }
    };
    let mut buffer = vec![0; CHUNK];
    let failed = loop {
        match input.chunk(&mut buffer) {
            Ok([]) => break None,
            Ok(chunk) => decoder.push(chunk, &mut |event| take(event, &mut view)),
            Err(failure) => break Some(failure),
        }
        view.flush()?;
    };
    // What has arrived is shown to its end, also where reading failed.
    decoder.finish(&mut |event| take(event, &mut view));
    view.flush()?;
    failed.map_or(Ok(verdict.0), Err)
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
