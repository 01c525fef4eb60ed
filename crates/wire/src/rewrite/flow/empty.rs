//! Writes the arguments of calls that have none.

use std::collections::BTreeMap;

use super::Flow;
use crate::{
    ApiFormat,
    calls::EmptyCall,
    json,
    rewrite::{
        empty::{self, Empty, Style},
        item::Item,
    },
};

impl Flow {
    /// Writes the arguments of calls which, as it turned out with this event, have none, and of those that it repeats.
    pub(super) fn write_empty(&mut self, calls: Vec<EmptyCall>, item: &mut Item) {
        let Some(format) = self.body.wire() else { return };
        let mut here = Vec::new();
        for call in calls {
            // What held nothing where they belong waits, and so does the event that stated the end of the call.
            let value = Style::of(format).map_or("", Style::value);
            let mut last = None;
            for (at, waiting) in self.queue.iter_mut().enumerate() {
                let before = waiting.memory();
                if waiting.fill(call.target, value) {
                    last = Some(at);
                    self.memory = (self.memory + waiting.memory()).saturating_sub(before);
                }
            }
            item.fill(call.target, value);
            match last {
                Some(at) => {
                    self.write_before(at, format, &call);
                    self.filled.push(call);
                }
                None => here.push(call),
            }
        }
        if !self.filled.is_empty() {
            fill_in(format, item, &mut Empty::of(&self.filled));
        }
        for event in fill(format, item, &here) {
            self.changed = true;
            self.enqueue(event);
        }
        self.filled.extend(here);
        // The other formats do not repeat them.
        if !matches!(
            format,
            ApiFormat::CohereV1 | ApiFormat::GeminiInteractions | ApiFormat::OpenAiResponses
        ) {
            self.filled.clear();
        }
    }

    /// Writes the arguments of a call into a waiting event, or before it.
    fn write_before(&mut self, at: usize, format: ApiFormat, call: &EmptyCall) {
        let Some(item) = self.queue.get_mut(at) else { return };
        let before = item.memory();
        let events = fill(format, item, core::slice::from_ref(call));
        let lead = if events.is_empty() { None } else { item.take_lead() };
        let after = item.memory() + lead.iter().chain(&events).map(Item::memory).sum::<usize>();
        self.memory = (self.memory + after).saturating_sub(before);
        self.changed |= !events.is_empty();
        self.queued += events.iter().map(|event| event.raw.len()).sum::<usize>();
        for event in lead.into_iter().chain(events).rev() {
            self.queue.insert(at, event);
        }
    }
}

/// Writes the arguments of those calls into an event that holds them. Returns events to insert before it, for the
/// others.
fn fill(format: ApiFormat, item: &mut Item, calls: &[EmptyCall]) -> Vec<Item> {
    if calls.is_empty() {
        return Vec::new();
    }
    let mut empty = Empty::of(calls);
    let found = fill_in(format, item, &mut empty);
    let mut scopes: BTreeMap<u32, Vec<&EmptyCall>> = BTreeMap::new();
    let to_add = |call: &&EmptyCall| call.is_addressed && !call.is_written;
    for call in calls.iter().filter(to_add).filter(|call| !empty.has_found(call, found)) {
        scopes.entry(call.scope).or_default().push(call);
    }
    let payload = item.base();
    let Some(root) = root(&payload) else { return Vec::new() };
    let events = scopes.iter().filter_map(|(scope, calls)| {
        let (name, payload) = empty::event(format, root, *scope, calls)?;
        item.event_before(name, &payload)
    });
    events.collect()
}

/// Returns whether there were any.
fn fill_in(format: ApiFormat, item: &mut Item, empty: &mut Empty<'_>) -> bool {
    let payload = item.base();
    let Some(root) = root(&payload) else { return false };
    let edits = empty.fill(format, root);
    let found = !edits.is_empty();
    item.change(edits);
    found
}

fn root(payload: &str) -> Option<json::Node<'_>> {
    Some(json::first_from(payload, payload.find('{')?).ok()?.0)
}
