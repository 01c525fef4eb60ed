//! Reading in bulk: whole members and items one after the other, with all state in local
//! variables. The engine's state is written once, at the end.
//!
//! Reading stops before anything that it cannot read as a whole, because the chunk ends in it or
//! because it is unusual. The automaton continues from there, so nothing unusual is decided here.
//!
//! There are two versions of the loop: one for JSON, and one (`DIALECT`) that also reads the tokens
//! of a [dialect](super::dialect) and makes their edits.

mod commit;

use commit::{Bulk, NONE};

use super::{
    Delimiter, Engine,
    characters::Utf8Blocks,
    content::{After, Content},
    dialect,
    tokens::{self, Key},
};
use crate::{RepairKind, engine::Closed};

/// The shortest text for which reading in bulk is worth its setup.
pub(super) const MIN_BULK: usize = 32;

/// After so many bytes without an edit, a text is no longer read as in a dialect.
const QUIET: usize = 256;

/// Where reading in bulk stopped.
#[derive(Clone, Copy, Debug)]
pub(super) enum Halt {
    /// Before the value that starts at that index.
    Value(usize),
    /// In the string that starts at that index, of which this much was read.
    String(usize, Content),
    /// After a value or an opening bracket that ends at that index.
    Between(usize),
}

impl Engine {
    /// Reads on from the value at `at`. In an object its key was read already, in an array the
    /// comma before it.
    #[inline(never)]
    pub(super) fn read_bulk<const DIALECT: bool>(
        &mut self,
        text: &[u8],
        base: usize,
        at: usize,
    ) -> Halt {
        let mut now = Bulk {
            ended: NONE,
            string: NONE,
            closer: if self.in_list() { b']' } else { b'}' },
            items: self.frames.items(),
            nested: self.frames.begin_nested(self.options.limits().depth()),
            key: (NONE, NONE),
            key_quote: Delimiter::Double,
            own_key: false,
            comma: self.member.comma.map_or(NONE, |comma| comma.at),
            pending: self.fast.comma.unwrap_or(NONE),
            member_edits: if DIALECT { self.member.edits_before } else { self.script.serial },
            edits: self.script.committed,
            seen_edits: self.script.edits.len(),
            seen_at: at,
        };
        let halt = self.bulk_loop::<DIALECT>(&mut now, text, base, at);
        if now.ended != NONE {
            // A copy, because a reference to `now` would keep the variable in memory in the loop, too.
            let now = now;
            self.bulk_commit(&now, text, base);
            if let Halt::Value(value) | Halt::String(value, _) = halt {
                self.bulk_to_value(&now, base, value);
            }
        }
        halt
    }

