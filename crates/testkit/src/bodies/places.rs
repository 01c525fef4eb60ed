//! Where a body holds its arguments and its texts, and the same body with others in their place.

use std::ops::Range;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;
use wiremend_wire::{CallKind, Transcript, WireOptions, eventstream::Message, transcribe};

use crate::transport::Events;

/// The members that hold a piece of arguments, in any format.
const ARGUMENTS: [&str; 6] =
    ["arguments", "delta", "input", "parameters", "partial_arguments", "partial_json"];

/// The members that hold a piece of text.
const CONTENT: [&str; 6] = ["completion", "content", "delta", "response", "text", "value"];

/// The places of some texts in a body.
///
/// A text is found where the strings of the body, in order, add up to it, so this module needs no
/// knowledge of formats. Arguments that come as an object, and those that a server repeats in its own
/// way, have no places.
///
/// ```
/// use wiremend_testkit::bodies::Places;
/// let body = br#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"[1"}}]}}]}
///
/// data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"]"}}]}}]}
///
/// "#;
/// let places = Places::of_arguments(body);
/// assert_eq!(places.texts().collect::<Vec<_>>(), ["[1]"]);
/// let other = String::from_utf8(places.replaced(0, b"\"a\"")).unwrap();
/// assert!(other.contains(r#""arguments":"\"a""#) && other.contains(r#""arguments":"\""}"#));
/// ```
#[derive(Clone, Debug)]
pub struct Places {
    units: Vec<Unit>,
    texts: Vec<Text>,
}

/// A part of the body that is written separately.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// The text that is searched: the bytes themselves, or the payload of a frame.
    payload: Vec<u8>,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    Plain,
    /// The payload of that frame.
    Frame(Vec<u8>),
    /// In base64 in the payload of that frame.
    Chunk(Vec<u8>),
}

#[derive(Clone, Debug)]
struct Text {
    text: String,
    spots: Vec<Spot>,
}

/// A string of a unit, including its quotes, and the part of the text that it holds.
#[derive(Clone, Debug)]
struct Spot {
    unit: usize,
    span: Range<usize>,
    says: Range<usize>,
}

/// A string of a unit that may hold a piece of a text.
struct Literal<'a> {
    unit: usize,
    span: Range<usize>,
    key: &'a str,
    text: String,
}

impl Places {
    /// The places of the arguments of the calls.
    #[must_use]
    pub fn of_arguments(body: &[u8]) -> Self {
        Self::of(body, &ARGUMENTS, |said| {
            let calls = said.calls().into_iter().filter(|call| call.kind() != CallKind::Custom);
            calls.map(|call| call.raw().to_owned()).collect()
        })
    }

    /// The places of the texts, one per block or choice.
    #[must_use]
    pub fn of_content(body: &[u8]) -> Self {
        Self::of(body, &CONTENT, |said| said.texts().to_vec())
    }

    fn of(body: &[u8], keys: &[&str], texts: impl Fn(&Transcript) -> Vec<String>) -> Self {
        let units = units(body);
        let mut found: Vec<Text> = texts(&transcribe(body, WireOptions::new()))
            .into_iter()
            .map(|text| Text { text, spots: Vec::new() })
            .collect();
        let mut heard = vec![0; found.len()];
        let mut last = 0;
        for literal in units.iter().enumerate().flat_map(|(unit, of)| literals(unit, &of.payload)) {
            if !keys.contains(&literal.key) || literal.text.is_empty() {
                continue;
            }
            // A delta nearly always belongs to the same text as the one before.
            let fits = |number: &usize| {
                let rest = found.get(*number).zip(heard.get(*number));
                let rest = rest.and_then(|(text, heard)| text.text.get(*heard..));
                rest.is_some_and(|rest| rest.starts_with(&literal.text))
            };
            let Literal { unit, span, text, .. } = &literal;
            let number = Some(last).filter(fits).or_else(|| (0..found.len()).find(fits));
            if let Some(number) = number
                && let (Some(known), Some(heard)) = (found.get_mut(number), heard.get_mut(number))
            {
                let says = *heard..*heard + text.len();
                *heard = says.end;
                last = number;
                known.spots.push(Spot { unit: *unit, span: span.clone(), says });
            } else if let Some(known) = found.iter_mut().find(|known| known.text == *text) {
                let says = 0..text.len();
                known.spots.push(Spot { unit: *unit, span: span.clone(), says });
            }
        }
        let mut whole = heard.iter().zip(&found).map(|(heard, known)| *heard == known.text.len());
        let mut whole_texts = found.clone();
        whole_texts.retain(|_| whole.next().unwrap_or_default());
        Self { units, texts: whole_texts }
    }

