//! What happens to a body, and what arrives.

use std::{error::Error, fmt, io, str::FromStr};

use super::{Events, Fault};
use crate::{Choices, cuts::Cut, shrink};

/// What happens to a body on its way: faults, in order, and the chunks in which the rest arrives.
///
/// It is printed as words, such as `lose=3 reset=120 cut=7,19`, and read from them.
///
/// ```
/// use wiremend_testkit::{Seed, bodies::Shape, transport::Scenario};
///
/// let body = Shape::Chat.body(&["so ", "far"], &[&["{\"a\"", ": 1}"]]);
/// let scenario = Scenario::random(&body, &mut Seed::new(5));
/// assert_eq!(scenario, Scenario::random(&body, &mut Seed::new(5)));
/// assert_eq!(scenario.to_string().parse(), Ok(scenario));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scenario {
    faults: Vec<Fault>,
    cut: Cut,
}

impl Scenario {
    /// Nothing goes wrong, and everything arrives in one chunk.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One more fault, after the others. Faults that end the body count last, wherever they are, and
    /// the first of them counts.
    #[must_use]
    pub fn with_fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// The chunks, as offsets in what arrives.
    #[must_use]
    pub fn with_cut(mut self, cut: Cut) -> Self {
        self.cut = cut;
        self
    }

    /// Up to three faults and up to a dozen cuts, some at places where readers go wrong: inside a
    /// character, inside a line end, at the end of an event.
    #[must_use]
    pub fn random(body: &[u8], choices: &mut impl Choices) -> Self {
        let mut scenario = Self::new();
        let events = Events::of(body).len();
        for _ in 0..choices.below(4) {
            let event = choices.below(events);
            let at = choices.below(body.len() + 1);
            scenario.faults.push(match choices.below(6) {
                0 => Fault::Delay { event, by: 2 + choices.below(4) },
                1 => Fault::End { at },
                2 => Fault::Lose { event },
                3 => Fault::Repeat { event },
                4 => Fault::Reset { at },
                _ => Fault::Swap { event },
            });
        }
        let arrives = scenario.deliver(body).bytes;
        let special = Cut::special(&arrives);
        let offset = |choices: &mut _| match Choices::below(choices, 2) {
            0 => Choices::one_of(choices, special.offsets()).copied().unwrap_or_default(),
            _ => Choices::below(choices, arrives.len() + 1),
        };
        let offsets = (0..choices.below(13)).map(|_| offset(choices)).collect();
        scenario.with_cut(Cut::at(offsets))
    }

    /// The faults, in order.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The chunks.
    #[must_use]
    pub const fn cut(&self) -> &Cut {
        &self.cut
    }

    /// What arrives of `body`.
    #[must_use]
    pub fn deliver(&self, body: &[u8]) -> Delivery {
        let end = self.faults.iter().find_map(|fault| fault.end());
        let mut bytes = if self.faults.iter().all(|fault| fault.end().is_some()) {
            body.to_vec()
        } else {
            let events = Events::of(body);
            let mut order: Vec<usize> = (0..events.len()).collect();
            self.faults.iter().for_each(|fault| fault.reorder(&mut order));
            events.body_of(&order)
        };
        let mut reset = false;
        if let Some((at, is_reset)) = end.filter(|(at, _)| *at <= bytes.len()) {
            bytes.truncate(at);
            reset = is_reset;
        }
        let most = bytes.len();
        let offsets = self.cut.offsets().iter().copied().filter(|at| *at <= most).collect();
        Delivery { bytes, cut: Cut::at(offsets), reset }
    }

    /// A scenario with fewer faults and cuts, with which `fails` is still true of what arrives. The
    /// number of tries is bounded, so it need not be the smallest there is.
    #[must_use]
    pub fn shrunk(&self, body: &[u8], mut fails: impl FnMut(&Delivery) -> bool) -> Self {
        self.shrunk_to(|fewer| fails(&fewer.deliver(body)))
    }

    /// The same, where `fails` is given the scenario.
    pub(crate) fn shrunk_to(&self, mut fails: impl FnMut(&Self) -> bool) -> Self {
        let with = |faults: &[Fault], offsets: &[usize]| Self {
            faults: faults.to_vec(),
            cut: Cut::at(offsets.to_vec()),
        };
        let mut budget = shrink::TRIES;
        let offsets = self.cut.offsets();
        let faults =
            shrink::list(&self.faults, &mut budget, |faults| fails(&with(faults, offsets)));
        let offsets = shrink::list(offsets, &mut budget, |offsets| fails(&with(&faults, offsets)));
        with(&faults, &offsets)
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<String> = self.faults.iter().map(ToString::to_string).collect();
        if !self.cut.offsets().is_empty() {
            let offsets: Vec<_> = self.cut.offsets().iter().map(ToString::to_string).collect();
            words.push(format!("cut={}", offsets.join(",")));
        }
        f.write_str(&words.join(" "))
    }
}

impl FromStr for Scenario {
    type Err = ScenarioError;

