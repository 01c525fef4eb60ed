//! The operation `calls`: the tool calls in a text.

use serde::Serialize;
use wiremend_core::Policy;
use wiremend_extract::{
    CallEnd, CallExtractor, CallOutcome, CallSink, CallStart, Dialect, FoundCall, FoundCalls,
    RestatedCall, UnknownTool,
};

use super::{
    Setting,
    request::{Input, Request},
};

/// The reply of the operation `calls`.
#[derive(Debug, Serialize)]
pub(crate) struct Extracted {
    /// The dialect of the first call.
    format: Option<String>,
    content: String,
    reasoning: String,
    calls: Vec<CallRecord>,
    /// Calls that may not be run.
    incomplete: Vec<CallRecord>,
    unknown: Vec<UnknownRecord>,
    restated: Vec<RestatedRecord>,
}

/// A call in a text.
#[derive(Debug, Serialize)]
struct CallRecord {
    name: String,
    id: Option<String>,
    arguments: String,
    outcome: &'static str,
    format: String,
    /// How the end of the call was found.
    matched: &'static str,
    repairs: usize,
    start: usize,
    end: usize,
    /// The known tool with the most similar name, if the name is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<String>,
    /// False for a call of a tool that is not declared, if any are.
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<bool>,
}

/// A call of a tool that does not exist.
#[derive(Debug, Serialize)]
struct UnknownRecord {
    name: String,
    nearest: Option<String>,
    format: String,
    start: usize,
}

/// A call that is stated again.
#[derive(Debug, Serialize)]
struct RestatedRecord {
    name: String,
    format: String,
    start: usize,
    /// Where the call begins that it repeats.
    repeats: usize,
}

/// Reads the tool calls in a text.
pub(crate) fn calls(
    request: &Request<'_>,
    input: &Input<'_>,
    setting: Setting,
) -> Result<Extracted, String> {
    let options = request.options(Policy::PERMISSIVE, setting.limits);
    let tools = request.call_tools()?;
    let mut content = Content { has_tools: !tools.is_empty(), ..Content::default() };
    let mut reader = CallExtractor::new(options).with_tools(tools).with_prefill(request.prefill());
    if let Some(dialect) = request.dialect()? {
        reader = reader.with_dialect(dialect.clone());
    }
    for piece in input.pieces() {
        reader.push(piece, &mut content);
    }
    match request.eos() {
        true => reader.finish_at_eos(&mut content),
        false => reader.finish(&mut content),
    }
    Ok(content.finish(input.whole()))
}

/// Collects what is found, with the places of text.
#[derive(Debug, Default)]
struct Content {
    found: FoundCalls,
    /// How much of the input was emitted.
    at: usize,
    /// Where each stretch of text is, and the text.
    texts: Vec<(usize, Vec<u8>)>,
    nearest: Vec<Option<String>>,
    unknown: Vec<UnknownRecord>,
    restated: Vec<RestatedRecord>,
    /// Where each call begins.
    starts: Vec<usize>,
    blocks: Vec<Block>,
    /// The length of the last marker.
    tag: usize,
    /// How many calls were made in what turned out to be reasoning, and where it ends.
    drafts: Option<(usize, usize)>,
    has_tools: bool,
}

/// Calls without text between them, with the markers around them.
#[derive(Debug)]
struct Block {
    start: usize,
    end: usize,
    /// Where the last call ended. What follows may belong to what comes next.
    called: usize,
    calls: usize,
}

impl Content {
    /// So many bytes of markers or arguments.
    fn source(&mut self, length: usize) {
        if let Some(block) = self.blocks.last_mut().filter(|block| block.end == self.at) {
            block.end += length;
        }
        self.at += length;
    }
}

