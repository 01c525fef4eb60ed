//! Texts that are searched for calls, which a rewriter sends on in the shape of the provider.

use core::{
    fmt,
    hash::{Hash as _, Hasher as _},
};
use std::{collections::BTreeMap, hash::DefaultHasher};

use wiremend_core::{Repair, RepairKind};

use super::edit_log::{EditLog, Slot};
use crate::{Block, CallFinder, CallFinders, TextCall};

/// One text that is searched, with the log of its pieces.
pub(super) struct Searched {
    /// `None` once nothing more is looked for.
    finder: Option<Box<dyn CallFinder>>,
    pub(super) log: EditLog,
    /// How much of the text was read.
    read: usize,
    hasher: DefaultHasher,
}

impl fmt::Debug for Searched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Searched").field("log", &self.log).finish_non_exhaustive()
    }
}

/// The calls that were found in the texts of a choice that has finished. Until they are accepted or
/// declined, their text waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundInTexts {
    pub(crate) choice: u32,
    /// The calls, in the order of the texts.
    pub(crate) calls: Vec<TextCall>,
    /// What makes the identifiers of these calls differ from others.
    pub(crate) salt: u64,
    /// The texts, and what is removed from each if the calls are sent on.
    texts: Vec<(Block, Vec<(usize, usize)>)>,
}

/// The texts of a response that are searched.
#[derive(Debug)]
pub(super) struct Search {
    finders: CallFinders,
    texts: BTreeMap<Block, Searched>,
    /// Nothing more is looked for.
    over: bool,
}

impl Search {
    pub(super) const fn new(finders: CallFinders) -> Self {
        Self { finders, texts: BTreeMap::new(), over: false }
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(super) fn contains(&self, block: Block) -> bool {
        self.texts.contains_key(&block)
    }

    /// Reads a piece of a text.
    pub(super) fn push(&mut self, block: Block, text: &str) {
        let searched = self.texts.entry(block).or_insert_with(|| Searched {
            finder: (!self.over).then(|| self.finders.create()),
            log: EditLog::default(),
            read: 0,
            hasher: DefaultHasher::new(),
        });
        let start = searched.read;
        searched.read += text.len();
        text.hash(&mut searched.hasher);
        let Some(finder) = &mut searched.finder else {
            searched.log.add(Slot::Raw);
            return;
        };
        searched.log.add(Slot::Part { skip: 0, start, end: searched.read });
        searched.log.set_certain(finder.push(text));
    }

    pub(super) fn log(&mut self, block: Block) -> Option<&mut EditLog> {
        self.texts.get_mut(&block).map(|searched| &mut searched.log)
    }

    /// Ends the texts of a choice. Without complete calls, they are released.
    pub(super) fn finish(&mut self, choice: u32, clean: bool) -> Option<FoundInTexts> {
        let (mut calls, mut texts, mut salt) = (Vec::new(), Vec::new(), DefaultHasher::new());
        for (block, searched) in self.texts.range_mut(Block::of_choice(choice)) {
            searched.hasher.finish().hash(&mut salt);
            let Some(mut finder) = searched.finder.take() else { continue };
            let found = finder.finish(clean);
            if found.is_empty() {
                searched.log.release();
                continue;
            }
            let spans =
                found.iter().map(|stretch| (stretch.span.start, stretch.span.end)).collect();
            texts.push((*block, spans));
            calls.extend(found.into_iter().flat_map(|stretch| stretch.calls));
        }
        let found = FoundInTexts { choice, calls, salt: salt.finish(), texts };
        (!found.texts.is_empty()).then_some(found)
    }

    /// Decides whether calls are sent on: their text is then removed. Otherwise it is released.
    pub(super) fn decide(&mut self, found: &FoundInTexts, accepted: bool) {
        for (block, spans) in &found.texts {
            let Some(searched) = self.texts.get_mut(block) else { continue };
            if accepted {
                for (start, end) in spans {
                    let repair = Repair::new(RepairKind::InlineProse, *start..*end, "");
                    searched.log.push_repair(&repair);
                }
            }
            searched.log.release();
        }
    }

    /// Releases all texts as they came, and looks for nothing more.
    pub(super) fn abandon(&mut self) {
        self.over = true;
        for searched in self.texts.values_mut() {
            searched.finder = None;
            searched.log.release();
        }
    }
}
