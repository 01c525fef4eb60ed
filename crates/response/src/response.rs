//! A whole response, collected.

use wiremend_wire::{Doubt, Transcript};

use crate::{Event, Object, ResponseOptions, ResponseReader};
#[cfg(feature = "schema")]
use crate::{FittedCall, FittedObject};

/// Collects the events of a [`ResponseReader`]. Memory grows with the response.
///
/// ```
/// use wiremend_extract::Scope;
/// use wiremend_response::{Response, ResponseOptions};
///
/// let body = b"data: {\"choices\":[{\"delta\":{\"content\":\"Sure: {'ok': True}\"},\"finish_reason\":\"stop\"}]}\n\n";
/// let response = Response::read(body, ResponseOptions::new().with_objects(Scope::All));
/// assert_eq!(response.transcript().text(), "Sure: {'ok': True}");
/// assert_eq!(response.objects()[0].json(), Some("{\"ok\": true}"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    transcript: Transcript,
    objects: Vec<Object>,
    #[cfg(feature = "schema")]
    fitted_calls: Vec<FittedCall>,
    #[cfg(feature = "schema")]
    fitted_objects: Vec<FittedObject>,
    lost: Option<Doubt>,
}

impl Response {
    /// Reads a whole body.
    #[must_use]
    pub fn read(body: &[u8], options: ResponseOptions) -> Self {
        let mut reader = ResponseReader::new(options);
        let mut response = Self::default();
        let mut record = |event| response.record(event);
        reader.push(body, &mut record);
        reader.finish(&mut record);
        response
    }

    /// Records an event.
    pub fn record(&mut self, event: Event) {
        if let Some(event) = event.to_wire() {
            self.transcript.record(&event);
        }
        match event {
            Event::TextWasReasoning { block, .. } => self.transcript.text_was_reasoning(block),
            Event::Doubted(doubt) if doubt.is_loss() => {
                self.lost.get_or_insert(doubt);
            }
            Event::ObjectEnded(object) => self.objects.push(*object),
            #[cfg(feature = "schema")]
            Event::CallFitted(call) => self.fitted_calls.push(*call),
            #[cfg(feature = "schema")]
            Event::ObjectFitted(object) => self.fitted_objects.push(*object),
            _ => {}
        }
    }

    /// Texts, reasoning, calls, token counts, errors and the outcome.
    #[must_use]
    pub const fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Why a part of the response may be missing, if one may: the first [loss](Doubt::is_loss). Where it was is
    /// not known, so that any text and any call may lack something.
    ///
    /// ```
    /// use wiremend_response::{Response, ResponseOptions};
    /// use wiremend_wire::Doubt;
    ///
    /// // The event with the number 1 never arrived.
    /// let body = br#"data: {"type":"response.output_text.delta","sequence_number":0,"delta":"[1"}
    ///
    /// data: {"type":"response.output_text.delta","sequence_number":2,"delta":"]"}
    ///
    /// "#;
    /// let response = Response::read(body, ResponseOptions::new());
    /// assert_eq!(response.lost(), Some(Doubt::LostEvent));
    /// ```
    #[must_use]
    pub const fn lost(&self) -> Option<Doubt> {
        self.lost
    }

    /// The objects in the text, in the order in which they ended.
    #[must_use]
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The calls, fitted to the schemas of their tools, in the order in which they ended.
    #[cfg(feature = "schema")]
    #[must_use]
    pub fn fitted_calls(&self) -> &[FittedCall] {
        &self.fitted_calls
    }

    /// The objects and texts, fitted to the schema for the text, in the order in which they ended.
    #[cfg(feature = "schema")]
    #[must_use]
    pub fn fitted_objects(&self) -> &[FittedObject] {
        &self.fitted_objects
    }
}
