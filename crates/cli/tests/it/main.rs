//! The program as it is built: what it prints, how it exits, and how it behaves in pipes.
#![allow(clippy::unwrap_used, reason = "a test that cannot run its program has to fail")]

mod batch;
mod check;
mod documents;
mod explain;
mod extract;
mod limits;
mod many;
mod pipes;
mod program;
mod records;
mod repair;
mod schema;
#[cfg(feature = "serve")]
mod serve;
mod stream;
#[cfg(target_os = "linux")]
mod terminal;
mod trace;
