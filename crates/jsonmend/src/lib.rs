//! Turns what a language model streams into JSON that can be trusted, in flight.
//!
//! jsonmend finds the JSON in a model's output, repairs it while it arrives, says what it
//! changed, and never passes off a cut-off value as a complete one. Valid JSON leaves byte for byte
//! as it came.
//!
//! # A text
//!
//! ```
//! use jsonmend::{Options, Outcome, apply, mend};
//!
//! let input = b"{name: 'Ada', langs: ['en', 'fr',], ok: True}";
//! let mended = mend(input, &Options::new());
//! assert_eq!(mended.outcome(), Outcome::Repaired);
//! let text = mended.text().unwrap();
//! assert_eq!(text, r#"{"name": "Ada", "langs": ["en", "fr"], "ok": true}"#);
//! // The repairs, applied to the input, give the output.
//! assert_eq!(apply(input, mended.repairs()).unwrap(), text.as_bytes());
//! ```
//!
//! [`mend_text`] does the same where prose, fences or reasoning may stand around the JSON.
//!
//! # A text that arrives
//!
//! ```
//! use jsonmend::{Mender, Options, Outcome};
//!
//! let mut mender = Mender::new(Options::new());
//! let mut out = Vec::new();
//! for chunk in ["{'city': 'Par", "is', 'pop", "': 2_100_000}"] {
//!     mender.push(chunk.as_bytes(), &mut out);
//!     // Valid JSON, from the first bracket on; once the document has ended there is nothing to complete.
//!     let completion = mender.completion().map(|rest| rest.to_string()).unwrap_or_default();
//!     println!("{}{completion}", String::from_utf8_lossy(&out));
//! }
//! assert_eq!(mender.finish(&mut out), Outcome::Repaired);
//! assert_eq!(out, br#"{"city": "Paris", "pop": 2100000}"#);
//! ```
//!
//! [`Extractor`] does the same where text may stand around it.
//!
//! # A value that grows
//!
//! ```
//! use jsonmend::{Revision, Mender, Options, Partial};
//!
//! let mut mender = Mender::new(Options::new());
//! let (mut partial, mut seen) = (Partial::new(), Revision::default());
//! for chunk in ["{'city': 'Par", "is', 'pop", "': 2_100_000}"] {
//!     mender.push(chunk.as_bytes(), &mut partial);
//!     // A view: nothing is copied or parsed again.
//!     let city = partial.root().and_then(|root| root.member("city"));
//!     println!("{:?}", city.and_then(|city| city.as_str()));
//!     // What came since the last look: {"op":"append","path":"/city","text":"is"} and so on.
//!     for delta in partial.since(&seen) {
//!         println!("{delta}");
//!     }
//!     seen = partial.revision();
//! }
//! assert_eq!(partial.to_string(), r#"{"city":"Paris","pop":2100000}"#);
//! ```
//!
//! [`OwnedValue`] is a snapshot that stands alone, and applies such changes elsewhere.
//!
//! # A provider's stream
//!
#![cfg_attr(feature = "stream", doc = "```")]
#![cfg_attr(not(feature = "stream"), doc = "```ignore")]
//! use futures::{StreamExt, executor::block_on, stream};
//! use jsonmend::stream::{Event, MendExt, MendOptions};
//!
//! let body = stream::iter([
//!     "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",",
//!     "\"function\":{\"name\":\"add\",\"arguments\":\"{'a': 1, b: 2}\"}}]}}]}\n\n",
//!     "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
//! ]);
//! let mut events = body.map(Ok::<_, std::io::Error>).mend(MendOptions::new());
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
//! # A text and its schema
//!
#![cfg_attr(feature = "schema", doc = "```")]
#![cfg_attr(not(feature = "schema"), doc = "```ignore")]
//! use jsonmend::schema::{FitOptions, Schema};
//!
//! let schema = Schema::from_text(r#"{"properties": {"days": {"type": "integer"}}, "required": ["days"]}"#)?;
//! let fitted = schema.fit(b"{days: '3'}", &FitOptions::new());
//! assert_eq!(fitted.text(), Some(r#"{"days": 3}"#));
//! let fitted = schema.fit(b"{days: 'a few'}", &FitOptions::new());
//! assert_eq!(fitted.issues()[0].to_string(), r#"/days: expected integer, got string "a few""#);
//! # Ok::<(), jsonmend::schema::SchemaError>(())
//! ```
//!
//! # Parts
//!
//! | feature | what it adds | default |
//! |---|---|---|
//! | | the engine and the extraction, at the root of this crate; no dependency | always |
//! | `schema` | `jsonmend::schema`: validation and repair by JSON Schema | no |
//! | `schemars` | `jsonmend::schema::parse_as`: schemas from Rust types; implies `schema` | no |
//! | `wire` | `jsonmend::wire`: framings and providers' formats, without IO | yes |
//! | `stream` | `jsonmend::stream`: adapters for `futures::Stream`; implies `wire` | yes |
//! | `serde` | `Serialize` for repairs, outcomes, paths, events and deltas; `Value` as a `Deserializer` | no |
//! | `serde_json` | `Value::to_value`: partial values as those of `serde_json` | no |
//! | `tracing` | events of `tracing` from the adapters; implies `stream` | no |

mod write;

#[cfg(feature = "serde")]
pub use jsonmend_core::DeserializeError;
#[cfg(feature = "serde_json")]
pub use jsonmend_core::Unrepresentable;
pub use jsonmend_core::{
    BufferedMender, Collected, Completion, Delta, DeltaOp, Deltas, EventReader, Events, Guide,
    Kind, KindSet, Lead, Limits, Listed, Member, Mended, Mender, Misplaced, Options, Outcome,
    Output, OwnedValue, ParseEvent, Partial, Path, Policy, Repair, RepairKind, Revision, Risk,
    Step, Tail, TrailingDocuments, UnknownCode, Value, apply, mend,
};
pub use jsonmend_extract::{Extractor, Findings, Found, Scope, TextSink, mend_text};
pub use write::WriteOutput;

/// A value into its JSON Schema: validation, rules, issues, tools by name.
#[cfg(feature = "schema")]
pub use jsonmend_schema as schema;
/// `Stream` adapters: body bytes in; text, calls and mended objects out.
#[cfg(feature = "stream")]
pub use jsonmend_stream as stream;
/// What a provider sends, decoded: framings, formats, calls.
#[cfg(feature = "wire")]
pub use jsonmend_wire as wire;
