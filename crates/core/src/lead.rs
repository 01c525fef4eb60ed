//! The text next to a document: what comes before it, and whether there are words on its line.

use crate::{RepairKind, prose::reasoning, scan, signs::ESCAPE};

/// What else is on the line of a document, decided byte by byte.
///
/// Words make the document part of a sentence, unless a colon or an assignment separates them from
/// what follows. Punctuation, tags (`<tool_call>`, `[TOOL_CALLS]`), the info string of a fence, and
/// the number of a list item do not count as words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Whether any words were read.
    words: bool,
    /// Whether a colon or an assignment follows the last of them.
    led: bool,
    /// How many words were read, and whether the text so far could be the left side of an
    /// assignment.
    names: u8,
    is_name: bool,
    /// Whether only digits were read so far.
    number: bool,
    previous: u8,
    within: Within,
    /// Whether comments are recognized here. Words in a comment do not count.
    comments: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// Between words.
    Between,
    Word,
    /// A character outside ASCII, with this many of its bytes still to come.
    Wide(u8),
    /// The first byte of an East Asian character. The second one tells letters from punctuation.
    East,
    /// The first byte, or the first two, of what may be a full-width colon.
    Colon(u8),
    /// After `<`, with the byte that followed it once that is known.
    Tag(Option<u8>),
    /// After `[`, in what looks like a label so far.
    Label,
    /// After this many backticks or tildes of a fence.
    Marks(u8),
    /// After the opening of a fence, up to the end of the line.
    Info,
    /// In a comment, up to the end of the line.
    Comment,
    /// In a sequence for a terminal, as in `ESC[1;39m`, up to its last byte.
    Colour,
}

impl Line {
    /// The part of the document's line before the document.
    pub(crate) const BEFORE: Self = Self {
        words: false,
        led: false,
        names: 0,
        is_name: true,
        number: false,
        previous: b'\n',
        within: Within::Between,
        comments: false,
    };
    /// The part of the document's line after the document.
    pub(crate) const AFTER: Self = Self { comments: true, ..Self::BEFORE };

    /// Reads one byte, which must not be a line feed.
    #[inline]
    pub(crate) const fn byte(&mut self, byte: u8) {
        // Fast path: most bytes of text are letters within a word.
        if matches!(self.within, Within::Word) && byte.is_ascii_alphabetic() {
            self.number = false;
            self.previous = byte;
            return;
        }
        self.other(byte);
    }

    const fn other(&mut self, byte: u8) {
        let within = self.within;
        self.within = Within::Between;
        match (within, byte) {
            (Within::Info | Within::Comment, _) => self.within = within,
            (Within::Colour, b'[' | b';' | b'0'..=b'9') => self.within = within,
            (Within::Colour, _) => {}
            (Within::Marks(count), _) if byte == self.previous => {
                self.within = if count >= 2 { Within::Info } else { Within::Marks(count + 1) };
            }
            (Within::Wide(left), 0x80..=0xBF) if left > 1 => self.within = Within::Wide(left - 1),
            (Within::Wide(_), 0x80..=0xBF) => {}
            (Within::East, 0x80) => self.within = Within::Wide(1),
            (Within::East, 0x81..=0xBF) => self.letter(byte, Within::Word),
            (Within::Colon(0), 0xBC) => self.within = Within::Colon(1),
            (Within::Colon(1), 0x9A) => self.led = true,
            (Within::Colon(_), 0x80..=0xBF) => {}
            (Within::Tag(None), b' ' | b'\t' | b'\r' | b'=' | b'-' | b'0'..=b'9') => {
                self.mark(byte);
            }
            (Within::Tag(None), b'<') => self.within = within,
            (Within::Tag(None), _) => self.within = Within::Tag(Some(byte)),
            (Within::Tag(_), b'>') => {}
            (Within::Tag(_), _) => self.within = within,
            (Within::Label, b'A'..=b'Z' | b'_' | b'/') => self.within = Within::Label,
            (Within::Label, b']') => {}
            (Within::Label, b'a'..=b'z' | b'0'..=b'9' | 0x80..) if self.previous != b'[' => {
                self.letter(byte, Within::Word);
            }
            (Within::Label, _) => {
                // What looked like a label was a word.
                if self.previous != b'[' {
                    self.letter(self.previous, Within::Word);
                    self.within = Within::Between;
                }
                self.plain(byte, Within::Between);
            }
            (Within::Word, b'\'') => self.is_name = false,
            _ => self.plain(byte, within),
        }
        self.previous = byte;
    }

