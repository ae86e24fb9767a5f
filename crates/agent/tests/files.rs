//! What tests read reaches the trace, whatever API they read it with.

mod support;

use std::collections::BTreeSet;

use fewest_testkit::{JavaRun, Jdk, Run, TestProject};
use support::{Suite, assert_same};

/// A test's name, what it does, and what its window must hold: no more, no less.
type Case = (&'static str, &'static str, &'static [&'static str]);

const READS: &[Case] = &[
    (
        "FileInputStreamTest",
        r#"try (InputStream in = new FileInputStream("data/a.txt")) { assertEquals('a', in.read()); }"#,
        &["file data/a.txt"],
    ),
    (
        "FileInputStreamMissesTest",
        r#"try { new FileInputStream("data/no.txt"); fail(); } catch (FileNotFoundException e) {}"#,
        &["absent data/no.txt"],
    ),
    (
        "RandomAccessFileTest",
        r#"try (RandomAccessFile file = new RandomAccessFile("data/a.txt", "r")) { file.read(); }"#,
        &["file data/a.txt"],
    ),
    (
        "FileReaderTest",
        r#"try (Reader in = new FileReader(new File("data", "a.txt"))) { in.read(); }"#,
        &["file data/a.txt"],
    ),
    (
        "ScannerTest",
        r#"try (Scanner in = new Scanner(new File("./data/../data/a.txt"))) { in.next(); }"#,
        &["file data/a.txt"],
    ),
    (
        "ReadAllBytesTest",
        r#"assertEquals(2, Files.readAllBytes(Paths.get("data/a.txt")).length);"#,
        &["file data/a.txt"],
    ),
    (
        "ReadAllBytesMissesTest",
        r#"try { Files.readAllBytes(Paths.get("data/no.txt")); fail(); } catch (NoSuchFileException e) {}"#,
        &["absent data/no.txt"],
    ),
    (
        "LinesTest",
        r#"try (java.util.stream.Stream<String> lines = Files.lines(Paths.get("data/a.txt"))) {
            assertEquals(1, lines.count()); }"#,
        &["file data/a.txt"],
    ),
    (
        "ChannelMapTest",
        r#"try (java.nio.channels.FileChannel channel =
                java.nio.channels.FileChannel.open(Paths.get("data/a.txt"))) {
            channel.map(java.nio.channels.FileChannel.MapMode.READ_ONLY, 0, 2).get(); }"#,
        &["file data/a.txt"],
    ),
    (
        "FilesExistsTest",
        r#"assertTrue(Files.exists(Paths.get("data/a.txt")));
        assertFalse(Files.exists(Paths.get("data/no.txt")));"#,
        &["file data/a.txt", "absent data/no.txt"],
    ),
    (
        "FileExistsTest",
        r#"assertTrue(new File("data/a.txt").exists());
        assertFalse(new File("data/no.txt").exists());"#,
        &["file data/a.txt", "absent data/no.txt"],
    ),
    (
        "IsDirectoryTest",
        r#"assertTrue(new File("data").isDirectory()); assertTrue(Files.isDirectory(Paths.get("data/sub")));"#,
        &["directory data", "directory data/sub"],
    ),
    (
        "LengthTest",
        r#"assertEquals(2, new File("data/a.txt").length());"#,
        &["file data/a.txt"],
    ),
    (
        "LastModifiedTest",
        r#"assertTrue(new File("data/a.txt").lastModified() > 0);"#,
        &["file data/a.txt"],
    ),
    (
        "AttributesTest",
        r#"Files.readAttributes(Paths.get("data/a.txt"), "size,lastModifiedTime");
        assertEquals(2, Files.size(Paths.get("data/a.txt")));"#,
        &["file data/a.txt"],
    ),
    (
        "FileListTest",
        r#"assertEquals(2, new File("data").list().length); assertNull(new File("no").list());"#,
        &["listing data", "listing no"],
    ),
    (
        "FilesListTest",
        r#"try (java.util.stream.Stream<Path> list = Files.list(Paths.get("data"))) {
            assertEquals(2, list.count()); }"#,
        &["listing data"],
    ),
    (
        "FilesWalkTest",
        r#"try (java.util.stream.Stream<Path> walk = Files.walk(Paths.get("data"))) {
            assertEquals(4, walk.count()); }"#,
        &[
            "directory data",
            "directory data/sub",
            "file data/a.txt",
            "file data/sub/b.properties",
            "listing data",
            "listing data/sub",
        ],
    ),
    (
        "DirectoryStreamTest",
        r#"int count = 0;
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(Paths.get("data"))) {
            for (Path path : stream) count++; }
        assertEquals(2, count);"#,
        &["listing data"],
    ),
    (
        "PropertiesLoadTest",
        r#"Properties p = new Properties();
        try (InputStream in = Files.newInputStream(Paths.get("data/sub/b.properties"))) { p.load(in); }
        assertEquals("1", p.get("b"));"#,
        &["file data/sub/b.properties"],
    ),
    (
        "LinkTest",
        r#"assertEquals("a", Files.readAllLines(Paths.get("link.txt")).get(0));
        assertTrue(Files.isSymbolicLink(Paths.get("link.txt")));
        assertEquals("a.txt", new File("link.txt").getCanonicalFile().getName());"#,
        &["file link.txt"],
    ),
    (
        "LibraryTest",
        r#"try { System.load(new File("data/a.txt").getAbsolutePath()); fail(); }
        catch (UnsatisfiedLinkError e) {}"#,
        &["file data/a.txt"],
    ),
    (
        "ZipFileTest",
        r#"try (java.util.zip.ZipFile zip = new java.util.zip.ZipFile("other.jar")) {
            assertNotNull(zip.getEntry("in-other.txt")); }"#,
        &["file other.jar"],
    ),
    (
        "JarOfTheClassPathTest",
        r#"try (java.util.zip.ZipFile zip = new java.util.zip.ZipFile("lib.jar")) {
            assertNotNull(zip.getEntry("in-jar.txt")); }"#,
        &["file lib.jar"],
    ),
    (
        "ResourceInFolderTest",
        r#"try (InputStream in = getClass().getResourceAsStream("/res.txt")) { assertEquals('r', in.read()); }
        assertNull(getClass().getResource("/no-res.txt"));"#,
        &["resource res.txt", "resource no-res.txt"],
    ),
    (
        "ResourceInJarTest",
        r#"try (InputStream in = getClass().getResourceAsStream("/in-jar.txt")) { assertEquals('j', in.read()); }"#,
        &["resource in-jar.txt"],
    ),
    (
        "FileInClassFolderTest",
        r#"assertTrue(new File("classes/res.txt").exists());"#,
        &["resource res.txt"],
    ),
    (
        "ServiceLoaderTest",
        "assertFalse(ServiceLoader.load(Runnable.class).iterator().hasNext());",
        &["resource META-INF/services/java.lang.Runnable"],
    ),
    (
        "OtherLoaderTest",
        r#"java.net.URL[] urls = {new File("other.jar").toURI().toURL(), new File("data").toURI().toURL()};
        try (java.net.URLClassLoader loader = new java.net.URLClassLoader(urls, null)) {
            assertNotNull(loader.getResource("in-other.txt"));
            assertNotNull(loader.getResource("sub/b.properties")); }"#,
        &[
            "directory data",
            "file data/sub/b.properties",
            "file other.jar",
            "resource in-other.txt",
            "resource sub/b.properties",
        ],
    ),
];

