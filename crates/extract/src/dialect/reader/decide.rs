//! What begins at a place of text.

use super::{
    CallExtractor,
    mentions::{called, name_alone},
    place::Place,
    thoughts::with_suffix,
};
use crate::dialect::{
    Dialect, brace,
    frames::{self, Turn},
    json::{SPACE, may_be_call, past_space, window},
    markers::{Found, Markers},
    named::{NamedCall, named_call},
    python, react,
    setup::{Entry, Setup, What},
    shape::{Frames, Layout, Named, Shape, Unknown},
    tags, xml,
};

/// The longest name of a tool between markers, in bytes.
pub(super) const LONGEST_NAME: usize = 256;

/// What begins at a place.
#[derive(Clone, Debug)]
pub(super) enum Decision {
    /// So many bytes of text.
    Text(usize),
    Markup(usize),
    /// A marker around calls of this row.
    Around(usize, usize),
    /// A reasoning block: the length of its tag, and what closes it.
    Reasoning(usize, Vec<u8>),
    /// The end of a reasoning block that the prompt opened.
    WasReasoning(usize),
    /// The end of a reasoning block in which a call began.
    Closed(usize),
    /// A tag around what is for the user, and whether it opens it.
    Answer(usize, bool),
    /// A header of a message.
    Turn(usize, Turn, usize),
    /// A call in the dialect of this row, with so many bytes of markup.
    Open(usize, Opening, usize),
}

/// How a call begins.
#[derive(Clone, Debug)]
pub(super) enum Opening {
    Json(usize),
    /// The last says that the call is closed after its name.
    Named(usize, String, Option<String>, bool),
    /// The arguments are the body of a message. The last says that they do not come.
    Frame(String, Markers, bool),
    /// The arguments of a call of this shape cannot be read.
    Unread(usize, String),
    Xml(usize, String),
    Python(usize, python::Opening),
    Brace(usize, String),
    /// The input of a tool.
    Input(usize),
    /// An action, and whether its input is JSON.
    Action(String, bool),
}

impl Opening {
    /// Whether no marker begins the call, but the name of a tool or the keys of a call.
    pub(super) fn is_bare(&self, row: &Dialect) -> bool {
        match self {
            Self::Json(shape) | Self::Python(shape, _) => {
                row.shapes.get(*shape).is_some_and(|shape| shape.open().is_empty())
            }
            Self::Frame(..) => row.frames.is_none(),
            Self::Named(..)
            | Self::Unread(..)
            | Self::Xml(..)
            | Self::Brace(..)
            | Self::Input(_)
            | Self::Action(..) => false,
        }
    }
}

impl CallExtractor {
    /// Decides what begins at the start of `rest`. `None` waits for more.
    pub(super) fn decide(
        &self,
        rest: &[u8],
        place: Place,
        eof: bool,
        setup: &Setup,
    ) -> Option<Decision> {
        if let Some((row, turn, length)) = self.frame(rest, place.at_start, eof, setup)? {
            let called = matches!(turn, Turn::Call(_));
            if called || !place.mentions(rest.get(length..), turn != Turn::EndOfReasoning, eof)? {
                return Some(Decision::Turn(row, turn, length));
            }
        }
        if let Some(decision) = self.reasoning_tag(rest, place, eof)? {
            return Some(decision);
        }
        let first = rest.first().copied().unwrap_or_default();
        // A marker that is a word does not begin inside of one.
        let inside = first.is_ascii_alphanumeric() && place.in_word();
        if setup.markers.begins_with(first) && !inside {
            match setup.markers.at(rest, eof) {
                Found::Partial => return None,
                Found::Nothing => {}
                Found::Here(found) => {
                    let entry = |id: &usize| setup.entries.get(*id).map(|entry| entry.what);
                    let opens = |(id, _): &(usize, usize)| matches!(entry(id), Some(What::Open(_)));
                    let opens = found.iter().any(opens);
                    let begins = |(id, _): &(usize, usize)| {
                        matches!(entry(id), Some(What::Open(_) | What::Ornament))
                    };
                    if found.iter().any(begins)
                        && let Some(length) = place.inline_code(rest, eof)?
                    {
                        return Some(Decision::Text(length));
                    }
                    for (id, length) in found {
                        let Some(entry) = setup.entries.get(id) else { continue };
                        if let Some(decision) =
                            self.marker(*entry, (length, opens), rest, place, eof, setup)?
                        {
                            return Some(decision);
                        }
                    }
                }
            }
        }
        for (row, shape) in &setup.kinds {
            if self.for_user || !setup.may_be_bare(*row, *shape, first) {
                continue;
            }
            if let Some(decision) = self.bare(*row, *shape, rest, place, eof, setup)? {
                return Some(decision);
            }
        }
        Some(Decision::Text(1))
    }

