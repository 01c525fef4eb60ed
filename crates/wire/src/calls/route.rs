//! Decides which call a piece belongs to.
//!
//! The `index` may be missing, null, always 0, or not a position at all. Ids may be missing, empty, or new
//! in every piece. Names may be repeated. So no field decides alone: see [`Calls::is_another`].

use super::{Calls, Doubt, OpenCall};
use crate::{
    format::{Arguments, CallDelta},
    work,
};

/// Where a piece belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// To that call, which is open.
    Call(usize),
    /// To that call, which has ended.
    Ended(usize),
    /// To no call: it has no content.
    Ghost,
    /// To one of several calls, and nothing says to which of them.
    Unsure,
    /// To a new call.
    New,
}

impl Calls {
    pub(super) fn route(&mut self, delta: &CallDelta<'_>) -> Route {
        let scope = delta.scope;
        let known = match delta.index {
            _ if delta.repeats => self.repeated_whole(delta),
            Some(index) => match self.keys.get(&(scope, index)).copied() {
                // An index that is always 0 means nothing, but the id of another open call does.
                Some(call) if !delta.exact && self.has_another_id(call, delta) => self
                    .by_id(delta)
                    .filter(|&call| self.open.contains_key(&(scope, call)))
                    .or_else(|| (!self.is_another(call, delta)).then_some(call)),
                // The format counts its calls, but this server does not.
                Some(call) if delta.exact => (!self.is_reused(call, delta)).then_some(call),
                Some(call) => (!self.is_another(call, delta)).then_some(call),
                // A continuation under another index still identifies its call by id.
                None if delta.name.is_none() => self.by_id(delta),
                // A format that counts its calls counts a call that is sent twice as another one.
                // Within one list, every entry is a call.
                None if delta.exact => self
                    .by_id(delta)
                    .filter(|call| !self.listed.contains(call) && self.is_again(*call, delta)),
                None => None,
            },
            None => {
                let by_id = self.by_id(delta).filter(|&call| !self.is_apart(call, delta));
                let last = self.last.get(&scope).copied();
                by_id.or_else(|| last.filter(|&call| !self.is_another(call, delta)))
            }
        };
        let known = known.or_else(|| self.repeated(delta));
        match known {
            Some(call) if self.open.contains_key(&(scope, call)) => match self.mixes(call, delta) {
                true => Route::Unsure,
                false => Route::Call(call),
            },
            Some(call) => Route::Ended(call),
            None if delta.repeats || is_silent(delta) => Route::Ghost,
            // A server that makes up an id for every piece ends with a piece that says nothing.
            None if is_wordless(delta) && self.knows_index(delta) => Route::Ghost,
            None if self.is_lost(delta) => Route::Unsure,
            None => Route::New,
        }
    }

    /// The call that a repetition of all calls means: the one with its id, or else the one at its place.
    fn repeated_whole(&self, delta: &CallDelta<'_>) -> Option<usize> {
        self.by_id(delta).or_else(|| {
            let call = *self.keys.get(&(delta.scope, delta.index?))?;
            let key = (delta.scope, call);
            let own = match self.open.get(&key) {
                Some(open) => open.id.as_deref(),
                None => self.ended.get(&key)?.id(),
            };
            own.zip(delta.id.as_deref()).is_none_or(|(own, id)| own == id).then_some(call)
        })
    }

    /// Whether a call has had the index of the piece.
    fn knows_index(&self, delta: &CallDelta<'_>) -> bool {
        delta.index.is_some_and(|index| self.keys.contains_key(&(delta.scope, index)))
    }

    /// The call with the id of the piece.
    pub(super) fn by_id(&self, delta: &CallDelta<'_>) -> Option<usize> {
        let id = delta.id.as_deref()?;
        self.ids.get(&(delta.scope, id.to_owned())).copied()
    }

    /// The call that the piece repeats, if it ended because the next one began: some servers resend all
    /// calls so far with every chunk.
    fn repeated(&self, delta: &CallDelta<'_>) -> Option<usize> {
        let call = self.keys.get(&(delta.scope, delta.index?)).copied()?;
        let ended = self.ended.get(&(delta.scope, call))?;
        let (id, name) = (delta.id.as_deref(), delta.name.as_deref());
        let same_text = delta.arguments.text().map(|text| ended.matches(text));
        // A server that repeats its last chunk sends the same once more.
        let again = same_text == Some(true) && ended.is(id, name);
        let early = ended.may_repeat(id, name) && (id.is_some() || same_text != Some(false));
        (again || early).then_some(call)
    }

    /// Whether the piece is that call, which has ended, as a whole and once more.
    fn is_again(&self, call: usize, delta: &CallDelta<'_>) -> bool {
        let (id, name) = (delta.id.as_deref(), delta.name.as_deref());
        self.ended.get(&(delta.scope, call)).is_some_and(|ended| {
            ended.is(id, name) && delta.arguments.text().is_some_and(|text| ended.matches(text))
        })
    }

