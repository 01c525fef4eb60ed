//! The tools that calls may name.

use std::{collections::BTreeMap, sync::Arc};

use wiremend_core::{Guide, JsonType, Member, Output as _, Partial, Value};

/// The namespaces that models write before the name of a tool.
pub(super) const NAMESPACES: [&str; 3] = ["functions", "tools", "default_api"];

/// The tools that calls may name, with the parameters of each in order.
///
/// This crate knows nothing about schemas. What it needs of one is the order of the parameters, for
/// arguments that are given by position, and the guide of the arguments, for values that are written
/// as bare text. `wiremend_schema` makes such a table from a registry.
///
/// ```
/// use wiremend_extract::Tools;
/// let tools = Tools::new().with_tool("search", ["query", "limit"], None);
/// assert!(tools.contains("search"));
/// assert_eq!(tools.nearest("serach"), Some("search"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tools {
    tools: BTreeMap<String, Tool>,
    /// The name of the tool that has this name with all punctuation written as `_`, if there is one.
    folded: BTreeMap<String, Option<String>>,
}

/// One tool.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    pub(super) parameters: Vec<String>,
    guide: Option<Arc<dyn Guide>>,
}

/// What the schema says about a value that was written as bare text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typing {
    /// A string, and nothing else.
    Text,
    /// Anything but a string.
    Json,
    /// A string or something else.
    Either,
    /// Nothing.
    Unknown,
}

impl Tools {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool, or replaces the one of that name.
    #[must_use]
    pub fn with_tool<P: Into<String>>(
        mut self,
        name: impl Into<String>,
        parameters: impl IntoIterator<Item = P>,
        guide: Option<Arc<dyn Guide>>,
    ) -> Self {
        let parameters = parameters.into_iter().map(Into::into).collect();
        let name = name.into();
        if self.tools.insert(name.clone(), Tool { parameters, guide }).is_none() {
            let own = self.folded.entry(folded(&name)).or_insert_with(|| Some(name.clone()));
            if own.as_ref() != Some(&name) {
                *own = None;
            }
        }
        self
    }

    /// Adds all tools of another table.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        other
            .tools
            .into_iter()
            .fold(self, |tools, (name, tool)| tools.with_tool(name, tool.parameters, tool.guide))
    }

    /// Whether there are no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Whether there is a tool of that name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    /// The tool that a name written by a model refers to. Models add the name of a namespace that is
    /// also the name of the tool, escape underscores as Markdown does, and write dots as underscores.
    pub(super) fn resolve<'n>(&'n self, written: &'n str) -> &'n str {
        if self.contains(written) {
            return written;
        }
        match written.split_once('.') {
            Some((space, name)) if space == name => return name,
            Some((space, name)) if NAMESPACES.contains(&space) && self.contains(name) => {
                return name;
            }
            _ => {}
        }
        // Templates write the punctuation of names as underscores, where an API allows no other.
        match self.folded.get(&folded(written)) {
            Some(Some(name)) => name,
            _ => written,
        }
    }

    /// The tool that a name written by a model refers to, if there is one.
    pub(super) fn known(&self, written: &str) -> Option<&Tool> {
        self.get(self.resolve(written))
    }

    /// The only tool of which an identifier that is no name may be: the namespace, the name, and the number of
    /// the call, with any punctuation in between. Without the namespace, it has some before the number.
    pub(super) fn numbered(&self, id: &str, namespace: &str) -> Option<&str> {
        if self.known(id).is_some() {
            return None;
        }
        let id = folded(id);
        let space = namespace.trim_end_matches('.');
        let inner = id.strip_prefix(space).map(|inner| inner.strip_prefix('_').unwrap_or(inner));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_own = |name: &&str| {
            let own = folded(name);
            let after = inner.and_then(|inner| inner.strip_prefix(&*own));
            let bare = id.strip_prefix(&*own).and_then(|number| number.strip_prefix('_'));
            after.is_some_and(|after| is_number(after.strip_prefix('_').unwrap_or(after)))
                || bare.is_some_and(|number| !number.is_empty() && is_number(number))
        };
        let mut own = self.names().filter(is_own);
        own.next().filter(|_| own.next().is_none())
    }

    /// The tool whose name is the most similar one, if any is close: at most a third of the letters
    /// differ.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<&str> {
        const LONGEST: usize = 64;
        if name.is_empty() || name.len() > LONGEST {
            return None;
        }
        let near = self.names().filter(|other| other.len() <= LONGEST);
        let scored = near.map(|other| (distance(name, other), other));
        let (cost, best) = scored.min_by_key(|(cost, _)| *cost)?;
        (cost * 3 <= name.len().max(best.len())).then_some(best)
    }
}

