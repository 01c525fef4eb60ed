//! Logging with the feature `tracing`: how things ended, and content only if that is wanted. Without the feature
//! these functions do nothing.

#[cfg(feature = "schema")]
use wiremend_core::Outcome;
use wiremend_response::Object;
use wiremend_wire::{Call, StreamOutcome};

/// The span of a response.
#[cfg(feature = "tracing")]
pub(super) fn span(streaming: bool) -> tracing::Span {
    use tracing::field::Empty;
    tracing::debug_span!("wiremend", streaming, model = Empty, format = Empty)
}

/// The arguments of a call were repaired.
#[cfg(feature = "tracing")]
pub(super) fn repaired(call: &Call, tool: &str, content: bool) {
    if call.repairs().is_empty() || !call.outcome().is_valid() {
        return;
    }
    let codes: Vec<&str> = call.repairs().kinds().map(|(kind, _)| kind.code()).collect();
    tracing::info!(
        tool,
        codes = codes.join(","),
        risk = call.repairs().risk().map(wiremend_core::Risk::code),
        outcome = call.outcome().code(),
        raw = content.then(|| call.raw()),
        arguments = content.then(|| call.arguments()),
        "tool_input_repaired"
    );
}

/// A document found in text has ended.
pub(super) fn object(object: &Object) {
    #[cfg(feature = "tracing")]
    tracing::debug!(
        object = object.number(),
        outcome = object.outcome().code(),
        repairs = object.repairs().len(),
        bytes = object.json().map(str::len),
        "document ended"
    );
    #[cfg(not(feature = "tracing"))]
    let _ = object;
}

/// A tool call has ended.
pub(super) fn call(call: &Call) {
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
pub(super) fn response(outcome: StreamOutcome) {
    #[cfg(feature = "tracing")]
    tracing::debug!(outcome = outcome.code(), "response ended");
    #[cfg(not(feature = "tracing"))]
    let _ = outcome;
}

/// A line or an event of a response was dropped because it exceeded `limit`.
pub(super) fn oversize(limit: usize) {
    #[cfg(feature = "tracing")]
    tracing::warn!(limit, "dropped what passed a limit");
    #[cfg(not(feature = "tracing"))]
    let _ = limit;
}

/// A value was fitted to its schema, or could not be.
#[cfg(feature = "schema")]
pub(super) fn fitted(fitted: &wiremend_schema::Fitted, outcome: Outcome) {
    #[cfg(feature = "tracing")]
    tracing::debug!(
        outcome = outcome.code(),
        rules = fitted.applied().len(),
        issues = fitted.issues().len(),
        bytes = fitted.text().map(str::len),
        "value ended"
    );
    #[cfg(not(feature = "tracing"))]
    let _ = (fitted, outcome);
}

/// The stream of bytes failed.
pub(crate) fn upstream_failed() {
    #[cfg(feature = "tracing")]
    tracing::warn!("the stream of bytes failed");
}
