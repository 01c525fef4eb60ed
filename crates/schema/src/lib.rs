//! Makes JSON from a language model fit its JSON Schema, if there is one right way to do so.
//!
//! * [`Schema`] is a compiled schema: drafts 4 to 2020-12, offline, within [`SchemaLimits`].
//! * [`Tree`] is a parsed JSON text whose values know their byte ranges.
//! * [`Schema::fit`] finds the value in a text, mends it, validates it, and applies [`Rule`]s where
//!   necessary. The result is a [`Fitted`], with an edit script for the text.
//! * [`Schema::guide`] lets the engine use the schema to resolve what a broken text leaves
//!   ambiguous.
//! * [`Registry`] finds the schemas of tools by name.
//! * [`Cursor`] follows a schema while the text arrives, and [`Fitter`] shows a value while it
//!   grows and fits it at the end.
//! * [`Schema::parse_as`] reads a text as a Rust type, and [`Schema::fit_xml`] reads XML whose tags
//!   are the fields of the schema.
//! * [`Issue`] says what is wrong, where, and what would help. [`Rendering`] writes issues for a
//!   person, a model or a program.
//!
//! This crate uses neither files, nor clocks, nor the network.

mod calendar;
mod code;
mod coerce;
mod compile;
mod cursor;
mod fit;
mod guide;
mod issue;
mod judge;
mod names;
mod part;
mod registry;
mod rule;
mod script;
#[cfg(feature = "serde")]
mod serialize;
mod tree;
mod typed;

pub use calendar::date_time;
pub use code::UnknownCode;
pub use compile::{Draft, Schema, SchemaError, SchemaLimits, SchemaOptions};
pub use cursor::{Cursor, EarlyIssue, Expected, Fitter, NodeState, Snapshot, Standing};
pub use fit::{Applied, FitOptions, Fitted};
pub use issue::{Issue, IssueCode, Received, Rendering};
#[cfg(feature = "work")]
pub use judge::steps;
pub use registry::{
    ParallelCall, Registry, RegistryError, Resolved, SharedRegistry, parallel_calls,
};
pub use rule::{Rule, Rules};
pub use script::{Cause, Change, apply_changes};
pub use tree::{Children, MAX_DEPTH, Node, Tree, TreeError};
pub use typed::ParseAsError;
#[cfg(feature = "schemars")]
pub use typed::{parse_as, parse_incomplete_as};
