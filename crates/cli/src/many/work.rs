//! What a worker does: a document from its file to its place, or some records.

use std::{fs, io, io::Write as _, path::Path, sync::Arc};

use wiremend_core::Outcome;
use wiremend_summary::Summary;

use super::{
    Destination, Progress, Source,
    beside::Beside,
    field::{self, Field, Held},
    one_line,
    records::{Batch, lines, without_end},
    verdict::{Done, Engine, Form, Label, Tally, Verdict, summary},
};
use crate::{
    Session,
    args::FailOn,
    exit::{Exit, Failure},
    input::Input,
    ordered::Work,
    report,
    visible::{BAD, Shown, shown},
};

/// The most messages that a run prints, without `--verbose`.
pub(super) const LISTED: usize = 20;

pub(super) enum Job {
    Document(Box<Source>),
    Records(Arc<Source>, Batch),
}

/// What a job yields, to be written in order.
#[derive(Debug, Default)]
pub(super) struct Yield {
    /// The records that follow are of this input.
    pub(super) begin: Option<Arc<Source>>,
    pub(super) out: Vec<u8>,
    /// Whether it is other than what came.
    pub(super) changed: bool,
    pub(super) rejects: Vec<u8>,
    pub(super) report: Vec<u8>,
    pub(super) tally: Tally,
    pub(super) summary: Option<Summary<String>>,
    pub(super) notices: Vec<Shown>,
    /// The input has ended, or why it could not be read to its end.
    pub(super) end: Option<Option<(String, String)>>,
}

impl Yield {
    /// An input of which nothing was read.
    pub(super) fn failed(path: &Path, message: &str) -> Self {
        let name = path.display().to_string();
        Self { end: Some(Some((name, message.to_owned()))), ..Self::default() }
    }

    pub(super) fn begin(source: &Arc<Source>, header: Vec<u8>) -> Self {
        let mut begun = Self { begin: Some(Arc::clone(source)), out: header, ..Self::default() };
        begun.tally.files = 1;
        begun
    }

    pub(super) fn end(failed: Option<(String, String)>) -> Self {
        Self { end: Some(failed), ..Self::default() }
    }
}

/// How everything is mended, and what is written of it.
pub(super) struct Mending {
    pub(super) engine: Engine,
    pub(super) fields: Vec<Field>,
    pub(super) place: Destination,
    /// Reports are written in place of the results.
    pub(super) json: bool,
    pub(super) jsonl: bool,
    pub(super) or_input: bool,
    pub(super) or_null: bool,
    /// Records that could not be repaired are kept aside.
    pub(super) rejects: bool,
    pub(super) form: Option<Form>,
    /// Whether a summary is written.
    pub(super) summary: bool,
    pub(super) fail_on: Vec<FailOn>,
    pub(super) exit_zero: bool,
    pub(super) session: Session,
    pub(super) progress: Progress,
}

impl Work for Mending {
    type Job = Job;
    type Done = Yield;

    fn work(&self, job: &Job) -> Yield {
        match job {
            Job::Document(source) => self.document(source),
            Job::Records(source, batch) => {
                let mut to = self.records(source, batch);
                to.changed = to.out != batch.bytes;
                to
            }
        }
    }

    /// Mending catches what it panics on, so this is an error of another kind.
    fn panicked(&self, job: &Job) -> Yield {
        let name = match job {
            Job::Document(source) => &source.name,
            Job::Records(source, _) => &source.name,
        };
        let mut to = Yield::default();
        let message = "internal error: wiremend panicked".to_owned();
        let verdict = Verdict::plain(Label::Failed, Some(message));
        self.note(&mut to, name, None, None, &verdict, None);
        to
    }

    fn weight(done: &Yield) -> usize {
        done.out.len() + done.rejects.len() + done.report.len()
    }
}

