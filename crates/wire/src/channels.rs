//! Turns deltas into events: calls, texts, the end of choices, token counts, errors.

use core::ops::RangeInclusive;
use std::collections::BTreeMap;

use crate::{
    Block, Doubt, ErrorKind, Finish, FinishReason, Usage, WireError, WireEvent, WireOptions,
    calls::{Calls, EditLog, End, Fate, Sink, Target, Tracking},
    format::{CallEnds, Delta, Piece, excerpt},
    json::Halves,
    source::Source,
};

/// How many errors of one response are emitted. In a body of nothing but errors, more of them add no
/// information.
const MOST_ERRORS: usize = 64;

/// How many texts may wait for the second half of a surrogate pair.
const MOST_HALVES: usize = 1024;

/// The channels of one response.
#[derive(Debug)]
pub(crate) struct Channels {
    calls: Calls,
    usage: Usage,
    /// The last finish of every choice that has one.
    finished: BTreeMap<u32, Finish>,
    /// The texts that end in the middle of a surrogate pair.
    halves: BTreeMap<(Block, Channel), Halves>,
    errors: usize,
    /// The provider has reported an error.
    failed: bool,
}

/// The texts that a block can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Channel {
    Reasoning,
    Refusal,
    Text,
}

impl Channel {
    const fn event(self, block: Block, text: &str) -> WireEvent<'_> {
        match self {
            Self::Reasoning => WireEvent::Reasoning { block, text },
            Self::Refusal => WireEvent::Refusal { block, text },
            Self::Text => WireEvent::Text { block, text },
        }
    }
}

impl Channels {
    pub(crate) fn new(options: &WireOptions) -> Self {
        Self {
            calls: Calls::new(options),
            usage: Usage::default(),
            finished: BTreeMap::new(),
            halves: BTreeMap::new(),
            errors: 0,
            failed: false,
        }
    }

    /// Tracks the pieces, so that they can be rewritten.
    pub(crate) fn track(&mut self, tracking: Tracking) {
        self.calls.track(tracking);
    }

    /// The tracking, if it is enabled.
    pub(crate) fn tracking(&mut self) -> Option<&mut Tracking> {
        self.calls.tracking()
    }

    /// The open calls, with their arguments so far.
    pub(crate) fn open_calls(&self) -> impl Iterator<Item = (usize, &str)> {
        self.calls.open()
    }

    /// The edit log of one text.
    pub(crate) fn edit_log(&mut self, target: Target) -> Option<&mut EditLog> {
        self.calls.edit_log(target)
    }

    /// What becomes of a call that may be withheld.
    pub(crate) fn fate(&mut self, call: Target) -> Option<Fate> {
        self.calls.tracking()?.fate(call)
    }

    /// Takes the number of a call that was found in a text.
    pub(crate) fn begin_found(&mut self) -> Option<usize> {
        self.calls.begin_found()
    }

    /// The indices after those of the calls and of the content blocks of a choice.
    pub(crate) fn next_indices(&mut self, choice: u32) -> (i64, u32) {
        let block = self.calls.tracking().map_or(0, |tracking| tracking.next_block(choice));
        (self.calls.next_index(choice), block)
    }

    /// Abandons the repair of everything that is open: it is forwarded verbatim.
    pub(crate) fn abandon(&mut self) {
        self.calls.abandon();
    }

    /// Whether an error was reported.
    pub(crate) const fn has_failed(&self) -> bool {
        self.errors > 0
    }

    /// Whether a part of the stream was lost or damaged.
    pub(crate) const fn is_lossy(&self) -> bool {
        self.calls.is_lossy()
    }

    /// Something was lost, damaged or contradicted: no open call is complete.
    pub(crate) fn doubt(&mut self, doubt: Doubt) {
        self.calls.doubt(doubt);
    }

    /// Sets whether the payload read from here on is damaged.
    pub(crate) fn damage(&mut self, damage: Option<Doubt>) {
        self.calls.damage(damage);
    }