const WRITES: &[Case] = &[
    (
        "WrittenFirstTest",
        r#"try (Writer out = new FileWriter("out1.txt")) { out.write("x"); }
        assertEquals(1, new File("out1.txt").length());
        Files.write(Paths.get("out2.txt"), new byte[2]);
        assertEquals(2, Files.readAllBytes(Paths.get("out2.txt")).length);"#,
        &[],
    ),
    (
        "AppendedTest",
        r#"try (Writer out = new FileWriter("data/log.txt", true)) { out.write("x"); }
        Files.readAllBytes(Paths.get("data/log.txt"));"#,
        &[],
    ),
    (
        "ReadThenWrittenTest",
        r#"Files.readAllBytes(Paths.get("data/state.txt"));
        Files.write(Paths.get("data/state.txt"), new byte[] {1});
        Files.readAllBytes(Paths.get("data/state.txt"));"#,
        &["file data/state.txt"],
    ),
    (
        "ReadAndWriteTest",
        r#"try (RandomAccessFile file = new RandomAccessFile("data/random.txt", "rw")) { file.read(); }
        try (RandomAccessFile file = new RandomAccessFile("data/fresh.txt", "rw")) { file.write(1); }
        assertTrue(new File("data/fresh.txt").exists());"#,
        &["absent data/fresh.txt", "file data/random.txt"],
    ),
    (
        "TemporaryFilesTest",
        r#"File file = File.createTempFile("some", ".tmp");
        assertTrue(file.exists()); assertTrue(file.delete()); assertFalse(file.exists());
        Path path = Files.createTempFile("some", ".tmp");
        assertEquals(0, Files.size(path)); Files.delete(path); assertFalse(Files.exists(path));
        Path folder = Files.createTempDirectory("some");
        Files.createDirectory(folder.resolve("in"));
        Files.write(folder.resolve("in/x"), new byte[1]);
        assertEquals(1, folder.resolve("in").toFile().list().length);
        Files.delete(folder.resolve("in/x")); Files.delete(folder.resolve("in")); Files.delete(folder);"#,
        &[],
    ),
    (
        "TemporaryFolderTest",
        r#"org.junit.rules.TemporaryFolder folder = new org.junit.rules.TemporaryFolder();
        folder.create();
        assertEquals(0, folder.newFolder("inner").list().length);
        assertTrue(folder.newFile("x").exists());
        folder.delete();"#,
        &[],
    ),
    (
        "CopiedTest",
        r#"Files.copy(Paths.get("data/a.txt"), Paths.get("copy.txt"));
        assertEquals(2, Files.size(Paths.get("copy.txt")));"#,
        // It would have failed with the target in place.
        &["absent copy.txt", "file data/a.txt"],
    ),
    (
        "MovedTest",
        r#"Files.write(Paths.get("move1.txt"), new byte[3]);
        Files.move(Paths.get("move1.txt"), Paths.get("move2.txt"));
        assertFalse(Files.exists(Paths.get("move1.txt")));
        assertTrue(new File("move2.txt").renameTo(new File("move3.txt")));
        assertEquals(3, new File("move3.txt").length());"#,
        &["absent move2.txt"],
    ),
    (
        "DeletedTest",
        r#"Files.delete(Paths.get("data/doomed.txt"));
        assertFalse(Files.exists(Paths.get("data/doomed.txt")));
        assertFalse(new File("data/never.txt").delete());"#,
        &["absent data/never.txt", "file data/doomed.txt"],
    ),
    (
        "OwnLinkTest",
        r#"Files.createSymbolicLink(Paths.get("mine"), Paths.get("data"));
        assertEquals(2, Files.readAllBytes(Paths.get("mine/a.txt")).length);"#,
        &["file data/a.txt"],
    ),
    (
        "CreationFailsTest",
        r#"assertFalse(new File("data/a.txt").createNewFile());
        try { new FileOutputStream("no/such/x"); fail(); } catch (IOException e) {}"#,
        &["absent no/such/x", "file data/a.txt"],
    ),
];

