//! The same through every entry point, and bodies that are written again.

use std::{
    collections::VecDeque,
    fmt::Debug,
    io::{self, Read},
    pin::{Pin, pin},
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::{Stream, StreamExt, executor::block_on, stream};
use http_body::{Body, Frame};
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::codec::FramedRead;
use wiremend_core::{MendOptions, Policy};
use wiremend_extract::Scope;
use wiremend_response::{Object, Response, ResponseOptions};
use wiremend_stream::{
    ByteStreamExt, Error, Item, JsonEvent, JsonOptions, ResponseCodec, source as sources,
};
use wiremend_testkit::{
    Seed,
    bodies::{Reply, Shape},
    cases,
    cuts::Cut,
    transport::Scenario,
};
use wiremend_wire::{RewriteMode, RewriteOptions, RewriteOutcome, WireEvent, WireOptions};

use crate::source::Source;

/// Bytes in pieces, pending before each, as every kind of source.
struct Pieces {
    left: VecDeque<Vec<u8>>,
    ready: bool,
    /// Chooses before which pieces it is pending; before each if there is none.
    seed: Option<Seed>,
}

impl Pieces {
    fn new(text: &[u8], size: usize) -> Self {
        let left = text.chunks(size).map(<[u8]>::to_vec).collect();
        Self { left, ready: false, seed: None }
    }

    /// Pieces that end anywhere, of which some have to be waited for, more than once.
    fn random(text: &[u8], seed: u64) -> Self {
        let mut seed = Seed::new(seed);
        let cut = Cut::random(text.len(), 1 + text.len() / 40, &mut seed);
        let left = cut.chunks(text).flat_map(|piece| piece.chunks(4096)).map(<[u8]>::to_vec);
        Self { left: left.collect(), ready: false, seed: Some(seed) }
    }

    /// Whether the next piece has to be waited for.
    fn waits(&mut self) -> bool {
        match &mut self.seed {
            Some(seed) => seed.below(3) == 0,
            None => !std::mem::replace(&mut self.ready, true),
        }
    }

    fn poll(&mut self, cx: &Context<'_>) -> Poll<Option<Vec<u8>>> {
        if self.waits() {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.ready = false;
        Poll::Ready(self.left.pop_front())
    }
}

impl Stream for Pieces {
    type Item = Vec<u8>;
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        self.poll(cx)
    }
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.waits() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.ready = false;
        let Some(piece) = self.left.pop_front() else { return Ok(0) };
        buffer[..piece.len()].copy_from_slice(&piece);
        Ok(piece.len())
    }
}

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.poll(cx).map(|piece| {
            buffer.put_slice(&piece.unwrap_or_default());
            Ok(())
        })
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;
    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.poll(cx).map(|piece| piece.map(|piece| Ok(Frame::data(piece.into()))))
    }
}

const BODY: &str = concat!(
    "data: {\"choices\":[{\"delta\":{\"content\":\"Gr\u{fc}sse. \"}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",",
    "\"function\":{\"name\":\"add\",\"arguments\":\"{'a': 1, \"}}]}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,",
    "\"function\":{\"arguments\":\"'b': True}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
);

fn response<S, B, E>(body: S, options: &ResponseOptions) -> Response
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
    E: Debug,
{
    let mut events = pin!(body.read(options.clone()));
    let mut response = Response::default();
    while let Some(event) = block_on(events.next()) {
        response.record(event.unwrap());
    }
    response
}

