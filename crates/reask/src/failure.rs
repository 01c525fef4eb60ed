//! Calls that brought no answer: what that means, by the status and by the words of the provider, and when a call is
//! made again.
//!
//! What a provider refuses is recognised by the names and words in its message, wherever in the body that is.

use core::{fmt, time::Duration};
use std::sync::LazyLock;

use serde_json::Value;

use crate::prompt::start_of;

/// How much of a body is kept, in bytes: as much as a model writes, which the body may contain.
const KEPT: usize = 1 << 20;

/// A call that brought no answer: the connection failed, or the provider replied with an error.
///
/// ```
/// use wiremend_reask::{Failure, FailureClass};
///
/// let busy = Failure::status(503, "upstream connect error");
/// assert_eq!(busy.class(), FailureClass::Overloaded);
/// let body = r#"{"error": {"message": "'response_format' of type 'json_schema' is not supported with this model"}}"#;
/// assert_eq!(Failure::status(400, body).class(), FailureClass::ModeRefused);
/// // The word JSON in the body of a gateway says nothing about what the model supports.
/// assert_eq!(Failure::status(524, "Expected JSON response").class(), FailureClass::Overloaded);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    status: Option<u16>,
    body: String,
    kind: Kind,
    retry_after: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Aborted,
    Network,
    Status,
    TimedOut,
}

/// What a [`Failure`] means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureClass {
    /// The caller gave up. Nothing is tried again.
    Aborted,
    /// The provider could not use what the model wrote, and returned it: an answer to repair.
    FailedGeneration,
    /// The provider refuses the [`Mode`](crate::Mode) of the request, for this model or for this schema.
    ModeRefused,
    /// The connection failed.
    Network,
    /// The server is overloaded or broken: the same request may succeed later.
    Overloaded,
    /// There were too many requests.
    RateLimited,
    /// The request is wrong, or not allowed. The same request will fail again.
    Refused,
    /// The provider refuses a temperature for this model.
    TemperatureRefused,
    /// There was no answer in time.
    TimedOut,
}

