//! What begins at a place of text.

use wiremend_core::prose::reasoning;

use super::{
    CallExtractor,
    begins::Begins,
    ground::{Dress, Seat},
    mentions::name_within,
    place::{Standing, TextBefore},
    thoughts::with_suffix,
};
use crate::dialect::{
    Dialect,
    frames::{self, Turn},
    json::{SPACE, past_space},
    markers::{Markers, MarkersHere},
    python, react,
    setup::{Entry, Setup, What},
    shape::{Frames, Unknown},
    xml,
};

/// The longest name of a tool between markers, in bytes.
pub(super) const LONGEST_NAME: usize = 256;

/// What begins at a place.
#[derive(Clone, Debug)]
pub(super) enum Decision {
    /// So many bytes of text.
    Text(usize),
    /// The tag of a reasoning block in the middle of a line: text, and so is what closes it on that line.
    Mention(usize),
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
    /// A tag around what a tool has returned, and whether it opens it. It is text.
    Result(usize, bool),
    /// A header of a message.
    Turn(usize, Turn, usize),
    /// A call in the dialect of this row, with so many bytes of markup.
    Open(usize, Opening, usize),
    /// The same without a marker, if what else is there allows it.
    Judge(Box<Decision>),
    /// A call of this tool that is only mentioned, because of where it is.
    Mentioned(usize, String),
    /// A call, or a marker around calls, that is only shown.
    Shown(Box<Decision>),
}

/// How a call begins.
#[derive(Clone, Debug)]
pub(super) enum Opening {
    Json(usize),
    /// The last says that the call is closed after its name.
    Named(usize, String, Option<String>, bool),
    /// The arguments of a call whose opener is missing, which its closing marker has to make one.
    Unopened(usize, String),
    /// The arguments are the body of a message. The last says that they do not come.
    Frame(String, Markers, bool),
    /// The arguments of a call of this shape cannot be read.
    Unread(usize, String),
    Xml(usize, Box<xml::Opening>),
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
            | Self::Unopened(..)
            | Self::Unread(..)
            | Self::Xml(..)
            | Self::Brace(..)
            | Self::Input(_)
            | Self::Action(..) => false,
        }
    }

    /// The name of the tool, as far as it is known.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Json(_) | Self::Input(_) => None,
            Self::Named(_, name, ..)
            | Self::Frame(name, ..)
            | Self::Unopened(_, name)
            | Self::Unread(_, name)
            | Self::Brace(_, name)
            | Self::Action(name, _) => Some(name),
            Self::Xml(_, opening) => Some(&opening.name),
            Self::Python(_, opening) => Some(&opening.name),
        }
    }
}

