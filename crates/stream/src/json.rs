//! The adapter for a channel that is text or JSON, with no provider's envelope around.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_core::{Stream, stream::FusedStream};
use jsonmend_core::{DeltaOp, Options, Outcome, Output as _, Partial, Path, Repair, Revision};
use jsonmend_extract::{Extractor, Scope, TextSink};
use jsonmend_response::{Object, ObjectBuilder};
use jsonmend_wire::Block;
use pin_project_lite::pin_project;

use crate::{
    Error,
    pieces::Joined,
    pump::{self, Reads, Upstream},
    trace,
};

/// How a [`JsonStream`] reads its channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonOptions {
    scope: Scope,
    mending: Options,
    object_limit: usize,
    deltas: bool,
}

impl JsonOptions {
    /// The defaults, as each method states them.
    #[must_use]
    pub const fn new() -> Self {
        Self { scope: Scope::Whole, mending: Options::new(), object_limit: 8 << 20, deltas: false }
    }

    /// Where JSON is looked for.
    ///
    /// ### Default
    /// [`Scope::Whole`]: the channel should be one document.
    #[must_use]
    pub const fn with_scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// How it is mended.
    ///
    /// ### Default
    /// [`Policy::PERMISSIVE`](jsonmend_core::Policy::PERMISSIVE), default limits.
    #[must_use]
    pub fn with_mending(mut self, options: Options) -> Self {
        self.mending = options;
        self
    }

    /// How large a document may grow that is kept until its end, in bytes. Beyond, its patches still
    /// come, and it ends as [`Outcome::Overflow`].
    ///
    /// ### Default
    /// 8 MiB.
    #[must_use]
    pub const fn with_object_limit(mut self, bytes: usize) -> Self {
        self.object_limit = bytes;
        self
    }

    /// Hands out the changes of the value, as [`JsonEvent::Delta`], in the place of patches of its
    /// text. A document beyond the limit for objects has no further ones.
    ///
    /// ### Default
    /// Patches.
    #[must_use]
    pub const fn with_deltas(mut self) -> Self {
        self.deltas = true;
        self
    }
}

impl Default for JsonOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// What happened in a channel, in the order of its bytes.
///
/// Bytes are a slice of the chunk that upstream gave, as long as nothing in it was mended or held back
/// from the chunk before; they then keep all of that chunk in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonEvent {
    /// The value of the document that is open changed; needs
    /// [`with_deltas`](JsonOptions::with_deltas). An
    /// [`OwnedValue`](jsonmend_core::OwnedValue) applies it.
    Delta {
        /// Where.
        path: Path,
        /// What happened there.
        change: DeltaOp<'static>,
    },
    /// A document ended. With [`Scope::All`] and [`Scope::Fenced`] this comes right behind its last
    /// patch. With the other scopes there is one document, and what follows it belongs to its
    /// account: then this comes at the end of the channel, behind all [`Text`](Self::Text), and
    /// nothing comes after it but an error of upstream. Without a document it does not come at all.
    Ended(Box<Object>),
    /// The document that is open grew. The patches of a document, joined, are its text;
    /// [`TextSnapshot`] joins them.
    Patch {
        /// What comes behind the text so far. It may end inside a character.
        append: Bytes,
        /// What would make it valid JSON if it ended here; `None` if it has ended, or is raw.
        completion: Option<String>,
    },
    /// The inside of a reasoning block. It may end inside a character.
    Reasoning(Bytes),
    /// Text that is not JSON. It may end inside a character.
    Text(Bytes),
}

/// A document as it grows, from the patches of a [`JsonStream`]. A patch costs what it appends.
///
/// ```
/// use jsonmend_stream::{JsonEvent, TextSnapshot};
/// let mut snapshot = TextSnapshot::default();
/// let patch = JsonEvent::Patch { append: "[\"a".into(), completion: Some("\"]".into()) };
/// snapshot.apply(&patch);
/// assert_eq!(snapshot.to_json().as_deref(), Some("[\"a\"]"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextSnapshot {
    text: Vec<u8>,
    completion: Option<String>,
    ended: bool,
}

impl TextSnapshot {
    /// Takes an event in. A patch behind the end of a document begins the next one.
    pub fn apply(&mut self, event: &JsonEvent) {
        match event {
            JsonEvent::Patch { append, completion } => {
                if self.ended {
                    self.text.clear();
                    self.ended = false;
                }
                self.text.extend_from_slice(append);
                self.completion.clone_from(completion);
            }
            JsonEvent::Ended(_) => self.ended = true,
            JsonEvent::Delta { .. } | JsonEvent::Reasoning(_) | JsonEvent::Text(_) => {}
        }
    }

