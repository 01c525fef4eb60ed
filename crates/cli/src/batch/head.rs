//! A first look at a request: its `id`, and whether a field occurs twice.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The fields of a request.
const FIELDS: [&str; 15] = [
    "id",
    "op",
    "input",
    "input_base64",
    "chunks",
    "mode",
    "policy",
    "max_risk",
    "snapshots",
    "wire",
    "framing",
    "format",
    "schema",
    "tools",
    "name",
];

/// A line as far as it can be read.
#[derive(Debug, Default)]
pub(crate) struct Head<'a> {
    id: Option<&'a RawValue>,
    repeated: Option<&'static str>,
    /// A bit for each field that was seen.
    seen: u16,
}

impl<'a> Head<'a> {
    /// Reads a line, up to where it stops being valid JSON.
    pub(crate) fn read(line: &'a [u8]) -> Self {
        let mut head = Self::default();
        let mut line = serde_json::Deserializer::from_slice(line);
        // The error in the line is reported when the request is read.
        let _ = Scan(&mut head).deserialize(&mut line);
        head
    }

    /// The `id` as it was written, even if the line has errors. If there are several, the first.
    pub(crate) fn id(&self) -> Option<&'a RawValue> {
        self.id.filter(|id| id.get() != "null")
    }

    /// A field that occurs twice. Only the sender knows which of them is meant.
    pub(crate) const fn repeated(&self) -> Option<&'static str> {
        self.repeated
    }
}

struct Scan<'h, 'a>(&'h mut Head<'a>);

impl<'de: 'a, 'a> DeserializeSeed<'de> for Scan<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de: 'a, 'a> Visitor<'de> for Scan<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Field(field)) = map.next_key()? {
            let Some((number, name)) = field else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let bit = 1 << number;
            if self.0.seen & bit != 0 {
                self.0.repeated.get_or_insert(name);
            }
            if name == "id" && self.0.seen & bit == 0 {
                self.0.id = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
            self.0.seen |= bit;
        }
        Ok(())
    }
}

/// A key: its number and name, if it is a field of a request.
struct Field(Option<(usize, &'static str)>);

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Key;

        impl Visitor<'_> for Key {
            type Value = Field;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<Field, E> {
                Ok(Field(FIELDS.into_iter().enumerate().find(|(_, name)| *name == key)))
            }
        }

        deserializer.deserialize_identifier(Key)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::request::Request, FIELDS, Head};

    #[test]
    fn these_are_the_fields_of_a_request() {
        for field in FIELDS.into_iter().filter(|field| *field != "id") {
            let twice = format!("{{\"{field}\": null, \"{field}\": null}}");
            let error = Request::read(twice.as_bytes()).unwrap_err();
            assert!(error.contains("duplicate field"), "{field}: {error}");
        }
    }

    #[test]
    fn the_id_survives_a_bad_request() {
        let id = |line: &str| Head::read(line.as_bytes()).id().map(|id| id.get().to_owned());
        assert_eq!(
            id(r#"{"op":"dance","id":{"n":1.10},"input":"x"}"#).as_deref(),
            Some(r#"{"n":1.10}"#)
        );
        assert_eq!(id(r#"{"id": 7, "input": "cut of"#).as_deref(), Some("7"));
        assert_eq!(id(r#"{"id": 7} trailing"#).as_deref(), Some("7"));
        assert_eq!(id(r#"{"id": 7, "x": 1, "id": 8}"#).as_deref(), Some("7"));
        for none in ["nonsense", r#"{"id":null}"#, r#"{"id": tru"#, "[1]", ""] {
            assert_eq!(id(none), None, "{none}");
        }
    }

    #[test]
    fn a_field_that_comes_twice_is_named() {
        let repeated = |line: &str| Head::read(line.as_bytes()).repeated();
        assert_eq!(repeated(r#"{"input": "a", "input": "b", "id": 1}"#), Some("input"));
        assert_eq!(repeated(r#"{"id": 1, "id": 1}"#), Some("id"));
        assert_eq!(repeated(r#"{"id": null, "id": 1}"#), Some("id"));
        assert_eq!(repeated(r#"{"note": 1, "note": 2, "id": 1, "name": "x"}"#), None);
    }
}
