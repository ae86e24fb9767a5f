//! Which classes name which, and what can be reached from where.
//!
//! One graph serves both static techniques. An edge leads from a class to each
//! class that it names in whatever way: inheritance, types of members and
//! arguments, signatures, annotations, casts, instantiations, calls, literals,
//! and constant names of classes that are loaded by name. `static` follows
//! edges from each test ([`ClassGraph::reach`]); `static-full` searches against
//! them from what changed ([`ClassGraph::affected`]), which finds the same
//! tests, and the shortest chain for each.
//!
//! Classes are read when an edge first leads to them. What no test leads to is
//! never read.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use fewest_model::ClassName;

use crate::expansion::is_jdk_class;

/// What a class names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    Classes(Vec<ClassName>),
    /// The class path does not have the class.
    Absent,
    /// The class is there and cannot be understood.
    Unreadable,
}

/// The classes of a class path.
pub trait NamedClasses {
    fn named_by(&self, class: &ClassName) -> Named;
}

/// What a class leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// The class itself and all that can be reached, whether the class path
    /// has them or not.
    pub classes: BTreeSet<ClassName>,
    /// Those behind which there may be more.
    pub unreadable: BTreeSet<ClassName>,
}

/// A graph over the classes that were met so far.
pub struct ClassGraph<'a, C> {
    source: &'a C,
    numbers: HashMap<ClassName, usize>,
    nodes: Vec<Node>,
}

struct Node {
    name: ClassName,
    /// `None` until the class is read.
    edges: Option<Vec<usize>>,
    unreadable: bool,
}

impl<'a, C: NamedClasses> ClassGraph<'a, C> {
    pub fn new(source: &'a C) -> Self {
        Self {
            source,
            numbers: HashMap::new(),
            nodes: Vec::new(),
        }
    }

    /// Everything that a class leads to.
    pub fn reach(&mut self, from: &ClassName) -> Reach {
        let mut reach = Reach::default();
        for number in self.numbers_from(from) {
            let node = &self.nodes[number];
            reach.classes.insert(node.name.clone());
            if node.unreadable {
                reach.unreadable.insert(node.name.clone());
            }
        }
        reach
    }

    /// The shortest way from a class to one that changed, both ends included.
    pub fn chain(
        &mut self,
        from: &ClassName,
        changed: impl Fn(&ClassName) -> bool,
    ) -> Option<Vec<ClassName>> {
        let start = self.number(from);
        let mut came_from: HashMap<usize, usize> = HashMap::new();
        let mut queue = VecDeque::from([start]);
        let mut seen = BTreeSet::from([start]);
        while let Some(at) = queue.pop_front() {
            if changed(&self.nodes[at].name) {
                return Some(self.way_back(at, &came_from));
            }
            for next in self.edges(at) {
                if seen.insert(next) {
                    came_from.insert(next, at);
                    queue.push_back(next);
                }
            }
        }
        None
    }

    /// The tests that changed classes can affect, each with the shortest chain
    /// from the test to a class that changed. From each changed class the search
    /// goes on to its subclasses and to the classes that name it, until nothing
    /// new appears.
    pub fn affected(
        &mut self,
        tests: &BTreeSet<ClassName>,
        changed: impl Fn(&ClassName) -> bool,
    ) -> BTreeMap<ClassName, Vec<ClassName>> {
        for test in tests {
            self.numbers_from(test);
        }
        let mut named_by: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (number, node) in self.nodes.iter().enumerate() {
            for &named in node.edges.iter().flatten() {
                named_by[named].push(number);
            }
        }
        let is_changed = |number: &usize| changed(&self.nodes[*number].name);
        let mut queue: VecDeque<usize> = (0..self.nodes.len()).filter(is_changed).collect();
        let mut seen: BTreeSet<usize> = queue.iter().copied().collect();
        let mut towards_change: HashMap<usize, usize> = HashMap::new();
        while let Some(at) = queue.pop_front() {
            for &next in &named_by[at] {
                if seen.insert(next) {
                    towards_change.insert(next, at);
                    queue.push_back(next);
                }
            }
        }
        let chain = |test: &ClassName| {
            let mut chain = self.way_back(*self.numbers.get(test)?, &towards_change);
            chain.reverse();
            Some(chain)
        };
        tests
            .iter()
            .filter(|test| {
                self.numbers
                    .get(*test)
                    .is_some_and(|test| seen.contains(test))
            })
            .filter_map(|test| Some((test.clone(), chain(test)?)))
            .collect()
    }

    /// The steps that led to a place, first one first.
    fn way_back(&self, mut at: usize, came_from: &HashMap<usize, usize>) -> Vec<ClassName> {
        let mut way = vec![self.nodes[at].name.clone()];
        while let Some(&before) = came_from.get(&at) {
            way.push(self.nodes[before].name.clone());
            at = before;
        }
        way.reverse();
        way
    }

