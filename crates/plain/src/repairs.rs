//! Repairs, as plain data.

use serde::Serialize;
use wiremend::repair::{Located, Repairs, RepairsIter};
#[cfg(feature = "schema")]
use wiremend::schema::Change;

/// One change to a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// The code of the kind, or of a rule.
    pub kind: &'static str,
    /// The code of what it assumes.
    pub risk: &'static str,
    /// Where what was replaced begins, in units of the text.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// What was replaced, if the text is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What is there instead.
    pub after: String,
    /// Where in the value.
    pub path: String,
}

/// What the places in a text count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of UTF-8.
    Byte,
    /// Characters.
    Character,
    /// Units of UTF-16.
    Utf16,
}

/// Counts units in one pass over a text: the calls must come in its order.
#[derive(Clone, Debug)]
pub struct Places<'t> {
    text: &'t [u8],
    unit: Unit,
    at: usize,
    before: usize,
}

impl<'t> Places<'t> {
    /// Starts at the beginning of a text.
    #[must_use]
    pub fn of(text: &'t [u8], unit: Unit) -> Self {
        let unit = if text.is_ascii() { Unit::Byte } else { unit };
        Self { text, unit, at: 0, before: 0 }
    }

    /// How many units are before this byte.
    pub fn place(&mut self, byte: usize) -> usize {
        if self.unit == Unit::Byte {
            return byte;
        }
        // Only a character of four bytes is two units of UTF-16.
        let wide = usize::from(self.unit == Unit::Utf16);
        let units =
            |byte: &u8| usize::from(byte & 0xC0 != 0x80) + wide * usize::from(*byte >= 0xF0);
        let passed = self.text.get(self.at..byte).unwrap_or_default();
        self.before += passed.iter().map(units).sum::<usize>();
        self.at = self.at.max(byte);
        self.before
    }
}

fn words(bytes: Option<&[u8]>) -> String {
    String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
}

/// The repairs of a text that is there as a whole.
///
/// ```
/// use wiremend_plain::{Unit, of_text};
/// let text = "{'😀': 1,}";
/// let mended = wiremend::mend(text.as_bytes(), &wiremend::MendOptions::new());
/// let last = |unit| of_text(text.as_bytes(), unit, mended.repairs()).pop().unwrap().start;
/// assert_eq!((last(Unit::Byte), last(Unit::Character), last(Unit::Utf16)), (10, 7, 8));
/// ```
#[must_use]
pub fn of_text(text: &[u8], unit: Unit, repairs: &Repairs) -> Vec<Repair> {
    if repairs.is_empty() {
        return Vec::new();
    }
    let mut places = Places::of(text, unit);
    let mut listed = listed(Located::in_input(text, repairs), repairs.len());
    for repair in &mut listed {
        repair.before = Some(words(text.get(repair.start..repair.end)));
        repair.start = places.place(repair.start);
        repair.end = places.place(repair.end);
    }
    listed
}

/// The repairs that led to `mended`, which begins at `start`, of a text that was not kept.
#[must_use]
pub fn of_mended(mended: &[u8], start: usize, repairs: &Repairs) -> Vec<Repair> {
    listed(Located::in_mended(mended, start, repairs), repairs.len())
}

fn listed(mut located: Located<'_, RepairsIter<'_>>, count: usize) -> Vec<Repair> {
    let mut listed = Vec::with_capacity(count);
    while let Some(repair) = located.next() {
        listed.push(Repair {
            kind: repair.kind().code(),
            risk: repair.risk().code(),
            start: repair.start(),
            end: repair.end(),
            before: None,
            after: repair.after().to_owned(),
            path: located.path().to_string(),
        });
    }
    listed
}

/// The changes that made the value of a text fit its schema. The text, if it is kept.
#[cfg(feature = "schema")]
#[must_use]
pub fn of_changes(text: Option<(&[u8], Unit)>, changes: &[Change]) -> Vec<Repair> {
    let mut places = text.map(|(text, unit)| Places::of(text, unit));
    let mut place = |byte| places.as_mut().map_or(byte, |places| places.place(byte));
    let listed = changes.iter().map(|change| Repair {
        kind: change.cause().code(),
        risk: change.risk().code(),
        start: place(change.start()),
        end: place(change.end()),
        before: text.map(|(text, _)| words(text.get(change.span()))),
        after: change.after().to_owned(),
        path: change.path().to_string(),
    });
    listed.collect()
}
