//! Repairs, as objects.

use pyo3::{
    prelude::*,
    types::{PyString, PyTuple},
};
use wiremend::repair::{Located, Repairs};

use crate::source::Source;

/// One change that a text needed.
///
/// For a `str`, `start` and `end` count characters; for anything else, and for what arrived in chunks, bytes of
/// UTF-8.
#[pyclass(frozen, eq, hash, get_all, module = "wiremend")]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Repair {
    /// What was wrong: a code of the list of repairs, such as `single-quote`.
    kind: &'static str,
    /// What the repair assumes: `exact`, `likely`, `lossy` or `guess`.
    risk: &'static str,
    /// Where the text that was replaced begins.
    start: usize,
    /// Where it ends.
    end: usize,
    /// The text that was replaced. `None` if it arrived in chunks, which are not kept.
    before: Option<String>,
    /// The text instead.
    after: String,
    /// Where in the value, such as `$.a[0]`.
    path: String,
}

#[pymethods]
impl Repair {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str, &'static str, &'static str, &'static str) =
        ("kind", "before", "after", "path");

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let Self { kind, risk, start, end, path, .. } = slf.get();
        let before = slf.getattr("before")?.repr()?;
        let after = slf.getattr("after")?.repr()?;
        Ok(format!(
            "Repair(kind='{kind}', risk='{risk}', start={start}, end={end}, before={before}, \
             after={after}, path={})",
            PyString::new(slf.py(), path).repr()?
        ))
    }
}

/// The repairs of a text that a caller passed as a whole.
pub(crate) fn of_source<'py>(
    py: Python<'py>,
    source: &Source,
    repairs: &Repairs,
) -> PyResult<Bound<'py, PyTuple>> {
    if repairs.is_empty() {
        return Ok(PyTuple::empty(py));
    }
    let bytes = source.bytes(py)?;
    let mut located = Located::in_input(bytes, repairs);
    let mut places = source.places(bytes);
    let mut made = Vec::with_capacity(repairs.len());
    while let Some(repair) = located.next() {
        let before = bytes.get(repair.start()..repair.end()).unwrap_or_default();
        made.push(Repair {
            kind: repair.kind().code(),
            risk: repair.risk().code(),
            start: places.place(repair.start()),
            end: places.place(repair.end()),
            before: Some(String::from_utf8_lossy(before).into_owned()),
            after: repair.after().to_owned(),
            path: located.path().to_string(),
        });
    }
    PyTuple::new(py, made)
}

/// The repairs that led to `mended`.
pub(crate) fn of_mended<'py>(
    py: Python<'py>,
    mended: &[u8],
    repairs: &Repairs,
) -> PyResult<Bound<'py, PyTuple>> {
    let mut located = Located::in_mended(mended, 0, repairs);
    let mut made = Vec::with_capacity(repairs.len());
    while let Some(repair) = located.next() {
        made.push(Repair {
            kind: repair.kind().code(),
            risk: repair.risk().code(),
            start: repair.start(),
            end: repair.end(),
            before: None,
            after: repair.after().to_owned(),
            path: located.path().to_string(),
        });
    }
    PyTuple::new(py, made)
}
