//! Errors inside a response, in all their forms.

use std::borrow::Cow;

use super::non_empty;
use crate::{
    ErrorKind, FinishReason, WireError,
    json::{self, Node},
};

/// The error in a payload: `error` as an object or a text, `x_groq.error`, `object: "error"`,
/// `type: "error"`, `detail`, `errors`, an AWS exception, or whatever follows `event: error`.
pub(crate) fn read_error(event: &str, payload: Node<'_>) -> Option<WireError> {
    let [error, groq, object, kind, detail, errors, choices] =
        payload.pick(["error", "x_groq", "object", "type", "detail", "errors", "choices"]);
    let error = error.or_else(|| groq?.field("error")).filter(|error| !error.is_blank());
    if let Some(error) = error {
        // It may only say that there is one.
        let says_more = error.is_object() || error.is_array() || error.is_string();
        return Some(read(if says_more { error } else { payload }, payload));
    }
    let is_error = |node: Option<Node<'_>>| node.and_then(Node::text).as_deref() == Some("error");
    if event == "error" || is_error(object) || is_error(kind) {
        return Some(read(payload, payload));
    }
    if let Some((name, inner)) = exception(event, payload) {
        let error_type = Some(name.into_owned());
        return Some(WireError { error_type, ..read(inner, inner) });
    }
    let listed = errors.and_then(|errors| errors.items().next()).or(detail);
    match listed {
        Some(listed) if choices.is_none() && kind.is_none() => Some(read(listed, payload)),
        _ => None,
    }
}

/// The error in a payload that is no event of its format, in whatever shape: a text that explains something, next to
/// a code that is not one of success, or whatever is called an error; here or in one of the members.
pub(crate) fn read_unshaped(payload: Node<'_>) -> Option<WireError> {
    let inner = payload.fields().map(|(_, value)| value).filter(|value| value.is_object());
    core::iter::once(payload).chain(inner).find_map(explained)
}

/// The error that an object is of which nothing is known, among the events of a stream. Its message is the first text
/// with several words, or else the first text, wherever it is.
pub(crate) fn read_foreign(payload: Node<'_>) -> WireError {
    let (mut said, mut rest) = (None, vec![(payload, 0_u8)]);
    while let Some((node, depth)) = rest.pop() {
        match node.text().filter(|text| !text.is_empty()) {
            Some(text) if text.contains(char::is_whitespace) => {
                said = Some(text);
                break;
            }
            text => said = said.or(text),
        }
        if depth < DEPTH {
            let inner = node.fields().map(|(_, value)| value).chain(node.items());
            let at = rest.len();
            rest.extend(inner.map(|node| (node, depth + 1)));
            rest[at..].reverse();
        }
    }
    WireError::new(ErrorKind::Provider, excerpt(&said.unwrap_or(payload.raw().into())))
}

/// How deep a message is looked for.
const DEPTH: u8 = 4;

/// Parts of the names of members with such a text, with such a code, and with an error of any kind.
const EXPLANATIONS: [&str; 5] = ["message", "msg", "detail", "description", "reason"];
const CODES: [&str; 3] = ["code", "status", "errno"];
const FAILURES: [&str; 3] = ["error", "exception", "fault"];

fn explained(node: Node<'_>) -> Option<WireError> {
    let (mut message, mut other, mut code, mut failed) = (None, None, None, false);
    for (name, value) in node.fields() {
        let name = name.to_ascii_lowercase();
        let is = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        let Some(word) = value.scalar().filter(|word| !word.is_empty()) else {
            // Such as `success: false`.
            failed |= value.raw() == "false" && name.contains("success");
            continue;
        };
        let is_word = !word.contains(char::is_whitespace);
        failed |= is_word && FinishReason::from_provider(&word) == FinishReason::Error;
        if is(&EXPLANATIONS) && value.is_string() {
            message = message.or(Some(word));
        } else if is(&CODES) {
            // A number says more than a word.
            code = code.filter(|_| value.is_string()).or(Some(word).filter(|it| is_no_success(it)));
        } else if is(&FAILURES) {
            failed = true;
            other = other.or(Some(word));
        }
    }
    if !failed && (code.is_none() || message.is_none()) {
        return None;
    }
    let message = message.or(other).unwrap_or(Cow::Borrowed(node.raw()));
    let mut error = WireError::new(ErrorKind::Provider, excerpt(&message));
    error.code = code.map(Cow::into_owned);
    Some(error)
}

/// Whether a code is neither 0 nor one of HTTP's for success, nor such a word.
fn is_no_success(code: &str) -> bool {
    match code.parse::<i64>() {
        Ok(code) => code != 0 && !(200..300).contains(&code),
        Err(_) => {
            !["ok", "success", "succeeded"].iter().any(|word| code.eq_ignore_ascii_case(word))
        }
    }
}

/// An AWS exception: the name of the event, or the only member of the payload.
fn exception<'a>(event: &'a str, payload: Node<'a>) -> Option<(Cow<'a, str>, Node<'a>)> {
    if event.ends_with("Exception") {
        return Some((event.into(), payload));
    }
    payload.fields().next().filter(|(name, inner)| name.ends_with("Exception") && inner.is_object())
}

