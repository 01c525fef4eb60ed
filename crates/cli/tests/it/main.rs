//! The program as it is built: what it prints, how it exits, and how it behaves in pipes.

#![allow(clippy::unwrap_used, reason = "a test that cannot run its program shall fail")]

mod batch;
mod check;
mod explain;
mod pipes;
mod program;
mod repair;
mod schema;
mod stream;
mod stream_schema;
mod trace;
