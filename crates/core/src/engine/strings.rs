//! Inside strings: runs of content, escapes, control characters, UTF-8.

use super::{
    Engine, Flow, Lex, Source, Step, Stop, Text,
    follows::{ends_line, opens_in_text, seems_to_end},
    quote::Quote,
    quotes::{Inner, Meaning, escaped_closer},
    source::{Edge, Look},
    state::Stray,
    try_peek,
};
use crate::{RepairKind, scan};

/// How much of a run is searched at a time. Without this limit, text would be searched again and
/// again if runs are cut short.
const RUN: usize = 4096;

/// The same limit for strings in typographic quotes or backticks.
const SLOW_RUN: usize = 512;

impl Engine {
    /// Opens a string at a quote of `length` bytes.
    pub(super) fn open_string(
        &mut self,
        source: &Source<'_>,
        quote: Quote,
        length: usize,
        is_key: bool,
    ) -> Step {
        let mut quotes = 1;
        if matches!(quote, Quote::Double | Quote::Single) {
            let delimiter = quote.stop();
            let look = self.look(source, self.pos + 1);
            if try_peek!(look.peek(), 0) == delimiter {
                quotes = try_peek!(self.quotes_at_start(look, delimiter, is_key), 1);
            }
        }
        let at = self.pos;
        if quote != Quote::Double {
            let either = self.outside.either == Some(at);
            let kind = if either { RepairKind::AmbiguousQuote } else { quote.kind() };
            self.edit(kind, at..at + length, "\"")?;
        }
        if quotes > 1 {
            self.edit(RepairKind::DoubledQuote, at + 1..at + usize::from(quotes), "")?;
        }
        self.pos += length + usize::from(quotes) - 1;
        self.string.doubled = quotes == 2;
        self.lex_start = self.pos;
        self.string.inner_quotes = 0;
        self.string.inner = Inner::default();
        self.string.unpaired = false;
        self.string.stray = Stray::None;
        self.string.doubles = false;
        self.lex = Lex::Text(Text::new(quote, is_key, quotes));
        self.string.tail = None;
        if !is_key {
            self.commit();
        }
        Ok(Flow::Go)
    }