impl Mending {
    fn document(&self, source: &Source) -> Yield {
        let mut to = Yield::default();
        to.tally.files = 1;
        to.tally.inputs = 1;
        let read = Input::metered(&source.path, |_| None)
            .and_then(|input| input.unpacked().read_all(self.engine.limit));
        let (text, done) = match read {
            Ok(text) => {
                let done = self.engine.mend_input(&text);
                (text, done)
            }
            Err(Failure::TooLong { .. }) => (Vec::new(), Done::TooLong),
            Err(failure) => {
                let verdict = Verdict::plain(Label::Failed, Some(failure.to_string()));
                self.note(&mut to, &source.name, None, None, &verdict, None);
                return to;
            }
        };
        let mut verdict = self.engine.verdict(&text, &done, true);
        if let Err(error) = self.put(source, &text, &done, &mut to) {
            verdict =
                Verdict::plain(Label::Failed, Some(format!("cannot write its result: {error}")));
        }
        self.note(&mut to, &source.name, None, None, &verdict, Some((&text, &done)));
        self.progress.done(1);
        to
    }

    /// Writes the result of a document to its place.
    fn put(&self, source: &Source, text: &[u8], done: &Done, to: &mut Yield) -> io::Result<()> {
        if self.json {
            self.engine.record(&source.name, None, text, done, &mut to.out);
            return Ok(());
        }
        let mut line = Vec::new();
        let result = match done.text() {
            Some(result) if self.jsonl || source.place.is_none() => {
                one_line::push(result, &mut line);
                line.push(b'\n');
                &line
            }
            Some(result) => result.as_bytes(),
            None if self.or_null => &b"null\n"[..],
            // In place, it stays as it is.
            None if self.or_input && !matches!(done, Done::TooLong) => text,
            None => return Ok(()),
        };
        let Some(place) = &source.place else {
            to.out.extend_from_slice(result);
            return Ok(());
        };
        if matches!(self.place, Destination::Itself) && result == text {
            return Ok(());
        }
        if let Some(folder) =
            place.parent().filter(|_| matches!(self.place, Destination::Folder(_)))
        {
            fs::create_dir_all(folder)?;
        }
        let mut file = Beside::create(place, source.like.as_ref())?;
        file.write_all(result)?;
        file.finish(source.like.is_some())
    }

    fn records(&self, source: &Source, batch: &Batch) -> Yield {
        let mut to = Yield::default();
        let bytes = &batch.bytes;
        if batch.ends.is_empty() {
            if !batch.inside {
                to.tally.inputs += 1;
                let verdict = self.engine.verdict(&[], &Done::TooLong, true);
                let text = Some((bytes.as_slice(), &Done::TooLong));
                self.note(&mut to, &source.name, Some(batch.line), None, &verdict, text);
            }
            self.reject(bytes, !batch.inside, &mut to);
            return to;
        }
        let (mut start, mut line) = (0, batch.line);
        for (at, &end) in batch.ends.iter().enumerate() {
            let record = bytes.get(start..end).unwrap_or_default();
            let (text, line_end) = without_end(record);
            if at == 0 && batch.inside {
                // The end of one that is too long.
                self.reject(record, false, &mut to);
            } else if text.trim_ascii().is_empty() {
                // No record. Where the rest passes byte for byte, it does.
                if !self.fields.is_empty() {
                    to.out.extend_from_slice(record);
                }
            } else {
                to.tally.inputs += 1;
                if self.fields.is_empty() {
                    self.line(source, line, record, text, line_end, &mut to);
                } else {
                    self.cells(source, line, record, text, line_end, &mut to);
                }
            }
            line += lines(record);
            start = end;
        }
        self.progress.done(to.tally.inputs);
        to
    }

    /// A record that could not be repaired, or a part of it; `first` says whether it is the first one.
    fn reject(&self, record: &[u8], first: bool, to: &mut Yield) {
        if self.rejects {
            to.rejects.extend_from_slice(record);
        } else if self.or_input || !self.fields.is_empty() {
            to.out.extend_from_slice(record);
        } else if self.or_null {
            to.out.extend_from_slice(if first { b"null" } else { b"" });
            to.out.extend_from_slice(without_end(record).1);
        }
    }

