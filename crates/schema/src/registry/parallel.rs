//! Several calls that were written as one.

use std::ops::Range;

use super::names;
use crate::tree::{JsonType, Tree};

/// The tool that models invent for parallel calls, without case and separators.
const NAME: &str = "multitooluseparallel";

/// One of several calls inside the arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParallelCall {
    name: String,
    arguments: Range<usize>,
}

impl ParallelCall {
    /// The name as it is written, such as `functions.search`.
    /// [`Registry::resolve`](super::Registry::resolve) recognises such spellings.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The byte range of its arguments in the text.
    #[must_use]
    pub fn arguments(&self) -> Range<usize> {
        self.arguments.clone()
    }
}

/// The calls inside a call of `multi_tool_use.parallel`, a tool that models invent. `None` for any
/// other tool, and if one of the calls has no name or no object of arguments.
///
/// ```
/// use wiremend_schema::parallel_calls;
/// let text = r#"{"tool_uses": [{"recipient_name": "functions.add", "parameters": {"a": 1}}]}"#;
/// let calls = parallel_calls("multi_tool_use.parallel", text).unwrap();
/// assert_eq!(calls[0].name(), "functions.add");
/// assert_eq!(&text[calls[0].arguments()], r#"{"a": 1}"#);
/// assert!(parallel_calls("add", text).is_none());
/// ```
#[must_use]
pub fn parallel_calls(name: &str, arguments: &str) -> Option<Vec<ParallelCall>> {
    if !names::keys(name).iter().any(|key| key == NAME) {
        return None;
    }
    let tree = Tree::read(arguments).ok()?;
    let uses = tree.root().member("tool_uses")?;
    if uses.kind() != JsonType::Array || uses.len() == 0 {
        return None;
    }
    uses.children()
        .map(|call| {
            let name = call.member("recipient_name").or_else(|| call.member("name"))?;
            let arguments = call.member("parameters").or_else(|| call.member("arguments"))?;
            let object = arguments.kind() == JsonType::Object;
            let name = name.as_str().filter(|_| object)?.into_owned();
            Some(ParallelCall { name, arguments: arguments.span() })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::parallel_calls;

    #[test]
    fn all_calls_are_found_or_none() {
        let calls = |text: &str| parallel_calls("multi_tool_use.parallel", text);
        let two = r#"{"tool_uses": [{"recipient_name": "f", "parameters": {}}, {"name": "g", "arguments": {"x": 1}}]}"#;
        assert_eq!(calls(two).unwrap().len(), 2);
        for text in [
            "",
            "{}",
            "[]",
            r#"{"tool_uses": []}"#,
            r#"{"tool_uses": [{"recipient_name": "f"}]}"#,
            r#"{"tool_uses": [{"recipient_name": "f", "parameters": "{}"}]}"#,
            r#"{"tool_uses": [{"recipient_name": 1, "parameters": {}}]}"#,
        ] {
            assert_eq!(calls(text), None, "{text}");
        }
    }
}
