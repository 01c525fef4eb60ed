//! The dialects that are looked for, made ready for reading.

use std::sync::Arc;

use super::{
    Dialect, Tools, frames,
    json::CLOSE,
    markers::Markers,
    react,
    shape::{Layout, Shape},
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
    /// It is before what the user is told.
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
    /// The bytes at which something may begin.
    wake: Box<[bool; 256]>,
    /// The shapes that begin without a marker: row and shape.
    pub(super) bare: Vec<(usize, usize)>,
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
        let mut wake = Box::new([false; 256]);
        let set = |bytes: &[u8], wake: &mut [bool; 256]| {
            for byte in bytes {
                if let Some(flag) = wake.get_mut(usize::from(*byte)) {
                    *flag = true;
                }
            }
        };
        set(
            &texts.iter().filter_map(|(_, text)| text.bytes().next()).collect::<Vec<_>>(),
            &mut wake,
        );
        // Reasoning tags of every kind.
        set("<[◁".as_bytes().get(..3).unwrap_or_default(), &mut wake);
        for (row, shape) in &bare {
            match rows.get(*row).and_then(|row| row.shapes.get(*shape)) {
                Some(Shape::Python(_) | Shape::Line) => {
                    set(b"[", &mut wake);
                    let first = tools.names().filter_map(|name| name.bytes().next());
                    set(&first.collect::<Vec<_>>(), &mut wake);
                    if !tools.is_empty() {
                        set(b"'\"", &mut wake);
                    }
                }
                _ => set(b"{[", &mut wake),
            }
        }
        for frames in framed.iter().filter_map(|row| rows.get(*row)?.frames) {
            let first = frames::begins(frames).iter().filter(|text| !auto || text.starts_with('<'));
            set(&first.filter_map(|text| text.bytes().next()).collect::<Vec<_>>(), &mut wake);
        }
        let entries = texts.into_iter().map(|(entry, _)| entry).collect();
        Self { rows, auto, tools, entries, markers, wake, bare, framed }
    }

    /// Whether anything may begin with this byte.
    #[inline]
    pub(super) fn wakes(&self, byte: u8) -> bool {
        self.wake.get(usize::from(byte)).copied().unwrap_or_default()
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
