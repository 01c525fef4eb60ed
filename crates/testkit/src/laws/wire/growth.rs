//! The law of work for bodies: the part of L6 that counts steps of decoding and of writing again.

use wiremend_wire::{Decoder, RewriteOptions, Rewriter, WireOptions};

use crate::laws::{Law, Violation};

/// The maximum number of steps per byte of any body, however it arrives.
pub const STEPS_PER_BYTE: u64 = 256;

/// The chunk sizes with which work is counted: single bytes, tokens of a model, a read of a socket,
/// the whole.
pub const CHUNKS: [usize; 4] = [1, 8, 4096, usize::MAX];

/// What is done with a body.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Road {
    /// It is decoded, and its calls are mended.
    Decode(WireOptions),
    /// It is decoded and written again.
    Rewrite(RewriteOptions),
}

impl Road {
    /// Processes a body, in chunks of `size` bytes.
    pub fn drive(&self, body: &[u8], size: usize) {
        let chunks = body.chunks(size.max(1));
        match self {
            Self::Decode(options) => {
                let mut decoder = Decoder::new(options.clone());
                chunks.for_each(|chunk| decoder.push(chunk, &mut |_| {}));
                decoder.finish(&mut |_| {});
            }
            Self::Rewrite(options) => {
                let mut rewriter = Rewriter::new(options.clone());
                chunks.for_each(|chunk| rewriter.push(chunk, &mut |_| {}));
                rewriter.finish(&mut |_| {});
            }
        }
    }

    /// The number of steps that this takes.
    ///
    /// ```
    /// use wiremend_testkit::laws::wire::Road;
    /// use wiremend_wire::WireOptions;
    /// let body = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    /// let road = Road::Decode(WireOptions::new());
    /// assert!(road.steps(body, 1) < road.steps(&body.repeat(2), 1));
    /// ```
    #[must_use]
    pub fn steps(&self, body: &[u8], size: usize) -> u64 {
        let before = wiremend_wire::steps();
        self.drive(body, size);
        wiremend_wire::steps() - before
    }
}

/// L6: `full`, which is `half` with something in it twice as long or twice as often, takes at most as
/// many times the steps as it is long, and an eighth more; and no byte more than [`STEPS_PER_BYTE`].
///
/// # Errors
/// The size of the chunks in which the work grows faster than the body.
pub fn doubling(half: &[u8], full: &[u8], road: &Road) -> Result<(), Violation> {
    for size in CHUNKS {
        in_proportion([half, full].map(|body| (body, road.steps(body, size)))).map_err(|what| {
            Violation::new(Law::Bounded, full, format!("{what} by {size}: {road:?}"))
        })?;
    }
    Ok(())
}

/// The check of [`doubling`] for two bodies and their steps, for callers that count the steps
/// themselves.
///
/// # Errors
/// The numbers, if the steps grow faster than the bodies.
pub fn in_proportion([half, full]: [(&[u8], u64); 2]) -> Result<(), String> {
    const ONCE: u64 = 4_000;
    let [(short, once), (long, twice)] =
        [half, full].map(|(body, steps)| (body.len().max(1) as u64, steps));
    let share = once.saturating_mul(long) / short;
    let most = (share + share / 8 + ONCE).min(STEPS_PER_BYTE * (long + 64));
    if twice <= most {
        return Ok(());
    }
    Err(format!("{once} steps for {short} bytes, and {twice} for {long}"))
}
