//! Arguments in another form than the first one of the template.

use wiremend_extract::CallOutcome;

use super::{
    check,
    templates::{is_call, knowing, read},
};

/// A dictionary that is spread is the arguments.
#[test]
fn a_dictionary_may_be_spread_over_the_arguments() {
    for (name, text) in [
        ("pythonic", "[book(**{\"seats\": 2})]"),
        ("pythonic", "[book(** {'seats': 2})]"),
        ("lfm2_pythonic", "<|tool_call_start|>[book(**{'seats': 2})]<|tool_call_end|>"),
    ] {
        for reader in [knowing(Some(name)), knowing(None)] {
            let (calls, rest) = read(&reader, text);
            assert_eq!(calls[0].1.replace(' ', ""), r#"{"seats":2}"#, "{text}");
            assert!(
                calls.len() == 1 && calls[0].2.can_run() && rest.is_empty(),
                "{text}: {calls:?}"
            );
        }
    }
    for (text, outcome) in [
        ("[book(**{})]", CallOutcome::Whole),
        ("[book(**{'seats': 2}, name='A')]", CallOutcome::Refused),
        ("[book(name='A', **{'seats': 2})]", CallOutcome::Refused),
        ("[book({'seats': 2}, seats=3)]", CallOutcome::Refused),
        ("[book(**{'seats': 2", CallOutcome::Cut),
        ("[book(**kwargs)]", CallOutcome::Refused),
        ("[book(*args, **kwargs)]", CallOutcome::Refused),
        ("[book(*[2])]", CallOutcome::Refused),
        ("[book(**dict(seats=2))]", CallOutcome::Refused),
    ] {
        assert_eq!(read(&knowing(None), text).0[0].2, outcome, "{text}");
    }
    for text in ["book(**seats**)", "2 ** {3}"] {
        assert_eq!(read(&knowing(None), text), (Vec::new(), text.to_owned()));
    }
}

/// A block of JSON may list its calls without the brackets of a list.
#[test]
fn every_object_in_a_block_is_a_call() {
    let (book, now) = (
        "{\"name\": \"book\", \"arguments\": {\"seats\": 2}}",
        "{\"name\": \"now\", \"arguments\": {}}",
    );
    for (name, text) in [
        ("hermes", format!("<tool_call>{book}\n{now}</tool_call>")),
        ("hermes", format!("<tool_call>\n{book}, {now}\n</tool_call>")),
        ("jamba", format!("<tool_calls>{book}; [{now}]</tool_calls>")),
        ("nemotron_toolcall", format!("<TOOLCALL>[{book}]\n[{now}]</TOOLCALL>")),
        (
            "apertus",
            "<|tools_prefix|>{\"book\": {\"seats\": 2}}\n{\"now\": {}}<|tools_suffix|>".to_owned(),
        ),
        // With a bracket too many, and with a comma too few.
        (
            "apertus",
            "<|tools_prefix|>[{\"book\": {\"seats\": 2}}}, {\"now\": {}}]<|tools_suffix|>"
                .to_owned(),
        ),
        ("jamba", format!("<tool_calls>[\n    {book}\n    {now}\n]</tool_calls>")),
    ] {
        for reader in [knowing(Some(name)), knowing(None)] {
            let found = check(&reader, &text).found;
            let names: Vec<_> =
                found.calls().iter().map(|call| (call.name(), call.dialect())).collect();
            assert_eq!(names.len(), 2, "{text}: {found:?}");
            assert_eq!((names[0].0, names[1].0), ("book", "now"), "{text}");
            assert_eq!(names[0].1, names[1].1, "{text}");
            assert_eq!(String::from_utf8_lossy(found.text()), "", "{text}");
        }
    }
    for rest in [", and {\"a\": 1}", "\n\n{\"a\": 1} is JSON.", " ,", "\n[1, 2]", "; {\"name\": 1}"]
    {
        let text = format!("<tool_call>{book}{rest}");
        for reader in [knowing(Some("hermes")), knowing(None)] {
            let (calls, left) = read(&reader, &text);
            assert_eq!((calls.len(), left.as_str()), (1, rest), "{text}");
        }
    }
}

/// LFM 2 writes JSON between its markers if it is asked to, and some write JSON after the name of GLM.
#[test]
fn arguments_may_be_json_instead() {
    is_call(
        "lfm2_pythonic",
        "<|tool_call_start|>[{\"name\": \"book\", \"arguments\": {\"seats\": 2}}]<|tool_call_end|>",
        r#"{"seats": 2}"#,
    );
    is_call("glm_arg_kv", "<tool_call>book\n{\"seats\": 2}\n</tool_call>", r#"{"seats": 2}"#);
    let unknown = "<tool_call>bok\n{\"seats\": 2}\n</tool_call>";
    assert_eq!(read(&knowing(Some("glm_arg_kv")), unknown), (Vec::new(), unknown.to_owned()));
    // The closing tag of a value may be missing in Seed OSS, too.
    is_call(
        "seed_oss_xml",
        "<seed:tool_call>\n<function=book>\n<parameter=seats>2\n</function>\n</seed:tool_call>",
        r#"{"seats": 2}"#,
    );
    // Where no marker follows, a bracket too many belongs to the call.
    is_call("mistral", "[TOOL_CALLS]book[ARGS]{\"seats\": 2}}", r#"{"seats": 2}"#);
}

/// A name after which nothing comes is that of a call that was cut off.
#[test]
fn a_name_at_the_end_is_a_call_that_was_cut_off() {
    for (name, text) in [
        ("glm_arg_kv", "<tool_call>now"),
        ("k2_horizon", "<ifm|tool_calls><ifm|tool_call>now"),
        ("functionary_v32", "book\n>>>now\n{}"),
    ] {
        let (calls, _) = read(&knowing(Some(name)), text);
        assert_eq!(calls[0].2, CallOutcome::Cut, "{text}: {calls:?}");
    }
    let (calls, rest) = read(&knowing(Some("functionary_v32")), "book\n>>>now\n{}");
    assert!(calls.len() == 2 && calls[1].2.can_run() && rest.is_empty(), "{calls:?} {rest:?}");
    let text = "all\n>>>now\n{}";
    assert_eq!(read(&knowing(Some("functionary_v32")), text).0.len(), 1);
}
