//! A request: what it says about its answer, and the few edits of it.

use std::sync::Arc;

use wiremend_schema::{FitOptions, Schema};

use crate::{
    Answer, BadSwitch, Content, HistoryFixes, Mending, Mode, Repair,
    fitting::options,
    head::{Head, HeaderEdit},
    history::History,
    members::{Edits, Members, items},
    switches::{Switches, edits},
    tools::{Declared, ToolCache, declared},
    wanted::{Wanted, wanted},
};

/// The plug-in of OpenRouter that mends answers.
const HEALING: &str = "response-healing";

/// What is mended in exchanges, and the tools of the last of them, compiled. A gateway has one for each provider, a client one
/// for all of its requests.
///
/// A clone is cheap, and keeps the same tools.
///
/// ```
/// use wiremend_exchange::{Exchanges, Mending, Treatment, Verdict};
/// use wiremend_wire::Rewritten;
///
/// let exchanges = Exchanges::new(Mending::new());
/// let body = br#"{"model": "m", "messages": []}"#;
/// let request = exchanges.request("POST", "/v1/chat/completions", [])?;
/// let exchange = request.read(body);
/// // What is sent to the provider: its history needs no repair.
/// assert_eq!(exchange.body(), None);
///
/// let came = r#"{"choices": [{"message": {"tool_calls": [{"id": "c", "type": "function",
///     "function": {"name": "f", "arguments": "{'a': 1}"}}]}, "finish_reason": "tool_calls"}]}"#;
/// let mut answer = exchange.answer(200, [("content-type", &b"application/json"[..])]);
/// assert_eq!(answer.treatment(), Treatment::Whole);
/// let mut sent = Vec::new();
/// let mut take = |piece: Rewritten<'_>| {
///     if let Rewritten::Bytes(bytes) = piece {
///         sent.extend_from_slice(bytes);
///     }
/// };
/// answer.push(came.as_bytes(), &mut take);
/// answer.finish(&mut take);
/// assert_eq!(String::from_utf8_lossy(&sent), came.replace("{'a': 1}", r#"{\"a\": 1}"#));
/// assert_eq!(answer.account().verdict(), Verdict::Repaired);
/// assert_eq!(answer.account().line(), "repaired; calls=1; repairs=2; risk=exact");
/// # Ok::<(), wiremend_exchange::BadSwitch>(())
/// ```
#[derive(Clone, Debug)]
pub struct Exchanges {
    mending: Arc<Mending>,
    tools: Arc<ToolCache>,
    held_bytes: usize,
    records_content: bool,
}

impl Exchanges {
    /// Exchanges in which this is mended, unless a request says otherwise.
    #[must_use]
    pub fn new(mending: Mending) -> Self {
        Self {
            mending: Arc::new(mending),
            tools: Arc::default(),
            held_bytes: 8 << 20,
            records_content: false,
        }
    }

    /// The same with other settings. The tools are kept together.
    #[must_use]
    pub fn with_mending(self, mending: Mending) -> Self {
        Self { mending: Arc::new(mending), ..self }
    }

    /// Sets how many bytes of an answer may wait until a call is certain. Beyond that, what waits leaves as it came.
    ///
    /// ### Default
    /// 8 MiB.
    #[must_use]
    pub fn with_held_bytes(self, bytes: usize) -> Self {
        Self { held_bytes: bytes, ..self }
    }

    /// Sets whether an [account](crate::Account) has the arguments of calls, too: those that came, and those that left.
    ///
    /// ### Default
    /// No.
    #[must_use]
    pub fn with_content_recorded(self, yes: bool) -> Self {
        Self { records_content: yes, ..self }
    }

