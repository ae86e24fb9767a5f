//! What other threads do counts for the test that they work for.

mod windows_support;

use std::collections::BTreeSet;

use fewest_model::ClassName;
use fewest_testkit::{Jdk, maven_jars};
use windows_support::{Stage, Watched};

const MAIN: &str = "org.junit.runner.JUnitCore";

const SOURCES: &[&str] = &[
    "import java.util.concurrent.*; import java.util.stream.*; import org.junit.Test;
    public class PoolTest {
        static final ExecutorService POOL = Executors.newFixedThreadPool(2);
        static final ExecutorService CACHED = Executors.newCachedThreadPool();
        @Test public void threads() throws Exception {
            Thread thread = new Thread(() -> Mark.thread());
            thread.start();
            thread.join();
            POOL.submit(() -> Mark.pool()).get();
            CACHED.submit(() -> Mark.cached()).get();
            IntStream.range(0, 1000).parallel().forEach(n -> Mark.stream());
            CompletableFuture.supplyAsync(() -> Mark.future()).thenApplyAsync(n -> Mark.futureNext()).join();
            Wait.untilIdle();
        }
    }",
    // Workers go to rest a little after their task is done.
    "public class Wait {
        static void untilIdle() throws Exception {
            for (Thread thread : Thread.getAllStackTraces().keySet()) {
                String name = thread.getName();
                if (!name.contains(\"pool\") && !name.contains(\"ForkJoin\")) continue;
                for (int i = 0; i < 1000; i++) {
                    Thread.State state = thread.getState();
                    if (state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING
                        || state == Thread.State.TERMINATED) break;
                    Thread.sleep(5);
                }
            }
        }
    }",
    "public class NextTest { @org.junit.Test public void test() { Mark.next(); } }",
    "import java.util.concurrent.*;
    public class Latch {
        static Thread thread;
        static final CountDownLatch GO = new CountDownLatch(1);
        static final CountDownLatch POOL_GO = new CountDownLatch(1), POOL_DONE = new CountDownLatch(1);
        static final CountDownLatch POOL_HAS_BEGUN = new CountDownLatch(1);
        static void await(CountDownLatch latch) {
            try {
                if (!latch.await(1, TimeUnit.MINUTES)) throw new AssertionError();
            } catch (InterruptedException e) { throw new AssertionError(e); }
        }
    }",
    "public class LeakTest {
        @org.junit.Test public void test() {
            Mark.leak();
            Latch.thread = new Thread(() -> { Latch.await(Latch.GO); Mark.leaked(); });
            Latch.thread.start();
        }
    }",
    "public class LeakEndTest {
        @org.junit.Test public void test() throws Exception {
            Latch.GO.countDown();
            Latch.thread.join();
            Mark.leakEnd();
        }
    }",
    // The thread is one that another test started.
    "public class PoolLeakTest {
        @org.junit.Test public void test() {
            PoolTest.POOL.submit(() -> {
                Latch.POOL_HAS_BEGUN.countDown();
                Latch.await(Latch.POOL_GO);
                Mark.poolLeaked();
                Latch.POOL_DONE.countDown();
            });
            Latch.await(Latch.POOL_HAS_BEGUN);
        }
    }",
    "public class PoolLeakEndTest {
        @org.junit.Test public void test() throws Exception {
            Latch.POOL_GO.countDown();
            Latch.await(Latch.POOL_DONE);
            Wait.untilIdle();
        }
    }",
    "public class AfterTest { @org.junit.Test public void test() { Mark.after(); } }",
    "import java.util.concurrent.*;
    public class ScheduleTest {
        static final ScheduledExecutorService POOL = Executors.newScheduledThreadPool(1, task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
        @org.junit.Test public void test() throws Exception {
            POOL.schedule(() -> Mark.never(), 1, TimeUnit.HOURS);
        }
    }",
    "public class LastTest { @org.junit.Test public void test() { Mark.last(); PoolTest.POOL.shutdown(); PoolTest.CACHED.shutdown(); } }",
];

const CLASSES: &[&str] = &[
    "PoolTest",
    "NextTest",
    "LeakTest",
    "LeakEndTest",
    "PoolLeakTest",
    "PoolLeakEndTest",
    "AfterTest",
    "ScheduleTest",
    "LastTest",
];

fn watch(stage: &Stage, jdk: &Jdk, classes: &[&str]) -> Watched {
    let watched = stage.watch(jdk, MAIN, classes);
    assert!(watched.finished.success(), "{}", watched.finished.stdout);
    watched
}

fn classes(names: &[&str]) -> BTreeSet<ClassName> {
    names.iter().map(|name| ClassName::new(*name)).collect()
}

#[test]
fn threads_count_for_the_test_that_they_work_for() {
    let jars = maven_jars(&["junit:junit:4.13.2", "org.hamcrest:hamcrest-core:1.3"]).unwrap();
    let stage = Stage::new(SOURCES, &jars);
    for jdk in Jdk::old_and_new() {
        let watched = watch(&stage, &jdk, CLASSES);
        assert_eq!(
            watched.summary(),
            "\
AfterTest passed 1: after
LastTest passed 1: last
LeakEndTest passed 1: leakEnd leaked
LeakTest passed 1: late-leaked leak
NextTest passed 1: next
PoolLeakEndTest passed 1: poolLeaked
PoolLeakTest passed 1: late-poolLeaked
PoolTest passed 1: cached future futureNext pool stream thread
ScheduleTest passed 1: late-last
ambient:
",
            "JDK {}",
            jdk.feature_version()
        );
        // The pools that the last test shuts down may still be ending.
        let mut lingering = watched.lingering();
        lingering.remove(&ClassName::new("LastTest"));
        assert_eq!(
            lingering,
            classes(&["LeakTest", "PoolLeakTest", "ScheduleTest"])
        );
    }
}

const VIRTUAL: &[&str] = &[
    "public class VirtualTest {
        @org.junit.Test public void test() throws Exception {
            Thread.ofVirtual().start(() -> Mark.virtual()).join();
            Thread.ofVirtual().start(() -> { Latch.await(Latch.GO); Mark.virtualLeaked(); Latch.DONE.countDown(); });
            Thread.sleep(50);
        }
    }",
    "import java.util.concurrent.*;
    public class Latch {
        static final CountDownLatch GO = new CountDownLatch(1), DONE = new CountDownLatch(1);
        static void await(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException e) { throw new AssertionError(e); }
        }
    }",
    "public class EndTest {
        @org.junit.Test public void test() throws Exception {
            Latch.GO.countDown();
            Latch.await(Latch.DONE);
            Mark.end();
            Thread.sleep(50);
        }
    }",
    "public class AfterTest { @org.junit.Test public void test() { Mark.after(); } }",
];

#[test]
fn a_virtual_thread_counts_for_its_test_until_it_ends() {
    let jdk = Jdk::old_and_new().pop().expect("there is a JDK");
    if !jdk.is_at_least(21, "a virtual thread") {
        return;
    }
    let jars = maven_jars(&["junit:junit:4.13.2", "org.hamcrest:hamcrest-core:1.3"]).unwrap();
    let stage = Stage::with_options(&jdk, VIRTUAL, &jars, &["--release", "21"]);
    let watched = watch(&stage, &jdk, &["VirtualTest", "EndTest", "AfterTest"]);
    assert!(watched.counts("VirtualTest", "virtual"));
    assert!(watched.counts("VirtualTest", "late-virtualLeaked"));
    assert!(watched.counts("EndTest", "virtualLeaked"));
    assert!(watched.counts("AfterTest", "after"));
    assert!(!watched.counts("VirtualTest", "late-after"));
}
