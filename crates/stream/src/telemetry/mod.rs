//! What the adapters report about how things ended: to `tracing` and to `metrics`, with the features of these
//! names. Without them, nothing here does anything.

#[cfg(feature = "metrics")]
mod metrics;
mod trace;

use wiremend_core::{Outcome, Repairs};
use wiremend_response::{Event, Object};
use wiremend_wire::{ApiFormat, Call, WireEvent};

#[cfg(any(feature = "metrics", feature = "tracing"))]
use wiremend_response::Response;

pub(crate) use trace::upstream_failed;

/// What logs and metrics say about a response besides how it ended.
///
/// The default says nothing that a model or a user wrote: no content, and no name of a tool that is not
/// known, which would also make for any number of time series.
///
/// docs/streams.md lists the events and the metrics.
///
/// ```
/// use futures::{StreamExt, executor::block_on, stream};
/// use wiremend_response::ResponseOptions;
/// use wiremend_stream::{ByteStreamExt, Telemetry};
///
/// let telemetry = Telemetry::new().with_model("gpt-5").with_tools(["book", "search"]);
/// let body = stream::iter([Ok::<_, std::io::Error>("data: [DONE]\n\n")]);
/// let events = body.read(ResponseOptions::new()).with_telemetry(telemetry);
/// block_on(events.for_each(|_| async {}));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg(any(feature = "metrics", feature = "tracing"))]
pub struct Telemetry {
    model: Option<std::sync::Arc<str>>,
    tools: std::sync::Arc<std::collections::BTreeSet<String>>,
    content: bool,
}

#[cfg(any(feature = "metrics", feature = "tracing"))]
impl Telemetry {
    /// The defaults. Each method documents its own.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name of the model.
    ///
    /// ### Default
    /// Metrics say `unknown`.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<std::sync::Arc<str>>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the tools that are reported by their names.
    ///
    /// ### Default
    /// None: each tool is `other`.
    #[must_use]
    pub fn with_tools(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools = std::sync::Arc::new(names.into_iter().map(Into::into).collect());
        self
    }

    /// Logs the arguments of each call that was repaired, before and after, with the feature `tracing`. They
    /// may hold anything that users and models write.
    ///
    /// ### Default
    /// Content is never logged.
    #[must_use]
    pub const fn with_content(mut self) -> Self {
        self.content = true;
        self
    }

    /// Reports a response that was not streamed, or that another reader has read.
    pub fn record(&self, response: &Response) {
        let mut watch = Watch::new(false);
        watch.set(self.clone());
        let transcript = response.transcript();
        if let Some(format) = transcript.format() {
            watch.detected(format);
        }
        let _span = watch.enter();
        for call in transcript.calls() {
            watch.call(call);
        }
        for object in response.objects() {
            watch.object(object);
        }
        #[cfg(feature = "schema")]
        {
            for call in response.fitted_calls() {
                watch.fitted_call(call);
            }
            for object in response.fitted_objects() {
                watch.fitted_object(object);
            }
        }
        trace::response(transcript.outcome());
    }

    /// The name of a tool, if it may be reported.
    fn tool(&self, name: &str) -> &str {
        self.tools.get(name).map_or("other", String::as_str)
    }
}

/// What is entered without the feature `tracing`.
#[cfg(not(feature = "tracing"))]
pub(crate) struct NoSpan;

/// Watches one response or channel.
#[derive(Debug)]
pub(crate) struct Watch {
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    telemetry: Telemetry,
    #[cfg(feature = "tracing")]
    span: tracing::Span,
    #[cfg_attr(not(feature = "metrics"), allow(dead_code, reason = "a label of the metrics"))]
    streaming: bool,
    format: Option<ApiFormat>,
}

/// What is reported about something that has ended.
#[cfg_attr(not(feature = "metrics"), allow(dead_code, reason = "labels of the metrics"))]
struct Ended<'a> {
    kind: &'static str,
    tool: &'a str,
    outcome: Outcome,
    repairs: &'a Repairs,
}

impl Watch {
    pub(crate) fn new(streaming: bool) -> Self {
        Self {
            #[cfg(any(feature = "metrics", feature = "tracing"))]
            telemetry: Telemetry::default(),
            #[cfg(feature = "tracing")]
            span: trace::span(streaming),
            streaming,
            format: None,
        }
    }

    #[cfg(any(feature = "metrics", feature = "tracing"))]
    pub(crate) fn set(&mut self, telemetry: Telemetry) {
        #[cfg(feature = "tracing")]
        if let Some(model) = &telemetry.model {
            self.span.record("model", &**model);
        }
        self.telemetry = telemetry;
    }

