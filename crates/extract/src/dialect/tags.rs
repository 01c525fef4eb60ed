//! Tags: what they are made of, and what they mean.

use wiremend_core::JsonType;

use super::{
    shape::{BARS, Layout, Prefix, Xml},
    tools::{Tool, Tools},
};

/// The longest tag, in bytes.
pub(super) const LONGEST_TAG: usize = 1024;
/// The longest name of an element, in bytes.
const LONGEST_WORD: usize = 128;

const PARAMETERS: [&str; 3] = ["parameter", "param", "argument"];
const PARTS: [&str; 4] = ["arg_key", "arg_value", "arg_type", "tool_sep"];

/// A tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) end: bool,
    pub(super) word: String,
    /// What follows the name of the element after `=`.
    value: Option<String>,
    attributes: Vec<(String, String)>,
    /// Whether it has something in it that is no attribute which means anything here.
    pub(super) damaged: bool,
    /// Whether it closes the element that it opens: `<f/>`.
    pub(super) closed: bool,
    pub(super) length: usize,
}

/// What is at a place that may begin a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lexed {
    /// More is needed.
    Wait,
    No,
    Tag(Tag),
}

/// What a tag means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Wrapper,
    WrapperEnd,
    Call(String),
    CallEnd,
    /// A parameter, and what its value is said to be.
    Parameter(String, Option<Stated>),
    ParameterEnd(String),
    Key,
    KeyEnd,
    Value,
    ValueEnd,
    Type,
    TypeEnd,
    Separator,
    /// The element that has all arguments as one JSON text.
    Body,
    BodyEnd,
    Other,
}

/// What a template states about a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stated {
    String,
    /// Any other JSON.
    Json,
    Type(JsonType),
}

impl Stated {
    /// What the name of a type says.
    pub(super) fn by_name(name: &str) -> Self {
        match name {
            "string" => Self::String,
            "number" | "integer" => Self::Type(JsonType::Number),
            "boolean" => Self::Type(JsonType::Boolean),
            "null" => Self::Type(JsonType::Null),
            "array" => Self::Type(JsonType::Array),
            "object" => Self::Type(JsonType::Object),
            _ => Self::Json,
        }
    }
}

impl Tag {
    /// Whether its name is in an attribute, as in `<function name="f">`, and not after `=`.
    pub(super) fn is_named_by_attribute(&self) -> bool {
        self.value.is_none() && self.attribute(&["name"]).is_some()
    }

    pub(super) const fn has_attributes(&self) -> bool {
        !self.attributes.is_empty()
    }

    /// Whether it is the tag of an element that has nothing but a name and a content.
    pub(super) const fn is_plain(&self) -> bool {
        !self.has_attributes() && !self.closed && !self.damaged && self.value.is_none()
    }

    fn attribute(&self, names: &[&str]) -> Option<&str> {
        let found = self.attributes.iter().find(|(name, _)| names.contains(&name.as_str()));
        found.map(|(_, value)| value.as_str())
    }

    /// The name in the tag of a call or parameter.
    fn name(&self) -> String {
        let given = self.value.as_deref().or_else(|| self.attribute(&["name", "tool", "key"]));
        given.unwrap_or_default().to_owned()
    }

