//! What is changed in the headers of requests and answers, and what is not.

use http::{
    HeaderMap, HeaderName, HeaderValue, Request, Response,
    header::{
        ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST,
        PROXY_AUTHORIZATION, TE, TRANSFER_ENCODING, UPGRADE,
    },
};
use wiremend_exchange::{HeaderEdit, is_own};

/// Headers of one connection, whether or not `Connection` names them.
const OF_ONE_CONNECTION: [HeaderName; 5] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    TRANSFER_ENCODING,
    UPGRADE,
];

/// The lines of a head.
pub(crate) fn lines(headers: &HeaderMap) -> impl Iterator<Item = (&str, &[u8])> {
    headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
}

/// Changes a head.
pub(crate) fn change(headers: &mut HeaderMap, edits: &[HeaderEdit]) {
    for edit in edits {
        let Ok(name) = HeaderName::from_bytes(edit.name().as_bytes()) else { continue };
        headers.remove(&name);
        for line in edit.lines().filter_map(|line| HeaderValue::from_bytes(line).ok()) {
            headers.append(&name, line);
        }
    }
}

/// Removes what is only for one connection.
pub(crate) fn of_one_connection(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .filter_map(|name| name.trim().parse().ok())
        // What the gateway itself needs to read the message is not the client's to take away.
        .filter(|name| ![HOST, ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE].contains(name))
        .collect();
    for name in named.iter().chain(&OF_ONE_CONNECTION) {
        headers.remove(name);
    }
}

/// Makes the headers of a client those of the request to the provider.
pub(crate) fn to_upstream(headers: &mut HeaderMap, authority: &str) {
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
}

/// Removes what only the gateway says: neither a provider nor a client speaks for it, at the end of a body either.
pub(crate) fn not_own(headers: &mut HeaderMap) {
    let own: Vec<HeaderName> =
        headers.keys().filter(|name| is_own(name.as_str())).cloned().collect();
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
        to_upstream(&mut headers, "api.example:1");
        let want = map(&[
            ("authorization", "Bearer k"),
            ("content-length", "2"),
            ("te", "trailers"),
            ("host", "api.example:1"),
            ("accept-encoding", "gzip"),
            ("x-api-key", "k"),
        ]);
        assert_eq!(headers, want);
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
}
