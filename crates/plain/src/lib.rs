//! What the packages for other languages have in common: options as words and numbers, and repairs as plain data, with
//! places as the strings of the language count.
//!
//! An error is a message: each package raises it as its language does.

mod options;
mod pieces;
mod repairs;
#[cfg(feature = "wire")]
mod response;

pub use options::{mending, scope};
pub use pieces::Pieces;
#[cfg(feature = "schema")]
pub use repairs::of_changes;
pub use repairs::{Places, Repair, Unit, of_mended, of_text};
#[cfg(feature = "wire")]
pub use response::{Response, dialect};
