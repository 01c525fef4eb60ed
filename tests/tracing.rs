//! What the adapters report to `tracing`: how things ended, and never what is in them.

use std::{
    fmt::{Debug, Write as _},
    sync::{Arc, Mutex},
};

use futures::{StreamExt, executor::block_on, stream};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use wiremend_extract::Scope;
use wiremend_response::{Response, ResponseOptions};
use wiremend_stream::{ByteStreamExt, JsonOptions, Telemetry};

/// Writes one line for every event.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<String>>);

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut lines = self.0.lock().unwrap();
        write!(lines, "SPAN in={:?}", span.metadata().name()).unwrap();
        span.record(&mut Line(&mut lines));
        lines.push('\n');
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut lines = self.0.lock().unwrap();
        lines.push_str("RECORD");
        values.record(&mut Line(&mut lines));
        lines.push('\n');
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut lines = self.0.lock().unwrap();
        write!(lines, "{}", event.metadata().level()).unwrap();
        event.record(&mut Line(&mut lines));
        lines.push('\n');
    }
    fn enter(&self, _: &Id) {
        self.0.lock().unwrap().push_str("ENTER\n");
    }
    fn exit(&self, _: &Id) {}
}

#[test]
fn outcomes_are_reported_and_contents_are_not() {
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.clone(), || {
        let channel = stream::iter([Ok("{'secret': 'Par"), Ok("is',}"), Err("reset")]);
        block_on(channel.mend(JsonOptions::new()).for_each(|_| async {}));
        let body = [
            "data: {\"choices\":[{\"delta\":{\"content\":\"[1,\",\"tool_calls\":[{\"index\":0,",
            "\"id\":\"c1\",\"function\":{\"name\":\"secret\",\"arguments\":\"{a: 1}\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
        ];
        let body = stream::iter(body).map(Ok::<_, &str>);
        block_on(body.read(ResponseOptions::new().with_objects(Scope::All)).for_each(|_| async {}));
    });
    let lines = lines.0.lock().unwrap();
    let reported: Vec<&str> = lines.lines().collect();
    let has = |start: &str, part: &str| {
        let found = reported.iter().any(|line| line.starts_with(start) && line.contains(part));
        assert!(found, "no {start} with {part} in {lines}");
    };
    has("WARN", "the stream of bytes failed");
    has("DEBUG message=document ended", "outcome=\"repaired\" repairs=5 bytes=19");
    has("DEBUG message=document ended", "outcome=\"closed\"");
    has("DEBUG message=call ended", "outcome=\"repaired\"");
    has("DEBUG message=response ended", "outcome=\"complete\"");
    has("INFO message=tool_input_repaired", "tool=\"other\" codes=\"unquoted-key\" risk=\"exact\"");
    assert!(!lines.contains("secret") && !lines.contains("Paris"), "{lines}");
}

#[test]
fn tools_and_contents_are_reported_if_the_caller_asks() {
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.clone(), || {
        let body = [
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",",
            "\"function\":{\"name\":\"add\",\"arguments\":\"{a: 1}\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
        ];
        let body = stream::iter(body).map(Ok::<_, &str>);
        let telemetry = Telemetry::new().with_model("m-1").with_tools(["add"]).with_content();
        let events = body.read(ResponseOptions::new()).with_telemetry(telemetry);
        block_on(events.for_each(|_| async {}));
    });
    let lines = lines.0.lock().unwrap();
    for part in
        ["tool=\"add\"", "raw=\"{a: 1}\"", "arguments=\"{\\\"a\\\": 1}\"", "in=\"wiremend\""]
    {
        assert!(lines.lines().any(|line| line.contains(part)), "{part}: {lines}");
    }
    assert!(lines.contains("model=\"m-1\"") && lines.contains("format=\"openai-chat\""), "{lines}");
}

#[test]
fn a_response_that_was_not_streamed_is_reported_in_its_span() {
    let lines = Lines::default();
    let body = br#"{"choices":[{"message":{"tool_calls":[{"id":"c1","type":"function",
        "function":{"name":"add","arguments":"{'a': 1}"}}]},"finish_reason":"tool_calls"}]}"#;
    let response = Response::read(body, ResponseOptions::new());
    tracing::subscriber::with_default(lines.clone(), || {
        Telemetry::new().with_model("m").record(&response);
    });
    let lines = lines.0.lock().unwrap();
    let at = |part: &str| lines.find(part).unwrap_or_else(|| panic!("no {part} in {lines}"));
    assert!(at("RECORD model") < at("RECORD format"), "{lines}");
    assert!(at("RECORD format") < at("ENTER"), "{lines}");
    assert!(at("ENTER") < at("tool_input_repaired"), "{lines}");
}
