//! The files that the command line names: files, and those in directories.
//!
//! The files of a directory come in the order of their names, those of the directories in it after
//! them. Links in a directory are not followed: they may lead out of it, or in a circle. What is left
//! out is counted.

use std::{
    ffi::OsStr,
    fs::{self, FileType, Metadata},
    io,
    path::{Path, PathBuf},
};

/// What was not read in directories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Skipped {
    pub(crate) hidden: u64,
    pub(crate) links: u64,
    pub(crate) special: u64,
    pub(crate) unmatched: u64,
    pub(crate) own: u64,
}

impl Skipped {
    /// The words for them, and what they mean.
    pub(crate) const WORDS: [(&'static str, &'static str); 5] = [
        ("hidden", "the name begins with a dot, so it was not looked at"),
        ("linked", "a symbolic link in a directory, which is not followed"),
        ("special", "a pipe, a socket or a device in a directory"),
        ("unmatched", "a file that no --match names"),
        ("own", "a file that this run writes"),
    ];

    pub(crate) const fn counts(self) -> [u64; 5] {
        let Self { hidden, links, special, unmatched, own } = self;
        [hidden, links, special, unmatched, own]
    }
}

/// What this run writes: its results are no inputs of it.
#[derive(Debug, Default)]
pub(crate) struct Own {
    /// The directory of `--out`.
    pub(crate) folder: Option<PathBuf>,
    /// Standard output, the report, the summary and the rejects.
    pub(crate) files: Vec<Metadata>,
}

impl Own {
    fn has_folder(&self, path: &Path) -> bool {
        let same = |own: &Path| fs::canonicalize(path).is_ok_and(|path| path == own);
        self.folder.as_deref().is_some_and(same)
    }

    /// Whether it is one of the files, whatever it is called.
    #[cfg(unix)]
    pub(super) fn has_file(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let id = |file: &Metadata| (file.dev(), file.ino());
        !self.files.is_empty()
            && fs::metadata(path)
                .is_ok_and(|file| self.files.iter().any(|own| id(own) == id(&file)))
    }

    #[cfg(not(unix))]
    pub(super) fn has_file(&self, _: &Path) -> bool {
        false
    }
}

/// A file to read, or what could not be read.
pub(crate) enum Found {
    File {
        path: PathBuf,
        /// The path in its directory, or the name.
        inside: PathBuf,
    },
    Failed {
        path: PathBuf,
        error: io::Error,
    },
}

/// Passes each file to `take`, until it returns false.
pub(crate) fn walk(
    inputs: &[PathBuf],
    patterns: &[Pattern],
    own: &Own,
    take: &mut dyn FnMut(Found) -> bool,
) -> Skipped {
    let mut skipped = Skipped::default();
    for input in inputs {
        let goes_on = if input.is_dir() {
            directory(input, patterns, own, &mut skipped, take)
        } else {
            let name = input.file_name().map(PathBuf::from).unwrap_or_default();
            take(Found::File { path: input.clone(), inside: name })
        };
        if !goes_on {
            break;
        }
    }
    skipped
}

fn directory(
    root: &Path,
    patterns: &[Pattern],
    own: &Own,
    skipped: &mut Skipped,
    take: &mut dyn FnMut(Found) -> bool,
) -> bool {
    let mut open = vec![PathBuf::new()];
    while let Some(inside) = open.pop() {
        let path = root.join(&inside);
        let entries = match entries(&path) {
            Ok(entries) => entries,
            Err(error) => match take(Found::Failed { path, error }) {
                true => continue,
                false => return false,
            },
        };
        let before = open.len();
        for (name, kind) in entries {
            let inside = inside.join(&name);
            let path = root.join(&inside);
            let hidden = name.as_encoded_bytes().starts_with(b".");
            let named = |pattern: &Pattern| pattern.fits(&inside);
            let wanted = match patterns {
                [] => !hidden,
                _ => patterns.iter().any(named),
            };
            if kind.is_symlink() {
                skipped.links += 1;
            } else if kind.is_dir() {
                match hidden {
                    true => skipped.hidden += 1,
                    false if own.has_folder(&path) => skipped.own += 1,
                    false => open.push(inside),
                }
            } else if !wanted {
                *(if hidden { &mut skipped.hidden } else { &mut skipped.unmatched }) += 1;
            } else if !kind.is_file() {
                skipped.special += 1;
            } else if own.has_file(&path) {
                skipped.own += 1;
            } else if !take(Found::File { path, inside }) {
                return false;
            }
        }
        // The last one that was pushed is read next.
        open.get_mut(before..).unwrap_or_default().reverse();
    }
    true
}

