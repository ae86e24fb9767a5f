//! Selection and order together, in either sequence.

/// Selects first and orders what is left: Fastazi's sequential form.
///
/// The order sees the selected tests only, so similarity and rarity are
/// weighed among those that will run. Selection has to end before the order
/// can begin; only the signatures can be made earlier.
pub fn select_then_order<T: Clone>(
    tests: &[T],
    mut is_selected: impl FnMut(usize) -> bool,
    order: impl FnOnce(&[T]) -> Vec<usize>,
) -> Vec<usize> {
    let selected: Vec<usize> = (0..tests.len()).filter(|&test| is_selected(test)).collect();
    let subset: Vec<T> = selected.iter().map(|&test| tests[test].clone()).collect();
    order(&subset)
        .into_iter()
        .map(|place| selected[place])
        .collect()
}

/// Orders all tests and drops those that are not selected: Fastazi's parallel
/// form.
///
/// The order does not depend on the change, so it can be made while selection
/// is still at work. A test may then come late for its likeness to one that
/// will not run.
pub fn order_then_filter(
    mut order: Vec<usize>,
    mut is_selected: impl FnMut(usize) -> bool,
) -> Vec<usize> {
    order.retain(|&test| is_selected(test));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fast::{self, Bands, Variant};
    use crate::{Random, Signature};

    #[test]
    fn both_keep_exactly_the_selected_tests() {
        let tests = ["a", "b", "c", "d", "e", "f"];
        let is_even = |test: usize| test.is_multiple_of(2);
        let shuffle = |tests: &[&str]| Random::new(4).permutation(tests.len());
        let mut sequential = select_then_order(&tests, is_even, shuffle);
        let mut parallel = order_then_filter(shuffle(&tests), is_even);
        sequential.sort_unstable();
        parallel.sort_unstable();
        assert_eq!((sequential, parallel), (vec![0, 2, 4], vec![0, 2, 4]));
    }

    #[test]
    fn only_the_parallel_form_is_swayed_by_tests_that_will_not_run() {
        // The first test is a copy of the second, which is not selected, and
        // the third is like neither.
        let parse = Signature::of_text(b"assertEquals(1, parse(x))");
        let tests = [parse, parse, Signature::of_text(b"ping()")];
        let is_selected = |test: usize| test != 1;
        let order =
            |tests: &[Signature]| fast::order(Variant::Pairwise, Bands::default(), tests, 0);
        let seed_opens_with_the_copy = order(&tests);
        assert_eq!(seed_opens_with_the_copy[0], 1);
        assert_eq!(
            order_then_filter(seed_opens_with_the_copy, is_selected),
            [2, 0]
        );
        assert_eq!(select_then_order(&tests, is_selected, order), [0, 2]);
    }
}
