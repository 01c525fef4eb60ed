//! Decides whether a bracket in text begins a document.
//!
//! The decision is based on the bracket, on what precedes it on its line, and on at most a window
//! of bytes after it. If there is doubt, it is text.

use super::look::{Look, Verdict, is_word};
use crate::{Guide, Member};

/// How strongly the surroundings suggest that a bracket is JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ground {
    /// In the middle of a sentence.
    Inline,
    /// At the start of a line, or after something that introduces a value: `=`, `:`, a bullet,
    /// inline code.
    Line,
    /// At the start of a line, after a line that ended in a colon.
    Led,
    /// The first byte of a channel that should be JSON.
    Start,
    /// The first byte of a code fence labelled as JSON.
    Sure,
}

/// The text before the bracket.
#[derive(Clone, Copy, Debug)]
pub(super) struct BeforeBracket {
    pub(super) ground: Ground,
    /// The byte directly before the bracket.
    pub(super) prev: u8,
    /// Whether there is only white space before it on its line.
    pub(super) line_start: bool,
    /// Whether JSON is expected here.
    pub(super) json: bool,
    /// Whether it is next to a document.
    pub(super) joined: bool,
}

impl BeforeBracket {
    /// Whether it belongs to a template or macro: `${x}`, `\frac{a}`, `#{x}`, `%{x}`, `@{x}`.
    const fn is_templated(self) -> bool {
        matches!(self.prev, b'$' | b'\\' | b'#' | b'%' | b'@')
    }
}

/// Whether `bytes` begin an object with a name that the guide declares, as in `{name:`. That begins
/// a document wherever it is. `None` waits for more.
pub(super) fn begins_known(
    bytes: &[u8],
    place: BeforeBracket,
    guide: &dyn Guide,
    window: usize,
    eof: bool,
) -> Option<bool> {
    if place.is_templated() {
        return Some(false);
    }
    let mut look = Look::new(bytes, window, eof);
    let verdict = known_key(&mut look, place, guide);
    look.settle(verdict)
}

fn known_key(look: &mut Look<'_>, place: BeforeBracket, guide: &dyn Guide) -> Verdict {
    if look.peek(false)? != Some(b'{') {
        return Ok(false);
    }
    look.bump();
    look.skip_space();
    let from = look.at();
    look.skip(is_word);
    look.peek(false)?;
    let key = core::str::from_utf8(look.since(from)).unwrap_or_default();
    let declares = |guide: &dyn Guide| matches!(guide.member(key), Member::Declared(_));
    if key.is_empty() || !declares(guide) && !guide.item(0).is_some_and(|item| declares(&*item)) {
        return Ok(false);
    }
    look.skip_space();
    match look.peek(false)? {
        Some(b':') => look.bump(),
        // Where JSON is expected, its colon may be missing.
        Some(_) => return Ok(place.ground >= Ground::Start),
        None => return Ok(false),
    }
    Ok(look.peek(false)?.is_some_and(|byte| byte != b'/'))
}

/// Whether the bracket at the start of `bytes` begins a document. `None` waits for more.
pub(super) fn begins(bytes: &[u8], place: BeforeBracket, window: usize, eof: bool) -> Option<bool> {
    if place.ground == Ground::Sure && matches!(bytes.first(), Some(b'{' | b'[')) {
        return Some(true);
    }
    let mut look = Look::new(bytes, window, eof);
    let verdict = match bytes.first() {
        Some(b'{') if !place.is_templated() => object(&mut look, place),
        // `a[0]`, `f(x)[0]`, `m[0][1]`, `![image]`, `\[math\]`.
        Some(b'[') if !is_word(place.prev) && !matches!(place.prev, b')' | b']' | b'!' | b'\\') => {
            array(&mut look, place)
        }
        Some(b'(') if place.ground >= Ground::Start => tuple(&mut look),
        Some(&byte) if place.ground == Ground::Start && is_name_start(byte) => {
            call(&mut look, place)
        }
        _ => Ok(false),
    };
    look.settle(verdict)
}

/// Whether `bytes`, which begin with a quote, are a member: a key without white space, a colon or what
/// is written for one, and the beginning of a value. `None` waits for more.
pub(super) fn begins_member(bytes: &[u8], window: usize, eof: bool) -> Option<bool> {
    let mut look = Look::new(bytes, window, eof);
    let verdict = member(&mut look);
    look.settle(verdict)
}

