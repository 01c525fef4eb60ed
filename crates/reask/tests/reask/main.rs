//! The loop: what is asked, when it stops, what is returned.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod budgets;
mod calls;
mod continuing;
mod driving;
mod failures;
mod fields;
mod hostile;
mod prompts;
mod steps;
mod systems;
mod table;

use core::time::Duration;

use wiremend_reask::{Answer, Ask, Done, Exhausted, Reask, ReaskOptions, Step};
use wiremend_schema::Schema;

/// A booking: three required fields, one of them a list, and nothing else.
const BOOKING: &str = r#"{"type": "object", "properties": {
    "guest": {"type": "string", "minLength": 1},
    "nights": {"type": "integer", "minimum": 1},
    "rooms": {"type": "array", "items": {"type": "object", "properties": {
        "beds": {"type": "integer"}, "view": {"enum": ["sea", "yard"]}
    }, "required": ["beds"]}},
    "note": {"type": "string"}
}, "required": ["guest", "nights"], "additionalProperties": false}"#;

fn schema(text: &str) -> Schema {
    Schema::from_text(text).unwrap()
}

fn booking(options: ReaskOptions) -> Reask {
    Reask::new(&schema(BOOKING), options)
}

fn says(reask: &mut Reask, text: &str) -> Step {
    reask.answer(&Answer::text(text), Duration::ZERO)
}

#[track_caller]
fn asked(step: Step) -> Ask {
    match step {
        Step::Ask(ask) => *ask,
        step => panic!("{step:?}"),
    }
}

#[track_caller]
fn continued(step: Step) -> Ask {
    match step {
        Step::Continue(ask) => *ask,
        step => panic!("{step:?}"),
    }
}

#[track_caller]
fn done(step: Step) -> Done {
    match step {
        Step::Done(done) => *done,
        step => panic!("{step:?}"),
    }
}

#[track_caller]
fn ended(step: Step) -> Exhausted {
    match step {
        Step::Exhausted(end) => *end,
        step => panic!("{step:?}"),
    }
}