    /// Sets how the format says that a call has ended.
    pub(crate) const fn set_call_ends(&mut self, ends: CallEnds) {
        self.calls.set_ends(ends);
    }

    /// Reports an error.
    pub(crate) fn fail(&mut self, error: &WireError, sink: Sink<'_>) {
        match error.kind {
            ErrorKind::Malformed | ErrorKind::NotAStream => self.calls.doubt(Doubt::LostEvent),
            ErrorKind::Provider => {
                self.failed = true;
                self.calls.doubt(Doubt::StreamError);
            }
            _ => {}
        }
        self.errors += 1;
        if self.errors <= MOST_ERRORS {
            sink(WireEvent::Error(error));
        }
    }

    fn report_doubt(&mut self, sink: Sink<'_>) {
        if let Some(doubt) = self.calls.take_doubt() {
            sink(WireEvent::Doubted(doubt));
        }
    }

    /// Ends every open call.
    pub(crate) fn end(&mut self, end: End, sink: Sink<'_>) {
        self.report_doubt(sink);
        let finished = &self.finished;
        self.calls.finish_all(end, |scope| finished.contains_key(&scope), sink);
        if let Some(tracking) = self.calls.tracking() {
            tracking.abandon_search();
        }
        self.finish_texts(Block::all(), end.is_cut(), sink);
    }

    /// Reads a delta of the payload `source`.
    pub(crate) fn take(&mut self, delta: Delta<'_>, source: Source<'_>, sink: Sink<'_>) {
        self.report_doubt(sink);
        if let (Some(tracking), Some((choice, index))) = (self.calls.tracking(), delta.block()) {
            tracking.note_block(choice, index);
        }
        match delta {
            Delta::Text { block, text } => self.text(Channel::Text, block, &text, sink),
            Delta::Reasoning { block, text } => {
                self.text(Channel::Reasoning, block, &text, sink);
            }
            Delta::Refusal { block, text } => self.text(Channel::Refusal, block, &text, sink),
            Delta::TextAgain { block, text } => {
                if let Some(tracking) = self.calls.tracking() {
                    tracking.repeat_text(block, text.span());
                }
            }
            Delta::TextEnd { choice, block } => {
                self.finish_texts(Block::parts(choice, block), false, sink);
            }
            Delta::Call(mut delta) => {
                if self.calls.are_stated() && self.finished.contains_key(&delta.scope) {
                    // A call of a turn that is over contradicts its end.
                    delta.doubt = delta.doubt.or(Some(Doubt::Contradiction));
                }
                if let Err(error) = self.calls.take(delta, source, sink) {
                    self.fail(&error, sink);
                }
            }
            Delta::CallEnd { scope, index } => {
                self.calls.stop(scope, index, sink);
                if let (false, Ok(block)) = (self.calls.has(scope, index), u32::try_from(index)) {
                    self.finish_tracked(Block::parts(scope, block), false);
                }
            }
            Delta::CallsRepeated { scope } => self.calls.check_repeated(scope),
            Delta::Abort { scope } => {
                self.calls.finish(scope, End::Broken, sink);
                self.finish_tracked(Block::of_choice(scope), true);
            }
            Delta::Finish { scope, reason, original } => {
                let end = End::of(reason);
                self.calls.finish(scope, end, sink);
                self.finish_texts(Block::of_choice(scope), end.is_cut(), sink);
                let lossy = self.calls.is_lossy() || self.has_failed();
                if let Some(tracking) = self.calls.tracking() {
                    tracking.finish_searched(scope, reason.is_clean(), lossy);
                }
                let finish = Finish { choice: scope, reason, original: original.into_owned() };
                // Some servers repeat the last chunk.
                if self.finished.get(&scope) != Some(&finish) {
                    self.check_finish(&finish, sink);
                    sink(WireEvent::Finish(&finish));
                    if reason == FinishReason::Error && !self.failed {
                        let message = excerpt(&finish.original);
                        self.fail(&WireError::new(ErrorKind::Provider, message), sink);
                    }
                    // The calls that it speaks of never came.
                    if reason == FinishReason::ToolCalls && !self.calls.has_any(scope) {
                        self.calls.doubt(Doubt::LostEvent);
                    }
                    self.finished.insert(scope, finish);
                }
            }
            Delta::Usage(usage) => {
                self.usage.update(usage);
                sink(WireEvent::Usage(self.usage));
            }
            Delta::Citation { block, json } => sink(WireEvent::Citation { block, json }),
            Delta::Doubt(doubt) => self.calls.doubt(doubt),
            Delta::Damaged(doubt) => self.lose(doubt),
            Delta::Foreign => self.lose(Doubt::LostEvent),
            Delta::Fail(error) => self.fail(&error, sink),
        }
    }

