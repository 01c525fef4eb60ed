//! What was done to one answer.

use serde_json::{Value, json};
use wiremend_core::{Mended, Outcome, Repairs, Risk};
use wiremend_wire::{ApiFormat, Block, Call, RewriteOutcome, StreamOutcome, Usage, WireEvent};

use crate::fitting::{FitNote, FitNotes, FittedPart};

/// How many calls of an answer are described one by one.
const CALLS: usize = 64;

/// The most bytes of the arguments of an answer that are kept.
const CONTENT: usize = 256 << 10;

/// The most edits of a call that are listed. All are counted.
pub(crate) const EDITS: usize = 256;

/// How long a name is shown.
const NAME: usize = 128;

/// The most bytes of a text of a call that are kept.
const TEXT: usize = 16 << 10;

/// What was done to one answer, in a word. Of several, the greatest is said.
///
/// ```
/// use wiremend_exchange::Verdict;
/// assert_eq!(Verdict::Repaired.code(), "repaired");
/// assert!(Verdict::Cut > Verdict::Repaired);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Verdict {
    /// It was not read: it is no answer of a model, it is packed in an unknown way, or mending is off.
    Untouched,
    /// It passed as it came.
    Unchanged,
    /// Something was mended.
    Repaired,
    /// Arguments, or content, do not fit their schema, and left as JSON that does not.
    Invalid,
    /// A call needs repairs that the policy forbids, or is damaged.
    Refused,
    /// A part of the answer was lost or damaged on the way, or could not be read.
    Lossy,
    /// A limit was passed, and what was open passed as it came.
    Overflow,
    /// The answer, or a call in it, was cut off.
    Cut,
    /// The provider reported an error within the answer.
    Error,
}

impl Verdict {
    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Untouched => "untouched",
            Self::Unchanged => "unchanged",
            Self::Repaired => "repaired",
            Self::Invalid => "invalid",
            Self::Refused => "refused",
            Self::Lossy => "lossy",
            Self::Overflow => "overflow",
            Self::Cut => "cut",
            Self::Error => "error",
        }
    }

    fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Unchanged => Self::Unchanged,
            Outcome::Repaired => Self::Repaired,
            Outcome::Closed | Outcome::Cut | Outcome::None => Self::Cut,
            Outcome::Overflow => Self::Overflow,
            _ => Self::Refused,
        }
    }
}

/// What it took to ask a model again, for [`Answer::note_asked`](crate::Answer::note_asked).
///
/// ```
/// use wiremend_exchange::Asked;
/// let mut asked = Asked::default();
/// asked.request();
/// assert_eq!((asked.requests(), asked.tokens()), (1, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    requests: u32,
    input: u64,
    output: u64,
}

impl Asked {
    /// Counts one more request.
    pub const fn request(&mut self) {
        self.requests += 1;
    }

    /// Counts the tokens of its answer.
    pub fn count(&mut self, usage: &Usage) {
        self.input += usage.input().unwrap_or(0);
        self.output += usage.output().unwrap_or(0);
    }

    /// How many requests there were.
    #[must_use]
    pub const fn requests(self) -> u32 {
        self.requests
    }

    /// All tokens, as far as the provider counted them.
    #[must_use]
    pub const fn tokens(self) -> u64 {
        self.input + self.output
    }
}

/// What was done to one answer: all of it when the answer has ended, and until then what is known.
///
/// ```
/// use wiremend_exchange::{Exchanges, Mending};
///
/// let exchanges = Exchanges::new(Mending::new());
/// let exchange = exchanges.request("POST", "/v1/chat/completions", [])?.read(b"{}");
/// let body = r#"{"choices":[{"message":{"tool_calls":[{"id":"c","type":"function",
///     "function":{"name":"f","arguments":"{'a': 1,}"}}]},"finish_reason":"tool_calls"}]}"#;
/// let mut answer = exchange.answer(200, [("content-type", &b"application/json"[..])]);
/// answer.push(body.as_bytes(), &mut |_| {});
/// answer.finish(&mut |_| {});
/// let account = answer.account();
/// assert_eq!(account.line(), "repaired; calls=1; repairs=3; risk=exact");
/// assert_eq!(account.calls()[0].tool(), "f");
/// assert_eq!(account.to_json()["calls"][0]["repairs"][1]["code"], "single-quote");
/// # Ok::<(), wiremend_exchange::BadSwitch>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Account {
    format: Option<ApiFormat>,
    calls: Vec<CallNote>,
    ended_calls: Vec<(Outcome, usize)>,
    contents: Vec<CallNote>,
    ended_contents: Vec<(Outcome, usize)>,
    output_tokens: Option<u64>,
    body: Option<RewriteOutcome>,
    stream: Option<StreamOutcome>,
    repairs: usize,
    risk: Option<Risk>,
    /// How many bytes of arguments may still be kept, if any are.
    content: Option<usize>,
    fits: FitNotes,
    asked: Asked,
    /// How many calls and contents do not fit their schema, and how much is wrong with them.
    invalid: (usize, usize),
    unpacked: Option<String>,
}

