//! What a guide does not allow in a text.

use alloc::{sync::Arc, vec::Vec};

use crate::{Events, Guide, JsonType, Member, ParseEvent};

/// What is known of a value.
type Known = Option<Arc<dyn Guide>>;

/// A container that is open: what is known of it, and of an array, how many items have begun.
struct Open {
    known: Known,
    items: Option<usize>,
    /// How many of its members are not declared, and whether any is.
    others: u32,
    declares: bool,
}

/// How much of mended text a guide does not expect: three for each member or value that it does not allow,
/// and one for each member that it does not know among those that it does. And how many members it
/// declares.
pub(crate) fn misfits(text: &[u8], guide: &Arc<dyn Guide>) -> (u32, u32) {
    let (mut misfits, mut declared) = (0, 0);
    let mut open: Vec<Open> = Vec::new();
    let mut next: Known = Some(guide.clone());
    let mut events = Events::new(|event: ParseEvent<'_>| {
        let kind = match event {
            ParseEvent::BeginArray => JsonType::Array,
            ParseEvent::BeginObject => JsonType::Object,
            ParseEvent::BeginString => JsonType::String,
            ParseEvent::Bool(_) => JsonType::Boolean,
            ParseEvent::Null => JsonType::Null,
            ParseEvent::Number(_) => JsonType::Number,
            ParseEvent::Key(key) => {
                next = None;
                let known = open.last().and_then(|container| container.known.as_ref());
                let member = known.map(|known| known.member(key));
                if let Some(container) = open.last_mut() {
                    container.declares |= matches!(member, Some(Member::Declared(_)));
                    container.others += u32::from(matches!(member, Some(Member::Open)));
                }
                match member {
                    Some(Member::Declared(member)) => {
                        declared += 1;
                        next = Some(member);
                    }
                    Some(Member::Forbidden) => misfits += 3,
                    Some(Member::Open) | None => {}
                }
                return;
            }
            ParseEvent::EndArray | ParseEvent::EndObject => {
                // Among declared members, others are odd.
                let closed = open.pop().filter(|container| container.declares);
                misfits += closed.map_or(0, |container| container.others);
                return;
            }
            ParseEvent::EndDocument => {
                next = Some(guide.clone());
                return;
            }
            ParseEvent::EndString | ParseEvent::Text(_) => return,
        };
        let known = match open.last_mut() {
            Some(Open { known, items: Some(items), .. }) => {
                *items += 1;
                known.as_ref().and_then(|known| known.item(*items - 1))
            }
            _ => next.take(),
        };
        misfits += 3 * u32::from(known.as_ref().is_some_and(|known| !known.allows(kind)));
        match kind {
            JsonType::Array | JsonType::Object => {
                let items = (kind == JsonType::Array).then_some(0);
                open.push(Open { known, items, others: 0, declares: false });
            }
            _ => {}
        }
    });
    events.read(text);
    events.end_token();
    (misfits, declared)
}
