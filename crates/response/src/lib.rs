//! Reads a whole response of a language model while it arrives: body bytes in; text, reasoning, tool
//! calls, objects in the text, the results of their schemas, token counts and the end of stream out.
//!
//! [`ResponseReader`] does no I/O. The adapters of `wiremend-stream`, the command and any other driver
//! push bytes into it and receive its [`Event`]s.
//!
//! ```
//! use wiremend_response::{Event, ResponseOptions, ResponseReader};
//!
//! let mut reader = ResponseReader::new(ResponseOptions::new());
//! let mut calls = Vec::new();
//! let mut take = |event| match event {
//!     Event::CallEnded(call) if call.outcome().is_complete() => calls.push(call),
//!     _ => {}
//! };
//! for chunk in [
//!     "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",",
//!     "\"function\":{\"name\":\"add\",\"arguments\":\"{'a': 1, b: 2}\"}}]}}]}\n\n",
//!     "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
//! ] {
//!     reader.push(chunk.as_bytes(), &mut take);
//! }
//! reader.finish(&mut take);
//! assert_eq!(calls[0].arguments(), r#"{"a": 1, "b": 2}"#);
//! ```

#[cfg(feature = "schema")]
mod along;
#[cfg(feature = "schema")]
mod calls;
#[cfg(feature = "schema")]
mod documents;
mod event;
mod in_text;
mod kept;
mod object;
mod options;
mod reader;
mod response;
mod summary;
mod texts;

#[cfg(feature = "schema")]
pub use calls::{CallCheck, FittedCall};
#[cfg(feature = "schema")]
pub use calls::{FittedArguments, fit_arguments};
#[cfg(feature = "schema")]
pub use documents::FittedObject;
pub use event::Event;
pub use in_text::TextCalls;
pub use object::{Object, ObjectBuilder};
pub use options::ResponseOptions;
pub use reader::ResponseReader;
pub use response::Response;
pub use summary::RepairSummary;
