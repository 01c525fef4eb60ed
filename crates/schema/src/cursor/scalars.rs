//! Scalars: checked while they arrive, and coerced when they end.

use std::ops::Range;

use serde_json::Value;
use wiremend_core::{Path, Risk};

use super::{
    NodeState,
    prospects::{EarlyIssue, Standing},
    slots::SlotId,
    walk::{Open, Walk, Way},
};
use crate::{
    Applied, Cause, Change, IssueCode, Rule, Tree,
    coerce::{Scalar, coerce},
    compile::{Off, Types},
    fit::shortened,
    issue::pointer_of,
    judge::Judge,
    tree::{JsonType, is_integer, plain_integer, quoted},
};

/// How many options a message lists.
const LISTED: usize = 10;

/// How many characters of a string are checked one by one. A longer string is checked when it ends.
const DOUBTED: u64 = 512;

/// The result of applying a rule to a scalar.
struct Made {
    rule: Rule,
    risk: Risk,
    text: String,
    way: Way,
}

impl Walk {
    pub(super) fn begin_string(&mut self, at: usize) {
        self.begin_value(at);
        let mute = self.is_mute();
        let fits = |way: &&Way| self.slots.get(way.slot).types.has(Types::STRING);
        let ways: Vec<Way> =
            if mute { Vec::new() } else { self.next.iter().filter(fits).copied().collect() };
        let bound = ways.iter().any(|way| {
            let slot = self.slots.get(way.slot);
            slot.narrow || slot.options.is_some()
        });
        let state = if mute || !ways.is_empty() && !bound {
            NodeState::Tentative
        } else {
            NodeState::Pending
        };
        let mut reported = mute;
        if !mute && ways.is_empty() && !self.may_turn("") {
            reported = true;
            let issue =
                self.issue(IssueCode::Type, JsonType::String, "", self.expected_types(), at);
            self.find(issue, at);
        }
        let state = if reported { NodeState::Tentative } else { state };
        let node = self.partial.begin(JsonType::String, state);
        let start = self.origin.of(at);
        self.open = Some(Open { node, ways, start, length: 0, reported });
    }

    pub(super) fn text(&mut self, at: usize, text: &str) {
        let Some(open) = &self.open else { return };
        let bound = !open.reported
            && (open.ways.is_empty()
                || open.ways.iter().any(|way| self.slots.get(way.slot).is_bound()));
        if !bound || open.length > DOUBTED {
            self.partial.grow(text);
            return;
        }
        // Character by character, so that an early issue is reported at the same offset however the
        // input was divided.
        for (offset, c) in text.char_indices() {
            self.character(at + offset, c);
        }
    }

    fn character(&mut self, at: usize, c: char) {
        let Some(mut open) = self.open.take() else { return };
        self.partial.grow(c.encode_utf8(&mut [0; 4]));
        open.length += 1;
        if open.reported || open.length > DOUBTED {
            self.open = Some(open);
            return;
        }
        let (node, had) = (open.node, !open.ways.is_empty());
        let content = self.partial.content(node);
        open.ways.retain(|way| self.slots.get(way.slot).may_begin(content, open.length));
        let doubtful = open.ways.is_empty();
        let long = had && open.length > self.longest();
        self.open = Some(open);
        if !doubtful || self.may_turn(content) {
            return;
        }
        let raw = begun(content);
        let (code, expected) = self.wanted(JsonType::String, long);
        let issue = self.issue(code, JsonType::String, &raw, expected, at).of_open_value();
        self.find(issue, at);
        self.partial.set_state(node, NodeState::Tentative);
        if let Some(open) = &mut self.open {
            open.reported = true;
        }
    }

    /// The most characters that a string may have here.
    fn longest(&self) -> u64 {
        let longest = |way: &Way| self.slots.get(way.slot).max_length.unwrap_or(u64::MAX);
        let strings =
            self.next.iter().filter(|way| self.slots.get(way.slot).types.has(Types::STRING));
        strings.map(longest).max().unwrap_or(u64::MAX)
    }

    pub(super) fn end_string(&mut self, at: usize) {
        let Some(open) = self.open.take() else { return };
        if open.reported || self.is_mute() {
            self.partial.close(open.node, NodeState::Tentative);
            self.close_value(&[], NodeState::Tentative);
            return;
        }
        let content = self.partial.content(open.node).to_owned();
        let left = self.valid_ways(&open.ways, &Scalar::String(&content));
        if self.spent {
            self.partial.close(open.node, NodeState::Tentative);
            self.close_value(&[], NodeState::Tentative);
            return;
        }
        if !left.is_empty() {
            self.partial.close(open.node, NodeState::Final);
            self.close_value(&left, NodeState::Final);
            return;
        }
        let span = open.start..self.origin.end_of(at);
        self.open = Some(open.clone());
        let (made, state) = self.made(Scalar::String(&content), open.node, span, &quoted(&content));
        if made.is_empty() {
            let (code, expected) = self.wanted(JsonType::String, false);
            let issue = self.issue(code, JsonType::String, &quoted(&content), expected, at);
            self.find(issue, at);
        }
        self.open = None;
        self.partial.close(open.node, state);
        self.close_value(&made, state);
    }

