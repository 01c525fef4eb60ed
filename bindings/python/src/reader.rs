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
    response::{Event, ResponseReader},
};
use wiremend_plain::{Pieces, Response};

use crate::{
    events::object_of,
    options::Keywords,
    schema::{Schema, Tools},
    source::Source,
};

/// Reads the body of a response while it arrives, without IO: `feed` each chunk, then `close`; both return events.
#[pyclass(frozen, module = "wiremend")]
pub(crate) struct Reader(Mutex<State>);

struct State {
    reader: ResponseReader,
    /// Of calls, or of objects, by their number.
    pieces: Pieces<(bool, usize)>,
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
            if let Some(object) = object_of(py, event, &mut self.pieces)? {
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
        let response = Response {
            tools: tools.map(|tools| &tools.get().0),
            schema: schema.map(|schema| &schema.get().0),
            objects,
            calls_in_text,
            dialect,
            format,
            content_type,
        };
        let options = response.options(mending(policy)?, mending(text_policy)?);
        let options = options.map_err(PyValueError::new_err)?;
        let reader = ResponseReader::new(options);
        Ok(Self(Mutex::new(State { reader, pieces: Pieces::default(), closed: false })))
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
