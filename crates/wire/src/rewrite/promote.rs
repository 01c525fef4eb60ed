//! Calls that were found in text, in the shape of the provider.

use core::hash::{Hash as _, Hasher as _};
use std::hash::DefaultHasher;

use crate::{
    ApiFormat, FinishReason, TextCall,
    calls::FoundInTexts,
    format::ordinal,
    json::{self, Node, Span, quote},
};

/// Whether calls can be written into a body of that format.
pub(super) const fn is_supported(format: ApiFormat) -> bool {
    matches!(
        format,
        ApiFormat::Anthropic
            | ApiFormat::CohereV2
            | ApiFormat::Gemini
            | ApiFormat::Ollama
            | ApiFormat::OpenAiChat
    )
}

/// What a response has besides the calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    /// The index after those of the calls of the choice.
    pub(super) call: i64,
    /// The index after those of the content blocks of the message.
    pub(super) block: u32,
    /// What identifies the response.
    pub(super) seed: u64,
}

/// How the calls of a choice are written.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Events before the one that ends the choice: their names and payloads.
    pub(super) events: Vec<(&'static str, String)>,
    /// Changes of the payload of that event.
    pub(super) edits: Vec<(Span, String)>,
}

/// Plans how calls are written, given the payload that ends their choice. `None` if there is no place for
/// them.
pub(super) fn plan(
    format: ApiFormat,
    payload: &str,
    found: &FoundInTexts,
    context: Context,
) -> Option<Plan> {
    let mut at = payload.find('{')?;
    loop {
        let (node, rest) = json::first_from(payload, at).ok()?;
        let calls = Calls { found, context };
        let plan = match format {
            ApiFormat::Anthropic => calls.anthropic(node),
            ApiFormat::CohereV2 => calls.cohere(node),
            ApiFormat::Gemini => calls.gemini(node),
            ApiFormat::Ollama => calls.ollama(node),
            ApiFormat::OpenAiChat => calls.openai(node),
            _ => None,
        };
        if plan.is_some() || rest.is_empty() {
            return plan;
        }
        at = payload.len() - rest.len();
    }
}

