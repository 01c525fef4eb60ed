//! Work on all cores, with the results in the order of the jobs.
//!
//! The feeder makes a slot for each job and puts it into two bounded queues: one for the workers and
//! one for the caller, which waits for each slot in turn. The bounds limit memory use, because a
//! feeder that is too fast has to wait; so does a worker with a large result, until it is its turn.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, TryRecvError, sync_channel},
    },
    thread,
};

/// The maximum number of threads. More would only wait for each other.
const MAX_THREADS: usize = 1024;

/// The maximum number of jobs in progress per thread.
pub(crate) const QUEUED: usize = 4;

/// A result, or a job, that is larger than this waits until all before it are taken.
const LARGE: usize = 8 << 20;

/// The number of threads to use, if so many were asked for.
pub(crate) fn threads(asked: Option<usize>) -> usize {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    asked.unwrap_or_else(cores).clamp(1, MAX_THREADS)
}

/// What is done for each job.
pub(crate) trait Work: Send + Sync + 'static {
    type Job: Send + 'static;
    type Done: Send + 'static;

    fn work(&self, job: &Self::Job) -> Self::Done;

    /// The result for a job on which [`work`](Self::work) panicked.
    fn panicked(&self, job: &Self::Job) -> Self::Done;

    /// How many bytes the result takes, about.
    fn weight(done: &Self::Done) -> usize;
}

struct Queued<W: Work> {
    job: W::Job,
    number: u64,
    slot: SyncSender<W::Done>,
}

/// Takes the jobs.
pub(crate) struct Jobs<W: Work> {
    work: SyncSender<Queued<W>>,
    slots: SyncSender<Receiver<W::Done>>,
    turn: Arc<Turn>,
    number: u64,
}

impl<W: Work> Jobs<W> {
    /// Adds a job of about so many bytes; false if nobody waits for its result.
    pub(crate) fn push(&mut self, job: W::Job, weight: usize) -> bool {
        let (slot, result) = sync_channel(1);
        let number = self.number;
        self.number += 1;
        // A closed queue means that the caller has stopped.
        let taken =
            self.slots.send(result).is_ok() && self.work.send(Queued { job, number, slot }).is_ok();
        if taken && weight > LARGE {
            self.turn.wait(number);
        }
        taken
    }

    /// Adds what needs no work.
    pub(crate) fn done(&mut self, done: W::Done) -> bool {
        let (slot, result) = sync_channel(1);
        self.number += 1;
        slot.send(done).is_ok() && self.slots.send(result).is_ok()
    }
}

/// The number of the job whose result is waited for.
#[derive(Default)]
struct Turn {
    number: Mutex<u64>,
    moved: Condvar,
}

impl Turn {
    fn set(&self, number: u64) {
        *self.number.lock().unwrap_or_else(PoisonError::into_inner) = number;
        self.moved.notify_all();
    }

    fn wait(&self, number: u64) {
        let guard = self.number.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.moved.wait_while(guard, |turn| *turn < number));
    }
}

/// Does the jobs that `feed` pushes, on `threads` threads, and passes each result to `take`, in the order
/// of the jobs. `None` means that the next one is not there yet: what was written may be flushed.
///
/// If `take` fails, the threads are left alone: the feeder could wait forever for an input that nobody
/// needs. They end with the process.
pub(crate) fn in_order<W: Work, E>(
    threads: usize,
    work: W,
    feed: impl FnOnce(&mut Jobs<W>) + Send + 'static,
    mut take: impl FnMut(Option<W::Done>) -> Result<(), E>,
) -> Result<(), E> {
    let (jobs, queue) = sync_channel::<Queued<W>>(threads * QUEUED);
    let (slots, order) = sync_channel::<Receiver<W::Done>>(threads * QUEUED);
    let turn = Arc::new(Turn::default());
    let mut jobs = Jobs { work: jobs, slots, turn: Arc::clone(&turn), number: 0 };
    thread::spawn(move || feed(&mut jobs));
    let queue = Arc::new(Mutex::new(queue));
    let work = Arc::new(work);
    for _ in 0..threads {
        let (queue, work, turn) = (Arc::clone(&queue), Arc::clone(&work), Arc::clone(&turn));
        thread::spawn(move || {
            while let Some(Queued { job, number, slot }) = next(&queue) {
                let done = catch_unwind(AssertUnwindSafe(|| work.work(&job)))
                    .unwrap_or_else(|_| work.panicked(&job));
                if W::weight(&done) > LARGE {
                    turn.wait(number);
                }
                // If the caller has stopped, nobody waits for the result.
                let _ = slot.send(done);
            }
        });
    }
    for number in 0.. {
        let Some(slot) = receive(&order, &mut take)? else { break };
        turn.set(number);
        // A worker always sends: a panic inside it is caught.
        if let Some(done) = receive(&slot, &mut take)? {
            take(Some(done))?;
        }
    }
    take(None)
}

/// Takes the next job; `None` if the feeder has finished.
fn next<W: Work>(queue: &Mutex<Receiver<Queued<W>>>) -> Option<Queued<W>> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

/// The next item, if there is one. The caller is told before it waits.
fn receive<T, D, E>(
    from: &Receiver<T>,
    take: &mut impl FnMut(Option<D>) -> Result<(), E>,
) -> Result<Option<T>, E> {
    match from.try_recv() {
        Ok(item) => Ok(Some(item)),
        Err(TryRecvError::Disconnected) => Ok(None),
        Err(TryRecvError::Empty) => {
            take(None)?;
            Ok(from.recv().ok())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Counts what waits to be taken.
    struct Large(Arc<AtomicUsize>);

    impl Work for Large {
        type Job = usize;
        type Done = Vec<u8>;

        fn work(&self, job: &usize) -> Vec<u8> {
            self.0.fetch_add(1, Ordering::SeqCst);
            vec![u8::try_from(job % 250).unwrap(); LARGE + 1]
        }
        fn panicked(&self, _: &usize) -> Vec<u8> {
            Vec::new()
        }
        fn weight(done: &Vec<u8>) -> usize {
            done.len()
        }
    }

    #[test]
    fn large_results_wait_for_their_turn() {
        const THREADS: usize = 2;
        let made = Arc::new(AtomicUsize::new(0));
        let mut taken = 0;
        let feed = |jobs: &mut Jobs<Large>| {
            for job in 0..30 {
                jobs.push(job, 1);
            }
        };
        in_order(THREADS, Large(Arc::clone(&made)), feed, |done| {
            if let Some(done) = done {
                assert_eq!(usize::from(done[0]), taken);
                taken += 1;
                thread::sleep(std::time::Duration::from_millis(2));
                // The one that was taken, one that waits for its turn in each thread, and one that is sent.
                let most = THREADS + 1;
                assert!(made.load(Ordering::SeqCst) <= taken + most, "{made:?} {taken}");
            }
            Ok::<(), ()>(())
        })
        .unwrap();
        assert_eq!(taken, 30);
    }
}
