//! Documents as models write them, before they are damaged.

use serde_json::{Map, Value, json};

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

/// A source file of a few functions.
pub(super) fn code(seed: &mut Seed, parts: usize) -> String {
    let language = seed.below(5);
    let parts: Vec<String> = (0..parts)
        .map(|_| match language {
            0 => rust(seed),
            1 => python(seed),
            2 => script(seed),
            3 => shell(seed),
            _ => sql(seed),
        })
        .collect();
    parts.join("\n")
}

fn rust(seed: &mut Seed) -> String {
    let (function, local) = (identifier(seed).to_lowercase(), noun(seed));
    match seed.below(3) {
        0 => format!(
            "fn {function}({local}: &str) -> Option<char> {{\n    // {}\n    match {local}.chars().next()? {{\n        \
             '{{' => Some('}}'),\n        '\"' | '\\'' => None,\n        other => Some(other),\n    }}\n}}\n",
            sentence(seed)
        ),
        1 => format!(
            "pub fn {function}() {{\n    let {local} = vec![{}, {}];\n    println!(\"{}: {{:?}}\", {local});\n}}\n",
            seed.below(100),
            seed.below(100),
            noun(seed)
        ),
        _ => format!(
            "impl {} {{\n    const {}: &str = \"{}\\n\";\n}}\n",
            capital(noun(seed)),
            noun(seed).to_uppercase(),
            phrase(seed)
        ),
    }
}

fn python(seed: &mut Seed) -> String {
    let (function, local) = (identifier(seed).to_lowercase(), noun(seed));
    match seed.below(3) {
        0 => format!(
            "def {function}({local}, *, key=\"{}\"):\n    \"\"\"{}\"\"\"\n    return {{\"{}\": {local}[key], 'n': {}}}\n",
            noun(seed),
            sentence(seed),
            noun(seed),
            seed.below(50)
        ),
        1 => format!(
            "for {local} in {function}[1:]:\n    if {local} != '{}':\n        print(f\"{{{local}!r}}, {}\")\n",
            noun(seed),
            verb(seed)
        ),
        _ => format!(
            "{function} = re.compile(r\"^\\s*(\\w+)\\s*=\\s*\\\"(.*)\\\"$\")  # {}\n",
            phrase(seed)
        ),
    }
}

fn script(seed: &mut Seed) -> String {
    let (function, local) = (identifier(seed), noun(seed));
    match seed.below(3) {
        0 => format!(
            "const {function} = ({local}) => {{\n  if (!{local}) return null;\n  return `${{{local}.{}}}, ${{{local}[\"{}\"]}}`;\n}};\n",
            noun(seed),
            noun(seed)
        ),
        1 => format!(
            "fetch(\"/api/{local}\", {{ method: \"POST\", body: JSON.stringify({{ \"{}\": [1, 2] }}) }});\n",
            noun(seed)
        ),
        _ => format!(
            "document.querySelector('#{local} > a[href=\"/{}\"]').textContent = \"{}\";\n",
            noun(seed),
            phrase(seed)
        ),
    }
}

fn shell(seed: &mut Seed) -> String {
    let local = noun(seed);
    match seed.below(3) {
        0 => format!("grep -rn \"{local}\" src/ | awk '{{ print $1, \"{}\" }}'\n", verb(seed)),
        1 => format!(
            "curl -s -H 'Accept: application/json' -d '{{\"{local}\": {}}}' \"$HOST/{}\"\n",
            seed.below(9),
            noun(seed)
        ),
        _ => format!(
            "if [ -z \"${{{}}}\" ]; then\n\techo \"no {local}\" >&2\nfi\n",
            local.to_uppercase()
        ),
    }
}

fn sql(seed: &mut Seed) -> String {
    format!(
        "SELECT {}, COUNT(*) AS \"{}\" FROM {} WHERE place = '{}' AND note LIKE '%{}%';\n",
        noun(seed),
        noun(seed),
        noun(seed),
        place(seed),
        adjective(seed)
    )
}

