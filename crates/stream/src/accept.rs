//! A hook of the caller before a call or an object is handed out.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::{Stream, stream::FusedStream};
use pin_project_lite::pin_project;
use wiremend_core::Outcome;
#[cfg(feature = "schema")]
use wiremend_response::{CallCheck, FittedCall, FittedObject};
use wiremend_response::{Event, Object};
#[cfg(feature = "schema")]
use wiremend_schema::{EarlyIssue, Standing};
use wiremend_wire::Call;

use crate::{Error, ResponseStream};

/// What the hook decides.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Hand it out.
    Accept,
    /// Do not hand it out, for this reason.
    Refuse(String),
    /// Hand out this JSON text instead. It is the caller's, and is not checked.
    Replace(String),
}

/// What to do with a call or an object that is longer than the cap, or with an object that is longer than the buffer
/// limit of [`with_mending`](wiremend_response::ResponseOptions::with_mending), up to which one is fitted to a schema.
///
/// What is longer than a limit of the response, past which nothing of it is kept, is always
/// [`Judgement::TooLong`]: for an object
/// [`with_object_limit`](wiremend_response::ResponseOptions::with_object_limit), by default 8 MiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Oversized {
    /// It is [`Judgement::TooLong`]: it must not be used.
    #[default]
    Error,
    /// It is [`Judgement::Unchecked`]: the mended text, to which no schema was fitted and about which the
    /// hook was not asked. One that is not complete is [`Judgement::Incomplete`].
    PassUnchecked,
    /// It is [`Judgement::Raw`]: the text as the model wrote it, which need not be JSON. One of which a part
    /// may be missing is [`Judgement::Incomplete`]. The text of an object that was repaired is kept only with
    /// [`with_raw_objects`](wiremend_response::ResponseOptions::with_raw_objects); without that, such an object is
    /// [`Judgement::TooLong`].
    PassRaw,
}

/// The options of an [`AcceptStream`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptOptions {
    cap: usize,
    oversized: Oversized,
    #[cfg(feature = "schema")]
    stops_at_calls: bool,
    #[cfg(feature = "schema")]
    stops_at_objects: bool,
}

impl AcceptOptions {
    /// The defaults. Each method documents its own.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            cap: 65_536,
            oversized: Oversized::Error,
            #[cfg(feature = "schema")]
            stops_at_calls: false,
            #[cfg(feature = "schema")]
            stops_at_objects: false,
        }
    }

    /// Sets how many bytes the text of a call or an object may have, and what happens to a longer one. The
    /// fragments are emitted in any case. This bounds what the hook receives; what is kept until then is
    /// bounded by the limits of the response.
    ///
    /// ### Default
    /// 65,536 bytes, [`Oversized::Error`].
    #[must_use]
    pub const fn with_cap(mut self, bytes: usize, oversized: Oversized) -> Self {
        self.cap = bytes;
        self.oversized = oversized;
        self
    }

    /// Ends the stream as soon as something is wrong with a call that neither more text nor a rule can fix
    /// ([`Standing::Lost`](wiremend_schema::Standing::Lost)): upstream is dropped, and [`AcceptEvent::Stopped`] is the
    /// last event. Needs [tools](wiremend_response::ResponseOptions). After a repair that is not
    /// [`Exact`](wiremend_core::Risk::Exact), a call is read to its end, because the whole of it may show another
    /// reading. The one thing that could still come is the same key once more, with a value that fits.
    ///
    /// ### Default
    /// It is read to its end.
    #[cfg(feature = "schema")]
    #[must_use]
    pub const fn with_early_stop(mut self) -> Self {
        self.stops_at_calls = true;
        self
    }

    /// The same for an object in the text. Needs a [schema](wiremend_response::ResponseOptions) for it, and a policy for objects
    /// without guesses: under the default one, which allows them, nothing is given up before its end.
    ///
    /// A model may write an object that is not its answer, such as a draft, and the stream ends because of that,
    /// too: set this where every object should fit.
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use wiremend_core::{MendOptions, Policy};
    /// use wiremend_schema::{FitOptions, Schema};
    /// use wiremend_response::ResponseOptions;
    /// use wiremend_stream::{AcceptEvent, AcceptOptions, Candidate, Decision, ByteStreamExt, StoppedAt};
    ///
    /// let schema = Schema::from_text(r#"{"properties": {"days": {"type": "integer"}}}"#)?;
    /// let options = ResponseOptions::new()
    ///     .with_schema(&schema, FitOptions::new())
    ///     .with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE));
    /// let text = |text: &str| {
    ///     format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
    /// };
    /// let body = stream::iter([text("{'days': 1.5, 'note': 'on"), text("and on")]);
    /// let hook = |_: &Candidate| std::future::ready(Decision::Accept);
    /// let accept = AcceptOptions::new().with_early_stop_at_objects();
    /// let events = body.map(Ok::<_, std::io::Error>).read(options).accept(accept, hook);
    /// let events: Vec<_> = block_on(events.collect());
    /// let Some(Ok(AcceptEvent::Stopped { at, issue, read, .. })) = events.last() else { panic!() };
    /// assert_eq!((*at, *read), (StoppedAt::Object(0), "{'days': 1.5".len()));
    /// assert_eq!(issue.to_string(), "/days: expected integer, got number 1.5");
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    ///
    /// ### Default
    /// It is read to its end.
    #[cfg(feature = "schema")]
    #[must_use]
    pub const fn with_early_stop_at_objects(mut self) -> Self {
        self.stops_at_objects = true;
        self
    }
}

