//! Where a field is in a record, and how a text is written in its place.

use std::{borrow::Cow, fmt, fmt::Write as _, ops::Range};

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::records::RowState;
use crate::string::Text;

/// A field of a JSON record: the names that lead to it.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// As it was given.
    pub(super) name: String,
    steps: Vec<String>,
}

impl Field {
    /// A name, or a JSON Pointer.
    pub(super) fn new(name: &str) -> Self {
        let steps = match name.strip_prefix('/') {
            Some(pointer) => {
                pointer.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")).collect()
            }
            None => vec![name.to_owned()],
        };
        Self { name: name.to_owned(), steps }
    }

    /// Where the values of the field are. There are several if the record has the name several times:
    /// which of them counts is for its reader to say. An error if the record is not valid JSON.
    pub(super) fn find(&self, record: &[u8]) -> Result<Vec<Range<usize>>, serde_json::Error> {
        let mut found = Vec::from([Range { start: 0, end: record.len() }]);
        for step in &self.steps {
            let mut inner = Vec::new();
            for span in found {
                let text = record.get(span.clone()).unwrap_or_default();
                let mut reader = serde_json::Deserializer::from_slice(text);
                let values = Step(step).deserialize(&mut reader)?;
                reader.end()?;
                // Each value is a part of `text`, so where it begins is the distance of their addresses.
                let base = text.as_ptr() as usize - span.start;
                inner.extend(values.into_iter().map(|value| {
                    let start = value.get().as_ptr() as usize - base;
                    start..start + value.get().len()
                }));
            }
            found = inner;
        }
        Ok(found)
    }
}

/// The values under one name of an object, or at one place of an array.
struct Step<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for Step<'_> {
    type Value = Vec<&'de RawValue>;

    fn deserialize<D: serde::Deserializer<'de>>(self, value: D) -> Result<Self::Value, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Step<'_> {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == self.0 {
                found.push(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        let wanted = self.0.parse::<usize>().ok().filter(|at| at.to_string() == self.0);
        let mut at = 0;
        loop {
            if Some(at) == wanted {
                match items.next_element()? {
                    Some(item) => found.push(item),
                    None => return Ok(found),
                }
            } else if items.next_element::<IgnoredAny>()?.is_none() {
                return Ok(found);
            }
            at += 1;
        }
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }
    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }
    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }
    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }
    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }
}

/// What stands in a field.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Held<'a> {
    /// Null, or nothing.
    Nothing,
    /// The text of a string.
    Text(Cow<'a, [u8]>),
    /// A value that is no string: it is read as it is written.
    Value(&'a [u8]),
}

/// What stands in this value of a JSON record.
pub(super) fn held(value: &[u8]) -> Held<'_> {
    match value {
        b"null" => Held::Nothing,
        // It was read before, so it can be read.
        [b'"', ..] => {
            serde_json::from_slice(value).map_or(Held::Value(value), |Text(text)| Held::Text(text))
        }
        value => Held::Value(value),
    }
}

/// Appends a text as a JSON string: with `\u` escapes, if the record is without characters that need
/// them.
pub(super) fn push_string(text: &str, ascii: bool, to: &mut Vec<u8>) {
    // A string can always be written.
    let string = serde_json::to_string(text).unwrap_or_default();
    if !ascii || string.is_ascii() {
        return to.extend_from_slice(string.as_bytes());
    }
    let mut escaped = String::with_capacity(string.len() * 2);
    for c in string.chars() {
        if c.is_ascii() {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    to.extend_from_slice(escaped.as_bytes());
}

/// The columns of a table that are repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) delimiter: u8,
    /// How many cells a row has.
    width: usize,
    /// The column of each field.
    pub(super) at: Vec<usize>,
}

/// The delimiters that a table may have. The first with which the header has all names is it.
pub(super) const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

impl Columns {
    /// The columns of these names in a header; `None` if one is not there.
    pub(super) fn of(header: &[u8], fields: &[Field]) -> Option<Self> {
        DELIMITERS.into_iter().find_map(|delimiter| {
            let cells = cells(header, delimiter);
            let names: Vec<Cow<'_, [u8]>> = cells
                .iter()
                .map(|cell| cell_text(header.get(cell.clone()).unwrap_or_default()))
                .collect();
            let at = fields.iter().map(|field| {
                names.iter().position(|name| name.trim_ascii() == field.name.as_bytes())
            });
            let at = at.collect::<Option<Vec<usize>>>()?;
            Some(Self { delimiter, width: cells.len(), at })
        })
    }

    /// The cells of a row; an error if it has more or fewer than the header.
    pub(super) fn find(&self, row: &[u8]) -> Result<Vec<Range<usize>>, String> {
        let cells = cells(row, self.delimiter);
        if cells.len() != self.width {
            return Err(format!(
                "the row has {} cells, and the header has {}",
                cells.len(),
                self.width
            ));
        }
        Ok(self.at.iter().filter_map(|at| cells.get(*at).cloned()).collect())
    }
}

/// Where the cells of a row are, with their quotes.
fn cells(row: &[u8], delimiter: u8) -> Vec<Range<usize>> {
    let mut state = RowState::default();
    let mut cells = Vec::new();
    let mut start = 0;
    for (at, &byte) in row.iter().enumerate() {
        let quoted = state.is_quoted();
        state.step(byte, delimiter);
        if byte == delimiter && !quoted {
            cells.push(start..at);
            start = at + 1;
        }
    }
    cells.push(start..row.len());
    cells
}

/// The text of a cell, without its quotes.
pub(super) fn cell_text(cell: &[u8]) -> Cow<'_, [u8]> {
    let Some(rest) = cell.strip_prefix(b"\"") else { return Cow::Borrowed(cell) };
    let mut text = Vec::with_capacity(rest.len());
    let mut bytes = rest.iter();
    let mut open = true;
    while let Some(&byte) = bytes.next() {
        if open && byte == b'"' {
            match bytes.as_slice().first() {
                Some(b'"') => {
                    bytes.next();
                    text.push(b'"');
                }
                // What follows the closing quote is a part of the text.
                _ => open = false,
            }
        } else {
            text.push(byte);
        }
    }
    Cow::Owned(text)
}

