//! The beginning of an answer whose first token is missing: the prompt has written it, or the server has
//! removed it.

use super::{
    CallExtractor,
    decide::{Decision, LONGEST_NAME, Opening},
};
use crate::dialect::{
    frames::{self, Turn},
    json::past_space,
    python::{self, is_name},
    setup::Setup,
    shape::{Frames, Named, Shape},
};

/// What every kind of content of Inkling begins with, after the name of a tool.
const CONTENT: &[u8] = b"<|content_";
/// What ends the header of Muse.
const MESSAGE: &[u8] = b"<|message|>";
/// What every token begins with.
const TOKEN: &[u8] = b"<|";

impl CallExtractor {
    /// What the text begins with, if it goes on with a header that the prompt has opened, or after a token
    /// that the server has removed. The outer `None` waits for more.
    pub(super) fn rest_of_header(
        &self,
        rest: &[u8],
        eof: bool,
        setup: &Setup,
    ) -> Option<Option<Decision>> {
        if let Some(decision) = method(rest, eof, setup)? {
            return Some(Some(decision));
        }
        if setup.auto {
            return self.recipient(rest, eof, setup);
        }
        if let Some(row) = muse(setup)
            && rest.starts_with(b"<")
        {
            // A message without a recipient is for the user.
            let header = rest.starts_with(MESSAGE);
            return match MESSAGE.starts_with(rest) && !header && !eof {
                true => None,
                false => Some(header.then_some(Decision::Turn(row, Turn::ForUser, MESSAGE.len()))),
            };
        }
        let length = rest.iter().take(LONGEST_NAME).take_while(|byte| is_name(**byte)).count();
        if length == 0 || length == LONGEST_NAME {
            return Some(None);
        }
        let (name, after) = rest.split_at(length);
        if after.is_empty() && !eof {
            return None;
        }
        let name = String::from_utf8_lossy(name).into_owned();
        for (row, dialect) in setup.rows.iter().enumerate() {
            // Text may end at such a token, too, so the name has to be that of a tool.
            if dialect.frames == Some(Frames::Inkling) && setup.knows(&name) {
                if after.starts_with(CONTENT) {
                    return Some(Some(Decision::Turn(row, Turn::Text, length)));
                }
                if CONTENT.starts_with(after) && !eof {
                    return None;
                }
            }
            for (shape, own) in dialect.shapes.iter().enumerate() {
                let Shape::Named(named) = own else { continue };
                if !named.prompted {
                    continue;
                }
                match addressed(named, &name, setup.knows(&name), after, eof)? {
                    Addressed::User(gap) => {
                        return Some(Some(Decision::Markup(length + gap)));
                    }
                    Addressed::Tool(gap) => {
                        let opening = Opening::Named(shape, name, None, false);
                        return Some(Some(Decision::Open(row, opening, length + gap)));
                    }
                    Addressed::Nobody => {}
                }
            }
        }
        Some(None)
    }

    /// A header that begins with its recipient, because the prompt has written who speaks. The outer `None`
    /// waits for more.
    fn recipient(&self, rest: &[u8], eof: bool, setup: &Setup) -> Option<Option<Decision>> {
        const MARKS: [&[u8]; 2] = [b"to=", b" to="];
        let marked = MARKS.iter().find(|mark| rest.starts_with(mark));
        let Some(mark) = marked else {
            let partial = !eof && MARKS.iter().any(|mark| mark.starts_with(rest));
            return if partial { None } else { Some(None) };
        };
        let after = rest.get(mark.len()..).unwrap_or_default();
        let length = after.iter().take(LONGEST_NAME).take_while(|byte| is_name(**byte)).count();
        let next = after.get(length..).unwrap_or_default();
        if length == 0 && !next.is_empty() || length == LONGEST_NAME {
            return Some(None);
        }
        // A token follows in both dialects.
        if !eof && TOKEN.starts_with(next) {
            return None;
        }
        if !next.starts_with(TOKEN) {
            return Some(None);
        }
        for &row in &setup.framed {
            let frames = setup.rows.get(row).and_then(|row| row.frames);
            // The names of tools have a namespace in the other dialect.
            let other = after.starts_with(b"functions.");
            let counts = match frames {
                Some(Frames::Muse) => !other,
                Some(Frames::Harmony) => other,
                _ => false,
            };
            let Some(frames) = frames.filter(|_| counts) else { continue };
            if let Some((turn, length)) = frames::read(frames, rest, true, false, eof)? {
                return Some(Some(Decision::Turn(row, turn, length)));
            }
        }
        Some(None)
    }
}

/// The call of a known tool as a method, where the server has removed the token before it. The outer `None`
/// waits for more.
fn method(rest: &[u8], eof: bool, setup: &Setup) -> Option<Option<Decision>> {
    if !rest.first().is_some_and(|byte| is_name(*byte)) {
        return Some(None);
    }
    let called = |shape: &Shape| match shape {
        Shape::Python(block) if !block.method.is_empty() => Some(block.method),
        _ => None,
    };
    for (row, dialect) in setup.rows.iter().enumerate() {
        for (shape, own) in dialect.shapes.iter().enumerate() {
            let Some(suffix) = called(own) else { continue };
            let Some(mut opening) = python::open(rest, eof)? else { return Some(None) };
            let tool = opening.name.strip_suffix(suffix).filter(|name| setup.knows(name));
            if let Some(tool) = tool.map(str::to_owned) {
                opening.name = tool;
                let length = opening.length;
                let opening = Opening::Python(shape, opening);
                return Some(Some(Decision::Open(row, opening, length)));
            }
        }
    }
    Some(None)
}

/// The dialect whose messages without a recipient are for the user.
fn muse(setup: &Setup) -> Option<usize> {
    let is = |row: &usize| setup.rows.get(*row).is_some_and(|row| row.frames == Some(Frames::Muse));
    setup.framed.iter().copied().find(is)
}

/// Whom a header addresses, and the length of what ends it.
enum Addressed {
    User(usize),
    Tool(usize),
    Nobody,
}

/// Reads what follows a name that may be all of a header. Without the marker, only arguments make it the name
/// of a tool, or the next header after one that is `known`. `None` waits for more.
fn addressed(named: &Named, name: &str, known: bool, after: &[u8], eof: bool) -> Option<Addressed> {
    let mut gap = 0;
    let end = named.name_end.as_bytes();
    if after == b"\r" && !eof {
        return None;
    }
    for spelled in [end, b"\r\n"] {
        if after.starts_with(spelled) {
            gap = spelled.len();
        }
    }
    if gap == 0 {
        return Some(Addressed::Nobody);
    }
    if named.text_names.iter().any(|text| text == name) {
        return Some(Addressed::User(gap));
    }
    let (_, next) = past_space(after.get(gap..).unwrap_or_default(), eof)?;
    // The next header ends the call of a tool that is known.
    let open = named.open.as_bytes();
    if known && !open.is_empty() && next.len() < open.len() && open.starts_with(next) && !eof {
        return None;
    }
    let ended = known && !open.is_empty() && next.starts_with(open);
    let tool = ended || next.first() == Some(&b'{');
    Some(if tool { Addressed::Tool(gap) } else { Addressed::Nobody })
}
