//! What models and programs write around a document, and documents that were escaped.

use super::{
    Group::{Around as AroundGroup, Encoded, Local},
    Kind,
};
use crate::{
    Seed,
    damaged::{
        draft::{Around, Change, Draft, Token},
        originals,
    },
};

pub(super) const KINDS: &[Kind] = &[
    Kind::new(AroundGroup, "byte-order-mark", "<U+FEFF>{}", |_, _| fixed("\u{feff}", "")),
    Kind::new(AroundGroup, "fence", "```json\n{}\n```", |draft, _| {
        fence(draft, "```json\n", "\n```")
    }),
    Kind::new(AroundGroup, "bare-fence", "```\n{}\n```", |draft, _| {
        fence(draft, "```\n", "\n```\n")
    }),
    Kind::new(AroundGroup, "tilde-fence", "~~~json\n{}\n~~~", |_, _| fixed("~~~json\n", "\n~~~")),
    Kind::new(AroundGroup, "open-fence", "```json\n{}", |draft, _| fence(draft, "```json\n", "")),
    Kind::new(
        AroundGroup,
        "fence-in-prose",
        "Here it is:\n```json\n{}\n```\nDone.",
        |draft, seed| {
            let (lead, tail) = (lead(seed), tail(seed));
            fence(draft, &format!("{lead}\n\n```json\n"), &format!("\n```\n\n{tail}"))
        },
    ),
    Kind::new(AroundGroup, "lead-in", "Here it is:\n{}", |_, seed| {
        fixed(&format!("{}\n", lead(seed)), "")
    }),
    Kind::new(AroundGroup, "remark-after", "{}\n\nLet me know.", |_, seed| {
        fixed("", &format!("\n\n{}", tail(seed)))
    }),
    Kind::new(AroundGroup, "prose-around", "Here it is:\n\n{}\n\nLet me know.", |_, seed| {
        fixed(&format!("{}\n\n", lead(seed)), &format!("\n\n{}", tail(seed)))
    }),
    Kind::new(AroundGroup, "label", "Result: {}", |_, seed| {
        fixed(
            originals::pick(seed, &["Result: ", "JSON: ", "**Answer:** ", "Output:\n", "json\n"]),
            "",
        )
    }),
    Kind::new(AroundGroup, "assignment", "const x = {};", |_, seed| {
        let name = originals::identifier(seed);
        match seed.below(3) {
            0 => fixed(&format!("const {name} = "), ";"),
            1 => fixed(&format!("{name} = "), ""),
            _ => fixed("export default ", ";\n"),
        }
    }),
    Kind::new(AroundGroup, "callback", "show({});", |_, seed| {
        fixed(&format!("{}(", originals::verb(seed)), ");")
    }),
    Kind::new(AroundGroup, "tags", "<json>{}</json>", |_, seed| {
        let tag = originals::pick(
            seed,
            &["json", "output", "tool_call", "answer", "result", "function_call"],
        );
        let line = originals::pick(seed, &["", "\n"]);
        fixed(&format!("<{tag}>{line}"), &format!("{line}</{tag}>"))
    }),
    Kind::new(AroundGroup, "tags-in-tags", "<answer><json>{}</json></answer>", |_, seed| {
        let (outer, inner) =
            (originals::noun(seed), originals::pick(seed, &["json", "data", "value"]));
        fixed(&format!("<{outer}>\n<{inner}>\n"), &format!("\n</{inner}>\n</{outer}>"))
    }),
    Kind::new(AroundGroup, "tag-with-attributes", "<json lang=\"en\">{}</json>", |_, seed| {
        let (tag, name) = (originals::noun(seed), originals::noun(seed));
        fixed(&format!("<{tag} type=\"json\" name=\"{name}\">"), &format!("</{tag}>"))
    }),
    Kind::new(AroundGroup, "tags-in-prose", "Here:\n<json>{}</json>\nDone.", |_, seed| {
        let (lead, tail) = (lead(seed), tail(seed));
        fixed(&format!("{lead}\n<json>\n"), &format!("\n</json>\n{tail}"))
    }),
    Kind::new(AroundGroup, "bracket-tags", "[JSON]{}[/JSON]", |_, seed| {
        let tag = originals::pick(seed, &["JSON", "RESULT", "OUTPUT"]);
        fixed(&format!("[{tag}]\n"), &format!("\n[/{tag}]"))
    }),
    Kind::new(AroundGroup, "open-tag", "<json>{}", |_, seed| {
        let tag = originals::pick(seed, &["json", "output", "tool_call", "answer"]);
        fixed(&format!("<{tag}>\n"), "")
    }),
    Kind::new(AroundGroup, "reasoning", "<think>{a} it is.</think>{}", |_, seed| {
        let thought = format!(
            "{} Perhaps {{\"{}\": 1}}? {}",
            originals::sentence(seed),
            originals::noun(seed),
            originals::sentence(seed)
        );
        fixed(&format!("<think>\n{thought}\n</think>\n\n"), "")
    }),
    Kind::new(AroundGroup, "html-block", "<pre><code>{}</code></pre>", |draft, _| {
        let plain = !strings(draft).any(|text| text.contains(['<', '>', '&']));
        plain.then(|| fixed("<pre><code>", "</code></pre>"))?
    }),
    Kind::new(AroundGroup, "prompt-line", "$ show\n{}", |_, seed| {
        fixed(
            &format!("$ {} --json {}.txt\n", originals::verb(seed), originals::noun(seed)),
            "\n$ ",
        )
    }),
    // On one line, it may be a string of JavaScript or Python that holds a document.
    Kind::new(AroundGroup, "in-apostrophes", "'{\n  \"a\": 1\n}'", |draft, _| {
        let plain = !strings(draft).any(|text| text.contains('\''));
        (plain && lines(draft, true)).then(|| fixed("'", "'"))?
    }),
    Kind::new(AroundGroup, "in-quotes", "\"{\"a\": 1}\"", |_, _| fixed("\"", "\"")),
    Kind::new(AroundGroup, "in-backticks", "`{\"a\": 1}`", |draft, _| {
        let plain = !strings(draft).any(|text| text.contains('`'));
        plain.then(|| fixed("`", "`"))?
    }),
    Kind::new(AroundGroup, "in-parentheses", "({\"a\": 1})", |_, _| fixed("(", ")")),
    Kind::new(AroundGroup, "semicolon-after", "{\"a\": 1};", |_, _| fixed("", ";")),
    Kind::new(AroundGroup, "comma-after", "{\"a\": 1},", |_, _| fixed("", ",")),
    Kind::new(AroundGroup, "end-token", "{}<|im_end|>", |_, seed| {
        fixed("", originals::pick(seed, &["<|im_end|>", "</s>", "<|eot_id|>", "<end_of_turn>"]))
    }),
    Kind::new(Encoded, "escaped", "{\\\"a\\\": 1}", |draft, _| {
        lines(draft, false).then(|| Change::around(Around::across(escaped)))?
    }),
    Kind::new(Encoded, "escaped-indented", "{\\n  \\\"a\\\": 1\\n}", |draft, _| {
        lines(draft, true).then(|| Change::around(Around::across(escaped)))?
    }),
    Kind::new(Encoded, "escaped-quotes", "{\n  \\\"a\\\": 1\n}", |draft, _| {
        let plain = !strings(draft).any(|text| text.contains('\\'));
        plain.then(|| Change::around(Around::across(|text| text.replace('"', "\\\""))))?
    }),
    Kind::new(Encoded, "escaped-twice", "{\\\\\\\"a\\\\\\\": 1}", |_, _| {
        Change::around(Around::across(|text| escaped(&escaped(text))))
    }),
    Kind::new(Encoded, "quote-entities", "{&quot;a&quot;: 1}", |draft, _| {
        let plain = !strings(draft).any(|text| text.contains('&'));
        plain.then(|| Change::around(Around::across(|text| text.replace('"', "&quot;"))))?
    }),
    Kind::new(Encoded, "html-entities", "{&quot;a&quot;: &quot;x &amp; y&quot;}", |_, _| {
        Change::around(Around::across(entities))
    }),
];

