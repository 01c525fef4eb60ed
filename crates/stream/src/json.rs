//! The adapter for a channel of plain text or JSON, without a provider's envelope.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use futures_core::{Stream, stream::FusedStream};
use pin_project_lite::pin_project;
use wiremend_core::{DeltaOp, MendOptions, Outcome, Output as _, Partial, Path, Repair, Revision};
use wiremend_extract::{Finder, Scope, TextSink};
use wiremend_response::{Object, ObjectBuilder};
use wiremend_wire::Block;

use crate::{
    Error,
    pump::{self, Reads, Upstream},
    telemetry::Watch,
};

/// How a [`JsonStream`] reads its channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonOptions {
    scope: Scope,
    mending: MendOptions,
    object_limit: usize,
    deltas: bool,
}

impl JsonOptions {
    /// The defaults. Each method documents its own.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            scope: Scope::Whole,
            mending: MendOptions::new(),
            object_limit: 8 << 20,
            deltas: false,
        }
    }

    /// Sets where to look for JSON.
    ///
    /// ### Default
    /// [`Scope::Whole`]: the channel should be one document.
    #[must_use]
    pub const fn with_scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets how documents are repaired.
    ///
    /// ### Default
    /// [`Policy::PERMISSIVE`](wiremend_core::Policy::PERMISSIVE), default limits.
    #[must_use]
    pub fn with_mending(mut self, options: MendOptions) -> Self {
        self.mending = options;
        self
    }

    /// Sets the size up to which a document is kept until it ends, in bytes. The patches of a larger
    /// document are still emitted, but it ends as [`Outcome::Overflow`].
    ///
    /// ### Default
    /// 8 MiB.
    #[must_use]
    pub const fn with_object_limit(mut self, bytes: usize) -> Self {
        self.object_limit = bytes;
        self
    }

    /// The scope, the options for repairs, and the object limit.
    #[cfg(feature = "serde_json")]
    pub(crate) fn into_parts(self) -> (Scope, MendOptions, usize) {
        (self.scope, self.mending, self.object_limit)
    }

    /// Emits changes of the value as [`JsonEvent::Delta`] instead of patches of its text. Deltas stop once
    /// a document exceeds the object limit.
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
/// Bytes are a slice of the upstream chunk as long as nothing in them was repaired or held back from the
/// previous chunk. Such a slice keeps the whole chunk in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonEvent {
    /// The value of the open document changed. Only emitted with
    /// [`with_deltas`](JsonOptions::with_deltas). Apply it to an
    /// [`OwnedValue`](wiremend_core::OwnedValue).
    #[non_exhaustive]
    Delta {
        /// Where the value changed.
        path: Path,
        /// What changed there.
        change: DeltaOp<'static>,
    },
    /// A document ended. With [`Scope::All`] and [`Scope::Fenced`], this directly follows the document's
    /// last patch. With the other scopes there is only one document, and what follows it counts towards
    /// it. The event then comes at the end of the channel, after all [`Text`](Self::Text), and only an
    /// upstream error can follow. It is not emitted if there is no document.
    Ended(Box<Object>),
    /// The open document grew. The patches of a document, concatenated, are its text;
    /// [`TextSnapshot`] concatenates them.
    #[non_exhaustive]
    Patch {
        /// The bytes to append to the text so far. They may end inside a character.
        append: Bytes,
        /// What would make the text valid JSON if it ended here. `None` if the document has ended or is raw.
        completion: Option<String>,
    },
    /// Mending of the open document has stopped, because of a limit or of a repair that the policy
    /// forbids. The patches that follow are its text as received, and need not be JSON; there are no more
    /// deltas. [`Ended`](Self::Ended) says why.
    Raw,
    /// The content of a reasoning block. It may end inside a character.
    Reasoning(Bytes),
    /// Text that is not JSON. It may end inside a character.
    Text(Bytes),
}

/// A document as it grows, built from the patches of a [`JsonStream`]. Applying a patch costs only the
/// bytes that it appends.
///
/// ```
/// use futures::{FutureExt, StreamExt, stream};
/// use wiremend_stream::{JsonOptions, ByteStreamExt, TextSnapshot};
///
/// // A channel that has not ended yet.
/// let chunks = stream::iter(["{\"city\": \"Os", "l"]).chain(stream::pending());
/// let channel = chunks.map(Ok::<_, std::io::Error>);
/// let mut events = channel.mend(JsonOptions::new());
/// let mut snapshot = TextSnapshot::default();
/// while let Some(Some(Ok(event))) = events.next().now_or_never() {
///     snapshot.apply(&event);
/// }
/// assert_eq!(snapshot.to_json().as_deref(), Some(r#"{"city": "Osl"}"#));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextSnapshot {
    text: Vec<u8>,
    completion: Option<String>,
    ended: bool,
}

