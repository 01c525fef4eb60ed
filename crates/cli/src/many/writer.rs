//! What is written in the order of the inputs.

use std::{
    fs,
    io::{self, Write},
    path::Path,
    sync::Arc,
};

use super::{
    Progress, Source,
    beside::{Beside, Named},
    tally::{Form, HEADER, Tally},
    verdict::{Label, Verdict},
    walk::Skipped,
    work::{LISTED, Yield},
};
use crate::{
    Session,
    args::ManyArgs,
    exit::{Exit, Failure},
    out::Out,
    paint::{BAD, notice},
    visible::{Shown, shown},
};

pub(super) struct Writer {
    out: Option<Out>,
    report: Option<(String, Named, Form)>,
    rejects: Option<(String, Named, Lines)>,
    /// The input whose records are being written.
    open: Option<Open>,
    /// What has been written to standard output.
    printed: Lines,
    tally: Tally,
    records: bool,
    /// How many messages were printed, and how many were not.
    listed: usize,
    unlisted: usize,
    session: Session,
    progress: Progress,
}

/// The results of one input with records.
struct Open {
    source: Arc<Source>,
    /// Where they go, if it is not standard output.
    file: Option<io::Result<Beside>>,
    changed: bool,
    /// The first row, until it has been written to the rejects.
    header: Vec<u8>,
}

/// The last record of an input may have no line end. It gets one if another input follows.
#[derive(Default)]
struct Lines {
    open: bool,
    ended: bool,
}

impl Lines {
    fn write(&mut self, bytes: &[u8], write: &mut dyn FnMut(&[u8])) {
        let Some(&last) = bytes.last() else { return };
        if std::mem::take(&mut self.ended) && self.open {
            write(b"\n");
        }
        write(bytes);
        self.open = last != b'\n';
    }
}

impl Writer {
    pub(super) fn new(
        args: &ManyArgs,
        printed: bool,
        form: Option<Form>,
        session: Session,
        progress: Progress,
    ) -> Result<Self, Failure> {
        let create = |path: &Path| {
            let name = path.display().to_string();
            match Named::create(path) {
                Ok(file) => Ok((name, file)),
                Err(error) => Err(Failure::writing(&name, error)),
            }
        };
        let mut report = args.report.as_deref().map(create).transpose()?;
        if let (Some((name, file)), Some(Form::Csv)) = (&mut report, form) {
            file.write_all(HEADER.as_bytes()).map_err(|error| Failure::writing(name, error))?;
        }
        let rejects = args.rejects.as_deref().map(create).transpose()?;
        Ok(Self {
            out: printed.then(Out::new),
            report: report.zip(form).map(|((name, file), form)| (name, file, form)),
            rejects: rejects.map(|(name, file)| (name, file, Lines::default())),
            open: None,
            printed: Lines::default(),
            tally: Tally::default(),
            records: args.has_records(),
            listed: 0,
            unlisted: 0,
            session,
            progress,
        })
    }

    /// Takes the next result; `None` means that it is waited for.
    pub(super) fn take(&mut self, done: Option<Yield>) -> Result<(), Failure> {
        let Some(mut done) = done else {
            return self.out.as_mut().map_or(Ok(()), Out::flush);
        };
        let begins = done.begin.is_some();
        if let Some(source) = done.begin.take() {
            let file = source.place.as_deref().map(|place| {
                if let Some(folder) = place.parent().filter(|_| source.like.is_none()) {
                    fs::create_dir_all(folder)?;
                }
                Beside::create(place, source.like.as_ref())
            });
            let header = if source.columns.is_some() { done.out.clone() } else { Vec::new() };
            self.open = Some(Open { source, file, changed: false, header });
        }
        self.write(&done)?;
        self.tally.add(&done.tally);
        for message in &done.notices {
            self.say(message);
        }
        if let Some(open) = &mut self.open {
            open.changed |= done.changed && !begins;
        }
        if let Some(failed) = done.end.take() {
            self.end(failed)?;
        }
        Ok(())
    }

