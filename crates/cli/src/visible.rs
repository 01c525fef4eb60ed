//! Text for people, in which what cannot be seen has been made visible.
//!
//! [`Shown`] is the only thing that is written for people, to standard error and to standard output.
//! It is made of the templates in this program and of pieces that are escaped as they are filled in,
//! so that nothing from an input, a file name or the command line reaches a terminal as it came.

use std::{
    fmt::{self, Write as _},
    io::{self, Write as _},
};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthChar as _;

use crate::args::Color;

/// Text for people. The escape sequences in it are colours of this program.
///
/// It has no `Display` on purpose: a piece that is filled into another text is escaped unless it is
/// a `Shown` already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown(String);

/// The longest message about an input, in characters.
const MESSAGE: usize = 1000;

/// Fills pieces into a template of this program: `shown!("{}: {}", name, error)`.
macro_rules! shown {
    ($template:literal $(, $piece:expr)* $(,)?) => {{
        const {
            let pieces: &[&str] = &[$(stringify!($piece)),*];
            assert!($crate::visible::holes($template) == pieces.len(), "a place for each piece");
        };
        $crate::visible::Shown::fill($template, &[$(&$piece as &dyn $crate::visible::Show),*])
    }};
}
pub(crate) use shown;

/// A piece of a text for people.
pub(crate) trait Show {
    /// Appends it to `out` in visible form.
    fn show(&self, out: &mut String);
}

impl<T: fmt::Display + ?Sized> Show for T {
    fn show(&self, out: &mut String) {
        // Writing to a string does not fail.
        let _ = write!(Escaped(out), "{self}");
    }
}

impl Show for Shown {
    fn show(&self, out: &mut String) {
        out.push_str(&self.0);
    }
}

impl Show for &Shown {
    fn show(&self, out: &mut String) {
        (**self).show(out);
    }
}

/// Makes everything visible that is written to it.
struct Escaped<'a>(&'a mut String);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().for_each(|c| push_visible(self.0, c));
        Ok(())
    }
}

impl Shown {
    /// A piece on its own.
    #[allow(clippy::needless_pass_by_value, reason = "most pieces are made for this")]
    pub(crate) fn of(piece: impl Show) -> Self {
        let mut text = String::new();
        piece.show(&mut text);
        Self(text)
    }

    /// At most `limit` characters of `bytes`. `…` replaces the middle of longer text.
    pub(crate) fn clipped(bytes: &[u8], limit: usize) -> Self {
        Self::of(clip(bytes, limit))
    }

    /// A message, of which the middle is left out if it is long: it may contain paths and names.
    pub(crate) fn message(text: &str) -> Self {
        Self::clipped(text.as_bytes(), MESSAGE)
    }

    /// The template, with a piece in place of each `{}`.
    pub(crate) fn fill(template: &'static str, pieces: &[&dyn Show]) -> Self {
        let mut text = String::new();
        let mut between = template.split("{}");
        text.push_str(between.next().unwrap_or_default());
        for (piece, after) in pieces.iter().zip(between) {
            piece.show(&mut text);
            text.push_str(after);
        }
        Self(text)
    }

    /// The same in a style.
    pub(crate) fn styled(self, style: Style) -> Self {
        Self(format!("{style}{}{style:#}", self.0))
    }

    /// The same with spaces after it, up to `width` characters. To be used before it has a style.
    pub(crate) fn padded(mut self, width: usize) -> Self {
        let missing = width.saturating_sub(self.0.chars().count());
        self.0.extend(std::iter::repeat_n(' ', missing));
        self
    }

    /// The pieces, with `separator` between them.
    pub(crate) fn join(pieces: &[Self], separator: &'static str) -> Self {
        let texts: Vec<&str> = pieces.iter().map(Self::as_str).collect();
        Self(texts.join(separator))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The number of places for pieces in a template.
pub(crate) const fn holes(template: &str) -> usize {
    let bytes = template.as_bytes();
    let (mut at, mut holes) = (0, 0);
    while at < bytes.len() {
        if bytes[at] == b'{' {
            // Names and widths would be left as they are.
            assert!(
                at + 1 < bytes.len() && bytes[at + 1] == b'}',
                "a place has no name and no width"
            );
            holes += 1;
        }
        at += 1;
    }
    holes
}

/// Writes `c` in a form that is visible and that a terminal does not interpret.
pub(crate) fn push_visible(out: &mut String, c: char) {
    match c {
        // The Unicode control pictures: ␀ to ␟, and ␡.
        '\0'..='\x1f' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('?')),
        '\x7f' => out.push('\u{2421}'),
        _ if is_invisible(c) => {
            let _ = write!(out, "<U+{:04X}>", u32::from(c));
        }
        _ => out.push(c),
    }
}

/// Whether a reader would miss `c`: a control character, one without a width, one that changes the
/// writing direction or ends a line, and one that only selects another form of the character before it:
/// a text can be hidden in those.
pub(crate) const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}'
        | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The width of the visible form of `c`, in columns.
