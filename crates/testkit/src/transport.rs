//! What happens to a body on its way: events that are lost, repeated or late, a connection that breaks
//! off, and chunks that end in the middle of anything.
//!
//! A [`Scenario`] says what happens, as data: it is made from a seed, printed, read again, and made
//! smaller as long as a test still fails. A [`Delivery`] is what arrives.
//!
//! ```
//! use wiremend_testkit::transport::Scenario;
//!
//! let body = b"data: {\"n\": 1}\n\ndata: {\"n\": 2}\n\ndata: {\"n\": 3}\n\n";
//! let scenario: Scenario = "lose=1 reset=25 cut=3".parse()?;
//! let delivery = scenario.deliver(body);
//! assert_eq!(delivery.chunks(), [&b"dat"[..], b"a: {\"n\": 1}\n\ndata: {\"n"]);
//! assert!(delivery.is_reset());
//! assert_eq!(scenario.to_string(), "lose=1 reset=25 cut=3");
//! # Ok::<(), wiremend_testkit::transport::ScenarioError>(())
//! ```

use std::{error::Error, fmt, io, str::FromStr};

use serde::de::IgnoredAny;

use crate::{Choices, cuts::Cut, shrink};

/// The events of a body, as they are framed: server-sent events, lines, frames, or the items of an
/// array. A body of another kind is one event.
///
/// Nothing is decoded, so any bytes have events, and those of a body in order are the body.
///
/// ```
/// use wiremend_testkit::transport::Events;
///
/// let events = Events::of(b"[{\"n\": 1},\r\n{\"n\": 2},\r\n{\"n\": 3}]");
/// assert_eq!(events.len(), 3);
/// assert_eq!(events.body_of(&[2, 0]), b"[{\"n\": 3},\r\n{\"n\": 1}]");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Events<'a> {
    /// What comes before the first event.
    head: &'a [u8],
    events: Vec<&'a [u8]>,
    /// What separates two items of an array. Other events bring their ends with them.
    between: Vec<&'a [u8]>,
    /// What comes after the last event.
    tail: &'a [u8],
}

impl<'a> Events<'a> {
    /// Divides a body into its events.
    #[must_use]
    pub fn of(body: &'a [u8]) -> Self {
        let text = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
        match text.trim_ascii_start().first() {
            _ if body.first() == Some(&0) => Self::ended(body, frame_len),
            Some(b'[') => Self::array(body),
            Some(b'{') if !is_lines(text) => Self::ended(body, <[u8]>::len),
            Some(b'{') => Self::ended(body, line_len),
            Some(_) => Self::ended(body, event_len),
            None => Self { head: body, events: Vec::new(), between: Vec::new(), tail: b"" },
        }
    }

    /// Events that bring their ends with them; `len` says how long the first one is.
    fn ended(body: &'a [u8], len: impl Fn(&[u8]) -> usize) -> Self {
        let mut events = Vec::new();
        let mut rest = body;
        while !rest.is_empty() {
            let (event, after) = rest.split_at(len(rest).clamp(1, rest.len()));
            events.push(event);
            rest = after;
        }
        Self { head: b"", events, between: Vec::new(), tail: b"" }
    }