    #[inline(always)]
    fn bulk_loop<const DIALECT: bool>(
        &mut self,
        now: &mut Bulk,
        text: &[u8],
        base: usize,
        at: usize,
    ) -> Halt {
        let mut value = at;
        loop {
            if DIALECT && (self.is_crowded() || self.has_left_dialect(now, value)) {
                return Halt::Value(value);
            }
            // After the value, at a comma or a closing bracket.
            let mut next = match text[value] {
                quote @ (b'"' | b'\'') if DIALECT || quote == b'"' => {
                    let read = if quote == b'"' {
                        self.bulk_string::<DIALECT>(now, text, value)
                    } else {
                        self.bulk_dialect_string(now, text, base, value)
                    };
                    let (next, goes_on) = match read {
                        Ok(read) => read,
                        Err(halt) => return halt,
                    };
                    match goes_on {
                        Next::Closer => next,
                        Next::Item(item) => {
                            (now.pending, value) = (base + next, item);
                            continue;
                        }
                        Next::Member(key) => {
                            value = self.bulk_member::<DIALECT>(now, key, base, base + next);
                            continue;
                        }
                        Next::Comma(closer) => {
                            if DIALECT {
                                self.bulk_extra_comma(now, base + next);
                            }
                            closer
                        }
                    }
                }
                open @ (b'{' | b'[') => {
                    if !self.may_open(now, text, value) {
                        return Halt::Value(value);
                    }
                    self.bulk_begin::<DIALECT>(now);
                    self.bulk_open(now, open == b'[', text, base, value);
                    if DIALECT {
                        now.edits = self.script.edits.len();
                    }
                    let Some(next) = tokens::gap(text, value + 1) else {
                        return Halt::Between(value + 1);
                    };
                    if !now.is_closer(text[next]) {
                        if open == b'[' {
                            (now.pending, value) = (NONE, next);
                        } else {
                            let Some(key) =
                                member_key::<DIALECT>(text, next, &mut self.fast.blocks)
                            else {
                                return Halt::Between(value + 1);
                            };
                            value = self.bulk_member::<DIALECT>(now, key, base, NONE);
                        }
                        continue;
                    }
                    next
                }
                first => {
                    let Some((end, next)) = scalar::<DIALECT>(text, value, now.list()) else {
                        return Halt::Value(value);
                    };
                    self.bulk_begin::<DIALECT>(now);
                    if DIALECT {
                        self.fast_literal_edit(first, base + value, base + end);
                        now.edits = self.script.edits.len();
                    }
                    now.value_ended(end);
                    if now.list() && text[next] == b',' {
                        // Lists of scalars do not go through the closers.
                        if let Some(item) = tokens::gap(text, next + 1)
                            && text[item] != b']'
                        {
                            (now.pending, value) = (base + next, item);
                            if !DIALECT && matches!(text[item], b'-' | b'0'..=b'9') {
                                value = now.read_numbers(text, base, item);
                            }
                            continue;
                        }
                    }
                    next
                }
            };
            // After the last value of a container comes its closer, in a dialect perhaps after a
            // comma.
            loop {
                if now.is_closer(text[next]) {
                    match self.bulk_closers::<DIALECT>(now, text, base, next) {
                        Some(after) => next = after,
                        None => return Halt::Between(now.ended),
                    }
                }
                if text[next] != b',' {
                    return Halt::Between(now.ended);
                }
                if DIALECT
                    && let Some(closer) = tokens::gap(text, next + 1)
                    && now.is_closer(text[closer])
                    && self.may_close()
                {
                    self.bulk_extra_comma(now, base + next);
                    next = closer;
                    continue;
                }
                break;
            }
            if now.list() {
                let Some(item) = tokens::gap(text, next + 1) else {
                    return Halt::Between(now.ended);
                };
                (now.pending, value) = (base + next, item);
            } else {
                let Some(key) = member_key::<DIALECT>(text, next + 1, &mut self.fast.blocks) else {
                    return Halt::Between(now.ended);
                };
                value = self.bulk_member::<DIALECT>(now, key, base, base + next);
            }
        }
    }

    /// Reads the closers at `next`, and returns where the next other byte is.
    #[inline(always)]
    fn bulk_closers<const DIALECT: bool>(
        &mut self,
        now: &mut Bulk,
        text: &[u8],
        base: usize,
        mut next: usize,
    ) -> Option<usize> {
        let mut nested = now.nested;
        self.frames.note_depth(&mut nested);
        let (mut after, mut end) = (None, now.ended);
        let inner = self.frames.close_nested(&mut nested, |in_list| {
            end = next + 1;
            let closer = if in_list { b']' } else { b'}' };
            match tokens::gap(text, end) {
                Some(again) if text[again] == closer => {
                    next = again;
                    true
                }
                other => {
                    after = other;
                    false
                }
            }
        });
        now.nested = nested;
        let inner = inner?;
        self.closed = Closed { is_object: inner.is_object, end: base + end };
        now.closer = if inner.in_list { b']' } else { b'}' };
        now.items = inner.items;
        now.value_ended(end);
        now.own_key = false;
        if DIALECT {
            now.edits = self.script.edits.len();
        }
        after
    }

    /// Reads the string at `value`, and what shows that it has ended.
    #[inline(always)]
    fn bulk_string<const DIALECT: bool>(
        &mut self,
        now: &mut Bulk,
        text: &[u8],
        value: usize,
    ) -> Result<(usize, Next), Halt> {
        let from = content_start(text, value).ok_or(Halt::Value(value))?;
        let content = tokens::content(text, from, &mut self.fast.blocks);
        let after = self.after_string::<DIALECT>(now, text, content);
        let after = after.ok_or(Halt::String(value, content))?;
        self.bulk_begin::<DIALECT>(now);
        now.string_ended(value, content);
        if DIALECT {
            now.edits = self.script.edits.len();
        }
        Ok(after)
    }

    /// The same for a string in single quotes, with its edits.
    #[inline(always)]
    fn bulk_dialect_string(
        &mut self,
        now: &mut Bulk,
        text: &[u8],
        base: usize,
        value: usize,
    ) -> Result<(usize, Next), Halt> {
        let (edits, before) = (self.script.edits.len(), self.script.serial);
        let read = self
            .bulk_single(text, base, value)
            .and_then(|content| Some((content, self.after_string::<true>(now, text, content)?)));
        let Some((content, after)) = read else {
            self.take_back(edits);
            return Err(Halt::Value(value));
        };
        if now.list() {
            now.begin();
            now.member_edits = before;
        }
        now.string_ended(value, content);
        now.edits = self.script.edits.len();
        let end = base + content.end;
        self.fast_edit(RepairKind::SingleQuote, end, end + 1, "\"");
        Ok(after)
    }

