//! Messages with headers, which say whether what follows is text, reasoning or a call.

use super::shape::Frames;

/// The longest header, in bytes.
const LONGEST_HEADER: usize = 512;

/// What follows a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Text,
    /// Text in which no call begins, because it is addressed to the user.
    ForUser,
    Reasoning,
    /// The arguments of a call.
    Call(String),
    /// A call of which the header is not complete, so that it has no arguments.
    Cut(String),
    /// Nothing yet: the message has ended.
    End,
    /// The reasoning has ended that the prompt had begun.
    EndOfReasoning,
}

/// The bytes with which a header may begin, and those that end a message.
pub(super) fn begins(frames: Frames) -> &'static [&'static str] {
    match frames {
        Frames::Harmony => &HARMONY,
        Frames::Muse => &["<|start|>", "to=", " to=", "<|eom|>", "<|eot|>"],
        Frames::Sections => &["<|open|>", "<|close|>"],
        Frames::Inkling => &[
            "<|message_model|>",
            "<|content_text|>",
            "<|content_thinking|>",
            "<|content_invoke_tool_text|>",
            "<|content_tool_error|>",
            "<|end_message|>",
            "<|content_model_end_sampling|>",
        ],
    }
}

const HARMONY: [&str; 7] =
    ["<|start|>", "<|channel|>", "to=", " to=", "<|end|>", "<|call|>", "<|return|>"];
/// What ends the arguments of a call.
pub(super) const HARMONY_ENDS: [&str; 3] = ["<|call|>", "<|end|>", "<|return|>"];
/// What begins the next message, so that it ends them, too.
pub(super) const HARMONY_STARTS: [&str; 2] = ["<|start|>", "<|channel|>"];

/// Reads a header, or the end of a message, at the start of `rest`. `at_start` says that nothing but
/// white space came before, and `seen` that there was a header. The outer `None` waits for more.
pub(super) fn read(
    frames: Frames,
    rest: &[u8],
    at_start: bool,
    seen: bool,
    eof: bool,
) -> Option<Option<(Turn, usize)>> {
    match frames {
        Frames::Harmony => harmony(rest, at_start, seen, eof),
        Frames::Muse => muse(rest, eof),
        Frames::Sections => section(rest, seen, eof),
        Frames::Inkling => inkling(rest, eof),
    }
}

/// Whether `rest` begins with the mark. `None` waits for more.
fn starts(rest: &[u8], mark: &str, eof: bool) -> Option<bool> {
    if rest.starts_with(mark.as_bytes()) {
        return Some(true);
    }
    if mark.as_bytes().starts_with(rest) && !eof { None } else { Some(false) }
}

/// The text before a mark, which must come soon. The outer `None` waits for more.
fn upto<'r>(rest: &'r [u8], mark: &str, eof: bool) -> Option<Option<&'r [u8]>> {
    let window = rest.get(..LONGEST_HEADER + mark.len()).unwrap_or(rest);
    match window.windows(mark.len()).position(|part| part == mark.as_bytes()) {
        Some(at) => Some(rest.get(..at)),
        None if eof || window.len() > LONGEST_HEADER => Some(None),
        None => None,
    }
}

fn recipient(header: &str) -> Option<&str> {
    let (_, after) = header.rsplit_once("to=")?;
    let end = after.find(|c: char| c.is_whitespace() || c == '<').unwrap_or(after.len());
    after.get(..end).filter(|name| !name.is_empty())
}

