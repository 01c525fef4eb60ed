//! CRC-32 as defined in ISO 3309, reflected, with the polynomial of zlib and PNG. Eight bytes per step.

use crate::work;

const POLYNOMIAL: u32 = 0xedb8_8320;

/// `TABLES[k][b]` is the checksum of `b` followed by `k` zero bytes.
const TABLES: [[u32; 256]; 8] = {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ POLYNOMIAL } else { value >> 1 };
            bit += 1;
        }
        tables[0][byte] = value;
        byte += 1;
    }
    let mut k = 1;
    while k < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[k - 1][byte];
            tables[k][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        k += 1;
    }
    tables
};

/// The checksum of `bytes`.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    work::count(bytes.len());
    let mut value = u32::MAX;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        let mut next = 0;
        for (at, &byte) in word.iter().enumerate() {
            let mixed = if at < 4 { byte ^ value.to_le_bytes()[at] } else { byte };
            next ^= TABLES[7 - at][usize::from(mixed)];
        }
        value = next;
    }
    for &byte in words.remainder() {
        value = (value >> 8) ^ TABLES[0][usize::from(byte ^ value.to_le_bytes()[0])];
    }
    !value
}

#[cfg(test)]
mod tests {
    use super::checksum;

    /// One bit at a time, as the standard defines it.
    fn by_bits(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(u32::MAX, |value, &byte| {
            (0..8).fold(value ^ u32::from(byte), |value, _| {
                (value >> 1) ^ if value & 1 == 1 { super::POLYNOMIAL } else { 0 }
            })
        })
    }

    #[test]
    fn it_is_the_checksum_of_the_standard() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        let bytes: Vec<u8> = (0..100_u8).map(|byte| byte.wrapping_mul(37)).collect();
        for len in 0..bytes.len() {
            assert_eq!(checksum(&bytes[..len]), by_bits(&bytes[..len]), "{len}");
        }
    }
}