impl FailureClass {
    /// All classes, in alphabetical order.
    pub const ALL: &'static [Self] = &[
        Self::Aborted,
        Self::FailedGeneration,
        Self::ModeRefused,
        Self::Network,
        Self::Overloaded,
        Self::RateLimited,
        Self::Refused,
        Self::TemperatureRefused,
        Self::TimedOut,
    ];

    /// The stable kebab-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Aborted => "aborted",
            Self::FailedGeneration => "failed-generation",
            Self::ModeRefused => "mode-refused",
            Self::Network => "network",
            Self::Overloaded => "overloaded",
            Self::RateLimited => "rate-limited",
            Self::Refused => "refused",
            Self::TemperatureRefused => "temperature-refused",
            Self::TimedOut => "timed-out",
        }
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::Network | Self::Overloaded | Self::RateLimited | Self::TimedOut)
    }
}

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Failure {
    /// The provider replied with that HTTP status and body. Of the body, the first MiB is kept.
    #[must_use]
    pub fn status(status: u16, body: impl Into<String>) -> Self {
        Self { status: Some(status), ..Self::of(Kind::Status, body) }
    }

    /// The connection failed.
    #[must_use]
    pub fn network(message: impl Into<String>) -> Self {
        Self::of(Kind::Network, message)
    }

    /// There was no answer in time.
    #[must_use]
    pub fn timed_out(message: impl Into<String>) -> Self {
        Self::of(Kind::TimedOut, message)
    }

    /// The caller gave up.
    #[must_use]
    pub fn aborted() -> Self {
        Self::of(Kind::Aborted, "aborted")
    }

    fn of(kind: Kind, body: impl Into<String>) -> Self {
        let mut body = body.into();
        body.truncate(start_of(&body, KEPT).len());
        Self { status: None, body, kind, retry_after: None }
    }

    /// Sets how long the provider asks to wait. [`retry_after`](crate::retry_after) reads the header.
    #[must_use]
    pub const fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// The HTTP status, if there was a reply.
    #[must_use]
    pub const fn http_status(&self) -> Option<u16> {
        self.status
    }

    /// The body or the message.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// How long the provider asks to wait.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// The text of the model that the provider could not use (`failed_generation` of Groq).
    ///
    /// ```
    /// use wiremend_reask::Failure;
    /// let body = r#"{"error": {"code": "json_validate_failed", "failed_generation": "{n: 1"}}"#;
    /// assert_eq!(Failure::status(400, body).failed_generation().as_deref(), Some("{n: 1"));
    /// ```
    #[must_use]
    pub fn failed_generation(&self) -> Option<String> {
        let text = self.error_member("failed_generation")?;
        Some(text).filter(|text| !text.trim().is_empty() && self.kind == Kind::Status)
    }

    /// What it means.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        match self.kind {
            Kind::Aborted => return FailureClass::Aborted,
            Kind::Network => return FailureClass::Network,
            Kind::TimedOut => return FailureClass::TimedOut,
            Kind::Status => {}
        }
        if self.failed_generation().is_some() {
            return FailureClass::FailedGeneration;
        }
        let code = self.error_member("code").or_else(|| self.error_member("type"));
        let code = code.unwrap_or_default().to_ascii_lowercase();
        match self.status.unwrap_or_default() {
            408 | 425 => FailureClass::TimedOut,
            // A quota that is used up is not restored by waiting a few seconds.
            429 if code == "insufficient_quota" => FailureClass::Refused,
            429 => FailureClass::RateLimited,
            500.. => FailureClass::Overloaded,
            400 | 404 | 415 | 422 => self.refusal(),
            _ => FailureClass::Refused,
        }
    }

    /// What a request was refused for.
    fn refusal(&self) -> FailureClass {
        refused(&self.message(), &self.error_member("param").unwrap_or_default())
    }

    /// Whether the mode was refused because of the schema, which says nothing about the model.
    pub(crate) fn is_about_schema(&self) -> bool {
        is_about_schema(&self.message())
    }

    /// The message of the provider, without what is around it: some providers repeat the request there.
    fn message(&self) -> String {
        let said = serde_json::from_str(&self.body).map(|body| said(&body)).unwrap_or_default();
        if said.is_empty() { self.body.clone() } else { said }
    }

    /// A member of the error in the body, in any of the usual forms.
    fn error_member(&self, name: &str) -> Option<String> {
        let body: Value = serde_json::from_str(&self.body).ok()?;
        // Gemini puts the object into a list.
        let body = body.get(0).unwrap_or(&body);
        let found = body.get("error").and_then(|error| error.get(name)).or_else(|| body.get(name));
        match found? {
            Value::String(text) => Some(text.clone()),
            other @ (Value::Object(_) | Value::Array(_)) => Some(other.to_string()),
            _ => None,
        }
    }
}

/// The class, and the first 200 characters of the body.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.class())?;
        if let Some(status) = self.status {
            write!(f, " (status {status})")?;
        }
        let end = self.body.char_indices().nth(200).map_or(self.body.len(), |(at, _)| at);
        write!(f, ": {}", self.body.get(..end).unwrap_or_default())
    }
}

impl std::error::Error for Failure {}

/// The names and words by which a refusal is recognised. What each list is says the file.
struct Refusals {
    names: Vec<&'static str>,
    modes: Vec<&'static str>,
    alone: Vec<&'static str>,
    refused: Vec<&'static str>,
    wrong: Vec<&'static str>,
    content: Vec<&'static str>,
    temperature: Vec<&'static str>,
}

static REFUSALS: LazyLock<Refusals> = LazyLock::new(|| Refusals {
    names: listed("names"),
    modes: listed("modes"),
    alone: listed("alone"),
    refused: listed("refused"),
    wrong: listed("wrong"),
    content: listed("content"),
    temperature: listed("temperature"),
});

/// The list of that name in the file.
fn listed(name: &str) -> Vec<&'static str> {
    let lists = include_str!("../data/refusals.txt").split("\n[");
    let mut named = lists.filter_map(|list| list.strip_prefix(name)?.strip_prefix("]\n"));
    let lines = named.next().unwrap_or_default().lines();
    lines.filter_map(|line| line.strip_prefix('"')?.strip_suffix('"')).collect()
}

