//! Which crates may depend on which, and what no source may contain.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{collections::BTreeMap, fs, path::PathBuf, process::Command};

use serde_json::Value;

/// The crates from the bottom up: a crate may depend on those before it, and on no others.
const CRATES: [&str; 15] = [
    "wiremend-core",
    "wiremend-extract",
    "wiremend-schema",
    "wiremend-summary",
    "wiremend-wire",
    "wiremend-response",
    "wiremend-exchange",
    "wiremend-reask",
    "wiremend-stream",
    "wiremend",
    "wiremend-plain",
    "wiremend-proxy",
    "wiremend-testkit",
    "wiremend-chaos",
    "wiremend-cli",
];

/// Crates without input or output, and without a clock.
const SANS_IO: [&str; 9] =
    ["core", "extract", "schema", "summary", "wire", "response", "exchange", "reask", "plain"];

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(wiremend_tests::root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The dependencies of each package: name, kind, whether optional.
fn dependencies() -> BTreeMap<String, Vec<(String, String, bool)>> {
    let text = |value: &Value| value.as_str().unwrap_or("normal").to_owned();
    let of = |package: &Value| {
        let dependencies = package["dependencies"].as_array().unwrap();
        let row = |d: &Value| (text(&d["name"]), text(&d["kind"]), d["optional"] == true);
        dependencies.iter().map(row).collect()
    };
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    packages.iter().map(|package| (text(&package["name"]), of(package))).collect()
}

#[test]
fn nothing_points_backwards() {
    let rank = |name: &str| CRATES.iter().position(|known| *known == name);
    let mut arrows = 0;
    for (name, dependencies) in dependencies() {
        let Some(own) = rank(&name) else { continue };
        for (other, kind, _) in dependencies {
            let Some(other_rank) = rank(&other).filter(|_| kind == "normal") else { continue };
            assert!(other_rank < own, "{name} depends on {other}");
            arrows += 1;
        }
        // The testkit is above the crates that it tests. They may depend on it only in their tests.
    }
    assert!(arrows >= 5, "only {arrows} arrows were seen");
}

#[test]
fn every_package_has_its_place() {
    for name in dependencies().keys() {
        let outside = ["wiremend-examples", "wiremend-tests"];
        let known = CRATES.contains(&name.as_str()) || outside.contains(&name.as_str());
        assert!(known, "{name} is not in `CRATES`: add it there");
    }
}

#[test]
fn the_core_has_no_dependency() {
    let all = dependencies();
    let core = &all["wiremend-core"];
    let hard: Vec<_> =
        core.iter().filter(|(_, kind, optional)| kind == "normal" && !optional).collect();
    assert!(hard.is_empty(), "{hard:?}");
    for (name, _, _) in core.iter().filter(|(_, kind, _)| kind == "normal") {
        assert!(["serde", "serde_json"].contains(&name.as_str()), "{name} is new to the core");
    }
    let extract: Vec<_> =
        all["wiremend-extract"].iter().filter(|(_, kind, _)| kind == "normal").collect();
    assert!(extract.iter().all(|(name, _, _)| name == "wiremend-core"), "{extract:?}");
}

/// The validator is half of a build, so programs without schemas must not have to build it.
#[test]
fn schemas_are_optional_above_their_crate() {
    let all = dependencies();
    for name in ["wiremend-stream", "wiremend"] {
        let schema = all[name].iter().find(|(other, ..)| other == "wiremend-schema");
        assert!(schema.is_some_and(|(_, _, optional)| *optional), "{name}");
    }
    for name in ["wiremend-exchange", "wiremend-reask"] {
        let own = all["wiremend"].iter().find(|(other, ..)| other == name);
        assert!(own.is_some_and(|(_, _, optional)| *optional), "{name}");
    }
}

#[test]
fn every_member_takes_the_lints_of_the_workspace() {
    let root = wiremend_tests::root();
    let workspace = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert!(workspace.contains("unsafe_code = \"forbid\""));
    for package in metadata()["packages"].as_array().unwrap() {
        let path = package["manifest_path"].as_str().unwrap();
        let manifest = fs::read_to_string(path).unwrap();
        let lints = manifest.split("[lints]").nth(1).unwrap_or_default();
        assert!(lints.trim_start().starts_with("workspace = true"), "{path}");
    }
}

/// The benches and the bindings are outside of the workspace and cannot inherit from it.
#[test]
fn packages_outside_take_the_lints_and_the_release_profile_of_the_workspace() {
    let tables = |manifest: &str| -> BTreeMap<String, String> {
        let text = fs::read_to_string(wiremend_tests::root().join(manifest)).unwrap();
        let tables = text.split("\n[").skip(1).filter_map(|table| table.split_once("]\n"));
        let named = |(name, lines): (&str, &str)| {
            let lines = lines.lines().filter(|line| line.contains('=') && !line.starts_with('#'));
            (name.trim_start_matches("workspace.").to_owned(), lines.collect::<Vec<_>>().join("\n"))
        };
        tables.map(named).collect()
    };
    let workspace = tables("Cargo.toml");
    for manifest in [
        "benches/Cargo.toml",
        "bindings/arrow/Cargo.toml",
        "bindings/datafusion/Cargo.toml",
        "bindings/node/Cargo.toml",
        "bindings/python/Cargo.toml",
    ] {
        let mut outside = tables(manifest);
        if manifest == "bindings/node/Cargo.toml" {
            // It has one file with exported names: `no_source_is_unsafe` knows it.
            let lints = outside.get_mut("lints.rust").unwrap();
            *lints = lints.replace("unsafe_code = \"deny\"", "unsafe_code = \"forbid\"");
        }
        for name in ["lints.rust", "lints.clippy", "profile.release"] {
            assert!(workspace[name].contains('='), "{name}");
            assert_eq!(outside.get(name), workspace.get(name), "{manifest}: {name}");
        }
    }
}

/// Every Rust source of the repository in the named folders.
fn sources(folders: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = folders.iter().map(|f| wiremend_tests::root().join(f)).collect();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty(), "no source below {folders:?}");
    found
}

