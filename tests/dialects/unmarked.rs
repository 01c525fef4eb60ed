//! Calls that nothing marks as such but the name of a tool: pairs, flat objects, calls in Python as they
//! are written in prose, and what only looks like one.

use serde_json::json;
use wiremend_core::MendOptions;
use wiremend_extract::{CallExtractor, CallOutcome, Tools};
use wiremend_schema::Registry;

use super::check;

pub(super) fn tools() -> Tools {
    let string = json!({"type": "string"});
    let tool = |name: &str, properties: serde_json::Value| json!({"name": name, "parameters": {"type": "object", "properties": properties}});
    let declared = json!([
        tool("book", json!({"seats": {"type": "integer"}, "guest_name": string.clone()})),
        tool("zoo.open", json!({"day": string.clone()})),
        tool("functions.count", json!({"of": {"type": "array"}, "unit": {"type": "string"}})),
        tool("now", json!({})),
        tool(
            "mark",
            json!({"status": string.clone(), "id": string.clone(), "page": {"type": "integer"}, "type": string.clone()})
        ),
    ]);
    Registry::from_tools(&declared).unwrap().tools()
}

/// The calls of a text, each as its name, its arguments and its outcome, and the text that is left.
fn calls(text: &str) -> (Vec<(String, String, CallOutcome)>, String) {
    let reader = CallExtractor::new(MendOptions::new()).with_tools(tools());
    let found = check(&reader, text).found;
    let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let calls = found.calls().iter().map(|call| {
        (call.name().to_owned(), show(call.arguments()).replace([' ', '\n'], ""), call.outcome())
    });
    (calls.collect(), show(found.text()))
}

#[track_caller]
fn yields(text: &str, expected: &[(&str, &str)], rest: &str) {
    let (found, left) = calls(text);
    let names: Vec<_> = found.iter().map(|call| (call.0.as_str(), call.1.as_str())).collect();
    assert_eq!(names, expected, "{text}");
    assert!(found.iter().all(|call| call.2.can_run()), "{text}: {found:?}");
    assert_eq!(left, rest, "{text}");
}

#[track_caller]
fn is_text(text: &str) {
    let (found, left) = calls(text);
    assert!(found.is_empty(), "{text}: {found:?}");
    assert_eq!(left, text);
}

#[track_caller]
fn may_not_run(text: &str) {
    let (found, _) = calls(text);
    assert!(!found.is_empty(), "{text}: lost");
    assert!(found.iter().all(|call| !call.2.can_run()), "{text}: {found:?}");
}

#[test]
fn the_name_and_the_arguments_are_the_items_of_a_list() {
    let one = ("book", "{\"seats\":2}");
    yields("['book', {'seats': 2}]", &[one], "");
    yields("[\"book\", {\"seats\": 2}]\nDone.", &[one], "\nDone.");
    yields("[('book', {'seats': 2})]", &[one], "");
    let two = ("zoo.open", "{\"day\":\"May1\"}");
    yields("[['book', {'seats': 2}], ['zoo.open', {'day': 'May 1'}]]", &[one, two], "");
    is_text("['book', 'film']");
    is_text("['film', {'seats': 2}]");
    is_text("[['book', 2], {'seats': 2}]");
    is_text("The shelf holds ['book'].");
    may_not_run("[\"book\", {\"seats\"");
}

#[test]
fn a_list_with_anything_after_the_arguments_is_text() {
    is_text("[\"book\", {\"seats\": 2}, \"film\"] and more");
    is_text("[\"book\", {\"seats\": 2}, {\"seats\": 3}]");
    is_text("[\"book\", {\"seats\": 2}, \"book\", {\"seats\": 3}]");
    is_text("[['book', {'seats': 2}, 1], ['book', {'seats': 3}, 2]]");
    is_text("[['book', {'seats': 2}], ['book', {'seats': 3}, 1]] x");
    is_text("[['book', {'seats': 2}], 'film'] x");
    is_text("[{'name': 'book', 'arguments': {'seats': 2}}, {'pages': 3}] x");
    // What has a name and is no call is not passed over, as where the text was cut off.
    let calls = r#"{"tool_calls": [{"name": "book", "arguments": {"seats": 2}}, {"name": "#;
    is_text(&format!("{calls}\"bo"));
    is_text(&format!("{calls}\"book\"}}]}}"));
    let call = r#"{"name": "book", "arguments": {"seats": 2}}"#;
    is_text(&format!("[{call}, 5, {call}]"));
    is_text(&format!("[{call}, 5]"));
    is_text(&format!("{{\"tool_calls\": [{call}, 5, {call}]}}"));
    // A tool that does not exist is reported, and the others are called.
    let one = ("book", "{\"seats\":2}");
    yields(
        "[['book', {'seats': 2}], ['film', {'seats': 3}]] x",
        &[one],
        "['film', {'seats': 3}]] x",
    );
    let both = [one, ("book", "{\"seats\":4}")];
    yields(
        "[['book', {'seats': 2}], ['film', {}], ['book', {'seats': 4}]]",
        &both,
        "['film', {}], ",
    );
}

