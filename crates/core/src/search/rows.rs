//! What a reading may do other than accept a byte: each repair, where it applies, and what it costs.

use crate::{RepairKind, Repairs};

/// Each line becomes a row: its name, the kind of repair that records it, its cost, and where it applies.
macro_rules! rows {
    ($($row:ident $kind:ident $cost:literal $when:literal;)*) => {
        /// One repair that a reading can make.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum Row {
            $(#[doc = $when] $row,)*
        }

        impl Row {
            /// The kind of repair that records it.
            pub(super) const fn kind(self) -> RepairKind {
                match self { $(Self::$row => RepairKind::$kind),* }
            }

            /// The habit that it is part of, if it is: who writes so once does so again.
            pub(super) const fn habit(self) -> Option<u16> {
                Some(match self {
                    Self::BacktickString => 1,
                    Self::BareKey => 1 << 1,
                    Self::ColonReplaced => 1 << 3,
                    Self::CommaReplaced => 1 << 4,
                    Self::DoubledString => 1 << 5,
                    Self::EscapedString => 1 << 6,
                    Self::SingleString => 1 << 7,
                    Self::SmartString => 1 << 8,
                    Self::CommaAddedAtLine => 1 << 9,
                    _ => return None,
                })
            }

            /// What it costs, in hundredths of a skipped comment.
            pub(super) const fn cost(self) -> u32 {
                match self { $(Self::$row => $cost),* }
            }
        }
    };
}

