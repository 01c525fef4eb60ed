//! The state machine, which finds out that a loop is going nowhere: answers that come again, and issues that do not
//! shrink.

use core::{fmt, time::Duration};
use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use serde_json::Value;
use wiremend_core::Risk;
use wiremend_schema::{Fitted, Issue, Schema};

use crate::{
    Answer, Ask, AskKind, Failure, FailureClass, Mode, ReaskOptions, Spent,
    answer::tokens,
    ask::CallRef,
    fields::Fields,
    fitted_answer::{
        Asked, FittedAnswer, Rank, is_mended, is_open, is_refusal, read, without_space,
    },
    prompt::{self, Facts, Prompt, continuation},
};

/// The loop that turns an invalid answer into a valid one: it repairs each answer as far as it can, and says
/// what to ask next, until the value is valid or there is a reason to stop.
///
/// It makes no calls and reads no clock. The time that is passed in counts from any moment, such as the start of
/// the program, and only ever grows. After its end, the machine returns the same end again.
///
/// ```
/// use wiremend_reask::{Answer, AskKind, Reask, ReaskOptions, Step};
/// use wiremend_schema::Schema;
/// use core::time::Duration;
///
/// let schema = Schema::from_text(r#"{"type": "object", "properties": {
///     "city": {"type": "string"}, "days": {"type": "integer"}
/// }, "required": ["city", "days"]}"#)?;
/// let mut reask = Reask::new(&schema, ReaskOptions::new());
/// let now = Duration::ZERO;
///
/// // The answer has a single quote too many, which is repaired, and a wrong field, which is asked for.
/// let Step::Ask(ask) = reask.answer(&Answer::text("{'city': 'Oslo', days: 'a few'}"), now) else { panic!() };
/// assert_eq!((ask.kind(), ask.fields()), (AskKind::Fields, &["/days".to_owned()][..]));
/// assert!(ask.user_message().unwrap().contains(r#"- /days: expected integer, got string "a few""#));
///
/// // The reply is put into the rest, and the whole is validated.
/// let Step::Done(done) = reask.answer(&Answer::text(r#"{"days": 3}"#), now) else { panic!() };
/// assert_eq!(done.json(), r#"{"city": "Oslo", "days": 3}"#);
/// assert_eq!(done.spent().calls(), 2);
/// # Ok::<(), wiremend_schema::SchemaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reask {
    schema: Schema,
    options: ReaskOptions,
    started: Option<Duration>,
    now: Duration,
    spent: Spent,
    asked: Asked,
    corrections: u32,
    continuations: u32,
    progress: Repetition,
    attempts: Vec<Attempt>,
    best: Option<usize>,
    /// The answer that is corrected: the last one, unless one before was better.
    base: Option<usize>,
    is_shown: bool,
    mode: Option<Mode>,
    takes_temperature: bool,
    /// The step that was handed out, until it has been done. After the end, the end.
    pending: Option<Step>,
}

impl Reask {
    /// Creates the machine for a value with that schema.
    #[must_use]
    pub fn new(schema: &Schema, options: ReaskOptions) -> Self {
        Self {
            schema: schema.clone(),
            options,
            started: None,
            now: Duration::ZERO,
            spent: Spent::default(),
            asked: Asked::Whole,
            corrections: 0,
            continuations: 0,
            progress: Repetition::default(),
            attempts: Vec::new(),
            best: None,
            base: None,
            is_shown: false,
            mode: None,
            takes_temperature: true,
            pending: None,
        }
    }

    /// The call to make now: the original request, or what was asked last and has not been answered. A caller that
    /// has made the first request already passes its answer to [`answer`](Self::answer) instead.
    pub fn begin(&mut self, now: Duration) -> Step {
        self.pass(now);
        if let Some(pending) = self.pending.clone() {
            return match pending {
                Step::Ask(ask) | Step::Continue(ask) => match self.spent_budget(sent(&ask)) {
                    Some(reason) => self.end(reason, None),
                    None => self.hand_out(*ask),
                },
                ended => ended,
            };
        }
        match self.spent_budget(0) {
            Some(reason) => self.end(reason, None),
            None => {
                let ask = self.ask(AskKind::First, Prompt::default());
                self.hand_out(ask)
            }
        }
    }

