//! A long text is searched in blocks, and a short one byte by byte. Both find the same.

use wiremend_core::MendOptions;
use wiremend_extract::{CallExtractor, Dialect, FoundCalls, Tools};

/// What calls begin with and what only looks like it, in the middle of prose.
const PARTS: [&str; 40] = [
    "book(seats=2)",
    "\"book\"(seats=2)",
    "'book(seats=2)'",
    "to book (a table)",
    "book\n{\"seats\": 2}",
    "book \n  \n {\"seats\": 2}",
    "Book",
    "get\\_weather(name='x')",
    "see.book(seats=1)",
    "well-book(seats=1)",
    "functions.book({\"seats\": 2})",
    "functions. book({\"seats\": 2})",
    "functools [{\"name\": \"book\", \"arguments\": {}}]",
    "function call<|role_sep|>\n{\"name\": \"book\", \"arguments\": {}}",
    "useful",
    "\nAction: book\nAction Input: {\"seats\": 1}\n",
    "In Action: ```json\n[{\"tool_name\": \"book\", \"parameters\": {}}]\n```",
    "```typescript\nfunctions.book({\"seats\": 2})\n```",
    "`code`",
    "\n>>>book\n{\"seats\": 2}",
    "->",
    "◁think▷",
    "\n◁think▷so◁/think▷",
    "— and “so”",
    "<think>",
    "</think>",
    "]<]minimax[>[<tool_call>",
    "||DSML||",
    "|",
    "<tool_call>{\"name\": \"book\", \"arguments\": {}}</tool_call>",
    "<book><seats>2</seats></book>",
    "[book(seats=2)]",
    "{\"name\": \"book\", \"arguments\": {}}",
    "{\"a\": \"<tool_call>\"}",
    "a[0]",
    "f(x)",
    "\n",
    "   ",
    "                                                                                          ",
    "RAW_OUTPUT {\"seats\": 2}",
];
const PROSE: &str =
    "It was late in the year, and the 7 of them had walked for hours (so they said). ";

fn reader(dialect: Option<&str>) -> CallExtractor {
    let tools = Tools::new().with_tool("book", ["seats"], None);
    let tools = tools.with_tool("get_weather", ["name"], None);
    let reader = CallExtractor::new(MendOptions::new()).with_tools(tools);
    match dialect.and_then(Dialect::by_name) {
        Some(row) => reader.with_dialect(row.clone()),
        None => reader.with_registered(Dialect::json_block("raw", "book", "RAW_OUTPUT", [""])),
    }
}

fn read(reader: &CallExtractor, text: &str, size: usize) -> String {
    let mut reader = reader.clone();
    let mut found = FoundCalls::default();
    for chunk in text.as_bytes().chunks(size) {
        reader.push(chunk, &mut found);
    }
    reader.finish_at_eos(&mut found);
    format!("{found:?}")
}

#[test]
fn a_long_text_is_read_like_short_pieces() {
    let mut seed = 7_u64;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut dialects = vec![None; 40];
    dialects.extend(Dialect::all().iter().map(|row| Some(row.name())));
    let mut calls = 0;
    for dialect in dialects {
        let reader = reader(dialect);
        for _ in 0..25 {
            let mut text = String::new();
            for _ in 0..1 + random(5) {
                text.push_str(&PROSE.repeat(random(6)));
                // Every place in a block has its turn.
                text.push_str(&PROSE[..random(PROSE.len())]);
                text.push_str(PARTS[random(PARTS.len())]);
            }
            text.push_str(&PROSE.repeat(random(3)));
            let whole = read(&reader, &text, text.len());
            assert_eq!(whole, read(&reader, &text, 150), "{dialect:?} {text:?}");
            calls += usize::from(!whole.contains("calls: []"));
        }
    }
    // Most parts are in the middle of a sentence, where calls are only mentioned.
    assert!(calls > 300, "{calls}");
}
