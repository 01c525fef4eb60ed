//! `repair` with files and directories.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use serde_json::Value;

use crate::program::{command, content, file, folder, json_lines, run, run_split};

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A directory with one file of each kind.
fn answers(name: &str) -> PathBuf {
    let root = folder(name);
    fs::create_dir_all(root.join("deep/er")).unwrap();
    fs::write(root.join("a.json"), "{'a': 1,\n 'b': [True]}\n").unwrap();
    fs::write(root.join("b.json"), "{\"ok\": 1.10}\n").unwrap();
    fs::write(root.join("c.txt"), "no answer").unwrap();
    fs::write(root.join("deep/cut.json"), "{\"a\": [1").unwrap();
    fs::write(root.join("deep/empty.json"), "").unwrap();
    fs::write(root.join("deep/er/x.json"), "Sure: [1,]").unwrap();
    fs::write(root.join(".hidden.json"), "[1,]").unwrap();
    root
}

#[test]
fn each_result_is_a_line() {
    let root = answers("many_lines");
    let done = run(&["repair", root.to_str().unwrap()], "");
    assert_eq!(done.code, 4, "{}", done.stderr);
    assert_eq!(done.stdout, "{\"a\":1,\"b\":[true]}\n{\"ok\":1.10}\n{\"a\":[1]}\n[1]\n");
    let last = done.stderr.lines().last().unwrap();
    assert!(
        last.starts_with("6 documents: 2 none, 2 repaired, 1 closed, 1 unchanged; 8 repairs: "),
        "{last}"
    );
    assert!(last.ends_with("; left out in directories: 1 hidden"), "{last}");
    // What fails is named.
    for name in ["c.txt: none", "cut.json: closed", "empty.json: none"] {
        assert!(done.stderr.contains(name), "{name}: {}", done.stderr);
    }
    assert!(!done.stderr.contains("a.json"), "{}", done.stderr);

    let done = run(&["repair", "--or-null", root.to_str().unwrap()], "");
    assert_eq!(done.stdout.lines().count(), 6);
    assert_eq!(done.stdout.lines().nth(2), Some("null"));
}

#[test]
fn one_file_is_as_it_is_alone() {
    let path = file("many_one.json", "{'a': 1,\n 'b': 2}");
    let name = path.to_str().unwrap();
    assert_eq!(run(&["repair", name], "").stdout, "{\"a\": 1,\n \"b\": 2}");
    assert_eq!(run(&["repair", "--jsonl", name], "").stdout, "{\"a\":1,\"b\":2}\n");
    let two = run(&["repair", name, name], "");
    assert_eq!((two.code, two.stdout.lines().count()), (0, 2));
    assert_eq!(run(&["repair", name, "-"], "[1 2]").stdout.lines().last(), Some("[1,2]"));
}

#[test]
fn results_go_to_a_directory() {
    let root = answers("many_out");
    let out = folder("many_out_results");
    fs::write(root.join("z.json.gz"), gzip(b"[1,]")).unwrap();
    let done = run(&["repair", root.to_str().unwrap(), "--out", out.to_str().unwrap()], "");
    assert_eq!((done.code, done.stdout.as_str()), (4, ""));
    assert_eq!(names(&out), ["a.json", "b.json", "deep", "z.json"]);
    assert_eq!(names(&out.join("deep")), ["cut.json", "er"]);
    // As a single document is printed.
    assert_eq!(content(&out.join("a.json")), "{\"a\": 1,\n \"b\": [true]}\n");
    assert_eq!(content(&out.join("z.json")), "[1]");

    // The results of one run are no inputs of the next one.
    let inside = root.join("results");
    for _ in 0..2 {
        let done = run(&["repair", root.to_str().unwrap(), "--out", inside.to_str().unwrap()], "");
        assert!(done.stderr.contains("7 documents"), "{}", done.stderr);
        assert!(done.stderr.contains("1 own"), "{}", done.stderr);
    }

    // Two results cannot have one place.
    let (one, two) = (root.join("a.json"), folder("many_out_other").join("a.json"));
    fs::write(&two, "[2]").unwrap();
    let args = ["repair", one.to_str().unwrap(), two.to_str().unwrap(), "--out"];
    let done = run(&[&args[..], &[out.to_str().unwrap()]].concat(), "");
    assert_eq!(done.code, 6);
    assert!(done.stderr.contains("another input has the same name"), "{}", done.stderr);
    // Nor does an input lose its own.
    let done = run(&["repair", root.to_str().unwrap(), "--out", root.to_str().unwrap()], "");
    assert_eq!(done.code, 6);
    assert_eq!(content(&root.join("a.json")), "{'a': 1,\n 'b': [True]}\n");
}

