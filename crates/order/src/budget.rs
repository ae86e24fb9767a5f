//! How much of an order is run.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::candidate::assume_durations;

/// A limit on what is run.
///
/// The textual form is `90s` (also `ms`, `m` and `h`), `25%` or `50-tests`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Budget {
    /// So much run time.
    Time(Duration),
    /// So many hundredths of the run time of all tests in the order, from 1 to
    /// 100.
    Percent(u8),
    /// So many tests.
    Tests(usize),
}

/// An order divided by a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// What runs: the longest prefix of the order that fits.
    pub taken: Vec<usize>,
    /// What stays due.
    pub left_out: Vec<usize>,
    /// How long the taken tests take together.
    pub time: Duration,
}

impl Budget {
    /// Takes the longest prefix of the order that fits the budget.
    ///
    /// It is empty if the first test alone does not fit. The durations are
    /// those of all tests, by their numbers in the order; what is unknown
    /// counts as [`assume_durations`] has it.
    pub fn cut(self, mut order: Vec<usize>, durations: &[Option<Duration>]) -> Cut {
        let times = assume_durations(order.iter().map(|&test| durations[test]));
        let limit = self.time_limit(times.iter().sum());
        let tests = match self {
            Self::Tests(tests) => tests,
            Self::Time(_) | Self::Percent(_) => usize::MAX,
        };
        let mut time = Duration::ZERO;
        let mut count = 0;
        for next in times.into_iter().take(tests) {
            if time + next > limit {
                break;
            }
            time += next;
            count += 1;
        }
        let left_out = order.split_off(count);
        Cut {
            taken: order,
            left_out,
            time,
        }
    }

