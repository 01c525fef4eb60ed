//! The tools of a registry, as the reader of calls in text needs them.

use wiremend_extract::Tools;

use super::Registry;
use crate::part::Part;

impl Registry {
    /// The tools, for a [`CallExtractor`](wiremend_extract::CallExtractor): their names, the order of
    /// their parameters, for arguments that are given by position, and the types of these, for values
    /// that are written as bare text.
    ///
    /// ```
    /// use wiremend_core::Options;
    /// use wiremend_extract::{CallExtractor, FoundCalls};
    /// use wiremend_schema::Registry;
    /// use serde_json::json;
    ///
    /// let registry = Registry::from_tools(&json!([{"name": "book", "parameters": {
    ///     "type": "object", "properties": {"seats": {"type": "integer"}},
    /// }}]))?;
    /// let mut reader = CallExtractor::new(Options::new()).with_tools(registry.tools());
    /// let mut found = FoundCalls::default();
    /// reader.push(b"[book(2)]", &mut found);
    /// reader.finish_at_eos(&mut found);
    /// assert_eq!(found.calls()[0].arguments(), br#"{"seats": 2}"#);
    /// # Ok::<(), wiremend_schema::RegistryError>(())
    /// ```
    #[must_use]
    pub fn tools(&self) -> Tools {
        self.tools.iter().fold(Tools::new(), |tools, (name, tool)| {
            let parameters = Part::root(&tool.schema).properties();
            tools.with_tool(name, parameters, Some(tool.schema.guide()))
        })
    }
}