/// A driver takes its timer and its client from the caller, so that it works with every runtime.
#[test]
fn asking_again_needs_no_runtime() {
    let all = dependencies();
    let normal = all["wiremend-reask"].iter().filter(|(_, kind, _)| kind == "normal");
    let foreign: Vec<&str> = normal
        .map(|(name, ..)| name.as_str())
        .filter(|name| {
            !name.starts_with("wiremend-") && !["httpdate", "serde", "serde_json"].contains(name)
        })
        .collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}

/// A transport of a client, in any language, does what the gateway does, and must not have to build the gateway.
#[test]
fn an_exchange_needs_nothing_but_what_reads_it() {
    let all = dependencies();
    let known =
        ["core", "extract", "response", "schema", "wire"].map(|name| format!("wiremend-{name}"));
    for (name, kind, _) in &all["wiremend-exchange"] {
        let is_known = known.contains(name) || ["serde", "serde_json"].contains(&name.as_str());
        assert!(kind != "normal" || is_known, "{name} is new to it");
    }
    let gateway = &all["wiremend-proxy"];
    assert!(gateway.iter().any(|(name, kind, _)| name == "wiremend-exchange" && kind == "normal"));
}

/// Who only mends text must not have to build a server and its encryption.
#[test]
fn only_the_gateway_has_a_server_and_encryption() {
    const HEAVY: [&str; 6] = ["hyper", "hyper-rustls", "hyper-util", "http", "rustls", "toml"];
    for (name, dependencies) in dependencies() {
        let found = dependencies
            .iter()
            .find(|(other, kind, _)| kind == "normal" && HEAVY.contains(&other.as_str()));
        assert!(name == "wiremend-proxy" || found.is_none(), "{name} depends on {found:?}");
        let proxy = dependencies.iter().find(|(other, ..)| other == "wiremend-proxy");
        assert!(proxy.is_none_or(|(_, _, optional)| *optional), "{name} always builds the gateway");
    }
}

/// The lines of code, without comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.starts_with("//"))
}

#[test]
fn no_source_is_unsafe() {
    // Put together here, so that this file does not contain the word itself.
    let word = ["un", "safe"].concat();
    for (path, text) in sources(&["crates", "tests", "benches", "bindings", "fuzz"]) {
        // What a host can call has to be exported by name.
        if path.ends_with("bindings/node/src/abi.rs") {
            continue;
        }
        for line in code(&text) {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            assert!(!words.any(|w| w == word), "{}: {line}", path.display());
        }
    }
}

