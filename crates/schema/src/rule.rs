//! The rules, their risks, and which of them are enabled.

use wiremend_core::Risk;

use crate::code::coded;

/// Each row of the table below becomes a variant with a code, a risk, a summary and an example.
macro_rules! rules {
    ($($variant:ident $code:literal $risk:ident $default:ident $summary:literal, $before:literal => $after:literal;)*) => {
        /// A named transformation that makes a value fit its schema.
        ///
        /// A rule applies only if the validator has found a problem, and its result is kept only if
        /// it is valid. `docs/schema.md` describes when each rule applies, when it must not, and
        /// which other readings of the value it rules out.
        ///
        /// ```
        /// use wiremend_core::Risk;
        /// use wiremend_schema::Rule;
        /// let rule = Rule::from_code("string-to-number").unwrap();
        /// assert_eq!(rule.risk(), Risk::Exact);
        /// assert!(rule.is_default());
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Rule {
            $(
                #[doc = concat!($summary, "\n\n`", $before, "` becomes `", $after, "`.")]
                $variant,
            )*
        }

        impl Rule {
            /// All rules, in alphabetical order of their codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The stable kebab-case code.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code),* }
            }

            /// The lowest risk of the rule.
            #[must_use]
            pub const fn risk(self) -> Risk {
                match self { $(Self::$variant => Risk::$risk),* }
            }

            /// Whether the rule is on by default. The others must be [switched on](Rules::with).
            #[must_use]
            pub const fn is_default(self) -> bool {
                match self { $(Self::$variant => Switch::$default.is_on()),* }
            }

            /// Describes in a phrase what the rule is for.
            #[must_use]
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$variant => $summary),* }
            }

            /// A value that does not fit, and the result of the rule.
            #[must_use]
            pub const fn example(self) -> (&'static str, &'static str) {
                match self { $(Self::$variant => ($before, $after)),* }
            }
        }
    };
}

enum Switch {
    On,
    Off,
}

impl Switch {
    const fn is_on(&self) -> bool {
        matches!(self, Self::On)
    }
}

