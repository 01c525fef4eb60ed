//! Whether a square bracket begins a document.

use super::{
    Ground, Look, Place, Verdict, entity, is_joined, is_word, object, quote, scalar, string,
};

/// Decides after `[`.
pub(super) fn array(look: &mut Look<'_>, place: Place) -> Verdict {
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
fn record(look: &mut Look<'_>, place: Place) -> Verdict {
    let mut ahead = *look;
    ahead.bump();
    ahead.skip_space();
    if place.ground >= Ground::Line && ahead.peek(true)? == Some(b'}') {
        *look = ahead;
        return follows_empty(look);
    }
    object(look, Place { ground: place.ground.max(Ground::Line), ..place })
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
fn nested(look: &mut Look<'_>, place: Place) -> Verdict {
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
fn scalars(look: &mut Look<'_>, place: Place) -> Verdict {
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
