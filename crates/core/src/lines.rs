//! Documents on lines of their own.
//!
//! Where each document is a line, a line that begins as the ones before it did is another document, and
//! a document that was open was cut off before it. Menders and extractors ask these functions at the
//! end of a line.

/// How a line begins: a bracket, and the byte after it.
pub type Opening = [u8; 2];

/// Whether a line begins as another one does: with the same bracket and byte, or with any digit.
///
/// ```
/// use wiremend_core::lines::is_like;
/// assert!(is_like(*b"[1", *b"[2"));
/// assert!(!is_like(*b"{\"", *b"[1"));
/// ```
#[must_use]
pub const fn is_like(line: Opening, other: Opening) -> bool {
    let [bracket, first] = line;
    let digits = first.is_ascii_digit() && other[1].is_ascii_digit();
    bracket == other[0] && (first == other[1] || digits)
}

/// What follows the line end at the start of `rest`.
fn after_end(rest: &[u8]) -> &[u8] {
    let rest = rest.strip_prefix(b"\r").unwrap_or(rest);
    rest.get(1..).unwrap_or_default()
}

/// Where the first line end in `text` is. A carriage return at its end may be one.
///
/// ```
/// use wiremend_core::lines::end;
/// assert_eq!(end(b"a\rb\r\nc"), Some(3));
/// assert_eq!(end(b"a\r"), Some(1));
/// ```
#[must_use]
pub fn end(text: &[u8]) -> Option<usize> {
    let is_end = |at: &usize| matches!(text.get(at + 1), None | Some(b'\n'));
    let ends = text.iter().enumerate().filter(|(_, byte)| matches!(byte, b'\n' | b'\r'));
    ends.map(|(at, _)| at).find(|at| text.get(*at) == Some(&b'\n') || is_end(at))
}

/// Whether `rest`, which begins with a line end, may go on with a line like the ones before. `None` waits
/// for more, unless this is the `last` of the text.
///
/// ```
/// use wiremend_core::lines::goes_on_like;
/// assert_eq!(goes_on_like(b"\n{\"b", *b"{\"", false), Some(true));
/// assert_eq!(goes_on_like(b"\n{", *b"{\"", false), None);
/// ```
#[must_use]
pub fn goes_on_like(rest: &[u8], before: Opening, last: bool) -> Option<bool> {
    match after_end(rest) {
        [first, second, ..] => Some(is_like([*first, *second], before)),
        [first] if *first != before[0] => Some(false),
        _ => last.then_some(false),
    }
}

/// Whether a document was cut off before `rest`: a line end, and a line that begins as documents do. In a
/// string, or after a byte after which no value may stand, it was. Elsewhere, the line is another
/// document if it is closed and what follows it does not go on with the open one, as far as `window`
/// bytes show. `None` waits for more, unless this is the `last` of the text.
///
/// ```
/// use wiremend_core::lines::is_cut;
/// assert_eq!(is_cut(b"\n{\"b\": 2}", b'1', false, 64, false), Some(true));
/// assert_eq!(is_cut(b"\n{\"b\": 2},", b':', false, 64, false), Some(false));
/// assert_eq!(is_cut(b"\n{\"b\": 2}\n{", b':', false, 64, false), Some(true));
/// ```
#[must_use]
pub fn is_cut(rest: &[u8], before: u8, in_string: bool, window: usize, last: bool) -> Option<bool> {
    if in_string || !takes_value(before) {
        return Some(true);
    }
    let goes_on = |next| matches!(next, b',' | b'}' | b']');
    is_apart(rest, window, last, false, goes_on)
}

/// The same for a document on the first line of its kind, where no other line has shown yet that each is
/// one: it was cut off only where no value may stand, and if another document, or the end, follows the
/// next line.
///
/// ```
/// use wiremend_core::lines::is_first_cut;
/// assert_eq!(is_first_cut(b"\n{\"b\": 2}\n", b'1', false, 64, true), Some(true));
/// assert_eq!(is_first_cut(b"\n{\"b\": 2}}", b'1', false, 64, false), Some(false));
/// assert_eq!(is_first_cut(b"\n{\"b\": 2\n", b'1', false, 64, false), Some(false));
/// assert_eq!(is_first_cut(b"\n{\"b\": 2}\n", b':', false, 64, true), Some(false));
/// ```
#[must_use]
pub fn is_first_cut(
    rest: &[u8],
    before: u8,
    in_string: bool,
    window: usize,
    last: bool,
) -> Option<bool> {
    if in_string || takes_value(before) {
        return Some(false);
    }
    let goes_on = |next| !matches!(next, b'{' | b'[');
    is_apart(rest, window, last, true, goes_on)
}

/// Whether a value may stand after this byte.
const fn takes_value(before: u8) -> bool {
    matches!(before, b':' | b'[' | b',')
}

/// Whether the line after the line end at the start of `rest` is closed, and what follows does not go on
/// with another document; `unseen` if the end of the line is out of sight.
fn is_apart(
    rest: &[u8],
    window: usize,
    last: bool,
    unseen: bool,
    goes_on: impl Fn(u8) -> bool,
) -> Option<bool> {
    let line = after_end(rest);
    let (line, ends) = match line.get(..window) {
        Some(seen) => (seen, false),
        None => (line, last),
    };
    let full = line.len() == window;
    let Some(after) = after_value(line) else {
        let open = ends || line.contains(&b'\n');
        return if open { Some(false) } else { full.then_some(unseen) };
    };
    match after.trim_ascii_start().first() {
        Some(next) => Some(!goes_on(*next)),
        None if full => Some(unseen),
        None => ends.then_some(true),
    }
}

/// How the lines of a text begin, if most of them are a document each.
///
/// ```
/// use wiremend_core::lines::opening;
/// assert_eq!(opening(b"{\"a\": 1}\n{\"a\": 2\n{\"a\": 3}"), Some(*b"{\""));
/// assert_eq!(opening(b"{\n\"a\": [\n1]}"), None);
/// ```
#[must_use]
pub fn opening(text: &[u8]) -> Option<Opening> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text).trim_ascii();
    let (mut lines, mut documents, mut opening) = (0_usize, 0, None);
    for line in text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end) {
        lines += usize::from(!line.is_empty());
        let [first @ (b'{' | b'['), second, ..] = line else { continue };
        let own = [*first, *second];
        let closed = after_value(line).is_some_and(<[u8]>::is_empty);
        if closed && is_like(own, *opening.get_or_insert(own)) {
            documents += 1;
        }
    }
    opening.filter(|_| documents > 1 && 2 * documents > lines)
}

/// Whether this is all that is between two documents that are next to each other on one line.
///
/// ```
/// use wiremend_core::lines::joins;
/// assert!(joins(b"") && joins(b", ") && !joins(b"\n") && !joins(b" and "));
/// ```
#[must_use]
pub fn joins(gap: &[u8]) -> bool {
    gap.iter().all(|byte| matches!(byte, b' ' | b'\t' | b','))
}

/// What follows the object or the array at the start of `line`. `None` if it is not closed there.
fn after_value(line: &[u8]) -> Option<&[u8]> {
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
