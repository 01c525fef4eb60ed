//! Programs that a text shows: what is in a block of one is not called when the text is read.

/// From which indentation on a line belongs to a block after a colon, in blanks. Text that introduces a call
/// may be followed by one that is indented a little.
const INDENTED: u32 = 4;
/// How wide a tab is.
const TAB: u32 = 4;
/// The words with which the line begins that opens a block in a program, where no fence says that it is one.
const OPENING: [&str; 12] = [
    "async", "class", "def", "elif", "else", "except", "finally", "for", "if", "try", "while",
    "with",
];
/// The languages of code in which no call to a tool is written, among them those of differences.
const FOREIGN: [&str; 34] = [
    "c", "c++", "cpp", "cs", "csharp", "css", "csv", "dart", "diff", "go", "golang", "html",
    "http", "ini", "kotlin", "lua", "markdown", "md", "mermaid", "patch", "perl", "php", "r", "rb",
    "rs", "ruby", "rust", "scala", "sql", "swift", "tex", "toml", "yaml", "yml",
];
/// How much of a word is kept, in bytes.
const LONGEST: usize = 16;
/// From how many on backticks or tildes are a fence.
const FENCE: u32 = 3;

/// The line that is being read, and the code around it.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    at: At,
    /// How far the line is indented.
    indent: u32,
    /// Its first byte that is no white space, and its last one so far, but for the end of the line.
    ends: (u8, u8),
    /// The first bytes of its first word, or of that after a fence, and how many there are.
    word: ([u8; LONGEST], u8),
    /// Whether that word has ended.
    worded: bool,
    fence: Option<Fence>,
    block: Option<Block>,
    /// Whether the line before opened the block.
    opened: bool,
}

/// Where in a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    #[default]
    Indent,
    /// After so many of these bytes, which may be a fence.
    Ticks(u8, u32),
    /// After those of a fence.
    Language(u8, u32),
    Line,
}

/// The fence around the code.
#[derive(Clone, Copy, Debug)]
struct Fence {
    tick: u8,
    ticks: u32,
    foreign: bool,
    /// Whether it says what language the code is in.
    labelled: bool,
}

/// A block of a program, by the indentation of the line that opens it.
#[derive(Clone, Copy, Debug)]
struct Block {
    indent: u32,
    /// Whether it is in braces.
    braces: bool,
}

impl Program {
    /// Reads text. If it is quiet, there is neither a fence nor a line that opens a block in it.
    pub(super) fn read(&mut self, text: &[u8], quiet: bool) {
        if quiet {
            self.read_lines(text, true);
        } else {
            text.chunks(PIECE).for_each(|piece| self.read_lines(piece, false));
        }
    }

    fn read_lines(&mut self, text: &[u8], quiet: bool) {
        if quiet && self.is_plain_line() {
            match last_line(text) {
                None => self.end_at(text),
                Some(last) => {
                    self.new_line();
                    self.scan(last);
                }
            }
            return;
        }
        let (first, rest) = match text {
            _ if text.len() < SHORT => (text, &[][..]),
            _ => text.split_at((line_end(text) + 1).min(text.len())),
        };
        self.scan(first);
        // Most lines of prose neither open a block nor are a fence, and need not be looked at one by one.
        let plain = self.block.is_none() && (quiet || !is_notable(rest));
        match last_line(rest).filter(|_| plain) {
            Some(last) => {
                self.new_line();
                self.scan(last);
            }
            None => self.scan(rest),
        }
    }

    /// Whether the line opens no block, unless what follows in it does, and its first word was read.
    fn is_plain_line(&self) -> bool {
        let read = self.worded || usize::from(self.word.1) == LONGEST;
        let opens = matches!(self.ends.1, b':' | b'{');
        self.block.is_none() && self.at == At::Line && read && !opens
    }

    fn scan(&mut self, text: &[u8]) {
        let mut rest = text;
        while let Some((&byte, after)) = rest.split_first() {
            if byte == b'\n' {
                self.end_line();
            } else {
                match self.at {
                    At::Indent => self.begin_line(byte),
                    At::Ticks(tick, ticks) if byte == tick => {
                        self.at = At::Ticks(tick, ticks.saturating_add(1));
                    }
                    At::Ticks(tick, ticks) if ticks >= FENCE => {
                        self.at = At::Language(tick, ticks);
                        self.keep(byte);
                    }
                    At::Language(..) => self.keep(byte),
                    At::Ticks(..) | At::Line => {
                        self.at = At::Line;
                        rest = self.read_line(rest);
                        continue;
                    }
                }
            }
            rest = after;
        }
    }

