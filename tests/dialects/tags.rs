//! Calls as tags that are damaged: cut off, with tags that are missing, or with something between them. And
//! tags that are no calls.

use serde_json::json;
use wiremend_core::MendOptions;
use wiremend_extract::{CallExtractor, CallOutcome, Dialect, FoundCall, FoundCalls, Tools};
use wiremend_schema::Registry;

use super::check;

fn tools() -> Tools {
    let declared = json!([
        {"name": "rent", "parameters": {"type": "object", "properties": {
            "days": {"type": "integer"},
            "model": {"type": "string"},
            "extras": {"type": "array", "items": {"type": "integer"}},
            "driver": {"type": "object"},
        }}},
        {"name": "honk", "parameters": {"type": "object", "properties": {}}},
        {"name": "save", "parameters": {"type": "object", "properties": {
            "path": {"type": "string"},
            "content": {"type": "string"},
        }}},
    ]);
    Registry::from_tools(&declared).unwrap().tools()
}

fn reader(row: Option<&str>) -> CallExtractor {
    let reader = CallExtractor::new(MendOptions::new()).with_tools(tools());
    match row {
        Some(row) => reader.with_dialect(Dialect::by_name(row).unwrap().clone()),
        None => reader,
    }
}

type CallsAndText = (Vec<(String, String, CallOutcome)>, String);

fn show(found: &FoundCalls) -> CallsAndText {
    let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let calls = found.calls().iter().map(|call| {
        (call.name().to_owned(), show(call.arguments()).replace('\n', ""), call.outcome())
    });
    (calls.collect(), show(found.text()))
}

/// Reads a text, which the model has ended, at every cut. In a text that it has not ended, too, all bytes
/// must be there.
fn read(row: Option<&str>, text: &str) -> CallsAndText {
    let whole = {
        let mut found = FoundCalls::default();
        let mut reader = reader(row);
        reader.push(text.as_bytes(), &mut found);
        reader.finish_at_eos(&mut found);
        show(&found)
    };
    for cut in 0..=text.len() {
        let mut found = FoundCalls::default();
        let mut reader = reader(row);
        let (head, tail) = text.as_bytes().split_at(cut);
        reader.push(head, &mut found);
        reader.push(tail, &mut found);
        reader.finish_at_eos(&mut found);
        assert_eq!(show(&found), whole, "{text} at {cut}");
    }
    check(&reader(row), text);
    whole
}

/// One call, with these arguments and outcome.
#[track_caller]
fn yields(row: Option<&str>, text: &str, arguments: &str, outcome: CallOutcome) {
    let (calls, rest) = read(row, text);
    let [(_, json, found)] = &calls[..] else { panic!("{text}: {calls:?}") };
    assert_eq!((json.as_str(), *found), (arguments, outcome), "{text}");
    assert_eq!(rest.trim(), "", "{text}");
}

/// A call that may not be run, whatever it has.
#[track_caller]
fn does_not_run(row: Option<&str>, text: &str) {
    let (calls, _) = read(row, text);
    assert!(!calls.is_empty(), "{text}: lost");
    assert!(calls.iter().all(|call| !call.2.can_run()), "{text}: {calls:?}");
}

#[track_caller]
fn is_text(row: Option<&str>, text: &str) {
    let (calls, rest) = read(row, text);
    assert!(calls.is_empty(), "{text}: {calls:?}");
    assert_eq!(rest, text);
}

const XML: Option<&str> = Some("xml_tool_tags");

