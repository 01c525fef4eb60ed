//! An answer: whether it is read, and what leaves of it.

#[cfg(test)]
mod tests;

use core::time::Duration;
use std::collections::BTreeMap;

use wiremend_core::{MendOptions, Policy};
use wiremend_extract::Dialect;
use wiremend_response::TextCalls;
use wiremend_wire::{
    Framing, RewriteMode, RewriteOptions, Rewriter, Rewritten, WireLimits, WireOptions,
};

use crate::{
    Account, Asked, CallsInText, CutCalls, Exchange, HistoryFixes, Misfit, Mode,
    fitting::{self, FitNotes},
    head::{Head, HeaderEdit, Media, OF_A_BODY, text},
};

/// What is done with the body of an answer.
///
/// ```
/// use wiremend_exchange::{Exchanges, Mending, Treatment};
///
/// let exchanges = Exchanges::new(Mending::new());
/// let exchange = exchanges.request("POST", "/v1/chat/completions", [])?.read(b"{\"stream\": true}");
/// let answer = exchange.answer(200, [("content-type", &b"application/json"[..])]);
/// assert_eq!(answer.treatment(), Treatment::Stream);
/// # Ok::<(), wiremend_exchange::BadSwitch>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Treatment {
    /// It passes as it comes: it is no answer of a model, it is [packed](Answer::coding), or mending is off.
    Pass,
    /// It is mended while it passes. The head leaves before it.
    Stream,
    /// It is one JSON value, and is mended as a whole. The head leaves when it has ended, so that it says what was done. A
    /// body that is too long to be kept, or that breaks off, is a [stream after all](Answer::begin_stream).
    Whole,
}

/// Mends the body of one answer. It comes from [`Exchange::answer`].
///
/// Call [`push`](Self::push) with each piece that arrives, and [`finish`](Self::finish) at the end, or
/// [`stop`](Self::stop) where the body breaks off. How the body is divided does not change what leaves.
///
/// What leaves of a call before its end is what came, byte for byte, and a call that does not end complete leaves as it
/// came. So a client that closes partial JSON by itself runs nothing that it would not have run without this.
///
/// ```
/// use wiremend_exchange::{Exchanges, Mending};
/// use wiremend_wire::Rewritten;
///
/// let exchanges = Exchanges::new(Mending::new());
/// let exchange = exchanges.request("POST", "/v1/chat/completions", [])?.read(b"{\"stream\": true}");
/// let event = |arguments: &str, finish: &str| {
///     let call = format!(r#"{{"index":0,"id":"c","function":{{"name":"rm","arguments":"{arguments}"}}}}"#);
///     format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{call}]}},\"finish_reason\":{finish}}}]}}\n\n")
/// };
/// for (finish, left) in [("\"tool_calls\"", r#"{\"path\": 1}"#), ("\"length\"", "{'path': 1}")] {
///     let body = event("{'path': 1}", finish) + "data: [DONE]\n\n";
///     let mut answer = exchange.answer(200, [("content-type", &b"text/event-stream"[..])]);
///     let mut sent = Vec::new();
///     let mut take = |piece: Rewritten<'_>| {
///         if let Rewritten::Bytes(bytes) = piece {
///             sent.extend_from_slice(bytes);
///         }
///     };
///     for piece in body.as_bytes().chunks(7) {
///         answer.push(piece, &mut take);
///     }
///     answer.finish(&mut take);
///     assert_eq!(String::from_utf8_lossy(&sent), event(left, finish) + "data: [DONE]\n\n");
/// }
/// # Ok::<(), wiremend_exchange::BadSwitch>(())
/// ```
#[derive(Debug)]
pub struct Answer {
    treatment: Treatment,
    /// How the body is packed, if it would be read.
    coding: Option<String>,
    rewriter: Option<Box<Rewriter>>,
    account: Account,
    notes: FitNotes,
    history: HistoryFixes,
    /// A comment at the end says what was done.
    comment: bool,
    /// Headers of the provider that only this side says.
    own: Vec<String>,
    left: Left,
    /// Whether what has come ends with the end of an event.
    whole_events: bool,
    /// Whether the last piece was whole events.
    pulse: bool,
    /// Whether nothing but white space has come.
    blank: bool,
    ended: bool,
}

/// What lets go of what waits.
#[derive(Clone, Copy)]
enum End {
    Finish,
    Stop,
    Release,
}

/// What has left.
#[derive(Debug)]
struct Left {
    bytes: usize,
    /// The last of them, which say whether an event has ended.
    last: [u8; 4],
}

