//! Asks only for the parts of a value that are wrong, and puts the reply back into the rest.
//!
//! The question has a key for each part, and the reply may have other names for them. The reply is put back as text, so
//! that everything else keeps its spelling.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet},
};

use serde_json::{Map, Value, json};
use wiremend_core::{JsonType, MendOptions, Policy, Risk};
use wiremend_extract::{Scope, find};
use wiremend_schema::{FitOptions, Issue, IssueCode, Node, Schema, Tree};

use crate::{
    fitted_answer::is_mended,
    prompt::harmless_line,
    subschema::{self, resolve},
};

/// A question for single fields of a value. The reply is an object with a key for each of them.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    /// The value as it is now.
    base: String,
    /// The highest risk of what was done to get it.
    risk: Option<Risk>,
    /// The names of the members that the value may have, folded.
    members: HashSet<String>,
    fields: Vec<Field>,
    /// The pointers of the values that are left to repair.
    left: Vec<String>,
    /// What the model is asked for.
    asked: Schema,
    /// How a reply is read: a field that is left out is asked for again.
    read: Schema,
    /// The same, for a reply whose values are wrong once more.
    loose: Schema,
}

#[derive(Clone, Debug, PartialEq)]
struct Field {
    pointer: String,
    schema: Value,
    /// The property does not exist in the schema.
    is_removal: bool,
    /// The property may be left out: `null` in the reply means that.
    is_optional: bool,
    /// Whether repair mends it as soon as the rest fits.
    is_mended: bool,
    /// The pointer under which the value was probably sent instead.
    sent_as: Option<String>,
    /// Its key in the reply.
    key: String,
}

impl Fields {
    /// A question for the parts of `base` that the issues are about; `None` if they are not about parts of
    /// it, if nothing else in it is good, or if there are more than `most`. What repair mends by itself is not asked for.
    pub(crate) fn plan(
        schema: &Schema,
        (base, risk): (&str, Option<Risk>),
        issues: &[Issue],
        most: usize,
    ) -> Option<Self> {
        let source = schema.source();
        let mut fields: Vec<Field> = Vec::new();
        for issue in issues {
            // A key may be the model's own, and is a part of the prompt outside of any frame.
            let field = field(source, issue).filter(|field| is_plain(&field.pointer))?;
            match fields.iter_mut().find(|other| other.pointer == field.pointer) {
                Some(other) => other.is_mended &= field.is_mended,
                None => fields.push(field),
            }
        }
        let tree = Tree::read(base).ok()?;
        let left = leave_to_repair(&mut fields);
        // Nested ones are dropped below.
        if fields.len() > most.saturating_mul(8) {
            return None;
        }
        let outer: Vec<String> = fields.iter().map(|field| format!("{}/", field.pointer)).collect();
        fields.retain(|field| !outer.iter().any(|outer| field.pointer.starts_with(outer.as_str())));
        gather(&mut fields, &tree, source);
        let is_good = |key: &str| !fields.iter().any(|field| field.pointer == key);
        let rest = tree.root().children().any(|child| is_good(&child.pointer()));
        if fields.is_empty() || fields.len() > most || !rest {
            return None;
        }
        let pointers: Vec<String> = fields.iter().map(|field| field.pointer.clone()).collect();
        let members = member_names(source, &tree, &pointers);
        for (field, key) in fields.iter_mut().zip(reply_keys(&pointers, &members)) {
            field.key = key;
        }
        let definitions = subschema::definitions(source, fields.iter().map(|field| &field.schema));
        let elsewhere = names_elsewhere(&tree, &pointers);
        let compile = |reading| {
            let mut made = object(&fields, &elsewhere, reading);
            made.extend(definitions.clone()?);
            if let Some(dialect) = source.get("$schema") {
                made.insert("$schema".to_owned(), dialect.clone());
            }
            Schema::compile(&Value::Object(made)).ok()
        };
        let (asked, read) = (compile(ReplyForm::Asked)?, compile(ReplyForm::Typed)?);
        let loose = compile(ReplyForm::Untyped)?;
        Some(Self { base: base.to_owned(), risk, members, fields, left, asked, read, loose })
    }

