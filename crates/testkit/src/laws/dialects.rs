//! The laws of the reader of calls in text: L1, L2, L6, L8 and L10.

use std::sync::LazyLock;

use jsonmend_core::Options;
use jsonmend_extract::{
    CallEnd, CallExtractor, CallSink, CallStart, Dialect, FoundCalls, Tools, UnknownTool,
};

use super::{Check, Law, Violation};
use crate::{
    Seed,
    cuts::{self, Cut},
};

/// Everything that the reader emits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Trace {
    /// The source, in the order in which it was emitted.
    source: Vec<u8>,
    found: FoundCalls,
    /// Calls that are open.
    open: usize,
}

impl CallSink for Trace {
    fn text(&mut self, bytes: &[u8]) {
        self.source.extend_from_slice(bytes);
        CallSink::text(&mut self.found, bytes);
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
        self.found.begin(call);
    }
    fn raw(&mut self, bytes: &[u8]) {
        self.source.extend_from_slice(bytes);
        self.found.raw(bytes);
    }
    fn arguments(&mut self, json: &[u8]) {
        self.found.arguments(json);
    }
    fn end(&mut self, call: &CallEnd) {
        self.open = self.open.wrapping_sub(1);
        self.found.end(call);
    }
    fn unknown(&mut self, tool: &UnknownTool<'_>) {
        CallSink::unknown(&mut self.found, tool);
    }
}

fn read<'p>(reader: &CallExtractor, pieces: impl IntoIterator<Item = &'p [u8]>) -> Trace {
    let (mut reader, mut trace) = (reader.clone(), Trace::default());
    for piece in pieces {
        reader.push(piece, &mut trace);
    }
    reader.finish_at_eos(&mut trace);
    trace
}

/// A reader for a dialect, or for all, that knows the tools `book` and `write_file`.
#[must_use]
pub fn call_reader(dialect: Option<&Dialect>, options: &Options) -> CallExtractor {
    // All rows are made ready once.
    static ALL: LazyLock<CallExtractor> = LazyLock::new(|| ready(None));
    dialect
        .map_or_else(|| ALL.clone(), |dialect| ready(Some(dialect)))
        .with_options(options.clone())
}

fn ready(dialect: Option<&Dialect>) -> CallExtractor {
    let tools = Tools::new().with_tool("book", ["seats", "name"], None).with_tool(
        "write_file",
        ["path", "content"],
        None,
    );
    let reader = CallExtractor::new(Options::new()).with_tools(tools);
    let mut reader = match dialect {
        Some(dialect) => reader.with_dialect(dialect.clone()),
        None => reader,
    };
    reader.push(b"", &mut FoundCalls::default());
    reader
}

/// Checks a reader of calls on `input`: the source that it emits is the input, no cut makes a
/// difference, every call that begins also ends, and the arguments of one that can be run are JSON.
///
/// # Errors
/// The first law that `input` breaks.
pub fn text_calls(input: &[u8], reader: &CallExtractor) -> Result<(), Violation> {
    let whole = read(reader, [input]);
    Check::new(Law::NothingLost, input).same_text("the source", &whole.source, input)?;
    Check::new(Law::HonestEnds, input).same("open calls", &whole.open, &0)?;
    for call in whole.found.calls().iter().filter(|call| call.outcome().can_run()) {
        let json = String::from_utf8_lossy(call.arguments());
        Check::new(Law::AlwaysValid, input)
            .that(crate::oracle::is_json(call.arguments()), || format!("arguments {json}"))?;
    }
    let cuts = if input.len() <= 120 {
        cuts::thorough(input.len())
    } else {
        cuts::few(input.len(), &mut Seed::of(input))
    };
    let check = Check::new(Law::SplitInvariance, input);
    for cut in cuts.iter().chain([&Cut::bytes(input.len())]) {
        let trace = read(reader, cut.chunks(input));
        let at = || format!("cut at {:?}", cut.offsets().get(..40).unwrap_or(cut.offsets()));
        check.that(trace == whole, || format!("{}: {trace:?} instead of {whole:?}", at()))?;
    }
    Ok(())
}
