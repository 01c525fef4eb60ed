//! Marks at the start of each line of a document: `+` of a diff, `> ` of a mail, line numbers.

use alloc::vec::Vec;

use super::begins_on_a_line;
use crate::{Options, TrailingDocuments, signs::wide_space};

/// The mark at the start of each line of a document, as in `1: {` and `2:   "a": 1`.
///
/// A document is marked if its first line holds nothing but the mark and opening brackets, the next
/// line begins with the same mark, or with the next number, and what follows the marks begins a
/// document. Nothing else is looked at, so it does not matter how the text is divided into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    /// The mark without the white space at its end, and without the number at its start.
    sign: [u8; MAX_SIGN],
    sign_length: u8,
    /// How much white space follows it.
    blanks: u8,
    /// The least number that the next line may have, if the lines are numbered.
    number: Option<u32>,
    /// The length of the first mark.
    head: u8,
}

/// The length of the longest mark, in bytes.
pub(crate) const MAX_HEAD: usize = 24;
/// The same without its number and the white space at its end.
const MAX_SIGN: usize = 8;
/// The most opening brackets and white space on the first line, in bytes.
const MAX_OPENERS: usize = 32;

/// Begins each line of an event in a stream of events.
const DATA: &[u8] = b"data:";

/// Where a mark was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// It has this length. The marks are those of the lines after it.
    Mark(usize, Marks),
    None,
    /// More bytes are needed to decide.
    More,
}

impl Marks {
    /// The marks of a document that begins with the bracket at the start of `ahead`, after `head` on
    /// its line. At most `window` bytes from there on decide. `None` waits for more.
    #[must_use]
    pub fn of(head: &[u8], ahead: &[u8], window: usize, last: bool) -> Option<Option<Self>> {
        let Some(first) = Self::parse(head) else { return Some(None) };
        let (seen, full) = match ahead.get(..window) {
            Some(seen) => (seen, true),
            None => (ahead, last),
        };
        // Up to the end of the line, there is nothing else.
        let line = seen.iter().position(|byte| *byte == b'\n');
        let text = seen.get(..line.unwrap_or(seen.len())).unwrap_or_default();
        let Some(end) = openers(text, full || line.is_some()).or(line) else {
            return (full || seen.len() > MAX_OPENERS).then_some(None);
        };
        if end > MAX_OPENERS || seen.get(end) != Some(&b'\n') {
            return Some(None);
        }
        let (openers, mut next) = seen.split_at(end + 1);
        let mut unmarked = Vec::from(openers);
        let mut marks = first;
        // What follows the marks, as far as it can be seen.
        while !next.is_empty() || unmarked.len() == openers.len() {
            // What the end of the window cuts off may be a mark.
            let length = match marks.next(next, false) {
                Found::More if unmarked.len() > openers.len() => break,
                Found::More if full => return Some(None),
                Found::More => return None,
                Found::Mark(length, after) => {
                    let third = first.number.map(|number| number + 2);
                    if unmarked.len() == openers.len() && after.number != third {
                        return Some(None);
                    }
                    marks = after;
                    length
                }
                Found::None if unmarked.len() == openers.len() => return Some(None),
                Found::None => 0,
            };
            let line =
                next.iter().position(|byte| *byte == b'\n').map_or(next.len(), |end| end + 1);
            unmarked.extend_from_slice(next.get(length..line.max(length)).unwrap_or_default());
            next = next.get(line.max(length)..).unwrap_or_default();
        }
        let begins = begins_on_a_line(&unmarked, unmarked.len() + 1, full)?;
        Some(begins.then_some(first))
    }

    /// The marks of the document that begins at `start` of a whole text.
    #[must_use]
    pub fn before(input: &[u8], start: usize, window: usize) -> Option<Self> {
        let (before, ahead) = input.split_at_checked(start)?;
        let line = before.iter().rev().take(MAX_HEAD + 1).position(|byte| *byte == b'\n');
        let head = before.get(line.map_or(0, |length| start - length)..)?;
        Self::of(head, ahead, window, true).flatten()
    }

    /// Whether they are read as documents: numbers alone, where all documents are wanted.
    pub(crate) fn are_taken_for_documents(&self, options: &Options) -> bool {
        let numbers = self.number.is_some() && self.sign_length == 0;
        numbers && options.trailing_documents() == TrailingDocuments::All
    }

    /// The length of the first mark, which comes before the document on its line.
    #[must_use]
    pub const fn head(&self) -> usize {
        self.head as usize
    }

