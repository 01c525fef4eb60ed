//! A body as a sequence of events.

use serde::de::IgnoredAny;

/// The events of a body, as they are framed: server-sent events, lines, frames, or the items of an
/// array. A body of another kind is one event.
///
/// Nothing is decoded, so any bytes have events, and those of a body in order are the body.
///
/// ```
/// use wiremend_testkit::transport::Events;
///
/// let events = Events::of(b"[{\"n\": 1},\r\n{\"n\": 2},\r\n{\"n\": 3}]");
/// assert_eq!(events.len(), 3);
/// assert_eq!(events.body_of(&[2, 0]), b"[{\"n\": 3},\r\n{\"n\": 1}]");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Events<'a> {
    /// What comes before the first event.
    head: &'a [u8],
    events: Vec<&'a [u8]>,
    /// What separates two items of an array. Other events bring their ends with them.
    between: Vec<&'a [u8]>,
    /// What comes after the last event.
    tail: &'a [u8],
}

impl<'a> Events<'a> {
    /// Divides a body into its events.
    #[must_use]
    pub fn of(body: &'a [u8]) -> Self {
        let text = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
        match text.trim_ascii_start().first() {
            _ if body.first() == Some(&0) => Self::ended(body, frame_len),
            Some(b'[') => Self::array(body),
            Some(b'{') if !is_lines(text) => Self::ended(body, <[u8]>::len),
            Some(b'{') => Self::ended(body, line_len),
            Some(_) => Self::ended(body, event_len),
            None => Self { head: body, events: Vec::new(), between: Vec::new(), tail: b"" },
        }
    }

    /// Events that bring their ends with them; `len` says how long the first one is.
    fn ended(body: &'a [u8], len: impl Fn(&[u8]) -> usize) -> Self {
        let mut events = Vec::new();
        let mut rest = body;
        while !rest.is_empty() {
            let (event, after) = rest.split_at(len(rest).clamp(1, rest.len()));
            events.push(event);
            rest = after;
        }
        Self { head: b"", events, between: Vec::new(), tail: b"" }
    }

    fn array(body: &'a [u8]) -> Self {
        let part = |from: usize, to: usize| body.get(from..to).unwrap_or_default();
        let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
        let mut events = Vec::new();
        let mut between = Vec::new();
        // Where the separator before the current item starts, and where the item itself does.
        let (mut gap, mut start) = (0, None);
        let mut end = 0;
        for (at, &byte) in body.iter().enumerate() {
            let opens = !in_string && matches!(byte, b'[' | b'{');
            if depth == 1
                && start.is_none()
                && !matches!(byte, b' ' | b'\r' | b'\n' | b'\t' | b',' | b']')
            {
                start = Some(at);
                between.push(part(gap, at));
            }
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = in_string,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ if opens => depth += 1,
                _ => {}
            }
            let over = depth == 0 || (depth == 1 && !in_string && byte == b',');
            if let (true, Some(from)) = (over, start) {
                end = from + part(from, at).trim_ascii_end().len();
                events.push(part(from, end));
                gap = end;
                start = None;
            }
            if depth == 0 && (byte == b']' || byte == b'}') {
                break;
            }
        }
        if let Some(from) = start {
            end = body.len();
            events.push(part(from, end));
        }
        let head = if between.is_empty() { body } else { between.remove(0) };
        let tail = if events.is_empty() { b"" } else { part(end, body.len()) };
        Self { head, events, between, tail }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The bytes of each.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        self.events.iter().copied()
    }

    /// A body of the events with those numbers, in that order. Numbers without an event are skipped.
    #[must_use]
    pub fn body_of(&self, numbers: &[usize]) -> Vec<u8> {
        let mut out = self.head.to_vec();
        let events = numbers.iter().filter_map(|number| self.events.get(*number));
        for (place, event) in events.enumerate() {
            if let Some(place) = place.checked_sub(1) {
                let between = self.between.get(place).or(self.between.last());
                // An array of one item has no separator to copy.
                let between = between.copied().unwrap_or(if self.is_array() { b"," } else { b"" });
                out.extend_from_slice(between);
            }
            out.extend_from_slice(event);
        }
        out.extend_from_slice(self.tail);
        out
    }

    /// The offset in the body at which each event ends.
    #[must_use]
    pub fn ends(&self) -> Vec<usize> {
        let mut at = self.head.len();
        let mut between = self.between.iter();
        let ends = self.events.iter().map(|event| {
            let end = at + event.len();
            at = end + between.next().map_or(0, |between| between.len());
            end
        });
        ends.collect()
    }

    fn is_array(&self) -> bool {
        self.head.trim_ascii_end().ends_with(b"[")
    }
}

