//! Calls that are open at the same time, and pieces that may belong to any of them.
//!
//! The call that a piece goes to is certain if its id or its index is that of one open call. Where several have the
//! same, or where the piece has neither, it may be a piece of each of them that still lacks arguments: none of these
//! is complete then, and the piece is nobody's.

use super::{CallDelta, Calls, Doubt, OpenCall};
use crate::work;

/// The calls that have a key of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rivals {
    /// The call before it with the same index, if that was open.
    same_index: Option<usize>,
    /// The same for the id.
    same_id: Option<usize>,
    /// A piece may have been its own, or that of another call.
    mixed: bool,
    /// It was compared with these calls, and by these keys.
    compared: Option<(usize, Keys)>,
}

/// The keys with which a piece names its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Keys {
    index: bool,
    id: bool,
}

impl Rivals {
    pub(super) const fn is_mixed(&self) -> bool {
        self.mixed
    }
}

impl OpenCall {
    fn mix(&mut self) {
        self.rivals.mixed = true;
        self.doubt.get_or_insert(Doubt::LostEvent);
    }
}

/// Whether a piece says only that there are arguments.
fn is_anonymous(delta: &CallDelta<'_>) -> bool {
    delta.name.is_none() && delta.id.is_none() && has_text(delta)
}

/// Whether a piece has text of the arguments.
fn has_text(delta: &CallDelta<'_>) -> bool {
    delta.arguments.text().is_some_and(|text| !text.trim().is_empty())
}

/// Which calls are compared with one.
#[derive(Clone, Copy, Debug)]
enum Walk {
    /// All that are open.
    All,
    Id,
    Index,
}

impl Calls {
    /// The rivals of a call that begins with that piece, before its keys are noted.
    pub(super) fn new_rivals(&mut self, delta: &CallDelta<'_>) -> Rivals {
        if delta.exact {
            return Rivals::default();
        }
        let scope = delta.scope;
        let open = |call: &usize| self.open.contains_key(&(scope, *call));
        let same_index =
            delta.index.and_then(|index| self.keys.get(&(scope, index)).copied()).filter(open);
        let same_id = self.by_id(delta).filter(open);
        // Arguments without a call may belong to one that has none.
        let mixed = is_anonymous(delta)
            && self.mix(scope, self.before(scope, usize::MAX), Walk::All, |_| true);
        Rivals { same_index, same_id, mixed, compared: None }
    }

    /// Whether a piece fits no call, after others that may belong to several.
    pub(super) fn is_lost(&mut self, delta: &CallDelta<'_>) -> bool {
        let scope = delta.scope;
        let last = self.last.get(&scope).and_then(|&call| self.open.get(&(scope, call)));
        let lost =
            is_anonymous(delta) && !delta.exact && last.is_some_and(|open| open.rivals.mixed);
        if lost {
            self.mix(scope, self.before(scope, usize::MAX), Walk::All, |_| true);
        }
        lost
    }

    /// Whether a piece that names `call` may belong to another one, too. If so, none of them is complete.
    pub(super) fn mixes(&mut self, call: usize, delta: &CallDelta<'_>) -> bool {
        if delta.exact || delta.repeats || !has_text(delta) {
            return false;
        }
        let (scope, begun) = (delta.scope, self.begun);
        let Some(open) = self.open.get_mut(&(scope, call)) else { return false };
        if open.name.is_none() && delta.name.is_some() {
            // It names the call whose arguments came before.
            return false;
        }
        let keys = Keys {
            index: delta.index.is_some() && delta.index == open.index,
            id: delta.id.is_some() && delta.id.as_deref() == open.id.as_deref(),
        };
        if open.rivals.compared.replace((begun, keys)) == Some((begun, keys)) {
            return open.rivals.mixed;
        }
        let Rivals { same_id, same_index, .. } = open.rivals;
        let own = open.name.clone();
        let named = |other: &OpenCall| {
            let said = delta.name.as_deref();
            said.is_none() || said == other.name.as_deref() || said != own.as_deref()
        };
        let at = delta.index.and_then(|index| self.keys.get(&(scope, index)).copied());
        let mixed = match keys {
            Keys { id: true, index } => {
                let fits =
                    |other: &OpenCall| named(other) && (!index || other.index == delta.index);
                // The id says one thing, and the index another.
                let says_other = |other: &OpenCall| !index && other.index == delta.index;
                let other = at.filter(|at| *at != call && open.index.is_some());
                self.mix(scope, same_id, Walk::Id, fits)
                    | self.mix(scope, other, Walk::Index, says_other)
            }
            Keys { index: true, .. } => self.mix(scope, same_index, Walk::Index, named),
            _ => self.mix(scope, self.before(scope, call), Walk::All, named),
        };
        if mixed && let Some(open) = self.open.get_mut(&(scope, call)) {
            open.mix();
        }
        mixed
    }

    /// The last open call before that one.
    fn before(&self, scope: u32, call: usize) -> Option<usize> {
        self.open.range((scope, 0)..(scope, call)).next_back().map(|(key, _)| key.1)
    }

    /// Cuts the calls that fit and lack arguments, from one back. Returns whether there were any.
    fn mix(
        &mut self,
        scope: u32,
        first: Option<usize>,
        walk: Walk,
        fits: impl Fn(&OpenCall) -> bool,
    ) -> bool {
        let (mut found, mut next) = (false, first);
        while let Some(call) = next {
            let Some(open) = self.open.get_mut(&(scope, call)) else { break };
            work::count(1);
            let (fits, mixed) = (fits(open), open.rivals.mixed);
            next = match walk {
                Walk::All => None,
                Walk::Id => open.rivals.same_id,
                Walk::Index => open.rivals.same_index,
            };
            if fits && !open.arguments.is_closed() {
                open.mix();
                found = true;
            }
            // The calls before it were compared when it was.
            if mixed && fits {
                break;
            }
            if let Walk::All = walk {
                next = self.before(scope, call);
            }
        }
        found
    }
}
