//! An agent with two tools, each of which takes its arguments as a Rust type:
//!
//! ```sh
//! BASE_URL=http://127.0.0.1:8099 cargo run -p wiremend-examples --bin agent -- "A room in Oslo, please"
//! ```
//!
//! What the model gets wrong about the form of its arguments is mended and made to fit the schema. What cannot be
//! mended goes back to the model, with the reason. No tool runs with half of its arguments.

use std::{error::Error, io::Write, pin::pin};

use futures::{Stream, StreamExt as _};
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use wiremend::{
    response::{CallCheck, Event, FittedCall, ResponseOptions},
    schema::{Registry, Rendering, SharedRegistry},
    stream::ByteStreamExt as _,
    wire::{FinishReason, StreamOutcome},
};

type Failure = Box<dyn Error + Send + Sync>;

/// A model may go on calling tools for ever.
const MOST_TURNS: usize = 8;

/// What a model may call.
trait Tool: DeserializeOwned + JsonSchema {
    const NAME: &str;
    const DESCRIPTION: &str;

    /// The result, for the model.
    fn run(self) -> String;

    /// Runs the tool with arguments that fit its schema.
    fn run_with(arguments: &str) -> String {
        match serde_json::from_str::<Self>(arguments) {
            Ok(tool) => tool.run(),
            Err(error) => error.to_string(),
        }
    }

    /// The tool as the provider wants it described.
    fn description() -> Value {
        let parameters = schema_for!(Self);
        let function =
            json!({"name": Self::NAME, "description": Self::DESCRIPTION, "parameters": parameters});
        json!({"type": "function", "function": function})
    }
}

#[derive(Deserialize, JsonSchema)]
struct Weather {
    city: String,
    #[schemars(range(min = 1, max = 14))]
    days: u8,
}

impl Tool for Weather {
    const NAME: &str = "get_weather";
    const DESCRIPTION: &str = "The weather of the next days";

    fn run(self) -> String {
        format!("{} days of rain in {}", self.days, self.city)
    }
}

#[derive(Deserialize, JsonSchema)]
struct Booking {
    city: String,
    nights: u8,
    breakfast: bool,
}

impl Tool for Booking {
    const NAME: &str = "book_room";
    const DESCRIPTION: &str = "Books a room in a hotel";

    fn run(self) -> String {
        let breakfast = if self.breakfast { "with" } else { "without" };
        format!("{} nights in {}, {breakfast} breakfast", self.nights, self.city)
    }
}

/// Runs a call, or says to the model why not.
fn result_of(call: &FittedCall) -> String {
    match (call.check(), call.arguments()) {
        (CallCheck::Fitted { tool, .. }, Some(arguments)) => match tool.as_str() {
            Weather::NAME => Weather::run_with(arguments),
            Booking::NAME => Booking::run_with(arguments),
            _ => format!("{tool} cannot be run"),
        },
        (CallCheck::Fitted { fitted, .. }, None) => {
            let issues = Rendering::default().for_model(fitted.issues());
            format!("The arguments are wrong. Call the tool again.\n{issues}")
        }
        (CallCheck::Unknown { nearest, .. }, _) => {
            let nearest = nearest.as_deref().unwrap_or(Weather::NAME);
            format!("There is no tool {}. There is {nearest}.", call.call().name())
        }
        _ => "The call did not arrive whole. Call the tool again.".to_owned(),
    }
}

/// Writes the text of a response as it arrives, and returns its calls.
async fn read<B: AsRef<[u8]>>(
    body: impl Stream<Item = Result<B, reqwest::Error>>,
    tools: &SharedRegistry,
    out: &mut impl Write,
) -> Result<Vec<FittedCall>, Failure> {
    let mut events = pin!(body.read(ResponseOptions::new().with_tools(tools)));
    let mut calls = Vec::new();
    while let Some(event) = events.next().await {
        match event? {
            Event::Text { text, .. } => {
                out.write_all(text.as_bytes())?;
                out.flush()?;
            }
            Event::CallFitted(call) => calls.push(*call),
            // The stream ends well, but the text may stop in the middle.
            Event::Finish(finish) if finish.reason() == FinishReason::Length => {
                return Err("the answer was cut off at the limit of tokens".into());
            }
            Event::Error(error) => return Err(error.message().into()),
            Event::Ended(StreamOutcome::Complete) => writeln!(out)?,
            Event::Ended(end) => return Err(format!("the response is {}", end.code()).into()),
            _ => {}
        }
    }
    Ok(calls)
}

/// The turn of the model, for the history.
fn turn(calls: &[FittedCall]) -> Value {
    let call = |fitted: &FittedCall| {
        let call = fitted.call();
        // What could not be mended is not JSON, and a provider would refuse it.
        let mended = call.outcome().is_complete().then(|| call.arguments());
        let arguments = fitted.arguments().or(mended).unwrap_or("{}");
        let function = json!({"name": call.name(), "arguments": arguments});
        json!({"id": call.id(), "type": "function", "function": function})
    };
    json!({"role": "assistant", "tool_calls": calls.iter().map(call).collect::<Vec<_>>()})
}

/// Answers a prompt, with as many calls as the model makes.
pub async fn answer(base_url: &str, prompt: &str, out: &mut impl Write) -> Result<(), Failure> {
    let declared = json!([Weather::description(), Booking::description()]);
    let tools = SharedRegistry::new(Registry::from_tools(&declared)?);
    let client = reqwest::Client::new();
    let mut messages = vec![json!({"role": "user", "content": prompt})];
    for _ in 0..MOST_TURNS {
        let request =
            json!({"model": "any", "stream": true, "tools": declared, "messages": messages});
        let response = client.post(format!("{base_url}/v1/chat/completions")).json(&request).send();
        let body = response.await?.error_for_status()?.bytes_stream();
        let calls = read(body, &tools, out).await?;
        if calls.is_empty() {
            return Ok(());
        }
        messages.push(turn(&calls));
        for fitted in &calls {
            let (call, result) = (fitted.call(), result_of(fitted));
            writeln!(out, "[{}: {result}]", call.name())?;
            messages.push(json!({"role": "tool", "tool_call_id": call.id(), "content": result}));
        }
    }
    Err(format!("no answer after {MOST_TURNS} turns").into())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let base_url = std::env::var("BASE_URL").unwrap_or("http://127.0.0.1:8099".to_owned());
    let prompt = std::env::args().nth(1).unwrap_or("How is the weather in Oslo?".to_owned());
    answer(&base_url, &prompt, &mut std::io::stdout()).await
}
