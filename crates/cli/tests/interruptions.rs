//! Builds that are killed, starved or run side by side: whatever is affected
//! and has not come to its end is selected afterwards.
//!
//! The truth comes from the tests themselves: each writes a line as the last
//! thing it does, with the versions of the code that it saw. A test without a
//! line for the versions of today has to run, whatever fewest believes.
//!
//! Every random choice follows from a seed. The long version:
//!
//! ```text
//! FEWEST_ROUNDS=100 FEWEST_SEED=7 cargo test -p fewest-cli --test interruptions -- --ignored --nocapture
//! ```

mod maven_support;

/// Tests that start a JVM carry `jvm` in their names.
mod jvm {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use fewest_testkit::{Finished, Jdk, TestProject, compile, maven_jars};
    use rustix::process::{Pid, Signal, kill_process};

    use super::maven_support::{entries, fewest, maven};

    /// How many classes there are, and as many tests: each test uses two.
    const CLASSES: usize = 6;
    /// The versions of each class. Tests fail on the last one.
    const VERSIONS: usize = 3;
    const BAD: usize = VERSIONS - 1;

    const POM: &str = "<project><modelVersion>4.0.0</modelVersion><groupId>ex</groupId>
        <artifactId>killed</artifactId><version>1</version>
        <properties><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
        <dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId>
        <version>4.13.2</version><scope>test</scope></dependency></dependencies>
        <build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId>
        <version>3.2.5</version></plugin></plugins></build></project>";

    const LOG: &str = "package p;
        public class Log {
            public static void done(String line) throws Exception {
                try (java.io.FileWriter out = new java.io.FileWriter(\"log.txt\", true)) {
                    out.write(line + '\\n');
                }
            }
        }";

    /// A test, and the versions of the two classes that it uses.
    type Seen = (String, usize, usize);

    /// A project whose class files are put in place, so that no build spends
    /// time on compiling.
    struct Suite {
        project: TestProject,
        /// The class files of each version of each class.
        compiled: BTreeMap<(usize, usize), Vec<u8>>,
        now: [usize; CLASSES],
    }

    impl Suite {
        fn new() -> Self {
            let project = TestProject::new();
            project.write("pom.xml", POM);
            project.write("fewest.toml", "ignored-files = 'log.txt'\n");
            project.write("log.txt", "");
            let mut compiled = BTreeMap::new();
            for version in 0..VERSIONS {
                let classes = project.path(format!("versions/{version}"));
                fs::create_dir_all(&classes).unwrap();
                compile_into(&sources(version), &classes);
                for class in 0..CLASSES {
                    let bytes = fs::read(classes.join(format!("p/V{class}.class"))).unwrap();
                    compiled.insert((class, version), bytes);
                }
                for test in entries(&classes.join("p")) {
                    if !test.starts_with('V') {
                        let bytes = fs::read(classes.join("p").join(&test)).unwrap();
                        project.write(format!("target/test-classes/p/{test}"), bytes);
                    }
                }
            }
            let mut project = Self {
                project,
                compiled,
                now: [0; CLASSES],
            };
            for class in 0..CLASSES {
                project.edit(class, 0);
            }
            project
        }

        fn edit(&mut self, class: usize, version: usize) {
            self.now[class] = version;
            let path = format!("target/classes/p/V{class}.class");
            self.project.write(path, &self.compiled[&(class, version)]);
        }

        fn tests(&self) -> impl Iterator<Item = Seen> {
            let now = self.now;
            (0..CLASSES).map(move |test| {
                let name = format!("p.T{test}Test");
                (name, now[test], now[(test + 1) % CLASSES])
            })
        }

        /// The tests that have not come to a good end with the code of today.
        fn owed(&self) -> BTreeSet<String> {
            let log = self.project.read("log.txt");
            let done: BTreeSet<Seen> = log.lines().filter_map(parse).collect();
            let owed = self.tests().filter(|test| !done.contains(test));
            owed.map(|test| test.0).collect()
        }

        /// The tests that fail with the code of today.
        fn failing(&self) -> BTreeSet<String> {
            let failing = self.tests().filter(|test| test.1 == BAD || test.2 == BAD);
            failing.map(|test| test.0).collect()
        }

        fn fewest(&self, args: &[&str]) -> Finished {
            fewest(&self.project).args(args).finish().unwrap()
        }

