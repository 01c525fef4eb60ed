//! What a reader makes of a body does not depend on the chunks.

use std::{
    any::Any,
    error::Error,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use super::show;
use crate::{
    Seed,
    cuts::{self, Cut},
    shrink,
    transport::Events,
};

/// How many bytes the reader is given at most to check one body, besides a dozen passes over it.
const BUDGET: usize = 16 << 20;

/// Checks that `fold` makes the same of `body` however it is divided into chunks: whole, byte by byte,
/// with empty chunks, inside characters, escapes and line ends, at the ends of events, in two at up to
/// 1,000 places, and at places that a seed chooses. A long body is divided at fewer places.
///
/// A `fold` that panics makes something else of the body than one that returns.
///
/// ```
/// use wiremend_testkit::check;
///
/// // Every chunk is taken for whole lines.
/// let lines = |chunks: &[&[u8]]| -> Vec<String> {
///     let lines = chunks.iter().flat_map(|chunk| chunk.split_inclusive(|byte| *byte == b'\n'));
///     lines.map(|line| String::from_utf8_lossy(line).into_owned()).collect()
/// };
/// let failure = check::invariant_under_cuts(b"data: 1\n\ndata: 2\n\n", lines).unwrap_err();
/// // The smallest body that shows it, in the fewest chunks.
/// assert_eq!(failure.body().len(), 9);
/// assert_eq!(failure.chunks().len(), 2);
/// ```
///
/// # Errors
/// A division that makes a difference, with as few chunks and events as were found to do so.
pub fn invariant_under_cuts<T: PartialEq + fmt::Debug>(
    body: &[u8],
    mut fold: impl FnMut(&[&[u8]]) -> T,
) -> Result<(), Variance> {
    let mut run = |body: &[u8], cut: &Cut| {
        let chunks: Vec<&[u8]> = cut.chunks(body).collect();
        catch_unwind(AssertUnwindSafe(|| fold(&chunks))).map_err(|panic| said(&*panic))
    };
    let whole = run(body, &Cut::whole());
    for cut in divisions(body) {
        if run(body, &cut) != whole {
            let differs = |body: &[u8], cut: &Cut| run(body, cut) != run(body, &Cut::whole());
            let (body, cut) = smallest(body, &cut, differs);
            return Err(Variance {
                whole: shown(&run(&body, &Cut::whole())),
                divided: shown(&run(&body, &cut)),
                body,
                cut,
            });
        }
    }
    Ok(())
}

/// The divisions that are tried, those that show most first.
fn divisions(body: &[u8]) -> Vec<Cut> {
    let len = body.len();
    let mut seed = Seed::of(body);
    let mut divisions = vec![Cut::at(Events::of(body).ends()), Cut::special(body)];
    divisions.extend(cuts::few(len, &mut seed));
    let places = (BUDGET / len.max(1)).clamp(8, 1000);
    if len <= places {
        divisions.extend((1..len).map(|at| Cut::at(vec![at])));
    } else {
        divisions.extend((0..places).map(|_| Cut::at(vec![seed.below(len)])));
    }
    divisions
}

/// The fewest chunks and then the fewest events for which `differs` is true, and again the fewest chunks.
fn smallest(
    body: &[u8],
    cut: &Cut,
    mut differs: impl FnMut(&[u8], &Cut) -> bool,
) -> (Vec<u8>, Cut) {
    let mut budget = shrink::TRIES;
    let offsets =
        shrink::list(cut.offsets(), &mut budget, |at| differs(body, &Cut::at(at.to_vec())));
    let all = Events::of(body);
    let numbers: Vec<usize> = (0..all.len()).collect();
    // A cut stays at its place in its event.
    let kept = |numbers: &[usize]| {
        let fewer = all.body_of(numbers);
        let (old, new) = (all.ends(), Events::of(&fewer).ends());
        let moved = offsets.iter().filter_map(|at| {
            let event = old.iter().position(|end| at <= end)?;
            let place = numbers.iter().position(|number| *number == event)?;
            let before_end = old.get(event)?.checked_sub(*at)?;
            new.get(place)?.checked_sub(before_end)
        });
        let cut = Cut::at(moved.collect());
        (fewer, cut)
    };
    let numbers = shrink::list(&numbers, &mut budget, |numbers| {
        let (fewer, cut) = kept(numbers);
        differs(&fewer, &cut)
    });
    let (fewer, cut) =
        if numbers.len() < all.len() { kept(&numbers) } else { (body.to_vec(), Cut::at(offsets)) };
    let offsets =
        shrink::list(cut.offsets(), &mut budget, |at| differs(&fewer, &Cut::at(at.to_vec())));
    (fewer, Cut::at(offsets))
}

/// The message of a panic.
pub(super) fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

fn shown<T: fmt::Debug>(result: &Result<T, String>) -> String {
    match result {
        Ok(made) => format!("{made:?}"),
        Err(message) => format!("a panic: {message}"),
    }
}

/// A body of which a reader makes different things, depending on the chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variance {
    body: Vec<u8>,
    cut: Cut,
    whole: String,
    divided: String,
}

impl Variance {
    /// The body: the one that was checked, or some of its events.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The chunks that make a difference.
    #[must_use]
    pub fn chunks(&self) -> Vec<&[u8]> {
        self.cut.chunks(&self.body).collect()
    }
}

impl fmt::Display for Variance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offsets: Vec<String> = self.cut.offsets().iter().map(ToString::to_string).collect();
        writeln!(f, "the chunks make a difference: cut={}", offsets.join(","))?;
        let chunks: Vec<Vec<u8>> = self.cut.chunks(&self.body).map(<[u8]>::to_vec).collect();
        show::chunks(f, &chunks)?;
        write!(f, "whole:   {}\ndivided: {}", self.whole, self.divided)
    }
}

impl Error for Variance {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bodies::{Reply, Shape};

    fn body() -> Vec<u8> {
        Shape::Chat.body(&["so ", "fär ", "and 語"], &[&["{\"a\"", ": 1}"]])
    }

    #[test]
    fn a_fold_over_bytes_is_invariant() {
        for number in 0..20 {
            let body = Reply::random(&mut Seed::new(number)).body();
            invariant_under_cuts(&body, |chunks| chunks.concat()).unwrap();
        }
        invariant_under_cuts(b"", |chunks| chunks.concat()).unwrap();
    }

    #[test]
    fn a_character_that_is_divided_is_shown_alone() {
        let lossy = |chunks: &[&[u8]]| -> String {
            chunks.iter().map(|chunk| String::from_utf8_lossy(chunk)).collect()
        };
        let failure = invariant_under_cuts(&body(), lossy).unwrap_err();
        assert_eq!((failure.chunks().len(), Events::of(failure.body()).len()), (2, 1), "{failure}");
        assert!(failure.to_string().contains("whole:   \"data: "), "{failure}");
    }

    #[test]
    fn empty_chunks_are_tried() {
        let count = |chunks: &[&[u8]]| chunks.iter().any(|chunk| chunk.is_empty());
        let failure = invariant_under_cuts(b"data: 1\n\n", count).unwrap_err();
        assert!(failure.chunks().iter().any(|chunk| chunk.is_empty()), "{failure}");
    }

    #[test]
    fn a_panic_is_a_difference() {
        let strict = |chunks: &[&[u8]]| {
            for chunk in chunks {
                std::str::from_utf8(chunk).expect("whole characters");
            }
        };
        let failure = invariant_under_cuts(&body(), strict).unwrap_err();
        assert!(failure.to_string().contains("divided: a panic: whole characters"), "{failure}");
    }
}
