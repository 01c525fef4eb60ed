//! What follows a call on its line, and makes it a part of something else.

use super::open;
use crate::dialect::json::{SPACE, window};

/// Words that may come after a call on its line, and join another one to it.
const JOINING: [&[u8]; 3] = [b"and", b"then", b"plus"];
/// How many closing marks of inline code and emphasis are looked past.
const MARKS: usize = 6;

/// Whether what looks like a call is a part of something else: the head of a definition, or what is said about
/// it on its line, unless that begins with the call of another tool. `None` waits for more.
pub(in crate::dialect) fn is_part(
    rest: &[u8],
    eof: bool,
    knows: impl Fn(&str) -> bool,
) -> Option<bool> {
    let (rest, eof) = window(rest, SPACE, eof);
    let (marks, after) = past(rest, |byte| matches!(byte, b'`' | b'*'));
    if marks > MARKS {
        return Some(false);
    }
    let (blanks, after) = past(after, is_blank);
    let apart = blanks > 0 || marks > 0;
    let none = if eof { Some(false) } else { None };
    let Some((&first, next)) = after.split_first() else { return none };
    match first {
        b'{' if marks == 0 => block_follows(rest, eof),
        // What comes of it, or what it does.
        b'-' if next.is_empty() => none,
        b'-' => Some(next.starts_with(b">") || apart && next.starts_with(b" ")),
        b'=' if next.is_empty() => none,
        b'=' => Some(next.starts_with(b">")),
        // Dashes, and arrows to the right.
        0xe2 if next.len() < 2 => none,
        0xe2 => Some(matches!(next, [0x80, 0x93 | 0x94, ..] | [0x86 | 0x87, 0x92, ..])),
        b'(' if apart => match next.first() {
            None => none,
            Some(next) => Some(next.is_ascii_alphabetic()),
        },
        b'?' => Some(true),
        b':' | b'.' | b',' => {
            let (blanks, next) = past(next, is_blank);
            match next.first() {
                None => none,
                Some(b'\n' | b'\r') => Some(false),
                _ if blanks == 0 => Some(false),
                Some(_) if first == b':' => Some(true),
                Some(byte) if byte.is_ascii_alphabetic() => is_said(next, eof, knows),
                Some(_) => Some(false),
            }
        }
        byte if byte.is_ascii_alphabetic() && apart => is_said(after, eof, knows),
        _ => Some(false),
    }
}

/// Whether words begin a sentence, and neither another call nor what joins one. `None` waits for more.
fn is_said(words: &[u8], eof: bool, knows: impl Fn(&str) -> bool) -> Option<bool> {
    let word = words.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    if word == words.len() && !eof {
        return None;
    }
    let joins = JOINING.iter().any(|joining| words.get(..word) == Some(joining));
    Some(!joins && !open(words, eof)?.is_some_and(|opening| knows(&opening.name)))
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// How many such bytes there are at the start of `rest`, and what follows them.
fn past(rest: &[u8], is: impl Fn(u8) -> bool) -> (usize, &[u8]) {
    let count = rest.iter().take_while(|byte| is(**byte)).count();
    (count, rest.get(count..).unwrap_or_default())
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
