//! A list that a model writes, in a terminal, while it arrives: items that are whole, each on its line, and below
//! them the one that is growing.
//!
//! ```sh
//! BASE_URL=http://127.0.0.1:8099 cargo run -p wiremend-examples --bin live
//! ```

use std::{error::Error, io::Write, pin::pin};

use futures::{Stream, StreamExt as _};
use serde::Deserialize;
use wiremend::{
    Value,
    response::ResponseOptions,
    stream::{ByteStreamExt as _, TypedEvent},
};

type Failure = Box<dyn Error + Send + Sync>;

/// Back to the beginning of the line, which is then empty.
const CLEAR: &str = "\r\x1b[K";

/// An item of the list.
#[derive(Debug, Deserialize, PartialEq)]
pub struct City {
    /// What it is called.
    pub name: String,
    /// How many live there.
    pub people: u64,
}

/// A city of which anything may be missing. What a model writes must not control the terminal.
fn line(city: Value<'_>) -> String {
    let field = |key| city.member(key);
    let name = field("name").and_then(|name| name.as_str()).unwrap_or_default();
    let people = field("people").and_then(|people| people.as_number()).unwrap_or_default();
    format!("{name:<20} {people:>10}").replace(char::is_control, "\u{fffd}")
}

/// Shows the cities in the text of a response, and returns them once they are whole.
pub async fn show<B, E>(
    body: impl Stream<Item = Result<B, E>>,
    out: &mut impl Write,
) -> Result<Vec<City>, Failure>
where
    B: AsRef<[u8]>,
    E: Error + Send + Sync + 'static,
{
    let mut events = pin!(body.typed::<Vec<City>>(ResponseOptions::new()));
    let mut shown = 0;
    while let Some(event) = events.next().await {
        let event = event.inspect_err(|_| {
            // What was growing is not whole, and must not look as if it were.
            let _ = write!(out, "{CLEAR}");
        })?;
        for city in events.value().into_iter().flat_map(|cities| cities.children()).skip(shown) {
            write!(out, "{CLEAR}{}", line(city))?;
            if !city.is_open() {
                writeln!(out)?;
                shown += 1;
            }
        }
        out.flush()?;
        if let TypedEvent::Whole(cities) = event {
            return Ok(cities);
        }
    }
    Err("there is no list".into())
}

/// Asks a provider for the list.
pub async fn ask(base_url: &str, out: &mut impl Write) -> Result<Vec<City>, Failure> {
    let prompt = "List ten cities as a JSON array of objects with `name` and `people`.";
    let message = serde_json::json!({"role": "user", "content": prompt});
    let request = serde_json::json!({"model": "any", "stream": true, "messages": [message]});
    let response = reqwest::Client::new().post(format!("{base_url}/v1/chat/completions"));
    let response = response.json(&request).send().await?.error_for_status()?;
    show(response.bytes_stream(), out).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let base_url = std::env::var("BASE_URL").unwrap_or("http://127.0.0.1:8099".to_owned());
    let cities = ask(&base_url, &mut std::io::stdout()).await?;
    println!("{} cities", cities.len());
    Ok(())
}
