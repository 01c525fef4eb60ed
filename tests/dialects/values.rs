//! The values of arguments: what they mean in Python, in other forms than the first one of the template, with elements
//! in them, and with every ordinary defect.

use serde_json::{Value, json};
use wiremend_core::MendOptions;
use wiremend_extract::{CallExtractor, CallOutcome, Dialect, FoundCalls, Tools};
use wiremend_schema::Registry;

use super::{
    DEFECTS, check,
    templates::{is_call, knowing, read},
    unmarked::tools,
    with_value,
};

/// Reads many short texts with one reader, whole and in bytes.
pub(super) struct Quick(CallExtractor);

impl Quick {
    pub(super) fn new() -> Self {
        Self(CallExtractor::new(MendOptions::new()).with_tools(tools()))
    }

    pub(super) fn read(&mut self, text: &str) -> (Vec<(String, CallOutcome)>, String) {
        let [whole, bytes] = [text.len(), 1].map(|size| {
            let mut found = FoundCalls::default();
            text.as_bytes().chunks(size).for_each(|chunk| self.0.push(chunk, &mut found));
            self.0.finish_at_eos(&mut found);
            self.0.reset();
            let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let calls = found.calls().iter().map(|call| (show(call.arguments()), call.outcome()));
            (calls.collect::<Vec<_>>(), show(found.text()))
        });
        assert_eq!(whole, bytes, "{text}");
        whole
    }

    #[track_caller]
    fn refuses(&mut self, text: &str) {
        let (calls, _) = self.read(text);
        assert!(!calls.is_empty(), "{text}: lost");
        assert!(calls.iter().all(|call| !call.1.can_run()), "{text}: {calls:?}");
    }

    #[track_caller]
    fn runs(&mut self, text: &str, arguments: &str) {
        let (calls, rest) = self.read(text);
        let [(json, outcome)] = &calls[..] else { panic!("{text}: {calls:?}") };
        assert!(outcome.can_run() && rest.is_empty(), "{text}: {calls:?} {rest}");
        assert_eq!(json.replace([' ', '\n'], ""), arguments, "{text}");
    }
}

#[test]
fn a_calculation_does_not_run() {
    let mut reader = Quick::new();
    for value in "10-5; 0-2; 007-2; 0.5*2; .5*2; 1.5 / 2; 1/3; 7 // 2; 2**3; 7 % 5; 2 << 3; 8>>1; 6 & 3; 6|1; 6^1; ~6; 2 > 1; 2<3; 2 == 2; 2 != 3; 2 >= 1; 2 if late else 3; 2 or 3; 1 and 2; not 0; 2 in free; 2 is 2; (1+2)*3; (2)+1; [2][0]; [1+2]; 0x10+1; 1e2-1; 1_000*2; -2-1; -seats_left; --2; - 2; True and False; -True; None or 2; 2 people; 50%; 2j; 0b11; 2 3; [2] + [3]; [2] * 2; {1: 2}[1]; *rest; **rest; (yield); lambda: 2; f'{n}'; 2;3; ".split("; ") {
        reader.refuses(&format!("book(seats={value})"));
        reader.refuses(&format!("book(seats={value}, guest_name='Ada')"));
    }
    // The length of a number makes no difference.
    let long = format!("1{}", "0".repeat(130));
    reader.refuses(&format!("book(seats={long}+1)"));
    reader.runs(&format!("book(seats={long})"), &format!("{{\"seats\":{long}}}"));
    for items in ["[1+2]", "[1, 2*3]", "[1] * 3", "[1 2]", "[0.5*2]", "(2 > 1, 2)"] {
        reader.refuses(&format!("functions.count(of={items})"));
    }
    for text in [
        "'Ada' + last",
        "'a'.upper()",
        "'%s' % n",
        "'a' * 3",
        "f'{first} B'",
        "'a' 5",
        "0.5*2",
        "8 > 7",
    ] {
        reader.refuses(&format!("book(guest_name={text})"));
    }
}

#[test]
fn a_placeholder_or_a_second_value_does_not_run() {
    let mut reader = Quick::new();
    for value in ["{{seats}}", "{seats}", "{1, 2}", "<seats>", "${seats}", "[{{seats}}]"] {
        reader.refuses(&format!("book(seats={value})"));
        reader.refuses(&format!("book(guest_name={value})"));
    }
    reader.refuses("book(seats=2, seats=3)");
    reader.refuses("book(seats=2, guest_name='Ada', 'seats'=3)");
    reader.refuses("book(2, seats=3)");
    reader.runs("book(seats={})", "{\"seats\":{}}");
}

