//! The texts of a response, and the objects in them.

use std::collections::{BTreeMap, VecDeque};

use jsonmend_core::{Outcome, Repair};
use jsonmend_extract::{Extractor, TextSink};
#[cfg(feature = "schema")]
use jsonmend_schema::{Cursor, SharedRegistry};
use jsonmend_wire::{Block, Decoder, WireEvent};

#[cfg(feature = "schema")]
use crate::tools::{Tools, guides};
use crate::{
    Event, MendOptions,
    object::{Growing, into_text},
    trace,
};

/// How many texts of one response are searched; those beyond pass through. No response of a model
/// has as many, and each costs memory.
const MOST_BLOCKS: usize = 1024;

/// Reads the body of a response into a queue of events. No IO.
#[derive(Debug)]
pub(crate) struct Reader {
    decoder: Decoder,
    contents: Contents,
}

impl Reader {
    pub(crate) fn new(options: MendOptions) -> Self {
        let decoder = Decoder::new(options.wire().clone());
        let contents = Contents {
            options,
            texts: BTreeMap::new(),
            objects: 0,
            queue: VecDeque::new(),
            #[cfg(feature = "schema")]
            tools: None,
        };
        Self { decoder, contents }
    }

    /// The same, with calls brought into the schemas of their tools.
    #[cfg(feature = "schema")]
    pub(crate) fn with_tools(options: MendOptions, registry: &SharedRegistry) -> Self {
        let engine = options.wire().mending().clone();
        let wire = options.wire().clone();
        let wire = if wire.guides().is_some() { wire } else { wire.with_guides(guides(registry)) };
        let mut reader = Self::new(options.with_wire(wire));
        reader.contents.tools = Some(Tools::new(registry, engine));
        reader
    }

    /// The cursor beside a call that is open.
    #[cfg(feature = "schema")]
    pub(crate) fn cursor(&self, call: usize) -> Option<&Cursor> {
        self.contents.tools.as_ref().and_then(|tools| tools.cursor(call))
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        let Self { decoder, contents } = self;
        decoder.push(chunk, &mut |event| contents.take(event));
        #[cfg(feature = "schema")]
        if let Some(tools) = &mut contents.tools {
            tools.settle(&mut contents.queue);
        }
    }

    pub(crate) fn finish(&mut self) {
        let Self { decoder, contents } = self;
        decoder.finish(&mut |event| contents.take(event));
    }

    pub(crate) fn next(&mut self) -> Option<Event> {
        self.contents.queue.pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.contents.queue.is_empty()
    }
}

#[derive(Debug)]
struct Contents {
    options: MendOptions,
    texts: BTreeMap<Block, Text>,
    objects: usize,
    queue: VecDeque<Event>,
    #[cfg(feature = "schema")]
    tools: Option<Tools>,
}

/// One text, and the object that is open in it.
#[derive(Debug)]
struct Text {
    extractor: Extractor,
    growing: Option<Growing>,
}

impl Contents {
    fn take(&mut self, event: WireEvent<'_>) {
        match event {
            WireEvent::Text { block, text } if self.is_searched(block) => {
                self.with(block, |extractor, route| extractor.push(text.as_bytes(), route));
            }
            WireEvent::Finish(finish) => {
                self.finish(Some(finish.choice));
                queue(&mut self.queue, Event::Finish(finish.clone()));
            }
            WireEvent::Ended(outcome) => {
                self.finish(None);
                trace::response(outcome);
                queue(&mut self.queue, Event::Ended(outcome));
            }
            event => {
                match &event {
                    WireEvent::CallEnded(call) => trace::call(call),
                    WireEvent::Oversize { limit } => trace::oversize(*limit),
                    _ => {}
                }
                if let Some(event) = Event::owned(&event) {
                    queue(&mut self.queue, event);
                }
                #[cfg(feature = "schema")]
                if let Some(tools) = &mut self.tools {
                    tools.note(&event, &mut self.queue);
                }
            }
        }
    }

    /// Whether objects are looked for in a text; makes room for one that is new.
    fn is_searched(&mut self, block: Block) -> bool {
        let Some(scope) = self.options.content() else { return false };
        if !self.texts.contains_key(&block) {
            if self.texts.len() >= MOST_BLOCKS {
                return false;
            }
            let extractor = Extractor::new(scope, self.options.mending().clone());
            self.texts.insert(block, Text { extractor, growing: None });
        }
        true
    }

    /// Ends the texts of one choice, or all.
    fn finish(&mut self, choice: Option<u32>) {
        let of_choice = |block: &&Block| choice.is_none_or(|choice| block.choice == choice);
        let blocks: Vec<Block> = self.texts.keys().filter(of_choice).copied().collect();
        for block in blocks {
            self.with(block, |extractor, route| {
                if extractor.outcome().is_some() {
                    return;
                }
                extractor.finish(route);
                if let Some(Event::ObjectEnded(object)) = route.queue.back_mut() {
                    object.note_cut(extractor.path());
                }
            });
        }
    }

    fn with(&mut self, block: Block, then: impl FnOnce(&mut Extractor, &mut Route<'_>)) {
        let Some(text) = self.texts.get_mut(&block) else { return };
        let mut route = Route {
            block,
            limit: self.options.object_limit(),
            objects: &mut self.objects,
            growing: &mut text.growing,
            queue: &mut self.queue,
        };
        then(&mut text.extractor, &mut route);
    }
}

/// Puts an event at the end of the queue, or into the last one.
fn queue(queue: &mut VecDeque<Event>, event: Event) {
    let rest = match queue.back_mut() {
        Some(last) => last.join(event),
        None => Some(event),
    };
    queue.extend(rest);
}

/// Turns the parts of one text into events.
struct Route<'a> {
    block: Block,
    limit: usize,
    objects: &'a mut usize,
    growing: &'a mut Option<Growing>,
    queue: &'a mut VecDeque<Event>,
}

impl TextSink for Route<'_> {
    fn text(&mut self, bytes: &[u8]) {
        let text = into_text(bytes.to_vec());
        queue(self.queue, Event::Text { block: self.block, text });
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        let text = into_text(bytes.to_vec());
        queue(self.queue, Event::Reasoning { block: self.block, text });
    }
    fn begin(&mut self, offset: usize) {
        let object = *self.objects;
        *self.objects += 1;
        *self.growing = Some(Growing::new(object, self.block, offset));
        queue(self.queue, Event::ObjectBegan { object, block: self.block });
    }
    fn json(&mut self, bytes: &[u8]) {
        if let Some(growing) = self.growing.as_mut() {
            growing.push(bytes, self.limit);
            let object = growing.number();
            queue(self.queue, Event::ObjectFragment { object, json: bytes.to_vec() });
        }
    }
    fn repair(&mut self, repair: Repair) {
        if let Some(growing) = self.growing.as_mut() {
            growing.repair(repair);
        }
    }
    fn end(&mut self, outcome: Outcome) {
        if let Some(growing) = self.growing.take() {
            queue(self.queue, Event::ObjectEnded(Box::new(growing.end(outcome))));
        }
    }
}
