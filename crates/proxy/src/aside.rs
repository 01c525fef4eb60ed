//! Long work, apart from the thread that serves clients.

use std::{
    panic::resume_unwind,
    task::{Context, Poll},
    time::Duration,
};

use tokio::task::{JoinError, spawn_blocking, yield_now};

/// Bytes that usually take a part of a millisecond, and may take a hundred. To hand over what is shorter takes longer than
/// others would usually wait for it.
pub(crate) const LONG: usize = 32 << 10;

/// How long a client may keep the others of its thread waiting. What it has to do then is done in turns.
pub(crate) const TURN: Duration = Duration::from_millis(1);

/// Does what takes as long as these bytes do. What is long is done on another thread, because the clients of this one
/// would wait for it.
pub(crate) async fn aside<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    if bytes < LONG {
        return work();
    }
    match done(spawn_blocking(work).await) {
        Some(done) => done,
        None => std::future::pending().await,
    }
}

/// What another thread has done. `None` only where the runtime ends, and whoever asks with it.
pub(crate) fn done<T>(result: Result<T, JoinError>) -> Option<T> {
    match result {
        Ok(done) => Some(done),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => None,
        },
    }
}

/// Lets others have their turn: also those for whom something has arrived meanwhile.
pub(crate) fn give_way<T>(cx: &mut Context<'_>) -> Poll<T> {
    // Its first turn ends at once, and asks for another one after those of all others.
    let _ = std::pin::pin!(yield_now()).poll(cx);
    Poll::Pending
}
