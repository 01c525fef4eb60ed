//! The documents of a channel of text, of the texts of a response, or of the arguments of its calls.

use std::{
    collections::{BTreeMap, VecDeque},
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use pin_project_lite::pin_project;
use serde::de::DeserializeOwned;
use wiremend_core::MendOptions;
use wiremend_extract::{Finder, Scope, TextSink};
use wiremend_response::{Event, ResponseOptions, ResponseReader};
#[cfg(feature = "schema")]
use wiremend_schema::{FitOptions, Schema};
#[cfg(feature = "schema")]
use wiremend_wire::Guides;
use wiremend_wire::{Block, Call, Doubt, WireError};

use crate::{
    JsonOptions, ValueError,
    pump::{self, Reads, Upstream},
    telemetry::Watch,
};

/// How many texts of one response are read. No real response has this many.
const MOST_TEXTS: usize = 1024;

/// Where the documents are, and how they are repaired: made from [`JsonOptions`] for a channel of text or
/// JSON, and from [`ResponseOptions`] for the body of a provider's response.
///
/// Of the options for a response, those of the envelope are used
/// ([`with_wire`](ResponseOptions::with_wire)), and where objects are, how they are repaired and how large
/// they may be. Without [`with_objects`](ResponseOptions::with_objects), each text of the response should be
/// one document ([`Scope::Whole`]).
///
/// [`arguments_of`](Self::arguments_of) reads the arguments of tool calls instead of the texts. `with_schema` fits
/// each value to a schema.
#[derive(Clone, Debug)]
pub struct ValueOptions {
    body: Option<ResponseOptions>,
    /// The tool whose calls are read instead of the texts.
    tool: Option<Box<str>>,
    scope: Scope,
    mending: MendOptions,
    limit: usize,
    target: Target,
}

/// What each value is fitted to, if there is a schema.
#[derive(Clone, Debug, Default)]
struct Target {
    #[cfg(feature = "schema")]
    schema: Option<(Schema, FitOptions)>,
}

/// How the values of a channel are read.
#[derive(Debug)]
pub(crate) struct Values<'a> {
    target: &'a Target,
    limit: usize,
    pub(crate) watch: &'a Watch,
}

impl Values<'_> {
    /// Reads a complete value, or an item, as a `T`, after it was fitted. `None` is one that was too long to be kept.
    pub(crate) fn read<T: DeserializeOwned, E>(
        &self,
        index: Option<usize>,
        json: Option<&[u8]>,
    ) -> Result<T, ValueError<E>> {
        let json = json.ok_or(ValueError::TooLong { index, limit: self.limit })?;
        let text = |json: &[u8]| String::from_utf8_lossy(json).into_owned();
        #[cfg(feature = "schema")]
        let schema = self.target.schema.as_ref();
        #[cfg(feature = "schema")]
        let fitted = schema.map(|(schema, options)| schema.fit(json, options));
        #[cfg(feature = "schema")]
        let json = match &fitted {
            None => json,
            Some(fitted) => {
                self.watch.fitted(("value", ""), fitted, fitted.outcome());
                let Some(fits) = fitted.text().filter(|_| fitted.outcome().is_complete()) else {
                    let (json, issues) = (text(json), fitted.issues().to_vec());
                    return Err(ValueError::Fit { index, json, issues });
                };
                fits.as_bytes()
            }
        };
        #[cfg(not(feature = "schema"))]
        let _ = self.target;
        serde_json::from_slice(json).map_err(|error| ValueError::Type {
            index,
            json: text(json),
            error,
        })
    }
}

