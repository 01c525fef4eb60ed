use crate::program::{file, json_lines, run};

#[test]
fn valid_files_are_said_to_be_valid() {
    let done = run(&["check"], "{\"a\": 1}\n");
    assert_eq!((done.code, done.stdout.as_str()), (0, "<stdin>: valid JSON\n"));
    assert_eq!(run(&["check", "--quiet"], "[]").stdout, "");
}

#[test]
fn each_change_is_shown_with_a_caret() {
    let path = file("check_caret.json", "{\"a\": 1,\n\t'b': 2,\n}\n");
    let name = path.to_str().unwrap();
    let done = run(&["check", name], "");
    assert_eq!(done.code, 1);
    let expected = format!(
        "{name}:2:2: bytes 10..11 at $: single-quote (exact): ' -> \"\n   2 | ␉'b': 2,␊\n     |  ^\n"
    );
    assert!(done.stdout.contains(&expected), "{}", done.stdout);
    assert!(done.stdout.contains("extra-comma (exact): delete ,"), "{}", done.stdout);
    assert!(
        done.stdout.ends_with("not valid JSON; repaired (3 repairs, highest risk exact)\n"),
        "{}",
        done.stdout
    );
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
    let done = run(&[&["check", "--json"], &names[..]].concat(), "");
    assert_eq!(done.code, 3);
    let outcomes: Vec<_> =
        json_lines(&done.stdout).into_iter().map(|report| report["outcome"].clone()).collect();
    assert_eq!(outcomes, ["unchanged", "repaired", "closed"]);

    // The highest code of any, in any order: none and refused outweigh a cut.
    let none = file("check_none.json", "no JSON here");
    let paths = [&bad, &none, &cut, &good].map(|path| path.to_str().unwrap());
    assert_eq!(run(&[&["check", "-q"], &paths[..]].concat(), "").code, 4);
    let refused = [&["check", "-q", "--policy", "strict"], &paths[..]].concat();
    assert_eq!(run(&refused, "").code, 5);

    let done = run(&["check", "no such file", names[0]], "");
    assert_eq!(done.code, 6);
    assert!(done.stderr.contains("cannot read no such file"), "{}", done.stderr);
    assert!(done.stdout.contains("valid JSON"), "{}", done.stdout);
}

#[test]
fn faults_have_a_place_for_machines_too() {
    let done = run(&["check", "--json", "--policy", "strict"], "[1,\n 'a']");
    let report = &json_lines(&done.stdout)[0];
    assert_eq!(done.code, 5);
    assert_eq!(report["outcome"], "invalid");
    assert_eq!((&report["fault"]["byte"], &report["fault"]["line"]), (&5.into(), &2.into()));
    assert_eq!(report["fault"]["column"], 2);
    assert_eq!(report.get("json"), None);
}
