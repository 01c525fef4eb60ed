//! Records which cells of the table the engine has used, in the whole process. A test reports the
//! cells that no case of the corpus reaches. Only with the feature `coverage`.

use core::sync::atomic::{AtomicU32, Ordering};

use super::{Expect, Token};

/// One number for each place, with one bit for each token.
static CELLS: [AtomicU32; Expect::ALL.len()] = [const { AtomicU32::new(0) }; Expect::ALL.len()];

/// Whether the engine has used the cell for `token` where the grammar expects `expect`.
///
/// ```
/// use wiremend_core::coverage::{Expect, Token, reached};
/// assert!(!reached(Expect::CallEnd, Token::Fence));
/// wiremend_core::mend(b"[f(1```)]", &wiremend_core::MendOptions::new());
/// assert!(reached(Expect::CallEnd, Token::Fence));
/// ```
#[must_use]
pub fn reached(expect: Expect, token: Token) -> bool {
    let cells = CELLS.get(expect as usize).map_or(0, |cells| cells.load(Ordering::Relaxed));
    cells & (1 << token as u32) != 0
}

/// Records that a cell was used.
pub(super) fn note(expect: Expect, token: Token) {
    if let Some(cells) = CELLS.get(expect as usize) {
        cells.fetch_or(1 << token as u32, Ordering::Relaxed);
    }
}
