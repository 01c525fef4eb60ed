//! What is at the start of a text, after a bounded amount of white space.

/// How many bytes of white space an engine looks past.
pub(in crate::dialect) const SPACE: usize = 256;

/// The first bytes of `rest`, and whether nothing that follows them counts.
pub(in crate::dialect) fn window(rest: &[u8], length: usize, eof: bool) -> (&[u8], bool) {
    match rest.get(..length) {
        Some(window) => (window, true),
        None => (rest, eof),
    }
}

/// Whether the marker at the start of `rest` is a parenthesis inside of arguments, as that of a function in
/// them: the arguments go on after it. `None` waits for more.
pub(super) fn is_within(rest: &[u8], eof: bool) -> Option<bool> {
    let Some((b')', after)) = rest.split_first() else { return Some(false) };
    let (_, next) = past_space(after, eof)?;
    Some(matches!(next.first(), Some(b',' | b'}' | b']' | b')' | b'.')))
}

/// White space at the start of `rest`, and what follows it within [`SPACE`] bytes. `None` waits for more.
pub(in crate::dialect) fn past_space(rest: &[u8], eof: bool) -> Option<(usize, &[u8])> {
    let space = rest.iter().take(SPACE).take_while(|byte| byte.is_ascii_whitespace()).count();
    if space == SPACE {
        return Some((space, b""));
    }
    let next = rest.get(space..).unwrap_or_default();
    if next.is_empty() && !eof { None } else { Some((space, next)) }
}
