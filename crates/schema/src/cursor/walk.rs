//! Applies events to the slots of the schema, and knows what may come next.

use serde_json::Value;
use wiremend_core::{ParseEvent, Path, Repair, Risk, Step};

use super::{
    NodeState, PartialTree,
    prospects::{EarlyIssue, Standing},
    slots::{SlotId, Slots, WAYS},
};
use crate::{
    Applied, Change, FitOptions, Issue, IssueCode, Schema, compile::Types, tree::JsonType,
};

/// How many early issues are kept.
const MOST: usize = 1_000;
/// The levels that are followed. Deeper values are not checked.
const DEPTH: usize = 64;

/// One reading of a value: its slot, and the reading of the enclosing container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) slot: SlotId,
    parent: usize,
}

/// An open object or array.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) node: usize,
    kind: JsonType,
    /// The readings that are still possible. Empty if there are none, or if there are no
    /// conditions; the content is not checked then.
    pub(super) ways: Vec<FrameWay>,
    /// Whether a reading declares one of the members.
    pub(super) known: bool,
    /// Whether no reading declares one of the members.
    pub(super) unknown: bool,
    /// Whether all values that have ended in it are final.
    settled: bool,
    start: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct FrameWay {
    pub(super) way: Way,
    /// The required properties that are present, as a bit set of their positions.
    given: u128,
}

/// The open string.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub(super) node: usize,
    pub(super) ways: Vec<Way>,
    pub(super) start: usize,
    pub(super) length: u64,
    /// Whether a problem with it has been reported.
    pub(super) reported: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Walk {
    pub(super) slots: Slots,
    /// The remaining work budget for checking scalars; each byte of a scalar adds to it.
    pub(super) work: u64,
    /// Whether the budget was used up. Nothing is checked from then on.
    pub(super) spent: bool,
    pub(super) options: FitOptions,
    /// `None` if no rule may be used.
    pub(super) max_risk: Option<Risk>,
    pub(super) partial: PartialTree,
    pub(super) frames: Vec<Frame>,
    /// The readings of the next value.
    pub(super) next: Vec<Way>,
    /// Whether the next value is not checked.
    mute: bool,
    /// The most items that are allowed, if one more would be too many.
    full: Option<u64>,
    pub(super) open: Option<Open>,
    pub(super) origin: Origin,
    /// The current key of each open object, outermost first.
    keys: Vec<String>,
    issues: Vec<EarlyIssue>,
    pub(super) changes: Vec<Change>,
    pub(super) applied: Vec<Applied>,
    done: bool,
    /// Whether the text may be read otherwise in the end, so that nothing is lost.
    pub(super) unsure: bool,
    /// Whether the text ends with the value.
    pub(super) ends_with_root: bool,
}

impl Walk {
    pub(super) fn new(schema: &Schema, options: &FitOptions) -> Self {
        let mut walk = Self {
            slots: Slots::new(schema),
            work: options.steps(),
            spent: false,
            options: options.clone(),
            max_risk: options.mending().policy().max_risk(),
            partial: PartialTree::default(),
            frames: Vec::new(),
            next: Vec::new(),
            mute: false,
            full: None,
            open: None,
            origin: Origin::default(),
            keys: Vec::new(),
            issues: Vec::new(),
            changes: Vec::new(),
            applied: Vec::new(),
            done: false,
            unsure: false,
            ends_with_root: false,
        };
        walk.begin();
        walk
    }

    fn begin(&mut self) {
        self.next = self.slots.root().iter().map(|slot| Way { slot: *slot, parent: 0 }).collect();
    }

    pub(super) fn reset(&mut self) {
        self.partial.clear();
        self.frames.clear();
        self.keys.clear();
        self.issues.clear();
        self.changes.clear();
        self.applied.clear();
        self.open = None;
        self.mute = false;
        self.full = None;
        self.origin.clear();
        self.done = false;
        self.unsure = false;
        self.begin();
    }

    pub(super) const fn partial(&self) -> &PartialTree {
        &self.partial
    }
    pub(super) const fn is_done(&self) -> bool {
        self.done
    }
    pub(super) fn early_issues(&self) -> &[EarlyIssue] {
        &self.issues
    }
    pub(super) fn changes(&self) -> &[Change] {
        &self.changes
    }
    pub(super) fn applied(&self) -> &[Applied] {
        &self.applied
    }