    /// The document so far as valid JSON; `None` before it begins. Costs a copy of it. A character
    /// that has come in part is left out. Once the document has ended, or passes through raw, it is the
    /// text as it stands; [`Object::outcome`] says which.
    #[must_use]
    pub fn to_json(&self) -> Option<String> {
        if self.text.is_empty() {
            return None;
        }
        let whole = match std::str::from_utf8(&self.text) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(self.text.get(..error.valid_up_to())?).ok()?,
        };
        Some([whole, self.completion.as_deref().unwrap_or_default()].concat())
    }
}

pin_project! {
    /// Reads a channel of text or JSON: a stream of byte chunks in, a stream of [`JsonEvent`]s out.
    ///
    /// When upstream fails, what it gave is settled first; the error comes last. Then the stream has
    /// ended, and stays ended.
    ///
    /// **Cancel safe**: it may be dropped, and waiting for its next item may be given up, at any time.
    /// **Back-pressure**: upstream is polled only when all events before were taken.
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use jsonmend_stream::{JsonEvent, JsonOptions, MendExt, TextSnapshot};
    ///
    /// let chunks = ["{'city': 'Par", "is', 'ok': Tr", "ue}"];
    /// let channel = stream::iter(chunks).map(Ok::<_, std::io::Error>);
    /// let mut events = channel.mend_json(JsonOptions::new());
    /// let mut snapshot = TextSnapshot::default();
    /// block_on(async {
    ///     while let Some(Ok(event)) = events.next().await {
    ///         snapshot.apply(&event);
    ///         if let JsonEvent::Ended(object) = event {
    ///             assert_eq!(object.json(), snapshot.to_json().as_deref());
    ///         }
    ///     }
    /// });
    /// assert_eq!(snapshot.to_json().as_deref(), Some(r#"{"city": "Paris", "ok": true}"#));
    /// ```
    ///
    /// Changes of the value, in the place of patches of its text:
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use jsonmend_core::OwnedValue;
    /// use jsonmend_stream::{JsonEvent, JsonOptions, MendExt};
    ///
    /// let chunks = ["{'city': 'Par", "is', 'ok': Tr", "ue}"];
    /// let channel = stream::iter(chunks).map(Ok::<_, std::io::Error>);
    /// let mut events = channel.mend_json(JsonOptions::new().with_deltas());
    /// let mut value = OwnedValue::new();
    /// block_on(async {
    ///     while let Some(Ok(event)) = events.next().await {
    ///         if let JsonEvent::Delta { path, change } = event {
    ///             value.apply(&path, &change).unwrap();
    ///         }
    ///     }
    /// });
    /// assert_eq!(value.to_string(), r#"{"city":"Paris","ok":true}"#);
    /// ```
    #[derive(Debug)]
    pub struct JsonStream<S, E> {
        #[pin]
        channel: Option<S>,
        upstream: Upstream<E>,
        reader: Reader,
    }
}

impl<S, B, E> JsonStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: Into<Bytes>,
{
    /// Reads `channel`.
    #[must_use]
    pub fn new(channel: S, options: JsonOptions) -> Self {
        let extractor = Extractor::new(options.scope, options.mending);
        let found = Found {
            limit: options.object_limit,
            objects: 0,
            open: None,
            partial: options.deltas.then(Partial::new),
            seen: Revision::default(),
            chunk: Bytes::new(),
            queue: VecDeque::new(),
        };
        let reader = Reader { extractor, found };
        Self { channel: Some(channel), upstream: Upstream::Open, reader }
    }

    /// Stops reading: drops upstream, and settles what was received, as at the end of the channel.
    /// What is left to hand out still comes. Cancel safe; does nothing the second time.
    pub fn cancel(self: Pin<&mut Self>) {
        let this = self.project();
        pump::cancel(this.channel, this.upstream, this.reader);
    }
}

impl<S, B, E> Stream for JsonStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: Into<Bytes>,
{
    type Item = Result<JsonEvent, Error<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        pump::poll(this.channel, this.upstream, this.reader, cx)
    }
}

impl<S, B, E> FusedStream for JsonStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: Into<Bytes>,
{
    fn is_terminated(&self) -> bool {
        let over = matches!(self.upstream, Upstream::Over);
        self.channel.is_none() && self.reader.found.queue.is_empty() && over
    }
}

/// Finds the parts of the channel.
#[derive(Debug)]
struct Reader {
    extractor: Extractor,
    found: Found,
}

impl<B: Into<Bytes>> Reads<B> for Reader {
    type Event = JsonEvent;

