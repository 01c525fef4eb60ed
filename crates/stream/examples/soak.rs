//! Many streams at once on one thread, with damage on the way: `cargo run --release -p jsonmend-stream
//! --example soak [STREAMS]`. Each response must equal that of the same bytes read
//! offline. Prints what a stream costs.

#![allow(clippy::unwrap_used, reason = "an example may panic")]

use std::{
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Instant,
};

use futures::{Stream, StreamExt as _, stream};
use jsonmend_response::{Response, ResponseOptions, ResponseReader};
use jsonmend_stream::{MendExt, MendStream};
use jsonmend_testkit::{
    Seed,
    allocations::heap_of,
    bodies::{Reply, Shape},
    transport::Scenario,
};

/// What arrives of one response: its chunks, and after how many polls each of them.
struct Arrival {
    chunks: Vec<(Vec<u8>, usize)>,
    at: usize,
    waited: usize,
    is_reset: bool,
}

impl Arrival {
    /// A reply with faults, in chunks that end anywhere.
    fn random(number: usize) -> Self {
        let mut seed = Seed::new(number as u64);
        let shape = Shape::ALL[number % Shape::ALL.len()];
        let body = Reply::random_in(shape, &mut seed).body();
        let delivery = Scenario::random(&body, &mut seed).deliver(&body);
        let chunks = delivery.chunks().into_iter().map(|chunk| (chunk.to_vec(), seed.below(4)));
        Self { chunks: chunks.collect(), at: 0, waited: 0, is_reset: delivery.is_reset() }
    }

    fn bytes(&self) -> Vec<u8> {
        self.chunks.iter().flat_map(|(chunk, _)| chunk).copied().collect()
    }
}

impl Stream for Arrival {
    type Item = Result<Vec<u8>, &'static str>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some((_, wait)) = self.chunks.get(self.at) else {
            return Poll::Ready(std::mem::take(&mut self.is_reset).then_some(Err("reset")));
        };
        if self.waited < *wait {
            self.waited += 1;
            return Poll::Pending;
        }
        self.waited = 0;
        self.at += 1;
        let at = self.at - 1;
        Poll::Ready(Some(Ok(self.chunks[at].0.clone())))
    }
}

/// What a number of streams cost.
#[derive(Debug)]
struct Costs {
    events: usize,
    chunks: usize,
    /// What each keeps on average after half as many polls as it has chunks, its own size included.
    heap: i64,
    /// What is left after all have been dropped.
    left: i64,
}

type Open = Pin<Box<MendStream<Arrival, &'static str>>>;

/// Polls each stream in turn until all have ended.
fn run(streams: usize) -> Costs {
    let arrivals: Vec<Arrival> = (0..streams).map(Arrival::random).collect();
    let offline: Vec<Response> = (arrivals.iter())
        .map(|arrival| Response::read(&arrival.bytes(), ResponseOptions::new()))
        .collect();
    let chunks = arrivals.iter().map(|arrival| arrival.chunks.len()).sum();
    let (mut events, mut heap) = (0, 0);
    let mut responses = vec![Response::default(); streams];
    let mut cx = Context::from_waker(Waker::noop());
    let all = heap_of(|| {
        let arrivals: Vec<Arrival> = (0..streams).map(Arrival::random).collect();
        let mut open: Vec<Open> = Vec::new();
        // What arrives was allocated before, so that only the streams are measured.
        let begun = heap_of(|| {
            for body in arrivals {
                let polls = body.chunks.len() / 2;
                let mut stream = Box::pin(body.mend(ResponseOptions::new()));
                for _ in 0..polls {
                    drop(stream.as_mut().poll_next(&mut cx));
                }
                open.push(stream);
            }
        });
        heap = begun.live / i64::try_from(streams.max(1)).unwrap();
    });
    let left = all.live;
    let mut open: Vec<(usize, Open)> = (0..streams)
        .map(|number| (number, Box::pin(Arrival::random(number).mend(ResponseOptions::new()))))
        .collect();
    while !open.is_empty() {
        open.retain_mut(|(number, stream)| match stream.as_mut().poll_next(&mut cx) {
            Poll::Ready(None) => false,
            Poll::Ready(Some(Ok(event))) => {
                events += 1;
                responses[*number].record(event);
                true
            }
            Poll::Ready(Some(Err(_))) | Poll::Pending => true,
        });
    }
    for (number, (response, offline)) in responses.iter().zip(&offline).enumerate() {
        assert!(response == offline, "stream {number} differs from its bytes read offline");
    }
    Costs { events, chunks, heap, left }
}

/// Reads chunks, and counts the events.
type Way = dyn Fn(&[Vec<u8>]) -> usize;

/// How much longer the same chunks take through the adapter than through the reader alone: the median ratio.
fn ratio(streams: usize) -> f64 {
    let bodies: Vec<Vec<Vec<u8>>> = (0..streams)
        .map(|number| Arrival::random(number).chunks.into_iter().map(|(chunk, _)| chunk).collect())
        .collect();
    let alone = |chunks: &[Vec<u8>]| {
        let mut reader = ResponseReader::new(ResponseOptions::new());
        let mut events = 0;
        for chunk in chunks {
            reader.push(chunk);
            while reader.next_event().is_some() {
                events += 1;
            }
        }
        reader.finish();
        while reader.next_event().is_some() {
            events += 1;
        }
        events
    };
    let adapted = |chunks: &[Vec<u8>]| {
        let body = stream::iter(chunks).map(Ok::<_, &str>);
        let mut cx = Context::from_waker(Waker::noop());
        let mut events = std::pin::pin!(body.mend(ResponseOptions::new()));
        let mut count = 0;
        loop {
            match events.as_mut().poll_next(&mut cx) {
                Poll::Ready(Some(_)) => count += 1,
                Poll::Ready(None) => return count,
                Poll::Pending => {}
            }
        }
    };
    // Side by side, many times: the machine may have other things to do.
    let ways: [&Way; 2] = [&alone, &adapted];
    let mut ratios = Vec::new();
    for (round, chunks) in bodies.iter().cycle().take(60 * streams).enumerate() {
        // The first one finds the body in no cache, and each goes first as often.
        let count = alone(chunks);
        let mut took = [0.0; 2];
        for way in [round % 2, 1 - round % 2] {
            let begun = Instant::now();
            assert_eq!(ways[way](chunks), count);
            took[way] = begun.elapsed().as_secs_f64();
        }
        ratios.push(took[1] / took[0]);
    }
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

fn main() {
    let streams = std::env::args().nth(1).map_or(5_000, |count| count.parse().unwrap());
    let costs = run(streams);
    println!("{streams} streams, {} chunks, {} events: as offline", costs.chunks, costs.events);
    println!(
        "on the way, a stream keeps {} bytes; after all are dropped, {}",
        costs.heap, costs.left
    );
    let percent = 100.0 * (ratio(streams.clamp(1, 1_000)) - 1.0);
    println!(
        "through the adapter, a response takes {percent:+.1} % more time than through the reader"
    );
}

#[cfg(test)]
mod tests {
    #[test]
    fn streams_side_by_side_are_read_like_each_alone() {
        let costs = super::run(300);
        assert!(costs.events > costs.chunks / 4 && costs.chunks > 300, "{costs:?}");
        assert_eq!(costs.left, 0);
    }
}
