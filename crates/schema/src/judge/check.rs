//! Checks a value against the keywords of one subschema, and reports the problems.
//!
//! First the keywords for any value, then those for arrays and for objects, and last what none of them has evaluated.

use std::collections::HashSet;

use super::{DEPTH, Judge, Problem, ScopeId, Sink, What};
use crate::{
    compile::{
        Checks, Combined, Contains, List, Listed, Object, Pattern, Scalar, Searched, ShapeId, Text,
    },
    tree::{Instance, JsonType, Node, TreeJson, equals, is_unique},
};

/// Returns if the sink wants no more problems.
macro_rules! go_on {
    ($condition:expr) => {
        if !$condition {
            return false;
        }
    };
}

/// The subschema that is being checked.
#[derive(Clone, Copy)]
struct Site {
    pub(super) part: ShapeId,
    scope: ScopeId,
}

impl<'s> Judge<'s> {
    /// Reports the problems of a value to `sink`; `false` once it wants no more. This function
    /// recurses through the value and the schema.
    pub(super) fn check<'t, S: Sink<'s, 't>>(
        &mut self,
        part: ShapeId,
        checks: &'s Checks,
        value: Instance<'t>,
        scope: ScopeId,
        sink: &mut S,
    ) -> bool {
        go_on!(self.spend(1));
        if self.depth >= DEPTH {
            self.spent = true;
            return false;
        }
        let scope = if self.is_scoped { self.enter(scope, checks.resource) } else { scope };
        let site = Site { part, scope };
        self.depth += 1;
        let more = self.own(site, checks, value, sink)
            && (!checks.has_others || self.others(site, checks, value, sink));
        self.depth -= 1;
        more
    }

    /// Like [`Judge::check`], for a sink that wants all problems. A subschema that may be reached
    /// again is checked only once.
    pub(super) fn collect<'t, S: Sink<'s, 't>>(
        &mut self,
        id: ShapeId,
        value: Instance<'t>,
        scope: ScopeId,
        sink: &mut S,
    ) -> bool {
        let Some(checks) = self.shapes().checks(id) else { return true };
        if checks.accepts_all {
            return true;
        }
        let Some(node) = value.node().filter(|_| checks.is_shared) else {
            return self.check(id, checks, value, scope, sink);
        };
        self.spend(16);
        let question = (id, node.index(), scope);
        // A question that is already open adds no conditions, as when only the first problem is
        // wanted.
        if self.is_open(question) || !sink.is_new(question) {
            return true;
        }
        self.open(question);
        let more = self.check(id, checks, value, scope, sink);
        self.close();
        more
    }

    /// Checks another subschema, whose problems count as problems here.
    fn ask<'t, S: Sink<'s, 't>>(
        &mut self,
        id: ShapeId,
        value: Instance<'t>,
        scope: ScopeId,
        sink: &mut S,
    ) -> bool {
        if S::FIRST { self.valid(id, value, scope) } else { self.collect(id, value, scope, sink) }
    }

    /// Reports a problem with the value of a site. Property names are only checked for their first
    /// problem.
    fn report<'t, S: Sink<'s, 't>>(
        site: Site,
        value: Instance<'t>,
        what: What<'s>,
        sink: &mut S,
    ) -> bool {
        let Some(node) = value.node().filter(|_| !S::FIRST) else { return false };
        let Site { part, scope } = site;
        sink.report(Problem { node, part, scope, what, members: Vec::new() })
    }

    /// Checks the keywords for the value's own type.
    fn own<'t, S: Sink<'s, 't>>(
        &mut self,
        site: Site,
        checks: &'s Checks,
        value: Instance<'t>,
        sink: &mut S,
    ) -> bool {
        let kind = value.kind();
        if checks.refuses_all {
            return Self::report(site, value, What::Never, sink);
        }
        if let Some(types) = checks.types {
            let is_integer = || {
                value.node().is_some_and(|node| {
                    let strict = checks.strict_integers && node.raw().contains(['.', 'e', 'E']);
                    node.is_integer() && !strict
                })
            };
            let right = types.take(kind, is_integer);
            go_on!(right || Self::report(site, value, What::Type, sink));
        }
        if let Some(values) = &checks.values {
            if let Some(constant) = &values.constant {
                let equal = self.equal(value, constant);
                go_on!(equal || Self::report(site, value, What::Const, sink));
            }
            if let Some(options) = &values.options {
                let listed = self.is_listed(value, options);
                go_on!(listed || Self::report(site, value, What::Enum(options.all.len()), sink));
            }
        }
        match kind {
            JsonType::String => {
                if let Some(text) = &checks.text {
                    go_on!(self.text(site, text, value, sink));
                }
                let scalar = checks.scalar.as_deref().filter(|scalar| scalar.of_texts);
                scalar.is_none_or(|scalar| self.scalar(site, scalar, value, sink))
            }
            JsonType::Number => {
                let scalar = checks.scalar.as_deref().filter(|scalar| scalar.of_numbers);
                scalar.is_none_or(|scalar| self.scalar(site, scalar, value, sink))
            }
            JsonType::Array => match (&checks.list, value) {
                (Some(list), Instance::Node(node)) => self.list(site, list, node, sink),
                _ => true,
            },
            JsonType::Object => match (&checks.object, value) {
                (Some(object), Instance::Node(node)) => self.object(site, object, node, sink),
                _ => true,
            },
            JsonType::Boolean | JsonType::Null => true,
        }
    }

    /// Checks the keywords that apply other subschemas to the value.
    fn others<'t, S: Sink<'s, 't>>(
        &mut self,
        site: Site,
        checks: &'s Checks,
        value: Instance<'t>,
        sink: &mut S,
    ) -> bool {
        if let Some(combined) = &checks.combined {
            go_on!(self.combined(site, combined, value, sink));
        }
        let Instance::Node(node) = value else { return true };
        if let Some(list) = checks.list.as_deref().filter(|_| node.kind() == JsonType::Array) {
            return self.unevaluated_items(site, list, node, sink);
        }
        if let Some(object) = checks.object.as_deref().filter(|_| node.kind() == JsonType::Object) {
            return self.unevaluated_members(site, object, node, sink);
        }
        true
    }

    fn combined<'t, S: Sink<'s, 't>>(
        &mut self,
        site: Site,
        combined: &'s Combined,
        value: Instance<'t>,
        sink: &mut S,
    ) -> bool {
        let scope = site.scope;
        // Checking a branch that only requires a type costs nothing by itself, so the branches are
        // paid for here.
        let branches = combined.all_of.len() + combined.any_of.len() + combined.one_of.len();
        go_on!(self.spend_bytes(branches / 8));
        for id in combined.references.iter().chain(&combined.all_of) {
            go_on!(self.ask(*id, value, scope, sink));
        }
        if let Some(dynamic) = &combined.dynamic {
            let target = self.target(scope, dynamic);
            go_on!(self.ask(target, value, scope, sink));
        }
        if !combined.any_of.is_empty() {
            let any = combined.any_of.iter().any(|id| self.valid(*id, value, scope));
            go_on!(any || Self::report(site, value, What::AnyOf, sink));
        }
        if !combined.one_of.is_empty() {
            let mut valid = combined.one_of.iter().filter(|id| self.valid(**id, value, scope));
            let what = match (valid.next(), valid.next()) {
                (Some(_), None) => None,
                (None, _) => Some(What::OneOf),
                (Some(_), Some(_)) => Some(What::OneOfSeveral),
            };
            go_on!(what.is_none_or(|what| Self::report(site, value, what, sink)));
        }
        if let Some(not) = combined.not {
            let right = !self.valid(not, value, scope);
            go_on!(right || Self::report(site, value, What::Not, sink));
        }
        if let Some(test) = combined.test.filter(|_| combined.is_conditional()) {
            let holds = self.valid(test, value, scope);
            if let Some(id) = if holds { combined.then } else { combined.otherwise } {
                go_on!(self.ask(id, value, scope, sink));
            }
        }
        true
    }

    fn text<'t, S: Sink<'s, 't>>(
        &mut self,
        site: Site,
        checks: &'s Text,
        value: Instance<'t>,
        sink: &mut S,
    ) -> bool {
        let Some(text) = value.text() else { return true };
        go_on!(self.spend_bytes(text.len() / 16));
        if checks.least.is_some() || checks.most.is_some() {
            let length = text.chars().count() as u64;
            let enough = checks.least.is_none_or(|least| length >= least);
            go_on!(enough || Self::report(site, value, What::MinLength, sink));
            let short = checks.most.is_none_or(|most| length <= most);
            go_on!(short || Self::report(site, value, What::MaxLength, sink));
        }
        if let Some(pattern) = &checks.pattern {
            let found = self.search(pattern, &text, site.part, value);
            go_on!(found || Self::report(site, value, What::Pattern, sink));
        }
        true
    }

    /// Whether a pattern matches. Charges the budget, and records matches that cannot be decided.
    fn search(
        &mut self,
        pattern: &Pattern,
        text: &str,
        part: ShapeId,
        value: Instance<'_>,
    ) -> bool {
        let found = pattern.search(text, |steps| self.spend(steps));
        if found == Searched::Undecided {
            let node = value.node().map_or(0, |node| node.index());
            self.undecided.get_or_insert((node, part));
        }
        found == Searched::Match
    }

    fn scalar<'t, S: Sink<'s, 't>>(
        &mut self,
        site: Site,
        checks: &'s Scalar,
        value: Instance<'t>,
        sink: &mut S,
    ) -> bool {
        let length = match value {
            Instance::Node(node) => node.raw().len(),
            Instance::Name(name) => name.len(),
        };
        go_on!(self.spend_bytes(8 + length));
        let number = value.node().filter(|_| checks.range.is_some());
        let number = number.and_then(|node| node.raw().parse::<i64>().ok());
        let valid = match (number, checks.range) {
            (Some(number), Some((least, most))) => (least..=most).contains(&number),
            _ => checks.validator().is_some_and(|validator| validator.is_valid(value)),
        };
        valid || Self::report(site, value, What::Scalar, sink)
    }

    /// Whether `enum` lists a value.
    fn is_listed(&mut self, value: Instance<'_>, options: &Listed) -> bool {
        match value.kind() {
            JsonType::String => value.text().is_some_and(|text| {
                self.spend_bytes(1 + text.len() / 16) && options.holds_text(&text)
            }),
            JsonType::Number => {
                let Some(node) = value.node() else { return false };
                self.spend_bytes(4 + node.raw().len() / 4);
                let number = node.raw().parse().unwrap_or(f64::NAN);
                let mut alike = options.numbers(number);
                alike.any(|option| self.equal(value, option))
            }
            _ => {
                let mut others = options.others();
                others.any(|option| self.equal(value, option))
            }
        }
    }

    /// Whether a value is equal to one in the schema. Charges the budget.
    fn equal(&mut self, value: Instance<'_>, expected: &serde_json::Value) -> bool {
        match value {
            Instance::Name(name) => expected.as_str() == Some(name),
            Instance::Node(node) => {
                // Values of different types are unequal at no cost.
                let same = node.is_container() == (expected.is_array() || expected.is_object());
                let cost = if same { 2 + node.raw().len() / 4 } else { 1 };
                self.spend_bytes(cost) && equals(node, expected)
            }
        }
    }
}

