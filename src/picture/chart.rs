//! Charts as one SVG file: lines over columns, in panels beside and below each other.
//!
//! Pure: figures in, the bytes of a file out, and the same figures give the same bytes. Place in the flow: ledger, story, history and measures
//! → **a chart** → a file. Names come from a history that anybody may have written, so they are escaped; figures are clipped to their scale.
//! Every point has a title with its column, its line and its figure.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::line;
use super::sheet::themed;
use crate::limits;
use crate::text::xml;

const WIDTH: f64 = 900.0;
/// Space left and right of a panel's plot, and between two panels.
const LEFT: f64 = 60.0;
const RIGHT: f64 = 24.0;
const HEAD: f64 = 90.0;
/// Height of a plot, of the names of its columns below it, and of a line of a legend.
const PLOT: f64 = 120.0;
const NAMES: f64 = 22.0;
const ENTRY: f64 = 18.0;
/// Between the name of a panel and the panel above.
const GAP: f64 = 34.0;
/// Width of a letter, points.
const LETTER: f64 = 6.7;
/// Columns up to which points are large enough to be pointed at with ease.
const FEW: usize = 120;
/// Colours of lines, in light and in dark.
const COLOURS: [(&str, &str); 8] = [
    ("#1f5f8b", "#79b8e6"),
    ("#b3541e", "#f0a36b"),
    ("#1b7f72", "#62c9b8"),
    ("#6b4fa0", "#b79cf0"),
    ("#a83279", "#ea8cc4"),
    ("#8a6d00", "#e0c150"),
    ("#5f5b54", "#aaa59c"),
    ("#c1282d", "#ff8078"),
];

/// Panels with a title.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// The subject.
    pub title: String,
    /// How much is shown, and of which commit.
    pub caption: String,
    /// Rows from top to bottom, each with its panels from left to right.
    pub rows: Vec<Vec<Panel>>,
}

/// Lines over the same columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its name.
    pub title: String,
    /// The figures at its floor and at its ceiling.
    pub scale: (f64, f64),
    /// Columns from left to right.
    pub columns: Vec<Column>,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// A day, an entry, or another place of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name below the axis, where there is room.
    pub label: String,
    /// The beginning of the titles of its points.
    pub about: String,
}

/// A line of a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its colour, by number.
    pub colour: usize,
    /// Whether its stroke is dashed.
    pub dashed: bool,
    /// Its figure in each column that has one.
    pub values: Vec<Option<f64>>,
}

impl Column {
    /// A column whose points say no more than its name.
    pub fn named(label: &str) -> Self {
        Self { label: label.to_owned(), about: label.to_owned() }
    }
}

impl Line {
    /// A line that is drawn through.
    pub fn new(name: &str, colour: usize, values: Vec<Option<f64>>) -> Self {
        Self { name: name.to_owned(), colour, dashed: false, values }
    }

    /// The same with dashes.
    #[must_use]
    pub fn dashed(self) -> Self {
        Self { dashed: true, ..self }
    }

    fn class(&self) -> String {
        format!("l{}{}", self.colour % COLOURS.len(), if self.dashed { " dashed" } else { "" })
    }
}

impl Panel {
    /// The greatest figure of its lines, and at least `least`.
    #[must_use]
    pub fn reaching(self, least: f64) -> Self {
        let values = self.lines.iter().flat_map(|line| line.values.iter().flatten());
        let most = values.copied().filter(|value| value.is_finite()).fold(least, f64::max);
        Self { scale: (self.scale.0, most), ..self }
    }

    fn legend(&self) -> Vec<(&str, String)> {
        self.lines.iter().map(|line| (line.name.as_str(), line.class())).collect()
    }
}

/// The place of a panel, and the width of its plot.
struct Spot {
    left: f64,
    top: f64,
    width: f64,
}

/// A chart as a file.
pub fn svg(chart: &Chart) -> String {
    let mut body = String::new();
    let mut top = HEAD;
    for (number, row) in chart.rows.iter().enumerate() {
        let share = WIDTH / row.len().max(1) as f64;
        let below = chart.rows.get(number + 1);
        let mut tallest = 0.0_f64;
        for (at, panel) in row.iter().enumerate() {
            let spot = Spot { left: share * at as f64 + LEFT, top, width: share - LEFT - RIGHT };
            drawn(&mut body, panel, &spot);
            // Panels with the same lines below each other have one legend, below the last of them.
            if below.and_then(|row| row.get(at)).is_none_or(|other| other.legend() != panel.legend()) {
                tallest = tallest.max(legend(&mut body, panel, &spot));
            }
        }
        top += PLOT + NAMES + tallest + GAP;
    }
    let height = if chart.rows.is_empty() { HEAD } else { top - GAP + 14.0 };
    let title = xml(&line(&chart.title, limits::LABEL_BYTES));
    let caption = xml(&line(&chart.caption, limits::LABEL_BYTES));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" height=\"{height:.0}\" role=\"img\" aria-labelledby=\"title about\">\n\
         <title id=\"title\">{title}</title>\n<desc id=\"about\">{caption}</desc>\n<style>{}</style>\n\
         <rect class=\"ground\" width=\"{WIDTH}\" height=\"{height:.0}\" rx=\"10\"/>\n\
         <text class=\"title\" x=\"24\" y=\"30\">{title}</text>\n<text class=\"faint\" x=\"24\" y=\"49\">{caption}</text>\n{body}</svg>\n",
        style()
    )
}

