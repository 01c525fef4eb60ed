//! The page of the gateway agrees with the code.

use std::{env, fs, path::PathBuf};

use serde_json::Value;
use wiremend_proxy::{Config, settings};

use crate::scene::{Scene, answer};

fn page() -> (PathBuf, String) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/gateway.md");
    let text = fs::read_to_string(&path).unwrap();
    (path, text)
}

/// Run with `UPDATE_DOCS=1` to write the table.
#[test]
fn every_setting_is_on_the_page() {
    let rows = settings().into_iter().map(|setting| {
        let default = match setting.default_value() {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        format!("| `{}` | `{default}` | {} |\n", setting.key(), setting.what())
    });
    let rows: String = rows.collect();
    let table = format!("| setting | default | what it is |\n|---|---|---|\n{rows}");
    let (path, page) = page();
    let (head, rest) = page.split_once("<!-- table -->\n").unwrap();
    let (_, tail) = rest.split_once("<!-- /table -->").unwrap();
    let wanted = format!("{head}<!-- table -->\n\n{table}\n<!-- /table -->{tail}");
    if env::var_os("UPDATE_DOCS").is_some_and(|value| value == "1") {
        fs::write(path, wanted).unwrap();
    } else {
        assert!(page == wanted, "docs/gateway.md is out of date: run this test with UPDATE_DOCS=1");
    }
}

#[test]
fn the_files_on_the_page_are_read() {
    let (_, page) = page();
    let files = page.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("```"));
    let configs: Vec<Config> = files.map(|(file, _)| Config::read(file, []).unwrap()).collect();
    assert!(configs.iter().any(|config| config.upstreams().len() == 2));
    assert!(configs.iter().any(|config| !config.mending().tools().is_empty()));
}

#[tokio::test]
async fn every_metric_is_on_the_page() {
    let scene = Scene::new(answer("text/plain", "")).await;
    let (_, page) = page();
    let metrics = scene.page("/metrics").await.text();
    let names: Vec<&str> = metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    assert!(names.len() > 9, "{metrics}");
    for name in names {
        assert!(page.contains(&format!("`{name}`")), "docs/gateway.md does not name {name}");
    }
}

/// The image on the page is the one in the repository.
#[test]
fn the_image_on_the_page_is_the_one_that_is_built() {
    let (path, page) = page();
    let (_, image) = page.split_once("```dockerfile\n").unwrap();
    let (image, _) = image.split_once("```").unwrap();
    let built = fs::read_to_string(path.with_file_name("../Dockerfile")).unwrap();
    assert_eq!(built.split_once('\n').unwrap().1, image);
}