/// Said of the messages, and a refusal of the mode all the same.
const OF_JSON: &str = "'json' in some form";

/// What an error with these words refuses. `param` is the parameter that it names.
fn refused(message: &str, param: &str) -> FailureClass {
    let text = own_words(message);
    let param = param.to_ascii_lowercase().replace("text.format", "response_format");
    if is_content(&param) && !text.contains(OF_JSON) {
        return FailureClass::Refused;
    }
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_refusal = |text: &str| has(text, &REFUSALS.refused) || has(text, &REFUSALS.wrong);
    let mut sentences = text.lines().flat_map(|line| line.split(". "));
    if REFUSALS.names.iter().any(|name| param.starts_with(name))
        || has(&text, &REFUSALS.names) && is_refusal(&text)
        || has(&text, &REFUSALS.alone)
        || sentences.clone().any(|own| has(own, &REFUSALS.modes) && has(own, &REFUSALS.refused))
    {
        return FailureClass::ModeRefused;
    }
    let is_temperature = |own: &str| {
        own.contains("temperature") && (is_refusal(own) || has(own, &REFUSALS.temperature))
    };
    if param == "temperature" || sentences.any(is_temperature) {
        return FailureClass::TemperatureRefused;
    }
    FailureClass::Refused
}

/// Whether the words say that a mode was refused because of the schema, which says nothing about the model.
fn is_about_schema(message: &str) -> bool {
    let text = own_words(message);
    let words = [
        "invalid schema",
        "schema is too",
        "schema exceeds",
        "schema contains",
        "schema produces",
        "schema for",
        "schema fields",
        "too many states",
        "grammar is too large",
        "failed to parse grammar",
        // A place in a schema that is refused.
        "input_schema",
        "toolspec/inputschema",
        "function_declarations[",
        "_schema.properties",
    ];
    words.iter().any(|words| text.contains(words))
}

/// Whether a place in a request is in the text of its messages, as in `messages[0].content` or `contents.0.parts`.
fn is_content(place: &str) -> bool {
    let name = place.split(['.', '[', '/', ':']).next().unwrap_or_default();
    REFUSALS.content.contains(&name.trim())
}

/// Whether a line of an error begins with such a place, or is nothing else.
fn is_about_content(line: &str) -> bool {
    let line = line.trim_start_matches("* ");
    let place = line.split([' ', ':']).next().unwrap_or_default();
    let is_place = place.contains(['.', '['])
        || line.get(place.len()..).is_some_and(|rest| rest.starts_with(':'));
    is_place && is_content(place.strip_prefix("generatecontentrequest.").unwrap_or(place))
}

/// What an error says in the members that providers use for that, and nothing of what was sent.
fn said(body: &Value) -> String {
    let mut text = String::new();
    gather(body, 0, &mut text);
    text
}

fn gather(value: &Value, depth: usize, text: &mut String) {
    const SAID: [&str; 14] = [
        "error",
        "errors",
        "detail",
        "details",
        "message",
        "msg",
        "reason",
        "description",
        "title",
        "metadata",
        "raw",
        "loc",
        "cause",
        "error_description",
    ];
    /// An error of a provider in that of a gateway in that of another one.
    const DEEPEST: usize = 8;
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::Object(members) => {
            let place = members.get("loc").and_then(Value::as_array).into_iter().flatten();
            if let Some(content) = place.filter_map(Value::as_str).find(|own| is_content(own)) {
                text.push_str(content);
                text.push_str(":\n");
                return;
            }
            for name in SAID {
                members.get(name).into_iter().for_each(|said| gather(said, depth + 1, text));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, depth + 1, text)),
        Value::String(said) => match serde_json::from_str(said) {
            Ok(inner @ (Value::Object(_) | Value::Array(_))) => gather(&inner, depth + 1, text),
            _ => {
                text.push_str(said);
                text.push('\n');
            }
        },
        _ => {}
    }
}