/// The error in a payload that is not JSON, if the name of its event or its text marks it as one.
pub(crate) fn read_plain_error(event: &str, text: &str) -> Option<WireError> {
    let is_marked = text.get(..6).is_some_and(|head| head.eq_ignore_ascii_case("error:"));
    (event == "error" || is_marked).then(|| WireError::new(ErrorKind::Provider, excerpt(text)))
}

/// The error in a member that the format knows to be one.
pub(crate) fn read_inner_error(error: Node<'_>) -> WireError {
    read(error, error)
}

/// The error in an AWS exception: its name, and a payload or a text.
pub(crate) fn read_exception(name: &str, data: &str) -> WireError {
    let mut error = match json::first(data) {
        Ok((node, _)) if node.is_object() => read(node, node),
        _ => WireError::new(ErrorKind::Provider, excerpt(data)),
    };
    error.error_type = error.error_type.or_else(|| Some(name.to_owned()));
    error
}

fn read(error: Node<'_>, around: Node<'_>) -> WireError {
    let [message, detail, code, status, http, kind, param, failed, inner, status_word] = error
        .pick([
            "message",
            "detail",
            "code",
            "status_code",
            "http_status_code",
            "type",
            "param",
            "failed_generation",
            "error",
            "status",
        ]);
    let message = non_empty(message).or_else(|| non_empty(detail)).or_else(|| error.text());
    let message = match (message, inner) {
        (Some(message), _) => message.into_owned(),
        (None, Some(inner)) if inner.is_string() => inner.text().unwrap_or_default().into_owned(),
        (None, _) => excerpt(error.raw()),
    };
    let [error_type, outer_code] = around.pick(["error_type", "code"]);
    let code = code.or(status).or(http).or(outer_code).and_then(Node::scalar);
    WireError {
        kind: ErrorKind::Provider,
        message,
        code: code.filter(|code| !code.is_empty()).map(Into::into),
        error_type: non_empty(kind)
            .filter(|kind| kind != "error")
            .or_else(|| non_empty(status_word))
            .or_else(|| non_empty(error_type))
            .map(Into::into),
        param: param.and_then(Node::scalar).map(Into::into),
        failed_generation: non_empty(failed).map(Into::into),
    }
}

/// The beginning of a text, for a message.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 2048;
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(event: &str, text: &str) -> Option<(String, Option<String>, Option<String>)> {
        let error = read_error(event, json::first(text).unwrap().0)?;
        Some((error.message, error.code, error.error_type))
    }

    #[test]
    fn every_shape_of_an_error_is_read() {
        let some = |m: &str, c: Option<&str>, t: Option<&str>| {
            Some((m.to_owned(), c.map(Into::into), t.map(Into::into)))
        };
        for (event, text, want) in [
            (
                "",
                r#"{"error":{"message":"m","type":"t","code":429}}"#,
                some("m", Some("429"), Some("t")),
            ),
            ("", r#"{"error":"overloaded","error_type":"x"}"#, some("overloaded", None, Some("x"))),
            ("", r#"{"object":"error","message":"m","code":400}"#, some("m", Some("400"), None)),
            (
                "",
                r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#,
                some("m", None, Some("overloaded_error")),
            ),
            ("", r#"{"detail":"Not Found"}"#, some("Not Found", None, None)),
            ("", r#"{"x_groq":{"error":"boom"},"choices":[]}"#, some("boom", None, None)),
            ("error", r#"{"message":"m"}"#, some("m", None, None)),
            (
                "",
                r#"{"error":{"message":"m","http_status_code":422}}"#,
                some("m", Some("422"), None),
            ),
            ("", r#"{"choices":[],"error":null}"#, None),
            ("", r#"{"choices":[],"error":{}}"#, None),
            ("ping", r#"{"type":"ping"}"#, None),
            ("", r#"{"errors":[{"code":"x","message":"m"}]}"#, some("m", Some("x"), None)),
            (
                "throttlingException",
                r#"{"message":"m"}"#,
                some("m", None, Some("throttlingException")),
            ),
            (
                "",
                r#"{"modelStreamErrorException":{"message":"m","originalStatusCode":424}}"#,
                some("m", None, Some("modelStreamErrorException")),
            ),
            (
                "",
                r#"{"error":{"code":499,"message":"m","status":"CANCELLED"}}"#,
                some("m", Some("499"), Some("CANCELLED")),
            ),
            (
                "error",
                r#"{"type":"error","code":"x","message":"m","sequence_number":2}"#,
                some("m", Some("x"), None),
            ),
        ] {
            assert_eq!(of(event, text), want, "{text}");
        }
    }

    #[test]
    fn an_exception_has_its_name_for_a_type() {
        let error = read_exception("throttlingException", r#"{"message":"slow down"}"#);
        assert_eq!(error.message, "slow down");
        assert_eq!(error.error_type.as_deref(), Some("throttlingException"));
        assert_eq!(read_exception("internalFailure", "gone").message, "gone");
    }

    #[test]
    fn plain_text_is_an_error_only_where_it_says_so() {
        assert!(read_plain_error("error", "boom").is_some());
        assert!(read_plain_error("", "Error: boom").is_some());
        assert!(read_plain_error("", "boom").is_none());
    }
}
