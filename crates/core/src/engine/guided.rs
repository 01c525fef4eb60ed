//! What the guide decides: cases that the bytes leave open.
//!
//! Nothing here is asked about valid JSON, so a guide can never change it.

use alloc::sync::Arc;

use super::{
    Engine, Source,
    frames::{Shape, decode},
    source::{Edge, Look, is_word},
};
use crate::{Guide, JsonType, Listed, Member};

/// The longest name, and the longest text to look up in a list of values, in bytes, that the guide
/// is asked about at a blank.
const MAX_TEXT: usize = 256;

/// What may be a member.
struct Candidate<'a> {
    key: &'a [u8],
    /// Whether a colon, or something in place of one, follows the key.
    colon: bool,
    /// At the first byte of its value.
    value: Look<'a>,
}

impl Engine {
    /// What the guide knows of the innermost container.
    fn place(&mut self) -> Option<Arc<dyn Guide>> {
        let Self { options, frames, .. } = self;
        frames.place(options.guide()?)
    }

    /// What the guide knows of the current value in the innermost container, or with `ahead` = 1,
    /// of the value that begins here.
    fn value_place(&mut self, ahead: usize) -> Option<Arc<dyn Guide>> {
        self.place()?;
        self.frames.inside(ahead)
    }

    /// What the guide knows of a member of the innermost object.
    fn member(&mut self, key: &[u8]) -> Option<Member> {
        if key.is_empty() || self.frames.top() != Some(Shape::Object) {
            return None;
        }
        self.steps += key.len() as u64;
        Some(self.place()?.member(&decode(key)))
    }

