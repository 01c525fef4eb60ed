//! The body of a response, while it arrives, and its events as JSON.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use wiremend::{
    MendOptions,
    response::{Event, Object, ResponseOptions, ResponseReader, TextCalls},
    wire::{ApiFormat, Block, Call, CallKind, Doubt, WireOptions},
};

use crate::{
    answer::Answer,
    host::{CLOSE, FEED, Host},
    options::{Options, scope},
    texts::{dialect_of, of_mended, of_pieces, of_text},
};
#[cfg(feature = "schema")]
use crate::{fits::of_fitted, texts::Issue};

/// Reads the body of a response.
pub(crate) struct Reader {
    reader: ResponseReader,
    tails: Tails,
}

impl Reader {
    pub(crate) fn new(host: &Host, options: &Options) -> Result<Self, String> {
        let mending = options.mending("conservative", "first")?;
        let mut wire = WireOptions::new().with_mending(mending);
        if let Some(content_type) = &options.content_type {
            wire = wire.with_content_type(content_type);
        }
        if let Some(code) = &options.format {
            let format = ApiFormat::from_code(code).ok_or_else(|| {
                let known: Vec<_> = ApiFormat::ALL.iter().map(|format| format.code()).collect();
                format!("no format {code:?}; formats: {}", known.join(", "))
            })?;
            wire = wire.with_format(format);
        }
        let policy = options.text_policy.as_deref().unwrap_or("permissive");
        let text: MendOptions = options.mending_with(policy, "first")?;
        let mut made = ResponseOptions::new().with_wire(wire).with_mending(text.clone());
        made = with_schemas(made, host, options, text);
        if let Some(objects) = &options.objects {
            made = made.with_objects(scope(objects)?);
        }
        if let Some(name) = &options.dialect {
            made = made.with_calls_in_text(TextCalls::of_dialect(dialect_of(name)?.clone()));
        } else if options.calls_in_text {
            made = made.with_calls_in_text(TextCalls::detected());
        }
        Ok(Self { reader: ResponseReader::new(made), tails: Tails::default() })
    }

    pub(crate) fn run(
        &mut self,
        operation: u32,
        text: &[u8],
        to: &mut Answer,
    ) -> Result<(), String> {
        let Self { reader, tails } = self;
        let mut events = Vec::new();
        let mut take = |event: Event| events.extend(json_of(event, tails));
        match operation {
            FEED => reader.push(text, &mut take),
            CLOSE => reader.finish(&mut take),
            _ => return Err("a reader cannot do that".to_owned()),
        }
        to.json(&events)
    }
}

#[cfg(not(feature = "schema"))]
fn with_schemas(made: ResponseOptions, _: &Host, _: &Options, _: MendOptions) -> ResponseOptions {
    made
}

#[cfg(feature = "schema")]
fn with_schemas(
    mut made: ResponseOptions,
    host: &Host,
    options: &Options,
    mending: MendOptions,
) -> ResponseOptions {
    if let Some(tools) = host.tools(options.tools) {
        made = made.with_tools(tools);
    }
    if let Some(schema) = host.schema(options.schema) {
        let options = wiremend::schema::FitOptions::new().with_mending(mending);
        made = made.with_schema(schema, options);
    }
    made
}

/// What pieces of calls and objects have of a character that is not whole yet.
#[derive(Default)]
struct Tails(HashMap<(bool, usize), Vec<u8>>);

impl Tails {
    /// The text of a piece, up to its last whole character.
    fn whole(&mut self, is_call: bool, number: usize, mut piece: Vec<u8>) -> String {
        if let Some(mut tail) = self.0.remove(&(is_call, number)) {
            tail.append(&mut piece);
            piece = tail;
        }
        if let Err(error) = std::str::from_utf8(&piece)
            && error.error_len().is_none()
        {
            self.0.insert((is_call, number), piece.split_off(error.valid_up_to()));
        }
        String::from_utf8_lossy(&piece).into_owned()
    }

