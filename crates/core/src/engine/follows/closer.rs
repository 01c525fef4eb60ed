//! What follows a closer.

use super::{
    Continuation, QuotePlace, Site,
    key::passes_key,
    text::{key_rest, words_before_separator},
};
use crate::engine::{
    frames::Shape,
    source::{Edge, Look, is_word},
};

/// How well what follows a closer fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Fit {
    /// As the container around it continues.
    Fits,
    /// A separator, a bracket or the like, which something may have been lost before.
    Possible,
    /// Text.
    Unfit,
}

/// What follows a closer, inside a container of the shape `outer`, or where the document has ended.
/// `look` is after the closer.
pub(in crate::engine) fn after_closer(
    outer: Option<Shape>,
    mut look: Look<'_>,
) -> Result<Fit, Edge> {
    let next = match look.gap() {
        Err(Edge::End) => return Ok(Fit::Fits),
        other => other?,
    };
    let otherwise = if is_possible(next) { Fit::Possible } else { Fit::Unfit };
    let fits = match outer {
        None => !matches!(next, b',' | b':') && !look.at_quote()?,
        Some(Shape::Call | Shape::Doubled) => true,
        // Another sign may be written for a comma.
        Some(Shape::Object) if matches!(next, b',' | b';' | b'|' | b'.') => {
            look.bump();
            look.gap()?;
            passes_key(&mut look)?
        }
        Some(Shape::Object) => next == b'}',
        Some(Shape::Array | Shape::Tuple) if matches!(next, b',' | b';') => {
            look.bump();
            let item = look.gap()?;
            // `, "key":` belongs to an object.
            if look.at_quote()? { !passes_key(&mut look)? } else { item != b'}' }
        }
        Some(Shape::Array | Shape::Tuple) => next == b']',
    };
    Ok(if fits { Fit::Fits } else { otherwise })
}

/// What follows a quote before a closer. `look` is at the closer.
pub(super) fn closer(site: Site, mut look: Look<'_>, closer: u8) -> Result<Continuation, Edge> {
    let member = site.place == QuotePlace::Member;
    let own = closer == if member { b'}' } else { b']' };
    if own && site.settles {
        return Ok(Continuation::CloseLast);
    }
    look.bump();
    if !member && is_at_closer(site, look)? {
        return Ok(Continuation::CloseQuote);
    }
    let fits = if !own {
        // Without an object to close, the brace can only be mistyped.
        closer == b'}' && !site.in_object
            || match look.space()? {
                b';' => {
                    look.bump();
                    look.gap()?;
                    look.at_quote()? && passes_key(&mut look)?
                }
                next => matches!(next, b',' | b'}' | b']'),
            }
    } else if site.outer.is_none() {
        return if member { last_brace(site, look) } else { Ok(Continuation::CloseFits) };
    } else {
        let touching = look.at_quote()?;
        let next = look.space()?;
        match look.quote()? {
            Some((quote, length)) => {
                // `"}" b` is code, but a comma before a key may be missing.
                look.advance(length);
                !touching || key_rest(quote, look)?.is_some()
            }
            None => is_possible(next) || !touching && words_before_member(site.outer, look)?,
        }
    };
    Ok(if fits { Continuation::CloseFits } else { Continuation::CloseUnfit })
}

/// Whether words come before the separator that follows a closer, and after it what may: `] oops, "b": 1`.
fn words_before_member(outer: Option<Shape>, mut look: Look<'_>) -> Result<bool, Edge> {
    if look.passed() < 2 || !words_before_separator(look, true)? {
        return Ok(false);
    }
    while !matches!(look.peek()?, b',' | b'}' | b']') {
        look.bump();
    }
    Ok(after_closer(outer, look)? == Fit::Fits)
}

/// What follows a quote before the brace that would close the document. `look` is after the brace.
/// Prose may follow, and also more of the string.
fn last_brace(site: Site, mut look: Look<'_>) -> Result<Continuation, Edge> {
    let touching = match look.peek() {
        Err(Edge::End) => return Ok(Continuation::CloseFits),
        other => other?,
    };
    let code = look.at_quote()?;
    let own = look.closer(site.quote)?.is_some();
    if code && own && site.opens {
        return Ok(Continuation::CloseQuote);
    }
    let fits = match touching {
        _ if own => Continuation::CloseQuote,
        b')' | b';' | b'.' => Continuation::CloseCode,
        _ => Continuation::CloseFits,
    };
    let after = match look.space() {
        Err(Edge::End) => return Ok(fits),
        other => other?,
    };
    if !(code || is_word(after) || after == b'.') || look.is_broken() {
        return Ok(fits);
    }
    if code {
        look.bump();
    }
    // Look for more text on this line, and then a quote and the end.
    loop {
        match look.peek() {
            Ok(b'\n') | Err(Edge::End) => return Ok(fits),
            other => other?,
        };
        if let Some(found) = look.closer(site.quote)? {
            let mut probe = look;
            probe.advance(found);
            match probe.space() {
                Ok(b'}') => return Ok(Continuation::CloseText),
                Err(Edge::More) => return Err(Edge::More),
                _ => {}
            }
        }
        look.bump();
    }
}

/// Whether a quote of the string's kind follows directly. At the end of the input, none does.
fn is_at_closer(site: Site, look: Look<'_>) -> Result<bool, Edge> {
    match look.peek() {
        Err(Edge::End) => Ok(false),
        Err(edge) => Err(edge),
        Ok(_) => Ok(look.closer(site.quote)?.is_some()),
    }
}

/// Whether something that may follow a closer begins with this byte.
const fn is_possible(next: u8) -> bool {
    matches!(next, b',' | b'}' | b']' | b')' | b'/' | b'#' | b';' | b'`' | b'{' | b'[' | b'<')
}
