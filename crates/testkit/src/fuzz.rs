//! The bodies of the fuzz targets, shared with plain tests that replay what fuzzing found.
//!
//! The first byte chooses the options, the rest is the input. A target is one line around a body:
//!
//! ```no_run
//! # let data: &[u8] = b"";
//! wiremend_testkit::fuzz::require(wiremend_testkit::fuzz::mend(data));
//! ```

use std::sync::Arc;

use wiremend_core::{Limits, MendOptions, Policy, TrailingDocuments};
use wiremend_extract::{Dialect, Scope};
use wiremend_wire::{ApiFormat, RewriteMode, RewriteOptions, WireOptions};

use crate::{
    Seed,
    cuts::{self, Cut},
    differential,
    guides::Whim,
    laws::{self, Violation, wire},
};

/// A body: returns the violation that it found.
pub type Body = fn(&[u8]) -> Result<(), Violation>;

/// Every body and the name of its target.
pub const BODIES: &[(&str, Body)] = &[
    ("bounded", bounded),
    ("dialects", dialects),
    ("differential", differential),
    ("extract", extract),
    ("formats", formats),
    ("framing", framing),
    ("mend", mend),
    ("push", push),
    #[cfg(feature = "schema")]
    ("reask", reask),
    ("rewrite", rewrite),
    #[cfg(feature = "schema")]
    ("schema", schema),
    #[cfg(feature = "schema")]
    ("schemas", schemas),
    ("snapshots", snapshots),
];

/// Options that depend on one byte: every policy, every handling of trailing documents, small limits,
/// and a guide that makes no sense.
#[must_use]
pub fn options(byte: u8) -> MendOptions {
    let policy = match byte & 3 {
        0 | 1 => Policy::PERMISSIVE,
        2 => Policy::CONSERVATIVE,
        _ => Policy::STRICT,
    };
    let trailing = match (byte >> 2) & 7 {
        0 => TrailingDocuments::All,
        1 => TrailingDocuments::Array,
        2 => TrailingDocuments::Error,
        3 => TrailingDocuments::Last,
        _ => TrailingDocuments::First,
    };
    let limits = match byte >> 6 {
        0 => Limits::new().with_depth(3).with_report(0),
        1 => Limits::new().with_buffer(48).with_lookahead(16),
        _ => Limits::new(),
    };
    let options = MendOptions::new()
        .with_policy(policy)
        .with_trailing_documents(trailing)
        .with_limits(limits);
    if byte & 3 == 1 { options.with_guide(Arc::new(Whim::new(byte.into()))) } else { options }
}

fn split(data: &[u8]) -> (MendOptions, &[u8]) {
    data.split_first().map_or((MendOptions::new(), data), |(&byte, input)| (options(byte), input))
}

/// The whole-text path and the buffered path: L3, L5, L9, L10, L11, L15.
///
/// # Errors
/// The law that the input breaks.
pub fn mend(data: &[u8]) -> Result<(), Violation> {
    let (options, input) = split(data);
    laws::edit_script(input, &options)?;
    laws::identity(input, &options)?;
    laws::idempotence(input, &options)?;
    laws::agreement(input, &options)?;
    laws::space_around(input, &options)?;
    if input.len() <= 256 { laws::honest_ends(input, &options) } else { Ok(()) }
}

/// The push path, with cuts that the input chooses: L1, L2, L4, L7, L8.
///
/// # Errors
/// The law that the input breaks.
pub fn push(data: &[u8]) -> Result<(), Violation> {
    let (options, input) = split(data);
    let mut cuts = cuts::few(input.len(), &mut Seed::of(data));
    cuts.push(Cut::at(
        input
            .iter()
            .scan(0, |at, &byte| {
                *at += usize::from(byte % 16);
                (*at <= input.len()).then_some(*at)
            })
            .collect(),
    ));
    laws::split_invariance_at(input, &options, &cuts)?;
    laws::always_valid(input, &options)?;
    laws::append_only(input, &options)?;
    laws::any_call_order(input, &options)?;
    if input.len() <= 256 { laws::nothing_lost(input, &options) } else { Ok(()) }
}

