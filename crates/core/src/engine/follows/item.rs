//! What follows an item of an array.

use super::{
    Continuation, Site,
    closer::closer,
    text::{begins_quotation, comment, ends_value, key_rest},
};
use crate::engine::source::{Edge, Look, is_literal, is_word};

/// What follows a quote in an item. `look` is at `next`, after white space.
pub(super) fn after_item(site: Site, mut look: Look<'_>, next: u8) -> Result<Continuation, Edge> {
    let touching = look.passed() == 0;
    if touching
        && is_word(next)
        && (item_rest(site, look)? || site.in_object && key_rest(site.quote, look)?.is_some())
    {
        return Ok(Continuation::ItemRest);
    }
    match next {
        b',' => {
            look.bump();
            return after_comma(site, look);
        }
        b']' | b'}' => return closer(site, look, next),
        b'/' | b'#' => return comment(site, look),
        b')' | b'+' | b':' | b';' => {
            // A single punctuation mark in quotes is text.
            look.bump();
            let quoted = match look.peek() {
                Err(Edge::End) => false,
                other => {
                    other?;
                    match look.closer(site.quote)? {
                        // In `"Cold "+"Start"` a piece of the string is in the second quotes.
                        Some(length) if next == b'+' => !is_word(look.peek_at(length)?),
                        found => found.is_some(),
                    }
                }
            };
            return Ok(if quoted && touching {
                Continuation::SignQuote
            } else {
                Continuation::Sign
            });
        }
        _ => {}
    }
    if touching
        && (site.doubles || site.measures)
        && let Some(second) = look.closer(site.quote)?
    {
        let mut after = look;
        after.advance(second);
        if ends_value(after)? {
            let inches = site.measures;
            return Ok(if inches { Continuation::Text } else { Continuation::SecondQuote });
        }
    }
    if touching && begins_quotation(site, look)? {
        return Ok(Continuation::Quotation);
    }
    match next {
        b'{' | b'[' if touching && brackets_text(look)? => Ok(Continuation::Text),
        b'{' | b'[' | b'0'..=b'9' | b'-' | b'<' => Ok(Continuation::Value),
        _ if look.closer(site.quote)?.is_some() => {
            Ok(if touching { Continuation::Quote } else { Continuation::SpacedQuote })
        }
        _ => words(site, look, touching),
    }
}

/// What follows a comma.
fn after_comma(site: Site, look: Look<'_>) -> Result<Continuation, Edge> {
    let mut next = look;
    next.gap()?;
    if next.at_quote()? {
        // `split(",")`: a word would begin an item.
        let directly = match look.closer(site.quote)? {
            Some(length) => !is_word(look.peek_at(length)?),
            None => false,
        };
        return Ok(match directly {
            true => Continuation::CommaQuote,
            false if pairs(look)? => Continuation::ItemPair,
            false => Continuation::Item,
        });
    }
    let mut words = look;
    if !words.words()? {
        return Ok(Continuation::Item);
    }
    if calls(words)? {
        return Ok(Continuation::BareItem);
    }
    // Text that continues to another quote is no item.
    loop {
        if matches!(words.peek()?, b',' | b']' | b'\n') || words.at_wide(b',')? {
            return Ok(Continuation::BareItem);
        }
        if let Some(length) = words.closer(site.quote)? {
            // Either `b"` lost its opening quote, or there are words before an item, or the text goes
            // on.
            let opens = words.seen().last().is_some_and(u8::is_ascii_whitespace)
                && is_word(words.peek_at(length)?);
            words.advance(length);
            if opens {
                words.through(site.quote)?;
                let item = matches!(words.space()?, b',' | b']');
                return Ok(if item { Continuation::HalfItem } else { Continuation::CommaText });
            }
            let half = site.doubles && matches!(words.space()?, b',' | b']');
            return Ok(if half { Continuation::HalfItem } else { Continuation::CommaText });
        }
        words.bump();
    }
}

