//! Reads an answer: local repair, with all that is known about what was asked.

use std::collections::HashSet;

use wiremend_core::{JsonType, Options, Outcome, Risk};
use wiremend_extract::{Scope, mend_text};
use wiremend_schema::{FitOptions, Fitted, Node, Schema, Tree};
use wiremend_wire::FinishReason;

use crate::{
    Answer, ReaskOptions,
    fields::Fields,
    in_text::call_in,
    join::{self, End, Joined, Kind, is_begun_json},
    rank::Rank,
};

/// What was asked last.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    Whole,
    Fields(Box<Fields>),
    /// `risk` is that of how the prefix was put together.
    Rest {
        prefix: String,
        risk: Option<Risk>,
    },
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
    /// The risk of how the text was put together from several answers.
    pub(crate) together: Option<Risk>,
    /// Whether the answer was a call, or had one in its text.
    pub(crate) is_call: bool,
}

impl Reading {
    /// The value, if it is valid and complete.
    pub(crate) fn value(&self) -> Option<&str> {
        self.fitted.text().filter(|_| self.is_complete)
    }

    /// The highest risk of what was done to get from the answers to the value, or to the JSON if that is not valid.
    pub(crate) fn risk(&self, options: &FitOptions) -> Option<Risk> {
        let own = match self.json() {
            Some(json) if self.fitted.text().is_none() && json != self.text.trim_ascii() => {
                // The repairs are listed for a valid value only.
                let mended = mend_text(self.text.as_bytes(), options.scope(), options.engine());
                let same = mended.text().is_some_and(|text| text.trim_ascii() == json.trim_ascii());
                if same { mended.repairs().risk() } else { Some(Risk::Likely) }
            }
            _ => self.fitted.risk(),
        };
        own.max(self.together)
    }

    fn with_risk(mut self, risk: Option<Risk>) -> Self {
        self.together = self.together.max(risk);
        self
    }

    /// The JSON in the text, whether valid or not.
    pub(crate) fn json(&self) -> Option<&str> {
        self.fitted.mended().or(self.fitted.text())
    }
}

/// Reads an answer to what was asked. A text in answer to the question for a call may have that call in it, in one of the
/// forms of prompts.
pub(crate) fn read(
    schema: &Schema,
    options: &ReaskOptions,
    asked: &Asked,
    answer: &Answer,
    is_shown: bool,
) -> Reading {
    let is_rest = matches!(asked, Asked::Rest { .. });
    let tool = options.tool.as_deref().filter(|_| !answer.is_call && !is_rest && !is_shown);
    let Some(tool) = tool else {
        let own = read_as_it_is(schema, &options.fit, asked, answer, is_shown);
        return Reading { is_call: answer.is_call, ..own };
    };
    // Both together take at most as much work as one text may.
    let fit = options.fit.clone().with_steps(options.fit.steps() / 2);
    let plain = read_as_it_is(schema, &fit, asked, answer, is_shown);
    // Arguments are an object. A schema without a type takes the words of a call for a list or a string.
    if plain.value().is_some_and(|value| value.trim_start().starts_with('{')) {
        return plain;
    }
    let question = match asked {
        Asked::Fields(fields) => fields.schema(),
        _ => schema,
    };
    let Some((call, risk)) = call_in(answer, tool, question, fit.engine()) else { return plain };
    let call = read_as_it_is(schema, &fit, asked, &call, is_shown).with_risk(risk);
    if call.json().is_some() { Reading { is_call: true, ..call } } else { plain }
}

