//! Twice the body takes twice the work. Steps and bytes of heap are counted, and not time.

use wiremend_core::{MendOptions, Policy};
use wiremend_testkit::{
    allocations::heap_of,
    bodies::Shape,
    laws::wire::{CHUNKS, Road, doubling, in_proportion},
};
use wiremend_wire::{RewriteMode, RewriteOptions, WireOptions};

/// Every way in which a body may be processed.
fn roads() -> Vec<Road> {
    let permissive =
        WireOptions::new().with_mending(MendOptions::new().with_policy(Policy::PERMISSIVE));
    let mut roads = vec![Road::Decode(WireOptions::new()), Road::Decode(permissive.clone())];
    for mode in [RewriteMode::Eager, RewriteMode::Validated] {
        let options = RewriteOptions::new().with_mode(mode);
        roads.push(Road::Rewrite(options.clone()));
        roads.push(Road::Rewrite(options.with_wire(permissive.clone()).with_json_content(true)));
    }
    roads
}

/// The steps, and the bytes of all allocations, grow no faster than the body, in every way.
fn grows_no_faster(name: &str, half: &[u8], full: &[u8]) {
    const ONCE: u64 = 64 << 10;
    for road in roads() {
        for size in CHUNKS {
            let [once, twice] = [half, full].map(|body| {
                let mut steps = 0;
                let heap = heap_of(|| steps = road.steps(body, size));
                (body, steps, heap.total)
            });
            let verdict = in_proportion([once, twice].map(|(body, steps, _)| (body, steps)));
            assert!(verdict.is_ok(), "{name}: {}, by {size}, {road:?}", verdict.unwrap_err());
            let [short, long] = [half, full].map(|body| body.len() as u64);
            let (once, twice) = (once.2, twice.2);
            let most = once * long / short * 5 / 4 + ONCE;
            assert!(twice <= most, "{name}: {once} bytes, then {twice}, by {size}, {road:?}");
        }
    }
}

/// Arguments of about that many bytes, and the same with a defect in every line.
fn arguments(size: usize, broken: bool) -> String {
    let item = if broken { "'k': [True, \"x y\",], " } else { "\"k\": [true, \"x\\ny\"], " };
    let items = item.repeat(size / item.len() + 1);
    format!("{{{}}}", items.trim_end_matches([',', ' ']))
}

/// `text` in `count` pieces.
fn pieces(text: &str, count: usize) -> Vec<&str> {
    let size = text.len().div_ceil(count);
    text.as_bytes().chunks(size).map(|piece| std::str::from_utf8(piece).unwrap()).collect()
}

#[test]
fn the_law_detects_faster_growth() {
    let road = Road::Decode(WireOptions::new());
    let body = Shape::Chat.body(&["x"; 100], &[]);
    doubling(&body, &body.repeat(2), &road).unwrap();
    let (short, long) = (&body[..], &body.repeat(2)[..]);
    assert!(in_proportion([(short, 100_000), (long, 200_000)]).is_ok());
    assert!(in_proportion([(short, 100_000), (long, 400_000)]).is_err());
}

#[test]
fn more_events_take_more_work_in_proportion() {
    for shape in Shape::IN_PIECES {
        for broken in [false, true] {
            let body = |events: usize| {
                let text = arguments(events * 9, broken);
                let pieces = pieces(&text, events);
                shape.body(&pieces, &[&pieces])
            };
            grows_no_faster(&format!("{shape:?} events"), &body(120), &body(240));
        }
    }
}

#[test]
fn longer_arguments_in_one_piece_take_more_work_in_proportion() {
    for shape in Shape::IN_PIECES {
        for broken in [false, true] {
            let body = |size: usize| shape.body(&["x"], &[&[&arguments(size, broken)]]);
            grows_no_faster(&format!("{shape:?} size"), &body(3 << 10), &body(6 << 10));
        }
    }
}

