//! Calls: their arguments, and those in a text.

use std::sync::Arc;

use pyo3::{
    PyTraverseError, PyVisit, exceptions::PyValueError, prelude::*, sync::PyOnceLock,
    types::PyTuple,
};
use wiremend::{
    calls::{self, CallExtractor},
    repair::TrailingDocuments,
    response::{self, FittedArguments, fit_arguments},
    schema::FitOptions,
    wire::{CallKind, FinishReason, MendedArguments},
};

use crate::{
    options::Keywords,
    repair,
    result::{ResultBase, refusal, shown},
    schema::{Fitted, Issue, Schema, Tools},
    source::Source,
};

/// The arguments of a call, mended.
#[pyclass(frozen, extends = ResultBase, name = "MendedArguments", module = "wiremend")]
pub(crate) struct Arguments {
    mended: MendedArguments,
    fitted: Option<FittedArguments>,
    source: Source,
}

/// Mends the arguments of a call.
#[pyfunction]
#[pyo3(signature = (raw, finish_reason, schema = None, *, policy = "conservative", without = None, depth = 127))]
pub(crate) fn mend_arguments<'py>(
    raw: &Bound<'py, PyAny>,
    finish_reason: &str,
    schema: Option<&Bound<'py, Schema>>,
    policy: &str,
    without: Option<&Bound<'py, PyAny>>,
    depth: usize,
) -> PyResult<Bound<'py, Arguments>> {
    let py = raw.py();
    let options =
        Keywords { policy, without, documents: "first", depth, search: true }.options()?;
    let source = Source::of(raw)?;
    let bytes = source.bytes(py)?;
    let text = String::from_utf8_lossy(bytes);
    let finish = FinishReason::from_provider(finish_reason);
    let (mended, fitted, base) = match schema {
        None => {
            let mended = MendedArguments::new(&text, finish, &options);
            let base = ResultBase::runs(py, mended.value());
            (mended, None, base)
        }
        Some(schema) => {
            let options = FitOptions::new().with_mending(options);
            let fitted = fit_arguments(&text, finish, &schema.get().0, &options);
            let base = ResultBase::runs(py, fitted.value());
            (fitted.mended().clone(), Some(fitted), base)
        }
    };
    base.with(py, Arguments { mended, fitted, source })
}

#[pymethods]
impl Arguments {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str, &'static str) = ("outcome", "text");

    /// How it ended: `whole`, `repaired`, `cut` or `refused`.
    #[getter]
    fn outcome(&self) -> &'static str {
        let fitted = self.fitted.as_ref().map(FittedArguments::outcome);
        fitted.unwrap_or_else(|| self.mended.outcome()).code()
    }

    /// The arguments as they came.
    #[getter]
    fn raw(&self) -> &str {
        self.mended.raw()
    }

    /// The repairs, in order, without what a schema changed.
    #[getter]
    fn repairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        repair::of_source(py, &self.source, self.mended.repairs())
    }

    /// What is wrong with them, if they do not fit the schema.
    #[getter]
    fn issues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let fitted = self.fitted.as_ref().and_then(FittedArguments::fitted);
        let issues = fitted.map_or(&[][..], |fitted| fitted.issues());
        PyTuple::new(py, issues.iter().map(Issue::of).collect::<Vec<_>>())
    }

    /// Why they are not complete, although they may look so: a code, such as `unclean-stop`.
    #[getter]
    fn doubt(&self) -> Option<&'static str> {
        self.mended.doubt().map(wiremend::wire::Doubt::code)
    }

    /// Where they were cut off, if they were.
    #[getter]
    fn cut_at(&self) -> Option<String> {
        self.mended.cut_at().map(ToString::to_string)
    }
}

/// A call that was found in a text.
#[pyclass(frozen, extends = ResultBase, module = "wiremend")]
pub(crate) struct FoundCall(calls::FoundCall);

impl FoundCall {
    fn of<'py>(py: Python<'py>, call: &calls::FoundCall) -> PyResult<Bound<'py, Self>> {
        let runs = call.outcome().can_run() && !call.in_reasoning();
        let json = runs.then(|| String::from_utf8_lossy(call.arguments()));
        ResultBase::runs(py, json.as_deref()).with(py, Self(call.clone()))
    }
}

#[pymethods]
impl FoundCall {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str, &'static str) = ("name", "text");

    /// The name of the tool.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// The identifier that the model gave it.
    #[getter]
    fn id(&self) -> Option<&str> {
        self.0.id()
    }

