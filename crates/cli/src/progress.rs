//! How far fewest's own work is, on one line of a terminal.
//!
//! Only for what fewest does when a build has ended: while it goes on, the
//! terminal is the build's, and a line that moves would garble its output.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use fewest_run::Progress;

/// What is over before this is not worth a line.
const PATIENCE: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(100);
const WIDTH: usize = 20;

/// A line that is written again and again, and vanishes in the end.
pub(crate) struct ProgressLine {
    wanted: bool,
    started: Option<Instant>,
    shown: Option<Instant>,
}

impl ProgressLine {
    pub(crate) fn new(wanted: bool) -> Self {
        Self {
            wanted,
            started: None,
            shown: None,
        }
    }

    pub(crate) fn show(&mut self, progress: Progress) {
        if self.is_due(Instant::now()) {
            // Nobody is left to tell when this fails.
            let _ = write!(io::stderr(), "\r{}\x1b[K", text(progress));
        }
    }

    fn is_due(&mut self, now: Instant) -> bool {
        let started = *self.started.get_or_insert(now);
        let early = now - started < PATIENCE;
        let just_shown = self.shown.is_some_and(|shown| now - shown < PAUSE);
        let due = self.wanted && !early && !just_shown;
        if due {
            self.shown = Some(now);
        }
        due
    }

    pub(crate) fn clear(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

fn text(progress: Progress) -> String {
    let Progress { doing, done, of } = progress;
    let full = (done * WIDTH).checked_div(of).unwrap_or(WIDTH).min(WIDTH);
    let bar = "#".repeat(full) + &".".repeat(WIDTH - full);
    format!("fewest: [{bar}] {doing}, {done} of {of}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_as_work_is_done() {
        let at = |done, of| {
            text(Progress {
                doing: "recording test classes",
                done,
                of,
            })
        };
        assert_eq!(
            at(5, 20),
            "fewest: [#####...............] recording test classes, 5 of 20"
        );
        assert!(at(20, 20).contains("[####################]"));
        assert!(at(0, 0).contains("[####################]"));
    }

    #[test]
    fn only_long_work_is_shown_and_not_more_often_than_eyes_can_follow() {
        let start = Instant::now();
        let shown = |wanted: bool| -> Vec<u64> {
            let mut line = ProgressLine::new(wanted);
            let moments = (0..8).map(|step| step * 90);
            moments
                .filter(|millis| line.is_due(start + Duration::from_millis(*millis)))
                .collect()
        };
        assert_eq!(shown(true), [540]);
        assert_eq!(shown(false), [0; 0]);
    }
}
