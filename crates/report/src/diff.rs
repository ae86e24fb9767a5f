//! The screen of `fewest diff`.

use std::collections::{BTreeMap, BTreeSet};

use fewest_classfile::changes::{Change, ChangeType};
use fewest_model::{ClassName, MethodKey};

use crate::signature::method_signature;
use crate::{Colour, Length, Style, Table, counted, grouped};

/// What differs between two sets of classes.
#[derive(Clone, Debug)]
pub struct Diff {
    /// Sorted by class.
    pub changes: Vec<Change>,
    /// How many classes are in both sets and the same.
    pub same: usize,
}

/// A short screen has about so many lines.
const LINES: usize = 60;
/// A short screen shows so many members of one class.
const MEMBERS: usize = 8;

/// The changes by package and class, and how many there are of each kind.
pub fn diff_screen(diff: &Diff, length: Length, style: Style) -> String {
    let classes = Classes::of(&diff.changes);
    let mut table = Table::default();
    let shown = classes.rows(length, style, &mut table);
    let hidden = classes.by_name.len() - shown;
    if hidden > 0 {
        table.line(format!(
            "\u{2026} and {}; --all shows them",
            counted(hidden, "more class", "more classes")
        ));
    }
    if !diff.changes.is_empty() {
        table.line("");
    }
    let mut text = table.render(style);
    text.push_str(&classes.summary(diff.same));
    text.push('\n');
    text.push_str(&counts(&diff.changes).render(style));
    text
}

/// The changes of each class.
struct Classes<'a> {
    by_name: BTreeMap<&'a ClassName, Vec<&'a Change>>,
}

impl<'a> Classes<'a> {
    fn of(changes: &'a [Change]) -> Self {
        let mut by_name: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for change in changes {
            by_name.entry(&change.class).or_default().push(change);
        }
        Self { by_name }
    }

    /// Adds the rows of as many classes as fit, and returns how many did.
    fn rows(&self, length: Length, style: Style, table: &mut Table) -> usize {
        let mut package = None;
        let mut lines = 0;
        for (shown, (class, changes)) in self.by_name.iter().enumerate() {
            if length == Length::Short && lines >= LINES {
                return shown;
            }
            if package != Some(package_of(class)) {
                package = Some(package_of(class));
                if shown > 0 {
                    table.line("");
                }
                let name = package_of(class).replace('/', ".");
                let name = if name.is_empty() { "no package" } else { &name };
                table.line(style.paint(Colour::Bold, name));
                lines += 2;
            }
            lines += class_rows(class, changes, length, table);
        }
        self.by_name.len()
    }

    fn summary(&self, same: usize) -> String {
        let with = |kind: ChangeType| {
            let has = |changes: &&Vec<&Change>| changes.iter().any(|change| change.kind == kind);
            self.by_name.values().filter(has).count()
        };
        let (changed, added, deleted) = (
            with(ChangeType::CF),
            with(ChangeType::AF),
            with(ChangeType::DF),
        );
        let parts = [
            (changed, "changed"),
            (added, "added"),
            (deleted, "deleted"),
            (same, "as they were"),
        ];
        let parts: Vec<_> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{} {what}", grouped(*count)))
            .collect();
        if parts.is_empty() {
            return "no classes".to_owned();
        }
        format!("classes: {}", parts.join(", "))
    }
}

fn class_rows(class: &ClassName, changes: &[&Change], length: Length, table: &mut Table) -> usize {
    let has = |kind: ChangeType| changes.iter().any(|change| change.kind == kind);
    let members = members(changes);
    let (sign, colour, words) = if has(ChangeType::AF) {
        ('+', Some(Colour::Green), "class added")
    } else if has(ChangeType::DF) {
        ('-', Some(Colour::Red), "class deleted")
    } else if has(ChangeType::CH) {
        ('~', Some(Colour::Yellow), "class head changed")
    } else if has(ChangeType::CF) && members.is_empty() {
        ('~', Some(Colour::Yellow), "class file changed")
    } else if has(ChangeType::CF) {
        ('~', Some(Colour::Yellow), "")
    } else {
        ('>', Some(Colour::Dim), "")
    };
    let text = format!("{sign} {}", class.simple());
    table.row(2, [(&text, colour), (words, colour)]);
    let shown = match length {
        Length::All => members.len(),
        Length::Short => MEMBERS.min(members.len()),
    };
    for (kind, member) in &members[..shown] {
        let (sign, colour) = sign_of(*kind);
        let text = format!("{sign} {}", method_signature(class, member));
        table.row(6, [(&text, colour), (kind.description(), colour)]);
    }
    let hidden = members.len() - shown;
    if hidden > 0 {
        let more = format!(
            "  \u{2026} and {}; --all shows them",
            counted(hidden, "more change", "more changes")
        );
        table.row(6, [(&more, Some(Colour::Dim))]);
    }
    1 + shown + usize::from(hidden > 0)
}

