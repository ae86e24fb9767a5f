//! Fingerprints, changes, references and graphs of what compilers write.

mod changes;
mod commons_lang;
mod corpus;
mod fixture;
mod graphs;
mod made_up;
mod neutral;
mod references;
mod state;