    const fn plain(&mut self, byte: u8, within: Within) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'0'..=b'9' => self.letter(byte, within),
            ESCAPE => self.within = Within::Colour,
            0xC2 => self.within = Within::Wide(1),
            0xE2 => self.within = Within::Wide(2),
            0xF0 => self.within = Within::Wide(3),
            0xE3 => self.within = Within::East,
            0xEF => self.within = Within::Colon(0),
            0x80.. => self.letter(byte, within),
            b'<' => self.within = Within::Tag(None),
            b'[' if !matches!(within, Within::Word) => self.within = Within::Label,
            b'`' | b'~' => self.within = Within::Marks(1),
            b'/' | b'*' if self.comments && self.previous == b'/' => self.within = Within::Comment,
            b'#' if self.comments => self.within = Within::Comment,
            _ => self.mark(byte),
        }
    }

    const fn letter(&mut self, byte: u8, within: Within) {
        if !matches!(within, Within::Word) || self.names == 0 {
            self.names = self.names.saturating_add(1);
            self.number = !self.words && byte.is_ascii_digit();
        }
        self.number &= byte.is_ascii_digit();
        self.words = true;
        self.led = false;
        self.within = Within::Word;
    }

    const fn mark(&mut self, byte: u8) {
        match byte {
            b'.' | b')' if self.number => *self = Self { comments: self.comments, ..Self::BEFORE },
            b':' => self.led = true,
            b'=' => {
                let compares = matches!(self.previous, b'=' | b'!' | b'<' | b'>');
                self.led = self.words && self.is_name && self.names <= 4 && !compares;
            }
            // The end of a sentence or of an aside: the colon introduced only that.
            b'.' | b',' | b';' | b'!' | b'?' | b')' | b'}' => {
                self.led = false;
                self.is_name &= matches!(byte, b'.' | b',');
            }
            b' ' | b'\t' | b'\r' | b'$' | b'[' | b']' | b'"' | b'>' | b'|' | b'-' => {}
            _ => self.is_name = false,
        }
    }

    /// Whether there are words, and nothing separates them from what follows.
    pub(crate) const fn is_sentence(&self) -> bool {
        self.has_words() && !self.led
    }

    /// Whether there are words.
    pub(crate) const fn has_words(&self) -> bool {
        match self.within {
            // A tag that was never closed counts as words, unless it may be only cut off.
            Within::Tag(Some(first)) => self.words || !matches!(first, b'/' | b'|' | 0xEF),
            Within::Label => self.words || self.previous != b'[',
            _ => self.words,
        }
    }

    /// Whether this line opens or closes a fence.
    const fn is_fence(&self) -> bool {
        matches!(self.within, Within::Info)
    }
}

/// Classifies the text before a document, byte by byte from the start of the input.
///
/// Text before a document is dropped. It is [`RepairKind::LeadingProse`], which is likely to lose
/// nothing, if it is on lines of its own, or if it leads to the document on the same line with a
/// colon, an assignment, a tag or a fence. Other words on the document's line make it part of a
/// sentence ([`RepairKind::InlineProse`]). A brace or a bracket that was opened and never closed
/// means that the document may be part of something larger ([`RepairKind::StrayText`]), and so does
/// a key in quotes with its colon directly before it; a key in single or typographic quotes, only on a
/// line after one that ends with a comma. Both kinds are lossy.
///
/// ```
/// use wiremend_core::{Lead, RepairKind};
/// assert_eq!(Lead::of(b"Here it is.\n").kind(), RepairKind::LeadingProse);
/// assert_eq!(Lead::of(b"The answer: ").kind(), RepairKind::LeadingProse);
/// assert_eq!(Lead::of(b"const x = ").kind(), RepairKind::LeadingProse);
/// assert_eq!(Lead::of(b"I can't run ").kind(), RepairKind::InlineProse);
/// assert_eq!(Lead::of(b"{x: [\n").kind(), RepairKind::StrayText);
/// assert_eq!(Lead::of(b"\"a\": 1, \"b\": ").kind(), RepairKind::StrayText);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lead {
    line: Line,
    /// Whether the last line that was not blank opened a fence and had words before it.
    fenced: bool,
    open: Open,
    member: Member,
}

