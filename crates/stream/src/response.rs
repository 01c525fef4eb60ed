//! The adapter for a provider's body.

use std::{
    collections::BTreeMap,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_core::{Stream, stream::FusedStream};
use pin_project_lite::pin_project;
use wiremend_core::{Output as _, Partial, Value};
use wiremend_response::{Event, ResponseOptions};
use wiremend_wire::RewriteOptions;

#[cfg(feature = "schema")]
use crate::StoppedAt;
use crate::{
    Error, JsonOptions, JsonStream, RewriteStream,
    pump::{self, Response, Upstream},
    telemetry::Watch,
};

pin_project! {
    /// Reads a provider's body: a stream of byte chunks in, a stream of [`Event`]s out. Created with
    /// [`ByteStreamExt::read`].
    ///
    /// The way the body is split into chunks affects the individual pieces, but not what they add up to. When
    /// upstream fails, what it yielded is processed first: open calls and objects end, and [`Event::Ended`]
    /// gives the outcome of the response. The error is the last item. After that the stream has ended and
    /// stays ended. Upstream is dropped as soon as it has ended.
    ///
    /// **Cancel safe**: the stream, or a future waiting for its next item, may be dropped at any time.
    /// **Back-pressure**: upstream is polled only after all previous events have been taken.
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use wiremend_response::{Event, ResponseOptions};
    /// use wiremend_stream::ByteStreamExt;
    /// use wiremend_wire::StreamOutcome;
    ///
    /// let chunk = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":null}]}\n\n";
    /// let body = stream::iter([Ok(chunk), Err("connection reset")]);
    /// let events: Vec<_> = block_on(body.read(ResponseOptions::new()).collect());
    /// let [.., ended, error] = events.as_slice() else { unreachable!() };
    /// assert_eq!(*ended, Ok(Event::Ended(StreamOutcome::Cut)));
    /// assert!(error.is_err());
    /// ```
    #[derive(Debug)]
    pub struct ResponseStream<S, E> {
        #[pin]
        body: Option<S>,
        upstream: Upstream<E>,
        response: Response,
        // The values of open calls, if the caller wants them.
        values: Option<CallValues>,
        watch: Watch,
    }
}

impl<S, B, E> ResponseStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    pub(crate) fn new(body: S, options: ResponseOptions) -> Self {
        let response = Response::new(options);
        let watch = Watch::new(true);
        Self { body: Some(body), upstream: Upstream::Open, response, values: None, watch }
    }

    /// Keeps the value of each open call, for [`call_value`](Self::call_value). It takes up to about 50
    /// bytes for each byte of the arguments, if they consist of numbers with one digit.
    #[must_use]
    pub fn with_call_values(mut self) -> Self {
        self.values = Some(CallValues::default());
        self
    }

    /// Sets what logs and metrics say about the response.
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    #[must_use]
    pub fn with_telemetry(mut self, telemetry: crate::Telemetry) -> Self {
        self.watch.set(telemetry);
        self
    }

    /// Stops reading: drops upstream and processes what was received, as at the end of the body. The
    /// remaining events are still emitted. Cancel safe. Calling it again does nothing.
    pub fn cancel(self: Pin<&mut Self>) {
        let this = self.project();
        pump::cancel(this.body, this.upstream, this.response);
    }

    /// The next event, if it is ready without polling upstream.
    pub(crate) fn take_ready(self: Pin<&mut Self>) -> Option<Event> {
        let this = self.project();
        let event = this.response.next()?;
        let _span = this.watch.enter();
        note(&event, this.values, this.watch);
        Some(event)
    }

    /// Ends early because of a call or an object. What was open ends as cut off, and counts as that.
    #[cfg(feature = "schema")]
    pub(crate) fn stop(mut self: Pin<&mut Self>, at: StoppedAt) {
        self.as_mut().cancel();
        let mut tool = None;
        while let Some(event) = self.as_mut().take_ready() {
            if let Event::CallEnded(call) = event
                && at == StoppedAt::Call(call.number())
            {
                tool = Some(call);
            }
        }
        let tool = tool.as_ref().map_or("", |call| call.name());
        let kind = if matches!(at, StoppedAt::Call(_)) { "call" } else { "object" };
        self.watch.judged(kind, tool, "stopped");
    }
}

impl<S, E> ResponseStream<S, E> {
    /// A hook, or the library for it, has judged a call or an object.
    pub(crate) fn judged(&self, candidate: &crate::Candidate, judgement: &'static str) {
        let (kind, tool) = candidate.kind();
        self.watch.judged(kind, tool, judgement);
    }

