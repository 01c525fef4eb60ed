//! The moves between tokens.

use alloc::{borrow::Cow, format};

use super::{
    AGAIN, After, Mode, NONE, Reading, Search,
    arena::{Kind, Stack},
    rows::Row,
    strings::{Bare, Delimiter, Text},
    token,
};
use crate::{
    RepairKind,
    engine::{Quote, is_module},
};

/// Whether a path with a drive begins here, one of whose backslashes begins no escape.
fn is_path(text: &[u8]) -> bool {
    let drive = matches!(text, [drive, b':', b'\\', ..] if drive.is_ascii_alphabetic());
    let ends = |byte: &&u8| !byte.is_ascii_whitespace() && **byte != b'"';
    let length = text.iter().take(128).take_while(ends).count();
    let odd = |pair: &[u8]| pair[0] == b'\\' && !br#""\/bfnrtu"#.contains(&pair[1]);
    drive && text[..length].windows(2).any(odd)
}

impl Search<'_> {
    /// A bracket where a value may begin.
    pub(super) fn bracket(&mut self, reading: Reading) {
        let end = self.at + 1;
        if self.byte() == b'{' {
            if let Some(open) = self.opened(reading, Kind::Object, end) {
                self.go(open, 1);
            }
            // A set holds no lists.
            let next = self.rest_of_text()[1..].trim_ascii_start().first();
            let nested = if matches!(next, Some(b'{' | b'[')) { 300 } else { 0 };
            let lists = [(Kind::Braced, Row::ObjectAsSet), (Kind::Array, Row::ObjectIsArray)];
            for (kind, row) in lists {
                if let Some(mut open) = self.opened(reading, kind, end) {
                    self.edit(&mut open, row, self.at, end, "[");
                    open.cost += nested;
                    self.go(open, 1);
                }
            }
            if self.rest_of_text().starts_with(b"{[")
                && let Some(list) = self.opened(reading, Kind::Array, end)
                && let Some(mut open) = self.opened(list, Kind::Object, end + 1)
            {
                self.edit(&mut open, Row::BracketsSwapped, self.at, end + 1, "[{");
                self.go(open, 2);
            }
        } else if let Some(open) = self.opened(reading, Kind::Array, end) {
            self.go(open, 1);
            if let Some(mut members) = self.opened(open, Kind::Members, end) {
                self.edit(&mut members, Row::ArrayAsObject, end, end, "{");
                self.go(members, 1);
            }
            let mut other = reading;
            self.edit(&mut other, Row::ArrayIsObject, self.at, end, "{");
            if let Some(members) = self.opened(other, Kind::Object, end) {
                self.go(members, 1);
            }
        }
    }

    /// White space, and what is dropped as if it were some. Whether nothing else can begin here.
    fn space(&mut self, reading: Reading) -> bool {
        let rest = self.rest_of_text();
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        let blanks = blanks.count();
        if blanks > 0 {
            self.go(reading, blanks);
            return true;
        }
        let mut passed = reading;
        if let Some(length) = token::odd_space(rest) {
            passed.has_tokens |= rest[0] == 0xc4 || rest[0] == b'\\';
            self.edit(&mut passed, Row::OddSpaceReplaced, self.at, self.at + length, " ");
            self.go(passed, length);
            return true;
        }
        for length in self.fence(&reading).into_iter().flatten() {
            let mut fenced = reading;
            let labelled = rest.get(length).is_some_and(u8::is_ascii_alphabetic);
            fenced.cost += if labelled { 400 } else { 0 };
            self.edit(&mut fenced, Row::FenceDropped, self.at, self.at + length, "");
            self.go(fenced, length);
        }
        if let Some(length) = self.comment() {
            // What it swallows may be no part of it.
            let heavy = |byte: &u8| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']');
            let heavy = rest[..length.min(512)].iter().filter(|byte| heavy(byte)).count() as u32;
            passed.cost += 130 * heavy;
            // On the last line it may end before a closer.
            let closer = rest[..length.min(256)].iter().position(|byte| b"}]".contains(byte));
            if let Some(closer) = closer.filter(|_| rest[length..].trim_ascii_start().is_empty()) {
                let mut remark = reading;
                self.edit(&mut remark, Row::RemarkDropped, self.at, self.at + closer, "");
                self.go(remark, closer);
            }
            self.edit(&mut passed, Row::CommentDropped, self.at, self.at + length, "");
            self.go(passed, length);
        }
        false
    }

    /// The length of a fence around a value that begins here: three backticks and a label.
    fn fence(&self, reading: &Reading) -> Option<[usize; 2]> {
        let label = self.rest_of_text().strip_prefix(b"```")?;
        let begins = matches!(reading.mode, Mode::Value(_));
        let label = label.iter().take_while(|byte| begins && byte.is_ascii_alphabetic()).count();
        Some([3, 3 + label])
    }

    /// The length of the comment that begins here.
    fn comment(&mut self) -> Option<usize> {
        let (input, at) = (self.input, self.at);
        let end = match input.get(at..)? {
            [b'/', b'/', ..] | [b'#', ..] | [b'-', b'-', b' ', ..] => {
                self.lines.after(input, at).unwrap_or(input.len())
            }
            [b'/', b'*', ..] => self.blocks.after(input, at + 2).map_or(input.len(), |end| end + 2),
            [b'<', b'!', b'-', b'-', ..] => self.markup.after(input, at + 4)? + 3,
            _ => return None,
        };
        Some(end - at)
    }

    /// Where a value is expected.
    pub(super) fn value(&mut self, reading: Reading, after: After) {
        if self.space(reading) {
            return;
        }
        let byte = self.byte();
        let top = self.top(&reading);
        let in_array = matches!(after, After::Open | After::Comma);
        match byte {
            b'{' | b'[' => {
                self.bracket(reading);
                self.template(reading);
            }
            b'(' => self.parenthesis(reading),
            b',' if in_array => {
                let mut dropped = reading;
                self.edit(&mut dropped, Row::CommaDropped, self.at, self.at + 1, "");
                self.go(dropped, 1);
            }
            b':' if after == After::Colon => {
                let mut dropped = reading;
                self.edit(&mut dropped, Row::ColonDropped, self.at, self.at + 1, "");
                self.go(dropped, 1);
            }
            b')' => self.drop_separator(reading, 1),
            b'=' if !in_array => self.drop_separator(reading, 1),
            b';' if in_array => self.drop_separator(reading, 1),
            _ => {
                if let Some((sign, length)) = token::wide_sign(self.rest_of_text())
                    && (in_array || sign == b':')
                {
                    self.drop_separator(reading, length);
                }
            }
        }
        if in_array {
            self.give_up(reading, after);
        } else if after == After::Colon
            && (matches!(byte, b',' | b'}' | b']' | b';')
                || token::wide_sign(self.rest_of_text()).is_some())
            && top != Some(Kind::Call)
        {
            let mut added = reading;
            self.edit(&mut added, Row::ValueAdded, self.at, self.at, "null");
            let added = self.ended(added, self.at);
            self.go(added, 0);
        }
        if after == After::Colon {
            self.lost_opener(reading);
        }
        self.string(reading, false);
        self.quote_late(reading, false);
        self.open_late(reading);
        self.scalar(reading);
        self.skip(reading);
        self.begin_again(reading);
    }

    /// `"a": "b": 1}` and `"a": {"b": 1}]`, a value without what opens it.
    fn lost_opener(&mut self, reading: Reading) {
        let (row, open, kind) = match self.byte() {
            b'{' | b'0'..=b'9' | b'-' => (Row::ListAdded, "[", Kind::Array),
            b'"' => (Row::MembersAdded, "{", Kind::Object),
            _ => return,
        };
        let mut added = reading;
        self.edit(&mut added, row, self.at, self.at, open);
        if let Some(open) = self.opened(added, kind, self.at) {
            self.go(open, 0);
        }
    }

    /// `a"bc"`, a quote behind the first character of its string, and `,abc"`, another sign in the place of
    /// its first quote.
    fn quote_late(&mut self, mut reading: Reading, is_key: bool) {
        let rest = self.rest_of_text();
        let delimiter = Delimiter::Quote(Quote::Double);
        let kind = if is_key { RepairKind::UnquotedKey } else { RepairKind::UnquotedString };
        let (row, length, after) = match rest {
            [byte, b'"', ..] if byte.is_ascii_alphanumeric() => {
                let after = Cow::Owned(format!("\"{}", char::from(*byte)));
                (Row::QuoteLate, 2, after)
            }
            [b'{' | b'}' | b'[' | b']' | b':' | b',', next, ..] if next.is_ascii_alphabetic() => {
                // What may open a list of words is rarely a quote.
                reading.cost += if matches!(rest[0], b'{' | b'[') { 300 } else { 0 };
                (Row::SignIsOpeningQuote, 1, Cow::Borrowed("\""))
            }
            _ => return,
        };
        if is_key {
            reading = self.at_key(reading);
        }
        self.edit_as(&mut reading, row, kind, self.at, self.at + length, after);
        reading.mode = Mode::Text(Text::new(delimiter, is_key, 1));
        self.go(reading, length);
    }

    /// `"{a": 1`, a brace behind the first quote of its first key.
    pub(super) fn open_late(&mut self, mut reading: Reading) {
        if !self.rest_of_text().starts_with(b"\"{") {
            return;
        }
        self.edit(&mut reading, Row::OpenLate, self.at, self.at + 2, "{\"");
        if let Some(open) = self.opened(reading, Kind::Object, self.at + 1) {
            let mut open = self.at_key(open);
            open.mode = Mode::Text(Text::new(Delimiter::Quote(Quote::Double), true, 1));
            self.go(open, 2);
        }
    }

    /// Drops a separator with nothing before it.
    fn drop_separator(&mut self, mut reading: Reading, length: usize) {
        self.edit(&mut reading, Row::SeparatorDropped, self.at, self.at + length, "");
        self.go(reading, length);
    }

    /// No item follows after all: a comma before it is dropped, and the container must end.
    fn give_up(&mut self, mut reading: Reading, after: After) {
        // Braces that are no part of an object are around some members of it.
        if after == After::Open && matches!(self.top(&reading), Some(Kind::Inner | Kind::Doubled)) {
            return;
        }
        if after == After::Comma && reading.comma != NONE {
            let comma = reading.comma as usize;
            let length = token::wide_sign(&self.input[comma..]).map_or(1, |(_, length)| length);
            self.edit(&mut reading, Row::CommaDropped, comma, comma + length, "");
        }
        reading.mode = Mode::Close;
        self.go(reading, 0);
    }

    /// Numbers, literals, calls, and values without quotes.
    fn scalar(&mut self, reading: Reading) {
        let rest = self.rest_of_text();
        let found = [
            token::number(rest),
            token::word_literal(rest),
            token::spaced_number(rest),
            token::grouped_number(rest).filter(|_| reading.mode == Mode::Value(After::Colon)),
        ];
        let found_first = match &found {
            [Some(number), ..] => Some((number.length, false)),
            [_, Some(literal), ..] => Some((literal.length, literal.mended.is_none())),
            _ => None,
        };
        for (index, scalar) in found.into_iter().enumerate() {
            let Some(scalar) = scalar else { continue };
            let end = self.at + scalar.length;
            let mut read = reading;
            if let Some((kind, text)) = scalar.mended {
                let row = match index {
                    0 => Row::NumberMended,
                    1 => Row::Literal,
                    _ => Row::BlankInNumber,
                };
                if text.is_empty() {
                    // Nothing is left of a sign. What ends here has no value.
                    let mut cut = reading;
                    self.edit_as(&mut cut, row, kind, self.at, end, "");
                    self.go(cut, scalar.length);
                    continue;
                }
                self.edit_as(&mut read, row, kind, self.at, end, text);
            }
            let mut ended = self.ended(read, end);
            ended.key = if scalar.is_cut { u32::MAX } else { ended.key };
            self.go(ended, scalar.length);
        }
        let rest = self.rest_of_text();
        let name = token::name(rest);
        let known = rest[..name]
            .iter()
            .position(|byte| *byte == b'.')
            .is_none_or(|at| is_module(&rest[..at]));
        if name > 0 && known && rest.get(name) == Some(&b'(') {
            let mut call = reading;
            self.edit(&mut call, Row::Call, self.at, self.at + name + 1, "");
            if let Some(open) = self.opened(call, Kind::Call, self.at) {
                self.go(open, name + 1);
            }
        }
        self.ellipsis(reading);
        if rest.first() == Some(&b'+') {
            let mut dropped = reading;
            self.edit(&mut dropped, Row::PlusDropped, self.at, self.at + 1, "");
            self.go(dropped, 1);
        }
        let other = !matches!(
            self.byte(),
            b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"' | b'\'' | b'`' | b';' | b'=' | b')'
        ) && token::wide_sign(rest).is_none()
            && !token::is_ellipsis(rest)
            && !matches!(rest, [b'-' | b'*', b' ' | b'\n', ..] | [b'\\', b'"' | b'\'', ..]);
        if other {
            let mut bare = reading;
            bare.cost += match &found_first {
                Some((_, true)) => 700,
                Some((length, _)) if matches!(rest.get(*length..), Some([b' ', unit, ..]) if unit.is_ascii_alphabetic() || *unit == b'%' || *unit >= 0x80) => {
                    200
                }
                Some(_) => 400,
                None if rest[0] == b'(' => 600,
                None => 0,
            };
            bare.cost += if reading.mode == Mode::Value(After::Added) { 100 } else { 0 };
            // What is in parentheses is often no string.
            bare.cost -= if self.top(&reading) == Some(Kind::Tuple) { 200 } else { 0 };
            self.edit(&mut bare, Row::BareValue, self.at, self.at, "\"");
            bare.mode = Mode::Bare(Bare { is_key: false, is_half: false, nested: 0 });
            self.go(bare, 0);
            bare.mode = Mode::Bare(Bare { is_key: false, is_half: true, nested: 0 });
            self.go(bare, 0);
        }
    }

    /// Dots in the place of items.
    fn ellipsis(&mut self, reading: Reading) {
        let rest = self.rest_of_text();
        if token::is_ellipsis(rest) {
            let mut dropped = reading;
            self.edit(&mut dropped, Row::EllipsisDropped, self.at, self.at + 3, "");
            self.go(dropped, 3);
        }
    }

    /// `{{name}}`, a place to be filled in.
    fn template(&mut self, reading: Reading) {
        let Some(inner) = self.rest_of_text().strip_prefix(b"{{") else { return };
        let name = token::word(inner.trim_ascii_start());
        let blanks = inner.len() - inner.trim_ascii_start().len();
        let rest = &inner[blanks + name..];
        let end = rest.len() - rest.trim_ascii_start().len();
        if name > 0 && rest[end..].starts_with(b"}}") {
            let length = 2 + blanks + name + end + 2;
            let mut quoted = reading;
            self.edit(&mut quoted, Row::Template, self.at, self.at, "\"");
            self.edit_as(
                &mut quoted,
                Row::Prose,
                Row::Template.kind(),
                self.at + length,
                self.at + length,
                "\"",
            );
            let quoted = self.ended(quoted, self.at + length);
            self.go(quoted, length);
        }
    }

    pub(super) fn parenthesis(&mut self, reading: Reading) {
        let end = self.at + 1;
        let mut tuple = reading;
        self.edit(&mut tuple, Row::TupleOpen, self.at, end, "[");
        if let Some(open) = self.opened(tuple, Kind::Tuple, end) {
            self.go(open, 1);
        }
        let mut call = reading;
        self.edit(&mut call, Row::Call, self.at, end, "");
        if let Some(open) = self.opened(call, Kind::Call, end) {
            self.go(open, 1);
        }
    }

    /// The strings that may begin here.
    fn string(&mut self, reading: Reading, is_key: bool) {
        let rest = self.rest_of_text();
        let begin = |search: &mut Self,
                     row: Option<(Row, RepairKind)>,
                     length: usize,
                     delimiter,
                     quotes| {
            let mut begun = reading;
            if is_key {
                begun = search.at_key(begun);
            }
            if let Some((row, kind)) = row {
                let end = search.at + length;
                if row == Row::DoubledString && search.byte() == b'"' {
                    search.edit_as(&mut begun, row, kind, search.at + 1, end, "");
                } else {
                    search.edit_as(&mut begun, row, kind, search.at, end, "\"");
                }
            }
            let mut text = Text::new(delimiter, is_key, quotes);
            // What separates tokens rarely begins a text.
            text.is_after_quote = is_key || reading.mode == Mode::Value(After::Added);
            let content = &rest[length..];
            text.is_path = is_path(content);
            begun.mode = Mode::Text(text);
            search.go(begun, length);
        };
        match Quote::of(rest) {
            Some((quote @ (Quote::Double | Quote::Single), _)) => {
                let delimiter = Delimiter::Quote(quote);
                let single = (Row::SingleString, RepairKind::SingleQuote);
                begin(self, (quote == Quote::Single).then_some(single), 1, delimiter, 1);
                for quotes in [2, 3] {
                    if rest.len() >= quotes && rest[..quotes].iter().all(|byte| *byte == rest[0]) {
                        let row = (Row::DoubledString, RepairKind::DoubledQuote);
                        begin(self, Some(row), quotes, delimiter, quotes as u8);
                    }
                }
                if quote == Quote::Double {
                    // A quote that is one too many.
                    let (mut dropped, end) = (reading, self.at + 1);
                    let kind = RepairKind::StrayText;
                    dropped.cost += if is_key { 0 } else { 400 };
                    self.edit_as(&mut dropped, Row::OpenAgain, kind, self.at, end, "");
                    self.go(dropped, 1);
                }
            }
            Some((Quote::Backtick, _)) if rest.starts_with(b"```") => {}
            Some((quote, length)) => {
                let row = match quote {
                    Quote::Smart => Row::SmartString,
                    Quote::Escaped => Row::EscapedString,
                    _ => Row::BacktickString,
                };
                begin(self, Some((row, quote.kind())), length, Delimiter::Quote(quote), 1);
            }
            None if rest.starts_with(b"\\'") => {
                let row = (Row::EscapedString, RepairKind::EscapedDocument);
                begin(self, Some(row), 2, Delimiter::EscapedSingle, 1);
            }
            None if rest.starts_with(Delimiter::TOKEN) => {
                let row = (Row::SmartString, RepairKind::SmartQuote);
                begin(self, Some(row), Delimiter::TOKEN.len(), Delimiter::Token, 1);
            }
            None => {
                let prefix = rest
                    .iter()
                    .take_while(|b| matches!(b, b'u' | b'b' | b'r' | b'f' | b'B' | b'R' | b'U'));
                let prefix = prefix.count();
                if (1..=2).contains(&prefix) && matches!(rest.get(prefix), Some(b'"' | b'\'')) {
                    let mut stripped = reading;
                    let added =
                        matches!(reading.mode, Mode::Value(After::Added) | Mode::Key(After::Added));
                    // Only `u` is ever before a key, and few are in upper case.
                    let odd =
                        (is_key || rest[0].is_ascii_uppercase()) && !matches!(rest[0], b'u' | b'U');
                    stripped.cost += if added || odd { 500 } else { 0 };
                    self.edit(&mut stripped, Row::Prefix, self.at, self.at + prefix, "");
                    self.go(stripped, prefix);
                }
            }
        }
    }

    /// Drops the word or the sign here.
    fn skip(&mut self, reading: Reading) {
        let rest = self.rest_of_text();
        let word = token::word(rest);
        let quote = Quote::of(rest);
        let (row, length) = match quote {
            Some((_, length))
                if matches!(reading.mode, Mode::Rest | Mode::Colon)
                    && reading.last as usize == self.at
                    && !self.input[self.at - 1].is_ascii_alphanumeric() =>
            {
                (Row::StrayQuoteAfter, length)
            }
            Some((_, length)) => (Row::StrayQuote, length),
            None if word > 0 && matches!(reading.mode, Mode::Key(_)) => {
                (Row::StrayWordBeforeKey, word)
            }
            None if word > 0 => (Row::StrayWord, word),
            None if matches!(rest, [b'-' | b'*', b' ' | b'\n', ..])
                && reading.mode != Mode::Rest =>
            {
                (Row::Bullet, 1)
            }
            None if reading.mode == Mode::Rest
                && matches!(self.byte(), b'.' | b'?' | b'!' | b'=') =>
            {
                (Row::StraySign, 1)
            }
            None => (Row::StrayWord, token::character(rest).0),
        };
        let mut dropped = reading;
        if row == Row::StrayQuoteAfter && self.byte() == b'"' && self.input[self.at - 1] == b'"' {
            let kind = RepairKind::DoubledQuote;
            self.edit_as(&mut dropped, row, kind, self.at - 1, self.at + 1, "\"");
            self.go(dropped, 1);
            return;
        }
        dropped.cost += length as u32 * 2;
        // Rarely a value.
        let value = matches!(reading.mode, Mode::Value(_))
            && (token::number(rest).is_some() || token::word_literal(rest).is_some());
        dropped.cost += if value { 600 } else { 0 };
        dropped.cost += if quote.is_none() || reading.mode == Mode::Rest { 0 } else { 400 };
        self.edit(&mut dropped, row, self.at, self.at + length, "");
        self.go(dropped, length);
    }

    /// The text since the document began follows once more: it was begun again.
    pub(super) fn begin_again(&mut self, reading: Reading) {
        if self.byte() != self.input[reading.document as usize] {
            return;
        }
        let start = reading.document as usize;
        let length = self.at - start;
        let named = |byte: &u8| *byte == b'"' || byte.is_ascii_alphanumeric();
        let again = (2..=AGAIN).contains(&length)
            && self.input.get(self.at..self.at + length) == Some(&self.input[start..self.at])
            && self.input[start..self.at].iter().take(64).any(named);
        if !again {
            return;
        }
        let mut begun = reading;
        begun.edits = reading.document_edits;
        self.edit(&mut begun, Row::BegunAgain, start, self.at, "");
        begun.stack = Stack::EMPTY;
        let kind = if self.byte() == b'{' { Kind::Object } else { Kind::Array };
        if let Some(open) = self.opened(begun, kind, self.at + 1) {
            self.go(open, 1);
        }
    }

    /// Where a key is expected.
    pub(super) fn key(&mut self, reading: Reading, after: After) {
        if self.space(reading) {
            return;
        }
        let end = self.at + 1;
        match self.byte() {
            b',' => {
                let mut dropped = reading;
                self.edit(&mut dropped, Row::CommaDropped, self.at, end, "");
                self.go(dropped, 1);
            }
            b':' => {
                let mut added = reading;
                added = self.at_key(added);
                self.edit(&mut added, Row::KeyAdded, self.at, self.at, "\"\"");
                added.mode = Mode::Colon;
                added.last = self.at as u32;
                self.go(added, 0);
            }
            b';' => self.drop_separator(reading, 1),
            b'[' => {
                let mut added = reading;
                added = self.at_key(added);
                self.edit(&mut added, Row::KeyAdded, self.at, self.at, "\"\": ");
                added.mode = Mode::Value(After::Colon);
                added.last = self.at as u32;
                self.go(added, 0);
            }
            b'{' if after == After::Open => {
                let mut dropped = reading;
                self.edit(&mut dropped, Row::OpenAgain, self.at, end, "");
                if let Some(open) = self.opened(dropped, Kind::Doubled, end) {
                    self.go(open, 1);
                }
                self.go(dropped, 1);
            }
            b'{' => {
                let mut dropped = reading;
                self.edit(&mut dropped, Row::InnerOpen, self.at, end, "");
                if let Some(open) = self.opened(dropped, Kind::Inner, end) {
                    self.go(open, 1);
                }
            }
            _ => {}
        }
        if let Some((_, length)) = token::wide_sign(self.rest_of_text()) {
            self.drop_separator(reading, length);
        }
        self.list_goes_on(reading);
        self.ellipsis(reading);
        if after != After::Added {
            self.give_up(reading, after);
        }
        self.string(reading, true);
        self.quote_late(reading, true);
        let rest = self.rest_of_text();
        let bare = |byte: u8| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'_' | b'$' | b'@' | b'-')
                || byte >= 0x80
        };
        let sign = Quote::of(rest).is_some() || token::wide_sign(rest).is_some();
        if rest.first().is_some_and(|byte| bare(*byte)) && !sign {
            let mut begun = reading;
            begun = self.at_key(begun);
            self.edit(&mut begun, Row::BareKey, self.at, self.at, "\"");
            begun.mode = Mode::Bare(Bare { is_key: true, is_half: false, nested: 0 });
            self.go(begun, 0);
        }
        self.skip(reading);
        self.begin_again(reading);
    }

    /// `], [` where a key is expected: the list before was not at its end.
    fn list_goes_on(&mut self, reading: Reading) {
        let last = reading.last as usize;
        let closer = last.wrapping_sub(1);
        if self.byte() != b'['
            || self.input.get(closer) != Some(&b']')
            || reading.comma < reading.last
        {
            return;
        }
        let mut joined = reading;
        self.edit(&mut joined, Row::ListGoesOn, closer, last, "");
        self.edit_as(&mut joined, Row::Prose, RepairKind::DuplicateOpen, self.at, self.at + 1, "");
        if let Some(mut open) = self.opened(joined, Kind::Array, self.at + 1) {
            open.mode = Mode::Value(After::Comma);
            self.go(open, 1);
        }
    }

    /// Between a key and its value.
    pub(super) fn colon(&mut self, mut reading: Reading) {
        if self.space(reading) {
            return;
        }
        let rest = self.rest_of_text();
        let after = Mode::Value(After::Colon);
        let mut row = Row::ColonReplaced;
        let length = match rest {
            [b':', ..] => {
                reading.mode = after;
                reading.last = self.at as u32 + 1;
                self.go(reading, 1);
                return;
            }
            [b'=', b'>', ..] | [b'-', b'>', ..] => 2,
            [b'=', next, ..] if *next != b'=' => 1,
            [b';', ..] => {
                row = Row::SemicolonAsColon;
                1
            }
            _ => token::wide_sign(rest).filter(|(sign, _)| *sign == b':').map_or(0, |(_, n)| n),
        };
        if length > 0 {
            let mut replaced = reading;
            let kind = row.kind();
            let row = if length == 3 { Row::WideSign } else { row };
            self.edit_as(&mut replaced, row, kind, self.at, self.at + length, ":");
            replaced.mode = after;
            replaced.last = (self.at + length) as u32;
            self.go(replaced, length);
        }
        if matches!(self.byte(), b'{' | b'}' | b'[' | b']' | b'"') {
            let mut replaced = reading;
            self.edit(&mut replaced, Row::SignIsColon, self.at, self.at + 1, ":");
            replaced.mode = after;
            replaced.last = self.at as u32 + 1;
            self.go(replaced, 1);
        }
        if rest.starts_with(b"\":") {
            let mut swapped = reading;
            self.edit(&mut swapped, Row::ColonLate, self.at, self.at + 2, ":\"");
            swapped.mode = Mode::Text(Text::new(Delimiter::Quote(Quote::Double), false, 1));
            self.go(swapped, 2);
        }
        let last = reading.last as usize;
        if matches!(self.byte(), b',' | b'}' | b';') || token::wide_sign(rest).is_some() {
            let mut alone = reading;
            self.edit(&mut alone, Row::KeyAlone, last, last, ": null");
            let alone = self.ended(alone, last);
            self.go(alone, 0);
        }
        if last > 1 && self.input[last - 2] == b':' && self.input[last - 1] == b'"' {
            let mut moved = reading;
            self.edit(&mut moved, Row::ColonInKey, last - 2, last, "\":");
            moved.mode = after;
            self.go(moved, 0);
        }
        let mut added = reading;
        self.edit(&mut added, Row::ColonAdded, last, last, ":");
        added.mode = Mode::Value(After::Added);
        self.go(added, 0);
        self.skip(reading);
    }

    /// After a value in a container.
    pub(super) fn rest(&mut self, reading: Reading) {
        if self.space(reading) {
            return;
        }
        let top = self.top(&reading);
        let members = top.is_some_and(Kind::has_members);
        let next = Mode::after_comma(members);
        let rest = self.rest_of_text();
        let comma = match rest {
            [b',', ..] => Some((1, None)),
            [b';', ..] => Some((1, Some(Row::CommaReplaced))),
            [b'.', b' ' | b'\n', ..] => Some((1, Some(Row::DotAsComma))),
            _ => token::wide_sign(rest)
                .filter(|(sign, _)| *sign == b',')
                .map(|(_, length)| (length, Some(Row::WideSign))),
        };
        if let Some((length, row)) = comma.filter(|_| top != Some(Kind::Call)) {
            let mut separated = reading;
            if let Some(row) = row {
                self.edit(&mut separated, row, self.at, self.at + length, ",");
            }
            separated.comma = self.at as u32;
            separated.mode = next;
            self.go(separated, length);
        } else if top != Some(Kind::Call) && !matches!(self.byte(), b'}' | b']' | b')' | b':') {
            let last = reading.last as usize;
            let line = self.layout.has_line_end(last, self.at);
            let row = if line { Row::CommaAddedAtLine } else { Row::CommaAdded };
            let mut added = reading;
            // Where tokens touch, more may be missing.
            added.cost += if last == self.at { 60 } else { 0 };
            added.key_edits = reading.edits;
            self.edit(&mut added, row, last, last, ",");
            // There is none to be dropped.
            added.mode = Mode::after_added_comma(members);
            self.go(added, 0);
            if last > 1 && self.input[last - 2..last] == *b",\"" {
                let mut moved = reading;
                self.edit(&mut moved, Row::CommaInString, last - 2, last, "\",");
                moved.key_edits = reading.edits;
                moved.mode = Mode::after_added_comma(members);
                self.go(moved, 0);
            }
        }
        if rest.starts_with(b"\",") && top != Some(Kind::Call) {
            let mut swapped = reading;
            self.edit(&mut swapped, Row::CommaLate, self.at, self.at + 2, ",\"");
            swapped.comma = self.at as u32;
            if members {
                swapped = self.at_key(swapped);
            }
            swapped.mode = Mode::Text(Text::new(Delimiter::Quote(Quote::Double), members, 1));
            self.go(swapped, 2);
        }
        let sign = match self.byte() {
            b'}' | b']' => Some(Row::CloserIsComma),
            b'{' | b'[' | b'"' => Some(Row::SignIsComma),
            _ => None,
        };
        if let Some(row) = sign.filter(|_| top != Some(Kind::Call)) {
            let mut replaced = reading;
            // A bracket rather begins another container.
            replaced.cost += if matches!(rest[0], b'{' | b'[') { 600 } else { 0 };
            self.edit(&mut replaced, row, self.at, self.at + 1, ",");
            replaced.comma = self.at as u32;
            replaced.key_edits = reading.edits;
            replaced.mode = Mode::after_added_comma(members);
            self.go(replaced, 1);
        }
        self.close(reading);
        self.join(reading);
    }

    /// Another piece of the string before: `"a" + "b"`, or only `"a" "b"`.
    fn join(&mut self, reading: Reading) {
        let rest = self.rest_of_text();
        let plus = usize::from(self.byte() == b'+');
        let gap =
            plus + rest.iter().skip(plus).take_while(|byte| byte.is_ascii_whitespace()).count();
        let last = reading.last as usize;
        let closed = last.checked_sub(1).and_then(|at| self.input.get(at));
        let line =
            plus == 1 || self.layout.has_line_end(last, self.at) || rest[..gap].contains(&b'\n');
        if closed == Some(&b'"') && rest.get(gap) == Some(&b'"') && line {
            let mut joined = reading;
            let row = match plus {
                1 if gap == 1 && last == self.at => Row::StringJoinTight,
                1 => Row::StringJoin,
                _ => Row::StringJoinBare,
            };
            self.edit(&mut joined, row, last - 1, self.at + gap + 1, "");
            joined.mode = Mode::Text(Text::new(Delimiter::Quote(Quote::Double), false, 1));
            self.go(joined, gap + 1);
        }
    }

    /// Where a container may end, and must end if nothing of it is to follow.
    pub(super) fn close(&mut self, reading: Reading) {
        if reading.mode == Mode::Close && self.space(reading) {
            return;
        }
        let Some(top) = self.top(&reading) else { return };
        let byte = self.byte();
        let (last, end) = (reading.last as usize, self.at + 1);
        let closer = matches!(byte, b'}' | b']' | b')');
        if byte == top.closer() {
            let mut closed = reading;
            if top.written().as_bytes() != [byte] {
                let row =
                    if top == Kind::Call { RepairKind::CallWrapper } else { RepairKind::Tuple };
                let row = match top {
                    Kind::Inner => RepairKind::InnerBraces,
                    Kind::Doubled => RepairKind::DuplicateOpen,
                    _ => row,
                };
                self.edit_as(&mut closed, Row::Prose, row, self.at, end, top.written());
            }
            let closed = self.closed(closed, end);
            self.go(closed, 1);
        } else if closer && !matches!(top, Kind::Call | Kind::Inner | Kind::Doubled) {
            let mut replaced = reading;
            self.edit(&mut replaced, Row::CloserReplaced, self.at, end, top.written());
            let replaced = self.closed(replaced, end);
            self.go(replaced, 1);
        }
        let outer = self.stacks.top(self.stacks.below(reading.stack));
        if let (Some(outer), [first, second, ..]) = (outer, self.rest_of_text())
            && (*first, *second) == (outer.closer(), top.closer())
            && first != second
            && [top, outer].iter().all(|kind| matches!(kind, Kind::Object | Kind::Array))
        {
            let mut swapped = reading;
            self.edit(&mut swapped, Row::ClosersSwapped, self.at, end, top.written());
            let kind = RepairKind::MismatchedClose;
            self.edit_as(&mut swapped, Row::Prose, kind, end, end + 1, outer.written());
            let inner = self.closed(swapped, end);
            let swapped = self.closed(inner, end + 1);
            self.go(swapped, 2);
        }
        if reading.mode == Mode::Rest
            && matches!(byte, b'{' | b'[' | b':' | b'"')
            && !top.written().is_empty()
        {
            let mut replaced = reading;
            self.edit(&mut replaced, Row::SignIsCloser, self.at, end, top.written());
            let replaced = self.closed(replaced, end);
            self.go(replaced, 1);
        }
        if closer {
            let mut dropped = reading;
            self.edit(&mut dropped, Row::CloserDropped, self.at, end, "");
            self.go(dropped, 1);
        }
        let mut added = reading;
        let indent = self.layout.indent(self.at);
        let line = self.layout.has_line_end(last, self.at);
        let row = match top {
            Kind::Members => Row::MembersEnd,
            Kind::Call | Kind::Inner | Kind::Doubled => Row::CommaDropped,
            _ if line
                && indent <= self.stacks.indent(reading.stack)
                && self.stacks.depth(reading.stack) > 1 =>
            {
                Row::CloserAddedByIndent
            }
            _ if self.stacks.depth(reading.stack) == 1 => Row::RootCloserAdded,
            _ => Row::CloserAdded,
        };
        if top.written().is_empty() {
            added.cost += row.cost();
        } else {
            self.edit(&mut added, row, last, last, top.written());
        }
        let added = self.closed(added, last);
        self.go(added, 0);
        if reading.mode == Mode::Rest {
            self.skip(reading);
        }
    }
}

impl Mode {
    pub(super) const fn after_comma(members: bool) -> Self {
        if members { Self::Key(After::Comma) } else { Self::Value(After::Comma) }
    }

    /// After a comma that was added, an item must follow.
    const fn after_added_comma(members: bool) -> Self {
        if members { Self::Key(After::Added) } else { Self::Value(After::Added) }
    }
}
