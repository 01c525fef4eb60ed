//! Tests across the crates, in one program, because each more would be built and linked for itself.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod answers;
mod calls;
mod calls_in_text;
mod corpus;
mod costs;
mod damaged;
mod damaged_bodies;
mod dialects;
mod documents;
mod hostile;
mod laws;
mod limits;
mod quotations;
mod rewriting;
mod schema;
mod snippets;
mod tracing;
mod truncation;
