//! Sources of bytes: whatever a body comes as becomes a stream of chunks, to which
//! [`ByteStreamExt`](crate::ByteStreamExt) applies.
//!
//! | the body is | chunks |
//! |---|---|
//! | a `Stream` of results | as it is |
//! | a `Stream` that cannot fail | [`infallible`] |
//! | a [`Read`] | [`from_read`]; the adapters are then iterators, too |
//! | an `AsyncRead` or `AsyncBufRead` of tokio | `from_async_read`, with the feature `tokio` |
//! | the same, in a `FramedRead` of `tokio_util` | not a source: `ResponseCodec`, with the feature `codec` |
//! | an `http_body::Body` | `from_body`, with the feature `http-body` |
//! | a slice of bytes | not a stream: [`Response::read`](wiremend_response::Response::read) |
//!
//! None of them keeps a buffer while it waits. [`with_deadlines`] gives any of them a time limit.

use std::{
    io::{self, Read},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread, ThreadId},
};

use bytes::Bytes;
use futures_core::Stream;
use pin_project_lite::pin_project;

#[cfg(feature = "tokio-time")]
pub use crate::deadline::TokioTimer;
pub use crate::deadline::{DeadlineError, Deadlines, Timer, WithDeadlines, with_deadlines};

/// The size of the chunks that are read, in bytes.
const CHUNK: usize = 8 * 1024;

pin_project! {
    /// A stream that cannot fail. Created with [`infallible`].
    #[derive(Clone, Debug)]
    pub struct Infallible<S> {
        #[pin]
        stream: S,
    }
}

/// Makes a stream of chunks that cannot fail a source.
///
/// ```
/// use futures::{StreamExt, executor::block_on, stream};
/// use wiremend_stream::{JsonEvent, JsonOptions, ByteStreamExt, source};
///
/// let chunks = source::infallible(stream::iter(["{'a': ", "1}"]));
/// let events: Vec<_> = block_on(chunks.mend(JsonOptions::new()).collect());
/// let Some(Ok(JsonEvent::Ended(object))) = events.last() else { panic!() };
/// assert_eq!(object.json(), Some(r#"{"a": 1}"#));
/// ```
pub const fn infallible<S: Stream>(stream: S) -> Infallible<S> {
    Infallible { stream }
}

impl<S: Stream> Stream for Infallible<S> {
    type Item = Result<S::Item, std::convert::Infallible>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.project().stream.poll_next(cx).map(|chunk| chunk.map(Ok))
    }
}

pin_project! {
    /// The bytes of a blocking reader. Created with [`from_read`].
    #[derive(Clone, Debug)]
    pub struct FromRead<R> {
        reader: R,
        ended: bool,
    }
}

/// Makes a blocking reader a source. Polling it blocks, so use the adapters as iterators: with such a
/// source, each of them is an [`IntoIterator`].
///
/// ```
/// use wiremend_response::{Event, ResponseOptions};
/// use wiremend_stream::{ByteStreamExt, source};
///
/// // A file, or the standard input.
/// let body = &b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n"[..];
/// let mut text = String::new();
/// for event in source::from_read(body).read(ResponseOptions::new()) {
///     if let Event::Text { text: more, .. } = event? {
///         text.push_str(&more);
///     }
/// }
/// assert_eq!(text, "Hi");
/// # Ok::<(), wiremend_stream::Error<std::io::Error>>(())
/// ```
pub const fn from_read<R: Read>(reader: R) -> FromRead<R> {
    FromRead { reader, ended: false }
}

impl<R: Read> Stream for FromRead<R> {
    type Item = io::Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        if *this.ended {
            return Poll::Ready(None);
        }
        let mut chunk = [0; CHUNK];
        let read = loop {
            match this.reader.read(&mut chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        *this.ended = !matches!(read, Ok(1..));
        Poll::Ready(match read {
            Ok(0) => None,
            Ok(length) => Some(Ok(Bytes::copy_from_slice(chunk.get(..length).unwrap_or_default()))),
            Err(error) => Some(Err(error)),
        })
    }
}

/// The items of an adapter over [`from_read`]: the same as those of the stream.
#[derive(Debug)]
pub struct Blocking<S> {
    stream: Pin<Box<S>>,
    /// Wakes the thread that asked last.
    waker: Option<(ThreadId, Waker)>,
}

impl<S: Stream> Blocking<S> {
    fn new(stream: S) -> Self {
        Self { stream: Box::pin(stream), waker: None }
    }

    /// The adapter, for what it knows besides its items.
    #[must_use]
    pub fn get_ref(&self) -> &S {
        self.stream.as_ref().get_ref()
    }

    /// The adapter, to change what it does: [`cancel`](crate::ResponseStream::cancel) ends it, and the items that are
    /// left come from the iterator.
    ///
    /// ```
    /// use wiremend_response::{Event, ResponseOptions};
    /// use wiremend_stream::{ByteStreamExt, source::from_read};
    ///
    /// let body = b"data: {\"choices\":[{\"delta\":{\"content\":\"One. Two. Three.\"}}]}\n\n".repeat(9);
    /// let mut events = from_read(&body[..]).read(ResponseOptions::new()).into_iter();
    /// let mut texts = 0;
    /// while let Some(event) = events.next() {
    ///     if matches!(event?, Event::Text { .. }) {
    ///         texts += 1;
    ///         events.get_pin_mut().cancel();
    ///     }
    /// }
    /// assert_eq!(texts, 1);
    /// # Ok::<(), wiremend_stream::Error<std::io::Error>>(())
    /// ```
    pub fn get_pin_mut(&mut self) -> Pin<&mut S> {
        self.stream.as_mut()
    }
}

/// Wakes a thread that waits for a hook.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl<S: Stream> Iterator for Blocking<S> {
    type Item = S::Item;

