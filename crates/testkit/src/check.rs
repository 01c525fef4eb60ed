//! Checks of a reader of streams that is not wiremend's: one line each.
//!
//! The reader is a closure. Each check runs it many times on one body, and a failure holds the smallest
//! input that was found. What a failure prints is enough to run it again.
//!
//! ```
//! use wiremend_testkit::{Seed, bodies::Reply, check};
//! use wiremend_wire::{Decoder, Transcript, WireOptions};
//!
//! let read = |chunks: &[&[u8]]| {
//!     let mut decoder = Decoder::new(WireOptions::new());
//!     let mut said = Transcript::new();
//!     chunks.iter().for_each(|chunk| decoder.push(chunk, &mut |event| said.record(&event)));
//!     decoder.finish(&mut |event| said.record(&event));
//!     said
//! };
//! for number in 0..10 {
//!     let reply = Reply::random(&mut Seed::new(number));
//!     check::invariant_under_cuts(&reply.body(), |chunks| read(chunks).text())?;
//!     check::no_half_call(&reply.body(), |delivery| {
//!         let said = read(&delivery.chunks());
//!         let calls = said.calls().into_iter().filter(|call| call.outcome().is_complete());
//!         calls.map(|call| check::Ran::new(call.name(), call.arguments())).collect()
//!     })?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{
    any::Any,
    error::Error,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use serde_json::Value;
use wiremend_wire::{Transcript, WireOptions, transcribe};

use crate::{
    Seed,
    cuts::{self, Cut},
    shrink,
    transport::{Delivery, Events, Fault, Scenario},
};

/// How many bytes are delivered at most to check one body, besides a pass for each of its events.
const CALL_BUDGET: usize = 8 << 20;

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
                let found = Evidence { why, held, scenario, delivery };
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
    let inside = (CALL_BUDGET / body.len().max(1) / 2).clamp(8, body.len().clamp(8, 400));
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
pub struct HalfCall(Box<Evidence>);

#[derive(Clone, Debug, PartialEq)]
struct Evidence {
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
        write_chunks(f, &chunks)?;
        f.write_str(if self.0.delivery.is_reset() { "then a reset" } else { "then the end" })
    }
}

impl Error for HalfCall {}

/// How many bytes the reader is given at most to check one body, besides a dozen passes over it.
const DIVISION_BUDGET: usize = 16 << 20;

/// Checks that `fold` makes the same of `body` however it is divided into chunks: whole, byte by byte,
/// with empty chunks, inside characters, escapes and line ends, at the ends of events, in two at up to
/// 1,000 places, and at places that a seed chooses. A long body is divided at fewer places.
///
/// A `fold` that panics makes something else of the body than one that returns.
///
/// ```
/// use wiremend_testkit::check;
///
/// // Every chunk is taken for whole lines.
/// let lines = |chunks: &[&[u8]]| -> Vec<String> {
///     let lines = chunks.iter().flat_map(|chunk| chunk.split_inclusive(|byte| *byte == b'\n'));
///     lines.map(|line| String::from_utf8_lossy(line).into_owned()).collect()
/// };
/// let failure = check::invariant_under_cuts(b"data: 1\n\ndata: 2\n\n", lines).unwrap_err();
/// // The smallest body that shows it, in the fewest chunks.
/// assert_eq!(failure.body().len(), 9);
/// assert_eq!(failure.chunks().len(), 2);
/// ```
///
/// # Errors
/// A division that makes a difference, with as few chunks and events as were found to do so.
pub fn invariant_under_cuts<T: PartialEq + fmt::Debug>(
    body: &[u8],
    mut fold: impl FnMut(&[&[u8]]) -> T,
) -> Result<(), Variance> {
    let mut run = |body: &[u8], cut: &Cut| {
        let chunks: Vec<&[u8]> = cut.chunks(body).collect();
        catch_unwind(AssertUnwindSafe(|| fold(&chunks))).map_err(|panic| said(&*panic))
    };
    let whole = run(body, &Cut::whole());
    for cut in divisions(body) {
        if run(body, &cut) != whole {
            let differs = |body: &[u8], cut: &Cut| run(body, cut) != run(body, &Cut::whole());
            let (body, cut) = smallest(body, &cut, differs);
            return Err(Variance {
                whole: shown(&run(&body, &Cut::whole())),
                divided: shown(&run(&body, &cut)),
                body,
                cut,
            });
        }
    }
    Ok(())
}

/// The divisions that are tried, those that show most first.
fn divisions(body: &[u8]) -> Vec<Cut> {
    let len = body.len();
    let mut seed = Seed::of(body);
    let mut divisions = vec![Cut::at(Events::of(body).ends()), Cut::special(body)];
    divisions.extend(cuts::few(len, &mut seed));
    let places = (DIVISION_BUDGET / len.max(1)).clamp(8, 1000);
    if len <= places {
        divisions.extend((1..len).map(|at| Cut::at(vec![at])));
    } else {
        divisions.extend((0..places).map(|_| Cut::at(vec![seed.below(len)])));
    }
    divisions
}

