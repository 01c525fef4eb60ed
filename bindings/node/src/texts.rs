//! Whole texts: mended, found, fitted; the arguments of calls, and the calls in a text.

use serde::Serialize;
use wiremend::{
    calls::{self, CallExtractor, Dialect},
    repair::{Located, Path, Repairs, TrailingDocuments},
    response::{FittedArguments, fit_arguments},
    schema::{self, FitOptions, Fitted, Rendering, Schema, SharedRegistry},
    wire::{Doubt, FinishReason, MendedArguments},
};

use crate::{
    answer::Answer,
    options::{Options, scope},
};

/// What there is to say about a text. `json` is how it ends: 0 without a text, 1 with the text that came, 2 with the
/// bytes that follow.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Said<'a> {
    outcome: &'static str,
    json: u8,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    risk: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    doubt: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repairs: Vec<Repair>,
    /// There are repairs, and they can be asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unlisted: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    issues: Vec<Issue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rules: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    for_model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<&'a str>,
}

#[derive(Serialize)]
pub(crate) struct Repair {
    kind: &'static str,
    risk: &'static str,
    start: usize,
    end: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    after: String,
    path: String,
}

#[derive(Serialize)]
pub(crate) struct Issue {
    code: &'static str,
    path: String,
    pointer: String,
    expected: String,
    received: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    message: String,
}

impl Issue {
    pub(crate) fn of(issue: &schema::Issue) -> Self {
        Self {
            code: issue.code().code(),
            path: issue.path().to_string(),
            pointer: issue.pointer().to_owned(),
            expected: issue.expected().to_owned(),
            received: issue.received().raw().to_owned(),
            hint: issue.hint().map(str::to_owned),
            message: issue.to_string(),
        }
    }
}

/// Where a byte of a text is for the host. The calls must come in the order of the text.
struct Places<'t> {
    /// The text, if its places are not bytes.
    counted: Option<&'t [u8]>,
    at: usize,
    before: usize,
}

impl<'t> Places<'t> {
    fn of(text: &'t [u8], string: bool) -> Self {
        Self { counted: (string && !text.is_ascii()).then_some(text), at: 0, before: 0 }
    }

    fn place(&mut self, byte: usize) -> usize {
        let Some(text) = self.counted else { return byte };
        // A character of four bytes is two units, any other is one.
        let units = |byte: &u8| usize::from(byte & 0xC0 != 0x80) + usize::from(*byte >= 0xF0);
        let passed = text.get(self.at..byte).unwrap_or_default();
        self.before += passed.iter().map(units).sum::<usize>();
        self.at = self.at.max(byte);
        self.before
    }
}

fn path(path: Option<&Path>) -> Option<String> {
    path.map(ToString::to_string)
}

/// The repairs of a text that is there as a whole.
pub(crate) fn of_text(text: &[u8], string: bool, repairs: &Repairs) -> Vec<Repair> {
    let mut located = Located::in_input(text, repairs);
    let mut places = Places::of(text, string);
    let mut made = Vec::with_capacity(repairs.len());
    while let Some(repair) = located.next() {
        let before = text.get(repair.start()..repair.end()).unwrap_or_default();
        made.push(Repair {
            kind: repair.kind().code(),
            risk: repair.risk().code(),
            start: places.place(repair.start()),
            end: places.place(repair.end()),
            before: Some(String::from_utf8_lossy(before).into_owned()),
            after: repair.after().to_owned(),
            path: located.path().to_string(),
        });
    }
    made
}

/// The repairs that led to `mended`, which begins at `start`.
pub(crate) fn of_mended(mended: &[u8], start: usize, repairs: &Repairs) -> Vec<Repair> {
    let mut located = Located::in_mended(mended, start, repairs);
    let mut made = Vec::with_capacity(repairs.len());
    while let Some(repair) = located.next() {
        made.push(Repair {
            kind: repair.kind().code(),
            risk: repair.risk().code(),
            start: repair.start(),
            end: repair.end(),
            before: None,
            after: repair.after().to_owned(),
            path: located.path().to_string(),
        });
    }
    made
}

pub(crate) fn mend(options: &Options, text: &[u8], to: &mut Answer) -> Result<(), String> {
    let mut mending = options.mending("permissive", "array")?;
    if options.search != Some(false) {
        mending = mending.with_search();
    }
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
            true => of_text(text, options.string, mended.repairs()),
            false => Vec::new(),
        },
        ..Said::default()
    })?;
    to.push(json.unwrap_or_default().as_bytes());
    Ok(())
}

