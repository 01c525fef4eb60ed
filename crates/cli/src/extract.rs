//! `jsonmend extract`: the tool calls in a text.

use jsonmend_extract::{
    CallEnd, CallExtractor, CallOutcome, CallSink, CallStart, Dialect, Tools, UnknownTool,
};
use serde::Serialize;

use crate::{
    Session,
    args::{ExtractArgs, PolicyArg},
    exit::{Exit, Failure},
    fit,
    input::Input,
    out::Out,
};

/// A line of output: a call.
#[derive(Debug, Serialize)]
struct Line {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    format: String,
    start: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<String>,
}

pub(crate) fn run(args: &ExtractArgs, session: Session) -> Result<Exit, Failure> {
    let tools = match &args.tools {
        Some(path) => fit::registry(path)?.map_err(Failure::Usage)?.tools(),
        None => Tools::new(),
    };
    let mut reader =
        CallExtractor::new(args.engine.options(PolicyArg::Permissive)).with_tools(tools);
    if let Some(dialect) = dialect(&args.format)? {
        reader = reader.with_dialect(dialect.clone());
    }
    let mut input = Input::open(&args.file, session.quiet)?;
    let mut lines = Lines { out: Out::new(), open: None, json: Vec::new(), calls: 0, worst: None };
    let mut buffer = vec![0; 64 << 10];
    loop {
        let chunk = input.chunk(&mut buffer)?;
        if chunk.is_empty() {
            break;
        }
        reader.push(chunk, &mut lines);
        lines.out.check()?;
    }
    reader.finish_at_eos(&mut lines);
    lines.out.flush()?;
    Ok(lines.worst.unwrap_or(if lines.calls > 0 { Exit::Unchanged } else { Exit::NoneFound }))
}

/// The dialect of that name, or of the model of that name. `None` for `auto`.
pub(crate) fn dialect(name: &str) -> Result<Option<&'static Dialect>, Failure> {
    if name == "auto" {
        return Ok(None);
    }
    let dialect = Dialect::by_name(name).or_else(|| Dialect::of_model(name));
    dialect.map(Some).ok_or_else(|| Failure::Usage(format!("`{name}` is no dialect or model")))
}

/// Writes a line for each call when it ends.
struct Lines {
    out: Out,
    open: Option<Line>,
    /// The arguments of the open call.
    json: Vec<u8>,
    calls: usize,
    /// What is wrong with a call, if anything is.
    worst: Option<Exit>,
}

impl CallSink for Lines {
    fn begin(&mut self, call: &CallStart<'_>) {
        self.calls += 1;
        self.open = Some(Line {
            kind: "call",
            name: call.name.to_owned(),
            id: call.id.map(str::to_owned),
            arguments: None,
            outcome: None,
            format: call.dialect.name().to_owned(),
            start: call.offset,
            end: None,
            nearest: call.nearest.map(str::to_owned),
        });
    }
    fn arguments(&mut self, json: &[u8]) {
        self.json.extend_from_slice(json);
    }
    fn end(&mut self, end: &CallEnd) {
        if let Some(mut line) = self.open.take() {
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
    }
    fn unknown(&mut self, tool: &UnknownTool<'_>) {
        self.out.record(&Line {
            kind: "unknown",
            name: tool.name.to_owned(),
            id: None,
            arguments: None,
            outcome: None,
            format: tool.dialect.name().to_owned(),
            start: tool.offset,
            end: None,
            nearest: tool.nearest.map(str::to_owned),
        });
    }
}
