//! Knowledge about the value that is being read, to decide what its bytes leave open.

use alloc::sync::Arc;
use core::fmt;

use crate::JsonType;

/// Knows what a value should be, like one place in a schema, and leads to the places inside it.
///
/// This crate knows nothing about schemas. Where the bytes leave open what was meant, and only
/// there, it asks the guide in its [`MendOptions`](crate::MendOptions::with_guide): whether a word is a
/// key, whether a quote before a key ends its string, whether a number with words after it is text.
/// A guide never changes valid JSON, even if it does not match.
///
/// New methods will have default implementations.
///
/// The same question must always get the same answer; otherwise the result would depend on how the
/// input is divided into chunks. Guides are asked only in case of doubt, so an answer may take a
/// few microseconds.
///
/// ```
/// use std::sync::Arc;
/// use wiremend_core::{Guide, JsonType, Member, MendOptions, mend};
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
///     fn allows(&self, kind: JsonType) -> bool {
///         match self {
///             Self::Object => kind == JsonType::Object,
///             Self::City => kind == JsonType::String,
///             Self::Days => kind == JsonType::Number,
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
/// let alone = mend(text, &MendOptions::new());
/// assert_eq!(alone.text(), Some(r#"{"city": "New York days: 3"}"#));
/// let guided = mend(text, &MendOptions::new().with_guide(Arc::new(Trip::Object)));
/// assert_eq!(guided.text(), Some(r#"{"city": "New York", "days": 3}"#));
/// ```
pub trait Guide: fmt::Debug + Send + Sync {
    /// Whether a value of this kind is allowed here.
    fn allows(&self, kind: JsonType) -> bool;

    /// What is known of a member of this object.
    fn member(&self, key: &str) -> Member;

    /// What is known of an item of this array, counted from 0. `None` if nothing is known. An item
    /// is never forbidden, because the number of items is no help in a decision.
    ///
    /// ### Default
    /// `None`.
    fn item(&self, index: usize) -> Option<Arc<dyn Guide>> {
        let _ = index;
        None
    }

    /// Whether a string here must be one of a list, as with `enum` and `const`, and whether `text`
    /// is one of them.
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
    /// The object declares this member. Contains what is known of its value.
    Declared(Arc<dyn Guide>),
    /// The object does not allow this member.
    Forbidden,
    /// The object allows this member like any other.
    Open,
}

/// Whether a string is in the list of a [`Guide`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Listed {
    /// There is no list. Any string is allowed.
    Any,
    /// It is not in the list, but begins something in the list, as `dark` does with `dark blue`.
    Begins,
    /// It is not in the list, and begins nothing in the list.
    No,
    /// It is in the list.
    Whole,
}

/// The guide for a whole document. It is equal only to itself and its clones.
#[derive(Clone, Debug)]
pub(crate) struct Root(pub(crate) Arc<dyn Guide>);

impl PartialEq for Root {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Root {}
