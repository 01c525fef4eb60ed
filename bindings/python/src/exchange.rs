//! Exchanges: a request to a provider and its answer, mended as the gateway does it.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use pyo3::{exceptions::PyValueError, prelude::*, sync::MutexExt, types::PyBytes};
use wiremend::{
    exchange::{self, HeaderEdit, Mending, Treatment},
    wire::Rewritten,
};

use crate::{source::Source, value};

type Headers = Vec<(String, Vec<u8>)>;
/// A header, and the lines that it has from now on.
type Edits<'py> = Vec<(String, Vec<Bound<'py, PyBytes>>)>;

fn pairs(headers: &Headers) -> impl Iterator<Item = (&str, &[u8])> {
    headers.iter().map(|(name, value)| (name.as_str(), value.as_slice()))
}

fn edits<'py, 'e>(py: Python<'py>, edits: impl IntoIterator<Item = &'e HeaderEdit>) -> Edits<'py> {
    let lines = |edit: &HeaderEdit| edit.lines().map(|line| PyBytes::new(py, line)).collect();
    edits.into_iter().map(|edit| (edit.name().to_owned(), lines(edit))).collect()
}

/// What is mended in exchanges, and the tools of the last of them, compiled: one for a client.
#[pyclass(frozen, module = "wiremend")]
pub(crate) struct Exchanges(exchange::Exchanges);

#[pymethods]
impl Exchanges {
    /// Takes the settings of the gateway's section `mending`, as JSON text.
    #[new]
    #[pyo3(signature = (settings = "{}", held_bytes = 8_388_608))]
    fn new(settings: &str, held_bytes: usize) -> PyResult<Self> {
        let mending: Mending = serde_json::from_str(settings)
            .map_err(|error| PyValueError::new_err(format!("mending: {error}")))?;
        Ok(Self(exchange::Exchanges::new(mending).with_held_bytes(held_bytes)))
    }

    /// The head of a request.
    #[expect(clippy::needless_pass_by_value, reason = "Python has no lists of pairs to lend")]
    fn request(&self, method: &str, path: &str, headers: Headers) -> PyResult<Asked> {
        let request = self.0.request(method, path, pairs(&headers));
        let request = request.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Asked { reads_body: request.reads_body(), request })
    }
}

/// The head of a request, of which the body may follow.
#[pyclass(frozen, module = "wiremend")]
pub(crate) struct Asked {
    request: exchange::Request,
    /// Whether the body is read. Otherwise it is sent on as it is.
    #[pyo3(get)]
    reads_body: bool,
}

#[pymethods]
impl Asked {
    /// Reads the body. `None`, if it is not read.
    #[pyo3(signature = (body = None))]
    fn read(&self, py: Python<'_>, body: Option<&Bound<'_, PyAny>>) -> PyResult<Exchange> {
        let request = self.request.clone();
        Ok(Exchange(match body {
            Some(body) => request.read(Source::of(body)?.bytes(py)?),
            None => request.pass(),
        }))
    }
}

/// A request that was read, and what its answer is mended with.
#[pyclass(frozen, module = "wiremend")]
pub(crate) struct Exchange(exchange::Exchange);

#[pymethods]
impl Exchange {
    /// What is sent instead of the body. `None` if it is sent as it is.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.0.body().map(|body| PyBytes::new(py, body.as_bytes()))
    }

    /// The headers of the request that change.
    #[getter]
    fn header_edits<'py>(&self, py: Python<'py>) -> Edits<'py> {
        edits(py, self.0.header_edits())
    }

    /// The head of the answer.
    #[expect(clippy::needless_pass_by_value, reason = "Python has no lists of pairs to lend")]
    fn answer(&self, status: u16, headers: Headers) -> Answer {
        Answer(Mutex::new(self.0.answer(status, pairs(&headers))))
    }
}

/// Mends the body of one answer.
#[pyclass(frozen, module = "wiremend")]
pub(crate) struct Answer(Mutex<exchange::Answer>);

impl Answer {
    fn answer(&self, py: Python<'_>) -> MutexGuard<'_, exchange::Answer> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn collect<'py>(
        &self,
        py: Python<'py>,
        act: impl FnOnce(&mut exchange::Answer, &mut dyn FnMut(Rewritten<'_>)),
    ) -> Bound<'py, PyBytes> {
        let mut out = Vec::new();
        act(&mut self.answer(py), &mut |piece| {
            if let Rewritten::Bytes(bytes) = piece {
                out.extend_from_slice(bytes);
            }
        });
        PyBytes::new(py, &out)
    }
}

#[pymethods]
impl Answer {
    /// What is done with the body: `pass`, `stream`, or `whole` where the head leaves after it.
    #[getter]
    fn treatment(&self, py: Python<'_>) -> &'static str {
        match self.answer(py).treatment() {
            Treatment::Stream => "stream",
            Treatment::Whole => "whole",
            _ => "pass",
        }
    }

    /// The coding of a body that would be mended if it were unpacked.
    #[getter]
    fn coding(&self, py: Python<'_>) -> Option<String> {
        self.answer(py).coding().map(str::to_owned)
    }

    /// Says that what is pushed is unpacked.
    fn unpack(&self, py: Python<'_>, coding: &str) {
        self.answer(py).unpack(coding);
    }

    /// Makes a whole body a stream, before its first piece: it is too long to be kept.
    fn begin_stream(&self, py: Python<'_>) {
        self.answer(py).begin_stream();
    }

    /// Takes a piece, and returns what may leave.
    fn push<'py>(&self, chunk: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let py = chunk.py();
        let chunk = Source::of(chunk)?;
        let bytes = chunk.bytes(py)?;
        Ok(self.collect(py, |answer, mut sink| answer.push(bytes, &mut sink)))
    }

    /// Ends the body, and returns what leaves, with the comment that says what was done, if it is wanted.
    fn finish<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let end = self.collect(py, |answer, mut sink| answer.finish(&mut sink));
        match self.answer(py).comment(None::<Duration>) {
            Some(comment) => PyBytes::new(py, &[end.as_bytes(), comment.as_bytes()].concat()),
            None => end,
        }
    }

    /// Ends the body where it broke off: what waits is returned as it came.
    fn stop<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.collect(py, |answer, mut sink| answer.stop(&mut sink))
    }

    /// The headers of the answer that change: for a whole body, after its end.
    #[getter]
    fn header_edits<'py>(&self, py: Python<'py>) -> Edits<'py> {
        edits(py, &self.answer(py).header_edits())
    }

    /// What was done, in a word: `unchanged`, `repaired`, `cut` and so on.
    #[getter]
    fn verdict(&self, py: Python<'_>) -> &'static str {
        self.answer(py).account().verdict().code()
    }

    /// What was done, in a line.
    #[getter]
    fn line(&self, py: Python<'_>) -> String {
        self.answer(py).account().line()
    }

    /// What was done, call by call.
    #[getter]
    fn account<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let account = self.answer(py).account().to_json();
        value::of_json(py, &account.to_string())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<Answer {}>", self.line(py))
    }
}
