//! The documents that are measured, of any size.

use std::fmt::Write as _;

/// The usual size: one mebibyte.
pub const SIZE: usize = 1 << 20;

/// How many defects the document `broken` has per mebibyte.
pub const DEFECTS: usize = 340;

/// A kind of document.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Document {
    /// Its name, which is also that of its table.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    text: fn(usize) -> String,
}

impl Document {
    /// The document of about `size` bytes.
    #[must_use]
    pub fn text(&self, size: usize) -> String {
        (self.text)(size)
    }
}

/// All documents.
pub const ALL: [Document; 13] = [
    Document { name: "clean", about: "records as tools and models write them", text: clean },
    Document { name: "broken", about: "the same with 340 small defects a MiB", text: broken },
    Document { name: "repr", about: "the records as Python prints them", text: repr },
    Document { name: "literals", about: "the records as literals of JavaScript", text: literals },
    Document { name: "compact", about: "the records without white space", text: compact },
    Document { name: "indented", about: "the records, two levels indented", text: indented },
    Document { name: "prose", about: "paragraphs in strings", text: prose },
    Document { name: "cjk", about: "Chinese, Japanese and emoji in strings", text: cjk },
    Document { name: "string", about: "one long string without escapes", text: string },
    Document { name: "escapes", about: "one long string full of escapes", text: escapes },
    Document { name: "deep", about: "a hundred levels, repeated", text: deep },
    Document { name: "scripts", about: "short strings beyond ASCII", text: scripts },
    Document { name: "numbers", about: "numbers", text: numbers },
];

/// The document with this name.
#[must_use]
pub fn named(name: &str) -> Option<Document> {
    ALL.into_iter().find(|document| document.name == name)
}

/// Records without a defect.
fn clean(size: usize) -> String {
    records(size, |_| None)
}

/// Records of which some have one defect each, evenly spread.
fn broken(size: usize) -> String {
    let apart = (clean(SIZE).lines().count() / DEFECTS).max(1);
    records(size, |number| number.is_multiple_of(apart).then_some(number / apart))
}

/// One defect, chosen by `which`, in the fields of record `number`.
fn fields(number: usize, which: Option<usize>) -> [String; 6] {
    let mut fields = [
        format!("\"id\": {number},"),
        format!(" \"name\": \"item {number}\","),
        " \"tags\": [\"new\", \"blue\"],".to_owned(),
        format!(" \"price\": {}.50,", number % 90),
        format!(" \"sold\": {},", number.is_multiple_of(3)),
        " \"note\": null".to_owned(),
    ];
    let [id, name, tags, price, sold, note] = &mut fields;
    match which.map(|which| which % 6) {
        Some(0) => *id = format!("id: {number},"),
        Some(1) => *name = format!(" 'name': 'item {number}',"),
        Some(2) => " \"tags\": [\"new\", \"blue\",],".clone_into(tags),
        Some(3) => *price = format!(" \"price\": {}.50", number % 90),
        Some(4) => " \"sold\": True,".clone_into(sold),
        Some(_) => " /* none */ \"note\": null".clone_into(note),
        None => {}
    }
    fields
}

fn records(size: usize, defect: impl Fn(usize) -> Option<usize>) -> String {
    let mut text = String::from("[\n");
    let mut number = 0_usize;
    while text.len() < size {
        let _ = writeln!(text, "  {{{}}},", fields(number, defect(number)).concat());
        number += 1;
    }
    text.push_str("  {}\n]\n");
    text
}

/// The clean records as Python's `repr` prints them.
fn repr(size: usize) -> String {
    let mut text = String::from("[");
    let mut number = 0_usize;
    while text.len() < size {
        let _ = write!(
            text,
            "{{'id': {number}, 'name': 'item {number}', 'tags': ['new', 'blue'], \
             'price': {}.5, 'sold': {}, 'note': None}}, ",
            number % 90,
            if number.is_multiple_of(3) { "True" } else { "False" },
        );
        number += 1;
    }
    text.push_str("{}]");
    text
}

