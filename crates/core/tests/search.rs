//! Whole texts that are searched for their cheapest reading.

use wiremend_core::{BufferedMender, MendOptions, Outcome, Policy, Repairs, Risk, apply, mend};

/// Damaged texts, what is made of them, and whether they seem to be complete.
const READINGS: [(&str, &str, bool); 16] = [
    // An answer that was begun again.
    (r#"{"{"title": "Minutes", "n": 3}"#, r#"{"title": "Minutes", "n": 3}"#, true),
    (r#"{"title":"Minu{"title":"Minutes"}"#, r#"{"title":"Minutes"}"#, false),
    (r#"{"kind": "note",{"kind": "note", "n": 1}"#, r#"{"kind": "note", "n": 1}"#, true),
    // Lost quotes and commas.
    (r#"{"title: "Minutes", "count: 3}"#, r#"{"title": "Minutes", "count": 3}"#, false),
    (r#"{"from": "Oslo"to": "Rome"}"#, r#"{"from": "Oslo","to": "Rome"}"#, true),
    (r#"["red", "green" blue"]"#, r#"["red", "green", "blue"]"#, true),
    (r#"{"kind "'note'", "n": 1}"#, r#"{"kind": "'note'", "n": 1}"#, false),
    // What belongs to no token.
    (r#"{"title": "Minutes"', "n": 1}"#, r#"{"title": "Minutes", "n": 1}"#, false),
    (r#"({"n": 1}"#, r#"{"n": 1}"#, false),
    (
        r#"{"title": ["Minutes"], ["Notes"], "n": 1}"#,
        r#"{"title": ["Minutes", "Notes"], "n": 1}"#,
        true,
    ),
    // What stands for something else.
    (r#"{"rate": 0. 25, "n": 1}"#, r#"{"rate": 0.25, "n": 1}"#, true),
    (r#"{\'title\': \'Minutes\'}"#, r#"{"title": "Minutes"}"#, true),
    (r#"{"place": <|"|>Oslo<|"|>, "n": 1}"#, r#"{"place": "Oslo", "n": 1}"#, true),
    (
        r#"{ĊĠĠ"title":Ġ"TheĠminutes",ĊĠĠ"n":Ġ3Ċ}"#,
        r#"{   "title": "The minutes",   "n": 3 }"#,
        true,
    ),
    // Formulas.
    ("{\"t\": \"so\n\\frac{1}{2} and \\alpha\"}", r#"{"t": "so\n\\frac{1}{2} and \\alpha"}"#, true),
    (
        r#"{"q": "\sqrt{2} \frac{a}{b}", "r": "\text{so} it is"}"#,
        r#"{"q": "\\sqrt{2} \\frac{a}{b}", "r": "\\text{so} it is"}"#,
        true,
    ),
];

fn searching() -> MendOptions {
    MendOptions::new()
}

#[test]
fn what_follows_later_decides() {
    for (text, want, complete) in READINGS {
        let mended = mend(text.as_bytes(), &searching());
        assert_eq!(mended.text(), Some(want), "{text}");
        assert_eq!(mended.outcome().is_complete(), complete, "{text}");
        let repaired = apply(text.as_bytes(), mended.repairs()).unwrap();
        assert_eq!(repaired, want.as_bytes(), "{text}");
        let again = mend(want.as_bytes(), &searching());
        assert_eq!(
            (again.outcome(), again.repairs()),
            (Outcome::Unchanged, &Repairs::new()),
            "{text}"
        );
    }
}

#[test]
fn a_text_in_pieces_is_searched_at_its_end() {
    for (text, want, _) in READINGS {
        for size in [1, 3, 64] {
            let mut mender = BufferedMender::new(searching());
            text.as_bytes().chunks(size).for_each(|piece| mender.push(piece, &mut ()));
            assert_eq!(mender.finish(&mut ()).text(), Some(want), "{text} {size}");
        }
    }
}

#[test]
fn white_space_around_a_text_changes_no_reading() {
    for (text, want, _) in READINGS {
        for (before, after) in [("", " "), ("", "\n\n"), ("\n", ""), ("\r\n\n", "\t\n ")] {
            let around = format!("{before}{text}{after}");
            let mended = mend(around.as_bytes(), &searching());
            assert_eq!(mended.text().map(str::trim), Some(want), "{around:?}");
        }
    }
}

#[test]
fn no_beginning_of_a_text_is_complete_that_was_not_without_the_search() {
    for (text, ..) in READINGS {
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            let beginning = &text.as_bytes()[..end];
            let alone = mend(beginning, &MendOptions::new().without_search()).outcome();
            let searched = mend(beginning, &searching()).outcome();
            let none = alone == Outcome::None;
            assert!(!searched.is_complete() || alone.is_complete() || none, "{text} {end}");
        }
    }
}

#[test]
fn a_policy_does_not_change_what_a_text_says() {
    let conservative = searching().with_policy(Policy::CONSERVATIVE);
    for (text, want, complete) in READINGS {
        let mended = mend(text.as_bytes(), &conservative);
        let risky = mend(text.as_bytes(), &searching())
            .repairs()
            .iter()
            .any(|repair| !Policy::CONSERVATIVE.permits(&repair));
        let wanted = (complete && !risky).then_some(want);
        assert_eq!(mended.text(), wanted, "{text}");
    }
}

#[test]
fn valid_text_and_what_has_no_rival_are_not_searched() {
    for text in [r#"{"a": [1, "x"]}"#, "{'a': None, /* b */ c: [1,],}", "```json\n{\"a\": 1}\n```"]
    {
        let alone = mend(text.as_bytes(), &MendOptions::new().without_search());
        assert_eq!(mend(text.as_bytes(), &searching()), alone);
    }
}

#[test]
fn a_long_text_is_searched_and_valid_text_in_it_changes_nothing() {
    for items in [0, 10, 6_000, 60_000] {
        let valid = "1, ".repeat(items);
        let text = format!(r#"[{valid}{{"from": "Oslo"to": "Rome"}}, {valid}1]"#);
        let want = format!(r#"[{valid}{{"from": "Oslo","to": "Rome"}}, {valid}1]"#);
        assert_eq!(mend(text.as_bytes(), &searching()).text(), Some(&*want));
    }
}

#[test]
fn white_space_before_a_text_is_no_indentation() {
    let text = "[{: null\n},[{[,:x]]]";
    let kinds = |text: &str| -> Vec<_> {
        mend(text.as_bytes(), &searching()).repairs().iter().map(|r| r.kind()).collect()
    };
    for space in ["  ", "\t", "\n", "\n\n  "] {
        assert_eq!(kinds(&format!("{space}{text}")), kinds(text), "{space:?}");
    }
}

#[test]
fn white_space_before_a_text_gives_no_reading_more_steps() {
    for part in ["{", "['`", r#"{"a": "x"y"z"#, r#"{"a" [ "b" } "#] {
        let text = part.repeat(3_000);
        let spaced = " ".repeat(200_000) + &text;
        for options in [searching(), searching().without_search()] {
            let kinds = |text: &str| -> Vec<_> {
                mend(text.as_bytes(), &options).repairs().iter().map(|r| r.kind()).collect()
            };
            assert!(kinds(&text) == kinds(&spaced), "{part}");
        }
    }
}

#[test]
fn a_repair_is_in_doubt_whose_rival_is_near() {
    let doubted = |text: &str, options: &MendOptions| {
        let mended = mend(text.as_bytes(), options);
        (mended.outcome(), mended.repairs().iter().map(|repair| repair.is_in_doubt()).collect())
    };
    let conservative = searching().with_policy(Policy::CONSERVATIVE);
    for (text, doubts) in [
        // Two words, or one with a comma in it.
        ("[hello, world]", &[false, true, true, false][..]),
        // A quote in the string, or one too many after it.
        (r#"{"b": 'x', "a": "5"", "b": 1}"#, &[false, false, true]),
    ] {
        assert_eq!(doubted(text, &searching()), (Outcome::Repaired, doubts.to_vec()), "{text}");
        let mended = mend(text.as_bytes(), &searching());
        assert_eq!(mended.repairs().risk(), Some(Risk::Guess), "{text}");
        // Up to the first one that is refused.
        let first = doubts.iter().position(|doubt| *doubt).unwrap();
        let refused = (Outcome::Invalid, doubts[..=first].to_vec());
        assert_eq!(doubted(text, &conservative), refused, "{text}");
        let alone = doubted(text, &searching().without_search());
        assert_eq!(alone, (Outcome::Repaired, vec![false; doubts.len()]), "{text}");
    }
    for text in [
        r#"{"a": 1, "b": "say "hi" now"}"#,
        r#"{"a": "x" "b": 1}"#,
        r#"{"from": "Oslo"to": "Rome"}"#,
        r#"["red", "green" blue"]"#,
    ] {
        let mended = mend(text.as_bytes(), &searching());
        assert!(mended.repairs().iter().all(|repair| !repair.is_in_doubt()), "{text}");
    }
}

#[test]
fn what_is_in_doubt_stays_so_in_a_list() {
    let mended = mend(b"[hello, world]", &searching());
    let again: Repairs = mended.repairs().iter().map(|repair| repair.shifted(1_000)).collect();
    assert_eq!(again.risk(), Some(Risk::Guess));
    let doubts: Vec<bool> = again.iter().map(|repair| repair.is_in_doubt()).collect();
    assert_eq!(doubts, [false, true, true, false]);
    assert_eq!(Repairs::new().risk(), None);
}

/// However many documents there are, and whoever asks.
#[test]
fn what_is_in_doubt_is_so_beside_other_documents() {
    for (text, limits) in [
        ("[hello, world]\n[hello, world]".to_owned(), MendOptions::new().limits()),
        (
            format!("{}[hello, world]{}", "[".repeat(140), "]".repeat(140)),
            MendOptions::new().limits().with_depth(1_000),
        ),
    ] {
        let mended = mend(text.as_bytes(), &searching().with_limits(limits));
        assert_eq!(mended.repairs().risk(), Some(Risk::Guess), "{text}");
        let conservative = searching().with_limits(limits).with_policy(Policy::CONSERVATIVE);
        assert_eq!(mend(text.as_bytes(), &conservative).outcome(), Outcome::Invalid, "{text}");
    }
}

#[test]
fn only_what_differs_is_in_doubt() {
    let text = "[{\"fr\\om\": \"Oslo\", \"\nto\": \"Rome\"}, {'fom': \"Bern\"}]";
    let mended = mend(text.as_bytes(), &searching());
    let single =
        mended.repairs().iter().filter(|r| r.kind() == wiremend_core::RepairKind::SingleQuote);
    assert!(single.count() == 2 && mended.repairs().iter().any(|r| r.is_in_doubt()));
    assert!(
        mended
            .repairs()
            .iter()
            .all(|r| !r.is_in_doubt() || r.kind() != wiremend_core::RepairKind::SingleQuote)
    );
}
