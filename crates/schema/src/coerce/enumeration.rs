//! One of the values that `enum` or `const` lists.

use jsonmend_core::Risk;
use serde_json::Value;

use super::{Coerced, Scalar};
use crate::{
    Rule,
    issue::{distance, folded},
};

/// What may separate a named value from the words that explain it.
const DELIMITERS: [char; 10] = ['-', '–', '—', ':', '(', ',', ';', '.', '=', '\n'];

/// The most words in which a named value is looked for.
const WORDS: usize = 12;
/// Words after which a named value may be the one that is not meant.
const TURNING: [&str; 12] = [
    "not", "no", "non", "or", "neither", "nor", "except", "without", "never", "unlike", "than",
    "isn",
];

pub(super) fn propose(scalar: Scalar<'_>, options: &[Value], proposals: &mut Vec<Coerced>) {
    match scalar {
        Scalar::String(text) => from_text(text, options, proposals),
        Scalar::Number(raw) => {
            retyped(options, proposals, |option| option.as_str().is_some_and(|name| name == raw));
        }
        Scalar::Boolean(value) => {
            let word = if value { "true" } else { "false" };
            let same = |name: &str| name.eq_ignore_ascii_case(word);
            retyped(options, proposals, |option| option.as_str().is_some_and(same));
        }
        Scalar::Null => null(options, proposals),
    }
}

/// The one option for which `same` holds.
fn only(options: &[Value], same: impl Fn(&Value) -> bool) -> Option<&Value> {
    let mut found = options.iter().filter(|option| same(option));
    found.next().filter(|_| found.next().is_none())
}

/// `null`, where a named value is called so. A property without a value could be meant as well, more
/// so if the named value is a word of its own.
fn null(options: &[Value], proposals: &mut Vec<Coerced>) {
    let named = |names: &'static [&str]| {
        only(options, |option| option.as_str().is_some_and(|name| names.contains(&name)))
    };
    let found = named(&["null"]).map(|option| (option, Risk::Likely));
    let found = found.or_else(|| named(&["none", "None"]).map(|option| (option, Risk::Guess)));
    if let Some((option, risk)) = found {
        proposals.push(Coerced::new(Rule::EnumScalarType, option.to_string()).with_risk(risk));
    }
}

fn retyped(options: &[Value], proposals: &mut Vec<Coerced>, same: impl Fn(&Value) -> bool) {
    if let Some(option) = only(options, same) {
        proposals.push(Coerced::new(Rule::EnumScalarType, option.to_string()));
    }
}

fn from_text(text: &str, options: &[Value], proposals: &mut Vec<Coerced>) {
    let bare = text.trim().trim_matches(|c: char| "\"'`*“”‘’.".contains(c)).trim();
    let own = folded(bare);
    let names = |option: &Value, name: &dyn Fn(&str) -> bool| option.as_str().is_some_and(name);
    // Named values that differ only in case are distinguished by it.
    if let Some(option) = only(options, |option| names(option, &|name| name == bare)) {
        proposals.push(Coerced::new(Rule::EnumNormalise, option.to_string()));
        return;
    }
    let same = |name: &str| !own.is_empty() && folded(name) == own;
    if let Some(option) = only(options, |option| names(option, &same)) {
        proposals.push(Coerced::new(Rule::EnumNormalise, option.to_string()));
        return;
    }
    let spelled = |option: &Value| match option {
        Value::Number(number) => number.to_string() == bare,
        Value::Bool(value) => bare.eq_ignore_ascii_case(if *value { "true" } else { "false" }),
        Value::Null => matches!(bare, "null" | "None"),
        _ => false,
    };
    retyped(options, proposals, spelled);
    if let Some(option) = leading(bare, options) {
        proposals.push(Coerced::new(Rule::EnumLeadingToken, option.to_string()));
    } else if let Some(option) = within(bare, options) {
        proposals.push(Coerced::new(Rule::EnumWithinWords, option.to_string()));
    } else if let Some(option) = nearest(bare, options) {
        proposals.push(Coerced::new(Rule::EnumNearest, option.to_string()));
    }
}

