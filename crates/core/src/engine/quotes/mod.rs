//! Decides whether a quote ends its string.
//!
//! The decision is made by what follows ([`follows`](super::follows)) and by what the string holds
//! so far ([`Context`]), in one table ([`verdict`]), never by where a chunk ends. In valid JSON the
//! table says [`Verdict::Close`] at the closing quote: that of a value is followed by `,`, `}`, `]`
//! or the end, and that of a key by `:`. A `,` is doubted only if no key follows it (in an object),
//! and a `}` or `]` only if what follows cannot continue a container.

mod context;
mod inner;

pub(super) use context::{escaped_closer, lost_key};
pub(super) use inner::{Inner, Last, ends_with_wide_space, may_end_wide_space};

use super::{
    Engine, Source, Text,
    follows::{Continuation, QuotePlace, Site, continuation, passes_key},
    frames::Shape,
    quote::Quote,
    source::{Edge, Look, is_word},
};
use crate::{
    TrailingDocuments,
    verdict::{Context, Verdict, verdict},
};

/// What a quote means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// It ends the string, and has this many bytes.
    Close(usize),
    /// It is part of the string.
    Inner,
    /// It opens the next string. The quote that should have ended this one is missing at the
    /// offset.
    LostBefore(usize),
}

impl Engine {
    /// How many quotes open a string. `look` is at the second one.
    pub(super) fn quotes_at_start(
        &mut self,
        mut look: Look<'_>,
        quote: u8,
        is_key: bool,
    ) -> Result<u8, Edge> {
        look.bump();
        let third = look.peek()?;
        if third == quote {
            // `""""` is two empty strings, or four quotes. Three quotes are a delimiter.
            return match look.peek_at(1) {
                Err(Edge::End) => Ok(3),
                next => Ok(if next? == quote { 1 } else { 3 }),
            };
        }
        let ends = matches!(third, b',' | b':' | b'}' | b']');
        if !is_key && self.string.doubled && !ends && !third.is_ascii_whitespace() {
            // Where the key or the item before it is in two quotes, this string is, too.
            return Ok(2);
        }
        if ends || matches!(third, b')' | b';' | b'+' | b'=' | b'{' | b'[') {
            return Ok(1);
        }
        if third.is_ascii_whitespace() {
            // `"" key": …`: an empty string would be followed by a delimiter.
            let from = look.seen().len();
            let next = look.space()?;
            // Where all documents are wanted, an empty string on a line of its own is one.
            let document = self.frames.top().is_none()
                && self.options.trailing_documents() == TrailingDocuments::All
                && look.seen().get(from..).is_some_and(|space| space.contains(&b'\n'));
            if document || !is_word(next) {
                return Ok(1);
            }
        }
        // `""word""` and `""word":` are doubled; `""word" more"` begins with a quoted word.
        look.string(quote)?;
        let next = look.peek()?;
        if next == quote {
            return Ok(2);
        }
        match look.space()? {
            b':' if is_key => Ok(2),
            b'}' | b']' => {
                look.bump();
                match look.space() {
                    Ok(b',' | b'}' | b']') | Err(Edge::End) => Ok(2),
                    other => other.map(|_| 1),
                }
            }
            b',' => {
                // `""Yes", he said."` is text that begins with a quotation.
                look.bump();
                let object = self.frames.top() == Some(Shape::Object);
                let ends = match object {
                    true => look.gap()? == b'}' || passes_key(&mut look)?,
                    false => !look.words()?,
                };
                Ok(if ends { 2 } else { 1 })
            }
            _ => Ok(1),
        }
    }

    /// Decides about a quote of `length` bytes at `pos`.
    pub(super) fn judge_quote(
        &mut self,
        source: &Source<'_>,
        text: Text,
        length: usize,
    ) -> Result<Meaning, Edge> {
        let mut length = length;
        if text.quotes > 1 {
            // A string in two or three quotes ends with the same number; one in two also with one.
            let run = self.quotes_at_end(source, text)?;
            if run == usize::from(text.quotes) {
                return Ok(Meaning::Close(run));
            }
            if text.quotes == 3 {
                return Ok(Meaning::Inner);
            }
            length = run;
        }
        // After a longer quote, less is in sight, so that no more is withheld because of it.
        let window = (self.window + 1).saturating_sub(length);
        let look = source.look(self.pos + length, window).in_escaped(self.document.escaped);
        let next = match look.peek() {
            Err(Edge::More) => return Err(Edge::More),
            next => next.ok(),
        };
        if text.quote == Quote::Double
            && !text.is_key
            && self.string.inner.is_between_words()
            && self.is_written_twice(source, self.pos)?
        {
            return Ok(Meaning::Inner);
        }
        let single = text.quote == Quote::Single && !text.is_key;
        if single && next.is_some_and(|next| self.string.inner.is_within_word(next)) {
            return Ok(Meaning::Inner);
        }
        if self.string.inner.is_open() && !text.is_key {
            // Whatever follows in code belongs to it.
            let mut after = look;
            return match after.space() {
                Ok(_) => Ok(Meaning::Inner),
                Err(Edge::More) => Err(Edge::More),
                Err(Edge::End | Edge::Window) => Ok(Meaning::Close(length)),
            };
        }
        let (context, lost) = self.context(source, text, next);
        let site = self.site(source, text, next);
        let seen = continuation(site, look)?;
        let key = source.look(self.pos, self.window);
        let seen = if text.is_key { seen } else { self.ask_guide(seen, key, look, context)? };
        Ok(match verdict(site.place, seen, context) {
            Verdict::Close => Meaning::Close(length),
            Verdict::CloseBoth => Meaning::Close(2 * length),
            Verdict::Inner => Meaning::Inner,
            Verdict::LostBefore => lost.map_or(Meaning::Inner, Meaning::LostBefore),
        })
    }

