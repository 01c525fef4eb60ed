//! The shapes of a call in JSON, found in mended text while it grows.

mod content;
mod ends;
mod follow;
mod keys;
mod members;
mod passed;
mod source;

use wiremend_core::{Outcome, RepairKind};

use content::Content;
pub(super) use follow::Follow;
use keys::unescaped;
pub(super) use keys::{LONGEST_NAME, is_key_of_call, keys_of_calls};
use passed::Passed;

use super::{arguments::Inner, out::Ctx, repairs::Repairs, sink::CallSink};

/// How deep lists of names with their arguments are nested at most.
const PAIRS: usize = 2;

/// What a container is to the calls in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// An object that may be a call.
    Call,
    /// An object inside of one, which has its name and arguments.
    Inner,
    /// A list of calls.
    List,
    /// A list of the name and the arguments of one call.
    Pair,
}

#[derive(Clone, Debug)]
struct Level {
    role: Role,
    key: Vec<u8>,
    /// Whether anything is in it.
    filled: bool,
}

impl Level {
    const fn new(role: Role) -> Self {
        Self { role, key: Vec::new(), filled: false }
    }
}

/// What is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EnvelopePart {
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
    /// Arguments that came before the name, or before their first key shows what they are.
    early: Vec<u8>,
    /// Those of an object without a marker, as far as they are looked at.
    seen: Vec<u8>,
    /// It is no call.
    dead: bool,
    refused: bool,
    /// Whether a quote in the arguments is as the model wrote it.
    quoted: bool,
    ended: bool,
    /// It is an item of a list of calls that is none, and means nothing.
    void: bool,
    repairs: usize,
    /// The members that meant nothing when they were read.
    passed: Passed,
    /// How deep the member is that has the arguments.
    at: Option<usize>,
    /// How deep the members are that are arguments, if those are next to the name.
    flat: Option<usize>,
    /// The key of such a member that begins.
    key: Option<String>,
    /// It is a member whose key is its name, and was read.
    member: bool,
}