    fn end(&mut self, is_call: bool, number: usize) {
        self.0.remove(&(is_call, number));
    }
}

/// An object with a type, and the place of a block.
fn placed(kind: &str, block: Block, name: &str, text: &str) -> Value {
    let (choice, at, part) = (block.choice(), block.block(), block.part());
    json!({ "type": kind, name: text, "choice": choice, "block": at, "part": part })
}

/// Adds what is said of a value to an object.
fn with(mut object: Value, said: &impl serde::Serialize, text: Option<&str>) -> Value {
    if let (Some(object), Ok(Value::Object(mut said))) =
        (object.as_object_mut(), serde_json::to_value(said))
    {
        object.append(&mut said);
        object.insert("text".to_owned(), text.map_or(Value::Null, Value::from));
    }
    object
}

fn of_call(call: &Call) -> Map<String, Value> {
    let runs = call.outcome().is_complete();
    let repairs = of_text(call.raw().as_bytes(), true, call.repairs());
    let call = json!({
        "number": call.number(), "choice": call.choice(), "kind": call.kind().code(), "id": call.id(), "name": call.name(),
        "outcome": call.outcome().code(), "raw": call.raw(), "doubt": call.doubt().map(Doubt::code), "complete": runs,
        "cutAt": call.cut_at().map(ToString::to_string), "dialect": call.dialect(), "repairs": repairs,
        "text": runs.then(|| call.arguments()), "words": call.kind() == CallKind::Custom,
    });
    match call {
        Value::Object(call) => call,
        _ => Map::new(),
    }
}

#[cfg(feature = "schema")]
fn of_fitted_call(fitted: &wiremend::response::FittedCall) -> Value {
    let call = of_call(fitted.call());
    let raw = fitted.call().raw().as_bytes();
    match fitted.check() {
        wiremend::response::CallCheck::Fitted { tool, fitted, .. } => {
            let said = with(json!({}), &of_fitted(fitted, Some((raw, true))), fitted.text());
            json!({ "call": call, "check": "fitted", "tool": tool, "fitted": said })
        }
        wiremend::response::CallCheck::Incomplete => json!({ "call": call, "check": "incomplete" }),
        wiremend::response::CallCheck::Unknown { nearest, .. } => {
            json!({ "call": call, "check": "unknown", "nearest": nearest })
        }
        _ => json!({ "call": call, "check": "unchecked" }),
    }
}

fn of_object(object: &Object) -> Value {
    let mended = object.json().unwrap_or_default().as_bytes();
    let (outcome, repairs) = (object.outcome(), object.repairs());
    let has_text = object.json().is_some();
    let said = of_pieces(outcome, mended, object.offset(), repairs, object.cut_at(), has_text);
    let (number, doubt) = (object.number(), object.doubt().map(Doubt::code));
    with(json!({ "number": number, "doubt": doubt }), &said, object.json())
}

