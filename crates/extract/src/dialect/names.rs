//! The names of tools, as one automaton.

use super::Tools;

/// The namespaces that models write before the name of a tool.
const NAMESPACES: [&str; 3] = ["functions.", "tools.", "default_api."];

/// Whether a text may begin with the name of a tool, in time that is proportional to the name.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    /// The next nodes, sorted by byte.
    next: Vec<(u8, usize)>,
    /// Whether a name ends here.
    ends: bool,
}

/// A byte of a name, as names are compared: templates write the punctuation as underscores.
const fn folded(byte: u8) -> u8 {
    match byte {
        b'.' | b'-' | b'/' | b':' => b'_',
        other => other,
    }
}

impl Names {
    pub(super) fn new(tools: &Tools) -> Self {
        let mut names = Self { nodes: vec![Node::default()] };
        if !tools.is_empty() {
            NAMESPACES.iter().for_each(|space| names.add(space));
            tools.names().for_each(|name| names.add(name));
        }
        names
    }

    fn add(&mut self, name: &str) {
        let mut at = 0;
        for byte in name.bytes().filter(|byte| *byte != b'\\').map(folded) {
            let fresh = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else { return };
            match node.next.binary_search_by_key(&byte, |(next, _)| *next) {
                Ok(found) => at = node.next.get(found).map_or(0, |(_, to)| *to),
                Err(place) => {
                    node.next.insert(place, (byte, fresh));
                    self.nodes.push(Node::default());
                    at = fresh;
                }
            }
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.ends = true;
        }
    }

    /// Whether `text` begins with a name, or is the beginning of one.
    pub(super) fn may_begin(&self, text: &[u8]) -> bool {
        let mut at = 0;
        for byte in text.iter().filter(|byte| **byte != b'\\') {
            let Some(node) = self.nodes.get(at) else { return false };
            if node.ends {
                return true;
            }
            match node.next.binary_search_by_key(&folded(*byte), |(next, _)| *next) {
                Ok(found) => at = node.next.get(found).map_or(0, |(_, to)| *to),
                Err(_) => return false,
            }
        }
        true
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
