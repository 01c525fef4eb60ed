//! Calls that are stated twice, and equal calls that are two.

use wiremend_core::{Limits, MendOptions};

use super::{check, named, reader};

const BOOK: &str = "{\"name\": \"book\", \"arguments\": {\"seats\": 2}}";

/// How many calls there are, how many are restated, and the text.
fn read(text: &str) -> (usize, Vec<usize>, String) {
    let found = check(&reader(None), text).found;
    assert!(found.calls().iter().all(|call| call.outcome().can_run()), "{found:?}");
    let left = String::from_utf8_lossy(found.text()).into_owned();
    (found.calls().len(), found.restated().to_vec(), left)
}

#[test]
fn a_call_that_is_explained_or_stated_for_good_is_one() {
    for (text, left) in [
        // A draft, and the call without markers.
        (
            "`book(seats=2)`\nis what I would do, so the answer is:\n[book(seats=2)]",
            "``\nis what I would do, so the answer is:\n[book(seats=2)]",
        ),
        // A draft, and the call between markers. They are never text.
        (
            "book(seats=2)\nis what I think of, so that there is room.\n<tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": 2}}</tool_call>",
            "\nis what I think of, so that there is room.\n",
        ),
        // The call between markers, and what it was.
        (
            "<tool_call>{\"name\": \"book\", \"arguments\": {\"seats\":2}}</tool_call>\nI have now made this call:\nbook(seats=2).",
            "\nI have now made this call:\nbook(seats=2).",
        ),
        // Whatever the prose says.
        ("book(seats=2)\nTo check again:\nbook(seats=2)", "\nTo check again:\nbook(seats=2)"),
        // The same with prose that has no spaces between its words.
        (
            "book(seats=2)\n我刚才已经预订了。\nbook(seats=2)\n",
            "\n我刚才已经预订了。\nbook(seats=2)\n",
        ),
        // The same in another dialect, with other white space.
        (
            "{\"name\": \"book\", \"arguments\": {\n  \"seats\": 2\n}}\n\nIn Python that is written:\n```python\nbook(seats=2)\n```",
            "\n\nIn Python that is written:\n```python\nbook(seats=2)\n```",
        ),
    ] {
        assert_eq!(read(text), (1, vec![0], left.to_owned()), "{text}");
    }
}

#[test]
fn equal_calls_are_two_in_one_place_and_between_markers() {
    for text in [
        "[book(seats=2), book(seats=2)]".to_owned(),
        "a = book(seats=2)\nb = book(seats=2)".to_owned(),
        format!("[{BOOK}, {BOOK}]"),
        format!("<tool_call>{BOOK}</tool_call>\n<tool_call>{BOOK}</tool_call>"),
        format!(
            "<tool_call>{BOOK}</tool_call> And once more, as you said. <tool_call>{BOOK}</tool_call>"
        ),
        // Not the same.
        "book(seats=2)\nis not enough, so I do:\nbook(seats=3)".to_owned(),
        "book(seats=2)\nAnd for the other one:\nbook(seats=2, name='Ada')".to_owned(),
    ] {
        let (calls, restated, _) = read(&text);
        assert_eq!((calls, restated.len()), (2, 0), "{text}");
    }
}

/// As many calls in one place as there are in an earlier one repeat those. Further ones are calls.
#[test]
fn a_list_repeats_as_many_calls_as_there_were() {
    let two = "[book(seats=2), book(seats=2)]";
    let (calls, restated, left) = read(&format!("{two}\nHere they are once more:\n{two}"));
    assert_eq!((calls, restated), (2, vec![0, 1]));
    assert_eq!(left, format!("\nHere they are once more:\n{two}"));
    let (calls, restated, left) = read(&format!(
        "{two}\nNo, one more than that:\n[book(seats=2), book(seats=2), book(seats=2)]"
    ));
    assert_eq!((calls, restated), (3, vec![0, 1]));
    assert_eq!(left, "\nNo, one more than that:\n");
    // Next to a call that is new, a restated one is no text.
    let (calls, restated, left) = read(
        "[book(seats=2)]\nI also need the list:\n[book(seats=2), write_file(path='a', content='b')]",
    );
    assert_eq!((calls, restated), (2, vec![0]));
    assert_eq!(left, "\nI also need the list:\n");
}

/// A call that was cut off repeats none, and a call that may repeat one is held back within the limit.
#[test]
fn what_is_not_known_to_repeat_a_call_is_one() {
    let found = check(&reader(None), "[book(seats=2)]\nSo the answer would be\n[book(seats=").found;
    assert_eq!((found.calls().len(), found.restated().len()), (2, 0));
    assert!(!found.calls()[1].outcome().can_run());
    let name = "x".repeat(4000);
    let text = format!("[book(name='{name}')]\nSo the answer must be:\n[book(name='{name}')]");
    let small = MendOptions::new().with_limits(Limits::new().with_buffer(1024));
    assert_eq!(check(&named("pythonic").with_mending(small.clone()), &text).found.calls().len(), 2);
    // Detected, a call without a marker is judged within the limit.
    assert_eq!(check(&reader(None).with_mending(small), &text).found.calls().len(), 0);
    assert_eq!(check(&reader(None), &text).found.calls().len(), 1);
}

/// In a dialect without markers, that the caller names, it is the same.
#[test]
fn a_named_dialect_without_markers_has_restated_calls_too() {
    let found =
        check(&named("pythonic"), "[book(seats=2)] In other words, I call [book(seats=2)]").found;
    assert_eq!((found.calls().len(), found.restated()), (1, &[0][..]));
}

#[test]
fn a_call_that_turns_out_to_be_a_definition_is_not_the_first_of_two() {
    let text = "[book(seats=2) for n in x]\nSo now I will call it:\nbook(seats=2)\n";
    let found = check(&reader(None), text).found;
    let runs: Vec<bool> = found.calls().iter().map(|call| call.outcome().can_run()).collect();
    assert_eq!((runs.as_slice(), found.restated()), (&[true][..], &[][..]), "{found:?}");
}

/// Calls are equal if all of their arguments are, and not if a hash of them is: these two names have the
/// same FNV-1a hash after `{"name":"`.
#[test]
fn a_call_with_the_hash_of_another_is_not_restated() {
    let text = "[book(name='yWaTFHpTYyI')]\nSo I also have to do:\n[book(name='bvEiU_c7mHI')]";
    let (calls, restated, _) = read(text);
    assert_eq!((calls, restated.len()), (2, 0));
}
