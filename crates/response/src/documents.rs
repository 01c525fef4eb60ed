//! Fitting objects in the text to the schema for the text.

use std::collections::VecDeque;

use wiremend_core::{MendOptions, Outcome, TrailingDocuments};
use wiremend_extract::Scope;
use wiremend_schema::{FitOptions, Fitted, Schema};
use wiremend_wire::{Block, Doubt};

use crate::{Event, along::Along, kept::Kept, object::doubted};

/// An object that has ended, or a whole text, and how it fits the schema for the text.
///
/// ```
/// use wiremend_response::{Event, ResponseOptions, ResponseReader};
/// use wiremend_schema::{FitOptions, Schema};
///
/// let schema = Schema::from_text(r#"{"properties": {"days": {"type": "integer"}}, "required": ["days"]}"#)?;
/// let options = ResponseOptions::new().with_schema(&schema, FitOptions::new());
/// let mut reader = ResponseReader::new(options);
/// let body = b"data: {\"choices\":[{\"delta\":{\"content\":\"{days: '3'}\"},\"finish_reason\":\"stop\"}]}\n\n";
/// let mut fitted = None;
/// reader.push(body, &mut |event| {
///     if let Event::ObjectFitted(object) = event {
///         fitted = Some(object);
///     }
/// });
/// assert_eq!(fitted.unwrap().json(), Some(r#"{"days": 3}"#));
/// # Ok::<(), wiremend_schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FittedObject {
    object: Option<usize>,
    block: Block,
    offset: usize,
    limit: usize,
    fitted: Option<Fitted>,
    doubt: Option<Doubt>,
}

impl FittedObject {
    /// The number of the object. `None` for a text that was read as a whole, because it held no object.
    #[must_use]
    pub const fn object(&self) -> Option<usize> {
        self.object
    }

    /// The text that holds it.
    #[must_use]
    pub const fn block(&self) -> Block {
        self.block
    }

    /// The byte offset of its start in that text. The spans of [`fitted`](Self::fitted) are relative to it.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// The value and its changes, or what is wrong. `None` if the object was longer than the buffer limit.
    #[must_use]
    pub const fn fitted(&self) -> Option<&Fitted> {
        self.fitted.as_ref()
    }

    /// The maximum number of bytes of text that are buffered for an object.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// How it ended.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let outcome = self.fitted.as_ref().map_or(Outcome::Overflow, Fitted::outcome);
        if self.doubt.is_some() { doubted(outcome) } else { outcome }
    }

    /// Why it is not complete, if something of the response was lost that may belong to it, as with
    /// [`Object::doubt`](crate::Object::doubt). [`fitted`](Self::fitted) knows nothing of that.
    #[must_use]
    pub const fn doubt(&self) -> Option<Doubt> {
        self.doubt
    }

    /// The value, valid for the schema. It is complete only if the outcome is.
    #[must_use]
    pub fn json(&self) -> Option<&str> {
        self.fitted.as_ref().and_then(Fitted::text)
    }

    /// Reads the value as a `T`, if it is complete.
    ///
    /// # Errors
    /// [`ParseError::Incomplete`](wiremend_wire::ParseError::Incomplete) if there is no complete value that
    /// fits the schema, [`ParseError::Type`](wiremend_wire::ParseError::Type) if it is of another type.
    #[cfg(feature = "serde_json")]
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, wiremend_wire::ParseError> {
        wiremend_wire::ParseError::check(self.json(), self.outcome(), None)
    }
}

/// The schema for the text.
#[derive(Debug)]
pub(crate) struct Documents {
    schema: Schema,
    fit: FitOptions,
    engine: MendOptions,
}

impl Documents {
    pub(crate) fn new(schema: Schema, fit: FitOptions, engine: MendOptions) -> Self {
        Self { schema, fit, engine }
    }

    /// The longest object that is fitted, in bytes.
    pub(crate) const fn limit(&self) -> usize {
        self.engine.limits().buffer()
    }

    /// Follows an object that begins.
    pub(crate) fn follow(&self) -> Box<Along> {
        let options = self.fit.clone().with_mending(self.engine.clone());
        // What is fitted is the text up to where the object seems to end.
        Box::new(Along::new(&self.schema, &options).ending_with_root())
    }

    /// How objects are found and repaired. As in the fit, the schema decides what their bytes leave open, so that an
    /// early issue is about the reading that is fitted.
    pub(crate) fn guided(&self) -> MendOptions {
        let engine = self.engine.clone();
        if engine.guide().is_some() { engine } else { engine.with_guide(self.schema.guide()) }
    }

    /// Fits the objects of the last `ended` [`Event::ObjectEnded`] events to the schema. It reads what the
    /// model wrote, so that all changes form one edit script.
    pub(crate) fn fit_ended(
        &self,
        block: Block,
        ended: usize,
        kept: &mut Kept,
        events: &mut VecDeque<Event>,
    ) {
        if ended == 0 {
            return;
        }
        // Skip everything before the first of them.
        let mut missing = ended;
        let first = events.iter().rposition(|event| {
            missing -= usize::from(matches!(event, Event::ObjectEnded(_)));
            missing == 0
        });
        let tail = events.split_off(first.unwrap_or_default());
        for event in tail {
            let fit = match &event {
                Event::ObjectEnded(object) => {
                    let in_sentence = kept.has_words_before(object.offset());
                    let raw = kept.get_to_fit(object.offset(), object.length());
                    let fitted = raw.filter(|_| object.json().is_some()).map(|raw| {
                        let options = self.fit.clone().with_mending(self.engine.clone());
                        let options = options.with_scope(Scope::Whole).in_sentence(in_sentence);
                        self.schema.fit(raw, &options)
                    });
                    let (limit, doubt) = (self.limit(), object.doubt());
                    let (object, offset) = (Some(object.number()), object.offset());
                    Some(FittedObject { object, block, offset, limit, fitted, doubt })
                }
                _ => None,
            };
            events.push_back(event);
            events.extend(fit.map(|fit| Event::ObjectFitted(Box::new(fit))));
        }
    }

    /// Fits a text in which no object was found to the schema. The only readings left are those of the
    /// text as a whole.
    pub(crate) fn fit_text(
        &self,
        block: Block,
        raw: Option<&[u8]>,
        doubt: Option<Doubt>,
    ) -> FittedObject {
        let engine = self.engine.clone().with_trailing_documents(TrailingDocuments::Array);
        let options = self.fit.clone().with_mending(engine).with_scope(Scope::Best);
        let fitted = raw.map(|raw| self.schema.fit(raw, &options));
        let limit = self.limit();
        FittedObject { object: None, block, offset: 0, limit, fitted, doubt }
    }
}
