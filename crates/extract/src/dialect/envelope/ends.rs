//! The ends of values and containers, and of the calls that are written in them.

use super::{Call, Ending, Envelope, EnvelopePart, Role, keys::ARGUMENTS};
use crate::dialect::{
    json::Quotes,
    out::Ctx,
    sink::{CallOutcome, CallSink},
};

impl Envelope {
    /// Whether a text that ends here, and that needed no repairs, ends directly after the arguments of a call.
    pub(in crate::dialect) fn has_arguments(&self, quotes: &Quotes) -> bool {
        let closed = match self.reading {
            EnvelopePart::Between => self.call.has_arguments,
            // A quote in them may not have been certain before the end of the text.
            EnvelopePart::Arguments(at) => quotes.depth as usize <= at,
            _ => false,
        };
        let own = self.call.begun && self.call.flat.is_none();
        own && closed && !quotes.inside && quotes.is_after_bracket()
    }

    /// The arguments, or another value, have ended.
    pub(super) fn value_ended<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        self.token.clear();
        self.reading = EnvelopePart::Between;
        if !self.literal.is_empty() {
            // No arguments are none.
            let literal = std::mem::take(&mut self.literal);
            let none = literal.trim_ascii() == b"null" && self.call.flat.is_none();
            let json = if none { b"{}".to_vec() } else { literal };
            match self.call.begun {
                true => ctx.arguments(&json),
                false => self.call.early.extend_from_slice(&json),
            }
        }
        self.finish_inner(ctx);
        if self.call.flat.is_some() {
            return;
        }
        let own = self.levels.last().is_some_and(|level| {
            let key = String::from_utf8_lossy(&level.key).into_owned();
            level.role == Role::Call && self.call.name.as_deref() == Some(key.trim())
        });
        if own && self.call.begun {
            // A member that is a call by itself.
            self.call.member = true;
            ctx.note_end();
            if !self.strict {
                self.end_begun(ctx);
                self.call = Call::default();
            }
        }
    }

    pub(super) fn finish_inner<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        if let Some(mut inner) = self.inner.take() {
            // A string that is no object is taken as it is where a key says that it is the arguments.
            let said = self.levels.last().map_or(self.any, |level| Self::is_said(&level.key, ctx));
            let (repairs, complete) = inner.finish(ctx);
            self.call.repairs += repairs;
            self.call.refused |= !complete.unwrap_or(said);
        }
    }

    /// Whether this is the key of arguments.
    fn is_said<S>(key: &[u8], ctx: &Ctx<'_, S>) -> bool {
        let key = String::from_utf8_lossy(key);
        ARGUMENTS.contains(&key.trim())
            || ctx.row.keys.arguments.iter().any(|own| own == key.trim())
    }

    pub(super) fn end_container<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        match self.reading {
            EnvelopePart::Arguments(at) | EnvelopePart::Other(at) => {
                if at == self.depth {
                    self.reading = EnvelopePart::Between;
                }
            }
            _ => {
                let level = self.levels.len();
                let listed = self.is_listed();
                let role = self.levels.pop().map(|level| level.role);
                if self.call.flat.take_if(|flat| *flat == level).is_some() {
                    ctx.arguments(b"}");
                }
                match role {
                    Some(Role::Call) => self.end_call(level, listed, ctx),
                    Some(Role::Pair) => self.end_pair(ctx),
                    _ => {}
                }
            }
        }
    }

    pub(super) fn end_begun<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        let at_end = self.ending == Some(Ending::Input);
        // The object may declare the tool, or only happen to have its name as a key.
        self.call.refused |= self.tool(ctx).is_some_and(|tool| {
            let seen = &self.call.seen;
            let named = self.call.member && self.strict && !ctx.auto;
            tool.is_declared_by(seen) || named && !tool.takes_all(seen)
        });
        // Before the end of its payload, a call without arguments may have been about to get some.
        let bare = self.ending.is_some() && !self.call.has_arguments;
        let outcome = if at_end && !self.is_whole && !ctx.end_closes() || self.short || bare {
            CallOutcome::Cut
        } else if self.call.refused || self.raw {
            CallOutcome::Refused
        } else {
            CallOutcome::Whole
        };
        ctx.end(outcome, self.call.repairs, at_end);
        self.call.ended = true;
    }

    /// A list of a name and its arguments has ended.
    pub(super) fn end_pair<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        if self.call.name.is_some() && self.call.has_arguments {
            self.begin(ctx);
        }
        if self.call.begun {
            self.end_begun(ctx);
        } else {
            self.call.dead = true;
        }
    }

    /// An item of a list of calls has ended that is none. It means nothing if there is a call in the list.
    fn void_item<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        self.call = Call { ended: true, ..Call::default() };
        self.holds = false;
        ctx.pass_over();
    }

    /// Whether there is nothing but a name, and the tool of that name has parameters: it may be data.
    fn lacks_arguments<S: CallSink>(&self, name: &str, level: usize, ctx: &Ctx<'_, S>) -> bool {
        let takes_none = ctx.tools.known(name).is_some_and(|tool| tool.parameters.is_empty());
        !takes_none && self.passed_members(level, ctx).is_empty()
    }

    /// The object of a call has ended.
    fn end_call<S: CallSink>(&mut self, level: usize, listed: bool, ctx: &mut Ctx<'_, S>) {
        self.history |= self.strict && level == 2 && self.call.passed.has_other_role(level);
        let nameless = !self.call.begun && !self.call.dead && self.call.name.is_none();
        if self.call.void || nameless && listed {
            self.void_item(ctx);
            return;
        }
        let call = &self.call;
        let cut = self.ending == Some(Ending::Input);
        let lists = call.name.is_none() && ctx.out.made;
        if call.begun {
            self.end_begun(ctx);
        } else if let Some(name) = call.name.clone().filter(|_| !call.dead)
            && (!self.strict || ctx.row.bare_name || ctx.auto && ctx.knows(&name))
            && !(self.strict && (cut || !self.is_bare_call(level, ctx)))
            && !(self.strict && ctx.auto && self.lacks_arguments(&name, level, ctx))
            && ctx.begin(&name, self.id(level, ctx).as_deref())
        {
            // Without arguments, the name alone is a call only where it may be one.
            self.call.begun = true;
            self.holds = false;
            // With a member that means nothing, arguments may be missing.
            let members = self.passed_members(level, ctx);
            let lacks = match ctx.auto {
                true => self.lacks_arguments(&name, level, ctx),
                false => !ctx.row.bare_name && members.is_empty(),
            };
            self.call.refused |= lacks || self.has_unread(level, ctx);
            ctx.arguments(&[b"{", &members[..], b"}"].concat());
            self.end_begun(ctx);
        } else if !lists && !call.dead {
            self.call.dead = true;
        }
    }
}
