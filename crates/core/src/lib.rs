//! The engine of jsonmend: JSON text in, in any pieces; valid JSON text out, as early as it is
//! certain, with an account of every change.
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

pub use events::{Event, Events};
pub use kind::{KindSet, RepairKind, Risk};
pub use mender::{Completion, Mender};
pub use options::{Following, Limits, Options, Policy};
pub use output::{Collected, Output};
pub use partial::{Kind, Partial, Value};
pub use report::{Outcome, Path, Repair, Step, apply};
pub use text::{Held, Mended, mend};