const SETTINGS: &[Case] = &[
    (
        "VariableTest",
        r#"assertEquals("here", System.getenv("SOME_VARIABLE")); assertNull(System.getenv("NO_VARIABLE"));"#,
        &["variable NO_VARIABLE", "variable SOME_VARIABLE"],
    ),
    (
        "AllVariablesTest",
        r#"assertEquals("here", System.getenv().get("SOME_VARIABLE"));"#,
        &["variable *"],
    ),
    (
        "PropertyTest",
        r#"assertEquals("1", System.getProperty("p.one")); assertNull(System.getProperty("p.no"));
        assertEquals("d", System.getProperty("p.default", "d"));"#,
        &["property p.default", "property p.no", "property p.one"],
    ),
    (
        "NumbersTest",
        r#"long base = 40; int deep = 1;
        assertEquals(1, (int) Integer.getInteger("p.one"));
        assertEquals(7, (int) Integer.getInteger("p.int", 7));
        assertEquals(8, (int) Integer.getInteger("p.integer", Integer.valueOf(8)));
        assertEquals(9L, (long) Long.getLong("p.long", base - 31 * deep));
        assertEquals(50L, base + Long.getLong("p.boxed", Long.valueOf(10)));
        assertNull(Long.getLong("p.none"));
        assertTrue(Boolean.getBoolean("p.flag"));"#,
        &[
            "property p.boxed",
            "property p.flag",
            "property p.int",
            "property p.integer",
            "property p.long",
            "property p.none",
            "property p.one",
        ],
    ),
    (
        "GivenPropertiesTest",
        r#"System.getProperty("java.version"); System.getProperty("os.name");
        System.getProperty("line.separator"); System.getProperty("user.home");"#,
        &["property user.home"],
    ),
    (
        "AllPropertiesTest",
        r#"assertEquals("1", System.getProperties().getProperty("p.one"));"#,
        &["property *"],
    ),
    (
        "MethodReferenceTest",
        r#"java.util.function.Function<String, String> get = System::getenv;
        assertEquals("here", get.apply("SOME_VARIABLE"));"#,
        &["variable *"],
    ),
];

