//! What wiremend makes of a sample, and whether that is right.

use serde_json::Value;
use wiremend_core::{
    MendOptions, Mended, Mender, Outcome, Policy, RepairKind, Repairs, Risk, TrailingDocuments,
    mend,
};
use wiremend_extract::{Finder, FoundDocuments, Scope, find};

use super::Sample;
use crate::{Seed, run::Recorder};

/// A way to mend a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Entry {
    /// [`mend`].
    Mend,
    /// A [`Mender`], with chunks of random sizes.
    Push,
    /// [`find`], as `wiremend repair` calls it.
    Text,
    /// A [`Finder`], as `wiremend repair --stream` uses it, with chunks of random sizes.
    Stream,
}

impl Entry {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Text, Self::Stream, Self::Mend, Self::Push];

    /// A short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mend => "mend",
            Self::Push => "push",
            Self::Text => "whole",
            Self::Stream => "stream",
        }
    }
}

/// Whether an answer is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums)]
pub enum Verdict {
    /// It is the value of the document; of one that was cut off, a prefix, and not complete.
    Right,
    /// There is another value.
    Wrong,
    /// There is no value.
    Refused,
}

/// What came of a sample.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// Whether it is right.
    pub verdict: Verdict,
    /// The highest risk of its repairs. Exact if there are none.
    pub risk: Risk,
    /// Whether it is said to be complete.
    pub complete: bool,
    /// The kinds of its repairs.
    pub kinds: Vec<RepairKind>,
    /// The mended text, if there is one.
    pub json: Option<String>,
}

impl Answer {
    /// Whether the answer is wrong although no repair says that this might be.
    #[must_use]
    pub fn is_silently_wrong(&self) -> bool {
        self.verdict == Verdict::Wrong && self.risk <= Risk::Likely
    }
}

impl Sample {
    /// Mends the text, and judges the result.
    #[must_use]
    pub fn ask(&self, entry: Entry, policy: Policy) -> Answer {
        let options = MendOptions::new().with_policy(policy);
        let array = options.clone().with_trailing_documents(TrailingDocuments::Array);
        let input = self.text.as_bytes();
        match entry {
            Entry::Mend => self.judge_mended(mend(input, &array)),
            Entry::Text => self.judge_mended(find(input, Scope::Best, &array)),
            Entry::Push => {
                let (mut mender, mut out) = (Mender::new(options), Recorder::default());
                self.chunks().for_each(|chunk| mender.push(chunk, &mut out));
                let outcome = mender.finish(&mut out);
                self.judge(outcome, Some(out.text()), out.repairs())
            }
            Entry::Stream => {
                let mut extractor = Finder::new(Scope::Whole, options);
                let mut found = FoundDocuments::default();
                self.chunks().for_each(|chunk| extractor.push(chunk, &mut found));
                let outcome = extractor.finish(&mut found);
                let first = found.documents().first();
                let repairs = first.map(|first| first.repairs().iter().collect());
                self.judge(
                    outcome,
                    first.map(wiremend_extract::FoundDocument::json),
                    &repairs.unwrap_or_default(),
                )
            }
        }
    }

    /// Whether a JSON text has the value of the document; of one that was cut off, a prefix of it.
    #[must_use]
    pub fn has_value(&self, json: &[u8]) -> bool {
        let value = serde_json::from_slice::<Value>(json);
        let right = if self.cut { is_prefix } else { same };
        value.is_ok_and(|value| right(&value, &self.value))
    }

    fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        let mut seed = Seed::of(self.text.as_bytes());
        let most = [4, 40, 400][seed.below(3)];
        let mut rest = self.text.as_bytes();
        std::iter::from_fn(move || {
            let size = (1 + seed.below(most)).min(rest.len());
            let (chunk, tail) = rest.split_at(size);
            rest = tail;
            (!chunk.is_empty()).then_some(chunk)
        })
    }

    fn judge_mended(&self, mended: Mended) -> Answer {
        let (outcome, text, repairs) = mended.into_parts();
        self.judge(outcome, text.as_deref().map(str::as_bytes), &repairs)
    }

    fn judge(&self, outcome: Outcome, json: Option<&[u8]>, repairs: &Repairs) -> Answer {
        let json = json.filter(|_| outcome.is_valid());
        let honest = !(self.cut && outcome.is_complete());
        let verdict = match json {
            None => Verdict::Refused,
            Some(json) if honest && self.has_value(json) => Verdict::Right,
            Some(_) => Verdict::Wrong,
        };
        Answer {
            verdict,
            risk: repairs.risk().unwrap_or(Risk::Exact),
            complete: outcome.is_complete(),
            kinds: repairs.kinds().map(|(kind, _)| kind).collect(),
            json: json.map(|json| String::from_utf8_lossy(json).into_owned()),
        }
    }
}

