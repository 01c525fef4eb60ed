//! How an input is divided into chunks.

use crate::Seed;

/// Where one input is divided: offsets in ascending order. A repeated offset makes an empty chunk.
///
/// ```
/// use wiremend_testkit::cuts::Cut;
/// let cut = Cut::at(vec![1, 1, 3]);
/// let chunks: Vec<&[u8]> = cut.chunks(b"abcd").collect();
/// assert_eq!(chunks, [&b"a"[..], b"", b"bc", b"d"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    offsets: Vec<usize>,
}

impl Cut {
    /// One chunk.
    #[must_use]
    pub const fn whole() -> Self {
        Self { offsets: Vec::new() }
    }

    /// One byte per chunk.
    #[must_use]
    pub fn bytes(len: usize) -> Self {
        Self { offsets: (1..len).collect() }
    }

    /// Chunks of `size` bytes, the last one shorter; a size of 0 counts as 1.
    #[must_use]
    pub fn every(size: usize, len: usize) -> Self {
        Self { offsets: (1..len).filter(|at| at.is_multiple_of(size.max(1))).collect() }
    }

    /// Divided at those offsets, given in any order.
    #[must_use]
    pub fn at(mut offsets: Vec<usize>) -> Self {
        offsets.sort_unstable();
        Self { offsets }
    }

    /// Up to `count` cuts at places that `seed` chooses; some chunks are empty.
    #[must_use]
    pub fn random(len: usize, count: usize, seed: &mut Seed) -> Self {
        Self::at((0..count).map(|_| seed.below(len + 1)).collect())
    }

    /// Divided at every place where readers go wrong: inside each character of several bytes, inside
    /// each escape, and around and inside each line end.
    ///
    /// ```
    /// use wiremend_testkit::cuts::Cut;
    /// assert_eq!(Cut::special("é\r\n\r\n\\n".as_bytes()).offsets(), [1, 2, 3, 4, 5, 6, 7]);
    /// assert_eq!(Cut::special(b"plain").offsets(), [0; 0]);
    /// ```
    #[must_use]
    pub fn special(bytes: &[u8]) -> Self {
        let shows = |at: &usize| {
            let (before, after) = (bytes.get(at - 1), bytes.get(*at));
            let is_end = |byte: Option<&u8>| matches!(byte, Some(b'\r' | b'\n'));
            let inside = before == Some(&b'\\') || matches!(after, Some(0x80..0xc0));
            inside || is_end(before) || is_end(after)
        };
        Self { offsets: (1..bytes.len()).filter(shows).collect() }
    }

    /// The offsets, ascending.
    #[must_use]
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The chunks of `input`, in order. Together they are the input.
    pub fn chunks<'a>(&'a self, input: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let ends = self.offsets.iter().copied().chain([input.len()]);
        let mut start = 0;
        ends.map(move |end| {
            let chunk = input.get(start..end).unwrap_or_default();
            start = end.clamp(start, input.len());
            chunk
        })
    }
}

/// How many divisions in two, and in three, are tried before a seed makes the choice.
const MAX_DIVISIONS: usize = 1000;

/// The cuts that every case is run with: whole, byte by byte, with an empty chunk before every byte,
/// every division in two (at most 1,000, then seeded ones), every division in three of a short
/// input, and seeded ones in many.
#[must_use]
pub fn thorough(len: usize) -> Vec<Cut> {
    let mut seed = Seed::new(len as u64);
    let mut cuts = few(len, &mut seed);
    if len <= MAX_DIVISIONS {
        cuts.extend((1..len).map(|at| Cut::at(vec![at])));
    } else {
        cuts.extend((0..MAX_DIVISIONS).map(|_| Cut::at(vec![seed.below(len)])));
    }
    if len * len / 2 <= MAX_DIVISIONS {
        for first in 1..len {
            cuts.extend((first + 1..len).map(|second| Cut::at(vec![first, second])));
        }
    }
    cuts
}

/// A dozen cuts: whole, with empty chunks, and seeded ones. For long inputs and for fuzzing.
#[must_use]
pub fn few(len: usize, seed: &mut Seed) -> Vec<Cut> {
    let mut cuts = vec![Cut::whole(), Cut::bytes(len), Cut::every(7, len)];
    cuts.push(Cut::at((0..len).chain(0..len).collect()));
    cuts.extend([1, 2, 3, 5, 8, 13, 21, 34].map(|count| Cut::random(len, count, seed)));
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cut_gives_the_input_back() {
        for len in [0, 1, 2, 30, 1500] {
            let input: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
            for cut in thorough(len) {
                assert_eq!(cut.chunks(&input).collect::<Vec<_>>().concat(), input, "{cut:?}");
            }
        }
    }

    #[test]
    fn short_inputs_are_cut_everywhere() {
        let cuts = thorough(5);
        assert!(cuts.contains(&Cut::at(vec![4])));
        assert!(cuts.contains(&Cut::at(vec![2, 3])));
        assert!(cuts.contains(&Cut::at(vec![0, 0, 1, 1, 2, 2, 3, 3, 4, 4])));
    }
}
