//! Fits the members of an object.

use wiremend_core::Risk;

use super::{
    made::{Fit, applied},
    place::Place,
    plan::{Added, Entry, Plan},
    walk::Fitter,
};
use crate::{
    Rule,
    coerce::means_nothing,
    part::Part,
    tree::{JsonType, Node},
};

impl Fitter<'_, '_, '_> {
    /// Fits the members in the order of the rules: first their names, then their values, then
    /// missing properties, and last the properties that the schema rejects.
    pub(super) fn members(&mut self, node: Node<'_>, part: &Part<'_>, place: &Place) -> Fit {
        let mut plan = Plan::of(node);
        let mut whole = Fit::default();
        self.rename(&mut plan, part, place, &mut whole);
        for entry in &mut plan.entries {
            self.value(entry, part, place, &mut whole);
        }
        self.fill(&mut plan, node, part, place, &mut whole);
        self.drop_unknown(&mut plan, part, place, &mut whole);
        for entry in plan.entries.iter().filter(|entry| entry.is_unfit && entry.dropped.is_none()) {
            whole.unfit.push(place.member(&entry.key).path());
        }
        whole.cuts = plan.cuts(&place.path());
        self.settle(node, part, whole)
    }

    fn value(&mut self, entry: &mut Entry<'_>, part: &Part<'_>, place: &Place, whole: &mut Fit) {
        let (member, property) = (entry.member, part.member(&entry.key));
        // Most members are valid, and have no need of a place.
        if self.keeps(member, &property) {
            return;
        }
        let below = &place.member(&entry.key);
        let mut fit = self.unkept(member, &property, below);
        let unfit = !fit.valid || fit.risk() > Some(Risk::Likely);
        // An undeclared key is data, so its member is not dropped because of its value.
        let optional = part.declares(&entry.key) && !part.requires(&entry.key);
        let absence = if unfit && optional {
            self.absence(member, &property, below)
                .filter(|rule| !fit.valid || Some(rule.risk()) < fit.risk())
        } else {
            None
        };
        if let Some(rule) = absence {
            whole.applied.push(applied(rule, rule.risk(), below, &property, member, ""));
            entry.dropped = Some(rule);
            return;
        }
        if !fit.valid
            && let Some(default) = self.default_for_null(member, &property, below)
        {
            let change = crate::Change::new(
                crate::Cause::Rule(Rule::NullToDefault),
                member.span(),
                default.clone(),
                below.path(),
            );
            let log = applied(Rule::NullToDefault, Risk::Guess, below, &property, member, &default);
            fit = Fit { cuts: vec![change], applied: vec![log], valid: true, ..Fit::default() };
        }
        entry.is_unfit = !fit.valid;
        entry.value.cuts = std::mem::take(&mut fit.cuts);
        whole.add(fit);
    }

    /// The rule that drops an optional member without a value.
    fn absence(&self, member: Node<'_>, property: &Part<'_>, place: &Place) -> Option<Rule> {
        let rule = match member.kind() {
            JsonType::Null => {
                let means = property.shapes().any(|shape| shape.keeps_null);
                (!property.allows(JsonType::Null) && !means).then_some(Rule::DropNullOptional)?
            }
            JsonType::String => {
                let word = member.as_str()?.trim().to_lowercase();
                let listed = property.options().is_some_and(|options| {
                    options.iter().filter_map(|o| o.as_str()).any(|o| o.to_lowercase() == word)
                });
                let nothing = means_nothing(&word);
                (nothing && !listed && !property.allows(JsonType::String))
                    .then_some(Rule::NullWords)?
            }
            JsonType::Object if member.len() == 0 && !property.allows(JsonType::Object) => {
                Rule::EmptyPlaceholder
            }
            _ => return None,
        };
        self.allows(rule, place, property).then_some(rule)
    }

    fn default_for_null(
        &self,
        member: Node<'_>,
        property: &Part<'_>,
        place: &Place,
    ) -> Option<String> {
        let default = property.default().filter(|_| member.is_null())?;
        self.allows(Rule::NullToDefault, place, property).then(|| default.to_string())
    }

    /// Adds missing properties whose values are known: constants first, then defaults.
    fn fill(
        &mut self,
        plan: &mut Plan<'_>,
        node: Node<'_>,
        part: &Part<'_>,
        place: &Place,
        whole: &mut Fit,
    ) {
        for key in part.required() {
            if plan.has(key) {
                continue;
            }
            let Some(property) = part.property(key) else { continue };
            let known = property.constant().map(|value| (Rule::ConstFill, value));
            let known =
                known.or_else(|| property.default().map(|value| (Rule::FillDefault, value)));
            let Some((rule, value)) = known else { continue };
            // Adding the constant that distinguishes the branches of a union is a choice between
            // them.
            let chosen = if place.is_choice { Risk::Likely } else { Risk::Exact };
            let risk = rule.risk().max(chosen);
            if self.allows(rule, place, &property) && self.permit.takes(risk) {
                let value = value.to_string();
                whole.applied.push(applied(
                    rule,
                    risk,
                    &place.member(key),
                    &property,
                    node,
                    &value,
                ));
                plan.added.push(Added { rule, risk, key: key.to_owned(), value });
            }
        }
    }

    fn drop_unknown(
        &mut self,
        plan: &mut Plan<'_>,
        part: &Part<'_>,
        place: &Place,
        whole: &mut Fit,
    ) {
        if !part.is_closed() || !self.allows(Rule::DropUnknown, place, part) {
            return;
        }
        for entry in &mut plan.entries {
            if entry.dropped.is_none() && !part.declares(&entry.key) {
                let below = place.member(&entry.key);
                let rule = Rule::DropUnknown;
                whole.applied.push(applied(rule, rule.risk(), &below, part, entry.member, ""));
                entry.dropped = Some(rule);
                entry.value.cuts.clear();
            }
        }
    }
}
