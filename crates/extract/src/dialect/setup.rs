//! The dialects that are looked for, made ready for reading.

use std::sync::Arc;

use super::{
    Dialect, Tools, frames,
    json::CLOSE,
    markers::Markers,
    names::Names,
    python, react,
    shape::{Layout, Shape},
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
    names: Names,
    /// The shapes that begin without a marker: row and shape.
    pub(super) bare: Vec<(usize, usize)>,
    /// The first of each kind of these. Whether one begins does not depend on its row.
    pub(super) kinds: Vec<(usize, usize)>,
    /// The second bytes of the headers that begin with `<`.
    header: Box<[bool; 256]>,
    pub(super) framed: Vec<usize>,
}

impl Setup {
    pub(super) fn new(rows: Vec<Arc<Dialect>>, auto: bool, tools: Arc<Tools>) -> Self {
        let mut texts: Vec<(Entry, String)> = Vec::new();
        let mut bare = Vec::new();
        let mut framed = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let mut add = |what, text: &str| {
                texts.push((Entry { row: at, what }, text.to_owned()));
            };
            for (shape_at, shape) in row.shapes.iter().enumerate() {
                let what = What::Open(shape_at);
                match shape {
                    Shape::Xml(xml) if xml.layout == Layout::Tools => {
                        tools.names().for_each(|name| add(what, &format!("<{name}")));
                    }
                    Shape::Xml(xml) => {
                        for text in xml.begins() {
                            add(what, &text);
                        }
                        if !matches!(xml.prefix, super::shape::Prefix::Bars(_)) {
                            for wrapper in &xml.wrappers {
                                add(what, &format!("{}{wrapper}", xml.tag.0));
                                add(what, &format!("{}{wrapper}", xml.tag.1));
                            }
                        } else {
                            for bar in ["｜", "|"] {
                                add(what, &format!("{}{bar}DSML", xml.tag.1));
                            }
                        }
                    }
                    Shape::React => {
                        add(what, "Action");
                        if !auto {
                            add(What::Thought, react::THOUGHT);
                            react::ANSWERS.iter().for_each(|text| add(What::Answer, text));
                        }
                    }
                    shape if shape.open().is_empty() => bare.push((at, shape_at)),
                    shape => add(what, shape.open()),
                }
            }
            row.ornaments.iter().for_each(|text| add(What::Ornament, text));
            row.ends.iter().for_each(|text| add(What::End, text));
            row.tokens.iter().for_each(|text| add(What::Token, text));
            for (number, (open, close)) in row.reasoning.iter().enumerate() {
                add(What::Reasoning(number), open);
                add(What::ReasoningEnd, close);
            }
            if row.frames.is_some() {
                framed.push(at);
            }
        }
        let markers =
            Markers::new(texts.iter().enumerate().map(|(id, (_, text))| (id, text.as_str())));
        let names = Names::new(&tools);
        let mut wakes = Wakes::new();
        texts.iter().for_each(|(_, text)| wakes.text(text));
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
                match text.as_bytes() {
                    [b'<', second, ..] => header[usize::from(*second)] = true,
                    [first, ..] => wakes.any(*first, Wake::Marker),
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
        let entries = texts.into_iter().map(|(entry, _)| entry).collect();
        Self { rows, auto, tools, entries, markers, wakes, names, bare, kinds, header, framed }
    }

    /// How many bytes there are before one with which anything may begin. `before` is the byte before them.
    #[inline]
    pub(super) fn clear(&self, before: u8, bytes: &[u8]) -> usize {
        self.wakes.clear(before, bytes)
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
            Wake::Marker => true,
        }
    }

    /// Whether a name is that of a known tool.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.names.may_begin(name.as_bytes()) && self.tools.known(name).is_some()
    }

    /// Whether a call in JSON may begin with this key, beyond those that models use.
    pub(super) fn may_be_key(&self, key: &str) -> bool {
        self.rows.iter().any(|row| row.keys.has(key)) || self.knows(key)
    }

    /// Whether a call of a shape without a marker may begin with a byte.
    #[inline]
    pub(super) fn may_be_bare(&self, row: usize, shape: usize, first: u8) -> bool {
        match self.rows.get(row).and_then(|row| row.shapes.get(shape)) {
            Some(Shape::Json(_)) => matches!(first, b'{' | b'['),
            Some(Shape::Python(_)) => {
                matches!(first, b'[' | b'"' | b'\'') || python::is_name(first)
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

    /// The markers that end a block of this shape.
    pub(super) fn stops(&self, row: usize, close: &[std::borrow::Cow<'static, str>]) -> Markers {
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
}
