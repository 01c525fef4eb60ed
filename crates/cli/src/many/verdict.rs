//! One text mended, and what there is to say about it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use wiremend_core::{MendOptions, Mended, Outcome, Risk};
use wiremend_extract::{Scope, find};
use wiremend_schema::{Fitted, Rendering};

use crate::{
    args::FailOn,
    check::Report,
    exit::Exit,
    fault::Fault,
    fit::{self, Target},
    out, report,
};

/// What mends each text: the same as for a single document.
pub(super) struct Engine {
    pub(super) options: MendOptions,
    pub(super) scope: Scope,
    pub(super) target: Option<Target>,
    /// The maximum length of a text.
    pub(super) limit: usize,
}

/// A text that was mended, or not.
pub(super) enum Done {
    Mended(Mended),
    Fitted(Box<Fitted>),
    TooLong,
    Panicked,
}

impl Engine {
    pub(super) fn mend(&self, text: &[u8]) -> Done {
        if text.len() > self.limit {
            return Done::TooLong;
        }
        let done = catch_unwind(AssertUnwindSafe(|| match &self.target {
            Some(target) => {
                Done::Fitted(Box::new(target.fit(text, self.options.clone(), self.scope)))
            }
            None => Done::Mended(find(text, self.scope, &self.options)),
        }));
        done.unwrap_or(Done::Panicked)
    }

    /// What to say about the text. To say why takes time.
    pub(super) fn verdict(&self, text: &[u8], done: &Done, why: bool) -> Verdict {
        let mut kinds = Vec::new();
        let (repairs, risk, dropped, message) = match done {
            Done::Mended(mended) => {
                kinds.extend(mended.repairs().kinds().map(|(kind, count)| (kind.code(), count)));
                let fault = || Fault::of(text, mended, &self.options);
                let message = why.then(fault).flatten().map(Fault::into_message);
                let dropped = report::drops_document(mended.repairs());
                (mended.repairs().len(), mended.repairs().risk(), dropped, message)
            }
            Done::Fitted(fitted) => {
                for change in fitted.changes() {
                    let code = change.cause().code();
                    match kinds.iter_mut().find(|(known, _)| *known == code) {
                        Some((_, count)) => *count += 1,
                        None => kinds.push((code, 1)),
                    }
                }
                let issue = fitted.issues().first().filter(|_| why);
                let message = issue.map(|issue| Rendering::new().line(issue));
                let dropped = fit::drops_document(fitted);
                (fitted.changes().len(), fitted.risk(), dropped, message)
            }
            Done::TooLong => {
                let message = format!("longer than {} bytes (--max-input)", self.limit);
                (0, None, false, Some(message))
            }
            Done::Panicked => {
                let message = "internal error: this input made wiremend panic".to_owned();
                (0, None, false, Some(message))
            }
        };
        let missing = || "another document was dropped (second-document)".to_owned();
        let message = message.or_else(|| dropped.then(missing));
        Verdict { label: Label::Of(done.outcome()), repairs, risk, kinds, dropped, message }
    }

    /// The line of `--json`.
    pub(super) fn record(
        &self,
        name: &str,
        line: Option<u64>,
        text: &[u8],
        done: &Done,
        to: &mut Vec<u8>,
    ) {
        // Writing to memory does not fail.
        let _ = match (done, &self.target) {
            (Done::Mended(mended), _) => {
                let report = Report::new(name, text, mended, &self.options).with_json(mended);
                out::write_json(to, &report.at_line(line))
            }
            (Done::Fitted(fitted), Some(target)) => {
                out::write_json(to, &fit::Report::new(name, target, fitted).with_json(fitted, line))
            }
            _ => {
                let verdict = self.verdict(text, done, true);
                out::write_json(to, &verdict.row(name, line, None))
            }
        };
        to.push(b'\n');
    }
}

impl Done {
    pub(super) fn outcome(&self) -> Outcome {
        match self {
            Self::Mended(mended) => mended.outcome(),
            Self::Fitted(fitted) => fitted.outcome(),
            Self::TooLong => Outcome::Overflow,
            Self::Panicked => Outcome::Invalid,
        }
    }

    /// The result, if the text could be repaired.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Mended(mended) => mended.text(),
            Self::Fitted(fitted) => fitted.text(),
            Self::TooLong | Self::Panicked => None,
        }
    }
}

/// What became of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Label {
    Of(Outcome),
    /// A record without the field, or with `null` or nothing in it.
    Absent,
    /// It could not be read, or its result could not be written.
    Failed,
}

impl Label {
    /// Those that are no outcome of mending, and what they mean.
    pub(super) const OWN: [(&'static str, &'static str); 2] = [
        ("absent", "the record does not have the field, or holds null or nothing in it"),
        ("failed", "the input could not be read, or the result could not be written"),
    ];

    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::Of(outcome) => outcome.code(),
            Self::Absent => Self::OWN[0].0,
            Self::Failed => Self::OWN[1].0,
        }
    }
}

/// What there is to say about a text.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    pub(super) label: Label,
    pub(super) repairs: usize,
    pub(super) risk: Option<Risk>,
    pub(super) kinds: Vec<(&'static str, usize)>,
    /// Whether a document was dropped.
    pub(super) dropped: bool,
    pub(super) message: Option<String>,
}

impl Verdict {
    /// Without repairs.
    pub(super) fn plain(label: Label, message: Option<String>) -> Self {
        Self { label, repairs: 0, risk: None, kinds: Vec::new(), dropped: false, message }
    }

    /// The exit code that it asks for.
    pub(super) fn exit(&self, fail_on: &[FailOn]) -> Exit {
        match self.label {
            Label::Of(outcome) => Exit::judged(outcome, self.dropped, self.risk, fail_on),
            Label::Absent => Exit::Unchanged,
            Label::Failed => Exit::Io,
        }
    }
}