fn folded(name: &str) -> String {
    let plain = name.chars().filter(|c| *c != '\\');
    plain.map(|c| if matches!(c, '.' | '-' | '/' | ':') { '_' } else { c }).collect()
}

/// How many letters have to be inserted, deleted or replaced, case aside. The lengths are bounded by
/// the caller.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = i;
        let mut left = i + 1;
        for (y, above) in b.iter().zip(row.iter_mut().skip(1)) {
            let same = x.eq_ignore_ascii_case(y);
            let cost = (corner + usize::from(!same)).min(left + 1).min(*above + 1);
            corner = std::mem::replace(above, cost);
            left = cost;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

impl Tool {
    /// Whether the tool has a parameter of that name.
    pub(super) fn has(&self, parameter: &str) -> bool {
        self.parameters.iter().any(|own| own == parameter)
    }

    /// Whether the tool may have a parameter of that name. Nothing is known of a tool without
    /// parameters and without a guide.
    pub(super) fn takes(&self, parameter: &str) -> bool {
        self.has(parameter)
            || self.parameter(parameter).is_some()
            || self.parameters.is_empty() && self.guide.is_none()
    }

    /// Whether the tool may have parameters of all names in an object.
    pub(super) fn takes_all(&self, arguments: &[u8]) -> bool {
        let mut partial = Partial::new();
        members(arguments, &mut partial).all(|(key, _)| self.takes(key))
    }

    /// Whether an object is the schema of the arguments, or has schemas in the place of values.
    pub(super) fn is_declared_by(&self, arguments: &[u8]) -> bool {
        let mut partial = Partial::new();
        members(arguments, &mut partial).any(|(key, value)| {
            let guide = self.parameter(key);
            // A parameter that is an object may have a member called `type`.
            let object = guide.is_some_and(|guide| guide.allows(JsonType::Object));
            let first = value.children().next().and_then(|member| member.key());
            let schema = first.is_some_and(|key| OF_SCHEMAS.contains(&key));
            !self.has(key) && OF_SCHEMAS.contains(&key) || schema && !object
        })
    }

    /// Whether it is known to have no parameters.
    pub(super) fn takes_nothing(&self) -> bool {
        self.parameters.is_empty() && self.guide.is_some()
    }

    /// What is known about a parameter.
    pub(super) fn parameter(&self, name: &str) -> Option<Arc<dyn Guide>> {
        match self.guide.as_ref()?.member(name) {
            Member::Declared(guide) => Some(guide),
            _ => None,
        }
    }
}

/// The keys with which a schema begins.
const OF_SCHEMAS: [&str; 6] =
    ["type", "properties", "required", "additionalProperties", "description", "$schema"];

/// The members of a JSON object.
fn members<'p>(
    json: &[u8],
    partial: &'p mut Partial,
) -> impl Iterator<Item = (&'p str, Value<'p>)> {
    partial.copy(json);
    partial.settle();
    let members = partial.root().into_iter().flat_map(|root| root.children());
    members.filter_map(|member| Some((member.key()?, member)))
}

/// What a guide says about text.
pub(super) fn typing(guide: Option<&Arc<dyn Guide>>) -> Typing {
    let Some(guide) = guide else { return Typing::Unknown };
    let others =
        [JsonType::Array, JsonType::Boolean, JsonType::Null, JsonType::Number, JsonType::Object];
    let count = others.into_iter().filter(|kind| guide.allows(*kind)).count();
    match (guide.allows(JsonType::String), count) {
        (true, 0) => Typing::Text,
        (true, 5) => Typing::Unknown,
        (true, _) => Typing::Either,
        (false, _) => Typing::Json,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_resolved_to_a_tool() {
        let tools = Tools::new().with_tool("get_time", ["city"], None);
        let tools = tools.with_tool("echo", Vec::<String>::new(), None);
        assert_eq!(tools.resolve(r"get\_time"), "get_time");
        assert_eq!(tools.resolve("functions.get_time"), "get_time");
        assert_eq!(tools.resolve("echo.echo"), "echo");
        assert_eq!(tools.resolve("x.y"), "x.y");
        assert_eq!(tools.nearest("get_tiem"), Some("get_time"));
        assert_eq!(tools.nearest("write_file"), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
