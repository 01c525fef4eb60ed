//! Changes single values of a JSON text. Everything else keeps its spelling.

use std::collections::BTreeMap;

use serde_json::Value;
use wiremend_core::JsonType;
use wiremend_schema::{Node, Tree};

/// What is to be done with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    Remove,
    /// The new value, as JSON text.
    Set(String),
}

/// Edits below a value, by key or index.
#[derive(Debug, Default)]
struct Edits<'e> {
    own: Option<&'e Edit>,
    below: BTreeMap<String, Edits<'e>>,
}

/// Applies edits, each at a JSON Pointer. A member that does not exist is added to its object; an edit at
/// any other place that does not exist has no effect. `None` if the text is not JSON.
pub(crate) fn splice(text: &str, edits: &[(String, Edit)]) -> Option<String> {
    let tree = Tree::read(text).ok()?;
    let mut all = Edits::default();
    for (pointer, edit) in edits {
        let mut place = &mut all;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            place = place.below.entry(step).or_default();
        }
        place.own = Some(edit);
    }
    let mut out = String::with_capacity(text.len() + 64);
    write(tree.root(), &all, &mut out);
    Some(out)
}

/// The depth is that of the tree, which is limited.
fn write(node: Node<'_>, edits: &Edits<'_>, out: &mut String) {
    if let Some(Edit::Set(value)) = edits.own {
        out.push_str(value);
        return;
    }
    if edits.below.is_empty() || !node.is_container() {
        out.push_str(node.raw());
        return;
    }
    let is_object = node.kind() == JsonType::Object;
    let mut missing: BTreeMap<&str, &Edits<'_>> =
        edits.below.iter().map(|(key, below)| (key.as_str(), below)).collect();
    let mut first = true;
    let mut separate = |out: &mut String| {
        if !std::mem::take(&mut first) {
            out.push_str(", ");
        }
    };
    out.push(if is_object { '{' } else { '[' });
    for (index, child) in node.children().enumerate() {
        let key = child.key().unwrap_or_else(|| index.to_string().into());
        missing.remove(key.as_ref());
        let below = edits.below.get(key.as_ref());
        if below.is_some_and(|below| below.own == Some(&Edit::Remove)) {
            continue;
        }
        separate(out);
        if is_object {
            push_key(&key, out);
        }
        match below {
            Some(below) => write(child, below, out),
            None => out.push_str(child.raw()),
        }
    }
    for (key, edits) in missing.into_iter().filter(|_| is_object) {
        if let Some(Edit::Set(value)) = edits.own {
            separate(out);
            push_key(key, out);
            out.push_str(value);
        }
    }
    out.push(if is_object { '}' } else { ']' });
}

fn push_key(key: &str, out: &mut String) {
    out.push_str(&Value::from(key).to_string());
    out.push_str(": ");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(pointer: &str, value: &str) -> (String, Edit) {
        (pointer.to_owned(), Edit::Set(value.to_owned()))
    }

    #[test]
    fn values_are_set_added_and_removed() {
        let text = r#"{"a": 1.10, "b": [1, {"c": 1e400}], "d~/": {}}"#;
        let edits =
            [set("/b/1/x", "\"y\""), set("/d~0~1/k", "[]"), ("/a".to_owned(), Edit::Remove)];
        let made = splice(text, &edits).unwrap();
        assert_eq!(made, r#"{"b": [1, {"c": 1e400, "x": "y"}], "d~/": {"k": []}}"#);
        assert_eq!(splice(text, &[]).unwrap(), text);
        assert_eq!(splice("{}", &[set("/a", "1"), set("/b", "2")]).unwrap(), r#"{"a": 1, "b": 2}"#);
        assert_eq!(splice("[1]", &[set("/3", "1"), set("/x", "2")]).unwrap(), "[1]");
        assert_eq!(splice("[1", &[]), None);
    }
}
