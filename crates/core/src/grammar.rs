//! The recovery table: what to do about each token at each place.
//!
//! [`decide`] is total and pure. [`table`] prints it. A test compares the result with
//! `crates/core/grammar.md`, so every change of behaviour shows up as a change of that page.

#![allow(unreachable_pub, reason = "public with the feature `coverage` only")]

#[cfg(feature = "coverage")]
mod reached;

#[cfg(feature = "coverage")]
use alloc::string::String;
#[cfg(feature = "coverage")]
use core::fmt::Write as _;

#[cfg(feature = "coverage")]
pub use reached::reached;

/// What the grammar expects next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expect {
    /// A document; nothing has begun.
    Document,
    /// The first item, or `]`.
    FirstItem,
    /// An item. There was a comma before it.
    Item,
    /// `,` or `]`.
    ItemEnd,
    /// The first key, or `}`.
    FirstKey,
    /// A key. There was a comma before it.
    Key,
    /// `:`. There was a key before it.
    Colon,
    /// The value of a member. There was a key and a colon before it.
    MemberValue,
    /// `,` or `}`.
    MemberEnd,
    /// `)`, after the value of a call.
    CallEnd,
    /// The second `}` of a doubled brace.
    DoubledEnd,
    /// Nothing: the document has ended.
    After,
}

impl Expect {
    /// All places, in the order of the table.
    #[cfg(feature = "coverage")]
    pub const ALL: &'static [Self] = &[
        Self::Document,
        Self::FirstItem,
        Self::Item,
        Self::ItemEnd,
        Self::FirstKey,
        Self::Key,
        Self::Colon,
        Self::MemberValue,
        Self::MemberEnd,
        Self::CallEnd,
        Self::DoubledEnd,
        Self::After,
    ];
}

/// The kind of the next token. White space and comments are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Token {
    /// `{`
    ObjectOpen,
    /// `[`
    ArrayOpen,
    /// `(`
    GroupOpen,
    /// `}`
    ObjectClose,
    /// `]`
    ArrayClose,
    /// `)`
    GroupClose,
    /// `,`
    Comma,
    /// `:`
    Colon,
    /// `=` or `=>`
    Equals,
    /// `;`
    Semicolon,
    /// `+`, where it may join strings
    Plus,
    /// A quote of any kind.
    Quote,
    /// A digit, a sign or a point before a digit.
    Number,
    /// `...` or `…`
    Ellipsis,
    /// Three backticks or tildes.
    Fence,
    /// Anything else.
    Word,
    /// The end of the input.
    End,
}

impl Token {
    /// All tokens, in the order of the table.
    #[cfg(feature = "coverage")]
    pub const ALL: &'static [Self] = &[
        Self::ObjectOpen,
        Self::ArrayOpen,
        Self::GroupOpen,
        Self::ObjectClose,
        Self::ArrayClose,
        Self::GroupClose,
        Self::Comma,
        Self::Colon,
        Self::Equals,
        Self::Semicolon,
        Self::Plus,
        Self::Quote,
        Self::Number,
        Self::Ellipsis,
        Self::Fence,
        Self::Word,
        Self::End,
    ];
}

/// What to do about a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// It is what the grammar expects.
    Accept,
    /// It closes a container: the innermost of its shape, if there is one.
    Close,
    /// Look ahead: the bytes after it decide.
    Defer,
    /// The input has ended: close what is open, or give up.
    Finish,
    /// Insert a missing `,` before it.
    InsertComma,
    /// Insert a missing `:` before it.
    InsertColon,
    /// Insert a missing key before it.
    InsertKey,
    /// Insert a missing value before it.
    InsertValue,
    /// End the wrapper around the value, and read the token again outside of it.
    Leave,
    /// Read it as a `,`.
    ReadAsComma,
    /// Read it as a `:`.
    ReadAsColon,
    /// Drop it.
    Skip,
    /// It belongs to what follows the document.
    Tail,
}

/// What to do about `token` if the grammar expects `expect`. Total and pure, except that the
/// feature `coverage` records the call.
#[must_use]
pub fn decide(expect: Expect, token: Token) -> Action {
    #[cfg(feature = "coverage")]
    reached::note(expect, token);
    action(expect, token)
}