    /// The JSON Pointers of what is asked for.
    pub(crate) fn pointers(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.pointer.as_str())
    }

    /// Whether an issue is about a part that is asked for, or about something in one.
    pub(crate) fn is_about(&self, issue: &Issue) -> bool {
        let place = subschema::pointer(issue.path(), issue.missing());
        let is_in = |own: &str| {
            place.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.pointers().any(is_in)
    }

    /// For each field its key in the reply, its JSON Pointer, and whether it may be left out.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        self.fields
            .iter()
            .map(|field| (field.key.as_str(), field.pointer.as_str(), field.is_optional))
    }

    /// The schema of the reply.
    pub(crate) const fn schema(&self) -> &Schema {
        &self.asked
    }

    /// The schema of each field, and the definitions that they need.
    pub(crate) fn schemas(&self) -> Value {
        let source = self.asked.source();
        let mut made =
            source.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        for keyword in DEFINITIONS {
            made.extend(source.get(keyword).map(|own| (keyword.to_owned(), own.clone())));
        }
        Value::Object(made)
    }

    /// The value without the parts that are asked for. In a list, `null` keeps the place of one.
    pub(crate) fn rest(&self) -> String {
        let tree = Tree::read(&self.base);
        let is_item = |pointer: &str| {
            let list = pointer.rsplit_once('/').map(|(list, _)| list);
            let list = list.and_then(|list| tree.as_ref().ok()?.at(list));
            list.is_some_and(|list| list.kind() == JsonType::Array)
        };
        let edit = |pointer: &str| match is_item(pointer) {
            true => Edit::Set("null".to_owned()),
            false => Edit::Remove,
        };
        let edits: Vec<_> = self.pointers().map(|field| (field.to_owned(), edit(field))).collect();
        splice(&self.base, &edits).unwrap_or_default()
    }

    /// The value with the parts of a reply in it: with everything else as it is, and without what was sent
    /// under a wrong name. Each with the highest risk of what was done to get it. Empty if the reply holds none of the
    /// fields. Each way to read it may take `steps` steps.
    pub(crate) fn merge(&self, reply: &str, steps: u64) -> Vec<(String, Option<Risk>)> {
        // Of the reply, only the keys matter. The rules for the values are those of the whole schema, which
        // is applied to the result.
        let engine = MendOptions::new().with_policy(Policy::CONSERVATIVE);
        let mended = find(reply.as_bytes(), Scope::Best, &engine);
        let stated = mended.text().and_then(|text| Tree::read(text).ok());
        let root = stated.as_ref().map(Tree::root);
        // A member of the value itself is no other name for a field.
        let is_stated = |field: &Field| root.is_some_and(|root| root.member(&field.key).is_some());
        let is_member = root.is_some_and(|root| self.has_member(root));
        let taken = |field: &Field| !is_member || is_stated(field);
        let options = FitOptions::new().with_mending(engine).with_steps(steps);
        let fitted = [&self.read, &self.loose].into_iter().find_map(|schema| {
            let fitted = schema.fit(reply.as_bytes(), &options);
            let text = fitted.outcome().is_complete().then(|| fitted.text().map(str::to_owned));
            Some((text.flatten()?, fitted.risk()))
        });
        let twice = mended.text().is_some_and(repeats_a_key);
        let twice = twice.then_some(Risk::Guess);
        fitted.map_or_else(Vec::new, |(text, risk)| self.put_back(&text, risk.max(twice), taken))
    }

    /// The same, for a reply that has more in it than the fields, or has them in another object.
    pub(crate) fn merge_loosely(&self, reply: &str) -> Vec<(String, Option<Risk>)> {
        let engine = MendOptions::new().with_policy(Policy::CONSERVATIVE);
        let mended = find(reply.as_bytes(), Scope::Best, &engine);
        let text = mended.text().filter(|_| mended.outcome().is_complete());
        // What else is in it may say otherwise about parts that were good.
        let risk = mended.repairs().risk().max(Some(Risk::Likely));
        text.map_or_else(Vec::new, |text| {
            let twice = repeats_a_key(text).then_some(Risk::Guess);
            self.put_back(text, risk.max(twice), |_| true)
        })
    }

    /// Whether an object has members of the value itself that were not asked for.
    fn has_member(&self, reply: Node<'_>) -> bool {
        let is_asked = |key: &str| self.fields.iter().any(|field| folded(&field.key) == key);
        let mut keys = reply.children().filter_map(|child| Some(folded(&child.key()?)));
        keys.any(|key| self.members.contains(&key) && !is_asked(&key))
    }

    /// The value with the fields of a reply, in up to two ways.
    fn put_back(
        &self,
        reply: &str,
        risk: Option<Risk>,
        is_taken: impl Fn(&Field) -> bool,
    ) -> Vec<(String, Option<Risk>)> {
        let Ok(tree) = Tree::read(reply) else { return Vec::new() };
        let Some(values) = self.values(tree.root()) else { return Vec::new() };
        let mut edits = Vec::new();
        let mut renamed = Vec::new();
        for field in &self.fields {
            // What is left out is asked for again, and what should not be there stays until then.
            let value = values.member(&field.key).filter(|_| is_taken(field));
            let Some(value) = value else { continue };
            let is_removal = field.is_removal || field.is_optional;
            let edit = match is_removal && value.is_null() {
                true => Edit::Remove,
                false => Edit::Set(value.raw().to_owned()),
            };
            edits.push((field.pointer.clone(), edit));
            renamed.extend(field.sent_as.clone().map(|sent| (sent, Edit::Remove)));
        }
        let kept = splice(&self.base, &edits);
        let removed = Some(renamed).filter(|renamed| !renamed.is_empty()).and_then(|renamed| {
            edits.extend(renamed);
            splice(&self.base, &edits)
        });
        let risk = self.risk.max(risk);
        kept.into_iter().chain(removed).map(|text| (text, risk)).collect()
    }

    /// The object with the keys of the fields: the reply, or the only member of it, if that is no part of the value.
    fn values<'t>(&self, reply: Node<'t>) -> Option<Node<'t>> {
        let has_key =
            |node: &Node<'t>| self.fields.iter().any(|field| node.member(&field.key).is_some());
        if has_key(&reply) || reply.kind() != JsonType::Object {
            return Some(reply);
        }
        let mut members = reply.children();
        let only = members.next().filter(|_| members.next().is_none())?;
        let is_part = only.key().is_some_and(|key| self.members.contains(&folded(&key)));
        Some(only).filter(has_key).filter(|_| !is_part)
    }

    /// The value with the parts that were asked for, taken from a reply that states the value as a whole and differs
    /// from it like this. `None` if one of them is not in it, or if it contradicts a part that is kept.
    pub(crate) fn merge_whole(&self, sent: &str, difference: Difference) -> Option<String> {
        if difference.contradicts {
            return None;
        }
        let tree = Tree::read(sent).ok()?;
        let edits = self.fields.iter().map(|field| match tree.at(&field.pointer) {
            Some(value) => Some((field.pointer.clone(), Edit::Set(value.raw().to_owned()))),
            None => (!difference.lacks && (field.is_removal || field.is_optional))
                .then(|| (field.pointer.clone(), Edit::Remove)),
        });
        splice(&self.base, &edits.collect::<Option<Vec<_>>>()?)
    }

    /// The value that the fields belong to.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// The highest risk of what was done to get that value.
    pub(crate) const fn risk(&self) -> Option<Risk> {
        self.risk
    }

    /// How a value that was sent as a whole differs from the one that the fields belong to, apart from these.
    pub(crate) fn difference(&self, sent: &str) -> Option<Difference> {
        let (base, sent) = (Tree::read(&self.base).ok()?, Tree::read(sent).ok()?);
        let moved = self.fields.iter().filter_map(|field| field.sent_as.as_deref());
        let asked = self.fields.iter().map(|field| field.pointer.as_str()).chain(moved);
        let left = self.left.iter().map(String::as_str);
        Some(difference(&base, &sent, asked, left))
    }
}