    fn from_str(text: &str) -> Result<Self, ScenarioError> {
        let mut scenario = Self::new();
        for word in text.split_whitespace() {
            if let Some(offsets) = word.strip_prefix("cut=") {
                let offsets = offsets.split(',').map(str::parse);
                let offsets: Result<Vec<usize>, _> = offsets.collect();
                scenario.cut = Cut::at(offsets.map_err(|_| ScenarioError::new(word))?);
            } else {
                scenario.faults.push(word.parse()?);
            }
        }
        Ok(scenario)
    }
}

/// A word that describes no fault and no cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    word: String,
}

impl ScenarioError {
    pub(super) fn new(word: &str) -> Self {
        Self { word: word.to_owned() }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected =
            "`lose=3`, `repeat=3`, `swap=3`, `delay=3+2`, `end=120`, `reset=120` or `cut=7,19`";
        write!(f, "expected {expected}, not `{}`", self.word.escape_debug())
    }
}

impl Error for ScenarioError {}

/// What arrives of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    bytes: Vec<u8>,
    cut: Cut,
    reset: bool,
}

impl Delivery {
    /// All bytes that arrive.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same in chunks. A chunk may be empty.
    #[must_use]
    pub fn chunks(&self) -> Vec<&[u8]> {
        self.cut.chunks(&self.bytes).collect()
    }

    /// Whether the reader gets an error after the last chunk.
    #[must_use]
    pub const fn is_reset(&self) -> bool {
        self.reset
    }

    /// The chunks as a reader gets them, with a `ConnectionReset` at the end if there is one. With
    /// `futures::stream::iter`, it is the body of an asynchronous client.
    pub fn results(&self) -> impl Iterator<Item = io::Result<&[u8]>> {
        let reset = self.reset.then(|| Err(io::ErrorKind::ConnectionReset.into()));
        self.cut.chunks(&self.bytes).map(Ok).chain(reset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Seed, bodies::Shape};

    const BODY: &[u8] = b"a\n\nb\n\nc\n\nd\n\n";

    fn arrives(scenario: &str) -> String {
        let delivery = scenario.parse::<Scenario>().unwrap().deliver(BODY);
        assert_eq!(delivery.chunks().concat(), delivery.bytes());
        String::from_utf8(delivery.bytes).unwrap().replace('\n', "")
    }

    #[test]
    fn each_fault_does_what_it_says() {
        assert_eq!(arrives(""), "abcd");
        assert_eq!(arrives("lose=1"), "acd");
        assert_eq!(arrives("repeat=1"), "abbcd");
        assert_eq!(arrives("swap=1"), "acbd");
        assert_eq!(arrives("delay=0+2"), "bcad");
        assert_eq!(arrives("delay=0+9"), "bcda");
        assert_eq!(arrives("end=4"), "ab");
        assert_eq!(arrives("lose=0 swap=2 end=4"), "bd");
        for nothing in ["lose=4", "repeat=9", "swap=3", "delay=7+1", "end=99", "reset=99"] {
            assert_eq!(arrives(nothing), "abcd", "{nothing}");
        }
    }

    #[test]
    fn a_reset_is_an_error_at_the_end() {
        let ends = |scenario: &str| {
            let delivery = scenario.parse::<Scenario>().unwrap().deliver(BODY);
            delivery.results().last().unwrap().is_err()
        };
        assert!(ends("reset=5 cut=1,2"));
        assert!(!ends("end=5 cut=1,2") && !ends("cut=3"));
    }

    #[test]
    fn what_is_printed_is_read_again() {
        for number in 0..500 {
            let body = Shape::Anthropic.body(&["é ü"], &[&["{\"a\"", ": 1}"]]);
            let scenario = Scenario::random(&body, &mut Seed::new(number));
            assert_eq!(scenario.to_string().parse(), Ok(scenario));
        }
        for wrong in ["lose", "lose=", "lose=-1", "delay=3", "cut=", "cut=1,x", "jump=3"] {
            assert!(wrong.parse::<Scenario>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn random_scenarios_have_every_fault() {
        let mut seen = std::collections::BTreeSet::new();
        for number in 0..200 {
            for fault in Scenario::random(BODY, &mut Seed::new(number)).faults() {
                seen.insert(fault.to_string().split('=').next().unwrap().to_owned());
            }
        }
        assert_eq!(seen.len(), 6, "{seen:?}");
    }

    #[test]
    fn a_shrunk_scenario_has_only_what_is_needed() {
        let scenario: Scenario = "repeat=0 lose=2 swap=0 cut=1,2,4,7,8".parse().unwrap();
        let fails = |delivery: &Delivery| {
            !delivery.bytes().contains(&b'c')
                && delivery.chunks().iter().any(|chunk| *chunk == b"\n")
        };
        assert!(fails(&scenario.deliver(BODY)));
        let small = scenario.shrunk(BODY, fails);
        assert!(fails(&small.deliver(BODY)));
        assert_eq!((small.faults().len(), small.cut().offsets().len()), (1, 1), "{small}");
    }
}