    pub(super) fn begins_at(&mut self, input: usize) {
        self.origin = Origin::beginning_at(input);
    }

    pub(super) fn repaired(&mut self, read: usize, repair: &Repair) {
        self.unsure |= repair.kind().risk() > Risk::Exact;
        if !self.done {
            self.origin.repaired(read, repair);
        }
    }

    /// Handles one event at offset `at` of the text.
    pub(super) fn step(&mut self, at: usize, event: ParseEvent<'_>) {
        if self.done {
            return;
        }
        match event {
            ParseEvent::BeginObject => self.enter(at, JsonType::Object),
            ParseEvent::BeginArray => self.enter(at, JsonType::Array),
            ParseEvent::EndObject | ParseEvent::EndArray => self.leave(at),
            ParseEvent::Key(key) => self.key(at, key),
            ParseEvent::BeginString => self.begin_string(at),
            ParseEvent::Text(text) => self.text(at, text),
            ParseEvent::EndString => self.end_string(at),
            ParseEvent::Bool(value) => {
                self.scalar(at, JsonType::Boolean, if value { "true" } else { "false" });
            }
            ParseEvent::Null => self.scalar(at, JsonType::Null, "null"),
            ParseEvent::Number(number) => self.scalar(at, JsonType::Number, number),
            ParseEvent::EndDocument => self.done = true,
            _ => {}
        }
        self.origin.pass(at);
    }

    /// Whether the current value is not checked.
    pub(super) fn is_mute(&self) -> bool {
        self.mute || self.spent || self.frames.len() > DEPTH
    }

    fn enter(&mut self, at: usize, kind: JsonType) {
        self.begin_value(at);
        let wanted = if kind == JsonType::Object { Types::OBJECT } else { Types::ARRAY };
        let mut ways = Vec::new();
        if !self.is_mute() {
            let fits = |way: &&Way| self.slots.get(way.slot).types.has(wanted);
            ways.extend(self.next.iter().filter(fits).map(|way| FrameWay { way: *way, given: 0 }));
            if ways.is_empty() {
                let issue = self.issue(IssueCode::Type, kind, "", self.expected_types(), at);
                self.find(issue, at);
            }
        }
        let node = self.partial.begin(kind, NodeState::Tentative);
        let start = self.origin.of(at);
        let frame = Frame { node, kind, ways, known: false, unknown: false, settled: true, start };
        self.frames.push(frame);
        if kind == JsonType::Object {
            // A slot for the keys of its members.
            self.keys.push(String::new());
        }
        self.expect_item();
    }

    /// Handles the start of a value. If the array is full already, the value is one too many.
    pub(super) fn begin_value(&mut self, at: usize) {
        let Some(limit) = self.full.take() else { return };
        let depth = self.frames.len().saturating_sub(1);
        let Some(frame) = self.frames.last_mut() else { return };
        frame.ways.clear();
        let (kind, start) = (frame.kind, frame.start);
        let path = Path::from(self.steps(depth, true));
        let span = start..self.origin.end_of(at);
        let issue =
            Issue::begun(IssueCode::Count, path, kind, "", format!("at most {limit} items"), span);
        let standing = self.standing_of_count();
        self.push(EarlyIssue::new(issue, standing, self.origin.of(at)));
    }

    /// In an array, looks up the slot of the next item.
    fn expect_item(&mut self) {
        self.next.clear();
        self.mute = true;
        self.full = None;
        let Some(frame) = self.frames.last().filter(|frame| frame.kind == JsonType::Array) else {
            return;
        };
        let index = self.partial.len(frame.node);
        let mut limit = None;
        for parent in 0..frame.ways.len() {
            let Some(slot) = frame.ways.get(parent).map(|own| own.way.slot) else { continue };
            let most = self.slots.get(slot).max_items;
            if most.is_some_and(|most| u64::try_from(index).is_ok_and(|index| index >= most)) {
                limit = limit.max(most);
                continue;
            }
            let item = self.slots.item(slot, index);
            let ways = self.slots.ways(item).iter();
            self.next.extend(ways.map(|slot| Way { slot: *slot, parent }));
        }
        self.mute = self.next.is_empty();
        self.full = limit.filter(|_| self.mute);
        self.bound();
    }

