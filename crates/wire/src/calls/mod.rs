//! The tool calls of one response: which call a piece belongs to, and what becomes of each.

mod arguments;
mod call;
mod edit_log;
mod ending;
mod route;
mod trace;
mod tracking;

use std::collections::BTreeMap;

use jsonmend_core::{Options, Outcome};

use crate::{
    ErrorKind, Guides, WireError, WireEvent, WireLimits, WireOptions,
    format::{Arguments, CallDelta, excerpt},
    json::Halves,
};
use arguments::{ArgumentText, Closed};
pub use call::{Call, CallKind};
pub(crate) use edit_log::EditLog;
use edit_log::Piece;
use route::Route;
pub(crate) use trace::Release;
pub(crate) use tracking::{Entry, Place, Target, Tracking};

/// A name that grows past this is no name.
const LONGEST_NAME: usize = 1024;

/// Takes what the calls hand out.
pub(crate) type Sink<'s> = &'s mut dyn FnMut(WireEvent<'_>);

/// A call, from its first piece to its last.
#[derive(Debug)]
struct OpenCall {
    kind: CallKind,
    id: Option<String>,
    name: Option<String>,
    arguments: ArgumentText,
    /// Whether a guide to the arguments was looked for.
    asked: bool,
    halves: Halves,
}

/// All calls of a response. Those that have ended leave only their keys.
#[derive(Debug)]
pub(crate) struct Calls {
    mending: Options,
    guides: Option<Guides>,
    limits: WireLimits,
    begun: usize,
    refused: bool,
    /// By scope and number.
    open: BTreeMap<(u32, usize), OpenCall>,
    /// By scope and index.
    keys: BTreeMap<(u32, i64), usize>,
    /// By scope and id.
    ids: BTreeMap<(u32, String), usize>,
    /// The call that began last, by scope.
    last: BTreeMap<u32, usize>,
    /// Ended by the format with no arguments: what comes next tells whether it was cut off.
    pending: Option<(u32, usize)>,
    /// For a rewriter.
    tracking: Option<Box<Tracking>>,
}

impl Calls {
    pub(crate) fn new(options: &WireOptions) -> Self {
        Self {
            mending: options.mending().clone(),
            guides: options.guides().cloned(),
            limits: options.limits(),
            begun: 0,
            refused: false,
            open: BTreeMap::new(),
            keys: BTreeMap::new(),
            ids: BTreeMap::new(),
            last: BTreeMap::new(),
            pending: None,
            tracking: None,
        }
    }

    /// Keeps account of the pieces, so that they can be written again.
    pub(crate) fn track(&mut self, tracking: Tracking) {
        self.tracking = Some(Box::new(tracking));
    }

    /// The account, where one is kept.
    pub(crate) fn tracking(&mut self) -> Option<&mut Tracking> {
        self.tracking.as_deref_mut()
    }

    /// The account of one text.
    pub(crate) fn edit_log(&mut self, target: Target) -> Option<&mut EditLog> {
        if let Target::Call(scope, call) = target
            && let Some(open) = self.open.get_mut(&(scope, call))
        {
            return open.arguments.edit_log_mut();
        }
        self.tracking.as_deref_mut()?.edit_log(target)
    }

    /// Everything that is open leaves as it came.
    pub(crate) fn give_up(&mut self, sink: Sink<'_>) {
        for (&(_, call), open) in &mut self.open {
            open.arguments.give_up(&mut |piece| sink(fragment(call, piece)));
        }
        if let Some(tracking) = &mut self.tracking {
            tracking.give_up();
        }
    }

    /// Reads a piece of a call, which stands in the payload `base`.
    pub(crate) fn take(
        &mut self,
        delta: CallDelta<'_>,
        base: &str,
        sink: Sink<'_>,
    ) -> Result<(), Box<WireError>> {
        match self.route(&delta) {
            Route::Call(call) => self.extend((delta.scope, call), delta, base, sink),
            Route::Ended(call) => match delta.arguments {
                Arguments::Final(text) => {
                    if let Some(tracking) = &mut self.tracking {
                        let place = Place::of(text.literal(), base);
                        tracking.repeat(Target::Call(delta.scope, call), place);
                    }
                    Ok(())
                }
                Arguments::Fragment(text) if !text.trim().is_empty() => {
                    Err(Box::new(WireError::new(
                        ErrorKind::LateArguments,
                        format!("arguments of call {call} after its end: {}", excerpt(&text)),
                    )))
                }
                _ => Ok(()),
            },
            Route::Ghost => Ok(()),
            Route::New => self.begin(delta, base, sink),
        }
    }

    /// The format says that the call has ended.
    pub(crate) fn stop(&mut self, scope: u32, index: i64, sink: Sink<'_>) {
        let Some(&call) = self.keys.get(&(scope, index)) else { return };
        let Some(open) = self.open.get(&(scope, call)) else { return };
        if open.arguments.is_blank() {
            self.settle(sink);
            self.pending = Some((scope, call));
        } else {
            self.end((scope, call), false, sink);
        }
    }

    /// Whether a call has that index.
    pub(crate) fn has(&self, scope: u32, index: i64) -> bool {
        self.keys.contains_key(&(scope, index))
    }

    /// The response goes on: a call that ended without arguments takes none.
    pub(crate) fn settle(&mut self, sink: Sink<'_>) {
        if let Some(key) = self.pending.take() {
            self.end(key, false, sink);
        }
    }

    /// A scope has finished. `cut`: what came last in it may be cut off.
    pub(crate) fn finish(&mut self, scope: u32, cut: bool, sink: Sink<'_>) {
        self.pending = None;
        let last = self.last.get(&scope).copied();
        let open: Vec<_> =
            self.open.range((scope, 0)..=(scope, usize::MAX)).map(|(key, _)| *key).collect();
        for key in open {
            self.end(key, cut && Some(key.1) == last, sink);
        }
    }

    /// The stream has ended.
    pub(crate) fn finish_all(&mut self, cut: bool, sink: Sink<'_>) {
        while let Some((&(scope, _), _)) = self.open.first_key_value() {
            self.finish(scope, cut, sink);
        }
    }

    fn begin(
        &mut self,
        delta: CallDelta<'_>,
        base: &str,
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
        self.settle(sink);
        let call = self.begun;
        let scope = delta.scope;
        self.begun += 1;
        self.last.insert(scope, call);
        if let Some(index) = delta.index {
            self.keys.insert((scope, index), call);
        }
        let kind = delta.kind.unwrap_or(CallKind::Function);
        let free = kind == CallKind::Custom;
        let mut arguments = ArgumentText::new(self.mending.clone(), self.limits.arguments(), free);
        if let Some(tracking) = &self.tracking {
            arguments = arguments.traced(tracking.release());
        }
        let open = OpenCall {
            kind,
            id: delta.id.as_deref().map(Into::into),
            name: delta.name.as_deref().map(Into::into),
            arguments,
            asked: false,
            halves: Halves::default(),
        };
        if let Some(id) = &open.id {
            self.ids.insert((scope, id.clone()), call);
        }
        let (id, name) = (open.id.as_deref(), open.name.as_deref());
        sink(WireEvent::CallBegan { call, choice: scope, kind, id, name });
        self.open.insert((scope, call), open);
        self.extend((scope, call), delta, base, sink)
    }

    fn extend(
        &mut self,
        key: (u32, usize),
        delta: CallDelta<'_>,
        base: &str,
        sink: Sink<'_>,
    ) -> Result<(), Box<WireError>> {
        let Some(open) = self.open.get_mut(&key) else { return Ok(()) };
        let call = key.1;
        if let (None, Some(id)) = (&open.id, &delta.id) {
            open.id = Some(id.to_string());
            self.ids.insert((key.0, id.to_string()), call);
        }
        if let Some(name) = &delta.name
            && name_grows(&mut open.name, name, &delta.arguments, &open.arguments)
        {
            let name = open.name.as_deref().unwrap_or_default();
            sink(WireEvent::CallNamed { call, name });
        }
        if let (Some(guides), Some(name)) = (&self.guides, &open.name)
            && !matches!(delta.arguments, Arguments::Absent)
            && !core::mem::replace(&mut open.asked, true)
            && let Some(guide) = guides.find(name)
        {
            open.arguments.guide(guide);
        }
        let mut show = |piece: Piece<'_>| sink(fragment(call, piece));
        let delta_piece = !matches!(delta.arguments, Arguments::Final(_));
        let (literal, said) = match delta.arguments {
            Arguments::Absent => return Ok(()),
            Arguments::Seed(text) => {
                open.arguments.seed(&text);
                return Ok(());
            }
            Arguments::Composed(text) => {
                open.arguments.compose(text, &mut show);
                return Ok(());
            }
            Arguments::Fragment(piece) => {
                let text = open.halves.join(piece.literal(), &piece);
                let said = (*text != *piece).then(|| text.to_string());
                (open.arguments.push_piece(&text, &mut show).then_some(piece.literal()), said)
            }
            Arguments::Whole(text) => {
                (open.arguments.push_piece(text, &mut show).then_some(text), None)
            }
            Arguments::Final(piece) => {
                open.halves = Halves::default();
                (open.arguments.complete(&piece, &mut show).then_some(piece.literal()), None)
            }
        };
        if let (Some(literal), Some(tracking)) = (literal, &mut self.tracking) {
            let target = Target::Call(key.0, call);
            let place = Place::of(literal, base);
            tracking.enter(Entry::Piece { target, place, said, delta: delta_piece });
        }
        Ok(())
    }

    /// Ends a call. `cut`: it may be cut off; valid JSON decides for itself, what was mended does not.
    fn end(&mut self, key: (u32, usize), cut: bool, sink: Sink<'_>) {
        let Some(mut open) = self.open.remove(&key) else { return };
        let call = key.1;
        let half = open.halves.finish();
        open.arguments.push(half, &mut |piece| sink(fragment(call, piece)));
        let closed = open.arguments.close(cut, &mut |piece| sink(fragment(call, piece)));
        let edit_log = open.arguments.into_edit_log();
        let ended = Call::new(call, key.0, open.kind, open.id, open.name.unwrap_or_default());
        let ended = match closed {
            Closed::Empty if open.kind == CallKind::Custom => {
                ended.with_text(String::new(), whole(cut))
            }
            // Nothing came of it: no JSON, and nothing that was cut off either.
            Closed::Empty if cut => ended.with_text(String::new(), Outcome::None),
            Closed::Empty => ended.with_text("{}".to_owned(), Outcome::Unchanged),
            Closed::Free(text) => ended.with_text(text, whole(cut)),
            Closed::Overflow(text) => ended.with_text(text, Outcome::Overflow),
            Closed::Json { raw, mended, resent } => {
                ended.with_json(raw, mended, resent).cut_off(cut)
            }
        };
        sink(WireEvent::CallEnded(&ended));
        if let (Some(edit_log), Some(tracking)) = (edit_log, &mut self.tracking) {
            tracking.end(Target::Call(key.0, call), edit_log);
        }
    }
}

/// The outcome of a text that nothing but the stream's word can judge.
const fn whole(cut: bool) -> Outcome {
    if cut { Outcome::Cut } else { Outcome::Unchanged }
}

/// Sets a name, or lets it grow: some servers repeat it in every piece, and a few send it in pieces.
fn name_grows(
    known: &mut Option<String>,
    name: &str,
    arguments: &Arguments<'_>,
    before: &ArgumentText,
) -> bool {
    let Some(known) = known else {
        *known = Some(name.to_owned());
        return true;
    };
    let silent = matches!(arguments, Arguments::Absent) && before.is_empty();
    if !silent || known == name || known.len() + name.len() > LONGEST_NAME {
        return false;
    }
    if name.starts_with(known.as_str()) {
        name.clone_into(known);
    } else {
        known.push_str(name);
    }
    true
}

const fn fragment(call: usize, piece: Piece<'_>) -> WireEvent<'_> {
    WireEvent::CallFragment { call, bytes: piece.bytes, raw: piece.raw }
}