impl CallSink for Content {
    fn text(&mut self, bytes: &[u8]) {
        match self.texts.last_mut() {
            Some((start, text)) if *start + text.len() == self.at => text.extend_from_slice(bytes),
            _ => self.texts.push((self.at, bytes.to_vec())),
        }
        self.at += bytes.len();
    }
    fn content(&mut self, text: &[u8]) {
        self.texts.push((self.at, text.to_vec()));
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        if let Some(block) = self.blocks.last_mut().filter(|block| block.end == self.at) {
            block.end = block.called;
        }
        self.at += bytes.len();
        CallSink::reasoning(&mut self.found, bytes);
    }
    fn text_was_reasoning(&mut self) {
        let texts = std::mem::take(&mut self.texts);
        if self.blocks.is_empty() {
            let texts = texts.iter().map(|(_, text)| text);
            texts.for_each(|text| CallSink::reasoning(&mut self.found, text));
        } else {
            // Calls in it are none, and what was taken for one is part of it, up to the tag.
            self.drafts = Some((self.found.calls().len(), self.at - self.tag));
            self.blocks.clear();
            self.unknown.clear();
            self.restated.clear();
        }
    }
    fn markup(&mut self, bytes: &[u8]) {
        self.tag = bytes.len();
        self.source(bytes.len());
    }
    fn begin(&mut self, call: &CallStart<'_>) {
        match self.blocks.last_mut().filter(|block| block.end == self.at) {
            Some(block) => block.calls += 1,
            None => {
                let at = self.at;
                self.blocks.push(Block { start: at, end: at, called: at, calls: 1 });
            }
        }
        self.starts.push(call.offset);
        self.nearest.push(call.nearest.map(str::to_owned));
        self.found.begin(call);
    }
    fn raw(&mut self, bytes: &[u8]) {
        self.source(bytes.len());
    }
    fn arguments(&mut self, json: &[u8]) {
        self.found.arguments(json);
    }
    fn end(&mut self, call: &CallEnd) {
        if let Some(block) = self.blocks.last_mut() {
            block.called = call.span.end;
        }
        self.found.end(call);
    }
    fn restated(&mut self, call: &RestatedCall<'_>) {
        self.restated.push(RestatedRecord {
            name: call.name.to_owned(),
            format: call.dialect.name().to_owned(),
            start: call.offset,
            repeats: self.starts.get(call.index).copied().unwrap_or_default(),
        });
    }
    fn unknown(&mut self, tool: &UnknownTool<'_>) {
        self.unknown.push(UnknownRecord {
            name: tool.name.to_owned(),
            nearest: tool.nearest.map(str::to_owned),
            format: tool.dialect.name().to_owned(),
            start: tool.offset,
        });
    }
}

impl Content {
    fn finish(self, input: &[u8]) -> Extracted {
        let mut texts = self.texts;
        let (mut calls, mut incomplete) = (Vec::new(), Vec::new());
        let (drafts, thought) = self.drafts.unwrap_or_default();
        let mut found = self.found.calls().iter().zip(self.nearest).skip(drafts);
        for block in self.blocks {
            let (before, lost) = (calls.len(), incomplete.len());
            let mut put_back = Vec::new();
            for (call, nearest) in found.by_ref().take(block.calls) {
                let record = CallRecord::new(call, nearest);
                if call.outcome().can_run() {
                    calls.push(record);
                    continue;
                }
                // What came of such a call is reported, and its text is still there to be read,
                // unless it was a message to something that is none of the tools.
                let message = call.outcome() == CallOutcome::Refused
                    && !(call.known() && self.has_tools)
                    && Dialect::by_name(call.dialect()).is_some_and(Dialect::has_messages);
                if !message {
                    put_back.push(record.start..record.end);
                }
                incomplete.push(record);
            }
            if calls.len() == before && put_back.len() == incomplete.len() - lost {
                // The markers around calls of which none can be run are text, too.
                put_back.clear();
                put_back.push(block.start..block.end);
            }
            for span in put_back {
                texts.push((span.start, input.get(span).unwrap_or_default().to_vec()));
            }
        }
        texts.sort_by_key(|(start, _)| *start);
        let content: Vec<u8> = texts.into_iter().flat_map(|(_, text)| text).collect();
        let said = self.found.reasoning();
        let reasoning = match self.drafts {
            Some(_) => [input.get(..thought).unwrap_or_default(), said].concat(),
            None => said.to_vec(),
        };
        Extracted {
            format: self.found.calls().get(drafts).map(|call| call.dialect().to_owned()),
            content: String::from_utf8_lossy(&content).into_owned(),
            reasoning: String::from_utf8_lossy(&reasoning).into_owned(),
            calls,
            incomplete,
            unknown: self.unknown,
            restated: self.restated,
        }
    }
}

impl CallRecord {
    fn new(call: &FoundCall, nearest: Option<String>) -> Self {
        let end = call.end();
        Self {
            name: call.name().to_owned(),
            id: call.id().map(str::to_owned),
            arguments: String::from_utf8_lossy(call.arguments()).into_owned(),
            outcome: call.outcome().code(),
            format: call.dialect().to_owned(),
            matched: match end {
                Some(end) if end.at_end => "end-of-input",
                Some(end) if end.unclosed => "marker-missing",
                _ => "closed",
            },
            repairs: end.map_or(0, |end| end.repairs),
            start: end.map_or(0, |end| end.span.start),
            end: end.map_or(0, |end| end.span.end),
            nearest,
            known: (!call.known()).then_some(false),
        }
    }
}
