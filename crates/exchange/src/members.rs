//! The members and items of JSON text with their places in it, and edits of that text.
//!
//! Nothing is built and written again: a request leaves byte for byte, but for what an edit replaces.

use std::{borrow::Cow, fmt, ops::Range};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// The most members and items that are read of one object or array. What has more is not read.
pub(crate) const MOST: usize = 65_536;

/// The members of an object, in their order.
#[derive(Debug, Default)]
pub(crate) struct Members<'t>(Vec<(Cow<'t, str>, &'t str)>);

impl<'t> Members<'t> {
    /// The members of the object that `text` is, if it is one.
    pub(crate) fn of(text: &'t str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The value of the last member of that name, as most readers take it.
    pub(crate) fn get(&self, name: &str) -> Option<&'t str> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// The same, of the first name that there is.
    pub(crate) fn any(&self, names: &[&str]) -> Option<&'t str> {
        names.iter().find_map(|name| self.get(name))
    }

    /// The string that a member is.
    pub(crate) fn string(&self, name: &str) -> Option<String> {
        self.get(name).and_then(|text| serde_json::from_str(text).ok())
    }

    /// The members of the object that a member is.
    pub(crate) fn object(&self, name: &str) -> Option<Self> {
        self.get(name).and_then(Self::of)
    }

    /// Whether the member `type` is one of these.
    pub(crate) fn is_of(&self, kinds: &[&str]) -> bool {
        self.string("type").is_some_and(|kind| kinds.contains(&kind.as_str()))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of the last member of that name.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.0.iter().rposition(|(key, _)| key == name)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &'t str> {
        self.0.iter().map(|(_, value)| *value)
    }
}

/// The items of the array that `text` is; none if it is no array.
pub(crate) fn items(text: &str) -> Vec<&str> {
    serde_json::from_str(text).map(|Items(items)| items).unwrap_or_default()
}

struct Items<'t>(Vec<&'t str>);

impl<'de> Deserialize<'de> for Items<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reads;

        impl<'de> Visitor<'de> for Reads {
            type Value = Items<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element::<&RawValue>()? {
                    if items.len() == MOST {
                        return Err(serde::de::Error::custom("too many items"));
                    }
                    items.push(item.get());
                }
                Ok(Items(items))
            }
        }

        deserializer.deserialize_seq(Reads)
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reads;

        impl<'de> Visitor<'de> for Reads {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(Key(key)) = map.next_key()? {
                    if members.len() == MOST {
                        return Err(serde::de::Error::custom("too many members"));
                    }
                    members.push((key, map.next_value::<&RawValue>()?.get()));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Reads)
    }
}

/// A key, without a copy unless it has escapes.
#[derive(Deserialize)]
struct Key<'t>(#[serde(borrow)] Cow<'t, str>);

/// Edits of a text, each by the place of what it replaces.
#[derive(Debug)]
pub(crate) struct Edits<'t> {
    text: &'t str,
    edits: Vec<(Range<usize>, String)>,
}

