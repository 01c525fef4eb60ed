//! One text mended, and what there is to say about it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use wiremend::{
    MendOptions, Mended, Outcome, Risk,
    extract::Scope,
    find,
    repair::Path,
    schema::{FitOptions, Fitted, Rendering, Schema},
};

use crate::{cell::Cell, shape::Shape};

/// The longest text that becomes cells, in bytes: each column of a piece has less than 2 GiB.
const LONGEST: usize = 2_000_000_000;

/// What mends each text.
pub(crate) enum Engine {
    Find(Scope, MendOptions),
    Fit(Schema, Box<FitOptions>),
    /// The values become cells of this shape.
    Typed(Schema, Box<FitOptions>, Shape),
}

/// What became of a text.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) result: Option<Value>,
    pub(crate) outcome: Outcome,
    pub(crate) risk: Option<Risk>,
    /// How often each kind of change was made, and its highest risk, in the order of their first places.
    pub(crate) kinds: Vec<(&'static str, Risk, i32)>,
    pub(crate) message: Option<String>,
    /// If they are wanted.
    pub(crate) edits: Vec<Edit>,
}

#[derive(Debug)]
pub(crate) enum Value {
    Text(String),
    Cell(Cell),
}

/// One change. The places are bytes of the text.
#[derive(Debug)]
pub(crate) struct Edit {
    pub(crate) kind: &'static str,
    pub(crate) risk: Risk,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) after: String,
    pub(crate) path: String,
}

impl Engine {
    /// Mends a text. One that the engine should fail on costs no other.
    pub(crate) fn row(&self, text: &[u8], edits: bool) -> Row {
        catch_unwind(AssertUnwindSafe(|| match self {
            Self::Find(scope, options) => mended(text, find(text, *scope, options), options, edits),
            Self::Fit(schema, options) => fitted(&schema.fit(text, options), None, edits),
            Self::Typed(schema, options, shape) => {
                fitted(&schema.fit(text, options), Some(shape), edits)
            }
        }))
        .unwrap_or_else(|_| {
            let message = "internal error: this text made wiremend panic".to_owned();
            Row::new(None, Outcome::Invalid, None, Some(message))
        })
    }
}

impl Row {
    fn new(
        result: Option<Value>,
        outcome: Outcome,
        risk: Option<Risk>,
        message: Option<String>,
    ) -> Self {
        Self { result, outcome, risk, kinds: Vec::new(), message, edits: Vec::new() }
    }

    fn count(&mut self, code: &'static str, risk: Risk) {
        match self.kinds.iter_mut().find(|(known, ..)| *known == code) {
            Some((_, highest, count)) => {
                *highest = risk.max(*highest);
                *count = count.saturating_add(1);
            }
            None => self.kinds.push((code, risk, 1)),
        }
    }
}

fn mended(text: &[u8], mended: Mended, options: &MendOptions, edits: bool) -> Row {
    let message = match mended.outcome() {
        Outcome::Invalid => {
            let policy = options.policy();
            let refused = mended.repairs().iter().find(|repair| !policy.permits(repair));
            Some(match refused {
                Some(repair) => {
                    let (kind, risk) = (repair.kind(), repair.risk());
                    format!("it needs the repair {kind} ({risk}), which the policy forbids")
                }
                None => "not valid JSON, and it could not be repaired".to_owned(),
            })
        }
        outcome => ending(outcome, mended.cut_at(), mended.drops_document()),
    };
    let mut row = Row::new(None, mended.outcome(), mended.repairs().risk(), message);
    for repair in mended.repairs().iter() {
        row.count(repair.kind().code(), repair.risk());
    }
    if edits {
        let mut located = mended.located(text);
        while let Some(repair) = located.next() {
            row.edits.push(Edit {
                kind: repair.kind().code(),
                risk: repair.risk(),
                start: repair.start(),
                end: repair.end(),
                after: repair.after().to_owned(),
                path: located.path().to_string(),
            });
        }
    }
    let (_, json, _) = mended.into_parts();
    row.result = json.map(Value::Text);
    row
}

fn fitted(fitted: &Fitted, shape: Option<&Shape>, edits: bool) -> Row {
    let drops = fitted.changes().iter().any(|change| change.cause().code() == "second-document");
    let issue = fitted.issues().first().map(|issue| Rendering::new().line(issue));
    let message = issue.or_else(|| ending(fitted.outcome(), fitted.cut_at(), drops));
    let mut row = Row::new(None, fitted.outcome(), fitted.risk(), message);
    for change in fitted.changes() {
        row.count(change.cause().code(), change.risk());
        if edits {
            row.edits.push(Edit {
                kind: change.cause().code(),
                risk: change.risk(),
                start: change.start(),
                end: change.end(),
                after: change.after().to_owned(),
                path: change.path().to_string(),
            });
        }
    }
    match (fitted.text(), shape) {
        (Some(json), Some(_)) if json.len() > LONGEST => {
            (row.outcome, row.message) =
                (Outcome::Overflow, Some("longer than a typed column takes".to_owned()));
        }
        (Some(json), Some(shape)) => match shape.read(json) {
            Ok(cell) => row.result = Some(Value::Cell(cell)),
            Err(message) => (row.outcome, row.message) = (Outcome::Invalid, Some(message)),
        },
        (json, _) => row.result = json.map(|json| Value::Text(json.to_owned())),
    }
    row
}

/// What is wrong with a text that was not refused.
fn ending(outcome: Outcome, cut_at: Option<&Path>, drops_document: bool) -> Option<String> {
    let place = || cut_at.map(|path| format!(" at {path}")).unwrap_or_default();
    match outcome {
        Outcome::Closed => Some(format!("the text is cut off{}", place())),
        Outcome::Cut => {
            Some(format!("the text is cut off{}; the policy forbids closing it", place()))
        }
        Outcome::None => Some("no JSON found".to_owned()),
        Outcome::Overflow => Some("a limit was exceeded".to_owned()),
        _ => drops_document.then(|| "another document was dropped (second-document)".to_owned()),
    }
}
