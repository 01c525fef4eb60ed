//! A value as a Rust type, while it grows and when it is whole.

use std::{
    collections::VecDeque,
    fmt,
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::{Stream, stream::FusedStream};
use pin_project_lite::pin_project;
use serde::{Deserialize, de::DeserializeOwned};
use wiremend_core::{DeserializeError, MendOptions, Outcome, Output as _, Partial, Value};
use wiremend_extract::TextSink;
use wiremend_response::{Object, ObjectBuilder};
use wiremend_wire::{Block, Call, Doubt, WireError};

use crate::{
    Error, ValueOptions,
    channel::{Document, ReadChannel},
    splitter::{Piece, Splitter},
};

/// What happened to a value that is read as a Rust type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypedEvent<T> {
    /// The value grew. [`TypedStream::partial`] gives it, and [`TypedStream::value`] a view of it.
    Grew,
    /// The value is complete.
    Whole(T),
}

pin_project! {
    /// Reads a value as a `T`: partial values while it grows, the whole one at the end. Created with
    /// [`ByteStreamExt::typed`](crate::ByteStreamExt::typed).
    ///
    /// A value that is not complete is never emitted: [`ValueError::Incomplete`] comes instead. With
    /// a schema, neither is one that does not fit. If there are
    /// several documents, each is emitted. An upstream error is the last item.
    ///
    /// Work: linear in the input, and for each call of [`partial`](Self::partial) the size of the value so
    /// far, so that a program that shows it thirty times a second pays for thirty. Memory: the value so far,
    /// and its text, up to the limit of the options.
    ///
    /// **Cancel safe**: the stream, or a future waiting for its next item, may be dropped at any time.
    /// **Back-pressure**: upstream is polled only after all previous events have been taken.
    #[derive(Debug)]
    pub struct TypedStream<S, E, T> {
        #[pin]
        reading: ReadChannel<S, E, Growing>,
        value: PhantomData<fn() -> T>,
    }
}

impl<S, B, E, T> TypedStream<S, E, T>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    pub(crate) fn new(body: S, options: ValueOptions) -> Self {
        Self { reading: ReadChannel::new(body, options.guided(), Growing::new), value: PhantomData }
    }

    /// Sets what logs and metrics say about the response.
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    #[must_use]
    pub fn with_telemetry(mut self, telemetry: crate::Telemetry) -> Self {
        self.reading.set_telemetry(telemetry);
        self
    }

    /// Stops reading: drops upstream and processes what was received, as at the end of the channel. The
    /// remaining events are still emitted. Cancel safe. Calling it again does nothing.
    pub fn cancel(self: Pin<&mut Self>) {
        self.project().reading.cancel();
    }
}

impl<S, E, T> TypedStream<S, E, T> {
    /// The value as of the last chunk, as if everything open were closed: that of the last document. `None`
    /// before its type is known. Nothing is copied.
    #[must_use]
    pub fn value(&self) -> Option<Value<'_>> {
        self.reading.latest()?.partial.root()
    }

    /// The value so far as a `T`. Fields that may still be missing have to be optional or have a default,
    /// or `P` is another type than `T` in which they are. Costs O(its size).
    ///
    /// # Errors
    /// If the value so far is not a `P`, for instance because a field is missing.
    pub fn partial<'a, P: Deserialize<'a>>(&'a self) -> Option<Result<P, DeserializeError>> {
        self.value().map(P::deserialize)
    }
}

impl<S, B, E, T> Stream for TypedStream<S, E, T>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
    T: DeserializeOwned,
{
    type Item = Result<TypedEvent<T>, ValueError<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.project().reading.poll(cx, |growth, values| match growth {
            Growth::Grew => (false, Some(Ok(TypedEvent::Grew))),
            Growth::Ended { outcome, object, is_call } => {
                if !is_call {
                    values.watch.object(&object);
                }
                let value = if !outcome.is_complete() {
                    Err(ValueError::Incomplete { outcome, items: 0 })
                } else {
                    let json = object.json().map(str::as_bytes);
                    values.read(None, json).map(TypedEvent::Whole)
                };
                (true, Some(value))
            }
        })
    }
}

impl<S, B, E, T> FusedStream for TypedStream<S, E, T>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
    T: DeserializeOwned,
{
    fn is_terminated(&self) -> bool {
        self.reading.is_terminated()
    }
}

/// What a [`Growing`] document does.
#[derive(Clone, Debug)]
pub(crate) enum Growth {
    /// Its outcome says how it ended, even if its text is too long to be kept.
    Ended {
        outcome: Outcome,
        object: Box<Object>,
        is_call: bool,
    },
    Grew,
}

/// A document as it grows.
#[derive(Clone, Debug)]
pub(crate) struct Growing {
    limit: usize,
    partial: Partial,
    open: Option<ObjectBuilder>,
    grew: bool,
    /// Something of the response was lost: the value does not grow any more, and is not whole.
    lost: bool,
    is_call: bool,
    ready: VecDeque<Growth>,
}

impl Growing {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            partial: Partial::new(),
            open: None,
            grew: false,
            lost: false,
            is_call: false,
            ready: VecDeque::new(),
        }
    }
}

