//! The kinds of repair, their risks, and the set type to switch kinds off.

use crate::code::by_code;

/// How much a repair had to assume.
///
/// Risks are ordered: `Exact < Likely < Lossy < Guess`. A [`Policy`](crate::Policy) sets the
/// highest one that it allows.
///
/// ```
/// use wiremend_core::Risk;
/// assert!(Risk::Exact < Risk::Guess);
/// assert_eq!(Risk::from_code("lossy"), Some(Risk::Lossy));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(clippy::exhaustive_enums)]
pub enum Risk {
    /// There is one reading, and nothing is lost.
    Exact,
    /// A normalization that loses nothing, or a strongly indicated reading.
    Likely,
    /// Something in the input is dropped.
    Lossy,
    /// Something is invented, or one of several readings was chosen.
    Guess,
}

impl Risk {
    /// All risks, lowest first.
    pub const ALL: &'static [Self] = &[Self::Exact, Self::Likely, Self::Lossy, Self::Guess];

    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Likely => "likely",
            Self::Lossy => "lossy",
            Self::Guess => "guess",
        }
    }

    /// The risk with this name.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        code.parse().ok()
    }
}

by_code!(Risk, "risk");

/// Each row of the table below becomes a variant, its code, its risk, its summary and its example.
macro_rules! kinds {
    ($($variant:ident $code:literal $risk:ident $summary:literal, $before:literal => $after:literal;)*) => {
        /// What was wrong with the input.
        ///
        /// Every kind has a stable [code](Self::code), a [risk](Self::risk) and an example, and is
        /// described in a section of `docs/repairs.md`. More kinds may be added.
        ///
        /// ```
        /// use wiremend_core::{RepairKind, Risk};
        /// let kind = RepairKind::from_code("single-quote").unwrap();
        /// assert_eq!(kind.risk(), Risk::Exact);
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum RepairKind {
            $(
                #[doc = concat!($summary, "\n\n`", $before, "` becomes `", $after, "`.")]
                $variant,
            )*
        }

        impl RepairKind {
            /// All kinds, in alphabetical order of their codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The stable kebab-case code.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code),* }
            }

            /// The risk of repairs of this kind.
            #[must_use]
            pub const fn risk(self) -> Risk {
                match self { $(Self::$variant => Risk::$risk),* }
            }

            /// One sentence about what is wrong.
            #[must_use]
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$variant => $summary),* }
            }

            /// A broken text, and what the repair makes of it.
            #[must_use]
            pub const fn example(self) -> (&'static str, &'static str) {
                match self { $(Self::$variant => ($before, $after)),* }
            }
        }
    };
}