    /// The head of a request: its method, its path without the query, and its headers, with names in any case.
    ///
    /// # Errors
    /// If a header of the [names](crate::is_own) that switch something is unknown, has an unknown value, or is there twice. It
    /// is not sent on, so nobody else would say so.
    ///
    /// ```
    /// use wiremend_exchange::{Exchanges, Mending};
    ///
    /// let exchanges = Exchanges::new(Mending::new());
    /// let headers = [("Content-Type", "application/json"), ("X-Wiremend-Mode", "validated")];
    /// let headers = headers.map(|(name, value)| (name, value.as_bytes()));
    /// assert!(exchanges.request("POST", "/v1/messages", headers)?.reads_body());
    /// assert!(!exchanges.request("GET", "/v1/models", [])?.reads_body());
    /// # Ok::<(), wiremend_exchange::BadSwitch>(())
    /// ```
    pub fn request<'h>(
        &self,
        method: &str,
        path: &str,
        headers: impl IntoIterator<Item = (&'h str, &'h [u8])>,
    ) -> Result<Request, BadSwitch> {
        let head = Head::of(headers);
        Ok(Request {
            exchanges: self.clone(),
            switches: Switches::read(&head, &self.mending)?,
            edits: edits(&head),
            reads_body: head.is_read(method),
            method: method.to_owned(),
            path: path.to_owned(),
        })
    }
}

/// The head of a request, of which the body may follow. It comes from [`Exchanges::request`].
#[derive(Clone, Debug)]
pub struct Request {
    exchanges: Exchanges,
    method: String,
    path: String,
    switches: Switches,
    edits: Vec<HeaderEdit>,
    reads_body: bool,
}

impl Request {
    /// Whether the body is JSON, which [`read`](Self::read) wants as a whole. Otherwise it is sent on as it comes, and
    /// [`pass`](Self::pass) is next.
    #[must_use]
    pub const fn reads_body(&self) -> bool {
        self.reads_body
    }

    /// Reads the body, and mends its history. Nothing of a body that is not JSON, which is sent on as it is.
    ///
    /// ```
    /// use wiremend_exchange::{Exchanges, Mending};
    ///
    /// let exchanges = Exchanges::new(Mending::new());
    /// let body = br#"{"model": "m", "stream": true, "response_format": {"type": "json_object"}}"#;
    /// let exchange = exchanges.request("POST", "/v1/chat/completions", [])?.read(body);
    /// assert_eq!(exchange.model(), Some("m"));
    /// assert!(exchange.is_stream() && exchange.wants_json());
    /// # Ok::<(), wiremend_exchange::BadSwitch>(())
    /// ```
    #[must_use]
    pub fn read(mut self, body: &[u8]) -> Exchange {
        let asked = Asked::read(&self.path, body, &mut self.switches);
        if asked.body.is_some() {
            self.edits.extend(["content-md5", "digest"].map(HeaderEdit::removed));
        }
        let length = asked.body.as_ref().map_or(body.len(), String::len);
        self.edits.push(HeaderEdit::set("content-length", length.to_string()));
        self.exchange(asked)
    }

    /// The exchange of a request whose body is not read.
    ///
    /// ```
    /// use wiremend_exchange::{Exchanges, Mending};
    ///
    /// let exchanges = Exchanges::new(Mending::new());
    /// let request = exchanges.request("POST", "/v1/models/m:streamGenerateContent", [])?;
    /// let exchange = request.pass();
    /// assert_eq!((exchange.model(), exchange.is_stream()), (Some("m"), true));
    /// # Ok::<(), wiremend_exchange::BadSwitch>(())
    /// ```
    #[must_use]
    pub fn pass(self) -> Exchange {
        let asked = Asked::of_path(&self.path);
        self.exchange(asked)
    }

    fn exchange(mut self, mut asked: Asked) -> Exchange {
        if self.switches.mending().policy() != Repair::Off {
            // What is compressed, or a part of a body, cannot be read.
            self.edits.push(HeaderEdit::set("accept-encoding", "identity"));
            let parts = ["range", "if-range", "if-none-match", "if-modified-since"];
            self.edits.extend(parts.map(HeaderEdit::removed));
        }
        let compiled = |text: Option<String>| text.map(|text| self.exchanges.tools.of(text));
        let (tools, content) = (compiled(asked.tools.take()), compiled(asked.schema.take()));
        let Self { exchanges, method, path, switches, edits, .. } = self;
        let switches = Arc::new(switches);
        Exchange { exchanges, method, path, switches, edits, asked, tools, content }
    }
}

/// A request that was read, and what its [answer](Self::answer) is mended with. It comes from [`Request::read`].
#[derive(Clone, Debug)]
pub struct Exchange {
    exchanges: Exchanges,
    method: String,
    path: String,
    switches: Arc<Switches>,
    edits: Vec<HeaderEdit>,
    asked: Asked,
    tools: Option<Arc<Declared>>,
    /// What the request declares its content to be.
    content: Option<Arc<Declared>>,
}

