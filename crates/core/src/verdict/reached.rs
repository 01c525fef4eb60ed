//! Records which cells of the tables the engine has used, in the whole process. A test reports the
//! cells that no case of the corpus reaches. Only with the feature `coverage`.

use core::sync::atomic::{AtomicU64, Ordering};

use super::{Context, Continuation, QuotePlace};

const PLACES: usize = QuotePlace::ALL.len();
const CONTEXTS: usize = Context::ALL.len();

/// One number for each place and context, with one bit for each continuation.
static CELLS: [[AtomicU64; CONTEXTS]; PLACES] =
    [const { [const { AtomicU64::new(0) }; CONTEXTS] }; PLACES];

fn cell(place: QuotePlace, context: Context) -> Option<&'static AtomicU64> {
    CELLS.get(place as usize)?.get(context as usize)
}

/// Whether the engine has used the cell for what follows a quote, `seen`, in a string at `place`
/// that holds `context`.
///
/// ```
/// use wiremend_core::coverage::quotes::{Context, Continuation, QuotePlace, reached};
/// let cell = (QuotePlace::Member, Continuation::SemicolonMember, Context::Plain);
/// assert!(!reached(cell.0, cell.1, cell.2));
/// wiremend_core::mend(br#"{"a": "x"; "b": 1}"#, &wiremend_core::MendOptions::new());
/// assert!(reached(cell.0, cell.1, cell.2));
/// ```
#[must_use]
pub fn reached(place: QuotePlace, seen: Continuation, context: Context) -> bool {
    cell(place, context).is_some_and(|bits| bits.load(Ordering::Relaxed) & (1 << seen as u32) != 0)
}

/// Records that a cell was used.
pub(super) fn note(place: QuotePlace, seen: Continuation, context: Context) {
    if let Some(bits) = cell(place, context) {
        bits.fetch_or(1 << seen as u32, Ordering::Relaxed);
    }
}
