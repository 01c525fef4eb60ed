//! From deltas to events: calls, texts, the end of choices, token counts, errors.

use std::collections::BTreeMap;

use jsonmend_core::Options;

use crate::{
    Finish, FinishReason, Usage, WireError, WireEvent, WireLimits,
    calls::{Calls, Sink},
    format::Delta,
};

/// How many errors of one response are handed out. A body of nothing but errors says no more with
/// the next one.
const MOST_ERRORS: usize = 64;

/// The channels of one response.
#[derive(Debug)]
pub(crate) struct Channels {
    calls: Calls,
    usage: Usage,
    /// The last finish of every choice that has one.
    finished: BTreeMap<u32, Finish>,
    errors: usize,
}

impl Channels {
    pub(crate) fn new(mending: Options, limits: WireLimits) -> Self {
        Self {
            calls: Calls::new(mending, limits),
            usage: Usage::default(),
            finished: BTreeMap::new(),
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
    }

    /// Reads a delta.
    pub(crate) fn take(&mut self, delta: Delta<'_>, sink: Sink<'_>) {
        match delta {
            Delta::Text { block, text } => {
                self.calls.settle(sink);
                sink(WireEvent::Text { block, text: &text });
            }
            Delta::Reasoning { block, text } => {
                self.calls.settle(sink);
                sink(WireEvent::Reasoning { block, text: &text });
            }
            Delta::Refusal { block, text } => {
                self.calls.settle(sink);
                sink(WireEvent::Refusal { block, text: &text });
            }
            Delta::Call(delta) => {
                if let Err(error) = self.calls.take(delta, sink) {
                    self.fail(&error, sink);
                }
            }
            Delta::CallEnd { scope, index } => self.calls.stop(scope, index, sink),
            Delta::Abort { scope } => self.calls.finish(scope, true, sink),
            Delta::Finish { scope, reason, original } => {
                self.calls.finish(scope, reason == FinishReason::Length, sink);
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
        }
    }
}
