//! Looks things up in the source of a schema: the part for a value, the definitions that it needs, and the
//! constants by which the branches of a union differ.

use core::ptr;
use std::collections::BTreeMap;

use serde_json::{Map, Value};
use wiremend_core::{Path, Step};
use wiremend_schema::{Issue, Node};

/// How many references are followed in a row. A longer chain is a circle, or as good as one.
const HOPS: usize = 32;
/// How many constants of a union are named.
const NAMED: usize = 32;
/// How many schema nodes are visited for the definitions of a part.
const VISITED: usize = 20_000;

/// The schema that a reference leads to, or the schema itself. References out of it are not followed.
pub(crate) fn resolve<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let mut schema = schema;
    for _ in 0..HOPS {
        let target = schema.get("$ref").and_then(Value::as_str);
        let pointer = target.and_then(|target| target.strip_prefix('#'));
        match pointer.and_then(|pointer| root.pointer(pointer)) {
            Some(next) => schema = next,
            None => break,
        }
    }
    schema
}

/// The part of the schema for the value at `path`, if there is exactly one: a path through a union, or
/// through a pattern of names, has several.
pub(crate) fn for_path<'s>(root: &'s Value, path: &[Step]) -> Option<&'s Value> {
    path.iter().try_fold(root, |schema, step| match child(root, schema, step) {
        Child::Described(schema) => Some(schema),
        Child::Undeclared | Child::Unknown => None,
    })
}

/// What a schema says about a member or an item.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Child<'s> {
    Described(&'s Value),
    /// The schema lists its members, and this is none of them.
    Undeclared,
    /// Several parts of the schema may be about it, or none.
    Unknown,
}

pub(crate) fn child<'s>(root: &'s Value, schema: &'s Value, step: &Step) -> Child<'s> {
    let schema = resolve(root, schema);
    match step {
        Step::Key(key) => match for_key(schema, key) {
            Some(own) => Child::Described(own),
            None if is_combined(schema) || schema.get("properties").is_none() => Child::Unknown,
            None => Child::Undeclared,
        },
        Step::Index(index) => for_item(schema, *index).map_or(Child::Unknown, Child::Described),
    }
}

fn for_key<'s>(schema: &'s Value, key: &str) -> Option<&'s Value> {
    let declared = schema.get("properties").and_then(|properties| properties.get(key));
    if declared.is_some() {
        return declared;
    }
    schema.get("additionalProperties").filter(|other| other.is_object() && !is_combined(schema))
}

/// Whether the members of an object may be described by several parts of its schema.
fn is_combined(schema: &Value) -> bool {
    let several = ["anyOf", "oneOf", "allOf", "if", "patternProperties", "dependentSchemas"];
    several.iter().any(|keyword| schema.get(keyword).is_some())
}

fn for_item(schema: &Value, index: usize) -> Option<&Value> {
    let listed = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    let placed = listed("prefixItems").or_else(|| listed("items")).and_then(|own| own.get(index));
    placed.or_else(|| schema.get("items").filter(|items| items.is_object()))
}

/// The part for a value of a text.
pub(crate) fn for_node<'s>(root: &'s Value, node: Node<'_>) -> Option<&'s Value> {
    let mut steps = Vec::new();
    let mut node = node;
    while let Some(parent) = node.parent() {
        steps.push(match node.key() {
            Some(key) => Step::Key(key.as_ref().into()),
            // All items but those with a place of their own have the same schema.
            None => Step::Index(
                parent.children().position(|item| item.span() == node.span()).unwrap_or_default(),
            ),
        });
        node = parent;
    }
    steps.reverse();
    for_path(root, &steps)
}

/// The schema that the violated keyword of an issue belongs to.
pub(crate) fn of_keyword<'s>(root: &'s Value, issue: &Issue) -> Option<&'s Value> {
    let (schema, _) = issue.schema_path().rsplit_once('/')?;
    root.pointer(schema)
}

