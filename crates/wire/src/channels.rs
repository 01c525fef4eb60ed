//! From deltas to events: calls, texts, the end of choices, token counts, errors.

use std::collections::BTreeMap;

use jsonmend_core::Options;

use crate::{
    Block, Finish, FinishReason, Usage, WireError, WireEvent, WireLimits,
    calls::{Calls, Sink},
    format::{Delta, Piece},
    json::Halves,
};

/// How many errors of one response are handed out. A body of nothing but errors says no more with
/// the next one.
const MOST_ERRORS: usize = 64;

/// How many texts may wait for the other half of a character.
const MOST_HALVES: usize = 1024;

/// The channels of one response.
#[derive(Debug)]
pub(crate) struct Channels {
    calls: Calls,
    usage: Usage,
    /// The last finish of every choice that has one.
    finished: BTreeMap<u32, Finish>,
    /// The texts that end in half a character.
    halves: BTreeMap<(Block, Channel), Halves>,
    errors: usize,
}

/// A text of a block.
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
    pub(crate) fn new(mending: Options, limits: WireLimits) -> Self {
        Self {
            calls: Calls::new(mending, limits),
            usage: Usage::default(),
            finished: BTreeMap::new(),
            halves: BTreeMap::new(),
            errors: 0,
        }
    }

    /// Whether an error was reported.
    pub(crate) const fn has_failed(&self) -> bool {
        self.errors > 0
    }

    /// Reports an error.
    pub(crate) fn fail(&mut self, error: &WireError, sink: Sink<'_>) {
        self.errors += 1;
        if self.errors <= MOST_ERRORS {
            sink(WireEvent::Error(error));
        }
    }

    /// Ends every call that is open. `cut`: the stream broke off.
    pub(crate) fn end(&mut self, cut: bool, sink: Sink<'_>) {
        self.calls.finish_all(cut, sink);
        self.finish_texts(|_| true, sink);
    }

    /// Reads a delta.
    pub(crate) fn take(&mut self, delta: Delta<'_>, sink: Sink<'_>) {
        match delta {
            Delta::Text { block, text } => self.text(Channel::Text, block, &text, sink),
            Delta::Reasoning { block, text } => self.text(Channel::Reasoning, block, &text, sink),
            Delta::Refusal { block, text } => self.text(Channel::Refusal, block, &text, sink),
            Delta::Call(delta) => {
                if let Err(error) = self.calls.take(delta, sink) {
                    self.fail(&error, sink);
                }
            }
            Delta::CallEnd { scope, index } => self.calls.stop(scope, index, sink),
            Delta::Abort { scope } => self.calls.finish(scope, true, sink),
            Delta::Finish { scope, reason, original } => {
                self.calls.finish(scope, reason == FinishReason::Length, sink);
                self.finish_texts(|block| block.choice == scope, sink);
                let finish = Finish { choice: scope, reason, original: original.into_owned() };
                // Some servers repeat the last chunk.
                if self.finished.get(&scope) != Some(&finish) {
                    sink(WireEvent::Finish(&finish));
                    self.finished.insert(scope, finish);
                }
            }
            Delta::Usage(usage) => {
                self.usage.update(usage);
                sink(WireEvent::Usage(self.usage));
            }
            Delta::Citation { block, json } => sink(WireEvent::Citation { block, json }),
            Delta::Fail(error) => self.fail(&error, sink),
        }
    }

    fn text(&mut self, channel: Channel, block: Block, piece: &Piece<'_>, sink: Sink<'_>) {
        self.calls.settle(sink);
        let mut halves = match self.halves.is_empty() {
            true => Halves::default(),
            false => self.halves.remove(&(block, channel)).unwrap_or_default(),
        };
        let text = halves.join(piece.literal(), piece);
        if !text.is_empty() {
            sink(channel.event(block, &text));
        }
        if halves.is_waiting() && self.halves.len() < MOST_HALVES {
            self.halves.insert((block, channel), halves);
        } else if halves.is_waiting() {
            sink(channel.event(block, halves.finish()));
        }
    }

    /// No text of those blocks goes on: half a character stays one.
    fn finish_texts(&mut self, of: impl Fn(Block) -> bool, sink: Sink<'_>) {
        self.halves.retain(|&(block, channel), halves| {
            let ends = of(block);
            if ends {
                sink(channel.event(block, halves.finish()));
            }
            !ends
        });
    }
}