impl Left {
    fn note(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        let kept = &bytes[bytes.len().saturating_sub(4)..];
        self.last.rotate_left(kept.len());
        self.last[4 - kept.len()..].copy_from_slice(kept);
    }

    /// Whether it ends with the end of a server-sent event, if that is what it is.
    fn ends_an_event(&self) -> bool {
        self.last.ends_with(b"\n\n") || self.last == *b"\r\n\r\n" || self.last.ends_with(b"\r\r")
    }
}

impl Answer {
    pub(crate) fn new(exchange: &Exchange, status: u16, head: &Head<'_>) -> Self {
        let treatment = treatment(exchange, status, head);
        let reads = treatment != Treatment::Pass;
        let notes = FitNotes::default();
        let kind = head.all("content-type").next().and_then(text);
        Self {
            treatment,
            coding: head.coding().filter(|_| reads),
            rewriter: reads.then(|| Box::new(Rewriter::new(options(exchange, kind, &notes)))),
            account: Account::new(exchange.records_content()).with_fits(notes.clone()),
            notes,
            history: exchange.history(),
            comment: exchange.mending().comment(),
            own: head.own().collect(),
            left: Left { bytes: 0, last: *b"\n\n\n\n" },
            whole_events: true,
            pulse: false,
            blank: true,
            ended: false,
        }
    }

    /// What is done with the body.
    #[must_use]
    pub fn treatment(&self) -> Treatment {
        if self.is_packed() { Treatment::Pass } else { self.treatment }
    }

    /// The coding in which a body comes that would be mended, such as `gzip`, in lower case; several with commas between
    /// them. It passes as it comes, unless the caller [unpacks](Self::unpack) it.
    ///
    /// ```
    /// use wiremend_exchange::{Exchanges, Mending, Treatment};
    ///
    /// let exchanges = Exchanges::new(Mending::new());
    /// let exchange = exchanges.request("POST", "/v1/chat/completions", [])?.read(b"{}");
    /// let headers = [("content-type", &b"application/json"[..]), ("content-encoding", b"gzip")];
    /// let mut answer = exchange.answer(200, headers);
    /// assert_eq!((answer.coding(), answer.treatment()), (Some("gzip"), Treatment::Pass));
    /// answer.unpack("gzip");
    /// assert_eq!(answer.treatment(), Treatment::Whole);
    /// # Ok::<(), wiremend_exchange::BadSwitch>(())
    /// ```
    #[must_use]
    pub fn coding(&self) -> Option<&str> {
        self.coding.as_deref()
    }

    /// Says that what is pushed is unpacked, from this coding. Before the first piece.
    pub fn unpack(&mut self, coding: &str) {
        self.account.unpack(coding);
    }

    /// Makes a body that would be mended as a whole one that is mended while it passes: it is too long to be kept, or it breaks
    /// off. Before the first piece.
    pub fn begin_stream(&mut self) {
        if self.treatment == Treatment::Whole {
            self.treatment = Treatment::Stream;
        }
    }

    /// Gives the arguments that the model wrote when it was asked again for [those that do not fit](Self::take_misfits), by the
    /// number of the call. They must fit, and replace those that come. Before the first piece.
    pub fn say(&mut self, arguments: BTreeMap<usize, String>) {
        self.notes.say(arguments);
    }

    /// The calls whose arguments do not fit the schema of their tool, taken out: the first 8. They leave as JSON that does not
    /// fit.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use wiremend_exchange::{Exchanges, Mending, Mode};
    /// use wiremend_wire::Rewritten;
    ///
    /// let exchanges = Exchanges::new(Mending::new().with_mode(Mode::Validated));
    /// let request = br#"{"tools":[{"type":"function","function":{"name":"f","parameters":
    ///     {"properties":{"days":{"type":"integer"}}}}}]}"#;
    /// let exchange = exchanges.request("POST", "/v1/chat/completions", [])?.read(request);
    /// let body = r#"{"choices":[{"message":{"tool_calls":[{"id":"c","type":"function",
    ///     "function":{"name":"f","arguments":"{\"days\": \"a few\"}"}}]},"finish_reason":"tool_calls"}]}"#;
    /// let json = [("content-type", &b"application/json"[..])];
    /// let mut answer = exchange.answer(200, json);
    /// answer.push(body.as_bytes(), &mut |_| {});
    /// answer.finish(&mut |_| {});
    /// let misfits = answer.take_misfits();
    /// assert_eq!((misfits[0].tool(), misfits[0].raw()), ("f", r#"{"days": "a few"}"#));
    ///
    /// // The same body once more, with what the model says now.
    /// let mut answer = exchange.answer(200, json);
    /// answer.say(BTreeMap::from([(misfits[0].number(), r#"{"days": 3}"#.to_owned())]));
    /// let mut sent = Vec::new();
    /// let mut take = |piece: Rewritten<'_>| {
    ///     if let Rewritten::Bytes(bytes) = piece {
    ///         sent.extend_from_slice(bytes);
    ///     }
    /// };
    /// answer.push(body.as_bytes(), &mut take);
    /// answer.finish(&mut take);
    /// assert_eq!(String::from_utf8_lossy(&sent), body.replace(r#"\"a few\""#, "3"));
    /// # Ok::<(), wiremend_exchange::BadSwitch>(())
    /// ```
    #[must_use]
    pub fn take_misfits(&mut self) -> Vec<Misfit> {
        self.notes.take_misfits()
    }