    /// If there are more readings than can be followed, nothing is checked.
    fn bound(&mut self) {
        if self.next.len() > WAYS * 2 {
            self.mute = true;
        }
    }

    fn key(&mut self, at: usize, key: &str) {
        if let Some(slot) = self.keys.last_mut() {
            slot.clear();
            slot.push_str(key);
        }
        self.partial.key(key);
        self.next.clear();
        self.mute = true;
        let Some(frame) = self.frames.last_mut().filter(|frame| !frame.ways.is_empty()) else {
            return;
        };
        let mut declared = false;
        let mut kept = Vec::new();
        let mut limit = None;
        let count = u64::try_from(self.partial.len(frame.node)).unwrap_or(u64::MAX);
        for own in &frame.ways {
            let most = self.slots.get(own.way.slot).max_members;
            if most.is_some_and(|most| count >= most) {
                limit = limit.max(most);
                continue;
            }
            let member = self.slots.member(own.way.slot, key);
            declared |= member.declared;
            let Some(slot) = member.slot else { continue };
            let given = own.given | member.required.map_or(0, |position| 1 << position);
            let parent = kept.len();
            kept.push(FrameWay { way: own.way, given });
            let ways = self.slots.ways(slot).iter();
            self.next.extend(ways.map(|slot| Way { slot: *slot, parent }));
        }
        frame.known |= declared;
        frame.unknown |= !declared;
        if kept.is_empty() {
            // The value of this member is not checked, but the other members are.
            let (code, expected) = match limit {
                Some(limit) => (IssueCode::Count, format!("at most {limit} properties")),
                None => (IssueCode::Unexpected, "no such property".to_owned()),
            };
            let issue = self.issue(code, JsonType::Null, "", expected, at);
            self.find(issue, at);
            if let Some(frame) = self.frames.last_mut() {
                frame.settled = false;
            }
            return;
        }
        frame.ways = kept;
        self.mute = self.next.is_empty();
        self.bound();
    }

    fn leave(&mut self, at: usize) {
        let Some(frame) = self.frames.pop() else { return };
        if frame.kind == JsonType::Object {
            self.keys.pop();
        }
        let count = u64::try_from(self.partial.len(frame.node)).unwrap_or(u64::MAX);
        let mut left = Vec::new();
        let mut followed = false;
        for own in &frame.ways {
            let slot = self.slots.get(own.way.slot);
            let whole = if frame.kind == JsonType::Object {
                own.given.count_ones() as usize == slot.required.len()
            } else {
                count >= slot.min_items
            };
            if whole {
                followed |= slot.followed;
                left.push(own.way);
            }
        }
        if left.is_empty() && !frame.ways.is_empty() {
            self.incomplete(&frame, count, at);
        }
        let state = if !left.is_empty() && followed && frame.settled {
            NodeState::Final
        } else {
            NodeState::Tentative
        };
        self.partial.close(frame.node, state);
        self.close_value(&left, state);
    }

    /// Reports what is missing from an object or array that has ended.
    fn incomplete(&mut self, frame: &Frame, count: u64, at: usize) {
        for (issue, required) in self.missing(frame, count) {
            let standing = self.standing_of_missing(frame, required);
            let issue = issue.with_span(frame.start..self.origin.end_of(at));
            self.push(EarlyIssue::new(issue, standing, self.origin.of(at)));
        }
    }

    /// The path of an object or array that is open or has just ended.
    fn path_of(&self, frame: &Frame) -> Path {
        let depth = self.frames.iter().position(|own| own.node == frame.node);
        Path::from(self.steps(depth.unwrap_or(self.frames.len()), true))
    }

