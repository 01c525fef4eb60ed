//! Checks that `docs/schema.md` and the table of rules agree.

use wiremend_schema::Rule;

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn every_rule_has_a_row_with_its_risk_and_its_switch() {
    let page = page();
    for rule in Rule::ALL {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{rule}` | ")));
        let row = row.unwrap_or_else(|| panic!("no row for {rule}"));
        let cells: Vec<&str> = row.split(" | ").collect();
        let off = if rule.is_default() { "" } else { " (off by default)" };
        assert_eq!(cells[1], format!("{}{off}", rule.risk()), "{rule}");
        assert_eq!(cells[2], rule.summary(), "{rule}");
    }
}

#[test]
fn every_row_is_a_rule() {
    let page = page();
    let table = page.split("## The rules").nth(1).unwrap().split("## Issues").next().unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let codes: Vec<&str> = rows.map(|(code, _)| code).collect();
    assert_eq!(codes, Rule::ALL.iter().map(|rule| rule.code()).collect::<Vec<_>>());
}
