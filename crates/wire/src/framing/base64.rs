//! Base64 as defined in RFC 4648, section 4: the standard alphabet, padded.

use crate::work;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Marks a byte that is not a digit.
const NONE: u8 = 64;

const DIGITS: [u8; 256] = {
    let mut digits = [NONE; 256];
    let mut at = 0;
    while at < 64 {
        digits[ALPHABET[at] as usize] = at as u8;
        at += 1;
    }
    digits
};

/// Decodes a text. Padding is optional. `None` if it is not base64.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    work::count(text.len());
    let digits = text.trim_end_matches('=').as_bytes();
    let mut out = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for group in digits.chunks(4) {
        let mut bits = 0_u32;
        for &digit in group {
            let digit = DIGITS[usize::from(digit)];
            if digit == NONE {
                return None;
            }
            bits = bits << 6 | u32::from(digit);
        }
        let [_, first, second, third] = (bits << (6 * (4 - group.len()))).to_be_bytes();
        match group.len() {
            4 => out.extend_from_slice(&[first, second, third]),
            3 => out.extend_from_slice(&[first, second]),
            2 => out.push(first),
            _ => return None,
        }
    }
    Some(out)
}

/// Encodes bytes.
pub(super) fn encode(bytes: &[u8], out: &mut String) {
    work::count(bytes.len());
    for group in bytes.chunks(3) {
        let mut three = [0; 3];
        three[..group.len()].copy_from_slice(group);
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        for place in 0..4 {
            let digit = (bits >> (18 - 6 * place)) & 63;
            let shown = place <= group.len();
            out.push(if shown { char::from(ALPHABET[digit as usize]) } else { '=' });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors of RFC 4648, section 10.
    const VECTORS: [(&str, &str); 7] = [
        ("", ""),
        ("f", "Zg=="),
        ("fo", "Zm8="),
        ("foo", "Zm9v"),
        ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ];

    #[test]
    fn the_vectors_hold_both_ways() {
        for (plain, coded) in VECTORS {
            let mut out = String::new();
            encode(plain.as_bytes(), &mut out);
            assert_eq!(out, coded);
            assert_eq!(decode(coded).unwrap(), plain.as_bytes());
            assert_eq!(decode(coded.trim_end_matches('=')).unwrap(), plain.as_bytes());
        }
    }

    #[test]
    fn every_byte_survives() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut out = String::new();
        encode(&bytes, &mut out);
        assert_eq!(decode(&out).unwrap(), bytes);
    }

    #[test]
    fn what_is_no_base64_is_refused() {
        for text in ["a", "Zm9v!", "Zm 9", "Zm9vY", "=Zm9", "Zm9-"] {
            assert!(decode(text).is_none(), "{text}");
        }
    }
}
