//! Text with quotes that a model writes into strings without escaping them: code, commands, prose. The
//! intended value is known here, so it can be compared with the result.

use serde_json::{Value, json};
use wiremend_core::{MendOptions, Mender, mend};
use wiremend_testkit::{laws, quoted};

/// Read as they were meant, on both paths, wherever they are.
const READ: &[&str] = &[
    r#"print("hello")"#,
    r#"x = {"a": "b", "c": 1}"#,
    r#"const o = {k: "v", w: ["x", "y"]};"#,
    r#"rows = [{"id": "1", "to": ["a", "b"]}, {"id": "2"}]"#,
    "config = {\n  \"mode\": \"fast\",\n  \"tags\": [\"a\", \"b\"]\n}\nrun(config[\"mode\"])",
    r#"echo "done""#,
    r#"git commit -m "docs: say why""#,
    r#"post -H "Accept: a/b" -d '{"k": "v", "n": 1}' "http://x.example/y""#,
    r#"export NAME="y"; run "$NAME""#,
    r#"SELECT "id", "name" FROM "users" WHERE "age" > 5"#,
    r#"<p class="a" title="b, c">text</p>"#,
    r#"s = "a" + "b" + c"#,
    r#"x["a"]["b"] = y["c"]"#,
    r#"@route("/x", methods=["GET", "POST"])"#,
    r#"assert f("a") == {"b": 1}, "why""#,
    "name: \"x\"\non:\n  push: \"y\"",
    "if x == \"a\" or x == \"b\":\n    y = \"c\"",
    r#"He said "yes", then "no"."#,
    r#"She said: "Yes", "No", and "Maybe"."#,
    r#"The "quick" fox"#,
    r#"ends in a "quote""#,
    r#"see "A", "B" and "C" (or "D")"#,
    r#"the word "end", which means: "stop""#,
    r#"a 5" pipe"#,
    r#"Answer: {"ok": true, "why": "because"} and that is all"#,
    r#"{"k": "v"}"#,
    r#"["a", "b", "c"]"#,
    r#""a": "b""#,
    r#""Yes", he said."#,
    r#""Yes" and "no""#,
    r#"Set "debug", "verbose": both on."#,
    r#"println!("{}", "x")"#,
    r#"print("{" + x + "}")"#,
    r#"print(f"{x} of {y}", "z")"#,
    r#"post -d "{}" http://x.example"#,
    r#"post -d "[]" http://x.example"#,
    r#"<div data-x="{"a": 1}">"#,
    r#"Payload: "{"a": "b"}""#,
    r#"jq ".[] | {"id": .id}""#,
    r#"["x", "y"].map(f)"#,
    r#"version = "1", features = ["derive"]"#,
    r#"sleep "5" seconds"#,
    r#"<input value="">"#,
    r#"x = "", "a""#,
    "def f():\n    \"\"\"What f does.\"\"\"\n    return 1",
    r#"lines.join("\n").replace("\t", " ")"#,
    r#"add("x", 3)"#,
    r#"run("a")[0]"#,
    r#"run("a"); // "b""#,
    r#"match k { "a" => 1, "b" => 2, _ => 3 }"#,
];

/// Read differently in at least one place.
const HARD: &[&str] = &[
    // A stream immediately ends a document that is valid so far.
    r#"if (s === "}") { depth--; }"#,
    r#"s.find("]") and s.find("[")"#,
    // In a list this is the end of an item, and the start of the next.
    r#"x = ", ".join(sorted(names), key="k")"#,
    r#"s.split(",").join(";")"#,
    r#"cut -d"," -f2 "x.csv""#,
    // A bracket in quotes closes the object of the text.
    r#"{"a": "}", "b": "],["}"#,
    // As far as can be seen, it is a member of the document.
    r#"Set "debug", "verbose": true."#,
];

/// Puts a text into documents, as a string in each.
fn documents(text: &str) -> [Value; 11] {
    [
        json!({"code": text}),
        json!({"code": text, "n": 1}),
        json!({"n": 1, "code": text, "lang": "x"}),
        json!({"path": "a", "code": text, "ok": true}),
        json!([{"code": text}, {"code": text}]),
        json!({"name": "write", "arguments": {"path": "x", "content": text}}),
        json!({"old": text, "new": text}),
        json!({"files": [{"p": "a", "c": text}, {"p": "b", "c": text, "m": [1, 2]}]}),
        json!({"steps": ["plain", text, "plain too"], "n": 2}),
        json!(["plain", text]),
        json!([[text, 1], [text, true]]),
    ]
}

/// The document as the model writes it: the quotes in the text are not escaped, but its line ends are.
fn careless(document: &Value, text: &str, pretty: bool) -> String {
    let json =
        if pretty { serde_json::to_string_pretty(document).unwrap() } else { document.to_string() };
    let escaped = json!(text).to_string();
    let bare = format!("\"{}\"", &escaped[1..escaped.len() - 1].replace("\\\"", "\""));
    json.replace(&escaped, &bare)
}

/// The places where the text does not come out as it was meant, by path.
fn misread(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for document in documents(text) {
        for pretty in [false, true] {
            let input = careless(&document, text, pretty);
            assert_ne!(serde_json::from_str::<Value>(&input).ok(), Some(document.clone()));
            let whole = mend(input.as_bytes(), &MendOptions::new());
            let read = whole.text().and_then(|text| serde_json::from_str::<Value>(text).ok());
            if read.as_ref() != Some(&document) {
                wrong.push(format!("whole: {input}\n    {:?}", whole.text()));
            }
            let mut out = Vec::new();
            let mut mender = Mender::new(MendOptions::new());
            for byte in input.as_bytes() {
                mender.push(std::slice::from_ref(byte), &mut out);
            }
            mender.finish(&mut out);
            if serde_json::from_slice::<Value>(&out).ok().as_ref() != Some(&document) {
                wrong.push(format!("stream: {input}\n    {}", String::from_utf8_lossy(&out)));
            }
        }
    }
    wrong
}

#[test]
fn quotations_are_read_as_they_were_meant() {
    let wrong: Vec<_> = READ.iter().flat_map(|text| misread(text)).collect();
    assert!(wrong.is_empty(), "{} misread\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn known_misreadings_are_still_misread() {
    for text in HARD {
        assert!(!misread(text).is_empty(), "this is read as it was meant now: {text}");
    }
}

/// Every place of a string, with every content before a quote, and everything that may follow it.
/// How many of these texts to skip, so that the debug build takes seconds; `EVERY=1` takes all.
#[test]
fn the_laws_hold_for_every_quote_in_doubt() {
    let every = std::env::var("EVERY").ok().and_then(|every| every.parse().ok()).unwrap_or(13);
    for text in quoted::texts().step_by(every) {
        let verdict = laws::all(text.as_bytes(), &MendOptions::new());
        assert!(verdict.is_ok(), "{text}: {}", verdict.unwrap_err());
    }
}
