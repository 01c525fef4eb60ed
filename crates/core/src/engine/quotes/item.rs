//! Quotes in the items of arrays.

use super::Verdict;
use crate::engine::{
    Engine,
    frames::Shape,
    quote::Quote,
    source::{Edge, Look, is_literal, is_word},
};

impl Engine {
    /// Decides about a quote in an item.
    pub(super) fn judge_item(
        &mut self,
        mut look: Look<'_>,
        next: u8,
        quote: Quote,
        close: Verdict,
    ) -> Result<Verdict, Edge> {
        if self.inner.is_quoting() && !matches!(next, b']' | b'}') {
            return self.judge_quotation_in_list(look, next, close);
        }
        let touching = look.passed() == 0;
        let begins = touching && self.inner.may_begin();
        match next {
            b',' => {
                look.bump();
                if begins && self.inner_quotes > 0 {
                    // `split(",")`, in text with quotes. A word would begin an item.
                    look.peek()?;
                    if let Some(length) = look.closer(quote)?
                        && !is_word(look.peek_at(length)?)
                    {
                        return Ok(Verdict::Inner);
                    }
                }
                self.judge_comma_in_list(look, quote, close)
            }
            b']' | b'}' => {
                look.bump();
                // `"]"` is code. At the end of a document that is valid so far, do not wait for
                // more.
                let last = next == b']' && self.frames.depth() <= 1 && !self.whole;
                if self.inner_quotes > 0 || begins && !last {
                    look.peek()?;
                    if look.closer(quote)?.is_some() {
                        return Ok(Verdict::Inner);
                    }
                }
                self.judge_closer_in_list(look, next, close)
            }
            b'/' | b'#' => {
                Ok(if self.comment_follows(look, quote)? { close } else { Verdict::Inner })
            }
            b')' | b'+' | b':' | b';' if begins => {
                // A single punctuation mark in quotes.
                look.bump();
                look.peek()?;
                Ok(if look.closer(quote)?.is_some() { Verdict::Inner } else { close })
            }
            _ if touching && self.begins_quotation(look, quote)? => Ok(Verdict::Inner),
            b'{' | b'[' if touching => {
                Ok(if self.brackets_text(look)? { Verdict::Inner } else { close })
            }
            b')' | b'+' | b'{' | b'[' | b';' | b':' | b'0'..=b'9' | b'-' | b'<' => Ok(close),
            _ => {
                if look.closer(quote)?.is_some() {
                    // In text with quotes, a quote directly after another one belongs to the text,
                    // and so does the closing quote of a blank in quotes.
                    let more = self.inner_quotes > 0 && (touching || self.inner.may_begin());
                    return Ok(if more { Verdict::Inner } else { close });
                }
                self.judge_word_in_list(look, quote, close)
            }
        }
    }

    /// Decides about a quote before a closer, which `look` has passed.
    fn judge_closer_in_list(
        &mut self,
        mut look: Look<'_>,
        closer: u8,
        close: Verdict,
    ) -> Result<Verdict, Edge> {
        let ends = if closer == b']' {
            self.frames.depth() <= 1
        } else {
            self.frames.above(|shape| shape == Shape::Object).is_none()
        };
        if ends {
            return Ok(close);
        }
        let after = look.space()?;
        let mut fits = matches!(after, b',' | b'}' | b']');
        if closer == b']' && !fits {
            fits = matches!(after, b')' | b'/' | b'#' | b';' | b'`' | b'{' | b'[' | b'<')
                || look.at_quote()?;
        }
        Ok(if fits { close } else { Verdict::Inner })
    }

    /// Decides about a quote that ends a quotation in the item, as in `f("a", "b", c)`. It ends the
    /// item, too, if an item in quotes follows, and after that another one or the end of the array.
    fn judge_quotation_in_list(
        &mut self,
        mut look: Look<'_>,
        next: u8,
        close: Verdict,
    ) -> Result<Verdict, Edge> {
        if next != b',' {
            return Ok(Verdict::Inner);
        }
        look.bump();
        look.gap()?;
        let Some((quote, length)) = look.quote()? else { return Ok(Verdict::Inner) };
        look.advance(length);
        look.through(quote)?;
        if look.gap()? == b']' {
            return Ok(close);
        }
        if look.peek()? != b',' {
            return Ok(Verdict::Inner);
        }
        look.bump();
        look.gap()?;
        Ok(if look.at_quote()? { close } else { Verdict::Inner })
    }

    /// Whether the bracket directly after the quote belongs to text, as in `f"{name}"`, instead of
    /// beginning an item.
    fn brackets_text(&mut self, mut look: Look<'_>) -> Result<bool, Edge> {
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

    /// Decides about a quote before a comma, in an array: any item may follow, but not text that
    /// continues to another quote.
    fn judge_comma_in_list(
        &mut self,
        mut look: Look<'_>,
        quote: Quote,
        close: Verdict,
    ) -> Result<Verdict, Edge> {
        if !look.words()? {
            return Ok(close);
        }
        loop {
            if matches!(look.peek()?, b',' | b']' | b'\n') || look.at_wide(b',')? {
                return Ok(close);
            }
            if let Some(found) = look.closer(quote)? {
                look.advance(found);
                // Either `b"` lost its opening quote, or the text goes on.
                return Ok(Verdict::Inner);
            }
            look.bump();
        }
    }

    /// Decides about a quote before a word, in an array.
    fn judge_word_in_list(
        &mut self,
        mut look: Look<'_>,
        quote: Quote,
        close: Verdict,
    ) -> Result<Verdict, Edge> {
        let broken = look.is_broken();
        if look.passed() > 0 {
            // `["a" null "b"]`
            let mut probe = look;
            if is_literal(probe.word()?)
                && (matches!(probe.space()?, b',' | b']') || probe.at_quote()?)
            {
                return Ok(close);
            }
        }
        loop {
            let byte = match look.peek() {
                Err(Edge::End) => return Ok(close),
                other => other?,
            };
            if look.closer(quote)?.is_some() {
                return Ok(Verdict::Inner);
            }
            match byte {
                b']' => return Ok(close),
                b',' if broken => return Ok(close),
                b',' => {
                    // `"a" b, "c"`: the next quote opens an item if a word follows it.
                    look.bump();
                    look.space()?;
                    let Some(found) = look.closer(quote)? else { continue };
                    look.advance(found);
                    return Ok(if is_word(look.peek()?) { close } else { Verdict::Inner });
                }
                _ => look.bump(),
            }
        }
    }
}
