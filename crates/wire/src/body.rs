//! Repairs response bodies that were not streamed, in place.

use std::{borrow::Cow, collections::BTreeSet};

use wiremend_core::Outcome;

use crate::{
    Call, CallKind, Framing, Transcript, WireOptions,
    calls::{EmptyCall, ToolOptions},
    format::{self, Arguments, Delta},
    json,
    rewrite::{Empty, spliced},
    transcribe,
};

/// A response body with repaired tool calls. Returned by [`mend_body`].
#[derive(Clone, Debug, PartialEq)]
pub struct MendedBody<'a> {
    body: Cow<'a, [u8]>,
    transcript: Transcript,
}

impl<'a> MendedBody<'a> {
    /// The body to forward.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The body to forward, without a copy if nothing was repaired.
    #[must_use]
    pub fn into_body(self) -> Cow<'a, [u8]> {
        self.body
    }

    /// Whether anything was repaired.
    #[must_use]
    pub const fn is_changed(&self) -> bool {
        matches!(self.body, Cow::Owned(_))
    }

    /// The content of the body, including the outcome of every call.
    #[must_use]
    pub const fn transcript(&self) -> &Transcript {
        &self.transcript
    }
}

/// Reads a response body that was not streamed, and repairs the arguments of its tool calls in place.
///
/// Only the strings that hold arguments are replaced, and only if the arguments were repaired and the call is
/// complete. Empty, null and missing arguments of a complete call become an empty object. Every other byte is
/// unchanged. Arguments that were cut off, or that the policy forbids to repair, stay verbatim; the
/// [`transcript`](MendedBody::transcript) reports them. So do bodies that are not JSON and streams.
/// To repair content that must be JSON, use a [`Rewriter`](crate::Rewriter), which also accepts bodies that
/// were not streamed.
///
/// ```
/// use wiremend_core::Outcome;
/// use wiremend_wire::{WireOptions, mend_body};
///
/// let body = br#"{"choices": [{"index": 0, "message": {"tool_calls": [{"id": "c1", "type": "function",
///     "function": {"name": "add", "arguments": "{'a': 1,}"}}]}, "finish_reason": "tool_calls"}]}"#;
/// let mended = mend_body(body, WireOptions::new());
/// assert_eq!(mended.transcript().calls()[0].outcome(), Outcome::Repaired);
/// let text = String::from_utf8(mended.into_body().into_owned()).unwrap();
/// assert!(text.contains(r#""arguments": "{\"a\": 1}"}}]}, "finish_reason""#));
/// ```
#[must_use]
pub fn mend_body(body: &[u8], options: WireOptions) -> MendedBody<'_> {
    let tools = ToolOptions::new(&options);
    let transcript = transcribe(body, options);
    let calls = || transcript.calls().into_iter().filter(|call| call.kind() == CallKind::Function);
    let mended: Vec<&Call> = calls().filter(|it| it.outcome() == Outcome::Repaired).collect();
    // What is said without an id is known by its name only.
    let (complete, rest): (Vec<&Call>, Vec<&Call>) =
        calls().partition(|call| call.outcome().is_complete());
    let rest: BTreeSet<_> = rest.into_iter().map(|call| (call.id(), call.name())).collect();
    let empty: Vec<EmptyCall> = complete
        .into_iter()
        .filter(|it| it.arguments() == "{}" && !rest.contains(&(it.id(), it.name())))
        .filter(|it| tools.of(Some(it.name())).policy().max_risk().is_some())
        .map(EmptyCall::of)
        .collect();
    let whole = matches!(transcript.framing(), Some(Framing::Json | Framing::JsonArray));
    let replaced = match std::str::from_utf8(body) {
        Ok(text) if whole && !(mended.is_empty() && empty.is_empty()) => {
            replace(text, &transcript, &mended, &empty)
        }
        _ => None,
    };
    let body = replaced.map_or(Cow::Borrowed(body), |text| Cow::Owned(text.into_bytes()));
    MendedBody { body, transcript }
}

/// The body with new strings for the arguments of `calls`, which are in the order of the body, and an object for those of
/// the empty ones. `None` if that changes nothing.
fn replace(
    body: &str,
    transcript: &Transcript,
    calls: &[&Call],
    empty: &[EmptyCall],
) -> Option<String> {
    let wire = transcript.format()?;
    let mut format = format::start(wire)?;
    let text = body.trim_start_matches(|c: char| c == '\u{feff}' || json::is_space(c));
    let (root, _) = json::first_from(body, body.len() - text.len()).ok()?;
    let mut empty = Empty::of(empty);
    let mut edits = Vec::new();
    let mut waiting = calls.iter().peekable();
    let alone = (!root.is_array()).then_some(root);
    for payload in alone.into_iter().chain(root.items()).filter(|node| node.is_object()) {
        format.decode("", payload, &mut |delta: Delta<'_>| {
            let Delta::Call(delta) = delta else { return };
            let (Arguments::Fragment(piece) | Arguments::Final(piece)) = delta.arguments else {
                return;
            };
            // The piece of a call that was left alone matches none of the waiting calls.
            let Some(call) = waiting.next_if(|call| call.raw() == &*piece) else { return };
            edits.extend(piece.span().map(|span| (span, json::quote(call.arguments()))));
        });
        edits.extend(empty.fill(wire, payload));
    }
    (!edits.is_empty()).then(|| spliced(body, edits))
}
