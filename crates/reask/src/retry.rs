//! When a call that failed is made again.

use core::time::Duration;

use crate::{Failure, FailureClass};

/// How calls that failed are repeated: with exponential backoff.
///
/// This is about the transport, not about answers: it knows nothing of a [`Reask`](crate::Reask), and can
/// be used without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    base: Duration,
    cap: Duration,
    jitter: u32,
    retries: u32,
    rate_limited: u32,
    longest: Duration,
}

impl RetryPolicy {
    /// The defaults. Each method states its own.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            base: Duration::from_secs(1),
            cap: Duration::from_secs(30),
            jitter: 25,
            retries: 4,
            rate_limited: 6,
            longest: Duration::from_secs(120),
        }
    }

    /// Sets the first delay. Each further one is twice as long.
    ///
    /// ### Default
    /// 1 s.
    #[must_use]
    pub const fn with_base(mut self, base: Duration) -> Self {
        self.base = base;
        self
    }

    /// Sets the longest delay, jitter included.
    ///
    /// ### Default
    /// 30 s.
    #[must_use]
    pub const fn with_cap(mut self, cap: Duration) -> Self {
        self.cap = cap;
        self
    }

    /// Sets by how many percent a delay may be shorter or longer, at most 100, so that many clients do
    /// not come back at once.
    ///
    /// ### Default
    /// 25.
    #[must_use]
    pub const fn with_jitter(mut self, percent: u32) -> Self {
        self.jitter = if percent > 100 { 100 } else { percent };
        self
    }

    /// Sets how many times a call is repeated after a transient failure that is not a rate limit.
    ///
    /// ### Default
    /// 4.
    #[must_use]
    pub const fn with_retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Sets how many times a call is repeated after [`FailureClass::RateLimited`]. These do not count as
    /// [retries](Self::with_retries), because waiting is what the provider asks for.
    ///
    /// ### Default
    /// 6.
    #[must_use]
    pub const fn with_rate_limited(mut self, retries: u32) -> Self {
        self.rate_limited = retries;
        self
    }

    /// Sets the longest `Retry-After` that is honoured. If the provider asks for more, the call is not
    /// repeated, because an earlier one would be refused again.
    ///
    /// ### Default
    /// 120 s.
    #[must_use]
    pub const fn with_longest_wait(mut self, longest: Duration) -> Self {
        self.longest = longest;
        self
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::new()
    }
}

/// Decides whether and when a failed call is made again. One for each call, or
/// [`reset`](Self::reset) after each answer.
///
/// The random numbers for the jitter come from the seed.
///
/// ```
/// use wiremend_reask::{Failure, Retry, RetryPolicy};
/// use core::time::Duration;
///
/// let mut retry = Retry::new(RetryPolicy::new().with_jitter(0), 1);
/// let busy = Failure::status(503, "");
/// let delays: Vec<_> = std::iter::from_fn(|| retry.after(&busy)).map(|d| d.as_secs()).collect();
/// assert_eq!(delays, [1, 2, 4, 8]);
///
/// let mut retry = Retry::new(RetryPolicy::new(), 1);
/// let limited = Failure::status(429, "").with_retry_after(Duration::from_millis(1234));
/// assert_eq!(retry.after(&limited), Some(Duration::from_millis(1234)));
/// assert_eq!(retry.after(&Failure::aborted()), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    policy: RetryPolicy,
    random: u64,
    failed: u32,
    limited: u32,
}

impl Retry {
    /// Creates the decider for a call.
    #[must_use]
    pub const fn new(policy: RetryPolicy, seed: u64) -> Self {
        Self { policy, random: seed, failed: 0, limited: 0 }
    }

    /// How long to wait before the call is made again; `None` if it is not. What is aborted, or would
    /// fail again, is not repeated.
    pub fn after(&mut self, failure: &Failure) -> Option<Duration> {
        let class = failure.class();
        if !class.is_transient() {
            return None;
        }
        let (count, most) = if class == FailureClass::RateLimited {
            (&mut self.limited, self.policy.rate_limited)
        } else {
            (&mut self.failed, self.policy.retries)
        };
        if *count >= most {
            return None;
        }
        *count += 1;
        // To be asked to wait for no time at all is no reason to call again without a pause.
        let asked = failure.retry_after().filter(|asked| !asked.is_zero());
        let Some(asked) = asked else { return Some(self.delay()) };
        (asked <= self.policy.longest).then_some(asked)
    }

    /// How many times the call was repeated.
    #[must_use]
    pub const fn retries(&self) -> u32 {
        self.failed.saturating_add(self.limited)
    }

    /// Starts again, after an answer.
    pub const fn reset(&mut self) {
        (self.failed, self.limited) = (0, 0);
    }

    fn delay(&mut self) -> Duration {
        let RetryPolicy { base, cap, jitter, .. } = self.policy;
        let doublings = self.retries().saturating_sub(1).min(31);
        let plain = base.saturating_mul(1 << doublings).min(cap);
        // From 100 - jitter to 100 + jitter percent, in steps of a hundredth of a percent.
        let steps = u64::from(jitter) * 200;
        let drawn = if steps == 0 { 0 } else { self.bits() % (steps + 1) };
        let share = 10_000 - u64::from(jitter) * 100 + drawn;
        let nanos = plain.as_nanos().saturating_mul(u128::from(share)) / 10_000;
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)).min(cap)
    }

    /// splitmix64
    const fn bits(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Reads the header `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date in any of the three forms of section
/// 5.6.7, which is compared with the header `Date` of the same reply, because no clock is read here. Some providers
/// send fractions of a second, which are read as well. More seconds than a [`Duration`] can hold are the most that it
/// can.
///
/// ```
/// use wiremend_reask::retry_after;
/// use core::time::Duration;
///
/// assert_eq!(retry_after("7", None), Some(Duration::from_secs(7)));
/// let date = "Wed, 21 Oct 2026 07:28:00 GMT";
/// let wait = retry_after("Wed, 21 Oct 2026 07:29:30 GMT", Some(date));
/// assert_eq!(wait, Some(Duration::from_secs(90)));
/// assert_eq!(retry_after("soon", Some(date)), None);
/// ```
#[must_use]
pub fn retry_after(value: &str, date: Option<&str>) -> Option<Duration> {
    let value = value.trim();
    if value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && let Ok(seconds) = value.parse::<f64>()
    {
        return Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let (at, now) = (httpdate::parse_http_date(value), httpdate::parse_http_date(date?.trim()));
    Some(at.ok()?.duration_since(now.ok()?).unwrap_or_default())
}
