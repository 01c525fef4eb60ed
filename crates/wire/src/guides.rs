//! What is known about the arguments of each tool.

use std::{fmt, sync::Arc};

use wiremend_core::Guide;

/// Looks up the guide for a tool by name.
type Find = dyn Fn(&str) -> Option<Arc<dyn Guide>> + Send + Sync;

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
    find: Arc<Find>,
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
