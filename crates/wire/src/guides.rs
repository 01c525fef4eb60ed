//! What is known of the arguments of each tool.

use std::{fmt, sync::Arc};

use jsonmend_core::Guide;

/// What a guide is asked for: the name of a tool.
type Find = dyn Fn(&str) -> Option<Arc<dyn Guide>> + Send + Sync;

/// The guides to the arguments of tools, by name: with them the schema of a tool settles what the
/// bytes of its arguments leave open, while they arrive.
///
/// A call is guided if its name comes before its arguments, as in every format that streams them.
/// Equal to itself and its clones only.
///
/// ```
/// use std::sync::Arc;
/// use jsonmend_core::{Guide, Kind, Member};
/// use jsonmend_wire::{Guides, WireOptions, transcribe};
///
/// /// The arguments `city` and `days`.
/// #[derive(Debug)]
/// struct Trip;
///
/// impl Guide for Trip {
///     fn allows(&self, _: Kind) -> bool {
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
pub struct Guides(Arc<Find>);

impl Guides {
    /// Guides as `find` knows them; `None` for a tool that is not known. It is asked once a call.
    #[must_use]
    pub fn new(find: impl Fn(&str) -> Option<Arc<dyn Guide>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(find))
    }

    pub(crate) fn find(&self, tool: &str) -> Option<Arc<dyn Guide>> {
        (self.0)(tool)
    }
}

impl fmt::Debug for Guides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guides").finish_non_exhaustive()
    }
}

impl PartialEq for Guides {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Guides {}
