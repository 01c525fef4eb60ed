//! The output shown in README.md, docs/command.md and docs/many.md is what the program prints.

use std::{fs, path::PathBuf};

use crate::program::{command, content, file, json_lines, run};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    let rests: Vec<&str> = page.split(fence.as_str()).skip(1).collect();
    rests.into_iter().filter_map(|rest| rest.split("```").next()).collect()
}

/// The first command of the README, and what the README says that it prints.
#[test]
fn the_first_command_of_the_readme_prints_what_is_shown() {
    let page = fs::read_to_string(root().join("README.md")).unwrap();
    let first = blocks(&page, "sh")[0].lines().next().unwrap();
    let args: Vec<&str> = first
        .strip_prefix("cargo run --no-default-features -- ")
        .unwrap()
        .split_whitespace()
        .collect();
    let done = command(&args).current_dir(root()).output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    let printed = [done.stdout, done.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    let shown = blocks(&page, "text")[1];
    assert_eq!(shown.lines().count(), printed.lines().count(), "{printed}");
    for (shown, printed) in shown.lines().zip(printed.lines()) {
        // A line that is cut short ends with an ellipsis.
        let (start, cut) = match shown.strip_suffix(" …") {
            Some(start) if shown != printed => (start, true),
            _ => (shown, false),
        };
        assert!(printed.starts_with(start) && (cut || printed == start), "{shown}\n{printed}");
    }
}

/// The call on the first screen of the README, and what the README says that becomes of it.
#[test]
fn the_broken_call_of_the_readme_is_read_as_shown() {
    let page = fs::read_to_string(root().join("README.md")).unwrap();
    let call = blocks(&page, "text")[0].trim_end();
    let row = page.lines().find(|line| line.starts_with("| wiremend |")).unwrap();
    let wanted = row.split('`').nth(1).unwrap();
    let done = run(&["repair", "-v"], call);
    assert_eq!((done.code, done.stdout.as_str()), (3, wanted));
    assert_eq!(done.stderr.matches("unescaped-quote (likely)").count(), 4, "{}", done.stderr);
    assert!(done.stderr.contains("cut off:"), "{}", done.stderr);
}

#[test]
fn the_report_on_the_page_of_the_command_is_printed() {
    let page = fs::read_to_string(root().join("docs/command.md")).unwrap();
    let shown = blocks(&page, "text")[0];
    let (_, shown) = shown.split_once('\n').unwrap();
    let done = run(&["repair"], "{'a': True, 'b': None}\n");
    assert_eq!(done.stderr + &done.stdout, shown);
}

/// What the page says of the fields of a report is what `explain` says.
#[test]
fn the_page_of_many_documents_explains_the_report() {
    let page = fs::read_to_string(root().join("docs/many.md")).unwrap();
    let (_, table) = page.split_once("| field | |\n|---|---|\n").unwrap();
    let rows: Vec<&str> = table.lines().take_while(|line| line.starts_with('|')).collect();
    let report = file("documents.report.csv", "");
    run(&["repair", "--lines", "-q", "--report", report.to_str().unwrap()], "[]");
    let header = content(&report);
    let fields: Vec<&str> = header.lines().next().unwrap().split(',').collect();
    assert_eq!(rows.len(), fields.len());
    for (row, field) in rows.into_iter().zip(fields) {
        let explained = json_lines(&run(&["explain", "--json", field], "").stdout);
        let word = explained.iter().find(|word| word["of"] == "field").unwrap();
        assert_eq!(row, format!("| `{field}` | {} |", word["summary"].as_str().unwrap()));
    }
}

/// Each command on the page whose output is shown, in a shell that finds this program.
#[cfg(unix)]
#[test]
fn the_page_of_many_documents_shows_what_is_printed() {
    let page = fs::read_to_string(root().join("docs/many.md")).unwrap();
    let program = env!("CARGO_BIN_EXE_wiremend");
    let mut seen = 0;
    for block in blocks(&page, "text") {
        let Some((line, shown)) = block.strip_prefix("$ ").and_then(|rest| rest.split_once('\n'))
        else {
            continue;
        };
        let script = line.replace("| wiremend", &format!("| '{program}'"));
        let done = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(
            String::from_utf8([done.stdout, done.stderr].concat()).unwrap(),
            shown,
            "{line}"
        );
        seen += 1;
    }
    assert_eq!(seen, 2);
}
