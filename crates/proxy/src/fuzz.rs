//! What must hold for any request, for a fuzzer.

use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use wiremend_exchange::{Exchanges, is_own};

use crate::{
    Mending, Upstream,
    exchange::has_dots,
    headers::{change, lines, to_upstream},
};

/// Reads a request as the gateway does: lines with a target and with headers, an empty line, and a body.
///
/// # Errors
/// If something does not hold that must: a key of the gateway or of a connection is sent on, the request
/// goes to another host or above the path of its upstream, a body of JSON is sent on as something else, or
/// what was mended is mended again.
#[doc(hidden)]
pub fn request(data: &[u8]) -> Result<(), String> {
    let end = data.windows(2).position(|window| window == b"\n\n");
    let (head, body) = end.map_or((data, &[][..]), |end| (&data[..end], &data[end + 2..]));
    let mut lines = head.split(|byte| *byte == b'\n');
    let target = lines.next().and_then(|line| Uri::try_from(line).ok());
    let uri = target.unwrap_or_else(|| Uri::from_static("/v1/chat/completions"));
    let mut headers = HeaderMap::new();
    for line in lines.take(64) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = HeaderName::from_bytes(&line[..colon]);
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
    head_holds(&uri, headers)?;
    wiremend_exchange::fuzz::body(uri.path(), body)
}

fn head_holds(uri: &Uri, mut headers: HeaderMap) -> Result<(), String> {
    let exchanges = Exchanges::new(Mending::new());
    if let Ok(request) = exchanges.request("POST", uri.path(), lines(&headers)) {
        change(&mut headers, request.pass().header_edits());
        to_upstream(&mut headers, "api.example");
        let stays = |name: &HeaderName| {
            is_own(name.as_str())
                || ["connection", "upgrade", "transfer-encoding"].contains(&name.as_str())
        };
        if let Some(name) = headers.keys().find(|name| stays(name)) {
            return Err(format!("{name} is sent on"));
        }
    }
    let upstream = Upstream::parse("/p=https://api.example/base").map_err(|e| e.to_string())?;
    let path = uri.path();
    if uri.authority().is_none() && path.starts_with('/') && !has_dots(path) {
        let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        let sent = upstream.rest(path).and_then(|rest| upstream.target(rest, &query));
        let stays = |sent: &Uri| {
            sent.host() == Some("api.example")
                && sent
                    .path()
                    .strip_prefix("/base")
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if sent.as_ref().is_some_and(|sent| !stays(sent)) {
            return Err(format!("{path} goes to {sent:?}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{env, fs, path::Path};

    use wiremend_testkit::{Seed, adversary};

    use super::*;

    #[test]
    fn requests_hold_on_seeds_and_mutations() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/request");
        let files = fs::read_dir(folder).unwrap();
        let seeds: Vec<Vec<u8>> =
            files.map(|file| fs::read(file.unwrap().path()).unwrap()).collect();
        assert!(seeds.len() >= 3);
        let words = ["\"tool_calls\"", "{'", "\\\"", "..", "%2e", "x-wiremend-", "\n\n", "null"];
        let words: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        let mut seed = Seed::of(b"request");
        for data in &seeds {
            request(data).unwrap();
        }
        for _ in 0..2_000 {
            let (data, other) = (seed.pick(&seeds).unwrap(), seed.pick(&seeds).unwrap());
            let data = adversary::mutated(data, other, &words, &mut seed);
            let held = request(&data);
            assert_eq!(held, Ok(()), "{}", String::from_utf8_lossy(&data));
        }
    }
}
