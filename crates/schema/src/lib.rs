//! Makes JSON from a model fit its JSON Schema, where there is one right way.
//!
//! * [`Schema`] is compiled once: drafts 4 to 2020-12, offline, within [`SchemaLimits`].
//! * [`Tree`] is a JSON text whose values know their bytes.
//! * [`Schema::fit`] finds the value in a text, mends it, validates it, and applies the [`Rule`]s
//!   where it must; [`Fitted`] is what became of it, with an edit script over the text.
//! * [`Schema::guide`] settles for the engine what the bytes of a text leave open.
//! * [`Registry`] has the schemas of tools, by name.
//! * [`Cursor`] walks a schema while the text arrives; [`FitStream`] shows a value while it grows and
//!   fits it at the end.
//! * [`Schema::parse_as`] returns a Rust value, or says why not; [`Schema::fit_xml`] reads XML whose tags
//!   are the schema's fields.
//! * [`Issue`] is what is wrong, where, and what would help; [`Rendering`] writes issues for a
//!   person, a model or a program.
//!
//! Nothing here reads files, clocks or the network.

mod code;
mod coerce;
mod compile;
mod cursor;
mod fit;
mod guide;
mod issue;
mod judge;
mod part;
mod registry;
mod rule;
mod script;
#[cfg(feature = "serde")]
mod serialize;
mod tree;
mod typed;
mod xml;

pub use code::UnknownCode;
pub use compile::{Draft, Schema, SchemaError, SchemaLimits, SchemaOptions};
pub use cursor::{Cursor, Expected, Finding, FitStream, NodeState, Snapshot, Standing};
pub use fit::{Applied, FitOptions, Fitted};
pub use issue::{Issue, IssueCode, Received, Rendering};
#[cfg(feature = "work")]
pub use judge::steps;
pub use registry::{
    ParallelCall, Registry, RegistryError, Resolved, SharedRegistry, parallel_calls,
};
pub use rule::{Rule, Rules};
pub use script::{Cause, Change, apply_changes};
pub use tree::{Children, JsonKind, MAX_DEPTH, Node, Tree, TreeError};
pub use typed::ParseAsError;
#[cfg(feature = "schemars")]
pub use typed::{parse_as, parse_incomplete_as};
