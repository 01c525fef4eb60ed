//! The members of an envelope: which of them are the parts of a call.

use wiremend_core::RepairKind;

use super::{
    Call, Envelope, EnvelopePart, Level, PAIRS, Role,
    keys::{ARGUMENTS, IDS, INNER, LISTS, NAMES, RESULTS, is_key_of_call},
    passed::{is_argument_too, is_usual},
};
use crate::dialect::{out::Ctx, sink::CallSink, tools::Tool};

impl Envelope {
    /// A value, or a key, begins with this byte.
    pub(super) fn begin_value<S: CallSink>(&mut self, byte: u8, ctx: &mut Ctx<'_, S>) {
        if self.reading == EnvelopePart::Arguments(self.depth) && self.token.is_empty() {
            // The whole payload is arguments.
            if !matches!(byte, b'{' | b'[' | b'"') {
                self.token.push(byte);
            }
            return;
        }
        if self.reading != EnvelopePart::Between {
            return;
        }
        self.token.clear();
        let after_colon = std::mem::take(&mut self.after_colon);
        let depth = self.levels.len();
        let Some(level) = self.levels.last_mut() else {
            // The root of the payload.
            match byte {
                b'{' => self.begin_call(),
                b'[' => self.levels.push(Level::new(Role::List)),
                _ => self.begin_other(byte),
            }
            return;
        };
        let first = !std::mem::replace(&mut level.filled, true);
        match (level.role, byte) {
            (Role::List, b'{') => {
                self.begin_call();
                self.holds |= self.strict && ctx.out.made;
            }
            (Role::List, b'"') if first && self.strict => {
                level.role = Role::Pair;
                self.call = Call::default();
                self.reading = EnvelopePart::Name;
            }
            (Role::List, b'[') if self.strict && depth < PAIRS => {
                self.levels.push(Level::new(Role::List));
                self.call = Call::default();
                self.holds |= ctx.out.made;
            }
            (Role::Pair, b'{') if self.call.name.is_some() && !self.call.has_arguments => {
                self.begin_arguments(byte);
            }
            (Role::Pair, _) => {
                // A list of more than a name and its arguments is no call.
                self.call.dead = true;
                self.begin_other(byte);
            }
            (Role::List, _) => {
                // A list of anything else is no list of calls.
                self.call.dead |= self.strict;
                self.begin_other(byte);
            }
            (_, b'"') if !after_colon => self.reading = EnvelopePart::Key,
            _ if self.call.dead => self.begin_other(byte),
            _ => {
                let key = String::from_utf8_lossy(&level.key).into_owned();
                self.begin_member(&key, byte, ctx);
            }
        }
    }

    fn begin_call(&mut self) {
        self.levels.push(Level::new(Role::Call));
        self.call = Call { dead: self.history, ..Call::default() };
        self.begin_message();
    }

    fn begin_other(&mut self, byte: u8) {
        self.reading = EnvelopePart::Other(self.depth);
        self.call.passed.close();
        if !matches!(byte, b'{' | b'[' | b'"') {
            self.token.push(byte);
        }
    }

    /// The value of a member of a call begins.
    fn begin_member<S: CallSink>(&mut self, key: &str, byte: u8, ctx: &mut Ctx<'_, S>) {
        let key = key.trim();
        if self.call.member {
            self.end_member(key, byte, ctx);
        }
        let own = &ctx.row.keys;
        let is =
            |usual: &[&str], own: &[_]| usual.contains(&key) || own.iter().any(|own| own == key);
        // A list of one call may have lost its brackets, unless its key names a tool.
        let free = self.call.name.is_none() || self.call.ended;
        let alone = byte == b'{' && free && !ctx.knows(key);
        let lists = is(&LISTS, &own.lists) && (byte == b'[' || alone);
        let again = lists && self.levels.len() == 1;
        if (self.call.ended || self.call.void) && !again {
            // What follows a list of calls belongs to none of them.
            self.begin_content(key, byte);
            self.begin_other(byte);
        } else if is(&NAMES, &own.names) && byte == b'"' && self.call.name.is_none() {
            self.reading = EnvelopePart::Name;
        } else if INNER.contains(&key) && byte == b'{' && self.call.name.is_none() {
            self.list_begins(ctx);
            self.levels.push(Level::new(Role::Inner));
        } else if lists {
            self.list_begins(ctx);
            match byte {
                b'[' => self.levels.push(Level::new(Role::List)),
                _ => {
                    self.begin_call();
                    self.holds |= self.strict && ctx.out.made;
                }
            }
        } else if self.call.flat == Some(self.levels.len()) {
            self.next_flat(key, byte, ctx);
        } else if IDS.contains(&key) && byte == b'"' {
            self.reading = EnvelopePart::Id;
        } else if self.is_flat(key, byte, ctx) {
            self.call.flat = Some(self.levels.len());
            self.begin_flat(key, byte);
        } else if is(&ARGUMENTS, &own.arguments) && !self.call.has_arguments {
            self.begin_arguments(byte);
        } else if key == "name" && self.call.at == Some(self.levels.len()) && self.call.begun {
            // Parsers of JSON would take the last one.
            self.call.refused |= self.call.flat.is_none();
            self.begin_content(key, byte);
            self.begin_other(byte);
        } else if is(&ARGUMENTS, &own.arguments) && byte == b'{' && self.call.begun {
            // Nobody knows which of the two are meant.
            self.call.refused = true;
            self.begin_content(key, byte);
        } else if (byte == b'{' || self.keyed && byte == b'"')
            && self.call.name.is_none()
            && (self.keyed || ctx.knows(key))
        {
            // The key is the name. Another member of the same object may be another call.
            self.call = Call { name: Some(key.to_owned()), ..Call::default() };
            self.begin_arguments(byte);
        } else {
            let foreign_key = !is_key_of_call(key) && !own.has(key);
            let foreign = self.strict && foreign_key && !self.call.begun;
            if foreign && self.is_listed() {
                self.call.void = true;
            } else {
                self.call.dead |= foreign;
            }
            self.begin_content(key, byte);
            self.begin_other(byte);
            if self.call.begun {
                // An argument next to the others would be missing.
                let beside = self.call.at == Some(self.levels.len()) && byte != b'n';
                let usual = is_usual(key) && !(beside && is_argument_too(key));
                self.call.refused |= !usual && self.tool(ctx).is_some_and(|tool| tool.has(key));
                // What came of a call says that it was made before, and any other key that it is data.
                self.call.refused |= self.strict && (RESULTS.contains(&key) || foreign_key);
            } else if !self.call.dead {
                self.call.passed.begin(self.levels.len(), key);
            }
        }
    }

