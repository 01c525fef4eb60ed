//! Python's values of JSON, built without a detour.

use pyo3::{
    prelude::*,
    types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString},
};
use wiremend::{Value, partial::JsonType};

/// Why a text was not read to its end.
enum Stop {
    /// It is no JSON, or has something that only the engine reads: half of a surrogate pair, too many levels.
    Here,
    Error(PyErr),
}

impl From<PyErr> for Stop {
    fn from(error: PyErr) -> Self {
        Self::Error(error)
    }
}

/// The value of a text, if that is valid JSON of at most `depth` levels.
pub(crate) fn read<'py>(
    py: Python<'py>,
    text: &str,
    depth: usize,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let reader = Reader {
        py,
        text,
        bytes: text.as_bytes(),
        at: 0,
        depth,
        open: Vec::new(),
        items: Vec::new(),
        keys: [const { None }; SLOTS],
        decoded: String::new(),
    };
    match reader.read() {
        Ok(value) => Ok(Some(value)),
        Err(Stop::Here) => Ok(None),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// The value of what the engine calls JSON.
pub(crate) fn of_json<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    Ok(read(py, json, usize::MAX)?.unwrap_or_else(|| py.None().into_bound(py)))
}

/// A container that is being read.
enum Open<'py> {
    /// An array, and where its items begin.
    Array(usize),
    /// An object, and the key of the member that is read next.
    Object(Bound<'py, PyDict>, Bound<'py, PyString>),
}

const SLOTS: usize = 64;

/// Longer keys are rarely met again.
const SHORT: usize = 64;

struct Reader<'a, 'py> {
    py: Python<'py>,
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    open: Vec<Open<'py>>,
    /// The items of all arrays that are open.
    items: Vec<Bound<'py, PyAny>>,
    /// Keys that were met, each once: records have the same ones.
    keys: [Option<(&'a [u8], Bound<'py, PyString>)>; SLOTS],
    /// A string with escapes.
    decoded: String,
}

