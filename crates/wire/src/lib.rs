//! Decodes the streams of language model providers: body bytes in, text and repaired tool calls out.
//!
//! A body passes through three stages: a framing splits it into payloads, a format decodes each payload
//! into deltas on channels, and a router collects the fragments of every tool call and repairs its
//! arguments with `wiremend-core`. Nothing here reads a socket or a clock.
//!
//! ```
//! use wiremend_wire::{StreamOutcome, ApiFormat, WireOptions, transcribe};
//!
//! let body = br#"event: message_start
//! data: {"type":"message_start","message":{"usage":{"input_tokens":9}}}
//!
//! data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"add","input":{}}}
//!
//! data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\": 1, "}}
//!
//! data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"\"b\": 2}"}}
//!
//! data: {"type":"content_block_stop","index":0}
//!
//! data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}
//!
//! data: {"type":"message_stop"}
//!
//! "#;
//! let transcript = transcribe(body, WireOptions::new());
//! assert_eq!(transcript.format(), Some(ApiFormat::Anthropic));
//! assert_eq!(transcript.calls()[0].arguments(), r#"{"a": 1, "b": 2}"#);
//! assert_eq!(transcript.outcome(), StreamOutcome::Complete);
//! ```
//!
//! | to | use |
//! |---|---|
//! | repair the arguments of one call that you already have as text | [`mend_arguments`] |
//! | read a whole body | [`transcribe`] |
//! | show text and calls while a body arrives | [`Decoder`]; [`Transcript`] collects its events |
//! | forward a body while it arrives, with its calls repaired | [`Rewriter`] |
//! | forward a response that was not streamed | [`mend_body`] |
//! | read or write only the framing | [`sse`], [`eventstream`], [`values`], [`Encoder`] |
//!
//! Run a call only if its [`outcome`](Call::outcome) is complete, and treat a response as complete only
//! if it ended as [`StreamOutcome::Complete`]. All of these accept the body in chunks of any size, and
//! without compression: inflate a compressed body first.

mod calls;
mod channels;
mod decoder;
mod error;
mod event;
pub mod eventstream;
mod finder;
mod format;
mod framing;
mod json;
mod limits;
#[cfg(feature = "serde_json")]
mod parse;
mod rewrite;
mod source;
pub mod sse;
mod tools;
pub mod values;
mod whole;
mod work;

pub use calls::{Call, CallKind, Doubt};
pub use decoder::Decoder;
pub use error::{ErrorKind, UnknownCode, WireError};
pub use event::{Block, Finish, FinishReason, StreamOutcome, Usage, WireEvent};
pub use finder::{CallFinder, CallFinders, CallText, TextCall};
pub use format::ApiFormat;
pub use framing::{Encoder, Framing};
pub use limits::{WireLimits, WireOptions};
#[cfg(feature = "serde_json")]
pub use parse::ParseError;
pub use rewrite::{RewriteMode, RewriteOptions, RewriteOutcome, Rewriter, Rewritten};
pub use tools::{FitHook, Fittable, Guides, ToolPolicies};
pub use whole::{ArgumentsOutcome, MendedArguments, MendedBody, mend_arguments, mend_body};
pub use whole::{Transcript, transcribe};
#[cfg(feature = "work")]
pub use work::steps;