impl Default for AcceptOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// What happened in a response with a hook.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AcceptEvent {
    /// Anything else than the end or the fit of a call or an object.
    Event(Event),
    /// A call or an object has ended and was judged.
    #[non_exhaustive]
    Judged {
        /// The call or the object.
        candidate: Candidate,
        /// What became of it.
        judgement: Judgement,
    },
    /// The stream was ended early ([`AcceptOptions::with_early_stop`],
    /// [`AcceptOptions::with_early_stop_at_objects`]). Calls and objects that were open are
    /// not judged; they are not complete.
    #[cfg(feature = "schema")]
    #[non_exhaustive]
    Stopped {
        /// Because of what.
        at: StoppedAt,
        /// What is wrong with it.
        issue: Box<wiremend_schema::EarlyIssue>,
        /// How much of it, in bytes of mended text, it took to be certain. All that follows was spared, but for
        /// the rest of the chunk. It does not depend on the chunks.
        read: usize,
    },
}

/// How many calls and objects were judged, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AcceptCounts {
    /// The hook accepted them.
    pub accepted: u64,
    /// They are not complete, or do not fit.
    pub incomplete: u64,
    /// They passed without the hook, unchecked or raw.
    pub passed: u64,
    /// The hook refused them.
    pub refused: u64,
    /// The hook replaced them.
    pub replaced: u64,
    /// They are longer than the cap, or than a limit of the response, and did not pass.
    pub too_long: u64,
    /// The stream was ended early because of them ([`AcceptEvent::Stopped`]).
    pub stopped: u64,
    /// They call a tool that is not registered.
    pub unknown_tool: u64,
}

impl AcceptCounts {
    const fn count(&mut self, judgement: &Judgement) {
        let counter = match judgement {
            Judgement::Accepted(_) => &mut self.accepted,
            Judgement::Incomplete => &mut self.incomplete,
            Judgement::Raw(_) | Judgement::Unchecked(_) => &mut self.passed,
            Judgement::Refused(_) => &mut self.refused,
            Judgement::Replaced(_) => &mut self.replaced,
            Judgement::TooLong => &mut self.too_long,
            Judgement::UnknownTool => &mut self.unknown_tool,
        };
        *counter += 1;
    }
}

/// Whether to end early, which takes a schema.
#[cfg(feature = "schema")]
type EarlyStop = Stop;
#[cfg(not(feature = "schema"))]
type EarlyStop = ();

