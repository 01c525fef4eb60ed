//! Checks the keywords of one subschema.

use super::{DEPTH, Judge, Problem, ScopeId, What, problem::Sink};
use crate::{
    compile::{Checks, Combined, Found, Listed, Pattern, Scalar, ShapeId, Text},
    tree::{Instance, JsonType, Node, TreeJson, equals},
};

/// The subschema that is being checked.
#[derive(Clone, Copy)]
pub(super) struct Site {
    pub(super) part: ShapeId,
    pub(super) scope: ScopeId,
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
    pub(super) fn ask<'t, S: Sink<'s, 't>>(
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
    pub(super) fn report<'t, S: Sink<'s, 't>>(
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
    pub(super) fn search(
        &mut self,
        pattern: &Pattern,
        text: &str,
        part: ShapeId,
        value: Instance<'_>,
    ) -> bool {
        let found = pattern.search(text, |steps| self.spend(steps));
        if found == Found::Undecided {
            let node = value.node().map_or(0, |node| node.index());
            self.undecided.get_or_insert((node, part));
        }
        found == Found::Match
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