    /// Whether the text has gone on as JSON for a while. There may have been one defect, and not a
    /// dialect.
    #[inline(always)]
    fn has_left_dialect(&mut self, now: &mut Bulk, at: usize) -> bool {
        if self.script.edits.len() != now.seen_edits {
            (now.seen_edits, now.seen_at) = (self.script.edits.len(), at);
        }
        let left = at - now.seen_at > QUIET && self.script.edits.len() == now.edits;
        if left {
            self.fast.leave_dialect();
        }
        left
    }

    /// Begins an item. A member has begun with its key.
    #[inline(always)]
    fn bulk_begin<const DIALECT: bool>(&self, now: &mut Bulk) {
        now.begin();
        if DIALECT && now.list() {
            now.member_edits = self.script.serial;
        }
    }

    /// Begins a member, and returns where its value starts.
    #[inline(always)]
    fn bulk_member<const DIALECT: bool>(
        &mut self,
        now: &mut Bulk,
        key: Key,
        base: usize,
        comma: usize,
    ) -> usize {
        now.begin_member(key, comma);
        if DIALECT {
            now.member_edits = self.script.serial;
            now.key_quote = key.quote;
            self.fast_key_edits(base + key.from, base + key.to, key.quote);
        }
        key.value
    }

    /// Drops a comma before a closer.
    #[inline(always)]
    fn bulk_extra_comma(&mut self, now: &mut Bulk, comma: usize) {
        now.comma = comma;
        now.member_edits = self.script.serial;
        self.fast_comma_edit(comma);
    }

    /// What comes after a string, if that shows that the string has ended.
    #[inline(always)]
    fn after_string<const DIALECT: bool>(
        &mut self,
        now: &Bulk,
        text: &[u8],
        content: Content,
    ) -> Option<(usize, Next)> {
        let Content { from, end, after } = content;
        // With a comma before it, the quote may open a string whose predecessor has lost its quote.
        let doubtful = end > from && matches!(text[end - 1], b',' | b' ');
        if after != After::Quote || doubtful {
            return None;
        }
        let next = tokens::gap(text, end + 1)?;
        if now.is_closer(text[next]) {
            let closes = self.may_close()
                && matches!(text[tokens::gap(text, next + 1)?], b',' | b'}' | b']');
            return closes.then_some((next, Next::Closer));
        }
        if text[next] != b',' {
            return None;
        }
        if DIALECT {
            let item = tokens::gap(text, next + 1)?;
            if now.is_closer(text[item]) {
                return self.may_close().then_some((next, Next::Comma(item)));
            }
        }
        if !now.list() {
            return member_key::<DIALECT>(text, next + 1, &mut self.fast.blocks)
                .map(|key| (next, Next::Member(key)));
        }
        let item = tokens::gap(text, next + 1)?;
        let begins = matches!(text[item], b'"' | b'{' | b'[' | b'-' | b'0'..=b'9')
            || DIALECT && text[item] == b'\'';
        begins.then_some((next, Next::Item(item)))
    }
}

/// What follows a string.
enum Next {
    Closer,
    Item(usize),
    Member(Key),
    /// A comma, and then the closer at that index.
    Comma(usize),
}

#[inline(always)]
fn member_key<const DIALECT: bool>(text: &[u8], at: usize, blocks: &mut Utf8Blocks) -> Option<Key> {
    if DIALECT { dialect::key(text, at, blocks) } else { tokens::key(text, at, blocks) }
}

/// Where the content of the string at `value` starts. `None` if it may be something else: `""` may
/// be a doubled quote, and a quote after a bracket is left to the automaton.
#[inline(always)]
fn content_start(text: &[u8], value: usize) -> Option<usize> {
    match text.get(value + 1)? {
        b'"' => matches!(text.get(value + 2)?, b',' | b'}' | b']').then_some(value + 1),
        b'{' | b'[' => (*text.get(value + 2)? != b'"').then_some(value + 2),
        _ => Some(value + 1),
    }
}

/// The end of a number or a literal, and the offset of the comma or bracket after it.
#[inline(always)]
fn scalar<const DIALECT: bool>(text: &[u8], value: usize, list: bool) -> Option<(usize, usize)> {
    let end = match tokens::scalar(text, value) {
        None if DIALECT => dialect::literal(text, value)?,
        end => end?,
    };
    let next = tokens::gap(text, end)?;
    match text[next] {
        // `1,234` may be one number.
        b',' if !list && next == end && text.get(end + 1)?.is_ascii_digit() => None,
        b',' | b'}' | b']' => Some((end, next)),
        _ => None,
    }
}
