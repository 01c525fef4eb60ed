//! What follows the value of a member.

use super::{
    Continuation, Site,
    closer::closer,
    key::{begins_value, reads_damaged_key, reads_odd_key},
    text::{begins_quotation, comment, ends_value, key_rest, words_follow},
};
use crate::engine::{
    quote::Quote,
    source::{Edge, Look, is_literal, is_word},
};

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
        b':' => return Ok(Continuation::Colon),
        b';' => return after_semicolon(look),
        b'.' if look.peek_at(1)? == b',' => {
            look.advance(2);
            return after_comma(site, look, false);
        }
        b'|' | b'.' => {
            return Ok(match after_semicolon(look)? {
                Continuation::SemicolonMember => Continuation::SemicolonMember,
                _ => Continuation::Text,
            });
        }
        b')' if site.in_group => return Ok(Continuation::GroupClose),
        b'+' => {
            let mark = look.seen().ends_with(b"\n");
            look.bump();
            let next = look.gap()?;
            if mark && matches!(next, b'}' | b']') {
                // The mark of a diff.
                return closer(site, look, next);
            }
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
    let next = match look.gap()? {
        // A comment as in SQL, unless it looks like part of a text.
        b'-' if !wide && dashes(&mut look)? => look.gap()?,
        b';' if !wide => {
            look.bump();
            look.gap()?
        }
        b'<' => match look.model_token()? {
            0 => b'<',
            length => {
                look.advance(length);
                look.gap()?
            }
        },
        next => next,
    };
    if matches!(next, b'}' | b']' | b',' | b'{' | b'[' | b'.')
        || look.starts_with("…".as_bytes())?
    {
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
            b'-' if look.peek_at(1)? == b'>' => Continuation::LooseMember,
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
            let arrow = bare.peek()? == b'>';
            if arrow {
                bare.bump();
            }
            bare.blanks()?;
            // On a line of its own it is no function of JavaScript.
            let value = arrow && look.is_broken() || begins_value(bare)?;
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
/// Passes a comment after two dashes up to the end of the line. There is none if a quote is in it.
fn dashes(look: &mut Look<'_>) -> Result<bool, Edge> {
    if look.peek_at(1)? != b'-' || !matches!(look.peek_at(2)?, b' ' | b'\t') {
        return Ok(false);
    }
    let mut line = *look;
    while !line.at_quote()? {
        if line.peek()? == b'\n' {
            *look = line;
            return Ok(true);
        }
        line.bump();
    }
    Ok(false)
}

/// What follows a semicolon, or another sign that may be written for a comma.
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
    let apart = broken || site.spaced;
    Ok(if ended && apart && !touching { Continuation::Piece } else { Continuation::Text })
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