/// Reads the pieces through every entry point. Each must give what the whole body gives that was not streamed.
fn every_way(pieces: impl Fn() -> Pieces, options: &ResponseOptions, body: &[u8], what: &str) {
    let whole = &Response::read(body, options.clone());
    assert_eq!(response(sources::infallible(pieces()), options), *whole, "{what}: a stream");
    assert_eq!(
        response(sources::from_async_read(pieces()), options),
        *whole,
        "{what}: an AsyncRead"
    );
    assert_eq!(response(sources::from_body(pieces()), options), *whole, "{what}: a body");
    let slices = pieces().left.into_iter().map(|piece| Ok::<_, io::Error>(Bytes::from(piece)));
    assert_eq!(response(stream::iter(slices), options), *whole, "{what}: a stream of results");
    let mut blocking = Response::default();
    for event in sources::from_read(pieces()).read(options.clone()) {
        blocking.record(event.unwrap());
    }
    assert_eq!(blocking, *whole, "{what}: a blocking reader");
    let mut framed = FramedRead::new(pieces(), ResponseCodec::new(options.clone()));
    let mut coded = Response::default();
    while let Some(event) = block_on(framed.next()) {
        coded.record(event.unwrap());
    }
    assert_eq!(coded, *whole, "{what}: a codec");
}

#[test]
fn every_source_gives_the_same() {
    let whole = Response::read(BODY.as_bytes(), ResponseOptions::new());
    assert_eq!(whole.transcript().calls()[0].arguments(), "{\"a\": 1, \"b\": true}");
    for size in [1, 2, 3, 7, 50, 1000] {
        let pieces = || Pieces::new(BODY.as_bytes(), size);
        every_way(pieces, &ResponseOptions::new(), BODY.as_bytes(), "the body");
    }
}

/// `WIREMEND_RECORDINGS=DIR` adds every file under a folder of recorded bodies.
#[test]
fn every_format_is_the_same_through_every_entry_point_however_it_arrives() {
    let searched = ResponseOptions::new().with_objects(Scope::All);
    let check = |body: &[u8], what: &str| {
        for (seed, options) in
            [ResponseOptions::new(), searched.clone(), ResponseOptions::new()].iter().enumerate()
        {
            every_way(|| Pieces::random(body, seed as u64), options, body, what);
        }
    };
    for shape in Shape::ALL {
        for number in 0..3 {
            let mut seed = Seed::new(number);
            let body = Reply::random_in(shape, &mut seed).body();
            check(&body, &format!("{shape} {number}"));
            let scenario = Scenario::random(&body, &mut seed);
            let damaged = scenario.deliver(&body);
            check(damaged.bytes(), &format!("{shape} {number} {scenario}"));
        }
    }
    let mut folders: Vec<_> =
        std::env::var_os("WIREMEND_RECORDINGS").map(Into::into).into_iter().collect();
    while let Some(folder) = folders.pop() {
        let _: &std::path::PathBuf = &folder;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                check(&std::fs::read(&path).unwrap(), &path.display().to_string());
            }
        }
    }
}

/// Every case of the corpus, as a channel of text, and as the text of a response.
#[test]
fn every_case_is_the_same_through_every_entry_point() {
    fn read<S, E>(channel: S) -> (Vec<u8>, Vec<Object>)
    where
        S: Stream<Item = Result<Bytes, E>>,
        E: Debug,
    {
        let (mut text, mut objects) = (Vec::new(), Vec::new());
        let mut events = pin!(channel.mend(JsonOptions::new()));
        while let Some(event) = block_on(events.next()) {
            note(event.unwrap(), &mut text, &mut objects);
        }
        (text, objects)
    }
    fn note(event: JsonEvent, text: &mut Vec<u8>, objects: &mut Vec<Object>) {
        match event {
            JsonEvent::Text(more) | JsonEvent::Reasoning(more) => text.extend(more),
            JsonEvent::Ended(object) => objects.push(*object),
            _ => {}
        }
    }
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let cases = cases::read_folder(&corpus).unwrap();
    assert!(cases.len() > 1_000, "{}", cases.len());
    for (case, seed) in cases.iter().zip(0..) {
        let (name, input) = (&case.name, &case.input);
        let pieces = || Pieces::random(input, seed);
        let whole = read(stream::iter([Ok::<_, io::Error>(Bytes::copy_from_slice(input))]));
        assert_eq!(read(sources::infallible(pieces().map(Bytes::from))), whole, "{name}");
        assert_eq!(read(sources::from_async_read(pieces())), whole, "{name}");
        assert_eq!(read(sources::from_body(pieces())), whole, "{name}");
        let (mut text, mut objects) = (Vec::new(), Vec::new());
        for event in sources::from_read(pieces()).mend(JsonOptions::new()) {
            note(event.unwrap(), &mut text, &mut objects);
        }
        assert_eq!((text, objects), whole, "{name}");
        let Ok(content) = std::str::from_utf8(input) else { continue };
        let choice = serde_json::json!({"delta": {"content": content}, "finish_reason": "stop"});
        let body = format!("data: {}\n\n", serde_json::json!({"choices": [choice]}));
        let options = ResponseOptions::new().with_objects(Scope::All);
        every_way(|| Pieces::random(body.as_bytes(), seed), &options, body.as_bytes(), name);
    }
}

