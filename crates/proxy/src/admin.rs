//! The pages for those who run a gateway: `/health`, `/ready`, `/metrics`, `/repairs`.

use std::sync::{Arc, atomic::Ordering};

use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, HOST},
    uri::Authority,
};
use http_body_util::Full;
use hyper::body::Incoming;

use crate::shared::Shared;

/// Answers a request to the admin port.
pub(crate) fn answer(shared: &Arc<Shared>, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let plain = "text/plain; charset=utf-8";
    let (status, kind, text) = if !is_direct(request) {
        (StatusCode::FORBIDDEN, plain, "this page is for its own address only\n".to_owned())
    } else if *request.method() != Method::GET && *request.method() != Method::HEAD {
        (StatusCode::METHOD_NOT_ALLOWED, plain, "GET only\n".to_owned())
    } else {
        match request.uri().path() {
            "/health" => (StatusCode::OK, plain, "ok\n".to_owned()),
            "/ready" if shared.draining.load(Ordering::Relaxed) => {
                (StatusCode::SERVICE_UNAVAILABLE, plain, "stopping\n".to_owned())
            }
            "/ready" if shared.open.available_permits() == 0 => {
                (StatusCode::SERVICE_UNAVAILABLE, plain, "busy\n".to_owned())
            }
            "/ready" => (StatusCode::OK, plain, "ready\n".to_owned()),
            "/metrics" => (
                StatusCode::OK,
                "text/plain; version=0.0.4; charset=utf-8",
                shared.metrics.render(),
            ),
            "/repairs" => (StatusCode::OK, "application/json", shared.recent.list().to_string()),
            _ => (StatusCode::NOT_FOUND, plain, "/health /ready /metrics /repairs\n".to_owned()),
        }
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    response
}

/// Whether the request names the port by an address, or as `localhost`. A page of another site, whose name
/// was made to point here, cannot read what is on this one.
fn is_direct(request: &Request<Incoming>) -> bool {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let host = host.and_then(|host| host.parse::<Authority>().ok());
    host.is_none_or(|host| {
        let name = host.host().trim_matches(['[', ']']);
        name == "localhost" || name.parse::<std::net::IpAddr>().is_ok()
    })
}