/// What a test may be said to use besides, on old JDKs: the classes of method
/// references pass by the agent on Java 8, which then sees the name too.
fn is_due_to_the_jdk(jdk: &Jdk, test: &str, line: &str) -> bool {
    jdk.feature_version() == 8 && test == "MethodReferenceTest" && line == "variable SOME_VARIABLE"
}

fn suite(cases: &[Case]) -> Suite {
    let tests: Vec<_> = cases.iter().map(|(name, body, _)| (*name, *body)).collect();
    let suite = Suite::new(&tests, &[]);
    let project = &suite.project;
    for (path, content) in [
        ("data/a.txt", "a\n"),
        ("data/sub/b.properties", "b=1\n"),
        ("classes/res.txt", "r"),
    ] {
        project.write(path, content);
    }
    std::os::unix::fs::symlink("data/a.txt", project.path("link.txt")).unwrap();
    jar(project, "lib.jar", "in-jar.txt", "j");
    jar(project, "other.jar", "in-other.txt", "o");
    suite
}

fn jar(project: &TestProject, name: &str, entry: &str, content: &str) {
    let folder = format!("content-of-{name}");
    project.write(format!("{folder}/{entry}"), content);
    let tool = Jdk::default().home().join("bin/jar");
    Run::new(tool)
        .args(["cf", name, "-C", &folder, entry])
        .current_dir(project.root())
        .succeed()
        .unwrap();
    project.remove(folder);
}

