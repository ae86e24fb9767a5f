//! Columns that line up.

use crate::style::{Colour, Style};

/// Rows of cells; all columns but the last are padded to their widest cell.
///
/// A row may also be a line of text that takes no part in the columns.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
enum Row {
    Cells { indent: usize, cells: Vec<Cell> },
    Line(String),
}

type Cell = (String, Option<Colour>);

/// A cell wider than this does not push the next column away from all others.
const WIDEST: usize = 60;

impl Table {
    pub fn row<const N: usize>(&mut self, indent: usize, cells: [(&str, Option<Colour>); N]) {
        let cells = cells.map(|(text, colour)| (text.to_owned(), colour));
        self.rows.push(Row::Cells {
            indent,
            cells: cells.to_vec(),
        });
    }

    pub fn line(&mut self, text: impl Into<String>) {
        self.rows.push(Row::Line(text.into()));
    }

    pub fn render(&self, style: Style) -> String {
        let widths = self.widths();
        let mut text = String::new();
        for row in &self.rows {
            match row {
                Row::Line(line) => text.push_str(line),
                Row::Cells { indent, cells } => {
                    render_row(*indent, cells, &widths, style, &mut text);
                }
            }
            text.push('\n');
        }
        text
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = Vec::new();
        for row in &self.rows {
            let Row::Cells { indent, cells } = row else {
                continue;
            };
            for (column, cell) in cells.iter().enumerate() {
                if widths.len() <= column {
                    widths.push(0);
                }
                if !has_more(cells, column) {
                    break;
                }
                let width = width(&cell.0) + if column == 0 { *indent } else { 0 };
                widths[column] = widths[column].max(width).min(WIDEST);
            }
        }
        widths
    }
}

fn render_row(indent: usize, cells: &[Cell], widths: &[usize], style: Style, text: &mut String) {
    text.push_str(&" ".repeat(indent));
    for (column, (cell, colour)) in cells.iter().enumerate() {
        match colour {
            Some(colour) => text.push_str(&style.paint(*colour, cell)),
            None => text.push_str(cell),
        }
        if has_more(cells, column) {
            let used = width(cell) + if column == 0 { indent } else { 0 };
            text.push_str(&" ".repeat(widths[column].saturating_sub(used) + 2));
        }
    }
}

/// Whether anything stands to the right of a column.
fn has_more(cells: &[Cell], column: usize) -> bool {
    cells[column + 1..].iter().any(|(cell, _)| !cell.is_empty())
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::default();
        table.row(0, [("name", Some(Colour::Bold)), ("12", None)]);
        table.line("a line of its own that is long");
        table.row(2, [("longer", None), ("3", None)]);
        table.row(2, [("x", None), ("", None)]);
        insta::assert_snapshot!(table.render(Style::Plain), @r"
        name      12
        a line of its own that is long
          longer  3
          x
        ");
    }

    #[test]
    fn one_long_cell_does_not_stretch_the_column() {
        let mut table = Table::default();
        table.row(0, [("x".repeat(100).as_str(), None), ("1", None)]);
        table.row(0, [("x", None), ("2", None)]);
        let lines: Vec<_> = table.render(Style::Plain).lines().map(str::len).collect();
        assert_eq!(lines, [103, 63]);
    }
}
