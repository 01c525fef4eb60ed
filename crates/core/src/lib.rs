//! The engine of jsonmend: JSON text in, in any pieces; valid JSON text out, as early as it is
//! certain, with an account of every change.
//!
//! * [`Mender`] is the push path: chunks in, certain text out, [`Completion`] at any moment.
//! * [`mend`] is the whole-text path, which may also reach back; [`BufferedMender`] streams like the first
//!   and decides like the second.
//! * An [`Output`] takes what is certain: a `Vec<u8>`, [`Collected`], [`Events`], a [`Partial`]
//!   value, or a pair of outputs side by side.
//! * A [`Partial`] is the value so far: to [look at](Value), to ask what [changed](Partial::since),
//!   to [own](OwnedValue).
//! * [`Options`] say what is allowed ([`Policy`]), what it may cost ([`Limits`]), and what happens
//!   to what [follows](TrailingDocuments) a document.
//! * Every change is a [`Repair`] with a [`RepairKind`] and a [`Risk`]; [`apply`] replays them.
//!
//! ```
//! use jsonmend_core::{Options, Outcome, mend};
//!
//! let mended = mend(b"{'name': 'Ada', 'ok': True,}", &Options::new());
//! assert_eq!(mended.text(), Some(r#"{"name": "Ada", "ok": true}"#));
//! assert_eq!(mended.outcome(), Outcome::Repaired);
//! assert!(mended.repairs().iter().all(|repair| repair.kind().code() != "missing-value"));
//! ```
//!
//! # Values that grow
//!
//! ```
//! use jsonmend_core::{DeltaOp, Revision, Mender, Options, Partial};
//!
//! let mut mender = Mender::new(Options::new());
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
//! A typed value needs no more than its JSON text: `serde_json::from_str(&partial.to_string())`, with
//! fields that may be missing as an `Option`. The feature `serde_json` adds `Value::to_value`.
//!
//! No dependency, no `std`, no unsafe code, no IO, no clock; nothing recurses.
#![no_std]

extern crate alloc;

mod beside;
mod buffered;
mod code;
mod engine;
mod events;
mod grammar;
mod guide;
mod kind;
mod mended;
mod mender;
mod options;
mod output;
mod partial;
mod report;
mod scan;
#[cfg(feature = "serde")]
mod serde;
mod tail;
mod whole;

/// The recovery table, for tests of what the corpus covers, and the work of the whole-text path. No
/// part of the interface.
#[cfg(feature = "coverage")]
#[doc(hidden)]
pub mod coverage {
    pub use crate::grammar::{Action, Expect, Token, decide, reached, table};
    pub use crate::whole::steps;
}

pub use beside::Lead;
pub use buffered::BufferedMender;
pub use code::UnknownCode;
pub use events::{EventReader, Events, ParseEvent};
pub use guide::{Guide, Listed, Member};
pub use kind::{KindSet, RepairKind, Risk};
pub use mended::Mended;
pub use mender::{Completion, Mender};
pub use options::{Limits, Options, Policy, TrailingDocuments};
pub use output::{Collected, Output};
#[cfg(feature = "serde_json")]
pub use partial::Unrepresentable;
pub use partial::{Delta, DeltaOp, Deltas, Kind, Misplaced, OwnedValue, Partial, Revision, Value};
pub use report::{Outcome, Path, Repair, Step, apply};
#[cfg(feature = "serde")]
pub use serde::DeserializeError;
pub use tail::Tail;
pub use whole::mend;
