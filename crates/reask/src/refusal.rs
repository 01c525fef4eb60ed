//! What a provider says that it refuses, in the words of its error.

use serde_json::Value;

use crate::{FailureClass, prompt::frame::start_of};

/// Names of parameters and of their values. A text of the user hardly has them, so they may be anywhere in an error.
const NAMES: &[&str] = &[
    "response_format",
    "response-format",
    "json_schema",
    "json_object",
    // A tool, by which the output of Anthropic, of Bedrock and of Gemini is constrained.
    "input_schema",
    "toolspec/inputschema",
    "function_declarations",
    "xgrammar",
    "responseschema",
    "response_schema",
    "responsemimetype",
    "response_mime_type",
    "responsejsonschema",
    "output_format",
    "output_config",
    "structured_output",
    "guided_json",
    OF_JSON,
];

/// Words for a mode. A user may write them, too, so they count only with a clear refusal in the same sentence.
const WORDS: &[&str] = &[
    "response format",
    "response mime type",
    "response schema",
    "json schema",
    "json mode",
    "json output",
    "compiled grammar",
    "controlled generation",
    "constrained decoding",
    "structured output",
    "guided decoding",
    "function calling",
    "support tools",
    "tool use",
    "tool choice",
    "tool_choice",
];

/// What only a mode is refused with.
const ALONE: &[&str] = &[
    // Gemini.
    "too many states",
    // OpenAI, of a tool.
    "invalid schema for function",
    // llama.cpp, and what is built on it.
    "failed to parse grammar",
    "failed to initialize samplers",
    "empty grammar stack",
];

/// Clear words of a refusal.
const REFUSED: &[&str] = &[
    "not support",
    "n't support",
    "not currently support",
    "not yet support",
    "unsupported",
    "unavailable",
    "not available",
    "disabled",
    "not permitted",
    "not implemented",
    "not compatible",
    "incompatible",
    "cannot be used",
    "can't be used",
    "only available",
    "enabled only",
    "not enabled",
    "not be enabled",
    "not allowed",
    "only allowed",
    "no longer",
    "only supports",
    "too large",
    "too complex",
    "schema exceeds",
    "extra inputs",
    "no endpoints found",
    "requires --",
];

/// Words that are also said of other mistakes.
const WRONG: &[&str] = &[
    "too many",
    "invalid",
    "unknown",
    "unrecognized",
    "unrecognised",
    "unexpected",
    "must ",
    "should ",
    "missing field",
    "cannot find field",
    "cannot unmarshal",
];

/// Parameters that hold what the user and the model wrote. An error about one of them may repeat it without quotes.
const CONTENT: &[&str] =
    &["messages", "contents", "input", "prompt", "system", "system_instruction"];

/// Said of the messages, and a refusal of the mode all the same.
const OF_JSON: &str = "'json' in some form";

/// Of a temperature.
const OF_TEMPERATURE: &[&str] = &["may only be set", "cannot both be", "is deprecated"];

/// What an error with these words refuses. `param` is the parameter that it names.
pub(crate) fn refused(message: &str, param: &str) -> FailureClass {
    let text = own_words(message);
    let param = param.to_ascii_lowercase().replace("text.format", "response_format");
    if is_content(&param) && !text.contains(OF_JSON) {
        return FailureClass::Refused;
    }
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_refusal = |text: &str| has(text, REFUSED) || has(text, WRONG);
    let mut sentences = text.lines().flat_map(|line| line.split(". "));
    if NAMES.iter().any(|name| param.starts_with(name))
        || has(&text, NAMES) && is_refusal(&text)
        || has(&text, ALONE)
        || sentences.clone().any(|own| has(own, WORDS) && has(own, REFUSED))
    {
        return FailureClass::ModeRefused;
    }
    let is_temperature =
        |own: &str| own.contains("temperature") && (is_refusal(own) || has(own, OF_TEMPERATURE));
    if param == "temperature" || sentences.any(is_temperature) {
        return FailureClass::TemperatureRefused;
    }
    FailureClass::Refused
}

/// Whether the words say that a mode was refused because of the schema, which says nothing about the model.
pub(crate) fn is_about_schema(message: &str) -> bool {
    let text = own_words(message);
    let words = [
        "invalid schema",
        "schema is too",
        "schema exceeds",
        "schema contains",
        "schema produces",
        "schema for",
        "schema fields",
        "too many states",
        "grammar is too large",
        "failed to parse grammar",
        // A place in a schema that is refused.
        "input_schema",
        "toolspec/inputschema",
        "function_declarations[",
        "_schema.properties",
    ];
    words.iter().any(|words| text.contains(words))
}

/// Whether a place in a request is in the text of its messages, as in `messages[0].content` or `contents.0.parts`.
fn is_content(place: &str) -> bool {
    let name = place.split(['.', '[', '/', ':']).next().unwrap_or_default();
    CONTENT.contains(&name.trim())
}

/// Whether a line of an error begins with such a place, or is nothing else.
fn is_about_content(line: &str) -> bool {
    let line = line.trim_start_matches("* ");
    let place = line.split([' ', ':']).next().unwrap_or_default();
    let is_place = place.contains(['.', '['])
        || line.get(place.len()..).is_some_and(|rest| rest.starts_with(':'));
    is_place && is_content(place.strip_prefix("generatecontentrequest.").unwrap_or(place))
}

/// What an error says in the members that providers use for that, and nothing of what was sent.
pub(crate) fn said(body: &Value) -> String {
    let mut text = String::new();
    gather(body, 0, &mut text);
    text
}

