//! Reads XML whose tags are the fields of the schema.
//!
//! The elements are decoded into a JSON text with the script that leads to it, and that text is fitted like any
//! other reading.

use std::{borrow::Cow, ops::Range};

use wiremend_core::{Path, Risk};
use wiremend_extract::{Scope, is_reasoning_tag};

use super::{
    Applied, Location, Permit,
    fitter::shortened,
    reading::{Reading, Tried},
};
use crate::{
    Cause, Change, FitOptions, Fitted, Rule, Schema,
    compile::Types,
    judge::Judge,
    names::folded,
    part::Part,
    tree::{escaped, is_integer, quoted},
};

impl Schema {
    /// Reads a text in which every field of the schema is an element, and [fits](Schema::fit) the
    /// resulting object. `None` if the text is not such XML.
    ///
    /// Only the fields of the schema count as tags, and only where the schema has them; other
    /// markup is content. An element around all fields is skipped, and so is text before the first
    /// field and after the last one. Lists are repeated elements, or one element that contains an
    /// element for each item. Untyped text becomes a number, boolean or null if the schema asks for
    /// one. White space around content is removed. Entities are kept, unless
    /// [`Rule::EntityUnescape`](crate::Rule::EntityUnescape) is switched on.
    ///
    /// [`Schema::fit`] reads such a text too, and records the tags as changes of the rule
    /// [`Rule::XmlFields`](crate::Rule::XmlFields). This method is for callers that know that the
    /// text is XML: decoding it is not a repair, [`Fitted::changes`] apply to the decoded JSON
    /// text, and the outcome is `unchanged` if that text was valid.
    ///
    /// ```
    /// use wiremend_core::Outcome;
    /// use wiremend_schema::{FitOptions, Schema};
    ///
    /// let schema = Schema::from_text(
    ///     r#"{"properties": {"refined": {"type": "boolean"}, "text": {"type": "string"}}}"#,
    /// )?;
    /// let text = "<task><refined>false</refined><text>Sort <b>all</b> keys</text></task>";
    /// let fitted = schema.fit_xml(text, &FitOptions::new()).unwrap();
    /// assert_eq!(fitted.text(), Some(r#"{"refined": false, "text": "Sort <b>all</b> keys"}"#));
    /// assert_eq!(fitted.outcome(), Outcome::Unchanged);
    /// assert!(schema.fit_xml("<p>refined</p>", &FitOptions::new()).is_none());
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn fit_xml(&self, text: &str, options: &FitOptions) -> Option<Fitted> {
        let (json, _) = decode(self, text, options)?.json.written(text);
        Some(self.fit(json.as_bytes(), options))
    }

    /// The JSON text for such XML, before validation, and how it was produced.
    fn decode_xml(&self, text: &str, options: &FitOptions) -> Option<Decoded> {
        let Mirror { json, span } = decode(self, text, options)?;
        let (json, changes) = json.written(text);
        Some(Decoded { json, changes, span })
    }
}

/// The result of decoding XML.
struct Decoded {
    json: String,
    /// The script that leads from the XML to the JSON text.
    changes: Vec<Change>,
    /// The byte range of the elements.
    span: Range<usize>,
}

/// The XML found in a text.
pub(super) struct Elements(Decoded);

impl Elements {
    /// `None` if there is no such XML, or the options forbid reading it.
    pub(super) fn find(schema: &Schema, input: &[u8], options: &FitOptions) -> Option<Self> {
        let text = std::str::from_utf8(input).ok().filter(|_| options.scope() != Scope::Fenced)?;
        if !Permit::new(options)?.allows(Rule::XmlFields, &Location::root(), &Part::root(schema)) {
            return None;
        }
        schema.decode_xml(text, options).map(Self)
    }

    /// Whether the value of another reading is inside an element, or there is no such value.
    pub(super) fn hold(&self, other: &Reading<'_>) -> bool {
        let own = &self.0.span;
        other.span().is_none_or(|span| own.start <= span.start && span.end <= own.end)
    }

