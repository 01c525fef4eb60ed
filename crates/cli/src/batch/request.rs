//! Reading requests.

use std::{borrow::Cow, fmt};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Deserializer, de::Visitor};
use serde_json::value::RawValue;
use wiremend_core::{Limits, Options, Policy, Risk, lexer::join_surrogates};
use wiremend_extract::{Dialect, Scope, Tools};
use wiremend_schema::SharedRegistry;
use wiremend_wire::{ApiFormat, Framing};

use crate::{
    args::{FormatArg, Split},
    fit::{Target, call_tools, tools_of_text},
};

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
    pub(crate) fn options(&self, default: Policy, limits: Limits) -> Options {
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
        Options::new().with_policy(policy).with_limits(limits)
    }

    /// Takes the input: the bytes, and where to split them.
    pub(crate) fn take_input(&mut self, split: Split) -> Result<Input<'a>, String> {
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
        Ok(Input { whole, pieces, split })
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
pub(crate) struct Input<'a> {
    whole: Cow<'a, [u8]>,
    pieces: Option<Vec<Vec<u8>>>,
    split: Split,
}

impl Input<'_> {
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

/// The bytes of a JSON string. A lone surrogate escape, which UTF-8 cannot represent, becomes the three
/// bytes that its number would have in UTF-8. Invalid UTF-8 is kept, because the engine, and not the
/// reader of the request, has to handle it.
#[derive(Debug)]
struct Text<'a>(Cow<'a, [u8]>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }
    fn visit_borrowed_bytes<E: serde::de::Error>(self, bytes: &'de [u8]) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(bytes)))
    }
    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(bytes.to_vec())))
    }
    fn visit_byte_buf<E: serde::de::Error>(self, bytes: Vec<u8>) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(bytes)))
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
}