fn fixed(before: &str, after: &str) -> Option<Change> {
    Change::around(Around::text(before, after))
}

/// A fence, where no line of the document has one.
fn fence(draft: &Draft, before: &str, after: &str) -> Option<Change> {
    let plain = !strings(draft).any(|text| text.contains("```"));
    plain.then(|| fixed(before, after))?
}

/// The keys and strings of the document as they are now.
fn strings(draft: &Draft) -> impl Iterator<Item = &str> {
    let strings =
        (0..=draft.last()).filter(|at| matches!(draft.token(*at), Some(Token::Key | Token::Text)));
    strings.map(|at| draft.current(at))
}

fn lines(draft: &Draft, wanted: bool) -> bool {
    draft.pieces().iter().any(|piece| piece.text.contains('\n')) == wanted
}

fn lead(seed: &mut Seed) -> String {
    match seed.below(5) {
        0 => format!("Sure, here is the {} you asked for:", originals::noun(seed)),
        1 => format!("I've looked at the {}. The result is below.", originals::phrase(seed)),
        2 => format!("Here's the JSON for {} ({}):", originals::name(seed), originals::noun(seed)),
        3 => format!("{} {}", originals::sentence(seed), originals::sentence(seed)),
        _ => "Okay.".to_owned(),
    }
}