/// Whether `bytes`, which begin with a quote, are a member with a name that the guide declares. `None`
/// waits for more.
pub(super) fn begins_known_member(
    bytes: &[u8],
    guide: &dyn Guide,
    window: usize,
    eof: bool,
) -> Option<bool> {
    let mut look = Look::new(bytes, window, eof);
    let mut verdict = member(&mut look);
    if verdict == Ok(true) {
        let key = bytes.get(1..).unwrap_or_default();
        let length = key.iter().position(|byte| matches!(byte, b'"' | b'\'')).unwrap_or_default();
        let key = core::str::from_utf8(key.get(..length).unwrap_or_default()).unwrap_or_default();
        verdict = Ok(matches!(guide.member(key), Member::Declared(_)));
    }
    look.settle(verdict)
}

fn member(look: &mut Look<'_>) -> Verdict {
    let Some(quote) = look.peek(false)? else { return Ok(false) };
    look.bump();
    // A bracket in a quote is of a document in quotes.
    if matches!(look.peek(false)?, Some(b'{' | b'[')) {
        return Ok(false);
    }
    let is_key = |byte: u8| byte > b' ' && !matches!(byte, b'"' | b'\'' | b'\\' | 0x7F);
    let length = look.skip(is_key);
    if look.peek(false)? != Some(quote) || length == 0 {
        return Ok(false);
    }
    look.bump();
    look.skip_space();
    let arrow = look.eat(b"=>", false)? || look.eat(b"->", false)?;
    if !arrow && !matches!(look.peek(false)?, Some(b':' | b'=')) {
        return Ok(false);
    }
    if !arrow {
        look.bump();
    }
    look.skip_space();
    match look.peek(false)? {
        None | Some(b'"' | b'\'' | b'{' | b'[') => Ok(true),
        Some(_) if scalar(look, false)? => {
            look.skip_space();
            Ok(matches!(look.peek(false)?, None | Some(b',' | b'}' | b'"')))
        }
        Some(_) => Ok(false),
    }
}

/// Decides after `{`.
fn object(look: &mut Look<'_>, place: BeforeBracket) -> Verdict {
    let ground = place.ground;
    let bare = ground >= Ground::Led;
    look.bump();
    let from = look.at();
    look.skip_space();
    let spaced = look.at() > from;
    // A doubled brace. What is inside shows whether this is a template.
    while look.peek(bare)? == Some(b'{') {
        look.bump();
        look.skip_space();
    }
    match look.peek(bare)? {
        None => Ok(bare),
        Some(b'}') if ground == Ground::Start => Ok(true),
        Some(b'}') if ground == Ground::Inline && !place.joined => Ok(false),
        Some(b'}') => {
            look.bump();
            Ok(look.is_last_on_line()? || is_joined(look)?)
        }
        // A comma too many, or with its first key lost.
        Some(b',') if ground != Ground::Inline => {
            look.skip(|byte| byte == b',' || byte.is_ascii_whitespace());
            match look.peek(bare)? {
                Some(b'"') => quoted_key(look, ground, bare),
                _ => Ok(ground == Ground::Start),
            }
        }
        Some(b'"') => quoted_key(look, ground, bare || place.line_start),
        Some(b'\'') => quoted_key(look, ground, bare),
        Some(0xC2 | 0xE2 | 0xEF) => quoted_key(look, ground, bare),
        Some(b'\\' | b'/') => Ok(ground >= Ground::Line),
        Some(b'&') => entity(look, ground),
        // `{ # a comment`, but not `{# a template #}`.
        Some(b'#') if spaced && ground >= Ground::Line => {
            look.bump();
            Ok(matches!(look.peek(bare)?, Some(b' ')))
        }
        Some(b'`') if matches!(ground, Ground::Line | Ground::Led) => {
            look.bump();
            look.skip(|byte| byte != b'`' && byte != b'\n');
            let closed = look.eat(b"`", bare)?;
            look.skip_space();
            Ok(closed && matches!(look.peek(bare)?, Some(b':' | b'=')))
        }
        Some(byte) if byte.is_ascii_digit() => {
            look.skip(|byte| byte.is_ascii_digit());
            look.skip_space();
            Ok(bare && look.peek(bare)? == Some(b':'))
        }
        Some(byte) if is_word(byte) => bare_key(look, ground),
        // `{% if %}` and `{# note #}` are templates.
        Some(byte) => Ok(ground == Ground::Start && !matches!(byte, b'%' | b'#')),
    }
}