    /// A line that is a document.
    fn line(
        &self,
        source: &Source,
        line: u64,
        record: &[u8],
        text: &[u8],
        line_end: &[u8],
        to: &mut Yield,
    ) {
        let done = self.engine.mend(text);
        let verdict = self.judge(text, &done, to);
        self.note(to, &source.name, Some(line), None, &verdict, Some((text, &done)));
        match done.text() {
            _ if self.json => {
                self.engine.record(&source.name, Some(line), text, &done, &mut to.out);
            }
            Some(result) => {
                push_line(result, self.jsonl, &mut to.out);
                to.out.extend_from_slice(line_end);
            }
            None => self.reject(record, true, to),
        }
    }

    /// The fields of a record.
    fn cells(
        &self,
        source: &Source,
        line: u64,
        record: &[u8],
        text: &[u8],
        line_end: &[u8],
        to: &mut Yield,
    ) {
        let places = match self.find(source, text) {
            Ok(places) => places,
            Err(message) => {
                let verdict = Verdict::plain(Label::Of(Outcome::Invalid), Some(message));
                for field in &self.fields {
                    let field = Some(field.name.as_str());
                    self.note(to, &source.name, Some(line), field, &verdict, None);
                }
                return self.reject(record, true, to);
            }
        };
        let begun = to.out.len();
        let (mut at, mut refused) = (0, false);
        for (number, place) in places {
            let name = self.fields.get(number).map(|field| field.name.as_str());
            let value = place.clone().and_then(|place| text.get(place)).unwrap_or_default();
            let held = match (&source.columns, &place) {
                (_, None) => Held::Nothing,
                (Some(_), _) => match field::cell_text(value) {
                    cell if cell.is_empty() => Held::Nothing,
                    cell => Held::Text(cell),
                },
                (None, _) => field::held(value),
            };
            let input = match &held {
                Held::Nothing => {
                    let verdict = Verdict::plain(Label::Absent, None);
                    self.note(to, &source.name, Some(line), name, &verdict, None);
                    continue;
                }
                Held::Text(input) => input.as_ref(),
                Held::Value(input) => input,
            };
            let done = self.engine.mend(input);
            let verdict = self.judge(input, &done, to);
            self.note(to, &source.name, Some(line), name, &verdict, Some((input, &done)));
            refused |= done.text().is_none();
            let place = place.unwrap_or_default();
            let mut put = |result: &dyn Fn(&mut Vec<u8>)| {
                to.out.extend_from_slice(text.get(at..place.start).unwrap_or_default());
                result(&mut to.out);
                at = place.end;
            };
            let quoted = value.starts_with(b"\"");
            match (done.text(), &held, &source.columns) {
                (Some(result), ..) if result.as_bytes() == input => {}
                (Some(result), _, Some(columns)) => {
                    put(&|out| field::push_cell(result.as_bytes(), columns.delimiter, quoted, out));
                }
                (Some(result), Held::Text(_), None) => {
                    put(&|out| field::push_string(result, text.is_ascii(), out));
                }
                (Some(result), ..) => put(&|out| push_line(result, false, out)),
                (None, _, None) if self.or_null => put(&|out| out.extend_from_slice(b"null")),
                (None, _, Some(_)) if self.or_null => put(&|_| {}),
                (None, ..) => {}
            }
        }
        if refused && self.rejects {
            to.out.truncate(begun);
            to.rejects.extend_from_slice(record);
            return;
        }
        to.out.extend_from_slice(text.get(at..).unwrap_or_default());
        to.out.extend_from_slice(line_end);
    }