/// The text of an error, in lower case, without what it quotes of the request: the input of a validator in Python, and
/// quotes of more than two words, unless they are the message of another error.
fn own_words(text: &str) -> String {
    /// How much is read, in bytes. What is longer than that repeats the request.
    const READ: usize = 16 << 10;
    let text = start_of(text, READ).to_ascii_lowercase();
    // A list of errors as Python shows it.
    let text = text.split("'input':").next().unwrap_or_default();
    let mut own = String::with_capacity(text.len());
    // An error of pydantic on several lines: the place, and then what is wrong there, which is indented.
    let mut of_content = false;
    for line in text.lines() {
        of_content = is_about_content(line) || of_content && line.starts_with(' ');
        if of_content && !line.contains(OF_JSON) {
            continue;
        }
        // An error of pydantic on one line: the value, and then its type.
        let (before, after) = line.split_once("input_value=").unwrap_or((line, ""));
        own.push_str(&unquoted(before));
        own.push_str(after.rsplit_once(", input_type").map_or("", |(_, after)| after));
        own.push('\n');
    }
    own
}

fn unquoted(line: &str) -> String {
    let mut own = String::with_capacity(line.len());
    let mut rest = line;
    // Marks after which no quote ends any more.
    let mut endless = String::new();
    while let Some(at) = rest.find(['\'', '"', '`']) {
        let (before, quoted) = rest.split_at_checked(at).unwrap_or((rest, ""));
        own.push_str(before);
        let quote = quoted.chars().next().unwrap_or_default();
        let inside = quoted.get(1..).unwrap_or_default();
        // An apostrophe in a word begins no quote.
        let begins = !own.ends_with(char::is_alphanumeric);
        let may_end = begins && !endless.contains(quote);
        let length = if may_end { end_of_quote(inside, quote) } else { None };
        if may_end && length.is_none() {
            endless.push(quote);
        }
        let words = length.and_then(|length| inside.get(..length)).unwrap_or_default();
        let is_text = words.split_whitespace().nth(2).is_some();
        match length {
            Some(length) if is_text && !is_message(&own) => {
                own.push_str("\"\"");
                rest = inside.get(length + 1..).unwrap_or_default();
            }
            // A name, which is kept with its quotes.
            Some(length) if !is_text => {
                own.push_str(quoted.get(..length + 2).unwrap_or_default());
                rest = inside.get(length + 1..).unwrap_or_default();
            }
            // A message, in which something may be quoted; or no quote at all.
            _ => {
                own.push(quote);
                rest = inside;
            }
        }
    }
    own.push_str(rest);
    own
}

/// Where a quote ends: at the first mark that is not escaped, with no letter after it.
fn end_of_quote(inside: &str, quote: char) -> Option<usize> {
    let mut ends = inside.match_indices(quote).map(|(at, _)| at);
    ends.find(|at| {
        let after = inside.get(at + 1..).and_then(|rest| rest.chars().next());
        let is_escaped = inside.get(..*at).is_some_and(|before| before.ends_with('\\'));
        !is_escaped && !after.is_some_and(char::is_alphanumeric)
    })
}

/// Whether a quote after this text is the message of an error.
fn is_message(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\\', '"', '\'', '{', '(', '[', '-']);
    let Some(name) = before.strip_suffix([':', '=']) else { return before.is_empty() };
    let name = name.trim_end_matches(['"', '\'', '\\', ' ']);
    ["message", "msg", "error", "detail", "reason", "description", "raw"]
        .iter()
        .any(|known| name.ends_with(known))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_messages_are_kept_and_other_quotes_are_not() {
        for (text, own) in [
            ("the value 'json_schema' isn't known", "the value 'json_schema' isn't known"),
            ("invalid content: \"reply in json mode\".", "invalid content: \"\"."),
            ("got 'it's what you should do', which", "got \"\", which"),
            ("error: \"json mode isn't available\"", "error: \"json mode isn't available\""),
            ("{'message': 'the key \"a b c\" is bad'}", "{'message': 'the key \"\" is bad'}"),
            ("an open 'quote without an end", "an open 'quote without an end"),
            ("[type=x, input_value='a b c d', input_type=str]", "[type=x, =str]"),
            ("a 'input': b\nc", "a "),
        ] {
            assert_eq!(own_words(text).trim_end_matches('\n'), own, "{text}");
        }
    }
}
