//! `wiremend batch`: JSON Lines in, JSON Lines out.

mod operations;

use std::{
    borrow::Cow,
    fmt,
    io::{self, BufRead, BufReader, Read as _, Write},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use operations::{Growth, grow};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;
use wiremend_core::{Limits, MendOptions, Policy, Risk, TrailingDocuments, lexer::join_surrogates};
use wiremend_extract::{Dialect, Scope, Tools, find};
use wiremend_schema::SharedRegistry;
use wiremend_wire::{ApiFormat, Framing};

use crate::{
    Session,
    args::{BatchArgs, FormatArg, Split},
    exit::{Exit, Failure},
    fit::{Fitting, Target, call_tools, changes, tools_of_text},
    input::{CHUNK, Input},
    ordered::{self, Jobs, Work, in_order},
    out::{self, Out},
    report::{Record, records},
    string::Text,
};

pub(crate) fn run(args: &BatchArgs, session: Session) -> Result<Exit, Failure> {
    let setting =
        Setting { split: args.split, limits: args.limits.limits(), max_line: args.max_line };
    let input = Input::open(&args.file, session.quiet)?;
    let name = input.name().to_owned();
    let mut out = Out::new();
    let ended = answer_in_order(
        BufReader::with_capacity(CHUNK, input),
        out.lines(),
        ordered::threads(args.threads),
        args.max_line,
        move |line| reply(line, setting),
        panicked,
    );
    match ended {
        Ok(()) => Ok(Exit::Unchanged),
        Err(Stopped::Reading(error)) => Err(Failure::reading(&name, error)),
        Err(Stopped::Writing(error)) => Err(error.into()),
    }
}

/// A line of output.
#[derive(Debug, Serialize)]
struct Reply<'a> {
    id: Option<&'a RawValue>,
    #[serde(flatten)]
    body: Body,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Body {
    Error { error: String },
    Repair(Repaired),
    Stream(operations::Streamed),
    Events(operations::Framed),
    Calls(operations::Extracted),
}

#[derive(Debug, Serialize)]
struct Repaired {
    outcome: &'static str,
    json: Option<String>,
    repairs: Vec<Record>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshots: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    emitted: Option<Vec<usize>>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    fit: Option<Fitting>,
}

/// The reply to a line, without its line end.
fn reply(line: &Line, setting: Setting) -> Vec<u8> {
    match line {
        Line::TooLong(start) => {
            let error = format!("the line is longer than {} bytes", setting.max_line);
            write(&Head::read(start), Err(error))
        }
        Line::Whole(line) => {
            let head = Head::read(line);
            let result = match head.repeated() {
                Some(field) => Err(format!("the field `{field}` is given twice")),
                None => answer(line, setting),
            };
            write(&head, result)
        }
    }
}

/// The reply to a line on which [`reply`] panicked.
fn panicked(line: &Line) -> Vec<u8> {
    let (Line::Whole(line) | Line::TooLong(line)) = line;
    write(&Head::read(line), Err("internal error: this input made wiremend panic".to_owned()))
}

fn write(head: &Head<'_>, result: Result<Body, String>) -> Vec<u8> {
    let id = head.id();
    let body = result.unwrap_or_else(|error| Body::Error { error });
    let mut line = Vec::new();
    match out::write_json(&mut line, &Reply { id, body }) {
        Ok(()) => line,
        Err(error) => {
            // A reply consists of strings, numbers and lists, so writing it cannot fail.
            debug_assert!(false, "{error}");
            br#"{"id":null,"error":"internal error: the reply could not be written"}"#.to_vec()
        }
    }
}

fn answer(line: &[u8], setting: Setting) -> Result<Body, String> {
    let mut request = Request::read(line)?;
    let input = request.take_input(setting.split)?;
    match request.op() {
        Op::Repair => repair(&request, &input, setting).map(Body::Repair),
        Op::Stream => operations::stream(&request, &input, setting).map(Body::Stream),
        Op::Events => operations::events(&request, &input).map(Body::Events),
        Op::Calls => operations::calls(&request, &input, setting).map(Body::Calls),
    }
}

fn repair(
    request: &Request<'_>,
    input: &RequestInput<'_>,
    setting: Setting,
) -> Result<Repaired, String> {
    let options = request.options(Policy::PERMISSIVE, setting.limits);
    let snapshots = request.wants_snapshots();
    let target = request.target()?;
    let scope = request.scope()?;
    if scope.is_some() && request.mode() == Mode::Stream {
        return Err("`scope` is for the mode `text`".to_owned());
    }
    let scope = scope.unwrap_or(Scope::Best);
    let growing = match &target {
        Some(target) => options.clone().with_guide(target.schema().guide()),
        None => options.clone(),
    };
    let grown = match (request.mode(), snapshots) {
        (Mode::Text, false) => None,
        _ => Some(grow(input.pieces(), growing, snapshots)?),
    };
    if let Some(target) = target {
        let whole = options.with_trailing_documents(TrailingDocuments::Array);
        let fitted = target.fit(input.whole(), whole, scope);
        let (snapshots, emitted) =
            grown.map_or((None, None), |grown| (grown.snapshots, grown.emitted));
        return Ok(Repaired {
            outcome: fitted.outcome().code(),
            json: fitted.text().map(str::to_owned),
            repairs: changes(fitted.changes()),
            cut_at: None,
            snapshots,
            emitted,
            fit: Some(Fitting::new(target.id().map(str::to_owned), &fitted)),
        });
    }
    match (request.mode(), grown) {
        (Mode::Stream, Some(grown)) => {
            let repairs = records(grown.located());
            let Growth { outcome, json, snapshots, emitted, .. } = grown;
            let json = outcome.is_valid().then(|| String::from_utf8_lossy(&json).into_owned());
            let outcome = outcome.code();
            Ok(Repaired { outcome, json, repairs, cut_at: None, snapshots, emitted, fit: None })
        }
        (_, grown) => {
            let whole = options.with_trailing_documents(TrailingDocuments::Array);
            let mended = find(input.whole(), scope, &whole);
            let cut_at = mended.cut_at().map(ToString::to_string);
            let repairs = records(mended.located(input.whole()));
            let (outcome, json, _) = mended.into_parts();
            let outcome = outcome.code();
            let (snapshots, emitted) =
                grown.map_or((None, None), |grown| (grown.snapshots, grown.emitted));
            Ok(Repaired { outcome, json, repairs, cut_at, snapshots, emitted, fit: None })
        }
    }
}

/// A line of the input.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    /// Without its line end.
    Whole(Vec<u8>),
    /// A line over the limit: its first bytes, up to the limit.
    TooLong(Vec<u8>),
}