fn gather(value: &Value, depth: usize, text: &mut String) {
    const SAID: [&str; 14] = [
        "error",
        "errors",
        "detail",
        "details",
        "message",
        "msg",
        "reason",
        "description",
        "title",
        "metadata",
        "raw",
        "loc",
        "cause",
        "error_description",
    ];
    /// An error of a provider in that of a gateway in that of another one.
    const DEEPEST: usize = 8;
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::Object(members) => {
            let place = members.get("loc").and_then(Value::as_array).into_iter().flatten();
            if let Some(content) = place.filter_map(Value::as_str).find(|own| is_content(own)) {
                text.push_str(content);
                text.push_str(":\n");
                return;
            }
            for name in SAID {
                members.get(name).into_iter().for_each(|said| gather(said, depth + 1, text));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, depth + 1, text)),
        Value::String(said) => match serde_json::from_str(said) {
            Ok(inner @ (Value::Object(_) | Value::Array(_))) => gather(&inner, depth + 1, text),
            _ => {
                text.push_str(said);
                text.push('\n');
            }
        },
        _ => {}
    }
}

/// The text of an error, in lower case, without what it quotes of the request: the input of a validator in Python, and
/// quotes of more than two words, unless they are the message of another error.
fn own_words(text: &str) -> String {
    /// How much is read, in bytes. What is longer than that repeats the request.
    const READ: usize = 16 << 10;
    let text = start_of(text, READ).to_ascii_lowercase();
    // A list of errors as Python shows it.
    let text = text.split("'input':").next().unwrap_or_default();
    let mut own = String::with_capacity(text.len());
    // An error of pydantic on several lines: the place, and then what is wrong there, which is indented.
    let mut of_content = false;
    for line in text.lines() {
        of_content = is_about_content(line) || of_content && line.starts_with(' ');
        if of_content && !line.contains(OF_JSON) {
            continue;
        }
        // An error of pydantic on one line: the value, and then its type.
        let (before, after) = line.split_once("input_value=").unwrap_or((line, ""));
        own.push_str(&unquoted(before));
        own.push_str(after.rsplit_once(", input_type").map_or("", |(_, after)| after));
        own.push('\n');
    }
    own
}

fn unquoted(line: &str) -> String {
    let mut own = String::with_capacity(line.len());
    let mut rest = line;
    // Marks after which no quote ends any more.
    let mut endless = String::new();
    while let Some(at) = rest.find(['\'', '"', '`']) {
        let (before, quoted) = rest.split_at_checked(at).unwrap_or((rest, ""));
        own.push_str(before);
        let quote = quoted.chars().next().unwrap_or_default();
        let inside = quoted.get(1..).unwrap_or_default();
        // An apostrophe in a word begins no quote.
        let begins = !own.ends_with(char::is_alphanumeric);
        let may_end = begins && !endless.contains(quote);
        let length = if may_end { end_of_quote(inside, quote) } else { None };
        if may_end && length.is_none() {
            endless.push(quote);
        }
        let words = length.and_then(|length| inside.get(..length)).unwrap_or_default();
        let is_text = words.split_whitespace().nth(2).is_some();
        match length {
            Some(length) if is_text && !is_message(&own) => {
                own.push_str("\"\"");
                rest = inside.get(length + 1..).unwrap_or_default();
            }
            // A name, which is kept with its quotes.
            Some(length) if !is_text => {
                own.push_str(quoted.get(..length + 2).unwrap_or_default());
                rest = inside.get(length + 1..).unwrap_or_default();
            }
            // A message, in which something may be quoted; or no quote at all.
            _ => {
                own.push(quote);
                rest = inside;
            }
        }
    }
    own.push_str(rest);
    own
}

/// Where a quote ends: at the first mark that is not escaped, with no letter after it.
fn end_of_quote(inside: &str, quote: char) -> Option<usize> {
    let mut ends = inside.match_indices(quote).map(|(at, _)| at);
    ends.find(|at| {
        let after = inside.get(at + 1..).and_then(|rest| rest.chars().next());
        let is_escaped = inside.get(..*at).is_some_and(|before| before.ends_with('\\'));
        !is_escaped && !after.is_some_and(char::is_alphanumeric)
    })
}

/// Whether a quote after this text is the message of an error.
fn is_message(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\\', '"', '\'', '{', '(', '[', '-']);
    let Some(name) = before.strip_suffix([':', '=']) else { return before.is_empty() };
    let name = name.trim_end_matches(['"', '\'', '\\', ' ']);
    ["message", "msg", "error", "detail", "reason", "description", "raw"]
        .iter()
        .any(|known| name.ends_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_messages_are_kept_and_other_quotes_are_not() {
        for (text, own) in [
            ("the value 'json_schema' isn't known", "the value 'json_schema' isn't known"),
            ("invalid content: \"reply in json mode\".", "invalid content: \"\"."),
            ("got 'it's what you should do', which", "got \"\", which"),
            ("error: \"json mode isn't available\"", "error: \"json mode isn't available\""),
            ("{'message': 'the key \"a b c\" is bad'}", "{'message': 'the key \"\" is bad'}"),
            ("an open 'quote without an end", "an open 'quote without an end"),
            ("[type=x, input_value='a b c d', input_type=str]", "[type=x, =str]"),
            ("a 'input': b\nc", "a "),
        ] {
            assert_eq!(own_words(text).trim_end_matches('\n'), own, "{text}");
        }
    }
}
