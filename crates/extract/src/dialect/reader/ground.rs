//! Where in a text a place is, as far as that says whether a call there is made or only shown.
//!
//! What is read is text alone: the bytes of calls, markers and reasoning never come here. Two states are all
//! that is kept: what the line is in, and the line so far. Both are decided byte by byte, so that it makes no
//! difference how the text is divided.

/// The languages of fences in which models write calls. In any other, they show one.
const DATA: [&str; 5] = ["", "json", "text", "tool_call", "xml"];
/// Those of programs, each statement of which may be a call.
const PROGRAMS: [&str; 7] = ["javascript", "js", "py", "python", "tool_code", "ts", "typescript"];
/// Who speaks in the headers of turns: in any of these, it is not the model.
const OTHERS: [&[u8]; 8] =
    [b"user", b"human", b"observation", b"system", b"developer", b"tool", b"function", b"ipython"];
/// How many of these are labels of turns without a control token. A line may begin with any of the others.
const LABELS: usize = 3;
const MODELS: [&[u8]; 6] = [b"assistant", b"model", b"ai", b"thought", b"action", b"final"];
/// From how many backticks or tildes on a line opens a fence.
const FENCE: u8 = 3;
/// How much of a line is kept before it is read.
const KEPT: usize = 512;
/// How much of a text is read line by line, whatever is in it.
const NEAR: usize = 256;
/// How much of the first word of a line is looked at.
const HEAD: usize = 32;

/// Where a call would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seat {
    /// Directly after a marker, or where nobody asks.
    Free,
    /// At the start of its line, but for brackets, the sign of an item, quotation marks and the like.
    Own(Dress),
    /// After text of its line. `true` says that a template may put a marker there: the text ends a sentence,
    /// or there is no space after it.
    After(bool),
    /// Below a line of text, and indented: a marker may be there, and nothing else.
    Below,
    /// In a JSON document, where nothing without a marker is called. Whether a marker may be there.
    Within(bool),
    /// In a string of a document: nothing is anything else than text there.
    Data,
    /// In code, a quotation, a comment, a table, or the turn of another: it is shown.
    Shown,
}

/// What is around a call on its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dress {
    Plain,
    /// It is in quotation marks, or in inline code.
    Quoted,
    /// Its result is given a name, or to a function.
    Assigned,
}

impl Seat {
    /// Whether the text of the line goes on there.
    pub(super) const fn is_said(self) -> bool {
        matches!(self, Self::After(_))
    }

    /// Whether a marker begins a call there. Who names the dialect says that its markers are none of the text.
    pub(super) const fn takes_marker(self, named: bool) -> bool {
        match self {
            Self::Free | Self::Own(Dress::Plain) | Self::After(true) | Self::Below => true,
            Self::Own(Dress::Assigned) | Self::After(false) => named,
            Self::Within(takes) => takes || named,
            Self::Own(Dress::Quoted) | Self::Data | Self::Shown => false,
        }
    }
}

/// What the line is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Around {
    #[default]
    Prose,
    /// A fence of so many of this byte.
    Fence(u8, u8, Kind),
    /// The turn of another. `true` says that a control token began it, so that only another one ends it.
    Turn(bool),
}

/// What a fence is for calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It shows them.
    Shows,
    /// It holds nothing else.
    Data,
    /// Each statement at its margin may be one.
    Program,
}

impl Kind {
    fn of_language(word: &[u8]) -> Self {
        let among = |names: &[&str]| names.iter().any(|name| name.as_bytes() == word);
        match word {
            _ if among(&DATA) => Self::Data,
            _ if among(&PROGRAMS) => Self::Program,
            _ => Self::Shows,
        }
    }
}

/// The line so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Line {
    /// Nothing but what may be around calls.
    #[default]
    Clean,
    /// A sign that may begin an item, a comment, or something else.
    Sign(u8),
    /// A word, which may be given a value. Whether it is a number so far.
    Word(bool),
    /// A word and blanks.
    Words,
    /// `name =`, or `name(`.
    Assigned,
    /// `<|`, up to the end of the token.
    Token,
    Said,
    /// A run of so many of this byte, which opens code, or a fence at the start of the line.
    Run(u8, u8, bool),
    /// In code that so many backticks close, of which so many were read.
    Code(u8, u8, bool),
    /// In quotation marks that this closes.
    Quoted(Closer, bool),
    /// The rest of the line is a comment. Whether nothing was said before it.
    Comment(bool),
    /// A quoted line, or one of a table.
    Shown,
    /// After the marks of a fence.
    Label(u8, u8),
}