#[test]
fn a_value_in_another_spelling_is_no_calculation() {
    let mut reader = Quick::new();
    for (value, json) in [
        ("007", "7"),
        ("-007", "-7"),
        ("+2", "2"),
        ("1_000", "1000"),
        ("0x1F", "31"),
        ("1E+2", "1E+2"),
        ("2 # two\n", "2"),
        ("(2)", "2"),
        ("(\n2\n)", "2"),
        ("None", "null"),
        ("'2'", "\"2\""),
    ] {
        let expected = format!("{{\"seats\":{json}}}");
        reader.runs(&format!("book(seats={value})"), &expected);
    }
    for (value, json) in [
        ("'A' 'da'", "Ada"),
        ("('A'\n'da')", "Ada"),
        ("'A' + \"da\"", "Ada"),
        ("10:05", "10:05"),
        ("1/2", "1/2"),
        ("2 people", "2people"),
        ("f'Ada'", "Ada"),
    ] {
        let expected = format!("{{\"guest_name\":\"{json}\"}}");
        reader.runs(&format!("book(guest_name={value})"), &expected);
    }
    reader.runs("functions.count(of=(1, -2, +3.5, [4]))", "{\"of\":[1,-2,3.5,[4]]}");
}

#[test]
fn a_long_placeholder_is_one_at_every_cut() {
    let mut reader = Quick::new();
    for length in [100, 127, 128, 129, 300] {
        reader.refuses(&format!("book(guest_name=<{}>)", "a".repeat(length)));
        let name = "a".repeat(length);
        let expected = format!("{{\"guest_name\":\"{name}>b\"}}");
        reader.runs(&format!("book(guest_name={name}>b)"), &expected);
    }
}

