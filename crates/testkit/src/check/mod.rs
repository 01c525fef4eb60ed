//! Checks of a reader of streams that is not wiremend's: one line each.
//!
//! The reader is a closure. Each check runs it many times on one body, and a failure holds the smallest
//! input that was found. What a failure prints is enough to run it again.
//!
//! ```
//! use wiremend_testkit::{Seed, bodies::Reply, check};
//! use wiremend_wire::{Decoder, Transcript, WireOptions};
//!
//! let read = |chunks: &[&[u8]]| {
//!     let mut decoder = Decoder::new(WireOptions::new());
//!     let mut said = Transcript::new();
//!     chunks.iter().for_each(|chunk| decoder.push(chunk, &mut |event| said.record(&event)));
//!     decoder.finish(&mut |event| said.record(&event));
//!     said
//! };
//! for number in 0..10 {
//!     let reply = Reply::random(&mut Seed::new(number));
//!     check::invariant_under_cuts(&reply.body(), |chunks| read(chunks).text())?;
//!     check::no_half_call(&reply.body(), |delivery| {
//!         let said = read(&delivery.chunks());
//!         let calls = said.calls().into_iter().filter(|call| call.outcome().is_complete());
//!         calls.map(|call| check::Ran::new(call.name(), call.arguments())).collect()
//!     })?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calls;
mod invariance;
mod show;

pub use calls::{HalfCall, Ran, no_half_call};
pub use invariance::{Variance, invariant_under_cuts};
