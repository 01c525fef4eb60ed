//! Converts a scalar to one of the values that `enum` or `const` lists.

use serde_json::Value;
use wiremend_core::Risk;

use super::{Coerced, Scalar};
use crate::{
    Rule,
    compile::{Choices, words},
    names::{distance, folded},
};

/// What may separate a named value from the words that explain it.
const DELIMITERS: [char; 10] = ['-', '–', '—', ':', '(', ',', ';', '.', '=', '\n'];

/// The longest text that is searched for a listed value, in bytes. A longer text is prose.
pub(crate) const LONGEST: usize = 4_096;
/// The most words that are searched for a listed value.
const WORDS: usize = 12;
/// Words that may negate the listed value that follows them.
const TURNING: [&str; 12] = [
    "not", "no", "non", "or", "neither", "nor", "except", "without", "never", "unlike", "than",
    "isn",
];

pub(super) fn propose(scalar: Scalar<'_>, choices: &Choices, proposals: &mut Vec<Coerced>) {
    match scalar {
        Scalar::String(text) => from_text(text, choices, proposals),
        Scalar::Number(raw) => retyped(choices.exact(raw), proposals),
        Scalar::Boolean(value) => {
            let word = if value { "true" } else { "false" };
            retyped(choices.only_like(|name| name == word), proposals);
        }
        Scalar::Null => null(choices, proposals),
    }
}

/// Proposes `null` if one of the listed values is called that. The text may also mean that there is
/// no value, especially if the listed value is a word of its own.
fn null(choices: &Choices, proposals: &mut Vec<Coerced>) {
    let none = [choices.exact("none"), choices.exact("None")];
    let none = match none {
        [Some(one), None] | [None, Some(one)] => Some(one),
        _ => None,
    };
    let found = choices.exact("null").map(|option| (option, Risk::Likely));
    let found = found.or_else(|| none.map(|option| (option, Risk::Guess)));
    if let Some((option, risk)) = found {
        proposals.push(Coerced::new(Rule::EnumScalarType, option.to_string()).with_risk(risk));
    }
}

fn retyped(option: Option<&Value>, proposals: &mut Vec<Coerced>) {
    if let Some(option) = option {
        proposals.push(Coerced::new(Rule::EnumScalarType, option.to_string()));
    }
}

fn from_text(text: &str, choices: &Choices, proposals: &mut Vec<Coerced>) {
    let bare = text.trim().trim_matches(|c: char| "\"'`*“”‘’.".contains(c)).trim();
    if bare.len() > LONGEST {
        return;
    }
    // If listed values differ only in case, the case decides.
    let same = choices.exact(bare).or_else(|| choices.folded(&folded(bare)));
    if let Some(option) = same {
        proposals.push(Coerced::new(Rule::EnumNormalise, option.to_string()));
        return;
    }
    retyped(choices.written(bare), proposals);
    let words = words(bare);
    if let Some(option) = leading(bare, &words, choices) {
        proposals.push(Coerced::new(Rule::EnumLeadingToken, option.to_string()));
    } else if let Some(option) = within(&words, choices) {
        proposals.push(Coerced::new(Rule::EnumWithinWords, option.to_string()));
    } else if let Some(option) = nearest(bare, choices) {
        proposals.push(Coerced::new(Rule::EnumNearest, option.to_string()));
    }
}

/// The option that the text begins with, if a delimiter follows it and the text names no other
/// option.
fn leading<'o>(text: &str, words: &[String], choices: &'o Choices) -> Option<&'o Value> {
    let lower = text.to_lowercase();
    let leads = |name: &str| {
        lower.strip_prefix(name).is_some_and(|rest| {
            let rest = rest.trim_start_matches(|c: char| " \t\"'`*".contains(c));
            rest.starts_with(DELIMITERS)
        })
    };
    let option = choices.only_like(leads)?;
    choices.named(words).filter(|named| *named == option)
}

/// The only option that a few words name, if none of the words negates it.
fn within<'o>(words: &[String], choices: &'o Choices) -> Option<&'o Value> {
    let turned = words.iter().any(|word| TURNING.contains(&word.as_str()));
    if turned || words.len() > WORDS { None } else { choices.named(words) }
}

