//! What must hold for any request, for a fuzzer.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use serde::de::IgnoredAny;

use crate::{
    Mending, Upstream,
    exchange::has_dots,
    headers::{is_own, to_upstream},
    request::{Asked, Switches, ToolCache},
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
    body_holds(&uri, body)
}

fn head_holds(uri: &Uri, mut headers: HeaderMap) -> Result<(), String> {
    if let Ok(switches) = Switches::take(&mut headers, Mending::new()) {
        // Whatever the name of a tool is.
        let _ = switches.of_tool(uri.path());
        to_upstream(&mut headers, "api.example", true);
        let stays = |name: &HeaderName| {
            is_own(name) || ["connection", "upgrade", "transfer-encoding"].contains(&name.as_str())
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

fn body_holds(uri: &Uri, body: &[u8]) -> Result<(), String> {
    let read = |body| Asked::read(uri, body, &mut Switches::of(Mending::new()));
    let asked = read(body);
    if let Some(tools) = asked.tools {
        let declared = Arc::new(ToolCache::default().of(tools));
        let names = declared.registry().map(|registry| registry.names().map(str::to_owned));
        for name in names.into_iter().flatten().take(8) {
            if declared.tool(&name).is_none() {
                return Err(format!("the tool {name:?} is not found by its own name"));
            }
        }
    }
    if let Some(schema) = asked.schema
        && serde_json::from_str::<IgnoredAny>(&schema).is_err()
    {
        return Err(format!("the schema of the content is no JSON: {schema}"));
    }
    let Some(sent) = asked.body else { return Ok(()) };
    // By its grammar: a number may be larger than what is read here.
    if serde_json::from_slice::<IgnoredAny>(body).is_ok()
        && serde_json::from_str::<IgnoredAny>(&sent).is_err()
    {
        return Err(format!("no JSON is sent on: {sent}"));
    }
    let again = read(sent.as_bytes());
    if again.fixed.is_any() {
        return Err(format!("mended twice: {sent}"));
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
