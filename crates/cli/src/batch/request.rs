//! Reading requests: a first look at the `id`, and all fields.

use std::{borrow::Cow, fmt};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;
use wiremend_core::{Limits, MendOptions, Policy, Risk, lexer::join_surrogates};
use wiremend_extract::{Dialect, Scope, Tools};
use wiremend_schema::SharedRegistry;
use wiremend_wire::{ApiFormat, Framing};

use crate::{
    args::{FormatArg, Split},
    fit::{Target, call_tools, tools_of_text},
    string::Text,
};

/// The settings for all requests of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(super) split: Split,
    pub(super) limits: Limits,
    pub(super) max_line: usize,
}

/// One request. Fields that are not listed here are ignored.
#[derive(Debug, Deserialize)]
pub(crate) struct Request<'a> {
    #[serde(default)]
    op: Option<Op>,
    #[serde(borrow, default)]
    input: Option<Text<'a>>,
    #[serde(borrow, default)]
    input_base64: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    chunks: Option<Vec<Text<'a>>>,
    #[serde(default)]
    mode: Option<Mode>,
    #[serde(borrow, default)]
    scope: Option<Cow<'a, str>>,
    #[serde(default)]
    policy: Option<PolicyName>,
    #[serde(default)]
    max_risk: Option<RiskName>,
    #[serde(default)]
    snapshots: Option<bool>,
    #[serde(borrow, default)]
    wire: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    framing: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    format: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    prefill: Option<Cow<'a, str>>,
    #[serde(default)]
    eos: Option<bool>,
    #[serde(borrow, default)]
    schema: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tools: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
}

