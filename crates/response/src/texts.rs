//! The texts of a response, and the objects in them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

#[cfg(feature = "schema")]
use wiremend_core::Risk;
use wiremend_core::{Outcome, Repair};
use wiremend_extract::{Finder, Scope, TextSink};
use wiremend_wire::{Block, Doubt, WireEvent};

use crate::{Event, ObjectBuilder, ResponseOptions, event::queue, kept::Kept, object::into_text};
#[cfg(feature = "schema")]
use crate::{along::Along, documents::Documents};

/// How many texts of one response are searched; any others pass through. No real response has this
/// many, and each costs memory.
const MOST_BLOCKS: usize = 1024;

/// The texts being searched.
#[derive(Debug)]
pub(crate) struct Texts {
    options: ResponseOptions,
    scope: Option<Scope>,
    texts: BTreeMap<Block, Text>,
    /// How many objects have begun.
    objects: usize,
    /// How many bytes are kept of all open objects.
    kept: usize,
    /// How many bytes of texts are kept for the raw text of objects.
    raw: usize,
    /// The choices that hold a call or an object.
    answered: BTreeSet<u32>,
    /// Why something of the response is missing.
    lost: Option<Doubt>,
    #[cfg(feature = "schema")]
    documents: Option<Documents>,
}

/// One text, and the open object in it.
#[derive(Debug)]
struct Text {
    extractor: Box<Finder>,
    open: Option<ObjectBuilder>,
    /// The open object is raw from here on.
    raw: bool,
    /// What was received of it, if the schema or the caller needs that.
    kept: Option<Kept>,
    /// How much of that counts towards the limit on all open objects.
    raw_held: usize,
    /// Follows the open object, if it may still be fitted.
    #[cfg(feature = "schema")]
    along: Option<Box<Along>>,
}

impl Texts {
    pub(crate) fn new(options: ResponseOptions) -> Self {
        Self {
            scope: options.objects(),
            texts: BTreeMap::new(),
            objects: 0,
            kept: 0,
            raw: 0,
            answered: BTreeSet::new(),
            lost: None,
            #[cfg(feature = "schema")]
            documents: options.schema.clone().map(|(schema, fit)| {
                let none = wiremend_schema::Rules::none;
                let fit = if options.coerces { fit } else { fit.with_rules(none()) };
                Documents::new(schema, fit, options.mending().clone())
            }),
            options,
        }
    }

    /// Reads an event. Returns whether it was queued in another form.
    pub(crate) fn take(&mut self, event: &WireEvent<'_>, events: &mut VecDeque<Event>) -> bool {
        match event {
            WireEvent::Text { block, text, .. } if self.is_searched(*block) => {
                let taken_out = self.options.takes_objects_out();
                if !taken_out {
                    queue(events, Event::Text { block: *block, text: (*text).to_owned() });
                }
                if let Some(open) = self.texts.get_mut(block)
                    && let Some(kept) = &mut open.kept
                {
                    kept.push(text);
                }
                self.with(*block, events, |extractor, route| {
                    extractor.push(text.as_bytes(), route);
                });
                true
            }
            WireEvent::Doubted(doubt) if doubt.is_loss() => {
                self.lost.get_or_insert(*doubt);
                // What seems to be wrong may be what is missing.
                #[cfg(feature = "schema")]
                self.texts.values_mut().for_each(|text| text.along = None);
                false
            }
            WireEvent::CallBegan { choice, .. } => {
                self.answered.insert(*choice);
                false
            }
            WireEvent::Finish(finish) => {
                self.finish(Some(finish.choice()), events);
                false
            }
            WireEvent::Ended(_) => {
                self.finish(None, events);
                #[cfg(feature = "schema")]
                self.answer_as_a_whole(events);
                false
            }
            _ => false,
        }
    }

    /// Whether a text is searched for objects. Adds an entry for a new text.
    fn is_searched(&mut self, block: Block) -> bool {
        let Some(scope) = self.scope else { return false };
        if !self.texts.contains_key(&block) {
            if self.texts.len() >= MOST_BLOCKS {
                return false;
            }
            let mending = self.options.mending().clone();
            #[cfg(feature = "schema")]
            let mending = self.documents.as_ref().map_or(mending, Documents::guided);
            let extractor = Finder::new(scope, mending);
            let text = Text {
                extractor: Box::new(extractor),
                open: None,
                raw: false,
                kept: self.keep(),
                raw_held: 0,
                #[cfg(feature = "schema")]
                along: None,
            };
            self.texts.insert(block, text);
        }
        true
    }

