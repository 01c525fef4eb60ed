//! Arguments that Vertex AI sends leaf by leaf: a path, and a value or the next piece of a string.
//!
//! The model writes its arguments from first to last, so the paths arrive in document order. This makes
//! it possible to write JSON text incrementally: only the path of the last leaf is open, and nothing
//! else is kept.

use super::{ANY, FLAG, NUMBER, Out, Place, TEXT, piece};
use crate::json::{Node, escape};

/// How deep arguments may be nested.
const MAX_DEPTH: usize = 256;

/// How many items of an array may be skipped in a row.
const MAX_GAP: usize = 64;

const PATCH: Place<6> = Place::of([
    ("stringValue", TEXT),
    ("numberValue", NUMBER),
    ("boolValue", FLAG),
    ("nullValue", ANY),
    ("jsonPath", TEXT),
    ("willContinue", FLAG),
])
.needs_one_of(4);

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// A patch that cannot be appended to what was already written, or that holds no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutOfOrder;

/// Writes the arguments of one call.
#[derive(Debug, Default)]
pub(super) struct PartialArgs {
    /// The path of the last leaf.
    open: Vec<Step>,
    /// The last leaf is a string that continues.
    in_string: bool,
    begun: bool,
    /// Leaves were left out, or a string that was to continue did not.
    incomplete: bool,
}

impl PartialArgs {
    /// Reads a patch, and appends its text to `text`. On an error, that is unchanged.
    pub(super) fn patch(
        &mut self,
        patch: Node<'_>,
        text: &mut String,
        out: Out<'_>,
    ) -> Result<(), OutOfOrder> {
        let [string, number, boolean, _, path, continues] = PATCH.read(patch, out);
        let path = path.and_then(Node::text).ok_or(OutOfOrder)?;
        let steps = steps(&path).ok_or(OutOfOrder)?;
        let goes_on = self.in_string && steps == self.open;
        let value = number.or(boolean);
        let known = match goes_on {
            // The last piece may be nothing but the end.
            true => value.is_none(),
            false => string.is_some() || value.is_some() || patch.has("nullValue"),
        };
        if !known {
            return Err(OutOfOrder);
        }
        if goes_on {
            if let Some(string) = piece(string) {
                escape(&string, text);
            }
        } else {
            self.go_to(steps, text)?;
            match (string, value) {
                (Some(string), _) => {
                    self.in_string = true;
                    text.push('"');
                    escape(&string.text().unwrap_or_default(), text);
                }
                (None, Some(value)) => text.push_str(value.raw()),
                (None, None) => text.push_str("null"),
            }
        }
        let continues = continues.is_some_and(|continues| continues.raw() == "true");
        if self.in_string && !continues {
            self.in_string = false;
            text.push('"');
        }
        Ok(())
    }

    /// Ends the arguments. `false` if a string that should have continued did not.
    pub(super) fn close(&mut self, out: &mut String) -> bool {
        if self.in_string {
            return false;
        }
        if !self.begun {
            out.push_str("{}");
        }
        for step in self.open.drain(..).rev() {
            out.push(closer(&step));
        }
        true
    }

    /// Whether there was no patch so far.
    pub(super) const fn is_empty(&self) -> bool {
        !self.begun
    }

    /// Whether something of the arguments is missing.
    pub(super) const fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Closes what follows the point where the paths diverge, and opens what is new.
    fn go_to(&mut self, steps: Vec<Step>, out: &mut String) -> Result<(), OutOfOrder> {
        let common = self.open.iter().zip(&steps).take_while(|(a, b)| a == b).count();
        let (Some(next), true) = (steps.get(common), steps.len() <= MAX_DEPTH) else {
            return Err(OutOfOrder);
        };
        let last = match self.open.get(common) {
            Some(Step::Index(last)) => Some(*last),
            _ => None,
        };
        if steps.iter().enumerate().skip(common).any(|(depth, step)| {
            let before = last.filter(|_| depth == common).map_or(0, |last| last + 1);
            matches!(step, Step::Index(index) if index.saturating_sub(before) > MAX_GAP)
        }) {
            return Err(OutOfOrder);
        }
        if self.begun {
            let in_order = match (self.open.get(common), next) {
                (Some(Step::Key(_)), Step::Key(_)) => true,
                (Some(Step::Index(last)), Step::Index(index)) => *index > *last,
                _ => false,
            };
            if !in_order {
                return Err(OutOfOrder);
            }
        }
        if core::mem::take(&mut self.in_string) {
            self.incomplete = true;
            out.push('"');
        }
        // The leaf has no bracket of its own: the last step is a place in its container.
        let deeper = self.open.get(common + 1..).unwrap_or_default();
        for step in deeper.iter().rev() {
            out.push(closer(step));
        }
        for (depth, step) in steps.iter().enumerate().skip(common) {
            let first = depth > common || !self.begun;
            match step {
                Step::Key(key) => {
                    out.push_str(if first { "{\"" } else { ",\"" });
                    escape(key, out);
                    out.push_str("\":");
                }
                Step::Index(index) => {
                    out.push(if first { '[' } else { ',' });
                    // Skipped items are null.
                    let before = if first { 0 } else { last.map_or(0, |last| last + 1) };
                    for _ in before..*index {
                        self.incomplete = true;
                        out.push_str("null,");
                    }
                }
            }
        }
        self.begun = true;
        self.open = steps;
        Ok(())
    }
}

