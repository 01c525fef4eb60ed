//! The typed headers of a message.

use core::{fmt, str};

use super::FrameFault;

/// A header: its name and its value, borrowed from the frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Header<'a> {
    /// Its name. The names of the protocol begin with a colon.
    pub name: &'a str,
    /// Its value.
    pub value: HeaderValue<'a>,
}

impl<'a> Header<'a> {
    /// Creates a header.
    #[must_use]
    pub const fn new(name: &'a str, value: HeaderValue<'a>) -> Self {
        Self { name, value }
    }
}

/// The value of a header.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum HeaderValue<'a> {
    /// Types 0 (true) and 1 (false).
    Bool(bool),
    /// Type 2.
    Byte(i8),
    /// Type 6; at most 65,535 bytes.
    Bytes(&'a [u8]),
    /// Type 4.
    Int(i32),
    /// Type 5.
    Long(i64),
    /// Type 3.
    Short(i16),
    /// Type 7; at most 65,535 bytes.
    Str(&'a str),
    /// Type 8: milliseconds since 1970.
    Timestamp(i64),
    /// Type 9.
    Uuid([u8; 16]),
}

impl<'a> HeaderValue<'a> {
    /// The text of a string header.
    #[must_use]
    pub const fn as_str(&self) -> Option<&'a str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }
}

/// The headers of a message, in order.
#[derive(Clone)]
pub struct Headers<'a> {
    rest: &'a [u8],
}

impl<'a> Headers<'a> {
    pub(super) const fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    /// The next header. `Ok(None)` at the end.
    pub(super) fn read(&mut self) -> Result<Option<Header<'a>>, FrameFault> {
        let Some((&length, rest)) = self.rest.split_first() else { return Ok(None) };
        let (name, rest) =
            rest.split_at_checked(usize::from(length)).ok_or(FrameFault::HeaderName)?;
        let name = str::from_utf8(name).map_err(|_| FrameFault::HeaderName)?;
        if name.is_empty() {
            return Err(FrameFault::HeaderName);
        }
        let (&kind, mut rest) = rest.split_first().ok_or(FrameFault::HeaderValue)?;
        let value = match kind {
            0 => HeaderValue::Bool(true),
            1 => HeaderValue::Bool(false),
            2 => HeaderValue::Byte(i8::from_be_bytes(array(&mut rest)?)),
            3 => HeaderValue::Short(i16::from_be_bytes(array(&mut rest)?)),
            4 => HeaderValue::Int(i32::from_be_bytes(array(&mut rest)?)),
            5 => HeaderValue::Long(i64::from_be_bytes(array(&mut rest)?)),
            6 => HeaderValue::Bytes(counted(&mut rest)?),
            7 => HeaderValue::Str(
                str::from_utf8(counted(&mut rest)?).map_err(|_| FrameFault::HeaderValue)?,
            ),
            8 => HeaderValue::Timestamp(i64::from_be_bytes(array(&mut rest)?)),
            9 => HeaderValue::Uuid(array(&mut rest)?),
            other => return Err(FrameFault::HeaderType(other)),
        };
        self.rest = rest;
        Ok(Some(Header { name, value }))
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = Header<'a>;

    fn next(&mut self) -> Option<Header<'a>> {
        self.read().ok().flatten()
    }
}

impl fmt::Debug for Headers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

fn array<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], FrameFault> {
    let (head, tail) = rest.split_first_chunk().ok_or(FrameFault::HeaderValue)?;
    *rest = tail;
    Ok(*head)
}

fn counted<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], FrameFault> {
    let length = usize::from(u16::from_be_bytes(array(rest)?));
    let (value, tail) = rest.split_at_checked(length).ok_or(FrameFault::HeaderValue)?;
    *rest = tail;
    Ok(value)
}

/// Encodes a header. `None` if its name or its value is too long for the format.
pub(super) fn write(header: &Header<'_>, out: &mut Vec<u8>) -> Option<()> {
    let length = u8::try_from(header.name.len()).ok().filter(|length| *length > 0)?;
    out.push(length);
    out.extend_from_slice(header.name.as_bytes());
    match header.value {
        HeaderValue::Bool(value) => out.push(u8::from(!value)),
        HeaderValue::Byte(value) => fixed(2, &value.to_be_bytes(), out),
        HeaderValue::Short(value) => fixed(3, &value.to_be_bytes(), out),
        HeaderValue::Int(value) => fixed(4, &value.to_be_bytes(), out),
        HeaderValue::Long(value) => fixed(5, &value.to_be_bytes(), out),
        HeaderValue::Bytes(value) => sized(6, value, out)?,
        HeaderValue::Str(value) => sized(7, value.as_bytes(), out)?,
        HeaderValue::Timestamp(value) => fixed(8, &value.to_be_bytes(), out),
        HeaderValue::Uuid(value) => fixed(9, &value, out),
    }
    Some(())
}

fn fixed(kind: u8, value: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(value);
}

fn sized(kind: u8, value: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let length = u16::try_from(value.len()).ok()?;
    out.push(kind);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(value);
    Some(())
}