impl CallExtractor {
    /// Decides what begins at the start of `rest`. `None` waits for more.
    pub(super) fn decide(
        &self,
        rest: &[u8],
        place: TextBefore,
        eof: bool,
        setup: &Setup,
    ) -> Option<Decision> {
        if place.seat == Seat::Data {
            return Some(Decision::Text(1));
        }
        if let Some((row, turn, length)) = self.frame(rest, place.at_start, eof, setup)? {
            let called = matches!(turn, Turn::Call(_));
            if matches!(turn, Turn::Call(_) | Turn::Cut(_)) && place.seat == Seat::Shown {
                let turn = Decision::Turn(row, turn, length);
                return Some(Decision::Shown(Box::new(turn)));
            }
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
                MarkersHere::Partial => return None,
                MarkersHere::Nothing => {}
                MarkersHere::Here(found) => {
                    let entry = |id: &usize| setup.entries.get(*id).map(|entry| entry.what);
                    let opens = |(id, _): &(usize, usize)| matches!(entry(id), Some(What::Open(_)));
                    let opens = found.iter().any(opens);
                    let length = found.first().map_or(1, |(_, length)| *length);
                    if opens && comes_thrice(rest, length, eof)? {
                        return Some(Decision::Text(length));
                    }
                    for &(id, length) in &found {
                        let Some(entry) = setup.entries.get(id) else { continue };
                        if let Some(decision) =
                            self.marker(*entry, (length, opens), rest, place, eof, setup)?
                        {
                            let shown = self.shows(&decision, place, setup);
                            return Some(match shown {
                                true => Decision::Shown(Box::new(decision)),
                                false => decision,
                            });
                        }
                    }
                    if let Some((row, length)) = self.wraps(&found, rest, eof, setup)? {
                        let around = Decision::Around(row, length);
                        return Some(match self.shows(&around, place, setup) {
                            true => Decision::Shown(Box::new(around)),
                            false => around,
                        });
                    }
                    let unread = self.unread(&found, rest, place, eof, setup)?;
                    if let Some(decision) = unread {
                        return Some(decision);
                    }
                }
            }
        }
        for (row, shape) in &setup.kinds {
            if self.is_quiet() || self.only_marked || !setup.may_be_bare(*row, *shape, first) {
                continue;
            }
            if let Some(decision) = self.bare(*row, *shape, rest, place, eof, setup)? {
                return self.unmarked(decision, rest, place, eof, setup);
            }
        }
        if let Some(decision) = self.unopened(rest, place, eof, setup)? {
            return Some(decision);
        }
        let mentioned = match first {
            b'<' | b'[' | 0xE2 if !place.is_line_start() => reasoning::open(rest, eof)?,
            _ => None,
        };
        Some(mentioned.map_or(Decision::Text(1), |(_, length)| Decision::Mention(length)))
    }

    /// Whether a marker only shows a call here.
    fn shows(&self, decision: &Decision, place: TextBefore, setup: &Setup) -> bool {
        let row = match decision {
            // The label of an action ends the turn of another.
            Decision::Open(_, Opening::Action(..), _) if self.ground.in_labelled_turn() => {
                return false;
            }
            Decision::Open(row, ..) | Decision::Around(row, _) => *row,
            _ => return false,
        };
        // Who registers a dialect names it.
        !place.seat.takes_marker(!setup.auto || row < self.rows.len())
    }

    /// What a call without a marker is here. `None` waits for more.
    fn unmarked(
        &self,
        decision: Decision,
        rest: &[u8],
        place: TextBefore,
        eof: bool,
        setup: &Setup,
    ) -> Option<Decision> {
        let Decision::Open(row, opening, _) = &decision else { return Some(decision) };
        let data = match opening {
            Opening::Json(_) => true,
            Opening::Python(_, opening) => opening.quoted.is_some(),
            _ => false,
        };
        // In quotation marks or inline code, a function without arguments is a name.
        let named =
            matches!(opening, Opening::Python(_, opening) if opening.empty && !opening.list);
        match place.standing(!setup.auto, data) {
            Standing::Judged if named && place.seat == Seat::Own(Dress::Quoted) => {
                Some(Decision::Text(1))
            }
            Standing::Made => Some(decision),
            Standing::Judged => Some(Decision::Judge(Box::new(decision))),
            Standing::Text => Some(Decision::Text(1)),
            Standing::Mentioned => {
                let name = match opening.name() {
                    Some(name) => Some(name.to_owned()),
                    None => name_within(rest, setup, eof)?,
                };
                Some(name.map_or(Decision::Text(1), |name| Decision::Mentioned(*row, name)))
            }
        }
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
        place: TextBefore,
        eof: bool,
        setup: &Setup,
    ) -> Option<Option<Decision>> {
        let Some(row) = setup.rows.get(entry.row) else { return Some(None) };
        match entry.what {
            What::Open(_) | What::Ornament | What::End if self.is_quiet() => Some(None),
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
                let token = rest.starts_with(b"<|");
                let counts = token || !setup.auto || self.made.contains(&entry.row);
                let counts = counts && if closes { self.answers } else { !place.spoke };
                let counts = counts && !place.mentions(rest.get(length..), true, eof)?;
                Some(counts.then_some(Decision::Answer(length, !closes)))
            }
            What::ResultTag(closes) => {
                let counts = if closes { self.in_result } else { place.is_line_start() };
                Some(counts.then_some(Decision::Result(length, !closes)))
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
            What::Lacking(shape) => {
                let begins = place.begins_line();
                let text = String::from_utf8_lossy(rest.get(..length).unwrap_or_default());
                let name = text.trim_end_matches(['"', '>']).rsplit(['"', '=']).next();
                let name = name.filter(|_| begins && !self.is_quiet()).map(str::to_owned);
                Some(
                    name.map(|name| {
                        Decision::Open(entry.row, Opening::Unread(shape, name), length)
                    }),
                )
            }
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
                MarkersHere::Partial => return None,
                MarkersHere::Nothing => return self.bare_follows(row, next, eof, setup),
                MarkersHere::Here(found) => {
                    for (id, length) in found {
                        let entry = setup.entries.get(id).filter(|entry| entry.row == row);
                        match entry.map(|entry| entry.what) {
                            Some(What::Open(shape)) => {
                                let place = TextBefore::AFTER_MARKUP;
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
    pub(super) fn may_name(&self, row: usize, opening: &Opening, setup: &Setup) -> bool {
        let Some(name) = opening.name() else { return true };
        let any =
            !setup.auto && setup.rows.get(row).is_some_and(|row| row.unknown == Unknown::Call);
        any || setup.tools.is_empty() || setup.tools.known(name).is_some()
    }

    fn bare_follows(&self, row: usize, next: &[u8], eof: bool, setup: &Setup) -> Option<bool> {
        let place = TextBefore { at_start: true, marked: true, ..TextBefore::AFTER_MARKUP };
        for (own, shape) in setup.bare.iter().filter(|(own, _)| *own == row) {
            if self.bare(*own, *shape, next, place, eof, setup)?.is_some() {
                return Some(true);
            }
        }
        let lacks = self.unopened(next, place, eof, setup)?;
        Some(lacks.is_some_and(|found| matches!(found, Decision::Open(own, ..) if own == row)))
    }

    fn opens(
        &self,
        row: usize,
        shape: usize,
        rest: &[u8],
        place: TextBefore,
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
}

/// Whether what `rest` begins with comes twice more directly after it, as no opener of a call does: to look for
/// what each of them may open would take long. `None` waits for more.
fn comes_thrice(rest: &[u8], length: usize, eof: bool) -> Option<bool> {
    let (marker, mut after) = rest.split_at_checked(length)?;
    for _ in 0..2 {
        let (_, next) = past_space(after, eof)?;
        match next.strip_prefix(marker) {
            Some(rest) => after = rest,
            None if next.is_empty() || eof || !marker.starts_with(next) => return Some(false),
            None => return None,
        }
    }
    Some(true)
}
