//! `repair` with records: JSON Lines, and fields of them and of tables.

use std::{collections::BTreeMap, fs};

use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::Value;

use crate::{
    many::gzip,
    program::{content, file, folder, json_lines, run, run_split},
};

#[test]
fn a_bad_line_costs_no_other() {
    let text = "{'a': 1}\r\n\n{\"b\": 2.50 }\nnonsense\n{\"c\": [1\n\"{\\\"d\\\": 1,\\n}\"";
    let done = run(&["repair", "--lines"], text);
    assert_eq!(done.code, 4);
    assert_eq!(done.stdout, "{\"a\": 1}\r\n{\"b\": 2.50 }\n{\"c\": [1]}\n\"{\\\"d\\\": 1,\\n}\"");
    assert!(done.stderr.contains("<stdin>:4: none: no JSON found"), "{}", done.stderr);
    assert!(done.stderr.contains("<stdin>:5: closed"), "{}", done.stderr);
    assert!(done.stderr.contains("5 records in 1 file: "), "{}", done.stderr);

    let null = run(&["repair", "--lines", "--or-null"], text).stdout;
    assert_eq!(null.lines().nth(2), Some("null"));
    let as_it_came = run(&["repair", "--lines", "--or-input"], text).stdout;
    assert_eq!(as_it_came.lines().nth(2), Some("nonsense"));
    let compact = run(&["repair", "--lines", "--jsonl"], text).stdout;
    assert_eq!(compact.lines().nth(1), Some("{\"b\":2.50}"));

    let reports = json_lines(&run(&["repair", "--lines", "--json"], text).stdout);
    let lines: Vec<u64> = reports.iter().filter_map(|report| report["at_line"].as_u64()).collect();
    assert_eq!(lines, [1, 3, 4, 5, 6]);
}

#[test]
fn valid_lines_pass_byte_for_byte() {
    let text = " {\"a\": 1.0, \"a\": 1e400}\r\n[ ]\n\t\"é\\u00e9\" \r\n3\n{\"z\":[1,\n";
    let valid = text.strip_suffix("{\"z\":[1,\n").unwrap();
    for size in [1, 7, text.len()] {
        let done = run_split(&["repair", "--lines"], valid, size);
        assert_eq!((done.code, done.stdout.as_str()), (0, valid));
    }
    let path = file("records_same.jsonl", valid);
    let before = fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(run(&["repair", "--lines", "--in-place", path.to_str().unwrap()], "").code, 0);
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
}

#[test]
fn rejects_are_kept_as_they_came() {
    let text = "{'a': 1}\nnonsense\n{\"c\": [1\nmore \u{e9}\r\n[1]\nlast";
    let rejects = folder("records_rejects").join("rejects.txt");
    let args = ["repair", "--lines", "--rejects", rejects.to_str().unwrap()];
    let done = run(&args, text);
    assert_eq!((done.code, done.stdout.as_str()), (4, "{\"a\": 1}\n{\"c\": [1]}\n[1]\n"));
    assert_eq!(content(&rejects), "nonsense\nmore \u{e9}\r\nlast");
    let done = run(&[&args[..], &["--max-risk", "likely"]].concat(), text);
    assert_eq!((done.code, done.stdout.as_str()), (4, "{\"a\": 1}\n[1]\n"));
    assert_eq!(content(&rejects), "nonsense\n{\"c\": [1\nmore \u{e9}\r\nlast");
}

#[test]
fn in_place_nothing_is_lost() {
    let text = "{'a': 1}\nnonsense\n\n[1]";
    let path = file("records_place.jsonl", text);
    let name = path.to_str().unwrap();
    assert_eq!(run(&["repair", "--lines", "--in-place", name], "").code, 4);
    assert_eq!(content(&path), "{\"a\": 1}\nnonsense\n[1]");
    let rejects = path.with_extension("rejects");
    run(&["repair", "--lines", "--in-place", name, "--rejects", rejects.to_str().unwrap()], "");
    assert_eq!(
        (content(&path).as_str(), content(&rejects).as_str()),
        ("{\"a\": 1}\n[1]", "nonsense\n")
    );
}

