//! The body of a response, while it arrives.

use std::sync::{Mutex, PoisonError};

use pyo3::{
    exceptions::{PyRuntimeError, PyValueError},
    prelude::*,
    sync::MutexExt,
    types::PyList,
};
use wiremend::{
    MendOptions,
    response::{Event, ResponseOptions, ResponseReader, TextCalls},
    schema::FitOptions,
    wire::{ApiFormat, WireOptions},
};

use crate::{
    calls::dialect_of,
    events::{Tails, object_of},
    options::{Keywords, scope},
    schema::{Schema, Tools},
    source::Source,
};

/// Reads the body of a response while it arrives, without IO: `feed` each chunk, then `close`; both return events.
#[pyclass(frozen, module = "wiremend")]
pub(crate) struct Reader(Mutex<State>);

struct State {
    reader: ResponseReader,
    tails: Tails,
    closed: bool,
}

impl State {
    fn read<'py>(&mut self, py: Python<'py>, chunk: Option<&[u8]>) -> PyResult<Bound<'py, PyList>> {
        let mut events = Vec::new();
        let mut take = |event: Event| events.push(event);
        match chunk {
            Some(chunk) => self.reader.push(chunk, &mut take),
            None => self.reader.finish(&mut take),
        }
        let list = PyList::empty(py);
        for event in events {
            if let Some(object) = object_of(py, event, &mut self.tails)? {
                list.append(object)?;
            }
        }
        Ok(list)
    }
}

#[pymethods]
impl Reader {
    #[new]
    #[pyo3(signature = (
        *, tools = None, schema = None, objects = None, calls_in_text = false, dialect = None, format = None,
        content_type = None, policy = "conservative", without = None, text_policy = "permissive", depth = 127,
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        tools: Option<&Bound<'_, Tools>>,
        schema: Option<&Bound<'_, Schema>>,
        objects: Option<&str>,
        calls_in_text: bool,
        dialect: Option<&str>,
        format: Option<&str>,
        content_type: Option<&str>,
        policy: &str,
        without: Option<&Bound<'_, PyAny>>,
        text_policy: &str,
        depth: usize,
    ) -> PyResult<Self> {
        let mending = |policy| -> PyResult<MendOptions> {
            Keywords { policy, without, documents: "first", depth, search: true }.options()
        };
        let mut wire = WireOptions::new().with_mending(mending(policy)?);
        if let Some(content_type) = content_type {
            wire = wire.with_content_type(content_type);
        }
        if let Some(code) = format {
            let known = || {
                let known: Vec<_> = ApiFormat::ALL.iter().map(|format| format.code()).collect();
                PyValueError::new_err(format!("no format {code:?}; formats: {}", known.join(", ")))
            };
            wire = wire.with_format(ApiFormat::from_code(code).ok_or_else(known)?);
        }
        let text = mending(text_policy)?;
        let mut options = ResponseOptions::new().with_wire(wire).with_mending(text.clone());
        if let Some(tools) = tools {
            options = options.with_tools(&tools.get().0);
        }
        if let Some(schema) = schema {
            options = options.with_schema(&schema.get().0, FitOptions::new().with_mending(text));
        }
        if let Some(objects) = objects {
            options = options.with_objects(scope(objects)?);
        }
        if let Some(name) = dialect {
            let calls = TextCalls::of_dialect(dialect_of(name)?.clone());
            options = options.with_calls_in_text(calls);
        } else if calls_in_text {
            options = options.with_calls_in_text(TextCalls::detected());
        }
        let reader = ResponseReader::new(options);
        Ok(Self(Mutex::new(State { reader, tails: Tails::default(), closed: false })))
    }

    /// Reads a chunk of the body.
    fn feed<'py>(&self, chunk: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let py = chunk.py();
        let chunk = Source::of(chunk)?;
        let bytes = chunk.bytes(py)?;
        let mut state = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return Err(PyRuntimeError::new_err("the reader was closed"));
        }
        state.read(py, Some(bytes))
    }

    /// Ends the body. The last event is `Ended`. No events when it is called again.
    fn close<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut state = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut state.closed, true) {
            return Ok(PyList::empty(py));
        }
        state.read(py, None)
    }
}
