//! The walk of a value along its schema.

use jsonmend_core::{Path, Risk, Step};

use super::{
    Applied, FitOptions,
    choose::{self, Choice},
    reshape::{self, Form, Proposal, Site},
};
use crate::{
    Cause, Change, Rule,
    compile::{Off, ShapeId, Types},
    part::Part,
    tree::{JsonKind, Node, Tree},
};

/// How deep a value is followed, in levels.
pub(super) const DEPTH: usize = 64;
/// How many forms a value may go through: a string that holds a list of one that holds a string …
const FORMS: usize = 4;
/// How many characters of a value the log keeps.
const KEPT: usize = 120;

/// A node of the value on its way through the schema.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    pub(super) path: Vec<Step>,
    /// The same as a JSON Pointer, for the switches.
    pointer: String,
    /// Whether it is an item of a list.
    pub(super) in_array: bool,
    /// Whether it is the whole value.
    pub(super) is_root: bool,
    /// Whether a string would be valid here, though not this one.
    pub(super) takes_strings: bool,
    /// Whether it is tried as one of several branches of a union that take its type.
    pub(super) is_choice: bool,
    forms: usize,
    pub(super) depth: usize,
    /// What the schema switches off here.
    off: Vec<Off>,
}

impl Place {
    pub(crate) fn root() -> Self {
        Self { is_root: true, ..Self::default() }
    }

    pub(super) fn member(&self, key: &str) -> Self {
        let pointer = format!("{}/{}", self.pointer, key.replace('~', "~0").replace('/', "~1"));
        Self { in_array: false, ..self.below(Step::Key(key.into()), pointer) }
    }

    pub(super) fn item(&self, index: usize) -> Self {
        let pointer = format!("{}/{index}", self.pointer);
        Self { in_array: true, ..self.below(Step::Index(index), pointer) }
    }

    fn below(&self, step: Step, pointer: String) -> Self {
        let mut path = self.path.clone();
        path.push(step);
        let (off, depth, forms) = (self.off.clone(), self.depth + 1, self.forms);
        Self { path, pointer, depth, forms, off, ..Self::default() }
    }

    fn reshaped(&self) -> Self {
        Self { forms: self.forms + 1, depth: self.depth + 1, ..self.clone() }
    }

    /// With what these parts of the schema switch off, here and below.
    pub(super) fn with_switches(mut self, parts: &[Part<'_>]) -> Self {
        let shapes = parts.iter().flat_map(Part::shapes).map(|shape| &shape.off);
        self.off.extend(shapes.filter(|off| **off != Off::Nothing).cloned());
        self
    }

    pub(super) fn path(&self) -> Path {
        Path::from(self.path.clone())
    }
}

/// What became of a node: how its text changes, and whether it is valid then.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fit {
    /// In offsets of the text of the node's tree; sorted, without overlaps.
    pub(crate) cuts: Vec<Change>,
    pub(crate) applied: Vec<Applied>,
    pub(crate) valid: bool,
    /// Two results of equal risk.
    pub(crate) ambiguous: Vec<Path>,
}

impl Fit {
    pub(super) fn clean() -> Self {
        Self { valid: true, ..Self::default() }
    }

    pub(super) fn risk(&self) -> Option<Risk> {
        self.applied.iter().map(|applied| applied.risk).max()
    }

    /// Takes over what became of something inside.
    pub(super) fn add(&mut self, inner: Self) {
        self.cuts.extend(inner.cuts);
        self.applied.extend(inner.applied);
        self.ambiguous.extend(inner.ambiguous);
    }
}

/// The text of a node with its cuts applied.
pub(super) fn render(node: Node<'_>, cuts: &[Change]) -> String {
    let (text, span) = (node.tree().text(), node.span());
    let mut out = String::with_capacity(span.len());
    let mut at = span.start;
    for cut in cuts {
        out.push_str(text.get(at..cut.start).unwrap_or_default());
        out.push_str(&cut.after);
        at = cut.end;
    }
    out.push_str(text.get(at..span.end).unwrap_or_default());
    out
}

