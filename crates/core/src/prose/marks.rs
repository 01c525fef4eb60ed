//! Marks at the start of each line of a document: `+` of a diff, `> ` of a mail, line numbers.

use alloc::vec::Vec;

use super::begins_on_a_line;
use crate::{MendOptions, TrailingDocuments, signs::wide_space};

/// The mark at the start of each line of a document, as in `1: {` and `2:   "a": 1`.
///
/// A document is marked if its first line holds nothing but the mark and opening brackets, the next
/// line begins with the same mark, or with the next number, and what follows the marks begins a
/// document. Nothing else is looked at, so it does not matter how the text is divided into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    /// The first mark, without the white space at its end, and its length.
    text: [u8; MAX_HEAD],
    length: u8,
    /// How much white space follows it.
    blanks: u8,
    /// What is in it that may differ from line to line.
    varies: Varies,
}

/// What differs between the marks of two lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Varies {
    Nothing,
    /// The number between these indices, which is at least this on the next line.
    Number(u8, u8, u32),
    /// All digits, each of which stays a digit: those of a time.
    Digits,
    /// `>>> ` is followed by `... `.
    Prompt,
}

/// The length of the longest mark, in bytes.
pub(crate) const MAX_HEAD: usize = 32;
/// The most opening brackets and white space on the first line, in bytes.
const MAX_OPENERS: usize = 32;

