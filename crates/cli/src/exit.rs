//! How the program ends: exit codes, and the failures that stop it.

use std::{fmt, io, process::ExitCode};

use jsonmend_core::Outcome;

/// The exit codes, in the order in which one outweighs another where several inputs were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Everything was valid and left as it came.
    Unchanged = 0,
    /// Something was repaired.
    Repaired = 1,
    /// The command line made no sense; clap uses the same number.
    Usage = 2,
    /// The input was cut off.
    Cut = 3,
    /// The input holds no JSON.
    NoneFound = 4,
    /// A repair was refused by the policy, or a limit was passed.
    Refused = 5,
    /// Reading or writing failed.
    Io = 6,
}

/// What `--help` says about [`Exit`].
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  unchanged: the input was valid (and every success of batch, explain and trace)
  1  repaired: the input was broken and complete, the output is valid
  2  usage: the command line, or the code to explain, is not known
  3  cut off: the input stopped early (closed for it, or left cut if the policy forbids closing)
  4  none found: the input holds no JSON (stream: a body in no provider's format)
  5  refused: the policy forbids a repair that is needed, the value does not fit its schema, a limit
     was passed, or the stream failed
  6  reading or writing failed
A reader that closes the pipe early ends the program quietly, with 0.";

impl Exit {
    /// The code for an outcome.
    pub(crate) fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Unchanged => Self::Unchanged,
            Outcome::Repaired => Self::Repaired,
            Outcome::Closed | Outcome::Cut => Self::Cut,
            Outcome::None => Self::NoneFound,
            _ => Self::Refused,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What could not be read or written, and why.
    Io { what: String, error: io::Error },
    /// Whoever reads our output has gone: no reason to say anything.
    Pipe,
    /// The command line asks for something that does not exist.
    Usage(String),
}

impl Failure {
    /// A failure to read `name`.
    pub(crate) fn reading(name: &str, error: io::Error) -> Self {
        Self::Io { what: format!("cannot read {name}"), error }
    }

    /// The exit code it ends with.
    pub(crate) const fn exit(&self) -> Exit {
        match self {
            Self::Io { .. } => Exit::Io,
            Self::Pipe => Exit::Unchanged,
            Self::Usage(_) => Exit::Usage,
        }
    }
}

/// Only output goes through `?` unnamed; what is read is named by [`Failure::reading`].
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
    fn a_broken_pipe_is_quiet() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(matches!(failure, Failure::Pipe));
        assert_eq!(failure.exit(), Exit::Unchanged);
        assert_eq!(Failure::from(io::Error::other("disk")).exit(), Exit::Io);
    }
}
