//! Whole texts: mended, found, and what there is to say about them.

use serde::Serialize;
use wiremend::repair::{Path, Repairs};
use wiremend_plain::{Repair, of_mended, of_text, scope};

use crate::{answer::Answer, options::Options};

/// What there is to say about a text. `json` is how it ends: 0 without a text, 1 with the text that came, 2 with the
/// bytes that follow.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Said<'a> {
    pub(crate) outcome: &'static str,
    pub(crate) json: u8,
    pub(crate) complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) risk: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cut_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) doubt: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) repairs: Vec<Repair>,
    /// There are repairs, and they can be asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unlisted: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) issues: Vec<Issue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) rules: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) for_model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) raw: Option<&'a str>,
}

#[derive(Serialize)]
pub(crate) struct Issue {
    pub(crate) code: &'static str,
    pub(crate) path: String,
    pub(crate) pointer: String,
    pub(crate) expected: String,
    pub(crate) received: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    pub(crate) message: String,
}

pub(crate) fn path(path: Option<&Path>) -> Option<String> {
    path.map(ToString::to_string)
}

pub(crate) fn mend(options: &Options, text: &[u8], to: &mut Answer) -> Result<(), String> {
    let mending = options.mending("permissive", "array")?;
    let mended = match &options.scope {
        Some(code) => wiremend::find(text, scope(code)?, &mending),
        None => wiremend::mend(text, &mending),
    };
    let outcome = mended.outcome();
    let same = outcome == wiremend::Outcome::Unchanged && options.string;
    let json = mended.text().filter(|_| !same);
    to.json(&Said {
        outcome: outcome.code(),
        json: if same { 1 } else { 2 * u8::from(json.is_some()) },
        complete: outcome.is_complete(),
        risk: mended.repairs().risk().map(wiremend::Risk::code),
        cut_at: path(mended.cut_at()),
        unlisted: !options.list && !mended.repairs().is_empty(),
        repairs: match options.list {
            true => of_text(text, options.unit(), mended.repairs()),
            false => Vec::new(),
        },
        ..Said::default()
    })?;
    to.push(json.unwrap_or_default().as_bytes());
    Ok(())
}

#[derive(Serialize)]
struct Reading {
    cost: u32,
    text: String,
    repairs: Vec<Repair>,
}

pub(crate) fn readings(options: &Options, text: &[u8], to: &mut Answer) -> Result<(), String> {
    let found = wiremend::readings(text, &options.mending("permissive", "first")?);
    let readings = found.into_iter().map(|reading| Reading {
        cost: reading.cost,
        repairs: of_text(text, options.unit(), &reading.repairs),
        text: reading.text,
    });
    to.json(&readings.collect::<Vec<_>>())
}

/// What there is to say about a text that came in pieces, with its mended text.
pub(crate) fn of_pieces<'a>(
    outcome: wiremend::Outcome,
    mended: &[u8],
    start: usize,
    repairs: &Repairs,
    cut_at: Option<&Path>,
    json: bool,
) -> Said<'a> {
    Said {
        outcome: outcome.code(),
        json: 2 * u8::from(json),
        complete: outcome.is_complete(),
        risk: repairs.risk().map(wiremend::Risk::code),
        cut_at: path(cut_at),
        repairs: of_mended(mended, start, repairs),
        ..Said::default()
    }
}
