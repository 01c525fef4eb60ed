//! What ends a stream early.

use std::fmt;

/// Why a stream failed.
///
/// An error that the server reports inside the response is not an `Error`; it is an
/// [`Event::Error`](wiremend_response::Event::Error).
///
/// ```
/// use wiremend_stream::Error;
/// let error = Error::Upstream("connection reset");
/// assert_eq!(error.to_string(), "the stream of bytes failed");
/// assert_eq!(error.into_inner(), "connection reset");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error<E> {
    /// The stream of bytes failed. Everything it yielded before the failure has already been emitted.
    Upstream(E),
}

impl<E> Error<E> {
    /// The error of the stream of bytes.
    #[must_use]
    pub fn into_inner(self) -> E {
        match self {
            Self::Upstream(error) => error,
        }
    }
}

/// Says what failed. [`source`](std::error::Error::source) gives the cause.
impl<E> fmt::Display for Error<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Upstream(_) => f.write_str("the stream of bytes failed"),
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