/// Fits one value. It counts what it reads, so that no schema makes the work grow beyond a multiple
/// of the value.
pub(crate) struct Fitter<'o> {
    options: &'o FitOptions,
    max_risk: Risk,
    fuel: usize,
}

impl<'o> Fitter<'o> {
    /// `None` if the policy allows no repair.
    pub(crate) fn new(options: &'o FitOptions, length: usize) -> Option<Self> {
        let max_risk = options.engine().policy().max_risk()?;
        Some(Self { options, max_risk, fuel: length.saturating_mul(256) + (4 << 20) })
    }

    pub(super) fn name(&self) -> Option<&'o str> {
        self.options.name()
    }

    /// Whether a rule may be used at a place.
    pub(super) fn allows(&self, rule: Rule, place: &Place, part: &Part<'_>) -> bool {
        let own = part.shapes().map(|shape| &shape.off);
        let off = place.off.iter().chain(own).any(|off| match off {
            Off::Nothing => false,
            Off::Everything => true,
            Off::Codes(codes) => codes.iter().any(|code| code == rule.code()),
        });
        rule.risk() <= self.max_risk && !off && self.options.rules().allows(rule, &place.pointer)
    }

    /// Whether the policy takes a risk.
    pub(super) fn takes(&self, risk: Risk) -> bool {
        risk <= self.max_risk
    }

    /// Whether all the work that the value may cost has been done.
    pub(super) const fn is_spent(&self) -> bool {
        self.fuel == 0
    }

    /// Whether a node is valid, on account.
    pub(super) fn accepts(&mut self, part: &Part<'_>, node: Node<'_>) -> bool {
        self.fuel = self.fuel.saturating_sub(node.raw().len() + 64);
        part.accepts(node)
    }

    /// Brings a node into its part of the schema. The recursion is bounded by the depth of a place.
    pub(crate) fn fit(&mut self, node: Node<'_>, part: &Part<'_>, place: &Place) -> Fit {
        if self.accepts(part, node) {
            return Fit::clean();
        }
        if place.depth >= DEPTH || self.fuel == 0 {
            return Fit::default();
        }
        let part = &part.conditioned(node);
        let place = &place.clone().with_switches(std::slice::from_ref(part));
        if let Some(branches) = part.undecided() {
            return self.branches(node, part, branches, place);
        }
        let inside = self.inside(node, part, place);
        if inside.valid && inside.risk() <= Some(Risk::Likely) {
            return inside;
        }
        let mut found = Vec::new();
        if place.forms < FORMS {
            let site = Site { node, part, place, name: self.name(), max_risk: self.max_risk };
            for proposal in reshape::proposals(&site) {
                if self.allows(proposal.rule, place, part) && proposal.risk <= self.max_risk {
                    found.extend(self.realise(node, part, place, &proposal));
                }
            }
        }
        if inside.valid {
            found.push(inside.clone());
        }
        match choose::least(node, found) {
            Choice::One(fit) => fit,
            Choice::None => inside,
            Choice::Several => Fit { ambiguous: vec![place.path()], valid: false, ..inside },
        }
    }

    fn inside(&mut self, node: Node<'_>, part: &Part<'_>, place: &Place) -> Fit {
        match node.kind() {
            JsonKind::Object if part.allows(JsonKind::Object) => self.members(node, part, place),
            JsonKind::Array if part.allows(JsonKind::Array) => self.items(node, part, place),
            _ => Fit::default(),
        }
    }

    fn items(&mut self, node: Node<'_>, part: &Part<'_>, place: &Place) -> Fit {
        let mut whole = Fit::default();
        for (index, item) in node.children().enumerate() {
            let item = self.fit(item, &part.item(index), &place.item(index));
            whole.add(item);
        }
        self.settle(node, part, whole)
    }

    /// Whether a node is valid with what was cut inside it.
    pub(super) fn settle(&mut self, node: Node<'_>, part: &Part<'_>, mut fit: Fit) -> Fit {
        if !fit.cuts.is_empty() {
            let text = render(node, &fit.cuts);
            fit.valid = Tree::read(&text).is_ok_and(|tree| self.accepts(part, tree.root()));
        }
        fit
    }

    /// A union: each branch on its own, then the best.
    fn branches(&mut self, node: Node<'_>, part: &Part<'_>, ids: &[ShapeId], place: &Place) -> Fit {
        let takes_strings = place.takes_strings || part.allowed().has(Types::STRING);
        let ids = choose::discriminated(node, part, ids);
        let takes = |id: &&ShapeId| Part::of(part.schema(), vec![**id]).allows(node.kind());
        let is_choice = place.is_choice || ids.iter().filter(takes).count() > 1;
        let depth = place.depth + 1;
        let place = &Place { takes_strings, is_choice, depth, ..place.clone() };
        let mut found = Vec::new();
        let mut unfit: Option<Fit> = None;
        for id in ids {
            let branch = part.and(id);
            let fit = self.fit(node, &branch, place);
            if fit.valid {
                let known = node.children().filter_map(|child| child.key());
                let matched = known.filter(|key| branch.declares(key)).count();
                found.push((fit, matched));
            } else if unfit.as_ref().is_none_or(|other| other.applied.len() < fit.applied.len()) {
                unfit = Some(fit);
            }
        }
        match choose::branch(node, found) {
            Choice::One(fit) => fit,
            Choice::None => unfit.unwrap_or_default(),
            Choice::Several => Fit { ambiguous: vec![place.path()], ..Fit::default() },
        }
    }

    /// Carries out a proposal, and repairs what it leads to. `None` if that is not valid.
    fn realise(
        &mut self,
        node: Node<'_>,
        part: &Part<'_>,
        place: &Place,
        proposal: &Proposal<'_, '_>,
    ) -> Option<Fit> {
        let (rule, span) = (proposal.rule, node.span());
        let cut = |span, after: &str| {
            Change::new(Cause::Rule(rule), span, after, place.path()).with_risk(proposal.risk)
        };
        let mut fit = match &proposal.form {
            Form::Text(text) => {
                let tree = Tree::read(text).ok()?;
                let inner = self.fit(tree.root(), part, &place.reshaped());
                // All that was done to the text is one change.
                let risk = inner.risk().unwrap_or(proposal.risk);
                let applied = inner.applied.into_iter().map(|applied| Applied {
                    start: span.start,
                    end: span.end,
                    ..applied
                });
                let text = render(tree.root(), &inner.cuts);
                Fit {
                    cuts: vec![cut(span.clone(), &text).with_risk(risk)],
                    applied: applied.collect(),
                    valid: inner.valid,
                    ..Fit::default()
                }
            }
            Form::Inner(inner) => {
                let kept = inner.span();
                let inner = self.fit(*inner, part, &place.reshaped());
                let mut cuts = vec![cut(span.start..kept.start, "")];
                cuts.extend(inner.cuts);
                cuts.push(cut(kept.end..span.end, ""));
                Fit { cuts, ..inner }
            }
            Form::Wrapped { before, after, part: inner_part, key } => {
                let below = match key {
                    Some(key) => place.member(key),
                    None => place.item(0),
                };
                let inner = self.fit(node, inner_part, &below.reshaped());
                if !inner.valid {
                    return None;
                }
                let mut cuts = vec![cut(span.start..span.start, before)];
                cuts.extend(inner.cuts);
                cuts.push(cut(span.end..span.end, after));
                self.settle(node, part, Fit { cuts, ..inner })
            }
        };
        let cap = proposal.cap.is_none_or(|cap| fit.risk() <= Some(cap));
        if !fit.valid || !cap {
            return None;
        }
        let after = render(node, &fit.cuts);
        fit.applied.insert(0, applied(proposal.rule, proposal.risk, place, part, node, &after));
        Some(fit)
    }
}

/// The entry of the log for a rule.
pub(super) fn applied(
    rule: Rule,
    risk: Risk,
    place: &Place,
    part: &Part<'_>,
    node: Node<'_>,
    after: &str,
) -> Applied {
    let (span, path) = (node.span(), place.path());
    Applied {
        rule,
        risk: risk.max(rule.risk()),
        path,
        schema_path: part.pointer().to_owned(),
        start: span.start,
        end: span.end,
        before: shortened(node.raw()),
        after: shortened(after),
    }
}

/// As much of a value as the log keeps.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(KEPT).collect()
}
