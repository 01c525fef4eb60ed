//! The mending of one body.

use std::{sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use tokio::time::Instant;
use wiremend_exchange::{Account, Answer};
use wiremend_wire::{Rewriter, Rewritten};

use super::{Ended, Passing};
use crate::{
    aside::{LONG, TURN},
    live::Watched,
    shared::{Held, Shared},
};

/// The bytes that leave at a time, although more is there to be mended.
const FRAME: usize = 16 << 10;

/// The part of the longest silence after which what keeps a connection alive no longer waits.
pub(crate) const QUIET: u32 = 20;

/// The mending of one body.
pub(crate) struct Work {
    pub(crate) answer: Box<Answer>,
    /// The time that the gateway itself took.
    pub(crate) overhead: Duration,
    out: BytesMut,
    held: Held,
    watched: Arc<Watched>,
    shared: Arc<Shared>,
    /// When the last bytes left.
    left: Instant,
    /// The comment at the end has left.
    said: bool,
    ended: bool,
    /// The last bytes took longer than others would wait.
    slow: bool,
    /// What has come and is not mended yet.
    rest: Bytes,
    /// Nothing follows that.
    ends: bool,
    /// When the others had their turn last.
    turn: Option<Instant>,
}

impl Work {
    pub(crate) fn new(answer: Box<Answer>, overhead: Duration, passing: &Passing) -> Self {
        Self {
            answer,
            overhead,
            out: BytesMut::new(),
            held: passing.shared.held(),
            watched: Arc::clone(&passing.watched),
            shared: Arc::clone(&passing.shared),
            left: Instant::now(),
            said: false,
            ended: false,
            slow: false,
            rest: Bytes::new(),
            ends: false,
            turn: None,
        }
    }

    /// What was done, and the time that it took.
    pub(crate) fn into_done(self) -> (Account, Duration) {
        (self.answer.into_account(), self.overhead)
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        let began = Instant::now();
        let Self { answer, out, watched, .. } = self;
        answer.push(chunk, &mut |piece| take(out, watched, &piece));
        let memory = |answer: &Answer| answer.rewriter().map_or(0, Rewriter::memory);
        if !self.ended && !self.held.set(memory(&self.answer)) {
            // Others need the room more than this answer.
            let Self { answer, out, watched, .. } = self;
            answer.release(&mut |piece| take(out, watched, &piece));
            self.held.set(memory(&self.answer));
        }
        self.keep_alive(chunk, began);
        self.answer.rewriter().iter().for_each(|own| self.watched.look(&self.shared.live, own));
        let took = began.elapsed();
        self.slow = took > TURN;
        self.overhead += took;
    }

    /// The bytes that wait.
    fn withheld(&self) -> usize {
        self.answer.rewriter().map_or(0, Rewriter::withheld)
    }

    /// Takes a chunk, which is mended when it [goes on](Self::go_on). There must be nothing left of the last one.
    pub(super) fn give(&mut self, chunk: &Bytes) {
        self.rest = chunk.clone();
    }

    /// Nothing follows.
    pub(super) fn end(&mut self) {
        self.ends = true;
    }

    /// Whether there is something to mend.
    pub(super) fn has_more(&self) -> bool {
        !self.rest.is_empty() || self.ends
    }

    /// Whether there is something to mend that does not take long. Few bytes may do so, too: where the last ones did, or so
    /// much waits that it takes long to read it once more, as the end of a call may make it necessary.
    pub(super) fn is_short(&self) -> bool {
        self.has_more() && !self.slow && self.withheld() <= LONG
    }

    /// Mends at most so many bytes of what is there, and ends if nothing follows them.
    pub(super) fn go_on(&mut self, most: usize) {
        let piece = self.rest.split_to(self.rest.len().min(most));
        if !piece.is_empty() {
            self.push(&piece);
        }
        if self.rest.is_empty() && core::mem::take(&mut self.ends) {
            self.finish();
        }
    }

    /// Whether others should have their turn.
    pub(super) fn is_turn_over(&mut self) -> bool {
        self.turn.get_or_insert_with(Instant::now).elapsed() > TURN
    }

    /// What may leave, where it is much, others have their turn, or nothing is there that is mended in a short time: to send
    /// each piece takes longer than to mend it.
    pub(super) fn take_frame(&mut self, turn_is_over: bool) -> Option<Bytes> {
        let waits = self.is_short() && !turn_is_over && self.out.len() < FRAME;
        if waits { None } else { self.take() }
    }

    /// Others have their turn now.
    pub(super) fn pause(&mut self) {
        self.turn = None;
    }

    /// Sends on a copy of what the provider sent to keep the connection alive, if that waits for a call that is held, and
    /// nothing has left for a while.
    fn keep_alive(&mut self, chunk: &[u8], now: Instant) {
        let quiet = self.shared.config.limits().idle() / QUIET;
        let is_quiet = self.out.is_empty() && now.saturating_duration_since(self.left) > quiet;
        if is_quiet && self.answer.is_keep_alive(chunk) {
            self.out.extend_from_slice(chunk);
        }
    }

    /// Ends the body as upstream has ended it.
    pub(crate) fn finish(&mut self) {
        let began = Instant::now();
        let Self { answer, out, watched, .. } = self;
        answer.finish(&mut |piece| take(out, watched, &piece));
        self.ended = true;
        self.held.set(0);
        self.overhead += began.elapsed();
    }

    /// Ends the body where upstream failed: what waits leaves as it came.
    pub(super) fn stop(&mut self) {
        let Self { answer, out, watched, .. } = self;
        answer.stop(&mut |piece| take(out, watched, &piece));
        self.ended = true;
        self.held.set(0);
    }

    /// The client has gone. Many do as soon as they have read the end of a stream, and then nothing is missing.
    pub(super) fn leave(&mut self) -> Ended {
        let is_whole = self.answer.rewriter().is_some_and(Rewriter::is_ended);
        if is_whole && self.out.is_empty() {
            self.finish();
            Ended::Whole
        } else {
            self.stop();
            Ended::Open
        }
    }

    pub(crate) fn take(&mut self) -> Option<Bytes> {
        if self.out.is_empty() {
            return None;
        }
        self.left = Instant::now();
        Some(self.out.split().freeze())
    }

    /// A comment that says what was done, once, if that is wanted. Only between two events.
    pub(super) fn comment(&mut self) -> Option<Bytes> {
        if core::mem::replace(&mut self.said, true) {
            return None;
        }
        self.answer.comment(Some(self.overhead)).map(Bytes::from)
    }
}

fn take(out: &mut BytesMut, watched: &Watched, piece: &Rewritten<'_>) {
    match piece {
        Rewritten::Bytes(bytes) => out.extend_from_slice(bytes),
        Rewritten::Event(event) => watched.note(event),
        _ => {}
    }
}