/// What a codec has read when its reader fails is handed out, and then the error.
#[test]
fn a_reader_of_a_codec_that_fails_is_an_error() {
    struct Failing(Pieces);
    impl AsyncRead for Failing {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            if self.0.left.is_empty() {
                return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
            }
            Pin::new(&mut self.0).poll_read(cx, buffer)
        }
    }
    let failing = Failing(Pieces::new(&BODY.as_bytes()[..100], 30));
    let events = FramedRead::new(failing, ResponseCodec::new(ResponseOptions::new()));
    let events: Vec<_> = block_on(events.collect());
    let (last, before) = events.split_last().unwrap();
    assert!(last.is_err() && before.len() > 2 && before.iter().all(Result::is_ok), "{events:?}");
}

#[test]
fn every_adapter_is_an_iterator_over_a_reader() {
    let pieces = || sources::from_read(Pieces::new(b"[{'a': 1}, {'a': 2}]", 3));
    let items = pieces().items::<serde_json::Value>("", JsonOptions::new());
    let items: Vec<_> = items.into_iter().map(|item| item.map(Item::into_value).unwrap()).collect();
    assert_eq!(items, [serde_json::json!({"a": 1}), serde_json::json!({"a": 2})]);
    assert!(pieces().mend(JsonOptions::new()).into_iter().count() > 2);
    let typed = pieces().typed::<serde_json::Value>(JsonOptions::new());
    assert!(typed.into_iter().all(|event| event.is_ok()));
    let body = sources::from_read(Pieces::new(BODY.as_bytes(), 9)).rewrite(RewriteOptions::new());
    let bytes: Vec<Bytes> = body.into_iter().map(Result::unwrap).collect();
    assert_eq!(bytes.concat(), mended().as_bytes());
}

/// A reader with many empty lines yields no event for a long time, which is not the end.
#[test]
fn a_long_silence_does_not_end_an_iterator() {
    let body = ["\n".repeat(10_000), BODY.to_owned()].concat();
    let events = sources::from_read(Pieces::new(body.as_bytes(), 10)).read(ResponseOptions::new());
    let mut response = Response::default();
    events.into_iter().for_each(|event| response.record(event.unwrap()));
    assert_eq!(response.transcript().calls().len(), 1);
}

#[test]
fn errors_of_a_reader_come_once() {
    struct Failing(usize);
    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            assert!(self.0 <= 2, "it is not read after an error");
            if self.0 == 2 {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            buffer[0] = b'[';
            Ok(1)
        }
    }
    let mut events = sources::from_read(Failing(0)).mend(JsonOptions::new()).into_iter();
    let last = events.by_ref().last();
    assert!(matches!(last, Some(Err(Error::Upstream(error)))
        if error.kind() == io::ErrorKind::ConnectionReset));
    assert!(events.next().is_none());
}

fn mended() -> String {
    BODY.replace("{'a': 1, ", "{\\\"a\\\": 1, ").replace("'b': True}", "\\\"b\\\": true}")
}