#[test]
fn files_are_replaced_whole_or_not_at_all() {
    let root = answers("many_in_place");
    let name = root.to_str().unwrap();
    let refused = run(&["repair", "--in-place", name], "");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--match"), "{}", refused.stderr);

    let before = fs::metadata(root.join("b.json")).unwrap().modified().unwrap();
    let done = run(&["repair", "--in-place", "--match", "*.json", name], "");
    assert_eq!((done.code, done.stdout.as_str()), (4, ""));
    assert_eq!(content(&root.join("a.json")), "{\"a\": 1,\n \"b\": [true]}\n");
    assert_eq!(content(&root.join("deep/er/x.json")), "[1]");
    assert_eq!(content(&root.join("c.txt")), "no answer");
    assert_eq!(content(&root.join("deep/empty.json")), "");
    assert_eq!(content(&root.join(".hidden.json")), "[1,]");
    // What is valid is not written.
    assert_eq!(fs::metadata(root.join("b.json")).unwrap().modified().unwrap(), before);
    // Nothing is left beside them.
    assert_eq!(names(&root), [".hidden.json", "a.json", "b.json", "c.txt", "deep"]);
    let again = run(&["repair", "--in-place", "--match", "*.json", name], "");
    assert!(again.stderr.contains("4 unchanged, 1 none"), "{}", again.stderr);

    let packed = root.join("p.json.gz");
    fs::write(&packed, gzip(b"[1,]")).unwrap();
    let done = run(&["repair", "--in-place", packed.to_str().unwrap()], "");
    assert_eq!(done.code, 6);
    assert_eq!(fs::read(&packed).unwrap(), gzip(b"[1,]"));
}

