//! Documents on lines of their own, and where one of them ends that was cut off.

/// What begins the lines of a text in which each document has a line of its own.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lines {
    /// The first bytes of the last document, if it was a line.
    before: Option<Opening>,
    /// Those of the open one, and how many of them are known. `None` if it does not begin its line.
    own: Opening,
    known: Option<usize>,
    /// Whether a line has ended in the open one.
    broken: bool,
    /// Its last byte so far that is no white space.
    last: u8,
    /// The offset of a line end that is known to be a part of it.
    inside: Option<usize>,
    /// Whether whole lines are looked at, because all of the text is there.
    whole: bool,
}

/// A bracket, and the byte after it.
pub(crate) type Opening = [u8; 2];

impl Lines {
    /// At the start of a text whose lines are known to begin with this.
    pub(super) fn of(opening: Option<Opening>) -> Self {
        Self { before: opening, whole: true, ..Self::default() }
    }

    /// A document begins, at the start of its line or not.
    pub(super) const fn begin(&mut self, starts_line: bool) {
        self.known = if starts_line { Some(0) } else { None };
        self.broken = false;
    }

    /// The open document has ended.
    pub(super) fn end(&mut self) {
        let is_line = self.known == Some(self.own.len()) && !self.broken;
        self.before = is_line.then_some(self.own);
    }

    /// Where the next line end is in `rest`, which is at offset `at` of the input, after which another
    /// document may begin: one like the one before, if the open one has the same bracket. `last` says that the input
    /// ends with it.
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
        let Some(opening) = self.before.filter(like) else {
            return rest.len();
        };
        let begins = |end: &usize| match rest.get(end + 1..).unwrap_or_default() {
            [first, second, ..] => is_like([*first, *second], opening),
            [first] => *first == opening[0] && !last,
            [] => !last,
        };
        let ends = rest.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(end, _)| end);
        let mut ends = ends.filter(|end| self.inside != Some(at + end));
        ends.find(begins).unwrap_or(rest.len())
    }

    /// Notes bytes of the open document.
    pub(super) fn pass(&mut self, bytes: &[u8]) {
        self.broken |= bytes.contains(&b'\n');
        let solid = bytes.iter().rfind(|byte| !byte.is_ascii_whitespace());
        self.last = solid.copied().unwrap_or(self.last);
    }

    /// Whether the open document is cut off before `rest`: a line end, and a line that begins as a
    /// document does. In a string, or where no value may stand, it is. Elsewhere, the line is another
    /// document if it is closed and what follows it does not go on with this one, as far as `window`
    /// bytes show. `None` waits for more.
    pub(super) fn is_cut(
        &self,
        rest: &[u8],
        in_string: bool,
        window: usize,
        last: bool,
    ) -> Option<bool> {
        let line = rest.get(1..).unwrap_or_default();
        let known = self.own.len();
        if line.len() < known {
            return last.then_some(false);
        }
        if in_string || !matches!(self.last, b':' | b'[' | b',') {
            return Some(true);
        }
        let window = if self.whole { usize::MAX } else { window };
        let (line, ends) = match line.get(..window) {
            Some(seen) => (seen, false),
            None => (line, last),
        };
        let full = line.len() == window;
        let Some(after) = after_value(line) else { return (full || ends).then_some(false) };
        match after.trim_ascii_start().first() {
            Some(next) => Some(!matches!(next, b',' | b'}' | b']')),
            None if full => Some(false),
            None => ends.then_some(true),
        }
    }

    /// Notes that the line end at offset `at` is a part of the open document.
    pub(super) const fn keep(&mut self, at: usize) {
        self.inside = Some(at);
    }
}

/// Whether a line begins as another one does: with the same bracket and byte, or with any digit.
pub(crate) const fn is_like(line: Opening, other: Opening) -> bool {
    let [bracket, first] = line;
    let digits = first.is_ascii_digit() && other[1].is_ascii_digit();
    bracket == other[0] && (first == other[1] || digits)
}

/// What follows the object or the array at the start of `line`. `None` if it is not closed there.
pub(crate) fn after_value(line: &[u8]) -> Option<&[u8]> {
    let (mut depth, mut inside, mut escaped) = (0_usize, false, false);
    for (at, byte) in line.iter().enumerate() {
        match byte {
            b'\n' => return None,
            _ if escaped => escaped = false,
            b'\\' => escaped = inside,
            b'"' => inside = !inside,
            _ if inside => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return line.get(at + 1..);
        }
    }
    None
}