/// How many brackets of each kind are open. A closer counts only for its own kind, because those in
/// strings of a document that is not read would close the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Open {
    braces: u32,
    squares: u32,
    /// The square ones where a parenthesis also closes one, as in the interval `[0, 1)`.
    intervals: u32,
    rounds: u32,
}

impl Open {
    const NONE: Self = Self { braces: 0, squares: 0, intervals: 0, rounds: 0 };

    const fn read(&mut self, byte: u8) {
        match byte {
            b'{' => self.braces = self.braces.saturating_add(1),
            b'}' => self.braces = self.braces.saturating_sub(1),
            b'[' => {
                self.squares = self.squares.saturating_add(1);
                self.intervals = self.intervals.saturating_add(1);
            }
            b']' => {
                self.squares = self.squares.saturating_sub(1);
                self.intervals = self.intervals.saturating_sub(1);
            }
            b'(' => self.rounds = self.rounds.saturating_add(1),
            b')' if self.rounds > 0 => self.rounds -= 1,
            b')' => self.intervals = self.intervals.saturating_sub(1),
            _ => {}
        }
    }
}

/// What is asked for, after `final`.
const ANSWERS: &[&[u8]] = &[
    b"answer",
    b"version",
    b"result",
    b"output",
    b"response",
    b"reply",
    b"solution",
    b"json",
    b"object",
    b"document",
    b"one",
];

impl Lead {
    /// The state before the first byte.
    #[must_use]
    pub const fn new() -> Self {
        Self { line: Line::BEFORE, fenced: false, open: Open::NONE, member: Member::None }
    }

    /// The state after all of `text`, in which reasoning blocks do not count.
    #[must_use]
    pub fn of(text: &[u8]) -> Self {
        let mut lead = Self::new();
        let (mut rest, mut line_start) = (text, true);
        while let [byte, tail @ ..] = rest {
            if line_start
                && let Some((block, length)) = reasoning::open(rest, true).flatten()
                && let Some(inside) = rest.get(length..)
            {
                let (read, close) = block.inside(inside, true);
                rest = inside.get(read + close.unwrap_or_default()..).unwrap_or_default();
                continue;
            }
            lead.byte(*byte);
            line_start = *byte == b'\n' || line_start && byte.is_ascii_whitespace();
            rest = tail;
        }
        lead
    }

