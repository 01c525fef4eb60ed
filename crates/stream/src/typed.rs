//! A value as a Rust type, while it grows and when it is whole.

use std::{
    collections::VecDeque,
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
use wiremend_wire::{Block, Call};

use crate::{
    ValueError, ValueOptions,
    channel::{Document, Reading, Target},
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
        reading: Reading<S, E, Growing>,
        limit: usize,
        target: Target,
        value: PhantomData<fn() -> T>,
    }
}

impl<S, B, E, T> TypedStream<S, E, T>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    pub(crate) fn new(body: S, options: ValueOptions) -> Self {
        let (limit, target) = (options.limit(), options.target());
        let reading = Reading::new(body, options.guided(), Growing::new(limit));
        Self { reading, limit, target, value: PhantomData }
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
        let this = self.project();
        let (limit, target) = (*this.limit, &*this.target);
        this.reading.poll(cx, |growth, watch| match growth {
            Growth::Grew => (false, Some(Ok(TypedEvent::Grew))),
            Growth::Ended { outcome, object, is_call } => {
                if !is_call {
                    watch.object(&object);
                }
                let value = if !outcome.is_complete() {
                    Err(ValueError::Incomplete { outcome, items: 0 })
                } else if let Some(json) = object.json() {
                    target.read(None, json.as_bytes(), watch).map(TypedEvent::Whole)
                } else {
                    Err(ValueError::TooLong { index: None, limit })
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
    type Found = Growth;

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