/// Why the pipeline stopped before the end of the input.
#[derive(Debug)]
enum Stopped {
    Reading(io::Error),
    Writing(io::Error),
}

/// Answers each line with a reply without its line end.
struct Answers<A> {
    answer: A,
    /// Makes the reply for a line on which `answer` panicked.
    panicked: fn(&Line) -> Vec<u8>,
}

impl<A: Fn(&Line) -> Vec<u8> + Send + Sync + 'static> Work for Answers<A> {
    type Job = Line;
    type Done = io::Result<Vec<u8>>;

    fn work(&self, line: &Line) -> io::Result<Vec<u8>> {
        Ok((self.answer)(line))
    }

    fn panicked(&self, line: &Line) -> io::Result<Vec<u8>> {
        Ok((self.panicked)(line))
    }

    fn weight(reply: &io::Result<Vec<u8>>) -> usize {
        reply.as_ref().map_or(0, Vec::len)
    }
}

/// Answers every line of `input` on `threads` threads, and writes the replies in the order of the
/// lines. The output is flushed before waiting for a reply.
fn answer_in_order(
    mut input: impl BufRead + Send + 'static,
    out: &mut impl Write,
    threads: usize,
    max_line: usize,
    answer: impl Fn(&Line) -> Vec<u8> + Send + Sync + 'static,
    panicked: fn(&Line) -> Vec<u8>,
) -> Result<(), Stopped> {
    let feed = move |jobs: &mut Jobs<_>| {
        if let Err(error) = feed(&mut input, max_line, jobs) {
            jobs.done(Err(error));
        }
    };
    in_order(threads, Answers { answer, panicked }, feed, |reply| {
        let written = match reply {
            None => out.flush(),
            Some(Ok(mut reply)) => {
                reply.push(b'\n');
                out.write_all(&reply)
            }
            Some(Err(error)) => {
                out.flush().map_err(Stopped::Writing)?;
                return Err(Stopped::Reading(error));
            }
        };
        written.map_err(Stopped::Writing)
    })
}

fn feed<W: Work<Job = Line>>(
    input: &mut impl BufRead,
    max_line: usize,
    jobs: &mut Jobs<W>,
) -> io::Result<()> {
    let mut first = true;
    while let Some(mut line) = read_line(input, max_line)? {
        if let Line::Whole(bytes) = &mut line {
            if std::mem::take(&mut first) && bytes.starts_with(b"\xef\xbb\xbf") {
                bytes.drain(..3);
            }
            if bytes.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
        }
        let (Line::Whole(bytes) | Line::TooLong(bytes)) = &line;
        let weight = bytes.len();
        if !jobs.push(line, weight) {
            break;
        }
    }
    Ok(())
}

