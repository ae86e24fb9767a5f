//! Faults planted in a revision that has been measured.

use std::collections::BTreeMap;

use crate::mutants::{self, MutantError};
use crate::replay::{Replay, ReplayError, Stores, Watcher};
use crate::results;

impl Replay {
    pub(crate) fn plant(
        &self,
        commit: &str,
        stores: &Stores,
        watcher: &mut dyn Watcher,
    ) -> Result<(), ReplayError> {
        let settings = mutants::Settings {
            project: self.maven.folder.clone(),
            stores: self
                .settings
                .variants
                .iter()
                .map(|variant| (variant.clone(), stores.after(&self.store_of(variant))))
                .collect(),
            count: self.settings.mutants,
            seed: self.settings.seed,
            check: self.settings.check,
            jobs: self.settings.jobs,
            work: self.settings.work.join("mutants"),
            revision: Some(commit.to_owned()),
            known: self.settings.known_mutants.clone(),
        };
        let path = self.settings.work.join(Self::MUTANTS);
        let mut killed: BTreeMap<bool, usize> = BTreeMap::new();
        let result = mutants::run(&settings, |line| {
            // Not before there is something new: the earlier results may be what
            // is known.
            if let mutants::Line::Suite { .. } = line {
                mutants::forget(&path, commit)?;
            }
            if let mutants::Line::Mutant(mutant) = line {
                *killed.entry(!mutant.killers.is_empty()).or_default() += 1;
                for (technique, missed) in &mutant.missed {
                    if !missed.is_empty() {
                        let count = missed.len();
                        let words = &mutant.words;
                        watcher.says(&format!("{technique} misses {count} of “{words}”"));
                    }
                }
            }
            Ok(results::append(&path, line)?)
        });
        let (dead, alive) = (
            killed.get(&true).copied().unwrap_or(0),
            killed.get(&false).copied().unwrap_or(0),
        );
        match result {
            Err(MutantError::NoTests) => watcher.says("no test to plant mutants for"),
            result => result?,
        }
        watcher.says(&format!("{dead} mutants killed, {alive} survived"));
        Ok(())
    }
}
