//! The repairs of arguments: how many there are, and which of them may have changed what was meant.

mod marks;

use wiremend_core::RepairKind;

use marks::Marks;

/// The repairs of a payload so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Repairs {
    /// How many count as such.
    pub(super) count: usize,
    /// The last byte that was emitted, and the one before it.
    last: u8,
    before: u8,
    /// The last one that is no white space.
    solid: u8,
    /// Whether a comma was dropped, and nothing was emitted since.
    comma: bool,
    /// A string with quotes in it that were not escaped, or with a prefix.
    string: Option<Quoted>,
    marks: Marks,
    /// A string without quotes, as far as it may show what it is.
    bare: Option<Vec<u8>>,
}

/// A string that is being read.
#[derive(Clone, Copy, Debug, Default)]
struct Quoted {
    reading: LiteralState,
    escaped: bool,
    /// The byte before the last quote in it.
    before: u8,
    /// Whether that is the second of a pair.
    second: bool,
    /// Whether the first of the pair looks like the end of a string.
    ended: bool,
    /// Whether braces in it are for values of variables, because a prefix may say so.
    formatted: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LiteralState {
    /// Up to its first quote.
    #[default]
    Before,
    Text,
    /// Up to a quote in it.
    Quote,
    /// The byte after that.
    After,
    /// White space after that, where a program may add to the string.
    Sum,
    /// The name of a method after that.
    Method,
}

/// How much of a string without quotes is looked at, in bytes.
const LONGEST: usize = 256;

impl Repairs {
    /// Whether a repair, before it is noted, says that a part of the text is missing. So does a bracket that
    /// is missing after a comma or a brace, because more was due there.
    pub(super) fn stops_short(&self, kind: RepairKind) -> bool {
        let due = self.comma || self.solid == b'{';
        stops_short(kind) || kind == RepairKind::MissingClose && due
    }

    /// Notes a repair, before what is emitted after it. Returns whether it is a doubtful one.
    pub(super) fn note(&mut self, kind: RepairKind) -> bool {
        self.comma = kind == RepairKind::ExtraComma;
        if self.marks.note(kind) {
            return true;
        }
        match kind {
            RepairKind::UnescapedQuote => {
                let start = Quoted { reading: LiteralState::Text, ..Quoted::default() };
                let string = self.string.get_or_insert(start);
                (string.reading, string.before) = (LiteralState::Quote, self.last);
            }
            // `1,000` is one number, or two.
            RepairKind::LeadingZero if self.last == b',' && self.before.is_ascii_digit() => {
                return true;
            }
            RepairKind::StringPrefix => {
                self.string = Some(Quoted { formatted: true, ..Quoted::default() });
            }
            RepairKind::UnquotedString => match self.bare.take() {
                // The quote before it was inserted. With one after it, this is the next string.
                Some(text) if !has_quote(text.get(1..).unwrap_or_default()) => {
                    return is_expression(text.get(1..).unwrap_or_default());
                }
                _ => self.bare = Some(Vec::new()),
            },
            _ => {}
        }
        is_doubtful(kind)
    }

    /// Reads what is emitted after it. Returns whether it shows that a repair is doubtful.
    #[inline]
    pub(super) fn read(&mut self, bytes: &[u8]) -> bool {
        self.marks.read(bytes) | self.read_after(bytes)
    }

    /// The same for a part of a string without escapes.
    pub(super) fn read_plain(&mut self, text: &[u8]) -> bool {
        self.marks.read_plain(text);
        self.read_after(text)
    }

    fn read_after(&mut self, bytes: &[u8]) -> bool {
        let doubtful = match self.string {
            Some(_) => self.read_string(bytes),
            None => false,
        };
        if let Some(bare) = &mut self.bare {
            let room = LONGEST.saturating_sub(bare.len());
            bare.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        }
        match bytes {
            [.., before, last] => (self.before, self.last) = (*before, *last),
            [last] => (self.before, self.last) = (self.last, *last),
            [] => {}
        }
        if let Some(byte) = bytes.iter().rev().find(|byte| !byte.is_ascii_whitespace()) {
            (self.solid, self.comma) = (*byte, false);
        }
        doubtful
    }

