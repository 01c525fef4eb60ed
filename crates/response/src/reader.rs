//! The reader of a response.

use std::collections::VecDeque;

#[cfg(feature = "schema")]
use wiremend_schema::Cursor;
use wiremend_wire::{Decoder, WireEvent};

#[cfg(feature = "schema")]
use crate::calls::{Engine, Tools, guides};
use crate::{
    Event, ResponseOptions,
    event::queue,
    in_text::{CallsInText, Passed},
    texts::Texts,
};

/// Reads the body of a response while it arrives.
///
/// Call [`push`](Self::push) any number of times, then [`finish`](Self::finish) once. Both pass the events
/// that are ready to a function. The way the body is split into chunks affects the individual text pieces
/// and fragments, but not what they add up to. Memory: the events of one chunk, one line, one event, the
/// arguments of the open calls, and the buffers of the texts being searched, each within the limits of the
/// options.
///
/// ```
/// use wiremend_extract::Scope;
/// use wiremend_response::{Event, ResponseOptions, ResponseReader};
///
/// let mut reader = ResponseReader::new(ResponseOptions::new().with_objects(Scope::All));
/// let (mut text, mut json) = (String::new(), None);
/// let mut take = |event| match event {
///     Event::Text { text: more, .. } => text.push_str(&more),
///     Event::ObjectEnded(object) => json = object.json().map(str::to_owned),
///     _ => {}
/// };
/// let body = b"data: {\"choices\":[{\"delta\":{\"content\":\"Sure: {'ok': True}!\"},\"finish_reason\":\"stop\"}]}\n\n";
/// reader.push(body, &mut take);
/// reader.finish(&mut take);
/// assert_eq!((text.as_str(), json.as_deref()), ("Sure: {'ok': True}!", Some("{\"ok\": true}")));
/// ```
#[derive(Debug)]
pub struct ResponseReader {
    decoder: Decoder,
    contents: Contents,
}

/// Turns the events of the decoder into events of the response.
#[derive(Debug)]
struct Contents {
    /// Calls in the texts, if they are looked for.
    in_text: Option<Box<CallsInText>>,
    texts: Texts,
    /// The events of the chunk that is being read. Those at its end may still change.
    queue: VecDeque<Event>,
    #[cfg(feature = "schema")]
    tools: Option<Tools>,
}

impl ResponseReader {
    /// Creates a reader at the start of a body.
    #[must_use]
    pub fn new(options: ResponseOptions) -> Self {
        #[cfg(feature = "schema")]
        let (wire, tools) = {
            let wire = options.wire().clone();
            match &options.tools {
                Some(registry) => {
                    // The caller may have set other guides.
                    let own = wire.guides().is_none() && wire.mending().guide().is_none();
                    let engine = Engine::new(&wire, options.coerces);
                    let tools = Tools::new(registry, engine, own);
                    let guided = wire.guides().is_some();
                    let wire = if guided { wire } else { wire.with_guides(guides(registry)) };
                    (wire, Some(tools))
                }
                None => (wire, None),
            }
        };
        #[cfg(not(feature = "schema"))]
        let wire = options.wire().clone();
        let contents = Contents {
            in_text: in_text(&options),
            texts: Texts::new(options),
            queue: VecDeque::new(),
            #[cfg(feature = "schema")]
            tools,
        };
        Self { decoder: Decoder::new(wire), contents }
    }

    /// Reads a chunk of the body, and passes its events to `sink`. Does nothing after [`finish`](Self::finish).
    pub fn push(&mut self, chunk: &[u8], sink: &mut impl FnMut(Event)) {
        let Self { decoder, contents } = self;
        decoder.push(chunk, &mut |event| contents.read(&event));
        #[cfg(feature = "schema")]
        if let Some(tools) = &mut contents.tools {
            tools.settle(&mut contents.queue);
        }
        contents.hand_out(sink);
    }

    /// Ends the body: everything that is open ends, and [`Event::Ended`] is the last event. Calling it again
    /// does nothing.
    pub fn finish(&mut self, sink: &mut impl FnMut(Event)) {
        let Self { decoder, contents } = self;
        decoder.finish(&mut |event| contents.read(&event));
        contents.hand_out(sink);
    }

