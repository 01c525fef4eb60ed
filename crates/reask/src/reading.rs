//! Reads an answer: local repair, with all that is known about what was asked.

use jsonmend_core::{JsonType, Outcome};
use jsonmend_extract::Scope;
use jsonmend_schema::{Fitted, Schema, Tree};
use jsonmend_wire::FinishReason;

use crate::{
    Answer, ReaskOptions,
    fields::Fields,
    join::{self, Joined},
};

/// What was asked last.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    Whole,
    Fields(Box<Fields>),
    Rest { prefix: String },
}

/// An answer, as far as it could be made to fit.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    /// The text that was fitted.
    pub(crate) text: String,
    pub(crate) fitted: Fitted,
    /// Whether the text ends before the value does.
    pub(crate) is_cut: bool,
    is_complete: bool,
}

impl Reading {
    /// The value, if it is valid and complete.
    pub(crate) fn value(&self) -> Option<&str> {
        self.fitted.text().filter(|_| self.is_complete)
    }

    /// The JSON in the text, whether valid or not.
    pub(crate) fn json(&self) -> Option<&str> {
        self.fitted.mended().or(self.fitted.text())
    }
}

/// Reads an answer to what was asked.
pub(crate) fn read(
    schema: &Schema,
    options: &ReaskOptions,
    asked: &Asked,
    answer: &Answer,
    is_shown: bool,
) -> Reading {
    let content = answer.readable();
    let plain = |text: &str| read_text(schema, options, answer, text);
    match asked {
        Asked::Whole => plain(&content),
        Asked::Fields(fields) => {
            let merged: Vec<Reading> =
                fields.merge(&content).iter().map(|text| merged(schema, options, text)).collect();
            if let Some(valid) = merged.iter().find(|reading| reading.value().is_some()) {
                return valid.clone();
            }
            // The model may have sent the whole value.
            let whole = plain(&content);
            if whole.value().is_some() {
                return whole;
            }
            merged.into_iter().next().unwrap_or(whole)
        }
        Asked::Rest { prefix } => {
            let joined = join::readings(prefix, &content, is_shown);
            let read = |joined: &Joined| {
                let mut reading = plain(&joined.text);
                let as_it_is = reading.fitted.risk().is_none();
                reading.is_complete &= as_it_is || !joined.is_exact;
                (joined.is_exact, reading)
            };
            let mut readings: Vec<(bool, Reading)> = joined.iter().map(read).collect();
            // Of the ones that are complete, the one with the lowest risk, and the first of equals.
            let best = readings
                .iter()
                .enumerate()
                .filter(|(_, (_, reading))| reading.value().is_some())
                .min_by_key(|(_, (_, reading))| reading.fitted.risk())
                .map(|(at, _)| at);
            let likely = readings.iter().position(|(is_exact, _)| !is_exact);
            readings.swap_remove(best.or(likely).unwrap_or_default()).1
        }
    }
}

fn read_text(schema: &Schema, options: &ReaskOptions, answer: &Answer, text: &str) -> Reading {
    let fit = options.fit.clone();
    let fit = if answer.is_call { fit.with_scope(Scope::Whole) } else { fit };
    let fitted = schema.fit(text.as_bytes(), &fit);
    let is_clean = answer.finish.is_clean() && answer.lost.is_none();
    // The last digit of a number, and the end of a list of words, cannot be told from the middle of one.
    let open_ended = !is_clean && fitted.text().is_some_and(is_scalar);
    let is_complete = fitted.outcome().is_complete() && !answer.doubtful && !open_ended;
    // What ended by itself has ended, even if it looks cut off: the same outcome as for a cut.
    let is_cut = answer.lost.is_none()
        && (answer.doubtful
            || open_ended
            || fitted.cut_at().is_some()
            || fitted.outcome() == Outcome::Cut);
    Reading { text: text.to_owned(), fitted, is_cut, is_complete }
}

/// A value that was put together here is complete, and is JSON text.
fn merged(schema: &Schema, options: &ReaskOptions, text: &str) -> Reading {
    let fitted = schema.fit(text.as_bytes(), &options.fit.clone().with_scope(Scope::Whole));
    let is_complete = fitted.outcome().is_complete();
    Reading { text: text.to_owned(), fitted, is_cut: false, is_complete }
}

fn is_scalar(text: &str) -> bool {
    let scalar = |kind: JsonType| !kind.is_container() && kind != JsonType::String;
    Tree::read(text).is_ok_and(|tree| scalar(tree.root().kind()))
}

/// Whether the model, or a filter, declined.
pub(crate) const fn is_refusal(finish: FinishReason) -> bool {
    matches!(finish, FinishReason::ContentFilter | FinishReason::Refusal)
}
