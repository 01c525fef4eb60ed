//! The law of work: the part of L6 that counts steps.

use jsonmend_core::{Mender, Options};

use super::{Check, Law, Violation};

/// The maximum number of steps per byte of any input, however it arrives.
pub const STEPS_PER_BYTE: u64 = 128;

/// The chunk sizes with which work is counted: single bytes, tokens of a model, a read of a socket,
/// the whole.
const CHUNKS: [usize; 4] = [1, 8, 4096, usize::MAX];

/// How many steps the push path takes for `input` in chunks of `size` bytes.
///
/// ```
/// use jsonmend_core::Options;
/// use jsonmend_testkit::laws::steps;
/// let (once, twice) = (steps(b"[1, 2]", 1, &Options::new()), steps(b"[1, 2, 1, 2]", 1, &Options::new()));
/// assert!(once < twice);
/// ```
#[must_use]
pub fn steps(input: &[u8], size: usize, options: &Options) -> u64 {
    let mut mender = Mender::new(options.clone());
    for chunk in input.chunks(size.max(1)) {
        mender.push(chunk, &mut ());
    }
    mender.finish(&mut ());
    mender.steps()
}

/// L6: `full`, which is `half` with its repeated part twice as long, takes at most twice the steps;
/// and no byte more than [`STEPS_PER_BYTE`].
///
/// A limit may end the work early; the work before it is still linear. An eighth, and the one-time
/// cost of a limit, are allowed for what does not double: the ends, and the first chunk.
///
/// # Errors
/// The size of the chunks in which the work more than doubles.
pub fn doubling(half: &[u8], full: &[u8], options: &Options) -> Result<(), Violation> {
    const ONCE: u64 = 2_000;
    let check = Check::new(Law::Bounded, full);
    for size in CHUNKS {
        let (once, twice) = (steps(half, size, options), steps(full, size, options));
        check.that(twice <= 2 * once + once / 4 + ONCE, || {
            format!("{once} steps, and {twice} for twice as much, in chunks of {size}")
        })?;
        let most = STEPS_PER_BYTE * (full.len() as u64 + 64);
        check.that(twice <= most, || format!("{twice} steps, at most {most}, in {size}"))?;
    }
    Ok(())
}

/// L6 for `piece`, repeated after `head`: [`doubling`] between two and four kilobytes. There, a limit may
/// change how all that follows is read, or the text may not be longer yet than what is looked ahead at
/// each of its places; then one of the next two doublings counts.
///
/// # Errors
/// The size of the chunks in which the work grows faster than the input.
pub fn linear(head: &[u8], piece: &[u8], options: &Options) -> Result<(), Violation> {
    const SIZE: usize = 2048;
    let Some(count) = SIZE.checked_div(piece.len()).map(|count| count.max(1)) else {
        return Ok(());
    };
    let of = |count: usize| [head, &piece.repeat(count)].concat();
    let double = |count: usize| doubling(&of(count), &of(2 * count), options);
    double(count).or_else(|_| double(2 * count)).or_else(|_| double(4 * count))
}
