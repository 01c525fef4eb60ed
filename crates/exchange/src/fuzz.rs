//! What must hold for the body of any request, for a fuzzer.

use std::sync::Arc;

use serde::de::IgnoredAny;

use crate::{Mending, request::Asked, switches::Switches, tools::ToolCache};

/// Reads the body of a request.
///
/// # Errors
/// If something does not hold that must: a tool is not found by its own name, a body of JSON is sent on as something else, or
/// what was mended is mended again.
pub fn body(path: &str, body: &[u8]) -> Result<(), String> {
    let read = |body| Asked::read(path, body, &mut Switches::of(Mending::new()));
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