#[test]
fn compressed_lines_come_as_they_are() {
    let text = "['a',]\n".repeat(3000);
    let zstd = |text: &[u8]| compress_to_vec(text, CompressionLevel::Fastest);
    let expected = "[\"a\"]\n".repeat(6000);
    for pack in [&gzip as &dyn Fn(&[u8]) -> Vec<u8>, &zstd] {
        let two = [pack(text.as_bytes()), pack(text.as_bytes())].concat();
        assert_eq!(run(&["repair", "--lines"], &two).stdout, expected);
        // What came before the damage is printed, and no part of a line.
        let done = run(&["repair", "--lines"], &two[..two.len() - 6]);
        assert_eq!(done.code, 6, "{}", done.stderr);
        assert!(done.stdout.lines().all(|line| line == "[\"a\"]"), "{}", done.stdout);
        assert!(done.stderr.contains("; 1 file failed"), "{}", done.stderr);
        // In a file, there is no half of a result.
        let path = file("records_torn.jsonl.gz", &two[..two.len() - 6]);
        let out = folder("records_torn");
        let args = ["repair", "--lines", path.to_str().unwrap(), "--out", out.to_str().unwrap()];
        assert_eq!(run(&args, "").code, 6);
        assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
    }
}

#[test]
fn a_line_over_the_limit_is_one_reject() {
    let long = format!("['{}']", "x".repeat(1_000_000));
    let text = format!("[1,]\n{long}\n[2,]\n{long}");
    let rejects = folder("records_long").join("rejects");
    let args = ["repair", "--lines", "--max-input", "1000", "--rejects", rejects.to_str().unwrap()];
    let done = run(&args, &text);
    assert_eq!((done.code, done.stdout.as_str()), (5, "[1]\n[2]\n"));
    assert!(done.stderr.contains("4 records in 1 file: 2 overflow, 2 repaired"), "{}", done.stderr);
    assert!(done.stderr.contains("<stdin>:2: overflow"), "{}", done.stderr);
    assert!(content(&rejects) == format!("{long}\n{long}"));
    let null = run(&["repair", "--lines", "--max-input", "1000", "--or-null"], &text);
    assert_eq!(null.stdout, "[1]\nnull\n[2]\nnull");
    // It is mended if it may be.
    let done = run(&["repair", "--lines"], &text);
    assert_eq!((done.code, done.stdout.len()), (0, text.len() - 2));
}

#[test]
fn a_field_is_mended_and_the_rest_is_not() {
    let text = concat!(
        "{\"id\": 1.0, \"answer\": \"{'a': \\\"\\u00e9\\\",}\", \"x\":[ 1 ]}\r\n",
        "\n",
        "{\"answer\":null,\"id\":2}\n",
        "{\"id\":3,\"answer\" : \"none here\"}\n",
        "{\"id\":4,\"answer\":{\"a\": 1}}\n",
        "{\"id\":5}\n",
        "{\"id\":6, \"answer\": \"{\\\"a\\\":\\u0020 1}\"}\n",
        "{broken}"
    );
    let done = run(&["repair", "--field", "answer"], text);
    assert_eq!(done.code, 5);
    let expected = text.replace("{'a': \\\"\\u00e9\\\",}", "{\\\"a\\\": \\\"\\u00e9\\\"}");
    assert_eq!(done.stdout, expected);
    assert!(
        done.stderr
            .contains("7 records in 1 file: 2 absent, 2 unchanged, 1 invalid, 1 none, 1 repaired"),
        "{}",
        done.stderr
    );

    let rejects = folder("records_field").join("rejects");
    let args = ["repair", "--field", "answer", "--rejects", rejects.to_str().unwrap()];
    let done = run(&args, text);
    assert_eq!(
        done.stdout.lines().count() + content(&rejects).lines().count(),
        text.lines().count()
    );
    assert_eq!(content(&rejects), "{\"id\":3,\"answer\" : \"none here\"}\n{broken}");
    let null = run(&["repair", "--field", "answer", "--or-null"], text);
    assert!(null.stdout.contains("{\"id\":3,\"answer\" : null}\n"), "{}", null.stdout);

    let absent = run(&["repair", "--field", "answr"], "{\"answer\": \"[1,]\"}\n");
    assert_eq!(absent.code, 4);
    assert!(absent.stderr.contains("no record has the field"), "{}", absent.stderr);
}

