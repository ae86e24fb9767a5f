//! One transaction: all of it is kept, or nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fewest_classfile::fingerprint::ClassFingerprints;
use fewest_model::{Fingerprint, TestId, Version};
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use crate::class_parts;
use crate::codec::{Packer, pack_texts};
use crate::environment::Environment;
use crate::error::{Fault, WriteError};
use crate::files::Files;
use crate::intern::{Entries, Interner, save_subject, subject_sum};
use crate::open::{Limits, Store};
use crate::reader::{RecordRow, RunRow, TestRow, lost_uses, method_column, unpack_uses, uses_sum};
use crate::record::{
    Ending, Event, NewRun, Pass, Record, RunId, Sequence, VersionId, extend_history,
};
use crate::schema::State;

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    New,
    /// The test had passed with the same uses in the same environment before;
    /// that record is the newest one now.
    Refreshed,
}

/// What a search for unused rows removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    pub versions: u64,
    pub environments: u64,
    pub runs: u64,
}

/// Writes to the store. Dropping it undoes everything.
///
/// After a failure of the store itself the transaction is void: it can only
/// be dropped, and [`Writer::commit`] refuses.
#[derive(Debug)]
pub struct Writer<'s> {
    work: Work<'s>,
    void: bool,
}

impl<'s> Writer<'s> {
    pub(crate) fn begin(store: &'s mut Store) -> Result<Self, WriteError> {
        let files = store.files.clone();
        let limits = store.limits;
        let fail = |fault: Fault| {
            let error = fault.on_write(&files.database(), files.holder());
            if let WriteError::Damaged { what, .. } = &error {
                files.suspect(what);
            }
            error
        };
        let transaction = store
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| fail(error.into()))?;
        let state = State::load(&transaction).map_err(fail)?;
        files.write_holder();
        Ok(Self {
            work: Work {
                transaction: Some(transaction),
                files,
                limits,
                state,
                interner: Interner::default(),
                tests: BTreeMap::new(),
                environments: BTreeMap::new(),
            },
            void: false,
        })
    }

    /// The number of a version in this store, a new one if need be. It holds
    /// until this transaction ends or [`Writer::collect`] is called.
    pub fn intern(&mut self, version: &Version) -> Result<VersionId, WriteError> {
        self.guarded(|work| work.intern(version))
    }

    /// Keeps what the class behind a version consists of, so that it can be
    /// told later how the class has changed.
    pub fn describe(
        &mut self,
        version: &Version,
        class: &ClassFingerprints,
    ) -> Result<(), WriteError> {
        self.guarded(|work| {
            let id = work.intern(version)?;
            Ok(class_parts::save(work.connection(), id, class)?)
        })
    }

    /// Keeps a record, and drops the test's oldest beyond the limits.
    pub fn add_record(&mut self, record: &Record) -> Result<Added, WriteError> {
        let mut uses = RoaringBitmap::new();
        for version in &record.uses {
            uses.insert(self.intern(version)?.0);
        }
        self.add_pass(&record.pass, uses)
    }

    /// As [`Writer::add_record`], with versions that [`Writer::intern`] has
    /// numbered in this transaction.
    pub fn add_pass(&mut self, pass: &Pass, uses: RoaringBitmap) -> Result<Added, WriteError> {
        let test = || pass.test.clone();
        match uses.max() {
            None => return Err(WriteError::NothingUsed { test: test() }),
            Some(max) if max >= self.work.state.next_version => {
                return Err(WriteError::UnknownVersion { test: test() });
            }
            Some(_) => {}
        }
        self.guarded(|work| Ok(work.add_pass(pass, uses)?))
    }

    /// Adds to the history of a test.
    pub fn add_outcome(&mut self, test: &TestId, ending: Ending) -> Result<(), WriteError> {
        self.guarded(|work| Ok(work.add_outcome(test, ending)?))
    }

    /// Replaces the reasons why a test has no record of its last run. A new
    /// record clears them.
    pub fn set_doubts(&mut self, test: &TestId, doubts: &[String]) -> Result<(), WriteError> {
        self.guarded(|work| {
            let row = work.test(test)?;
            row.doubts = pack_texts(doubts);
            row.changed = true;
            Ok(())
        })
    }

    /// Drops all records of a test, and keeps its history. For a test that
    /// must run whatever its records say.
    pub fn drop_records(&mut self, test: &TestId) -> Result<(), WriteError> {
        self.guarded(|work| Ok(work.drop_records(test)?))
    }

    /// Drops everything about a test, for one that is gone from the project.
    pub fn forget(&mut self, test: &TestId) -> Result<(), WriteError> {
        self.guarded(|work| Ok(work.forget(test)?))
    }

    pub fn begin_run(&mut self, run: &NewRun) -> Result<RunId, WriteError> {
        self.guarded(|work| {
            let row = RunRow {
                begun: run.clone(),
                finished_at: None,
                full: false,
            };
            Ok(row.insert(work.connection())?)
        })
    }

    /// Says that a run came to its end, and whether it ran every test.
    pub fn finish_run(
        &mut self,
        run: RunId,
        finished_at: i64,
        full: bool,
    ) -> Result<(), WriteError> {
        let found = self.guarded(|work| {
            let Some(mut row) = RunRow::load(work.connection(), run)? else {
                return Ok(false);
            };
            row.finished_at = Some(finished_at);
            row.full = full;
            row.update(work.connection(), run)?;
            Ok(true)
        })?;
        if found {
            Ok(())
        } else {
            Err(WriteError::UnknownRun { run })
        }
    }

    /// Removes versions and environments that no record needs, and old runs.
    /// [`Writer::commit`] does this by itself when enough was dropped.
    pub fn collect(&mut self) -> Result<Collected, WriteError> {
        self.guarded(|work| Ok(work.collect()?))
    }

    /// Makes everything that was written visible to others, for good.
    pub fn commit(mut self) -> Result<(), WriteError> {
        self.guarded(|work| Ok(work.finish()?))
    }

    fn guarded<T>(
        &mut self,
        job: impl FnOnce(&mut Work<'s>) -> Result<T, JobError>,
    ) -> Result<T, WriteError> {
        if self.void {
            return Err(WriteError::Void);
        }
        job(&mut self.work).map_err(|error| {
            self.void = true;
            self.work.report(error)
        })
    }
}