/// The last line above that has text: how near it is, and whether it is indented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Above {
    #[default]
    Nothing,
    Near(bool),
    Far(bool),
}

impl Above {
    /// What is above the next line.
    const fn line(self, indented: bool, blank: bool) -> Self {
        match self {
            Self::Near(own) | Self::Far(own) if blank => Self::Far(own),
            Self::Nothing if blank => Self::Nothing,
            _ => Self::Near(indented),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Ground {
    around: Around,
    /// The comment or the string on several lines that is open: what closes it, and how much of that was read.
    inside: Option<(Closer, u8)>,
    line: Line,
    /// How many brackets of a JSON document are open, and how many may have opened one.
    document: (u8, u8),
    /// Text of the line that was not read yet.
    kept: Vec<u8>,
    /// The first bytes of the line, without white space at its start, and how many there are.
    head: ([u8; HEAD], u8),
    /// How far the line is indented, how far the first one of a fence is, and the last line above that has text.
    indent: u8,
    margin: Option<u8>,
    above: Above,
    /// The last bytes that were read.
    last: [u8; 4],
    /// How many lines have ended.
    lines: u32,
    /// Whether anything was said in the message, and in the fence.
    said: bool,
    fence_said: bool,
}

/// What closes a comment, a string or a quotation: its number in [`CLOSERS`], which takes less room in each
/// reader than the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Closer(u8);

impl Closer {
    const MARKUP: Self = Self(0);
    const COMMENT: Self = Self(1);
    const DOUBLES: Self = Self(2);
    const SINGLES: Self = Self(3);
    const DOUBLE: Self = Self(4);
    const SINGLE: Self = Self(5);

    fn bytes(self) -> &'static [u8] {
        CLOSERS[usize::from(self.0)].as_bytes()
    }

    /// What closes the quotation that a mark at the end of `text` opens, if it is no ASCII.
    fn of_mark(text: &[u8]) -> Option<Self> {
        let found = MARKS.iter().position(|mark| text.ends_with(mark.as_bytes()))?;
        Some(Self(6 + found as u8))
    }
}

const CLOSERS: [&str; 12] =
    ["-->", "*/", "\"\"\"", "'''", "\"", "'", "”", "“", "’", "»", "」", "』"];

/// The quotation marks that are no ASCII, in the order of what closes them.
const MARKS: [&str; 6] = ["“", "„", "‘", "«", "「", "『"];

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The first byte, but for blanks, of a line that may be more than prose: a fence, or the header of a turn.
fn may_head(byte: u8) -> bool {
    let lower = byte | 0x20;
    (lower == b'u')
        | (lower == b'h')
        | (lower == b'o')
        | (byte == b'`')
        | (byte == b'~')
        | (byte == b'<')
        | (byte == b'[')
        | (byte == b'*')
        | (byte == b'#')
}

/// Whether a byte is a bracket of JSON: those that open differ in one bit from each other, as those that close do.
const fn is_bracket(byte: u8) -> bool {
    (byte | 0x20 == b'{') | (byte | 0x20 == b'}')
}

/// Whether anything but lines of prose may be in a text: the head of a line, or a document, a comment or a string
/// that may end on another line. Compilers turn such a search into a few instructions for many bytes.
fn is_notable(text: &[u8]) -> bool {
    let pairs = text.iter().zip(text.get(1..).unwrap_or_default());
    let found = pairs.fold(0, |found, (one, two)| {
        let document = is_bracket(*one)
            & ((*two == b'"') | (*two == b'\'') | is_bracket(*two) | (*two <= b' '));
        let comment = ((*one == b'<') & (*two == b'!')) | ((*one == b'/') & (*two == b'*'));
        let quotes = (*one == *two) & ((*one == b'"') | (*one == b'\''));
        let blank = (*two == b' ') | (*two == b'\t');
        let head = (*one == b'\n') & (may_head(*two) | blank);
        found | u8::from(document | comment | quotes | head)
    });
    found != 0
}

/// Whether a byte, or the one after it, may change a line in which something was said.
fn special(byte: u8) -> bool {
    (byte == b'`')
        | (byte == b'"')
        | (byte == b'\'')
        | (byte == b'/')
        | (byte == b'*')
        | (byte == b'#')
        | (byte == b'<')
        | (byte == b'!')
        | (byte == b'-')
        | (byte == b'\n')
        | is_bracket(byte)
        | (byte >= 0x80)
}

/// How many bytes of a line in which something was said change nothing.
fn plain(text: &[u8]) -> usize {
    const BLOCK: usize = 16;
    let mut rest = text;
    while let Some((block, after)) = rest.split_first_chunk::<BLOCK>()
        && block.iter().fold(0, |any, byte| any | u8::from(special(*byte))) == 0
    {
        rest = after;
    }
    let found = rest.iter().position(|byte| special(*byte)).unwrap_or(rest.len());
    text.len() - rest.len() + found
}

impl Ground {
    /// Reads text.
    pub(super) fn read(&mut self, text: &[u8]) {
        let Some(end) = text.iter().rposition(|byte| *byte == b'\n') else {
            return self.keep(text);
        };
        let (mut lines, tail) = text.split_at(end + 1);
        // Only the last lines of a stretch of prose make a difference.
        if let Some((prose, last)) = lines.split_at_checked(lines.len().saturating_sub(NEAR))
            && let Some(end) = prose.iter().rposition(|byte| *byte == b'\n')
            && self.begins_prose(lines)
            && !matches!(lines.first(), Some(b' ' | b'\t'))
            && !prose.trim_ascii().is_empty()
        {
            let (prose, rest) = prose.split_at(end + 1);
            if !is_notable(prose) {
                let ended = prose.iter().filter(|byte| **byte == b'\n').count();
                self.lines = self.lines.saturating_add(u32::try_from(ended).unwrap_or(u32::MAX));
                self.above = Above::Near(false);
                lines = lines.get(prose.len()..).unwrap_or(last);
                debug_assert_eq!(lines.len(), rest.len() + last.len());
            }
        }
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            if self.begins_prose(line) && !is_notable(line) {
                let indented = matches!(line.first(), Some(b' ' | b'\t'));
                self.above = self.above.line(indented, line.trim_ascii().is_empty());
                self.lines = self.lines.saturating_add(1);
            } else {
                self.keep(line);
                self.settle();
            }
        }
        self.keep(tail);
    }

    /// Whether the line that begins here is one more line of prose, judging by its head.
    fn begins_prose(&self, line: &[u8]) -> bool {
        let begins = self.line == Line::Clean && self.head.1 == 0 && self.kept.is_empty();
        let first = line.iter().find(|byte| !byte.is_ascii_whitespace());
        let prose = begins
            && self.said
            && self.inside.is_none()
            && self.document == (0, 0)
            && self.around == Around::Prose
            && self.indent == 0;
        prose && !first.is_some_and(|byte| may_head(*byte))
    }

    fn keep(&mut self, text: &[u8]) {
        for text in text.chunks(KEPT) {
            if self.kept.len() + text.len() > KEPT {
                self.settle();
            }
            self.kept.extend_from_slice(text);
        }
    }

    /// Reads what was kept.
    fn settle(&mut self) {
        let mut kept = std::mem::take(&mut self.kept);
        let mut rest = kept.as_slice();
        while let Some((byte, after)) = rest.split_first() {
            let length = match self.line {
                Line::Said if self.inside.is_none() && !special(self.last[3]) => plain(rest),
                _ => 0,
            };
            // The last bytes are read, so that they are known.
            let skipped = length.saturating_sub(self.last.len());
            if skipped > 0 {
                let (text, after) = rest.split_at(skipped);
                self.document.1 = 0;
                let mut text = text.iter();
                while usize::from(self.head.1) < HEAD
                    && let Some(byte) = text.next()
                {
                    self.begin(*byte);
                }
                rest = after;
                continue;
            }
            self.step(*byte);
            rest = after;
        }
        kept.clear();
        self.kept = kept;
    }

    /// A call was read.
    pub(super) fn called(&mut self) {
        self.marker();
        if self.head.1 == 0 {
            (self.head.0[0], self.head.1) = (b'>', 1);
        }
    }

    /// A call or a marker was read.
    pub(super) fn marker(&mut self) {
        self.settle();
        self.note_margin();
        self.line = match self.line {
            Line::Run(b'`', ticks, clean) => Line::Code(ticks, 0, clean),
            line @ (Line::Code(..) | Line::Quoted(..)) => line,
            _ => Line::Clean,
        };
        self.last = [b'>'; 4];
    }

    /// A call was read that is text.
    pub(super) fn shown(&mut self) {
        self.settle();
        self.note_margin();
        if !matches!(self.line, Line::Code(..) | Line::Quoted(..) | Line::Run(..)) {
            self.line = Line::Said;
        }
        self.head.1 = self.head.1.max(1);
        self.last = [b'>'; 4];
    }

    /// A message of the model begins.
    pub(super) fn message(&mut self) {
        let kept = std::mem::take(&mut self.kept);
        *self = Self { kept, last: [b'\n'; 4], lines: self.lines, ..Self::default() };
        self.kept.clear();
    }

    /// The number of the line.
    pub(super) fn line(&mut self) -> usize {
        self.settle();
        self.lines as usize
    }

    /// The same place, as if nothing had been said before.
    pub(super) fn unsaid(mut self) -> Self {
        self.settle();
        (self.said, self.fence_said) = (false, false);
        self
    }

    /// Whether nothing was said before, in the fence or in the message.
    pub(super) fn is_first(&mut self) -> bool {
        self.settle();
        !(self.said && !self.in_fence() || self.fence_said)
    }

    /// Whether it is in a turn of another that no control token began, so that a label may end it.
    pub(super) const fn in_labelled_turn(&self) -> bool {
        matches!(self.around, Around::Turn(false))
    }

    pub(super) const fn in_fence(&self) -> bool {
        matches!(self.around, Around::Fence(..))
    }

    /// Whether it is in a fence of which each statement stands alone.
    pub(super) const fn in_program(&self) -> bool {
        matches!(self.around, Around::Fence(_, _, Kind::Program))
    }

    /// Whether the line has more than what may be around calls.
    pub(super) fn is_said(&mut self) -> bool {
        self.settle();
        match self.line {
            Line::Said | Line::Shown => true,
            Line::Run(_, _, clean)
            | Line::Code(_, _, clean)
            | Line::Quoted(_, clean)
            | Line::Comment(clean) => !clean,
            _ => false,
        }
    }

    /// Whether a word is on the line, which is no name that is given a value.
    pub(super) fn is_word(&mut self) -> bool {
        self.settle();
        matches!(self.line, Line::Word(_) | Line::Words | Line::Sign(_))
    }

    /// Whether the line says something if it ends here.
    pub(super) fn ends_said(&mut self) -> bool {
        self.settle();
        self.says() && !(self.in_fence() && matches!(self.line, Line::Run(..)))
    }

    /// Where a call would be that begins here.
    pub(super) fn seat(&mut self) -> Seat {
        self.settle();
        match self.line {
            _ if self.document.0 == 0 => self.seat_of_line(),
            Line::Quoted(..) => Seat::Data,
            _ => Seat::Within(self.seat_of_line().takes_marker(false)),
        }
    }

    fn seat_of_line(&self) -> Seat {
        match self.around {
            _ if self.inside.is_some() => return Seat::Shown,
            Around::Turn(_) | Around::Fence(_, _, Kind::Shows) => return Seat::Shown,
            Around::Fence(_, _, Kind::Data) if self.fence_said => return Seat::Shown,
            Around::Prose | Around::Fence(..) => {}
        }
        match self.line {
            Line::Clean if self.is_below() => Seat::Below,
            Line::Clean | Line::Token => Seat::Own(Dress::Plain),
            Line::Assigned if self.is_below() => Seat::After(false),
            Line::Assigned => Seat::Own(Dress::Assigned),
            Line::Code(ticks, read, clean) if read == ticks => self.after(clean),
            Line::Run(b'`', _, true) | Line::Code(_, _, true) | Line::Quoted(_, true) => {
                Seat::Own(Dress::Quoted)
            }
            Line::Run(b'~', ..) | Line::Sign(_) | Line::Word(_) | Line::Words | Line::Said => {
                self.after(false)
            }
            Line::Run(..) | Line::Code(..) | Line::Quoted(..) => Seat::Shown,
            Line::Comment(_) | Line::Shown | Line::Label(..) => Seat::Shown,
        }
    }

    /// Whether an indented line belongs to what is above it: to the line directly above, or to a block of which
    /// the last line is indented, too.
    fn is_below(&self) -> bool {
        let above = matches!(self.above, Above::Near(_) | Above::Far(true));
        self.is_indented() && above && (!self.in_fence() || self.in_program())
    }

    fn is_indented(&self) -> bool {
        self.indent > self.margin.unwrap_or(if self.in_fence() { self.indent } else { 0 })
    }

    fn after(&self, clean: bool) -> Seat {
        if clean {
            return Seat::Own(Dress::Plain);
        }
        let ends = |byte: u8| matches!(byte, b'.' | b'!' | b'?' | b')' | b'>');
        Seat::After(match self.last {
            // The full stop, the exclamation mark and the question mark of Chinese and Japanese.
            [0xE3, 0x80, 0x82, b' '] | [0xEF, 0xBC, 0x81 | 0x9F, b' '] => true,
            [.., before, b' ' | b'\t'] => ends(before),
            // Their comma and colon.
            [_, 0xE3, 0x80, 0x81] | [_, 0xEF, 0xBC, 0x8C | 0x9A] => false,
            [.., last] => ends(last) || is_word(last),
        })
    }

    /// The comment or the string that a byte opens, after those that were read.
    fn opens(&self, byte: u8) -> Option<Closer> {
        let [first, second, third] = [self.last[1], self.last[2], self.last[3]];
        match (first, second, third, byte) {
            (b'<', b'!', b'-', b'-') => Some(Closer::MARKUP),
            (_, _, b'/', b'*') => Some(Closer::COMMENT),
            (_, b'"', b'"', b'"') => Some(Closer::DOUBLES),
            (_, b'\'', b'\'', b'\'') => Some(Closer::SINGLES),
            _ => None,
        }
    }

    fn step(&mut self, byte: u8) {
        if byte == b'\n' {
            self.end_line();
        } else if let Some((close, read)) = self.inside {
            let bytes = close.bytes();
            let read = match bytes.get(usize::from(read)) {
                Some(next) if *next == byte => read + 1,
                _ => u8::from(bytes.first() == Some(&byte)),
            };
            self.inside = Some((close, read));
            if usize::from(read) == bytes.len() {
                (self.inside, self.line) = (None, Line::Said);
            }
        } else if let Some(close) = self.opens(byte).filter(|_| self.line != Line::Shown) {
            (self.said, self.fence_said) = (true, self.in_fence());
            self.inside = Some((close, 0));
        } else {
            self.begin(byte);
            self.bracket(byte);
            self.line = self.next(self.line, byte);
        }
        self.last.copy_within(1.., 0);
        self.last[3] = byte;
    }

    /// Follows documents: from a bracket before a string on up to its partner, or to a blank line.
    fn bracket(&mut self, byte: u8) {
        if matches!(self.line, Line::Quoted(..) | Line::Code(..) | Line::Comment(_) | Line::Shown) {
            return;
        }
        let (open, may_open) = self.document;
        self.document = match byte {
            b'{' | b'[' if open > 0 => (open.saturating_add(1), 0),
            b'{' | b'[' => (0, may_open.saturating_add(1)),
            b'"' | b'\'' => (open.saturating_add(may_open), 0),
            b'}' | b']' => (open.saturating_sub(1), 0),
            b' ' | b'\t' | b'\r' => self.document,
            _ => (open, 0),
        };
    }

    /// Notes the first bytes of the line.
    fn begin(&mut self, byte: u8) {
        if self.head.1 == 0 && matches!(byte, b' ' | b'\t') {
            self.indent = self.indent.saturating_add(1);
        } else if (self.head.1 > 0 || byte != b'\r')
            && let Some(free) = self.head.0.get_mut(usize::from(self.head.1))
        {
            (*free, self.head.1) = (byte, self.head.1 + 1);
            self.note_margin();
        }
    }

    /// The first line of a fence has something.
    fn note_margin(&mut self) {
        if self.in_fence() {
            self.margin.get_or_insert(self.indent);
        }
    }

    /// The line with one more byte.
    fn next(&self, line: Line, byte: u8) -> Line {
        let begins = self.head.1 == 1 && !byte.is_ascii_whitespace();
        let blank = matches!(byte, b' ' | b'\t' | b'\r');
        match line {
            Line::Clean => match byte {
                b'`' | b'~' if begins => Line::Run(byte, 1, true),
                b'`' => Line::Run(byte, 1, true),
                b'>' | b'|' if begins => Line::Shown,
                b'#' | b'-' | b'*' | b'/' | b'<' => Line::Sign(byte),
                b'"' => Line::Quoted(Closer::DOUBLE, true),
                b'\'' => Line::Quoted(Closer::SINGLE, true),
                b']' | b'}' | b')' | b',' | b';' | b'.' => Line::Clean,
                // Between two calls, and not where a difference begins.
                b'+' if !begins => Line::Clean,
                byte if blank || byte == b'\0' => Line::Clean,
                byte if byte.is_ascii_digit() => Line::Word(true),
                byte if is_word(byte) => self.mark(byte, true).unwrap_or(Line::Word(false)),
                _ => Line::Said,
            },
            Line::Sign(b'#') if byte == b'#' => Line::Sign(byte),
            Line::Sign(b'#') if blank => Line::Comment(true),
            Line::Sign(b'-' | b'*') if blank => Line::Clean,
            Line::Sign(sign @ (b'-' | b'/')) if byte == sign => Line::Comment(true),
            Line::Sign(b'<') if byte == b'|' => Line::Token,
            Line::Sign(_) => self.said(byte),
            Line::Word(true) if matches!(byte, b'.' | b')') => Line::Clean,
            // What is done with the result, as in `print(book(seats=2))`.
            Line::Word(false) if byte == b'(' => Line::Assigned,
            Line::Word(_) | Line::Words if byte == b'=' => Line::Assigned,
            Line::Word(number) if is_word(byte) || byte == b'.' => {
                self.mark(byte, true).unwrap_or(Line::Word(number && byte.is_ascii_digit()))
            }
            Line::Word(_) | Line::Words if blank => Line::Words,
            Line::Word(_) | Line::Words => self.said(byte),
            Line::Assigned if blank => Line::Assigned,
            Line::Assigned => self.said(byte),
            Line::Token if byte == b'>' && self.last[3] == b'|' => Line::Clean,
            Line::Token if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'|') => {
                Line::Token
            }
            Line::Token | Line::Said => self.said(byte),
            Line::Run(tick, run, clean) if byte == tick => {
                Line::Run(tick, run.saturating_add(1), clean)
            }
            Line::Run(tick, run, _) if run >= FENCE && self.head.1 <= run.saturating_add(1) => {
                Line::Label(tick, run)
            }
            Line::Run(b'`', run, clean) => self.code(Line::Code(run, 0, clean), byte),
            Line::Run(..) => self.said(byte),
            Line::Code(..) => self.code(line, byte),
            Line::Quoted(close, clean) => {
                let close = close.bytes();
                let (before, last) = close.split_at(close.len() - 1);
                let closes = last.first() == Some(&byte)
                    && self.last.ends_with(before)
                    && !(close.len() == 1 && self.last[3] == b'\\');
                match (closes, clean) {
                    (true, true) => Line::Clean,
                    (true, false) => Line::Said,
                    (false, _) => line,
                }
            }
            Line::Label(tick, run) if byte == b'`' && tick == byte => Line::Code(run, 1, false),
            Line::Comment(_) | Line::Shown | Line::Label(..) => line,
        }
    }

