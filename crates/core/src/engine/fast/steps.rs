//! The automaton of the fast path, with one branch for each phase. The branches are in an order,
//! from strings to the start of a value, in which most phases fall through to the next one, so
//! that the loop runs about once per value.

use super::{
    Delimiter, Digits, End, Engine, MAX_TOKEN, Phase,
    bulk::{Halt, MIN_BULK},
    characters::continue_character,
    commit::number_end,
    dialect, tokens,
};
use crate::{
    RepairKind,
    engine::{PLAIN, frames::Shape},
    grammar::Expect,
    scan,
};

impl Engine {
    #[inline(always)]
    pub(super) fn fast_phases<const DIALECT: bool>(
        &mut self,
        carry: &[u8],
        text: &[u8],
        base: usize,
        from: usize,
        phase: &mut Phase,
    ) -> End {
        let mut at = from;
        // How much of the current white space came in earlier chunks.
        let mut passed = core::mem::take(&mut self.fast.passed);
        macro_rules! byte {
            () => {
                match text.get(at) {
                    Some(&byte) => byte,
                    None => return End::More,
                }
            };
        }
        // Skips white space, and yields the byte after it. Stops if there are `$most` bytes of it.
        macro_rules! gap {
            ($most:expr) => {
                match text.get(at) {
                    Some(&byte) if byte > b' ' => {
                        passed = 0;
                        byte
                    }
                    _ => {
                        let from = at;
                        at = scan::skip_space(text, at);
                        passed += at - from;
                        if passed >= $most {
                            return End::Unusual(base + at - (passed - $most));
                        }
                        let Some(&byte) = text.get(at) else {
                            self.fast.passed = passed;
                            return End::More;
                        };
                        passed = 0;
                        byte
                    }
                }
            };
        }
        // Something unusual at `at`, unless it is usual in a dialect.
        macro_rules! unusual {
            ($byte:expr) => {
                if DIALECT || !self.fast.begins_dialect($byte) {
                    return End::Unusual(base + at);
                } else {
                    return End::Dialect(base + at);
                }
            };
        }
        loop {
            if matches!(*phase, Phase::String) && self.fast_quote::<DIALECT>(text, base, at) {
                at += 1;
                *phase = Phase::AfterQuote;
            } else if matches!(*phase, Phase::String) {
                let content = match self.fast.quote {
                    Delimiter::Single if DIALECT => dialect::content(text, at),
                    _ => tokens::short_content(text, at, &mut self.fast.blocks),
                };
                match self.fast_string::<DIALECT>(text, base, at, content) {
                    Ok(next) => (*phase, at) = next,
                    Err(end) => return end,
                }
                if at == text.len() {
                    return End::More;
                }
            }
            if matches!(*phase, Phase::AfterQuote) {
                gap!(self.window);
                match self.fast_after_quote::<DIALECT>(text, base, at) {
                    Ok(next) => (*phase, at) = next,
                    Err(end) => return end,
                }
            }
            match *phase {
                // The blocks above and below this match handle these.
                Phase::Between
                | Phase::BeforeKey
                | Phase::Key
                | Phase::BeforeColon
                | Phase::BeforeValue
                | Phase::BeforeItem
                | Phase::String
                | Phase::AfterQuote => {}
                Phase::AfterQuoteComma => {
                    match gap!(MAX_TOKEN) {
                        b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' => {}
                        b'\'' | b']' if DIALECT => {}
                        byte => unusual!(byte),
                    }
                    *phase = Phase::BeforeItem;
                }
                Phase::Number(part) => {
                    let (part, end) = number_end(text, at, part);
                    at = end;
                    if base + at - self.fast.value + 2 >= self.window {
                        return End::Unusual(self.fast.value);
                    }
                    *phase = Phase::Number(part);
                    let _ = byte!();
                    if !matches!(
                        part,
                        Digits::Zero | Digits::Integer | Digits::Fraction | Digits::Exponent
                    ) {
                        return End::Unusual(self.fast.value);
                    }
                    self.fast.end = base + at;
                    (*phase, at) = self.fast_after_scalar::<DIALECT>(text, base, at);
                }
                Phase::Scalar => {
                    let byte = gap!(self.window);
                    match byte {
                        // `1,234` may be one number.
                        b',' if self.fast.end == base + at && !self.in_list() => {
                            at += 1;
                            *phase = Phase::ScalarComma;
                            continue;
                        }
                        b',' | b'}' | b']' => self.fast_scalar_ended::<DIALECT>(),
                        _ => return End::Unusual(self.fast.value),
                    }
                    *phase = Phase::Between;
                }
                Phase::ScalarComma => {
                    if byte!().is_ascii_digit() {
                        return End::Unusual(self.fast.value);
                    }
                    self.fast_scalar_ended::<DIALECT>();
                    self.fast.comma = Some(self.fast.end);
                    (*phase, at) = self.fast_member::<DIALECT>(text, base, at);
                }
                Phase::Literal(length) => {
                    let word = dialect::literal_word::<DIALECT>(self.fast.first);
                    let mut length = usize::from(length);
                    while let Some(&want) = word.get(length) {
                        let Some(&byte) = text.get(at) else {
                            *phase = Phase::Literal(length as u8);
                            return End::More;
                        };
                        if byte != want {
                            return End::Unusual(self.fast.value);
                        }
                        at += 1;
                        length += 1;
                    }
                    self.fast.end = base + at;
                    (*phase, at) = self.fast_after_scalar::<DIALECT>(text, base, at);
                }
                Phase::Brace => {
                    if byte!() == b'{' || !self.fast_open::<DIALECT>(Shape::Object) {
                        return End::Unusual(self.fast.value);
                    }
                    *phase = Phase::Between;
                }
                Phase::Quote => {
                    let doubled = match self.fast.quote {
                        Delimiter::Single if DIALECT => b'\'',
                        _ => b'"',
                    };
                    if byte!() == doubled {
                        at += 1;
                        *phase = Phase::Empty;
                    } else {
                        self.fast_open_string::<DIALECT>();
                        *phase = Phase::String;
                    }
                }
                Phase::Empty => {
                    if !matches!(byte!(), b',' | b'}' | b']') {
                        return End::Unusual(self.fast.value);
                    }
                    self.fast_open_string::<DIALECT>();
                    self.fast.end = self.pos;
                    *phase = Phase::AfterQuote;
                }
                Phase::Escape => {
                    match byte!() {
                        byte @ (b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                            at += 1;
                            self.string.inner.escape(byte);
                            self.pos = base + at;
                            self.commit_text(PLAIN);
                            *phase = Phase::String;
                        }
                        b'u' => {
                            at += 1;
                            *phase = Phase::Unit(0);
                        }
                        b'\'' if DIALECT && self.fast.quote == Delimiter::Single => {
                            let slash = self.pos;
                            at += 1;
                            self.string.inner.escape(b'\'');
                            self.fast_edit(RepairKind::SingleQuote, slash, slash + 1, "");
                            self.pos = base + at;
                            self.commit_text(PLAIN);
                            *phase = Phase::String;
                        }
                        _ => return End::Unusual(self.pos),
                    };
                }
                Phase::Unit(digits) => {
                    let byte = byte!();
                    // `\uD800` to `\uDFFF` are one half of a surrogate pair.
                    let half =
                        digits == 1 && self.fast.partial[0] == b'd' && !matches!(byte, b'0'..=b'7');
                    if !byte.is_ascii_hexdigit() || half {
                        return End::Unusual(self.pos);
                    }
                    at += 1;
                    if digits == 0 {
                        self.fast.partial[0] = byte.to_ascii_lowercase();
                    }
                    *phase = Phase::Unit(digits + 1);
                    if digits == 3 {
                        self.string.inner.escape(b'u');
                        self.pos = base + at;
                        self.commit_text(PLAIN);
                        *phase = Phase::String;
                    }
                }
                Phase::Utf8 => {
                    let _ = byte!();
                    let had = usize::from(self.fast.partial_length);
                    let bytes = &mut self.fast.partial;
                    let read = continue_character(bytes, had, &text[at..]);
                    let Some((has, whole)) = read else { return End::Unusual(self.pos) };
                    at += has - had;
                    if !whole {
                        self.fast.partial_length = has as u8;
                        return End::More;
                    }
                    self.string.inner.ends_with_character(&self.fast.partial[..has]);
                    self.pos = base + at;
                    self.commit_text(PLAIN);
                    *phase = Phase::String;
                }
                Phase::AfterQuoteClose => {
                    if !matches!(gap!(self.window), b',' | b'}' | b']') {
                        return End::Unusual(base + at);
                    }
                    self.fast_string_ended::<DIALECT>();
                    if !self.fast_close::<DIALECT>(self.fast.close) {
                        return End::Unusual(base + at);
                    }
                    *phase = Phase::Between;
                }
                Phase::Inactive => return End::Unusual(base),
            }
            if matches!(*phase, Phase::Between) {
                at = scan::skip_space(text, at);
                if base + at - self.gap.start > self.window {
                    self.pos = base + at;
                    if self.expect == Expect::After {
                        self.fast_line_end(text, base, at);
                    }
                    self.commit_content();
                }
                match (self.expect, byte!()) {
                    (Expect::MemberEnd, b',') => {
                        self.fast.comma = Some(base + at);
                        (*phase, at) = self.fast_member::<DIALECT>(text, base, at + 1);
                    }
                    (Expect::ItemEnd, b',') => {
                        self.fast.comma = Some(base + at);
                        at += 1;
                        *phase = Phase::BeforeItem;
                    }
                    (Expect::FirstKey, b'"') => {
                        self.fast.comma = None;
                        (*phase, at) = self.fast_member::<DIALECT>(text, base, at);
                    }
                    (Expect::FirstKey | Expect::MemberEnd, b'}')
                    | (Expect::FirstItem | Expect::ItemEnd, b']') => {
                        if !self.fast_close::<DIALECT>(base + at) {
                            return End::Unusual(base + at);
                        }
                        at += 1;
                    }
                    (Expect::FirstKey, _) if DIALECT => {
                        self.fast.comma = None;
                        (*phase, at) = self.fast_member::<DIALECT>(text, base, at);
                    }
                    (Expect::FirstKey, byte) => unusual!(byte),
                    (Expect::FirstItem, _) => {
                        self.fast.comma = None;
                        *phase = Phase::BeforeItem;
                    }
                    _ => return End::Unusual(base + at),
                }
            }
            if matches!(*phase, Phase::BeforeKey) {
                let byte = gap!(MAX_TOKEN);
                if DIALECT {
                    if byte == b'}' && self.fast.comma.is_some() {
                        if !self.fast_close_after_comma(base + at) {
                            return End::Unusual(base + at);
                        }
                        at += 1;
                        *phase = Phase::Between;
                        continue;
                    }
                    let Some(quote) = dialect::key_delimiter(byte) else { unusual!(byte) };
                    self.fast.key_quote = quote;
                    if quote != Delimiter::Double {
                        self.fast.dialect.note();
                    }
                    at += usize::from(quote != Delimiter::None);
                } else if byte == b'"' {
                    at += 1;
                } else {
                    unusual!(byte);
                }
                self.fast.key.0 = base + at;
                self.fast.ascii = true;
                *phase = Phase::Key;
            }
            if DIALECT && matches!(*phase, Phase::Key) && self.fast.key_quote != Delimiter::Double {
                at = match self.fast.dialect_key_end(text, base, at) {
                    Ok(end) => end,
                    Err(end) => return end,
                };
                self.fast.key.1 = base + at;
                if !self.fast.ascii && !self.fast_key_is_text(carry, text, base) {
                    return End::Unusual(base + at);
                }
                at += 1;
                *phase = match self.fast.key_quote {
                    Delimiter::None => Phase::BeforeValue,
                    _ => Phase::BeforeColon,
                };
            }
            if matches!(*phase, Phase::Key) {
                at = tokens::short_run(text, at);
                let mut after = text.get(at);
                if let Some(0x80..) = after {
                    self.fast.ascii = false;
                    at = tokens::wide_run(text, at);
                    after = text.get(at);
                }
                let length = base + at - self.fast.key.0;
                if length >= MAX_TOKEN {
                    return End::Unusual(self.fast.key.0 + MAX_TOKEN);
                }
                match after {
                    Some(b'"') if length > 0 => {}
                    Some(_) => return End::Unusual(base + at),
                    None => return End::More,
                }
                self.fast.key.1 = base + at;
                if !self.fast.ascii && !self.fast_key_is_text(carry, text, base) {
                    return End::Unusual(base + at);
                }
                at += 1;
                // Usually the colon directly follows the key.
                if text.get(at) == Some(&b':') {
                    at += 1;
                    *phase = Phase::BeforeValue;
                } else {
                    *phase = Phase::BeforeColon;
                }
            }
            if matches!(*phase, Phase::BeforeColon) {
                if gap!(MAX_TOKEN) != b':' {
                    return End::Unusual(base + at);
                }
                at += 1;
                *phase = Phase::BeforeValue;
            }
            if matches!(*phase, Phase::BeforeValue | Phase::BeforeItem) {
                let mut byte = gap!(MAX_TOKEN);
                if DIALECT && self.is_crowded() {
                    return End::Unusual(base + at);
                }
                if DIALECT && byte == b']' && self.in_list() && self.fast.comma.is_some() {
                    if !self.fast_close_after_comma(base + at) {
                        return End::Unusual(base + at);
                    }
                    at += 1;
                    *phase = Phase::Between;
                    continue;
                }
                if self.fast.doubt {
                    self.fast_string_ended::<DIALECT>();
                }
                if !self.in_list() && self.expect != Expect::MemberValue {
                    self.fast_member_begins::<DIALECT>(carry, text, base, base + at);
                }
                if text.len() - at >= MIN_BULK && self.window > tokens::MAX_SHORT_TOKEN {
                    let halt = if DIALECT && self.fast.dialect.is_seen() {
                        self.read_bulk::<true>(text, base, at)
                    } else {
                        self.read_bulk::<false>(text, base, at)
                    };
                    match halt {
                        Halt::Value(value) => {
                            at = value;
                            byte = text[at];
                        }
                        Halt::Between(end) => {
                            at = end;
                            *phase = Phase::Between;
                            continue;
                        }
                        Halt::String(value, content) => {
                            self.fast.value = base + value;
                            if DIALECT {
                                self.fast.quote = Delimiter::Double;
                            }
                            self.fast_open_string::<DIALECT>();
                            match self.fast_string::<DIALECT>(text, base, value + 1, content) {
                                Ok(next) => (*phase, at) = next,
                                Err(end) => return end,
                            }
                            if at == text.len() {
                                return End::More;
                            }
                            continue;
                        }
                    }
                }
                self.fast.value = base + at;
                *phase = match byte {
                    b'"' => {
                        if DIALECT {
                            self.fast.quote = Delimiter::Double;
                        }
                        match text.get(at + 1) {
                            None | Some(b'"') => Phase::Quote,
                            Some(_) => {
                                self.fast_open_string::<DIALECT>();
                                Phase::String
                            }
                        }
                    }
                    // The value of a member may be a placeholder, as in `{{name}}`.
                    b'{' if !self.in_list() => Phase::Brace,
                    b'{' => {
                        if !self.fast_open::<DIALECT>(Shape::Object) {
                            return End::Unusual(base + at);
                        }
                        Phase::Between
                    }
                    b'[' => {
                        if !self.fast_open::<DIALECT>(Shape::Array) {
                            return End::Unusual(base + at);
                        }
                        Phase::Between
                    }
                    b'-' => Phase::Number(Digits::Minus),
                    b'0' => Phase::Number(Digits::Zero),
                    b'1'..=b'9' => Phase::Number(Digits::Integer),
                    b't' | b'f' | b'n' => {
                        self.fast.first = byte;
                        Phase::Literal(1)
                    }
                    b'T' | b'F' | b'N' if DIALECT => {
                        self.fast.dialect.note();
                        self.fast.first = byte;
                        Phase::Literal(1)
                    }
                    b'\'' if DIALECT => {
                        self.fast.dialect.note();
                        self.fast.quote = Delimiter::Single;
                        Phase::Quote
                    }
                    _ => unusual!(byte),
                };
                if DIALECT && matches!(*phase, Phase::Number(_)) {
                    self.fast.first = byte;
                }
                at += 1;
            }
        }
    }
}
