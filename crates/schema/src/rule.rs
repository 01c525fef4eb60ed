//! The rules, their risks, and which of them are enabled.

use jsonmend_core::Risk;

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
        /// use jsonmend_core::Risk;
        /// use jsonmend_schema::Rule;
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
    Arithmetic "arithmetic" Guess On "A sum or product in a string, for a number.", r#""2*3""# => "6";
    BoolToString "bool-to-string" Exact On "A boolean for a string.", "true" => r#""true""#;
    ConstFill "const-fill" Exact On "A missing property whose schema allows one value.", r#"{"n": 1}"# => r#"{"n": 1, "kind": "a"}"#;
    CsvEnumToArray "csv-enum-to-array" Likely On "Values separated by commas for a list of numbers or of named values.", r#""1, 2, 3""# => "[1, 2, 3]";
    CsvToArray "csv-to-array" Guess On "Words separated by commas for a list of strings.", r#""a, b""# => r#"["a", "b"]"#;
    CurrencyUnitStrip "currency-unit-strip" Guess On "A number with a currency or a unit.", r#""$1,234.56""# => "1234.56";
    DateNormalise "date-normalise" Likely On "A date with its year first, for the format `date`.", r#""2024/1/5""# => r#""2024-01-05""#;
    DateWords "date-words" Guess On "A date with the name of its month, or in seconds since 1970.", r#""Jan 5, 2024""# => r#""2024-01-05""#;
    DatetimeSeparator "datetime-separator" Likely On "A space or a lower-case letter in a date and time.", r#""2024-01-05 10:00:00Z""# => r#""2024-01-05T10:00:00Z""#;
    DedupeItems "dedupe-items" Lossy On "Scalars that are repeated in a list without repetitions.", "[1, 1, 2]" => "[1, 2]";
    DottedKeys "dotted-keys" Guess On "A path for a key, where the schema nests objects, or the reverse.", r#"{"a.b": 1}"# => r#"{"a": {"b": 1}}"#;
    DropNullOptional "drop-null-optional" Likely On "`null` for an optional property that cannot be null.", r#"{"a": 1, "b": null}"# => r#"{"a": 1}"#;
    DropUnknown "drop-unknown" Lossy On "A property that the schema refuses.", r#"{"a": 1, "note": "x"}"# => r#"{"a": 1}"#;
    EmptyObjectToArray "empty-object-to-array" Likely On "`{}` for a list.", "{}" => "[]";
    EmptyPlaceholder "empty-placeholder" Lossy On "`{}` for an optional property that is no object.", r#"{"a": 1, "b": {}}"# => r#"{"a": 1}"#;
    EntityUnescape "entity-unescape" Likely Off "XML entities in a value that came out of XML.", r#""a &amp; b""# => r#""a & b""#;
    EnumLeadingToken "enum-leading-token" Guess On "A named value with an explanation after it.", r#""RED - the warm colour""# => r#""RED""#;
    EnumNearest "enum-nearest" Guess Off "A named value with a typing error.", r#""KELVNI""# => r#""KELVIN""#;
    EnumNormalise "enum-normalise" Likely On "A named value in another case, or with other separators or quotes.", r#""red ""# => r#""RED""#;
    EnumScalarType "enum-scalar-type" Exact On "A named value of another type.", r#""1""# => "1";
    EnumSingleList "enum-single-list" Exact On "A named value in a list of one.", r#"["RED"]"# => r#""RED""#;
    EnumWithinWords "enum-within-words" Guess On "A named value among a few words.", r#""the answer is red""# => r#""RED""#;
    FenceInString "fence-in-string" Exact On "A list or an object as fenced text in a string.", r#""```json\n[1]\n```""# => "[1]";
    FillDefault "fill-default" Guess On "A missing required property with a default.", r#"{"a": 1}"# => r#"{"a": 1, "limit": 10}"#;
    FormatTrim "format-trim" Likely On "Brackets, backticks or a link around a string with a format.", r#""<a@b.org>""# => r#""a@b.org""#;
    FractionText "fraction-text" Guess On "A fraction in a string, for a number.", r#""1/2""# => "0.5";
    HoistNested "hoist-nested" Guess Off "A property that stands one level too deep.", r#"{"o": {"a": 1}}"# => r#"{"o": {}, "a": 1}"#;
    IntegralFloat "integral-float" Exact On "A whole number written with a fraction, an exponent or a minus before zero, for an integer.", "3.0" => "3";
    JoinArray "join-array" Guess Off "A list of strings for a string.", r#"["a", "b"]"# => r#""a, b""#;
    JsonToString "json-to-string" Likely On "A value for a string that holds JSON.", r#"{"a": 1}"# => r#""{\"a\": 1}""#;
    JsonToText "json-to-text" Guess Off "A value for a string, as it is written.", r#"{"a": 1}"# => r#""{\"a\": 1}""#;
    KeyAlias "key-alias" Likely On "Another name that the schema lists for a property.", r#"{"file": "x"}"# => r#"{"path": "x"}"#;
    KeyAttrLeak "key-attr-leak" Likely On "A key with a piece of an XML attribute in it.", r#"{"floors\" mode=\"json": 3}"# => r#"{"floors": 3}"#;
    KeyNormalise "key-normalise" Likely On "A key in another case, or with other separators.", r#"{"userName": "x"}"# => r#"{"user_name": "x"}"#;
    KeyTypo "key-typo" Guess On "A key with a typing error.", r#"{"limitt": 3}"# => r#"{"limit": 3}"#;
    LinesToArray "lines-to-array" Guess On "Lines for a list.", r#""a\nb""# => r#"["a", "b"]"#;
    ListMarksToArray "list-marks-to-array" Likely On "Lines that each begin with a mark or a number, for a list.", r#""- a\n- b""# => r#"["a", "b"]"#;
    MapToPairs "map-to-pairs" Exact On "An object for a list of names and values.", r#"{"a": 1}"# => r#"[{"key": "a", "value": 1}]"#;
    MissingEnvelope "missing-envelope" Exact On "A value without the one property that should hold it.", "[1]" => r#"{"items": [1]}"#;
    NullToDefault "null-to-default" Guess On "`null` for a required property with a default.", r#"{"limit": null}"# => r#"{"limit": 10}"#;
    NullToEmpty "null-to-empty" Guess Off "`null` for a list or an object.", "null" => "[]";
    NullWords "null-words" Guess On "A word for nothing, where the property may be absent.", r#"{"a": 1, "n": "N/A"}"# => r#"{"a": 1}"#;
    NumberToString "number-to-string" Exact On "A number for a string, as it is written.", "1.10" => r#""1.10""#;
    NumericKeysToArray "numeric-keys-to-array" Exact On "An object with the keys 0, 1, 2 … for a list.", r#"{"0": "a", "1": "b"}"# => r#"["a", "b"]"#;
    PairsToMap "pairs-to-map" Exact On "A list of names and values for an object.", r#"[["a", 1]]"# => r#"{"a": 1}"#;
    Percent "percent" Guess On "A percentage, where the bounds say how it is meant.", r#""50%""# => "50";
    PlaceholderObject "placeholder-object" Exact On "An object around a single value.", r#"{"value": 3}"# => "3";
    PositionalArray "positional-array" Guess On "A list of values in the order of the properties.", r#"["x", 1]"# => r#"{"name": "x", "count": 1}"#;
    RenameSoleExtra "rename-sole-extra" Guess On "The one unknown key for the one missing property.", r#"{"file": "x"}"# => r#"{"path": "x"}"#;
    RootSingleList "root-single-list" Exact On "A list of one around the whole value.", r#"[{"a": 1}]"# => r#"{"a": 1}"#;
    SchemaEchoLeaf "schema-echo-leaf" Guess On "A value in the place of its own description.", r#"{"type": "string", "description": "Ada"}"# => r#""Ada""#;
    SchemaEchoRoot "schema-echo-root" Exact On "The values in the place of the schema's properties.", r#"{"type": "object", "properties": {"a": 1}}"# => r#"{"a": 1}"#;
    SingleElement "single-element" Exact On "A list of one for a value.", "[5]" => "5";
    SinkNested "sink-nested" Guess Off "A property that stands one level too high.", r#"{"o": {}, "a": 1}"# => r#"{"o": {"a": 1}}"#;
    StringToBool "string-to-bool" Exact On "`true` or `false` in a string.", r#""True""# => "true";
    StringToNumber "string-to-number" Exact On "A number in a string.", r#"" 4.50 ""# => "4.50";
    StringUnfence "string-unfence" Likely On "A fence or quotes around a string that is bound to a form.", r#""`abc`""# => r#""abc""#;
    Thousands "thousands" Likely On "A number with its digits in groups.", r#""1,234,567""# => "1234567";
    ThousandsOneGroup "thousands-one-group" Guess On "A number with one group of digits, which could be a decimal comma.", r#""1,234""# => "1234";
    ToolNameNormalise "tool-name-normalise" Likely On "The name of a tool in another spelling.", "functions.search" => "search";
    UnwrapDoubleEncodedRoot "unwrap-double-encoded-root" Exact On "The whole value as text in a string.", r#""{\"a\":1}""# => r#"{"a":1}"#;
    UnwrapEnvelope "unwrap-envelope" Likely On "An object around the value, as calls have it.", r#"{"arguments": {"a": 1}}"# => r#"{"a": 1}"#;
    UnwrapNamedEnvelope "unwrap-named-envelope" Lossy On "An object around the value that also holds a name which nobody asked for.", r#"{"name": "f", "arguments": {"a": 1}}"# => r#"{"a": 1}"#;
    UnwrapSingleKeyList "unwrap-single-key-list" Exact On "An object with one property around a list.", r#"{"items": [1]}"# => "[1]";
    UnwrapStringified "unwrap-stringified" Exact On "A list or an object as text in a string.", r#""[\"a\"]""# => r#"["a"]"#;
    WrapInArray "wrap-in-array" Likely On "A value for a list.", r#""a""# => r#"["a"]"#;
    WrapText "wrap-text" Guess On "A whole text that is no JSON, for a string.", "plain words" => r#"{"answer": "plain words"}"#;
    XmlFields "xml-fields" Likely On "A text in which the properties are elements.", "<a>1</a><b>x</b>" => r#"{"a": 1, "b": "x"}"#;
    YesNoBool "yes-no-bool" Likely On "yes, no, on, off, 1, 0 for a boolean.", r#""yes""# => "true";
}

coded!(Rule, "rule");

/// Which rules may be used, in general and at particular places. The highest risk that rules may
/// have is set by the [policy](jsonmend_core::Policy).
///
/// A schema can switch rules off too: `"x-jsonmend": false` switches off all rules for a subschema
/// and everything below it, and `"x-jsonmend": {"off": ["wrap-in-array"]}` switches off particular
/// ones.
///
/// ```
/// use jsonmend_schema::{Rule, Rules};
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