/// Leaves out the fields that repair mends as soon as the others fit, and returns their pointers. If that is true of all
/// of them, there is another reason why the whole does not fit, and all are asked for.
fn leave_to_repair(fields: &mut Vec<Field>) -> Vec<String> {
    if fields.iter().all(|field| field.is_mended) {
        return Vec::new();
    }
    let left = fields.iter().filter(|field| field.is_mended).map(|field| field.pointer.clone());
    let left = left.collect();
    fields.retain(|field| !field.is_mended);
    left
}

/// Asks for a list or object as a whole if everything in it is wrong: the number of its items may be wrong, too.
fn gather(fields: &mut Vec<Field>, tree: &Tree<'_>, source: &Value) {
    let parent = |pointer: &str| pointer.rsplit_once('/').map(|(own, _)| own.to_owned());
    let mut parents: Vec<String> =
        fields.iter().filter_map(|field| parent(&field.pointer)).collect();
    parents.sort_by_key(|pointer| pointer.matches('/').count());
    parents.dedup();
    // The deepest first. Each is looked up once.
    while let Some(place) = parents.pop().filter(|place| !place.is_empty()) {
        let Some(node) = tree.at(&place) else { continue };
        if node.len() < 2 || node.len() > fields.len() {
            continue;
        }
        let name = |field: &Field| match field.pointer.rsplit_once('/') {
            Some((own, name)) if own == place => Some(name.replace("~1", "/").replace("~0", "~")),
            _ => None,
        };
        let is_there = |name: &String| match node.kind() {
            JsonType::Object => node.member(name).is_some(),
            _ => name.parse::<usize>().is_ok_and(|index| index < node.len()),
        };
        let wrong = fields.iter().filter_map(name).filter(is_there).count();
        let Some(schema) = subschema::for_node(source, node).filter(|_| wrong >= node.len()) else {
            continue;
        };
        fields.retain(|field| name(field).is_none());
        let outer = parent(&place).filter(|outer| !outer.is_empty() && !parents.contains(outer));
        parents.extend(outer);
        fields.push(Field {
            pointer: place,
            schema: schema.clone(),
            is_removal: false,
            is_optional: false,
            is_mended: false,
            sent_as: None,
            key: String::new(),
        });
    }
}

