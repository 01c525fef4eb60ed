//! Options, as keywords: those of the package `wiremend`.

use pyo3::{exceptions::PyValueError, prelude::*};
use wiremend::{
    Limits, MendOptions, Policy, RepairKind, Risk, extract::Scope, repair::TrailingDocuments,
};

/// How texts are mended.
pub(crate) fn mending(
    policy: &str,
    without: &[String],
    documents: &str,
    depth: usize,
    search: bool,
) -> PyResult<MendOptions> {
    let documents = match documents {
        "array" => TrailingDocuments::Array,
        "error" => TrailingDocuments::Error,
        "first" => TrailingDocuments::First,
        "last" => TrailingDocuments::Last,
        other => return Err(wrong("documents", "'array', 'first', 'last' or 'error'", other)),
    };
    let options = MendOptions::new()
        .with_policy(self::policy(policy, without)?)
        .with_trailing_documents(documents)
        .with_limits(Limits::new().with_depth(depth));
    Ok(if search { options } else { options.without_search() })
}

fn policy(word: &str, without: &[String]) -> PyResult<Policy> {
    let policy = match word {
        "permissive" => Policy::PERMISSIVE,
        "conservative" => Policy::CONSERVATIVE,
        "strict" => Policy::STRICT,
        risk => match Risk::from_code(risk) {
            Some(risk) => Policy::PERMISSIVE.at_most(risk),
            None => {
                let known = "'strict', 'conservative', 'permissive' or a risk";
                return Err(wrong("policy", known, risk));
            }
        },
    };
    without.iter().try_fold(policy, |policy, code| {
        let kind = RepairKind::from_code(code)
            .ok_or_else(|| PyValueError::new_err(format!("no repair has the code {code:?}")))?;
        Ok(policy.without(kind))
    })
}

/// Where to look for JSON in a text.
pub(crate) fn scope(code: &str) -> PyResult<Scope> {
    code.parse()
        .map_err(|_| wrong("scope", "'all', 'best', 'fenced', 'first', 'last' or 'whole'", code))
}

fn wrong(name: &str, known: &str, other: &str) -> PyErr {
    PyValueError::new_err(format!("{name} must be {known}, not {other:?}"))
}
