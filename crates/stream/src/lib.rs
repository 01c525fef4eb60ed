//! `Stream` adapters: the bytes of a model's response in; text, tool calls and mended objects out.
//!
//! [`MendStream`] reads a provider's body, [`JsonStream`] a channel that holds text or JSON and
//! nothing around it. Both wrap a stream of byte chunks; [`MendExt`] makes them. They spawn
//! nothing and need no runtime. With the feature `schema`, the options bring each call of a body into the
//! schema of its tool, and each object of its text into a schema of its own; `SchemaStream` does so for
//! what a channel holds, while it arrives.
//!
//! ```
//! use bytes::Bytes;
//! use futures::{StreamExt, executor::block_on, stream};
//! use jsonmend_extract::Scope;
//! use jsonmend_stream::{Event, MendExt, ResponseOptions};
//!
//! let body = [
//!     &b"data: {\"choices\":[{\"delta\":{\"content\":\"Sure: {'ok': Tr\"}}]}\n\n"[..],
//!     b"data: {\"choices\":[{\"delta\":{\"content\":\"ue}\"},\"finish_reason\":\"stop\"}]}\n\n",
//!     b"data: [DONE]\n\n",
//! ];
//! let body = stream::iter(body).map(|chunk| Ok::<_, std::io::Error>(Bytes::from_static(chunk)));
//!
//! let options = ResponseOptions::new().with_objects(Scope::All);
//! block_on(async {
//!     let mut text = String::new();
//!     let mut events = body.mend(options);
//!     while let Some(event) = events.next().await {
//!         match event? {
//!             Event::Text { text: more, .. } => text.push_str(&more),
//!             Event::ObjectEnded(object) => assert_eq!(object.json(), Some(r#"{"ok": true}"#)),
//!             _ => {}
//!         }
//!     }
//!     assert_eq!(text, "Sure: {'ok': True}");
//!     Ok::<_, jsonmend_stream::Error<std::io::Error>>(())
//! })
//! .unwrap();
//! ```
//!
//! # Back-pressure
//! Upstream is polled only when every event of the chunks before has been taken. What is buffered
//! is one chunk's events, and what the limits of the options allow. After 64 chunks in a row that
//! come to nothing the task yields.
//!
//! # Cancellation
//! Nothing happens outside a poll, so a stream may be dropped at any time, and so may a future that
//! waits for its next item (`next()` in a `select!`): no event is lost that way. `cancel` stops early
//! and hands out what was received.
//!
//! # Copies
//! A [`JsonStream`] hands out slices of the caller's own `Bytes` where nothing was mended. What a
//! provider sends stands in strings of an envelope, escaped, so a [`MendStream`] copies it out.
//!
//! # Tracing
//! With the feature `tracing`, how documents, calls and responses ended is told at level `DEBUG`,
//! dropped input and failures at `WARN`. What is in them is never told.

mod error;
mod json;
mod mend;
mod pieces;
mod pump;
#[cfg(feature = "schema")]
mod schema;
mod trace;

pub use error::Error;
pub use json::{JsonEvent, JsonOptions, JsonStream, TextSnapshot};
#[cfg(feature = "schema")]
pub use jsonmend_response::{CallFit, ObjectFit};
pub use jsonmend_response::{Event, Object, Response, ResponseOptions};
pub use mend::{MendExt, MendStream};
#[cfg(feature = "schema")]
pub use schema::{FitEvent, SchemaStream};