/// The framing of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FramingName {
    /// Detected from its first byte.
    Auto,
    /// Server-sent events exactly as in the specification.
    Strict,
    Named(Framing),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Op {
    #[default]
    Repair,
    Stream,
    Events,
    Calls,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    #[default]
    Text,
    Stream,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PolicyName {
    Strict,
    Conservative,
    Permissive,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RiskName {
    Exact,
    Likely,
    Lossy,
    Guess,
}

impl<'a> Request<'a> {
    /// Reads a line.
    pub(crate) fn read(line: &'a [u8]) -> Result<Self, String> {
        // Fields have names: an array is no request.
        if line.trim_ascii_start().first() != Some(&b'{') {
            return Err("a request is a JSON object".to_owned());
        }
        serde_json::from_slice(line).map_err(|error| fault(&error))
    }

    pub(crate) fn op(&self) -> Op {
        self.op.unwrap_or_default()
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode.unwrap_or_default()
    }

    pub(crate) fn wants_snapshots(&self) -> bool {
        self.snapshots.unwrap_or_default()
    }

    /// Where in a text to look for documents, if the request says so.
    pub(crate) fn scope(&self) -> Result<Option<Scope>, String> {
        let Some(name) = self.scope.as_deref() else { return Ok(None) };
        name.parse().map(Some).map_err(|_| format!("`scope`: `{name}` is not known"))
    }

    /// The format that the request names.
    pub(crate) fn wire(&self) -> Result<Option<ApiFormat>, String> {
        let name = self.wire.as_deref().unwrap_or("auto");
        name.parse().map(|FormatArg(wire)| wire).map_err(|error| format!("`wire`: {error}"))
    }

    pub(crate) fn framing(&self) -> Result<FramingName, String> {
        match self.framing.as_deref() {
            None | Some("auto") => Ok(FramingName::Auto),
            Some("sse-strict") => Ok(FramingName::Strict),
            Some(name) => Framing::from_code(name)
                .map(FramingName::Named)
                .ok_or_else(|| format!("`framing`: `{name}` is not known")),
        }
    }

    /// The dialect of the calls in a text, unless it is to be detected.
    pub(crate) fn dialect(&self) -> Result<Option<&'static Dialect>, String> {
        match self.format.as_deref() {
            None | Some("auto") => Ok(None),
            Some(name) => Dialect::by_name(name)
                .map(Some)
                .ok_or_else(|| format!("`format`: `{name}` is not known")),
        }
    }

    /// Whether the model itself has ended the text.
    pub(crate) fn eos(&self) -> bool {
        self.eos.unwrap_or(true)
    }

    /// What the prompt has already written of the answer.
    pub(crate) fn prefill(&self) -> &str {
        self.prefill.as_deref().unwrap_or_default()
    }

    /// The tools that calls in a text may name.
    pub(crate) fn call_tools(&self) -> Result<Tools, String> {
        self.tools.map_or_else(|| Ok(Tools::new()), |tools| call_tools(tools.get()))
    }

    /// The schema for the value, if the request has one: either the schema itself, or tools and the
    /// name of one of them.
    pub(crate) fn target(&self) -> Result<Option<Target>, String> {
        let name = self.name.as_deref();
        if self.schema.is_some() && self.tools.is_some() {
            return Err("both `schema` and `tools` are given".to_owned());
        }
        if let Some(schema) = self.schema {
            return Target::of_schema(schema.get(), name).map(Some);
        }
        self.tools.map(|tools| Target::of_tools(tools.get(), name)).transpose()
    }

    /// The tools that calls may name.
    pub(crate) fn registry(&self) -> Result<Option<SharedRegistry>, String> {
        self.tools.map(|tools| tools_of_text(tools.get())).transpose()
    }

    /// The schema for the objects of a text.
    pub(crate) fn object_schema(&self) -> Result<Option<Target>, String> {
        let name = self.name.as_deref();
        self.schema.map(|schema| Target::of_schema(schema.get(), name)).transpose()
    }

    /// The engine options; `default` is the policy if the request has none.
    pub(crate) fn options(&self, default: Policy, limits: Limits) -> MendOptions {
        let policy = match self.policy {
            None => default,
            Some(PolicyName::Strict) => Policy::STRICT,
            Some(PolicyName::Conservative) => Policy::CONSERVATIVE,
            Some(PolicyName::Permissive) => Policy::PERMISSIVE,
        };
        let policy = match self.max_risk {
            None => policy,
            Some(RiskName::Exact) => policy.at_most(Risk::Exact),
            Some(RiskName::Likely) => policy.at_most(Risk::Likely),
            Some(RiskName::Lossy) => policy.at_most(Risk::Lossy),
            Some(RiskName::Guess) => policy.at_most(Risk::Guess),
        };
        MendOptions::new().with_policy(policy).with_limits(limits)
    }

    /// Takes the input: the bytes, and where to split them.
    pub(crate) fn take_input(&mut self, split: Split) -> Result<RequestInput<'a>, String> {
        let pieces = self.chunks.take().map(|chunks| {
            let mut pieces: Vec<Vec<u8>> =
                chunks.into_iter().map(|chunk| chunk.0.into_owned()).collect();
            join_halves(&mut pieces);
            pieces
        });
        let whole = match (self.input.take(), self.input_base64.take()) {
            (Some(_), Some(_)) => return Err("both `input` and `input_base64` are given".into()),
            (Some(text), None) => text.0,
            (None, Some(base64)) => STANDARD
                .decode(base64.as_bytes())
                .map_err(|error| format!("`input_base64` is not base64: {error}"))?
                .into(),
            (None, None) => match &pieces {
                Some(pieces) => pieces.concat().into(),
                None => {
                    let message = "none of `input`, `input_base64` and `chunks` is given";
                    return Err(message.into());
                }
            },
        };
        if pieces.as_ref().is_some_and(|pieces| !same_bytes(pieces, &whole)) {
            return Err("`chunks` joined are not the input".into());
        }
        Ok(RequestInput { whole, pieces, split })
    }
}

/// The error message for a line.
fn fault(error: &serde_json::Error) -> String {
    let (message, read) = (error.to_string(), error.column());
    // The line number is always 1, so only the column is of use.
    let place = format!(" at line {} column {read}", error.line());
    let message = message.strip_suffix(&place).unwrap_or(&message);
    if error.is_data() {
        format!("{message} (within the first {read} bytes of the line)")
    } else {
        format!("the line is not valid JSON: {message} (within its first {read} bytes)")
    }
}

/// Compares without joining the pieces in memory.
fn same_bytes(pieces: &[Vec<u8>], whole: &[u8]) -> bool {
    pieces.iter().flatten().eq(whole)
}

/// The bytes of a request, and where to split them.
#[derive(Debug)]
pub(crate) struct RequestInput<'a> {
    whole: Cow<'a, [u8]>,
    pieces: Option<Vec<Vec<u8>>>,
    split: Split,
}

