//! Long work, apart from the thread that serves clients.

use std::panic::resume_unwind;

use tokio::task::spawn_blocking;

/// Bytes that take about a millisecond. To hand over what is shorter takes longer than others would wait for it.
const LONG: usize = 256 << 10;

/// Does what takes as long as these bytes do. What is long is done on another thread, because the clients of this one
/// would wait for it.
pub(super) async fn aside<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    if bytes < LONG {
        return work();
    }
    match spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // Only where the runtime ends, and this with it.
            Err(_) => std::future::pending().await,
        },
    }
}