    /// The header of a message at the start of `rest`. The outer `None` waits for more.
    pub(super) fn frame(
        &self,
        rest: &[u8],
        at_start: bool,
        eof: bool,
        setup: &Setup,
    ) -> Option<Option<(usize, Turn, usize)>> {
        let tag = rest.first() == Some(&b'<');
        if tag && !setup.may_be_header(rest) || !tag && setup.auto {
            return Some(None);
        }
        for &row in &setup.framed {
            let Some(frames) = setup.rows.get(row).and_then(|row| row.frames) else { continue };
            // A block of reasoning that the prompt has opened ends before the first call.
            let seen = self.seen || !self.made.is_empty();
            if let Some((turn, length)) = frames::read(frames, rest, at_start, seen, eof)? {
                let closes = matches!(turn, Turn::End | Turn::EndOfReasoning);
                // What closes a part of a call belongs to one that is text.
                let part = frames == Frames::Sections && frames::closes_part(rest, length);
                if setup.auto && closes && (part || !self.seen) {
                    continue;
                }
                return Some(Some((row, turn, length)));
            }
        }
        Some(None)
    }

    /// What a marker of some length means here, which may also begin a call. The inner `None` says that
    /// it means nothing.
    fn marker(
        &self,
        entry: Entry,
        (length, opens): (usize, bool),
        rest: &[u8],
        place: Place,
        eof: bool,
        setup: &Setup,
    ) -> Option<Option<Decision>> {
        let Some(row) = setup.rows.get(entry.row) else { return Some(None) };
        match entry.what {
            What::Open(_) | What::Ornament | What::End if self.for_user => Some(None),
            What::Token => {
                // Dialects share markers, so directly after a call the token may be that of another row.
                let beside = self.after.is_some();
                let counts = !setup.auto || beside || self.made.contains(&entry.row);
                let counts = counts && place.prev() != b'`';
                let counts = counts && !place.mentions(rest.get(length..), true, eof)?;
                Some(counts.then_some(Decision::Markup(length)))
            }
            // A fence belongs to a call only in a dialect that writes fences around calls.
            What::End if rest.first() == Some(&b'`') => {
                Some(self.made.contains(&entry.row).then_some(Decision::Markup(length)))
            }
            What::End => {
                let counts = self.may_close(entry.row, length, rest, place, eof)?;
                Some(counts.then_some(Decision::Markup(length)))
            }
            What::Ornament => {
                // After a call, there may be a block without one.
                let counts = self.ornament(entry.row, length, rest, eof, setup)?
                    || !opens && self.may_close(entry.row, length, rest, place, eof)?;
                Some(counts.then_some(Decision::Around(entry.row, length)))
            }
            What::Reasoning(number) => {
                let Some(whole) = with_suffix(rest, length, eof)? else { return Some(None) };
                if place.mentions(rest.get(whole..), false, eof)? {
                    return Some(None);
                }
                let (_, close) = row.reasoning.get(number)?;
                let suffix = rest.get(length..whole).unwrap_or_default();
                let close = [close.as_bytes(), suffix].concat();
                Some(Some(Decision::Reasoning(whole, close)))
            }
            What::ReasoningEnd => {
                let Some(length) = with_suffix(rest, length, eof)? else { return Some(None) };
                let ends = self.ends_reasoning(length, rest, place, eof)?;
                Some(ends.then_some(Decision::WasReasoning(length)))
            }
            // What the template writes around the text is at its beginning, and after what it opens.
            What::AnswerTag(closes) => {
                let counts = !setup.auto || self.made.contains(&entry.row);
                let counts = counts && if closes { self.answers } else { !place.spoke };
                let counts = counts && !place.mentions(rest.get(length..), true, eof)?;
                Some(counts.then_some(Decision::Answer(length, !closes)))
            }
            What::Thought if place.is_line_start() => {
                let first = react::STOPS.first().map_or("\n", |stop| stop);
                Some(Some(Decision::Reasoning(length, first.as_bytes().to_vec())))
            }
            What::Answer if place.is_line_start() => {
                let after = rest.get(length..).unwrap_or_default();
                let space = after.iter().take(SPACE).take_while(|byte| **byte == b' ').count();
                if space == after.len() && space < SPACE && !eof {
                    return None;
                }
                Some(Some(Decision::Markup(length + space)))
            }
            What::Thought | What::Answer => Some(None),
            What::Open(shape) => self.opens(entry.row, shape, rest, place, eof, setup),
        }
    }

