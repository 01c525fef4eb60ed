//! Strings as models write them: code, paths, patterns, markup, mail, other scripts, data, logs.

use super::words::{
    adjective, capital, date, identifier, name, noun, paragraph, phrase, pick, place, sentence,
    time, verb,
};
use crate::Seed;

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
pub(super) fn latex(seed: &mut Seed) -> String {
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
pub(super) fn script_text(seed: &mut Seed, parts: usize) -> String {
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
pub(super) fn json(seed: &mut Seed) -> String {
    match seed.below(3) {
        0 => {
            format!("{{\"{}\": {}, \"{}\": [true, null]}}", noun(seed), seed.below(99), noun(seed))
        }
        1 => format!("[{{\"id\":{},\"label\":\"{}\"}},{{}}]", seed.below(99), phrase(seed)),
        _ => format!("{{\n  \"{}\": \"{}\"\n}}", noun(seed), phrase(seed)),
    }
}

/// Lines of comma-separated values.
pub(super) fn csv(seed: &mut Seed, rows: usize) -> String {
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
pub(super) fn markdown(seed: &mut Seed, parts: usize) -> String {
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
            2 => format!("```json\n{}\n```\n", json(seed)),
            _ => format!("> **{}**: {}\n", name(seed), sentence(seed)),
        };
    }
    text
}
