//! What the headers of a request and of an answer say, and which of them change.

use core::fmt;
use std::borrow::Cow;

/// The lines of a head: names in any case, with their values.
#[derive(Clone, Debug)]
pub(crate) struct Head<'h>(Vec<(&'h str, &'h [u8])>);

impl<'h> Head<'h> {
    pub(crate) fn of(headers: impl IntoIterator<Item = (&'h str, &'h [u8])>) -> Self {
        Self(headers.into_iter().collect())
    }

    /// The values of a header, in their order.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        self.0
            .iter()
            .filter(move |(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| *value)
    }

    /// The names, in lower case, of the lines that are about what is mended.
    pub(crate) fn own(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter(|(name, _)| is_own(name)).map(|(name, _)| name.to_ascii_lowercase())
    }

    /// What kind of body there is.
    pub(crate) fn media(&self) -> Media {
        let Some(kind) = self.all("content-type").next() else { return Media::Unsaid };
        Media::of(text(kind).unwrap_or_default())
    }

    /// How the body is packed, if it is.
    pub(crate) fn coding(&self) -> Option<String> {
        let mut all: Vec<String> = Vec::new();
        for value in self.all("content-encoding") {
            // What cannot be read is no coding that anybody knows.
            let names = text(value).unwrap_or("?").split(',').map(str::trim);
            all.extend(names.map(str::to_ascii_lowercase));
        }
        all.retain(|name| !name.is_empty() && name != "identity");
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// Whether the body of a request is JSON that is read.
    pub(crate) fn is_read(&self, method: &str) -> bool {
        // What is packed is sent on unread, because the provider may be the only one that knows the coding.
        let is_plain = |coding: &[u8]| coding.eq_ignore_ascii_case(b"identity");
        method == "POST"
            && self.all("content-encoding").all(is_plain)
            // Clients that forget to say it send JSON.
            && matches!(self.media(), Media::Json | Media::Unsaid)
    }
}

/// Whether a header says what is mended, or what was: `x-wiremend`, or a name that begins with `x-wiremend-`. Only the two
/// sides of an exchange that is mended say so: neither a client nor a provider speaks for what stands between them.
///
/// ```
/// use wiremend_exchange::is_own;
/// assert!(is_own("X-Wiremend-Policy") && is_own("x-wiremend"));
/// assert!(!is_own("x-wiremender"));
/// ```
#[must_use]
pub fn is_own(name: &str) -> bool {
    const OWN: &str = "x-wiremend";
    let rest = name.get(..OWN.len()).filter(|start| start.eq_ignore_ascii_case(OWN));
    rest.is_some_and(|_| name.len() == OWN.len() || name[OWN.len()..].starts_with('-'))
}

/// The text that a value is.
pub(crate) fn text(value: &[u8]) -> Option<&str> {
    let visible = |byte: &u8| *byte == b'\t' || (b' '..=b'~').contains(byte);
    value.iter().all(visible).then(|| core::str::from_utf8(value).ok()).flatten()
}

/// A header that changes: its lines replace all lines of its name. Without lines, it is taken out, if it is there.
///
/// ```
/// use wiremend_exchange::{Exchanges, Mending};
///
/// let exchanges = Exchanges::new(Mending::new());
/// let switch = [("X-Wiremend-Policy", &b"exact"[..])];
/// let exchange = exchanges.request("POST", "/v1/chat/completions", switch)?.read(b"{}");
/// let edits = exchange.header_edits();
/// let lines = |name: &str| edits.iter().find(|edit| edit.name() == name).map(|edit| edit.lines().count());
/// assert_eq!(lines("x-wiremend-policy"), Some(0));
/// assert_eq!(lines("accept-encoding"), Some(1));
/// # Ok::<(), wiremend_exchange::BadSwitch>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct HeaderEdit {
    name: Cow<'static, str>,
    lines: Vec<Vec<u8>>,
}

