//! Answers that come compressed although they were asked for as they are.

use std::{
    collections::VecDeque,
    io::{self, BufRead, Read},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use brotli_decompressor::Decompressor;
use bytes::{Buf, Bytes};
use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

use crate::{
    shared::{Held, Shared},
    timed::{BoxError, Timed},
};

/// The most bytes that are unpacked at a time. Whatever the ratio, no more than that is in memory.
const PIECE: usize = 16 << 10;

/// What a Brotli decoder keeps of the text: its largest window.
const WINDOW: usize = 16 << 20;

/// A coding that can be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Brotli,
    Deflate,
    Gzip,
}

/// How a body is packed, with the room to unpack it.
pub(crate) struct Packing {
    coding: Coding,
    held: Held,
}

impl Packing {
    /// A way to unpack an answer with this coding. None, if there is none: it is another one, or several, or others need the
    /// room.
    pub(crate) fn of(coding: &str, shared: &Arc<Shared>) -> Option<Self> {
        let coding = match coding {
            "br" => Coding::Brotli,
            "deflate" => Coding::Deflate,
            "gzip" | "x-gzip" => Coding::Gzip,
            _ => return None,
        };
        let mut held = shared.held();
        let room = PIECE + if coding == Coding::Brotli { WINDOW } else { 64 << 10 };
        held.set(room).then_some(Self { coding, held })
    }

    pub(crate) const fn code(&self) -> &'static str {
        match self.coding {
            Coding::Brotli => "br",
            Coding::Deflate => "deflate",
            Coding::Gzip => "gzip",
        }
    }
}

/// The body of an answer, unpacked if it has a coding.
pub(crate) struct Unpacked {
    body: Pin<Box<Timed>>,
    packed: Option<Packed>,
}

struct Packed {
    decoder: Decoder,
    piece: Box<[u8]>,
    trailers: Option<HeaderMap>,
    _held: Held,
}

/// A decompressor. It reads from a queue, and can be called again when there is more in it.
enum Decoder {
    Brotli(Box<Decompressor<Queue>>),
    /// The first bytes say which of two formats it is.
    Deflate(Queue),
    /// One of the texts that were packed one by one and put together.
    Gzip(Box<GzDecoder<Queue>>),
    Raw(Box<DeflateDecoder<Queue>>),
    Zlib(Box<ZlibDecoder<Queue>>),
}

impl Unpacked {
    pub(crate) fn new(body: Timed, packing: Option<Packing>) -> Self {
        let packed = packing.map(|Packing { coding, held }| Packed {
            decoder: Decoder::new(coding),
            piece: vec![0; PIECE].into(),
            trailers: None,
            _held: held,
        });
        Self { body: Box::pin(body), packed }
    }
}

impl Body for Unpacked {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        let Some(packed) = &mut this.packed else { return this.body.as_mut().poll_frame(cx) };
        loop {
            match packed.decoder.read(&mut packed.piece) {
                // What follows the end of the packed text is no part of it.
                Ok(0) if packed.decoder.queue().ended => {
                    return Poll::Ready(
                        packed.trailers.take().map(|rest| Ok(Frame::trailers(rest))),
                    );
                }
                Ok(0) => packed.decoder.queue().chunks.clear(),
                Ok(read) => {
                    let piece = Bytes::copy_from_slice(&packed.piece[..read]);
                    return Poll::Ready(Some(Ok(Frame::data(piece))));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Some(Err(error.into()))),
            }
            match ready!(this.body.as_mut().poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(chunk) => packed.decoder.queue().chunks.push_back(chunk),
                    Err(frame) => {
                        packed.trailers = frame.into_trailers().ok();
                        packed.decoder.queue().ended = true;
                    }
                },
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => packed.decoder.queue().ended = true,
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.packed.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.packed.is_some() { SizeHint::default() } else { self.body.size_hint() }
    }
}

impl Decoder {
    fn new(coding: Coding) -> Self {
        let queue = Queue::default();
        match coding {
            Coding::Brotli => Self::Brotli(Box::new(Decompressor::new(queue, PIECE))),
            Coding::Deflate => Self::Deflate(queue),
            Coding::Gzip => Self::Gzip(Box::new(GzDecoder::new(queue))),
        }
    }

    fn queue(&mut self) -> &mut Queue {
        match self {
            Self::Brotli(decoder) => decoder.get_mut(),
            Self::Deflate(queue) => queue,
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Raw(decoder) => decoder.get_mut(),
            Self::Zlib(decoder) => decoder.get_mut(),
        }
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let Self::Deflate(queue) = self {
            // `deflate` means the format of zlib, but some servers leave out its header.
            let is_zlib = queue.begins(|first, second| {
                first & 0x0f == 8 && u16::from_be_bytes([first, second]) % 31 == 0
            })?;
            let queue = core::mem::take(queue);
            *self = if is_zlib {
                Self::Zlib(Box::new(ZlibDecoder::new(queue)))
            } else {
                Self::Raw(Box::new(DeflateDecoder::new(queue)))
            };
        }
        match self {
            Self::Brotli(decoder) => decoder.read(into),
            Self::Deflate(_) => Ok(0),
            Self::Gzip(decoder) => read_members(decoder, into),
            Self::Raw(decoder) => decoder.read(into),
            Self::Zlib(decoder) => decoder.read(into),
        }
    }
}

/// Reads one packed text after the other. What follows the last one, such as padding, is no part of the body.
fn read_members(decoder: &mut GzDecoder<Queue>, into: &mut [u8]) -> io::Result<usize> {
    loop {
        let read = decoder.read(into)?;
        let queue = decoder.get_mut();
        if read > 0 {
            return Ok(read);
        }
        queue.over =
            queue.over || !queue.begins(|first, second| (first, second) == (0x1f, 0x8b))?;
        if queue.over {
            return Ok(0);
        }
        *decoder = GzDecoder::new(core::mem::take(decoder.get_mut()));
    }
}

/// What has come and is not unpacked yet.
#[derive(Default)]
struct Queue {
    chunks: VecDeque<Bytes>,
    ended: bool,
    /// What is packed has ended, whatever still comes.
    over: bool,
}

impl Queue {
    /// Whether its first two bytes are such. If there are no two, they are not.
    fn begins(&self, such: impl FnOnce(u8, u8) -> bool) -> io::Result<bool> {
        let mut bytes = self.chunks.iter().flat_map(|chunk| chunk.iter().copied());
        match (bytes.next(), bytes.next()) {
            (Some(first), Some(second)) => Ok(such(first, second)),
            _ if self.ended => Ok(false),
            _ => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

impl BufRead for Queue {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.chunks.front().is_some_and(Bytes::is_empty) {
            self.chunks.pop_front();
        }
        match self.chunks.front() {
            Some(chunk) => Ok(chunk),
            None if self.ended => Ok(&[]),
            None => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn consume(&mut self, bytes: usize) {
        if let Some(chunk) = self.chunks.front_mut() {
            chunk.advance(bytes);
        }
    }
}

impl Read for Queue {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}
