//! A text that arrives.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::{
    PyTraverseError, PyVisit, exceptions::PyRuntimeError, prelude::*, sync::MutexExt,
    types::PyString,
};
use wiremend::{Output, Partial, Repair, repair::Repairs};

use crate::{
    mended::{Mended, Origin},
    options::Keywords,
    source::Source,
    value,
};

/// Mends a text while it arrives.
///
/// `feed` each chunk, then `close`. How the text is divided into chunks changes nothing. What `feed` returned is
/// never taken back.
#[pyclass(frozen, module = "wiremend")]
#[derive(Debug)]
pub(crate) struct Mender(Mutex<State>);

#[derive(Debug)]
struct State {
    mender: wiremend::Mender,
    emitted: Emitted,
    partial: Partial,
    /// How much of the text was returned.
    returned: usize,
    closed: Option<Py<Mended>>,
}

/// What the engine has emitted.
#[derive(Debug, Default)]
struct Emitted {
    text: Vec<u8>,
    repairs: Repairs,
}

impl Output for Emitted {
    fn copy(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }
    fn repair(&mut self, repair: Repair) {
        self.repairs.push(&repair);
    }
}

impl State {
    /// The text that was not returned yet, up to its last whole character.
    fn take<'py>(&mut self, py: Python<'py>, end: bool) -> Bound<'py, PyString> {
        let new = self.emitted.text.get(self.returned..).unwrap_or_default();
        let whole = match std::str::from_utf8(new) {
            Err(error) if error.error_len().is_none() && !end => error.valid_up_to(),
            _ => new.len(),
        };
        self.returned += whole;
        // Text that could not be mended may be anything.
        PyString::new(py, &String::from_utf8_lossy(&new[..whole]))
    }
}

impl Mender {
    fn state(&self, py: Python<'_>) -> MutexGuard<'_, State> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Mender {
    #[new]
    #[pyo3(signature = (*, policy = "permissive", without = None, depth = 127))]
    fn new(policy: &str, without: Option<&Bound<'_, PyAny>>, depth: usize) -> PyResult<Self> {
        let options =
            Keywords { policy, without, documents: "first", depth, search: true }.options()?;
        Ok(Self(Mutex::new(State {
            mender: wiremend::Mender::new(options),
            emitted: Emitted::default(),
            partial: Partial::new(),
            returned: 0,
            closed: None,
        })))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // In the middle of a call nothing is looked for: then it is held.
        self.0.try_lock().map_or(Ok(()), |state| visit.call(state.closed.as_ref()))
    }

    /// Reads a chunk, and returns the mended text that is certain now.
    fn feed<'py>(&self, chunk: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
        let py = chunk.py();
        let chunk = Source::of(chunk)?;
        let bytes = chunk.bytes(py)?;
        let mut state = self.state(py);
        let State { mender, emitted, partial, closed, .. } = &mut *state;
        if closed.is_some() {
            return Err(PyRuntimeError::new_err("the mender was closed"));
        }
        mender.push(bytes, &mut (emitted, partial));
        Ok(state.take(py, false))
    }

    /// Ends the text, and returns the result: the same one when it is called again.
    fn close(&self, py: Python<'_>) -> PyResult<Py<Mended>> {
        let mut state = self.state(py);
        let State { mender, emitted, partial, closed, .. } = &mut *state;
        if let Some(closed) = closed {
            return Ok(closed.clone_ref(py));
        }
        let outcome = mender.finish(&mut (&mut *emitted, partial));
        let Emitted { text: bytes, repairs } = std::mem::take(emitted);
        let text = std::str::from_utf8(&bytes).ok().filter(|_| outcome.is_valid());
        let text = text.map(|text| PyString::new(py, text));
        let cut = matches!(outcome, wiremend::Outcome::Closed | wiremend::Outcome::Cut);
        let cut_at = cut.then(|| mender.path());
        let (base, mended) = Mended::new(Origin::Chunks(bytes), outcome, text, repairs, cut_at);
        Ok(closed.insert(base.with(py, mended)?.unbind()).clone_ref(py))
    }

    /// The value so far, as an object of its own: what is open in it is shown as far as it has arrived. `None`
    /// before the value begins. Costs as much as the value is large.
    ///
    /// A later snapshot never contradicts it: strings and lists only grow, numbers and words appear whole.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let state = self.state(py);
        match state.partial.root() {
            Some(root) => value::build(py, root),
            None => Ok(py.None().into_bound(py)),
        }
    }

    /// What would make the text that was returned so far valid JSON. `None` where there is nothing to complete.
    #[getter]
    fn completion(&self, py: Python<'_>) -> Option<String> {
        self.state(py).mender.completion().map(|rest| rest.to_string())
    }

    /// How it ended, once nothing that follows can change it.
    #[getter]
    fn outcome(&self, py: Python<'_>) -> Option<&'static str> {
        self.state(py).mender.outcome().map(wiremend::Outcome::code)
    }

    /// How many repairs were made.
    #[getter]
    fn repair_count(&self, py: Python<'_>) -> usize {
        self.state(py).mender.repair_count()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let offset = self.state(py).mender.offset();
        format!("<Mender after {offset} bytes>")
    }
}
