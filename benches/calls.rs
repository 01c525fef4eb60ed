//! The cost of looking for tool calls in text.
//!
//! In this folder, `cargo bench --bench calls` prints tables: prose without a marker, compared with a
//! search for two bytes; one dialect and all of them, and with documents (`documents` looks for nothing
//! else, `segments` for all of it); a call with a long argument in small chunks, with
//! the most bytes that were held back; and false beginnings of markers. `-- --quick` runs each once.

use std::hint::black_box;

use wiremend_benches::measure::{Budget, Contender, Timed, interleaved};
use wiremend_core::{MendOptions, Outcome};
use wiremend_extract::{
    CallExtractor, CallSink, Dialect, Finder, FoundCalls, Scope, SegmentEvent, SegmentReader,
    TextSink, Tools,
};

/// Counts what it receives.
#[derive(Default)]
struct Counted(usize);

impl CallSink for Counted {
    fn text(&mut self, bytes: &[u8]) {
        self.0 += black_box(bytes).len();
    }
    fn arguments(&mut self, json: &[u8]) {
        self.0 += black_box(json).len();
    }
}

impl TextSink for Counted {
    fn text(&mut self, bytes: &[u8]) {
        self.0 += black_box(bytes).len();
    }
    fn json(&mut self, bytes: &[u8]) {
        self.0 += black_box(bytes).len();
    }
    fn end(&mut self, _: Outcome) {}
}

fn reader(dialect: Option<&str>) -> CallExtractor {
    let tools = Tools::new().with_tool("book", ["seats", "name"], None).with_tool(
        "write_file",
        ["path", "content"],
        None,
    );
    let reader = CallExtractor::new(MendOptions::new()).with_tools(tools);
    let mut reader = match dialect.and_then(Dialect::by_name) {
        Some(row) => reader.with_dialect(row.clone()),
        None => reader,
    };
    reader.push(b"", &mut FoundCalls::default());
    reader
}

fn read(reader: &CallExtractor, text: &[u8], size: usize) -> usize {
    let (mut reader, mut sink) = (reader.clone(), Counted::default());
    for chunk in text.chunks(size) {
        reader.push(black_box(chunk), &mut sink);
    }
    reader.finish_at_eos(&mut sink);
    sink.0
}

fn documents(text: &[u8], size: usize) -> usize {
    let (mut extractor, mut sink) =
        (Finder::new(Scope::All, MendOptions::new()), Counted::default());
    for chunk in text.chunks(size) {
        extractor.push(black_box(chunk), &mut sink);
    }
    extractor.finish(&mut sink);
    sink.0
}

fn segments(reader: &CallExtractor, text: &[u8], size: usize) -> usize {
    let (mut reader, mut read) = (SegmentReader::new(reader.clone()), 0);
    let mut sink = |event: SegmentEvent<'_>| {
        if let SegmentEvent::Text(_, bytes) = event {
            read += black_box(bytes).len();
        }
    };
    for chunk in text.chunks(size) {
        reader.push(black_box(chunk), &mut sink);
    }
    reader.finish_at_eos(&mut sink);
    read
}

/// Words, numbers and punctuation, without a byte that may begin a call in most dialects.
fn prose(length: usize) -> String {
    let sentence = "It was late in the year, and the 7 of them had walked for hours; \"no one\" \
        (so they said) would find the old house behind the hill. Then it rained.\n";
    sentence.repeat(length / sentence.len() + 1)
}

/// Prose as it is about programs: tags, brackets, and names of tools.
fn technical(length: usize) -> String {
    let sentence = "Use `<b>` and [a list](http://x), or {x}; if a < b then f(x) is 1. Write \
        \"book\" in the form, {\"a\": [1, 2]} is JSON, and <tool> is not a tag.\n";
    sentence.repeat(length / sentence.len() + 1)
}

fn table(title: &str, timed: &[Timed]) {
    println!("\n{title}\n");
    for row in timed {
        println!("{:<34} {:>9.1} MB/s {:>8.2} x", row.name, row.rate() / 1e6, row.cost);
    }
}

