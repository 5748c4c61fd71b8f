//! Sizes, colours and shapes that a picture and its legend share, so that the one explains the other.

use super::Mark;

/// Width of the sheet.
pub(super) const WIDTH: f64 = 960.0;
/// Height of what stands above the network.
pub(super) const HEAD: f64 = 68.0;
/// Width of a letter, points.
pub(super) const LETTER: f64 = 6.9;
/// From the rim of a neuron to the ring that marks it.
pub(super) const RING: f64 = 3.0;
/// Connections up to which each has an arrow.
pub(super) const ARROWS: usize = 400;

/// Class, and colour in light and in dark.
pub(super) const COLOURS: [(&str, &str, &str); 6] = [
    ("semantic", "#1f5f8b", "#79b8e6"),
    ("episodic", "#b3541e", "#f0a36b"),
    ("contextual", "#1b7f72", "#62c9b8"),
    ("core", "#6b4fa0", "#b79cf0"),
    ("signal", "#a83279", "#ea8cc4"),
    ("question", "#3a3834", "#d8d4cc"),
];
pub(super) const MARKS: [(Mark, &str, &str, &str); 6] = [
    (Mark::Focus, "subject", "#22211f", "#eceae6"),
    (Mark::Born, "new", "#1a7f37", "#5bd07a"),
    (Mark::Changed, "changed or stronger", "#9a6700", "#e3b341"),
    (Mark::Weakened, "weaker", "#8250df", "#c297ff"),
    (Mark::Gone, "archived or gone", "#c1282d", "#ff8078"),
    (Mark::Answer, "answer", "#0a58ca", "#8ec5ff"),
];

/// A place on the sheet.
pub(super) struct Spot {
    pub x: f64,
    pub y: f64,
    pub r: f64,
}

/// The shape that stands for a type: a dot for a neuron, a square for a question and its words.
pub(super) fn shape(kind: &str, x: f64, y: f64, r: f64) -> String {
    match kind {
        "question" => format!(
            "<rect class=\"question\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"2\"/>",
            x - r,
            y - r,
            2.0 * r,
            2.0 * r
        ),
        kind => format!("<circle class=\"{kind}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\"/>"),
    }
}

/// The ring that marks a neuron.
pub(super) fn ring(mark: Mark, x: f64, y: f64, r: f64) -> String {
    format!("<circle class=\"mark {}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\"/>", mark.as_str())
}
