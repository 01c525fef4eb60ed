//! `wiremend batch`: JSON Lines in, JSON Lines out.

mod operations;
mod request;

use std::io::{self, BufRead, BufReader, Read as _, Write};

use operations::{Growth, grow};
use request::{Head, Mode, Op, Request, RequestInput, Setting};
use serde::Serialize;
use serde_json::value::RawValue;
use wiremend_core::{Policy, TrailingDocuments};
use wiremend_extract::{Scope, find};

use crate::{
    Session,
    args::BatchArgs,
    exit::{Exit, Failure},
    fit::{Fitting, changes},
    input::{CHUNK, Input},
    ordered::{self, Jobs, Work, in_order},
    out::{self, Out},
    report::{Record, records},
};

pub(crate) fn run(args: &BatchArgs, session: Session) -> Result<Exit, Failure> {
    let setting =
        Setting { split: args.split, limits: args.limits.limits(), max_line: args.max_line };
    let input = Input::open(&args.file, session.quiet)?;
    let name = input.name().to_owned();
    let mut out = Out::new();
    let ended = answer_in_order(
        BufReader::with_capacity(CHUNK, input),
        out.lines(),
        ordered::threads(args.threads),
        args.max_line,
        move |line| reply(line, setting),
        panicked,
    );
    match ended {
        Ok(()) => Ok(Exit::Unchanged),
        Err(Stopped::Reading(error)) => Err(Failure::reading(&name, error)),
        Err(Stopped::Writing(error)) => Err(error.into()),
    }
}

/// A line of output.
#[derive(Debug, Serialize)]
struct Reply<'a> {
    id: Option<&'a RawValue>,
    #[serde(flatten)]
    body: Body,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Body {
    Error { error: String },
    Repair(Repaired),
    Stream(operations::Streamed),
    Events(operations::Framed),
    Calls(operations::Extracted),
}

#[derive(Debug, Serialize)]
struct Repaired {
    outcome: &'static str,
    json: Option<String>,
    repairs: Vec<Record>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshots: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    emitted: Option<Vec<usize>>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    fit: Option<Fitting>,
}

/// The reply to a line, without its line end.
fn reply(line: &Line, setting: Setting) -> Vec<u8> {
    match line {
        Line::TooLong(start) => {
            let error = format!("the line is longer than {} bytes", setting.max_line);
            write(&Head::read(start), Err(error))
        }
        Line::Whole(line) => {
            let head = Head::read(line);
            let result = match head.repeated() {
                Some(field) => Err(format!("the field `{field}` is given twice")),
                None => answer(line, setting),
            };
            write(&head, result)
        }
    }
}

/// The reply to a line on which [`reply`] panicked.
fn panicked(line: &Line) -> Vec<u8> {
    let (Line::Whole(line) | Line::TooLong(line)) = line;
    write(&Head::read(line), Err("internal error: this input made wiremend panic".to_owned()))
}

fn write(head: &Head<'_>, result: Result<Body, String>) -> Vec<u8> {
    let id = head.id();
    let body = result.unwrap_or_else(|error| Body::Error { error });
    let mut line = Vec::new();
    match out::write_json(&mut line, &Reply { id, body }) {
        Ok(()) => line,
        Err(error) => {
            // A reply consists of strings, numbers and lists, so writing it cannot fail.
            debug_assert!(false, "{error}");
            br#"{"id":null,"error":"internal error: the reply could not be written"}"#.to_vec()
        }
    }
}

fn answer(line: &[u8], setting: Setting) -> Result<Body, String> {
    let mut request = Request::read(line)?;
    let input = request.take_input(setting.split)?;
    match request.op() {
        Op::Repair => repair(&request, &input, setting).map(Body::Repair),
        Op::Stream => operations::stream(&request, &input, setting).map(Body::Stream),
        Op::Events => operations::events(&request, &input).map(Body::Events),
        Op::Calls => operations::calls(&request, &input, setting).map(Body::Calls),
    }
}

