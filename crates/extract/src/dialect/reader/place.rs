//! What comes before a place of text.

use super::{
    CallExtractor,
    defined::{LAST, goes_on, is_defined},
};
use crate::dialect::{json::window, wake::is_word};

/// How far the end of inline code is looked for, in bytes.
const LONGEST_CODE: usize = 1024;

/// What precedes a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextBefore {
    /// Whether nothing but white space was read.
    pub(super) at_start: bool,
    /// Whether there is text between the last call and the place.
    pub(super) spoke: bool,
    /// Whether there was a call before.
    pub(super) called: bool,
    /// Whether a marker of the dialect comes directly before it.
    pub(super) marked: bool,
    /// Whether it is in a part of a program that is shown, and in a text in which no call is written.
    pub(super) shown: bool,
    pub(super) foreign: bool,
    /// The bytes before it.
    pub(super) last: [u8; LAST],
}

impl TextBefore {
    /// After a marker, where a line might as well begin.
    pub(super) const AFTER_MARKUP: Self = Self {
        at_start: false,
        spoke: false,
        called: false,
        marked: false,
        shown: false,
        foreign: false,
        last: [b'\n'; LAST],
    };

    /// The byte directly before it.
    pub(super) const fn prev(&self) -> u8 {
        self.last[LAST - 1]
    }

    /// The byte before that.
    pub(super) const fn before(&self) -> u8 {
        self.last[LAST - 2]
    }

    /// The byte that is so far before it. What is further back than is kept between two chunks does not
    /// count.
    fn back(&self, distance: usize) -> Option<u8> {
        self.last.get(LAST.checked_sub(distance)?).copied()
    }

    /// Whether a function is defined here: the word before is `def` or the like.
    pub(super) fn defines(&self) -> bool {
        is_defined(|distance| self.back(distance))
    }

    /// Whether the arguments of a function begin before it, as in `VALUES (now())`.
    pub(super) fn is_argument(&self) -> bool {
        let mut before = self.last.iter().rev().skip(1);
        self.prev() == b'(' && before.find(|byte| **byte != b' ').is_some_and(|byte| is_word(*byte))
    }

    /// Whether it is the first statement of a block in a program: it is indented below a colon.
    pub(super) fn begins_block(&self) -> bool {
        let bytes = || self.last.iter().rev().copied();
        let blanks = bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
        // Text that introduces a call may be followed by one that is indented a little.
        let indented = self.prev() == b'\t' || blanks.clone().count() >= 4;
        let mut above = bytes().skip(blanks.count());
        indented && above.next() == Some(b'\n') && above.find(|byte| *byte != b'\r') == Some(b':')
    }

    /// Whether the body of a function without a name begins here, as after `lambda:` and `() =>`.
    pub(super) fn is_body(&self) -> bool {
        let line = self.last.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let before = line.trim_ascii_end();
        let arrow = before.strip_suffix(b"=>").map(<[u8]>::trim_ascii_end);
        arrow.is_some_and(|before| before.ends_with(b")"))
            || before.ends_with(b":") && before.windows(6).any(|word| word == b"lambda")
    }

    /// Whether a sentence or a comment goes on here.
    pub(super) fn goes_on(&self) -> bool {
        goes_on(|distance| self.back(distance), self.called)
    }

    /// How many bytes directly before it open inline code, a list or a string, and whether that is no list
    /// alone.
    fn opened(&self) -> (usize, bool) {
        let opens = |byte: &&u8| matches!(byte, b'`' | b'[' | b'\'' | b'"');
        let opened = self.last.iter().rev().take(3).take_while(opens);
        (opened.clone().count(), opened.clone().any(|byte| *byte != b'['))
    }

    /// Whether it is set in bold, or is inline code that begins an item of a list.
    pub(super) fn is_named(&self) -> bool {
        let line = self.last.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let item = line.strip_suffix(b"`").map(<[u8]>::trim_ascii);
        let item = item.is_some_and(|item| matches!(item, b"-" | b"*" | b"+") || is_number(item));
        line.ends_with(b"**") || line.ends_with(b"**`") || item
    }

    /// Whether a sentence goes on before inline code, a string or parentheses that begin directly before it,
    /// or with it if it is `quoted`.
    pub(super) fn is_shown(&self, quoted: bool) -> bool {
        let (opened, begins) = self.opened();
        let alone = opened == 0 && self.prev() == b'(' && !is_word(self.before());
        let opened = opened + usize::from(alone);
        (begins || alone || quoted) && goes_on(|distance| self.back(distance + opened), self.called)
    }