    /// Reads an answer. A valid one, after repairs, ends the loop.
    pub fn answer(&mut self, answer: &Answer, now: Duration) -> Step {
        self.pass(now);
        if self.has_ended() {
            return self.begin(now);
        }
        let (kind, prompt) = match &self.pending {
            Some(Step::Ask(ask) | Step::Continue(ask)) => (ask.kind, sent(ask)),
            _ => (AskKind::First, 0),
        };
        let prompt = self.options.request.saturating_add(tokens(prompt));
        self.spent.add(answer.taken, prompt, answer.content().len());
        self.is_shown |= answer.shown;
        let reading = read(&self.schema, &self.options, &self.asked, answer, self.is_shown);
        let mut issues = reading.fitted.issues().to_vec();
        if let Some(lost) = answer.lost().filter(|_| reading.value().is_none()) {
            // What made the caller stop. What is missing is missing because of that.
            issues = vec![lost.issue().clone()];
        }
        let is_valid = reading.value().is_some();
        let issues = if is_valid { Vec::new() } else { issues };
        let is_cut = reading.is_cut || answer.lost().is_some() && !is_valid;
        let rank = Rank::of(self.schema.source(), reading.json(), &issues, is_cut);
        self.attempts.push(Attempt {
            kind,
            answer: answer.content().to_owned(),
            text: reading.text.clone(),
            json: reading.json().map(str::to_owned),
            issues,
            is_cut,
            rank,
            risk: reading.risk(&self.options.fit),
        });
        let better = self.note(rank);
        if is_refusal(answer.finish) {
            return self.end(EndReason::Refused, None);
        }
        if let Some(json) = reading.value() {
            let done = Done {
                json: json.to_owned(),
                risk: reading.risk(&self.options.fit),
                fitted: reading.fitted,
                attempts: self.attempts.clone(),
                spent: self.spent,
            };
            let step = Step::Done(Box::new(done));
            self.pending = Some(step.clone());
            return step;
        }
        self.next(answer, &reading, better)
    }

    /// Takes note of a call that failed. What the provider refused to constrain is asked for in another way, and the
    /// text that it could not use is read as an answer. Everything else is passed on as [`Step::Failed`]: the same
    /// call may be made again.
    pub fn failed(&mut self, failure: Failure, now: Duration) -> Step {
        self.pass(now);
        if self.has_ended() {
            return self.begin(now);
        }
        match failure.class() {
            FailureClass::FailedGeneration => {
                let text = failure.failed_generation().unwrap_or_default();
                return self.answer(&Answer::text(text), now);
            }
            // The rest of a text is asked for in text mode, whatever the mode of the others is.
            FailureClass::ModeRefused if !matches!(self.pending, Some(Step::Continue(_))) => {
                let mode = self.mode();
                if let (Some((model, memory)), false) =
                    (&self.options.memory, failure.is_about_schema())
                {
                    memory.refused(model, mode, now);
                }
                if let Some(weaker) = mode.weaker() {
                    self.mode = Some(weaker);
                    return self.begin(now);
                }
            }
            FailureClass::TemperatureRefused if self.takes_temperature => {
                self.takes_temperature = false;
                return self.begin(now);
            }
            FailureClass::Aborted => return self.end(EndReason::Failed, Some(failure)),
            _ => {}
        }
        match self.spent_budget(0) {
            Some(reason) => self.end(reason, Some(failure)),
            None => Step::Failed(failure),
        }
    }

    /// Ends the loop because of a failure.
    pub fn give_up(&mut self, failure: Failure) -> Step {
        if self.has_ended() {
            self.begin(self.now)
        } else {
            self.end(EndReason::Failed, Some(failure))
        }
    }

    /// Ends the loop because its time is over, which a driver notices while a call is open.
    pub(crate) fn run_out_of_time(&mut self) -> Step {
        self.end(EndReason::Deadline, None)
    }

    /// How much time is left until the deadline.
    pub(crate) fn time_left_at(&mut self, now: Duration) -> Option<Duration> {
        self.pass(now);
        self.time_left()
    }

    /// What all calls so far took.
    #[must_use]
    pub const fn spent(&self) -> &Spent {
        &self.spent
    }