pin_project! {
    /// Asks a hook before a call or an object of a response is handed out. Created with
    /// [`ResponseStream::accept`].
    ///
    /// Each call and each object gives one [`AcceptEvent::Judged`], in the order of the stream, in place of
    /// the events for its end and its fit. The hook is asked only about what is complete and, with a schema,
    /// fits; it may accept, refuse or replace it, or wait as long as it likes. While it waits, nothing is
    /// polled: neither upstream nor a later event. A hook that never answers holds the stream up; a deadline
    /// is the hook's own to set.
    ///
    /// **Cancel safe**: the stream, or a future waiting for its next item, may be dropped at any time. A hook
    /// that has begun is continued by the next poll, and is dropped with the stream.
    pub struct AcceptStream<S, E, H, F> {
        #[pin]
        events: ResponseStream<S, E>,
        hook: H,
        #[pin]
        answer: Option<F>,
        asked: Option<Candidate>,
        // An event that was taken from the reader to see whether it is a fit.
        next: Option<Event>,
        options: AcceptOptions,
        counts: AcceptCounts,
        early: EarlyStop,
        over: bool,
    }
}

impl<S, B, E> ResponseStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    /// Asks `hook` before a call or an object is handed out. A hook that need not wait returns
    /// [`std::future::ready`].
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use wiremend_response::ResponseOptions;
    /// use wiremend_stream::{AcceptEvent, AcceptOptions, Candidate, Decision, Judgement, ByteStreamExt};
    ///
    /// let body = stream::iter([
    ///     "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",",
    ///     "\"function\":{\"name\":\"delete\",\"arguments\":\"{'path': '/'}\"}}]}}]}\n\n",
    ///     "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
    /// ]);
    /// let hook = |candidate: &Candidate| {
    ///     // A lookup may be awaited here.
    ///     let is_root = candidate.json() == Some(r#"{"path": "/"}"#);
    ///     async move { if is_root { Decision::Refuse("not /".into()) } else { Decision::Accept } }
    /// };
    /// let events = body.map(Ok::<_, std::io::Error>).read(ResponseOptions::new());
    /// let mut events = Box::pin(events.accept(AcceptOptions::new(), hook));
    /// block_on(async {
    ///     while let Some(event) = events.next().await {
    ///         if let AcceptEvent::Judged { judgement, .. } = event.unwrap() {
    ///             assert_eq!(judgement, Judgement::Refused("not /".into()));
    ///         }
    ///     }
    /// });
    /// assert_eq!(events.counts().refused, 1);
    /// ```
    #[must_use]
    pub fn accept<H, F>(self, options: AcceptOptions, hook: H) -> AcceptStream<S, E, H, F>
    where
        H: FnMut(&Candidate) -> F,
        F: Future<Output = Decision>,
    {
        #[cfg(feature = "schema")]
        let early = Stop::new(options.stops_at_calls, options.stops_at_objects);
        #[cfg(not(feature = "schema"))]
        let early = ();
        AcceptStream {
            events: self,
            hook,
            answer: None,
            asked: None,
            next: None,
            options,
            counts: AcceptCounts::default(),
            early,
            over: false,
        }
    }
}

impl<S, E, H, F> AcceptStream<S, E, H, F> {
    /// How many calls and objects were judged so far, and how.
    #[must_use]
    pub const fn counts(&self) -> AcceptCounts {
        self.counts
    }

    /// Stops early, as [`ResponseStream::cancel`] does: upstream is dropped at once, and what was received is
    /// judged. What is open is not complete, so the hook is not asked about it. A hook that has begun goes on.
    pub fn cancel<B>(self: Pin<&mut Self>)
    where
        S: Stream<Item = Result<B, E>>,
        B: AsRef<[u8]>,
    {
        self.project().events.cancel();
    }

    /// The stream of events, for the values of open calls.
    #[must_use]
    pub const fn events(&self) -> &ResponseStream<S, E> {
        &self.events
    }
}

