//! What may still come, and what is still required.

use serde_json::Value;

use super::{
    finding::{Finding, Standing},
    walk::{Frame, Walk, Way},
};
use crate::{Issue, IssueCode, compile::Types, tree::JsonType};

/// What may come next.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected<'c> {
    types: String,
    keys: Vec<String>,
    values: Vec<&'c Value>,
}

impl Expected<'_> {
    /// The types of the value that comes next or is open, in words, such as `integer or null`.
    /// Empty if a key or the end of an object comes next, or if any value is allowed.
    #[must_use]
    pub fn types(&self) -> &str {
        &self.types
    }

    /// The declared keys that are not present yet, if a key may come next.
    #[must_use]
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// The listed values that are possible. For an open string, those that start with its content.
    #[must_use]
    pub fn values(&self) -> &[&Value] {
        &self.values
    }
}

impl Walk {
    /// The issues for what an open object or array still lacks, according to the first of the
    /// possible readings.
    pub(super) fn missing(&self, frame: &Frame, count: u64) -> Vec<Issue> {
        let Some(own) = frame.ways.first() else { return Vec::new() };
        let place = self.places.get(own.way.place);
        let path = self.path_of(frame);
        let issue = |code, expected: String| {
            Issue::begun(code, path.clone(), frame.kind, "", expected, frame.start..frame.start)
        };
        if frame.kind == JsonType::Array {
            let short = count < place.min_items;
            let expected = format!("at least {} items", place.min_items);
            return short.then(|| issue(IssueCode::Count, expected)).into_iter().collect();
        }
        let lacks = |position: &usize| own.given & (1 << position) == 0;
        let names = place.required.iter().enumerate().filter(|(position, _)| lacks(position));
        names
            .map(|(_, name)| {
                issue(
                    IssueCode::Missing,
                    format!("required property {}", Value::from(name.as_str())),
                )
            })
            .collect()
    }

    pub(super) fn pending(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        for frame in &self.frames {
            let count = u64::try_from(self.partial.len(frame.node)).unwrap_or(u64::MAX);
            let missing = self.missing(frame, count).into_iter();
            found.extend(missing.map(|issue| Finding::new(issue, Standing::Pending, frame.start)));
        }
        found.extend(self.unfinished());
        found
    }

    pub(super) fn expected(&self) -> Expected<'_> {
        let mut expected = Expected { types: String::new(), keys: Vec::new(), values: Vec::new() };
        let ways: &[Way] = match &self.open {
            Some(open) => &open.ways,
            None => &self.next,
        };
        let begun = self.open.as_ref().map(|open| self.partial.content(open.node));
        if self.done || self.mute && self.open.is_none() {
            self.expected_keys(&mut expected);
            return expected;
        }
        let mut types = Types::NONE;
        for way in ways {
            let place = self.places.get(way.place);
            types = types.union(place.types);
            let fits = |option: &&Value| match begun {
                Some(begun) => option.as_str().is_some_and(|name| name.starts_with(begun)),
                None => true,
            };
            expected.values.extend(place.options.iter().flatten().filter(fits));
        }
        if types != Types::ALL {
            expected.types = types.names();
        }
        expected
    }

    fn expected_keys(&self, expected: &mut Expected<'_>) {
        let Some(frame) = self.frames.last().filter(|frame| frame.kind == JsonType::Object) else {
            return;
        };
        let members = self.partial.at(frame.node).into_iter().flat_map(|own| own.children());
        let given: Vec<&str> = members.filter_map(|child| child.key()).collect();
        for own in &frame.ways {
            let part = self.places.part(own.way.place);
            for key in part.properties() {
                if !given.contains(&key) && !expected.keys.iter().any(|own| own == key) {
                    expected.keys.push(key.to_owned());
                }
            }
        }
    }
}
