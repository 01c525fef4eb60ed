//! The documents in a text, each as a reading of its own, and all of them as a list.

use std::ops::Range;

use jsonmend_core::{Following, Options, Outcome, Path, Repair, RepairKind};
use jsonmend_extract::{Extractor, Findings, Found, Scope};

use super::reading::Reading;
use crate::{Change, apply_changes};

/// The most documents that are tried one by one.
const MOST: usize = 16;

/// The documents that are whole, and where they stand.
pub(super) struct Documents {
    found: Vec<(Range<usize>, Vec<Change>)>,
    length: usize,
}

impl Documents {
    pub(super) fn find(input: &[u8], options: &Options) -> Self {
        let mut extractor =
            Extractor::new(Scope::All, options.clone().with_following(Following::First));
        let mut findings = Findings::default();
        extractor.push(input, &mut findings);
        extractor.finish(&mut findings);
        let complete = |found: &&Found| found.outcome().is_some_and(Outcome::is_complete);
        let documents = findings.documents().iter().filter(complete);
        Self {
            found: documents.map(|found| (span(found), changes(found))).collect(),
            length: input.len(),
        }
    }

    /// Each document, with what stands around it deleted.
    pub(super) fn each(&self, input: &[u8]) -> Vec<Reading> {
        let alone = |(span, inner): &(Range<usize>, Vec<Change>)| {
            let mut changes = around(RepairKind::LeadingProse, 0..span.start, "");
            changes.extend(inner.iter().cloned());
            changes.extend(around(RepairKind::TrailingProse, span.end..self.length, ""));
            Some(Reading::repaired(apply_changes(input, &changes)?, changes))
        };
        self.found.iter().take(MOST).filter_map(alone).collect()
    }

    /// All documents as the items of one list, if there are several.
    pub(super) fn list(&self, input: &[u8]) -> Option<Reading> {
        if self.found.len() < 2 {
            return None;
        }
        let mut changes = Vec::new();
        let mut at = 0;
        for (index, (span, inner)) in self.found.iter().enumerate() {
            let kind =
                if index == 0 { RepairKind::LeadingProse } else { RepairKind::LineDelimited };
            let between = if index == 0 { "[" } else { ", " };
            changes.push(change(kind, at..span.start, between));
            changes.extend(inner.iter().cloned());
            at = span.end;
        }
        changes.push(change(RepairKind::TrailingProse, at..self.length, "]"));
        Some(Reading::repaired(apply_changes(input, &changes)?, changes))
    }
}

/// The bytes of a document in the input: as many as its text has, but for what repairs did.
fn span(found: &Found) -> Range<usize> {
    let (mut added, mut removed) = (0, 0);
    for repair in found.repairs() {
        added += repair.after.len();
        removed += repair.end - repair.start;
    }
    let length = (found.json().len() + removed).saturating_sub(added);
    found.offset()..found.offset() + length
}

fn changes(found: &Found) -> Vec<Change> {
    found.repairs().iter().map(Change::from).collect()
}

fn change(kind: RepairKind, span: Range<usize>, after: &'static str) -> Change {
    Change::from(&Repair::new(kind, span, after, Path::default()))
}

/// A deletion, unless there is nothing to delete.
fn around(kind: RepairKind, span: Range<usize>, after: &'static str) -> Vec<Change> {
    if span.is_empty() { Vec::new() } else { vec![change(kind, span, after)] }
}
