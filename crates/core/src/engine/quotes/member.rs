//! Quotes in the values of members.

use super::{LOOK_BACK, Verdict};
use crate::engine::{
    Engine, Source,
    frames::Shape,
    quote::Quote,
    source::{Edge, Look, is_literal, is_word},
};

impl Engine {
    /// Decides about a quote in the value of a member.
    pub(super) fn judge_member(
        &mut self,
        source: &Source<'_>,
        mut look: Look<'_>,
        next: u8,
        quote: Quote,
        close: Verdict,
        length: usize,
    ) -> Result<Verdict, Edge> {
        match next {
            b'}' => {
                if self.whole
                    && self.options.trailing_documents() != crate::TrailingDocuments::All
                    && self.holds_open_brace(source)
                {
                    // The brace may belong to the text, if the string goes on to another quote.
                    let mut probe = look;
                    probe.bump();
                    if !matches!(probe.space(), Err(_) | Ok(b'}' | b']')) {
                        while let (Ok(None), Ok(_)) = (probe.closer(quote), probe.peek()) {
                            probe.bump();
                        }
                        probe.bump();
                        if matches!(probe.space(), Ok(b',' | b'}' | b']')) {
                            return Ok(Verdict::Inner);
                        }
                    }
                }
                if self.frames.depth() <= 1 {
                    return self.judge_last_brace(look, quote, close);
                }
                look.bump();
                self.judge_after_brace(look, close)
            }
            b']' => {
                look.bump();
                let after = look.space()?;
                Ok(if matches!(after, b',' | b'}' | b']') { close } else { Verdict::Inner })
            }
            b',' => {
                // A comma of another script is text, unless a key with its colon follows.
                let wide = look.peek()? != b',';
                let begins = wide || look.passed() == 0 && self.inner.may_begin();
                look.bump();
                let verdict = self.judge_comma_in_object(look, quote, close, begins)?;
                self.guided_comma(look, verdict, close)
            }
            b':' => Ok(Verdict::Inner),
            b';' => {
                look.bump();
                // A string with inner quotes goes on, as code does, unless a key follows. So does a
                // string with a quote directly after the semicolon.
                if self.inner_quotes == 0 {
                    match look.peek() {
                        Err(Edge::More) => return Err(Edge::More),
                        Ok(_) if look.at_quote()? => {}
                        _ => return Ok(close),
                    }
                }
                look.gap()?;
                let Some((quote, length)) = look.quote()? else { return Ok(Verdict::Inner) };
                look.advance(length);
                Ok(if self.reads_key(&mut look, quote)? { close } else { Verdict::Inner })
            }
            b')' if self.frames.above(|s| matches!(s, Shape::Tuple | Shape::Call)).is_some() => {
                Ok(close)
            }
            b'+' => {
                // In a string that contains quotes already, `"a" + "b"` is code.
                look.bump();
                look.gap()?;
                let joins = self.inner_quotes == 0 && look.at_quote()?;
                Ok(if joins { close } else { Verdict::Inner })
            }
            b'/' | b'#' => {
                Ok(if self.comment_follows(look, quote)? { close } else { Verdict::Inner })
            }
            b'<' => {
                Ok(if matches!(look.peek_at(1)?, b'!' | b'|') { close } else { Verdict::Inner })
            }
            b'`' => Ok(if look.starts_with(b"```")? { close } else { Verdict::Inner }),
            _ => {
                let broken = look.is_broken();
                // A quote directly before a word opens it instead of ending the string, and in a
                // string that contains quotes already this may be one more.
                let asks = look.passed() > 0 && self.inner_quotes == 0;
                if asks && self.declares_member(look)? {
                    return Ok(close);
                }
                if let Some(found) = look.closer(quote)? {
                    let touching = look.passed() == 0 && length > 0;
                    look.advance(found);
                    return self.judge_before_string(look, quote, close, broken, touching);
                }
                if look.passed() > 0 && self.key_in_other_quotes(look)? {
                    return Ok(close);
                }
                if look.passed() == 0 && self.begins_quotation(look, quote)? {
                    return Ok(Verdict::Inner);
                }
                self.judge_word(look, quote, close, broken)
            }
        }
    }

