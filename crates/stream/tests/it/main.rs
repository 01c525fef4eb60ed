//! The adapters, over sources that are scripted.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod source;

#[cfg(feature = "schema")]
mod accept;
mod deadlines;
#[cfg(feature = "schema")]
mod early_stop;
#[cfg(feature = "schema")]
mod fit;
#[cfg(all(feature = "schema", feature = "serde_json"))]
mod fitted_values;
#[cfg(feature = "serde_json")]
mod joined_items;
mod json;
#[cfg(feature = "schema")]
mod objects;
#[cfg(feature = "schema")]
mod oversized;
mod response;
#[cfg(all(feature = "codec", feature = "http-body", feature = "serde_json", feature = "tokio"))]
mod sources;
#[cfg(feature = "schema")]
mod tools;
#[cfg(feature = "serde_json")]
mod typed;
#[cfg(feature = "serde_json")]
mod values;
