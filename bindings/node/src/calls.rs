//! The arguments of calls, and the calls in a text.

use serde::Serialize;
use wiremend::{
    calls::{self, CallExtractor, Tools},
    repair::TrailingDocuments,
    wire::{Doubt, MendedArguments},
};
use wiremend_plain::{Places, dialect, of_text};

use crate::{
    answer::Answer,
    options::Options,
    texts::{Said, path},
};

pub(crate) fn arguments(options: &Options, text: &[u8], to: &mut Answer) -> Result<(), String> {
    let raw = String::from_utf8_lossy(text);
    let mending = options.mending("conservative", "first")?;
    let mended = MendedArguments::new(&raw, options.finish(), &mending);
    to.json(&of_arguments(&mended, mended.value(), options, text))?;
    to.push(mended.value().unwrap_or_default().as_bytes());
    Ok(())
}

/// What there is to say about the arguments of a call.
pub(crate) fn of_arguments<'a>(
    mended: &'a MendedArguments,
    value: Option<&str>,
    options: &Options,
    text: &[u8],
) -> Said<'a> {
    Said {
        outcome: mended.outcome().code(),
        json: 2 * u8::from(value.is_some()),
        complete: value.is_some(),
        risk: mended.repairs().risk().map(wiremend::Risk::code),
        cut_at: path(mended.cut_at()),
        doubt: mended.doubt().map(Doubt::code),
        unlisted: !options.list && !mended.repairs().is_empty(),
        repairs: match options.list {
            true => of_text(text, options.unit(), mended.repairs()),
            false => Vec::new(),
        },
        raw: Some(mended.raw()),
        ..Said::default()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Found<'a> {
    calls: Vec<FoundCall<'a>>,
    text: String,
    reasoning: String,
    unknown: Vec<(&'a str, Option<&'a str>)>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FoundCall<'a> {
    name: &'a str,
    id: Option<&'a str>,
    outcome: &'static str,
    text: Option<String>,
    raw: String,
    dialect: &'a str,
    known: bool,
    in_reasoning: bool,
    start: Option<usize>,
    end: Option<usize>,
}

pub(crate) fn calls(
    tools: Option<Tools>,
    options: &Options,
    text: &[u8],
    to: &mut Answer,
) -> Result<(), String> {
    let mending = options.mending("conservative", "first")?;
    let mut reader = CallExtractor::new(mending.with_trailing_documents(TrailingDocuments::First));
    if let Some(tools) = tools {
        reader = reader.with_tools(tools);
    }
    if let Some(name) = &options.dialect {
        reader = reader.with_dialect(dialect(name)?.clone());
    }
    let mut found = calls::FoundCalls::default();
    reader.push(text, &mut found);
    match options.cut {
        true => reader.finish(&mut found),
        false => reader.finish_at_eos(&mut found),
    }
    let mut places = Places::of(text, options.unit());
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let calls = found.calls().iter().map(|call| {
        let span = call.end().map(|end| end.span.clone());
        let runs = call.outcome().can_run() && !call.in_reasoning();
        FoundCall {
            name: call.name(),
            id: call.id(),
            outcome: call.outcome().code(),
            text: runs.then(|| words(call.arguments())),
            raw: words(call.raw()),
            dialect: call.dialect(),
            known: call.known(),
            in_reasoning: call.in_reasoning(),
            start: span.as_ref().map(|span| places.place(span.start)),
            end: span.as_ref().map(|span| places.place(span.end)),
        }
    });
    let calls = calls.collect();
    let (text, reasoning) = (words(found.text()), words(found.reasoning()));
    to.json(&Found { calls, text, reasoning, unknown: found.unknown().collect() })
}
