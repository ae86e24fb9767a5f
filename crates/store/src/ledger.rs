//! What the store knows about tests, in the form that selection asks for.
//!
//! The heads of all records and all versions are in memory. What a record uses
//! is read when it is asked for: mostly only the newest record of a test is
//! looked at, and the older ones would take several times its memory.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use fewest_classfile::fingerprint::ClassFingerprints;
use fewest_model::{ClassName, TestId};
use roaring::RoaringBitmap;

use crate::class_parts;
use crate::codec::unpack_texts;
use crate::environment::Environment;
use crate::error::{Fault, ReadError};
use crate::intern::subject_sum;
use crate::reader::{Reader, RecordRow, TestRow, unpack_uses};
use crate::record::{Event, Events, Sequence};
use crate::table::{KnownVersion, VersionTable};

/// The records and histories of one module or of all.
#[derive(Debug)]
pub struct Ledger<'r> {
    reader: &'r Reader,
    tests: Vec<KnownTest>,
    records: Vec<KnownRecord>,
    versions: VersionTable,
}

/// A test that the store has heard of.
#[derive(Debug)]
pub struct KnownTest {
    pub id: TestId,
    /// Why its last run made no record.
    pub doubts: Vec<String>,
    /// How it ended, newest first.
    pub history: Vec<Event>,
    records: Range<u32>,
}

/// A record without what it uses.
#[derive(Debug)]
pub struct KnownRecord {
    pub environment: Arc<Environment>,
    /// Events with a higher one came after this record.
    pub sequence: Sequence,
    pub made_at: i64,
    pub millis: u32,
    pub revision: Option<Arc<str>>,
    row: i64,
    test: u32,
    uses_sum: i64,
}

impl<'r> Ledger<'r> {
    pub(crate) fn load(reader: &'r Reader, module: Option<&str>) -> Result<Self, Fault> {
        let mut tests = load_tests(reader, module)?;
        let environments = load_environments(reader)?;
        let records = load_records(reader, module, &mut tests, &environments)?;
        let tests = tests.into_iter().map(|(_, test)| test).collect();
        let mut ledger = Self {
            reader,
            tests,
            records,
            versions: VersionTable::default(),
        };
        let wanted = match module {
            // Most projects have one module, and then everything is of it.
            Some(module) if has_other_modules(reader, module)? => Some(ledger.all_uses()?),
            _ => None,
        };
        ledger.versions = load_versions(reader, wanted.as_ref())?;
        Ok(ledger)
    }

    /// The tests, by id.
    pub fn tests(&self) -> &[KnownTest] {
        &self.tests
    }

    pub fn test(&self, id: &TestId) -> Option<&KnownTest> {
        let index = self.tests.binary_search_by(|test| test.id.cmp(id)).ok()?;
        Some(&self.tests[index])
    }

    /// The tests of a class: itself and its methods.
    pub fn tests_of_class(&self, module: &str, class: &ClassName) -> &[KnownTest] {
        let compare = |test: &KnownTest| (&*test.id.module, &test.id.class).cmp(&(module, class));
        let start = self.tests.partition_point(|test| compare(test).is_lt());
        let rest = &self.tests[start..];
        &rest[..rest.partition_point(|test| compare(test).is_eq())]
    }

    /// The records of all tests.
    pub fn records(&self) -> &[KnownRecord] {
        &self.records
    }

    /// The records of a test of this ledger, newest first.
    pub fn records_of(&self, test: &KnownTest) -> &[KnownRecord] {
        &self.records[test.records.start as usize..test.records.end as usize]
    }

    /// The test that a record of this ledger is about.
    pub fn test_of(&self, record: &KnownRecord) -> &KnownTest {
        &self.tests[record.test as usize]
    }

    /// All versions that the records use, and some that none uses any more.
    pub fn versions(&self) -> &VersionTable {
        &self.versions
    }

    /// The versions that a record of this ledger uses.
    pub fn uses(&self, record: &KnownRecord) -> Result<RoaringBitmap, ReadError> {
        self.reader.guarded(|_| self.read_uses(record))
    }

    /// The records that use any of some versions.
    pub fn users_of(&self, versions: &RoaringBitmap) -> Result<Vec<&KnownRecord>, ReadError> {
        let mut users = Vec::new();
        for record in &self.records {
            if !self.uses(record)?.is_disjoint(versions) {
                users.push(record);
            }
        }
        Ok(users)
    }

    /// What the class behind a version consists of. `None` for what is no
    /// whole class, and for one that was recorded without its parts.
    pub fn class_of(
        &self,
        version: &KnownVersion<'_>,
    ) -> Result<Option<ClassFingerprints>, ReadError> {
        let Some(name) = version.whole_class() else {
            return Ok(None);
        };
        self.reader.guarded(|connection| {
            class_parts::load(connection, version.id, name, version.fingerprint)
        })
    }

    fn all_uses(&self) -> Result<RoaringBitmap, Fault> {
        let mut all = RoaringBitmap::new();
        for record in &self.records {
            let mut uses = self.read_uses(record)?;
            // The union of runs goes run by run, that of bits in one sweep.
            uses.remove_run_compression();
            all |= uses;
        }
        Ok(all)
    }

