//! Logging with the feature `tracing`: how things ended, never their content. Without the feature these
//! functions do nothing.

use jsonmend_response::{Event, Object};
use jsonmend_wire::{Call, StreamOutcome};

/// Logs an event that ends something.
pub(crate) fn event(event: &Event) {
    match event {
        Event::CallEnded(ended) => call(ended),
        #[cfg(feature = "schema")]
        Event::CallFitted { fit, .. } => {
            if let jsonmend_response::CallFit::Fitted { fitted: value, .. } = &**fit {
                fitted(value);
            }
        }
        #[cfg(feature = "schema")]
        Event::ObjectFitted(fit) => fit.fitted().into_iter().for_each(fitted),
        Event::Ended(outcome) => response(*outcome),
        Event::ObjectEnded(ended) => object(ended),
        Event::Oversize { limit, .. } => oversize(*limit),
        _ => {}
    }
}

/// A document found in text has ended.
pub(crate) fn object(object: &Object) {
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
fn call(call: &Call) {
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
fn response(outcome: StreamOutcome) {
    #[cfg(feature = "tracing")]
    tracing::debug!(outcome = outcome.code(), "response ended");
    #[cfg(not(feature = "tracing"))]
    let _ = outcome;
}

/// A line or an event of a response was dropped because it exceeded `limit`.
fn oversize(limit: usize) {
    #[cfg(feature = "tracing")]
    tracing::warn!(limit, "dropped what passed a limit");
    #[cfg(not(feature = "tracing"))]
    let _ = limit;
}

/// A value was fitted to its schema, or could not be.
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
