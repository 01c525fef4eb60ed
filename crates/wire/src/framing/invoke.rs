//! Bedrock's `InvokeModelWithResponseStream`: the payload of a `chunk` message is
//! `{"bytes": base64}`, which holds the payload in the model's own format.

use super::base64;
use crate::json::{self, Node, Span};

/// The name of the messages that hold another payload.
pub(crate) const CHUNK: &str = "chunk";

/// The inner payload, or `None` if there is none.
pub(crate) fn unwrap(payload: &str) -> Option<Vec<u8>> {
    base64::decode(&bytes(payload)?.text()?)
}

/// The payload with another inner payload. Everything around it is unchanged.
pub(crate) fn wrap(payload: &str, inner: &[u8]) -> Option<String> {
    let Span { start, end } = bytes(payload)?.span();
    let mut out = String::with_capacity(payload.len() + inner.len());
    out.push_str(payload.get(..start)?);
    out.push('"');
    base64::encode(inner, &mut out);
    out.push('"');
    out.push_str(payload.get(end..)?);
    Some(out)
}

fn bytes(payload: &str) -> Option<Node<'_>> {
    let (node, _) = json::first(payload).ok()?;
    node.field("bytes").filter(|bytes| bytes.is_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inner_payload_is_taken_out_and_put_back() {
        let payload = r#"{"p":"abc", "bytes":"eyJhIjoxfQ==","q":2}"#;
        assert_eq!(unwrap(payload).unwrap(), b"{\"a\":1}");
        assert_eq!(wrap(payload, b"{\"a\":1}").unwrap(), payload);
        assert_eq!(wrap(payload, b"{}").unwrap(), r#"{"p":"abc", "bytes":"e30=","q":2}"#);
        assert!(unwrap("{\"bytes\":7}").is_none() && unwrap("no").is_none());
    }
}
