//! A reading of a text in which the properties are XML elements.

use wiremend_core::{Path, Risk};
use wiremend_extract::Scope;

use super::{
    Applied, FitOptions,
    made::shortened,
    permit::Permit,
    place::Place,
    reading::{Reading, Tried},
};
use crate::{Rule, Schema, judge::Judge, part::Part, xml::Decoded};

/// The XML found in a text.
pub(super) struct Elements(Decoded);

impl Elements {
    /// `None` if there is no such XML, or the options forbid reading it.
    pub(super) fn find(schema: &Schema, input: &[u8], options: &FitOptions) -> Option<Self> {
        let text = std::str::from_utf8(input).ok().filter(|_| options.scope() != Scope::Fenced)?;
        if !Permit::new(options)?.allows(Rule::XmlFields, &Place::root(), &Part::root(schema)) {
            return None;
        }
        schema.decode_xml(text, options).map(Self)
    }

    /// Whether the value of another reading is inside an element, or there is no such value.
    pub(super) fn hold(&self, other: &Reading<'_>) -> bool {
        let own = &self.0.span;
        other.span().is_none_or(|span| own.start <= span.start && span.end <= own.end)
    }

    /// Fits the decoded elements to the schema.
    pub(super) fn fit(&self, judge: &mut Judge<'_>, input: &[u8], options: &FitOptions) -> Tried {
        let Decoded { json, changes, span } = &self.0;
        let reading = Reading::repaired(json.clone(), changes.clone());
        let mut tried = reading.fit(judge, input, options);
        let source = std::str::from_utf8(input).ok().and_then(|text| text.get(span.clone()));
        let applied = Applied {
            rule: Rule::XmlFields,
            risk: Risk::Likely,
            path: Path::default(),
            schema_path: String::new(),
            start: span.start,
            end: span.end,
            before: shortened(source.unwrap_or_default()),
            after: shortened(json),
        };
        tried.0.applied.insert(0, applied);
        tried
    }
}
