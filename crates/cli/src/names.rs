//! Names that a user types, and what they may mean.

use fewest_model::ClassName;

/// Whether a name, simple or with its packages, means a class.
pub(crate) fn means(name: &str, class: &ClassName) -> bool {
    class.dotted() == name || class.as_str() == name || class.simple() == name
}

/// The names nearest to one that means nothing, best first.
pub(crate) fn near<'a>(name: &str, known: impl Iterator<Item = &'a ClassName>) -> Vec<String> {
    const SHOWN: usize = 3;
    let simple = name.rsplit(['.', '/']).next().unwrap_or(name);
    let likeness = |class: &ClassName| {
        let last = class.simple();
        let alike = strsim::jaro_winkler(&simple.to_lowercase(), &last.to_lowercase());
        let within = last.to_lowercase().contains(&simple.to_lowercase());
        if within { alike.max(0.9) } else { alike }
    };
    let mut near: Vec<(f64, String)> = known
        .map(|class| (likeness(class), class.dotted()))
        .filter(|(likeness, _)| *likeness > 0.75)
        .collect();
    near.sort_by(|(a, name), (b, other)| b.total_cmp(a).then_with(|| name.cmp(other)));
    near.dedup();
    near.into_iter().take(SHOWN).map(|(_, name)| name).collect()
}

/// A line that says that a name is unknown, with those that may be meant.
pub(crate) fn unknown<'a>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a ClassName>,
) -> String {
    match near(name, known).as_slice() {
        [] => format!("no {what} `{name}` is known"),
        near => format!(
            "no {what} `{name}` is known; did you mean {}?",
            near.join(" or ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_and_full_names_mean_the_class() {
        let class = ClassName::new("com/acme/FooTest");
        for name in ["FooTest", "com.acme.FooTest", "com/acme/FooTest"] {
            assert!(means(name, &class), "{name}");
        }
        assert!(!means("acme.FooTest", &class));
    }

    #[test]
    fn a_slip_is_answered_with_near_names() {
        let known = ["p/CalculatorTest", "p/ParserTest", "q/ParserFuzzTest"].map(ClassName::new);
        assert_eq!(near("CalcualtorTest", known.iter()), ["p.CalculatorTest"]);
        assert_eq!(
            unknown("test", "Parser", known.iter()),
            "no test `Parser` is known; did you mean p.ParserTest or q.ParserFuzzTest?"
        );
        assert_eq!(
            unknown("test", "Zebra", known.iter()),
            "no test `Zebra` is known"
        );
    }
}
