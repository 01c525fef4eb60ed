//! Files that are there whole or not at all: written beside their place, and renamed when they are
//! finished.
//!
//! An interrupted run removes what it has not finished. What stopped without a chance to do that leaves
//! a hidden file whose name begins with `.wiremend-`.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use wiremend_summary::Summary;

use super::{
    Progress, Source,
    verdict::{Form, HEADER, Label, Tally, Verdict, summary},
    walk::Skipped,
    work::{LISTED, Yield},
};
use crate::{
    Session,
    args::RepairArgs,
    exit::{Exit, Failure},
    out::Out,
    visible::{BAD, Shown, notice, shown},
};

/// The files that are not finished.
static OPEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn open() -> MutexGuard<'static, Vec<PathBuf>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the files that are not finished. No other is begun before `then` has ended the process.
pub(super) fn remove_all(then: impl FnOnce()) {
    let mut open = open();
    for path in open.drain(..) {
        let _ = fs::remove_file(path);
    }
    then();
}

/// On an interrupt, removes what is not finished, and ends as the signal does.
#[cfg(unix)]
pub(super) fn remove_all_on_interrupt() {
    use signal_hook::{
        consts::{SIGINT, SIGTERM},
        iterator::Signals,
        low_level::emulate_default_handler,
    };

    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            remove_all(|| {
                let _ = emulate_default_handler(signal);
                process::exit(128 + signal);
            });
        }
    });
}

#[cfg(not(unix))]
pub(super) fn remove_all_on_interrupt() {}

/// A file that is being written.
pub(super) struct Beside {
    file: Option<BufWriter<File>>,
    temporary: PathBuf,
    place: PathBuf,
}

impl Beside {
    /// A file for this place. With those of another file, it has its permissions and, if that is allowed,
    /// its owner.
    pub(super) fn create(place: &Path, like: Option<&Metadata>) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let temporary = place.with_file_name(format!(".wiremend-{}-{number}", process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if like.is_some() {
            // Nobody else may read it before it has its permissions.
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let mut open = open();
        let file = options.open(&temporary)?;
        open.push(temporary.clone());
        drop(open);
        let mut beside = Self { file: None, temporary, place: place.to_owned() };
        if let Some(like) = like {
            #[cfg(unix)]
            {
                use std::os::unix::fs::{MetadataExt as _, fchown};
                let own = file.metadata()?;
                if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
                    // It may not be allowed. The content is right all the same.
                    let _ = fchown(&file, Some(like.uid()), Some(like.gid()));
                }
            }
            file.set_permissions(like.permissions())?;
        }
        beside.file = Some(BufWriter::new(file));
        Ok(beside)
    }

    /// Moves it to its place. With `sync`, it is on the disk before it replaces another.
    pub(super) fn finish(mut self, sync: bool) -> io::Result<()> {
        if let Some(file) = self.file.take() {
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            if sync {
                file.sync_data()?;
            }
        }
        // While the list is locked, an interrupt cannot remove it.
        let mut open = open();
        fs::rename(&self.temporary, &self.place)?;
        open.retain(|path| *path != self.temporary);
        Ok(())
    }
}

impl Write for Beside {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Some(file) => file.write(bytes),
            None => Err(io::ErrorKind::Other.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), BufWriter::flush)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let mut open = open();
        if let Some(at) = open.iter().position(|path| *path == self.temporary) {
            open.swap_remove(at);
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// A file that the command line names. What is no file, such as `/dev/null` or a pipe, is written to as
/// it is.
pub(super) enum Named {
    File(Beside),
    Other(BufWriter<File>),
}

impl Named {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path).ok();
        if metadata.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            return OpenOptions::new().write(true).open(path).map(BufWriter::new).map(Self::Other);
        }
        // A link to a file stays one.
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        Beside::create(&place, metadata.as_ref()).map(Self::File)
    }

    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Self::File(file) => file.finish(false),
            Self::Other(mut file) => file.flush(),
        }
    }
}

impl Write for Named {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Other(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Other(file) => file.flush(),
        }
    }
}

// What is written in the order of the inputs.

pub(super) struct Writer {
    out: Option<Out>,
    report: Option<(String, Named, Form)>,
    rejects: Option<(String, Named, Lines)>,
    summary: Option<(String, Named, Summary<String>)>,
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
        args: &RepairArgs,
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
        let many = &args.many;
        let mut report = many.report.as_deref().map(create).transpose()?;
        if let (Some((name, file)), Some(Form::Csv)) = (&mut report, form) {
            file.write_all(HEADER.as_bytes()).map_err(|error| Failure::writing(name, error))?;
        }
        let rejects = many.rejects.as_deref().map(create).transpose()?;
        let page = many.summary.as_deref().map(create).transpose()?;
        Ok(Self {
            out: printed.then(Out::new),
            report: report.zip(form).map(|((name, file), form)| (name, file, form)),
            rejects: rejects.map(|(name, file)| (name, file, Lines::default())),
            summary: page.map(|(name, file)| (name, file, summary())),
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
        if let (Some((.., summary)), Some(part)) = (&mut self.summary, done.summary.take()) {
            summary.merge(part);
        }
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
        if !self.records {
            self.tally.inputs += 1;
        }
        if let Some((path, file, form)) = &mut self.report {
            let mut row = Vec::new();
            form.write(&verdict.row(name, None, None), &mut row);
            file.write_all(&row).map_err(|error| Failure::writing(path, error))?;
        }
        if let Some((.., summary)) = &mut self.summary {
            verdict.summarize(summary, name, None, None, None);
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
        let page = match self.summary.take() {
            None => None,
            Some((name, mut file, summary)) => {
                let page = summary.page("wiremend repair");
                file.write_all(page.as_bytes()).map_err(|error| Failure::writing(&name, error))?;
                Some((name, file))
            }
        };
        for (name, file) in [
            page,
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