#[test]
fn a_comma_may_be_missing_in_a_dictionary() {
    let mut reader = Quick::new();
    reader.runs(
        "book(seats={'first': 'Ada' 'last': 'Lovelace'})",
        r#"{"seats":{"first":"Ada","last":"Lovelace"}}"#,
    );
    reader.runs("book(seats={'a': 'x' 'b': [1]})", r#"{"seats":{"a":"x","b":[1]}}"#);
    // Two pieces of one string.
    reader.runs("book(seats={'a': 'x' 'y', 'b': 1})", r#"{"seats":{"a":"xy","b":1}}"#);
    reader.runs("book(seats={'a': 'x' 'y: z'})", r#"{"seats":{"a":"xy:z"}}"#);
    // A key that is too long to be recognized is a piece of the string before it, until its colon comes.
    for length in [100, 126, 127, 128, 129, 300, 5000] {
        let key = "k".repeat(length);
        let call = format!("book(seats={{'a': 'x' '{key}': 1, 'b': 2}})");
        if length < 127 {
            reader.runs(&call, &format!("{{\"seats\":{{\"a\":\"x\",\"{key}\":1,\"b\":2}}}}"));
        } else if length > 128 {
            reader.refuses(&call);
        }
        let call = format!("book(seats={{'a': 'x' '{key}', '{key}': {{'b': 2, 'c': 'd'}}}})");
        let expected =
            format!("{{\"seats\":{{\"a\":\"x{key}\",\"{key}\":{{\"b\":2,\"c\":\"d\"}}}}}}");
        reader.runs(&call, &expected);
    }
}

#[test]
fn an_argument_that_is_given_twice_does_not_run_however_many_there_are() {
    let mut reader = Quick::new();
    for count in [2, 255, 256, 257, 1000, 5000] {
        let names: Vec<String> = (0..count).map(|number| format!("n{number}=1")).collect();
        reader.refuses(&format!("book({}, n{}=2)", names.join(", "), count - 1));
    }
}

/// The template of LFM 2 writes strings as they are, so programs in them have their quotes.
#[test]
fn quotes_of_a_program_in_a_string_do_not_end_it() {
    let mut reader = Quick::new();
    for text in [
        "print('hi')\\nx = 1",
        "f('x', mode='w')",
        "print('a')\\nprint('b')",
        "print('hi', end='')\\nx = 1",
        "he said ('yes') twice",
        "os.path.join('a', 'b') + 'c'",
        "it's",
        "print('')",
        "f(g('x', y='z'), h='i')",
    ] {
        let json = text.replace([' ', '\n'], "");
        for (call, want) in [
            (
                format!("[book(guest_name='{text}', seats=2)]"),
                format!("{{\"guest_name\":\"{json}\",\"seats\":2}}"),
            ),
            (
                format!("[book(seats=2, guest_name='{text}')]"),
                format!("{{\"seats\":2,\"guest_name\":\"{json}\"}}"),
            ),
            (
                format!("book(guest_name='{text}', seats=2)"),
                format!("{{\"guest_name\":\"{json}\",\"seats\":2}}"),
            ),
        ] {
            reader.runs(&call, &want);
        }
    }
    // A parenthesis at the end of a text opens nothing.
    reader.runs("[book(guest_name='it is :(', seats=2)]", r#"{"guest_name":"itis:(","seats":2}"#);
    reader.runs("[book(guest_name='a' 'b', seats=2)]", r#"{"guest_name":"ab","seats":2}"#);
    // One that is not closed again leaves it open where the text ends.
    for text in ["[book(guest_name='f('x', seats=2)]", "book(guest_name='f('x')"] {
        reader.refuses(text);
    }
}

// Arguments in another form than the first one of the template.

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
        ("book(**seats**)", CallOutcome::Refused),
        ("[book(**dict(seats=2))]", CallOutcome::Refused),
    ] {
        assert_eq!(read(&knowing(None), text).0[0].2, outcome, "{text}");
    }
    assert_eq!(read(&knowing(None), "2 ** {3}"), (Vec::new(), "2 ** {3}".to_owned()));
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

// Elements in values, in the dialects whose parameters are elements themselves.

const MARK: &str = "]<]minimax[>[";

fn reader(with_tools: bool) -> CallExtractor {
    let dialect = Dialect::by_name("minimax_m3").unwrap().clone();
    let reader = CallExtractor::new(MendOptions::new()).with_dialect(dialect);
    let declared = json!([{"name": "note", "parameters": {"type": "object", "properties": {
        "text": {"type": "string"},
        "place": {"type": "string"},
        "meta": {"type": "object", "properties": {"code": {"type": "integer"}}},
        "list": {"type": "array", "items": {"type": "string"}},
    }}}]);
    let tools = Registry::from_tools(&declared).unwrap().tools();
    if with_tools { reader.with_tools(tools) } else { reader }
}

/// The arguments and the outcome of a call with these parameters, in which every tag has its mark.
fn read_elements(with_tools: bool, parameters: &str) -> (String, CallOutcome) {
    let inner = parameters.replace('<', &format!("{MARK}<"));
    let text = format!(
        "{MARK}<tool_call>\n{MARK}<invoke name=\"note\">{inner}{MARK}</invoke>\n{MARK}</tool_call>"
    );
    let found = check(&reader(with_tools), &text).found;
    assert!(found.text().is_empty(), "{text}: {found:?}");
    let [call] = found.calls() else { panic!("{text}: {found:?}") };
    (String::from_utf8_lossy(call.arguments()).replace(MARK, ""), call.outcome())
}

#[test]
fn text_next_to_elements_refuses_the_call() {
    for parameters in [
        "<meta>about<code>7</code></meta>",
        "<meta><code>7</code>about</meta>",
        "<meta>\n about <code>7</code>\n</meta>",
        "<meta>7<code>7</code></meta>",
        "<meta><code>7<part>1</part></code></meta>",
        "<meta>about<code>7</meta>",
        "<list>a<item>b</item></list>",
        "<other>about<code>7</code></other>",
    ] {
        for with_tools in [false, true] {
            let (arguments, outcome) = read_elements(with_tools, parameters);
            assert_eq!(outcome, CallOutcome::Refused, "{parameters}: {arguments}");
        }
    }
    // No tag is lost, and what comes afterwards is still read.
    let (arguments, _) = read_elements(false, "<meta>about<code>7</code></meta><text>a</text>");
    assert_eq!(arguments, r#"{"meta": "about<code>7</code>", "text": "a"}"#);
}

#[test]
fn a_string_of_the_schema_may_have_tags_in_it() {
    for (value, text) in [
        ("see <b>this</b>", "see <b>this</b>"),
        ("<b>this</b> and <text>that</text>", "<b>this</b> and <text>that</text>"),
        ("a <b>", "a <b>"),
    ] {
        let (arguments, outcome) = read_elements(true, &format!("<text>{value}</text>"));
        assert_eq!(arguments, json!({ "text": text }).to_string().replace("\":\"", "\": \""));
        assert_eq!(outcome, CallOutcome::Whole, "{value}");
    }
}

#[test]
fn a_parameter_ends_a_string_whose_closing_tag_is_missing() {
    let (arguments, outcome) = read_elements(true, "<text>Miami<place>US</place>");
    assert_eq!(arguments, r#"{"text": "Miami", "place": "US"}"#);
    assert_eq!(outcome, CallOutcome::Repaired);
    // Without a schema, nobody knows whether it is an element of the value.
    let (_, outcome) = read_elements(false, "<text>Miami<place>US</place>");
    assert_eq!(outcome, CallOutcome::Refused);
}

#[test]
fn a_missing_closing_tag_of_an_element_is_a_repair() {
    for (parameters, expected) in [
        ("<meta><code>7</meta>", r#"{"meta": {"code": 7}}"#),
        ("<meta><code>7</code></other></meta>", r#"{"meta": {"code": 7}}"#),
    ] {
        let (arguments, outcome) = read_elements(false, parameters);
        assert_eq!(arguments, expected, "{parameters}");
        assert_eq!(outcome, CallOutcome::Repaired, "{parameters}");
    }
    // The schema says that the element is in the value, and not next to it.
    for (with_tools, expected) in [(true, CallOutcome::Repaired), (false, CallOutcome::Refused)] {
        let (arguments, outcome) = read_elements(with_tools, "<meta><code>7</code>");
        assert_eq!((&*arguments, outcome), (r#"{"meta": {"code": 7}}"#, expected));
    }
    // What is in it may as well come after it.
    let (_, outcome) = read_elements(false, "<meta><code><item>7</item></meta>");
    assert_eq!(outcome, CallOutcome::Refused);
    let (arguments, outcome) = read_elements(true, "<meta>\n<code>7</code>\n</meta>");
    assert_eq!((&*arguments, outcome), (r#"{"meta": {"code": 7}}"#, CallOutcome::Whole));
}

#[test]
fn elements_below_the_deepest_level_refuse_the_call() {
    for (depth, outcome) in [(31, CallOutcome::Whole), (40, CallOutcome::Refused)] {
        let nested = format!("{}7{}", "<a>".repeat(depth), "</a>".repeat(depth));
        let (arguments, found) = read_elements(false, &format!("<meta>{nested}</meta>"));
        assert_eq!(found, outcome, "{arguments}");
    }
}

/// The arguments and the outcome of a call whose tags have the names of the tool and its parameters.
fn read_tags(parameters: &str) -> (String, CallOutcome) {
    let declared = json!([{"name": "plan", "parameters": {"type": "object", "properties": {
        "title": {"type": "string"},
        "when": {"type": "object", "properties": {
            "date": {"type": "string"}, "hour": {"type": "integer"}, "title": {"type": "string"},
        }},
        "people": {"type": "array", "items": {"type": "object", "properties": {
            "name": {"type": "string"},
        }}},
        "args": {"type": "object", "properties": {"file": {"type": "array", "items": {
            "type": "object", "properties": {"path": {"type": "string"}},
        }}}},
        "tags": {"type": "array", "items": {"type": "string"}},
    }}}]);
    let tools = Registry::from_tools(&declared).unwrap().tools();
    let dialect = Dialect::by_name("xml_tool_tags").unwrap().clone();
    let detected = CallExtractor::new(MendOptions::new()).with_tools(tools);
    let named = detected.clone().with_dialect(dialect);
    let text = format!("<plan>\n{parameters}\n</plan>");
    let [one, other] = [named, detected].map(|reader| {
        let found = check(&reader, &text).found;
        let [call] = found.calls() else { panic!("{text}: {found:?}") };
        (String::from_utf8_lossy(call.arguments()).into_owned(), call.outcome())
    });
    assert_eq!(one, other, "{text}");
    one
}

/// Where the schema has objects and lists, models write elements in elements.
#[test]
fn tags_with_the_names_of_parameters_may_have_elements_in_them() {
    for (parameters, expected) in [
        (
            "<when>\n<date>2025-01-01</date>\n<hour>9</hour>\n</when>",
            r#"{"when": {"date": "2025-01-01", "hour": 9}}"#,
        ),
        (
            "<people>\n<person><name>Ada</name></person>\n<person><name>Al</name></person>\n</people>",
            r#"{"people": [{"name": "Ada"}, {"name": "Al"}]}"#,
        ),
        (
            "<args>\n<file>\n<path>a.rs</path>\n</file>\n</args>",
            r#"{"args": {"file": [{"path": "a.rs"}]}}"#,
        ),
        (
            "<args><file><path>a</path></file><file><path>b</path></file></args>",
            r#"{"args": {"file": [{"path": "a"}, {"path": "b"}]}}"#,
        ),
        ("<tags><tag>a</tag><tag>b</tag></tags>", r#"{"tags": ["a", "b"]}"#),
        (
            "<when><title>Sync</title></when><title>Week</title>",
            r#"{"when": {"title": "Sync"}, "title": "Week"}"#,
        ),
        ("<when>{\"date\": \"May\"}</when>", r#"{"when": {"date": "May"}}"#),
        ("<title>in <date>May</date></title>", r#"{"title": "in <date>May</date>"}"#),
    ] {
        assert_eq!(
            read_tags(parameters),
            (expected.to_owned(), CallOutcome::Whole),
            "{parameters}"
        );
    }
    let (arguments, outcome) = read_tags("<when><date>May</date>");
    assert_eq!(
        (arguments.as_str(), outcome),
        (r#"{"when": {"date": "May"}}"#, CallOutcome::Repaired)
    );
    for parameters in [
        "<when>May <date>1</date></when>",
        "<when><date>1</date> May</when>",
        "<when><date day=\"1\">May</date></when>",
        "<when>\n<title>Sync</title>",
    ] {
        let (arguments, outcome) = read_tags(parameters);
        assert_eq!(outcome, CallOutcome::Refused, "{parameters}: {arguments}");
    }
}

// Every ordinary defect in an argument whose type the schema states, in every dialect.

/// A tool of which one argument is an object.
fn declared_tools() -> Tools {
    let properties = json!({"seats": {"type": "object"}, "name": {"type": "string"}});
    let declared =
        json!([{"name": "book", "parameters": {"type": "object", "properties": properties}}]);
    Registry::from_tools(&declared).unwrap().tools()
}

/// What was meant by each of the defects.
fn meant(what: &str) -> Value {
    match what {
        "bare inner quotes" => json!({"at": 1, "to": "say \"b\" now"}),
        "a raw line end" => json!({"at": 1, "to": "b\nc"}),
        "a literal of Python" => json!({"at": 1, "to": true}),
        "a missing bracket" => json!({"at": 1, "to": ["b"]}),
        "a number as a string" => json!({"at": "1", "to": "b"}),
        _ => json!({"at": 1, "to": "b"}),
    }
}

fn read_by(reader: &CallExtractor, text: &str, size: usize) -> FoundCalls {
    let (mut reader, mut found) = (reader.clone(), FoundCalls::default());
    text.as_bytes().chunks(size).for_each(|chunk| reader.push(chunk, &mut found));
    reader.finish_at_eos(&mut found);
    found
}

/// A call that can run has what was meant, and no other value. To read an object that is in a string is the
/// second step, and the schema's.
#[test]
fn a_call_that_can_run_has_the_value_that_was_meant() {
    let (mut right, mut reported, mut wrong) = (0, 0, Vec::new());
    let tools = std::sync::Arc::new(declared_tools());
    for row in Dialect::all() {
        let reader = CallExtractor::new(MendOptions::new()).with_dialect(row.clone());
        let reader = reader.with_tools(std::sync::Arc::clone(&tools));
        for (what, value) in DEFECTS {
            let text = with_value(row, value).unwrap();
            let found = read_by(&reader, &text, text.len());
            assert_eq!(read_by(&reader, &text, 1), found, "{} {what}", row.name());
            let call = found.calls().first().unwrap_or_else(|| panic!("{} {what}", row.name()));
            let seats = serde_json::from_slice::<Value>(call.arguments()).unwrap()["seats"].clone();
            let inside = seats.as_str().and_then(|text| serde_json::from_str(text).ok());
            let in_a_string = what == "an object in a string" && inside == Some(meant(what));
            if !call.outcome().can_run() {
                assert_ne!(call.outcome(), CallOutcome::Whole);
                reported += 1;
            } else if seats == meant(what) || in_a_string {
                right += 1;
            } else {
                wrong.push(format!("{} {what}: {seats}", row.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{right} right, {reported} reported\n{}", wrong.join("\n"));
    assert!(reported < 20, "{right} right, {reported} reported");
}