rows! {
    ApostropheInside SingleQuote 20 "An apostrophe between letters, in a string in single quotes.";
    ArrayAsObject MissingOpen 350 "Members in an array.";
    ArrayIsObject MismatchedOpen 550 "`[` where `{` was meant.";
    Backslash BadEscape 130 "A backslash that starts no escape.";
    BacktickString BacktickQuote 120 "A string in backticks.";
    BareKey UnquotedKey 120 "A key without quotes.";
    BareValue UnquotedString 400 "A value without quotes.";
    BegunAgain DuplicateOpen 150 "The text so far follows once more.";
    BlankInNumber DigitSeparator 300 "White space inside a number.";
    BracketsSwapped MismatchedOpen 500 "`{[` where `[{` was meant.";
    Bullet StrayText 300 "A mark before an item.";
    Call CallWrapper 250 "A name and a parenthesis before a value.";
    CloserAdded MissingClose 600 "A container ends without its closer.";
    CloserAddedByIndent MissingClose 250 "A container ends without its closer, before a line that is not further in than its first one.";
    CloserDropped ExtraClose 650 "A closer that closes nothing.";
    CloserIsComma MissingComma 700 "A closer where a comma was meant.";
    ClosersSwapped MismatchedClose 550 "Two closers in each other's place.";
    CloserReplaced MismatchedClose 500 "A closer of another bracket.";
    ColonAdded MissingColon 500 "A key and a value with nothing between them.";
    ColonDropped ExtraColon 200 "A second colon.";
    ColonInKey MissingColon 250 "A colon inside the quotes of its key.";
    ColonLate MissingColon 400 "`\":` where `:\"` was meant.";
    ColonReplaced MissingColon 150 "`=`, `=>`, `->` or a wide colon after a key.";
    CommaAdded MissingComma 400 "Two items with nothing between them.";
    CommaAddedAtLine MissingComma 250 "Two items on two lines with nothing between them.";
    CommaDropped ExtraComma 60 "A comma with nothing before or after it.";
    CommaInString MissingComma 120 "A comma inside the quotes of the item before it.";
    CommaLate MissingComma 400 "`\",` where `,\"` was meant.";
    CommaReplaced MissingComma 150 "A semicolon or a wide comma between items.";
    CommentDropped Comment 100 "A comment.";
    Control UnescapedControl 60 "A raw control character in a value.";
    ControlInKey UnescapedControl 900 "A raw line end in a key.";
    DotAsComma MissingComma 300 "A full stop between items.";
    DoubledString DoubledQuote 480 "A string in two or three quotes.";
    EllipsisDropped Ellipsis 250 "Dots in the place of items.";
    EscapeCut CutEscape 0 "An escape of which the text has only the beginning.";
    EscapedQuoteOfKey EscapedDocument 300 "A key that an escaped quote ends.";
    EscapedString EscapedDocument 60 "A string whose quotes are escaped.";
    FenceDropped CodeFence 100 "A fence around a value.";
    HalfQuoteOfOther SingleQuote 40 "A string that has lost its opening quote, and ends in one of another kind.";
    InnerOpen InnerBraces 950 "A brace before a member.";
    InvalidByte InvalidUtf8 100 "Bytes that are not UTF-8.";
    KeyAdded MissingKey 1200 "A colon without a key.";
    KeyAlone MissingValue 700 "A key with neither a colon nor a value.";
    KeyCut CutKey 100 "A key that the end of the text left without a value.";
    LetterEscape LiteralEscape 260 "An escape of JSON that is text.";
    ListAdded MissingOpen 700 "A list of objects or numbers without a bracket before it.";
    ListGoesOn ExtraClose 700 "A list that ends, and begins again as its next item.";
    Literal PythonLiteral 40 "A literal of another language.";
    LostQuote UnterminatedString 650 "A string that ends before a separator, without its quote.";
    LostQuoteAtCloser UnterminatedString 620 "A string that ends before closers after which more follows, without its quote.";
    LostQuoteAtLine UnterminatedString 550 "A string that ends before a line end, without its quote.";
    LostQuoteOfKey UnterminatedString 450 "A key that ends before its colon, without its quote.";
    NumberMended LeadingDot 60 "A number that JSON writes in another way.";
    ObjectAsSet Tuple 900 "Braces around values that are no members.";
    ObjectIsArray MismatchedOpen 900 "`{` where `[` was meant.";
    OddSpaceReplaced OddSpace 10 "A space that is none in JSON.";
    MembersAdded MissingOpen 550 "Members as a value, without a brace before them.";
    MembersEnd MissingClose 60 "Members in an array end with it.";
    OpenAdded MissingOpen 300 "Members without a brace before them.";
    OpenLate MissingOpen 200 "`\"{` where `{\"` was meant.";
    OpenAgain DuplicateOpen 500 "A brace that was written twice.";
    PlusDropped StringConcatenation 250 "A plus that joins nothing.";
    Prefix StringPrefix 40 "A letter before a string.";
    Prose LeadingProse 0 "Text around documents.";
    QuoteInCode UnescapedQuote 60 "A quote in a string that holds code.";
    QuoteInKey UnescapedQuote 900 "A quote inside a key.";
    QuoteInKeyAgain UnescapedQuote 160 "A quote inside a key, the second of a pair.";
    QuoteInside UnescapedQuote 380 "A quote inside a string, the first of a pair.";
    QuoteInsideAgain UnescapedQuote 160 "A quote inside a string, the second of a pair.";
    QuoteLate UnquotedString 300 "A quote behind the first character of its string.";
    QuoteOfInches UnescapedQuote 320 "A quote after a digit.";
    QuoteOfOther SingleQuote 20 "A double quote in a string that others delimit.";
    QuoteOpensCode UnescapedQuote 150 "A quote where a token of code begins, in a string.";
    QuoteWrittenTwice DoubledQuote 150 "A quote inside a string that is written twice.";
    RemarkDropped Comment 250 "A comment on the last line, up to a closer.";
    RootCloserAdded MissingClose 1200 "The root ends without its closer, and text follows.";
    SecondText SecondDocument 400 "A second document.";
    SemicolonAsColon MissingColon 250 "A semicolon after a key.";
    SeparatorDropped ExtraComma 120 "A separator where a value or a key is expected.";
    SingleString SingleQuote 60 "A string in single quotes.";
    SmartString SmartQuote 90 "A string in typographic quotes.";
    StrayQuote StrayText 500 "A quote between tokens.";
    StrayQuoteAfter StrayText 350 "A quote directly after a token.";
    StraySign StrayText 500 "A mark of punctuation after a value.";
    StrayWord StrayText 1000 "A word or a sign between tokens.";
    StrayWordBeforeKey StrayText 700 "A word where a key is expected.";
    StringJoin StringConcatenation 120 "A string in several pieces.";
    StringJoinBare StringConcatenation 450 "A string in several pieces, with nothing between them.";
    StringJoinTight StringConcatenation 400 "A string in two pieces, with a plus and no blanks between them.";
    Surrogate LoneSurrogate 60 "Half a character, escaped.";
    SignIsCloser MismatchedClose 600 "A bracket, a colon or a quote where a closer was meant.";
    SignIsColon MissingColon 450 "A bracket or a quote where a colon was meant.";
    SignIsComma MissingComma 550 "A bracket or a quote where a comma was meant.";
    SignIsOpeningQuote UnquotedString 800 "A bracket, a colon or a comma where a quote was meant to begin a string.";
    SignIsQuote UnterminatedString 600 "A bracket, a colon or a comma where a quote was meant to end a string.";
    SignIsQuoteOfKey UnterminatedString 350 "A bracket, a colon or a comma where a quote was meant to end a key.";
    Template UnquotedString 300 "A name in two braces.";
    TextCut UnterminatedString 400 "The end of the text inside a string.";
    TokenSpace OddSpace 0 "What byte-level tokens write for a space, inside a string.";
    TupleOpen Tuple 300 "A list in parentheses.";
    ValueAdded MissingValue 900 "A key without a value.";
    WideSign MissingComma 60 "A comma or colon of another script.";
    WrongQuote UnterminatedString 540 "A string that a quote of another kind ends.";
    WrongQuoteOfKey UnterminatedString 300 "A key that a quote of another kind ends.";
}