/// How a call begins before its long argument, and how it ends.
const LONG: [(&str, &str, &str); 10] = [
    (
        "hermes",
        "<tool_call>{\"name\": \"write_file\", \"arguments\": {\"content\": \"",
        "\"}}</tool_call>",
    ),
    (
        "kimi_k2",
        "<|tool_call_begin|>functions.write_file:0<|tool_call_argument_begin|>{\"content\": \"",
        "\"}<|tool_call_end|>",
    ),
    (
        "qwen3_coder_xml",
        "<tool_call>\n<function=write_file>\n<parameter=content>\n",
        "\n</parameter>\n</function>\n</tool_call>",
    ),
    (
        "minimax_m2_xml",
        "<minimax:tool_call><invoke name=\"write_file\"><parameter name=\"content\">",
        "</parameter></invoke></minimax:tool_call>",
    ),
    (
        "deepseek_dsml_v4",
        "<｜DSML｜invoke name=\"write_file\"><｜DSML｜parameter name=\"content\" string=\"true\">",
        "</｜DSML｜parameter></｜DSML｜invoke>",
    ),
    (
        "glm_arg_kv",
        "<tool_call>write_file\n<arg_key>content</arg_key>\n<arg_value>",
        "</arg_value></tool_call>",
    ),
    (
        "minimax_m3",
        "]<]minimax[>[<invoke name=\"write_file\">]<]minimax[>[<content>",
        "]<]minimax[>[</content>]<]minimax[>[</invoke>",
    ),
    ("gemma4", "<|tool_call>call:write_file{content:<|\"|>", "<|\"|>}<tool_call|>"),
    ("pythonic", "[write_file(content='", "')]"),
    ("xml_tool_tags", "<write_file><content>", "</content></write_file>"),
];

fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick");
    let budget = if quick { Budget::ONCE } else { Budget::FULL };
    let (auto, hermes, qwen) =
        (reader(None), reader(Some("hermes")), reader(Some("qwen3_coder_xml")));

    for (title, text) in [("prose", prose(1 << 20)), ("prose about programs", technical(1 << 20))] {
        for size in [text.len(), 4096, 64, 16] {
            let bytes = text.as_bytes();
            let search = || {
                let found = bytes
                    .chunks(size)
                    .filter(|chunk| memchr::memchr2(b'<', b'\x02', black_box(chunk)).is_some());
                black_box(found.count());
            };
            let mut contenders = [
                Contender::new("memchr2", bytes.len(), search),
                Contender::new("hermes", bytes.len(), || {
                    black_box(read(&hermes, bytes, size));
                }),
                Contender::new("qwen3_coder_xml", bytes.len(), || {
                    black_box(read(&qwen, bytes, size));
                }),
                Contender::new("all dialects", bytes.len(), || {
                    black_box(read(&auto, bytes, size));
                }),
                Contender::new("documents", bytes.len(), || {
                    black_box(documents(bytes, size));
                }),
                Contender::new("segments", bytes.len(), || {
                    black_box(segments(&auto, bytes, size));
                }),
            ];
            table(
                &format!("{title}, chunks of {size} bytes"),
                &interleaved(&mut contenders, budget),
            );
        }
    }

    let argument = "A line of the file that is written, word after word. ".repeat(1600);
    println!("\na call with an argument of {} bytes, chunks of 16 bytes\n", argument.len());
    for (name, before, after) in LONG {
        let text = [before, argument.as_str(), after].concat();
        let one = reader(Some(name));
        let bytes = text.as_bytes();
        let mut contenders = [
            Contender::new(name, bytes.len(), || {
                black_box(read(&one, bytes, 16));
            }),
            Contender::new("all dialects", bytes.len(), || {
                black_box(read(&auto, bytes, 16));
            }),
        ];
        let timed = interleaved(&mut contenders, budget);
        let mut watched = one.clone();
        let mut sink = Counted::default();
        let mut most = 0;
        for chunk in bytes.chunks(16) {
            watched.push(chunk, &mut sink);
            most = most.max(watched.withheld());
        }
        if let [own, all] = timed.as_slice() {
            println!(
                "{name:<20} {:>8.1} MB/s, detected {:>8.1} MB/s ({:.2} x), at most {most} bytes held",
                own.rate() / 1e6,
                all.rate() / 1e6,
                all.cost
            );
        }
    }

    println!("\nfalse beginnings of markers, 1 MiB, chunks of 16 bytes\n");
    for unit in
        ["<tool_cal", "<", "<｜DSM", "[TOOL_CALL", "<|tool_calls_section_begi", "{\"nam", "</thin"]
    {
        let text = unit.repeat((1 << 20) / unit.len());
        let half = &text.as_bytes()[..unit.len() * (text.len() / unit.len() / 2)];
        let mut contenders = [
            Contender::new("half", half.len(), || {
                black_box(read(&auto, half, 16));
            }),
            Contender::new("all", text.len(), || {
                black_box(read(&auto, text.as_bytes(), 16));
            }),
        ];
        if let [_, all] = interleaved(&mut contenders, budget).as_slice() {
            println!(
                "{unit:<30} {:>8.1} MB/s, {:.2} x the time of its half",
                all.rate() / 1e6,
                all.cost
            );
        }
    }
}
