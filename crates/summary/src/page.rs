//! The page: bars for outcomes, risks and kinds, each with its examples, and the same by source.

use std::{
    cmp::Reverse,
    fmt::{self, Display, Write as _},
};

use crate::{Count, Name, Summary, What, about, share};

const STYLE: &str = "
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h2 { margin: 2rem 0 .5rem; font-size: 1.1rem } h3 { margin: 1rem 0 .2rem; font-size: 1rem }
summary, .line { display: grid; grid-template-columns: minmax(7rem, 12rem) 1fr minmax(7rem, 12rem); gap: .8rem; align-items: center }
summary { cursor: pointer } .count { text-align: right; font-variant-numeric: tabular-nums }
.bar { background: #8882; height: .9rem } .bar i { display: block; height: 100% }
table { border-collapse: collapse; width: 100%; margin: .4rem 0 1rem; table-layout: fixed }
td, th { border: 1px solid #8884; padding: .2rem .4rem; text-align: left; vertical-align: top }
td { font: 12px/1.4 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate }
th:first-child, th:nth-child(2) { width: 15% } p { color: #888 }
";

/// Nothing of an example may load or run, whatever it holds.
const RULE: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"script-src 'none'; object-src 'none'; \
                    img-src 'none'; font-src 'none'; connect-src 'none'; frame-src 'none'\">";

const fn title_of(what: What) -> &'static str {
    match what {
        What::Outcome => "Outcomes",
        What::Risk => "Highest risk of a row",
        What::Kind => "Kinds of repair",
    }
}

fn colour(name: &str) -> &'static str {
    match name {
        "unchanged" => "#3a8f5c",
        "repaired" | "exact" => "#3f7fbf",
        "likely" => "#5b9bb0",
        "closed" | "cut" | "lossy" => "#c98a1b",
        "none" | "invalid" | "overflow" | "abandoned" | "body" | "failed" | "guess" => "#b5493f",
        "absent" => "#8a8a8a",
        _ => "#6b7a99",
    }
}

pub(crate) fn page<P: Clone + Display>(summary: &Summary<P>, title: &str) -> String {
    let title = Escaped(title);
    let mut to = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">{RULE}\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\
         <style>{STYLE}</style><h1>{title}</h1>"
    );
    body(summary, &mut to);
    to.push_str("</html>\n");
    to
}

pub(crate) fn part<P: Clone + Display>(summary: &Summary<P>) -> String {
    let mut to = format!("<style scoped>{STYLE}</style>");
    body(summary, &mut to);
    to
}

fn body<P: Clone + Display>(summary: &Summary<P>, to: &mut String) {
    let rows = Grouped(summary.rows);
    push(to, format_args!("<p>{rows} rows</p>"));
    for (&what, names) in &summary.names {
        push(to, format_args!("<h2>{}</h2>", title_of(what)));
        let total = |name: &Name<P>| {
            name.counts.values().fold(Count::default(), |sum, count| Count {
                rows: sum.rows + count.rows,
                repairs: sum.repairs + count.repairs,
            })
        };
        let mut names: Vec<_> =
            names.iter().map(|(name, found)| (name, found, total(found))).collect();
        names.sort_by_key(|(_, _, total)| Reverse(total.rows));
        for (name, found, total) in names {
            let (about, repairs) = match what {
                What::Kind => (about(name), Some(total.repairs)),
                _ => ("", None),
            };
            let bar = Bar { name, rows: total.rows, of: summary.rows, repairs, about, label: "" };
            push(to, format_args!("<details><summary>{bar}</summary>"));
            examples(found, to);
            to.push_str("</details>");
        }
    }
    by_source(summary, to);
}

fn examples<P: Display>(name: &Name<P>, to: &mut String) {
    if name.examples.is_empty() {
        return;
    }
    to.push_str(
        "<table><tr><th>where</th><th>source</th><th>text</th><th>json</th><th>message</th></tr>",
    );
    for example in &name.examples {
        push(to, format_args!("<tr><td>{}</td>", Escaped(&example.place.to_string())));
        for text in [&example.source, &example.text, &example.json, &example.message] {
            push(to, format_args!("<td>{}</td>", Escaped(text.as_deref().unwrap_or_default())));
        }
        to.push_str("</tr>");
    }
    to.push_str("</table>");
}

fn by_source<P>(summary: &Summary<P>, to: &mut String) {
    if summary.sources.iter().all(|(name, _)| name.is_none()) {
        return;
    }
    to.push_str("<h2>By source</h2>");
    let mut sources: Vec<_> = summary.sources.iter().enumerate().collect();
    sources.sort_by_key(|(_, (_, rows))| Reverse(*rows));
    for (place, (source, rows)) in sources {
        let source = Escaped(source.as_deref().unwrap_or("(no source)"));
        push(to, format_args!("<h3>{source}: {} rows</h3>", Grouped(*rows)));
        for what in [What::Outcome, What::Risk] {
            let mut names: Vec<(&str, u64)> = Vec::new();
            for (name, found) in summary.names.get(&what).into_iter().flatten() {
                names.extend(found.counts.get(&place).map(|count| (name.as_str(), count.rows)));
            }
            names.sort_by_key(|(_, rows)| Reverse(*rows));
            for (name, own) in names {
                let label = what.code();
                let bar = Bar { name, rows: own, of: *rows, repairs: None, about: "", label };
                push(to, format_args!("<div class=\"line\">{bar}</div>"));
            }
        }
    }
}

