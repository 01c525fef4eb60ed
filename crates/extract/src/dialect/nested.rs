//! Elements inside of values: objects, lists and text, without any sign which of them is meant.

use std::{collections::BTreeMap, sync::Arc};

use wiremend_core::{Guide, JsonType, Member, MendOptions};

use super::{arguments::quote, shape::Xml, value::of_text};

/// The most elements that are open at a time. Deeper ones are text.
const DEEPEST: usize = 32;

/// A value with elements in it, until it ends.
#[derive(Clone, Debug)]
pub(super) struct Nested {
    guide: Option<Arc<dyn Guide>>,
    /// The elements that are open, the outermost first.
    open: Vec<Element>,
    /// Elements that were opened below the deepest level.
    ignored: usize,
    size: usize,
    /// Whether it is not known what the elements mean: they are next to text, or it is not known which
    /// of them belongs in which.
    unclear: bool,
    /// How many closing tags were missing, or closed nothing.
    repairs: usize,
}

#[derive(Clone, Debug, Default)]
struct Element {
    key: String,
    text: Vec<u8>,
    children: Vec<Element>,
}

impl Nested {
    pub(super) fn new(key: &str, guide: Option<Arc<dyn Guide>>) -> Self {
        let root = Element { key: key.to_owned(), ..Element::default() };
        Self { guide, open: vec![root], ignored: 0, size: 0, unclear: false, repairs: 0 }
    }

    /// The key of the value.
    pub(super) fn key(&self) -> &str {
        self.open.first().map_or("", |root| &root.key)
    }

    /// Whether it is larger than the limit.
    pub(super) fn is_full(&self, options: &MendOptions) -> bool {
        self.size > options.limits().buffer()
    }

    pub(super) fn text(&mut self, bytes: &[u8]) {
        self.size += bytes.len();
        if let Some(element) = self.open.last_mut() {
            element.text.extend_from_slice(bytes);
        }
    }

    pub(super) fn open(&mut self, key: &str) {
        self.size += key.len() + 1;
        if self.open.len() >= DEEPEST {
            self.ignored += 1;
            self.unclear = true;
        } else {
            self.open.push(Element { key: key.to_owned(), ..Element::default() });
        }
    }

    /// Closes an element, and those inside of it that were not closed. Returns whether that was the
    /// value.
    pub(super) fn close(&mut self, key: &str) -> bool {
        if self.ignored > 0 {
            self.ignored -= 1;
            return false;
        }
        let Some(at) = self.open.iter().rposition(|element| element.key == key) else {
            self.repairs += 1;
            return false;
        };
        self.fold(at);
        if at == 0 {
            return true;
        }
        self.close_last();
        false
    }

    /// Closes elements until one is open at this level, although their closing tags are missing.
    fn fold(&mut self, level: usize) {
        while self.open.len() > level + 1 {
            self.repairs += 1;
            // What is in an element may as well come after it.
            self.unclear |= self.open.last().is_some_and(|last| !last.children.is_empty());
            self.close_last();
        }
    }

    fn close_last(&mut self) {
        let Some(child) = self.open.pop() else { return };
        self.unclear |= child.is_mixed();
        if let Some(parent) = self.open.last_mut() {
            parent.children.push(child);
        }
    }

    /// Ends the value although its closing tag is missing. Without a schema, an element in it may as well
    /// come after it.
    pub(super) fn end(&mut self) {
        self.fold(0);
        self.repairs += 1;
        let followed = self.open.first().is_some_and(|root| !root.children.is_empty());
        self.unclear |= followed && self.guide.is_none();
    }

    /// Whether any element with such a key is directly in the value.
    pub(super) fn begins_any(&self, is: impl Fn(&str) -> bool) -> bool {
        let root = self.open.first();
        root.is_some_and(|root| root.children.iter().any(|child| is(&child.key)))
    }

    /// How many closing tags were missing, or closed nothing, and whether it is not known what the
    /// elements mean.
    pub(super) fn doubts(&self) -> (usize, bool) {
        (self.repairs, self.unclear || self.open.first().is_some_and(Element::is_mixed))
    }

    /// The value as JSON text.
    pub(super) fn json(&mut self, xml: &Xml, options: &MendOptions) -> Vec<u8> {
        self.fold(0);
        let mut json = Vec::new();
        if let Some(root) = self.open.first() {
            root.write(self.guide.clone(), xml, options, &mut json);
        }
        json
    }
}

impl Element {
    /// Whether there are elements next to text, which no schema has a place for.
    fn is_mixed(&self) -> bool {
        !self.children.is_empty() && !self.text.trim_ascii().is_empty()
    }

    /// Writes the element. Its depth is bounded.
    fn write(
        &self,
        guide: Option<Arc<dyn Guide>>,
        xml: &Xml,
        options: &MendOptions,
        json: &mut Vec<u8>,
    ) {
        if self.children.is_empty() {
            json.extend_from_slice(&of_text(&self.text, guide, xml, options));
            return;
        }
        if self.is_list(guide.as_ref()) {
            json.push(b'[');
            for (at, child) in self.children.iter().enumerate() {
                if at > 0 {
                    json.extend_from_slice(b", ");
                }
                child.write(guide.as_ref().and_then(|guide| guide.item(at)), xml, options, json);
            }
            json.push(b']');
            return;
        }
        // A repeated element is a list, at the place of the first.
        let mut groups: BTreeMap<&str, Vec<&Self>> = BTreeMap::new();
        let mut order = Vec::new();
        for child in &self.children {
            let group = groups.entry(&child.key).or_default();
            if group.is_empty() {
                order.push(child.key.as_str());
            }
            group.push(child);
        }
        json.push(b'{');
        for (at, key) in order.into_iter().enumerate() {
            if at > 0 {
                json.extend_from_slice(b", ");
            }
            quote(key.as_bytes(), json);
            json.extend_from_slice(b": ");
            let below = guide.as_ref().and_then(|guide| match guide.member(key) {
                Member::Declared(guide) => Some(guide),
                _ => None,
            });
            match groups.get(key).map_or(&[][..], Vec::as_slice) {
                [one] if !one.is_item(below.as_ref()) => one.write(below, xml, options, json),
                items => {
                    json.push(b'[');
                    for (at, item) in items.iter().enumerate() {
                        if at > 0 {
                            json.extend_from_slice(b", ");
                        }
                        let guide = below.as_ref().and_then(|guide| guide.item(at));
                        item.write(guide, xml, options, json);
                    }
                    json.push(b']');
                }
            }
        }
        json.push(b'}');
    }

    /// Whether the element, which is alone, is an item of the list of this guide, and not the list.
    fn is_item(&self, list: Option<&Arc<dyn Guide>>) -> bool {
        let Some(list) = list.filter(|list| !list.allows(JsonType::Object)) else { return false };
        let Some(item) = list.item(0).filter(|_| list.allows(JsonType::Array)) else {
            return false;
        };
        let declared = |child: &Self| matches!(item.member(&child.key), Member::Declared(_));
        !self.children.is_empty() && self.children.iter().all(declared)
    }

    fn is_list(&self, guide: Option<&Arc<dyn Guide>>) -> bool {
        let (list, object) = guide.map_or((true, true), |guide| {
            (guide.allows(JsonType::Array), guide.allows(JsonType::Object))
        });
        let items =
            self.children.iter().all(|child| matches!(child.key.as_str(), "item" | "items"));
        list && (items || !object)
    }
}