impl Account {
    pub(crate) fn new(keeps_content: bool) -> Self {
        Self { content: keeps_content.then_some(CONTENT), ..Self::default() }
    }

    /// The same, with what fitting reports.
    pub(crate) fn with_fits(self, fits: FitNotes) -> Self {
        Self { fits, ..self }
    }

    /// The coding that it came in, if it was unpacked.
    pub(crate) fn unpack(&mut self, coding: &str) {
        self.unpacked = Some(coding.to_owned());
    }

    pub(crate) fn unpacked(&self) -> Option<&str> {
        self.unpacked.as_deref()
    }

    /// How its body ended.
    pub(crate) const fn end(&mut self, body: RewriteOutcome) {
        self.body = Some(body);
    }

    /// Whether something of its body was changed.
    pub(crate) fn is_changed(&self) -> bool {
        self.body == Some(RewriteOutcome::Mended)
    }

    pub(crate) const fn ask(&mut self, asked: Asked) {
        self.asked = asked;
    }

    /// The format of the provider, once it is known.
    #[must_use]
    pub const fn format(&self) -> Option<ApiFormat> {
        self.format
    }

    /// The calls that have ended: the first 64.
    #[must_use]
    pub fn calls(&self) -> &[CallNote] {
        &self.calls
    }

    /// The texts of the content that was to be JSON: the first 64.
    #[must_use]
    pub fn contents(&self) -> &[CallNote] {
        &self.contents
    }

    /// How calls ended, with their number, also of those that are not [listed](Self::calls).
    #[must_use]
    pub fn ended_calls(&self) -> &[(Outcome, usize)] {
        &self.ended_calls
    }

    /// How content ended, in the same way.
    #[must_use]
    pub fn ended_contents(&self) -> &[(Outcome, usize)] {
        &self.ended_contents
    }

    /// The tokens of the answer, as the provider counted.
    #[must_use]
    pub const fn output_tokens(&self) -> Option<u64> {
        self.output_tokens
    }