    /// The texts, in the order of the transcript; those without places are left out.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|known| known.text.as_str())
    }

    /// How many strings repeat the whole text of that number, besides those that it comes in.
    #[must_use]
    pub fn repeats_of(&self, number: usize) -> usize {
        let Some(known) = self.texts.get(number) else { return 0 };
        let mut heard = 0;
        let again = known.spots.iter().filter(|spot| {
            let is_piece = spot.says.start == heard && heard < known.text.len();
            heard = if is_piece { spot.says.end } else { heard };
            !is_piece
        });
        again.count()
    }

    /// The body with other bytes for the text of that number, in pieces of the same proportions.
    /// Strings that repeated the whole text repeat the new one.
    #[must_use]
    pub fn replaced(&self, number: usize, by: &[u8]) -> Vec<u8> {
        let spots = self.texts.get(number).map(|known| known.spots.as_slice()).unwrap_or_default();
        let old = self.texts.get(number).map_or(0, |known| known.text.len());
        let cut = |at: usize| {
            let at = (at * by.len()).checked_div(old).unwrap_or_default();
            (at..by.len()).find(|&at| by.get(at).is_none_or(|byte| byte & 0xc0 != 0x80))
        };
        let mut out = Vec::new();
        for (number, unit) in self.units.iter().enumerate() {
            let mut payload = Vec::new();
            let mut at = 0;
            for spot in spots.iter().filter(|spot| spot.unit == number) {
                let [start, end] =
                    [spot.says.start, spot.says.end].map(|at| cut(at).unwrap_or(by.len()));
                payload
                    .extend_from_slice(unit.payload.get(at..spot.span.start).unwrap_or_default());
                quote(by.get(start..end).unwrap_or_default(), &mut payload);
                at = spot.span.end;
            }
            payload.extend_from_slice(unit.payload.get(at..).unwrap_or_default());
            unit.write(&payload, &mut out);
        }
        out
    }
}

impl Unit {
    /// The text of the payload, or of all of them.
    pub(super) fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// The bytes of the body, with that payload.
    pub(super) fn write(&self, payload: &[u8], out: &mut Vec<u8>) {
        let (frame, payload) = match &self.form {
            Form::Plain => return out.extend_from_slice(payload),
            Form::Frame(frame) => (frame, payload.to_vec()),
            Form::Chunk(frame) => {
                let outer = Message::read(frame).ok();
                let outer = outer.and_then(|outer| serde_json::from_slice(outer.payload()).ok());
                let mut outer: Value = outer.unwrap_or_default();
                if let Some(bytes) = outer.get_mut("bytes") {
                    *bytes = STANDARD.encode(payload).into();
                }
                (frame, outer.to_string().into_bytes())
            }
        };
        let start = out.len();
        let written = Message::read(frame).ok().map(|message| message.encode_with(&payload, out));
        if !matches!(written, Some(Ok(()))) {
            out.truncate(start);
            out.extend_from_slice(frame);
        }
    }
}

/// The body itself, or its frames.
pub(super) fn units(body: &[u8]) -> Vec<Unit> {
    if body.first() != Some(&0) {
        return vec![Unit { payload: body.to_vec(), form: Form::Plain }];
    }
    let mut units = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let length = rest.first_chunk::<4>().map(|length| u32::from_be_bytes(*length) as usize);
        let Some((frame, after)) = length.filter(|n| *n > 0).and_then(|n| rest.split_at_checked(n))
        else {
            break;
        };
        units.push(match Message::read(frame) {
            Ok(message) => {
                let inner = serde_json::from_slice::<Value>(message.payload()).ok();
                let inner =
                    inner.and_then(|outer| STANDARD.decode(outer.get("bytes")?.as_str()?).ok());
                match inner {
                    Some(payload) => Unit { payload, form: Form::Chunk(frame.to_vec()) },
                    None => {
                        let payload = message.payload().to_vec();
                        Unit { payload, form: Form::Frame(frame.to_vec()) }
                    }
                }
            }
            Err(_) => Unit { payload: frame.to_vec(), form: Form::Plain },
        });
        rest = after;
    }
    units.push(Unit { payload: rest.to_vec(), form: Form::Plain });
    units
}