    /// What the tag means.
    pub(super) fn role(&self, xml: &Xml, tools: &Tools, tool: Option<&Tool>) -> Role {
        let word = self.word.as_str();
        if xml.layout == Layout::Tools {
            return match (self.end, tools.contains(word), tool.is_some_and(|own| own.has(word))) {
                (false, _, true) => Role::Parameter(word.to_owned(), None),
                (true, _, true) => Role::ParameterEnd(word.to_owned()),
                (false, true, _) => Role::Call(word.to_owned()),
                (true, true, _) => Role::CallEnd,
                _ => Role::Other,
            };
        }
        if xml.calls.contains(&word) {
            return if self.end { Role::CallEnd } else { Role::Call(self.name()) };
        }
        if xml.wrappers.contains(&word) {
            return if self.end { Role::WrapperEnd } else { Role::Wrapper };
        }
        match (xml.layout, word, self.end) {
            (Layout::Keys, _, false) => Role::Parameter(word.to_owned(), None),
            (Layout::Keys, _, true) => Role::ParameterEnd(word.to_owned()),
            (Layout::Pairs, "arg_key", false) => Role::Key,
            (Layout::Pairs, "arg_key", true) => Role::KeyEnd,
            (Layout::Pairs, "arg_value", false) => Role::Value,
            (Layout::Pairs, "arg_value", true) => Role::ValueEnd,
            (Layout::Pairs, "arg_type", false) => Role::Type,
            (Layout::Pairs, "arg_type", true) => Role::TypeEnd,
            (Layout::Pairs, "tool_sep", _) => Role::Separator,
            (Layout::Parameters, _, true) if PARAMETERS.contains(&word) => {
                Role::ParameterEnd(String::new())
            }
            (Layout::Parameters, _, false) if PARAMETERS.contains(&word) => {
                let stated = match (self.attribute(&["string"]), self.attribute(&["type"])) {
                    (Some("true"), _) => Some(Stated::String),
                    (Some(_), _) => Some(Stated::Json),
                    (None, kind) => kind.map(Stated::by_name),
                };
                Role::Parameter(self.name(), stated)
            }
            (Layout::Parameters, _, false) if xml.body == Some(word) => Role::Body,
            (Layout::Parameters, _, true) if xml.body == Some(word) => Role::BodyEnd,
            _ => Role::Other,
        }
    }
}

/// Reads a tag at the start of `rest`.
pub(super) fn tag(rest: &[u8], xml: &Xml, eof: bool) -> Lexed {
    let (open, close, end) = xml.tag;
    let mut partial = false;
    let mut starts = |mark: &str| {
        partial |= rest.len() < mark.len() && mark.as_bytes().starts_with(rest);
        rest.starts_with(mark.as_bytes())
    };
    // The closing mark may begin with the opening one.
    let is_end = starts(close);
    let is_open = starts(open);
    let bars = matches!(xml.prefix, Prefix::Bars(_)) && starts("||");
    if partial && !eof {
        return Lexed::Wait;
    }
    let after = match (is_end, is_open, bars) {
        (true, ..) => close.len(),
        (_, true, _) => open.len(),
        (_, _, true) => 0,
        _ => return Lexed::No,
    };
    read(rest, after, is_end, xml, end, eof).unwrap_or(Lexed::No)
}

