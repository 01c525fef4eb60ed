//! More of what other systems have tests for, as tables: what a first answer leads to, and what a prompt says about it.

use core::{cell::RefCell, future::ready, time::Duration};

use futures::executor::block_on;
use wiremend_core::{Options, Policy};
use wiremend_reask::{
    Answer, AskKind, EndReason, Failure, Hint, Progress, Reask, ReaskOptions, Step, Strength,
};
use wiremend_schema::{FitOptions, Tree};

use crate::{asked, ended, says, schema};

const REPORT: &str = r#"{"type": "object", "properties": {"title": {"type": "string"}, "pages": {"type": "integer", "minimum": 1}},
    "required": ["title", "pages"], "additionalProperties": false}"#;
const NOW: Duration = Duration::ZERO;

fn strict() -> ReaskOptions {
    let engine = Options::new().with_policy(Policy::STRICT);
    ReaskOptions::new().with_fit(FitOptions::new().with_engine(engine))
}

/// The outcome of a first answer: `done`, or the kind of the question with its hints.
fn outcome(options: ReaskOptions, answer: &str) -> String {
    match says(&mut Reask::new(&schema(REPORT), options), answer) {
        Step::Done(_) => "done".to_owned(),
        Step::Ask(ask) => {
            let hints: Vec<&str> = ask.hints().iter().map(Hint::code).collect();
            format!("{:?} {}", ask.kind(), hints.join(" ")).trim_end().to_owned()
        }
        step => panic!("{step:?}"),
    }
}

