//! The members of a call that mean nothing when they are read: they may be arguments, if those turn out
//! to be next to the name.

use super::{
    Envelope,
    keys::{ARGUMENTS_TOO, IDS, OTHERS},
};
use crate::dialect::{arguments::quote, out::Ctx, sink::CallSink, tools::Tool};

/// What the type of an object says if it is a call.
const TYPES: [&[u8]; 4] =
    [b"\"function\"", b"\"function_call\"", b"\"tool_call\"", b"\"tool_use\""];

/// Members that were passed over.
#[derive(Clone, Debug, Default)]
pub(super) struct Passed {
    members: Vec<Member>,
    /// Whether the value that is being read is that of the last member.
    open: bool,
    bytes: usize,
    /// Whether there were too many.
    overfull: bool,
}

#[derive(Clone, Debug)]
struct Member {
    level: usize,
    key: String,
    json: Vec<u8>,
}

impl Member {
    /// Whether the object around a call has such members.
    fn is_usual(&self) -> bool {
        is_usual(&self.key)
    }

    /// Whether it is an argument of a tool, if its arguments are next to its name.
    fn is_argument(&self, tool: &Tool) -> bool {
        tool.has(&self.key) && !(self.key == "type" && TYPES.contains(&self.json.trim_ascii()))
    }
}

/// Whether the object around a call has members with this key.
pub(super) fn is_usual(key: &str) -> bool {
    IDS.contains(&key) || OTHERS.contains(&key)
}

/// Whether a member next to the arguments may be one of them, although the object around a call has
/// such members.
pub(super) fn is_argument_too(key: &str) -> bool {
    ARGUMENTS_TOO.contains(&key)
}

/// Who writes the messages of a conversation that the model does not write.
const OTHER_ROLES: [&[u8]; 6] =
    [b"\"user\"", b"\"system\"", b"\"developer\"", b"\"tool\"", b"\"function\"", b"\"ipython\""];

impl Passed {
    /// Whether the object at this level is a message that the model has not written.
    pub(super) fn has_other_role(&self, level: usize) -> bool {
        let other = |role: &[u8]| OTHER_ROLES.contains(&role.trim_ascii());
        let mut members = self.members.iter().filter(|member| member.level == level);
        members.any(|member| member.key == "role" && other(&member.json))
    }

    /// A member is passed over, the value of which begins here.
    pub(super) fn begin(&mut self, level: usize, key: &str) {
        self.open = !self.overfull;
        // The call is refused then, whatever else comes.
        if self.open {
            self.members.push(Member { level, key: key.to_owned(), json: Vec::new() });
        }
    }

    /// A value begins that is not that of a member.
    pub(super) fn close(&mut self) {
        self.open = false;
    }

    /// The value of a member goes on.
    pub(super) fn push(&mut self, json: &[u8], limit: usize) {
        let Some(member) = self.members.last_mut().filter(|_| self.open) else { return };
        self.bytes += json.len() + if member.json.is_empty() { member.key.len() } else { 0 };
        if self.bytes > limit {
            self.overfull = true;
            self.open = false;
        } else {
            member.json.extend_from_slice(json);
        }
    }

    /// The identifier of the call was read.
    pub(super) fn id(&mut self, level: usize, key: &[u8], id: &str) {
        let mut json = Vec::new();
        quote(id.as_bytes(), &mut json);
        let key = String::from_utf8_lossy(key).trim().to_owned();
        self.open = false;
        if !self.overfull {
            self.members.push(Member { level, key, json });
        }
    }
}

impl Envelope {
    /// The call begins. What was passed over must not be an argument that would be missing from it.
    pub(super) fn check_passed<S: CallSink>(&mut self, name: &str, ctx: &Ctx<'_, S>) {
        let passed = &self.call.passed;
        let Some(tool) = ctx.tools.known(name) else { return };
        let flat = self.call.flat;
        let missing = |member: &Member| {
            let beside = self.call.at == Some(member.level) && member.json.trim_ascii() != b"null";
            let usual = member.is_usual() && !(beside && is_argument_too(&member.key));
            flat != Some(member.level) && !usual && tool.has(&member.key)
        };
        self.call.refused |= passed.overfull || passed.members.iter().any(missing);
        if let Some(level) = flat {
            self.call.id = self.id(level, ctx);
        }
    }

    /// The identifier of the call, unless that is an argument.
    pub(super) fn id<S: CallSink>(&self, level: usize, ctx: &Ctx<'_, S>) -> Option<String> {
        let tool = self.call.name.as_ref().and_then(|name| ctx.tools.known(name));
        let taken = |member: &Member| {
            let argument = tool.is_some_and(|tool| member.is_argument(tool));
            member.level == level && argument && IDS.contains(&member.key.as_str())
        };
        self.call.id.clone().filter(|_| !self.call.passed.members.iter().any(taken))
    }

    /// Whether there is a member at this level that neither a call has around it nor the tool takes.
    pub(super) fn has_unread<S: CallSink>(&self, level: usize, ctx: &Ctx<'_, S>) -> bool {
        let tool = self.call.name.as_ref().and_then(|name| ctx.tools.known(name));
        let taken = |member: &Member| tool.is_some_and(|tool| tool.has(&member.key));
        let mut members = self.call.passed.members.iter();
        members.any(|member| member.level == level && !member.is_usual() && !taken(member))
    }

    /// Whether there is nothing next to the name of a call without arguments but what only a call has:
    /// an object with a `status` or a column with a `type` is data.
    pub(super) fn is_bare_call<S: CallSink>(&self, level: usize, ctx: &Ctx<'_, S>) -> bool {
        let tool = self.call.name.as_ref().and_then(|name| ctx.tools.known(name));
        self.call.passed.members.iter().filter(|member| member.level == level).all(|member| {
            IDS.contains(&member.key.as_str())
                || member.key == "type" && TYPES.contains(&member.json.trim_ascii())
                || tool.is_some_and(|tool| member.is_argument(tool))
        })
    }

    /// The members at this level that are arguments of the tool.
    pub(super) fn passed_members<S: CallSink>(&self, level: usize, ctx: &Ctx<'_, S>) -> Vec<u8> {
        let mut json = Vec::new();
        let tool = self.call.name.as_ref().and_then(|name| ctx.tools.known(name));
        let Some(tool) = tool else { return json };
        let members = self.call.passed.members.iter();
        for member in members.filter(|member| member.level == level && member.is_argument(tool)) {
            if !json.is_empty() {
                json.extend_from_slice(b", ");
            }
            quote(member.key.as_bytes(), &mut json);
            json.extend_from_slice(b": ");
            json.extend_from_slice(&member.json);
        }
        json
    }

    /// The value of an argument that is next to the name begins.
    pub(super) fn begin_flat_member<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        let Some((level, key)) = self.call.flat.zip(self.call.key.take()) else { return };
        let mut json = Vec::new();
        if self.call.has_arguments {
            json.extend_from_slice(b", ");
        } else {
            json.push(b'{');
            let passed = self.passed_members(level, ctx);
            json.extend_from_slice(&passed);
            json.extend_from_slice(if passed.is_empty() { b"" } else { b", " });
            self.call.has_arguments = true;
        }
        quote(key.as_bytes(), &mut json);
        json.extend_from_slice(b": ");
        ctx.arguments(&json);
    }
}
