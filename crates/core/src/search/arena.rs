//! What readings share: the containers that are open, and the edits that were made.

use alloc::{borrow::Cow, collections::BTreeMap, vec::Vec};

use super::rivals::Rival;
use crate::RepairKind;

/// What a container is, and what opened it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Object,
    /// Members in an array, without braces.
    Members,
    Array,
    /// An array that `{` opened.
    Braced,
    /// An array that `(` opened.
    Tuple,
    /// What surrounds one value, and is no part of it.
    Call,
    /// Braces around members of an object, which are no part of it.
    Inner,
    /// A brace that was written twice.
    Doubled,
}

impl Kind {
    /// The byte that closes it as it was opened.
    pub(super) const fn closer(self) -> u8 {
        match self {
            Self::Object | Self::Members | Self::Braced | Self::Inner | Self::Doubled => b'}',
            Self::Array => b']',
            Self::Tuple | Self::Call => b')',
        }
    }

    /// What closes it in JSON.
    pub(super) const fn written(self) -> &'static str {
        match self {
            Self::Object | Self::Members => "}",
            Self::Array | Self::Braced | Self::Tuple => "]",
            Self::Call | Self::Inner | Self::Doubled => "",
        }
    }

    /// Whether its items are members.
    pub(super) const fn has_members(self) -> bool {
        matches!(self, Self::Object | Self::Members | Self::Inner | Self::Doubled)
    }
}

/// A stack of open containers. Equal stacks are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stack(u32);

impl Stack {
    pub(super) const EMPTY: Self = Self(0);
}

struct Frame {
    below: Stack,
    kind: Kind,
    /// How far in the line begins that it was opened on.
    indent: u16,
    depth: u32,
}

pub(super) struct Stacks {
    frames: Vec<Frame>,
    known: BTreeMap<(u32, u8, u16), Stack>,
}

impl Stacks {
    pub(super) fn new() -> Self {
        let ground = Frame { below: Stack(0), kind: Kind::Call, indent: 0, depth: 0 };
        Self { frames: Vec::from([ground]), known: BTreeMap::new() }
    }

    pub(super) fn push(&mut self, below: Stack, kind: Kind, indent: u16) -> Stack {
        let depth = self.depth(below) + 1;
        let Self { frames, known } = self;
        *known.entry((below.0, kind as u8, indent)).or_insert_with(|| {
            frames.push(Frame { below, kind, indent, depth });
            Stack(frames.len() as u32 - 1)
        })
    }

    pub(super) fn indent(&self, stack: Stack) -> u16 {
        self.frames[stack.0 as usize].indent
    }

    pub(super) fn below(&self, stack: Stack) -> Stack {
        self.frames[stack.0 as usize].below
    }

    pub(super) fn top(&self, stack: Stack) -> Option<Kind> {
        (stack != Stack::EMPTY).then(|| self.frames[stack.0 as usize].kind)
    }

    pub(super) fn depth(&self, stack: Stack) -> u32 {
        self.frames[stack.0 as usize].depth
    }
}

/// A list of edits, the last one first. Readings share what they have in common. A list is greater than those that
/// it has grown from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edits(u32);

impl Edits {
    pub(super) const NONE: Self = Self(0);
}

/// What was done to a span of the input.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Repair(RepairKind, Cow<'static, str>),
    /// A document ends here that began at the start of the span.
    Document,
}

#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) change: Change,
}

pub(super) struct EditLists(Vec<(Edits, Edit)>);

impl EditLists {
    pub(super) fn new() -> Self {
        let none = Edit { start: 0, end: 0, change: Change::Document };
        Self(Vec::from([(Edits::NONE, none)]))
    }

    pub(super) fn push(&mut self, before: Edits, edit: Edit) -> Edits {
        self.0.push((before, edit));
        Edits(self.0.len() as u32 - 1)
    }

    /// Forgets all lists.
    pub(super) fn clear(&mut self) {
        self.0.truncate(1);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// All edits of a list, in the order in which they were made.
    pub(super) fn list(&self, at: Edits) -> Vec<Edit> {
        self.between(Edits::NONE, at)
    }

    /// The edits of a list that are not those of one that it has grown from.
    pub(super) fn between(&self, from: Edits, mut at: Edits) -> Vec<Edit> {
        let mut edits = Vec::new();
        while at != from && at != Edits::NONE {
            let (before, edit) = &self.0[at.0 as usize];
            edits.push(edit.clone());
            at = *before;
        }
        edits.reverse();
        edits
    }

    /// The edits of a list since it left a path, and where that was.
    pub(super) fn since(&self, list: Edits, path: &[Edits]) -> (Vec<Edit>, Edits) {
        let mut common = list;
        while path.binary_search(&common).is_err() {
            common = self.0[common.0 as usize].0;
        }
        (self.between(common, list), common)
    }

    /// The lists that a list has grown from, and itself: the empty one first.
    pub(super) fn path(&self, mut at: Edits) -> Vec<Edits> {
        let mut path = Vec::from([at]);
        while at != Edits::NONE {
            at = self.0[at.0 as usize].0;
            path.push(at);
        }
        path.reverse();
        path
    }

    /// Forgets what is in none of the lists, and gives each its new place. The rivals of what is in one stay.
    pub(super) fn keep<'a>(
        &mut self,
        lists: impl Iterator<Item = &'a mut Edits>,
        rivals: &mut Vec<Rival>,
    ) {
        let mut places = alloc::vec![0_u32; self.0.len()];
        let mut lists: Vec<&mut Edits> = lists.collect();
        lists.iter().for_each(|list| self.mark(**list, &mut places));
        rivals.retain(|rival| {
            rival.preferred == Edits::NONE || places[rival.preferred.0 as usize] != 0
        });
        rivals.iter().for_each(|rival| self.mark(rival.edits, &mut places));
        lists.extend(rivals.iter_mut().flat_map(Rival::lists));
        let mut next = 0;
        let mut index = 0;
        let kept = &mut places;
        self.0.retain_mut(|(before, _)| {
            let at = index;
            index += 1;
            if at != 0 && kept[at] == 0 {
                return false;
            }
            kept[at] = next;
            next += 1;
            before.0 = kept[before.0 as usize];
            true
        });
        for list in lists {
            list.0 = places[list.0 as usize];
        }
    }

    /// Marks a list and those that it has grown from.
    fn mark(&self, list: Edits, places: &mut [u32]) {
        let mut at = list.0;
        while at != 0 && places[at as usize] == 0 {
            places[at as usize] = 1;
            at = self.0[at as usize].0.0;
        }
    }
}
