//! Whether one way of ordering is really better than another.
//!
//! The two questions of the studies that fewest repeats: could the difference
//! be chance (Wilcoxon's signed-rank test on pairs), and how large is it
//! (Vargha and Delaney's Â₁₂).

/// Up to so many pairs the distribution is worked out exactly. The work grows
/// with the third power of their number.
const EXACT_PAIRS: usize = 200;

/// The result of Wilcoxon's signed-rank test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRank {
    /// The sum of the ranks of pairs whose first value is greater.
    pub positive: f64,
    /// The sum of the ranks of pairs whose second value is greater.
    pub negative: f64,
    /// Pairs that differ. Pairs of equal values say nothing and are left out.
    pub pairs: usize,
    /// The two-sided probability of sums at least so far apart if the first
    /// and the second value of a pair might as well be swapped.
    pub probability: f64,
}

/// Wilcoxon's signed-rank test on pairs of values.
///
/// Equal differences share the mean of their ranks. For up to 200 pairs the
/// probability is exact, ties included: it is the share of all ways to deal
/// the signs. Above, it is the normal approximation with corrections for
/// continuity and ties.
pub fn signed_rank(pairs: &[(f64, f64)]) -> SignedRank {
    let mut differences: Vec<f64> = pairs
        .iter()
        .map(|(first, second)| first - second)
        .filter(|difference| *difference != 0.0)
        .collect();
    differences.sort_by(|one, other| one.abs().total_cmp(&other.abs()));
    let ranks = doubled_ranks(&differences);
    let sum = |positive: bool| -> usize {
        let signed = ranks.iter().zip(&differences);
        signed
            .filter(|(_, difference)| (**difference > 0.0) == positive)
            .map(|(rank, _)| rank)
            .sum()
    };
    let (positive, negative) = (sum(true), sum(false));
    let smaller = positive.min(negative);
    let probability = if ranks.len() <= EXACT_PAIRS {
        exact_probability(&ranks, smaller)
    } else {
        normal_probability(&ranks, smaller)
    };
    SignedRank {
        positive: positive as f64 / 2.0,
        negative: negative as f64 / 2.0,
        pairs: ranks.len(),
        probability,
    }
}

/// Twice the rank of each value in a list sorted by size. The mean rank of
/// values of equal size may end in a half; twice of it is whole.
fn doubled_ranks(sorted: &[f64]) -> Vec<usize> {
    let mut ranks = Vec::with_capacity(sorted.len());
    for ties in sorted.chunk_by(|one, other| one.abs().total_cmp(&other.abs()).is_eq()) {
        let (first, last) = (ranks.len() + 1, ranks.len() + ties.len());
        ranks.resize(last, first + last);
    }
    ranks
}

/// Counts the ways to deal signs by the sum of the positive ranks, as
/// probabilities.
fn exact_probability(ranks: &[usize], smaller: usize) -> f64 {
    let mut by_sum = vec![0.0; ranks.iter().sum::<usize>() + 1];
    by_sum[0] = 1.0;
    for rank in ranks {
        for sum in (0..by_sum.len()).rev() {
            let with_rank = sum.checked_sub(*rank).map_or(0.0, |rest| by_sum[rest]);
            by_sum[sum] = f64::midpoint(by_sum[sum], with_rank);
        }
    }
    // The distribution is symmetric, so the other tail is as heavy.
    (2.0 * by_sum[..=smaller].iter().sum::<f64>()).min(1.0)
}

fn normal_probability(ranks: &[usize], smaller: usize) -> f64 {
    let mean = ranks.iter().sum::<usize>() as f64 / 4.0;
    // The variance of the sum is a quarter of the sum of squared ranks, which
    // is the textbook's formula with its correction for ties.
    let squares: f64 = ranks.iter().map(|rank| (*rank as f64 / 2.0).powi(2)).sum();
    let deviation = (squares / 4.0).sqrt();
    let distance = (mean - smaller as f64 / 2.0 - 0.5).max(0.0) / deviation;
    complementary_error(distance / std::f64::consts::SQRT_2)
}

/// The complementary error function of a number that is not negative, to
/// seven decimal places (Abramowitz and Stegun, 7.1.26).
fn complementary_error(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 5] = [
        1.061_405_429,
        -1.453_152_027,
        1.421_413_741,
        -0.284_496_736,
        0.254_829_592,
    ];
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let polynomial = COEFFICIENTS
        .iter()
        .fold(0.0, |sum, coefficient| (sum + coefficient) * t);
    polynomial * (-x * x).exp()
}

/// Vargha and Delaney's Â₁₂: the probability that a value of the first sample
/// is greater than one of the second, ties counting half. None if a sample is
/// empty.
pub fn effect_size(first: &[f64], second: &[f64]) -> Option<f64> {
    let mut sorted = second.to_vec();
    sorted.sort_by(f64::total_cmp);
    let wins: usize = first
        .iter()
        .map(|value| {
            let below = sorted.partition_point(|other| other < value);
            let not_above = sorted.partition_point(|other| other <= value);
            below + not_above
        })
        .sum();
    let pairs = first.len() * second.len();
    (pairs > 0).then(|| wins as f64 / (2 * pairs) as f64)
}

/// How large an effect is, by the bounds that Vargha and Delaney suggest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Magnitude {
    Negligible,
    Small,
    Medium,
    Large,
}