#[test]
fn sans_io_crates_do_no_io() {
    const ABSENT: [&str; 9] = [
        "std::fs",
        "std::io",
        "std::net",
        "std::time",
        "std::thread",
        "std::process",
        "std::env",
        "Instant::now",
        "SystemTime",
    ];
    let folders = SANS_IO.map(|name| format!("crates/{name}/src"));
    for (path, text) in sources(&folders.each_ref().map(String::as_str)) {
        let outside_tests = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in code(outside_tests) {
            let found = ABSENT.iter().find(|absent| line.contains(**absent));
            assert!(found.is_none(), "{}: {line}", path.display());
        }
    }
    let core = fs::read_to_string(wiremend_tests::root().join("crates/core/src/lib.rs")).unwrap();
    assert!(core.contains("#![no_std]"));
}

#[test]
fn sources_stay_short_and_well_named() {
    const LONGEST: usize = 1000;
    for (path, text) in sources(&["crates", "tests", "benches", "bindings", "fuzz"]) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let vague =
            ["utils", "util", "common", "helpers", "helper", "misc"].contains(&stem.as_str());
        assert!(!vague, "the name of {} does not say what it contains", path.display());
        let outside_tests = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = outside_tests.lines().count();
        assert!(lines <= LONGEST, "{} has {lines} lines", path.display());
    }
}

/// A method of the engine in each of its sources, by name, and what each source calls.
struct Calls {
    defined: BTreeMap<String, Vec<String>>,
    called: BTreeMap<String, Vec<String>>,
}

/// Reads the sources of the engine. Only methods called on `self` count, which is all that its
/// sources call of one another, but for functions without any state.
fn calls_in_the_engine() -> Calls {
    let name_at = |text: &str| -> String {
        text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let (mut defined, mut called) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::new());
    let root = wiremend_tests::root().join("crates/core/src/engine");
    for (path, text) in sources(&["crates/core/src/engine"]) {
        let file = path.strip_prefix(&root).unwrap().display().to_string();
        let text: Vec<&str> = code(text.split("#[cfg(test)]").next().unwrap()).collect();
        let text = text.concat();
        for (at, _) in text.match_indices("fn ") {
            let rest = &text[at + 3..];
            let name = name_at(rest);
            let takes = rest.split_once('(').map(|(_, rest)| rest.trim_start());
            if takes.is_some_and(|rest| rest.starts_with("&self") || rest.starts_with("&mut self"))
            {
                defined.entry(name).or_default().push(file.clone());
            }
        }
        let calls = text.match_indices("self.").map(|(at, _)| &text[at + 5..]);
        let calls = calls.filter_map(|rest| {
            let name = name_at(rest);
            let generic = rest[name.len()..].starts_with("::<");
            (generic || rest[name.len()..].starts_with('(')).then_some(name)
        });
        called.insert(file, calls.collect());
    }
    Calls { defined, called }
}

#[test]
fn the_sources_of_the_engine_call_one_another_in_one_direction() {
    let Calls { defined, called } = calls_in_the_engine();
    // A name that several types have says nothing.
    let only = |name: &String| match defined.get(name).map(Vec::as_slice) {
        Some([file]) => Some(file.clone()),
        _ => None,
    };
    let mut arrows: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, names) in called {
        let others = names.iter().filter_map(only).filter(|other| *other != file);
        arrows.insert(file.clone(), others.collect());
    }
    assert!(arrows.values().map(Vec::len).sum::<usize>() > 200, "calls are not seen");
    // Remove what calls nothing that is left, until nothing is.
    while !arrows.is_empty() {
        let left: Vec<String> = arrows.keys().cloned().collect();
        arrows.retain(|_, others| others.iter().any(|other| left.contains(other)));
        assert!(arrows.len() < left.len(), "these call one another in a circle: {arrows:#?}");
    }
}

#[test]
fn the_workspace_says_why_for_every_member() {
    let manifest = fs::read_to_string(wiremend_tests::root().join("Cargo.toml")).unwrap();
    let members =
        manifest.split("members = [").nth(1).and_then(|rest| rest.split(']').next()).unwrap();
    for member in members.lines().map(str::trim).filter(|line| !line.is_empty()) {
        assert!(member.contains('#'), "no comment next to the member {member}");
    }
    let (above, excluded) = manifest.split_once("exclude = [").unwrap();
    let reasons: Vec<&str> = above.lines().rev().take_while(|line| line.starts_with('#')).collect();
    for name in excluded.split(']').next().unwrap().split(',') {
        let name = name.trim().trim_matches('"');
        let reason = reasons.iter().any(|line| line.contains(&format!("`{name}`")));
        assert!(reason, "no comment above says why {name} is excluded");
    }
}
