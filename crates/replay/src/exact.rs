//! Every technique by itself, as a user would have run it.

use std::path::Path;

use crate::files;
use crate::maven::Leave;
use crate::replay::{Replay, ReplayError, Stores, median, selection, unstable};
use crate::results::{Revision, Selection, Suite};
use crate::variant::Variant;

impl Replay {
    pub(crate) fn measure_exactly(
        &self,
        revision: &mut Revision,
        stores: &Stores,
    ) -> Result<(), ReplayError> {
        if self.settings.full {
            self.full_suite(revision)?;
        }
        for variant in in_turn(&self.settings.variants, &revision.revision) {
            let selection = self.select(&variant, stores)?;
            revision.techniques.insert(variant.name(), selection);
        }
        Ok(())
    }

    fn full_suite(&self, revision: &mut Revision) -> Result<(), ReplayError> {
        let times = self.settings.runs.max(self.settings.stability).max(1);
        let mut suites: Vec<Suite> = Vec::new();
        for _ in 0..times {
            suites.push(self.maven.full_suite()?);
        }
        revision.unstable = unstable(&suites);
        let millis = median(suites.iter().map(|suite| suite.millis).collect());
        let mut suite = suites.swap_remove(0);
        suite.millis = millis;
        revision.full = Some(suite);
        Ok(())
    }

    /// Runs a technique on what the revision before has left, and keeps what it
    /// leaves.
    pub(crate) fn select(
        &self,
        variant: &Variant,
        stores: &Stores,
    ) -> Result<Selection, ReplayError> {
        let name = self.store_of(variant);
        let before = stores.before(&name);
        let mut without = Vec::new();
        let mut with = Vec::new();
        let mut last = Selection::default();
        for _ in 0..self.settings.runs.max(1) {
            if before.is_some() && self.settings.without_collection {
                self.start_from(before.as_deref())?;
                let run = self.maven.under_fewest(variant, "off", Leave::Out)?;
                without.push(run.millis);
            }
            self.start_from(before.as_deref())?;
            let run = self.maven.under_fewest(variant, "now", Leave::Out)?;
            with.push(run.millis);
            last = selection(&run);
        }
        files::rename(&self.place(), &stores.after(&name))?;
        last.aec_millis = median(with);
        last.ae_millis = (!without.is_empty()).then(|| median(without));
        Ok(last)
    }

    /// Where the project's store lies.
    pub(crate) fn place(&self) -> std::path::PathBuf {
        self.maven.folder.join(".fewest")
    }

    /// Lets the project know what a store knows, or nothing. The folder is
    /// there in any case: it marks the root of the project.
    pub(crate) fn start_from(&self, store: Option<&Path>) -> Result<(), ReplayError> {
        let place = self.place();
        files::remove_folder(&place)?;
        match store {
            Some(store) => files::copy_folder(store, &place)?,
            None => files::make_folder(&place)?,
        }
        Ok(())
    }
}

/// Another order for each revision, so that no variant is always the one that
/// finds the caches warm.
fn in_turn(variants: &[Variant], commit: &str) -> Vec<Variant> {
    let mut variants = variants.to_vec();
    let turn = commit.bytes().map(usize::from).sum::<usize>();
    let by = turn % variants.len().max(1);
    variants.rotate_left(by);
    variants
}