        /// What would run now, as fewest sees it.
        fn selected(&self) -> BTreeSet<String> {
            let finished = self.fewest(&["select", "--json"]);
            assert!(finished.success(), "{}", finished.stderr);
            let json: serde_json::Value = serde_json::from_str(&finished.stdout).unwrap();
            let known = tests_of(&json, |verdict| verdict != "skip");
            // What fewest has not heard of is new, and runs.
            let all = tests_of(&json, |_| true);
            let new = self.tests().map(|test| test.0);
            known
                .into_iter()
                .chain(new.filter(|test| !all.contains(test)))
                .collect()
        }

        /// A build to its end. Says what ran, and what fewest told.
        fn build(&self, args: &[&str]) -> (BTreeSet<String>, Finished) {
            let _ = fs::remove_file(self.project.path("run.json"));
            let run = || fewest(&self.project).args(["mvn", "--report", "run.json", "--"]);
            let finished = maven(run, &[&["-q", "test"], args].concat());
            let json = fs::read(self.project.path("run.json")).unwrap_or_default();
            let json = serde_json::from_slice(&json).unwrap_or_default();
            (tests_of(&json, |verdict| verdict == "run"), finished)
        }

        fn start(&self, args: &[&str]) -> Child {
            Command::new(env!("CARGO_BIN_EXE_fewest"))
                .args(["mvn", "-o", "-B", "-q", "test"])
                .args(args)
                .current_dir(self.project.root())
                .env_remove("JAVA_TOOL_OPTIONS")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        }

        fn lines_in_log(&self) -> usize {
            self.project.read("log.txt").lines().count()
        }
    }