    /// Whether the text between two documents says that the second one replaces the first: that it
    /// is the final answer, or a corrected one. Only the line that leads to it counts, if that is a
    /// label or a heading, and only English words: this is for the other crates.
    #[doc(hidden)]
    #[must_use]
    pub fn announces_answer(text: &[u8]) -> bool {
        let is_fence = |line: &&[u8]| line.starts_with(b"```") || line.starts_with(b"~~~");
        let lines = text.rsplit(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let mut lines = lines.filter(|line| !line.is_empty() && !is_fence(line));
        let Some(line) = lines.next() else { return false };
        let is_label = line.trim_ascii_end().ends_with(b":")
            || line.starts_with(b"#")
            || [b"**", b":*", b"__"].iter().any(|end| line.ends_with(*end));
        let of = |word: &[u8], words: &[&[u8]]| {
            words.iter().any(|other| word.eq_ignore_ascii_case(other))
        };
        // A hyphen is part of a word, as in `semi-final`.
        let words = line.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-');
        let mut words = words.filter(|word| !word.is_empty());
        // A number counts something, of which this may be the last.
        let counts = words.clone().any(|word| word.iter().any(u8::is_ascii_digit));
        let (mut is_answer, mut before) = (false, None::<&[u8]>);
        while let Some(word) = words.next() {
            let next = words.clone().next();
            let answer = next.is_some_and(|next| of(next, ANSWERS));
            is_answer |= if of(word, &[b"final"]) {
                answer || next.is_none() && before.is_none()
            } else {
                // What else is corrected, as in `users with corrected vision`, is no answer.
                let leads = before.is_none_or(|before| of(before, &[b"the", b"my", b"a"]));
                of(word, &[b"corrected", b"correction", b"revised"])
                    && (answer || leads || next.is_none())
            };
            before = Some(word);
        }
        is_label && !counts && is_answer
    }

    /// Reads one byte.
    #[inline]
    pub const fn byte(&mut self, byte: u8) {
        self.member = self.member.after(byte);
        match byte {
            b'\n' => {
                if self.line.is_fence() {
                    self.fenced = self.line.is_sentence();
                }
                self.line = Line::BEFORE;
                return;
            }
            // That of a sequence for a terminal opens nothing.
            b'[' if matches!(self.line.within, Within::Colour) => {}
            _ => self.open.read(byte),
        }
        self.fenced &= byte.is_ascii_whitespace();
        self.line.byte(byte);
    }

    /// Reads more bytes. Of lines that neither open nor contain anything, only the last one counts.
    pub fn text(&mut self, text: &[u8]) {
        let line_end = |byte: u8| byte == b'\n';
        let (Some(first), Some(last)) =
            (scan::find(text, line_end), scan::find_last(text, line_end))
        else {
            return self.words(text);
        };
        let (head, rest) = text.split_at(first + 1);
        let (lines, tail) = rest.split_at((last + 1).saturating_sub(first + 1));
        self.words(head);
        // `[` and `{` differ in one bit, and so do `]` and `}`.
        let opens = |byte: u8| {
            (byte | 0x20 == b'{')
                | (byte == b'(')
                | (byte == b'`')
                | (byte == b'~')
                | (byte == b'\x1b')
        };
        let closes = |byte: u8| (byte | 0x20 == b'}') | (byte == b')');
        if scan::find(lines, opens).is_some() {
            self.words(lines);
        } else if let Some(end) = lines.iter().rposition(|byte| !byte.is_ascii_whitespace()) {
            let from = scan::find(lines, closes).unwrap_or(lines.len());
            lines.get(from..).unwrap_or_default().iter().for_each(|byte| self.open.read(*byte));
            self.fenced = false;
            // Whether a key in quotes and its colon end the last of them.
            let text = lines.get(..=end).unwrap_or_default();
            let key = text.strip_suffix(b":").or(text.strip_suffix(b"="));
            let key = key.unwrap_or(text).trim_ascii_end();
            let quote = match key.last() {
                Some(byte) => *byte == b'"',
                None => matches!(self.member, Member::Quote),
            };
            self.member = match text.last() {
                Some(b':' | b'=') if quote => Member::Colon,
                Some(b'"') => Member::Quote,
                Some(b',' | b';') => Member::CommaLine,
                _ => Member::None,
            };
        }
        self.words(tail);
    }

    /// Reads more bytes: one by one, except for words of letters with one blank between them.
    fn words(&mut self, text: &[u8]) {
        let mut rest = text;
        while let [byte, tail @ ..] = rest {
            self.byte(*byte);
            rest = tail;
            if !matches!(self.line.within, Within::Word) {
                continue;
            }
            let mut end = 0;
            loop {
                match rest.get(end..).unwrap_or_default() {
                    [letter, ..] if letter.is_ascii_alphabetic() => end += 1,
                    [b' ', letter, ..] if letter.is_ascii_alphabetic() => {
                        self.line.names = self.line.names.saturating_add(1);
                        end += 2;
                    }
                    _ => break,
                }
            }
            let (words, after) = rest.split_at(end);
            if let Some(last) = words.last() {
                (self.line.number, self.line.previous) = (false, *last);
                self.member = self.member.after_letters(words.contains(&b' '));
                self.fenced = false;
            }
            rest = after;
        }
    }

    /// The repair that drops this text.
    #[must_use]
    pub const fn kind(&self) -> RepairKind {
        match self.kind_of_lines() {
            RepairKind::LeadingProse if self.line.is_sentence() => RepairKind::InlineProse,
            kind => kind,
        }
    }

    /// Whether a brace or a bracket in it was never closed.
    #[must_use]
    pub const fn is_torn(&self) -> bool {
        self.open.braces > 0 || self.open.intervals > 0
    }

    /// The repair that drops the lines before the document's line.
    #[must_use]
    pub const fn kind_of_lines(&self) -> RepairKind {
        if self.open.braces > 0 || self.open.squares > 0 || self.member.is_named() {
            RepairKind::StrayText
        } else if self.fenced {
            RepairKind::InlineProse
        } else {
            RepairKind::LeadingProse
        }
    }
}

impl Default for Lead {
    fn default() -> Self {
        Self::new()
    }
}

// Members in the text before a document, which show that it is part of a larger one.

/// How much of a member was read last, not counting white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Member {
    None,
    Quote,
    Colon,
    Comma,
    /// A comma that ends a line.
    CommaLine,
    /// In the opening quote of a key, with this many bytes of it still to come.
    Opening(u8),
    /// A key in quotes that JSON does not have, at the start of a line. Whether it may have ended.
    OddKey(bool),
    /// A word at the start of a line, which may be a key without quotes. Whether it has ended.
    Word(bool),
    /// The colon after such a key, on the same line.
    OddColon,
}