/// Follows mended JSON text, and emits the calls in it.
#[derive(Clone, Debug)]
pub(super) struct Envelope {
    /// Whether each object is a call only if nothing else is in it.
    strict: bool,
    /// Whether any key may be the name of a tool.
    keyed: bool,
    /// Whether a payload that is the arguments may be any value.
    any: bool,
    levels: Vec<Level>,
    depth: usize,
    reading: EnvelopePart,
    in_string: bool,
    escaped: bool,
    after_colon: bool,
    token: Vec<u8>,
    call: Call,
    content: Content,
    /// Arguments that are a literal.
    literal: Vec<u8>,
    inner: Option<Box<Inner>>,
    /// The bytes that were pushed, from `pos` on, that have not been accounted for.
    source: Vec<u8>,
    taken: usize,
    pos: usize,
    /// Whether what is read is held back, although there was a call before it.
    holds: bool,
    /// Whether a list has messages of others than the model, so that its calls were made before.
    history: bool,
    /// Removed bytes, which belong to what follows them.
    removed: Vec<u8>,
    last_repair: Option<RepairKind>,
    repairs: Repairs,
    /// Why the input ends here, if it does.
    pub(super) ending: Option<Ending>,
    /// Whether the payload ended where a value should be, or inside of one.
    pub(super) short: bool,
    /// Whether the input ends after the arguments, and lacks nothing but brackets.
    pub(super) is_whole: bool,
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
            any: false,
            levels: Vec::new(),
            depth: 0,
            reading: EnvelopePart::Between,
            in_string: false,
            escaped: false,
            after_colon: false,
            token: Vec::new(),
            call: Call::default(),
            content: Content::default(),
            literal: Vec::new(),
            inner: None,
            source: Vec::new(),
            taken: 0,
            pos: 0,
            holds: false,
            history: false,
            removed: Vec::new(),
            last_repair: None,
            repairs: Repairs::default(),
            ending: None,
            short: false,
            is_whole: false,
            raw: false,
        }
    }

    /// The whole value is the arguments of a call that has begun, which may be `any` value, or an object.
    pub(super) fn arguments_only(any: bool) -> Self {
        let call = Call { begun: true, ..Call::default() };
        Self { reading: EnvelopePart::Arguments(0), call, any, ..Self::new(false, false) }
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
            let (before, dead, held) = (self.reading, self.call.dead, self.holds);
            self.step(byte, ctx);
            let (after, dies) = (self.reading, self.call.dead);
            let holds = self.holds && !held;
            if after == before && dies == dead && !holds {
                continue;
            }
            // Values and calls begin with this byte; everything else ends with it.
            let value = matches!(after, EnvelopePart::Arguments(_) | EnvelopePart::Other(_));
            let kills = self.strict && dies && !dead;
            let held = held || !ctx.out.made;
            let begins = value || dead && !dies || holds || kills && !held;
            let upto = if begins { at } else { at + 1 };
            let run = bytes.get(done..upto).unwrap_or_default();
            done = upto;
            if kills && held {
                self.fail(ctx);
            }
            let was = dead || kills && held;
            (self.reading, self.call.dead) = (before, was);
            self.pass(run, copied, ctx);
            // What was passed may have shown that this is no call.
            (self.reading, self.call.dead) = (after, dies || self.call.dead && !was);
            ctx.hold(self.holds);
            if dies && !dead {
                self.fail(ctx);
            }
            if matches!(before, EnvelopePart::Arguments(_)) && !begins {
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
        if matches!(self.reading, EnvelopePart::Arguments(_)) && !self.call.dead {
            self.call.quoted = self.call.quoted || copied && run.contains(&b'"');
            self.emit_arguments(run, ctx);
        } else if matches!(self.reading, EnvelopePart::Other(_)) {
            self.call.passed.push(run, ctx.options.limits().buffer());
            self.read_content(run, ctx);
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
        let alone = self.levels.is_empty() && !self.call.has_arguments;
        self.call.refused |= alone && !self.any && run.first() == Some(&b'[');
        self.call.has_arguments = true;
        if self.strict && self.call.begun {
            let room = ctx.options.limits().buffer().saturating_sub(self.call.seen.len());
            self.call.seen.extend(run.iter().take(room));
        }
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
            EnvelopePart::Arguments(at) | EnvelopePart::Other(at) => at,
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
            b':' if self.reading == EnvelopePart::Between => self.after_colon = true,
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
                EnvelopePart::Key => self.key_ended(),
                EnvelopePart::Name | EnvelopePart::Id => self.reading = EnvelopePart::Between,
                EnvelopePart::Arguments(at) | EnvelopePart::Other(at) if at == self.depth => {
                    self.reading = EnvelopePart::Between;
                }
                _ => {}
            }
            return;
        }
        if matches!(self.reading, EnvelopePart::Key | EnvelopePart::Name | EnvelopePart::Id)
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
        self.reading = EnvelopePart::Between;
    }

    /// Acts on a change of what is being read, once the bytes up to it were emitted.
    fn settle<S: CallSink>(&mut self, before: EnvelopePart, ctx: &mut Ctx<'_, S>) {
        match (before, self.reading) {
            (EnvelopePart::Name, EnvelopePart::Between) => {
                let name = unescaped(&std::mem::take(&mut self.token));
                self.call.name = Some(name);
                if self.call.has_arguments {
                    self.begin(ctx);
                }
            }
            (EnvelopePart::Id, EnvelopePart::Between) => {
                let id = unescaped(&std::mem::take(&mut self.token));
                if let Some(level) = self.levels.last() {
                    self.call.passed.id(self.levels.len(), &level.key, &id);
                }
                if self.call.begun && self.call.id.is_none() {
                    ctx.id(&id);
                }
                self.call.id = Some(id);
            }
            // A list is a call only if nothing follows the arguments in it.
            (_, EnvelopePart::Arguments(_)) if self.is_in_pair() => {}
            (_, EnvelopePart::Arguments(_)) => {
                self.begin(ctx);
                self.begin_flat_member(ctx);
            }
            _ => {}
        }
    }

    /// Begins the call, if its name is known.
    fn begin<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        if self.call.begun || self.call.dead || self.call.void {
            return;
        }
        let Some(name) = self.call.name.clone() else { return };
        if name.is_empty() && self.is_listed() {
            self.call.void = true;
            return;
        }
        self.check_passed(&name, ctx);
        self.call_begins(ctx);
        if name.len() <= LONGEST_NAME && ctx.begin(&name, self.call.id.as_deref()) {
            self.call.begun = true;
            self.holds = false;
            let early = std::mem::take(&mut self.call.early);
            if !early.is_empty() {
                self.call.has_arguments = false;
                self.emit_arguments(&early, ctx);
                self.finish_inner(ctx);
            }
        } else {
            self.kill(ctx);
        }
    }

    fn is_in_pair(&self) -> bool {
        self.levels.last().is_some_and(|level| level.role == Role::Pair)
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
        if self.is_in_pair() && !self.call.dead {
            // The name of a tool has arrived, and more of its call than its name.
            self.raw |= self.call.has_arguments;
            self.end_pair(ctx);
        }
        if self.call.begun {
            if !self.call.has_arguments && !self.raw {
                // The model ended the text before any arguments.
                ctx.arguments(b"{}");
                self.call.has_arguments = true;
            }
            self.end_begun(ctx);
            self.call = Call::default();
        }
        if self.holds {
            self.fail(ctx);
        }
    }

    /// Whether the payload is a list, or has not begun.
    pub(super) fn may_list(&self) -> bool {
        self.levels.first().is_none_or(|level| level.role == Role::List)
    }

    /// Whether a list of calls is open, and nothing in it.
    pub(super) fn is_between_items(&self) -> bool {
        let list = self.levels.len() == 1 && self.levels.iter().all(|at| at.role == Role::List);
        list && self.depth == 1 && self.reading == EnvelopePart::Between && !self.in_string
    }

    /// Whether the text that is being read is no call.
    pub(super) const fn is_dead(&self) -> bool {
        self.call.dead
    }

    /// Gives up: what is held is text.
    pub(super) fn kill<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        self.call.dead = true;
        self.fail(ctx);
    }

    /// What is held is text.
    fn fail<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        self.holds = false;
        ctx.fail();
    }

    /// Whether nothing was emitted of what is being read.
    pub(super) const fn is_held(&self, made: bool) -> bool {
        !made || self.holds
    }
}