    /// The payload is not read as a whole.
    fn lose(&mut self, doubt: Doubt) {
        if self.calls.tracking().is_some() {
            self.calls.abandon();
        }
        self.calls.damage(Some(doubt));
    }

    /// Reads a delta of payloads that were forwarded before it was known what they hold. A text that begins
    /// there is not rewritten.
    pub(crate) fn take_late(&mut self, delta: Delta<'_>, sink: Sink<'_>) {
        if let (Some(tracking), Delta::Text { block, .. }) = (self.calls.tracking(), &delta) {
            tracking.pass(*block);
        }
        self.take(delta, Source::VERBATIM, sink);
    }

    /// Reports a turn that stopped cleanly, so that its calls are complete, and then did not.
    fn check_finish(&mut self, finish: &Finish, sink: Sink<'_>) {
        let scope = finish.choice;
        let before = self.finished.get(&scope).filter(|before| before.reason.is_clean());
        if let Some(before) = before
            && !finish.reason.is_clean()
            && self.calls.has_ended(scope)
        {
            let message = format!("finished with {}, after {}", finish.original, before.original);
            self.fail(&WireError::new(ErrorKind::Contradiction, excerpt(&message)), sink);
        }
    }

    fn text(&mut self, channel: Channel, block: Block, piece: &Piece<'_>, sink: Sink<'_>) {
        self.calls.end_pending(sink);
        let mut halves = match self.halves.is_empty() {
            true => Halves::default(),
            false => self.halves.remove(&(block, channel)).unwrap_or_default(),
        };
        let mut text = halves.join(piece.literal(), piece);
        if halves.is_waiting() && self.halves.len() < MOST_HALVES {
            self.halves.insert((block, channel), halves);
        } else if halves.is_waiting() {
            text.to_mut().push_str(halves.finish());
        }
        let damaged = self.calls.is_damaged();
        if channel == Channel::Text
            && let Some(tracking) = self.calls.tracking()
        {
            tracking.text(block, piece.span(), &text, *text != **piece, damaged);
        }
        if !text.is_empty() {
            sink(channel.event(block, &text));
        }
    }

    /// Ends the texts of those blocks. A surrogate that still waits for its other half becomes U+FFFD.
    fn finish_texts(&mut self, of: RangeInclusive<Block>, cut: bool, sink: Sink<'_>) {
        let channels = (*of.start(), Channel::Reasoning)..=(*of.end(), Channel::Text);
        while let Some((&key, _)) = self.halves.range(channels.clone()).next() {
            let mut halves = self.halves.remove(&key).unwrap_or_default();
            sink(key.1.event(key.0, halves.finish()));
        }
        self.finish_tracked(of, cut);
    }

    /// What was lost may have been a piece of them.
    fn finish_tracked(&mut self, of: RangeInclusive<Block>, cut: bool) {
        let cut = cut || self.calls.is_lossy();
        if let Some(tracking) = self.calls.tracking() {
            tracking.end_texts(of, cut);
        }
    }
}
