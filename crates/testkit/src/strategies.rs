//! Inputs for property tests, and the crate that runs them.
//!
//! ```
//! use wiremend_testkit::strategies::{self, proptest};
//! use proptest::prelude::*;
//!
//! proptest!(|(case in strategies::case())| {
//!     prop_assert!(case.delivery().bytes().len() <= 3 * case.body().len());
//! });
//! ```

pub use proptest;
use proptest::{collection::vec, prelude::*, sample::select};

pub use crate::documents::{container, document};
use crate::{
    Case,
    bodies::{Reply, Shape},
    cuts::Cut,
    damage::Damage,
    transport::{Events, Fault, Scenario},
};

/// Any shape. It shrinks towards those with fewer peculiarities of their own, such as `Anthropic`.
pub fn shape() -> impl Strategy<Value = Shape> {
    select(Shape::ALL.to_vec())
}

/// Any kind of damage to a document.
pub fn damage() -> impl Strategy<Value = Damage> {
    select(Damage::ALL.to_vec())
}

/// A reply with any text in up to five pieces, and up to two calls with objects as their arguments.
pub fn reply() -> impl Strategy<Value = Reply> {
    let text = vec(any::<String>(), 0..5);
    (shape(), text, vec(vec((key(), value()), 0..4), 0..3), 1..12_usize).prop_map(
        |(shape, text, calls, size)| {
            let reply = text.into_iter().fold(Reply::new(shape), Reply::with_text);
            let calls = if shape.has_calls() { calls } else { Vec::new() };
            calls.into_iter().fold(reply, |reply, members| {
                let named = members.iter().enumerate();
                let members: Vec<_> =
                    named.map(|(at, (key, value))| format!("\"{key}{at}\": {value}")).collect();
                let arguments: Vec<char> = format!("{{{}}}", members.join(", ")).chars().collect();
                reply
                    .with_call(arguments.chunks(size).map(|piece| piece.iter().collect::<String>()))
            })
        },
    )
}

/// The keys of one object have a number added, so that none is there twice.
fn key() -> impl Strategy<Value = String> {
    "[a-zü]{1,3}"
}

/// Values that mean the same in every format: some write arguments as values, where long numbers and
/// members that are there twice would not survive.
fn value() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        any::<i32>().prop_map(|value| value.to_string()),
        any::<String>().prop_map(|text| serde_json::Value::from(text).to_string()),
    ];
    scalar.prop_recursive(2, 8, 3, |inner| {
        let listed = vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(", ")));
        prop_oneof![
            listed,
            (key(), inner).prop_map(|(key, value)| format!("{{\"{key}\": {value}}}"))
        ]
    })
}

/// A reply with up to three faults and up to twelve cuts. It shrinks towards fewer of them, and towards
/// the start of the body.
pub fn case() -> impl Strategy<Value = Case> {
    // Places are fractions of the body: where it ends is not known before.
    let faults = vec((0..6_u8, any::<u16>(), 1..5_usize), 0..4);
    (reply(), faults, vec(any::<u16>(), 0..12)).prop_map(|(reply, faults, cuts)| {
        let body = reply.body();
        let events = Events::of(&body).len();
        let scenario = faults.into_iter().fold(Scenario::new(), |scenario, (kind, place, by)| {
            let (event, at) = (part(events, place), part(body.len() + 1, place));
            scenario.with_fault(match kind {
                0 => Fault::Lose { event },
                1 => Fault::Repeat { event },
                2 => Fault::Swap { event },
                3 => Fault::Delay { event, by },
                4 => Fault::End { at },
                _ => Fault::Reset { at },
            })
        });
        let len = scenario.deliver(&body).bytes().len();
        let cut = Cut::at(cuts.into_iter().map(|place| part(len + 1, place)).collect());
        Case::new(reply, scenario.with_cut(cut))
    })
}

/// The item at that fraction of `count` items.
fn part(count: usize, place: u16) -> usize {
    count * usize::from(place) / (usize::from(u16::MAX) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;
    use wiremend_wire::{WireOptions, transcribe};

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn cases_are_delivered_as_they_say(case in case()) {
            prop_assert_eq!(case.scenario().to_string().parse(), Ok(case.scenario().clone()));
            let delivery = case.delivery();
            prop_assert_eq!(delivery.chunks().concat(), delivery.bytes());
        }

        #[test]
        fn replies_hold_their_calls(reply in reply()) {
            let said = transcribe(&reply.body(), WireOptions::new());
            let ran: Vec<_> = (said.calls().iter())
                .map(|call| check::Ran::new("", call.arguments())).collect();
            let wanted: Vec<_> =
                reply.arguments().iter().map(|text| check::Ran::new("", text)).collect();
            prop_assert_eq!(ran, wanted);
        }
    }
}
