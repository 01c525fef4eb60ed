//! The documents that are measured.

/// A document and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Document {
    /// What it shows.
    pub name: &'static str,
    /// Its bytes.
    pub text: Vec<u8>,
}

const SIZE: usize = 1 << 20;

/// All documents, each of about one mebibyte.
#[must_use]
pub fn all() -> Vec<Document> {
    of_size(SIZE)
}

/// All documents, each of about so many bytes.
#[must_use]
pub fn of_size(size: usize) -> Vec<Document> {
    let document = |name, text: String| Document { name, text: text.into_bytes() };
    vec![
        document("records", records(size, |_| None)),
        document("records, some hundred defects", records(size, defect)),
        document(
            "one string",
            format!("[\"{}\"]", "plain words and more of them ".repeat(size / 29)),
        ),
        document(
            "one string with escapes",
            format!("[\"{}\"]", "a line\\nwith \\\"quotes\\\" and \\u00e9 ".repeat(size / 36)),
        ),
        document(
            "other scripts",
            format!("[{}\"\"]", "\"Привет, 世界! Ça va très bien 👍\", ".repeat(size / 56)),
        ),
        document("numbers", format!("[{}0]", "3.14159, -27, 1e-9, 123456789, ".repeat(size / 31))),
    ]
}

/// Records as tools and models write them; `broken` may replace one by its number.
fn records(size: usize, broken: impl Fn(usize) -> Option<&'static str>) -> String {
    let mut text = String::from("[\n");
    let mut number = 0;
    while text.len() < size {
        match broken(number) {
            Some(record) => text.push_str(record),
            None => text.push_str(&format!(
                "  {{\"id\": {number}, \"name\": \"item {number}\", \"tags\": [\"new\", \"blue\"], \
                 \"price\": {}.50, \"sold\": {}, \"note\": null}},\n",
                number % 90,
                number % 3 == 0
            )),
        }
        number += 1;
    }
    text.push_str("  {}\n]\n");
    text
}

/// Every 40th record has one of a few usual defects.
fn defect(number: usize) -> Option<&'static str> {
    const DEFECTS: [&str; 6] = [
        "  {'id': 1, 'name': 'single quotes'},\n",
        "  {\"id\": 2, \"tags\": [\"trailing\", \"comma\",],},\n",
        "  {\"id\": 3, \"ok\": True, \"none\": None},\n",
        "  {\"id\": 4, \"name\": \"a \"quoted\" word\"},\n",
        "  {id: 5, name: \"unquoted keys\"},\n",
        "  {\"id\": 6 \"name\": \"no comma\"},\n",
    ];
    let at = number.is_multiple_of(40).then_some(number / 40 % DEFECTS.len())?;
    DEFECTS.get(at).copied()
}