    /// The value of an open call as of the last event, as if everything open were closed. No schema is
    /// needed. A number or a literal is there as soon as something follows it. Nothing is copied.
    ///
    /// `None` without [`with_call_values`](Self::with_call_values), before the type of the value is known,
    /// and once the call has ended: [`Event::CallEnded`] has the arguments, and says whether they are
    /// complete.
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use wiremend_response::{Event, ResponseOptions};
    /// use wiremend_stream::ByteStreamExt;
    ///
    /// let piece = |fields: &str| {
    ///     format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":0,{fields}}}]}}}}]}}\n\n")
    /// };
    /// let body = stream::iter([
    ///     piece(r#""id":"c1","function":{"name":"mail","arguments":"{'to': 'ada', 'text': 'Dea"}"#),
    ///     piece(r#""function":{"arguments":"r Ada"}"#),
    /// ]);
    /// let body = body.map(Ok::<_, std::io::Error>);
    /// let mut events = body.read(ResponseOptions::new()).with_call_values();
    /// let mut shown = Vec::new();
    /// block_on(async {
    ///     while let Some(Ok(event)) = events.next().await {
    ///         if let Event::CallFragment { call, .. } = event {
    ///             let value = events.call_value(call).unwrap();
    ///             let text = value.member("text").and_then(|text| text.as_str()).unwrap();
    ///             shown.push(text.to_owned());
    ///         }
    ///     }
    /// });
    /// assert_eq!(shown, ["Dea", "Dear Ada"]);
    /// ```
    #[must_use]
    pub fn call_value(&self, call: usize) -> Option<Value<'_>> {
        self.values.as_ref()?.get(call)
    }
}

#[cfg(feature = "schema")]
impl<S, E> ResponseStream<S, E> {
    /// What is known about an open call as of the last chunk: the value so far with a state for each
    /// node, what may come next, and what is missing. Nothing is copied.
    ///
    /// `None` without [tools](ResponseOptions::with_tools); before the call has both a name and arguments;
    /// if its tool has no schema, or more arguments than the buffer limit arrived before its name; and once
    /// the call has ended, including when all of it came in one chunk.
    #[must_use]
    pub fn call_cursor(&self, call: usize) -> Option<&wiremend_schema::Cursor> {
        self.response.reader.call_cursor(call)
    }

    /// What is known about an open object in the text as of the last chunk, like
    /// [`call_cursor`](Self::call_cursor) for a call: the partial fit of the object.
    ///
    /// `None` without a [schema](ResponseOptions::with_schema); before the object begins; once it exceeds the
    /// object limit or the buffer limit, so that it will not be fitted; once something of the response was lost;
    /// and once the object has ended, including when all of it came in one chunk.
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use wiremend_schema::{FitOptions, Schema};
    /// use wiremend_response::{Event, ResponseOptions};
    /// use wiremend_stream::ByteStreamExt;
    ///
    /// let schema = Schema::from_text(r#"{"properties": {"days": {"type": "integer"}}}"#)?;
    /// let text = |text: &str| {
    ///     format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
    /// };
    /// let body = stream::iter([text("So: {days: '3', city: 'Os"), text("lo'}")]);
    /// let options = ResponseOptions::new().with_schema(&schema, FitOptions::new());
    /// let mut events = body.map(Ok::<_, std::io::Error>).read(options);
    /// let mut shown = Vec::new();
    /// block_on(async {
    ///     while let Some(Ok(event)) = events.next().await {
    ///         match event {
    ///             Event::ObjectFragment { object, .. } => {
    ///                 let cursor = events.object_cursor(object);
    ///                 shown.extend(cursor.and_then(|cursor| cursor.root()).map(|root| root.to_string()));
    ///             }
    ///             Event::ObjectFitted(fit) => shown.extend(fit.json().map(str::to_owned)),
    ///             _ => {}
    ///         }
    ///     }
    /// });
    /// assert_eq!(shown, [r#"{"days":3,"city":"Os"}"#, r#"{"days": 3, "city": "Oslo"}"#]);
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn object_cursor(&self, object: usize) -> Option<&wiremend_schema::Cursor> {
        self.response.reader.object_cursor(object)
    }
}

impl<S, B, E> Stream for ResponseStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    type Item = Result<Event, Error<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        let _span = this.watch.enter();
        let polled = pump::poll(this.body, this.upstream, this.response, cx);
        if let Poll::Ready(Some(Ok(event))) = &polled {
            note(event, this.values, this.watch);
        }
        polled
    }
}

impl<S, B, E> FusedStream for ResponseStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    fn is_terminated(&self) -> bool {
        self.body.is_none() && self.response.is_empty() && matches!(self.upstream, Upstream::Over)
    }
}

