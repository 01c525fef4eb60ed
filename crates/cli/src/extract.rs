//! `wiremend extract`: the tool calls in a text, or all of its segments.

use serde::Serialize;
use wiremend_core::Outcome;
use wiremend_extract::{
    CallEnd, CallExtractor, CallOutcome, CallStart, Dialect, Scope, SegmentEvent, SegmentReader,
    SegmentSink, Tools,
};

use crate::{
    Session,
    args::{ExtractArgs, ExtractEmit, PolicyArg, ScopeArg},
    exit::{Exit, Failure},
    fit,
    input::Input,
    out::{Fragments, Out},
};

/// How long a piece of text becomes at most, in bytes.
const LONGEST_PIECE: usize = 64 << 10;

/// A line of output: a segment, or what is to be said about one.
#[derive(Debug, Default, Serialize)]
struct Line {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    json: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repairs: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    start: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<String>,
    /// False for a call of a tool that is not declared, if any are.
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<bool>,
    /// The number of the call that a restated one repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeats: Option<usize>,
}

pub(crate) fn run(args: &ExtractArgs, session: Session) -> Result<Exit, Failure> {
    let tools = match &args.tools {
        Some(path) => fit::registry(path)?.map_err(Failure::Usage)?.tools(),
        None => Tools::new(),
    };
    let scope = match args.scope {
        None | Some(ScopeArg::All) => Scope::All,
        Some(ScopeArg::Fenced) => Scope::Fenced,
        Some(_) => {
            let message = "documents are segments: --scope is all or fenced";
            return Err(Failure::Usage(message.to_owned()));
        }
    };
    let options = args.engine.options(PolicyArg::Permissive);
    let mut calls =
        CallExtractor::new(options.clone()).with_tools(tools).with_prefill(args.prefill.as_str());
    if let Some(dialect) = dialect(&args.format)? {
        calls = calls.with_dialect(dialect.clone());
    }
    let mut reader = SegmentReader::new(calls).with_payloads(scope, options);
    let mut input = Input::open(&args.file, session.quiet)?;
    let all = args.emit == ExtractEmit::Segments;
    let mut lines = Lines::new(Out::new(), all);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let chunk = input.chunk(&mut buffer)?;
        if chunk.is_empty() {
            break;
        }
        reader.push(chunk, &mut lines);
        lines.out.check()?;
    }
    match args.cut {
        true => reader.finish(&mut lines),
        false => reader.finish_at_eos(&mut lines),
    }
    lines.end_piece();
    lines.out.flush()?;
    Ok(lines.worst.unwrap_or(if lines.found { Exit::Unchanged } else { Exit::NoneFound }))
}

/// The dialect of that name, or of the model of that name. `None` for `auto`.
pub(crate) fn dialect(name: &str) -> Result<Option<&'static Dialect>, Failure> {
    if name == "auto" {
        return Ok(None);
    }
    let dialect = Dialect::by_name(name).or_else(|| Dialect::of_model(name));
    dialect.map(Some).ok_or_else(|| {
        let names: Vec<&str> = Dialect::all().iter().map(Dialect::name).collect();
        let names = names.join(", ");
        Failure::Usage(format!("`{name}` is no dialect or model; the dialects are auto, {names}"))
    })
}

/// Writes a line for each call when it ends, or for each segment.
struct Lines {
    out: Out,
    /// Whether there is a line for each segment.
    all: bool,
    /// The text, reasoning or markup that is being read.
    piece: Option<Line>,
    fragments: Fragments,
    /// Where the source ends that was read.
    at: usize,
    /// The open call, and its arguments.
    call: Option<Line>,
    /// The arguments of the open call, or the open document.
    json: Vec<u8>,
    repairs: usize,
    /// Whether there was a call, or a document if those are asked for.
    found: bool,
    /// Whether there was a call.
    called: bool,
    /// What is wrong with a call or a document, if anything is.
    worst: Option<Exit>,
}

impl Lines {
    fn new(out: Out, all: bool) -> Self {
        Self {
            out,
            all,
            piece: None,
            fragments: Fragments::default(),
            at: 0,
            call: None,
            json: Vec::new(),
            repairs: 0,
            found: false,
            called: false,
            worst: None,
        }
    }

    /// Source of this kind, which is written when another kind follows, or when it is long.
    fn piece(&mut self, kind: &'static str, span: &std::ops::Range<usize>, bytes: &[u8]) {
        if !self.all || span.is_empty() {
            return;
        }
        let fits = |piece: &Line| {
            piece.kind == kind && piece.text.as_ref().is_some_and(|text| text.len() < LONGEST_PIECE)
        };
        if !self.piece.as_ref().is_some_and(fits) {
            self.end_piece();
            let text = Some(String::new());
            self.piece = Some(Line { kind, text, start: span.start, ..Line::default() });
        }
        if let Some(piece) = &mut self.piece {
            piece.text.get_or_insert_default().push_str(&self.fragments.push(bytes));
            piece.end = Some(span.end);
        }
    }

