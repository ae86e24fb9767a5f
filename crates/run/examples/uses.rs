//! Prints what each test uses according to the records of a store: a line per
//! test and element, for comparing records with what another tool has seen.
//!
//!     cargo run --example uses -- .fewest

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use fewest_store::{Reader, VersionId};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os()
        .nth(1)
        .ok_or("name the folder that holds the store")?;
    let reader = Reader::open(Path::new(&folder))?;
    let ledger = reader.ledger(None)?;
    let mut out = BufWriter::new(io::stdout().lock());
    for record in ledger.records() {
        let test = ledger.test_of(record);
        for number in ledger.uses(record)? {
            if let Some(version) = ledger.versions().get(VersionId(number)) {
                writeln!(out, "{}\t{}", test.id, version.text())?;
            }
        }
    }
    Ok(out.flush()?)
}