impl ValueOptions {
    /// The arguments of the calls of one tool in the body of a response: each call is a document. The texts are
    /// not read, and neither are the calls of other tools.
    ///
    /// What is emitted while a call is open has arrived whole. Only its end says whether the call is complete; if
    /// it is not, [`ValueError::Incomplete`] comes. It also comes, with [`Outcome::Invalid`](wiremend_core::Outcome::Invalid), in the rare case that
    /// the whole of the arguments is read in another way than they were as they arrived. `options` also say how
    /// calls are repaired, and how large an item or a value may be
    /// ([`with_object_limit`](ResponseOptions::with_object_limit)). A call counts by the name in the stream.
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use wiremend_response::ResponseOptions;
    /// use wiremend_stream::{ByteStreamExt, ValueOptions};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Row {
    ///     city: String,
    /// }
    ///
    /// let piece = |fields: &str| {
    ///     format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":0,{fields}}}]}}}}]}}\n\n")
    /// };
    /// let body = stream::iter([
    ///     piece(r#""id":"c1","function":{"name":"add_rows","arguments":"{'rows': [{'city': 'Os"}"#),
    ///     piece(r#""function":{"arguments":"lo'}, {'city': 'Bergen'}]}"}"#),
    ///     "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n".to_owned(),
    /// ]);
    /// let options = ValueOptions::arguments_of("add_rows", ResponseOptions::new());
    /// let mut rows = body.map(Ok::<_, std::io::Error>).items::<Row>("/rows", options);
    /// let mut cities = Vec::new();
    /// block_on(async {
    ///     while let Some(row) = rows.next().await {
    ///         let row = row.unwrap();
    ///         assert_eq!(row.call(), Some(0));
    ///         cities.push(row.into_value().city);
    ///     }
    /// });
    /// assert_eq!(cities, ["Oslo", "Bergen"]);
    /// ```
    #[must_use]
    pub fn arguments_of(tool: &str, options: ResponseOptions) -> Self {
        let (wire, mending) = (options.wire(), options.wire().mending().clone());
        let policy = wire.policies().and_then(|policies| policies.find(tool));
        Self {
            scope: Scope::Whole,
            mending: policy.map_or(mending.clone(), |policy| mending.with_policy(policy)),
            limit: options.object_limit(),
            tool: Some(tool.into()),
            body: Some(options),
            target: Target::default(),
        }
    }

    /// Fits each complete value to a schema before it becomes a Rust type: an item of [`items`], whose schema this is, as
    /// soon as it closes, and the whole value of [`typed`]. What does not fit is a [`ValueError::Fit`], with what is
    /// wrong. The mending of `options` is that of the values, whose policy bounds the rules as well, and their
    /// scope is set. For [`typed`], the schema also decides what the bytes of the value leave open, unless
    /// the options for mending have a guide of their own. A value that still [grows](crate::TypedStream::value) is not fitted.
    ///
    /// ### Default
    /// There is no schema, so that `"3"` is no number.
    ///
    /// [`items`]: crate::ByteStreamExt::items
    /// [`typed`]: crate::ByteStreamExt::typed
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use wiremend_schema::{FitOptions, Schema};
    /// use wiremend_stream::{JsonOptions, ByteStreamExt, ValueError, ValueOptions};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Stay {
    ///     nights: u32,
    /// }
    ///
    /// let schema = Schema::from_text(r#"{"properties": {"nights": {"type": "integer"}}, "required": ["nights"]}"#)?;
    /// let options = ValueOptions::from(JsonOptions::new()).with_schema(&schema, FitOptions::new());
    /// let chunks = ["[{'nights': '2'}, {'nights': 'a f", "ew'}, {'nights': 3}]"];
    /// let stays = stream::iter(chunks).map(Ok::<_, std::io::Error>).items::<Stay>("", options);
    /// let stays = block_on(stays.map(|stay| match stay {
    ///     Ok(stay) => stay.value().nights.to_string(),
    ///     Err(ValueError::Fit { index, issues, .. }) => format!("{index:?}: {}", issues[0]),
    ///     Err(error) => error.to_string(),
    /// }).collect::<Vec<_>>());
    /// assert_eq!(stays, ["2", r#"Some(1): /nights: expected integer, got string "a few""#, "3"]);
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    #[cfg(feature = "schema")]
    #[must_use]
    pub fn with_schema(mut self, schema: &Schema, options: FitOptions) -> Self {
        let options = options.with_mending(self.mending.clone()).with_scope(Scope::Whole);
        self.target.schema = Some((schema.clone(), options));
        self
    }

    /// The same, for values of which each is the whole document: the schema decides what their bytes leave open.
    pub(crate) fn guided(mut self) -> Self {
        #[cfg(feature = "schema")]
        if let Some((schema, _)) = &self.target.schema {
            if self.mending.guide().is_none() {
                self.mending = self.mending.with_guide(schema.guide());
            }
            if let (Some(body), Some(tool)) = (&mut self.body, &self.tool)
                && body.wire().guides().is_none()
                && body.wire().mending().guide().is_none()
            {
                let (tool, schema) = (tool.clone(), schema.clone());
                let guides = Guides::new(move |name| (*tool == *name).then(|| schema.guide()));
                let wire = body.wire().clone().with_guides(guides);
                *body = body.clone().with_wire(wire);
            }
        }
        self
    }
}

