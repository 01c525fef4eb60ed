//! What follows a place where a string may have ended.
//!
//! Everything here is pure: it looks at bytes, and knows nothing of the engine. An `Ok` answer
//! stays true whatever arrives later. [`verdict`](crate::verdict) says what an answer means.

mod closer;
mod item;
mod key;
mod member;
mod text;

pub(super) use closer::{Fit, after_closer};
pub(super) use key::{Start, begins_member, member, passes_key};
pub(super) use text::{
    at_bullet, ends_in_quote, ends_line, opens_in_text, seems_to_end, words_before_item,
    words_before_separator,
};

use super::{
    frames::Shape,
    quote::Quote,
    source::{Edge, Look, is_literal},
};
pub(super) use crate::verdict::{Continuation, QuotePlace};

/// Where a string may have ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub(super) place: QuotePlace,
    /// What delimits the string.
    pub(super) quote: Quote,
    /// The container around the innermost one.
    pub(super) outer: Option<Shape>,
    /// Whether an object is open.
    pub(super) in_object: bool,
    /// Whether a tuple or a call is open.
    pub(super) in_group: bool,
    /// Whether the closer of the document settles that the string has ended.
    pub(super) settles: bool,
    /// Whether a quote that touches what follows may begin a quotation.
    pub(super) opens: bool,
    /// Whether the string ends with a word and a blank, so that more of it may be in another pair of quotes.
    pub(super) spaced: bool,
    /// Whether a second quote directly after the first may be one too many.
    pub(super) doubles: bool,
    /// Whether the quote may be the sign of inches, because it is directly after a digit.
    pub(super) measures: bool,
}

/// What follows. `look` is at the byte after the quote.
pub(super) fn continuation(site: Site, look: Look<'_>) -> Result<Continuation, Edge> {
    let mut look = look;
    let next = match look.space() {
        Ok(next) => next,
        Err(Edge::More) => return Err(Edge::More),
        Err(Edge::End | Edge::Window) => return Ok(Continuation::End),
    };
    let seen = match site.place {
        QuotePlace::Key => after_key(site, look, next),
        QuotePlace::Member => member::after_value(site, look, next),
        QuotePlace::Item => item::after_item(site, look, next),
        QuotePlace::Document => after_document(site, look, next),
    };
    match seen {
        Err(Edge::End | Edge::Window) if matches!(next, b',' | b'}' | b']' | b':') => {
            Ok(Continuation::UnclearSign)
        }
        Err(Edge::End | Edge::Window) => Ok(Continuation::UnclearText),
        seen => seen,
    }
}

/// What follows a quote in a key.
fn after_key(site: Site, mut look: Look<'_>, next: u8) -> Result<Continuation, Edge> {
    let touching = look.passed() == 0;
    match next {
        b':' => return Ok(Continuation::Colon),
        b',' | b'}' | b'=' | b'{' | b'[' => return Ok(Continuation::Sign),
        _ => {}
    }
    if look.at_quote()? {
        // In `{"a"": 1}` the second quote is one too many.
        let Some(second) = look.closer(site.quote)? else { return Ok(Continuation::Value) };
        look.advance(second);
        let both = touching && look.space()? == b':';
        return Ok(if both { Continuation::SecondQuote } else { Continuation::SpacedQuote });
    }
    if touching && text::key_rest(site.quote, look)?.is_some() {
        return Ok(Continuation::KeyRest);
    }
    let mut probe = look;
    if next.is_ascii_digit() || next == b'-' || is_literal(probe.word()?) {
        return Ok(Continuation::Value);
    }
    // Before a word, this is an inner quote if the key's real end, with its colon, is on this line.
    loop {
        match look.peek() {
            Ok(b'\n' | b',' | b'{' | b'}' | b'[' | b']') | Err(Edge::End) => {
                return Ok(Continuation::LastWords);
            }
            other => other?,
        };
        let Some(length) = look.closer(site.quote)? else {
            look.bump();
            continue;
        };
        look.advance(length);
        match look.space() {
            Ok(b':') => return Ok(Continuation::Text),
            Err(Edge::End) => return Ok(Continuation::LastWords),
            other => other?,
        };
    }
}

/// What follows a quote in a string that is the whole document, or the argument of a call.
fn after_document(site: Site, mut look: Look<'_>, next: u8) -> Result<Continuation, Edge> {
    if next == b')' && site.in_group {
        return Ok(Continuation::GroupClose);
    }
    let separates = matches!(next, b'+' | b',' | b':' | b';' | b'/' | b'#' | b'{' | b'[' | b'`');
    if separates || look.is_broken() || look.closer(site.quote)?.is_some() {
        return Ok(Continuation::Sign);
    }
    loop {
        match look.peek() {
            Ok(b'\n') | Err(Edge::End | Edge::Window) => return Ok(Continuation::LastWords),
            Err(Edge::More) => return Err(Edge::More),
            Ok(_) => {}
        }
        if look.closer(site.quote)?.is_some() {
            return Ok(Continuation::Text);
        }
        look.bump();
    }
}
