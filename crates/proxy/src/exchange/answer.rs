//! What becomes of the answer of a provider.

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Response, Version, header::CONTENT_LENGTH, response::Parts,
};
use http_body_util::{BodyExt as _, Either};
use tokio::time::timeout;
use wiremend_exchange::{Answer, Treatment};

use super::{Reply, Sent};
use crate::{
    headers,
    relay::{Passing, QUIET, Relay, Work, aside},
    shared::Held,
    timed::{BoxError, Timed},
    unpacked::{Packing, Unpacked},
};

const OVERHEAD: HeaderName = HeaderName::from_static("x-wiremend-overhead-us");

/// Makes an answer for the client.
pub(super) async fn answer(sent: &Sent, parts: Parts, body: Timed, passing: Passing) -> Reply {
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
pub(super) struct Read {
    pub(super) chunks: VecDeque<Bytes>,
    pub(super) end: End,
}

/// Why no more was read.
pub(super) enum End {
    Whole(Trailers),
    Failed(BoxError),
    /// It is longer than what may be held.
    Long,
    /// Nothing but white space has come, which keeps the connection alive, and no more for a while.
    Slow,
}

impl Read {
    /// Reads up to `limit` bytes. After white space it waits no longer than `patience` for each further piece.
    pub(super) async fn of(
        body: &mut Unpacked,
        limit: usize,
        patience: Duration,
        held: &mut Held,
    ) -> Self {
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