/// A path of Windows.
pub(super) fn path(seed: &mut Seed) -> String {
    match seed.below(4) {
        0 => format!("\\\\{}\\share\\{}\\{}.docx", noun(seed), noun(seed), noun(seed)),
        1 => format!("C:\\Program Files (x86)\\{}\\{}.exe", capital(noun(seed)), noun(seed)),
        2 => format!("D:\\{}\\{} {}\\", noun(seed), adjective(seed), noun(seed)),
        _ => format!("C:\\Users\\{}\\{}\\{}.txt", name(seed), capital(noun(seed)), noun(seed)),
    }
}

/// A regular expression.
pub(super) fn pattern(seed: &mut Seed) -> String {
    match seed.below(5) {
        0 => format!("^\\d{{{}}}-[A-Z]+\\.{}$", 1 + seed.below(6), noun(seed)),
        1 => format!("(?i)\\b{}s?\\b[^\\]}}]*", noun(seed)),
        2 => "\"(?:[^\"\\\\]|\\\\.)*\"".to_owned(),
        3 => format!("(?P<{}>\\w+)\\s*[:=]\\s*(\\S+),?", noun(seed)),
        _ => format!("https?://[^\\s\"'<>]+/{}/\\d+", noun(seed)),
    }
}

/// A line or two of LaTeX.
fn latex(seed: &mut Seed) -> String {
    let (a, b) = (1 + seed.below(20), 2 + seed.below(9));
    match seed.below(5) {
        0 => format!("$\\frac{{{a}}}{{{b}}} \\cdot \\sqrt{{x^{{{b}}}}}$"),
        1 => format!(
            "Let $S = \\{{1, {a}, {b}\\}}$, so that $\\sum_{{i \\in S}} i = {}$.",
            1 + a + b
        ),
        2 => format!("\\begin{{cases}} x + {a} = {b} \\\\ y \\leq {a} \\end{{cases}}"),
        3 => format!("\\textbf{{{}}} \\emph{{``{}''}}", capital(noun(seed)), phrase(seed)),
        _ => format!("$$\\int_0^{{{a}}} \\left[ {b}x \\right] \\, dx$$"),
    }
}

/// A fragment of HTML.
pub(super) fn html(seed: &mut Seed, parts: usize) -> String {
    let part = |seed: &mut Seed| match seed.below(4) {
        0 => format!(
            "<a href=\"/{}/{}\" class=\"{}\">{}</a>",
            noun(seed),
            seed.below(99),
            adjective(seed),
            phrase(seed)
        ),
        1 => {
            format!("<p style=\"color: #a{:02}; margin: 0\">{}</p>", seed.below(99), sentence(seed))
        }
        2 => format!(
            "<input type=\"text\" name=\"{}\" value=\"{}\" disabled>",
            noun(seed),
            phrase(seed)
        ),
        _ => format!(
            "<img src='{}.png' alt=\"the {}\"/>&nbsp;{}",
            noun(seed),
            phrase(seed),
            capital(noun(seed))
        ),
    };
    let parts: Vec<String> = (0..parts).map(|_| part(seed)).collect();
    parts.join(pick(seed, &["", "\n", "\n  "]))
}

/// A mail with what people said in it.
pub(super) fn mail(seed: &mut Seed, parts: usize) -> String {
    let mut text = format!("Dear {},\n\n", name(seed));
    for _ in 0..parts {
        text += &match seed.below(5) {
            0 => format!("\"Where is the {}?\" asked {}.\n", noun(seed), name(seed)),
            1 => format!("{} said: \"{}\", and left.\n", name(seed), sentence(seed)),
            2 => format!("I'd call it a \"{}\" {}, if you don't mind.\n", phrase(seed), noun(seed)),
            3 => format!(
                "\"No,\" {} answered, \"the {} isn't {}.\"\n",
                name(seed),
                noun(seed),
                adjective(seed)
            ),
            _ => paragraph(seed, 2) + "\n",
        };
    }
    text + &format!("\nYours,\n{}", name(seed))
}

