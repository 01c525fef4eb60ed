//! What follows the value of a member, and what begins another member.

use super::{
    Continuation, Site,
    closer::closer,
    text::{begins_quotation, comment, ends_value, key_rest, words_follow},
};
use crate::engine::{
    quote::Quote,
    source::{Edge, Look, is_literal, is_word},
};

/// The length of the longest odd key to consider, in bytes.
const MAX_ODD_KEY: usize = 48;

/// What follows a quote in the value of a member. `look` is at `next`, after white space.
pub(super) fn after_value(site: Site, mut look: Look<'_>, next: u8) -> Result<Continuation, Edge> {
    let touching = look.passed() == 0;
    if touching
        && is_key_start(next)
        && let Some(value) = key_rest(site.quote, look)?
    {
        let words = words_follow(value)?;
        return Ok(if words { Continuation::KeyRestOfWords } else { Continuation::KeyRest });
    }
    match next {
        b'}' | b']' => return closer(site, look, next),
        b',' => {
            // A comma of another script is text, unless a key with its colon follows.
            let wide = look.peek()? != b',';
            look.bump();
            return after_comma(site, look, wide);
        }
        b':' if site.may_be_key => {
            look.bump();
            look.gap()?;
            let value = begins_value(look)?;
            return Ok(if value { Continuation::ColonValue } else { Continuation::Colon });
        }
        b':' => return Ok(Continuation::Colon),
        b';' => return after_semicolon(look),
        b')' if site.in_group => return Ok(Continuation::GroupClose),
        b'+' => {
            look.bump();
            look.gap()?;
            return Ok(if look.at_quote()? { Continuation::Join } else { Continuation::Text });
        }
        b'/' | b'#' => return comment(site, look),
        b'<' if matches!(look.peek_at(1)?, b'!' | b'|') => return Ok(Continuation::Markup),
        b'`' if look.starts_with(b"```")? => return Ok(Continuation::Markup),
        b'<' | b'`' => return Ok(Continuation::Text),
        _ => {}
    }
    let broken = look.is_broken();
    if let Some(found) = look.closer(site.quote)? {
        look.advance(found);
        if touching && site.doubles && ends_value(look)? {
            return Ok(Continuation::SecondQuote);
        }
        return after_second_quote(site, look, broken, touching);
    }
    if !touching && key_in_other_quotes(look)? {
        return Ok(Continuation::Member);
    }
    if touching && begins_quotation(site, look)? {
        return Ok(Continuation::Quotation);
    }
    words(site, look, broken, touching)
}

/// Whether a key in quotes may begin with this byte, directly after a quote that may as well end a
/// string.
const fn is_key_start(byte: u8) -> bool {
    !matches!(byte, b',' | b'}' | b']' | b':' | b';' | b')' | b'+' | b'<' | b'`')
}

/// What follows a comma. `wide` says that it is one of another script.
fn after_comma(site: Site, mut look: Look<'_>, wide: bool) -> Result<Continuation, Edge> {
    let next = look.gap()?;
    if matches!(next, b'}' | b']' | b',' | b'{' | b'[' | b'.') {
        return Ok(Continuation::CommaEnd);
    }
    if look.at_prefix()? {
        look.bump();
    }
    if let Some((quote, length)) = look.quote()? {
        look.advance(length);
        if !wide && reads_damaged_key(look, quote)? {
            return Ok(Continuation::DamagedMember);
        }
        let named = is_word(look.peek()?);
        look.through(quote)?;
        return Ok(match look.space()? {
            b':' => {
                look.bump();
                let words = words_follow(look)?;
                if words { Continuation::MemberOfWords } else { Continuation::Member }
            }
            b'=' | b'{' | b'[' | b'0'..=b'9' => Continuation::LooseMember,
            // `"b"; 1`
            b';' if !wide && named => {
                look.bump();
                look.gap()?;
                match begins_value(look)? {
                    true => Continuation::LooseMember,
                    false => Continuation::CommaText,
                }
            }
            b',' | b'}' if !wide && named => Continuation::PairedString,
            _ if look.at_quote()? || is_literal(look.word()?) => Continuation::LooseMember,
            _ => Continuation::CommaText,
        });
    }
    let mut bare = look;
    if is_word(next) {
        let _ = bare.word()?;
        let touching = bare.peek()?;
        if bare.closer(site.quote)?.is_some() {
            // `b": 1`: the key's opening quote was lost.
            bare.bump();
            let touching = bare;
            if bare.space()? == b':' {
                return Ok(Continuation::BareMember);
            }
            // `undefined"b": 1`: a word too many before a key.
            let key = !wide && key_rest(site.quote, touching)?.is_some();
            return Ok(if key { Continuation::DamagedMember } else { Continuation::CommaText });
        }
        let sign = bare.blanks()?;
        if touching == b':' || sign == b':' {
            return Ok(Continuation::BareMember);
        }
        if sign == b'=' && !wide {
            // `b = "y"` and `b => 1`, but not `b == "y"`.
            bare.bump();
            if bare.peek()? == b'>' {
                bare.bump();
            }
            bare.blanks()?;
            let value = begins_value(bare)?;
            return Ok(if value { Continuation::DamagedMember } else { Continuation::CommaText });
        }
        // `b "y"` on a line of its own: a key without its colon.
        if !wide && look.is_broken() && touching != sign && bare.closer(site.quote)?.is_some() {
            return Ok(Continuation::DamagedMember);
        }
    }
    let odd = !wide && reads_odd_key(look)?;
    Ok(if odd { Continuation::DamagedMember } else { Continuation::CommaText })
}