rules! {
    Arithmetic "arithmetic" Guess On "A sum or product in a string instead of a number.", r#""2*3""# => "6";
    BoolToString "bool-to-string" Exact On "A boolean instead of a string.", "true" => r#""true""#;
    ConstFill "const-fill" Exact On "A missing property for which the schema allows only one value.", r#"{"n": 1}"# => r#"{"n": 1, "kind": "a"}"#;
    CsvEnumToArray "csv-enum-to-array" Likely On "Comma-separated values instead of a list of numbers or enum values.", r#""1, 2, 3""# => "[1, 2, 3]";
    CsvToArray "csv-to-array" Guess On "Comma-separated words instead of a list of strings.", r#""a, b""# => r#"["a", "b"]"#;
    CurrencyUnitStrip "currency-unit-strip" Guess On "A number with a currency sign or a unit.", r#""$1,234.56""# => "1234.56";
    DateNormalise "date-normalise" Likely On "A date that begins with the year, for the format `date`.", r#""2024/1/5""# => r#""2024-01-05""#;
    DateWords "date-words" Guess On "A date with the name of its month, or in seconds since 1970.", r#""Jan 5, 2024""# => r#""2024-01-05""#;
    DatetimeSeparator "datetime-separator" Likely On "A space or a lower-case letter as a separator in a date and time.", r#""2024-01-05 10:00:00Z""# => r#""2024-01-05T10:00:00Z""#;
    DedupeItems "dedupe-items" Lossy On "Repeated scalars in a list whose items must be unique.", "[1, 1, 2]" => "[1, 2]";
    DottedKeys "dotted-keys" Guess On "A dotted key instead of nested objects, or the reverse.", r#"{"a.b": 1}"# => r#"{"a": {"b": 1}}"#;
    DropNullOptional "drop-null-optional" Likely On "`null` for an optional property that cannot be null.", r#"{"a": 1, "b": null}"# => r#"{"a": 1}"#;
    DropUnknown "drop-unknown" Lossy On "A property that the schema rejects.", r#"{"a": 1, "note": "x"}"# => r#"{"a": 1}"#;
    EmptyObjectToArray "empty-object-to-array" Likely On "`{}` instead of a list.", "{}" => "[]";
    EmptyPlaceholder "empty-placeholder" Lossy On "`{}` for an optional property that is not an object.", r#"{"a": 1, "b": {}}"# => r#"{"a": 1}"#;
    EntityUnescape "entity-unescape" Likely Off "XML entities in a value that was read from XML.", r#""a &amp; b""# => r#""a & b""#;
    EnumLeadingToken "enum-leading-token" Guess On "An enum value followed by an explanation.", r#""RED - the warm colour""# => r#""RED""#;
    EnumNearest "enum-nearest" Guess Off "An enum value with a typing error.", r#""KELVNI""# => r#""KELVIN""#;
    EnumNormalise "enum-normalise" Likely On "An enum value in another case, or with other separators or quotes.", r#""red ""# => r#""RED""#;
    EnumScalarType "enum-scalar-type" Exact On "An enum value written as another type.", r#""1""# => "1";
    EnumSingleList "enum-single-list" Exact On "An enum value in a list with one item.", r#"["RED"]"# => r#""RED""#;
    EnumWithinWords "enum-within-words" Guess On "An enum value among a few words.", r#""the answer is red""# => r#""RED""#;
    FenceInString "fence-in-string" Exact On "A list or object as fenced text in a string.", r#""```json\n[1]\n```""# => "[1]";
    FillDefault "fill-default" Guess On "A missing required property with a default.", r#"{"a": 1}"# => r#"{"a": 1, "limit": 10}"#;
    FormatTrim "format-trim" Likely On "Brackets, backticks or a link around a string with a format.", r#""<a@b.org>""# => r#""a@b.org""#;
    FractionText "fraction-text" Guess On "A fraction in a string instead of a number.", r#""1/2""# => "0.5";
    HoistNested "hoist-nested" Guess Off "A property that is one level too deep.", r#"{"o": {"a": 1}}"# => r#"{"o": {}, "a": 1}"#;
    IntegralFloat "integral-float" Exact On "An integer written with a fraction, with an exponent or as `-0`.", "3.0" => "3";
    JoinArray "join-array" Guess Off "A list of strings instead of a string.", r#"["a", "b"]"# => r#""a, b""#;
    JsonToString "json-to-string" Likely On "A value instead of a string that contains it as JSON.", r#"{"a": 1}"# => r#""{\"a\": 1}""#;
    JsonToText "json-to-text" Guess Off "A value instead of a string, which gets the text of the value.", r#"{"a": 1}"# => r#""{\"a\": 1}""#;
    KeyAlias "key-alias" Likely On "Another name that the schema lists for a property.", r#"{"file": "x"}"# => r#"{"path": "x"}"#;
    KeyAttrLeak "key-attr-leak" Likely On "A key that includes part of an XML attribute.", r#"{"floors\" mode=\"json": 3}"# => r#"{"floors": 3}"#;
    KeyNormalise "key-normalise" Likely On "A key in another case, or with other separators.", r#"{"userName": "x"}"# => r#"{"user_name": "x"}"#;
    KeyTypo "key-typo" Guess On "A key with a typing error.", r#"{"limitt": 3}"# => r#"{"limit": 3}"#;
    LinesToArray "lines-to-array" Guess On "Lines of text instead of a list.", r#""a\nb""# => r#"["a", "b"]"#;
    ListMarksToArray "list-marks-to-array" Likely On "Lines with bullets or numbers instead of a list.", r#""- a\n- b""# => r#"["a", "b"]"#;
    MapToPairs "map-to-pairs" Exact On "An object instead of a list of names and values.", r#"{"a": 1}"# => r#"[{"key": "a", "value": 1}]"#;
    MissingEnvelope "missing-envelope" Exact On "A value without the object and property that should contain it.", "[1]" => r#"{"items": [1]}"#;
    NullToDefault "null-to-default" Guess On "`null` for a required property with a default.", r#"{"limit": null}"# => r#"{"limit": 10}"#;
    NullToEmpty "null-to-empty" Guess Off "`null` instead of a list or an object.", "null" => "[]";
    NullWords "null-words" Guess On "A word for a missing value, if the property may be absent.", r#"{"a": 1, "n": "N/A"}"# => r#"{"a": 1}"#;
    NumberToString "number-to-string" Exact On "A number instead of a string.", "1.10" => r#""1.10""#;
    NumericKeysToArray "numeric-keys-to-array" Exact On "An object with the keys 0, 1, 2 … instead of a list.", r#"{"0": "a", "1": "b"}"# => r#"["a", "b"]"#;
    PairsToMap "pairs-to-map" Exact On "A list of names and values instead of an object.", r#"[["a", 1]]"# => r#"{"a": 1}"#;
    Percent "percent" Guess On "A percentage, if the bounds of the property show how it is meant.", r#""50%""# => "50";
    PlaceholderObject "placeholder-object" Exact On "An object around a single value.", r#"{"value": 3}"# => "3";
    PositionalArray "positional-array" Guess On "A list of values in the order of the properties, instead of an object.", r#"["x", 1]"# => r#"{"name": "x", "count": 1}"#;
    RenameSoleExtra "rename-sole-extra" Guess On "The only unknown key, if only one property is missing.", r#"{"file": "x"}"# => r#"{"path": "x"}"#;
    RootSingleList "root-single-list" Exact On "A list with one item around the whole value.", r#"[{"a": 1}]"# => r#"{"a": 1}"#;
    SchemaEchoLeaf "schema-echo-leaf" Guess On "A value in the place of the description in its schema.", r#"{"type": "string", "description": "Ada"}"# => r#""Ada""#;
    SchemaEchoRoot "schema-echo-root" Exact On "A copy of the schema, with values in the place of its properties.", r#"{"type": "object", "properties": {"a": 1}}"# => r#"{"a": 1}"#;
    SingleElement "single-element" Exact On "A list with one item instead of the item.", "[5]" => "5";
    SinkNested "sink-nested" Guess Off "A property that is one level too high.", r#"{"o": {}, "a": 1}"# => r#"{"o": {"a": 1}}"#;
    StringToBool "string-to-bool" Exact On "`true` or `false` in a string.", r#""True""# => "true";
    StringToNumber "string-to-number" Exact On "A number in a string.", r#"" 4.50 ""# => "4.50";
    StringUnfence "string-unfence" Likely On "A fence or quotes around a string with a pattern or format.", r#""`abc`""# => r#""abc""#;
    Thousands "thousands" Likely On "A number whose digits are grouped by threes.", r#""1,234,567""# => "1234567";
    ThousandsOneGroup "thousands-one-group" Guess On "A number with one separator, which could also be a decimal comma.", r#""1,234""# => "1234";
    ToolNameNormalise "tool-name-normalise" Likely On "The name of a tool in another spelling.", "functions.search" => "search";
    UnwrapDoubleEncodedRoot "unwrap-double-encoded-root" Exact On "The whole value as JSON text in a string.", r#""{\"a\":1}""# => r#"{"a":1}"#;
    UnwrapEnvelope "unwrap-envelope" Likely On "An object around the value, as in a tool call.", r#"{"arguments": {"a": 1}}"# => r#"{"a": 1}"#;
    UnwrapNamedEnvelope "unwrap-named-envelope" Lossy On "An object around the value that also contains an unexpected name.", r#"{"name": "f", "arguments": {"a": 1}}"# => r#"{"a": 1}"#;
    UnwrapSingleKeyList "unwrap-single-key-list" Exact On "An object with one property around a list.", r#"{"items": [1]}"# => "[1]";
    UnwrapStringified "unwrap-stringified" Exact On "A list or object as JSON text in a string.", r#""[\"a\"]""# => r#"["a"]"#;
    WrapInArray "wrap-in-array" Likely On "A single value instead of a list.", r#""a""# => r#"["a"]"#;
    WrapText "wrap-text" Guess On "A whole text without JSON instead of a string.", "plain words" => r#"{"answer": "plain words"}"#;
    XmlFields "xml-fields" Likely On "A text in which XML elements contain the properties.", "<a>1</a><b>x</b>" => r#"{"a": 1, "b": "x"}"#;
    YesNoBool "yes-no-bool" Likely On "`yes`, `no`, `on`, `off`, `1` or `0` instead of a boolean.", r#""yes""# => "true";
}