impl<S, B, E, H, F> Stream for AcceptStream<S, E, H, F>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
    H: FnMut(&Candidate) -> F,
    F: Future<Output = Decision>,
{
    type Item = Result<AcceptEvent, Error<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        loop {
            if let Some(answer) = this.answer.as_mut().as_pin_mut() {
                let decision = ready!(answer.poll(cx));
                this.answer.set(None);
                let Some(candidate) = this.asked.take() else { continue };
                let judgement = match decision {
                    Decision::Accept => {
                        Judgement::Accepted(candidate.json().unwrap_or_default().to_owned())
                    }
                    Decision::Refuse(reason) => Judgement::Refused(reason),
                    Decision::Replace(json) => Judgement::Replaced(json),
                };
                this.counts.count(&judgement);
                this.events.judged(&candidate, judgement.code());
                return Poll::Ready(Some(Ok(AcceptEvent::Judged { candidate, judgement })));
            }
            if *this.over {
                return Poll::Ready(None);
            }
            let event = match this.next.take() {
                Some(event) => event,
                None => match ready!(this.events.as_mut().poll_next(cx)) {
                    Some(Ok(event)) => event,
                    Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                    None => return Poll::Ready(None),
                },
            };
            #[cfg(feature = "schema")]
            if let Some((at, issue)) = this.early.reason(&event) {
                let (issue, read) = (Box::new(issue.clone()), issue.offset() + 1);
                *this.over = true;
                this.counts.stopped += 1;
                this.events.as_mut().stop(at);
                return Poll::Ready(Some(Ok(AcceptEvent::Stopped { at, issue, read })));
            }
            let candidate = match event {
                Event::CallEnded(call) => {
                    let following = this.events.as_mut().take_ready();
                    #[cfg(feature = "schema")]
                    let (following, fit) = match following {
                        Some(Event::CallFitted(fit)) => (None, Some(fit)),
                        other => (other, None),
                    };
                    *this.next = following;
                    Candidate::Call {
                        call,
                        #[cfg(feature = "schema")]
                        fit,
                    }
                }
                Event::ObjectEnded(object) => {
                    let following = this.events.as_mut().take_ready();
                    #[cfg(feature = "schema")]
                    let (following, fit) = match following {
                        Some(Event::ObjectFitted(fit)) => (None, Some(fit)),
                        other => (other, None),
                    };
                    *this.next = following;
                    Candidate::Object {
                        object: Some(object),
                        #[cfg(feature = "schema")]
                        fit,
                    }
                }
                #[cfg(feature = "schema")]
                Event::ObjectFitted(fit) => Candidate::Object { object: None, fit: Some(fit) },
                event => return Poll::Ready(Some(Ok(AcceptEvent::Event(event)))),
            };
            if let Some(judgement) = judge(&candidate, *this.options) {
                this.counts.count(&judgement);
                this.events.judged(&candidate, judgement.code());
                return Poll::Ready(Some(Ok(AcceptEvent::Judged { candidate, judgement })));
            }
            this.answer.set(Some((this.hook)(&candidate)));
            *this.asked = Some(candidate);
        }
    }
}

impl<S, B, E, H, F> FusedStream for AcceptStream<S, E, H, F>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
    H: FnMut(&Candidate) -> F,
    F: Future<Output = Decision>,
{
    fn is_terminated(&self) -> bool {
        let taken = self.answer.is_none() && self.next.is_none();
        self.over || (taken && self.events.is_terminated())
    }
}

impl<S: fmt::Debug, E: fmt::Debug, H, F> fmt::Debug for AcceptStream<S, E, H, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcceptStream")
            .field("events", &self.events)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

// What a hook is asked about, and what became of it.

/// A call or an object that has ended, complete and valid as far as the library knows: what the hook
/// decides about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Candidate {
    /// A tool call. With tools, its arguments fit the schema of the tool, or the tool has none.
    #[non_exhaustive]
    Call {
        /// The call.
        call: Arc<Call>,
        /// How it fits the schema of its tool. `None` without tools.
        #[cfg(feature = "schema")]
        fit: Option<Box<FittedCall>>,
    },
    /// An object in the text. With a schema, it fits.
    #[non_exhaustive]
    Object {
        /// The object. `None` for a text that only the schema could read, as a whole.
        object: Option<Box<Object>>,
        /// How it fits the schema for the text. `None` without a schema.
        #[cfg(feature = "schema")]
        fit: Option<Box<FittedObject>>,
    },
}