#[test]
fn a_name_in_a_list_that_is_no_tool_is_reported() {
    let reader = CallExtractor::new(MendOptions::new()).with_tools(tools());
    let found = check(&reader, "[['book', {'seats': 2}], ['boook', {'seats': 3}]]").found;
    let unknown: Vec<_> = found.unknown().collect();
    assert_eq!(unknown, [("boook", Some("book"))]);
}

#[test]
fn the_arguments_are_next_to_the_name() {
    yields("{'name': 'book', 'seats': 2}", &[("book", "{\"seats\":2}")], "");
    yields(
        "[{\"name\": \"book\", \"guest_name\": \"Ada\", \"seats\": 2}, {\"name\": \"now\"}]",
        &[("book", "{\"guest_name\":\"Ada\",\"seats\":2}"), ("now", "{}")],
        "",
    );
    // What is no parameter does not begin them.
    is_text("{\"name\": \"book\", \"pages\": 200}");
    yields("{\"name\": \"book\", \"arguments\": {\"seats\": 2}}", &[("book", "{\"seats\":2}")], "");
    may_not_run("{\"name\": \"book\", \"seats\": 2, \"guest_na");
    yields("{\"function\": {\"name\": \"book\", \"seats\": 2}}", &[("book", "{\"seats\":2}")], "");
}

/// The keys of what is around a call may be those of parameters.
#[test]
fn no_argument_next_to_the_name_is_lost() {
    let both = [("mark", "{\"status\":\"open\",\"id\":\"7\",\"page\":2}")];
    yields("{'name': 'mark', 'status': 'open', 'id': '7', 'page': 2}", &both, "");
    yields("{'status': 'open', 'id': '7', 'name': 'mark', 'page': 2}", &both, "");
    yields("{'status': 'open', 'name': 'mark', 'id': '7', 'page': 2}", &both, "");
    yields("{'name': 'mark', 'status': 'open'}", &[("mark", "{\"status\":\"open\"}")], "");
    yields("{'name': 'mark', 'page': null}", &[("mark", "{\"page\":null}")], "");
    let page = [("mark", "{\"page\":2}")];
    yields("{'type': 'function', 'name': 'mark', 'page': 2, 'index': 0}", &page, "");
    yields(
        "{'id': 'call_1', 'function': {'name': 'mark', 'page': 2}, 'status': 'done'}",
        &page,
        "",
    );
    // Those of other tools are not.
    yields("{'name': 'book', 'status': 'open', 'seats': 2}", &[("book", "{\"seats\":2}")], "");
    // Next to arguments with a key of their own, an identifier is that of the call.
    yields("{'id': '7', 'status': null, 'name': 'mark', 'arguments': {'page': 2}}", &page, "");
    for text in [
        "{'name': 'book', 'arguments': {'seats': 2}, 'guest_name': 'Ada'}",
        "{'name': 'book', 'guest_name': 'Ada', 'arguments': {'seats': 2}}",
        "{'name': 'book', 'seats': 2, 'arguments': {'guest_name': 'Ada'}}",
        "<tool_call>{'guest_name': 'Ada', 'name': 'book', 'arguments': {'seats': 2}}</tool_call>",
        "{'function': {'name': 'book', 'seats': 2}, 'guest_name': 'Ada'}",
        "{'status': 'x', 'name': 'mark', 'arguments': {'page': 2}}",
        "{'name': 'mark', 'arguments': {'page': 2}, 'status': 'x'}",
    ] {
        may_not_run(text);
    }
}

