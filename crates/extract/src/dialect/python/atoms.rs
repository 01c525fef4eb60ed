//! Whether the value of an argument is one value: a number, a literal, a string or a container.

use std::sync::Arc;

use wiremend_core::{Guide, JsonType, RepairKind};

use super::PythonCall;
use crate::dialect::{
    out::Ctx,
    sink::CallSink,
    tools::{Typing, typing},
};

/// How deep the schema is followed into lists.
const DEEPEST: usize = 16;

/// What was read of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Atom {
    #[default]
    Nothing,
    Number(Number),
    /// A number with something after it: a calculation, a date, a number with its unit. Where a string is
    /// allowed, it is the text.
    Calculation,
    /// Words and signs. Where a string is allowed, they are the text.
    Bare,
    /// A string, after which another piece of it may follow.
    Text,
    /// A string and a plus sign, after which another piece must follow.
    Plus,
    /// A literal or a container.
    Whole,
    /// A value with something after it that is no part of it.
    Several,
}

/// The forms of numbers that JSON can express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Sign,
    Zero,
    Digits,
    /// After an underscore, and what the digits around it belong to.
    Between(Part),
    Point,
    /// After a point without digits before it.
    LeadingPoint,
    Fraction,
    Exponent,
    ExponentSign,
    Power,
    HexMark,
    Hex,
    /// White space after a number.
    End,
}

/// A run of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Digits,
    Hex,
}

impl Number {
    const fn is_complete(self) -> bool {
        matches!(
            self,
            Self::Zero
                | Self::Digits
                | Self::Point
                | Self::Fraction
                | Self::Power
                | Self::Hex
                | Self::End
        )
    }

    /// The number with another byte. `None` if it is none.
    const fn with(self, byte: u8) -> Option<Self> {
        Some(match (self, byte) {
            (Self::Sign, b'0') => Self::Zero,
            (Self::Sign, b'1'..=b'9') => Self::Digits,
            (Self::Sign, b'.') => Self::LeadingPoint,
            (Self::Zero, b'x' | b'X') => Self::HexMark,
            (Self::Digits | Self::Between(Part::Digits), b'0'..=b'9') => Self::Digits,
            (Self::Digits, b'_') => Self::Between(Part::Digits),
            (Self::Zero | Self::Digits, b'.') => Self::Point,
            (Self::Zero | Self::Digits | Self::Point | Self::Fraction, b'e' | b'E') => {
                Self::Exponent
            }
            (Self::Point | Self::LeadingPoint | Self::Fraction, b'0'..=b'9') => Self::Fraction,
            (Self::Exponent, b'+' | b'-') => Self::ExponentSign,
            (Self::Exponent | Self::ExponentSign | Self::Power, b'0'..=b'9') => Self::Power,
            (Self::HexMark | Self::Hex, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => Self::Hex,
            (Self::Hex, b'_') => Self::Between(Part::Hex),
            (Self::Between(Part::Hex), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => Self::Hex,
            (number, b' ' | b'\t' | b'\n' | b'\r') if number.is_complete() => Self::End,
            _ => return None,
        })
    }
}

impl Atom {
    /// The value with another byte, which is neither a quote nor a bracket nor the end of the value.
    const fn with(self, byte: u8) -> Self {
        let space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C);
        match (self, byte) {
            (Self::Nothing, b'+' | b'-') => Self::Number(Number::Sign),
            (Self::Nothing, b'0'..=b'9' | b'.') => match Number::Sign.with(byte) {
                Some(number) => Self::Number(number),
                None => Self::Bare,
            },
            (Self::Number(number), _) => match number.with(byte) {
                Some(number) => Self::Number(number),
                None => Self::Calculation,
            },
            (atom, _) if space => atom,
            // Arguments that are kept in a variable.
            (Self::Nothing, b'*') => Self::Several,
            (Self::Nothing, _) => Self::Bare,
            (Self::Text, b'+') => Self::Plus,
            (Self::Text | Self::Plus | Self::Whole, _) => Self::Several,
            (Self::Calculation | Self::Bare | Self::Several, _) => self,
        }
    }
}

/// A container that is open.
#[derive(Clone, Debug)]
pub(super) struct OpenContainer {
    guide: Option<Arc<dyn Guide>>,
    form: Form,
    items: usize,
    /// Whether there was a colon in it, and whether there was one since the last comma.
    keyed: bool,
    in_value: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    List,
    /// Parentheses around what may be one value, or a tuple.
    Tuple,
    /// Parentheses around one value.
    Group,
    Dict,
}

impl PythonCall {
    /// Notes bytes of a value that are passed on.
    pub(super) fn note(&mut self, bytes: &[u8]) {
        self.atom = bytes.iter().fold(self.atom, |atom, byte| atom.with(*byte));
    }

    /// A string begins. Returns whether it is another piece of the one before, without a sign between
    /// them. In a list, a comma may be missing there.
    pub(super) fn note_string(&mut self) -> bool {
        let inside = self.places.last().map(|place| place.form);
        let lists = self.places.len() != self.brackets.len()
            || matches!(inside, Some(Form::List | Form::Tuple));
        let continues = self.atom == Atom::Text && !lists;
        self.atom = match self.atom {
            Atom::Nothing | Atom::Text | Atom::Plus => Atom::Text,
            _ => Atom::Several,
        };
        continues
    }

