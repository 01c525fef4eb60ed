//! What is known of the value that is being read, for the places where its bytes leave a doubt.

use alloc::sync::Arc;
use core::fmt;

use crate::Kind;

/// Knows what a value should be: one place of a schema, from which the places inside it are reached.
///
/// Core knows no schema. Where the bytes leave open what was meant, and only there, it asks the
/// guide in its [`Options`](crate::Options::with_guide): whether a word is a key, whether a quote
/// that has a key after it ends its string, whether a number with words after it is text. Valid
/// JSON is never changed for a guide's sake, however badly it fits.
///
/// Further methods will come with a default.
///
/// The same question must always have the same answer, or the result would depend on where a chunk
/// ends. It is asked at doubtful places only, so an answer may take some microseconds.
///
/// ```
/// use std::sync::Arc;
/// use jsonmend_core::{Guide, Kind, Member, Options, mend};
///
/// /// An object with the text `city` and the number `days`.
/// #[derive(Debug)]
/// enum Trip {
///     Object,
///     City,
///     Days,
/// }
///
/// impl Guide for Trip {
///     fn allows(&self, kind: Kind) -> bool {
///         match self {
///             Self::Object => kind == Kind::Object,
///             Self::City => kind == Kind::String,
///             Self::Days => kind == Kind::Number,
///         }
///     }
///     fn member(&self, key: &str) -> Member {
///         match key {
///             "city" => Member::Declared(Arc::new(Self::City)),
///             "days" => Member::Declared(Arc::new(Self::Days)),
///             _ => Member::Open,
///         }
///     }
/// }
///
/// let text = b"{city: New York days: 3}";
/// let alone = mend(text, &Options::new());
/// assert_eq!(alone.text(), Some(r#"{"city": "New York days: 3"}"#));
/// let guided = mend(text, &Options::new().with_guide(Arc::new(Trip::Object)));
/// assert_eq!(guided.text(), Some(r#"{"city": "New York", "days": 3}"#));
/// ```
pub trait Guide: fmt::Debug + Send + Sync {
    /// Whether a value of that kind may be here.
    fn allows(&self, kind: Kind) -> bool;

    /// What is known of a member of the object here.
    fn member(&self, key: &str) -> Member;

    /// The place of an item of the array here, counted from 0; `None` if nothing is known of it.
    /// No item is forbidden: how many there may be settles nothing.
    ///
    /// ### Default
    /// `None`.
    fn item(&self, index: usize) -> Option<Arc<dyn Guide>> {
        let _ = index;
        None
    }

    /// Whether a string here must be one of a few, as under `enum` and `const`, and whether `text`
    /// is one.
    ///
    /// ### Default
    /// [`Listed::Any`].
    fn listed(&self, text: &str) -> Listed {
        let _ = text;
        Listed::Any
    }
}

/// What a [`Guide`] knows of a member.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Member {
    /// The object has such a member; the place of its value.
    Declared(Arc<dyn Guide>),
    /// The object has no such member.
    Forbidden,
    /// The object may have such a member, as any other.
    Open,
}

/// Whether a string is one of those a [`Guide`] lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Listed {
    /// There is no list: any string may be here.
    Any,
    /// Something in the list is longer and begins with it: `dark` of `dark blue`.
    Begins,
    /// It is not in the list, nor does anything in the list begin with it.
    No,
    /// It is in the list.
    Whole,
}

/// The guide of a whole document; equal to itself and its clones only.
#[derive(Clone, Debug)]
pub(crate) struct Root(pub(crate) Arc<dyn Guide>);

impl PartialEq for Root {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Root {}
