//! The values of open calls, without a schema.

use std::collections::BTreeMap;

use wiremend_core::{Output as _, Partial, Value};
use wiremend_response::Event;

/// Reads the fragments of each open call into a value of its own. The limits of the body bound how many
/// there are, and how long.
#[derive(Debug, Default)]
pub(crate) struct CallValues {
    open: BTreeMap<usize, Partial>,
}

impl CallValues {
    /// Looks at an event that is about to be emitted.
    pub(crate) fn note(&mut self, event: &Event) {
        match event {
            Event::CallBegan { call, .. } => {
                self.open.insert(*call, Partial::new());
            }
            Event::CallFragment { call, json, .. } => {
                if let Some(value) = self.open.get_mut(call) {
                    value.copy(json);
                }
            }
            Event::CallRaw { call, .. } => {
                if let Some(value) = self.open.get_mut(call) {
                    value.raw();
                }
            }
            Event::CallEnded(call) => {
                self.open.remove(&call.number());
            }
            _ => {}
        }
    }

    /// The value of an open call so far.
    pub(crate) fn get(&self, call: usize) -> Option<Value<'_>> {
        self.open.get(&call)?.root()
    }
}
