//! Looking up tools by name, as providers declare them.

use std::thread;

use serde_json::{Value, json};
use wiremend_schema::{
    FitOptions, Registry, RegistryError, Resolved, Rule, Rules, Schema, SchemaError, SharedRegistry,
};

fn names(declared: &Value) -> Vec<String> {
    Registry::from_tools(declared).unwrap().names().map(str::to_owned).collect()
}

#[test]
fn every_form_of_declaration_is_read() {
    let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}});
    let forms = [
        json!([{"type": "function", "function": {"name": "f", "parameters": schema}}]),
        json!([{"type": "function", "name": "f", "parameters": schema}]),
        json!({"functions": [{"name": "f", "parameters": schema}]}),
        json!({"tools": [{"name": "f", "input_schema": schema}, {"type": "web_search"}]}),
        json!({"tools": [{"functionDeclarations": [{"name": "f", "parameters": schema}]}]}),
        json!({"functionDeclarations": [{"name": "f", "parameters": schema}]}),
        json!({"function_declarations": [{"name": "f", "parameters_json_schema": schema}]}),
        json!({"jsonrpc": "2.0", "result": {"tools": [{"name": "f", "inputSchema": schema}]}}),
        json!({"name": "f", "inputSchema": schema}),
    ];
    for form in forms {
        assert_eq!(names(&form), ["f"], "{form}");
        let registry = Registry::from_tools(&form).unwrap();
        let schema = registry.resolve(Some("f"), None).schema().unwrap().clone();
        let fitted = schema.fit(br#"{"q": 1}"#, &FitOptions::new());
        assert_eq!(fitted.text(), Some(r#"{"q": "1"}"#), "{form}");
    }
    assert_eq!(names(&json!([])), Vec::<String>::new());
}

#[test]
fn types_in_capitals_are_read() {
    let declared = json!([{"name": "f", "parameters": {"type": "OBJECT", "properties": {"n": {"type": "INTEGER", "nullable": true}}}}]);
    let registry = Registry::from_tools(&declared).unwrap();
    let schema = registry.resolve(Some("f"), None).schema().unwrap().clone();
    assert_eq!(schema.fit(br#"{"n": "1"}"#, &FitOptions::new()).text(), Some(r#"{"n": 1}"#));
    assert_eq!(schema.fit(br#"{"n": null}"#, &FitOptions::new()).text(), Some(r#"{"n": null}"#));
}

#[test]
fn anything_but_a_declaration_is_an_error() {
    for declared in [json!(1), json!({"a": 1}), json!([1]), json!([{"parameters": {}}])] {
        let error = Registry::from_tools(&declared).unwrap_err();
        assert!(matches!(error, RegistryError::Shape { .. }), "{declared}");
    }
    let error =
        Registry::from_tools(&json!([{"name": "f", "parameters": {"type": 1}}])).unwrap_err();
    assert!(
        matches!(&error, RegistryError::Schema { name, error: SchemaError::Refused { .. }, .. } if name == "f")
    );
}

#[test]
fn other_spellings_of_a_name_are_found_if_they_are_unambiguous() {
    let any = || Schema::compile(&json!({})).unwrap();
    let registry = Registry::new().with_tool("get_weather", any()).with_tool("math.add", any());
    let found = |name: &str| match registry.resolve(Some(name), None) {
        Resolved::Tool { name, .. } => Some(name.to_owned()),
        _ => None,
    };
    for name in
        ["get_weather", "getWeather", "functions.get_weather", "get_weather:0", "get.weather"]
    {
        assert_eq!(found(name).as_deref(), Some("get_weather"), "{name}");
    }
    assert_eq!(found("math_add").as_deref(), Some("math.add"));
    assert_eq!(found("weather"), None);
    let Resolved::Unknown { nearest, .. } = registry.resolve(Some("get_wether"), None) else {
        panic!()
    };
    assert_eq!(nearest, Some("get_weather"));
    let Resolved::Unknown { nearest, .. } = registry.resolve(Some("delete_everything"), None)
    else {
        panic!()
    };
    assert_eq!(nearest, None);
    let two = registry.with_tool("getWeather2", any()).with_tool("get_weather_2", any());
    assert!(matches!(two.resolve(Some("get weather 2"), None), Resolved::Unknown { .. }));
}

#[test]
fn names_precede_identifiers_and_identifiers_precede_the_default() {
    let of = |text: &str| Schema::from_text(text).unwrap();
    let registry = Registry::new()
        .with_tool("f", of(r#"{"type": "string"}"#))
        .with_schema(of(r#"{"$id": "urn:x", "type": "integer"}"#))
        .with_default(of(r#"{"type": "boolean"}"#));
    assert!(matches!(registry.resolve(Some("f"), Some("urn:x")), Resolved::Tool { .. }));
    assert!(matches!(registry.resolve(None, Some("urn:x")), Resolved::Id { .. }));
    assert!(matches!(registry.resolve(None, Some("urn:y")), Resolved::Default { .. }));
    assert!(matches!(registry.resolve(Some("g"), None), Resolved::Unknown { .. }));
    assert!(matches!(Registry::new().resolve(None, None), Resolved::None));
}

#[test]
fn files_are_found_by_name_and_identifier() {
    let files = [("user.schema.json", r#"{"$id": "urn:user"}"#), ("b.json", "true")];
    let registry = Registry::from_texts(files).unwrap();
    assert_eq!(registry.names().collect::<Vec<_>>(), ["b", "user"]);
    assert!(registry.resolve(None, Some("urn:user")).schema().is_some());
    assert!(Registry::from_texts([("x.json", "{")]).is_err());
}

#[test]
fn rules_can_be_set_for_each_tool() {
    let registry = Registry::new()
        .with_tool("patch", Schema::compile(&json!({})).unwrap())
        .with_rules("patch", Rules::new().without(Rule::DropNullOptional));
    let Resolved::Tool { rules, .. } = registry.resolve(Some("patch"), None) else { panic!() };
    assert!(!rules.allows(Rule::DropNullOptional, ""));
    assert!(rules.allows(Rule::StringToBool, ""));
}

#[test]
fn readers_keep_what_they_loaded_while_it_is_swapped() {
    let with = |name: &str| Registry::new().with_tool(name, Schema::compile(&json!({})).unwrap());
    let shared = SharedRegistry::new(with("old"));
    let before = shared.load();
    let writer = shared.clone();
    thread::spawn(move || writer.swap(with("new"))).join().unwrap();
    assert_eq!(before.names().collect::<Vec<_>>(), ["old"]);
    assert_eq!(shared.load().names().collect::<Vec<_>>(), ["new"]);
}