    /// The span of the response. What is reported while the guard lives is in it.
    #[cfg(feature = "tracing")]
    pub(crate) fn enter(&self) -> tracing::span::EnteredSpan {
        self.span.clone().entered()
    }

    /// The span of the response, of which there is none.
    #[cfg(not(feature = "tracing"))]
    pub(crate) const fn enter(&self) -> NoSpan {
        NoSpan
    }

    fn detected(&mut self, format: ApiFormat) {
        self.format = Some(format);
        #[cfg(feature = "tracing")]
        self.span.record("format", format.code());
    }

    /// Looks at an event that is about to be emitted.
    pub(crate) fn event(&mut self, event: &Event) {
        match event {
            Event::FormatDetected(format) => self.detected(*format),
            Event::CallEnded(call) => self.call(call),
            #[cfg(feature = "schema")]
            Event::CallFitted(call) => self.fitted_call(call),
            #[cfg(feature = "schema")]
            Event::ObjectFitted(object) => self.fitted_object(object),
            Event::Ended(outcome) => trace::response(*outcome),
            Event::ObjectEnded(object) => self.object(object),
            Event::Oversize { limit, .. } => trace::oversize(*limit),
            _ => {}
        }
    }

    /// Looks at an event of a body that is written again.
    pub(crate) fn wire(&mut self, event: &WireEvent<'_>) {
        match event {
            WireEvent::FormatDetected(format) => self.detected(*format),
            WireEvent::CallEnded(call) => self.call(call),
            WireEvent::Ended(outcome) => trace::response(*outcome),
            WireEvent::Oversize { limit } => trace::oversize(*limit),
            _ => {}
        }
    }

    /// A tool call has ended.
    fn call(&self, call: &Call) {
        #[cfg(any(feature = "metrics", feature = "tracing"))]
        let tool = self.telemetry.tool(call.name());
        #[cfg(not(any(feature = "metrics", feature = "tracing")))]
        let tool = "";
        trace::call(call);
        #[cfg(feature = "tracing")]
        trace::repaired(call, tool, self.telemetry.content);
        let (outcome, repairs) = (call.outcome(), call.repairs());
        self.ended(&Ended { kind: "call", tool, outcome, repairs });
    }

    /// A document found in text has ended.
    pub(crate) fn object(&self, object: &Object) {
        trace::object(object);
        let (outcome, repairs) = (object.outcome(), object.repairs());
        self.ended(&Ended { kind: "object", tool: "none", outcome, repairs });
    }

    #[cfg(feature = "schema")]
    fn fitted_call(&self, call: &wiremend_response::FittedCall) {
        if let wiremend_response::CallCheck::Fitted { tool, fitted, .. } = call.check() {
            self.fitted(("call", tool), fitted, fitted.outcome());
        }
    }

    #[cfg(feature = "schema")]
    fn fitted_object(&self, object: &wiremend_response::FittedObject) {
        if let Some(fitted) = object.fitted() {
            self.fitted(("object", ""), fitted, object.outcome());
        }
    }

    /// A value was fitted to its schema, or could not be. Without a tool, its name is empty.
    #[cfg(feature = "schema")]
    pub(crate) fn fitted(
        &self,
        (kind, tool): (&'static str, &str),
        fitted: &wiremend_schema::Fitted,
        outcome: Outcome,
    ) {
        trace::fitted(fitted, outcome);
        #[cfg(feature = "metrics")]
        metrics::fitted(self, (kind, self.label(tool)), fitted, outcome);
        #[cfg(not(feature = "metrics"))]
        let _ = (kind, tool);
    }

    /// A hook, or the library for it, has judged a call or an object.
    pub(crate) fn judged(&self, kind: &'static str, tool: &str, judgement: &'static str) {
        #[cfg(feature = "metrics")]
        metrics::judged(self, kind, self.label(tool), judgement);
        #[cfg(not(feature = "metrics"))]
        let _ = (kind, tool, judgement);
    }

    /// The name of a tool, if it may be reported, or that there is none.
    #[cfg(feature = "metrics")]
    fn label<'a>(&'a self, tool: &'a str) -> &'a str {
        if tool.is_empty() { "none" } else { self.telemetry.tool(tool) }
    }

    fn ended(&self, ended: &Ended<'_>) {
        #[cfg(feature = "metrics")]
        metrics::ended(self, ended);
        #[cfg(not(feature = "metrics"))]
        let _ = (self, ended);
    }
}