    /// The steps to a value inside `depth` open containers. `begun` says whether the innermost one
    /// already counts that value.
    fn steps(&self, depth: usize, begun: bool) -> Vec<Step> {
        let mut keys = self.keys.iter();
        let mut steps = Vec::with_capacity(depth);
        for (level, frame) in self.frames.iter().take(depth).enumerate() {
            steps.push(if frame.kind == JsonType::Object {
                Step::Key(keys.next().map(String::as_str).unwrap_or_default().into())
            } else {
                let length = self.partial.len(frame.node);
                Step::Index(length.saturating_sub(usize::from(begun || level + 1 < depth)))
            });
        }
        steps
    }

    /// The path of the value that is open or comes next.
    pub(super) fn path(&self) -> Path {
        Path::from(self.steps(self.frames.len(), self.open.is_some()))
    }

    /// Handles the end of a value; `left` are the readings in which it is valid.
    pub(super) fn close_value(&mut self, left: &[Way], state: NodeState) {
        let settled = state == NodeState::Final;
        if let Some(frame) = self.frames.last_mut() {
            frame.settled &= settled;
            if !left.is_empty() {
                let mut position = 0;
                frame.ways.retain(|_| {
                    position += 1;
                    left.iter().any(|way| way.parent == position - 1)
                });
            }
        }
        self.expect_item();
    }

    pub(super) fn expected_types(&self) -> String {
        let types = self.next.iter().map(|way| self.slots.get(way.slot).types);
        let types = types.fold(Types::NONE, Types::union).names();
        if types.is_empty() { "nothing here".to_owned() } else { types }
    }

    /// Creates an issue about the current value.
    pub(super) fn issue(
        &self,
        code: IssueCode,
        kind: JsonType,
        raw: &str,
        expected: String,
        at: usize,
    ) -> Issue {
        let start = self.open.as_ref().map_or(self.origin.of(at), |open| open.start);
        let span = start..self.origin.end_of(at).max(start);
        Issue::begun(code, self.path(), kind, raw, expected, span)
    }

    /// Records that nothing valid can follow the byte at `at`.
    pub(super) fn find(&mut self, issue: Issue, at: usize) {
        let standing = self.standing(&issue);
        self.push(EarlyIssue::new(issue, standing, self.origin.of(at)));
    }

    fn push(&mut self, issue: EarlyIssue) {
        if self.issues.len() < MOST {
            self.issues.push(issue);
        }
    }
}

/// What may come next.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected<'c> {
    types: String,
    keys: Vec<String>,
    values: Vec<&'c Value>,
}

impl Expected<'_> {
    /// The types of the value that comes next or is open, in words, such as `integer or null`.
    /// Empty if a key or the end of an object comes next, or if any value is allowed.
    #[must_use]
    pub fn types(&self) -> &str {
        &self.types
    }

    /// The declared keys that are not present yet, if a key may come next.
    #[must_use]
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// The listed values that are possible. For an open string, those that start with its content.
    #[must_use]
    pub fn values(&self) -> &[&Value] {
        &self.values
    }
}

impl Walk {
    /// The issues for what an open object or array still lacks, according to the first of the
    /// possible readings, each with the position of the required property that it is about.
    fn missing(&self, frame: &Frame, count: u64) -> Vec<(Issue, Option<usize>)> {
        let Some(own) = frame.ways.first() else { return Vec::new() };
        let slot = self.slots.get(own.way.slot);
        let path = self.path_of(frame);
        let issue = |code, expected: String| {
            Issue::begun(code, path.clone(), frame.kind, "", expected, frame.start..frame.start)
        };
        if frame.kind == JsonType::Array {
            let short = count < slot.min_items;
            let expected = format!("at least {} items", slot.min_items);
            let issue = short.then(|| (issue(IssueCode::Count, expected), None));
            return issue.into_iter().collect();
        }
        let lacks = |position: &usize| own.given & (1 << position) == 0;
        let names = slot.required.iter().enumerate().filter(|(position, _)| lacks(position));
        let missing = names.map(|(position, name)| {
            let expected = format!("required property {}", Value::from(name.as_str()));
            (issue(IssueCode::Missing, expected), Some(position))
        });
        missing.collect()
    }