/// Reads a tag after its opening mark. `None` if there is none.
fn read(rest: &[u8], from: usize, is_end: bool, xml: &Xml, end: &str, eof: bool) -> Option<Lexed> {
    let wait = || (!eof && rest.len() < LONGEST_TAG).then_some(Lexed::Wait);
    let mut cursor = Cursor { rest, at: from };
    cursor.spaces();
    if cursor.is_partial() && !eof {
        return wait();
    }
    let mut is_end = is_end;
    match xml.prefix {
        Prefix::None => {}
        Prefix::Exact(prefix) => {
            let here = cursor.left();
            if here.starts_with(prefix.as_bytes()) {
                cursor.at += prefix.len();
            } else if prefix.as_bytes().starts_with(here) {
                return wait();
            }
        }
        Prefix::Bars(word) => {
            // The slash may be between the bars and the name.
            cursor.bars();
            if cursor.is_partial() && !eof {
                return wait();
            }
            let here = cursor.left();
            if here.len() < word.len() && word.as_bytes().starts_with(here) {
                return wait();
            }
            if !here.starts_with(word.as_bytes()) {
                return None;
            }
            cursor.at += word.len();
            cursor.bars();
            if cursor.is_partial() && !eof {
                return wait();
            }
            if cursor.left().first() == Some(&b'/') {
                is_end = true;
                cursor.at += 1;
            }
        }
    }
    let word = cursor.word();
    if cursor.left().is_empty() {
        return wait();
    }
    let word = word?;
    let known = |word: &str| {
        matches!(xml.layout, Layout::Keys | Layout::Tools)
            || xml.calls.contains(&word)
            || xml.wrappers.contains(&word)
            || xml.body == Some(word)
            || PARAMETERS.contains(&word)
            || PARTS.contains(&word)
    };
    let mut word = word;
    let mut glued = false;
    if !known(&word) {
        // What is between the tag around calls and that of a call may have been lost, or the space after the
        // name of the element.
        let token = xml.tag.0.len() > 1;
        let mut rests = xml.wrappers.iter().filter_map(|around| word.strip_prefix(around));
        let both = rests.find(|call| token && xml.calls.contains(call));
        glued = both.is_none();
        let short = both.or_else(|| word.strip_suffix("name").filter(|short| known(short)))?;
        word = short.to_owned();
    }
    if word.is_empty() || word.len() > LONGEST_WORD {
        return None;
    }
    let inside = cursor.at;
    loop {
        let here = cursor.left();
        if here.starts_with(end.as_bytes()) {
            break;
        }
        if cursor.at - from > LONGEST_TAG {
            return None;
        }
        if here.is_empty() || here.len() < end.len() && end.as_bytes().starts_with(here) {
            return wait();
        }
        let equals = cursor.at > inside && rest.get(cursor.at - 1) == Some(&b'=');
        match here.first() {
            Some(quote @ (b'"' | b'\'')) if equals => {
                let Some(length) = here.iter().skip(1).position(|byte| byte == quote) else {
                    return if here.len() > LONGEST_TAG { None } else { wait() };
                };
                cursor.at += length + 2;
            }
            Some(b'<' | b'\n' | b'{') => return None,
            _ => cursor.at += 1,
        }
    }
    let text = String::from_utf8_lossy(rest.get(inside..cursor.at)?).replace('Ġ', " ");
    let length = cursor.at + end.len();
    let text = text.trim();
    let whole = text.strip_suffix('/').filter(|_| end == ">" && !is_end);
    let (text, closed) = (whole.map_or(text, str::trim_end), whole.is_some());
    let mut tag = Tag {
        end: is_end,
        word,
        value: None,
        attributes: Vec::new(),
        damaged: false,
        closed,
        length,
    };
    if let Some(value) = text.strip_prefix('=') {
        let value = decoded(unquoted(value));
        if glued {
            tag.attributes.push(("name".to_owned(), value));
        } else {
            tag.value = Some(value);
        }
    } else {
        (tag.attributes, tag.damaged) = attributes(text, xml);
    }
    Some(Lexed::Tag(tag))
}

struct Cursor<'r> {
    rest: &'r [u8],
    at: usize,
}

impl<'r> Cursor<'r> {
    fn left(&self) -> &'r [u8] {
        self.rest.get(self.at..).unwrap_or_default()
    }

    /// Moves past spaces, and past the letter that some tokenizers write for one.
    fn spaces(&mut self) {
        loop {
            match self.left() {
                [b' ', ..] => self.at += 1,
                [0xC4, 0xA0, ..] => self.at += 2,
                _ => break,
            }
        }
    }

    /// Moves past spaces and bars.
    fn bars(&mut self) {
        let here = |left: &[u8]| {
            let begins = |bar: &&&str| left.starts_with(bar.as_bytes());
            if left.first() == Some(&b' ') {
                Some(1)
            } else {
                BARS.iter().find(begins).map(|bar| bar.len())
            }
        };
        while let Some(length) = here(self.left()) {
            self.at += length;
        }
    }

    /// Whether the text ends inside of a character that may be one of those that are passed.
    fn is_partial(&self) -> bool {
        let left = self.left();
        let goes_on = |text: &&str| text.len() > left.len() && text.as_bytes().starts_with(left);
        !left.is_empty() && BARS.iter().chain(&["Ġ"]).any(goes_on)
    }

    fn word(&mut self) -> Option<String> {
        let is_word = |byte: &u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.') || *byte >= 0x80
        };
        let all = self.left();
        let mut length = all.iter().take(LONGEST_WORD + 1).take_while(|byte| is_word(byte)).count();
        let lost = all.windows(2).take(length).position(|two| two == [0xC4, 0xA0]);
        length = lost.unwrap_or(length);
        self.at += length;
        std::str::from_utf8(all.get(..length)?).ok().map(str::to_owned)
    }
}