    fn next(&mut self) -> Option<JsonEvent> {
        self.found.next()
    }
    fn push(&mut self, chunk: B) {
        self.found.push(&mut self.extractor, &chunk.into());
    }
    fn finish(&mut self) {
        self.found.finish(&mut self.extractor);
    }
}

/// Turns the parts of the channel into events.
#[derive(Debug)]
struct Found {
    limit: usize,
    objects: usize,
    open: Option<ObjectBuilder>,
    /// The value of the document that is open, where changes are wanted.
    partial: Option<Partial>,
    /// What of it has been told.
    seen: Revision,
    /// The chunk that is being read.
    chunk: Bytes,
    queue: VecDeque<Pending>,
}

/// An event that may still be joined by the next one.
#[derive(Debug)]
enum Pending {
    Patch(Joined, Option<String>),
    Ready(JsonEvent),
    Reasoning(Joined),
    Text(Joined),
}

impl Found {
    fn push(&mut self, extractor: &mut Extractor, chunk: &Bytes) {
        self.chunk = chunk.clone();
        extractor.push(chunk, self);
        self.chunk = Bytes::new();
        self.tell_changes();
        if let Some(Pending::Patch(_, completion)) = self.queue.back_mut() {
            *completion = extractor.completion().map(|completion| completion.to_string());
        }
    }

    fn finish(&mut self, extractor: &mut Extractor) {
        extractor.finish(self);
        if let Some(Pending::Ready(JsonEvent::Ended(object))) = self.queue.back_mut() {
            object.note_cut(extractor.path());
        }
    }

    fn next(&mut self) -> Option<JsonEvent> {
        Some(match self.queue.pop_front()? {
            Pending::Patch(append, completion) => {
                JsonEvent::Patch { append: append.into_bytes(), completion }
            }
            Pending::Ready(event) => event,
            Pending::Reasoning(bytes) => JsonEvent::Reasoning(bytes.into_bytes()),
            Pending::Text(bytes) => JsonEvent::Text(bytes.into_bytes()),
        })
    }

    /// Queues what changed in the value since it was looked at last.
    fn tell_changes(&mut self) {
        let Some(partial) = &self.partial else { return };
        for delta in partial.since(&self.seen) {
            let (path, change) = (delta.path(), delta.op().into_owned());
            self.queue.push_back(Pending::Ready(JsonEvent::Delta { path, change }));
        }
        self.seen = partial.revision();
    }
}

impl TextSink for Found {
    fn text(&mut self, bytes: &[u8]) {
        if let Some(Pending::Text(last)) = self.queue.back_mut() {
            last.push(&self.chunk, bytes);
        } else {
            self.queue.push_back(Pending::Text(Joined::new(&self.chunk, bytes)));
        }
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        if let Some(Pending::Reasoning(last)) = self.queue.back_mut() {
            last.push(&self.chunk, bytes);
        } else {
            self.queue.push_back(Pending::Reasoning(Joined::new(&self.chunk, bytes)));
        }
    }
    fn begin(&mut self, offset: usize) {
        self.open = Some(ObjectBuilder::new(self.objects, Block::default(), offset, self.limit));
        self.objects += 1;
    }
    fn json(&mut self, bytes: &[u8]) {
        let Some(open) = &mut self.open else { return };
        open.push(bytes);
        match (&mut self.partial, self.queue.back_mut()) {
            (Some(partial), _) if open.is_kept() => partial.copy(bytes),
            (Some(partial), _) => partial.raw(),
            (None, Some(Pending::Patch(last, _))) => last.push(&self.chunk, bytes),
            (None, _) => {
                let append = Joined::new(&self.chunk, bytes);
                self.queue.push_back(Pending::Patch(append, None));
            }
        }
    }
    fn raw(&mut self) {
        if let Some(partial) = &mut self.partial {
            partial.raw();
        }
    }
    fn settle(&mut self) {
        if let Some(partial) = &mut self.partial {
            partial.settle();
        }
    }
    fn repair(&mut self, repair: Repair) {
        if let Some(open) = &mut self.open {
            open.repair(repair);
        }
    }
    fn end(&mut self, outcome: Outcome) {
        // A scalar that stands alone is settled by the end of the text.
        if outcome.is_valid() {
            self.settle();
        }
        self.tell_changes();
        if let Some(partial) = &mut self.partial {
            partial.clear();
        }
        if let Some(open) = self.open.take() {
            let object = Box::new(open.end(outcome));
            trace::object(&object);
            self.queue.push_back(Pending::Ready(JsonEvent::Ended(object)));
        }
    }
}
