//! What can stand at a place of a payload, and the account of what was read there.

use super::{Delta, Out};
use crate::{Doubt, json::Node};

/// The types that a member can have. Their sum is a choice of them.
pub(super) const TEXT: u8 = 1;
pub(super) const NUMBER: u8 = 2;
pub(super) const FLAG: u8 = 4;
pub(super) const LIST: u8 = 8;
pub(super) const OBJECT: u8 = 16;
pub(super) const NULL: u8 = 32;

/// A list of objects. A server that sends one of them sends it without the list.
pub(super) const OBJECTS: u8 = LIST | OBJECT;

/// A JSON text in a string, or exceptionally the value itself. Null may stand for a text that was lost.
pub(super) const ARGUMENTS: u8 = TEXT | OBJECT | NULL;

/// Every type: only the name counts.
pub(super) const ANY: u8 = !NULL;

/// The members that an object can have at one place of a format.
///
/// [`read`](Self::read) is how formats look into such an object, and the only judge of whether it was read
/// as a whole. An event was lost if
///
/// - a known member is of another type, or has two values;
/// - a member is not known, and one that the place needs is missing: that may be its name now;
/// - a member is not known, and holds what only calls have.
///
/// A member that is not known is harmless beside all those that are needed: providers add some every month.
/// Null and empty values are harmless, too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<const N: usize> {
    members: [(&'static str, u8); N],
    /// How many of the members, from the first, are needed.
    all: usize,
    /// How many of those after them are of a kind of which one is needed.
    any: usize,
    /// Other members that are known. What they hold is not read.
    aside: &'static [&'static str],
    /// What the member `type` says, if all this is only known of some types.
    kinds: &'static [&'static str],
}

impl<const N: usize> Place<N> {
    /// A place with those members, none of which is needed.
    pub(super) const fn of(members: [(&'static str, u8); N]) -> Self {
        Self { members, all: 0, any: 0, aside: &[], kinds: &[] }
    }

    /// The first `count` members are needed.
    pub(super) const fn needs(mut self, count: usize) -> Self {
        self.all = count;
        self
    }

    /// Of the next `count` members, one is needed.
    pub(super) const fn needs_one_of(mut self, count: usize) -> Self {
        self.any = count;
        self
    }

    /// Members of those names are known, too.
    pub(super) const fn beside(mut self, names: &'static [&'static str]) -> Self {
        self.aside = names;
        self
    }

    /// This is known of objects whose `type` is one of those, or is missing. Of others, nothing is.
    pub(super) const fn of_type(mut self, kinds: &'static [&'static str]) -> Self {
        self.kinds = kinds;
        self
    }

    /// Whether an object has something in a member of this place.
    pub(super) fn is_in(&self, node: Node<'_>) -> bool {
        let is_member = |key: &str| self.members.iter().any(|(name, _)| *name == key);
        node.fields().any(|(key, value)| is_member(&key) && !value.is_blank())
    }

    /// The members of the object, in the order of the table. Null counts as absent unless the table says
    /// otherwise, and so does what is of another type. If anything in the object is not read that should be, says so.
    pub(super) fn read<'a>(&self, node: Node<'a>, out: Out<'_>) -> [Option<Node<'a>>; N] {
        let mut found = [None; N];
        let mut there = [false; N];
        let mut lost = !node.is_object() && !node.is_blank();
        let (mut unknown, mut known) = (false, false);
        for (key, value) in node.fields() {
            if let Some(at) = self.members.iter().position(|(name, _)| key == *name) {
                known = true;
                there[at] = true;
                let fits = type_of(value) & self.members[at].1 != 0;
                lost |= !fits && !value.is_blank();
                lost |= found[at].is_some_and(|before: Node<'_>| before.raw() != value.raw());
                found[at] = fits.then_some(value);
            } else if self.aside.contains(&key.as_ref()) {
                known = true;
            } else if !value.is_blank() {
                unknown = true;
                lost |= is_of_a_call(&key, value);
            }
        }
        let (needed, rest) = there.split_at(self.all.min(N));
        let some = rest.get(..self.any).unwrap_or_default();
        let lacks = needed.contains(&false) || !(some.is_empty() || some.contains(&true));
        let is_other = !self.kinds.is_empty() && {
            let kind = self.members.iter().position(|(name, _)| *name == "type");
            let kind = kind.and_then(|at| found.get(at).copied().flatten()?.text());
            lost |= unknown && kind.is_none();
            kind.is_some_and(|kind| !self.kinds.contains(&kind.as_ref()))
        };
        if (lost || unknown && lacks) && !is_other {
            out(if known { Delta::Damaged(Doubt::LostEvent) } else { Delta::Foreign });
        }
        found
    }
}

/// The type of a value.
fn type_of(value: Node<'_>) -> u8 {
    match value.raw().as_bytes().first() {
        Some(b'"') => TEXT,
        Some(b'{') => OBJECT,
        Some(b'[') => LIST,
        Some(b't' | b'f') => FLAG,
        Some(b'n') => NULL,
        None => 0,
        Some(_) => NUMBER,
    }
}

/// The objects of a list, or the only one.
pub(super) fn entries<'a>(node: Option<Node<'a>>) -> impl Iterator<Item = Node<'a>> {
    node.into_iter().flat_map(|node| node.items().chain(node.is_object().then_some(node)))
}

/// Names of members that only calls and their parts have.
const CALL_MEMBERS: [&str; 8] = [
    "arguments",
    "function",
    "functionCall",
    "function_call",
    "parameters",
    "partial_json",
    "toolUse",
    "tool_calls",
];

/// Names that the arguments of a call have in some format, but other things as well.
const ARGUMENT_MEMBERS: [&str; 4] = ["args", "input", "partialArgs", "partial_arguments"];

/// How deep a value that is not known is searched for a call.
const CALL_DEPTH: u8 = 6;

/// Whether a member that is not known holds a call, or a part of one.
pub(super) fn is_of_a_call(name: &str, value: Node<'_>) -> bool {
    fn search(node: Node<'_>, depth: u8) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let is_part = |key: &str, value: Node<'_>| CALL_MEMBERS.contains(&key) && !value.is_blank();
        node.fields().any(|(key, value)| is_part(&key, value) || search(value, depth))
            || node.items().any(|item| search(item, depth))
    }
    CALL_MEMBERS.contains(&name) || ARGUMENT_MEMBERS.contains(&name) || search(value, CALL_DEPTH)
}
