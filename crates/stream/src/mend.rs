//! The adapter for a provider's body.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::{Stream, stream::FusedStream};
use pin_project_lite::pin_project;

use crate::{
    Error, Event, JsonOptions, JsonStream, MendOptions,
    contents::Reader,
    pump::{self, Reads, Upstream},
};

pin_project! {
    /// Reads a provider's body: a stream of byte chunks in, a stream of [`Event`]s out.
    ///
    /// How the body is cut into chunks changes what the pieces are, not what they add up to. When
    /// upstream fails, what it gave is settled first (calls and objects that are open end, and
    /// [`Event::Ended`] says how the response stood); the error comes last. Then the stream has ended, and stays ended.
    /// Upstream is dropped as soon as it has ended.
    ///
    /// **Cancel safe**: it may be dropped, and waiting for its next item may be given up, at any time.
    /// **Back-pressure**: upstream is polled only when all events before were taken.
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use jsonmend_stream::{Event, MendOptions, MendStream};
    /// use jsonmend_wire::StreamOutcome;
    ///
    /// let chunk = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":null}]}\n\n";
    /// let body = stream::iter([Ok(chunk), Err("connection reset")]);
    /// let events: Vec<_> = block_on(MendStream::new(body, MendOptions::new()).collect());
    /// let [.., ended, error] = events.as_slice() else { unreachable!() };
    /// assert_eq!(*ended, Ok(Event::Ended(StreamOutcome::Cut)));
    /// assert!(error.is_err());
    /// ```
    #[derive(Debug)]
    pub struct MendStream<S, E> {
        #[pin]
        body: Option<S>,
        upstream: Upstream<E>,
        reader: Reader,
    }
}

impl<S, B, E> MendStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    /// Reads `body`.
    #[must_use]
    pub fn new(body: S, options: MendOptions) -> Self {
        Self { body: Some(body), upstream: Upstream::Open, reader: Reader::new(options) }
    }

    /// Reads `body`, and brings each call in it into the schema of its tool: [`Event::CallFitted`] and
    /// [`Event::CallFound`] come beside the other events, and [`call_cursor`](Self::call_cursor) shows
    /// the arguments while they grow.
    ///
    /// The policy for rules is the one that calls are mended under ([`MendOptions::with_wire`]). A call
    /// is checked by the tools that were registered when it began; swapping the registry does not wait,
    /// and counts from the next call on.
    ///
    /// Each open call costs a cursor besides, with the value of its arguments so far. At its end [`Schema::fit`](jsonmend_schema::Schema::fit) runs within the poll, over at most as many
    /// bytes as `WireLimits::with_arguments` lets a call have.
    #[cfg(feature = "schema")]
    #[must_use]
    pub fn with_tools(
        body: S,
        options: MendOptions,
        tools: &jsonmend_schema::SharedRegistry,
    ) -> Self {
        let reader = Reader::with_tools(options, tools);
        Self { body: Some(body), upstream: Upstream::Open, reader }
    }

    /// Stops reading: drops upstream, and settles what was received, as at the end of the body. What
    /// is left to hand out still comes. Cancel safe; does nothing the second time.
    pub fn cancel(self: Pin<&mut Self>) {
        let this = self.project();
        pump::cancel(this.body, this.upstream, this.reader);
    }
}

#[cfg(feature = "schema")]
impl<S, E> MendStream<S, E> {
    /// What is known of a call that is open, as of the chunk that was read last: the value so far with
    /// a state for each node, what may come next, what is missing. Nothing is copied for it.
    ///
    /// `None` without [tools](Self::with_tools), before the call has both a name and arguments, where
    /// its tool has no schema or more arguments than the buffer limit came before its name, and once
    /// it has ended: also where all of it came in one chunk.
    #[must_use]
    pub fn call_cursor(&self, call: usize) -> Option<&jsonmend_schema::Cursor> {
        self.reader.cursor(call)
    }
}

impl<S, B, E> Stream for MendStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    type Item = Result<Event, Error<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        pump::poll(this.body, this.upstream, this.reader, cx)
    }
}

