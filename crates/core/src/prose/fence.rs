//! Markdown code fences.

use super::look::{Look, Verdict};

/// What a fence contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// JSON, according to the info string.
    Json,
    /// There is no info string, or it names a language whose values look like JSON.
    Plain,
    /// Another language. All of it is text.
    Other,
}

/// A code fence that is open.
#[derive(Clone, Copy, Debug)]
pub struct Fence {
    mark: u8,
    run: usize,
    inside: Inside,
    /// The offset of its opening line in the input, and of its content.
    start: usize,
    inner: usize,
    /// Whether anything but white space came after its opening line, or after its last document.
    touched: bool,
    /// Whether it has contained a document.
    has_document: bool,
}

/// Reads an opening fence at the start of `bytes`, which are at `offset` of the input.
///
/// Returns the fence and the length of its opening, up to its content. The inner `None` means that
/// this is not a fence; the outer `None` waits for more. In the middle of a line, a fence counts
/// only if it ends that line, or if it names JSON and a bracket follows.
pub(super) fn open(
    bytes: &[u8],
    offset: usize,
    line_start: bool,
    window: usize,
    eof: bool,
) -> Option<Option<(Fence, usize)>> {
    let mut look = Look::new(bytes, window, eof);
    let mark = bytes.first().copied().unwrap_or_default();
    let run = look.skip(|byte| byte == mark);
    let verdict = match look.peek((run >= 3).then_some(Inside::Other)) {
        Ok(_) if run < 3 || (mark == b'~' && !line_start) => Ok(None),
        Ok(_) => opening(&mut look, mark, line_start),
        Err(or) => Err(or),
    };
    let inside = look.settle(verdict)?;
    Some(inside.map(|inside| {
        let inner = offset + look.at();
        (
            Fence { mark, run, inside, start: offset, inner, touched: false, has_document: false },
            look.at(),
        )
    }))
}

/// The length of the opening of a fence at the start of a text, up to its content. The inner `None` says
/// that there is none; the outer one waits for more.
pub(crate) fn fence_before(text: &[u8], window: usize, last: bool) -> Option<Option<usize>> {
    Some(open(text, 0, true, window, last)?.map(|(_, length)| length))
}

/// Reads what follows the marks of an opening fence.
fn opening(look: &mut Look<'_>, mark: u8, line_start: bool) -> Verdict<Option<Inside>> {
    let at_start = line_start.then_some(Inside::Other);
    look.skip_blank();
    let from = look.at();
    look.skip(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'+' | b'#' | b'.' | b'-')
    });
    look.peek(at_start)?;
    let inside = inside(look.since(from));
    look.skip_blank();
    match look.peek(line_start.then_some(inside))? {
        None => Ok(line_start.then_some(inside)),
        Some(b'\n') => {
            look.bump();
            Ok(Some(inside))
        }
        Some(b'{' | b'[') if inside == Inside::Json => Ok(Some(inside)),
        Some(b'{' | b'[') if inside == Inside::Plain && line_start => {
            // `{r}` and `{.python}` name a language.
            let mut ahead = *look;
            ahead.bump();
            match ahead.peek(Some(Inside::Plain))? {
                Some(byte) if byte.is_ascii_alphabetic() || byte == b'.' => {
                    rest_of_info(look, mark)
                }
                _ => Ok(Some(Inside::Plain)),
            }
        }
        Some(_) if line_start => {
            let end = rest_of_info(look, mark);
            end.map(|end| end.map(|_| inside)).map_err(|end| end.map(|_| inside))
        }
        Some(_) => Ok(None),
    }
}

/// Skips the rest of an info string. With a backtick in it, this is inline code.
fn rest_of_info(look: &mut Look<'_>, mark: u8) -> Verdict<Option<Inside>> {
    look.skip(|byte| byte != b'\n' && (byte != b'`' || mark == b'~'));
    match look.peek(Some(Inside::Other))? {
        Some(b'`') => Ok(None),
        Some(_) => {
            look.bump();
            Ok(Some(Inside::Other))
        }
        None => Ok(Some(Inside::Other)),
    }
}

/// What a fence contains according to the first word of its info string.
fn inside(word: &[u8]) -> Inside {
    const JSON: &[&str] =
        &["json", "jsonc", "json5", "jsonl", "ndjson", "jsonlines", "geojson", "jsonld", "json-ld"];
    const PLAIN: &[&str] = &["", "javascript", "js", "text", "txt", "plaintext", "output"];
    let is = |names: &[&str]| names.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()));
    if is(JSON) {
        Inside::Json
    } else if is(PLAIN) {
        Inside::Plain
    } else {
        Inside::Other
    }
}

impl Fence {
    /// Reads a closing fence at the start of `bytes`, and returns its length. The inner `None`
    /// means that this is none; the outer `None` waits for more. It must be alone on its line, or
    /// directly after a document.
    pub(super) fn close(
        &self,
        bytes: &[u8],
        line_start: bool,
        window: usize,
        eof: bool,
    ) -> Option<Option<usize>> {
        let after_document = self.has_document && !self.touched;
        if !(line_start || after_document) {
            return Some(None);
        }
        let mut look = Look::new(bytes, window, eof);
        let run = look.skip(|byte| byte == self.mark);
        let verdict = match look.peek((run >= self.run).then_some(run)) {
            Ok(_) if run < self.run => Ok(None),
            Ok(_) if after_document => Ok(Some(run)),
            Ok(_) => {
                look.skip_blank();
                look.peek(Some(run)).map(|next| matches!(next, None | Some(b'\n')).then_some(run))
            }
            Err(or) => Err(or),
        };
        look.settle(verdict)
    }

    pub(super) const fn mark(&self) -> u8 {
        self.mark
    }

    pub(super) const fn inside(&self) -> Inside {
        self.inside
    }

    /// The offset of its opening marks in the input.
    #[must_use]
    pub const fn start(&self) -> usize {
        self.start
    }

    /// The offset of its content in the input.
    #[must_use]
    pub const fn inner(&self) -> usize {
        self.inner
    }

    /// Whether anything but white space came after its opening, or after its last document.
    #[must_use]
    pub const fn is_touched(&self) -> bool {
        self.touched
    }

    pub(super) const fn has_document(&self) -> bool {
        self.has_document
    }

    pub(super) const fn touch(&mut self) {
        self.touched = true;
    }

    /// Records that a document ended in it.
    pub(super) const fn document_ended(&mut self) {
        self.has_document = true;
        self.touched = false;
    }
}
