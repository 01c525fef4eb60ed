//! Where references lead. Only places in the schema itself are known; a reference that is resolved
//! in another way is left to the validator, and values of the target are not repaired.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The names that parts of a schema have.
#[derive(Debug, Default)]
pub(super) struct Anchors(HashMap<String, String>);

impl Anchors {
    /// Records the names that a part gives itself.
    pub(super) fn note(&mut self, pointer: &str, members: &Map<String, Value>) {
        for key in ["$id", "id"] {
            if let Some(id) = members.get(key).and_then(Value::as_str) {
                self.0.entry(id.to_owned()).or_insert_with(|| pointer.to_owned());
            }
        }
        for key in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = members.get(key).and_then(Value::as_str) {
                self.0.entry(format!("#{name}")).or_insert_with(|| pointer.to_owned());
            }
        }
    }

    /// The pointer that a reference of the form `#/…` spells out.
    pub(super) fn local(&self, members: &Map<String, Value>) -> Option<String> {
        let pointer = reference(members)?.strip_prefix('#')?;
        let decoded = decode(pointer)?;
        (decoded.is_empty() || decoded.starts_with('/')).then_some(decoded)
    }

    /// The pointer of the place a part refers to.
    pub(super) fn target(&self, members: &Map<String, Value>) -> Option<String> {
        if let Some(pointer) = self.local(members) {
            return Some(pointer);
        }
        let reference = reference(members)?;
        if let Some(pointer) = self.0.get(reference) {
            return Some(pointer.clone());
        }
        let (id, rest) = reference.split_once('#')?;
        let base = self.0.get(id)?;
        Some(format!("{base}{}", decode(rest)?))
    }
}

fn reference(members: &Map<String, Value>) -> Option<&str> {
    ["$ref", "$dynamicRef", "$recursiveRef"]
        .iter()
        .find_map(|key| members.get(*key))
        .and_then(Value::as_str)
}

/// Undoes percent-encoding.
fn decode(fragment: &str) -> Option<String> {
    if !fragment.contains('%') {
        return Some(fragment.to_owned());
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment;
    while let Some(at) = rest.find('%') {
        bytes.extend_from_slice(rest.get(..at)?.as_bytes());
        bytes.push(u8::from_str_radix(rest.get(at + 1..at + 3)?, 16).ok()?);
        rest = rest.get(at + 3..)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}