/// The option that is one typing error away from a word of five letters or more.
fn nearest<'o>(text: &str, choices: &'o Choices) -> Option<&'o Value> {
    let own = text.to_lowercase();
    let near =
        |name: &str| name.len().abs_diff(own.len()) <= 4 && distance(name, &own, 1).is_some();
    (own.chars().count() >= 5).then(|| choices.only_like(near))?
}

#[cfg(test)]
mod tests {
    use super::super::tests::proposals;

    const COLOURS: &str = r#"{"enum": ["RED", "BLUE", "DARK_RED"]}"#;

    #[test]
    fn case_separators_and_quotes_do_not_matter() {
        for value in
            [r#""red""#, r#"" RED ""#, r#""RED.""#, r#""`Red`""#, r#""**RED**""#, r#""'red'""#]
        {
            assert_eq!(proposals(COLOURS, value), [r#"enum-normalise: "RED""#], "{value}");
        }
        for value in [r#""dark red""#, r#""darkRed""#, r#""Dark-Red""#] {
            assert_eq!(proposals(COLOURS, value), [r#"enum-normalise: "DARK_RED""#], "{value}");
        }
    }

    #[test]
    fn a_part_of_a_word_is_not_a_value() {
        for value in
            [r#""INFRARED""#, r#""RED or BLUE""#, r#""GREEN""#, r#""""#, r#"".""#, r#""R""#]
        {
            assert!(proposals(COLOURS, value).is_empty(), "{value}");
        }
        assert!(
            proposals(r#"{"enum": ["a-b", "a_b"]}"#, r#""A B""#).is_empty(),
            "two options are alike"
        );
        assert_eq!(
            proposals(r#"{"enum": ["a-b", "A-B"]}"#, r#"" a-b""#),
            [r#"enum-normalise: "a-b""#]
        );
    }

    #[test]
    fn values_of_another_type_are_recognised_by_their_spelling() {
        assert_eq!(proposals(r#"{"enum": [1, 2]}"#, r#""1""#), ["enum-scalar-type: 1"]);
        assert_eq!(proposals(r#"{"enum": ["1", "2"]}"#, "1"), [r#"enum-scalar-type: "1""#]);
        assert_eq!(proposals(r#"{"const": true}"#, r#""True""#), ["enum-scalar-type: true"]);
        assert!(proposals(r#"{"enum": [1, 2]}"#, r#""1.5""#).is_empty());
        assert!(proposals(r#"{"enum": ["1.0"]}"#, "1").is_empty());
    }

    #[test]
    fn an_explanation_may_follow_a_value() {
        for value in [r#""RED - the warm colour""#, r#""RED (warm)""#, r#""red: because""#] {
            assert_eq!(proposals(COLOURS, value), [r#"enum-leading-token: "RED""#], "{value}");
        }
        for value in [r#""RED - not BLUE""#, r#""REDDISH - warm""#, r#""RED or so""#] {
            assert!(proposals(COLOURS, value).is_empty(), "{value}");
        }
    }

    #[test]
    fn a_value_may_be_among_a_few_words() {
        for value in [r#""The answer is red""#, r#""red wine""#, r#""I say \"RED\" it is""#] {
            assert_eq!(proposals(COLOURS, value), [r#"enum-within-words: "RED""#], "{value}");
        }
        assert_eq!(
            proposals(COLOURS, r#""a dark red""#),
            [r#"enum-within-words: "DARK_RED""#],
            "the longer one"
        );
        for value in [r#""certainly not red""#, r#""red, then blue""#, r#""redder than roses""#] {
            assert!(proposals(COLOURS, value).is_empty(), "{value}");
        }
        let long = format!("\"red {}\"", "and so on ".repeat(10));
        assert!(proposals(COLOURS, &long).is_empty(), "prose is not a value");
    }

    #[test]
    fn typing_errors_are_corrected_in_long_words() {
        assert_eq!(
            proposals(r#"{"enum": ["kelvin", "celsius"]}"#, r#""kelvni""#),
            [r#"enum-nearest: "kelvin""#]
        );
        assert!(proposals(r#"{"enum": ["red", "bed"]}"#, r#""ped""#).is_empty());
    }
}