impl RequestInput<'_> {
    pub(crate) fn whole(&self) -> &[u8] {
        &self.whole
    }

    /// The pieces to push: those of the request or, without any, those of `--split`.
    pub(crate) fn pieces(&self) -> Box<dyn Iterator<Item = &[u8]> + '_> {
        match &self.pieces {
            Some(pieces) => Box::new(pieces.iter().map(Vec::as_slice)),
            None => Box::new(self.split.pieces(&self.whole)),
        }
    }
}

/// If a chunk ends with the first half of a surrogate pair and the next one begins with the second,
/// the character moves into the later chunk, which completes it.
fn join_halves(pieces: &mut [Vec<u8>]) {
    for at in 1..pieces.len() {
        let Some([earlier, later]) = pieces.get_mut(at - 1..=at) else { continue };
        let (Some(&high), Some(&low)) = (earlier.last_chunk::<3>(), later.first_chunk::<3>())
        else {
            continue;
        };
        if let (Some(high), Some(low)) = (surrogate(high), surrogate(low))
            && let Some(c) = join_surrogates(high, low)
        {
            earlier.truncate(earlier.len() - 3);
            later.splice(..3, c.to_string().into_bytes());
        }
    }
}

/// The number encoded by three bytes of the form 1110xxxx 10xxxxxx 10xxxxxx.
fn surrogate([first, second, third]: [u8; 3]) -> Option<u32> {
    (first == 0xED && second & 0xC0 == 0x80 && third & 0xC0 == 0x80)
        .then(|| 0xD000 | u32::from(second & 0x3F) << 6 | u32::from(third & 0x3F))
}

/// The fields of a request.
const FIELDS: [&str; 15] = [
    "id",
    "op",
    "input",
    "input_base64",
    "chunks",
    "mode",
    "policy",
    "max_risk",
    "snapshots",
    "wire",
    "framing",
    "format",
    "schema",
    "tools",
    "name",
];

/// A line as far as it can be read.
#[derive(Debug, Default)]
pub(crate) struct Head<'a> {
    id: Option<&'a RawValue>,
    repeated: Option<&'static str>,
    /// A bit for each field that was seen.
    seen: u16,
}

impl<'a> Head<'a> {
    /// Reads a line, up to where it stops being valid JSON.
    pub(crate) fn read(line: &'a [u8]) -> Self {
        let mut head = Self::default();
        let mut line = serde_json::Deserializer::from_slice(line);
        // The error in the line is reported when the request is read.
        let _ = Scan(&mut head).deserialize(&mut line);
        head
    }

    /// The `id` as it was written, even if the line has errors. If there are several, the first.
    pub(crate) fn id(&self) -> Option<&'a RawValue> {
        self.id.filter(|id| id.get() != "null")
    }

    /// A field that occurs twice. Only the sender knows which of them is meant.
    pub(crate) const fn repeated(&self) -> Option<&'static str> {
        self.repeated
    }
}

struct Scan<'h, 'a>(&'h mut Head<'a>);

impl<'de: 'a, 'a> DeserializeSeed<'de> for Scan<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de: 'a, 'a> Visitor<'de> for Scan<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Field(field)) = map.next_key()? {
            let Some((number, name)) = field else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let bit = 1 << number;
            if self.0.seen & bit != 0 {
                self.0.repeated.get_or_insert(name);
            }
            if name == "id" && self.0.seen & bit == 0 {
                self.0.id = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
            self.0.seen |= bit;
        }
        Ok(())
    }
}

