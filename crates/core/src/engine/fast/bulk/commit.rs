//! What reading in bulk remembers, and how it becomes the engine's state.

use crate::{
    engine::{
        Comma, Engine,
        fast::{
            Delimiter,
            content::Content,
            tokens::{self, Key, Numbers},
        },
        frames::{Nested, Shape},
        state::Stray,
    },
    grammar::Expect,
};

/// No such offset. While reading in bulk, an option would take a second register or more.
pub(super) const NONE: usize = usize::MAX;

const fn some(at: usize) -> Option<usize> {
    if at == NONE { None } else { Some(at) }
}

/// The state while reading in bulk. Indices are indices in the chunk.
#[derive(Clone, Copy)]
pub(super) struct Bulk {
    /// The end of the last value, or of the bracket that was opened last.
    pub(super) ended: usize,
    /// Where the content of the last value starts, if it is a string.
    pub(super) string: usize,
    /// What closes the innermost container.
    pub(super) closer: u8,
    /// The containers that were opened and closed.
    pub(super) nested: Nested,
    /// How many keys were read, or items were begun, in the innermost container.
    pub(super) items: usize,
    /// The key that was read last.
    pub(super) key: (usize, usize),
    pub(super) key_quote: Delimiter,
    /// Whether it is a key of the innermost container.
    pub(super) own_key: bool,
    /// The offset of the comma before the member or item that began last, and of the one before an
    /// item that has not begun yet.
    pub(super) comma: usize,
    pub(super) pending: usize,
    /// How many edits were made before the member or item that began last.
    pub(super) member_edits: usize,
    /// How many edits are committed with the last value.
    pub(super) edits: usize,
    /// How many edits were made when a value last began after an edit, and where that was.
    pub(super) seen_edits: usize,
    pub(super) seen_at: usize,
}

impl Bulk {
    #[inline(always)]
    pub(super) fn value_ended(&mut self, end: usize) {
        (self.ended, self.string) = (end, NONE);
    }

    #[inline(always)]
    pub(super) fn string_ended(&mut self, value: usize, content: Content) {
        (self.ended, self.string) = (content.end + 1, value + 1);
    }

    /// Begins an item. A member has begun with its key.
    #[inline(always)]
    pub(super) fn begin(&mut self) {
        if self.list() {
            self.items += 1;
            self.comma = self.pending;
        }
    }

    /// Reads the numbers from `value` on that an item follows, and returns where that starts.
    #[inline(always)]
    pub(super) fn read_numbers(&mut self, text: &[u8], base: usize, value: usize) -> usize {
        let Numbers { count, comma, end, item } = tokens::numbers(text, value);
        if count > 0 {
            self.items += count;
            self.comma = if count > 1 { base + comma } else { self.pending };
            self.pending = base + end;
            self.value_ended(end);
        }
        item
    }

    #[inline(always)]
    pub(super) fn begin_member(&mut self, key: Key, comma: usize) {
        self.items += 1;
        self.key = (key.from, key.to);
        self.own_key = true;
        self.comma = comma;
    }

    /// Whether this byte closes the innermost container.
    #[inline(always)]
    pub(super) const fn is_closer(&self, byte: u8) -> bool {
        byte == self.closer
    }

    /// Whether the innermost container is an array.
    #[inline(always)]
    pub(super) const fn list(&self) -> bool {
        self.closer == b']'
    }
}

impl Engine {
    /// Whether a container may open at `value`.
    #[inline(always)]
    pub(super) fn may_open(&self, now: &Bulk, text: &[u8], value: usize) -> bool {
        // The value of a member may be a placeholder, as in `{{name}}`.
        let doubled =
            !now.list() && text[value] == b'{' && matches!(text.get(value + 1), None | Some(b'{'));
        !doubled && self.frames.may_nest(&now.nested)
    }

    /// Whether the innermost container is directly inside an array or object of the input.
    #[inline(always)]
    pub(super) fn may_close(&self) -> bool {
        matches!(self.frames.parent(), Some(Shape::Object | Shape::Array))
    }

    #[inline(always)]
    pub(super) fn bulk_open(
        &mut self,
        now: &mut Bulk,
        list: bool,
        text: &[u8],
        base: usize,
        value: usize,
    ) {
        self.bulk_frame(now, text);
        self.frames.open_nested(list, base + value);
        now.value_ended(value + 1);
        now.closer = if list { b']' } else { b'}' };
        (now.items, now.own_key, now.comma) = (0, false, NONE);
    }

    /// Stores what is known of the innermost container.
    #[inline(always)]
    pub(super) fn bulk_frame(&mut self, now: &Bulk, text: &[u8]) {
        if now.own_key {
            self.frames.set_nested_member(&now.nested, now.items, text, now.key);
        } else if now.list() {
            self.frames.set_nested_items(&now.nested, now.items);
        }
    }

    /// Stores the state after the last value, or after the container that was opened last.
    pub(super) fn bulk_commit(&mut self, now: &Bulk, text: &[u8], base: usize) {
        self.bulk_frame(now, text);
        self.frames.end_nested(&now.nested, text);
        let ended = base + now.ended;
        let string = now.string != NONE;
        self.pos = ended;
        self.gap.start = ended;
        self.committed = ended - usize::from(string);
        self.committed_in_string = string;
        self.string.closed = string.then_some(self.committed);
        if string {
            self.lex_start = base + now.string;
            self.string.inner_quotes = 0;
            self.string.unpaired = false;
            self.string.doubles = false;
            self.string.doubled = false;
            self.string.stray = Stray::None;
        }
        self.script.committed = now.edits;
        self.member.edits_before = now.member_edits;
        if self.member.comma.map_or(NONE, |comma| comma.at) != now.comma {
            self.member.comma = some(now.comma).map(Comma::read);
        }
        if now.key.0 != NONE {
            self.string.doubled = false;
            self.member.key_start =
                base + now.key.0 - usize::from(now.key_quote != Delimiter::None);
        }
        self.expect = match (now.list(), now.items) {
            (true, 0) => Expect::FirstItem,
            (true, _) => Expect::ItemEnd,
            (false, 0) => Expect::FirstKey,
            (false, _) => Expect::MemberEnd,
        };
    }

    /// Stores what was read between the last value and the next one.
    pub(super) fn bulk_to_value(&mut self, now: &Bulk, base: usize, value: usize) {
        if now.list() {
            self.fast.comma = some(now.pending);
        } else {
            self.lex_start = base + now.key.0;
            self.gap.start = base + now.key.1 + usize::from(now.key_quote != Delimiter::None);
            self.pos = base + value;
            self.expect = Expect::MemberValue;
        }
    }
}
