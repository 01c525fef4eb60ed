//! What becomes of the answer of a provider.

use std::collections::VecDeque;

use bytes::Bytes;
use http::{
    HeaderName, HeaderValue, Method, Response, StatusCode, Version,
    header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE},
    response::Parts,
};
use http_body_util::Either;
use wiremend_core::{MendOptions, Policy};
use wiremend_extract::Dialect;
use wiremend_response::TextCalls;
use wiremend_wire::{RewriteMode, RewriteOptions, RewriteOutcome, WireLimits, WireOptions};

use super::{
    Answer, Sent,
    incoming::{End, Read},
};
use crate::{
    account::Account,
    aside::aside,
    config::{CallsInText, Content, CutCalls, Mode},
    fitting::{self, FitNotes},
    headers::{self, Media, media},
    relay::{Passing, QUIET, Relay, Work},
    timed::Timed,
    unpacked::{Packing, Unpacked},
};

const ACCOUNT: HeaderName = HeaderName::from_static("x-wiremend");
const HISTORY: HeaderName = HeaderName::from_static("x-wiremend-request");
const OVERHEAD: HeaderName = HeaderName::from_static("x-wiremend-overhead-us");

/// What is done with a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Treatment {
    /// It passes as it comes.
    Pass,
    /// The same, because it is compressed in a way that is not unpacked.
    Encoded,
    /// It is mended while it passes.
    Stream,
    /// It is mended as a whole, so that the head says what was done.
    Whole,
}

/// Makes an answer for the client.
pub(super) async fn answer(sent: &Sent, parts: Parts, body: Timed, mut passing: Passing) -> Answer {
    let mut parts = parts;
    let (treatment, packing) = match treatment(sent, &parts) {
        Treatment::Pass => (Treatment::Pass, None),
        reads => match Packing::of(&parts.headers, &passing.shared) {
            Ok(packing) => (reads, packing),
            Err(()) => (Treatment::Encoded, None),
        },
    };
    // That of the provider is none of the client's: in an answer of HTTP/1.0, a body that breaks off would look whole.
    parts.version = Version::HTTP_11;
    headers::to_client(&mut parts.headers);
    if let Some(packing) = &packing {
        parts.headers.remove(CONTENT_ENCODING);
        headers::of_changed_body(&mut parts.headers);
        passing.unpacked = Some(packing.code());
    }
    let fixed = sent.asked.fixed;
    if fixed.is_any() {
        let line = format!("history; mended={}; replaced={}", fixed.mended, fixed.replaced);
        set(&mut parts, HISTORY, &line);
    }
    let body = Unpacked::new(body, packing);
    let relay = match treatment {
        Treatment::Pass => {
            set(&mut parts, ACCOUNT, "untouched");
            Relay::new(Some(body), passing)
        }
        Treatment::Encoded => {
            set(&mut parts, ACCOUNT, "untouched; reason=encoded");
            Relay::new(Some(body), passing)
        }
        Treatment::Stream => {
            begin_stream(sent, &mut parts, &mut passing);
            Relay::new(Some(body), passing)
        }
        // Apart, so that a stream has no room for it.
        Treatment::Whole => Box::pin(whole(sent, &mut parts, body, passing)).await,
    };
    Response::from_parts(parts, Either::Left(relay))
}

/// Reads a body, and mends it as a whole.
async fn whole(sent: &Sent, parts: &mut Parts, mut body: Unpacked, mut passing: Passing) -> Relay {
    let mut held = passing.shared.held();
    let limits = passing.shared.config.limits();
    let (limit, patience) = (limits.held_bytes(), limits.idle() / QUIET);
    let Read { chunks, end } = Read::of(&mut body, limit, patience, &mut held).await;
    let trailers = match end {
        End::Whole(trailers) => trailers,
        End::Failed(error) => {
            begin_stream(sent, parts, &mut passing);
            return Relay::new(None, passing).with_ready(chunks, Some(error));
        }
        End::Long | End::Slow => {
            begin_stream(sent, parts, &mut passing);
            return Relay::new(Some(body), passing).with_ready(chunks, None);
        }
    };
    let notes = FitNotes::default();
    let mends = work(sent, parts, &passing, notes.clone());
    let (mut work, mut mended) = rewritten(&chunks, mends).await;
    let misfits = notes.take_misfits();
    if let (Some(again), Some(tools), false) = (&sent.again, &sent.tools, misfits.is_empty()) {
        let by = (&**tools, &sent.switches);
        let format = work.account.format;
        let (values, asked) = again.ask(&passing.shared, by, format, &misfits, sent.end).await;
        if !values.is_empty() {
            let overhead = work.account.overhead;
            let notes = FitNotes::of_asked(values);
            let mends = self::work(sent, parts, &passing, notes);
            (work, mended) = rewritten(&chunks, mends).await;
            work.account.overhead += overhead;
        }
        work.account.asked = asked;
        passing.shared.metrics.count("wiremend_reask_requests_total", &[], asked.requests.into());
    }
    if work.account.body == Some(RewriteOutcome::Mended) {
        headers::of_changed_body(&mut parts.headers);
    }
    set(parts, ACCOUNT, &work.account.line());
    set(parts, OVERHEAD, &work.account.overhead.as_micros().to_string());
    if trailers.is_none() {
        let length: usize = mended.iter().map(Bytes::len).sum();
        parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    } else {
        // In HTTP/1.1, only a body in chunks has trailers.
        parts.headers.remove(CONTENT_LENGTH);
    }
    passing.account = Some(work.account);
    Relay::new(None, passing).with_ready(mended, None).with_trailers(trailers)
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

/// Prepares to mend a body while it passes.
fn begin_stream(sent: &Sent, parts: &mut Parts, passing: &mut Passing) {
    passing.work = Some(Box::new(work(sent, parts, passing, FitNotes::default())));
    passing.comment = sent.switches.mending.comment;
    headers::of_changed_body(&mut parts.headers);
    let unpacked = passing.unpacked.map(|coding| format!("; unpacked={coding}"));
    set(parts, ACCOUNT, &format!("streaming{}", unpacked.unwrap_or_default()));
    set(parts, OVERHEAD, &sent.overhead.as_micros().to_string());
}

fn set(parts: &mut Parts, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        parts.headers.insert(name, value);
    }
}

