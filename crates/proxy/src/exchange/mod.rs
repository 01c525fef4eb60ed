//! One request and its answer, or why the gateway answers itself.

mod again;
mod answer;

use std::{
    borrow::Cow,
    error::Error,
    fmt::Display,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bytes::Bytes;
use http::{
    HeaderName, HeaderValue, Method, Request, Response, StatusCode, Version,
    header::{CONNECTION, CONTENT_TYPE, TRANSFER_ENCODING},
};
use http_body::Body as _;
use http_body_util::{BodyExt as _, Either, Full};
use hyper::body::Incoming;
use serde_json::json;
use tokio::time::{Instant, timeout};
use wiremend_exchange::{BadSwitch, Exchange};

use crate::{
    config::Upstream,
    headers, hosts,
    live::name_shown,
    recent::About,
    relay::{Ended, Passing, Relay, aside},
    shared::{Held, Outgoing, Providers, Shared},
    timed::{Timed, Waits, is_late},
};
use again::Again;

/// The body of an answer: from upstream, or from the gateway itself.
pub(crate) type Reply = Response<Either<Relay, Full<Bytes>>>;

/// A request on its way to the provider.
struct Sent {
    exchange: Exchange,
    /// The time that was spent on reading it.
    overhead: Duration,
    /// The room of its body, until the answer begins.
    held: Option<Held>,
    /// The same request, if the model may be asked again.
    again: Option<Again>,
    /// When everything must be over.
    end: Instant,
}

/// Answers one request. Dropped when the client leaves.
pub(crate) async fn answer(
    shared: Arc<Shared>,
    providers: Arc<Providers>,
    waits: Waits,
    request: Request<Incoming>,
) -> Reply {
    // A request with both lengths is read by one of them. So nothing that follows it is read as a request.
    let closes = request.headers().contains_key(TRANSFER_ENCODING);
    // What it takes to begin an answer is given back then: the connection keeps only this future while a stream passes.
    let mut answer = match Box::pin(forward(&shared, &providers, waits, request)).await {
        Ok(answer) => answer,
        Err((refusal, upstream)) => {
            shared.metrics.count("wiremend_errors_total", &[("code", refusal.code())], 1);
            shared.live.refused();
            let answer = refusal.answer(&shared);
            let status = answer.status();
            let labels = [("upstream", upstream.as_str()), ("status", status.as_str())];
            shared.metrics.count("wiremend_requests_total", &labels, 1);
            let said: [(&str, &dyn Display); 3] = [
                ("upstream", &upstream),
                ("status", &status.as_u16()),
                ("reason", &refusal.code()),
            ];
            shared.log.line("failed", &said);
            answer.map(|body| Either::Right(Full::from(body)))
        }
    };
    if closes {
        answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    answer
}

async fn forward(
    shared: &Arc<Shared>,
    providers: &Arc<Providers>,
    waits: Waits,
    request: Request<Incoming>,
) -> Result<Reply, (Refusal, String)> {
    let began = Instant::now();
    let (number, path) = route(shared, &request).map_err(|refusal| (refusal, String::new()))?;
    let upstream = &shared.upstreams[number];
    let named = |refusal| (refusal, upstream.prefix().to_owned());
    let permit = Arc::clone(&shared.open).try_acquire_owned();
    let permit = permit.map_err(|_| named(Refusal::TooBusy))?;
    shared.metrics.open_answers.add(1);
    let watched = shared.live.begin(upstream.prefix());
    let mut passing = Passing {
        shared: Arc::clone(shared),
        about: About {
            id: watched.id(),
            upstream: upstream.prefix().to_owned(),
            ..About::default()
        },
        watched,
        began,
        first: None,
        work: None,
        done: None,
        waits,
        ended: Ended::Open,
        _permit: permit,
    };
    let end = began + shared.config.limits().total();
    let sent = send(shared, providers, (number, path), request, end).await;
    let refused = |mut passing: Passing, refusal| {
        passing.ended = Ended::Refused;
        named(refusal)
    };
    let (mut sent, request) = match sent {
        Ok(sent) => sent,
        Err(refusal) => return Err(refused(passing, refusal)),
    };
    // It is kept for each of the last answers, and a client may send any name.
    passing.about.model = name_shown(sent.exchange.model().unwrap_or_default());
    passing.watched.asks(&passing.about.model);
    let fixed = sent.exchange.history();
    passing.about.fixed = fixed;
    for (outcome, calls) in [("mended", fixed.mended()), ("replaced", fixed.replaced())] {
        if calls > 0 {
            let labels = [("outcome", outcome)];
            shared.metrics.count("wiremend_history_calls_total", &labels, calls as u64);
        }
    }
    let patience = shared.config.limits().answer().min(end - Instant::now());
    let response = match timeout(patience, providers.request(request)).await {
        Err(_) => Err(Refusal::UpstreamSlow),
        // What went wrong may hold the target, and so a key in its query. It is not repeated.
        Ok(Err(error)) if is_of_encryption(&error) => Err(Refusal::UpstreamNotEncrypted),
        Ok(Err(error)) if error.is_connect() => Err(Refusal::UpstreamUnreachable),
        Ok(Err(_)) => Err(Refusal::UpstreamFailed),
        // No other protocol was asked for. A client that took it for one would read what follows as something else.
        Ok(Ok(response)) if response.status().is_informational() => Err(Refusal::UpstreamFailed),
        Ok(Ok(response)) if headers::head_of_answer(&response) > shared.longest_head() => {
            Err(Refusal::UpstreamFailed)
        }
        Ok(Ok(response)) => Ok(response),
    };
    let response = match response {
        Ok(response) => response,
        Err(refusal) => return Err(refused(passing, refusal)),
    };
    sent.held = None;
    let status = response.status();
    passing.about.status = status.as_u16();
    passing.watched.answers(status.as_u16());
    let labels = [("upstream", upstream.prefix()), ("status", status.as_str())];
    shared.metrics.count("wiremend_requests_total", &labels, 1);
    let idle = shared.config.limits().idle();
    let (parts, body) = response.into_parts();
    Ok(answer::answer(&sent, parts, Timed::new(body, idle, end), passing).await)
}

/// Whether a connection failed because it cannot be encrypted.
fn is_of_encryption(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.is::<rustls::Error>() {
            return true;
        }
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = inner.map_or_else(|| error.source(), |inner| Some(inner));
    }
    false
}

/// Where a request goes: the number of its upstream, and the rest of its path.
fn route(shared: &Shared, request: &Request<Incoming>) -> Result<(usize, String), Refusal> {
    // What came in one piece was parsed, however long it is.
    if headers::head_of_request(request) > shared.longest_head() {
        return Err(Refusal::HeadTooLarge);
    }
    let host = hosts::host(request).map_err(|()| Refusal::BadHost)?;
    if *request.method() == Method::CONNECT {
        return Err(Refusal::NotAllowed);
    }
    let uri = request.uri();
    // The host is configured: a client cannot choose one, neither in the target nor in `Host`.
    if uri.authority().is_some() || !uri.path().starts_with('/') || has_dots(uri.path()) {
        return Err(Refusal::BadTarget);
    }
    let mut codings = request.headers().get_all(TRANSFER_ENCODING).iter();
    if codings.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"chunked")) {
        return Err(Refusal::BadCoding);
    }
    let found =
        shared.upstreams.iter().enumerate().find_map(|(number, upstream): (usize, &Upstream)| {
            upstream.rest(uri.path()).map(|rest| (number, rest.to_owned()))
        });
    // The upstream gets its own name in `Host`, so it can no longer see who was asked for. Where only this machine should
    // reach it, that is checked here.
    let guarded = shared.on_loopback.load(Ordering::Relaxed)
        || found.as_ref().is_some_and(|(number, _)| shared.upstreams[*number].is_local());
    if guarded && host.is_some_and(|host| !shared.config.hosts().allow(&host)) {
        return Err(Refusal::HostNotAllowed);
    }
    found.ok_or(Refusal::NoUpstream)
}

