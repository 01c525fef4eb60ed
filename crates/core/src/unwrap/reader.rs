//! Takes a wrapper off a text that arrives in pieces.

use alloc::{collections::VecDeque, vec::Vec};

use super::{Unwrapped, Wrapper};
use crate::{
    RepairKind,
    prose::{Found, Marks},
};

/// Turns text in a wrapper into the text that was wrapped.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    wrapper: Wrapper,
    /// The marks of the next line, and whether a line begins here.
    line: Option<(Marks, bool)>,
    /// What cannot be read before more has arrived: a part of a mark, an entity or an escape.
    held: Vec<u8>,
    /// The offset of the next byte in the text, and in what it becomes.
    raw: usize,
    inner: usize,
}

/// What is at the start of a text.
enum Token {
    /// This many bytes that stay as they are.
    Plain(usize),
    /// This many bytes that become this character, or are dropped.
    Wrapped(usize, Option<char>),
    /// Something of which not all has arrived.
    Part,
}

impl Reader {
    /// Takes `wrapper` off a text from `offset` on, before which nothing was changed.
    pub(crate) fn new(wrapper: Wrapper, offset: usize) -> Self {
        let line = match wrapper {
            Wrapper::Lines { marks, within } => Some((marks, !within)),
            Wrapper::Entities | Wrapper::Escapes => None,
        };
        Self { wrapper, line, held: Vec::new(), raw: offset, inner: offset }
    }

    /// How taking the wrapper off is reported.
    pub(crate) const fn kind(&self) -> RepairKind {
        self.wrapper.kind()
    }

    /// The offset of that in the text that was wrapped.
    pub(crate) const fn inner(&self) -> usize {
        self.inner
    }

    /// Reads more of the text. Appends what it becomes, and lists the edits. `last` says that it ends
    /// here.
    pub(crate) fn read(
        &mut self,
        text: &[u8],
        last: bool,
        inner: &mut Vec<u8>,
        edits: &mut VecDeque<Unwrapped>,
    ) {
        if self.held.is_empty() {
            let read = self.read_piece(text, last, inner, edits);
            self.held.extend_from_slice(text.get(read..).unwrap_or_default());
        } else {
            let mut joint = core::mem::take(&mut self.held);
            joint.extend_from_slice(text);
            let read = self.read_piece(&joint, last, inner, edits);
            joint.drain(..read);
            self.held = joint;
        }
    }

    fn read_piece(
        &mut self,
        text: &[u8],
        last: bool,
        inner: &mut Vec<u8>,
        edits: &mut VecDeque<Unwrapped>,
    ) -> usize {
        let mut at = 0;
        while let Some(rest @ [_, ..]) = text.get(at..) {
            match self.token(rest, last) {
                Token::Plain(length) => {
                    inner.extend_from_slice(rest.get(..length).unwrap_or(rest));
                    at += length;
                    self.raw += length;
                    self.inner += length;
                }
                Token::Wrapped(length, after) => {
                    let edit = Unwrapped::new(
                        self.wrapper.kind(),
                        self.raw..self.raw + length,
                        self.inner,
                        after,
                    );
                    inner.extend_from_slice(edit.after());
                    at += length;
                    self.raw += length;
                    self.inner += edit.after().len();
                    edits.push_back(edit);
                }
                Token::Part => break,
            }
        }
        at
    }

    fn token(&mut self, text: &[u8], last: bool) -> Token {
        match self.wrapper {
            Wrapper::Lines { .. } => self.mark(text, last),
            Wrapper::Entities => match text.iter().position(|byte| *byte == b'&') {
                Some(0) => entity(text, last),
                until => Token::Plain(until.unwrap_or(text.len())),
            },
            Wrapper::Escapes => match text.iter().position(|byte| *byte == b'\\') {
                Some(0) => escape(text, last),
                until => Token::Plain(until.unwrap_or(text.len())),
            },
        }
    }

