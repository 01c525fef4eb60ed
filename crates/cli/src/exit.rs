//! How the program ends: exit codes, and the errors that stop it.

use std::{fmt, io, process::ExitCode};

use wiremend_core::{Outcome, Risk};

use crate::{args::FailOn, doors::TO_STREAM};

/// The result of a run in full detail, from best to worst. With several results, the worst counts.
///
/// [`for_output`](Self::for_output) and [`for_check`](Self::for_check) reduce it to what a shell
/// script expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// The input was valid and is unchanged.
    Unchanged = 0,
    /// Something was repaired.
    Repaired = 1,
    /// The command line is wrong. clap uses the same number.
    Usage = 2,
    /// Something is missing: the input was cut off, or a document in it was dropped.
    Cut = 3,
    /// The input holds no JSON.
    NoneFound = 4,
    /// The policy forbids a repair, a limit was exceeded, or the stream contains an error.
    Refused = 5,
    /// Reading or writing failed.
    Io = 6,
}

/// The exit codes in `wiremend --help`.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  success; for repair and stream, the output is valid and complete, repaired or not
  1  for check, an input is not valid
  2  the command line is wrong
  3  for repair and stream, the input was cut off, or a document in it was dropped
  4  for repair and stream, the input holds no JSON
  5  for repair and stream, the input was refused
  6  reading or writing failed
With --exit-code, repair and stream exit with 1 if they repaired anything, and check
exits with 1, 3, 4 or 5. The help of each command has the details.";

/// The exit codes in the help of `repair`.
pub(crate) const REPAIR_CODES: &str = "\
Exit codes:
  0  the output is valid and complete, repaired or not
  1  only with --exit-code: something was repaired; only with --fail-on: a repair is as
     risky as that
  2  the command line is wrong
  3  something is missing: the input was cut off (it was closed, or the policy forbids
     that), or it holds another document, which was dropped or read as a part of this one
  4  the input holds no JSON; no record has the --field
  5  refused: the policy forbids a repair that is needed, a limit was exceeded, the value
     does not match its schema, or the input is for `wiremend stream`
  6  reading or writing failed
With several inputs or records, the highest code wins. If the reader of the output closes
the pipe early, the exit code is 6, without a message.";

/// The exit codes in the help of `stream`.
pub(crate) const STREAM_CODES: &str = "\
Exit codes:
  0  the stream, its calls and the requested documents are complete, repaired or not
  1  only with --exit-code: something was repaired
  2  the command line is wrong
  3  the stream, a call or a document was cut off, or a document was dropped
  4  the body is in no known format, or nothing in it could match the schema
  5  the stream contains an error, a limit was exceeded, the policy forbids a repair that
     is needed, or a value does not match its schema
  6  reading or writing failed
If several apply, the highest wins. If the reader of the output closes the pipe early,
the exit code is 6, without a message.";

/// The exit codes in the help of `extract`.
pub(crate) const EXTRACT_CODES: &str = "\
Exit codes:
  0  every call may be run, repaired or not
  2  the command line is wrong
  3  a call was cut off
  4  the text holds no call
  5  a call was refused
  6  reading or writing failed
If several apply, the highest wins.";

/// The exit codes in the help of `check`.
pub(crate) const CHECK_CODES: &str = "\
Exit codes:
  0  every input is valid
  1  an input is not valid; with --exit-code, it is complete and can be repaired
  2  the command line is wrong
  3  only with --exit-code: an input was cut off, or a document in it would be dropped
  4  only with --exit-code: an input holds no JSON
  5  only with --exit-code: an input was refused, or does not match the schema
  6  an input could not be read, or the output could not be written
With several inputs, the highest code wins. If the reader of the output closes the pipe
early, the exit code is 6, without a message.";

/// The exit codes in the help of `trace`.
pub(crate) const TRACE_CODES: &str = "\
Exit codes:
  0  success
  2  the command line is wrong
  5  the input is longer than --max-input
  6  reading or writing failed
If the reader of the output closes the pipe early, the exit code is 6, without a message.";

/// The exit codes in the help of `batch`, `explain` and `serve`.
pub(crate) const OTHER_CODES: &str = "\
Exit codes:
  0  success
  2  the command line is wrong
  6  reading or writing failed
If the reader of the output closes the pipe early, the exit code is 6, without a message.";

