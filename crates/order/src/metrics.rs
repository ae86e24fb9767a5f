//! How early an order finds what is broken.
//!
//! All figures are shares of the *whole* suite, so that an order of selected
//! tests compares fairly with an order of all (Fastazi, §4.2).

use std::time::Duration;

/// An order that is to be judged, with the suite it is part of.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The tests in the order they run, as numbers in the suite.
    pub order: &'a [usize],
    /// How long each test of the suite takes, also of those that do not run.
    pub durations: &'a [Duration],
}

/// When the first failure shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstFailure {
    /// The place of the first failing test in the order, counted from one.
    pub position: usize,
    /// The place as a share of the number of tests in the suite.
    pub position_share: f64,
    /// How much run time has passed when that test ends.
    pub time: Duration,
    /// The time as a share of the suite's run time.
    pub time_share: f64,
}

impl Run<'_> {
    /// Time to first failure (Yoo, Nilsson and Harman 2011), by number and by
    /// time. None if no failing test runs.
    pub fn first_failure(&self, mut fails: impl FnMut(usize) -> bool) -> Option<FirstFailure> {
        let index = self.order.iter().position(|&test| fails(test))?;
        let position = index + 1;
        let time = self.time_of(position);
        Some(FirstFailure {
            position,
            position_share: position as f64 / self.durations.len() as f64,
            time,
            time_share: share(time.as_secs_f64(), self.total()),
        })
    }

    /// Average percentage of faults detected (Rothermel and others 1999), as
    /// a share: 1 − ΣTF/(nm) + 1/(2n).
    ///
    /// Each fault is given as the tests that detect it. A fault that no test
    /// of the order detects counts as 0, as in NAPFD (Qu, Cohen and Rothermel
    /// 2007). None if there are no faults.
    pub fn apfd<F: AsRef<[usize]>>(&self, faults: &[F]) -> Option<f64> {
        let tests = self.durations.len() as f64;
        self.mean(faults, |index| 1.0 - (index as f64 + 0.5) / tests)
    }

    /// The same by run time instead of by number of tests, all faults equally
    /// severe (Elbaum, Malishevsky and Rothermel 2001): `APFDc`.
    pub fn apfd_by_cost<F: AsRef<[usize]>>(&self, faults: &[F]) -> Option<f64> {
        self.mean(faults, |index| {
            let before = self.time_of(index).as_secs_f64();
            let own = self.durations[self.order[index]].as_secs_f64();
            1.0 - share(before + own / 2.0, self.total())
        })
    }

    /// The mean over all faults of a value for the place of the first test
    /// that detects it.
    fn mean<F: AsRef<[usize]>>(&self, faults: &[F], value: impl Fn(usize) -> f64) -> Option<f64> {
        let detected = faults.iter().filter_map(|fault| {
            let detects = |test: &usize| fault.as_ref().contains(test);
            self.order.iter().position(detects)
        });
        (!faults.is_empty()).then(|| detected.map(value).sum::<f64>() / faults.len() as f64)
    }

    /// How long the first so many tests of the order take.
    fn time_of(&self, count: usize) -> Duration {
        self.order[..count]
            .iter()
            .map(|&test| self.durations[test])
            .sum()
    }

    fn total(&self) -> f64 {
        self.durations.iter().sum::<Duration>().as_secs_f64()
    }
}

/// The part of the whole, 1 where the whole is nothing.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn assert_close(one: f64, other: f64) {
        assert!((one - other).abs() < 1e-12, "{one} is not {other}");
    }

    /// The example of Rothermel, Untch, Chu and Harrold (1999): tests A to E
    /// and which of them detect each of ten faults.
    fn faults() -> Vec<Vec<usize>> {
        const A: usize = 0;
        const B: usize = 1;
        const C: usize = 2;
        const D: usize = 3;
        const E: usize = 4;
        vec![
            vec![A, B, C],
            vec![C],
            vec![C],
            vec![C],
            vec![A, B, C, D],
            vec![B, C],
            vec![B, C],
            vec![E],
            vec![E],
            vec![E],
        ]
    }

    #[test]
    fn apfd_is_as_published() {
        let apfd = |order: &[usize]| {
            let durations = &[SECOND; 5];
            Run { order, durations }.apfd(&faults()).unwrap()
        };
        assert_close(apfd(&[0, 1, 2, 3, 4]), 0.50);
        assert_close(apfd(&[4, 3, 2, 1, 0]), 0.64);
        assert_close(apfd(&[2, 4, 1, 0, 3]), 0.84);
    }

    #[test]
    fn with_equal_costs_the_cost_makes_no_difference() {
        let run = Run {
            order: &[2, 4, 1, 0, 3],
            durations: &[SECOND; 5],
        };
        assert_close(run.apfd_by_cost(&faults()).unwrap(), 0.84);
    }

    #[test]
    fn a_slow_test_first_costs_by_its_time() {
        // C takes 6 s of 10 s. Its seven faults count 1 − 3/10 each, the three
        // of E 1 − 6.5/10: (7 × 0.7 + 3 × 0.35) / 10.
        let durations = [1, 1, 6, 1, 1].map(Duration::from_secs);
        let run = Run {
            order: &[2, 4, 1, 0, 3],
            durations: &durations,
        };
        assert_close(run.apfd_by_cost(&faults()).unwrap(), 0.595);
        assert_close(run.apfd(&faults()).unwrap(), 0.84);
    }

    #[test]
    fn a_fault_that_is_not_found_counts_as_nothing() {
        let run = Run {
            order: &[2],
            durations: &[SECOND; 5],
        };
        // Seven faults in the first place of five: 7 × 0.9 / 10.
        assert_close(run.apfd(&faults()).unwrap(), 0.63);
        assert_close(run.apfd_by_cost(&faults()).unwrap(), 0.63);
        assert_eq!(run.apfd::<Vec<usize>>(&[]), None);
    }

    #[test]
    fn the_first_failure_is_measured_against_the_whole_suite() {
        let durations = [4, 1, 2, 3].map(Duration::from_secs);
        let run = Run {
            order: &[3, 1],
            durations: &durations,
        };
        assert_eq!(
            run.first_failure(|test| test <= 1),
            Some(FirstFailure {
                position: 2,
                position_share: 0.5,
                time: Duration::from_secs(4),
                time_share: 0.4,
            })
        );
        assert_eq!(run.first_failure(|test| test == 0), None);
    }
}