/// The option that the text begins with, where a delimiter follows and no other option is named.
fn leading<'o>(text: &str, options: &'o [Value]) -> Option<&'o Value> {
    let lower = text.to_lowercase();
    let leads = |name: &str| {
        let rest = lower.strip_prefix(&name.to_lowercase());
        rest.is_some_and(|rest| {
            let rest = rest.trim_start_matches(|c: char| " \t\"'`*".contains(c));
            rest.starts_with(DELIMITERS)
        })
    };
    let option = only(options, |option| option.as_str().is_some_and(leads))?;
    named(&lower, options).filter(|named| *named == option)
}

/// The only option that a few words name, where none of the words negates it.
fn within<'o>(text: &str, options: &'o [Value]) -> Option<&'o Value> {
    let own = words(text);
    let turned = own.iter().any(|word| TURNING.contains(&word.as_str()));
    if turned || own.len() > WORDS { None } else { named(text, options) }
}

/// The only option whose words are in the text, whole and in order. Of two that overlap, the
/// longer one is meant.
fn named<'o>(text: &str, options: &'o [Value]) -> Option<&'o Value> {
    let own = words(text);
    let places = |name: &str| -> Vec<(usize, usize)> {
        let name = words(name);
        if name.is_empty() {
            return Vec::new();
        }
        let runs = own.windows(name.len()).enumerate();
        runs.filter(|(_, run)| *run == name).map(|(at, _)| (at, at + name.len())).collect()
    };
    let found: Vec<(&Value, (usize, usize))> = options
        .iter()
        .flat_map(|option| {
            let places = option.as_str().map(places).unwrap_or_default();
            places.into_iter().map(move |place| (option, place))
        })
        .collect();
    let covered = |(start, end): (usize, usize)| {
        found.iter().any(|(_, (s, e))| *s <= start && end <= *e && e - s > end - start)
    };
    let mut free = found.iter().filter(|(_, place)| !covered(*place)).map(|(option, _)| *option);
    let first = free.next()?;
    free.all(|other| other == first).then_some(first)
}

/// The words of a text, in lower case.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// The option that is one typing error away from a word of five letters or more.
fn nearest<'o>(text: &str, options: &'o [Value]) -> Option<&'o Value> {
    let own = text.to_lowercase();
    let near = |name: &str| distance(&name.to_lowercase(), &own, 1).is_some();
    (own.chars().count() >= 5).then(|| only(options, |o| o.as_str().is_some_and(near)))?
}

#[cfg(test)]
mod tests {
    use crate::coerce::tests::proposals;

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
    fn a_part_of_a_word_is_no_value() {
        for value in
            [r#""INFRARED""#, r#""RED or BLUE""#, r#""GREEN""#, r#""""#, r#"".""#, r#""R""#]
        {
            assert!(proposals(COLOURS, value).is_empty(), "{value}");
        }
        assert!(proposals(r#"{"enum": ["a-b", "a_b"]}"#, r#""A B""#).is_empty(), "two are equal");
        assert_eq!(
            proposals(r#"{"enum": ["a-b", "A-B"]}"#, r#"" a-b""#),
            [r#"enum-normalise: "a-b""#]
        );
    }

    #[test]
    fn values_of_another_type_are_known_by_their_spelling() {
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
    fn a_value_may_stand_among_a_few_words() {
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
        assert!(proposals(COLOURS, &long).is_empty(), "prose is no value");
    }

    #[test]
    fn typing_errors_are_proposed_where_a_word_is_long_enough() {
        assert_eq!(
            proposals(r#"{"enum": ["kelvin", "celsius"]}"#, r#""kelvni""#),
            [r#"enum-nearest: "kelvin""#]
        );
        assert!(proposals(r#"{"enum": ["red", "bed"]}"#, r#""ped""#).is_empty());
    }
}
