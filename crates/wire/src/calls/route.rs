//! Decides which call a piece belongs to.
//!
//! The `index` may be missing, null, always 0, or not a position at all. Ids may be missing, empty, or new
//! in every piece. Names may be repeated. So no field decides alone: see [`Calls::is_another`].

use super::{Calls, OpenCall};
use crate::format::{Arguments, CallDelta};

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
