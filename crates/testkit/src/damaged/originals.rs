//! Documents as models write them, before they are damaged.

use serde_json::{Map, Value, json};

use super::{
    content::{
        code, csv, html, json as json_text, latex, log, mail, markdown, path, pattern, script_text,
    },
    words::{
        adjective, capital, date, identifier, name, noun, paragraph, phrase, pick, place, sentence,
        time, verb,
    },
};
use crate::Seed;

/// The kinds of documents.
const GENRES: [fn(&mut Seed) -> Value; 16] = [
    write_file, edits, paths, rules, exercises, pages, mails, records, scripts, payloads, logs,
    plan, messages, tables, arguments, notes,
];

/// A document, an object or an array, whose compact text takes between 200 bytes and 5 KB.
pub(super) fn original(seed: &mut Seed) -> Value {
    loop {
        let value = seed.pick(&GENRES).map_or(Value::Null, |genre| genre(seed));
        if (200..5_000).contains(&value.to_string().len()) {
            return value;
        }
    }
}

fn list(seed: &mut Seed, least: usize, most: usize, item: impl Fn(&mut Seed) -> Value) -> Value {
    let count = least + seed.below(most - least + 1);
    (0..count).map(|_| item(seed)).collect()
}

fn amount(seed: &mut Seed) -> Value {
    match seed.below(6) {
        0 => json!(seed.below(10)),
        1 => json!(seed.below(100_000)),
        2 => json!(seed.below(10_000) as f64 / 100.0),
        3 => json!(-(seed.below(500) as i64)),
        4 => json!(seed.below(1_000) as f64 / 1_000.0),
        _ => json!(1_000 + seed.below(90_000_000)),
    }
}

fn flag(seed: &mut Seed) -> Value {
    match seed.below(5) {
        0 | 1 => json!(true),
        2 | 3 => json!(false),
        _ => Value::Null,
    }
}

/// A short string that is often written without quotes.
fn token(seed: &mut Seed) -> String {
    match seed.below(11) {
        0 => date(seed),
        1 => time(seed),
        2 => format!("{} kg", 1 + seed.below(90)),
        3 => format!("{}%", seed.below(101)),
        4 => format!("v{}.{}.{}", seed.below(9), seed.below(20), seed.below(20)),
        5 => format!("00{}", 1 + seed.below(900)),
        6 => noun(seed).to_owned(),
        8 => format!("{}/{}", 1 + seed.below(9), 2 + seed.below(9)),
        9 => format!("{}{}.50", pick(seed, &["$", "€"]), 1 + seed.below(900)),
        7 => format!("{}@{}.example", name(seed).to_lowercase(), noun(seed)),
        _ => phrase(seed),
    }
}

fn write_file(seed: &mut Seed) -> Value {
    let parts = 1 + seed.below(5);
    json!({
        "tool": "write_file",
        "arguments": {
            "path": format!("src/{}/{}.{}", noun(seed), noun(seed), pick(seed, &["rs", "py", "ts", "sh"])),
            "content": code(seed, parts),
            "overwrite": flag(seed),
            "mode": 420
        },
        "reason": sentence(seed)
    })
}

fn edits(seed: &mut Seed) -> Value {
    let edit = |seed: &mut Seed| json!({"line": seed.below(400), "old": code(seed, 1), "new": code(seed, 1), "all": flag(seed)});
    let file = format!("{}/{}.js", noun(seed), noun(seed));
    json!({"file": file, "edits": list(seed, 1, 4, edit), "check": format!("npm run {}", noun(seed))})
}

fn paths(seed: &mut Seed) -> Value {
    let entry = |seed: &mut Seed| json!({"from": path(seed), "to": path(seed), "size": amount(seed), "hidden": flag(seed)});
    json!({"root": path(seed), "owner": name(seed), "moves": list(seed, 2, 8, entry), "retries": 3})
}

fn rules(seed: &mut Seed) -> Value {
    let rule = |seed: &mut Seed| {
        json!({
            "id": identifier(seed), "pattern": pattern(seed), "flags": list(seed, 0, 3, |seed| json!(pick(seed, &["i", "m", "s", "u"]))),
            "example": sentence(seed), "weight": amount(seed)
        })
    };
    list(seed, 2, 9, rule)
}

fn exercises(seed: &mut Seed) -> Value {
    let exercise = |seed: &mut Seed| {
        json!({
            "question": format!("{} {}", sentence(seed), latex(seed)),
            "options": list(seed, 2, 4, |seed| json!(latex(seed))),
            "answer": seed.below(4),
            "hints": [latex(seed), phrase(seed)]
        })
    };
    json!({"title": capital(noun(seed)), "level": token(seed), "exercises": list(seed, 1, 6, exercise)})
}

fn pages(seed: &mut Seed) -> Value {
    let parts = 1 + seed.below(6);
    json!({
        "url": format!("https://{}.example/{}?id={}#top", noun(seed), noun(seed), seed.below(999)),
        "html": html(seed, parts),
        "meta": {"lang": "en", "charset": "utf-8", "robots": flag(seed)},
        "links": list(seed, 1, 5, |seed| json!(html(seed, 1))),
        "status": 200
    })
}