    fn numbers_from(&mut self, from: &ClassName) -> Vec<usize> {
        let mut found = vec![self.number(from)];
        let mut seen: BTreeSet<usize> = found.iter().copied().collect();
        let mut next = 0;
        while let Some(&at) = found.get(next) {
            next += 1;
            found.extend(self.edges(at).into_iter().filter(|&edge| seen.insert(edge)));
        }
        found
    }

    fn number(&mut self, class: &ClassName) -> usize {
        if let Some(&number) = self.numbers.get(class) {
            return number;
        }
        let number = self.nodes.len();
        self.numbers.insert(class.clone(), number);
        self.nodes.push(Node {
            name: class.clone(),
            edges: None,
            unreadable: false,
        });
        number
    }

    fn edges(&mut self, number: usize) -> Vec<usize> {
        if let Some(edges) = &self.nodes[number].edges {
            return edges.clone();
        }
        let named = self.source.named_by(&self.nodes[number].name);
        self.nodes[number].unreadable = named == Named::Unreadable;
        let edges: Vec<usize> = match named {
            Named::Classes(classes) => classes
                .iter()
                .filter(|class| !is_jdk_class(class))
                .map(|class| self.number(class))
                .collect(),
            Named::Absent | Named::Unreadable => Vec::new(),
        };
        self.nodes[number].edges = Some(edges.clone());
        edges
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Pairs(Vec<(&'static str, &'static str)>);

    impl NamedClasses for Pairs {
        fn named_by(&self, class: &ClassName) -> Named {
            if class.as_str() == "Broken" {
                return Named::Unreadable;
            }
            let named = self.0.iter().filter(|(from, _)| *from == class.as_str());
            let named: Vec<ClassName> = named.map(|&(_, to)| to.into()).collect();
            if named.is_empty() && class.as_str() == "Gone" {
                return Named::Absent;
            }
            Named::Classes(named)
        }
    }

    fn names(classes: impl IntoIterator<Item = ClassName>) -> String {
        let names: Vec<String> = classes.into_iter().map(|c| c.to_string()).collect();
        names.join(" ")
    }

    #[test]
    fn what_a_test_leads_to_is_found_with_circles_and_without_the_jdk() {
        let source = Pairs(vec![
            ("Test", "A"),
            ("A", "B"),
            ("B", "A"),
            ("B", "java/lang/String"),
            ("B", "Gone"),
            ("Other", "B"),
        ]);
        let mut graph = ClassGraph::new(&source);
        let reach = graph.reach(&"Test".into());
        assert_eq!(names(reach.classes), "A B Gone Test");
        assert!(reach.unreadable.is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let source = Pairs(vec![("Test", "Broken")]);
        let reach = ClassGraph::new(&source).reach(&"Test".into());
        assert_eq!(names(reach.unreadable), "Broken");
    }

    #[test]
    fn the_shortest_chain_is_given() {
        let source = Pairs(vec![
            ("Test", "Long"),
            ("Long", "Longer"),
            ("Longer", "Changed"),
            ("Test", "Short"),
            ("Short", "Changed"),
        ]);
        let changed = |class: &ClassName| class.as_str() == "Changed";
        let mut graph = ClassGraph::new(&source);
        let chain = graph.chain(&"Test".into(), changed).unwrap();
        assert_eq!(names(chain), "Test Short Changed");
        let tests = ["Test".into(), "Other".into()].into();
        let affected = graph.affected(&tests, changed);
        assert_eq!(
            names(affected[&ClassName::from("Test")].clone()),
            "Test Short Changed"
        );
        assert_eq!(affected.len(), 1);
    }

    const NAMES: [&str; 6] = ["T1", "T2", "A", "B", "C", "D"];

    proptest! {
        #[test]
        fn searching_from_the_tests_and_from_the_changes_finds_the_same(
            edges in prop::collection::vec((0..6usize, 0..6usize), 0..14),
            changed in prop::collection::btree_set(0..6usize, 0..3),
        ) {
            let edges = edges.iter().map(|&(from, to)| (NAMES[from], NAMES[to]));
            let source = Pairs(edges.collect());
            let changed: BTreeSet<ClassName> =
                changed.iter().map(|&number| NAMES[number].into()).collect();
            let tests: BTreeSet<ClassName> = ["T1".into(), "T2".into()].into();
            let mut graph = ClassGraph::new(&source);
            let reaching: BTreeSet<ClassName> = tests
                .iter()
                .filter(|test| !graph.reach(test).classes.is_disjoint(&changed))
                .cloned()
                .collect();
            let affected = graph.affected(&tests, |class| changed.contains(class));
            for (test, chain) in &affected {
                let shortest = graph.chain(test, |class| changed.contains(class));
                prop_assert_eq!(shortest.map(|chain| chain.len()), Some(chain.len()));
                prop_assert_eq!(chain.first(), Some(test));
                prop_assert!(changed.contains(chain.last().unwrap()));
            }
            prop_assert_eq!(affected.into_keys().collect::<BTreeSet<_>>(), reaching);
        }
    }
}
