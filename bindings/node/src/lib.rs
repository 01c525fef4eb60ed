//! The module of the package `wiremend` for JavaScript: the engine, without glue that is generated.
//!
//! A host writes an operation and its texts to a buffer, calls [`abi`], and reads the answer from another buffer. There
//! are four functions and no imports, so any host that runs WebAssembly can load it. What JavaScript makes of the
//! answers is in `lib`.

pub mod abi;

mod answer;
#[cfg(feature = "wire")]
mod calls;
#[cfg(feature = "wire")]
mod events;
#[cfg(feature = "schema")]
mod exchange;
#[cfg(feature = "schema")]
mod fits;
mod growing;
mod host;
mod options;
mod texts;
