//! What is changed in the headers of requests and answers, and what is not.

use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response,
    header::{
        ACCEPT_ENCODING, ACCEPT_RANGES, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH,
        CONTENT_RANGE, CONTENT_TYPE, ETAG, EXPECT, HOST, IF_MODIFIED_SINCE, IF_NONE_MATCH,
        IF_RANGE, PROXY_AUTHORIZATION, RANGE, TE, TRANSFER_ENCODING, UPGRADE,
    },
};

/// Headers of one connection, whether or not `Connection` names them.
const OF_ONE_CONNECTION: [HeaderName; 5] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Checksums of a body that changes.
const CHECKSUMS: [&str; 4] = ["content-md5", "digest", "content-digest", "repr-digest"];

/// Removes what is only for one connection.
fn of_one_connection(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .filter_map(|name| name.trim().parse().ok())
        // What the gateway itself needs to read the message is not the client's to take away.
        .filter(|name| *name != HOST && *name != CONTENT_LENGTH && *name != CONTENT_TYPE)
        .collect();
    for name in named.iter().chain(&OF_ONE_CONNECTION) {
        headers.remove(name);
    }
}

/// Makes the headers of a client those of the request to the provider.
pub(crate) fn to_upstream(headers: &mut HeaderMap, authority: &str, mends: bool) {
    let trailers = headers.get(TE).and_then(|te| te.to_str().ok());
    let trailers = trailers
        .is_some_and(|te| te.split(',').any(|part| part.trim().eq_ignore_ascii_case("trailers")));
    of_one_connection(headers);
    for name in [TE, EXPECT, PROXY_AUTHORIZATION, HOST] {
        headers.remove(name);
    }
    if trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
    if let Ok(host) = HeaderValue::from_str(authority) {
        headers.insert(HOST, host);
    }
    if mends {
        // What is compressed, or a part of a body, cannot be read.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        for name in [RANGE, IF_RANGE, IF_NONE_MATCH, IF_MODIFIED_SINCE] {
            headers.remove(name);
        }
    }
}

/// Makes the headers of the provider those of the answer.
pub(crate) fn to_client(headers: &mut HeaderMap) {
    of_one_connection(headers);
    not_own(headers);
}

/// Removes what only the gateway says: neither a provider nor a client speaks for it, at the end of a body either.
pub(crate) fn not_own(headers: &mut HeaderMap) {
    let own: Vec<HeaderName> = headers.keys().filter(|name| is_own(name)).cloned().collect();
    for name in own {
        headers.remove(name);
    }
}

/// The bytes of a head: its first line, each header as `name: value`, and the empty line, all with the two
/// bytes of their ends.
fn head_bytes(first: usize, headers: &HeaderMap) -> usize {
    let header = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len() + 4;
    first + 2 + headers.iter().map(header).sum::<usize>() + 2
}

/// The bytes of the head of a request. Its target is a path, with a query.
pub(crate) fn head_of_request<B>(request: &Request<B>) -> usize {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    let first = request.method().as_str().len() + target + "  HTTP/1.1".len();
    head_bytes(first, request.headers())
}

/// The bytes of the head of an answer, without the words of its status.
pub(crate) fn head_of_answer<B>(answer: &Response<B>) -> usize {
    head_bytes("HTTP/1.1 200 ".len(), answer.headers())
}

/// Whether a header is one of the gateway itself.
pub(crate) fn is_own(name: &HeaderName) -> bool {
    name.as_str()
        .strip_prefix("x-wiremend")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Removes what is no longer right for a body that may have changed.
pub(crate) fn of_changed_body(headers: &mut HeaderMap) {
    for name in [CONTENT_LENGTH, ETAG, CONTENT_RANGE, ACCEPT_RANGES] {
        headers.remove(name);
    }
    for name in CHECKSUMS {
        headers.remove(name);
    }
}

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

pub(crate) fn media(headers: &HeaderMap) -> Media {
    let Some(kind) = headers.get(CONTENT_TYPE) else { return Media::Unsaid };
    let kind = kind.to_str().unwrap_or_default();
    let name = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match name.as_str() {
        "text/event-stream" => Media::Events,
        "application/json" | "text/json" => Media::Json,
        "application/x-ndjson"
        | "application/ndjson"
        | "application/jsonl"
        | "application/json-lines"
        | "application/x-json-stream"
        | "application/stream+json"
        | "application/vnd.amazon.eventstream"
        | "text/plain" => Media::Stream,
        name if name.ends_with("+json") => Media::Json,
        _ => Media::Other,
    }
}

/// Whether the body of a request is JSON that is read.
pub(crate) fn is_read(method: &Method, headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(CONTENT_ENCODING).iter();
    // What is packed is sent on unread, because the provider may be the only one that knows the coding.
    if *method != Method::POST
        || codings.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
    {
        return false;
    }
    // Clients that forget to say it send JSON.
    matches!(media(headers), Media::Json | Media::Unsaid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(rows: &[(&'static str, &'static str)]) -> HeaderMap {
        let row = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        rows.iter().map(row).collect()
    }

    #[test]
    fn only_what_must_change_changes() {
        let mut headers = map(&[
            ("host", "evil.example"),
            ("authorization", "Bearer k"),
            ("connection", "x-mine, host, content-length, close"),
            ("content-length", "2"),
            ("x-mine", "1"),
            ("te", "deflate, trailers"),
            ("proxy-authorization", "p"),
            ("accept-encoding", "gzip"),
            ("transfer-encoding", "chunked"),
            ("x-api-key", "k"),
        ]);
        to_upstream(&mut headers, "api.example:1", true);
        let want = map(&[
            ("authorization", "Bearer k"),
            ("content-length", "2"),
            ("te", "trailers"),
            ("host", "api.example:1"),
            ("accept-encoding", "identity"),
            ("x-api-key", "k"),
        ]);
        assert_eq!(headers, want);
        let mut headers = map(&[("accept-encoding", "gzip"), ("range", "bytes=0-1")]);
        to_upstream(&mut headers, "a", false);
        assert_eq!(
            headers,
            map(&[("accept-encoding", "gzip"), ("range", "bytes=0-1"), ("host", "a")])
        );
    }

    #[test]
    fn a_head_has_the_bytes_that_it_is_written_with() {
        let head = "POST /v1/x?k=1 HTTP/1.1\r\nhost: x\r\nx: 1\r\nx: 22\r\n\r\n";
        let request = Request::post("/v1/x?k=1").header("host", "x").header("x", "1");
        let request = request.header("x", "22").body(()).unwrap();
        assert_eq!(head_of_request(&request), head.len());
        let answer = Response::builder().header("x", "1").body(()).unwrap();
        assert_eq!(head_of_answer(&answer), "HTTP/1.1 200 \r\nx: 1\r\n\r\n".len());
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
        ] {
            assert_eq!(media(&map(&[("content-type", kind)])), want, "{kind}");
        }
        assert_eq!(media(&map(&[])), Media::Unsaid);
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
            assert_eq!(is_read(&Method::POST, &map(rows)), read, "{rows:?}");
        }
        assert!(!is_read(&Method::PUT, &map(&[("content-type", "application/json")])));
    }
}
