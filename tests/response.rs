//! The cost of reading a response: memory with and without a search for objects, and copies of
//! arguments.

use wiremend_extract::Scope;
use wiremend_response::{Event, ResponseOptions, ResponseReader};
use wiremend_testkit::{allocations::heap_of, bodies::Shape};

/// Reads a body in chunks of `size` bytes, and drops its events.
fn read(body: &[u8], size: usize, options: ResponseOptions) -> usize {
    let mut reader = ResponseReader::new(options);
    let mut calls = 0;
    let mut take = |event| calls += usize::from(matches!(event, Event::CallEnded(_)));
    for chunk in body.chunks(size) {
        reader.push(chunk, &mut take);
    }
    reader.finish(&mut take);
    calls
}

/// Prose in pieces of a token.
fn prose() -> Vec<u8> {
    let words: Vec<String> = (0..2_000).map(|n| format!("word{n}, ")).collect();
    let pieces: Vec<&str> = words.iter().map(String::as_str).collect();
    Shape::Chat.body(&pieces, &[])
}

#[test]
fn a_stream_allocates_only_what_it_needs() {
    let body = prose();
    let plain = heap_of(|| assert_eq!(read(&body, 64, ResponseOptions::new()), 0));
    let searched = ResponseOptions::new().with_objects(Scope::All);
    let searched = heap_of(|| assert_eq!(read(&body, 64, searched), 0));
    println!("without a search {} bytes, with one {} bytes", plain.peak, searched.peak);
    assert!(plain.peak < 10 << 10, "{}", plain.peak);
    assert!(searched.peak < 12 << 10, "{}", searched.peak);
}

#[test]
fn the_arguments_of_a_call_are_kept_once() {
    let item = "{\"key\": [1, 2.50, true], \"text\": \"some text of the call\"}, ";
    let text = format!("[{}]", item.repeat(4_000).trim_end_matches([',', ' ']));
    let pieces: Vec<&str> =
        text.as_bytes().chunks(64).map(|piece| std::str::from_utf8(piece).unwrap()).collect();
    let body = Shape::Anthropic.body(&[], &[&pieces]);
    let size = text.len() as u64;
    let heap = heap_of(|| assert_eq!(read(&body, 4096, ResponseOptions::new()), 1));
    println!("{size} bytes of arguments: {} bytes at most, {} in all", heap.peak, heap.total);
    // The text, which doubles as it grows, and the copy in the event.
    assert!(heap.peak < size * 7 / 2, "{} bytes for {size} of arguments", heap.peak);
}
