//! Markers around calls, and what becomes of them if no call follows.

use wiremend_extract::{CallOutcome, Dialect, FoundCall};

use super::{check, named, reader};

/// A call of a tool that does not exist stays text as a whole: the markers around it do not disappear.
#[test]
fn a_call_that_stays_text_keeps_the_markers_around_it() {
    for row in Dialect::all() {
        // Headers of messages are never meant for the user.
        if row.has_messages() {
            continue;
        }
        let text = format!("Like this: \n{} \nDone.", row.example().replace("book", "unheard_of"));
        let text = text.replace("</think>", "");
        let found = check(&reader(None), &text).found;
        assert!(found.calls().is_empty(), "{}: {found:?}", row.name());
        assert_eq!(String::from_utf8_lossy(found.text()), text, "{}", row.name());
    }
}

/// Once a call was made, the markers around it are no text, and those of a later call still may be.
#[test]
fn only_the_markers_around_a_call_leave_the_text() {
    let call = |name: &str| {
        format!(
            "<function_calls><invoke name=\"{name}\"><parameter name=\"seats\">2</parameter></invoke></function_calls>"
        )
    };
    let text = format!("One {} two {} three.", call("book"), call("unheard_of"));
    let found = check(&reader(None), &text).found;
    assert_eq!(found.calls().len(), 1);
    let left = format!("One  two {} three.", call("unheard_of"));
    assert_eq!(String::from_utf8_lossy(found.text()), left);
}

/// A marker that nothing follows is not shown to the user.
#[test]
fn a_marker_at_the_end_is_no_text() {
    let text = "Wait.\n<|tool_calls_section_begin|>";
    let found = check(&named("kimi_k2"), text).found;
    assert_eq!(found.text(), b"Wait.\n");
}

/// The markers before a call are part of what is held back, and there are never many.
#[test]
fn markers_without_a_call_are_not_collected() {
    let mut reader = named("kimi_k2");
    let mut found = wiremend_extract::FoundCalls::default();
    reader.push(
        b"<|tool_call_begin|>functions.book:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
        &mut found,
    );
    for _ in 0..1000 {
        reader.push(b"<|tool_calls_section_begin|> ", &mut found);
        assert!(reader.withheld() < 2048, "{}", reader.withheld());
    }
}

/// A key without a value cuts the call. What follows it in the call is not passed on as text.
#[test]
fn the_rest_of_a_call_without_a_value_is_no_text() {
    for (name, text) in [
        (
            "hunyuan_v3",
            "A<tool_calls><tool_call>book<tool_sep><arg_key>seats</arg_key>two</tool_call></tool_calls>B",
        ),
        (
            "glm_arg_kv",
            "A<tool_call>book\n<arg_key>seats</arg_key>\n2\n<arg_key>name</arg_key>\n<arg_value>Ada</arg_value>\n</tool_call>B",
        ),
    ] {
        let found = check(&named(name), text).found;
        assert_eq!(found.text(), b"AB", "{found:?}");
        assert_eq!(found.calls()[0].outcome(), CallOutcome::Cut);
    }
}

/// A call that begins in a reasoning block does not leave the tag that closes the block in the text.
#[test]
fn the_end_of_a_block_in_which_a_call_began_is_no_text() {
    let text = "<think>I need <|tool_call_start|>[book(seats=2)]<|tool_call_end|> now</think>Done.";
    let found = check(&named("lfm2_pythonic"), text).found;
    assert_eq!(found.reasoning(), b"I need ");
    assert_eq!(found.text(), b" nowDone.");
    assert_eq!(found.calls().len(), 1);
    assert!(!found.calls()[0].in_reasoning());
}

/// Calls before a closing tag that nothing opened were drafts, which a later call does not repeat.
#[test]
fn what_turns_out_to_be_reasoning_has_no_calls() {
    let call = "<tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": 2}}</tool_call>";
    let text = format!("I could do [book(seats=2)] and book(seats=3).</think>{call}");
    let found = check(&reader(None), &text).found;
    let drafts: Vec<bool> = found.calls().iter().map(FoundCall::in_reasoning).collect();
    assert_eq!(drafts, [true, true, false]);
    assert!(found.restated().is_empty());
}

/// A closing marker that the end of the input cut off is neither text nor a part of the call.
#[test]
fn a_marker_that_is_cut_off_is_no_part_of_a_name() {
    let text = "<tool_call>{\"name\": \"book\"</tool";
    let found = check(&named("hermes"), text).found;
    assert_eq!((found.calls()[0].name(), found.calls()[0].outcome()), ("book", CallOutcome::Cut));
    let text = "<tool_call>{\"name\": \"book\", \"arguments\": {}}</tool_c";
    let found = check(&named("hermes"), text).found;
    assert_eq!((found.text(), found.calls()[0].outcome()), (&b""[..], CallOutcome::Whole));
}

/// A control token that a sentence mentions is a part of it.
#[test]
fn a_control_token_that_is_mentioned_is_text() {
    for (name, text) in [
        ("kimi_k3", "To call, write <|open|>tools<|sep|> first."),
        (
            "kimi_k3",
            "It ends with `<|close|>tools<|sep|>`, and \"<|close|>think<|sep|>\" is before it.",
        ),
        (
            "kimi_k3",
            "The section <|open|>response<|sep|> is closed by <|close|>response<|sep|>, too.",
        ),
        ("kimi_k3", "Say <|end_of_msg|> at the end."),
        ("harmony", "The header <|channel|>final<|message|> begins it, and (<|end|>) ends it."),
        ("muse", "First `<|start|>assistant<|message|>`, then <|eom|>."),
        ("inkling", "Use <|content_text|> and <|end_message|>: both."),
        ("hermes", "It ends with <|im_end|>."),
    ] {
        let found = check(&named(name), text).found;
        assert_eq!(String::from_utf8_lossy(found.text()), text, "{name}");
        assert!(found.calls().is_empty() && found.reasoning().is_empty(), "{name}: {found:?}");
    }
    let text = "<|open|>response<|sep|>Use `<|open|>tools<|sep|>`.<|close|>response<|sep|><|close|>message<|sep|>";
    let found = check(&named("kimi_k3"), text).found;
    assert_eq!(String::from_utf8_lossy(found.text()), "Use `<|open|>tools<|sep|>`.");
}
