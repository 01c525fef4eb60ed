//! Whether a quote ends its string: a table over where it is, what follows it, and what the string
//! holds so far.
//!
//! [`verdict`] is total and pure. [`tables`] prints it. A test compares the result with
//! `crates/core/grammar.md`, so every change of behaviour shows up as a change of that page.

#![allow(unreachable_pub, reason = "public with the feature `coverage` only")]

#[cfg(feature = "coverage")]
mod print;
#[cfg(feature = "coverage")]
mod reached;

#[cfg(feature = "coverage")]
pub use print::{possible, tables};
#[cfg(feature = "coverage")]
pub use reached::reached;

/// Defines an enum whose variants have a sentence each, which is both its documentation and its
/// label in the printed tables.
macro_rules! labelled {
    ($(#[$meta:meta])* $name:ident { $($variant:ident $label:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $name { $(#[doc = $label] $variant),* }

        #[cfg(feature = "coverage")]
        impl $name {
            /// All of them, in the order of the tables.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// What it means.
            #[must_use]
            pub const fn label(self) -> &'static str {
                match self { $(Self::$variant => $label),* }
            }
        }
    };
}

labelled! {
    /// What the string is.
    QuotePlace {
        Key "a key",
        Member "the value of a member",
        Item "an item of an array or a tuple",
        Document "the whole document, or the argument of a call",
    }
}

labelled! {
    /// What follows a quote that may end a string.
    Continuation {
        End "the end of the input",
        UnclearSign "a separator or a closer; what follows it is out of sight",
        UnclearText "something else, and then too much to see what it is",
        Colon "`:`",
        Member "`\"key\":`, after a comma or without one",
        MemberOfWords "`, \"key\": words`",
        LooseMember "`, \"key\"` and a value without a colon",
        BareMember "`key:` or `key\":`, after a comma or without one",
        DamagedMember "a comma and an odd key: of several words, half in quotes, or before `=`",
        DeclaredMember "a member that the guide knows",
        ForbiddenMember "what looks like a member, and the guide rules out",
        PairedString "`, \"text\",` or `, \"text\"}`",
        CommaEnd "a comma, and then a bracket or another comma",
        CommaQuote "`,\"` and no word after it",
        CommaText "a comma, and then text",
        Item "a comma and an item",
        ItemPair "`, \"text\", \"` or `, \"text\"]`",
        BareItem "words that end as an item does",
        HalfItem "`, text\",` or `, text\"]`, where the quote before the comma is not the sign of inches, or `, words \"text\",`",
        CloseLast "the document's closer, which settles it",
        CloseFits "a closer, and after it what may follow one",
        CloseUnfit "a closer, and after it what cannot follow one",
        CloseQuote "a closer and directly after it a quote",
        CloseCode "the document's closer and directly after it `)`, `;` or `.`",
        CloseText "the document's closer, then text on the same line up to `\"}`",
        GroupClose "the `)` of a tuple or call",
        SemicolonMember "`;` and a key",
        Semicolon "`;`",
        Join "`+` and a quote",
        Comment "a comment",
        Markup "markup or a fence",
        Sign "another sign that may follow a value",
        SignQuote "a sign and directly after it a quote",
        Value "a bracket, a number or a literal",
        Piece "a string on another line, and after it what may follow a string",
        Quote "a quote, directly",
        SpacedQuote "white space and a quote",
        SecondQuote "a second quote, directly, and what may follow the string",
        KeyRest "`key\":`, directly",
        KeyRestOfWords "`key\": words`, directly",
        ItemRest "`text\",`, `text\"]` or `key\":`, directly",
        Quotation "text up to another quote, where a quotation may begin",
        LastWords "words, and no further quote",
        WordsThenMember "words, a separator and a key",
        Text "other text",
    }
}

labelled! {
    /// What the string holds before the quote.
    Context {
        Plain "no quote so far",
        Opening "no quote so far, and this one may begin a quotation: it touches what follows, and there is white space or a bracket before it",
        Separated "no quote so far; a comma or a line end before this one, and a word directly after it",
        Named "no quote so far; a comma and `key:` before this one",
        Quoted "quotes",
        QuotedOpening "quotes, and this one may begin another quotation",
        QuotedSeparated "quotes; a comma or a line end before this one, and a word directly after it",
        Quotation "a quotation that is open",
    }
}

labelled! {
    /// What a quote means.
    Verdict {
        Close "close",
        CloseBoth "close with both",
        Inner "inner",
        LostBefore "lost",
    }
}

/// What a quote means. Total and pure, except that the feature `coverage` records the call.
#[must_use]
pub fn verdict(place: QuotePlace, seen: Continuation, context: Context) -> Verdict {
    #[cfg(feature = "coverage")]
    reached::note(place, seen, context);
    decide(place, seen, context)
}

