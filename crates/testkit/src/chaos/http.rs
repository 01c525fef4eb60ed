//! As much of HTTP/1.1 as a client of a provider needs.

use std::io::{self, Read, Write};

use wiremend_wire::Framing;

use crate::bodies::Shape;

/// The longest head of a request, and the longest body, in bytes. What is longer is refused.
const HEAD: usize = 64 << 10;
const BODY: usize = 16 << 20;

/// What a client asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// The path, without what follows a question mark.
    pub(super) path: String,
    /// What follows it: pairs of names and values.
    pub(super) query: Vec<(String, String)>,
}

impl Request {
    /// Reads a request and its body. `Ok(None)` if it is no request, or too long.
    pub(super) fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let mut text = Vec::new();
        let mut buffer = [0; 4096];
        let head = loop {
            if let Some(at) = text.windows(4).position(|end| end == b"\r\n\r\n") {
                break at;
            }
            let count = from.read(&mut buffer)?;
            if count == 0 || text.len() > HEAD {
                return Ok(None);
            }
            text.extend_from_slice(buffer.get(..count).unwrap_or_default());
        };
        let lines = String::from_utf8_lossy(text.get(..head).unwrap_or_default()).into_owned();
        let mut lines = lines.split("\r\n");
        let Some(target) = lines.next().and_then(|line| line.split(' ').nth(1)) else {
            return Ok(None);
        };
        let mut left = 0;
        let mut expects = false;
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            if name.eq_ignore_ascii_case("content-length") {
                let Some(length) = value.trim().parse().ok().filter(|len| *len <= BODY) else {
                    return Ok(None);
                };
                left = length;
            }
            expects |= name.eq_ignore_ascii_case("transfer-encoding");
        }
        if expects {
            return Ok(None);
        }
        left = left.saturating_sub(text.len() - head - 4);
        // What the client wants said is read and forgotten.
        while left > 0 {
            let most = left.min(buffer.len());
            let count = from.read(buffer.get_mut(..most).unwrap_or_default())?;
            if count == 0 {
                return Ok(None);
            }
            left -= count;
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let query = pairs.map(|(name, value)| (decoded(name), decoded(value))).collect();
        Ok(Some(Self { path: path.to_owned(), query }))
    }

    pub(super) fn asked(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The shape that a provider answers in at that path.
    pub(super) fn shape(&self) -> Option<Shape> {
        const PATHS: [(&str, Shape); 14] = [
            ("/chat/completions", Shape::Chat),
            ("/completions", Shape::Completions),
            ("/responses", Shape::Responses),
            ("/runs", Shape::Assistants),
            ("/messages", Shape::Anthropic),
            ("/complete", Shape::AnthropicComplete),
            ("/interactions", Shape::Interactions),
            ("/v2/chat", Shape::CohereV2),
            ("/v1/chat", Shape::CohereV1),
            ("/api/chat", Shape::Ollama),
            ("/api/generate", Shape::OllamaGenerate),
            ("/generate_stream", Shape::Tgi),
            ("/converse-stream", Shape::Converse),
            ("/invoke-with-response-stream", Shape::AnthropicChunks),
        ];
        if self.path.ends_with(":streamGenerateContent") {
            let events = self.asked("alt") == Some("sse");
            return Some(if events { Shape::Gemini } else { Shape::GeminiArray });
        }
        PATHS.iter().find(|(end, _)| self.path.ends_with(end)).map(|(_, shape)| *shape)
    }
}

/// The text that was written with `%20` and `+`.
fn decoded(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        rest = after;
        match (byte, value) {
            (b'%', Some(value)) => {
                out.push(value);
                rest = after.get(2..).unwrap_or_default();
            }
            (b'+', _) => out.push(b' '),
            _ => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Starts a response with that body, in chunks.
pub(super) fn write_head(to: &mut impl Write, shape: Shape, headers: &str) -> io::Result<()> {
    let kind = match shape.framing() {
        Framing::Sse => "text/event-stream",
        Framing::Ndjson => "application/x-ndjson",
        Framing::EventStream => "application/vnd.amazon.eventstream",
        _ => "application/json",
    };
    write!(
        to,
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\
         connection: close\r\ncache-control: no-store\r\n{headers}\r\n"
    )?;
    to.flush()
}

/// A chunk of the body.
pub(super) fn write_chunk(to: &mut impl Write, chunk: &[u8]) -> io::Result<()> {
    let head = format!("{:x}\r\n", chunk.len());
    to.write_all(&[head.as_bytes(), chunk, b"\r\n"].concat())?;
    to.flush()
}

/// The end of the body. Without it, a client knows that the connection broke.
pub(super) fn write_end(to: &mut impl Write) -> io::Result<()> {
    to.write_all(b"0\r\n\r\n")?;
    to.flush()
}

/// A response to what is no request that this server answers.
pub(super) fn refuse(to: &mut impl Write, why: &str) -> io::Result<()> {
    let length = why.len();
    write!(
        to,
        "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{why}"
    )?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Option<Request> {
        Request::read(&mut &*text).unwrap()
    }

    #[test]
    fn requests_are_read() {
        let request = read(b"POST /v1/x?seed=7&scenario=lose%3d1+cut=3%2C4 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
        let request = request.unwrap();
        assert_eq!(request.path, "/v1/x");
        assert_eq!(request.asked("seed"), Some("7"));
        assert_eq!(request.asked("scenario"), Some("lose=1 cut=3,4"));
        assert_eq!(request.asked("shape"), None);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for text in [
            &b""[..],
            b"GET",
            b"GET / HTTP/1.1\r\n",
            b"\r\n\r\n",
            b"POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
            b"POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n",
            b"POST / HTTP/1.1\r\ncontent-length: 4\r\n\r\nabc",
            b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        ] {
            assert_eq!(read(text), None, "{}", text.escape_ascii());
        }
        assert_eq!(read(&b"x".repeat(HEAD * 3)), None);
    }

    #[test]
    fn paths_have_their_shapes() {
        let shape = |target: &str| {
            read(format!("POST {target} HTTP/1.1\r\n\r\n").as_bytes()).unwrap().shape()
        };
        assert_eq!(shape("/v1/chat/completions"), Some(Shape::Chat));
        assert_eq!(shape("/v1/completions"), Some(Shape::Completions));
        assert_eq!(shape("/v1beta/models/m:streamGenerateContent?alt=sse"), Some(Shape::Gemini));
        assert_eq!(shape("/v1beta/models/m:streamGenerateContent"), Some(Shape::GeminiArray));
        assert_eq!(shape("/model/m/converse-stream"), Some(Shape::Converse));
        assert_eq!(shape("/"), None);
    }
}
