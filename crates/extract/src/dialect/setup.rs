//! The dialects that are looked for, made ready for reading.

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use wiremend_core::prose::reasoning;

use super::{
    Dialect, Tools,
    envelope::keys_of_calls,
    frames,
    json::{CLOSE, SPACE},
    markers::Markers,
    names::Names,
    python, react,
    search::Search,
    shape::{Layout, Prefix, Shape, Text, spelled_bars},
    tags::{self, Lexed, Role},
    wake::{Wake, Wakes},
};

/// What a marker is to a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// It may begin a call of this shape.
    Open(usize),
    Ornament,
    /// It may come after a call.
    End,
    Token,
    /// It opens the reasoning block of this number.
    Reasoning(usize),
    /// It closes one that the prompt opened.
    ReasoningEnd,
    /// It opens a thought of the ReAct prompt.
    Thought,
    /// It is before what is for the user.
    Answer,
    /// It opens or closes what is for the user.
    AnswerTag(bool),
    /// An opener of this shape that lacks its bracket, with the name of a tool.
    Lacking(usize),
    /// A tag around what a tool has returned, and whether it closes it.
    ResultTag(bool),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) row: usize,
    pub(super) what: What,
}

#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) rows: Vec<Arc<Dialect>>,
    pub(super) auto: bool,
    pub(super) tools: Arc<Tools>,
    pub(super) entries: Vec<Entry>,
    pub(super) markers: Markers,
    wakes: Wakes,
    search: Option<Search>,
    names: Names,
    /// Whether a row has keys of its own for calls in JSON.
    has_keys: bool,
    /// What a bracket may be followed by, if a call begins with it: keys of calls, and names of tools.
    inside: Names,
    /// The shapes that begin without a marker: row and shape.
    pub(super) bare: Vec<(usize, usize)>,
    /// The first of each kind of these. Whether one begins does not depend on its row.
    pub(super) kinds: Vec<(usize, usize)>,
    /// The shapes that are known without their opener, and what follows the name of a tool in them.
    pub(super) unopened: Vec<(usize, usize)>,
    pub(super) name_ends: Markers,
    /// The second bytes of the headers that begin with `<`.
    header: Box<[bool; 256]>,
    pub(super) framed: Vec<usize>,
    /// The row whose tags have names in attributes, and whose values may be in sections.
    sections: Option<usize>,
    /// The markers that end a block, by row and shape, once one has begun.
    stops: Vec<Vec<OnceLock<Markers>>>,
}

/// Whether a reasoning tag may begin here.
fn may_be_reasoning(rest: &[u8]) -> bool {
    let is = |found: Option<Option<usize>>| found != Some(None);
    is(reasoning::open(rest, false).map(|tag| tag.map(|(_, length)| length)))
        || is(reasoning::stray_close(rest, false))
}

/// The elements in which templates write what a tool has returned, and models what they make up.
const RESULTS: [&str; 6] = [
    "tool_response",
    "tool_result",
    "tool_results",
    "tool_output",
    "function_result",
    "function_results",
];

