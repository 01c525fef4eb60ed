//! A handler of axum between a client and a provider. The calls in an answer are mended on its way:
//!
//! ```sh
//! BASE_URL=http://127.0.0.1:8099 cargo run -p wiremend-examples --bin handler
//! ```
//!
//! Everything else passes byte for byte, as it arrives. If the provider breaks off, so does the answer: no call is
//! closed that the model did not close. `wiremend serve` does this, and more, without a program of your own.

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::Response,
    routing::post,
};
use wiremend::stream::ByteStreamExt as _;
use wiremend::wire::RewriteOptions;

/// What is sent on: of the request, and of the answer. Not the length, because it may change.
const HEADERS: [header::HeaderName; 2] = [header::AUTHORIZATION, header::CONTENT_TYPE];

/// The provider.
#[derive(Clone)]
pub struct Provider {
    client: reqwest::Client,
    base_url: String,
}

fn sent_on(headers: &HeaderMap) -> HeaderMap {
    let known = HEADERS.into_iter();
    known.filter_map(|name| Some((name.clone(), headers.get(name)?.clone()))).collect()
}

async fn complete(
    State(provider): State<Provider>,
    headers: HeaderMap,
    request: Bytes,
) -> Result<Response, StatusCode> {
    let url = format!("{}/v1/chat/completions", provider.base_url);
    let answer = provider.client.post(url).headers(sent_on(&headers)).body(request).send().await;
    let answer = answer.map_err(|_| StatusCode::BAD_GATEWAY)?;
    let (status, headers) = (answer.status(), sent_on(answer.headers()));
    let mended = answer.bytes_stream().rewrite(RewriteOptions::new());
    let mut response = Response::new(Body::from_stream(mended));
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    Ok(response)
}

/// The service, in front of that provider.
pub fn app(base_url: String) -> Router {
    let provider = Provider { client: reqwest::Client::new(), base_url };
    Router::new().route("/v1/chat/completions", post(complete)).with_state(provider)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let base_url = std::env::var("BASE_URL").unwrap_or("http://127.0.0.1:8099".to_owned());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    println!("http://{}", listener.local_addr()?);
    axum::serve(listener, app(base_url)).await
}