fn mails(seed: &mut Seed) -> Value {
    let mail = |seed: &mut Seed| {
        let parts = 1 + seed.below(6);
        json!({
            "to": format!("{}@{}.example", name(seed).to_lowercase(), noun(seed)),
            "subject": format!("{}: {}", capital(noun(seed)), phrase(seed)),
            "body": mail(seed, parts), "urgent": flag(seed), "sent": date(seed)
        })
    };
    match seed.below(2) {
        0 => json!({"folder": noun(seed), "mails": list(seed, 1, 4, mail)}),
        _ => mail(seed),
    }
}

fn records(seed: &mut Seed) -> Value {
    let record = |seed: &mut Seed| {
        json!({
            "id": seed.below(10_000), "name": name(seed), "place": place(seed), "since": date(seed),
            "price": amount(seed), "weight": token(seed), "active": flag(seed), "tags": list(seed, 0, 4, |seed| json!(noun(seed)))
        })
    };
    match seed.below(2) {
        0 => list(seed, 2, 20, record),
        _ => {
            json!({"count": seed.below(50), "rows": list(seed, 2, 18, record), "next": Value::Null})
        }
    }
}

fn scripts(seed: &mut Seed) -> Value {
    let entry = |seed: &mut Seed| {
        let parts = 1 + seed.below(3);
        json!({
            "语言": pick(seed, &["中文", "日本語", "한국어", "العربية"]), "text": script_text(seed, parts),
            "translation": sentence(seed), "score": amount(seed)
        })
    };
    json!({"translations": list(seed, 1, 9, entry), "備考": script_text(seed, 1), "done": flag(seed)})
}

fn payloads(seed: &mut Seed) -> Value {
    let rows = 1 + seed.below(6);
    json!({
        "event": identifier(seed),
        "payload": json_text(seed),
        "table": csv(seed, rows),
        "headers": {"Content-Type": "application/json", "X-Trace": format!("{:016x}", seed.bits())},
        "attempts": list(seed, 0, 4, |seed| json!({"at": time(seed), "body": json_text(seed), "ok": flag(seed)}))
    })
}

fn logs(seed: &mut Seed) -> Value {
    let lines = 1 + seed.below(6);
    json!({
        "job": token(seed), "exit": seed.below(3), "stdout": log(seed, lines),
        "lines": list(seed, 1, 8, |seed| json!(log(seed, 1))), "started": time(seed), "cached": flag(seed)
    })
}

fn plan(seed: &mut Seed) -> Value {
    let step = |seed: &mut Seed| {
        json!({
            "step": identifier(seed), "needs": list(seed, 0, 3, |seed| json!(identifier(seed))),
            "limits": {"cpu": amount(seed), "memory": token(seed), "shared": flag(seed)},
            "notes": list(seed, 0, 2, |seed| json!({"by": name(seed), "text": sentence(seed)}))
        })
    };
    json!({"plan": {"name": phrase(seed), "steps": list(seed, 1, 9, step)}, "version": token(seed), "dry_run": flag(seed)})
}

fn messages(seed: &mut Seed) -> Value {
    let message = |seed: &mut Seed| {
        let sentences = 1 + seed.below(4);
        json!({"role": pick(seed, &["user", "assistant", "system"]), "content": paragraph(seed, sentences)})
    };
    match seed.below(2) {
        0 => list(seed, 2, 12, message),
        _ => {
            json!({"model": token(seed), "messages": list(seed, 1, 10, message), "temperature": amount(seed)})
        }
    }
}

fn tables(seed: &mut Seed) -> Value {
    let width = 2 + seed.below(5);
    let row = |seed: &mut Seed| (0..width).map(|_| amount(seed)).collect::<Value>();
    json!({
        "unit": token(seed), "matrix": list(seed, 2, 20, row),
        "bounds": {"low": amount(seed), "high": amount(seed), "closed": flag(seed)},
        "labels": list(seed, 2, 8, |seed| json!(token(seed)))
    })
}

fn arguments(seed: &mut Seed) -> Value {
    let mut members = Map::new();
    for _ in 0..6 + seed.below(14) {
        let key = match seed.below(3) {
            0 => format!("{}_{}", adjective(seed), noun(seed)),
            1 => format!("{}-{}", verb(seed), noun(seed)),
            _ => noun(seed).to_owned(),
        };
        let value = match seed.below(6) {
            0 | 1 => json!(token(seed)),
            2 => amount(seed),
            3 => flag(seed),
            4 => list(seed, 0, 4, |seed| json!(token(seed))),
            _ => json!(sentence(seed)),
        };
        members.insert(key, value);
    }
    json!({"name": identifier(seed), "arguments": members})
}

fn notes(seed: &mut Seed) -> Value {
    let parts = 1 + seed.below(5);
    json!({
        "title": format!("\"{}\" and {}", phrase(seed), noun(seed)), "text": markdown(seed, parts),
        "keywords": list(seed, 1, 8, |seed| json!(phrase(seed))), "rating": amount(seed), "draft": flag(seed)
    })
}
