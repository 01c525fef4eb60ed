//! Documents on lines of their own, and where one of them ends that was cut off.

use wiremend_core::lines::{self, Opening, goes_on_like, is_cut, is_first_cut};

/// What begins the lines of a text in which each document has a line of its own.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lines {
    /// The first bytes of the last document, if it was a line.
    before: Option<Opening>,
    /// Those of the open one, and how many of them are known. `None` if it does not begin its line.
    own: Opening,
    known: Option<usize>,
    /// The offset of the first line end since the open one began.
    broken: Option<usize>,
    /// Its last byte so far that is no white space.
    last: u8,
    /// The offset of a line end that is known to be a part of it.
    inside: Option<usize>,
    /// Whether whole lines are looked at, because all of the text is there.
    whole: bool,
}

impl Lines {
    /// At the start of a text whose lines are known to begin with this.
    pub(super) fn of(opening: Option<Opening>) -> Self {
        Self { before: opening, whole: true, ..Self::default() }
    }

    /// A document begins, at the start of its line or not.
    pub(super) const fn begin(&mut self, starts_line: bool) {
        self.known = if starts_line { Some(0) } else { None };
        self.broken = None;
    }

    /// The open document has ended at offset `at`.
    pub(super) fn end(&mut self, at: usize) {
        let is_line =
            self.known == Some(self.own.len()) && self.broken.is_none_or(|broken| at <= broken);
        self.before = is_line.then_some(self.own);
    }

    /// Where the next line end is in `rest`, which is at offset `at` of the input, after which another
    /// document may begin: one like the one before, if the open one has the same bracket, or after the line
    /// of the open one, one like that. `last` says that the input ends with it.
    pub(super) fn next(&mut self, rest: &[u8], at: usize, last: bool) -> usize {
        let mut first = rest.iter();
        while let Some(known) = self.known
            && let Some(place) = self.own.get_mut(known)
            && let Some(byte) = first.next()
        {
            *place = *byte;
            self.known = Some(known + 1);
        }
        let like = |before: &Opening| self.known == Some(before.len()) && before[0] == self.own[0];
        let first = self.broken.is_none().then_some(self.own);
        let Some(opening) = self.before.or(first).filter(like) else {
            return rest.len();
        };
        let begins = |end: &usize| {
            goes_on_like(rest.get(*end..).unwrap_or_default(), opening, last) != Some(false)
        };
        let mut from = 0;
        while let Some(end) = lines::end(rest.get(from..).unwrap_or_default()) {
            let end = from + end;
            if self.inside != Some(at + end) && begins(&end) {
                return end;
            }
            if self.before.is_none() {
                break;
            }
            from = end + 1;
        }
        rest.len()
    }

    /// Notes bytes of the open document, from offset `at` on.
    pub(super) fn pass(&mut self, bytes: &[u8], at: usize) {
        if self.broken.is_none() {
            self.broken = bytes.iter().position(|byte| *byte == b'\n').map(|end| at + end);
        }
        let solid = bytes.iter().rfind(|byte| !byte.is_ascii_whitespace());
        self.last = solid.copied().unwrap_or(self.last);
    }

    /// Whether the open document is cut off before `rest`: see [`is_cut`].
    pub(super) fn is_cut(
        &self,
        rest: &[u8],
        in_string: bool,
        window: usize,
        last: bool,
    ) -> Option<bool> {
        let judge = if self.before.is_some() { is_cut } else { is_first_cut };
        let window = if self.whole { usize::MAX } else { window };
        let cut = judge(rest, self.last, in_string, window, last);
        if cut != Some(false) && goes_on_like(rest, self.own, false).is_none() {
            return last.then_some(false);
        }
        cut
    }

    /// Notes that the line end at offset `at` is a part of the open document.
    pub(super) const fn keep(&mut self, at: usize) {
        self.inside = Some(at);
    }
}
