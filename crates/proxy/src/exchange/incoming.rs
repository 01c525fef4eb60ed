//! Bodies that are read as a whole.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body::Body as _;
use http_body_util::BodyExt as _;
use tokio::time::timeout;

use super::Trailers;
use crate::{
    refusal::Refusal,
    shared::{Held, Shared},
    timed::{BoxError, Timed, is_late},
    unpacked::Unpacked,
};

/// Reads the body of a request, and says how much it holds.
pub(super) async fn read(shared: &Arc<Shared>, body: Timed) -> Result<(Bytes, Held), Refusal> {
    let limit = shared.config.limits().body_bytes();
    let mut held = shared.held();
    let mut body = std::pin::pin!(body);
    if body.size_hint().lower() > limit as u64 {
        return Err(Refusal::BodyTooLarge);
    }
    let most =
        body.size_hint().upper().map_or(limit, |length| usize::try_from(length).unwrap_or(limit));
    let mut read = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            if is_late(&error) { Refusal::ClientSlow } else { Refusal::ClientGone }
        })?;
        let Ok(chunk) = frame.into_data() else { continue };
        if read.len() + chunk.len() > limit {
            return Err(Refusal::BodyTooLarge);
        }
        make_room(&mut read, chunk.len(), most.min(limit));
        read.extend_from_slice(&chunk);
        // What it takes, also where it is not filled.
        if !held.set(read.capacity()) {
            return Err(Refusal::TooBusy);
        }
    }
    Ok((read.into(), held))
}

/// Makes room for more bytes: half as much again as there are, so that few are copied, but for no more than `most` bytes in
/// all. A client may say that many will come, and send none, so it is not made at once.
fn make_room(read: &mut Vec<u8>, more: usize, most: usize) {
    let wanted = read.len() + more;
    if wanted > read.capacity() {
        let roomy = (wanted + wanted / 2).min(most.max(wanted));
        read.reserve_exact(roomy - read.len());
    }
}

/// A body of an answer, as far as it was read.
pub(super) struct Read {
    pub(super) chunks: VecDeque<Bytes>,
    pub(super) end: End,
}

/// Why no more was read.
pub(super) enum End {
    Whole(Trailers),
    Failed(BoxError),
    /// It is longer than what may be held.
    Long,
    /// Nothing but white space has come, which keeps the connection alive, and no more for a while.
    Slow,
}

impl Read {
    /// Reads up to `limit` bytes. After white space it waits no longer than `patience` for each further piece.
    pub(super) async fn of(
        body: &mut Unpacked,
        limit: usize,
        patience: Duration,
        held: &mut Held,
    ) -> Self {
        let (mut chunks, mut length, mut blank) = (VecDeque::<Bytes>::new(), 0, true);
        let end = loop {
            let frame = match body.frame() {
                next if blank && length > 0 => match timeout(patience, next).await {
                    Ok(frame) => frame,
                    Err(_) => break End::Slow,
                },
                next => next.await,
            };
            let frame = match frame {
                None => break End::Whole(None),
                Some(Err(error)) => break End::Failed(error),
                Some(Ok(frame)) => frame,
            };
            match frame.into_data() {
                Ok(chunk) => {
                    length += chunk.len();
                    blank &= chunk.trim_ascii().is_empty();
                    chunks.push_back(chunk);
                    if length > limit || !held.set(length) {
                        break End::Long;
                    }
                }
                Err(frame) => break End::Whole(frame.into_trailers().ok()),
            }
        };
        Self { chunks, end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However long a body is, and in whatever pieces it comes, it takes no more room than it may have bytes.
    #[test]
    fn a_request_takes_no_more_room_than_its_limit() {
        let most = 1 << 20;
        for (piece, length) in [(1000, most), (16 << 10, most), (most, most), (1000, most / 2 + 1)]
        {
            let (mut read, mut copied) = (Vec::new(), 0);
            for _ in 0..length / piece {
                let before = read.capacity();
                make_room(&mut read, piece, most);
                copied += if read.capacity() == before { 0 } else { read.len() };
                read.resize(read.len() + piece, 0);
                assert!(read.capacity() <= most.min(read.len() + read.len() / 2), "{piece}");
            }
            assert!(copied <= 3 * length, "{copied} bytes were copied for {length}");
        }
    }
}
