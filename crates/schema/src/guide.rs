//! How a schema settles what the bytes of a text leave open.

use std::sync::Arc;

use jsonmend_core::{Guide, Kind, Listed, Member};

use crate::{Schema, compile::ShapeId, issue::folded, part::Part, tree::JsonKind};

/// The most readings of a place, one for each branch of its unions. Of a place that has more,
/// there is no advice.
const MOST: usize = 16;

impl Schema {
    /// A guide for the engine: with it, the names, types and listed values of the schema settle what
    /// the bytes of a text leave open. [`Schema::fit`] and [`FitStream`](crate::FitStream) use it
    /// unless the options hold another.
    ///
    /// ```
    /// use jsonmend_core::{Options, mend};
    /// use jsonmend_schema::Schema;
    ///
    /// let schema = Schema::from_text(
    ///     r#"{"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}"#,
    /// )?;
    /// let text = b"{city: New York days: 3}";
    /// let alone = mend(text, &Options::new());
    /// assert_eq!(alone.text(), Some(r#"{"city": "New York days: 3"}"#));
    /// let guided = mend(text, &Options::new().with_guide(schema.guide()));
    /// assert_eq!(guided.text(), Some(r#"{"city": "New York", "days": 3}"#));
    /// # Ok::<(), jsonmend_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn guide(&self) -> Arc<dyn Guide> {
        Part::root(self).guide()
    }
}

impl Part<'_> {
    /// The guide to a value here.
    pub(crate) fn guide(&self) -> Arc<dyn Guide> {
        Arc::new(Place::new(self.schema(), vec![self.tops().to_vec()]))
    }
}

/// A place of a schema, as the alternatives that its unions leave: subschemas that hold together.
#[derive(Clone, Debug)]
struct Place {
    schema: Schema,
    /// None where nothing is known.
    readings: Vec<Vec<ShapeId>>,
}

impl Place {
    /// `parts` with every branch of their unions.
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

    /// The place that some of the readings lead to.
    fn below<'p>(&self, parts: impl Iterator<Item = Part<'p>>) -> Option<Arc<dyn Guide>> {
        let mut tops: Vec<Vec<ShapeId>> = parts.map(|part| part.tops().to_vec()).collect();
        tops.dedup();
        let place = Self::new(&self.schema, tops);
        (!place.readings.is_empty()).then(|| Arc::new(place) as Arc<dyn Guide>)
    }
}

impl Guide for Place {
    fn allows(&self, kind: Kind) -> bool {
        let kind = match kind {
            Kind::Array => JsonKind::Array,
            Kind::Bool => JsonKind::Boolean,
            Kind::Null => JsonKind::Null,
            Kind::Number => JsonKind::Number,
            Kind::Object => JsonKind::Object,
            Kind::String => JsonKind::String,
        };
        self.readings.is_empty() || self.parts().any(|part| part.allows(kind))
    }

    fn member(&self, key: &str) -> Member {
        let objects: Vec<Part<'_>> =
            self.parts().filter(|part| part.allows(JsonKind::Object)).collect();
        let mut declared = objects.iter().filter_map(|part| part.property(key)).peekable();
        if declared.peek().is_some() {
            return self.below(declared).map_or(Member::Open, Member::Declared);
        }
        let closed = !objects.is_empty() && objects.iter().all(Part::is_closed);
        // A rule may know another spelling of a name, so that it is not refused.
        let alike = |part: &Part<'_>| part.property_alike(&folded(key)).is_some();
        if closed && !objects.iter().any(alike) { Member::Forbidden } else { Member::Open }
    }

    fn item(&self, index: usize) -> Option<Arc<dyn Guide>> {
        let lists = self.parts().filter(|part| part.allows(JsonKind::Array));
        let items: Vec<Part<'_>> =
            lists.filter(Part::has_items).map(|part| part.item(index)).collect();
        self.below(items.into_iter())
    }

    fn listed(&self, text: &str) -> Listed {
        let strings: Vec<Part<'_>> =
            self.parts().filter(|part| part.allows(JsonKind::String)).collect();
        let mut found = Listed::No;
        for part in &strings {
            // A branch that takes any string takes this one.
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
