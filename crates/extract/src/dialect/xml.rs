//! Calls as tags, with named parameters.

mod begins;
mod body;
mod elements;
mod ends;
mod stray;
mod values;

pub(super) use begins::{Opening, open};

use super::{
    arguments::Object,
    json::{JsonCall, Step},
    nested::Nested,
    out::Ctx,
    shape::{Layout, Xml},
    sink::{CallOutcome, CallSink},
    tags::{Lexed, Role, Stated, tag},
    tools::{Tool, Tools},
    value::Value,
};

/// The longest name of a call or a parameter, in bytes.
const LONGEST_NAME: usize = 256;
/// The longest key of a pair, with the type of its value and the tags around both, in bytes.
const HEADER: usize = 1024;
/// A tool of which the whole body is its only parameter, unless its schema has more.
const FREE_TEXT: &str = "attempt_completion";

/// A call as tags.
#[derive(Clone, Debug)]
pub(super) struct XmlCall {
    xml: Box<Xml>,
    name: String,
    object: Object,
    state: State,
    /// Whether there was anything between parameters that is none.
    junk: bool,
    /// The key of a list whose items are parameters of their own, as long as it may go on.
    list: Option<String>,
    repairs: usize,
    /// Whether its tag has closed it.
    closed: bool,
}

#[derive(Clone, Debug)]
enum State {
    /// Between parameters.
    Between,
    /// After the tag of a key, up to the value of the pair.
    Pair,
    Value(Box<OpenValue>),
    /// Elements inside of a value.
    Nested(Box<Nested>),
    /// Arguments in JSON. The last says that an element is around them.
    Body(Box<JsonCall>, bool),
    /// After the element with all arguments, up to the end of the call.
    AfterBody,
}

/// What comes next in the header of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Header {
    Key,
    Value,
    Type,
}

/// Where in a value a `CDATA` section is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    /// None has begun.
    None,
    /// The reader is in one.
    Open,
    /// The last one has ended. Another one, or the end of the value, may follow.
    Closed,
}

/// A value that is being read.
#[derive(Clone, Debug)]
struct OpenValue {
    key: String,
    value: Value,
    /// The last byte that was read.
    last: u8,
    /// Whether nothing but white space was read.
    fresh: bool,
    section: Section,
    /// Whether what ends a section was a part of it.
    section_goes_on: bool,
    /// White space, until it is known whether text, elements or a section follow.
    text: Vec<u8>,
    /// The elements that are open in the text.
    inner: Vec<String>,
    /// Whether its tag is an element with the name of the parameter.
    element: bool,
    /// How many tags in its text may be those of further parameters, and were not closed there.
    open: usize,
    /// Whether there is what may be a closing tag in its text.
    stray: bool,
    /// The last byte that was no white space.
    solid: u8,
    /// How many tags around calls and of calls are open in its text.
    shown: usize,
}

/// Whether a key is what is left of a damaged tag. Where tags are control tokens, `<` is a letter.
fn is_damaged(key: &str, xml: &Xml) -> bool {
    let tag = xml.tag.0 == "<";
    let mark =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'') || tag && matches!(c, '<' | '>');
    key.is_empty() || key.contains(mark) || key.contains(xml.tag.0) || key.contains(xml.tag.1)
}

impl XmlCall {
    /// A call that has begun.
    pub(super) fn new<S: CallSink>(xml: &Xml, opening: &Opening, ctx: &mut Ctx<'_, S>) -> Self {
        if opening.damaged {
            ctx.refuse();
        }
        let mut call = Self {
            xml: Box::new(xml.clone()),
            name: opening.name.clone(),
            object: Object::default(),
            state: State::Between,
            junk: false,
            list: None,
            repairs: 0,
            closed: opening.closed,
        };
        if xml.layout == Layout::Tools && opening.name == FREE_TEXT && !opening.closed {
            call.state =
                State::Value(Box::new(OpenValue::new(String::new(), Value::new(None, xml, None))));
        }
        call
    }

