//! Asks a language model again when its answer cannot be repaired: well, and not for ever.
//!
//! [`Reask`] is a state machine without IO. It is fed with [`Answer`]s and [`Failure`]s, and returns the next
//! [`Step`]: a valid value, what to ask, or the end. Each answer is repaired first, by everything that
//! [`Schema::fit`](wiremend_schema::Schema::fit) can do. Only what is then still wrong is asked for: single
//! fields, if the rest is good. [`Reask::run`] is a thin driver for any async client.
//!
//! * Prompts are made from issues as data, and what the model wrote is framed as data in them. [`Templates`]
//!   replaces their words, [`Ask::messages`] gives them in the shapes of providers.
//! * [`Watch`] reads a reply while it arrives, and says when to stop it.
//! * [`RetryPolicy`] and [`Retry`] are for calls that fail, and know nothing of answers.
//! * [`instructions`], [`example`] and [`Native`] state the schema in the first request, so that fewer answers are
//!   wrong. [`ModeMemory`] remembers what models do not support.
//!
//! The page `docs/reask.md` of the repository lists all defaults and limits.
//!
//! ```
//! use wiremend_reask::{Answer, EndReason, Reask, ReaskOptions, Step};
//! use wiremend_schema::Schema;
//! use core::time::Duration;
//!
//! let schema = Schema::from_text(r#"{"type": "object", "required": ["tool", "path"]}"#)?;
//! let mut reask = Reask::new(&schema, ReaskOptions::new().with_attempts(10));
//! // A model that answers with a greeting, whatever it is asked, is not asked eleven times.
//! let mut calls = 0;
//! let end = loop {
//!     match reask.answer(&Answer::text("Hello! How can I help you?"), Duration::ZERO) {
//!         Step::Ask(_) => calls += 1,
//!         Step::Exhausted(end) => break end,
//!         step => panic!("{step:?}"),
//!     }
//! };
//! assert_eq!((calls, end.reason()), (2, EndReason::Repeated));
//! assert_eq!(end.best().unwrap().text(), "Hello! How can I help you?");
//! # Ok::<(), wiremend_schema::SchemaError>(())
//! ```

mod answer;
mod ask;
mod continuation;
mod driver;
mod example;
mod failure;
mod fields;
mod fitted_answer;
mod machine;
mod native;
mod options;
mod prompt;
mod subschema;
mod templates;

pub use answer::{Answer, Spent};
pub use ask::{Ask, AskKind, Watch};
pub use driver::{Driver, Progress, Timer};
pub use example::{Example, example};
pub use failure::{Failure, FailureClass, Retry, RetryPolicy, retry_after};
pub use machine::Reask;
pub use machine::{Attempt, Done, EndReason, Exhausted, Step};
pub use native::{Loss, LossKind, Native, Shape, instructions};
pub use options::ReaskOptions;
pub use options::{Mode, ModeMemory};
pub use prompt::Hint;
pub use templates::{Strength, Templates};