    /// An empty buffer for a text, if it is needed.
    fn keep(&self) -> Option<Kept> {
        let raw = if self.options.keeps_raw_objects() { self.options.object_limit() } else { 0 };
        #[cfg(feature = "schema")]
        let fitted = self.documents.as_ref().map_or(0, Documents::limit);
        #[cfg(not(feature = "schema"))]
        let fitted = 0;
        let object = raw.max(fitted);
        (object > 0).then(|| Kept::new(fitted, object))
    }

    /// Ends the texts of one choice, or of all.
    fn finish(&mut self, choice: Option<u32>, events: &mut VecDeque<Event>) {
        let of_choice = |block: &&Block| choice.is_none_or(|choice| block.choice() == choice);
        let blocks: Vec<Block> = self.texts.keys().filter(of_choice).copied().collect();
        for block in blocks {
            self.with(block, events, |extractor, route| {
                if extractor.outcome().is_none() {
                    // What closes an object that was cut off is not the model's.
                    #[cfg(feature = "schema")]
                    route.follow_nothing();
                    extractor.finish(route);
                    route.cut_at = Some(extractor.path());
                }
            });
        }
    }

    /// Runs `then` on the extractor of a text, and emits what it finds.
    fn with(
        &mut self,
        block: Block,
        events: &mut VecDeque<Event>,
        then: impl FnOnce(&mut Finder, &mut Route<'_>),
    ) {
        let Some(text) = self.texts.get_mut(&block) else { return };
        let mut route = Route {
            block,
            limit: self.options.object_limit(),
            taken_out: self.options.takes_objects_out(),
            objects: &mut self.objects,
            most_kept: self.options.open_objects_limit(),
            kept: &mut self.kept,
            open: &mut text.open,
            raw: &mut text.raw,
            events,
            ended: 0,
            cut_at: None,
            lost: self.lost,
            #[cfg(feature = "schema")]
            documents: self.documents.as_ref(),
            #[cfg(feature = "schema")]
            along: &mut text.along,
        };
        then(&mut text.extractor, &mut route);
        let (ended, cut_at) = (route.ended, route.cut_at.take());
        if let (Some(path), true) = (cut_at, ended > 0)
            && let Some(Event::ObjectEnded(object)) = events.back_mut()
        {
            object.note_cut(path);
        }
        if ended > 0 {
            self.answered.insert(block.choice());
        }
        let Some(kept) = &mut text.kept else { return };
        if self.options.keeps_raw_objects() {
            note_raw(ended, kept, events);
        }
        #[cfg(feature = "schema")]
        if let Some(documents) = &self.documents {
            documents.fit_ended(block, ended, kept, events);
        }
        let withheld = kept.end().saturating_sub(text.extractor.withheld());
        let open = text.open.as_ref().map(ObjectBuilder::offset);
        kept.forget(open, text.extractor.document_end(), withheld);
        if self.options.keeps_raw_objects() {
            let others = self.raw.saturating_sub(text.raw_held);
            if self.kept + others + kept.held() > self.options.open_objects_limit() {
                kept.give_up();
            }
            text.raw_held = kept.held();
            self.raw = others + text.raw_held;
        }
    }

    /// The cursor of an open object.
    #[cfg(feature = "schema")]
    pub(crate) fn cursor(&self, object: usize) -> Option<&wiremend_schema::Cursor> {
        let is_open = |text: &&Text| text.open.as_ref().is_some_and(|open| open.number() == object);
        Some(self.texts.values().find(is_open)?.along.as_ref()?.cursor())
    }

    /// If a choice holds neither an object nor a call, the schema may still read its texts as a whole.
    #[cfg(feature = "schema")]
    fn answer_as_a_whole(&self, events: &mut VecDeque<Event>) {
        let Some(documents) = &self.documents else { return };
        for (block, text) in &self.texts {
            let Some(kept) = &text.kept else { continue };
            if !self.answered.contains(&block.choice()) && !kept.is_blank() {
                let fit = documents.fit_text(*block, kept.whole(), self.lost);
                events.push_back(Event::ObjectFitted(Box::new(fit)));
            }
        }
    }
}

/// Gives the objects of the last `ended` [`Event::ObjectEnded`] events their raw text.
fn note_raw(ended: usize, kept: &Kept, events: &mut VecDeque<Event>) {
    let objects = events.iter_mut().rev().filter_map(|event| match event {
        Event::ObjectEnded(object) => Some(object),
        _ => None,
    });
    for object in objects.take(ended) {
        let raw = kept.get(object.offset(), object.length());
        if let Some(raw) = raw.map(|raw| into_text(raw.to_vec())) {
            object.note_raw(raw);
        }
    }
}

/// Turns the parts of one text into events.
struct Route<'a> {
    block: Block,
    limit: usize,
    taken_out: bool,
    objects: &'a mut usize,
    most_kept: usize,
    kept: &'a mut usize,
    open: &'a mut Option<ObjectBuilder>,
    raw: &'a mut bool,
    events: &'a mut VecDeque<Event>,
    /// How many objects have ended.
    ended: usize,
    cut_at: Option<wiremend_core::Path>,
    /// Why something of the response is missing. Which text it belonged to is not known, and what looks like the
    /// beginning of an object after it may have been the middle of one.
    lost: Option<Doubt>,
    #[cfg(feature = "schema")]
    documents: Option<&'a Documents>,
    #[cfg(feature = "schema")]
    along: &'a mut Option<Box<Along>>,
}

