//! Prints the tables. Only with the feature `coverage`.

use alloc::{format, string::String};
use core::fmt::{Debug, Write as _};

use super::{Context, Continuation, QuotePlace, decide};

impl QuotePlace {
    /// What can follow a quote here.
    pub fn continuations(self) -> impl Iterator<Item = Continuation> {
        use Continuation as S;
        Continuation::ALL.iter().copied().filter(move |seen| {
            *seen == S::End
                || match self {
                    Self::Key => matches!(
                        seen,
                        S::UnclearText
                            | S::Colon
                            | S::Sign
                            | S::Value
                            | S::SpacedQuote
                            | S::SecondQuote
                            | S::KeyRest
                            | S::LastWords
                            | S::Text
                    ),
                    Self::Member => !matches!(
                        seen,
                        S::CommaQuote
                            | S::Item
                            | S::ItemPair
                            | S::BareItem
                            | S::HalfItem
                            | S::Sign
                            | S::SignQuote
                            | S::Value
                            | S::Quote
                            | S::SpacedQuote
                            | S::ItemRest
                    ),
                    Self::Item => matches!(
                        seen,
                        S::UnclearSign
                            | S::UnclearText
                            | S::CommaQuote
                            | S::CommaText
                            | S::Item
                            | S::ItemPair
                            | S::BareItem
                            | S::HalfItem
                            | S::CloseLast
                            | S::CloseFits
                            | S::CloseUnfit
                            | S::CloseQuote
                            | S::Comment
                            | S::Sign
                            | S::SignQuote
                            | S::Value
                            | S::Quote
                            | S::SpacedQuote
                            | S::SecondQuote
                            | S::ItemRest
                            | S::Quotation
                            | S::LastWords
                            | S::Text
                    ),
                    Self::Document => {
                        matches!(seen, S::GroupClose | S::Sign | S::LastWords | S::Text)
                    }
                }
        })
    }

    /// What a string here can hold.
    pub fn contexts(self) -> impl Iterator<Item = Context> {
        use Context as C;
        Context::ALL.iter().copied().filter(move |context| match self {
            Self::Key => matches!(context, C::Plain | C::Separated | C::Named | C::Quoted),
            Self::Member => !matches!(context, C::Named),
            Self::Item => !matches!(context, C::Named | C::QuotedSeparated),
            Self::Document => !matches!(context, C::Named | C::Separated | C::QuotedSeparated),
        })
    }
}

/// Whether both can be there at the same time.
#[must_use]
pub const fn possible(place: QuotePlace, seen: Continuation, context: Context) -> bool {
    use Context as C;
    use Continuation as S;
    let quoted = !matches!(context, C::Plain | C::Opening | C::Separated | C::Named);
    // What comes directly after the quote, as the context says.
    let separated = matches!(context, C::Separated | C::QuotedSeparated);
    match (place, seen) {
        (QuotePlace::Key, S::End) => matches!(context, C::Plain | C::Quoted),
        (QuotePlace::Key, S::Colon) => matches!(context, C::Plain | C::Quoted),
        (QuotePlace::Key, S::LastWords) => !quoted,
        (QuotePlace::Key, _) => true,
        (QuotePlace::Document, S::GroupClose) => matches!(context, C::Plain | C::Opening),
        (QuotePlace::Document, S::LastWords) => true,
        // Before any quote, the closer of the document settles it.
        (QuotePlace::Member, S::CloseQuote | S::CloseCode | S::CloseText) => quoted && !separated,
        (_, S::CloseLast) => matches!(context, C::Plain | C::Opening),
        (_, S::DeclaredMember) => !quoted && !separated,
        (_, S::ForbiddenMember) => quoted && !matches!(context, C::QuotedOpening),
        (_, S::Quotation) => !matches!(context, C::Plain | C::Quoted),
        (
            _,
            S::UnclearText
            | S::Member
            | S::Semicolon
            | S::SemicolonMember
            | S::GroupClose
            | S::KeyRest
            | S::KeyRestOfWords
            | S::ItemRest
            | S::Sign
            | S::SignQuote
            | S::Quote
            | S::LastWords
            | S::Text,
        ) => true,
        _ => !separated,
    }
}

/// The name of a variant in words.
fn name(variant: impl Debug) -> String {
    let mut out = String::new();
    for letter in format!("{variant:?}").chars() {
        if letter.is_uppercase() && !out.is_empty() {
            out.push(' ');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

/// The tables in Markdown: what a string can hold, and then for each place one row for each thing
/// that can follow a quote, with one column for each thing that the string can hold.
#[must_use]
pub fn tables() -> String {
    let mut out = String::from("| column | the string holds, before the quote |\n|---|---|\n");
    for &context in Context::ALL {
        let _ = writeln!(out, "| {} | {} |", name(context), context.label());
    }
    for &place in QuotePlace::ALL {
        let _ = write!(out, "\n### In {}\n\n| after the quote |", place.label());
        place.contexts().for_each(|context| _ = write!(out, " {} |", name(context)));
        out.push_str("\n|---|");
        place.contexts().for_each(|_| out.push_str("---|"));
        for seen in place.continuations() {
            let _ = write!(out, "\n| {} |", seen.label());
            for context in place.contexts() {
                let possible = possible(place, seen, context);
                let verdict = decide(place, seen, context).label();
                let _ = write!(out, " {} |", if possible { verdict } else { "" });
            }
        }
        out.push('\n');
    }
    out
}