    /// Every answer so far.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// The schema of the value.
    #[must_use]
    pub const fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Whether the loop has ended.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        matches!(self.pending, Some(Step::Done(_) | Step::Exhausted(_)))
    }

    /// What follows an answer that is not valid.
    fn next(&mut self, answer: &Answer, reading: &FittedAnswer, better: bool) -> Step {
        if let Some(step) = self.go_on(answer, reading) {
            return step;
        }
        let standstill = self.progress.record(reading.json(), &reading.text, better);
        if standstill.times >= 3 {
            return self.end(EndReason::Repeated, None);
        }
        if self.is_shown {
            return self.end(EndReason::Shown, None);
        }
        if standstill.stale >= 2 {
            return self.end(EndReason::NoProgress, None);
        }
        if self.corrections >= self.options.attempts {
            return self.end(EndReason::Attempts, None);
        }
        self.corrections += 1;
        let is_stuck = standstill.times >= 2 || standstill.stale >= 1;
        let Some((mut ask, asked)) = self.correction(answer, reading, is_stuck) else {
            return self.end(EndReason::NoProgress, None);
        };
        if let Some(reason) = self.spent_budget(sent(&ask)) {
            return self.end(reason, None);
        }
        let (first, changed) = self.options.temperatures;
        let is_last = self.corrections >= self.options.attempts && self.corrections > 1;
        ask.temperature = Some(if is_stuck || is_last { changed } else { first });
        self.asked = asked;
        self.hand_out(ask)
    }

    /// Asks for the rest of an answer that is good so far. `None` if it is not, or if it has gone on often enough.
    fn go_on(&mut self, answer: &Answer, reading: &FittedAnswer) -> Option<Step> {
        let cut_at = reading.fitted.cut_at();
        let issues = &self.attempts.last()?.issues;
        let source = self.schema.source();
        let is_good = |issue: &Issue| is_open(source, issue, cut_at) || is_mended(issue);
        let is_good = issues.iter().all(is_good);
        // The arguments of a call cannot be continued: the next call is another one. A reply with fields is
        // short, and is asked for again together with the rest.
        let is_fields = matches!(self.asked, Asked::Fields(_));
        let is_whole_text = !reading.is_call && !is_fields && !answer.is_damaged();
        let may = reading.is_cut && is_good && is_whole_text;
        let grew = match &self.asked {
            Asked::Rest { prefix, .. } => reading.text.len() > prefix.len(),
            _ => !reading.text.trim().is_empty(),
        };
        if !may || !grew || self.continuations >= self.options.continuations {
            return None;
        }
        // White space at the end is not part of the value, unless a string was cut there. Some providers
        // refuse it, and the model writes it again.
        let prefix = if self.is_shown { &reading.text } else { without_space(reading) };
        let mut ask = self.ask(AskKind::Continue, continuation(&self.options, prefix));
        ask.prefix = Some(prefix.to_owned());
        if let Some(reason) = self.spent_budget(sent(&ask)) {
            return Some(self.end(reason, None));
        }
        self.continuations += 1;
        self.asked = Asked::Rest { prefix: prefix.to_owned(), risk: reading.together };
        Some(self.hand_out(ask))
    }

    /// The question for a correction, of as little as possible. It is about the best answer, whose good parts would
    /// be lost otherwise; the hints are about the last one.
    fn correction(
        &self,
        answer: &Answer,
        reading: &FittedAnswer,
        is_stuck: bool,
    ) -> Option<(Ask, Asked)> {
        let base = self.attempts.get(self.base?)?;
        let last = self.attempts.last()?;
        let is_last = self.base == self.attempts.len().checked_sub(1);
        let is_cut = reading.is_cut && !answer.is_damaged();
        let hints = prompt::seen(&reading.text, &last.issues, is_cut, answer.other_tool.as_deref());
        let facts = Facts {
            options: &self.options,
            schema: &self.schema,
            issues: &base.issues,
            hints: &hints,
            attempt: self.corrections,
            answer: &base.text,
            is_last,
            is_call: reading.is_call,
            is_there: answer.is_call && base.text == answer.content(),
            is_fresh: is_stuck,
        };
        let json = base.json().filter(|_| !base.is_cut);
        let most = self.options.fields;
        let fields =
            json.and_then(|json| Fields::plan(&self.schema, (json, base.risk), &base.issues, most));
        let (mut ask, asked) = match fields {
            Some(fields) => {
                let mut ask = self.ask(AskKind::Fields, facts.fields(&fields));
                ask.fields = fields.pointers().map(str::to_owned).collect();
                ask.schema = fields.schema().clone();
                (ask, Asked::Fields(Box::new(fields)))
            }
            None => (self.ask(AskKind::Whole, facts.whole()), Asked::Whole),
        };
        (ask.is_fresh, ask.hints) = (is_stuck, hints);
        let name = self.options.tool.clone().filter(|_| answer.is_call && !is_stuck);
        ask.result_of = name.map(|name| CallRef { id: answer.call_id.clone(), name });
        Some((ask, asked))
    }

    fn ask(&self, kind: AskKind, prompt: Prompt) -> Ask {
        Ask {
            kind,
            call: 0,
            attempt: self.corrections,
            of: self.options.attempts,
            is_fresh: false,
            mode: Mode::Text,
            temperature: Some(self.options.temperatures.0),
            tokens_left: None,
            time_left: None,
            prompt,
            prefix: None,
            fields: Vec::new(),
            hints: Vec::new(),
            schema: self.schema.clone(),
            fit: self.options.fit.clone(),
            tool: self.options.tool.clone(),
            result_of: None,
        }
    }

    /// Hands out a call, with what is known only now. What was asked before and is repeated gets it anew.
    fn hand_out(&mut self, mut ask: Ask) -> Step {
        let is_rest = ask.kind == AskKind::Continue;
        // The rest of a text is not a value.
        ask.mode = if is_rest { Mode::Text } else { self.mode() };
        ask.temperature = ask.temperature.filter(|_| self.takes_temperature);
        ask.call = self.spent.calls().saturating_add(1);
        ask.tokens_left = self.options.tokens.map(|all| all.saturating_sub(self.spent.tokens()));
        ask.time_left = self.time_left();
        let ask = Box::new(ask);
        let step = if is_rest { Step::Continue(ask) } else { Step::Ask(ask) };
        self.pending = Some(step.clone());
        step
    }

    fn mode(&mut self) -> Mode {
        let now = self.now;
        let memory = self.options.memory.as_ref();
        *self.mode.get_or_insert_with(|| {
            let wanted = self.options.mode;
            memory.map_or(wanted, |(model, memory)| memory.strongest(model, wanted, now))
        })
    }

    fn pass(&mut self, now: Duration) {
        // If the clock goes back, no time has passed.
        self.now = self.now.max(now);
        self.started.get_or_insert(self.now);
    }

    fn time_left(&self) -> Option<Duration> {
        let passed = self.now.saturating_sub(self.started.unwrap_or(self.now));
        self.options.deadline.map(|deadline| deadline.saturating_sub(passed))
    }

    /// The budget that does not allow another call that sends so many bytes.
    fn spent_budget(&self, bytes: usize) -> Option<EndReason> {
        let next = self.options.request.saturating_add(tokens(bytes));
        let left = self.options.tokens.map(|all| all.saturating_sub(self.spent.tokens()));
        if self.time_left() == Some(Duration::ZERO) {
            Some(EndReason::Deadline)
        } else if left.is_some_and(|left| left == 0 || left < next) {
            Some(EndReason::Tokens)
        } else if self.options.cost.is_some_and(|most| self.spent.cost() >= most) {
            Some(EndReason::Cost)
        } else {
            None
        }
    }

    /// Compares the last answer with those before. Whether there is less to correct in it.
    fn note(&mut self, rank: Rank) -> bool {
        let last = self.attempts.len().checked_sub(1);
        let best = self.best.and_then(|at| self.attempts.get(at)).map(|best| best.rank);
        if best.is_none_or(|best| rank < best) {
            self.best = last;
        }
        // Of equals, the model sees its last mistake.
        if best.is_none_or(|best| rank <= best) {
            self.base = last;
        }
        best.is_none_or(|best| rank.is_progress(&best))
    }

    fn end(&mut self, reason: EndReason, failure: Option<Failure>) -> Step {
        let exhausted = Exhausted {
            reason,
            best: self.best,
            attempts: self.attempts.clone(),
            spent: self.spent,
            failure,
        };
        let step = Step::Exhausted(Box::new(exhausted));
        self.pending = Some(step.clone());
        step
    }
}

