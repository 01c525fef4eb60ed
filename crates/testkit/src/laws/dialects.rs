//! The laws of the reader of calls in text: L1, L2, L6, L8 and L10.

use std::sync::LazyLock;

use wiremend_core::MendOptions;
use wiremend_extract::{
    CallEnd, CallExtractor, CallSink, CallStart, Dialect, FoundCalls, RestatedCall, Tools,
    UnknownTool,
};

use super::{Check, Law, Violation};
use crate::{
    Seed,
    cuts::{self, Cut},
};

/// Everything that a reader of calls emits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallTrace {
    /// The source, in the order in which it was emitted.
    pub source: Vec<u8>,
    /// The text, the reasoning and the calls.
    pub found: FoundCalls,
    /// How many calls are open.
    open: usize,
    /// The arguments of the open call, as they were emitted.
    json: Vec<u8>,
    /// The arguments of calls that can be run and are no JSON.
    pub broken: Vec<Vec<u8>>,
}

impl CallSink for CallTrace {
    fn text(&mut self, bytes: &[u8]) {
        self.source.extend_from_slice(bytes);
        CallSink::text(&mut self.found, bytes);
    }
    fn content(&mut self, text: &[u8]) {
        self.found.content(text);
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        self.source.extend_from_slice(bytes);
        CallSink::reasoning(&mut self.found, bytes);
    }
    fn text_was_reasoning(&mut self) {
        self.found.text_was_reasoning();
    }
    fn markup(&mut self, bytes: &[u8]) {
        self.source.extend_from_slice(bytes);
    }
    fn begin(&mut self, call: &CallStart<'_>) {
        self.open += 1;
        self.json.clear();
        self.found.begin(call);
    }
    fn raw(&mut self, bytes: &[u8]) {
        self.source.extend_from_slice(bytes);
        self.found.raw(bytes);
    }
    fn arguments(&mut self, json: &[u8]) {
        self.json.extend_from_slice(json);
        self.found.arguments(json);
    }
    fn id(&mut self, id: &str) {
        self.found.id(id);
    }
    fn end(&mut self, call: &CallEnd) {
        self.open = self.open.wrapping_sub(1);
        if call.outcome.can_run() && !crate::oracle::is_json(&self.json) {
            self.broken.push(self.json.clone());
        }
        self.found.end(call);
    }
    fn restated(&mut self, call: &RestatedCall<'_>) {
        CallSink::restated(&mut self.found, call);
    }
    fn unknown(&mut self, tool: &UnknownTool<'_>) {
        CallSink::unknown(&mut self.found, tool);
    }
}

/// How many prefixes of an input are read.
const LONGEST_PREFIX: usize = 160;

/// Reads a text in pieces, up to its own end.
#[must_use]
pub fn read_calls<'p>(
    reader: &CallExtractor,
    pieces: impl IntoIterator<Item = &'p [u8]>,
) -> CallTrace {
    let (mut reader, mut trace) = (reader.clone(), CallTrace::default());
    for piece in pieces {
        reader.push(piece, &mut trace);
    }
    reader.finish_at_eos(&mut trace);
    trace
}

/// A reader for a dialect, or for all, that knows the tools `book` and `write_file`.
#[must_use]
pub fn call_reader(dialect: Option<&Dialect>, options: &MendOptions) -> CallExtractor {
    // All rows are made ready once.
    static ALL: LazyLock<CallExtractor> = LazyLock::new(|| ready(None));
    dialect
        .map_or_else(|| ALL.clone(), |dialect| ready(Some(dialect)))
        .with_mending(options.clone())
}

fn ready(dialect: Option<&Dialect>) -> CallExtractor {
    let tools = Tools::new().with_tool("book", ["seats", "name"], None).with_tool(
        "write_file",
        ["path", "content"],
        None,
    );
    let reader = CallExtractor::new(MendOptions::new()).with_tools(tools);
    let mut reader = match dialect {
        Some(dialect) => reader.with_dialect(dialect.clone()),
        None => reader,
    };
    reader.push(b"", &mut FoundCalls::default());
    reader
}

/// Checks at every byte that what was emitted, and what a reset returns, is what was received.
fn decided(input: &[u8], reader: &CallExtractor) -> Result<(), Violation> {
    let check = Check::new(Law::NothingLost, input);
    let (mut reader, mut trace) = (reader.clone(), CallTrace::default());
    for (at, byte) in input.iter().take(LONGEST_PREFIX).enumerate() {
        reader.push(std::slice::from_ref(byte), &mut trace);
        let withheld = reader.withheld();
        let rest = reader.clone().reset();
        check.same("what is withheld", &withheld, &rest.len())?;
        let given = [&trace.source[..], &rest].concat();
        check.same_text("what was emitted and not decided", &given, &input[..=at])?;
    }
    Ok(())
}

/// Checks a reader of calls on `input`: the source that it emits is the input, a reset gives back
/// what was not emitted, no cut makes a difference, every call that begins also ends, and the arguments of one that can be run are JSON.
///
/// # Errors
/// The first law that `input` breaks.
pub fn text_calls(input: &[u8], reader: &CallExtractor) -> Result<(), Violation> {
    let whole = read_calls(reader, [input]);
    Check::new(Law::NothingLost, input).same_text("the source", &whole.source, input)?;
    Check::new(Law::HonestEnds, input).same("open calls", &whole.open, &0)?;
    let broken: Vec<_> = whole.broken.iter().map(|json| String::from_utf8_lossy(json)).collect();
    Check::new(Law::AlwaysValid, input)
        .that(broken.is_empty(), || format!("the arguments {broken:?}"))?;
    decided(input, reader)?;
    let cuts = if input.len() <= 120 {
        cuts::thorough(input.len())
    } else {
        cuts::few(input.len(), &mut Seed::of(input))
    };
    let check = Check::new(Law::SplitInvariance, input);
    for cut in cuts.iter().chain([&Cut::bytes(input.len())]) {
        let trace = read_calls(reader, cut.chunks(input));
        let at = || format!("cut at {:?}", cut.offsets().get(..40).unwrap_or(cut.offsets()));
        check.that(trace == whole, || format!("{}: {trace:?} instead of {whole:?}", at()))?;
    }
    Ok(())
}