fn harmony(rest: &[u8], at_start: bool, seen: bool, eof: bool) -> Option<Option<(Turn, usize)>> {
    for end in ["<|end|>", "<|call|>", "<|return|>"] {
        if starts(rest, end, eof)? {
            let turn = if seen || end != "<|end|>" { Turn::End } else { Turn::EndOfReasoning };
            return Some(Some((turn, end.len())));
        }
    }
    let header = starts(rest, "<|start|>", eof)?
        || starts(rest, "<|channel|>", eof)?
        || at_start && (starts(rest, " to=", eof)? || starts(rest, "to=", eof)?);
    if !header {
        return Some(None);
    }
    const MESSAGE: &str = "<|message|>";
    let (text, end) = match harmony_header(rest, MESSAGE, eof)? {
        Some((length, end)) => (rest.get(..length).unwrap_or_default(), end),
        None => return Some(None),
    };
    let header = String::from_utf8_lossy(text);
    if end != HeaderEnd::Message {
        // The name of a tool has arrived, if something follows it.
        let name = recipient(&header).filter(|name| {
            !is_person(name) && (end != HeaderEnd::Input || !header.ends_with(name))
        });
        let Some(name) = name.filter(|_| rest.starts_with(b"<|")) else { return Some(None) };
        let name = name.strip_prefix("functions.").unwrap_or(name).to_owned();
        let turn = if end == HeaderEnd::Bracket { Turn::Call(name) } else { Turn::Cut(name) };
        return Some(Some((turn, text.len())));
    }
    let channel = header.rsplit_once("<|channel|>").map_or("", |(_, after)| after.trim_start());
    let turn = match recipient(&header) {
        Some("assistant" | "user" | "all") | None if channel.starts_with("analysis") => {
            Turn::Reasoning
        }
        // The answer to the user may be JSON that looks like a call.
        Some("assistant" | "user" | "all") | None if channel.starts_with("final") => Turn::ForUser,
        Some("assistant" | "user" | "all") | None => Turn::Text,
        Some(name) => Turn::Call(name.strip_prefix("functions.").unwrap_or(name).to_owned()),
    };
    Some(Some((turn, text.len() + MESSAGE.len())))
}

/// Whether a recipient is no tool.
fn is_person(name: &str) -> bool {
    matches!(name, "assistant" | "user" | "all")
}

/// What ends a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeaderEnd {
    Message,
    /// The marker before the arguments is missing.
    Bracket,
    /// The end of a message, or the beginning of the next.
    Marker,
    Input,
}

/// The length of a header of Harmony, and what ends it. The outer `None` waits for more.
fn harmony_header(rest: &[u8], message: &str, eof: bool) -> Option<Option<(usize, HeaderEnd)>> {
    let window = rest.get(..LONGEST_HEADER + message.len()).unwrap_or(rest);
    let mut channels = usize::from(window.starts_with(b"<|channel|>"));
    for at in 1..window.len() {
        let here = window.get(at..).unwrap_or_default();
        match here.first() {
            Some(b'{') => return Some(Some((at, HeaderEnd::Bracket))),
            Some(b'<') => {}
            _ => continue,
        }
        let over = eof || rest.len() > window.len();
        if starts(here, message, over)? {
            return Some(Some((at, HeaderEnd::Message)));
        }
        let mut ends = HARMONY_ENDS.iter().chain(&HARMONY_STARTS[..1]);
        if ends.try_fold(false, |ends, end| Some(ends || starts(here, end, over)?))? {
            return Some(Some((at, HeaderEnd::Marker)));
        }
        if starts(here, HARMONY_STARTS[1], over)? {
            channels += 1;
            // The header of a call that is addressed to a tool does not name a second channel.
            let header = String::from_utf8_lossy(window.get(..at).unwrap_or_default());
            if channels > 1 && recipient(&header).is_some_and(|name| !is_person(name)) {
                return Some(Some((at, HeaderEnd::Marker)));
            }
        }
    }
    if window.len() > LONGEST_HEADER {
        return Some(None);
    }
    if eof { Some(Some((rest.len(), HeaderEnd::Input))) } else { None }
}

fn muse(rest: &[u8], eof: bool) -> Option<Option<(Turn, usize)>> {
    for end in ["<|eom|>", "<|eot|>"] {
        if starts(rest, end, eof)? {
            return Some(Some((Turn::End, end.len())));
        }
    }
    let start = starts(rest, "<|start|>", eof)?;
    if !start && !starts(rest, "to=", eof)? && !starts(rest, " to=", eof)? {
        return Some(None);
    }
    const MESSAGE: &str = "<|message|>";
    // Without the mark of a message, the header is one word.
    let word =
        rest.iter().skip(1).take_while(|byte| !matches!(byte, b' ' | b'\n' | b'<')).count() + 1;
    if !start {
        if word == rest.len() && !eof && word < LONGEST_HEADER {
            return None;
        }
        if !starts(rest.get(word..).unwrap_or_default(), MESSAGE, eof)? {
            return Some(None);
        }
    }
    let Some(text) = upto(rest, MESSAGE, eof)? else { return Some(None) };
    let header = String::from_utf8_lossy(text);
    if header.contains("<|channel|>") {
        return Some(None);
    }
    let turn = match recipient(&header) {
        Some("self") => Turn::Reasoning,
        Some("user") => Turn::ForUser,
        _ => Turn::Text,
    };
    Some(Some((turn, text.len() + MESSAGE.len())))
}

