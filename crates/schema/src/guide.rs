//! Uses a schema to resolve what a broken text leaves ambiguous.

use std::sync::Arc;

use wiremend_core::{Guide, JsonType, Listed, Member};

use crate::{Schema, compile::ShapeId, names::folded, part::Part};

/// The most readings of a place, which has one for each combination of union branches. The guide
/// gives no advice for a place with more.
const MOST: usize = 16;

impl Schema {
    /// A guide for the engine. With it, the names, types and listed values of the schema resolve
    /// what a broken text leaves ambiguous. [`Schema::fit`] and [`Fitter`](crate::Fitter) use
    /// it, unless the options have another guide.
    ///
    /// ```
    /// use wiremend_core::{MendOptions, mend};
    /// use wiremend_schema::Schema;
    ///
    /// let schema = Schema::from_text(
    ///     r#"{"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}"#,
    /// )?;
    /// let text = b"{city: New York days: 3}";
    /// let alone = mend(text, &MendOptions::new());
    /// assert_eq!(alone.text(), Some(r#"{"city": "New York days: 3"}"#));
    /// let guided = mend(text, &MendOptions::new().with_guide(schema.guide()));
    /// assert_eq!(guided.text(), Some(r#"{"city": "New York", "days": 3}"#));
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn guide(&self) -> Arc<dyn Guide> {
        Part::root(self).guide()
    }
}

impl Part<'_> {
    /// The guide for a value at this place.
    pub(crate) fn guide(&self) -> Arc<dyn Guide> {
        Arc::new(SchemaGuide::new(self.schema(), vec![self.tops().to_vec()]))
    }
}

/// The possible readings of a place, one for each choice of union branches. Each is a list of
/// subschemas that all apply.
#[derive(Clone, Debug)]
struct SchemaGuide {
    schema: Schema,
    /// Empty if nothing is known.
    readings: Vec<Vec<ShapeId>>,
}

impl SchemaGuide {
    /// Expands the unions of `parts` into readings.
    fn new(schema: &Schema, parts: Vec<Vec<ShapeId>>) -> Self {
        let (mut open, mut readings) = (parts, Vec::new());
        while let Some(tops) = open.pop() {
            if open.len() + readings.len() >= MOST {
                readings.clear();
                break;
            }
            let part = Part::of(schema, tops.clone());
            match part.undecided() {
                Some(union) => open.extend(union.iter().map(|id| [&tops[..], &[*id]].concat())),
                None => readings.push(tops),
            }
        }
        Self { schema: schema.clone(), readings }
    }

    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        self.readings.iter().map(|tops| Part::of(&self.schema, tops.clone()))
    }

    /// The guide for the places that the readings lead to.
    fn below<'p>(&self, parts: impl Iterator<Item = Part<'p>>) -> Option<Arc<dyn Guide>> {
        let mut tops: Vec<Vec<ShapeId>> = parts.map(|part| part.tops().to_vec()).collect();
        tops.dedup();
        let place = Self::new(&self.schema, tops);
        (!place.readings.is_empty()).then(|| Arc::new(place) as Arc<dyn Guide>)
    }
}

impl Guide for SchemaGuide {
    fn allows(&self, kind: JsonType) -> bool {
        self.readings.is_empty() || self.parts().any(|part| part.allows(kind))
    }

    fn member(&self, key: &str) -> Member {
        let objects: Vec<Part<'_>> =
            self.parts().filter(|part| part.allows(JsonType::Object)).collect();
        let mut declared = objects.iter().filter_map(|part| part.declared(key)).peekable();
        if declared.peek().is_some() {
            return self.below(declared).map_or(Member::Open, Member::Declared);
        }
        let closed = !objects.is_empty() && objects.iter().all(Part::is_closed);
        // A rule may recognise another spelling of a name, so such a name is not rejected.
        let alike = |part: &Part<'_>| part.property_alike(&folded(key)).is_some();
        if closed && !objects.iter().any(alike) { Member::Forbidden } else { Member::Open }
    }

    fn item(&self, index: usize) -> Option<Arc<dyn Guide>> {
        let lists = self.parts().filter(|part| part.allows(JsonType::Array));
        let items: Vec<Part<'_>> =
            lists.filter(Part::has_items).map(|part| part.item(index)).collect();
        self.below(items.into_iter())
    }

    fn listed(&self, text: &str) -> Listed {
        let strings: Vec<Part<'_>> =
            self.parts().filter(|part| part.allows(JsonType::String)).collect();
        let mut found = Listed::No;
        for part in &strings {
            // A branch that accepts any string accepts this one.
            let Some(options) = part.options() else { return Listed::Any };
            for option in options.iter().filter_map(serde_json::Value::as_str) {
                if option == text {
                    found = Listed::Whole;
                } else if found == Listed::No && option.starts_with(text) {
                    found = Listed::Begins;
                }
            }
        }
        if strings.is_empty() { Listed::Any } else { found }
    }
}
