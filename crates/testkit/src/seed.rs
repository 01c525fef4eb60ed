//! Reproducible random numbers: the same seed gives the same test.

/// A small deterministic generator (splitmix64). Not for secrets.
///
/// ```
/// use wiremend_testkit::Seed;
/// assert_eq!(Seed::new(7).below(100), Seed::new(7).below(100));
/// assert!(Seed::new(7).below(3) < 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed(u64);

impl Seed {
    /// The generator that starts from `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator that depends on every byte of `bytes` (FNV-1a).
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        Self(bytes.iter().fold(0xcbf2_9ce4_8422_2325, fold))
    }

    /// A generator that depends on this one and on `number`.
    #[must_use]
    pub fn with(mut self, number: u64) -> Self {
        Self(self.bits() ^ Self(number).bits())
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX);
        let number = self.bits().checked_rem(bound).unwrap_or(0);
        usize::try_from(number).unwrap_or(0)
    }

    /// One of `items`; `None` if there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }
}

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
