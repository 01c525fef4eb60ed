//! The adapter for a channel whose value has a schema.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::{Stream, stream::FusedStream};
use pin_project_lite::pin_project;
use wiremend_schema::{Cursor, EarlyIssue, FitOptions, Fitted, Fitter, Schema};

use crate::{
    Error,
    pump::{self, Reads, Upstream},
    telemetry::Watch,
};

/// What happened while a value was fitted to its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FitEvent {
    /// The text has ended: the value, valid for the schema, or the reason why there is none. The last event.
    Ended(Box<Fitted>),
    /// Something is wrong that no further text can fix. With
    /// [`Standing::Lost`](wiremend_schema::Standing::Lost) no rule can fix it either, so reading on is
    /// pointless: call [`cancel`](FitStream::cancel) or drop the stream.
    Issue(EarlyIssue),
    /// The value grew. [`FitStream::cursor`] gives it, with the state of each node.
    Grew,
}

pin_project! {
    /// Reads a channel of text or JSON against a schema: a stream of byte chunks in, a stream of
    /// [`FitEvent`]s out. Created with [`ByteStreamExt::fit`](crate::ByteStreamExt::fit).
    ///
    /// Between two events, [`cursor`](Self::cursor) is a view of the value as of the last event. Nothing is
    /// copied for it. The last event holds the result of [`Schema::fit`] for the whole text, which is
    /// buffered for this up to the buffer limit of the options. The early issues, and the final value, do not
    /// depend on how the text is split into chunks; the number of [`FitEvent::Grew`] events does.
    ///
    /// When upstream fails, everything it yielded is processed first and the error is the last item. After
    /// that the stream has ended and stays ended.
    ///
    /// **Cancel safe**: the stream, or a future waiting for its next item, may be dropped at any time.
    /// **Back-pressure**: upstream is polled only after all previous events have been taken.
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use wiremend_schema::{FitOptions, NodeState, Schema};
    /// use wiremend_stream::{ByteStreamExt, FitEvent};
    ///
    /// let schema = Schema::from_text(
    ///     r#"{"properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    ///         "required": ["city", "days"]}"#,
    /// )?;
    /// let chunks = ["Sure: {\"days\": '3', \"city\": \"Par", "is\"} Enjoy!"];
    /// let channel = stream::iter(chunks).map(Ok::<_, std::io::Error>);
    /// let mut events = channel.fit(&schema, FitOptions::new());
    /// let mut shown = Vec::new();
    /// block_on(async {
    ///     while let Some(Ok(event)) = events.next().await {
    ///         match event {
    ///             FitEvent::Grew => {
    ///                 let root = events.cursor().and_then(|cursor| cursor.root()).unwrap();
    ///                 shown.push(root.to_string());
    ///             }
    ///             FitEvent::Ended(fitted) => {
    ///                 assert_eq!(fitted.text(), Some(r#"{"days": 3, "city": "Paris"}"#));
    ///             }
    ///             event => panic!("{event:?}"),
    ///         }
    ///     }
    /// });
    /// assert_eq!(shown[0], r#"{"days":3,"city":"Par"}"#);
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    #[derive(Debug)]
    pub struct FitStream<S, E> {
        #[pin]
        channel: Option<S>,
        upstream: Upstream<E>,
        fitting: Fitting,
    }
}

impl<S, B, E> FitStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    pub(crate) fn new(channel: S, schema: &Schema, options: FitOptions) -> Self {
        let fitting = Fitting {
            open: Some(Fitter::new(schema, options)),
            reported: 0,
            shown: 0,
            queue: VecDeque::new(),
            watch: Watch::new(true),
        };
        Self { channel: Some(channel), upstream: Upstream::Open, fitting }
    }

    /// Sets what logs and metrics say about the value.
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    #[must_use]
    pub fn with_telemetry(mut self, telemetry: crate::Telemetry) -> Self {
        self.fitting.watch.set(telemetry);
        self
    }

    /// Stops reading: drops upstream and processes what was received, as at the end of the channel. The
    /// remaining events are still emitted. Cancel safe. Calling it again does nothing.
    pub fn cancel(self: Pin<&mut Self>) {
        let this = self.project();
        pump::cancel(this.channel, this.upstream, this.fitting);
    }
}

impl<S, E> FitStream<S, E> {
    /// What is known so far: the value, what may come next, and what is missing. `None` once upstream has
    /// ended and the value is final.
    #[must_use]
    pub const fn cursor(&self) -> Option<&Cursor> {
        match &self.fitting.open {
            Some(stream) => Some(stream.cursor()),
            None => None,
        }
    }
}

impl<S, B, E> Stream for FitStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    type Item = Result<FitEvent, Error<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        let _span = this.fitting.watch.enter();
        pump::poll(this.channel, this.upstream, this.fitting, cx)
    }
}

impl<S, B, E> FusedStream for FitStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    fn is_terminated(&self) -> bool {
        let over = matches!(self.upstream, Upstream::Over);
        self.channel.is_none() && self.fitting.queue.is_empty() && over
    }
}

/// Turns chunks into events.
#[derive(Debug)]
struct Fitting {
    /// `None` once the text has ended.
    open: Option<Fitter>,
    /// How many early issues have been emitted.
    reported: usize,
    /// How many bytes of the value had been read at the last [`FitEvent::Grew`].
    shown: usize,
    queue: VecDeque<FitEvent>,
    watch: Watch,
}

impl Fitting {
    fn report_issues(&mut self, cursor: &Cursor) {
        let issues = cursor.early_issues();
        let new = issues.get(self.reported..).unwrap_or_default();
        self.queue.extend(new.iter().cloned().map(FitEvent::Issue));
        self.reported = issues.len();
    }
}

impl<B: AsRef<[u8]>> Reads<B> for Fitting {
    type Event = FitEvent;

    fn next(&mut self) -> Option<FitEvent> {
        self.queue.pop_front()
    }

    fn push(&mut self, chunk: B) {
        let Some(mut stream) = self.open.take() else { return };
        stream.push(chunk.as_ref());
        self.report_issues(stream.cursor());
        let read = stream.cursor().bytes_read();
        if read > self.shown && stream.cursor().root().is_some() {
            self.shown = read;
            self.queue.push_back(FitEvent::Grew);
        }
        self.open = Some(stream);
    }

    fn finish(&mut self) {
        let Some(mut stream) = self.open.take() else { return };
        stream.end();
        self.report_issues(stream.cursor());
        let fitted = stream.finish();
        self.watch.fitted(("value", ""), &fitted, fitted.outcome());
        self.queue.push_back(FitEvent::Ended(Box::new(fitted)));
    }
}