    fn mark(&mut self, text: &[u8], last: bool) -> Token {
        let Some((marks, begins)) = &mut self.line else { return Token::Plain(text.len()) };
        if !*begins {
            let end = text.iter().position(|byte| *byte == b'\n');
            *begins = end.is_some();
            return Token::Plain(end.map_or(text.len(), |end| end + 1));
        }
        match marks.next(text, last) {
            Found::More => Token::Part,
            Found::None => {
                *begins = false;
                Token::Plain(0)
            }
            Found::Mark(length, next) => {
                (*marks, *begins) = (next, false);
                Token::Wrapped(length, None)
            }
        }
    }
}

/// The longest entity that is decoded, in bytes.
const LONGEST_ENTITY: usize = 10;

/// Decodes the entity at the start of `text`, one level of it: `&amp;lt;` becomes `&lt;`.
fn entity(text: &[u8], last: bool) -> Token {
    let seen = text.get(..LONGEST_ENTITY).unwrap_or(text);
    let name = seen.get(1..).unwrap_or_default();
    let end = name.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'#');
    let Some(end) = end else {
        let open = seen.len() < LONGEST_ENTITY && !last;
        return if open { Token::Part } else { Token::Plain(1) };
    };
    let (name, after) = name.split_at(end);
    let character = match name {
        _ if after.first() != Some(&b';') => None,
        b"quot" | b"QUOT" => Some('"'),
        b"apos" => Some('\''),
        b"amp" | b"AMP" => Some('&'),
        b"lt" | b"LT" => Some('<'),
        b"gt" | b"GT" => Some('>'),
        b"nbsp" => Some('\u{a0}'),
        b"ldquo" => Some('\u{201c}'),
        b"rdquo" => Some('\u{201d}'),
        b"lsquo" => Some('\u{2018}'),
        b"rsquo" => Some('\u{2019}'),
        [b'#', b'x' | b'X', digits @ ..] => character(digits, 16),
        [b'#', digits @ ..] => character(digits, 10),
        _ => None,
    };
    match character {
        Some(character) => Token::Wrapped(end + 2, Some(character)),
        None => Token::Plain(1),
    }
}

/// The character with this number, if it may be in a text.
fn character(digits: &[u8], radix: u32) -> Option<char> {
    let mut number = 0_u32;
    for digit in digits {
        number = number.checked_mul(radix)?.checked_add((*digit as char).to_digit(radix)?)?;
    }
    let spaces = matches!(number, 9 | 10 | 13);
    char::from_u32(number).filter(|_| !digits.is_empty() && (number >= 0x20 || spaces))
}

/// Removes one level from the escape at the start of `text`.
fn escape(text: &[u8], last: bool) -> Token {
    let Some(next) = text.get(1) else {
        return if last { Token::Plain(1) } else { Token::Part };
    };
    let character = match next {
        b'"' | b'\\' | b'/' => char::from(*next),
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return unit(text, last),
        _ => return Token::Plain(1),
    };
    Token::Wrapped(2, Some(character))
}

/// The same for `\u` and its digits, which may be half of a character.
fn unit(text: &[u8], last: bool) -> Token {
    let value = |text: &[u8]| match text.get(..6) {
        Some([b'\\', b'u', digits @ ..]) => {
            let digit = |byte: &u8| (*byte as char).to_digit(16);
            digits.iter().try_fold(0, |value, byte| Some(value * 16 + digit(byte)?)).ok_or(true)
        }
        Some(_) => Err(true),
        None => Err(last),
    };
    match value(text) {
        Ok(high @ 0xD800..=0xDBFF) => match value(text.get(6..).unwrap_or_default()) {
            Ok(low @ 0xDC00..=0xDFFF) => {
                let number = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                Token::Wrapped(12, char::from_u32(number))
            }
            Err(false) => Token::Part,
            Ok(_) | Err(true) => Token::Plain(1),
        },
        Ok(number) => match char::from_u32(number) {
            // A control character stays escaped.
            Some(character) if number >= 0x20 => Token::Wrapped(6, Some(character)),
            _ => Token::Plain(1),
        },
        Err(true) => Token::Plain(1),
        Err(false) => Token::Part,
    }
}
