//! The limits of reading tool calls in text.

use wiremend_core::{Limits, MendOptions, Policy};
use wiremend_extract::{CallExtractor, CallOutcome, Dialect, FoundCalls, Tools};

fn reader(dialect: &str, limits: Limits) -> CallExtractor {
    let options = MendOptions::new().with_policy(Policy::PERMISSIVE).with_limits(limits);
    let tools = Tools::new().with_tool("book", ["seats", "name"], None);
    let dialect = Dialect::by_name(dialect).unwrap().clone();
    CallExtractor::new(options).with_tools(tools).with_dialect(dialect)
}

/// Reads a text in small pieces. Returns what was found, and the most that was held back.
fn read(dialect: &str, limits: Limits, text: &str) -> (FoundCalls, usize) {
    let mut reader = reader(dialect, limits);
    let (mut found, mut most) = (FoundCalls::default(), 0);
    for piece in text.as_bytes().chunks(16) {
        reader.push(piece, &mut found);
        most = most.max(reader.withheld());
    }
    reader.finish_at_eos(&mut found);
    (found, most)
}

/// Arguments before the name wait for it, up to the buffer limit.
pub(crate) fn held() {
    let text = |size: usize| {
        let long = "x".repeat(size);
        format!(
            "<tool_call>{{\"arguments\": {{\"name\": \"{long}\"}}, \"name\": \"book\"}}</tool_call>"
        )
    };
    let limits = || Limits::new().with_buffer(4096);
    let (found, _) = read("hermes", limits(), &text(3000));
    assert_eq!(found.calls()[0].outcome(), CallOutcome::Whole);
    let (found, most) = read("hermes", limits(), &text(100_000));
    assert!(found.calls().is_empty());
    assert_eq!(found.text(), text(100_000).as_bytes());
    assert!(most < 4096 + 300, "{most}");
}

pub(crate) fn names() {
    for (length, calls) in [(250, 1), (300, 0)] {
        let name = "n".repeat(length);
        let text = format!("<tool_call>{{\"name\": \"{name}\", \"arguments\": {{}}}}</tool_call>");
        assert_eq!(read("hermes", Limits::new(), &text).0.calls().len(), calls);
        let text = format!("[TOOL_CALLS]{name}[ARGS]{{}}");
        assert_eq!(read("mistral", Limits::new(), &text).0.calls().len(), calls);
        let text = format!("<tool_call>\n<function={name}>\n</function>\n</tool_call>");
        assert_eq!(read("qwen3_coder_xml", Limits::new(), &text).0.calls().len(), calls);
        let text = format!("<start_function_call>call:{name}{{}}<end_function_call>");
        assert_eq!(read("functiongemma", Limits::new(), &text).0.calls().len(), calls);
    }
    for (length, calls) in [(120, 1), (200, 0)] {
        let text = format!("[{}(a=1)]", "n".repeat(length));
        assert_eq!(read("pythonic", Limits::new(), &text).0.calls().len(), calls);
    }
}

pub(crate) fn tags() {
    for (length, calls) in [(900, 1), (1100, 0)] {
        let text = format!("<invoke name=\"book\" id=\"{}\"></invoke>", "n".repeat(length));
        let (found, most) = read("minimax_m2_xml", Limits::new(), &text);
        let run = found.calls().iter().filter(|call| call.outcome().can_run());
        assert_eq!(run.count(), calls, "{length}");
        assert!(most < 1200, "{most}");
    }
}

pub(crate) fn headers() {
    for (length, calls) in [(400, 1), (600, 0)] {
        let note = "n".repeat(length);
        let text = format!("<|channel|>commentary to=functions.book {note}<|message|>{{}}<|call|>");
        assert_eq!(read("harmony", Limits::new(), &text).0.calls().len(), calls, "{length}");
    }
}

/// White space between a closing tag and what shows that it closes.
pub(crate) fn space() {
    for (length, value) in [(200, "a"), (300, "a")] {
        let text = format!(
            "<function=book><parameter=name>a</parameter>{}</function>",
            " ".repeat(length)
        );
        let (found, most) = read("qwen3_coder_xml", Limits::new(), &text);
        let json = String::from_utf8_lossy(found.calls()[0].arguments()).into_owned();
        assert_eq!(json, format!("{{\"name\": \"{value}\"}}"), "{length}");
        assert!(most < 300, "{most}");
    }
}

/// Text that may be a number waits; a longer one is a string.
pub(crate) fn scalars() {
    for (length, json) in [(300, false), (500, true)] {
        let digits = "1".repeat(length);
        let text = format!("<function=book><parameter=name>{digits}</parameter></function>");
        let (found, most) = read("qwen3_coder_xml", Limits::new(), &text);
        let arguments = String::from_utf8_lossy(found.calls()[0].arguments()).into_owned();
        assert_eq!(arguments.contains("\"1"), json, "{length}");
        assert!(most < 500, "{most}");
    }
}

/// White space that may be at the end of an input in text is held back, up to a limit.
pub(crate) fn trailing_space() {
    for (length, kept) in [(4000, false), (5000, true)] {
        let text = format!("Action: book\nAction Input: a{}\nObservation:", " ".repeat(length));
        let mut found = FoundCalls::default();
        let mut reader = reader("react", Limits::new());
        reader.push(text.as_bytes(), &mut found);
        reader.finish(&mut found);
        let json = String::from_utf8_lossy(found.calls()[0].arguments()).into_owned();
        assert_eq!(json.contains("a "), kept, "{length}");
    }
}

pub(crate) fn elements() {
    let mark = "]<]minimax[>[";
    let text = |levels: usize| {
        let open = format!("{mark}<a>").repeat(levels);
        let close = format!("{mark}</a>").repeat(levels);
        format!(
            "{mark}<invoke name=\"book\">{mark}<name>{open}x{close}{mark}</name>{mark}</invoke>"
        )
    };
    for (levels, depth) in [(20, 20), (60, 31)] {
        let (found, _) = read("minimax_m3", Limits::new(), &text(levels));
        let json = String::from_utf8_lossy(found.calls()[0].arguments()).into_owned();
        assert_eq!(json.matches("\"a\"").count(), depth, "{levels}: {json}");
        assert_eq!(found.calls()[0].outcome().can_run(), levels == depth, "{levels}: {json}");
    }
}

/// Only so many calls, and so much of their arguments, are compared with later ones.
pub(crate) fn compared() {
    let restated = |limits: Limits, first: &str, later: &str| {
        let text = format!("[{first}] To say it once more: [{later}]");
        read("pythonic", limits, &text).0.restated().len()
    };
    let many: Vec<String> = (0..300).map(|seats| format!("book(seats={seats})")).collect();
    for (seats, repeats) in [(0, 1), (255, 1), (256, 0), (299, 0)] {
        let later = format!("book(seats={seats})");
        assert_eq!(restated(Limits::new(), &many.join(", "), &later), repeats, "{seats}");
    }
    let long = |letter: &str| format!("book(name='{}')", letter.repeat(1500));
    let three = ["a", "b", "c"].map(long).join(", ");
    for (letter, repeats) in [("a", 1), ("b", 1), ("c", 0)] {
        let limits = || Limits::new().with_buffer(4096);
        assert_eq!(restated(limits(), &three, &long(letter)), repeats, "{letter}");
        assert_eq!(restated(Limits::new(), &three, &long(letter)), 1, "{letter}");
    }
}
