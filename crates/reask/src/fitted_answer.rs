//! An answer as far as it could be made to fit: local repair, with all that is known about what was asked.
//!
//! An answer may be a value, a call that was written into the text, the fields that were asked for, or the rest of an
//! answer that was cut off.

use core::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::Value;
use wiremend_core::{JsonType, MendOptions, Outcome, Path, Risk, Step, mend};
use wiremend_extract::{
    CallEnd, CallExtractor, CallOutcome, CallSink, CallStart, FoundCall, FoundCalls, Scope, find,
};
use wiremend_schema::{FitOptions, Fitted, Issue, IssueCode, Node, Registry, Schema, Tree};
use wiremend_wire::FinishReason;

use crate::{
    Answer, ReaskOptions,
    continuation::{self, End, Joined, Kind, is_begun_json},
    fields::{Fields, repeats_a_key},
    subschema::{Child, child},
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
pub(crate) struct FittedAnswer {
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

impl FittedAnswer {
    /// The value, if it is valid and complete.
    pub(crate) fn value(&self) -> Option<&str> {
        self.fitted.text().filter(|_| self.is_complete)
    }

    /// The highest risk of what was done to get from the answers to the value, or to the JSON if that is not valid.
    pub(crate) fn risk(&self, options: &FitOptions) -> Option<Risk> {
        let own = match self.json() {
            Some(json) if self.fitted.text().is_none() && json != self.text.trim_ascii() => {
                // The repairs are listed for a valid value only.
                let mended = find(self.text.as_bytes(), options.scope(), options.mending());
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
) -> FittedAnswer {
    let is_rest = matches!(asked, Asked::Rest { .. });
    let tool = options.tool.as_deref().filter(|_| !answer.is_call && !is_rest && !is_shown);
    let Some(tool) = tool else {
        let own = read_as_it_is(schema, &options.fit, asked, answer, is_shown);
        return FittedAnswer { is_call: answer.is_call, ..own };
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
    let Some((call, risk)) = call_in(answer, tool, question, fit.mending()) else { return plain };
    let call = read_as_it_is(schema, &fit, asked, &call, is_shown).with_risk(risk);
    if call.json().is_some() { FittedAnswer { is_call: true, ..call } } else { plain }
}

fn read_as_it_is(
    schema: &Schema,
    fit: &FitOptions,
    asked: &Asked,
    answer: &Answer,
    is_shown: bool,
) -> FittedAnswer {
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
            let rank = |reading: &FittedAnswer| {
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
            let joined = continuation::readings(prefix, &content, is_shown);
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
    plain: impl Fn(&str) -> FittedAnswer,
) -> FittedAnswer {
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
    let mut readings: Vec<(Kind, FittedAnswer)> = Vec::new();
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
    let begins = |reading: &FittedAnswer| {
        reading.text.len() > prefix.len() && reading.text.starts_with(prefix)
    };
    // What needs no repair so far goes on as it is, even if it looks like a new beginning, or if a part of it is a value.
    let goes_on = |(kind, reading): &(Kind, FittedAnswer)| {
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
            let is_likely = |(kind, _): &(Kind, FittedAnswer)| *kind == Kind::Likely;
            let likely = going_on.or_else(|| readings.iter().position(is_likely));
            let likely = readings.swap_remove(likely.unwrap_or_default()).1;
            // What has a key twice is no better than what there was before.
            if likely.json().is_some_and(repeats_a_key) { plain(prefix) } else { likely }
        }
    }
}

fn read_text(schema: &Schema, fit: &FitOptions, answer: &Answer, text: &str) -> FittedAnswer {
    let fit = fit.clone();
    let fit = if answer.is_call { fit.with_scope(Scope::Whole) } else { fit };
    let fitted = schema.fit(text.as_bytes(), &fit);
    let is_clean = answer.finish.is_clean() && answer.lost.is_none();
    let has_ended = answer.has_ended() && (is_clean || is_closed(text));
    let is_complete = fitted.outcome().is_complete() && has_ended;
    // What ended by itself has ended, even if it looks cut off: the same outcome as for a cut.
    let is_cut = answer.lost.is_none()
        && (!has_ended || fitted.cut_at().is_some() || fitted.outcome() == Outcome::Cut);
    FittedAnswer {
        text: text.to_owned(),
        fitted,
        is_cut,
        is_complete,
        together: None,
        is_call: false,
    }
}

/// Whether the value in a text has certainly ended, with its own bracket or quote. More digits could follow a
/// number, and more words a list of words.
fn is_closed(text: &str) -> bool {
    let mended = find(text.as_bytes(), Scope::Best, &MendOptions::new());
    let kind = mended.text().and_then(|text| Some(Tree::read(text).ok()?.root().kind()));
    mended.outcome().is_complete()
        && kind.is_some_and(|kind| {
            kind.is_container() || kind == JsonType::String && text.trim_end().ends_with('"')
        })
}

/// A value that was put together here is complete, and is JSON text.
fn merged(schema: &Schema, fit: &FitOptions, text: &str) -> FittedAnswer {
    let fitted = schema.fit(text.as_bytes(), &fit.clone().with_scope(Scope::Whole));
    let is_complete = fitted.outcome().is_complete();
    FittedAnswer {
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

/// The calls, and where each of them is in the rest of the text: how much there is before its beginning, and before its
/// end.
#[derive(Default)]
struct Calls {
    found: FoundCalls,
    places: Vec<(usize, usize)>,
}

impl CallSink for Calls {
    fn text(&mut self, bytes: &[u8]) {
        CallSink::text(&mut self.found, bytes);
    }

    fn content(&mut self, text: &[u8]) {
        self.found.content(text);
    }

    fn text_was_reasoning(&mut self) {
        self.found.text_was_reasoning();
    }

    fn begin(&mut self, call: &CallStart<'_>) {
        let at = self.found.text().len();
        self.places.push((at, at));
        self.found.begin(call);
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.found.raw(bytes);
    }

    fn arguments(&mut self, json: &[u8]) {
        self.found.arguments(json);
    }

    fn id(&mut self, id: &str) {
        self.found.id(id);
    }

    fn end(&mut self, end: &CallEnd) {
        if let Some((_, place)) = self.places.last_mut() {
            *place = self.found.text().len();
        }
        self.found.end(end);
    }
}

/// The first complete call of the tool in a text, as an answer, and the risk of how its arguments became JSON.
///
/// What is said about a call is no call, and neither is a call in a string of a value, which may be anybody's words: the
/// call has to have its lines for itself, and nothing before it may be JSON.
fn call_in(
    answer: &Answer,
    tool: &str,
    schema: &Schema,
    engine: &MendOptions,
) -> Option<(Answer, Option<Risk>)> {
    let tools = Registry::new().with_tool(tool, schema.clone()).tools();
    let mut reader = CallExtractor::new(engine.clone()).with_tools(tools);
    let mut calls = Calls::default();
    reader.push(answer.content().as_bytes(), &mut calls);
    // Where the model did not end the text, a call that nothing ends may lack a part.
    match answer.finish.is_clean() {
        true => reader.finish_at_eos(&mut calls),
        false => reader.finish(&mut calls),
    }
    let is_whole = |call: &FoundCall| {
        call.name() == tool && call.outcome().can_run() && call.known() && !call.in_reasoning()
    };
    let found = calls.found.calls().iter().zip(&calls.places);
    let (call, (begin, end)) = found.into_iter().find(|(call, _)| is_whole(call))?;
    let (before, _) = calls.found.text().split_at_checked(*begin)?;
    let (_, after) = calls.found.text().split_at_checked(*end)?;
    let own_line = |line: Option<&[u8]>| line.is_none_or(|line| line.trim_ascii().is_empty());
    let is_line_end = |byte: &u8| *byte == b'\n';
    if before.iter().any(|byte| matches!(byte, b'{' | b'"'))
        || !own_line(before.rsplit(is_line_end).next())
        || !own_line(after.split(is_line_end).next())
    {
        return None;
    }
    let json = core::str::from_utf8(call.arguments()).ok()?;
    let mended = mend(call.raw(), engine);
    let (text, risk) = match core::str::from_utf8(call.raw()) {
        // The fit repairs what the model wrote, and accounts for it.
        Ok(raw) if mended.outcome().is_complete() && mended.text() == Some(json) => (raw, None),
        _ if call.outcome() == CallOutcome::Whole => (json, None),
        _ => (json, Some(Risk::Likely)),
    };
    let mut own = Answer::arguments(text);
    own.ended = Some(answer.ended.unwrap_or(true));
    Some((own, risk))
}

/// Whether an issue is only about the end of a text that was cut off, so that the value there may still become valid.
pub(crate) fn is_open(source: &Value, issue: &Issue, cut_at: Option<&Path>) -> bool {
    if issue.code() == IssueCode::Truncated {
        return true;
    }
    let is_last = cut_at.is_some_and(|cut_at| cut_at.steps() == issue.path().steps());
    is_last
        && match issue.code() {
            IssueCode::Length => keyword(issue) == "minLength",
            IssueCode::Range => may_reach_bound(source, issue),
            IssueCode::Format | IssueCode::Pattern => true,
            IssueCode::Const | IssueCode::Enum => is_begun(source, issue),
            _ => false,
        }
}

/// The keyword of the schema that the value does not satisfy.
fn keyword(issue: &Issue) -> &str {
    issue.schema_path().rsplit('/').next().unwrap_or_default()
}

/// Whether further digits can bring a number that was cut off within its bound. They only ever make
/// it larger in magnitude, and after a point by less than one of its last place.
fn may_reach_bound(source: &Value, issue: &Issue) -> bool {
    let number = issue.received().raw();
    let (is_negative, digits) = match number.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number),
    };
    let is_below = matches!(keyword(issue), "minimum" | "exclusiveMinimum");
    if is_below == is_negative {
        return false;
    }
    // An exponent can make it anything.
    if digits.contains(['e', 'E']) {
        return true;
    }
    let place = match digits.split_once('.') {
        Some((_, decimals)) => 0.1_f64.powi(decimals.len().try_into().unwrap_or(i32::MAX)),
        None if digits == "0" => 1.0,
        None => return true,
    };
    let bound = source.pointer(issue.schema_path()).and_then(Value::as_f64);
    let magnitude = digits.parse::<f64>().ok();
    bound.zip(magnitude).is_none_or(|(bound, magnitude)| magnitude + place > bound.abs())
}

/// Whether the text that an issue is about is the beginning of one that the schema lists.
fn is_begun(source: &Value, issue: &Issue) -> bool {
    let received = issue.received();
    let begun = serde_json::from_str::<String>(received.raw()).ok();
    let (Some(begun), Some(listed)) = (begun, source.pointer(issue.schema_path())) else {
        return false;
    };
    let all = listed.as_array().map_or(std::slice::from_ref(listed), Vec::as_slice);
    all.iter().filter_map(Value::as_str).any(|listed| listed.starts_with(&begun))
}

/// The text of an answer that was cut off, without white space that is not in a string.
pub(crate) fn without_space(reading: &FittedAnswer) -> &str {
    let text = reading.text.as_str();
    let trimmed = text.trim_end();
    // If white space is part of a value or of a key, that is shorter without it.
    let is_inside =
        || End::of(text) == End::InString || is_begun_json(text) && ends_in_quotes(text);
    if trimmed.len() < text.len() && is_inside() { text } else { trimmed }
}

/// Whether JSON text ends after a quote that nothing has closed.
fn ends_in_quotes(text: &str) -> bool {
    let (mut is_inside, mut is_escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_inside,
            b'"' => is_inside = !is_inside,
            _ => {}
        }
    }
    is_inside
}

// How near an answer is to a valid one.

/// How near an answer is to a valid one. The lower one is nearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rank {
    pub(crate) form: Form,
    /// How many single values are good. Those that the schema does not know do not count.
    good: u64,
    pub(crate) issues: u64,
}

/// What kind of answer it is, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    Whole,
    Cut,
    /// Nothing in it is good.
    Empty,
    /// JSON of another type than the schema asks for, or the schema itself.
    Other,
    NoJson,
}

impl Rank {
    pub(crate) fn of(source: &Value, json: Option<&str>, issues: &[Issue], is_cut: bool) -> Self {
        let is_other = |issue: &Issue| {
            let codes = [IssueCode::Type, IssueCode::SchemaEcho, IssueCode::Overflow];
            issue.pointer().is_empty() && codes.contains(&issue.code())
        };
        let tree = json.and_then(|json| Tree::read(json).ok());
        // What repair mends is as good as what was right. If it mends all there is, there is another reason why the
        // whole does not fit.
        let wrong: Vec<&Issue> = issues.iter().filter(|issue| !is_mended(issue)).collect();
        let wrong = if wrong.is_empty() { issues.iter().collect() } else { wrong };
        let (form, good) = match tree {
            None => (Form::NoJson, 0),
            Some(_) if issues.iter().any(is_other) => (Form::Other, 0),
            Some(tree) => {
                let good = good(source, Some(source), tree.root(), Some(&Marks::of(&wrong)));
                match (good, is_cut) {
                    (0, _) if !issues.is_empty() => (Form::Empty, 0),
                    (good, true) => (Form::Cut, good),
                    (good, false) => (Form::Whole, good),
                }
            }
        };
        Self { form, good, issues: u64::try_from(wrong.len()).unwrap_or(u64::MAX) }
    }

    /// Whether there is less to correct than in the other answer: what the loop takes for progress.
    pub(crate) fn is_progress(&self, other: &Self) -> bool {
        self < other && (self.form < other.form || self.issues < other.issues)
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        // Of the values that there should be, the share of those that are good. A short answer has few
        // issues, and an answer to another question has none but for what is missing.
        let share = |own: &Self, other: &Self| {
            u128::from(own.good) * (u128::from(other.good) + u128::from(other.issues))
        };
        let by_share = || share(other, self).cmp(&share(self, other));
        self.form.cmp(&other.form).then_with(by_share).then_with(|| self.issues.cmp(&other.issues))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Whether repair mends what an issue is about as soon as the rest fits, and more than guesses it.
pub(crate) fn is_mended(issue: &Issue) -> bool {
    issue.mended_by().is_some_and(|(_, risk)| risk <= Risk::Likely)
}

/// The places that issues are about.
#[derive(Debug, Default)]
struct Marks {
    is_wrong: bool,
    below: BTreeMap<String, Marks>,
}

impl Marks {
    fn of(issues: &[&Issue]) -> Self {
        let mut all = Self::default();
        // What is missing has no value, and the object that it is missing in may be good otherwise.
        for issue in issues.iter().filter(|issue| issue.missing().is_none()) {
            let mut place = &mut all;
            for step in issue.path().steps() {
                let step = match step {
                    Step::Key(key) => key.to_string(),
                    Step::Index(index) => index.to_string(),
                };
                place = place.below.entry(step).or_default();
            }
            // Of the whole, only the type says that nothing in it is of use.
            place.is_wrong = !issue.path().steps().is_empty();
        }
        all
    }
}

/// The depth is that of the tree, which is limited. Without a schema, every value is known.
fn good(root: &Value, schema: Option<&Value>, node: Node<'_>, marks: Option<&Marks>) -> u64 {
    if marks.is_some_and(|marks| marks.is_wrong) {
        return 0;
    }
    if !node.is_container() {
        return 1;
    }
    let marks = marks.filter(|marks| !marks.below.is_empty());
    let mut all = 0u64;
    for (index, own) in node.children().enumerate() {
        let step = match own.key() {
            Some(key) => Step::Key(key.as_ref().into()),
            None => Step::Index(index),
        };
        let inner = match schema.map(|schema| child(root, schema, &step)) {
            None | Some(Child::Unknown) => None,
            Some(Child::Described(schema)) => Some(schema),
            Some(Child::Undeclared) => continue,
        };
        let below = marks.and_then(|marks| match &step {
            Step::Key(key) => marks.below.get(&**key),
            Step::Index(index) => marks.below.get(&index.to_string()),
        });
        all = all.saturating_add(good(root, inner, own, below));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiremend_schema::{FitOptions, Schema};

    const TRIP: &str = r#"{"type": "object", "properties": {
        "city": {"type": "string"}, "days": {"type": "integer"}, "stops": {"type": "array", "items": {"type": "string"}}
    }, "required": ["days"]}"#;

    fn rank(text: &str) -> Rank {
        let schema = Schema::from_text(TRIP).unwrap_or_else(|e| panic!("{e}"));
        let fitted = schema.fit(text.as_bytes(), &FitOptions::new());
        let json = fitted.mended().or(fitted.text());
        Rank::of(schema.source(), json, fitted.issues(), fitted.cut_at().is_some())
    }

    #[test]
    fn what_holds_more_of_what_was_asked_for_is_nearer() {
        // From the best to the worst.
        let texts = [
            r#"{"city": "Oslo", "stops": ["Voss", "Gol"], "days": "a few"}"#,
            r#"{"city": "Oslo", "days": "a few"}"#,
            r#"{"city": "Oslo", "stops": [{}, {}], "days": "a few"}"#,
            r#"{"city": "Oslo", "stops": ["Vo"#,
            r#"{"state": "fine", "code": 7}"#,
            "[1, 2, 3]",
            "I do not know.",
        ];
        let ranks = texts.map(rank);
        for (pair, texts) in ranks.windows(2).zip(texts.windows(2)) {
            assert!(pair[0] < pair[1], "{texts:?} {pair:?}");
        }
        // What repair mends once the rest fits is as good as what is right, and correcting it is no progress.
        let mended = rank(r#"{"city": "Oslo", "stops": "[\"Voss\", \"Gol\"]", "days": "a few"}"#);
        assert!(mended < ranks[1] && !ranks[0].is_progress(&mended));
        assert_eq!(rank(r#"{"city": 7, "days": "a few"}"#), ranks[1]);
        // One issue fewer is progress, and one good value more is none.
        assert!(rank(texts[1]).is_progress(&rank(texts[2])));
        assert!(!rank(texts[0]).is_progress(&rank(texts[1])));
        assert_eq!(
            rank(texts[1]).cmp(&rank(r#"{"city": "Bergen", "days": "some"}"#)),
            Ordering::Equal
        );
    }
}
