//! JSON values one after another, or as the items of one array.

use super::{Frame, Framing, Sink};
use crate::{json::Balance, utf8};

/// Cuts a body into its JSON values by counting brackets.
#[derive(Clone, Debug)]
pub(super) struct Values {
    /// The values are items: commas and the outer brackets stand between them.
    array: bool,
    limit: usize,
    balance: Balance,
    /// The value that is open, as far as earlier chunks held it.
    open: Vec<u8>,
    inside: bool,
    /// The value that is open passed the limit.
    skip: bool,
    /// Text between values.
    stray: Vec<u8>,
    count: usize,
    /// Bytes of all chunks before the present one.
    base: u64,
}

impl Values {
    pub(super) fn new(array: bool, limit: usize) -> Self {
        Self {
            array,
            limit,
            balance: Balance::default(),
            open: Vec::new(),
            inside: false,
            skip: false,
            stray: Vec::new(),
            count: 0,
            base: 0,
        }
    }

    pub(super) fn push(&mut self, chunk: &[u8], sink: Sink<'_>) {
        let mut rest = chunk;
        while !rest.is_empty() {
            let at = self.base + (chunk.len() - rest.len()) as u64;
            if !self.inside {
                let Some(found) = self.skip_between(rest, at, sink) else { break };
                rest = &rest[found..];
                self.begin(at + found as u64, sink);
            }
            let end = self.balance.advance(rest);
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            rest = after;
            let at = self.base + (chunk.len() - rest.len()) as u64;
            if !self.skip && self.open.len() + part.len() > self.limit {
                self.skip = true;
                self.open.clear();
                sink(Frame::Oversize { limit: self.limit }, at);
            }
            match (self.skip, end) {
                (true, None) => {}
                (true, Some(_)) => self.inside = false,
                (false, None) => self.open.extend_from_slice(part),
                (false, Some(_)) if self.open.is_empty() => {
                    self.inside = false;
                    payload(part, true, at, sink);
                }
                (false, Some(_)) => {
                    self.inside = false;
                    self.open.extend_from_slice(part);
                    payload(&self.open, true, at, sink);
                    self.open.clear();
                }
            }
        }
        self.base += chunk.len() as u64;
    }

    pub(super) fn finish(&mut self, sink: Sink<'_>) {
        if self.inside && !self.skip {
            payload(&self.open, false, self.base, sink);
        }
        self.inside = false;
        self.open.clear();
        self.flush_stray(self.base, sink);
    }

    /// A value begins at `start` of the stream.
    fn begin(&mut self, start: u64, sink: Sink<'_>) {
        self.flush_stray(start, sink);
        self.balance = Balance::default();
        self.inside = true;
        self.skip = false;
        self.count += 1;
        if self.count == 2 && !self.array {
            sink(Frame::Framing(Framing::Ndjson), start);
        }
    }

    /// Where the next value begins in `rest`, if it does; `rest` stands at `start` of the stream.
    fn skip_between(&mut self, rest: &[u8], start: u64, sink: Sink<'_>) -> Option<usize> {
        for (at, &byte) in rest.iter().enumerate() {
            match byte {
                b'{' => return Some(at),
                b'\n' | b'\r' => self.flush_stray(start + at as u64, sink),
                b'[' | b']' | b',' if self.array => {}
                b'[' => return Some(at),
                // White space, and what a byte order mark is made of.
                b' ' | b'\t' | 0xef | 0xbb | 0xbf if self.stray.is_empty() => {}
                _ if self.stray.len() < self.limit => self.stray.push(byte),
                _ => {}
            }
        }
        None
    }

    fn flush_stray(&mut self, end: u64, sink: Sink<'_>) {
        if !self.stray.is_empty() {
            sink(Frame::Stray(utf8::text(&self.stray)), end);
            self.stray.clear();
        }
    }
}

fn payload(text: &[u8], whole: bool, end: u64, sink: Sink<'_>) {
    sink(Frame::Payload { event: "".into(), data: utf8::text(text), whole }, end);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(array: bool, limit: usize, chunks: &[&[u8]]) -> Vec<String> {
        let mut values = Values::new(array, limit);
        let mut seen = Vec::new();
        let mut sink = |frame: Frame<'_>, _: u64| {
            seen.push(match frame {
                Frame::Payload { data, whole, .. } => {
                    format!("{data}{}", if whole { "" } else { "~" })
                }
                other => format!("{other:?}"),
            });
        };
        for chunk in chunks {
            values.push(chunk, &mut sink);
        }
        values.finish(&mut sink);
        seen
    }

    #[test]
    fn values_come_out_at_every_cut() {
        let cases: [(bool, &str, &[&str]); 4] = [
            (
                false,
                "{\"a\":\"}\"}\n{\"b\":[]}\n",
                &["{\"a\":\"}\"}", "Framing(Ndjson)", "{\"b\":[]}"],
            ),
            (false, "{\n \"a\": {\"b\"", &["{\n \"a\": {\"b\"~"]),
            (true, "[{\"a\":1}\n,\r\n{\"b\":2}]", &["{\"a\":1}", "{\"b\":2}"]),
            (false, "{}\noops\n{}", &["{}", "Stray(\"oops\")", "Framing(Ndjson)", "{}"]),
        ];
        for (array, text, want) in cases {
            for at in 0..=text.len() {
                let (head, tail) = text.as_bytes().split_at(at);
                assert_eq!(cut(array, 100, &[head, tail]), want, "{at}");
            }
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(cut(array, 100, &bytes), want);
        }
    }

    #[test]
    fn a_value_past_the_limit_is_dropped_and_the_next_is_read() {
        let text = b"{\"a\":\"0123456789\"}{\"b\":1}";
        for at in 0..=text.len() {
            let (head, tail) = text.split_at(at);
            let seen = cut(true, 10, &[head, tail]);
            assert_eq!(seen, ["Oversize { limit: 10 }", "{\"b\":1}"], "{at}");
        }
    }
}
