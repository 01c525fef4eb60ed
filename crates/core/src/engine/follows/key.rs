//! What begins like a member: a key, whole or damaged, and what is written for a colon.

use super::text::key_rest;
use crate::engine::{
    quote::Quote,
    source::{Edge, Look, is_literal, is_word},
};

/// The length of the longest odd key to consider, in bytes.
const MAX_ODD_KEY: usize = 48;

/// What begins like a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Start {
    /// A string or a word, and a colon or a sign in place of it.
    Member,
    /// A string, and on the same line a value that is not a string.
    WithoutColon,
    /// Two strings on a line.
    Strings,
    /// Something else.
    Other,
}

/// What begins at `look`: a string or a word that may be a key.
pub(in crate::engine) fn member(mut look: Look<'_>) -> Result<Start, Edge> {
    if let Some((quote, length)) = look.quote()? {
        look.advance(length);
        look.through(quote)?;
        let mut line = look;
        // A second key without a colon is still a key if a value directly follows it.
        let sign = look.space()?;
        if matches!(sign, b':' | b'=') || sign == b'-' && look.peek_at(1)? == b'>' {
            return Ok(Start::Member);
        }
        return Ok(match line.blanks()? {
            b'0'..=b'9' | b'-' | b'{' | b'[' => Start::WithoutColon,
            _ if line.at_quote()? => Start::Strings,
            _ => Start::Other,
        });
    }
    if !is_word(look.peek()?) {
        return Ok(Start::Other);
    }
    look.word()?;
    if look.peek()? == b'"' {
        look.bump();
    }
    let sign = look.blanks()?;
    let arrow = sign == b'=' && look.peek_at(1)? == b'>';
    let colon = sign == b':' || arrow || look.at_wide(b':')?;
    Ok(if colon { Start::Member } else { Start::Other })
}

/// Whether a member begins at `look`: a string or a word, and a colon.
pub(in crate::engine) fn begins_member(look: Look<'_>) -> Result<bool, Edge> {
    Ok(member(look)? == Start::Member)
}

/// Passes a string or a word. Returns whether a colon follows.
pub(in crate::engine) fn passes_key(look: &mut Look<'_>) -> Result<bool, Edge> {
    let Some((quote, length)) = look.quote()? else {
        look.word()?;
        return Ok(look.blanks()? == b':');
    };
    look.advance(length);
    look.through(quote)?;
    Ok(look.space()? == b':')
}

/// Whether a key of several words or with unusual characters follows, with a colon and a value, or
/// words and then a key in quotes.
pub(super) fn reads_odd_key(mut look: Look<'_>) -> Result<bool, Edge> {
    let from = look.passed();
    let mut before = look.peek()?;
    if before.is_ascii_digit() {
        return Ok(false);
    }
    while look.passed() - from < MAX_ODD_KEY {
        let byte = look.peek()?;
        look.bump();
        match byte {
            b':' => {
                look.blanks()?;
                return begins_value(look);
            }
            b'"' => {
                let apart = before.is_ascii_whitespace() || is_word(before);
                return Ok(apart && key_rest(Quote::Double, look)?.is_some());
            }
            b',' | b';' | b'=' | b'{' | b'}' | b'[' | b']' | b'\\' => break,
            _ => before = byte,
        }
    }
    Ok(false)
}

/// Whether a value other than words begins at `look`.
pub(super) fn begins_value(mut look: Look<'_>) -> Result<bool, Edge> {
    let first = look.peek()?;
    Ok(matches!(first, b'0'..=b'9' | b'-' | b'{' | b'[')
        || look.at_quote()?
        || is_literal(look.word()?))
}

/// Whether a number, a literal or a container begins at `look` that looks like one in JSON, and not
/// like text.
fn reads_plain_value(mut look: Look<'_>) -> Result<bool, Edge> {
    let first = look.peek()?;
    if matches!(first, b'{' | b'[') {
        look.bump();
        return Ok(matches!(look.gap()?, b'{' | b'[' | b'}' | b']' | b'"' | b'0'..=b'9' | b'-'));
    }
    if matches!(first, b'0'..=b'9' | b'-') {
        look.bump();
        while matches!(look.peek()?, b'0'..=b'9' | b'.') {
            look.bump();
        }
    } else if !is_literal(look.word()?) {
        return Ok(false);
    }
    Ok(match look.peek()? {
        b',' | b'}' | b'\n' | b'\r' => true,
        b' ' => matches!(look.blanks()?, b'}' | b'\n' | b'\r'),
        _ => false,
    })
}

/// Passes a colon on this line, or what is written for one: `::`, `=`, `=>` or `->`, but not
/// `==`. Returns whether there was one.
fn passes_colon(look: &mut Look<'_>) -> Result<bool, Edge> {
    match look.wide_blanks()? {
        b':' => {
            while look.peek()? == b':' {
                look.bump();
            }
        }
        b'=' if look.peek_at(1)? != b'=' => {
            look.bump();
            if look.peek()? == b'>' {
                look.bump();
            }
        }
        b'-' if look.peek_at(1)? == b'>' => look.advance(2),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Whether a key follows whose closing quote is missing or of another kind, or whose quotes are
/// doubled: `content: "y"`, `content': "y"`, `"content"": "y"` and
/// `"content": "y"`. `look` is after its first quote.
pub(super) fn reads_damaged_key(mut look: Look<'_>, quote: Quote) -> Result<bool, Edge> {
    look.peek()?;
    let doubled = look.closer(quote)?;
    look.advance(doubled.unwrap_or(0));
    let from = look.passed();
    while is_word(look.peek()?) && !look.at_quote()? {
        look.bump();
    }
    if look.passed() == from {
        return Ok(false);
    }
    if doubled.is_some() {
        let Some(first) = look.closer(quote)? else { return Ok(false) };
        look.advance(first);
        look.peek()?;
        look.advance(look.closer(quote)?.unwrap_or(0));
        return Ok(look.blanks()? == b':');
    }
    if look.closer(quote)?.is_some() {
        // The usual key.
        return Ok(false);
    }
    if let Some((_, length)) = look.quote()? {
        look.advance(length);
    }
    if !passes_colon(&mut look)? {
        return Ok(false);
    }
    look.wide_blanks()?;
    if look.at_prefix()? {
        look.bump();
    }
    // The quote after the colon opens a value.
    let Some(length) = look.closer(quote)? else { return reads_plain_value(look) };
    look.advance(length);
    let next = look.peek()?;
    Ok(!next.is_ascii_whitespace() && !matches!(next, b',' | b':' | b'}' | b']'))
}