kinds! {
    AmbiguousQuote "ambiguous-quote" Guess "An unescaped quote in a string whose end is one of several readings.", "{\"a\": \"b\"\nc\"}" => r#"{"a": "b\"\nc"}"#;
    BacktickQuote "backtick-quote" Exact "A string delimited by backticks or acute accents.", "{`a`: `b`}" => r#"{"a": "b"}"#;
    BadEscape "bad-escape" Exact "A backslash that starts no JSON escape; it is kept as text. A code point as in JavaScript is rewritten.", r#"{"re": "\d+"}"# => r#"{"re": "\\d+"}"#;
    ByteOrderMark "byte-order-mark" Exact "A byte order mark before or between tokens.", "\u{feff}[1]" => "[1]";
    CallWrapper "call-wrapper" Likely "A function call or constructor around a value.", r#"{"id": ObjectId("x1")}"# => r#"{"id": "x1"}"#;
    CodeFence "code-fence" Exact "A Markdown code fence around the document.", "```json\n[1]\n```" => "[1]";
    Comment "comment" Exact "A comment.", "[1, /* two */ 3]" => "[1,  3]";
    CutEscape "cut-escape" Guess "An escape that the end of the input cut off.", r#"["x\u00"# => r#"["x"]"#;
    CutKey "cut-key" Guess "A key that the end of the input left without a value.", r#"{"a": 1, "lon"# => r#"{"a": 1}"#;
    CutLiteral "cut-literal" Likely "A literal that the end of the input cut off.", "[tru" => "[true]";
    CutNumber "cut-number" Guess "A number that stops after its sign, point or exponent mark.", "[12e" => "[12]";
    DigitSeparator "digit-separator" Likely "A number whose digits are grouped.", r#"{"n": 1_000}"# => r#"{"n": 1000}"#;
    DoubledQuote "doubled-quote" Likely "A string delimited by two or three quotes.", r#"{""a"": 1}"# => r#"{"a": 1}"#;
    DuplicateOpen "duplicate-open" Likely "A brace that was written twice.", r#"{{"a": 1}}"# => r#"{"a": 1}"#;
    Ellipsis "ellipsis" Lossy "An ellipsis in place of omitted items.", "[1, 2, ...]" => "[1, 2]";
    EscapedDocument "escaped-document" Likely "A document whose quotes and line ends are escaped one time too many.", r#"{\"a\": 1}"# => r#"{"a": 1}"#;
    ExtraClose "extra-close" Likely "A closing bracket without an open container.", "[1]]" => "[1]";
    ExtraColon "extra-colon" Likely "A colon that separates nothing.", r#"{"a":: 1}"# => r#"{"a": 1}"#;
    ExtraComma "extra-comma" Exact "A comma with nothing before or after it.", "[1, 2,]" => "[1, 2]";
    Fraction "fraction" Guess "A fraction of two numbers, kept as text.", r#"{"r": 1/3}"# => r#"{"r": "1/3"}"#;
    HexNumber "hex-number" Likely "A hexadecimal number.", r#"{"n": 0x1F}"# => r#"{"n": 31}"#;
    HtmlEntity "html-entity" Likely "A document whose quotes are HTML entities.", "{&quot;a&quot;: 1}" => r#"{"a": 1}"#;
    InlineProse "inline-prose" Lossy "Words on the line of the document, which may be about it.", "I can't run {\"a\": 1} safely." => "{\"a\": 1}";
    InnerBraces "inner-braces" Guess "Braces around members of an object, which are removed.", r#"{"a": 1, {"b": 2}}"# => r#"{"a": 1, "b": 2}"#;
    InvalidUtf8 "invalid-utf8" Lossy "Bytes that are not UTF-8, replaced by U+FFFD.", "[\"caf<E9>\"]" => "[\"caf\u{fffd}\"]";
    LeadingDot "leading-dot" Exact "A number without digits before its point.", "[.5]" => "[0.5]";
    LeadingPlus "leading-plus" Exact "A number with a plus sign.", "[+5]" => "[5]";
    LeadingProse "leading-prose" Likely "Text before the document.", "Here: {\"a\": 1}" => "{\"a\": 1}";
    LeadingZero "leading-zero" Likely "A number with leading zeros, kept as text.", "[007]" => r#"["007"]"#;
    LineDelimited "line-delimited" Likely "Several documents, joined into an array.", "{\"a\":1}\n{\"a\":2}" => "[{\"a\":1},\n{\"a\":2}]";
    LineMark "line-mark" Likely "A mark before each line of the document.", "+{\n+  \"a\": 1\n+}" => "{\n  \"a\": 1\n}";
    LiteralCase "literal-case" Exact "A literal in the wrong case.", "[TRUE]" => "[true]";
    LiteralEscape "literal-escape" Likely "An escape of JSON in a path, a pattern or a formula, in a string with other backslashes that start none.", r#"{"p": "C:\Users\new"}"# => r#"{"p": "C:\\Users\\new"}"#;
    LoneSurrogate "lone-surrogate" Lossy "An escaped surrogate without its other half.", r#"["\ud83d"]"# => r#"["\ufffd"]"#;
    MismatchedClose "mismatched-close" Likely "A closing bracket of the wrong kind.", "[1, 2}" => "[1, 2]";
    MismatchedOpen "mismatched-open" Guess "An opening bracket of the wrong kind.", r#"{"a": {1, 2]}"# => r#"{"a": [1, 2]}"#;
    MissingClose "missing-close" Guess "A container that was never closed.", r#"{"a": [1"# => r#"{"a": [1]}"#;
    MissingColon "missing-colon" Likely "No colon, or something else in its place, between key and value.", r#"{"a" 1}"# => r#"{"a": 1}"#;
    MissingComma "missing-comma" Likely "No comma, or something else in its place, between two items.", "[1 2]" => "[1, 2]";
    MissingKey "missing-key" Guess "A member without a key.", "{: 1}" => r#"{"": 1}"#;
    MissingOpen "missing-open" Guess "A container that was never opened.", r#""a": 1}"# => r#"{"a": 1}"#;
    MissingValue "missing-value" Guess "A key without a value.", r#"{"a": , "b": 2}"# => r#"{"a": null, "b": 2}"#;
    NonFinite "non-finite" Lossy "A number that JSON cannot express.", "[NaN]" => "[null]";
    OddSpace "odd-space" Exact "A space or control character that is not JSON white space.", "[1,\u{a0}2]" => "[1, 2]";
    PythonLiteral "python-literal" Exact "A Python literal.", "[True, None]" => "[true, null]";
    SecondDocument "second-document" Lossy "A document after the one that was asked for.", r#"{"a": 1}{"a": 2}"# => r#"{"a": 1}"#;
    SingleQuote "single-quote" Exact "A string delimited by single quotes.", "['a']" => r#"["a"]"#;
    SmartQuote "smart-quote" Exact "A string delimited by typographic quotes.", "[\u{201c}a\u{201d}]" => r#"["a"]"#;
    StrayText "stray-text" Lossy "Words between members that belong to none of them.", r#"{"a": [1] oops, "b": 2}"# => r#"{"a": [1] , "b": 2}"#;
    StringConcatenation "string-concatenation" Exact "A string written in several pieces.", r#"["a" + "b"]"# => r#"["ab"]"#;
    StringPrefix "string-prefix" Likely "A Python prefix before a string.", "{'a': u'b'}" => r#"{"a": "b"}"#;
    TrailingDot "trailing-dot" Exact "A number without digits after its point.", "[5.]" => "[5]";
    TrailingProse "trailing-prose" Likely "Text after the document.", "{\"a\": 1}\nDone." => r#"{"a": 1}"#;
    Tuple "tuple" Likely "A list in parentheses or braces.", "[(1, 2)]" => "[[1, 2]]";
    Undefined "undefined" Likely "A JavaScript value that JSON cannot express.", "[undefined]" => "[null]";
    UnescapedControl "unescaped-control" Exact "A raw control character inside a string.", "[\"a\tb\"]" => r#"["a\tb"]"#;
    UnescapedQuote "unescaped-quote" Likely "A quote inside a string that was not escaped.", r#"["a "b" c"]"# => r#"["a \"b\" c"]"#;
    UnquotedKey "unquoted-key" Exact "A key without quotes.", "{a: 1}" => r#"{"a": 1}"#;
    UnquotedString "unquoted-string" Likely "A string without quotes.", "[hello]" => r#"["hello"]"#;
    UnterminatedString "unterminated-string" Guess "A string that was never closed.", r#"["abc"# => r#"["abc"]"#;
}

