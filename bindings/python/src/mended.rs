//! The result of mending a text.

use pyo3::{
    PyTraverseError, PyVisit,
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
    json::Built,
    repair,
    source::{LONG, Source},
};

/// The result of mending a text.
#[pyclass(frozen, module = "wiremend")]
pub(crate) struct Mended {
    origin: Origin,
    outcome: Outcome,
    text: Option<Py<PyString>>,
    repairs: Repairs,
    cut_at: Option<Path>,
    value: Built,
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
    ) -> PyResult<Self> {
        let bytes = source.bytes(py)?;
        let mend = || match scope {
            Some(scope) => wiremend::find(bytes, scope, options),
            None => wiremend::mend(bytes, options),
        };
        let mended = if bytes.len() < LONG { mend() } else { py.detach(mend) };
        let cut_at = mended.cut_at().cloned();
        let (outcome, text, repairs) = mended.into_parts();
        let text = match (&source, outcome) {
            (Source::Str(text), Outcome::Unchanged) => Some(text.clone_ref(py)),
            _ => text.map(|text| PyString::new(py, &text).unbind()),
        };
        Ok(Self::new(Origin::Whole(source), outcome, text, repairs, cut_at))
    }

    pub(crate) fn new(
        origin: Origin,
        outcome: Outcome,
        text: Option<Py<PyString>>,
        repairs: Repairs,
        cut_at: Option<Path>,
    ) -> Self {
        let (value, listed) = (Built::default(), PyOnceLock::new());
        Self { origin, outcome, text, repairs, cut_at, value, listed }
    }

    /// The value, if there is a text.
    pub(crate) fn built<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(text) = &self.text else { return Ok(None) };
        Ok(Some(self.value.of(py, text.bind(py).to_str()?)?))
    }

    pub(crate) const fn outcome_of(&self) -> Outcome {
        self.outcome
    }

    fn list<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyTuple>> {
        let listed = self.listed.get_or_try_init(py, || {
            let listed = match &self.origin {
                Origin::Whole(source) => repair::of_source(py, source, &self.repairs),
                Origin::Chunks(text) => repair::of_mended(py, text, 0, &self.repairs),
            };
            listed.map(Bound::unbind)
        })?;
        Ok(listed.bind(py))
    }
}

#[pymethods]
impl Mended {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str, &'static str) = ("outcome", "text");

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.value.visit(&visit)
    }

    /// How mending ended: `unchanged`, `repaired`, `closed`, `cut`, `none`, `invalid`, `overflow` or
    /// `abandoned`.
    #[getter]
    const fn outcome(&self) -> &'static str {
        self.outcome.code()
    }

    /// Whether nothing is missing: the outcome is `unchanged` or `repaired`.
    #[getter]
    const fn is_complete(&self) -> bool {
        self.outcome.is_complete()
    }

    /// The mended text: valid JSON, or `None` if there is none.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> Option<&Bound<'py, PyString>> {
        self.text.as_ref().map(|text| text.bind(py))
    }

    /// The value of the text, built once. Raises `error` if there is no text.
    #[getter]
    fn value<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match slf.get().built(py)? {
            Some(value) => Ok(value),
            None => Err(PyErr::from_value(Self::error(slf)?)),
        }
    }

    /// The repairs, in order. If there is no text, the ones that were needed.
    #[getter]
    fn repairs<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyTuple>> {
        self.list(py)
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

    /// The error that says why it is not complete, to be raised. `None` if it is.
    #[getter]
    fn error<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        if slf.get().outcome.is_complete() {
            return Ok(slf.py().None().into_bound(slf.py()));
        }
        refusal(slf.as_any())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let mended = slf.get();
        let text = slf.getattr("text")?.repr()?;
        let (outcome, repairs) = (mended.outcome.code(), mended.repairs.len());
        let s = if repairs == 1 { "" } else { "s" };
        Ok(format!("<Mended {outcome}: {text}, {repairs} repair{s}>"))
    }
}

/// The error for a result that is not complete.
pub(crate) fn refusal<'py>(result: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static MAKER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = result.py();
    MAKER.import(py, "wiremend._errors", "refusal")?.call1((result,))
}