/// Whether the first line is a JSON value, so that there is one on each.
fn is_lines(body: &[u8]) -> bool {
    let line = body.get(..line_len(body)).unwrap_or(body);
    serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

fn line_len(rest: &[u8]) -> usize {
    rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1)
}

/// Up to the blank lines that end a server-sent event.
fn event_len(rest: &[u8]) -> usize {
    let mut at = 0;
    let (mut blank, mut said) = (true, false);
    while let Some(&byte) = rest.get(at) {
        let is_end = matches!(byte, b'\n' | b'\r');
        at += if rest.get(at..).is_some_and(|rest| rest.starts_with(b"\r\n")) { 2 } else { 1 };
        if is_end && blank && said {
            let more = rest.get(at..).unwrap_or_default();
            return at + more.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        }
        said |= !is_end;
        blank = is_end;
    }
    at
}

/// The length that a frame states; what is no whole frame is the rest.
fn frame_len(rest: &[u8]) -> usize {
    let length = rest.first_chunk::<4>().map(|length| u32::from_be_bytes(*length));
    length.and_then(|length| usize::try_from(length).ok()).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Seed, bodies::Shape};

    fn whole(body: &[u8]) -> Vec<u8> {
        let events = Events::of(body);
        events.body_of(&(0..events.len()).collect::<Vec<_>>())
    }

    #[test]
    fn the_events_of_any_bytes_are_the_bytes() {
        const SIGNS: &[u8] = b"[]{},:\"\\\r\n \0\x01ad\xff";
        let mut seed = Seed::new(3);
        for length in 0..400 {
            let bytes: Vec<u8> =
                (0..length % 40).filter_map(|_| seed.pick(SIGNS).copied()).collect();
            assert_eq!(whole(&bytes), bytes, "{}", bytes.escape_ascii());
            let events = Events::of(&bytes);
            let ends = events.ends();
            for (event, end) in events.iter().zip(&ends) {
                assert_eq!(&bytes[end - event.len()..*end], event, "{}", bytes.escape_ascii());
            }
        }
    }

    #[test]
    fn every_shape_has_its_events() {
        for shape in Shape::ALL {
            let body = shape.body(&["so ", "far"], &[&["{\"a\"", ": 1}"]]);
            let events = Events::of(&body);
            assert_eq!(whole(&body), body, "{shape:?}");
            assert_eq!(events.len() == 1, shape == Shape::ChatBody, "{shape:?}: {events:?}");
        }
    }

    #[test]
    fn line_ends_of_every_kind_end_an_event() {
        for end in ["\n", "\r\n", "\r"] {
            let body =
                format!("data: 1{end}{end}: x{end}event: a{end}data: 2{end}{end}{end}data: 3");
            let events = Events::of(body.as_bytes());
            assert_eq!(events.len(), 3, "{end:?}: {events:?}");
            assert_eq!(events.body_of(&[2]), b"data: 3");
        }
    }

    #[test]
    fn items_of_an_array_keep_their_separators() {
        let events = Events::of(b"[\n 1, \"a,]\\\"\" ,{\"b\": [2, 3]}\n]\n");
        let items: Vec<&[u8]> = events.iter().collect();
        assert_eq!(items, [&b"1"[..], b"\"a,]\\\"\"", b"{\"b\": [2, 3]}"]);
        assert_eq!(events.body_of(&[2]), b"[\n {\"b\": [2, 3]}\n]\n");
        assert_eq!(events.body_of(&[0, 0]), b"[\n 1, 1\n]\n");
        assert_eq!(Events::of(b"[1]").body_of(&[0, 0]), b"[1,1]");
        assert_eq!(whole(b"[]"), b"[]");
    }
}
