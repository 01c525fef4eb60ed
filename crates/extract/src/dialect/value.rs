//! Values that are written as bare text, until the schema says what they are.

mod number;

use std::sync::Arc;

use number::number;
use wiremend_core::{Guide, JsonType, MendOptions, Mender, Outcome, Risk, mend};

use super::{
    arguments::{Mended, escape},
    out::Ctx,
    repairs::Repairs,
    shape::{Trim, Untyped, Xml},
    sink::CallSink,
    tags::{LONGEST_ENTITY, Stated, entity},
    tools::{Typing, typing},
};

/// The longest text that may turn out to be a number or a literal, in bytes.
const LONGEST_SCALAR: usize = 400;
/// The longest white space at the end of a value that is removed, in bytes.
const LONGEST_SPACE: usize = 4096;

/// A value that is being read.
#[derive(Clone, Debug)]
pub(super) struct Value {
    guide: Option<Arc<dyn Guide>>,
    typing: Typing,
    untyped: Untyped,
    trim: Trim,
    entities: bool,
    /// Whether an entity was decoded.
    decoded: bool,
    state: State,
    /// Whether only what is removed at the start was read.
    at_start: bool,
    /// An entity that is not complete.
    entity: Vec<u8>,
    /// What may be removed at the end.
    tail: Vec<u8>,
    /// A character that is not complete.
    partial: Vec<u8>,
    pub(super) repairs: Repairs,
    /// Whether there was a `<` in what is no JSON.
    marked: bool,
    /// Whether it is an item of a list that is open.
    pub(super) is_item: bool,
    begins_list: bool,
    /// Whether nothing of it is held back.
    verbatim: bool,
}

#[derive(Clone, Debug)]
enum State {
    /// It is not known what it is.
    Held(Vec<u8>),
    String,
    Json(Box<Mender>),
}

impl Value {
    /// Begins a value. `stated` is what its tag says about it.
    pub(super) fn new(guide: Option<Arc<dyn Guide>>, xml: &Xml, stated: Option<Stated>) -> Self {
        let mut guide = guide;
        let typing = match stated {
            Some(Stated::String) => Typing::Text,
            // The model has named the type, so the value has it, whatever the schema would rather have.
            Some(Stated::Type(kind)) => {
                guide = guide.filter(|guide| guide.allows(kind));
                Typing::Json
            }
            Some(Stated::Json) if guide.is_none() => Typing::Json,
            _ => typing(guide.as_ref()),
        };
        Self {
            guide,
            typing,
            untyped: xml.untyped,
            trim: xml.trim,
            entities: xml.entities,
            decoded: false,
            state: State::Held(Vec::new()),
            at_start: true,
            entity: Vec::new(),
            tail: Vec::new(),
            partial: Vec::new(),
            repairs: Repairs::default(),
            marked: false,
            is_item: false,
            begins_list: false,
            verbatim: false,
        }
    }

    /// Whether the value is no container, and no string either.
    pub(super) fn is_scalar(&self) -> bool {
        self.is_json() && !self.allows(JsonType::Object) && !self.allows(JsonType::Array)
    }

    /// Whether the value was the first item of a list, and the list is open now.
    pub(super) const fn begins_list(&self) -> bool {
        self.begins_list || self.is_item
    }

    /// Whether the value ends in a string of its JSON so far.
    pub(super) fn is_in_string(&mut self) -> bool {
        match &mut self.state {
            State::Json(mender) => mender.ends_in_string(),
            _ => false,
        }
    }

    /// Whether the value is anything but a string.
    pub(super) fn is_json(&self) -> bool {
        self.typing == Typing::Json
    }

    /// Whether the value is nothing but a string.
    pub(super) fn is_string(&self) -> bool {
        self.typing == Typing::Text
    }

