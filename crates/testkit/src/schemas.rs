//! Schemas made of bytes: references in circles, unions in unions, patterns that take long, and keywords
//! that no one writes together.

use core::time::Duration;

use serde_json::{Map, Value, json};
use wiremend_reask::{Answer, Failure, Reask, ReaskOptions, Step};
use wiremend_schema::{FitOptions, Schema, Tree};
use wiremend_wire::FinishReason;

use crate::laws::{Law, Violation};

/// How many definitions refer to each other.
const DEFINITIONS: u8 = 4;
/// How deep a schema is nested, in levels.
const DEPTH: usize = 5;
/// The most subschemas of one schema.
const MOST: usize = 64;

/// The schema that some bytes make.
#[must_use]
pub fn of(recipe: &[u8]) -> Value {
    let mut cook = Cook { bytes: recipe, made: 0 };
    let mut root = match cook.schema(DEPTH) {
        Value::Object(members) => members,
        other => Map::from_iter([("not".to_owned(), other)]),
    };
    let definitions: Map<String, Value> =
        (0..DEFINITIONS).map(|n| (format!("d{n}"), cook.schema(DEPTH))).collect();
    root.insert("$defs".into(), definitions.into());
    const DRAFTS: [&str; 5] = [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    ];
    if let Some(draft) = DRAFTS.get(usize::from(cook.next() % 8)) {
        root.insert("$schema".into(), json!(draft));
    }
    Value::Object(root)
}

struct Cook<'b> {
    bytes: &'b [u8],
    made: usize,
}

impl Cook<'_> {
    /// The next byte; 0 after the last.
    fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    fn pick<'o>(&mut self, options: &[&'o str]) -> &'o str {
        let at = usize::from(self.next()) % options.len().max(1);
        options.get(at).copied().unwrap_or_default()
    }

    fn schema(&mut self, depth: usize) -> Value {
        self.made += 1;
        if depth == 0 || self.made > MOST || self.bytes.is_empty() {
            return match self.next() % 4 {
                0 => json!({"type": "integer"}),
                1 => json!({"$ref": "#"}),
                2 => json!(false),
                _ => json!({}),
            };
        }
        let mut members = Map::new();
        for _ in 0..=self.next() % 3 {
            let (keyword, value) = self.keyword(depth - 1);
            members.insert(keyword.to_owned(), value);
        }
        Value::Object(members)
    }

    fn several(&mut self, depth: usize) -> Value {
        (0..=self.next() % 4).map(|_| self.schema(depth)).collect()
    }

    fn reference(&mut self) -> Value {
        let places =
            ["#", "#/$defs/d0", "#/$defs/d1", "#/$defs/d2", "#/$defs/d3", "#t", "u.json", ""];
        self.pick(&places).into()
    }

    fn value(&mut self) -> Value {
        match self.next() % 8 {
            0 => Value::Null,
            1 => true.into(),
            2 => self.next().into(),
            3 => json!(1.5),
            4 => json!([]),
            5 => json!({"a": 1}),
            _ => self.pick(&["a", "b", "", "RED", "1", "a.b"]).into(),
        }
    }

    fn name(&mut self) -> String {
        self.pick(&["a", "b", "c", "kind", "a.b", "a~b", "userName", ""]).to_owned()
    }

    fn pattern(&mut self) -> &'static str {
        self.pick(&[
            "^a",
            "(.*)*\\1z",
            "^(?=(a+)+$)b",
            "(a|aa)+$",
            r"^\d{2,4}$",
            "(?!b)[^b-c]",
            "(",
            "[\\w-z]",
            "(a{30}){30}",
        ])
    }

    fn named(&mut self, depth: usize) -> Value {
        let mut members = Map::new();
        for _ in 0..=self.next() % 3 {
            members.insert(self.name(), self.schema(depth));
        }
        members.into()
    }

    fn keyword(&mut self, depth: usize) -> (&'static str, Value) {
        match self.next() % 40 {
            0..=3 => ("$ref", self.reference()),
            4 => ("$dynamicRef", self.reference()),
            5 => ("$recursiveRef", json!("#")),
            6 => ("$dynamicAnchor", json!("t")),
            7 => ("$id", json!("u.json")),
            8 | 9 => ("anyOf", self.several(depth)),
            10 | 11 => ("oneOf", self.several(depth)),
            12 => ("allOf", self.several(depth)),
            13 => ("not", self.schema(depth)),
            14 => ("if", self.schema(depth)),
            15 => ("then", self.schema(depth)),
            16 => ("else", self.schema(depth)),
            17 | 18 => ("properties", self.named(depth)),
            19 => ("patternProperties", {
                let mut members = Map::new();
                members.insert(self.pattern().to_owned(), self.schema(depth));
                members.into()
            }),
            20 => ("additionalProperties", self.schema(depth)),
            21 => ("propertyNames", self.schema(depth)),
            22 => ("dependentSchemas", self.named(depth)),
            23 | 24 => ("items", self.schema(depth)),
            25 => ("prefixItems", self.several(depth)),
            26 => ("contains", self.schema(depth)),
            27 => ("unevaluatedProperties", self.schema(depth)),
            28 => ("unevaluatedItems", self.schema(depth)),
            29 => ("enum", (0..=self.next() % 6).map(|_| self.value()).collect()),
            30 => ("const", self.value()),
            31 => ("pattern", self.pattern().into()),
            32 => ("required", json!([self.name()])),
            33 => ("type", {
                let kinds = ["object", "array", "string", "integer", "number", "null", "boolean"];
                self.pick(&kinds).into()
            }),
            34 => ("format", self.pick(&["date", "email", "uri", "regex", "date-time"]).into()),
            35 => ("minimum", (self.next() % 20).into()),
            36 => ("maxLength", (self.next() % 20).into()),
            37 => ("uniqueItems", true.into()),
            38 => ("default", self.value()),
            _ => ("x-aliases", json!([self.name()])),
        }
    }
}