fn section(rest: &[u8], seen: bool, eof: bool) -> Option<Option<(Turn, usize)>> {
    let open = starts(rest, "<|open|>", eof)?;
    if !open && !starts(rest, "<|close|>", eof)? {
        return Some(None);
    }
    const SEP: &str = "<|sep|>";
    let Some(text) = upto(rest, SEP, eof)? else { return Some(None) };
    let header = String::from_utf8_lossy(text);
    let name = header.split_once("|>").map_or("", |(_, name)| name).trim();
    let turn = match (open, name.split_whitespace().next().unwrap_or_default()) {
        (true, "think") => Turn::Reasoning,
        (true, "call") => return Some(None),
        (false, "think") if !seen => Turn::EndOfReasoning,
        (true, "response" | "tools" | "message") => Turn::Text,
        (false, _) => Turn::End,
        _ => return Some(None),
    };
    Some(Some((turn, text.len() + SEP.len())))
}

/// Whether a closing header of Kimi K3, of this length, is that of a part of a call.
pub(super) fn closes_part(rest: &[u8], length: usize) -> bool {
    let header = String::from_utf8_lossy(rest.get(..length).unwrap_or_default());
    let name = header.strip_prefix("<|close|>").and_then(|after| after.split('<').next());
    name.is_some_and(|name| matches!(name.trim(), "call" | "argument" | "json"))
}

fn inkling(rest: &[u8], eof: bool) -> Option<Option<(Turn, usize)>> {
    if starts(rest, "<|message_model|>", eof)? {
        // The name of a tool may follow; the call repeats it.
        const MARK: &str = "<|message_model|>";
        let after = rest.get(MARK.len()..).unwrap_or_default();
        let Some(name) = upto(after, "<|", eof)? else {
            return Some(Some((Turn::Text, MARK.len())));
        };
        return Some(Some((Turn::Text, MARK.len() + name.len())));
    }
    for (mark, turn) in [
        ("<|content_text|>", Turn::Text),
        ("<|content_thinking|>", Turn::Reasoning),
        // What tools are given and say as bare text is shown.
        ("<|content_invoke_tool_text|>", Turn::Text),
        ("<|content_tool_error|>", Turn::Text),
        ("<|end_message|>", Turn::End),
        ("<|content_model_end_sampling|>", Turn::End),
    ] {
        if starts(rest, mark, eof)? {
            return Some(Some((turn, mark.len())));
        }
    }
    Some(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_say_what_follows() {
        let turn = |frames, text: &str| {
            read(frames, text.as_bytes(), true, true, true).flatten().map(|found| found.0)
        };
        let call = |name: &str| Some(Turn::Call(name.to_owned()));
        let harmony = |text| turn(Frames::Harmony, text);
        assert_eq!(harmony("<|channel|>analysis<|message|>"), Some(Turn::Reasoning));
        assert_eq!(harmony("<|channel|>final<|message|>"), Some(Turn::ForUser));
        assert_eq!(
            harmony(
                "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>"
            ),
            call("f")
        );
        assert_eq!(harmony(" to=functions.f<|channel|>analysis<|message|>"), call("f"));
        assert_eq!(turn(Frames::Muse, " to=self<|message|>"), Some(Turn::Reasoning));
        assert_eq!(turn(Frames::Muse, "to=the shop"), None);
        assert_eq!(turn(Frames::Sections, "<|open|> response <|sep|>"), Some(Turn::Text));
        assert_eq!(turn(Frames::Sections, "<|open|>call tool=\"f\"<|sep|>"), None);
        assert_eq!(read(Frames::Sections, b"<|open|>resp", false, true, false), None);
    }
}
