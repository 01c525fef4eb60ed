//! One request and its answer, or why the gateway answers itself.

use std::{
    borrow::Cow,
    collections::{BTreeMap, VecDeque},
    error::Error,
    fmt::Display,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, Version,
    header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING},
    response::Parts,
};
use http_body::Body as _;
use http_body_util::{BodyExt, Either, Full};
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout, timeout_at};
use wiremend_exchange::{Answer, Asked, BadSwitch, Exchange, Misfit, Treatment};
use wiremend_reask::{Ask, Failure, Native, Reask, ReaskOptions, Shape, Step};
use wiremend_response::ResponseOptions;
use wiremend_wire::{ApiFormat, FinishReason};

use crate::{
    config::Upstream,
    headers, hosts,
    live::name_shown,
    recent::About,
    relay::{Ended, Passing, QUIET, Relay, Work, aside},
    shared::{Held, Outgoing, Providers, Shared},
    timed::{BoxError, Timed, Waits, is_late},
    unpacked::{Packing, Unpacked},
};

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
    Ok(passed_on(&sent, parts, Timed::new(body, idle, end), passing).await)
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

// What becomes of the answer of a provider.

const OVERHEAD: HeaderName = HeaderName::from_static("x-wiremend-overhead-us");

/// Makes an answer for the client.
async fn passed_on(sent: &Sent, parts: Parts, body: Timed, passing: Passing) -> Reply {
    let mut parts = parts;
    let mut answer = begin(sent, &parts);
    let packing = answer.coding().and_then(|coding| Packing::of(coding, &passing.shared));
    let coding = packing.as_ref().map(Packing::code);
    coding.iter().for_each(|coding| answer.unpack(coding));
    // That of the provider is none of the client's: in an answer of HTTP/1.0, a body that breaks off would look whole.
    parts.version = Version::HTTP_11;
    headers::of_one_connection(&mut parts.headers);
    let body = Unpacked::new(body, packing);
    let relay = match answer.treatment() {
        Treatment::Stream => stream(sent, &mut parts, answer, passing, Some(body)),
        // Apart, so that a stream has no room for it.
        Treatment::Whole => {
            Box::pin(whole(sent, &mut parts, (answer, coding), body, passing)).await
        }
        _ => {
            headers::change(&mut parts.headers, &answer.header_edits());
            Relay::new(Some(body), passing)
        }
    };
    Response::from_parts(parts, Either::Left(relay))
}

/// What mends an answer with this head.
fn begin(sent: &Sent, parts: &Parts) -> Box<Answer> {
    Box::new(sent.exchange.answer(parts.status.as_u16(), headers::lines(&parts.headers)))
}

/// Mends a body while it passes.
fn stream(
    sent: &Sent,
    parts: &mut Parts,
    answer: Box<Answer>,
    mut passing: Passing,
    body: Option<Unpacked>,
) -> Relay {
    headers::change(&mut parts.headers, &answer.header_edits());
    took(parts, sent.overhead);
    passing.work = Some(Box::new(Work::new(answer, sent.overhead, &passing)));
    Relay::new(body, passing)
}

