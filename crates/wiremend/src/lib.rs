//! Repairs the JSON that language models stream, as it arrives.
//!
//! wiremend finds the JSON in a model's output, repairs it, reports every change, and never presents
//! a value that was cut off as a complete one. Valid JSON passes through byte for byte.
//!
//! # A text
//!
//! ```
//! use wiremend::{MendOptions, Outcome, mend, repair::apply};
//!
//! let input = b"{name: 'Ada', langs: ['en', 'fr',], ok: True}";
//! let mended = mend(input, &MendOptions::new());
//! assert_eq!(mended.outcome(), Outcome::Repaired);
//! let text = mended.text().unwrap();
//! assert_eq!(text, r#"{"name": "Ada", "langs": ["en", "fr"], "ok": true}"#);
//! // Applying the repairs to the input gives the output.
//! assert_eq!(apply(input, mended.repairs()).unwrap(), text.as_bytes());
//! ```
//!
//! [`find`] does the same if there may be prose, code fences or reasoning around the JSON.
//!
//! # A text that arrives
//!
//! ```
//! use wiremend::{Mender, MendOptions, Outcome};
//!
//! let mut mender = Mender::new(MendOptions::new());
//! let mut out = Vec::new();
//! for chunk in ["{'city': 'Par", "is', 'pop", "': 2_100_000}"] {
//!     mender.push(chunk.as_bytes(), &mut out);
//!     // Valid JSON from the first bracket on. After the end of the document, nothing is missing.
//!     let completion = mender.completion().map(|rest| rest.to_string()).unwrap_or_default();
//!     println!("{}{completion}", String::from_utf8_lossy(&out));
//! }
//! assert_eq!(mender.finish(&mut out), Outcome::Repaired);
//! assert_eq!(out, br#"{"city": "Paris", "pop": 2100000}"#);
//! ```
//!
//! [`Finder`] does the same if there may be text around the JSON.
//!
//! # A value that grows
//!
//! ```
//! use wiremend::{Mender, MendOptions, Partial, partial::Revision};
//!
//! let mut mender = Mender::new(MendOptions::new());
//! let (mut partial, mut seen) = (Partial::new(), Revision::default());
//! for chunk in ["{'city': 'Par", "is', 'pop", "': 2_100_000}"] {
//!     mender.push(chunk.as_bytes(), &mut partial);
//!     // A view: nothing is copied or parsed again.
//!     let city = partial.root().and_then(|root| root.member("city"));
//!     println!("{:?}", city.and_then(|city| city.as_str()));
//!     // What has changed since then: {"op":"append","path":"/city","text":"is"} and so on.
//!     for delta in partial.since(&seen) {
//!         println!("{delta}");
//!     }
//!     seen = partial.revision();
//! }
//! assert_eq!(partial.to_string(), r#"{"city":"Paris","pop":2100000}"#);
//! ```
//!
//! [`OwnedValue`](partial::OwnedValue) is an independent snapshot, and can apply such changes elsewhere.
//!
//! # A provider's stream
//!
//! Run a call only if its outcome is complete. A call that was cut off, or that lost an event, is not.
//!
#![cfg_attr(feature = "stream", doc = "```")]
#![cfg_attr(not(feature = "stream"), doc = "```ignore")]
//! use futures::{StreamExt, executor::block_on, stream};
//! use wiremend::response::{Event, ResponseOptions};
//! use wiremend::stream::ByteStreamExt;
//!
//! let body = stream::iter([
//!     "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",",
//!     "\"function\":{\"name\":\"add\",\"arguments\":\"{'a': 1, b: 2}\"}}]}}]}\n\n",
//!     "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
//! ]);
//! let mut events = body.map(Ok::<_, std::io::Error>).read(ResponseOptions::new());
//! block_on(async {
//!     while let Some(event) = events.next().await {
//!         if let Ok(Event::CallEnded(call)) = event {
//!             assert!(call.outcome().is_complete());
//!             assert_eq!(call.arguments(), r#"{"a": 1, "b": 2}"#);
//!         }
//!     }
//! });
//! ```
//!
//! # The arguments of a call
//!
#![cfg_attr(feature = "wire", doc = "```")]
#![cfg_attr(not(feature = "wire"), doc = "```ignore")]
//! use wiremend::{mend_arguments, wire::FinishReason};
//!
//! let mended = mend_arguments("{'city': 'Oslo', days: 3}", FinishReason::from_provider("tool_calls"));
//! assert_eq!(mended.value(), Some(r#"{"city": "Oslo", "days": 3}"#));
//! // What was cut off has no value.
//! let cut = mend_arguments(r#"{"path": "/home/ada"#, FinishReason::from_provider("length"));
//! assert_eq!(cut.value(), None);
//! ```
//!
//! # A text and its schema
//!
#![cfg_attr(feature = "schema", doc = "```")]
#![cfg_attr(not(feature = "schema"), doc = "```ignore")]
//! use wiremend::schema::{FitOptions, Schema};
//!
//! let schema = Schema::from_text(r#"{"properties": {"days": {"type": "integer"}}, "required": ["days"]}"#)?;
//! let fitted = schema.fit(b"{days: '3'}", &FitOptions::new());
//! assert_eq!(fitted.text(), Some(r#"{"days": 3}"#));
//! let fitted = schema.fit(b"{days: 'a few'}", &FitOptions::new());
//! assert_eq!(fitted.issues()[0].to_string(), r#"/days: expected integer, got string "a few""#);
//! # Ok::<(), wiremend::schema::SchemaError>(())
//! ```
//!
//! # An answer that cannot be repaired
//!
#![cfg_attr(feature = "reask", doc = "```")]
#![cfg_attr(not(feature = "reask"), doc = "```ignore")]
//! use futures::executor::block_on;
//! use wiremend::{
//!     reask::{Answer, Failure, Reask, ReaskOptions},
//!     schema::Schema,
//! };
//!
//! let schema = Schema::from_text(r#"{"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}"#)?;
//! let mut reask = Reask::new(&schema, ReaskOptions::new());
//! let mut model = ["{city: 'Oslo', days: 'a few'}", "{\"days\": 3}"].into_iter();
//! // Only what is wrong is asked for, and put into the rest.
//! let done = block_on(reask.run(|ask| {
//!     let reply = model.next().unwrap();
//!     async move { Ok::<_, Failure>(Answer::text(reply)) }
//! }));
//! assert_eq!(done.unwrap().json(), r#"{"city": "Oslo", "days": 3}"#);
//! # Ok::<(), wiremend::schema::SchemaError>(())
//! ```
//!
//! # Parts
//!
//! | feature | what it adds | default |
//! |---|---|---|
//! | | the engine and the extraction, at the root of this crate and in [`repair`], [`partial`] and [`extract`]; no dependencies | always |
//! | `schema` | `wiremend::schema`: validation and repair by JSON Schema | no |
//! | `schemars` | `wiremend::schema::parse_as` and `parse_incomplete_as`: schemas from Rust types; implies `schema` | no |
//! | `exchange` | `wiremend::exchange`: a request to a provider and its answer, mended as the gateway does, without IO; implies `schema` and `wire` | no |
//! | `reask` | `wiremend::reask`: asks the model again when its answer cannot be repaired; implies `schema` and `wire` | no |
//! | `wire` | `wiremend::wire` and `wiremend::response`: providers' formats, whole responses, without IO | yes |
//! | `stream` | `wiremend::stream`: adapters for `futures_core::Stream`; implies `wire` | yes |
//! | `serde` | `Serialize` for repairs, outcomes, paths, issues and changes; `Value` as a `Deserializer` | no |
//! | `serde_json` | calls, arguments and objects as Rust types (`parse`), items and values while they arrive (`items`, `typed`), partial values as those of `serde_json` | no |
//! | `codec` | a codec of `tokio_util`; implies `tokio` | no |
//! | `http-body` | `http_body::Body` in and out of the adapters; implies `stream` | no |
//! | `tokio` | `AsyncRead` as a source of bytes; implies `stream` | no |
//! | `tokio-time` | deadlines by the clock of tokio; implies `tokio` | no |
//! | `metrics` | counters of the facade `metrics` from the adapters; implies `stream` | no |
//! | `tracing` | spans and events of `tracing` from the adapters; implies `stream` | no |