    /// Whether a mark may begin with this text.
    pub(crate) fn may_begin(text: &[u8]) -> bool {
        let text = text.trim_ascii_start();
        let sign = |byte: &u8| {
            b"+->|*:;%!~.)".contains(byte)
                || matches!(byte, b' ' | b'\t' | b'0'..=b'9' | 0xE2 | 0x94 | 0x82 | 0x86 | 0x92)
        };
        let word = text.get(..DATA.len()).unwrap_or(text);
        DATA.starts_with(word) && text.iter().skip(DATA.len()).all(u8::is_ascii_whitespace)
            || text.iter().all(sign)
    }

    /// What is before a bracket on its line, as a mark.
    fn parse(head: &[u8]) -> Option<Self> {
        if head.is_empty() || head.len() > MAX_HEAD {
            return None;
        }
        let text = head.trim_ascii_end();
        let blanks = head.len() - text.len();
        let marks = |sign: &[u8], number: Option<u32>| {
            let mut own = [0; MAX_SIGN];
            own.get_mut(..sign.len())?.copy_from_slice(sign);
            let lengths = (sign.len() as u8, blanks as u8, head.len() as u8);
            let (sign_length, blanks, head) = lengths;
            Some(Self { sign: own, sign_length, blanks, number, head })
        };
        let number = text.trim_ascii_start();
        let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits > 0 {
            let (number, sign) = number.split_at(digits);
            let fits = match sign.trim_ascii_start() {
                [] => blanks > 0,
                // │ →
                [b':' | b'|' | b'.' | b')'] | [0xE2, 0x94, 0x82] | [0xE2, 0x86, 0x92] => true,
                _ => false,
            };
            return marks(sign, Some(decimal(number)?)).filter(|_| fits);
        }
        // `# {` and `// {` are comments.
        let sign = |byte: &u8| b"+->|*:;%!~".contains(byte) || byte.is_ascii_whitespace();
        let fits =
            text == DATA || text == "│".as_bytes() || !text.is_empty() && text.iter().all(sign);
        marks(text, None).filter(|_| fits)
    }

    /// The mark at the start of a line after the first one.
    pub(crate) fn next(&self, line: &[u8], last: bool) -> Found {
        let more = if last { Found::None } else { Found::More };
        let mut at = 0;
        let mut number = None;
        if let Some(least) = self.number {
            at = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let rest = line.get(at..).unwrap_or_default();
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if at > MAX_HEAD || digits > MAX_HEAD {
                return Found::None;
            }
            if digits == rest.len() && !last {
                return Found::More;
            }
            number = decimal(rest.get(..digits).unwrap_or_default());
            if number.is_none_or(|number| number < least) {
                return Found::None;
            }
            at += digits;
        }
        let rest = line.get(at..).unwrap_or_default();
        let sign = self.sign.get(..usize::from(self.sign_length)).unwrap_or_default();
        if !rest.starts_with(sign) {
            return if sign.starts_with(rest) { more } else { Found::None };
        }
        let rest = rest.get(sign.len()..).unwrap_or_default();
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
        let blanks = rest.iter().take(usize::from(self.blanks)).take_while(blank).count();
        if blanks == rest.len() && blanks < usize::from(self.blanks) && !last {
            return Found::More;
        }
        // A number must end.
        if sign.is_empty() && blanks == 0 {
            match rest.first() {
                Some(b'\n' | b'\r') => {}
                Some(_) => return Found::None,
                None => return more,
            }
        }
        Found::Mark(
            at + sign.len() + blanks,
            Self { number: number.map(|number| number + 1), ..*self },
        )
    }
}

/// How many bytes of opening brackets and white space of any kind `text` begins with. `None` if all of
/// it may be that.
pub(super) fn openers(text: &[u8], full: bool) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        at += match rest {
            [] => return None,
            [0..=b' ' | 0x7f | b'{' | b'[', ..] => 1,
            // The rest of the character has not arrived.
            [0xc2 | 0xe1..=0xe3 | 0xef] | [0xe1..=0xe3 | 0xef, _] if !full => return None,
            _ => match wide_space(rest) {
                Some((_, length)) => length,
                None => return Some(at),
            },
        };
    }
}

/// The number that these digits write, if there are at most eight.
fn decimal(digits: &[u8]) -> Option<u32> {
    let value = |number: u32, digit: &u8| number * 10 + u32::from(digit - b'0');
    (1..=8).contains(&digits.len()).then(|| digits.iter().fold(0, value))
}
