//! Where all documents are wanted: ends one that was cut off before the next line.

use alloc::vec::Vec;

use super::{JOIN, Mender};
use crate::{
    MendOptions, Output, Policy, TrailingDocuments,
    engine::Engine,
    lines::{self, Opening, goes_on_like, is_cut, is_first_cut, opening},
};

/// What a mender knows of the lines of a text of several documents.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    /// A line end, and what came after it, while it is not known whether that is another document.
    held: Vec<u8>,
    /// Whether whole lines are looked at, because all of the text is there.
    whole: bool,
    line: Line,
    /// The last line at whose start a document began that had not ended with it.
    begun: Option<Line>,
    /// How the last document began, if it was a line.
    before: Option<Opening>,
    /// Where the last document is.
    ended: Option<(usize, usize)>,
    /// The last byte so far that is no white space.
    last: u8,
}

/// A line: where it starts and ends, and how it begins, if that much of it is known.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    start: usize,
    end: usize,
    own: Opening,
    known: usize,
}

impl Lines {
    pub(super) fn of(options: &MendOptions) -> Option<alloc::boxed::Box<Self>> {
        (options.trailing_documents() == TrailingDocuments::All).then(Default::default)
    }

    /// The bytes that wait before the engine.
    pub(super) fn held(&self) -> &[u8] {
        &self.held
    }

    /// Notes bytes of the current line. It begins after white space and a byte order mark.
    fn pass(&mut self, bytes: &[u8]) {
        let line = &mut self.line;
        let before = |byte: &u8| byte.is_ascii_whitespace() || b"\xEF\xBB\xBF".contains(byte);
        let space =
            if line.known == 0 { bytes.iter().take_while(|byte| before(byte)).count() } else { 0 };
        line.start += space;
        for byte in bytes.iter().skip(space).take(line.own.len() - line.known) {
            line.own[line.known] = *byte;
            line.known += 1;
        }
        let solid = bytes.iter().rfind(|byte| !byte.is_ascii_whitespace());
        self.last = solid.copied().unwrap_or(self.last);
    }

    /// At the end of a line, notes which documents were one. Returns how lines of documents begin, if the
    /// open document is such a line, or began at the start of one, as the document before it did. If that
    /// was no line, the open document may be the first one.
    fn end(&mut self, at: usize, engine: &Engine) -> Option<Opening> {
        self.line.end = at;
        let lines = [Some(self.line), self.begun];
        let line_at = |start: usize| {
            let known = |line: &&Line| line.start == start && line.known == line.own.len();
            lines.iter().flatten().find(known).copied()
        };
        if self.ended != engine.last_document() {
            self.ended = engine.last_document();
            let line = self.ended.and_then(|(start, end)| Some((line_at(start)?, end)));
            self.before = line.filter(|(line, end)| *end <= line.end).map(|(line, _)| line.own);
        }
        self.begun = engine.open_document().and_then(line_at);
        let own = self.begun?;
        let first = (own.start == self.line.start).then_some(own.own);
        self.before.or(first).filter(|before| own.own[0] == before[0])
    }
}

impl Mender {
    /// Reads a chunk of a text of several documents.
    pub(super) fn read_lines(&mut self, chunk: &[u8], out: &mut dyn Output) {
        let mut rest = chunk;
        while let Some(lines) = self.lines.as_mut().filter(|lines| !lines.held.is_empty())
            && !rest.is_empty()
        {
            let (head, tail) = rest.split_at(rest.len().min(JOIN));
            let mut joint = core::mem::take(&mut lines.held);
            joint.extend_from_slice(head);
            rest = tail;
            self.read_each_line(&joint, false, out, |_, _| ());
        }
        self.read_each_line(rest, false, out, |_, _| ());
    }

    /// Reads the bytes that wait for the next line, because the text has ended or is given up.
    pub(super) fn finish_lines(&mut self, out: &mut dyn Output) {
        let held = self.lines.as_mut().map(|lines| core::mem::take(&mut lines.held));
        self.read_each_line(&held.unwrap_or_default(), true, out, |_, _| ());
    }

    /// Reads text up to each line end, and calls `cut` with the offset of those at which it ends the open
    /// document, and how many had ended before.
    fn read_each_line(
        &mut self,
        text: &[u8],
        last: bool,
        out: &mut dyn Output,
        mut cut: impl FnMut(usize, usize),
    ) {
        let mut rest = text;
        while !rest.is_empty() {
            let Some(lines) = self.lines.as_mut().filter(|_| self.raw.is_none()) else {
                self.read_text(rest, out);
                return;
            };
            if rest == b"\r" && !last {
                lines.held.push(b'\r');
                return;
            }
            let ends = lines::end(rest) == Some(0);
            if ends {
                let before = lines.end(self.pushed, &self.engine);
                let Some(ends) =
                    before.map_or(Some(false), |own| self.ends_before(rest, own, last))
                else {
                    if let Some(lines) = &mut self.lines {
                        lines.held.extend_from_slice(rest);
                    }
                    return;
                };
                if ends {
                    cut(self.pushed, self.engine.documents());
                    self.end_line(out);
                }
                if let Some(lines) = &mut self.lines {
                    lines.line = Line { start: self.pushed, ..Line::default() };
                }
            }
            let from = usize::from(ends);
            let length = lines::end(&rest[from..]);
            let (line, next) = rest.split_at(length.map_or(rest.len(), |length| from + length));
            if let Some(lines) = &mut self.lines {
                lines.pass(line);
            }
            self.read_text(line, out);
            rest = next;
        }
    }