impl From<JsonOptions> for ValueOptions {
    fn from(options: JsonOptions) -> Self {
        let (scope, mending, limit) = options.into_parts();
        Self { body: None, tool: None, scope, mending, limit, target: Target::default() }
    }
}

impl From<ResponseOptions> for ValueOptions {
    fn from(options: ResponseOptions) -> Self {
        Self {
            scope: options.objects().unwrap_or(Scope::Whole),
            mending: options.mending().clone(),
            limit: options.object_limit(),
            tool: None,
            // The texts are searched here.
            body: Some(ResponseOptions::new().with_wire(options.wire().clone())),
            target: Target::default(),
        }
    }
}

/// Receives the documents of one text, or the arguments of one call.
pub(crate) trait Document: TextSink + Clone {
    type Emitted: std::fmt::Debug;

    /// The text has ended. What is emitted from here on may be what closes a document that was cut off.
    fn ending(&mut self) {}

    /// Something of the response was lost. From here on, nothing is complete.
    fn lose(&mut self);

    /// The document is the arguments of this call, which begin.
    fn begin_call(&mut self, call: usize);

    /// The call has ended. Its last fragments may be what closes arguments that were cut off, and these may end as
    /// other ones than they were read as while they arrived.
    fn end_call(&mut self, call: &Call, mending: &MendOptions);

    /// Moves what was found to the end of a queue.
    fn drain(&mut self, into: &mut VecDeque<Self::Emitted>);
}

pin_project! {
    /// A channel and the source of its bytes.
    #[derive(Debug)]
    pub(crate) struct ReadChannel<S, E, D: Document> {
        #[pin]
        body: Option<S>,
        upstream: Upstream<E>,
        channel: Channel<D>,
        target: Target,
        limit: usize,
        // Whether there was a document, or an error that says why there was none.
        answered: bool,
    }
}

/// What a stream makes of something in a document: whether it answers the caller, and what it emits.
pub(crate) type Taken<T, E> = (bool, Option<Result<T, ValueError<E>>>);

impl<S, E, D: Document> ReadChannel<S, E, D> {
    /// `start` makes a document of which so many bytes of a value are kept.
    pub(crate) fn new(body: S, options: ValueOptions, start: impl FnOnce(usize) -> D) -> Self {
        let (limit, target) = (options.limit, options.target.clone());
        let channel = Channel::new(options, start(limit));
        let upstream = Upstream::Open;
        Self { body: Some(body), upstream, channel, target, limit, answered: false }
    }

    #[cfg(any(feature = "metrics", feature = "tracing"))]
    pub(crate) fn set_telemetry(&mut self, telemetry: crate::Telemetry) {
        self.channel.watch.set(telemetry);
    }

    /// The document of the text that was read last.
    pub(crate) fn latest(&self) -> Option<&D> {
        let channel = &self.channel;
        match channel.last? {
            Last::Text(block) => Some(&channel.texts.get(&block)?.1),
            Last::Call(call) => Some(&channel.calls.get(&call)?.document),
            Last::EndedCall => channel.ended_call.as_ref(),
        }
    }

    pub(crate) fn is_terminated(&self) -> bool {
        let over = matches!(self.upstream, Upstream::Over);
        self.body.is_none() && self.channel.queue.is_empty() && over
    }
}

