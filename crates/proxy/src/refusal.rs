//! The answers that come from the gateway itself.

use std::borrow::Cow;

use http::{HeaderName, HeaderValue, Response, StatusCode, header::CONTENT_TYPE};
use serde_json::json;
use wiremend_exchange::BadSwitch;

use crate::{config::Upstream, shared::Shared};

/// Why the gateway answers itself. None says anything of what the request holds but the name of one of the gateway's own
/// headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    BadCoding,
    BadHost,
    BadSwitch(BadSwitch),
    BadTarget,
    BodyTooLarge,
    ClientGone,
    ClientSlow,
    HeadTooLarge,
    HostNotAllowed,
    NoUpstream,
    NotAllowed,
    TooBusy,
    UpstreamFailed,
    UpstreamNotEncrypted,
    UpstreamSlow,
    UpstreamUnreachable,
}

/// The header that says so.
pub(crate) const ERROR: HeaderName = HeaderName::from_static("x-wiremend-error");

impl Refusal {
    pub(crate) const fn code(&self) -> &'static str {
        self.row().1
    }

    const fn row(&self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Self::BadCoding => {
                (StatusCode::NOT_IMPLEMENTED, "bad-coding", "the only transfer coding is chunked")
            }
            Self::BadHost => (
                StatusCode::BAD_REQUEST,
                "bad-host",
                "a request has one header Host, with the name or the address of the gateway",
            ),
            Self::BadSwitch(_) => (
                StatusCode::BAD_REQUEST,
                "bad-switch",
                "an X-Wiremend header, or its value, is not known, or it is there twice",
            ),
            Self::BadTarget => (
                StatusCode::BAD_REQUEST,
                "bad-target",
                "the target of a request is a path, without a host and without dot segments",
            ),
            Self::BodyTooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "body-too-large",
                "the body of the request is too large",
            ),
            Self::ClientGone => {
                (StatusCode::BAD_REQUEST, "client-gone", "the body of the request was cut off")
            }
            Self::ClientSlow => (
                StatusCode::REQUEST_TIMEOUT,
                "client-slow",
                "the body of the request did not arrive",
            ),
            Self::HeadTooLarge => (
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "head-too-large",
                "the head of the request is too large",
            ),
            Self::HostNotAllowed => (
                StatusCode::FORBIDDEN,
                "host-not-allowed",
                "Host is neither an address nor localhost, and the setting `hosts` does not have it",
            ),
            Self::NoUpstream => {
                (StatusCode::NOT_FOUND, "no-upstream", "no upstream is configured for this path")
            }
            Self::NotAllowed => {
                (StatusCode::METHOD_NOT_ALLOWED, "not-allowed", "this method is not forwarded")
            }
            Self::TooBusy => (
                StatusCode::SERVICE_UNAVAILABLE,
                "too-busy",
                "too many requests are being answered, or too much is held for them",
            ),
            Self::UpstreamFailed => (
                StatusCode::BAD_GATEWAY,
                "upstream-failed",
                "the provider sent no answer that can be read",
            ),
            Self::UpstreamNotEncrypted => (
                StatusCode::BAD_GATEWAY,
                "upstream-not-encrypted",
                "the connection to the provider cannot be encrypted, or its certificate is not trusted",
            ),
            Self::UpstreamSlow => (
                StatusCode::GATEWAY_TIMEOUT,
                "upstream-slow",
                "the provider did not begin its answer in time",
            ),
            Self::UpstreamUnreachable => {
                (StatusCode::BAD_GATEWAY, "upstream-unreachable", "the provider cannot be reached")
            }
        }
    }

    /// The answer, in the shape of an error of OpenAI, which most clients can show.
    pub(crate) fn answer(&self, shared: &Shared) -> Response<String> {
        let (status, code, message) = self.row();
        let message = match self {
            Self::BadSwitch(switch) => Cow::Owned(format!("{message}: {switch}")),
            Self::NoUpstream => {
                let prefixes: Vec<&str> = shared.upstreams.iter().map(Upstream::prefix).collect();
                Cow::Owned(format!("{message}: it begins with {}", prefixes.join(" or ")))
            }
            _ => Cow::Borrowed(message),
        };
        let body = json!({"error": {"message": format!("wiremend: {message}"), "type": "wiremend", "code": code}});
        let mut answer = Response::new(body.to_string());
        *answer.status_mut() = status;
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ERROR, HeaderValue::from_static(code));
        // What is left of the body of this request is not read as another one.
        headers.insert(http::header::CONNECTION, HeaderValue::from_static("close"));
        answer
    }
}