fn tail(seed: &mut Seed) -> String {
    match seed.below(4) {
        0 => "Let me know if this helps!".to_owned(),
        1 => format!("Note that the {} isn't included.", originals::noun(seed)),
        2 => format!(
            "1. The {} is {}.\n2. {}",
            originals::noun(seed),
            originals::adjective(seed),
            originals::sentence(seed)
        ),
        _ => originals::sentence(seed),
    }
}

/// What is between the quotes when a text is written as a JSON string.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            _ => out.push(c),
        }
    }
    out
}

fn entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for c in text.chars() {
        match c {
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            _ => out.push(c),
        }
    }
    out
}

// White space that is not JSON's, and marks at the start of each line.

pub(super) const LAYOUT: &[Kind] = &[
    Kind::new(Local, "no-break-spaces", "{\"a\":<U+00A0>1}", |draft, seed| {
        spaces(draft, seed, '\u{a0}')
    }),
    Kind::new(Local, "zero-width-spaces", "{\"a\":<U+200B> 1}", |draft, seed| {
        spaces(draft, seed, '\u{200b}')
    }),
    Kind::new(Local, "ideographic-spaces", "{\"a\":<U+3000>1}", |draft, seed| {
        spaces(draft, seed, '\u{3000}')
    }),
    Kind::new(Local, "em-spaces", "{\"a\":<U+2003>1}", |draft, seed| {
        spaces(draft, seed, '\u{2003}')
    }),
    Kind::new(Local, "inner-byte-order-marks", "{\"a\":<U+FEFF> 1}", |draft, seed| {
        spaces(draft, seed, '\u{feff}')
    }),
    Kind::new(Local, "line-separators", "{\"a\": 1,<U+2028>\"b\": 2}", |draft, seed| {
        spaces(draft, seed, '\u{2028}')
    }),
    Kind::new(Local, "null-bytes", "{\"a\":<U+0000> 1}", |draft, seed| spaces(draft, seed, '\0')),
    Kind::new(AroundGroup, "no-break-indent", "{\n<U+00A0><U+00A0>\"a\": 1\n}", |draft, _| {
        across(draft, no_break_indent)
    }),
    Kind::new(AroundGroup, "diff-marks", "+{\n+  \"a\": 1\n+}", |draft, _| {
        across(draft, |text| prefixed(text, "+"))
    }),
    Kind::new(AroundGroup, "diff-marks-spaced", "+ {\n+   \"a\": 1\n+ }", |draft, _| {
        across(draft, |text| prefixed(text, "+ "))
    }),
    Kind::new(AroundGroup, "quote-marks", "> {\n>   \"a\": 1\n> }", |draft, _| {
        across(draft, |text| prefixed(text, "> "))
    }),
    Kind::new(AroundGroup, "data-marks", "data: {\ndata:   \"a\": 1\ndata: }", |draft, _| {
        across(draft, |text| prefixed(text, "data: "))
    }),
    Kind::new(AroundGroup, "bars", "| {\n|   \"a\": 1\n| }", |draft, _| {
        across(draft, |text| prefixed(text, "| "))
    }),
    Kind::new(AroundGroup, "line-numbers", "1: {\n2:   \"a\": 1\n3: }", |draft, _| {
        across(draft, |text| numbered(text, ": "))
    }),
    Kind::new(AroundGroup, "line-numbers-bar", "1 | {\n2 |   \"a\": 1\n3 | }", |draft, _| {
        across(draft, |text| numbered(text, " | "))
    }),
    Kind::new(AroundGroup, "line-numbers-tab", "1\t{\n2\t  \"a\": 1\n3\t}", |draft, _| {
        across(draft, |text| numbered(text, "\t"))
    }),
    Kind::new(
        Local,
        "terminal-colours",
        "{<ESC>[34m\"a\"<ESC>[0m: <ESC>[32m1<ESC>[0m}",
        |draft, _| colours(draft),
    ),
];

