//! The result of mending a text.

use pyo3::{
    prelude::*,
    sync::PyOnceLock,
    types::{PyString, PyTuple},
};
use wiremend::{
    MendOptions, Outcome,
    extract::Scope,
    repair::{Path, Repairs},
};

use crate::{
    repair,
    result::ResultBase,
    source::{LONG, Source},
};

/// The result of mending a text.
#[pyclass(frozen, extends = ResultBase, module = "wiremend")]
pub(crate) struct Mended {
    origin: Origin,
    outcome: Outcome,
    repairs: Repairs,
    cut_at: Option<Path>,
    /// Built when they are first asked for.
    listed: PyOnceLock<Py<PyTuple>>,
}

/// What was mended.
#[derive(Debug)]
pub(crate) enum Origin {
    Whole(Source),
    /// What arrived in chunks is not kept: the mended text, valid or not.
    Chunks(Vec<u8>),
}

impl Mended {
    /// Mends a whole text, or finds the JSON in it.
    pub(crate) fn of(
        py: Python<'_>,
        source: Source,
        scope: Option<Scope>,
        options: &MendOptions,
    ) -> PyResult<(ResultBase, Self)> {
        let bytes = source.bytes(py)?;
        let mend = || match scope {
            Some(scope) => wiremend::find(bytes, scope, options),
            None => wiremend::mend(bytes, options),
        };
        let mended = if bytes.len() < LONG { mend() } else { py.detach(mend) };
        let cut_at = mended.cut_at().cloned();
        let (outcome, text, repairs) = mended.into_parts();
        let text = match (&source, outcome) {
            (Source::Str(text), Outcome::Unchanged) => Some(text.bind(py).clone()),
            _ => text.map(|text| PyString::new(py, &text)),
        };
        Ok(Self::new(Origin::Whole(source), outcome, text, repairs, cut_at))
    }

    pub(crate) fn new(
        origin: Origin,
        outcome: Outcome,
        text: Option<Bound<'_, PyString>>,
        repairs: Repairs,
        cut_at: Option<Path>,
    ) -> (ResultBase, Self) {
        let base = ResultBase::new(text, outcome.is_complete());
        (base, Self { origin, outcome, repairs, cut_at, listed: PyOnceLock::new() })
    }
}

#[pymethods]
impl Mended {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str, &'static str) = ("outcome", "text");

    /// How mending ended: `unchanged`, `repaired`, `closed`, `cut`, `none`, `invalid`, `overflow` or
    /// `abandoned`.
    #[getter]
    const fn outcome(&self) -> &'static str {
        self.outcome.code()
    }

    /// The repairs, in order. If there is no text, the ones that were needed.
    #[getter]
    fn repairs<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyTuple>> {
        let listed = self.listed.get_or_try_init(py, || {
            let listed = match &self.origin {
                Origin::Whole(source) => repair::of_source(py, source, &self.repairs),
                Origin::Chunks(text) => repair::of_mended(py, text, 0, &self.repairs),
            };
            listed.map(Bound::unbind)
        })?;
        Ok(listed.bind(py))
    }

    /// Where in the value it was cut off, such as `$.a[0]`, if it was.
    #[getter]
    fn cut_at(&self) -> Option<String> {
        self.cut_at.as_ref().map(ToString::to_string)
    }

    /// The highest risk among the repairs: `exact`, `likely`, `lossy` or `guess`. `None` without repairs.
    #[getter]
    fn risk(&self) -> Option<&'static str> {
        self.repairs.risk().map(wiremend::Risk::code)
    }
}
