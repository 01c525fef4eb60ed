//! How far a decision looks: what is beyond its window counts neither if it has arrived nor if it has not.

use super::values::Quick;

/// Around the sizes of the windows, every text is read alike as a whole and in bytes.
#[test]
fn no_length_of_white_space_or_names_makes_a_cut_matter() {
    let mut reader = Quick::new();
    for length in [1, 126, 127, 128, 129, 254, 255, 256, 257, 300, 510, 511, 512, 513, 600, 1100] {
        let (gap, name) = (" ".repeat(length), "a".repeat(length));
        for text in [
            "[\"book\"~, {\"seats\": 2}]",
            "[~\"book\", {\"seats\": 2}]",
            "[[~\"book\", {\"seats\": 2}]]",
            "{~\"name\": \"book\", \"seats\": 2}",
            "[{~\"name\": \"book\", \"seats\": 2}]",
            "Sure.book\n{~\"seats\": 2}",
            "book\n~{\"seats\": 2}",
            "Sure.book\n{\"@\": 2}",
            "[book(seats=2~)~]~.",
            "[book(~seats~=~2~,~guest_name='x')]~.",
            "[book(seats=2),~book(seats=3)]",
            "book(seats=2)~{ }",
            "book(seats=2)~\nbook(seats=3)",
            "['book(seats=2)'~]~.",
            "{'book(seats=2)'~}~.",
            "[~book(seats=2)]",
            "book(guest_name='x'~# x\n)",
            "book(guest_name='x'~,~y)",
            "book(guest_name=<@>)",
            "book(seats=1@)",
            "book(@=2)",
            "book(\\@=2)",
            "{\"name\": \"@\", \"seats\": 2}",
            "[\"@\", {\"seats\": 2}]",
            "functions.book(~{\"seats\": 2})",
            "<tool_call>~{\"name\": \"book\", \"arguments\": {\"seats\": 2}}~</tool_call>.",
            "<tool_call>~```json\n{\"name\": \"book\", \"arguments\": {\"seats\": 2}}\n```~</tool_call>.",
            "<tool_calls>~<tool_call>{\"name\": \"book\", \"arguments\": {}}</tool_call></tool_calls>.",
            "<function=book>~{\"seats\": 2}~</function>.",
            "<|python_start|>~[book(seats=2)]~<|python_end|>.",
            "Action:~book\nAction Input:~{\"seats\": 2}",
            "<start_function_call>call:book{seats:2}~}~<end_function_call>.",
        ] {
            reader.read(&text.replace('~', &gap).replace('@', &name));
        }
        let escaped = "\\_".repeat(length);
        reader.read(&format!("book{escaped}(seats=2)"));
        reader.read(&format!("book(seats{escaped}=2)"));
    }
}

/// Within the windows, white space makes no difference to what is a call, and far beyond them there is none.
#[test]
fn a_call_may_be_far_from_what_shows_it_but_not_too_far() {
    let mut reader = Quick::new();
    for text in ["[\"book\"~, {\"seats\": 2}]", "Sure.book\n{~\"seats\": 2}"] {
        for (length, calls) in [(100, 1), (2000, 0)] {
            let text = text.replace('~', &" ".repeat(length));
            assert_eq!(reader.read(&text).0.len(), calls, "{text}");
        }
    }
}