    pub(super) fn step<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        if self.closed {
            self.end(CallOutcome::Whole, false, ctx);
            ctx.flush_end(true);
            return Step::Done(0);
        }
        let state = std::mem::replace(&mut self.state, State::Between);
        match state {
            State::Between => self.between(rest, eof, ctx),
            State::Pair => self.pair(rest, eof, ctx),
            State::Value(reading) => self.value(reading, rest, eof, ctx),
            State::Nested(nested) => self.nested(nested, rest, eof, ctx),
            State::Body(body, element) => self.read_body(body, element, rest, eof, ctx),
            State::AfterBody => self.after_body(rest, eof, ctx),
        }
    }

    /// What was read and is not emitted yet.
    pub(super) fn pending(&self) -> &[u8] {
        match &self.state {
            State::Body(body, _) => body.pending(),
            _ => b"",
        }
    }

    fn tool<'t>(&self, tools: &'t Tools) -> Option<&'t Tool> {
        tools.known(&self.name)
    }

    /// What the tag at the start of `rest` means, and its length. The outer `None` waits for more.
    fn role<S>(&self, rest: &[u8], eof: bool, ctx: &Ctx<'_, S>) -> Option<Option<(Role, usize)>> {
        match tag(rest, &self.xml, eof) {
            Lexed::Wait => None,
            Lexed::No => Some(None),
            Lexed::Tag(tag) => {
                let role = tag.role(&self.xml, ctx.tools, self.tool(ctx.tools));
                Some(Some((role, tag.length)))
            }
        }
    }

    fn begins_tag(&self, byte: u8) -> bool {
        let (open, end, _) = self.xml.tag;
        [open, end].iter().any(|mark| mark.as_bytes().first() == Some(&byte))
            || byte == b'|' && self.xml.prefix != super::shape::Prefix::None
    }

    fn between<S: CallSink>(&mut self, rest: &[u8], eof: bool, ctx: &mut Ctx<'_, S>) -> Step {
        let space = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if space > 0 {
            ctx.markup(rest.get(..space).unwrap_or_default());
            return Step::Read(space);
        }
        let Some(&first) = rest.first() else {
            return if eof { self.cut(ctx) } else { Step::Wait };
        };
        let empty = self.object.len() == 0 && !self.junk;
        if first == b'{' && empty && self.xml.layout != Layout::Tools {
            return self.body(ctx);
        }
        let tag = match tag(rest, &self.xml, eof) {
            Lexed::Wait => return Step::Wait,
            Lexed::No => return self.no_tag(rest, eof, ctx),
            Lexed::Tag(tag) => tag,
        };
        let role = tag.role(&self.xml, ctx.tools, self.tool(ctx.tools));
        let length = tag.length;
        let bytes = rest.get(..length).unwrap_or_default();
        match role {
            Role::Parameter(key, stated) => {
                ctx.markup(bytes);
                if tag.damaged {
                    // A part of the value, or of another one, may be in it.
                    ctx.refuse();
                }
                self.begin(key, stated, ctx);
            }
            Role::Key => {
                ctx.markup(bytes);
                self.state = State::Pair;
            }
            Role::CallEnd => {
                ctx.markup(bytes);
                self.end(CallOutcome::Whole, false, ctx);
                ctx.flush_end(true);
                return Step::Done(length);
            }
            Role::Call(_) | Role::Wrapper | Role::WrapperEnd => {
                // Another call begins where the first parameter was due.
                let none = |tool: &Tool| tool.parameters.is_empty();
                if empty && matches!(role, Role::Call(_)) && !self.tool(ctx.tools).is_some_and(none)
                {
                    ctx.stop_short();
                }
                self.end(CallOutcome::Whole, false, ctx);
                ctx.flush_end(false);
                return Step::Done(0);
            }
            Role::Separator => ctx.markup(bytes),
            Role::Body if empty => {
                ctx.markup(bytes);
                self.body_element(ctx);
            }
            Role::ParameterEnd(_)
            | Role::KeyEnd
            | Role::ValueEnd
            | Role::TypeEnd
            | Role::BodyEnd => {
                // It closes nothing.
                self.repairs += 1;
                ctx.markup(bytes);
            }
            Role::Value | Role::Type | Role::Body | Role::Other => self.stray(bytes, ctx),
        }
        Step::Read(length)
    }

    fn begin<S: CallSink>(&mut self, key: String, stated: Option<Stated>, ctx: &mut Ctx<'_, S>) {
        let tool = self.tool(ctx.tools);
        if is_damaged(&key, &self.xml) && !tool.is_some_and(|tool| tool.has(&key)) {
            ctx.refuse();
        }
        let mut guide = tool.and_then(|tool| tool.parameter(&key));
        let goes_on = self.list.as_deref() == Some(&key);
        if goes_on {
            guide = guide.and_then(|guide| guide.item(0));
        } else if self.object.has(&key) {
            // Nobody knows which of the two values counts.
            ctx.refuse();
        }
        let mut value = Value::new(guide, &self.xml, stated);
        value.is_item = goes_on;
        if self.xml.layout != Layout::Keys {
            self.member(&key, ctx);
        }
        self.state = State::Value(Box::new(OpenValue::new(key, value)));
    }

    /// Begins a member, or the next item of a list.
    fn member<S: CallSink>(&mut self, key: &str, ctx: &mut Ctx<'_, S>) {
        if self.list.as_deref() == Some(key) {
            ctx.arguments(b", ");
            return;
        }
        self.end_list(ctx);
        self.object.key(key, ctx);
    }

    fn end_list<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        if self.list.take().is_some() {
            ctx.arguments(b"]");
        }
    }

    fn end<S: CallSink>(&mut self, outcome: CallOutcome, at_end: bool, ctx: &mut Ctx<'_, S>) {
        self.end_list(ctx);
        self.object.end(ctx);
        ctx.end(outcome, self.repairs + usize::from(self.junk), at_end);
    }

    /// The input ended inside the call.
    fn cut<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) -> Step {
        let closed = ctx.end_closes() && self.object.len() > 0;
        let outcome = if closed { CallOutcome::Whole } else { CallOutcome::Cut };
        self.end(outcome, true, ctx);
        ctx.flush_end(false);
        Step::Done(0)
    }

    /// Reads the key of a pair, and the type of its value, up to the value.
    fn pair<S: CallSink>(&mut self, rest: &[u8], eof: bool, ctx: &mut Ctx<'_, S>) -> Step {
        let (mut expected, mut key, mut stated) = (Header::Key, String::new(), None);
        let (mut start, mut at) = (0, 0);
        while at < HEADER {
            let near = rest.get(at..HEADER).or(rest.get(at..)).unwrap_or_default();
            at += near.iter().take_while(|byte| !self.begins_tag(**byte)).count();
            let here = rest.get(at..).unwrap_or_default();
            if here.is_empty() && eof {
                ctx.markup(rest);
                self.cut(ctx);
                return Step::Done(at);
            }
            let role = if here.is_empty() { None } else { self.role(here, eof, ctx) };
            let Some(role) = role else {
                self.state = State::Pair;
                return Step::Wait;
            };
            let text = String::from_utf8_lossy(rest.get(start..at).unwrap_or_default());
            match (expected, role) {
                (Header::Type, _) => {
                    (expected, stated) = (Header::Value, Some(Stated::by_name(text.trim())));
                }
                (Header::Value, _) if !text.trim().is_empty() => break,
                (Header::Key, Some((Role::KeyEnd, length))) => {
                    (expected, key) = (Header::Value, text.trim().to_owned());
                    at += length;
                }
                (_, Some((Role::Value, length))) => {
                    if expected == Header::Key {
                        text.trim().clone_into(&mut key);
                    }
                    ctx.markup(rest.get(..at + length).unwrap_or_default());
                    self.begin(key, stated, ctx);
                    return Step::Read(at + length);
                }
                (Header::Value, Some((Role::Type, length))) => {
                    expected = Header::Type;
                    at += length;
                }
                (Header::Value, Some((Role::TypeEnd | Role::Separator, length))) => at += length,
                (Header::Value, _) | (_, Some((Role::CallEnd | Role::WrapperEnd, _))) => break,
                (Header::Key, _) => {
                    at += 1;
                    continue;
                }
            }
            start = at;
        }
        // A key has no value, so nobody knows what the call was to be. It is read up to its end.
        ctx.stop_short();
        ctx.markup(rest.get(..at).unwrap_or_default());
        self.state = State::Between;
        Step::Read(at)
    }
}

impl OpenValue {
    fn new(key: String, value: Value) -> Self {
        Self {
            key,
            value,
            last: b'\n',
            fresh: true,
            section: Section::None,
            text: Vec::new(),
            inner: Vec::new(),
            element: false,
            open: 0,
            stray: false,
            solid: b' ',
            shown: 0,
            section_goes_on: false,
        }
    }
}