impl Exchange {
    /// What is sent instead of the body. None, if it is sent as it came.
    #[must_use]
    pub fn body(&self) -> Option<&str> {
        self.asked.body.as_deref()
    }

    /// The same, taken out, so that no copy of it waits for the answer.
    #[must_use]
    pub fn take_body(&mut self) -> Option<String> {
        self.asked.body.take()
    }

    /// The headers of the request that change. A body that is not packed is asked for, and `content-length` is that of
    /// the body that is sent, if the body was read. What is between two connections, such as `host`, is left to the caller.
    #[must_use]
    pub fn header_edits(&self) -> &[HeaderEdit] {
        &self.edits
    }

    /// The model that is asked, from the body or the path.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.asked.model.as_deref()
    }

    /// Whether the answer is to be a stream.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        self.asked.stream
    }

    /// Whether the content of the answer is to be JSON.
    #[must_use]
    pub fn wants_json(&self) -> bool {
        self.asked.json
    }

    /// How many calls of its history were changed.
    #[must_use]
    pub fn history(&self) -> HistoryFixes {
        self.asked.fixed
    }

    /// What is mended, with what the request says of it.
    #[must_use]
    pub fn mending(&self) -> &Mending {
        self.switches.mending()
    }

    /// Whether the model may be asked again for [calls](Answer::take_misfits) that do not fit: nothing of the answer leaves before
    /// its end, tools are declared, and the request does not forbid it.
    #[must_use]
    pub fn may_ask_again(&self) -> bool {
        self.switches.reask()
            && self.mending().mode() == Mode::Validated
            && self.mending().policy() != Repair::Off
            && !self.is_stream()
            && self.tools.is_some()
    }

    /// A tool that the request declares: its own name, its schema, and how arguments are fitted to it.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<(&str, &Schema, FitOptions)> {
        let (name, schema, rules) = self.tools.as_ref()?.tool(name)?;
        Some((name, schema, options(&self.switches, name, rules)))
    }

    /// What mends an answer with this status and these headers, with names in any case.
    ///
    /// ```
    /// use wiremend_exchange::{Exchanges, Mending, Treatment};
    ///
    /// let exchanges = Exchanges::new(Mending::new());
    /// let exchange = exchanges.request("POST", "/v1/chat/completions", [])?.read(b"{}");
    /// let of = |status, kind: &'static str| {
    ///     exchange.answer(status, [("content-type", kind.as_bytes())]).treatment()
    /// };
    /// assert_eq!(of(200, "text/event-stream"), Treatment::Stream);
    /// assert_eq!(of(200, "application/json"), Treatment::Whole);
    /// assert_eq!(of(200, "image/png"), Treatment::Pass);
    /// assert_eq!(of(429, "application/json"), Treatment::Pass);
    /// # Ok::<(), wiremend_exchange::BadSwitch>(())
    /// ```
    #[must_use]
    pub fn answer<'h>(
        &self,
        status: u16,
        headers: impl IntoIterator<Item = (&'h str, &'h [u8])>,
    ) -> Answer {
        Answer::new(self, status, &Head::of(headers))
    }

    pub(crate) fn method(&self) -> &str {
        &self.method
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn held_bytes(&self) -> usize {
        self.exchanges.held_bytes
    }

    pub(crate) fn records_content(&self) -> bool {
        self.exchanges.records_content
    }

    pub(crate) fn switches(&self) -> &Arc<Switches> {
        &self.switches
    }

    pub(crate) fn tools(&self) -> Option<&Arc<Declared>> {
        self.tools.as_ref()
    }

    /// What the content of the answer is declared to be.
    pub(crate) fn content(&self) -> Option<&Arc<Declared>> {
        self.content.as_ref()
    }

    /// Whether the content of the answer is mended as JSON.
    pub(crate) fn is_json(&self) -> bool {
        match self.mending().content() {
            Content::Asked => self.wants_json(),
            Content::Json => true,
            Content::Text => false,
        }
    }
}

/// What a request says about its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    model: Option<String>,
    /// It wants a stream.
    stream: bool,
    /// It wants JSON as content.
    json: bool,
    /// The schema of that content, as the declaration of a tool.
    pub(crate) schema: Option<String>,
    /// The declarations of its tools, as they were written.
    pub(crate) tools: Option<String>,
    /// Calls of its history.
    pub(crate) fixed: HistoryFixes,
    /// What is sent on instead of its body, if that is not the same.
    pub(crate) body: Option<String>,
}

