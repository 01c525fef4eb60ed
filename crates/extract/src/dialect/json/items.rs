//! Where a list of calls ends that lacks its bracket: text follows one of its items.

use super::{JsonCall, Phase, SPACE, Step, window};
use crate::dialect::{envelope::Ending, out::Ctx, sink::CallSink};

impl JsonCall {
    /// Passes the first bytes of `rest` to the mender, up to an item that text may follow.
    pub(super) fn feed_items<S: CallSink>(
        &mut self,
        rest: &[u8],
        length: usize,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        if self.envelope.is_named() || !self.envelope.may_list() {
            return self.feed(rest, length, ctx);
        }
        let bytes = rest.get(..length).unwrap_or_default();
        let mut ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'}');
        let end = ends.find(|(at, _)| {
            let after = rest.get(at + 1..).unwrap_or_default();
            text_follows(after, false) != Some(false)
        });
        let step = self.feed(rest, end.map_or(length, |(at, _)| at + 1), ctx);
        if end.is_some() && self.phase == Phase::Value && self.envelope.is_between_items() {
            self.phase = Phase::Item;
        }
        step
    }

    /// Decides whether a list of calls goes on after an item.
    pub(super) fn item<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        match text_follows(rest, eof) {
            None => Step::Wait,
            Some(true) => self.end_value(Ending::Marker, false, ctx),
            Some(false) => {
                self.phase = Phase::Value;
                Step::Read(0)
            }
        }
    }
}

/// How many bytes of a word are looked at.
const WORD: usize = 64;

/// Whether text follows an item of a list, and no further item. `None` waits for more.
fn text_follows(rest: &[u8], eof: bool) -> Option<bool> {
    let (rest, over) = window(rest, SPACE + WORD, eof);
    let none = || if over { Some(false) } else { None };
    let (mut at, mut comma) = (0, false);
    let first = loop {
        match rest.get(at) {
            None => return none(),
            Some(b',') if !comma => comma = true,
            Some(byte) if byte.is_ascii_whitespace() => {}
            Some(byte) => break *byte,
        }
        at += 1;
    };
    if !first.is_ascii_alphabetic() && first < 0x80 {
        return Some(false);
    }
    let text = rest.get(at..).unwrap_or_default();
    // A quotation mark outside ASCII begins a string, unless it is in a word.
    if first == 0xe2 && text.len() < 2 && !over {
        return None;
    }
    if text.starts_with(b"\xe2\x80") {
        return Some(false);
    }
    let in_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_' || **byte >= 0x80;
    let (word, after) = text.split_at(text.iter().take_while(in_word).count());
    let next = after.iter().position(|byte| !byte.is_ascii_whitespace());
    let next = match next.and_then(|at| Some((at, *after.get(at)?))) {
        Some(next) => next,
        None if over => (0, b' '),
        None => return None,
    };
    let literal = matches!(word, b"null" | b"None" | b"true" | b"True" | b"false" | b"False");
    Some(match next {
        _ if literal => false,
        // One word may be all that is between two items.
        (_, b']' | b'}' | b'{') | (0, b'(' | b'[' | b'=') => false,
        (_, b':') => !comma,
        _ => true,
    })
}