    pub(super) fn pending(&self) -> Vec<EarlyIssue> {
        let mut found = Vec::new();
        for frame in &self.frames {
            let count = u64::try_from(self.partial.len(frame.node)).unwrap_or(u64::MAX);
            let missing = self.missing(frame, count).into_iter();
            let pending = |(issue, _)| EarlyIssue::new(issue, Standing::Pending, frame.start);
            found.extend(missing.map(pending));
        }
        found.extend(self.unfinished());
        found
    }

    pub(super) fn expected(&self) -> Expected<'_> {
        let mut expected = Expected { types: String::new(), keys: Vec::new(), values: Vec::new() };
        let ways: &[Way] = match &self.open {
            Some(open) => &open.ways,
            None => &self.next,
        };
        let begun = self.open.as_ref().map(|open| self.partial.content(open.node));
        if self.done || self.mute && self.open.is_none() {
            self.expected_keys(&mut expected);
            return expected;
        }
        let mut types = Types::NONE;
        for way in ways {
            let slot = self.slots.get(way.slot);
            types = types.union(slot.types);
            let fits = |option: &&Value| match begun {
                Some(begun) => option.as_str().is_some_and(|name| name.starts_with(begun)),
                None => true,
            };
            expected.values.extend(slot.options.iter().flatten().filter(fits));
        }
        if types != Types::ALL {
            expected.types = types.names();
        }
        expected
    }

    fn expected_keys(&self, expected: &mut Expected<'_>) {
        let Some(frame) = self.frames.last().filter(|frame| frame.kind == JsonType::Object) else {
            return;
        };
        let members = self.partial.at(frame.node).into_iter().flat_map(|own| own.children());
        let given: Vec<&str> = members.filter_map(|child| child.key()).collect();
        for own in &frame.ways {
            let part = self.slots.part(own.way.slot);
            for key in part.properties() {
                if !given.contains(&key) && !expected.keys.iter().any(|own| own == key) {
                    expected.keys.push(key.to_owned());
                }
            }
        }
    }
}

/// Where the mended text came from. Repairs arrive in order, each one before the first byte that
/// follows it. A number is only recognised at its end, when there may already be repairs inside or
/// after it, so repairs are kept until an event has [passed](Self::pass) them.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin {
    repairs: Vec<Replaced>,
}

/// The effect of one repair.
#[derive(Clone, Copy, Debug, Default)]
struct Replaced {
    /// Its offset in the mended text.
    from: usize,
    /// The end of the replacement in the mended text.
    text: usize,
    /// The end of the replaced bytes in the input.
    input: usize,
    /// The start of the replaced bytes in the input.
    start: usize,
}

impl Origin {
    /// Records a repair after `read` bytes of mended text.
    fn repaired(&mut self, read: usize, repair: &Repair) {
        let text = read + repair.after().len();
        self.push(Replaced { from: read, text, input: repair.end(), start: repair.start() });
    }

    /// Creates a map for text that begins at byte `input` of the input.
    fn beginning_at(input: usize) -> Self {
        Self { repairs: vec![Replaced { from: 0, text: 0, input, start: input }] }
    }

    fn clear(&mut self) {
        self.repairs.clear();
    }

    /// Forgets what is only needed for offsets before `at`.
    fn pass(&mut self, at: usize) {
        let passed = self.repairs.partition_point(|repair| repair.from <= at);
        self.repairs.drain(..passed.saturating_sub(1));
    }

    fn push(&mut self, repair: Replaced) {
        // Of two repairs at the same offset, the later one determines how the text continues.
        if self.repairs.last().is_some_and(|last| last.from == repair.from) {
            self.repairs.pop();
        }
        self.repairs.push(repair);
    }

    /// The last repair before the byte at `at`.
    fn before(&self, at: usize) -> Replaced {
        let repair = self.repairs.iter().rev().find(|repair| repair.from <= at);
        repair.copied().unwrap_or_default()
    }

    /// The start in the input of the byte at `at`.
    pub(super) fn of(&self, at: usize) -> usize {
        let repair = self.before(at);
        if at >= repair.text { repair.input + (at - repair.text) } else { repair.start }
    }

    /// The end in the input of the byte at `at`.
    pub(super) fn end_of(&self, at: usize) -> usize {
        let repair = self.before(at);
        if at >= repair.text { repair.input + (at - repair.text) + 1 } else { repair.input }
    }
}