/// Whether two values are equal, with numbers by their value.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let equal = |(key, value)| other.get(key).is_some_and(|other| same(value, other));
            one.len() == other.len() && one.iter().all(equal)
        }
        _ => one == other,
    }
}

/// Whether a value is what is left of another one after its end was cut off: the last item or member
/// may be incomplete, and a string or a number shorter.
fn is_prefix(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::String(part), Value::String(whole)) => whole.starts_with(part.as_str()),
        (Value::Number(number), Value::Number(other)) => {
            same(part, whole) || other.to_string().starts_with(&number.to_string())
        }
        (Value::Array(part), Value::Array(whole)) => items_begin(part.iter(), whole.iter()),
        (Value::Object(part), Value::Object(whole)) => {
            let keys = part.keys().zip(whole.keys()).all(|(one, other)| one == other);
            keys && items_begin(part.values(), whole.values())
        }
        _ => part == whole,
    }
}

fn items_begin<'a>(
    part: impl ExactSizeIterator<Item = &'a Value>,
    whole: impl ExactSizeIterator<Item = &'a Value>,
) -> bool {
    let last = part.len();
    part.len() <= whole.len()
        && part.zip(whole).enumerate().all(|(at, (one, other))| {
            if at + 1 == last { is_prefix(one, other) } else { same(one, other) }
        })
}

// Whether a damaged text has one best reading: the fewest edits after which it is JSON, and whether
// all choices of that many edits give the same value.
//
// This is a reader that tries every edit of a small family at every place, all at the same time. Two
// attempts that have come to the same state will accept the same rest, so only two of them with
// different values are kept, and the work stays within a small multiple of the text.

/// The edits that a reader may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edits {
    /// A quote inside a value is text, or a string ends where there is no quote.
    Quotes,
    /// Also, a sign between tokens is inserted, deleted or replaced by another one.
    Signs,
}

/// The best reading of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Best {
    /// How many edits it takes.
    pub(super) edits: u8,
    /// Stands for its value. `None` if several values take as many edits.
    pub(super) value: Option<u64>,
}

/// The best reading within `most` edits, or `None` if there is none.
pub(super) fn best(text: &str, edits: Edits, most: u8) -> Option<Best> {
    let mut reader = Reader { edits, most, states: Vec::new() };
    let start = State { stack: 0, depth: 0, mode: Mode::Value, value: 0, cost: 0 };
    reader.states.push(start);
    for byte in text.bytes() {
        reader.read(byte);
        if reader.states.is_empty() {
            return None;
        }
    }
    reader.insert_signs();
    let ends: Vec<State> = reader
        .states
        .into_iter()
        .filter(|state| state.depth == 0 && state.mode == Mode::After)
        .collect();
    let fewest = ends.iter().map(|state| state.cost).min()?;
    let mut values = ends.iter().filter(|state| state.cost == fewest).map(|state| state.value);
    let first = values.next()?;
    Some(Best { edits: fewest, value: values.all(|value| value == first).then_some(first) })
}

/// The deepest nesting that is followed.
const DEEPEST: u8 = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Before a value.
    Value,
    /// Before the first item, or the closer.
    First,
    /// Before a key.
    Key,
    /// After a key.
    Colon,
    /// After a value.
    After,
    /// In a string.
    Text {
        key: bool,
        escaped: bool,
    },
    /// In a number or a literal, with what is missing of the literal.
    Number,
    Literal(&'static [u8]),
}

#[derive(Clone, Copy, Debug)]
struct State {
    /// One bit for each open container: 1 is an object.
    stack: u64,
    depth: u8,
    mode: Mode,
    /// A hash of the tokens so far.
    value: u64,
    cost: u8,
}

impl State {
    fn object(&self) -> bool {
        self.stack & 1 == 1
    }

