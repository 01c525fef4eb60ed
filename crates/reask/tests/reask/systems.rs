//! What other systems do when an answer is wrong, and what they accept and reject when they validate, in cases of our
//! own: the same outcome here, or why another is right. Validating changes nothing; making a value fit is a second step,
//! which says what it changed.

use core::{cell::RefCell, future::ready, time::Duration};

use futures::executor::block_on;
use serde_json::{Value, json};
use wiremend_core::{MendOptions, Outcome, Policy, Risk};
use wiremend_reask::{
    Answer, Ask, AskKind, Done, EndReason, Exhausted, Failure, Hint, Progress, Reask, ReaskOptions,
    RetryPolicy, Step, Strength, example,
};
use wiremend_schema::{FitOptions, Fitted, Rule, Schema, SchemaOptions, Tree};

use crate::{asked, done, driving::Clock, ended, says, schema};

const REVIEW: &str = r#"{"type": "object", "properties": {"verdict": {"type": "string"}, "stars": {"type": "number"}},
    "required": ["verdict", "stars"]}"#;
const GOOD: &str = r#"{"verdict": "fine", "stars": 4}"#;

type Reply = Result<Answer, Failure>;

fn text(text: &str) -> Reply {
    Ok(Answer::text(text))
}

/// Runs a loop against a script. How it ended, how many calls were made, and how long each wait was.
fn run(
    schema: &Schema,
    options: ReaskOptions,
    retry: Option<RetryPolicy>,
    replies: &[Reply],
) -> (Result<Done, Exhausted>, usize, Vec<u128>) {
    let clock = Clock::default();
    let waits = RefCell::new(Vec::new());
    let mut calls = 0;
    let mut reask = Reask::new(schema, options);
    let driver = reask.driver(&clock).with_progress(|next: &Progress| {
        if next.is_retry {
            waits.borrow_mut().push(next.delay.as_millis());
        }
    });
    let model = |_: Ask| {
        calls += 1;
        core::future::ready(replies.get(calls - 1).cloned().expect("no further call"))
    };
    let end = match retry {
        Some(policy) => block_on(driver.with_retry(policy, 1).run(model)),
        None => block_on(driver.run(model)),
    };
    (end, calls, waits.into_inner())
}

fn review(options: ReaskOptions, replies: &[Reply]) -> (Result<Done, Exhausted>, usize) {
    let (end, calls, _) = run(&schema(REVIEW), options, None, replies);
    (end, calls)
}

#[test]
fn what_is_valid_or_fenced_takes_one_call() {
    for answer in [GOOD, &format!("```json\n{GOOD}\n```"), &format!("```\n{GOOD}\n```")] {
        let (end, calls) = review(ReaskOptions::new(), &[text(answer)]);
        assert_eq!((end.unwrap().json(), calls), (GOOD, 1));
    }
    let scale = schema(
        r#"{"type": "object", "properties": {"level": {"enum": [0, 1, 2]}, "why": {"type": "string", "minLength": 1}},
        "required": ["level", "why"]}"#,
    );
    let answer = text("```json\n{\"level\": 2, \"why\": \"Clear and complete\"}\n```");
    let (end, calls, _) = run(&scale, ReaskOptions::new(), None, &[answer]);
    let value: Value = end.unwrap().parse().unwrap();
    assert_eq!((value, calls), (json!({"level": 2, "why": "Clear and complete"}), 1));
}

#[test]
fn one_correction_is_enough_for_a_model_that_listens() {
    for first in [r#"{"verdict": "fine"}"#, "I would say it is fine."] {
        let (end, calls) = review(ReaskOptions::new(), &[text(first), text(GOOD)]);
        let end = end.unwrap();
        assert_eq!(
            (end.parse::<Value>().unwrap(), calls),
            (json!({"verdict": "fine", "stars": 4}), 2)
        );
        assert_eq!(end.attempts().len(), 2);
    }
}

