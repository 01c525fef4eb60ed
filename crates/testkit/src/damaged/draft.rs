//! A document while it is being damaged.

use serde_json::Value;

use super::judge::{self, Edits};
use crate::Seed;

/// What is written around or across a whole text.
#[derive(Clone, Debug)]
pub(super) struct Around {
    pub(super) before: String,
    pub(super) after: String,
    /// Changes the text itself: the start of a text becomes the start of the changed one.
    pub(super) across: fn(&str) -> String,
}

impl Around {
    pub(super) fn text(before: impl Into<String>, after: impl Into<String>) -> Self {
        Self { before: before.into(), after: after.into(), across: str::to_owned }
    }

    pub(super) fn apply(&self, text: &str) -> String {
        self.apply_to_start(text) + &self.after
    }

    /// The same for a text that was cut off.
    pub(super) fn apply_to_start(&self, text: &str) -> String {
        self.before.clone() + &(self.across)(text)
    }

    pub(super) fn across(across: fn(&str) -> String) -> Self {
        Self { before: String::new(), after: String::new(), across }
    }
}

/// Changes to single pieces, and to the whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    pub(super) pieces: Vec<(usize, String)>,
    pub(super) around: Option<Around>,
}

impl Change {
    /// One piece is written in another way.
    pub(super) fn one(at: usize, text: impl Into<String>) -> Option<Self> {
        Some(Self { pieces: vec![(at, text.into())], around: None })
    }

    /// Several are; `None` if there are none.
    pub(super) fn many(pieces: Vec<(usize, String)>) -> Option<Self> {
        (!pieces.is_empty()).then_some(Self { pieces, around: None })
    }

    pub(super) fn around(around: Around) -> Option<Self> {
        Some(Self { pieces: Vec::new(), around: Some(around) })
    }
}

#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// The sound document.
    pieces: Vec<Piece>,
    /// What has become of each piece.
    changed: Vec<Option<String>>,
    around: Vec<Around>,
}

impl Draft {
    pub(super) fn new(pieces: Vec<Piece>) -> Self {
        let changed = vec![None; pieces.len()];
        Self { pieces, changed, around: Vec::new() }
    }

    /// The pieces of the sound document.
    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    pub(super) fn token(&self, at: usize) -> Option<Token> {
        self.pieces.get(at).map(|piece| piece.token)
    }

    /// A piece of the sound document as it is written there.
    pub(super) fn text(&self, at: usize) -> &str {
        self.pieces.get(at).map_or("", |piece| &piece.text)
    }

    /// A piece as it is written now.
    pub(super) fn current(&self, at: usize) -> &str {
        let changed = self.changed.get(at).and_then(Option::as_deref);
        changed.unwrap_or_else(|| self.text(at))
    }

    /// What is between the quotes of a string.
    pub(super) fn inside(&self, at: usize) -> &str {
        let text = self.text(at);
        text.get(1..text.len().saturating_sub(1)).unwrap_or_default()
    }

    /// The pieces of a kind that nothing was done to.
    pub(super) fn all(&self, wanted: &[Token]) -> Vec<usize> {
        let free = |at: &usize| self.changed.get(*at).is_some_and(Option::is_none);
        let of_kind = |at: &usize| self.token(*at).is_some_and(|token| wanted.contains(&token));
        (0..self.pieces.len()).filter(of_kind).filter(free).collect()
    }

    /// One piece of a kind for which `fits` holds.
    pub(super) fn any(
        &self,
        seed: &mut Seed,
        wanted: &[Token],
        fits: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let fitting: Vec<usize> = self.all(wanted).into_iter().filter(|at| fits(*at)).collect();
        seed.pick(&fitting).copied()
    }

    /// Whether the opener of the container around a piece is a brace.
    pub(super) fn in_object(&self, at: usize) -> bool {
        let opener = self.pieces.get(at).map_or(0, |piece| piece.opener);
        self.text(opener) == "{"
    }