/// Reads a body, and mends it as a whole.
async fn whole(
    sent: &Sent,
    parts: &mut Parts,
    (mut answer, coding): (Box<Answer>, Option<&'static str>),
    mut body: Unpacked,
    mut passing: Passing,
) -> Relay {
    let mut held = passing.shared.held();
    let limits = passing.shared.config.limits();
    let (limit, patience) = (limits.held_bytes(), limits.idle() / QUIET);
    let Read { chunks, end } = Read::of(&mut body, limit, patience, &mut held).await;
    let (body, failed) = match end {
        End::Whole(trailers) => {
            let again = || {
                let mut answer = begin(sent, parts);
                coding.iter().for_each(|coding| answer.unpack(coding));
                answer
            };
            let work = Work::new(answer, sent.overhead, &passing);
            let (mut work, mut mended) = rewritten(&chunks, work).await;
            let misfits = work.answer.take_misfits();
            if let (Some(ask), false) = (&sent.again, misfits.is_empty()) {
                let format = work.answer.account().format();
                let exchange = &sent.exchange;
                let (values, asked) =
                    ask.ask(&passing.shared, exchange, format, &misfits, sent.end).await;
                if !values.is_empty() {
                    let mut answer = again();
                    answer.say(values);
                    let second = Work::new(answer, work.overhead, &passing);
                    (work, mended) = rewritten(&chunks, second).await;
                }
                work.answer.note_asked(asked);
                passing.shared.metrics.count(
                    "wiremend_reask_requests_total",
                    &[],
                    asked.requests().into(),
                );
            }
            headers::change(&mut parts.headers, &work.answer.header_edits());
            took(parts, work.overhead);
            if trailers.is_some() {
                // In HTTP/1.1, only a body in chunks has trailers.
                parts.headers.remove(CONTENT_LENGTH);
            }
            passing.done = Some(work.into_done());
            return Relay::new(None, passing).with_ready(mended, None).with_trailers(trailers);
        }
        End::Failed(error) => (None, Some(error)),
        End::Long | End::Slow => (Some(body), None),
    };
    answer.begin_stream();
    stream(sent, parts, answer, passing, body).with_ready(chunks, failed)
}

/// Mends a body as a whole.
async fn rewritten(chunks: &VecDeque<Bytes>, mut work: Work) -> (Work, VecDeque<Bytes>) {
    let length = chunks.iter().map(Bytes::len).sum();
    let chunks = chunks.clone();
    aside(length, move || {
        let mut mended = VecDeque::new();
        for chunk in &chunks {
            work.push(chunk);
            mended.extend(work.take());
        }
        work.finish();
        mended.extend(work.take());
        (work, mended)
    })
    .await
}

/// Says how long the gateway itself took.
fn took(parts: &mut Parts, overhead: Duration) {
    let micros = HeaderValue::from_str(&overhead.as_micros().to_string());
    micros.into_iter().for_each(|micros| drop(parts.headers.insert(OVERHEAD, micros)));
}

/// A body of an answer, as far as it was read.
struct Read {
    chunks: VecDeque<Bytes>,
    end: End,
}

/// Why no more was read.
enum End {
    Whole(Trailers),
    Failed(BoxError),
    /// It is longer than what may be held.
    Long,
    /// Nothing but white space has come, which keeps the connection alive, and no more for a while.
    Slow,
}

impl Read {
    /// Reads up to `limit` bytes. After white space it waits no longer than `patience` for each further piece.
    async fn of(body: &mut Unpacked, limit: usize, patience: Duration, held: &mut Held) -> Self {
        let (mut chunks, mut length, mut blank) = (VecDeque::<Bytes>::new(), 0, true);
        let end = loop {
            let frame = match body.frame() {
                next if blank && length > 0 => match timeout(patience, next).await {
                    Ok(frame) => frame,
                    Err(_) => break End::Slow,
                },
                next => next.await,
            };
            let frame = match frame {
                None => break End::Whole(None),
                Some(Err(error)) => break End::Failed(error),
                Some(Ok(frame)) => frame,
            };
            match frame.into_data() {
                Ok(chunk) => {
                    length += chunk.len();
                    blank &= chunk.trim_ascii().is_empty();
                    chunks.push_back(chunk);
                    if length > limit || !held.set(length) {
                        break End::Long;
                    }
                }
                Err(frame) => break End::Whole(frame.into_trailers().ok()),
            }
        };
        Self { chunks, end }
    }
}

/// The trailers of a body that was read as a whole.
type Trailers = Option<HeaderMap>;

// Asks the model again for arguments that cannot be made to fit their schema.
//
// Only for a body that was not streamed, of which nothing has left yet. The request is that of the client, with
// its own key, and a question at its end.

/// A request that may be made again.
struct Again {
    providers: Arc<Providers>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
    /// The room of its body.
    _held: Option<Held>,
}

impl Again {
    fn new(
        providers: &Arc<Providers>,
        uri: Uri,
        headers: HeaderMap,
        body: Bytes,
        held: Option<Held>,
    ) -> Self {
        Self { providers: Arc::clone(providers), uri, headers, body, _held: held }
    }

    /// Asks for the arguments of these calls. Returns those that came, by the number of the call.
    async fn ask(
        &self,
        shared: &Arc<Shared>,
        exchange: &Exchange,
        format: Option<ApiFormat>,
        misfits: &[Misfit],
        end: Instant,
    ) -> (BTreeMap<usize, String>, Asked) {
        let (mut values, mut asked) = (BTreeMap::new(), Asked::default());
        let shape = match format {
            Some(ApiFormat::OpenAiChat) => Shape::OpenAiChat,
            Some(ApiFormat::Anthropic) => Shape::Anthropic,
            Some(ApiFormat::Gemini) => Shape::Gemini,
            _ => return (values, asked),
        };
        let Ok(request) = serde_json::from_slice::<Value>(&self.body) else {
            return (values, asked);
        };
        let settings = shared.config.reask();
        let began = Instant::now();
        let end = end.min(began + settings.time());
        for misfit in misfits {
            let Some((name, schema, fit)) = exchange.tool(misfit.tool()) else { continue };
            let left = settings.attempts().saturating_sub(asked.requests());
            let tokens = settings.tokens().saturating_sub(asked.tokens());
            if left == 0 || tokens == 0 {
                break;
            }
            let options = ReaskOptions::for_tool(name)
                .with_fit(fit)
                .with_attempts(left)
                .with_deadline(end - began)
                .with_token_budget(tokens);
            let mut reask = Reask::new(schema, options);
            let mut first = wiremend_reask::Answer::arguments(misfit.raw());
            first = first.with_finish(FinishReason::ToolCalls);
            let mut step = reask.answer(&first, began.elapsed());
            while let Step::Ask(ask) = &step {
                if asked.requests() >= settings.attempts() {
                    break;
                }
                let Some(body) = question(&request, shape, ask, name) else { break };
                asked.request();
                let reply = timeout_at(end, self.send(shared, exchange, body, end)).await;
                let reply = reply.unwrap_or_else(|_| Err(Failure::timed_out("")));
                step = match reply {
                    Ok(body) => {
                        let response =
                            wiremend_response::Response::read(&body, ResponseOptions::new());
                        response.transcript().usage().iter().for_each(|usage| asked.count(usage));
                        let answer = wiremend_reask::Answer::read(&response, ask.tool());
                        reask.answer(&answer, began.elapsed())
                    }
                    Err(failure) => reask.failed(failure, began.elapsed()),
                };
            }
            if let Step::Done(done) = step {
                values.insert(misfit.number(), done.json().to_owned());
            }
        }
        (values, asked)
    }

    /// Makes the request with another body, and reads the answer.
    async fn send(
        &self,
        shared: &Arc<Shared>,
        exchange: &Exchange,
        body: String,
        end: Instant,
    ) -> Result<Vec<u8>, Failure> {
        let failed = || Failure::network("");
        let mut request = Request::new(());
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = Full::new(Bytes::from(body)).map_err(|never| match never {}).boxed_unsync();
        let request = request.map(|()| body);
        let response = self.providers.request(request).await.map_err(|_| failed())?;
        let status = response.status();
        let limits = shared.config.limits();
        let mut held = shared.held();
        let (parts, body) = response.into_parts();
        let answer = exchange.answer(status.as_u16(), headers::lines(&parts.headers));
        let packing = answer.coding().map(|coding| Packing::of(coding, shared).ok_or_else(failed));
        let packing = packing.transpose()?;
        let mut body = Unpacked::new(Timed::new(body, limits.idle(), end), packing);
        let Read { chunks, end } =
            Read::of(&mut body, limits.held_bytes(), Duration::MAX, &mut held).await;
        if !matches!(end, End::Whole(_)) {
            return Err(failed());
        }
        let chunks: Vec<&[u8]> = chunks.iter().map(Bytes::as_ref).collect();
        let body = chunks.concat();
        if !status.is_success() {
            return Err(Failure::status(status.as_u16(), String::from_utf8_lossy(&body)));
        }
        Ok(body)
    }
}

/// The request of the client with a question at its end. It must be answered by a call of the tool.
fn question(request: &Value, shape: Shape, ask: &Ask, tool: &str) -> Option<String> {
    let mut request = request.clone();
    let turns = if shape == Shape::Gemini { "contents" } else { "messages" };
    request.get_mut(turns)?.as_array_mut()?.extend(ask.messages(shape));
    let snake = request.get("tool_config").is_some();
    let members = request.as_object_mut()?;
    let tools = members.get_mut("tools")?;
    let declared = entry(tools, tool)?;
    let made = Native::tool(ask.schema(), shape, tool, "");
    let mut made = made.value().clone();
    keep(declared, &mut made);
    *declared = made;
    let (key, choice) = match shape {
        Shape::Anthropic => {
            // It refuses to be forced while it thinks.
            let thinks = members.get("thinking").is_some_and(|how| how["type"] != "disabled");
            let kind = if thinks {
                json!({"type": "auto"})
            } else {
                json!({"type": "tool", "name": tool})
            };
            ("tool_choice", kind)
        }
        Shape::Gemini => (
            if snake { "tool_config" } else { "toolConfig" },
            json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [tool]}}),
        ),
        _ => ("tool_choice", json!({"type": "function", "function": {"name": tool}})),
    };
    members.insert(key.to_owned(), choice);
    // One answer is enough.
    members.remove("n");
    if let Some(temperature) = ask.temperature() {
        // Some models take none, so only where the client sends one.
        let place = match shape {
            Shape::Gemini => members.get_mut("generationConfig").and_then(Value::as_object_mut),
            _ => Some(members),
        };
        if let Some(own) = place.and_then(|place| place.get_mut("temperature")) {
            *own = json!(temperature);
        }
    }
    Some(request.to_string())
}

/// The declaration of a tool, in the nesting of any provider.
fn entry<'v>(tools: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    for declared in tools.as_array_mut()? {
        let own = declared.get("name").or_else(|| declared.pointer("/function/name"));
        if own.is_some_and(|own| own == name) {
            return Some(declared);
        }
        for list in ["functionDeclarations", "function_declarations"] {
            if declared.get(list).is_some() {
                if let Some(found) = declared.get_mut(list).and_then(|list| entry(list, name)) {
                    return Some(found);
                }
                break;
            }
        }
    }
    None
}

/// Keeps what the client says about the tool, besides its schema. Not every server knows `strict`.
fn keep(declared: &Value, made: &mut Value) {
    let (from, to) = match made.get_mut("function") {
        Some(function) => (&declared["function"], function),
        None => (declared, made),
    };
    if let (Some(from), Some(to)) = (from.as_object(), to.as_object_mut()) {
        if from.get("strict") != Some(&Value::Bool(true)) {
            to.remove("strict");
        }
        match from.get("description") {
            Some(own) => to.insert("description".to_owned(), own.clone()),
            None => to.remove("description"),
        };
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
