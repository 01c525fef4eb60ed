//! Mends one exchange with the provider of a language model, without IO: the request on its way out, and its answer on its
//! way back.
//!
//! [`Exchanges`] has the settings. It makes a [`Request`] of a method, a path and headers; that becomes an [`Exchange`] when
//! its body was read, with the calls of its history mended; and that makes an [`Answer`] of a status and headers, which mends
//! the body while it arrives. The gateway `wiremend serve` is this with a server and a client of HTTP around it, so whatever
//! carries an exchange in this way mends it exactly as the gateway does. docs/gateway.md says what is changed.
//!
//! There is no clock, no thread and no type of HTTP here: headers are pairs of a name and a value, and those that change
//! are listed as [`HeaderEdit`]s. What takes long, or needs much room, is known to the caller: a body that was read, and
//! pieces that are pushed.

mod account;
mod answer;
mod fitting;
#[cfg(any(test, feature = "fuzz"))]
#[doc(hidden)]
pub mod fuzz;
mod head;
mod history;
mod members;
mod mending;
mod request;
mod switches;
mod tools;
mod wanted;

pub use account::{Account, Asked, CallNote, Verdict};
pub use answer::{Answer, Treatment};
pub use fitting::Misfit;
pub use head::{HeaderEdit, is_own};
pub use history::HistoryFixes;
pub use mending::{
    Arguments, CallsInText, Content, CutCalls, Mending, Mode, Repair, SettingError, ToolRule,
};
pub use request::{Exchange, Exchanges, Request};
pub use switches::BadSwitch;
