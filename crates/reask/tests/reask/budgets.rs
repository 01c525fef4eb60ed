//! Whatever a model answers: the loop ends within its budgets, and what it returns is valid.

use core::time::Duration;

use proptest::prelude::*;
use wiremend_reask::{
    Answer, AskKind, EndReason, Failure, Mode, ModeMemory, Reask, ReaskOptions, Step,
};
use wiremend_schema::Tree;
use wiremend_wire::FinishReason;

use crate::{BOOKING, asked, booking, ended, says, schema};

#[test]
fn tokens_are_counted_over_the_whole_loop() {
    let mut reask = booking(ReaskOptions::new().with_token_budget(1_000).with_attempts(9));
    let wrong = |nights: &str| {
        Answer::text(format!(r#"{{"guest": "A", "nights": "{nights}"}}"#)).with_tokens(300, 20)
    };
    let ask = asked(reask.answer(&wrong("a"), Duration::ZERO));
    assert_eq!(ask.tokens_left(), Some(680));
    asked(reask.answer(&wrong("b"), Duration::ZERO));
    // Forty tokens are fewer than the next prompt has.
    let end = ended(reask.answer(&wrong("c").with_tokens(300, 20), Duration::ZERO));
    assert_eq!(end.spent().tokens(), 960);
    assert!(matches!(end.reason(), EndReason::Tokens | EndReason::NoProgress));
    let mut reask = booking(ReaskOptions::new().with_token_budget(50));
    let end = ended(reask.answer(&wrong("a"), Duration::ZERO));
    assert_eq!(end.reason(), EndReason::Tokens);
}

#[test]
fn what_is_not_counted_is_estimated() {
    let mut reask = booking(ReaskOptions::new());
    says(&mut reask, &"x".repeat(400));
    assert_eq!((reask.spent().output(), reask.spent().is_estimated()), (100, true));
}

#[test]
fn the_cost_has_a_budget() {
    let mut reask = booking(ReaskOptions::new().with_cost_budget(100));
    asked(reask.answer(&Answer::text("a").with_cost(99), Duration::ZERO));
    let end = ended(reask.answer(&Answer::text("b").with_cost(1), Duration::ZERO));
    assert_eq!((end.reason(), end.spent().cost()), (EndReason::Cost, 100));
}

#[test]
fn the_deadline_counts_from_the_first_step() {
    let seconds = Duration::from_secs;
    let mut reask = booking(ReaskOptions::new().with_deadline(seconds(10)));
    let first = asked(reask.begin(seconds(100)));
    assert_eq!(first.time_left(), Some(seconds(10)));
    let ask = asked(reask.answer(&Answer::text("a"), seconds(106)));
    assert_eq!(ask.time_left(), Some(seconds(4)));
    // A valid answer counts even if it is late.
    let mut late = reask.clone();
    let valid = Answer::text(r#"{"guest": "A", "nights": 1}"#);
    assert!(matches!(late.answer(&valid, seconds(120)), Step::Done(_)));
    let end = ended(reask.answer(&Answer::text("b"), seconds(110)));
    assert_eq!(end.reason(), EndReason::Deadline);
}

/// A closed object, open ones, a union of definitions, lists, and texts.
const SCHEMAS: &[&str] = &[
    BOOKING,
    r#"{"type": "object", "properties": {"guest": {"type": "string"}, "nights": {"type": "integer"}}, "required": ["nights"]}"#,
    r##"{"oneOf": [{"$ref": "#/$defs/room"}, {"$ref": "#/$defs/stay"}], "$defs": {
        "room": {"type": "object", "properties": {"kind": {"const": "room"}, "beds": {"type": "integer"}}, "required": ["kind", "beds"]},
        "stay": {"type": "object", "properties": {"kind": {"const": "stay"}, "guest": {"type": "string"}}, "required": ["kind", "guest"]}
    }}"##,
    r#"{"type": "array", "items": {"type": "object", "properties": {"beds": {"type": "integer", "minimum": 1}}, "required": ["beds"]}, "minItems": 1}"#,
    r#"{"type": "array", "items": {"type": ["integer", "null"]}, "maxItems": 3}"#,
    r##"{"type": "object", "properties": {"guest": {"type": "string"}, "rooms": {"type": "array", "items": {"$ref": "#"}}}, "required": ["guest"]}"##,
    r#"{"type": "string", "minLength": 2}"#,
    r#"{"anyOf": [{"type": "integer"}, {"type": "object", "additionalProperties": {"type": "boolean"}}]}"#,
];

/// Something that a model, or the way to it, may do.
#[derive(Clone, Debug)]
enum Move {
    Says(String, bool, bool),
    Calls(String),
    Fails(u16, String),
    Loses,
}

fn texts() -> impl Strategy<Value = String> {
    let fragment = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        "\"guest\": ",
        "\"/nights\": ",
        "\"nights\": ",
        "\"rooms\": ",
        "\"kind\": \"stay\"",
        "\"kind\": \"ship\"",
        "true",
        "\"Ines\"",
        "3",
        "\"3\"",
        ", ",
        "null",
        "many",
        "```json\n",
        "\n```",
        "{\"guest\": \"A\", ",
        "{\"beds\": 1}",
        "'",
        "<task>",
        "</task>",
        " ",
        "\\u00",
        "é",
        "\u{1f600}",
        "<|im_end|>",
    ]);
    let made = prop::collection::vec(fragment, 0..9).prop_map(|parts| parts.concat());
    prop_oneof![
        4 => made,
        1 => Just(r#"{"guest": "A", "nights": "x"}"#.to_owned()),
        1 => Just(r#"{"guest": "A", "nights": 1, "dog": 2}"#.to_owned()),
        1 => Just(r#"{"/nights": 3}"#.to_owned()),
        1 => ".{0,40}",
    ]
}

fn moves() -> impl Strategy<Value = Move> {
    prop_oneof![
        6 => (texts(), any::<bool>(), prop::bool::weighted(0.2)).prop_map(|(text, is_cut, shown)| {
            Move::Says(text, is_cut, shown)
        }),
        1 => texts().prop_map(Move::Calls),
        2 => (prop::sample::select(vec![400u16, 400, 400, 401, 404, 422, 429, 503]), prop::sample::select(vec![
            "", "response_format json_schema is not supported", "response_format json_object is not supported", r#"{"error": {"message": "temperature is not supported"}}"#,
            r#"{"error": {"code": "json_validate_failed", "failed_generation": "{guest: 1"}}"#,
        ])).prop_map(|(status, body)| Move::Fails(status, body.to_owned())),
        1 => Just(Move::Loses),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn every_loop_ends_within_its_budgets(
        script in prop::collection::vec(moves(), 60),
        attempts in 0..4u32,
        continuations in 0..4u32,
        tokens in prop::option::of(200..3_000u64),
        cost in prop::option::of(0..40u64),
        conservative in any::<bool>(),
        source in prop::sample::select(SCHEMAS.to_vec()),
    ) {
        let options = if conservative { ReaskOptions::for_tool("book") } else { ReaskOptions::new() };
        let options = options.with_attempts(attempts).with_continuations(continuations);
        let options = match tokens {
            Some(tokens) => options.with_token_budget(tokens),
            None => options,
        };
        let options = match cost {
            Some(cost) => options.with_cost_budget(cost),
            None => options,
        };
        let memory = ModeMemory::new();
        let deadline = Duration::from_secs(40);
        let mut reask = Reask::new(&schema(source), options.with_deadline(deadline).with_memory("tiny", &memory));
        let (mut asks, mut mode) = (0u32, Mode::JsonSchema);
        // What was shown, which stays where it is.
        let (mut is_any_shown, mut shown) = (false, None::<String>);
        let mut pending = (AskKind::First, None);
        let mut step = reask.begin(Duration::ZERO);
        let mut moves = script.into_iter().zip(1u64..);
        let end = loop {
            match step {
                Step::Done(done) => break Ok(done),
                Step::Exhausted(end) => break Err(end),
                Step::Ask(ask) => {
                    prop_assert!(!is_any_shown, "a replacement of what was shown");
                    pending = (ask.kind(), None);
                    prop_assert!(ask.mode() >= mode, "{} after {mode}", ask.mode());
                    mode = ask.mode();
                    prop_assert!(ask.time_left() > Some(Duration::ZERO));
                    prop_assert!(cost.is_none_or(|cost| reask.spent().cost() < cost));
                    prop_assert!(ask.attempt() <= attempts);
                    prop_assert!(tokens.is_none() || ask.tokens_left() > Some(0));
                    asks += u32::from(ask.attempt() > 0);
                }
                Step::Continue(ask) => {
                    let prefix = ask.prefix().unwrap();
                    prop_assert!(ask.time_left() > Some(Duration::ZERO));
                    prop_assert!(cost.is_none_or(|cost| reask.spent().cost() < cost));
                    pending = (AskKind::Continue, Some(prefix.to_owned()));
                    if let Some(shown) = &shown {
                        prop_assert!(prefix.starts_with(shown.as_str()), "{prefix} after {shown}");
                    }
                }
                Step::Failed(_) => {}
                step => panic!("{step:?}"),
            }
            let (next, seconds) = moves.next().expect("the deadline ends it at the latest");
            let now = Duration::from_secs(seconds);
            step = match next {
                Move::Says(text, is_cut, is_shown) => {
                    let finish = if is_cut { FinishReason::Length } else { FinishReason::Stop };
                    let is_shown = is_shown && !text.is_empty();
                    if is_shown && !is_any_shown {
                        // What goes on belongs to what there was before; a reply with fields is no beginning of it.
                        shown = match &pending {
                            (AskKind::Fields, _) => None,
                            (AskKind::Continue, prefix) => prefix.clone(),
                            _ => Some(text.clone()),
                        };
                    }
                    is_any_shown |= is_shown;
                    let answer = Answer::text(text).with_finish(finish).with_cost(1);
                    reask.answer(&answer.with_shown(is_shown), now)
                }
                Move::Calls(text) => reask.answer(&Answer::arguments(text), now),
                Move::Fails(status, body) => reask.failed(Failure::status(status, body), now),
                Move::Loses => reask.failed(Failure::network("reset"), now),
            };
        };
        prop_assert!(asks <= attempts + 3, "{asks} questions");
        let spent = match &end {
            Ok(done) => {
                let tree = Tree::read(done.json()).unwrap();
                prop_assert!(schema(source).accepts(&tree), "{source}: {}", done.json());
                prop_assert!(done.risk() >= done.fitted().risk());
                prop_assert_eq!(done.fitted().text(), Some(done.json()));
                prop_assert!(done.fitted().outcome().is_complete());
                // It was read from a text that goes on from what was shown.
                let text = done.attempts().last().unwrap().text();
                prop_assert!(shown.as_deref().is_none_or(|shown| text.starts_with(shown)), "{text:?} after {shown:?}");
                done.spent()
            }
            Err(end) => {
                prop_assert!(end.best().is_none_or(|best| best.text().len() < 10_000));
                end.spent()
            }
        };
        // One for the first answer, and one that may come after a failed generation.
        prop_assert!(spent.calls() <= attempts + continuations + 1, "{spent:?}");
        // The same end again.
        let before = *reask.spent();
        prop_assert!(matches!(says(&mut reask, "x"), Step::Done(_) | Step::Exhausted(_)));
        prop_assert_eq!(before, *reask.spent());
    }
}

#[test]
fn the_request_and_the_prefix_count_before_a_call_is_made() {
    // Of the answer, 100 tokens are estimated; the continuation sends them again.
    let text = format!("{{\"guest\": \"{}", "x".repeat(389));
    let cut = Answer::text(text.as_str()).with_finish(FinishReason::Length);
    let ends = |options: ReaskOptions| {
        let mut reask = booking(options);
        match reask.answer(&cut, Duration::ZERO) {
            Step::Exhausted(end) => Some(end.reason()),
            _ => None,
        }
    };
    let with = |tokens| ReaskOptions::new().with_token_budget(tokens);
    let least = (100..2_000).find(|tokens| ends(with(*tokens)).is_none()).unwrap();
    assert!(least > 200, "{least}");
    // Once for the answer, and once for the next call.
    assert_eq!(ends(with(least + 100).with_request_tokens(50)), None);
    assert_eq!(ends(with(least + 99).with_request_tokens(50)), Some(EndReason::Tokens));
}
