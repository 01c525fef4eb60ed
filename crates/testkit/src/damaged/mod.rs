//! Damaged documents whose right value is known, and how often wiremend gets it.
//!
//! [`crate::damage`] breaks any text, and nothing is said of what the result should be. Here a
//! realistic document is damaged so that one value is right: that of the document. Where another
//! reading of the damaged text would be as good, the text is dropped; each [`Kind`] says when that is,
//! and for quotes and brackets a reader that tries all edits decides.
//!
//! ```
//! use wiremend_testkit::damaged::{Entry, Kind, Sample, Verdict};
//!
//! let kind = Kind::named("trailing-comma").unwrap();
//! let sample = Sample::of_kind(kind, 7).unwrap();
//! let answer = sample.ask(Entry::Text, wiremend_core::Policy::PERMISSIVE);
//! assert_eq!(answer.verdict, Verdict::Right);
//! ```

mod draft;
mod judge;
mod kinds;
mod measure;
mod originals;

use std::fmt;

use serde_json::Value;

pub use judge::{Answer, Entry, Verdict};
pub use kinds::Kind;
pub use measure::{Counts, Tally, by_name};
pub use measure::{Rates, any_signs, by_distance, combined_samples, samples, samples_of};

use crate::Seed;
use draft::Layout;
use draft::{Around, Draft};
use kinds::Group;

/// A damaged document and its value.
#[derive(Clone)]
#[non_exhaustive]
pub struct Sample {
    /// The damaged text.
    pub text: String,
    /// What was done, in order.
    pub kinds: Vec<Kind>,
    /// The value of the document.
    pub value: Value,
    /// Whether the end of the text is cut off. An answer is then right if it is a prefix of the value.
    pub cut: bool,
    /// The damaged document alone, and where its last bracket begins.
    body: (String, usize),
    around: Vec<Around>,
}

impl Sample {
    /// A document that is damaged in one way. `None` if none of the documents of the seed has a place
    /// for it.
    #[must_use]
    pub fn of_kind(kind: Kind, seed: u64) -> Option<Self> {
        let mut random = Seed::of(kind.name().as_bytes()).with(seed);
        (0..60).find_map(|_| {
            let (value, mut draft) = document(&mut random);
            let change = kind.damage(&draft, &mut random)?;
            draft.make(change).then(|| Self::new(&draft, value, vec![kind]))?
        })
    }

    /// A document that is damaged in so many ways.
    #[must_use]
    pub fn combined(count: usize, seed: u64) -> Option<Self> {
        let mut random = Seed::of(b"combined").with(seed);
        let all: Vec<Kind> = Kind::all().collect();
        (0..20).find_map(|_| {
            let (value, mut draft) = document(&mut random);
            let mut chosen: Vec<Kind> = Vec::new();
            while chosen.len() < count {
                let kind = *random.pick(&all)?;
                if chosen.iter().all(|other| combine(*other, kind)) {
                    chosen.push(kind);
                }
            }
            // A style changes all strings, and skips those that something else was done to. What is
            // around a text depends on the signs in it.
            chosen.sort_by_key(|kind| match kind.group {
                Group::Style => 0,
                Group::Brackets | Group::Doubtful | Group::Local => 1,
                Group::Around | Group::Encoded => 2,
            });
            for kind in &chosen {
                let change = kind.damage(&draft, &mut random)?;
                draft.make(change).then_some(())?;
            }
            Self::new(&draft, value, chosen)
        })
    }

    /// A document in which so many signs, each any bracket, comma, colon or quote of a string, are lost, doubled,
    /// swapped with what follows, or another sign. Nobody chose these places, and another reading may be as good.
    #[must_use]
    pub fn of_any_signs(count: usize, seed: u64) -> Option<Self> {
        let mut random = Seed::of(b"any signs").with(seed);
        (0..20).find_map(|_| {
            let (value, draft) = document(&mut random);
            let (mut body, end) = draft.write();
            let mut signs = draft.signs();
            let chosen =
                (0..count.min(signs.len())).map(|_| signs.swap_remove(random.below(signs.len())));
            let mut chosen: Vec<usize> = chosen.collect();
            chosen.sort_unstable();
            for &at in chosen.iter().rev() {
                damage_sign(&mut body, at, &mut random);
            }
            Self::of_body((body, end), Vec::new(), value, Vec::new())
        })
    }