impl TextSink for Growing {
    fn begin(&mut self, offset: usize) {
        self.partial.clear();
        self.open = Some(ObjectBuilder::new(0, Block::default(), offset, self.limit));
    }

    fn json(&mut self, bytes: &[u8]) {
        let Some(open) = self.open.as_mut().filter(|_| !self.lost) else { return };
        open.push(bytes);
        if open.is_kept() {
            self.partial.copy(bytes);
            self.grew = true;
        } else {
            self.partial.raw();
        }
    }

    fn raw(&mut self) {
        self.partial.raw();
    }

    fn settle(&mut self) {
        self.partial.settle();
    }

    fn end(&mut self, outcome: Outcome) {
        let Some(open) = self.open.take() else { return };
        let outcome = match outcome {
            outcome if self.lost && outcome.is_complete() => Outcome::Closed,
            outcome => outcome,
        };
        let object = Box::new(open.end(outcome));
        self.grew = false;
        self.ready.push_back(Growth::Ended { outcome, object, is_call: self.is_call });
    }
}

impl Document for Growing {
    type Emitted = Growth;

    fn lose(&mut self) {
        self.lost = true;
    }

    fn begin_call(&mut self, _: usize) {
        self.begin(0);
        self.is_call = true;
    }

    fn end_call(&mut self, call: &Call, _: &MendOptions) {
        let mut whole = ObjectBuilder::new(0, Block::default(), 0, self.limit);
        whole.push(call.arguments().as_bytes());
        if call.outcome().is_complete() && whole.is_kept() && !self.lost {
            self.partial.clear();
            self.partial.copy(call.arguments().as_bytes());
            self.partial.settle();
        }
        self.open = Some(whole);
        self.end(call.outcome());
    }

    fn drain(&mut self, into: &mut VecDeque<Growth>) {
        into.append(&mut self.ready);
        if std::mem::take(&mut self.grew) && self.partial.root().is_some() {
            into.push_back(Growth::Grew);
        }
    }
}

// The items of an array, each as a Rust type as soon as it closes.

/// An item of an array that has closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item<T> {
    index: usize,
    call: Option<usize>,
    value: T,
}

impl<T> Item<T> {
    /// Its position in the array of its document, from 0.
    #[must_use]
    pub const fn index(&self) -> usize {
        self.index
    }

    /// The number of the call whose arguments hold it, if calls are read
    /// ([`ValueOptions::arguments_of`]).
    #[must_use]
    pub const fn call(&self) -> Option<usize> {
        self.call
    }

    /// The item.
    #[must_use]
    pub const fn value(&self) -> &T {
        &self.value
    }

    /// The item.
    #[must_use]
    pub fn into_value(self) -> T {
        self.value
    }
}

pin_project! {
    /// Reads the items of an array, each as a `T` as soon as it closes. Created with
    /// [`ByteStreamExt::items`](crate::ByteStreamExt::items).
    ///
    /// An item is emitted when its own last byte has arrived, while the rest of the array is still to come; a
    /// number or a string, when what follows has shown that this was its last byte. One that may have been closed only because the document was cut off is never emitted. The items do
    /// not depend on how the input is divided into chunks; those of several texts or calls come in the order in which
    /// they arrive.
    ///
    /// **If no error is emitted, nothing is missing.** [`ValueError::Incomplete`] says that the document was cut
    /// off, refused or passed a limit, or that an item with a key twice may be several ones, because something that
    /// may have divided it was repaired, and how many items there were until then; [`ValueError::NotFound`], that
    /// there was no such array. After [`ValueError::Type`], [`ValueError::TooLong`] and `ValueError::Fit`,
    /// which concern one item, the next items follow. After [`ValueError::Lost`] there are no more items, because any of them may
    /// lack a part. An upstream error is the last item.
    ///
    /// Work: linear in the input. Memory: one item, and what one chunk brings; nothing of the document is
    /// kept. (Of a call, the reader of the response keeps the arguments.)
    ///
    /// **Cancel safe**: the stream, or a future waiting for its next item, may be dropped at any time.
    /// **Back-pressure**: upstream is polled only after all previous items have been taken.
    #[derive(Debug)]
    pub struct ItemStream<S, E, T> {
        #[pin]
        reading: ReadChannel<S, E, Splitter>,
        item: PhantomData<fn() -> T>,
    }
}

impl<S, B, E, T> ItemStream<S, E, T>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    pub(crate) fn new(body: S, pointer: &str, options: ValueOptions) -> Self {
        let start = |limit| Splitter::new(pointer, limit);
        Self { reading: ReadChannel::new(body, options, start), item: PhantomData }
    }

    /// Sets what logs and metrics say about the response.
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    #[must_use]
    pub fn with_telemetry(mut self, telemetry: crate::Telemetry) -> Self {
        self.reading.set_telemetry(telemetry);
        self
    }

    /// Stops reading: drops upstream. Items that have closed are still emitted, and then an error if the
    /// document was not complete. Cancel safe. Calling it again does nothing.
    pub fn cancel(self: Pin<&mut Self>) {
        self.project().reading.cancel();
    }
}

