//! The documents in a text, each as a reading of its own, and all of them as a list.

use std::ops::Range;

use jsonmend_core::{Following, Options, Outcome, Path, Repair, RepairKind, mend};
use jsonmend_extract::{Extractor, Findings, Found, Scope};

use super::reading::Reading;
use crate::{Change, apply_changes};

/// The most documents that are tried one by one.
const MOST: usize = 16;

/// The documents in a text, and where they stand.
pub(super) struct Documents<'i> {
    input: &'i [u8],
    options: Options,
    /// Whether anything that follows a document refuses it.
    alone: bool,
    /// All of them, cut off or not.
    spans: Vec<Range<usize>>,
    /// Those that are whole.
    found: Vec<(Range<usize>, Vec<Change>)>,
}

impl<'i> Documents<'i> {
    pub(super) fn find(input: &'i [u8], options: Options) -> Self {
        let alone = options.following() == Following::Error;
        let options = options.with_following(Following::First);
        let mut extractor = Extractor::new(Scope::All, options.clone());
        let mut findings = Findings::default();
        extractor.push(input, &mut findings);
        extractor.finish(&mut findings);
        let spans = findings.documents().iter().map(span).collect();
        let complete = |found: &&Found| found.outcome().is_some_and(Outcome::is_complete);
        let complete = findings.documents().iter().filter(complete);
        let found = complete.map(|found| (span(found), changes(found.repairs()))).collect();
        Self { input, options, alone, spans, found }
    }

    /// Each document that the policy allows to be taken alone, with what stands around it deleted.
    pub(super) fn each(&self) -> Vec<Reading> {
        let alone = |(span, _): &(Range<usize>, Vec<Change>)| {
            // Here the document is all there is, so that its end may tell how it begins.
            let mended = mend(self.input.get(span.clone())?, &self.options);
            mended.text().filter(|_| mended.outcome().is_complete())?;
            let inner = mended.repairs().iter().cloned().map(|repair| repair.shifted(span.start));
            let mut changes = self.around(RepairKind::LeadingProse, 0..span.start)?;
            changes.extend(inner.map(|repair| Change::from(&repair)));
            changes.extend(self.around(RepairKind::TrailingProse, span.end..self.input.len())?);
            Some(Reading::repaired(apply_changes(self.input, &changes)?, changes))
        };
        self.found.iter().take(MOST).filter_map(alone).collect()
    }

    /// The deletion of what stands around a document: none of white space; `None` where the policy
    /// forbids it.
    fn around(&self, prose: RepairKind, span: Range<usize>) -> Option<Vec<Change>> {
        if self.input.get(span.clone())?.trim_ascii().is_empty() {
            return Some(Vec::new());
        }
        let another = |other: &Range<usize>| span.start <= other.start && other.end <= span.end;
        let kind = if self.spans.iter().any(another) { RepairKind::SecondDocument } else { prose };
        let follows = self.alone && kind != RepairKind::LeadingProse;
        let allowed = self.options.policy().allows(kind) && !follows;
        allowed.then(|| vec![change(kind, span, "")])
    }

    /// All documents as the items of one list, if there are several.
    pub(super) fn list(&self) -> Option<Reading> {
        let policy = self.options.policy();
        if self.found.len() < 2 || !policy.allows(RepairKind::LineDelimited) {
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
        changes.push(change(RepairKind::TrailingProse, at..self.input.len(), "]"));
        Some(Reading::repaired(apply_changes(self.input, &changes)?, changes))
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

fn changes(repairs: &[Repair]) -> Vec<Change> {
    repairs.iter().map(Change::from).collect()
}

fn change(kind: RepairKind, span: Range<usize>, after: &'static str) -> Change {
    Change::from(&Repair::new(kind, span, after, Path::default()))
}