/// Whether a path has segments that lead upwards, which could leave the path of the upstream.
pub(crate) fn has_dots(path: &str) -> bool {
    path.split(['/', '\\']).any(|segment| {
        let plain = segment
            .to_ascii_lowercase()
            .replace("%2e", ".")
            .replace("%2f", "/")
            .replace("%5c", "/");
        plain.split('/').any(|part| part == "." || part == "..")
    })
}

/// Reads what must be read of a request, and makes the one for the provider.
async fn send(
    shared: &Arc<Shared>,
    providers: &Arc<Providers>,
    (number, path): (usize, String),
    request: Request<Incoming>,
    end: Instant,
) -> Result<(Sent, Request<Outgoing>), Refusal> {
    let upstream = &shared.upstreams[number];
    let (mut parts, body) = request.into_parts();
    let lines = headers::lines(&parts.headers);
    let begun = shared.exchanges[number].request(parts.method.as_str(), parts.uri.path(), lines);
    let begun = begun.map_err(Refusal::BadSwitch)?;
    let body = Timed::new(body, shared.config.limits().idle(), end);
    let mut overhead = Duration::ZERO;
    let mut held = None;
    let mut text_sent = None;
    let (exchange, body): (Exchange, Outgoing) = if begun.reads_body() {
        let (text, room) = read(shared, body).await?;
        held = Some(room);
        let began = Instant::now();
        let came = text.clone();
        let mut exchange = aside(text.len(), move || begun.read(&came)).await;
        let text = exchange.take_body().map_or(text, Bytes::from);
        overhead = began.elapsed();
        parts.headers.remove(TRANSFER_ENCODING);
        text_sent = Some(text.clone());
        (exchange, Full::new(text).map_err(|never| match never {}).boxed_unsync())
    } else {
        (begun.pass(), body.boxed_unsync())
    };
    headers::change(&mut parts.headers, exchange.header_edits());
    let chunked = parts.headers.contains_key(TRANSFER_ENCODING);
    headers::to_upstream(&mut parts.headers, upstream.authority());
    if chunked {
        // Some methods would go without a body otherwise.
        parts.headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    let query = parts.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let target = upstream.target(&path, &query).ok_or(Refusal::BadTarget)?;
    let mut request = Request::new(body);
    *request.method_mut() = parts.method;
    *request.uri_mut() = target;
    *request.version_mut() = Version::HTTP_11;
    *request.headers_mut() = parts.headers;
    let may_ask = shared.config.reask().attempts() > 0 && exchange.may_ask_again();
    let again = text_sent.filter(|_| may_ask).map(|text| {
        let headers = request.headers().clone();
        Again::new(providers, request.uri().clone(), headers, text, held.take())
    });
    Ok((Sent { exchange, overhead, held, again, end }, request))
}

/// Reads the body of a request, and says how much it holds.
async fn read(shared: &Arc<Shared>, body: Timed) -> Result<(Bytes, Held), Refusal> {
    let limit = shared.config.limits().body_bytes();
    let mut held = shared.held();
    let mut body = std::pin::pin!(body);
    if body.size_hint().lower() > limit as u64 {
        return Err(Refusal::BodyTooLarge);
    }
    let most =
        body.size_hint().upper().map_or(limit, |length| usize::try_from(length).unwrap_or(limit));
    let mut read = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            if is_late(&error) { Refusal::ClientSlow } else { Refusal::ClientGone }
        })?;
        let Ok(chunk) = frame.into_data() else { continue };
        if read.len() + chunk.len() > limit {
            return Err(Refusal::BodyTooLarge);
        }
        make_room(&mut read, chunk.len(), most.min(limit));
        read.extend_from_slice(&chunk);
        // What it takes, also where it is not filled.
        if !held.set(read.capacity()) {
            return Err(Refusal::TooBusy);
        }
    }
    Ok((read.into(), held))
}

