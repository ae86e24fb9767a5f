//! What is compared: techniques, and techniques with coarser changes.

use fewest_classfile::changes::ChangeType;
use fewest_run::Coarsening;
use fewest_select::Technique;

/// A technique, and the changes of methods that count for the whole class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    pub technique: Technique,
    pub coarsen: Coarsening,
}

impl Variant {
    pub fn of(technique: Technique) -> Self {
        Self {
            technique,
            coarsen: Coarsening::default(),
        }
    }

    /// Its name in results and of its store, as `hybrid+AIM+DIM`.
    pub fn name(&self) -> String {
        let technique = self.technique.name();
        if self.coarsen.is_empty() {
            return technique.to_owned();
        }
        let types = self.coarsen.to_string().replace(',', "+");
        format!("{technique}+{types}")
    }

    /// The techniques, and behind each that looks at methods the same with
    /// each of the coarsenings.
    pub fn all(techniques: &[Technique], coarsenings: &[Coarsening]) -> Vec<Self> {
        let mut variants = Vec::new();
        for &technique in techniques {
            variants.push(Self::of(technique));
            if looks_at_methods(technique) {
                variants.extend(coarsenings.iter().map(|coarsen| Self {
                    technique,
                    coarsen: coarsen.clone(),
                }));
            }
        }
        variants
    }
}

/// One coarsening for each type of change to methods, as in `HyRTS`'s study.
pub fn each_type() -> Vec<Coarsening> {
    let names = ChangeType::ALL.into_iter().map(ChangeType::name);
    names.filter_map(|name| name.parse().ok()).collect()
}

fn looks_at_methods(technique: Technique) -> bool {
    matches!(
        technique,
        Technique::Hybrid | Technique::HybridLookup | Technique::HybridBlock
    )
}

/// How much of what a test uses a technique has to know.
pub(crate) fn fineness(technique: Technique) -> u8 {
    match technique {
        Technique::HybridBlock => 2,
        Technique::HybridLookup => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_techniques_that_look_at_methods_have_coarser_variants() {
        let coarsenings = ["CIM".parse().unwrap(), "DIM,AIM".parse().unwrap()];
        let variants = Variant::all(&[Technique::File, Technique::Hybrid], &coarsenings);
        let names: Vec<String> = variants.iter().map(Variant::name).collect();
        assert_eq!(names, ["file", "hybrid", "hybrid+CIM", "hybrid+AIM+DIM"]);
    }

    #[test]
    fn there_are_twelve_types_of_change_to_methods() {
        assert_eq!(each_type().len(), 12);
    }
}