/// The clean records with keys that need no quotes, strings in single quotes, and trailing commas.
fn literals(size: usize) -> String {
    let mut text = String::from("[\n");
    let mut number = 0_usize;
    while text.len() < size {
        let _ = writeln!(
            text,
            "  {{id: {number}, name: 'item {number}', tags: ['new', 'blue'], price: {}.50, \
             sold: {}, note: null,}},",
            number % 90,
            number.is_multiple_of(3),
        );
        number += 1;
    }
    text.push_str("]\n");
    text
}

/// The clean records as `JSON.stringify` writes them.
fn compact(size: usize) -> String {
    let mut text = String::from("[");
    let mut number = 0_usize;
    while text.len() < size {
        let _ = write!(
            text,
            "{{\"id\":{number},\"name\":\"item {number}\",\"tags\":[\"new\",\"blue\"],\
             \"price\":{}.5,\"sold\":{},\"note\":null}},",
            number % 90,
            number.is_multiple_of(3),
        );
        number += 1;
    }
    text.push_str("{}]");
    text
}

/// The clean records, one member on a line.
fn indented(size: usize) -> String {
    let mut text = String::from("[\n");
    let mut number = 0_usize;
    while text.len() < size {
        let _ = write!(
            text,
            "  {{\n    \"id\": {number},\n    \"name\": \"item {number}\",\n    \"tags\": [\n      \
             \"new\",\n      \"blue\"\n    ],\n    \"price\": {}.50,\n    \"sold\": {},\n    \
             \"note\": null\n  }},\n",
            number % 90,
            number.is_multiple_of(3),
        );
        number += 1;
    }
    text.push_str("  {}\n]\n");
    text
}

fn prose(size: usize) -> String {
    let piece = "{\"role\": \"assistant\", \"content\": \"The meeting begins at nine, and ends before \
                 noon. Bring the figures for the north region; the others are in the report that was \
                 sent on Monday. It's enough to have read the first page.\"}, ";
    within("[", piece, "{}]", size)
}

/// Paragraphs without JSON, as a model writes them around a document, of about `size` bytes.
#[must_use]
pub fn paragraphs(size: usize) -> String {
    let piece = "The cache was never invalidated, so every request after the first one got the old \
                 value. You can clear it when the configuration changes, or give each entry a short \
                 lifetime.\n\nI would begin with the second: it needs no new code where the values \
                 are written.\n\n";
    within("", piece, "", size)
}

fn cjk(size: usize) -> String {
    let piece = "{\"标题\": \"北方地区的会议\", \"内容\": \"会议九点开始，中午之前结束。请带上数字。🙂\", \
                 \"場所\": \"三階の会議室です\"}, ";
    within("[", piece, "{}]", size)
}

fn string(size: usize) -> String {
    within(
        "{\"path\": \"notes.txt\", \"content\": \"",
        "plain words and more of them ",
        "\"}",
        size,
    )
}

fn escapes(size: usize) -> String {
    let piece = "a line\\nwith \\\"quotes\\\" and \\u00e9 ";
    within("{\"path\": \"notes.txt\", \"content\": \"", piece, "\"}", size)
}

fn deep(size: usize) -> String {
    let levels = 50;
    let piece = ["{\"k\": [".repeat(levels), "1".to_owned(), "]}".repeat(levels)].concat();
    within("[", &format!("{piece}, "), "0]", size)
}

fn scripts(size: usize) -> String {
    within("[", "\"Привет, 世界! Ça va très bien 👍\", ", "\"\"]", size)
}

fn numbers(size: usize) -> String {
    within("[", "3.14159, -27, 1e-9, 123456789, ", "0]", size)
}

fn within(head: &str, piece: &str, tail: &str, size: usize) -> String {
    [head, &piece.repeat((size / piece.len()).max(1)), tail].concat()
}