fn push(to: &mut String, text: fmt::Arguments<'_>) {
    // Writing to memory does not fail.
    let _ = to.write_fmt(text);
}

/// A name, its bar, and its count.
struct Bar<'a> {
    name: &'a str,
    rows: u64,
    of: u64,
    repairs: Option<u64>,
    about: &'a str,
    label: &'a str,
}

impl Display for Bar<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = share(self.rows, self.of) * 100.0;
        write!(to, "<span title=\"{}\">", Escaped(self.about))?;
        if !self.label.is_empty() {
            write!(to, "{}: ", self.label)?;
        }
        let (name, colour, rows) = (Escaped(self.name), colour(self.name), Grouped(self.rows));
        write!(
            to,
            "{name}</span><span class=\"bar\"><i style=\"width:{percent:.2}%;background:{colour}\"></i></span>"
        )?;
        write!(to, "<span class=\"count\">{rows} ({percent:.1}%)")?;
        if let Some(repairs) = self.repairs {
            write!(to, ", {} repairs", Grouped(repairs))?;
        }
        to.write_str("</span>")
    }
}

/// A text in a page, in an attribute as well.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in self.0.split_inclusive(['&', '<', '>', '"', '\'']) {
            let (text, escape) = match part.as_bytes().last() {
                Some(b'&') => (part.len() - 1, "&amp;"),
                Some(b'<') => (part.len() - 1, "&lt;"),
                Some(b'>') => (part.len() - 1, "&gt;"),
                Some(b'"') => (part.len() - 1, "&quot;"),
                Some(b'\'') => (part.len() - 1, "&#39;"),
                _ => (part.len(), ""),
            };
            to.write_str(part.get(..text).unwrap_or_default())?;
            to.write_str(escape)?;
        }
        Ok(())
    }
}

/// A number, with commas between thousands.
struct Grouped(u64);

impl Display for Grouped {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                to.write_char(',')?;
            }
            to.write_char(digit)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Example, Row, Summary};

    fn row<'a>(source: Option<&'a str>, outcome: &'a str) -> Row<'a> {
        Row { source, outcome, risk: Some("exact"), kinds: &[("single-quote", 2)] }
    }

    fn counted(rows: std::ops::Range<u64>) -> Summary<u64> {
        let mut summary = Summary::new(3);
        for number in rows {
            let source = format!("s{}", number % 2000);
            let row = row(Some(&source), ["repaired", "closed"][usize::from(number % 5 == 0)]);
            let text = format!("{{'a': {number}}}");
            let example = summary
                .wants(&row)
                .then(|| Example::new(number, Some(text.as_bytes()), None, None));
            summary.add(&row, example);
        }
        summary
    }

    #[test]
    fn parts_are_the_whole() {
        let whole = counted(0..5000);
        let mut parts = Summary::new(3);
        for start in (0..5000).step_by(700) {
            parts.merge(counted(start..(start + 700).min(5000)));
        }
        assert_eq!(parts.page("t"), whole.page("t"));
        assert_eq!(whole.rows(), 5000);
        let outcomes = whole
            .lines()
            .iter()
            .filter(|line| line.what == super::What::Outcome)
            .map(|line| line.rows)
            .sum::<u64>();
        assert_eq!(outcomes, 5000);
        assert_eq!(whole.sources.len(), 1001);
        assert_eq!(
            whole
                .names
                .values()
                .flat_map(|names| names.values())
                .map(|name| name.examples.len())
                .max(),
            Some(3)
        );
    }

    #[test]
    fn nothing_of_a_text_is_markup() {
        let mut summary = Summary::new(20);
        let text = "<script>alert(\"1\")</script> & 'x' ".repeat(100);
        let row = row(Some("<b>"), "<i>");
        summary.add(
            &row,
            Some(Example::new(
                "\"><img>",
                Some(text.as_bytes()),
                Some(text.as_bytes()),
                Some(&text),
            )),
        );
        let page = summary.page("A & <b>");
        for tag in ["<script", "<img", "<b>", "<i>", "src=", "href=", "url("] {
            assert!(!page.contains(tag), "{tag}");
        }
        assert!(
            page.contains("A &amp; &lt;b&gt;")
                && page.contains("&lt;script&gt;alert(&quot;1&quot;)")
        );
        assert!(page.contains("width:100.00%") && page.contains('…'));
        assert_eq!(super::Grouped(1_234_567).to_string(), "1,234,567");
        assert_eq!(super::Grouped(123).to_string(), "123");
    }
}
