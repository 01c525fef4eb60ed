//! What a rewriter needs to know about a payload: where the pieces of its texts are.

use core::{
    fmt,
    hash::{Hash as _, Hasher as _},
    ops::RangeInclusive,
};
use std::{collections::BTreeMap, hash::DefaultHasher};

use wiremend_core::{MendOptions, Mended, Outcome, Repair, RepairKind, Repairs};

use super::{
    Call,
    trace::{EditLog, Joining, Release, Slot, Trace, verbatim},
};
use crate::{
    Block, CallFinder, CallFinders, FitHook, Fittable, TextCall, WireLimits, WireOptions,
    json::Span,
};

/// A text that is rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    /// The arguments of a call: its scope and its number.
    Call(u32, usize),
    /// The text of a block.
    Text(Block),
}

/// What becomes of a call that may be withheld.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It has not ended.
    Open,
    /// It is taken out of the body.
    Withheld,
}

/// Something that a payload holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Something about a call that may be withheld: at that place, or as a whole.
    About { call: Target, place: Option<Span> },
    /// A call has ended well, and has no arguments.
    Empty(Box<EmptyCall>),
    /// From `at` on, the payload was read as `mended`, because the envelope was broken. `allowed`: the
    /// policy allows its repairs.
    Envelope { at: usize, mended: String, allowed: bool },
    /// A choice has finished, and its texts hold calls.
    Found(Box<FoundInTexts>),
    /// A piece of a text. `decoded` is its text, if that differs from its literal.
    Piece { target: Target, span: Option<Span>, decoded: Option<String> },
}

/// A call that has ended well, and has no arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EmptyCall {
    pub(crate) target: Target,
    pub(crate) scope: u32,
    /// Its number in the stream.
    pub(crate) index: Option<i64>,
    /// An event with that number is for it: no other call has the number, or the place of the event says so.
    pub(crate) is_addressed: bool,
    /// There is white space, in whose place they are written.
    pub(crate) is_written: bool,
    pub(crate) id: Option<String>,
    pub(crate) name: String,
}

impl EmptyCall {
    pub(crate) fn of(call: &Call) -> Self {
        Self {
            target: Target::Call(call.choice(), call.number()),
            scope: call.choice(),
            index: None,
            is_addressed: false,
            is_written: false,
            id: call.id().map(Into::into),
            name: call.name().to_owned(),
        }
    }
}

/// The tracking of everything that is rewritten.
#[derive(Debug)]
pub(crate) struct Tracking {
    mending: MendOptions,
    limits: WireLimits,
    release: Release,
    /// The content is JSON, too.
    content: bool,
    /// The texts of the content so far.
    texts: BTreeMap<Block, (Trace, String)>,
    /// The texts that are searched for calls.
    search: Option<Search>,
    /// What becomes of the calls that may be withheld, if any may. A call that is not here leaves.
    fates: Option<BTreeMap<Target, Fate>>,
    fitter: Option<FitHook>,
    /// The logs of ended texts that are still needed.
    ended: BTreeMap<Target, EditLog>,
    /// How many bytes are kept of the texts of the content, and of the texts that have ended.
    kept: usize,
    /// The same, when what is not needed was dropped last.
    trimmed: usize,
    /// Content is forwarded verbatim because of a limit.
    overflow: bool,
    /// The index after those of the content blocks of each message.
    blocks: BTreeMap<u32, u32>,
    entries: Vec<Entry>,
    /// The texts of the content that have ended since they were taken.
    contents: Vec<EndedContent>,
}

/// The text of a block of the content, and what came of it.
#[derive(Debug)]
pub(crate) struct EndedContent {
    pub(crate) block: Block,
    pub(crate) raw: String,
    pub(crate) mended: Mended,
}

impl Tracking {
    pub(crate) fn new(options: &WireOptions, release: Release, content: bool) -> Self {
        Self {
            mending: options.mending().clone(),
            limits: options.limits(),
            release,
            content,
            texts: BTreeMap::new(),
            search: None,
            fates: None,
            fitter: None,
            ended: BTreeMap::new(),
            kept: 0,
            trimmed: 0,
            overflow: false,
            blocks: BTreeMap::new(),
            entries: Vec::new(),
            contents: Vec::new(),
        }
    }

    /// Searches the texts for calls, unless they are JSON.
    pub(crate) fn search(&mut self, finders: Option<&CallFinders>) {
        self.search = finders.filter(|_| !self.content).cloned().map(Search::new);
    }

    /// Withholds the calls that are cut off.
    pub(crate) fn withhold_cut(&mut self, yes: bool) {
        self.fates = yes.then(BTreeMap::new);
    }

    /// Whether it does.
    pub(super) const fn withholds(&self) -> bool {
        self.fates.is_some()
    }

    /// A call has begun.
    pub(super) fn begin(&mut self, call: Target) {
        if let Some(fates) = &mut self.fates {
            fates.insert(call, Fate::Open);
        }
    }