#[test]
fn a_field_may_be_deep_and_one_of_several() {
    let text = r#"{"choices":[{"text":"[1,]"},{"text":"[2 3]"}],"note":"{a:1}"}"#;
    let done = run(&["repair", "--field", "/choices/1/text", "--field", "note"], text);
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (0, r#"{"choices":[{"text":"[1,]"},{"text":"[2, 3]"}],"note":"{\"a\":1}"}"#)
    );
    let schema = file("records.schema.json", r#"{"type": "array", "items": {"type": "integer"}}"#);
    let args = ["repair", "--field", "v", "--schema", schema.to_str().unwrap()];
    let done = run(&args, "{\"v\": \"['1', 2]\"}\n{\"v\": [\"3\"]}\n{\"v\": \"true\"}\n");
    assert_eq!(done.code, 5);
    assert_eq!(done.stdout, "{\"v\": \"[1, 2]\"}\n{\"v\": [3]}\n{\"v\": \"true\"}\n");
}

#[test]
fn a_column_of_a_table_is_mended() {
    let text = concat!(
        "\u{feff}id,\"answer\",note\r\n",
        "1,\"{'a': \"\"b\"\"}\",\"x, y\"\r\n",
        "2,,z\r\n",
        "3,\"[1,\r\n2]\",plain \"quoted\"\r\n",
        "4,too,many,cells\r\n",
        "5,[1;2],\r\n",
        "6,[7],"
    );
    let path = file("records.csv", text);
    let done = run(&["repair", "--field", "answer", path.to_str().unwrap()], "");
    let expected = text.replace("{'a': \"\"b\"\"}", "{\"\"a\"\": \"\"b\"\"}");
    let expected = expected.replace("[1;2]", "\"[1,2]\"");
    assert_eq!(done.stdout, expected, "{}", done.stderr);
    assert_eq!(done.code, 5);
    assert!(
        done.stderr.contains("records.csv:6: invalid: the row has 4 cells, and the header has 3"),
        "{}",
        done.stderr
    );

    let rejects = path.with_extension("rejects.csv");
    let args = ["repair", "--csv", "--field", "answer", "--rejects", rejects.to_str().unwrap()];
    let done = run(&args, text);
    assert_eq!(content(&rejects), "\u{feff}id,\"answer\",note\r\n4,too,many,cells\r\n");
    assert_eq!(done.stdout.len() + "4,too,many,cells\r\n".len(), expected.len());

    let tabs = run(&["repair", "--csv", "--field", "a"], "a\tb\n{'x':1}\t2\n");
    assert_eq!(tabs.stdout, "a\tb\n\"{\"\"x\"\":1}\"\t2\n");
    let none = run(&["repair", "--csv", "--field", "c"], "a,b\n1,2\n");
    assert_eq!(none.code, 6);
    assert!(none.stderr.contains("does not name the column c"), "{}", none.stderr);
    assert_eq!(run(&["repair", "--csv", "--field", "c"], "").code, 0);
}

#[test]
fn the_results_of_several_inputs_do_not_run_into_each_other() {
    let (one, two) = (file("records_1.jsonl", "[1,]\n[2]"), file("records_2.jsonl", "[3,]"));
    let done = run(&["repair", "--lines", one.to_str().unwrap(), two.to_str().unwrap()], "");
    assert_eq!(done.stdout, "[1]\n[2]\n[3]");
    assert!(
        done.stderr.contains("3 records in 2 files: 2 repaired, 1 unchanged"),
        "{}",
        done.stderr
    );
    let out = folder("records_out");
    let root = folder("records_in");
    fs::write(root.join("a.jsonl"), "[1,]\n").unwrap();
    fs::write(root.join("b.jsonl"), "[2]").unwrap();
    run(&["repair", "--lines", root.to_str().unwrap(), "--out", out.to_str().unwrap()], "");
    assert_eq!(
        (content(&out.join("a.jsonl")).as_str(), content(&out.join("b.jsonl")).as_str()),
        ("[1]\n", "[2]")
    );
}

fn outcomes(report: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for row in json_lines(report) {
        *counts.entry(row["outcome"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// As many lines come out as go in, or are kept aside, each as the one document would be; and the
    /// outcomes that are counted are as many.
    #[test]
    fn every_line_is_accounted_for(
        lines in prop::collection::vec("[\\[\\]{}'\":,a1 tn\\\\é]{0,12}", 0..60),
        crlf in any::<bool>(),
        last in any::<bool>(),
        size in 1_usize..200,
        threads in 1_usize..4,
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        let mut text = lines.join(end);
        if last {
            text.push_str(end);
        }
        let records: Vec<&str> =
            text.lines().filter(|line| !line.trim_ascii().is_empty()).collect();
        let place = folder("records_property");
        let (report, rejects) = (place.join("report"), place.join("rejects"));
        let threads = threads.to_string();
        let args = [
            "repair", "--lines", "--threads", &threads,
            "--report", report.to_str().unwrap(), "--rejects", rejects.to_str().unwrap(),
        ];
        let done = run_split(&args, &text, size);
        let rejected = content(&rejects);
        prop_assert_eq!(done.stdout.lines().count() + rejected.lines().count(), records.len());
        let counts = outcomes(&content(&report));
        prop_assert_eq!(counts.values().sum::<usize>(), records.len());
        for (outcome, count) in &counts {
            if !records.is_empty() {
                let part = format!("{count} {outcome}");
                prop_assert!(done.stderr.contains(&part), "{} {}", part, done.stderr);
            }
        }
        for line in done.stdout.lines() {
            prop_assert!(serde_json::from_str::<&serde_json::value::RawValue>(line).is_ok(), "{}", line);
        }
        for line in rejected.lines() {
            prop_assert!(records.contains(&line), "{}", line);
        }
        // The same results as one document at a time has.
        let requests: Vec<String> =
            records.iter().map(|record| serde_json::json!({ "input": record }).to_string()).collect();
        let replies = json_lines(&run(&["batch"], requests.join("\n")).stdout);
        let expected: Vec<&Value> =
            replies.iter().map(|reply| &reply["json"]).filter(|json| !json.is_null()).collect();
        prop_assert_eq!(done.stdout.lines().count(), expected.len());
        for (line, json) in done.stdout.lines().zip(expected) {
            let json = json.as_str().unwrap();
            if !json.contains('\n') {
                prop_assert_eq!(line, json);
            }
        }
    }
}

#[test]
fn the_name_of_a_file_says_that_its_lines_are_records() {
    let text = "{\"s\": \"abc\n{\"s\": \"x\"}\n\n{'s': 1}\n";
    let mended = "{\"s\": \"abc\"}\n{\"s\": \"x\"}\n{\"s\": 1}\n";
    for ending in ["jsonl", "ndjson", "jsonl.gz"] {
        let bytes = if ending.ends_with("gz") { gzip(text.as_bytes()) } else { text.into() };
        let path = file(&format!("records_by_name.{ending}"), bytes);
        let name = path.to_str().unwrap();
        let done = run(&["repair", name], "");
        assert_eq!((done.code, done.stdout.as_str()), (3, mended), "{ending}");
        assert!(done.stderr.contains(&format!("{name}:1: closed")), "{}", done.stderr);
        assert!(done.stderr.contains("3 records in 1 file: "), "{}", done.stderr);
        // Whoever says how the documents of a text are taken has a text.
        let first = run(&["repair", "--trailing", "first", name], "").stdout;
        assert_eq!(first.trim_end().lines().count(), 1, "{first}");
        let best = run(&["repair", "--scope", "best", name], "").stderr;
        assert!(!best.contains(" records in "), "{best}");
        let done = run(&["check", name], "");
        assert_eq!(done.code, 1);
        assert!(done.stdout.contains(&format!("{name}:4: not valid JSON, can be repaired")));
        assert!(!done.stdout.contains(&format!("{name}:2:")), "{}", done.stdout);
    }
    let good = file("records_by_name_good.jsonl", "{}\n[1]\n");
    let done = run(&["check", good.to_str().unwrap()], "");
    assert_eq!(done.code, 0);
    assert!(done.stdout.ends_with("good.jsonl: valid JSON Lines\n"), "{}", done.stdout);
    assert_eq!(run(&["check", "--lines"], "{}\n[1]\n").code, 0);
    let reports = json_lines(&run(&["check", "--lines", "--json"], "{}\n\n[1,]\n").stdout);
    let lines: Vec<_> = reports.iter().map(|report| report["at_line"].as_u64()).collect();
    assert_eq!(lines, [Some(1), Some(3)]);

    // In a directory, each file is read by its name.
    let root = folder("records_by_name");
    fs::write(root.join("a.json"), "[1,\n2,]").unwrap();
    fs::write(root.join("b.jsonl"), "[ 1 ]\nnone\n{'a': 1}").unwrap();
    let name = root.to_str().unwrap();
    let done = run(&["repair", name], "");
    assert_eq!((done.code, done.stdout.as_str()), (4, "[1,2]\n[ 1 ]\n{\"a\": 1}"));
    assert!(
        done.stderr.contains("4 documents: 2 repaired, 1 none, 1 unchanged"),
        "{}",
        done.stderr
    );
    let out = folder("records_by_name_out");
    run(&["repair", name, "--out", out.to_str().unwrap()], "");
    assert_eq!(content(&out.join("a.json")), "[1,\n2]");
    assert_eq!(content(&out.join("b.jsonl")), "[ 1 ]\n{\"a\": 1}");
    let done = run(&["check", name], "");
    assert_eq!(done.code, 1);
    assert!(done.stdout.contains("a.json: not valid JSON") && done.stdout.contains("b.jsonl:2: "));
    assert_eq!(run(&["check", name, "--match", "*.txt"], "").code, 0);
}

/// Without a name, the text is one, and whoever meant lines is told.
#[test]
fn lines_that_are_read_as_one_text_are_named() {
    let hint = "each line begins a document: --lines reads each by itself";
    let joined = run(&["repair"], "{'a': 1}\n{\"b\": 2}\n");
    assert_eq!(joined.code, 0);
    assert!(joined.stderr.contains(hint), "{}", joined.stderr);
    // Here the second line becomes the rest of the first. So a document is missing.
    let text = "{\"s\": \"abc\n{\"s\": \"x\"}\n";
    let done = run(&["repair", "-q"], text);
    assert_eq!(done.code, 3);
    let message =
        "line 2 is a document, and was read as a part of another: --lines reads each by itself";
    assert!(done.stderr.contains(message), "{}", done.stderr);
    let path = file("records_taken.txt", text);
    let report = file("records_taken.report.jsonl", "");
    let args = ["repair", path.to_str().unwrap(), "--report", report.to_str().unwrap()];
    assert_eq!(run(&args, "").code, 3);
    let row = &json_lines(&content(&report))[0];
    assert_eq!((&row["dropped"], &row["message"]), (&true.into(), &message.into()));
    // Records that look like a body are records all the same.
    let done = run(&["repair"], "{\"generated_text\": 1}\n{\"generated_text\": 2}\n");
    assert_eq!(done.code, 0);
    assert!(done.stderr.contains("`wiremend stream`, as the body"), "{}", done.stderr);
    for quiet in ["[\n{'a': 1},\n{\"b\": 2}\n]", "{'a': 1}", "Sure:\n{'a': 1}\n{\"b\": 2}\n"] {
        assert!(!run(&["repair"], quiet).stderr.contains("--lines"), "{quiet}");
    }
}
