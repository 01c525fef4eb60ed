//! One thing that goes wrong.

use std::{fmt, str::FromStr};

use super::ScenarioError;

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
    pub(super) fn reorder(self, order: &mut Vec<usize>) {
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