/// The fewest chunks and then the fewest events for which `differs` is true, and again the fewest chunks.
fn smallest(
    body: &[u8],
    cut: &Cut,
    mut differs: impl FnMut(&[u8], &Cut) -> bool,
) -> (Vec<u8>, Cut) {
    let mut budget = shrink::TRIES;
    let offsets =
        shrink::list(cut.offsets(), &mut budget, |at| differs(body, &Cut::at(at.to_vec())));
    let all = Events::of(body);
    let numbers: Vec<usize> = (0..all.len()).collect();
    // A cut stays at its place in its event.
    let kept = |numbers: &[usize]| {
        let fewer = all.body_of(numbers);
        let (old, new) = (all.ends(), Events::of(&fewer).ends());
        let moved = offsets.iter().filter_map(|at| {
            let event = old.iter().position(|end| at <= end)?;
            let place = numbers.iter().position(|number| *number == event)?;
            let before_end = old.get(event)?.checked_sub(*at)?;
            new.get(place)?.checked_sub(before_end)
        });
        let cut = Cut::at(moved.collect());
        (fewer, cut)
    };
    let numbers = shrink::list(&numbers, &mut budget, |numbers| {
        let (fewer, cut) = kept(numbers);
        differs(&fewer, &cut)
    });
    let (fewer, cut) =
        if numbers.len() < all.len() { kept(&numbers) } else { (body.to_vec(), Cut::at(offsets)) };
    let offsets =
        shrink::list(cut.offsets(), &mut budget, |at| differs(&fewer, &Cut::at(at.to_vec())));
    (fewer, Cut::at(offsets))
}

/// The message of a panic.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

fn shown<T: fmt::Debug>(result: &Result<T, String>) -> String {
    match result {
        Ok(made) => format!("{made:?}"),
        Err(message) => format!("a panic: {message}"),
    }
}

/// A body of which a reader makes different things, depending on the chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variance {
    body: Vec<u8>,
    cut: Cut,
    whole: String,
    divided: String,
}

impl Variance {
    /// The body: the one that was checked, or some of its events.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The chunks that make a difference.
    #[must_use]
    pub fn chunks(&self) -> Vec<&[u8]> {
        self.cut.chunks(&self.body).collect()
    }
}

impl fmt::Display for Variance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offsets: Vec<String> = self.cut.offsets().iter().map(ToString::to_string).collect();
        writeln!(f, "the chunks make a difference: cut={}", offsets.join(","))?;
        let chunks: Vec<Vec<u8>> = self.cut.chunks(&self.body).map(<[u8]>::to_vec).collect();
        write_chunks(f, &chunks)?;
        write!(f, "whole:   {}\ndivided: {}", self.whole, self.divided)
    }
}

impl Error for Variance {}

/// How many chunks of a sequence are shown, and how many bytes of each.
const CHUNKS: usize = 40;
const BYTES: usize = 400;

/// Writes chunks as byte strings, one per line. The middle of a long sequence is left out.
fn write_chunks(f: &mut fmt::Formatter<'_>, chunks: &[Vec<u8>]) -> fmt::Result {
    for (number, chunk) in chunks.iter().enumerate() {
        let half = CHUNKS / 2;
        if chunks.len() > CHUNKS && number == half {
            writeln!(f, "  … {} more", chunks.len() - CHUNKS)?;
        }
        if chunks.len() > CHUNKS && (half..chunks.len() - half).contains(&number) {
            continue;
        }
        writeln!(f, "  b\"{}\"", clipped(chunk))?;
    }
    Ok(())
}

fn clipped(bytes: &[u8]) -> String {
    let shown = |bytes: &[u8]| match std::str::from_utf8(bytes) {
        Ok(text) => text.escape_debug().to_string(),
        Err(_) => bytes.escape_ascii().to_string(),
    };
    match (bytes.get(..BYTES / 2), bytes.get(bytes.len().saturating_sub(BYTES / 2)..)) {
        (Some(start), Some(end)) if bytes.len() > BYTES => {
            format!("{} … {} bytes … {}", shown(start), bytes.len() - BYTES, shown(end))
        }
        _ => shown(bytes),
    }
}

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

    fn body() -> Vec<u8> {
        Shape::Chat.body(&["so ", "fär ", "and 語"], &[&["{\"a\"", ": 1}"]])
    }

    #[test]
    fn a_fold_over_bytes_is_invariant() {
        for number in 0..20 {
            let body = Reply::random(&mut Seed::new(number)).body();
            invariant_under_cuts(&body, |chunks| chunks.concat()).unwrap();
        }
        invariant_under_cuts(b"", |chunks| chunks.concat()).unwrap();
    }

    #[test]
    fn a_character_that_is_divided_is_shown_alone() {
        let lossy = |chunks: &[&[u8]]| -> String {
            chunks.iter().map(|chunk| String::from_utf8_lossy(chunk)).collect()
        };
        let failure = invariant_under_cuts(&body(), lossy).unwrap_err();
        assert_eq!((failure.chunks().len(), Events::of(failure.body()).len()), (2, 1), "{failure}");
        assert!(failure.to_string().contains("whole:   \"data: "), "{failure}");
    }

    #[test]
    fn empty_chunks_are_tried() {
        let count = |chunks: &[&[u8]]| chunks.iter().any(|chunk| chunk.is_empty());
        let failure = invariant_under_cuts(b"data: 1\n\n", count).unwrap_err();
        assert!(failure.chunks().iter().any(|chunk| chunk.is_empty()), "{failure}");
    }

    #[test]
    fn a_panic_is_a_difference() {
        let strict = |chunks: &[&[u8]]| {
            for chunk in chunks {
                std::str::from_utf8(chunk).expect("whole characters");
            }
        };
        let failure = invariant_under_cuts(&body(), strict).unwrap_err();
        assert!(failure.to_string().contains("divided: a panic: whole characters"), "{failure}");
    }
}
