//! Finds out that a loop is going nowhere: answers that come again, and issues that do not shrink.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use serde_json::Value;

/// Counts equal answers, and answers that were no better than the best one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    seen: BTreeMap<u64, u32>,
    stale: u32,
}

/// What an answer has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standstill {
    /// How many times this answer was given.
    pub(crate) times: u32,
    /// How many answers in a row were no better than the best one before.
    pub(crate) stale: u32,
}

impl Progress {
    /// Records an answer by its value, or by its text if it has none, and whether it is better than all before.
    pub(crate) fn record(&mut self, value: Option<&str>, text: &str, better: bool) -> Standstill {
        let times = self.seen.entry(fingerprint(value, text)).or_default();
        *times = times.saturating_add(1);
        self.stale = if better { 0 } else { self.stale.saturating_add(1) };
        Standstill { times: *times, stale: self.stale }
    }
}

/// A hash that is the same for values that mean the same, whatever their white space and the order of their
/// keys, and for texts that differ only in case, white space and punctuation.
fn fingerprint(value: Option<&str>, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    match value.and_then(|value| serde_json::from_str::<Value>(value).ok()) {
        Some(value) => hash_value(&value, &mut hasher),
        None => {
            let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
            let mut any = false;
            words.by_ref().for_each(|word| {
                any = true;
                word.to_lowercase().hash(&mut hasher);
            });
            if !any {
                text.trim().hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}

/// The value was read by `serde_json`, so it is at most 128 levels deep.
fn hash_value(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Null => 0u8.hash(hasher),
        Value::Bool(flag) => (1u8, flag).hash(hasher),
        Value::Number(number) => (2u8, number).hash(hasher),
        Value::String(text) => (3u8, text).hash(hasher),
        Value::Array(items) => {
            (4u8, items.len()).hash(hasher);
            items.iter().for_each(|item| hash_value(item, hasher));
        }
        Value::Object(members) => {
            (5u8, members.len()).hash(hasher);
            let sorted: BTreeMap<&String, &Value> = members.iter().collect();
            for (key, value) in sorted {
                key.hash(hasher);
                hash_value(value, hasher);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_the_same_has_one_fingerprint() {
        let json = |text| fingerprint(Some(text), text);
        assert_eq!(
            json(r#"{"a":1,"b":[2,{"c":3,"d":4}]}"#),
            json(r#"{ "b": [2, {"d": 4, "c": 3}], "a": 1 }"#)
        );
        assert_ne!(json(r#"{"a":1}"#), json(r#"{"a":"1"}"#));
        assert_ne!(json("[1,2]"), json("[2,1]"));
        let text = |text| fingerprint(None, text);
        assert_eq!(text("Hello there!"), text("  hello\nthere "));
        assert_ne!(text("Hello there"), text("Hello you"));
        assert_ne!(text("???"), text("!"));
    }
}