const fn closer(step: &Step) -> char {
    match step {
        Step::Key(_) => '}',
        Step::Index(_) => ']',
    }
}

/// The steps of a path: `$.a`, `[0]`, `['a.b']`.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = match rest.strip_prefix('[') {
            Some(inner) => bracketed(inner)?,
            None => {
                let name = rest.strip_prefix('.').unwrap_or(rest);
                let end = name.find(['.', '[']).unwrap_or(name.len());
                let (name, after) = name.split_at(end);
                (Step::Key(name.to_owned()), after)
            }
        };
        steps.push(step);
        rest = after;
    }
    Some(steps).filter(|steps| !steps.is_empty())
}

/// Reads a step in brackets. `inner` starts after the opening bracket.
fn bracketed(inner: &str) -> Option<(Step, &str)> {
    let Some(quote) = inner.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
        let (index, after) = inner.split_once(']')?;
        return Some((Step::Index(index.parse().ok()?), after));
    };
    let mut key = String::new();
    let mut chars = inner.get(1..)?.chars();
    while let Some(c) = chars.next() {
        if c == quote {
            return Some((Step::Key(key), chars.as_str().strip_prefix(']')?));
        }
        key.push(if c == '\\' { chars.next()? } else { c });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn written(patches: &[&str]) -> (String, bool) {
        let mut writer = PartialArgs::default();
        let mut out = String::new();
        for patch in patches {
            writer.patch(json::first(patch).unwrap().0, &mut out, &mut |_| {}).unwrap();
        }
        let whole = writer.close(&mut out);
        (out, whole)
    }

    #[test]
    fn leaves_become_a_document() {
        let patches = [
            r#"{"jsonPath":"$.a.b[0].c","stringValue":"x\"","willContinue":true}"#,
            r#"{"jsonPath":"$.a.b[0].c","stringValue":"y\n"}"#,
            r#"{"jsonPath":"$.a.b[0].d","numberValue":1.50}"#,
            r#"{"jsonPath":"$.a.b[2]","boolValue":false}"#,
            r#"{"jsonPath":"$['k.\\'e']","nullValue":"NULL_VALUE"}"#,
            r#"{"jsonPath":"$.z[0][0]","stringValue":""}"#,
        ];
        let text = r#"{"a":{"b":[{"c":"x\"y\n","d":1.50},null,false]},"k.'e":null,"z":[[""]]}"#;
        assert_eq!(written(&patches), (text.to_owned(), true));
        assert!(serde_json::from_str::<serde_json::Value>(text).is_ok());
        assert_eq!(written(&[]), ("{}".to_owned(), true));
    }

    #[test]
    fn a_string_that_continues_is_not_closed() {
        let (text, whole) =
            written(&[r#"{"jsonPath":"$.a","stringValue":"Par","willContinue":true}"#]);
        assert_eq!((text.as_str(), whole), ("{\"a\":\"Par", false));
    }

    #[test]
    fn out_of_order_patches_are_rejected_and_write_nothing() {
        let mut writer = PartialArgs::default();
        let mut out = String::new();
        let patch = |text| json::first(text).unwrap().0;
        writer
            .patch(patch(r#"{"jsonPath":"$.a[1]","numberValue":1}"#), &mut out, &mut |_| {})
            .unwrap();
        for wrong in [
            r#"{"jsonPath":"$.a[0]","numberValue":2}"#,
            r#"{"jsonPath":"$.a.b","numberValue":2}"#,
            r#"{"jsonPath":"$.a","numberValue":2}"#,
            r#"{"jsonPath":"$.a[1].b","numberValue":2}"#,
            r#"{"jsonPath":"$.a[99999]","numberValue":2}"#,
            r#"{"jsonPath":"$.a[x]","numberValue":2}"#,
            r#"{"jsonPath":"$","numberValue":2}"#,
            r#"{"numberValue":2}"#,
        ] {
            let result = writer.patch(patch(wrong), &mut out, &mut |_| {});
            assert_eq!(result, Err(OutOfOrder), "{wrong}");
        }
        assert!(writer.close(&mut out));
        assert_eq!(out, "{\"a\":[null,1]}");
    }
}