// The law of asking again: whatever is answered, the loop ends, and what it returns is valid.

/// What divides the answers of an input.
const SEPARATOR: u8 = 0x1e;
/// More steps than any loop with these budgets may take.
const STEPS: usize = 40;

/// Feeds a loop with the pieces of `input` as answers, again and again. The first byte of a piece says how the
/// answer ended.
///
/// # Errors
/// If the loop does not end, exceeds its budgets, or returns a value that is not valid.
pub fn ends_with_what_is_valid(
    schema: &Schema,
    input: &[u8],
    fit: FitOptions,
) -> Result<(), Violation> {
    let violation = |what: String| Err(Violation::new(Law::HonestEnds, input, what));
    let options = ReaskOptions::new().with_fit(fit).with_attempts(5).with_continuations(4);
    let mut reask = Reask::new(schema, options);
    let mut shown = false;
    let pieces: Vec<&[u8]> = input.split(|byte| *byte == SEPARATOR).collect();
    for piece in pieces.iter().cycle().take(STEPS) {
        let (&kind, text) = piece.split_first().unwrap_or((&0, &[]));
        let text = String::from_utf8_lossy(text).into_owned();
        let step = if kind & 7 == 7 {
            reask.failed(Failure::status(400, text), Duration::ZERO)
        } else {
            let finish = match kind & 33 {
                0 => FinishReason::Stop,
                1 => FinishReason::Length,
                _ => FinishReason::ContentFilter,
            };
            shown |= kind & 64 != 0;
            let answer = if kind & 4 == 0 { Answer::text(text) } else { Answer::arguments(text) };
            reask.answer(&answer.with_finish(finish).with_shown(kind & 64 != 0), Duration::ZERO)
        };
        match step {
            Step::Done(_) if kind & 7 != 7 && kind & 32 != 0 => {
                return violation("what a filter stopped is a value".to_owned());
            }
            Step::Done(done) => {
                let valid = Tree::read(done.json()).is_ok_and(|tree| schema.accepts(&tree));
                if !valid || done.fitted().text() != Some(done.json()) {
                    return violation(format!("returned {}", done.json()));
                }
                return Ok(());
            }
            Step::Exhausted(end) if end.spent().calls() > 10 => {
                return violation(format!("{} calls", end.spent().calls()));
            }
            Step::Exhausted(_) => return Ok(()),
            Step::Ask(ask) if shown && ask.attempt() > 0 => {
                return violation("a replacement of what was shown".to_owned());
            }
            Step::Ask(ask) | Step::Continue(ask)
                if ask.user_message().unwrap_or_default().contains("<|") =>
            {
                return violation("the mark of a chat template in a prompt".to_owned());
            }
            _ => {}
        }
    }
    // A caller that only gets failures ends the loop itself.
    let failing = pieces.iter().any(|piece| piece.first().is_some_and(|kind| kind & 7 == 7));
    if failing { Ok(()) } else { violation("the loop does not end".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn bytes_make_schemas_of_every_kind() {
        let text = |recipe: &[u8]| of(recipe).to_string();
        assert!(text(&[]).contains("$defs"));
        assert_ne!(text(&[2, 8, 3, 1]), text(&[2, 17, 3, 1]));
        // Every keyword is reached.
        let all: String = (0..=255).map(|byte| text(&[2, byte, byte, 3, byte, 1, 9, 7])).collect();
        for keyword in ["anyOf", "$dynamicRef", "unevaluatedItems", "patternProperties", "if"] {
            assert!(all.contains(keyword), "{keyword}");
        }
    }
}
