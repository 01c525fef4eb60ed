//! The examples of the pages, as GitHub shows them, in a new program that depends on `wiremend` alone.

use std::{fmt::Write as _, fs, path::Path, process::Command};

const PAGES: [&str; 8] = [
    "README.md",
    "docs/calls.md",
    "docs/dialects.md",
    "docs/extending.md",
    "docs/fuzzing.md",
    "docs/reask.md",
    "docs/schema.md",
    "docs/streams.md",
];

/// The examples of a page, as a reader copies them.
fn snippets(page: &str) -> Vec<String> {
    let text = fs::read_to_string(wiremend_tests::root().join(page)).unwrap();
    let blocks = text.split("```rust\n").skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn nothing_is_hidden_in_a_snippet_and_it_names_the_facade() {
    for page in PAGES {
        for snippet in snippets(page) {
            let hidden = snippet.lines().any(|line| line.starts_with("# ") || line == "#");
            assert!(!hidden, "{page}: a reader sees the hidden lines of\n{snippet}");
            let others = snippet.replace("wiremend_testkit", "");
            assert!(
                !others.contains("wiremend_"),
                "{page}: only the facade is named in\n{snippet}"
            );
        }
    }
}

/// Each is the body of `main`, unless it has a `main` of its own.
#[test]
#[ignore = "compiles a program for each: .ci/run does"]
fn every_snippet_compiles_in_a_new_program() {
    let root = wiremend_tests::root();
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("snippets");
    fs::create_dir_all(package.join("examples")).unwrap();
    let mut seen = 0;
    for page in PAGES {
        for snippet in snippets(page) {
            let name = format!("{}_{seen}.rs", page.replace(['/', '.'], "_"));
            let program = if snippet.contains("fn main(") {
                snippet
            } else {
                format!(
                    "#![allow(unused)]\nfn main() -> Result<(), Box<dyn std::error::Error>> {{\n{snippet}\nOk(())\n}}\n"
                )
            };
            fs::write(package.join("examples").join(name), program).unwrap();
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen} snippets");
    let crates = |name: &str| root.join("crates").join(name).display().to_string();
    let mut manifest = String::new();
    write!(
        manifest,
        r#"[package]
name = "snippets"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
wiremend = {{ path = '{}', features = ["reask", "schema", "schemars", "serde_json"] }}
wiremend-testkit = {{ path = '{}', features = ["proptest"] }}
futures = "0.3"
proptest = {{ version = "1", default-features = false, features = ["std"] }}
schemars = "1"
serde = {{ version = "1", features = ["derive"] }}
serde_json = "1"
"#,
        crates("wiremend"),
        crates("testkit")
    )
    .unwrap();
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::create_dir_all(package.join("src")).unwrap();
    fs::write(package.join("src/lib.rs"), "").unwrap();
    // The same versions as here, which are on this machine.
    fs::copy(root.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    let done = Command::new(env!("CARGO"))
        .args(["check", "--examples", "--offline", "--manifest-path"])
        .arg(package.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", package.join("target"))
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