impl Member {
    /// The state after one more byte.
    const fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::OddKey(_) | Self::Word(_) | Self::OddColon | Self::Opening(_), b'\n') => {
                Self::None
            }
            (Self::Comma, b'\n') => Self::CommaLine,
            (Self::Word(_), b' ' | b'\t') => Self::Word(true),
            (_, b' ' | b'\t' | b'\r' | b'\n') => self,
            (_, b'"') => Self::Quote,
            (Self::Quote, b':' | b'=') => Self::Colon,
            // The rest of `=>`, and the bytes of a wide space.
            (Self::Colon | Self::OddColon, b'>' | 0x80..) => Self::OddColon,
            (Self::Quote, 0x80..) => Self::Word(true),
            (Self::CommaLine, b'\'' | b'`') | (Self::Opening(1), 0x80..) => Self::OddKey(false),
            (Self::CommaLine, 0xC2) | (Self::Opening(2), 0x80) => Self::Opening(1),
            (Self::CommaLine, 0xE2) => Self::Opening(2),
            (Self::CommaLine, b'a'..=b'z' | b'A'..=b'Z' | b'_') => Self::Word(false),
            (Self::Word(false), b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | 0x80..) => {
                Self::Word(false)
            }
            (Self::Word(true), 0x80..) => Self::Word(true),
            (Self::Word(_) | Self::OddKey(true), b':') => Self::OddColon,
            (Self::OddKey(true), b'=') => Self::OddColon,
            // A quote, or the last byte of one. No more of the key follows it.
            (Self::OddKey(_), b'\'' | b'`' | 0x98..=0xBB) => Self::OddKey(true),
            (Self::OddKey(_), 0x80..) | (Self::OddKey(false), b'!'..=b'+' | b'-'..) => {
                Self::OddKey(false)
            }
            (_, b',' | b';') => Self::Comma,
            _ => Self::None,
        }
    }

    /// The state after letters, with blanks between them if `blanks`.
    const fn after_letters(self, blanks: bool) -> Self {
        match self {
            Self::OddKey(false) => self,
            Self::Word(false) if !blanks => self,
            _ => Self::None,
        }
    }

    /// Whether a key and its colon were read last.
    const fn is_named(self) -> bool {
        matches!(self, Self::Colon | Self::OddColon)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn a_line_is_a_sentence_or_a_label() {
        for (text, is_sentence) in [
            ("", false),
            ("I can't run ", true),
            ("Sure! ", true),
            ("No. ", true),
            ("Sure: ", false),
            ("**Result:** ", false),
            ("**Result**: `", false),
            ("Result：", false),
            ("结果：", false),
            ("结果", true),
            ("“", false),
            ("🙂 ", false),
            ("const x = ", false),
            ("let config: Config = ", false),
            ("window.__STATE__=", false),
            ("self.args := ", false),
            ("if x == ", true),
            ("I can't set it = ", true),
            ("then she would have set x = ", true),
            ("<tool_call>", false),
            ("<|python_tag|>", false),
            ("<function=run> ", false),
            ("I refuse <b> ", true),
            ("a < b ", true),
            ("[TOOL_CALLS] ", false),
            ("[TOOL_CALLS", true),
            ("[Output] ", true),
            ("[x] ", true),
            ("- ", false),
            ("1. ", false),
            ("2) ", false),
            ("3 ", true),
            ("> ", false),
            ("-- ", false),
            ("// never run ", true),
            ("```json ", false),
            ("run ```json ", true),
            ("run `", true),
            ("(I mean: this) ", true),
            ("That is it: no. ", true),
            ("12:30 ", true),
            ("f(", true),
        ] {
            let mut line = Line::BEFORE;
            text.bytes().for_each(|byte| line.byte(byte));
            assert_eq!(line.is_sentence(), is_sentence, "{text}");
        }
    }

    #[test]
    fn text_at_once_is_text_byte_by_byte() {
        const PARTS: [&str; 27] = [
            "“a”: “x”,\n",
            "  “b c”: ",
            ",\n",
            "`k`",
            "\x1b",
            "\x1b[0m",
            "\n\x1b] x\n",
            "a word",
            " two more",
            "1",
            "x2 y ",
            "it's",
            ":",
            "\"k\"",
            " ",
            "\n)",
            "\n\n",
            "{",
            "]",
            "}",
            "```json",
            "`",
            ".\n",
            "x =",
            "<b>",
            "结",
            "\"\n:",
        ];
        let mut seed = 11_u32;
        for round in 0..6000 {
            let mut text = alloc::vec::Vec::new();
            for _ in 0..1 + round % 24 {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                text.extend_from_slice(PARTS[(seed >> 16) as usize % PARTS.len()].as_bytes());
            }
            let (mut bytes, mut runs) = (Lead::new(), Lead::new());
            text.iter().for_each(|byte| bytes.byte(*byte));
            text.chunks(1 + round % 31).for_each(|chunk| runs.text(chunk));
            assert_eq!(bytes, runs, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn a_label_announces_the_answer() {
        for (text, announces) in [
            ("\n\nFinal answer:\n", true),
            ("Here is the corrected version:\n\n```json\n", true),
            ("## Final Answer\n", true),
            ("**Corrected**\n", true),
            ("The **final** output:\n", true),
            ("Revised:\n", true),
            ("I have corrected the date. ", false),
            ("2. Final section:\n", false),
            ("And finally the second user:", false),
            ("Semi-final:\n", false),
            ("Cup final:\n", false),
            ("Final:\n", true),
            ("Users with corrected vision:\n", false),
            ("Here is the corrected booking:\n", true),
            ("User two, who sat the final exam:", false),
            ("Final answer:\n\nAnd another one:\n", false),
            ("", false),
        ] {
            assert_eq!(Lead::announces_answer(text.as_bytes()), announces, "{text}");
        }
    }

    #[test]
    fn text_before_a_document() {
        use RepairKind::{InlineProse, LeadingProse, StrayText};
        for (text, kind) in [
            ("I can't do that.\n", LeadingProse),
            ("I can't do that\n  ", LeadingProse),
            ("Here:\n```json\n", LeadingProse),
            ("Here is ```json\n", InlineProse),
            ("Here is ```json\nand more\n", LeadingProse),
            ("See {x} and [1]:\n", LeadingProse),
            ("See {x and [1]:\n", StrayText),
            ("}\n", LeadingProse),
        ] {
            assert_eq!(Lead::of(text.as_bytes()).kind(), kind, "{text}");
        }
    }

    #[test]
    fn a_key_without_quotes_of_json_counts_after_a_line_with_a_comma() {
        for (text, kind) in [
            ("«a»: «x»,\n«b»: ", RepairKind::StrayText),
            ("'a': 1,\n  'b c': ", RepairKind::StrayText),
            ("Dear all,\nthis is `b`: ", RepairKind::LeadingProse),
            ("Dear all,\n`b` and 'c': ", RepairKind::LeadingProse),
            ("«a»: «x»\n«b»: ", RepairKind::LeadingProse),
            ("`a`: 1,\n`b`:\n", RepairKind::LeadingProse),
            ("'a'= 1,\n'b' =>", RepairKind::StrayText),
            ("a: 1,\n\n b_2 : ", RepairKind::StrayText),
            ("a: 1;\nb:\u{3000}", RepairKind::StrayText),
            ("\"a\"\u{A0}: 1, \"b\"\u{A0}: ", RepairKind::StrayText),
            ("\"a\" => 1, \"b\" => ", RepairKind::StrayText),
            ("a: 1\nb: ", RepairKind::LeadingProse),
            ("Dear all,\nthe result: ", RepairKind::LeadingProse),
            ("x = 1;\ny = ", RepairKind::LeadingProse),
        ] {
            assert_eq!(Lead::of(text.as_bytes()).kind(), kind, "{text}");
            let mut lead = Lead::new();
            lead.text(text.as_bytes());
            assert_eq!(lead, Lead::of(text.as_bytes()), "{text}");
        }
    }
}
