//! The engine of jsonmend: JSON text in, in any pieces; valid JSON text out, as early as it is
//! certain, with an account of every change.
//!
//! * [`Mender`] is the push path: chunks in, certain text out, [`Completion`] at any moment.
//! * [`mend`] is the whole-text path, which may also reach behind; [`Held`] streams like the first
//!   and decides like the second.
//! * An [`Output`] takes what is certain: a `Vec<u8>`, [`Collected`], [`Events`], or a
//!   [`Partial`] value.
//! * [`Options`] say what is allowed ([`Policy`]), what it may cost ([`Limits`]), and what happens
//!   to what [follows](Following) a document.
//! * Every change is a [`Repair`] with a [`RepairKind`] and a [`Risk`]; [`apply`] replays them.
//!
//! ```
//! use jsonmend_core::{Options, Outcome, mend};
//!
//! let mended = mend(b"{'name': 'Ada', 'ok': True,}", &Options::new());
//! assert_eq!(mended.text(), Some(r#"{"name": "Ada", "ok": true}"#));
//! assert_eq!(mended.outcome(), Outcome::Repaired);
//! assert!(mended.repairs().iter().all(|repair| repair.kind.code() != "missing-value"));
//! ```
//!
//! No dependency, no `std`, no unsafe code, no IO, no clock; nothing recurses.
#![no_std]

extern crate alloc;

mod engine;
mod events;
pub mod grammar;
mod kind;
mod mender;
mod options;
mod output;
mod partial;
mod report;
mod scan;
mod text;
mod whole;

pub use events::{Event, EventReader, Events};
pub use kind::{KindSet, RepairKind, Risk};
pub use mender::{Completion, Mender};
pub use options::{Following, Limits, Options, Policy};
pub use output::{Collected, Output};
pub use partial::{Kind, Partial, Value};
pub use report::{Outcome, Path, Repair, Step, apply};
pub use text::{Held, Mended, mend};
