//! `Action:` and `Action Input:`, as in the prompt of the ReAct paper.

const LONGEST_NAME: usize = 256;

/// What ends the input of an action.
pub(super) const STOPS: [&str; 5] =
    ["\nObservation:", "\nThought:", "\nAction:", "\nFinal Answer:", "\nAnswer:"];
/// The labels of a thought, and of what is for the user.
pub(super) const THOUGHT: &str = "Thought:";
pub(super) const ANSWERS: [&str; 2] = ["Final Answer:", "Answer:"];

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
    let name = name.trim().trim_matches(['"', '\'', '`', '*']).to_owned();
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

    /// Reads words, each with a number after it, and a colon.
    fn label(&mut self, words: &[&str]) -> Option<bool> {
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
        if self.peek()? != Some(b':') {
            return Some(false);
        }
        self.at += 1;
        Some(true)
    }
}
