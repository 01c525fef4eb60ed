//! The documents of a channel of text, or of the texts of a response.

use std::collections::{BTreeMap, VecDeque};

use jsonmend_core::Options;
use jsonmend_extract::{Extractor, Scope, TextSink};
use jsonmend_response::{Event, ResponseOptions, ResponseReader};
use jsonmend_wire::{Block, WireError};

use crate::{JsonOptions, pump::Reads, trace};

/// How many texts of one response are read. No real response has this many.
const MOST_TEXTS: usize = 1024;

/// Where the documents are, and how they are repaired: made from [`JsonOptions`] for a channel of text or
/// JSON, and from [`ResponseOptions`] for the body of a provider's response.
///
/// Of the options for a response, those of the envelope are used
/// ([`with_wire`](ResponseOptions::with_wire)), and where objects are, how they are repaired and how large
/// they may be. Without [`with_objects`](ResponseOptions::with_objects), each text of the response should be
/// one document ([`Scope::Whole`]).
#[derive(Clone, Debug)]
pub struct ChannelOptions {
    body: Option<ResponseOptions>,
    scope: Scope,
    mending: Options,
    limit: usize,
}

impl ChannelOptions {
    /// How many bytes of a value are kept.
    pub(crate) const fn limit(&self) -> usize {
        self.limit
    }
}

impl From<JsonOptions> for ChannelOptions {
    fn from(options: JsonOptions) -> Self {
        let (scope, mending, limit) = options.into_parts();
        Self { body: None, scope, mending, limit }
    }
}

impl From<ResponseOptions> for ChannelOptions {
    fn from(options: ResponseOptions) -> Self {
        Self {
            scope: options.objects().unwrap_or(Scope::Whole),
            mending: options.mending().clone(),
            limit: options.object_limit(),
            // The texts are searched here.
            body: Some(ResponseOptions::new().with_wire(options.wire().clone())),
        }
    }
}

/// Receives the documents of one text.
pub(crate) trait Document: TextSink + Clone {
    type Found;

    /// The text has ended. What is emitted from here on may be what closes a document that was cut off.
    fn ending(&mut self) {}

    /// Moves what was found to the end of a queue.
    fn drain(&mut self, into: &mut VecDeque<Self::Found>);
}

/// What is in a channel.
#[derive(Debug)]
pub(crate) enum InChannel<F> {
    /// Something in a document.
    Found(F),
    /// The channel has ended.
    Ended,
    /// The provider reported an error.
    Provider(WireError),
    /// There are more texts than are read.
    TooManyTexts,
}

/// Reads a channel, or a body, and passes each of its texts to a [`Document`] of its own.
#[derive(Debug)]
pub(crate) struct Channel<D: Document> {
    body: Option<ResponseReader>,
    scope: Scope,
    mending: Options,
    /// What the document of each text starts as.
    start: D,
    texts: BTreeMap<Block, (Box<Extractor>, D)>,
    /// The text that was read last.
    last: Option<Block>,
    crowded: bool,
    found: VecDeque<D::Found>,
    queue: VecDeque<InChannel<D::Found>>,
}

impl<D: Document> Channel<D> {
    pub(crate) fn new(options: ChannelOptions, start: D) -> Self {
        Self {
            body: options.body.map(ResponseReader::new),
            scope: options.scope,
            mending: options.mending,
            start,
            texts: BTreeMap::new(),
            last: None,
            crowded: false,
            found: VecDeque::new(),
            queue: VecDeque::new(),
        }
    }

    /// The document of the text that was read last.
    pub(crate) fn latest(&self) -> Option<&D> {
        Some(&self.texts.get(&self.last?)?.1)
    }

    /// Whether everything that was found has been taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    fn read(&mut self, block: Block, text: &[u8]) {
        if !self.texts.contains_key(&block) && self.texts.len() >= MOST_TEXTS {
            if !std::mem::replace(&mut self.crowded, true) {
                self.queue.push_back(InChannel::TooManyTexts);
            }
            return;
        }
        let (extractor, document) = self.texts.entry(block).or_insert_with(|| {
            let extractor = Extractor::new(self.scope, self.mending.clone());
            (Box::new(extractor), self.start.clone())
        });
        extractor.push(text, document);
        document.drain(&mut self.found);
        self.last = Some(block);
        self.queue.extend(self.found.drain(..).map(InChannel::Found));
    }

    /// Ends the texts of one choice, or of all.
    fn finish(&mut self, choice: Option<u32>) {
        for (block, (extractor, document)) in &mut self.texts {
            let ends = choice.is_none_or(|choice| block.choice() == choice);
            if ends && extractor.outcome().is_none() {
                document.ending();
                extractor.finish(document);
                document.drain(&mut self.found);
            }
        }
        self.queue.extend(self.found.drain(..).map(InChannel::Found));
    }

    /// Reads the texts that the body has brought.
    fn read_events(&mut self) {
        while let Some(event) = self.body.as_mut().and_then(ResponseReader::next_event) {
            trace::event(&event);
            match event {
                Event::Text { block, text, .. } => self.read(block, text.as_bytes()),
                Event::Finish(finish) => self.finish(Some(finish.choice())),
                Event::Error(error) => self.queue.push_back(InChannel::Provider(error)),
                _ => {}
            }
        }
    }
}

impl<B: AsRef<[u8]>, D: Document> Reads<B> for Channel<D> {
    type Event = InChannel<D::Found>;

    fn next(&mut self) -> Option<Self::Event> {
        self.queue.pop_front()
    }

    fn push(&mut self, chunk: B) {
        match &mut self.body {
            Some(body) => {
                body.push(chunk.as_ref());
                self.read_events();
            }
            None => self.read(Block::default(), chunk.as_ref()),
        }
    }

    fn finish(&mut self) {
        if let Some(body) = &mut self.body {
            body.finish();
            self.read_events();
        }
        self.finish(None);
        self.queue.push_back(InChannel::Ended);
    }
}