impl Setup {
    pub(super) fn new(rows: Vec<Arc<Dialect>>, auto: bool, tools: Arc<Tools>) -> Self {
        let mut texts: Vec<(Entry, String)> = Vec::new();
        // Rows write the same tags, and the first one counts.
        let mut lacking = BTreeSet::new();
        let mut bare = Vec::new();
        let mut framed = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let mut add = |what, text: &str| {
                texts.push((Entry { row: at, what }, text.to_owned()));
            };
            // Detected, a row with the calls of an earlier one would only be tried in vain.
            let alike = |other: &Arc<Dialect>| {
                (&other.shapes, &other.ornaments, &other.ends)
                    == (&row.shapes, &row.ornaments, &row.ends)
            };
            let repeats = auto && rows.iter().take(at).any(alike);
            for (shape_at, shape) in row.shapes.iter().enumerate().filter(|_| !repeats) {
                let what = What::Open(shape_at);
                match shape {
                    Shape::Xml(xml) if xml.layout == Layout::Tools => {
                        tools.names().for_each(|name| add(what, &format!("<{name}")));
                    }
                    Shape::Xml(xml) => {
                        for text in xml.begins() {
                            add(what, &text);
                        }
                        for text in xml.without_bracket(&tools) {
                            if lacking.insert(text.clone()) {
                                add(What::Lacking(shape_at), &text);
                            }
                        }
                        if let Prefix::Bars(word) = xml.prefix {
                            for bar in spelled_bars() {
                                add(what, &format!("{}{bar}{word}", xml.tag.1));
                            }
                        } else {
                            for wrapper in &xml.wrappers {
                                let marks = [xml.tag.0, xml.tag.1];
                                let texts = marks.map(|mark| xml.spelled(mark, wrapper)).concat();
                                texts.iter().for_each(|text| add(what, text));
                            }
                        }
                    }
                    Shape::React => {
                        react::ACTIONS.iter().for_each(|text| add(what, text));
                        if !auto {
                            react::THOUGHTS.iter().for_each(|text| add(What::Thought, text));
                            react::ANSWERS.iter().for_each(|text| add(What::Answer, text));
                        }
                    }
                    shape if shape.open().is_empty() => bare.push((at, shape_at)),
                    shape => add(what, shape.open()),
                }
            }
            if !repeats {
                row.ornaments.iter().for_each(|text| add(What::Ornament, text));
                row.ends.iter().for_each(|text| add(What::End, text));
            }
            // What closes a call may come once more, or after text that follows it. A bracket or a
            // fence is common in text.
            let closers = row.shapes.iter().filter(|_| !repeats).flat_map(Shape::closers);
            for text in closers
                .filter(|text| text.len() > 3 && !text.contains("```") && !row.has_marker(text))
            {
                add(What::End, text);
            }
            row.tokens.iter().for_each(|text| add(What::Token, text));
            for (number, (open, close)) in row.reasoning.iter().enumerate() {
                // One that only the prompt opens has no tag for that.
                if !open.is_empty() {
                    add(What::Reasoning(number), open);
                }
                add(What::ReasoningEnd, close);
            }
            if let Some((open, close)) = &row.answer {
                add(What::AnswerTag(false), open);
                add(What::AnswerTag(true), close);
            }
            if row.frames.is_some() {
                framed.push(at);
            }
        }
        for name in RESULTS {
            let tags = [(false, format!("<{name}>")), (true, format!("</{name}>"))];
            let entry = |closes| Entry { row: 0, what: What::ResultTag(closes) };
            texts.extend(tags.map(|(closes, tag)| (entry(closes), tag)));
        }
        let markers =
            Markers::new(texts.iter().enumerate().map(|(id, (_, text))| (id, text.as_str())));
        let names = Names::new(&tools);
        let mut wakes = Wakes::new();
        let mut search = Search::default();
        for (entry, text) in &texts {
            wakes.text(text);
            let follows = match entry.what {
                What::Open(shape) => rows.get(entry.row).map_or("", |row| row.sign_after(shape)),
                _ => "",
            };
            search.add([text, follows].concat().as_bytes());
        }
        let mut unopened = Vec::new();
        let mut name_ends = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            for (shape_at, shape) in row.shapes.iter().enumerate() {
                for end in shape.name_ends() {
                    name_ends.push((unopened.len(), end));
                    unopened.push((at, shape_at));
                }
            }
        }
        if !unopened.is_empty() {
            wakes.names(&names);
        }
        for (row, shape) in &bare {
            wakes.any(b'[', Wake::Marker);
            match rows.get(*row).and_then(|row| row.shapes.get(*shape)) {
                Some(Shape::Python(_) | Shape::Line) => wakes.names(&names),
                _ => wakes.any(b'{', Wake::Marker),
            }
        }
        let mut header = Box::new([false; 256]);
        for frames in framed.iter().filter_map(|row| rows.get(*row)?.frames) {
            for text in frames::begins(frames).iter().filter(|text| !auto || text.starts_with('<'))
            {
                wakes.text(text);
                search.add(text.as_bytes());
                match text.as_bytes() {
                    [b'<', second, ..] => header[usize::from(*second)] = true,
                    [first, ..] => {
                        wakes.any(*first, Wake::Marker);
                        search.add(&[*first]);
                    }
                    [] => {}
                }
            }
        }
        let mut kinds: Vec<(usize, usize)> = Vec::new();
        let shape =
            |(row, shape): (usize, usize)| -> Option<&Shape> { rows.get(row)?.shapes.get(shape) };
        for &own in &bare {
            let kind = shape(own).map(std::mem::discriminant);
            if !kinds.iter().any(|other| shape(*other).map(std::mem::discriminant) == kind) {
                kinds.push(own);
            }
        }
        let name_ends = Markers::new(name_ends.iter().map(|(id, end)| (*id, end.as_str())));
        let entries = texts.into_iter().map(|(entry, _)| entry).collect();
        let has_sections = |shape: &Shape| matches!(shape, Shape::Xml(xml) if xml.sections);
        let sections = rows.iter().position(|row| row.shapes.iter().any(has_sections));
        let has_keys = rows.iter().any(|row| !row.keys.is_empty());
        let own = rows.iter().flat_map(|row| row.keys.all());
        let inside = Names::new(&tools).with(keys_of_calls()).with(own);
        let stops = rows.iter().map(|row| vec![OnceLock::new(); row.shapes.len()]).collect();
        Self {
            rows,
            auto,
            tools,
            stops,
            entries,
            markers,
            wakes: wakes.ready(),
            search: Some(search).filter(Search::is_ready),
            names,
            has_keys,
            inside,
            bare,
            kinds,
            unopened,
            name_ends,
            header,
            framed,
            sections,
        }
    }

    /// Whether a tag that begins a call is rather one of another row: that of the markers `around` it, or
    /// if its name is in an attribute, that in which it always is.
    pub(super) fn leaves(
        &self,
        row: usize,
        tag: &[u8],
        around: Option<usize>,
        by_attribute: bool,
    ) -> bool {
        if !self.auto {
            return false;
        }
        let begins_call = |shape: &Shape| {
            let Shape::Xml(own) = shape else { return false };
            let Lexed::Tag(tag) = tags::tag(tag, own, true) else { return false };
            matches!(tag.role(own, &self.tools, None), Role::Call(_))
        };
        match around.filter(|own| *own != row).and_then(|own| self.rows.get(own)) {
            Some(own) => own.shapes.iter().any(begins_call),
            None if around.is_some() => false,
            None => {
                let others = self.sections.filter(|own| *own != row);
                let own = others.filter(|_| by_attribute).and_then(|own| self.rows.get(own));
                own.is_some_and(|own| own.shapes.iter().any(begins_call))
            }
        }
    }

    /// How many bytes there are before one with which anything may begin. `before` is the byte before them.
    #[inline]
    pub(super) fn clear(&self, before: u8, bytes: &[u8]) -> usize {
        self.wakes.clear(before, bytes)
    }

    /// How much of a long text there is from `from` on before anything may begin, if it can be searched in
    /// blocks. `before` is the byte before the text.
    #[inline]
    pub(super) fn find(&self, before: u8, text: &[u8], from: usize) -> Option<usize> {
        let search = self.search.as_ref().filter(|_| !self.wakes.are_few())?;
        let found = search.find(text, from, |mut at, end| {
            let window = text.get(..=end).unwrap_or(text);
            while at < end {
                let prev = at.checked_sub(1).and_then(|at| text.get(at).copied()).unwrap_or(before);
                at += self.wakes.clear_bytes(prev, window.get(at..).unwrap_or_default());
                if at < end && self.wakes(text.get(at..).unwrap_or_default()) {
                    return Some(at);
                }
                at += 1;
            }
            None
        });
        Some(found.unwrap_or(text.len()).saturating_sub(from))
    }

    /// Whether anything may begin with `rest`, judging by its first byte and by the names of tools.
    #[inline]
    pub(super) fn wakes(&self, rest: &[u8]) -> bool {
        let Some((first, after)) = rest.split_first() else { return false };
        match self.wakes.of(*first) {
            Wake::Nothing => false,
            Wake::Name => self.names.may_begin(rest),
            Wake::Quote => self.names.may_begin(after),
            Wake::Word => self.markers.may_begin(rest) || self.names.may_begin(rest),
            // What follows a bracket rules out nearly all of them.
            Wake::Marker if self.auto && matches!(first, b'{' | b'[') => {
                self.call_may_follow(after) || self.may_be_marker(rest)
            }
            Wake::Marker if self.auto && *first == b'<' => {
                self.may_be_header(rest) || self.may_be_marker(rest)
            }
            Wake::Marker => true,
        }
    }

    /// Whether a marker or a reasoning tag may begin here.
    fn may_be_marker(&self, rest: &[u8]) -> bool {
        let tag = |second: &u8| {
            let first = rest.first().copied().unwrap_or_default();
            self.wakes.is_tag(first, *second)
        };
        self.markers.may_begin(rest) || rest.get(1).is_none_or(tag) && may_be_reasoning(rest)
    }

    /// Whether the text after a bracket may be that of a call, judging by its first key or name.
    fn call_may_follow(&self, after: &[u8]) -> bool {
        let opens = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'[' | b'{' | b'(');
        let skipped = after.iter().take(SPACE).take_while(|byte| opens(byte)).count();
        match after.get(skipped..).unwrap_or_default() {
            [] => true,
            [b'"' | b'\'', text @ ..] | text => self.inside.may_begin(text),
        }
    }

    /// Whether a name is that of a known tool.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.names.may_begin(name.as_bytes()) && self.tools.known(name).is_some()
    }

    /// Whether a call in JSON may begin with this key, beyond those that models use.
    pub(super) fn may_be_key(&self, key: &str) -> bool {
        self.has_keys && self.rows.iter().any(|row| row.keys.has(key)) || self.knows(key)
    }

    /// Whether a call of a shape without a marker may begin with a byte.
    #[inline]
    pub(super) fn may_be_bare(&self, row: usize, shape: usize, first: u8) -> bool {
        match self.rows.get(row).and_then(|row| row.shapes.get(shape)) {
            Some(Shape::Json(_)) => matches!(first, b'{' | b'['),
            Some(Shape::Python(_)) => {
                matches!(first, b'[' | b'{' | b'"' | b'\'') || python::is_name(first)
            }
            Some(Shape::Line) => python::is_name(first),
            _ => false,
        }
    }

    /// Whether a header of a message may begin with `rest`, which begins with `<`.
    #[inline]
    pub(super) fn may_be_header(&self, rest: &[u8]) -> bool {
        rest.get(1).is_none_or(|second| self.header[usize::from(*second)])
    }

    /// The markers that end a block of this shape, which these close.
    pub(super) fn stops(&self, row: usize, shape: usize, close: &[Text]) -> Markers {
        match self.stops.get(row).and_then(|shapes| shapes.get(shape)) {
            Some(stops) => stops.get_or_init(|| self.stops_of(row, close)).clone(),
            None => Markers::new([]),
        }
    }

    fn stops_of(&self, row: usize, close: &[Text]) -> Markers {
        let Some(row) = self.rows.get(row) else { return Markers::new([]) };
        let closes = close.iter().filter(|text| !text.is_empty()).map(|text| (CLOSE, &**text));
        let opens = row.shapes.iter().map(Shape::open).filter(|open| !open.is_empty());
        let others = row
            .ornaments
            .iter()
            .chain(&row.ends)
            .chain(&row.tokens)
            .map(|text| &**text)
            .chain(opens);
        Markers::new(closes.chain(others.map(|text| (CLOSE + 1, text))))
    }

    /// The markers that end a call of this shape that cannot be read.
    pub(super) fn stops_unread(&self, row: usize, shape: usize) -> Markers {
        match self.rows.get(row).and_then(|row| row.shapes.get(shape)) {
            Some(Shape::Xml(xml)) => {
                let close = xml.calls.iter().flat_map(|name| {
                    xml.closing(name).into_iter().chain([format!("{name}{}", xml.tag.2)])
                });
                let close = close.map(|text| (CLOSE, text));
                let all: Vec<(usize, String)> =
                    close.chain(xml.begins().into_iter().map(|text| (CLOSE + 1, text))).collect();
                Markers::new(all.iter().map(|(id, text)| (*id, text.as_str())))
            }
            Some(own) => self.stops(row, shape, own.closers()),
            None => Markers::new([]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cost of prose depends on it.
    #[test]
    fn all_dialects_are_searched_in_blocks() {
        let rows: Vec<_> = Dialect::all().iter().cloned().map(Arc::new).collect();
        let tools = Arc::new(Tools::new().with_tool("book", [""; 0], None));
        let setup = Setup::new(rows, true, tools);
        let text = "Words and more of them. ".repeat(20);
        let found = setup.find(b'\n', text.as_bytes(), 0);
        assert_eq!(found, Some(text.len()));
    }
}