impl<S, B, E, T> Stream for ItemStream<S, E, T>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
    T: DeserializeOwned,
{
    type Item = Result<Item<T>, ValueError<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.project().reading.poll(cx, |piece, values| match piece {
            // A document with the array, or one that is not complete, is an answer.
            Piece::Ended { outcome, found, .. } if outcome.is_complete() => (found, None),
            Piece::Ended { outcome: Outcome::None, .. } => (false, None),
            Piece::Ended { outcome, items, .. } => {
                (true, Some(Err(ValueError::Incomplete { outcome, items })))
            }
            Piece::Item { index, json, call } => {
                let value = values.read(Some(index), json.as_deref());
                (false, Some(value.map(|value| Item { index, call, value })))
            }
        })
    }
}

impl<S, B, E, T> FusedStream for ItemStream<S, E, T>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
    T: DeserializeOwned,
{
    fn is_terminated(&self) -> bool {
        self.reading.is_terminated()
    }
}

// Why there is no typed value.

/// Why an item or a value could not be given as a Rust type.
#[derive(Debug)]
#[non_exhaustive]
pub enum ValueError<E> {
    /// The document is not complete: it was cut off, needs a repair that the policy forbids, or passed a
    /// limit.
    #[non_exhaustive]
    Incomplete {
        /// How it ended.
        outcome: Outcome,
        /// How many items of the array had closed before, including those that were not of the type.
        /// 0 for a value that is no array.
        items: usize,
    },
    /// An item, or the value, is complete and does not fit the schema. Items that follow are still emitted.
    #[cfg(feature = "schema")]
    #[non_exhaustive]
    Fit {
        /// The position of the item. `None` for the whole value.
        index: Option<usize>,
        /// The JSON text.
        json: String,
        /// What is wrong with it: at least one issue.
        issues: Vec<wiremend_schema::Issue>,
    },
    /// Something of the response was lost or damaged, so what follows may lack a part, and is not given. Comes once
    /// for each loss that is not a [`Provider`](Self::Provider) error itself.
    Lost(Doubt),
    /// There is no document, or it has no array in that place.
    NotFound,
    /// The provider reported an error inside the response.
    Provider(Box<WireError>),
    /// An item, or the value, is longer than the limit on what is kept. Items that follow are still emitted.
    #[non_exhaustive]
    TooLong {
        /// The position of the item. `None` for the whole value.
        index: Option<usize>,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The response has more texts than are read (1,024). The others are not read.
    TooManyTexts,
    /// An item, or the value, is complete and is not of the type. Items that follow are still emitted.
    #[non_exhaustive]
    Type {
        /// The position of the item. `None` for the whole value.
        index: Option<usize>,
        /// The JSON text.
        json: String,
        /// Why it is not of the type.
        error: serde_json::Error,
    },
    /// The stream of bytes failed. Everything it yielded before the failure has already been emitted.
    Upstream(E),
}

impl<E> From<Error<E>> for ValueError<E> {
    fn from(error: Error<E>) -> Self {
        Self::Upstream(error.into_inner())
    }
}

/// Says what failed, with the first issue of a value that does not fit. [`source`](std::error::Error::source)
/// gives the cause.
impl<E> fmt::Display for ValueError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete { outcome, items } => {
                f.write_str("the document is not complete: ")?;
                match outcome {
                    // What was closed is not, although its text is valid.
                    Outcome::Closed | Outcome::Cut => f.write_str("its end is missing")?,
                    other => write!(f, "{other}")?,
                }
                match items {
                    0 => Ok(()),
                    1 => f.write_str("; 1 item of it had closed before"),
                    items => write!(f, "; {items} items of it had closed before"),
                }
            }
            #[cfg(feature = "schema")]
            Self::Fit { index, issues, .. } => {
                match index {
                    Some(index) => write!(f, "item {index} does not fit the schema")?,
                    None => f.write_str("the value does not fit the schema")?,
                }
                let (first, more) = (issues.first(), issues.len().saturating_sub(1));
                first.map_or(Ok(()), |issue| write!(f, ": {issue}"))?;
                if more == 0 { Ok(()) } else { write!(f, "; and {more} more") }
            }
            Self::Lost(doubt) => write!(f, "a part of the response was lost: {doubt}"),
            Self::NotFound => f.write_str("there is no such value in the text"),
            Self::Provider(_) => f.write_str("the provider reported an error"),
            Self::TooLong { index: Some(index), limit } => {
                write!(f, "item {index} is longer than {limit} bytes")
            }
            Self::TooLong { index: None, limit } => {
                write!(f, "the value is longer than {limit} bytes")
            }
            Self::TooManyTexts => f.write_str("the response has too many texts"),
            Self::Type { index: Some(index), .. } => write!(f, "item {index} is of another type"),
            Self::Type { index: None, .. } => f.write_str("the value is of another type"),
            Self::Upstream(_) => f.write_str("the stream of bytes failed"),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for ValueError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Provider(error) => Some(&**error),
            Self::Type { error, .. } => Some(error),
            Self::Upstream(error) => Some(error),
            _ => None,
        }
    }
}
