//! No half call is run.

use std::{
    error::Error,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use serde_json::Value;
use wiremend_wire::{Transcript, WireOptions, transcribe};

use super::{invariance::said, show};
use crate::{
    Seed,
    cuts::Cut,
    transport::{Delivery, Events, Fault, Scenario},
};

/// How many bytes are delivered at most to check one body, besides a pass for each of its events.
const BUDGET: usize = 8 << 20;

/// How many scenarios a seed chooses.
const RANDOM: usize = 60;

/// A call that a reader ran.
#[derive(Clone, Debug)]
pub struct Ran {
    name: String,
    arguments: String,
}

impl Ran {
    /// A call of that tool, with its arguments as JSON text.
    #[must_use]
    pub fn new(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { name: name.into(), arguments: arguments.into() }
    }

    /// The tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments.
    #[must_use]
    pub fn arguments(&self) -> &str {
        &self.arguments
    }
}

/// Two calls are the same if they have the same name, and arguments with the same value.
impl PartialEq for Ran {
    fn eq(&self, other: &Self) -> bool {
        let value = |text: &str| serde_json::from_str::<Value>(text).ok();
        self.name == other.name
            && (self.arguments == other.arguments
                || value(&self.arguments)
                    .is_some_and(|known| value(&other.arguments) == Some(known)))
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name, self.arguments)
    }
}

/// Checks that `run`, which returns the calls that it ran, runs no call that did not arrive whole.
///
/// The body is one of a [provider](crate::bodies) or a recorded one. It is delivered
///
/// - as it is: its calls are to be run, each once. A reader that runs nothing does not pass;
/// - cut off at many places, by an end that looks clean and by a reset: a call may be run only if its
///   end had arrived, in the sense of `wiremend_wire`, which is on its page about providers. Arguments
///   that happen to be valid JSON are no end;
/// - with an event lost, repeated, swapped or delayed, and with several faults and cuts that a seed
///   chooses: a call may be run if the body holds it, and no more often. What is left after a loss may
///   be a whole body that says something else, and no reader can notice; such calls may be run.
///
/// A reader that panics runs no call, but that is a failure, too.
///
/// ```
/// use wiremend_testkit::{bodies::Shape, check};
///
/// // It takes whatever came for the arguments.
/// let eager = |delivery: &wiremend_testkit::transport::Delivery| {
///     let said = wiremend_wire::transcribe(delivery.bytes(), Default::default());
///     let calls = said.calls().into_iter();
///     calls.map(|call| check::Ran::new(call.name(), call.raw())).collect()
/// };
/// let body = Shape::Chat.body(&[], &[&["{\"all\"", ": true}"]]);
/// let failure = check::no_half_call(&body, eager).unwrap_err();
/// assert!(failure.to_string().contains("tool_0()"), "{failure}");
/// ```
///
/// # Errors
/// A delivery with a call that must not be run, with as few faults and chunks as were found.
pub fn no_half_call(
    body: &[u8],
    mut run: impl FnMut(&Delivery) -> Vec<Ran>,
) -> Result<(), HalfCall> {
    let held = complete(&transcribe(body, WireOptions::new()));
    let mut wrong = |scenario: &Scenario, delivery: &Delivery| {
        let ran = catch_unwind(AssertUnwindSafe(|| run(delivery)));
        let ran = match ran {
            Ok(ran) => ran,
            Err(panic) => return Some(Why::Panicked(said(&*panic))),
        };
        let count = |calls: &[Ran], call: &Ran| calls.iter().filter(|one| *one == call).count();
        if scenario.faults().is_empty() && ran.len() < held.len() {
            let missing = held.iter().find(|call| count(&ran, call) < count(&held, call));
            return missing.cloned().map(Why::NotRun);
        }
        let states = complete(&transcribe(delivery.bytes(), WireOptions::new()));
        let is_cut = scenario.faults().iter().all(|fault| fault.end().is_some());
        ran.iter().find_map(|call| {
            let known = if is_cut { 0 } else { count(&held, call) };
            let most = count(&states, call).max(known);
            if count(&ran, call) <= most {
                return None;
            }
            Some(match (most, held.contains(call)) {
                (0, true) => Why::NotEnded(call.clone()),
                (0, false) => Why::Half(call.clone()),
                _ => Why::Twice(call.clone()),
            })
        })
    };
    for scenario in scenarios(body) {
        if wrong(&scenario, &scenario.deliver(body)).is_some() {
            let fails = |fewer: &Scenario| wrong(fewer, &fewer.deliver(body)).is_some();
            let scenario = scenario.shrunk_to(fails);
            let delivery = scenario.deliver(body);
            if let Some(why) = wrong(&scenario, &delivery) {
                let found = Found { why, held, scenario, delivery };
                return Err(HalfCall(Box::new(found)));
            }
        }
    }
    Ok(())
}