/// A text in Chinese, Japanese, Korean or Arabic.
fn script_text(seed: &mut Seed, parts: usize) -> String {
    let parts: Vec<String> = (0..parts)
        .map(|_| {
            let number = 1 + seed.below(30);
            match seed.below(6) {
                0 => format!("今天下午{number}点，请把灯笼放在桥边（靠近船）。"),
                1 => format!("「篮子は{number}個です」と彼女は言った。"),
                2 => format!("창고에 상자 {number}개가 있습니다: 빨간색, 파란색."),
                3 => format!("وصلت {number} رسائل إلى الميناء، ولم يفتحها أحد."),
                4 => format!("他说：“第{number}号仓库已经满了”，然后走了。"),
                _ => format!("価格：{number}00円、送料別［税込］！"),
            }
        })
        .collect();
    parts.join(pick(seed, &["", " ", "\n"]))
}

/// A JSON text, to be kept in a string.
fn json_text(seed: &mut Seed) -> String {
    match seed.below(3) {
        0 => {
            format!("{{\"{}\": {}, \"{}\": [true, null]}}", noun(seed), seed.below(99), noun(seed))
        }
        1 => format!("[{{\"id\":{},\"label\":\"{}\"}},{{}}]", seed.below(99), phrase(seed)),
        _ => format!("{{\n  \"{}\": \"{}\"\n}}", noun(seed), phrase(seed)),
    }
}

/// Lines of comma-separated values.
fn csv(seed: &mut Seed, rows: usize) -> String {
    let mut text = "id,name,note\n".to_owned();
    for row in 0..rows {
        text += &match seed.below(2) {
            0 => format!("{row},{},\"{}, {}\"\n", name(seed), adjective(seed), noun(seed)),
            _ => format!("{row},{},{}\n", name(seed), phrase(seed)),
        };
    }
    text
}

/// Lines of a log.
pub(super) fn log(seed: &mut Seed, lines: usize) -> String {
    let lines: Vec<String> = (0..lines)
        .map(|_| {
            let (date, time) = (date(seed), time(seed));
            match seed.below(4) {
                0 => format!(
                    "{date}T{time}Z INFO [{}] {} took {} ms",
                    noun(seed),
                    verb(seed),
                    seed.below(900)
                ),
                1 => format!(
                    "[{date} {time}] ERROR {}: key=\"{}\" code={}",
                    noun(seed),
                    phrase(seed),
                    seed.below(600)
                ),
                2 => format!("{time}\tWARN\t{{\"{}\": \"{}\"}}", noun(seed), adjective(seed)),
                _ => format!(
                    "{time} DEBUG at {}.rs:{}: it's {}",
                    noun(seed),
                    seed.below(400),
                    adjective(seed)
                ),
            }
        })
        .collect();
    lines.join("\n")
}

/// Markdown with a list, a link and a fence.
fn markdown(seed: &mut Seed, parts: usize) -> String {
    let mut text = format!("## {}\n\n", capital(noun(seed)));
    for _ in 0..parts {
        text += &match seed.below(4) {
            0 => format!("- [x] {}\n- [ ] {}\n", phrase(seed), phrase(seed)),
            1 => format!(
                "See [the {}](https://{}.example/?q={}&r=[1]).\n",
                noun(seed),
                noun(seed),
                noun(seed)
            ),
            2 => format!("```json\n{}\n```\n", json_text(seed)),
            _ => format!("> **{}**: {}\n", name(seed), sentence(seed)),
        };
    }
    text
}

// The vocabulary of the documents, and sentences made of it.