/// Checks the keywords that are left to the library.
impl Scalar {
    pub(crate) fn problems<'a>(&'a self, node: Node<'a>) -> Vec<jsonschema::ValidationError<'a>> {
        let validator: Option<&jsonschema::Validator<TreeJson>> = self.validator();
        validator.into_iter().flat_map(|own| own.iter_errors(Instance::Node(node))).collect()
    }
}

impl<'s> Judge<'s> {
    fn list<'t, S: Sink<'s, 't>>(
        &mut self,
        site: Site,
        checks: &'s List,
        node: Node<'t>,
        sink: &mut S,
    ) -> bool {
        let (value, length) = (Instance::Node(node), node.len());
        let count = length as u64;
        let enough = checks.least.is_none_or(|least| count >= least);
        go_on!(enough || Self::report(site, value, What::MinItems, sink));
        let few = checks.most.is_none_or(|most| count <= most);
        go_on!(few || Self::report(site, value, What::MaxItems, sink));
        if checks.unique && length > 1 {
            go_on!(self.spend_bytes(2 * node.raw().len()));
            go_on!(is_unique(node) || Self::report(site, value, What::Unique, sink));
        }
        let ends = checks.ends_with_prefix && length > checks.prefix.len();
        go_on!(!ends || Self::report(site, value, What::FurtherItems, sink));
        let rest = checks.rest.filter(|_| !checks.ends_with_prefix);
        if !checks.prefix.is_empty() || rest.is_some() {
            for (at, item) in node.children().enumerate() {
                go_on!(self.spend(1));
                let Some(id) = checks.prefix.get(at).copied().or(rest) else { break };
                go_on!(self.ask(id, Instance::Node(item), site.scope, sink));
            }
        }
        match &checks.contains {
            Some(contains) => self.contains(site, contains, node, sink),
            None => true,
        }
    }

    fn contains<'t, S: Sink<'s, 't>>(
        &mut self,
        site: Site,
        contains: &'s Contains,
        node: Node<'t>,
        sink: &mut S,
    ) -> bool {
        let mut count = 0;
        for item in node.children() {
            go_on!(self.spend(1));
            count += u64::from(self.valid(contains.of, Instance::Node(item), site.scope));
            let over = contains.most.is_some_and(|most| count > most);
            if over || contains.most.is_none() && count >= contains.least {
                break;
            }
        }
        let value = Instance::Node(node);
        let keyword = if contains.least == 1 { "contains" } else { "minContains" };
        let enough = count >= contains.least;
        go_on!(enough || Self::report(site, value, What::Contains(keyword), sink));
        let few = contains.most.is_none_or(|most| count <= most);
        few || Self::report(site, value, What::Contains("maxContains"), sink)
    }

    fn unevaluated_items<'t, S: Sink<'s, 't>>(
        &mut self,
        site: Site,
        checks: &'s List,
        node: Node<'t>,
        sink: &mut S,
    ) -> bool {
        let Some(id) = checks.unevaluated else { return true };
        let evaluated = self.evaluated(site.part, node, site.scope);
        let mut right = true;
        for (at, item) in node.children().enumerate() {
            go_on!(self.spend(1));
            let known = evaluated.holds(at);
            right &= known || self.valid(id, Instance::Node(item), site.scope);
        }
        right || Self::report(site, Instance::Node(node), What::UnevaluatedItems, sink)
    }
}