    /// Reads the rest of a line that is not a fence. Returns what follows it.
    fn read_line<'a>(&mut self, text: &'a [u8]) -> &'a [u8] {
        for byte in text.iter().take_while(|byte| **byte != b'\n') {
            if self.worded || usize::from(self.word.1) == LONGEST {
                break;
            }
            self.keep(if byte.is_ascii_lowercase() { *byte } else { b' ' });
        }
        let (line, next) = text.split_at(line_end(text));
        self.end_at(line);
        next
    }

    /// Notes the end of the text of a line so far.
    fn end_at(&mut self, line: &[u8]) {
        let last = line.iter().rev().find(|byte| **byte != b'\r');
        self.ends.1 = last.copied().unwrap_or(self.ends.1);
    }

    /// Whether the line begins as one that opens a block.
    fn is_opening(&self) -> bool {
        OPENING.iter().any(|own| own.as_bytes() == self.word())
    }

    fn word(&self) -> &[u8] {
        self.word.0.get(..usize::from(self.word.1)).unwrap_or_default()
    }

    /// Keeps a byte of the first word.
    fn keep(&mut self, byte: u8) {
        let (word, length) = &mut self.word;
        if byte.is_ascii_whitespace() {
            self.worded |= *length > 0;
        } else if let Some(free) = word.get_mut(usize::from(*length)).filter(|_| !self.worded) {
            (*free, *length) = (byte, *length + 1);
        }
    }

    fn begin_line(&mut self, byte: u8) {
        match byte {
            b' ' => self.indent = self.indent.saturating_add(1),
            b'\t' => self.indent = self.indent.saturating_add(TAB),
            b'\r' => {}
            _ => {
                self.block = self.block.filter(|block| self.indent > block.indent);
                self.ends = (byte, byte);
                if matches!(byte, b'`' | b'~') {
                    self.at = At::Ticks(byte, 1);
                } else {
                    self.at = At::Line;
                    self.keep(byte);
                }
            }
        }
    }

    fn end_line(&mut self) {
        let mut opened = false;
        match self.at {
            // After an empty line, what is indented is code in a text, as Markdown writes it.
            At::Indent => self.block = self.block.filter(|_| !self.opened),
            At::Ticks(tick, ticks) | At::Language(tick, ticks) if ticks >= FENCE => {
                self.fence_line(tick, ticks);
            }
            At::Ticks(..) | At::Language(..) | At::Line => {
                let braces = self.ends.1 == b'{';
                let colon = self.ends.1 == b':' && (self.fence.is_some() || self.is_opening());
                opened = self.block.is_none() && (braces || colon);
                if opened {
                    self.block = Some(Block { indent: self.indent, braces });
                }
            }
        }
        self.new_line();
        self.opened = opened;
    }

    fn new_line(&mut self) {
        (self.at, self.indent, self.ends, self.opened) = (At::Indent, 0, (0, 0), false);
        (self.word.1, self.worded) = (0, false);
    }

    fn fence_line(&mut self, tick: u8, ticks: u32) {
        let language = self.word();
        let labelled = !language.is_empty();
        match self.fence {
            None => {
                let foreign =
                    FOREIGN.iter().any(|name| language.eq_ignore_ascii_case(name.as_bytes()));
                self.fence = Some(Fence { tick, ticks, foreign, labelled });
                self.block = None;
            }
            Some(fence) if fence.tick == tick && ticks >= fence.ticks && !labelled => {
                self.fence = None;
                self.block = None;
            }
            Some(_) => {}
        }
    }

    /// Whether what begins here is a part of a program that is shown: a statement in a block of it, a line of a
    /// comment, or a part of a text in which no call is written.
    pub(super) fn is_shown(&self) -> bool {
        let in_block = self.block.is_some_and(|block| {
            self.indent > block.indent
                && (block.braces || self.indent >= block.indent.saturating_add(INDENTED))
        });
        let noted = self.ends.0 == b'*' && self.fence.is_some_and(|fence| fence.labelled);
        in_block || noted || self.is_foreign()
    }

    /// Whether the text is in a language in which no call is written, in a quoted line, or in a table.
    pub(super) fn is_foreign(&self) -> bool {
        matches!(self.ends.0, b'>' | b'|') || self.fence.is_some_and(|fence| fence.foreign)
    }
}

/// How much of a text is looked at at once, and what is too short for that.
const PIECE: usize = 4096;
const SHORT: usize = 128;
/// How many bytes are searched at once. Compilers turn such a search into a few instructions.
const BLOCK: usize = 16;

/// Where the line ends that begins `text`, or how long that is.
fn line_end(text: &[u8]) -> usize {
    let mut rest = text;
    while let Some((block, after)) = rest.split_first_chunk::<BLOCK>()
        && !has_end(block)
    {
        rest = after;
    }
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    text.len() - rest.len() + end
}

/// Whether a line ends in a text.
#[inline]
fn has_end(text: &[u8]) -> bool {
    text.iter().fold(0, |found, byte| found | u8::from(*byte == b'\n')) != 0
}

/// What follows the last end of a line.
fn last_line(text: &[u8]) -> Option<&[u8]> {
    if !has_end(text) {
        return None;
    }
    let mut searched = text;
    while let Some((before, block)) = searched.split_last_chunk::<BLOCK>()
        && !has_end(block)
    {
        searched = before;
    }
    let end = searched.iter().rposition(|byte| *byte == b'\n')?;
    text.get(end + 1..)
}

/// Whether a fence may be in a text, or a line that opens a block may end in it.
fn is_notable(text: &[u8]) -> bool {
    let pairs = text.iter().zip(text.get(1..).unwrap_or_default());
    let found = pairs.fold(0, |found, (byte, next)| {
        let fence = (*byte == b'`') | (*byte == b'~');
        let opens = ((*byte == b':') | (*byte == b'{')) & ((*next == b'\n') | (*next == b'\r'));
        found | u8::from(fence | opens)
    });
    found != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is known of a line does not depend on how much of the text came at once.
    #[test]
    fn quiet_text_is_read_like_any_other() {
        let texts = [
            "Words, and a sentence. ".repeat(9) + "\r\n    for one\n" + &"more ".repeat(30),
            "one line ".repeat(40),
            "\n \n\tdef\n".repeat(12) + "class of its own\r",
        ];
        for before in ["", "if so:", "x = {", "while", "~~~", "  def f():\n", "~~~go\n"] {
            for text in &texts {
                let (mut whole, mut bytes) = (Program::default(), Program::default());
                whole.scan(before.as_bytes());
                bytes.scan(before.as_bytes());
                whole.read(text.as_bytes(), true);
                text.as_bytes().chunks(1).for_each(|byte| bytes.scan(byte));
                assert_eq!(format!("{whole:?}"), format!("{bytes:?}"), "{before:?} {text:?}");
            }
        }
    }
}
