//! How much heap a piece of work uses, on the thread that does it.

/// The heap use of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Heap {
    /// The most bytes that were live at one time.
    pub peak: u64,
    /// The total bytes of all allocations.
    pub total: u64,
    /// The number of allocations.
    pub count: u64,
    /// How many more bytes were live at the end than at the start.
    pub live: i64,
}

/// Does `work` and counts what it allocates on this thread.
///
/// ```
/// use wiremend_testkit::allocations::heap_of;
/// let heap = heap_of(|| drop(vec![0_u8; 4096]));
/// assert!(heap.peak >= 4096);
/// assert_eq!(heap_of(|| ()).count, 0);
/// ```
pub fn heap_of(work: impl FnOnce()) -> Heap {
    let counted = allocation_counter::measure(work);
    Heap {
        peak: counted.bytes_max,
        total: counted.bytes_total,
        count: counted.count_total,
        live: counted.bytes_current,
    }
}
