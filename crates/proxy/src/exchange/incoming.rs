//! Bodies that are read as a whole.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
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
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            if is_late(&error) { Refusal::ClientSlow } else { Refusal::ClientGone }
        })?;
        let Ok(chunk) = frame.into_data() else { continue };
        if read.len() + chunk.len() > limit {
            return Err(Refusal::BodyTooLarge);
        }
        read.extend_from_slice(&chunk);
        if !held.set(read.len()) {
            return Err(Refusal::TooBusy);
        }
    }
    Ok((read.freeze(), held))
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
