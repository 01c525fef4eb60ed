//! Serde, with the feature of that name: reports as data, and values into types.

mod value;

use ::serde::ser::{Serialize, SerializeMap as _, SerializeStruct as _, Serializer};

pub use value::DeserializeError;

use crate::{
    Delta, DeltaOp, JsonType, Outcome, ParseEvent, Path, Repair, RepairKind, Repairs, Risk,
    TrailingDocuments,
};

/// Serializes as the code.
macro_rules! serialize_code {
    ($($type:ty),*) => {$(
        /// Serializes as its code.
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.code())
            }
        }
    )*};
}
serialize_code!(JsonType, Outcome, RepairKind, Risk, TrailingDocuments);

/// Serializes as it prints, as in `$.a[0]`.
impl Serialize for Path {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Serializes as an object with `code`, `risk`, `start`, `end` and `after`.
impl Serialize for Repair {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut repair = serializer.serialize_struct("Repair", 5)?;
        repair.serialize_field("code", &self.kind)?;
        repair.serialize_field("risk", &self.risk())?;
        repair.serialize_field("start", &self.start)?;
        repair.serialize_field("end", &self.end)?;
        repair.serialize_field("after", self.after())?;
        repair.end()
    }
}

/// Serializes as a list.
impl Serialize for Repairs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

/// Serializes as an object with `event` and, for events that have content, `text` or `value`. A
/// number is text, as written.
impl Serialize for ParseEvent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut event = serializer.serialize_map(None)?;
        event.serialize_entry("event", name(self))?;
        match self {
            Self::Bool(value) => event.serialize_entry("value", value)?,
            Self::Key(text) | Self::Number(text) | Self::Text(text) => {
                event.serialize_entry("text", text)?;
            }
            Self::BeginArray
            | Self::BeginObject
            | Self::BeginString
            | Self::EndArray
            | Self::EndDocument
            | Self::EndObject
            | Self::EndString
            | Self::Null => {}
        }
        event.end()
    }
}

const fn name(event: &ParseEvent<'_>) -> &'static str {
    match event {
        ParseEvent::BeginArray => "begin-array",
        ParseEvent::BeginObject => "begin-object",
        ParseEvent::BeginString => "begin-string",
        ParseEvent::Bool(_) => "bool",
        ParseEvent::EndArray => "end-array",
        ParseEvent::EndDocument => "end-document",
        ParseEvent::EndObject => "end-object",
        ParseEvent::EndString => "end-string",
        ParseEvent::Key(_) => "key",
        ParseEvent::Null => "null",
        ParseEvent::Number(_) => "number",
        ParseEvent::Text(_) => "text",
    }
}

/// Serializes as the object that it prints: `op`, `path` as a JSON Pointer, and `value` or `text`.
/// A number that is not a `u64`, `i64` or finite `f64` is text.
impl Serialize for Delta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut delta = serializer.serialize_map(None)?;
        let op = self.op();
        let name = match &op {
            DeltaOp::Append(_) => "append",
            DeltaOp::Close => "close",
            _ => "add",
        };
        delta.serialize_entry("op", name)?;
        delta.serialize_entry("path", &self.path().to_pointer())?;
        match &op {
            DeltaOp::AddArray => delta.serialize_entry::<_, [(); 0]>("value", &[])?,
            DeltaOp::AddBool(value) => delta.serialize_entry("value", value)?,
            DeltaOp::AddNull => delta.serialize_entry("value", &())?,
            DeltaOp::AddNumber(number) => delta.serialize_entry("value", &Number(number))?,
            DeltaOp::AddObject => delta.serialize_entry("value", &Empty)?,
            DeltaOp::AddString => delta.serialize_entry("value", "")?,
            DeltaOp::Append(text) => delta.serialize_entry("text", text)?,
            DeltaOp::Close => {}
        }
        delta.end()
    }
}

/// An object without members.
struct Empty;

impl Serialize for Empty {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_map(Some(0))?.end()
    }
}

/// A number, as written.
struct Number<'a>(&'a str);

impl Serialize for Number<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Ok(number) = self.0.parse::<u64>() {
            serializer.serialize_u64(number)
        } else if let Ok(number) = self.0.parse::<i64>() {
            serializer.serialize_i64(number)
        } else {
            match self.0.parse::<f64>() {
                Ok(number) if number.is_finite() => serializer.serialize_f64(number),
                _ => serializer.serialize_str(self.0),
            }
        }
    }
}