    /// Says what it took to ask the model again, for the [account](Self::account).
    pub const fn note_asked(&mut self, asked: Asked) {
        self.account.ask(asked);
    }

    /// Takes a piece of the body. What may leave goes to `sink`, with the events that it has.
    pub fn push(&mut self, chunk: &[u8], sink: &mut impl FnMut(Rewritten<'_>)) {
        let start = if self.blank { chunk.trim_ascii_start() } else { chunk };
        let is_packed = self.is_packed();
        let Some(rewriter) = self.rewriter.as_mut().filter(|_| !is_packed) else {
            if !chunk.is_empty() {
                sink(Rewritten::Bytes(chunk));
            }
            return;
        };
        let Self { account, left, .. } = self;
        let mut take = |piece: Rewritten<'_>| take(account, left, piece, sink);
        // White space at the start of a body may keep the connection alive.
        if start.len() < chunk.len() {
            take(Rewritten::Bytes(&chunk[..chunk.len() - start.len()]));
        }
        rewriter.push(start, &mut take);
        self.blank &= start.is_empty();
        let ends = start.ends_with(b"\n\n") || start.ends_with(b"\r\n\r\n");
        self.pulse = core::mem::replace(&mut self.whole_events, ends) && ends;
    }

    /// Ends the body, as the provider has ended it.
    pub fn finish(&mut self, sink: &mut impl FnMut(Rewritten<'_>)) {
        self.let_go(End::Finish, sink);
    }

    /// Ends the body where it broke off, or where nobody reads it any more: what waits leaves as it came.
    pub fn stop(&mut self, sink: &mut impl FnMut(Rewritten<'_>)) {
        self.let_go(End::Stop, sink);
    }

    /// Lets go of what waits, as it came, because its room is needed elsewhere. Calls that begin later are mended.
    pub fn release(&mut self, sink: &mut impl FnMut(Rewritten<'_>)) {
        self.let_go(End::Release, sink);
    }

    fn let_go(&mut self, end: End, sink: &mut impl FnMut(Rewritten<'_>)) {
        let is_packed = self.is_packed();
        let Self { rewriter, account, left, ended, .. } = self;
        let Some(rewriter) = rewriter.as_mut().filter(|_| !is_packed && !*ended) else { return };
        let mut take = |piece: Rewritten<'_>| take(account, left, piece, sink);
        let outcome = match end {
            End::Finish => rewriter.finish(&mut take),
            End::Stop => rewriter.stop(&mut take),
            End::Release => return rewriter.release(&mut take),
        };
        account.end(outcome);
        *ended = true;
    }

    /// Whether the piece that was pushed last has nothing but what keeps a connection alive, such as comments and pings, and
    /// waits behind a call that is held. Where nothing has left for long, a caller may send a copy of it.
    ///
    /// ```
    /// use wiremend_exchange::{Exchanges, Mending};
    ///
    /// let exchanges = Exchanges::new(Mending::new());
    /// let exchange = exchanges.request("POST", "/v1/chat/completions", [])?.read(b"{\"stream\": true}");
    /// let mut answer = exchange.answer(200, [("content-type", &b"text/event-stream"[..])]);
    /// let call = r#"{"index":0,"id":"c","function":{"name":"f","arguments":"{'a': "}}"#;
    /// let event = format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n");
    /// answer.push(event.as_bytes(), &mut |_| {});
    /// assert!(!answer.is_keep_alive(event.as_bytes()));
    /// answer.push(b": ping\n\n", &mut |_| {});
    /// assert!(answer.is_keep_alive(b": ping\n\n"));
    /// # Ok::<(), wiremend_exchange::BadSwitch>(())
    /// ```
    #[must_use]
    pub fn is_keep_alive(&self, chunk: &[u8]) -> bool {
        let waits = self.rewriter.as_ref().is_some_and(|rewriter| rewriter.withheld() > 0);
        self.pulse && waits && self.is_between_events() && is_keep_alive(chunk)
    }

    /// The comment at the end of a stream of server-sent events that says what was done, with the time that it took, if that is
    /// known. None, if it is not [wanted](crate::Mending::with_comment), or the stream is none or ends within an event.
    ///
    /// ```
    /// use wiremend_exchange::{Exchanges, Mending};
    ///
    /// let exchanges = Exchanges::new(Mending::new().with_comment(true));
    /// let exchange = exchanges.request("POST", "/v1/chat/completions", [])?.read(b"{\"stream\": true}");
    /// let mut answer = exchange.answer(200, [("content-type", &b"text/event-stream"[..])]);
    /// let event = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n";
    /// answer.push(event, &mut |_| {});
    /// answer.push(b"data: [DONE]\n\n", &mut |_| {});
    /// answer.finish(&mut |_| {});
    /// assert_eq!(answer.comment(None).unwrap(), ": wiremend unchanged; calls=0; repairs=0\n\n");
    /// # Ok::<(), wiremend_exchange::BadSwitch>(())
    /// ```
    #[must_use]
    pub fn comment(&self, overhead: Option<Duration>) -> Option<String> {
        let says = self.comment && self.treatment() == Treatment::Stream;
        let took = overhead.map(|took| format!("; overhead-us={}", took.as_micros()));
        (says && self.is_between_events())
            .then(|| format!(": wiremend {}{}\n\n", self.account.line(), took.unwrap_or_default()))
    }

    /// The headers of the answer that change, in this order: `x-wiremend` says what was done, or that it is a stream, and what is
    /// no longer right for a body that may have changed is taken out. For [`Treatment::Whole`], after the end.
    ///
    /// ```
    /// use wiremend_exchange::{Exchanges, Mending};
    ///
    /// let exchanges = Exchanges::new(Mending::new());
    /// let exchange = exchanges.request("POST", "/v1/chat/completions", [])?.read(b"{\"stream\": true}");
    /// let answer = exchange.answer(200, [("content-type", &b"text/event-stream"[..])]);
    /// let edits = answer.header_edits();
    /// let lines = |name: &str| {
    ///     edits.iter().find(|edit| edit.name() == name).map(|edit| edit.lines().collect::<Vec<_>>())
    /// };
    /// assert_eq!(lines("x-wiremend"), Some(vec![&b"streaming"[..]]));
    /// assert_eq!(lines("content-length"), Some(vec![]));
    /// # Ok::<(), wiremend_exchange::BadSwitch>(())
    /// ```
    #[must_use]
    pub fn header_edits(&self) -> Vec<HeaderEdit> {
        let mut edits: Vec<HeaderEdit> =
            self.own.iter().cloned().map(HeaderEdit::removed).collect();
        let treatment = self.treatment();
        if self.account.unpacked().is_some() {
            edits.push(HeaderEdit::removed("content-encoding"));
        }
        let may_differ = match treatment {
            Treatment::Pass => false,
            Treatment::Stream => true,
            Treatment::Whole => self.account.unpacked().is_some() || self.account.is_changed(),
        };
        if may_differ {
            edits.extend(OF_A_BODY.map(HeaderEdit::removed));
        }
        let unpacked = self.account.unpacked().map(|coding| format!("; unpacked={coding}"));
        let said = match treatment {
            Treatment::Pass if self.is_packed() => "untouched; reason=encoded".to_owned(),
            Treatment::Pass => "untouched".to_owned(),
            Treatment::Stream => format!("streaming{}", unpacked.unwrap_or_default()),
            Treatment::Whole => {
                edits.push(HeaderEdit::set("content-length", self.left.bytes.to_string()));
                self.account.line()
            }
        };
        edits.push(HeaderEdit::set("x-wiremend", said));
        if self.history.is_any() {
            let (mended, replaced) = (self.history.mended(), self.history.replaced());
            let line = format!("history; mended={mended}; replaced={replaced}");
            edits.push(HeaderEdit::set("x-wiremend-request", line));
        }
        edits
    }

    /// What mends the body, for what it tells of calls that are open. None, if the body passes.
    #[must_use]
    pub fn rewriter(&self) -> Option<&Rewriter> {
        self.rewriter.as_deref()
    }

    /// What was done so far.
    #[must_use]
    pub const fn account(&self) -> &Account {
        &self.account
    }

    /// What was done.
    #[must_use]
    pub fn into_account(self) -> Account {
        self.account
    }

    fn is_packed(&self) -> bool {
        self.coding.is_some() && self.account.unpacked().is_none()
    }

    /// Whether what has left ends with the end of a server-sent event.
    fn is_between_events(&self) -> bool {
        let framing = self.rewriter.as_ref().and_then(|rewriter| rewriter.framing());
        framing == Some(Framing::Sse) && self.left.ends_an_event()
    }
}

/// Takes note of what leaves, and passes it on.
fn take(
    account: &mut Account,
    left: &mut Left,
    piece: Rewritten<'_>,
    sink: &mut impl FnMut(Rewritten<'_>),
) {
    match &piece {
        Rewritten::Bytes(bytes) => left.note(bytes),
        Rewritten::Event(event) => account.note(event),
        _ => {}
    }
    sink(piece);
}

/// Whether a chunk has nothing but comments and pings.
fn is_keep_alive(chunk: &[u8]) -> bool {
    let Ok(text) = core::str::from_utf8(chunk) else { return false };
    let pings = |line: &str| {
        let text: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        line.starts_with(':')
            || ["", "event:ping", "data:{\"type\":\"ping\"}"].contains(&text.as_str())
    };
    !text.trim().is_empty() && text.lines().all(pings)
}

fn treatment(exchange: &Exchange, status: u16, head: &Head<'_>) -> Treatment {
    // What was stored comes as it was stored.
    let stored = exchange.path().ends_with("/content");
    let is_empty = || status == 204 || head.all("content-length").next() == Some(b"0");
    let media = head.media();
    let carries = match (exchange.method(), media) {
        (_, Media::Other) => false,
        // Where nothing is said because there is nothing, the head has nothing to lose.
        (_, Media::Unsaid) if is_empty() => false,
        ("POST", _) | ("GET", Media::Json | Media::Events) => true,
        _ => false,
    };
    // A part of a body cannot be read.
    let whole_answer = (200..300).contains(&status) && status != 206;
    if !carries || stored || !whole_answer || exchange.mending().policy().engine().is_none() {
        return Treatment::Pass;
    }
    match media {
        Media::Json if !exchange.is_stream() => Treatment::Whole,
        _ => Treatment::Stream,
    }
}

/// How a body is mended, with the `Content-Type` that it has.
fn options(exchange: &Exchange, kind: Option<&str>, notes: &FitNotes) -> RewriteOptions {
    let mending = exchange.mending();
    let engine =
        MendOptions::new().with_policy(mending.policy().engine().unwrap_or(Policy::STRICT));
    let held = exchange.held_bytes();
    let arguments = WireLimits::new().with_arguments(held).with_open_arguments(held);
    let mut wire = WireOptions::new().with_mending(engine.clone()).with_limits(arguments);
    if let Some(kind) = kind {
        wire = wire.with_content_type(kind);
    }
    if let Some(tools) = exchange.tools() {
        wire = wire.with_guides(tools.guides());
    }
    if let Some(policies) = fitting::policies(exchange.switches()) {
        wire = wire.with_policies(policies);
    }
    let mode = match mending.mode() {
        Mode::Eager => RewriteMode::Eager,
        Mode::Validated => RewriteMode::Validated,
    };
    let mut options = RewriteOptions::new()
        .with_wire(wire)
        .with_mode(mode)
        .with_held(held)
        .with_json_content(exchange.is_json())
        .with_cut_calls_withheld(mending.cut() == CutCalls::Withhold);
    let (tools, content) = (exchange.tools(), exchange.content());
    if let Some(fitter) = fitting::fitter(tools, content, exchange.switches(), notes) {
        options = options.with_fit_hook(fitter);
    }
    let in_text = match mending.calls_in_text() {
        CallsInText::Off => None,
        CallsInText::Auto => Some(TextCalls::detected()),
        CallsInText::Named(name) => Some(match Dialect::by_name(name) {
            Some(dialect) => TextCalls::of_dialect(dialect.clone()),
            None => TextCalls::of_model(name),
        }),
    };
    if let Some(mut calls) = in_text {
        if let Some(registry) = tools.and_then(|tools| tools.registry()) {
            calls = calls.with_tools(registry.tools());
        }
        options = options.with_calls_in_text(calls.finders(&engine));
    }
    options
}
