//! The tables of `docs/reask.md`, a test for each row.

use core::time::Duration;

use wiremend_reask::{
    Answer, AskKind, EndReason, Failure, Mode, Reask, ReaskOptions, Retry, RetryPolicy, Step,
};
use wiremend_wire::FinishReason;

use crate::{BOOKING, asked, booking, continued, done, ended, says, schema};

const NOW: Duration = Duration::ZERO;
const VALID: &str = r#"{"guest": "Ines", "nights": 2}"#;

fn ends(text: &str, finish: FinishReason) -> Answer {
    Answer::text(text).with_finish(finish)
}

#[test]
fn valid_after_repairs() {
    let done = done(says(&mut booking(ReaskOptions::new()), "{guest: 'Ines', nights: '2'}"));
    assert_eq!(done.fitted().text(), Some(done.json()));
    assert_eq!((done.attempts().len(), done.spent().calls()), (1, 1));
}

#[test]
fn cut_off_and_good_so_far() {
    for finish in [FinishReason::Length, FinishReason::Other] {
        let ask =
            continued(booking(ReaskOptions::new()).answer(&ends(r#"{"guest": "In"#, finish), NOW));
        assert_eq!(ask.prefix(), Some(r#"{"guest": "In"#));
    }
    // Three times at most.
    let mut reask = booking(ReaskOptions::new());
    for text in [r#"{"guest": "a"#, "b", "c"] {
        continued(reask.answer(&ends(text, FinishReason::Length), NOW));
    }
    assert_eq!(asked(reask.answer(&ends("d", FinishReason::Length), NOW)).kind(), AskKind::Whole);
}

#[test]
fn a_text_whose_value_has_ended_is_not_cut_off() {
    let step = booking(ReaskOptions::new()).answer(&ends(VALID, FinishReason::Length), NOW);
    assert_eq!(done(step).json(), VALID);
    // The words of a text without brackets may go on.
    let text = schema(
        r#"{"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}"#,
    );
    let mut reask = Reask::new(&text, ReaskOptions::new());
    let step = reask.answer(&ends("The bridge opened in", FinishReason::Length), NOW);
    assert!(!matches!(step, Step::Done(_)), "{step:?}");
}

#[test]
fn cut_off_after_something_wrong() {
    let wrong = ends(r#"{"guest": "Ines", "nights": "many", "note": "we c"#, FinishReason::Length);
    assert_eq!(asked(booking(ReaskOptions::new()).answer(&wrong, NOW)).kind(), AskKind::Whole);
}

#[test]
fn wrong_in_single_places() {
    let ask = asked(says(&mut booking(ReaskOptions::new()), r#"{"guest": "Ines", "nights": []}"#));
    assert_eq!((ask.kind(), ask.fields()), (AskKind::Fields, &["/nights".to_owned()][..]));
}

#[test]
fn wrong_as_a_whole_or_no_json() {
    for text in ["[]", "17", "Hello", "", r#"{"guest": [], "nights": "many"}"#] {
        assert_eq!(
            asked(says(&mut booking(ReaskOptions::new()), text)).kind(),
            AskKind::Whole,
            "{text}"
        );
    }
}

#[test]
fn a_call_that_may_have_been_cut_off() {
    let call = |text: &str, finish| {
        let mut reask = Reask::new(&schema(BOOKING), ReaskOptions::for_tool("book"));
        reask.answer(&Answer::arguments(text).with_finish(finish), NOW)
    };
    for text in [
        r#"{"guest": "Ines", "nights": 2"#,
        "{guest: 'Ines', nights: 2}",
        "{'guest': 'Ines', 'nights': 2,}",
    ] {
        let ask = asked(call(text, FinishReason::Length));
        assert_eq!((ask.kind(), ask.attempt()), (AskKind::Whole, 1), "{text}");
    }
    // Its own brackets show that it has ended.
    assert_eq!(done(call(VALID, FinishReason::Length)).json(), VALID);
    // A turn that ended by itself ended its calls.
    assert!(matches!(call("{guest: 'Ines', nights: 2}", FinishReason::ToolCalls), Step::Done(_)));
    assert!(matches!(call("{guest: 'Ines', nights: 2}", FinishReason::Stop), Step::Done(_)));
}

#[test]
fn shown_and_wrong() {
    let shown = Answer::text(r#"{"guest": "Ines", "nights": []}"#).with_shown(true);
    assert_eq!(ended(booking(ReaskOptions::new()).answer(&shown, NOW)).reason(), EndReason::Shown);
}

#[test]
fn refused_by_the_model_or_by_a_filter() {
    for finish in [FinishReason::Refusal, FinishReason::ContentFilter] {
        // Valid or not, whole or cut off: a filter may have changed or cut what it stopped.
        for text in [VALID, "I cannot help with that.", r#"{"guest": "In"#, r#"{"guest": "A"}"#] {
            let end = ended(booking(ReaskOptions::new()).answer(&ends(text, finish), NOW));
            assert_eq!(end.reason(), EndReason::Refused, "{text}");
            assert_eq!(end.best().unwrap().answer(), text);
        }
        // The words of a refusal are not the answer.
        let text = schema(
            r#"{"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}"#,
        );
        let mut reask = Reask::new(&text, ReaskOptions::new());
        let end = ended(reask.answer(&ends("I cannot help with that.", finish), NOW));
        assert_eq!(end.reason(), EndReason::Refused);
        assert!(end.issues().is_empty());
        assert_eq!(end.to_string(), "no valid answer (refused); answer 1: refused");
    }
}

#[test]
fn the_second_time_and_the_third() {
    let mut reask = booking(ReaskOptions::new().with_attempts(9));
    let wrong = r#"{"guest": "Ines", "nights": "some"}"#;
    assert!(!asked(says(&mut reask, wrong)).is_fresh());
    let second = asked(says(&mut reask, wrong));
    assert_eq!((second.is_fresh(), second.temperature()), (true, Some(0.7)));
    assert_eq!(ended(says(&mut reask, wrong)).reason(), EndReason::Repeated);
}

#[test]
fn no_progress_once_and_twice() {
    let mut reask = booking(ReaskOptions::new().with_attempts(9));
    asked(says(&mut reask, r#"{"guest": "Ines", "nights": "some"}"#));
    assert!(asked(says(&mut reask, r#"{"guest": "Ines", "nights": "a lot"}"#)).is_fresh());
    let end = ended(says(&mut reask, r#"{"guest": "Ines", "nights": "too many"}"#));
    assert_eq!(end.reason(), EndReason::NoProgress);
}

#[test]
fn the_list_is_asked_for_if_every_item_itself_is_wrong() {
    let fields = |rooms: &str| {
        let text = format!(r#"{{"guest": "A", "nights": 1, "rooms": {rooms}}}"#);
        let mut reask = Reask::new(&schema(BOOKING), ReaskOptions::for_tool("book"));
        asked(reask.answer(&Answer::arguments(text), NOW)).fields().to_vec()
    };
    assert_eq!(fields(r#"["big", "small"]"#), ["/rooms"]);
    assert_eq!(fields(r#"["big", {"beds": 1}]"#), ["/rooms/0"]);
    // Something in every item is wrong, but no item itself.
    assert_eq!(fields(r#"[{"beds": "b"}, {"beds": "c"}]"#), ["/rooms/0/beds", "/rooms/1/beds"]);
}

#[test]
fn a_mode_that_is_refused() {
    for body in [
        "response_format json_schema is not supported",
        r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"}}"#,
        r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"}}"#,
        r#"{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "* GenerateContentRequest.generation_config.response_schema.properties[a].properties: should be non-empty for OBJECT type"}}"#,
    ] {
        let mut reask = booking(ReaskOptions::new());
        reask.begin(NOW);
        assert_eq!(
            asked(reask.failed(Failure::status(400, body), NOW)).mode(),
            Mode::JsonObject,
            "{body}"
        );
    }
}

#[test]
fn a_generation_that_the_server_could_not_use() {
    let body =
        serde_json::json!({"error": {"code": "json_validate_failed", "failed_generation": VALID}});
    let mut reask = booking(ReaskOptions::new());
    reask.begin(NOW);
    assert_eq!(done(reask.failed(Failure::status(400, body.to_string()), NOW)).json(), VALID);
}

#[test]
fn a_temperature_an_abort_and_anything_else() {
    let mut reask = booking(ReaskOptions::new());
    reask.begin(NOW);
    let body = r#"{"error": {"param": "temperature", "message": "unsupported"}}"#;
    assert_eq!(asked(reask.failed(Failure::status(400, body), NOW)).temperature(), None);
    let step = reask.failed(Failure::status(503, ""), NOW);
    assert!(matches!(step, Step::Failed(_)));
    assert!(Retry::new(RetryPolicy::new(), 1).after(&Failure::status(503, "")).is_some());
    assert_eq!(ended(reask.failed(Failure::aborted(), NOW)).reason(), EndReason::Failed);
}