    pub(super) fn push<S: CallSink>(&mut self, bytes: &[u8], ctx: &mut Ctx<'_, S>) {
        if !self.entities {
            self.put(bytes, ctx);
            return;
        }
        let mut done = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            if self.entity.is_empty() {
                if byte == b'<' {
                    // Nobody has escaped the text, so what looks like an entity is one of a document in it.
                    if self.decoded {
                        ctx.refuse();
                    }
                    self.entities = false;
                    break;
                }
                if byte == b'&' {
                    self.put(bytes.get(done..at).unwrap_or_default(), ctx);
                    self.entity.push(byte);
                    done = at + 1;
                }
                continue;
            }
            done = at + 1;
            self.entity.push(byte);
            let name =
                std::str::from_utf8(self.entity.get(1..self.entity.len() - 1).unwrap_or_default());
            if byte == b';'
                && let Some(c) = name.ok().and_then(entity)
            {
                self.entity.clear();
                self.decoded = true;
                self.put(c.encode_utf8(&mut [0; 4]).as_bytes(), ctx);
            } else if self.entity.len() >= LONGEST_ENTITY
                || !(byte.is_ascii_alphanumeric() || byte == b'#')
            {
                let again = byte == b'&';
                let mut text = std::mem::take(&mut self.entity);
                if again {
                    text.pop();
                    self.entity.push(b'&');
                }
                self.put(&text, ctx);
            }
        }
        self.put(bytes.get(done..).unwrap_or_default(), ctx);
    }

    /// Reads decoded text.
    fn put<S: CallSink>(&mut self, bytes: &[u8], ctx: &mut Ctx<'_, S>) {
        if bytes.is_empty() {
            return;
        }
        self.marked |= bytes.contains(&b'<');
        match &mut self.state {
            State::Json(mender) => {
                mender.push(bytes, &mut Mended::new(ctx, &mut self.repairs, &[]));
            }
            State::String => self.put_text(bytes, ctx),
            State::Held(held) => {
                held.extend_from_slice(bytes);
                self.decide(ctx);
            }
        }
    }

    /// What follows is the value as it is, without anything to remove. Before it, there was only white space.
    pub(super) fn as_it_is(&mut self) {
        (self.trim, self.entities, self.at_start) = (Trim::Nothing, false, false);
        self.verbatim = true;
        self.tail.clear();
        if let State::Held(text) = &mut self.state
            && text.trim_ascii().is_empty()
        {
            text.clear();
        }
    }

    fn put_text<S: CallSink>(&mut self, bytes: &[u8], ctx: &mut Ctx<'_, S>) {
        let mut text = std::mem::take(&mut self.tail);
        text.extend_from_slice(bytes);
        let mut from = 0;
        if self.at_start {
            match self.trim {
                Trim::Nothing => self.at_start = false,
                Trim::Newline | Trim::Lines if text == b"\r" => {
                    self.tail = text;
                    return;
                }
                Trim::Newline | Trim::Lines => {
                    self.at_start = false;
                    from = if text.starts_with(b"\r\n") {
                        2
                    } else {
                        usize::from(text.starts_with(b"\n"))
                    };
                    if self.trim == Trim::Lines {
                        self.trim = if from > 0 { Trim::Newline } else { Trim::Nothing };
                    }
                }
                Trim::Space => {
                    from = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                    self.at_start = from == text.len();
                }
            }
        }
        let text = text.get(from..).unwrap_or_default();
        let keep = match self.trim {
            Trim::Lines => 0,
            // A line end belongs to the value if the closing tag follows.
            Trim::Nothing if self.verbatim => 0,
            Trim::Newline | Trim::Nothing if text.ends_with(b"\r\n") => 2,
            Trim::Newline | Trim::Nothing => {
                usize::from(matches!(text.last(), Some(b'\n' | b'\r')))
            }
            Trim::Space => text.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count(),
        };
        let keep = if keep > LONGEST_SPACE { 0 } else { keep };
        let (now, later) = text.split_at(text.len() - keep);
        let now = now.to_vec();
        self.tail = later.to_vec();
        self.emit(&now, false, ctx);
    }

    /// Emits text as the content of a string. What is not UTF-8 is replaced.
    fn emit<S: CallSink>(&mut self, text: &[u8], last: bool, ctx: &mut Ctx<'_, S>) {
        let mut bytes = std::mem::take(&mut self.partial);
        bytes.extend_from_slice(text);
        let mut json = Vec::with_capacity(bytes.len() + 8);
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            escape(chunk.valid().as_bytes(), &mut json);
            let invalid = chunk.invalid();
            let open = chunks.peek().is_none() && !last && is_partial(invalid);
            if open {
                self.partial = invalid.to_vec();
            } else if !invalid.is_empty() {
                self.repairs.count += 1;
                json.extend_from_slice("\u{FFFD}".as_bytes());
            }
        }
        ctx.arguments(&json);
    }

    /// Decides what the held text is, as soon as it is certain.
    fn decide<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        let State::Held(held) = &self.state else { return };
        let text = held.trim_ascii_start();
        let Some(&first) = text.first() else {
            if self.is_text() || held.len() > LONGEST_SPACE {
                self.become_string(ctx);
            }
            return;
        };
        let container = matches!(first, b'{' | b'[');
        let scalar = matches!(
            first,
            b'-' | b'+' | b'.' | b'0'..=b'9' | b't' | b'f' | b'n' | b'T' | b'F' | b'N'
        );
        let string = match self.typing {
            Typing::Text => true,
            // A fence around the value is taken off.
            Typing::Json if container || matches!(first, b'"' | b'`') => {
                self.become_json(ctx);
                return;
            }
            Typing::Json => text.len() > LONGEST_SCALAR,
            Typing::Either if container => {
                let kind = if first == b'{' { JsonType::Object } else { JsonType::Array };
                !self.allows(kind)
            }
            Typing::Either => !scalar,
            Typing::Unknown => match self.untyped {
                Untyped::Text => true,
                Untyped::Scalars => !scalar,
                Untyped::Json => !(scalar || container || first == b'"'),
            },
        };
        let limit = ctx.options.limits().buffer();
        let long = if container || first == b'"' {
            held.len() > limit
        } else {
            text.len() > LONGEST_SCALAR
        };
        if string || long {
            self.become_string(ctx);
        }
    }

    fn is_text(&self) -> bool {
        self.typing == Typing::Text
            || self.typing == Typing::Unknown && self.untyped == Untyped::Text
    }

    fn allows(&self, kind: JsonType) -> bool {
        self.guide.as_ref().is_none_or(|guide| guide.allows(kind))
    }

    fn become_string<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        if let State::Held(held) = std::mem::replace(&mut self.state, State::String) {
            ctx.arguments(b"\"");
            self.put_text(&held, ctx);
        }
    }

    fn become_json<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        let options = match &self.guide {
            Some(guide) => ctx.options.clone().with_guide(Arc::clone(guide)),
            None => ctx.options.clone(),
        };
        let mender = State::Json(Box::new(Mender::new(options)));
        if let State::Held(held) = std::mem::replace(&mut self.state, mender) {
            self.put(held.trim_ascii_start(), ctx);
        }
    }

    /// Ends the value, whose closing tag may be missing: then a line end comes after it. Returns whether
    /// it is valid.
    pub(super) fn finish<S: CallSink>(&mut self, unclosed: bool, ctx: &mut Ctx<'_, S>) -> bool {
        let entity = std::mem::take(&mut self.entity);
        self.put(&entity, ctx);
        if let State::Held(held) = &self.state {
            match self.scalar(held.trim_ascii(), ctx.options) {
                Some(json) => {
                    ctx.arguments(&json);
                    return true;
                }
                None if self.is_first_item() => {
                    let item = self.guide.as_ref().and_then(|guide| guide.item(0));
                    let value =
                        Self { guide: item.clone(), typing: typing(item.as_ref()), ..self.clone() };
                    let text = String::from_utf8_lossy(held.trim_ascii()).into_owned();
                    let json = value.scalar(text.as_bytes(), ctx.options).unwrap_or_else(|| {
                        let mut json = Vec::new();
                        super::arguments::quote(text.as_bytes(), &mut json);
                        json
                    });
                    ctx.arguments(b"[");
                    ctx.arguments(&json);
                    self.begins_list = true;
                    let element = text.starts_with('<') && text.ends_with('>');
                    return !self.marked || value.typing != Typing::Json && !element;
                }
                None => self.become_string(ctx),
            }
        }
        match &mut self.state {
            State::Json(mender) => {
                let outcome = Mended::new(ctx, &mut self.repairs, &[]).finish(mender);
                if outcome == Outcome::None {
                    ctx.arguments(b"null");
                }
                outcome.is_valid() || outcome == Outcome::None
            }
            _ => {
                if self.trim == Trim::Nothing && !unclosed
                    || self.at_start && self.trim != Trim::Space
                {
                    let tail = std::mem::take(&mut self.tail);
                    self.emit(&tail, true, ctx);
                } else {
                    self.emit(b"", true, ctx);
                }
                ctx.arguments(b"\"");
                // What may be no text holds no tags.
                self.typing != Typing::Json || !self.marked
            }
        }
    }

    /// Whether the value must be a list, and its text is not: it is an item then, and the others are
    /// parameters of their own.
    fn is_first_item(&self) -> bool {
        let others = [JsonType::Object, JsonType::Number, JsonType::Boolean, JsonType::Null];
        let State::Held(held) = &self.state else { return false };
        let list = self.typing == Typing::Json && self.allows(JsonType::Array);
        // A list that is written as text is for the schema to divide.
        let divided = |byte: &u8| matches!(byte, b',' | b';' | b'|' | b'\n');
        let text = held.trim_ascii();
        list && !self.is_item
            && !text.is_empty()
            && !text.iter().any(divided)
            && !others.into_iter().any(|other| self.allows(other))
    }

    /// The JSON text for a value that is no string.
    fn scalar(&self, text: &[u8], options: &MendOptions) -> Option<Vec<u8>> {
        let text = std::str::from_utf8(text).ok()?;
        let free = self.typing == Typing::Unknown;
        if self.typing == Typing::Text || free && self.untyped == Untyped::Text {
            return None;
        }
        let literal = |word: &str| {
            if free { text == word } else { text.eq_ignore_ascii_case(word) }
        };
        if text.is_empty() && self.typing == Typing::Json {
            let empty =
                [(JsonType::Null, "null"), (JsonType::Object, "{}"), (JsonType::Array, "[]")];
            let fits = empty.into_iter().find(|(kind, _)| self.allows(*kind));
            return fits.map(|(_, json)| json.as_bytes().to_vec());
        }
        if (literal("null") || literal("None")) && self.allows(JsonType::Null) {
            return Some(b"null".to_vec());
        }
        if self.allows(JsonType::Number)
            && let Some(number) = number(text)
            && (self.typing == Typing::Json || number == text)
        {
            return Some(number.into_bytes());
        }
        for (word, python) in [("true", "True"), ("false", "False")] {
            if (literal(word) || literal(python)) && self.allows(JsonType::Boolean) {
                return Some(word.as_bytes().to_vec());
            }
        }
        if !text.starts_with(['{', '[', '"']) {
            return None;
        }
        // Where a string is possible, text is JSON only if it is clearly meant to be.
        let mended = mend(text.as_bytes(), options);
        let exact = mended.repairs().iter().all(|repair| repair.risk() == Risk::Exact);
        let json = mended.text().filter(|_| mended.outcome().is_complete() && exact)?;
        Some(json.as_bytes().to_vec())
    }
}

/// Whether these bytes may begin a character that is not complete.
fn is_partial(bytes: &[u8]) -> bool {
    let length = match bytes.first() {
        Some(0xC2..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF4) => 4,
        _ => return false,
    };
    bytes.len() < length
}

/// The JSON text of bare text that was read as a whole.
pub(super) fn of_text(
    text: &[u8],
    guide: Option<Arc<dyn Guide>>,
    xml: &Xml,
    options: &MendOptions,
) -> Vec<u8> {
    let value = Value::new(guide, xml, None);
    value.scalar(text.trim_ascii(), options).unwrap_or_else(|| {
        let mut json = Vec::new();
        super::arguments::quote(String::from_utf8_lossy(text).as_bytes(), &mut json);
        json
    })
}
