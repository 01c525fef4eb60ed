//! The mending of one body.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use tokio::time::Instant;
use wiremend_wire::{Framing, RewriteOptions, Rewriter, Rewritten};

use super::{Ended, Passing};
use crate::{
    account::Account,
    aside::{LONG, TURN},
    live::Watched,
    shared::{Held, Shared},
};

/// The bytes that leave at a time, although more is there to be mended.
const FRAME: usize = 16 << 10;

/// The mending of one body.
pub(crate) struct Work {
    rewriter: Rewriter,
    pub(crate) account: Account,
    out: BytesMut,
    held: Held,
    watched: Arc<Watched>,
    shared: Arc<Shared>,
    /// The last bytes that left, which say whether an event has ended.
    last: [u8; 4],
    /// When they left.
    left: Instant,
    /// Whether what has come ends with the end of an event.
    whole_events: bool,
    /// Whether nothing but white space has come.
    blank: bool,
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
    pub(crate) fn new(options: RewriteOptions, account: Account, passing: &Passing) -> Self {
        Self {
            rewriter: Rewriter::new(options),
            account,
            out: BytesMut::new(),
            held: passing.shared.held(),
            watched: Arc::clone(&passing.watched),
            shared: Arc::clone(&passing.shared),
            last: *b"\n\n\n\n",
            left: Instant::now(),
            whole_events: true,
            blank: true,
            ended: false,
            slow: false,
            rest: Bytes::new(),
            ends: false,
            turn: None,
        }
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        let began = Instant::now();
        let chunk = self.pass_blank(chunk);
        let Self { rewriter, account, out, watched, .. } = self;
        rewriter.push(chunk, &mut |piece| take(out, account, watched, &piece));
        if !self.ended && !self.held.set(self.rewriter.memory()) {
            // Others need the room more than this answer.
            let Self { rewriter, account, out, watched, .. } = self;
            rewriter.release(&mut |piece| take(out, account, watched, &piece));
            self.held.set(self.rewriter.memory());
        }
        self.keep_alive(chunk, began);
        self.watched.look(&self.shared.live, &self.rewriter);
        let took = began.elapsed();
        self.slow = took > TURN;
        self.account.overhead += took;
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
        self.has_more() && !self.slow && self.rewriter.withheld() <= LONG
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

    /// Sends on the white space at the start of a body, which may keep the connection alive. Returns the rest.
    fn pass_blank<'c>(&mut self, chunk: &'c [u8]) -> &'c [u8] {
        if !self.blank {
            return chunk;
        }
        let rest = chunk.trim_ascii_start();
        self.blank = rest.is_empty();
        self.out.extend_from_slice(&chunk[..chunk.len() - rest.len()]);
        rest
    }

    /// Sends on a copy of what the provider sent to keep the connection alive, if that waits for a call that is held, and
    /// nothing has left for a while.
    fn keep_alive(&mut self, chunk: &[u8], now: Instant) {
        let ends = chunk.ends_with(b"\n\n") || chunk.ends_with(b"\r\n\r\n");
        let began = core::mem::replace(&mut self.whole_events, ends);
        let quiet = self.shared.config.limits().idle() / QUIET;
        if began
            && ends
            && self.out.is_empty()
            && self.rewriter.withheld() > 0
            && now.saturating_duration_since(self.left) > quiet
            && self.is_between_events()
            && is_keep_alive(chunk)
        {
            self.out.extend_from_slice(chunk);
        }
    }

    /// Ends the body as upstream has ended it.
    pub(crate) fn finish(&mut self) {
        let began = Instant::now();
        if !self.ended {
            let Self { rewriter, account, out, watched, .. } = self;
            account.body = Some(rewriter.finish(&mut |piece| take(out, account, watched, &piece)));
        }
        self.ended = true;
        self.held.set(0);
        self.account.overhead += began.elapsed();
    }

    /// Ends the body where upstream failed: what waits leaves as it came.
    pub(super) fn stop(&mut self) {
        if !self.ended {
            let Self { rewriter, account, out, watched, .. } = self;
            account.body = Some(rewriter.stop(&mut |piece| take(out, account, watched, &piece)));
        }
        self.ended = true;
        self.held.set(0);
    }

    /// The client has gone. Many do as soon as they have read the end of a stream, and then nothing is missing.
    pub(super) fn leave(&mut self) -> Ended {
        if self.rewriter.is_ended() && self.out.is_empty() {
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
        let bytes = self.out.split().freeze();
        self.left = Instant::now();
        let kept = &bytes[bytes.len().saturating_sub(4)..];
        self.last.rotate_left(kept.len());
        self.last[4 - kept.len()..].copy_from_slice(kept);
        Some(bytes)
    }

    /// A comment that says what was done. Only between two events.
    pub(super) fn comment(&mut self) -> Option<Bytes> {
        if !self.is_between_events() {
            return None;
        }
        let overhead = self.account.overhead.as_micros();
        Some(format!(": wiremend {}; overhead-us={overhead}\n\n", self.account.line()).into())
    }

    /// Whether what has left ends with the end of a server-sent event.
    fn is_between_events(&self) -> bool {
        let ended = self.last.ends_with(b"\n\n")
            || self.last == *b"\r\n\r\n"
            || self.last.ends_with(b"\r\r");
        ended && self.rewriter.framing() == Some(Framing::Sse)
    }
}

/// The part of the longest silence after which what keeps a connection alive no longer waits.
pub(crate) const QUIET: u32 = 20;

/// Whether a chunk has nothing but comments and pings.
fn is_keep_alive(chunk: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(chunk) else { return false };
    let pings = |line: &str| {
        let text: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        line.starts_with(':')
            || ["", "event:ping", "data:{\"type\":\"ping\"}"].contains(&text.as_str())
    };
    !text.trim().is_empty() && text.lines().all(pings)
}

fn take(out: &mut BytesMut, account: &mut Account, watched: &Watched, piece: &Rewritten<'_>) {
    match piece {
        Rewritten::Bytes(bytes) => out.extend_from_slice(bytes),
        Rewritten::Event(event) => {
            watched.note(event);
            account.note(event);
        }
        _ => {}
    }
}
