//! Every law of wiremend as a function, and inputs to run it on; and a kit to test other readers of
//! streams.
//!
//! The laws ([`laws`]) are plain functions from an input to a verdict, so that unit tests, property
//! tests and fuzz targets check the same thing. Inputs come from [`cases`] (a corpus in data files),
//! `documents` (valid JSON texts, with the feature `proptest`), [`damage`] (named ways to break them) and [`adversary`] (texts
//! that are made to use up time, stack or memory); [`damaged`] has documents that were broken and are
//! known by their value, to measure how often it is found; [`bodies`] wraps them as providers do. [`cuts`]
//! divides an input into chunks, [`oracle`] decides what is JSON without asking wiremend, and
//! [`differential`] compares wiremend with `serde_json`, and [`exhaustive`] checks every text of a few
//! tokens.
//!
//! For programs of any kind that read the streams of providers there are replies in every format
//! ([`bodies`]), what happens to them on their way ([`transport`]), both as one input ([`Case`]), checks
//! that take the program as a closure ([`check`]), and a server ([`chaos`]). The page
//! `docs/fuzzing.md` explains them.
//!
//! ```
//! use wiremend_core::MendOptions;
//! use wiremend_testkit::laws;
//!
//! laws::identity(br#"{"n": 1.10, "n": 1e400}"#, &MendOptions::new()).unwrap();
//! ```

pub mod adversary;
#[cfg(feature = "allocations")]
pub mod allocations;
#[cfg(feature = "arbitrary")]
pub mod arbitrary;
pub mod bodies;
mod case;
pub mod cases;
pub mod chaos;
pub mod check;
pub mod cuts;
pub mod damage;
pub mod damaged;
pub mod differential;
#[cfg(feature = "proptest")]
pub mod documents;
pub mod exhaustive;
pub mod extracted;
pub mod fuzz;
pub mod guides;
pub mod laws;
pub mod oracle;
pub mod prose;
pub mod quoted;
pub mod run;
#[cfg(feature = "schema")]
pub mod schemas;
mod seed;
mod shrink;
#[cfg(feature = "proptest")]
pub mod strategies;
pub mod transport;
pub mod wrapped;

pub use case::Case;
pub use seed::{Choices, Seed};