    fn array(body: &'a [u8]) -> Self {
        let part = |from: usize, to: usize| body.get(from..to).unwrap_or_default();
        let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
        let mut events = Vec::new();
        let mut between = Vec::new();
        // Where the separator before the current item starts, and where the item itself does.
        let (mut gap, mut start) = (0, None);
        let mut end = 0;
        for (at, &byte) in body.iter().enumerate() {
            let opens = !in_string && matches!(byte, b'[' | b'{');
            if depth == 1
                && start.is_none()
                && !matches!(byte, b' ' | b'\r' | b'\n' | b'\t' | b',' | b']')
            {
                start = Some(at);
                between.push(part(gap, at));
            }
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = in_string,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ if opens => depth += 1,
                _ => {}
            }
            let over = depth == 0 || (depth == 1 && !in_string && byte == b',');
            if let (true, Some(from)) = (over, start) {
                end = from + part(from, at).trim_ascii_end().len();
                events.push(part(from, end));
                gap = end;
                start = None;
            }
            if depth == 0 && (byte == b']' || byte == b'}') {
                break;
            }
        }
        if let Some(from) = start {
            end = body.len();
            events.push(part(from, end));
        }
        let head = if between.is_empty() { body } else { between.remove(0) };
        let tail = if events.is_empty() { b"" } else { part(end, body.len()) };
        Self { head, events, between, tail }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The bytes of each.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        self.events.iter().copied()
    }

    /// A body of the events with those numbers, in that order. Numbers without an event are skipped.
    #[must_use]
    pub fn body_of(&self, numbers: &[usize]) -> Vec<u8> {
        let mut out = self.head.to_vec();
        let events = numbers.iter().filter_map(|number| self.events.get(*number));
        for (place, event) in events.enumerate() {
            if let Some(place) = place.checked_sub(1) {
                let between = self.between.get(place).or(self.between.last());
                // An array of one item has no separator to copy.
                let between = between.copied().unwrap_or(if self.is_array() { b"," } else { b"" });
                out.extend_from_slice(between);
            }
            out.extend_from_slice(event);
        }
        out.extend_from_slice(self.tail);
        out
    }

    /// The offset in the body at which each event ends.
    #[must_use]
    pub fn ends(&self) -> Vec<usize> {
        let mut at = self.head.len();
        let mut between = self.between.iter();
        let ends = self.events.iter().map(|event| {
            let end = at + event.len();
            at = end + between.next().map_or(0, |between| between.len());
            end
        });
        ends.collect()
    }

    fn is_array(&self) -> bool {
        self.head.trim_ascii_end().ends_with(b"[")
    }
}

/// Whether the first line is a JSON value, so that there is one on each.
fn is_lines(body: &[u8]) -> bool {
    let line = body.get(..line_len(body)).unwrap_or(body);
    serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

fn line_len(rest: &[u8]) -> usize {
    rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1)
}

/// Up to the blank lines that end a server-sent event.
fn event_len(rest: &[u8]) -> usize {
    let mut at = 0;
    let (mut blank, mut said) = (true, false);
    while let Some(&byte) = rest.get(at) {
        let is_end = matches!(byte, b'\n' | b'\r');
        at += if rest.get(at..).is_some_and(|rest| rest.starts_with(b"\r\n")) { 2 } else { 1 };
        if is_end && blank && said {
            let more = rest.get(at..).unwrap_or_default();
            return at + more.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        }
        said |= !is_end;
        blank = is_end;
    }
    at
}

/// The length that a frame states; what is no whole frame is the rest.
fn frame_len(rest: &[u8]) -> usize {
    let length = rest.first_chunk::<4>().map(|length| u32::from_be_bytes(*length));
    length.and_then(|length| usize::try_from(length).ok()).unwrap_or(rest.len())
}

/// One thing that goes wrong with a body on its way. Events are counted from 0.
///
/// A fault that names an event or a byte that is not there changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// An event comes after so many of those that follow it.
    Delay {
        /// The event.
        event: usize,
        /// How many events overtake it.
        by: usize,
    },
    /// The body ends at that byte, as if it were whole.
    End {
        /// How many bytes arrive.
        at: usize,
    },
    /// An event never arrives.
    Lose {
        /// The event.
        event: usize,
    },
    /// An event arrives twice.
    Repeat {
        /// The event.
        event: usize,
    },
    /// The connection breaks at that byte, and the reader gets an error.
    Reset {
        /// How many bytes arrive.
        at: usize,
    },
    /// An event and the next one change places.
    Swap {
        /// The first of the two.
        event: usize,
    },
}

impl Fault {
    /// Changes the order of events, in which each has its number.
    fn reorder(self, order: &mut Vec<usize>) {
        let place = |event: usize| order.iter().position(|number| *number == event);
        match self {
            Self::Delay { event, by } => {
                if let Some(place) = place(event) {
                    let event = order.remove(place);
                    order.insert(place.saturating_add(by).min(order.len()), event);
                }
            }
            Self::Lose { event } => order.retain(|number| *number != event),
            Self::Repeat { event } => {
                if let Some(place) = place(event) {
                    order.insert(place, event);
                }
            }
            Self::Swap { event } => {
                if let Some(place) = place(event).filter(|place| place + 1 < order.len()) {
                    order.swap(place, place + 1);
                }
            }
            Self::End { .. } | Self::Reset { .. } => {}
        }
    }

