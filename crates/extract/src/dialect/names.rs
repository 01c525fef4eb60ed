//! The names of tools, as one automaton.

use super::{Tools, tools::NAMESPACES, tree::Tree};

/// Whether a text may begin with the name of a tool, in time that is proportional to the name.
#[derive(Clone, Debug)]
pub(super) struct Names(Tree);

/// A byte of a name, as names are compared: templates write the punctuation as underscores.
const fn folded(byte: u8) -> u8 {
    match byte {
        b'.' | b'-' | b'/' | b':' => b'_',
        other => other,
    }
}

/// The bytes of a name, as names are compared: Markdown escapes underscores.
fn bytes(name: &[u8]) -> impl Iterator<Item = u8> {
    name.iter().filter(|byte| **byte != b'\\').map(|byte| folded(*byte))
}

impl Names {
    pub(super) fn new(tools: &Tools) -> Self {
        let mut tree = Tree::new();
        if !tools.is_empty() {
            NAMESPACES
                .iter()
                .for_each(|space| tree.add(0, bytes(space.as_bytes()).chain([folded(b'.')])));
            tools.names().for_each(|name| tree.add(0, bytes(name.as_bytes())));
        }
        Self(tree)
    }

    /// Adds other words.
    pub(super) fn with<'w>(mut self, words: impl Iterator<Item = &'w str>) -> Self {
        words.for_each(|word| self.0.add(0, bytes(word.as_bytes())));
        self
    }

    /// Whether `text` begins with a name, or is the beginning of one.
    pub(super) fn may_begin(&self, text: &[u8]) -> bool {
        self.0.may_begin(bytes(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_the_spellings_of_models() {
        let tools = Tools::new().with_tool("file.write", [""; 0], None);
        let names = Names::new(&tools.with_tool("get_time", [""; 0], None));
        for text in
            ["get_time(", "get\\_time", "get_t", "", "file_write", "functions.get", "get-time"]
        {
            assert!(names.may_begin(text.as_bytes()), "{text}");
        }
        for text in ["got", "get time", "files", "function "] {
            assert!(!names.may_begin(text.as_bytes()), "{text}");
        }
        assert!(!Names::new(&Tools::new()).may_begin(b"x"));
    }
}