    /// Where the fields are in a record, in its order. One that is not there has no place; one that
    /// is there twice has two.
    fn find(&self, source: &Source, text: &[u8]) -> Result<Vec<Found>, String> {
        let mut places: Vec<Found> = Vec::new();
        if let Some(columns) = &source.columns {
            places.extend(columns.find(text)?.into_iter().map(Some).enumerate());
        } else {
            // A mark at the start of a file is no part of its first record.
            let mark = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
            for (number, field) in self.fields.iter().enumerate() {
                let found = field.find(text.get(mark..).unwrap_or_default()).map_err(|_| {
                    "the record is not valid JSON, so its fields cannot be found: --lines without --field \
                     repairs records"
                        .to_owned()
                })?;
                match found.is_empty() {
                    true => places.push((number, None)),
                    false => places.extend(
                        found
                            .into_iter()
                            .map(|place| (number, Some(place.start + mark..place.end + mark))),
                    ),
                }
            }
        }
        places.sort_by_key(|(_, place)| place.as_ref().map_or(0, |place| place.start));
        // A field within another one is read with that.
        let mut end = 0;
        places.retain(|(_, place)| match place {
            None => true,
            Some(place) if place.start < end => false,
            Some(place) => {
                end = place.end;
                true
            }
        });
        Ok(places)
    }

    /// The verdict on a record. Why it failed is said only where that is shown.
    fn judge(&self, text: &[u8], done: &Done, to: &Yield) -> Verdict {
        // One more than are listed, so that it shows that there are more.
        let listed = self.session.verbose || to.notices.len() <= LISTED;
        self.engine.verdict(text, done, listed || self.form.is_some() || self.summary)
    }

    /// Counts a verdict, and adds it to the report, the summary and the messages.
    fn note(
        &self,
        to: &mut Yield,
        name: &str,
        line: Option<u64>,
        field: Option<&str>,
        verdict: &Verdict,
        text: Option<(&[u8], &Done)>,
    ) {
        let valid = matches!(verdict.label, Label::Of(outcome) if outcome.is_valid());
        let exit = match self.exit_zero && valid {
            true => Exit::Unchanged,
            false => verdict.exit(&self.fail_on),
        };
        to.tally.count(verdict, exit);
        if let Some(form) = self.form {
            form.write(&verdict.row(name, line, field), &mut to.report);
        }
        if self.summary {
            let summary = to.summary.get_or_insert_with(summary);
            verdict.summarize(summary, name, line, field, text);
        }
        let failed = exit > Exit::Repaired || exit == Exit::Repaired && !self.fail_on.is_empty();
        let shown = failed || self.session.verbose && verdict.repairs > 0;
        if !shown
            || self.session.quiet && valid
            || to.notices.len() > LISTED && !self.session.verbose
        {
            return;
        }
        let place = match (line, field) {
            (None, _) => Shown::of(name),
            (Some(line), Some(field)) if self.fields.len() > 1 => {
                shown!("{}:{} {}", name, line, field)
            }
            (Some(line), _) => shown!("{}:{}", name, line),
        };
        let label = match verdict.label {
            Label::Of(outcome) => report::outcome(self.session.stderr, outcome),
            label => self.session.stderr.paint(BAD, label.code()),
        };
        let repairs = match verdict.repairs {
            0 => Shown::default(),
            count => shown!(" ({})", report::count_of(count, verdict.risk)),
        };
        let message =
            verdict.message.as_ref().map(|message| shown!(": {}", Shown::message(message)));
        to.notices.push(shown!("{}: {}{}{}", place, label, repairs, message.unwrap_or_default()));
    }
}

/// The number of a field, and where it is.
type Found = (usize, Option<std::ops::Range<usize>>);

/// A document on one line. It is as it was, if it is on one line already.
fn push_line(json: &str, compact: bool, to: &mut Vec<u8>) {
    if compact || json.contains('\n') {
        let mut line = Vec::new();
        one_line::push(json, &mut line);
        to.extend_from_slice(&line);
    } else {
        to.extend_from_slice(json.as_bytes());
    }
}
