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
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
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