    /// How it ended: `whole`, `repaired`, `cut` or `refused`.
    #[getter]
    fn outcome(&self) -> &'static str {
        self.0.outcome().code()
    }

    /// The arguments as the model wrote them.
    #[getter]
    fn raw(&self) -> String {
        String::from_utf8_lossy(self.0.raw()).into_owned()
    }

    /// The name of the dialect in which it is written.
    #[getter]
    fn dialect(&self) -> &str {
        self.0.dialect()
    }

    /// Whether the tool is known. `True` if no tools were given.
    #[getter]
    const fn known(&self) -> bool {
        self.0.known()
    }

    /// Whether it is a draft in the reasoning of the model, and no call.
    #[getter]
    const fn in_reasoning(&self) -> bool {
        self.0.in_reasoning()
    }

    /// Where it begins and ends in the text, in bytes of UTF-8, with its markers.
    #[getter]
    fn span(&self) -> Option<(usize, usize)> {
        self.0.end().map(|end| (end.span.start, end.span.end))
    }
}

/// What was found in a text: calls, and the text around them.
#[pyclass(frozen, get_all, module = "wiremend")]
pub(crate) struct FoundCalls {
    /// The calls, in order.
    calls: Py<PyTuple>,
    /// The text outside of calls and reasoning.
    text: String,
    /// The content of the blocks of reasoning.
    reasoning: String,
    /// The names of tools that do not exist, each with the nearest one that does.
    unknown: Vec<(String, Option<String>)>,
}

#[pymethods]
impl FoundCalls {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.calls)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.calls.bind(py).try_iter()?.into_any())
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.calls.bind(py).len()
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        at: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.calls.bind(py).as_any().get_item(at)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<FoundCalls {}>", self.calls.bind(py).repr()?))
    }
}

/// Finds the calls in a text.
#[pyfunction]
#[pyo3(signature = (text, *, tools = None, dialect = None, cut = false, policy = "conservative", without = None, depth = 127))]
pub(crate) fn find_calls(
    text: &Bound<'_, PyAny>,
    tools: Option<&Bound<'_, Tools>>,
    dialect: Option<&str>,
    cut: bool,
    policy: &str,
    without: Option<&Bound<'_, PyAny>>,
    depth: usize,
) -> PyResult<FoundCalls> {
    let py = text.py();
    let options =
        Keywords { policy, without, documents: "first", depth, search: true }.options()?;
    let options = options.with_trailing_documents(TrailingDocuments::First);
    let mut reader = CallExtractor::new(options);
    if let Some(tools) = tools {
        reader = reader.with_tools(tools.get().0.load().tools());
    }
    if let Some(name) = dialect {
        let dialect = wiremend_plain::dialect(name).map_err(PyValueError::new_err)?;
        reader = reader.with_dialect(dialect.clone());
    }
    let source = Source::of(text)?;
    let mut found = calls::FoundCalls::default();
    reader.push(source.bytes(py)?, &mut found);
    match cut {
        true => reader.finish(&mut found),
        false => reader.finish_at_eos(&mut found),
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let calls = found.calls().iter().map(|call| FoundCall::of(py, call));
    Ok(FoundCalls {
        calls: PyTuple::new(py, calls.collect::<PyResult<Vec<_>>>()?)?.unbind(),
        text: text(found.text()),
        reasoning: text(found.reasoning()),
        unknown: found
            .unknown()
            .map(|(name, near)| (name.to_owned(), near.map(str::to_owned)))
            .collect(),
    })
}

/// A call of a response that has ended.
#[pyclass(frozen, extends = ResultBase, module = "wiremend")]
pub(crate) struct Call {
    call: Arc<wiremend::wire::Call>,
    listed: PyOnceLock<Py<PyTuple>>,
}

impl Call {
    pub(crate) fn of(py: Python<'_>, call: Arc<wiremend::wire::Call>) -> PyResult<Bound<'_, Self>> {
        let runs = call.outcome().is_complete();
        let base = match call.kind() {
            CallKind::Custom if runs => ResultBase::of_words(py, call.arguments()),
            _ => ResultBase::runs(py, runs.then(|| call.arguments())),
        };
        base.with(py, Self { call, listed: PyOnceLock::new() })
    }
}

#[pymethods]
impl Call {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str, &'static str) = ("name", "text");

    /// Its number in the response, from 0.
    #[getter]
    fn number(&self) -> usize {
        self.call.number()
    }

    /// The choice or message that it belongs to.
    #[getter]
    fn choice(&self) -> u32 {
        self.call.choice()
    }

    /// `function`, `server` for a tool of the provider, or `custom` for one that takes free text.
    #[getter]
    fn kind(&self) -> &'static str {
        self.call.kind().code()
    }

    /// Its id, if the stream sent one.
    #[getter]
    fn id(&self) -> Option<&str> {
        self.call.id()
    }

    /// The name of the tool.
    #[getter]
    fn name(&self) -> &str {
        self.call.name()
    }

    /// How it ended: the outcome of its arguments.
    #[getter]
    fn outcome(&self) -> &'static str {
        self.call.outcome().code()
    }

    /// The arguments as they came.
    #[getter]
    fn raw(&self) -> &str {
        self.call.raw()
    }

    /// The repairs, in order, relative to `raw`.
    #[getter]
    fn repairs<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyTuple>> {
        let listed = self.listed.get_or_try_init(py, || {
            let source = Source::Copied(self.call.raw().as_bytes().to_vec());
            repair::of_source(py, &source, self.call.repairs()).map(Bound::unbind)
        })?;
        Ok(listed.bind(py))
    }

    /// Why it is not complete, although it may look so: a code, such as `lost-event`.
    #[getter]
    fn doubt(&self) -> Option<&'static str> {
        self.call.doubt().map(wiremend::wire::Doubt::code)
    }

    /// Where the arguments were cut off, if they were.
    #[getter]
    fn cut_at(&self) -> Option<String> {
        self.call.cut_at().map(ToString::to_string)
    }

    /// The dialect in which it was found in a text. `None` for a call of the format.
    #[getter]
    fn dialect(&self) -> Option<&str> {
        self.call.dialect()
    }
}