    /// Whether the piece has an id that differs from the id of `call`.
    fn has_another_id(&self, call: usize, delta: &CallDelta<'_>) -> bool {
        let own = self.open.get(&(delta.scope, call)).and_then(|open| open.id.as_deref());
        delta.id.is_some() && own != delta.id.as_deref()
    }

    /// Whether the piece begins another call at the index of one whose end was stated.
    fn is_reused(&self, call: usize, delta: &CallDelta<'_>) -> bool {
        let key = (delta.scope, call);
        let stated = || self.open.get(&key).filter(|_| self.pending == Some(key));
        let own = match self.ended.get(&key) {
            Some(ended) => ended.id(),
            None => stated().and_then(|open| open.id.as_deref()),
        };
        let repeats = matches!(delta.arguments, Arguments::Final(_) | Arguments::Again(_));
        let id = delta.id.as_deref().filter(|_| delta.name.is_some() && !repeats);
        own.zip(id).is_some_and(|(own, id)| own != id)
    }

    /// Whether the piece has the id of `call`, but is an entry of its own: it has another name, or is in the same
    /// list.
    fn is_apart(&mut self, call: usize, delta: &CallDelta<'_>) -> bool {
        let is_listed = self.listed.contains(&call);
        match self.ended.get(&(delta.scope, call)) {
            Some(ended) => delta
                .name
                .as_deref()
                .is_some_and(|name| name != ended.name() || (delta.sibling && is_listed)),
            None => self.is_another(call, delta),
        }
    }

    /// Whether a piece that would belong to `call` begins another one.
    fn is_another(&mut self, call: usize, delta: &CallDelta<'_>) -> bool {
        let is_listed = self.listed.contains(&call);
        let Some(open) = self.open.get_mut(&(delta.scope, call)) else {
            return delta.name.is_some() || delta.id.is_some();
        };
        // Every entry of a list that has a name is a call of its own.
        let other_id = delta.id.is_none() || delta.id.as_deref() != open.id.as_deref();
        if delta.sibling && delta.name.is_some() && (other_id || is_listed) {
            return true;
        }
        match (open.id.as_deref(), delta.id.as_deref()) {
            (Some(known), Some(id)) if known != id => has_other_id(open, delta),
            (Some(_), Some(_)) => false,
            _ => has_other_name(open, delta),
        }
    }
}

/// Handles an id that differs. With a name, or after complete arguments, it is another call. In the
/// middle of the arguments, the server makes up an id for every piece, unless it has sent one twice.
fn has_other_id(open: &mut OpenCall, delta: &CallDelta<'_>) -> bool {
    let same_name = delta.name.is_none() || delta.name.as_deref() == open.name.as_deref();
    if !same_name || open.has_steady_id() || open.arguments.is_closed() {
        return true;
    }
    delta.name.is_some() && (open.arguments.is_empty() || opens_object(delta))
}

/// Handles pieces that no id distinguishes. A name does if it differs and does not continue the first,
/// or if it is repeated with new arguments after complete ones.
fn has_other_name(open: &mut OpenCall, delta: &CallDelta<'_>) -> bool {
    let (Some(known), Some(name)) = (open.name.as_deref(), delta.name.as_deref()) else {
        return false;
    };
    if known != name {
        return delta.index.is_none() || !continues_name(open, delta);
    }
    let args = &mut open.arguments;
    let resend =
        delta.arguments.text().is_some_and(|text| args.is_resend(text) || args.is_again(text));
    opens_object(delta) && !resend && open.arguments.is_closed()
}

/// Whether another name continues that of the call. Only the first piece of a call has an id or states a type.
fn continues_name(open: &mut OpenCall, delta: &CallDelta<'_>) -> bool {
    let silent = delta.arguments.is_absent();
    let follows = delta.id.is_none() && (open.id.is_some() || !delta.typed);
    match open.arguments.is_empty() {
        true => silent || follows,
        // Some servers divide the name and the arguments at the same time.
        false => follows && delta.arguments.goes_on() && !open.arguments.is_closed(),
    }
}

/// Whether it has nothing that could begin a call: some servers send such an entry after the last call.
fn is_silent(delta: &CallDelta<'_>) -> bool {
    delta.id.is_none() && delta.name.is_none() && delta.arguments.is_absent()
}

/// Whether it holds neither a name nor arguments.
fn is_wordless(delta: &CallDelta<'_>) -> bool {
    delta.name.is_none() && delta.arguments.is_absent()
}

fn opens_object(delta: &CallDelta<'_>) -> bool {
    delta.arguments.text().is_some_and(|text| text.trim_start().starts_with('{'))
}

// Calls that are open at the same time, and pieces that may belong to any of them.
//
// The call that a piece goes to is certain if its id or its index is that of one open call. Where several have the
// same, or where the piece has neither, it may be a piece of each of them that still lacks arguments: none of these
// is complete then, and the piece is nobody's.

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
    fn is_lost(&mut self, delta: &CallDelta<'_>) -> bool {
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
    fn mixes(&mut self, call: usize, delta: &CallDelta<'_>) -> bool {
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
