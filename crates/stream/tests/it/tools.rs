//! The adapter for a provider's body, with a registry of tools.

use std::{collections::BTreeMap, pin::pin, sync::Arc};

use crate::source::Source;
use futures::{FutureExt, StreamExt, executor::block_on, stream};
use serde_json::{Value, json};
use wiremend_core::{MendOptions, Outcome, Policy};
use wiremend_extract::Scope;
use wiremend_response::{CallCheck, Event, FittedCall, ResponseOptions};
use wiremend_schema::{
    Cursor, FitOptions, NodeState, Registry, Resolved, SharedRegistry, Standing,
};
use wiremend_stream::{AcceptOptions, ByteStreamExt, Candidate, Decision, Error};
use wiremend_wire::{Call, ToolPolicies, WireOptions};

/// Options that check calls against those tools.
fn with_tools(tools: &SharedRegistry) -> ResponseOptions {
    ResponseOptions::new().with_tools(tools)
}

fn tools() -> SharedRegistry {
    let weather = json!({"type": "object", "properties": {
        "city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["c", "f"]}
    }, "required": ["city"], "additionalProperties": false});
    let tags = json!({"type": "object", "properties": {
        "tags": {"type": "array", "items": {"type": "string"}}
    }, "required": ["tags"]});
    let tools = json!([
        {"name": "get_weather", "input_schema": weather},
        {"name": "set_tags", "input_schema": tags},
        {"name": "now", "input_schema": {"type": "object"}},
    ]);
    SharedRegistry::new(Registry::from_tools(&tools).unwrap())
}

fn event(calls: &Value) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]}))
}

fn begin(index: usize, name: &str, arguments: &str) -> String {
    let function = json!({"name": name, "arguments": arguments});
    event(&json!([{"index": index, "id": format!("c{index}"), "type": "function",
        "function": function}]))
}

fn more(index: usize, arguments: &str) -> String {
    event(&json!([{"index": index, "function": {"arguments": arguments}}]))
}

fn end() -> String {
    let finish = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    format!("data: {finish}\n\ndata: [DONE]\n\n")
}

fn one(name: &str, arguments: &str) -> String {
    begin(0, name, arguments) + &end()
}

/// Interleaved calls, one of each kind.
fn parallel() -> String {
    [
        begin(0, "functions.getWeather", "{'city': 'Z\u{fc}"),
        begin(1, "set_tag", "{\"tags\""),
        begin(2, "set_tags", ""),
        more(0, "rich', days: "),
        more(2, "{tags: 'red"),
        more(1, ": [1]}"),
        more(0, "'3', "),
        begin(3, "get_weather", "{\"city\": 5, \"town\": 1"),
        more(2, "'}"),
        more(0, "unit: 'C',}"),
        more(3, ".5, \"days\": \"a few\"}"),
        begin(4, "now", ""),
        end(),
    ]
    .concat()
}

/// The combined events.
#[derive(Debug, Default, PartialEq)]
struct Sum {
    /// For each call: its text as shown, and its early issues with position and severity.
    shown: BTreeMap<usize, String>,
    found: BTreeMap<usize, Vec<(usize, Standing, String)>>,
    calls: Vec<Arc<Call>>,
    fits: Vec<FittedCall>,
    failed: Option<&'static str>,
}

impl Sum {
    fn add(&mut self, item: Result<Event, Error<&'static str>>) {
        match item {
            Ok(Event::CallFragment { call, json, .. }) => {
                assert!(self.calls.iter().all(|ended| ended.number() != call));
                self.shown.entry(call).or_default().push_str(&String::from_utf8_lossy(&json));
            }
            Ok(Event::CallIssue { call, issue, .. }) => {
                let shown = self.shown.get(&call).map_or(0, String::len);
                assert!(issue.offset() <= shown, "after what it is about");
                let found = (issue.offset(), issue.standing(), issue.to_string());
                self.found.entry(call).or_default().push(found);
            }
            Ok(Event::CallEnded(call)) => self.calls.push(call),
            Ok(Event::CallFitted(fit)) => {
                let last = self.calls.last().unwrap();
                assert!(std::ptr::eq(&raw const **last, fit.call()), "right after, and no copy");
                self.fits.push(*fit);
            }
            Ok(_) => {}
            Err(Error::Upstream(error)) => self.failed = Some(error),
            Err(error) => panic!("{error}"),
        }
    }

    fn of(source: Source) -> Self {
        let mut sum = Self::default();
        let mut events = pin!(source.read(with_tools(&tools())));
        while let Some(item) = block_on(events.next()) {
            sum.add(item);
        }
        sum
    }

