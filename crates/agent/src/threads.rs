//! Which threads have nothing to do.
//!
//! A thread that a test starts may use things after the test has ended, so the
//! test's account stays open. The threads of a pool live on for ever, though;
//! one that waits for its next task works for nobody.

/// Whether a thread with these innermost frames, by class and name, belongs to
/// a pool of the JDK and waits for a task that nobody has given it yet.
pub(crate) fn is_resting(frames: &[(String, String)]) -> bool {
    let Some((_, park)) = frames.first() else {
        return false;
    };
    if frames.iter().any(serves_virtual_threads) {
        return true;
    }
    if park != "park" {
        return false;
    }
    if is_parked_by_worker(&frames[1..]) {
        return true;
    }
    let pool = frames.iter().position(|(class, method)| {
        matches!(
            (class.as_str(), method.as_str()),
            ("java/util/concurrent/ForkJoinPool", "awaitWork")
                | ("java/util/concurrent/ThreadPoolExecutor", "getTask")
        )
    });
    pool.is_some_and(|pool| {
        let waiting = &frames[1..pool];
        waiting.iter().all(is_of_the_jdk) && !waits_for_a_time(waiting)
    })
}

/// From Java 9 to 16 the method that runs tasks also waits for the next one;
/// then nothing but the parking itself is within it.
fn is_parked_by_worker(frames: &[(String, String)]) -> bool {
    let [(support, _), (pool, method), ..] = frames else {
        return false;
    };
    support == "java/util/concurrent/locks/LockSupport"
        && pool == "java/util/concurrent/ForkJoinPool"
        && method == "runWorker"
}

/// The thread that lets virtual threads go on runs nothing else, for ever.
fn serves_virtual_threads((class, method): &(String, String)) -> bool {
    class == "java/lang/VirtualThread" && method == "unblockVirtualThreads"
}

fn is_of_the_jdk((class, _): &(String, String)) -> bool {
    ["java/util/concurrent/", "java/lang/", "jdk/internal/"]
        .iter()
        .any(|package| class.starts_with(package))
}

/// A scheduler that waits until a task is due will work for whoever gave it.
fn waits_for_a_time(frames: &[(String, String)]) -> bool {
    let delays = |(class, _): &(String, String)| {
        class.ends_with("$DelayedWorkQueue") || class == "java/util/concurrent/DelayQueue"
    };
    frames.iter().any(delays) && frames.iter().any(|(_, method)| method == "awaitNanos")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(text: &str) -> Vec<(String, String)> {
        text.split_whitespace()
            .filter_map(|frame| frame.rsplit_once('.'))
            .map(|(class, method)| (class.to_owned(), method.to_owned()))
            .collect()
    }

    const CONDITION: &str = "java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject";
    const QUEUE: &str = "java/util/concurrent/ScheduledThreadPoolExecutor$DelayedWorkQueue";

    #[test]
    fn a_thread_of_a_pool_that_waits_for_any_task_rests() {
        assert!(is_resting(&frames(
            "jdk/internal/misc/Unsafe.park java/util/concurrent/locks/LockSupport.park
             java/util/concurrent/ForkJoinPool.awaitWork
             java/util/concurrent/ForkJoinPool.runWorker"
        )));
        assert!(is_resting(&frames(
            "jdk/internal/misc/Unsafe.park java/util/concurrent/locks/LockSupport.parkUntil
             java/util/concurrent/ForkJoinPool.runWorker"
        )));
        assert!(is_resting(&frames(&format!(
            "jdk/internal/misc/Unsafe.park java/util/concurrent/locks/LockSupport.park
             {CONDITION}.await java/util/concurrent/LinkedBlockingQueue.take
             java/util/concurrent/ThreadPoolExecutor.getTask"
        ))));
        assert!(is_resting(&frames(&format!(
            "sun/misc/Unsafe.park java/util/concurrent/locks/LockSupport.parkNanos
             {CONDITION}.awaitNanos java/util/concurrent/LinkedBlockingQueue.poll
             java/util/concurrent/ThreadPoolExecutor.getTask"
        ))));
        assert!(is_resting(&frames(&format!(
            "jdk/internal/misc/Unsafe.park java/util/concurrent/locks/LockSupport.park
             {CONDITION}.await {QUEUE}.take java/util/concurrent/ThreadPoolExecutor.getTask"
        ))));
    }

    #[test]
    fn a_thread_that_works_or_waits_for_something_else_does_not() {
        assert!(!is_resting(&[]));
        assert!(!is_resting(&frames(
            "p/Task.run java/util/concurrent/ThreadPoolExecutor.getTask"
        )));
        assert!(!is_resting(&frames(
            "jdk/internal/misc/Unsafe.park java/util/concurrent/locks/LockSupport.park
             java/util/concurrent/FutureTask.get java/util/concurrent/ForkJoinTask.doExec
             java/util/concurrent/ForkJoinPool.runWorker"
        )));
        assert!(!is_resting(&frames(
            "jdk/internal/misc/Unsafe.park p/Queue.take
             java/util/concurrent/ThreadPoolExecutor.getTask"
        )));
        assert!(!is_resting(&frames(
            "jdk/internal/misc/Unsafe.park java/util/concurrent/FutureTask.get p/Task.run
             java/util/concurrent/ThreadPoolExecutor.runWorker"
        )));
        assert!(!is_resting(&frames(&format!(
            "jdk/internal/misc/Unsafe.park java/util/concurrent/locks/LockSupport.parkNanos
             {CONDITION}.awaitNanos {QUEUE}.take
             java/util/concurrent/ThreadPoolExecutor.getTask"
        ))));
    }
}
