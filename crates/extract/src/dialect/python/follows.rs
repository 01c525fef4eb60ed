//! What follows a call on its line, and makes it a part of something else.

use super::open;
use crate::dialect::json::{SPACE, window};

/// Words that may come after a call on its line, and join another one to it.
const JOINING: [&[u8]; 4] = [b"and", b"or", b"then", b"plus"];

/// Whether what looks like a call is a part of something else: the head of a definition, if a block of code
/// or an arrow follows, or the beginning of a sentence about it, if that does not begin with the call of another tool.
/// `None` waits for more.
pub(super) fn is_part(rest: &[u8], eof: bool, knows: impl Fn(&str) -> bool) -> Option<bool> {
    let (rest, eof) = window(rest, SPACE, eof);
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let after = rest.get(blanks..).unwrap_or_default();
    match after.first() {
        None if eof => Some(false),
        None => None,
        Some(b'{') => block_follows(rest, eof),
        // What it returns.
        Some(b'-') => match after.get(1) {
            None if !eof => None,
            next => Some(next == Some(&b'>')),
        },
        Some(byte) if byte.is_ascii_alphabetic() && blanks > 0 => {
            let word = after.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            let joins = JOINING.iter().any(|joining| after.get(..word) == Some(joining));
            if word == after.len() && !eof {
                return None;
            }
            Some(!joins && !open(after, eof)?.is_some_and(|opening| knows(&opening.name)))
        }
        Some(_) => Some(false),
    }
}

/// Whether a block of code follows what looks like a call, so that it is the head of a definition. `None`
/// waits for more.
fn block_follows(rest: &[u8], eof: bool) -> Option<bool> {
    let rest = rest.get(..SPACE).unwrap_or(rest);
    let none = if eof || rest.len() == SPACE { Some(false) } else { None };
    let mut after = rest.iter().skip_while(|byte| matches!(byte, b' ' | b'\t'));
    match after.next() {
        None => return none,
        Some(b'{') => {}
        Some(_) => return Some(false),
    }
    match after.find(|byte| !byte.is_ascii_whitespace()) {
        None if eof => Some(true),
        None => none,
        // An object.
        Some(b'"' | b'\'') => Some(false),
        Some(_) => Some(true),
    }
}