/// Appends a text as a cell.
pub(super) fn push_cell(text: &[u8], delimiter: u8, quoted: bool, to: &mut Vec<u8>) {
    let special = |byte: &u8| matches!(byte, b'"' | b'\n' | b'\r') || *byte == delimiter;
    if !quoted && !text.iter().any(special) {
        return to.extend_from_slice(text);
    }
    to.push(b'"');
    for &byte in text {
        to.extend(std::iter::repeat_n(byte, if byte == b'"' { 2 } else { 1 }));
    }
    to.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(field: &str, record: &'a str) -> Vec<&'a str> {
        let spans = Field::new(field).find(record.as_bytes()).unwrap();
        spans.into_iter().map(|span| &record[span]).collect()
    }

    #[test]
    fn a_field_is_found_where_it_is_written() {
        let record =
            r#" {"id": 1, "a/b": [ {"c~": " \"x\\ud83d" }, 2 ], "é": null, "\u0061": 1.10} "#;
        assert_eq!(found("id", record), ["1"]);
        assert_eq!(found("a", record), ["1.10"]);
        assert_eq!(found("é", record), ["null"]);
        assert_eq!(found("/a~1b/0/c~0", record), [r#"" \"x\\ud83d""#]);
        assert_eq!(found("/a~1b/1", record), ["2"]);
        assert_eq!(found("/a~1b/01", record), [""; 0]);
        assert_eq!(found("/id/x", record), [""; 0]);
        assert_eq!(found("none", record), [""; 0]);
        assert_eq!(found("a", "[1]"), [""; 0]);
        assert_eq!(found("a", r#"{"a":1,"b":{"a":3},"a":"2"}"#), ["1", "\"2\""]);
        assert!(Field::new("a").find(br#"{"a": "x}"#).is_err());
        assert!(Field::new("a").find(b"{\"a\": 1} x").is_err());
    }

    #[test]
    fn the_text_of_a_string_may_be_no_unicode() {
        assert_eq!(held(br#""a\u00e9\n""#), Held::Text("aé\n".as_bytes().into()));
        assert_eq!(held(br#""\ud83d""#), Held::Text(b"\xed\xa0\xbd"[..].into()));
        assert_eq!(held(b"null"), Held::Nothing);
        assert_eq!(held(b"[1]"), Held::Value(b"[1]"));
    }

    #[test]
    fn a_string_is_written_as_the_record_is() {
        let string = |ascii| {
            let mut out = Vec::new();
            push_string("é\"😀\n", ascii, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(string(false), r#""é\"😀\n""#);
        assert_eq!(string(true), r#""\u00e9\"\ud83d\ude00\n""#);
    }

    #[test]
    fn the_header_says_what_divides_the_cells() {
        let columns =
            |header: &str, field: &str| Columns::of(header.as_bytes(), &[Field::new(field)]);
        let of = |delimiter, width, at| Some(Columns { delimiter, width, at: vec![at] });
        assert_eq!(columns("id,answer", "answer"), of(b',', 2, 1));
        assert_eq!(columns("id\tanswer\tx", "answer"), of(b'\t', 3, 1));
        assert_eq!(columns("id;\"an\"\"swer\"", "an\"swer"), of(b';', 2, 1));
        assert_eq!(columns("a,b;answer", "answer"), of(b';', 2, 1));
        assert_eq!(columns("answer", "answer"), of(b',', 1, 0));
        assert_eq!(columns("id,answers", "answer"), None);
    }

    #[test]
    fn cells_come_apart_and_together() {
        let row = "a,\"b,\"\"c\"\"\nd\",,\"\",x\"y";
        let texts: Vec<String> = cells(row.as_bytes(), b',')
            .into_iter()
            .map(|cell| String::from_utf8(cell_text(&row.as_bytes()[cell]).into_owned()).unwrap())
            .collect();
        assert_eq!(texts, ["a", "b,\"c\"\nd", "", "", "x\"y"]);
        let cell = |text: &str, quoted| {
            let mut out = Vec::new();
            push_cell(text.as_bytes(), b',', quoted, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(cell("{\"a\":1}", false), "\"{\"\"a\"\":1}\"");
        assert_eq!((cell("1", false), cell("1", true)), ("1".to_owned(), "\"1\"".to_owned()));
    }
}
