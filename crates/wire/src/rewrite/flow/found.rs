//! Sends calls on that were found in text.

use core::hash::{Hash as _, Hasher as _};
use std::hash::DefaultHasher;

use super::{Flow, Sink};
use crate::{
    CallKind, WireEvent,
    calls::FoundInTexts,
    json::Span,
    rewrite::{Rewritten, item::Item, promote},
    work,
};

/// How calls that were found in text are written.
struct Planned {
    /// The events to insert.
    events: Vec<Item>,
    /// The changes of the event that ends the choice.
    changes: Vec<(Span, String)>,
}

impl Flow {
    /// Sends calls on that were found in the texts of a choice, which that event ends.
    pub(super) fn send_on(&mut self, found: &FoundInTexts, item: &mut Item, sink: Sink<'_>) {
        let choice = found.choice;
        let planned = if self.is_allowed(found) { self.plan(found, item) } else { None };
        self.decide(found, planned.is_some());
        let Some(planned) = planned else { return };
        item.change(planned.changes);
        for event in planned.events {
            self.enqueue(event);
        }
        self.changed = true;
        for call in &found.calls {
            let Some(number) = self.body.channels().begin_found() else { break };
            let (kind, name) = (CallKind::Function, Some(call.name.as_str()));
            sink(Rewritten::Event(WireEvent::CallBegan {
                call: number,
                choice,
                kind,
                id: None,
                name,
            }));
            let ended = call.to_call(number, choice);
            sink(Rewritten::Event(WireEvent::CallEnded(&ended)));
        }
    }

    /// Whether each tool may have the repairs that its call needed.
    fn is_allowed(&self, found: &FoundInTexts) -> bool {
        let options = self.body.options();
        let Some(policies) = options.policies() else { return true };
        let used = options.mending().policy();
        found.calls.iter().all(|call| {
            policies.find(&call.name).is_none_or(|policy| call.is_allowed(&policy, &used))
        })
    }

    /// How the calls are written. `None` if they have no place.
    fn plan(&mut self, found: &FoundInTexts, item: &Item) -> Option<Planned> {
        let format = self.body.wire()?;
        let seed = self.seed.unwrap_or_default();
        let (call, block) = self.body.channels().next_indices(found.choice);
        let context = promote::Context { call, block, seed };
        let plan = promote::plan(format, &item.base(), found, context)?;
        let events = plan.events.iter().map(|(name, payload)| item.event_before(name, payload));
        Some(Planned { events: events.collect::<Option<_>>()?, changes: plan.edits })
    }

    pub(super) fn decide(&mut self, found: &FoundInTexts, accepted: bool) {
        if let Some(tracking) = self.body.channels().tracking() {
            tracking.decide(found, accepted);
        }
    }
}

/// What identifies a payload.
pub(super) fn hash(text: &str) -> u64 {
    work::count(text.len());
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