/// How many bytes a call sends besides the messages of the caller.
fn sent(ask: &Ask) -> usize {
    ask.prompt.user.len() + ask.prefix.as_ref().map_or(0, String::len)
}

/// Counts equal answers, and answers that were no better than the best one.
#[derive(Clone, Debug, Default)]
struct Repetition {
    seen: BTreeMap<u64, u32>,
    stale: u32,
}

/// What an answer has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Standstill {
    /// How many times this answer was given.
    times: u32,
    /// How many answers in a row were no better than the best one before.
    stale: u32,
}

impl Repetition {
    /// Records an answer by its value, or by its text if it has none, and whether it is better than all before.
    fn record(&mut self, value: Option<&str>, text: &str, better: bool) -> Standstill {
        let times = self.seen.entry(fingerprint(value, text)).or_default();
        *times = times.saturating_add(1);
        self.stale = if better { 0 } else { self.stale.saturating_add(1) };
        Standstill { times: *times, stale: self.stale }
    }
}

/// A hash that is the same for values that mean the same, whatever their white space and the order of their
/// keys, and for texts that differ only in case, white space and punctuation.
fn fingerprint(value: Option<&str>, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    match value.and_then(|value| serde_json::from_str::<Value>(value).ok()) {
        Some(value) => hash_value(&value, &mut hasher),
        None => {
            let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
            let mut any = false;
            words.by_ref().for_each(|word| {
                any = true;
                word.to_lowercase().hash(&mut hasher);
            });
            if !any {
                text.trim().hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}

/// The value was read by `serde_json`, so it is at most 128 levels deep.
fn hash_value(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Null => 0u8.hash(hasher),
        Value::Bool(flag) => (1u8, flag).hash(hasher),
        Value::Number(number) => (2u8, number).hash(hasher),
        Value::String(text) => (3u8, text).hash(hasher),
        Value::Array(items) => {
            (4u8, items.len()).hash(hasher);
            items.iter().for_each(|item| hash_value(item, hasher));
        }
        Value::Object(members) => {
            (5u8, members.len()).hash(hasher);
            let sorted: BTreeMap<&String, &Value> = members.iter().collect();
            for (key, value) in sorted {
                key.hash(hasher);
                hash_value(value, hasher);
            }
        }
    }
}

// What is to be done next, and how a loop ended.

/// What is to be done next.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Step {
    /// Ask the model.
    Ask(Box<Ask>),
    /// Ask the model to go on: the answer is not wrong, it was cut off.
    Continue(Box<Ask>),
    /// There is a valid value.
    Done(Box<Done>),
    /// There is none, and nothing more will be asked.
    Exhausted(Box<Exhausted>),
    /// The call failed, which is not about the answer. The same call may be made again, when a
    /// [`Retry`](crate::Retry) says so, or the loop may be [given up](crate::Reask::give_up).
    Failed(Failure),
}

/// A valid value, and how it was obtained.
#[derive(Clone, Debug)]
pub struct Done {
    pub(crate) json: String,
    pub(crate) fitted: Fitted,
    pub(crate) risk: Option<Risk>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) spent: Spent,
}