/// The part of the value that an issue is about; `None` if that is the whole, or not known.
fn field(source: &Value, issue: &Issue) -> Option<Field> {
    let of_text =
        [IssueCode::Syntax, IssueCode::Truncated, IssueCode::SchemaEcho, IssueCode::Overflow];
    if of_text.contains(&issue.code()) {
        return None;
    }
    let (path, name) = (issue.path(), issue.missing());
    let plain = |schema: &Value, pointer: String| Field {
        pointer,
        schema: schema.clone(),
        is_removal: false,
        is_optional: false,
        is_mended: is_mended(issue),
        sent_as: issue.sent_as().map(|sent| subschema::pointer(path, Some(sent))),
        key: String::new(),
    };
    // Another branch has other properties, so the whole of the value that it is for is asked for.
    if let Some(found) = subschema::discriminator(source, issue) {
        let steps = path.steps();
        let own = if name.is_some() { steps } else { steps.get(..steps.len().checked_sub(1)?)? };
        let pointer = subschema::pointer(&own.to_vec().into(), None);
        // Beside the union, there may be null.
        let schema = subschema::for_path(source, own).unwrap_or(found.union);
        return Some(plain(schema, pointer)).filter(|f| !f.pointer.is_empty());
    }
    let pointer = subschema::pointer(path, name);
    if pointer.is_empty() {
        return None;
    }
    if issue.code() == IssueCode::Unexpected {
        return Some(Field { is_removal: true, ..plain(&json!({"type": "null"}), pointer) });
    }
    let any = Value::Bool(true);
    let schema = subschema::for_issue(source, issue).unwrap_or(&any);
    let is_optional = subschema::is_optional(source, path.steps())
        && !subschema::takes_null(source, schema)
        && name.is_none();
    Some(Field { is_optional, ..plain(schema, pointer) })
}

