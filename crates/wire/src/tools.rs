//! What is known about the arguments of each tool.

use core::ops::Range;
use std::{borrow::Cow, fmt, sync::Arc};

use wiremend_core::{Guide, MendOptions, Mended, Policy, Repair, RepairKind, Repairs, apply};

use crate::{Block, Call, WireOptions};

/// Looks up the guide for a tool by name.
type FindGuide = dyn Fn(&str) -> Option<Arc<dyn Guide>> + Send + Sync;

/// Looks up the name with which a tool was declared.
type Declared = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Guides to the arguments of tools, by tool name. With a guide, the schema of a tool decides what the
/// bytes of its arguments leave open, while they arrive.
///
/// A call is guided by the whole of its name, also where that arrives after its arguments: what was shown of them until
/// then was read without a guide.
/// A `Guides` is equal only to itself and its clones.
///
/// ```
/// use std::sync::Arc;
/// use wiremend_core::{Guide, JsonType, Member};
/// use wiremend_wire::{Guides, WireOptions, transcribe};
///
/// /// The arguments `city` and `days`.
/// #[derive(Debug)]
/// struct Trip;
///
/// impl Guide for Trip {
///     fn allows(&self, _: JsonType) -> bool {
///         true
///     }
///     fn member(&self, key: &str) -> Member {
///         match key {
///             "city" | "days" => Member::Declared(Arc::new(Trip)),
///             _ => Member::Open,
///         }
///     }
/// }
///
/// let guides = Guides::new(|tool| (tool == "plan").then(|| Arc::new(Trip) as Arc<dyn Guide>));
/// let body = br#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"plan","arguments":"{city 'New York', days 3}"}}]},"finish_reason":"tool_calls"}]}
///
/// data: [DONE]
///
/// "#;
/// let guided = transcribe(body, WireOptions::new().with_guides(guides));
/// assert_eq!(guided.calls()[0].arguments(), r#"{"city": "New York", "days": 3}"#);
/// ```
#[derive(Clone)]
pub struct Guides {
    find: Arc<FindGuide>,
    declared: Option<Arc<Declared>>,
}

impl Guides {
    /// Creates guides from a lookup function. `find` returns `None` for an unknown tool. It is called for the name of
    /// each call, and again each time that more of the name arrives.
    #[must_use]
    pub fn new(find: impl Fn(&str) -> Option<Arc<dyn Guide>> + Send + Sync + 'static) -> Self {
        Self { find: Arc::new(find), declared: None }
    }

    /// The same, where guides are also found by names that only resemble that of a tool: `declared` gives the name with
    /// which the tool was declared. Without it, a name for which there is a guide counts as declared. It decides which
    /// tool a name means that has a control token of the model in it, or white space, as `read\n` and
    /// `read<|message|>` do.
    ///
    /// ```
    /// use wiremend_wire::{Guides, WireOptions, transcribe};
    ///
    /// let guides = Guides::new(|_| None).with_declared(|name| {
    ///     name.trim().eq_ignore_ascii_case("read").then(|| "read".to_owned())
    /// });
    /// let body = br#"{"choices":[{"message":{"tool_calls":[{"id":"a","type":"function","function":
    ///     {"name":"Read\n","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;
    /// let said = transcribe(body, WireOptions::new().with_guides(guides));
    /// assert_eq!(said.calls()[0].name(), "read");
    /// ```
    #[must_use]
    pub fn with_declared(
        mut self,
        declared: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.declared = Some(Arc::new(declared));
        self
    }

    pub(crate) fn find(&self, tool: &str) -> Option<Arc<dyn Guide>> {
        (self.find)(tool)
    }

    /// The name with which the tool was declared that has a guide by that name.
    pub(crate) fn declared(&self, name: &str) -> Option<String> {
        match &self.declared {
            Some(declared) => declared(name),
            None => self.find(name).map(|_| name.to_owned()),
        }
    }
}

impl fmt::Debug for Guides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guides").finish_non_exhaustive()
    }
}

impl PartialEq for Guides {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.find, &other.find)
    }
}

impl Eq for Guides {}

/// Edits of [`Fittable::raw`].
type Edits = Vec<(Range<usize>, String)>;

type Fit = dyn Fn(&Fittable<'_>) -> Option<Edits> + Send + Sync;

/// Looks up the policy for a tool by name.
type FindPolicy = dyn Fn(&str) -> Option<Policy> + Send + Sync;

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
pub struct ToolPolicies(Arc<FindPolicy>);

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

/// What the name of a tool says of its arguments.
#[derive(Debug)]
pub(crate) struct ToolOptions {
    mending: MendOptions,
    guides: Option<Guides>,
    policies: Option<ToolPolicies>,
}

impl ToolOptions {
    pub(crate) fn new(options: &WireOptions) -> Self {
        Self {
            mending: options.mending().clone(),
            guides: options.guides().cloned(),
            policies: options.policies().cloned(),
        }
    }

    /// The policy of a tool that has none of its own.
    pub(crate) const fn policy(&self) -> Policy {
        self.mending.policy()
    }

    /// The name of the tool that a name means in which a character is that no name has, if it is declared: that name
    /// itself, or what is before the character.
    pub(crate) fn declared(&self, name: &str) -> Option<String> {
        // Policies may have an answer for every name.
        let declared = |name: &str| match (&self.guides, &self.policies) {
            (Some(guides), _) => guides.declared(name),
            (None, policies) => policies.as_ref()?.find(name).map(|_| name.to_owned()),
        };
        let (head, _) = name.split_at(name.find(is_foreign)?);
        let whole = declared(name);
        if whole.as_deref() == Some(name) { whole } else { declared(head).or(whole) }
    }

    /// The same, or the name as it is.
    pub(crate) fn clean<'n>(&self, name: &'n str) -> Cow<'n, str> {
        self.declared(name).map_or(Cow::Borrowed(name), Cow::Owned)
    }

    /// The options for the tool of that name. As long as it has none, it may be any tool: where tools have policies,
    /// nothing is repaired for it.
    pub(crate) fn of(&self, name: Option<&str>) -> MendOptions {
        let options = self.mending.clone();
        let name = name.map(|name| self.clean(name));
        let name = name.as_deref();
        let policy = self.policies.as_ref().and_then(|policies| match name {
            Some(name) => policies.find(name),
            None => Some(Policy::STRICT),
        });
        let options = match policy {
            Some(policy) => options.with_policy(policy),
            None => options,
        };
        match name.and_then(|name| self.guides.as_ref()?.find(name)) {
            Some(guide) => options.with_guide(guide),
            None => options,
        }
    }
}

/// Whether a character is in no name of a tool: it is of a marker or a tag of the model, or got there on the way.
pub(crate) fn is_foreign(c: char) -> bool {
    c.is_control() || c.is_whitespace() || matches!(c, '<' | '>' | '|')
}
