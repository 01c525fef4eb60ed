//! The engine of wiremend. It reads JSON text in any pieces, emits valid JSON text as soon as it is
//! certain, and reports every change.
//!
//! * [`Mender`] is the push path: it reads chunks, emits text that is certain, and has a
//!   [`Completion`] at any moment.
//! * [`mend`] is the whole-text path, which can also change earlier text. [`BufferedMender`]
//!   streams like a [`Mender`], and its final result is that of [`mend`].
//! * An [`Output`] receives text that is certain: a `Vec<u8>`, [`Collected`], [`Events`], a
//!   [`Partial`] value, or a pair of outputs.
//! * A [`Partial`] is the value so far, to [look at](Value), to [copy](OwnedValue), or to ask what
//!   [changed](Partial::since).
//! * [`MendOptions`] contain the [`Policy`], which says what repairs are allowed, the [`Limits`], and
//!   what to do about text that [follows](TrailingDocuments) a document.
//! * Every change is a [`Repair`] with a [`RepairKind`] and a [`Risk`]. [`apply`] replays them.
//!
//! ```
//! use wiremend_core::{MendOptions, Outcome, mend};
//!
//! let mended = mend(b"{'name': 'Ada', 'ok': True,}", &MendOptions::new());
//! assert_eq!(mended.text(), Some(r#"{"name": "Ada", "ok": true}"#));
//! assert_eq!(mended.outcome(), Outcome::Repaired);
//! assert!(mended.repairs().iter().all(|repair| repair.kind().code() != "missing-value"));
//! ```
//!
//! # Partial values
//!
//! ```
//! use wiremend_core::{DeltaOp, Revision, Mender, MendOptions, Partial};
//!
//! let mut mender = Mender::new(MendOptions::new());
//! let (mut text, mut partial) = (Vec::new(), Partial::new());
//! let mut seen = Revision::default();
//! for piece in ["{'title': 'On snap", "shots', 'tags': ['a", "', 'b']}"] {
//!     mender.push(piece.as_bytes(), &mut (&mut text, &mut partial));
//!     for delta in partial.since(&seen) {
//!         if let DeltaOp::Append(text) = delta.op() {
//!             println!("{} grows by {text}", delta.path());
//!         }
//!     }
//!     seen = partial.revision();
//! }
//! let title = partial.root().and_then(|root| root.member("title")).unwrap();
//! assert_eq!(title.as_str(), Some("On snapshots"));
//! assert_eq!(text, br#"{"title": "On snapshots", "tags": ["a", "b"]}"#);
//! ```
//!
//! To get a typed value, parse its JSON text with `serde_json::from_str(&partial.to_string())`, and
//! declare fields that may be missing as `Option`. The feature `serde` makes a [`Value`] a
//! `Deserializer`, and the feature `serde_json` adds `Value::to_value`.
//!
//! The crate has no required dependencies, is `no_std`, and contains no unsafe code, IO, clocks or
//! unbounded recursion.
#![no_std]

extern crate alloc;

mod append;
#[doc(hidden)]
pub mod buffer;
mod buffered;
mod code;
mod engine;
mod events;
mod grammar;
mod guide;
mod json_type;
mod kind;
mod lead;
#[doc(hidden)]
pub mod lexer;
#[doc(hidden)]
pub mod lines;
mod mended;
mod mender;
mod options;
mod output;
mod partial;
mod path;
pub mod prose;
mod repairs;
mod report;
mod scan;
mod search;
#[cfg(feature = "serde")]
mod serde;
mod signs;
mod tail;
mod unwrap;
mod verdict;
mod whole;

/// The recovery table, for tests of what the corpus covers, and the work of the whole-text path. Not
/// part of the public API.
#[cfg(feature = "coverage")]
#[doc(hidden)]
pub mod coverage {
    pub use crate::grammar::{Action, Expect, Token, decide, reached, table};
    pub use crate::whole::steps;

    /// The tables about quotes.
    pub mod quotes {
        pub use crate::verdict::{
            Context, Continuation, QuotePlace, Verdict, possible, reached, tables, verdict,
        };
    }
}

pub use buffered::BufferedMender;
pub use code::UnknownCode;
pub use events::{EventReader, Events, ParseEvent};
pub use guide::{Guide, Listed, Member};
pub use json_type::JsonType;
pub use kind::{KindSet, RepairKind, Risk};
pub use lead::Lead;
pub use mended::Mended;
pub use mender::{Completion, Mender};
pub use options::{Limits, MendOptions, Policy, TrailingDocuments};
pub use output::{Collected, Output};
#[cfg(feature = "serde_json")]
pub use partial::Unrepresentable;
/// The tree of a [`Partial`], for those that keep something for each of its values. Not part of the
/// public API.
#[doc(hidden)]
pub mod tree {
    pub use crate::partial::Tree;
}
pub use partial::{Delta, DeltaOp, Deltas, Misplaced, OwnedValue, Partial, Revision, Value};
pub use path::{Located, Path, Paths, Step};

pub use repairs::{Repairs, RepairsIter, RepairsPosition};
pub use report::{Outcome, Repair, apply};
#[cfg(feature = "serde")]
pub use serde::DeserializeError;
pub use tail::Tail;
pub use whole::{Reading, mend, mend_document, mend_marked, readings};