/// The table.
const fn action(expect: Expect, token: Token) -> Action {
    use Action as A;
    use Token as T;
    match expect {
        Expect::Document => match token {
            T::ObjectOpen | T::ArrayOpen | T::Quote | T::Number => A::Accept,
            T::GroupOpen | T::Word | T::Fence | T::Plus | T::Ellipsis => A::Defer,
            T::ObjectClose | T::ArrayClose | T::GroupClose => A::Skip,
            T::Comma | T::Colon | T::Equals | T::Semicolon => A::Skip,
            T::End => A::Finish,
        },
        Expect::FirstItem => match token {
            T::ObjectOpen | T::ArrayOpen | T::GroupOpen | T::Quote | T::Number => A::Accept,
            T::Word | T::Plus => A::Defer,
            T::ObjectClose | T::ArrayClose | T::GroupClose => A::Close,
            T::Comma | T::Colon | T::Equals | T::Semicolon | T::Ellipsis | T::Fence => A::Skip,
            T::End => A::Finish,
        },
        Expect::Item => match token {
            T::ObjectOpen | T::ArrayOpen | T::GroupOpen | T::Quote | T::Number => A::Accept,
            T::Word | T::Plus => A::Defer,
            T::ObjectClose | T::ArrayClose | T::GroupClose => A::Close,
            T::Comma | T::Colon | T::Equals | T::Semicolon | T::Ellipsis | T::Fence => A::Skip,
            T::End => A::Finish,
        },
        Expect::ItemEnd => match token {
            T::Comma => A::Accept,
            T::ObjectOpen | T::ArrayOpen | T::GroupOpen | T::Number => A::InsertComma,
            T::Quote | T::Plus | T::Word => A::Defer,
            T::ObjectClose | T::ArrayClose | T::GroupClose => A::Close,
            T::Semicolon | T::Colon | T::Equals => A::ReadAsComma,
            T::Ellipsis | T::Fence => A::Skip,
            T::End => A::Finish,
        },
        Expect::FirstKey => match token {
            T::Quote | T::Number => A::Accept,
            T::Word | T::ObjectOpen => A::Defer,
            T::ArrayOpen | T::Colon | T::Equals => A::InsertKey,
            T::GroupOpen | T::GroupClose | T::Plus => A::Skip,
            T::ObjectClose | T::ArrayClose => A::Close,
            T::Comma | T::Semicolon | T::Ellipsis | T::Fence => A::Skip,
            T::End => A::Finish,
        },
        Expect::Key => match token {
            T::Quote | T::Number => A::Accept,
            T::Word | T::ObjectOpen => A::Defer,
            T::ArrayOpen | T::Colon | T::Equals => A::InsertKey,
            T::GroupOpen | T::GroupClose | T::Plus => A::Skip,
            T::ObjectClose | T::ArrayClose => A::Close,
            T::Comma | T::Semicolon | T::Ellipsis | T::Fence => A::Skip,
            T::End => A::Finish,
        },
        Expect::Colon => match token {
            T::Colon => A::Accept,
            T::Equals => A::ReadAsColon,
            T::ObjectOpen | T::ArrayOpen | T::GroupOpen => A::InsertColon,
            T::Quote | T::Number | T::Word => A::InsertColon,
            T::Comma | T::Semicolon | T::ObjectClose | T::ArrayClose => A::InsertValue,
            T::GroupClose | T::Plus | T::Ellipsis | T::Fence => A::Skip,
            T::End => A::Finish,
        },
        Expect::MemberValue => match token {
            T::ObjectOpen => A::Defer,
            T::ArrayOpen | T::GroupOpen | T::Quote | T::Number => A::Accept,
            T::Word | T::Plus => A::Defer,
            T::Comma | T::Semicolon | T::ObjectClose | T::ArrayClose => A::InsertValue,
            T::Colon | T::Equals | T::GroupClose | T::Fence => A::Skip,
            T::Ellipsis => A::InsertValue,
            T::End => A::Finish,
        },
        Expect::MemberEnd => match token {
            T::Comma => A::Accept,
            T::Semicolon => A::ReadAsComma,
            T::Quote | T::Number | T::Word | T::Plus => A::Defer,
            T::ObjectOpen | T::ArrayOpen => A::Defer,
            T::ObjectClose | T::ArrayClose => A::Close,
            T::Colon | T::Equals | T::GroupOpen | T::GroupClose => A::Skip,
            T::Ellipsis | T::Fence => A::Skip,
            T::End => A::Finish,
        },
        Expect::CallEnd => match token {
            T::GroupClose => A::Accept,
            T::ObjectOpen | T::ArrayOpen | T::GroupOpen | T::ObjectClose | T::ArrayClose => {
                A::Leave
            }
            T::Comma | T::Colon | T::Equals | T::Semicolon | T::Quote | T::Number => A::Leave,
            T::Plus | T::Ellipsis | T::Fence | T::Word => A::Leave,
            T::End => A::Finish,
        },
        Expect::DoubledEnd => match token {
            T::ObjectClose => A::Accept,
            T::ObjectOpen | T::ArrayOpen | T::GroupOpen | T::ArrayClose | T::GroupClose => A::Leave,
            T::Comma | T::Colon | T::Equals | T::Semicolon | T::Quote | T::Number => A::Leave,
            T::Plus | T::Ellipsis | T::Fence | T::Word => A::Leave,
            T::End => A::Finish,
        },
        Expect::After => match token {
            T::ObjectClose | T::ArrayClose | T::GroupClose | T::Semicolon | T::Fence => A::Skip,
            T::Comma | T::ObjectOpen | T::ArrayOpen | T::Quote | T::Number | T::Plus => A::Defer,
            T::Word => A::Defer,
            T::GroupOpen | T::Colon | T::Equals | T::Ellipsis => A::Tail,
            T::End => A::Finish,
        },
    }
}

