//! L15: white space around a text changes nothing.

use wiremend_core::{Limits, MendOptions, Mended, Outcome, Repair, RepairKind, mend};
use wiremend_extract::{Scope, find};

use super::{Check, Law, Violation};
use crate::{cuts::Cut, extracted::Extraction, run::Run};

/// What is put before a text, and after it. White space before the text on its first line is a part of
/// that line, whose beginning may be the mark of all lines, or a fence: so it counts only before a bracket.
const AROUND: [(&str, &str); 8] = [
    ("", " "),
    ("", "\n"),
    ("", "\r\n"),
    ("", "\t\n "),
    ("", "\n\n"),
    (" ", ""),
    ("\n", ""),
    ("\r\n\n", "\n"),
];

/// What was read of a text.
#[derive(Debug, PartialEq)]
struct Reading {
    outcome: Outcome,
    /// The documents, without white space outside of strings, and their outcomes.
    documents: Vec<(Option<Outcome>, String)>,
    /// Kind, span in the text, and replacement.
    repairs: Vec<(RepairKind, usize, usize, String)>,
}

/// A text, and the white space before it.
#[derive(Clone, Copy)]
struct Around<'a> {
    prefix: usize,
    text: &'a [u8],
}

impl Around<'_> {
    /// The repairs of the text itself. One that deletes its end may reach over the white space after it.
    fn repairs(
        self,
        repairs: impl Iterator<Item = Repair>,
    ) -> Vec<(RepairKind, usize, usize, String)> {
        let start = self.text.len() - self.text.trim_ascii_start().len();
        let end = start.max(self.text.trim_ascii_end().len());
        let place = |at: usize| at.saturating_sub(self.prefix).clamp(start, end);
        let of_text = repairs.map(|repair| {
            let (from, to) = (place(repair.start()), place(repair.end()));
            (repair.kind(), from, to, repair.after().trim().to_owned())
        });
        of_text.filter(|(_, from, to, after)| from < to || !after.is_empty()).collect()
    }

    fn mended(self, mended: &Mended) -> Reading {
        let text = mended.text().map(|text| (None, without_space(text.as_bytes(), true)));
        Reading {
            outcome: mended.outcome(),
            documents: text.into_iter().collect(),
            repairs: self.repairs(mended.repairs().iter()),
        }
    }

    fn found(self, run: &Extraction) -> Reading {
        let documents: Vec<_> = run.found().documents().collect();
        let text = |json: &[u8], outcome: Option<Outcome>| {
            without_space(json, outcome.is_some_and(Outcome::is_valid))
        };
        Reading {
            outcome: run.outcome(),
            documents: documents
                .iter()
                .map(|document| (document.outcome, text(&document.json, document.outcome)))
                .collect(),
            repairs: self.repairs(documents.iter().flat_map(|one| one.repairs.iter().cloned())),
        }
    }
}

/// A text without the white space outside of its strings, or if it is no JSON, around it.
fn without_space(text: &[u8], valid: bool) -> String {
    if !valid {
        return String::from_utf8_lossy(text.trim_ascii()).into_owned();
    }
    let (mut kept, mut inside, mut escaped) = (Vec::new(), false, false);
    for &byte in text {
        if inside || !byte.is_ascii_whitespace() {
            kept.push(byte);
        }
        (inside, escaped) = match byte {
            b'"' if !escaped => (!inside, false),
            b'\\' => (inside, inside && !escaped),
            _ => (inside, false),
        };
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// Compares the text with itself in white space, as `read` reads them.
///
/// What a text that was cut off holds last may be another token if white space follows it, as a string
/// that was not closed is another string. That it is not complete is said in either case.
///
/// White space counts against the limits as other bytes do. So a text is compared if they hold all of it, or are
/// as wide as by default and nothing of it is beyond what is kept.
fn same(
    input: &[u8],
    limits: Limits,
    of: &str,
    read: impl Fn(&[u8], Around<'_>) -> Reading,
) -> Result<(), Violation> {
    let check = Check::new(Law::SpaceAround, input);
    let want = read(input, Around { prefix: 0, text: input });
    let ahead = if limits.lookahead() < Limits::new().lookahead() {
        limits.lookahead()
    } else {
        usize::MAX
    };
    for (before, after) in AROUND {
        if before == " " && !matches!(input.first(), Some(b'{' | b'[')) {
            continue;
        }
        let text = [before.as_bytes(), input, after.as_bytes()].concat();
        if text.len() > ahead.min(limits.buffer()) {
            continue;
        }
        let got = read(&text, Around { prefix: before.len(), text: input });
        let same =
            if want.outcome.is_complete() { got == want } else { !got.outcome.is_complete() };
        check.that(same, || {
            format!("{of}, in {before:?} and {after:?}: {got:?} instead of {want:?}")
        })?;
    }
    Ok(())
}

/// L15 for [`mend`] and [`Mender`](wiremend_core::Mender).
///
/// # Errors
/// The difference that white space makes.
///
/// ```
/// use wiremend_core::MendOptions;
/// use wiremend_testkit::laws;
/// laws::space_around(b"{'a': 1} and {'b': 2}", &MendOptions::new()).unwrap();
/// ```
pub fn space_around(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    same(input, options.limits(), "mend", |text, around| around.mended(&mend(text, options)))?;
    same(input, options.limits(), "Mender", |text, around| {
        let run = Run::new(text, &Cut::whole(), options);
        let document = without_space(run.recorder().text(), run.outcome().is_valid());
        Reading {
            outcome: run.outcome(),
            documents: vec![(None, document)],
            repairs: around.repairs(run.recorder().repairs().iter()),
        }
    })
}

/// L15 for [`find`] and [`Finder`](wiremend_extract::Finder).
///
/// # Errors
/// The difference that white space makes.
pub fn text_space_around(
    input: &[u8],
    scope: Scope,
    options: &MendOptions,
) -> Result<(), Violation> {
    same(input, options.limits(), &format!("find, {scope}"), |text, around| {
        around.mended(&find(text, scope, options))
    })?;
    same(input, options.limits(), &format!("Finder, {scope}"), |text, around| {
        around.found(&Extraction::new(text, &Cut::whole(), scope, options))
    })
}
