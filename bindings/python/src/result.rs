//! What results have in common: a JSON text, and its value once that is asked for.

use std::sync::OnceLock;

use pyo3::{
    PyClass, PyTraverseError, PyVisit,
    prelude::*,
    sync::{OnceLockExt, PyOnceLock},
    types::PyString,
};

use crate::value;

/// A JSON text, and its value, built when it is first asked for.
struct Json {
    text: Py<PyString>,
    value: OnceLock<Py<PyAny>>,
}

/// What came of a text: its JSON, if there is any, and whether that is whole.
#[pyclass(frozen, subclass, name = "Result", module = "wiremend")]
pub(crate) struct ResultBase {
    json: Option<Json>,
    /// Whether nothing is missing: then there is no `error`. A call may be run only if it is complete.
    #[pyo3(get)]
    is_complete: bool,
}

impl ResultBase {
    pub(crate) fn new(text: Option<Bound<'_, PyString>>, is_complete: bool) -> Self {
        let json = text.map(|text| Json { text: text.unbind(), value: OnceLock::new() });
        Self { json, is_complete }
    }

    /// Of a call that can be run only with its arguments: without them, there is no text.
    pub(crate) fn runs(py: Python<'_>, json: Option<&str>) -> Self {
        Self::new(json.map(|json| PyString::new(py, json)), json.is_some())
    }

    /// Of a text that is its own value.
    pub(crate) fn of_words(py: Python<'_>, words: &str) -> Self {
        let text = PyString::new(py, words).unbind();
        let value = OnceLock::from(text.clone_ref(py).into_any());
        Self { json: Some(Json { text, value }), is_complete: true }
    }

    /// The object of a result that has this in common with the others.
    pub(crate) fn with<'py, T>(self, py: Python<'py>, rest: T) -> PyResult<Bound<'py, T>>
    where
        T: PyClass<BaseType = Self>,
    {
        Bound::new(py, PyClassInitializer::from(self).add_subclass(rest))
    }

    pub(crate) const fn is_complete(&self) -> bool {
        self.is_complete
    }

    pub(crate) fn text_in<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyString>> {
        self.json.as_ref().map(|json| json.text.bind(py).clone())
    }

    /// The value, if there is a text.
    pub(crate) fn built<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(Json { text, value }) = &self.json else { return Ok(None) };
        let built = match value.get() {
            Some(built) => built,
            None => {
                let built = value::of_json(py, text.to_str(py)?)?.unbind();
                value.get_or_init_py_attached(py, || built)
            }
        };
        Ok(Some(built.bind(py).clone()))
    }
}

#[pymethods]
impl ResultBase {
    // Whoever has the value may put the result into it.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(self.json.as_ref().and_then(|json| json.value.get()))
    }

    /// The JSON text. `None` if there is none, and of a call that may not be run.
    #[getter]
    fn text(&self) -> Option<&Py<PyString>> {
        self.json.as_ref().map(|json| &json.text)
    }

    /// The value of the text, built once. Raises `error` if there is no text.
    #[getter]
    fn value<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        match slf.get().built(slf.py())? {
            Some(value) => Ok(value),
            None => Err(PyErr::from_value(refusal(slf.as_any())?)),
        }
    }

    /// The error that says why it is not complete, to be raised. `None` if it is.
    #[getter]
    fn error<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let is_complete = slf.get().is_complete;
        (!is_complete).then(|| refusal(slf.as_any())).transpose()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        shown(slf.as_any(), "outcome")
    }
}

/// The error for a result that is not complete.
pub(crate) fn refusal<'py>(result: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static MAKER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = result.py();
    MAKER.import(py, "wiremend._errors", "refusal")?.call1((result,))
}

/// A result with how it ended, its name if it is a call, and its text.
pub(crate) fn shown(result: &Bound<'_, PyAny>, ended: &str) -> PyResult<String> {
    let (kind, ended) = (result.get_type().name()?, result.getattr(ended)?);
    let name = match result.getattr_opt("name")? {
        Some(name) => format!("{}, ", name.repr()?),
        None => String::new(),
    };
    Ok(format!("<{kind} {ended}: {name}{}>", result.getattr("text")?.repr()?))
}
