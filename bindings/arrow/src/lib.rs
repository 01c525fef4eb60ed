//! The part of the Python package `wiremend_arrow` that is written in Rust. What is in it has its names and its
//! documentation in `python/wiremend_arrow`.

mod cell;
mod column;
mod cores;
mod mending;
mod options;
mod result;
mod shape;
mod summary;
mod texts;

use pyo3::prelude::*;

/// The native module.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::{
        column::{Mending, Results},
        summary::Tally,
    };
}