impl TextSnapshot {
    /// Applies an event. A patch that follows the end of a document starts the next one.
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
            JsonEvent::Delta { .. }
            | JsonEvent::Raw
            | JsonEvent::Reasoning(_)
            | JsonEvent::Text(_) => {}
        }
    }

    /// The document so far as valid JSON, or `None` before it begins. This copies the document. A
    /// character that has arrived only in part is left out. Once the document has ended, or is passed
    /// through raw, this is its text as is; [`Object::outcome`] says which.
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
    /// Reads a channel of text or JSON: a stream of byte chunks in, a stream of [`JsonEvent`]s out. Created with
    /// [`ByteStreamExt::mend`](crate::ByteStreamExt::mend).
    ///
    /// When upstream fails, everything it yielded is processed first and the error is the last item. After
    /// that the stream has ended and stays ended.
    ///
    /// **Cancel safe**: the stream, or a future waiting for its next item, may be dropped at any time.
    /// **Back-pressure**: upstream is polled only after all previous events have been taken.
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use wiremend_stream::{JsonEvent, JsonOptions, ByteStreamExt, TextSnapshot};
    ///
    /// let chunks = ["{'city': 'Par", "is', 'ok': Tr", "ue}"];
    /// let channel = stream::iter(chunks).map(Ok::<_, std::io::Error>);
    /// let mut events = channel.mend(JsonOptions::new());
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
    /// Changes of the value, instead of patches of its text:
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use wiremend_core::OwnedValue;
    /// use wiremend_stream::{JsonEvent, JsonOptions, ByteStreamExt};
    ///
    /// let chunks = ["{'city': 'Par", "is', 'ok': Tr", "ue}"];
    /// let channel = stream::iter(chunks).map(Ok::<_, std::io::Error>);
    /// let mut events = channel.mend(JsonOptions::new().with_deltas());
    /// let mut value = OwnedValue::new();
    /// block_on(async {
    ///     while let Some(Ok(event)) = events.next().await {
    ///         if let JsonEvent::Delta { path, change, .. } = event {
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
    pub(crate) fn new(channel: S, options: JsonOptions) -> Self {
        let extractor = Finder::new(options.scope, options.mending);
        let found = PartEvents {
            limit: options.object_limit,
            objects: 0,
            open: None,
            partial: options.deltas.then(Partial::new),
            seen: Revision::default(),
            raw: None,
            chunk: Bytes::new(),
            queue: VecDeque::new(),
            watch: Watch::new(true),
        };
        let reader = Reader { extractor, found };
        Self { channel: Some(channel), upstream: Upstream::Open, reader }
    }

    /// Sets what logs and metrics say about the channel.
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    #[must_use]
    pub fn with_telemetry(mut self, telemetry: crate::Telemetry) -> Self {
        self.reader.found.watch.set(telemetry);
        self
    }

    /// Stops reading: drops upstream and processes what was received, as at the end of the channel. The
    /// remaining events are still emitted. Cancel safe. Calling it again does nothing.
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
        let _span = this.reader.found.watch.enter();
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

/// Splits the channel into its parts.
#[derive(Debug)]
struct Reader {
    extractor: Finder,
    found: PartEvents,
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
struct PartEvents {
    limit: usize,
    objects: usize,
    open: Option<ObjectBuilder>,
    /// The value of the open document, if deltas are enabled.
    partial: Option<Partial>,
    /// The revision up to which changes have been emitted.
    seen: Revision,
    /// Whether mending of the open document has stopped, and whether that was said.
    raw: Option<bool>,
    /// The chunk being read.
    chunk: Bytes,
    queue: VecDeque<Pending>,
    watch: Watch,
}

/// An event that the next one may still extend.
#[derive(Debug)]
enum Pending {
    Patch(Joined, Option<String>),
    Ready(JsonEvent),
    Reasoning(Joined),
    Text(Joined),
}

impl PartEvents {
    fn push(&mut self, extractor: &mut Finder, chunk: &Bytes) {
        self.chunk = chunk.clone();
        extractor.push(chunk, self);
        self.chunk = Bytes::new();
        self.queue_changes();
        if let Some(Pending::Patch(_, completion)) = self.queue.back_mut() {
            *completion = extractor.completion().map(|completion| completion.to_string());
        }
    }

