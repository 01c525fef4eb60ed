//! `Action:` and `Action Input:`, as in the prompt of the ReAct paper.

const LONGEST_NAME: usize = 256;

/// What ends the input of an action. A label may be in bold, with its colon or without it.
pub(super) const STOPS: [&str; 15] = [
    "\nObservation:",
    "\n**Observation:",
    "\n**Observation**:",
    "\nThought:",
    "\n**Thought:",
    "\n**Thought**:",
    "\nAction:",
    "\n**Action:",
    "\n**Action**:",
    "\nFinal Answer:",
    "\n**Final Answer:",
    "\n**Final Answer**:",
    "\nAnswer:",
    "\n**Answer:",
    "\n**Answer**:",
];
/// The labels of a thought, and of what is for the user. What closes the bold is after the colon or
/// before it.
pub(super) const THOUGHTS: [&str; 3] = ["Thought:", "**Thought:**", "**Thought**:"];
pub(super) const ANSWERS: [&str; 6] = [
    "Final Answer:",
    "**Final Answer:**",
    "**Final Answer**:",
    "Answer:",
    "**Answer:**",
    "**Answer**:",
];
/// The label of the input of an action.
pub(super) const INPUT: &str = "Action Input:";
/// With what an action begins.
pub(super) const ACTIONS: [&str; 2] = ["Action", "**Action"];

/// Finds the action at the start of `rest`: its name, and the length up to its input. The outer
/// `None` waits for more.
pub(super) fn open(rest: &[u8], eof: bool) -> Option<Option<(String, usize)>> {
    let mut cursor = Cursor { rest, at: 0, eof };
    if !cursor.label(&["Action"])? {
        return Some(None);
    }
    cursor.skip(|byte| matches!(byte, b' ' | b'\t'));
    let start = cursor.at;
    loop {
        match cursor.peek()? {
            None => return Some(None),
            Some(b'\n') => break,
            Some(_) if cursor.at - start > LONGEST_NAME => return Some(None),
            Some(_) => cursor.at += 1,
        }
    }
    let name = String::from_utf8_lossy(rest.get(start..cursor.at)?).into_owned();
    // Models dress it as a list, or as a call without arguments, or end it like a sentence.
    let name = name.trim().trim_end_matches('.').trim_matches(['"', '\'', '`', '*', '[', ']']);
    let name = name.trim_end_matches("()").to_owned();
    cursor.skip(u8::is_ascii_whitespace);
    if name.is_empty() || !cursor.label(&["Action", "Input"])? {
        return Some(None);
    }
    cursor.skip(|byte| matches!(byte, b' ' | b'\t'));
    Some(Some((name, cursor.at)))
}

struct Cursor<'r> {
    rest: &'r [u8],
    at: usize,
    eof: bool,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<Option<u8>> {
        match self.rest.get(self.at) {
            Some(byte) => Some(Some(*byte)),
            None => self.eof.then_some(None),
        }
    }

    fn skip(&mut self, space: impl Fn(&u8) -> bool) {
        let rest = self.rest.get(self.at..).unwrap_or_default();
        self.at += rest.iter().take(64).take_while(|byte| space(byte)).count();
    }

    /// Reads words, each with a number after it, and a colon. They may be in bold.
    fn label(&mut self, words: &[&str]) -> Option<bool> {
        self.skip(|byte| *byte == b'*');
        for word in words {
            self.skip(|byte| *byte == b' ');
            for expected in word.bytes() {
                if self.peek()? != Some(expected) {
                    return Some(false);
                }
                self.at += 1;
            }
            self.skip(|byte| *byte == b' ' || byte.is_ascii_digit());
        }
        self.skip(|byte| *byte == b'*');
        if self.peek()? != Some(b':') {
            return Some(false);
        }
        self.at += 1;
        self.peek()?;
        self.skip(|byte| *byte == b'*');
        Some(true)
    }
}
