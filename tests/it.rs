//! Tests across the crates, in one program, because each more would be built and linked for itself.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod answers;
mod calls;
mod calls_in_text;
mod corpus;
mod damaged;
mod damaged_bodies;
mod dialects;
mod documents;
mod early_issues;
mod hostile;
mod laws;
mod limits;
mod quotations;
mod repairs;
mod response;
mod rewriting;
mod runnable;
mod schema;
mod schema_peer;
mod schema_work;
mod snippets;
mod state;
mod streams;
mod tracing;
mod truncation;
mod wire_growth;
