//! What else a rewriter changes in the arguments of each tool, and which repairs it may make.

use core::ops::Range;
use std::{fmt, sync::Arc};

use wiremend_core::{Mended, Policy, Repair, RepairKind, Repairs, apply};

use crate::{Block, Call};

/// Edits of [`Fittable::raw`].
type Edits = Vec<(Range<usize>, String)>;

type Fit = dyn Fn(&Fittable<'_>) -> Option<Edits> + Send + Sync;

/// Looks up the policy for a tool by name.
type Find = dyn Fn(&str) -> Option<Policy> + Send + Sync;

/// JSON of a response that is complete, and that a [`FitHook`] may change.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Fittable<'a> {
    /// The arguments of a call.
    Call(&'a Call),
    /// Content that is JSON by contract ([`RewriteOptions::with_json_content`](crate::RewriteOptions::with_json_content)).
    #[non_exhaustive]
    Content {
        /// Where it is in the response.
        block: Block,
        /// The text as it came.
        raw: &'a str,
        /// The text as it was repaired.
        mended: &'a Mended,
    },
}

impl<'a> Fittable<'a> {
    /// The text as it came, which edits refer to.
    #[must_use]
    pub fn raw(&self) -> &'a str {
        match self {
            Self::Call(call) => call.raw(),
            Self::Content { raw, .. } => raw,
        }
    }

    /// The call, if it is one.
    #[must_use]
    pub const fn call(&self) -> Option<&'a Call> {
        match self {
            Self::Call(call) => Some(*call),
            Self::Content { .. } => None,
        }
    }
}

/// Changes the arguments of complete calls and complete JSON content, for example so that they fit their schema.
///
/// It is asked once for each call, and for each text of the content that is
/// [JSON](crate::RewriteOptions::with_json_content), that ended complete while a [`Rewriter`](crate::Rewriter) in
/// [`RewriteMode::Validated`](crate::RewriteMode::Validated) still held all of it. It returns edits of
/// [`Fittable::raw`], sorted and without overlaps, which replace the repairs of the engine; so they have to
/// include what is to remain of these. `None`, or edits that cannot be applied, leave the text as it is.
/// It is not asked about calls that are incomplete, that have free text, that have no arguments, or whose
/// text is not in the stream in one form. A `FitHook` is equal only to itself and its clones.
///
/// ```
/// use wiremend_wire::{FitHook, RewriteMode, RewriteOptions, Rewriter, Rewritten};
///
/// let body = concat!(
///     r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":"#,
///     r#"{"name":"f","arguments":"{\"n\": \"3\"}"}}]},"finish_reason":"tool_calls"}]}"#,
///     "\n\ndata: [DONE]\n\n",
/// );
/// let hook = FitHook::new(|given| {
///     let at = given.raw().find("\"3\"")?;
///     Some(vec![(at..at + 3, "3".to_owned())])
/// });
/// let options = RewriteOptions::new().with_mode(RewriteMode::Validated).with_fit_hook(hook);
/// let mut rewriter = Rewriter::new(options);
/// let mut out = Vec::new();
/// let mut take = |piece: Rewritten<'_>| {
///     if let Rewritten::Bytes(bytes) = piece {
///         out.extend_from_slice(bytes);
///     }
/// };
/// rewriter.push(body.as_bytes(), &mut take);
/// rewriter.finish(&mut take);
/// assert_eq!(String::from_utf8(out).unwrap(), body.replace(r#"\"3\""#, "3"));
/// ```
#[derive(Clone)]
pub struct FitHook(Arc<Fit>);

impl FitHook {
    /// Creates a hook from a function.
    #[must_use]
    pub fn new(fit: impl Fn(&Fittable<'_>) -> Option<Edits> + Send + Sync + 'static) -> Self {
        Self(Arc::new(fit))
    }

    /// The new text, and the edits that make it.
    pub(crate) fn fit(&self, given: &Fittable<'_>) -> Option<(String, Repairs)> {
        let edits = (self.0)(given)?;
        let mut script = Repairs::new();
        for (span, after) in edits {
            // Only the places and the texts matter to a log of edits.
            script.push(&Repair::new(RepairKind::SingleQuote, span, after));
        }
        let text = String::from_utf8(apply(given.raw().as_bytes(), &script)?).ok()?;
        Some((text, script))
    }
}

/// Which repairs may be made in the arguments of a tool, by its name.
///
/// It is asked for the name of a call, again each time that more of the name arrives, and where the call is fitted to a
/// schema. What it says of the whole name decides about the call, also where that comes after the arguments; until a
/// call has a name, nothing of its arguments is repaired.
/// `None` leaves the policy of [`WireOptions::with_mending`](crate::WireOptions::with_mending). A call that a
/// [`Rewriter`](crate::Rewriter) finds in a text, and that needed a repair that the policy of its tool forbids, stays
/// text. A `ToolPolicies` is equal only to itself and its clones.
///
/// ```
/// use wiremend_core::Policy;
/// use wiremend_wire::{ToolPolicies, WireOptions, transcribe};
///
/// let body = br#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"rm","arguments":"{'a': 1}"}}]},"finish_reason":"tool_calls"}]}
///
/// data: [DONE]
///
/// "#;
/// let strict = ToolPolicies::new(|tool| (tool == "rm").then_some(Policy::STRICT));
/// let options = WireOptions::new();
/// assert!(transcribe(body, options.clone()).calls()[0].outcome().is_complete());
/// assert!(!transcribe(body, options.with_policies(strict)).calls()[0].outcome().is_complete());
/// ```
#[derive(Clone)]
pub struct ToolPolicies(Arc<Find>);

impl ToolPolicies {
    /// Creates policies from a lookup function.
    #[must_use]
    pub fn new(find: impl Fn(&str) -> Option<Policy> + Send + Sync + 'static) -> Self {
        Self(Arc::new(find))
    }

    /// The policy for that tool, if it has one of its own.
    #[must_use]
    pub fn find(&self, tool: &str) -> Option<Policy> {
        (self.0)(tool)
    }
}

macro_rules! by_identity {
    ($($type:ident)*) => {
        $(
            impl fmt::Debug for $type {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.debug_struct(stringify!($type)).finish_non_exhaustive()
                }
            }

            impl PartialEq for $type {
                fn eq(&self, other: &Self) -> bool {
                    Arc::ptr_eq(&self.0, &other.0)
                }
            }

            impl Eq for $type {}
        )*
    };
}

by_identity!(FitHook ToolPolicies);