/// Looks at an event that is about to be emitted.
fn note(event: &Event, values: &mut Option<CallValues>, watch: &mut Watch) {
    watch.event(event);
    if let Some(values) = values {
        values.note(event);
    }
}

/// What can be done with any stream of byte chunks: [`read`](Self::read) and [`rewrite`](Self::rewrite) the body of a
/// response; [`mend`](Self::mend) a channel of text or JSON, or `fit` it to a schema; take `items` or a `typed` value
/// out of either.
pub trait ByteStreamExt<B, E>: Stream<Item = Result<B, E>> + Sized
where
    B: AsRef<[u8]>,
{
    /// Reads the stream as a provider's body. Cancel safe.
    ///
    /// With a schema for each tool:
    ///
    #[cfg_attr(feature = "schema", doc = "```")]
    #[cfg_attr(not(feature = "schema"), doc = "```ignore")]
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use wiremend_schema::{NodeState, Registry, SharedRegistry, Standing};
    /// use wiremend_response::{Event, ResponseOptions};
    /// use wiremend_stream::ByteStreamExt;
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
    ///     "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n".to_owned(),
    /// ]);
    /// let options = ResponseOptions::new().with_tools(&tools);
    /// let mut events = body.map(Ok::<_, std::io::Error>).read(options);
    /// let mut fitted = None;
    /// block_on(async {
    ///     while let Some(Ok(event)) = events.next().await {
    ///         match event {
    ///             Event::CallFragment { call, .. } => {
    ///                 // A number as soon as it is final, with more arguments still to come.
    ///                 let Some(cursor) = events.call_cursor(call) else { continue };
    ///                 let nights = cursor.root().and_then(|root| root.member("nights"));
    ///                 assert_eq!(nights.map(|n| (n.to_string(), n.state())),
    ///                     Some(("2".to_owned(), NodeState::Final)));
    ///             }
    ///             // Nothing can fix this call: do not wait for the rest of it.
    ///             Event::CallIssue { issue, .. } if issue.standing() == Standing::Lost => break,
    ///             Event::CallFitted(call) => fitted = call.arguments().map(str::to_owned),
    ///             _ => {}
    ///         }
    ///     }
    /// });
    /// assert_eq!(fitted.as_deref(), Some(r#"{"nights": 2, "room": "double"}"#));
    /// # Ok::<(), wiremend_schema::RegistryError>(())
    /// ```
    fn read(self, options: ResponseOptions) -> ResponseStream<Self, E> {
        ResponseStream::new(self, options)
    }

    /// Reads the stream as plain text or JSON, without a provider's envelope. Cancel safe. Chunks are
    /// `Bytes`, or a type that converts to `Bytes` without a copy (`Vec<u8>`, `String`, `&'static str`).
    fn mend(self, options: JsonOptions) -> JsonStream<Self, E>
    where
        B: Into<Bytes>,
    {
        JsonStream::new(self, options)
    }

    /// Fits a channel of text or JSON to a schema while it arrives. Cancel safe. For the arguments of a tool
    /// call, set the name of the tool and [`Policy::CONSERVATIVE`](wiremend_core::Policy::CONSERVATIVE) in the
    /// options.
    #[cfg(feature = "schema")]
    fn fit(
        self,
        schema: &wiremend_schema::Schema,
        options: wiremend_schema::FitOptions,
    ) -> crate::FitStream<Self, E> {
        crate::FitStream::new(self, schema, options)
    }

    /// Gives a provider's body again, with the arguments of tool calls mended: what a gateway sends on. Cancel
    /// safe.
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use wiremend_stream::ByteStreamExt;
    /// use wiremend_wire::{RewriteOptions, RewriteOutcome};
    ///
    /// let body = [
    ///     "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",",
    ///     "\"function\":{\"name\":\"add\",\"arguments\":\"{'a': 1}\"}}]}}]}\n\n",
    ///     "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
    /// ];
    /// let upstream = stream::iter(body).map(Ok::<_, std::io::Error>);
    /// let mut mended = upstream.rewrite(RewriteOptions::new());
    /// let mut sent = Vec::new();
    /// block_on(async {
    ///     while let Some(Ok(bytes)) = mended.next().await {
    ///         sent.extend_from_slice(&bytes);
    ///     }
    /// });
    /// assert_eq!(mended.outcome(), Some(RewriteOutcome::Mended));
    /// let want = body.concat().replace("{'a': 1}", "{\\\"a\\\": 1}");
    /// assert_eq!(String::from_utf8(sent).unwrap(), want);
    /// ```
    fn rewrite(self, options: RewriteOptions) -> RewriteStream<Self, E> {
        RewriteStream::new(self, options)
    }

    /// Reads the items of the array at a JSON Pointer (RFC 6901; the first slash may be missing), each as a
    /// `T` as soon as it closes. The empty pointer is the root. `options` says what the stream is:
    /// [`JsonOptions`] a channel of text or JSON, [`ResponseOptions`] the body of a provider's response.
    /// Cancel safe.
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use wiremend_stream::{JsonOptions, ByteStreamExt, ValueError};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct City {
    ///     name: String,
    /// }
    ///
    /// let chunks = ["{'items': [{'name': 'Oslo'}, {'na", "me': 'Bergen'}, {'name': 'Troms"];
    /// let channel = stream::iter(chunks).map(Ok::<_, std::io::Error>);
    /// let mut items = channel.items::<City>("/items", JsonOptions::new());
    /// block_on(async {
    ///     let oslo = items.next().await.unwrap().unwrap();
    ///     assert_eq!((oslo.index(), oslo.value().name.as_str()), (0, "Oslo"));
    ///     assert_eq!(items.next().await.unwrap().unwrap().value().name, "Bergen");
    ///     // What was cut off is not an item, and the end says so.
    ///     let cut = items.next().await.unwrap().err();
    ///     assert!(matches!(cut, Some(ValueError::Incomplete { items: 2, .. })));
    ///     assert!(items.next().await.is_none());
    /// });
    /// ```
    #[cfg(feature = "serde_json")]
    fn items<T>(
        self,
        pointer: &str,
        options: impl Into<crate::ValueOptions>,
    ) -> crate::ItemStream<Self, E, T> {
        crate::ItemStream::new(self, pointer, options.into())
    }

    /// Reads a document as a `T`: partial values while it grows, the whole one at the end. `options` says
    /// what the stream is: [`JsonOptions`] a channel of text or JSON, [`ResponseOptions`] the body of a
    /// provider's response. Cancel safe.
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use wiremend_stream::{JsonOptions, ByteStreamExt, TypedEvent};
    ///
    /// #[derive(Debug, PartialEq, serde::Deserialize)]
    /// struct Trip {
    ///     city: String,
    ///     days: u32,
    /// }
    ///
    /// /// What is shown: anything may still be missing.
    /// #[derive(serde::Deserialize)]
    /// struct Shown<'a> {
    ///     city: Option<&'a str>,
    /// }
    ///
    /// let chunks = ["{'city': 'Os", "lo', 'days': 3}"];
    /// let channel = stream::iter(chunks).map(Ok::<_, std::io::Error>);
    /// let mut events = channel.typed::<Trip>(JsonOptions::new());
    /// let mut shown = Vec::new();
    /// block_on(async {
    ///     while let Some(event) = events.next().await {
    ///         match event.unwrap() {
    ///             TypedEvent::Grew => {
    ///                 let partial = events.partial::<Shown>().unwrap().unwrap();
    ///                 shown.extend(partial.city.map(str::to_owned));
    ///             }
    ///             TypedEvent::Whole(trip) => {
    ///                 assert_eq!(trip, Trip { city: "Oslo".into(), days: 3 });
    ///             }
    ///             _ => {}
    ///         }
    ///     }
    /// });
    /// assert_eq!(shown[0], "Os");
    /// ```
    #[cfg(feature = "serde_json")]
    fn typed<T>(self, options: impl Into<crate::ValueOptions>) -> crate::TypedStream<Self, E, T> {
        crate::TypedStream::new(self, options.into())
    }
}

impl<S, B, E> ByteStreamExt<B, E> for S
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
}

// The values of open calls, without a schema.

/// Reads the fragments of each open call into a value of its own. The limits of the body bound how many
/// there are, and how long.
#[derive(Debug, Default)]
pub(crate) struct CallValues {
    open: BTreeMap<usize, Partial>,
}

impl CallValues {
    /// Looks at an event that is about to be emitted.
    pub(crate) fn note(&mut self, event: &Event) {
        match event {
            Event::CallBegan { call, .. } => {
                self.open.insert(*call, Partial::new());
            }
            Event::CallFragment { call, json, .. } => {
                if let Some(value) = self.open.get_mut(call) {
                    value.copy(json);
                }
            }
            Event::CallRaw { call, .. } => {
                if let Some(value) = self.open.get_mut(call) {
                    value.raw();
                }
            }
            Event::CallEnded(call) => {
                self.open.remove(&call.number());
            }
            _ => {}
        }
    }

    /// The value of an open call so far.
    pub(crate) fn get(&self, call: usize) -> Option<Value<'_>> {
        self.open.get(&call)?.root()
    }
}
