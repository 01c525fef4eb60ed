//! Calls: their arguments, and those in a text.

use pyo3::{
    PyTraverseError, PyVisit, exceptions::PyValueError, prelude::*, sync::PyOnceLock,
    types::PyTuple,
};
use wiremend::{
    calls::{self, CallExtractor, Dialect},
    repair::TrailingDocuments,
    response::{self, FittedArguments, fit_arguments},
    schema::FitOptions,
    wire::{ArgumentsOutcome, FinishReason, MendedArguments},
};

use crate::{
    json::Json,
    mended::refusal,
    options::Keywords,
    repair,
    schema::{Fitted, Issue, Schema, Tools},
    source::Source,
};

/// The arguments of a call, mended.
#[pyclass(frozen, name = "MendedArguments", module = "wiremend")]
pub(crate) struct Arguments {
    mended: MendedArguments,
    fitted: Option<FittedArguments>,
    json: Option<Json>,
    source: Source,
}

impl Arguments {
    fn made(&self) -> ArgumentsOutcome {
        self.fitted.as_ref().map_or_else(|| self.mended.outcome(), FittedArguments::outcome)
    }
}

/// Mends the arguments of a call.
#[pyfunction]
#[pyo3(signature = (raw, finish_reason, schema = None, *, policy = "conservative", without = None, depth = 127))]
pub(crate) fn mend_arguments(
    raw: &Bound<'_, PyAny>,
    finish_reason: &str,
    schema: Option<&Bound<'_, Schema>>,
    policy: &str,
    without: Option<&Bound<'_, PyAny>>,
    depth: usize,
) -> PyResult<Arguments> {
    let options = Keywords { policy, without, documents: "first", depth }.options()?;
    let source = Source::of(raw)?;
    let bytes = source.bytes(raw.py())?;
    let text = String::from_utf8_lossy(bytes);
    let finish = FinishReason::from_provider(finish_reason);
    let (mended, fitted, json) = match schema {
        None => {
            let mended = MendedArguments::new(&text, finish, &options);
            let json = mended.value().map(Json::new);
            (mended, None, json)
        }
        Some(schema) => {
            let options = FitOptions::new().with_mending(options);
            let fitted = fit_arguments(&text, finish, &schema.get().0, &options);
            let json = fitted.value().map(Json::new);
            (fitted.mended().clone(), Some(fitted), json)
        }
    };
    Ok(Arguments { mended, fitted, json, source })
}

#[pymethods]
impl Arguments {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str, &'static str) = ("outcome", "text");

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        Json::visit(self.json.as_ref(), &visit)
    }

    /// How it ended: `whole`, `repaired`, `cut` or `refused`.
    #[getter]
    fn outcome(&self) -> &'static str {
        self.made().code()
    }

    /// Whether the call may be run.
    #[getter]
    fn is_complete(&self) -> bool {
        self.json.is_some()
    }

    /// The arguments as JSON text, if the call may be run with them.
    #[getter]
    fn text(&self) -> Option<&str> {
        self.json.as_ref().map(Json::text)
    }

    /// The value of the text. Raises `error` if the call may not be run.
    #[getter]
    fn value<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        match &slf.get().json {
            Some(json) => json.value(slf.py()),
            None => Err(PyErr::from_value(Self::error(slf)?)),
        }
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

    /// The error that says why the call may not be run, to be raised. `None` if it may.
    #[getter]
    fn error<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        if slf.get().json.is_some() {
            return Ok(slf.py().None().into_bound(slf.py()));
        }
        refusal(slf.as_any())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let text = slf.getattr("text")?.repr()?;
        Ok(format!("<MendedArguments {}: {text}>", slf.get().outcome()))
    }
}

/// A call that was found in a text.
#[pyclass(frozen, module = "wiremend")]
pub(crate) struct FoundCall {
    call: calls::FoundCall,
    json: Option<Json>,
}

impl FoundCall {
    fn of(call: &calls::FoundCall) -> Self {
        let runs = call.outcome().can_run() && !call.in_reasoning();
        let json = runs.then(|| Json::new(String::from_utf8_lossy(call.arguments())));
        Self { call: call.clone(), json }
    }
}

