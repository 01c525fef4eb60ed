use crate::program::{file, json_lines, run};

#[test]
fn valid_files_are_said_to_be_valid() {
    let done = run(&["check"], "{\"a\": 1}\n");
    assert_eq!((done.code, done.stdout.as_str()), (0, "<stdin>: valid JSON\n"));
    assert_eq!(run(&["check", "--quiet"], "[]").stdout, "");
}

#[test]
fn repairs_are_shown_with_carets() {
    let path = file("check_caret.json", "{\"a\": 1,\n\t'b': 2,\n}\n");
    let name = path.to_str().unwrap();
    let done = run(&["check", name], "");
    assert_eq!(done.code, 1);
    let shown = |last: &str| {
        format!(
            "{name}:2:8: extra-comma (exact) at $.b: delete ,{last}\n   2 | ␉'b': 2,␊\n     |        ^\n\
             {name}: not valid JSON, can be repaired (3 repairs, highest risk exact)\n"
        )
    };
    let quotes = format!(
        "{name}:2:2: single-quote × 2 (exact), first at $: ' -> \"\n   2 | ␉'b': 2,␊\n     |  ^ ^\n"
    );
    assert_eq!(done.stdout, quotes + &shown(""));

    let done = run(&["check", "--verbose", name], "");
    let quote = |column: usize, caret: &str| {
        let byte = column + 8;
        format!(
            "{name}:2:{column}: single-quote (exact) at $: ' -> \" (bytes {byte}..{})\n   \
             2 | ␉'b': 2,␊\n     | {caret}\n",
            byte + 1
        )
    };
    let expected = quote(2, " ^") + &quote(4, "   ^") + &shown(" (bytes 16..17)");
    assert_eq!(done.stdout, expected);
}

#[test]
fn long_lines_are_clipped_around_the_caret() {
    let text = format!("[{}'x'{}]", "10, ".repeat(5000), ", 10".repeat(5000));
    let done = run(&["check"], &text);
    assert_eq!(done.code, 1);
    assert!(done.stdout.contains("…"), "{}", done.stdout);
    assert!(done.stdout.lines().all(|line| line.chars().count() < 120), "{}", done.stdout);
}

#[test]
fn several_files_are_all_checked_and_the_worst_wins() {
    let good = file("check_good.json", "[1]");
    let bad = file("check_bad.json", "[1,]");
    let cut = file("check_cut.json", "[1,[2");
    let names: Vec<&str> = [&good, &bad, &cut].map(|path| path.to_str().unwrap()).into();
    let check = |options: &[&str], names: &[&str]| run(&[&["check"], options, names].concat(), "");
    let done = check(&["--json"], &names);
    assert_eq!(done.code, 1);
    let outcomes: Vec<_> =
        json_lines(&done.stdout).into_iter().map(|report| report["outcome"].clone()).collect();
    assert_eq!(outcomes, ["unchanged", "repaired", "closed"]);

    // With --exit-code it is the highest code of any input, in any order.
    let none = file("check_none.json", "no JSON here");
    let none = none.to_str().unwrap();
    for (options, names, plain, detailed) in [
        (&["-q"][..], &names[..1], 0, 0),
        (&["-q"], &names[..2], 1, 1),
        (&["-q"], &names, 1, 3),
        (&["-q"], &[names[1], none, names[2]], 1, 4),
        (&["-q", "--policy", "strict"], &[names[1], none, names[0]], 1, 5),
        (&["-q"], &["no such file", names[2]], 6, 6),
    ] {
        assert_eq!(check(options, names).code, plain, "{options:?} {names:?}");
        let options = [options, &["--exit-code"]].concat();
        assert_eq!(check(&options, names).code, detailed, "{options:?} {names:?}");
    }

    let done = check(&[], &["no such file", names[0]]);
    assert_eq!(done.code, 6);
    assert!(done.stderr.contains("cannot read no such file"), "{}", done.stderr);
    assert!(done.stdout.contains("valid JSON"), "{}", done.stdout);
}

#[test]
fn faults_have_a_place_for_machines_too() {
    let done = run(&["check", "--json", "--exit-code", "--policy", "strict"], "[1,\n 'a']");
    let report = &json_lines(&done.stdout)[0];
    assert_eq!(done.code, 5);
    assert_eq!(report["outcome"], "invalid");
    assert_eq!((&report["fault"]["byte"], &report["fault"]["line"]), (&5.into(), &2.into()));
    assert_eq!(report["fault"]["column"], 2);
    assert_eq!(report.get("json"), None);
}
