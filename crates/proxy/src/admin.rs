//! The pages for those who run a gateway: the live page, `/health`, `/ready`, `/metrics`, `/repairs`.

use std::sync::{Arc, LazyLock, atomic::Ordering};

use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE},
};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use rustls::{SupportedCipherSuite, crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256};

use crate::{hosts, live::Feed, shared::Shared};

const PLAIN: &str = "text/plain; charset=utf-8";

/// Answers a request to the admin port.
pub(crate) fn answer(
    shared: &Arc<Shared>,
    request: &Request<Incoming>,
) -> Response<Either<Full<Bytes>, Feed>> {
    let page = |status, text: &'static str| (status, PLAIN, Either::Left(Full::from(text)));
    let host = hosts::host(request);
    let (status, kind, body) = if host.is_err() || request.uri().authority().is_some() {
        page(StatusCode::BAD_REQUEST, "a request has one Host that can be read, and a path\n")
    } else if host.is_ok_and(|host| host.is_some_and(|host| !hosts::is_own(&host))) {
        // A page of another site, whose name was made to point here, cannot read what is on this port.
        page(StatusCode::FORBIDDEN, "Host is neither an address nor localhost\n")
    } else if *request.method() != Method::GET && *request.method() != Method::HEAD {
        page(StatusCode::METHOD_NOT_ALLOWED, "GET only\n")
    } else {
        match request.uri().path() {
            "/" => (StatusCode::OK, "text/html; charset=utf-8", Either::Left(Full::from(PAGE))),
            "/live" if is_foreign(request) => {
                page(StatusCode::FORBIDDEN, "this stream is for its own page only\n")
            }
            "/live" => match shared.live.reader() {
                Some(reader) => {
                    let feed = Feed::new(Arc::clone(shared), reader);
                    (StatusCode::OK, "text/event-stream", Either::Right(feed))
                }
                None => page(StatusCode::SERVICE_UNAVAILABLE, "too many pages are open\n"),
            },
            "/health" => page(StatusCode::OK, "ok\n"),
            "/ready" if shared.draining.load(Ordering::Relaxed) => {
                page(StatusCode::SERVICE_UNAVAILABLE, "stopping\n")
            }
            "/ready" if shared.open.available_permits() == 0 => {
                page(StatusCode::SERVICE_UNAVAILABLE, "busy\n")
            }
            "/ready" => page(StatusCode::OK, "ready\n"),
            "/metrics" => {
                let text = shared.metrics.render();
                let kind = "text/plain; version=0.0.4; charset=utf-8";
                (StatusCode::OK, kind, Either::Left(Full::from(text)))
            }
            "/repairs" => {
                let text = shared.recent.list();
                (StatusCode::OK, "application/json", Either::Left(Full::from(text)))
            }
            _ => page(StatusCode::NOT_FOUND, "/ /live /health /ready /metrics /repairs\n"),
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONTENT_SECURITY_POLICY, POLICY.clone());
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Whether a browser says that another site asks. It could not read the stream, but it could occupy every place.
fn is_foreign(request: &Request<Incoming>) -> bool {
    let site = request.headers().get("sec-fetch-site");
    site.is_some_and(|site| site != "same-origin" && site != "none")
}

const STYLE: &str = include_str!("admin/page.css");
const SCRIPT: &str = include_str!("admin/page.js");

/// The page.
const PAGE: &str = concat!(
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<style>",
    include_str!("admin/page.css"),
    "</style>\n",
    include_str!("admin/page.html"),
    "<script>",
    include_str!("admin/page.js"),
    "</script>\n</html>\n",
);

/// Allows the page its own style and script, requests to its own port, and nothing else. No text can become
/// a script or an element: there is no sink that the browser would accept it in.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
         trusted-types 'none'",
        hash(SCRIPT),
        hash(STYLE)
    );
    HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
});

/// The hash of a text, as a policy names it.
fn hash(text: &str) -> String {
    // A hash is needed nowhere else, so the one of the TLS library is used.
    let digest = match TLS13_AES_128_GCM_SHA256 {
        SupportedCipherSuite::Tls13(suite) => suite.common.hash_provider.hash(text.as_bytes()),
        SupportedCipherSuite::Tls12(suite) => suite.common.hash_provider.hash(text.as_bytes()),
    };
    format!("sha256-{}", base64(digest.as_ref()))
}

fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let number = three.iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
        let number = number << (8 * (3 - three.len()));
        for place in 0..4 {
            let sign = SIGNS[(number >> (18 - 6 * place)) as usize & 63];
            out.push(if place > three.len() { '=' } else { char::from(sign) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_standards() {
        // FIPS 180-4 and RFC 4648 have these.
        assert_eq!(hash("abc"), "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
        for (text, encoded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
    }

    #[test]
    fn the_page_is_one_file_and_puts_text_into_no_markup() {
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            let own = PAGE.replace("http://www.w3.org/2000/svg", "");
            assert!(!own.contains(outside), "{outside} is in the page");
        }
        for sink in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!PAGE.contains(sink), "{sink} is in the page");
        }
        assert_eq!(PAGE.matches("</script").count(), 1);
        assert_eq!(PAGE.matches("</style").count(), 1);
    }
}