impl<S, B, E, D> ReadChannel<S, E, D>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
    D: Document,
{
    pub(crate) fn cancel(self: Pin<&mut Self>) {
        let this = self.project();
        pump::cancel(this.body, this.upstream, this.channel);
    }

    /// The next item of a stream that makes this of what is found.
    pub(crate) fn poll<T>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut take: impl FnMut(D::Emitted, &Values<'_>) -> Taken<T, E>,
    ) -> Poll<Option<Result<T, ValueError<E>>>> {
        let mut this = self.project();
        let _span = this.channel.watch.enter();
        loop {
            let next = ready!(pump::poll(this.body.as_mut(), this.upstream, this.channel, cx));
            let (answers, item) = match next {
                None => return Poll::Ready(None),
                Some(Err(error)) => (true, Some(Err(error.into()))),
                Some(Ok(InChannel::Found(found))) => {
                    let (target, limit) = (&*this.target, *this.limit);
                    take(found, &Values { target, limit, watch: &this.channel.watch })
                }
                Some(Ok(InChannel::Lost(doubt))) => (true, Some(Err(ValueError::Lost(doubt)))),
                Some(Ok(InChannel::Provider(error))) => {
                    (true, Some(Err(ValueError::Provider(Box::new(error)))))
                }
                Some(Ok(InChannel::TooManyTexts)) => (false, Some(Err(ValueError::TooManyTexts))),
                Some(Ok(InChannel::Ended)) if *this.answered => continue,
                Some(Ok(InChannel::Ended)) => (true, Some(Err(ValueError::NotFound))),
            };
            *this.answered |= answers;
            if item.is_some() {
                return Poll::Ready(item);
            }
        }
    }
}

/// What is in a channel.
#[derive(Debug)]
enum InChannel<F> {
    /// Something in a document.
    Found(F),
    /// The channel has ended.
    Ended,
    /// Something of the response was lost, and no error says so.
    Lost(Doubt),
    /// The provider reported an error.
    Provider(WireError),
    /// There are more texts than are read.
    TooManyTexts,
}

/// What was read last.
#[derive(Clone, Copy, Debug)]
enum Last {
    Text(Block),
    Call(usize),
    EndedCall,
}

/// A call that is open, and its arguments.
#[derive(Debug)]
struct OpenCall<D> {
    document: D,
    /// Whether it is one of the tool; `None` before its name is known.
    is_wanted: Option<bool>,
}

/// Reads a channel, or a body, and passes each of its texts, or of its calls, to a [`Document`] of its own.
#[derive(Debug)]
struct Channel<D: Document> {
    body: Option<ResponseReader>,
    scope: Scope,
    mending: MendOptions,
    /// What the document of each text starts as.
    start: D,
    texts: BTreeMap<Block, (Box<Finder>, D)>,
    tool: Option<Box<str>>,
    /// The open calls. The limits of the body bound how many there are.
    calls: BTreeMap<usize, OpenCall<D>>,
    /// The call that grew last, if what was found in it was not taken.
    grew: Option<usize>,
    /// The call that ended last.
    ended_call: Option<D>,
    last: Option<Last>,
    crowded: bool,
    /// The body reported an error.
    failed: bool,
    found: VecDeque<D::Emitted>,
    queue: VecDeque<InChannel<D::Emitted>>,
    watch: Watch,
}

impl<D: Document> Channel<D> {
    fn new(options: ValueOptions, start: D) -> Self {
        Self {
            body: options.body.map(ResponseReader::new),
            scope: options.scope,
            mending: options.mending,
            start,
            texts: BTreeMap::new(),
            tool: options.tool,
            calls: BTreeMap::new(),
            grew: None,
            ended_call: None,
            last: None,
            crowded: false,
            failed: false,
            found: VecDeque::new(),
            queue: VecDeque::new(),
            watch: Watch::new(true),
        }
    }

    fn read(&mut self, block: Block, text: &[u8]) {
        if !self.texts.contains_key(&block) && self.texts.len() >= MOST_TEXTS {
            if !std::mem::replace(&mut self.crowded, true) {
                self.queue.push_back(InChannel::TooManyTexts);
            }
            return;
        }
        let (extractor, document) = self.texts.entry(block).or_insert_with(|| {
            let extractor = Finder::new(self.scope, self.mending.clone());
            (Box::new(extractor), self.start.clone())
        });
        extractor.push(text, document);
        document.drain(&mut self.found);
        self.last = Some(Last::Text(block));
        self.queue.extend(self.found.drain(..).map(InChannel::Found));
    }

    /// Ends the texts of one choice, or of all.
    fn finish(&mut self, choice: Option<u32>) {
        for (block, (extractor, document)) in &mut self.texts {
            let ends = choice.is_none_or(|choice| block.choice() == choice);
            if ends && extractor.outcome().is_none() {
                document.ending();
                extractor.finish(document);
                document.drain(&mut self.found);
            }
        }
        self.queue.extend(self.found.drain(..).map(InChannel::Found));
    }