    fn code(&self, line: Line, byte: u8) -> Line {
        let Line::Code(ticks, read, clean) = line else { return line };
        match byte {
            b'`' => Line::Code(ticks, read.saturating_add(1), clean),
            _ if read != ticks => Line::Code(ticks, 0, clean),
            _ if clean => self.next(Line::Clean, byte),
            _ => self.said(byte),
        }
    }

    /// The quotation marks that a byte which is no ASCII opens.
    fn mark(&self, byte: u8, clean: bool) -> Option<Line> {
        let last = [self.last[2], self.last[3], byte];
        Closer::of_mark(&last).map(|close| Line::Quoted(close, clean))
    }

    /// A byte of a line with words in it.
    fn said(&self, byte: u8) -> Line {
        let before = self.last[3];
        match byte {
            b'`' => Line::Run(byte, 1, false),
            b'"' => Line::Quoted(Closer::DOUBLE, false),
            b'\'' if !is_word(before) => Line::Quoted(Closer::SINGLE, false),
            b'/' if before == b'/' && self.last[2] != b':' => Line::Comment(false),
            b' ' if before == b'#' && matches!(self.last[2], b' ' | b'\t') => Line::Comment(false),
            _ if byte >= 0x80 => self.mark(byte, false).unwrap_or(Line::Said),
            _ => Line::Said,
        }
    }