#[derive(Debug)]
enum JobError {
    Fault(Fault),
    Exhausted,
}

impl From<Fault> for JobError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// A test's row, written back at the end.
#[derive(Debug)]
struct OpenTest {
    id: i64,
    doubts: Vec<u8>,
    history: Vec<u8>,
    changed: bool,
}

#[derive(Debug)]
struct Work<'s> {
    /// `None` once it is committed.
    transaction: Option<Transaction<'s>>,
    files: Files,
    limits: Limits,
    state: State,
    interner: Interner,
    tests: BTreeMap<TestId, OpenTest>,
    environments: BTreeMap<Fingerprint, i64>,
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        // Only the one who holds the write lock may remove its name, so this
        // comes before the transaction ends.
        if self.transaction.is_some() {
            self.files.remove_holder();
        }
    }
}

impl Work<'_> {
    fn connection(&self) -> &Connection {
        self.transaction
            .as_ref()
            .expect("the transaction ends with the writer")
    }

    fn path(&self) -> PathBuf {
        self.files.database()
    }

    fn report(&self, error: JobError) -> WriteError {
        let error = match error {
            JobError::Fault(fault) => fault.on_write(&self.path(), None),
            JobError::Exhausted => WriteError::Exhausted { path: self.path() },
        };
        if let WriteError::Damaged { what, .. } = &error {
            self.files.suspect(what);
        }
        error
    }

    fn intern(&mut self, version: &Version) -> Result<VersionId, JobError> {
        if self.state.next_version == u32::MAX {
            return Err(JobError::Exhausted);
        }
        let transaction = self
            .transaction
            .as_ref()
            .expect("the transaction ends with the writer");
        let next = &mut self.state.next_version;
        Ok(self.interner.intern(transaction, version, next)?)
    }

    fn next_sequence(&mut self) -> Sequence {
        let sequence = self.state.next_sequence;
        self.state.next_sequence += 1;
        Sequence(sequence)
    }

    fn test(&mut self, test: &TestId) -> Result<&mut OpenTest, Fault> {
        if !self.tests.contains_key(test) {
            let open = open_test(self.connection(), test)?;
            self.tests.insert(test.clone(), open);
        }
        Ok(self.tests.get_mut(test).expect("it was just put there"))
    }

    /// The row of a test that need not be known.
    fn known_test(&self, test: &TestId) -> Result<Option<i64>, Fault> {
        match self.tests.get(test) {
            Some(open) => Ok(Some(open.id)),
            None => Ok(TestRow::find(self.connection(), test)?.map(|row| row.row)),
        }
    }

    fn add_pass(&mut self, pass: &Pass, mut uses: RoaringBitmap) -> Result<Added, Fault> {
        let row = self.test(&pass.test)?;
        let test = row.id;
        if !row.doubts.is_empty() {
            row.doubts.clear();
            row.changed = true;
        }
        let environment = self.environment(&pass.environment)?;
        uses.optimize();
        let mut packed = Vec::with_capacity(uses.serialized_size());
        uses.serialize_into(&mut packed)
            .map_err(|error| Fault::Damaged(error.to_string()))?;
        let mut row = RecordRow {
            id: 0,
            test,
            environment,
            sequence: self.next_sequence(),
            made_at: pass.made_at,
            millis: pass.millis,
            revision: pass.revision.clone(),
            uses_sum: uses_sum(&packed),
        };
        let mut records = RecordRow::of_test(self.connection(), test)?;
        if let Some(same) = self.find_same(&records, &row, &packed)? {
            row.id = same;
            row.update(self.connection())?;
            return Ok(Added::Refreshed);
        }
        row.insert(self.connection(), &packed)?;
        records.push(row);
        self.drop_beyond_limits(records)?;
        Ok(Added::New)
    }

    fn find_same(
        &self,
        records: &[RecordRow],
        new: &RecordRow,
        packed: &[u8],
    ) -> Result<Option<i64>, Fault> {
        for old in records {
            if (old.environment, old.uses_sum) == (new.environment, new.uses_sum)
                && old.packed_uses(self.connection())? == packed
            {
                return Ok(Some(old.id));
            }
        }
        Ok(None)
    }

    fn drop_beyond_limits(&mut self, mut records: Vec<RecordRow>) -> Result<(), Fault> {
        records.sort_unstable_by_key(|record| std::cmp::Reverse(record.sequence));
        let mut kept = 0;
        let mut kept_in = BTreeMap::<i64, usize>::new();
        for record in &records {
            let kept_here = kept_in.entry(record.environment).or_default();
            if kept < self.limits.records_per_test.max(1)
                && *kept_here < self.limits.records_per_environment.max(1)
            {
                kept += 1;
                *kept_here += 1;
            } else {
                self.drop_record(record.id)?;
            }
        }
        Ok(())
    }

    fn drop_record(&mut self, record: i64) -> Result<(), Fault> {
        for sql in [
            "DELETE FROM record WHERE id = ?",
            "DELETE FROM uses WHERE record = ?",
        ] {
            self.connection().prepare_cached(sql)?.execute((record,))?;
        }
        self.state.dropped += 1;
        Ok(())
    }

    fn drop_records(&mut self, test: &TestId) -> Result<(), Fault> {
        let Some(test) = self.known_test(test)? else {
            return Ok(());
        };
        for record in RecordRow::of_test(self.connection(), test)? {
            self.drop_record(record.id)?;
        }
        Ok(())
    }

    fn forget(&mut self, test: &TestId) -> Result<(), Fault> {
        self.drop_records(test)?;
        let Some(row) = self.known_test(test)? else {
            return Ok(());
        };
        self.tests.remove(test);
        self.connection()
            .prepare_cached("DELETE FROM test WHERE id = ?")?
            .execute((row,))?;
        Ok(())
    }

    fn add_outcome(&mut self, test: &TestId, ending: Ending) -> Result<(), Fault> {
        let sequence = self.next_sequence();
        let limit = self.limits.events.max(1);
        let row = self.test(test)?;
        row.history = extend_history(&row.history, &Event { ending, sequence }, limit)?;
        row.changed = true;
        Ok(())
    }

    fn environment(&mut self, environment: &Environment) -> Result<i64, Fault> {
        let fingerprint = environment.fingerprint();
        if let Some(&row) = self.environments.get(&fingerprint) {
            return Ok(row);
        }
        let row = environment_row(self.connection(), environment)?;
        self.environments.insert(fingerprint, row);
        Ok(row)
    }

    fn finish(&mut self) -> Result<(), Fault> {
        let records: i64 =
            self.connection()
                .query_row("SELECT count(*) FROM record", (), |row| row.get(0))?;
        if self.state.dropped >= self.limits.dropped.max(records as u64 / 4) {
            self.collect()?;
        }
        self.flush()?;
        self.files.remove_holder();
        match self.transaction.take() {
            Some(transaction) => Ok(transaction.commit()?),
            None => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), Fault> {
        let transaction = self
            .transaction
            .as_ref()
            .expect("the transaction ends with the writer");
        self.interner.flush(transaction)?;
        for (id, open) in &mut self.tests {
            if open.changed {
                save_test(transaction, id, open)?;
                open.changed = false;
            }
        }
        self.state.save(transaction)
    }

    fn collect(&mut self) -> Result<Collected, Fault> {
        self.flush()?;
        let connection = self.connection();
        let used = used_versions(connection)?;
        class_parts::drop_unused(connection, &used)?;
        let collected = Collected {
            versions: drop_unused_versions(connection, &used)?,
            environments: connection.execute(
                "DELETE FROM environment WHERE id NOT IN (SELECT environment FROM record)",
                (),
            )? as u64,
            runs: drop_old_runs(connection, self.limits.runs)?,
        };
        self.interner.clear();
        self.environments.clear();
        self.state.dropped = 0;
        Ok(collected)
    }
}

