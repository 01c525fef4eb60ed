//! Many requests at once: a reader, workers, and one writer that keeps the order.
//!
//! The reader makes a slot for each line and puts it into two bounded queues: one for the workers and
//! one for the writer, which waits for each slot in turn. The bounds limit memory use, because a
//! reader that is too fast has to wait.

use std::{
    io::{self, BufRead, Read as _, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, TryRecvError, sync_channel},
    },
    thread,
};

/// A line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Without its line end.
    Whole(Vec<u8>),
    /// A line over the limit: its first bytes, up to the limit.
    TooLong(Vec<u8>),
}

/// A line, and the channel for its reply.
struct Job {
    line: Line,
    reply: SyncSender<Vec<u8>>,
}

/// A slot of the writer.
enum Slot {
    Reply(Receiver<Vec<u8>>),
    Failed(io::Error),
}

/// Why the pipeline stopped before the end of the input.
#[derive(Debug)]
pub(crate) enum Stopped {
    Reading(io::Error),
    Writing(io::Error),
}

/// The maximum number of requests in progress per thread.
const QUEUED: usize = 4;

/// Answers every line of `input` on `threads` threads, and writes the replies in the order of the
/// lines. The output is flushed before waiting for a reply.
///
/// `answer` makes the reply without its line end; `panicked` makes the one for a line on which
/// `answer` panicked.
pub(crate) fn run(
    mut input: impl BufRead + Send + 'static,
    out: &mut impl Write,
    threads: usize,
    max_line: usize,
    answer: impl Fn(&Line) -> Vec<u8> + Send + Sync + 'static,
    panicked: fn(&Line) -> Vec<u8>,
) -> Result<(), Stopped> {
    let (jobs, work) = sync_channel::<Job>(threads * QUEUED);
    let (slots, order) = sync_channel::<Slot>(threads * QUEUED);
    // The threads are not joined: after the output has been closed, the reader could wait forever for
    // a line that nobody needs. The process ends with the writer.
    thread::spawn(move || {
        if let Err(error) = feed(&mut input, max_line, &jobs, &slots) {
            let _ = slots.send(Slot::Failed(error));
        }
    });
    let work = Arc::new(Mutex::new(work));
    let answer = Arc::new(answer);
    for _ in 0..threads {
        let (work, answer) = (Arc::clone(&work), Arc::clone(&answer));
        thread::spawn(move || {
            while let Some(job) = next(&work) {
                let reply = catch_unwind(AssertUnwindSafe(|| answer(&job.line)))
                    .unwrap_or_else(|_| panicked(&job.line));
                // If the writer has stopped, nobody waits for the reply.
                let _ = job.reply.send(reply);
            }
        });
    }
    write_in_order(&order, out)
}

/// Takes the next job; `None` if the reader has finished.
fn next(work: &Mutex<Receiver<Job>>) -> Option<Job> {
    work.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

fn feed(
    input: &mut impl BufRead,
    max_line: usize,
    jobs: &SyncSender<Job>,
    slots: &SyncSender<Slot>,
) -> io::Result<()> {
    let mut first = true;
    while let Some(mut line) = read_line(input, max_line)? {
        if let Line::Whole(bytes) = &mut line {
            if std::mem::take(&mut first) && bytes.starts_with(b"\xef\xbb\xbf") {
                bytes.drain(..3);
            }
            if bytes.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
        }
        let (reply, slot) = sync_channel(1);
        // A closed queue means that the writer has stopped.
        if slots.send(Slot::Reply(slot)).is_err() || jobs.send(Job { line, reply }).is_err() {
            break;
        }
    }
    Ok(())
}

/// Reads up to the next line feed. The rest of a line longer than `max_line` bytes is skipped.
fn read_line(input: &mut impl BufRead, max_line: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let limit = u64::try_from(max_line).unwrap_or(u64::MAX).saturating_add(1);
    if input.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Some(Line::Whole(line)));
    }
    if line.len() <= max_line {
        // The last line, without a line end.
        return Ok(Some(Line::Whole(line)));
    }
    input.skip_until(b'\n')?;
    line.truncate(max_line);
    Ok(Some(Line::TooLong(line)))
}

