//! What the first key of the arguments shows, where an object without a marker may be something else
//! than a call: the declaration of a tool, or data under a key that is the name of one.

use super::{Envelope, keys::LONGEST_NAME, unescaped};
use crate::dialect::{out::Ctx, sink::CallSink, tools::Tool};

/// Why it is not certain that there is a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// After `parameters`, there may be a schema.
    Declaration,
    /// The key of the object may only happen to be the name of a tool.
    Member,
}

/// The keys with which a schema begins.
const OF_SCHEMAS: [&str; 6] =
    ["type", "properties", "required", "additionalProperties", "description", "$schema"];

/// How much is read for the first key, in bytes. Every character of it may be escaped.
const MOST: usize = 8 * LONGEST_NAME;

impl Envelope {
    /// The arguments that begin with this byte may be none.
    pub(super) const fn doubt(&mut self, doubt: Doubt, byte: u8) {
        if self.strict && byte == b'{' {
            self.call.unproven = Some(doubt);
        }
    }

    /// Begins the call, or gives it up, if the first key of its arguments has arrived.
    pub(super) fn prove<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        let Some(doubt) = self.call.unproven else { return };
        let Some(key) = first_key(&self.call.early) else { return };
        self.call.unproven = None;
        let tool = self.tool(ctx);
        let takes = |key: &str| tool.is_none_or(|tool| tool.takes(key));
        let proven = match (doubt, key) {
            (_, None) => true,
            (Doubt::Declaration, Some(key)) => {
                !OF_SCHEMAS.contains(&key.as_str())
                    || tool.is_some_and(|tool: &Tool| tool.has(&key))
            }
            (Doubt::Member, Some(key)) => takes(&key),
        };
        if proven { self.begin(ctx) } else { self.kill(ctx) }
    }
}

/// The first key of a JSON object. The outer `None` waits for more.
fn first_key(json: &[u8]) -> Option<Option<String>> {
    let inside = json.get(1..)?.trim_ascii_start();
    let key = match inside.split_first()? {
        (b'"', key) => key,
        _ => return Some(None),
    };
    let mut escaped = false;
    let end = key.iter().position(|byte| match byte {
        b'"' if !escaped => true,
        byte => {
            escaped = *byte == b'\\' && !escaped;
            false
        }
    });
    match end {
        Some(end) => Some(key.get(..end).map(unescaped)),
        // No parameter has such a name.
        None if json.len() > MOST => Some(Some(String::new())),
        None => None,
    }
}
