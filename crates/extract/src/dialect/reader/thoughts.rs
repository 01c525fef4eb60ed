//! Reasoning: where blocks of it begin and end.

use wiremend_core::prose::reasoning;

use super::{
    CallExtractor, State, Thought,
    decide::Decision,
    mentions::name_within,
    place::{LAST, TextBefore, keep_last},
};
use crate::dialect::{json::Step, react, setup::Setup, sink::CallSink};

/// The longest suffix of a tag, in bytes.
const LONGEST_SUFFIX: usize = 64;

/// The other spelling of a closing tag that models mix up.
fn other_spelling(close: &[u8]) -> Option<&'static [u8]> {
    match close {
        b"</think>" => Some(b"</thinking>"),
        b"</thinking>" => Some(b"</think>"),
        _ => None,
    }
}

impl CallExtractor {
    /// The tag of a reasoning block at the start of `rest`. The outer `None` waits for more.
    pub(super) fn reasoning_tag(
        &self,
        rest: &[u8],
        place: TextBefore,
        eof: bool,
    ) -> Option<Option<Decision>> {
        if !matches!(rest.first(), Some(b'<' | b'[' | 0xE2)) {
            return Some(None);
        }
        if place.is_line_start()
            && let Some((block, length)) = reasoning::open(rest, eof)?
        {
            let close = block.close().as_bytes().to_vec();
            return Some(Some(Decision::Reasoning(length, close)));
        }
        let may_close = match rest {
            [b'<' | b'[', second, ..] => matches!(second, b'/' | b'|'),
            _ => true,
        };
        // A closing tag in quotes is mentioned.
        if (!self.seen || self.interrupted)
            && may_close
            && !matches!(place.prev(), b'`' | b'"' | b'\'')
            && let Some(length) = reasoning::stray_close(rest, eof)?
        {
            if self.mentioned {
                return Some(Some(Decision::Text(length)));
            }
            if !self.interrupted && !self.ends_reasoning(length, rest, place, eof)? {
                return Some(None);
            }
            return Some(Some(match self.interrupted {
                true => Decision::Closed(length),
                false => Decision::WasReasoning(length),
            }));
        }
        Some(None)
    }

    /// Reads reasoning up to its end.
    pub(super) fn reasoning<S: CallSink>(
        &mut self,
        mut thought: Thought,
        rest: &[u8],
        eof: bool,
        setup: &Setup,
        sink: &mut S,
    ) -> Step {
        let Some(&first) = thought.close.first() else {
            return self.framed_reasoning(rest, eof, setup, sink);
        };
        let clear = self.clear_thought(&thought, first, rest, setup);
        if clear > 0 {
            let text = rest.get(..clear).unwrap_or_default();
            self.out.reasoning(text, sink);
            keep_last(&mut self.last, text);
            self.state = State::Reasoning(thought);
            return Step::Read(clear);
        }
        if let Some(other) = other_spelling(&thought.close) {
            let head = rest.get(..other.len()).unwrap_or(rest);
            let begins = other.get(..head.len()).is_some_and(|tag| tag.eq_ignore_ascii_case(head));
            if begins && head.len() == other.len() {
                self.out.markup(head, sink);
                self.last = [b'\n'; LAST];
                return Step::Read(other.len());
            }
            if begins && !eof {
                self.state = State::Reasoning(thought);
                return Step::Wait;
            }
        }
        let close = thought.close.as_slice();
        let head = rest.get(..close.len()).unwrap_or(rest);
        let same = head.len() == close.len() && head.eq_ignore_ascii_case(close);
        let labels = close.starts_with(b"\n");
        // In inline code, the tag is mentioned.
        let quoted = same && !labels && self.last.last() == Some(&b'`');
        if quoted && rest.len() == close.len() && !eof {
            self.state = State::Reasoning(thought);
            return Step::Wait;
        }
        if quoted && rest.get(close.len()) == Some(&b'`') {
            self.out.reasoning(head, sink);
            self.last = [b'\n'; LAST];
            let length = head.len();
            self.state = State::Reasoning(thought);
            return Step::Read(length);
        }
        if same {
            // A label of the ReAct prompt is read as text.
            if labels {
                self.out.reasoning(b"\n", sink);
                self.last = [b'\n'; LAST];
                return Step::Read(1);
            }
            self.out.markup(head, sink);
            self.last = [b'\n'; LAST];
            return Step::Read(close.len());
        }
        let partial = close.get(..head.len()).is_some_and(|start| start.eq_ignore_ascii_case(head));
        if partial && !eof {
            self.state = State::Reasoning(thought);
            return Step::Wait;
        }
        let answers = |mark: &&str| mark.starts_with('\n');
        if labels && self.ends_thought(rest, eof, answers).unwrap_or(true) {
            if self.ends_thought(rest, eof, answers).is_none() {
                self.state = State::Reasoning(thought);
                return Step::Wait;
            }
            self.out.reasoning(b"\n", sink);
            self.last = [b'\n'; LAST];
            return Step::Read(1);
        }
        // A control token that begins a call ends the reasoning, too.
        if rest.starts_with(b"<|") || rest.starts_with("<｜".as_bytes()) {
            let place = TextBefore::AFTER_MARKUP;
            match self.decide(rest, place, eof, setup) {
                None => {
                    self.state = State::Reasoning(thought);
                    return Step::Wait;
                }
                Some(Decision::Open(..) | Decision::Markup(_) | Decision::Around(..)) => {
                    self.interrupted = true;
                    self.last = [b'\n'; LAST];
                    return Step::Read(0);
                }
                Some(_) => {}
            }
        } else if !eof && (rest == b"<" || "<｜".as_bytes().starts_with(rest)) {
            self.state = State::Reasoning(thought);
            return Step::Wait;
        } else if thought.draft.is_none() {
            match self.draft(rest, eof, setup) {
                None => {
                    self.state = State::Reasoning(thought);
                    return Step::Wait;
                }
                Some(draft) => thought.draft = draft,
            }
        }
        let text = rest.get(..1).unwrap_or_default();
        self.out.reasoning(text, sink);
        keep_last(&mut self.last, text);
        self.state = State::Reasoning(thought);
        Step::Read(1)
    }

