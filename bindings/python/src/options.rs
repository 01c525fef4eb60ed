//! Options, as keywords.

use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyString,
};
use wiremend::{MendOptions, extract::Scope};

/// The keywords that say how repairs are made.
#[derive(Clone, Copy)]
pub(crate) struct Keywords<'a, 'py> {
    pub(crate) policy: &'a str,
    pub(crate) without: Option<&'a Bound<'py, PyAny>>,
    pub(crate) documents: &'a str,
    pub(crate) depth: usize,
    pub(crate) search: bool,
}

impl Keywords<'_, '_> {
    pub(crate) fn options(self) -> PyResult<MendOptions> {
        let without: Vec<String> = match self.without {
            None => Vec::new(),
            Some(text) if text.is_instance_of::<PyString>() => {
                return Err(PyTypeError::new_err("without must be a list of codes, not a str"));
            }
            Some(codes) => {
                codes.try_iter()?.map(|code| code?.extract()).collect::<PyResult<_>>()?
            }
        };
        wiremend_plain::mending(self.policy, without, self.documents, self.depth, self.search)
            .map_err(PyValueError::new_err)
    }
}

/// Where to look for JSON in a text.
pub(crate) fn scope(code: &str) -> PyResult<Scope> {
    wiremend_plain::scope(code).map_err(PyValueError::new_err)
}