    /// The payload has something about a call, at `place` or as a whole.
    pub(super) fn touch(&mut self, call: Target, place: Option<Span>) {
        if self.fate(call).is_some() {
            self.entries.push(Entry::About { call, place });
        }
    }

    /// A call has ended, and was `cut` off, or it leaves. Returns whether it is withheld.
    pub(super) fn settle(&mut self, call: Target, cut: bool) -> bool {
        let Some(fates) = &mut self.fates else { return false };
        match fates.get_mut(&call) {
            Some(fate) if cut => {
                *fate = Fate::Withheld;
                true
            }
            _ => {
                fates.remove(&call);
                false
            }
        }
    }

    /// The body breaks off, and with it the calls that are open.
    pub(crate) fn break_off(&mut self) {
        for fate in self.fates.iter_mut().flat_map(BTreeMap::values_mut) {
            *fate = Fate::Withheld;
        }
    }

    /// What becomes of a call. `None`: it leaves.
    pub(crate) fn fate(&self, call: Target) -> Option<Fate> {
        self.fates.as_ref()?.get(&call).copied()
    }

    /// Changes the arguments of complete calls, and complete content.
    pub(crate) fn fit(&mut self, fitter: Option<&FitHook>) {
        self.fitter = fitter.cloned();
    }

    /// What changes the arguments of complete calls, and complete content.
    pub(super) const fn fitter(&self) -> Option<&FitHook> {
        self.fitter.as_ref()
    }

    /// Notes that a message has a content block of that index.
    pub(crate) fn note_block(&mut self, choice: u32, index: u32) {
        if self.search.is_some() {
            let next = self.blocks.entry(choice).or_default();
            *next = (*next).max(index.saturating_add(1));
        }
    }

    /// The index after those of the content blocks of a message.
    pub(crate) fn next_block(&self, choice: u32) -> u32 {
        self.blocks.get(&choice).copied().unwrap_or_default()
    }

    /// A choice has finished. `clean`: the model ended it itself. `lossy`: part of the stream was lost.
    pub(crate) fn finish_searched(&mut self, choice: u32, clean: bool, lossy: bool) {
        let Some(search) = &mut self.search else { return };
        let Some(found) = search.finish(choice, clean) else { return };
        if lossy || (self.fates.is_some() && !clean) {
            search.decide(&found, false);
        } else {
            self.entries.push(Entry::Found(Box::new(found)));
        }
    }

    /// Decides whether calls that were found are sent on.
    pub(crate) fn decide(&mut self, found: &FoundInTexts, accepted: bool) {
        if let Some(search) = &mut self.search {
            search.decide(found, accepted);
        }
    }

    /// Releases the texts that are still searched, as they came, and looks for nothing more.
    pub(crate) fn abandon_search(&mut self) {
        if let Some(search) = &mut self.search {
            search.abandon();
        }
    }

    pub(crate) const fn release(&self) -> Release {
        self.release
    }

    /// Whether content was forwarded verbatim because of a limit.
    pub(crate) const fn has_overflowed(&self) -> bool {
        self.overflow
    }

