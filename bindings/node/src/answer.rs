//! The answer to an operation: JSON, and bytes that follow it.

use serde::Serialize;

#[derive(Default)]
pub(crate) struct Answer {
    bytes: Vec<u8>,
    head: usize,
}

impl Answer {
    pub(crate) fn clear(&mut self, kept: usize) {
        if self.bytes.capacity() > kept {
            self.bytes = Vec::new();
        }
        self.bytes.clear();
        self.head = 0;
    }

    /// Writes the JSON. It comes before the bytes.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), String> {
        serde_json::to_writer(&mut self.bytes, value).map_err(|error| error.to_string())?;
        self.head = self.bytes.len();
        Ok(())
    }

    /// Adds bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn fail(&mut self, message: &str) {
        self.bytes.clear();
        self.push(message.as_bytes());
    }

    pub(crate) const fn head(&self) -> usize {
        self.head
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
