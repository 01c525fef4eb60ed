//! Options, as keywords.

use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyString,
};
use wiremend::{
    Limits, MendOptions, Policy, RepairKind, Risk, extract::Scope, repair::TrailingDocuments,
};

/// The keywords that say how repairs are made.
#[derive(Clone, Copy)]
pub(crate) struct Keywords<'a, 'py> {
    pub(crate) policy: &'a str,
    pub(crate) without: Option<&'a Bound<'py, PyAny>>,
    pub(crate) documents: &'a str,
    pub(crate) depth: usize,
    pub(crate) search: bool,
}

impl Keywords<'_, '_> {
    pub(crate) fn options(self) -> PyResult<MendOptions> {
        let options = MendOptions::new()
            .with_policy(self.policy()?)
            .with_trailing_documents(documents(self.documents)?)
            .with_limits(Limits::new().with_depth(self.depth));
        Ok(if self.search { options } else { options.without_search() })
    }

    fn policy(self) -> PyResult<Policy> {
        let policy = match self.policy {
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
        let Some(without) = self.without else { return Ok(policy) };
        if without.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("without must be a list of codes, not a str"));
        }
        without.try_iter()?.try_fold(policy, |policy, code| {
            let code: String = code?.extract()?;
            let kind = RepairKind::from_code(&code)
                .ok_or_else(|| PyValueError::new_err(format!("no repair has the code {code:?}")))?;
            Ok(policy.without(kind))
        })
    }
}

fn documents(rule: &str) -> PyResult<TrailingDocuments> {
    Ok(match rule {
        "array" => TrailingDocuments::Array,
        "error" => TrailingDocuments::Error,
        "first" => TrailingDocuments::First,
        "last" => TrailingDocuments::Last,
        other => return Err(wrong("documents", "'array', 'first', 'last' or 'error'", other)),
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
