//! Work for many values, on all processors.

use std::thread;

/// Calls `check` for each of `values`, on as many threads as there are processors. Returns the sum of
/// the results.
pub(crate) fn sum_of<T: Sync>(values: &[T], check: impl Fn(&T) -> u64 + Sync) -> u64 {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    if threads == 1 {
        // There may be no threads at all.
        return values.iter().map(check).sum();
    }
    let check = &check;
    thread::scope(|scope| {
        let tasks: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn(move || {
                    values.iter().skip(thread).step_by(threads).map(check).sum::<u64>()
                })
            })
            .collect();
        tasks.into_iter().map(|task| task.join().unwrap()).sum()
    })
}