/// The tables.
const fn decide(place: QuotePlace, seen: Continuation, context: Context) -> Verdict {
    match place {
        QuotePlace::Key => key(seen, context),
        QuotePlace::Member => member(seen, context),
        QuotePlace::Item => item(seen, context),
        QuotePlace::Document => document(seen),
    }
}

const fn key(seen: Continuation, context: Context) -> Verdict {
    use Continuation as S;
    match seen {
        S::End | S::Colon | S::Sign => Verdict::Close,
        // Directly before a word, and after the name and its colon.
        _ if matches!(context, Context::Named) => Verdict::LostBefore,
        S::KeyRest if matches!(context, Context::Separated) => Verdict::LostBefore,
        S::KeyRest | S::Text | S::UnclearText => Verdict::Inner,
        S::SecondQuote => match context {
            Context::Quoted => Verdict::Inner,
            _ => Verdict::CloseBoth,
        },
        _ => Verdict::Close,
    }
}

const fn member(seen: Continuation, context: Context) -> Verdict {
    use Continuation as S;
    match seen {
        S::End | S::CloseLast | S::DeclaredMember => Verdict::Close,
        S::UnclearSign | S::Member | S::CommaEnd | S::CloseFits | S::GroupClose => Verdict::Close,
        S::Comment | S::Markup | S::SemicolonMember => Verdict::Close,
        S::LooseMember | S::BareMember | S::MemberOfWords => unquoting(context),
        S::LastWords | S::CloseCode => unquoting(context),
        S::WordsThenMember => unopened(context),
        S::PairedString => unreopened(context),
        S::DamagedMember | S::Semicolon | S::Join | S::Piece => unquoted(context),
        S::SecondQuote => second(context),
        S::CloseQuote => plain(context),
        S::KeyRest => match context {
            Context::Separated | Context::QuotedSeparated => Verdict::LostBefore,
            _ => Verdict::Inner,
        },
        S::KeyRestOfWords => match context {
            Context::Separated => Verdict::LostBefore,
            _ => Verdict::Inner,
        },
        _ => Verdict::Inner,
    }
}

const fn item(seen: Continuation, context: Context) -> Verdict {
    use Continuation as S;
    match seen {
        S::End | S::CloseLast => Verdict::Close,
        S::UnclearSign | S::ItemPair | S::CloseFits => Verdict::Close,
        S::Item | S::BareItem | S::Comment | S::Sign | S::Value => unquoting(context),
        S::WordsThenMember | S::LastWords => unquoting(context),
        S::CommaQuote | S::SpacedQuote => unreopened(context),
        S::SignQuote => unopened(context),
        S::CloseQuote | S::HalfItem => plain(context),
        S::Quote => unquoted(context),
        S::SecondQuote => second(context),
        S::ItemRest => match context {
            Context::Separated => Verdict::LostBefore,
            _ => Verdict::Inner,
        },
        _ => Verdict::Inner,
    }
}

const fn document(seen: Continuation) -> Verdict {
    use Continuation as S;
    match seen {
        S::Text => Verdict::Inner,
        S::End => Verdict::Close,
        _ => Verdict::Close,
    }
}

/// The end of a string, but a quotation that is open goes on.
const fn unquoting(context: Context) -> Verdict {
    match context {
        Context::Quotation => Verdict::Inner,
        _ => Verdict::Close,
    }
}

/// Like [`unquoting`], and a quotation may begin here, too.
const fn unopened(context: Context) -> Verdict {
    match context {
        Context::Opening | Context::Separated => Verdict::Inner,
        Context::QuotedOpening | Context::QuotedSeparated => Verdict::Inner,
        _ => unquoting(context),
    }
}

/// Like [`unquoting`], and in a string with quotes another quotation may begin here.
const fn unreopened(context: Context) -> Verdict {
    match context {
        Context::QuotedOpening | Context::QuotedSeparated => Verdict::Inner,
        _ => unquoting(context),
    }
}

/// The end of a string without quotes in it.
const fn unquoted(context: Context) -> Verdict {
    match context {
        Context::Quoted
        | Context::QuotedOpening
        | Context::QuotedSeparated
        | Context::Quotation => Verdict::Inner,
        _ => Verdict::Close,
    }
}

/// The end of a string without quotes in it, where no quotation may begin.
const fn plain(context: Context) -> Verdict {
    match context {
        Context::Opening | Context::Separated => Verdict::Inner,
        _ => unquoted(context),
    }
}

/// A quote that was written twice, unless the first one is part of the string.
const fn second(context: Context) -> Verdict {
    match context {
        Context::Plain => Verdict::CloseBoth,
        _ => Verdict::Inner,
    }
}
