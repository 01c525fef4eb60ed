//! What happens to a body on its way: events that are lost, repeated or late, a connection that breaks
//! off, and chunks that end in the middle of anything.
//!
//! A [`Scenario`] says what happens, as data: it is made from a seed, printed, read again, and made
//! smaller as long as a test still fails. A [`Delivery`] is what arrives.
//!
//! ```
//! use wiremend_testkit::transport::Scenario;
//!
//! let body = b"data: {\"n\": 1}\n\ndata: {\"n\": 2}\n\ndata: {\"n\": 3}\n\n";
//! let scenario: Scenario = "lose=1 reset=25 cut=3".parse()?;
//! let delivery = scenario.deliver(body);
//! assert_eq!(delivery.chunks(), [&b"dat"[..], b"a: {\"n\": 1}\n\ndata: {\"n"]);
//! assert!(delivery.is_reset());
//! assert_eq!(scenario.to_string(), "lose=1 reset=25 cut=3");
//! # Ok::<(), wiremend_testkit::transport::ScenarioError>(())
//! ```

mod events;
mod fault;
mod scenario;

pub use events::Events;
pub use fault::Fault;
pub use scenario::{Delivery, Scenario, ScenarioError};
