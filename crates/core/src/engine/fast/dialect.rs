//! Dialects of JSON that are written consistently: Python's `repr`, and JavaScript's literals.
//!
//! They differ from JSON in few tokens: strings in single quotes, `True`, `False` and `None`, keys
//! without quotes, and a comma after the last member or item. In a text in such a dialect each of
//! them occurs thousands of times, and what follows it shows at once how the rules would read it.
//! The fast path reads these tokens, and makes the edits that the rules would make.
//!
//! Everything else is left to the rules, among them an apostrophe in single quotes, a comma after
//! the last value of the document, and a key without quotes that white space follows.

use super::{
    Delimiter, End, Engine, FastPath, MAX_TOKEN,
    characters::{Utf8Blocks, characters},
    content::{After, Content},
    tokens::{self, Key},
};
use crate::{
    MendOptions, RepairKind,
    engine::{Text, quote::Quote},
    scan,
};

/// A value in single quotes.
pub(super) const SINGLE: Text = Text::new(Quote::Single, false, 1);

/// Whether a text may be in a dialect, and whether it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    /// Whether the policy allows every repair that a dialect needs.
    allowed: bool,
    /// Whether any such repair was made on the fast path.
    seen: bool,
}

impl Dialect {
    pub(super) const NONE: Self = Self { allowed: false, seen: false };

    pub(super) fn of(options: &MendOptions) -> Self {
        Self { allowed: options.policy().allows_dialects(), seen: false }
    }

    pub(super) const fn is_allowed(self) -> bool {
        self.allowed
    }

    /// Notes that the fast path is entered, in a string in single quotes or not. Text that was left
    /// to the rules may have been the last in the dialect.
    pub(super) const fn enter(&mut self, single: bool) {
        self.seen = single;
    }

    /// Notes that the text is in a dialect.
    #[inline(always)]
    pub(super) const fn note(&mut self) {
        self.seen = true;
    }

    #[inline(always)]
    pub(super) const fn is_seen(self) -> bool {
        self.seen
    }
}

impl FastPath {
    /// Notes that the text has gone on as JSON. No edit may be left to commit, and no string or key
    /// may be open. The automaton for JSON knows only double quotes.
    pub(super) const fn leave_dialect(&mut self) {
        self.dialect.seen = false;
        self.quote = Delimiter::Double;
        self.key_quote = Delimiter::Double;
    }

    /// Whether a single quote in `text` may end the current string.
    #[inline(never)]
    pub(super) fn ends_with_single(text: &[u8]) -> bool {
        text.contains(&b'\'')
    }

    /// Whether `byte`, which is unusual in JSON, may be usual in a dialect.
    #[inline(never)]
    pub(super) fn begins_dialect(&self, byte: u8) -> bool {
        self.dialect.allowed && (begins_name(byte) || matches!(byte, b'\'' | b'}' | b']'))
    }

    /// The end of the key that is being read, of which the rest is at `at`: the index of its closing
    /// quote, or of the colon after a key without quotes.
    pub(super) fn dialect_key_end(
        &mut self,
        text: &[u8],
        base: usize,
        at: usize,
    ) -> Result<usize, End> {
        let (end, stop) = match self.key_quote {
            Delimiter::None => (name_end(text, at), b':'),
            _ => {
                let run = scan::string_run(text, at, b'\'');
                self.ascii &= run.ascii;
                (run.end, b'\'')
            }
        };
        let length = base + end - self.key.0;
        if length >= MAX_TOKEN {
            return Err(End::Unusual(self.key.0 + MAX_TOKEN));
        }
        match text.get(end) {
            None => Err(End::More),
            Some(byte) if *byte == stop && length > 0 => Ok(end),
            Some(_) => Err(End::Unusual(base + end)),
        }
    }
}

impl Engine {
    /// Makes an edit after all others. It is not committed.
    #[inline]
    pub(super) fn fast_edit(
        &mut self,
        kind: RepairKind,
        start: usize,
        end: usize,
        after: &'static str,
    ) {
        self.fast.dialect.note();
        self.script.append(kind, start, end, after);
    }

    /// Whether there are as many edits as may be kept at a time. What comes then is left to the rules.
    #[inline(always)]
    pub(super) const fn is_crowded(&self) -> bool {
        self.script.edits.len() >= self.script.most
    }

    /// Makes the edits of a key whose content is between `from` and `to`.
    #[inline(always)]
    pub(super) fn fast_key_edits(&mut self, from: usize, to: usize, delimiter: Delimiter) {
        match delimiter {
            Delimiter::Double => {}
            Delimiter::Single => {
                self.fast_edit(RepairKind::SingleQuote, from - 1, from, "\"");
                self.fast_edit(RepairKind::SingleQuote, to, to + 1, "\"");
            }
            Delimiter::None => {
                self.fast_edit(RepairKind::UnquotedKey, from, from, "\"");
                self.fast_edit(RepairKind::UnquotedKey, to, to, "\"");
            }
        }
    }

    /// Makes the edit of a quote at `at`, if it is a single one.
    #[inline(always)]
    pub(super) fn fast_quote_edit(&mut self, at: usize) {
        if self.fast.quote == Delimiter::Single {
            self.fast_edit(RepairKind::SingleQuote, at, at + 1, "\"");
        }
    }

    /// Makes the edit of the literal between `start` and `end` that begins with `first`, if it is
    /// one of Python's.
    #[inline(always)]
    pub(super) fn fast_literal_edit(&mut self, first: u8, start: usize, end: usize) {
        let json = match first {
            b'T' => "true",
            b'F' => "false",
            b'N' => "null",
            _ => return,
        };
        self.fast_edit(RepairKind::PythonLiteral, start, end, json);
    }

