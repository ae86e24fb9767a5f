//! Several JVMs at the same time, each with a folder of its own.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use super::MutantError;
use super::jvm::Desk;
use crate::files::{self, FileError};

pub(super) struct Workers {
    count: usize,
    work: PathBuf,
}

impl Workers {
    pub(super) fn new(count: usize, work: &Path) -> Self {
        Self {
            count: count.max(1),
            work: work.to_owned(),
        }
    }

    /// The desk of a worker.
    pub(super) fn desk(&self, number: usize) -> Result<Desk, FileError> {
        let folder = self.work.join(format!("worker-{number}"));
        files::make_folder(&folder)?;
        Ok(Desk::new(&folder))
    }

    /// Does something with each item, begun in their order, and hands over
    /// results as they come. The first error ends it.
    pub(super) fn each<T: Sync, R: Send>(
        &self,
        items: &[T],
        action: impl Fn(&T, Desk) -> Result<R, MutantError> + Sync,
        mut take: impl FnMut(R) -> Result<(), MutantError>,
    ) -> Result<(), MutantError> {
        let desks = (0..self.count)
            .map(|number| self.desk(number))
            .collect::<Result<Vec<_>, _>>()?;
        let (next, over) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (send, receive) = mpsc::channel();
        thread::scope(|scope| {
            for desk in desks {
                let send = send.clone();
                let (next, over, action) = (&next, &over, &action);
                scope.spawn(move || {
                    while !over.load(Ordering::Relaxed) {
                        let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) else {
                            break;
                        };
                        // Who nobody listens to any more is done.
                        if send.send(action(item, desk.clone())).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(send);
            let taken = receive
                .iter()
                .try_for_each(|result| result.and_then(&mut take));
            over.store(true, Ordering::Relaxed);
            taken
        })
    }

    /// The same for results that are wanted all at once, in the order of the
    /// items.
    pub(super) fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        action: impl Fn(&T, Desk) -> Result<R, MutantError> + Sync,
    ) -> Result<Vec<R>, MutantError> {
        let numbered: Vec<(usize, &T)> = items.iter().enumerate().collect();
        let mut results: Vec<(usize, R)> = Vec::new();
        self.each(
            &numbered,
            |(number, item), desk| Ok((*number, action(item, desk)?)),
            |result| {
                results.push(result);
                Ok(())
            },
        )?;
        results.sort_by_key(|(number, _)| *number);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_done_once_by_somebody_with_a_folder_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let workers = Workers::new(3, folder.path());
        let items: Vec<u32> = (0..50).collect();
        let doubled = workers.map(&items, |item, desk| {
            assert!(desk.folder.is_dir());
            Ok(item * 2)
        });
        let wanted: Vec<u32> = items.iter().map(|item| item * 2).collect();
        assert_eq!(doubled.unwrap(), wanted);
    }

    #[test]
    fn the_first_error_ends_it() {
        let folder = tempfile::tempdir().unwrap();
        let workers = Workers::new(2, folder.path());
        let items: Vec<u32> = (0..1000).collect();
        let done = AtomicUsize::new(0);
        let result = workers.map(&items, |item, _| {
            done.fetch_add(1, Ordering::Relaxed);
            if *item == 3 {
                Err(MutantError::NoTests)
            } else {
                Ok(())
            }
        });
        assert!(matches!(result, Err(MutantError::NoTests)));
        assert!(done.load(Ordering::Relaxed) <= 1000);
    }
}