    fn read_uses(&self, record: &KnownRecord) -> Result<RoaringBitmap, Fault> {
        let mut statement = self
            .reader
            .connection
            .prepare_cached("SELECT versions FROM uses WHERE record = ?")?;
        let mut rows = statement.query((record.row,))?;
        let row = rows
            .next()?
            .ok_or_else(|| crate::reader::lost_uses(record.row))?;
        let packed = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
        unpack_uses(record.row, packed, record.uses_sum)
    }
}

fn has_other_modules(reader: &Reader, module: &str) -> Result<bool, Fault> {
    let mut statement = reader
        .connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM test WHERE module <> ?)")?;
    Ok(statement.query_row((module,), |row| row.get(0))?)
}

/// The tests with their rows, sorted by id.
fn load_tests(reader: &Reader, module: Option<&str>) -> Result<Vec<(i64, KnownTest)>, Fault> {
    let mut modules = BTreeMap::<String, Arc<str>>::new();
    let mut tests = Vec::new();
    let mut statement = reader.connection.prepare_cached(
        "SELECT id, module, class, method, doubts, history, sum FROM test \
         WHERE ?1 IS NULL OR module = ?1",
    )?;
    let mut rows = statement.query((module,))?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let string =
            |column| -> Result<&str, rusqlite::Error> { Ok(row.get_ref(column)?.as_str()?) };
        let bytes =
            |column| -> Result<&[u8], rusqlite::Error> { Ok(row.get_ref(column)?.as_blob()?) };
        let module = string(1)?;
        let module = match modules.get(module) {
            Some(module) => Arc::clone(module),
            None => Arc::clone(modules.entry(module.to_owned()).or_insert(module.into())),
        };
        let test = TestId {
            module,
            class: ClassName::new(string(2)?),
            method: string(3)?.strip_prefix('#').map(Arc::from),
        };
        let (doubts, history) = (bytes(4)?, bytes(5)?);
        if TestRow::sum(id, &test, doubts, history) != row.get::<_, i64>(6)? {
            return Err(Fault::sum("test", id));
        }
        let test = KnownTest {
            id: test,
            doubts: unpack_texts(doubts)?,
            history: Events::of(history).collect::<Result<_, _>>()?,
            records: 0..0,
        };
        tests.push((id, test));
    }
    tests.sort_unstable_by(|(_, a), (_, b)| a.id.cmp(&b.id));
    Ok(tests)
}

fn load_environments(reader: &Reader) -> Result<BTreeMap<i64, Arc<Environment>>, Fault> {
    let mut environments = BTreeMap::new();
    let mut statement = reader
        .connection
        .prepare_cached("SELECT id, fingerprint, facts FROM environment")?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        let facts = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
        let environment = Environment::unpack(facts)?;
        if row.get::<_, Vec<u8>>(1)? != environment.fingerprint().as_bytes() {
            return Err(Fault::sum("environment", id));
        }
        environments.insert(id, Arc::new(environment));
    }
    Ok(environments)
}

/// The records by test, the newest of each first.
fn load_records(
    reader: &Reader,
    module: Option<&str>,
    tests: &mut [(i64, KnownTest)],
    environments: &BTreeMap<i64, Arc<Environment>>,
) -> Result<Vec<KnownRecord>, Fault> {
    let places: BTreeMap<i64, u32> = (0_u32..)
        .zip(tests.iter())
        .map(|(place, (row, _))| (*row, place))
        .collect();
    let columns = RecordRow::COLUMNS;
    let mut statement = reader.connection.prepare_cached(&match module {
        Some(_) => format!(
            "SELECT {columns} FROM test JOIN record ON record.test = test.id \
             WHERE test.module = ?1"
        ),
        None => format!("SELECT {columns} FROM record WHERE ?1 IS NULL"),
    })?;
    let mut records = Vec::new();
    let mut rows = statement.query((module,))?;
    while let Some(row) = rows.next()? {
        let row = RecordRow::parse(row)?;
        let lost = |what| Fault::Damaged(format!("record {} has lost its {what}", row.id));
        let test = *places.get(&row.test).ok_or_else(|| lost("test"))?;
        let environment = environments
            .get(&row.environment)
            .ok_or_else(|| lost("environment"))?;
        records.push(KnownRecord {
            environment: Arc::clone(environment),
            sequence: row.sequence,
            made_at: row.made_at,
            millis: row.millis,
            revision: row.revision,
            row: row.id,
            test,
            uses_sum: row.uses_sum,
        });
    }
    records.sort_unstable_by_key(|record| (record.test, std::cmp::Reverse(record.sequence)));
    for (place, record) in (0_u32..).zip(&records) {
        let range = &mut tests[record.test as usize].1.records;
        if range.start == range.end {
            *range = place..place;
        }
        range.end = place + 1;
    }
    Ok(records)
}

fn load_versions(reader: &Reader, wanted: Option<&RoaringBitmap>) -> Result<VersionTable, Fault> {
    let mut table = VersionTable::default();
    let mut statement = reader
        .connection
        .prepare_cached("SELECT id, name, versions, sum FROM subject")?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let name = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        let versions = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
        if row.get::<_, i64>(3)? != subject_sum(name, versions) {
            return Err(Fault::sum("subject", row.get(0)?));
        }
        table.add(name, versions, wanted)?;
    }
    Ok(table)
}