fn read_as_it_is(
    schema: &Schema,
    fit: &FitOptions,
    asked: &Asked,
    answer: &Answer,
    is_shown: bool,
) -> Reading {
    let content = answer.readable();
    let share = |parts: u64| fit.clone().with_steps(fit.steps() / parts.max(1));
    let plain = |text: &str, fit: &FitOptions| read_text(schema, fit, answer, text);
    match asked {
        Asked::Whole => plain(&content, fit),
        Asked::Fields(fields) => {
            let has_ended = answer.finish.is_clean() || is_closed(&content);
            let may = answer.has_ended() && has_ended;
            // The reply is read for its fields in up to two ways, put into the rest in up to five, and read as the
            // whole value. Together, that is about as much work as one text may take.
            let fit = share(8);
            let whole = || plain(&content, &fit);
            if !may {
                return whole();
            }
            let mut first = None;
            for (text, risk) in &fields.merge(&content, fit.steps()) {
                let reading = merged(schema, &fit, text).with_risk(*risk);
                if reading.value().is_some() {
                    return reading;
                }
                first.get_or_insert(reading);
            }
            // The model may have sent the whole value, in which it may change parts that it was not asked for.
            let whole = whole();
            let difference = whole.json().and_then(|sent| fields.difference(sent));
            let is_short = difference.is_some_and(|difference| difference.lacks);
            if whole.value().is_some() && !is_short {
                // Parts that were good may be other ones now.
                let changes = difference.is_some_and(|difference| difference.contradicts);
                return whole.with_risk(changes.then_some(Risk::Likely));
            }
            // Or it has sent the fields with something else, or a part of the value with the fields in their places.
            let loose = fields.merge_loosely(&content);
            let placed = whole.json().zip(difference);
            let placed = placed.and_then(|(sent, difference)| fields.merge_whole(sent, difference));
            let placed = placed.map(|text| (text, whole.risk(&fit).max(fields.risk())));
            for (text, risk) in loose.iter().chain(&placed) {
                let reading = merged(schema, &fit, text).with_risk(*risk);
                if reading.value().is_some() {
                    return reading;
                }
                first.get_or_insert(reading);
            }
            let rank = |reading: &Reading| {
                let (json, issues) = (reading.json(), reading.fitted.issues());
                Rank::of(schema.source(), json, issues, reading.is_cut)
            };
            match first {
                // The model may have sent a better value instead of what it was asked for.
                Some(first) if !is_short && rank(&whole) < rank(&first) => whole,
                Some(first) => first,
                // What lacks a part that was good is no better than what there was before.
                None if is_short => merged(schema, &fit, fields.base()).with_risk(fields.risk()),
                None => whole,
            }
        }
        Asked::Rest { prefix, risk } => {
            let joined = join::readings(prefix, &content, is_shown);
            // One of them may lead back to what there was before.
            let fit = share(u64::try_from(joined.len()).unwrap_or(u64::MAX).saturating_add(1));
            let may_go_on = !answer.finish.is_clean();
            rest((prefix, may_go_on), &joined, |text| plain(text, &fit)).with_risk(*risk)
        }
    }
}