    fn end_piece(&mut self) {
        if let Some(mut piece) = self.piece.take() {
            piece.text.get_or_insert_default().push_str(&self.fragments.finish());
            self.out.record(&piece);
        }
    }

    /// A line that is written at once.
    fn say(&mut self, line: &Line) {
        self.end_piece();
        self.out.record(line);
    }

    fn begin_call(&mut self, call: &CallStart<'_>) {
        self.end_piece();
        (self.found, self.called) = (true, true);
        self.json.clear();
        self.call = Some(Line {
            kind: "call",
            name: Some(call.name.to_owned()),
            id: call.id.map(str::to_owned),
            format: Some(call.dialect.name().to_owned()),
            start: call.offset,
            nearest: call.nearest.map(str::to_owned),
            known: (!call.known).then_some(false),
            ..Line::default()
        });
    }

    fn end_call(&mut self, end: &CallEnd) {
        let Some(mut line) = self.call.take() else { return };
        line.outcome = Some(end.outcome.code());
        line.end = Some(end.span.end);
        line.arguments = Some(String::from_utf8_lossy(&self.json).into_owned());
        self.worst = self.worst.max(match end.outcome {
            CallOutcome::Cut => Some(Exit::Cut),
            outcome if outcome.can_run() => None,
            _ => Some(Exit::Refused),
        });
        self.json.clear();
        self.out.record(&line);
    }

    fn end_payload(&mut self, span: &std::ops::Range<usize>, outcome: Outcome) {
        let json = String::from_utf8_lossy(&std::mem::take(&mut self.json)).into_owned();
        if !self.all {
            return;
        }
        self.found = true;
        self.worst = self.worst.max((!outcome.is_complete()).then(|| Exit::of(outcome)));
        self.out.record(&Line {
            kind: "payload",
            json: Some(json),
            outcome: Some(outcome.code()),
            repairs: Some(self.repairs),
            start: span.start,
            end: Some(span.end),
            ..Line::default()
        });
    }
}

impl SegmentSink for Lines {
    fn event(&mut self, event: SegmentEvent<'_>) {
        if let SegmentEvent::Text(span, _)
        | SegmentEvent::Reasoning(span, _)
        | SegmentEvent::Markup(span, _)
        | SegmentEvent::Raw(span, _) = &event
        {
            self.at = span.end;
        }
        match event {
            SegmentEvent::Text(span, bytes) => self.piece("text", &span, bytes),
            SegmentEvent::Reasoning(span, bytes) => self.piece("reasoning", &span, bytes),
            // The markers of a call are part of it.
            SegmentEvent::Markup(span, bytes) if self.call.is_none() => {
                self.piece("markup", &span, bytes);
            }
            SegmentEvent::Content(text) if self.all => self.say(&Line {
                kind: "content",
                text: Some(String::from_utf8_lossy(text).into_owned()),
                start: self.at,
                ..Line::default()
            }),
            SegmentEvent::TextWasReasoning => {
                // The calls above may not be run.
                self.worst = self.worst.max(self.called.then_some(Exit::Refused));
                if self.all || self.called {
                    self.say(&Line { kind: "text-was-reasoning", ..Line::default() });
                }
            }
            SegmentEvent::PayloadBegan(_) => {
                self.end_piece();
                self.json.clear();
                self.repairs = 0;
            }
            SegmentEvent::PayloadJson(bytes) if self.all => self.json.extend_from_slice(bytes),
            SegmentEvent::PayloadRepaired(_) => self.repairs += 1,
            SegmentEvent::PayloadEnded(span, outcome) => self.end_payload(&span, outcome),
            SegmentEvent::CallBegan(call) => self.begin_call(&call),
            SegmentEvent::Arguments(json) => self.json.extend_from_slice(json),
            SegmentEvent::CallId(id) => {
                if let Some(call) = &mut self.call {
                    call.id = Some(id.to_owned());
                }
            }
            SegmentEvent::CallEnded(end) => self.end_call(&end),
            SegmentEvent::Unknown(tool) => self.say(&Line {
                kind: "unknown",
                name: Some(tool.name.to_owned()),
                format: Some(tool.dialect.name().to_owned()),
                start: tool.offset,
                nearest: tool.nearest.map(str::to_owned),
                ..Line::default()
            }),
            SegmentEvent::Mentioned(call) => self.say(&Line {
                kind: "mentioned",
                name: Some(call.name.to_owned()),
                format: Some(call.dialect.name().to_owned()),
                start: call.offset,
                ..Line::default()
            }),
            SegmentEvent::Restated(call) => self.say(&Line {
                kind: "restated",
                name: Some(call.name.to_owned()),
                format: Some(call.dialect.name().to_owned()),
                start: call.offset,
                repeats: Some(call.index),
                ..Line::default()
            }),
            _ => {}
        }
    }
}
