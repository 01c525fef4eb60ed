//! XML whose tags are the schema's own fields.

mod pieces;
mod read;

use std::ops::Range;

use crate::{Change, FitOptions, Fitted, Schema};

impl Schema {
    /// Reads a text in which every field of the schema is an element of its own, and
    /// [fits](Schema::fit) the object it spells out. `None` if the text is no such XML.
    ///
    /// Only the schema's fields count as tags, each where the schema has it; other markup is content.
    /// An element around all of them, and text before the first and after the last, is skipped.
    /// Lists are repeated elements, or one element with an element an item. Untyped text becomes a
    /// number, boolean or null where the schema wants one. White space around content goes; entities
    /// stay as they are, unless [`Rule::EntityUnescape`](crate::Rule::EntityUnescape) is switched on.
    ///
    /// [`Schema::fit`] reads such a text too, and records the tags as changes of the rule
    /// [`Rule::XmlFields`](crate::Rule::XmlFields). This is for callers that know that the text is XML: then
    /// decoding is no repair, [`Fitted::changes`] begins at the JSON text that was decoded, and the
    /// outcome is `unchanged` if that text was valid.
    ///
    /// ```
    /// use jsonmend_core::Outcome;
    /// use jsonmend_schema::{FitOptions, Schema};
    ///
    /// let schema = Schema::from_text(
    ///     r#"{"properties": {"refined": {"type": "boolean"}, "text": {"type": "string"}}}"#,
    /// )?;
    /// let text = "<task><refined>false</refined><text>Sort <b>all</b> keys</text></task>";
    /// let fitted = schema.fit_xml(text, &FitOptions::new()).unwrap();
    /// assert_eq!(fitted.text(), Some(r#"{"refined": false, "text": "Sort <b>all</b> keys"}"#));
    /// assert_eq!(fitted.outcome(), Outcome::Unchanged);
    /// assert!(schema.fit_xml("<p>refined</p>", &FitOptions::new()).is_none());
    /// # Ok::<(), jsonmend_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn fit_xml(&self, text: &str, options: &FitOptions) -> Option<Fitted> {
        let (json, _) = read::decode(self, text, options)?.json.written(text);
        Some(self.fit(json.as_bytes(), options))
    }

    /// The JSON text that such XML spells out, before it is validated, and how it is made.
    pub(crate) fn decode_xml(&self, text: &str, options: &FitOptions) -> Option<Decoded> {
        let read::Mirror { json, span } = read::decode(self, text, options)?;
        let (json, changes) = json.written(text);
        Some(Decoded { json, changes, span })
    }
}

/// What XML spells out.
pub(crate) struct Decoded {
    pub(crate) json: String,
    /// From the XML to the JSON text.
    pub(crate) changes: Vec<Change>,
    /// The bytes of the elements.
    pub(crate) span: Range<usize>,
}
