//! Work on rows, on several cores.

use std::{
    ops::Range,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use crate::texts::Texts;

/// The texts of a piece have this many bytes together, or one of them has more.
const PIECE: usize = 256 << 10;

/// The most rows of a piece.
const ROWS: usize = 4096;

/// The most threads. More would only wait for each other.
const MAX_THREADS: usize = 256;

/// How many threads there are, if so many were asked for.
pub(crate) fn threads(asked: Option<usize>) -> usize {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    asked.unwrap_or_else(cores).clamp(1, MAX_THREADS)
}

/// Divides rows into pieces that take about as long as one another.
pub(crate) fn pieces(texts: &dyn Texts) -> Vec<Range<usize>> {
    let (mut pieces, mut start, mut bytes) = (Vec::new(), 0, 0_usize);
    for row in 0..texts.len() {
        bytes = bytes.saturating_add(texts.get(row).map_or(0, <[u8]>::len));
        if bytes >= PIECE || row + 1 - start >= ROWS {
            pieces.push(start..row + 1);
            (start, bytes) = (row + 1, 0);
        }
    }
    if start < texts.len() {
        pieces.push(start..texts.len());
    }
    pieces
}

/// What `work` makes of each piece, in order.
pub(crate) fn each<T: Send>(
    pieces: &[Range<usize>],
    threads: usize,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let done: Vec<Mutex<Option<T>>> = pieces.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let run = || {
        while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed))
            && let (Some(piece), Some(place)) = (pieces.get(number), done.get(number))
        {
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(work(piece.clone()));
        }
    };
    thread::scope(|scope| {
        // This thread works, too: without another one, the work takes place, only slower.
        for _ in 1..threads.min(pieces.len()) {
            let _ = thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
    let taken =
        |place: Mutex<Option<T>>| place.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.into_iter().filter_map(taken).collect()
}
