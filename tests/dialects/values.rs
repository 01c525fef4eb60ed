//! What the values of arguments in Python mean, and which of them are not known.

use wiremend_core::MendOptions;
use wiremend_extract::{CallExtractor, CallOutcome, FoundCalls};

use super::unmarked::tools;

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