#[test]
fn the_end_of_a_text_closes_a_parameter_only_if_the_model_ended_it() {
    use CallOutcome::{Cut, Repaired, Whole};
    for row in [XML, None] {
        let text = "<rent>\n<model>Beetle</model>\n<days>3</days>\n</rent>";
        let closed = text.rfind("\n</rent>").unwrap();
        for cut in ("<rent>".len()..text.len()).step_by(5) {
            let (calls, _) = read(row, &text[..cut]);
            let whole = cut == text.len();
            let [(name, json, outcome)] = &calls[..] else { panic!("{cut}: {calls:?}") };
            assert_eq!(name, "rent");
            assert!(!json.contains('<'), "{json}");
            // The close of the call may be missing, and that of a parameter, but nothing was meant by half of
            // a tag.
            let (before, value) = text[..cut].rsplit_once('>').unwrap();
            let params = ["</model", "</days"].iter().any(|end| before.ends_with(end));
            let open = !value.trim().is_empty() && !value.contains('<');
            assert_eq!(
                outcome.can_run(),
                whole || open || params && !value.contains('<'),
                "{cut}: {calls:?}"
            );
            assert_eq!(*outcome == Repaired, open, "{cut}: {calls:?}");
        }
        yields(row, &text[..closed], r#"{"model": "Beetle", "days": 3}"#, Whole);
        // The transport ended, and not the model.
        for text in [&text[..closed], "<rent>\n<model>Beetle"] {
            let mut found = FoundCalls::default();
            let mut reader = reader(row);
            reader.push(text.as_bytes(), &mut found);
            reader.finish(&mut found);
            assert_eq!(found.calls()[0].outcome(), Cut);
        }
    }
}

#[test]
fn the_next_parameter_ends_one_that_is_not_closed() {
    use CallOutcome::Repaired;
    for (row, text) in [
        (
            "glm_arg_kv",
            "<tool_call>rent\n<arg_key>days</arg_key>\n<arg_value>3\n<arg_key>model</arg_key>\n<arg_value>T</arg_value>\n</tool_call>",
        ),
        (
            "dots",
            "<dots_function_call><invoke name=\"rent\"><parameter name=\"days\">3<parameter name=\"model\">T</parameter></invoke></dots_function_call>",
        ),
        (
            "minicpm5_xml",
            "<function name=\"rent\"><param name=\"days\">3<param name=\"model\">T</param></function>",
        ),
        (
            "minimax_m3",
            "]<]minimax[>[<invoke name=\"rent\">]<]minimax[>[<days>3]<]minimax[>[<model>T]<]minimax[>[</model>]<]minimax[>[</invoke>",
        ),
    ] {
        for row in [Some(row), None] {
            yields(row, text, r#"{"days": 3, "model": "T"}"#, Repaired);
        }
    }
    yields(
        None,
        "<tool_call>rent\n<arg_key>extras</arg_key>\n<arg_value>[1]\n<arg_key>model</arg_key>\n<arg_value>T</arg_value>\n</tool_call>",
        r#"{"extras": [1], "model": "T"}"#,
        Repaired,
    );
}

#[test]
fn what_may_be_another_parameter_in_a_text_refuses_the_call() {
    let call = |inside: &str| {
        format!("<invoke name=\"save\"><parameter name=\"path\">{inside}</parameter></invoke>")
    };
    does_not_run(None, &call("a.txt<parameter name=\"content\">b"));
    does_not_run(None, &call("a.txt<parameter name=\"contents\">b"));
    does_not_run(
        Some("dots"),
        "<invoke name=\"none\"><parameter name=\"a\">b<parameter name=\"c\">d</parameter></invoke>",
    );
    // A number has no tags in it.
    does_not_run(None, "<invoke name=\"rent\"><parameter name=\"days\">3<b>4</parameter></invoke>");
    does_not_run(
        None,
        "<invoke name=\"rent\"><parameter name=\"extras\">[1] and <b></parameter></invoke>",
    );
    for inside in [
        "<parameter name=\"x\">1</parameter> is one",
        "the tag `<parameter name=\"x\">` and <b>",
        "re.compile(r'<parameter=([^>]*)>')",
    ] {
        let (calls, _) = read(None, &call(inside));
        assert_eq!(calls[0].1, json!({ "path": inside }).to_string().replace("\":\"", "\": \""));
        assert_eq!(calls[0].2, CallOutcome::Whole, "{inside}");
    }
    // In a string of JSON it is text.
    yields(
        None,
        "<invoke name=\"rent\"><parameter name=\"driver\">{\"a\": \"<parameter name='model'>\"}</parameter></invoke>",
        r#"{"driver": {"a": "<parameter name='model'>"}}"#,
        CallOutcome::Whole,
    );
}

#[test]
fn a_call_in_a_value_that_is_not_closed_is_not_made() {
    use CallOutcome::Cut;
    for text in [
        "<tool_call>\n<function=rent>\n<parameter=model>\nT\n<tool_call>\n<function=rent>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
        "<tool_call>rent\n<arg_key>model</arg_key>\n<arg_value>T\n<tool_call>rent\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
    ] {
        let row = if text.contains("arg_key") { "glm_arg_kv" } else { "qwen3_coder_xml" };
        let (calls, rest) = read(Some(row), text);
        let outcomes: Vec<_> = calls.iter().map(|call| call.2).collect();
        assert_eq!(outcomes, [Cut], "{text}: {calls:?}");
        assert_eq!(rest, "");
    }
}

#[test]
fn nothing_between_parameters_is_dropped() {
    use CallOutcome::{Refused, Repaired};
    for text in [
        "<invoke name=\"rent\"><days>3</days></invoke>",
        "<invoke name=\"rent\">\n<days>3</days>\n</invoke>",
        "<tool_call>\n<function=rent>\n<days>\n3\n</days>\n</function>\n</tool_call>",
    ] {
        yields(None, text, r#"{"days": 3}"#, Repaired);
    }
    yields(
        None,
        "<invoke name=\"save\"><path>a</path><content>x</path> y</content></invoke>",
        r#"{"path": "a", "content": "x</path> y"}"#,
        Repaired,
    );
    for text in [
        "<invoke name=\"rent\">days=3</invoke>",
        "<invoke name=\"rent\"><dayz>3</dayz></invoke>",
        "<tool_call>\n<function=rent>\n<parameter=days>\n3\n</parameter>\n<paramter=model>\nT\n</parameter>\n</function>\n</tool_call>",
        "<tool_call>rent\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n<arg_kye>model</arg_kye>\n<arg_value>T</arg_value>\n</tool_call>",
        "]<]minimax[>[<invoke name=\"rent\"><days>3</days>]<]minimax[>[</invoke>",
        // Damaged names.
        "<invoke name=\"rent\"><parameter name=\"days>3</parameter><parameter name=\"model\">T</parameter></invoke>",
        "<tool_call>rent\n<arg_key>days<arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
    ] {
        let (calls, _) = read(None, text);
        assert_eq!(calls.len(), 1, "{text}: {calls:?}");
        assert_eq!(calls[0].2, Refused, "{text}: {calls:?}");
    }
}

#[test]
fn strings_in_tags_of_tools_keep_their_white_space() {
    use CallOutcome::Whole;
    yields(
        XML,
        "<save>\n<path>a.py</path>\n<content>\n    x = 1\n    y = 2\n\n</content>\n</save>",
        r#"{"path": "a.py", "content": "    x = 1\n    y = 2\n"}"#,
        Whole,
    );
    yields(XML, "<rent><days> 3 </days></rent>", r#"{"days": 3}"#, Whole);
    yields(XML, "<save><path>a &lt; b</path></save>", r#"{"path": "a < b"}"#, Whole);
}

#[test]
fn the_name_of_a_tool_makes_no_call_of_a_tag() {
    for text in [
        "<ul><li>For <rent>cheap money</rent> only.</li></ul>",
        "I pay a <rent>.",
        "I pay a <rent><days>3</days></rent>",
        "<rent>cheap money</rent>",
        "<rent>\n<cheap>money</cheap>\n</rent>",
        "Then \t <honk></honk>",
    ] {
        is_text(None, text);
    }
    yields(None, "<honk></honk>", "{}", CallOutcome::Whole);
    yields(None, "\n \t<rent>\n<days>3</days></rent>", r#"{"days": 3}"#, CallOutcome::Whole);
    // What comes after a call without a close is text.
    let (calls, rest) = read(None, "<rent>\n<days>3</days>\nThen I will wait.");
    assert_eq!(calls, [("rent".to_owned(), r#"{"days": 3}"#.to_owned(), CallOutcome::Cut)]);
    assert_eq!(rest, "Then I will wait.");
}

#[test]
fn a_tag_that_is_mentioned_begins_no_call() {
    let call = "<tool_call>\n<function=rent>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>";
    for row in ["qwen3_coder_xml", "step3p5_xml"] {
        for before in
            ["The marker `<function=name>` begins it.\n", "Of <function=name> comes a call:\n"]
        {
            let (calls, rest) = read(Some(row), &format!("{before}{call}"));
            assert_eq!(calls.len(), 1, "{before}: {calls:?}");
            assert_eq!((calls[0].0.as_str(), rest.as_str()), ("rent", before));
        }
    }
    is_text(Some("minicpm5_xml"), "It writes `<function name=\"rent\">` first.");
    is_text(Some("minicpm5_xml"), "It writes <function name=\"x\"> first.");
    // A tool that does not exist is reported where the dialect is named.
    let (calls, _) =
        read(Some("minicpm5_xml"), "<function name=\"x\"><param name=\"a\">b</param></function>");
    assert_eq!(calls[0].0, "x");
}

#[test]
fn a_parameter_that_is_repeated_is_a_list() {
    let call = |inside: &str| {
        let inside = inside.replace('[', "<parameter=extras>\n").replace(']', "\n</parameter>\n");
        format!("<tool_call>\n<function=rent>\n{inside}</function>\n</tool_call>")
    };
    yields(None, &call("[1][2]"), r#"{"extras": [1, 2]}"#, CallOutcome::Whole);
    yields(None, &call("[1]"), r#"{"extras": [1]}"#, CallOutcome::Whole);
    let model = "<parameter=model>\nT\n</parameter>\n";
    yields(
        None,
        &call(&format!("[1][2]{model}")),
        r#"{"extras": [1, 2], "model": "T"}"#,
        CallOutcome::Whole,
    );
    // Anything else has one value.
    does_not_run(None, &call(&format!("{model}{model}")));
    does_not_run(None, &call(&format!("[1]{model}[2]")));
    does_not_run(None, "<rent>\n<extras>[1]</extras>\n<extras>[2]</extras>\n</rent>");
}

/// The template of MiniCPM 5 asks for it where a value has `<`, `&` or line ends.
#[test]
fn a_value_of_minicpm_may_be_in_a_section() {
    use CallOutcome::Whole;
    let call = |days: &str, model: &str| {
        format!(
            "<function name=\"rent\"><param name=\"days\">{days}</param><param name=\"model\">{model}</param></function>"
        )
    };
    for (value, want) in [
        ("<![CDATA[T < 3 & \"x\"]]>", r#"T < 3 & \"x\""#),
        ("<![CDATA[\nfirst\nsecond\n]]>", r"\nfirst\nsecond\n"),
        ("\n<![CDATA[T]]>\n", "T"),
        ("\n    <![CDATA[T]]>\n  ", "T"),
        ("  T", "  T"),
        ("  ", "  "),
        ("<![CDATA[</param></function>]]>", "</param></function>"),
        ("<![CDATA[a]b]]c]]>", "a]b]]c"),
        // The end of a section within a text.
        ("<![CDATA[a[b[0]]]]><![CDATA[>1]]>", "a[b[0]]>1"),
        ("<![CDATA[]]>", ""),
        ("<![CDATA[a]]> <![CDATA[b]]> ", "ab"),
        ("<![CDATA[&lt;]]>", "&lt;"),
        // Without one, what looks like it is text.
        ("a <![CDATA[T]]>", "a <![CDATA[T]]>"),
    ] {
        for row in [Some("minicpm5_xml"), None] {
            let want = format!(r#"{{"days": 3, "model": "{want}"}}"#);
            yields(row, &call("3", value), &want, Whole);
            yields(row, &call("<![CDATA[3]]>", value), &want, Whole);
        }
    }
    // Other templates know no sections.
    yields(
        Some("qwen3_coder_xml"),
        "<tool_call>\n<function=rent>\n<parameter=model>\n<![CDATA[T]]>\n</parameter>\n</function>\n</tool_call>",
        r#"{"model": "<![CDATA[T]]>"}"#,
        Whole,
    );
    // One that does not end is cut off.
    let open = "<function name=\"rent\"><param name=\"model\"><![CDATA[T</param></function>";
    does_not_run(Some("minicpm5_xml"), open);
}

/// The markers around calls say whose they are, where another row has the same tags.
#[test]
fn a_call_between_markers_is_of_their_dialect() {
    let text = "<seed:tool_call>\n<function=rent>\n<parameter=model>x = 1\n</parameter>\n</function>\n</seed:tool_call>";
    for row in [Some("seed_oss_xml"), None] {
        yields(row, text, r#"{"model": "x = 1\n"}"#, CallOutcome::Whole);
    }
}

/// A parameter that a pattern declares is read as its schema says.
#[test]
fn a_parameter_may_be_declared_by_a_pattern() {
    let declared = json!([{"name": "rent", "parameters": {
        "type": "object",
        "patternProperties": {"^n_": {"type": "integer"}, "^l_": {"type": "array", "items": {"type": "string"}}},
        "additionalProperties": false,
    }}]);
    let reader = || {
        let tools = Registry::from_tools(&declared).unwrap().tools();
        CallExtractor::new(MendOptions::new()).with_tools(tools)
    };
    let tags = "<tool_call>\n<function=rent>\n<parameter=n_a>\n5\n</parameter>\n<parameter=l_b>\n['x']\n</parameter>\n</function>\n</tool_call>";
    let found = check(&reader(), tags).found;
    assert_eq!(show(&found).0[0].1, r#"{"n_a": 5, "l_b": ["x"]}"#);
    // Without a marker, too, and nothing else is one of its arguments.
    assert_eq!(check(&reader(), "[rent(n_a=5)]").found.calls().len(), 1);
    assert_eq!(check(&reader(), "[rent(a=5)]").found.calls().len(), 0);
}

#[test]
fn longcat_writes_keys_and_values_too() {
    let call = |inner: &str| format!("<longcat_tool_call>{inner}</longcat_tool_call>");
    let pair = |key: &str, value: &str| {
        format!(
            "<longcat_arg_key>{key}</longcat_arg_key>\n<longcat_arg_value>{value}</longcat_arg_value>\n"
        )
    };
    for row in [Some("longcat"), None] {
        let text = call(&format!("rent\n{}{}", pair("days", "3"), pair("model", "T < 3")));
        yields(row, &text, r#"{"days": 3, "model": "T < 3"}"#, CallOutcome::Whole);
        yields(row, &call("rent\n"), "{}", CallOutcome::Whole);
        let json = call(r#"{"name": "rent", "arguments": {"days": 3}}"#);
        yields(row, &json, r#"{"days": 3}"#, CallOutcome::Whole);
    }
}

/// Reasoning in the tags of a model is none of its answer, and neither are the calls in it.
#[test]
fn calls_in_the_reasoning_of_a_model_do_not_run() {
    let hunyuan = "<tool_calls:opensource><tool_call:opensource>rent<tool_sep:opensource></tool_call:opensource></tool_calls:opensource>";
    for (row, open, call, close) in [
        (
            "k2_horizon",
            "<ifm|think>",
            "<ifm|tool_calls><ifm|tool_call>rent</ifm|tool_call></ifm|tool_calls>",
            "</ifm|think>",
        ),
        ("k2_horizon", "<ifm|think_fast>", "x", "</ifm|think_fast>"),
        ("hunyuan_v3", "<think:opensource>", hunyuan, "</think:opensource>"),
        (
            "apriel",
            "",
            "<tool_calls>[{\"name\": \"rent\", \"arguments\": {}}]</tool_calls>",
            "[BEGIN FINAL RESPONSE]",
        ),
    ] {
        for row in [Some(row), None] {
            let text = format!("{open}I could {call} here.\n{close}Done.");
            let mut found = FoundCalls::default();
            let mut reader = reader(row);
            reader.push(text.as_bytes(), &mut found);
            reader.finish_at_eos(&mut found);
            assert!(found.calls().iter().all(FoundCall::in_reasoning), "{text}: {found:?}");
            assert_eq!(String::from_utf8_lossy(found.text()), "Done.", "{text}");
        }
    }
}

#[test]
fn gigachat_and_phi_write_their_own_markers() {
    let gigachat = "<｜GCML｜tool_calls>\n<｜GCML｜invoke name=\"rent\">\n<｜GCML｜parameter name=\"days\" string=\"false\">3</｜GCML｜parameter>\n<｜GCML｜parameter name=\"model\" string=\"true\">3</｜GCML｜parameter>\n</｜GCML｜invoke>\n</｜GCML｜tool_calls></s>";
    for row in [Some("gigachat35"), None] {
        yields(row, gigachat, r#"{"days": 3, "model": "3"}"#, CallOutcome::Whole);
    }
    assert_eq!(Dialect::of_model("ai-sage/GigaChat3.5-10B").unwrap().name(), "gigachat35");
    let phi =
        "<|tool_call|>{\"name\": \"rent\", \"arguments\": {\"days\": 3}}<|/tool_call|><|end|>";
    yields(Some("phi4mini_functools"), phi, r#"{"days": 3}"#, CallOutcome::Whole);
}

#[test]
fn no_call_begins_in_a_message_to_the_user() {
    let call = "<atem:function_calls>\n<atem:invoke name=\"rent\">\n</atem:invoke>\n</atem:function_calls>";
    let message = |to: &str| format!("<|start|>assistant to={to}<|message|>So. {call}<|eom|>");
    for row in [Some("muse"), None] {
        let (calls, rest) = read(row, &message("user"));
        assert!(calls.is_empty(), "{calls:?}");
        assert_eq!(rest, format!("So. {call}"));
        let (calls, _) = read(row, &(message("user") + &message("rent")));
        assert_eq!(calls.len(), 1);
    }
}

/// Where a value is not closed, its call may have been closed in it, so that prose after it is no part of it.
#[test]
fn a_value_after_which_the_call_was_closed_does_not_run() {
    let open = "<write_file>\n<path>a.txt</path>\n<content>\nhello\n";
    for (tail, outcome) in [
        ("</write_file>\n\nIt is written.", CallOutcome::Cut),
        ("</write_file>", CallOutcome::Repaired),
        ("</write_file> and\n</content>\n</write_file>\nDone.", CallOutcome::Whole),
    ] {
        let text = format!("{open}{tail}");
        for reader in [super::named("xml_tool_tags"), super::reader(None)] {
            let found = check(&reader, &text).found;
            assert_eq!(found.calls()[0].outcome(), outcome, "{text}");
        }
    }
}
