//! The text of a payload that has not left yet: mended, and as it was written.

use std::ops::Range;

use wiremend_core::RepairKind;

/// What was read of a payload, as far as it is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    /// Mended text. For arguments that have left it has an empty value.
    pub(super) json: Vec<u8>,
    pub(super) marks: Vec<Mark>,
    runs: Vec<Run>,
    /// What was pushed, from the offset `from` on.
    source: Vec<u8>,
    from: usize,
    /// The offset up to which the source has left, up to which it is that of mended text, and up to which it was read.
    left: usize,
    mapped: usize,
    read: usize,
}

/// A place at which something was repaired, or shows a doubt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) at: usize,
    pub(super) repair: Option<RepairKind>,
    pub(super) doubtful: bool,
}

/// A piece of mended text with its source.
#[derive(Clone, Copy, Debug)]
struct Run {
    at: usize,
    /// Where its source begins, with what was removed before it.
    from: usize,
    /// Where the bytes are in the source, if they are there.
    copy: Option<usize>,
}

impl Kept {
    /// Notes what is about to be pushed to the mender.
    pub(super) fn note(&mut self, bytes: &[u8]) {
        let gone = self.left - self.from;
        if gone > 4096 && gone * 2 > self.source.len() {
            self.source.drain(..gone);
            self.from = self.left;
        }
        self.source.extend_from_slice(bytes);
    }

    /// The offset up to which the source was read.
    pub(super) const fn offset(&self) -> usize {
        self.read
    }

    /// Source that was removed, or copied.
    pub(super) fn read(&mut self, length: usize) {
        self.read = (self.read + length).min(self.from + self.source.len());
    }

    /// Mended text, of which the source was read if it is a copy.
    pub(super) fn keep(&mut self, json: &[u8], copied: bool) {
        if json.is_empty() {
            return;
        }
        if copied {
            let (from, copy) = (self.mapped, self.read);
            self.read(json.len());
            let goes_on = from == copy && self.runs.last().is_some_and(|run| run.copy.is_some());
            if !goes_on {
                self.runs.push(Run { at: self.json.len(), from, copy: Some(copy) });
            }
        } else {
            self.runs.push(Run { at: self.json.len(), from: self.mapped, copy: None });
        }
        self.mapped = self.read;
        self.json.extend_from_slice(json);
    }

    /// Where the source of the mended text at a place begins.
    fn source_at(&self, at: usize) -> usize {
        let next = self.runs.partition_point(|run| run.at <= at);
        let run = next.checked_sub(1).and_then(|index| self.runs.get(index));
        match run {
            _ if at >= self.json.len() => self.mapped,
            None => self.left,
            Some(run) if run.at == at => run.from,
            Some(Run { copy: Some(copy), at: start, .. }) => copy + (at - start),
            Some(_) => self.runs.get(next).map_or(self.mapped, |run| run.from),
        }
    }

    /// Whether the source before a place of the mended text has left.
    pub(super) fn is_taken(&self, at: usize) -> bool {
        self.source_at(at) <= self.left
    }

    /// Takes the source of the mended text before a place.
    pub(super) fn take_to(&mut self, at: usize) -> Vec<u8> {
        self.take(self.source_at(at))
    }

    /// What was repaired in a part of the text.
    pub(super) fn marks(&self, within: &Range<usize>) -> Vec<Mark> {
        let from = self.marks.partition_point(|mark| mark.at <= within.start);
        let to = self.marks.partition_point(|mark| mark.at < within.end);
        self.marks.get(from..to).unwrap_or_default().to_vec()
    }

    /// Takes all source that was read.
    pub(super) fn take_read(&mut self) -> Vec<u8> {
        self.mapped = self.read;
        self.take(self.read)
    }

    fn take(&mut self, to: usize) -> Vec<u8> {
        let to = to.max(self.left);
        let range = self.left - self.from..to - self.from;
        self.left = to;
        self.source.get(range).unwrap_or_default().to_vec()
    }

    /// Begins anew: what was kept has left.
    pub(super) fn clear(&mut self) {
        self.json.clear();
        self.marks.clear();
        self.runs.clear();
    }

    /// What was removed before what comes next.
    pub(super) fn removed(&self) -> &[u8] {
        self.source.get(self.mapped - self.from..self.read - self.from).unwrap_or_default()
    }

    /// What was pushed and not read.
    pub(super) fn unread(&self) -> &[u8] {
        self.source.get(self.read - self.from..).unwrap_or_default()
    }

    /// What was pushed, and has not left.
    pub(super) fn pending(&self) -> &[u8] {
        self.source.get(self.left - self.from..).unwrap_or_default()
    }

    /// Takes back what was pushed and not read.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        self.source.split_off((self.read - self.from).min(self.source.len()))
    }

    /// How many bytes are kept.
    pub(super) fn len(&self) -> usize {
        self.json.len().max(self.read - self.left)
    }
}
