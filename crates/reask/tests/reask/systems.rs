//! What other systems do when an answer is wrong, in cases of our own: the same outcome here, or why another is right.

use core::time::Duration;
use std::cell::RefCell;

use futures::executor::block_on;
use serde_json::{Value, json};
use wiremend_core::{Options, Policy};
use wiremend_reask::{
    Answer, Ask, Done, EndReason, Exhausted, Failure, Progress, Reask, ReaskOptions, RetryPolicy,
    Strength, example,
};
use wiremend_schema::{FitOptions, Schema};

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
    let strict = || FitOptions::new().with_engine(Options::new().with_policy(Policy::STRICT));
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
    let likely = || FitOptions::new().with_engine(Options::new().with_policy(Policy::CONSERVATIVE));
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
