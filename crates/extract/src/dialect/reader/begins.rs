//! What begins at a marker that may open a call.

use super::{
    CallExtractor,
    decide::Opening,
    ground::{Dress, Seat},
    mentions::{name_alone, name_within},
    place::TextBefore,
};
use crate::dialect::{
    brace,
    json::{SPACE, may_be_call, past_space, window},
    named::{NamedCall, named_call},
    python, react,
    setup::Setup,
    shape::{Layout, Named, Shape},
    tags, xml,
};

/// What begins at a marker.
pub(super) enum Begins {
    Call(Opening, usize),
    /// A marker around calls.
    Ornament(usize),
    /// One that ends them.
    End(usize),
    /// The header of a text.
    Text(usize),
    Nothing,
}

impl CallExtractor {
    /// The name of a call between markers. `None` waits for more.
    fn named(
        &self,
        row: usize,
        named: &Named,
        rest: &[u8],
        eof: bool,
        setup: &Setup,
    ) -> Option<NamedCall> {
        let Some(row) = setup.rows.get(row) else { return Some(NamedCall::Nothing) };
        named_call(named, row, rest, &setup.tools, eof)
    }

    /// Whether a call begins at a marker. `None` waits for more.
    pub(super) fn begins(
        &self,
        row: usize,
        at: usize,
        rest: &[u8],
        place: TextBefore,
        eof: bool,
        setup: &Setup,
    ) -> Option<Begins> {
        let shape = setup.rows.get(row).and_then(|row| row.shapes.get(at));
        let Some(shape) = shape else { return Some(Begins::Nothing) };
        let after = rest.get(shape.open().len()..).unwrap_or_default();
        let length = shape.open().len();
        Some(match shape {
            Shape::Json(_) => {
                let fence = past_space(after, eof)?.1.starts_with(b"`");
                let json = fence || may_be_call(after, eof, None)?;
                if json { Begins::Call(Opening::Json(at), length) } else { Begins::Nothing }
            }
            // `>>>` does not begin inside of `>>>>>>>`, which ends a conflict of versions.
            Shape::Named(named) if place.repeats(&named.open) => Begins::Nothing,
            Shape::Named(named) => match self.named(row, named, rest, eof, setup)? {
                // Arguments in parentheses may be those of a call in Python, as they are where the result is given
                // a name, and what is before the name may be a part of it.
                NamedCall::Call(name, _, length, _)
                    if setup.auto
                        && named.name_end == "("
                        && (place.seat == Seat::Own(Dress::Assigned)
                            || !is_json(rest.get(length..))
                            || setup.tools.contains(&format!("{}{name}", named.open))) =>
                {
                    Begins::Nothing
                }
                NamedCall::Call(name, id, length, closed) => {
                    let payload = rest.get(length..).unwrap_or_default();
                    let counted =
                        id.is_none() && !closed && name.contains(|c: char| c.is_ascii_digit());
                    match setup.rows.get(row).and_then(|row| row.block_of(&named.open)) {
                        // An identifier without a name: the call has its own.
                        Some(block)
                            if counted
                                && !setup.knows(&name)
                                && may_be_call(payload, eof, None)?
                                && name_within(payload, setup, eof)?.is_some() =>
                        {
                            Begins::Call(Opening::Json(block), length)
                        }
                        _ => Begins::Call(Opening::Named(at, name, id, closed), length),
                    }
                }
                NamedCall::Text(length) => Begins::Text(length),
                NamedCall::Nothing => Begins::Nothing,
            },
            // A tag with the name of a tool is a part of the line.
            Shape::Xml(xml)
                if xml.layout == Layout::Tools && setup.auto && !place.begins_line() =>
            {
                Begins::Nothing
            }
            Shape::Xml(xml) => match xml::open(rest, xml, &setup.tools, setup.auto, eof)? {
                Some(opening) if setup.leaves(row, rest, self.around, opening.by_attribute) => {
                    Begins::Nothing
                }
                Some(opening) => {
                    let length = opening.length;
                    Begins::Call(Opening::Xml(at, Box::new(opening)), length)
                }
                None if xml.layout == Layout::Tools => Begins::Nothing,
                None => match tags::tag(rest, xml, eof) {
                    tags::Lexed::Wait => return None,
                    tags::Lexed::Tag(tag) => match tag.role(xml, &setup.tools, None) {
                        // A bar at the end is that of a control token of another dialect.
                        tags::Role::Wrapper
                            if !xml.tag.0.contains('|')
                                && rest
                                    .get(..tag.length)
                                    .is_some_and(|tag| tag.ends_with(b"|>")) =>
                        {
                            Begins::Nothing
                        }
                        tags::Role::Wrapper => Begins::Ornament(tag.length),
                        tags::Role::WrapperEnd => Begins::End(tag.length),
                        tags::Role::Call(_) if xml.layout == Layout::Pairs => {
                            match name_alone(rest, tag.length, setup, eof)? {
                                Some((name, length)) => {
                                    Begins::Call(Opening::Unread(at, name), length)
                                }
                                None => Begins::Nothing,
                            }
                        }
                        _ => Begins::Nothing,
                    },
                    tags::Lexed::No => Begins::Nothing,
                },
            },
            Shape::Python(block) => {
                let (space, next) = past_space(after, eof)?;
                let found = if space == SPACE { None } else { python::open(next, eof)? };
                // Where the template writes a method, a function is one of the program, unless it is a tool.
                let method = found.map(|found| (block.is_method(&found.name), found));
                let found = method.and_then(|(method, found)| {
                    let counts = block.method.is_empty() || method || setup.knows(&found.name);
                    counts.then_some(found)
                });
                match found {
                    Some(mut opening) => {
                        let whole = length + space + opening.length;
                        opening.length = whole;
                        opening.name = block.function(&opening.name).to_owned();
                        Begins::Call(Opening::Python(at, opening), whole)
                    }
                    None => Begins::Nothing,
                }
            }
            Shape::Brace(brace) => match brace::open(rest, brace, eof)? {
                Some((name, length)) => Begins::Call(Opening::Brace(at, name), length),
                None => Begins::Nothing,
            },
            Shape::Line => Begins::Nothing,
            Shape::Input(input) => {
                let json = |next: &[u8]| matches!(next, [b'{' | b'[' | b'"' | b'\'' | b'`', ..]);
                if input.is_text || json(past_space(after, eof)?.1) {
                    Begins::Call(Opening::Input(at), length)
                } else {
                    Begins::Nothing
                }
            }
            Shape::React => {
                if !place.is_line_start() {
                    return Some(Begins::Nothing);
                }
                match react::open(rest, eof)? {
                    None => Begins::Nothing,
                    Some((name, length)) => {
                        let input = rest.get(length..).unwrap_or_default();
                        let (_, next) = past_space(input, eof)?;
                        let json = matches!(next.first(), Some(b'{' | b'[' | b'"' | b'`'));
                        Begins::Call(Opening::Action(name, json), length)
                    }
                }
            }
        })
    }
}

/// Whether arguments in parentheses are JSON, or there are none. White space was looked past.
fn is_json(after: Option<&[u8]>) -> bool {
    let (after, _) = window(after.unwrap_or_default(), SPACE, true);
    matches!(after.trim_ascii_start().first(), None | Some(b'{' | b')'))
}
