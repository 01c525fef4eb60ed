//! The end of a text, and the answer.

use alloc::vec::Vec;

use super::{
    After, Mode, NONE, Reading, Search,
    arena::{Change, Edit, Edits, Kind, Stack},
    rivals::{Other, Rival},
    rows::Row,
};
use crate::{Repair, RepairKind, Repairs};

/// The cheapest reading of a text.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) repairs: Repairs,
    /// The start and the end of each document.
    pub(crate) documents: Vec<(usize, usize)>,
    /// Whether something had to be closed at the end of the text.
    pub(crate) is_cut: bool,
    /// What it cost to pass the text around documents.
    pub(crate) around: u32,
    pub(crate) steps: u64,
    pub(crate) cost: u32,
    /// The nearest other readings.
    pub(crate) others: Vec<Other>,
}

/// What no reading can change any more.
#[derive(Default)]
pub(super) struct Settled {
    repairs: Repairs,
    documents: Vec<(usize, usize)>,
}

impl Search<'_> {
    /// The text ends here. Whatever is open is closed.
    pub(super) fn end(&mut self, mut reading: Reading) {
        let input = self.input;
        let text_end = input.trim_ascii_end().len();
        let mut cut = false;
        match reading.mode {
            Mode::Text(text) => {
                cut = true;
                let end = input.len();
                if text.is_key {
                    reading = self.without_key(reading);
                } else {
                    self.edit(&mut reading, Row::TextCut, end, end, "\"");
                    reading = self.ended(reading, end);
                }
            }
            Mode::Bare(bare) => {
                cut = true;
                if bare.is_key {
                    reading = self.without_key(reading);
                } else {
                    self.edit_as(&mut reading, Row::Prose, bare.kind(), text_end, text_end, "\"");
                    reading = self.ended(reading, text_end);
                }
            }
            Mode::Colon | Mode::Value(After::Colon | After::Added)
                if self.top(&reading).is_some_and(Kind::has_members) =>
            {
                cut = true;
                reading.cost += Row::TextCut.cost();
                reading = self.without_key(reading);
            }
            // There is nothing to add a comma for.
            Mode::Value(After::Added) | Mode::Key(After::Added) => return,
            Mode::Value(After::Comma) | Mode::Key(After::Comma) if reading.comma != NONE => {
                let comma = reading.comma as usize;
                self.edit(&mut reading, Row::CommaDropped, comma, comma + 1, "");
            }
            _ => {}
        }
        cut |= reading.key == u32::MAX;
        let open = self.stacks.depth(reading.stack);
        while let Some(top) = self.top(&reading) {
            let last = reading.last as usize;
            if top.written().is_empty() {
                reading = self.closed(reading, last);
                continue;
            }
            cut = true;
            self.edit(&mut reading, Row::CloserAdded, last, last, top.written());
            reading.cost -= Row::CloserAdded.cost();
            reading = self.closed(reading, last);
        }
        if cut {
            reading.cost += 300 + 100 * open;
            // A second document of which there is only the beginning may be none.
            reading.cost += if reading.documents > 1 { 500 } else { 0 };
        }
        if reading.documents == 0 {
            return;
        }
        if !cut {
            self.drop_around(&mut reading, self.at);
        }
        if self.only.is_none_or(|only| only.len() == reading.made as usize) {
            self.ends.push((reading, cut));
        }
    }

    /// Drops a key without a value, and the comma before it.
    fn without_key(&mut self, mut reading: Reading) -> Reading {
        let (key, end) = (reading.key as usize, self.input.trim_ascii_end().len());
        let start = if reading.comma == NONE { key } else { reading.comma as usize };
        reading.edits = reading.key_edits;
        self.edit(&mut reading, Row::KeyCut, start, end, "");
        reading.last = self.input[..start].trim_ascii_end().len() as u32;
        reading.mode = Mode::Rest;
        reading
    }

    /// The cheapest of the readings that have reached the end.
    pub(super) fn answer(mut self) -> Option<Answer> {
        let (best, is_cut) = *self.ends.iter().min_by_key(|(reading, _)| reading.cost)?;
        debug_assert_eq!(best.stack, Stack::EMPTY);
        let near = best.cost.saturating_add(self.frontier.near());
        for (end, _) in self.ends.iter().filter(|(end, _)| end.cost < near) {
            self.frontier.add_rival(Rival::of(&best, end));
        }
        self.find_others(best.edits);
        let before = self.settled.documents.len();
        let last = self.settle(best.edits);
        // A root that was closed for it may not be all that was meant, even if text follows. Neither may one that
        // another sign than a closer ends.
        let added =
            |repair: &Repair| repair.start == repair.end && repair.kind == RepairKind::MissingClose;
        let closer =
            |repair: &Repair| self.input.get(repair.start).is_some_and(|b| b"}])".contains(b));
        let torn = self.settled.documents[before..].iter().any(|(_, end)| {
            let from = last.partition_point(|repair| repair.start < *end);
            let mistyped =
                |repair: &Repair| repair.kind == RepairKind::MismatchedClose && !closer(repair);
            last[from..].iter().take_while(|repair| repair.start == *end).any(added)
                || last[..from].last().is_some_and(|repair| repair.end == *end && mistyped(repair))
        });
        let Settled { repairs, documents } = self.settled;
        Some(Answer {
            steps: self.steps,
            repairs,
            documents,
            is_cut: is_cut || torn,
            cost: best.cost,
            around: best.around,
            others: self.others,
        })
    }

    /// The list of edits is part of the answer. Returns its repairs.
    pub(super) fn settle(&mut self, edits: Edits) -> Vec<Repair> {
        let (repairs, documents) = self.made_by(self.lists.list(edits));
        self.settled.documents.extend(documents);
        self.settled.repairs.extend(repairs.iter().cloned());
        repairs
    }

    /// The repairs that edits make, and the documents that they end.
    pub(super) fn made_by(&self, edits: Vec<Edit>) -> (Vec<Repair>, Vec<(usize, usize)>) {
        let (mut repairs, mut documents) = (Vec::new(), Vec::new());
        for edit in edits {
            let (start, end) = (edit.start as usize, edit.end as usize);
            match edit.change {
                Change::Document => documents.push((start, end)),
                Change::Repair(kind, text) => {
                    if kind == RepairKind::CutKey {
                        // What was between the comma and the key is gone.
                        repairs.retain(|repair: &Repair| repair.end <= start);
                    }
                    repairs.push(Repair::new(kind, start..end, text));
                }
            }
        }
        // What is replaced by itself is none.
        repairs.retain(|repair| self.input.get(repair.span()) != Some(repair.after().as_bytes()));
        repairs.sort_by_key(|repair| (repair.start, repair.end));
        // What was repaired twice became what it was last.
        repairs.reverse();
        repairs.dedup_by(|earlier, later| {
            earlier.start < earlier.end && (earlier.start, earlier.end) == (later.start, later.end)
        });
        repairs.reverse();
        (repairs, documents)
    }
}
