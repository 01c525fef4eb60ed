//! The law of work: the part of L6 that counts steps.

use wiremend_core::{MendOptions, Mender};

use super::{Check, Law, Violation};

/// The maximum number of steps per byte of any input, however it arrives.
pub const STEPS_PER_BYTE: u64 = 128;

/// What a limit may cost once, in steps.
const ONCE: u64 = 2_000;

/// The chunk sizes with which work is counted: single bytes, tokens of a model, a read of a socket,
/// the whole.
const CHUNKS: [usize; 4] = [1, 8, 4096, usize::MAX];

/// How many steps the push path takes for `input` in chunks of `size` bytes.
///
/// ```
/// use wiremend_core::MendOptions;
/// use wiremend_testkit::laws::steps;
/// let (once, twice) = (steps(b"[1, 2]", 1, &MendOptions::new()), steps(b"[1, 2, 1, 2]", 1, &MendOptions::new()));
/// assert!(once < twice);
/// ```
#[must_use]
pub fn steps(input: &[u8], size: usize, options: &MendOptions) -> u64 {
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
pub fn doubling(half: &[u8], full: &[u8], options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::Bounded, full);
    for size in CHUNKS {
        let (once, twice) = (steps(half, size, options), steps(full, size, options));
        check.that(twice <= 2 * once + once / 4 + ONCE, || {
            format!("{once} steps, and {twice} for twice as much, in chunks of {size}")
        })?;
        in_proportion(&check, twice, full.len(), size)?;
    }
    Ok(())
}

/// No byte of a text takes more than [`STEPS_PER_BYTE`].
fn in_proportion(
    check: &Check<'_>,
    steps: u64,
    length: usize,
    size: usize,
) -> Result<(), Violation> {
    let most = STEPS_PER_BYTE * (length as u64 + 64);
    check.that(steps <= most, || format!("{steps} steps, at most {most}, in {size}"))
}

/// L6 for `piece`, repeated after `head`: [`doubling`] between two and four kilobytes. A limit, or the end
/// of what is looked ahead, may change once how all that follows is read. So the work may grow faster
/// there, if two doublings after it show that twice as much text takes twice as much work more.
///
/// # Errors
/// The size of the chunks in which the work grows faster than the input.
pub fn linear(head: &[u8], piece: &[u8], options: &MendOptions) -> Result<(), Violation> {
    const SIZE: usize = 2048;
    let Some(count) = SIZE.checked_div(piece.len()).map(|count| count.max(1)) else {
        return Ok(());
    };
    let of = |times: usize| [head, &piece.repeat(times * count)].concat();
    doubling(&of(1), &of(2), options)
        .or_else(|_| steady([&of(1), &of(2), &of(4)], options))
        .or_else(|_| steady([&of(2), &of(4), &of(8)], options))
        // Whole texts are read in portions of 16 kilobytes.
        .or_else(|_| steady([&of(8), &of(16), &of(32)], options))
}

/// Of three texts, each with twice as much repeated as the one before: the last step takes at most
/// twice the work of the first one.
fn steady([half, full, more]: [&[u8]; 3], options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::Bounded, more);
    for size in CHUNKS {
        let work = [half, full, more].map(|text| steps(text, size, options));
        check.that(is_steady(work), || {
            format!("{work:?} steps, each for twice as much, in chunks of {size}")
        })?;
        in_proportion(&check, work[2], more.len(), size)?;
    }
    Ok(())
}

/// Whether work for a length, twice and four times that length is linear in what is added.
const fn is_steady([first, second, third]: [u64; 3]) -> bool {
    let (once, twice) = (second.saturating_sub(first), third.saturating_sub(second));
    twice <= 2 * once + once / 8 + ONCE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_is_linear_from_some_length_on_is_steady() {
        let work = |of: fn(u64) -> u64| is_steady([2_048, 4_096, 8_192].map(of));
        assert!(work(|length| 15 * length));
        assert!(work(|length| 15 * length - 12_000));
        assert!(!work(|length| length * length / 64));
        assert!(!work(|length| length * length.isqrt()));
    }
}
