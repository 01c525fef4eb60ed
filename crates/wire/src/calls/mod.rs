//! The tool calls of one response: which call a piece belongs to, and how each call ends.

mod arguments;
mod call;
mod end;
mod route;
mod trace;
mod tracking;

use std::collections::{BTreeMap, BTreeSet};

use wiremend_core::MendOptions;

pub(crate) use crate::tools::ToolOptions;
use crate::{
    ErrorKind, FinishReason, WireError, WireEvent, WireLimits, WireOptions,
    format::{Arguments, CallDelta, CallEnds, excerpt},
    json::{Halves, Span},
    source::Source,
};
use arguments::ArgumentText;
pub use call::{Call, CallKind, Doubt};
pub(crate) use end::End;
use end::Ended;
use route::{Rivals, Route};
use trace::Piece;
pub(crate) use trace::{EditLog, Release, Slot};
pub(crate) use tracking::{EmptyCall, EndedContent, Entry, Fate, FoundInTexts, Target, Tracking};

/// A name does not grow beyond this length.
const LONGEST_NAME: usize = 1024;

/// Receives the events of the calls.
pub(crate) type Sink<'s> = &'s mut dyn FnMut(WireEvent<'_>);

/// A call, from its first piece to its last.
#[derive(Debug)]
struct OpenCall {
    kind: CallKind,
    id: Option<String>,
    name: Option<String>,
    arguments: ArgumentText,
    /// How many bytes of it were counted in [`Calls::kept`].
    kept: usize,
    /// The first reason not to treat it as complete.
    doubt: Option<Doubt>,
    /// Something was lost before it began, which may be its first event.
    after_loss: bool,
    halves: Halves,
    /// The format guarantees which pieces belong to it.
    exact: bool,
    /// How many of its pieces had its id, up to 2.
    same_ids: u8,
    /// The stream repeated it as a whole.
    repeated: bool,
    index: Option<i64>,
    rivals: Rivals,
    /// Its arguments came as a value.
    whole: bool,
    /// The stream says that its arguments are an empty object, if nothing else comes.
    empty: bool,
    /// Null came where its first piece belongs.
    null: bool,
    /// The event with which the next call began waits for it.
    precedes: bool,
}

impl OpenCall {
    /// Whether it has arguments but no event began it, so they may belong to another call.
    fn is_stray(&self) -> bool {
        !self.exact && self.name.is_none() && !self.arguments.is_blank()
    }

    /// Whether the stream contradicts itself about it.
    fn is_contradicted(&self) -> bool {
        let contradiction = Some(Doubt::Contradiction);
        self.doubt == contradiction || self.arguments.doubt() == contradiction
    }

    /// Whether its arguments are written if there are none: they are not stated, and may be repaired.
    fn is_filled(&self) -> bool {
        self.kind == CallKind::Function && !self.empty && self.arguments.may_be_repaired()
    }

    /// Whether its arguments are to be written, if it ends now.
    fn lacks_arguments(&self) -> bool {
        self.arguments.is_blank() && self.is_filled()
    }

    /// Has the event that is read, in which `span` holds what there is of its arguments, wait for its end.
    fn hold_event(&mut self, tracking: &mut Tracking, target: Target, span: Option<Span>) {
        self.arguments.hold_event();
        tracking.enter(Entry::Piece { target, span, decoded: None });
    }

    /// Whether the server sends its id with every piece.
    const fn has_steady_id(&self) -> bool {
        self.same_ids > 1
    }
}

/// All calls of a response. Of those that have ended, little more than the keys is kept.
#[derive(Debug)]
pub(crate) struct Calls {
    tools: ToolOptions,
    limits: WireLimits,
    begun: usize,
    /// How many bytes are kept of all open calls.
    kept: usize,
    refused: bool,
    /// Part of the stream was lost.
    lossy: bool,
    /// A doubt that no event has reported yet.
    unreported: Option<Doubt>,
    /// How the format says that a call has ended.
    ends: CallEnds,
    /// The current payload is damaged.
    damage: Option<Doubt>,
    /// By scope and number.
    /// Each on its own: a node of the map has room for eleven.
    open: BTreeMap<(u32, usize), Box<OpenCall>>,
    /// By scope and index.
    keys: BTreeMap<(u32, i64), usize>,
    /// By scope and id.
    ids: BTreeMap<(u32, String), usize>,
    /// The call that began last, by scope.
    last: BTreeMap<u32, usize>,
    /// The calls that the list has named that is being read.
    listed: BTreeSet<usize>,
    /// Ended by the format without arguments. What comes next decides whether it was cut off.
    pending: Option<(u32, usize)>,
    /// What is known about the calls that have ended, by scope and number.
    ended: BTreeMap<(u32, usize), Ended>,
    /// For a rewriter.
    tracking: Option<Box<Tracking>>,
}

impl Calls {
    pub(crate) fn new(options: &WireOptions) -> Self {
        Self {
            tools: ToolOptions::new(options),
            limits: options.limits(),
            begun: 0,
            kept: 0,
            refused: false,
            lossy: false,
            unreported: None,
            ends: CallEnds::Unstated,
            damage: None,
            open: BTreeMap::new(),
            keys: BTreeMap::new(),
            ids: BTreeMap::new(),
            last: BTreeMap::new(),
            listed: BTreeSet::new(),
            pending: None,
            ended: BTreeMap::new(),
            tracking: None,
        }
    }

    /// Tracks the pieces, so that they can be rewritten.
    pub(crate) fn track(&mut self, tracking: Tracking) {
        self.tracking = Some(Box::new(tracking));
    }

    /// The tracking, if it is enabled.
    pub(crate) fn tracking(&mut self) -> Option<&mut Tracking> {
        self.tracking.as_deref_mut()
    }

    /// The open calls, with their arguments so far.
    pub(crate) fn open(&self) -> impl Iterator<Item = (usize, &str)> {
        self.open.iter().map(|(&(_, call), open)| (call, open.arguments.so_far()))
    }

    /// The edit log of one text.
    pub(crate) fn edit_log(&mut self, target: Target) -> Option<&mut EditLog> {
        if let Target::Call(scope, call) = target
            && let Some(open) = self.open.get_mut(&(scope, call))
        {
            return open.arguments.edit_log_mut();
        }
        self.tracking.as_deref_mut()?.edit_log(target)
    }

    /// Abandons the repair of everything that is open: it is forwarded verbatim.
    pub(crate) fn abandon(&mut self) {
        self.open.values_mut().for_each(|open| open.arguments.abandon());
        if let Some(tracking) = &mut self.tracking {
            tracking.abandon();
        }
    }

    /// Takes a doubt that no event has reported yet.
    pub(crate) const fn take_doubt(&mut self) -> Option<Doubt> {
        self.unreported.take()
    }

    /// Takes the number of a call that was found in a text. `None` if there are too many calls.
    pub(crate) fn begin_found(&mut self) -> Option<usize> {
        let number = self.begun;
        if number >= self.limits.calls() {
            return None;
        }
        self.begun += 1;
        Some(number)
    }

    /// The index after those of all calls of a scope.
    pub(crate) fn next_index(&self, scope: u32) -> i64 {
        let last = self.keys.range((scope, 0)..=(scope, i64::MAX)).next_back();
        last.map_or(0, |((_, index), _)| index.saturating_add(1))
    }

    /// Whether part of the stream was lost.
    pub(crate) const fn is_lossy(&self) -> bool {
        self.lossy
    }

    /// Reads a piece of a call from the payload `source`.
    pub(crate) fn take(
        &mut self,
        delta: CallDelta<'_>,
        source: Source<'_>,
        sink: Sink<'_>,
    ) -> Result<(), Box<WireError>> {
        if !delta.sibling {
            self.listed.clear();
        }
        match self.route(&delta) {
            Route::Call(call) => {
                self.listed.insert(call);
                self.extend((delta.scope, call), delta, source, sink)
            }
            Route::Ended(call) => self.repeat(call, &delta, source),
            Route::Ghost | Route::Unsure => Ok(()),
            Route::New => self.begin(delta, source, sink),
        }
    }

    /// Whether there is a call with that index.
    pub(crate) fn has(&self, scope: u32, index: i64) -> bool {
        self.keys.contains_key(&(scope, index))
    }

    fn begin(
        &mut self,
        delta: CallDelta<'_>,
        source: Source<'_>,
        sink: Sink<'_>,
    ) -> Result<(), Box<WireError>> {
        if self.begun >= self.limits.calls() {
            return match core::mem::replace(&mut self.refused, true) {
                true => Ok(()),
                false => Err(Box::new(WireError::new(
                    ErrorKind::TooManyCalls,
                    format!("more than {} calls", self.limits.calls()),
                ))),
            };
        }
        self.end_pending(sink);
        let scope = delta.scope;
        if !delta.exact {
            self.close_last(scope, sink);
        }
        // A piece of a call that never began: its start, or the number in the piece, was lost.
        if delta.exact && delta.name.is_none() && delta.id.is_none() {
            self.doubt(Doubt::LostEvent);
        }
        self.keep_place(&delta);
        let call = self.begun;
        self.begun += 1;
        self.listed.insert(call);
        let rivals = self.new_rivals(&delta);
        self.last.insert(scope, call);
        if let Some(index) = delta.index {
            self.keys.insert((scope, index), call);
        }
        let kind = delta.kind.unwrap_or(CallKind::Function);
        let free = kind == CallKind::Custom;
        let name = delta.name.as_deref().map(|name| self.tools.clean(name).into_owned());
        let mut arguments =
            ArgumentText::new(self.tools.of(name.as_deref()), self.limits.arguments(), free);
        if let Some(tracking) = &self.tracking {
            arguments = arguments.traced(tracking.release());
        }
        if self.damage.is_some() {
            arguments.abandon();
        }
        let open = OpenCall {
            kind,
            id: delta.id.as_deref().map(Into::into),
            name,
            arguments,
            kept: 0,
            doubt: self.damage,
            after_loss: self.lossy && !delta.exact,
            halves: Halves::default(),
            exact: delta.exact,
            same_ids: 0,
            repeated: false,
            index: delta.index,
            rivals,
            whole: false,
            empty: false,
            null: false,
            precedes: false,
        };
        if let Some(id) = &open.id {
            self.ids.insert((scope, id.clone()), call);
        }
        // What the provider runs itself is none of the client's.
        if kind != CallKind::Server
            && self.damage.is_none()
            && let Some(tracking) = &mut self.tracking
        {
            tracking.begin(Target::Call(scope, call));
        }
        let (id, name) = (open.id.as_deref(), open.name.as_deref());
        sink(WireEvent::CallBegan { call, choice: scope, kind, id, name });
        self.open.insert((scope, call), Box::new(open));
        self.extend((scope, call), delta, source, sink)
    }

    /// Another call begins. Where that has no number of its own, only the place of an event in the stream says that it
    /// is for the call before it.
    fn keep_place(&mut self, delta: &CallDelta<'_>) {
        let Some(&call) = self.last.get(&delta.scope).filter(|_| !delta.exact) else { return };
        let (Some(open), Some(tracking)) =
            (self.open.get_mut(&(delta.scope, call)), &mut self.tracking)
        else {
            return;
        };
        if open.lacks_arguments() && (open.index.is_none() || open.index == delta.index) {
            open.precedes = true;
            open.hold_event(tracking, Target::Call(delta.scope, call), None);
        }
    }

    fn read_piece(
        &mut self,
        key: (u32, usize),
        delta: CallDelta<'_>,
        source: Source<'_>,
        sink: Sink<'_>,
    ) -> Result<(), Box<WireError>> {
        let name = delta.name.as_deref().map(|name| self.tools.clean(name).into_owned());
        let Some(open) = self.open.get_mut(&key) else { return Ok(()) };
        let call = key.1;
        let target = Target::Call(key.0, call);
        if let Some(tracking) = &mut self.tracking {
            tracking.touch(target, delta.place());
        }
        if source.is_mended()
            && let Some(tracking) = &mut self.tracking
        {
            // As it came, no client could read the event.
            open.hold_event(tracking, target, None);
        }
        if open.after_loss && delta.id.is_some() && delta.id.as_deref() != open.id.as_deref() {
            // Some servers make up an id for every piece. But this one may be that of a call whose start was lost.
            open.doubt.get_or_insert(Doubt::LostEvent);
        }
        if let (None, Some(id)) = (&open.id, &delta.id) {
            open.id = Some(id.to_string());
            self.ids.insert((key.0, id.to_string()), call);
        }
        let same_id = delta.id.is_some() && delta.id.as_deref() == open.id.as_deref();
        open.same_ids = (open.same_ids + u8::from(same_id)).min(2);
        let again = matches!(delta.arguments, Arguments::Final(_) | Arguments::Again(_));
        open.repeated |= again || matches!(delta.arguments, Arguments::Void(_));
        open.empty |= delta.empty;
        // After the stated end of a call, a repetition that differs is an error, as if it had ended.
        let stated = again && self.pending == Some(key);
        let repetition = delta.arguments.text().filter(|_| stated).map(excerpt);
        if let Some(doubt) = delta.doubt {
            open.doubt.get_or_insert(doubt);
        }
        if let Some(name) = name.as_deref() {
            if open.name.is_none() && open.rivals.is_mixed() {
                // Its arguments came before it, while another call could have them.
                open.doubt.get_or_insert(Doubt::LostEvent);
            }
            if name_grows(open, name, &delta) {
                let name = open.name.as_deref().unwrap_or_default();
                sink(WireEvent::CallNamed { call, name });
                open.arguments.read_with(self.tools.of(Some(name)));
            } else if (delta.exact || again || same_id) && open.name.as_deref() != Some(name)
                || (delta.exact && !again && delta.id.is_some() && !same_id)
            {
                open.doubt.get_or_insert(Doubt::Contradiction);
            }
        }
        if let Some(span) = delta.arguments.span()
            && !source.allows(span, self.tools.policy())
        {
            open.doubt.get_or_insert(Doubt::DamagedEvent);
        }
        let is_whole = matches!(delta.arguments, Arguments::Whole(_));
        if let Some(text) = delta.arguments.text().filter(|_| !again && (is_whole || open.whole)) {
            // A value is all of the arguments. An empty one may hold their place.
            let is_more = |text: &str| !matches!(text.trim(), "" | "{}");
            let known = open.arguments.so_far();
            if is_more(known) && is_more(text) && !open.arguments.is_resend(text) {
                open.doubt.get_or_insert(Doubt::Contradiction);
            }
            open.whole |= is_whole;
        }
        let mut show = |piece: Piece<'_>| sink(fragment(call, piece));
        // Arguments that are an object are repaired under the policy for calls, whatever repairs the
        // envelope needed. A rewriter changes the envelope as one text.
        let use_original = self.tracking.is_none();
        let original = |span: Span| source.original_of(span).filter(|_| use_original);
        // The span of what was added, if anything was.
        let (span, decoded) = match delta.arguments {
            Arguments::Absent => return Ok(()),
            Arguments::Null => {
                // Some servers begin a call with it, or send it after the last piece.
                open.null |= delta.name.is_none() && delta.id.is_none();
                if !open.arguments.is_empty() && !open.arguments.is_closed() {
                    open.doubt.get_or_insert(Doubt::LostEvent);
                }
                return Ok(());
            }
            Arguments::Void(node) => {
                if let Some(tracking) = self.tracking.as_mut().filter(|_| open.lacks_arguments()) {
                    open.hold_event(tracking, target, Some(node.span()));
                }
                return Ok(());
            }
            Arguments::Seed(text) => {
                open.arguments
                    .seed(text.text_span().and_then(original).unwrap_or(&text), &mut show);
                return Ok(());
            }
            Arguments::Composed(text) => {
                open.arguments.compose(text, &mut show);
                return Ok(());
            }
            Arguments::Fragment(piece) => {
                if open.null && open.arguments.is_empty() {
                    open.doubt.get_or_insert(Doubt::LostEvent);
                }
                let text = open.halves.join(piece.literal(), &piece);
                if piece.lacks_a_half(&text) {
                    open.doubt.get_or_insert(Doubt::DamagedEvent);
                }
                let decoded = (*text != *piece).then(|| text.to_string());
                if decoded.is_some() {
                    open.arguments.hold();
                }
                (open.arguments.push_piece(&text, &mut show).then_some(piece.span()), decoded)
            }
            Arguments::Whole(node) => {
                let text = original(node.span()).unwrap_or(node.raw());
                let added = open.arguments.push_whole(text, &mut show);
                (added.then_some(Some(node.span())), None)
            }
            Arguments::Final(piece) => {
                open.halves = Halves::default();
                (open.arguments.complete(&piece, &mut show).then_some(piece.span()), None)
            }
            Arguments::Again(node) => {
                let text = original(node.span()).unwrap_or(node.raw());
                (open.arguments.repeat(text, &mut show).then_some(Some(node.span())), None)
            }
        };
        let differs = repetition.filter(|_| open.is_contradicted());
        if let (Some(span), Some(tracking)) = (span, &mut self.tracking) {
            tracking.enter(Entry::Piece { target, span, decoded });
        }
        match differs {
            Some(text) => Err(end::contradiction(call, &text)),
            None => Ok(()),
        }
    }
}

/// Judges arguments that arrived as one text, given how their turn ended.
pub(crate) fn judge(raw: &str, finish: FinishReason, mending: &MendOptions) -> Call {
    let mut arguments = ArgumentText::new(mending.clone(), usize::MAX, false);
    arguments.push(raw, &mut |_| {});
    let (end, doubt) = (End::of(finish), arguments.doubt());
    let closed = arguments.close(&mut |_| {});
    Call::new(0, 0, CallKind::Function, None, String::new()).closed(closed, end, doubt)
}

/// Sets or extends a name: some servers repeat it in every piece, and a few send it in pieces.
fn name_grows(open: &mut OpenCall, name: &str, delta: &CallDelta<'_>) -> bool {
    let whole = matches!(delta.arguments, Arguments::Final(_) | Arguments::Again(_))
        || (delta.exact && delta.id.is_some());
    let Some(known) = &mut open.name else {
        open.name = Some(name.to_owned());
        return true;
    };
    if whole || known == name || known.len() + name.len() > LONGEST_NAME {
        return false;
    }
    let before = &mut open.arguments;
    if !before.is_empty() && (before.is_closed() || !delta.arguments.goes_on()) {
        return false;
    }
    if before.is_empty() && name.starts_with(known.as_str()) {
        name.clone_into(known);
    } else {
        known.push_str(name);
    }
    true
}

const fn fragment(call: usize, piece: Piece<'_>) -> WireEvent<'_> {
    match piece {
        Piece::Text { bytes, raw: true } => WireEvent::CallRaw { call, bytes },
        Piece::Text { bytes, raw: false } => WireEvent::CallFragment { call, bytes },
        Piece::Unsure => WireEvent::CallUnsure { call },
    }
}

// What may be kept of all open calls of a response.

impl Calls {
    /// Reads a piece of an open call, within what may be kept of all of them.
    fn extend(
        &mut self,
        key: (u32, usize),
        delta: CallDelta<'_>,
        source: Source<'_>,
        sink: Sink<'_>,
    ) -> Result<(), Box<WireError>> {
        let room = self.limits.open_arguments().saturating_sub(self.kept);
        if let Some(open) = self.open.get_mut(&key) {
            open.arguments.set_room(room);
        }
        let result = self.read_piece(key, delta, source, sink);
        if let Some(open) = self.open.get_mut(&key) {
            let before = core::mem::replace(&mut open.kept, open.arguments.kept());
            self.kept = (self.kept + open.kept).saturating_sub(before);
        }
        result
    }
}
