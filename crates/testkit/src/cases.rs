//! The corpus format: one case per line, as JSON.
//!
//! | field | meaning |
//! |---|---|
//! | `name` | unique among all files |
//! | `input` | the input, as a string |
//! | `bytes` | the input if it is not UTF-8: `<E9>` is the byte 0xE9 |
//! | `parts` | the input as pieces: `[["[", 127], ["]", 127]]` is 127 openers and 127 closers |
//! | `output` | the mended text; omitted if the outcome is `unchanged` (the input) or has no text |
//! | `output_parts` | the mended text as pieces |
//! | `kinds` | the kinds recorded, in order; default none |
//! | `outcome` | the code of the outcome |
//! | `policy` | `permissive` (default), `conservative`, `strict`; or a highest risk: `exact`, `likely`, `lossy` |
//! | `without` | kinds switched off |
//! | `trailing`  | `first` (default), `all`, `array`, `error`, `last` |
//! | `limits` | any of `depth`, `lookahead`, `buffer`, `repairs`, `documents` |
//! | `guide` | what is known about the value, as a [`guides::Outline`](crate::guides::Outline) |
//! | `only` | `whole-text`: the push path reads it differently, for a reason named in docs/repairs.md |
//! | `scope` | the JSON is somewhere in the text: `all`, `best`, `fenced`, `first`, `last`, `whole` |
//! | `text` | with `scope`: what the extractor emits as text |
//! | `unusable` | `true` if the output is JSON that most consumers reject |

use std::{fmt, path::Path, sync::Arc};

use serde::Deserialize;
use serde_json::Value;
use wiremend_core::{Limits, MendOptions, Outcome, Policy, RepairKind, Risk, TrailingDocuments};
use wiremend_extract::Scope;

use crate::guides::Outline;

/// What one case expects.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Case {
    /// Its name.
    pub name: String,
    /// The input.
    pub input: Vec<u8>,
    /// The mended text; `None` if the outcome has none.
    pub output: Option<String>,
    /// The kinds of repair, in order.
    pub kinds: Vec<RepairKind>,
    /// The outcome.
    pub outcome: Outcome,
    /// The options of the mender.
    pub options: MendOptions,
    /// Whether only the whole-text path reads it this way.
    pub whole_text_only: bool,
    /// Where the JSON is, for a case of the extractor.
    pub scope: Option<Scope>,
    /// What the extractor emits as text, if the case states it.
    pub text: Option<String>,
    /// Whether most consumers can read the output.
    pub usable: bool,
}

/// Why a corpus cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseError {
    place: String,
    what: String,
}

impl CaseError {
    fn new(place: &str, what: impl fmt::Display) -> Self {
        Self { place: place.to_owned(), what: what.to_string() }
    }
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl std::error::Error for CaseError {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    name: String,
    input: Option<String>,
    bytes: Option<String>,
    parts: Option<Vec<(String, usize)>>,
    output: Option<String>,
    output_parts: Option<Vec<(String, usize)>>,
    #[serde(default)]
    kinds: Vec<String>,
    outcome: String,
    policy: Option<String>,
    #[serde(default)]
    without: Vec<String>,
    trailing: Option<String>,
    #[serde(default)]
    limits: LimitFields,
    guide: Option<Value>,
    only: Option<String>,
    scope: Option<String>,
    text: Option<String>,
    #[serde(default)]
    unusable: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitFields {
    depth: Option<usize>,
    lookahead: Option<usize>,
    buffer: Option<usize>,
    report: Option<usize>,
    documents: Option<usize>,
}

/// Reads every `.jsonl` file of a folder, in order of name.
///
/// # Errors
/// A file that cannot be read, a line that is not a case, a duplicate name, or no case at all.
pub fn read_folder(folder: &Path) -> Result<Vec<Case>, CaseError> {
    let place = folder.display().to_string();
    let entries = std::fs::read_dir(folder).map_err(|error| CaseError::new(&place, error))?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let mut cases: Vec<Case> = Vec::new();
    for file in files {
        let place = file.display().to_string();
        let text = std::fs::read_to_string(&file).map_err(|error| CaseError::new(&place, error))?;
        for case in read(&text, &place)? {
            if cases.iter().any(|other| other.name == case.name) {
                return Err(CaseError::new(&place, format!("a second case `{}`", case.name)));
            }
            cases.push(case);
        }
    }
    if cases.is_empty() { Err(CaseError::new(&place, "no case")) } else { Ok(cases) }
}

/// Reads cases from JSON Lines; `place` names them in errors.
///
/// # Errors
/// A line that is not a case.
///
/// ```
/// use wiremend_testkit::cases;
/// let line = r#"{"name": "one", "input": "[1,]", "output": "[1]", "kinds": ["extra-comma"], "outcome": "repaired"}"#;
/// assert_eq!(cases::read(line, "here").unwrap()[0].input, b"[1,]");
/// ```
pub fn read(text: &str, place: &str) -> Result<Vec<Case>, CaseError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            let place = format!("{place}:{}", at + 1);
            let line = serde_json::from_str(line).map_err(|error| CaseError::new(&place, error))?;
            case(line, &place)
        })
        .collect()
}