/// Whether a pointer is short, on one line, and without marks of chat templates.
fn is_plain(pointer: &str) -> bool {
    const LONGEST: usize = 200;
    pointer.len() <= LONGEST && harmless_line(pointer) == pointer
}

/// Whether an object in a JSON text has two members of one name.
pub(crate) fn repeats_a_key(text: &str) -> bool {
    let Ok(tree) = Tree::read(text) else { return false };
    let mut left = vec![tree.root()];
    while let Some(node) = left.pop() {
        let mut keys = HashSet::new();
        if !node.children().filter_map(|child| child.key()).all(|key| keys.insert(key)) {
            return true;
        }
        left.extend(node.children().filter(Node::is_container));
    }
    false
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ReplyForm {
    Asked,
    Typed,
    Untyped,
}

/// The schema of an object with the fields. The names of members `elsewhere` are no other names of one.
fn object(fields: &[Field], elsewhere: &HashSet<String>, reading: ReplyForm) -> Map<String, Value> {
    let last = |pointer: &str| pointer.rsplit('/').next().unwrap_or_default().to_owned();
    let mut properties = Map::new();
    for field in fields {
        let mut schema = match reading {
            ReplyForm::Untyped => Value::Object(Map::new()),
            _ if field.schema == true => Value::Object(Map::new()),
            _ => field.schema.clone(),
        };
        if reading == ReplyForm::Typed && field.is_optional {
            schema = json!({"anyOf": [schema, {"type": JsonType::Null.code()}]});
        }
        // Models also write `/a/days`, `a.days` or `days` for `a_days`, and the names that the schema gives.
        if let (true, Value::Object(members)) = (reading != ReplyForm::Asked, &mut schema) {
            let own = last(&field.pointer);
            let single = fields.iter().filter(|other| last(&other.pointer) == own).count() == 1;
            let names = Some(own).filter(|_| single).into_iter();
            let names = names.chain(aliases(&field.schema).map(str::to_owned));
            let names = names.filter(|name| !elsewhere.contains(&folded(name)));
            let names: Vec<String> = std::iter::once(field.pointer.clone()).chain(names).collect();
            members.insert("x-aliases".to_owned(), json!(names));
        }
        properties.insert(field.key.clone(), schema);
    }
    let mut made = Map::new();
    made.insert("type".to_owned(), json!(JsonType::Object.code()));
    made.insert("properties".to_owned(), Value::Object(properties));
    if reading == ReplyForm::Asked {
        // What may be left out is optional here, too: providers that need every property then allow null.
        let needed = fields.iter().filter(|field| !field.is_optional);
        let names: Vec<&str> = needed.map(|field| field.key.as_str()).collect();
        made.insert("required".to_owned(), json!(names));
    } else {
        made.insert("minProperties".to_owned(), json!(1));
    }
    made.insert("additionalProperties".to_owned(), Value::Bool(false));
    made
}

/// The keywords for definitions, which are next to the fields where their schemas are stated.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// A name without what spellings of it differ in.
fn folded(name: &str) -> String {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    // A name of signs only is no other spelling of another one.
    if plain.is_empty() { name.to_owned() } else { plain.to_lowercase() }
}

/// The other names that a schema gives to its property.
fn aliases(schema: &Value) -> impl Iterator<Item = &str> {
    let listed = schema.get("x-aliases").and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_str)
}

