//! Names between markers, before arguments in JSON.

use super::{Dialect, Tools, json::past_space, shape::Named};

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

/// Where a header ends, and how.
enum Ends {
    /// At the marker before the arguments.
    Marked(usize),
    /// At the bracket of the arguments: models leave out the marker before it.
    Omitted(usize),
    /// At another marker, so that there are no arguments.
    Closed(usize),
}

/// Finds the end of a header: the first marker or bracket after the name. The outer `None` waits for more.
fn end_of_header(named: &Named, row: &Dialect, header: &[u8], eof: bool) -> Option<Option<Ends>> {
    let closes = named.close.iter().filter(|close| close.starts_with('<'));
    let around = row.ornaments.iter().chain(&row.ends).chain(&row.tokens);
    let others = || closes.clone().chain(around.clone()).chain([&named.open]);
    let mark = named.name_end.as_bytes();
    let window = header.get(..LONGEST_NAME + mark.len()).unwrap_or(header);
    let over = eof || window.len() < header.len();
    // What may be a marker is not one yet if it may be a longer text.
    let starts = |here: &[u8], marker: &[u8]| {
        let partial = !over && !here.is_empty() && here.len() < marker.len();
        if partial && marker.starts_with(here) {
            return None;
        }
        Some(!marker.is_empty() && here.starts_with(marker))
    };
    for at in 0..window.len() {
        let here = window.get(at..).unwrap_or_default();
        let before = window.get(..at).unwrap_or_default();
        if starts(here, mark)? {
            return Some(Some(Ends::Marked(at)));
        }
        if here.first() == Some(&b'{') {
            let omitted = named.open.starts_with(['<', '[']) && is_name(before);
            return Some(omitted.then_some(Ends::Omitted(at)));
        }
        for other in others() {
            if starts(here, other.as_bytes())? {
                // A name between markers of the same kind, as in prose, has white space around it.
                let opens = *other == named.open;
                let closed = is_name(before) && !(opens && before.trim_ascii() != before);
                return Some(closed.then_some(Ends::Closed(at)));
            }
        }
    }
    if eof {
        let name = is_name(window) && named.open.starts_with(['<', '[']);
        return Some(name.then_some(Ends::Closed(window.len())));
    }
    if window.len() > LONGEST_NAME { Some(None) } else { None }
}

/// Reads the name of a call between its markers. `None` waits for more.
pub(super) fn named_call(
    named: &Named,
    row: &Dialect,
    rest: &[u8],
    tools: &Tools,
    eof: bool,
) -> Option<NamedCall> {
    let (open, mark) = (named.open.len(), named.name_end.as_bytes());
    let window = rest.get(open..).unwrap_or_default();
    let (end, length, closed) = match end_of_header(named, row, window, eof)? {
        None => return Some(NamedCall::Nothing),
        Some(Ends::Marked(end)) => (end, open + end + mark.len(), false),
        Some(Ends::Omitted(end)) => (end, open + end, false),
        Some(Ends::Closed(end)) => (end, open + end, true),
    };
    // A parenthesis directly follows the name of what is called, in which Markdown has backslashes.
    let called = |name: &[u8]| name.iter().all(|byte| is_in_name(byte) || *byte == b'\\');
    if mark == b"(" && !window.get(..end).is_some_and(called) {
        return Some(NamedCall::Nothing);
    }
    let written = String::from_utf8_lossy(window.get(..end).unwrap_or_default()).into_owned();
    let (name, id) = name_and_id(named, written.trim(), tools);
    if named.text_names.iter().any(|text| text == name) {
        return Some(NamedCall::Text(length));
    }
    if name.is_empty() || name.contains(char::is_whitespace) || name.contains(['{', '<', '"']) {
        return Some(NamedCall::Nothing);
    }
    // The name of a tool is complete where the text ends.
    if closed && length == rest.len() && tools.known(name).is_none() {
        return Some(NamedCall::Nothing);
    }
    // What follows is not read as a call of another dialect.
    let follows = rest.get(length..).unwrap_or_default();
    let (_, next) = past_space(follows, eof)?;
    if next.first() == Some(&b'<')
        && !closed
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
    Some(NamedCall::Call(name.to_owned(), id, length, closed))
}

/// The name of the tool in what is written between the markers, and the identifier of the call.
pub(super) fn name_and_id<'t>(
    named: &Named,
    written: &'t str,
    tools: &'t Tools,
) -> (&'t str, Option<String>) {
    if let Some((before, given)) = written.split_once("[CALL_ID]") {
        return (before.trim(), Some(given.trim().to_owned()));
    }
    let (mut name, mut id) = (written, None);
    // A number after a colon counts the calls.
    if let Some((before, number)) = written.rsplit_once(':')
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        (name, id) = (before, Some(written.to_owned()));
    }
    for prefix in &named.prefixes {
        // Clients give identifiers back with other punctuation, or without any, and models write them so.
        if let Some(tool) = tools.numbered(written, prefix) {
            return (tool, Some(written.to_owned()));
        }
        if !tools.contains(name) {
            name = name.strip_prefix(&**prefix).unwrap_or(name);
        }
    }
    (name, id)
}

/// Whether text is the name of a tool, maybe with the identifier of the call, and nothing else.
fn is_name(text: &[u8]) -> bool {
    const ID: &[u8] = b"[CALL_ID]";
    if let Some(at) = text.windows(ID.len()).position(|part| part == ID) {
        let (name, id) = text.split_at(at);
        return is_name(name) && is_name(id.get(ID.len()..).unwrap_or_default());
    }
    let text = text.trim_ascii();
    !text.is_empty() && text.iter().all(is_in_name)
}

pub(super) const fn is_in_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b':' | b'/')
}
