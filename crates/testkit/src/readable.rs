//! Errors that a failing test shows as text.
//!
//! `unwrap` prints an error's `Debug` form, which escapes line breaks and so
//! makes a compiler's message unreadable. The errors of this crate print their
//! message and its causes instead.

use std::error::Error;
use std::fmt;

pub(crate) fn write_with_causes(error: &dyn Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{error}")?;
    let mut cause = error.source();
    while let Some(error) = cause {
        write!(f, "\n  because: {error}")?;
        cause = error.source();
    }
    Ok(())
}

macro_rules! readable_debug {
    ($error:ty) => {
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                $crate::readable::write_with_causes(self, f)
            }
        }
    };
}
