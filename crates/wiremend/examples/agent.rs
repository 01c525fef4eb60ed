//! The part of an agent that reads a response: `cargo run -p wiremend --example agent`.
//!
//! `read` takes any stream of chunks, such as the `bytes_stream()` of a reqwest response. The README
//! shows both together.

use std::{
    error::Error,
    io::{Write as _, stdout},
    pin::pin,
    sync::Arc,
};

use futures::{Stream, StreamExt};
use wiremend::{
    response::{Event, ResponseOptions},
    stream::ByteStreamExt,
    wire::{Call, FinishReason, StreamOutcome},
};

/// Prints the text of a response as it arrives, and returns its tool calls.
async fn read<B: AsRef<[u8]>, E: Error + 'static>(
    body: impl Stream<Item = Result<B, E>>,
) -> Result<Vec<Arc<Call>>, Box<dyn Error>> {
    let mut events = pin!(body.read(ResponseOptions::new()));
    let mut calls = Vec::new();
    while let Some(event) = events.next().await {
        match event? {
            Event::Text { text, .. } => {
                print!("{text}");
                stdout().flush()?;
            }
            Event::CallEnded(call) if call.outcome().is_complete() => calls.push(call),
            Event::CallEnded(call) => {
                return Err(format!("{}: {}", call.name(), call.outcome()).into());
            }
            // The stream ends well, but the text may stop in the middle.
            Event::Finish(finish) if finish.reason() == FinishReason::Length => {
                return Err("the answer was cut off at the limit of tokens".into());
            }
            Event::Error(error) => return Err(error.message().into()),
            Event::Ended(StreamOutcome::Complete) => println!(),
            Event::Ended(end) => return Err(format!("response: {}", end.code()).into()),
            _ => {}
        }
    }
    Ok(calls)
}

/// A response whose tool call is broken JSON.
const BODY: &[u8] = include_bytes!("../../../examples/streams/openai-tool-call-broken.sse");

fn main() -> Result<(), Box<dyn Error>> {
    let chunks = BODY.chunks(100).map(Ok::<_, std::convert::Infallible>);
    let calls = futures::executor::block_on(read(futures::stream::iter(chunks)))?;
    for call in &calls {
        println!("{}: {} ({} repairs)", call.name(), call.arguments(), call.repairs().len());
    }
    Ok(())
}
