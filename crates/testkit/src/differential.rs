//! Compares what wiremend and `serde_json` say about a text.
//!
//! The two must agree on every input: on what is JSON, on its value, and on what was cut off.
//! Every difference that is allowed has a name in [`Tolerated`].

use serde_json::Value;
use wiremend_core::{MendOptions, Mender, Outcome, Partial, Policy, TrailingDocuments, mend};

use crate::{
    cuts::Cut,
    laws::{Law, Violation},
    oracle,
    run::Run,
};

/// An intended difference from `serde_json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tolerated {
    /// Nested deeper than [`Limits::depth`](wiremend_core::Limits::depth): valid, and an overflow
    /// here. `serde_json` has a limit of 127 levels of its own for values, and none for skipping.
    Depth,
    /// A key, a number or white space longer than [`Limits::buffer`](wiremend_core::Limits::buffer):
    /// valid, and an overflow here.
    Hold,
    /// A surrogate escape without its other half: valid by the grammar, but useless to a consumer.
    /// `serde_json` skips it, and rejects it in a value; here it is mended or refused.
    LoneSurrogate,
    /// A number beyond `f64`, such as `1e999`: valid, and kept unchanged. `serde_json` rejects it in
    /// a value.
    NumberRange,
    /// A `\u` followed by fewer than four bytes, of which one is not a digit. `serde_json` reports it as
    /// cut off without looking at them; here it is not an escape, whatever follows.
    ShortEscape,
    /// A text that ends inside a scalar at its root, or before anything began. `serde_json` reports it
    /// as cut off; here a word, a number or a string alone is a document only if it is whole.
    ScalarRoot,
}

/// Compares the two on `input`.
///
/// # Errors
/// A difference without a name.
///
/// ```
/// use wiremend_core::MendOptions;
/// use wiremend_testkit::differential::{Tolerated, against_serde_json};
/// let against = |text: &[u8]| against_serde_json(text, &MendOptions::new());
/// assert_eq!(against(br#"{"a": [1, 2.50], "a": "\u00e9"}"#), Ok(None));
/// assert_eq!(against(b"[1e999]"), Ok(Some(Tolerated::NumberRange)));
/// assert_eq!(against(br#"["\ud800"]"#), Ok(Some(Tolerated::LoneSurrogate)));
/// ```
pub fn against_serde_json(
    input: &[u8],
    options: &MendOptions,
) -> Result<Option<Tolerated>, Violation> {
    // `serde_json` and wiremend treat several documents differently.
    let options = &options.clone().with_trailing_documents(TrailingDocuments::Error);
    match std::str::from_utf8(input).map(serde_json::from_str::<serde::de::IgnoredAny>) {
        Ok(Ok(_)) => valid(input, options),
        Ok(Err(error)) if error.is_eof() => cut_off(input, options),
        Ok(Err(_)) | Err(_) => broken(input, options),
    }
}