/// Reads what came after an answer that was cut off: the way that fits best. `may_go_on` says whether it was cut off again.
fn rest(
    (prefix, may_go_on): (&str, bool),
    joined: &[Joined],
    plain: impl Fn(&str) -> Reading,
) -> Reading {
    let ends_in_string = End::of(prefix) == End::InString;
    let read = |joined: &Joined| {
        let reading = plain(&joined.text);
        let as_it_is = reading.fitted.risk().is_none();
        // Something was left out of it, or it goes on inside of a string, where anything may be said.
        let is_joined = joined.text.len() > prefix.len() && joined.text.starts_with(prefix);
        let is_doubtful = !joined.is_plain || is_joined && ends_in_string;
        let mut reading = reading.with_risk(is_doubtful.then_some(Risk::Likely));
        reading.is_complete &= as_it_is || joined.kind != Kind::Exact;
        // A model that begins anew inside of an object states its keys a second time.
        reading.is_complete &= !reading.value().is_some_and(repeats_a_key);
        reading
    };
    let mut readings: Vec<(Kind, Reading)> = Vec::new();
    for joined in joined {
        let reading = read(joined);
        // No other one has a lower risk; or all of them, which have the same beginning, are too much work.
        let is_enough = reading.value().is_some() && reading.fitted.risk().is_none()
            || reading.fitted.outcome() == Outcome::Overflow;
        readings.push((joined.kind, reading));
        if is_enough {
            break;
        }
    }
    let begins =
        |reading: &Reading| reading.text.len() > prefix.len() && reading.text.starts_with(prefix);
    // What needs no repair so far goes on as it is, even if it looks like a new beginning, or if a part of it is a value.
    let goes_on = |(kind, reading): &(Kind, Reading)| {
        *kind != Kind::Rival && reading.is_cut && begins(reading) && is_begun_json(&reading.text)
    };
    let going_on = if may_go_on { readings.iter().position(goes_on) } else { None };
    // Of the ones that are complete, the one with the lowest risk, and the first of equals.
    let complete = readings.iter().enumerate().filter(|(_, (_, reading))| {
        reading.value().is_some() && (going_on.is_none() || begins(reading))
    });
    let best = complete.min_by_key(|(_, (_, reading))| reading.fitted.risk());
    match best {
        // It fits better without its first line, which may be words to the reader or words of the value.
        Some((_, (Kind::Rival, _))) => plain(prefix),
        Some((at, _)) => readings.swap_remove(at).1,
        None => {
            let is_likely = |(kind, _): &(Kind, Reading)| *kind == Kind::Likely;
            let likely = going_on.or_else(|| readings.iter().position(is_likely));
            let likely = readings.swap_remove(likely.unwrap_or_default()).1;
            // What has a key twice is no better than what there was before.
            if likely.json().is_some_and(repeats_a_key) { plain(prefix) } else { likely }
        }
    }
}

/// Whether an object in a JSON text has two members of one name.
pub(crate) fn repeats_a_key(text: &str) -> bool {
    let Ok(tree) = Tree::read(text) else { return false };
    let mut left = vec![tree.root()];
    while let Some(node) = left.pop() {
        let mut keys = HashSet::new();
        if !node.children().filter_map(|child| child.key()).all(|key| keys.insert(key)) {
            return true;
        }
        left.extend(node.children().filter(Node::is_container));
    }
    false
}

fn read_text(schema: &Schema, fit: &FitOptions, answer: &Answer, text: &str) -> Reading {
    let fit = fit.clone();
    let fit = if answer.is_call { fit.with_scope(Scope::Whole) } else { fit };
    let fitted = schema.fit(text.as_bytes(), &fit);
    let is_clean = answer.finish.is_clean() && answer.lost.is_none();
    let has_ended = answer.has_ended() && (is_clean || is_closed(text));
    let is_complete = fitted.outcome().is_complete() && has_ended;
    // What ended by itself has ended, even if it looks cut off: the same outcome as for a cut.
    let is_cut = answer.lost.is_none()
        && (!has_ended || fitted.cut_at().is_some() || fitted.outcome() == Outcome::Cut);
    Reading { text: text.to_owned(), fitted, is_cut, is_complete, together: None, is_call: false }
}

/// Whether the value in a text has certainly ended, with its own bracket or quote. More digits could follow a
/// number, and more words a list of words.
fn is_closed(text: &str) -> bool {
    let mended = mend_text(text.as_bytes(), Scope::Best, &Options::new());
    let kind = mended.text().and_then(|text| Some(Tree::read(text).ok()?.root().kind()));
    mended.outcome().is_complete()
        && kind.is_some_and(|kind| {
            kind.is_container() || kind == JsonType::String && text.trim_end().ends_with('"')
        })
}

/// A value that was put together here is complete, and is JSON text.
fn merged(schema: &Schema, fit: &FitOptions, text: &str) -> Reading {
    let fitted = schema.fit(text.as_bytes(), &fit.clone().with_scope(Scope::Whole));
    let is_complete = fitted.outcome().is_complete();
    Reading {
        text: text.to_owned(),
        fitted,
        is_cut: false,
        is_complete,
        together: None,
        is_call: false,
    }
}

/// Whether the model, or a filter, declined.
pub(crate) const fn is_refusal(finish: FinishReason) -> bool {
    matches!(finish, FinishReason::ContentFilter | FinishReason::Refusal)
}