#[test]
fn more_parallel_calls_take_more_work_in_proportion() {
    for shape in Shape::IN_PIECES {
        // The last one lacks its end: appending to one must not search what waits for the others.
        for [first, last] in [["{\"a\"", ": [1]}"], ["{'a'", ": [1,]}"], ["{\"a\"", ": [1, \"k"]] {
            let body = |count: usize| shape.body(&["x"], &vec![&[first, last][..]; count]);
            grows_no_faster(&format!("{shape:?} calls, {last}"), &body(60), &body(120));
        }
    }
}

/// Streams that are made to cost more than their length: a head, a piece to repeat, and a tail.
#[test]
fn hostile_streams_take_work_in_proportion() {
    let chunk = |delta: &str| format!("data: {{\"choices\":[{{\"delta\":{{{delta}}}}}]}}\n\n");
    let call = |rest: &str| chunk(&format!("\"tool_calls\":[{{{rest}}}]"));
    let opening = call(r#""index":0,"id":"c","function":{"name":"f","arguments":"{\"k"}"#);
    let finish = "data: {\"choices\":[{\"index\":1,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let choices: String = (0..300)
        .map(|n| {
            format!("data: {{\"choices\":[{{\"index\":{n},\"delta\":{{\"content\":\"[\"}}}}]}}\n\n")
        })
        .collect();
    let repeated: [(&str, String, String); 14] = [
        ("blank lines, then comments", String::new(), "\n".into()),
        ("comments in an event", format!("{}data: x\n", "\n".repeat(1500)), ": c\n".into()),
        ("lines of data", String::new(), "data: 1\n".into()),
        ("fields", String::new(), "odd: 1\n".into()),
        ("lines that are not events", String::new(), "<p>no</p>\n".into()),
        ("an id for every piece", String::new(), call(r#""id":"@","function":{"arguments":"1,"}"#)),
        ("calls without an end", String::new(), call(r#""index":@,"function":{"name":"f"}"#)),
        ("pieces after a key that waits", opening.clone(), chunk("\"content\":\"so\"")),
        (
            "calls after a key that waits",
            opening,
            call(r#""index":@,"function":{"name":"f","arguments":"[1"}"#),
        ),
        ("an end for another choice", choices, finish.into()),
        ("spaces for arguments", String::new(), call(r#""index":0,"function":{"arguments":"  "}"#)),
        ("halves of characters", String::new(), chunk(r#""content":"\ud83d""#)),
        ("brackets", "data: ".into(), "[".into()),
        ("broken envelopes", String::new(), "data: {\"choices\":[{\"delta\":{},}]\n\n".into()),
    ];
    for (name, head, piece) in repeated {
        let body = |count: usize| {
            let mut body = head.clone();
            body.extend((1..=count).map(|n| piece.replace('@', &(n + 1000).to_string())));
            if name.starts_with("blank") {
                body.push_str("data: x\n");
                body.push_str(&": c\n".repeat(count));
            }
            body + "\n\n" + finish
        };
        let count = 9_000 / piece.len();
        grows_no_faster(name, body(count).as_bytes(), body(2 * count).as_bytes());
    }
}

/// Every format is asked whether a payload is its own, and the payload may be a whole body.
#[test]
fn a_body_is_not_searched_for_every_format() {
    // Reading what stands at each place takes a few passes over what is there.
    const STEPS_PER_BYTE: u64 = 22;
    let arguments = "a piece of it ".repeat(5000);
    let bodies = [
        format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{{"function":{{"arguments":"{arguments}"}}}}]}}}}]}}"#
        ),
        format!(r#"{{"message":{{"content":"{arguments}"}},"done":true}}"#),
    ];
    for body in &bodies {
        let steps = Road::Decode(WireOptions::new()).steps(body.as_bytes(), usize::MAX);
        assert!(steps <= STEPS_PER_BYTE * body.len() as u64, "{steps} for {}", body.len());
    }
}
