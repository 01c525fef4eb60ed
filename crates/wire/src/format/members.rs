//! The members of a payload that say which format it has.

use crate::json::Node;

/// Every name that is asked for, in order.
const NAMES: [&str; 34] = [
    "amazon-bedrock-invocationMetrics",
    "candidates",
    "choices",
    "completion",
    "content",
    "contentBlockDelta",
    "contentBlockStart",
    "contentBlockStop",
    "done",
    "event_type",
    "finish_reason",
    "generated_text",
    "generation",
    "generation_id",
    "generations",
    "is_finished",
    "message",
    "messageStart",
    "messageStop",
    "metadata",
    "object",
    "output",
    "outputText",
    "outputs",
    "promptFeedback",
    "response",
    "results",
    "role",
    "stopReason",
    "stop_reason",
    "text",
    "token",
    "type",
    "usageMetadata",
];

/// The members of a payload with such names. They are found in one pass: the payload may be a whole body, and every
/// format is asked about it.
pub(crate) struct Members<'a> {
    payload: Node<'a>,
    /// By the number of the name; the last of several.
    found: [Option<Node<'a>>; NAMES.len()],
}

impl<'a> Members<'a> {
    pub(crate) fn of(payload: Node<'a>) -> Self {
        let mut found = [None; NAMES.len()];
        for (name, value) in payload.fields() {
            if let Ok(number) = NAMES.binary_search(&name.as_ref()) {
                found[number] = Some(value);
            }
        }
        Self { payload, found }
    }

    /// Whether they only say that there are no choices, in whatever format.
    pub(crate) fn say_nothing(&self) -> bool {
        self.has("choices") && self.field("choices").is_none_or(Node::is_blank)
    }

    /// As [`Node::has`].
    pub(super) fn has(&self, name: &str) -> bool {
        match NAMES.binary_search(&name) {
            Ok(number) => self.found[number].is_some(),
            Err(_) => self.payload.has(name),
        }
    }

    /// As [`Node::field`].
    pub(super) fn field(&self, name: &str) -> Option<Node<'a>> {
        match NAMES.binary_search(&name) {
            Ok(number) => self.found[number].filter(|value| value.raw() != "null"),
            Err(_) => self.payload.field(name),
        }
    }

    /// As [`Node::pick`].
    pub(super) fn pick<const N: usize>(&self, names: [&str; N]) -> [Option<Node<'a>>; N] {
        names.map(|name| self.field(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::first;

    #[test]
    fn members_are_those_of_the_payload() {
        assert!(NAMES.is_sorted());
        let text =
            r#"{"type": 1, "own": 2, "done": null, "text": 3, "type": null, "text": 4, "own": 5}"#;
        let (node, _) = first(text).unwrap();
        let members = Members::of(node);
        for name in NAMES.into_iter().chain(["own", "other"]) {
            assert_eq!(members.has(name), node.has(name), "{name}");
            let [one, same] = [members.field(name), node.field(name)];
            assert_eq!(one.map(Node::raw), same.map(Node::raw), "{name}");
        }
    }
}