/// The names in a directory, in order.
fn entries(path: &Path) -> io::Result<Vec<(std::ffi::OsString, FileType)>> {
    let entries = fs::read_dir(path)?.map(|entry| {
        let entry = entry?;
        Ok((entry.file_name(), entry.file_type()?))
    });
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(entries)
}

/// A pattern for names: `*` is any part of a name, `?` one byte, and `**` any part of a path.
#[derive(Clone, Debug)]
pub(crate) struct Pattern(Vec<u8>);

impl Pattern {
    pub(crate) fn new(pattern: &str) -> Self {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        // In any directory, including the first: `**/x` fits `x`.
        Self(
            pattern
                .strip_prefix("**/")
                .filter(|rest| !rest.contains('/'))
                .unwrap_or(pattern)
                .into(),
        )
    }

    /// Whether a path, or its name if the pattern has no `/`, is of this kind.
    ///
    /// As in a shell, a star is no dot at the beginning of a name.
    fn fits(&self, path: &Path) -> bool {
        let name = path.file_name().map_or(&[][..], OsStr::as_encoded_bytes);
        let own = self.0.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        if name.starts_with(b".") && !own.starts_with(b".") {
            return false;
        }
        match self.0.contains(&b'/') {
            true => fits(&self.0, path.as_os_str().as_encoded_bytes()),
            false => fits(&self.0, name),
        }
    }
}

/// Matches from left to right. At a mismatch, the last star takes one byte more; if it may not, the last
/// double star does.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let separator = |byte: u8| byte == b'/' || byte == std::path::MAIN_SEPARATOR as u8;
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    let mut double: Option<(usize, usize)> = None;
    while n < name.len() || p < pattern.len() {
        let rest = pattern.get(p..).unwrap_or_default();
        if rest.starts_with(b"**") {
            // `**/` may also be nothing.
            p += if rest.starts_with(b"**/") { 3 } else { 2 };
            (double, star) = (Some((p, n)), None);
            continue;
        }
        if rest.starts_with(b"*") {
            p += 1;
            star = Some((p, n));
            continue;
        }
        if let (Some(&want), Some(&have)) = (rest.first(), name.get(n)) {
            let same = match want {
                b'?' => !separator(have),
                b'/' => separator(have),
                _ => want == have,
            };
            if same {
                (p, n) = (p + 1, n + 1);
                continue;
            }
        }
        match (&mut star, &mut double) {
            (Some((after, at)), _) if name.get(*at).is_some_and(|byte| !separator(*byte)) => {
                *at += 1;
                (p, n) = (*after, *at);
            }
            (_, Some((after, at))) if *at < name.len() => {
                *at += 1;
                (p, n) = (*after, *at);
                star = None;
            }
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_a_shell() {
        let fits = |pattern: &str, path: &str| Pattern::new(pattern).fits(Path::new(path));
        for (pattern, path) in [
            ("*.json", "a.json"),
            ("*.json", "deep/er/a.json"),
            ("a?c*", "abc"),
            ("a*b*c", "aXbXbc"),
            ("**/*.json", "a.json"),
            ("logs/**/*.txt", "logs/a.txt"),
            ("logs/**/*.txt", "logs/a/b/c.txt"),
            ("logs/**", "logs/a/b"),
            ("./a/*.txt", "a/b.txt"),
            (".*", ".hidden"),
        ] {
            assert!(fits(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("*.json", "a.jsonl"),
            ("*.json", "a.json/b"),
            ("logs/*.txt", "logs/a/b.txt"),
            ("logs/**/*.txt", "other/a.txt"),
            ("a?c", "ac"),
            ("*.json", "a/.b.json"),
            ("**", "a/.b"),
            ("", "a"),
        ] {
            assert!(!fits(pattern, path), "{pattern} {path}");
        }
        // Not exponential.
        assert!(!fits(&"*a".repeat(40), &"a".repeat(10_000).replace('a', "ab")));
    }
}
