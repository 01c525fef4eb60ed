//! How many files the process may open, where that is known. A connection of a client takes two: its own, and that to the
//! provider. If clients took them all, no request could be sent on, and the admin port could take nobody.

use std::fs;

/// What is not for clients: the admin port, and what each thread waits with.
const OTHERS: usize = 64;

/// The number of connections of clients for which there are descriptors.
pub(crate) fn connections(threads: usize) -> Option<usize> {
    room(&fs::read_to_string("/proc/self/limits").ok()?, threads)
}

/// The same, with the text in which Linux says it.
fn room(limits: &str, threads: usize) -> Option<usize> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let files: usize = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some((files.saturating_sub(OTHERS + 4 * threads) / 2).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_takes_two() {
        let limits = |files: &str| {
            format!(
                "Limit Soft Limit Hard Limit Units\nMax processes 1 1 p\nMax open files            {files}                 4096                 files     \n"
            )
        };
        assert_eq!(room(&limits("1024"), 2), Some(476));
        assert_eq!(room(&limits("64"), 2), Some(1));
        assert_eq!(room(&limits("unlimited"), 2), None);
        assert_eq!(room("", 2), None);
    }
}