    fn write(&mut self, done: &Yield) -> Result<(), Failure> {
        match (&mut self.open, &mut self.out) {
            (Some(Open { file: Some(place), .. }), _) => {
                if let Ok(file) = place
                    && let Err(error) = file.write_all(&done.out)
                {
                    *place = Err(error);
                }
            }
            (_, Some(out)) => {
                self.printed.write(&done.out, &mut |bytes| out.document(bytes));
                out.check()?;
            }
            _ => {}
        }
        if let Some((name, file, _)) = &mut self.report {
            file.write_all(&done.report).map_err(|error| Failure::writing(name, error))?;
        }
        let Some((name, file, lines)) = self.rejects.as_mut().filter(|_| !done.rejects.is_empty())
        else {
            return Ok(());
        };
        let header = self.open.as_mut().map(|open| std::mem::take(&mut open.header));
        let mut result = Ok(());
        for bytes in [header.unwrap_or_default().as_slice(), &done.rejects] {
            lines.write(bytes, &mut |bytes| {
                if result.is_ok() {
                    result = file.write_all(bytes);
                }
            });
        }
        result.map_err(|error| Failure::writing(name, error))
    }

    /// The end of an input. If it could not be read to its end, there is no result of it; what was
    /// printed is.
    fn end(&mut self, failed: Option<(String, String)>) -> Result<(), Failure> {
        self.printed.ended = true;
        if let Some((.., lines)) = &mut self.rejects {
            lines.ended = true;
        }
        let Some(open) = self.open.take() else {
            let Some((name, message)) = failed else { return Ok(()) };
            self.tally.files += 1;
            if !self.records {
                self.tally.inputs += 1;
            }
            return self.fail(&name, message);
        };
        if let Some((name, message)) = failed {
            return self.fail(&name, message);
        }
        let finished = match open.file {
            None => Ok(()),
            Some(Err(error)) => Err(error),
            // It is there already.
            Some(Ok(_)) if open.source.like.is_some() && !open.changed => Ok(()),
            Some(Ok(file)) => file.finish(open.source.like.is_some()),
        };
        match finished {
            Ok(()) => Ok(()),
            Err(error) => self.fail(&open.source.name, format!("cannot write its result: {error}")),
        }
    }

    fn fail(&mut self, name: &str, message: String) -> Result<(), Failure> {
        let verdict = Verdict::plain(Label::Failed, Some(message));
        self.tally.count(&verdict, Exit::Io);
        if let Some((path, file, form)) = &mut self.report {
            let mut row = Vec::new();
            form.write(&verdict.row(name, None, None), &mut row);
            file.write_all(&row).map_err(|error| Failure::writing(path, error))?;
        }
        let label = self.session.stderr.paint(BAD, Label::Failed.code());
        let message = Shown::message(verdict.message.as_deref().unwrap_or_default());
        self.say(&shown!("{}: {}: {}", name, label, message));
        Ok(())
    }

    fn say(&mut self, message: &Shown) {
        if self.listed >= LISTED && !self.session.verbose {
            self.unlisted += 1;
            return;
        }
        self.listed += 1;
        self.progress.beside(|| notice(message));
    }

    /// Finishes all files, and sums up.
    pub(super) fn finish(mut self, skipped: Skipped) -> Result<Exit, Failure> {
        if let Some(out) = &mut self.out {
            out.flush()?;
        }
        for (name, file) in [
            self.report.take().map(|(name, file, _)| (name, file)),
            self.rejects.take().map(|(name, file, _)| (name, file)),
        ]
        .into_iter()
        .flatten()
        {
            file.finish().map_err(|error| Failure::writing(&name, error))?;
        }
        self.progress.clear();
        if self.unlisted > 0 {
            notice(&shown!("… and more: --verbose lists all, and --report FILE"));
        }
        if !self.session.quiet {
            notice(&self.tally.line(self.records, skipped));
        }
        if self.tally.all_absent() {
            notice(&shown!("{}: no record has the field", self.session.stderr.paint(BAD, "error")));
            return Ok(self.tally.worst.max(Exit::NoneFound));
        }
        Ok(self.tally.worst)
    }
}
