//! `Stream` adapters: the bytes of a model's response in; text, tool calls and repaired objects out.
//!
//! [`ResponseStream`] reads a provider's response body. [`JsonStream`] reads a channel of plain text or JSON.
//! [`RewriteStream`] gives a body again, mended. They wrap a stream of byte chunks and are created with
//! [`ByteStreamExt`]; [`source`] makes such a stream of anything else that bytes come from. They spawn nothing and need no
//! runtime. With the feature `schema`, the options can fit each tool call of a body to the schema of its
//! tool, and each object in the text to a schema of its own. `FitStream` fits the value of a channel
//! to a schema while it arrives.
//!
//! ```
//! use bytes::Bytes;
//! use futures::{StreamExt, executor::block_on, stream};
//! use wiremend_extract::Scope;
//! use wiremend_response::{Event, ResponseOptions};
//! use wiremend_stream::ByteStreamExt;
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
//!     let mut events = body.read(options);
//!     while let Some(event) = events.next().await {
//!         match event? {
//!             Event::Text { text: more, .. } => text.push_str(&more),
//!             Event::ObjectEnded(object) => assert_eq!(object.json(), Some(r#"{"ok": true}"#)),
//!             _ => {}
//!         }
//!     }
//!     assert_eq!(text, "Sure: {'ok': True}");
//!     Ok::<_, wiremend_stream::Error<std::io::Error>>(())
//! })
//! .unwrap();
//! ```
//!
//! # Values without ceremony
//! With the feature `serde_json`, `ByteStreamExt::items` gives the items of an array, each as a Rust type
//! as soon as it closes, and `ByteStreamExt::typed` a value while it grows and when it is whole. Both
//! read a channel, the texts of a response or the arguments of its calls (`ValueOptions::arguments_of`),
//! and neither passes off what was cut off as complete.
//! [`ResponseStream::call_value`] is the value of an open call so far.
//!
//! # Accepting
//! [`ResponseStream::accept`] asks a hook of the caller, which may be asynchronous, before a call or an object is
//! handed out. The hook accepts, refuses or replaces what is complete and valid; what is not is never shown
//! to it.
//!
//! # Back-pressure
//! Upstream is polled only after every event of the previous chunks has been taken. At most one chunk's
//! events are buffered, plus what the limits of the options allow. After 64 chunks in a row that yield
//! no event, the task yields to the executor.
//!
//! # Cancellation
//! Nothing happens outside of `poll`. A stream may be dropped at any time, and so may a future that
//! waits for its next item (`next()` in a `select!`): no event is lost. `cancel` stops early and emits
//! what was received.
//!
//! # Copies
//! A [`JsonStream`] emits slices of the caller's own `Bytes` where nothing was repaired. A
//! [`ResponseStream`] copies: a provider sends text as escaped strings inside an envelope.
//!
//! # Telemetry
//! With the feature `tracing`, each response has a span; the outcome of documents, calls and responses is
//! logged at level `DEBUG`, calls whose arguments were repaired at `INFO`, dropped input and failures at
//! `WARN`. With the feature `metrics`, they are counted. Content is never logged unless the caller asks for it.

mod accept;
#[cfg(feature = "serde_json")]
mod channel;
#[cfg(feature = "codec")]
mod codec;
mod deadline;
mod error;
#[cfg(feature = "schema")]
mod fit;
mod json;
mod pump;
mod response;
mod rewrite;
pub mod source;
#[cfg(feature = "serde_json")]
mod splitter;
mod telemetry;
#[cfg(feature = "serde_json")]
mod typed;

#[cfg(feature = "schema")]
pub use accept::StoppedAt;
pub use accept::{
    AcceptCounts, AcceptEvent, AcceptOptions, AcceptStream, Candidate, Decision, Judgement,
    Oversized,
};
#[cfg(feature = "serde_json")]
pub use channel::ValueOptions;
#[cfg(feature = "codec")]
pub use codec::ResponseCodec;
pub use error::Error;
#[cfg(feature = "schema")]
pub use fit::{FitEvent, FitStream};
pub use json::{JsonEvent, JsonOptions, JsonStream, TextSnapshot};
pub use response::{ByteStreamExt, ResponseStream};
pub use rewrite::RewriteStream;
#[cfg(any(feature = "metrics", feature = "tracing"))]
pub use telemetry::Telemetry;
#[cfg(feature = "serde_json")]
pub use typed::{Item, ItemStream, TypedEvent, TypedStream, ValueError};