impl Candidate {
    /// The name of the tool to judge a call by: the one under which it is registered if there are
    /// tools, otherwise the one that the model wrote. The model may write it in another way, such as
    /// `functions.delete` for `delete`, so a hook that compares [`Call::name`] can be bypassed.
    /// `None` for an object.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        match self {
            #[cfg(feature = "schema")]
            Self::Call { call, fit: Some(fit) } => match fit.check() {
                CallCheck::Fitted { tool, .. } => Some(tool),
                _ => Some(call.name()),
            },
            Self::Call { call, .. } => Some(call.name()),
            Self::Object { .. } => None,
        }
    }

    /// The JSON text: fitted to the schema if there is one, otherwise mended. `None` if it is not complete
    /// or does not fit, and so must not be used.
    #[must_use]
    pub fn json(&self) -> Option<&str> {
        match self {
            #[cfg(feature = "schema")]
            Self::Call { fit: Some(fit), .. } if !matches!(fit.check(), CallCheck::Unchecked) => {
                fit.arguments()
            }
            #[cfg(feature = "schema")]
            Self::Object { fit: Some(fit), .. } => {
                fit.json().filter(|_| fit.outcome().is_complete())
            }
            Self::Call { .. } | Self::Object { .. } => self.mended(),
        }
    }

    /// The mended text, before any schema. `None` if it is not complete.
    fn mended(&self) -> Option<&str> {
        match self {
            Self::Call { call, .. } => call.outcome().is_complete().then(|| call.arguments()),
            Self::Object { object, .. } => {
                let object = object.as_ref()?;
                object.json().filter(|_| object.outcome().is_complete())
            }
        }
    }

    /// The text as the model wrote it, if nothing of it is missing.
    fn raw(&self) -> Option<&str> {
        match self {
            Self::Call { call, .. } => {
                let is_there = call.outcome().is_complete() || call.outcome() == Outcome::Invalid;
                (is_there && call.doubt().is_none()).then(|| call.raw())
            }
            Self::Object { object, .. } => {
                let object = object.as_ref()?;
                let is_there =
                    object.outcome().is_complete() || object.outcome() == Outcome::Invalid;
                object.raw().filter(|_| is_there && object.doubt().is_none())
            }
        }
    }

    /// Whether it is a call of a tool that is not registered.
    fn is_of_unknown_tool(&self) -> bool {
        match self {
            #[cfg(feature = "schema")]
            Self::Call { fit: Some(fit), .. } => matches!(fit.check(), CallCheck::Unknown { .. }),
            _ => false,
        }
    }

    /// Whether it passed a limit of the response, so that its text is not there.
    fn has_overflowed(&self) -> bool {
        match self {
            Self::Call { call, .. } => call.outcome() == Outcome::Overflow,
            Self::Object { object: Some(object), .. } => object.outcome() == Outcome::Overflow,
            Self::Object { object: None, .. } => self.is_too_long_to_fit(),
        }
    }

    /// Whether it is an object with more bytes than are kept to fit it to the schema.
    fn is_too_long_to_fit(&self) -> bool {
        match self {
            #[cfg(feature = "schema")]
            Self::Object { fit: Some(fit), .. } => fit.fitted().is_none(),
            _ => false,
        }
    }

    /// Whether the text as the model wrote it was kept.
    fn has_raw(&self) -> bool {
        match self {
            Self::Call { .. } => true,
            Self::Object { object, .. } => {
                object.as_ref().is_some_and(|object| object.raw().is_some())
            }
        }
    }

    /// `call` or `object`, and the name of the tool.
    pub(crate) fn kind(&self) -> (&'static str, &str) {
        match self {
            Self::Call { call, .. } => ("call", call.name()),
            Self::Object { .. } => ("object", ""),
        }
    }

    /// How many bytes it has: the larger one of the mended text and what a schema made of it.
    fn length(&self) -> usize {
        let mended = match self {
            Self::Call { call, .. } => call.arguments().len().max(call.raw().len()),
            Self::Object { object, .. } => object.as_ref().map_or(0, |object| {
                let lengths = [object.json(), object.raw()].map(|text| text.map_or(0, str::len));
                lengths[0].max(lengths[1])
            }),
        };
        mended.max(self.json().map_or(0, str::len))
    }
}