    /// How many bytes arrive, and whether the reader then gets an error.
    pub(crate) const fn end(self) -> Option<(usize, bool)> {
        match self {
            Self::End { at } => Some((at, false)),
            Self::Reset { at } => Some((at, true)),
            _ => None,
        }
    }
}

/// `lose=3`, `delay=3+2`, `reset=120`.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delay { event, by } => write!(f, "delay={event}+{by}"),
            Self::End { at } => write!(f, "end={at}"),
            Self::Lose { event } => write!(f, "lose={event}"),
            Self::Repeat { event } => write!(f, "repeat={event}"),
            Self::Reset { at } => write!(f, "reset={at}"),
            Self::Swap { event } => write!(f, "swap={event}"),
        }
    }
}

impl FromStr for Fault {
    type Err = ScenarioError;

    fn from_str(word: &str) -> Result<Self, ScenarioError> {
        let wrong = || ScenarioError::new(word);
        let number = |text: &str| text.parse::<usize>().map_err(|_| wrong());
        let (name, value) = word.split_once('=').ok_or_else(wrong)?;
        Ok(match name {
            "delay" => {
                let (event, by) = value.split_once('+').ok_or_else(wrong)?;
                Self::Delay { event: number(event)?, by: number(by)? }
            }
            "end" => Self::End { at: number(value)? },
            "lose" => Self::Lose { event: number(value)? },
            "repeat" => Self::Repeat { event: number(value)? },
            "reset" => Self::Reset { at: number(value)? },
            "swap" => Self::Swap { event: number(value)? },
            _ => return Err(wrong()),
        })
    }
}

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
    fn new(word: &str) -> Self {
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

    fn whole(body: &[u8]) -> Vec<u8> {
        let events = Events::of(body);
        events.body_of(&(0..events.len()).collect::<Vec<_>>())
    }

    #[test]
    fn the_events_of_any_bytes_are_the_bytes() {
        const SIGNS: &[u8] = b"[]{},:\"\\\r\n \0\x01ad\xff";
        let mut seed = Seed::new(3);
        for length in 0..400 {
            let bytes: Vec<u8> =
                (0..length % 40).filter_map(|_| seed.pick(SIGNS).copied()).collect();
            assert_eq!(whole(&bytes), bytes, "{}", bytes.escape_ascii());
            let events = Events::of(&bytes);
            let ends = events.ends();
            for (event, end) in events.iter().zip(&ends) {
                assert_eq!(&bytes[end - event.len()..*end], event, "{}", bytes.escape_ascii());
            }
        }
    }

    #[test]
    fn every_shape_has_its_events() {
        for shape in Shape::ALL {
            let body = shape.body(&["so ", "far"], &[&["{\"a\"", ": 1}"]]);
            let events = Events::of(&body);
            assert_eq!(whole(&body), body, "{shape:?}");
            assert_eq!(events.len() == 1, shape == Shape::ChatBody, "{shape:?}: {events:?}");
        }
    }

    #[test]
    fn line_ends_of_every_kind_end_an_event() {
        for end in ["\n", "\r\n", "\r"] {
            let body =
                format!("data: 1{end}{end}: x{end}event: a{end}data: 2{end}{end}{end}data: 3");
            let events = Events::of(body.as_bytes());
            assert_eq!(events.len(), 3, "{end:?}: {events:?}");
            assert_eq!(events.body_of(&[2]), b"data: 3");
        }
    }

    #[test]
    fn items_of_an_array_keep_their_separators() {
        let events = Events::of(b"[\n 1, \"a,]\\\"\" ,{\"b\": [2, 3]}\n]\n");
        let items: Vec<&[u8]> = events.iter().collect();
        assert_eq!(items, [&b"1"[..], b"\"a,]\\\"\"", b"{\"b\": [2, 3]}"]);
        assert_eq!(events.body_of(&[2]), b"[\n {\"b\": [2, 3]}\n]\n");
        assert_eq!(events.body_of(&[0, 0]), b"[\n 1, 1\n]\n");
        assert_eq!(Events::of(b"[1]").body_of(&[0, 0]), b"[1,1]");
        assert_eq!(whole(b"[]"), b"[]");
    }

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
