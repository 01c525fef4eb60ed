//! How much a client or a provider may ask of a gateway.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, de::Error};

use super::ConfigError;

/// The limits of a gateway. All are finite; `docs/limits.md` says what happens at each.
///
/// ```
/// use wiremend_proxy::Limits;
/// assert_eq!(Limits::new().with_held_bytes(1 << 20).held_bytes(), 1 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    #[serde(deserialize_with = "at_least_one")]
    connections: usize,
    #[serde(deserialize_with = "at_least_one")]
    open_answers: usize,
    head_bytes: usize,
    body_bytes: usize,
    held_bytes: usize,
    all_held_bytes: usize,
    head_seconds: u64,
    connect_seconds: u64,
    answer_seconds: u64,
    idle_seconds: u64,
    total_seconds: u64,
    drain_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 8192,
            open_answers: 8192,
            head_bytes: 64 << 10,
            body_bytes: 32 << 20,
            held_bytes: 8 << 20,
            all_held_bytes: 512 << 20,
            head_seconds: 30,
            connect_seconds: 10,
            answer_seconds: 600,
            idle_seconds: 300,
            total_seconds: 3600,
            drain_seconds: 30,
        }
    }
}

macro_rules! limits {
    ($($(#[$doc:meta])* $with:ident $name:ident: $type:ty,)*) => {
        $(
            #[doc = concat!("Sets [`", stringify!($name), "`](Self::", stringify!($name), ").")]
            #[must_use]
            pub const fn $with(mut self, value: $type) -> Self {
                self.$name = value;
                self
            }

            $(#[$doc])*
            #[must_use]
            pub const fn $name(&self) -> $type {
                self.$name
            }
        )*
    };
}

impl Limits {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    limits! {
        /// The number of connections of clients that are open at the same time. More wait.
        with_connections connections: usize,
        /// The number of requests that are answered at the same time. More get the status 503.
        with_open_answers open_answers: usize,
        /// The number of bytes of the head of a request, or of an answer of the provider.
        with_head_bytes head_bytes: usize,
        /// The number of bytes of a request with JSON, which is read as a whole. More get the status 413.
        with_body_bytes body_bytes: usize,
        /// The number of bytes of one answer that are held: of a body that was not streamed, or of events
        /// that wait until a call is certain. What is longer passes.
        with_held_bytes held_bytes: usize,
        /// The number of bytes of all requests and answers that are held. Beyond, requests with JSON get the
        /// status 503, and answers pass as they come.
        with_all_held_bytes all_held_bytes: usize,
        /// The time in which the head of a request arrives, and in which a connection is used again, in seconds.
        with_head_seconds head_seconds: u64,
        /// The time in which the provider accepts a connection, in seconds.
        with_connect_seconds connect_seconds: u64,
        /// The time in which the provider begins its answer, in seconds.
        with_answer_seconds answer_seconds: u64,
        /// The longest silence within a body, of the provider or of the client, and the longest time for
        /// which a client takes nothing, in seconds.
        with_idle_seconds idle_seconds: u64,
        /// The time for one answer, in seconds.
        with_total_seconds total_seconds: u64,
        /// The time for which answers go on after the gateway was asked to stop, in seconds.
        with_drain_seconds drain_seconds: u64,
    }

    /// With none of these, nobody is ever answered.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let each =
            [("limits.connections", self.connections), ("limits.open_answers", self.open_answers)];
        match each.iter().find(|(_, limit)| *limit == 0) {
            Some((name, _)) => Err(ConfigError::new(AT_LEAST_ONE).about(name)),
            None => Ok(()),
        }
    }

    pub(crate) const fn head(&self) -> Duration {
        seconds(self.head_seconds)
    }

    pub(crate) const fn connect(&self) -> Duration {
        seconds(self.connect_seconds)
    }

    pub(crate) const fn answer(&self) -> Duration {
        seconds(self.answer_seconds)
    }

    pub(crate) const fn idle(&self) -> Duration {
        seconds(self.idle_seconds)
    }

    pub(crate) const fn total(&self) -> Duration {
        seconds(self.total_seconds)
    }

    pub(crate) const fn drain(&self) -> Duration {
        seconds(self.drain_seconds)
    }
}

const AT_LEAST_ONE: &str = "it is at least 1";

fn at_least_one<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    match usize::deserialize(from)? {
        0 => Err(D::Error::custom(AT_LEAST_ONE)),
        limit => Ok(limit),
    }
}

/// A time that a clock can be moved by.
const fn seconds(given: u64) -> Duration {
    const LONGEST: u64 = 366 * 24 * 60 * 60;
    Duration::from_secs(if given > LONGEST { LONGEST } else { given })
}