    fn finish(&mut self, extractor: &mut Finder) {
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

    /// Queues the changes of the value since the last call.
    fn queue_changes(&mut self) {
        let Some(partial) = &self.partial else { return };
        for delta in partial.since(&self.seen) {
            let (path, change) = (delta.path(), delta.op().into_owned());
            self.queue.push_back(Pending::Ready(JsonEvent::Delta { path, change }));
        }
        self.seen = partial.revision();
    }
}

impl TextSink for PartEvents {
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
        self.raw = None;
        self.open = Some(ObjectBuilder::new(self.objects, Block::default(), offset, self.limit));
        self.objects += 1;
    }
    fn json(&mut self, bytes: &[u8]) {
        if self.raw == Some(false) && !bytes.is_empty() {
            self.raw = Some(true);
            self.queue_changes();
            self.queue.push_back(Pending::Ready(JsonEvent::Raw));
        }
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
        self.raw.get_or_insert(false);
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
            open.repair(&repair);
        }
    }
    fn end(&mut self, outcome: Outcome) {
        // A scalar on its own is final only at the end of the text.
        if outcome.is_valid() {
            self.settle();
        }
        self.queue_changes();
        if let Some(partial) = &mut self.partial {
            partial.clear();
        }
        if let Some(open) = self.open.take() {
            let object = Box::new(open.end(outcome));
            self.watch.object(&object);
            self.queue.push_back(Pending::Ready(JsonEvent::Ended(object)));
        }
    }
}

// The bytes of one event, joined from pieces.

/// Joined pieces: a slice of the caller's chunk as long as they are adjacent in it, otherwise a copy.
#[derive(Debug)]
pub(crate) enum Joined {
    Slice(Bytes),
    Copy(BytesMut),
}

impl Joined {
    /// Starts with one piece, which may lie in `chunk`.
    pub(crate) fn new(chunk: &Bytes, piece: &[u8]) -> Self {
        place(chunk, piece).map_or_else(
            || Self::Copy(BytesMut::from(piece)),
            |at| Self::Slice(chunk.slice(at..at + piece.len())),
        )
    }

    /// Appends a piece.
    pub(crate) fn push(&mut self, chunk: &Bytes, piece: &[u8]) {
        match self {
            Self::Slice(slice) => {
                let start = place(chunk, slice);
                let after = start.map(|start| start + slice.len());
                match (start, after.filter(|_| place(chunk, piece) == after)) {
                    (Some(start), Some(after)) => {
                        *slice = chunk.slice(start..after + piece.len());
                    }
                    _ => {
                        let mut copy = BytesMut::with_capacity(slice.len() + piece.len());
                        copy.extend_from_slice(slice);
                        copy.extend_from_slice(piece);
                        *self = Self::Copy(copy);
                    }
                }
            }
            Self::Copy(copy) => copy.extend_from_slice(piece),
        }
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::Slice(slice) => slice,
            Self::Copy(copy) => copy.freeze(),
        }
    }
}

/// The position of a piece in the chunk, if it is part of it.
fn place(chunk: &Bytes, piece: &[u8]) -> Option<usize> {
    let at = piece.as_ptr().addr().checked_sub(chunk.as_ptr().addr())?;
    (at.checked_add(piece.len())? <= chunk.len()).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_side_by_side_are_not_copied() {
        let chunk = Bytes::from(b"some text of a chunk".to_vec());
        let mut joined = Joined::new(&chunk, &chunk[5..9]);
        joined.push(&chunk, &chunk[9..12]);
        let bytes = joined.into_bytes();
        assert_eq!(&bytes[..], b"text of");
        assert_eq!(bytes.as_ptr(), chunk[5..].as_ptr());
    }

    #[test]
    fn other_pieces_are_copied() {
        let chunk = Bytes::from(b"some text of a chunk".to_vec());
        for (first, second) in
            [(&chunk[..4], &b"!"[..]), (b"!", &chunk[..4]), (&chunk[..4], &chunk[9..])]
        {
            let mut joined = Joined::new(&chunk, first);
            joined.push(&chunk, second);
            joined.push(&chunk, b"?");
            assert_eq!(joined.into_bytes(), [first, second, b"?"].concat());
        }
    }
}
