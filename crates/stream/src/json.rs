//! The adapter for a channel that is text or JSON, with no provider's envelope around.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures::{Stream, stream::FusedStream};
use jsonmend_core::{Options, Outcome, Repair};
use jsonmend_extract::{Extractor, Parts, Scope};
use jsonmend_wire::Block;
use pin_project_lite::pin_project;

use crate::{Error, IDLE_CHUNKS, Object, Upstream, object::Growing};

/// How a [`JsonStream`] reads its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonOptions {
    scope: Scope,
    mending: Options,
    object_limit: usize,
}

impl JsonOptions {
    /// The defaults, as each method states them.
    #[must_use]
    pub const fn new() -> Self {
        Self { scope: Scope::Whole, mending: Options::new(), object_limit: 8 << 20 }
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
    pub const fn with_mending(mut self, options: Options) -> Self {
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
}

impl Default for JsonOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// What happened in a channel, in the order of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonEvent {
    /// A document ended.
    Ended(Box<Object>),
    /// The document that is open grew. The patches of a document, joined, are its text;
    /// [`Snapshot`] joins them.
    Patch {
        /// What comes behind the text so far. It may end inside a character.
        append: Vec<u8>,
        /// What would make it valid JSON if it ended here; `None` if it has ended, or is raw.
        completion: Option<String>,
    },
    /// The inside of a reasoning block. It may end inside a character.
    Reasoning(Vec<u8>),
    /// Text that is not JSON. It may end inside a character.
    Text(Vec<u8>),
}

/// A document as it grows, from the patches of a [`JsonStream`]. A patch costs what it appends.
///
/// ```
/// use jsonmend_stream::{JsonEvent, Snapshot};
/// let mut snapshot = Snapshot::default();
/// let patch = JsonEvent::Patch { append: b"[\"a".to_vec(), completion: Some("\"]".into()) };
/// snapshot.apply(&patch);
/// assert_eq!(snapshot.to_json().as_deref(), Some("[\"a\"]"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    text: Vec<u8>,
    completion: Option<String>,
    ended: bool,
}

impl Snapshot {
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
            JsonEvent::Reasoning(_) | JsonEvent::Text(_) => {}
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
    /// use jsonmend_stream::{JsonEvent, JsonOptions, MendExt, Snapshot};
    ///
    /// let chunks = ["{'city': 'Par", "is', 'ok': Tr", "ue}"];
    /// let channel = stream::iter(chunks).map(Ok::<_, std::io::Error>);
    /// let mut events = channel.mend_json(JsonOptions::new());
    /// let mut snapshot = Snapshot::default();
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
    #[derive(Debug)]
    pub struct JsonStream<S, E> {
        #[pin]
        channel: Option<S>,
        upstream: Upstream<E>,
        extractor: Extractor,
        found: Found,
    }
}

impl<S, B, E> JsonStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    /// Reads `channel`.
    #[must_use]
    pub fn new(channel: S, options: JsonOptions) -> Self {
        Self {
            channel: Some(channel),
            upstream: Upstream::Open,
            extractor: Extractor::new(options.scope, options.mending),
            found: Found {
                limit: options.object_limit,
                objects: 0,
                growing: None,
                queue: VecDeque::new(),
            },
        }
    }

    /// Stops reading: drops upstream, and settles what was received, as at the end of the channel.
    /// What is left to hand out still comes. Cancel safe; does nothing the second time.
    pub fn cancel(self: Pin<&mut Self>) {
        let mut this = self.project();
        this.channel.set(None);
        if matches!(this.upstream, Upstream::Open) {
            this.found.finish(this.extractor);
            *this.upstream = Upstream::Over;
        }
    }
}

impl<S, B, E> Stream for JsonStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    type Item = Result<JsonEvent, Error<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        for _ in 0..IDLE_CHUNKS {
            if let Some(event) = this.found.queue.pop_front() {
                return Poll::Ready(Some(Ok(event)));
            }
            let Some(channel) = this.channel.as_mut().as_pin_mut() else {
                let upstream = std::mem::replace(this.upstream, Upstream::Over);
                return Poll::Ready(match upstream {
                    Upstream::Failed(error) => Some(Err(Error::Upstream(error))),
                    Upstream::Open | Upstream::Over => None,
                });
            };
            match ready!(channel.poll_next(cx)) {
                Some(Ok(chunk)) => this.found.push(this.extractor, chunk.as_ref()),
                end => {
                    this.channel.set(None);
                    this.found.finish(this.extractor);
                    *this.upstream = match end {
                        Some(Err(error)) => Upstream::Failed(error),
                        _ => Upstream::Over,
                    };
                }
            }
        }
        // Upstream is always ready and says nothing: let other tasks run.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<S, B, E> FusedStream for JsonStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    fn is_terminated(&self) -> bool {
        let over = matches!(self.upstream, Upstream::Over);
        self.channel.is_none() && self.found.queue.is_empty() && over
    }
}

/// Turns the parts of the channel into events.
#[derive(Debug)]
struct Found {
    limit: usize,
    objects: usize,
    growing: Option<Growing>,
    queue: VecDeque<JsonEvent>,
}

impl Found {
    fn push(&mut self, extractor: &mut Extractor, chunk: &[u8]) {
        extractor.push(chunk, self);
        if let Some(JsonEvent::Patch { completion, .. }) = self.queue.back_mut() {
            *completion = extractor.completion().map(|completion| completion.to_string());
        }
    }

    fn finish(&mut self, extractor: &mut Extractor) {
        extractor.finish(self);
        if let Some(JsonEvent::Ended(object)) = self.queue.back_mut() {
            object.note_cut(extractor.path());
        }
    }

    /// Puts bytes into the last event, if it is of that kind, or at the end of the queue.
    fn queue(&mut self, event: JsonEvent) {
        match (self.queue.back_mut(), event) {
            (Some(JsonEvent::Text(last)), JsonEvent::Text(more))
            | (Some(JsonEvent::Reasoning(last)), JsonEvent::Reasoning(more))
            | (
                Some(JsonEvent::Patch { append: last, .. }),
                JsonEvent::Patch { append: more, .. },
            ) => {
                last.extend_from_slice(&more);
            }
            (_, event) => self.queue.push_back(event),
        }
    }
}

impl Parts for Found {
    fn text(&mut self, bytes: &[u8]) {
        self.queue(JsonEvent::Text(bytes.to_vec()));
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        self.queue(JsonEvent::Reasoning(bytes.to_vec()));
    }
    fn begin(&mut self, offset: usize) {
        self.growing = Some(Growing::new(self.objects, Block::default(), offset));
        self.objects += 1;
    }
    fn json(&mut self, bytes: &[u8]) {
        if let Some(growing) = &mut self.growing {
            growing.push(bytes, self.limit);
            self.queue(JsonEvent::Patch { append: bytes.to_vec(), completion: None });
        }
    }
    fn repair(&mut self, repair: Repair) {
        if let Some(growing) = &mut self.growing {
            growing.repair(repair);
        }
    }
    fn end(&mut self, outcome: Outcome) {
        if let Some(growing) = self.growing.take() {
            self.queue(JsonEvent::Ended(Box::new(growing.end(outcome))));
        }
    }
}