impl HeaderEdit {
    pub(crate) fn removed(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), lines: Vec::new() }
    }

    pub(crate) fn set(name: &'static str, value: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), lines: vec![value.into()] }
    }

    pub(crate) fn lines_of(name: &'static str, lines: Vec<Vec<u8>>) -> Self {
        Self { name: name.into(), lines }
    }

    /// The name, in lower case.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The values that it has from now on.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().map(Vec::as_slice)
    }
}

impl fmt::Debug for HeaderEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<Cow<'_, str>> = self.lines().map(String::from_utf8_lossy).collect();
        write!(f, "{}: {lines:?}", self.name)
    }
}

/// What is no longer right for a body that may have changed, checksums and places in it among them.
pub(crate) const OF_A_BODY: [&str; 8] = [
    "content-length",
    "etag",
    "content-range",
    "accept-ranges",
    "content-md5",
    "digest",
    "content-digest",
    "repr-digest",
];

/// What kind of body a `Content-Type` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    /// One JSON value, or an array that is streamed.
    Json,
    /// Server-sent events.
    Events,
    /// Another form of stream, or text that may be one.
    Stream,
    /// It is not said.
    Unsaid,
    /// What carries no output of a model as text.
    Other,
}

impl Media {
    fn of(kind: &str) -> Self {
        let name = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match name.as_str() {
            "text/event-stream" => Self::Events,
            "application/json" | "text/json" => Self::Json,
            "application/x-ndjson"
            | "application/ndjson"
            | "application/jsonl"
            | "application/json-lines"
            | "application/x-json-stream"
            | "application/stream+json"
            | "application/vnd.amazon.eventstream"
            | "text/plain" => Self::Stream,
            name if name.ends_with("+json") => Self::Json,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head<'h>(rows: &[(&'h str, &'h str)]) -> Head<'h> {
        Head::of(rows.iter().map(|(name, value)| (*name, value.as_bytes())))
    }

    #[test]
    fn a_media_type_says_what_a_body_may_be() {
        for (kind, want) in [
            ("application/json; charset=utf-8", Media::Json),
            ("TEXT/JSON", Media::Json),
            ("application/problem+json", Media::Json),
            ("text/event-stream", Media::Events),
            ("text/plain", Media::Stream),
            ("application/octet-stream", Media::Other),
            ("text/html", Media::Other),
            ("", Media::Other),
            ("application/json; x=\u{e9}", Media::Other),
        ] {
            assert_eq!(head(&[("Content-Type", kind)]).media(), want, "{kind}");
        }
        assert_eq!(head(&[]).media(), Media::Unsaid);
    }

    #[test]
    fn a_request_is_read_if_it_may_be_json_and_is_not_packed() {
        for (rows, read) in [
            (&[][..], true),
            (&[("content-type", "application/json; charset=utf-8")], true),
            (&[("content-type", "text/json")], true),
            (
                &[("content-type", "application/vnd.api+json"), ("content-encoding", "Identity")],
                true,
            ),
            (&[("content-type", "application/json"), ("content-encoding", "gzip")], false),
            (&[("content-type", "multipart/form-data; boundary=b")], false),
            (&[("content-type", "application/octet-stream")], false),
        ] {
            assert_eq!(head(rows).is_read("POST"), read, "{rows:?}");
        }
        assert!(!head(&[("content-type", "application/json")]).is_read("PUT"));
    }

    #[test]
    fn every_coding_counts_but_the_one_that_packs_nothing() {
        for (rows, want) in [
            (&[][..], None),
            (&[("content-encoding", " Identity, ")], None),
            (&[("content-encoding", "GZIP")], Some("gzip")),
            (&[("content-encoding", "gzip"), ("Content-Encoding", "br")], Some("gzip, br")),
            (&[("content-encoding", "\u{e9}")], Some("?")),
        ] {
            assert_eq!(head(rows).coding().as_deref(), want, "{rows:?}");
        }
    }
}