fn case(line: Line, place: &str) -> Result<Case, CaseError> {
    let place = &format!("{place} ({})", line.name);
    let known = |what: &str, name: &str| CaseError::new(place, format!("no {what} `{name}`"));
    let input = match (&line.input, &line.bytes, &line.parts) {
        (Some(input), None, None) => input.clone().into_bytes(),
        (None, Some(bytes), None) => decode_bytes(bytes),
        (None, None, Some(parts)) => joined(parts).into_bytes(),
        _ => return Err(CaseError::new(place, "one of `input`, `bytes`, `parts` is needed")),
    };
    let outcome = line.outcome.parse::<Outcome>().ok();
    let outcome = outcome.ok_or_else(|| known("outcome", &line.outcome))?;
    let kind = |code: &String| RepairKind::from_code(code).ok_or_else(|| known("kind", code));
    let output = match (&line.output, &line.output_parts) {
        (Some(output), None) => Some(output.clone()),
        (None, Some(parts)) => Some(joined(parts)),
        (None, None) if outcome == Outcome::Unchanged => String::from_utf8(input.clone()).ok(),
        (None, None) => None,
        (Some(_), Some(_)) => return Err(CaseError::new(place, "two outputs")),
    };
    if line.scope.is_none() && output.is_some() != outcome.is_valid() {
        return Err(CaseError::new(
            place,
            "an output goes with a valid outcome, and with no other",
        ));
    }
    Ok(Case {
        options: options(&line, &kind).map_err(|what| CaseError::new(place, what))?,
        kinds: line.kinds.iter().map(kind).collect::<Result<_, _>>()?,
        whole_text_only: match line.only.as_deref() {
            None => false,
            Some("whole-text") => true,
            Some(other) => return Err(known("path", other)),
        },
        scope: line
            .scope
            .as_deref()
            .map(|name| scope(name).ok_or_else(|| known("scope", name)))
            .transpose()?,
        usable: !line.unusable,
        text: line.text,
        name: line.name,
        input,
        output,
        outcome,
    })
}

fn options(
    line: &Line,
    kind: &impl Fn(&String) -> Result<RepairKind, CaseError>,
) -> Result<MendOptions, CaseError> {
    let missing = |what: &str, name: &str| CaseError::new(what, format!("`{name}` is unknown"));
    let mut policy = match line.policy.as_deref() {
        None | Some("permissive") => Policy::PERMISSIVE,
        Some("conservative") => Policy::CONSERVATIVE,
        Some("strict") => Policy::STRICT,
        Some(name) => {
            let risk = Risk::from_code(name).ok_or_else(|| missing("policy", name))?;
            Policy::PERMISSIVE.at_most(risk)
        }
    };
    for code in &line.without {
        policy = policy.without(kind(code)?);
    }
    let trailing = match line.trailing.as_deref() {
        None | Some("first") => TrailingDocuments::First,
        Some("all") => TrailingDocuments::All,
        Some("array") => TrailingDocuments::Array,
        Some("error") => TrailingDocuments::Error,
        Some("last") => TrailingDocuments::Last,
        Some(name) => return Err(missing("trailing", name)),
    };
    let default = Limits::new();
    let limits = Limits::new()
        .with_depth(line.limits.depth.unwrap_or(default.depth()))
        .with_lookahead(line.limits.lookahead.unwrap_or(default.lookahead()))
        .with_buffer(line.limits.buffer.unwrap_or(default.buffer()))
        .with_report(line.limits.report.unwrap_or(default.report()))
        .with_documents(line.limits.documents.unwrap_or(default.documents()));
    let options = MendOptions::new()
        .with_policy(policy)
        .with_trailing_documents(trailing)
        .with_limits(limits);
    Ok(match &line.guide {
        Some(outline) => options.with_guide(Arc::new(Outline::new(outline.clone()))),
        None => options,
    })
}

fn scope(name: &str) -> Option<Scope> {
    Some(match name {
        "all" => Scope::All,
        "best" => Scope::Best,
        "fenced" => Scope::Fenced,
        "first" => Scope::First,
        "last" => Scope::Last,
        "whole" => Scope::Whole,
        _ => return None,
    })
}

fn joined(parts: &[(String, usize)]) -> String {
    parts.iter().map(|(piece, count)| piece.repeat(*count)).collect()
}

/// Reads `<E9>` as the byte 0xE9, and the rest unchanged.
///
/// ```
/// use wiremend_testkit::cases::decode_bytes;
/// assert_eq!(decode_bytes("caf<E9> <b>"), b"caf\xe9 <b>");
/// ```
#[must_use]
pub fn decode_bytes(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let notation = match rest {
            [b'<', high, low, b'>', tail @ ..] => hex_byte(*high, *low).map(|byte| (byte, tail)),
            _ => None,
        };
        let (byte, tail) = notation.unwrap_or((byte, tail));
        out.push(byte);
        rest = tail;
    }
    out
}

fn hex_byte(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    };
    Some(digit(high)? * 16 + digit(low)?)
}