    /// Decides about a quote before a brace that seems to close the object. `look` is after the
    /// brace.
    fn judge_after_brace(&mut self, mut look: Look<'_>, close: Verdict) -> Result<Verdict, Edge> {
        let brace = look.passed();
        let after = look.space()?;
        let touches = look.passed() == brace;
        if let Some((quote, length)) = look.quote()? {
            // `"}" b` is code, but a comma before a key may be missing.
            look.advance(length);
            let fits = !touches || self.reads_key(&mut look, quote)?;
            return Ok(if fits { close } else { Verdict::Inner });
        }
        let fits = matches!(after, b',' | b'}' | b']' | b')' | b'/' | b'#' | b';' | b'`')
            || matches!(after, b'{' | b'[' | b'<');
        Ok(if fits { close } else { Verdict::Inner })
    }

    /// Whether the string's content, up to the limit for looking back, opens a brace without
    /// closing it.
    pub(super) fn holds_open_brace(&self, source: &Source<'_>) -> bool {
        let from = self.lex_start.max(self.pos.saturating_sub(LOOK_BACK));
        let content = source.slice(from, self.pos);
        let open = content.iter().filter(|&&b| b == b'{').count();
        open > content.iter().filter(|&&b| b == b'}').count()
    }

    /// Decides about a quote before the brace that would close the document: `"…" }`. Prose may
    /// follow, and on the whole-text path also more of the string.
    fn judge_last_brace(
        &mut self,
        mut look: Look<'_>,
        quote: Quote,
        close: Verdict,
    ) -> Result<Verdict, Edge> {
        let begins = look.passed() == 0 && self.inner.may_begin();
        if !self.whole && self.inner_quotes == 0 {
            return Ok(close);
        }
        look.bump();
        // `"}";` is code: no quote directly follows the brace that ends a document.
        let touching = look.peek()?;
        let code = look.at_quote()?;
        if !self.whole || code && begins && look.closer(quote)?.is_some() {
            let goes_on = self.inner.is_quoting() && matches!(touching, b')' | b';' | b'.');
            return Ok(if code || goes_on { Verdict::Inner } else { close });
        }
        let after = look.space()?;
        if !(code || is_word(after) || after == b'.') || look.is_broken() {
            return Ok(close);
        }
        if code {
            look.bump();
        }
        // Look for more text on this line, and then a quote and the end.
        while !matches!(look.peek()?, b'\n') {
            if let Some(found) = look.closer(quote)? {
                let mut probe = look;
                probe.advance(found);
                if matches!(probe.space(), Ok(b'}')) {
                    return Ok(Verdict::Inner);
                }
            }
            look.bump();
        }
        Ok(close)
    }

    /// Decides about a quote before a comma, in an object: a key and a colon must follow. `begins`
    /// says that the quote may begin a quotation, as in `", ".join(words)`.
    fn judge_comma_in_object(
        &mut self,
        mut look: Look<'_>,
        quote: Quote,
        close: Verdict,
        begins: bool,
    ) -> Result<Verdict, Edge> {
        let next = look.gap()?;
        match next {
            b'}' | b']' | b',' | b'{' | b'[' | b'.' => Ok(close),
            _ => {
                if look.at_prefix()? {
                    look.bump();
                }
                if let Some((key_quote, found)) = look.quote()? {
                    look.advance(found);
                    return self.judge_before_key(look, key_quote, close, begins);
                }
                if self.inner_quotes == 0 && !begins && self.reads_odd_key(look)? {
                    return Ok(close);
                }
                // After the closing quote of a quotation in the string, only a key in quotes can
                // follow.
                if !is_word(next) || self.inner.is_quoting() {
                    return Ok(Verdict::Inner);
                }
                look.word()?;
                let bare = look.peek()?;
                if look.closer(quote)?.is_some() {
                    // `b": 1`: the key's opening quote was lost.
                    look.bump();
                    return Ok(if look.space()? == b':' { close } else { Verdict::Inner });
                }
                let sign = look.blanks()?;
                let assigns = sign == b'=' && self.inner_quotes == 0 && !begins;
                if assigns {
                    // `b = "y"`, but not `b == "y"`.
                    look.bump();
                    look.blanks()?;
                    return Ok(if look.at_quote()? { close } else { Verdict::Inner });
                }
                Ok(if bare == b':' || sign == b':' { close } else { Verdict::Inner })
            }
        }
    }

