//! Repairs, as objects.

use pyo3::{prelude::*, types::PyTuple};
use wiremend::{repair::Repairs, schema};

use crate::source::Source;

macro_rules! changes {
    ($($(#[$about:meta])* $name:ident)*) => { $(
        $(#[$about])*
        ///
        /// For a `str`, `start` and `end` count characters; for anything else, and for what arrived in chunks, bytes
        /// of UTF-8.
        #[pyclass(frozen, eq, hash, get_all, module = "wiremend")]
        #[derive(Debug, PartialEq, Eq, Hash)]
        pub(crate) struct $name {
            /// What was wrong: a code of the list of repairs or rules, such as `single-quote`.
            kind: &'static str,
            /// What it assumes: `exact`, `likely`, `lossy` or `guess`.
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

        impl From<wiremend_plain::Repair> for $name {
            fn from(repair: wiremend_plain::Repair) -> Self {
                let wiremend_plain::Repair { kind, risk, start, end, before, after, path } = repair;
                Self { kind, risk, start, end, before, after, path }
            }
        }

        #[pymethods]
        impl $name {
            #[classattr]
            #[pyo3(name = "__match_args__")]
            const MATCH: (&'static str, &'static str, &'static str, &'static str) =
                ("kind", "before", "after", "path");

            fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
                let fields = ["kind", "risk", "start", "end", "before", "after", "path"];
                shown(slf.as_any(), stringify!($name), &fields)
            }
        }
    )* };
}

changes! {
    /// One change that it took to make a text valid JSON.
    Repair
    /// One change that it took to make a text valid JSON, and its value fit a schema: a repair, or what a rule did.
    Change
}

/// One way to read a broken text.
#[pyclass(frozen, get_all, module = "wiremend")]
pub(crate) struct Reading {
    /// What its repairs cost together, in hundredths of a comment that is dropped.
    cost: u32,
    /// What it makes of the text: JSON.
    text: String,
    /// Its repairs.
    repairs: Py<PyTuple>,
}

impl Reading {
    pub(crate) fn of(
        py: Python<'_>,
        source: &Source,
        reading: wiremend::Reading,
    ) -> PyResult<Self> {
        let repairs = of_source(py, source, &reading.repairs)?.unbind();
        Ok(Self { cost: reading.cost, text: reading.text, repairs })
    }
}

#[pymethods]
impl Reading {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str, &'static str) = ("cost", "text");

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        shown(slf.as_any(), "Reading", &["cost", "text", "repairs"])
    }
}

/// An object with its fields, as Python writes a dataclass.
pub(crate) fn shown(object: &Bound<'_, PyAny>, name: &str, fields: &[&str]) -> PyResult<String> {
    let fields =
        fields.iter().map(|field| Ok(format!("{field}={}", object.getattr(*field)?.repr()?)));
    Ok(format!("{name}({})", fields.collect::<PyResult<Vec<_>>>()?.join(", ")))
}

/// The repairs of a text that a caller passed as a whole.
pub(crate) fn of_source<'py>(
    py: Python<'py>,
    source: &Source,
    repairs: &Repairs,
) -> PyResult<Bound<'py, PyTuple>> {
    let listed = wiremend_plain::of_text(source.bytes(py)?, source.unit(), repairs);
    PyTuple::new(py, listed.into_iter().map(Repair::from).collect::<Vec<_>>())
}

/// The repairs that led to `mended`, which begins at `start`.
pub(crate) fn of_mended<'py>(
    py: Python<'py>,
    mended: &[u8],
    start: usize,
    repairs: &Repairs,
) -> PyResult<Bound<'py, PyTuple>> {
    let listed = wiremend_plain::of_mended(mended, start, repairs);
    PyTuple::new(py, listed.into_iter().map(Repair::from).collect::<Vec<_>>())
}

/// The changes that made the value of a text fit its schema. The text, if it is kept.
pub(crate) fn changes<'py>(
    py: Python<'py>,
    source: Option<&Source>,
    changes: &[schema::Change],
) -> PyResult<Bound<'py, PyTuple>> {
    let text = source.map(|source| source.bytes(py).map(|bytes| (bytes, source.unit())));
    let listed = wiremend_plain::of_changes(text.transpose()?, changes);
    PyTuple::new(py, listed.into_iter().map(Change::from).collect::<Vec<_>>())
}
