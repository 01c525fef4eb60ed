//! The reply to a request.

use serde::Serialize;
use serde_json::value::RawValue;
use wiremend_core::{Policy, TrailingDocuments};
use wiremend_extract::{Scope, mend_text};

use super::{
    Setting, calls, framed,
    growth::{Growth, grow},
    head::Head,
    pipeline::Line,
    provider,
    request::{Input, Mode, Op, Request},
};
use crate::{
    fit::{Fitting, changes},
    json,
    report::{Record, records},
};

/// A line of output.
#[derive(Debug, Serialize)]
struct Reply<'a> {
    id: Option<&'a RawValue>,
    #[serde(flatten)]
    body: Body,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Body {
    Error { error: String },
    Repair(Repaired),
    Stream(provider::Streamed),
    Events(framed::Framed),
    Calls(calls::Extracted),
}

#[derive(Debug, Serialize)]
struct Repaired {
    outcome: &'static str,
    json: Option<String>,
    repairs: Vec<Record>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshots: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    emitted: Option<Vec<usize>>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    fit: Option<Fitting>,
}

/// The reply to a line, without its line end.
pub(crate) fn reply(line: &Line, setting: Setting) -> Vec<u8> {
    match line {
        Line::TooLong(start) => {
            let error = format!("the line is longer than {} bytes", setting.max_line);
            write(&Head::read(start), Err(error))
        }
        Line::Whole(line) => {
            let head = Head::read(line);
            let result = match head.repeated() {
                Some(field) => Err(format!("the field `{field}` is given twice")),
                None => answer(line, setting),
            };
            write(&head, result)
        }
    }
}

/// The reply to a line on which [`reply`] panicked.
pub(crate) fn panicked(line: &Line) -> Vec<u8> {
    let (Line::Whole(line) | Line::TooLong(line)) = line;
    write(&Head::read(line), Err("internal error: this input made wiremend panic".to_owned()))
}

fn write(head: &Head<'_>, result: Result<Body, String>) -> Vec<u8> {
    let id = head.id();
    let body = result.unwrap_or_else(|error| Body::Error { error });
    let mut line = Vec::new();
    match json::write(&mut line, &Reply { id, body }) {
        Ok(()) => line,
        Err(error) => {
            // A reply consists of strings, numbers and lists, so writing it cannot fail.
            debug_assert!(false, "{error}");
            br#"{"id":null,"error":"internal error: the reply could not be written"}"#.to_vec()
        }
    }
}

fn answer(line: &[u8], setting: Setting) -> Result<Body, String> {
    let mut request = Request::read(line)?;
    let input = request.take_input(setting.split)?;
    match request.op() {
        Op::Repair => repair(&request, &input, setting).map(Body::Repair),
        Op::Stream => provider::stream(&request, &input, setting).map(Body::Stream),
        Op::Events => framed::events(&request, &input).map(Body::Events),
        Op::Calls => calls::calls(&request, &input, setting).map(Body::Calls),
    }
}

fn repair(request: &Request<'_>, input: &Input<'_>, setting: Setting) -> Result<Repaired, String> {
    let options = request.options(Policy::PERMISSIVE, setting.limits);
    let snapshots = request.wants_snapshots();
    let target = request.target()?;
    let scope = request.scope()?;
    if scope.is_some() && request.mode() == Mode::Stream {
        return Err("`scope` is for the mode `text`".to_owned());
    }
    let scope = scope.unwrap_or(Scope::Best);
    let growing = match &target {
        Some(target) => options.clone().with_guide(target.schema().guide()),
        None => options.clone(),
    };
    let grown = match (request.mode(), snapshots) {
        (Mode::Text, false) => None,
        _ => Some(grow(input.pieces(), growing, snapshots)?),
    };
    if let Some(target) = target {
        let whole = options.with_trailing_documents(TrailingDocuments::Array);
        let fitted = target.fit(input.whole(), whole, scope);
        let (snapshots, emitted) =
            grown.map_or((None, None), |grown| (grown.snapshots, grown.emitted));
        return Ok(Repaired {
            outcome: fitted.outcome().code(),
            json: fitted.text().map(str::to_owned),
            repairs: changes(fitted.changes()),
            cut_at: None,
            snapshots,
            emitted,
            fit: Some(Fitting::new(target.id().map(str::to_owned), &fitted)),
        });
    }
    match (request.mode(), grown) {
        (Mode::Stream, Some(grown)) => {
            let repairs = records(grown.located());
            let Growth { outcome, json, snapshots, emitted, .. } = grown;
            let json = outcome.is_valid().then(|| String::from_utf8_lossy(&json).into_owned());
            let outcome = outcome.code();
            Ok(Repaired { outcome, json, repairs, cut_at: None, snapshots, emitted, fit: None })
        }
        (_, grown) => {
            let whole = options.with_trailing_documents(TrailingDocuments::Array);
            let mended = mend_text(input.whole(), scope, &whole);
            let cut_at = mended.cut_at().map(ToString::to_string);
            let repairs = records(mended.located(input.whole()));
            let (outcome, json, _) = mended.into_parts();
            let outcome = outcome.code();
            let (snapshots, emitted) =
                grown.map_or((None, None), |grown| (grown.snapshots, grown.emitted));
            Ok(Repaired { outcome, json, repairs, cut_at, snapshots, emitted, fit: None })
        }
    }
}