/// Where a mark was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineMark {
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
                LineMark::More if unmarked.len() > openers.len() => break,
                LineMark::More if full => return Some(None),
                LineMark::More => return None,
                LineMark::Mark(length, after) => {
                    if unmarked.len() == openers.len() && !first.precedes(&after) {
                        return Some(None);
                    }
                    marks = after;
                    length
                }
                LineMark::None if unmarked.len() == openers.len() => return Some(None),
                LineMark::None => 0,
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
    pub(crate) fn are_taken_for_documents(&self, options: &MendOptions) -> bool {
        let numbers = matches!(self.varies, Varies::Number(_, end, _) if end == self.length && self.prefix().is_empty());
        numbers && options.trailing_documents() == TrailingDocuments::All
    }

    /// The length of the first mark, which comes before the document on its line.
    #[must_use]
    pub const fn head(&self) -> usize {
        self.length as usize + self.blanks as usize
    }

    /// The mark without the white space at its end.
    fn text(&self) -> &[u8] {
        self.text.get(..usize::from(self.length)).unwrap_or_default()
    }

    /// Whether the marks after the second line are these, if those after the first are `self`.
    fn precedes(&self, next: &Self) -> bool {
        match (self.varies, next.varies) {
            (Varies::Number(_, _, first), Varies::Number(_, _, third)) => first + 2 == third,
            (own, next) => own == next,
        }
    }

    /// What comes before the number, without the white space directly before that.
    fn prefix(&self) -> &[u8] {
        match self.varies {
            Varies::Number(from, ..) => {
                self.text.get(..usize::from(from)).unwrap_or_default().trim_ascii_end()
            }
            _ => &[],
        }
    }

    /// Whether a mark may begin with this text.
    pub(crate) fn may_begin(text: &[u8]) -> bool {
        let sign = |byte: &u8| {
            b"+->|*:;%!~.)/_# \t".contains(byte)
                || byte.is_ascii_alphanumeric()
                || matches!(byte, 0xE2 | 0x94 | 0x82 | 0x86 | 0x92)
        };
        text.iter().all(sign)
    }

    /// What is before a bracket on its line, as a mark.
    fn parse(head: &[u8]) -> Option<Self> {
        // What cannot begin a mark has not been waited for.
        if head.is_empty() || head.len() > MAX_HEAD || !Self::may_begin(head) {
            return None;
        }
        let text = head.trim_ascii_end();
        let blanks = head.len() - text.len();
        let marks = |varies: Varies| {
            let mut own = [0; MAX_HEAD];
            own.get_mut(..text.len())?.copy_from_slice(text);
            Some(Self { text: own, length: text.len() as u8, blanks: blanks as u8, varies })
        };
        if text.is_empty() {
            return None;
        }
        if text == b">>>" {
            return marks(Varies::Prompt);
        }
        if is_time(text) {
            return marks(Varies::Digits);
        }
        let end = text.iter().rposition(u8::is_ascii_digit).map_or(0, |at| at + 1);
        if end > 0 {
            let digits = text[..end].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            let from = end - digits;
            let (prefix, sign) = (text[..from].trim_ascii_start(), text[end..].trim_ascii_start());
            let fits = match sign {
                [] => blanks > 0,
                // │ →
                [b':' | b'|' | b'.' | b')'] | [0xE2, 0x94, 0x82] | [0xE2, 0x86, 0x92] => true,
                _ => false,
            };
            // `L1:`, `Line 1:`, `a/b.json:1:`.
            let named = prefix.is_empty()
                || prefix[0].is_ascii_alphabetic()
                    && prefix.iter().all(|byte| is_name(*byte) || *byte == b' ');
            let number = decimal(&text[from..end])?;
            return marks(Varies::Number(from as u8, end as u8, number)).filter(|_| fits && named);
        }
        // `# {` and `// {` are comments.
        let sign = |byte: &u8| b"+->|*:;%!~".contains(byte) || byte.is_ascii_whitespace();
        let named = matches!(text, [first, .., b':' | b'|' | b'>'] if first.is_ascii_alphabetic())
            && text[..text.len() - 1].iter().all(|byte| is_name(*byte));
        let fits = named || text == "│".as_bytes() || text.iter().all(sign);
        marks(Varies::Nothing).filter(|_| fits)
    }

    /// The mark at the start of a line after the first one.
    pub(crate) fn next(&self, line: &[u8], last: bool) -> LineMark {
        let (at, next) = match self.sign_at(line, last) {
            Ok(found) => found,
            Err(open) => return if open { LineMark::More } else { LineMark::None },
        };
        let rest = line.get(at..).unwrap_or_default();
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
        let blanks = rest.iter().take(usize::from(self.blanks)).take_while(blank).count();
        if blanks == rest.len() && blanks < usize::from(self.blanks) && !last {
            return LineMark::More;
        }
        // A number or a name must end.
        if blanks == 0 && self.text().last().is_some_and(u8::is_ascii_alphanumeric) {
            match rest.first() {
                Some(b'\n' | b'\r') => {}
                None if !last => return LineMark::More,
                _ => return LineMark::None,
            }
        }
        LineMark::Mark(at + blanks, next)
    }

    /// Where the mark at the start of `line` ends, without the white space after it, and the marks of the
    /// lines after this one. `Err(true)` waits for more.
    fn sign_at(&self, line: &[u8], last: bool) -> Result<(usize, Self), bool> {
        let equal = |text: &[u8], line: &[u8]| match line.strip_prefix(text) {
            Some(_) => Ok(text.len()),
            None => Err(text.starts_with(line) && !last),
        };
        match self.varies {
            Varies::Nothing => Ok((equal(self.text(), line)?, *self)),
            Varies::Prompt => {
                let sign: &[u8] = if line.first() == Some(&b'.') { b"..." } else { b">>>" };
                Ok((equal(sign, line)?, *self))
            }
            Varies::Digits => {
                let same = |(own, byte): (&u8, &u8)| {
                    own == byte || own.is_ascii_digit() && byte.is_ascii_digit()
                };
                let text = self.text();
                if !text.iter().zip(line).all(same) {
                    return Err(false);
                }
                if line.len() < text.len() { Err(!last) } else { Ok((text.len(), *self)) }
            }
            Varies::Number(from, end, least) => {
                let mut at = equal(self.prefix(), line)?;
                let rest = line.get(at..).unwrap_or_default();
                at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                let rest = line.get(at..).unwrap_or_default();
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                if at > 2 * MAX_HEAD || digits > MAX_HEAD {
                    return Err(false);
                }
                if digits == rest.len() && !last {
                    return Err(true);
                }
                let number = decimal(rest.get(..digits).unwrap_or_default());
                let number = number.filter(|number| *number >= least).ok_or(false)?;
                at += digits;
                let sign = self.text().get(usize::from(end)..).unwrap_or_default();
                at += equal(sign, line.get(at..).unwrap_or_default())?;
                Ok((at, Self { varies: Varies::Number(from, end, number + 1), ..*self }))
            }
        }
    }
}

/// Whether the name of a file or of a stream, before a number or a sign, may hold this byte.
const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b':')
}

/// `12:00:01`, also with a date before it, fractions, or a sign or words after it, such as the level and
/// the source of a log.
fn is_time(text: &[u8]) -> bool {
    let colons = text.iter().filter(|byte| **byte == b':').count();
    let inside = |byte: &u8| byte.is_ascii_alphanumeric() || b":-.,/+_ ".contains(byte);
    let pairs = |part: &[u8]| matches!(part, [.., a, b':', b, _] if a.is_ascii_digit() && b.is_ascii_digit());
    colons >= 2
        && text.first().is_some_and(u8::is_ascii_digit)
        && text.iter().all(inside)
        && (1..=text.len()).any(|end| pairs(&text[..end]))
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
