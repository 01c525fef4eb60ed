//! Presents the tree to the validator.

use std::borrow::Cow;

use jsonschema::json::{self, Json, JsonNumber, NodeIdentity};
use serde_json::Value;

use super::{Children, JsonType, Node};

/// The representation that the validator is generic over.
pub(crate) enum TreeJson {}

/// A value to validate: a node of a tree, or a property name, which is not in a tree.
#[derive(Clone, Copy)]
pub(crate) enum Instance<'a> {
    Node(Node<'a>),
    Name(&'a str),
}

impl Json for TreeJson {
    type Node<'a> = Instance<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    // A lookup reads the members one by one, so reading all of them once is always cheaper.
    const KEYS_PER_LOOKUP: usize = 1 << 20;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(Instance<'_>) -> T) -> T {
        f(Instance::Name(string))
    }
}

impl<'a> Instance<'a> {
    /// The type of the value.
    pub(crate) fn kind(self) -> JsonType {
        match self {
            Self::Node(node) => node.kind(),
            Self::Name(_) => JsonType::String,
        }
    }

    /// The node, unless it is a name.
    pub(crate) const fn node(self) -> Option<Node<'a>> {
        match self {
            Self::Node(node) => Some(node),
            Self::Name(_) => None,
        }
    }

    /// The string, if it is one.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Name(name) => Some(Cow::Borrowed(name)),
            Self::Node(node) => node.as_str(),
        }
    }

    fn of_kind(self, kind: JsonType) -> Option<Node<'a>> {
        match self {
            Self::Node(node) => (node.kind() == kind).then_some(node),
            Self::Name(_) => None,
        }
    }
}

impl<'a> json::Node<'a, TreeJson> for Instance<'a> {
    type Object = Members<'a>;
    type Array = Items<'a>;
    type Number = RawNumber<'a>;

    fn as_object(&self) -> Option<Members<'a>> {
        self.of_kind(JsonType::Object).map(Members)
    }
    fn as_array(&self) -> Option<Items<'a>> {
        self.of_kind(JsonType::Array).map(Items)
    }
    fn as_string(&self) -> Option<Cow<'a, str>> {
        match *self {
            Self::Name(name) => Some(Cow::Borrowed(name)),
            Self::Node(node) => node.as_str(),
        }
    }
    fn as_number(&self) -> Option<RawNumber<'a>> {
        self.of_kind(JsonType::Number).map(|node| RawNumber(node.raw()))
    }
    fn as_boolean(&self) -> Option<bool> {
        self.of_kind(JsonType::Boolean)?.as_bool()
    }
    fn is_null(&self) -> bool {
        self.of_kind(JsonType::Null).is_some()
    }
    fn is_number(&self) -> bool {
        self.of_kind(JsonType::Number).is_some()
    }
    fn is_string(&self) -> bool {
        match self {
            Self::Name(_) => true,
            Self::Node(node) => node.kind() == JsonType::String,
        }
    }
    fn json_type(&self) -> jsonschema::JsonType {
        match self {
            Self::Name(_) => jsonschema::JsonType::String,
            Self::Node(node) => match node.kind() {
                JsonType::Array => jsonschema::JsonType::Array,
                JsonType::Boolean => jsonschema::JsonType::Boolean,
                JsonType::Null => jsonschema::JsonType::Null,
                JsonType::Number => jsonschema::JsonType::Number,
                JsonType::Object => jsonschema::JsonType::Object,
                JsonType::String => jsonschema::JsonType::String,
            },
        }
    }
    fn equals_value(&self, expected: &Value) -> bool {
        match (*self, expected) {
            (Self::Name(name), Value::String(expected)) => name == expected,
            (Self::Name(_), _) => false,
            (Self::Node(node), expected) => equals(node, expected),
        }
    }
    /// Only error messages use this value, and we write our own.
    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(Value::Null)
    }
    fn identity(&self) -> Option<NodeIdentity> {
        let address = match self {
            Self::Name(_) => return None,
            Self::Node(node) => std::ptr::from_ref(node.tree()) as usize,
        };
        self.index().map(|index| NodeIdentity::tagged(address, index))
    }
}