/// A key: its number and name, if it is a field of a request.
struct Field(Option<(usize, &'static str)>);

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Key;

        impl Visitor<'_> for Key {
            type Value = Field;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<Field, E> {
                Ok(Field(FIELDS.into_iter().enumerate().find(|(_, name)| *name == key)))
            }
        }

        deserializer.deserialize_identifier(Key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(line: &str) -> Result<(Vec<u8>, Vec<Vec<u8>>), String> {
        let mut request = Request::read(line.as_bytes())?;
        let input = request.take_input(Split::Every(2))?;
        let pieces = input.pieces().map(<[u8]>::to_vec).collect();
        Ok((input.whole().to_vec(), pieces))
    }

    #[test]
    fn the_input_is_text_or_base64_or_chunks() {
        let abc = (b"abc".to_vec(), vec![b"ab".to_vec(), b"c".to_vec()]);
        assert_eq!(input(r#"{"input":"abc"}"#), Ok(abc.clone()));
        assert_eq!(input(r#"{"input_base64":"YWJj"}"#), Ok(abc));
        let chunks = (b"abc".to_vec(), vec![b"a".to_vec(), b"".to_vec(), b"bc".to_vec()]);
        assert_eq!(input(r#"{"chunks":["a","","bc"]}"#), Ok(chunks.clone()));
        assert_eq!(input(r#"{"input":"abc","chunks":["a","","bc"]}"#), Ok(chunks));
        assert!(input(r#"{"input":"abc","chunks":["a","b"]}"#).is_err());
        assert!(input(r#"{"input":"abc","input_base64":"YWJj"}"#).is_err());
        assert!(input(r#"{"input_base64":"?"}"#).is_err());
        assert!(input(r#"{"id":1}"#).unwrap_err().contains("`chunks`"));
    }

    #[test]
    fn surrogates_and_bytes_that_are_not_utf8_get_through() {
        assert_eq!(input(r#"{"input":"\ud83d"}"#).unwrap().0, b"\xed\xa0\xbd");
        assert_eq!(input(r#"{"input":"\ud83d\ude00"}"#).unwrap().0, "😀".as_bytes());
        let (whole, pieces) = input(r#"{"chunks":["a\ud83d","\ude00b"]}"#).unwrap();
        assert_eq!(whole, "a😀b".as_bytes());
        assert_eq!(pieces, [b"a".to_vec(), "😀b".as_bytes().to_vec()]);
        let mut request = Request::read(b"{\"input\":\"\xff\"}").unwrap();
        assert_eq!(request.take_input(Split::Whole).unwrap().whole(), b"\xff");
    }

    #[test]
    fn a_bad_line_says_where() {
        let fault = |line: &str| Request::read(line.as_bytes()).unwrap_err();
        assert!(fault(r#"{"op":"dance"}"#).starts_with("unknown variant `dance`, expected one of"));
        assert_eq!(
            fault(r#"{"input":5}"#),
            "invalid type: integer `5`, expected a string (within the first 10 bytes of the line)"
        );
        assert!(fault(r#"{"input" 5}"#).starts_with("the line is not valid JSON: "));
        assert_eq!(fault("[1]"), "a request is a JSON object");
    }

    #[test]
    fn unknown_fields_are_ignored_however_deep() {
        let deep =
            format!("{{\"schema\":{}{},\"input\":\"1\"}}", "[".repeat(50_000), "]".repeat(50_000));
        assert!(Request::read(deep.as_bytes()).is_ok());
    }

    #[test]
    fn these_are_the_fields_of_a_request() {
        for field in FIELDS.into_iter().filter(|field| *field != "id") {
            let twice = format!("{{\"{field}\": null, \"{field}\": null}}");
            let error = Request::read(twice.as_bytes()).unwrap_err();
            assert!(error.contains("duplicate field"), "{field}: {error}");
        }
    }

    #[test]
    fn the_id_survives_a_bad_request() {
        let id = |line: &str| Head::read(line.as_bytes()).id().map(|id| id.get().to_owned());
        assert_eq!(
            id(r#"{"op":"dance","id":{"n":1.10},"input":"x"}"#).as_deref(),
            Some(r#"{"n":1.10}"#)
        );
        assert_eq!(id(r#"{"id": 7, "input": "cut of"#).as_deref(), Some("7"));
        assert_eq!(id(r#"{"id": 7} trailing"#).as_deref(), Some("7"));
        assert_eq!(id(r#"{"id": 7, "x": 1, "id": 8}"#).as_deref(), Some("7"));
        for none in ["nonsense", r#"{"id":null}"#, r#"{"id": tru"#, "[1]", ""] {
            assert_eq!(id(none), None, "{none}");
        }
    }

    #[test]
    fn a_field_that_comes_twice_is_named() {
        let repeated = |line: &str| Head::read(line.as_bytes()).repeated();
        assert_eq!(repeated(r#"{"input": "a", "input": "b", "id": 1}"#), Some("input"));
        assert_eq!(repeated(r#"{"id": 1, "id": 1}"#), Some("id"));
        assert_eq!(repeated(r#"{"id": null, "id": 1}"#), Some("id"));
        assert_eq!(repeated(r#"{"note": 1, "note": 2, "id": 1, "name": "x"}"#), None);
    }
}
