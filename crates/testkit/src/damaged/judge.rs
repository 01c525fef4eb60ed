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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
}