/// Whether a repair of this kind has no rival: nothing else could have been meant, so that the rest of the
/// text need not decide.
pub(crate) const fn has_rival(kind: RepairKind) -> bool {
    !matches!(
        kind,
        RepairKind::BacktickQuote
            | RepairKind::ByteOrderMark
            | RepairKind::CodeFence
            | RepairKind::Comment
            | RepairKind::EscapedDocument
            | RepairKind::ExtraComma
            | RepairKind::HtmlEntity
            | RepairKind::InlineProse
            | RepairKind::LeadingDot
            | RepairKind::LeadingPlus
            | RepairKind::LeadingProse
            | RepairKind::LineMark
            | RepairKind::LiteralCase
            | RepairKind::LoneSurrogate
            | RepairKind::NonFinite
            | RepairKind::OddSpace
            | RepairKind::PythonLiteral
            | RepairKind::SecondDocument
            | RepairKind::SingleQuote
            | RepairKind::SmartQuote
            | RepairKind::TrailingDot
            | RepairKind::TrailingProse
            | RepairKind::Undefined
            | RepairKind::UnescapedControl
            | RepairKind::UnquotedKey
    )
}

/// What the repairs of a text of so many documents cost, which something else has made.
pub(crate) fn price(repairs: &Repairs, text: &[u8], documents: usize) -> u32 {
    let further = documents.saturating_sub(1) as u32;
    let (mut cost, mut quotes) = (Row::SecondText.cost().saturating_mul(further), 0_u32);
    for repair in repairs {
        cost = cost.saturating_add(match repair.kind() {
            RepairKind::UnescapedQuote | RepairKind::AmbiguousQuote => {
                quotes += 1;
                match quotes {
                    1 => Row::QuoteInside.cost(),
                    2 => Row::QuoteInsideAgain.cost(),
                    _ => Row::QuoteInsideAgain.cost() / 2 + 50,
                }
            }
            RepairKind::MissingClose if repair.start() == text.len() => 100,
            // What is dropped may be a part of the document.
            kind @ RepairKind::StrayText => {
                let dropped = &text[repair.span()];
                let has_words = dropped.iter().any(u8::is_ascii_alphanumeric);
                of_kind(kind).saturating_add(if has_words { swallowed(dropped) } else { 0 })
            }
            kind => of_kind(kind),
        });
    }
    cost
}

/// What it costs to drop a text, beside that one is dropped.
pub(super) fn swallowed(text: &[u8]) -> u32 {
    let weight = |byte: &u8| match byte {
        b'{' | b'}' | b'[' | b']' => 500,
        b'"' | b'\'' => 250,
        b':' => 100,
        b' ' | b'\t' | b'\r' | b'\n' | b'`' | b'#' | b'*' => 0,
        _ => 3,
    };
    text.iter().fold(0, |cost: u32, byte| cost.saturating_add(weight(byte)))
}

/// About what a repair of a kind costs.
const fn of_kind(kind: RepairKind) -> u32 {
    match kind {
        RepairKind::BacktickQuote
        | RepairKind::EscapedDocument
        | RepairKind::SingleQuote
        | RepairKind::SmartQuote => 30,
        RepairKind::DoubledQuote => Row::DoubledString.cost() / 2,
        RepairKind::BadEscape => Row::Backslash.cost(),
        RepairKind::CallWrapper => Row::Call.cost() / 2,
        RepairKind::Comment => Row::CommentDropped.cost(),
        RepairKind::DigitSeparator => Row::BlankInNumber.cost(),
        RepairKind::DuplicateOpen => Row::OpenAgain.cost(),
        RepairKind::Ellipsis => Row::EllipsisDropped.cost(),
        RepairKind::ExtraClose => Row::CloserDropped.cost(),
        RepairKind::ExtraColon => Row::ColonDropped.cost(),
        RepairKind::ExtraComma => Row::CommaDropped.cost(),
        RepairKind::InnerBraces => Row::InnerOpen.cost() / 2,
        RepairKind::LiteralEscape => Row::LetterEscape.cost(),
        RepairKind::MismatchedClose => Row::CloserReplaced.cost(),
        RepairKind::MismatchedOpen => Row::ObjectIsArray.cost(),
        RepairKind::MissingClose => Row::CloserAdded.cost(),
        RepairKind::MissingColon => Row::ColonAdded.cost(),
        RepairKind::MissingComma => Row::CommaAdded.cost(),
        RepairKind::MissingKey => Row::KeyAdded.cost(),
        RepairKind::MissingOpen => Row::OpenAdded.cost(),
        RepairKind::MissingValue => Row::ValueAdded.cost(),
        RepairKind::StrayText => Row::StrayWord.cost(),
        RepairKind::StringConcatenation => Row::StringJoin.cost(),
        RepairKind::Tuple => Row::TupleOpen.cost() / 2,
        RepairKind::UnquotedKey => Row::BareKey.cost(),
        RepairKind::UnquotedString => Row::BareValue.cost(),
        RepairKind::UnterminatedString => Row::LostQuote.cost(),
        RepairKind::CutKey | RepairKind::CutLiteral | RepairKind::CutNumber => Row::TextCut.cost(),
        // What is around documents is not judged here.
        RepairKind::ByteOrderMark
        | RepairKind::CodeFence
        | RepairKind::InlineProse
        | RepairKind::LeadingProse
        | RepairKind::SecondDocument
        | RepairKind::TrailingProse => 0,
        _ => 40,
    }
}
