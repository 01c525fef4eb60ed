//! Tool calls in text, in the dialects that models write.
//!
//! A dialect is a row of the [table](table): markers, and the [shape](shape) of a call. The reader
//! looks for all [markers] of the active rows at once, and hands what follows one to an engine. There
//! are five: [JSON](json) between markers or after a name, with the shapes of an [envelope];
//! [tags](xml) with named parameters, of which the [values](value) are bare text; calls as in
//! [Python](python); calls with [braces](brace); and prose [frames](react). Headers of messages are
//! read by [frames]. Whatever an engine reads goes out through [`out`], which holds back what may
//! still turn out to be no call.

mod arguments;
mod brace;
mod envelope;
mod frames;
mod input;
mod json;
mod markers;
mod model;
mod named;
mod names;
mod nested;
mod out;
mod prefill;
mod python;
mod react;
mod reader;
mod repairs;
mod search;
mod setup;
mod shape;
mod sink;
mod table;
mod tags;
mod tools;
mod tree;
mod value;
mod wake;
mod xml;

pub use reader::{CallExtractor, CallStartState};
pub use shape::Dialect;
pub use sink::{
    CallEnd, CallOutcome, CallSink, CallStart, FoundCall, FoundCalls, MentionedCall, RestatedCall,
    UnknownTool,
};
pub use tools::Tools;