    fn sources(version: usize) -> Vec<(String, String)> {
        let mut sources = vec![("p/Log.java".to_owned(), LOG.to_owned())];
        for class in 0..CLASSES {
            let next = (class + 1) % CLASSES;
            sources.push((
                format!("p/V{class}.java"),
                format!(
                    "package p; public class V{class} {{
                     public static int value() {{ return {version}; }} }}"
                ),
            ));
            sources.push((
                format!("p/T{class}Test.java"),
                format!(
                    "package p; public class T{class}Test {{
                     @org.junit.Test public void test() throws Exception {{
                        Thread.sleep(50);
                        int one = V{class}.value(), two = V{next}.value();
                        if (one == {BAD} || two == {BAD}) throw new AssertionError();
                        Log.done(\"p.T{class}Test \" + one + ' ' + two);
                     }} }}"
                ),
            ));
        }
        sources
    }

    fn compile_into(sources: &[(String, String)], classes: &Path) {
        let sources: Vec<(&str, &str)> = sources
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        let jars = maven_jars(&["junit:junit:4.13.2"]).unwrap();
        let options = ["--release", "8", "-Xlint:-options"];
        compile(&Jdk::default(), &sources, &options, &jars, classes).unwrap();
    }

    fn parse(line: &str) -> Option<Seen> {
        let mut words = line.split(' ');
        let test = words.next()?.to_owned();
        Some((
            test,
            words.next()?.parse().ok()?,
            words.next()?.parse().ok()?,
        ))
    }

    fn tests_of(json: &serde_json::Value, wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
        let tests = json["tests"].as_array().into_iter().flatten();
        tests
            .filter(|test| wanted(test["verdict"].as_str().unwrap()))
            .map(|test| test["test"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Numbers that look random and follow from a seed (xorshift, Marsaglia).
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, end: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % end as u64) as usize
        }
    }

    /// The processes that work in a folder: those of a build that runs there,
    /// whoever of them has been left alone.
    fn working_in(folder: &Path) -> Vec<u32> {
        let folder = fs::canonicalize(folder).unwrap();
        let works_there = |pid: &u32| {
            let place = fs::read_link(format!("/proc/{pid}/cwd"));
            place.is_ok_and(|place| place == folder)
        };
        let numbers = entries(Path::new("/proc"));
        let pids = numbers.iter().filter_map(|name| name.parse().ok());
        pids.filter(works_there).collect()
    }

    fn command_line(pid: u32) -> String {
        let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\0', " ")
    }

    fn kill(pid: u32) {
        let pid = Pid::from_raw(pid as i32).unwrap();
        // It may have come to its own end.
        let _ = kill_process(pid, Signal::KILL);
    }

    /// Kills a part of a running build and waits until all of it is gone.
    fn kill_some(suite: &Suite, build: &mut Child, dice: &mut Dice) -> &'static str {
        let folder = suite.project.root();
        let processes = working_in(folder);
        let find = |text: &str| {
            let mut found = processes.iter().copied();
            found.find(|pid| command_line(*pid).contains(text))
        };
        let fork = find("surefirebooter").or_else(|| find("ForkedBooter"));
        let maven = find("classworlds");
        let (what, victims) = match (dice.below(4), fork, maven) {
            (0, ..) => ("fewest", vec![build.id()]),
            (1, Some(fork), _) => ("the fork", vec![fork]),
            (2 | 1, _, Some(maven)) => ("Maven", vec![maven]),
            _ => ("everything", processes.clone()),
        };
        victims.iter().copied().for_each(kill);
        build.wait().unwrap();
        let impatient = dice.below(2) == 0;
        let started = Instant::now();
        loop {
            let left = working_in(folder);
            if left.is_empty() {
                return what;
            }
            if impatient || started.elapsed() > Duration::from_secs(60) {
                left.into_iter().for_each(kill);
            }
            sleep(Duration::from_millis(10));
        }
    }

    /// Waits for a point in a build: some time after its start, or the end of
    /// some test.
    fn wait_somewhere(project: &Suite, build: &mut Child, dice: &mut Dice) {
        if dice.below(2) == 0 {
            sleep(Duration::from_millis(dice.below(2500) as u64));
            return;
        }
        let lines = project.lines_in_log() + dice.below(CLASSES);
        while project.lines_in_log() <= lines && build.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(5));
        }
        sleep(Duration::from_millis(dice.below(60) as u64));
    }

    #[track_caller]
    fn assert_owed_is_selected(project: &Suite, selected: &BTreeSet<String>, when: &str) {
        let owed = project.owed();
        let missed: Vec<_> = owed.difference(selected).collect();
        assert!(
            missed.is_empty(),
            "{when}: not selected: {missed:?}, at {:?}",
            project.now
        );
    }

    /// Kills builds in each round, and makes a whole one every now and then.
    fn interrupt(rounds: usize, seed: u64) {
        let mut project = Suite::new();
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let (ran, finished) = project.build(&[]);
        assert_eq!(ran.len(), CLASSES, "{}{}", finished.stdout, finished.stderr);
        assert_eq!(project.selected(), BTreeSet::new());
        let mut killed: BTreeMap<&str, usize> = BTreeMap::new();
        for round in 0..rounds {
            for _ in 0..dice.below(3) {
                let (class, version) = (dice.below(CLASSES), dice.below(VERSIONS));
                project.edit(class, version);
            }
            let named = format!("-Dtest=T{}Test,T{}Test", dice.below(6), dice.below(6));
            let args = if dice.below(4) == 0 {
                vec![named.as_str()]
            } else {
                vec![]
            };
            let mut build = project.start(&args);
            wait_somewhere(&project, &mut build, &mut dice);
            let what = kill_some(&project, &mut build, &mut dice);
            *killed.entry(what).or_default() += 1;
            let when = format!("seed {seed}, round {round}, {what} killed with {args:?}");
            println!("{when}");
            assert_owed_is_selected(&project, &project.selected(), &when);
            if dice.below(2) == 0 {
                let (class, version) = (dice.below(CLASSES), dice.below(VERSIONS));
                project.edit(class, version);
                assert_owed_is_selected(&project, &project.selected(), &when);
            }
            if dice.below(3) == 0 || round + 1 == rounds {
                assert_whole_build_is_right(&project, &when);
            }
        }
        println!("{rounds} rounds with seed {seed}; killed: {killed:?}");
    }

    fn assert_whole_build_is_right(project: &Suite, when: &str) {
        let owed = project.owed();
        let (ran, finished) = project.build(&[]);
        let told = format!("{when}\n{}{}", finished.stdout, finished.stderr);
        assert!(ran.is_superset(&owed), "{ran:?} of {owed:?}: {told}");
        assert_eq!(finished.success(), project.failing().is_empty(), "{told}");
        assert_eq!(project.owed(), project.failing(), "{told}");
        assert_eq!(project.selected(), project.failing(), "{told}");
    }

    #[test]
    fn what_was_killed_runs_again() {
        interrupt(8, 1);
    }

    #[test]
    #[ignore = "takes minutes; see the head of this file"]
    fn what_was_killed_many_times_runs_again() {
        let number = |name: &str, default| {
            let text = std::env::var(name).unwrap_or_default();
            text.parse().unwrap_or(default)
        };
        interrupt(
            number("FEWEST_ROUNDS", 60) as usize,
            number("FEWEST_SEED", 1),
        );
    }

    #[test]
    fn what_the_user_s_filter_leaves_out_stays_as_it_was() {
        let mut project = Suite::new();
        project.build(&[]);
        project.edit(0, 1);
        project.edit(3, BAD);
        let before = project.selected();
        assert_eq!(before.len(), 4, "{before:?}");
        let (ran, _) = project.build(&["-Dtest=T0Test"]);
        assert_eq!(ran, BTreeSet::from(["p.T0Test".to_owned()]));
        let mut others = before.clone();
        others.remove("p.T0Test");
        assert!(project.selected().is_superset(&others));
        let (ran, _) = project.build(&[]);
        assert!(ran.is_superset(&others), "{ran:?}");
        assert_eq!(project.selected(), project.failing());
    }

    #[test]
    fn two_builds_at_once_leave_a_store_that_is_right() {
        let mut project = Suite::new();
        project.build(&[]);
        project.edit(0, 1);
        let mut builds = [project.start(&[]), project.start(&[])];
        for build in &mut builds {
            assert!(build.wait().unwrap().success());
        }
        assert_eq!(project.owed(), BTreeSet::new());
        // Reports that the other one writes may be a doubt, never a proof.
        let (_, finished) = project.build(&[]);
        assert!(finished.success(), "{}", finished.stderr);
        assert_eq!(project.selected(), BTreeSet::new());
        project.edit(0, BAD);
        assert_owed_is_selected(&project, &project.selected(), "after two builds");
    }

    /// A file system of its own, as long as this lives.
    struct Mounted(PathBuf);

    impl Mounted {
        fn memory(folder: &Path, size: &str) -> Option<Self> {
            fs::create_dir_all(folder).unwrap();
            let mounted = Self::mount(folder, &["-t", "tmpfs", "-o", size, "tmpfs"]);
            if !mounted {
                println!("skipped: this user may not mount a file system");
            }
            mounted.then(|| Self(folder.to_owned()))
        }

        fn mount(folder: &Path, args: &[&str]) -> bool {
            let status = Command::new("mount").args(args).arg(folder).status();
            status.is_ok_and(|status| status.success())
        }
    }

    impl Drop for Mounted {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg(&self.0).status();
        }
    }

    #[test]
    fn a_full_disk_and_a_read_only_one_cost_what_would_be_learned_and_no_more() {
        let mut project = Suite::new();
        let folder = project.project.path(".fewest");
        let Some(_mounted) = Mounted::memory(&folder, "size=4m") else {
            return;
        };
        project.build(&[]);
        assert_eq!(project.selected(), BTreeSet::new());

        // To the last byte.
        let filler = folder.join("filler");
        let mut file = fs::File::create(&filler).unwrap();
        while std::io::Write::write(&mut file, &[0; 1000]).is_ok() {}
        drop(file);
        project.edit(0, 1);
        assert_without_room(&project);
        fs::remove_file(&filler).unwrap();
        assert_whole_build_is_right(&project, "with room again");

        assert!(Mounted::mount(&folder, &["-o", "remount,ro"]));
        project.edit(3, 1);
        assert_without_room(&project);
        assert!(Mounted::mount(&folder, &["-o", "remount,rw"]));
        assert_whole_build_is_right(&project, "writable again");
    }

    /// A build ends as ever, runs what it must, says that nothing was learned,
    /// and the next one runs the same.
    fn assert_without_room(project: &Suite) {
        let owed = project.owed();
        assert_eq!(owed.len(), 2);
        let lines = project.lines_in_log();
        let (_, finished) = project.build(&[]);
        assert!(finished.success(), "{}{}", finished.stdout, finished.stderr);
        assert!(finished.stderr.contains("nothing "), "{}", finished.stderr);
        assert!(project.lines_in_log() >= lines + owed.len());
        assert_eq!(project.owed(), BTreeSet::new());
        // They did pass, but nothing says so.
        assert!(project.selected().is_superset(&owed), "{}", finished.stderr);
    }
}
