//! The part of the Python package `wiremend` that is written in Rust. What is in it has its names and its
//! documentation in `python/wiremend`.

mod calls;
mod events;
mod exchange;
mod growing;
mod json;
mod mended;
mod mender;
mod options;
mod reader;
mod repair;
mod schema;
mod source;
mod value;

use pyo3::prelude::*;

use crate::{
    mended::Mended,
    options::{Keywords, scope},
    source::Source,
};

/// The native module.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::{find, loads, mend};
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
        repair::{Change, Repair},
        schema::{Fitted, Issue, Schema, Tools},
    };
}

/// The value of a text, mended.
#[pyfunction]
#[pyo3(signature = (text, *, incomplete = false, policy = "permissive", without = None, documents = "array", depth = 127))]
fn loads<'py>(
    text: &Bound<'py, PyAny>,
    incomplete: bool,
    policy: &str,
    without: Option<&Bound<'py, PyAny>>,
    documents: &str,
    depth: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let py = text.py();
    let source = Source::of(text)?;
    // Most texts are valid, and their value needs no engine.
    if let Some(text) = source.text(py)?
        && let Some(value) = value::read(py, text, depth)?
    {
        return Ok(value);
    }
    let options = Keywords { policy, without, documents, depth }.options()?;
    let mended = Mended::of(py, source, None, &options)?;
    match mended.built(py)? {
        Some(value) if incomplete || mended.outcome_of().is_complete() => Ok(value),
        _ => {
            let mended = Bound::new(py, mended)?;
            Err(PyErr::from_value(mended::refusal(mended.as_any())?))
        }
    }
}

/// Mends a text that should be JSON.
#[pyfunction]
#[pyo3(signature = (text, *, policy = "permissive", without = None, documents = "array", depth = 127))]
fn mend(
    text: &Bound<'_, PyAny>,
    policy: &str,
    without: Option<&Bound<'_, PyAny>>,
    documents: &str,
    depth: usize,
) -> PyResult<Mended> {
    let options = Keywords { policy, without, documents, depth }.options()?;
    Mended::of(text.py(), Source::of(text)?, None, &options)
}

/// Finds the JSON in a text, and mends it.
#[pyfunction]
#[pyo3(signature = (text, *, scope = "best", policy = "permissive", without = None, documents = "array", depth = 127))]
fn find(
    text: &Bound<'_, PyAny>,
    scope: &str,
    policy: &str,
    without: Option<&Bound<'_, PyAny>>,
    documents: &str,
    depth: usize,
) -> PyResult<Mended> {
    let options = Keywords { policy, without, documents, depth }.options()?;
    Mended::of(text.py(), Source::of(text)?, Some(self::scope(scope)?), &options)
}
