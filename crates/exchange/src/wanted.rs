//! Whether a request wants JSON as content, and what it says of its schema.

use serde_json::value::RawValue;

use crate::members::{Members, items};

/// What a request wants of the content of its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// It is to be JSON.
    pub(crate) json: bool,
    /// Its schema, as the declaration of a tool is written: a list of one object, with a name and the schema.
    pub(crate) schema: Option<String>,
}

impl Wanted {
    const TEXT: Self = Self { json: false, schema: None };

    /// JSON with that schema, if there is one: an object, or the text of one.
    fn json(name: Option<&str>, schema: Option<&str>) -> Self {
        let text = |text: &str| serde_json::from_str::<String>(text).ok();
        let schema = schema.and_then(|schema| match schema.starts_with('"') {
            true => text(schema),
            false => Some(schema.to_owned()),
        });
        let schema = schema.filter(|schema| {
            schema.trim_start().starts_with('{')
                && serde_json::from_str::<&RawValue>(schema).is_ok()
        });
        let name = name.filter(|name| name.starts_with('"')).unwrap_or("\"\"");
        let declared = schema.map(|schema| format!("[{{\"name\":{name},\"schema\":{schema}}}]"));
        Self { json: true, schema: declared }
    }
}

/// What the content of the answer is to be.
pub(crate) fn wanted(members: &Members<'_>) -> Wanted {
    let at = |path: &[&str]| at(members, path);
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
        // Ollama.
        at(&["format"]).filter(|format| format.starts_with('{')),
    ];
    let of_formats =
        || formats.into_iter().flatten().find_map(|format| of_format(&Members::of(format)?));
    let of_schemas = || {
        let schema = schemas.into_iter().flatten().find(|schema| is_schema(schema))?;
        Some(Wanted::json(None, Some(schema)))
    };
    let is_named = at(&["structured_outputs", "json_object"]) == Some("true")
        || at(&["format"]) == Some("\"json\"");
    of_formats()
        .or_else(of_schemas)
        .or_else(|| is_named.then(|| Wanted::json(None, None)))
        .or_else(|| of_gemini(members))
        .or_else(|| of_interactions(members))
        .unwrap_or(Wanted::TEXT)
}

/// The member at the end of a path through objects.
fn at<'t>(members: &Members<'t>, path: &[&str]) -> Option<&'t str> {
    let (last, before) = path.split_last()?;
    let mut place = None;
    for name in before {
        place = Some(place.as_ref().unwrap_or(members).object(name)?);
    }
    place.as_ref().unwrap_or(members).get(last)
}

/// What a format wants that names JSON by its type.
fn of_format(format: &Members<'_>) -> Option<Wanted> {
    if !format.is_of(&["json_object", "json_schema", "json"]) {
        return None;
    }
    let inner = [&["json_schema"][..], &["structure", "jsonSchema"]].map(|path| at(format, path));
    let inner = inner.into_iter().flatten().next();
    let members = inner.and_then(Members::of);
    let stated = |members: &Members<'_>| members.get("schema").is_some();
    Some(match &members {
        Some(named) if stated(named) => Wanted::json(named.get("name"), named.get("schema")),
        // OpenAI's, which has a name, may have no schema; Cohere's is the schema itself.
        Some(named) if named.get("name").is_some() => Wanted::json(None, None),
        Some(members) if !members.is_empty() => Wanted::json(None, inner),
        _ => Wanted::json(format.get("name"), format.any(&["schema", "value"])),
    })
}

/// A schema is an object, or the text of one.
fn is_schema(value: &str) -> bool {
    value.starts_with('{') || (value.starts_with('"') && value != "\"\"")
}

/// Gemini, and Vertex AI.
fn of_gemini(members: &Members<'_>) -> Option<Wanted> {
    let config = Members::of(members.any(&["generationConfig", "generation_config"])?)?;
    let names = ["responseSchema", "response_schema", "responseJsonSchema", "response_json_schema"];
    let schema = names.iter().filter_map(|name| config.get(name)).find(|schema| *schema != "null");
    // With a list of words to choose from, Gemini answers with a word.
    let is_json = media(&config, &["responseMimeType", "response_mime_type"]);
    is_json.unwrap_or(schema.is_some()).then(|| Wanted::json(None, schema))
}

