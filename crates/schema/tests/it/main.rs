//! Schemas, and what is validated and repaired by them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod cursor;
mod fit;
mod guide;
mod hostile;
mod registry;
mod rules;
mod surface;
mod validate;
mod xml;
