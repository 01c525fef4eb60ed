//! Line breaks around values in tags.

use wiremend_core::MendOptions;
use wiremend_extract::{CallExtractor, Dialect, FoundCalls};

/// The value of the only argument, which must be the same at every cut.
fn read(name: &str, value: &str) -> String {
    let dialect = Dialect::by_name(name).unwrap();
    let example = dialect.example();
    let at = example.find("seats").and_then(|key| Some(key + example[key..].find('2')?)).unwrap();
    let before = example[..at].replace("string=\"false\"", "string=\"true\"");
    let text = [&before, value, example[at + 1..].trim_start_matches('\n')].concat();
    let text = text.replace("\n2\n", value);
    let reader = CallExtractor::new(MendOptions::new()).with_dialect(dialect.clone());
    let run = |chunks: &[&[u8]]| {
        let (mut reader, mut found) = (reader.clone(), FoundCalls::default());
        chunks.iter().for_each(|chunk| reader.push(chunk, &mut found));
        reader.finish_at_eos(&mut found);
        assert_eq!(found.calls().len(), 1, "{text}");
        String::from_utf8_lossy(found.calls()[0].arguments()).into_owned()
    };
    let whole = run(&[text.as_bytes()]);
    for cut in 1..text.len() {
        let (head, tail) = text.as_bytes().split_at(cut);
        assert_eq!(run(&[head, tail]), whole, "{text} at {cut}");
    }
    whole
}

#[test]
fn a_line_break_is_removed_on_both_sides_or_on_none_if_the_template_writes_none() {
    for name in [
        "minimax_m2_xml",
        "seed_oss_xml",
        "anthropic_function_calls",
        "dots",
        "step3_steptml",
        "muse",
        "minicpm5_xml",
    ] {
        for (value, json) in [
            ("a\n\nb\n", r#"a\n\nb\n"#),
            ("\na\n", "a"),
            ("\r\na\r\n", "a"),
            ("a\r\n", r"a\r\n"),
            ("\n\na\n\n", r"\na\n"),
            ("\na", "a"),
            ("a\n\n", r"a\n\n"),
        ] {
            assert_eq!(read(name, value), format!("{{\"seats\": \"{json}\"}}"), "{name} {value:?}");
        }
    }
}

#[test]
fn a_line_break_that_the_template_writes_is_removed_on_each_side() {
    // The example has the line breaks of the template, so these come inside of them.
    for (value, json) in [("a\n", r"a\n"), ("\na", r"\na"), ("a", "a")] {
        let value = format!("{value}\n");
        assert_eq!(read("qwen3_coder_xml", &value), format!("{{\"seats\": \"{json}\"}}"));
    }
    // Nothing is removed where values are verbatim.
    assert_eq!(read("deepseek_dsml_v4", "\na\n"), r#"{"seats": "\na\n"}"#);
}