/// Another chunk of OpenAI Chat like that one, with the delta of a choice and nothing else.
pub(super) fn chunk(root: Node<'_>, choice: u32, delta: &str) -> String {
    let choices = format!("[{{\"index\":{choice},\"delta\":{delta},\"finish_reason\":null}}]");
    let members = root.fields().map(|(key, value)| match key.as_ref() {
        "choices" => format!("{}:{choices}", quote(&key)),
        "usage" => format!("{}:null", quote(&key)),
        _ => format!("{}:{}", quote(&key), value.raw()),
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// The calls of a choice.
struct Calls<'f> {
    found: &'f FoundInTexts,
    context: Context,
}

impl Calls<'_> {
    /// One text for each call.
    fn map(&self, mut write: impl FnMut(usize, &TextCall) -> String) -> Vec<String> {
        self.found.calls.iter().enumerate().map(|(at, call)| write(at, call)).collect()
    }

    /// An identifier, which is the same for the same response.
    fn id(&self, prefix: &str, at: usize) -> String {
        let mut hasher = DefaultHasher::new();
        (self.context.seed, self.found.salt, self.found.choice, at).hash(&mut hasher);
        let first = hasher.finish();
        hasher.write_u8(1);
        format!("{prefix}{first:016x}{:08x}", hasher.finish() >> 32)
    }

    /// A call as OpenAI and Cohere write it, with those arguments.
    fn function(&self, index: &str, at: usize, call: &TextCall, arguments: &str) -> String {
        let (id, name, arguments) =
            (quote(&self.id("call_", at)), quote(&call.name), quote(arguments));
        format!(
            "{{{index}\"id\":{id},\"type\":\"function\",\"function\":{{\"name\":{name},\"arguments\":{arguments}}}}}"
        )
    }

    fn openai(&self, root: Node<'_>) -> Option<Plan> {
        let choices = root.field("choices")?;
        let choice = choices.items().find(|choice| {
            ordinal(choice.field("index")) == self.found.choice && choice.has("finish_reason")
        })?;
        let [delta, message, reason] = choice.pick(["delta", "message", "finish_reason"]);
        let mut plan = Plan::default();
        plan.end(reason?, "tool_calls");
        if let (None, Some(message)) = (delta, message) {
            let entries = self.map(|at, call| self.function("", at, call, &call.arguments));
            plan.append(message, "tool_calls", &entries);
            return Some(plan);
        }
        let first = self.context.call;
        let entries = self.map(|at, call| {
            let index = i64::try_from(at).unwrap_or_default().saturating_add(first);
            self.function(&format!("\"index\":{index},"), at, call, &call.arguments)
        });
        let delta = format!("{{\"tool_calls\":[{}]}}", entries.join(","));
        plan.events.push(("", chunk(root, self.found.choice, &delta)));
        Some(plan)
    }

    fn anthropic(&self, root: Node<'_>) -> Option<Plan> {
        let [kind, delta, content, reason] = root.pick(["type", "delta", "content", "stop_reason"]);
        let block = |at: usize, call: &TextCall, input: &str| {
            format!(
                "{{\"type\":\"tool_use\",\"id\":{},\"name\":{},\"input\":{input}}}",
                quote(&self.id("toolu_", at)),
                quote(&call.name)
            )
        };
        let mut plan = Plan::default();
        match kind.and_then(Node::text).as_deref() {
            Some("message") => {
                plan.end(reason?, "tool_use");
                let blocks = self.map(|at, call| block(at, call, &call.arguments));
                plan.append_items(content?, &blocks);
            }
            Some("message_delta") => {
                plan.end(delta?.field("stop_reason")?, "tool_use");
                for (at, call) in self.found.calls.iter().enumerate() {
                    let index = u32::try_from(at).ok()?.checked_add(self.context.block)?;
                    let mut say = |name: &'static str, rest: String| {
                        let text = format!("{{\"type\":\"{name}\",\"index\":{index}{rest}}}");
                        plan.events.push((name, text));
                    };
                    let begun = block(at, call, "{}");
                    say("content_block_start", format!(",\"content_block\":{begun}"));
                    let json = quote(&call.arguments);
                    let delta =
                        format!("{{\"type\":\"input_json_delta\",\"partial_json\":{json}}}");
                    say("content_block_delta", format!(",\"delta\":{delta}"));
                    say("content_block_stop", String::new());
                }
            }
            _ => return None,
        }
        Some(plan)
    }

    fn cohere(&self, root: Node<'_>) -> Option<Plan> {
        let [kind, delta, message] = root.pick(["type", "delta", "message"]);
        let mut plan = Plan::default();
        let Some(kind) = kind else {
            plan.end(root.field("finish_reason")?, "TOOL_CALL");
            let entries = self.map(|at, call| self.function("", at, call, &call.arguments));
            plan.append(message?, "tool_calls", &entries);
            return Some(plan);
        };
        if kind.text()? != "message-end" {
            return None;
        }
        plan.end(delta?.field("finish_reason")?, "TOOL_CALL");
        for (at, call) in self.found.calls.iter().enumerate() {
            let index = i64::try_from(at).ok()?.checked_add(self.context.call)?;
            let mut say = |name: &'static str, rest: String| {
                let text = format!("{{\"type\":\"{name}\",\"index\":{index}{rest}}}");
                plan.events.push((name, text));
            };
            let message =
                |calls: String| format!(",\"delta\":{{\"message\":{{\"tool_calls\":{calls}}}}}");
            say("tool-call-start", message(self.function("", at, call, "")));
            let arguments = quote(&call.arguments);
            let piece = format!("{{\"function\":{{\"arguments\":{arguments}}}}}");
            say("tool-call-delta", message(piece));
            say("tool-call-end", String::new());
        }
        Some(plan)
    }

    fn gemini(&self, root: Node<'_>) -> Option<Plan> {
        let root = root.field("response").filter(|_| !root.has("candidates")).unwrap_or(root);
        let candidate = root.field("candidates")?.items().find(|candidate| {
            ordinal(candidate.field("index")) == self.found.choice && candidate.has("finishReason")
        })?;
        let parts = self.map(|_, call| {
            let (name, args) = (quote(&call.name), &call.arguments);
            format!("{{\"functionCall\":{{\"name\":{name},\"args\":{args}}}}}")
        });
        let mut plan = Plan::default();
        match candidate.field("content") {
            Some(content) => plan.append(content, "parts", &parts),
            None if candidate.has("content") => return None,
            None => {
                let content = format!("{{\"role\":\"model\",\"parts\":[{}]}}", parts.join(","));
                plan.insert(candidate, "content", &content);
            }
        }
        Some(plan)
    }

    fn ollama(&self, root: Node<'_>) -> Option<Plan> {
        let message = root.field("message").filter(|message| message.is_object())?;
        let entries = self.map(|_, call| {
            let (name, arguments) = (quote(&call.name), &call.arguments);
            format!("{{\"function\":{{\"name\":{name},\"arguments\":{arguments}}}}}")
        });
        let mut plan = Plan::default();
        plan.append(message, "tool_calls", &entries);
        Some(plan)
    }
}

impl Plan {
    /// A turn that ended by itself ended for the sake of the calls.
    fn end(&mut self, reason: Node<'_>, word: &str) {
        let stopped = |word: &str| FinishReason::from_provider(word) == FinishReason::Stop;
        if reason.text().is_some_and(|word| stopped(&word)) {
            self.edits.push((reason.span(), quote(word)));
        }
    }

    /// Appends items to the array that is the member `key` of an object.
    fn append(&mut self, object: Node<'_>, key: &str, items: &[String]) {
        match object.fields().filter(|(own, _)| own == key).last() {
            Some((_, array)) if array.is_array() => self.append_items(array, items),
            Some((_, other)) => {
                self.edits.push((other.span(), format!("[{}]", items.join(","))));
            }
            None => self.insert(object, key, &format!("[{}]", items.join(","))),
        }
    }

    fn append_items(&mut self, array: Node<'_>, items: &[String]) {
        let comma = if array.is_blank() { "" } else { "," };
        self.add_at_end(array, format!("{comma}{}", items.join(",")));
    }

    fn insert(&mut self, object: Node<'_>, key: &str, value: &str) {
        let comma = if object.is_blank() { "" } else { "," };
        self.add_at_end(object, format!("{comma}{}:{value}", quote(key)));
    }

    fn add_at_end(&mut self, container: Node<'_>, text: String) {
        let end = container.span().end - 1;
        self.edits.push((Span { start: end, end }, text));
    }
}
