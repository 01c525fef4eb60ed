//! What a model says, apart from how its provider writes it.

use super::Shape;
use crate::Choices;

/// What the pieces of texts are made of. Some have characters of several bytes or need escapes.
const WORDS: [&str; 16] = [
    "a",
    "the north ",
    "room",
    ", ",
    "é",
    "ü and ö ",
    "語",
    "👍🏽",
    "\n",
    "\"so\" ",
    "\\",
    "x}",
    "7",
    ": ",
    " ",
    "data: ",
];

/// Members whose beginnings are easily taken for the whole, and others.
const MEMBERS: [&str; 8] = [
    r#""path": "/srv/data/old""#,
    r#""count": 120"#,
    r#""all": true"#,
    r#""note": "é, \"ü\" and \\ 語""#,
    r#""tags": ["x", "y z", null]"#,
    r#""size": {"w": 1.5, "h": [2, 30]}"#,
    r#""to": "mara@example.com""#,
    r#""n": -4e2"#,
];

/// A reply of a model: a text and some calls, each in pieces, in the shape of a provider.
///
/// ```
/// use wiremend_testkit::{Seed, bodies::Reply};
///
/// let reply = Reply::random(&mut Seed::new(7));
/// assert_eq!(reply.body(), Reply::random(&mut Seed::new(7)).body());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    shape: Shape,
    text: Vec<String>,
    calls: Vec<Vec<String>>,
}

impl Reply {
    /// A reply in that shape that says nothing.
    #[must_use]
    pub const fn new(shape: Shape) -> Self {
        Self { shape, text: Vec::new(), calls: Vec::new() }
    }

    /// A reply in a shape that is chosen.
    #[must_use]
    pub fn random(choices: &mut impl Choices) -> Self {
        let shape = choices.one_of(&Shape::ALL).copied().unwrap_or(Shape::Chat);
        Self::random_in(shape, choices)
    }

    /// A reply in that shape, with a text in up to five pieces and up to two calls, the arguments of
    /// which are objects.
    #[must_use]
    pub fn random_in(shape: Shape, choices: &mut impl Choices) -> Self {
        let word = |choices: &mut _| Choices::one_of(choices, &WORDS).copied().unwrap_or_default();
        let mut reply = Self::new(shape);
        for _ in 0..1 + choices.below(5) {
            let words: String = (0..1 + choices.below(3)).map(|_| word(choices)).collect();
            reply.text.push(words);
        }
        let calls = if shape.has_calls() { choices.below(3) } else { 0 };
        for _ in 0..calls {
            let first = choices.below(MEMBERS.len());
            let count = choices.below(4);
            let members = MEMBERS.iter().cycle().skip(first).take(count);
            let arguments = format!("{{{}}}", members.copied().collect::<Vec<_>>().join(", "));
            let most = 1 + choices.below(9);
            reply.calls.push(pieces(&arguments, |len| 1 + choices.below(len.min(most))));
        }
        reply
    }

    /// One more piece of the text.
    #[must_use]
    pub fn with_text(mut self, piece: impl Into<String>) -> Self {
        self.text.push(piece.into());
        self
    }

    /// One more call, with its arguments in pieces. The calls are named `tool_0`, `tool_1`, …
    #[must_use]
    pub fn with_call(mut self, pieces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.calls.push(pieces.into_iter().map(Into::into).collect());
        self
    }

    /// The shape.
    #[must_use]
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> String {
        self.text.concat()
    }

    /// The arguments of each call, as a whole.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        self.calls.iter().map(|pieces| pieces.concat()).collect()
    }

    /// The body, as the provider sends it.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        let text: Vec<&str> = self.text.iter().map(String::as_str).collect();
        let calls: Vec<Vec<&str>> =
            (self.calls.iter()).map(|pieces| pieces.iter().map(String::as_str).collect()).collect();
        let calls: Vec<&[&str]> = calls.iter().map(Vec::as_slice).collect();
        self.shape.body(&text, &calls)
    }
}

/// `text` in pieces; `len` says how long the next one is, of the bytes that are left. A piece ends
/// at the end of a character.
fn pieces(text: &str, mut len: impl FnMut(usize) -> usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let wanted = len(rest.len());
        let end = (wanted..rest.len()).find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        pieces.push(piece.to_owned());
        rest = after;
    }
    pieces
}
