//! The body of a response, while it arrives, and its events as JSON.

use serde_json::{Map, Value, json};
use wiremend::{
    response::{Event, Object, ResponseReader},
    wire::{Block, Call, CallKind, Doubt},
};
use wiremend_plain::{Pieces, Response, Unit, of_mended, of_text};

use crate::{
    answer::Answer,
    host::{CLOSE, FEED, Host},
    options::Options,
    texts::of_pieces,
};
#[cfg(feature = "schema")]
use crate::{fits::of_fitted, texts::Issue};

/// Reads the body of a response.
pub(crate) struct Reader {
    reader: ResponseReader,
    /// Of calls, or of objects, by their number.
    pieces: Pieces<(bool, usize)>,
}

impl Reader {
    #[cfg_attr(
        not(feature = "schema"),
        expect(unused_variables, reason = "schemas and tools are what the host keeps for it")
    )]
    pub(crate) fn new(host: &Host, options: &Options) -> Result<Self, String> {
        let calls = options.mending("conservative", "first")?;
        let policy = options.text_policy.as_deref().unwrap_or("permissive");
        let texts = options.mending_with(policy, "first")?;
        let response = Response {
            #[cfg(feature = "schema")]
            tools: host.tools(options.tools),
            #[cfg(feature = "schema")]
            schema: host.schema(options.schema),
            objects: options.objects.as_deref(),
            calls_in_text: options.calls_in_text,
            dialect: options.dialect.as_deref(),
            format: options.format.as_deref(),
            content_type: options.content_type.as_deref(),
        };
        let made = response.options(calls, texts)?;
        Ok(Self { reader: ResponseReader::new(made), pieces: Pieces::default() })
    }

    pub(crate) fn run(
        &mut self,
        operation: u32,
        text: &[u8],
        to: &mut Answer,
    ) -> Result<(), String> {
        let Self { reader, pieces } = self;
        let mut events = Vec::new();
        let mut take = |event: Event| events.extend(json_of(event, pieces));
        match operation {
            FEED => reader.push(text, &mut take),
            CLOSE => reader.finish(&mut take),
            _ => return Err("a reader cannot do that".to_owned()),
        }
        to.json(&events)
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
    let repairs = of_text(call.raw().as_bytes(), Unit::Utf16, call.repairs());
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
            let said = with(json!({}), &of_fitted(fitted, Some((raw, Unit::Utf16))), fitted.text());
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
fn json_of(event: Event, pieces: &mut Pieces<(bool, usize)>) -> Option<Value> {
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
            json!({ "type": "call-fragment", "number": call, "json": pieces.whole((true, call), json) })
        }
        Event::CallRaw { call, text, .. } => {
            json!({ "type": "call-raw", "number": call, "text": pieces.whole((true, call), text) })
        }
        Event::CallEnded(call) => {
            pieces.end(&(true, call.number()));
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
            json!({ "type": "object-fragment", "number": object, "json": pieces.whole((false, object), json) })
        }
        Event::ObjectRaw { object, text, .. } => {
            json!({ "type": "object-raw", "number": object, "text": pieces.whole((false, object), text) })
        }
        Event::ObjectEnded(object) => {
            pieces.end(&(false, object.number()));
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