    pub(crate) fn enter(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Forwards the payload as it came, although it was mended.
    pub(super) fn keep_envelope(&mut self) {
        for entry in &mut self.entries {
            if let Entry::Envelope { allowed, .. } = entry {
                *allowed = false;
            }
        }
    }

    /// Takes the entries of the last payload.
    pub(crate) fn take_entries(&mut self) -> Vec<Entry> {
        core::mem::take(&mut self.entries)
    }

    /// Ends a payload: returns the buffer, so that an event does not need an allocation.
    pub(crate) fn end_payload(&mut self, entries: Vec<Entry>) {
        self.entries = entries;
        self.trim();
    }

    /// Records that a whole text was repeated after its end.
    pub(super) fn repeat(&mut self, target: Target, span: Option<Span>) {
        if let Some(edit_log) = self.ended.get_mut(&target) {
            edit_log.add(Slot::Whole);
            self.entries.push(Entry::Piece { target, span, decoded: None });
        }
    }

    /// Ends a text.
    pub(super) fn end(&mut self, target: Target, edit_log: EditLog) {
        if !edit_log.is_spent() {
            self.keep(target, edit_log);
        }
    }

    fn keep(&mut self, target: Target, edit_log: EditLog) {
        self.kept += edit_log.weight();
        self.ended.insert(target, edit_log);
    }

    /// Where too much is kept, drops what may only serve a repetition of texts that have ended: it is then
    /// forwarded verbatim. Only between two payloads: what ended in one may still be read.
    fn trim(&mut self) {
        if self.kept <= self.limits.open_arguments() || self.kept == self.trimmed {
            return;
        }
        for log in self.ended.values_mut().filter(|log| !log.has_slots()) {
            self.kept = self.kept.saturating_sub(log.weight());
            log.forget();
        }
        self.trimmed = self.kept;
    }

    /// Records a piece of the content.
    pub(crate) fn text(
        &mut self,
        block: Block,
        span: Option<Span>,
        decoded: &str,
        joined: bool,
        damaged: bool,
    ) {
        let target = Target::Text(block);
        if let Some(search) = &mut self.search {
            if !search.contains(block) && search.len() >= self.limits.calls() {
                return;
            }
            search.push(block, decoded);
            let decoded = joined.then(|| decoded.to_owned());
            self.entries.push(Entry::Piece { target, span, decoded });
            return;
        }
        // A text that is no string of the payload cannot be replaced in it.
        if !self.content || span.is_none() || self.ended.contains_key(&target) {
            return;
        }
        if !self.texts.contains_key(&block)
            && self.texts.len() + self.ended.len() >= self.limits.calls()
        {
            self.overflow = true;
            return;
        }
        let (mending, release) = (self.mending.clone(), self.release);
        let (trace, text) = self
            .texts
            .entry(block)
            .or_insert_with(|| (Trace::new(mending, release), String::new()));
        let room = self.limits.open_arguments().saturating_sub(self.kept);
        if text.len() + decoded.len() > self.limits.arguments() || decoded.len() > room {
            self.overflow = true;
            trace.abandon();
            return;
        }
        if damaged {
            // What was open before was abandoned before. This may have begun here.
            trace.abandon();
        }
        self.kept += decoded.len();
        let part = text.len()..text.len() + decoded.len();
        text.push_str(decoded);
        if joined {
            trace.hold();
        }
        trace.note(part.clone(), part, decoded.len());
        trace.settle(text, Joining::Plain, &mut |_| {});
        let decoded = joined.then(|| decoded.to_owned());
        self.entries.push(Entry::Piece { target, span, decoded });
    }

    /// Forwards a text verbatim, of which a part was forwarded before.
    pub(crate) fn pass(&mut self, block: Block) {
        self.abandon_search();
        self.keep(Target::Text(block), EditLog::default());
    }

    /// Records that the whole content of a block was repeated.
    pub(crate) fn repeat_text(&mut self, block: Block, span: Option<Span>) {
        let target = Target::Text(block);
        if let Some((trace, text)) = self.texts.get_mut(&block) {
            trace.note_whole();
            trace.settle(text, Joining::Plain, &mut |_| {});
            self.entries.push(Entry::Piece { target, span, decoded: None });
        } else {
            self.repeat(target, span);
        }
    }

    /// Ends the content of those blocks. `cut`: its end may be missing.
    pub(crate) fn end_texts(&mut self, of: RangeInclusive<Block>, cut: bool) {
        while let Some((&block, _)) = self.texts.range(of.clone()).next() {
            let Some((mut trace, text)) = self.texts.remove(&block) else { continue };
            let mut mended = trace.finish(&text, Joining::Plain, 0, &mut |_| {});
            let complete = mended.outcome().is_complete() && !cut;
            let fitter = self.fitter.as_ref().filter(|_| complete && trace.is_held());
            let given = Fittable::Content { block, raw: &text, mended: &mended };
            let (fitted, script) = fitter.and_then(|fitter| fitter.fit(&given)).unzip();
            let repairs = script.as_ref().unwrap_or(mended.repairs());
            let shown = fitted.as_deref().or(mended.text()).unwrap_or(&text);
            let repaired = complete.then_some((shown, repairs));
            trace.decide(&text, repaired, &mut |_| {});
            if let Some(fitted) = fitted {
                let same = fitted == text;
                let outcome = if same { Outcome::Unchanged } else { Outcome::Repaired };
                mended = Mended::new(outcome, Some(fitted), mended.repairs().clone(), None);
            }
            let target = Target::Text(block);
            self.kept = self.kept.saturating_sub(text.len());
            // Kept, so that a late piece does not start the text again.
            self.keep(target, trace.into_edit_log());
            let mended = match mended {
                whole if complete => whole,
                whole if whole.outcome().is_complete() => {
                    Mended::new(Outcome::Cut, None, Repairs::new(), None)
                }
                part => verbatim(part),
            };
            self.contents.push(EndedContent { block, raw: text, mended });
        }
    }

    /// Takes the texts of the content that have ended.
    pub(crate) fn take_contents(&mut self) -> Vec<EndedContent> {
        core::mem::take(&mut self.contents)
    }

    /// The log of a text of the content, or of any text that has ended.
    pub(super) fn edit_log(&mut self, target: Target) -> Option<&mut EditLog> {
        match target {
            Target::Text(block) if self.search.is_some() => self.search.as_mut()?.log(block),
            Target::Text(block) if self.texts.contains_key(&block) => {
                self.texts.get_mut(&block).map(|(trace, _)| trace.edit_log_mut())
            }
            _ => self.ended.get_mut(&target),
        }
    }

    /// Stops rewriting: everything is forwarded verbatim.
    pub(super) fn abandon(&mut self) {
        for (trace, _) in self.texts.values_mut() {
            trace.abandon();
        }
        if let Some(fates) = &mut self.fates {
            fates.retain(|_, fate| *fate == Fate::Withheld);
        }
        self.abandon_search();
    }
}

/// One text that is searched, with the log of its pieces.
struct Searched {
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
struct Search {
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
