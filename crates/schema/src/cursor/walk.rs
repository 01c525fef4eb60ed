//! Applies events to the places of the schema.

use wiremend_core::{ParseEvent, Path, Repair, Risk, Step};

use super::{
    finding::Finding,
    origin::Origin,
    partial::{NodeState, PartialTree},
    places::{PlaceId, Places, WAYS},
};
use crate::{
    Applied, Change, FitOptions, Issue, IssueCode, Schema, compile::Types, tree::JsonType,
};

/// How many findings are kept.
const MOST: usize = 1_000;
/// The levels that are followed. Deeper values are not checked.
const DEPTH: usize = 64;

/// One reading of a value: its place, and the reading of the enclosing container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) place: PlaceId,
    pub(super) parent: usize,
}

/// An open object or array.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) node: usize,
    pub(super) kind: JsonType,
    /// The readings that are still possible. Empty if there are none, or if there are no
    /// conditions; the content is not checked then.
    pub(super) ways: Vec<FrameWay>,
    /// Whether a reading declares one of the members.
    pub(super) known: bool,
    /// Whether no reading declares one of the members.
    pub(super) unknown: bool,
    /// Whether all values that have ended in it are final.
    settled: bool,
    pub(super) start: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct FrameWay {
    pub(super) way: Way,
    /// The required properties that are present, as a bit set of their positions.
    pub(super) given: u128,
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
    pub(super) places: Places,
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
    pub(super) mute: bool,
    /// The most items that are allowed, if one more would be too many.
    full: Option<u64>,
    pub(super) open: Option<Open>,
    pub(super) origin: Origin,
    /// The current key of each open object, outermost first.
    keys: Vec<String>,
    pub(super) findings: Vec<Finding>,
    pub(super) changes: Vec<Change>,
    pub(super) applied: Vec<Applied>,
    pub(super) done: bool,
    /// Whether the text may be read otherwise in the end, so that nothing is lost.
    pub(super) unsure: bool,
    /// Whether the text ends with the value.
    pub(super) ends_with_root: bool,
}

impl Walk {
    pub(super) fn new(schema: &Schema, options: &FitOptions) -> Self {
        let mut walk = Self {
            places: Places::new(schema),
            work: options.steps(),
            spent: false,
            options: options.clone(),
            max_risk: options.engine().policy().max_risk(),
            partial: PartialTree::default(),
            frames: Vec::new(),
            next: Vec::new(),
            mute: false,
            full: None,
            open: None,
            origin: Origin::default(),
            keys: Vec::new(),
            findings: Vec::new(),
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
        self.next =
            self.places.root().iter().map(|place| Way { place: *place, parent: 0 }).collect();
    }

    pub(super) fn reset(&mut self) {
        self.partial.clear();
        self.frames.clear();
        self.keys.clear();
        self.findings.clear();
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
    pub(super) fn findings(&self) -> &[Finding] {
        &self.findings
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
            let fits = |way: &&Way| self.places.get(way.place).types.has(wanted);
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
        self.push(Finding::new(issue, standing, self.origin.of(at)));
    }

    /// In an array, looks up the place of the next item.
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
            let Some(place) = frame.ways.get(parent).map(|own| own.way.place) else { continue };
            let most = self.places.get(place).max_items;
            if most.is_some_and(|most| u64::try_from(index).is_ok_and(|index| index >= most)) {
                limit = limit.max(most);
                continue;
            }
            let item = self.places.item(place, index);
            let ways = self.places.ways(item).iter();
            self.next.extend(ways.map(|place| Way { place: *place, parent }));
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
            let most = self.places.get(own.way.place).max_members;
            if most.is_some_and(|most| count >= most) {
                limit = limit.max(most);
                continue;
            }
            let member = self.places.member(own.way.place, key);
            declared |= member.declared;
            let Some(place) = member.place else { continue };
            let given = own.given | member.required.map_or(0, |position| 1 << position);
            let parent = kept.len();
            kept.push(FrameWay { way: own.way, given });
            let ways = self.places.ways(place).iter();
            self.next.extend(ways.map(|place| Way { place: *place, parent }));
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
            let place = self.places.get(own.way.place);
            let whole = if frame.kind == JsonType::Object {
                own.given.count_ones() as usize == place.required.len()
            } else {
                count >= place.min_items
            };
            if whole {
                followed |= place.followed;
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
        for finding in self.missing(frame, count) {
            let standing = self.standing_of_missing(frame, &finding);
            let issue = finding.with_span(frame.start..self.origin.end_of(at));
            self.push(Finding::new(issue, standing, self.origin.of(at)));
        }
    }

    /// The path of an object or array that is open or has just ended.
    pub(super) fn path_of(&self, frame: &Frame) -> Path {
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
        let types = self.next.iter().map(|way| self.places.get(way.place).types);
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
        self.push(Finding::new(issue, standing, self.origin.of(at)));
    }

    pub(super) fn push(&mut self, finding: Finding) {
        if self.findings.len() < MOST {
            self.findings.push(finding);
        }
    }
}