/// Reads up to the next line feed. The rest of a line longer than `max_line` bytes is skipped.
fn read_line(input: &mut impl BufRead, max_line: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let limit = u64::try_from(max_line).unwrap_or(u64::MAX).saturating_add(1);
    if input.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Some(Line::Whole(line)));
    }
    if line.len() <= max_line {
        // The last line, without a line end.
        return Ok(Some(Line::Whole(line)));
    }
    input.skip_until(b'\n')?;
    line.truncate(max_line);
    Ok(Some(Line::TooLong(line)))
}

// Reading requests: a first look at the `id`, and all fields.

/// The settings for all requests of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    split: Split,
    limits: Limits,
    max_line: usize,
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
    use crate::ordered::QUEUED;
    use std::{
        io::{Cursor, Read},
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        thread,
    };

    fn text(line: &Line) -> String {
        let (mark, bytes) = match line {
            Line::Whole(bytes) => ("", bytes),
            Line::TooLong(bytes) => ("long:", bytes),
        };
        format!("{mark}{}", String::from_utf8_lossy(bytes))
    }

    fn replies(input: &str, max_line: usize) -> Vec<String> {
        let mut out = Vec::new();
        let answer = |line: &Line| {
            let text = text(line);
            assert_ne!(text, "panic");
            if text.len().is_multiple_of(3) {
                thread::yield_now();
            }
            text.into_bytes()
        };
        let input = Cursor::new(input.to_owned());
        answer_in_order(input, &mut out, 3, max_line, answer, |_| b"caught".to_vec()).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn replies_keep_the_order_of_the_lines() {
        let lines: Vec<String> =
            (0..500).map(|n| "x".repeat(n % 17 + 1) + &n.to_string()).collect();
        assert_eq!(replies(&lines.join("\n"), 1000), lines);
    }

    /// Counts the lines that were read or written.
    struct Counted<T>(T, Arc<AtomicUsize>);

    impl<T: Read> Read for Counted<T> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            // One line at a time, because it is counted when it is read.
            let count = self.0.read(buffer.get_mut(..2).unwrap_or_default())?;
            self.1.fetch_add(count / 2, Ordering::SeqCst);
            Ok(count)
        }
    }

    impl<T: Write> Write for Counted<T> {
        fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
            let count = self.0.write(buffer)?;
            self.1.fetch_add(1, Ordering::SeqCst);
            Ok(count)
        }
        fn flush(&mut self) -> io::Result<()> {
            self.0.flush()
        }
    }

    #[test]
    fn requests_wait_until_others_are_answered() {
        const THREADS: usize = 3;
        let (read, written) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let most = Arc::new(AtomicUsize::new(0));
        let input = Counted(Cursor::new("x\n".repeat(2_000)), Arc::clone(&read));
        let mut out = Counted(Vec::new(), Arc::clone(&written));
        let seen = (Arc::clone(&read), Arc::clone(&written), Arc::clone(&most));
        let answer = move |_: &Line| {
            let (read, written, most) = &seen;
            // What is written between the two makes the difference smaller, never larger.
            let read = read.load(Ordering::SeqCst);
            most.fetch_max(read.saturating_sub(written.load(Ordering::SeqCst)), Ordering::SeqCst);
            Vec::new()
        };
        answer_in_order(
            io::BufReader::with_capacity(2, input),
            &mut out,
            THREADS,
            10,
            answer,
            |_| Vec::new(),
        )
        .unwrap();
        assert_eq!(written.load(Ordering::SeqCst), 2_000);
        let most = most.load(Ordering::SeqCst);
        // The queue, one that is being read, and one that is being written.
        assert!(most <= THREADS * QUEUED + 2, "{most}");
    }

    #[test]
    fn a_panic_costs_one_reply() {
        assert_eq!(replies("a\npanic\nb", 1000), ["a", "caught", "b"]);
    }

    #[test]
    fn blank_lines_and_a_mark_at_the_start_are_skipped() {
        assert_eq!(replies("\u{feff}a\n\n  \r\nb\n", 1000), ["a", "b"]);
    }

    #[test]
    fn a_long_line_is_cut_and_the_next_one_is_whole() {
        assert_eq!(replies("abcd\nabcde\nabc", 4), ["abcd", "long:abcd", "abc"]);
    }

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