    /// Whether a key of several words or with unusual characters follows, with a colon and a value,
    /// or words and then a key in quotes. Only for strings without inner quotes, in which a quote
    /// before a comma begins no quotation.
    fn reads_odd_key(&mut self, mut look: Look<'_>) -> Result<bool, Edge> {
        /// The length of the longest key to consider, in bytes.
        const MAX_KEY: usize = 48;
        let from = look.passed();
        let mut before = look.peek()?;
        if before.is_ascii_digit() {
            return Ok(false);
        }
        while look.passed() - from < MAX_KEY {
            let byte = look.peek()?;
            look.bump();
            match byte {
                b':' => {
                    let value = look.blanks()?;
                    let number = value.is_ascii_digit() || value == b'-';
                    return Ok(number
                        || matches!(value, b'{' | b'[')
                        || look.at_quote()?
                        || is_literal(look.word()?));
                }
                b'"' => {
                    return Ok(
                        before.is_ascii_whitespace() && self.reads_key(&mut look, Quote::Double)?
                    );
                }
                b',' | b';' | b'=' | b'{' | b'}' | b'[' | b']' | b'\\' | b'\n' => break,
                _ => before = byte,
            }
        }
        Ok(false)
    }

    /// Lets the guide, which knows the names of the object, revise a verdict about a comma. It is
    /// asked only in case of doubt: if the bytes do not look like a member, or the string is not
    /// valid JSON anyway.
    fn guided_comma(
        &mut self,
        mut look: Look<'_>,
        verdict: Verdict,
        close: Verdict,
    ) -> Result<Verdict, Edge> {
        let closes = verdict == close;
        // A string without inner quotes may end here after all, and one with inner quotes may go
        // on.
        if self.options.guide().is_none() || closes != (self.inner_quotes > 0) {
            return Ok(verdict);
        }
        match look.gap() {
            Ok(_) => {}
            Err(Edge::More) => return Err(Edge::More),
            Err(_) => return Ok(verdict),
        }
        if closes {
            return Ok(if self.forbids_member(look)? { Verdict::Inner } else { close });
        }
        Ok(if self.declares_member(look)? { close } else { verdict })
    }

    /// Decides about a quote before a key. `look` is after the quote that seems to open the key.
    fn judge_before_key(
        &mut self,
        mut look: Look<'_>,
        quote: Quote,
        close: Verdict,
        begins: bool,
    ) -> Result<Verdict, Edge> {
        if self.inner_quotes == 0 && !begins && self.reads_damaged_key(look, quote)? {
            return Ok(close);
        }
        look.through(quote)?;
        let after = look.space()?;
        if self.inner.is_quoting() {
            // `"Yes", "No", and so on` is text, and so is `"a", "b": words`.
            if after != b':' {
                return Ok(Verdict::Inner);
            }
            look.bump();
            return Ok(if look.words()? { Verdict::Inner } else { close });
        }
        let ended = !begins && matches!(after, b',' | b'}');
        if ended || matches!(after, b':' | b'=' | b'{' | b'[') || after.is_ascii_digit() {
            return Ok(close);
        }
        Ok(if look.at_quote()? { close } else { Verdict::Inner })
    }

