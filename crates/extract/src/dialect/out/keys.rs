//! The keys of the arguments of a call: one that comes twice, and one that is in an object of another although
//! it belongs next to it.

use wiremend_core::Member;

use crate::dialect::tools::Tool;

/// How many bytes of keys are kept.
const MOST: usize = 4096;
/// What is between two keys. No key of mended JSON has such a byte in it.
const END: u8 = b'\n';

/// The keys of the arguments of the open call.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Whether a string that begins is a key.
    expected: bool,
    in_key: bool,
    key: Vec<u8>,
    /// The keys of the arguments.
    outer: Vec<u8>,
    /// The keys of the objects in them, each with the key of that object before it.
    inner: Vec<u8>,
    /// Where the last key of the arguments begins.
    last: usize,
}

impl Keys {
    /// Begins with the arguments of another call.
    pub(super) fn reset(&mut self) {
        (self.depth, self.last) = (0, 0);
        (self.in_string, self.escaped, self.expected, self.in_key) = (false, false, false, false);
        self.key.clear();
        self.outer.clear();
        self.inner.clear();
    }

    /// Reads a part of the arguments. Returns whether a key ends in it that was there before.
    pub(super) fn read(&mut self, json: &[u8]) -> bool {
        let mut repeats = false;
        for &byte in json {
            if self.in_string {
                self.string_byte(byte);
                continue;
            }
            match byte {
                b'"' => {
                    self.in_string = true;
                    self.in_key = std::mem::take(&mut self.expected);
                    self.key.clear();
                }
                b'{' | b'[' => {
                    self.depth += 1;
                    self.expected = self.depth <= 2 && byte == b'{';
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                // In a list, no string is followed by a colon, so none is a key.
                b',' => self.expected = self.depth <= 2,
                b':' if self.in_key => {
                    self.in_key = false;
                    repeats |= self.key_ended();
                }
                _ => {}
            }
        }
        repeats
    }

    fn string_byte(&mut self, byte: u8) {
        let ends = byte == b'"' && !self.escaped;
        self.escaped = byte == b'\\' && !self.escaped;
        self.in_string = !ends;
        if self.in_key && !ends && self.key.len() < MOST {
            self.key.push(byte);
        }
    }

    fn key_ended(&mut self) -> bool {
        let repeats = self.depth == 1 && self.has(&self.key);
        let room = self.outer.len() + self.inner.len() + self.key.len() < MOST;
        if room && self.depth == 1 && !repeats {
            self.last = self.outer.len();
            self.outer.extend_from_slice(&self.key);
            self.outer.push(END);
        } else if room && self.depth == 2 {
            let object = self.outer.get(self.last..).unwrap_or_default();
            self.inner.extend_from_slice(object);
            self.inner.extend_from_slice(&self.key);
            self.inner.push(END);
        }
        repeats
    }

    fn has(&self, key: &[u8]) -> bool {
        self.outer.split(|byte| *byte == END).any(|own| own == key)
    }

    /// Whether an object in the arguments has a key that its schema does not have, and the tool has: it may
    /// have lacked its bracket.
    pub(super) fn is_misplaced(&self, tool: &Tool) -> bool {
        let mut keys = self.inner.split(|byte| *byte == END);
        while let (Some(object), Some(key)) = (keys.next(), keys.next()) {
            let [Ok(object), Ok(name)] = [object, key].map(std::str::from_utf8) else { continue };
            let guide = tool.parameter(object);
            let declared =
                guide.is_some_and(|guide| matches!(guide.member(name), Member::Declared(_)));
            if tool.has(name) && !declared && !self.has(key) {
                return true;
            }
        }
        false
    }
}