impl Done {
    /// The value, as JSON text. It is what was validated, byte for byte.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The value as a Rust type.
    ///
    /// # Errors
    /// If the type refuses the value.
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.json)
    }

    /// The highest risk of all that was done to get from the answers to the value: of the repairs of each answer that
    /// is part of it, and of how they were put together. `None` if it is what the model wrote.
    ///
    /// Besides repairs, it counts as *likely* that an answer which was cut off inside of a string goes on with the
    /// next one, that a repetition or words around the rest are left out, and that a reply for single fields which
    /// states other parts of the value anew means what it says. Of a field that is stated twice, one is a *guess*.
    #[must_use]
    pub const fn risk(&self) -> Option<Risk> {
        self.risk
    }

    /// What was repaired in the text that the value was read from, which may be put together from several answers.
    /// Its positions are those of [`Attempt::text`] of the last attempt. See [`risk`](Self::risk) for all of them.
    #[must_use]
    pub const fn fitted(&self) -> &Fitted {
        &self.fitted
    }

    /// Every answer, the last one included.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// What all calls took together.
    #[must_use]
    pub const fn spent(&self) -> &Spent {
        &self.spent
    }
}

/// An answer, and what was wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub(crate) kind: AskKind,
    pub(crate) answer: String,
    pub(crate) text: String,
    pub(crate) json: Option<String>,
    pub(crate) issues: Vec<Issue>,
    pub(crate) is_cut: bool,
    pub(crate) rank: Rank,
    pub(crate) risk: Option<Risk>,
}

impl Attempt {
    /// The highest risk of what was done to read it, as [`Done::risk`] is for the value.
    #[must_use]
    pub const fn risk(&self) -> Option<Risk> {
        self.risk
    }

    /// What had been asked for.
    #[must_use]
    pub const fn kind(&self) -> AskKind {
        self.kind
    }

    /// The answer as it was received.
    #[must_use]
    pub fn answer(&self) -> &str {
        &self.answer
    }

