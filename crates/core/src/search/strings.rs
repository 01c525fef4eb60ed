//! The moves inside strings.

use alloc::{borrow::Cow, format, string::String};

use super::{Mode, Reading, Search, rows::Row, token};
use crate::{
    RepairKind,
    engine::{Quote, is_command},
};

/// What begins and ends a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delimiter {
    Quote(Quote),
    /// `\'`, in a document that is escaped one time too many.
    EscapedSingle,
    /// A token of a model's own that stands for a quote.
    Token,
}

impl Delimiter {
    /// What such a token looks like.
    pub(super) const TOKEN: &'static [u8] = b"<|\"|>";

    /// The length of the delimiter at the start of `text`, if it may end a string.
    fn closer(self, text: &[u8]) -> Option<usize> {
        match self {
            Self::Quote(quote) => quote.closer(text),
            Self::EscapedSingle => text.starts_with(b"\\'").then_some(2),
            Self::Token => text.starts_with(Self::TOKEN).then_some(Self::TOKEN.len()),
        }
    }

    /// Whether what ends a string here is of the same kind as what began it.
    fn is_usual(self, text: &[u8]) -> bool {
        match self {
            Self::Quote(own) => Quote::of(text).is_some_and(|(quote, length)| {
                quote == own && (own != Quote::Backtick || length > 0)
            }),
            _ => true,
        }
    }

    const fn kind(self) -> RepairKind {
        match self {
            Self::Quote(quote) => quote.kind(),
            Self::EscapedSingle => RepairKind::EscapedDocument,
            Self::Token => RepairKind::SmartQuote,
        }
    }

    const fn is_escaped(self) -> bool {
        matches!(self, Self::EscapedSingle | Self::Quote(Quote::Escaped))
    }
}

/// A string that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) delimiter: Delimiter,
    pub(super) is_key: bool,
    /// How many quotes delimit it.
    pub(super) quotes: u8,
    /// How many quotes in it were not escaped, as far as it matters: from four on, every other number is
    /// like those before.
    pub(super) inner: u8,
    /// Whether such a quote is directly before, or only blanks since.
    pub(super) is_after_quote: bool,
    /// Whether some came where a token of code begins, as in `f("` or `{"`, in brackets that are still open.
    pub(super) is_code: bool,
    /// Whether the last one began such a token.
    pub(super) in_token: bool,
    /// How many brackets are open in it.
    pub(super) nested: u8,
    /// Whether the last byte other than white space is one that such a token begins after.
    pub(super) is_opened: bool,
    /// Whether the first character is such a quote.
    pub(super) is_quoted: bool,
    /// Whether it begins like a path, with a drive.
    pub(super) is_path: bool,
    /// Whether it holds a typographic quote.
    pub(super) is_typographic: bool,
}

impl Text {
    pub(super) const fn new(delimiter: Delimiter, is_key: bool, quotes: u8) -> Self {
        Self {
            delimiter,
            is_key,
            quotes,
            inner: 0,
            is_after_quote: false,
            is_code: false,
            in_token: false,
            nested: 0,
            is_opened: false,
            is_path: false,
            is_quoted: false,
            is_typographic: false,
        }
    }

    /// A number for each, but 0 for none.
    pub(super) const fn code(self) -> u64 {
        let delimiter = match self.delimiter {
            Delimiter::Quote(quote) => 1 + quote as u64,
            Delimiter::EscapedSingle => 6,
            Delimiter::Token => 7,
        };
        let flags = [
            self.is_key,
            self.is_after_quote,
            self.is_code,
            self.in_token,
            self.is_opened,
            self.is_quoted,
            self.is_path,
            self.is_typographic,
        ];
        let (mut code, mut at) = (delimiter, 0);
        while at < flags.len() {
            code = code << 1 | flags[at] as u64;
            at += 1;
        }
        code << 8 | (self.quotes as u64) << 6 | (self.inner as u64) << 4 | self.nested as u64
    }

    const fn is_odd(self) -> bool {
        self.inner % 2 == 1
    }
}

/// A string without quotes that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bare {
    pub(super) is_key: bool,
    /// Whether it has lost only its opening quote.
    pub(super) is_half: bool,
    /// How many brackets are open in it.
    pub(super) nested: u8,
}

impl Bare {
    /// A number for each.
    pub(super) const fn code(self) -> u64 {
        (self.is_key as u64) << 5 | (self.is_half as u64) << 4 | self.nested as u64
    }