    /// Whether a key follows whose closing quote is missing or of another kind, or whose quotes are
    /// doubled: `content: "y"`, `content': "y"` and `"content"": "y"`. `look` is after its first quote.
    fn reads_damaged_key(&mut self, mut look: Look<'_>, quote: Quote) -> Result<bool, Edge> {
        look.peek()?;
        let doubled = look.closer(quote)?;
        look.advance(doubled.unwrap_or(0));
        let word = look.word()?;
        if word.is_empty() {
            return Ok(false);
        }
        if doubled.is_some() {
            let Some(first) = look.closer(quote)? else { return Ok(false) };
            look.advance(first);
            look.peek()?;
            let Some(second) = look.closer(quote)? else { return Ok(false) };
            look.advance(second);
            return Ok(look.blanks()? == b':');
        }
        if look.closer(quote)?.is_some() {
            // The usual key.
            return Ok(false);
        }
        if let Some((_, length)) = look.quote()? {
            look.advance(length);
        }
        if look.blanks()? != b':' {
            return Ok(false);
        }
        look.bump();
        look.blanks()?;
        // The quote after the colon opens a value.
        let Some(length) = look.closer(quote)? else { return Ok(false) };
        look.advance(length);
        let next = look.peek()?;
        Ok(!next.is_ascii_whitespace() && !matches!(next, b',' | b':' | b'}' | b']'))
    }

    /// Decides about a quote directly before a string, without a comma: a missing comma, a string
    /// in two pieces, or a quoted word.
    fn judge_before_string(
        &mut self,
        mut look: Look<'_>,
        quote: Quote,
        close: Verdict,
        broken: bool,
        touching: bool,
    ) -> Result<Verdict, Edge> {
        look.through(quote)?;
        let after = look.space()?;
        if after == b':' {
            return Ok(close);
        }
        let ended = matches!(after, b',' | b'}' | b']' | b'+') || look.closer(quote)?.is_some();
        let pieces = ended && broken && !touching && self.inner_quotes == 0;
        Ok(if pieces { close } else { Verdict::Inner })
    }

    /// Whether a key with its colon follows in quotes of another kind, as in `"x" 'b': 1`. No if it
    /// is not visible.
    fn key_in_other_quotes(&mut self, mut look: Look<'_>) -> Result<bool, Edge> {
        let Some((other @ (Quote::Single | Quote::Double), length)) = look.quote()? else {
            return Ok(false);
        };
        look.advance(length);
        match look.through(other).and_then(|()| look.space()) {
            Err(Edge::More) => Err(Edge::More),
            found => Ok(found == Ok(b':')),
        }
    }

    /// Decides about a quote before a word.
    fn judge_word(
        &mut self,
        mut look: Look<'_>,
        quote: Quote,
        close: Verdict,
        broken: bool,
    ) -> Result<Verdict, Edge> {
        if self.inner.is_quoting() {
            return Ok(Verdict::Inner);
        }
        // A quote directly before a word opens it: `"fix: typo"` in a string is not a member.
        let touching = look.passed() == 0;
        let mut key = look;
        let word = key.word()?;
        if !touching && !word.is_empty() && (broken || key.peek()? == b':') && key.blanks()? == b':'
        {
            return Ok(close);
        }
        // The next quote decides: if it opens a key, this one ends the string.
        let mut separated = false;
        loop {
            let byte = match look.peek() {
                // No further quote: this is the last one, unless code follows.
                Err(Edge::End) if only_words(&look) => return Ok(close),
                Err(Edge::End) => return Ok(Verdict::Inner),
                other => other?,
            };
            if let Some(found) = look.closer(quote)? {
                if !separated {
                    return Ok(Verdict::Inner);
                }
                look.advance(found);
                return Ok(if self.reads_key(&mut look, quote)? { close } else { Verdict::Inner });
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
}

/// Whether the text that was passed is words, followed by nothing but closers.
fn only_words(look: &Look<'_>) -> bool {
    let text = look.seen().trim_ascii();
    let closers = text.iter().rev().take_while(|b| matches!(b, b'}' | b']' | b' ' | b'\n')).count();
    text[..text.len() - closers].iter().all(|b| is_word(*b) || b.is_ascii_whitespace())
}