/// What became of a call or an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Judgement {
    /// The hook accepted it: its text.
    Accepted(String),
    /// It is cut off, may lack a part, cannot be repaired, or does not fit its schema. The hook was not asked. The
    /// candidate says why.
    Incomplete,
    /// It is too long ([`Oversized`]), and passed as received ([`Oversized::PassRaw`]).
    Raw(String),
    /// The hook refused it, for this reason.
    Refused(String),
    /// The hook replaced it with this text.
    Replaced(String),
    /// It is too long ([`Oversized`]), or longer than a limit of the response, past which nothing of it is kept. The hook
    /// was not asked.
    TooLong,
    /// It is too long ([`Oversized`]), and passed without a schema or the hook ([`Oversized::PassUnchecked`]).
    Unchecked(String),
    /// It calls a tool that is not registered, whatever its arguments are. The hook was not asked. The
    /// [fit](Candidate::Call::fit) of the candidate has the nearest name.
    UnknownTool,
}

impl Judgement {
    /// A stable lowercase code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Accepted(_) => "accepted",
            Self::Incomplete => "incomplete",
            Self::Raw(_) => "raw",
            Self::Refused(_) => "refused",
            Self::Replaced(_) => "replaced",
            Self::TooLong => "too-long",
            Self::Unchecked(_) => "unchecked",
            Self::UnknownTool => "unknown-tool",
        }
    }

    /// The JSON text to use: what was accepted or replaced. `None` for everything else, including what passed
    /// unchecked.
    #[must_use]
    pub fn json(&self) -> Option<&str> {
        match self {
            Self::Accepted(json) | Self::Replaced(json) => Some(json),
            _ => None,
        }
    }
}

/// The judgement about a candidate, unless the hook has to be asked.
fn judge(candidate: &Candidate, options: AcceptOptions) -> Option<Judgement> {
    if candidate.is_of_unknown_tool() {
        return Some(Judgement::UnknownTool);
    }
    if candidate.has_overflowed() {
        return Some(Judgement::TooLong);
    }
    if candidate.length() > options.cap || candidate.is_too_long_to_fit() {
        let passed = match options.oversized {
            Oversized::PassRaw if candidate.has_raw() => {
                candidate.raw().map(|text| Judgement::Raw(text.to_owned()))
            }
            Oversized::PassUnchecked => {
                candidate.mended().map(|json| Judgement::Unchecked(json.to_owned()))
            }
            Oversized::Error | Oversized::PassRaw => Some(Judgement::TooLong),
        };
        return Some(passed.unwrap_or(Judgement::Incomplete));
    }
    candidate.json().is_none().then_some(Judgement::Incomplete)
}

// Ending a stream early, because of a call or an object that nothing can fix.

/// Because of what a stream was ended early.
#[cfg(feature = "schema")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoppedAt {
    /// The call with this number.
    Call(usize),
    /// The object in the text with this number.
    Object(usize),
}

/// Which early issues are a reason to end a stream.
#[cfg(feature = "schema")]
#[derive(Clone, Copy, Debug)]
struct Stop {
    at_calls: bool,
    at_objects: bool,
}

#[cfg(feature = "schema")]
impl Stop {
    const fn new(at_calls: bool, at_objects: bool) -> Self {
        Self { at_calls, at_objects }
    }

    /// Whether an event is a reason to end the stream: because of what, and what is wrong with that.
    fn reason(self, event: &Event) -> Option<(StoppedAt, &EarlyIssue)> {
        let (at, issue) = match event {
            Event::CallIssue { call, issue, .. } if self.at_calls => {
                (StoppedAt::Call(*call), issue)
            }
            Event::ObjectIssue { object, issue, .. } if self.at_objects => {
                (StoppedAt::Object(*object), &**issue)
            }
            _ => return None,
        };
        (issue.standing() == Standing::Lost).then_some((at, issue))
    }
}
