use crate::program::{json_lines, run};

const TEXT: &str = "{'city': 'Par";

#[test]
fn steps_show_what_became_certain() {
    let steps = json_lines(&run(&["trace", "--json"], TEXT).stdout);
    assert_eq!(steps.len(), TEXT.len() + 1, "one a byte, and the end");
    for step in &steps[..TEXT.len()] {
        let so_far: String = steps
            .iter()
            .take_while(|other| other["offset"].as_u64() <= step["offset"].as_u64())
            .filter(|other| other["outcome"].is_null())
            .filter_map(|other| other["certain"].as_str())
            .collect();
        let completion = step["completion"].as_str().unwrap();
        let text = so_far + completion;
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
    }
    assert_eq!(steps.last().unwrap()["outcome"], "closed");
}

#[test]
fn people_see_pieces_repairs_and_the_outcome() {
    let done = run(&["trace", "--split", "4"], TEXT);
    assert_eq!(done.code, 0);
    assert!(done.stdout.starts_with("    byte  piece"), "{}", done.stdout);
    assert!(done.stdout.contains("       4  ty':"), "{}", done.stdout);
    assert!(done.stdout.contains("single-quote (exact) at $: ' -> \""), "{}", done.stdout);
    assert!(done.stdout.contains("outcome: closed at $.city"), "{}", done.stdout);
}

#[test]
fn an_empty_input_has_an_end_only() {
    let steps = json_lines(&run(&["trace", "--json"], "").stdout);
    assert_eq!(steps.len(), 1);
    assert_eq!(steps[0]["outcome"], "none");
}

/// The quote may end a string, or be a part of it.
const DOUBTFUL: &str = r#"["red", "green" blue"]"#;

#[test]
fn the_two_best_readings_are_shown_with_their_costs() {
    let readings = json_lines(&run(&["trace", "--readings", "--json"], DOUBTFUL).stdout);
    assert_eq!(readings[0]["json"], r#"["red", "green", "blue"]"#);
    assert_eq!(readings[1]["json"], r#"["red", "green\" blue"]"#);
    assert!(readings[0]["cost"].as_u64() < readings[1]["cost"].as_u64());
    assert_eq!(readings[1]["repairs"][0]["code"], "unescaped-quote");
    let done = run(&["trace", "--readings"], DOUBTFUL);
    assert!(done.stdout.contains(r#"  ["red", "green", "blue"]"#), "{}", done.stdout);
    assert!(done.stdout.contains("unescaped-quote (likely) at $[1]"), "{}", done.stdout);
}

#[test]
fn a_valid_text_has_no_reading_to_show() {
    assert_eq!(run(&["trace", "--readings", "--json"], "[1]").stdout, "");
    assert!(run(&["trace", "--readings"], "[1]").stdout.starts_with("valid, or not searched"));
}
