//! What of all that records know is still as it was.

use fewest_model::{ClassName, ElementKind, Fingerprint, MethodKey};
use fewest_select::Technique;
use fewest_select::verdict::Versions;
use fewest_snapshot::{ClassView, Snapshot};
use fewest_store::{KnownVersion, Ledger, Subject};

use crate::coarsening::Coarsening;

/// Compares every version that the store knows with what the checkout has.
pub(super) fn compare(
    technique: Technique,
    coarsening: &Coarsening,
    snapshot: &Snapshot,
    ledger: &Ledger<'_>,
) -> Versions {
    let mut versions = Versions::default();
    for subject in ledger.versions().subjects() {
        // One look at a class answers for all of its parts.
        let class = subject.class().map(ClassName::new);
        let view = class.as_ref().and_then(|class| snapshot.class(class));
        let unchanged = view
            .as_ref()
            .is_some_and(|view| is_known_as_it_is(&subject, view));
        for version in subject.versions() {
            versions.known.insert(version.id.0);
            if !technique.counts(version.kind) {
                if let Some(view) = &view
                    && counts_after_all(coarsening, &version, view, ledger)
                {
                    versions.stale.insert(version.id.0);
                }
                continue;
            }
            let now = match (version.kind, &view) {
                (ElementKind::Class | ElementKind::Whole | ElementKind::Reachable, Some(view)) => {
                    Some(view.class())
                }
                // Looking into code takes reading it, and names of methods
                // take taking apart.
                (ElementKind::Blocks | ElementKind::Method, _) if unchanged => {
                    Some(version.fingerprint)
                }
                (ElementKind::Shape | ElementKind::Overrides, Some(view)) => Some(view.shape()),
                (ElementKind::Head, Some(view)) => Some(view.head()),
                (ElementKind::Method, Some(view)) if view.doubt().is_none() => {
                    method_key(version.member)
                        .and_then(|key| view.method(&key))
                        .map_or(Some(Fingerprint::ABSENT), |method| Some(method.fingerprint))
                }
                _ => version
                    .element()
                    .ok()
                    .map(|element| snapshot.fingerprint(&element)),
            };
            if now != Some(version.fingerprint) {
                versions.stale.insert(version.id.0);
            }
        }
    }
    versions
}

/// Whether a whole class, which does not count for the technique, has changed
/// in a way that is to count all the same. Where it cannot be told how it has
/// changed, it may have.
fn counts_after_all(
    coarsening: &Coarsening,
    version: &KnownVersion<'_>,
    now: &ClassView<'_>,
    ledger: &Ledger<'_>,
) -> bool {
    if coarsening.is_empty()
        || version.kind != ElementKind::Class
        || version.fingerprint == now.class()
        || version.fingerprint.is_absent()
    {
        return false;
    }
    match ledger.class_of(version) {
        Ok(Some(old)) if now.doubt().is_none() => coarsening.meets(&old, &now.fingerprints()),
        _ => true,
    }
}

/// Whether all that is known of a class was learned from what it is now.
fn is_known_as_it_is(subject: &Subject<'_>, view: &ClassView<'_>) -> bool {
    let mut known = subject
        .versions()
        .filter(|version| version.kind == ElementKind::Class)
        .peekable();
    known.peek().is_some() && known.all(|version| version.fingerprint == view.class())
}

fn method_key(member: &str) -> Option<MethodKey> {
    let bracket = member.find('(')?;
    Some(MethodKey::new(&member[..bracket], &member[bracket..]))
}
