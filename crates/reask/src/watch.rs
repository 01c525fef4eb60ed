//! Reads a reply while it arrives.

use wiremend_response::{Event, Response, ResponseOptions, ResponseReader};
use wiremend_schema::{Finding, FitStream, Registry, SharedRegistry, Standing};

use crate::{Answer, Ask, AskKind};

/// Reads a reply while it arrives, and says when it can no longer become valid, so that generating the rest of
/// it can be saved.
///
/// [`push_text`](Self::push_text) is for the text that a client has taken out of a response already;
/// [`push_body`](Self::push_body) for the bytes of the body, streamed or whole, in any format. Use one of them.
///
/// ```
/// use wiremend_reask::{Reask, ReaskOptions, Step};
/// use wiremend_core::{Options, Policy};
/// use wiremend_schema::{FitOptions, Schema};
/// use core::time::Duration;
///
/// let schema = Schema::from_text(r#"{"properties": {"n": {"type": "integer"}}, "required": ["n"]}"#)?;
/// let fit = FitOptions::new().with_engine(Options::new().with_policy(Policy::CONSERVATIVE));
/// let mut reask = Reask::new(&schema, ReaskOptions::new().with_fit(fit));
/// let Step::Ask(ask) = reask.begin(Duration::ZERO) else { panic!() };
///
/// let mut watch = ask.watch();
/// assert!(watch.push_text("{\"n\": ").is_none());
/// assert_eq!(watch.push_text("1.5, ").unwrap().to_string(), "/n: expected integer, got number 1.5");
/// // The request is cancelled here, and the model is asked again.
/// let Step::Ask(ask) = reask.answer(&watch.finish(), Duration::ZERO) else { panic!() };
/// assert_eq!(ask.attempt(), 1);
/// # Ok::<(), wiremend_schema::SchemaError>(())
/// ```
#[derive(Debug)]
pub struct Watch {
    /// Follows the text. Not if it is the rest of another text, or the values of single fields.
    text: Option<FitStream>,
    content: String,
    body: Option<(Box<ResponseReader>, Box<Response>)>,
    options: ResponseOptions,
    tool: Option<String>,
    lost: Option<Finding>,
}

impl Watch {
    pub(crate) fn new(ask: &Ask) -> Self {
        let is_whole = matches!(ask.kind, AskKind::First | AskKind::Whole);
        let mut options = ResponseOptions::new();
        if let Some(tool) = ask.tool.as_deref().filter(|_| is_whole) {
            let registry = Registry::new().with_tool(tool, ask.schema.clone());
            let wire = options.wire().clone().with_mending(ask.fit.engine().clone());
            options = options.with_wire(wire).with_tools(&SharedRegistry::new(registry));
        }
        Self {
            text: is_whole.then(|| FitStream::new(&ask.schema, ask.fit.clone())),
            content: String::new(),
            body: None,
            options,
            tool: ask.tool.clone(),
            lost: None,
        }
    }

    /// Takes the next piece of the text. Returns the reason to stop, once there is one.
    pub fn push_text(&mut self, text: &str) -> Option<&Finding> {
        self.content.push_str(text);
        self.follow(text);
        self.lost.as_ref()
    }

    /// Takes the next bytes of the body. Returns the reason to stop, once there is one.
    pub fn push_body(&mut self, bytes: &[u8]) -> Option<&Finding> {
        let options = &self.options;
        let (mut reader, mut response) = self
            .body
            .take()
            .unwrap_or_else(|| (Box::new(ResponseReader::new(options.clone())), Box::default()));
        reader.push(bytes);
        self.drain(&mut reader, &mut response);
        self.body = Some((reader, response));
        self.lost.as_ref()
    }

    /// Why the reply can no longer become valid, if it cannot.
    #[must_use]
    pub const fn lost(&self) -> Option<&Finding> {
        self.lost.as_ref()
    }

    /// The answer. If it was lost, it does not matter whether it went on.
    #[must_use]
    pub fn finish(mut self) -> Answer {
        let answer = match self.body.take() {
            Some((mut reader, mut response)) => {
                reader.finish();
                self.drain(&mut reader, &mut response);
                Answer::read(&response, self.tool.as_deref())
            }
            None => Answer::text(self.content),
        };
        match self.lost {
            Some(finding) => answer.with_lost(finding),
            None => answer,
        }
    }

    fn drain(&mut self, reader: &mut ResponseReader, response: &mut Response) {
        while let Some(event) = reader.next_event() {
            match &event {
                Event::CallFound { finding, .. } if finding.standing() == Standing::Lost => {
                    self.lost.get_or_insert_with(|| finding.clone());
                }
                // With a tool, text is what comes before the call.
                Event::Text { text, .. } if self.tool.is_none() => self.follow(text),
                _ => {}
            }
            response.record(event);
        }
    }

    fn follow(&mut self, text: &str) {
        let Some(stream) = &mut self.text else { return };
        stream.push(text.as_bytes());
        if self.lost.is_none() {
            self.lost = stream.cursor().lost().cloned();
        }
    }
}
