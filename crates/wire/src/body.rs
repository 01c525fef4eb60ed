//! Repairs response bodies that were not streamed, in place.

use std::borrow::Cow;

use wiremend_core::Outcome;

use crate::{
    Call, CallKind, Framing, Transcript, WireOptions,
    format::{self, Arguments, Delta},
    json::{self, Span},
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
/// complete. Every other byte is unchanged. Arguments that were cut off, or that the policy forbids to
/// repair, stay verbatim; the [`transcript`](MendedBody::transcript) reports them. Empty arguments also
/// stay, although they count as `{}` in the transcript, and so do bodies that are not JSON and streams.
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
    let transcript = transcribe(body, options);
    let mended: Vec<&Call> =
        transcript.calls().into_iter().filter(|call| is_mended(call)).collect();
    let whole = matches!(transcript.framing(), Some(Framing::Json | Framing::JsonArray));
    let replaced = match std::str::from_utf8(body) {
        Ok(text) if whole && !mended.is_empty() => replace(text, &transcript, &mended),
        _ => None,
    };
    let body = replaced.map_or(Cow::Borrowed(body), |text| Cow::Owned(text.into_bytes()));
    MendedBody { body, transcript }
}

fn is_mended(call: &Call) -> bool {
    call.outcome() == Outcome::Repaired && call.kind() != CallKind::Custom
}

/// The body with new strings for the arguments of `calls`, which are in the order of the body.
fn replace(body: &str, transcript: &Transcript, calls: &[&Call]) -> Option<String> {
    let mut format = format::start(transcript.format()?)?;
    let text = body.trim_start_matches(|c: char| c == '\u{feff}' || json::is_space(c));
    let (root, _) = json::first_from(body, body.len() - text.len()).ok()?;
    let mut out = String::with_capacity(body.len());
    let mut written = 0;
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
            if let Some(Span { start, end }) = piece.span()
                && let Some(before) = body.get(written..start)
            {
                out.push_str(before);
                out.push_str(&json::quote(call.arguments()));
                written = end;
            }
        });
    }
    out.push_str(body.get(written..)?);
    Some(out)
}
