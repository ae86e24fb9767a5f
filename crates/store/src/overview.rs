//! A few numbers about the store, for people.

use std::sync::Arc;

use fewest_model::{ClassName, TestId};
use rusqlite::Connection;

use crate::error::{Fault, ReadError};
use crate::reader::Reader;

/// What there is in a store, without looking at it closely.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    /// Test classes with at least one record, of their own or of a method.
    pub tests: u64,
    pub records: u64,
    /// The commits at which records were made, newest first.
    pub revisions: Vec<String>,
}

impl Reader {
    /// Counts what there is. Cheap, and not checked against the sums: nothing
    /// may be decided by it.
    pub fn overview(&self) -> Result<Overview, ReadError> {
        self.guarded(count)
    }

    /// The tests that the store has heard of, in no order that counts.
    pub fn test_ids(&self) -> Result<Vec<TestId>, ReadError> {
        self.guarded(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT module, class, method FROM test")?;
            let ids = statement.query_map((), |row| {
                let method: String = row.get(2)?;
                Ok(TestId {
                    module: row.get::<_, String>(0)?.into(),
                    class: ClassName::new(row.get::<_, String>(1)?),
                    method: method.strip_prefix('#').map(Arc::from),
                })
            })?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
    }
}

fn count(connection: &Connection) -> Result<Overview, Fault> {
    let (tests, records) = connection.query_row(
        "SELECT (SELECT count(*) FROM (SELECT DISTINCT module, class FROM test \
         WHERE id IN (SELECT test FROM record))), count(*) FROM record",
        (),
        |row| Ok((row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64)),
    )?;
    let mut statement = connection.prepare_cached(
        "SELECT revision FROM record WHERE revision IS NOT NULL \
         GROUP BY revision ORDER BY max(sequence) DESC",
    )?;
    let revisions = statement.query_map((), |row| row.get(0))?;
    Ok(Overview {
        tests,
        records,
        revisions: revisions.collect::<Result<_, _>>()?,
    })
}