#[test]
fn a_model_that_does_not_listen_is_asked_twice() {
    // Elsewhere, the raw text at the end is that of the last answer. Here it is the best one, and the others are there.
    let replies =
        [r#"{"verdict": "good"}"#, r#"{"verdict": "no stars"}"#, r#"{"verdict": "again"}"#]
            .map(text);
    let (end, calls) = review(ReaskOptions::new(), &replies);
    let end = end.unwrap_err();
    assert_eq!((end.best().unwrap().answer(), calls), (r#"{"verdict": "good"}"#, 3));
    assert_eq!(end.attempts().last().unwrap().answer(), r#"{"verdict": "again"}"#);
    let (end, calls) =
        review(ReaskOptions::new().with_attempts(1), &[text("no JSON"), text("none either")]);
    let end = end.unwrap_err();
    assert_eq!(
        (end.reason(), end.issues()[0].code().code(), calls),
        (EndReason::Attempts, "syntax", 2)
    );
    // Without corrections, one call.
    let (end, calls) = review(ReaskOptions::new().with_attempts(0), &[text("{}")]);
    assert_eq!((end.unwrap_err().reason(), calls), (EndReason::Attempts, 1));
}

#[test]
fn the_end_says_what_was_wrong_with_each_answer() {
    let wrong = [text(r#"{"other": true}"#), text(r#"{"unknown": 1}"#)];
    let (end, _) = review(ReaskOptions::new().with_attempts(1), &wrong);
    let words = end.unwrap_err().to_string();
    for part in ["answer 1: /: missing", "answer 2: /: missing"] {
        assert!(words.contains(part), "{words}");
    }
    let (end, _) = review(
        ReaskOptions::new(),
        &[text("[]")]
            .into_iter()
            .chain([Err(Failure::timed_out("no answer within 30 s"))])
            .collect::<Vec<_>>(),
    );
    let words = end.unwrap_err().to_string();
    assert!(words.contains("answer 1: /: expected object, got array []"), "{words}");
    assert!(words.ends_with("then timed-out: no answer within 30 s"), "{words}");
    // What the first call took is reported although the second one failed.
    let counted = Ok(Answer::text("not JSON").with_tokens(10, 3));
    let (end, _) = review(ReaskOptions::new(), &[counted, Err(Failure::network("reset"))]);
    let end = end.unwrap_err();
    assert_eq!(
        (end.reason(), end.spent().input(), end.spent().output()),
        (EndReason::Failed, 10, 3)
    );
}

#[test]
fn a_failed_call_is_no_answer() {
    let limited = || Err(Failure::status(429, "slow down"));
    let (end, calls) = review(ReaskOptions::new(), &[limited()]);
    let end = end.unwrap_err();
    assert_eq!((end.reason(), end.attempts().len(), calls), (EndReason::Failed, 0, 1));
}

#[test]
fn failed_calls_are_repeated_within_bounds() {
    let good = || text(GOOD);
    let busy = || Err(Failure::status(503, "overloaded"));
    let limited = || Err(Failure::status(429, ""));
    let slow = || Err(Failure::timed_out("30 s"));
    let policy = RetryPolicy::new().with_jitter(0);
    let quick = policy.with_base(Duration::from_millis(100));
    let waited = Err(Failure::status(429, "").with_retry_after(Duration::from_millis(2345)));
    for (policy, replies, waits) in [
        (policy, vec![busy(), good()], vec![1000]),
        (policy, vec![limited(), good()], vec![1000]),
        (quick, vec![limited(), busy(), good()], vec![100, 200]),
        (quick, vec![waited, good()], vec![2345]),
        (
            policy.with_cap(Duration::from_millis(1500)),
            vec![limited(), limited(), limited(), good()],
            vec![1000, 1500, 1500],
        ),
    ] {
        let (end, calls, waited) =
            run(&schema(REVIEW), ReaskOptions::new(), Some(policy), &replies);
        assert_eq!((end.unwrap().json(), calls, waited), (GOOD, replies.len(), waits));
    }
    for (policy, replies, waits) in [
        (policy, vec![Err(Failure::status(400, "Bad request"))], 0),
        (policy, vec![Err(Failure::status(401, "invalid key"))], 0),
        (policy, vec![Err(Failure::aborted())], 0),
        (policy.with_retries(2), vec![slow(), slow(), slow()], 2),
        // Elsewhere, a rate limit is waited for without a limit.
        (policy, vec![limited(); 7], 6),
    ] {
        let (end, calls, waited) =
            run(&schema(REVIEW), ReaskOptions::new(), Some(policy), &replies);
        let end = end.unwrap_err();
        assert_eq!((end.reason(), calls, waited.len()), (EndReason::Failed, replies.len(), waits));
        assert_eq!(end.failure(), replies.last().unwrap().as_ref().err());
    }
}

#[test]
fn the_same_text_three_times_ends_the_loop() {
    let same = vec![text("I will now look at the file."); 9];
    let (end, calls) = review(ReaskOptions::new().with_attempts(9), &same);
    assert_eq!((end.unwrap_err().reason(), calls), (EndReason::Repeated, 3));
    // So does other text each time, instead of a call.
    let other: Vec<Reply> =
        (0..9).map(|n| text(&format!("I look at file {n}, as you said."))).collect();
    let options = ReaskOptions::for_tool("review").with_attempts(9);
    let (end, calls, _) = run(&schema(REVIEW), options, None, &other);
    assert_eq!((end.unwrap_err().reason(), calls), (EndReason::NoProgress, 3));
}

fn prompt(answer: &str) -> String {
    let mut reask = Reask::new(&schema(REVIEW), ReaskOptions::new());
    asked(says(&mut reask, answer)).user_message().unwrap().to_owned()
}

#[test]
fn hints_are_about_what_was_done_and_not_about_what_was_said() {
    // Elsewhere, the words "trailing comma" in an answer are taken for one.
    let mut reask = Reask::new(&schema(REVIEW), ReaskOptions::new());
    let words = "I wrote no trailing comma, no newline and no single quote.";
    let ask = asked(says(&mut reask, words));
    assert_eq!(ask.hints().iter().map(wiremend_reask::Hint::code).collect::<Vec<_>>(), ["prose"]);
}

#[test]
fn a_prompt_states_the_error_and_an_excerpt() {
    let wrong = prompt("It was fine. I have no stars to give.");
    assert!(wrong.contains("\n- /: no JSON value"), "{wrong}");
    assert!(wrong.contains("\nIt was fine. I have no stars to give.\n"), "{wrong}");
    // Elsewhere, an invalid answer is repeated as a whole, however long it is.
    let long = prompt(&"well ".repeat(1_000));
    assert_eq!(long.matches("well ").count(), 400);
    assert!(long.contains("Its last 3000 characters are left out."));
}

#[test]
fn the_number_of_the_attempt_is_stated_from_the_second_on() {
    let mut reask =
        Reask::new(&schema(REVIEW), ReaskOptions::new().with_attempts(3).with_fields(0));
    let answers = ["no", r#"{"verdict": 1.5, "stars": []}"#, r#"{"verdict": "a"}"#];
    let asks = answers.map(|answer| asked(says(&mut reask, answer)));
    let strengths = asks.each_ref().map(|ask| ask.strength().unwrap());
    assert_eq!(strengths, [Strength::Plain, Strength::Firm, Strength::Final]);
    let prompts = asks.map(|ask| ask.user_message().unwrap().to_owned());
    // A model that hears of further attempts has no reason to be careful in the first one.
    assert!(!prompts[0].contains("of 3"));
    assert!(prompts[1].contains("correction 2 of 3"), "{}", prompts[1]);
    assert!(prompts[2].contains("last attempt"), "{}", prompts[2]);
}

#[test]
fn a_schema_that_came_back_is_not_sent_once_more() {
    let wrong = prompt(REVIEW);
    assert!(wrong.contains("You returned the schema itself"), "{wrong}");
    assert!(!wrong.contains("\"required\""), "{wrong}");
}

#[test]
fn examples_have_descriptions_and_the_values_of_their_types() {
    let of = |text: &str| example(&schema(text)).value().to_string();
    let text = r#"{"type": "object", "properties": {"who": {"type": "string", "description": "Full name"},
        "size": {"type": "number"}, "open": {"type": "boolean"}, "tags": {"type": "array"}}}"#;
    assert_eq!(of(text), r#"{"who":"Full name","size":0,"open":false,"tags":[]}"#);
    // Elsewhere, there is an example of objects only.
    assert_eq!(of(r#"{"type": "string"}"#), "\"text\"");
}

#[test]
fn issues_name_the_place_what_is_expected_and_what_was_received() {
    let calls = schema(
        r#"{"type": "object", "properties": {
            "calls": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
            "mode": {"enum": ["short", "usual", "long"]}
        }}"#,
    );
    let strict = || FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::STRICT));
    let issues = |answer: &str| {
        let options = ReaskOptions::new().with_fit(strict()).with_attempts(0);
        ended(says(&mut Reask::new(&calls, options), answer)).issues()[0].to_string()
    };
    assert_eq!(
        issues(r#"{"calls": [{"name": 17}]}"#),
        "/calls/0/name: expected string, got number 17"
    );
    assert_eq!(
        issues(r#"{"mode": "endless"}"#),
        r#"/mode: expected one of "long", "short", "usual", got string "endless""#
    );
    assert_eq!(issues("[1]"), "/: expected object, got array [1]");
    // Of many issues, some are listed and the others are counted.
    let list = schema(r#"{"type": "array", "items": {"type": "integer"}}"#);
    let mut reask = Reask::new(&list, ReaskOptions::new().with_fit(strict()).with_fields(0));
    let ask = asked(says(&mut reask, &format!("[{}1]", "\"a\", ".repeat(11))));
    let text = ask.user_message().unwrap();
    assert_eq!((text.matches("\n- /").count(), text.contains("\n+3 more")), (8, true), "{text}");
}

#[test]
fn markers_around_json_are_words_around_json() {
    let plot = schema(
        r#"{"type": "object", "properties": {"mark": {"type": "string"}, "encoding": {"type": "object"}},
        "required": ["mark", "encoding"], "additionalProperties": false}"#,
    );
    let likely =
        || FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE));
    let first = |schema: &Schema, answer: &str| {
        let options = ReaskOptions::new().with_fit(likely());
        says(&mut Reask::new(schema, options), answer)
    };
    let framed = |inside: &str| format!("PLOT_BEGIN\n{inside}\nPLOT_END");
    let valid = r#"{"mark": "bar", "encoding": {}}"#;
    assert_eq!(done(first(&plot, &framed(valid))).json(), valid);
    // Without the markers, the JSON counts too.
    assert_eq!(done(first(&plot, valid)).json(), valid);
    for (inside, issue) in [
        ("", "no JSON value"),
        // Elsewhere, this is JSON of the wrong type. Here a word among words is no JSON.
        ("null", "no JSON value"),
        (r#"{"mark": "bar", "encoding": {}, "data": {}}"#, "/data: unexpected property"),
        (r#"{"mark": "bar"}"#, "missing required property \"encoding\""),
    ] {
        let ask = asked(first(&plot, &framed(inside)));
        let text = ask.user_message().unwrap();
        assert!(text.contains(issue), "{inside}: {text}");
    }
    let rows = schema(r#"{"type": "array", "items": {"type": "object"}}"#);
    for (inside, issue) in [
        ("[null]", "/0: expected object, got null"),
        (r#"[["a"]]"#, "/0: expected object, got array"),
    ] {
        let ask = asked(first(&rows, &framed(inside)));
        assert!(ask.user_message().unwrap().contains(issue), "{:?}", ask.user_message());
    }
    // Elsewhere, a word without quotes is an error. Here it is text, if the policy allows it.
    assert_eq!(
        done(says(&mut Reask::new(&rows, ReaskOptions::new()), &framed("[{\"kind\": odd}]")))
            .json(),
        r#"[{"kind": "odd"}]"#
    );
}

const REPORT: &str = r#"{"type": "object", "properties": {"title": {"type": "string"}, "pages": {"type": "integer", "minimum": 1}},
    "required": ["title", "pages"], "additionalProperties": false}"#;
const NOW: Duration = Duration::ZERO;

fn strictly() -> ReaskOptions {
    let engine = MendOptions::new().with_policy(Policy::STRICT);
    ReaskOptions::new().with_fit(FitOptions::new().with_mending(engine))
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
        assert_eq!(outcome(strictly(), &answer), unrepaired, "{answer}");
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
    assert_eq!(outcome(strictly(), good), "done");
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

fn accepts(schema: &Schema, text: &str) -> bool {
    schema.accepts(&Tree::read(text).unwrap())
}

fn fit(schema: &Schema, text: &str, policy: Policy) -> Fitted {
    let engine = MendOptions::new().with_policy(policy);
    schema.fit(text.as_bytes(), &FitOptions::new().with_mending(engine))
}

/// The issues of a text, each on a line, without any repair.
fn issues(schema: &str, text: &str) -> Vec<String> {
    let schema = crate::schema(schema);
    let fitted = fit(&schema, text, Policy::STRICT);
    fitted.issues().iter().map(ToString::to_string).collect()
}

#[test]
fn days_and_times_are_those_of_the_calendar() {
    // A day, or a time with or without its zone; formats are asserted in draft 7.
    let event = schema(
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"at": {"anyOf": [
            {"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}, {"type": "null"},
            {"type": "string", "pattern": "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3])(:[0-5]\\d){2}$"}
        ]}}, "required": ["at"]}"#,
    );
    let is_accepted = |at: &str| accepts(&event, &format!("{{\"at\": {at}}}"));
    for at in [
        "\"2027-03-04T08:15:00\"",
        "\"2027-03-04T08:15:00Z\"",
        "\"2027-03-04T08:15:00-03:30\"",
        "\"2028-02-29\"",
        "null",
    ] {
        assert!(is_accepted(at), "{at}");
    }
    for at in [
        "\"2027/03/04 08:15\"",
        "\"2027-02-29\"",
        "\"2027-14-01\"",
        "\"2027-03-04T08:15\"",
        "\"2027-03-32T08:15:00\"",
        "\"2027-03-04T24:30:00\"",
        "\"2027-03-04T08:60:00\"",
        "\"2027-03-04T08:15:75\"",
        "true",
    ] {
        assert!(!is_accepted(at), "{at}");
    }
}

#[test]
fn validating_converts_nothing() {
    for (kind, wrong) in [
        (r#"{"type": "boolean"}"#, "\"true\""),
        (r#"{"enum": [0, 1, 2]}"#, "\"1\""),
        (r#"{"type": "number"}"#, "\"7\""),
    ] {
        let value = schema(&format!(r#"{{"properties": {{"a": {kind}}}}}"#));
        let text = format!("{{\"a\": {wrong}}}");
        assert!(!accepts(&value, &text));
        // Making it fit does, and says so. Without repairs, the text comes back as it is, with its issues.
        let fitted = fit(&value, &text, Policy::PERMISSIVE);
        assert_eq!((fitted.text().is_some(), fitted.applied().len()), (true, 1), "{text}");
        let strict = fit(&value, &text, Policy::STRICT);
        assert_eq!((strict.text(), strict.mended()), (None, Some(text.as_str())));
        assert_eq!(strict.outcome(), Outcome::Invalid);
    }
    let urgency = schema(r#"{"type": "integer", "minimum": 1, "maximum": 5}"#);
    assert!(["1", "5"].iter().all(|text| accepts(&urgency, text)));
    assert!(["0", "6", "2.5", "\"high\""].iter().all(|text| !accepts(&urgency, text)));
    let reason = schema(r#"{"type": "string", "minLength": 1}"#);
    assert!(accepts(&reason, "\"x\"") && !accepts(&reason, "\"\""));
}

#[test]
fn unknown_names_other_names_and_defaults_are_a_matter_of_the_schema() {
    let grade = schema(
        r#"{"type": "object", "properties": {"grade": {"type": "integer", "x-aliases": ["grade_value"]},
            "why": {"type": "string"}, "tags": {"type": "array", "default": []}},
        "required": ["grade", "why", "tags"], "additionalProperties": false}"#,
    );
    let made = |text: &str| {
        let fitted = fit(&grade, text, Policy::PERMISSIVE);
        let rules: Vec<Rule> =
            fitted.applied().iter().map(wiremend_schema::Applied::rule).collect();
        (fitted.text().map(str::to_owned), rules, fitted.risk())
    };
    let text = r#"{"grade": 3, "why": "ok", "tags": [], "more": 1}"#;
    let kept = r#"{"grade": 3, "why": "ok", "tags": []}"#;
    assert_eq!(made(text), (Some(kept.into()), vec![Rule::DropUnknown], Some(Risk::Lossy)));
    let text = r#"{"grade_value": 3, "why": "ok", "tags": []}"#;
    assert_eq!(made(text), (Some(kept.into()), vec![Rule::KeyAlias], Some(Risk::Likely)));
    // The declared name is the one that counts.
    let text = r#"{"grade": 3, "grade_value": 9, "why": "ok", "tags": []}"#;
    assert_eq!(made(text).0.as_deref(), Some(kept));
    let text = r#"{"grade": 3, "why": "ok"}"#;
    assert_eq!(made(text), (Some(kept.into()), vec![Rule::FillDefault], Some(Risk::Guess)));
    // Elsewhere, every object is closed. Here a schema that does not say so accepts more, also through a reference.
    for open in [
        r#"{"type": "object", "properties": {"a": {"type": "string"}}}"#,
        r#"{"properties": {"a": {"type": "string"}}}"#,
        r##"{"type": "object", "$ref": "#/definitions/own", "definitions": {"own": {"properties": {"a": {"type": "string"}}}}}"##,
    ] {
        assert!(accepts(&schema(open), r#"{"a": "x", "b": "y"}"#), "{open}");
    }
}

#[test]
fn what_is_no_json_is_repaired_or_reported_and_never_valid_as_it_is() {
    let any = schema("{}");
    for text in [
        r#"{"a": "b"}"#,
        "[1, 2]",
        "null",
        "17",
        "\"word\"",
        "true",
        r#"{"a": {"b": [1, {"c": true}], "d": null}}"#,
        r#"["It's fine"]"#,
        r#"{"sum": "2 * 3 = 6"}"#,
    ] {
        let fitted = fit(&any, text, Policy::STRICT);
        assert_eq!((fitted.text(), fitted.outcome()), (Some(text), Outcome::Unchanged));
    }
    for (text, made) in [
        ("{\"a\": word}", Some(r#"{"a": "word"}"#)),
        ("{\"a\": \"b\",}", Some(r#"{"a": "b"}"#)),
        ("{a: \"b\"}", Some(r#"{"a": "b"}"#)),
        ("[\"a\", 'b']", Some(r#"["a", "b"]"#)),
        ("{'a': 'b'}", Some(r#"{"a": "b"}"#)),
        ("{\"a\": two words}", Some(r#"{"a": "two words"}"#)),
        (r#"{"p": "C:\user\*"}"#, Some(r#"{"p": "C:\\user\\*"}"#)),
        ("", None),
    ] {
        assert!(Tree::read(text).is_err());
        assert_eq!(fit(&any, text, Policy::STRICT).text(), None, "{text}");
        let fitted = fit(&any, text, Policy::PERMISSIVE);
        assert_eq!(fitted.text(), made, "{text}");
        assert!(made.is_none() || fitted.outcome() == Outcome::Repaired);
    }
    // What was cut off may be closed, but is not complete.
    for text in ["{\"a\":", "{\"a\": ", "{\"a\": \"b}"] {
        assert!(!fit(&any, text, Policy::PERMISSIVE).outcome().is_complete(), "{text}");
    }
}

#[test]
fn issues_say_what_to_do() {
    let person = r#"{"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "number"}},
        "required": ["name", "age"], "additionalProperties": false}"#;
    assert_eq!(issues(person, r#"{"name": "Ana", "age": 31}"#), Vec::<String>::new());
    for (schema, text, issue) in [
        (person, r#"{"name": "Ana"}"#, "/: missing required property \"age\" (number)"),
        (
            person,
            r#"{"name": "Ana", "age": "thirty-one"}"#,
            "/age: expected number, got string \"thirty-one\"",
        ),
        (person, r#"{"name": "Ana", "age": 1, "cat": 1}"#, "/cat: unexpected property"),
        (
            r#"{"properties": {"role": {"enum": ["reader", "writer"]}}}"#,
            r#"{"role": "owner"}"#,
            "/role: expected one of \"reader\", \"writer\", got string \"owner\"",
        ),
        (
            r#"{"properties": {"user": {"properties": {"home": {"required": ["city"], "properties": {"city": {"type": "string"}}}}}}}"#,
            r#"{"user": {"home": {}}}"#,
            "/user/home: missing required property \"city\" (string)",
        ),
        // Elsewhere, null is called an object.
        (person, r#"{"name": null, "age": 1}"#, "/name: expected string, got null"),
    ] {
        assert_eq!(issues(schema, text), [issue], "{text}");
    }
    for (schema, text, bound) in [
        (r#"{"properties": {"age": {"maximum": 150}}}"#, r#"{"age": 170}"#, "150"),
        (r#"{"properties": {"name": {"minLength": 3}}}"#, r#"{"name": "ab"}"#, "3"),
    ] {
        let all = issues(schema, text);
        assert!(all.len() == 1 && all[0].contains(bound), "{all:?}");
    }
}

#[test]
fn a_schema_is_read_as_it_is_written() {
    assert!(Schema::from_text("not a schema").is_err());
    // Elsewhere, objects in parts of a schema are closed one by one, so that nothing fits all parts.
    let parts = schema(
        r#"{"allOf": [{"type": "object", "properties": {"a": {"type": "number"}}}, {"type": "object", "properties": {"b": {"type": "string"}}}]}"#,
    );
    assert!(accepts(&parts, r#"{"a": 1, "b": "x"}"#));
    // And a dialect is no reason to refuse every answer.
    let newest = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}"#;
    assert!(accepts(&schema(newest), r#"{"a": "b"}"#));
    // In the newest drafts a format says nothing, unless somebody wants it to.
    let link = serde_json::json!({"type": "string", "format": "uri"});
    assert!(Schema::compile(&link).unwrap().accepts(&Tree::read("\"ab\"").unwrap()));
    let asserted = SchemaOptions::new().with_format_assertion(true);
    let strict = Schema::compile_with(&link, asserted).unwrap();
    assert!(!accepts(&strict, "\"ab\"") && accepts(&strict, "\"https://example.org/\""));
}