    /// Whether a string that follows may be a key: after the string that is a value in a dictionary.
    pub(super) fn may_be_key(&self) -> bool {
        let inside = self.places.last().map(|place| place.form);
        self.atom == Atom::Text
            && self.places.len() == self.brackets.len()
            && inside == Some(Form::Dict)
    }

    /// The string that follows is a key, although there is no comma before it.
    pub(super) fn note_key<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        self.repairs.count += 1;
        if !ctx.options.policy().allows(RepairKind::MissingComma) {
            ctx.refuse();
        }
        if let Some(place) = self.places.last_mut() {
            place.in_value = false;
        }
    }

    /// A literal or an expression was read as a whole.
    pub(super) fn note_whole(&mut self) {
        self.atom = if self.atom == Atom::Nothing { Atom::Whole } else { Atom::Several };
    }

    /// A word inside of a container, which is text where that is allowed.
    pub(super) fn note_word(&mut self) {
        self.atom = match self.atom {
            Atom::Nothing | Atom::Bare => Atom::Bare,
            Atom::Number(_) | Atom::Calculation => Atom::Calculation,
            _ => Atom::Several,
        };
    }

    /// A bracket opens. Returns whether it is a parenthesis that only groups.
    pub(super) fn note_open<S: CallSink>(&mut self, bracket: u8, ctx: &mut Ctx<'_, S>) -> bool {
        if self.atom != Atom::Nothing {
            // An index, a call, or part of a calculation.
            ctx.refuse();
        }
        self.atom = Atom::Nothing;
        let guide = self.guide(ctx);
        let allows = |kind| guide.as_ref().is_none_or(|guide| guide.allows(kind));
        let others = [JsonType::Boolean, JsonType::Number, JsonType::Object, JsonType::String];
        let form = match bracket {
            b'{' => Form::Dict,
            b'[' => Form::List,
            _ if !allows(JsonType::Array) => Form::Group,
            _ if others.into_iter().any(allows) => Form::Tuple,
            _ => Form::List,
        };
        if self.places.len() == self.brackets.len() && self.places.len() < DEEPEST {
            self.places.push(OpenContainer {
                guide,
                form,
                items: 0,
                keyed: false,
                in_value: false,
            });
            return form == Form::Group;
        }
        false
    }

    /// A comma or a colon inside of a container.
    pub(super) fn note_separator<S: CallSink>(&mut self, byte: u8, ctx: &mut Ctx<'_, S>) {
        self.end_value(ctx);
        if self.places.len() != self.brackets.len() {
            return;
        }
        if let Some(place) = self.places.last_mut() {
            place.items += usize::from(byte == b',');
            place.keyed |= byte == b':';
            // The second of two colons is after a key that was read as a piece of the value before it.
            let joined = byte == b':' && place.in_value && place.form == Form::Dict;
            place.in_value = byte == b':';
            if joined || place.form == Form::Group {
                ctx.refuse();
            }
        }
    }

    /// Closes the innermost container. Returns its brackets, if one is open.
    pub(super) fn close_bracket<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) -> Option<(u8, u8)> {
        if !self.brackets.is_empty() {
            self.note_close(ctx);
        }
        self.brackets.pop()
    }

    fn note_close<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        let empty = self.atom == Atom::Nothing;
        self.end_value(ctx);
        self.atom = Atom::Whole;
        if self.places.len() != self.brackets.len() {
            return;
        }
        match self.places.pop() {
            // Without a comma, parentheses are no tuple.
            Some(place) if place.form == Form::Tuple && place.items == 0 && !empty => ctx.refuse(),
            Some(place) if place.form == Form::Group && empty => ctx.refuse(),
            // A set, or a placeholder in braces.
            Some(place) if place.form == Form::Dict && !place.keyed && !empty => ctx.refuse(),
            _ => {}
        }
    }

    /// Ends a value. It must be one value, or text where the schema allows a string: the result of a
    /// calculation is not known.
    pub(super) fn end_value<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        let known = match std::mem::take(&mut self.atom) {
            Atom::Nothing | Atom::Text | Atom::Whole => true,
            Atom::Number(number) => number.is_complete(),
            Atom::Bare => self.typing(ctx) != Typing::Json,
            Atom::Calculation => match self.typing(ctx) {
                Typing::Text | Typing::Either => true,
                Typing::Unknown => self.brackets.is_empty(),
                Typing::Json => false,
            },
            Atom::Plus | Atom::Several => false,
        };
        if !known {
            ctx.refuse();
        }
    }

    /// What the schema says about the value that is being read.
    fn typing<S: CallSink>(&self, ctx: &Ctx<'_, S>) -> Typing {
        let guide = self.guide(ctx);
        let misplaced = match self.places.last() {
            Some(OpenContainer { guide: Some(guide), form: Form::List, .. }) => {
                !guide.allows(JsonType::Array)
            }
            _ => false,
        };
        if guide.is_none() && misplaced { Typing::Json } else { typing(guide.as_ref()) }
    }

    /// What the schema says about the value that is being read, if anything.
    fn guide<S: CallSink>(&self, ctx: &Ctx<'_, S>) -> Option<Arc<dyn Guide>> {
        if self.places.len() != self.brackets.len() {
            return None;
        }
        match self.places.last() {
            None => ctx.tools.get(&self.name)?.parameter(&self.key),
            Some(place) => match place.form {
                Form::List | Form::Tuple => place.guide.as_ref()?.item(place.items),
                Form::Group => place.guide.clone(),
                Form::Dict => None,
            },
        }
    }
}