impl<'a, 'py> Reader<'a, 'py> {
    fn read(mut self) -> Result<Bound<'py, PyAny>, Stop> {
        self.skip_space();
        loop {
            let mut value = match self.begin()? {
                Some(value) => value,
                None => continue,
            };
            loop {
                self.skip_space();
                let Some(last) = self.open.last_mut() else {
                    return if self.at == self.bytes.len() { Ok(value) } else { Err(Stop::Here) };
                };
                let next = self.bytes.get(self.at).copied();
                match (last, next) {
                    (Open::Array(_), Some(b',')) => {
                        self.items.push(value);
                        self.at += 1;
                        self.skip_space();
                        break;
                    }
                    (Open::Array(start), Some(b']')) => {
                        let start = *start;
                        self.items.push(value);
                        self.at += 1;
                        value = PyList::new(self.py, self.items.drain(start..))?.into_any();
                        self.open.pop();
                    }
                    (Open::Object(members, key), Some(b',')) => {
                        members.set_item(&*key, value)?;
                        self.at += 1;
                        self.skip_space();
                        let next = self.key()?;
                        if let Some(Open::Object(_, key)) = self.open.last_mut() {
                            *key = next;
                        }
                        break;
                    }
                    (Open::Object(members, key), Some(b'}')) => {
                        members.set_item(&*key, value)?;
                        self.at += 1;
                        value = members.clone().into_any();
                        self.open.pop();
                    }
                    _ => return Err(Stop::Here),
                }
            }
        }
    }

    /// Reads a value that is no container, or an empty one. `None` after the beginning of another.
    #[inline]
    fn begin(&mut self) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        let py = self.py;
        match self.bytes.get(self.at) {
            Some(b'"') => {
                self.at += 1;
                Ok(Some(self.string()?.into_any()))
            }
            Some(b'{') => {
                self.enter()?;
                let members = PyDict::new(py);
                if self.bytes.get(self.at) == Some(&b'}') {
                    self.at += 1;
                    return Ok(Some(members.into_any()));
                }
                let key = self.key()?;
                self.open.push(Open::Object(members, key));
                Ok(None)
            }
            Some(b'[') => {
                self.enter()?;
                if self.bytes.get(self.at) == Some(&b']') {
                    self.at += 1;
                    return Ok(Some(PyList::empty(py).into_any()));
                }
                self.open.push(Open::Array(self.items.len()));
                Ok(None)
            }
            Some(b'-' | b'0'..=b'9') => self.number().map(Some),
            Some(b't') => self.word(b"true", PyBool::new(py, true).to_owned().into_any()),
            Some(b'f') => self.word(b"false", PyBool::new(py, false).to_owned().into_any()),
            Some(b'n') => self.word(b"null", py.None().into_bound(py)),
            _ => Err(Stop::Here),
        }
    }

    fn enter(&mut self) -> Result<(), Stop> {
        if self.open.len() >= self.depth {
            return Err(Stop::Here);
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    fn word(
        &mut self,
        word: &[u8],
        value: Bound<'py, PyAny>,
    ) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        if !self.bytes[self.at..].starts_with(word) {
            return Err(Stop::Here);
        }
        self.at += word.len();
        Ok(Some(value))
    }

    #[inline]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// Reads a key and its colon.
    #[inline]
    fn key(&mut self) -> Result<Bound<'py, PyString>, Stop> {
        if self.bytes.get(self.at) != Some(&b'"') {
            return Err(Stop::Here);
        }
        self.at += 1;
        let start = self.at;
        let end = self.plain_end(start);
        let key = if self.bytes.get(end) == Some(&b'"') && end - start <= SHORT {
            self.at = end + 1;
            let raw = &self.bytes[start..end];
            let slot = &mut self.keys[slot_of(raw)];
            match slot {
                Some((known, key)) if *known == raw => key.clone(),
                _ => {
                    let key = PyString::new(self.py, &self.text[start..end]);
                    *slot = Some((raw, key.clone()));
                    key
                }
            }
        } else {
            self.string()?
        };
        self.skip_space();
        if self.bytes.get(self.at) != Some(&b':') {
            return Err(Stop::Here);
        }
        self.at += 1;
        self.skip_space();
        Ok(key)
    }

    /// Reads a string after its first quote.
    #[inline]
    fn string(&mut self) -> Result<Bound<'py, PyString>, Stop> {
        let start = self.at;
        let end = self.plain_end(start);
        match self.bytes.get(end) {
            Some(b'"') => {
                self.at = end + 1;
                Ok(PyString::new(self.py, &self.text[start..end]))
            }
            Some(b'\\') => self.escaped(start, end),
            _ => Err(Stop::Here),
        }
    }

    /// Reads a string that begins at `start`, and has its first escape at `at`.
    fn escaped(&mut self, start: usize, at: usize) -> Result<Bound<'py, PyString>, Stop> {
        self.decoded.clear();
        self.decoded.push_str(&self.text[start..at]);
        self.at = at;
        loop {
            let start = self.at;
            let end = self.plain_end(start);
            self.decoded.push_str(&self.text[start..end]);
            self.at = end + 1;
            match self.bytes.get(end) {
                Some(b'"') => return Ok(PyString::new(self.py, &self.decoded)),
                Some(b'\\') => {
                    let character = self.escape()?;
                    self.decoded.push(character);
                }
                _ => return Err(Stop::Here),
            }
        }
    }

    /// Reads an escape after its backslash.
    fn escape(&mut self) -> Result<char, Stop> {
        let letter = *self.bytes.get(self.at).ok_or(Stop::Here)?;
        self.at += 1;
        Ok(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.unit()?;
                if !(0xd800..0xdc00).contains(&first) {
                    return char::from_u32(first).ok_or(Stop::Here);
                }
                if self.bytes.get(self.at..self.at + 2) != Some(b"\\u") {
                    return Err(Stop::Here);
                }
                self.at += 2;
                let second = self.unit()?;
                if !(0xdc00..0xe000).contains(&second) {
                    return Err(Stop::Here);
                }
                char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00))
                    .ok_or(Stop::Here)?
            }
            _ => return Err(Stop::Here),
        })
    }

    fn unit(&mut self) -> Result<u32, Stop> {
        let digits = self.bytes.get(self.at..self.at + 4).ok_or(Stop::Here)?;
        self.at += 4;
        digits.iter().try_fold(0, |unit, digit| {
            Ok(unit << 4 | char::from(*digit).to_digit(16).ok_or(Stop::Here)?)
        })
    }

    /// Where plain content of a string ends: at a quote, a backslash, a control character or the end.
    #[inline]
    fn plain_end(&self, start: usize) -> usize {
        const ONES: u64 = 0x0101_0101_0101_0101;
        const HIGH: u64 = 0x8080_8080_8080_8080;
        let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
        let mut at = start;
        while let Some(eight) = self.bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
            let word = u64::from_le_bytes(*eight);
            let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
            let found = zeros(word ^ (ONES * 0x22)) | zeros(word ^ (ONES * 0x5c)) | control;
            if found != 0 {
                return at + found.trailing_zeros() as usize / 8;
            }
            at += 8;
        }
        let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
        let rest = self.bytes.get(at..).unwrap_or_default();
        at + rest.iter().position(special).unwrap_or(rest.len())
    }

    #[inline]
    fn number(&mut self) -> Result<Bound<'py, PyAny>, Stop> {
        let start = self.at;
        self.at += usize::from(self.bytes[start] == b'-');
        let whole = self.digits()?;
        if whole.len() > 1 && whole[0] == b'0' {
            return Err(Stop::Here);
        }
        let mut float = false;
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
            float = true;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            self.at += usize::from(matches!(self.bytes.get(self.at), Some(b'+' | b'-')));
            self.digits()?;
            float = true;
        }
        Ok(number(self.py, &self.text[start..self.at], float)?)
    }

    #[inline]
    fn digits(&mut self) -> Result<&'a [u8], Stop> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        if length == 0 {
            return Err(Stop::Here);
        }
        self.at += length;
        Ok(&rest[..length])
    }
}