/// Odd spaces between some of the tokens, mostly in the place of a space, and around line ends.
fn spaces(draft: &Draft, seed: &mut Seed, odd: char) -> Option<Change> {
    let places = draft.all(&[Token::Space]);
    let often = 1 + seed.below(12);
    let mut pieces = Vec::new();
    for at in places {
        if seed.below(often) > 0 {
            continue;
        }
        let text = draft.text(at);
        let text = match (text, seed.below(3)) {
            (" ", 0) if odd.is_whitespace() => odd.to_string(),
            (_, 0 | 1) => format!("{odd}{text}"),
            _ => format!("{text}{odd}"),
        };
        pieces.push((at, text));
    }
    Change::many(pieces)
}

/// A change of a text of several lines.
fn across(draft: &Draft, change: fn(&str) -> String) -> Option<Change> {
    let lines = draft.pieces().iter().any(|piece| piece.text.contains('\n'));
    lines.then(|| Change::around(Around::across(change)))?
}

fn prefixed(text: &str, mark: &str) -> String {
    text.split('\n').map(|line| format!("{mark}{line}")).collect::<Vec<_>>().join("\n")
}

fn numbered(text: &str, mark: &str) -> String {
    let lines = text.split('\n').enumerate();
    lines.map(|(at, line)| format!("{}{mark}{line}", at + 1)).collect::<Vec<_>>().join("\n")
}

fn no_break_indent(text: &str) -> String {
    let line = |line: &str| {
        let rest = line.trim_start_matches(' ');
        "\u{a0}".repeat(line.len() - rest.len()) + rest
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Scalars and keys in the colours of a terminal.
fn colours(draft: &Draft) -> Option<Change> {
    let coloured = |at: usize| {
        let colour = match draft.token(at) {
            Some(Token::Key) => "34;1",
            Some(Token::Text) => "0;32",
            _ => "0;39",
        };
        (at, format!("\u{1b}[{colour}m{}\u{1b}[0m", draft.text(at)))
    };
    let places = draft.all(&[Token::Key, Token::Text, Token::Number, Token::Literal]);
    Change::many(places.into_iter().map(coloured).collect())
}
