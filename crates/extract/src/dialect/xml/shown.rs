//! Calls that are shown in the value of a parameter, in the markers of the dialect itself.
//!
//! A value in which another call begins was cut off, or shows how a call is written. If the value is closed
//! after that call, it shows it. That may be far ahead, so what begins there is held until then.

use super::{OpenValue, XmlCall, ends::AtTag};
use crate::dialect::{out::Ctx, shape::Layout, sink::CallSink, tags::Role};

/// How many calls of a text are looked after that turn out not to be shown.
const MOST: u8 = 4;

/// How far the text was read after the beginning of a call in a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ahead {
    at: usize,
    /// How many values are open there, besides the one with the call in it.
    open: usize,
    /// Whether the call is a part of the value, although that was not closed within the limit.
    settled: bool,
}

/// What a tag after such a beginning is.
enum Tag {
    /// More is needed.
    Wait,
    /// So many bytes that belong to what is shown.
    Part(usize),
    /// The end of the value.
    End,
}

impl XmlCall {
    /// What the call of another tool is that begins at the start of `rest`, in a value. `or` is what it is if the
    /// value is not closed after it.
    pub(super) fn call_in_value<S: CallSink>(
        &self,
        reading: &mut OpenValue,
        or: AtTag,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> AtTag {
        match self.begins_call(rest, eof, ctx) {
            None => return AtTag::Wait,
            Some(false) => return AtTag::Text,
            Some(true) if !reading.value.is_string() || ctx.out.unshown >= MOST => return or,
            Some(true) => {}
        }
        let most = ctx.options.limits().buffer();
        while reading.ahead.at < most {
            let here = rest.get(reading.ahead.at..).unwrap_or_default();
            let is_text = |byte: &&u8| !self.begins_tag(**byte);
            let text = here.iter().take(most - reading.ahead.at).take_while(is_text).count();
            ctx.out.work += 1 + text as u64;
            reading.ahead.at += text;
            let here = here.get(text..).unwrap_or_default();
            if here.is_empty() || reading.ahead.at == most {
                break;
            }
            match self.shown_tag(reading, here, eof, ctx) {
                Tag::Wait => break,
                Tag::Part(length) => reading.ahead.at += length,
                Tag::End => return AtTag::Shown(std::mem::take(&mut reading.ahead).at),
            }
        }
        let Ahead { at, open, .. } = reading.ahead;
        if at >= most {
            // Nobody may run what may only be shown.
            reading.ahead = Ahead { at: 0, open, settled: true };
            return AtTag::Shown(at);
        }
        if !eof {
            return AtTag::Wait;
        }
        reading.ahead = Ahead::default();
        if !ctx.eos {
            // What was cut off may have closed the value.
            return AtTag::Shown(rest.len());
        }
        ctx.out.unshown += 1;
        or
    }

    /// What a tag is in a value that shows a call, and was not closed within the limit. The inner `None` says
    /// that it is what it is in any value.
    pub(super) fn after_limit<S: CallSink>(
        &self,
        reading: &mut OpenValue,
        rest: &[u8],
        eof: bool,
        ctx: &Ctx<'_, S>,
    ) -> Option<AtTag> {
        if !reading.ahead.settled {
            return None;
        }
        match self.shown_tag(reading, rest, eof, ctx) {
            Tag::Wait => Some(AtTag::Wait),
            Tag::Part(length) => Some(AtTag::Shown(length)),
            Tag::End => {
                reading.ahead = Ahead::default();
                None
            }
        }
    }

    fn shown_tag<S: CallSink>(
        &self,
        reading: &mut OpenValue,
        here: &[u8],
        eof: bool,
        ctx: &Ctx<'_, S>,
    ) -> Tag {
        let (role, length) = match self.role(here, eof, ctx) {
            None => return Tag::Wait,
            Some(None) => return Tag::Part(1),
            Some(Some(found)) => found,
        };
        let open = &mut reading.ahead.open;
        match role {
            Role::Parameter(..) if self.xml.layout == Layout::Parameters => *open += 1,
            Role::Value if self.xml.layout == Layout::Pairs => *open += 1,
            Role::ParameterEnd(_) | Role::ValueEnd if *open > 0 => *open -= 1,
            Role::ParameterEnd(key) if !key.is_empty() && key != reading.key => {}
            Role::ParameterEnd(_) | Role::ValueEnd => {
                let after = here.get(length..).unwrap_or_default();
                match self.if_followed(after, length, eof, ctx) {
                    AtTag::Wait => return Tag::Wait,
                    AtTag::End(_) => return Tag::End,
                    _ => {}
                }
            }
            _ => {}
        }
        Tag::Part(length)
    }
}