fn open_test(connection: &Connection, test: &TestId) -> Result<OpenTest, Fault> {
    if let Some(row) = TestRow::find(connection, test)? {
        return Ok(OpenTest {
            id: row.row,
            doubts: row.doubts,
            history: row.history,
            changed: false,
        });
    }
    connection
        .prepare_cached(
            "INSERT INTO test (module, class, method, doubts, history, sum) \
             VALUES (?, ?, ?, x'', x'', 0)",
        )?
        .execute((&*test.module, test.class.as_str(), method_column(test)))?;
    Ok(OpenTest {
        id: connection.last_insert_rowid(),
        doubts: Vec::new(),
        history: Vec::new(),
        changed: true,
    })
}

fn save_test(connection: &Connection, test: &TestId, open: &OpenTest) -> Result<(), Fault> {
    let sum = TestRow::sum(open.id, test, &open.doubts, &open.history);
    connection
        .prepare_cached("UPDATE test SET doubts = ?, history = ?, sum = ? WHERE id = ?")?
        .execute((&open.doubts, &open.history, sum, open.id))?;
    Ok(())
}

fn environment_row(connection: &Connection, environment: &Environment) -> Result<i64, Fault> {
    let fingerprint = environment.fingerprint();
    let found = connection
        .prepare_cached("SELECT id FROM environment WHERE fingerprint = ?")?
        .query_row((fingerprint.as_bytes(),), |row| row.get(0))
        .optional()?;
    if let Some(row) = found {
        return Ok(row);
    }
    connection
        .prepare_cached("INSERT INTO environment (fingerprint, facts) VALUES (?, ?)")?
        .execute((fingerprint.as_bytes(), environment.pack()))?;
    Ok(connection.last_insert_rowid())
}