    /// How much of `rest` is reasoning in which neither what closes the block nor a call begins.
    fn clear_thought(&self, thought: &Thought, close: u8, rest: &[u8], setup: &Setup) -> usize {
        let plain = match thought.draft {
            Some(_) => rest.len(),
            None => self.plain(rest, 0, setup),
        };
        let text = rest.get(..plain).unwrap_or(rest);
        text.iter().position(|byte| *byte == close).unwrap_or(plain)
    }

    /// The row and the tool of the call that begins here, in reasoning that may turn out not to be closed. The
    /// outer `None` waits for more.
    fn draft(&self, rest: &[u8], eof: bool, setup: &Setup) -> Option<Option<(usize, String)>> {
        let place = TextBefore { last: self.last, ..TextBefore::AFTER_MARKUP };
        // In quotes, it is mentioned.
        if matches!(place.prev(), b'`' | b'"' | b'\'') {
            return Some(None);
        }
        let decision = self.decide(rest, place, eof, setup)?;
        let Decision::Open(row, opening, length) = decision else { return Some(None) };
        let name = match opening.name() {
            Some(name) => Some(name.to_owned()),
            None => name_within(rest.get(length..).unwrap_or_default(), setup, eof)?,
        };
        Some(
            name.filter(|name| setup.tools.is_empty() || setup.knows(name)).map(|name| (row, name)),
        )
    }

    /// Whether another label of the ReAct prompt follows a thought. `None` waits for more.
    fn ends_thought(&self, rest: &[u8], eof: bool, labels: impl Fn(&&str) -> bool) -> Option<bool> {
        let mut stops = react::STOPS.into_iter().filter(labels);
        let mut partial = false;
        let here = stops.any(|stop| {
            partial |= rest.len() < stop.len() && stop.as_bytes().starts_with(rest);
            rest.starts_with(stop.as_bytes())
        });
        if here || eof || !partial { Some(here) } else { None }
    }

    fn framed_reasoning<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        setup: &Setup,
        sink: &mut S,
    ) -> Step {
        let mut at = 0;
        while at < rest.len() {
            let here = rest.get(at..).unwrap_or_default();
            let clear = setup.clear(b' ', here);
            if clear > 0 {
                at += clear;
                continue;
            }
            match self.frame(here, false, eof, setup) {
                Some(None) => match self.interrupts(here, eof, setup) {
                    Some(false) => at += 1,
                    _ if at > 0 => break,
                    None => {
                        self.state = State::Reasoning(Thought::default());
                        return Step::Wait;
                    }
                    Some(true) => {
                        self.last = [b'\n'; LAST];
                        return Step::Read(0);
                    }
                },
                found if at > 0 => {
                    let _ = found;
                    break;
                }
                None => {
                    self.state = State::Reasoning(Thought::default());
                    return Step::Wait;
                }
                Some(Some((row, turn, length))) => {
                    self.state = State::Text;
                    self.turn(row, turn, rest.get(..length).unwrap_or_default(), setup, sink);
                    return Step::Read(length);
                }
            }
        }
        self.out.reasoning(rest.get(..at).unwrap_or_default(), sink);
        self.state = State::Reasoning(Thought::default());
        Step::Read(at)
    }

    /// Whether a control token begins a call here, although the message with the reasoning was not ended.
    /// `None` waits for more.
    fn interrupts(&self, rest: &[u8], eof: bool, setup: &Setup) -> Option<bool> {
        const MARKS: [&[u8]; 2] = [b"<|", "<｜".as_bytes()];
        if !MARKS.iter().any(|mark| rest.starts_with(mark)) {
            let partial = !eof && MARKS.iter().any(|mark| mark.starts_with(rest));
            return if partial { None } else { Some(false) };
        }
        let decision = self.decide(rest, TextBefore::AFTER_MARKUP, eof, setup)?;
        Some(matches!(decision, Decision::Open(..)))
    }
}

/// The length of the marker at the start of `rest`. One that ends with a colon goes on with a suffix, which
/// a release of the model or an answer has chosen, and `>`. The outer `None` waits for more.
pub(super) fn with_suffix(rest: &[u8], length: usize, eof: bool) -> Option<Option<usize>> {
    if rest.get(..length).is_none_or(|marker| !marker.ends_with(b":")) {
        return Some(Some(length));
    }
    let after = rest.get(length..).unwrap_or_default();
    let in_suffix = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let suffix = after.iter().take(LONGEST_SUFFIX).take_while(in_suffix).count();
    match after.get(suffix) {
        None if !eof => None,
        Some(b'>') if suffix > 0 => Some(Some(length + suffix + 1)),
        _ => Some(None),
    }
}