    /// Whether the quote at `at` and the one directly after it are one quote of the text, escaped as in
    /// CSV and SQL: before a word that they begin, or after one that such quotes began.
    pub(super) fn is_written_twice(&self, source: &Source<'_>, at: usize) -> Result<bool, Edge> {
        let look = source.look(at + 1, self.window);
        // At the root, it may be a document in quotes.
        if self.frames.len() == 0 || look.peek()? != b'"' {
            return Ok(false);
        }
        let next = look.peek_at(1)?;
        let inner = &self.string.inner;
        if inner.may_begin() || at == self.lex_start {
            return Ok(is_word(next) || matches!(next, b'{' | b'[' | b'/' | b'$'));
        }
        Ok(self.string.doubles && next != b'"' && !is_word(next))
    }

    /// How many quotes there are at `pos`, up to the number that delimits the string.
    fn quotes_at_end(&self, source: &Source<'_>, text: Text) -> Result<usize, Edge> {
        let one = if text.quote == Quote::Single { b'\'' } else { b'"' };
        let look = source.look(self.pos, self.window);
        let most = usize::from(text.quotes);
        let mut run = 0;
        while run < most {
            match look.peek_at(run) {
                Ok(byte) if byte == one => run += 1,
                Err(Edge::More) => return Err(Edge::More),
                _ => break,
            }
        }
        Ok(run)
    }

    /// Where the string is. `next` is the byte directly after the quote.
    fn site(&self, source: &Source<'_>, text: Text, next: Option<u8>) -> Site {
        let place = match self.frames.top() {
            _ if text.is_key => QuotePlace::Key,
            Some(Shape::Object) => QuotePlace::Member,
            Some(Shape::Array | Shape::Tuple) => QuotePlace::Item,
            Some(Shape::Call | Shape::Doubled) | None => QuotePlace::Document,
        };
        let group = |shape| matches!(shape, Shape::Tuple | Shape::Call);
        let outermost = self.frames.depth() <= 1;
        let touching = next.is_some_and(|next| !next.is_ascii_whitespace());
        let double = text.quote == Quote::Double;
        let digit = double && self.string.inner.is_after_digit();
        // A stream may not look back.
        let measures = digit && (!self.whole || is_measure(source.slice(self.lex_start, self.pos)));
        Site {
            place,
            quote: text.quote,
            outer: if outermost { None } else { self.frames.shape_below(0) },
            in_object: self.frames.above(|shape| shape == Shape::Object).is_some(),
            in_group: self.frames.above(group).is_some(),
            settles: outermost && self.string.inner_quotes == 0,
            opens: touching && self.string.inner.may_begin(),
            spaced: double && self.string.inner.is_between_words(),
            doubles: double && (self.string.inner.may_be_doubled() || digit && !measures),
            measures,
        }
    }

    /// Lets the guide, which knows the names of the object, say whether a member follows. It is
    /// asked only in case of doubt: if the bytes do not look like a member, or the string is not
    /// valid JSON anyway. `key` is at the quote, as if that began a key.
    fn ask_guide(
        &mut self,
        seen: Continuation,
        key: Look<'_>,
        look: Look<'_>,
        context: Context,
    ) -> Result<Continuation, Edge> {
        if self.options.guide().is_none() || self.frames.top() != Some(Shape::Object) {
            return Ok(seen);
        }
        let quoted = self.string.inner_quotes > 0;
        let meaning = verdict(QuotePlace::Member, seen, context);
        if meaning == Verdict::LostBefore {
            let forbidden = quoted && self.forbids_member(key)?;
            return Ok(if forbidden { Continuation::ForbiddenMember } else { seen });
        }
        let mut member = look;
        let comma = match member.space() {
            Ok(b',') => {
                member.bump();
                match member.gap() {
                    Err(Edge::More) => return Err(Edge::More),
                    Err(_) => return Ok(seen),
                    Ok(_) => true,
                }
            }
            Ok(b'}' | b']' | b':' | b';' | b')' | b'+' | b'/' | b'#' | b'<' | b'`') => {
                return Ok(seen);
            }
            // A quote directly before a word opens it instead of ending the string.
            Ok(_) if member.passed() > look.passed() => false,
            Ok(_) | Err(Edge::End | Edge::Window) => return Ok(seen),
            Err(Edge::More) => return Err(Edge::More),
        };
        let closes = meaning != Verdict::Inner;
        if closes && quoted && comma && self.forbids_member(member)? {
            return Ok(Continuation::ForbiddenMember);
        }
        if !closes && !quoted && self.declares_member(member)? {
            return Ok(Continuation::DeclaredMember);
        }
        Ok(seen)
    }
}

/// Whether a string that ends so may be a measure in inches: `27`, `5.5`, `a 1/2`, but not `v6.1.8` or
/// `00243`.
fn is_measure(content: &[u8]) -> bool {
    /// Longer than any number of inches, and the blank before it.
    const LONGEST: usize = 8;
    let end = content.get(content.len().saturating_sub(LONGEST)..).unwrap_or(content);
    let from = end.iter().rposition(|byte| matches!(byte, b' ' | b'(' | b'-' | b'x' | b'n' | b't'));
    let number = end.get(from.map_or(0, |at| at + 1)..).unwrap_or_default();
    let digits = |part: &[u8]| part.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(number);
    let fits = (1..=3).contains(&whole) && (number[0] != b'0' || whole == 1);
    fits && match number.get(whole..).unwrap_or_default() {
        [] => true,
        [b'.' | b'/', part @ ..] => (1..=3).contains(&part.len()) && digits(part) == part.len(),
        _ => false,
    }
}