/// A call of a response, and its arguments as they fit the schema of its tool.
#[pyclass(frozen, extends = ResultBase, module = "wiremend")]
pub(crate) struct FittedCall {
    call: Py<Call>,
    tool: Option<String>,
    nearest: Option<String>,
    check: &'static str,
    fitted: Option<Py<Fitted>>,
}

impl FittedCall {
    pub(crate) fn of<'py>(
        py: Python<'py>,
        fitted: &response::FittedCall,
    ) -> PyResult<Bound<'py, Self>> {
        let call = Call::of(py, Arc::new(fitted.call().clone()))?.unbind();
        let made = Self { call, tool: None, nearest: None, check: "unchecked", fitted: None };
        let made = match fitted.check() {
            response::CallCheck::Fitted { tool, fitted: result, .. } => {
                let source = Source::Copied(fitted.call().raw().as_bytes().to_vec());
                let result = Fitted::new(py, Some(source), result.clone())?.unbind();
                Self { tool: Some(tool.clone()), check: "fitted", fitted: Some(result), ..made }
            }
            response::CallCheck::Incomplete => Self { check: "incomplete", ..made },
            response::CallCheck::Unknown { nearest, .. } => {
                Self { nearest: nearest.clone(), check: "unknown", ..made }
            }
            _ => made,
        };
        let fits = made.fitted.as_ref().map(|fitted| fitted.bind(py).as_super().get());
        let base = match fits.filter(|fits| fits.is_complete()) {
            Some(fits) => ResultBase::new(fits.text_in(py), true),
            None => ResultBase::new(None, false),
        };
        base.with(py, made)
    }
}

#[pymethods]
impl FittedCall {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str, &'static str) = ("name", "text");

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.call)?;
        visit.call(self.fitted.as_ref())
    }

    /// The call itself.
    #[getter]
    fn call<'py>(&self, py: Python<'py>) -> &Bound<'py, Call> {
        self.call.bind(py)
    }

    /// The name of the tool: the declared one, if the call means that.
    #[getter]
    fn name<'a>(&'a self, py: Python<'a>) -> &'a str {
        self.tool.as_deref().unwrap_or_else(|| self.call.bind(py).get().call.name())
    }

    /// What was checked: `fitted`, `incomplete`, `unknown` for a tool that does not exist, or `unchecked` for one
    /// without a schema.
    #[getter]
    const fn check(&self) -> &'static str {
        self.check
    }

    /// The declared tool with the most similar name, if the tool does not exist.
    #[getter]
    fn nearest(&self) -> Option<&str> {
        self.nearest.as_deref()
    }

    /// The result of fitting the arguments.
    #[getter]
    fn fitted<'py>(&self, py: Python<'py>) -> Option<&Bound<'py, Fitted>> {
        self.fitted.as_ref().map(|fitted| fitted.bind(py))
    }

    /// The arguments: the value of `fitted`. Raises `error` if the call may not be run.
    #[getter]
    fn value<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        match &slf.get().fitted {
            Some(fitted) if slf.as_super().get().is_complete() => {
                fitted.bind(slf.py()).getattr("value")
            }
            _ => Err(PyErr::from_value(refusal(slf.as_any())?)),
        }
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        shown(slf.as_any(), "check")
    }
}