#[pymethods]
impl FoundCall {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str, &'static str) = ("name", "text");

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        Json::visit(self.json.as_ref(), &visit)
    }

    /// The name of the tool.
    #[getter]
    fn name(&self) -> &str {
        self.call.name()
    }

    /// The identifier that the model gave it.
    #[getter]
    fn id(&self) -> Option<&str> {
        self.call.id()
    }

    /// How it ended: `whole`, `repaired`, `cut` or `refused`.
    #[getter]
    fn outcome(&self) -> &'static str {
        self.call.outcome().code()
    }

    /// Whether it may be run.
    #[getter]
    const fn is_complete(&self) -> bool {
        self.json.is_some()
    }

    /// The arguments as JSON text, if it may be run.
    #[getter]
    fn text(&self) -> Option<&str> {
        self.json.as_ref().map(Json::text)
    }

    /// The arguments. Raises `error` if it may not be run.
    #[getter]
    fn value<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        match &slf.get().json {
            Some(json) => json.value(slf.py()),
            None => Err(PyErr::from_value(Self::error(slf)?)),
        }
    }

    /// The arguments as the model wrote them.
    #[getter]
    fn raw(&self) -> String {
        String::from_utf8_lossy(self.call.raw()).into_owned()
    }

    /// The name of the dialect in which it is written.
    #[getter]
    fn dialect(&self) -> &str {
        self.call.dialect()
    }

    /// Whether the tool is known. `True` if no tools were given.
    #[getter]
    const fn known(&self) -> bool {
        self.call.known()
    }

    /// Whether it is a draft in the reasoning of the model, and no call.
    #[getter]
    const fn in_reasoning(&self) -> bool {
        self.call.in_reasoning()
    }

    /// Where it begins and ends in the text, in bytes of UTF-8, with its markers.
    #[getter]
    fn span(&self) -> Option<(usize, usize)> {
        self.call.end().map(|end| (end.span.start, end.span.end))
    }

    /// The error that says why it may not be run, to be raised. `None` if it may.
    #[getter]
    fn error<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        if slf.get().json.is_some() {
            return Ok(slf.py().None().into_bound(slf.py()));
        }
        refusal(slf.as_any())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (name, text) = (slf.getattr("name")?.repr()?, slf.getattr("text")?.repr()?);
        Ok(format!("<FoundCall {}: {name}, {text}>", slf.get().outcome()))
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
    let options = Keywords { policy, without, documents: "first", depth }.options()?;
    let options = options.with_trailing_documents(TrailingDocuments::First);
    let mut reader = CallExtractor::new(options);
    if let Some(tools) = tools {
        reader = reader.with_tools(tools.get().0.load().tools());
    }
    if let Some(name) = dialect {
        reader = reader.with_dialect(dialect_of(name)?.clone());
    }
    let source = Source::of(text)?;
    let mut found = calls::FoundCalls::default();
    reader.push(source.bytes(py)?, &mut found);
    match cut {
        true => reader.finish(&mut found),
        false => reader.finish_at_eos(&mut found),
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(FoundCalls {
        calls: PyTuple::new(py, found.calls().iter().map(FoundCall::of).collect::<Vec<_>>())?
            .unbind(),
        text: text(found.text()),
        reasoning: text(found.reasoning()),
        unknown: found
            .unknown()
            .map(|(name, near)| (name.to_owned(), near.map(str::to_owned)))
            .collect(),
    })
}

/// The dialect of that name, or of the model of that name.
pub(crate) fn dialect_of(name: &str) -> PyResult<&'static Dialect> {
    let found = Dialect::by_name(name).or_else(|| Dialect::of_model(name));
    found.ok_or_else(|| {
        let known: Vec<_> = Dialect::all().iter().map(Dialect::name).collect();
        let known = known.join(", ");
        PyValueError::new_err(format!("no dialect or model is called {name:?}; dialects: {known}"))
    })
}

/// A call of a response that has ended.
#[pyclass(frozen, module = "wiremend")]
pub(crate) struct Call {
    call: std::sync::Arc<wiremend::wire::Call>,
    json: Option<Json>,
    listed: PyOnceLock<Py<PyTuple>>,
}