fn unquoted(value: &str) -> &str {
    let value = value.trim().trim_end_matches('/').trim();
    let inner = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}

fn attributes(text: &str, xml: &Xml) -> (Vec<(String, String)>, bool) {
    let (open, close, end) = xml.tag;
    let (mut found, mut damaged) = (Vec::new(), false);
    let mut rest = text.trim_start();
    while let Some((name, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let (value, left) = match after.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let inner = after.get(1..).unwrap_or_default();
                inner.split_once(quote).unwrap_or((inner, ""))
            }
            _ => after.split_once(' ').unwrap_or((after, "")),
        };
        let name = name.trim();
        // What is in another attribute, or has the mark of a tag in it, would be lost.
        let marked = [open, close, "\n"].iter().any(|mark| value.contains(mark));
        damaged |= !ATTRIBUTES.contains(&name) || marked || value.contains(end) && end.len() > 1;
        found.push((name.to_owned(), decoded(value)));
        rest = left.trim_start();
    }
    damaged |= !rest.trim_matches(['/', ' ']).is_empty() && !found.is_empty();
    (found, damaged)
}

/// The attributes of calls and parameters.
const ATTRIBUTES: [&str; 9] =
    ["name", "tool", "key", "string", "type", "id", "index", "tool_call_id", "call_id"];

/// The text with its entities decoded.
fn decoded(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let end = after.bytes().take(LONGEST_ENTITY).position(|byte| byte == b';');
        match end.and_then(|end| Some((entity(after.get(1..end)?)?, end + 1))) {
            Some((c, length)) => {
                out.push(c);
                rest = after.get(length..).unwrap_or_default();
            }
            None => {
                out.push('&');
                rest = after.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

/// The longest entity, in bytes, from `&` to `;`.
pub(super) const LONGEST_ENTITY: usize = 10;

/// The character of an entity, without `&` and `;`.
pub(super) fn entity(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let digits = name.strip_prefix('#')?;
            let number = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(number)?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, xml: &Xml) -> Option<Tag> {
        match tag(text.as_bytes(), xml, true) {
            Lexed::Tag(tag) => Some(tag),
            _ => None,
        }
    }

    #[test]
    fn names_are_found_in_every_spelling() {
        let xml = Xml::new(&["function", "invoke"], &[]);
        for text in [
            "<function=f>",
            "< function = f >",
            "<function name=\"f\">",
            "<function name='f'>",
            "<functionname=\"f\">",
            "<functionĠname=\"f\">",
            "<invoke name=f>",
        ] {
            let role = read(text, &xml).unwrap().role(&xml, &Tools::new(), None);
            assert_eq!(role, Role::Call("f".to_owned()), "{text}");
        }
        assert_eq!(read("<functional>", &xml), None);
        assert_eq!(read("<function\n>", &xml), None);
    }

    #[test]
    fn bars_may_be_doubled_spaced_and_wide() {
        let xml = Xml::new(&["invoke"], &["calls"]).prefix(Prefix::Bars("DSML"));
        for text in [
            "<｜DSML｜invoke name=\"f\">",
            "<｜DSML｜ invoke name=\"f\">",
            "< | DSML | invoke name=\"f\">",
            "||DSML||invoke name=\"f\">",
            "<|DSML|invoke name=\"f\">",
        ] {
            let role = read(text, &xml).unwrap().role(&xml, &Tools::new(), None);
            assert_eq!(role, Role::Call("f".to_owned()), "{text}");
        }
        assert!(read("</｜DSML｜invoke>", &xml).unwrap().end);
        assert_eq!(read("<invoke name=\"f\">", &xml), None);
    }

    #[test]
    fn entities_are_decoded() {
        assert_eq!(decoded("a&amp;b&quot;c&#60;&#x3E;&nbsp;&"), "a&b\"c<>&nbsp;&");
    }
}
