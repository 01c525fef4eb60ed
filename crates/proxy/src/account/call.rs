//! A call or JSON content of an answer, as it is listed and counted.

use wiremend_core::{Mended, Outcome, Repairs, Risk};
use wiremend_wire::Call;

use crate::{
    edit::{EDITS, Edit},
    fitting::FitNote,
};

/// How long a name is shown.
pub(super) const NAME: usize = 128;

/// The most bytes of a text of a call that are kept.
const TEXT: usize = 16 << 10;

/// Kinds of changes, with their number.
type Kinds = Vec<(&'static str, Risk, usize)>;

/// A call, or JSON content, of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallNote {
    /// Empty for content.
    pub(crate) tool: String,
    pub(crate) outcome: Outcome,
    /// The kinds of its repairs, with their number.
    pub(crate) repairs: Kinds,
    /// Where the first ones are, in the order of the text.
    pub(crate) edits: Vec<Edit>,
    /// What is wrong with it, by its schema.
    pub(crate) issues: usize,
    /// How long the arguments were when they came.
    pub(crate) bytes: usize,
    /// What came and what left, if that is kept.
    pub(crate) content: Option<(String, String)>,
}

impl CallNote {
    /// Describes a call. `room` is how many bytes of its content may be kept, if any are; those that
    /// are kept are taken from it.
    pub(super) fn of(call: &Call, fit: FitNote, room: Option<&mut usize>) -> Self {
        let (repairs, edits, issues) = done(fit, call.outcome(), call.repairs());
        Self {
            tool: call.name().chars().take(NAME).collect(),
            outcome: call.outcome(),
            repairs,
            edits,
            issues,
            bytes: call.raw().len(),
            content: None,
        }
        .with_content(call.raw(), call.arguments(), room)
    }

    /// Describes JSON content, in the same way.
    pub(super) fn of_content(
        raw: &str,
        mended: &Mended,
        fit: FitNote,
        room: Option<&mut usize>,
    ) -> Self {
        let (repairs, edits, issues) = done(fit, mended.outcome(), mended.repairs());
        Self {
            tool: String::new(),
            outcome: mended.outcome(),
            repairs,
            edits,
            issues,
            bytes: raw.len(),
            content: None,
        }
        .with_content(raw, mended.text().unwrap_or(raw), room)
    }

    /// Keeps what came and what left, if there is room for it.
    fn with_content(self, came: &str, left: &str, room: Option<&mut usize>) -> Self {
        let (mut edits, mut content) = (self.edits, None);
        if let Some(room) = room {
            let (came, left) = (begin(came, *room), begin(left, *room));
            let inserted: usize = edits.iter().map(|edit| edit.after.len()).sum();
            let size = came.len() + left.len() + inserted;
            if size <= *room {
                *room -= size;
                content = Some((came.to_owned(), left.to_owned()));
            }
        }
        if content.is_none() {
            edits.iter_mut().for_each(|edit| edit.after = String::new());
        }
        Self { edits, content, ..self }
    }
}

/// What was done: the kinds of changes with their number, where the first ones are, and what is wrong.
fn done(fit: FitNote, outcome: Outcome, repairs: &Repairs) -> (Kinds, Vec<Edit>, usize) {
    let FitNote { changes, edits, issues } = fit;
    // What a text that was not mended would have needed was not done.
    let (kinds, edits) = if !changes.is_empty() {
        // Together with those of the engine.
        (changes, edits)
    } else if outcome == Outcome::Repaired {
        listed(repairs)
    } else {
        Default::default()
    };
    (kinds, edits, issues)
}

/// The kinds of repairs, with their number, and where the first ones are.
fn listed(repairs: &Repairs) -> (Kinds, Vec<Edit>) {
    let kinds = repairs.kinds().map(|(kind, count)| (kind.code(), kind.risk(), count));
    let edits = repairs.iter().take(EDITS).map(|repair| Edit {
        start: repair.start(),
        end: repair.end(),
        code: repair.kind().code(),
        risk: repair.risk(),
        after: repair.after().to_owned(),
    });
    (kinds.collect(), edits.collect())
}

/// The beginning of a text.
fn begin(text: &str, room: usize) -> &str {
    let end = (0..=TEXT.min(room).min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_shortened_between_characters() {
        assert_eq!(begin("\u{e9}a", TEXT), "\u{e9}a");
        assert_eq!(begin("\u{e9}a", 1), "");
        let long = format!("a{}", "\u{e9}".repeat(TEXT));
        assert_eq!(begin(&long, usize::MAX).len(), TEXT - 1);
    }
}