/// Runs the cases with and without the agent, and compares what each window
/// holds with what it must.
fn check(cases: &[Case], prepare: impl Fn(&TestProject)) {
    for jdk in Jdk::old_and_new() {
        let suite = suite(cases);
        let run = |run: JavaRun| {
            prepare(&suite.project);
            run.classpath([suite.project.path("lib.jar")])
                .jvm_args(["-Dp.one=1", "-Dp.flag=true"])
                .env("SOME_VARIABLE", "here")
                .finish()
                .unwrap()
        };
        let plain = run(suite.plain(&jdk));
        assert!(plain.success(), "JDK {}: {}", jdk.version(), plain.stdout);
        let traced = run(suite.traced(&jdk));
        assert_same(&plain, &traced);
        let trace = suite.trace();
        let mut wrong = Vec::new();
        for (name, _, expected) in cases {
            let expected: BTreeSet<String> = expected.iter().map(|&line| line.into()).collect();
            let mut found = trace.of_test(name);
            found.retain(|line| !is_due_to_the_jdk(&jdk, name, line));
            if found != expected {
                wrong.push(format!("{name}\n   found {found:?}\nexpected {expected:?}"));
            }
        }
        assert!(
            wrong.is_empty(),
            "JDK {}\n{}\nambient {:?}",
            jdk.version(),
            wrong.join("\n"),
            trace.ambient()
        );
    }
}

#[test]
fn everything_that_is_read_counts_for_the_test_that_read_it() {
    check(READS, |_| {});
}

#[test]
fn what_a_test_makes_itself_is_no_input() {
    check(WRITES, |project| {
        for made in [
            "out1.txt",
            "out2.txt",
            "copy.txt",
            "move1.txt",
            "move2.txt",
            "move3.txt",
            "mine",
            "data/fresh.txt",
        ] {
            if project.path(made).symlink_metadata().is_ok() {
                std::fs::remove_file(project.path(made)).unwrap();
            }
        }
        for file in ["log", "state", "random", "doomed"] {
            project.write(format!("data/{file}.txt"), "x");
        }
    });
}

#[test]
fn variables_and_properties_count_by_name() {
    check(SETTINGS, |_| {});
}

/// Surefire puts the class path into the manifest of an otherwise empty jar.
#[test]
fn a_class_path_in_a_manifest_is_a_class_path() {
    let cases: &[Case] = &[
        (
            "ManifestTest",
            r#"assertTrue(new File("classes/res.txt").exists());
               assertNotNull(getClass().getResource("/in-jar.txt").openStream());"#,
            &["resource in-jar.txt", "resource res.txt"],
        ),
        (
            "ManifestJarTest",
            r#"new java.util.jar.JarFile("lib.jar").close();"#,
            &["file lib.jar"],
        ),
    ];
    for jdk in Jdk::old_and_new() {
        let suite = suite(cases);
        let project = &suite.project;
        let entries = [project.path("classes/"), project.path("lib.jar")];
        let entries = entries.into_iter().chain(support::junit());
        let urls: Vec<String> = entries
            .map(|entry| format!(" file:{}", entry.display()))
            .collect();
        // A line of a manifest has 72 bytes at most, and goes on with a space.
        let line: Vec<char> = format!("Class-Path:{}", urls.concat()).chars().collect();
        let lines: Vec<String> = line.chunks(70).map(String::from_iter).collect();
        project.write("manifest", lines.join("\n ") + "\n");
        Run::new(Jdk::default().home().join("bin/jar"))
            .args(["cfm", "booter.jar", "manifest"])
            .current_dir(project.root())
            .succeed()
            .unwrap();
        let finished = JavaRun::new(&jdk, "org.junit.runner.JUnitCore")
            .jvm_args([suite.agent_option()])
            .classpath([project.path("booter.jar")])
            .args(["ManifestTest", "ManifestJarTest"])
            .current_dir(project.root())
            .finish()
            .unwrap();
        assert!(finished.success(), "{}{}", finished.stdout, finished.stderr);
        let trace = suite.trace();
        for (name, _, expected) in cases {
            assert_eq!(Vec::from_iter(trace.of_test(name)), *expected);
        }
        // Some JDKs look for a logger.
        let ambient = trace.ambient();
        assert!(
            ambient.iter().all(|line| line.contains("LoggerFinder")),
            "{ambient:?}"
        );
    }
}