impl<'t> Edits<'t> {
    pub(crate) const fn new(text: &'t str) -> Self {
        Self { text, edits: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The place of a part of the text.
    fn place(&self, part: &str) -> Option<Range<usize>> {
        let start = (part.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize)?;
        let range = start..start.checked_add(part.len())?;
        (self.text.get(range.clone())? == part).then_some(range)
    }

    /// Replaces a part of the text.
    pub(crate) fn replace(&mut self, part: &str, by: String) {
        if let Some(place) = self.place(part) {
            self.edits.push((place, by));
        }
    }

    /// Adds a member to an object, before the others.
    pub(crate) fn insert(&mut self, object: &str, members: &Members<'_>, key: &str, value: &str) {
        if let Some(place) = self.place(object) {
            let comma = if members.is_empty() { "" } else { "," };
            self.edits
                .push((place.start + 1..place.start + 1, format!("\"{key}\":{value}{comma}")));
        }
    }

    /// Removes those of the parts that follow each other in `list`, an object or an array, whose numbers are
    /// given in their order, each with its key and a comma.
    pub(crate) fn remove(&mut self, list: &str, parts: &[&str], numbers: &[usize]) {
        let Some(list) = self.place(list) else { return };
        // The first parts are removed with the comma after the last of them, the others with that before.
        let first = numbers.iter().zip(0..).take_while(|(number, place)| *number == place).count();
        if let Some(last) = first.checked_sub(1).and_then(|last| self.place(parts.get(last)?)) {
            let rest = self.text.get(last.end..list.end).unwrap_or_default();
            let after = rest.trim_start_matches([' ', '\t', '\r', '\n']);
            let comma = if after.starts_with(',') { rest.len() - after.len() + 1 } else { 0 };
            self.edits.push((list.start + 1..last.end + comma, String::new()));
        }
        for number in &numbers[first..] {
            let place = |number: usize| parts.get(number).and_then(|part| self.place(part));
            if let (Some(before), Some(place)) =
                (number.checked_sub(1).and_then(place), place(*number))
            {
                self.edits.push((before.end..place.end, String::new()));
            }
        }
    }

    /// The text with the edits, of which the first of two that overlap holds.
    pub(crate) fn apply(mut self) -> String {
        self.edits.sort_by_key(|(place, _)| place.start);
        let mut out = String::with_capacity(self.text.len());
        let mut written = 0;
        for (place, by) in &self.edits {
            let Some(before) = self.text.get(written..place.start) else { continue };
            out.push_str(before);
            out.push_str(by);
            written = place.end;
        }
        out.push_str(self.text.get(written..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(text: &str, name: &str) -> String {
        let members = Members::of(text).unwrap();
        let values: Vec<&str> = members.values().collect();
        let mut edits = Edits::new(text);
        edits.remove(text, &values, &[members.position(name).unwrap()]);
        edits.apply()
    }

    #[test]
    fn a_member_is_taken_out_and_nothing_else() {
        assert_eq!(without(r#"{ "a" : 1 , "b":[2], "c":3 }"#, "a"), r#"{ "b":[2], "c":3 }"#);
        assert_eq!(without(r#"{ "a" : 1 , "b":[2], "c":3 }"#, "b"), r#"{ "a" : 1, "c":3 }"#);
        assert_eq!(without(r#"{ "a" : 1 , "\u0063":3 }"#, "c"), r#"{ "a" : 1 }"#);
        assert_eq!(without("{\"a\":1\n}", "a"), "{\n}");
    }

    #[test]
    fn several_items_are_taken_out() {
        for (numbers, want) in [
            (&[0][..], "[ 2, 3 ,4]"),
            (&[0, 1], "[ 3 ,4]"),
            (&[0, 2], "[ 2 ,4]"),
            (&[1, 2], "[ 1 ,4]"),
            (&[0, 1, 3], "[ 3]"),
            (&[0, 1, 2, 3], "[]"),
            (&[], "[ 1, 2, 3 ,4]"),
        ] {
            let text = "[ 1, 2, 3 ,4]";
            let mut edits = Edits::new(text);
            edits.remove(text, &items(text), numbers);
            assert_eq!(edits.apply(), want, "{numbers:?}");
        }
    }

    #[test]
    fn a_member_is_added_and_nothing_else_changes() {
        for (text, want) in [(r#"{ "b":2 }"#, r#"{"a":1, "b":2 }"#), ("{ }", r#"{"a":1 }"#)] {
            let mut edits = Edits::new(text);
            edits.insert(text, &Members::of(text).unwrap(), "a", "1");
            assert_eq!(edits.apply(), want);
        }
    }

    #[test]
    fn numbers_and_escapes_stay_as_they_were_written() {
        let text = r#"{"a":"\u00e9","n":1.0e400,"x":{"k":[1, 22]}}"#;
        let members = Members::of(text).unwrap();
        let mut edits = Edits::new(text);
        let inner = members.object("x").unwrap();
        edits.replace(items(inner.get("k").unwrap())[1], "2".into());
        assert_eq!(edits.apply(), r#"{"a":"\u00e9","n":1.0e400,"x":{"k":[1, 2]}}"#);
        assert!(Members::of("[1]").is_none() && Members::of("{\"a\":}").is_none());
        assert!(items("{}").is_empty() && items("[1,").is_empty());
    }

    #[test]
    fn lists_without_bound_are_not_read() {
        let list = |items: usize| format!("[{}]", vec!["1"; items].join(","));
        assert_eq!(items(&list(MOST)).len(), MOST);
        assert!(items(&list(MOST + 1)).is_empty());
        let object = |members: usize| format!("{{{}}}", vec!["\"a\":1"; members].join(","));
        assert!(Members::of(&object(MOST)).is_some());
        assert!(Members::of(&object(MOST + 1)).is_none());
    }

    #[test]
    fn what_is_not_of_the_text_is_not_replaced() {
        let mut edits = Edits::new("[1]");
        edits.replace("1", "2".into());
        assert!(edits.is_empty());
    }
}