/// The JSON of an event. `None` for an event that shows nothing.
fn json_of(event: Event, tails: &mut Tails) -> Option<Value> {
    Some(match event {
        Event::Text { block, text, .. } => placed("text", block, "text", &text),
        Event::Reasoning { block, text, .. } => placed("reasoning", block, "text", &text),
        Event::Refusal { block, text, .. } => placed("refusal", block, "text", &text),
        Event::TextWasReasoning { block, .. } => placed("text-was-reasoning", block, "text", ""),
        Event::Citation { block, json, .. } => placed("citation", block, "json", &json),
        Event::CallBegan { call, choice, kind, id, name, .. } => {
            let kind = kind.code();
            json!({ "type": "call-began", "number": call, "name": name, "id": id, "choice": choice, "kind": kind })
        }
        Event::CallNamed { call, name, .. } => {
            json!({ "type": "call-named", "number": call, "name": name })
        }
        Event::CallFragment { call, json, .. } => {
            json!({ "type": "call-fragment", "number": call, "json": tails.whole(true, call, json) })
        }
        Event::CallRaw { call, text, .. } => {
            json!({ "type": "call-raw", "number": call, "text": tails.whole(true, call, text) })
        }
        Event::CallEnded(call) => {
            tails.end(true, call.number());
            json!({ "type": "call-ended", "call": of_call(&call) })
        }
        #[cfg(feature = "schema")]
        Event::CallFitted(fitted) => {
            json!({ "type": "call-fitted", "call": of_fitted_call(&fitted) })
        }
        #[cfg(feature = "schema")]
        Event::CallIssue { call, issue, .. } => {
            let (standing, issue) = (issue.standing().code(), Issue::of(issue.issue()));
            json!({ "type": "call-issue", "number": call, "issue": issue, "standing": standing })
        }
        Event::CallRestated { call, name, .. } => {
            json!({ "type": "call-restated", "number": call, "name": name })
        }
        Event::UnknownTool { name, nearest, .. } => {
            json!({ "type": "unknown-tool", "name": name, "nearest": nearest })
        }
        Event::ObjectBegan { object, block, .. } => {
            let (choice, at, part) = (block.choice(), block.block(), block.part());
            json!({ "type": "object-began", "number": object, "choice": choice, "block": at, "part": part })
        }
        Event::ObjectFragment { object, json, .. } => {
            json!({ "type": "object-fragment", "number": object, "json": tails.whole(false, object, json) })
        }
        Event::ObjectRaw { object, text, .. } => {
            json!({ "type": "object-raw", "number": object, "text": tails.whole(false, object, text) })
        }
        Event::ObjectEnded(object) => {
            tails.end(false, object.number());
            json!({ "type": "object-ended", "object": of_object(&object) })
        }
        #[cfg(feature = "schema")]
        Event::ObjectFitted(object) => {
            let of = |fitted: &wiremend::schema::Fitted| {
                with(json!({}), &of_fitted(fitted, None), fitted.text())
            };
            let (number, complete) = (object.object(), object.outcome().is_complete());
            json!({ "type": "object-fitted", "fitted": object.fitted().map(of), "number": number, "isComplete": complete })
        }
        #[cfg(feature = "schema")]
        Event::ObjectIssue { object, issue, .. } => {
            let (standing, issue) = (issue.standing().code(), Issue::of(issue.issue()));
            json!({ "type": "object-issue", "number": object, "issue": issue, "standing": standing })
        }
        Event::Doubted(doubt) => json!({ "type": "doubted", "doubt": doubt.code() }),
        Event::EnvelopeMended(mended) => {
            let text = mended.text().unwrap_or_default().as_bytes();
            let repairs = of_mended(text, 0, mended.repairs());
            let outcome = mended.outcome().code();
            json!({ "type": "envelope-mended", "outcome": outcome, "repairs": repairs })
        }
        Event::Error(error) => json!({
            "type": "error", "kind": error.kind().code(), "message": error.message(), "code": error.code(),
            "errorType": error.error_type(),
        }),
        Event::Finish(finish) => json!({
            "type": "finish", "reason": finish.reason().code(), "choice": finish.choice(), "original": finish.original(),
        }),
        Event::Usage(usage) => json!({
            "type": "usage", "input": usage.input(), "output": usage.output(), "cached": usage.cached(),
            "reasoning": usage.reasoning(),
        }),
        Event::FormatDetected(format) => {
            json!({ "type": "format-detected", "format": format.code() })
        }
        Event::FramingDetected(framing) => {
            json!({ "type": "framing-detected", "framing": framing.code() })
        }
        Event::KeepAlive => json!({ "type": "keep-alive" }),
        Event::Oversize { limit, .. } => json!({ "type": "oversize", "limit": limit }),
        Event::Unfinished(text) => json!({ "type": "unfinished", "text": text }),
        Event::Ended(outcome) => {
            let complete = outcome == wiremend::wire::StreamOutcome::Complete;
            json!({ "type": "ended", "outcome": outcome.code(), "isComplete": complete })
        }
        _ => return None,
    })
}
