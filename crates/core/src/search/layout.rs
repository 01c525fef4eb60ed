//! The lines of a text, and the white space before its bytes.

use alloc::vec::Vec;

/// White space that is longer is remembered, in bytes.
const LONG: usize = 32;

/// A line as far as it was looked at.
struct Line {
    start: u32,
    /// How many blanks it begins with.
    indent: u32,
}

/// The text up to the byte that was furthest so far.
pub(super) struct Layout<'t> {
    input: &'t [u8],
    looked: usize,
    lines: Vec<Line>,
    /// Where long white space begins and ends.
    gaps: Vec<(usize, usize)>,
    /// Where the last text before that ends that is no white space.
    solid: usize,
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0c)
}

impl<'t> Layout<'t> {
    pub(super) fn new(input: &'t [u8]) -> Self {
        // White space before a text does not make it anything else.
        let start = input.len() - input.trim_ascii_start().len();
        let first = Line { start: start as u32, indent: 0 };
        Self { input, looked: start, lines: Vec::from([first]), gaps: Vec::new(), solid: 0 }
    }

    /// How far a byte is beyond the first one that is no white space. White space before that counts down from the highest number.
    pub(super) fn beyond_first(&self, at: usize) -> usize {
        at.wrapping_sub(self.lines.first().map_or(0, |line| line.start as usize))
    }

    /// Looks at the bytes up to `end`.
    fn look(&mut self, end: usize) {
        for at in self.looked..end {
            let byte = self.input[at];
            if let Some(line) = self.lines.last_mut()
                && matches!(byte, b' ' | b'\t')
                && (line.start + line.indent) as usize == at
            {
                line.indent += 1;
            }
            if byte == b'\n' {
                self.lines.push(Line { start: at as u32 + 1, indent: 0 });
            }
            if !is_space(byte) {
                if at - self.solid >= LONG {
                    self.gaps.push((self.solid, at));
                }
                self.solid = at + 1;
            }
        }
        self.looked = self.looked.max(end);
    }

    fn line(&mut self, at: usize) -> &Line {
        self.look(at);
        let after = self.lines.partition_point(|line| line.start as usize <= at);
        &self.lines[after.saturating_sub(1)]
    }

    /// Whether a line ends between two bytes.
    pub(super) fn has_line_end(&mut self, from: usize, to: usize) -> bool {
        let first = self.lines[0].start as usize;
        self.line(to).start as usize > from.max(first)
    }

    /// How many blanks there are at the start of the line, before this byte.
    pub(super) fn indent(&mut self, at: usize) -> u16 {
        let line = self.line(at);
        let indent = (line.indent as usize).min(at.saturating_sub(line.start as usize));
        u16::try_from(indent).unwrap_or(u16::MAX)
    }

    /// Where the text before this byte ends, without the white space at its end.
    pub(super) fn solid_end(&mut self, at: usize) -> usize {
        let near = self.input[..at].iter().rev().take(LONG);
        let blanks = near.take_while(|byte| is_space(**byte)).count();
        if blanks < LONG {
            return at - blanks;
        }
        self.look(at);
        if self.solid <= at {
            return self.solid;
        }
        let after = self.gaps.partition_point(|(start, _)| *start < at);
        match self.gaps[..after].last() {
            Some((start, end)) if at <= *end => *start,
            _ => at - blanks,
        }
    }
}
