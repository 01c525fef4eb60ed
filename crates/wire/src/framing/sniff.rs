//! Detects the framing from the first bytes.

use super::Framing;
use crate::{sse::is_field_name, work};

/// A body whose framing is still open after that many bytes is text.
const ENOUGH: usize = 64;

/// The framing, once the bytes determine it. `last`: no more bytes follow.
pub(super) fn sniff(head: &[u8], last: bool) -> Option<Framing> {
    work::count(head.len());
    let text = start(head);
    let (&first, _) = text.split_first()?;
    match first {
        b'{' => return Some(Framing::Json),
        b'[' => return Some(Framing::JsonArray),
        b'<' => return Some(Framing::Html),
        b':' => return Some(Framing::Sse),
        // Frames are far shorter than 16 MiB, so the first byte of the length is zero.
        0 => return Some(Framing::EventStream),
        0xef if !last && text.len() < 3 => return None,
        _ => {}
    }
    let end = text.iter().position(|byte| matches!(byte, b':' | b'\n' | b'\r'));
    let name = &text[..end.unwrap_or(text.len())];
    let colon = end.is_some_and(|end| text[end] == b':');
    if !is_field_name(name) {
        return Some(Framing::Text);
    }
    let known = matches!(name, b"data" | b"event" | b"id" | b"retry");
    match end {
        Some(_) if known || colon => Some(Framing::Sse),
        None if !last && text.len() < ENOUGH => None,
        None if known => Some(Framing::Sse),
        _ => Some(Framing::Text),
    }
}

/// Drops bytes that do not matter, so that the head stays short.
pub(super) fn trim(head: &mut Vec<u8>) {
    let skipped = head.len() - start(head).len();
    head.drain(..skipped);
}

/// The head after byte order marks and white space, which every framing ignores.
pub(super) fn start(head: &[u8]) -> &[u8] {
    let mut text = head;
    loop {
        let trimmed = text.trim_ascii_start();
        let after = trimmed.strip_prefix(b"\xef\xbb\xbf").unwrap_or(trimmed);
        if after.len() == text.len() {
            return text;
        }
        text = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_determine_the_framing() {
        for (head, want) in [
            ("data: {}", Framing::Sse),
            ("\u{feff}\r\n event:x", Framing::Sse),
            (": hi", Framing::Sse),
            ("error: {\"code\":1}", Framing::Sse),
            ("data\n", Framing::Sse),
            ("{\"a\"", Framing::Json),
            ("\n[{", Framing::JsonArray),
            ("<!doctype html>", Framing::Html),
            ("upstream connect error: reset", Framing::Text),
            ("Unauthorized\n", Framing::Text),
            ("\0\0\u{1}", Framing::EventStream),
        ] {
            let at = (1..=head.len()).find_map(|n| sniff(&head.as_bytes()[..n], false));
            assert_eq!(at, Some(want), "{head:?}");
        }
        assert_eq!(sniff(b"data", false), None);
        assert_eq!(sniff(b"data", true), Some(Framing::Sse));
        assert_eq!(sniff(b"Forbidden", true), Some(Framing::Text));
        assert_eq!(sniff(b" \n", true), None);
    }
}
