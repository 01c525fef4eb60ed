use serde_json::{Value, json};

use crate::program::{json_lines, run};

const TEXT: &str =
    "On it. <tool_call>{'name': 'book', 'arguments': {'seats': 2,}}</tool_call> Done.";

#[test]
fn each_call_is_a_line() {
    for format in ["auto", "hermes", "Qwen/Qwen2.5-7B-Instruct"] {
        let done = run(&["extract", "--format", format], TEXT);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let lines = json_lines(&done.stdout);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0]["name"], "book");
        assert_eq!(lines[0]["arguments"], "{\"seats\": 2}");
        assert_eq!((&lines[0]["outcome"], &lines[0]["start"]), (&json!("repaired"), &json!(7)));
    }
}

#[test]
fn the_exit_code_says_what_came_of_the_calls() {
    assert_eq!(run(&["extract"], "No call.").code, 4);
    let cut = run(&["extract"], "<tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": ");
    assert_eq!(cut.code, 3);
    assert_eq!(json_lines(&cut.stdout)[0]["outcome"], "cut");
    assert_eq!(run(&["extract", "--format", "klingon"], "").code, 2);
}

#[test]
fn a_request_for_calls_gets_them() {
    let request = json!({"id": 1, "op": "calls", "input": format!("{TEXT}\nbook(3)"), "tools": [
        {"name": "book", "parameters": {"properties": {"seats": {"type": "integer"}}}},
    ]});
    let reply = &json_lines(&run(&["batch"], request.to_string()).stdout)[0];
    assert_eq!(reply["content"], "On it.  Done.\n");
    assert_eq!(reply["format"], "hermes");
    assert_eq!(reply["calls"][0]["matched"], "closed");
    assert_eq!(reply["calls"][1]["arguments"], "{\"seats\": 3}");
    let request = json!({"op": "calls", "format": "klingon", "input": ""});
    let reply = &json_lines(&run(&["batch"], request.to_string()).stdout)[0];
    assert!(reply["error"].as_str().unwrap().contains("`format`"));
    let cut = &TEXT[..60];
    let request = json!({"op": "calls", "format": "hermes", "input": cut});
    let reply = &json_lines(&run(&["batch"], request.to_string()).stdout)[0];
    assert_eq!((&reply["calls"], &reply["content"]), (&Value::Array(Vec::new()), &json!(cut)));
    assert_eq!(reply["incomplete"][0]["outcome"], "cut");
}

/// What the prompt has written is read first, and is no part of the text.
#[test]
fn a_call_that_the_prompt_opened_is_read() {
    let text = "{\"name\": \"book\", \"arguments\": {}}</tool_call> Done.";
    let request =
        json!({"op": "calls", "format": "hermes", "prefill": "<tool_call>", "input": text});
    let reply = &json_lines(&run(&["batch"], request.to_string()).stdout)[0];
    assert_eq!((&reply["calls"][0]["name"], &reply["content"]), (&json!("book"), &json!(" Done.")));
    assert_eq!((&reply["calls"][0]["start"], &reply["calls"][0]["end"]), (&json!(0), &json!(45)));
    let args = ["extract", "--format", "hermes", "--prefill", "<tool_call>"];
    let line = json_lines(&run(&args, text).stdout).remove(0);
    assert_eq!((&line["name"], &line["start"]), (&json!("book"), &json!(0)));
    assert!(json_lines(&run(&["extract", "--format", "hermes"], text).stdout).is_empty());
    let body = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]});
    let args =
        ["stream", "--emit", "calls", "--calls-in-text", "hermes", "--prefill", "<tool_call>"];
    let line = json_lines(&run(&args, body.to_string()).stdout).remove(0);
    assert_eq!((&line["name"], &line["outcome"]), (&json!("book"), &json!("unchanged")));
}

/// The end of a text that was cut off closes no call.
#[test]
fn a_text_that_was_cut_off_ends_no_call() {
    let tools =
        json!([{"name": "book", "parameters": {"properties": {"name": {"type": "string"}}}}]);
    let text = "<book>\n<name>Ada Lov";
    let request = |eos: bool| {
        let format = "xml_tool_tags";
        json!({"op": "calls", "format": format, "tools": tools, "input": text, "eos": eos})
    };
    let reply = |eos: bool| json_lines(&run(&["batch"], request(eos).to_string()).stdout).remove(0);
    assert_eq!(reply(true)["calls"][0]["outcome"], "repaired");
    assert_eq!(reply(false)["incomplete"][0]["outcome"], "cut");
    assert_eq!(reply(false)["calls"], json!([]));
    let text = "Action: book\nAction Input: Ada Lov";
    let outcome = |args: &[&str]| {
        let args = [&["extract", "--format", "react"], args].concat();
        json_lines(&run(&args, text).stdout).remove(0)["outcome"].clone()
    };
    assert_eq!((outcome(&[]), outcome(&["--cut"])), (json!("whole"), json!("cut")));
}

/// A marker in a string of a document is a part of the string.
#[test]
fn a_call_in_a_string_of_a_document_is_text() {
    let text = format!("As JSON: {{\"note\": \"{}\"}}", TEXT.replace(['"', '\n'], "'"));
    let request = json!({"op": "calls", "format": "hermes", "input": text});
    let reply = &json_lines(&run(&["batch"], request.to_string()).stdout)[0];
    assert_eq!((&reply["content"], &reply["calls"]), (&json!(text), &json!([])));
    assert!(json_lines(&run(&["extract", "--format", "hermes"], &text).stdout).is_empty());
}

