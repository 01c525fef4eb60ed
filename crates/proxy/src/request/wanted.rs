//! Whether a request wants JSON as content.

use super::members::{Members, items};

/// Whether the answer's content is to be JSON.
pub(super) fn wants_json(members: &Members<'_>) -> bool {
    let at = |path: &[&str]| {
        let (last, before) = path.split_last()?;
        let mut place = None;
        for name in before {
            place = Some(place.as_ref().unwrap_or(members).object(name)?);
        }
        place.as_ref().unwrap_or(members).get(last)
    };
    let formats = [
        // OpenAI Chat, Mistral, Cohere, and whoever follows them.
        at(&["response_format"]),
        // OpenAI Responses.
        at(&["text", "format"]),
        // Anthropic, old and new.
        at(&["output_format"]),
        at(&["output_config", "format"]),
        // Bedrock Converse.
        at(&["outputConfig", "textFormat"]),
        // Text Generation Inference.
        at(&["parameters", "grammar"]),
    ];
    let schemas = [
        // vLLM, new and old, and what is made of it.
        at(&["structured_outputs", "json"]),
        at(&["guided_json"]),
        at(&["nvext", "guided_json"]),
        // llama.cpp; SGLang's own API.
        at(&["json_schema"]),
        at(&["sampling_params", "json_schema"]),
    ];
    formats.into_iter().flatten().any(|format| Members::of(format).is_some_and(|f| is_json(&f)))
        || schemas.into_iter().flatten().any(is_schema)
        || at(&["structured_outputs", "json_object"]) == Some("true")
        // Ollama: a schema, or `json`.
        || at(&["format"]).is_some_and(|format| format.starts_with('{') || format == "\"json\"")
        || of_gemini(members)
        || of_interactions(members)
}

/// Whether a format names JSON by its type.
fn is_json(format: &Members<'_>) -> bool {
    format.is_of(&["json_object", "json_schema", "json"])
}

/// A schema is an object, or the text of one.
fn is_schema(value: &str) -> bool {
    value.starts_with('{') || (value.starts_with('"') && value != "\"\"")
}

/// Gemini, and Vertex AI.
fn of_gemini(members: &Members<'_>) -> bool {
    let config = members.any(&["generationConfig", "generation_config"]).and_then(Members::of);
    config.is_some_and(|config| match media(&config, &["responseMimeType", "response_mime_type"]) {
        // With a list of words to choose from, Gemini answers with a word.
        Some(is_json) => is_json,
        None => {
            let names =
                ["responseSchema", "response_schema", "responseJsonSchema", "response_json_schema"];
            config.any(&names).is_some_and(|schema| schema != "null")
        }
    })
}

/// Gemini Interactions: a media type, or a list of formats with theirs.
fn of_interactions(members: &Members<'_>) -> bool {
    let format = members.get("response_format").unwrap_or_default();
    let formats = std::iter::once(format).chain(items(format)).filter_map(Members::of);
    let is_json = |format: &Members<'_>| media(format, &["mime_type"]) == Some(true);
    media(members, &["response_mime_type"]) == Some(true)
        || formats.into_iter().any(|f| is_json(&f))
}

/// Whether a media type is that of JSON, if there is one.
fn media(members: &Members<'_>, names: &[&str]) -> Option<bool> {
    let kind = names.iter().find_map(|name| members.string(name))?;
    let name = kind.split(';').next().unwrap_or_default().trim();
    Some(name.eq_ignore_ascii_case("application/json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(body: &str) -> bool {
        Members::of(body).is_some_and(|members| wants_json(&members))
    }

    #[test]
    fn it_is_known_whether_json_is_wanted() {
        for body in [
            r#"{"response_format":{"type":"json_object"}}"#,
            r#"{"response_format":{"type":"json_schema","json_schema":{}}}"#,
            r#"{"text":{"format":{"type":"json_schema"}}}"#,
            r#"{"output_format":{"type":"json_schema"}}"#,
            r#"{"output_config":{"format":{"type":"json_schema"}}}"#,
            r#"{"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":"{}"}}}}}"#,
            r#"{"format":"json"}"#,
            r#"{"format":{"type":"object"}}"#,
            r#"{"guided_json":{"type":"object"}}"#,
            r#"{"guided_json":"{\"type\":\"object\"}"}"#,
            r#"{"nvext":{"guided_json":{}}}"#,
            r#"{"structured_outputs":{"json":{"type":"object"}}}"#,
            r#"{"structured_outputs":{"json":"{}"}}"#,
            r#"{"structured_outputs":{"json_object":true}}"#,
            r#"{"json_schema":{"type":"object"}}"#,
            r#"{"sampling_params":{"json_schema":"{}"}}"#,
            r#"{"parameters":{"grammar":{"type":"json","value":{}}}}"#,
            r#"{"generationConfig":{"responseMimeType":"application/json"}}"#,
            r#"{"generationConfig":{"responseMimeType":"application/json; charset=utf-8"}}"#,
            r#"{"generation_config":{"response_mime_type":" Application/JSON ;x"}}"#,
            r#"{"generationConfig":{"responseSchema":{"type":"OBJECT"}}}"#,
            r#"{"generationConfig":{"responseJsonSchema":{"type":"object"}}}"#,
            r#"{"generation_config":{"response_json_schema":{"type":"object"}}}"#,
            r#"{"response_mime_type":"application/json","response_format":{"type":"object"}}"#,
            r#"{"response_format":[{"type":"audio"},{"type":"text","mime_type":"application/json"}]}"#,
            r#"{"response_format":{"type":"text","mime_type":"application/json","schema":{}}}"#,
        ] {
            assert!(wants(body), "{body}");
        }
    }

    #[test]
    fn what_only_looks_like_it_is_not_taken_for_it() {
        for body in [
            r#"{"response_format":{"type":"text"}}"#,
            r#"{"response_format":{"type":"text","json_schema":{}}}"#,
            r#"{"response_format":null,"text":{"format":{"type":"text"}}}"#,
            r#"{"response_format":"json","text":"json"}"#,
            r#"{"response_format":"mp3"}"#,
            r#"{"response_format":[{"type":"text","mime_type":"text/plain"}],"response_mime_type":"text/plain"}"#,
            r#"{"format":"","output_config":7}"#,
            r#"{"format":null,"output_format":"mp3"}"#,
            r#"{"outputConfig":{"textFormat":null},"output_config":{"effort":"low"}}"#,
            r#"{"outputConfig":{"textFormat":{"type":"text"}}}"#,
            r#"{"guided_json":null,"guided_regex":"a","guided_choice":["{}"],"guided_decoding_backend":"x"}"#,
            r#"{"guided_json":"","json_schema":null,"json_object":true}"#,
            r#"{"structured_outputs":{"regex":"json","json":null,"json_object":false}}"#,
            r#"{"structured_outputs":{"choice":["json"]},"structured_outputs_config":{"json":{}}}"#,
            r#"{"structured_outputs":true,"json_schema":true}"#,
            r#"{"sampling_params":{"regex":"json"},"parameters":{"grammar":{"type":"regex"}}}"#,
            r#"{"tools":[{"json_schema":{}}],"metadata":{"guided_json":{}}}"#,
            r#"{"generationConfig":{"responseMimeType":"text/x.enum","responseSchema":{}}}"#,
            r#"{"generationConfig":{"responseMimeType":"text/plain; application/json"}}"#,
            r#"{"generationConfig":{"responseMimeType":"application/jsonl"}}"#,
            r#"{"generation_config":{"response_json_schema":null}}"#,
            r#"["json"]"#,
            "",
        ] {
            assert!(!wants(body), "{body}");
        }
    }
}