fn repair(
    request: &Request<'_>,
    input: &RequestInput<'_>,
    setting: Setting,
) -> Result<Repaired, String> {
    let options = request.options(Policy::PERMISSIVE, setting.limits);
    let snapshots = request.wants_snapshots();
    let target = request.target()?;
    let scope = request.scope()?;
    if scope.is_some() && request.mode() == Mode::Stream {
        return Err("`scope` is for the mode `text`".to_owned());
    }
    let scope = scope.unwrap_or(Scope::Best);
    let growing = match &target {
        Some(target) => options.clone().with_guide(target.schema().guide()),
        None => options.clone(),
    };
    let grown = match (request.mode(), snapshots) {
        (Mode::Text, false) => None,
        _ => Some(grow(input.pieces(), growing, snapshots)?),
    };
    if let Some(target) = target {
        let whole = options.with_trailing_documents(TrailingDocuments::Array);
        let fitted = target.fit(input.whole(), whole, scope);
        let (snapshots, emitted) =
            grown.map_or((None, None), |grown| (grown.snapshots, grown.emitted));
        return Ok(Repaired {
            outcome: fitted.outcome().code(),
            json: fitted.text().map(str::to_owned),
            repairs: changes(fitted.changes()),
            cut_at: None,
            snapshots,
            emitted,
            fit: Some(Fitting::new(target.id().map(str::to_owned), &fitted)),
        });
    }
    match (request.mode(), grown) {
        (Mode::Stream, Some(grown)) => {
            let repairs = records(grown.located());
            let Growth { outcome, json, snapshots, emitted, .. } = grown;
            let json = outcome.is_valid().then(|| String::from_utf8_lossy(&json).into_owned());
            let outcome = outcome.code();
            Ok(Repaired { outcome, json, repairs, cut_at: None, snapshots, emitted, fit: None })
        }
        (_, grown) => {
            let whole = options.with_trailing_documents(TrailingDocuments::Array);
            let mended = find(input.whole(), scope, &whole);
            let cut_at = mended.cut_at().map(ToString::to_string);
            let repairs = records(mended.located(input.whole()));
            let (outcome, json, _) = mended.into_parts();
            let outcome = outcome.code();
            let (snapshots, emitted) =
                grown.map_or((None, None), |grown| (grown.snapshots, grown.emitted));
            Ok(Repaired { outcome, json, repairs, cut_at, snapshots, emitted, fit: None })
        }
    }
}

/// A line of the input.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    /// Without its line end.
    Whole(Vec<u8>),
    /// A line over the limit: its first bytes, up to the limit.
    TooLong(Vec<u8>),
}

/// Why the pipeline stopped before the end of the input.
#[derive(Debug)]
enum Stopped {
    Reading(io::Error),
    Writing(io::Error),
}

/// Answers each line with a reply without its line end.
struct Answers<A> {
    answer: A,
    /// Makes the reply for a line on which `answer` panicked.
    panicked: fn(&Line) -> Vec<u8>,
}

impl<A: Fn(&Line) -> Vec<u8> + Send + Sync + 'static> Work for Answers<A> {
    type Job = Line;
    type Done = io::Result<Vec<u8>>;

    fn work(&self, line: &Line) -> io::Result<Vec<u8>> {
        Ok((self.answer)(line))
    }

    fn panicked(&self, line: &Line) -> io::Result<Vec<u8>> {
        Ok((self.panicked)(line))
    }

    fn weight(reply: &io::Result<Vec<u8>>) -> usize {
        reply.as_ref().map_or(0, Vec::len)
    }
}

/// Answers every line of `input` on `threads` threads, and writes the replies in the order of the
/// lines. The output is flushed before waiting for a reply.
fn answer_in_order(
    mut input: impl BufRead + Send + 'static,
    out: &mut impl Write,
    threads: usize,
    max_line: usize,
    answer: impl Fn(&Line) -> Vec<u8> + Send + Sync + 'static,
    panicked: fn(&Line) -> Vec<u8>,
) -> Result<(), Stopped> {
    let feed = move |jobs: &mut Jobs<_>| {
        if let Err(error) = feed(&mut input, max_line, jobs) {
            jobs.done(Err(error));
        }
    };
    in_order(threads, Answers { answer, panicked }, feed, |reply| {
        let written = match reply {
            None => out.flush(),
            Some(Ok(mut reply)) => {
                reply.push(b'\n');
                out.write_all(&reply)
            }
            Some(Err(error)) => {
                out.flush().map_err(Stopped::Writing)?;
                return Err(Stopped::Reading(error));
            }
        };
        written.map_err(Stopped::Writing)
    })
}

fn feed<W: Work<Job = Line>>(
    input: &mut impl BufRead,
    max_line: usize,
    jobs: &mut Jobs<W>,
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
        let (Line::Whole(bytes) | Line::TooLong(bytes)) = &line;
        let weight = bytes.len();
        if !jobs.push(line, weight) {
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

#[cfg(test)]
mod tests {
    use std::{
        io::{Cursor, Read},
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        thread,
    };

    use super::*;
    use crate::ordered::QUEUED;

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
        answer_in_order(input, &mut out, 3, max_line, answer, |_| b"caught".to_vec()).unwrap();
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
        answer_in_order(
            io::BufReader::with_capacity(2, input),
            &mut out,
            THREADS,
            10,
            answer,
            |_| Vec::new(),
        )
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
