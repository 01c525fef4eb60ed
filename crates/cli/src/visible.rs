//! Text that is safe to show: control characters become visible, and long text is clipped.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar as _;

/// Writes `c` in a form that is visible and that a terminal does not interpret.
pub(crate) fn push_visible(out: &mut String, c: char) {
    match c {
        // The Unicode control pictures: ␀ to ␟, and ␡.
        '\0'..='\x1f' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('?')),
        '\x7f' => out.push('\u{2421}'),
        _ if changes_display(c) => {
            let _ = write!(out, "<U+{:04X}>", u32::from(c));
        }
        _ => out.push(c),
    }
}

/// Characters that have no width or change the writing direction, so that a reader would miss them.
fn changes_display(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The width of the visible form of `c`, in columns.
pub(crate) fn width(c: char) -> usize {
    let mut shown = String::new();
    push_visible(&mut shown, c);
    shown.chars().map(|c| c.width().unwrap_or(1)).sum()
}

/// At most `limit` characters of `bytes` in visible form. `…` replaces the middle of longer text.
pub(crate) fn visible(bytes: &[u8], limit: usize) -> String {
    // A character has at most four bytes, so a long text can be clipped before it is decoded.
    let reach = limit.saturating_mul(4);
    let mut out = String::new();
    if bytes.len() > reach.saturating_mul(2) {
        let (head, tail) = (bytes.get(..reach), bytes.get(bytes.len() - reach..));
        let head = String::from_utf8_lossy(head.unwrap_or_default()).into_owned();
        let tail = String::from_utf8_lossy(tail.unwrap_or_default()).into_owned();
        clip_between(&mut out, &head, &tail, limit);
        return out;
    }
    let text = String::from_utf8_lossy(bytes);
    if text.chars().count() <= limit {
        text.chars().for_each(|c| push_visible(&mut out, c));
    } else {
        clip_between(&mut out, &text, &text, limit);
    }
    out
}

/// The first characters of `head` and the last ones of `tail`, in a ratio of two to one.
fn clip_between(out: &mut String, head: &str, tail: &str, limit: usize) {
    let last = limit / 3;
    head.chars().take(limit - last).for_each(|c| push_visible(out, c));
    out.push('…');
    let skipped = tail.chars().count().saturating_sub(last);
    tail.chars().skip(skipped).for_each(|c| push_visible(out, c));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_shown_and_the_rest_is_kept() {
        assert_eq!(visible("a\n\t\x1b[31mé\u{202e}".as_bytes(), 40), "a␊␉␛[31mé<U+202E>");
        assert_eq!(visible(b"\xff", 40), "\u{fffd}");
    }

    #[test]
    fn long_pieces_lose_their_middle() {
        assert_eq!(visible(b"abcdefghijkl", 6), "abcd…kl");
        let long = "é".repeat(100_000);
        assert_eq!(visible(long.as_bytes(), 6), "éééé…éé");
        assert_eq!(visible(b"abcdef", 6), "abcdef");
    }

    #[test]
    fn widths_are_those_of_what_is_shown() {
        assert_eq!(width('a'), 1);
        assert_eq!(width('\t'), 1);
        assert_eq!(width('漢'), 2);
        assert_eq!(width('\u{feff}'), 8);
    }
}