    fn read_string(&mut self, bytes: &[u8]) -> bool {
        for &byte in bytes {
            let Some(string) = &mut self.string else { break };
            match (string.reading, byte) {
                (LiteralState::Sum, b'+' | b'%') | (LiteralState::Method, b'(') => return true,
                (LiteralState::Sum, b' ') => continue,
                (LiteralState::Method, b'_' | b'a'..=b'z' | b'A'..=b'Z') => continue,
                (LiteralState::Sum | LiteralState::Method, _) => {
                    string.reading = LiteralState::Text;
                }
                _ => {}
            }
            match (string.reading, byte) {
                (LiteralState::Before, b'"') => string.reading = LiteralState::Text,
                (LiteralState::Quote, b'"') => string.reading = LiteralState::After,
                (LiteralState::Before | LiteralState::Quote, _) => {}
                (LiteralState::After, _) if string.pairs(byte) => return true,
                _ if string.escaped => string.escaped = false,
                (_, b'\\') => string.escaped = true,
                (_, b'{') if string.formatted => return true,
                (_, b'"') => self.string = None,
                _ => {}
            }
        }
        false
    }
}

impl Quoted {
    /// Reads the byte after a quote in the string. Returns whether the string seems to end at a quote,
    /// and another one to begin at the next, as in `"a" or "b"`.
    fn pairs(&mut self, byte: u8) -> bool {
        (self.reading, self.escaped) = (LiteralState::Text, false);
        let [before, after] = [self.before, byte].map(|byte| byte.is_ascii_whitespace());
        if self.second && self.ended && before && !after {
            return true;
        }
        self.ended = !self.second && !before && after;
        // A program may go on with the string, as in `"a" + b` or `"a".upper()`.
        self.reading = match byte {
            _ if self.ended => LiteralState::Sum,
            b'.' if !self.second && !before => LiteralState::Method,
            _ => LiteralState::Text,
        };
        self.second = !self.second;
        false
    }
}

/// Whether there is a quote that is not escaped.
fn has_quote(text: &[u8]) -> bool {
    let escaped = |at: usize| at.checked_sub(1).and_then(|at| text.get(at)) == Some(&b'\\');
    (0..text.len()).any(|at| text.get(at) == Some(&b'"') && !escaped(at))
}

/// Whether a string without quotes is the place of a value, or what a program computes: `<name>`,
/// `{{name}}`, `${name}`, `$name`, `name(…)`.
fn is_expression(text: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    let begins =
        |name: &[u8]| name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    match text {
        [b'<', .., b'>'] | [b'{', b'{', .., b'}', b'}'] | [b'$', b'{', .., b'}'] => true,
        [b'$', name @ ..] => begins(name) && name.iter().all(is_name),
        [.., b')'] => {
            let open = text.iter().position(|byte| *byte == b'(');
            let name = open.and_then(|open| text.get(..open)).unwrap_or_default();
            begins(name) && name.iter().all(is_name)
        }
        _ => false,
    }
}

/// Whether a repair drops something of the arguments, puts a value where none is, or chooses one of
/// several readings. Arguments with such a repair may not be what was meant.
const fn is_doubtful(kind: RepairKind) -> bool {
    use RepairKind::{
        AmbiguousQuote, CallWrapper, Ellipsis, InlineProse, InnerBraces, LeadingProse,
        MismatchedOpen, MissingKey, MissingValue, NonFinite, SecondDocument, StrayText,
        TrailingProse,
    };
    matches!(
        kind,
        AmbiguousQuote
            | CallWrapper
            | Ellipsis
            | InlineProse
            | InnerBraces
            | LeadingProse
            | MismatchedOpen
            | MissingKey
            | MissingValue
            | NonFinite
            | SecondDocument
            | StrayText
            | TrailingProse
    )
}

/// Whether a repair says that the text ends at a key, or inside of a number, a word or an escape, so
/// that part of it is missing. Where only quotes and brackets are missing, nothing else need be.
const fn stops_short(kind: RepairKind) -> bool {
    use RepairKind::{CutEscape, CutKey, CutLiteral, CutNumber};
    matches!(kind, CutEscape | CutKey | CutLiteral | CutNumber)
}