    /// Fits the decoded elements to the schema.
    pub(super) fn fit(&self, judge: &mut Judge<'_>, input: &[u8], options: &FitOptions) -> Tried {
        let Decoded { json, changes, span } = &self.0;
        let reading = Reading::repaired(json.clone(), changes.clone());
        let mut tried = reading.fit(judge, input, options);
        let source = std::str::from_utf8(input).ok().and_then(|text| text.get(span.clone()));
        let applied = Applied {
            rule: Rule::XmlFields,
            risk: Risk::Likely,
            path: Path::default(),
            schema_path: String::new(),
            start: span.start,
            end: span.end,
            before: shortened(source.unwrap_or_default()),
            after: shortened(json),
        };
        tried.0.applied.insert(0, applied);
        tried
    }
}

/// The most levels of nested elements.
const DEPTH: usize = 32;

/// The object that the elements of a text represent.
struct Mirror {
    json: Pieces,
    /// The range from the tag of the first field to that of the last.
    span: Range<usize>,
}

fn decode(schema: &Schema, text: &str, options: &FitOptions) -> Option<Mirror> {
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

/// A piece of a JSON text.
enum Piece {
    /// Bytes of the source text.
    Source(Range<usize>),
    /// Content that is not in the source text.
    Own(Cow<'static, str>),
    /// The quote before or after the content at this byte. It is a change of its own, so that a
    /// position in the string maps to the content and not to the tags.
    Quote(Side, usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    Behind,
}

/// A JSON text that consists of pieces.
#[derive(Default)]
struct Pieces(Vec<Piece>);

impl Pieces {
    fn own(text: impl Into<Cow<'static, str>>) -> Self {
        Self(vec![Piece::Own(text.into())])
    }

    fn source(span: Range<usize>) -> Self {
        Self(vec![Piece::Source(span)])
    }

    /// A string with the content at `span` of `text`. Only characters that need an escape are
    /// replaced.
    fn string(text: &str, span: Range<usize>) -> Self {
        let content = text.get(span.clone()).unwrap_or_default();
        let mut pieces = Self(vec![Piece::Quote(Side::Before, span.start)]);
        let mut from = span.start;
        for (at, c) in content.char_indices() {
            if let Some(escape) = escaped(c) {
                let at = span.start + at;
                pieces.0.push(Piece::Source(from..at));
                pieces.0.push(Piece::Own(escape));
                from = at + c.len_utf8();
            }
        }
        pieces.0.push(Piece::Source(from..span.end));
        pieces.0.push(Piece::Quote(Side::Behind, span.end));
        pieces
    }

    fn push(&mut self, text: impl Into<Cow<'static, str>>) {
        self.0.push(Piece::Own(text.into()));
    }

    fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Joins items to `[a, b]`.
    fn list(items: Vec<Self>) -> Self {
        let mut list = Self::own("[");
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                list.push(", ");
            }
            list.append(item);
        }
        list.push("]");
        list
    }

    /// Returns the JSON text, and the script that produces it from `text`. Pieces that are out of
    /// order are inserted as new text.
    fn written(self, text: &str) -> (String, Vec<Change>) {
        let mut script = Script::default();
        for piece in self.0 {
            match piece {
                Piece::Own(own) => script.own.push_str(&own),
                Piece::Quote(side, at) => {
                    if side == Side::Before && at >= script.at {
                        script.change(at);
                    }
                    script.own.push('"');
                    if side == Side::Behind && at >= script.at {
                        script.change(at);
                    }
                }
                Piece::Source(span) => {
                    let source = text.get(span.clone()).unwrap_or_default();
                    if span.start < script.at {
                        script.own.push_str(source);
                    } else {
                        script.change(span.start);
                        script.out.push_str(source);
                        script.at = span.end;
                    }
                }
            }
        }
        script.change(text.len());
        (script.out, script.changes)
    }
}

#[derive(Default)]
struct Script {
    out: String,
    changes: Vec<Change>,
    /// The end of the text that has been processed.
    at: usize,
    /// The replacement for the text from there on.
    own: String,
}

impl Script {
    /// Replaces the text up to `end` by what has been collected.
    fn change(&mut self, end: usize) {
        if self.at < end || !self.own.is_empty() {
            let own = std::mem::take(&mut self.own);
            self.out.push_str(&own);
            let cause = Cause::Rule(Rule::XmlFields);
            self.changes.push(Change::new(cause, self.at..end, own, Path::default()));
            self.at = end;
        }
    }
}
