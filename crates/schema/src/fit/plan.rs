//! Plans the changes to the members of an object, and turns them into edits.

use std::ops::Range;

use wiremend_core::{Path, Risk};

use super::made::Fit;
use crate::{
    Cause, Change, Rule,
    tree::{Node, quoted},
};

/// A member that is present.
pub(super) struct Entry<'t> {
    pub(super) member: Node<'t>,
    /// Its new key.
    pub(super) key: String,
    pub(super) renamed: Option<Rule>,
    pub(super) dropped: Option<Rule>,
    pub(super) value: Fit,
    /// Whether no rule makes its value valid.
    pub(super) is_unfit: bool,
}

/// A member to add.
pub(super) struct Added {
    pub(super) rule: Rule,
    pub(super) risk: Risk,
    pub(super) key: String,
    /// The value, as a JSON text.
    pub(super) value: String,
}

/// The members of an object, with the planned changes.
pub(super) struct Plan<'t> {
    object: Node<'t>,
    pub(super) entries: Vec<Entry<'t>>,
    pub(super) added: Vec<Added>,
}

impl<'t> Plan<'t> {
    pub(super) fn of(object: Node<'t>) -> Self {
        let entry = |member: Node<'t>| Entry {
            member,
            key: member.key().unwrap_or_default().into_owned(),
            renamed: None,
            dropped: None,
            value: Fit::default(),
            is_unfit: false,
        };
        Self { object, entries: object.children().map(entry).collect(), added: Vec::new() }
    }

    /// Whether a member has this key, or will have it.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.dropped.is_none() && entry.key == key)
            || self.added.iter().any(|added| added.key == key)
    }

    /// The edits, in order: keys, values, dropped members with the comma beside them, and the added
    /// members after the last one that is kept.
    pub(super) fn cuts(&mut self, path: &Path) -> Vec<Change> {
        let cut = |rule: Rule, span: Range<usize>, after: String| {
            Change::new(Cause::Rule(rule), span, after, path.clone())
        };
        let start = |entry: &Entry<'_>| {
            entry.member.key_span().map_or(entry.member.span().start, |span| span.start)
        };
        let mut cuts = Vec::new();
        // The end of what has been kept so far.
        let mut end = None;
        let last_kept = self.entries.iter().rposition(|entry| entry.dropped.is_none());
        let mut at = 0;
        while let Some(entry) = self.entries.get_mut(at) {
            if let Some(rule) = entry.dropped {
                let first = start(entry);
                let run = self.entries.get(at..).unwrap_or_default();
                let length = run.iter().take_while(|entry| entry.dropped.is_some()).count();
                let next = self.entries.get(at + length).map(start);
                let last = self.entries.get(at + length - 1).map_or(first, |e| e.member.span().end);
                cuts.push(match (next, end) {
                    (Some(next), _) => cut(rule, first..next, String::new()),
                    (None, Some(end)) => cut(rule, end..last, String::new()),
                    (None, None) => cut(rule, first..last, String::new()),
                });
                at += length;
                continue;
            }
            if let (Some(rule), Some(span)) = (entry.renamed, entry.member.key_span()) {
                cuts.push(cut(rule, span, quoted(&entry.key)));
            }
            cuts.append(&mut entry.value.cuts);
            end = Some(entry.member.span().end);
            at += 1;
        }
        self.add(last_kept, end, &mut cuts, &cut);
        cuts
    }

    fn add(
        &self,
        last_kept: Option<usize>,
        end: Option<usize>,
        cuts: &mut Vec<Change>,
        cut: &dyn Fn(Rule, Range<usize>, String) -> Change,
    ) {
        let Some(first) = self.added.first() else { return };
        let mut text = String::new();
        for added in &self.added {
            if last_kept.is_some() || !text.is_empty() {
                text.push_str(", ");
            }
            text.push_str(&quoted(&added.key));
            text.push_str(": ");
            text.push_str(&added.value);
        }
        // All added members form one change.
        let risk = self.added.iter().map(|added| added.risk).max().unwrap_or(Risk::Exact);
        // If the last members were dropped, the added ones replace them.
        let dropped_tail = self.entries.last().is_some_and(|entry| entry.dropped.is_some());
        match cuts.last_mut().filter(|_| dropped_tail) {
            Some(last) => {
                let dropped = last.clone();
                let (span, path) = (dropped.start..dropped.end, dropped.path.clone());
                *last = Change::new(Cause::Rule(first.rule), span, text, path)
                    .with_risk(dropped.risk().max(risk));
            }
            None => {
                let at = end.unwrap_or(self.object.span().start + 1);
                cuts.push(cut(first.rule, at..at, text).with_risk(risk));
            }
        }
    }
}