    /// Whether a marker around calls is one here: a call follows.
    fn ornament(
        &self,
        row: usize,
        length: usize,
        rest: &[u8],
        eof: bool,
        setup: &Setup,
    ) -> Option<bool> {
        let mut at = length;
        // Further markers may come before the call.
        for _ in 0..4 {
            let after = rest.get(at..).unwrap_or_default();
            let (space, next) = past_space(after, eof)?;
            if next.is_empty() {
                return Some(space < SPACE);
            }
            let mut further = 0;
            match setup.markers.at(next, eof) {
                Found::Partial => return None,
                Found::Nothing => return self.bare_follows(row, next, eof, setup),
                Found::Here(found) => {
                    for (id, length) in found {
                        let entry = setup.entries.get(id).filter(|entry| entry.row == row);
                        match entry.map(|entry| entry.what) {
                            Some(What::Open(shape)) => {
                                let place = Place::AFTER_MARKUP;
                                match self.begins(row, shape, next, place, eof, setup)? {
                                    Begins::Call(opening, _) => {
                                        return Some(self.may_name(row, &opening, setup));
                                    }
                                    Begins::Ornament(length) => further = further.max(length),
                                    Begins::End(_) | Begins::Text(_) | Begins::Nothing => {}
                                }
                            }
                            Some(What::Ornament) => further = further.max(length),
                            _ => {}
                        }
                    }
                }
            }
            if further == 0 {
                return self.bare_follows(row, next, eof, setup);
            }
            at += space + further;
        }
        Some(false)
    }

    /// Whether a call may have the name that it begins with, as far as that is known.
    fn may_name(&self, row: usize, opening: &Opening, setup: &Setup) -> bool {
        let name = match opening {
            Opening::Json(_) | Opening::Input(_) => return true,
            Opening::Named(_, name, ..)
            | Opening::Frame(name, ..)
            | Opening::Unread(_, name)
            | Opening::Xml(_, name)
            | Opening::Brace(_, name)
            | Opening::Action(name, _) => name,
            Opening::Python(_, opening) => &opening.name,
        };
        let any =
            !setup.auto && setup.rows.get(row).is_some_and(|row| row.unknown == Unknown::Call);
        any || setup.tools.is_empty() || setup.tools.known(name).is_some()
    }

    fn bare_follows(&self, row: usize, next: &[u8], eof: bool, setup: &Setup) -> Option<bool> {
        let place = Place { at_start: true, ..Place::AFTER_MARKUP };
        for (own, shape) in setup.bare.iter().filter(|(own, _)| *own == row) {
            if self.bare(*own, *shape, next, place, eof, setup)?.is_some() {
                return Some(true);
            }
        }
        Some(false)
    }

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

    fn opens(
        &self,
        row: usize,
        shape: usize,
        rest: &[u8],
        place: Place,
        eof: bool,
        setup: &Setup,
    ) -> Option<Option<Decision>> {
        match self.begins(row, shape, rest, place, eof, setup)? {
            Begins::Call(opening, length) => Some(Some(Decision::Open(row, opening, length))),
            Begins::Ornament(length) => {
                let counts = self.ornament(row, length, rest, eof, setup)?;
                Some(counts.then_some(Decision::Around(row, length)))
            }
            Begins::End(length) => {
                let counts = self.may_close(row, length, rest, place, eof)?;
                Some(counts.then_some(Decision::Around(row, length)))
            }
            Begins::Text(length) => {
                let counts = !setup.auto || self.made.contains(&row);
                Some(counts.then_some(Decision::Markup(length)))
            }
            Begins::Nothing => Some(None),
        }
    }

    /// Whether a call begins at a marker. `None` waits for more.
    fn begins(
        &self,
        row: usize,
        at: usize,
        rest: &[u8],
        place: Place,
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
                // Arguments in parentheses may be those of a call in Python, and what is before the name
                // may be a part of it.
                NamedCall::Call(name, _, length, _)
                    if setup.auto
                        && named.name_end == "("
                        && (!is_json(rest.get(length..))
                            || setup.tools.contains(&format!("{}{name}", named.open))) =>
                {
                    Begins::Nothing
                }
                NamedCall::Call(name, id, length, closed) => {
                    Begins::Call(Opening::Named(at, name, id, closed), length)
                }
                NamedCall::Text(length) => Begins::Text(length),
                NamedCall::Nothing => Begins::Nothing,
            },
            // A tag in inline code is mentioned, and one with the name of a tool is a part of the line.
            Shape::Xml(_) if place.prev() == b'`' && place.before() != b'`' => Begins::Nothing,
            Shape::Xml(xml)
                if xml.layout == Layout::Tools && setup.auto && !place.begins_line() =>
            {
                Begins::Nothing
            }
            Shape::Xml(xml) => match xml::open(rest, xml, &setup.tools, setup.auto, eof)? {
                Some(opening) if setup.leaves(row, rest, self.around, opening.by_attribute) => {
                    Begins::Nothing
                }
                Some(opening) => Begins::Call(Opening::Xml(at, opening.name), opening.length),
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
                    // The call of a tool that is known is not passed on without a word.
                    None => match called(next, eof)? {
                        Some(name) if setup.knows(block.function(&name)) => {
                            let name = block.function(&name).to_owned();
                            Begins::Call(Opening::Unread(at, name), length + space)
                        }
                        _ => Begins::Nothing,
                    },
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

/// What begins at a marker.
enum Begins {
    Call(Opening, usize),
    /// A marker around calls.
    Ornament(usize),
    /// One that ends them.
    End(usize),
    /// The header of a text.
    Text(usize),
    Nothing,
}