/// The calls that may be run.
fn complete(said: &Transcript) -> Vec<Ran> {
    let calls = said.calls().into_iter().filter(|call| call.outcome().is_complete());
    calls.map(|call| Ran::new(call.name(), call.arguments())).collect()
}

/// What is tried, the simplest first.
fn scenarios(body: &[u8]) -> Vec<Scenario> {
    let mut seed = Seed::of(body);
    let events = Events::of(body);
    let mut scenarios = vec![Scenario::new(), Scenario::new().with_cut(Cut::bytes(body.len()))];
    let mut ends = events.ends();
    let inside = (BUDGET / body.len().max(1) / 2).clamp(8, body.len().clamp(8, 400));
    ends.extend((0..inside).map(|_| seed.below(body.len() + 1)));
    ends.push(0);
    ends.sort_unstable();
    ends.dedup();
    for at in ends {
        scenarios.push(Scenario::new().with_fault(Fault::End { at }));
        scenarios.push(Scenario::new().with_fault(Fault::Reset { at }));
    }
    let one = |fault: Fault| Scenario::new().with_fault(fault);
    for event in 0..events.len().min(inside) {
        scenarios.push(one(Fault::Lose { event }));
        scenarios.push(one(Fault::Repeat { event }));
        scenarios.push(one(Fault::Swap { event }));
        scenarios.push(one(Fault::Delay { event, by: 3 }));
    }
    scenarios.extend((0..RANDOM.min(inside)).map(|_| Scenario::random(body, &mut seed)));
    scenarios
}

/// What is wrong with a delivery.
#[derive(Clone, Debug, PartialEq)]
enum Why {
    Half(Ran),
    NotEnded(Ran),
    NotRun(Ran),
    Panicked(String),
    Twice(Ran),
}

/// A delivery of which a reader ran a call that it must not run, or did not run one that arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct HalfCall(Box<Found>);

#[derive(Clone, Debug, PartialEq)]
struct Found {
    why: Why,
    held: Vec<Ran>,
    scenario: Scenario,
    delivery: Delivery,
}

impl HalfCall {
    /// The call; `None` if the reader panicked.
    #[must_use]
    pub fn call(&self) -> Option<&Ran> {
        match &self.0.why {
            Why::Half(call) | Why::NotEnded(call) | Why::NotRun(call) | Why::Twice(call) => {
                Some(call)
            }
            Why::Panicked(_) => None,
        }
    }

    /// What happened to the body.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.0.scenario
    }

    /// What the reader got.
    #[must_use]
    pub fn delivery(&self) -> &Delivery {
        &self.0.delivery
    }
}

