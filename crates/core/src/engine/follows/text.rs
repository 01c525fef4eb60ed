//! Text that may be more of the string.

use super::{Continuation, Site};
use crate::engine::{
    quote::Quote,
    source::{Edge, Look, is_literal, is_word},
};

/// The longest key to look for directly after a quote, in bytes.
const MAX_KEY: usize = 64;

/// Whether `look` is at the rest of a key: text on one line, a closing quote, and a colon or what is
/// written for one. Returns a cursor after that. No if that is not visible.
pub(super) fn key_rest(quote: Quote, look: Look<'_>) -> Result<Option<Look<'_>>, Edge> {
    match read_key_rest(quote, look) {
        Err(Edge::End | Edge::Window) => Ok(None),
        rest => rest,
    }
}

fn read_key_rest(quote: Quote, mut look: Look<'_>) -> Result<Option<Look<'_>>, Edge> {
    let first = look.peek()?;
    if matches!(first, b',' | b'}' | b']' | b':') || first.is_ascii_whitespace() {
        return Ok(None);
    }
    let from = look.passed();
    loop {
        let byte = look.peek()?;
        if byte == b'\n' || byte == b'\\' || look.passed() - from > MAX_KEY {
            return Ok(None);
        }
        if let Some(length) = look.closer(quote)? {
            look.advance(length);
            break;
        }
        look.bump();
    }
    match look.space()? {
        b':' => {}
        // `"b" = 2`, `"b" => 2` and `"b" -> 2`, but not `"b" == c`.
        b'-' if look.peek_at(1)? == b'>' => look.bump(),
        b'=' if look.peek_at(1)? != b'=' => {
            if look.peek_at(1)? == b'>' {
                look.bump();
            }
        }
        _ => return Ok(None),
    }
    look.bump();
    Ok(Some(look))
}

/// The quote that ends a string which has lost only its opening quote and begins at `look`: a quote
/// directly after text on the same line, and after it what may follow a value. A quote after a
/// separator opens.
pub(in crate::engine) fn ends_in_quote(mut look: Look<'_>) -> Result<Option<Quote>, Edge> {
    let (mut before, mut open) = (b' ', 0_usize);
    loop {
        let byte = look.peek()?;
        let quote = look.quote()?.filter(|(quote, _)| *quote != Quote::Escaped);
        if let Some((quote, length)) = quote {
            let opens = before.is_ascii_whitespace() || b",:([{=".contains(&before);
            look.advance(length);
            let mut after = look;
            let ends = !opens && open == 0 && matches!(after.space()?, b',' | b'}' | b']');
            // An apostrophe.
            if ends || quote != Quote::Single || opens {
                return Ok(ends.then_some(quote));
            }
            before = byte;
            continue;
        }
        look.bump();
        match byte {
            b'\n' | b'\r' => return Ok(None),
            b'\\' => {
                look.peek()?;
                look.bump();
            }
            b'{' | b'[' => open += 1,
            b'}' | b']' if open == 0 => return Ok(None),
            b'}' | b']' => open -= 1,
            _ => {}
        }
        before = byte;
    }
}

/// Whether the end of the line follows, or a comma before it.
pub(in crate::engine) fn ends_line(mut look: Look<'_>) -> Result<bool, Edge> {
    if look.wide_blanks()? == b',' {
        look.bump();
    }
    Ok(matches!(look.wide_blanks()?, b'\n' | b'\r'))
}

/// Whether nothing but words and signs comes before the next comma or closer, on the same line, so that
/// they belong to no item. A literal is an item, and so are parentheses around a number or around
/// several values, unless words come before them. `closer` says whether they may come before a closer.
pub(in crate::engine) fn words_before_separator(
    mut look: Look<'_>,
    closer: bool,
) -> Result<bool, Edge> {
    let mut word = look;
    if is_literal(word.word()?) {
        return Ok(false);
    }
    let mut nested = 0_usize;
    loop {
        match look.peek()? {
            b',' => return Ok(nested == 0 && look.passed() > 0),
            b'}' | b']' => return Ok(closer && nested == 0 && look.passed() > 0),
            b'\n' | b'"' | b'\'' | b'`' | b'{' | b'[' | b':' | b'=' => return Ok(false),
            b'(' if look.passed() == 0 && !is_remark(look)? => return Ok(false),
            b'(' => nested += 1,
            b')' => nested = nested.saturating_sub(1),
            _ => {}
        }
        look.bump();
    }
}

/// Whether parentheses are around words, and not around a number, a literal, or values with commas
/// between them.
fn is_remark(mut look: Look<'_>) -> Result<bool, Edge> {
    look.bump();
    let first = look.blanks()?;
    let mut word = look;
    if first == b'-' || first.is_ascii_digit() || is_literal(word.word()?) {
        return Ok(false);
    }
    loop {
        match look.peek()? {
            b')' => return Ok(true),
            b',' | b'(' | b'\n' => return Ok(false),
            _ => look.bump(),
        }
    }
}

/// Whether the sign of a list item in Markdown comes next.
pub(in crate::engine) fn at_bullet(look: Look<'_>) -> Result<bool, Edge> {
    Ok(match look.peek()? {
        b'-' | b'*' | b'+' => look.peek_at(1)? == b' ',
        _ => look.starts_with("• ".as_bytes())?,
    })
}

/// The length of words before an item in quotes or brackets that do not belong to it, as in
/// `also "b", "c"`. A quotation in text is followed by more of it. A word alone on its line is an item,
/// and one before a colon is the key of a member.
pub(in crate::engine) fn words_before_item(mut look: Look<'_>) -> Result<Option<usize>, Edge> {
    let mut before = b'"';
    let named = look.peek()?.is_ascii_alphabetic();
    loop {
        let byte = look.peek()?;
        match byte {
            b'"' | b'{' | b'[' => break,
            // On the next line.
            b'-' | b'0'..=b'9' if named && before.is_ascii_whitespace() && look.is_broken() => {
                if is_one_word(look.seen()) {
                    return Ok(None);
                }
                let length = look.passed();
                while matches!(look.peek()?, b'-' | b'+' | b'.' | b'e' | b'0'..=b'9') {
                    look.bump();
                }
                return Ok(matches!(look.gap()?, b',' | b']').then_some(length));
            }
            b',' | b'}' | b']' | b'\'' | b'`' | b'\\' | b'=' | b'(' => return Ok(None),
            // An address.
            b'/' if before == b':' => return Ok(None),
            _ => {}
        }
        before = byte;
        look.bump();
    }
    let length = look.passed();
    let key = look.seen().trim_ascii_end().ends_with(b":");
    if is_one_word(look.seen()) && (key || look.is_broken()) {
        return Ok(None);
    }
    if length == 0 || !before.is_ascii_whitespace() && before != b'&' {
        return Ok(None);
    }
    if look.peek()? == b'"' {
        look.bump();
        look.through(Quote::Double)?;
        return Ok(matches!(look.gap()?, b',' | b']').then_some(length));
    }
    let object = look.peek()? == b'{';
    look.bump();
    let next = look.gap()?;
    let begins = match next {
        b'}' | b']' => false,
        _ if look.at_quote()? => true,
        _ => !object && (next.is_ascii_digit() || matches!(next, b'-' | b'[' | b'{')),
    };
    Ok(begins.then_some(length))
}

/// Whether there is one word, and not a dash or a bullet.
fn is_one_word(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    // U+2022 and the dashes begin with 0xE2.
    text.first().is_some_and(|first| is_word(*first) && !matches!(first, b'-' | 0xE2))
        && !text.iter().any(u8::is_ascii_whitespace)
}

/// Whether a quote that was read as part of its string seems to be the end of one: a colon and a value
/// follow, or a sign that was meant as a separator, and another string. `look` is after the quote.
/// `before` says that one before it in the same string was neither the beginning nor the end of a
/// quotation, so that this one may end a key.
pub(in crate::engine) fn seems_to_end(look: Look<'_>, before: bool) -> Result<bool, Edge> {
    let read = || {
        let mut look = look;
        if look.gap()? == b':' && before {
            look.bump();
            while matches!(look.gap()?, b'{' | b'[') {
                look.bump();
            }
            let next = look.gap()?;
            return Ok(matches!(next, b'-' | b'0'..=b'9' | b'}' | b']') || look.at_quote()?);
        }
        let from = look.passed();
        while look.passed() - from < 3 && matches!(look.peek()?, b'.' | b';' | b'|' | b'&' | b'\\')
        {
            look.bump();
        }
        let sign = look.passed() > from;
        look.gap()?;
        Ok(sign && look.peek()? == b'"' && is_word(look.peek_at(1)?))
    };
    match read() {
        Err(Edge::End | Edge::Window) => Ok(false),
        ends => ends,
    }
}

/// Whether words without quotes follow: no if that is not visible.
pub(super) fn words_follow(mut look: Look<'_>) -> Result<bool, Edge> {
    match look.words() {
        Err(Edge::End | Edge::Window) => Ok(false),
        words => words,
    }
}

/// Whether a quote directly before `look` begins a quotation, for which another quote must follow.
pub(super) fn begins_quotation(site: Site, mut look: Look<'_>) -> Result<bool, Edge> {
    if !site.opens {
        return Ok(false);
    }
    if let Some(length) = look.closer(site.quote)?
        && is_word(look.peek_at(length)?)
    {
        // `["Note:""b"]`: the second quote begins the next item.
        return Ok(false);
    }
    match look.through(site.quote) {
        Err(Edge::End) => Ok(false),
        passed => passed.map(|()| true),
    }
}

/// Whether a comment follows a quote, and not more of the string. Unless it is a block comment,
/// there must be white space before it. Its line must contain no further quote, or else pairs of
/// them, and the next line must begin with a closer, a comma or a string.
pub(super) fn comment(site: Site, mut look: Look<'_>) -> Result<Continuation, Edge> {
    let found = |found| if found { Continuation::Comment } else { Continuation::Text };
    let touching = look.passed() == 0;
    let mark = match (look.peek()?, look.peek_at(1)) {
        (b'#', _) => 1,
        (_, Ok(b'/')) => 2,
        (_, Ok(b'*')) => return Ok(Continuation::Comment),
        (_, Err(Edge::More)) => return Err(Edge::More),
        _ => return Ok(Continuation::Text),
    };
    if touching {
        return Ok(Continuation::Text);
    }
    look.advance(mark);
    let mut quotes = 0;
    loop {
        match look.peek() {
            Ok(b'\n') if quotes > 0 => break,
            Err(Edge::End) if quotes > 0 => return Ok(Continuation::Text),
            Ok(b'\n') | Err(Edge::End) => return Ok(Continuation::Comment),
            Err(edge) => return Err(edge),
            Ok(_) => {}
        }
        if let Some(length) = look.closer(site.quote)? {
            quotes += 1;
            look.advance(length);
        } else {
            look.bump();
        }
    }
    let next = look.space()?;
    Ok(found(quotes % 2 == 0 && (matches!(next, b'}' | b']' | b',') || look.at_quote()?)))
}

/// Whether a single quote after `bracket`, a bracket of the text, begins its first key or item.
/// `look` is after the quote.
pub(in crate::engine) fn opens_in_text(mut look: Look<'_>, bracket: u8) -> Result<bool, Edge> {
    let word = is_word(look.peek()?);
    look.through(Quote::Single)?;
    let next = look.space()?;
    Ok(if bracket == b'{' { next == b':' } else { word && matches!(next, b',' | b']') })
}

/// Whether a value ends before `look`: a member or an item follows, or a closer and then another
/// separator.
pub(super) fn ends_value(mut look: Look<'_>) -> Result<bool, Edge> {
    match look.space() {
        Err(Edge::End) => Ok(false),
        Ok(b',') => {
            look.bump();
            look.gap()?;
            look.at_quote()
        }
        Ok(b'}' | b']') => {
            look.bump();
            match look.space() {
                Err(Edge::End) => Ok(true),
                next => Ok(matches!(next?, b',' | b'}' | b']')),
            }
        }
        Ok(_) => Ok(false),
        Err(edge) => Err(edge),
    }
}
