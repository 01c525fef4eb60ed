//! Texts with a quote in doubt: every place of a string, with every content before the quote, and
//! everything that may follow it.
//!
//! ```
//! use wiremend_testkit::quoted;
//!
//! let texts: Vec<String> = quoted::texts().collect();
//! assert!(texts.iter().any(|text| text == r#"{"k": "say "hi" then", "b": 1}"#));
//! ```

/// What comes before the string.
const BEFORE: [&str; 9] = [
    "{\"",
    "{\"k\": \"",
    "{\"o\": {\"k\": \"",
    "({\"k\": \"",
    "[\"",
    "{\"o\": [\"",
    "(\"",
    "\"",
    "[f(\"",
];

/// The content of the string, up to the quote in doubt.
const CONTENTS: [&str; 18] = [
    "",
    "x",
    "x (",
    "x,\n",
    "x: y,\n",
    "say \"hi\": y,\n",
    "x, b: ",
    "x, b:",
    "x:",
    "x {y",
    "say \"hi\" then",
    "say \"hi\" (",
    "say \"hi\" x,\n",
    "say \"hi",
    "say \"hi,\n",
    "f({\"a\": \"b",
    "f({\"a\"",
    "f([\"a\", ",
];

/// What follows the quote.
const AFTER: [&str; 86] = [
    "",
    " ",
    ",",
    ", ",
    ", \"b",
    " b c \"d",
    "}",
    "}}",
    "]",
    "]}",
    "]]",
    ")",
    ":",
    ": 1}",
    "= 1}",
    " 1}",
    " true, \"b\"]",
    "\": 1}",
    " \"b\": 1}",
    "b\": 1}",
    "b\": words}",
    "b\", \"c\"]",
    "b c: 1}",
    " b c\": 1}",
    ", \"b\": 1}",
    ", \"b\": words}",
    ", \"b\": words, then \"c\"}",
    ", \"b\" 1}",
    ", b: 1}",
    ", b\": 1}",
    ", \"b: \"y\"}",
    ", some key: 1}",
    ", b = \"y\"}",
    ", \"b\", \"c\": 1}",
    ", \"b\"]",
    ",\") b",
    ",\"b\"]",
    ", {\"b\": 1}}",
    ", and so on \"b\" c}",
    ", b, \"c\"]",
    ", b]",
    ", 1]",
    ", d \"y\", \"e\": 1}",
    ", \"z\": 1}",
    " d: \"y\"}",
    " d \"y\"}",
    "z\": 1}",
    "} b\"}",
    "}\" x\"}",
    "}\"b\": 1}",
    "};",
    "}; x\"}",
    "} and \"x\"}",
    "] b\"]",
    "]\" b\"]",
    ") b\"",
    ")\" b\"]",
    "; \"b\": 1}",
    "; x}",
    ";\" x}",
    " + \"b\"}",
    " + b}",
    " // c\n}",
    " // a \"c\n}",
    " <!-- x -->}",
    " ```\n",
    "\n \"b\"}",
    "{\"b\": 1}]",
    "b\" c\"}",
    " b, \"c\": 1}",
    " b c",
    "b c d e f g h i j k l m n o p q r s t u v w x y z 1 2 3 4 5 6 7 8 9 and so on\" b",
    " b c d e f g h i j k l m n o p q r s t u v w x y z 1 2 3 4 5 6 7 8 9 and so on\" b",
    "\"b\": 1}",
    "1, \"b\": 1}",
    "= x\": 1}",
    " 1 x\": 1}",
    "\"b\" x\": 1}",
    " \"b",
    ",\u{a0}\"b\": words}",
    "b c",
    "{x} y]",
    ": 1}}",
    ", d\", \"c\"]",
    "\", \"b\": 1}",
    "\"]",
];

/// All texts.
pub fn texts() -> impl Iterator<Item = String> {
    BEFORE.iter().flat_map(|before| {
        CONTENTS.iter().flat_map(move |content| {
            AFTER.iter().map(move |after| format!("{before}{content}\"{after}"))
        })
    })
}
