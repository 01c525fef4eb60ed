//! The values of parameters.

use super::{OpenValue, Section, State, XmlCall, ends::AtTag};
use crate::dialect::{
    json::{SPACE, Step, past_space},
    nested::Nested,
    out::Ctx,
    shape::Layout,
    sink::{CallOutcome, CallSink},
    tags::Role,
};

const VERBATIM: &[u8] = b"<![CDATA[";
const VERBATIM_END: &[u8] = b"]]>";

/// How many elements may be open in the text of a value.
const DEEPEST: usize = 32;

impl XmlCall {
    pub(super) fn value<S: CallSink>(
        &mut self,
        mut reading: Box<OpenValue>,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        let verbatim = reading.section == Section::Open;
        let goes_on = reading.section_goes_on;
        let stop = |byte: &u8| match verbatim {
            true => *byte == b']' || goes_on && *byte == b'<',
            false => self.begins_tag(*byte),
        };
        let clear = rest.iter().position(stop).unwrap_or(rest.len());
        if clear > 0 {
            return self.goes_on(reading, rest, clear, ctx);
        }
        if rest.is_empty() && !eof {
            self.state = State::Value(reading);
            return Step::Wait;
        }
        if rest.is_empty() {
            // Of the tags that are named like tools and parameters, models leave out the closes at their end.
            // Everywhere else, and if not the model but the transport has ended, the value has not.
            let closes = self.xml.layout == Layout::Tools
                && ctx.end_closes()
                && !(reading.fresh || reading.stray);
            match closes {
                true => self.repairs += 1,
                false => ctx.stop_short(),
            }
            self.finish_value(*reading, true, ctx);
            return self.cut(ctx);
        }
        if eof && !verbatim && self.is_piece(rest) {
            ctx.stop_short();
            ctx.raw(rest);
            self.state = State::Value(reading);
            return Step::Read(rest.len());
        }
        if verbatim || self.may_open_section(&reading) {
            let ends = verbatim && rest.first() == Some(&b']');
            let mark = if ends { VERBATIM_END } else { VERBATIM };
            let Some(here) = self.is_mark(mark, rest, eof, ctx) else {
                self.state = State::Value(reading);
                return Step::Wait;
            };
            if verbatim && here && !ends {
                // Another section begins, so that the last one may have ended.
                ctx.refuse();
            } else if here {
                ctx.raw(rest.get(..mark.len()).unwrap_or_default());
                if !verbatim && self.is_late(&reading) && reading.fresh {
                    self.begin_late(&mut reading, ctx);
                }
                reading.section = if verbatim { Section::Closed } else { Section::Open };
                reading.fresh = false;
                if self.xml.sections {
                    reading.value.as_it_is();
                    reading.text.clear();
                }
                self.state = State::Value(reading);
                return Step::Read(mark.len());
            }
            if verbatim {
                reading.section_goes_on |= rest.starts_with(VERBATIM_END);
                return self.goes_on(reading, rest, 1, ctx);
            }
        }
        let place = self.place(&mut reading, rest, eof, ctx);
        match place {
            AtTag::Wait => {
                self.state = State::Value(reading);
                Step::Wait
            }
            AtTag::Text => {
                let (open, end, close) = self.xml.tag;
                let mark = open.trim_end_matches('<');
                let close = if close.len() > 1 { close } else { end };
                let marks = [mark, end, close].map(str::as_bytes);
                let partial = |mark: &&[u8]| mark.len() > rest.len() && mark.starts_with(rest);
                if open.len() > 1 && !eof && marks.iter().any(partial) {
                    self.state = State::Value(reading);
                    return Step::Wait;
                }
                // A closing tag that lacks its end.
                reading.stray |= rest.starts_with(b"</") && self.role(rest, eof, ctx) == Some(None);
                if open.len() > 1 && marks.iter().any(|mark| rest.starts_with(mark)) {
                    // A control sequence is never text.
                    ctx.refuse();
                }
                self.goes_on(reading, rest, 1, ctx)
            }
            AtTag::Parameters => {
                self.state = State::Between;
                Step::Read(0)
            }
            AtTag::Element => {
                let guide = self.tool(ctx.tools).and_then(|tool| tool.parameter(&reading.key));
                let nested = Nested::new(&reading.key, guide);
                self.state = State::Nested(Box::new(nested));
                Step::Read(0)
            }
            AtTag::Tag(length, key) => {
                if !reading.value.is_string() || reading.inner.len() == DEEPEST {
                    // Only a string has a place for text next to elements.
                    ctx.refuse();
                }
                match key {
                    Some(key) if reading.inner.len() < DEEPEST => reading.inner.push(key),
                    Some(_) => {}
                    None => drop(reading.inner.pop()),
                }
                self.goes_on(reading, rest, length, ctx)
            }
            AtTag::Stray(length, unclear) => {
                if unclear {
                    ctx.refuse();
                }
                reading.stray = true;
                self.goes_on(reading, rest, length, ctx)
            }
            AtTag::Part(length) => self.goes_on(reading, rest, length, ctx),
            AtTag::Cut => {
                ctx.stop_short();
                self.repairs += 1;
                self.finish_value(*reading, true, ctx);
                Step::Read(0)
            }
            AtTag::End(length) => {
                let whole = reading.key.is_empty();
                self.repairs += usize::from(length == 0);
                if length == 0 && reading.fresh {
                    // What comes next is there before the value is.
                    ctx.stop_short();
                }
                self.finish_value(*reading, length == 0, ctx);
                ctx.markup(rest.get(..length).unwrap_or_default());
                if !whole {
                    return Step::Read(length);
                }
                self.end(CallOutcome::Whole, false, ctx);
                ctx.flush_end(true);
                Step::Done(length)
            }
        }
    }

