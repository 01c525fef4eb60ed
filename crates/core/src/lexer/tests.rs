use super::*;

/// Whether the text is one value, with white space around it.
fn read(text: &str) -> Result<bool, Fault> {
    let mut lexer = Lexer::new(text, MAX_DEPTH);
    while lexer.next_token()?.is_some() {}
    Ok(lexer.is_at_end())
}

#[test]
fn the_grammar_is_that_of_the_standard() {
    for text in [
        "null",
        " [ ] ",
        "{}",
        "{ }\n",
        "[1,2.5,-0,1e400,1E-2,-0.5e+3]",
        r#"{"a":{"b":[true,false]}}"#,
        r#"{"a" : 1 , "b":[ ] }"#,
        r#""a\u00e9\n\"\\\/\b\f\r\t""#,
        "[[[]],{}]",
        "[\"\\\"]\"]",
        "\"\u{7f}é😀\"",
    ] {
        assert_eq!(read(text), Ok(true), "{text}");
    }
    for text in [
        "[1,]",
        "[,1]",
        "[,]",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{a:1}",
        "01",
        "-01",
        "1.x",
        ".5",
        "+1",
        "[-]",
        "[1.]",
        "1e+x",
        "nil",
        "[tru]",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\n\"",
        "[1}",
        "{]",
        "[1 2]",
        "]",
        "}",
        ":",
        ",",
        "nope",
        "{\"a\":1]",
        "[\"a\":1]",
        "{1:2}",
        "é",
        "{\"a\",\"b\"}",
    ] {
        assert_eq!(read(text), Err(Fault::Invalid), "{text}");
    }
    for text in ["1 2", "nulll", "[] ]", "{}{}"] {
        assert_eq!(read(text), Ok(false), "{text}");
    }
    for text in ["", " ", "-", "1.", "1e", "1e-", "tru", "\"a", "\"\\u12", "\"\\", "[[", "{\"a\":"]
    {
        assert_eq!(read(text), Err(Fault::Incomplete), "{text}");
    }
}

#[test]
fn every_prefix_of_a_container_is_incomplete() {
    let text = r#"{"a":[1.5e3,"x\"\u00e9",true,null,{}],"b":-1}"#;
    for cut in 0..text.len() {
        assert_eq!(read(&text[..cut]), Err(Fault::Incomplete), "{cut}");
    }
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(read(&nested(MAX_DEPTH)), Ok(true));
    assert_eq!(read(&nested(MAX_DEPTH + 1)), Err(Fault::TooDeep));
    let mixed = "{\"a\":[".repeat(MAX_DEPTH / 2) + &"]}".repeat(MAX_DEPTH / 2);
    assert_eq!(read(&mixed), Ok(true));
    let mut lexer = Lexer::new("[[[]]]", 2);
    lexer.next_token().unwrap();
    lexer.next_token().unwrap();
    assert_eq!(lexer.next_token(), Err(Fault::TooDeep));
    assert_eq!(lexer.position(), 2);
}

#[test]
fn what_a_text_contains_is_noted() {
    let noted = |text: &str| {
        let mut lexer = Lexer::new(text, 9);
        while lexer.next_token().unwrap().is_some() {}
        (lexer.is_escaped(), lexer.has_surrogates(), lexer.has_loose_numbers())
    };
    assert_eq!(noted("\"a\""), (false, false, false));
    assert_eq!(noted("\"\\n\""), (true, false, false));
    assert_eq!(noted("\"\\ud7ff\\ue000\""), (true, false, false));
    assert_eq!(noted("\"\\uD800\""), (true, true, false));
    for loose in ["1.5", "-0", "1e2", "[0, -0.0]"] {
        assert!(noted(loose).2, "{loose}");
    }
    assert_eq!(noted("[0, -1, 10]"), (false, false, false));
}
