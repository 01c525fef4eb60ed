//! The texts that callers pass.

use pyo3::{
    buffer::PyBuffer,
    exceptions::PyTypeError,
    prelude::*,
    types::{PyByteArray, PyBytes, PyMemoryView, PyString},
};
use wiremend_plain::Unit;

/// From this length on, other threads run while a text is mended.
pub(crate) const LONG: usize = 64 << 10;

/// A text that a caller passed. What cannot change is not copied: a `str`, `bytes`, and a `memoryview`
/// of the whole of a `bytes`.
#[derive(Debug)]
pub(crate) enum Source {
    Str(Py<PyString>),
    Bytes(Py<PyBytes>),
    /// A copy: another thread may write into a buffer while it is read.
    Copied(Vec<u8>),
    /// The bytes of a `str` with half of a surrogate pair, which no UTF-8 has.
    Surrogates(Vec<u8>),
}

impl Source {
    pub(crate) fn of(text: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(text) = text.cast::<PyString>() {
            return match text.to_str() {
                Ok(_) => Ok(Self::Str(text.clone().unbind())),
                Err(_) => {
                    let bytes = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
                    Ok(Self::Surrogates(bytes.cast::<PyBytes>()?.as_bytes().to_vec()))
                }
            };
        }
        if let Ok(bytes) = text.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.clone().unbind()));
        }
        if let Ok(view) = text.cast::<PyMemoryView>() {
            let whole = view.getattr("obj")?;
            if let Ok(bytes) = whole.cast::<PyBytes>()
                && view.getattr("nbytes")?.extract::<usize>()? == bytes.as_bytes().len()
                && view.getattr("c_contiguous")?.is_truthy()?
            {
                return Ok(Self::Bytes(bytes.clone().unbind()));
            }
            let bytes = view.call_method0("tobytes")?;
            return Ok(Self::Bytes(bytes.cast_into::<PyBytes>()?.unbind()));
        }
        if let Ok(bytes) = text.cast::<PyByteArray>() {
            return Ok(Self::Copied(bytes.to_vec()));
        }
        let Ok(buffer) = PyBuffer::<u8>::get(text) else {
            let kind = text.get_type().qualname()?;
            return Err(PyTypeError::new_err(format!(
                "expected str, bytes, bytearray or memoryview, not {kind}"
            )));
        };
        Ok(Self::Copied(buffer.to_vec(text.py())?))
    }

    /// The bytes. Spans of repairs are relative to them.
    pub(crate) fn bytes<'a>(&'a self, py: Python<'a>) -> PyResult<&'a [u8]> {
        Ok(match self {
            Self::Str(text) => text.bind(py).to_str()?.as_bytes(),
            Self::Bytes(bytes) => bytes.bind(py).as_bytes(),
            Self::Copied(bytes) | Self::Surrogates(bytes) => bytes,
        })
    }

    /// The text, if it is one.
    pub(crate) fn text<'a>(&'a self, py: Python<'a>) -> PyResult<Option<&'a str>> {
        Ok(match self {
            Self::Str(text) => Some(text.bind(py).to_str()?),
            Self::Bytes(bytes) => std::str::from_utf8(bytes.bind(py).as_bytes()).ok(),
            Self::Copied(bytes) => std::str::from_utf8(bytes).ok(),
            Self::Surrogates(_) => None,
        })
    }

    /// What the places in it count for the caller.
    pub(crate) const fn unit(&self) -> Unit {
        match self {
            Self::Str(_) | Self::Surrogates(_) => Unit::Character,
            Self::Bytes(_) | Self::Copied(_) => Unit::Byte,
        }
    }
}