fn write_in_order(order: &Receiver<Slot>, out: &mut impl Write) -> Result<(), Stopped> {
    loop {
        let slot = match take(order, out)? {
            None => return out.flush().map_err(Stopped::Writing),
            Some(Slot::Failed(error)) => {
                out.flush().map_err(Stopped::Writing)?;
                return Err(Stopped::Reading(error));
            }
            Some(Slot::Reply(slot)) => slot,
        };
        // A worker always sends: a panic inside it is caught.
        if let Some(mut reply) = take(&slot, out)? {
            reply.push(b'\n');
            out.write_all(&reply).map_err(Stopped::Writing)?;
        }
    }
}

/// Takes the next item, and flushes before waiting for it. `None` at the end.
fn take<T>(from: &Receiver<T>, out: &mut impl Write) -> Result<Option<T>, Stopped> {
    match from.try_recv() {
        Ok(item) => Ok(Some(item)),
        Err(TryRecvError::Disconnected) => Ok(None),
        Err(TryRecvError::Empty) => {
            out.flush().map_err(Stopped::Writing)?;
            Ok(from.recv().ok())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Cursor, Read},
        sync::atomic::{AtomicUsize, Ordering},
    };

    use super::*;

    fn text(line: &Line) -> String {
        let (mark, bytes) = match line {
            Line::Whole(bytes) => ("", bytes),
            Line::TooLong(bytes) => ("long:", bytes),
        };
        format!("{mark}{}", String::from_utf8_lossy(bytes))
    }

    fn replies(input: &str, max_line: usize) -> Vec<String> {
        let mut out = Vec::new();
        let answer = |line: &Line| {
            let text = text(line);
            assert_ne!(text, "panic");
            if text.len().is_multiple_of(3) {
                thread::yield_now();
            }
            text.into_bytes()
        };
        let input = Cursor::new(input.to_owned());
        run(input, &mut out, 3, max_line, answer, |_| b"caught".to_vec()).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn replies_keep_the_order_of_the_lines() {
        let lines: Vec<String> =
            (0..500).map(|n| "x".repeat(n % 17 + 1) + &n.to_string()).collect();
        assert_eq!(replies(&lines.join("\n"), 1000), lines);
    }

    /// Counts the lines that were read or written.
    struct Counted<T>(T, Arc<AtomicUsize>);

    impl<T: Read> Read for Counted<T> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            // One line at a time, because it is counted when it is read.
            let count = self.0.read(buffer.get_mut(..2).unwrap_or_default())?;
            self.1.fetch_add(count / 2, Ordering::SeqCst);
            Ok(count)
        }
    }

    impl<T: Write> Write for Counted<T> {
        fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
            let count = self.0.write(buffer)?;
            self.1.fetch_add(1, Ordering::SeqCst);
            Ok(count)
        }
        fn flush(&mut self) -> io::Result<()> {
            self.0.flush()
        }
    }

    #[test]
    fn requests_wait_until_others_are_answered() {
        const THREADS: usize = 3;
        let (read, written) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let most = Arc::new(AtomicUsize::new(0));
        let input = Counted(Cursor::new("x\n".repeat(2_000)), Arc::clone(&read));
        let mut out = Counted(Vec::new(), Arc::clone(&written));
        let seen = (Arc::clone(&read), Arc::clone(&written), Arc::clone(&most));
        let answer = move |_: &Line| {
            let (read, written, most) = &seen;
            // What is written between the two makes the difference smaller, never larger.
            let read = read.load(Ordering::SeqCst);
            most.fetch_max(read.saturating_sub(written.load(Ordering::SeqCst)), Ordering::SeqCst);
            Vec::new()
        };
        run(io::BufReader::with_capacity(2, input), &mut out, THREADS, 10, answer, |_| Vec::new())
            .unwrap();
        assert_eq!(written.load(Ordering::SeqCst), 2_000);
        let most = most.load(Ordering::SeqCst);
        // The queue, one that is being read, and one that is being written.
        assert!(most <= THREADS * QUEUED + 2, "{most}");
    }

    #[test]
    fn a_panic_costs_one_reply() {
        assert_eq!(replies("a\npanic\nb", 1000), ["a", "caught", "b"]);
    }

    #[test]
    fn blank_lines_and_a_mark_at_the_start_are_skipped() {
        assert_eq!(replies("\u{feff}a\n\n  \r\nb\n", 1000), ["a", "b"]);
    }

    #[test]
    fn a_long_line_is_cut_and_the_next_one_is_whole() {
        assert_eq!(replies("abcd\nabcde\nabc", 4), ["abcd", "long:abcd", "abc"]);
    }
}
