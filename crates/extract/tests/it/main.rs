//! What is found in text, by the public API.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod cuts;
mod fences;
mod linear;
mod lines;
mod prefill;
mod prose;
mod readers;
mod search;
mod single;
mod strings;
mod threads;
mod whole;