impl Asked {
    /// What only the path says.
    fn of_path(path: &str) -> Self {
        let last = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        Self { model: model_of(path), stream: last.contains("stream"), ..Self::default() }
    }

    /// What the body says, too. Nothing of a body that is not JSON. A switch in it changes those of the
    /// headers, before the history is mended under them.
    pub(crate) fn read(path: &str, body: &[u8], switches: &mut Switches) -> Self {
        let mut asked = Self::of_path(path);
        let Ok(text) = core::str::from_utf8(body) else { return asked };
        // A mark of the byte order before it is sent on, as it came.
        let json = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
        let Some(members) = Members::of(json) else { return asked };
        if let Some(model) = members.string("model") {
            asked.model = Some(model);
        }
        asked.stream |= members.get("stream") == Some("true");
        Wanted { json: asked.json, schema: asked.schema } = wanted(&members);
        asked.tools = declared(&members);
        let mut edits = Edits::new(text);
        if let Some(on) = take_healing(json, &members, &mut edits) {
            switches.heal(on);
        }
        if switches.mending().history() {
            asked.fixed = History::of(path).mend(&members, switches, &mut edits);
        }
        asked.body = (!edits.is_empty()).then(|| edits.apply());
        asked
    }
}

/// The model in a path: `/models/NAME:generateContent`, `/model/NAME/converse`, `/deployments/NAME/chat`.
fn model_of(path: &str) -> Option<String> {
    let mut segments = path.split('/');
    segments.find(|segment| ["models", "model", "deployments"].contains(segment))?;
    let name = segments.next()?.split(':').next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// Takes the plug-in out, and says whether it was switched on. If it is there several times, the last one
/// counts.
fn take_healing<'t>(text: &'t str, members: &Members<'t>, edits: &mut Edits<'t>) -> Option<bool> {
    let list = members.get("plugins")?;
    let plugins = items(list);
    let healing = |(number, item): (usize, &&'t str)| {
        let plugin = Members::of(item)?;
        let is_on = plugin.get("enabled") != Some("false");
        (plugin.string("id")? == HEALING).then_some((number, is_on))
    };
    let found: Vec<(usize, bool)> = plugins.iter().enumerate().filter_map(healing).collect();
    let (_, is_on) = *found.last()?;
    if found.len() == plugins.len() {
        let values: Vec<&str> = members.values().collect();
        edits.remove(text, &values, &[members.position("plugins")?]);
    } else {
        let numbers: Vec<usize> = found.iter().map(|(number, _)| *number).collect();
        edits.remove(list, &plugins, &numbers);
    }
    Some(is_on)
}

