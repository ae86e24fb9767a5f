//! Puts code into methods, and takes code out.
//!
//! A [`ClassEditor`] collects edits to the methods of one class and writes the
//! class once. It splices: whatever it need not understand is copied as it
//! stands, so an unedited method keeps its bytes. Code at method entry whose
//! length is a multiple of 4 takes a cheap path, because relative branches and
//! the padding of switches then stay as they are; every other edit lays the
//! instructions out anew. `docs/design/rewriting.md` says why it is done so,
//! and what is left alone.
//!
//! ```no_run
//! use fewest_classfile::read::ClassFile;
//! use fewest_classfile::rewrite::{ClassEditor, RewriteError, Snippet};
//!
//! fn probe(class: &ClassFile<'_>, first_id: i16) -> Result<Vec<u8>, RewriteError> {
//!     let mut editor = ClassEditor::new(class);
//!     let hits = editor.field_ref(b"java/lang/$Holder", b"A", b"[B")?;
//!     for (method, id) in (0..class.methods().len()).zip(first_id..) {
//!         if editor.has_code(method) {
//!             editor.insert_at_entry(method, Snippet::probe(hits, id))?;
//!         }
//!     }
//!     Ok(editor.finish_what_fits().bytes)
//! }
//! ```

mod code;
mod editor;
mod error;
mod frames;
mod layout;
mod plan;
mod pool;
mod positions;
mod simulate;
mod snippet;
mod statements;
mod tables;
mod types;
mod wrapper;

pub use editor::{ClassEditor, LeftAlone, Rewritten};
pub use error::{DeletionFault, RewriteError, RewriteErrorKind};
pub use plan::Around;
pub use snippet::Snippet;
pub use statements::statements;
pub(crate) use types::{Type, parse_method};