    /// So many bytes are part of the value, which goes on.
    fn goes_on<S: CallSink>(
        &mut self,
        mut reading: Box<OpenValue>,
        rest: &[u8],
        length: usize,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        self.pass(&mut reading, rest.get(..length).unwrap_or_default(), ctx);
        self.state = State::Value(reading);
        Step::Read(length)
    }

    fn pass<S: CallSink>(&mut self, reading: &mut OpenValue, bytes: &[u8], ctx: &mut Ctx<'_, S>) {
        let solid = bytes.iter().rev().find(|byte| !byte.is_ascii_whitespace());
        reading.solid = solid.copied().unwrap_or(reading.solid);
        let blank = solid.is_none();
        if self.xml.sections && reading.section == Section::Closed {
            ctx.raw(bytes);
            reading.last = bytes.last().copied().unwrap_or(reading.last);
            // White space after a section is around it, unless text follows.
            reading.text.extend_from_slice(bytes);
            if !blank || reading.text.len() > SPACE {
                reading.section = Section::None;
                let text = std::mem::take(&mut reading.text);
                reading.value.push(&text, ctx);
            }
            return;
        }
        if self.xml.sections && reading.fresh && !self.is_late(reading) {
            // So is that before one.
            if blank && reading.text.len() + bytes.len() <= SPACE {
                ctx.raw(bytes);
                reading.last = bytes.last().copied().unwrap_or(reading.last);
                reading.text.extend_from_slice(bytes);
                return;
            }
            reading.fresh = false;
            let text = std::mem::take(&mut reading.text);
            reading.value.push(&text, ctx);
        }
        if reading.fresh && self.is_late(reading) {
            // Whether the value is text or elements shows only now.
            if blank && reading.text.len() <= SPACE {
                reading.text.extend_from_slice(bytes);
                ctx.raw(bytes);
                return;
            }
            self.begin_late(reading, ctx);
        }
        reading.fresh &= blank;
        reading.last = bytes.last().copied().unwrap_or(reading.last);
        ctx.raw(bytes);
        reading.value.push(bytes, ctx);
    }

    /// Whether the mark at the start of a section, or that at its end, is here. What looks like its end is a
    /// part of the section if anything but a tag or another section follows. `None` waits for more.
    fn is_mark<S>(&self, mark: &[u8], rest: &[u8], eof: bool, ctx: &Ctx<'_, S>) -> Option<bool> {
        let Some(after) = rest.strip_prefix(mark) else {
            return if mark.starts_with(rest) && !eof { None } else { Some(false) };
        };
        if mark == VERBATIM {
            return Some(true);
        }
        let (space, next) = past_space(after, eof)?;
        if next.is_empty() || space == SPACE || next.starts_with(VERBATIM) {
            return Some(true);
        }
        if VERBATIM.starts_with(next) && !eof {
            return None;
        }
        Some(!matches!(self.role(next, eof, ctx)?, None | Some((Role::Other, _))))
    }

    /// Whether a `CDATA` section may begin here.
    fn may_open_section(&self, reading: &OpenValue) -> bool {
        match self.xml.layout {
            Layout::Tools => reading.fresh,
            // A text with the end of a section in it is written as two.
            _ => self.xml.sections && (reading.fresh || reading.section == Section::Closed),
        }
    }

    /// Whether the key of the value was not emitted yet.
    fn is_late(&self, reading: &OpenValue) -> bool {
        self.xml.layout == Layout::Keys || reading.key.is_empty()
    }

    fn begin_late<S: CallSink>(&mut self, reading: &mut OpenValue, ctx: &mut Ctx<'_, S>) {
        if reading.key.is_empty() {
            let own = self.tool(ctx.tools).and_then(|tool| tool.parameters.first().cloned());
            self.member(own.as_deref().unwrap_or("result"), ctx);
        } else {
            self.member(&reading.key, ctx);
        }
        reading.fresh = false;
        let text = std::mem::take(&mut reading.text);
        reading.value.push(&text, ctx);
    }

    fn finish_value<S: CallSink>(
        &mut self,
        mut reading: OpenValue,
        unclosed: bool,
        ctx: &mut Ctx<'_, S>,
    ) {
        if reading.fresh && self.is_late(&reading) {
            self.begin_late(&mut reading, ctx);
        }
        if reading.section == Section::None {
            let text = std::mem::take(&mut reading.text);
            reading.value.push(&text, ctx);
        }
        let valid = reading.value.finish(unclosed, ctx);
        self.repairs += reading.value.repairs.count;
        let tag = unclosed && (reading.stray || reading.solid == b'>');
        if !valid || reading.open > 0 || tag {
            // Another parameter may have begun in it, or the value may have ended earlier.
            ctx.refuse();
        }
        if reading.value.begins_list() {
            self.list = Some(reading.key);
        }
    }
}
