//! Colours, and messages on standard error.

use std::{
    fmt::Display,
    io::{self, Write as _},
};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use crate::args::Color;

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
    pub(crate) fn stdout(color: Color) -> Self {
        Self::choose(color, || AutoStream::choice(&io::stdout()))
    }

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
    pub(crate) fn paint(self, style: Style, text: impl Display) -> String {
        if self.on { format!("{style}{text}{style:#}") } else { text.to_string() }
    }
}

/// Writes one line to standard error. Errors are ignored: they are no reason to stop.
pub(crate) fn notice(line: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
