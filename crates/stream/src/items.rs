//! The items of an array, each as a Rust type as soon as it closes.

use std::{
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::{Stream, stream::FusedStream};
use pin_project_lite::pin_project;
use serde::de::DeserializeOwned;
use wiremend_core::Outcome;

use crate::{
    ValueError, ValueOptions,
    channel::{Reading, Target},
    splitter::{Piece, Splitter},
};

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
        reading: Reading<S, E, Splitter>,
        limit: usize,
        target: Target,
        item: PhantomData<fn() -> T>,
    }
}

impl<S, B, E, T> ItemStream<S, E, T>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    pub(crate) fn new(body: S, pointer: &str, options: ValueOptions) -> Self {
        let (limit, target) = (options.limit(), options.target());
        let reading = Reading::new(body, options, Splitter::new(pointer, limit));
        Self { reading, limit, target, item: PhantomData }
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
        let this = self.project();
        let (limit, target) = (*this.limit, &*this.target);
        this.reading.poll(cx, |piece, watch| match piece {
            // A document with the array, or one that is not complete, is an answer.
            Piece::Ended { outcome, found, .. } if outcome.is_complete() => (found, None),
            Piece::Ended { outcome: Outcome::None, .. } => (false, None),
            Piece::Ended { outcome, items, .. } => {
                (true, Some(Err(ValueError::Incomplete { outcome, items })))
            }
            Piece::Item { index, json: Some(json), call } => {
                let value = target.read(Some(index), &json, watch);
                (false, Some(value.map(|value| Item { index, call, value })))
            }
            Piece::Item { index, json: None, .. } => {
                (false, Some(Err(ValueError::TooLong { index: Some(index), limit })))
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