    /// Whether a program assigns an object here, or passes it to a function: it is data.
    pub(super) fn is_operand(&self) -> bool {
        let before = self.last.iter().rev().skip_while(|byte| byte.is_ascii_whitespace());
        is_operand(before) || self.is_assigned(false)
    }

    /// Whether a string is assigned here, which has begun or is to begin, as in `onclick="…"`.
    pub(super) fn is_assigned(&self, quoted: bool) -> bool {
        let open = matches!(self.prev(), b'"' | b'\'');
        let mut before = self.last.iter().rev().skip(usize::from(open && !quoted));
        let before = before.find(|byte| !matches!(byte, b' ' | b'\t'));
        (open || quoted) && matches!(before, Some(b'=' | b':'))
    }

    /// Whether a comment, the cell of a table or a quoted line begins directly before it, as in `// {"name": …`.
    pub(super) fn is_noted(&self) -> bool {
        let mut before = self.last.iter().rev().skip_while(|byte| matches!(byte, b' ' | b'\t'));
        matches!(
            (before.next(), before.next()),
            (Some(b'#' | b'|'), _)
                | (Some(b'/' | b'*'), Some(b'/'))
                | (Some(b'-'), Some(b'-'))
                | (Some(b'>'), Some(b'\n'))
        )
    }

    /// Whether the cell of a table or a quoted line begins directly before it, or before inline code and a
    /// list that do.
    pub(super) fn is_cell(&self) -> bool {
        let before = self.last.iter().rev().skip(self.opened().0);
        let mut before = before.skip_while(|byte| matches!(byte, b' ' | b'\t'));
        match before.next() {
            Some(b'|') => before.next().is_some_and(u8::is_ascii_whitespace),
            Some(b'>') => before.next() == Some(&b'\n'),
            _ => false,
        }
    }

    /// Whether what is written here came of something, or only shows how a function is used: after a label that
    /// says so, the prompt of an interpreter, and the sign of a decorator or a formula.
    pub(super) fn is_reported(&self) -> bool {
        // A traceback of Python shows the line that failed below its place.
        let labels: [&[u8]; 9] = [
            b"Observation:",
            b"Output:",
            b"Usage:",
            b"Syntax:",
            b"Example:",
            b"example:",
            b"Wrong:",
            b"\n>>>",
            b"in <module>",
        ];
        // The marks of what is done, and of what is to be done, are before it on its line.
        let marks = ["[x]", "[ ]", "✅", "✔", "✓"];
        let before = self.last.trim_ascii_end();
        let line = self.last.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = line.trim_ascii_end();
        // A formula of a spreadsheet, and the input of a notebook.
        let formula = self.prev() == b'=' && !is_word(self.before()) && self.before() != b' ';
        formula
            || self.prev() == b'@'
            || line.starts_with(b"In [") && line.ends_with(b"]:")
            || labels.iter().any(|label| before.ends_with(label))
            || marks.iter().any(|mark| line.ends_with(mark.as_bytes()))
    }

    /// Whether nothing but blanks comes before it on its line.
    pub(super) fn begins_line(&self) -> bool {
        let mut bytes = self.last.iter().rev();
        bytes.find(|byte| !matches!(byte, b' ' | b'\t')) == Some(&b'\n')
    }

    /// Whether the place is inside of a word.
    pub(super) const fn in_word(self) -> bool {
        is_word(self.prev())
    }

    /// Whether a marker that is one byte, repeated, has more of it before it.
    pub(super) fn repeats(self, marker: &str) -> bool {
        !marker.is_empty() && marker.bytes().all(|byte| byte == self.prev())
    }

    /// Whether a sentence only mentions the control token here, before `after`: it is in quotes, or, if
    /// `spaced` counts, there is a space before it and one or a punctuation mark after it. `None` waits
    /// for more.
    pub(super) fn mentions(self, after: Option<&[u8]>, spaced: bool, eof: bool) -> Option<bool> {
        let quoted = matches!(self.prev(), b'`' | b'"' | b'\'' | b'(');
        if !(quoted || spaced && self.prev() == b' ') {
            return Some(false);
        }
        match after.unwrap_or_default() {
            [] => eof.then_some(false),
            [b'`' | b'"' | b'\'' | b')', ..] => Some(true),
            [b' ' | b'.' | b',' | b';' | b':' | b'?' | b'!', ..] => Some(spaced),
            _ => Some(false),
        }
    }

