//! The names in a question for fields: the keys of the reply, and those that mean something else.

use std::collections::HashSet;

use serde_json::Value;
use wiremend_schema::Tree;

use crate::subschema::resolve;

/// The keywords for definitions, which are next to the fields where their schemas are stated.
pub(crate) const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// A name without what spellings of it differ in.
pub(crate) fn folded(name: &str) -> String {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    // A name of signs only is no other spelling of another one.
    if plain.is_empty() { name.to_owned() } else { plain.to_lowercase() }
}

/// The other names that a schema gives to its property.
pub(crate) fn aliases(schema: &Value) -> impl Iterator<Item = &str> {
    let listed = schema.get("x-aliases").and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_str)
}

/// The names of the members that the value may have, folded, with the other names of those that are not asked for.
pub(crate) fn members(source: &Value, tree: &Tree<'_>, asked: &[String]) -> HashSet<String> {
    let own = resolve(source, source).get("properties").and_then(Value::as_object);
    let is_asked = |name: &str| {
        let mut pointers = asked.iter().filter_map(|pointer| pointer.strip_prefix('/'));
        pointers.any(|own| own.replace("~1", "/").replace("~0", "~") == name)
    };
    let mut all: HashSet<String> = HashSet::new();
    for (name, schema) in own.into_iter().flatten() {
        all.insert(folded(name));
        // A title is another name, too.
        let title = schema.get("title").and_then(Value::as_str);
        all.extend(aliases(schema).chain(title).filter(|_| !is_asked(name)).map(folded));
    }
    all.extend(tree.root().children().filter_map(|child| Some(folded(&child.key()?))));
    all
}

/// The names of all members of the value, folded, but for those at the places that are asked for and inside of these. A
/// bare name that is one of them does not say which place is meant.
pub(crate) fn elsewhere(tree: &Tree<'_>, asked: &[String]) -> HashSet<String> {
    let place = |pointer: &String| tree.at(pointer).map(|node| node.span().start);
    let asked: HashSet<usize> = asked.iter().filter_map(place).collect();
    let mut names = HashSet::new();
    let mut left = vec![tree.root()];
    while let Some(node) = left.pop() {
        for child in node.children().filter(|child| !asked.contains(&child.span().start)) {
            names.extend(child.key().map(|key| folded(&key)));
            left.push(child);
        }
    }
    names
}

/// Keys that every provider takes as the names of properties: the pointers with other separators, or else numbers. None
/// is the name of another member of the value, which a reply may state as well.
pub(crate) fn keys(pointers: &[String], members: &HashSet<String>) -> Vec<String> {
    /// The longest key, in bytes: that of Anthropic.
    const LONGEST: usize = 64;
    let mut taken: Vec<String> = DEFINITIONS.map(str::to_owned).into();
    let mut number = 0;
    for pointer in pointers {
        let mut key = pointer.trim_start_matches('/').replace('/', "_");
        let plain = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && key.starts_with(|c: char| c.is_ascii_alphabetic())
            && key.len() <= LONGEST;
        let is_member = pointer.matches('/').count() == 1;
        let mut fits = plain && (is_member || !members.contains(&folded(&key)));
        while !fits || taken.contains(&key) {
            number += 1;
            key = format!("field_{number}");
            fits = !members.contains(&folded(&key));
        }
        taken.push(key);
    }
    taken.split_off(DEFINITIONS.len())
}