/// Makes room for more bytes: half as much again as there are, so that few are copied, but for no more than `most` bytes in
/// all. A client may say that many will come, and send none, so it is not made at once.
fn make_room(read: &mut Vec<u8>, more: usize, most: usize) {
    let wanted = read.len() + more;
    if wanted > read.capacity() {
        let roomy = (wanted + wanted / 2).min(most.max(wanted));
        read.reserve_exact(roomy - read.len());
    }
}

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
const ERROR: HeaderName = HeaderName::from_static("x-wiremend-error");

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

#[cfg(test)]
mod tests {
    use super::*;

    /// What a function returns takes so many bytes.
    const fn size<'s, F>(
        _: fn(&'s Arc<Shared>, &'s Arc<Providers>, Waits, Request<Incoming>) -> F,
    ) -> usize {
        size_of::<F>()
    }

    /// The room of a request is given back when its answer begins, in the middle of what a stream keeps. What is large
    /// there stays resident.
    #[test]
    fn a_request_and_a_stream_that_waits_take_little_room() {
        assert!(size(forward) <= 4096, "a request takes {} bytes", size(forward));
        assert!(size_of::<Relay>() <= 1024, "a body takes {} bytes", size_of::<Relay>());
    }

    #[test]
    fn segments_that_lead_upwards_are_found_however_they_are_written() {
        for path in
            ["/..", "/a/../b", "/a/%2e%2E/b", "/a/.%2e", "/a/b\\..\\c", "/./a", "/a%2f..%2fb"]
        {
            assert!(has_dots(path), "{path}");
        }
        for path in ["/", "/v1/a.b/..c/d..", "/models/x:y", "/%2etc"] {
            assert!(!has_dots(path), "{path}");
        }
    }

    /// However long a body is, and in whatever pieces it comes, it takes no more room than it may have bytes.
    #[test]
    fn a_request_takes_no_more_room_than_its_limit() {
        let most = 1 << 20;
        for (piece, length) in [(1000, most), (16 << 10, most), (most, most), (1000, most / 2 + 1)]
        {
            let (mut read, mut copied) = (Vec::new(), 0);
            for _ in 0..length / piece {
                let before = read.capacity();
                make_room(&mut read, piece, most);
                copied += if read.capacity() == before { 0 } else { read.len() };
                read.resize(read.len() + piece, 0);
                assert!(read.capacity() <= most.min(read.len() + read.len() / 2), "{piece}");
            }
            assert!(copied <= 3 * length, "{copied} bytes were copied for {length}");
        }
    }
}
