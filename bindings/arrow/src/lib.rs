//! Columns of Arrow whose texts are JSON that language models wrote: each is mended, with an account of every change.
//!
//! [`ColumnMender`] is for programs in Rust. With the feature `python`, a default one, there is also the part of the Python
//! package `wiremend_arrow` that is written in Rust. What is in it has its names and its documentation in
//! `python/wiremend_arrow`.

mod cell;
#[cfg(feature = "python")]
mod column;
mod cores;
mod mender;
mod mending;
mod result;
mod shape;
#[cfg(feature = "python")]
mod summary;
mod texts;

pub use crate::mender::ColumnMender;

#[cfg(feature = "python")]
#[pyo3::pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::{
        column::{Mending, Results},
        summary::Tally,
    };
}