impl Instance<'_> {
    fn index(&self) -> Option<u32> {
        match self {
            Self::Node(node) => Some(node.index()),
            Self::Name(_) => None,
        }
    }
}

/// Equality as defined by JSON Schema: numbers by value, objects regardless of order.
pub(crate) fn equals(node: Node<'_>, expected: &Value) -> bool {
    match (node.kind(), expected) {
        (JsonType::Null, Value::Null) => true,
        (JsonType::Boolean, Value::Bool(expected)) => node.as_bool() == Some(*expected),
        (JsonType::String, Value::String(expected)) => node.as_str().as_deref() == Some(expected),
        (JsonType::Number, Value::Number(_))
        | (JsonType::Array, Value::Array(_))
        | (JsonType::Object, Value::Object(_)) => {
            value(node).is_some_and(|value| json::cmp::equal(&value, expected))
        }
        _ => false,
    }
}

/// Whether all items of a list are different.
pub(crate) fn is_unique(list: Node<'_>) -> bool {
    let (mut values, mut huge) = (Vec::new(), Vec::new());
    for item in list.children() {
        match value(item) {
            Some(value) => values.push(value),
            // A number that does not fit into an `f64` is compared by its text.
            None => huge.push(item.raw()),
        }
    }
    huge.sort_unstable();
    json::unique::is_unique(&values) && huge.windows(2).all(|pair| pair[0] != pair[1])
}

/// The value of a node; `None` for numbers that do not fit into an `f64`. The tree bounds the
/// depth.
pub(crate) fn value(node: Node<'_>) -> Option<Value> {
    serde_json::from_str(node.raw()).ok()
}

pub(crate) struct Members<'a>(Node<'a>);

impl<'a> json::Object<'a, TreeJson> for Members<'a> {
    type Node = Instance<'a>;
    type MemberName = Cow<'a, str>;
    type MembersIter = Named<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }
    fn get(&self, key: &String) -> Option<Instance<'a>> {
        self.0.member(key).map(Instance::Node)
    }
    fn members(&self) -> Named<'a> {
        Named(self.0.children())
    }
}

pub(crate) struct Named<'a>(Children<'a>);

impl<'a> Iterator for Named<'a> {
    type Item = (Cow<'a, str>, Instance<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let member = self.0.next()?;
        Some((member.key().unwrap_or_default(), Instance::Node(member)))
    }
}

pub(crate) struct Items<'a>(Node<'a>);

impl<'a> json::Array<'a, TreeJson> for Items<'a> {
    type Node = Instance<'a>;
    type ElementsIter = Elements<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }
    fn elements(&self) -> Elements<'a> {
        Elements(self.0.children())
    }
    fn is_unique(&self) -> bool {
        is_unique(self.0)
    }
}

pub(crate) struct Elements<'a>(Children<'a>);

impl<'a> Iterator for Elements<'a> {
    type Item = Instance<'a>;

    fn next(&mut self) -> Option<Instance<'a>> {
        self.0.next().map(Instance::Node)
    }
}

/// A number, by its text.
pub(crate) struct RawNumber<'a>(&'a str);

impl JsonNumber for RawNumber<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }
    fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }
    fn as_f64(&self) -> Option<f64> {
        self.0.parse().ok().filter(|number: &f64| number.is_finite())
    }
    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }
    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        let largest = if self.0.starts_with('-') { f64::MIN } else { f64::MAX };
        let number = serde_json::from_str(self.0)
            .ok()
            .or_else(|| serde_json::Number::from_f64(largest))
            .unwrap_or_else(|| 0.into());
        Cow::Owned(number)
    }
    fn is_integer(&self) -> bool {
        super::is_integer(self.0)
    }
    fn is_written_as_integer(&self) -> bool {
        !self.0.contains(['.', 'e', 'E'])
    }
}