    /// Reads the string in single quotes at `value` as a whole, and makes the edits in it except for
    /// the one of its closing quote. `None` if it does not end in this text: then it must be read
    /// again, and [`take_back`](Self::take_back) removes the edits.
    pub(super) fn bulk_single(
        &mut self,
        text: &[u8],
        base: usize,
        value: usize,
    ) -> Option<Content> {
        let at = base + value;
        self.fast_edit(RepairKind::SingleQuote, at, at + 1, "\"");
        let mut next = value + 1;
        match *text.get(next)? {
            // Two quotes may be a delimiter, and one after a bracket may begin something in it.
            b'\'' if !matches!(text.get(next + 1)?, b',' | b'}' | b']') => return None,
            b'{' | b'[' if *text.get(next + 1)? == b'\'' => return None,
            _ => {}
        }
        loop {
            let read = content(text, next);
            match read.after {
                After::Quote => {
                    let from = if read.from > next { read.from } else { next };
                    return Some(Content { from, ..read });
                }
                After::Double => {
                    let at = base + read.end;
                    self.fast_edit(RepairKind::SingleQuote, at, at, "\\");
                    next = read.end + 1;
                }
                After::Escape if text.get(read.end + 1) == Some(&b'\'') => {
                    let at = base + read.end;
                    self.fast_edit(RepairKind::SingleQuote, at, at + 1, "");
                    next = read.end + 2;
                }
                After::Escape | After::End | After::Cut(_) | After::Unusual => return None,
            }
        }
    }

    /// Takes back all edits but the first `edits`.
    pub(super) fn take_back(&mut self, edits: usize) {
        let made = self.script.edits.len() - edits;
        self.script.edits.truncate(edits);
        self.script.serial -= made;
    }

    /// Makes the edit that drops a comma.
    #[inline]
    pub(super) fn fast_comma_edit(&mut self, comma: usize) {
        self.fast_edit(RepairKind::ExtraComma, comma, comma + 1, "");
    }
}

/// Whether a byte begins a key without quotes.
#[inline]
const fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$')
}

/// What delimits the key that begins with `byte`.
#[inline]
pub(super) const fn key_delimiter(byte: u8) -> Option<Delimiter> {
    match byte {
        b'"' => Some(Delimiter::Double),
        b'\'' => Some(Delimiter::Single),
        byte if begins_name(byte) => Some(Delimiter::None),
        _ => None,
    }
}

/// The end of the name at `at`.
#[inline]
pub(super) fn name_end(text: &[u8], at: usize) -> usize {
    let mut end = at;
    while text.get(end).is_some_and(|byte| begins_name(*byte) || byte.is_ascii_digit()) {
        end += 1;
    }
    end
}

/// Like [`tokens::key`], for a key in a dialect.
#[inline(always)]
pub(super) fn key(text: &[u8], at: usize, blocks: &mut Utf8Blocks) -> Option<Key> {
    let start = tokens::gap(text, at)?;
    let (from, to, after, quote) = match text[start] {
        b'"' => return tokens::key(text, start, blocks),
        b'\'' => {
            let run = scan::string_run(text, start + 1, b'\'');
            if *text.get(run.end)? != b'\'' {
                return None;
            }
            if !run.ascii && core::str::from_utf8(&text[start + 1..run.end]).is_err() {
                return None;
            }
            (start + 1, run.end, tokens::gap(text, run.end + 1)?, Delimiter::Single)
        }
        byte if begins_name(byte) => {
            let end = name_end(text, start);
            (start, end, end, Delimiter::None)
        }
        _ => return None,
    };
    if to == from || to - from >= MAX_TOKEN - 1 || *text.get(after)? != b':' {
        return None;
    }
    Some(Key { from, to, value: tokens::gap(text, after + 1)?, quote })
}

/// The end of the literal of Python at `at`, if it is one and something follows it.
#[inline]
pub(super) fn literal(text: &[u8], at: usize) -> Option<usize> {
    let word: &[u8] = word(*text.get(at)?)?;
    let end = at + word.len();
    (text.get(at..end)? == word && end < text.len()).then_some(end)
}

/// The literal that begins with this byte, which is one that begins a literal.
#[inline(always)]
pub(super) const fn literal_word<const DIALECT: bool>(first: u8) -> &'static [u8] {
    match (first, word(first)) {
        (b't', _) => b"true",
        (b'f', _) => b"false",
        (_, Some(word)) if DIALECT => word,
        _ => b"null",
    }
}

/// The literal of Python that begins with this byte.
#[inline]
pub(super) const fn word(first: u8) -> Option<&'static [u8]> {
    match first {
        b'T' => Some(b"True"),
        b'F' => Some(b"False"),
        b'N' => Some(b"None"),
        _ => None,
    }
}

/// Reads the content of a string in single quotes, up to its end or to something that needs an edit.
#[inline]
pub(super) fn content(text: &[u8], start: usize) -> Content {
    let (mut from, mut end) = (start, scan::single_run(text, start));
    let after = loop {
        match text.get(end) {
            Some(b'\'') => break After::Quote,
            Some(b'"') => break After::Double,
            Some(b'\\') => match tokens::escape_end(text, end) {
                Some(after) => (from, end) = (after, scan::single_run(text, after)),
                None => break After::Escape,
            },
            Some(0x80..) => {
                if let Some(broken) = characters(text, &mut end) {
                    break broken;
                }
                end = scan::single_run(text, end);
            }
            Some(_) => break After::Unusual,
            None => break After::End,
        }
    };
    Content { from, end, after }
}