    fn end_line(&mut self) {
        let head =
            self.head.0.get(..usize::from(self.head.1)).unwrap_or_default().to_ascii_lowercase();
        let blank = head.is_empty();
        let around = self.around;
        match (self.around, self.line) {
            _ if self.inside.is_some() => {}
            (Around::Fence(tick, ticks, _), Line::Run(own, run, true))
                if own == tick && run >= ticks =>
            {
                (self.around, self.margin) = (Around::Prose, None);
                (self.fence_said, self.said) = (false, true);
            }
            (Around::Prose, Line::Run(tick, run, true) | Line::Label(tick, run))
                if run >= FENCE && head.first() == Some(&tick) =>
            {
                let label = head.get(usize::from(run)..).unwrap_or_default().trim_ascii();
                let word =
                    label.split(|byte| !byte.is_ascii_alphanumeric() && !b"_+#".contains(byte));
                let word = word.into_iter().next().unwrap_or_default();
                let kind = if head.len() < HEAD { Kind::of_language(word) } else { Kind::Shows };
                (self.around, self.margin) = (Around::Fence(tick, run, kind), None);
                self.fence_said = false;
            }
            (Around::Prose | Around::Turn(_), _) if !blank => match speaker(&head) {
                // Where no other speaks, the label of the model is text.
                Some(Speaker::Model(token)) if token || self.around != Around::Prose => {
                    (self.around, self.said) = (Around::Prose, false);
                }
                Some(Speaker::Other(token)) => {
                    (self.around, self.said) = (Around::Turn(token), true);
                }
                _ => self.said |= self.says(),
            },
            (Around::Turn(false), _) => self.around = Around::Prose,
            (Around::Fence(..), _) => self.fence_said |= self.says(),
            _ => {}
        }
        if blank || self.around != around {
            self.document = (0, 0);
        }
        self.above = self.above.line(self.is_indented(), blank);
        self.indent = 0;
        self.line = Line::Clean;
        self.head.1 = 0;
        self.lines = self.lines.saturating_add(1);
    }