/// Whether another document follows an empty one on its line, with nothing but commas between them.
fn is_joined(look: &mut Look<'_>) -> Verdict {
    loop {
        look.skip(|byte| matches!(byte, b' ' | b'\t' | b','));
        if !(look.eat(b"{}", false)? || look.eat(b"[]", false)?) {
            break;
        }
    }
    let array = look.eat(b"[", false)?;
    if !array && !look.eat(b"{", false)? {
        return Ok(false);
    }
    look.skip_space();
    Ok(matches!((look.peek(false)?, array), (Some(b'"'), _) | (Some(b'{'), true)))
}

/// Decides at a quoted key, which must be followed by a colon, or if its quotes are double, by
/// anything that is not the next member of a set: `{"a", "b"}` is one, `{"a" = 1` and `{"a" 1` lack
/// their colon.
fn quoted_key(look: &mut Look<'_>, ground: Ground, enough: bool) -> Verdict {
    let Some(quote) = quote(look)? else { return bare_key(look, ground) };
    if enough {
        return Ok(true);
    }
    // An apostrophe also begins words; a double quote after a brace hardly ever does.
    if !string(look, quote, quote.double)? {
        return Ok(quote.double);
    }
    look.skip_space();
    Ok(match look.peek(true)? {
        None => quote.double,
        Some(b':' | b'=') => true,
        Some(0xEF) => look.eat("：".as_bytes(), true)?,
        Some(next) => {
            quote.double && (is_word(next) || matches!(next, b'"' | b'{' | b'[' | b'-' | b'/'))
        }
    })
}

/// The quotes that begin a string in a document whose quotes are entities of HTML.
pub(crate) const ENTITIES: [&[u8]; 10] = [
    b"&quot;", b"&apos;", b"&#34;", b"&#39;", b"&#034;", b"&#039;", b"&#x22;", b"&#x27;",
    b"&QUOT;", b"&ldquo;",
];

/// Decides at what may be a quote that is written as an entity of HTML.
fn entity(look: &mut Look<'_>, ground: Ground) -> Verdict {
    let mut quote = false;
    for entity in ENTITIES {
        quote = quote || look.eat(entity, false)?;
    }
    Ok(ground == Ground::Start || quote && ground >= Ground::Line)
}

/// The opening quote of a string.
#[derive(Clone, Copy)]
struct Quote {
    double: bool,
    /// A typographic quote, which a straight one may close.
    wide: bool,
}

/// Skips an opening quote, if there is one.
fn quote(look: &mut Look<'_>) -> Result<Option<Quote>, bool> {
    let byte = look.peek(false)?;
    if let Some(b'"' | b'\'') = byte {
        look.bump();
        return Ok(Some(Quote { double: byte == Some(b'"'), wide: false }));
    }
    let double = eats_any(look, &DOUBLE, false)?;
    let single = !double && eats_any(look, &SINGLE, false)?;
    Ok((double || single).then_some(Quote { double, wide: true }))
}

/// The typographic quotes that delimit strings, and the apostrophes.
const DOUBLE: [&str; 8] = ["“", "”", "„", "‟", "«", "»", "＂", "″"];
const SINGLE: [&str; 4] = ["‘", "’", "‚", "‛"];