    /// Handles a complete number or literal that ends before offset `at`.
    pub(super) fn scalar(&mut self, at: usize, kind: JsonType, raw: &str) {
        let from = at.saturating_sub(raw.len());
        self.begin_value(from);
        let scalar = match kind {
            JsonType::Boolean => Scalar::Boolean(raw == "true"),
            JsonType::Number => Scalar::Number(raw),
            _ => Scalar::Null,
        };
        let mute = self.is_mute();
        let next = std::mem::take(&mut self.next);
        let mut left = if mute { Vec::new() } else { self.valid_ways(&next, &scalar) };
        self.next = next;
        let mute = mute || self.spent;
        let wrong = !mute && left.is_empty();
        // The issue is created first, because its path depends on the number of items so far.
        let last = at.saturating_sub(1);
        let wanted = wrong.then(|| {
            let (code, expected) = self.wanted(kind, false);
            self.issue(code, kind, raw, expected, last)
                .with_span(self.origin.of(from)..self.origin.end_of(last))
        });
        let path = self.path();
        let node = self.partial.scalar(kind, raw);
        let mut state = NodeState::Tentative;
        if let Some(issue) = wanted {
            (left, state) = self.made_at(scalar, node, issue.span(), raw, path);
            if left.is_empty() {
                self.find(issue, last);
            }
        } else if !left.is_empty() {
            let span = self.origin.of(from)..self.origin.end_of(last);
            state = self.spell(node, raw, &left, span, path);
        }
        self.partial.set_state(node, state);
        self.close_value(&left, state);
    }

    /// The readings in which a scalar is valid.
    fn valid_ways(&mut self, ways: &[Way], scalar: &Scalar<'_>) -> Vec<Way> {
        let own = match scalar {
            Scalar::Boolean(_) => Types::BOOLEAN,
            Scalar::Null => Types::NULL,
            Scalar::Number(raw) if is_integer(raw) => Types::INTEGER,
            Scalar::Number(_) => Types::NUMBER.without(Types::INTEGER),
            Scalar::String(_) => Types::STRING,
        };
        // Most slots need no validation: they only require a type, or one of a list of values.
        let known = |walk: &Self, way: &Way| {
            let slot = walk.slots.get(way.slot);
            if !slot.types.has(own) || slot.plain {
                return Some(slot.types.has(own));
            }
            match (slot.listed, &slot.options, scalar) {
                (true, Some(options), Scalar::String(content)) => {
                    Some(options.iter().any(|option| option.as_str() == Some(content)))
                }
                _ => None,
            }
        };
        let mut valid = Vec::with_capacity(ways.len());
        for way in ways {
            match known(self, way) {
                Some(true) => valid.push(*way),
                Some(false) => {}
                None => return self.validated(ways, scalar, known),
            }
        }
        valid
    }

    /// The readings in which a scalar is valid, some of which have to be validated.
    fn validated(
        &mut self,
        ways: &[Way],
        scalar: &Scalar<'_>,
        known: impl Fn(&Self, &Way) -> Option<bool>,
    ) -> Vec<Way> {
        let length = match scalar {
            Scalar::Number(text) | Scalar::String(text) => text.len(),
            Scalar::Boolean(_) | Scalar::Null => 0,
        };
        let json = written(scalar);
        self.on_account(length, |walk, judge| {
            let mut valid =
                |way: &&Way| known(walk, way).unwrap_or_else(|| walk.accepts(judge, way, &json));
            ways.iter().filter(|way| valid(way)).copied().collect()
        })
    }

