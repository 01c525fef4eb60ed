//! `wiremend repair` for many inputs: files, directories, and the records in them.
//!
//! A feeder finds the inputs and divides those that hold records. Workers mend, as a single document is
//! mended; each file of a directory is also read and written by a worker. One thread writes what comes
//! in order: standard output, the files of records, the report.

mod beside;
mod field;
mod one_line;
pub(crate) mod records;
mod verdict;
pub(crate) mod walk;
mod work;

use std::{
    collections::HashSet,
    fs::{self, File, Metadata},
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use beside::Writer;
use field::{Columns, Field};
use indicatif::{ProgressBar, ProgressStyle};
use records::{Ends, Records};
use verdict::{Engine, Label};
use walk::{Found, Own, Pattern, Skipped, walk};
use wiremend_core::MendOptions;
use wiremend_extract::Scope;
use work::{Job, Mending, Yield};

use crate::{
    Session,
    args::{ManyArgs, RepairArgs, TrailingArg},
    exit::{Exit, Failure},
    fit::Target,
    input::{self, Input},
    ordered::{self, Jobs, in_order},
    out,
};

/// The words for what became of an input, besides its outcome.
pub(crate) const LABELS: [(&str, &str); 3] = Label::OWN;

/// The words for what is left out in directories.
pub(crate) const SKIPPED: [(&str, &str); 5] = Skipped::WORDS;

pub(crate) fn run(
    args: &RepairArgs,
    options: MendOptions,
    scope: Scope,
    target: Option<Target>,
    session: Session,
) -> Result<Exit, Failure> {
    refuse(args)?;
    let place = match &args.many.out {
        Some(folder) => {
            let made = fs::create_dir_all(folder).and_then(|()| fs::canonicalize(folder));
            let cannot = |error| Failure::writing(&folder.display().to_string(), error);
            Destination::Folder(made.map_err(cannot)?)
        }
        None if args.many.in_place => Destination::Itself,
        None => Destination::Output,
    };
    beside::remove_all_on_interrupt();
    let form = args.many.report.as_deref().map(verdict::Form::of);
    let progress = Progress::new(args, place.is_output(), session.quiet);
    let mending = Mending {
        engine: Engine { options, scope, target, limit: args.input.max_input },
        fields: args.many.field.iter().map(|name| Field::new(name)).collect(),
        place: place.clone(),
        json: args.json,
        jsonl: args.many.jsonl,
        or_input: args.or_input || args.many.in_place,
        or_null: args.many.or_null,
        rejects: args.many.rejects.is_some(),
        form,
        summary: args.many.summary.is_some(),
        fail_on: args.fail_on.clone(),
        exit_zero: args.exit_zero,
        session,
        progress: progress.clone(),
    };
    let printed = Own {
        files: out::metadata().filter(Metadata::is_file).into_iter().collect(),
        folder: None,
    };
    if place.is_output() && named(&args.many).any(|path| printed.has_file(path)) {
        let message =
            "what --report, --summary or --rejects names is standard output, where the results go";
        return Err(Failure::Usage(message.to_owned()));
    }
    let own = own(&args.many, &place);
    let skipped = Arc::new(Mutex::new(Skipped::default()));
    let mut writer = Writer::new(args, place.is_output(), form, session, progress.clone())?;
    let feeder = Feeder {
        args: args.clone(),
        fields: mending.fields.clone(),
        patterns: args.many.patterns.iter().map(|pattern| Pattern::new(pattern)).collect(),
        place,
        taken: HashSet::new(),
        own,
        printed_table: false,
        progress,
    };
    let counted = Arc::clone(&skipped);
    let threads = ordered::threads(args.many.threads);
    let feed = move |jobs: &mut Jobs<Mending>| {
        let skipped = feeder.feed(jobs);
        *counted.lock().unwrap_or_else(PoisonError::into_inner) = skipped;
    };
    let ended = in_order(threads, mending, feed, |done| writer.take(done));
    let skipped = *skipped.lock().unwrap_or_else(PoisonError::into_inner);
    let ended = ended.and_then(|()| writer.finish(skipped));
    beside::remove_all(|| {});
    ended
}

/// What this run writes. A report of an earlier run, which this one replaces, is among it.
fn own(args: &ManyArgs, place: &Destination) -> Own {
    let files = named(args).filter_map(|path| fs::metadata(path).ok()).chain(out::metadata());
    let folder = match place {
        Destination::Folder(folder) => Some(folder.clone()),
        _ => None,
    };
    Own { folder, files: files.filter(Metadata::is_file).collect() }
}

/// The files besides the results.
fn named(args: &ManyArgs) -> impl Iterator<Item = &PathBuf> {
    [&args.report, &args.summary, &args.rejects].into_iter().flatten()
}

/// Refuses what cannot be meant together.
fn refuse(args: &RepairArgs) -> Result<(), Failure> {
    let many = &args.many;
    let is_folder = |path: &PathBuf| path.is_dir();
    let inputs = args.files.iter().filter(|path| path.as_os_str() == "-").count();
    let writes_files = many.in_place || many.out.is_some();
    let message = if inputs > 1 {
        "standard input can be read only once"
    } else if inputs > 0 && writes_files {
        "--in-place and --out need names: standard input has none"
    } else if args.json && (writes_files || !many.field.is_empty()) {
        "--json prints reports in place of the results: use --report FILE for both"
    } else if many.rejects.is_some() && !args.has_records() {
        "--rejects keeps records: it needs --lines or --field. For files, --report lists those that could \
         not be repaired"
    } else if many.rejects.is_some() && (many.or_null || args.or_input) {
        "--rejects keeps records out of the output, where --or-null and --or-input would leave something"
    } else if args.trailing == Some(TrailingArg::All) && args.has_records() {
        "--trailing all gives several documents, where a record has one"
    } else if args.or_input && !args.has_records() && !writes_files {
        "what could not be repaired may have several lines: use --or-null, or --out DIR"
    } else if many.in_place && many.patterns.is_empty() && args.files.iter().any(is_folder) {
        "--in-place in a directory needs --match, such as --match '*.json': a text without it is replaced by \
         the JSON that it mentions"
    } else if !many.patterns.is_empty() && !args.files.iter().any(is_folder) {
        "--match chooses files of a directory, and no input is one"
    } else {
        return Ok(());
    };
    Err(Failure::Usage(message.to_owned()))
}

/// Where results go.
#[derive(Clone, Debug)]
enum Destination {
    /// To standard output.
    Output,
    /// To files of this directory.
    Folder(PathBuf),
    /// In place of the inputs.
    Itself,
}

impl Destination {
    const fn is_output(&self) -> bool {
        matches!(self, Self::Output)
    }
}

/// An input, and where its result goes.
#[derive(Debug)]
struct Source {
    path: PathBuf,
    /// For messages and the report.
    name: String,
    /// `None` for standard output.
    place: Option<PathBuf>,
    /// What the result has in common with the file that it replaces.
    like: Option<Metadata>,
    /// For a table.
    columns: Option<Columns>,
}

/// Finds the inputs.
struct Feeder {
    args: RepairArgs,
    fields: Vec<Field>,
    patterns: Vec<Pattern>,
    place: Destination,
    /// The files that results go to.
    taken: HashSet<PathBuf>,
    own: Own,
    printed_table: bool,
    progress: Progress,
}

impl Feeder {
    fn feed(mut self, jobs: &mut Jobs<Mending>) -> Skipped {
        let (inputs, patterns) =
            (std::mem::take(&mut self.args.files), std::mem::take(&mut self.patterns));
        let own = std::mem::take(&mut self.own);
        walk(&inputs, &patterns, &own, &mut |found| {
            let (path, inside) = match found {
                Found::File { path, inside } => (path, inside),
                Found::Failed { path, error } => {
                    return jobs.done(Yield::failed(&path, &format!("cannot read it: {error}")));
                }
            };
            let source = match self.source(&path, &inside) {
                Ok(source) => source,
                Err(message) => return jobs.done(Yield::failed(&path, &message)),
            };
            if self.args.divides(&path) {
                self.divide(source, &inside, jobs)
            } else {
                jobs.push(Job::Document(Box::new(source)), 0)
            }
        })
    }

    /// Decides where the result of an input goes.
    fn source(&mut self, path: &Path, inside: &Path) -> Result<Source, String> {
        let name = match path.as_os_str() == "-" {
            true => "<stdin>".to_owned(),
            false => path.display().to_string(),
        };
        let source =
            |place, like| Source { path: path.to_owned(), name, place, like, columns: None };
        let cannot_read = |error: io::Error| format!("cannot read it: {error}");
        match &self.place {
            Destination::Output => Ok(source(None, None)),
            Destination::Itself => {
                // A link to a file stays one.
                let place = fs::canonicalize(path).map_err(cannot_read)?;
                let like = fs::metadata(&place).map_err(cannot_read)?;
                if !like.is_file() {
                    return Err("not a file, so it cannot be replaced".to_owned());
                }
                if is_packed(&place).map_err(cannot_read)? {
                    return Err(
                        "it is compressed, and --in-place would have to compress its result: use \
                                --out"
                            .to_owned(),
                    );
                }
                Ok(source(Some(place), Some(like)))
            }
            Destination::Folder(folder) => {
                let place = folder.join(input::unpacked_name(inside));
                if fs::canonicalize(path).is_ok_and(|path| path == place) {
                    return Err("the result would replace it: use --in-place for that".to_owned());
                }
                if !self.taken.insert(place.clone()) {
                    return Err(
                        "another input has the same name, so there is no place for its result"
                            .to_owned(),
                    );
                }
                Ok(source(Some(place), None))
            }
        }
    }

    /// Reads the records of an input.
    fn divide(&mut self, mut source: Source, inside: &Path, jobs: &mut Jobs<Mending>) -> bool {
        let bar = self.progress.bytes.clone();
        let input = match Input::metered(&source.path, |_| bar) {
            Ok(input) => input.unpacked(),
            Err(failure) => return jobs.done(Yield::failed(&source.path, &failure.to_string())),
        };
        let name = input::unpacked_name(inside);
        let ending = name.extension().unwrap_or_default();
        let is_table = self.args.many.csv
            || !self.args.many.lines
                && !self.fields.is_empty()
                && (ending == "csv" || ending == "tsv");
        let mut records = Records::new(input, Ends::Lines, self.args.input.max_input);
        let header = match is_table {
            false => Vec::new(),
            true => match self.table(&mut records) {
                Ok((header, columns)) => {
                    source.columns = columns;
                    header
                }
                Err(message) => return jobs.done(Yield::failed(&source.path, &message)),
            },
        };
        let source = Arc::new(source);
        if !jobs.done(Yield::begin(&source, header)) {
            return false;
        }
        loop {
            let (batch, failed) = match records.next() {
                Ok(Some(batch)) => (batch, None),
                Ok(None) => return jobs.done(Yield::end(None)),
                Err(error) => (records::Batch::default(), Some(error)),
            };
            if let Some(error) = failed {
                let message = format!("cannot read it further: {error}");
                return jobs.done(Yield::end(Some((source.name.clone(), message))));
            }
            let weight = batch.bytes.len();
            if !jobs.push(Job::Records(Arc::clone(&source), batch), weight) {
                return false;
            }
        }
    }

    /// Reads the first row of a table. There are no columns if the table is empty.
    fn table(
        &mut self,
        records: &mut Records<Input>,
    ) -> Result<(Vec<u8>, Option<Columns>), String> {
        let header = records.header().map_err(|error| format!("cannot read it: {error}"))?;
        let (row, _) = records::without_end(&header);
        let row = row.strip_prefix(b"\xef\xbb\xbf").unwrap_or(row);
        if row.is_empty() {
            return Ok((header, None));
        }
        if self.place.is_output() && std::mem::replace(&mut self.printed_table, true) {
            return Err("one output cannot have two tables: use --out or --in-place".to_owned());
        }
        let Some(columns) = Columns::of(row, &self.fields) else {
            let names: Vec<&str> = self.fields.iter().map(|field| field.name.as_str()).collect();
            return Err(format!("the first row does not name the column {}", names.join(", ")));
        };
        records.divided_by(columns.delimiter);
        Ok((header, Some(columns)))
    }
}

/// Whether the file is compressed.
fn is_packed(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut head)?;
    Ok(input::PACKED.iter().any(|(magic, ..)| head.starts_with(magic)))
}