coded!(Rule, "rule");

/// Which rules may be used, in general and at particular places. The highest risk that rules may
/// have is set by the [policy](wiremend_core::Policy).
///
/// A schema can switch rules off too: `"x-wiremend": false` switches off all rules for a subschema
/// and everything below it, and `"x-wiremend": {"off": ["wrap-in-array"]}` switches off particular
/// ones.
///
/// ```
/// use wiremend_schema::{Rule, Rules};
/// let rules = Rules::new()
///     .with(Rule::EnumNearest)
///     .without(Rule::CsvToArray)
///     .without_at("/patch", Rule::DropNullOptional);
/// assert!(rules.allows(Rule::EnumNearest, ""));
/// assert!(!rules.allows(Rule::DropNullOptional, "/patch/name"));
/// assert!(rules.allows(Rule::DropNullOptional, "/patches"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Rules {
    on: RuleSet,
    off: RuleSet,
    off_at: Vec<(String, RuleSet)>,
}

impl Rules {
    /// The rules that are on by default.
    #[must_use]
    pub const fn new() -> Self {
        Self { on: RuleSet(0), off: RuleSet(0), off_at: Vec::new() }
    }

    /// No rules, so that values are only validated.
    #[must_use]
    pub const fn none() -> Self {
        Self { on: RuleSet(0), off: RuleSet(u128::MAX), off_at: Vec::new() }
    }

