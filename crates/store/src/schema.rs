//! The tables, and the steps that bring an older file up to date.

use rusqlite::{Connection, TransactionBehavior};

use crate::error::Fault;
use crate::sum::Sum;

/// Marks a SQLite file as a store of fewest: "fwst".
pub(crate) const APPLICATION_ID: u32 = 0x6677_7374;

/// One step from a version of the schema to the next.
pub(crate) type Step = fn(&Connection) -> Result<(), Fault>;

/// Step number *n* leads from version *n* to *n* + 1. Steps that were once
/// released never change.
pub(crate) const STEPS: &[Step] = &[first, class_parts];

/// The version of the schema that this crate reads and writes.
pub const SCHEMA_VERSION: u32 = STEPS.len() as u32;

/// Brings the file to the newest version, all steps at once or none.
pub(crate) fn migrate(connection: &mut Connection, steps: &[Step]) -> Result<(), Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    for step in steps.iter().skip(found as usize) {
        step(&transaction)?;
    }
    transaction.pragma_update(None, "user_version", steps.len() as u32)?;
    transaction.commit()?;
    Ok(())
}

pub(crate) fn version(connection: &Connection) -> Result<u32, Fault> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// What the `state` row holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// The number of the next new version. Numbers are never given twice: if
    /// pruning ever dropped a version too many, a record would name a number
    /// that means nothing, and its test would run. A number with a new meaning
    /// could leave it out.
    pub(crate) next_version: u32,
    pub(crate) next_sequence: u64,
    /// Records dropped since versions were last collected.
    pub(crate) dropped: u64,
}

impl State {
    fn sum(self) -> i64 {
        Sum::of("state")
            .integer(i64::from(self.next_version))
            .integer(self.next_sequence as i64)
            .integer(self.dropped as i64)
            .finish()
    }

    pub(crate) fn load(connection: &Connection) -> Result<Self, Fault> {
        let mut statement = connection
            .prepare_cached("SELECT next_version, next_sequence, dropped, sum FROM state")?;
        let (state, sum) = statement.query_row((), |row| {
            let state = Self {
                next_version: row.get(0)?,
                next_sequence: row.get::<_, i64>(1)? as u64,
                dropped: row.get::<_, i64>(2)? as u64,
            };
            Ok((state, row.get::<_, i64>(3)?))
        })?;
        if sum == state.sum() {
            Ok(state)
        } else {
            Err(Fault::sum("state", 1))
        }
    }

    pub(crate) fn save(self, connection: &Connection) -> Result<(), Fault> {
        connection
            .prepare_cached(
                "REPLACE INTO state (id, next_version, next_sequence, dropped, sum) \
                 VALUES (1, ?, ?, ?, ?)",
            )?
            .execute((
                self.next_version,
                self.next_sequence as i64,
                self.dropped as i64,
                self.sum(),
            ))?;
        Ok(())
    }
}

fn first(connection: &Connection) -> Result<(), Fault> {
    connection.execute_batch(
        "
        CREATE TABLE state (
            id            INTEGER PRIMARY KEY CHECK (id = 1),
            next_version  INTEGER NOT NULL,
            next_sequence INTEGER NOT NULL,
            dropped       INTEGER NOT NULL,
            sum           INTEGER NOT NULL
        );
        CREATE TABLE environment (
            id          INTEGER PRIMARY KEY,
            fingerprint BLOB NOT NULL UNIQUE,
            facts       BLOB NOT NULL
        );
        CREATE TABLE subject (
            id       INTEGER PRIMARY KEY,
            name     TEXT NOT NULL UNIQUE,
            versions BLOB NOT NULL,
            sum      INTEGER NOT NULL
        );
        CREATE TABLE test (
            id      INTEGER PRIMARY KEY,
            module  TEXT NOT NULL,
            class   TEXT NOT NULL,
            method  TEXT NOT NULL,
            doubts  BLOB NOT NULL,
            history BLOB NOT NULL,
            sum     INTEGER NOT NULL,
            UNIQUE (module, class, method)
        );
        CREATE TABLE record (
            id          INTEGER PRIMARY KEY,
            test        INTEGER NOT NULL,
            environment INTEGER NOT NULL,
            sequence    INTEGER NOT NULL,
            made_at     INTEGER NOT NULL,
            millis      INTEGER NOT NULL,
            revision    TEXT,
            uses_sum    INTEGER NOT NULL,
            sum         INTEGER NOT NULL
        );
        CREATE INDEX record_by_test ON record (test);
        CREATE TABLE uses (
            record   INTEGER PRIMARY KEY,
            versions BLOB NOT NULL
        );
        CREATE TABLE run (
            id          INTEGER PRIMARY KEY AUTOINCREMENT,
            started_at  INTEGER NOT NULL,
            finished_at INTEGER,
            revision    TEXT,
            command     TEXT NOT NULL,
            technique   TEXT NOT NULL,
            full        INTEGER NOT NULL,
            sum         INTEGER NOT NULL
        );
        ",
    )?;
    State::default().save(connection)
}

/// What the classes behind versions consist of.
fn class_parts(connection: &Connection) -> Result<(), Fault> {
    connection.execute_batch(
        "
        CREATE TABLE class_parts (
            version INTEGER PRIMARY KEY,
            parts   BLOB NOT NULL,
            sum     INTEGER NOT NULL
        );
        ",
    )?;
    Ok(())
}