/// The names of the members that the value may have, folded, with the other names of those that are not asked for.
fn member_names(source: &Value, tree: &Tree<'_>, asked: &[String]) -> HashSet<String> {
    let own = resolve(source, source).get("properties").and_then(Value::as_object);
    let is_asked = |name: &str| {
        let mut pointers = asked.iter().filter_map(|pointer| pointer.strip_prefix('/'));
        pointers.any(|own| own.replace("~1", "/").replace("~0", "~") == name)
    };
    let mut all: HashSet<String> = HashSet::new();
    for (name, schema) in own.into_iter().flatten() {
        all.insert(folded(name));
        // A title is another name, too.
        let title = schema.get("title").and_then(Value::as_str);
        all.extend(aliases(schema).chain(title).filter(|_| !is_asked(name)).map(folded));
    }
    all.extend(tree.root().children().filter_map(|child| Some(folded(&child.key()?))));
    all
}

/// The names of all members of the value, folded, but for those at the places that are asked for and inside of these. A
/// bare name that is one of them does not say which place is meant.
fn names_elsewhere(tree: &Tree<'_>, asked: &[String]) -> HashSet<String> {
    let place = |pointer: &String| tree.at(pointer).map(|node| node.span().start);
    let asked: HashSet<usize> = asked.iter().filter_map(place).collect();
    let mut names = HashSet::new();
    let mut left = vec![tree.root()];
    while let Some(node) = left.pop() {
        for child in node.children().filter(|child| !asked.contains(&child.span().start)) {
            names.extend(child.key().map(|key| folded(&key)));
            left.push(child);
        }
    }
    names
}

/// Keys that every provider takes as the names of properties: the pointers with other separators, or else numbers. None
/// is the name of another member of the value, which a reply may state as well.
fn reply_keys(pointers: &[String], members: &HashSet<String>) -> Vec<String> {
    /// The longest key, in bytes: that of Anthropic.
    const LONGEST: usize = 64;
    let mut taken: Vec<String> = DEFINITIONS.map(str::to_owned).into();
    let mut number = 0;
    for pointer in pointers {
        let mut key = pointer.trim_start_matches('/').replace('/', "_");
        let plain = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && key.starts_with(|c: char| c.is_ascii_alphabetic())
            && key.len() <= LONGEST;
        let is_member = pointer.matches('/').count() == 1;
        let mut fits = plain && (is_member || !members.contains(&folded(&key)));
        while !fits || taken.contains(&key) {
            number += 1;
            key = format!("field_{number}");
            fits = !members.contains(&folded(&key));
        }
        taken.push(key);
    }
    taken.split_off(DEFINITIONS.len())
}

/// What is to be done with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Edit {
    Remove,
    /// The new value, as JSON text.
    Set(String),
}

/// Edits below a value, by key or index.
#[derive(Debug, Default)]
struct Edits<'e> {
    own: Option<&'e Edit>,
    below: BTreeMap<String, Edits<'e>>,
}

/// Applies edits, each at a JSON Pointer. A member that does not exist is added to its object; an edit at
/// any other place that does not exist has no effect. `None` if the text is not JSON.
fn splice(text: &str, edits: &[(String, Edit)]) -> Option<String> {
    let tree = Tree::read(text).ok()?;
    let mut all = Edits::default();
    for (pointer, edit) in edits {
        let mut place = &mut all;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            place = place.below.entry(step).or_default();
        }
        place.own = Some(edit);
    }
    let mut out = String::with_capacity(text.len() + 64);
    write(tree.root(), &all, &mut out);
    Some(out)
}

