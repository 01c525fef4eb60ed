//! Tests across the crates, and the corpus that they share. See `corpus/README.md` for its format.

use std::path::PathBuf;

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    package.parent().map_or(package.clone(), PathBuf::from)
}

/// The folder of hand-written cases.
#[must_use]
pub fn corpus() -> PathBuf {
    root().join("tests/corpus")
}

/// Runs the Rust examples of the pages. `documents.rs` checks that no page is left out.
#[cfg(doctest)]
pub mod pages {
    #[doc = include_str!("../../README.md")]
    pub struct Readme;
    #[doc = include_str!("../../docs/calls.md")]
    pub struct Calls;
    #[doc = include_str!("../../docs/dialects.md")]
    pub struct Dialects;
    #[doc = include_str!("../../docs/extending.md")]
    pub struct Extending;
    #[doc = include_str!("../../docs/fuzzing.md")]
    pub struct Fuzzing;
    #[doc = include_str!("../../docs/reask.md")]
    pub struct Reask;
    #[doc = include_str!("../../docs/schema.md")]
    pub struct Schema;
    #[doc = include_str!("../../docs/streams.md")]
    pub struct Streams;
}
