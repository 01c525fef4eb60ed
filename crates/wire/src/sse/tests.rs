use super::*;

/// Everything that a decoder emits, in order, as text.
fn decode(reading: SseReading, limits: SseLimits, chunks: &[&[u8]]) -> Vec<String> {
    let mut decoder = SseDecoder::new(reading).with_limits(limits);
    let mut seen = Vec::new();
    let mut note = |event: SseEvent<'_>| {
        seen.push(match event {
            SseEvent::Message(m) => {
                format!(
                    "{}|{}|{}|{:?}|{}",
                    m.event(),
                    m.data(),
                    m.id(),
                    m.retry(),
                    m.is_terminated()
                )
            }
            other => format!("{other:?}"),
        });
    };
    for chunk in chunks {
        decoder.push(chunk, &mut note);
    }
    decoder.finish(&mut note);
    seen
}

/// The result, which must be equal when split in two anywhere, byte by byte, and with empty chunks.
fn all_cuts(reading: SseReading, limits: SseLimits, input: &[u8]) -> Vec<String> {
    let whole = decode(reading, limits, &[input]);
    for cut in 0..=input.len() {
        let (head, tail) = input.split_at(cut);
        assert_eq!(decode(reading, limits, &[head, b"", tail]), whole, "cut at {cut}");
    }
    let bytes: Vec<&[u8]> = input.chunks(1).collect();
    assert_eq!(decode(reading, limits, &bytes), whole, "byte by byte");
    whole
}

fn strict(input: &[u8]) -> Vec<String> {
    all_cuts(SseReading::Strict, SseLimits::new(), input)
}

fn lenient(input: &[u8]) -> Vec<String> {
    all_cuts(SseReading::Lenient, SseLimits::new(), input)
}

#[test]
fn every_line_end_ends_a_line() {
    let input = b"data: one\r\ndata: two\r\n\r\ndata: three\r\rdata: four\n\n\rdata: five\n\r";
    let want =
        ["one\ntwo", "three", "four", "five"].map(|data| format!("message|{data}||None|true"));
    assert_eq!(strict(input), want);
}

#[test]
fn a_cr_ends_its_event_before_the_next_byte_comes() {
    let mut decoder = SseDecoder::new(SseReading::Strict);
    let mut seen = 0;
    decoder.push(b"data: x\r\r", |_| seen += 1);
    assert_eq!(seen, 1);
    decoder.push(b"\ndata: y\n\n", |_| seen += 1);
    assert_eq!(seen, 2);
}

#[test]
fn one_byte_order_mark_is_dropped_and_only_at_the_start() {
    let input = b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\ndata: c\n\n";
    assert_eq!(strict(input), ["message|a||None|true", "message|c||None|true"]);
    assert_eq!(strict(b"\xef\xbbdata: a\n\n"), Vec::<String>::new());
}

#[test]
fn ids_persist_and_a_nul_voids_them() {
    let input = b"id: 7\nevent: n\n\ndata: a\n\nid: 8\0\ndata: b\n\nid\ndata: c\n\n";
    assert_eq!(
        strict(input),
        ["message|a|7|None|true", "message|b|7|None|true", "message|c||None|true"]
    );
}

#[test]
fn retry_takes_digits_only() {
    let input = b"retry: 1500\n\ndata: a\n\nretry: +9\nretry: 9 \nretry:\ndata: b\n\nretry: 99999999999999999999\ndata: c\n\n";
    assert_eq!(
        strict(input),
        [
            "message|a||Some(1500)|true".to_owned(),
            "message|b||Some(1500)|true".to_owned(),
            format!("message|c||Some({})|true", u64::MAX)
        ]
    );
}

#[test]
fn bytes_that_are_not_utf8_are_replaced_and_cost_nothing_else() {
    let input = b"data: caf\xe9 \xe5\x8c\n\ndata: \xe5\x8c\x97\n\n";
    assert_eq!(strict(input), ["message|caf\u{fffd} \u{fffd}||None|true", "message|北||None|true"]);
}

#[test]
fn strict_drops_what_the_specification_drops() {
    let input = b": note\nevent: x\n\nerror: {\"a\":1}\n{\"bare\":1}\ndata: a\n\ndata: cut";
    assert_eq!(strict(input), ["message|a||None|true"]);
}

#[test]
fn lenient_hands_out_comments_fields_bare_lines_and_the_last_event() {
    let input = b": note\n\nerror: {\"a\": 1}\n\n{\n  \"error\": {\n    \"code\": 7\n  }\n}\n\n data: a\n\nevent: ping\n\ndata: cut";
    assert_eq!(
        lenient(input),
        [
            "Comment(\"note\")",
            "Field { name: \"error\", value: \"{\\\"a\\\": 1}\" }",
            "Bare(\"{\\n  \\\"error\\\": {\\n    \\\"code\\\": 7\\n  }\\n}\")",
            "message|a||None|true",
            "ping|||None|true",
            "message|cut||None|false",
        ]
    );
}

#[test]
fn a_page_of_html_is_bare_text() {
    let input = b"<html>\n<body class=\"a: b\">\nBad gateway\n</body>\n</html>\n";
    assert_eq!(lenient(input).len(), 1);
    assert_eq!(strict(input).len(), 0);
}

#[test]
fn a_line_past_its_bound_takes_its_event_along_and_the_next_is_read() {
    let limits = SseLimits::new().with_line(12);
    let input =
        b"data: one\ndata: far too long\ndata: two\n\n: a comment too long\ndata: three\n\n";
    assert_eq!(
        all_cuts(SseReading::Strict, limits, input),
        [
            "Oversize { bound: Line, limit: 12 }",
            "Oversize { bound: Line, limit: 12 }",
            "message|three||None|true",
        ]
    );
}

#[test]
fn an_event_past_its_bound_is_dropped_and_the_next_is_read() {
    let limits = SseLimits::new().with_event(8);
    let input = b"data: abc\ndata: def\ndata: ghi\ndata: j\n\ndata: 12345678\n\n";
    assert_eq!(
        all_cuts(SseReading::Strict, limits, input),
        ["Oversize { bound: Event, limit: 8 }", "message|12345678||None|true"]
    );
}

#[test]
fn data_in_one_chunk_is_borrowed_from_it() {
    let chunk = b"data: {\"a\":1}\n\n";
    SseDecoder::default().push(chunk, |event| {
        let SseEvent::Message(message) = event else { panic!("{event:?}") };
        assert!(chunk.as_ptr_range().contains(&message.data_bytes().as_ptr()));
    });
}

#[test]
fn a_stream_that_is_cut_off_in_the_name_of_a_field_ends_there() {
    for part in ["d", "dat", "e", "even", "i", "r", "retr"] {
        assert_eq!(lenient(format!("data: a\n\n{part}").as_bytes()), ["message|a||None|true"]);
        let open = format!("data: a\n{part}");
        assert_eq!(lenient(open.as_bytes()), ["message|a||None|false"], "{part}");
    }
    // These are something else.
    for text in ["f", "dx", "{", "d\n"] {
        assert_eq!(lenient(format!("data: a\n\n{text}").as_bytes()).len(), 2, "{text}");
    }
}
