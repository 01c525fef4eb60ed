//! Recognizing the next token.

use super::{Engine, Expect, Source, Token, quote::Quote, source::Edge};

impl Engine {
    /// The token that begins at `pos`. Some need look-ahead.
    pub(super) fn token(&mut self, source: &Source<'_>) -> Result<Token, Edge> {
        let Some(byte) = source.byte(self.pos) else {
            return if source.is_last() { Ok(Token::End) } else { Err(Edge::More) };
        };
        let look = source.look(self.pos, self.window);
        let after_value = matches!(self.expect, Expect::ItemEnd | Expect::MemberEnd);
        let next = || match look.peek_at(1) {
            Err(Edge::End | Edge::Window) => Ok(0),
            other => other,
        };
        Ok(match byte {
            b'"' | b'\'' => Token::Quote,
            b'{' => Token::ObjectOpen,
            b'[' => Token::ArrayOpen,
            b'(' => Token::GroupOpen,
            b'}' => Token::ObjectClose,
            b']' => Token::ArrayClose,
            b')' => Token::GroupClose,
            b',' => Token::Comma,
            b':' => Token::Colon,
            b'=' => Token::Equals,
            b';' => Token::Semicolon,
            b'0'..=b'9' => Token::Number,
            b'-' if matches!(next()?, b'0'..=b'9' | b'.' | b'I' | b'i') => Token::Number,
            b'+' if matches!(next()?, b'0'..=b'9' | b'.') => Token::Number,
            // `+Infinity` may be a value; after a value, `+` joins strings.
            b'+' if !after_value && matches!(next()?, b'I' | b'i' | b'N' | b'n') => Token::Number,
            b'+' => Token::Plus,
            // `"key" -> value`
            b'-' if self.expect == Expect::Colon && next()? == b'>' => Token::Equals,
            b'-' if next()? == 0 => Token::Number,
            b'.' => match next()? {
                b'.' => Token::Ellipsis,
                b'0'..=b'9' => Token::Number,
                _ => Token::Word,
            },
            b'`' | b'~' => {
                let fence: &[u8] = if byte == b'`' { b"```" } else { b"~~~" };
                let mut after = look;
                while after.peek() == Ok(byte) {
                    after.bump();
                }
                match (look.starts_with(fence), after.space()) {
                    (Ok(true), _) => Token::Fence,
                    (Err(Edge::More), _) | (_, Err(Edge::More)) => return Err(Edge::More),
                    // The end of the input cut off a fence.
                    (_, Err(Edge::End)) if self.expect == Expect::Document => Token::Word,
                    _ if byte == b'`' => Token::Quote,
                    _ => Token::Word,
                }
            }
            b'\\' if next()? == b'"' => Token::Quote,
            0xc2 | 0xe2 | 0xef => {
                let need = if byte == 0xc2 { 1 } else { 2 };
                if look.peek_at(need) == Err(Edge::More) {
                    return Err(Edge::More);
                }
                if Quote::of(look.rest()).is_some() {
                    Token::Quote
                } else if look.rest().starts_with("…".as_bytes()) {
                    Token::Ellipsis
                } else {
                    Token::Word
                }
            }
            _ => Token::Word,
        })
    }
}
