//! A better answer stays what is corrected, whatever the model writes after it.

use core::time::Duration;

use wiremend_reask::{Answer, AskKind, EndReason, Reask, ReaskOptions};
use wiremend_wire::FinishReason;

use crate::{BOOKING, asked, booking, done, ended, says, schema};

const WRONG: &str = r#"{"guest": "Ines Pax", "nights": "two", "note": "by the sea"}"#;

/// Replies to a question for `/nights` that are no reply.
const OFF: [&str; 6] = [
    "I am sorry, I do not know how many nights.",
    "[1, 2, 3]",
    r#"{"status": "fine", "code": 7}"#,
    "{}",
    "",
    r#"{"guest": 4, "rooms": "all"}"#,
];

#[test]
fn a_reply_in_the_wrong_form_replaces_nothing() {
    for off in OFF {
        let mut reask = booking(ReaskOptions::new());
        asked(says(&mut reask, WRONG));
        let ask = asked(says(&mut reask, off));
        assert_eq!((ask.kind(), ask.fields()), (AskKind::Fields, &["/nights".to_owned()][..]));
        let prompt = ask.user_message().unwrap();
        assert!(prompt.contains("Ines Pax") && prompt.contains("by the sea"), "{prompt}");
        let done = done(says(&mut reask, r#"{"nights": 2}"#));
        assert_eq!(done.json(), r#"{"guest": "Ines Pax", "nights": 2, "note": "by the sea"}"#);
        assert_eq!(done.attempts()[1].answer(), off, "it is not lost");
    }
}

#[test]
fn the_best_answer_at_the_end_is_the_one_with_the_good_parts() {
    for off in OFF {
        let mut reask = booking(ReaskOptions::new().with_attempts(1));
        asked(says(&mut reask, WRONG));
        let end = ended(says(&mut reask, off));
        assert_eq!(end.reason(), EndReason::Attempts, "{off}");
        assert_eq!(end.best().unwrap().text(), WRONG, "{off}");
        assert_eq!(end.issues()[0].pointer(), "/nights");
    }
    // The order does not matter.
    for off in OFF {
        let mut reask = booking(ReaskOptions::new().with_attempts(1));
        asked(says(&mut reask, off));
        assert_eq!(ended(says(&mut reask, WRONG)).best().unwrap().text(), WRONG, "{off}");
    }
}

#[test]
fn the_whole_is_asked_for_with_the_best_answer() {
    // Nothing in it can be asked for on its own.
    let mut reask = booking(ReaskOptions::new().with_fields(0));
    asked(says(&mut reask, WRONG));
    let ask = asked(says(&mut reask, "Let me think about it first."));
    assert_eq!(ask.kind(), AskKind::Whole);
    // It is no progress, so earlier answers are left out.
    assert!(ask.is_fresh());
    assert!(ask.user_message().unwrap().contains("- /nights: expected integer"));
    assert!(ask.hints().iter().any(|hint| hint.code() == "prose"));
}

#[test]
fn of_equals_the_last_one_is_corrected_and_the_first_one_is_the_best() {
    let mut reask = booking(ReaskOptions::new());
    asked(says(&mut reask, WRONG));
    let ask = asked(says(&mut reask, r#"{"nights": 0}"#));
    assert!(ask.user_message().unwrap().contains("- /nights: "), "{:?}", ask.user_message());
    assert!(ask.user_message().unwrap().contains("got number 0"), "{:?}", ask.user_message());
    let end = ended(says(&mut reask, r#"{"nights": -4}"#));
    assert_eq!(end.best().unwrap().text(), WRONG);
}

#[test]
fn a_reply_that_was_cut_off_is_not_put_into_the_rest() {
    let length = |text: &str| Answer::text(text).with_finish(FinishReason::Length);
    for reply in ["1", r#"{"nights": 1"#, r#"{"nights": "#, "```json\n{\"nights\": 1"] {
        let mut reask = booking(ReaskOptions::new());
        asked(says(&mut reask, WRONG));
        let ask = asked(reask.answer(&length(reply), Duration::ZERO));
        assert_eq!((ask.kind(), ask.fields()), (AskKind::Fields, &["/nights".to_owned()][..]));
        assert!(ask.user_message().unwrap().contains("Ines Pax"), "{reply}");
    }
    let mut reask = booking(ReaskOptions::new());
    asked(says(&mut reask, WRONG));
    let closed = length("{\"nights\": 12}");
    assert!(done(reask.answer(&closed, Duration::ZERO)).json().contains("\"nights\": 12"));
    // The arguments of a call count only if they are JSON as they are.
    let mut reask = Reask::new(&schema(BOOKING), ReaskOptions::for_tool("book"));
    asked(says(&mut reask, WRONG));
    let call = Answer::arguments("{nights: 12}").with_finish(FinishReason::Length);
    assert_eq!(asked(reask.answer(&call, Duration::ZERO)).fields(), ["/nights"]);
}