impl Call {
    pub(crate) fn of(call: std::sync::Arc<wiremend::wire::Call>) -> Self {
        let is_json = call.kind() != wiremend::wire::CallKind::Custom;
        let runs = call.outcome().is_complete() && is_json;
        let json = runs.then(|| Json::new(call.arguments()));
        Self { call, json, listed: PyOnceLock::new() }
    }
}

#[pymethods]
impl Call {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str, &'static str) = ("name", "text");

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        Json::visit(self.json.as_ref(), &visit)
    }

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

    /// Whether it may be run.
    #[getter]
    fn is_complete(&self) -> bool {
        self.call.outcome().is_complete()
    }

    /// The arguments: JSON text, or the free text of a custom tool. `None` if the call may not be run.
    #[getter]
    fn text(&self) -> Option<&str> {
        self.is_complete().then(|| self.call.arguments())
    }

    /// The value of the arguments. Raises `error` if the call may not be run.
    #[getter]
    fn value<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let call = slf.get();
        match &call.json {
            Some(json) => json.value(slf.py()),
            None if call.is_complete() => {
                Ok(call.call.arguments().into_pyobject(slf.py())?.into_any())
            }
            None => Err(PyErr::from_value(Self::error(slf)?)),
        }
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

    /// The error that says why it may not be run, to be raised. `None` if it may.
    #[getter]
    fn error<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        if slf.get().is_complete() {
            return Ok(slf.py().None().into_bound(slf.py()));
        }
        refusal(slf.as_any())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (name, text) = (slf.getattr("name")?.repr()?, slf.getattr("text")?.repr()?);
        Ok(format!("<Call {}: {name}, {text}>", slf.get().outcome()))
    }
}

/// A call of a response, and its arguments as they fit the schema of its tool.
#[pyclass(frozen, module = "wiremend")]
pub(crate) struct FittedCall {
    call: Py<Call>,
    tool: Option<String>,
    nearest: Option<String>,
    check: &'static str,
    fitted: Option<Py<Fitted>>,
}

impl FittedCall {
    pub(crate) fn of(py: Python<'_>, fitted: &response::FittedCall) -> PyResult<Self> {
        let call = Py::new(py, Call::of(std::sync::Arc::new(fitted.call().clone())))?;
        let made = Self { call, tool: None, nearest: None, check: "unchecked", fitted: None };
        Ok(match fitted.check() {
            response::CallCheck::Fitted { tool, fitted: result, .. } => {
                let source = Source::Copied(fitted.call().raw().as_bytes().to_vec());
                let result = Py::new(py, Fitted::new(Some(source), result.clone()))?;
                Self { tool: Some(tool.clone()), check: "fitted", fitted: Some(result), ..made }
            }
            response::CallCheck::Incomplete => Self { check: "incomplete", ..made },
            response::CallCheck::Unknown { nearest, .. } => {
                Self { nearest: nearest.clone(), check: "unknown", ..made }
            }
            _ => made,
        })
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

    /// Whether the call may be run: it is complete, and its arguments fit.
    #[getter]
    fn is_complete(&self) -> bool {
        self.fitted.as_ref().is_some_and(|fitted| fitted.get().is_whole())
    }

    /// The arguments as JSON text that fits. `None` if the call may not be run.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.fitted {
            Some(fitted) if fitted.get().is_whole() => fitted.bind(py).getattr("text"),
            _ => Ok(py.None().into_bound(py)),
        }
    }

    /// The arguments. Raises `error` if the call may not be run.
    #[getter]
    fn value<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        match &slf.get().fitted {
            Some(fitted) if fitted.get().is_whole() => fitted.bind(slf.py()).getattr("value"),
            _ => Err(PyErr::from_value(Self::error(slf)?)),
        }
    }

    /// The error that says why it may not be run, to be raised. `None` if it may.
    #[getter]
    fn error<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, call) = (slf.py(), slf.get());
        match &call.fitted {
            Some(fitted) => fitted.bind(py).getattr("error"),
            None if !call.call.get().is_complete() => call.call.bind(py).getattr("error"),
            None => refusal(slf.as_any()),
        }
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (name, text) = (slf.getattr("name")?.repr()?, slf.getattr("text")?.repr()?);
        Ok(format!("<FittedCall {}: {name}, {text}>", slf.get().check))
    }
}