    fn new(draft: &Draft, value: Value, kinds: Vec<Kind>) -> Option<Self> {
        Self::of_body(draft.write(), draft.around().to_vec(), value, kinds)
    }

    fn of_body(
        (body, end): (String, usize),
        around: Vec<Around>,
        value: Value,
        kinds: Vec<Kind>,
    ) -> Option<Self> {
        let text = around.iter().fold(body.clone(), |text, around| around.apply(&text));
        // What is valid JSON is not damaged.
        let damaged = !crate::oracle::is_json(text.as_bytes());
        damaged.then_some(Self { text, kinds, value, cut: false, body: (body, end), around })
    }

    /// The same text without its end, which begins before the last bracket of the document. `None` if
    /// what is left looks like a whole document.
    #[must_use]
    pub fn cut_off(&self, seed: u64) -> Option<Self> {
        let (body, end) = &self.body;
        let mut at = 1 + Seed::of(self.text.as_bytes()).with(seed).below(*end);
        while !body.is_char_boundary(at) {
            at -= 1;
        }
        let body = body.get(..at)?;
        if ['"', '\''].into_iter().any(|quote| looks_whole(body, quote)) {
            return None;
        }
        let text =
            self.around.iter().fold(body.to_owned(), |text, around| around.apply_to_start(&text));
        Some(Self { text, cut: true, body: (body.to_owned(), at), ..self.clone() })
    }
}

impl fmt::Debug for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` after {:?}", self.text, self.kinds)
    }
}

/// Damages the sign at a place of a text.
fn damage_sign(text: &mut String, at: usize, seed: &mut Seed) {
    const SIGNS: [char; 7] = ['{', '}', '[', ']', ',', ':', '"'];
    let Some(sign) = text[at..].chars().next() else { return };
    match seed.below(4) {
        0 => {
            text.remove(at);
        }
        1 => text.insert(at, sign),
        2 => {
            text.remove(at);
            let next = text[at..].chars().next().map_or(0, char::len_utf8);
            text.insert(at + next, sign);
        }
        _ => {
            let others: Vec<char> = SIGNS.into_iter().filter(|other| *other != sign).collect();
            text.remove(at);
            text.insert(at, *seed.pick(&others).unwrap_or(&sign));
        }
    }
}

fn document(seed: &mut Seed) -> (Value, Draft) {
    let value = originals::original(seed);
    let layout = Layout::any(seed);
    let pieces = draft::pieces(&value, layout);
    (value, Draft::new(pieces))
}

/// Whether two kinds may be combined, so that one value is still right.
fn combine(one: Kind, other: Kind) -> bool {
    use Group::{Around, Brackets, Doubtful, Encoded, Local, Style};
    let apart = match one.group {
        Around => matches!(other.group, Around | Encoded),
        Brackets => matches!(other.group, Brackets | Doubtful),
        Doubtful => matches!(other.group, Brackets | Doubtful | Style),
        Encoded => matches!(other.group, Around | Encoded | Style),
        Local => false,
        Style => matches!(other.group, Doubtful | Encoded | Style),
    };
    one != other && !apart
}

/// Whether all brackets of a text are closed somewhere, with strings in these quotes. A closer of the
/// wrong shape may also close all up to the next opener of its own shape.
fn looks_whole(text: &str, quote: char) -> bool {
    let (mut open, mut inside, mut escaped) = (Vec::new(), false, false);
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if inside => escaped = true,
            _ if c == quote => inside = !inside,
            _ if inside => {}
            '{' | '[' => open.push(c),
            '}' | ']' => {
                let own = if c == '}' { '{' } else { '[' };
                let closed = open.iter().rposition(|opener| *opener == own);
                open.truncate(closed.unwrap_or(open.len().saturating_sub(1)));
            }
            _ => {}
        }
        if open.is_empty() && !c.is_whitespace() {
            return true;
        }
    }
    false
}