    /// How much is left of the inline code that begins directly before it, in the middle of a line, of a string
    /// that a program assigns or passes, or of a quotation in a sentence: what is written there is mentioned. The outer `None` waits for
    /// more.
    pub(super) fn inline_code(self, rest: &[u8], eof: bool) -> Option<Option<usize>> {
        let quote = self.prev();
        let begins = match quote {
            b'`' => !matches!(self.before(), b'`' | b'\n'),
            b'"' | b'\'' => self.is_passed_string() || self.is_quoted_word(),
            _ => false,
        };
        if !begins {
            return Some(None);
        }
        let (code, ended) = window(rest, LONGEST_CODE, eof);
        let ends = |(at, byte): (usize, &u8)| {
            let before = at.checked_sub(1).and_then(|at| code.get(at));
            let closes = match (quote, before) {
                (b'`', _) => true,
                (_, Some(b'\\')) => false,
                // A call in double quotes has its own, which nobody has escaped.
                (b'"', before) => matches!(before, Some(b'>' | b'}' | b']')),
                _ => true,
            };
            *byte == b'\n' || *byte == quote && closes
        };
        match code.iter().enumerate().position(ends) {
            Some(end) => Some((code.get(end) == Some(&quote)).then_some(end)),
            None => ended.then_some(None),
        }
    }

    /// Whether the quote directly before it is one in the middle of a sentence.
    fn is_quoted_word(&self) -> bool {
        let mut before = self.last.iter().rev().skip(1);
        before.next() == Some(&b' ') && before.next().is_some_and(u8::is_ascii_alphanumeric)
    }

    /// Whether the quote directly before it begins a string that a program assigns or passes to a function.
    fn is_passed_string(&self) -> bool {
        is_operand(self.last.iter().rev().skip(1).skip_while(|byte| **byte == b' '))
    }

    pub(super) const fn is_line_start(self) -> bool {
        matches!(self.prev(), b'\n')
            || self.prev() == b' ' && matches!(self.before(), b'\n' | b' ')
            || self.at_start
    }
}

impl CallExtractor {
    /// Whether the text is for the user, or what a tool has returned, so that no call begins in it.
    pub(super) const fn is_quiet(&self) -> bool {
        self.for_user || self.in_result
    }

    /// The byte that is so far before a place.
    pub(super) fn before(&self, rest: &[u8], at: usize, distance: usize) -> Option<u8> {
        match at.checked_sub(distance) {
            Some(at) => rest.get(at).copied(),
            None => self.last.get((at + LAST).checked_sub(distance)?).copied(),
        }
    }

    pub(super) fn place(&self, rest: &[u8], at: usize) -> TextBefore {
        let text = rest.get(..at).unwrap_or_default();
        let mut last = self.last;
        keep_last(&mut last, text);
        TextBefore {
            at_start: !self.out.spoke && self.out.count() == 0 && !self.seen,
            spoke: self.spoke || text.iter().any(|byte| !byte.is_ascii_whitespace()),
            called: self.out.count() > 0,
            marked: false,
            shown: self.program.is_shown(),
            foreign: self.program.is_foreign(),
            last,
        }
    }
}

/// Whether what follows these bytes, which are read backwards, is assigned or passed to a function.
fn is_operand<'b>(mut before: impl Iterator<Item = &'b u8>) -> bool {
    match before.next() {
        Some(b'=') => before.next().is_some_and(|byte| *byte == b' ' || is_word(*byte)),
        Some(b'(') => before.next().is_some_and(|byte| is_word(*byte)),
        _ => false,
    }
}

/// Whether it is the number of an item of a list.
fn is_number(item: &[u8]) -> bool {
    item.split_last().is_some_and(|(end, digits)| {
        matches!(end, b'.' | b')') && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    })
}

/// Appends bytes to the last ones, as far as there is room.
pub(super) fn keep_last(last: &mut [u8; LAST], bytes: &[u8]) {
    let tail = &bytes[bytes.len().saturating_sub(LAST)..];
    last.copy_within(tail.len().., 0);
    last[LAST - tail.len()..].copy_from_slice(tail);
}