    /// Runs a check on `length` new bytes, and charges its work to the budget.
    fn on_account<T>(&mut self, length: usize, work: impl FnOnce(&Self, &mut Judge<'_>) -> T) -> T {
        let schema = self.slots.schema().clone();
        let mut judge = Judge::with(&schema, self.work, length);
        let made = work(self, &mut judge);
        self.work = judge.left();
        self.spent |= judge.is_spent();
        made
    }

    fn accepts(&self, judge: &mut Judge<'_>, way: &Way, json: &str) -> bool {
        let part = self.slots.part(way.slot);
        let other = judge.turn_to_another();
        let accepted = Tree::read(json).is_ok_and(|tree| part.accepts(judge, tree.root()));
        judge.turn_back(other);
        accepted
    }

    fn made(
        &mut self,
        scalar: Scalar<'_>,
        node: usize,
        span: std::ops::Range<usize>,
        before: &str,
    ) -> (Vec<Way>, NodeState) {
        let path = self.path();
        self.made_at(scalar, node, span, before, path)
    }

    /// Coerces a scalar, if there is exactly one right way. Returns the readings in which the
    /// result is valid, and the state of the node.
    fn made_at(
        &mut self,
        scalar: Scalar<'_>,
        node: usize,
        span: std::ops::Range<usize>,
        before: &str,
        path: wiremend_core::Path,
    ) -> (Vec<Way>, NodeState) {
        let pointer = pointer_of(&path);
        let made = self.on_account(0, |walk, judge| walk.coerced(judge, scalar, &pointer));
        let Some(made) = made else {
            return (Vec::new(), NodeState::Tentative);
        };
        let (kind, content) = match serde_json::from_str(&made.text) {
            Ok(Value::String(content)) => (JsonType::String, content),
            Ok(Value::Bool(_)) => (JsonType::Boolean, made.text.clone()),
            Ok(Value::Null) => (JsonType::Null, made.text.clone()),
            _ => (JsonType::Number, made.text.clone()),
        };
        self.partial.replace_last(kind, &content);
        self.applied.push(Applied {
            rule: made.rule,
            risk: made.risk,
            path: path.clone(),
            schema_path: self.slots.part(made.way.slot).pointer().to_owned(),
            start: span.start,
            end: span.end,
            before: shortened(before),
            after: shortened(&made.text),
        });
        let valid: Vec<Way> = self.on_account(0, |walk, judge| {
            let valid = walk.next.iter().filter(|way| walk.accepts(judge, way, &made.text));
            valid.copied().collect()
        });
        let change =
            Change::new(Cause::Rule(made.rule), span.clone(), made.text.clone(), path.clone());
        let change = change.with_risk(made.risk);
        self.changes.push(change);
        let state = match kind {
            JsonType::Number => self.spell(node, &made.text, &valid, span, path),
            _ if valid.is_empty() => NodeState::Tentative,
            _ => NodeState::Final,
        };
        (valid, state)
    }

    /// The only result of the rules with the lowest risk. If an object or an array is allowed here,
    /// or a string after all, the model may have meant more than a scalar, so the decision is left
    /// to the end.
    fn coerced(&self, judge: &mut Judge<'_>, scalar: Scalar<'_>, pointer: &str) -> Option<Made> {
        let max_risk = self.max_risk?.min(Risk::Likely);
        let types = |way: &Way| self.slots.get(way.slot).types;
        let is_text = matches!(scalar, Scalar::String(_));
        let several = self.next.len() > 1;
        let open = self.next.iter().any(|way| {
            types(way).has(Types::ARRAY.union(Types::OBJECT))
                || several && is_text && types(way).has(Types::STRING)
        });
        if open {
            return None;
        }
        let mut found: Vec<Made> = Vec::new();
        for way in &self.next {
            let part = self.slots.part(way.slot);
            for proposal in coerce(scalar, &part) {
                let (rule, risk) = (proposal.rule, proposal.risk);
                let allowed = risk <= max_risk
                    && self.options.rules().allows(rule, pointer)
                    && !self.is_off(rule, way);
                if allowed && self.accepts(judge, way, &proposal.text) {
                    found.push(Made { rule, risk, text: proposal.text, way: *way });
                }
            }
        }
        let least = found.iter().map(|made| made.risk).min()?;
        found.retain(|made| made.risk == least);
        let first = found.swap_remove(0);
        found.iter().all(|other| other.text == first.text).then_some(first)
    }

    /// Whether the schema switches a rule off here.
    fn is_off(&self, rule: Rule, way: &Way) -> bool {
        let around = self.frames.iter().flat_map(|frame| &frame.ways).map(|own| own.way.slot);
        around.chain([way.slot]).any(|slot| {
            self.slots.part(slot).shapes().any(|shape| match &shape.off {
                Off::Nothing => false,
                Off::Everything => true,
                Off::Codes(codes) => codes.iter().any(|code| code == rule.code()),
            })
        })
    }

    /// The code of the issue for an invalid scalar, and what was expected.
    fn wanted(&self, kind: JsonType, long: bool) -> (IssueCode, String) {
        let own = match kind {
            JsonType::Boolean => Types::BOOLEAN,
            JsonType::Null => Types::NULL,
            JsonType::Number => Types::NUMBER,
            _ => Types::STRING,
        };
        let slots = || self.next.iter().map(|way| self.slots.get(way.slot));
        let options: Vec<String> =
            slots().flat_map(|slot| slot.options.iter().flatten()).map(Value::to_string).collect();
        if !options.is_empty() {
            let more = options.len().saturating_sub(LISTED);
            let listed = options.get(..options.len().min(LISTED)).unwrap_or_default().join(", ");
            return match (options.as_slice(), more) {
                ([only], _) => (IssueCode::Const, only.clone()),
                (_, 0) => (IssueCode::Enum, format!("one of {listed}")),
                _ => (IssueCode::Enum, format!("one of {listed} and {more} more")),
            };
        }
        if !slots().any(|slot| slot.types.has(own))
            || kind == JsonType::Number && self.is_fraction_refused()
        {
            return (IssueCode::Type, self.expected_types());
        }
        if long {
            return (IssueCode::Length, format!("at most {} characters", self.longest()));
        }
        if kind == JsonType::Number {
            return (IssueCode::Range, "a number within the bounds of the schema".to_owned());
        }
        let form = self.next.iter().find_map(|way| self.slots.part(way.slot).form());
        match form {
            Some(form) if form.starts_with("a string in") => (IssueCode::Format, form),
            Some(form) => (IssueCode::Pattern, form),
            None => (IssueCode::Length, "a value within the bounds of the schema".to_owned()),
        }
    }

    /// Whether only whole numbers are expected.
    fn is_fraction_refused(&self) -> bool {
        let fraction = Types::NUMBER.without(Types::INTEGER);
        !self.next.iter().any(|way| self.slots.get(way.slot).types.has(fraction))
    }

    /// For an open string: the listed values that begin like it.
    pub(super) fn unfinished(&self) -> Option<EarlyIssue> {
        let open = self.open.as_ref().filter(|open| !open.reported)?;
        let content = self.partial.content(open.node);
        let named = open.ways.iter().map(|way| self.slots.get(way.slot));
        let mut options = named.flat_map(|slot| slot.options.iter().flatten());
        let whole = options.clone().any(|option| option.as_str() == Some(content));
        options.next().filter(|_| !whole)?;
        let (code, expected) = self.wanted(JsonType::String, false);
        let span = open.start..open.start;
        let issue = crate::Issue::begun(
            code,
            self.path(),
            JsonType::String,
            &begun(content),
            expected,
            span,
        );
        Some(EarlyIssue::new(issue.of_open_value(), Standing::Pending, open.start))
    }
}

/// How a string begins that has not ended.
fn begun(content: &str) -> String {
    let mut raw = quoted(content);
    raw.pop();
    raw
}

fn written(scalar: &Scalar<'_>) -> String {
    match scalar {
        Scalar::Boolean(value) => value.to_string(),
        Scalar::Null => "null".to_owned(),
        Scalar::Number(raw) => (*raw).to_owned(),
        Scalar::String(content) => quoted(content),
    }
}

impl Walk {
    /// Rewrites a valid number as digits if every remaining reading accepts only whole numbers.
    /// Returns the state of the node, which is not final if the end of the value may still decide.
    fn spell(
        &mut self,
        node: usize,
        raw: &str,
        left: &[Way],
        span: Range<usize>,
        path: Path,
    ) -> NodeState {
        let rule = Rule::IntegralFloat;
        let number = self.partial.at(node).is_some_and(|own| own.kind() == JsonType::Number);
        let Some(first) = left.first().filter(|_| number && self.may(&[rule])) else {
            return if left.is_empty() { NodeState::Tentative } else { NodeState::Final };
        };
        let Some(digits) = plain_integer(raw) else { return NodeState::Final };
        let whole_only = |way: &Way| self.slots.get(way.slot).types.is_whole_only();
        if !left.iter().all(whole_only) {
            let open = left.iter().any(|way| whole_only(way) || way.slot == SlotId::FREE);
            return if open { NodeState::Tentative } else { NodeState::Final };
        }
        let off = left.iter().any(|way| self.is_off(rule, way));
        if off || !self.options.rules().allows(rule, &pointer_of(&path)) {
            return NodeState::Final;
        }
        self.applied.push(Applied {
            rule,
            risk: Risk::Exact,
            path: path.clone(),
            schema_path: self.slots.part(first.slot).pointer().to_owned(),
            start: span.start,
            end: span.end,
            before: shortened(raw),
            after: shortened(&digits),
        });
        self.partial.replace_last(JsonType::Number, &digits);
        let last =
            self.changes.last_mut().filter(|last| (last.start, last.end) == (span.start, span.end));
        match last {
            // Another rule has already changed these bytes.
            Some(last) => last.after = digits,
            None => self.changes.push(Change::new(Cause::Rule(rule), span, digits, path)),
        }
        NodeState::Final
    }
}
