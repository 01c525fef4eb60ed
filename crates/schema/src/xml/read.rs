//! Reads elements according to a schema.

use std::ops::Range;

use wiremend_extract::is_reasoning_tag;

use super::pieces::Pieces;
use crate::{
    FitOptions, Rule, Schema,
    compile::Types,
    issue::folded,
    part::Part,
    tree::{is_integer, quoted},
};

/// The most levels of nested elements.
const DEPTH: usize = 32;

/// The object that the elements of a text represent.
pub(super) struct Mirror {
    pub(super) json: Pieces,
    /// The range from the tag of the first field to that of the last.
    pub(super) span: Range<usize>,
}

pub(super) fn decode(schema: &Schema, text: &str, options: &FitOptions) -> Option<Mirror> {
    let part = Part::root(schema);
    if !part.allowed().has(Types::OBJECT) || !text.contains('<') {
        return None;
    }
    let entities = options.rules().allows(Rule::EntityUnescape, "");
    Reader { text, at: 0, entities }.whole(&part)
}

/// The content of an element.
enum Content {
    /// A JSON text.
    One(Pieces),
    /// Items of a list, to which further elements with the same name add.
    Items(Vec<Pieces>),
}

impl Content {
    fn into_pieces(self) -> Pieces {
        match self {
            Self::One(pieces) => pieces,
            Self::Items(items) => Pieces::list(items),
        }
    }
}

/// A tag.
struct Tag<'t> {
    name: &'t str,
    closes: bool,
    /// `<name/>`
    empty: bool,
    /// The offset after the tag.
    end: usize,
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    entities: bool,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The tag at the current position.
    fn tag(&self) -> Option<Tag<'t>> {
        let rest = self.rest().strip_prefix('<')?;
        let closes = rest.starts_with('/');
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        let named = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '$');
        let length = rest.find(|c| !named(c))?;
        let (name, after) = rest.split_at(length);
        // Attributes that contain a bracket are not supported.
        let close = after.find(['>', '<']).filter(|at| after[*at..].starts_with('>'))?;
        let separated = after.starts_with([' ', '\n', '\t', '\r', '/', '>']);
        let end = self.text.len() - after.len() + close + 1;
        let empty = after.get(..close).is_some_and(|inside| inside.ends_with('/'));
        (length > 0 && separated).then_some(Tag { name, closes, empty, end })
    }

    /// Reads the fields of the whole value, and skips the text around them.
    fn whole(&mut self, part: &Part<'_>) -> Option<Mirror> {
        let mut members: Vec<(String, Content)> = Vec::new();
        let mut span = 0..0;
        let mut words = false;
        while let Some(at) = self.rest().find('<') {
            words |= !self.rest().get(..at).unwrap_or_default().trim().is_empty();
            self.at += at;
            let Some(tag) = self.tag() else {
                words = true;
                self.at += 1;
                continue;
            };
            let start = self.at;
            self.at = tag.end;
            if tag.closes {
                continue;
            }
            if let Some(field) = field(part, tag.name) {
                // There must be no text between the fields.
                if words && !members.is_empty() {
                    return None;
                }
                words = false;
                if members.is_empty() {
                    span.start = start;
                }
                let content = self.content(part, field, &tag, 0)?;
                add(&mut members, field, content)?;
                span.end = self.at;
            } else if is_reasoning_tag(tag.name) {
                let end = format!("</{}>", tag.name);
                self.at += self.rest().find(&end)?;
            }
        }
        (!members.is_empty()).then(|| Mirror { json: written(members), span })
    }

    /// Reads the content of a field, up to its end tag.
    fn content(
        &mut self,
        object: &Part<'_>,
        field: &str,
        tag: &Tag<'t>,
        depth: usize,
    ) -> Option<Content> {
        let part = object.property(field)?;
        if tag.empty {
            return Some(Content::One(self.cast(tag.end..tag.end, &part)));
        }
        self.value(&part, tag.name, depth)
    }

    /// Reads up to and including the end tag of `name`. The recursion is bounded.
    fn value(&mut self, part: &Part<'_>, name: &str, depth: usize) -> Option<Content> {
        if depth >= DEPTH {
            return None;
        }
        let types = part.allowed();
        let begins = self.rest().trim_start().starts_with('<')
            && !self.rest().trim_start().starts_with("<![");
        if begins && !types.has(Types::STRING) {
            if types.has(Types::ARRAY) {
                return self.items(part, name, depth);
            }
            if types.has(Types::OBJECT) {
                return self.object(part, name, depth).map(Content::One);
            }
        }
        let end = format!("</{name}>");
        let length = self.rest().find(&end)?;
        let span = self.trimmed(self.at..self.at + length);
        self.at += length + end.len();
        if types.has(Types::STRING) || !types.has(Types::ARRAY) {
            return Some(Content::One(self.cast(span, part)));
        }
        // A list that is written as text is left to the rules.
        let content = self.text.get(span.clone())?;
        if content.is_empty() {
            return Some(Content::Items(Vec::new()));
        }
        if content.starts_with(['[', '{', '-', '*']) || content.contains([',', '\n']) {
            return Some(Content::One(Pieces::string(self.text, span)));
        }
        Some(Content::Items(vec![self.cast(span, &part.item(0))]))
    }

    /// Reads an object: one element for each field, and nothing between them.
    fn object(&mut self, part: &Part<'_>, name: &str, depth: usize) -> Option<Pieces> {
        let mut members = Vec::new();
        loop {
            let tag = self.next_tag()?;
            if tag.closes {
                return (tag.name == name).then(|| written(members));
            }
            let field = field(part, tag.name)?;
            let content = self.content(part, field, &tag, depth + 1)?;
            add(&mut members, field, content)?;
        }
    }

    /// Reads a list: one element for each item, or the fields of its only item.
    fn items(&mut self, part: &Part<'_>, name: &str, depth: usize) -> Option<Content> {
        let start = self.at;
        let mut items: Vec<Pieces> = Vec::new();
        let mut own: Option<&str> = None;
        loop {
            let tag = self.next_tag()?;
            if tag.closes {
                return (tag.name == name).then_some(Content::Items(items));
            }
            let item = part.item(items.len());
            if own.is_none() && field(&item, tag.name).is_some() {
                self.at = start;
                let only = self.object(&item, name, depth + 1)?;
                return Some(Content::Items(vec![only]));
            }
            // All items must have the same name.
            if *own.get_or_insert(tag.name) != tag.name {
                return None;
            }
            items.push(if tag.empty {
                self.cast(tag.end..tag.end, &item)
            } else {
                self.value(&item, tag.name, depth + 1)?.into_pieces()
            });
        }
    }

    /// The next tag, after white space.
    fn next_tag(&mut self) -> Option<Tag<'t>> {
        self.at = self.text.len() - self.rest().trim_start().len();
        let tag = self.tag()?;
        self.at = tag.end;
        Some(tag)
    }

    /// A range without the surrounding white space.
    fn trimmed(&self, span: Range<usize>) -> Range<usize> {
        let text = self.text.get(span.clone()).unwrap_or_default();
        let start = span.end - text.trim_start().len();
        start..start + text.trim().len()
    }

    /// Converts untyped text to JSON of the expected type. Other text becomes a string, which the
    /// rules may convert.
    fn cast(&self, span: Range<usize>, part: &Part<'_>) -> Pieces {
        const OPEN: &str = "<![CDATA[";
        const CLOSE: &str = "]]>";
        let bare = self.text.get(span.clone()).unwrap_or_default();
        let verbatim = bare.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE));
        let span = match verbatim {
            Some(_) => span.start + OPEN.len()..span.end - CLOSE.len(),
            None => span,
        };
        let types = part.allowed();
        if types.has(Types::STRING) || types == Types::ALL {
            return if verbatim.is_none() && self.entities && bare.contains('&') {
                Pieces::own(quoted(&unescaped(bare)))
            } else {
                Pieces::string(self.text, span)
            };
        }
        let bare = verbatim.unwrap_or(bare);
        let number = is_number(bare)
            && (is_integer(bare) || types.has(Types::NUMBER.without(Types::INTEGER)));
        if types.has(Types::NUMBER) && number {
            return Pieces::source(span);
        }
        let word = bare.to_ascii_lowercase();
        if types.has(Types::BOOLEAN) && matches!(word.as_str(), "true" | "false")
            || types.has(Types::NULL) && word == "null"
        {
            return if word == bare { Pieces::source(span) } else { Pieces::own(word) };
        }
        if types.has(Types::NULL) && bare.is_empty() {
            Pieces::own("null")
        } else {
            Pieces::string(self.text, span)
        }
    }
}