/// The strings that are the value of a member, as far as this can be found out without a parser: a
/// line end ends every string.
fn literals(unit: usize, payload: &[u8]) -> Vec<Literal<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut key = None;
    while let Some(&byte) = payload.get(at) {
        if byte != b'"' {
            // There is a colon and white space between a key and its value.
            if !matches!(byte, b':' | b' ') {
                key = None;
            }
            at += 1;
            continue;
        }
        let Some(len) = string_len(&payload[at..]) else {
            at += 1;
            continue;
        };
        let span = at..at + len;
        at = span.end;
        let string = &payload[span.clone()];
        let next = payload[span.end..].iter().find(|byte| **byte != b' ');
        if let Some(key) = key.take() {
            if let Ok(text) = serde_json::from_slice(string) {
                found.push(Literal { unit, span, key, text });
            }
        } else if next == Some(&b':') {
            key = std::str::from_utf8(&string[1..len - 1]).ok();
        }
    }
    found
}

/// The length of the string that begins with the first byte.
fn string_len(text: &[u8]) -> Option<usize> {
    let mut escaped = false;
    for (at, &byte) in text.iter().enumerate().skip(1) {
        match byte {
            b'\n' | b'\r' => return None,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Writes bytes as a JSON string. Bytes that are not UTF-8 are kept.
fn quote(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            0..=0x1f => out.extend(format!("\\u{byte:04x}").into_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// The payloads of a body that are JSON objects.
///
/// ```
/// use wiremend_testkit::bodies::Payloads;
/// use serde_json::json;
///
/// let body = b"data: {\"n\": 1}\n\ndata: [DONE]\n\n";
/// let payloads = Payloads::of(body);
/// assert_eq!(payloads.iter().collect::<Vec<_>>(), [&json!({"n": 1})]);
/// assert_eq!(payloads.replaced(0, &json!({"m": 2})), b"data: {\"m\":2}\n\ndata: [DONE]\n\n");
/// ```
#[derive(Clone, Debug)]
pub struct Payloads {
    units: Vec<Unit>,
    /// In which unit each is, where, and what it says.
    found: Vec<(usize, Range<usize>, Value)>,
}

impl Payloads {
    /// Finds them: one in each event, line or frame, or one that is the whole body.
    #[must_use]
    pub fn of(body: &[u8]) -> Self {
        let units = units(body);
        let mut found = Vec::new();
        for (number, unit) in units.iter().enumerate() {
            let events = Events::of(unit.payload());
            for (event, end) in events.iter().zip(events.ends()) {
                let start = end - event.len();
                let open = event.iter().position(|byte| *byte == b'{');
                let close = event.iter().rposition(|byte| *byte == b'}');
                let (Some(open), Some(close)) = (open, close) else { continue };
                let text = event.get(open..=close).unwrap_or_default();
                if let Ok(value) = serde_json::from_slice(text) {
                    found.push((number, start + open..start + close + 1, value));
                }
            }
        }
        Self { units, found }
    }

    /// What each says.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.found.iter().map(|(.., value)| value)
    }

    /// The body with another payload in the place of that one.
    #[must_use]
    pub fn replaced(&self, number: usize, by: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        let place = self.found.get(number);
        for (of, unit) in self.units.iter().enumerate() {
            let mut payload = unit.payload().to_vec();
            if let Some((_, span, _)) = place.filter(|(unit, ..)| *unit == of) {
                payload.splice(span.clone(), by.to_string().into_bytes());
            }
            unit.write(&payload, &mut out);
        }
        out
    }
}
