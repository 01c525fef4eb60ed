use crate::program::{file, json_lines, run, run_split};

#[test]
fn valid_json_leaves_byte_for_byte_and_silently() {
    let text = " {\"a\": 1.10,\r\n\t\"b\": [1e400, \"\\u00e9\"]}\n\n";
    for args in [&["repair"][..], &["repair", "--stream"]] {
        let done = run(args, text);
        assert_eq!((done.code, done.stdout.as_str(), done.stderr.as_str()), (0, text, ""));
    }
}

#[test]
fn what_was_changed_is_named_with_its_place() {
    let path = file("repair_place.json", "{\n  'é': True}");
    let name = path.to_str().unwrap();
    let done = run(&["repair", name], "");
    assert_eq!((done.code, done.stdout.as_str()), (0, "{\n  \"é\": true}"));
    assert!(
        done.stderr.contains(&format!("{name}:2:3: single-quote × 2 (exact), first at $: ' -> \"")),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains(&format!("{name}:2:8: python-literal (exact) at $.é: True -> true\n")),
        "{}",
        done.stderr
    );
    assert!(done.stderr.contains("repaired (3 repairs, highest risk exact)"), "{}", done.stderr);
    assert_eq!(run(&["repair", "-q", name], "").stderr, "");
}

#[test]
fn exit_codes_are_the_documented_ones() {
    let code = |args: &[&str], input: &str| run(args, input).code;
    assert_eq!(code(&["repair"], "[1]"), 0);
    assert_eq!(code(&["repair"], "[1,]"), 0);
    assert_eq!(code(&["repair", "--stream"], "[1,]"), 0);
    assert_eq!(code(&["repair", "--exit-code"], "[1]"), 0);
    assert_eq!(code(&["repair", "--exit-code"], "[1,]"), 1);
    assert_eq!(code(&["repair", "--exit-code"], r#"{"a": [1"#), 3);
    assert_eq!(code(&["repair", "--exit-zero"], "[1,]"), 0);
    assert_eq!(code(&["repair", "--no-such-flag"], ""), 2);
    assert_eq!(code(&["repair", "--off", "nonsense"], ""), 2);
    assert_eq!(code(&["repair"], r#"{"a": [1"#), 3);
    assert_eq!(code(&["repair", "--exit-zero"], r#"{"a": [1"#), 0);
    assert_eq!(code(&["repair", "--policy", "conservative"], r#"{"a": [1"#), 3);
    assert_eq!(code(&["repair", "--exit-zero", "--policy", "conservative"], r#"{"a": [1"#), 3);
    assert_eq!(code(&["repair"], "no data, sorry"), 4);
    assert_eq!(code(&["repair", "--policy", "strict"], "['a']"), 5);
    assert_eq!(code(&["repair", "--off", "single-quote"], "['a']"), 5);
    assert_eq!(code(&["repair", "--depth", "2"], "[[[1]]]"), 5);
    assert_eq!(code(&["repair", "no such file"], ""), 6);
}

#[test]
fn a_refusal_prints_no_json_and_shows_the_place() {
    let done = run(&["repair", "--policy", "strict"], "[1,\n 'a']");
    assert_eq!((done.code, done.stdout.as_str()), (5, ""));
    assert!(done.stderr.contains("<stdin>:2:2: byte 5:"), "{}", done.stderr);
    assert!(done.stderr.contains("   2 |  'a']\n     |  ^"), "{}", done.stderr);

    let done = run(&["repair", "--policy", "strict", "--or-input"], "[1,\n 'a']");
    assert_eq!((done.code, done.stdout.as_str()), (5, "[1,\n 'a']"));
}

#[test]
fn a_report_is_one_json_object() {
    let done = run(&["repair", "--json"], "{'a': [1");
    let report = &json_lines(&done.stdout)[0];
    assert_eq!(report["outcome"], "closed");
    assert_eq!(report["valid"], false);
    assert_eq!(report["json"], "{\"a\": [1]}");
    assert!(report["cut_at"].as_str().unwrap().starts_with("$.a"), "{report}");
    let repair = &report["repairs"][0];
    assert_eq!(repair["code"], "single-quote");
    assert_eq!((&repair["start"], &repair["end"]), (&1.into(), &2.into()));
    assert_eq!((&repair["line"], &repair["column"]), (&1.into(), &2.into()));
    assert_eq!((&repair["before"], &repair["after"]), (&"'".into(), &"\"".into()));
    assert_eq!(done.stderr, "");
}

#[test]
fn streaming_writes_the_same_and_names_the_places() {
    let text = "Here:\n```json\n{'a': [1, 2,],\n 'b': None}\n```\n";
    let done = run(&["repair", "--stream"], text);
    assert_eq!((done.code, done.stdout.trim()), (0, "{\"a\": [1, 2],\n \"b\": null}"));
    assert!(
        done.stderr.contains("<stdin>:4:7: python-literal (exact) at $.b: None -> null\n"),
        "{}",
        done.stderr
    );

    let events = json_lines(&run(&["repair", "--stream", "--json"], text).stdout);
    let json: String = events
        .iter()
        .filter(|event| event["type"] == "json")
        .filter_map(|event| event["text"].as_str())
        .collect();
    assert_eq!(json, done.stdout);
    assert!(events.iter().any(|event| event["type"] == "repair"));
    assert_eq!(events.last().unwrap()["type"], "end");
    assert_eq!(events.last().unwrap()["outcome"], "repaired");
}

#[test]
fn colour_is_for_terminals_and_on_request() {
    assert!(!run(&["repair"], "[1,]").stderr.contains('\x1b'));
    let done = run(&["repair", "--color", "always"], "[1,]");
    assert!(done.stderr.contains("\x1b["), "{}", done.stderr);
    assert_eq!(done.stdout, "[1]");
}

#[test]
fn escapes_of_the_input_reach_the_output_and_not_the_screen() {
    let done = run(&["repair"], "['\x1b[31m',]");
    assert_eq!(done.stdout, "[\"\\u001b[31m\"]");
    assert!(!done.stderr.contains('\x1b'), "{:?}", done.stderr);
}

#[test]
fn what_follows_a_refusal_in_a_stream_is_reported() {
    let text = "{\"a\": 1} // é 木 {\"a\": 2}".as_bytes();
    let args = ["repair", "--stream", "--json", "--policy", "conservative"];
    let done = run(&args, text);
    let printed: String = json_lines(&done.stdout)
        .iter()
        .filter_map(|event| event["text"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(printed.as_bytes(), text);
}

#[test]
fn a_limit_in_the_middle_of_a_stream_is_reported() {
    let (text, args) = ("['a', [[1]]]", ["repair", "--stream", "--depth", "2"]);
    let done = run(&args, text);
    assert_eq!((done.code, done.stdout.trim_end()), (5, "[\"a\", [[1]]]"));
    assert!(done.stderr.contains("a limit was exceeded: 2 levels of nesting"), "{}", done.stderr);
    let lines = json_lines(&run(&[&args[..], &["--json"]].concat(), text).stdout);
    let of = |kind: &str| {
        let pieces = lines.iter().filter(|line| line["type"] == kind);
        pieces.map(|line| line["text"].as_str().unwrap()).collect::<String>()
    };
    assert_eq!((of("json").as_str(), of("raw").as_str()), ("[\"a\", [", "[1]]]"));
}

#[test]
fn every_record_of_a_stream_is_mended_however_many_there_are() {
    let text = "{'a': True, 'b': None, 'c': 'd'}\n".repeat(2_000);
    let args = ["repair", "--stream", "--trailing", "all"];
    let done = run(&args, &text);
    assert_eq!(done.stdout, "{\"a\": true, \"b\": null, \"c\": \"d\"}\n".repeat(2_000));
    assert_eq!(done.code, 0);
}

#[test]
fn why_a_stream_was_refused_is_reported() {
    let args = ["repair", "--stream", "--policy", "conservative"];
    for (text, args, reason) in [
        ("[NaN]", &args[..], "byte 1: not valid JSON: it needs the repair non-finite (lossy)"),
        ("{\"a\": 1}\n\"b\": 2}", &args, "byte 8: not valid JSON: it needs the repair stray-text"),
        ("Hi {}", &[&args[..2], &["--off", "inline-prose"]].concat(), "byte 0: not valid JSON"),
        (
            "[1] [2]",
            &[&args[..2], &["--trailing", "error"]].concat(),
            "byte 3: there is something after",
        ),
    ] {
        let done = run(args, text);
        assert_eq!(done.code, 5, "{text}");
        assert!(done.stderr.contains(reason), "{text}: {}", done.stderr);
        let done = run(&[args, &["--json"]].concat(), text);
        let end = json_lines(&done.stdout).pop().unwrap();
        assert!(end["refused"]["code"].is_string(), "{text}: {end}");
    }
}

#[test]
fn the_limit_that_was_passed_is_named() {
    for (text, limit, reason) in [
        ("[[[[1]]]]", "--depth=3", "3 levels of nesting (--depth)"),
        ("[1]\n[2]\n[3]", "--max-documents=2", "2 short documents (--max-documents)"),
    ] {
        let done = run(&["repair", limit], text);
        assert_eq!(done.code, 5, "{text}");
        assert!(done.stderr.contains("a limit was exceeded: "), "{}", done.stderr);
        assert!(done.stderr.contains(reason), "{}", done.stderr);
    }
    // More commas than are held back, in a text of more repairs than are kept.
    let done = run(&["repair"], "[".to_owned() + &",".repeat(800_000));
    assert_eq!(done.code, 5);
    assert!(done.stderr.contains("65536 bytes held back (--buffer)"), "{}", done.stderr);
}

#[test]
fn every_document_of_a_stream_is_kept_where_asked() {
    let text = "{a: 1}\n{\"b\": 2} [3\n4";
    let done = run_split(&["repair", "-q", "--stream", "--trailing", "all"], text, 3);
    assert_eq!(done.stdout, "{\"a\": 1}\n{\"b\": 2} [3,\n4]");
    assert_eq!(done.code, 3);
    let args = ["repair", "--stream", "--json", "--trailing", "all"];
    for size in [1, 5, 100] {
        let events = json_lines(&run_split(&args, "{a: 1}\n{\"b\": 2}\n1\n[", size).stdout);
        let documents: Vec<&str> = events
            .iter()
            .filter(|event| event["type"] == "document")
            .map(|event| event["outcome"].as_str().unwrap())
            .collect();
        assert_eq!(documents, ["repaired", "unchanged", "unchanged", "closed"], "{size}");
    }
    let prose = "One: {a: 1} and {\"b\": 2}.\n```json\n[3,]\n```\n";
    let lines = |scope: &str| run(&["repair", "-q", "--stream", "--scope", scope], prose).stdout;
    assert_eq!(lines("all"), "{\"a\": 1}\n{\"b\": 2}\n[3]");
    assert_eq!(lines("fenced"), "[3]");
    for args in
        [["--trailing", "array"], ["--trailing", "last"], ["--scope", "best"], ["--scope", "last"]]
    {
        let done = run(&[&["repair", "--stream"], &args[..]].concat(), prose);
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{args:?}");
        assert!(done.stderr.contains("need the whole text"), "{}", done.stderr);
    }
    let args = ["repair", "--stream", "--scope", "first", "--trailing", "all"];
    assert_eq!(run(&args, prose).code, 2);
}

#[test]
fn only_the_first_document_is_taken_where_asked() {
    let text = "{\"a\": 1}\nThat is it. {b: 2}";
    let done = |args: &[&str]| run(&[&["repair", "-q"], args].concat(), text).stdout;
    assert_eq!(done(&[]), "[{\"a\": 1},\n{\"b\": 2}]");
    assert_eq!(done(&["--scope", "first"]).trim_end(), "{\"a\": 1}");
}

/// Several documents are an array or a sequence, with and without a line end after them. What is left out
/// because one was asked for makes the exit code say so.
#[test]
fn no_document_is_dropped_in_silence() {
    let (a, b) = ("{\"a\": 1}", "{\"b\": 2}");
    let fences = format!("```json\n{a}\n```\nAnd:\n```json\n{b}\n```");
    for text in [format!("{a}\nThat is it. {b}"), format!("{a}\n{b}"), fences] {
        for end in ["", "\n"] {
            let done = |args: &[&str]| {
                let done = run(&[&["repair", "-q"], args].concat(), text.clone() + end);
                (done.stdout.split_whitespace().collect::<Vec<_>>().join(" "), done.code)
            };
            let array = (format!("[{a}, {b}]"), 0);
            for args in [&[][..], &["--scope", "all"], &["--scope", "whole"]] {
                assert_eq!(done(args), array, "{args:?}: {text}");
            }
            for args in [
                &["--trailing", "all"][..],
                &["--trailing", "all", "--scope", "all"],
                &["--stream", "--trailing", "all"],
                &["--stream", "--scope", "all"],
            ] {
                assert_eq!(done(args), (format!("{a} {b}"), 0), "{args:?}: {text}");
            }
            for args in [&["--scope", "first"][..], &["--trailing", "first"], &["--stream"]] {
                assert_eq!(done(args), (a.to_owned(), 3), "{args:?}: {text}");
                let forgiven = done(&[args, &["--exit-zero"]].concat());
                assert_eq!(forgiven, (a.to_owned(), 0), "{args:?}: {text}");
            }
            for args in [&["--scope", "last"][..], &["--trailing", "last"]] {
                assert_eq!(done(args), (b.to_owned(), 3), "{args:?}: {text}");
            }
        }
    }
    let lines = format!("{a}\n{{\"c\": \"x\n{b}\n{a}\n");
    let done = run(&["repair", "-q"], lines.as_str());
    assert_eq!((done.code, done.stdout.lines().count()), (3, 4), "{}", done.stdout);
    let done = run(&["repair", "-q", "--stream", "--scope", "all"], lines);
    assert_eq!((done.code, done.stdout.lines().count()), (3, 4), "{}", done.stdout);
    let done = run(&["repair", "-q", "--stream", "--scope", "all"], format!("{a}\n{{oops\n{b}\n"));
    assert_eq!((done.code, done.stdout.lines().count()), (3, 2), "{}", done.stdout);
}

#[test]
fn repairs_of_a_kind_share_a_line_unless_each_is_asked_for() {
    let text = "['a', 'b',\n 'c']";
    for args in [&["repair"][..], &["repair", "--stream"]] {
        let expected = "<stdin>:1:2: single-quote × 6 (exact), first at $[0]: ' -> \"\n\
                        <stdin>: repaired (6 repairs, highest risk exact)\n";
        assert_eq!(run(args, text).stderr, expected);
        let each = run(&[args, &["--verbose"]].concat(), text).stderr;
        assert_eq!(each.lines().count(), 7);
        let line = "<stdin>:2:2: single-quote (exact) at $[2]: ' -> \" (bytes 12..13)\n";
        assert!(each.contains(line), "{each}");
    }
    assert_eq!(run(&["repair", "--verbose", "--quiet"], text).code, 2);
}

#[test]
fn earlier_names_of_options_still_work() {
    let done = run(&["repair", "-q", "--following", "first"], "{\"a\": 1} {\"b\": 2}");
    assert_eq!(done.stdout.trim_end(), "{\"a\": 1}");
    let help = run(&["repair", "--help"], "").stdout;
    assert!(help.contains("--trailing") && !help.contains("--following"), "{help}");
    let help = run(&["stream", "--help"], "").stdout;
    assert!(help.contains("--format") && !help.contains("--wire"), "{help}");
}