    pub(super) const fn kind(self) -> RepairKind {
        if self.is_key { RepairKind::UnquotedKey } else { RepairKind::UnquotedString }
    }
}

/// What an odd number of quotes inside a string costs at its end.
const ODD: u32 = 500;

/// How far a string that has lost its quote looks for what follows its closers, in bytes.
const NEAR: usize = 64;

/// The value of two digits, if Python's `repr` writes a character like that.
fn hex(text: &[u8]) -> Option<u32> {
    let digits = core::str::from_utf8(text.get(..2)?).ok()?;
    let value = u32::from_str_radix(digits, 16).ok()?;
    matches!(value, 0..=0x1f | 0x7f | 0xa0 | 0xad).then_some(value)
}

/// `\u{1F600}`, a code point as JavaScript escapes it (ECMA-262, section 12.9.4): its length, and what JSON
/// writes instead.
fn code_point(text: &[u8]) -> Option<(usize, String)> {
    let digits = text.strip_prefix(b"\\u{")?;
    let length = digits.iter().take(7).position(|byte| *byte == b'}')?;
    let digits = core::str::from_utf8(&digits[..length]).ok()?;
    let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    let mut units = [0; 2];
    let units = character.encode_utf16(&mut units).iter();
    Some((length + 4, units.map(|unit| format!("\\u{unit:04x}")).collect()))
}

/// How JSON writes a control character in a string.
fn escape_of(byte: u8) -> Cow<'static, str> {
    match byte {
        b'\n' => "\\n".into(),
        b'\r' => "\\r".into(),
        b'\t' => "\\t".into(),
        0x08 => "\\b".into(),
        0x0c => "\\f".into(),
        _ => Cow::Owned(format!("\\u{byte:04x}")),
    }
}

