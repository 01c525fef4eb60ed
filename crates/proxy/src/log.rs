//! What is said while the gateway runs: when it starts and stops, which exchanges failed, and, if that is switched on,
//! every exchange.
//!
//! A line has names and values: `time=2026-01-31T12:00:00.250Z event=failed id=7 upstream=/openai reason=upstream-slow`.
//! The values are numbers, fixed words, what the settings say, and the name of the model. Nothing of a path, a query, a
//! header or a body is in it.

use std::{
    fmt::{self, Display, Write as _},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use wiremend_schema::date_time;

type Sink = dyn Fn(&str) + Send + Sync;

/// Where lines go, if they go anywhere.
#[derive(Clone, Default)]
pub(crate) struct Log(Option<Arc<Sink>>);

impl Log {
    pub(crate) fn new(sink: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(sink)))
    }

    /// Writes a line. What is empty is left out.
    pub(crate) fn line(&self, event: &str, values: &[(&str, &dyn Display)]) {
        let Some(sink) = &self.0 else { return };
        let mut line = format!("time={} event={event}", Time::now());
        for (name, value) in values {
            let value = value.to_string();
            if value.is_empty() {
                continue;
            }
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/,[]".contains(c);
            // Writing to a string does not fail.
            let _ = if value.chars().all(is_plain) {
                write!(line, " {name}={value}")
            } else {
                write!(line, " {name}={}", serde_json::Value::from(value))
            };
        }
        sink(&line);
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Log").field(&self.0.is_some()).finish()
    }
}

/// A time as RFC 3339 writes it.
struct Time {
    seconds: u64,
    millis: u32,
}

impl Time {
    fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { seconds: since.as_secs(), millis: since.subsec_millis() }
    }
}

impl Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seconds, millis } = self;
        write!(f, "{}.{millis:03}Z", date_time(*seconds))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_line_is_one_line_whatever_is_in_it() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&lines);
        let log = Log::new(move |line| into.lock().unwrap().push(line.to_owned()));
        log.line("failed", &[("id", &7), ("model", &"a b\n\"c\""), ("none", &"")]);
        let line = lines.lock().unwrap().pop().unwrap();
        assert!(line.starts_with("time=20"), "{line}");
        assert!(line.ends_with(r#"Z event=failed id=7 model="a b\n\"c\"""#), "{line}");
        Log::default().line("failed", &[]);
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, want) in [
            (0, "1970-01-01T00:00:00.007Z"),
            (951_782_399, "2000-02-28T23:59:59.007Z"),
            (951_782_400, "2000-02-29T00:00:00.007Z"),
            (1_735_689_599, "2024-12-31T23:59:59.007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.007Z"),
        ] {
            assert_eq!(Time { seconds, millis: 7 }.to_string(), want);
        }
    }
}