    /// All of it as JSON: `format`, `outcome` (the [verdict](Self::verdict)), `account` (the [line](Self::line)), and a list
    /// each of `calls` and `contents`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let calls: Vec<Value> = self.calls.iter().map(CallNote::to_json).collect();
        let contents: Vec<Value> = self.contents.iter().map(CallNote::to_json).collect();
        json!({
            "format": self.format.map(ApiFormat::code),
            "outcome": self.verdict().code(),
            "account": self.line(),
            "calls": calls,
            "contents": contents,
        })
    }

    pub(crate) fn note(&mut self, event: &WireEvent<'_>) {
        match event {
            WireEvent::FormatDetected(format) => self.format = Some(*format),
            WireEvent::CallEnded(call) => self.note_call(call),
            WireEvent::ContentEnded { block, raw, mended } => {
                self.note_content(*block, raw, mended);
            }
            WireEvent::Usage(usage) => self.output_tokens = usage.output().or(self.output_tokens),
            WireEvent::Ended(outcome) => self.stream = Some(*outcome),
            _ => {}
        }
    }

    fn note_call(&mut self, call: &Call) {
        count(&mut self.ended_calls, call.outcome());
        let fit = self.take_fit(FittedPart::Call(call.number()));
        let described = self.calls.len() < CALLS;
        let room = self.content.as_mut().filter(|_| described);
        let note = CallNote::of(call, fit, room);
        self.add_repairs(&note);
        if described {
            self.calls.push(note);
        }
    }

    fn note_content(&mut self, block: Block, raw: &str, mended: &Mended) {
        count(&mut self.ended_contents, mended.outcome());
        let fit = self.take_fit(FittedPart::Content(block));
        let described = self.contents.len() < CALLS;
        let room = self.content.as_mut().filter(|_| described);
        let note = CallNote::of_content(raw, mended, fit, room);
        self.add_repairs(&note);
        if described {
            self.contents.push(note);
        }
    }

    /// What fitting did there.
    fn take_fit(&mut self, place: FittedPart) -> FitNote {
        let fit = self.fits.take(place);
        if fit.issues > 0 {
            self.invalid = (self.invalid.0 + 1, self.invalid.1 + fit.issues);
        }
        fit
    }

    fn add_repairs(&mut self, note: &CallNote) {
        self.repairs += note.repairs.iter().map(|(.., count)| count).sum::<usize>();
        self.risk = self.risk.max(note.repairs.iter().map(|(_, risk, _)| *risk).max());
    }

    /// The same, without the arguments that were kept to ask for them again.
    #[must_use]
    pub fn settled(self) -> Self {
        Self { fits: FitNotes::default(), ..self }
    }

    /// How many repairs there are.
    #[must_use]
    pub const fn repairs(&self) -> usize {
        self.repairs
    }

    /// What was done, in a word.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let stream = match self.stream {
            Some(StreamOutcome::Cut) => Verdict::Cut,
            Some(StreamOutcome::Error) => Verdict::Error,
            Some(StreamOutcome::Lossy) => Verdict::Lossy,
            Some(StreamOutcome::Overflow) => Verdict::Overflow,
            Some(StreamOutcome::Unrecognised) | None => Verdict::Untouched,
            Some(_) => Verdict::Unchanged,
        };
        let body = match self.body {
            Some(RewriteOutcome::Mended) => Verdict::Repaired,
            Some(RewriteOutcome::Overflow) => Verdict::Overflow,
            // Upstream failed, or the client has gone.
            Some(RewriteOutcome::Stopped) => Verdict::Cut,
            _ => Verdict::Untouched,
        };
        let ended = self.ended_calls.iter().chain(&self.ended_contents);
        let ended = ended.map(|(outcome, _)| Verdict::of(*outcome)).max();
        let fits = if self.invalid.0 > 0 { Verdict::Invalid } else { Verdict::Untouched };
        stream.max(body).max(fits).max(ended.unwrap_or(Verdict::Untouched))
    }

    /// One line: `repaired; calls=1; repairs=3; risk=likely`.
    #[must_use]
    pub fn line(&self) -> String {
        let verdict = self.verdict();
        let mut line = verdict.code().to_owned();
        if verdict == Verdict::Untouched {
            if self.body == Some(RewriteOutcome::Encoded) {
                line.push_str("; reason=encoded");
            }
            return line;
        }
        if let Some(coding) = &self.unpacked {
            line.push_str(&format!("; unpacked={coding}"));
        }
        let all = |seen: &[(Outcome, usize)]| seen.iter().map(|(_, count)| count).sum::<usize>();
        line.push_str(&format!("; calls={}", all(&self.ended_calls)));
        let contents = all(&self.ended_contents);
        if contents > 0 {
            line.push_str(&format!("; contents={contents}"));
        }
        line.push_str(&format!("; repairs={}", self.repairs));
        if let Some(risk) = self.risk {
            line.push_str(&format!("; risk={}", risk.code()));
        }
        let ended = self.ended_calls.iter().chain(&self.ended_contents);
        let cut: usize =
            ended.filter(|(outcome, _)| !outcome.is_complete()).map(|(_, count)| count).sum();
        if cut > 0 {
            line.push_str(&format!("; incomplete={cut}"));
        }
        if self.invalid.0 > 0 {
            line.push_str(&format!("; invalid={}; issues={}", self.invalid.0, self.invalid.1));
        }
        let Asked { requests, input, output } = self.asked;
        if requests > 0 {
            line.push_str(&format!("; asked={requests}; input={input}; output={output}"));
        }
        if verdict > Verdict::Invalid && self.body == Some(RewriteOutcome::Mended) {
            // Something had left repaired before it was known how it ends.
            line.push_str("; body=changed");
        }
        line
    }
}

fn count(seen: &mut Vec<(Outcome, usize)>, outcome: Outcome) {
    match seen.iter_mut().find(|(known, _)| *known == outcome) {
        Some((_, count)) => *count += 1,
        None => seen.push((outcome, 1)),
    }
}

/// Kinds of changes, with their number.
type Kinds = Vec<(&'static str, Risk, usize)>;

/// A change of the arguments that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) code: &'static str,
    pub(crate) risk: Risk,
    /// What is there instead. Empty if content is not kept.
    pub(crate) after: String,
}

/// A call of an answer, or content that was to be JSON, with what was done to it. See [`Account`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallNote {
    /// None for content.
    tool: Option<String>,
    outcome: Outcome,
    repairs: Kinds,
    /// Where the first ones are, in the order of the text.
    edits: Vec<Edit>,
    /// What is wrong with it, by its schema.
    issues: usize,
    /// How long the arguments were when they came.
    bytes: usize,
    /// What came and what left, if that is kept.
    content: Option<(String, String)>,
}