    fn next(&mut self) -> Option<S::Item> {
        let current = thread::current();
        let known = self.waker.take().filter(|(thread, _)| *thread == current.id());
        let (_, waker) = self.waker.insert(
            known.unwrap_or_else(|| (current.id(), Waker::from(Arc::new(Unpark(current))))),
        );
        let mut cx = Context::from_waker(waker);
        // The source is never pending. An adapter is only if it yields after many chunks, or if a hook waits.
        loop {
            if let Poll::Ready(item) = self.stream.as_mut().poll_next(&mut cx) {
                return item;
            }
            thread::park();
        }
    }
}

/// Makes adapters over a blocking reader iterators.
macro_rules! blocking {
    ($($(#[$attribute:meta])* $adapter:ident $(<$type:ident: $bound:path>)?),* $(,)?) => {$(
        /// Reads a blocking source: see [`from_read`].
        $(#[$attribute])*
        impl<R: Read $(, $type: $bound)?> IntoIterator
            for crate::$adapter<FromRead<R>, io::Error $(, $type)?>
        {
            type Item = <Self as Stream>::Item;
            type IntoIter = Blocking<Self>;

            fn into_iter(self) -> Blocking<Self> {
                Blocking::new(self)
            }
        }
    )*};
}

blocking!(
    ResponseStream,
    JsonStream,
    RewriteStream,
    #[cfg(feature = "schema")]
    FitStream,
    #[cfg(feature = "serde_json")]
    ItemStream<T: serde::de::DeserializeOwned>,
    #[cfg(feature = "serde_json")]
    TypedStream<T: serde::de::DeserializeOwned>,
);

/// Reads a blocking source: see [`from_read`]. While a hook waits, the thread is parked, so the hook must be woken by
/// another one.
impl<R, H, F> IntoIterator for crate::AcceptStream<FromRead<R>, io::Error, H, F>
where
    R: Read,
    H: FnMut(&crate::Candidate) -> F,
    F: Future<Output = crate::Decision>,
{
    type Item = <Self as Stream>::Item;
    type IntoIter = Blocking<Self>;

    fn into_iter(self) -> Blocking<Self> {
        Blocking::new(self)
    }
}

#[cfg(feature = "tokio")]
pin_project! {
    /// The bytes of an asynchronous reader. Created with [`from_async_read`].
    #[derive(Clone, Debug)]
    pub struct FromAsyncRead<R> {
        #[pin]
        reader: R,
        ended: bool,
    }
}

/// Makes an `AsyncRead` of tokio, such as a socket or a child process, a source. Cancel safe.
///
/// ```
/// use futures::{StreamExt, executor::block_on};
/// use wiremend_stream::{JsonEvent, JsonOptions, ByteStreamExt, source};
///
/// let chunks = source::from_async_read(&b"{'a': 1}"[..]);
/// let events: Vec<_> = block_on(chunks.mend(JsonOptions::new()).collect());
/// let Some(Ok(JsonEvent::Ended(object))) = events.last() else { panic!() };
/// assert_eq!(object.json(), Some(r#"{"a": 1}"#));
/// ```
#[cfg(feature = "tokio")]
pub const fn from_async_read<R: tokio::io::AsyncRead>(reader: R) -> FromAsyncRead<R> {
    FromAsyncRead { reader, ended: false }
}

#[cfg(feature = "tokio")]
impl<R: tokio::io::AsyncRead> Stream for FromAsyncRead<R> {
    type Item = io::Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        if *this.ended {
            return Poll::Ready(None);
        }
        let mut chunk = [0; CHUNK];
        let mut buffer = tokio::io::ReadBuf::new(&mut chunk);
        let read = std::task::ready!(this.reader.poll_read(cx, &mut buffer));
        let filled = buffer.filled();
        *this.ended = read.is_err() || filled.is_empty();
        Poll::Ready(match read {
            Ok(()) if filled.is_empty() => None,
            Ok(()) => Some(Ok(Bytes::copy_from_slice(filled))),
            Err(error) => Some(Err(error)),
        })
    }
}

#[cfg(feature = "http-body")]
pin_project! {
    /// The data of an HTTP body. Created with [`from_body`].
    #[derive(Clone, Debug)]
    pub struct FromBody<B> {
        #[pin]
        body: B,
    }
}

/// Makes an `http_body::Body`, such as one of hyper or axum, a source. Its trailers are dropped. Cancel safe.
#[cfg(feature = "http-body")]
pub const fn from_body<B: http_body::Body>(body: B) -> FromBody<B> {
    FromBody { body }
}

#[cfg(feature = "http-body")]
impl<B: http_body::Body> Stream for FromBody<B> {
    type Item = Result<Bytes, B::Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut body = self.project().body;
        loop {
            return Poll::Ready(match std::task::ready!(body.as_mut().poll_frame(cx)) {
                None => None,
                Some(Err(error)) => Some(Err(error)),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(mut data) => {
                        let length = bytes::Buf::remaining(&data);
                        Some(Ok(bytes::Buf::copy_to_bytes(&mut data, length)))
                    }
                    Err(_) => continue,
                },
            });
        }
    }
}