fn style() -> String {
    let always = "polyline,.key{fill:none;stroke-width:1.7;stroke-linejoin:round}.dashed{stroke-dasharray:4 3}circle{stroke:none}\
                  .axis{fill:none;stroke-opacity:.6}.name{font-weight:600}.end{text-anchor:end}";
    themed(always, |dark| {
        let mut css = String::new();
        for (at, (on_light, on_dark)) in COLOURS.iter().enumerate() {
            let colour = if dark { on_dark } else { on_light };
            let _ = write!(css, "polyline.l{at},.key.l{at}{{stroke:{colour}}}circle.l{at}{{fill:{colour}}}");
        }
        css
    })
}

fn drawn(out: &mut String, panel: &Panel, spot: &Spot) {
    let Spot { left, top, width } = *spot;
    let (right, bottom) = (left + width, top + PLOT);
    let (least, most) = panel.scale;
    let steps = panel.columns.len().saturating_sub(1).max(1) as f64;
    let x = |at: usize| left + width * at as f64 / steps;
    let span = if most > least { most - least } else { 1.0 };
    let y = |value: f64| bottom - PLOT * ((value - least) / span).clamp(0.0, 1.0);
    let title = line(&panel.title, (width / LETTER) as usize);
    let _ = writeln!(out, "<text class=\"name\" x=\"{left:.1}\" y=\"{:.1}\">{}</text>", top - 9.0, xml(&title));
    let _ = writeln!(out, "<path class=\"axis\" d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\"/>");
    let mut marks = vec![least, most];
    if least < 0.0 && most > 0.0 {
        let _ =
            writeln!(out, "<path class=\"axis\" d=\"M{left:.1} {:.1}H{right:.1}\" stroke-dasharray=\"1 3\"/>", y(0.0));
        marks.push(0.0);
    }
    for mark in marks {
        let (at, figure) = (y(mark) + 4.0, figure(mark));
        let _ = writeln!(out, "<text class=\"faint end\" x=\"{:.1}\" y=\"{at:.1}\">{figure}</text>", left - 6.0);
    }
    if let [first, .., last] | [first @ last] = &panel.columns[..] {
        let y = bottom + 15.0;
        let _ =
            writeln!(out, "<text class=\"faint\" x=\"{left:.1}\" y=\"{y:.1}\">{}</text>", xml(&line(&first.label, 24)));
        if panel.columns.len() > 1 {
            let last = xml(&line(&last.label, 24));
            let _ = writeln!(out, "<text class=\"faint end\" x=\"{right:.1}\" y=\"{y:.1}\">{last}</text>");
        }
    }
    let radius = if panel.columns.len() > FEW { 1.6 } else { 2.6 };
    for one in &panel.lines {
        let values = panel.columns.iter().zip(&one.values).enumerate();
        let known: Vec<(f64, f64, &Column, f64)> = values
            .filter_map(|(at, (column, value))| {
                value.filter(|value| value.is_finite()).map(|value| (x(at), y(value), column, value))
            })
            .collect();
        let class = one.class();
        let joined: Vec<String> = known.iter().map(|(x, y, ..)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(out, "<polyline class=\"{class}\" points=\"{}\"/>", joined.join(" "));
        for (x, y, column, value) in known {
            let about = line(&column.about, limits::LABEL_BYTES);
            let title = xml(&format!("{about}: {} {}", one.name, figure(value)));
            let _ = writeln!(
                out,
                "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"><title>{title}</title></circle>"
            );
        }
    }
}

/// The names of a panel's lines below it, each beside a piece of its line; their height.
fn legend(out: &mut String, panel: &Panel, spot: &Spot) -> f64 {
    let (mut x, mut rows) = (0.0, 1.0);
    for one in &panel.lines {
        let name = line(&one.name, 40);
        let wide = 30.0 + name.width() as f64 * LETTER + 14.0;
        if x > 0.0 && x + wide > spot.width {
            (x, rows) = (0.0, rows + 1.0);
        }
        let (left, y) = (spot.left + x, spot.top + PLOT + NAMES + ENTRY * rows - 4.0);
        let class = one.class();
        let _ = writeln!(
            out,
            "<path class=\"key {class}\" d=\"M{left:.1} {:.1}h22\"/><circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.6\"/>\
             <text class=\"faint\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
            y - 4.0,
            left + 11.0,
            y - 4.0,
            left + 28.0,
            xml(&name)
        );
        x += wide;
    }
    if panel.lines.is_empty() { 0.0 } else { ENTRY * rows }
}

/// A figure as a person reads it: whole, or with as many digits as tell it apart.
fn figure(value: f64) -> String {
    match value {
        value if value.fract() == 0.0 => format!("{value:.0}"),
        value if value.abs() >= 100.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(title: &str, names: [&str; 2]) -> Panel {
        Panel {
            title: title.to_owned(),
            scale: (0.0, 1.0),
            columns: ["2026-01-01", "2026-01-02", "2026-01-03"].map(Column::named).to_vec(),
            lines: vec![
                Line::new(names[0], 0, vec![Some(0.0), None, Some(1.0)]),
                Line::new(names[1], 1, vec![Some(f64::NAN), Some(7.0), Some(-3.0)]).dashed(),
            ],
        }
    }

    fn chart(rows: Vec<Vec<Panel>>) -> Chart {
        Chart { title: "A & <b>".to_owned(), caption: "of \u{202e}a commit".to_owned(), rows }
    }

    #[test]
    fn chart_draws_each_figure_at_its_place_with_a_title() {
        let drawn = svg(&chart(vec![vec![panel("one", ["a", "b"])]]));
        let (left, right, floor) = (LEFT, WIDTH - RIGHT, HEAD + PLOT);
        // A column without a figure has no point, a figure that is none has none, and the others are held to the scale.
        assert!(
            drawn.contains(&format!("class=\"l0\" points=\"{left:.1},{floor:.1} {right:.1},{HEAD:.1}\"")),
            "{drawn}"
        );
        let middle = (left + right) / 2.0;
        assert!(
            drawn.contains(&format!("class=\"l1 dashed\" points=\"{middle:.1},{HEAD:.1} {right:.1},{floor:.1}\"")),
            "{drawn}"
        );
        assert_eq!(drawn.matches("<title>").count(), 4, "{drawn}");
        assert!(drawn.contains("<title>2026-01-03: a 1</title>") && drawn.contains("<title>2026-01-02: b 7</title>"));
        assert_eq!(drawn, svg(&chart(vec![vec![panel("one", ["a", "b"])]])), "the same figures have the same bytes");
    }

    #[test]
    fn chart_lets_no_text_become_markup_and_loads_nothing() {
        let evil = "<script>x</script>\"'&";
        let mut one = panel(evil, [evil, "b"]);
        one.columns[0] = Column { label: evil.to_owned(), about: evil.to_owned() };
        let drawn = svg(&chart(vec![vec![one]]));
        assert!(!drawn.contains("<script") && !drawn.contains("<b>") && !drawn.contains('\u{202e}'), "{drawn}");
        assert!(drawn.contains("prefers-color-scheme:dark"));
        let names = drawn.replace("http://www.w3.org/2000/svg", "");
        for other in ["http", "@import", "<image", "url(", "onload="] {
            assert!(!names.contains(other), "{other}");
        }
    }

    #[test]
    fn chart_has_one_legend_below_panels_with_the_same_lines() {
        let keys = |rows: Vec<Vec<Panel>>| svg(&chart(rows)).matches("class=\"key").count();
        assert_eq!(keys(vec![vec![panel("one", ["a", "b"])], vec![panel("two", ["a", "b"])]]), 2);
        assert_eq!(keys(vec![vec![panel("one", ["a", "b"])], vec![panel("two", ["a", "c"])]]), 4);
        assert_eq!(keys(vec![vec![panel("one", ["a", "b"]), panel("two", ["a", "b"])]]), 4);
    }

    #[test]
    fn chart_of_nothing_and_of_one_column_is_finite() {
        let mut one = panel("one", ["a", "b"]);
        one.columns.truncate(1);
        one.lines.iter_mut().for_each(|line| line.values.truncate(1));
        one.scale = (0.0, 0.0);
        for drawn in [svg(&Chart::default()), svg(&chart(vec![vec![one.clone()]])), svg(&chart(vec![Vec::new()]))] {
            assert!(!drawn.contains("NaN") && !drawn.contains("inf") && drawn.ends_with("</svg>\n"), "{drawn}");
        }
        assert_eq!(one.reaching(5.0).scale, (0.0, 5.0), "a scale has room for its least ceiling");
        assert_eq!(panel("one", ["a", "b"]).reaching(5.0).scale, (0.0, 7.0));
    }
}