const NOUNS: &[&str] = &[
    "anchor",
    "basket",
    "bridge",
    "cellar",
    "ledger",
    "lantern",
    "meadow",
    "valve",
    "ferry",
    "orchard",
    "kettle",
    "compass",
    "pulley",
    "gasket",
    "hinge",
    "beacon",
    "quarry",
    "saddle",
    "trellis",
    "barge",
    "thermostat",
    "gearbox",
    "parcel",
    "invoice",
    "shuttle",
    "rudder",
    "vault",
    "canopy",
    "spindle",
    "turnstile",
    "crate",
    "chimney",
    "almanac",
    "notebook",
    "harbour",
    "sensor",
];
const VERBS: &[&str] = &[
    "moves", "opens", "checks", "lifts", "paints", "ships", "counts", "repairs", "follows",
    "measures", "stores", "empties", "replaces", "seals", "weighs", "records", "carries", "warms",
];
const ADJECTIVES: &[&str] = &[
    "old", "narrow", "quiet", "copper", "spare", "northern", "loose", "heavy", "pale", "second",
    "rusty", "early", "hollow", "steep", "warm", "blue", "empty", "worn",
];
const NAMES: &[&str] = &[
    "Maren", "Tobias", "Ilse", "Ravi", "Noor", "Aiko", "Bram", "Celeste", "Dario", "Edda", "Farid",
    "Greta", "Hugo", "Ines", "Jonas", "Katya",
];
const PLACES: &[&str] = &[
    "Tromsø", "Lübeck", "Ghent", "Oporto", "Zürich", "Kraków", "Bergen", "Malmö", "Nice", "Turku",
];

pub(super) fn pick(seed: &mut Seed, from: &[&'static str]) -> &'static str {
    seed.pick(from).copied().unwrap_or_default()
}

pub(super) fn noun(seed: &mut Seed) -> &'static str {
    pick(seed, NOUNS)
}

pub(super) fn verb(seed: &mut Seed) -> &'static str {
    pick(seed, VERBS)
}

pub(super) fn adjective(seed: &mut Seed) -> &'static str {
    pick(seed, ADJECTIVES)
}

pub(super) fn name(seed: &mut Seed) -> &'static str {
    pick(seed, NAMES)
}

pub(super) fn place(seed: &mut Seed) -> &'static str {
    pick(seed, PLACES)
}

/// Two or three words without punctuation.
pub(super) fn phrase(seed: &mut Seed) -> String {
    match seed.below(3) {
        0 => format!("{} {}", adjective(seed), noun(seed)),
        1 => format!("{} and {}", noun(seed), noun(seed)),
        _ => format!("{} {} {}", adjective(seed), adjective(seed), noun(seed)),
    }
}

/// A name of code: `spare_valve`, `spareValve` or `SpareValve`.
pub(super) fn identifier(seed: &mut Seed) -> String {
    let (first, second) = (adjective(seed), noun(seed));
    match seed.below(3) {
        0 => format!("{first}_{second}"),
        1 => format!("{first}{}", capital(second)),
        _ => format!("{}{}", capital(first), capital(second)),
    }
}

pub(super) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A sentence with a full stop.
pub(super) fn sentence(seed: &mut Seed) -> String {
    match seed.below(7) {
        0 => format!("The {} {} {} the {}.", adjective(seed), noun(seed), verb(seed), noun(seed)),
        1 => format!(
            "When {} {} the {}, nobody asks why; it's simply done.",
            name(seed),
            verb(seed),
            noun(seed)
        ),
        2 => format!(
            "{} lives in {} ({} km away), and doesn't mind the {}.",
            name(seed),
            place(seed),
            2 + seed.below(90),
            noun(seed)
        ),
        3 => {
            format!("Note: the {} costs {}.50, not {}.", noun(seed), seed.below(90), seed.below(90))
        }
        4 => format!(
            "First the {}, then the {}: both are {}!",
            noun(seed),
            noun(seed),
            adjective(seed)
        ),
        5 => format!(
            "Is the {} {} [see {}] or not?",
            noun(seed),
            adjective(seed),
            1 + seed.below(40)
        ),
        _ => format!("{}'s {} {} on Mondays.", name(seed), noun(seed), verb(seed)),
    }
}

/// So many sentences.
fn paragraph(seed: &mut Seed, sentences: usize) -> String {
    let sentences: Vec<String> = (0..sentences).map(|_| sentence(seed)).collect();
    sentences.join(" ")
}

pub(super) fn date(seed: &mut Seed) -> String {
    format!("20{}-{:02}-{:02}", 10 + seed.below(20), 1 + seed.below(12), 1 + seed.below(28))
}

pub(super) fn time(seed: &mut Seed) -> String {
    format!("{:02}:{:02}:{:02}", seed.below(24), seed.below(60), seed.below(60))
}