/// The content has what was written around calls of which none can be run, but no marker around others.
#[test]
fn the_content_keeps_the_markers_around_calls_that_cannot_be_run() {
    let content = |call: &str, format: &str| {
        let input = format!("Before <tool_calls>{call}</tool_calls> after.");
        let request = json!({"op": "calls", "format": format, "input": input});
        let reply = json_lines(&run(&["batch"], request.to_string()).stdout).remove(0);
        (input, reply["content"].as_str().unwrap().to_owned())
    };
    let cut = "<tool_call>book<arg_key>seats</arg_key>two</tool_call>";
    let whole = "<tool_call>book<arg_key>seats</arg_key><arg_value>2</arg_value></tool_call>";
    let (input, left) = content(cut, "hunyuan_v3");
    assert_eq!(left, input);
    assert_eq!(content(whole, "hunyuan_v3").1, "Before  after.");
    assert_eq!(content(&format!("{whole}{cut}"), "hunyuan_v3").1, format!("Before {cut} after."));
    // What follows the calls may be the tag of a reasoning block.
    let text = format!("<tool_calls>{cut}</tool_calls><think>Hm.</think>");
    let request = json!({"op": "calls", "format": "hunyuan_v3", "input": text});
    let reply = json_lines(&run(&["batch"], request.to_string()).stdout).remove(0);
    assert!(!reply["content"].as_str().unwrap().contains("think"), "{reply}");
}

/// A message that is cut off may have been a call. One in another language than JSON was none.
#[test]
fn the_content_has_a_message_that_was_cut_off_but_none_to_somebody_else() {
    let content = |input: &str| {
        let request = json!({"op": "calls", "format": "harmony", "input": input});
        let reply = json_lines(&run(&["batch"], request.to_string()).stdout).remove(0);
        let incomplete = reply["incomplete"][0].clone();
        (reply["content"].as_str().unwrap().to_owned(), incomplete["outcome"].clone())
    };
    let head = "<|channel|>commentary to=functions.book <|constrain|>json";
    assert_eq!(content(head), (head.to_owned(), json!("cut")));
    let body = format!("{head}<|message|>{{\"seats\": ");
    assert_eq!(content(&body), (body.clone(), json!("cut")));
    let python = "<|channel|>commentary to=python <|constrain|>code<|message|>print(2)<|call|>";
    assert_eq!(content(python), (String::new(), json!("refused")));
}

/// Without the tag that opens it, a reasoning block is known at its end. The calls in it are none.
#[test]
fn calls_before_the_end_of_a_reasoning_block_are_part_of_it() {
    let call = |seats: u8| {
        format!(
            "<tool_call>{{\"name\": \"book\", \"arguments\": {{\"seats\": {seats}}}}}</tool_call>"
        )
    };
    let text = format!("Perhaps {} or so.\n</think>\n{}", call(3), call(2));
    let request = json!({"op": "calls", "format": "hermes", "input": text});
    let reply = json_lines(&run(&["batch"], request.to_string()).stdout).remove(0);
    assert_eq!(reply["reasoning"], format!("Perhaps {} or so.\n", call(3)));
    assert_eq!(reply["calls"].as_array().unwrap().len(), 1);
    assert_eq!(reply["calls"][0]["arguments"], "{\"seats\": 2}");
}

#[test]
fn each_segment_is_a_line() {
    let text = format!("<think>Two?</think>So: {{'a': 1}}\n```json\n[1,]\n```\n{TEXT}");
    let lines = |arguments: &[&str]| {
        let done = run(
            &[&["extract", "--format", "hermes", "--emit", "segments"], arguments].concat(),
            text.clone(),
        );
        assert_eq!(done.code, 0, "{}", done.stderr);
        json_lines(&done.stdout)
    };
    let all = lines(&[]);
    let kinds: Vec<&str> = all.iter().map(|line| line["type"].as_str().unwrap()).collect();
    let want = [
        "markup",
        "reasoning",
        "markup",
        "text",
        "payload",
        "text",
        "payload",
        "text",
        "call",
        "text",
    ];
    assert_eq!(kinds, want);
    // The lines cover the input.
    let mut at = 0;
    for line in &all {
        assert_eq!(line["start"], at, "{line}");
        let end = usize::try_from(line["end"].as_u64().unwrap()).unwrap();
        if let Some(said) = line["text"].as_str() {
            assert_eq!(said, &text[at..end]);
        }
        at = end;
    }
    assert_eq!(at, text.len());
    assert_eq!((&all[4]["json"], &all[4]["outcome"]), (&json!("{\"a\": 1}"), &json!("repaired")));
    assert_eq!(all[8]["arguments"], "{\"seats\": 2}");
    let fenced = lines(&["--scope", "fenced"]);
    let found = fenced.iter().filter(|line| line["type"] == "payload").count();
    assert_eq!(found, 1);
    assert_eq!(run(&["extract", "--scope", "last"], "").code, 2);
}

#[test]
fn restated_and_unknown_calls_have_lines() {
    let tools = crate::program::file(
        "restated.json",
        r#"[{"name": "book", "parameters": {"properties": {"seats": {"type": "integer"}}}}]"#,
    );
    let text = "book(seats=2)\nis what I would call, as book(seats=3), and call.\n[book(seats=2)]\n<tool_call>{\"name\": \"boook\", \"arguments\": {}}</tool_call>";
    let done = run(&["extract", "--tools", tools.to_str().unwrap()], text);
    let lines = json_lines(&done.stdout);
    let kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["call", "mentioned", "restated", "unknown"]);
    assert_eq!((&lines[2]["repeats"], &lines[3]["nearest"]), (&json!(0), &json!("book")));
}
