//! Points in time as people say them.

use jiff::{Timestamp, Zoned, civil::DateTime, tz::TimeZone};

/// A point in time, in milliseconds since 1970, seen from now.
pub(crate) fn moment(millis: i64) -> String {
    let Ok(timestamp) = Timestamp::from_millisecond(millis) else {
        return "at an unknown time".into();
    };
    let then = timestamp.to_zoned(TimeZone::system());
    seen_from(then.datetime(), Zoned::now().datetime())
}

fn seen_from(then: DateTime, now: DateTime) -> String {
    let time = then.strftime("%H:%M");
    if then.date() == now.date() {
        format!("today {time}")
    } else if now.date().yesterday().is_ok_and(|day| day == then.date()) {
        format!("yesterday {time}")
    } else if then.year() == now.year() {
        format!("on {} {time}", then.strftime("%-d %b"))
    } else {
        format!("on {} {time}", then.strftime("%-d %b %Y"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_days_have_names_and_far_ones_dates() {
        let now: DateTime = "2026-03-01T09:00".parse().unwrap();
        let seen = |then: &str| seen_from(then.parse().unwrap(), now);
        assert_eq!(seen("2026-03-01T08:05"), "today 08:05");
        assert_eq!(seen("2026-02-28T18:02"), "yesterday 18:02");
        assert_eq!(seen("2026-02-07T18:02"), "on 7 Feb 18:02");
        assert_eq!(seen("2025-12-31T00:00"), "on 31 Dec 2025 00:00");
    }
}