/// Gemini Interactions: a media type, or a list of formats with theirs.
fn of_interactions(members: &Members<'_>) -> Option<Wanted> {
    let format = members.get("response_format").unwrap_or_default();
    let formats = std::iter::once(format).chain(items(format)).filter_map(Members::of);
    let mut of_json = formats.filter(|format| media(format, &["mime_type"]) == Some(true));
    if let Some(format) = of_json.next() {
        return Some(Wanted::json(None, format.get("schema")));
    }
    // Beside a media type, the format is the schema.
    (media(members, &["response_mime_type"]) == Some(true))
        .then(|| Wanted::json(None, Some(format).filter(|format| format.starts_with('{'))))
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
        Members::of(body).is_some_and(|members| wanted(&members).json)
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

    #[test]
    fn the_schema_is_read_wherever_a_provider_has_it() {
        let (schema, named) =
            (r#"{"type":"object"}"#, r#"[{"name":"","schema":{"type":"object"}}]"#);
        let text = serde_json::json!(schema).to_string();
        for body in [
            r#"{"response_format":{"type":"json_schema","json_schema":{"name":"","schema":@S}}}"#,
            r#"{"response_format":{"type":"json_schema","json_schema":{"strict":true,"schema":@S}}}"#,
            r#"{"response_format":{"type":"json_object","schema":@S}}"#,
            r#"{"response_format":{"type":"json_object","json_schema":@S}}"#,
            r#"{"text":{"format":{"type":"json_schema","name":"","schema":@S}}}"#,
            r#"{"output_format":{"type":"json_schema","schema":@S}}"#,
            r#"{"output_config":{"format":{"type":"json_schema","schema":@S}}}"#,
            r#"{"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":@T}}}}}"#,
            r#"{"format":@S}"#,
            r#"{"guided_json":@S}"#,
            r#"{"guided_json":@T}"#,
            r#"{"nvext":{"guided_json":@S}}"#,
            r#"{"structured_outputs":{"json":@T}}"#,
            r#"{"json_schema":@S}"#,
            r#"{"sampling_params":{"json_schema":@T}}"#,
            r#"{"parameters":{"grammar":{"type":"json","value":@S}}}"#,
            r#"{"generationConfig":{"responseMimeType":"application/json","responseSchema":@S}}"#,
            r#"{"generationConfig":{"responseSchema":null,"responseJsonSchema":@S}}"#,
            r#"{"generation_config":{"response_json_schema":@S}}"#,
            r#"{"response_mime_type":"application/json","response_format":@S}"#,
            r#"{"response_format":[{"type":"audio"},{"type":"text","mime_type":"application/json","schema":@S}]}"#,
            r#"{"response_format":{"type":"text","mime_type":"application/json","schema":@S}}"#,
        ] {
            let body = body.replace("@S", schema).replace("@T", &text);
            let found = wanted(&Members::of(&body).unwrap());
            assert_eq!(found, Wanted { json: true, schema: Some(named.to_owned()) }, "{body}");
        }
        let body =
            r#"{"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{}}}}"#;
        let found = wanted(&Members::of(body).unwrap());
        assert_eq!(found.schema.as_deref(), Some(r#"[{"name":"n","schema":{}}]"#));
    }

    #[test]
    fn json_without_a_schema_has_none() {
        for body in [
            r#"{"response_format":{"type":"json_object"}}"#,
            r#"{"response_format":{"type":"json_schema","json_schema":{}}}"#,
            r#"{"response_format":{"type":"json_schema","json_schema":{"name":"n"}}}"#,
            r#"{"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":null}}}"#,
            r#"{"format":"json"}"#,
            r#"{"guided_json":"{\"type\":"}"#,
            r#"{"guided_json":"{}},{\"name\":\"x\""}"#,
            r#"{"structured_outputs":{"json_object":true}}"#,
            r#"{"generationConfig":{"responseMimeType":"application/json"}}"#,
            r#"{"response_mime_type":"application/json"}"#,
        ] {
            let found = wanted(&Members::of(body).unwrap());
            assert_eq!(found, Wanted { json: true, schema: None }, "{body}");
        }
    }
}