    /// What is known about an open call as of the last chunk: the value so far with a state for each
    /// node, what may come next, and what is missing. Nothing is copied.
    ///
    /// `None` without [tools](ResponseOptions::with_tools); before the call has both a name and arguments;
    /// if its tool has no schema, or more arguments than the buffer limit arrived before its name; and once
    /// the call has ended, including when all of it came in one chunk.
    #[cfg(feature = "schema")]
    #[must_use]
    pub fn call_cursor(&self, call: usize) -> Option<&Cursor> {
        self.contents.tools.as_ref().and_then(|tools| tools.cursor(call))
    }

    /// What is known about an open object in the text as of the last chunk, like
    /// [`call_cursor`](Self::call_cursor) for a call: the partial fit of the object.
    ///
    /// `None` without a [schema](ResponseOptions::with_schema); before the object begins; once it exceeds the
    /// object limit or the buffer limit, so that it will not be fitted; once something of the response was lost;
    /// and once the object has ended, including when all of it came in one chunk.
    ///
    /// ```
    /// use wiremend_response::{Event, ResponseOptions, ResponseReader};
    /// use wiremend_schema::{FitOptions, Schema};
    ///
    /// let schema = Schema::from_text(r#"{"properties": {"days": {"type": "integer"}}}"#)?;
    /// let options = ResponseOptions::new().with_schema(&schema, FitOptions::new());
    /// let mut reader = ResponseReader::new(options);
    /// let mut open = None;
    /// let chunk = b"data: {\"choices\":[{\"delta\":{\"content\":\"So: {days: '3', city: 'Os\"}}]}\n\n";
    /// reader.push(chunk, &mut |event| {
    ///     if let Event::ObjectBegan { object, .. } = event {
    ///         open = Some(object);
    ///     }
    /// });
    /// let root = reader.object_cursor(open.unwrap()).unwrap().root().unwrap();
    /// assert_eq!(root.to_string(), r#"{"days":3,"city":"Os"}"#);
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    #[cfg(feature = "schema")]
    #[must_use]
    pub fn object_cursor(&self, object: usize) -> Option<&Cursor> {
        self.contents.texts.cursor(object)
    }
}

/// What looks for calls in the texts.
fn in_text(options: &ResponseOptions) -> Option<Box<CallsInText>> {
    let calls = options.calls_in_text()?.clone();
    #[cfg(feature = "schema")]
    let calls = match &options.tools {
        Some(registry) if !calls.has_tools() => calls.with_tools(registry.load().tools()),
        _ => calls,
    };
    let wire = options.wire();
    Some(Box::new(CallsInText::new(calls, wire.mending(), wire.limits())))
}

impl Contents {
    /// Passes on the events that are ready. The room for them is kept for those of the next chunk.
    fn hand_out(&mut self, sink: &mut impl FnMut(Event)) {
        while let Some(event) = self.queue.pop_front() {
            sink(event);
        }
    }

    fn read(&mut self, event: &WireEvent<'_>) {
        let Some(mut in_text) = self.in_text.take() else { return self.take(event, false) };
        in_text.take(event, &mut |passed| match passed {
            Passed::Wire(event) => self.take(event, false),
            Passed::Found(event) => self.take(event, true),
            Passed::Own(event) => queue(&mut self.queue, event),
        });
        self.in_text = Some(in_text);
    }

    /// Takes an event. `found`: it is about something that was found in a text.
    #[cfg_attr(not(feature = "schema"), allow(unused_variables, reason = "for the tools alone"))]
    fn take(&mut self, event: &WireEvent<'_>, found: bool) {
        if !self.texts.take(event, &mut self.queue)
            && let Some(event) = Event::owned(event)
        {
            queue(&mut self.queue, event);
        }
        #[cfg(feature = "schema")]
        if let Some(tools) = &mut self.tools {
            tools.note(event, found, &mut self.queue);
        }
    }
}
