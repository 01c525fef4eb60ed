//! Exchanges: a request to a provider and its answer, mended as the gateway does it.

use std::time::Duration;

use serde::Serialize;
use wiremend::{
    exchange::{self, Exchanges, HeaderEdit, Mending, Treatment},
    wire::Rewritten,
};

use crate::{
    answer::Answer,
    host::{ACCOUNT, BEGIN_STREAM, CLOSE, FEED, Object, STOP},
    options::Options,
};

/// A header, and the lines that it has from now on.
pub(crate) type Edits = Vec<(String, Vec<String>)>;

/// A host has its headers as text.
pub(crate) fn edits<'e>(edits: impl IntoIterator<Item = &'e HeaderEdit>) -> Edits {
    let words = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
    let of = |edit: &HeaderEdit| (edit.name().to_owned(), edit.lines().map(words).collect());
    edits.into_iter().map(of).collect()
}

fn pairs(options: &Options) -> impl Iterator<Item = (&str, &[u8])> {
    options.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
}

pub(crate) fn exchanges(options: &Options) -> Result<Object, String> {
    let settings = options.mending.clone().unwrap_or_else(|| serde_json::json!({}));
    let mending: Mending =
        serde_json::from_value(settings).map_err(|error| format!("mending: {error}"))?;
    let held = options.held_bytes.unwrap_or(8 << 20);
    Ok(Object::Exchanges(Exchanges::new(mending).with_held_bytes(held)))
}

pub(crate) fn request(own: &Exchanges, options: &Options) -> Result<exchange::Request, String> {
    own.request(&options.method, &options.path, pairs(options)).map_err(|error| error.to_string())
}

pub(crate) fn read(request: exchange::Request, body: Option<&[u8]>) -> exchange::Exchange {
    match body {
        Some(body) => request.read(body),
        None => request.pass(),
    }
}

pub(crate) fn answer(own: &exchange::Exchange, options: &Options) -> exchange::Answer {
    own.answer(options.status, pairs(options))
}

/// What is done with a body: `pass`, `stream`, or `whole` where the head leaves after it.
pub(crate) fn treatment(answer: &exchange::Answer) -> &'static str {
    match answer.treatment() {
        Treatment::Stream => "stream",
        Treatment::Whole => "whole",
        _ => "pass",
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Account {
    verdict: &'static str,
    line: String,
    account: serde_json::Value,
    headers: Edits,
}

pub(crate) fn run(
    answer: &mut exchange::Answer,
    operation: u32,
    text: &[u8],
    to: &mut Answer,
) -> Result<(), String> {
    let mut take = |piece: Rewritten<'_>| {
        if let Rewritten::Bytes(bytes) = piece {
            to.push(bytes);
        }
    };
    match operation {
        FEED => answer.push(text, &mut take),
        CLOSE => {
            answer.finish(&mut take);
            if let Some(comment) = answer.comment(None::<Duration>) {
                to.push(comment.as_bytes());
            }
        }
        STOP => answer.stop(&mut take),
        BEGIN_STREAM => answer.begin_stream(),
        ACCOUNT => {
            let account = answer.account();
            return to.json(&Account {
                verdict: account.verdict().code(),
                line: account.line(),
                account: account.to_json(),
                headers: edits(&answer.header_edits()),
            });
        }
        _ => return Err("an answer cannot do that".to_owned()),
    }
    Ok(())
}