    /// After a member that is a call, another member begins. If that is none, the object may be data.
    fn end_member<S: CallSink>(&mut self, key: &str, byte: u8, ctx: &mut Ctx<'_, S>) {
        let data = !(is_usual(key) || byte == b'{' && ctx.knows(key));
        self.call.refused |= data;
        self.end_begun(ctx);
        self.call = Call { ended: data, ..Call::default() };
    }

    /// Whether the object is an item of a list that can only be one of calls, so that one that is none means
    /// nothing.
    pub(super) fn is_listed(&self) -> bool {
        let [before @ .., list, item] = &self.levels[..] else { return false };
        match list.role {
            Role::List => !(self.strict && before.is_empty()),
            Role::Call => item.role == Role::Call,
            Role::Inner | Role::Pair => false,
        }
    }

    pub(super) fn tool<'c, S>(&self, ctx: &'c Ctx<'_, S>) -> Option<&'c Tool> {
        self.call.name.as_ref().and_then(|name| ctx.tools.known(name))
    }

    /// A member that is an argument begins.
    fn begin_flat(&mut self, key: &str, byte: u8) {
        self.call.key = Some(key.to_owned());
        self.reading = EnvelopePart::Arguments(self.depth);
        if !matches!(byte, b'{' | b'[' | b'"') {
            self.token.push(byte);
        }
    }

    /// A member begins after one that is an argument.
    fn next_flat<S: CallSink>(&mut self, key: &str, byte: u8, ctx: &Ctx<'_, S>) {
        let own = self.tool(ctx).is_some_and(|tool| tool.has(key));
        let all = ARGUMENTS.contains(&key) && matches!(byte, b'{' | b'"');
        if own || !all && !is_usual(key) {
            // What came of a call says that it was made before.
            self.call.refused |= !own && RESULTS.contains(&key);
            return self.begin_flat(key, byte);
        }
        // Arguments next to arguments: it is not clear which are meant.
        self.call.refused |= all;
        self.begin_other(byte);
    }

    /// Whether a member after the name of a tool is one of its arguments.
    fn is_flat<S: CallSink>(&self, key: &str, byte: u8, ctx: &Ctx<'_, S>) -> bool {
        let all = ARGUMENTS.contains(&key) && byte == b'{';
        let role = self.levels.last().map(|level| level.role);
        let alone = matches!(role, Some(Role::Call | Role::Inner));
        let free = alone && !is_usual(key) && !all && !self.call.has_arguments;
        free && self.tool(ctx).is_some_and(|tool| tool.has(key))
    }

    fn begin_arguments(&mut self, byte: u8) {
        self.call.at = Some(self.levels.len());
        self.reading = EnvelopePart::Arguments(self.depth);
        // A word is no arguments, and a value that is missing was not meant to be empty.
        let repair = self.last_repair.take();
        self.call.refused |= repair == Some(RepairKind::MissingValue)
            || repair == Some(RepairKind::UnquotedString) && byte == b'"';
        if !matches!(byte, b'{' | b'[' | b'"') {
            self.token.push(byte);
        }
    }
}