#[cfg(feature = "coverage")]
impl Expect {
    const fn label(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::FirstItem => "first item",
            Self::Item => "item",
            Self::ItemEnd => "item end",
            Self::FirstKey => "first key",
            Self::Key => "key",
            Self::Colon => "colon",
            Self::MemberValue => "member value",
            Self::MemberEnd => "member end",
            Self::CallEnd => "call end",
            Self::DoubledEnd => "doubled end",
            Self::After => "after",
        }
    }
}

#[cfg(feature = "coverage")]
impl Token {
    const fn label(self) -> &'static str {
        match self {
            Self::ObjectOpen => "`{`",
            Self::ArrayOpen => "`[`",
            Self::GroupOpen => "`(`",
            Self::ObjectClose => "`}`",
            Self::ArrayClose => "`]`",
            Self::GroupClose => "`)`",
            Self::Comma => "`,`",
            Self::Colon => "`:`",
            Self::Equals => "`=`",
            Self::Semicolon => "`;`",
            Self::Plus => "`+`",
            Self::Quote => "quote",
            Self::Number => "number",
            Self::Ellipsis => "`...`",
            Self::Fence => "fence",
            Self::Word => "word",
            Self::End => "end",
        }
    }
}

#[cfg(feature = "coverage")]
impl Action {
    const fn label(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Close => "close",
            Self::Defer => "look ahead",
            Self::Finish => "finish",
            Self::InsertComma => "insert `,`",
            Self::InsertColon => "insert `:`",
            Self::InsertKey => "insert key",
            Self::InsertValue => "insert `null`",
            Self::Leave => "leave",
            Self::ReadAsComma => "read as `,`",
            Self::ReadAsColon => "read as `:`",
            Self::Skip => "skip",
            Self::Tail => "tail",
        }
    }
}

/// The whole table in Markdown, with one row for each token and one column for each place.
#[cfg(feature = "coverage")]
#[must_use]
pub fn table() -> String {
    let mut out = String::from("| token |");
    for &expect in Expect::ALL {
        let _ = write!(out, " {} |", expect.label());
    }
    out.push_str("\n|---|");
    for _ in Expect::ALL {
        out.push_str("---|");
    }
    for &token in Token::ALL {
        let _ = write!(out, "\n| {} |", token.label());
        for &expect in Expect::ALL {
            let _ = write!(out, " {} |", action(expect, token).label());
        }
    }
    out.push('\n');
    out
}