/// The slot of a key.
#[inline]
fn slot_of(key: &[u8]) -> usize {
    let (first, last) = match key {
        [first, .., last] => (*first, *last),
        [only] => (*only, *only),
        [] => (0, 0),
    };
    let middle = key.get(key.len() / 2).copied().unwrap_or_default();
    let mixed = usize::from(first) ^ usize::from(middle) << 2 ^ usize::from(last) << 4;
    (mixed ^ key.len() << 1) % SLOTS
}

/// The value of a number, as written.
#[inline]
fn number<'py>(py: Python<'py>, text: &str, float: bool) -> PyResult<Bound<'py, PyAny>> {
    if float {
        // The grammar of JSON is within that of Rust; a number beyond all floats is an infinity, as in `json`.
        return Ok(PyFloat::new(py, text.parse().unwrap_or(f64::NAN)).into_any());
    }
    if text.len() <= 18 {
        let number: i64 = text.parse().unwrap_or_default();
        return Ok(number.into_pyobject(py)?.into_any());
    }
    // As long as the interpreter allows.
    py.get_type::<PyInt>().call1((text,))
}

/// Builds a value that is still growing. What is open in it is shown as far as it has arrived.
pub(crate) fn build<'py>(py: Python<'py>, root: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    enum Container<'py> {
        List(Bound<'py, PyList>),
        Dict(Bound<'py, PyDict>),
    }
    let mut open: Vec<(Container<'py>, Box<dyn Iterator<Item = Value<'_>> + '_>)> = Vec::new();
    let mut value = root;
    loop {
        let built = match value.kind() {
            JsonType::Array => {
                let list = PyList::empty(py);
                open.push((Container::List(list.clone()), Box::new(value.children())));
                list.into_any()
            }
            JsonType::Object => {
                let dict = PyDict::new(py);
                open.push((Container::Dict(dict.clone()), Box::new(value.children())));
                dict.into_any()
            }
            JsonType::Boolean => {
                PyBool::new(py, value.as_bool() == Some(true)).to_owned().into_any()
            }
            JsonType::Null => py.None().into_bound(py),
            JsonType::Number => {
                let text = value.as_number().unwrap_or_default();
                number(py, text, text.contains(['.', 'e', 'E']))?
            }
            JsonType::String => PyString::new(py, value.as_str().unwrap_or_default()).into_any(),
        };
        let nested = usize::from(value.kind().is_container());
        // A container was pushed after the one that it belongs to.
        let around = open.len().checked_sub(1 + nested).and_then(|at| open.get(at));
        match around {
            Some((Container::List(list), _)) => list.append(&built)?,
            Some((Container::Dict(dict), _)) => {
                dict.set_item(value.key().unwrap_or_default(), &built)?;
            }
            None if nested == 0 => return Ok(built),
            None => {}
        }
        value = loop {
            let Some((container, children)) = open.last_mut() else { return Ok(built) };
            if let Some(child) = children.next() {
                break child;
            }
            let closed = match container {
                Container::List(list) => list.clone().into_any(),
                Container::Dict(dict) => dict.clone().into_any(),
            };
            open.pop();
            if open.is_empty() {
                return Ok(closed);
            }
        };
    }
}