    /// Reads an event of the body.
    fn read_event(&mut self, event: Event) {
        self.watch.event(&event);
        self.drain_grown(Some(&event));
        match event {
            Event::Text { block, text, .. } if self.tool.is_none() => {
                self.read(block, text.as_bytes());
            }
            Event::Finish(finish) => self.finish(Some(finish.choice())),
            Event::Error(error) => {
                self.failed = true;
                self.queue.push_back(InChannel::Provider(error));
            }
            Event::Doubted(doubt) if doubt.is_loss() => self.lose(doubt),
            event if self.tool.is_some() => self.read_call(event),
            _ => {}
        }
    }

    /// Something of the response was lost. Where is not known.
    fn lose(&mut self, doubt: Doubt) {
        self.start.lose();
        self.texts.values_mut().for_each(|(_, document)| document.lose());
        self.calls.values_mut().for_each(|open| open.document.lose());
        if !self.failed {
            self.queue.push_back(InChannel::Lost(doubt));
        }
    }

    /// Reads an event of a call.
    fn read_call(&mut self, event: Event) {
        let is_wanted = |name: &str| self.tool.as_deref() == Some(name);
        match event {
            Event::CallBegan { call, name, .. } => {
                let is_wanted = name.as_deref().map(is_wanted);
                let mut document = self.start.clone();
                document.begin_call(call);
                self.calls.insert(call, OpenCall { document, is_wanted });
            }
            Event::CallNamed { call, name, .. } => {
                let is_wanted = is_wanted(&name);
                if let Some(open) = self.calls.get_mut(&call) {
                    open.is_wanted = Some(is_wanted);
                }
                self.grew = Some(call);
            }
            Event::CallFragment { call, json, .. } => {
                if let Some(open) = self.calls.get_mut(&call)
                    && open.is_wanted != Some(false)
                {
                    open.document.json(&json);
                    open.document.settle();
                    self.last = open.is_wanted.map_or(self.last, |_| Some(Last::Call(call)));
                }
                self.grew = Some(call);
            }
            Event::CallRaw { call, .. } => {
                if let Some(open) = self.calls.get_mut(&call) {
                    open.document.raw();
                }
            }
            Event::CallEnded(ended) => {
                if let Some(OpenCall { mut document, .. }) = self.calls.remove(&ended.number())
                    && is_wanted(ended.name())
                {
                    document.end_call(&ended, &self.mending);
                    document.drain(&mut self.found);
                    self.queue.extend(self.found.drain(..).map(InChannel::Found));
                    self.ended_call = Some(document);
                    self.last = Some(Last::EndedCall);
                }
            }
            _ => {}
        }
    }

    /// Takes what was found in the call that grew last, if `next` does not continue or end it: what the end of a
    /// call closes comes right before that end. So what is found in several calls is in the order in which it
    /// arrived, whatever the size of the chunks.
    fn drain_grown(&mut self, next: Option<&Event>) {
        let goes_on = match next {
            Some(Event::CallFragment { call, .. } | Event::CallNamed { call, .. }) => {
                self.grew == Some(*call)
            }
            Some(Event::CallEnded(call)) => self.grew == Some(call.number()),
            #[cfg(feature = "schema")]
            Some(Event::CallIssue { .. }) => true,
            _ => false,
        };
        if !goes_on
            && let Some(open) = self.grew.take().and_then(|call| self.calls.get_mut(&call))
            && open.is_wanted == Some(true)
        {
            open.document.drain(&mut self.found);
            self.queue.extend(self.found.drain(..).map(InChannel::Found));
        }
    }
}

impl<B: AsRef<[u8]>, D: Document> Reads<B> for Channel<D> {
    type Event = InChannel<D::Emitted>;

    fn next(&mut self) -> Option<Self::Event> {
        self.queue.pop_front()
    }

    fn push(&mut self, chunk: B) {
        let Some(mut body) = self.body.take() else {
            return self.read(Block::default(), chunk.as_ref());
        };
        body.push(chunk.as_ref(), &mut |event| self.read_event(event));
        self.drain_grown(None);
        self.body = Some(body);
    }

    fn finish(&mut self) {
        if let Some(mut body) = self.body.take() {
            body.finish(&mut |event| self.read_event(event));
            self.drain_grown(None);
        }
        self.finish(None);
        self.queue.push_back(InChannel::Ended);
    }
}
