//! Reading elements along a schema.

use crate::{
    FitOptions, Rule, Schema,
    compile::Types,
    issue::folded,
    part::Part,
    tree::{is_integer, quoted},
};

/// How deep elements may be nested.
const DEPTH: usize = 32;

pub(super) fn decode(schema: &Schema, text: &str, options: &FitOptions) -> Option<String> {
    let part = Part::root(schema);
    if !part.allowed().has(Types::OBJECT) {
        return None;
    }
    let entities = options.rules().allows(Rule::EntityUnescape, "");
    Reader { text, at: 0, entities }.whole(&part)
}

/// What an element came to.
enum Content {
    /// A JSON text.
    One(String),
    /// Items of a list: further elements of the same name add to them.
    Items(Vec<String>),
}

/// A tag.
struct Tag<'t> {
    name: &'t str,
    closes: bool,
    /// `<name/>`
    empty: bool,
    /// Behind it.
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

    /// The tag that stands at the beginning of the rest.
    fn tag(&self) -> Option<Tag<'t>> {
        let rest = self.rest().strip_prefix('<')?;
        let closes = rest.starts_with('/');
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        let named = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '$');
        let length = rest.find(|c| !named(c))?;
        let (name, behind) = rest.split_at(length);
        // An attribute that holds a bracket is not read.
        let close = behind.find(['>', '<']).filter(|at| behind[*at..].starts_with('>'))?;
        let separated = behind.starts_with([' ', '\n', '\t', '\r', '/', '>']);
        let end = self.text.len() - behind.len() + close + 1;
        let empty = behind.get(..close).is_some_and(|inside| inside.ends_with('/'));
        (length > 0 && separated).then_some(Tag { name, closes, empty, end })
    }

    /// The fields of the whole value, and what stands around them.
    fn whole(&mut self, part: &Part<'_>) -> Option<String> {
        let mut members: Vec<(String, Content)> = Vec::new();
        let mut words = false;
        while let Some(at) = self.rest().find('<') {
            words |= !self.rest().get(..at).unwrap_or_default().trim().is_empty();
            self.at += at;
            let Some(tag) = self.tag() else {
                words = true;
                self.at += 1;
                continue;
            };
            self.at = tag.end;
            if let Some(field) = field(part, tag.name).filter(|_| !tag.closes) {
                // Between the fields there are no words.
                if words && !members.is_empty() {
                    return None;
                }
                words = false;
                let content = self.content(part, field, &tag, 0)?;
                add(&mut members, field, content)?;
            }
        }
        (!members.is_empty()).then(|| written(members))
    }

    /// The content of a field, up to its end tag.
    fn content(
        &mut self,
        object: &Part<'_>,
        field: &str,
        tag: &Tag<'t>,
        depth: usize,
    ) -> Option<Content> {
        let part = object.property(field)?;
        if tag.empty {
            return Some(Content::One(self.cast("", &part)));
        }
        self.value(&part, tag.name, depth)
    }

    /// Reads up to and with the end tag of `name`. The recursion is bounded.
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
        let raw = self.rest().get(..length)?;
        self.at += length + end.len();
        if types.has(Types::STRING) || !types.has(Types::ARRAY) {
            return Some(Content::One(self.cast(raw, part)));
        }
        // A list that is written as text is left to the rules.
        let trimmed = raw.trim();
        if trimmed.is_empty() {
            return Some(Content::Items(Vec::new()));
        }
        if trimmed.starts_with(['[', '{', '-', '*']) || trimmed.contains([',', '\n']) {
            return Some(Content::One(quoted(trimmed)));
        }
        Some(Content::Items(vec![self.cast(raw, &part.item(0))]))
    }

    /// An element a field, and nothing between them.
    fn object(&mut self, part: &Part<'_>, name: &str, depth: usize) -> Option<String> {
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

    /// An element an item; or the fields of the only item, without an element of its own.
    fn items(&mut self, part: &Part<'_>, name: &str, depth: usize) -> Option<Content> {
        let start = self.at;
        let mut items: Vec<String> = Vec::new();
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
            // All items have the same name.
            if *own.get_or_insert(tag.name) != tag.name {
                return None;
            }
            let content = if tag.empty {
                Content::One(self.cast("", &item))
            } else {
                self.value(&item, tag.name, depth + 1)?
            };
            items.push(match content {
                Content::One(text) => text,
                Content::Items(items) => format!("[{}]", items.join(", ")),
            });
        }
    }

    /// The tag behind white space.
    fn next_tag(&mut self) -> Option<Tag<'t>> {
        self.at = self.text.len() - self.rest().trim_start().len();
        let tag = self.tag()?;
        self.at = tag.end;
        Some(tag)
    }

    /// Untyped text as a JSON text of the type that is expected. What is of none is a string, for
    /// the rules to look at.
    fn cast(&self, raw: &str, part: &Part<'_>) -> String {
        let bare = raw.trim();
        let verbatim = bare.strip_prefix("<![CDATA[").and_then(|rest| rest.strip_suffix("]]>"));
        let types = part.allowed();
        if types.has(Types::STRING) || types == Types::ALL {
            return match verbatim {
                Some(text) => quoted(text),
                None if self.entities => quoted(&unescaped(bare)),
                None => quoted(bare),
            };
        }
        let bare = verbatim.unwrap_or(bare);
        let number = is_number(bare)
            && (is_integer(bare) || types.has(Types::NUMBER.without(Types::INTEGER)));
        let word = bare.to_ascii_lowercase();
        if types.has(Types::NUMBER) && number
            || types.has(Types::BOOLEAN) && matches!(word.as_str(), "true" | "false")
            || types.has(Types::NULL) && word == "null"
        {
            return word;
        }
        if types.has(Types::NULL) && bare.is_empty() { "null".to_owned() } else { quoted(bare) }
    }
}

/// The field that a tag names: exactly, or but for case and separators if only one does.
fn field<'s>(part: &Part<'s>, name: &str) -> Option<&'s str> {
    let names = part.properties();
    if let Some(exact) = names.iter().find(|own| **own == name) {
        return Some(exact);
    }
    let mut alike = names.into_iter().filter(|own| folded(own) == folded(name));
    alike.next().filter(|_| alike.next().is_none())
}

/// Adds a member; items add to a list. A field that comes twice is no mirror of the schema.
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

fn written(members: Vec<(String, Content)>) -> String {
    let member = |(name, content): (String, Content)| {
        let value = match content {
            Content::One(text) => text,
            Content::Items(items) => format!("[{}]", items.join(", ")),
        };
        format!("{}: {value}", quoted(&name))
    };
    let members: Vec<String> = members.into_iter().map(member).collect();
    format!("{{{}}}", members.join(", "))
}

/// Whether it is a JSON number.
fn is_number(text: &str) -> bool {
    let digits = text.trim_start_matches('-');
    let begins = digits.starts_with(|c: char| c.is_ascii_digit());
    begins && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// The five named entities of XML, and no others.
fn unescaped(text: &str) -> String {
    text.replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}