impl CallNote {
    /// The name of the tool: its first 128 characters. Empty for content.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.tool.as_deref().unwrap_or_default()
    }

    /// How it ended.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// The kinds of its repairs, by their codes, with the risk and the number of each.
    #[must_use]
    pub fn repairs(&self) -> &[(&'static str, Risk, usize)] {
        &self.repairs
    }

    fn to_json(&self) -> Value {
        let repairs = self.repairs.iter();
        let repairs: Vec<Value> = repairs
            .map(|(code, risk, count)| json!({"code": code, "risk": risk.code(), "count": count}))
            .collect();
        let edits = self.edits.iter().map(|edit| {
            let mut entry = json!({
                "start": edit.start, "end": edit.end, "code": edit.code, "risk": edit.risk.code(),
            });
            if self.content.is_some() {
                entry["after"] = edit.after.as_str().into();
            }
            entry
        });
        let edits: Vec<Value> = edits.collect();
        let mut entry = json!({
            "outcome": self.outcome.code(),
            "repairs": repairs,
            "edits": edits,
            "bytes": self.bytes,
        });
        if let Some(tool) = &self.tool {
            entry["tool"] = tool.as_str().into();
        }
        if self.issues > 0 {
            entry["issues"] = self.issues.into();
        }
        if let Some((came, left)) = &self.content {
            entry["came"] = came.as_str().into();
            entry["left"] = left.as_str().into();
        }
        entry
    }

    /// Describes a call. `room` is how many bytes of its content may be kept, if any are; those that
    /// are kept are taken from it.
    fn of(call: &Call, fit: FitNote, room: Option<&mut usize>) -> Self {
        let (repairs, edits, issues) = done(fit, call.outcome(), call.repairs());
        Self {
            tool: Some(call.name().chars().take(NAME).collect()),
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
    fn of_content(raw: &str, mended: &Mended, fit: FitNote, room: Option<&mut usize>) -> Self {
        let (repairs, edits, issues) = done(fit, mended.outcome(), mended.repairs());
        Self {
            tool: None,
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
    use wiremend_wire::{Decoder, WireOptions};

    use super::*;

    #[test]
    fn few_calls_are_described_and_all_are_counted() {
        let name = "n".repeat(1000);
        let call = |number| {
            format!(
                r#"{{"id":"{number}","type":"function","function":{{"name":"{name}","arguments":"{{'a':1}}"}}}}"#
            )
        };
        let calls: Vec<String> = (0..CALLS + 3).map(call).collect();
        let calls = calls.join(",");
        let body = format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{calls}]}},"finish_reason":"tool_calls"}}]}}"#
        );
        let mut account = Account::new(false);
        let mut decoder = Decoder::new(WireOptions::new());
        decoder.push(body.as_bytes(), &mut |event| account.note(&event));
        decoder.finish(&mut |event| account.note(&event));
        assert_eq!(account.calls.len(), CALLS);
        assert_eq!(account.calls[0].tool().len(), 128);
        assert_eq!(account.ended_calls, [(Outcome::Repaired, CALLS + 3)]);
        assert!(account.calls.iter().all(|call| call.content.is_none()));
    }

    #[test]
    fn few_edits_are_listed_and_little_content_is_kept() {
        let arguments = format!("{{'a': [{}]}}", "'x',".repeat(200));
        let long = format!("{{\"a\": \"{}\"}}", "x".repeat(20_000));
        let mut account = Account::new(true);
        let read = |arguments: &str, account: &mut Account| {
            let function = serde_json::json!({"name": "f", "arguments": arguments});
            let calls = serde_json::json!([{"id": "1", "type": "function", "function": function}]);
            let message = serde_json::json!({"tool_calls": calls});
            let body = serde_json::json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]});
            let mut decoder = Decoder::new(WireOptions::new());
            decoder.push(body.to_string().as_bytes(), &mut |event| account.note(&event));
            decoder.finish(&mut |event| account.note(&event));
        };
        read(&arguments, &mut account);
        assert_eq!(account.calls[0].edits.len(), 256);
        assert!(account.repairs() > 400 && account.calls[0].content.is_some());
        for _ in 0..12 {
            read(&long, &mut account);
        }
        let kept = account.calls.iter().filter(|call| call.content.is_some()).count();
        assert_eq!(kept, 8, "a call that has no room is listed without its content");
        read(&arguments, &mut account);
        let last = &account.calls[13];
        assert_eq!((last.edits.len(), last.content.is_some()), (256, true));
        let after = |call: &CallNote| call.edits.iter().map(|edit| edit.after.len()).sum::<usize>();
        assert!(after(last) > 0);
    }

    #[test]
    fn texts_are_shortened_between_characters() {
        assert_eq!(begin("\u{e9}a", TEXT), "\u{e9}a");
        assert_eq!(begin("\u{e9}a", 1), "");
        let long = format!("a{}", "\u{e9}".repeat(TEXT));
        assert_eq!(begin(&long, usize::MAX).len(), TEXT - 1);
    }
}
