//! Reads XML whose tags are the fields of the schema.

mod pieces;
mod read;

use std::ops::Range;

use crate::{Change, FitOptions, Fitted, Schema};

impl Schema {
    /// Reads a text in which every field of the schema is an element, and [fits](Schema::fit) the
    /// resulting object. `None` if the text is not such XML.
    ///
    /// Only the fields of the schema count as tags, and only where the schema has them; other
    /// markup is content. An element around all fields is skipped, and so is text before the first
    /// field and after the last one. Lists are repeated elements, or one element that contains an
    /// element for each item. Untyped text becomes a number, boolean or null if the schema asks for
    /// one. White space around content is removed. Entities are kept, unless
    /// [`Rule::EntityUnescape`](crate::Rule::EntityUnescape) is switched on.
    ///
    /// [`Schema::fit`] reads such a text too, and records the tags as changes of the rule
    /// [`Rule::XmlFields`](crate::Rule::XmlFields). This method is for callers that know that the
    /// text is XML: decoding it is not a repair, [`Fitted::changes`] apply to the decoded JSON
    /// text, and the outcome is `unchanged` if that text was valid.
    ///
    /// ```
    /// use wiremend_core::Outcome;
    /// use wiremend_schema::{FitOptions, Schema};
    ///
    /// let schema = Schema::from_text(
    ///     r#"{"properties": {"refined": {"type": "boolean"}, "text": {"type": "string"}}}"#,
    /// )?;
    /// let text = "<task><refined>false</refined><text>Sort <b>all</b> keys</text></task>";
    /// let fitted = schema.fit_xml(text, &FitOptions::new()).unwrap();
    /// assert_eq!(fitted.text(), Some(r#"{"refined": false, "text": "Sort <b>all</b> keys"}"#));
    /// assert_eq!(fitted.outcome(), Outcome::Unchanged);
    /// assert!(schema.fit_xml("<p>refined</p>", &FitOptions::new()).is_none());
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn fit_xml(&self, text: &str, options: &FitOptions) -> Option<Fitted> {
        let (json, _) = read::decode(self, text, options)?.json.written(text);
        Some(self.fit(json.as_bytes(), options))
    }

    /// The JSON text for such XML, before validation, and how it was produced.
    pub(crate) fn decode_xml(&self, text: &str, options: &FitOptions) -> Option<Decoded> {
        let read::Mirror { json, span } = read::decode(self, text, options)?;
        let (json, changes) = json.written(text);
        Some(Decoded { json, changes, span })
    }
}

/// The result of decoding XML.
pub(crate) struct Decoded {
    pub(crate) json: String,
    /// The script that leads from the XML to the JSON text.
    pub(crate) changes: Vec<Change>,
    /// The byte range of the elements.
    pub(crate) span: Range<usize>,
}