    /// Reads string content up to the next special byte, and handles that byte.
    pub(super) fn string(&mut self, source: &Source<'_>, text: Text) -> Step {
        let mut text = text;
        loop {
            let rest = source.from(self.pos);
            let ahead = &rest[..rest.len().min(RUN)];
            let run = scan::string_run(ahead, 0, text.quote.stop());
            let slow = matches!(text.quote, Quote::Smart | Quote::Backtick);
            let most = if slow { SLOW_RUN } else { RUN - 1 };
            let mut end = run.end;
            if end > most {
                // Stop at the start of a character.
                end = (most - 3..=most).rfind(|&at| rest[at] & 0xc0 != 0x80).unwrap_or(most);
            }
            if !run.ascii || text.quote == Quote::Backtick {
                match self.checked_run(source, text, end)? {
                    Checked::All => {}
                    Checked::Upto(length) => end = length,
                    Checked::Mended => return Ok(Flow::Go),
                    Checked::Wait(length) => {
                        self.consume_text(rest, length, text);
                        return Ok(Flow::Wait);
                    }
                }
            }
            self.consume_text(rest, end, text);
            if text.is_key {
                self.check_withheld()?;
            }
            if let Lex::Text(now) = self.lex {
                text = now;
            }
            let Some(&byte) = rest.get(end) else {
                return if source.is_last() {
                    self.end_of_text(source, text)
                } else {
                    Ok(Flow::Wait)
                };
            };
            if end < run.end && text.quote.closer(&rest[end..]).is_none() && byte != b'"' {
                continue;
            }
            match byte {
                b'\\' => {
                    // Something other than white space follows a comma before this.
                    self.commit_text(text);
                    // In two quotes, an escaped one may be doubled as well.
                    let double = text.quote == Quote::Double && text.quotes != 2;
                    let simple = double
                        && self.string.stray == Stray::None
                        && rest.get(end + 1).is_some_and(|byte| br#""\/bfnrt"#.contains(byte));
                    let unit = double && is_plain_unit(&rest[end..]);
                    if !simple && !unit {
                        return self.escape(source, text);
                    }
                    self.pos += if simple { 2 } else { 6 };
                    self.string.inner.escape(if simple { rest[end + 1] } else { b'u' });
                    self.commit_text(text);
                }
                0..=0x1f => return self.control(byte, text),
                _ => {
                    let Some(length) = text.quote.closer(&rest[end..]) else {
                        let first = text.is_key && self.string.inner_quotes == 0;
                        if first && text.quote == Quote::Single {
                            let mut look = source.look(self.pos + 1, self.window);
                            if try_peek!(look.gap(), 0) == b':' {
                                return self.close_mixed_key(source, text);
                            }
                        }
                        self.string.inner_quotes += usize::from(text.is_key);
                        // A double quote in a string with other delimiters.
                        self.edit(text.quote.kind(), self.pos..self.pos, "\\")?;
                        self.pos += 1;
                        self.commit_text(text);
                        return Ok(Flow::Go);
                    };
                    return self.quote(source, text, length);
                }
            }
        }
    }

    /// Handles a quote that may end the string.
    pub(super) fn quote(&mut self, source: &Source<'_>, text: Text, length: usize) -> Step {
        let at = self.pos;
        let meaning = try_peek!(self.judge_quote(source, text, length), Meaning::Close(length));
        if self.strict_quotes && !matches!(meaning, Meaning::Close(_)) {
            return Err(Stop::Refused);
        }
        match meaning {
            Meaning::Close(bytes) => {
                // A string that another sign opened may be closed by the quote that JSON wants.
                let plain = bytes == 1 && source.from(at).first() == Some(&b'"');
                if !plain {
                    // What the other quotes in it are is not certain either.
                    let inner = text.quote == Quote::Escaped && self.string.inner_quotes > 0;
                    let kind = if inner { RepairKind::AmbiguousQuote } else { text.quote.kind() };
                    let kind = if bytes > length { RepairKind::DoubledQuote } else { kind };
                    self.edit(kind, at..at + bytes, "\"")?;
                }
                self.pos = at + bytes;
                self.close_string(source, text, at)
            }
            Meaning::Inner => {
                let twice = text.quote == Quote::Double
                    && text.quotes == 1
                    && !text.is_key
                    && try_peek!(self.is_written_twice(source, at), false);
                let length = if twice { 2 } else { length };
                self.string.doubles |= twice;
                let after = source.from(at + length);
                if after == b"\\" && !source.is_last() {
                    // What the backslash escapes decides whether the quote directly precedes a
                    // word.
                    return Ok(Flow::Wait);
                }
                if text.quote == Quote::Single && !text.is_key {
                    let opens = match self.string.inner.bracket_before() {
                        Some(bracket) => {
                            let look = source.look(at + length, self.window);
                            try_peek!(opens_in_text(look, bracket), false)
                        }
                        None => false,
                    };
                    let within =
                        after.first().is_some_and(|b| self.string.inner.is_within_word(*b));
                    self.unescaped += usize::from(!within);
                    self.string.inner.single_quote(opens);
                }
                let doubtful = self.string.inner.begins_line()
                    || !self.string.inner.is_open()
                        && try_peek!(ends_line(source.look(at + length, self.window)), false);
                // Of a quotation at the start whose end is out of sight, the string may be all.
                let mut inner = self.string.inner;
                let quoting = inner.is_quoting();
                inner.quote(after);
                let before = self.string.unpaired;
                let unpaired = text.quote == Quote::Double
                    && !text.is_key
                    && !inner.is_open()
                    && (before || !quoting && !inner.is_quoting());
                let doubtful = doubtful
                    || unpaired
                        && try_peek!(
                            seems_to_end(source.look(at + length, self.window), before),
                            false
                        )
                    || !self.whole
                        && at == self.lex_start
                        && text.quote == Quote::Double
                        && try_peek!(is_out_of_sight(source.look(at + 1, self.window)), false);
                self.string.inner_quotes += 1;
                self.string.unpaired = unpaired;
                if text.quote == Quote::Double {
                    self.string.inner.quote(after);
                    self.unescaped += 1;
                }
                match text.quote {
                    // The end of a line, or the beginning of one after a comma, is where a string
                    // usually ends or begins.
                    Quote::Double if doubtful => {
                        let end = if twice { at + 1 } else { at };
                        self.edit(RepairKind::AmbiguousQuote, at..end, "\\")?;
                    }
                    Quote::Double if twice => {
                        self.edit(RepairKind::DoubledQuote, at..at + 1, "\\")?;
                    }
                    Quote::Double => self.edit(RepairKind::UnescapedQuote, at..at, "\\")?,
                    Quote::Escaped if source.byte(at) == Some(b'\\') => {}
                    Quote::Escaped => self.edit(RepairKind::UnescapedQuote, at..at, "\\")?,
                    Quote::Smart if source.byte(at) == Some(b'"') => {
                        self.edit(RepairKind::SmartQuote, at..at, "\\")?;
                    }
                    Quote::Backtick | Quote::Single | Quote::Smart => {}
                }
                self.pos = at + length;
                self.commit_text(text);
                Ok(Flow::Go)
            }
            Meaning::LostBefore(lost) => {
                let lost = if self.reaches(lost) { lost } else { self.committed.max(lost) };
                self.forget(lost);
                self.pos = lost;
                let content = source.slice(self.lex_start, lost);
                let sign = text.quote.mistaken_closer(content);
                let escaped = if text.quote == Quote::Double { escaped_closer(content) } else { 0 };
                let sign = sign.max(escaped);
                let free = self.reaches(lost - sign) && !self.script.spans(lost - sign);
                let sign = if free { sign } else { 0 };
                self.forget(lost - sign);
                self.edit(RepairKind::UnterminatedString, lost - sign..lost, "\"")?;
                self.close_string(source, text, lost - sign)
            }
        }
    }

    /// Ends a key that a single quote has opened, and a double one closes: `{'key": 1}`.
    fn close_mixed_key(&mut self, source: &Source<'_>, text: Text) -> Step {
        let (open, at) = (self.lex_start - 1, self.pos);
        let opener = |edit: &super::Edit| matches!(edit, super::Edit::Replace(repair, _) if repair.kind == text.quote.kind());
        if let Some(opener) = self.script.find_at(open, opener) {
            self.script.remove(opener);
            self.edit(RepairKind::UnterminatedString, open..open + 1, "\"")?;
        }
        self.pos += 1;
        self.close_string(source, text, at)
    }

    /// Ends the string. `at` is the place of its closing quote, even if that is missing.
    fn close_string(&mut self, source: &Source<'_>, text: Text, at: usize) -> Step {
        self.lex = Lex::None;
        self.string.tail = None;
        if text.is_key {
            self.frames.set_key(source.slice(self.lex_start, at));
            self.expect = super::Expect::Colon;
            self.gap.start = self.pos;
            return Ok(Flow::Go);
        }
        // The quote is not certain until the next token: `"a" + "b"` would remove it.
        self.value_ended(source)?;
        self.string.closed = (self.frames.len() > 0 || self.whole).then_some(at);
        Ok(Flow::Go)
    }

    /// Checks the next `length` bytes, not all of which are ASCII, for anything but plain text.
    fn checked_run(
        &mut self,
        source: &Source<'_>,
        text: Text,
        length: usize,
    ) -> Result<Checked, Stop> {
        let run = &source.from(self.pos)[..length];
        let mut valid = match core::str::from_utf8(run) {
            Ok(_) => length,
            Err(error) => error.valid_up_to(),
        };
        if matches!(text.quote, Quote::Smart | Quote::Backtick) {
            let closer = (0..valid).find(|&at| {
                run[at] != b'"'
                    && !run[at].is_ascii_alphanumeric()
                    && text.quote.closer(&run[at..]).is_some()
            });
            if let Some(at) = closer {
                return Ok(Checked::Upto(at));
            }
        }
        if valid == length {
            return Ok(Checked::All);
        }
        let Err(error) = core::str::from_utf8(&run[valid..]) else { return Ok(Checked::All) };
        if valid > 0 {
            // First take the text before it, then, in another step, the bytes that are not UTF-8.
            self.consume_text(run, valid, text);
            return Ok(Checked::Mended);
        }
        valid = self.pos;
        let bad = match error.error_len() {
            Some(bad) => bad,
            None if length < source.from(self.pos).len() => length,
            None if !source.is_last() => return Ok(Checked::Wait(0)),
            None => {
                self.cut_off()?;
                self.edit(RepairKind::CutEscape, valid..valid + length, "")?;
                self.pos += length;
                return Ok(Checked::Mended);
            }
        };
        self.edit(RepairKind::InvalidUtf8, valid..valid + bad, "\u{fffd}")?;
        self.pos += bad;
        self.commit_text(text);
        Ok(Checked::Mended)
    }
}

/// Whether no quote is in sight.
fn is_out_of_sight(mut look: Look<'_>) -> Result<bool, Edge> {
    match look.through(Quote::Double) {
        Err(Edge::Window) => Ok(true),
        other => other.map(|()| false),
    }
}

/// The result of checking a run that is not ASCII.
enum Checked {
    /// All of it is text.
    All,
    /// There may be a closing quote at this index.
    Upto(usize),
    /// Something was found and handled.
    Mended,
    /// At this index starts a character of which not all bytes have arrived.
    Wait(usize),
}

/// Whether `text` begins with `\u` and four digits that encode a character, not a surrogate.
#[inline]
pub(super) const fn is_plain_unit(text: &[u8]) -> bool {
    match text {
        [b'\\', b'u', a, b, c, d, ..] => {
            let surrogate = *a | 0x20 == b'd' && !matches!(*b, b'0'..=b'7');
            // All at once, instead of one branch for each digit.
            IS_HEX[*a as usize] & IS_HEX[*b as usize] & IS_HEX[*c as usize] & IS_HEX[*d as usize]
                && !surrogate
        }
        _ => false,
    }
}

/// Whether a byte is a hexadecimal digit.
static IS_HEX: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = (byte as u8).is_ascii_hexdigit();
        byte += 1;
    }
    table
};