/// The depth is that of the tree, which is limited.
fn write(node: Node<'_>, edits: &Edits<'_>, out: &mut String) {
    if let Some(Edit::Set(value)) = edits.own {
        out.push_str(value);
        return;
    }
    if edits.below.is_empty() || !node.is_container() {
        out.push_str(node.raw());
        return;
    }
    let is_object = node.kind() == JsonType::Object;
    let mut missing: BTreeMap<&str, &Edits<'_>> =
        edits.below.iter().map(|(key, below)| (key.as_str(), below)).collect();
    let mut first = true;
    let mut separate = |out: &mut String| {
        if !std::mem::take(&mut first) {
            out.push_str(", ");
        }
    };
    out.push(if is_object { '{' } else { '[' });
    for (index, child) in node.children().enumerate() {
        let key = child.key().unwrap_or_else(|| index.to_string().into());
        missing.remove(key.as_ref());
        let below = edits.below.get(key.as_ref());
        if below.is_some_and(|below| below.own == Some(&Edit::Remove)) {
            continue;
        }
        separate(out);
        if is_object {
            push_key(&key, out);
        }
        match below {
            Some(below) => write(child, below, out),
            None => out.push_str(child.raw()),
        }
    }
    for (key, edits) in missing.into_iter().filter(|_| is_object) {
        if let Some(Edit::Set(value)) = edits.own {
            separate(out);
            push_key(key, out);
            out.push_str(value);
        }
    }
    out.push(if is_object { '}' } else { ']' });
}

fn push_key(key: &str, out: &mut String) {
    out.push_str(&Value::from(key).to_string());
    out.push_str(": ");
}

/// How a whole value differs from the one it replaces, apart from the parts that were asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    /// A part is missing.
    pub(crate) lacks: bool,
    /// A part that both have is another one.
    pub(crate) contradicts: bool,
}

/// Compares `sent` with `base`. The parts at `asked`, which are JSON Pointers, may differ or be missing; those at
/// `repaired` may differ, because they are not valid as they are.
fn difference<'p>(
    base: &Tree<'_>,
    sent: &Tree<'_>,
    asked: impl Iterator<Item = &'p str>,
    repaired: impl Iterator<Item = &'p str>,
) -> Difference {
    let place = |pointer: &str| base.at(pointer).map(|node| node.span().start);
    let asked: HashSet<usize> = asked.filter_map(place).collect();
    let repaired: HashSet<usize> = repaired.filter_map(place).collect();
    let mut found = Difference::default();
    let mut left = vec![(base.root(), sent.root())];
    while let Some((base, sent)) = left.pop() {
        if asked.contains(&base.span().start) || repaired.contains(&base.span().start) {
            continue;
        }
        if base.kind() != sent.kind() && (base.is_container() || sent.is_container()) {
            found = Difference { lacks: true, contradicts: true };
            continue;
        }
        match base.kind() {
            JsonType::Object => {
                let members: HashMap<Cow<'_, str>, Node<'_>> =
                    sent.children().filter_map(|child| Some((child.key()?, child))).collect();
                for child in base.children() {
                    let sent = child.key().and_then(|key| members.get(&key));
                    match sent {
                        Some(sent) => left.push((child, *sent)),
                        None => found.lacks |= !asked.contains(&child.span().start),
                    }
                }
            }
            JsonType::Array => {
                found.lacks |= sent.len() < base.len();
                found.contradicts |= sent.len() != base.len();
                left.extend(base.children().zip(sent.children()));
            }
            JsonType::String => found.contradicts |= base.as_str() != sent.as_str(),
            _ => found.contradicts |= base.raw() != sent.raw(),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(pointer: &str, value: &str) -> (String, Edit) {
        (pointer.to_owned(), Edit::Set(value.to_owned()))
    }

    #[test]
    fn values_are_set_added_and_removed() {
        let text = r#"{"a": 1.10, "b": [1, {"c": 1e400}], "d~/": {}}"#;
        let edits =
            [set("/b/1/x", "\"y\""), set("/d~0~1/k", "[]"), ("/a".to_owned(), Edit::Remove)];
        let made = splice(text, &edits).unwrap();
        assert_eq!(made, r#"{"b": [1, {"c": 1e400, "x": "y"}], "d~/": {"k": []}}"#);
        assert_eq!(splice(text, &[]).unwrap(), text);
        assert_eq!(splice("{}", &[set("/a", "1"), set("/b", "2")]).unwrap(), r#"{"a": 1, "b": 2}"#);
        assert_eq!(splice("[1]", &[set("/3", "1"), set("/x", "2")]).unwrap(), "[1]");
        assert_eq!(splice("[1", &[]), None);
    }
}
