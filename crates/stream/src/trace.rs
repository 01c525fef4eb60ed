//! What is told to `tracing`, behind the feature of that name: how things ended, never what is in
//! them. Without the feature these functions do nothing.

use jsonmend_core::{Outcome, Repair};
use jsonmend_wire::{Call, StreamOutcome};

/// A document that was found in text has ended.
pub(crate) fn document(number: usize, outcome: Outcome, repairs: &[Repair], bytes: Option<usize>) {
    #[cfg(feature = "tracing")]
    tracing::debug!(
        object = number,
        outcome = outcome.code(),
        repairs = repairs.len(),
        bytes,
        "document ended"
    );
    #[cfg(not(feature = "tracing"))]
    let _ = (number, outcome, repairs, bytes);
}

/// A tool call has ended.
pub(crate) fn call(call: &Call) {
    #[cfg(feature = "tracing")]
    tracing::debug!(
        call = call.number(),
        outcome = call.outcome().code(),
        repairs = call.repairs().len(),
        bytes = call.arguments().len(),
        "call ended"
    );
    #[cfg(not(feature = "tracing"))]
    let _ = call;
}

/// A response has ended.
pub(crate) fn response(outcome: StreamOutcome) {
    #[cfg(feature = "tracing")]
    tracing::debug!(outcome = outcome.code(), "response ended");
    #[cfg(not(feature = "tracing"))]
    let _ = outcome;
}

/// A line or an event of a response was dropped, for it was longer than that.
pub(crate) fn oversize(limit: usize) {
    #[cfg(feature = "tracing")]
    tracing::warn!(limit, "dropped what passed a limit");
    #[cfg(not(feature = "tracing"))]
    let _ = limit;
}

/// A value was brought into its schema, or not.
#[cfg(feature = "schema")]
pub(crate) fn fitted(fitted: &jsonmend_schema::Fitted) {
    #[cfg(feature = "tracing")]
    tracing::debug!(
        outcome = fitted.outcome().code(),
        rules = fitted.applied().len(),
        issues = fitted.issues().len(),
        bytes = fitted.text().map(str::len),
        "value ended"
    );
    #[cfg(not(feature = "tracing"))]
    let _ = fitted;
}

/// The stream of bytes failed.
pub(crate) fn upstream_failed() {
    #[cfg(feature = "tracing")]
    tracing::warn!("the stream of bytes failed");
}
