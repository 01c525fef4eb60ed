//! Chunks in a message.

use std::fmt;

/// How many chunks of a sequence are shown, and how many bytes of each.
const CHUNKS: usize = 40;
const BYTES: usize = 400;

/// Writes chunks as byte strings, one per line. The middle of a long sequence is left out.
pub(super) fn chunks(f: &mut fmt::Formatter<'_>, chunks: &[Vec<u8>]) -> fmt::Result {
    for (number, chunk) in chunks.iter().enumerate() {
        let half = CHUNKS / 2;
        if chunks.len() > CHUNKS && number == half {
            writeln!(f, "  … {} more", chunks.len() - CHUNKS)?;
        }
        if chunks.len() > CHUNKS && (half..chunks.len() - half).contains(&number) {
            continue;
        }
        writeln!(f, "  b\"{}\"", clipped(chunk))?;
    }
    Ok(())
}

fn clipped(bytes: &[u8]) -> String {
    let shown = |bytes: &[u8]| match std::str::from_utf8(bytes) {
        Ok(text) => text.escape_debug().to_string(),
        Err(_) => bytes.escape_ascii().to_string(),
    };
    match (bytes.get(..BYTES / 2), bytes.get(bytes.len().saturating_sub(BYTES / 2)..)) {
        (Some(start), Some(end)) if bytes.len() > BYTES => {
            format!("{} … {} bytes … {}", shown(start), bytes.len() - BYTES, shown(end))
        }
        _ => shown(bytes),
    }
}