    fn seen(mut self, byte: u8, mode: Mode) -> Self {
        self.value =
            (self.value ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        self.mode = mode;
        self
    }

    fn open(mut self, object: bool) -> Option<Self> {
        if self.depth == DEEPEST {
            return None;
        }
        self.stack = self.stack << 1 | u64::from(object);
        self.depth += 1;
        Some(self.seen(if object { b'{' } else { b'[' }, Mode::First))
    }

    fn close(mut self, object: bool) -> Option<Self> {
        if self.depth == 0 || self.object() != object {
            return None;
        }
        self.stack >>= 1;
        self.depth -= 1;
        Some(self.seen(b'}', Mode::After))
    }

    /// The state after a byte, by the grammar. Numbers are read loosely.
    fn step(self, byte: u8) -> Option<Self> {
        match self.mode {
            Mode::Text { key, escaped: true } => {
                Some(self.seen(byte, Mode::Text { key, escaped: false }))
            }
            Mode::Text { key, escaped: false } => match byte {
                b'"' => Some(self.seen(b'"', if key { Mode::Colon } else { Mode::After })),
                b'\\' => Some(self.seen(byte, Mode::Text { key, escaped: true })),
                0..0x20 => None,
                _ => Some(self.seen(byte, self.mode)),
            },
            Mode::Number => match byte {
                b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E' => {
                    Some(self.seen(byte, Mode::Number))
                }
                _ => self.seen(b' ', Mode::After).step(byte),
            },
            Mode::Literal(&[]) => self.seen(b' ', Mode::After).step(byte),
            Mode::Literal(&[next, ref rest @ ..]) => {
                (byte == next).then(|| self.seen(byte, Mode::Literal(rest)))
            }
            _ if matches!(byte, b' ' | b'\t' | b'\r' | b'\n') => Some(self),
            Mode::Value | Mode::First
                if self.depth == 0 || !self.object() || self.mode == Mode::Value =>
            {
                match byte {
                    b'{' | b'[' => self.open(byte == b'{'),
                    b']' if self.mode == Mode::First => self.close(false),
                    b'"' => Some(self.seen(b'"', Mode::Text { key: false, escaped: false })),
                    b'-' | b'0'..=b'9' => Some(self.seen(byte, Mode::Number)),
                    b't' => Some(self.seen(byte, Mode::Literal(b"rue"))),
                    b'f' => Some(self.seen(byte, Mode::Literal(b"alse"))),
                    b'n' => Some(self.seen(byte, Mode::Literal(b"ull"))),
                    _ => None,
                }
            }
            Mode::Value | Mode::First | Mode::Key => match byte {
                b'}' if self.mode == Mode::First => self.close(true),
                b'"' => Some(self.seen(b'"', Mode::Text { key: true, escaped: false })),
                _ => None,
            },
            Mode::Colon => (byte == b':').then(|| self.seen(b':', Mode::Value)),
            Mode::After => match byte {
                b',' if self.depth > 0 => {
                    let mode = if self.object() { Mode::Key } else { Mode::Value };
                    Some(self.seen(b',', mode))
                }
                b'}' | b']' => self.close(byte == b'}'),
                _ => None,
            },
        }
    }

    fn dearer(mut self) -> Self {
        self.cost += 1;
        self
    }
}

struct Reader {
    edits: Edits,
    most: u8,
    states: Vec<State>,
}

impl Reader {
    fn read(&mut self, byte: u8) {
        self.insert_signs();
        let mut next = Vec::with_capacity(self.states.len());
        for &state in &self.states {
            if let Some(after) = state.step(byte) {
                add(&mut next, after);
            }
            if state.cost == self.most {
                continue;
            }
            if let Mode::Text { key, escaped: false } = state.mode {
                // The quote is text. Hardly any key contains one.
                if byte == b'"' && !key {
                    add(&mut next, state.seen(b'\'', Mode::Text { key, escaped: false }).dearer());
                }
            } else if self.edits == Edits::Signs && b"{}[],:\"=;<>()".contains(&byte) {
                add(&mut next, state.dearer());
                let others: &[u8] = match byte {
                    b'{' | b'[' | b'(' | b'<' => b"{[",
                    b'}' | b']' | b')' | b'>' => b"}]",
                    b':' | b',' | b'=' | b';' => b":,",
                    _ => b"",
                };
                for after in others.iter().filter_map(|&other| state.step(other)) {
                    add(&mut next, after.dearer());
                }
            }
        }
        self.states = next;
    }

