//! A call that the model wrote into its text, in the form of a prompt, instead of making it.

use wiremend_core::{Options, Risk, mend};
use wiremend_extract::{
    CallEnd, CallExtractor, CallOutcome, CallSink, CallStart, FoundCall, FoundCalls,
};
use wiremend_schema::{Registry, Schema};

use crate::Answer;

/// The calls, and where each of them is in the rest of the text: how much there is before its beginning, and before its
/// end.
#[derive(Default)]
struct Calls {
    found: FoundCalls,
    places: Vec<(usize, usize)>,
}

impl CallSink for Calls {
    fn text(&mut self, bytes: &[u8]) {
        CallSink::text(&mut self.found, bytes);
    }

    fn content(&mut self, text: &[u8]) {
        self.found.content(text);
    }

    fn text_was_reasoning(&mut self) {
        self.found.text_was_reasoning();
    }

    fn begin(&mut self, call: &CallStart<'_>) {
        let at = self.found.text().len();
        self.places.push((at, at));
        self.found.begin(call);
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.found.raw(bytes);
    }

    fn arguments(&mut self, json: &[u8]) {
        self.found.arguments(json);
    }

    fn id(&mut self, id: &str) {
        self.found.id(id);
    }

    fn end(&mut self, end: &CallEnd) {
        if let Some((_, place)) = self.places.last_mut() {
            *place = self.found.text().len();
        }
        self.found.end(end);
    }
}

/// The first complete call of the tool in a text, as an answer, and the risk of how its arguments became JSON.
///
/// What is said about a call is no call, and neither is a call in a string of a value, which may be anybody's words: the
/// call has to have its lines for itself, and nothing before it may be JSON.
pub(crate) fn call_in(
    answer: &Answer,
    tool: &str,
    schema: &Schema,
    engine: &Options,
) -> Option<(Answer, Option<Risk>)> {
    let tools = Registry::new().with_tool(tool, schema.clone()).tools();
    let mut reader = CallExtractor::new(engine.clone()).with_tools(tools);
    let mut calls = Calls::default();
    reader.push(answer.content().as_bytes(), &mut calls);
    // Where the model did not end the text, a call that nothing ends may lack a part.
    match answer.finish.is_clean() {
        true => reader.finish_at_eos(&mut calls),
        false => reader.finish(&mut calls),
    }
    let is_whole = |call: &FoundCall| {
        call.name() == tool && call.outcome().can_run() && call.known() && !call.in_reasoning()
    };
    let found = calls.found.calls().iter().zip(&calls.places);
    let (call, (begin, end)) = found.into_iter().find(|(call, _)| is_whole(call))?;
    let (before, _) = calls.found.text().split_at_checked(*begin)?;
    let (_, after) = calls.found.text().split_at_checked(*end)?;
    let own_line = |line: Option<&[u8]>| line.is_none_or(|line| line.trim_ascii().is_empty());
    let is_line_end = |byte: &u8| *byte == b'\n';
    if before.iter().any(|byte| matches!(byte, b'{' | b'"'))
        || !own_line(before.rsplit(is_line_end).next())
        || !own_line(after.split(is_line_end).next())
    {
        return None;
    }
    let json = core::str::from_utf8(call.arguments()).ok()?;
    let mended = mend(call.raw(), engine);
    let (text, risk) = match core::str::from_utf8(call.raw()) {
        // The fit repairs what the model wrote, and accounts for it.
        Ok(raw) if mended.outcome().is_complete() && mended.text() == Some(json) => (raw, None),
        _ if call.outcome() == CallOutcome::Whole => (json, None),
        _ => (json, Some(Risk::Likely)),
    };
    let mut own = Answer::arguments(text);
    own.ended = Some(answer.ended.unwrap_or(true));
    Some((own, risk))
}