    /// Whether the line that ends says anything.
    const fn says(&self) -> bool {
        !matches!(
            self.line,
            Line::Clean | Line::Comment(true) | Line::Code(_, _, true) | Line::Quoted(_, true)
        )
    }
}

/// Whose turn a line begins. `true` says that a control token does so, and not a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaker {
    Model(bool),
    /// Another's.
    Other(bool),
}

/// Whose turn a line begins, in lower case. The turn of a label that has text after it is that line.
fn speaker(head: &[u8]) -> Option<Speaker> {
    const TOKENS: [&[u8]; 5] =
        [b"<|im_start|>", b"<|start_header_id|>", b"<start_of_turn>", b"<|start|>", b"<|"];
    let token = TOKENS.iter().find_map(|token| head.strip_prefix(*token));
    let text = token.unwrap_or(head).trim_ascii_start();
    let text = text.strip_prefix(b"**").or_else(|| text.strip_prefix(b"### ")).unwrap_or(text);
    let length = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (word, after) = text.split_at(length);
    let label = after.strip_prefix(b"**").unwrap_or(after).strip_prefix(b":");
    let names = if token.is_some() { OTHERS.len() } else { LABELS };
    let ends = |byte: &u8| matches!(byte, b'\r' | b'|' | b'<');
    if token.is_some() && !after.first().is_none_or(ends) || token.is_none() && label.is_none() {
        return None;
    }
    if MODELS.contains(&word) {
        return Some(Speaker::Model(token.is_some()));
    }
    let alone = label.is_none_or(|text| text.iter().all(|byte| b" *\t\r".contains(byte)));
    let other = OTHERS.iter().take(names).any(|name| *name == word) && alone;
    other.then_some(Speaker::Other(token.is_some()))
}