mod write;

pub use wiremend_core::{
    Limits, MendOptions, Mended, Mender, Outcome, Output, Partial, Policy, Reading, Repair,
    RepairKind, Risk, Value, mend, readings,
};
pub use wiremend_extract::{Finder, find};
#[cfg(feature = "wire")]
pub use wiremend_wire::mend_arguments;

/// More about repairs: several documents in one text, guides, edit scripts, a mender that keeps its
/// input, and output to a writer.
pub mod repair {
    pub use wiremend_core::{
        BufferedMender, Collected, Completion, Guide, KindSet, Lead, Listed, Located, Member, Path,
        Paths, Repairs, RepairsIter, RepairsPosition, Step, Tail, TrailingDocuments, UnknownCode,
        apply,
    };

    pub use crate::write::WriteOutput;
}

/// More about values that grow: changes, owned snapshots, and the events of a reader of JSON text.
pub mod partial {
    #[cfg(feature = "serde")]
    pub use wiremend_core::DeserializeError;
    #[cfg(feature = "serde_json")]
    pub use wiremend_core::Unrepresentable;
    pub use wiremend_core::{
        Delta, DeltaOp, Deltas, EventReader, Events, JsonType, Misplaced, OwnedValue, ParseEvent,
        Revision,
    };
}

/// More about JSON in text: where to look, and what receives the result.
pub mod extract {
    pub use wiremend_extract::{FoundDocument, FoundDocuments, Scope, TextSink};
}

/// Tool calls in text: readers for the dialects of models, and dialects of your own.
pub mod calls {
    pub use wiremend_extract::{
        CallEnd, CallExtractor, CallOutcome, CallSink, CallStart, CallStartState, Dialect,
        FoundCall, FoundCalls, MentionedCall, Payload, RestatedCall, Segment, SegmentEvent,
        SegmentReader, SegmentSink, Segments, Tools, UnknownTool,
    };
}

/// Mends a request to a provider and its answer, without IO: what the gateway is, without a server.
#[cfg(feature = "exchange")]
pub use wiremend_exchange as exchange;
/// Asks the model again when its answer cannot be repaired: a state machine without IO, and an async driver.
#[cfg(feature = "reask")]
pub use wiremend_reask as reask;
/// Reads a whole response, without IO: body bytes in; text, calls, objects and the end out.
#[cfg(feature = "wire")]
pub use wiremend_response as response;
/// Makes a value fit its JSON Schema: validation, rules, issues, tools by name.
#[cfg(feature = "schema")]
pub use wiremend_schema as schema;
/// `Stream` adapters: body bytes in; text, calls and mended objects out.
#[cfg(feature = "stream")]
pub use wiremend_stream as stream;
/// Decodes what a provider sends, and writes it again: framings, formats, calls.
#[cfg(feature = "wire")]
pub use wiremend_wire as wire;
