//! Names between markers, before arguments in JSON.

use super::{Tools, json::past_space, shape::Named};

/// The longest name, in bytes.
const LONGEST_NAME: usize = 256;

/// What a name between markers begins.
pub(super) enum NamedCall {
    /// The name, the identifier, the length, and whether the call ends before any arguments.
    Call(String, Option<String>, usize, bool),
    /// The name says that text follows.
    Text(usize),
    Nothing,
}

/// Reads the name of a call between its markers. `None` waits for more.
pub(super) fn named_call(
    named: &Named,
    rest: &[u8],
    tools: &Tools,
    eof: bool,
) -> Option<NamedCall> {
    let (open, mark) = (named.open.len(), named.name_end.as_bytes());
    let after = rest.get(open..).unwrap_or_default();
    let window = after.get(..LONGEST_NAME + mark.len()).unwrap_or(after);
    let found = window.windows(mark.len().max(1)).position(|part| part == mark);
    let brace = window.iter().position(|byte| *byte == b'{');
    // Models leave out the marker before the arguments, which then begin with their bracket.
    let omitted = brace.filter(|at| {
        let before = window.get(..*at).unwrap_or_default();
        found.is_none_or(|end| *at < end) && named.open.starts_with(['<', '[']) && is_name(before)
    });
    // The call may be closed after its name.
    let closes = named.close.iter().filter(|close| close.starts_with('<'));
    let place = |close: &[u8]| window.windows(close.len()).position(|part| part == close);
    let closed = closes.filter_map(|close| place(close.as_bytes())).min().filter(|at| {
        found.is_none_or(|end| *at < end) && is_name(window.get(..*at).unwrap_or_default())
    });
    let (end, length) = match (omitted, closed, found) {
        (Some(end), ..) | (None, Some(end), _) => (end, open + end),
        (None, None, Some(end)) => (end, open + end + mark.len()),
        (None, None, None) => {
            let full = window.len() > LONGEST_NAME || brace.is_some();
            return if eof || full { Some(NamedCall::Nothing) } else { None };
        }
    };
    // A parenthesis directly follows the name of what is called, in which Markdown has backslashes.
    let called = |name: &[u8]| name.iter().all(|byte| is_in_name(byte) || *byte == b'\\');
    if mark == b"(" && !window.get(..end).is_some_and(called) {
        return Some(NamedCall::Nothing);
    }
    let written = String::from_utf8_lossy(window.get(..end).unwrap_or_default()).into_owned();
    let mut name = written.trim();
    let mut id = None;
    if let Some((before, given)) = name.split_once("[CALL_ID]") {
        (name, id) = (before.trim(), Some(given.trim().to_owned()));
    }
    if named.text_names.iter().any(|text| text == name) {
        return Some(NamedCall::Text(length));
    }
    // A number after a colon counts the calls.
    if let Some((before, number)) = name.rsplit_once(':')
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        (name, id) = (before, Some(name.to_owned()));
    }
    for prefix in &named.prefixes {
        if !tools.contains(name) {
            name = name.strip_prefix(&**prefix).unwrap_or(name);
        }
    }
    if name.is_empty() || name.contains(char::is_whitespace) || name.contains(['{', '<', '"']) {
        return Some(NamedCall::Nothing);
    }
    // What follows is not read as a call of another dialect.
    let follows = rest.get(length..).unwrap_or_default();
    let (_, next) = past_space(follows, eof)?;
    if next.first() == Some(&b'<')
        && !named.open.starts_with("<|")
        && !named.open.starts_with("<｜")
    {
        let mut partial = false;
        let closes = named.close.iter().any(|close| {
            partial |= close.as_bytes().starts_with(next);
            next.starts_with(close.as_bytes())
        });
        if !closes {
            return if partial && !eof { None } else { Some(NamedCall::Nothing) };
        }
    }
    Some(NamedCall::Call(name.to_owned(), id, length, closed.is_some()))
}

/// Whether text is the name of a tool and nothing else.
fn is_name(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    !text.is_empty() && text.iter().all(is_in_name)
}

const fn is_in_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b':' | b'/')
}