/// The part for a member or item, whichever way it can be found.
pub(crate) fn for_issue<'s>(root: &'s Value, issue: &Issue) -> Option<&'s Value> {
    let steps = issue.path().steps();
    match issue.missing() {
        None => for_path(root, steps).or_else(|| of_keyword(root, issue)),
        Some(name) => {
            let steps: Vec<Step> = steps.iter().cloned().chain([Step::Key(name.into())]).collect();
            for_path(root, &steps)
                .or_else(|| for_key(resolve(root, of_keyword(root, issue)?), name))
        }
    }
}

/// Whether the path leads to a declared property that its object need not have.
pub(crate) fn is_optional(root: &Value, steps: &[Step]) -> bool {
    let Some((Step::Key(name), parent)) = steps.split_last() else { return false };
    let Some(object) = for_path(root, parent).map(|schema| resolve(root, schema)) else {
        return false;
    };
    let is_declared = object.get("properties").is_some_and(|own| own.get(&**name).is_some());
    let required = object.get("required").and_then(Value::as_array);
    let is_required = required.is_some_and(|names| names.iter().any(|own| *own == **name));
    is_declared && !is_required && !is_combined(object)
}

/// Whether a schema may accept null. If it is not clear, it does.
pub(crate) fn takes_null(root: &Value, schema: &Value) -> bool {
    let schema = resolve(root, schema);
    let is_listed = |keyword: &str| {
        let values = schema.get(keyword).and_then(Value::as_array);
        values.map(|values| values.iter().any(Value::is_null))
    };
    if ["nullable", "x-nullable"].iter().any(|keyword| schema.get(keyword) == Some(&true.into())) {
        return true;
    }
    match schema.get("type") {
        Some(Value::String(kind)) => kind == "null",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
        _ => is_listed("enum").or(schema.get("const").map(Value::is_null)).unwrap_or(true),
    }
}

/// A union in which a value has a constant that no branch has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Discriminator<'s> {
    /// The schema with the union.
    pub(crate) union: &'s Value,
    /// The values that the branches have there, as JSON.
    pub(crate) values: Vec<String>,
}

/// If an issue is about the property by which the branches of a union differ: all values it may have.
///
/// Of a union, issues are reported for the branch that fits best. The model may have meant another one.
pub(crate) fn discriminator<'s>(root: &'s Value, issue: &Issue) -> Option<Discriminator<'s>> {
    let path = issue.schema_path();
    // The place of the branch, and the name of the property.
    let (branch, name) = match path.strip_suffix("/required") {
        Some(branch) => (branch, issue.missing()?.to_owned()),
        None => {
            let (property, keyword) = path.rsplit_once('/')?;
            let (branch, name) = property.rsplit_once("/properties/")?;
            let is_value = matches!(keyword, "const" | "enum") && !name.contains('/');
            is_value.then(|| (branch, name.replace("~1", "/").replace("~0", "~")))?
        }
    };
    let own = branch.rsplit_once('/').and_then(|(keyword, _)| keyword.rsplit_once('/'));
    let (union, branches) = match own {
        Some((union, keyword @ ("oneOf" | "anyOf"))) => {
            let union = root.pointer(union)?;
            (union, union.get(keyword)?.as_array()?)
        }
        // The branch is a definition.
        _ => {
            let steps = issue.path().steps();
            let value = match issue.missing() {
                Some(_) => steps,
                None => steps.get(..steps.len().checked_sub(1)?)?,
            };
            union_of(root, branch, value)?
        }
    };
    let mut values: Vec<String> = Vec::new();
    let mut differing = 0;
    for branch in branches {
        let before = values.len();
        let own = for_key(resolve(root, branch), &name).map(|own| resolve(root, own));
        let constant = own.and_then(|own| own.get("const")).into_iter();
        let listed = own.and_then(|own| own.get("enum")).and_then(Value::as_array);
        for value in constant.chain(listed.into_iter().flatten()) {
            let value = value.to_string();
            if values.len() < NAMED && !values.contains(&value) {
                values.push(value);
            }
        }
        differing += usize::from(values.len() > before);
    }
    // A list of values in one branch, as beside null, says nothing about the others.
    (differing > 1).then_some(Discriminator { union, values })
}