pub(crate) fn width(c: char) -> usize {
    let mut shown = String::new();
    push_visible(&mut shown, c);
    shown.chars().map(|c| c.width().unwrap_or(1)).sum()
}

/// At most `limit` characters of `bytes`, not yet visible.
fn clip(bytes: &[u8], limit: usize) -> String {
    // A character has at most four bytes, so a long text can be clipped before it is decoded.
    let reach = limit.saturating_mul(4);
    if bytes.len() > reach.saturating_mul(2) {
        let (head, tail) = (bytes.get(..reach), bytes.get(bytes.len() - reach..));
        let head = String::from_utf8_lossy(head.unwrap_or_default());
        let tail = String::from_utf8_lossy(tail.unwrap_or_default());
        return clip_between(&head, &tail, limit);
    }
    let text = String::from_utf8_lossy(bytes);
    if text.chars().count() <= limit {
        text.into_owned()
    } else {
        clip_between(&text, &text, limit)
    }
}

/// The first characters of `head` and the last ones of `tail`, in a ratio of two to one.
fn clip_between(head: &str, tail: &str, limit: usize) -> String {
    let last = limit / 3;
    let mut out: String = head.chars().take(limit - last).collect();
    out.push('…');
    let skipped = tail.chars().count().saturating_sub(last);
    out.extend(tail.chars().skip(skipped));
    out
}

// Colours, and messages on standard error.

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();

/// Colours text, if colours are on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    #[allow(clippy::disallowed_methods, reason = "only to see what it is")]
    pub(crate) fn stdout(color: Color) -> Self {
        Self::choose(color, || AutoStream::choice(&io::stdout()))
    }

    #[allow(clippy::disallowed_methods, reason = "only to see what it is")]
    pub(crate) fn stderr(color: Color) -> Self {
        Self::choose(color, || AutoStream::choice(&io::stderr()))
    }

    /// `AutoStream::choice` checks for a terminal, NO_COLOR and CLICOLOR_FORCE.
    fn choose(color: Color, auto: impl FnOnce() -> ColorChoice) -> Self {
        let on = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => auto() != ColorChoice::Never,
        };
        Self { on }
    }

    /// `text` in `style`.
    pub(crate) fn paint(self, style: Style, text: impl Show) -> Shown {
        let text = Shown::of(text);
        if self.on { text.styled(style) } else { text }
    }
}

/// Writes one line to standard error. Errors are ignored: they are no reason to stop.
#[allow(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn notice(line: &Shown) {
    let _ = writeln!(io::stderr().lock(), "{}", line.as_str());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visible(bytes: &[u8], limit: usize) -> String {
        Shown::clipped(bytes, limit).0
    }

    #[test]
    fn controls_are_shown_and_the_rest_is_kept() {
        assert_eq!(visible("a\n\t\x1b[31mé\u{202e}".as_bytes(), 40), "a␊␉␛[31mé<U+202E>");
        assert_eq!(visible(b"\xff", 40), "\u{fffd}");
        assert_eq!(
            visible("\u{9b}2J\u{e0041}❤\u{fe0f}".as_bytes(), 40),
            "<U+009B>2J<U+E0041>❤<U+FE0F>"
        );
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

    #[test]
    fn pieces_are_escaped_once() {
        let style = Style::new().bold();
        let red = Shown::of("a\x1b").styled(style);
        let line = shown!("{}: {}\n{}", "{}\n", red, 7);
        assert_eq!(line.0, format!("{{}}␊: {style}a␛{style:#}\n7"));
        assert_eq!(Shown::of("é\u{202e}").padded(12).0, "é<U+202E>   ");
    }

    #[test]
    fn everything_without_a_width_is_invisible() {
        for c in ('\0'..=char::MAX).filter(|c| c.width().unwrap_or(0) == 0) {
            // What combines with the character before it is seen there.
            let seen = is_invisible(c) || c > '\u{2ff}';
            assert!(seen, "U+{:04X}", u32::from(c));
        }
    }
}