/// What is withheld, and the work: L6. The first byte says how much of the rest comes once, before
/// the piece that is repeated.
///
/// # Errors
/// The law that the input breaks.
pub fn bounded(data: &[u8]) -> Result<(), Violation> {
    let (options, input) = split(data);
    laws::bounded(input, &options)?;
    let Some((&once, rest)) = input.split_first() else { return Ok(()) };
    let (head, piece) = rest.split_at(usize::from(once).min(rest.len()));
    laws::linear(head, piece, &options)
}

/// Partial values: L12.
///
/// # Errors
/// The law that the input breaks.
pub fn snapshots(data: &[u8]) -> Result<(), Violation> {
    let (options, input) = split(data);
    laws::stable_snapshots(input, &options)?;
    laws::partial_agrees(input, &options)?;
    laws::deltas_rebuild(input, &options)
}

/// What `serde_json` reads, rejects, and reports as cut off: L2, L3, L10, according to another parser.
///
/// # Errors
/// A difference that [`differential::Tolerated`] does not name.
pub fn differential(data: &[u8]) -> Result<(), Violation> {
    let (options, input) = split(data);
    differential::against_serde_json(input, &options).map(drop)
}

/// The extractor, and the whole text around a document.
///
/// # Errors
/// The law that the input breaks.
pub fn extract(data: &[u8]) -> Result<(), Violation> {
    const SCOPES: [Scope; 6] =
        [Scope::All, Scope::Best, Scope::Fenced, Scope::First, Scope::Last, Scope::Whole];
    let Some((&choice, data)) = data.split_first() else { return Ok(()) };
    let scope = SCOPES.get(usize::from(choice) % SCOPES.len()).copied().unwrap_or_default();
    let (options, input) = split(data);
    let options = options.with_trailing_documents(TrailingDocuments::First);
    laws::text_laws(input, scope, &options)?;
    laws::text_agreement(input, scope, &options)?;
    laws::text_space_around(input, scope, &options)
}

/// Tool calls in text, alone and with the documents next to them. The first byte chooses the dialect, or all of them.
///
/// # Errors
/// The law that the input breaks.
pub fn dialects(data: &[u8]) -> Result<(), Violation> {
    let Some((&choice, data)) = data.split_first() else { return Ok(()) };
    let (options, input) = split(data);
    let dialect = Dialect::all().get(usize::from(choice));
    let reader = laws::call_reader(dialect, &options);
    laws::text_calls(input, &reader)?;
    laws::segments(input, &reader)
}

/// Server-sent events, with cuts that the input chooses, compared with a decoder that sees the whole.
///
/// # Errors
/// What differs.
pub fn framing(data: &[u8]) -> Result<(), Violation> {
    wire::events_agree(data, &cuts::few(data.len(), &mut Seed::of(data)))
}

/// A body that is written again, under options that the first byte chooses.
///
/// # Errors
/// The law that the input breaks.
pub fn rewrite(data: &[u8]) -> Result<(), Violation> {
    let (&choice, body) = data.split_first().unwrap_or((&0, data));
    let mode = match choice & 1 {
        0 => RewriteMode::Eager,
        _ => RewriteMode::Validated,
    };
    let options = RewriteOptions::new()
        .with_wire(WireOptions::new().with_mending(options(choice)))
        .with_mode(mode)
        .with_held(if choice & 8 == 0 { 64 } else { 1 << 20 });
    let mut seed = Seed::of(data);
    wire::rewriting(body, &options, &cuts::few(body.len(), &mut seed))?;
    let content = options.clone().with_json_content(choice & 16 != 0);
    wire::never_more_runnable(body, &content, 24, &mut seed)?;
    let withheld = options.clone().with_held(1 << 20).with_cut_calls_withheld(true);
    let [whole, single] = [Cut::whole(), Cut::bytes(body.len())]
        .map(|cut| wire::rewritten(body, &withheld, &cut).bytes);
    if whole != single {
        let what = "calls are taken out in another way, byte by byte".to_owned();
        return Err(Violation::new(laws::Law::SplitInvariance, body, what));
    }
    wire::stopping(body, options, seed.below(body.len() + 1))
}