/// The changes of members. That a lookup ends elsewhere goes without saying
/// where the class itself gained or lost the method.
fn members<'a>(changes: &[&'a Change]) -> Vec<(ChangeType, &'a MethodKey)> {
    let all = changes
        .iter()
        .filter_map(|change| Some((change.kind, change.member.as_ref()?)));
    let own = all.clone().filter(|(kind, _)| *kind != ChangeType::LC);
    let own: BTreeSet<_> = own.map(|(_, member)| member).collect();
    all.filter(|(kind, member)| *kind != ChangeType::LC || !own.contains(member))
        .collect()
}

fn sign_of(kind: ChangeType) -> (char, Option<Colour>) {
    use ChangeType::{AF, AI, AIM, ASI, ASM, CF, CH, CI, CIM, CSI, CSM, DF, DI, DIM, DSI, DSM, LC};
    match kind {
        AF | ASI | AI | ASM | AIM => ('+', Some(Colour::Green)),
        DF | DSI | DI | DSM | DIM => ('-', Some(Colour::Red)),
        CF | CH | CSI | CI | CSM | CIM => ('~', Some(Colour::Yellow)),
        LC => ('>', Some(Colour::Dim)),
    }
}

fn package_of(class: &ClassName) -> &str {
    class
        .as_str()
        .rsplit_once('/')
        .map_or("", |(package, _)| package)
}

/// How many changes there are of each kind.
fn counts(changes: &[Change]) -> Table {
    let mut counts: BTreeMap<ChangeType, usize> = BTreeMap::new();
    for change in changes {
        *counts.entry(change.kind).or_default() += 1;
    }
    let width = counts.values().map(|count| grouped(*count).len()).max();
    let mut table = Table::default();
    for (kind, count) in counts {
        let count = format!("{:>width$}", grouped(count), width = width.unwrap_or(0));
        table.row(
            2,
            [
                (&count, None),
                (kind.name(), Some(Colour::Dim)),
                (kind.description(), None),
            ],
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(class: &str, kind: ChangeType, member: Option<(&str, &str)>) -> Change {
        Change {
            class: class.into(),
            kind,
            member: member.map(|(name, descriptor)| MethodKey::new(name, descriptor)),
        }
    }

    fn diff() -> Diff {
        use ChangeType::{AF, AIM, CF, CH, CIM, CSI, DF, DIM, LC};
        let calculator = "com/acme/Calculator";
        Diff {
            changes: vec![
                change(calculator, CH, None),
                change(calculator, CF, None),
                change(calculator, CSI, Some(("<clinit>", "()V"))),
                change(calculator, CIM, Some(("add", "(II)I"))),
                change(calculator, AIM, Some(("multiply", "(II)I"))),
                change(calculator, DIM, Some(("old", "()V"))),
                change("com/acme/Gone", DF, None),
                change("com/acme/Scientific", LC, Some(("old", "()V"))),
                change("com/acme/util/New", AF, None),
                change("Main", CF, None),
            ],
            same: 1234,
        }
    }

    #[test]
    fn changes_stand_under_their_package_and_class() {
        insta::assert_snapshot!(diff_screen(&diff(), Length::Short, Style::Plain));
    }

    #[test]
    fn colours_tell_what_came_and_what_went() {
        insta::assert_snapshot!(diff_screen(&diff(), Length::Short, Style::Coloured));
    }

    #[test]
    fn equal_sets_take_one_line() {
        let diff = Diff {
            changes: Vec::new(),
            same: 3,
        };
        let screen = diff_screen(&diff, Length::Short, Style::Plain);
        assert_eq!(screen, "classes: 3 as they were\n");
    }

    #[test]
    fn long_lists_are_cut_and_say_so() {
        let names: Vec<_> = (0..100).map(|n| format!("p/Class{n:03}")).collect();
        let mut changes: Vec<_> = names
            .iter()
            .map(|name| change(name, ChangeType::CF, None))
            .collect();
        for index in 0..20 {
            let name = format!("m{index:02}");
            let method = change("p/Class000", ChangeType::CIM, Some((&name, "()V")));
            changes.insert(1 + index, method);
        }
        let diff = Diff { changes, same: 0 };
        insta::assert_snapshot!(diff_screen(&diff, Length::Short, Style::Plain));
        let all = diff_screen(&diff, Length::All, Style::Plain);
        assert!(!all.contains('\u{2026}'));
        assert!(names.iter().all(|name| all.contains(&name[2..])));
    }
}
