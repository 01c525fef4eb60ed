//! The live page, and the stream that it reads.

use std::{env, fs, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{sync::Notify, time::sleep};
use wiremend_proxy::{Config, Limits, Upstream};

use crate::{
    browser::{self, Browser},
    scene::{Client, Scene, Step, answer, chunk, chunked, last},
};

/// A stream of OpenAI Chat with calls, each in pieces of its arguments.
fn steps(calls: &[(&str, &[&str])], finish: &str) -> Vec<Step> {
    let event = |delta: Value, finish: Value| {
        let event = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        chunk(format!("data: {event}\n\n"))
    };
    let mut steps = vec![chunked("text/event-stream")];
    for (index, (tool, pieces)) in calls.iter().enumerate() {
        let function = json!({"name": tool, "arguments": ""});
        let begun = json!([{"index": index, "id": format!("c{index}"), "function": function}]);
        steps.push(event(json!({"tool_calls": begun}), Value::Null));
        for piece in *pieces {
            let piece = json!([{"index": index, "function": {"arguments": piece}}]);
            steps.push(event(json!({"tool_calls": piece}), Value::Null));
        }
    }
    steps.push(event(json!({}), finish.into()));
    steps.extend([chunk("data: [DONE]\n\n"), last()]);
    steps
}

/// The same, with a pause before its last piece.
fn paused(tool: &str, pieces: &[&str], go: &Arc<Notify>) -> Vec<Step> {
    let mut steps = steps(&[(tool, pieces)], "tool_calls");
    steps.insert(steps.len() - 4, Step::Wait(Arc::clone(go)));
    steps
}

fn with_content(config: Config, url: &str) -> Config {
    config.with_upstream(Upstream::parse(url).unwrap()).with_record(100, true)
}

async fn ask(scene: &Scene, model: &str) {
    let body = json!({"model": model, "stream": true}).to_string();
    scene.post("/v1/chat/completions", &body).await;
}

/// Begins to read the stream of events of a page.
async fn watch(scene: &Scene) -> Client {
    begin(Client::connect(scene.admin).await).await
}

async fn begin(mut client: Client) -> Client {
    client.send("GET /live HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    client
}

#[tokio::test]
async fn calls_are_shown_while_they_pass_and_arguments_only_where_they_are_kept() {
    for content in [true, false] {
        let go = Arc::new(Notify::new());
        let steps = paused("book", &["{'seat': ", "'12", "F'}"], &go);
        let scene = Scene::with(steps, |config, url| {
            config.with_upstream(Upstream::parse(url).unwrap()).with_record(10, content)
        })
        .await;
        let mut page = watch(&scene).await;
        page.until("\"streams\":[]").await;
        let mut client = scene.connect().await;
        client
            .send(
                "POST /x?key=hush HTTP/1.1\r\nhost: localhost\r\nauthorization: hush\r\ncontent-length: 14\r\n\
                 content-type: application/json\r\nconnection: close\r\n\r\n{\"model\":\"m1\"}",
            )
            .await;
        page.until("\"tool\":\"book\"").await;
        // What came so far of a call that has not ended: it is held.
        if content {
            page.until("\"came\":\"{'seat': '12\",\"left\":\"{\"").await;
        }
        go.notify_one();
        client.reply().await;
        page.until("\"outcome\":\"repaired\"").await;
        page.until("single-quote").await;
        let seen = page.so_far();
        assert!(!seen.contains("hush"), "{seen}");
        assert_eq!(seen.contains("12F") && seen.contains("\"after\""), content, "{seen}");
        assert!(seen.contains("\"start\":1"), "{seen}");
        let repairs: Value = serde_json::from_str(&scene.page("/repairs").await.text()).unwrap();
        let call = &repairs["answers"][0]["calls"][0];
        assert_eq!(call["edits"].as_array().unwrap().len(), 4, "{call}");
        assert_eq!(call["bytes"], 15);
        assert_eq!(call.get("came").is_some(), content);
    }
}

#[tokio::test]
async fn pages_are_few_and_leave_room_for_those_who_ask_for_health() {
    let scene = Scene::new(answer("text/plain", "")).await;
    let mut pages = Vec::new();
    for _ in 0..8 {
        let mut page = watch(&scene).await;
        page.until("\"totals\"").await;
        pages.push(page);
    }
    assert_eq!(scene.page("/live").await.status(), 503);
    assert_eq!(scene.page("/health").await.status(), 200);
    drop(pages.pop());
    let mut page = loop {
        let mut page = watch(&scene).await;
        page.until("\r\n").await;
        if page.so_far().starts_with("HTTP/1.1 200") {
            break page;
        }
        sleep(Duration::from_millis(10)).await;
    };
    page.until("\"totals\"").await;
    // A page of another site cannot keep the others out.
    for (site, status) in [("cross-site", "403"), ("same-site", "403"), ("same-origin", "503")] {
        pages.push(watch(&scene).await);
        let mut client = Client::connect(scene.admin).await;
        client
            .send(format!(
                "GET /live HTTP/1.1\r\nhost: localhost\r\nsec-fetch-site: {site}\r\nconnection: close\r\n\r\n"
            ))
            .await;
        client.until(&format!("HTTP/1.1 {status} ")).await;
    }
}

#[tokio::test]
async fn a_page_that_does_not_read_is_dropped() {
    let text = "x".repeat(48 << 10);
    let pieces = vec![format!("{{'text': '{text}'}}"); 1];
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    let scene = Scene::with(steps(&[("f", &pieces)], "tool_calls"), |config, url| {
        with_content(config, url).with_limits(Limits::new().with_idle_seconds(1))
    })
    .await;
    let mut page = begin(Client::narrow(scene.admin).await).await;
    page.until("\"totals\"").await;
    // More than the buffers of the system hold: some 10 MB, a part of it at each tick of the page.
    for _ in 0..300 {
        ask(&scene, "m").await;
        sleep(Duration::from_millis(25)).await;
    }
    sleep(Duration::from_millis(1500)).await;
    let reply = tokio::time::timeout(Duration::from_secs(30), page.reply()).await;
    let reply = reply.expect("the page is still served");
    assert!(!reply.whole, "the stream went on");
}

/// Says which texts of the page have too little contrast with what is behind them.
const FAINT: &str = r#"(() => {
  const part = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const bright = (color) => {
    const [r, g, b] = color.match(/[\d.]+/g).map((value) => part(value / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const color = getComputedStyle(node).backgroundColor;
      if (!color.endsWith(", 0)")) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const faint = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !node.getClientRects().length || node.matches("script, noscript, option")) continue;
    const [one, two] = [bright(getComputedStyle(node).color), bright(ground(node))].sort((a, b) => b - a);
    const contrast = (one + 0.05) / (two + 0.05);
    if (contrast < 4.5) faint.push(`${node.className || node.tagName} ${contrast.toFixed(2)}: ${texts.currentNode.data}`);
  }
  return faint;
})()"#;

/// Traffic as a gateway has it, with an answer that is still passing.
async fn traffic(go: &Arc<Notify>) -> Scene {
    let flights = [
        "{'from': 'ZRH', 'to': \"LIS\", ",
        "'flexible': True, 'stops': None, ",
        "// no red-eyes\n",
        "'passengers': 2,}",
    ];
    let mail = [
        "{\"to\": \"team@example.org\", \"subject\": \"The \"final\" plan\", ",
        "\"body\": \"Hello,\nsee you on Monday\"",
        " \"urgent\": false}",
    ];
    let event = ["{\"title\": \"Review\", \"start\": \"2026-11-2"];
    let clean = ["{\"city\": \"Lisbon\", ", "\"days\": 3}"];
    let order = ["{item: 'A-17', qty: 02, ", "note: “leave at the door”}"];
    let answers = [
        steps(&[("get_weather", &clean)], "tool_calls"),
        steps(&[("send_mail", &mail)], "tool_calls"),
        steps(&[("create_event", &event)], "length"),
        steps(&[("place_order", &order)], "tool_calls"),
        steps(&[("get_weather", &clean)], "tool_calls"),
        steps(&[("search_flights", &flights), ("send_mail", &mail)], "tool_calls"),
    ];
    let models =
        ["gpt-5-mini", "qwen3-32b", "llama-4-scout", "mistral-small", "gpt-5-mini", "qwen3-32b"];
    // So that the plots have something to show in a picture.
    let rounds = if env::var_os("UPDATE_DOCS").is_some() { 45 } else { 1 };
    let mut all: Vec<Vec<Step>> = Vec::new();
    let mut asked = Vec::new();
    for round in 0..rounds {
        let share = if round + 1 == rounds {
            answers.len()
        } else {
            1 + (round * 7 + round / 9) % answers.len()
        };
        for (number, steps) in answers.iter().take(share).enumerate() {
            all.push(steps.clone());
            asked.push((models[number], number + 1 == share));
        }
    }
    all.push(paused(
        "write_report",
        &["{'title': 'Q3 in numbers', 'sections': [", "'Revenue', 'Churn', 'Hiri", "ng']}"],
        go,
    ));
    let scene = Scene::of_answers(all, with_content).await;
    for (model, pause) in asked {
        ask(&scene, model).await;
        if pause && rounds > 1 {
            sleep(Duration::from_millis(1000)).await;
        }
    }
    scene
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_shows_what_passes_in_light_and_in_dark() {
    let Some(mut page) = browser::start("the_page_shows_what_passes_in_light_and_in_dark") else {
        return;
    };
    let go = Arc::new(Notify::new());
    let scene = traffic(&go).await;
    let url = format!("http://{}/", scene.admin);
    page.prefers("light");
    page.open(&url, 1280, 760);
    page.until("document.querySelector('#state').dataset.state === 'live'");
    page.until("document.querySelectorAll('.row').length >= 6");

    // The newest one, with its repairs in place: what is not changed is the same on both sides.
    page.until("document.querySelector('#detail h3')?.textContent.startsWith('search_flights')");
    page.until("document.querySelectorAll('#detail del.mark').length > 8");
    let sides = page.value("[...document.querySelectorAll('#detail pre')].map((side) => [...side.childNodes].map((node) => node.nodeType === 3 ? node.data : node.tagName === 'DEL' || node.tagName === 'INS' ? node.textContent : '?').join(''))");
    let (came, left) = (sides[0].as_str().unwrap(), sides[1].as_str().unwrap());
    assert!(came.starts_with("{'from': 'ZRH', 'to': \"LIS\", 'flexible': True"), "{came}");
    assert!(left.starts_with("{\"from\": \"ZRH\", \"to\": \"LIS\", \"flexible\": true"), "{left}");

    // By keyboard alone.
    page.press("n");
    page.until("document.activeElement.matches('ins.mark')");
    page.until("document.querySelector('.said').textContent.includes('single-quote')");
    assert_eq!(page.value("document.querySelector('#follow').ariaPressed"), "false");
    page.press("Escape");
    page.until("document.activeElement.id === 'list'");
    page.press("ArrowDown");
    page.until("document.querySelector('#detail h3').textContent.startsWith('get_weather')");
    page.until("document.getElementById(document.querySelector('#list').getAttribute('aria-activedescendant')).ariaSelected === 'true'");
    page.press("/");
    page.until("document.activeElement.id === 'filter'");
    for key in ["c", "u", "t"] {
        page.press(key);
    }
    page.until("[...document.querySelectorAll('.row')].every((row) => row.textContent.includes('create_event'))");
    page.until("document.querySelector('#detail').textContent.includes('It was not completed')");
    page.value("document.querySelector('#filter').value = ''; document.querySelector('#filter').dispatchEvent(new Event('input'))");
    page.press("Escape");
    page.press("?");
    page.until("document.querySelector('#keys').open");
    page.press("Escape");

    // A stream that has not ended, while it is paused and when that is over.
    page.value("document.querySelector('#keys').close()");
    page.press("f");
    let address = scene.address;
    let passing = tokio::spawn(async move {
        let mut client = Client::connect(address).await;
        let body = json!({"model": "gpt-5-mini", "stream": true}).to_string();
        let length = body.len();
        client
            .send(format!(
                "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                 content-length: {length}\r\nconnection: close\r\n\r\n{body}"
            ))
            .await;
        client.reply().await
    });
    page.until("document.querySelectorAll('.row .flow').length === 1");
    page.until("document.querySelectorAll('#detail pre.waits').length === 2");
    // What came is shown while it arrives. Nothing of it leaves after its first repair, before it has ended.
    page.until("document.querySelectorAll('#detail pre')[0].textContent.includes(\"'Revenue'\")");
    page.until("document.querySelectorAll('#detail pre')[1].textContent === '{'");
    page.press("p");
    page.until("document.querySelector('#state').textContent === 'paused'");
    go.notify_one();
    passing.await.unwrap();
    sleep(Duration::from_millis(700)).await;
    assert_eq!(page.value("document.querySelectorAll('.row .flow').length"), 1);
    page.press("p");
    page.until("document.querySelectorAll('.row .flow').length === 0");
    page.until("document.querySelector('#detail h3').textContent.includes('write_report')");

    // Everything has a name for those who do not see it.
    let unnamed = page.value("[...document.querySelectorAll('button, input, select, svg, [tabindex], [role=option]')].filter((node) => !(node.getAttribute('aria-label') || node.getAttribute('aria-labelledby') || node.textContent.trim())).map((node) => node.outerHTML)");
    assert_eq!(unnamed, json!([]));
    page.value("[...document.querySelectorAll('.row')].find((row) => row.textContent.includes('search_flights')).click()");
    let mut pictures = Vec::new();
    for scheme in ["light", "dark"] {
        page.prefers(scheme);
        page.press("n");
        sleep(Duration::from_millis(300)).await;
        assert_eq!(page.value(FAINT), json!([]), "{scheme}");
        pictures.push(page.picture());
        if env::var_os("UPDATE_DOCS").is_some() {
            let path = format!("{}/../../docs/live-{scheme}.png", env!("CARGO_MANIFEST_DIR"));
            fs::write(path, pictures.last().unwrap()).unwrap();
        }
    }
    assert!(
        pictures.iter().all(|picture| picture.starts_with(b"\x89PNG") && picture.len() > 10_000)
    );
    assert_ne!(pictures[0], pictures[1]);

    // On a small screen nothing is cut off at the side.
    page.open(&url, 390, 800);
    page.until("document.querySelectorAll('.row').length >= 6");
    assert_eq!(page.value("document.documentElement.scrollWidth <= innerWidth"), true);
    assert_eq!(page.complaints, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_a_model_or_a_client_writes_runs_in_the_page() {
    let Some(mut page) = browser::start("nothing_that_a_model_or_a_client_writes_runs_in_the_page")
    else {
        return;
    };
    let script = "<img src=x onerror=\"window.ran=1\"><script>window.ran=1</script>";
    let arguments = format!("{{'a</pre>': '{}', \u{202e}b: 1}}", script.replace('\'', ""));
    let scene =
        Scene::with(steps(&[(&format!("f{script}"), &[&arguments])], "tool_calls"), with_content)
            .await;
    ask(&scene, &format!("m{script}")).await;
    open_and_read(&mut page, &scene);
    let shown = page.value("document.querySelector('#detail').textContent");
    let shown = shown.as_str().unwrap();
    assert!(shown.matches("<script>window.ran=1</script>").count() >= 4, "{shown}");
    assert!(shown.contains("⟨U+202E⟩"), "{shown}");
    assert_eq!(page.value("document.querySelectorAll('img, script').length"), 1);
    assert_eq!(page.value("window.ran"), Value::Null);
    assert_eq!(page.complaints, Vec::<String>::new());
    // The policy would have stopped it, too.
    let refused = page.value(
        "(() => { try { document.body.innerHTML = '<b>x</b>'; return 'taken' } catch (error) { return error.name } })()",
    );
    assert_eq!(refused, "TypeError");
    let sent = page.value("fetch('http://127.0.0.1:9/').then(() => 'sent', (error) => error.name)");
    assert_eq!(sent, "TypeError");
    assert!(page.complaints.iter().any(|line| line.contains("Content Security Policy")));
}

fn open_and_read(page: &mut Browser, scene: &Scene) {
    page.open(&format!("http://{}/", scene.admin), 1280, 800);
    page.until("document.querySelectorAll('.row').length === 1");
    page.until("document.querySelector('#detail h3')");
}