/// What follows a semicolon, which `look` is at. It may be in place of a comma.
fn after_semicolon(mut look: Look<'_>) -> Result<Continuation, Edge> {
    look.bump();
    let touching = match look.peek() {
        Err(Edge::More) => return Err(Edge::More),
        Ok(_) => look.at_quote()?,
        Err(_) => return Ok(Continuation::Semicolon),
    };
    let otherwise = if touching { Continuation::Text } else { Continuation::Semicolon };
    match look.gap() {
        Err(Edge::End) => return Ok(otherwise),
        other => other?,
    };
    let Some((quote, length)) = look.quote()? else { return Ok(otherwise) };
    look.advance(length);
    let key = key_rest(quote, look)?.is_some();
    Ok(if key { Continuation::SemicolonMember } else { otherwise })
}

/// What follows a quote and then another one, which `look` has passed, without a comma: a member
/// without its comma, a string in two pieces, or a quoted word.
fn after_second_quote(
    site: Site,
    mut look: Look<'_>,
    broken: bool,
    touching: bool,
) -> Result<Continuation, Edge> {
    look.through(site.quote)?;
    let after = look.space()?;
    if after == b':' {
        return Ok(Continuation::Member);
    }
    if after == b'=' && look.peek_at(1)? != b'=' {
        return Ok(Continuation::LooseMember);
    }
    let ended = matches!(after, b',' | b'}' | b']' | b'+') || look.closer(site.quote)?.is_some();
    Ok(if ended && broken && !touching { Continuation::Piece } else { Continuation::Text })
}

/// Whether a key with its colon follows in quotes of another kind, as in `"x" 'b': 1`. No if it is
/// not visible.
fn key_in_other_quotes(mut look: Look<'_>) -> Result<bool, Edge> {
    let Some((other @ (Quote::Single | Quote::Double), length)) = look.quote()? else {
        return Ok(false);
    };
    look.advance(length);
    match look.through(other).and_then(|()| look.space()) {
        Err(Edge::More) => Err(Edge::More),
        found => Ok(found == Ok(b':')),
    }
}

/// What follows a quote before a word.
fn words(
    site: Site,
    mut look: Look<'_>,
    broken: bool,
    touching: bool,
) -> Result<Continuation, Edge> {
    // A quote directly before a word opens it: `"fix: typo"` in a string is not a member.
    let mut key = look;
    let word = key.word()?;
    if !touching && !word.is_empty() && (broken || key.peek()? == b':') && key.blanks()? == b':' {
        return Ok(Continuation::BareMember);
    }
    // The next quote decides: if it opens a key, this one ends the string.
    let mut separated = false;
    loop {
        let byte = match look.peek() {
            // No further quote: this is the last one, unless code follows.
            Err(Edge::End) if only_words(&look) => return Ok(Continuation::LastWords),
            Err(Edge::End) => return Ok(Continuation::Text),
            other => other?,
        };
        if let Some(found) = look.closer(site.quote)? {
            look.advance(found);
            let member = separated && key_rest(site.quote, look)?.is_some();
            return Ok(if member { Continuation::WordsThenMember } else { Continuation::Text });
        }
        match byte {
            b',' | b'{' | b'[' => separated = true,
            b' ' | b'\n' | b'\r' | b'\t' => {}
            _ => separated = false,
        }
        look.bump();
        if byte == b'\\' {
            look.peek()?;
            look.bump();
        }
    }
}

/// Whether the text that was passed is words, followed by nothing but closers.
fn only_words(look: &Look<'_>) -> bool {
    let text = look.seen().trim_ascii();
    let closers = text.iter().rev().take_while(|b| matches!(b, b'}' | b']' | b' ' | b'\n')).count();
    text[..text.len() - closers].iter().all(|b| is_word(*b) || b.is_ascii_whitespace())
}

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
        if matches!(look.space()?, b':' | b'=') {
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
    let colon = look.blanks()? == b':' || look.at_wide(b':')?;
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
fn reads_odd_key(mut look: Look<'_>) -> Result<bool, Edge> {
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
fn begins_value(mut look: Look<'_>) -> Result<bool, Edge> {
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

/// Passes a colon on this line, or what is written for one: `::`, `=` or `=>`, but not `==`. Returns
/// whether there was one.
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
        _ => return Ok(false),
    }
    Ok(true)
}

/// Whether a key follows whose closing quote is missing or of another kind, or whose quotes are
/// doubled: `content: "y"`, `content': "y"`, `"content"": "y"` and
/// `"content": "y"`. `look` is after its first quote.
fn reads_damaged_key(mut look: Look<'_>, quote: Quote) -> Result<bool, Edge> {
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
