//! What was done to one answer.

use std::time::Duration;

use jsonmend_core::{Outcome, Risk};
use jsonmend_wire::{ApiFormat, Call, RewriteOutcome, StreamOutcome, WireEvent};

use crate::fitting::{FitNote, FitNotes};

/// How many calls of an answer are described one by one, and how long a name is shown.
const CALLS: usize = 64;
const NAME: usize = 128;

/// The most bytes of a text of a call that are kept.
const TEXT: usize = 16 << 10;

/// What was done to one answer, in a word. The later ones are said before the earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// It was not read: it is no answer of a model, it is compressed, or mending is off.
    Untouched,
    /// It passed as it came.
    Unchanged,
    /// Something was mended.
    Repaired,
    /// Arguments do not fit the schema of their tool, and left as JSON that does not.
    Invalid,
    /// A call needs repairs that the policy forbids, or is damaged.
    Refused,
    /// A limit was passed, and what was open passed as it came.
    Overflow,
    /// The answer, or a call in it, was cut off.
    Cut,
}

impl Verdict {
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Untouched => "untouched",
            Self::Unchanged => "unchanged",
            Self::Repaired => "repaired",
            Self::Invalid => "invalid",
            Self::Refused => "refused",
            Self::Overflow => "overflow",
            Self::Cut => "cut",
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

/// A call of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallNote {
    pub(crate) tool: String,
    pub(crate) outcome: Outcome,
    /// The kinds of its repairs, with their number.
    pub(crate) repairs: Vec<(&'static str, Risk, usize)>,
    /// What is wrong with them, by the schema of the tool.
    pub(crate) issues: usize,
    /// What came and what left, if that is kept.
    pub(crate) content: Option<(String, String)>,
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
    pub(crate) output_tokens: Option<u64>,
    pub(crate) body: Option<RewriteOutcome>,
    stream: Option<StreamOutcome>,
    repairs: usize,
    risk: Option<Risk>,
    keeps_content: bool,
    fits: FitNotes,
    pub(crate) asked: Asked,
    /// How many calls do not fit their schema, and how much is wrong with them.
    invalid: (usize, usize),
    /// The time that the gateway itself took.
    pub(crate) overhead: Duration,
}

impl Account {
    pub(crate) fn new(keeps_content: bool) -> Self {
        Self { keeps_content, ..Self::default() }
    }

    /// The same, with what fitting reports.
    pub(crate) fn with_fits(self, fits: FitNotes) -> Self {
        Self { fits, ..self }
    }

    pub(crate) fn note(&mut self, event: &WireEvent<'_>) {
        match event {
            WireEvent::FormatDetected(format) => self.format = Some(*format),
            WireEvent::CallEnded(call) => self.note_call(call),
            WireEvent::Usage(usage) => self.output_tokens = usage.output().or(self.output_tokens),
            WireEvent::Ended(outcome) => self.stream = Some(*outcome),
            _ => {}
        }
    }

    fn note_call(&mut self, call: &Call) {
        let outcome = call.outcome();
        match self.seen.iter_mut().find(|(seen, _)| *seen == outcome) {
            Some((_, count)) => *count += 1,
            None => self.seen.push((outcome, 1)),
        }
        let FitNote { changes, issues } = self.fits.take().unwrap_or_default();
        if issues > 0 {
            self.invalid = (self.invalid.0 + 1, self.invalid.1 + issues);
        }
        // What a call that was not mended would have needed was not done.
        let repairs: Vec<_> = match outcome {
            // Together with those of the engine.
            _ if !changes.is_empty() => changes,
            Outcome::Repaired => call
                .repairs()
                .kinds()
                .map(|(kind, count)| (kind.code(), kind.risk(), count))
                .collect(),
            _ => Vec::new(),
        };
        self.repairs += repairs.iter().map(|(.., count)| count).sum::<usize>();
        self.risk = self.risk.max(repairs.iter().map(|(_, risk, _)| *risk).max());
        if self.calls.len() < CALLS {
            let content = || (begin(call.raw()), begin(call.arguments()));
            let content = self.keeps_content.then(content);
            let tool = call.name().chars().take(NAME).collect();
            self.calls.push(CallNote { tool, outcome, repairs, issues, content });
        }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        let stream = match self.stream {
            Some(StreamOutcome::Cut) => Verdict::Cut,
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
        let calls = self.seen.iter().map(|(outcome, _)| Verdict::of(*outcome)).max();
        let fits = if self.invalid.0 > 0 { Verdict::Invalid } else { Verdict::Untouched };
        stream.max(body).max(fits).max(calls.unwrap_or(Verdict::Untouched))
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
        let calls: usize = self.seen.iter().map(|(_, count)| count).sum();
        line.push_str(&format!("; calls={calls}; repairs={}", self.repairs));
        if let Some(risk) = self.risk {
            line.push_str(&format!("; risk={}", risk.code()));
        }
        let cut: usize =
            self.seen.iter().filter(|(outcome, _)| !outcome.is_complete()).map(|(_, n)| n).sum();
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

/// The beginning of a text.
fn begin(text: &str) -> String {
    let end = (0..=TEXT.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use jsonmend_wire::{Decoder, WireOptions};

    use super::*;

    #[test]
    fn texts_are_shortened_between_characters() {
        assert_eq!(begin("\u{e9}a"), "\u{e9}a");
        let long = format!("a{}", "\u{e9}".repeat(TEXT));
        assert_eq!(begin(&long).len(), TEXT - 1);
    }

    #[test]
    fn few_calls_are_described_and_all_are_counted() {
        let name = "n".repeat(2 * NAME);
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
        assert_eq!(account.calls[0].tool.len(), NAME);
        assert_eq!(account.seen, [(Outcome::Repaired, CALLS + 3)]);
        assert!(account.calls.iter().all(|call| call.content.is_none()));
    }
}
