//! Members that are at a different level than in the schema.

use super::{Proposal, Site, map::object};
use crate::{
    Rule,
    tree::{JsonType, Node},
};

pub(super) fn propose<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    if !site.part.allows(JsonType::Object) {
        return;
    }
    if site.node.is_null() && site.part.required().is_empty() {
        found.push(Proposal::text(Rule::NullToEmpty, "{}"));
    }
    if site.node.kind() != JsonType::Object || site.part.has_patterns() {
        return;
    }
    let forms = [
        (Rule::DottedKeys, nested(site)),
        (Rule::DottedKeys, flattened(site)),
        (Rule::HoistNested, hoisted(site)),
        (Rule::SinkNested, sunk(site)),
    ];
    for (rule, form) in forms {
        found.extend(form.map(|text| Proposal::text(rule, text)));
    }
}

/// An object under construction. Each key has a JSON text or further members.
#[derive(Default)]
struct Members(Vec<(String, Content)>);

enum Content {
    Raw(String),
    Members(Vec<(String, String)>),
}

impl Members {
    fn raw(&mut self, key: &str, node: Node<'_>) {
        self.0.push((key.to_owned(), Content::Raw(node.raw().to_owned())));
    }

    /// Adds a member to the object under `key`, which is created if necessary.
    fn below(&mut self, key: &str, inner: &str, node: Node<'_>) {
        let member = (inner.to_owned(), node.raw().to_owned());
        for (own, content) in &mut self.0 {
            if own == key {
                if let Content::Members(members) = content {
                    members.push(member);
                }
                return;
            }
        }
        self.0.push((key.to_owned(), Content::Members(vec![member])));
    }

    fn text(&self) -> String {
        let texts: Vec<(&str, String)> = self
            .0
            .iter()
            .map(|(key, content)| {
                let text = match content {
                    Content::Raw(raw) => raw.clone(),
                    Content::Members(members) => {
                        object(members.iter().map(|(key, value)| (key.as_str(), value.as_str())))
                    }
                };
                (key.as_str(), text)
            })
            .collect();
        object(texts.iter().map(|(key, text)| (*key, text.as_str())))
    }
}

/// Expands `{"a.b": 1}` if `a` is an object that declares `b`.
fn nested(site: &Site<'_, '_, '_>) -> Option<String> {
    let mut members = Members::default();
    let mut moved = false;
    for member in site.node.children() {
        let key = member.key()?;
        let split = key.split_once('.').filter(|(head, rest)| {
            let inner = site.part.property(head).is_some_and(|part| part.declares(rest));
            inner && !site.part.declares(&key) && site.node.member(head).is_none()
        });
        match split {
            Some((head, rest)) => {
                moved = true;
                members.below(head, rest, member);
            }
            None => members.raw(&key, member),
        }
    }
    moved.then(|| members.text())
}

/// Flattens `{"a": {"b": 1}}` if `a.b` is declared and `a` is not.
fn flattened(site: &Site<'_, '_, '_>) -> Option<String> {
    let mut members = Members::default();
    let mut moved = false;
    for member in site.node.children() {
        let key = member.key()?;
        let dotted = |inner: Node<'_>| format!("{key}.{}", inner.key().unwrap_or_default());
        let all = member.kind() == JsonType::Object
            && member.len() > 0
            && !site.part.declares(&key)
            && member.children().all(|inner| site.part.declares(&dotted(inner)));
        if all {
            moved = true;
            for inner in member.children() {
                members.raw(&dotted(inner), inner);
            }
        } else {
            members.raw(&key, member);
        }
    }
    moved.then(|| members.text())
}

/// Moves up a missing property that is present in exactly one nested object, which does not declare
/// it.
fn hoisted(site: &Site<'_, '_, '_>) -> Option<String> {
    let missing = site.part.required().into_iter().find(|name| site.node.member(name).is_none())?;
    let mut holders = site.node.children().filter(|member| {
        let declared = member.key().is_some_and(|key| site.part.member(&key).declares(missing));
        member.member(missing).is_some() && !declared
    });
    let (Some(holder), None) = (holders.next(), holders.next()) else { return None };
    let mut members = Members::default();
    for member in site.node.children() {
        let key = member.key()?;
        if member.index() == holder.index() {
            let rest: Vec<(String, String)> = member
                .children()
                .filter(|inner| !inner.has_key(missing))
                .map(|inner| (inner.key().unwrap_or_default().into_owned(), inner.raw().to_owned()))
                .collect();
            members.0.push((key.into_owned(), Content::Members(rest)));
        } else {
            members.raw(&key, member);
        }
    }
    members.raw(missing, holder.member(missing)?);
    Some(members.text())
}

/// Moves down an undeclared property that is missing in exactly one nested object.
fn sunk(site: &Site<'_, '_, '_>) -> Option<String> {
    let unknown = site
        .node
        .children()
        .find(|member| member.key().is_some_and(|key| !site.part.declares(&key)))?;
    let name = unknown.key()?;
    let mut takers = site.node.children().filter(|member| {
        let part = member.key().map(|key| site.part.member(&key));
        let wants = part.is_some_and(|part| part.requires(&name));
        member.kind() == JsonType::Object && wants && member.member(&name).is_none()
    });
    let (Some(taker), None) = (takers.next(), takers.next()) else { return None };
    let mut members = Members::default();
    for member in site.node.children().filter(|member| member.index() != unknown.index()) {
        let key = member.key()?;
        if member.index() == taker.index() {
            let own = member.children().chain([unknown]);
            let inner = own
                .map(|inner| (inner.key().unwrap_or_default().into_owned(), inner.raw().to_owned()))
                .collect();
            members.0.push((key.into_owned(), Content::Members(inner)));
        } else {
            members.raw(&key, member);
        }
    }
    Some(members.text())
}
