//! Reading outside of documents: prose, fences, reasoning, and where a document begins.

use super::{Finder, State};
use crate::{
    Scope, TextSink,
    comment::{self, Comment},
    scalar::Scalar,
};
use wiremend_core::{
    RepairKind,
    prose::{Block, Mark, Quoted},
};

/// What a state did with the bytes that it was given.
enum Flow {
    /// It read this many bytes; continue.
    Read(usize),
    /// It read this many bytes, and needs more to continue.
    Wait(usize),
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl Finder {
    /// Reads `input` up to a document, or to a byte that cannot be decided yet. Returns how much
    /// was read.
    pub(super) fn read(&mut self, input: &[u8], eof: bool, sink: &mut impl TextSink) -> usize {
        let mut from = 0;
        while let Some(rest @ [_, ..]) = input.get(from..) {
            if self.is_again() {
                break;
            }
            let flow = match self.state {
                State::Start => self.read_start(rest, eof, sink),
                State::Comment(comment) => self.read_comment(comment, rest, sink),
                State::Scalar(scalar) => self.read_scalar(scalar, rest, sink),
                State::Text => self.read_text(rest, eof, sink),
                State::Reasoning(block) => self.read_reasoning(block, rest, eof, sink),
                State::Document => break,
                State::After => self.read_after(rest, sink),
                State::Rest => {
                    self.margin.rest(rest);
                    self.text(rest, sink);
                    Flow::Read(rest.len())
                }
            };
            let (Flow::Read(read) | Flow::Wait(read)) = flow;
            self.steps += 1 + read as u64;
            self.at += read;
            from += read;
            if matches!(flow, Flow::Wait(_)) {
                break;
            }
        }
        from
    }

    fn read_start(&mut self, rest: &[u8], eof: bool, sink: &mut impl TextSink) -> Flow {
        // Only white space may come before it.
        let first = !self.margin.has_mark() && self.margin.comments().is_empty();
        if first && rest.starts_with(BYTE_ORDER_MARK) {
            self.text(BYTE_ORDER_MARK, sink);
            self.margin.byte_order_mark(self.at + BYTE_ORDER_MARK.len());
            return Flow::Read(BYTE_ORDER_MARK.len());
        }
        if first && BYTE_ORDER_MARK.starts_with(rest) && !eof {
            return Flow::Wait(0);
        }
        let space = space_before(rest);
        if matches!(self.scope, Scope::All | Scope::Fenced) {
            self.state = State::Text;
        } else if space > 0 {
            return self.hold(rest.get(..space).unwrap_or_default(), sink);
        } else if self.scope == Scope::Whole && matches!(rest.first(), Some(b'/' | b'#')) {
            return match Comment::begin(rest, eof) {
                None => Flow::Wait(0),
                Some(None) => {
                    self.state = State::Text;
                    Flow::Read(0)
                }
                Some(Some(comment)) => {
                    self.margin.comment(self.at);
                    self.state = State::Comment(comment);
                    self.hold(rest.get(..comment::MARK).unwrap_or_default(), sink)
                }
            };
        } else if self.scope == Scope::Whole
            && let Some(&first) = rest.first()
            && let Some(scalar) = Scalar::begin(first)
        {
            if matches!(first, b'\'' | b'"') {
                match self.prose.quoted(rest, self.at, eof) {
                    None => return Flow::Wait(0),
                    Some(Quoted::Document) => {
                        self.state = State::Text;
                        return Flow::Read(0);
                    }
                    Some(Quoted::Member) if self.adds_brace() => {
                        self.begin(self.at, None, sink);
                        return Flow::Read(0);
                    }
                    Some(_) => {}
                }
            }
            self.waiting.push(first);
            self.state = State::Scalar(scalar);
            return Flow::Read(1);
        } else {
            self.state = State::Text;
        }
        Flow::Read(0)
    }

    fn read_comment(&mut self, comment: Comment, rest: &[u8], sink: &mut impl TextSink) -> Flow {
        // A comment that does not fit is text: read at most one byte more than the limit.
        let room = self.options.limits().buffer().saturating_sub(self.held.len()).saturating_add(1);
        let (length, open) = comment.read(rest.get(..room).unwrap_or(rest));
        let flow = self.hold(rest.get(..length).unwrap_or_default(), sink);
        if matches!(self.state, State::Comment(_)) {
            self.state = match open {
                Some(comment) => State::Comment(comment),
                None => {
                    self.margin.comment_closed(self.at + length);
                    State::Start
                }
            };
        }
        flow
    }

    fn read_scalar(&mut self, mut scalar: Scalar, rest: &[u8], sink: &mut impl TextSink) -> Flow {
        let room = self.options.limits().buffer().saturating_sub(self.held.len());
        for (at, &byte) in rest.iter().enumerate() {
            let Some(next) = scalar.step(byte, self.waiting.len()) else {
                self.state = State::Text;
                return Flow::Read(at);
            };
            self.waiting.push(byte);
            scalar = next;
            if self.waiting.len() > room {
                // A string this long is not a quotation at the start of a sentence.
                if scalar.is_open_string() {
                    self.begin(self.at + at + 1 - self.waiting.len(), None, sink);
                } else {
                    self.state = State::Text;
                }
                return Flow::Read(at + 1);
            }
        }
        self.state = State::Scalar(scalar);
        Flow::Read(rest.len())
    }

    fn read_text(&mut self, rest: &[u8], eof: bool, sink: &mut impl TextSink) -> Flow {
        let mut at = 0;
        while let Some(ahead @ [_, ..]) = rest.get(at..) {
            let plain = self.prose.plain(ahead);
            if plain > 0 {
                self.pass(ahead.get(..plain).unwrap_or_default());
                at += plain;
                continue;
            }
            let mark = self.mark(ahead, self.at + at, eof);
            let before = rest.get(..at).unwrap_or_default();
            let through = |length: usize| rest.get(..at + length).unwrap_or(rest);
            match mark {
                None => {
                    self.text(before, sink);
                    return Flow::Wait(at);
                }
                Some(mark @ (Mark::Document | Mark::Marked(_))) => {
                    self.text(before, sink);
                    if self.prose.fence().is_some() || self.margin.has_prose() {
                        self.flush_held(sink);
                    }
                    let marks = if let Mark::Marked(marks) = mark { Some(marks) } else { None };
                    self.begin(self.at + at, marks, sink);
                    return Flow::Read(at);
                }
                Some(Mark::Reasoning(block, length)) => {
                    self.text(through(length), sink);
                    self.margin.prose();
                    self.state = State::Reasoning(block);
                    return Flow::Read(at + length);
                }
                Some(Mark::Open(fence, length)) => {
                    self.text(through(length), sink);
                    self.margin.fence_opened(ahead.get(..length).unwrap_or_default());
                    if self.margin.is_after() || !self.margin.comments().is_empty() {
                        self.margin.prose();
                    }
                    self.prose.open_fence(fence);
                    return Flow::Read(at + length);
                }
                Some(Mark::Close(length)) => {
                    self.text(through(length), sink);
                    self.margin.fence_closed(self.at + at + length);
                    self.prose.close_fence(ahead.get(..length).unwrap_or_default());
                    return Flow::Read(at + length);
                }
                Some(mark) => {
                    let length = if let Mark::Text(length) = mark { length } else { 1 };
                    self.pass(ahead.get(..length).unwrap_or(ahead));
                    at += length;
                }
            }
        }
        self.text(rest, sink);
        Flow::Read(rest.len())
    }

    /// Passes on the text at the start of a chunk that is text whatever follows it, as all of most chunks
    /// is. Returns the rest.
    pub(super) fn pass_plain<'c>(&mut self, chunk: &'c [u8], sink: &mut impl TextSink) -> &'c [u8] {
        let (text, rest) = chunk.split_at(self.prose.plain(chunk));
        if !text.is_empty() {
            self.pass(text);
            self.text(text, sink);
            self.steps += 1 + text.len() as u64;
            self.at += text.len();
        }
        rest
    }

    /// Decides what is at the start of `ahead`, which is at `offset` of the input. `None` waits for
    /// more.
    fn mark(&mut self, ahead: &[u8], offset: usize, eof: bool) -> Option<Mark> {
        self.steps += ahead.len().min(self.options.limits().lookahead()) as u64;
        let guide = self.options.guide().map(|guide| &**guide);
        let mut mark = self.prose.mark(ahead, offset, eof, guide);
        let quote = matches!(ahead.first(), Some(b'"' | b'\''));
        if quote && matches!(mark, Some(Mark::Document)) && !self.adds_brace() {
            mark = Some(Mark::Text(1));
        }
        if let Some(Mark::Text(length)) = mark {
            self.steps += length as u64;
        }
        mark
    }

    /// Whether the opening brace may be added that a member lacks.
    fn adds_brace(&self) -> bool {
        self.options.policy().allows(RepairKind::MissingOpen)
    }

    fn read_reasoning(
        &mut self,
        block: Block,
        rest: &[u8],
        eof: bool,
        sink: &mut impl TextSink,
    ) -> Flow {
        let (inside, close) = block.inside(rest, eof);
        if let Some(bytes @ [_, ..]) = rest.get(..inside) {
            sink.reasoning(bytes);
        }
        if let Some(length) = close {
            self.text(rest.get(inside..inside + length).unwrap_or_default(), sink);
            self.prose.end_reasoning();
            self.state = State::Text;
            return Flow::Read(inside + length);
        }
        if inside < rest.len() { Flow::Wait(inside) } else { Flow::Read(inside) }
    }

    fn read_after(&mut self, rest: &[u8], sink: &mut impl TextSink) -> Flow {
        let space = space_before(rest);
        if let Some(bytes @ [_, ..]) = rest.get(..space) {
            if !self.margin.has_closers() {
                return self.hold(bytes, sink);
            }
            self.text(bytes, sink);
            self.prose.pass_space(bytes);
            self.margin.bytes(bytes);
            return Flow::Read(space);
        }
        let closers = rest.iter().take_while(|byte| matches!(byte, b'}' | b']')).count();
        if let Some(bytes @ [_, ..]) = rest.get(..closers) {
            self.text(bytes, sink);
            self.prose.pass_space(bytes);
            self.margin.closers(self.at + closers);
            return Flow::Read(closers);
        }
        if matches!(rest.first(), Some(b'"' | b'\'')) {
            self.margin.quote(self.at);
        }
        self.state = State::Text;
        Flow::Read(0)
    }

    /// Withholds white space until it is known what it belongs to. If there is too much, it is
    /// prose.
    fn hold(&mut self, space: &[u8], sink: &mut impl TextSink) -> Flow {
        self.held.extend_from_slice(space);
        self.prose.pass_space(space);
        self.margin.bytes(space);
        if self.held.len() > self.options.limits().buffer() {
            self.flush_held(sink);
            self.margin.prose();
            self.state = State::Text;
        }
        Flow::Read(space.len())
    }

    /// Moves past text.
    fn pass(&mut self, text: &[u8]) {
        self.prose.pass(text);
        if self.is_single() {
            self.margin.bytes(text);
        }
        let blank = || text.iter().all(|byte| is_space(*byte));
        let noted = self.margin.has_prose() && self.prose.fence().is_none();
        if !noted && !blank() && (self.prose.fence().is_none() || self.margin.is_after()) {
            self.margin.prose();
        }
    }
}

/// How many bytes of JSON white space are at the start of `bytes`.
fn space_before(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| is_space(**byte)).count()
}

/// Whether `byte` is white space in JSON.
const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