impl Magnitude {
    /// The magnitude of an Â₁₂, in whichever direction.
    pub fn of(effect_size: f64) -> Self {
        match effect_size.max(1.0 - effect_size) {
            effect if effect >= 0.71 => Self::Large,
            effect if effect >= 0.64 => Self::Medium,
            effect if effect >= 0.56 => Self::Small,
            _ => Self::Negligible,
        }
    }

    /// The letter that the Fastazi study prints.
    pub const fn letter(self) -> char {
        match self {
            Self::Negligible => 'N',
            Self::Small => 'S',
            Self::Medium => 'M',
            Self::Large => 'L',
        }
    }
}

/// The median, for an even number the mean of the two in the middle. None if
/// there are no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(f64::midpoint(lower, *upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(one: f64, other: f64, within: f64) {
        assert!((one - other).abs() <= within, "{one} is not {other}");
    }

    fn pairs(pairs: impl IntoIterator<Item = (i32, i32)>) -> Vec<(f64, f64)> {
        pairs
            .into_iter()
            .map(|(first, second)| (first.into(), second.into()))
            .collect()
    }

    #[test]
    fn signed_rank_is_as_published_for_depression_scores() {
        // Hollander and Wolfe (1973), the example of R's `wilcox.test`:
        // V = 40, p = 0.01953 on one side. In
        // thousandths of the printed scores.
        let first = [1830, 500, 1620, 2480, 1680, 1880, 1550, 3060, 1300];
        let second = [878, 647, 598, 2050, 1060, 1290, 1060, 3140, 1290];
        let pairs = pairs(first.into_iter().zip(second));
        let test = signed_rank(&pairs);
        assert_close(test.positive, 40.0, 0.0);
        assert_close(test.negative, 5.0, 0.0);
        assert_close(test.probability, 2.0 * 0.019_531_25, 1e-12);
    }

    #[test]
    fn signed_rank_is_as_published_for_darwins_maize() {
        // Fisher (1935) after Darwin; SciPy's documentation has W = 24 and
        // p = 0.041259765625.
        let differences = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75];
        let pairs = pairs(differences.into_iter().map(|difference| (difference, 0)));
        let test = signed_rank(&pairs);
        assert_close(test.negative, 24.0, 0.0);
        assert_close(test.probability, 0.041_259_765_625, 1e-12);
    }

    #[test]
    fn equal_pairs_are_left_out_and_equal_differences_share_ranks() {
        // Wikipedia's example: nine of ten pairs differ, two of them by the
        // same 5. The sums of ranks are 27 and 18.
        let first = [125, 115, 130, 140, 140, 115, 140, 125, 140, 135];
        let second = [110, 122, 125, 120, 140, 124, 123, 137, 135, 145];
        let pairs = pairs(first.into_iter().zip(second));
        let test = signed_rank(&pairs);
        assert_eq!(test.pairs, 9);
        assert_close(test.positive, 27.0, 0.0);
        assert_close(test.negative, 18.0, 0.0);
    }

    #[test]
    fn many_pairs_are_judged_by_the_normal_distribution() {
        // SciPy 1.x, `wilcoxon(d, method="approx", correction=True)`.
        let pairs = pairs((0..300).map(|i| (i * 7919 % 13, 5)));
        let test = signed_rank(&pairs);
        assert_close(test.negative.min(test.positive), 13_502.0, 0.0);
        assert_close(test.probability, 1.551_636_9e-5, 2e-7);
    }

    #[test]
    fn the_exact_and_the_normal_probability_meet() {
        let ranks: Vec<usize> = (1..=EXACT_PAIRS).map(|rank| 2 * rank).collect();
        for smaller in [14_000, 17_000, 19_000, 20_100] {
            assert_close(
                exact_probability(&ranks, smaller),
                normal_probability(&ranks, smaller),
                1e-3,
            );
        }
    }

    #[test]
    fn without_a_difference_everything_is_chance() {
        assert_close(signed_rank(&[]).probability, 1.0, 0.0);
        assert_close(signed_rank(&[(1.0, 1.0)]).probability, 1.0, 0.0);
        assert_close(signed_rank(&[(1.0, 2.0)]).probability, 1.0, 0.0);
    }

    #[test]
    fn effect_size_is_as_published_for_the_tortoise_and_the_hare() {
        // The example for Mann and Whitney's U: six tortoises and six hares
        // end in the order T H H H H H T T T T T H. Hares come before
        // tortoises in 25 of 36 pairs.
        let tortoises = [1.0, 7.0, 8.0, 9.0, 10.0, 11.0];
        let hares = [2.0, 3.0, 4.0, 5.0, 6.0, 12.0];
        assert_eq!(effect_size(&tortoises, &hares), Some(25.0 / 36.0));
        assert_eq!(effect_size(&hares, &tortoises), Some(11.0 / 36.0));
    }

    #[test]
    fn ties_count_half() {
        assert_eq!(effect_size(&[1.0, 2.0], &[2.0]), Some(0.25));
        assert_eq!(effect_size(&[3.0], &[3.0]), Some(0.5));
        assert_eq!(effect_size(&[], &[3.0]), None);
    }

    #[test]
    fn magnitudes_are_those_of_the_fastazi_tables() {
        let letters: String = [0.82, 0.66, 0.57, 0.55, 0.50, 0.47, 0.23]
            .map(|effect| Magnitude::of(effect).letter())
            .iter()
            .collect();
        assert_eq!(letters, "LMSNNNL");
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }
}