    /// The last piece.
    pub(super) fn last(&self) -> usize {
        self.pieces.len().saturating_sub(1)
    }

    /// Whether the next line of the document begins before the next token.
    pub(super) fn before_line_end(&self, at: usize) -> bool {
        let after = self.pieces.iter().skip(at + 1);
        let mut space =
            after.take_while(|piece| matches!(piece.token, Token::Space | Token::Comma));
        space.any(|piece| piece.text.contains('\n'))
    }

    /// Whether the sound document has exactly one best reading after `change`, and `edits` edits lead
    /// to it. What was done to other places does not count.
    pub(super) fn one_reading(&self, change: &Change, family: Edits, edits: u8) -> bool {
        let mut parts: Vec<&str> = self.pieces.iter().map(|piece| &piece.text[..]).collect();
        let sound = parts.concat();
        for (at, text) in &change.pieces {
            if let Some(part) = parts.get_mut(*at) {
                *part = text;
            }
        }
        let meant = judge::best(&sound, family, 0).and_then(|best| best.value);
        let best = judge::best(&parts.concat(), family, edits);
        meant.is_some() && best.is_some_and(|best| best.edits == edits && best.value == meant)
    }

    /// Whether no other reading takes as few quotes for text as are written in `change`.
    pub(super) fn quotes_clear(&self, change: &Change, count: u8) -> bool {
        let mut parts: Vec<&str> = self.pieces.iter().map(|piece| &piece.text[..]).collect();
        for (at, text) in &change.pieces {
            if let Some(part) = parts.get_mut(*at) {
                *part = text;
            }
        }
        // Another value cannot be excluded by its number, but it would take other quotes.
        let best = judge::best(&parts.concat(), Edits::Quotes, count);
        best.is_some_and(|best| best.edits == count && best.value.is_some())
    }

    /// The change, if it has one best reading.
    pub(super) fn clear(&self, change: Option<Change>, family: Edits, edits: u8) -> Option<Change> {
        change.filter(|change| self.one_reading(change, family, edits))
    }

    /// Makes a change; `false` if one of its pieces was changed before.
    pub(super) fn make(&mut self, change: Change) -> bool {
        let touched = |at: usize| self.changed.get(at).is_none_or(Option::is_some);
        if change.pieces.iter().any(|(at, _)| touched(*at)) {
            return false;
        }
        for (at, text) in change.pieces {
            if let Some(piece) = self.changed.get_mut(at) {
                *piece = Some(text);
            }
        }
        self.around.extend(change.around);
        true
    }

    /// The document as it is now, and where its last bracket begins.
    pub(super) fn write(&self) -> (String, usize) {
        let mut text = String::new();
        let mut end = 0;
        for (piece, changed) in self.pieces.iter().zip(&self.changed) {
            end = text.len();
            text.push_str(changed.as_ref().unwrap_or(&piece.text));
        }
        (text, end)
    }

    /// Where the sound document has its brackets, commas, colons and the quotes of its strings.
    pub(super) fn signs(&self) -> Vec<usize> {
        let (mut signs, mut at) = (Vec::new(), 0);
        for piece in &self.pieces {
            match piece.token {
                Token::Open | Token::Close | Token::Comma | Token::Colon => signs.push(at),
                Token::Key | Token::Text => signs.extend([at, at + piece.text.len() - 1]),
                Token::Number | Token::Literal | Token::Space => {}
            }
            at += piece.text.len();
        }
        signs
    }

    /// What is written around it, from the inside.
    pub(super) fn around(&self) -> &[Around] {
        &self.around
    }
}

/// What a piece is. Between any two tokens there is white space, which may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Open,
    Close,
    Comma,
    Colon,
    Key,
    Text,
    Number,
    Literal,
    Space,
}

#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) token: Token,
    /// As it is written.
    pub(super) text: String,
    /// The opener of the container that it is in, or for a bracket, of its own container.
    pub(super) opener: usize,
    /// How many containers are open around it.
    pub(super) depth: usize,
}

