//! Colours, where the reader wants them.

/// Whether text carries colours. Whoever knows the terminal decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Plain,
    Coloured,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
}

impl Style {
    pub fn paint(self, colour: Colour, text: &str) -> String {
        if self == Self::Plain || text.is_empty() {
            return text.to_owned();
        }
        let code = match colour {
            Colour::Bold => 1,
            Colour::Dim => 2,
            Colour::Red => 31,
            Colour::Green => 32,
            Colour::Yellow => 33,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_stays_as_it_is() {
        assert_eq!(Style::Plain.paint(Colour::Red, "x"), "x");
        assert_eq!(Style::Coloured.paint(Colour::Red, "x"), "\x1b[31mx\x1b[0m");
        assert_eq!(Style::Coloured.paint(Colour::Bold, ""), "");
    }
}
