//! A JSON text, and its value once that is asked for.

use pyo3::{prelude::*, sync::PyOnceLock};

use crate::value;

pub(crate) struct Json {
    text: String,
    value: PyOnceLock<Py<PyAny>>,
}

impl Json {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), value: PyOnceLock::new() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let value = self.value.get_or_try_init(py, || {
            let value = value::read(py, &self.text, usize::MAX)?;
            // What the engine calls JSON is JSON.
            Ok::<_, PyErr>(value.map_or_else(|| py.None(), Bound::unbind))
        })?;
        Ok(value.bind(py).clone())
    }
}
