//! Values that fit a schema.

use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    sync::PyOnceLock,
    types::{PyString, PyTuple},
};
use wiremend::schema::{self, FitOptions, Registry, Rendering, SharedRegistry};

use crate::{
    options::{Keywords, scope},
    repair::{self, shown},
    result::ResultBase,
    source::{LONG, Source},
};

/// A JSON Schema, compiled.
#[pyclass(frozen, module = "wiremend")]
pub(crate) struct Schema(pub(crate) schema::Schema);

#[pymethods]
impl Schema {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        let schema = schema::Schema::from_text(text);
        Ok(Self(schema.map_err(|error| PyValueError::new_err(error.to_string()))?))
    }

    /// Mends a text, and makes its value fit.
    #[allow(clippy::too_many_arguments, reason = "they are keywords")]
    #[pyo3(signature = (text, *, scope = "best", policy = "permissive", without = None, documents = "array", depth = 127, search = true))]
    fn fit<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        scope: &str,
        policy: &str,
        without: Option<&Bound<'py, PyAny>>,
        documents: &str,
        depth: usize,
        search: bool,
    ) -> PyResult<Bound<'py, Fitted>> {
        let py = text.py();
        let mending = Keywords { policy, without, documents, depth, search }.options()?;
        let options = FitOptions::new().with_mending(mending).with_scope(self::scope(scope)?);
        let source = Source::of(text)?;
        let bytes = source.bytes(py)?;
        let fit = || self.0.fit(bytes, &options);
        let fitted = if bytes.len() < LONG { fit() } else { py.detach(fit) };
        Fitted::new(py, Some(source), fitted)
    }

    /// The schema, as JSON text.
    #[getter]
    fn source(&self) -> String {
        self.0.source().to_string()
    }
}

/// The result of fitting a text to a schema.
#[pyclass(frozen, extends = ResultBase, module = "wiremend")]
pub(crate) struct Fitted {
    /// The text, if it is kept.
    source: Option<Source>,
    fitted: schema::Fitted,
    changes: PyOnceLock<Py<PyTuple>>,
}

impl Fitted {
    pub(crate) fn new(
        py: Python<'_>,
        source: Option<Source>,
        fitted: schema::Fitted,
    ) -> PyResult<Bound<'_, Self>> {
        let text = fitted.text().map(|text| PyString::new(py, text));
        let base = ResultBase::new(text, fitted.outcome().is_complete());
        base.with(py, Self { source, fitted, changes: PyOnceLock::new() })
    }
}

#[pymethods]
impl Fitted {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str, &'static str) = ("outcome", "text");

    /// How it ended; `invalid` if the value does not fit.
    #[getter]
    const fn outcome(&self) -> &'static str {
        self.fitted.outcome().code()
    }

    /// The edit script from the text to the one that fits. Empty if there is none.
    #[getter]
    fn changes<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyTuple>> {
        let changes = self.changes.get_or_try_init(py, || {
            repair::changes(py, self.source.as_ref(), self.fitted.changes()).map(Bound::unbind)
        })?;
        Ok(changes.bind(py))
    }

    /// The codes of the rules that were applied, or that could have been if the value does not fit.
    #[getter]
    fn rules<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let rules = self.fitted.applied().iter().map(|applied| applied.rule().code());
        PyTuple::new(py, rules.collect::<Vec<_>>())
    }

    /// What is wrong with the value. Empty if it fits.
    #[getter]
    fn issues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.fitted.issues().iter().map(Issue::of).collect::<Vec<_>>())
    }

    /// What is wrong, for the model: one issue a line, at most so many.
    #[pyo3(signature = (lines = 8))]
    fn for_model(&self, lines: usize) -> String {
        Rendering::new().with_lines(lines).for_model(self.fitted.issues())
    }

    /// Where in the value it was cut off, if it was.
    #[getter]
    fn cut_at(&self) -> Option<String> {
        self.fitted.cut_at().map(ToString::to_string)
    }

    /// The highest risk among the changes. `None` without changes.
    #[getter]
    fn risk(&self) -> Option<&'static str> {
        self.fitted.risk().map(wiremend::Risk::code)
    }
}

/// What is wrong with a value, and where.
#[pyclass(frozen, eq, get_all, module = "wiremend")]
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Issue {
    /// The kind: a stable code, such as `type`.
    code: &'static str,
    /// Where, such as `$.a[0]`.
    path: String,
    /// The same as a JSON Pointer.
    pointer: String,
    /// What the schema wants there.
    expected: String,
    /// The beginning of what is there.
    received: String,
    /// What may help.
    hint: Option<String>,
    /// All of it in a line.
    message: String,
}

impl Issue {
    pub(crate) fn of(issue: &schema::Issue) -> Self {
        Self {
            code: issue.code().code(),
            path: issue.path().to_string(),
            pointer: issue.pointer().to_owned(),
            expected: issue.expected().to_owned(),
            received: issue.received().raw().to_owned(),
            hint: issue.hint().map(str::to_owned),
            message: issue.to_string(),
        }
    }
}

#[pymethods]
impl Issue {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str, &'static str, &'static str) = ("code", "path", "expected");

    fn __str__(&self) -> &str {
        &self.message
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        shown(slf.as_any(), "Issue", &["code", "path", "expected", "received", "hint"])
    }
}

/// The tools that a request declares.
#[pyclass(frozen, module = "wiremend")]
pub(crate) struct Tools(pub(crate) SharedRegistry);

#[pymethods]
impl Tools {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
        let declared = serde_json::from_str(text).map_err(|error| wrong(&error))?;
        let registry = Registry::from_tools(&declared).map_err(|error| wrong(&error))?;
        Ok(Self(SharedRegistry::new(registry)))
    }

    /// The names of the tools.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let registry = self.0.load();
        PyTuple::new(py, registry.names().collect::<Vec<_>>())
    }
}
