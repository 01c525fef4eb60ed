//! The documents of a channel of text, or of the texts of a response.

use std::{
    collections::{BTreeMap, VecDeque},
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use jsonmend_core::Options;
use jsonmend_extract::{Extractor, Scope, TextSink};
use jsonmend_response::{Event, ResponseOptions, ResponseReader};
use jsonmend_wire::{Block, Doubt, WireError};
use pin_project_lite::pin_project;

use crate::{
    JsonOptions, ValueError,
    pump::{self, Reads, Upstream},
    telemetry::Watch,
};

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
    type Found: std::fmt::Debug;

    /// The text has ended. What is emitted from here on may be what closes a document that was cut off.
    fn ending(&mut self) {}

    /// Moves what was found to the end of a queue.
    fn drain(&mut self, into: &mut VecDeque<Self::Found>);
}

pin_project! {
    /// A channel and the source of its bytes.
    #[derive(Debug)]
    pub(crate) struct Reading<S, E, D: Document> {
        #[pin]
        body: Option<S>,
        upstream: Upstream<E>,
        channel: Channel<D>,
        // Whether there was a document, or an error that says why there was none.
        answered: bool,
    }
}

/// What a stream makes of something in a document: whether it answers the caller, and what it emits.
pub(crate) type Taken<T, E> = (bool, Option<Result<T, ValueError<E>>>);

impl<S, E, D: Document> Reading<S, E, D> {
    pub(crate) fn new(body: S, options: ChannelOptions, start: D) -> Self {
        let channel = Channel::new(options, start);
        Self { body: Some(body), upstream: Upstream::Open, channel, answered: false }
    }

    #[cfg(any(feature = "metrics", feature = "tracing"))]
    pub(crate) fn set_telemetry(&mut self, telemetry: crate::Telemetry) {
        self.channel.watch.set(telemetry);
    }

    /// The document of the text that was read last.
    pub(crate) fn latest(&self) -> Option<&D> {
        Some(&self.channel.texts.get(&self.channel.last?)?.1)
    }

    pub(crate) fn is_terminated(&self) -> bool {
        let over = matches!(self.upstream, Upstream::Over);
        self.body.is_none() && self.channel.queue.is_empty() && over
    }
}

impl<S, B, E, D> Reading<S, E, D>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
    D: Document,
{
    pub(crate) fn cancel(self: Pin<&mut Self>) {
        let this = self.project();
        pump::cancel(this.body, this.upstream, this.channel);
    }

    /// The next item of a stream that makes this of what is found.
    pub(crate) fn poll<T>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut take: impl FnMut(D::Found, &Watch) -> Taken<T, E>,
    ) -> Poll<Option<Result<T, ValueError<E>>>> {
        let mut this = self.project();
        let _span = this.channel.watch.enter();
        loop {
            let next = ready!(pump::poll(this.body.as_mut(), this.upstream, this.channel, cx));
            let (answers, item) = match next {
                None => return Poll::Ready(None),
                Some(Err(error)) => (true, Some(Err(error.into()))),
                Some(Ok(InChannel::Found(found))) => take(found, &this.channel.watch),
                Some(Ok(InChannel::Lost(doubt))) => (true, Some(Err(ValueError::Lost(doubt)))),
                Some(Ok(InChannel::Provider(error))) => {
                    (true, Some(Err(ValueError::Provider(Box::new(error)))))
                }
                Some(Ok(InChannel::TooManyTexts)) => (false, Some(Err(ValueError::TooManyTexts))),
                Some(Ok(InChannel::Ended)) if *this.answered => continue,
                Some(Ok(InChannel::Ended)) => (true, Some(Err(ValueError::NotFound))),
            };
            *this.answered |= answers;
            if item.is_some() {
                return Poll::Ready(item);
            }
        }
    }
}

/// What is in a channel.
#[derive(Debug)]
enum InChannel<F> {
    /// Something in a document.
    Found(F),
    /// The channel has ended.
    Ended,
    /// Something of the response was lost, and no error says so.
    Lost(Doubt),
    /// The provider reported an error.
    Provider(WireError),
    /// There are more texts than are read.
    TooManyTexts,
}

/// Reads a channel, or a body, and passes each of its texts to a [`Document`] of its own.
#[derive(Debug)]
struct Channel<D: Document> {
    body: Option<ResponseReader>,
    scope: Scope,
    mending: Options,
    /// What the document of each text starts as.
    start: D,
    texts: BTreeMap<Block, (Box<Extractor>, D)>,
    /// The text that was read last.
    last: Option<Block>,
    crowded: bool,
    /// The body reported an error.
    failed: bool,
    found: VecDeque<D::Found>,
    queue: VecDeque<InChannel<D::Found>>,
    watch: Watch,
}

impl<D: Document> Channel<D> {
    fn new(options: ChannelOptions, start: D) -> Self {
        Self {
            body: options.body.map(ResponseReader::new),
            scope: options.scope,
            mending: options.mending,
            start,
            texts: BTreeMap::new(),
            last: None,
            crowded: false,
            failed: false,
            found: VecDeque::new(),
            queue: VecDeque::new(),
            watch: Watch::new(true),
        }
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
            self.watch.event(&event);
            match event {
                Event::Text { block, text, .. } => self.read(block, text.as_bytes()),
                Event::Finish(finish) => self.finish(Some(finish.choice())),
                Event::Error(error) => {
                    self.failed = true;
                    self.queue.push_back(InChannel::Provider(error));
                }
                Event::Doubted(doubt) if !self.failed && doubt.is_loss() => {
                    self.queue.push_back(InChannel::Lost(doubt));
                }
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
