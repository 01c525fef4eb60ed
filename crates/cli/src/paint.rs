//! Colours, and messages on standard error.

use std::io::{self, Write as _};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use crate::{
    args::Color,
    visible::{Show, Shown},
};

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