impl Search<'_> {
    /// The reading after a string.
    fn string_ended(&mut self, mut reading: Reading, is_key: bool, end: usize) -> Reading {
        if is_key {
            reading.mode = Mode::Colon;
            reading.last = end as u32;
            return reading;
        }
        self.ended(reading, end)
    }

    /// Inside a string.
    pub(super) fn text(&mut self, reading: Reading, text: Text) {
        let rest = self.rest_of_text();
        let byte = self.byte();
        if let Some(length) = text.delimiter.closer(rest) {
            self.quote(reading, text, length);
            return;
        }
        let mut inside = reading;
        let blank = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        if text.is_after_quote && !blank {
            // What separates tokens may be a part of the text, but rarely after a quote.
            inside.cost += match byte {
                _ if text.is_code => 0,
                b':' => 300,
                b',' if matches!(rest.get(1), Some(b'\n' | b'\r')) => 300,
                b',' | b';' | b'}' | b']' => 150,
                _ if token::wide_sign(rest).is_some() => 150,
                _ => 0,
            };
            inside.mode = Mode::Text(Text { is_after_quote: false, ..text });
        }
        let opened = match byte {
            b'{' | b'[' | b'(' | b'=' => true,
            b' ' | b'\t' | b'\n' | b'\r' | b'\\' => text.is_opened,
            _ => false,
        };
        if let Mode::Text(text) = &mut inside.mode {
            text.is_opened = opened;
            // A quote in it was its end, and this closes what is around it.
            let closes = matches!(byte, b'}' | b']') && text.nested == 0;
            inside.cost += if closes && text.inner > 0 && !text.in_token { 300 } else { 0 };
            text.nested = match byte {
                b'{' | b'[' | b'(' => (text.nested + 1).min(8),
                b'}' | b']' | b')' => text.nested.saturating_sub(1),
                _ => text.nested,
            };
            text.is_code &= text.nested > 0;
        }
        if text.is_key {
            inside.cost += match byte {
                b':' | b'{' | b'}' | b'[' | b']' => 150,
                b',' => 100,
                _ => 0,
            };
        }
        let text = match inside.mode {
            Mode::Text(inside) => Text { is_after_quote: text.is_after_quote, ..inside },
            _ => text,
        };
        match byte {
            b'\\' => return self.backslash(inside, text),
            0..=0x1f => {
                let mut escaped = inside;
                let row = if text.is_key { Row::ControlInKey } else { Row::Control };
                self.edit(&mut escaped, row, self.at, self.at + 1, escape_of(byte));
                self.go(escaped, 1);
                if byte == b'\n' {
                    self.lost_quote(reading, text);
                }
                return;
            }
            b'"' => {
                let kind = text.delimiter.kind();
                let mut escaped = inside;
                self.edit_as(&mut escaped, Row::QuoteOfOther, kind, self.at, self.at, "\\");
                self.go(escaped, 1);
                let mut ended = reading;
                self.edit_as(&mut ended, Row::WrongQuote, kind, self.at, self.at, "");
                let ended = self.string_ended(ended, text.is_key, self.at + 1);
                self.go(ended, 1);
                return;
            }
            b',' | b'}' | b']' => self.lost_quote(reading, text),
            b';' if rest[1..].trim_ascii_start().starts_with(b"\"") => {
                self.lost_quote(reading, text);
            }
            b':' if text.is_key => self.lost_quote(reading, text),
            b'{' | b'[' => self.begin_again(reading),
            _ => {}
        }
        self.sign_is_quote(reading, text);
        if reading.has_tokens
            && let [0xc4, space @ (0xa0 | 0x8a | 0x89), ..] = rest
        {
            let after = match space {
                0xa0 => " ",
                0x8a => "\\n",
                _ => "\\t",
            };
            self.edit(&mut inside, Row::TokenSpace, self.at, self.at + 2, after);
            self.go(inside, 2);
            return;
        }
        // A quote of another kind may be meant to end it.
        if let Some((quote, length)) = Quote::of(rest)
            && matches!(quote, Quote::Smart | Quote::Single | Quote::Backtick)
        {
            let mut ended = reading;
            let end = self.at + length;
            let row = if text.is_key { Row::WrongQuoteOfKey } else { Row::WrongQuote };
            ended.cost += if text.is_typographic || quote == Quote::Backtick { 200 } else { 0 };
            self.edit(&mut ended, row, self.at, end, "\"");
            let ended = self.string_ended(ended, text.is_key, end);
            self.go(ended, length);
            if quote == Quote::Smart
                && let Mode::Text(text) = &mut inside.mode
            {
                text.is_typographic = true;
            }
        }
        let (length, valid) = token::character(rest);
        if !valid {
            let end = self.at + length;
            self.edit(&mut inside, Row::InvalidByte, self.at, end, "\u{fffd}");
            self.go(inside, length);
            return;
        }
        // Nothing else can happen at the bytes that follow.
        let plain = |byte: &&u8| {
            byte.is_ascii_alphanumeric() || matches!(**byte, b' ' | b'.' | b'-' | b'_')
        };
        let run = if blank || opened || text.is_opened {
            0
        } else {
            rest[length..].iter().take_while(plain).count()
        };
        self.go(inside, length + run);
    }

    /// What may end the string, and may be a part of it.
    fn quote(&mut self, reading: Reading, text: Text, length: usize) {
        let rest = self.rest_of_text();
        let plain = text.delimiter == Delimiter::Quote(Quote::Double);
        let repeats = plain || text.quotes > 1;
        let many = usize::from(text.quotes);
        let quotes = rest.iter().take(many).take_while(|byte| **byte == rest[0]).count();
        if !repeats || quotes == many {
            let length = if repeats { many } else { length };
            let end = self.at + length;
            let mut ended = reading;
            ended.cost += match text.is_odd() {
                // An apostrophe has no other.
                true if text.delimiter == Delimiter::Quote(Quote::Single) => ODD / 5,
                // Quotes at both ends are a pair.
                true if text.is_quoted && text.is_after_quote => ODD / 5,
                true => ODD,
                false if text.in_token => ODD / 4,
                false => 0,
            };
            // What was opened in it is not closed.
            ended.cost += if text.inner > 0 && text.nested > 0 { 250 } else { 0 };
            ended.cost += if text.delimiter.is_usual(rest) { 0 } else { 300 };
            let before = self.at.checked_sub(1).and_then(|at| self.input.get(at));
            let next = rest.get(length).copied().unwrap_or(b' ');
            let separates = matches!(
                next,
                b',' | b'}' | b']' | b':' | b' ' | b'\n' | b'\r' | b'\t' | b')' | b';'
            );
            if before == Some(&b' ') && !separates {
                // It begins a quotation.
                ended.cost += 300;
            }
            if !plain || many > 1 {
                let kind = text.delimiter.kind();
                self.edit_as(&mut ended, Row::Prose, kind, self.at, end, "\"");
            }
            let ended = self.string_ended(ended, text.is_key, end);
            self.go(ended, length);
        }
        let mut inside = reading;
        let single = text.delimiter == Delimiter::Quote(Quote::Single);
        let before = self.at.checked_sub(1).and_then(|at| self.input.get(at)).copied();
        let before = before.unwrap_or(b' ');
        let run = rest.iter().take(3).take_while(|byte| **byte == rest[0]).count();
        let many_inside = run == 3 && text.quotes != 2;
        let length = if many_inside { 3 } else { length };
        let next = rest.get(length).copied().unwrap_or(b' ');
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
        // A quotation begins after a blank or a bracket, and ends before one.
        let opens = matches!(before, b' ' | b'\n' | b'\t' | b'(' | b'[' | b'{' | b'=' | b'>')
            && letter(next);
        let closes = !opens && letter(before) && !letter(next);
        let apostrophe = single && letter(next) && (letter(before) || before == b' ');
        let code = text.is_opened || before == b'\'';
        let separates = matches!(next, b',' | b'}' | b']' | b':');
        let inches =
            before.is_ascii_digit() && !text.is_odd() && text.quotes == 1 && !single && !separates;
        let row = match text {
            _ if apostrophe => Row::ApostropheInside,
            _ if !text.delimiter.is_usual(rest) => Row::QuoteOfOther,
            Text { quotes: 2, .. } => Row::QuoteInside,
            Text { quotes: 3.., .. } if run == 3 => Row::QuoteInside,
            Text { quotes: 3.., .. } => Row::QuoteOfOther,
            Text { is_key: true, .. } if text.is_odd() => Row::QuoteInKeyAgain,
            Text { is_key: true, .. } => Row::QuoteInKey,
            Text { in_token: true, .. } => Row::QuoteInCode,
            Text { is_code: true, .. } => Row::QuoteInCode,
            _ if code => Row::QuoteOpensCode,
            _ if inches => Row::QuoteOfInches,
            _ if text.is_odd() => Row::QuoteInsideAgain,
            _ => Row::QuoteInside,
        };
        inside.cost += row.cost() + if apostrophe && opens { 180 } else { 0 };
        if matches!(row, Row::QuoteInside | Row::QuoteInsideAgain) && text.quotes == 1 {
            // Where some are, there are more.
            inside.cost -= if text.inner > 1 { row.cost() / 2 } else { 0 };
            let odd = if text.is_odd() { opens } else { closes };
            inside.cost += if odd { 300 } else { 0 };
        }
        if !apostrophe && row != Row::QuoteOfOther {
            let inner = if text.inner == 3 { 2 } else { text.inner + 1 };
            let inner = if row == Row::QuoteOfInches { text.inner } else { inner };
            let of_code = matches!(row, Row::QuoteOpensCode | Row::QuoteInCode);
            // They come in pairs of their own.
            let inner = if of_code { text.inner | 2 } else { inner };
            let in_token = of_code && !text.in_token;
            let is_code = text.is_code || of_code && text.nested > 0;
            inside.mode = Mode::Text(Text {
                inner,
                is_after_quote: true,
                is_quoted: text.is_quoted || text.inner == 0 && before == b'"',
                is_code,
                in_token,
                is_opened: false,
                ..text
            });
        }
        if run == 2 && plain && text.quotes == 1 {
            let inner = if text.inner == 3 { 2 } else { text.inner + 1 };
            let mut twice = reading;
            let end = self.at + 2;
            self.edit(&mut twice, Row::QuoteWrittenTwice, self.at, end, "\\\"");
            twice.mode =
                Mode::Text(Text { inner, is_after_quote: false, is_opened: false, ..text });
            self.go(twice, 2);
        }
        if rest.first() == Some(&b'"') {
            for at in self.at..self.at + length {
                self.edit_as(&mut inside, Row::Prose, row.kind(), at, at, "\\");
            }
            self.go(inside, length);
        } else {
            // Between double quotes, it is a character like others.
            self.go(inside, length);
        }
    }

    /// The string ends before the byte here, and has lost its quote.
    fn lost_quote(&mut self, reading: Reading, text: Text) {
        let end = self.layout.solid_end(self.at);
        let row = match self.byte() {
            _ if text.is_key => Row::LostQuoteOfKey,
            b'\n' => Row::LostQuoteAtLine,
            _ if self.is_before_next() => Row::LostQuoteAtCloser,
            _ => Row::LostQuote,
        };
        let mut ended = reading;
        ended.cost += if text.is_odd() { ODD } else { 0 };
        self.edit(&mut ended, row, end, end, "\"");
        let ended = self.string_ended(ended, text.is_key, end);
        self.go(ended, 0);
    }

    /// Whether closers begin here, behind which there are a comma and another item or member.
    fn is_before_next(&self) -> bool {
        let near = self.rest_of_text();
        let near = &near[..near.len().min(NEAR)];
        let closers = near.iter().take_while(|byte| b"}] \t\r\n".contains(byte)).count();
        let next = near[closers..].strip_prefix(b",").map(<[u8]>::trim_ascii_start);
        closers > 0 && next.is_some_and(|next| matches!(next, [b'{' | b'[' | b'"', ..]))
    }

    /// The string ends at a sign that stands where its quote was meant.
    fn sign_is_quote(&mut self, reading: Reading, text: Text) {
        let [b'{' | b'}' | b'[' | b']' | b':' | b',', next, ..] = self.rest_of_text() else {
            return;
        };
        let ends = if text.is_key { *next == b':' } else { b",}]\n".contains(next) };
        if !ends || text.delimiter != Delimiter::Quote(Quote::Double) || text.quotes > 1 {
            return;
        }
        let mut ended = reading;
        ended.cost += if text.is_odd() { ODD } else { 0 };
        ended.cost += if text.inner > 0 { 300 } else { 0 };
        let row = if text.is_key { Row::SignIsQuoteOfKey } else { Row::SignIsQuote };
        self.edit(&mut ended, row, self.at, self.at + 1, "\"");
        let ended = self.string_ended(ended, text.is_key, self.at + 1);
        self.go(ended, 1);
    }

    /// A backslash in a string.
    fn backslash(&mut self, reading: Reading, text: Text) {
        let rest = self.rest_of_text();
        let Some(next) = rest.get(1).copied() else {
            return self.cut_escape(reading, rest.len());
        };
        let literal = |search: &mut Self, row: Row, reading: Reading| {
            let mut literal = reading;
            search.edit(&mut literal, row, search.at, search.at, "\\");
            literal
        };
        if text.delimiter.is_escaped() && next == b'\\' {
            return self.doubled(reading);
        }
        match next {
            b'u' => self.unicode(reading),
            b'x' if text.delimiter == Delimiter::Quote(Quote::Single)
                && hex(&rest[2..]).is_some() =>
            {
                let mut written = reading;
                let after = Cow::Owned(format!("\\u{:04x}", hex(&rest[2..]).unwrap_or(0)));
                self.edit_as(
                    &mut written,
                    Row::QuoteOfOther,
                    RepairKind::SingleQuote,
                    self.at,
                    self.at + 4,
                    after,
                );
                self.go(written, 4);
            }
            b'"' => {
                if text.quotes == 2 && rest.get(2) == Some(&b'"') {
                    // A table in CSV doubles every quote, those that are escaped, too.
                    let mut once = reading;
                    let (kind, at) = (RepairKind::DoubledQuote, self.at + 2);
                    self.edit_as(&mut once, Row::Prose, kind, at, at + 1, "");
                    self.go(once, 3);
                }
                self.go(reading, 2);
                // The backslash may be text, and the quote the end.
                let mut ended = reading;
                if text.is_key {
                    self.edit(&mut ended, Row::EscapedQuoteOfKey, self.at, self.at + 1, "");
                } else {
                    ended = literal(self, Row::LetterEscape, reading);
                    ended.cost += 490;
                }
                let ended = self.string_ended(ended, text.is_key, self.at + 2);
                self.go(ended, 2);
            }
            b'\\' | b'/' => self.go(reading, 2),
            b'b' | b'f' | b'n' | b'r' | b't' => {
                let mut escape = reading;
                let rare =
                    matches!(next, b'b' | b'f') && rest.get(2).is_some_and(u8::is_ascii_alphabetic);
                let folder = text.is_path && rest.get(2).is_some_and(u8::is_ascii_alphanumeric);
                if rare || folder || is_command(&rest[1..]) {
                    escape.cost += if folder { 300 } else { 0 };
                    escape.cost += if rare { 300 } else { 0 };
                    escape.cost += if reading.has_commands { 250 } else { 0 };
                    escape.has_escapes = true;
                    let mut command = literal(self, Row::LetterEscape, reading);
                    command.cost -= if folder {
                        260
                    } else if reading.has_commands {
                        200
                    } else {
                        0
                    };
                    command.has_commands = true;
                    self.go(command, 2);
                }
                self.go(escape, 2);
            }
            b'\'' | b'`' => {
                let mut dropped = reading;
                let own = text.delimiter == Delimiter::Quote(Quote::Single);
                let kind = if own { RepairKind::SingleQuote } else { RepairKind::BadEscape };
                self.edit_as(&mut dropped, Row::Backslash, kind, self.at, self.at + 1, "");
                self.go(dropped, 2);
            }
            0x80.. => {
                let mut dropped = reading;
                self.edit(&mut dropped, Row::Backslash, self.at, self.at + 1, "");
                self.go(dropped, 1);
            }
            _ => {
                let mut command = literal(self, Row::Backslash, reading);
                if next.is_ascii_alphabetic() {
                    command.cost += if reading.has_escapes { 200 } else { 0 };
                    command.has_commands = true;
                }
                self.go(command, 1);
            }
        }
    }

    /// A backslash that is escaped, in a document that is escaped one time too many.
    fn doubled(&mut self, reading: Reading) {
        let rest = self.rest_of_text();
        let (after, replaced, length) = match rest {
            [_, _, b'\\', b'"', ..] => ("\\\"", 4, 4),
            [_, _, b'\\', b'\\', ..] => ("\\\\", 4, 4),
            [_, _, b'\\', ..] => ("\\\\", 3, 3),
            [_, _, b'"', ..] => ("\\\"", 3, 3),
            [_, _, b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => ("\\", 2, 3),
            [_, _, b'u', digits @ ..]
                if digits.len() > 3 && digits[..4].iter().all(u8::is_ascii_hexdigit) =>
            {
                ("\\", 2, 7)
            }
            _ => ("\\\\", 2, 2),
        };
        let mut single = reading;
        self.edit_as(
            &mut single,
            Row::Prose,
            RepairKind::EscapedDocument,
            self.at,
            self.at + replaced,
            after,
        );
        self.go(single, length);
    }

    /// `\u` in a string.
    fn unicode(&mut self, reading: Reading) {
        let rest = self.rest_of_text();
        let unit = |from: usize| {
            let digits = rest.get(from..from + 4)?;
            let hex = digits.iter().all(u8::is_ascii_hexdigit);
            let digits = core::str::from_utf8(digits).ok().filter(|_| hex)?;
            u32::from_str_radix(digits, 16).ok()
        };
        let mut read = reading;
        match unit(2) {
            Some(0xd800..=0xdbff) if rest.len() < 12 && !rest[6..].contains(&b'"') => {
                self.cut_escape(reading, rest.len());
            }
            Some(0xd800..=0xdbff)
                if rest.get(6..8) == Some(b"\\u") && matches!(unit(8), Some(0xdc00..=0xdfff)) =>
            {
                self.go(read, 12);
            }
            Some(0xd800..=0xdfff) => {
                self.edit(&mut read, Row::Surrogate, self.at, self.at + 6, "\\ufffd");
                self.go(read, 6);
            }
            Some(_) => self.go(read, 6),
            None if code_point(rest).is_some() => {
                if let Some((length, after)) = code_point(rest) {
                    self.edit(&mut read, Row::Backslash, self.at, self.at + length, after);
                    self.go(read, length);
                }
            }
            None if rest.len() < 6 && rest[2..].iter().all(u8::is_ascii_hexdigit) => {
                self.cut_escape(reading, rest.len());
            }
            None => {
                self.edit(&mut read, Row::Backslash, self.at, self.at, "\\");
                self.go(read, 2);
            }
        }
    }

    /// An escape of which the text has only the beginning.
    fn cut_escape(&mut self, mut reading: Reading, length: usize) {
        self.edit(&mut reading, Row::EscapeCut, self.at, self.at + length, "");
        self.go(reading, length);
    }

    /// Inside a string without quotes.
    pub(super) fn bare(&mut self, reading: Reading, bare: Bare) {
        let byte = self.byte();
        let rest = self.rest_of_text();
        let stops = match byte {
            b'\n' | b'\r' | b',' | b'}' | b']' => true,
            b':' | b'=' | b' ' | b'\t' => bare.is_key,
            b')' => bare.nested == 0,
            b';' => true,
            b'\\' => reading.has_tokens && token::odd_space(rest).is_some(),
            _ => token::wide_sign(rest).is_some(),
        };
        let end = self.layout.solid_end(self.at);
        let end = token::solid(&self.input[..end]);
        if (stops || byte == b'"' && end < self.at) && !bare.is_half {
            let mut ended = reading;
            self.edit_as(&mut ended, Row::Prose, bare.kind(), end, end, "\"");
            let ended = self.string_ended(ended, bare.is_key, end);
            self.go(ended, 0);
        }
        let mut inside = reading;
        let kind = bare.kind();
        match byte {
            b'"' => {
                if bare.is_key || bare.is_half {
                    // It has lost its opening quote only.
                    let mut ended = reading;
                    ended.cost += if bare.is_key { 300 } else { 0 };
                    let ended = self.string_ended(ended, bare.is_key, self.at + 1);
                    self.go(ended, 1);
                }
                inside.cost += if bare.is_key { 700 } else { 400 };
                self.edit_as(&mut inside, Row::Prose, kind, self.at, self.at, "\\");
                self.go(inside, 1);
            }
            b'\\' => match rest.get(1) {
                Some(b'"') => self.go(inside, 2),
                Some(b'\\' | b'n' | b't' | b'r' | b'b' | b'f' | b'/') if bare.is_half => {
                    self.go(inside, 2);
                }
                Some(b'u') if bare.is_half => self.unicode(inside),
                _ => {
                    inside.cost += 60;
                    self.edit_as(
                        &mut inside,
                        Row::Prose,
                        RepairKind::BadEscape,
                        self.at,
                        self.at,
                        "\\",
                    );
                    self.go(inside, 1);
                }
            },
            0..=0x1f => {
                inside.cost += 800;
                self.edit_as(&mut inside, Row::Prose, kind, self.at, self.at + 1, escape_of(byte));
                self.go(inside, 1);
            }
            _ => {
                if let Some((_, length)) = Quote::of(rest).filter(|_| bare.is_key || bare.is_half) {
                    let mut ended = reading;
                    let row = Row::HalfQuoteOfOther;
                    ended.cost += if bare.is_key { 150 } else { 0 };
                    ended.cost += if end < self.at { 300 } else { 0 };
                    self.edit_as(&mut ended, row, kind, self.at, self.at + length, "\"");
                    let ended = self.string_ended(ended, bare.is_key, self.at + length);
                    self.go(ended, length);
                }
                let (length, valid) = token::character(rest);
                let open = matches!(byte, b'{' | b'[' | b'(');
                let close = matches!(byte, b'}' | b']' | b')') && bare.nested > 0;
                inside.cost += match byte {
                    _ if token::wide_sign(rest).is_some() && bare.nested > 0 => 20,
                    _ if token::wide_sign(rest).is_some() => {
                        let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
                        let grouped =
                            digit(self.input.get(self.at.wrapping_sub(1))) && digit(rest.get(3));
                        if grouped { 60 } else { 700 }
                    }
                    b';' | b'\'' | b'`' if bare.is_key => 700,
                    _ if bare.is_key && Quote::of(rest).is_some() => 700,
                    b',' if bare.nested > 0 => 20,
                    _ if close => 20,
                    b',' if bare.is_half => 250,
                    b',' | b'}' | b']' => 600,
                    b'\'' if !rest.get(1).is_some_and(u8::is_ascii_alphanumeric) => 200,
                    0xe2 if Quote::of(rest).is_some() && !bare.is_half => 200,
                    // It ends a key, or the key is none.
                    b':' if bare.is_key => return,
                    b':' | b'{' | b'[' if bare.is_half => 60,
                    b':' if rest.get(1).is_some_and(|next| !next.is_ascii_whitespace()) => 60,
                    b'{' | b'[' | b':' => 250,
                    b' ' if bare.is_key => 300,
                    b' ' if bare.nested == 0 && rest.get(1).is_some_and(u8::is_ascii_digit) => 250,
                    _ if bare.is_key || bare.is_half => 2,
                    _ => 8,
                };
                let nested = bare.nested.saturating_add(u8::from(open)) - u8::from(close);
                inside.mode = Mode::Bare(Bare { nested: nested.min(8), ..bare });
                if !valid {
                    self.edit(&mut inside, Row::InvalidByte, self.at, self.at + length, "\u{fffd}");
                }
                self.go(inside, length);
            }
        }
    }
}