/// The union with a branch that refers to this place, for the value at `path`, and its branches. If the schema for that
/// path is not known, any union with such a branch, unless others have other branches.
fn union_of<'s>(
    root: &'s Value,
    branch: &str,
    path: &[Step],
) -> Option<(&'s Value, &'s Vec<Value>)> {
    let is_definition =
        branch.is_empty() || ["/$defs/", "/definitions/"].iter().any(|own| branch.starts_with(own));
    if !is_definition {
        return None;
    }
    let target = root.pointer(branch)?;
    let refers =
        |branch: &&Value| branch.get("$ref").is_some() && ptr::eq(resolve(root, branch), target);
    let union = |schema: &'s Value| {
        let branches =
            ["oneOf", "anyOf"].iter().filter_map(|keyword| schema.get(keyword)?.as_array());
        branches
            .filter(|all| all.iter().any(|own| refers(&own)))
            .map(move |all| (schema, all))
            .next()
    };
    // A union is often one branch of another, beside null.
    let mut open: Vec<&Value> = for_path(root, path).into_iter().collect();
    let mut left = VISITED;
    while let Some(schema) = open.pop().map(|schema| resolve(root, schema)) {
        left = left.checked_sub(1)?;
        if let Some(own) = union(schema) {
            return Some(own);
        }
        let branches = ["oneOf", "anyOf", "allOf"].iter();
        open.extend(branches.filter_map(|keyword| schema.get(keyword)?.as_array()).flatten());
    }
    let mut found: Option<(&Value, &Vec<Value>)> = None;
    open.push(root);
    while let Some(schema) = open.pop() {
        left = left.checked_sub(1)?;
        match schema {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                if let Some(own) = union(schema) {
                    if found.is_some_and(|(_, other)| other != own.1) {
                        return None;
                    }
                    found = Some(own);
                }
                open.extend(members.values());
            }
            _ => {}
        }
    }
    found
}

/// The definitions that `schemas` refer to, by the keyword under which they are and by name. `None` if they
/// refer to anything else, so that they cannot be used apart from the whole.
pub(crate) fn definitions<'s>(
    root: &'s Value,
    schemas: impl IntoIterator<Item = &'s Value>,
) -> Option<Map<String, Value>> {
    let mut found: BTreeMap<(&str, &str), &Value> = BTreeMap::new();
    let mut open: Vec<&Value> = schemas.into_iter().collect();
    let mut left = VISITED;
    while let Some(schema) = open.pop() {
        left = left.checked_sub(1)?;
        match schema {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                let moored = ["$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef"];
                if moored.iter().any(|keyword| members.get(*keyword).is_some_and(Value::is_string))
                {
                    return None;
                }
                if let Some(Value::String(target)) = members.get("$ref") {
                    let (keyword, name) = definition(target)?;
                    let own = root.get(keyword)?.get(name)?;
                    if found.insert((keyword, name), own).is_none() {
                        open.push(own);
                    }
                }
                open.extend(members.values());
            }
            _ => {}
        }
    }
    let mut all = Map::new();
    for ((keyword, name), schema) in found {
        let named = all.entry(keyword).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(named) = named {
            named.insert(name.to_owned(), schema.clone());
        }
    }
    Some(all)
}

/// The keyword and the name of a definition that a reference leads to, or leads into.
fn definition(target: &str) -> Option<(&str, &str)> {
    let mut parts = target.strip_prefix("#/")?.split('/');
    let (keyword, name) = (parts.next()?, parts.next()?);
    let plain = !name.contains(['~', '%']);
    (matches!(keyword, "$defs" | "definitions") && plain).then_some((keyword, name))
}

/// The steps of a path and one more, as a JSON Pointer.
pub(crate) fn pointer(path: &Path, name: Option<&str>) -> String {
    let pointer = path.to_pointer();
    match name {
        Some(name) => format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")),
        None => pointer,
    }
}
