//! What is around documents.

use super::{
    Around, Reading, Search,
    arena::Kind,
    rows::{Row, swallowed},
    token,
};
use crate::{RepairKind, engine::Quote};

/// The length of a tag in brackets, as in `[TOOL_CALLS]`.
fn tag(text: &[u8]) -> Option<usize> {
    let inner = text.strip_prefix(b"[")?;
    let name = inner.iter().take_while(|byte| byte.is_ascii_uppercase() || **byte == b'_').count();
    (name > 1 && inner.get(name) == Some(&b']')).then_some(name + 2)
}

/// How far text around documents is passed at once, in bytes.
const STRIDE: usize = 256;

/// What ends reasoning.
pub(super) const REASONING_END: &[u8] = b"</think>";

impl Search<'_> {
    /// Outside of documents.
    pub(super) fn outside(&mut self, reading: Reading, around: Around) {
        let byte = self.byte();
        let rest = self.rest_of_text();
        let is_first = around == Around::Nothing && self.is_first();
        if matches!(byte, b'{' | b'[') && (self.several || around == Around::Nothing) {
            let mut begun = self.begun(reading);
            begun.cost += if around == Around::Nothing { 0 } else { Row::SecondText.cost() };
            self.bracket(begun);
        }
        if is_first {
            let begun = self.begun(reading);
            if self.begins_key() {
                let mut added = begun;
                self.edit(&mut added, Row::OpenAdded, self.at, self.at, "{");
                if let Some(open) = self.opened(added, Kind::Object, self.at) {
                    self.go(open, 0);
                }
            }
            if byte == b'(' {
                self.parenthesis(begun);
            }
            self.open_late(begun);
        }
        let before = reading.cost;
        let mut passed = reading;
        if rest.starts_with(b"<think>")
            && let Some(end) = self.reasoning.after(self.input, self.at)
        {
            passed.cost += 10;
            passed.around += 10;
            self.go(passed, end - self.at + REASONING_END.len());
            return;
        }
        if let Some(length) = tag(rest) {
            passed.cost += 100;
            passed.around += 100;
            self.go(passed, length);
            return;
        }
        let light = |byte: &&u8| !matches!(byte, b'{' | b'[' | b'<');
        // The readings whose documents end at different places are one at the next of these.
        let most = STRIDE - self.layout.beyond_first(self.at) % STRIDE;
        let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let run = match blanks {
            0 if is_first => 1,
            0 => 1 + rest.iter().take(most).skip(1).take_while(light).count(),
            // What begins behind them may be the first.
            _ => blanks,
        };
        passed.cost += swallowed(&rest[..run]);
        // What goes on in the line of a document may belong to it.
        let next = rest.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
        let separate = next.is_none_or(|byte| b"}])`;\r\n".contains(byte));
        if around == Around::Document && reading.last as usize == self.at && !separate {
            passed.cost += 600;
        }
        passed.around += passed.cost - before;
        self.go(passed, run);
    }

    /// Whether nothing but white space is before this byte, or all that is before it seems to be prose.
    fn is_first(&self) -> bool {
        let solid = !self.byte().is_ascii_whitespace();
        let before = self.input[..self.at].iter().rev().take(64).all(u8::is_ascii_whitespace);
        solid && (self.at == self.begin || before)
    }

    fn begins_key(&self) -> bool {
        let rest = self.rest_of_text();
        Quote::of(rest).is_some() || token::word(rest) > 0
    }

    /// The reading in which a document begins here. What is between it and the one before is dropped.
    fn begun(&mut self, mut reading: Reading) -> Reading {
        self.drop_around(&mut reading, self.at);
        reading.document = self.at as u32;
        reading.document_edits = reading.edits;
        reading
    }

    /// Drops what is between the last document and `end`.
    pub(super) fn drop_around(&mut self, reading: &mut Reading, end: usize) {
        if self.only.is_some() {
            return;
        }
        let start = reading.last as usize;
        let text = &self.input[start..end];
        let solid = text.len() - text.trim_ascii_start().len();
        let (start, end) = (start + solid, start + text.trim_ascii_end().len().max(solid));
        let text = &self.input[start..end];
        if text.is_empty() {
            return;
        }
        let line = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let own_line = self.input[end..self.at.max(end)].contains(&b'\n');
        let fence = text[line..].trim_ascii().starts_with(b"```");
        let bracket = matches!(self.input[self.begin], b'{' | b'[' | b'(' | b'"');
        let kind = match reading.documents {
            // A document seemed to begin there.
            0 if start <= self.begin && self.begin < end && bracket => RepairKind::StrayText,
            0 if fence => RepairKind::CodeFence,
            0 if own_line
                || text.ends_with(b":")
                || text.ends_with(b">")
                || text.ends_with(b"=") =>
            {
                RepairKind::LeadingProse
            }
            0 => RepairKind::InlineProse,
            _ if text.starts_with(b"```") && text.trim_ascii().len() == 3 => RepairKind::CodeFence,
            _ if text
                .iter()
                .all(|byte| matches!(byte, b'}' | b']' | b' ' | b'\n' | b')' | b';')) =>
            {
                RepairKind::ExtraClose
            }
            _ if !self.input[reading.last as usize..start].contains(&b'\n')
                && text.iter().any(u8::is_ascii_alphanumeric) =>
            {
                RepairKind::InlineProse
            }
            _ => RepairKind::TrailingProse,
        };
        self.edit_as(reading, Row::Prose, kind, start, end, "");
    }
}