/// Takes the plug-in out of the list of a header, and says whether it was there. What is left may be empty.
pub(crate) fn take_healing_of(list: &str) -> Option<String> {
    let names: Vec<&str> = list.split(',').map(str::trim).collect();
    let left: Vec<&str> = names.iter().copied().filter(|name| *name != HEALING).collect();
    (left.len() < names.len()).then(|| left.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mending;

    fn read(path: &str, body: &str) -> Asked {
        read_with(path, body, Mending::new()).0
    }

    /// The same, with the switches as they are then.
    fn read_with(path: &str, body: &str, mending: Mending) -> (Asked, Switches) {
        let mut switches = Switches::of(mending);
        let asked = Asked::read(path, body.as_bytes(), &mut switches);
        (asked, switches)
    }

    #[test]
    fn the_model_and_the_stream_are_in_the_body_or_in_the_path() {
        let asked = read("/v1/chat/completions", r#"{"model":"m\u00e9","stream":true}"#);
        assert_eq!((asked.model.as_deref(), asked.stream), (Some("mé"), true));
        let asked = read("/v1beta/models/gemini-x:streamGenerateContent", "{}");
        assert_eq!((asked.model.as_deref(), asked.stream), (Some("gemini-x"), true));
        let asked = read("/model/a.b-v1/converse-stream", "{}");
        assert_eq!((asked.model.as_deref(), asked.stream), (Some("a.b-v1"), true));
        let asked = read("/v1/chat/completions", r#"{"stream":false}"#);
        assert_eq!((asked.model, asked.stream, asked.body), (None, false, None));
    }

    #[test]
    fn the_plug_in_is_taken_out_and_nothing_else_changes() {
        let off = || Mending::new().with_policy(Repair::Off);
        let healed = |body: &str| {
            let (asked, switches) = read_with("/", body, off());
            (asked.body, switches.mending().policy())
        };
        let some = |body: &str| Some(body.to_owned());
        for (body, sent, policy) in [
            (
                r#" {"a": 1.0, "plugins": [{"id": "response-healing"}]} "#,
                some(r#" {"a": 1.0} "#),
                Repair::Likely,
            ),
            (
                r#"{"plugins":[{"id":"response-healing","enabled":false}],"a":1}"#,
                some(r#"{"a":1}"#),
                Repair::Off,
            ),
            (
                r#"{"plugins":[{"id":"web"}, {"id":"response-healing"}]}"#,
                some(r#"{"plugins":[{"id":"web"}]}"#),
                Repair::Likely,
            ),
            (
                r#"{"plugins":[{"id":"response-healing"},{"id":"response-healing"},{"id":"web"}]}"#,
                some(r#"{"plugins":[{"id":"web"}]}"#),
                Repair::Likely,
            ),
            (
                r#"{"plugins":[{"id":"response-healing"},{"id":"web"},{"id":"response-healing","enabled":false}]}"#,
                some(r#"{"plugins":[{"id":"web"}]}"#),
                Repair::Off,
            ),
            (
                r#"{"a":1,"plugins":[{"id":"response-healing"}, {"id":"response-healing"}]}"#,
                some(r#"{"a":1}"#),
                Repair::Likely,
            ),
            (r#"{"plugins":[{"id":"web"}]}"#, None, Repair::Off),
            (r#"{"plugins":["response-healing",{"name":"x"}]}"#, None, Repair::Off),
        ] {
            assert_eq!(healed(body), (sent, policy), "{body}");
        }
        assert_eq!(take_healing_of("web, response-healing").as_deref(), Some("web"));
        assert_eq!(take_healing_of("response-healing").as_deref(), Some(""));
        assert_eq!(take_healing_of("web"), None);
    }

    /// It is about content that the request asks for as JSON. Calls are mended without it, too.
    #[test]
    fn a_plug_in_that_is_switched_off_leaves_content_alone_and_mends_calls() {
        let body = r#"{"plugins":[{"id":"response-healing","enabled":false}]}"#;
        let (_, switches) = read_with("/", body, Mending::new().with_content(Content::Json));
        assert_eq!(*switches.mending(), Mending::new().with_content(Content::Text));
        let body = r#"{"plugins":[{"id":"response-healing"}]}"#;
        let (_, switches) = read_with("/", body, Mending::new().with_content(Content::Text));
        assert_eq!(*switches.mending(), Mending::new());
        let (_, switches) = read_with("/", body, Mending::new().with_policy(Repair::Exact));
        assert_eq!(*switches.mending(), Mending::new().with_policy(Repair::Exact));
    }

    #[test]
    fn a_body_with_a_byte_order_mark_is_read_and_keeps_it() {
        let body = "\u{feff} {\"model\":\"m\",\"plugins\":[{\"id\":\"response-healing\"}],\"a\":1}";
        let asked = read("/", body);
        assert_eq!(asked.model.as_deref(), Some("m"));
        assert_eq!(asked.body.as_deref(), Some("\u{feff} {\"model\":\"m\",\"a\":1}"));
        assert_eq!(read("/", "\u{feff}{}").body, None);
    }

    /// The plug-in is read before the history is mended.
    #[test]
    fn the_plug_in_switches_the_history_on_as_well() {
        let history = r#""messages":[{"tool_calls":[{"function":{"arguments":"{'a': 1}"}}]}]"#;
        let off = || Mending::new().with_policy(Repair::Off);
        let path = "/v1/chat/completions";
        let (asked, _) = read_with(path, &format!("{{{history}}}"), off());
        assert_eq!((asked.fixed, asked.body), (HistoryFixes::default(), None));
        let body = format!(r#"{{"plugins":[{{"id":"response-healing"}}],{history}}}"#);
        let (asked, _) = read_with(path, &body, off());
        assert_eq!((asked.fixed.mended(), asked.fixed.replaced()), (1, 0));
    }
}