/// The body of a provider's response. The first byte chooses the format; with 0, the body decides.
///
/// # Errors
/// The law that the input breaks.
pub fn formats(data: &[u8]) -> Result<(), Violation> {
    let Some((&choice, body)) = data.split_first() else { return Ok(()) };
    let wire = usize::from(choice).checked_sub(1).and_then(|number| ApiFormat::ALL.get(number));
    let options = wire.map_or(WireOptions::new(), |wire| WireOptions::new().with_format(*wire));
    let mut seed = Seed::of(data);
    laws::decoding(body, &options, &mut seed)?;
    laws::unread_members(body, &options, &mut seed)?;
    laws::bodies_stay(body, options)?;
    laws::chats_lose_nothing(body)
}

/// Schemas to fit values to: every type, unions, references, closed objects and bounds.
#[cfg(feature = "schema")]
const SCHEMAS: [&str; 6] = [
    r#"{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}, "c": {"type": "boolean"}}, "required": ["a"], "additionalProperties": false}"#,
    r#"{"type": "array", "items": {"type": ["number", "null"]}, "maxItems": 4}"#,
    r##"{"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}, "list": {"type": "array", "items": {"$ref": "#/$defs/n"}}}}}}"##,
    r#"{"anyOf": [{"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind", "n"]}, {"type": "object", "properties": {"kind": {"const": "b"}, "s": {"type": "string"}}, "required": ["kind", "s"]}, {"type": "null"}]}"#,
    r#"{"properties": {"a": {"enum": ["RED", "dark_red", 3, null]}, "when": {"type": "string", "format": "date"}, "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true}}, "required": ["a", "tags"]}"#,
    r#"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 9}, "maxProperties": 3}"#,
];

/// Values and their schemas. The first byte chooses the schema, the second the options.
///
/// # Errors
/// The law that the input breaks.
#[cfg(feature = "schema")]
pub fn schema(data: &[u8]) -> Result<(), Violation> {
    use std::sync::OnceLock;
    use wiremend_schema::{FitOptions, Schema};

    static COMPILED: OnceLock<Vec<Schema>> = OnceLock::new();
    let compiled = COMPILED
        .get_or_init(|| SCHEMAS.iter().filter_map(|text| Schema::from_text(text).ok()).collect());
    let Some((&choice, data)) = data.split_first() else { return Ok(()) };
    let (options, input) = split(data);
    let schema = compiled.get(usize::from(choice) % SCHEMAS.len());
    let schema = schema.ok_or_else(|| {
        Violation::new(laws::Law::NoPanic, data, "a schema does not compile".to_owned())
    })?;
    laws::schema_laws(schema, input, &FitOptions::new().with_mending(options))
}

/// Answers as input, to a loop that asks again. The first byte chooses the options, the second how many bytes make
/// the schema.
///
/// # Errors
/// The law that the input breaks.
#[cfg(feature = "schema")]
pub fn reask(data: &[u8]) -> Result<(), Violation> {
    use wiremend_schema::{FitOptions, Schema};

    let (options, data) = split(data);
    let Some((&length, data)) = data.split_first() else { return Ok(()) };
    let (recipe, input) = data.split_at(usize::from(length % 32).min(data.len()));
    let Ok(schema) = Schema::compile(&crate::schemas::of(recipe)) else { return Ok(()) };
    crate::schemas::ends_with_what_is_valid(&schema, input, FitOptions::new().with_mending(options))
}

/// Schemas as input, made from the bytes by a grammar, and values. The first byte is how many bytes make
/// the schema, the second chooses the options.
///
/// # Errors
/// The law that the input breaks.
#[cfg(feature = "schema")]
pub fn schemas(data: &[u8]) -> Result<(), Violation> {
    use wiremend_schema::{FitOptions, Schema};

    let Some((&length, data)) = data.split_first() else { return Ok(()) };
    let (recipe, data) = data.split_at(usize::from(length).min(data.len()));
    let source = crate::schemas::of(recipe);
    // Many recipes make no schema; then it must have been refused without harm.
    let Ok(schema) = Schema::compile(&source) else { return Ok(()) };
    let (options, input) = split(data);
    laws::hostile_schema_laws(&schema, input, &FitOptions::new().with_mending(options))
}

/// Ends the process with the violation, for a fuzzer to see.
///
/// # Panics
/// If there is a violation.
pub fn require(verdict: Result<(), Violation>) {
    if let Err(violation) = verdict {
        panic!("{violation}");
    }
}