    fn of_body(body: &str) -> Self {
        Self::of(Source::cut(body.as_bytes(), body.len()).0)
    }

    fn fit(&self, call: usize) -> &FittedCall {
        self.fits.iter().find(|fit| fit.call().number() == call).unwrap()
    }

    fn check(&self, call: usize) -> &CallCheck {
        self.fit(call).check()
    }
}

#[test]
fn calls_side_by_side_are_brought_into_the_schemas_of_their_tools() {
    let sum = Sum::of_body(&parallel());
    assert_eq!((sum.calls.len(), sum.fits.len()), (5, 5));
    let CallCheck::Fitted { tool, fitted, .. } = sum.check(0) else { panic!("{sum:?}") };
    assert_eq!(tool, "get_weather");
    assert_eq!(fitted.text(), Some("{\"city\": \"Z\u{fc}rich\", \"days\": 3, \"unit\": \"c\"}"));
    assert_eq!(fitted.outcome(), Outcome::Repaired);
    let raw = sum.calls.iter().find(|call| call.number() == 0).unwrap().raw();
    let applied = wiremend_schema::apply_changes(raw.as_bytes(), fitted.changes());
    assert_eq!(applied.as_deref(), sum.fit(0).arguments(), "one script over what was written");
    let CallCheck::Unknown { nearest, .. } = sum.check(1) else { panic!("{sum:?}") };
    assert_eq!(nearest.as_deref(), Some("set_tags"));
    assert_eq!(sum.fit(2).arguments(), Some(r#"{"tags": ["red"]}"#));
    let CallCheck::Fitted { fitted, .. } = sum.check(3) else { panic!("{sum:?}") };
    assert_eq!((fitted.outcome(), fitted.issues().len()), (Outcome::Invalid, 3));
    assert_eq!(sum.fit(3).arguments(), None);
    assert_eq!(sum.fit(4).arguments(), Some("{}"));
    assert!(!sum.found.contains_key(&0) && !sum.found.contains_key(&1));
    assert_eq!(sum.found[&3].len(), 2, "{:?}", sum.found);
}

#[test]
fn cuts_and_pauses_change_nothing() {
    let body = parallel();
    let whole = Sum::of_body(&body);
    for size in [1, 2, 3, 7, 64, 100] {
        let (source, _) = Source::cut(body.as_bytes(), size);
        assert_eq!(Sum::of(source.hesitant()), whole, "{size}");
    }
    for cut in 0..=body.len() {
        let (head, tail) = body.as_bytes().split_at(cut);
        let chunks = vec![Ok(head.to_vec()), Ok(Vec::new()), Ok(tail.to_vec())];
        assert_eq!(Sum::of(Source::new(chunks).0), whole, "{cut}");
    }
}

#[test]
fn a_call_that_cannot_be_fixed_is_reported_before_its_end() {
    let chunks = [
        begin(0, "get_weather", "{\"city\": \"Oslo\", "),
        more(0, "\"days\": 1.5, "),
        more(0, "\"unit\": \"c\"}"),
    ];
    let (source, log) = Source::new(chunks.map(|chunk| Ok(chunk.into_bytes())).to_vec());
    let mut events = pin!(source.read(with_tools(&tools())));
    let issue = loop {
        match block_on(events.next()).unwrap().unwrap() {
            Event::CallIssue { call: 0, issue, .. } => break issue,
            Event::CallEnded(call) => panic!("{call:?}"),
            _ => {}
        }
    };
    assert_eq!((issue.standing(), issue.issue().pointer()), (Standing::Lost, "/days"));
    assert_eq!(log.borrow().given, 2, "nothing was asked for beyond what settled it");
    events.as_mut().cancel();
    assert!(log.borrow().dropped);
    let rest: Vec<_> = block_on(events.collect());
    let fits = rest.iter().filter(
        |item| matches!(item, Ok(Event::CallFitted(fit)) if *fit.check() == CallCheck::Incomplete),
    );
    assert_eq!(fits.count(), 1, "{rest:?}");
}

#[test]
fn the_value_so_far_has_a_state_for_each_node() {
    let chunks = [
        begin(0, "get_weather", "{\"days\": \"3\", \"unit\": \"f\", \"city\": \"Os"),
        more(0, "lo\"}"),
        end(),
    ];
    let (source, _) = Source::new(chunks.map(|chunk| Ok(chunk.into_bytes())).to_vec());
    let mut events = pin!(source.read(with_tools(&tools())));
    assert!(events.call_cursor(0).is_none());
    let mut seen = Vec::new();
    while let Some(Ok(event)) = block_on(events.next()) {
        match event {
            Event::CallFragment { call, .. } => {
                let cursor = events.call_cursor(call).unwrap();
                let root = cursor.root().unwrap();
                let state = |key: &str| root.member(key).map(|node| node.state());
                seen.push((root.to_string(), state("days"), state("city")));
                assert_eq!(cursor.pending().len(), 0);
            }
            Event::CallEnded(call) => assert!(events.call_cursor(call.number()).is_none()),
            _ => {}
        }
    }
    let (done, tentative) = (Some(NodeState::Final), Some(NodeState::Tentative));
    assert_eq!(seen[0], (r#"{"days":3,"unit":"f","city":"Os"}"#.to_owned(), done, tentative));
    assert_eq!(seen[1], (r#"{"days":3,"unit":"f","city":"Oslo"}"#.to_owned(), done, done));
}

#[test]
fn missing_members_are_pending() {
    let (source, _) = Source::new(vec![Ok(begin(0, "get_weather", "{\"days\": 3, ").into_bytes())]);
    let mut events = pin!(source.read(with_tools(&tools())));
    while let Some(Ok(event)) = block_on(events.next()) {
        if let Event::CallFragment { call, .. } = event {
            let pending = events.call_cursor(call).map(Cursor::pending).unwrap();
            assert_eq!((pending.len(), pending[0].standing()), (1, Standing::Pending));
            assert_eq!(pending[0].issue().pointer(), "");
            return;
        }
    }
    panic!("nothing was shown");
}

#[test]
fn a_swap_counts_from_the_next_call_on() {
    let registry = tools();
    let chunks = [
        begin(0, "set_tags", "{\"tags\": "),
        more(0, "[1]}") + &begin(1, "set_tags", "{\"tags\": ") + &more(1, "[1]}"),
        end(),
    ];
    let (source, _) = Source::new(chunks.map(|chunk| Ok(chunk.into_bytes())).to_vec());
    let mut events = pin!(source.read(with_tools(&registry)));
    let mut fits = Vec::new();
    while let Some(Ok(event)) = block_on(events.next()) {
        match event {
            Event::CallBegan { call: 0, .. } => {
                let other = json!([{"name": "set_tags", "input_schema": {"properties": {
                    "tags": {"type": "array", "items": {"type": "integer"}}}}}]);
                registry.swap(Registry::from_tools(&other).unwrap());
            }
            Event::CallFitted(fit) => fits.push(fit.arguments().map(str::to_owned)),
            _ => {}
        }
    }
    let [before, after] = [r#"{"tags": ["1"]}"#, r#"{"tags": [1]}"#].map(|s| Some(s.to_owned()));
    assert_eq!(fits, [before, after]);
}

#[test]
fn a_cut_call_is_incomplete_whatever_is_left_of_it() {
    for arguments in ["{\"city\": \"Os", "{'city': 'Oslo'}", ""] {
        let cut = Sum::of_body(&begin(0, "get_weather", arguments));
        assert_eq!(*cut.check(0), CallCheck::Incomplete, "{arguments}");
        let (source, _) =
            Source::new(vec![Ok(begin(0, "now", arguments).into_bytes()), Err("reset")]);
        let failed = Sum::of(source);
        assert_eq!(*failed.check(0), CallCheck::Incomplete, "{arguments}");
        assert_eq!(failed.failed, Some("reset"));
    }
    // Nothing states the end of the call, although its arguments look complete.
    let cut = Sum::of_body(&begin(0, "get_weather", r#"{"city": "Oslo"}"#));
    assert_eq!((cut.check(0), cut.calls[0].outcome()), (&CallCheck::Incomplete, Outcome::Cut));
}

#[test]
fn text_whose_mending_was_refused_is_the_same_however_it_is_cut() {
    let strict = MendOptions::new().with_policy(Policy::STRICT);
    let strict = ResponseOptions::new().with_wire(WireOptions::new().with_mending(strict));
    for arguments in [
        "{\"city\": 'a \"days\": \"x\", \"unit\": \"k\", '}",
        "{\"city\": \"he said \"5\" twice\", \"days\": 123.5, \"unit\": 7777}",
        "{\"days\": NaN, \"unit\": 12345, \"city\": \"a\"}",
        "{\"days\": 12.50, \"unit\"",
        "{\"days\": 12.50,",
        "{\"days\": 12.50",
    ] {
        for (is_strict, options) in [(true, strict.clone()), (false, ResponseOptions::new())] {
            let body = one("get_weather", arguments);
            let read = |source| {
                let mut sum = Sum::default();
                let events = ByteStreamExt::read(source, options.clone().with_tools(&tools()));
                block_on(events.for_each(|item| {
                    sum.add(item);
                    futures::future::ready(())
                }));
                sum
            };
            let whole: Sum = read(Source::cut(body.as_bytes(), body.len()).0);
            if is_strict {
                assert_eq!(whole.fit(0).arguments(), None, "{arguments}");
            }
            for size in 1..40 {
                assert_eq!(read(Source::cut(body.as_bytes(), size).0), whole, "{arguments} {size}");
            }
            // The same arguments in separate pieces.
            for size in 1..8 {
                let mut parts = begin(0, "get_weather", "");
                let letters: Vec<char> = arguments.chars().collect();
                for piece in letters.chunks(size) {
                    parts += &more(0, &piece.iter().collect::<String>());
                }
                parts += &end();
                assert_eq!(read(Source::cut(parts.as_bytes(), 60).0), whole, "{arguments} {size}");
            }
        }
    }
}

#[test]
fn the_schema_settles_the_syntax_of_a_call_while_it_streams() {
    for (arguments, want) in [
        ("{city 'New York', days 3}", r#"{"city": "New York", "days": 3}"#),
        ("{\"city\": \"x\", \"days\": 007}", r#"{"city": "x", "days": 7}"#),
        ("{'city': +47 (22) 99, 'days': 2}", r#"{"city": "+47 (22) 99", "days": 2}"#),
        (
            "{\"city\": \"put \"x\", \"y\": \"z\" here\", \"days\": 1}",
            r#"{"city": "put \"x\", \"y\": \"z\" here", "days": 1}"#,
        ),
    ] {
        for size in [1, 7, 1000] {
            let (source, _) = Source::cut(one("get_weather", arguments).as_bytes(), size);
            let stream = source.read(with_tools(&tools()));
            let events: Vec<_> = block_on(stream.collect());
            let lost = |event: &Result<Event, Error<_>>| matches!(event, Ok(Event::CallIssue { issue, .. }) if issue.standing() == Standing::Lost);
            assert!(!events.iter().any(lost), "{arguments}: {events:?}");
            let fit = events.iter().find_map(|event| match event {
                Ok(Event::CallFitted(fit)) => Some(fit),
                _ => None,
            });
            assert_eq!(fit.unwrap().arguments(), Some(want), "{arguments}");
        }
    }
}

#[test]
fn calls_without_a_schema_are_unchecked() {
    let anthropic = concat!(
        "event: message_start\n",
        "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"content\":[]}}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":",
        "{\"type\":\"server_tool_use\",\"id\":\"s\",\"name\":\"web_search\",\"input\":{}}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":",
        "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"query\\\":\\\"x\\\"}\"}}\n\n",
        "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n",
        "data: {\"type\":\"message_stop\"}\n\n",
    );
    assert_eq!(*Sum::of_body(anthropic).check(0), CallCheck::Unchecked);
    let registry = SharedRegistry::default();
    let (source, _) = Source::cut(one("f", "{\"a\": 1}").as_bytes(), 100);
    let events: Vec<_> = block_on(source.read(with_tools(&registry)).collect());
    let unchecked = |event: &Result<Event, _>| matches!(event, Ok(Event::CallFitted(fit)) if *fit.check() == CallCheck::Unchecked);
    assert!(events.iter().any(unchecked), "{events:?}");
    // Without a registry there are no events about fitting.
    let (source, _) = Source::cut(one("f", "{\"a\": 1}").as_bytes(), 100);
    let events: Vec<_> = block_on(source.read(ResponseOptions::new()).collect());
    assert!(!events.iter().any(|event| matches!(event, Ok(Event::CallFitted(_)))));
}

#[test]
fn a_wait_that_is_given_up_loses_nothing_and_upstream_is_asked_only_when_needed() {
    let body = parallel();
    let whole = Sum::of_body(&body);
    let (source, log) = Source::cut(body.as_bytes(), 5);
    let mut events = pin!(source.hesitant().read(with_tools(&tools())));
    let mut sum = Sum::default();
    loop {
        // A future that is dropped after one poll, as in a `select!`.
        match events.next().now_or_never() {
            None => {}
            Some(Some(item)) => sum.add(item),
            Some(None) => break,
        }
    }
    assert_eq!(sum, whole);
    assert!(!log.borrow().polled_after_end);

    let (source, log) = Source::cut(body.as_bytes(), body.len());
    let mut events = pin!(source.read(with_tools(&tools())));
    while !matches!(block_on(events.next()), Some(Ok(Event::CallFitted(_)))) {}
    assert_eq!(log.borrow().polls, 1, "there are events left");
}

#[test]
fn the_raw_end_of_a_call_that_broke_off_is_no_issue() {
    // The quote after the unit, withheld when the stream ends, is emitted verbatim.
    let body = begin(0, "get_weather", "{'city': 'Oslo', 'unit': 'C', 'da");
    for size in [1, 7, 1000] {
        let sum = Sum::of(Source::cut(body.as_bytes(), size).0);
        assert_eq!(sum.found, BTreeMap::new(), "{size}");
        assert_eq!(*sum.check(0), CallCheck::Incomplete, "{size}");
    }
}

/// What the policy of a tool refuses, no schema makes fit. Without rules, a schema only validates.
#[test]
fn policies_of_single_tools_and_switched_off_rules_hold_for_fits() {
    let read = |arguments: &str, options: ResponseOptions| {
        let body = one("get_weather", arguments);
        let mut sum = Sum::default();
        let events = Source::cut(body.as_bytes(), 50).0.read(options);
        block_on(events.for_each(|item| {
            sum.add(item);
            futures::future::ready(())
        }));
        sum.fit(0).arguments().map(str::to_owned)
    };
    let strict = |names: &'static str| {
        let policies = ToolPolicies::new(move |tool| (tool == names).then_some(Policy::STRICT));
        with_tools(&tools()).with_wire(WireOptions::new().with_policies(policies))
    };
    let oslo = |city: &str| Some(format!("{{\"city\": \"{city}\"}}"));
    assert_eq!(read("{'city': 'Oslo'}", strict("now")), oslo("Oslo"));
    assert_eq!(read("{'city': 'Oslo'}", strict("get_weather")), None);
    assert_eq!(read("{\"city\": \"Oslo\"}", strict("get_weather")), oslo("Oslo"));
    let days = "{'city': 'Oslo', 'days': '3'}";
    assert!(read(days, with_tools(&tools())).is_some());
    assert_eq!(read(days, with_tools(&tools()).without_rules()), None);
    assert_eq!(read("{'city': 'Oslo'}", with_tools(&tools()).without_rules()), oslo("Oslo"));
}

/// A call that was mended while it arrived is not mended again for its schema, and fits in the same way.
#[test]
fn a_fit_equals_that_of_the_arguments_as_they_were_written() {
    let tools = tools();
    let registry = tools.load();
    let Resolved::Tool { name, schema, rules, .. } = registry.resolve(Some("get_weather"), None)
    else {
        panic!("no such tool")
    };
    let engine = MendOptions::new().with_policy(Policy::CONSERVATIVE);
    let options = FitOptions::new().with_mending(engine).with_scope(Scope::Whole);
    let options = options.with_name(name).with_rules(rules.clone());
    let mut guided = 0;
    for arguments in [
        "{'city': 'Oslo', days: '3', unit: 'C',}",
        "{city: New York days: 3}",
        "```json\n{\"city\": \"Oslo\"}\n```",
        "{\"city\": \"say \"hi\"\", \"days\": 2}",
        "{\"city\": \"Oslo\", \"days\": oops}",
        "{\"city\": 5",
        "[1, 2,]",
    ] {
        let sum = Sum::of_body(&one("get_weather", arguments));
        guided += usize::from(sum.calls[0].is_guided());
        match sum.check(0) {
            CallCheck::Fitted { fitted, .. } => {
                assert_eq!(*fitted, schema.fit(arguments.as_bytes(), &options), "{arguments}");
            }
            other => assert!(*other == CallCheck::Incomplete, "{other:?}"),
        }
    }
    assert_eq!(guided, 7);
}

#[test]
fn a_hook_judges_a_call_by_the_name_of_its_tool() {
    let tools = json!([{"name": "delete", "input_schema": {"properties": {"path": {}}}}]);
    let tools = SharedRegistry::new(Registry::from_tools(&tools).unwrap());
    let call =
        json!({"index": 0, "id": "c", "function": {"name": "functions.delete", "arguments": "{}"}});
    let delta = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    let body = format!("data: {delta}\n\ndata: {end}\n\ndata: [DONE]\n\n");
    for known in [true, false] {
        let mut names = Vec::new();
        let hook = |candidate: &Candidate| {
            names.push(candidate.tool().map(str::to_owned));
            std::future::ready(Decision::Accept)
        };
        let options = ResponseOptions::new();
        let options = if known { options.with_tools(&tools) } else { options };
        let chunks = stream::iter([Ok::<_, std::io::Error>(body.clone())]);
        let events = chunks.read(options).accept(AcceptOptions::new(), hook);
        block_on(events.for_each(|_| std::future::ready(())));
        let name = if known { "delete" } else { "functions.delete" };
        assert_eq!(names, [Some(name.to_owned())]);
    }
}
