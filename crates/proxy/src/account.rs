//! What was done to one answer.

mod call;

use std::time::Duration;

use wiremend_core::{Mended, Outcome, Risk};
use wiremend_wire::{ApiFormat, Block, Call, RewriteOutcome, StreamOutcome, WireEvent};

pub(crate) use call::CallNote;

use crate::fitting::{FitNote, FitNotes, Place};

/// How many calls of an answer are described one by one.
const CALLS: usize = 64;

/// The most bytes of the arguments of an answer that are kept.
const CONTENT: usize = 256 << 10;

/// What was done to one answer, in a word. The later ones are said before the earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
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
    pub(crate) const fn code(self) -> &'static str {
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

/// What it took to ask again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) requests: u32,
    /// The tokens that the provider counted.
    pub(crate) input: u64,
    pub(crate) output: u64,
}

/// What was done to one answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Account {
    pub(crate) format: Option<ApiFormat>,
    pub(crate) calls: Vec<CallNote>,
    /// How many calls there are, also of those that are not described.
    pub(crate) seen: Vec<(Outcome, usize)>,
    /// The texts of the content that were to be JSON.
    pub(crate) contents: Vec<CallNote>,
    /// How many there are, also of those that are not described.
    pub(crate) seen_contents: Vec<(Outcome, usize)>,
    pub(crate) output_tokens: Option<u64>,
    pub(crate) body: Option<RewriteOutcome>,
    stream: Option<StreamOutcome>,
    repairs: usize,
    risk: Option<Risk>,
    /// How many bytes of arguments may still be kept, if any are.
    content: Option<usize>,
    fits: FitNotes,
    pub(crate) asked: Asked,
    /// How many calls and contents do not fit their schema, and how much is wrong with them.
    invalid: (usize, usize),
    /// The coding that it came in, if it was unpacked.
    pub(crate) unpacked: Option<&'static str>,
    /// The time that the gateway itself took.
    pub(crate) overhead: Duration,
}

impl Account {
    pub(crate) fn new(keeps_content: bool) -> Self {
        Self { content: keeps_content.then_some(CONTENT), ..Self::default() }
    }

    /// The same, with what fitting reports.
    pub(crate) fn with_fits(self, fits: FitNotes) -> Self {
        Self { fits, ..self }
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
        count(&mut self.seen, call.outcome());
        let fit = self.take_fit(Place::Call(call.number()));
        let described = self.calls.len() < CALLS;
        let room = self.content.as_mut().filter(|_| described);
        let note = CallNote::of(call, fit, room);
        self.add_repairs(&note);
        if described {
            self.calls.push(note);
        }
    }

    fn note_content(&mut self, block: Block, raw: &str, mended: &Mended) {
        count(&mut self.seen_contents, mended.outcome());
        let fit = self.take_fit(Place::Content(block));
        let described = self.contents.len() < CALLS;
        let room = self.content.as_mut().filter(|_| described);
        let note = CallNote::of_content(raw, mended, fit, room);
        self.add_repairs(&note);
        if described {
            self.contents.push(note);
        }
    }

    /// What fitting did there.
    fn take_fit(&mut self, place: Place) -> FitNote {
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
    pub(crate) fn settled(self) -> Self {
        Self { fits: FitNotes::default(), ..self }
    }

    /// How many repairs there are.
    pub(crate) const fn repairs(&self) -> usize {
        self.repairs
    }

    pub(crate) fn verdict(&self) -> Verdict {
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
        let ended = self.seen.iter().chain(&self.seen_contents);
        let ended = ended.map(|(outcome, _)| Verdict::of(*outcome)).max();
        let fits = if self.invalid.0 > 0 { Verdict::Invalid } else { Verdict::Untouched };
        stream.max(body).max(fits).max(ended.unwrap_or(Verdict::Untouched))
    }

    /// One line: `repaired; calls=1; repairs=3; risk=likely`.
    pub(crate) fn line(&self) -> String {
        let verdict = self.verdict();
        let mut line = verdict.code().to_owned();
        if verdict == Verdict::Untouched {
            if self.body == Some(RewriteOutcome::Encoded) {
                line.push_str("; reason=encoded");
            }
            return line;
        }
        if let Some(coding) = self.unpacked {
            line.push_str(&format!("; unpacked={coding}"));
        }
        let all = |seen: &[(Outcome, usize)]| seen.iter().map(|(_, count)| count).sum::<usize>();
        line.push_str(&format!("; calls={}", all(&self.seen)));
        let contents = all(&self.seen_contents);
        if contents > 0 {
            line.push_str(&format!("; contents={contents}"));
        }
        line.push_str(&format!("; repairs={}", self.repairs));
        if let Some(risk) = self.risk {
            line.push_str(&format!("; risk={}", risk.code()));
        }
        let ended = self.seen.iter().chain(&self.seen_contents);
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
        assert_eq!(account.calls[0].tool.len(), 128);
        assert_eq!(account.seen, [(Outcome::Repaired, CALLS + 3)]);
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
}