/// What is shown while it runs, on a terminal.
#[derive(Clone, Debug, Default)]
struct Progress {
    /// What was read of inputs whose length is known.
    bytes: Option<ProgressBar>,
    /// The inputs that are done, if it is not.
    inputs: Option<ProgressBar>,
}

impl Progress {
    fn new(args: &RepairArgs, printed: bool, quiet: bool) -> Self {
        if quiet || !input::has_screen(printed) {
            return Self::default();
        }
        let size = |path: &PathBuf| {
            fs::metadata(path).ok().filter(Metadata::is_file).map(|meta| meta.len())
        };
        let sizes: Option<Vec<u64>> = args.files.iter().map(size).collect();
        match sizes.filter(|_| args.has_records()) {
            Some(sizes) => {
                let bar = input::bar(sizes.into_iter().fold(0, u64::saturating_add));
                Self { bytes: Some(bar), inputs: None }
            }
            None => {
                let bar = ProgressBar::new_spinner();
                let style = ProgressStyle::with_template("{spinner} {pos} done, {per_sec}");
                Self {
                    bytes: None,
                    inputs: Some(style.map_or(bar.clone(), |style| bar.with_style(style))),
                }
            }
        }
    }

    /// Notes that so many inputs are done.
    fn done(&self, inputs: u64) {
        if let Some(bar) = &self.inputs {
            bar.inc(inputs);
        }
    }

    /// Writes something without the bar around it.
    fn beside(&self, write: impl FnOnce()) {
        match self.bytes.as_ref().or(self.inputs.as_ref()) {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    fn clear(&self) {
        for bar in [&self.bytes, &self.inputs].into_iter().flatten() {
            bar.finish_and_clear();
        }
    }
}
