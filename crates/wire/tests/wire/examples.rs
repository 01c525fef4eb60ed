//! The streams under `examples/streams`: checks what its README says about each.

use std::path::Path;

use wiremend_core::{MendOptions, Policy, RepairKind};
use wiremend_wire::{ApiFormat, Decoder, StreamOutcome, Transcript, WireOptions};

use crate::support::{call, calls};

/// Decodes an example whole, and in pieces of several sizes.
fn example(name: &str, options: &WireOptions) -> Transcript {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/streams").join(name);
    let body = std::fs::read(path).expect("the example is there");
    let whole = wiremend_wire::transcribe(&body, options.clone());
    for size in [1, 7, 64, 700] {
        let mut decoder = Decoder::new(options.clone());
        let mut pieces = Transcript::new();
        for piece in body.chunks(size) {
            decoder.push(piece, &mut |event| pieces.record(&event));
        }
        decoder.finish(&mut |event| pieces.record(&event));
        assert_eq!(pieces, whole, "{name} in pieces of {size}");
    }
    whole
}

fn default(name: &str) -> Transcript {
    let transcript = example(name, &WireOptions::new());
    assert_eq!(transcript.outcome(), StreamOutcome::Complete, "{name}");
    assert!(transcript.errors().is_empty(), "{name}");
    transcript
}

#[test]
fn openai_tool_call_broken() {
    let transcript = default("openai-tool-call-broken.sse");
    assert!(transcript.text().starts_with("I will put the review"));
    let arguments = r#"{"title": "Review of the north region", "attendees": ["mara@example.com", "tomas@example.com"], "notes": "Mara asked for the \"final\" figures, in thousands", "remote": true, "room": null, "minutes": 45}"#;
    assert_eq!(calls(&transcript), [call("create_event", arguments, "repaired")]);
    let all = transcript.calls();
    let has = |kind| all[0].repairs().iter().any(|repair| repair.kind() == kind);
    assert!(has(RepairKind::SingleQuote) && has(RepairKind::UnescapedQuote));
    assert!(has(RepairKind::PythonLiteral) && has(RepairKind::ExtraComma));
}

#[test]
fn openai_parallel_calls() {
    let written = r##"{"path": "notes/standup.md", "content": "# Standup\n\n- Ivo: tests green\n- Rana: reviewing #218\n"}"##;
    let transcript = default("openai-parallel-calls.sse");
    let all = calls(&transcript);
    assert_eq!(all[0], call("write_file", written, "repaired"));
    assert_eq!((all[1].0.as_str(), all[1].2), ("send_mail", "cut"));
    let permissive =
        WireOptions::new().with_mending(MendOptions::new().with_policy(Policy::PERMISSIVE));
    let all = calls(&example("openai-parallel-calls.sse", &permissive));
    let mail = r#"{"to": "team@example.com", "subject": "Standup notes", "body": "Hello,\nthe notes are in notes/standup.md.\n\nBye"}"#;
    assert_eq!(all[1], call("send_mail", mail, "closed"));
}

#[test]
fn openai_json_mode_fenced() {
    let transcript = default("openai-json-mode-fenced.sse");
    assert!(transcript.text().contains("```json\n{") && transcript.calls().is_empty());
}

#[test]
fn anthropic_tool_use_broken() {
    let transcript = default("anthropic-tool-use-broken.sse");
    assert_eq!(transcript.format(), Some(ApiFormat::Anthropic));
    assert!(transcript.reasoning().starts_with("The file has"));
    let arguments = r#"{"path": "src/sum.rs", "replace": "fn sum(xs: &[i64]) -> i64 {\n\txs.iter().sum()\n}\n", "backup": false, "lines": [3, 9]}"#;
    assert_eq!(calls(&transcript), [call("edit_file", arguments, "repaired")]);
}

#[test]
fn anthropic_cut_at_max_tokens() {
    let transcript = default("anthropic-cut-at-max-tokens.sse");
    let all = transcript.calls();
    assert_eq!(all[0].outcome().code(), "cut");
    assert!(all[0].arguments().ends_with("and the retu"));
    assert_eq!(transcript.finish().unwrap().original(), "max_tokens");
}

#[test]
fn clean_streams_are_forwarded_verbatim() {
    for name in ["openai-clean.sse", "anthropic-clean.sse"] {
        let transcript = default(name);
        assert_eq!(transcript.calls().len(), 2, "{name}");
        for call in transcript.calls() {
            assert_eq!((call.outcome().code(), call.repairs().len()), ("unchanged", 0), "{name}");
        }
    }
    let sensor = default("openai-clean.sse").calls()[1].arguments().to_owned();
    assert_eq!(
        sensor,
        r#"{"station":"Bregenz","metric":"temperature","threshold":-1.50,"serial":90071992547409931}"#
    );
}