    /// Adds the states that insertions lead to. An insertion may follow another one.
    fn insert_signs(&mut self) {
        let mut at = 0;
        while let Some(&state) = self.states.get(at) {
            at += 1;
            if state.cost == self.most {
                continue;
            }
            let signs: &[u8] = match (state.mode, self.edits) {
                (Mode::Text { escaped: false, .. }, _) => b"\"",
                (Mode::Text { .. }, _) | (_, Edits::Quotes) => b"",
                (_, Edits::Signs) => b"\"{}[],:",
            };
            for after in signs.iter().filter_map(|&sign| state.step(sign)) {
                add(&mut self.states, after.dearer());
            }
        }
    }
}

/// Keeps at most two values of each state and cost.
fn add(states: &mut Vec<State>, new: State) {
    let same = |old: &&State| {
        old.stack == new.stack
            && old.depth == new.depth
            && old.mode == new.mode
            && old.cost == new.cost
    };
    let mut count = 0;
    for old in states.iter().filter(same) {
        if old.value == new.value {
            return;
        }
        count += 1;
    }
    if count < 2 {
        states.push(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn prefixes_end_anywhere() {
        let whole = json!({"a": [1, {"b": "xyz"}, 205], "c": true});
        for part in [
            json!({}),
            json!({"a": []}),
            json!({"a": [1, {"b": "x"}]}),
            json!({"a": [1, {"b": "xyz"}, 20]}),
            json!({"a": [1, {"b": "xyz"}, 205], "c": true}),
        ] {
            assert!(is_prefix(&part, &whole), "{part}");
        }
        for part in [
            json!([]),
            json!({"c": true}),
            json!({"a": [1, {"b": "x"}, 205]}),
            json!({"a": [1, {"b": "xyzz"}]}),
            json!({"a": [2]}),
            json!({"a": [1], "c": true}),
        ] {
            assert!(!is_prefix(&part, &whole), "{part}");
        }
    }

    fn value(json: &str) -> u64 {
        best(json, Edits::Signs, 0).and_then(|best| best.value).expect("JSON")
    }

    #[test]
    fn json_needs_no_edit() {
        for text in ["[]", "{}", r#"{"a": [1, -2.5e3, "x\"y", true, null, {"b": {}}]}"#] {
            assert_eq!(best(text, Edits::Signs, 1).map(|best| best.edits), Some(0), "{text}");
        }
    }

    #[test]
    fn one_reading_is_best() {
        for (text, edits, meant) in [
            (r#"{"a": [1, 2, "b": 3}"#, 1, r#"{"a": [1, 2], "b": 3}"#),
            (r#"{"a: 1, "b": 2}"#, 1, r#"{"a": 1, "b": 2}"#),
            (r#"{"a": "x, "b": "y"}"#, 1, r#"{"a": "x", "b": "y"}"#),
            (r#"{"a": [1, 2}, "b": 3}"#, 1, r#"{"a": [1, 2], "b": 3}"#),
            (r#"{"a": {"b": 1}}, "c": 2}"#, 1, r#"{"a": {"b": 1}, "c": 2}"#),
            (r#"["a" "b"]"#, 1, r#"["a", "b"]"#),
            (r#"{"a" = 1}"#, 1, r#"{"a": 1}"#),
            (r#"{"a": "x"#, 2, r#"{"a": "x"}"#),
        ] {
            let best = best(text, Edits::Signs, edits);
            assert_eq!(best, Some(Best { edits, value: Some(value(meant)) }), "{text}");
        }
    }

    #[test]
    fn several_readings_are_as_good() {
        for (text, edits) in
            [(r#"{"a": {"b": 1, "c": 2}"#, 1), (r#"["a", "b, "c"]"#, 1), (r#"[[1, 2]], 3]"#, 1)]
        {
            let best = best(text, Edits::Signs, edits);
            assert_eq!(best, Some(Best { edits, value: None }), "{text}");
        }
        // Four quotes were meant to be text, and with two there is another value.
        let text = r#"["a "b", "c" d"]"#;
        assert_eq!(best(text, Edits::Quotes, 4).map(|best| best.edits), Some(2));
        assert_eq!(best(r#"["a" b]"#, Edits::Quotes, 1), None);
    }
}