#[test]
fn a_hint_is_about_what_cannot_be_repaired() {
    let good = r#"{"title": "Tides", "pages": 3}"#;
    for (answer, repaired, unrepaired) in [
        (good.to_owned(), "done", "done"),
        (format!("```json\n{good}\n```"), "done", "Whole fence"),
        (good.replace('"', "'"), "done", "Whole quotes"),
        (r#"{title: "Tides", "pages": 3}"#.to_owned(), "done", "Whole quotes"),
        (r#"{"title": Tides, "pages": 3}"#.to_owned(), "done", "Whole quotes"),
        (r#"{"title": "Tides", "pages": 3,}"#.to_owned(), "done", "Whole trailing-comma"),
        ("{\"title\": \"High\ntides\", \"pages\": 3}".to_owned(), "done", "Whole line-break"),
        // The JSON in a wrapper is read, and the wrapper is named where there is none in it.
        (format!("<tool_call>{good}</tool_call>"), "done", "Whole xml-wrapper"),
        (
            "<function_calls>title: Tides</function_calls>".to_owned(),
            "Whole xml-wrapper",
            "Whole xml-wrapper",
        ),
        // The words for a mistake are no mistake.
        (
            "I left out the trailing comma and every single quote.".to_owned(),
            "Whole prose",
            "Whole prose",
        ),
        // What is wrong with a value has nothing to do with the fence around it.
        ("```json\n{\"title\": \"Tides\", \"pages\": 0}\n```".to_owned(), "Fields", "Whole fence"),
    ] {
        assert_eq!(outcome(ReaskOptions::new(), &answer), repaired, "{answer}");
        assert_eq!(outcome(strict(), &answer), unrepaired, "{answer}");
    }
}

#[test]
fn the_schema_as_an_answer_gets_stronger_words_and_is_never_repeated() {
    let mut reask = Reask::new(&schema(REPORT), ReaskOptions::new());
    // The second one is another text, so that it is no repetition.
    let echoes = [REPORT.to_owned(), REPORT.replace("pages", "leaves")];
    let asks = echoes.map(|echo| asked(says(&mut reask, &echo)));
    for (ask, strength) in asks.iter().zip([Strength::Plain, Strength::Final]) {
        let text = ask.user_message().unwrap();
        assert_eq!((ask.kind(), ask.strength()), (AskKind::Whole, Some(strength)));
        assert!(text.contains("You returned the schema itself"), "{text}");
        assert!(!text.contains("leaves"), "{text}");
    }
    // The schema is stated again to a model that did not follow it twice, and as the schema.
    assert!(!asks[0].user_message().unwrap().contains("additionalProperties"));
    assert!(asks[1].user_message().unwrap().contains("The JSON Schema:\n"));
}

#[test]
fn the_same_call_three_times_ends_the_loop() {
    let options = ReaskOptions::for_tool("report").with_attempts(9);
    let mut reask = Reask::new(&schema(REPORT), options);
    // Neither white space nor the order of keys makes it another one.
    let calls = [
        r#"{"title": "Tides", "pages": 0}"#,
        r#"{"pages":0,"title":"Tides"}"#,
        r#"{"title": "Tides",  "pages": 0}"#,
    ];
    let mut steps = calls.map(|call| reask.answer(&Answer::arguments(call), NOW)).into_iter();
    let (first, second) = (asked(steps.next().unwrap()), asked(steps.next().unwrap()));
    assert_eq!((first.is_fresh(), second.is_fresh()), (false, true));
    assert_eq!(ended(steps.next().unwrap()).reason(), EndReason::Repeated);
}

#[test]
fn progress_says_why_each_call_is_made() {
    let seen = RefCell::new(Vec::new());
    let mut reask = Reask::new(&schema(REPORT), ReaskOptions::new());
    let clock = crate::driving::Clock::default();
    let driver = reask.driver(&clock).with_retry(wiremend_reask::RetryPolicy::new(), 1);
    let driver = driver.with_progress(|next: &Progress| {
        seen.borrow_mut().push((next.attempt, next.is_retry, next.reason.clone()));
    });
    let mut replies = [
        Ok(Answer::text(r#"{"title": "Tides", "pages": 0}"#)),
        Err(Failure::status(503, "later")),
        Ok(Answer::text(r#"{"pages": 3}"#)),
    ]
    .into_iter();
    block_on(driver.run(|_| ready(replies.next().unwrap()))).unwrap();
    let seen = seen.into_inner();
    assert_eq!(
        seen.iter().map(|one| (one.0, one.1)).collect::<Vec<_>>(),
        [(0, false), (1, false), (1, true)]
    );
    assert_eq!(seen[0].2, "");
    assert!(seen[1].2.starts_with("/pages: expected"), "{seen:?}");
    assert_eq!(seen[2].2, "overloaded (status 503): later");
}

#[test]
fn json_in_other_markers_counts_and_markers_without_json_do_not() {
    let good = r#"{"title": "Tides", "pages": 3}"#;
    assert_eq!(outcome(strict(), good), "done");
    // Elsewhere, text in other markers than the agreed ones has no JSON.
    let other = format!("NOTES_START\n{good}\nNOTES_END");
    assert_eq!(outcome(ReaskOptions::new(), &other), "done");
    assert_eq!(outcome(ReaskOptions::new(), "NOTES_START\nsee above\nNOTES_END"), "Whole prose");
}

#[test]
fn lists_and_their_items_are_as_open_as_the_schema_says() {
    let item = r#"{"type": "object", "properties": {"name": {"type": "string"}, "arguments": {"type": "object"}}"#;
    let list = |closed: &str| {
        schema(&format!(
            r#"{{"type": "object", "properties": {{"calls": {{"type": "array", "items": {item}{closed}}}}}}}}}"#
        ))
    };
    let (open, closed) = (list(""), list(r#", "additionalProperties": false"#));
    for (text, in_open, in_closed) in [
        (r#"{"calls": []}"#, true, true),
        (r#"{"calls": [{"name": "look", "arguments": {}}]}"#, true, true),
        (r#"{"calls": [{"name": "look", "arguments": {"deep": [1]}}]}"#, true, true),
        // Elsewhere, every object is closed.
        (r#"{"calls": [{"name": "look", "id": 7}]}"#, true, false),
        (r#"{"calls": [{"name": 7}]}"#, false, false),
    ] {
        let tree = Tree::read(text).unwrap();
        assert_eq!((open.accepts(&tree), closed.accepts(&tree)), (in_open, in_closed), "{text}");
    }
}
