//! Suggestions that help to fix an issue.

use super::{
    distance,
    nearest::{folded, is_comparable},
};
use crate::{
    compile::Types,
    part::Part,
    tree::{JsonType, Node},
};

/// The most members that are searched for a misspelled name.
const MOST: usize = 256;

/// Whether the value is the schema itself rather than an instance of it.
pub(super) fn echoes_schema(root: Node<'_>) -> bool {
    let properties = root.member("properties").filter(|node| node.kind() == JsonType::Object);
    let Some(properties) = properties else { return false };
    let typed =
        root.member("type").and_then(|kind| kind.as_str()).is_some_and(|kind| kind == "object");
    typed && properties.len() > 0 && properties.children().all(is_schema)
}

/// Whether a value is a schema rather than data: an object with a keyword that names a type, and no
/// value beside it.
pub(crate) fn is_schema(node: Node<'_>) -> bool {
    const TELLING: [&str; 7] = ["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "properties"];
    let holds = ["value", "default", "example"].iter().any(|key| node.member(key).is_some());
    let named = |key: &str| match (key, node.member(key)) {
        ("type", Some(kind)) => {
            kind.as_str().is_some_and(|name| Types::named(&name) != Types::NONE)
                || kind.kind() == JsonType::Array
        }
        (_, member) => member.is_some(),
    };
    node.kind() == JsonType::Object && !holds && TELLING.iter().any(|key| named(key))
}

/// The name that was probably sent instead of a missing property.
pub(super) fn misnamed<'t>(missing: &str, object: Node<'t>, part: &Part<'_>) -> Option<String> {
    if object.len() > MOST || !is_comparable(missing) {
        return None;
    }
    let unknown = object.children().filter_map(|member| member.key());
    let unknown = unknown.filter(|key| is_comparable(key) && !part.declares(key));
    let wanted = folded(missing);
    let near = |key: &str| if folded(key) == wanted { Some(0) } else { distance(key, missing, 2) };
    unknown
        .filter_map(|key| near(&key).map(|cost| (cost, key)))
        .min_by_key(|(cost, _)| *cost)
        .map(|(_, key)| key.into_owned())
}

/// A hint for an item in the place of a list of lists, whose nesting was flattened.
pub(super) fn flattened(node: Node<'_>, part: &Part<'_>) -> Option<String> {
    let in_list = node.parent().is_some_and(|parent| parent.kind() == JsonType::Array);
    if !in_list || node.is_container() || part.allowed() != Types::ARRAY {
        return None;
    }
    let types = part.item(0).allowed();
    let (items, example) = if !part.has_items() {
        (String::new(), "[[…], […]]")
    } else if types == Types::INTEGER || types == Types::NUMBER {
        (format!(" of {}s", types.names()), "[[10, 20], [30, 40]]")
    } else if types == Types::STRING {
        (" of strings".to_owned(), r#"[["a", "b"], ["c", "d"]]"#)
    } else {
        (String::new(), "[[…], […]]")
    };
    Some(format!("expected a list of lists{items}, e.g. {example}"))
}