    /// The member that may follow, and what the guide knows of its name. `None` if it knows
    /// nothing, or the name is not visible.
    fn known<'a>(&mut self, look: Look<'a>) -> Result<Option<(Candidate<'a>, Member)>, Edge> {
        if self.options.guide().is_none() {
            return Ok(None);
        }
        let Some(candidate) = self.candidate(look)? else { return Ok(None) };
        Ok(self.member(candidate.key).map(|member| (candidate, member)))
    }

    /// Whether what follows cannot be a member, because the object does not allow its name, or its
    /// name does not allow its value.
    pub(super) fn forbids_member(&mut self, look: Look<'_>) -> Result<bool, Edge> {
        settled(self.known(look).and_then(|known| match known {
            Some((candidate, _)) if !candidate.colon => Ok(false),
            Some((_, Member::Forbidden)) => Ok(true),
            Some((candidate, Member::Declared(place))) => {
                Ok(!takes_bracket(&*place, candidate.value.peek()?))
            }
            Some((_, Member::Open)) | None => Ok(false),
        }))
    }

    /// Whether a member follows whose name is declared, with a value of the right kind. Without a
    /// colon, the value must also end where a value can end.
    pub(super) fn declares_member(&mut self, look: Look<'_>) -> Result<bool, Edge> {
        let known = self.known(look);
        settled(known.and_then(|known| self.is_declared_member(known)))
    }

    /// Like [`declares_member`](Self::declares_member), for members with a colon only.
    fn declares_member_with_colon(&mut self, look: Look<'_>) -> Result<bool, Edge> {
        let known = self.known(look);
        settled(known.and_then(|known| {
            self.is_declared_member(known.filter(|(candidate, _)| candidate.colon))
        }))
    }

    fn is_declared_member(&mut self, known: Option<(Candidate<'_>, Member)>) -> Result<bool, Edge> {
        let Some((candidate, Member::Declared(place))) = known else { return Ok(false) };
        let mut value = candidate.value;
        let first = value.peek()?;
        if value.at_quote()? {
            return Ok(candidate.colon || place.allows(JsonType::String));
        }
        if matches!(first, b'{' | b'[') {
            return Ok(takes_bracket(&*place, first));
        }
        let from = value.passed();
        while is_word(value.peek()?) || matches!(value.peek()?, b'.' | b'+') {
            value.bump();
        }
        let word = &value.seen()[from..];
        let kind = match word {
            b"true" | b"false" | b"True" | b"False" => JsonType::Boolean,
            b"null" | b"None" => JsonType::Null,
            [b'0'..=b'9' | b'-' | b'+' | b'.', ..]
                if word.iter().skip(1).all(is_digit_of_number)
                    && place.allows(JsonType::Number) =>
            {
                JsonType::Number
            }
            // After a colon, text without quotes can be a value.
            _ if candidate.colon => {
                let begins = place.allows(JsonType::String)
                    && match core::str::from_utf8(word).map(|word| place.listed(word)) {
                        Ok(Listed::No) | Err(_) => false,
                        Ok(Listed::Any | Listed::Begins | Listed::Whole) => true,
                    };
                return Ok(begins);
            }
            // Without a colon, only if its neighbour has none either.
            [_, ..] if self.lacks_colon() => {
                while !matches!(value.peek()?, b',' | b'}' | b':' | b'\n') {
                    value.bump();
                }
                JsonType::String
            }
            _ => return Ok(false),
        };
        Ok(place.allows(kind) && self.ends_as_a_value(value)?)
    }

    /// Whether there was no colon before the value that was begun last.
    pub(super) fn lacks_colon(&self) -> bool {
        self.member.without_colon == Some(self.lex_start)
    }

    /// Whether a scalar ends at `look`, instead of being the beginning of a text: a separator
    /// follows, or the next name with its colon.
    fn ends_as_a_value(&mut self, mut look: Look<'_>) -> Result<bool, Edge> {
        if matches!(look.space()?, b',' | b'}') {
            return Ok(true);
        }
        Ok(self.candidate(look)?.is_some_and(|next| next.colon))
    }

    /// The name and the value of what may be a member at `look`.
    fn candidate<'a>(&mut self, mut look: Look<'a>) -> Result<Option<Candidate<'a>>, Edge> {
        let quoted = look.at_quote()?;
        let key = if let Some((quote, length)) = look.quote()? {
            look.advance(length);
            let from = look.passed();
            look.through(quote)?;
            let text = &look.seen()[from..];
            let closer = (1..=3)
                .rev()
                .find(|&n| text.len() >= n && quote.closer(&text[text.len() - n..]) == Some(n));
            &text[..text.len() - closer.unwrap_or(0)]
        } else {
            let word = look.word()?;
            // `b": 1` has lost its opening quote.
            if look.peek()? == b'"' {
                look.bump();
            }
            word
        };
        let from = look.passed();
        // A word and its colon must be on one line, as without a guide.
        let next = if quoted { look.space() } else { look.blanks() };
        let colon = matches!(next?, b':' | b'=');
        if colon {
            look.bump();
            look.space()?;
        } else if key.is_empty() || look.passed() == from && !quoted {
            return Ok(None);
        }
        Ok(Some(Candidate { key, colon, value: look }))
    }

    /// Whether the value that begins here must be text: a string is allowed, a number is not.
    pub(super) fn wants_text(&mut self) -> bool {
        self.value_place(1)
            .is_some_and(|place| place.allows(JsonType::String) && !place.allows(JsonType::Number))
    }

    /// Whether the value that begins here may be text. True if the guide knows nothing.
    pub(super) fn takes_text(&mut self) -> bool {
        self.value_place(1).is_none_or(|place| place.allows(JsonType::String))
    }

    /// Whether the value that begins here must be a number: a number is allowed, a string is not.
    pub(super) fn wants_number(&mut self) -> bool {
        self.value_place(1)
            .is_some_and(|place| place.allows(JsonType::Number) && !place.allows(JsonType::String))
    }

    /// Whether an unquoted key ends at the blank at `look`: the object declares it, and no colon
    /// follows on this line before the member ends.
    pub(super) fn bare_key_ends_at_blank(
        &mut self,
        source: &Source<'_>,
        mut look: Look<'_>,
    ) -> Result<bool, Edge> {
        let key = source.slice(self.lex_start, self.pos);
        if key.len() > MAX_TEXT {
            return Ok(false);
        }
        if !matches!(self.member(key), Some(Member::Declared(_))) {
            return Ok(false);
        }
        loop {
            match look.peek() {
                Ok(b':' | b'=') => return Ok(false),
                Ok(b',' | b'}' | b'\n' | b'{' | b'[') | Err(Edge::End) => return Ok(true),
                Ok(_) if look.at_quote()? => return Ok(true),
                Ok(_) => look.bump(),
                Err(edge) => return Err(edge),
            }
        }
    }

    /// Whether an unquoted string ends at the blank at `look`. In an object it does before a
    /// declared name, which is a guess. In an array it does if what was read is one of the allowed
    /// values and another one begins, but only on the whole-text path: a stream has already emitted
    /// the text.
    pub(super) fn bare_ends_at_blank(
        &mut self,
        source: &Source<'_>,
        mut look: Look<'_>,
    ) -> Result<bool, Edge> {
        look.blanks()?;
        if self.frames.top() == Some(Shape::Object) {
            return self.declares_member_with_colon(look);
        }
        let word = look.word()?;
        if word.is_empty() {
            return Ok(false);
        }
        let text = source.slice(self.lex_start, self.pos);
        if !self.whole || text.len() > MAX_TEXT {
            return Ok(false);
        }
        let Some(place) = self.value_place(0) else { return Ok(false) };
        let read = |bytes| core::str::from_utf8(bytes).unwrap_or_default();
        self.steps += 3 * text.len() as u64;
        let begins = |text| matches!(place.listed(text), Listed::Whole | Listed::Begins);
        let whole = place.listed(read(text)) == Listed::Whole;
        let both = [text, b" ", word].concat();
        Ok(whole && !begins(read(&both)) && begins(read(word)))
    }
}

/// The guide's answer, or no if what it was asked about is not visible. So a guide that knows
/// nothing changes nothing.
fn settled(answer: Result<bool, Edge>) -> Result<bool, Edge> {
    match answer {
        Err(Edge::End | Edge::Window) => Ok(false),
        other => other,
    }
}

/// Whether a value that begins with `first` is allowed there, as far as brackets are concerned.
/// Scalars can be converted into one another.
fn takes_bracket(place: &dyn Guide, first: u8) -> bool {
    match first {
        b'{' => place.allows(JsonType::Object),
        b'[' => place.allows(JsonType::Array),
        _ => true,
    }
}

const fn is_digit_of_number(byte: &u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-' | b'+')
}
