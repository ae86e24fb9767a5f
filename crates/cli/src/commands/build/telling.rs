//! What a build says of itself: on the screen, and in the file of `--report`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use fewest_run::{Launch, Launched, Merged, Notice, Overview, Target};
use fewest_store::ReadError;
use serde_json::json;

use super::Build;
use super::options::Collect;
use crate::summary::{self, Shadow};

impl Build<'_> {
    /// The first line. False if the store cannot be read.
    pub(super) fn say_header(&self, launch: &Launch) -> bool {
        let empty = Overview::default();
        let overview = match &launch.overview {
            Ok(overview) => overview,
            Err(ReadError::Missing { .. }) => &empty,
            Err(error) => {
                let technique = launch.technique();
                let text = format!("{technique}, but everything runs: {error}");
                self.screen.warn(&text);
                return false;
            }
        };
        let header = summary::header(launch.technique(), overview, launch.collects());
        self.screen.say(&header);
        true
    }

    pub(super) fn tell_collected(&self, launched: &Launched, log: &Path) {
        self.tell_merge_error(launched);
        if let Ok(merged) = &launched.merged {
            let recorded = merged.tests.iter().filter(|test| test.recorded).count();
            self.screen.say(&format!("{recorded} recorded"));
        }
        if launched.status.success() {
            let _ = fs::remove_file(log);
        } else {
            self.screen.warn(&format!(
                "the second run ended with {}; its output is in `{}`",
                launched.status,
                log.display()
            ));
        }
    }

    /// Tells what a build came to. What was told before it started is not
    /// told again.
    pub(super) fn tell(&self, launched: &Launched, readable: bool) {
        if launched.interrupted_by.is_some() {
            self.screen
                .warn("interrupted; what had come to its end is kept");
        }
        self.tell_merge_error(launched);
        let Ok(merged) = &launched.merged else { return };
        for line in merged.lines.iter().filter(|_| readable) {
            self.screen.warn(line.trim_start_matches("fewest: "));
        }
        for warning in &merged.warnings {
            self.screen.warn(warning);
        }
        match &merged.notice {
            None | Some(Notice::Created) => {}
            Some(notice) => self.screen.warn(&notice.to_string()),
        }
        self.tell_details(merged);
        if let Some(line) = summary::whole(merged) {
            self.screen.say(&line);
        }
        if let Some(line) = summary::doubtful(merged) {
            self.screen.say(&line);
        }
        if merged.tests.is_empty() {
            if let Some(line) = self.without_tests() {
                self.screen.say(line);
            }
            return;
        }
        if self.shadow {
            match summary::shadow(merged) {
                Shadow::Agrees(text) => self.screen.say(&text),
                Shadow::Fails(text) => self.screen.alarm(&text),
            }
        } else {
            self.screen.say(&summary::closing(merged));
            if let Some(line) = summary::left_out(merged) {
                self.screen.warn(&line);
            }
        }
        // What was cut short has not failed.
        if let Some(line) = summary::first_failure(merged)
            && launched.interrupted_by.is_none()
        {
            self.screen.say(&line);
        }
        if merged.order.followed == Some(false) {
            self.screen.say(summary::OWN_ORDER);
        }
    }

    fn tell_details(&self, merged: &Merged) {
        for test in &merged.tests {
            let name = &test.test;
            match test.verdict {
                "run" => {
                    let mut reasons = test.reasons.clone();
                    reasons.extend(test.methods.as_ref().and_then(summary::in_part));
                    let reasons = reasons.join(", ");
                    self.screen.detail(&format!("{name} ran: {reasons}"));
                }
                "left-out" => {
                    let reasons = test.reasons.join(", ");
                    self.screen
                        .detail(&format!("{name} left out, still due: {reasons}"));
                }
                _ => self.screen.detail(&format!("{name} left out")),
            }
            for doubt in summary::doubts(test) {
                self.screen
                    .detail(&format!("{name} proved nothing: {doubt}"));
            }
        }
    }

    fn tell_merge_error(&self, launched: &Launched) {
        if let Err(error) = &launched.merged {
            let mut text = format!("nothing was learned from this run: {error}");
            let mut source = std::error::Error::source(error);
            while let Some(cause) = source {
                text = format!("{text}: {cause}");
                source = cause.source();
            }
            self.screen.warn(&text);
        }
    }

    fn without_tests(&self) -> Option<&'static str> {
        match (&self.target, self.options.collect()) {
            (Target::Command(_), Collect::Now) => Some(
                "no test JVM was seen, so nothing was left out and nothing learned; \
                 `fewest doctor` tells whether the agent loads",
            ),
            (Target::Command(_), Collect::Off) => {
                Some("nothing was watched, so nothing was learned")
            }
            (Target::Command(_), Collect::Later) => None,
            (Target::Maven(_), _) => Some("no tests ran"),
        }
    }

    pub(super) fn write_report(
        &self,
        path: &Path,
        merged: &Merged,
        launched: &Launched,
    ) -> Result<()> {
        let report = json!({
            "format": 1,
            "technique": merged.technique.name(),
            "entity": merged.entity.name(),
            "shadow": self.shadow,
            "interrupted": launched.interrupted_by.is_some(),
            "order": merged.order,
            "analysisMillis": merged.analysis_millis,
            "tests": merged.tests,
            "whole": summary::whole_by_reason(merged),
            "warnings": merged.warnings,
        });
        fs::write(path, serde_json::to_vec_pretty(&report)?)
            .with_context(|| format!("failed to write the report `{}`", path.display()))
    }
}
