//! Where a generator takes its choices from.

use crate::Seed;

/// A source of choices: a [`Seed`] or, with the feature `arbitrary`, the bytes of a fuzzer.
pub trait Choices {
    /// A number below `bound`; 0 if `bound` is 0.
    fn below(&mut self, bound: usize) -> usize;

    /// One of `items`; `None` if there are none.
    fn one_of<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }
}

impl Choices for Seed {
    fn below(&mut self, bound: usize) -> usize {
        Seed::below(self, bound)
    }
}

/// Bytes that are used up give zeros, so that every input of a fuzzer makes something.
#[cfg(feature = "arbitrary")]
impl Choices for ::arbitrary::Unstructured<'_> {
    fn below(&mut self, bound: usize) -> usize {
        match bound.checked_sub(1) {
            None | Some(0) => 0,
            Some(most) => self.int_in_range(0..=most).unwrap_or(0),
        }
    }
}
