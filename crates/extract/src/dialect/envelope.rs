//! The shapes of a call in JSON, found in mended text while it grows.

mod follow;
mod keys;
mod source;

use jsonmend_core::{Outcome, RepairKind};

pub(super) use follow::Follow;
use keys::{ARGUMENTS, IDS, LISTS, NAMES, unescaped};
pub(super) use keys::{LONGEST_NAME, is_key_of_call};

use super::{
    arguments::Inner,
    out::Ctx,
    sink::{CallOutcome, CallSink},
};

/// What a container is to the calls in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// An object that may be a call.
    Call,
    /// An object inside of one, which has its name and arguments.
    Inner,
    /// A list of calls.
    List,
}

#[derive(Clone, Debug)]
struct Level {
    role: Role,
    key: Vec<u8>,
}

/// What is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// Between tokens of the envelope.
    Between,
    Key,
    Name,
    Id,
    /// The arguments, which began at this depth.
    Arguments(usize),
    /// A value that means nothing, which began at this depth.
    Other(usize),
}

#[derive(Clone, Debug, Default)]
struct Call {
    name: Option<String>,
    id: Option<String>,
    begun: bool,
    has_arguments: bool,
    /// Arguments that came before the name.
    early: Vec<u8>,
    /// It is no call.
    dead: bool,
    refused: bool,
    ended: bool,
    repairs: usize,
}

/// Follows mended JSON text, and emits the calls in it.
#[derive(Clone, Debug)]
pub(super) struct Envelope {
    /// Whether each object is a call only if nothing else is in it.
    strict: bool,
    /// Whether any key may be the name of a tool.
    keyed: bool,
    levels: Vec<Level>,
    depth: usize,
    reading: Reading,
    in_string: bool,
    escaped: bool,
    after_colon: bool,
    token: Vec<u8>,
    call: Call,
    /// Arguments that are a literal.
    literal: Vec<u8>,
    inner: Option<Box<Inner>>,
    /// The bytes that were pushed, from `pos` on, that have not been accounted for.
    source: Vec<u8>,
    taken: usize,
    pos: usize,
    /// Removed bytes, which belong to what follows them.
    removed: Vec<u8>,
    last_repair: Option<RepairKind>,
    /// Why the input ends here, if it does.
    pub(super) ending: Option<Ending>,
    /// Whether the payload ended where a value should be, or inside of one.
    short: bool,
    /// Whether what follows is raw input.
    pub(super) raw: bool,
}

/// Why a payload ends before its value does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Marker,
    Input,
}

impl Envelope {
    pub(super) fn new(strict: bool, keyed: bool) -> Self {
        Self {
            strict,
            keyed,
            levels: Vec::new(),
            depth: 0,
            reading: Reading::Between,
            in_string: false,
            escaped: false,
            after_colon: false,
            token: Vec::new(),
            call: Call::default(),
            literal: Vec::new(),
            inner: None,
            source: Vec::new(),
            taken: 0,
            pos: 0,
            removed: Vec::new(),
            last_repair: None,
            ending: None,
            short: false,
            raw: false,
        }
    }

    /// The whole value is the arguments of a call that has begun.
    pub(super) fn arguments_only() -> Self {
        let call = Call { begun: true, ..Call::default() };
        Self { reading: Reading::Arguments(0), call, ..Self::new(false, false) }
    }

