//! Asks the model again for arguments that cannot be made to fit their schema.
//!
//! Only for a body that was not streamed, of which nothing has left yet. The request is that of the client, with
//! its own key, and a question at its end.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Method, Request, Uri,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};
use wiremend_exchange::{Asked, Exchange, Misfit};
use wiremend_reask::{Answer, Ask, Failure, Native, Reask, ReaskOptions, Shape, Step};
use wiremend_response::{Response, ResponseOptions};
use wiremend_wire::{ApiFormat, FinishReason};

use super::answer::{End, Read};
use crate::{
    headers,
    shared::{Held, Providers, Shared},
    timed::Timed,
    unpacked::{Packing, Unpacked},
};

/// A request that may be made again.
pub(super) struct Again {
    providers: Arc<Providers>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
    /// The room of its body.
    _held: Option<Held>,
}

impl Again {
    pub(super) fn new(
        providers: &Arc<Providers>,
        uri: Uri,
        headers: HeaderMap,
        body: Bytes,
        held: Option<Held>,
    ) -> Self {
        Self { providers: Arc::clone(providers), uri, headers, body, _held: held }
    }

    /// Asks for the arguments of these calls. Returns those that came, by the number of the call.
    pub(super) async fn ask(
        &self,
        shared: &Arc<Shared>,
        exchange: &Exchange,
        format: Option<ApiFormat>,
        misfits: &[Misfit],
        end: Instant,
    ) -> (BTreeMap<usize, String>, Asked) {
        let (mut values, mut asked) = (BTreeMap::new(), Asked::default());
        let shape = match format {
            Some(ApiFormat::OpenAiChat) => Shape::OpenAiChat,
            Some(ApiFormat::Anthropic) => Shape::Anthropic,
            Some(ApiFormat::Gemini) => Shape::Gemini,
            _ => return (values, asked),
        };
        let Ok(request) = serde_json::from_slice::<Value>(&self.body) else {
            return (values, asked);
        };
        let settings = shared.config.reask();
        let began = Instant::now();
        let end = end.min(began + settings.time());
        for misfit in misfits {
            let Some((name, schema, fit)) = exchange.tool(misfit.tool()) else { continue };
            let left = settings.attempts().saturating_sub(asked.requests());
            let tokens = settings.tokens().saturating_sub(asked.tokens());
            if left == 0 || tokens == 0 {
                break;
            }
            let options = ReaskOptions::for_tool(name)
                .with_fit(fit)
                .with_attempts(left)
                .with_deadline(end - began)
                .with_token_budget(tokens);
            let mut reask = Reask::new(schema, options);
            let mut first = Answer::arguments(misfit.raw());
            first = first.with_finish(FinishReason::ToolCalls);
            let mut step = reask.answer(&first, began.elapsed());
            while let Step::Ask(ask) = &step {
                if asked.requests() >= settings.attempts() {
                    break;
                }
                let Some(body) = question(&request, shape, ask, name) else { break };
                asked.request();
                let reply = timeout_at(end, self.send(shared, exchange, body, end)).await;
                let reply = reply.unwrap_or_else(|_| Err(Failure::timed_out("")));
                step = match reply {
                    Ok(body) => {
                        let response = Response::read(&body, ResponseOptions::new());
                        response.transcript().usage().iter().for_each(|usage| asked.count(usage));
                        let answer = Answer::read(&response, ask.tool());
                        reask.answer(&answer, began.elapsed())
                    }
                    Err(failure) => reask.failed(failure, began.elapsed()),
                };
            }
            if let Step::Done(done) = step {
                values.insert(misfit.number(), done.json().to_owned());
            }
        }
        (values, asked)
    }