impl Route<'_> {
    /// Changes the open object, within what may be kept of all open objects.
    fn grow(&mut self, change: impl FnOnce(&mut ObjectBuilder)) {
        let Some(open) = self.open.as_mut() else { return };
        let before = open.weight();
        change(open);
        let others = self.kept.saturating_sub(before);
        if others + open.weight() > self.most_kept {
            open.give_up();
        }
        *self.kept = others + open.weight();
    }

    /// Follows the open object, up to the length at which it is not fitted any more.
    #[cfg(feature = "schema")]
    fn follow(&mut self, bytes: &[u8]) {
        let Some(along) = self.along.as_mut() else { return };
        along.read(bytes);
        let is_short = along.cursor().bytes_read() <= self.longest();
        self.report_issues();
        if !is_short || !self.open.as_ref().is_some_and(ObjectBuilder::is_kept) {
            *self.along = None;
        }
    }

    /// The length up to which an object is followed.
    #[cfg(feature = "schema")]
    fn longest(&self) -> usize {
        self.documents.map_or(0, Documents::limit).min(self.limit)
    }

    /// Follows neither the open object nor one that begins.
    #[cfg(feature = "schema")]
    fn follow_nothing(&mut self) {
        self.documents = None;
        *self.along = None;
    }

    /// Queues the early issues since the last call.
    #[cfg(feature = "schema")]
    fn report_issues(&mut self) {
        let longest = self.longest();
        let (Some(along), Some(open)) = (self.along.as_mut(), self.open.as_ref()) else { return };
        // The same ones, whatever the size of the piece that passes the length.
        let new = along.take_issues().iter().filter(|issue| issue.offset() < longest);
        let object = open.number();
        self.events
            .extend(new.cloned().map(Box::new).map(|issue| Event::ObjectIssue { object, issue }));
    }
}

impl TextSink for Route<'_> {
    fn text(&mut self, bytes: &[u8]) {
        if self.taken_out {
            let text = into_text(bytes.to_vec());
            queue(self.events, Event::Text { block: self.block, text });
        }
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        if self.taken_out {
            let text = into_text(bytes.to_vec());
            queue(self.events, Event::Reasoning { block: self.block, text });
        }
    }
    fn begin(&mut self, offset: usize) {
        let object = *self.objects;
        *self.objects += 1;
        *self.raw = false;
        *self.open = Some(ObjectBuilder::new(object, self.block, offset, self.limit));
        queue(self.events, Event::ObjectBegan { object, block: self.block });
        #[cfg(feature = "schema")]
        if self.lost.is_none() {
            *self.along = self.documents.map(Documents::follow);
        }
    }
    fn json(&mut self, bytes: &[u8]) {
        self.grow(|open| open.push(bytes));
        if let Some(open) = self.open.as_mut() {
            let object = open.number();
            let event = if *self.raw {
                Event::ObjectRaw { object, text: bytes.to_vec() }
            } else {
                Event::ObjectFragment { object, json: bytes.to_vec() }
            };
            queue(self.events, event);
        }
        #[cfg(feature = "schema")]
        self.follow(bytes);
    }
    fn raw(&mut self) {
        *self.raw = true;
        #[cfg(feature = "schema")]
        if let Some(along) = self.along.as_mut() {
            along.stop();
            self.report_issues();
        }
    }
    #[cfg(feature = "schema")]
    fn settle(&mut self) {
        if let Some(along) = self.along.as_mut() {
            along.settle();
            self.report_issues();
        }
    }
    fn repair(&mut self, repair: Repair) {
        #[cfg(feature = "schema")]
        if repair.kind().risk() > Risk::Exact
            && let Some(along) = self.along.as_mut()
        {
            along.doubt_reading();
        }
        self.grow(|open| open.repair(&repair));
    }
    fn end(&mut self, outcome: Outcome) {
        if let Some(mut open) = self.open.take() {
            self.lost.into_iter().for_each(|doubt| open.note_doubt(doubt));
            self.ended += 1;
            #[cfg(feature = "schema")]
            {
                *self.along = None;
            }
            *self.kept = self.kept.saturating_sub(open.weight());
            queue(self.events, Event::ObjectEnded(Box::new(open.end(outcome))));
        }
    }
}