    /// Switches a rule on.
    #[must_use]
    pub fn with(mut self, rule: Rule) -> Self {
        self.on.0 |= RuleSet::bit(rule);
        self.off.0 &= !RuleSet::bit(rule);
        self
    }

    /// Switches a rule off.
    #[must_use]
    pub fn without(mut self, rule: Rule) -> Self {
        self.off.0 |= RuleSet::bit(rule);
        self.on.0 &= !RuleSet::bit(rule);
        self
    }

    /// Switches a rule off at a JSON Pointer of the value and below.
    #[must_use]
    pub fn without_at(mut self, pointer: impl Into<String>, rule: Rule) -> Self {
        self.off_at.push((pointer.into(), RuleSet(RuleSet::bit(rule))));
        self
    }

    /// Whether a rule may be used at a place of the value.
    #[must_use]
    pub fn allows(&self, rule: Rule, pointer: &str) -> bool {
        let bit = RuleSet::bit(rule);
        let below = |place: &str| {
            pointer.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        (rule.is_default() || self.on.0 & bit != 0)
            && self.off.0 & bit == 0
            && !self.off_at.iter().any(|(place, set)| set.0 & bit != 0 && below(place))
    }

    /// Combines these settings with those of `other`, which take precedence.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.on.0 |= other.on.0;
        self.off.0 |= other.off.0;
        self.off_at.extend(other.off_at.iter().cloned());
        self
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct RuleSet(u128);

impl RuleSet {
    const fn bit(rule: Rule) -> u128 {
        1 << rule as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_alphabetical_and_small_enough_for_the_set() {
        assert!(Rule::ALL.len() <= 128);
        for pair in Rule::ALL.windows(2) {
            assert!(pair[0].code() < pair[1].code(), "{} {}", pair[0], pair[1]);
        }
        for &rule in Rule::ALL {
            assert_eq!(Rule::from_code(rule.code()), Some(rule));
        }
    }
}
