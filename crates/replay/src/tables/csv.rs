//! Rows for a spreadsheet.

use super::short;
use crate::results::{Line, Revision, Selection, Suite};

const HEAD: &str = "revision,technique,mode,selected,tests,methods,all_methods,test_seconds,\
                    all_test_seconds,analysis,aec,ae,full,failed,found,missed\n";

/// One row for each revision and technique.
pub fn csv(lines: &[Line]) -> String {
    let mut text = HEAD.to_owned();
    for line in lines {
        if let Line::Revision(revision) = line {
            for (name, selection) in &revision.techniques {
                text.push_str(&row(revision, name, selection).join(","));
                text.push('\n');
            }
        }
    }
    text
}

fn row(revision: &Revision, name: &str, selection: &Selection) -> Vec<String> {
    let full = |value: fn(&Suite) -> String| revision.full.as_ref().map(value).unwrap_or_default();
    vec![
        short(&revision.revision).to_owned(),
        name.to_owned(),
        format!("{:?}", revision.mode).to_lowercase(),
        selection.selected.len().to_string(),
        selection.tests.to_string(),
        selection.methods.to_string(),
        full(|full| full.methods.to_string()),
        seconds(Some(selection.test_millis)),
        full(|full| seconds(Some(full.test_millis))),
        seconds(selection.analysis_millis),
        seconds(Some(selection.aec_millis)),
        seconds(selection.ae_millis),
        full(|full| seconds(Some(full.millis))),
        full(|full| full.failed.len().to_string()),
        selection.failed.len().to_string(),
        selection.missed.len().to_string(),
    ]
}

fn seconds(millis: Option<u64>) -> String {
    millis.map_or(String::new(), |millis| {
        format!("{:.3}", millis as f64 / 1000.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::examples::study;

    #[test]
    fn a_spreadsheet_has_empty_cells_where_nothing_was_measured() {
        insta::assert_snapshot!(csv(&study()[..1]));
    }
}