/// Whether a call around a string is all that is left of the item whose first word was passed, as in
/// `ObjectId("x")` and `new Date("x")`. No if that is not visible.
fn calls(mut look: Look<'_>) -> Result<bool, Edge> {
    let at_call = |look: &mut Look<'_>| {
        if look.seen().ends_with(b"new") && look.blanks()? != b'(' {
            look.word()?;
        }
        Ok(look.peek()? == b'(')
    };
    let mut read = || {
        if !at_call(&mut look)? {
            return Ok(false);
        }
        look.bump();
        look.space()?;
        let Some((quote, length)) = look.quote()? else { return Ok(false) };
        look.advance(length);
        look.through(quote)?;
        if look.space()? != b')' {
            return Ok(false);
        }
        look.bump();
        Ok(match look.space()? {
            b']' => true,
            // Text in quotes goes on in words after the comma.
            b',' => {
                look.bump();
                look.gap()?;
                look.at_quote()? || !look.words()? || at_call(&mut look)?
            }
            _ => false,
        })
    };
    match read() {
        Err(Edge::End | Edge::Window) => Ok(false),
        calls => calls,
    }
}

/// Whether an item in quotes follows, and after that another one or the end of the array. No if that
/// is not visible.
fn pairs(mut look: Look<'_>) -> Result<bool, Edge> {
    let mut read = || {
        look.gap()?;
        let Some((quote, length)) = look.quote()? else { return Ok(false) };
        look.advance(length);
        look.through(quote)?;
        match look.gap()? {
            b']' => Ok(true),
            b',' => {
                look.bump();
                look.gap()?;
                look.at_quote()
            }
            _ => Ok(false),
        }
    };
    match read() {
        Err(Edge::End | Edge::Window) => Ok(false),
        pairs => pairs,
    }
}

/// Whether the rest of an item follows directly: words, a closing quote, and a separator.
fn item_rest(site: Site, mut look: Look<'_>) -> Result<bool, Edge> {
    while is_word(look.peek()?) || look.peek()? == b' ' {
        look.bump();
    }
    if look.closer(site.quote)?.is_none() {
        return Ok(false);
    }
    look.bump();
    match look.space()? {
        b',' => {
            look.bump();
            Ok(!look.words()?)
        }
        after => Ok(after == b']'),
    }
}

/// Whether the bracket directly after the quote belongs to text, as in `f"{name}"`, instead of
/// beginning an item.
fn brackets_text(mut look: Look<'_>) -> Result<bool, Edge> {
    let object = look.peek()? == b'{';
    look.bump();
    let next = look.gap()?;
    Ok(match next {
        b']' | b'}' => false,
        _ if look.at_quote()? => false,
        _ if object => look.word()?.is_empty() || look.blanks()? != b':',
        b'{' | b'[' => false,
        _ => !is_word(next) || look.words()?,
    })
}

/// What follows a quote before a word.
fn words(site: Site, mut look: Look<'_>, touching: bool) -> Result<Continuation, Edge> {
    let broken = look.is_broken();
    if !touching {
        // `["a" null "b"]`
        let mut probe = look;
        if is_literal(probe.word()?)
            && (matches!(probe.space()?, b',' | b']') || probe.at_quote()?)
        {
            return Ok(Continuation::Value);
        }
    }
    loop {
        let byte = match look.peek() {
            Err(Edge::End) => return Ok(Continuation::LastWords),
            other => other?,
        };
        if look.closer(site.quote)?.is_some() {
            return Ok(Continuation::Text);
        }
        match byte {
            b']' => return Ok(Continuation::BareItem),
            b',' if broken => return Ok(Continuation::BareItem),
            b',' => {
                // `"a" b, "c"`: the next quote opens an item if a word follows it.
                look.bump();
                look.space()?;
                let Some(found) = look.closer(site.quote)? else { continue };
                look.advance(found);
                let item = is_word(look.peek()?);
                return Ok(if item { Continuation::BareItem } else { Continuation::Text });
            }
            _ => look.bump(),
        }
    }
}
