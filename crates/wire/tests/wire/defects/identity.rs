//! Entries 41 to 50: which call a piece belongs to.

use super::{end, tools};
use crate::support::{call, calls, decode, lines};
use wiremend_wire::Transcript;

/// A turn with those entries, one per chunk.
fn turn(entries: &[&str]) -> Transcript {
    let chunks: String = entries.iter().map(|entry| tools(entry)).collect();
    decode(&(chunks + &end("tool_calls")))
}

fn two(first: &str, second: &str) -> [(String, String, &'static str); 2] {
    [call("f", first, "unchanged"), call("g", second, "unchanged")]
}

#[test]
fn d41_the_index_may_be_missing() {
    let seen = turn(&[
        r#"{"id":"a","function":{"name":"f","arguments":"{\"n\""}}"#,
        r#"{"function":{"arguments":":1}"}}"#,
        r#"{"id":"b","function":{"name":"g","arguments":"{}"}}"#,
    ]);
    assert_eq!(calls(&seen), two("{\"n\":1}", "{}"));
}

#[test]
fn d42_the_index_may_be_null() {
    let seen = turn(&[
        r#"{"index":null,"id":"a","function":{"name":"f","arguments":"{\"n\""}}"#,
        r#"{"index":null,"function":{"arguments":":1}"}}"#,
        r#"{"index":null,"id":"b","function":{"name":"g","arguments":"{}"}}"#,
    ]);
    assert_eq!(calls(&seen), two("{\"n\":1}", "{}"));
}

#[test]
fn d43_the_index_may_be_0_for_every_call() {
    let seen = turn(&[
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\":1}"}}"#,
        r#"{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}"#,
    ]);
    assert_eq!(calls(&seen), two("{\"n\":1}", "{}"));
    let body = lines(&[
        r#"{"message":{"content":"","tool_calls":[{"function":{"index":0,"name":"f","arguments":{"n":1}}},{"function":{"index":0,"name":"g","arguments":{}}}]},"done":true}"#,
    ]);
    assert_eq!(calls(&decode(&body)), two("{\"n\":1}", "{}"));
}

#[test]
fn broken_arguments_end_where_mending_ends_them() {
    for (first, mended) in [
        (r#"{'n': '5\"'}"#, r#"{"n": "5\""}"#),
        (r#"{\"n\": \"a 5\" disk\"}"#, r#"{"n": "a 5\" disk"}"#),
        (r#"It is: \"{\"n\": 1,}"#, r#"{"n": 1}"#),
    ] {
        let seen = turn(&[
            &format!(r#"{{"index":0,"function":{{"name":"f","arguments":"{first}"}}}}"#),
            r#"{"index":0,"function":{"name":"f","arguments":"{\"n\":2}"}}"#,
        ]);
        let second = call("f", "{\"n\":2}", "unchanged");
        assert_eq!(calls(&seen), [call("f", mended, "repaired"), second], "{first}");
    }
}

#[test]
fn d44_the_index_is_a_name_and_not_a_position() {
    for (first, second) in [(1, 2), (7, 3), (-1, 0), (0, 40_000)] {
        let seen = turn(&[
            &format!(
                r#"{{"index":{first},"id":"a","function":{{"name":"f","arguments":"{{\"n\""}}}}"#
            ),
            &format!(r#"{{"index":{first},"function":{{"arguments":":1}}"}}}}"#),
            &format!(
                r#"{{"index":{second},"id":"b","function":{{"name":"g","arguments":"{{}}"}}}}"#
            ),
        ]);
        assert_eq!(calls(&seen), two("{\"n\":1}", "{}"), "{first}, {second}");
    }
}

#[test]
fn d45_one_index_twice_in_one_chunk_is_two_calls() {
    let seen = turn(&[
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\":1}"}},{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}"#,
    ]);
    assert_eq!(calls(&seen), two("{\"n\":1}", "{}"));
}

#[test]
fn d46_fragments_of_parallel_calls_go_to_their_calls() {
    let seen = turn(&[
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\""}},{"index":1,"id":"b","function":{"name":"g","arguments":"{\"m\""}}"#,
        r#"{"index":1,"function":{"arguments":":"}},{"index":0,"function":{"arguments":":"}}"#,
        r#"{"index":0,"function":{"arguments":"1}"}}"#,
        r#"{"index":1,"function":{"arguments":"2}"}}"#,
    ]);
    assert_eq!(calls(&seen), two("{\"n\":1}", "{\"m\":2}"));
}

#[test]
fn d47_the_id_may_be_missing_or_empty_later() {
    for id in ["", r#""id":"","#, r#""id":null,"#] {
        let seen = turn(&[
            &format!(r#"{{"index":0,{id}"function":{{"name":"f","arguments":"{{\"n\""}}}}"#),
            &format!(r#"{{"index":0,{id}"function":{{"arguments":":1}}"}}}}"#),
            &format!(r#"{{"index":1,{id}"function":{{"name":"g","arguments":"{{}}"}}}}"#),
        ]);
        assert_eq!(calls(&seen), two("{\"n\":1}", "{}"), "{id}");
        assert_eq!(seen.calls()[0].id(), None);
    }
    let seen = turn(&[
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\""}}"#,
        r#"{"index":0,"id":"","function":{"arguments":":1}"}}"#,
    ]);
    assert_eq!((seen.calls().len(), seen.calls()[0].id()), (1, Some("a")));
}

#[test]
fn d48_id_and_name_may_come_in_different_deltas() {
    for (first, second) in [
        (r#""id":"a""#, r#""function":{"name":"f"}"#),
        (r#""function":{"name":"f"}"#, r#""id":"a""#),
    ] {
        let seen = turn(&[
            &format!("{{\"index\":0,{first}}}"),
            &format!("{{\"index\":0,{second}}}"),
            r#"{"index":0,"function":{"arguments":"{}"}}"#,
        ]);
        assert_eq!(calls(&seen), [call("f", "{}", "unchanged")], "{first}");
        assert_eq!(seen.calls()[0].id(), Some("a"), "{first}");
    }
}

#[test]
fn d49_an_id_in_every_delta_is_neither_a_new_call_nor_a_longer_id() {
    for later in ["a", "z"] {
        let seen = turn(&[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\""}}"#,
            &format!(r#"{{"index":0,"id":"{later}","function":{{"arguments":":"}}}}"#),
            &format!(r#"{{"index":0,"id":"{later}","function":{{"arguments":"1}}"}}}}"#),
        ]);
        assert_eq!(calls(&seen), [call("f", "{\"n\":1}", "unchanged")], "{later}");
        assert_eq!(seen.calls()[0].id(), Some("a"), "{later}");
    }
}

#[test]
fn d50_a_name_may_be_repeated_split_or_null() {
    let repeated = turn(&[
        r#"{"index":0,"id":"a","function":{"name":"read_file","arguments":"{\"n\""}}"#,
        r#"{"index":0,"id":"a","function":{"name":"read_file","arguments":":1}"}}"#,
        r#"{"index":0,"function":{"name":null,"arguments":null}}"#,
    ]);
    assert_eq!(calls(&repeated), [call("read_file", "{\"n\":1}", "unchanged")]);
    let split = turn(&[
        r#"{"index":0,"id":"a","function":{"name":"read_"}}"#,
        r#"{"index":0,"function":{"name":"file"}}"#,
        r#"{"index":0,"function":{"arguments":"{}"}}"#,
    ]);
    assert_eq!(calls(&split), [call("read_file", "{}", "unchanged")]);
}