fn treatment(sent: &Sent, parts: &Parts) -> Treatment {
    let stored = sent.path.ends_with("/content");
    let carries = match (&sent.method, media(&parts.headers)) {
        (_, Media::Other) => false,
        // Where nothing is said because there is nothing, the head has nothing to lose.
        (_, Media::Unsaid) if is_empty(parts) => false,
        (&Method::POST, _) | (&Method::GET, Media::Json | Media::Events) => true,
        _ => false,
    };
    let whole_answer = parts.status.is_success() && parts.status != StatusCode::PARTIAL_CONTENT;
    if !carries || stored || !whole_answer || sent.switches.mending.policy.engine().is_none() {
        return Treatment::Pass;
    }
    match media(&parts.headers) {
        Media::Json if !sent.asked.stream => Treatment::Whole,
        _ => Treatment::Stream,
    }
}

/// Whether the head says that no body follows.
fn is_empty(parts: &Parts) -> bool {
    parts.status == StatusCode::NO_CONTENT
        || parts.headers.get(CONTENT_LENGTH).is_some_and(|length| length.as_bytes() == b"0")
}

/// What mends a body.
fn work(sent: &Sent, parts: &Parts, passing: &Passing, notes: FitNotes) -> Work {
    let shared = &passing.shared;
    let limits = shared.config.limits();
    let mending = &sent.switches.mending;
    let engine = MendOptions::new().with_policy(mending.policy.engine().unwrap_or(Policy::STRICT));
    let held = limits.held_bytes();
    let arguments = WireLimits::new().with_arguments(held).with_open_arguments(held);
    let mut wire = WireOptions::new().with_mending(engine.clone()).with_limits(arguments);
    if let Some(kind) = parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()) {
        wire = wire.with_content_type(kind);
    }
    if let Some(tools) = &sent.tools {
        wire = wire.with_guides(tools.guides());
    }
    if let Some(policies) = fitting::policies(&sent.switches) {
        wire = wire.with_policies(policies);
    }
    let is_json = match mending.content {
        Content::Asked => sent.asked.json,
        Content::Json => true,
        Content::Text => false,
    };
    let mode = match mending.mode {
        Mode::Eager => RewriteMode::Eager,
        Mode::Validated => RewriteMode::Validated,
    };
    let mut options = RewriteOptions::new()
        .with_wire(wire)
        .with_mode(mode)
        .with_held(held)
        .with_json_content(is_json)
        .with_cut_calls_withheld(mending.cut == CutCalls::Withhold);
    if let Some(fitter) = fitting::fitter(&sent.tools, &sent.content, &sent.switches, &notes) {
        options = options.with_fit_hook(fitter);
    }
    let in_text = match &mending.calls_in_text {
        CallsInText::Off => None,
        CallsInText::Auto => Some(TextCalls::detected()),
        CallsInText::Named(name) => Some(match Dialect::by_name(name) {
            Some(dialect) => TextCalls::of_dialect(dialect.clone()),
            None => TextCalls::of_model(name),
        }),
    };
    if let Some(mut calls) = in_text {
        if let Some(registry) = sent.tools.as_ref().and_then(|tools| tools.registry()) {
            calls = calls.with_tools(registry.tools());
        }
        options = options.with_calls_in_text(calls.finders(&engine));
    }
    let mut account = Account::new(shared.config.record().content).with_fits(notes);
    account.overhead = sent.overhead;
    account.unpacked = passing.unpacked;
    Work::new(options, account, passing)
}
