use super::*;

/// Every type of header.
const HEADERS: [Header<'_>; 10] = [
    Header::new(":event-type", HeaderValue::Str("chunk")),
    Header::new("yes", HeaderValue::Bool(true)),
    Header::new("no", HeaderValue::Bool(false)),
    Header::new("byte", HeaderValue::Byte(-3)),
    Header::new("short", HeaderValue::Short(-300)),
    Header::new("int", HeaderValue::Int(-70_000)),
    Header::new("long", HeaderValue::Long(-5_000_000_000)),
    Header::new("bytes", HeaderValue::Bytes(b"\0\xff")),
    Header::new("time", HeaderValue::Timestamp(1_700_000_000_123)),
    Header::new("uuid", HeaderValue::Uuid(*b"0123456789abcdef")),
];

fn frame(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(&HEADERS, payload, &mut out).unwrap();
    out
}

/// Frames as their payload, other events as their debug text.
fn read(limit: usize, chunks: &[&[u8]]) -> Vec<String> {
    let mut decoder = EventStreamDecoder::new().with_limit(limit);
    let mut seen = Vec::new();
    let mut sink = |event: EventStreamEvent<'_>| {
        seen.push(match event {
            EventStreamEvent::Message(message) => {
                String::from_utf8_lossy(message.payload()).into_owned()
            }
            other => format!("{other:?}"),
        });
    };
    for chunk in chunks {
        decoder.push(chunk, &mut sink);
    }
    decoder.finish(&mut sink);
    seen
}

/// Reads the body whole, byte by byte, and split at every position.
fn at_every_cut(limit: usize, body: &[u8]) -> Vec<String> {
    let whole = read(limit, &[body]);
    let bytes: Vec<&[u8]> = body.chunks(1).collect();
    assert_eq!(read(limit, &bytes), whole);
    for at in 0..=body.len() {
        let (head, tail) = body.split_at(at);
        assert_eq!(read(limit, &[head, b"", tail]), whole, "{at}");
    }
    whole
}

#[test]
fn what_was_encoded_is_decoded_and_encodes_to_the_same() {
    let one = frame(b"{\"a\":1}");
    let message = Message::read(&one).unwrap();
    assert_eq!(message.headers().collect::<Vec<_>>(), HEADERS);
    let mut again = Vec::new();
    message.encode_with(message.payload(), &mut again).unwrap();
    assert_eq!(again, one);
    let body = [one, frame(b""), frame(b"two")].concat();
    assert_eq!(at_every_cut(1000, &body), ["{\"a\":1}", "", "two"]);
}

#[test]
fn a_frame_without_headers_and_payload_is_sixteen_bytes() {
    let mut out = Vec::new();
    encode(&[], b"", &mut out).unwrap();
    assert_eq!(out.len(), 16);
    assert_eq!(at_every_cut(16, &out), [""]);
}

#[test]
fn a_wrong_checksum_costs_its_frame_only() {
    let mut broken = frame(b"one");
    let last = broken.len() - 6;
    broken[last] ^= 1;
    let seen = at_every_cut(1000, &[broken, frame(b"two")].concat());
    assert!(seen[0].contains("MessageChecksum"), "{seen:?}");
    assert_eq!(seen[1..], ["two"]);
}

#[test]
fn wrong_lengths_are_passed_over_to_the_next_frame() {
    let mut broken = frame(b"one");
    broken[3] ^= 1;
    let seen = at_every_cut(1000, &[frame(b"zero"), broken, frame(b"two")].concat());
    assert!(seen[1].contains("PreludeChecksum"), "{seen:?}");
    assert_eq!([&seen[0], &seen[2]], ["zero", "two"]);
    assert_eq!(seen.len(), 3);
}

#[test]
fn an_oversize_frame_is_dropped_and_the_next_is_read() {
    let body = [frame(&[b'x'; 400]), frame(b"two")].concat();
    assert_eq!(at_every_cut(300, &body), ["Oversize { limit: 300 }", "two"]);
}

#[test]
fn an_end_inside_a_frame_is_reported() {
    let whole = frame(b"one");
    for end in 1..whole.len() {
        assert_eq!(read(1000, &[&whole[..end]]), ["Fault(Truncated)"], "{end}");
    }
    assert!(read(1000, &[]).is_empty());
}

/// A frame with those bytes as headers, and valid checksums.
fn with_headers(headers: &[u8]) -> Vec<u8> {
    let total = u32::try_from(headers.len() + 16).unwrap();
    let mut out = [total.to_be_bytes(), (total - 16).to_be_bytes()].concat();
    out.extend(crc::checksum(&out).to_be_bytes());
    out.extend(headers);
    out.extend(crc::checksum(&out).to_be_bytes());
    out
}

#[test]
fn broken_headers_are_reported_by_kind() {
    let cases: [(&[u8], FrameFault); 7] = [
        (b"\0", FrameFault::HeaderName),
        (b"\x05ab", FrameFault::HeaderName),
        (b"\x01\xff\x00", FrameFault::HeaderName),
        (b"\x01a", FrameFault::HeaderValue),
        (b"\x01a\x60", FrameFault::HeaderType(0x60)),
        (b"\x01a\x07\0\x09xy", FrameFault::HeaderValue),
        (b"\x01a\x07\0\x01\xff", FrameFault::HeaderValue),
    ];
    for (headers, fault) in cases {
        let body = [with_headers(headers), frame(b"next")].concat();
        assert_eq!(at_every_cut(1000, &body), [format!("Fault({fault:?})"), "next".to_owned()]);
    }
    assert_eq!(at_every_cut(1000, &with_headers(b"\x01a\x01")), [""]);
}

#[test]
fn what_does_not_fit_is_refused_and_leaves_the_output_alone() {
    let long = "n".repeat(256);
    let text = "v".repeat(65_536);
    for header in [
        Header::new("", HeaderValue::Bool(true)),
        Header::new(&long, HeaderValue::Bool(true)),
        Header::new("a", HeaderValue::Str(&text)),
    ] {
        let mut out = vec![1];
        assert_eq!(encode(&[header], b"", &mut out), Err(TooLong));
        assert_eq!(out, [1]);
    }
}

#[test]
fn a_header_that_cannot_be_read_says_more_than_the_checksum() {
    let mut broken = with_headers(b"\x01a\x60");
    let last = broken.len() - 1;
    broken[last] ^= 1;
    assert_eq!(read(1000, &[&broken]), ["Fault(HeaderType(96))"]);
}
