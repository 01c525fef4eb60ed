//! The pages for those who run a gateway: the live page, `/health`, `/ready`, `/metrics`, `/repairs`.

use std::sync::{Arc, atomic::Ordering};

use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE},
};
use http_body_util::{Either, Full};
use hyper::body::Incoming;

use crate::{
    hosts,
    live::{Feed, PAGE, POLICY},
    shared::Shared,
};

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