/// How a document is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Without white space.
    Compact,
    /// With a space after each comma and colon.
    Spaced,
    /// Each member and item on a line of its own, indented by so many spaces a level; 0 is a tab.
    Indented(usize),
    /// Each member or item of the root on a line of its own.
    Lines,
}

impl Layout {
    const ALL: [Self; 6] = [
        Self::Compact,
        Self::Spaced,
        Self::Indented(2),
        Self::Indented(4),
        Self::Indented(0),
        Self::Lines,
    ];

    pub(super) fn any(seed: &mut Seed) -> Self {
        *seed.pick(&Self::ALL).unwrap_or(&Self::Spaced)
    }

    /// The white space before an item, or before a closer, inside of `depth` containers.
    fn line(self, depth: usize) -> String {
        match self {
            Self::Indented(0) => format!("\n{}", "\t".repeat(depth)),
            Self::Indented(width) => format!("\n{}", " ".repeat(width * depth)),
            Self::Lines if depth <= 1 => "\n".to_owned(),
            Self::Compact | Self::Spaced | Self::Lines => String::new(),
        }
    }

    fn after_comma(self, depth: usize) -> String {
        let line = self.line(depth);
        if line.is_empty() && self != Self::Compact { " ".to_owned() } else { line }
    }
}

/// Writes a document.
pub(super) fn pieces(value: &Value, layout: Layout) -> Vec<Piece> {
    let mut writer = Writer { pieces: Vec::new(), layout };
    writer.value(value, 0, 0);
    writer.pieces
}

struct Writer {
    pieces: Vec<Piece>,
    layout: Layout,
}

impl Writer {
    fn push(&mut self, token: Token, text: impl Into<String>, opener: usize, depth: usize) {
        self.pieces.push(Piece { token, text: text.into(), opener, depth });
    }

    fn value(&mut self, value: &Value, opener: usize, depth: usize) {
        match value {
            Value::Null | Value::Bool(_) => {
                self.push(Token::Literal, value.to_string(), opener, depth);
            }
            Value::Number(number) => {
                self.push(Token::Number, number.to_string(), opener, depth);
            }
            Value::String(_) => {
                self.push(Token::Text, value.to_string(), opener, depth);
            }
            Value::Array(items) => {
                let items = items.iter().map(|item| (None, item));
                self.container(items, ["[", "]"], depth);
            }
            Value::Object(members) => {
                let members = members.iter().map(|(key, value)| (Some(key), value));
                self.container(members, ["{", "}"], depth);
            }
        }
    }

    fn container<'a>(
        &mut self,
        items: impl ExactSizeIterator<Item = (Option<&'a String>, &'a Value)>,
        [open, close]: [&str; 2],
        depth: usize,
    ) {
        let opener = self.pieces.len();
        let empty = items.len() == 0;
        self.push(Token::Open, open, opener, depth);
        for (at, (key, value)) in items.enumerate() {
            if at > 0 {
                self.push(Token::Space, "", opener, depth + 1);
                self.push(Token::Comma, ",", opener, depth + 1);
                self.push(Token::Space, self.layout.after_comma(depth + 1), opener, depth + 1);
            } else {
                self.push(Token::Space, self.layout.line(depth + 1), opener, depth + 1);
            }
            if let Some(key) = key {
                self.push(Token::Key, Value::from(key.as_str()).to_string(), opener, depth + 1);
                self.push(Token::Space, "", opener, depth + 1);
                self.push(Token::Colon, ":", opener, depth + 1);
                let space = if self.layout == Layout::Compact { "" } else { " " };
                self.push(Token::Space, space, opener, depth + 1);
            }
            self.value(value, opener, depth + 1);
        }
        let space = if empty { String::new() } else { self.layout.line(depth) };
        self.push(Token::Space, space, opener, depth + 1);
        self.push(Token::Close, close, opener, depth);
    }
}
