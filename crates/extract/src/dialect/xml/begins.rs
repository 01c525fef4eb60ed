//! Where a call begins.

use super::{FREE_TEXT, LONGEST_NAME};
use crate::dialect::{
    json::SPACE,
    shape::{Layout, Xml},
    tags::{Lexed, Role, tag as tag_at},
    tools::{Tool, Tools},
};

/// The beginning of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::dialect) struct Opening {
    pub(in crate::dialect) name: String,
    /// The length of its tag, with the name.
    pub(in crate::dialect) length: usize,
    /// Whether the name is in an attribute, and not after `=`.
    pub(in crate::dialect) by_attribute: bool,
    /// Whether the tag has something else in it, which may be an argument.
    pub(super) damaged: bool,
    /// Whether the tag closes the call.
    pub(super) closed: bool,
}

impl Opening {
    /// A call that lacks its opener, before its first parameter.
    pub(in crate::dialect) fn unopened(name: &str, length: usize) -> Self {
        let name = name.to_owned();
        Self { name, length, by_attribute: false, damaged: false, closed: false }
    }
}

/// Finds the call that begins at the start of `rest`. With `detected`, a tag with the name of a tool is
/// one only if what follows says so. The outer `None` waits for more.
pub(in crate::dialect) fn open(
    rest: &[u8],
    xml: &Xml,
    tools: &Tools,
    detected: bool,
    eof: bool,
) -> Option<Option<Opening>> {
    let tag = match tag_at(rest, xml, eof) {
        Lexed::Wait => return None,
        Lexed::No => return Some(None),
        Lexed::Tag(tag) => tag,
    };
    let Role::Call(name) = tag.role(xml, tools, None) else { return Some(None) };
    let by_attribute = tag.is_named_by_attribute();
    let opening = Opening {
        name,
        length: tag.length,
        by_attribute,
        // A tag that is the name of a tool has no attributes of its own.
        damaged: tag.damaged || xml.layout == Layout::Tools && tag.has_attributes(),
        closed: tag.closed,
    };
    let name = &opening.name;
    if xml.layout != Layout::Pairs {
        let mut named = !name.is_empty() && name.len() <= LONGEST_NAME;
        // A control token is no text.
        let may_be_text = xml.tag.0.len() == 1;
        let unknown = may_be_text && !tools.is_empty() && tools.known(name).is_none();
        if named && *name != FREE_TEXT && (xml.layout == Layout::Tools || unknown && !detected) {
            let after = rest.get(tag.length..).unwrap_or_default();
            named = if tag.closed {
                // As HTML has such tags, it is one of a tool that takes nothing.
                let none = |tool: &Tool| tool.parameters.is_empty();
                !detected || opening.damaged || tools.known(name).is_some_and(none)
            } else {
                holds_parameters(after, name, xml, tools, detected, eof)?
            };
        }
        return Some(named.then_some(opening));
    }
    // The name is the text up to the first key, or to the end of the call.
    let after = rest.get(tag.length..).unwrap_or_default();
    let space = after.iter().take(SPACE).take_while(|byte| byte.is_ascii_whitespace()).count();
    let name = after.get(space..).unwrap_or_default();
    let is_name =
        |byte: &&u8| !byte.is_ascii_whitespace() && !matches!(**byte, b'<' | b'{' | b'[' | b'"');
    let length = name.iter().take(LONGEST_NAME).take_while(is_name).count();
    let full = length == LONGEST_NAME;
    if length == name.len() && !eof && !full {
        return None;
    }
    let follows = name.get(length..).unwrap_or_default();
    let gap = follows.iter().take(SPACE).take_while(|byte| byte.is_ascii_whitespace()).count();
    let next = follows.get(gap..).unwrap_or_default();
    if length == 0 || full {
        return Some(None);
    }
    let text = String::from_utf8_lossy(name.get(..length).unwrap_or_default()).into_owned();
    if detected && text.contains('(') && tools.known(&text).is_none() {
        // A call as in Python.
        return Some(None);
    }
    let begins = match tag_at(next, xml, eof) {
        Lexed::Wait => return None,
        Lexed::No if next.is_empty() && !eof => return None,
        // The arguments in JSON.
        Lexed::No => next.first() == Some(&b'{') && tools.known(&text).is_some(),
        Lexed::Tag(tag) => matches!(
            tag.role(xml, tools, None),
            Role::Key | Role::CallEnd | Role::Separator | Role::WrapperEnd
        ),
    };
    if !begins {
        return Some(None);
    }
    let length = tag.length + space + length;
    Some(Some(Opening { name: text, length, by_attribute: false, ..opening }))
}

/// Whether a parameter, the end of the call or its arguments in JSON come after the tag that begins it, or
/// the text is cut off before that shows. `None` waits for more.
fn holds_parameters(
    after: &[u8],
    name: &str,
    xml: &Xml,
    tools: &Tools,
    detected: bool,
    eof: bool,
) -> Option<bool> {
    let space = after.iter().take(SPACE).take_while(|byte| byte.is_ascii_whitespace()).count();
    let next = after.get(space..).unwrap_or_default();
    if next.is_empty() {
        return if eof || space == SPACE { Some(space < SPACE) } else { None };
    }
    let in_tool = xml.layout == Layout::Tools;
    match tag_at(next, xml, false) {
        Lexed::Wait => eof.then_some(true),
        Lexed::No => Some(!in_tool && next.starts_with(b"{")),
        Lexed::Tag(tag) => Some(match tag.role(xml, tools, tools.known(name)) {
            Role::Parameter(..) => true,
            Role::CallEnd => !in_tool || tools.resolve(&tag.word) == tools.resolve(name),
            // Whoever names the dialect is told of a parameter that does not exist.
            _ => in_tool && !detected,
        }),
    }
}