#[cfg(unix)]
#[test]
fn permissions_links_and_names_stay() {
    use std::{
        ffi::OsStr,
        os::unix::{
            ffi::OsStrExt as _,
            fs::{PermissionsExt as _, symlink},
        },
    };
    let root = folder("many_unix");
    let other = folder("many_unix_other");
    fs::write(other.join("secret.json"), "[9,]").unwrap();
    symlink(other.join("secret.json"), root.join("link.json")).unwrap();
    symlink(&other, root.join("way")).unwrap();
    let odd = root.join(OsStr::from_bytes(b"\xff\n.json"));
    fs::write(&odd, "[1,]").unwrap();
    fs::set_permissions(&odd, fs::Permissions::from_mode(0o640)).unwrap();
    let done = run(&["repair", "--in-place", "--match", "*.json", root.to_str().unwrap()], "");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("left out in directories: 2 linked"), "{}", done.stderr);
    assert_eq!(content(&odd), "[1]");
    assert_eq!(fs::metadata(&odd).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(content(&other.join("secret.json")), "[9,]");
    // A link that the command line names is followed, and stays one.
    let link = root.join("link.json");
    assert_eq!(run(&["repair", "--in-place", link.to_str().unwrap()], "").code, 0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(content(&other.join("secret.json")), "[9]");
}

#[test]
fn what_cannot_be_read_costs_no_other() {
    let good = file("many_good.json", "[1,]");
    let good = good.to_str().unwrap();
    let torn = file("many_torn.json.gz", &gzip(&b"[1,2]".repeat(1000))[..30]);
    let done = run(&["repair", "no such file", good, torn.to_str().unwrap(), good], "");
    assert_eq!((done.code, done.stdout.as_str()), (6, "[1]\n[1]\n"));
    assert!(done.stderr.contains("no such file: failed: cannot read"), "{}", done.stderr);
    assert!(done.stderr.contains("4 documents: 2 failed, 2 repaired"), "{}", done.stderr);
    let done = run(&["repair", good, good, "--max-input", "3"], "");
    assert_eq!((done.code, done.stdout.as_str()), (5, ""));
    assert!(done.stderr.contains("2 overflow"), "{}", done.stderr);
}

#[test]
fn compressed_inputs_are_unpacked() {
    let bomb = gzip(&vec![b' '; 40 << 20]);
    assert!(bomb.len() < 200_000);
    assert_eq!(run(&["repair"], gzip(b"[1,]")).stdout, "[1]");
    assert_eq!(run(&["check"], gzip(b"[1]")).code, 0);
    let path = file("many_bomb.json.gz", bomb);
    let done = run(
        &["repair", "--max-input", "1000000", path.to_str().unwrap(), path.to_str().unwrap()],
        "",
    );
    assert_eq!(done.code, 5);
    assert!(done.stderr.contains("longer than 1000000 bytes"), "{}", done.stderr);
}

/// A Zstandard frame with one raw block (RFC 8878, section 3.1.1): the exponent of its window, over 1 KiB.
fn zstandard(exponent: u8, text: &[u8]) -> Vec<u8> {
    let block = (u32::try_from(text.len()).unwrap() << 3 | 1).to_le_bytes();
    [&[0x28, 0xb5, 0x2f, 0xfd, 0, exponent << 3][..], &block[..3], text].concat()
}

#[test]
fn the_window_of_a_zstandard_frame_is_bounded() {
    let small = file("many_small.zst", zstandard(0, b"[1,]"));
    let wide = file("many_wide.zst", zstandard(18, b"[1,]"));
    let done = run(&["repair", small.to_str().unwrap(), wide.to_str().unwrap()], "");
    assert_eq!((done.code, done.stdout.as_str()), (6, "[1]\n"), "{}", done.stderr);
    assert!(done.stderr.contains("many_wide.zst: failed"), "{}", done.stderr);
}

#[test]
fn the_first_twenty_that_fail_are_listed() {
    let text = "no answer\n".repeat(25);
    let listed = |done: &str| done.lines().filter(|line| line.contains("no JSON found")).count();
    let done = run(&["repair", "--lines"], &text);
    assert_eq!(listed(&done.stderr), 20, "{}", done.stderr);
    assert!(done.stderr.contains("--verbose lists all"), "{}", done.stderr);
    assert!(done.stderr.contains("25 none"), "{}", done.stderr);
    assert_eq!(listed(&run(&["repair", "--lines", "--verbose"], &text).stderr), 25);
}

#[test]
fn the_report_has_a_row_for_each() {
    let root = answers("many_report");
    let report = folder("many_reports").join("report.jsonl");
    let args = ["repair", "-q", root.to_str().unwrap(), "--report"];
    let done = run(&[&args[..], &[report.to_str().unwrap()]].concat(), "");
    assert_eq!(done.code, 4);
    let rows = json_lines(&content(&report));
    let outcomes: Vec<&str> = rows.iter().filter_map(|row| row["outcome"].as_str()).collect();
    assert_eq!(outcomes, ["repaired", "unchanged", "none", "closed", "none", "repaired"]);
    assert_eq!(rows[0]["kinds"]["single-quote"], 4);
    assert_eq!((&rows[0]["risk"], &rows[0]["repairs"]), (&"exact".into(), &5.into()));
    assert_eq!(rows[2]["message"], "no JSON found");

    let table = report.with_file_name("report.csv");
    run(&[&args[..], &[table.to_str().unwrap()]].concat(), "");
    let text = content(&table);
    assert_eq!(text.lines().count(), 7);
    assert!(text.lines().nth(1).unwrap().contains(",repaired,exact,5,"), "{text}");
}

/// Whoever writes to a file among the inputs would read what he writes.
#[cfg(unix)]
#[test]
fn what_a_run_writes_is_no_input_of_it() {
    let root = answers("many_own");
    let (results, report) = (root.join("all.jsonl"), root.join("report.csv"));
    for _ in 0..2 {
        let args = ["repair", root.to_str().unwrap(), "--report", report.to_str().unwrap()];
        let out = fs::File::create(&results).unwrap();
        let done = command(&args).stdout(out).output().unwrap();
        let last = String::from_utf8(done.stderr).unwrap();
        assert!(last.contains("6 documents: "), "{last}");
        assert_eq!(content(&results).lines().count(), 4);
        assert_eq!(content(&report).lines().count(), 7);
    }
    // A report in the place of standard output would replace the results.
    for name in ["/dev/stdout", report.to_str().unwrap()] {
        let args = ["repair", root.to_str().unwrap(), "--report", name];
        let done = command(&args).stdout(fs::File::create(&report).unwrap()).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{name}");
        assert_eq!(content(&report), "", "{name}");
    }
}

#[test]
fn the_summary_is_a_page() {
    let root = answers("many_summary");
    fs::write(root.join("deep/<b>&.json"), "{'<script>': 1}").unwrap();
    let page = root.join("deep/summary.html");
    let args = ["repair", root.to_str().unwrap(), "--summary", page.to_str().unwrap()];
    let done = run(&args, "");
    assert!(done.stderr.contains("7 documents: "), "{}", done.stderr);
    let text = content(&page);
    assert!(text.contains("<p>7 rows</p>") && text.contains("3 (42.9%)"), "{text}");
    for absent in ["<script>", "<b>", "src=", "href="] {
        assert!(!text.contains(absent), "{absent}");
    }
    // Documents are counted by directory, and an example says where it is.
    let folder = format!("{}: 3 rows</h3>", root.join("deep").display());
    assert!(text.contains(&folder), "{folder}\n{text}");
    assert!(
        text.contains("&lt;b&gt;&amp;.json</td>") && text.contains("{&#39;&lt;script&gt;&#39;: 1}")
    );
    // It is no input of a second run, whose page is the same.
    run(&args, "");
    assert_eq!(content(&page), text);

    // Records are counted by file, whatever is counted together; what could not be read is there, too.
    let bad = "{'a': 1}\n[1]\n".repeat(40_000);
    let missing = root.join("missing");
    let args = ["repair", "--lines", "--quiet", "-", missing.to_str().unwrap(), "--threads", "2"];
    let done = run(&[&args[..], &["--summary", page.to_str().unwrap()]].concat(), bad);
    assert_eq!(done.code, 6);
    let text = content(&page);
    assert!(
        text.contains("<p>80,001 rows</p>") && text.contains("&lt;stdin&gt;: 80,000 rows</h3>"),
        "{text}"
    );
    assert_eq!(text.matches("<td>{&#39;a&#39;: 1}</td>").count(), 60);
    assert!(
        text.contains("<td>&lt;stdin&gt;:39</td>")
            && !text.contains("<td>&lt;stdin&gt;:41</td><td>&lt;stdin&gt;</td><td>{")
    );
}

#[test]
fn what_fails_can_be_chosen() {
    let likely = file("many_likely.json", "[1 2]");
    let cut = file("many_cut.json", "[1");
    let (likely, cut) = (likely.to_str().unwrap(), cut.to_str().unwrap());
    for (files, fail_on, code) in [
        (vec![likely], "likely", 1),
        (vec![likely], "lossy", 0),
        (vec![cut], "cut", 3),
        (vec![cut], "lossy", 1),
        (vec![likely, likely], "likely", 1),
        (vec![likely, cut], "guess,cut", 3),
        (vec![likely, likely], "guess,cut", 0),
    ] {
        let args = [&["repair", "--fail-on", fail_on][..], &files].concat();
        assert_eq!(run(&args, "").code, code, "{fail_on} {files:?}");
    }
    assert_eq!(run(&["repair", "--exit-zero", cut, cut], "").code, 0);
    assert_eq!(run(&["repair", "--exit-code", likely, likely], "").code, 1);
}

#[test]
fn a_schema_is_for_all_of_them() {
    let schema = file(
        "many.schema.json",
        r#"{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}"#,
    );
    let root = folder("many_schema");
    fs::write(root.join("a.json"), "{'n': '5'}").unwrap();
    fs::write(root.join("b.json"), "{'n': 'many'}").unwrap();
    let args = ["repair", root.to_str().unwrap(), "--schema", schema.to_str().unwrap()];
    let done = run(&args, "");
    assert_eq!((done.code, done.stdout.as_str()), (5, "{\"n\":5}\n"));
    assert!(done.stderr.contains("b.json: invalid"), "{}", done.stderr);
    let reports = json_lines(&run(&[&args[..], &["--json"]].concat(), "").stdout);
    assert_eq!((reports.len(), &reports[1]["json"]), (2, &Value::Null));
    assert_eq!(reports[1]["issues"][0]["code"], "type");

    // What was cut off before a required member is cut off, and no more than that.
    fs::write(root.join("b.json"), "{\"title\": \"x\", ").unwrap();
    for (fail_on, code) in [("cut", 3), ("guess", 3), ("guess,cut", 3)] {
        let done = run(&[&args[..], &["--fail-on", fail_on]].concat(), "");
        assert_eq!(done.code, code, "{fail_on}");
        assert!(done.stderr.contains("2 documents: 1 cut, 1 repaired"), "{}", done.stderr);
    }
    let reports = json_lines(&run(&[&args[..], &["--json"]].concat(), "").stdout);
    assert_eq!((&reports[1]["outcome"], &reports[1]["cut_at"]), (&"cut".into(), &"$".into()));
    // A text that fits although it was cut off says so too.
    fs::write(root.join("b.json"), "{\"n\": 1, ").unwrap();
    let done = run(&args, "");
    assert!(
        done.stderr
            .contains("b.json: closed (2 repairs, highest risk guess): the input is cut off at $"),
        "{}",
        done.stderr
    );
}

#[test]
fn what_cannot_be_meant_together_is_refused() {
    for (args, message) in [
        (&["-", "-"][..], "only once"),
        (&["--in-place", "-"], "names"),
        (&["--json", "--out", "x", "a"], "--report"),
        (&["--rejects", "x", "a", "b"], "--lines"),
        (&["--stream", "a", "b"], "--stream reads one input"),
        (&["--stream", "--lines"], "--stream reads one input"),
        (&["--or-input", "a", "b"], "--or-null"),
        (&["--match", "*.json", "a"], "--match"),
        (&["--lines", "--trailing", "all"], "--trailing all"),
    ] {
        let done = run(&[&["repair"], args].concat(), "");
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{args:?}");
        assert!(done.stderr.contains(message), "{args:?}: {}", done.stderr);
    }
}

/// Thousands of files on any number of threads give the same, and each is counted.
#[test]
fn thousands_of_files_come_in_order() {
    let root = folder("many_thousands");
    for part in 0..40 {
        let part_folder = root.join(format!("{part:02}"));
        fs::create_dir(&part_folder).unwrap();
        for n in 0..50 {
            let text = match n % 5 {
                0 => format!("{{'n': {n}}}"),
                1 => format!("{{\"n\": {n}}}"),
                2 => format!("{{\"n\": {n}"),
                3 => "nothing".to_owned(),
                _ => format!("[{}]", "1,".repeat(n * 10)),
            };
            fs::write(part_folder.join(format!("{n:03}.json")), text).unwrap();
        }
    }
    let report = root.with_extension("report.jsonl");
    let name = root.to_str().unwrap();
    let args = ["repair", "--or-null", name, "--report", report.to_str().unwrap(), "--threads"];
    let one = run(&[&args[..], &["1"]].concat(), "");
    let rows = content(&report);
    let eight = run(&[&args[..], &["8"]].concat(), "");
    assert!(one.stdout == eight.stdout && one.stderr == eight.stderr && rows == content(&report));
    assert_eq!((one.stdout.lines().count(), rows.lines().count()), (2000, 2000));
    let last = one.stderr.lines().last().unwrap();
    assert!(
        last.starts_with("2000 documents: 800 repaired, 400 closed, 400 none, 400 unchanged; "),
        "{last}"
    );
    // Of the messages, only some.
    assert!(one.stderr.lines().count() < 30, "{}", one.stderr);
}

#[test]
fn the_body_of_a_response_is_refused() {
    let body = "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\n";
    let schema = file("many_body.schema.json", "{}");
    let schema = ["--schema", schema.to_str().unwrap()];
    for args in [&["repair"][..], &["repair", "-q"], &[&["repair"][..], &schema].concat()] {
        let done = run(args, body);
        assert_eq!((done.code, done.stdout.as_str()), (5, ""), "{args:?}");
        assert!(done.stderr.contains("`wiremend stream` reads it"), "{}", done.stderr);
    }
    assert_eq!(run(&["repair", "--or-input"], body).stdout, body);
    assert_eq!(run(&["check"], body).code, 1);
    assert_eq!(run(&["check", "--exit-code"], body).code, 5);
    // What is written as it comes is written; the end says what it was.
    for size in [1, 50, body.len()] {
        let done = run_split(&["repair", "--stream"], body, size);
        assert_eq!(done.code, 5);
        assert!(done.stderr.contains("`wiremend stream` reads it"), "{}", done.stderr);
    }

    let path = file("many_body.sse", body);
    let good = file("many_body_good.json", "[1,]");
    let report = file("many_body.report.jsonl", "");
    let (path, good) = (path.to_str().unwrap(), good.to_str().unwrap());
    let done = run(&["repair", path, good, "--report", report.to_str().unwrap()], "");
    assert_eq!((done.code, done.stdout.as_str()), (5, "[1]\n"));
    assert!(done.stderr.contains("2 documents: 1 body, 1 repaired"), "{}", done.stderr);
    let row = &json_lines(&content(&report))[0];
    assert_eq!((&row["outcome"], &row["risk"]), (&"body".into(), &Value::Null));
    assert!(row["message"].as_str().unwrap().contains("`wiremend stream` reads it"), "{row}");
    assert_eq!(run(&["repair", "--or-null", path, good], "").stdout, "null\n[1]\n");

    for text in ["Sure: {\"a\": 1}", "{\"a\": 1}"] {
        let long = text.replace("Sure", &"Sure, ".repeat(100));
        for text in [text, &long] {
            let done = run(&["stream"], text);
            let message =
                "this is no body of a response (`wiremend repair` reads the JSON in a text)";
            assert!(done.stderr.contains(message), "{text}: {}", done.stderr);
            assert!(!run(&["repair"], text).stderr.contains("wiremend stream"), "{text}");
        }
    }
}

/// An interrupt leaves each file as it was or as it is to be, and nothing beside them.
#[cfg(unix)]
#[test]
fn an_interrupt_leaves_no_half_file() {
    let root = folder("many_interrupt");
    let before = format!("['{}',]", "x".repeat(4_000_000));
    let after = format!("[\"{}\"]", "x".repeat(4_000_000));
    for n in 0..12 {
        fs::write(root.join(format!("{n:02}.json")), &before).unwrap();
    }
    let args = ["repair", "-q", "--in-place", "--match", "*.json", root.to_str().unwrap()];
    let child = command(&args).spawn().unwrap();
    // Somewhere between its first file and its last.
    for _ in 0..2000 {
        if fs::metadata(root.join("00.json")).is_ok_and(|meta| meta.len() != before.len() as u64) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let pid = rustix::process::Pid::from_child(&child);
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
    child.wait_with_output().unwrap();
    let names = names(&root);
    assert_eq!(names.len(), 12, "{names:?}");
    for name in names {
        let text = content(&root.join(&name));
        assert!(text == before || text == after, "{name}: {} bytes", text.len());
    }
}

pub(crate) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(text).unwrap();
    out.finish().unwrap()
}