fn used_versions(connection: &Connection) -> Result<RoaringBitmap, Fault> {
    let mut all = RoaringBitmap::new();
    let mut statement = connection.prepare(
        "SELECT record.id, uses.versions, record.uses_sum \
         FROM record LEFT JOIN uses ON uses.record = record.id",
    )?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let record = row.get(0)?;
        let packed = row.get_ref(1)?.as_blob().map_err(|_| lost_uses(record))?;
        let mut uses = unpack_uses(record, packed, row.get(2)?)?;
        // The union of runs goes run by run, that of bits in one sweep.
        uses.remove_run_compression();
        all |= uses;
    }
    Ok(all)
}

fn drop_unused_versions(connection: &Connection, used: &RoaringBitmap) -> Result<u64, Fault> {
    let mut dropped = 0;
    let mut changes = Vec::new();
    let mut statement = connection.prepare("SELECT id, name, versions, sum FROM subject")?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let name = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        let versions = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
        if row.get::<_, i64>(3)? != subject_sum(name, versions) {
            return Err(Fault::sum("subject", row.get(0)?));
        }
        let mut rest = Packer::default();
        let mut unused = 0;
        for entry in Entries::of(versions) {
            let entry = entry?;
            if used.contains(entry.id.0) {
                entry.pack(&mut rest);
            } else {
                unused += 1;
            }
        }
        if unused > 0 {
            dropped += unused;
            changes.push((row.get::<_, i64>(0)?, name.to_owned(), rest.finish()));
        }
    }
    for (row, name, rest) in changes {
        if rest.is_empty() {
            connection
                .prepare_cached("DELETE FROM subject WHERE id = ?")?
                .execute((row,))?;
        } else {
            save_subject(connection, &name, &rest)?;
        }
    }
    Ok(dropped)
}

/// The newest full run stays, however old: runs are counted from it.
fn drop_old_runs(connection: &Connection, limit: usize) -> Result<u64, Fault> {
    Ok(connection.execute(
        "DELETE FROM run \
         WHERE id NOT IN (SELECT id FROM run ORDER BY id DESC LIMIT ?) \
         AND id IS NOT (SELECT max(id) FROM run WHERE full AND finished_at IS NOT NULL)",
        (limit as i64,),
    )? as u64)
}
