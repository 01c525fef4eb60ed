//! A JSON text, and its value once that is asked for.

use std::sync::OnceLock;

use pyo3::{PyTraverseError, PyVisit, prelude::*, sync::OnceLockExt};

use crate::value;

/// The value of a JSON text, built when it is first asked for. Its owner may be put into it, so each class that has one
/// shows it to the garbage collector.
#[derive(Default)]
pub(crate) struct Built(OnceLock<Py<PyAny>>);

impl Built {
    pub(crate) fn of<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
        if let Some(value) = self.0.get() {
            return Ok(value.bind(py).clone());
        }
        // What the engine calls JSON is JSON.
        let value = value::read(py, text, usize::MAX)?.map_or_else(|| py.None(), Bound::unbind);
        Ok(self.0.get_or_init_py_attached(py, || value).bind(py).clone())
    }

    pub(crate) fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(self.0.get())
    }
}

pub(crate) struct Json {
    text: String,
    value: Built,
}

impl Json {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), value: Built::default() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.value.of(py, &self.text)
    }

    /// Shows the garbage collector the value, where there is one.
    pub(crate) fn visit(json: Option<&Self>, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        json.map_or(Ok(()), |json| json.value.visit(visit))
    }
}