#[test]
fn a_call_without_arguments_has_nothing_that_was_not_read() {
    for members in [r#""argum(nts": {"seats": 2}"#, r#""args_of": [1]"#, r#""note": 1, "seat": 2"#]
    {
        may_not_run(&format!("<tool_call>{{\"name\": \"book\", {members}}}</tool_call>"));
    }
    let bare = r#"<tool_call>{"name": "now", "id": "c1", "type": "function"}</tool_call>"#;
    yields(bare, &[("now", "{}")], "");
}

#[test]
fn a_name_on_a_line_of_its_own_is_before_the_arguments() {
    is_text("I will do that.book\n{\"seats\": 2}");
    yields(
        "I will do that.\nbook\n{\"seats\": 2}",
        &[("book", "{\"seats\":2}")],
        "I will do that.\n",
    );
    is_text("Here is a book\n{\"pages\": 2}");
    is_text("A notebook\n{\"seats\": 2}");
}

#[test]
fn calls_in_strings_lose_their_quotes() {
    let two = [("book", "{\"seats\":2}"), ("book", "{\"seats\":3}")];
    yields("[{'book(seats=2)'}, {'book(seats=3)'}]", &two, "");
    yields("[{'book(seats=2)}, {'book(seats=3)'}]", &two, "");
    yields("{'book(seats=2)', 'book(seats=3)'}\nx", &two, "\nx");
    yields("['book(seats=2), book(seats=3)']\nx", &two, "\nx");
    yields("[{'book(seats=2)}', {'book(seats=3)}']\nx", &two, "\nx");
    let one = [("book", "{\"guest_name\":\"Ada\"}")];
    yields("{'book(guest_name=\"Ada\")'}\nx", &one, "\nx");
    is_text("I sent {'book(guest_name=\"Ada\")'} or {}");
    is_text("a = 'book(guest_name=\"Ada\")'");
    yields("'book(guest_name=\\'Ada\\')'\nx", &one, "\nx");
    yields("'book(guest_name='Ada')'\nx", &one, "\nx");
    is_text("\"book(guest_name='Ada')\", she said");
}

#[test]
fn a_call_in_quotes_ends_with_its_parenthesis() {
    let one = [("book", "{\"seats\":2}")];
    let after = "\nis what I wrote.\n\nIt can't be \"undone\" (yet).";
    yields(&format!("'book(seats=2)'{after}"), &one, after);
    is_text("He wrote: `'book(seats=2)'` in it.");
    is_text("He wrote `'book(seats=2)'` in it.");
    is_text("So 'book(seats=2)' is what I wrote.");
    yields("'book(guest_name=\"a) b\")'\nx", &[("book", "{\"guest_name\":\"a)b\"}")], "\nx");
    is_text("'book(seats=2) and so on");
    may_not_run("['book(#seats=2)', 'book(seats=#3)']");
    for broken in ["[book(guest_name]", "book(guest_name ]", "[book(guest_name{'Ada')]"] {
        may_not_run(broken);
    }
    may_not_run("'book(seats=2");
}

#[test]
fn markdown_escapes_underscores() {
    let expected = [("book", "{\"seats\":2,\"guest_name\":\"a_b\"}")];
    yields("book(seats=2, guest\\_name='a\\_b')", &expected, "");
    let expected = [("book", "{\"guest_name\":\"a\",\"seats\":2}")];
    yields("[book(guest\\_name='a', seats=2)]", &expected, "");
    // Elsewhere, a backslash is one.
    yields("[book(guest_name='a\\_b')]", &[("book", "{\"guest_name\":\"a\\\\_b\"}")], "");
}

#[test]
fn comments_are_no_arguments() {
    let text = "book(  # a table\n    seats=2,  # for (two)\n    guest_name='#1'  # or \"x\"\n)";
    yields(text, &[("book", "{\"seats\":2,\"guest_name\":\"#1\"}")], "");
    yields(
        "book(guest_name=#fff, seats=2)",
        &[("book", "{\"guest_name\":\"#fff\",\"seats\":2}")],
        "",
    );
    may_not_run("book(seats=2  # and then");
}

#[test]
fn a_definition_or_a_mention_is_no_call() {
    is_text("def book(seats=2, guest_name='x'):\n    return 1");
    is_text("async def book(seats):\n    pass");
    is_text("fn book(seats) {}");
    is_text("function book(seats = 2) { }");
    is_text("Here:\n  export default function book(seats = 2) {\n");
    is_text("sub book(seats=2)");
    is_text("public void book(\"x\")");
    is_text("```js\nconst f = function book(seats = 2) {}\n```");
    is_text("class book(seats=2):");
    is_text("override book(seats = 2) {\n  return seats;\n}");
    is_text("book(seats = 2) {}");
    is_text("I use the function book(seats=2) now.");
    is_text("book(seats=2) {\"ok\": true}");
    is_text("You could use `book()` for it, or book() twice.");
    yields("book()", &[("book", "{}")], "");
    is_text("It is: `now()` o'clock");
    is_text("It is: `now()`");
    for text in [
        "It is `now()` o'clock",
        "Never use `book(seats=2)`.",
        "Never use `[book(seats=2)]`, please.",
        "She said (book(seats=2)) and left.",
        "| `book(seats=2)` | books |",
        "She wrote:\n\n> book(seats=2)\n\nWhy?",
        "She wrote:\n\n> [book(seats=2)]\n\nWhy?",
        "She wrote:\n\n> {\"name\": \"book\", \"arguments\": {\"seats\": 2}}\n\nWhy?",
    ] {
        is_text(text);
    }
    for text in [
        r#"{"name": "book", "arguments": {"seats": 2}, "approved": false}"#,
        r#"{"tool": "book", "seats": 2, "result": "ok"}"#,
    ] {
        may_not_run(text);
    }
    is_text("indef book(seats=2)");
}

/// A call is made on lines of its own. An item may begin there, and the result may be given a name.
#[test]
fn a_call_inside_of_a_sentence_is_a_mention() {
    for text in [
        "Please do not run book(seats=2)!",
        "I ran now() before, and book(seats=2) after it.",
        "Then, book(seats=2)",
        "预订 book(seats=2)",
        "预订：book(seats=2)",
        "# book(seats=2)",
        "x = 1  // book(seats=2)\n/* book(seats=3) */ <!-- book(seats=4) -->",
        "-book(seats=1)\n+book(seats=2)\n",
        "✅ book(seats=2)",
        "Sure! book(seats=2)",
        "The call: book(seats=2)",
        "return await book(seats=2)",
        "book(seats=2) and now()",
        "I call [book(seats=2)]",
        "curl -X POST http://host/book\n{\"seats\": 2}",
        "The tool is book\n{\"seats\": 2}",
        "Let me see.book\n{\"seats\": 2}",
        "x == book(seats=2)",
    ] {
        is_text(text);
    }
    let call = [("book", "{\"seats\":2}")];
    yields("- book(seats=2)", &call, "- ");
    yields("booked = book(seats=2)", &call, "booked = ");
    let two = [call[0], ("now", "{}")];
    yields("1. book(seats=2)\n2. now()", &two, "1. \n2. ");
    yields("book(seats=2); now()", &two, "");
    yields("I call\n[book(seats=2)]", &call, "I call\n");
}

#[test]
fn values_that_no_function_takes_do_not_run() {
    // A comma in a number would set the next argument.
    may_not_run("[book(seats=2,000)]");
    may_not_run("[book(seats=2, 'Ada')]");
    may_not_run("[book(2, 'Ada', 'extra')]");
    may_not_run("now(3)");
    yields("[book(2, guest_name='Ada')]", &[("book", "{\"seats\":2,\"guest_name\":\"Ada\"}")], "");
}

#[test]
fn data_with_the_name_of_a_tool_is_text() {
    is_text("{\"name\": \"book\", \"status\": \"done\"}");
    is_text("{\"name\": \"book\", \"content\": {\"ok\": true}}");
    is_text(
        "{\"columns\": [{\"name\": \"book\", \"type\": \"int\"}, {\"name\": \"x\", \"type\": \"int\"}]}",
    );
    is_text("{\"book\": {\"description\": \"books seats\"}}");
    is_text("{\"book\": \"Moby Dick\"}");
    // The declaration of a tool is not a call of it.
    is_text("{\"name\": \"book\", \"parameters\": {\"type\": \"object\", \"properties\": {}}}");
    is_text(
        "{\"type\": \"function\", \"function\": {\"name\": \"book\", \"parameters\": {\"properties\": {}}}}",
    );
    let call = [("book", "{\"seats\":2}")];
    yields("{\"name\": \"book\", \"parameters\": {\"seats\": 2}}", &call, "");
    yields("{\"book\": {\"seats\": 2}}", &call, "");
    yields("{\"type\": \"function\", \"name\": \"now\"}", &[("now", "{}")], "");
    yields("{\"name\": \"now\", \"parameters\": {}}", &[("now", "{}")], "");
    // One of its own parameters is called like a word of schemas.
    yields(
        "{\"name\": \"mark\", \"parameters\": {\"type\": \"x\"}}",
        &[("mark", "{\"type\":\"x\"}")],
        "",
    );
    may_not_run("{\"name\": \"book\", \"parameters\": {\"se");
    may_not_run("{\"book\": {\"sea");
}

#[test]
fn a_value_that_is_not_known_does_not_run() {
    may_not_run("book(seats=count)");
    may_not_run("book(guest_name=guest_name)");
    may_not_run("book(seats, guest_name)");
    may_not_run("book(seats=...)");
    may_not_run("book(seats=data['seats'])");
    may_not_run("book(guest_name=<your name>)");
    yields(
        "book(guest_name=7-8, seats=-2)",
        &[("book", "{\"guest_name\":\"7-8\",\"seats\":-2}")],
        "",
    );
    yields("book(guest_name=Ada)", &[("book", "{\"guest_name\":\"Ada\"}")], "");
}

#[test]
fn the_namespace_may_be_part_of_the_name() {
    let expected = [("functions.count", "{\"of\":[1]}")];
    yields("```python\nfunctions.count(of=[1])\n```", &expected, "```python\n\n```");
    yields("functions.count({\"of\": [1]})", &expected, "");
    let expected = [("book", "{\"seats\":2}")];
    yields("functions.book(seats=2)", &expected, "");
}

#[test]
fn a_call_that_ends_after_its_name_is_reported() {
    let text = "<|tool_calls_section_begin|><|tool_call_begin|>functions.book:0<|tool_call_end|><|tool_calls_section_end|>";
    may_not_run(text);
    let text = "<|tool_call_begin|>functions.book:0<|tool_call_argument_begin|><|tool_call_end|>";
    yields(text, &[("book", "{}")], "");
}

/// In a list, the quote before the bracket of another call is inside a string.
#[test]
fn a_quote_before_the_bracket_of_an_inner_call_is_part_of_its_string() {
    for (text, guest) in [
        ("[book(guest_name='say(x='Ada'))')]", "say(x='Ada'))"),
        ("[book(guest_name='run \"say('Ada')\" now')]", "run \\\"say('Ada')\\\" now"),
        ("[book(guest_name='Ada'), book(guest_name='Ada' )]", "Ada"),
    ] {
        let (calls, left) = calls(text);
        let want = format!("{{\"guest_name\":\"{}\"}}", guest.replace(' ', ""));
        assert!(calls.iter().all(|(_, json, _)| *json == want), "{text}: {calls:?}");
        assert_eq!(left, "", "{text}");
    }
}

/// A brace that closes nothing does not end the arguments, of which more follows.
#[test]
fn a_brace_too_many_refuses_a_call_in_python() {
    for text in ["[book(seats=2}, guest_name='a')]", "{'book(seats=2)} x'}"] {
        let (calls, _) = calls(text);
        assert!(calls.iter().all(|(_, json, _)| json.ends_with('}')), "{calls:?}");
    }
    let (calls, _) = calls("[book(seats=2}, guest_name='a')]");
    assert_eq!(calls[0].2, CallOutcome::Refused);
}

/// Agents that answer with one object write what they think next to the call.
#[test]
fn an_object_around_a_call_may_say_what_the_model_thinks() {
    for text in [
        r#"{"thought": "Two.", "action": {"name": "book", "arguments": {"seats": 2}}}"#,
        r#"{"thoughts": {"text": "Two.", "plan": ["book"]}, "command": {"name": "book", "args": {"seats": 2}}}"#,
        r#"{"plan": ["book"], "tool_calls": [{"name": "book", "arguments": {"seats": 2}}]}"#,
        r#"{"explanation": "Two.", "actions": [{"tool": "book", "input": {"seats": 2}}]}"#,
        r#"{"action": {"book": {"seats": 2}}}"#,
    ] {
        yields(text, &[("book", r#"{"seats":2}"#)], "");
    }
    for text in [
        r#"{"thought": "Two.", "action": {"name": "walk", "arguments": {"seats": 2}}}"#,
        r#"{"plan": "basic", "action": {"name": "book"}}"#,
        r#"{"plan": "basic", "seats": 2}"#,
        r#"{"command": "book", "plan": {"seats": 2}}"#,
        r#"{"actions": ["book", "now"]}"#,
    ] {
        is_text(text);
    }
}