    /// Makes the request with another body, and reads the answer.
    async fn send(
        &self,
        shared: &Arc<Shared>,
        exchange: &Exchange,
        body: String,
        end: Instant,
    ) -> Result<Vec<u8>, Failure> {
        let failed = || Failure::network("");
        let mut request = Request::new(());
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = Full::new(Bytes::from(body)).map_err(|never| match never {}).boxed_unsync();
        let request = request.map(|()| body);
        let response = self.providers.request(request).await.map_err(|_| failed())?;
        let status = response.status();
        let limits = shared.config.limits();
        let mut held = shared.held();
        let (parts, body) = response.into_parts();
        let answer = exchange.answer(status.as_u16(), headers::lines(&parts.headers));
        let packing = answer.coding().map(|coding| Packing::of(coding, shared).ok_or_else(failed));
        let packing = packing.transpose()?;
        let mut body = Unpacked::new(Timed::new(body, limits.idle(), end), packing);
        let Read { chunks, end } =
            Read::of(&mut body, limits.held_bytes(), Duration::MAX, &mut held).await;
        if !matches!(end, End::Whole(_)) {
            return Err(failed());
        }
        let chunks: Vec<&[u8]> = chunks.iter().map(Bytes::as_ref).collect();
        let body = chunks.concat();
        if !status.is_success() {
            return Err(Failure::status(status.as_u16(), String::from_utf8_lossy(&body)));
        }
        Ok(body)
    }
}

/// The request of the client with a question at its end. It must be answered by a call of the tool.
fn question(request: &Value, shape: Shape, ask: &Ask, tool: &str) -> Option<String> {
    let mut request = request.clone();
    let turns = if shape == Shape::Gemini { "contents" } else { "messages" };
    request.get_mut(turns)?.as_array_mut()?.extend(ask.messages(shape));
    let snake = request.get("tool_config").is_some();
    let members = request.as_object_mut()?;
    let tools = members.get_mut("tools")?;
    let declared = entry(tools, tool)?;
    let made = Native::tool(ask.schema(), shape, tool, "");
    let mut made = made.value().clone();
    keep(declared, &mut made);
    *declared = made;
    let (key, choice) = match shape {
        Shape::Anthropic => {
            // It refuses to be forced while it thinks.
            let thinks = members.get("thinking").is_some_and(|how| how["type"] != "disabled");
            let kind = if thinks {
                json!({"type": "auto"})
            } else {
                json!({"type": "tool", "name": tool})
            };
            ("tool_choice", kind)
        }
        Shape::Gemini => (
            if snake { "tool_config" } else { "toolConfig" },
            json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [tool]}}),
        ),
        _ => ("tool_choice", json!({"type": "function", "function": {"name": tool}})),
    };
    members.insert(key.to_owned(), choice);
    // One answer is enough.
    members.remove("n");
    if let Some(temperature) = ask.temperature() {
        // Some models take none, so only where the client sends one.
        let place = match shape {
            Shape::Gemini => members.get_mut("generationConfig").and_then(Value::as_object_mut),
            _ => Some(members),
        };
        if let Some(own) = place.and_then(|place| place.get_mut("temperature")) {
            *own = json!(temperature);
        }
    }
    Some(request.to_string())
}

/// The declaration of a tool, in the nesting of any provider.
fn entry<'v>(tools: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    for declared in tools.as_array_mut()? {
        let own = declared.get("name").or_else(|| declared.pointer("/function/name"));
        if own.is_some_and(|own| own == name) {
            return Some(declared);
        }
        for list in ["functionDeclarations", "function_declarations"] {
            if declared.get(list).is_some() {
                if let Some(found) = declared.get_mut(list).and_then(|list| entry(list, name)) {
                    return Some(found);
                }
                break;
            }
        }
    }
    None
}

/// Keeps what the client says about the tool, besides its schema. Not every server knows `strict`.
fn keep(declared: &Value, made: &mut Value) {
    let (from, to) = match made.get_mut("function") {
        Some(function) => (&declared["function"], function),
        None => (declared, made),
    };
    if let (Some(from), Some(to)) = (from.as_object(), to.as_object_mut()) {
        if from.get("strict") != Some(&Value::Bool(true)) {
            to.remove("strict");
        }
        match from.get("description") {
            Some(own) => to.insert("description".to_owned(), own.clone()),
            None => to.remove("description"),
        };
    }
}
