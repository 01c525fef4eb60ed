//! Streams that misbehave like real ones.

use std::{
    cell::RefCell,
    collections::VecDeque,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};

use futures::Stream;

/// What happened to a [`Source`].
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) polls: usize,
    pub(crate) given: usize,
    pub(crate) dropped: bool,
    pub(crate) polled_after_end: bool,
}

/// Yields its chunks, is optionally pending before each, and keeps a log.
pub(crate) struct Source {
    chunks: VecDeque<Result<Vec<u8>, &'static str>>,
    hesitant: bool,
    ready: bool,
    ended: bool,
    log: Rc<RefCell<Log>>,
}

impl Source {
    pub(crate) fn new(chunks: Vec<Result<Vec<u8>, &'static str>>) -> (Self, Rc<RefCell<Log>>) {
        let log = Rc::new(RefCell::new(Log::default()));
        let source = Self {
            chunks: chunks.into(),
            hesitant: false,
            ready: false,
            ended: false,
            log: Rc::clone(&log),
        };
        (source, log)
    }

    pub(crate) fn cut(body: &[u8], size: usize) -> (Self, Rc<RefCell<Log>>) {
        Self::new(body.chunks(size).map(|chunk| Ok(chunk.to_vec())).collect())
    }

    pub(crate) fn hesitant(mut self) -> Self {
        self.hesitant = true;
        self
    }
}

impl Stream for Source {
    type Item = Result<Vec<u8>, &'static str>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let log = Rc::clone(&self.log);
        let mut log = log.borrow_mut();
        log.polls += 1;
        log.polled_after_end |= self.ended;
        if self.hesitant && !std::mem::replace(&mut self.ready, true) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.ready = false;
        let chunk = self.chunks.pop_front();
        match chunk {
            Some(_) => log.given += 1,
            None => self.ended = true,
        }
        Poll::Ready(chunk)
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.log.borrow_mut().dropped = true;
    }
}