impl<'s> Judge<'s> {
    fn object<'t, S: Sink<'s, 't>>(
        &mut self,
        site: Site,
        checks: &'s Object,
        node: Node<'t>,
        sink: &mut S,
    ) -> bool {
        let (value, count) = (Instance::Node(node), node.len() as u64);
        let enough = checks.least.is_none_or(|least| count >= least);
        go_on!(enough || Self::report(site, value, What::MinProperties, sink));
        let few = checks.most.is_none_or(|most| count <= most);
        go_on!(few || Self::report(site, value, What::MaxProperties, sink));
        go_on!(self.members(site, checks, node, sink));
        for dependency in &checks.dependencies {
            go_on!(self.spend(1 + count / 4));
            if node.member(&dependency.name).is_none() {
                continue;
            }
            for name in &dependency.required {
                go_on!(self.spend(1 + count / 4));
                let what = What::Required(dependency.keyword, name);
                go_on!(node.member(name).is_some() || Self::report(site, value, what, sink));
            }
            if let Some(id) = dependency.schema {
                go_on!(self.ask(id, value, site.scope, sink));
            }
        }
        true
    }

    /// Checks the members one by one, and then the required members.
    fn members<'t, S: Sink<'s, 't>>(
        &mut self,
        site: Site,
        checks: &'s Object,
        node: Node<'t>,
        sink: &mut S,
    ) -> bool {
        let mut given = Given::new(checks.required.len());
        let mut unexpected = Vec::new();
        // Members usually come in the order of the schema.
        let mut next = 0;
        for member in node.children() {
            let decoded;
            let key = match member.plain_key() {
                Some(key) => key,
                None => {
                    decoded = member.key().unwrap_or_default();
                    decoded.as_bytes()
                }
            };
            go_on!(self.spend_bytes(1 + key.len() / 16));
            let found = checks.names.find(key, next);
            next = found.map_or(next, |at| at + 1);
            let known = checks.names.name(found);
            if let Some(at) = known.required {
                given.note(at);
            }
            if let Some(names) = checks.property_names {
                let name = member.key().unwrap_or_default();
                let right = self.valid(names, Instance::Name(&name), site.scope);
                go_on!(right || Self::report(site, Instance::Node(node), What::Names, sink));
            }
            let mut declared = known.property.is_some();
            if let Some(id) = known.property {
                go_on!(self.ask(id, Instance::Node(member), site.scope, sink));
            }
            for (pattern, id) in &checks.patterns {
                let name = member.key().unwrap_or_default();
                if self.search(pattern, &name, site.part, Instance::Node(node)) {
                    declared = true;
                    go_on!(self.ask(*id, Instance::Node(member), site.scope, sink));
                }
            }
            let Some(further) = checks.further.filter(|_| !declared) else { continue };
            if !checks.is_closed {
                go_on!(self.ask(further, Instance::Node(member), site.scope, sink));
            } else if S::FIRST {
                return false;
            } else {
                go_on!(self.spend(8));
                unexpected.push(member);
            }
        }
        go_on!(Self::refuse(site, node, "additionalProperties", unexpected, sink));
        given.is_complete()
            || given.missing().all(|at| {
                let Some(name) = checks.required.get(at) else { return true };
                let what = What::Required("required", name);
                self.spend(1) && Self::report(site, Instance::Node(node), what, sink)
            })
    }

    /// Reports members that the schema rejects, if there are any.
    fn refuse<'t, S: Sink<'s, 't>>(
        site: Site,
        node: Node<'t>,
        keyword: &'static str,
        members: Vec<Node<'t>>,
        sink: &mut S,
    ) -> bool {
        let Site { part, scope } = site;
        let what = What::Unexpected(keyword);
        members.is_empty() || sink.report(Problem { node, part, scope, what, members })
    }

    fn unevaluated_members<'t, S: Sink<'s, 't>>(
        &mut self,
        site: Site,
        checks: &'s Object,
        node: Node<'t>,
        sink: &mut S,
    ) -> bool {
        let Some(id) = checks.unevaluated else { return true };
        let evaluated = self.evaluated(site.part, node, site.scope);
        let mut unexpected = Vec::new();
        for (at, member) in node.children().enumerate() {
            go_on!(self.spend(1));
            if !evaluated.holds(at) && !self.valid(id, Instance::Node(member), site.scope) {
                go_on!(!S::FIRST);
                unexpected.push(member);
            }
        }
        Self::refuse(site, node, "unevaluatedProperties", unexpected, sink)
    }
}