/// The field that a tag names: exactly, or the only one that differs just in case and separators.
fn field<'s>(part: &Part<'s>, name: &str) -> Option<&'s str> {
    let names = part.properties();
    if let Some(exact) = names.iter().find(|own| **own == name) {
        return Some(exact);
    }
    let mut alike = names.into_iter().filter(|own| folded(own) == folded(name));
    alike.next().filter(|_| alike.next().is_none())
}

/// Adds a member, or items to a list. If another field is repeated, the text is not read as this
/// XML.
fn add(members: &mut Vec<(String, Content)>, field: &str, content: Content) -> Option<()> {
    let Some((_, before)) = members.iter_mut().find(|(name, _)| name == field) else {
        members.push((field.to_owned(), content));
        return Some(());
    };
    match (before, content) {
        (Content::Items(items), Content::Items(more)) => items.extend(more),
        _ => return None,
    }
    Some(())
}

fn written(members: Vec<(String, Content)>) -> Pieces {
    let mut object = Pieces::own("{");
    for (index, (name, content)) in members.into_iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        object.push(format!("{separator}{}: ", quoted(&name)));
        object.append(content.into_pieces());
    }
    object.push("}");
    object
}

/// Whether a text is a JSON number.
fn is_number(text: &str) -> bool {
    let digits = text.trim_start_matches('-');
    let begins = digits.starts_with(|c: char| c.is_ascii_digit());
    begins && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Decodes the five predefined entities of XML, and no others.
fn unescaped(text: &str) -> String {
    text.replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}