impl fmt::Display for HalfCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.why {
            Why::Half(call) => writeln!(f, "a call was run that the body does not hold: {call}")?,
            Why::NotEnded(call) => {
                writeln!(f, "a call was run although its end did not arrive: {call}")?;
            }
            Why::NotRun(call) => writeln!(f, "a call was not run although it arrived: {call}")?,
            Why::Panicked(message) => writeln!(f, "the reader panicked: {message}")?,
            Why::Twice(call) => writeln!(f, "a call was run too often: {call}")?,
        }
        let held: Vec<String> = self.0.held.iter().map(ToString::to_string).collect();
        writeln!(f, "the body holds: {}", held.join(", "))?;
        let scenario = self.0.scenario.to_string();
        writeln!(f, "scenario: {}", if scenario.is_empty() { "none" } else { &scenario })?;
        let chunks: Vec<Vec<u8>> = match self.0.delivery.chunks().as_slice() {
            // One chunk is easier to read by events.
            [bytes] => Events::of(bytes).iter().map(<[u8]>::to_vec).collect(),
            chunks => chunks.iter().map(|chunk| chunk.to_vec()).collect(),
        };
        show::chunks(f, &chunks)?;
        f.write_str(if self.0.delivery.is_reset() { "then a reset" } else { "then the end" })
    }
}

impl Error for HalfCall {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bodies::{Reply, Shape};

    /// wiremend itself.
    fn careful(delivery: &Delivery) -> Vec<Ran> {
        complete(&transcribe(delivery.bytes(), WireOptions::new()))
    }

    #[test]
    fn a_careful_reader_passes_on_every_shape() {
        for shape in Shape::ALL {
            for number in 0..3 {
                let reply = Reply::random_in(shape, &mut Seed::new(number));
                no_half_call(&reply.body(), careful).unwrap();
            }
        }
    }

    #[test]
    fn a_reader_that_runs_nothing_fails() {
        let body = Shape::Anthropic.body(&[], &[&["{}"]]);
        let failure = no_half_call(&body, |_| Vec::new()).unwrap_err();
        assert!(failure.to_string().starts_with("a call was not run"), "{failure}");
    }

    /// A reader that waits for JSON, and for nothing else.
    fn valid(delivery: &Delivery) -> Vec<Ran> {
        let said = transcribe(delivery.bytes(), WireOptions::new());
        let calls = said.calls().into_iter();
        let valid = calls.filter(|call| serde_json::from_str::<Value>(call.raw()).is_ok());
        valid.map(|call| Ran::new(call.name(), call.raw())).collect()
    }

    #[test]
    fn valid_json_is_no_end() {
        let body = Shape::Chat.body(&[], &[&["{\"n\"", ": 12", "}"]]);
        let failure = no_half_call(&body, valid).unwrap_err();
        assert!(failure.to_string().starts_with("a call was run although its end"), "{failure}");
        assert_eq!(failure.scenario().faults().len(), 1);
        assert!(failure.scenario().cut().offsets().is_empty());
    }

    #[test]
    fn a_call_that_is_run_twice_is_seen() {
        let twice = |delivery: &Delivery| [careful(delivery), careful(delivery)].concat();
        let body = Shape::Anthropic.body(&[], &[&["{\"n\"", ": 12", "}"]]);
        let failure = no_half_call(&body, twice).unwrap_err();
        assert!(failure.to_string().starts_with("a call was run too often"), "{failure}");
    }

    #[test]
    fn of_two_equal_calls_both_are_to_be_run() {
        let once = |delivery: &Delivery| careful(delivery).into_iter().take(1).collect();
        let body = Shape::Anthropic.body(&[], &[&["{}"], &["{}"]]).to_vec();
        let body = String::from_utf8(body).unwrap().replace("tool_1", "tool_0");
        let held = complete(&transcribe(body.as_bytes(), WireOptions::new()));
        assert!(held.len() == 2 && held[0] == held[1], "{held:?}");
        let failure = no_half_call(body.as_bytes(), once).unwrap_err();
        assert!(failure.to_string().starts_with("a call was not run"), "{failure}");
    }

    #[test]
    fn arguments_are_compared_by_value() {
        let call = |arguments: &str| Ran::new("f", arguments);
        assert_eq!(call(r#"{"a": 1, "b": 2}"#), call(r#"{"b":2,"a":1}"#));
        assert_ne!(call(r#"{"a": 1}"#), call(r#"{"a": 2}"#));
        assert_eq!(call("{"), call("{"));
        assert_ne!(call("{"), call("["));
    }
}