/// The required members that are present.
enum Given {
    Few { noted: u64, all: usize },
    Many(Vec<bool>),
}

impl Given {
    fn new(all: usize) -> Self {
        if all <= 64 { Self::Few { noted: 0, all } } else { Self::Many(vec![false; all]) }
    }

    fn note(&mut self, at: usize) {
        match self {
            Self::Few { noted, .. } => *noted |= 1 << at,
            Self::Many(given) => {
                if let Some(given) = given.get_mut(at) {
                    *given = true;
                }
            }
        }
    }

    /// Whether no required member is missing.
    fn is_complete(&self) -> bool {
        match self {
            Self::Few { noted, all } => noted.count_ones() as usize == *all,
            Self::Many(given) => given.iter().all(|given| *given),
        }
    }

    /// The positions of the required members that are missing.
    fn missing(&self) -> impl Iterator<Item = usize> {
        let all = match self {
            Self::Few { all, .. } => *all,
            Self::Many(given) => given.len(),
        };
        (0..all).filter(|at| match self {
            Self::Few { noted, .. } => noted & (1 << at) == 0,
            Self::Many(given) => !given.get(*at).copied().unwrap_or_default(),
        })
    }
}

/// The positions of evaluated items or members.
struct Evaluated {
    all: Vec<bool>,
    /// The subschemas that have been visited, each of which counts once.
    seen: HashSet<(ShapeId, ScopeId)>,
}

