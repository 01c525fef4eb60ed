//! A document as a list of its tokens and of the white space between them.

use serde_json::Value;

use crate::Seed;

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
