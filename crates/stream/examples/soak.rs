//! Many streams at once on one thread, with damage on the way: `cargo run --release -p wiremend-stream
//! --example soak [STREAMS]`. Each response must equal that of the same bytes read
//! offline. Prints what a stream costs. `WIREMEND_RECORDINGS=DIR` reads the recorded bodies under a folder instead of
//! replies that are made up.

#![allow(clippy::unwrap_used, reason = "an example may panic")]

use std::{
    fs,
    path::PathBuf,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Instant,
};

use futures::{Stream, StreamExt as _, stream};
use wiremend_response::{Response, ResponseOptions, ResponseReader};
use wiremend_stream::{ByteStreamExt, ResponseStream};
use wiremend_testkit::{
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

/// Where responses come from: recordings, or else a seed.
#[derive(Default)]
struct Bodies(Vec<Vec<u8>>);

impl Bodies {
    fn recorded() -> Self {
        let mut folders: Vec<PathBuf> =
            std::env::var_os("WIREMEND_RECORDINGS").map(Into::into).into_iter().collect();
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files.sort();
        Self(files.into_iter().map(|file| fs::read(file).unwrap()).collect())
    }

    fn body(&self, number: usize, seed: &mut Seed) -> Vec<u8> {
        let shape = Shape::ALL[number % Shape::ALL.len()];
        let made = || Reply::random_in(shape, seed).body();
        self.0.get(number % self.0.len().max(1)).cloned().unwrap_or_else(made)
    }
}

impl Arrival {
    /// A response with faults, in chunks that end anywhere.
    fn random(number: usize, bodies: &Bodies) -> Self {
        let mut seed = Seed::new(number as u64);
        let body = bodies.body(number, &mut seed);
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

type Open = Pin<Box<ResponseStream<Arrival, &'static str>>>;

/// Polls each stream in turn until all have ended.
fn run(streams: usize, bodies: &Bodies) -> Costs {
    let arrive = |number| Arrival::random(number, bodies);
    let arrivals: Vec<Arrival> = (0..streams).map(arrive).collect();
    let offline: Vec<Response> = (arrivals.iter())
        .map(|arrival| Response::read(&arrival.bytes(), ResponseOptions::new()))
        .collect();
    let chunks = arrivals.iter().map(|arrival| arrival.chunks.len()).sum();
    let (mut events, mut heap) = (0, 0);
    let mut responses = vec![Response::default(); streams];
    let mut cx = Context::from_waker(Waker::noop());
    let all = heap_of(|| {
        let arrivals: Vec<Arrival> = (0..streams).map(arrive).collect();
        let mut open: Vec<Open> = Vec::new();
        // What arrives was allocated before, so that only the streams are measured.
        let begun = heap_of(|| {
            for body in arrivals {
                let polls = body.chunks.len() / 2;
                let mut stream = Box::pin(body.read(ResponseOptions::new()));
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
        .map(|number| (number, Box::pin(arrive(number).read(ResponseOptions::new()))))
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

/// What the adapter costs in addition to the reader that it wraps.
#[derive(Debug)]
struct Adapter {
    /// How much longer the same chunks take: the median ratio.
    ratio: f64,
    /// What it allocates for a response in addition, on average.
    allocations: f64,
    /// What an event, and a chunk, take through it, in nanoseconds.
    event: f64,
    chunk: f64,
}

fn adapter(streams: usize, bodies: &Bodies) -> Adapter {
    let chunks_of = |number| {
        let chunks = Arrival::random(number, bodies).chunks.into_iter();
        chunks.map(|(chunk, _)| chunk).collect()
    };
    let bodies: Vec<Vec<Vec<u8>>> = (0..streams).map(chunks_of).collect();
    let alone = |chunks: &[Vec<u8>]| {
        let mut reader = ResponseReader::new(ResponseOptions::new());
        let mut events = 0;
        for chunk in chunks {
            reader.push(chunk, &mut |_| events += 1);
        }
        reader.finish(&mut |_| events += 1);
        events
    };
    let adapted = |chunks: &[Vec<u8>]| {
        let body = stream::iter(chunks).map(Ok::<_, &str>);
        let mut cx = Context::from_waker(Waker::noop());
        let mut events = std::pin::pin!(body.read(ResponseOptions::new()));
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
    let allocated = |way: &Way| -> u64 {
        let counted = |chunks: &Vec<Vec<u8>>| {
            let heap = heap_of(|| {
                way(chunks);
            });
            heap.count
        };
        bodies.iter().map(counted).sum()
    };
    let allocations = allocated(&adapted) as f64 - allocated(&alone) as f64;
    let mut ratios = Vec::new();
    let (mut events, mut chunk_count, mut seconds) = (0, 0, 0.0);
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
        events += count;
        chunk_count += chunks.len();
        seconds += took[1];
    }
    ratios.sort_by(f64::total_cmp);
    Adapter {
        ratio: ratios[ratios.len() / 2],
        allocations: allocations / bodies.len() as f64,
        event: 1e9 * seconds / events as f64,
        chunk: 1e9 * seconds / chunk_count as f64,
    }
}

fn main() {
    let streams = std::env::args().nth(1).map_or(5_000, |count| count.parse().unwrap());
    let bodies = Bodies::recorded();
    let costs = run(streams, &bodies);
    println!("{streams} streams, {} chunks, {} events: as offline", costs.chunks, costs.events);
    println!(
        "on the way, a stream keeps {} bytes; after all are dropped, {}",
        costs.heap, costs.left
    );
    let Adapter { ratio, allocations, event, chunk } = adapter(streams.clamp(1, 1_000), &bodies);
    let percent = 100.0 * (ratio - 1.0);
    println!(
        "through the adapter, a response takes {percent:+.1} % of time and {allocations:+.1} allocations more than through the reader"
    );
    println!("{event:.0} ns an event, {chunk:.0} ns a chunk");
}

#[cfg(test)]
mod tests {
    #[test]
    fn streams_side_by_side_are_read_like_each_alone() {
        let costs = super::run(300, &super::Bodies::default());
        assert!(costs.events > costs.chunks / 4 && costs.chunks > 300, "{costs:?}");
        assert_eq!(costs.left, 0);
    }

    /// The queue of events that upstream has brought and nobody has taken yet, which grows once or twice; and
    /// the labels of what it counts, if it counts.
    #[test]
    fn an_adapter_allocates_a_queue_of_its_own() {
        let adapter = super::adapter(5, &super::Bodies::default());
        let labels = if cfg!(any(feature = "metrics", feature = "tracing")) { 10.0 } else { 0.0 };
        let queue = 2.0;
        assert!(adapter.allocations <= queue + labels, "{adapter:?}");
    }
}