impl RepairKind {
    /// The kind with this code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.binary_search_by(|kind| kind.code().cmp(code)).ok().map(|at| Self::ALL[at])
    }

    /// Whether a document with such a repair in it may end elsewhere than it seems to: a guess about
    /// quotes, brackets or text that was dropped, and not about one value. This is for the other crates.
    #[doc(hidden)]
    #[must_use]
    pub const fn doubts_end(self) -> bool {
        let is_of_value = matches!(
            self,
            Self::Ellipsis
                | Self::Fraction
                | Self::InvalidUtf8
                | Self::LoneSurrogate
                | Self::NonFinite
        );
        !is_of_value && matches!(self.risk(), Risk::Lossy | Risk::Guess)
    }

    /// Whether a consistent dialect of JSON needs it: Python's `repr`, or JavaScript's literals.
    pub(crate) const fn is_of_dialect(self) -> bool {
        matches!(
            self,
            Self::ExtraComma | Self::PythonLiteral | Self::SingleQuote | Self::UnquotedKey
        )
    }
}

by_code!(RepairKind, "kind of repair");

/// A set of [`RepairKind`]s, used to switch kinds off.
///
/// ```
/// use wiremend_core::{KindSet, RepairKind};
/// let set = KindSet::EMPTY.with(RepairKind::Comment);
/// assert!(set.contains(RepairKind::Comment));
/// assert!(!set.contains(RepairKind::Ellipsis));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct KindSet(u128);

impl KindSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// This set and `kind`.
    #[must_use]
    pub const fn with(self, kind: RepairKind) -> Self {
        Self(self.0 | (1 << kind as u8))
    }

    /// This set without `kind`.
    #[must_use]
    pub const fn without(self, kind: RepairKind) -> Self {
        Self(self.0 & !(1 << kind as u8))
    }

    /// Whether `kind` is in the set.
    #[must_use]
    pub const fn contains(self, kind: RepairKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_alphabetical_and_small_enough_for_the_set() {
        assert!(RepairKind::ALL.len() <= 128);
        assert!(RepairKind::ALL.windows(2).all(|w| w[0].code() < w[1].code()));
        for &kind in RepairKind::ALL {
            assert_eq!(RepairKind::from_code(kind.code()), Some(kind));
        }
    }
}