    /// Reads mended bytes. `copied` says that they are source bytes, too.
    fn read<S: CallSink>(&mut self, bytes: &[u8], copied: bool, ctx: &mut Ctx<'_, S>) {
        let mut done = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            if self.ends_before(byte) {
                let run = bytes.get(done..at).unwrap_or_default();
                done = at;
                self.pass(run, copied, ctx);
                self.value_ended(ctx);
            }
            let (before, dead) = (self.reading, self.call.dead);
            self.step(byte, ctx);
            let (after, dies) = (self.reading, self.call.dead);
            if after == before && dies == dead {
                continue;
            }
            // Arguments and calls begin with this byte; everything else ends with it.
            let begins = matches!(after, Reading::Arguments(_)) || dead && !dies;
            let upto = if begins { at } else { at + 1 };
            let run = bytes.get(done..upto).unwrap_or_default();
            done = upto;
            (self.reading, self.call.dead) = (before, dead);
            self.pass(run, copied, ctx);
            (self.reading, self.call.dead) = (after, dies);
            if dies && !dead {
                ctx.fail();
            }
            if matches!(before, Reading::Arguments(_)) && !begins {
                self.value_ended(ctx);
            }
            self.settle(before, ctx);
        }
        let run = bytes.get(done..).unwrap_or_default();
        self.pass(run, copied, ctx);
    }

    /// Emits mended bytes, and the source that they came from.
    fn pass<S: CallSink>(&mut self, run: &[u8], copied: bool, ctx: &mut Ctx<'_, S>) {
        if run.is_empty() {
            return;
        }
        if !self.removed.is_empty() {
            let removed = std::mem::take(&mut self.removed);
            self.emit_source(&removed, ctx);
        }
        if copied {
            let source = self.take(run.len());
            self.emit_source(&source, ctx);
        }
        if matches!(self.reading, Reading::Arguments(_)) && !self.call.dead {
            self.emit_arguments(run, ctx);
        }
    }

    fn emit_arguments<S: CallSink>(&mut self, run: &[u8], ctx: &mut Ctx<'_, S>) {
        if self.call.begun
            && self.inner.is_none()
            && run.first() == Some(&b'"')
            && !self.call.has_arguments
        {
            self.inner = Some(Box::new(Inner::new(ctx.options)));
        }
        self.call.has_arguments = true;
        if self.inner.is_none() && !self.token.is_empty() {
            // A literal is emitted as a whole.
            self.literal.extend_from_slice(run);
            return;
        }
        match &mut self.inner {
            Some(inner) if self.call.begun => inner.push(run, ctx),
            _ if self.call.begun => ctx.arguments(run),
            _ => self.call.early.extend_from_slice(run),
        }
    }

    /// Whether a literal ends before this byte.
    fn ends_before(&self, byte: u8) -> bool {
        let at = match self.reading {
            Reading::Arguments(at) | Reading::Other(at) => at,
            _ => return false,
        };
        at == self.depth
            && !self.in_string
            && !self.after_colon
            && !self.token.is_empty()
            && matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t')
    }

    /// Reads one byte of mended text.
    fn step<S: CallSink>(&mut self, byte: u8, ctx: &mut Ctx<'_, S>) {
        if self.in_string {
            self.string_byte(byte);
            return;
        }
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => {}
            b'"' => {
                self.in_string = true;
                self.escaped = false;
                self.begin_value(byte, ctx);
            }
            b'{' | b'[' => {
                self.begin_value(byte, ctx);
                self.depth += 1;
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.end_container(ctx);
            }
            b':' if self.reading == Reading::Between => self.after_colon = true,
            b',' => {}
            _ => self.begin_value(byte, ctx),
        }
    }

    fn string_byte(&mut self, byte: u8) {
        if self.escaped {
            self.escaped = false;
        } else if byte == b'\\' {
            self.escaped = true;
        } else if byte == b'"' {
            self.in_string = false;
            match self.reading {
                Reading::Key => self.key_ended(),
                Reading::Name | Reading::Id => self.reading = Reading::Between,
                Reading::Arguments(at) | Reading::Other(at) if at == self.depth => {
                    self.reading = Reading::Between;
                }
                _ => {}
            }
            return;
        }
        if matches!(self.reading, Reading::Key | Reading::Name | Reading::Id)
            && self.token.len() <= LONGEST_NAME * 6
        {
            self.token.push(byte);
        }
    }

    fn key_ended(&mut self) {
        let key = unescaped(&std::mem::take(&mut self.token));
        if let Some(level) = self.levels.last_mut() {
            level.key = key.into_bytes();
        }
        self.reading = Reading::Between;
    }

    /// A value, or a key, begins with this byte.
    fn begin_value<S: CallSink>(&mut self, byte: u8, ctx: &mut Ctx<'_, S>) {
        if self.reading == Reading::Arguments(self.depth) && self.token.is_empty() {
            // The whole payload is arguments.
            if !matches!(byte, b'{' | b'[' | b'"') {
                self.token.push(byte);
            }
            return;
        }
        if self.reading != Reading::Between {
            return;
        }
        self.token.clear();
        let after_colon = std::mem::take(&mut self.after_colon);
        let Some(level) = self.levels.last() else {
            // The root of the payload.
            match byte {
                b'{' => self.begin_call(),
                b'[' => self.levels.push(Level { role: Role::List, key: Vec::new() }),
                _ => self.begin_other(byte),
            }
            return;
        };
        match (level.role, byte) {
            (Role::List, b'{') => self.begin_call(),
            (Role::List, _) => {
                // A list of anything else is no list of calls.
                self.call.dead |= self.strict && !ctx.out.made;
                self.begin_other(byte);
            }
            (_, b'"') if !after_colon => self.reading = Reading::Key,
            _ if self.call.dead => self.begin_other(byte),
            _ => {
                let key = String::from_utf8_lossy(&level.key).into_owned();
                self.begin_member(&key, byte, ctx);
            }
        }
    }

    fn begin_call(&mut self) {
        self.levels.push(Level { role: Role::Call, key: Vec::new() });
        self.call = Call::default();
    }

    fn begin_other(&mut self, byte: u8) {
        self.reading = Reading::Other(self.depth);
        if !matches!(byte, b'{' | b'[' | b'"') {
            self.token.push(byte);
        }
    }

    /// The value of a member of a call begins.
    fn begin_member<S: CallSink>(&mut self, key: &str, byte: u8, ctx: &mut Ctx<'_, S>) {
        let key = key.trim();
        let own = &ctx.row.keys;
        let is =
            |usual: &[&str], own: &[_]| usual.contains(&key) || own.iter().any(|own| own == key);
        if self.call.ended {
            // What follows a list of calls belongs to none of them.
            self.begin_other(byte);
        } else if is(&NAMES, &own.names) && byte == b'"' && self.call.name.is_none() {
            self.reading = Reading::Name;
        } else if key == "function" && byte == b'{' {
            self.levels.push(Level { role: Role::Inner, key: Vec::new() });
        } else if is(&LISTS, &own.lists) && byte == b'[' {
            self.levels.push(Level { role: Role::List, key: Vec::new() });
        } else if IDS.contains(&key) && byte == b'"' {
            self.reading = Reading::Id;
        } else if is(&ARGUMENTS, &own.arguments) && !self.call.has_arguments {
            self.begin_arguments(byte);
        } else if (byte == b'{' || self.keyed && byte == b'"')
            && self.call.name.is_none()
            && (self.keyed || ctx.knows(key))
        {
            // The key is the name. Another member of the same object may be another call.
            self.call = Call { name: Some(key.to_owned()), ..Call::default() };
            self.begin_arguments(byte);
        } else {
            if self.strict && !is_key_of_call(key) && !own.has(key) && !self.call.begun {
                self.call.dead = true;
            }
            self.begin_other(byte);
        }
    }

    fn begin_arguments(&mut self, byte: u8) {
        self.reading = Reading::Arguments(self.depth);
        // A word is no arguments, and a value that is missing was not meant to be empty.
        let repair = self.last_repair.take();
        self.call.refused |= repair == Some(RepairKind::MissingValue)
            || repair == Some(RepairKind::UnquotedString) && byte == b'"';
        if !matches!(byte, b'{' | b'[' | b'"') {
            self.token.push(byte);
        }
    }

    fn end_container<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        match self.reading {
            Reading::Arguments(at) | Reading::Other(at) => {
                if at == self.depth {
                    self.reading = Reading::Between;
                }
            }
            _ => {
                if let Some(level) = self.levels.pop()
                    && level.role == Role::Call
                {
                    self.end_call(ctx);
                }
            }
        }
    }

    /// Acts on a change of what is being read, once the bytes up to it were emitted.
    fn settle<S: CallSink>(&mut self, before: Reading, ctx: &mut Ctx<'_, S>) {
        match (before, self.reading) {
            (Reading::Name, Reading::Between) => {
                self.call.name = Some(unescaped(&std::mem::take(&mut self.token)));
                if self.call.has_arguments {
                    self.begin(ctx);
                }
            }
            (Reading::Id, Reading::Between) => {
                self.call.id = Some(unescaped(&std::mem::take(&mut self.token)));
            }
            (_, Reading::Arguments(_)) => self.begin(ctx),
            _ => {}
        }
    }

    /// Begins the call, if its name is known.
    fn begin<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        if self.call.begun || self.call.dead {
            return;
        }
        let Some(name) = self.call.name.clone() else { return };
        if name.len() <= LONGEST_NAME && ctx.begin(&name, self.call.id.as_deref()) {
            self.call.begun = true;
            let early = std::mem::take(&mut self.call.early);
            if !early.is_empty() {
                self.call.has_arguments = false;
                self.emit_arguments(&early, ctx);
                self.finish_inner(ctx);
            }
        } else {
            self.call.dead = true;
            ctx.fail();
        }
    }

    /// The arguments, or another value, have ended.
    fn value_ended<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        self.token.clear();
        self.reading = Reading::Between;
        if !self.literal.is_empty() {
            // No arguments are none.
            let literal = std::mem::take(&mut self.literal);
            let json = if literal.trim_ascii() == b"null" { b"{}".to_vec() } else { literal };
            match self.call.begun {
                true => ctx.arguments(&json),
                false => self.call.early.extend_from_slice(&json),
            }
        }
        self.finish_inner(ctx);
        let own = self.levels.last().is_some_and(|level| {
            let key = String::from_utf8_lossy(&level.key).into_owned();
            level.role == Role::Call && self.call.name.as_deref() == Some(key.trim())
        });
        if own && self.call.begun {
            // A member that is a call by itself.
            self.end_begun(ctx);
            self.call = Call { dead: false, ..Call::default() };
        }
    }

    fn finish_inner<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        if let Some(mut inner) = self.inner.take() {
            let (repairs, complete) = inner.finish(ctx);
            self.call.repairs += repairs;
            self.call.refused |= !complete;
        }
    }

    fn end_begun<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        let at_end = self.ending == Some(Ending::Input);
        // Before the end of its payload, a call without arguments may have been about to get some.
        let bare = self.ending.is_some() && !self.call.has_arguments;
        let outcome = if at_end && !ctx.end_closes() || self.short || bare {
            CallOutcome::Cut
        } else if self.call.refused || self.raw {
            CallOutcome::Refused
        } else {
            CallOutcome::Whole
        };
        ctx.end(outcome, self.call.repairs, at_end);
        self.call.ended = true;
    }

    /// The object of a call has ended.
    fn end_call<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        let call = &self.call;
        let cut = self.ending == Some(Ending::Input);
        let lists = call.name.is_none() && ctx.out.made;
        if call.begun {
            self.end_begun(ctx);
        } else if let Some(name) = call.name.clone().filter(|_| !call.dead)
            && (!self.strict || ctx.row.bare_name || ctx.auto && ctx.knows(&name))
            && !(self.strict && cut)
            && ctx.begin(&name, self.call.id.as_deref())
        {
            // Without arguments, the name alone is a call only where it may be one.
            self.call.begun = true;
            self.call.refused |= !(ctx.row.bare_name || ctx.auto);
            ctx.arguments(b"{}");
            self.end_begun(ctx);
        } else if !lists && !call.dead {
            self.call.dead = true;
        }
    }

    /// The payload has ended with this outcome.
    pub(super) fn stopped(&mut self, outcome: Outcome) {
        // Nothing was passed on raw if all of it was emitted before the policy forbade to close it.
        self.short |= outcome == Outcome::Cut;
        self.raw |= !outcome.is_valid() && outcome != Outcome::None;
    }

    /// Ends the payload of a call that has only arguments, or that the input cut off.
    pub(super) fn finish<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        if !self.removed.is_empty() {
            let removed = std::mem::take(&mut self.removed);
            self.emit_source(&removed, ctx);
        }
        self.finish_inner(ctx);
        if self.call.begun {
            if !self.call.has_arguments && !self.raw {
                // The model ended the text before any arguments.
                ctx.arguments(b"{}");
                self.call.has_arguments = true;
            }
            self.end_begun(ctx);
            self.call = Call::default();
        }
    }

    /// Whether the text that is being read is no call.
    pub(super) const fn is_dead(&self) -> bool {
        self.call.dead
    }

    /// Gives up: what is held is text.
    pub(super) fn kill<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        self.call.dead = true;
        ctx.fail();
    }
}