type Written = (Vec<u8>, Option<&'static str>, Option<RewriteOutcome>);

fn written(source: Source, options: &RewriteOptions) -> Written {
    let mut body = pin!(source.rewrite(options.clone()));
    let (mut bytes, mut failed) = (Vec::new(), None);
    while let Some(item) = block_on(body.next()) {
        assert_eq!(failed, None);
        match item {
            Ok(more) => bytes.extend_from_slice(&more),
            Err(error) => failed = Some(error.into_inner()),
        }
    }
    (bytes, failed, body.outcome())
}

#[test]
fn a_body_is_written_again_however_it_is_cut() {
    let options = RewriteOptions::new();
    let want = (mended().into_bytes(), None, Some(RewriteOutcome::Mended));
    for size in 1..40 {
        assert_eq!(written(Source::cut(BODY.as_bytes(), size).0.hesitant(), &options), want);
    }
}

/// When upstream fails, everything is there as it came, but for calls that have ended, and the error is last.
#[test]
fn what_is_written_before_an_error_is_not_completed() {
    let mending =
        WireOptions::new().with_mending(MendOptions::new().with_policy(Policy::PERMISSIVE));
    for mode in [RewriteMode::Eager, RewriteMode::Validated] {
        let options = RewriteOptions::new().with_mode(mode).with_wire(mending.clone());
        for cut in (0..BODY.len()).filter(|cut| BODY.is_char_boundary(*cut)) {
            let head = &BODY[..cut];
            let (source, log) = Source::new(vec![Ok(head.into()), Err("reset")]);
            let (bytes, failed, outcome) = written(source, &options);
            assert_eq!((failed, outcome), (Some("reset"), Some(RewriteOutcome::Stopped)));
            assert!(log.borrow().dropped && !log.borrow().polled_after_end);
            let text = String::from_utf8(bytes).unwrap();
            let has_ended = head.contains("finish_reason\":\"tool_calls\"}]}\n\n");
            let raw = text.replace("\\\"", "'").replace("true", "True");
            assert_eq!(if has_ended { raw } else { text }, head, "{mode:?} {cut}");
        }
    }
}

#[test]
fn a_written_body_is_a_body_and_can_be_observed() {
    let names = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&names);
    let body = sources::from_body(Pieces::new(BODY.as_bytes(), 20)).rewrite(RewriteOptions::new());
    let body = body.with_observer(move |event| {
        if let WireEvent::CallEnded(call) = event {
            seen.lock().unwrap().push(call.name().to_owned());
        }
    });
    fn is_send<T: Send>(_: &T) {}
    is_send(&body);
    let mut body = pin!(body);
    let mut bytes = Vec::new();
    while let Some(frame) = block_on(std::future::poll_fn(|cx| body.as_mut().poll_frame(cx))) {
        bytes.extend_from_slice(frame.unwrap().data_ref().unwrap());
    }
    assert!(body.is_end_stream());
    assert_eq!(bytes, mended().as_bytes());
    assert_eq!(*names.lock().unwrap(), ["add"]);
}

#[test]
fn cancelled_while_writing() {
    for chunks in 0..BODY.len().div_ceil(30) {
        let (source, log) = Source::cut(BODY.as_bytes(), 30);
        let options = RewriteOptions::new().with_mode(RewriteMode::Validated);
        let mut body = Box::pin(source.rewrite(options));
        let mut text = Vec::new();
        while log.borrow().given < chunks {
            text.extend(block_on(body.next()).into_iter().flat_map(Result::unwrap));
        }
        body.as_mut().cancel();
        assert!(log.borrow().dropped);
        while let Some(more) = block_on(body.next()) {
            text.extend(more.unwrap());
        }
        let raw = String::from_utf8(text).unwrap().replace("\\\"", "'").replace("true", "True");
        assert_eq!(raw.as_bytes(), &BODY.as_bytes()[..(log.borrow().given * 30).min(BODY.len())]);
    }
}
