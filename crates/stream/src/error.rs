//! What ends a stream early.

use std::fmt;

/// Why a stream failed.
///
/// What the model's server reports inside a response is no error of this kind, but an
/// [`Event::Error`](crate::Event::Error).
///
/// ```
/// use jsonmend_stream::Error;
/// let error = Error::Upstream("connection reset");
/// assert_eq!(error.to_string(), "the stream of bytes failed: connection reset");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error<E> {
    /// The stream of bytes failed. What it gave before has been handed out.
    Upstream(E),
}

impl<E: fmt::Display> fmt::Display for Error<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Upstream(error) => write!(f, "the stream of bytes failed: {error}"),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for Error<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Upstream(error) => Some(error),
        }
    }
}
