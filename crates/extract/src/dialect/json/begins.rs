//! What JSON begins with, where a call may be in it.

use super::window;
use crate::dialect::envelope::{LONGEST_NAME, is_key_of_call};

/// The length of what opens a code fence of JSON, or inline code, at the start of `rest`. Zero if there is none; `None` if more
/// is needed to say.
pub(super) fn fence(rest: &[u8], eof: bool) -> Option<usize> {
    const OPENERS: [&str; 7] =
        ["```json\n", "```JSON\n", "```json\r\n", "```JSON\r\n", "```json ", "```\n", "```\r\n"];
    for open in OPENERS {
        if rest.starts_with(open.as_bytes()) {
            return Some(open.len());
        }
        if open.as_bytes().starts_with(rest) && !eof {
            return None;
        }
    }
    Some(usize::from(rest.starts_with(b"`{") || rest.starts_with(b"`[")))
}

/// Whether JSON at the start of `rest` may be a call. `None` if more is needed to say.
pub(in crate::dialect) fn may_be_call(
    rest: &[u8],
    eof: bool,
    is_key: Option<&dyn Fn(&str) -> bool>,
) -> Option<bool> {
    // What is decided must not depend on how much has arrived beyond the window.
    let (rest, eof) = window(rest, 2 * LONGEST_NAME, eof);
    let mut scan = rest.iter().enumerate().filter(|(_, byte)| !byte.is_ascii_whitespace());
    let none = || if eof { Some(false) } else { None };
    let Some((_, first)) = scan.next() else { return none() };
    let object = match first {
        b'{' => true,
        b'[' => match scan.next() {
            None => return none(),
            Some((_, b'{')) => true,
            Some((at, b'[' | b'(')) => {
                let inside = rest.get(at + 1..).unwrap_or_default();
                return is_key.map_or(Some(false), |is_tool| may_be_pair(inside, eof, is_tool));
            }
            Some((at, b'"' | b'\'')) => {
                let inside = rest.get(at..).unwrap_or_default();
                return is_key.map_or(Some(false), |is_tool| may_be_pair(inside, eof, is_tool));
            }
            Some(_) => return Some(false),
        },
        _ => return Some(false),
    };
    let Some(is_key) = is_key else { return Some(object) };
    let Some((at, quote)) = scan.next() else { return none() };
    let text = match quote {
        b'"' | b'\'' => rest.get(at + 1..).unwrap_or_default(),
        _ if quote.is_ascii_alphabetic() => rest.get(at..).unwrap_or_default(),
        _ => return Some(false),
    };
    let in_key = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let length = text.iter().take_while(in_key).count();
    let Some(next) = text.get(length) else { return none() };
    if *next == b'(' {
        return Some(false);
    }
    let key = std::str::from_utf8(text.get(..length).unwrap_or_default()).unwrap_or_default();
    Some(is_key_of_call(key) || is_key(key))
}

/// Whether the items of a list are the name of a tool and an object. `None` if more is needed to say.
fn may_be_pair(rest: &[u8], eof: bool, is_tool: &dyn Fn(&str) -> bool) -> Option<bool> {
    let none = || if eof { Some(false) } else { None };
    let text = rest.trim_ascii_start();
    let Some((quote, after)) = text.split_first() else { return none() };
    if !matches!(quote, b'"' | b'\'') {
        return Some(false);
    }
    let in_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let length = after.iter().take_while(in_name).count();
    let (name, after) = after.split_at(length);
    let mut next = after.iter().filter(|byte| !byte.is_ascii_whitespace());
    for expected in [*quote, b',', b'{'] {
        match next.next() {
            None => return none(),
            Some(byte) if *byte != expected => return Some(false),
            Some(_) => {}
        }
    }
    Some(is_tool(std::str::from_utf8(name).unwrap_or_default()))
}