/// What both paths say about `input`: the outcome, and the text if it is valid.
fn readings(input: &[u8], options: &MendOptions) -> [(&'static str, Outcome, Option<Vec<u8>>); 2] {
    let mended = mend(input, options);
    let run = Run::new(input, &Cut::whole(), options);
    let pushed = run.outcome().is_valid().then(|| run.recorder().text().to_vec());
    let text = mended.text().map(|text| text.as_bytes().to_vec());
    [("mend", mended.outcome(), text), ("Mender", run.outcome(), pushed)]
}

/// `serde_json` can read it, so it must come out unchanged, with the same value.
fn valid(input: &[u8], options: &MendOptions) -> Result<Option<Tolerated>, Violation> {
    let broken = |what: String| Violation::new(Law::Identity, input, what);
    let tokens = oracle::tokens(input).unwrap_or_default();
    let limits = options.limits();
    let limit = if oracle::depth(&tokens) > limits.depth() {
        Some(Tolerated::Depth)
    } else if oracle::longest_hold(input, &tokens) > limits.buffer() {
        Some(Tolerated::Hold)
    } else {
        None
    };
    if let Some(limit) = limit {
        let (_, outcome, _) = &readings(input, options)[1];
        return match outcome {
            Outcome::Unchanged | Outcome::Overflow => Ok(Some(limit)),
            // Anything else that is wrong with it may be found before the limit is exceeded.
            _ if oracle::has_lone_surrogate(&tokens) => Ok(Some(Tolerated::LoneSurrogate)),
            other => Err(broken(format!("past a limit ({limit:?}), yet {other}"))),
        };
    }
    if oracle::has_lone_surrogate(&tokens) {
        return Ok(Some(Tolerated::LoneSurrogate));
    }
    for policy in [options.policy(), Policy::STRICT] {
        for (path, outcome, text) in readings(input, &options.clone().with_policy(policy)) {
            if outcome != Outcome::Unchanged || text.as_deref() != Some(input) {
                return Err(broken(format!("{path} makes {outcome} of JSON under {policy:?}")));
            }
        }
    }
    let Ok(value) = serde_json::from_slice::<Value>(input) else {
        return Ok(Some(if oracle::depth(&tokens) > 127 {
            Tolerated::Depth
        } else {
            Tolerated::NumberRange
        }));
    };
    let mut mender = Mender::new(options.clone());
    let mut partial = Partial::new();
    mender.push(input, &mut partial);
    mender.finish(&mut partial);
    let shown = partial.to_string();
    match serde_json::from_str::<Value>(&shown) {
        Ok(same) if same == value => Ok(None),
        _ => Err(broken(format!("the value read is {shown}"))),
    }
}

/// `serde_json` finds the start of JSON without its end, so it may be closed or given up, but never
/// called whole.
fn cut_off(input: &[u8], options: &MendOptions) -> Result<Option<Tolerated>, Violation> {
    if has_short_escape(input) {
        return broken(input, options).map(|_| Some(Tolerated::ShortEscape));
    }
    let violation = |what: String| Violation::new(Law::HonestEnds, input, what);
    let container = matches!(input.trim_ascii_start().first(), Some(b'{' | b'['));
    let mut tolerated = (!container).then_some(Tolerated::ScalarRoot);
    for policy in [Policy::PERMISSIVE, Policy::CONSERVATIVE, Policy::STRICT] {
        for (path, outcome, text) in readings(input, &options.clone().with_policy(policy)) {
            if let Some(text) = text {
                consumable(&text, violation)?;
            }
            let honest = if policy.closes_cut() { Outcome::Closed } else { Outcome::Cut };
            match outcome {
                Outcome::Overflow => tolerated = Some(overflow(input, options)),
                _ if outcome == honest || !container => {}
                // Half a pair before the end is a repair, which the policy may refuse.
                Outcome::Invalid if has_surrogate_escape(input) => {
                    tolerated = Some(Tolerated::LoneSurrogate);
                }
                other => {
                    let what = format!("{path} makes {other} of a text that was cut off");
                    return Err(violation(format!("{what}, under {policy:?}")));
                }
            }
        }
    }
    Ok(tolerated)
}

/// Which limit an overflow comes from.
fn overflow(input: &[u8], options: &MendOptions) -> Tolerated {
    let opened = input.iter().filter(|byte| matches!(byte, b'{' | b'[')).count();
    if opened > options.limits().depth() { Tolerated::Depth } else { Tolerated::Hold }
}

/// Whether the last few bytes are `\u` and something that is not a hexadecimal digit.
fn has_short_escape(input: &[u8]) -> bool {
    let last = input.get(input.len().saturating_sub(5)..).unwrap_or_default();
    let escape = last.windows(2).position(|bytes| bytes == b"\\u");
    let digits = escape.and_then(|at| last.get(at + 2..)).unwrap_or_default();
    digits.iter().any(|byte| !byte.is_ascii_hexdigit())
}

fn has_surrogate_escape(input: &[u8]) -> bool {
    input.windows(3).any(|bytes| matches!(bytes, [b'\\', b'u', b'd' | b'D']))
}

/// `serde_json` rejects it, so it must not be called unchanged, and the mended text must be readable
/// by `serde_json`.
fn broken(input: &[u8], options: &MendOptions) -> Result<Option<Tolerated>, Violation> {
    let violation = |what: String| Violation::new(Law::AlwaysValid, input, what);
    let mut tolerated = None;
    for (path, outcome, text) in readings(input, options) {
        if outcome == Outcome::Unchanged {
            return Err(violation(format!("{path} finds nothing to mend")));
        }
        if let Some(text) = text {
            tolerated = consumable(&text, violation)?.or(tolerated);
        }
    }
    Ok(tolerated)
}

/// Whether `serde_json` can read mended text as a value.
fn consumable(
    text: &[u8],
    violation: impl Fn(String) -> Violation,
) -> Result<Option<Tolerated>, Violation> {
    if serde_json::from_slice::<Value>(text).is_ok() {
        return Ok(None);
    }
    let shown = || String::from_utf8_lossy(text).into_owned();
    let Some(tokens) = oracle::tokens(text) else {
        return Err(violation(format!("mended to text that is not JSON: {}", shown())));
    };
    if oracle::has_lone_surrogate(&tokens) {
        return Err(violation(format!("mended to half a surrogate pair: {}", shown())));
    }
    Ok(Some(if oracle::depth(&tokens) > 127 { Tolerated::Depth } else { Tolerated::NumberRange }))
}