impl Evaluated {
    fn holds(&self, at: usize) -> bool {
        self.all.get(at).copied().unwrap_or_default()
    }

    fn note(&mut self, at: usize) {
        if let Some(own) = self.all.get_mut(at) {
            *own = true;
        }
    }
}

impl Judge<'_> {
    /// The positions that are evaluated by a subschema and by every subschema that it applies to
    /// the same value. Its own `unevaluatedItems` and `unevaluatedProperties` do not count.
    fn evaluated(&mut self, part: ShapeId, node: Node<'_>, scope: ScopeId) -> Evaluated {
        self.spend_bytes(node.len());
        let mut evaluated = Evaluated { all: vec![false; node.len()], seen: HashSet::new() };
        let mut open = vec![(part, scope)];
        while let Some((id, scope)) = open.pop() {
            if self.is_spent() || !evaluated.seen.insert((id, scope)) {
                continue;
            }
            self.spend(2);
            let Some(checks) = self.shapes().checks(id) else { continue };
            let scope = self.enter(scope, checks.resource);
            let outer = id != part;
            if let Some(list) = checks.list.as_deref().filter(|_| node.kind() == JsonType::Array) {
                self.items_of(list, outer, node, scope, &mut evaluated);
            }
            let object = checks.object.as_deref().filter(|_| node.kind() == JsonType::Object);
            if let Some(object) = object {
                self.members_of(object, outer, id, node, &mut evaluated);
                let there =
                    object.dependencies.iter().filter(|own| node.member(&own.name).is_some());
                open.extend(there.filter_map(|own| own.schema).map(|id| (id, scope)));
            }
            if let Some(combined) = &checks.combined {
                let asked = self.asked(combined, node, scope);
                open.extend(asked.into_iter().map(|id| (id, scope)));
            }
        }
        evaluated
    }

    /// The subschemas that `combined` applies to the same value and that accept it.
    fn asked(&mut self, combined: &Combined, node: Node<'_>, scope: ScopeId) -> Vec<ShapeId> {
        let value = Instance::Node(node);
        let mut asked: Vec<ShapeId> = Vec::new();
        asked.extend(&combined.references);
        asked.extend(&combined.all_of);
        asked.extend(combined.dynamic.iter().map(|dynamic| self.target(scope, dynamic)));
        for id in combined.any_of.iter().chain(&combined.one_of) {
            if self.valid(*id, value, scope) {
                asked.push(*id);
            }
        }
        if let Some(test) = combined.test {
            if self.valid(test, value, scope) {
                asked.push(test);
                asked.extend(combined.then);
            } else {
                asked.extend(combined.otherwise);
            }
        }
        asked
    }

    fn items_of(
        &mut self,
        list: &List,
        outer: bool,
        node: Node<'_>,
        scope: ScopeId,
        evaluated: &mut Evaluated,
    ) {
        let all = list.rest.is_some() || list.unevaluated.is_some() && outer;
        let first = if all { node.len() } else { list.prefix.len() };
        (0..first.min(node.len())).for_each(|at| evaluated.note(at));
        let Some(contains) = list.contains.as_ref().filter(|own| own.evaluates && !all) else {
            return;
        };
        for (at, item) in node.children().enumerate() {
            if !self.spend(1) {
                return;
            }
            if self.valid(contains.of, Instance::Node(item), scope) {
                evaluated.note(at);
            }
        }
    }

    fn members_of(
        &mut self,
        object: &Object,
        outer: bool,
        id: ShapeId,
        node: Node<'_>,
        evaluated: &mut Evaluated,
    ) {
        let all = object.evaluates_all || object.unevaluated.is_some() && outer;
        for (at, member) in node.children().enumerate() {
            let Some(key) = member.key() else { continue };
            if !self.spend_bytes(1 + key.len() / 16) {
                return;
            }
            let value = Instance::Node(node);
            let known = all
                || object.names.get(key.as_bytes()).property.is_some()
                || object.patterns.iter().any(|(own, _)| self.search(own, &key, id, value));
            if known {
                evaluated.note(at);
            }
        }
    }
}