    /// The text that was validated: the answer; for a continuation, all that was written so far; for fields,
    /// the value with the fields in it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The JSON in it, with its syntax repaired. It need not be valid for the schema.
    #[must_use]
    pub fn json(&self) -> Option<&str> {
        self.json.as_deref()
    }

    /// What was wrong. Empty for a valid value that was refused.
    #[must_use]
    pub fn issues(&self) -> &[Issue] {
        &self.issues
    }

    /// Whether it was cut off, or stopped early by a [`Watch`](crate::Watch).
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.is_cut
    }
}

/// Why nothing more is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EndReason {
    /// The model was asked as often as it may be.
    Attempts,
    /// The budget for the cost is spent.
    Cost,
    /// The time is over.
    Deadline,
    /// A call failed, and is not repeated.
    Failed,
    /// Two answers in a row were no better than the best one before.
    NoProgress,
    /// The model declined to answer, or a filter stopped it. What it wrote is no value, even if it is valid.
    Refused,
    /// The same answer came for the third time.
    Repeated,
    /// A part of the answer has been shown, so that it cannot be replaced.
    Shown,
    /// The budget for tokens is spent.
    Tokens,
}

impl EndReason {
    /// All reasons, in alphabetical order.
    pub const ALL: &'static [Self] = &[
        Self::Attempts,
        Self::Cost,
        Self::Deadline,
        Self::Failed,
        Self::NoProgress,
        Self::Refused,
        Self::Repeated,
        Self::Shown,
        Self::Tokens,
    ];

    /// The stable kebab-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Attempts => "attempts",
            Self::Cost => "cost",
            Self::Deadline => "deadline",
            Self::Failed => "failed",
            Self::NoProgress => "no-progress",
            Self::Refused => "refused",
            Self::Repeated => "repeated",
            Self::Shown => "shown",
            Self::Tokens => "tokens",
        }
    }
}

/// The end of a loop without a valid value, with everything that was received.
#[derive(Clone, Debug)]
pub struct Exhausted {
    pub(crate) reason: EndReason,
    pub(crate) best: Option<usize>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) spent: Spent,
    pub(crate) failure: Option<Failure>,
}

impl Exhausted {
    /// Why nothing more is asked.
    #[must_use]
    pub const fn reason(&self) -> EndReason {
        self.reason
    }

    /// The answer that is nearest to a valid one: with something good in it rather than with other JSON or none, whole
    /// rather than cut off, with the largest share of good values, with the fewest issues, and the first of equals. It
    /// is *not* valid, or was [refused](EndReason::Refused). `None` if there was no answer.
    #[must_use]
    pub fn best(&self) -> Option<&Attempt> {
        self.attempts.get(self.best?)
    }

    /// What is wrong with the [best](Self::best) answer.
    #[must_use]
    pub fn issues(&self) -> &[Issue] {
        self.best().map(Attempt::issues).unwrap_or_default()
    }

    /// Every answer.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// What all calls took together.
    #[must_use]
    pub const fn spent(&self) -> &Spent {
        &self.spent
    }

    /// The failure that ended it.
    #[must_use]
    pub const fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }
}

/// The reason, the first issue of every answer, and the failure.
impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no valid answer ({})", self.reason.code())?;
        for (number, attempt) in self.attempts.iter().enumerate() {
            match attempt.issues.first() {
                Some(issue) => write!(f, "; answer {}: {issue}", number + 1)?,
                None if self.reason == EndReason::Refused => {
                    write!(f, "; answer {}: refused", number + 1)?;
                }
                None => write!(f, "; answer {}: not complete", number + 1)?,
            }
        }
        match &self.failure {
            Some(failure) if !self.attempts.is_empty() => write!(f, "; then {failure}"),
            Some(failure) => write!(f, "; {failure}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Exhausted {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_the_same_has_one_fingerprint() {
        let json = |text| fingerprint(Some(text), text);
        assert_eq!(
            json(r#"{"a":1,"b":[2,{"c":3,"d":4}]}"#),
            json(r#"{ "b": [2, {"d": 4, "c": 3}], "a": 1 }"#)
        );
        assert_ne!(json(r#"{"a":1}"#), json(r#"{"a":"1"}"#));
        assert_ne!(json("[1,2]"), json("[2,1]"));
        let text = |text| fingerprint(None, text);
        assert_eq!(text("Hello there!"), text("  hello\nthere "));
        assert_ne!(text("Hello there"), text("Hello you"));
        assert_ne!(text("???"), text("!"));
    }
}
