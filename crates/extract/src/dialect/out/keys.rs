//! Keys that come twice in the arguments of a call: it is not known which of their values is meant.

/// How many keys are compared, and how long they are at most, in bytes.
const MOST: usize = 256;

/// The keys of the arguments of the open call.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Whether a string that begins is a key.
    expected: bool,
    key: Option<Vec<u8>>,
    seen: Vec<Vec<u8>>,
}

impl Keys {
    /// Reads a part of the arguments. Returns whether a key ends in it that was there before.
    pub(super) fn read(&mut self, json: &[u8]) -> bool {
        let mut repeats = false;
        for &byte in json {
            if self.in_string {
                repeats |= self.string_byte(byte);
                continue;
            }
            match byte {
                b'"' => {
                    self.in_string = true;
                    if std::mem::take(&mut self.expected) {
                        self.key = Some(Vec::new());
                    }
                }
                b'{' | b'[' => {
                    self.depth += 1;
                    self.expected = self.depth == 1 && byte == b'{';
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                b',' => self.expected = self.depth == 1,
                _ => {}
            }
        }
        repeats
    }

    fn string_byte(&mut self, byte: u8) -> bool {
        let ends = byte == b'"' && !self.escaped;
        self.escaped = byte == b'\\' && !self.escaped;
        if !ends {
            if let Some(key) = &mut self.key
                && key.len() < MOST
            {
                key.push(byte);
            }
            return false;
        }
        self.in_string = false;
        let Some(key) = self.key.take() else { return false };
        let repeats = self.seen.contains(&key);
        if !repeats && self.seen.len() < MOST && key.len() < MOST {
            self.seen.push(key);
        }
        repeats
    }
}
