//! What the first key of the arguments shows, where an object without a marker may be something else
//! than a call: the declaration of a tool, or data under a key that is the name of one.

use wiremend_core::JsonType;

use super::{Envelope, keys::LONGEST_NAME, unescaped};
use crate::dialect::{out::Ctx, sink::CallSink};

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

/// How much is read for the first key and what follows it, in bytes. Every character of the key may be
/// escaped.
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
        let over = self.call.early.len() > MOST;
        let key = match first_key(&self.call.early) {
            // No parameter has such a name.
            None if over => Some((String::new(), &b""[..])),
            None => return,
            Some(key) => key,
        };
        let tool = self.tool(ctx);
        let proven = match (doubt, key) {
            (_, None) => true,
            (Doubt::Declaration, Some((key, after))) => {
                let known = tool.is_some_and(|tool| tool.has(&key));
                let declares = match declares(after) {
                    None if !over => return,
                    declares => declares.unwrap_or_default(),
                };
                // A parameter that is an object may have a member called `type`.
                let guide = tool.and_then(|tool| tool.parameter(&key));
                let object = guide.is_some_and(|guide| guide.allows(JsonType::Object));
                (known || !OF_SCHEMAS.contains(&key.as_str())) && (object || !declares)
            }
            (Doubt::Member, Some((key, _))) => tool.is_none_or(|tool| tool.takes(&key)),
        };
        self.call.unproven = None;
        if proven { self.begin(ctx) } else { self.kill(ctx) }
    }
}

/// The first key of a JSON object, and what follows it. The outer `None` waits for more.
fn first_key(json: &[u8]) -> Option<Option<(String, &[u8])>> {
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
        Some(end) => {
            let (key, after) = key.split_at(end);
            Some(Some((unescaped(key), after.get(1..).unwrap_or_default())))
        }
        None => None,
    }
}

/// Whether the value after a key is a schema, which declares what the key is. `None` waits for more.
fn declares(after: &[u8]) -> Option<bool> {
    let value = after.trim_ascii_start();
    let Some(value) = value.strip_prefix(b":").map(<[u8]>::trim_ascii_start) else {
        return (!value.is_empty()).then_some(false);
    };
    match value.first()? {
        b'{' => Some(first_key(value)?.is_some_and(|(key, _)| OF_SCHEMAS.contains(&key.as_str()))),
        _ => Some(false),
    }
}
