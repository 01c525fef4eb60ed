//! The part of the Python package `wiremend` that is written in Rust. What is in it has its names and its
//! documentation in `python/wiremend`.

mod calls;
mod events;
mod exchange;
mod growing;
mod mended;
mod mender;
mod options;
mod reader;
mod repair;
mod result;
mod schema;
mod source;
mod value;

use pyo3::{prelude::*, types::PyTuple};
use wiremend::{Limits, MendOptions};

use crate::{
    mended::Mended,
    options::{Keywords, scope},
    repair::Reading,
    result::refusal,
    source::{LONG, Source},
};

/// The native module.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::{find, loads, mend, readings};
    #[pymodule_export]
    use crate::{
        calls::{Arguments, Call, FittedCall, FoundCall, FoundCalls, find_calls, mend_arguments},
        events::{
            CallBegan, CallEnded, CallFitted, CallFragment, CallIssue, CallNamed, CallRaw,
            CallRestated, Citation, Doubted, Ended, EnvelopeMended, Error, Finish, FormatDetected,
            FramingDetected, KeepAlive, Object, ObjectBegan, ObjectEnded, ObjectFitted,
            ObjectFragment, ObjectIssue, ObjectRaw, Oversize, Reasoning, Refusal, Text,
            TextWasReasoning, Unfinished, UnknownTool, Usage,
        },
        exchange::{Answer, Asked, Exchange, Exchanges},
        growing::{Growing, Items},
        mended::Mended,
        mender::Mender,
        reader::Reader,
        repair::{Change, Reading, Repair},
        result::ResultBase,
        schema::{Fitted, Issue, Schema, Tools},
    };
}

/// The value of a text, mended. Raises a `MendError` where there is none, or not a whole one.
///
/// `policy` says which repairs are allowed, `without` lists the codes of some that are not, `documents` says what
/// becomes of several documents, `depth` is the deepest nesting, and `search` says whether the cheapest reading is
/// searched for where a repair has a rival. With `incomplete`, a text that was cut off has the value that there is of it.
#[pyfunction]
#[pyo3(signature = (text, *, incomplete = false, policy = "permissive", without = None, documents = "array", depth = 127, search = true))]
fn loads<'py>(
    text: &Bound<'py, PyAny>,
    incomplete: bool,
    policy: &str,
    without: Option<&Bound<'py, PyAny>>,
    documents: &str,
    depth: usize,
    search: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = text.py();
    let options = Keywords { policy, without, documents, depth, search }.options()?;
    let source = Source::of(text)?;
    // Most texts are valid, and their value needs no engine.
    if let Some(text) = source.text(py)?
        && let Some(value) = value::read(py, text, depth)?
    {
        return Ok(value);
    }
    let (base, mended) = Mended::of(py, source, None, &options)?;
    match base.built(py)? {
        Some(value) if incomplete || base.is_complete() => Ok(value),
        _ => Err(PyErr::from_value(refusal(base.with(py, mended)?.as_any())?)),
    }
}

/// Mends a text that should be JSON, and says what was done. It raises for wrong options only, which are those of
/// `loads`.
#[pyfunction]
#[pyo3(signature = (text, *, policy = "permissive", without = None, documents = "array", depth = 127, search = true))]
fn mend<'py>(
    text: &Bound<'py, PyAny>,
    policy: &str,
    without: Option<&Bound<'py, PyAny>>,
    documents: &str,
    depth: usize,
    search: bool,
) -> PyResult<Bound<'py, Mended>> {
    let options = Keywords { policy, without, documents, depth, search }.options()?;
    let (base, mended) = Mended::of(text.py(), Source::of(text)?, None, &options)?;
    base.with(text.py(), mended)
}

/// Finds the JSON in a text with prose, code fences or reasoning around it, and mends it. `scope` says where to look;
/// the other options are those of `loads`.
#[pyfunction]
#[pyo3(signature = (text, *, scope = "best", policy = "permissive", without = None, documents = "array", depth = 127, search = true))]
fn find<'py>(
    text: &Bound<'py, PyAny>,
    scope: &str,
    policy: &str,
    without: Option<&Bound<'py, PyAny>>,
    documents: &str,
    depth: usize,
    search: bool,
) -> PyResult<Bound<'py, Mended>> {
    let options = Keywords { policy, without, documents, depth, search }.options()?;
    let (base, mended) =
        Mended::of(text.py(), Source::of(text)?, Some(self::scope(scope)?), &options)?;
    base.with(text.py(), mended)
}

/// The two cheapest readings of a broken text that give different values, the cheapest first: the further the second one
/// is, the surer is the first. `mend` takes the first one if it is cheaper than what a stream reads by a margin, and within
/// the policy; here, any repair may be made.
///
/// There is none if a text is valid, is in a wrapper (a data URL, lines with marks), is cut off at the first byte of its
/// document, or needs more repairs than a search may make; and only one if nothing else comes near, within 1,000. The first
/// 16,384 places where one reading was preferred to another are compared: in a long text with more of them, a reading that
/// differs only near its end may be missed.
#[pyfunction]
#[pyo3(signature = (text, *, depth = 127))]
fn readings<'py>(text: &Bound<'py, PyAny>, depth: usize) -> PyResult<Bound<'py, PyTuple>> {
    let py = text.py();
    let options = MendOptions::new().with_limits(Limits::new().with_depth(depth));
    let source = Source::of(text)?;
    let bytes = source.bytes(py)?;
    let find = || wiremend::readings(bytes, &options);
    let found = if bytes.len() < LONG { find() } else { py.detach(find) };
    let readings = found.into_iter().map(|reading| Reading::of(py, &source, reading));
    PyTuple::new(py, readings.collect::<PyResult<Vec<_>>>()?)
}