impl Exit {
    /// The result for an outcome.
    pub(crate) fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Unchanged => Self::Unchanged,
            Outcome::Repaired => Self::Repaired,
            Outcome::Closed | Outcome::Cut => Self::Cut,
            Outcome::None => Self::NoneFound,
            _ => Self::Refused,
        }
    }

    /// The same, with whether the result is without a document that the input holds.
    pub(crate) fn without(self, dropped: bool) -> Self {
        if dropped { self.max(Self::Cut) } else { self }
    }

    /// The result for one outcome, if `fail_on` says what counts as a failure besides what could not be
    /// repaired; see [`without`](Self::without) for `dropped`.
    pub(crate) fn judged(
        outcome: Outcome,
        dropped: bool,
        risk: Option<Risk>,
        fail_on: &[FailOn],
    ) -> Self {
        let exit = Self::of(outcome).without(dropped);
        if fail_on.is_empty() || !outcome.is_valid() {
            return exit;
        }
        let lowest = fail_on.iter().filter_map(|what| what.risk()).min();
        match exit {
            Self::Cut if fail_on.contains(&FailOn::Cut) => exit,
            _ if lowest.is_some() && risk >= lowest => Self::Repaired,
            _ => Self::Unchanged,
        }
    }

    /// The exit code of a command that prints its result: a repaired result is a success, unless
    /// `--exit-code` was given (`detailed`).
    pub(crate) const fn for_output(self, detailed: bool) -> Self {
        match self {
            Self::Repaired if !detailed => Self::Unchanged,
            exit => exit,
        }
    }

    /// The exit code of a linter: 0 if everything is valid and 1 if not, unless `--exit-code` was
    /// given (`detailed`).
    pub(crate) const fn for_check(self, detailed: bool) -> Self {
        match self {
            // Not valid, and that is all the caller wants to know.
            Self::Cut | Self::NoneFound | Self::Refused if !detailed => Self::Repaired,
            exit => exit,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The reason why a command stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something could not be read or written.
    Io { what: String, error: io::Error },
    /// The reader of the output has closed the pipe. This is not reported.
    Pipe,
    /// An input is the body of a streaming response, which another command reads.
    Body { name: String },
    /// An input is longer than `--max-input` allows.
    TooLong { name: String, limit: usize },
    /// The command line is wrong in a way that clap does not check.
    Usage(String),
}

impl Failure {
    /// An error from reading `name`.
    pub(crate) fn reading(name: &str, error: io::Error) -> Self {
        Self::Io { what: format!("cannot read {name}"), error }
    }

    /// An error from writing `name`.
    pub(crate) fn writing(name: &str, error: io::Error) -> Self {
        Self::Io { what: format!("cannot write {name}"), error }
    }

    /// The exit code for it.
    pub(crate) const fn exit(&self) -> Exit {
        match self {
            // Quiet, but not a success: something was not written.
            Self::Io { .. } | Self::Pipe => Exit::Io,
            Self::Body { .. } | Self::TooLong { .. } => Exit::Refused,
            Self::Usage(_) => Exit::Usage,
        }
    }
}

/// Errors from writing are converted by `?`; errors from reading go through [`Failure::reading`].
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::Pipe
        } else {
            Self::Io { what: "cannot write the output".to_owned(), error }
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::from(io::Error::from(error))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { what, error } => write!(f, "{what}: {error}"),
            Self::Pipe => f.write_str("the output was closed"),
            Self::Body { name } => write!(f, "{name}: {TO_STREAM}"),
            Self::TooLong { name, limit } => {
                write!(f, "{name} is longer than {limit} bytes (--max-input)")
            }
            Self::Usage(message) => f.write_str(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_its_code() {
        let codes: Vec<u8> = Outcome::ALL.iter().map(|&outcome| Exit::of(outcome) as u8).collect();
        // abandoned, closed, cut, invalid, none, overflow, repaired, unchanged
        assert_eq!(codes, [5, 3, 3, 5, 4, 5, 1, 0]);
    }

    #[test]
    fn a_repaired_output_is_a_success() {
        let all = [Exit::Unchanged, Exit::Repaired, Exit::Usage, Exit::Cut, Exit::NoneFound];
        let all = [&all[..], &[Exit::Refused, Exit::Io]].concat();
        let codes = |reduce: &dyn Fn(Exit) -> Exit| -> Vec<u8> {
            all.iter().map(|&exit| reduce(exit) as u8).collect()
        };
        assert_eq!(codes(&|exit| exit.for_output(false)), [0, 0, 2, 3, 4, 5, 6]);
        assert_eq!(codes(&|exit| exit.for_check(false)), [0, 1, 2, 1, 1, 1, 6]);
        assert_eq!(codes(&|exit| exit.for_output(true)), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(codes(&|exit| exit.for_check(true)), [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn what_fails_can_be_chosen() {
        let judged = |outcome, dropped, risk, fail_on: &[FailOn]| {
            Exit::judged(outcome, dropped, Some(risk), fail_on) as u8
        };
        use FailOn::{Cut, Guess, Likely, Lossy};
        let (repaired, closed) = (Outcome::Repaired, Outcome::Closed);
        assert_eq!(judged(repaired, false, Risk::Exact, &[Likely]), 0);
        assert_eq!(judged(repaired, false, Risk::Likely, &[Likely]), 1);
        assert_eq!(judged(repaired, false, Risk::Guess, &[Lossy]), 1);
        assert_eq!(judged(repaired, false, Risk::Lossy, &[Guess]), 0);
        assert_eq!(judged(repaired, false, Risk::Lossy, &[Guess, Lossy]), 1);
        assert_eq!(judged(closed, false, Risk::Guess, &[Cut]), 3);
        assert_eq!(judged(closed, false, Risk::Guess, &[Guess]), 1);
        assert_eq!(judged(repaired, true, Risk::Lossy, &[Cut]), 3);
        assert_eq!(judged(repaired, true, Risk::Lossy, &[Guess]), 0);
        // What could not be repaired fails in any case.
        assert_eq!(judged(Outcome::None, false, Risk::Exact, &[Guess]), 4);
        assert_eq!(judged(Outcome::Cut, false, Risk::Exact, &[Guess]), 3);
        assert_eq!(Exit::judged(Outcome::Unchanged, false, None, &[Likely]), Exit::Unchanged);
    }

    #[test]
    fn a_broken_pipe_is_quiet_and_no_success() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(matches!(failure, Failure::Pipe));
        assert_eq!(failure.exit(), Exit::Io);
        assert_eq!(Failure::from(io::Error::other("disk")).exit(), Exit::Io);
    }
}