impl<S, B, E> FusedStream for MendStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    fn is_terminated(&self) -> bool {
        self.body.is_none() && self.reader.is_empty() && matches!(self.upstream, Upstream::Over)
    }
}

impl<B: AsRef<[u8]>> Reads<B> for Reader {
    type Event = Event;

    fn next(&mut self) -> Option<Event> {
        Reader::next(self)
    }
    fn push(&mut self, chunk: B) {
        Reader::push(self, chunk.as_ref());
    }
    fn finish(&mut self) {
        Reader::finish(self);
    }
}

/// Puts a mending adapter behind any stream of byte chunks.
pub trait MendExt<B, E>: Stream<Item = Result<B, E>> + Sized
where
    B: AsRef<[u8]>,
{
    /// Reads the stream as a provider's body. Cancel safe.
    fn mend(self, options: MendOptions) -> MendStream<Self, E> {
        MendStream::new(self, options)
    }

    /// Reads the stream as a provider's body, and brings each call into the schema of its tool: see
    /// [`MendStream::with_tools`]. Cancel safe.
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use jsonmend_schema::{NodeState, Registry, SharedRegistry, Standing};
    /// use jsonmend_stream::{Event, MendExt, MendOptions};
    ///
    /// let tools = serde_json::json!([{"name": "book", "input_schema": {
    ///     "properties": {"nights": {"type": "integer"}, "room": {"enum": ["single", "double"]}},
    ///     "required": ["nights", "room"],
    /// }}]);
    /// let tools = SharedRegistry::new(Registry::from_tools(&tools)?);
    ///
    /// let piece = |fields: &str| {
    ///     format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":0,{fields}}}]}}}}]}}\n\n")
    /// };
    /// let body = stream::iter([
    ///     piece(r#""id":"c1","function":{"name":"book","arguments":"{\"nights\": \"2\", \"room\": \"Dou"}"#),
    ///     piece(r#""function":{"arguments":"ble\",}"}"#),
    ///     "data: [DONE]\n\n".to_owned(),
    /// ]);
    /// let mut events = body.map(Ok::<_, std::io::Error>).mend_with_tools(MendOptions::new(), &tools);
    /// let mut fitted = None;
    /// block_on(async {
    ///     while let Some(Ok(event)) = events.next().await {
    ///         match event {
    ///             Event::CallFragment { call, .. } => {
    ///                 // A number as soon as it is one, with what is still to come.
    ///                 let Some(cursor) = events.call_cursor(call) else { continue };
    ///                 let nights = cursor.root().and_then(|root| root.member("nights"));
    ///                 assert_eq!(nights.map(|n| (n.to_string(), n.state())),
    ///                     Some(("2".to_owned(), NodeState::Final)));
    ///             }
    ///             // Nothing can make this call right: do not wait for the rest of it.
    ///             Event::CallFound { finding, .. } if finding.standing() == Standing::Lost => break,
    ///             Event::CallFitted { fit, .. } => fitted = fit.arguments().map(str::to_owned),
    ///             _ => {}
    ///         }
    ///     }
    /// });
    /// assert_eq!(fitted.as_deref(), Some(r#"{"nights": 2, "room": "double"}"#));
    /// # Ok::<(), jsonmend_schema::RegistryError>(())
    /// ```
    #[cfg(feature = "schema")]
    fn mend_with_tools(
        self,
        options: MendOptions,
        tools: &jsonmend_schema::SharedRegistry,
    ) -> MendStream<Self, E> {
        MendStream::with_tools(self, options, tools)
    }

    /// Reads the stream as text or JSON, with no provider's envelope around. Cancel safe. Chunks are
    /// `Bytes`, or what turns into them without a copy (`Vec<u8>`, `String`, `&'static str`).
    fn mend_json(self, options: JsonOptions) -> JsonStream<Self, E>
    where
        B: Into<Bytes>,
    {
        JsonStream::new(self, options)
    }
}

impl<S, B, E> MendExt<B, E> for S
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
}