pub(crate) fn fit(
    schema: &Schema,
    options: &Options,
    text: &[u8],
    to: &mut Answer,
) -> Result<(), String> {
    let mut mending = options.mending("permissive", "array")?;
    if options.search != Some(false) {
        mending = mending.with_search();
    }
    let scope = scope(options.scope.as_deref().unwrap_or("best"))?;
    let fitted = schema.fit(text, &FitOptions::new().with_mending(mending).with_scope(scope));
    to.json(&of_fitted(&fitted, Some((text, options.string))))?;
    to.push(fitted.text().unwrap_or_default().as_bytes());
    Ok(())
}

/// What there is to say about a value that was fitted. The text, if it is kept, and whether it is a string of the host.
pub(crate) fn of_fitted<'a>(fitted: &Fitted, text: Option<(&[u8], bool)>) -> Said<'a> {
    let mut places = text.map(|(text, string)| Places::of(text, string));
    let changes = fitted.changes().iter().map(|change| Repair {
        kind: change.cause().code(),
        risk: change.risk().code(),
        start: places.as_mut().map_or(change.start(), |places| places.place(change.start())),
        end: places.as_mut().map_or(change.end(), |places| places.place(change.end())),
        before: text.map(|(text, _)| {
            String::from_utf8_lossy(text.get(change.span()).unwrap_or_default()).into_owned()
        }),
        after: change.after().to_owned(),
        path: change.path().to_string(),
    });
    Said {
        outcome: fitted.outcome().code(),
        json: 2 * u8::from(fitted.text().is_some()),
        complete: fitted.outcome().is_complete(),
        risk: fitted.risk().map(wiremend::Risk::code),
        cut_at: path(fitted.cut_at()),
        repairs: changes.collect(),
        issues: fitted.issues().iter().map(Issue::of).collect(),
        rules: fitted.applied().iter().map(|applied| applied.rule().code()).collect(),
        for_model: (!fitted.issues().is_empty())
            .then(|| Rendering::new().with_lines(8).for_model(fitted.issues())),
        ..Said::default()
    }
}

pub(crate) fn arguments(
    schema: Option<&Schema>,
    options: &Options,
    text: &[u8],
    to: &mut Answer,
) -> Result<(), String> {
    let mending = options.mending("conservative", "first")?;
    let finish = options.finish_reason.as_deref().unwrap_or_default();
    let finish = FinishReason::from_provider(finish);
    let raw = String::from_utf8_lossy(text);
    let (mended, fitted) = match schema {
        None => (MendedArguments::new(&raw, finish, &mending), None),
        Some(schema) => {
            let options = FitOptions::new().with_mending(mending);
            let fitted = fit_arguments(&raw, finish, schema, &options);
            (fitted.mended().clone(), Some(fitted))
        }
    };
    let value = fitted.as_ref().map_or(mended.value(), FittedArguments::value);
    let outcome = fitted.as_ref().map_or(mended.outcome(), FittedArguments::outcome);
    let fitted = fitted.as_ref().and_then(FittedArguments::fitted);
    to.json(&Said {
        outcome: outcome.code(),
        json: 2 * u8::from(value.is_some()),
        complete: value.is_some(),
        risk: mended.repairs().risk().map(wiremend::Risk::code),
        cut_at: path(mended.cut_at()),
        doubt: mended.doubt().map(Doubt::code),
        unlisted: !options.list && !mended.repairs().is_empty(),
        repairs: match options.list {
            true => of_text(text, options.string, mended.repairs()),
            false => Vec::new(),
        },
        issues: fitted.map_or_else(Vec::new, |f| f.issues().iter().map(Issue::of).collect()),
        raw: Some(mended.raw()),
        ..Said::default()
    })?;
    to.push(value.unwrap_or_default().as_bytes());
    Ok(())
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
    tools: Option<&SharedRegistry>,
    options: &Options,
    text: &[u8],
    to: &mut Answer,
) -> Result<(), String> {
    let mending = options.mending("conservative", "first")?;
    let mut reader = CallExtractor::new(mending.with_trailing_documents(TrailingDocuments::First));
    if let Some(tools) = tools {
        reader = reader.with_tools(tools.load().tools());
    }
    if let Some(name) = &options.dialect {
        reader = reader.with_dialect(dialect_of(name)?.clone());
    }
    let mut found = calls::FoundCalls::default();
    reader.push(text, &mut found);
    match options.cut {
        true => reader.finish(&mut found),
        false => reader.finish_at_eos(&mut found),
    }
    let mut places = Places::of(text, options.string);
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

/// The dialect of that name, or of the model of that name.
pub(crate) fn dialect_of(name: &str) -> Result<&'static Dialect, String> {
    Dialect::by_name(name).or_else(|| Dialect::of_model(name)).ok_or_else(|| {
        let known: Vec<_> = Dialect::all().iter().map(Dialect::name).collect();
        format!("no dialect or model is called {name:?}; dialects: {}", known.join(", "))
    })
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