/// Skips one of these, if it comes next. Returns whether it does; `or` if that is not visible.
fn eats_any(look: &mut Look<'_>, signs: &[&str], or: bool) -> Verdict {
    for sign in signs {
        if look.eat(sign.as_bytes(), or)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Skips the rest of a string and its closing quote. `false` if the input ends in it, `or` if the
/// end is not visible.
fn string(look: &mut Look<'_>, quote: Quote, or: bool) -> Verdict {
    let closer = if quote.double { b'"' } else { b'\'' };
    loop {
        look.skip(|byte| byte != closer && !matches!(byte, b'\\' | 0xC2 | 0xE2 | 0xEF));
        match look.peek(or)? {
            None => return Ok(false),
            Some(b'\\') => {
                look.bump();
                look.peek(or)?;
                look.bump();
            }
            Some(0xC2 | 0xE2 | 0xEF) => {
                let closes = match quote {
                    // In straight quotes, a typographic one is text.
                    Quote { wide: false, .. } => false,
                    Quote { double: true, .. } => eats_any(look, &DOUBLE, or)?,
                    Quote { double: false, .. } => eats_any(look, &SINGLE, or)?,
                };
                if closes {
                    return Ok(true);
                }
                look.bump();
            }
            Some(_) => {
                look.bump();
                return Ok(true);
            }
        }
    }
}

/// Decides at a key without quotes, which must be followed by a colon and something like a value.
fn bare_key(look: &mut Look<'_>, ground: Ground) -> Verdict {
    if ground == Ground::Inline {
        return Ok(false);
    }
    let bare = ground >= Ground::Led;
    let from = look.at();
    look.skip(|byte| is_word(byte) || matches!(byte, b'-' | b'.'));
    look.peek(bare)?;
    if ground == Ground::Start {
        // A full-width colon is not part of the word.
        if look.since(from).windows(3).any(|sign| sign == "：".as_bytes()) {
            return Ok(true);
        }
        look.skip(|byte| is_word(byte) || matches!(byte, b' ' | b'-'));
    }
    look.skip_space();
    match look.peek(bare)? {
        None => return Ok(bare),
        Some(b':') => {
            look.bump();
            // `http://x` is not a member.
            if look.peek(bare)? == Some(b'/') {
                return Ok(false);
            }
        }
        // `{a; b: 1}`: a key alone, and another one.
        Some(b';') if ground == Ground::Start => {
            look.bump();
            look.skip_space();
            let key = look.at();
            look.skip(|byte| is_word(byte) || matches!(byte, b'"' | b'\'' | b'-'));
            let named = look.at() > key;
            look.skip_space();
            return Ok(look.peek(true)?.is_none_or(|next| named && next == b':'));
        }
        // The opening quote is missing.
        Some(b'"') if ground < Ground::Start => {
            look.bump();
            look.skip_space();
            return Ok(look.peek(false)? == Some(b':'));
        }
        // In a channel of JSON, a wrong separator or the value may follow the key.
        Some(b'=' | b'"' | b'\'' | b'{' | b'[') => return Ok(ground == Ground::Start),
        Some(_) => return Ok(false),
    }
    look.skip_space();
    match look.peek(bare)? {
        None => Ok(bare),
        Some(b':' | b';') => Ok(false),
        _ if bare => Ok(true),
        Some(b'"' | b'\'' | b'{' | b'[' | 0xE2) => Ok(true),
        Some(_) if scalar(look, false)? => {
            look.skip_space();
            Ok(matches!(look.peek(false)?, None | Some(b',' | b'}')))
        }
        Some(_) => Ok(false),
    }
}

/// Decides after `(` where JSON is expected: a tuple, but not `(1) this` or `(see below)`.
fn tuple(look: &mut Look<'_>) -> Verdict {
    while look.peek(false)? == Some(b'(') {
        look.bump();
        look.skip_space();
    }
    match look.peek(false)? {
        Some(b'{' | b'[') => Ok(true),
        Some(b'"' | b'\'') => {
            let Some(quote) = quote(look)? else { return Ok(false) };
            if !string(look, quote, true)? {
                return Ok(true);
            }
            look.skip_space();
            Ok(look.peek(true)? == Some(b','))
        }
        Some(b'0'..=b'9' | b'-') => {
            look.bump();
            look.skip(|byte| byte.is_ascii_digit() || byte == b'.');
            look.skip_space();
            if look.peek(false)? == Some(b')') {
                // `(1)` is a value only if it is all there is.
                look.bump();
                look.skip_space();
                return Ok(look.peek(false)?.is_none());
            }
            Ok(look.peek(false)? == Some(b','))
        }
        _ => Ok(false),
    }
}

/// Whether a name can begin with this byte.
pub(super) const fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$')
}

/// Decides at a name at the start of a channel of JSON: `callback({})`, but not `if (x) {}`.
fn call(look: &mut Look<'_>, place: BeforeBracket) -> Verdict {
    look.skip(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'));
    look.skip_blank();
    if look.peek(false)? != Some(b'(') {
        return Ok(false);
    }
    look.bump();
    look.skip_space();
    match look.peek(false)? {
        Some(b'{') => object(look, place),
        Some(b'[') => {
            let mut ahead = *look;
            ahead.bump();
            ahead.skip_space();
            if ahead.peek(true)? == Some(b']') { Ok(true) } else { array(look, place) }
        }
        _ => Ok(false),
    }
}

/// Skips a number or a literal. `false` if there is neither.
fn scalar(look: &mut Look<'_>, or: bool) -> Verdict {
    const LITERALS: &[&[u8]] = &[b"true", b"false", b"null", b"none", b"undefined", b"nan"];
    let from = look.at();
    if matches!(look.peek(or)?, Some(b'-' | b'+')) {
        look.bump();
    }
    let digits = look.skip(|byte| byte.is_ascii_digit());
    if digits == 0 {
        look.skip(is_word);
        look.peek(or)?;
        let word = look.since(from);
        return Ok(LITERALS.iter().any(|literal| word.eq_ignore_ascii_case(literal)));
    }
    if look.peek(or)? == Some(b'.') {
        look.bump();
        look.skip(|byte| byte.is_ascii_digit());
    }
    if matches!(look.peek(or)?, Some(b'e' | b'E')) {
        look.bump();
        look.skip(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-'));
    }
    Ok(look.peek(or)?.is_none_or(|byte| !is_word(byte) && byte != b'.'))
}

// Whether a square bracket begins a document.

/// Decides after `[`.
fn array(look: &mut Look<'_>, place: BeforeBracket) -> Verdict {
    let ground = place.ground;
    let bare = ground >= Ground::Led;
    look.bump();
    let from = look.at();
    look.skip_space();
    match look.peek(bare)? {
        None => Ok(bare),
        Some(b']') => {
            // `[ ]` is a checkbox.
            let checkbox = look.since(from) == b" ";
            look.bump();
            match ground {
                Ground::Inline if !place.joined => Ok(false),
                _ if checkbox && ground != Ground::Start => Ok(false),
                _ if look.is_last_on_line()? => Ok(true),
                // More brackets, or the rest of a call or an assignment.
                Ground::Start => {
                    Ok(matches!(look.peek(true)?, Some(b'{' | b'[' | b'}' | b']' | b',' | b';')))
                }
                _ => is_joined(look),
            }
        }
        Some(b'"' | b'\'' | 0xE2) => items(look, ground),
        Some(0xC2 | 0xEF) if wide_quote(look)? => items(look, ground),
        Some(b'{') => record(look, place),
        Some(b'[') => nested(look, place),
        Some(b'&') => entity(look, ground),
        Some(b'/') if ground == Ground::Start => closing_tag(look).map(|closes| !closes),
        Some(b'(' | b'\\' | b',') => Ok(ground == Ground::Start),
        Some(_) if scalar(look, bare)? => scalars(look, place),
        Some(byte) if ground == Ground::Start => label(look, byte),
        Some(_) => Ok(false),
    }
}

/// Whether this is the rest of `[/RESULT]`. A comment and a path begin with a slash, too.
fn closing_tag(look: &mut Look<'_>) -> Verdict {
    look.bump();
    let from = look.at();
    look.skip(is_word);
    Ok(look.peek(true)? == Some(b']') && look.at() > from)
}

/// Whether a typographic quote comes next.
fn wide_quote(look: &Look<'_>) -> Verdict {
    let mut ahead = *look;
    Ok(quote(&mut ahead)?.is_some())
}

/// Decides at an object as the first item.
fn record(look: &mut Look<'_>, place: BeforeBracket) -> Verdict {
    let mut ahead = *look;
    ahead.bump();
    ahead.skip_space();
    if place.ground >= Ground::Line && ahead.peek(true)? == Some(b'}') {
        *look = ahead;
        return follows_empty(look);
    }
    object(look, BeforeBracket { ground: place.ground.max(Ground::Line), ..place })
}

/// Whether an empty first item is followed by more of the array, or its end.
fn follows_empty(look: &mut Look<'_>) -> Verdict {
    look.bump();
    look.skip_space();
    Ok(matches!(look.peek(true)?, None | Some(b',' | b']')))
}

/// Decides at a quoted first item, which must be followed by a comma or the closer. A link target
/// must not follow that.
fn items(look: &mut Look<'_>, ground: Ground) -> Verdict {
    let Some(quote) = quote(look)? else { return Ok(ground == Ground::Start) };
    let enough = quote.double || ground >= Ground::Led;
    if !string(look, quote, enough)? {
        return Ok(enough);
    }
    look.skip_space();
    match look.peek(enough)? {
        None => Ok(enough),
        Some(b',') => Ok(true),
        // `["a"; 5]` is code.
        Some(b';') => Ok(ground >= Ground::Led),
        Some(b']') => {
            look.bump();
            Ok(match look.peek(true)? {
                Some(b'(' | b':') => false,
                // A reference, or where JSON is expected, another document.
                Some(b'[') => ground == Ground::Start,
                _ => true,
            })
        }
        Some(_) => Ok(ground >= Ground::Led),
    }
}

/// Decides after `[[`, which may also be a wiki link, or a citation with a link.
fn nested(look: &mut Look<'_>, place: BeforeBracket) -> Verdict {
    while look.peek(place.ground == Ground::Start)? == Some(b'[') {
        look.bump();
        look.skip_space();
    }
    match look.peek(place.ground == Ground::Start)? {
        Some(b'"' | b'\'' | 0xE2) => items(look, place.ground),
        Some(b'&') => entity(look, place.ground),
        Some(b'{') => record(look, place),
        Some(b']') if place.ground >= Ground::Line => follows_empty(look),
        Some(_) if place.ground >= Ground::Line && scalar(look, place.ground == Ground::Start)? => {
            if place.ground == Ground::Start {
                return Ok(true);
            }
            look.skip_space();
            look.skip(|byte| matches!(byte, b']' | b' ' | b'\t' | b'\r'));
            Ok(match look.peek(place.line_start)? {
                Some(b',') => true,
                None | Some(b'\n') => place.line_start,
                Some(_) => false,
            })
        }
        Some(byte) if place.ground == Ground::Start => label(look, byte),
        Some(_) => Ok(false),
        None => Ok(place.ground == Ground::Start),
    }
}

/// Decides after a number or literal as the first item. Citations such as `[3]` or `[1, 2]` look
/// the same, so the array must be the last thing on its line.
fn scalars(look: &mut Look<'_>, place: BeforeBracket) -> Verdict {
    let ground = place.ground;
    look.skip_space();
    match look.peek(ground >= Ground::Led)? {
        None => Ok(ground >= Ground::Led),
        Some(b',' | b']') if ground == Ground::Inline => Ok(false),
        Some(b',' | b']') if ground == Ground::Start => Ok(true),
        // After a colon, where JSON is expected, several are a list. An interval ends otherwise.
        Some(b',') if place.json && ground >= Ground::Led => {
            look.skip(|byte| !matches!(byte, b']' | b'[' | b'{' | b'"' | b')'));
            Ok(look.peek(true)? != Some(b')'))
        }
        Some(b']') if !place.line_start => Ok(false),
        Some(b',' | b']') => {
            look.skip(|byte| !matches!(byte, b']' | b'[' | b'{' | b'"' | b'&' | b')'));
            match look.peek(true)? {
                // An interval.
                Some(b')') => Ok(false),
                Some(b'&') => entity(look, ground),
                Some(b']') => {
                    look.bump();
                    look.is_last_on_line()
                }
                // Citations do not contain these.
                _ => Ok(true),
            }
        }
        // `[12:30]` and `[2024-05-06]` begin a line of a log.
        Some(next) => Ok(ground == Ground::Start && !matches!(next, b':' | b'-')),
    }
}

/// Decides at a word in brackets at the start of a channel of JSON. `[hello]` may be an array if it
/// ends its line. `[docs](x)`, `[x] done` and `[WARN] disk full` are not, and neither is `[Output]`
/// before a document.
fn label(look: &mut Look<'_>, first: u8) -> Verdict {
    if !is_word(first) {
        return Ok(true);
    }
    look.skip(|byte| is_word(byte) || matches!(byte, b' ' | b'-' | b'.' | b'/'));
    if look.peek(true)? != Some(b']') {
        return Ok(true);
    }
    look.bump();
    // A separator is a sign of data, and not of a sentence, if nothing follows.
    look.skip(|byte| matches!(byte, b',' | b';'));
    if !look.is_last_on_line()? {
        return Ok(false);
    }
    look.skip_space();
    if look.peek(true)? == Some(b'[') {
        look.bump();
        look.skip_space();
        return Ok(!matches!(look.peek(true)?, Some(b'{' | b'"')));
    }
    Ok(look.peek(true)? != Some(b'{'))
}