    /// Whether the open document ends before `rest`, which may go on with a line like the ones before.
    fn ends_before(&mut self, rest: &[u8], before: Opening, last: bool) -> Option<bool> {
        if !goes_on_like(rest, before, last)? {
            return Some(false);
        }
        let in_string = self.ends_in_string();
        let lines = self.lines.as_ref()?;
        let lookahead = self.engine.options().limits().lookahead();
        let window = if lines.whole { usize::MAX } else { lookahead };
        self.watched += rest.len().min(window) as u64;
        let judge = if lines.before.is_some() { is_cut } else { is_first_cut };
        judge(rest, lines.last, in_string, window, last)
    }

    /// Ends the open document, and goes on.
    fn end_line(&mut self, out: &mut dyn Output) {
        let mut carry = core::mem::take(&mut self.carry);
        let used = self.advance(&carry, true, out);
        carry.drop_front(used);
        self.carry = carry;
        if self.raw.is_some() {
            self.bypass(&[], out);
        }
    }
}

/// Where documents of a whole text were cut off before a line that is another one. Also how many steps
/// that took. If one document is wanted, only the first matters.
pub(crate) fn cut_lines(input: &[u8], options: &MendOptions) -> (Vec<usize>, u64) {
    use TrailingDocuments::{Error, First};
    let before = opening(input);
    let one = matches!(options.trailing_documents(), Error | First);
    let every = options.clone().with_policy(Policy::PERMISSIVE);
    let mut mender = Mender::new(every.with_trailing_documents(TrailingDocuments::All));
    mender.lines = Some(Lines { before, whole: true, ..Lines::default() }.into());
    let mut cuts = Vec::new();
    mender.read_each_line(input, true, &mut (), |at, documents| {
        if !one || documents == 0 {
            cuts.push(at);
        }
    });
    (cuts, mender.steps() + input.len() as u64)
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::String, vec};

    use super::*;
    use crate::{Collected, Outcome, mend};

    fn options() -> MendOptions {
        MendOptions::new().with_trailing_documents(TrailingDocuments::All)
    }

    fn pushed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (String, Outcome) {
        let (mut mender, mut out) = (Mender::new(options()), Collected::default());
        pieces.into_iter().for_each(|piece| mender.push(piece, &mut out));
        let outcome = mender.finish(&mut out);
        (String::from_utf8_lossy(out.text()).into_owned(), outcome)
    }

    /// Of lines that are a document each, one that is broken takes no other with it: in a whole text, in a
    /// stream, and wherever that is cut.
    #[test]
    fn a_broken_line_takes_no_other_with_it() {
        for (line, mended) in [
            (r#"{"b": 2"#, r#"{"b": 2}"#),
            (r#"{"b": "x"#, r#"{"b": "x"}"#),
            (r#"{"b": [1,"#, r#"{"b": [1]}"#),
            (r#"{"b":"#, "{}"),
            (r#"{"b": "say "hi" now"}"#, r#"{"b": "say \"hi\" now"}"#),
        ] {
            for (end, space) in [("\n", ""), ("\r\n", "\n "), ("\n", "\u{feff}")] {
                let lines = |line| [r#"{"a": 1}"#, line, r#"{"c": 3}"#, r#"{"d": 4}"#].join(end);
                let (text, want) = (format!("{space}{}", lines(line)), lines(mended));
                let solid = |text: &str| text.split_whitespace().collect::<String>();
                let whole = mend(text.as_bytes(), &options());
                assert_eq!(whole.text().map(solid), Some(solid(&want)), "{text}");
                let once = pushed([text.as_bytes()]);
                assert_eq!(solid(&once.0), solid(&want), "{text}");
                let cut = !line.ends_with('}');
                assert_eq!(
                    [whole.outcome(), once.1].map(Outcome::is_complete),
                    [!cut; 2],
                    "{text}"
                );
                assert_eq!(pushed(text.as_bytes().chunks(1)), once, "{text}");
                for at in 0..text.len() {
                    let (head, tail) = text.as_bytes().split_at(at);
                    assert_eq!(pushed([head, tail]), once, "{text}, cut at {at}");
                }
            }
        }
    }

    /// A line that is a value of the document before it, or a part of a string in it, is no other document.
    #[test]
    fn lines_of_one_document_stay_one() {
        for text in [
            "{\"a\": 1}\n{\"b\":\n{\"c\": 3}\n}\n{\"d\": 4}",
            "{\"a\": 1}\n{\"b\": [\n{\"c\": 3},\n{\"d\": 4}\n]}",
            "[1]\n[\n[2],\n[3]\n]\n",
        ] {
            assert_eq!(pushed(text.as_bytes().chunks(1)), (text.into(), Outcome::Unchanged));
            assert_eq!(mend(text.as_bytes(), &options()).text(), Some(text));
        }
    }

    /// Where one document is wanted, the first line is it, and the other lines are dropped.
    #[test]
    fn the_first_line_is_the_one_that_is_wanted() {
        let text = b"{\"a\": 1\n{\"b\": 2}\n{\"c\": 3}";
        let mended = mend(text, &MendOptions::new());
        assert_eq!((mended.text(), mended.outcome()), (Some("{\"a\": 1}"), Outcome::Closed));
        assert_eq!(cut_lines(text, &MendOptions::new()).0, vec![7]);
    }

    /// What waits for the next line is handed out if the text is given up.
    #[test]
    fn what_waits_is_not_lost() {
        let (mut mender, mut out) = (Mender::new(options()), Collected::default());
        mender.push(b"{\"a\": 1}\n{\"b\": [1,\n{\"c\": 3", &mut out);
        assert_eq!(mender.withheld(), 9);
        mender.abandon(&mut out);
        assert!(out.text().ends_with(b",\n{\"c\": 3"));
        assert_eq!(mender.withheld(), 0);
    }
}
