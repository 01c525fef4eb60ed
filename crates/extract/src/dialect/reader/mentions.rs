//! Whether markers mean something where they are, or are mentioned.

use super::{
    CallExtractor,
    decide::{Decision, LONGEST_NAME, Opening},
    place::TextBefore,
};
use crate::dialect::{
    json::{past_space, window},
    markers::MarkersHere,
    setup::{Entry, Setup, What},
    shape::{Layout, Shape},
    wake::is_word,
};

impl CallExtractor {
    /// Whether there was a call of this dialect. Dialects share markers, so if all of them are looked
    /// for, any call counts.
    fn has_made(&self, row: usize) -> bool {
        let any = self.auto && (self.after.is_some() || !self.made.is_empty());
        any || self.made.contains(&row) || self.after == Some(row)
    }

    /// Whether a marker closes what was opened around calls. It is text if that was, and where it is
    /// mentioned: what follows a call, but for white space and other markers, is no prose, nor is a
    /// control token without quotes, or a tag on a line of its own. `None` waits for more.
    pub(super) fn may_close(
        &self,
        row: usize,
        length: usize,
        rest: &[u8],
        place: TextBefore,
        eof: bool,
    ) -> Option<bool> {
        if !self.has_made(row) || self.out.shown {
            return Some(false);
        }
        if self.after.is_some() || self.around.is_some() {
            return Some(true);
        }
        // It belongs to one whose source may be wanted as a text.
        if !self.out.ran {
            return Some(false);
        }
        let token =
            ["<|", "<｜", "]<]", "[/"].iter().any(|begin| rest.starts_with(begin.as_bytes()));
        if token {
            return Some(!matches!(place.prev(), b'`' | b'"' | b'\''));
        }
        if place.prev() != b'\n' {
            return Some(false);
        }
        match rest.get(length) {
            Some(next) => Some(matches!(next, b'\n' | b'\r')),
            None if eof => Some(true),
            None => None,
        }
    }

    /// Whether a tag closes a reasoning block that the prompt opened, so that all that was read is
    /// reasoning. After a call it does not if nothing but white space is between the two, or if it
    /// has blanks on both sides, as what a sentence mentions. `None` waits for more.
    pub(super) fn ends_reasoning(
        &self,
        length: usize,
        rest: &[u8],
        place: TextBefore,
        eof: bool,
    ) -> Option<bool> {
        if self.seen || self.made.is_empty() {
            return Some(!self.seen);
        }
        if !place.spoke {
            return Some(false);
        }
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        match rest.get(length) {
            _ if !is_blank(&place.prev()) => Some(true),
            Some(next) => Some(!is_blank(next)),
            None if eof => Some(true),
            None => None,
        }
    }

    /// A call in the dialect that was named, after one of these markers, that is not written as the dialect
    /// writes it: it is not passed on without a word if it names a known tool. `None` waits for more.
    pub(super) fn unread(
        &self,
        found: &[(usize, usize)],
        rest: &[u8],
        place: TextBefore,
        eof: bool,
        setup: &Setup,
    ) -> Option<Option<Decision>> {
        // Detected, only a control token is no text.
        let text = setup.auto && !TOKENS.iter().any(|token| rest.starts_with(token.as_bytes()));
        let takes = place.seat.takes_marker(!setup.auto);
        if text || self.is_quiet() || !takes || matches!(place.prev(), b'`' | b'"' | b'\'') {
            return Some(None);
        }
        for (id, length) in found {
            let Some(Entry { row, what: What::Open(shape) }) = setup.entries.get(*id) else {
                continue;
            };
            let own = setup.rows.get(*row).and_then(|row| row.shapes.get(*shape));
            let closed = own.is_some_and(|shape| match shape {
                Shape::Xml(xml) => {
                    xml.layout != Layout::Tools && !rest.starts_with(xml.tag.1.as_bytes())
                }
                _ => shape.closers().iter().any(|text| !text.is_empty()),
            });
            if !closed {
                continue;
            }
            let after = rest.get(*length..).unwrap_or_default();
            if setup.auto && place.mentions(Some(after), true, eof)? {
                continue;
            }
            if let Some(name) = name_within(after, setup, eof)? {
                return Some(Some(Decision::Open(*row, Opening::Unread(*shape, name), *length)));
            }
        }
        Some(None)
    }
}

/// What the control tokens begin with of which calls are made.
const TOKENS: [&str; 2] = ["<|", "<｜"];

/// How far a name is looked for after a marker, in bytes, and among how many words.
const NEAR: (usize, usize) = (96, 3);

/// The name of a known tool among the first words of `rest`. The outer `None` waits for more.
pub(super) fn name_within(rest: &[u8], setup: &Setup, eof: bool) -> Option<Option<String>> {
    let (near, ended) = window(rest, NEAR.0, eof);
    let in_name = |byte: &u8| is_word(*byte) || *byte == b'-';
    let mut at = 0;
    for _ in 0..NEAR.1 {
        let rest = near.get(at..).unwrap_or_default();
        let start = at + rest.iter().take_while(|byte| !in_name(byte)).count();
        // Another marker may have the name after it, and be read as what it is.
        for at in at..start {
            match setup.markers.at(near.get(at..).unwrap_or_default(), ended) {
                MarkersHere::Partial => return None,
                MarkersHere::Nothing => {}
                MarkersHere::Here(found) => {
                    let entry = |(id, _): &(usize, usize)| setup.entries.get(*id);
                    let opens = |entry: &Entry| matches!(entry.what, What::Open(_));
                    if found.iter().filter_map(entry).any(opens) {
                        return Some(None);
                    }
                }
            }
        }
        let rest = near.get(start..).unwrap_or_default();
        at = start + rest.iter().take_while(|byte| in_name(byte)).count();
        if at == near.len() && !ended {
            return None;
        }
        // More of the word may come after what is looked at.
        if at == NEAR.0 {
            return Some(None);
        }
        let word = String::from_utf8_lossy(near.get(start..at).unwrap_or_default());
        let last = word.rsplit('.').next().unwrap_or_default();
        if let Some(name) = [&*word, last].into_iter().find(|name| setup.knows(name)) {
            return Some(Some(name.to_owned()));
        }
    }
    Some(None)
}

/// The name of a known tool after a tag of some length, if the text ends after it or the tag comes again:
/// the name, and the length of both. The outer `None` waits for more.
pub(super) fn name_alone(
    rest: &[u8],
    tag: usize,
    setup: &Setup,
    eof: bool,
) -> Option<Option<(String, usize)>> {
    let (begin, after) = rest.split_at_checked(tag)?;
    let (space, text) = past_space(after, eof)?;
    let in_name = |byte: &&u8| is_word(**byte) || matches!(byte, b'.' | b'-');
    let length = text.iter().take(LONGEST_NAME).take_while(in_name).count();
    let (name, after) = text.split_at(length);
    let name = String::from_utf8_lossy(name).into_owned();
    if after.is_empty() && !eof {
        return if length < LONGEST_NAME { None } else { Some(None) };
    }
    let (_, next) = past_space(after, eof)?;
    if !eof && next.len() < begin.len() && begin.starts_with(next) {
        return None;
    }
    let alone = next.is_empty() || next.starts_with(begin);
    Some((alone && setup.knows(&name)).then_some((name, tag + space + length)))
}