    fn time_limit(self, total: Duration) -> Duration {
        match self {
            Self::Time(limit) => limit,
            // In this sequence a hundred percent is the total to the last
            // nanosecond.
            Self::Percent(percent) => total * u32::from(percent) / 100,
            Self::Tests(_) => Duration::MAX,
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) if time.subsec_millis() != 0 => write!(f, "{}ms", time.as_millis()),
            Self::Time(time) => write!(f, "{}s", time.as_secs()),
            Self::Percent(percent) => write!(f, "{percent}%"),
            Self::Tests(tests) => write!(f, "{tests}-tests"),
        }
    }
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{text}` is not a budget: {kind}")]
pub struct ParseBudgetError {
    text: String,
    kind: ParseBudgetErrorKind,
}

#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ParseBudgetErrorKind {
    #[error("it starts with a whole number, as in `90s`, `25%` or `50-tests`")]
    NoNumber,
    #[error("the number is too large")]
    TooLarge,
    #[error("the number needs a unit: `ms`, `s`, `m` or `h` for time, `%`, or `-tests`")]
    NoUnit,
    #[error("the units are `ms`, `s`, `m` and `h` for time, `%`, and `-tests`")]
    UnknownUnit,
    #[error("a share is from `1%` to `100%`")]
    ShareOutOfRange,
    #[error("nothing could run within it")]
    Zero,
}

impl FromStr for Budget {
    type Err = ParseBudgetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).map_err(|kind| ParseBudgetError {
            text: text.to_owned(),
            kind,
        })
    }
}

impl TryFrom<String> for Budget {
    type Error = ParseBudgetError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Budget> for String {
    fn from(budget: Budget) -> Self {
        budget.to_string()
    }
}

fn parse(text: &str) -> Result<Budget, ParseBudgetErrorKind> {
    use ParseBudgetErrorKind as Kind;
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    if number.is_empty() {
        return Err(Kind::NoNumber);
    }
    let number: u64 = number.parse().map_err(|_| Kind::TooLarge)?;
    let time = |seconds: u64| {
        let seconds = number.checked_mul(seconds).ok_or(Kind::TooLarge)?;
        Ok(Budget::Time(Duration::from_secs(seconds)))
    };
    let budget = match unit {
        "" => return Err(Kind::NoUnit),
        "ms" => Budget::Time(Duration::from_millis(number)),
        "s" => time(1)?,
        "m" => time(60)?,
        "h" => time(3_600)?,
        "%" => match u8::try_from(number) {
            Ok(percent @ 1..=100) => Budget::Percent(percent),
            _ => return Err(Kind::ShareOutOfRange),
        },
        "-tests" | "-test" => Budget::Tests(number.try_into().map_err(|_| Kind::TooLarge)?),
        _ => return Err(Kind::UnknownUnit),
    };
    if number == 0 {
        return Err(Kind::Zero);
    }
    Ok(budget)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECONDS: [Option<Duration>; 4] = [
        Some(Duration::from_secs(10)),
        Some(Duration::from_secs(20)),
        None, // 20 s, the median
        Some(Duration::from_secs(50)),
    ];

    #[test]
    fn budgets_parse() {
        let parse = |text: &str| text.parse::<Budget>().unwrap();
        assert_eq!(parse("90s"), Budget::Time(Duration::from_secs(90)));
        assert_eq!(parse("5m"), Budget::Time(Duration::from_secs(300)));
        assert_eq!(parse("2h"), Budget::Time(Duration::from_secs(7_200)));
        assert_eq!(parse("1500ms"), Budget::Time(Duration::from_millis(1_500)));
        assert_eq!(parse("25%"), Budget::Percent(25));
        assert_eq!(parse("50-tests"), Budget::Tests(50));
        assert_eq!(parse("1-test"), Budget::Tests(1));
        for text in ["90s", "1500ms", "25%", "50-tests"] {
            assert_eq!(parse(text).to_string(), text);
            assert_eq!(serde_json::to_value(parse(text)).unwrap(), text);
        }
    }

    #[test]
    fn what_is_no_budget_says_what_would_be_one() {
        use ParseBudgetErrorKind::{
            NoNumber, NoUnit, ShareOutOfRange, TooLarge, UnknownUnit, Zero,
        };
        let kind = |text: &str| text.parse::<Budget>().unwrap_err().kind;
        assert_eq!(kind(""), NoNumber);
        assert_eq!(kind("-5s"), NoNumber);
        assert_eq!(kind("90"), NoUnit);
        assert_eq!(kind("90 s"), UnknownUnit);
        assert_eq!(kind("1.5m"), UnknownUnit);
        assert_eq!(kind("0s"), Zero);
        assert_eq!(kind("0-tests"), Zero);
        assert_eq!(kind("0%"), ShareOutOfRange);
        assert_eq!(kind("101%"), ShareOutOfRange);
        assert_eq!(kind("99999999999999999999s"), TooLarge);
        assert_eq!(kind("9999999999999999999h"), TooLarge);
        assert_eq!(
            "90".parse::<Budget>().unwrap_err().to_string(),
            "`90` is not a budget: the number needs a unit: \
             `ms`, `s`, `m` or `h` for time, `%`, or `-tests`"
        );
    }

    #[test]
    fn the_longest_prefix_that_fits_is_taken() {
        let cut = |text: &str| {
            let budget: Budget = text.parse().unwrap();
            budget.cut(vec![3, 0, 2, 1], &SECONDS)
        };
        assert_eq!(cut("60s").taken, [3, 0]);
        assert_eq!(cut("60s").left_out, [2, 1]);
        assert_eq!(cut("60s").time, Duration::from_secs(60));
        assert_eq!(cut("79s").taken, [3, 0]);
        assert_eq!(cut("60%").taken, [3, 0]);
        assert_eq!(cut("100%").taken, [3, 0, 2, 1]);
        assert_eq!(cut("3-tests").taken, [3, 0, 2]);
        assert_eq!(cut("9-tests").left_out, Vec::<usize>::new());
        assert!(cut("10%").taken.is_empty());
    }
}
